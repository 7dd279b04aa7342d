"""Bags of words: how often each of several words occurs in a step."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from pgm.errors import InvalidArgument, InvalidTable, shown

from .checks import finite
from .coordinates import of_shares, shares_at
from .counts import products
from .emission import Observed, kept_where_empty
from .of_states import StateDistribution, width
from .parts import Part

_ROUNDING = 1e-6 * (1 + 1e-6)
_LAST_BITS = 2.0**-50  # sums this near to one are left alone: files are read back unchanged


class Multinomial(StateDistribution):
    """Bags of words: a row has the count of each word; the total count is not modelled.

    A bag is observed as a whole or not at all.

    Args:
        p: the probabilities of the words, which sum to one; or rows of them, one for each state. If left out,
            yet to be fitted.
        dim: how many different words there are, instead of probabilities.
        size: how many words a drawn bag has; observed bags may have any number.

    >>> Multinomial([0.5, 0.25, 0.25]).log_density([2, 1, 0]).round(6).item()
    -1.673976
    """

    __slots__ = ("size",)
    kind, label = "multinomial", "multinomial"
    whole = True

    size: int | None

    def __init__(self, p: Any = None, *, dim: int | None = None, size: int | None = None) -> None:
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 0):
            raise InvalidArgument(f"size= is a whole number of words, not {shown(size)}.")
        object.__setattr__(self, "size", size)
        if p is None:
            if dim is None:
                raise InvalidArgument("A Multinomial needs probabilities, or dim=, the number of words.")
            self._fill(None, width(dim), None, True)
            return
        table = finite("p=", p, (1, 2))
        if table.size == 0 or (table < 0.0).any():
            raise InvalidTable(f"p= has probabilities, which are not negative, not {shown(p)}.")
        sums = table.sum(axis=-1, keepdims=True)
        worst = float(sums.flat[int(np.abs(sums - 1.0).argmax())])
        if abs(worst - 1.0) > _ROUNDING:
            raise InvalidTable(f"p= sums to one in each row, not to {worst:.10g}.")
        if dim is not None and dim != table.shape[-1]:
            raise InvalidArgument(f"dim={shown(dim)} does not match {table.shape[-1]} probabilities.")
        table = np.where(np.abs(sums - 1.0) <= _LAST_BITS, table, table / sums)
        states = len(table) if table.ndim == 2 else None
        self._fill({"p": np.atleast_2d(table)}, table.shape[-1], states, True)

    @property
    def p(self) -> np.ndarray:
        """The probabilities of the words, read-only; a row for each state if there are several."""
        return np.asarray(self._shaped(self._known["p"]))

    def _wrong(self, rows: np.ndarray) -> tuple[np.ndarray, str]:
        with np.errstate(invalid="ignore"):
            return np.isinf(rows) | (rows < 0.0) | (np.floor(rows) < rows), "a count"

    def _check_rows(self, rows: np.ndarray, place: Any) -> None:
        super()._check_rows(rows, place)
        gaps = np.isnan(rows)
        partly = gaps.any(axis=1) & ~gaps.all(axis=1)
        if partly.any():
            row = int(partly.argmax())
            what = f"{place(row)}word {int(gaps[row].argmax())} has no count (the first is 0)."
            raise InvalidArgument(
                f"{what[0].upper()}{what[1:]} A bag is observed as a whole or not at all; write 0 for a word "
                "that does not occur."
            )

    def log_rows(self, rows: np.ndarray) -> np.ndarray:
        """Log probability of each bag given its size, a column for each state; 0 where nothing was seen."""
        from scipy.special import gammaln

        seen = ~np.isnan(rows[:, 0])
        found = np.zeros((len(rows), len(self._known["p"])))
        some = rows[seen]
        with np.errstate(divide="ignore"):
            found[seen] = products(some, np.log(self._known["p"]))
        found[seen] += (gammaln(some.sum(axis=1) + 1.0) - gammaln(some + 1.0).sum(axis=1))[:, None]
        return found

    def draw(self, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """A bag for each of these states."""
        p = self._known["p"]
        if self.size is None:
            raise InvalidArgument("How many words does a sampled bag have? Set Multinomial(..., size=20).")
        return np.asarray(random.multinomial(self.size, p[states] / p[states].sum(axis=1, keepdims=True)))

    def filled(self, observed: Observed, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """What was observed, and draws from these states where it was not."""
        rows, gaps = observed.rows, np.isnan(observed.rows[:, 0])
        made = np.where(gaps[:, None], 0.0, rows).astype(np.int64)
        if gaps.any():
            made[gaps] = self.draw(states[gaps], random)
        return made

    def unforeseen(self) -> str | None:
        """Why no bag can be forecast; None: it can."""
        if self.size is not None:
            return None
        return "How many words does a forecast bag have? Set Multinomial(..., size=20)."

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of each word's count in each state."""
        p, size = self._known["p"], self.size or 0
        return size * p, size * p * (1.0 - p)

    def below(self, x: float, entry: int) -> np.ndarray:
        """P(count of a word <= x) in each state."""
        from scipy.special import bdtr

        p, size = self._known["p"][:, entry], self.size or 0
        return np.asarray(bdtr(min(np.floor(x), size), size, p)) if x >= 0.0 else np.zeros(len(p))

    def gathered(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The weighted count of each word in each state."""
        return np.asarray(weights.T @ np.where(np.isnan(rows), 0.0, rows))

    def fitted(self, statistics: np.ndarray, prior: np.ndarray | None = None) -> Self:
        """Return the maximum-likelihood distribution for words with these weights."""
        statistics = statistics if prior is None else statistics + prior
        sums = statistics.sum(axis=1, keepdims=True)
        own = None if self._parameters is None else len(self._parameters["p"])
        empty = kept_where_empty(sums[:, 0], own, "Multinomial")
        p = np.divide(statistics, sums, out=np.zeros_like(statistics), where=~empty[:, None])
        if empty.any():
            p[empty] = self._known["p"][empty]
        return self._with({"p": p})

    def coordinates(self) -> np.ndarray:
        """The parameters, unconstrained."""
        return of_shares(self._known["p"])

    def at(self, coordinates: np.ndarray) -> Self:
        """The same distribution with the parameters at these coordinates."""
        return self._with({"p": shares_at(coordinates, self._known["p"])})

    def n_free(self, states: np.ndarray) -> int:
        """One fewer than words in each state, without impossible words."""
        return int((self._known["p"][states] > 0.0).sum() - states.sum())

    def expected_log(self, statistics: np.ndarray) -> float:
        """The log probability of words with these weights, without multinomial coefficients."""
        seen = statistics > 0.0
        with np.errstate(divide="ignore"):
            return float((statistics[seen] * np.log(self._known["p"][seen])).sum())

    def pseudo(self, weight: float, n_states: int, rows: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """This weight of each word in each state."""
        return np.full((n_states, self.dim), weight)

    def to_parts(self) -> dict[str, Any]:
        """Return the probabilities, for a file."""
        return {"p": self.p.tolist()} | ({} if self.size is None else {"size": self.size})

    @classmethod
    def from_parts(cls, part: Part) -> Self:
        """Return the distribution of these parts."""
        found = part.members("a multinomial distribution", ["p"], ["size"])
        size = part.at("size").whole("the number of words of a bag") if "size" in found else None
        return cls(found["p"], size=size)

    def _options(self) -> str:
        return f"dim={self.dim}" + ("" if self.size is None else f", size={self.size}")
