"""Entries that are independent given the state: counts (Poisson) and binary values (Bernoulli)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from pgm.errors import InvalidArgument, shown
from pgm.frames import Sequences

from .emission import Observed, kept_where_empty
from .gaussian_statistics import patterns
from .of_states import StateDistribution, entries, width
from .parts import Part


class _Independent(StateDistribution):
    """One parameter for each entry, which is the mean; statistics are the weight of entries and their sum."""

    __slots__ = ()
    _name: str  # of the parameter

    def __init__(self, values: Any = None, *, dim: int | None = None) -> None:
        self._take(values, dim)

    def _take(self, values: Any, dim: int | None) -> np.ndarray:
        size = width(dim)
        if values is None:
            self._fill(None, size, None, dim is not None)
            return np.empty(0)
        table, size, states, vector = entries(f"{self._name}=", values, dim)
        self._fill({self._name: table}, size, states, vector)
        return table

    @property
    def _mean(self) -> np.ndarray:
        return self._known[self._name]

    def _value(self) -> Any:
        return self._shaped(self._mean if self._vector else self._mean[:, 0])

    def fitted(self, statistics: np.ndarray, prior: np.ndarray | None = None) -> Self:
        """Return the maximum-likelihood distribution for these weights and sums of entries."""
        weight, total = statistics if prior is None else statistics + prior
        own = None if self._parameters is None else len(self._mean)
        kept_where_empty(weight.sum(axis=1), own, type(self).__name__)
        empty = ~(weight > 0.0)  # some entries may never have been observed
        mean = np.divide(total, weight, out=np.zeros_like(total), where=~empty)
        if empty.any():
            if own != len(weight):
                raise InvalidArgument(
                    f"Entry {int(np.argwhere(empty)[0, 1])} (the first is 0) was never observed: there is "
                    f"nothing to fit a {type(self).__name__} to."
                )
            mean[empty] = self._mean[empty]
        return self._with({self._name: self._bounded(mean)})

    def _bounded(self, mean: np.ndarray) -> np.ndarray:
        return mean

    def n_free(self, states: np.ndarray) -> int:
        """One parameter for each entry."""
        return int(states.sum()) * self.dim

    def gathered(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The weight of the entries that were observed, and their weighted sum: (2, states, entries)."""
        there = ~np.isnan(rows)
        return np.stack([weights.T @ there, weights.T @ np.where(there, rows, 0.0)])

    def to_parts(self) -> dict[str, Any]:
        """Return the parameter, for a file."""
        found = np.asarray(self._value()).tolist()
        vector = {"dim": self.dim} if self._vector else {}
        return {self._name: found} | vector

    @classmethod
    def from_parts(cls, part: Part) -> Self:
        """Return the distribution of these parts."""
        found = part.members(f"a {cls.label} distribution", [cls._name], ["dim"])
        dim = part.at("dim").whole("the number of entries", 1) if "dim" in found else None
        return cls(found[cls._name], dim=dim)

    def __repr__(self) -> str:
        if self._parameters is not None and self.n_states is None and not self._vector:
            return f"{type(self).__name__}({self._value():.6g})"
        return super().__repr__()


class Poisson(_Independent):
    """A Poisson distribution of a count, or of a vector of independent counts.

    Args:
        rate: the mean; a list of them, one for each state; or a row for each state, with a rate for each
            entry of a vector. If left out, yet to be fitted.
        dim: the number of entries of a vector; a list as the rate then has the entries of one vector.

    >>> Poisson(3.0).log_density(2).round(6).item()
    -1.495923
    >>> Poisson([1.0, 5.0]).n_states, Poisson([1.0, 5.0], dim=2).n_states
    (2, None)
    """

    __slots__ = ()
    kind, label = "poisson", "Poisson"
    whole = True
    _name = "rate"

    def __init__(self, rate: Any = None, *, dim: int | None = None) -> None:
        table = self._take(rate, dim)
        if (table < 0.0).any():
            raise InvalidArgument(f"rate= is the mean of counts and cannot be negative: {shown(rate)}.")

    @property
    def rate(self) -> Any:
        """The mean: a float or an array, as it was given."""
        return self._value()

    def _wrong(self, rows: np.ndarray) -> tuple[np.ndarray, str]:
        with np.errstate(invalid="ignore"):
            return np.isinf(rows) | (rows < 0.0) | (np.floor(rows) < rows), "a count"

    def log_rows(self, rows: np.ndarray) -> np.ndarray:
        """Log probability of each row, a column for each state, of the entries that are not NaN."""
        from scipy.special import gammaln

        rate = self._mean
        found = np.zeros((len(rows), len(rate)))
        with np.errstate(divide="ignore"):
            log = np.log(rate)
        for at, seen in patterns(rows):
            some = rows[np.ix_(at, seen)]
            found[at] = products(some, log[:, seen]) - rate[:, seen].sum(axis=1)
            found[at] -= gammaln(some + 1.0).sum(axis=1)[:, None]
        return found

    def coordinates(self) -> np.ndarray:
        """The parameters, unconstrained."""
        return np.asarray(np.log(self._mean[self._mean > 0.0]))

    def at(self, coordinates: np.ndarray) -> Self:
        """The same distribution with the parameters at these coordinates."""
        rate = np.zeros_like(self._mean)
        rate[self._mean > 0.0] = np.exp(coordinates)
        return self._with({"rate": rate})

    def draw(self, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Counts for each of these states."""
        drawn = random.poisson(self._mean[states])
        return np.asarray(drawn if self._vector else drawn[:, 0])

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of each entry in each state."""
        return self._mean, self._mean

    def below(self, x: float, entry: int) -> np.ndarray:
        """P(entry <= x) in each state."""
        from scipy.special import pdtr

        rate = self._mean[:, entry]
        return np.asarray(pdtr(np.floor(x), rate)) if x >= 0.0 else np.zeros(len(rate))

    def expected_log(self, statistics: np.ndarray) -> float:
        """The log probability of counts with these statistics, without their factorials."""
        weight, total = statistics
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(total > 0.0, total * np.log(self._mean), 0.0)
        return float((logs - weight * self._mean).sum())

    def pseudo(self, weight: float, n_states: int, rows: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """This weight of rows in each state with the mean of all data: a gamma prior."""
        seen, total = self.gathered(rows, counts[:, None])[:, 0]
        mean = np.divide(total, seen, out=np.zeros_like(total), where=seen > 0.0)
        return np.stack([np.full((n_states, self.dim), weight), np.tile(weight * mean, (n_states, 1))])


class Bernoulli(_Independent):
    """A Bernoulli distribution of a binary value, 1 or 0, or of a vector of independent ones.

    Args:
        p: the probability of 1; a list of them, one for each state; or a row for each state, with a
            probability for each entry of a vector. If left out, yet to be fitted.
        dim: the number of entries of a vector; a list as p then has the entries of one vector.

    >>> Bernoulli([0.9, 0.5], dim=2).log_density([True, False]).round(6).item()
    -0.798508
    """

    __slots__ = ()
    kind, label = "bernoulli", "Bernoulli"
    whole = True
    _name = "p"

    def __init__(self, p: Any = None, *, dim: int | None = None) -> None:
        table = self._take(p, dim)
        if ((table < 0.0) | (table > 1.0)).any():
            raise InvalidArgument(f"p= is a probability, from 0 to 1, not {shown(p)}.")

    @property
    def p(self) -> Any:
        """The probability of 1: a float or an array, as it was given."""
        return self._value()

    def yes(self) -> np.ndarray:
        """The probability of 1 of each entry in each state."""
        return self._mean

    def _wrong(self, rows: np.ndarray) -> tuple[np.ndarray, str]:
        return ~(np.isnan(rows) | (rows == 0.0) | (rows == 1.0)), "1 or 0, True or False"

    def read(self, sequences: Sequences) -> Observed:
        """Read rows of ones and zeros, which may be written True and False."""
        return super().read(replace(sequences, rows=_ones(sequences.rows)))

    def _possible(self, name: str, value: np.ndarray) -> bool:
        return bool(((value >= 0.0) & (value <= 1.0)).all())

    def _bounded(self, mean: np.ndarray) -> np.ndarray:
        return np.asarray(np.minimum(mean, 1.0))  # sums in another order may differ in the last bit

    def log_rows(self, rows: np.ndarray) -> np.ndarray:
        """Log probability of each row, a column for each state, of the entries that are not NaN."""
        found = np.zeros((len(rows), len(self._mean)))
        with np.errstate(divide="ignore"):
            yes, no = np.log(self._mean), np.log1p(-self._mean)
        for at, seen in patterns(rows):
            some = rows[np.ix_(at, seen)]
            found[at] = products(some, yes[:, seen]) + products(1.0 - some, no[:, seen])
        return found

    def coordinates(self) -> np.ndarray:
        """The parameters, unconstrained."""
        p = self._mean[(self._mean > 0.0) & (self._mean < 1.0)]
        return np.asarray(np.log(p) - np.log1p(-p))

    def at(self, coordinates: np.ndarray) -> Self:
        """The same distribution with the parameters at these coordinates."""
        p = self._mean.copy()
        p[(p > 0.0) & (p < 1.0)] = 0.5 + 0.5 * np.tanh(0.5 * coordinates)
        return self._with({"p": p})

    def draw(self, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Ones and zeros for each of these states."""
        drawn = (random.random((states.size, self.dim)) < self._mean[states]).astype(np.int64)
        return np.asarray(drawn if self._vector else drawn[:, 0])

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of each entry in each state."""
        return self._mean, self._mean * (1.0 - self._mean)

    def below(self, x: float, entry: int) -> np.ndarray:
        """P(entry <= x) in each state."""
        p = self._mean[:, entry]
        return np.ones(len(p)) if x >= 1.0 else (1.0 - p if x >= 0.0 else np.zeros(len(p)))

    def expected_log(self, statistics: np.ndarray) -> float:
        """The log probability of entries with these statistics."""
        weight, ones = statistics
        with np.errstate(divide="ignore", invalid="ignore"):
            yes = np.where(ones > 0.0, ones * np.log(self._mean), 0.0)
            no = np.where(weight > ones, (weight - ones) * np.log1p(-self._mean), 0.0)
        return float((yes + no).sum())

    def pseudo(self, weight: float, n_states: int, rows: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """This weight of ones and as much of zeros in each state: a beta prior."""
        one = np.full((n_states, self.dim), weight)
        return np.stack([2.0 * one, one])


def products(rows: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """Products of rows of counts with the logarithms of each state, where 0 times -inf is 0.

    >>> products(np.array([[0.0, 2.0]]), np.array([[-np.inf, -1.0]])).tolist()
    [[-2.0]]
    """
    if np.isfinite(logs).all():
        return np.asarray(rows @ logs.T)
    never = np.isneginf(logs)
    found = rows @ np.where(never, 0.0, logs).T
    return np.asarray(np.where(rows @ never.T > 0.0, -np.inf, found))


def _ones(rows: Any) -> Any:
    """The same with 1 for True and 0 for False; the rest is checked elsewhere."""
    if isinstance(rows, dict):
        return {name: _ones(column) for name, column in rows.items()}
    if isinstance(rows, np.ndarray) and rows.dtype != object:
        return np.asarray(rows, np.float64) if rows.dtype == bool else rows
    if isinstance(rows, bool | np.bool_):
        return int(rows)
    if isinstance(rows, str | bytes) or not hasattr(rows, "__iter__"):
        return rows
    return [_ones(row) for row in rows]
