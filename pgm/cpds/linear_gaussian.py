"""Linear Gaussian distributions: linear in continuous parents; discrete parents select the parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Self

import numpy as np

from pgm.distributions import Gaussian
from pgm.distributions.checks import row_weights
from pgm.distributions.gaussian_statistics import GaussianStatistics
from pgm.distributions.normal import LOG_2PI, log_standard_normal
from pgm.distributions.parts import Part
from pgm.errors import (
    InvalidArgument,
    InvalidEvidence,
    InvalidFrame,
    InvalidTable,
    counted,
    listed,
    no_number,
    shown,
)
from pgm.factors import GaussianFactor
from pgm.frames import columns, real_columns
from pgm.randomness import draw_count, generator
from pgm.variables import REAL, Continuous, Variable, as_float

from .base import CPD, ROWS_SHOWN, as_it_is, set_fields
from .complete_rows import codes_of_row
from .own_parameters import OwnParameters
from .statistics import Codes
from .table_input import Array, BadRow, check_cells, find_row, product, row_label

_LARGEST = 1e100  # bounds every parameter and the inverse of sd: their squares stay finite doubles
_REMEDY = "Leave such rows out"


class LinearGaussian(CPD):
    """x = bias + sum of weight * parent + Gaussian noise with standard deviation `sd`.

    Without parents it is a Gaussian root; with sd = 0 a linear function of its parents. A dict of these, one
    for each state of discrete parents, is a conditional linear Gaussian (Lauritzen 1992).

    Args:
        weights: {name: weight} of the continuous parents.
        bias: the intercept.
        sd: the standard deviation of the noise, 0 or more.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("x", pgm.LinearGaussian(bias=1.0, sd=2.0))
    >>> net.add("y", pgm.LinearGaussian({"x": 2.0}, bias=1.0, sd=0.5))
    >>> y = net.query("y")
    >>> y.mean, round(y.variance, 6)
    (3.0, 16.25)
    """

    __slots__ = ("_bias", "_causes", "_rows", "_sd", "_switches", "_weights")
    kind, label, continuous, takes_continuous = "linear-gaussian", "linear Gaussian", True, True

    _switches: tuple[str, ...]  # discrete parents
    _causes: tuple[str, ...]  # continuous parents
    _rows: dict[Any, LinearGaussian] | None  # as written, until the states of the switches are known
    _weights: Array  # (configurations of the switches, causes)
    _bias: Array  # (configurations,)
    _sd: Array

    def __init__(
        self, weights: Mapping[str, float] | None = None, *, bias: float = 0.0, sd: float = 1.0
    ) -> None:
        if weights is not None and not isinstance(weights, Mapping):
            raise InvalidTable(
                f"A linear Gaussian takes its parents as a dict {{name: weight}}, not {shown(weights)}."
            )
        causes: dict[str, float] = {}
        for name, weight in (weights or {}).items():
            if not isinstance(name, str):
                raise InvalidTable(f"A linear Gaussian takes its parents by name, not {shown(name)}.")
            causes[name] = _checked(weight, f"weight of {name!r}")
        bias, sd = _checked(bias, "bias"), _checked(sd, "sd")
        if sd < 0:
            raise InvalidTable(
                f"The sd of a linear Gaussian is a standard deviation: 0 or more, not {shown(sd)}."
            )
        if 0 < sd < 1 / _LARGEST:
            raise InvalidTable(
                f"The sd of a linear Gaussian is 0 or at least {1 / _LARGEST:g}, not {shown(sd)}."
            )
        self._fill(None, (), (), tuple(causes), None, [list(causes.values())], [bias], [sd])

    @classmethod
    def of(cls, gaussian: Gaussian) -> LinearGaussian:
        """A univariate Gaussian as the distribution of a root."""
        if gaussian.dim != 1 or gaussian.n_states is not None:
            raise InvalidTable(f"A node is one continuous variable; {shown(gaussian)} is not univariate.")
        return cls(bias=float(np.ravel(gaussian.mean)[0]), sd=float(np.ravel(gaussian.sd)[0]))

    @classmethod
    def select(cls, name: str, rows: Mapping[Any, Any], switches: Sequence[str]) -> LinearGaussian:
        """One of these for each state of discrete parents; `bind` looks the states up."""
        read: dict[Any, LinearGaussian] = {}
        for key, row in rows.items():
            found = cls.of(row) if isinstance(row, Gaussian) else row
            if not isinstance(found, LinearGaussian) or found._rows is not None or found._switches:
                label = "..." if key is ... else shown(key)
                raise InvalidTable(
                    f"{name!r}, row {label}: a pgm.LinearGaussian or pgm.Gaussian is expected, as in the "
                    f"other rows, not {shown(row)}."
                )
            read[key] = found
        causes = tuple(dict.fromkeys(cause for row in read.values() for cause in row._causes))
        both = [cause for cause in causes if cause in switches]
        if both:
            raise InvalidTable(f"{name!r}: {listed(both)} cannot both select a row and have a weight in it.")
        made = cls.__new__(cls)
        made._fill(None, (), tuple(switches), causes, read, np.zeros((1, len(causes))), [0.0], [0.0])
        return made

    def _fill(
        self,
        child: Variable | None,
        given: tuple[Variable, ...],
        switches: tuple[str, ...],
        causes: tuple[str, ...],
        rows: dict[Any, LinearGaussian] | None,
        weights: Any,
        bias: Any,
        sd: Any,
    ) -> None:
        arrays = [np.array(values, dtype=np.float64) for values in (weights, bias, sd)]
        for values in arrays:
            values.flags.writeable = False
        set_fields(
            self,
            _child=child,
            _given=given,
            _switches=switches,
            _causes=causes,
            _rows=rows,
            _weights=arrays[0].reshape(arrays[1].size, len(causes)),
            _bias=arrays[1],
            _sd=arrays[2],
        )

    # --- what it is ---

    @property
    def parents(self) -> tuple[str, ...]:
        """The names of the parents: discrete ones, then continuous ones."""
        return (*self._switches, *self._causes)

    @property
    def weights(self) -> Array:
        """The weights of the continuous parents, read-only: (states of discrete parents..., parents)."""
        found: Array = self._shaped(self._weights, (len(self._causes),))
        return found

    @property
    def bias(self) -> Any:
        """The bias; with discrete parents an array with an axis for each."""
        return self._shaped(self._bias, ())

    @property
    def sd(self) -> Any:
        """The standard deviation of the noise; with discrete parents an array with an axis for each."""
        return self._shaped(self._sd, ())

    def _shaped(self, values: Array, more: tuple[int, ...]) -> Any:
        if self._rows is not None:
            raise InvalidTable(
                f"{self!r} belongs to no network yet: the states of its parents are not known."
            )
        if not self._switches:
            return values[0] if more else float(values[0])
        return values.reshape(*[v.card for v in self._given[: len(self._switches)]], *more)

    def bind(self, name: str, states: Any, given: tuple[Variable, ...]) -> LinearGaussian:
        """Return this density for the child `name`; discrete parents have states, the others have none."""
        if states is not None and not isinstance(states, Continuous):
            raise InvalidTable(
                f"{name!r}: a linear Gaussian is continuous and has no states; leave out states=."
            )
        by_name = {v.name: v for v in given}
        switches = [by_name[switch] for switch in self._switches]
        causes = [by_name[cause] for cause in self._causes]
        for v in causes:
            if not v.continuous:
                raise InvalidTable(
                    f"{name!r}: {v.name!r} has states, {listed(v.states)}, and no value to be weighted: "
                    f"give a dict with a pgm.LinearGaussian for each, and parents=[{v.name!r}]."
                )
        for v in switches:
            if v.continuous:
                raise InvalidTable(
                    f"{name!r}: {v.name!r} is continuous and has no states to select by: give it a weight, "
                    f"pgm.LinearGaussian({{{v.name!r}: ...}})."
                )
        child = Variable(name, REAL)
        weights, bias, sd = self._weights, self._bias, self._sd
        if self._rows is not None:
            weights, bias, sd = self._selected(name, switches)
        made = self.__new__(type(self))
        made._fill(child, (*switches, *causes), self._switches, self._causes, None, weights, bias, sd)
        return made

    def _selected(self, name: str, switches: Sequence[Variable]) -> tuple[Array, Array, Array]:
        """The parameters of each row, in the order of the states."""
        assert self._rows is not None
        cards = [v.card for v in switches]
        check_cells(cards, f"{name!r}: its rows", "give it fewer discrete parents")
        count = math.prod(cards)
        chosen: list[LinearGaussian | None] = [self._rows.get(...)] * count
        written: dict[tuple[int, ...], object] = {}
        for key, row in self._rows.items():
            if key is ...:
                continue
            try:
                codes = find_row(switches, key)
            except BadRow as bad:
                raise InvalidTable(f"{name!r}, row {shown(key)}: {bad}") from None
            if codes in written:
                raise InvalidTable(f"{name!r}: {shown(written[codes])} and {shown(key)} mean the same row.")
            written[codes] = key
            chosen[int(np.ravel_multi_index(codes, cards))] = row
        weights, bias, sd = np.zeros((count, len(self._causes))), np.empty(count), np.empty(count)
        place = {cause: i for i, cause in enumerate(self._causes)}
        for i, found in enumerate(chosen):
            if found is None:
                codes = tuple(int(code) for code in np.unravel_index(i, cards))
                raise InvalidTable(
                    f"{name!r}: there is no row for {row_label(switches, codes)}; the key `...` stands for "
                    "all rows left out."
                )
            for cause, weight in zip(found._causes, found._weights[0].tolist(), strict=True):
                weights[i, place[cause]] = weight
            bias[i], sd[i] = found._bias[0], found._sd[0]
        return weights, bias, sd

    def factor(self, scope: Sequence[int]) -> GaussianFactor:
        """Return the density as inference takes it; `scope`: positions of the parents, then the child's."""
        return GaussianFactor(
            np.array(scope, dtype=np.int64), len(self._switches), self._weights, self._bias, self._sd
        )

    def rows(self, codes: Codes) -> NoReturn:
        """Refuse: a continuous variable has no table."""
        raise InvalidTable(
            f"{self.child.name!r} is continuous: its density is not a table; see .weights, .bias, .sd."
        )

    def table(self, limit: int | None = None) -> NoReturn:
        """Refuse: a continuous variable has no table."""
        self.rows(np.empty((0, 0), np.int64))

    def probability(self, row: Mapping[str, Any]) -> float:
        """Return the density p(child | parents) for one row: a value or state of the child and each parent.

        A variable without parents and without noise (sd = 0) is a constant: its value has probability 1.

        >>> x = LinearGaussian(bias=1.0, sd=0.5).bind("x", None, ())
        >>> round(x.probability({"x": 1.0}), 6)
        0.797885
        """
        name = self.child.name
        if not isinstance(row, Mapping) or name not in row:
            raise InvalidEvidence(f"A row is a dict {{name: value}} with {name!r} in it, not {shown(row)}.")
        (mean,), (sd,) = self._moments_of_row({key: row[key] for key in row if key != name})
        self.child.code(row[name])
        if sd == 0.0:
            if not self.given:  # a constant: what it is has probability 1
                return float(as_float(row[name]) == mean)
            raise InvalidArgument(f"{name!r} follows from its parents (sd = 0): it has no density.")
        off = (as_float(row[name]) - mean) / sd
        return float(math.exp(log_standard_normal(off)) / sd)

    def sample(
        self, given: Any = None, *, n: int | None = None, seed: int | np.random.Generator | None = None
    ) -> Array:
        """Draw values: `n` for one row of the parents, or one for each row of a frame.

        >>> LinearGaussian(bias=1.0, sd=0.0).bind("x", None, ()).sample(n=2, seed=0)
        array([1., 1.])
        """
        one = n is not None or not self.given
        count = draw_count(1 if n is None else n)
        rng = generator(seed)
        mean, sd = self._moments_of_row({} if given is None else given) if one else self._moments(given)
        return np.asarray(mean + sd * rng.standard_normal(count if one else mean.size))

    def _moments_of_row(self, row: Any) -> tuple[Array, Array]:
        """The mean and the standard deviation for one row of the parents."""
        codes = codes_of_row(self.given, row)[: len(self._switches)]
        values = [np.array([as_float(row[cause])]) for cause in self._causes]
        return self._moments_at(list(codes[:, np.newaxis]), values)

    def _moments(self, frame: Any) -> tuple[Array, Array]:
        """The mean and the standard deviation for each row of the parents."""
        switches, causes = self.given[: len(self._switches)], self.given[len(self._switches) :]
        found = real_columns(frame, {v.name: v for v in causes}, remedy=_REMEDY).values
        codes = columns(frame, {v.name: v for v in switches}, remedy=_REMEDY).codes
        gaps = {name: np.isnan(values).any() for name, values in found.items()}
        gaps |= {name: (values < 0).any() for name, values in codes.items()}
        for name in self.parents:
            if gaps.get(name, True):
                raise InvalidFrame(f"{self.child.name!r}: every row needs a value of its parent {name!r}.")
        return self._moments_at([codes[v.name] for v in switches], [found[v.name] for v in causes])

    def _moments_at(self, codes: Sequence[Any], values: Sequence[Array]) -> tuple[Array, Array]:
        """The mean and the standard deviation for columns of the parents; if there are none, for one row."""
        row: Any = np.zeros(len(values[0]) if values else 1, np.int64)
        if codes:
            row = np.ravel_multi_index(codes, [v.card for v in self.given[: len(codes)]])
        mean = self._bias[row]
        for i, column in enumerate(values):
            mean = mean + self._weights[row, i] * column
        return mean, self._sd[row]

    def renamed(self, child: Variable, given: tuple[Variable, ...]) -> Self:
        """Return the same density for variables that differ only in their names."""
        names = [v.name for v in given]
        k = len(self._switches)
        made = self.__new__(type(self))
        made._fill(
            child, given, tuple(names[:k]), tuple(names[k:]), None, self._weights, self._bias, self._sd
        )
        return made

    # --- learning ---

    def statistics(self, data: Any, weights: Any = None) -> GaussianStatistics:
        """Return the sufficient statistics of a frame, for each configuration of the discrete parents.

        Args:
            data: columns of the child and all parents, without missing values.
            weights: one for each row; or one for each row and configuration of the discrete parents, as
                expected counts have them: the columns of these parents are then not read.

        Raises:
            InvalidArgument: a column has missing values, or there are too few weights.
            InvalidFrame, UnknownState: a column is missing, or has a value that is neither a number nor a
                state.

        >>> from pgm.variables import REAL
        >>> y = LinearGaussian({"x": 0.0}).bind("y", None, (Variable("x", REAL),))
        >>> y.statistics({"x": [0.0, 1.0, 2.0], "y": [1.0, 3.0, 5.0]}).mean.tolist()
        [[1.0, 3.0]]
        """
        if isinstance(data, GaussianStatistics):
            return data
        switches = self.given[: len(self._switches)]
        family = (*self.given[len(self._switches) :], self.child)
        found = real_columns(data, {v.name: v for v in family}, remedy=_REMEDY).values
        for v in family:
            if v.name not in found or np.isnan(found[v.name]).any():
                raise InvalidArgument(
                    f"{self.child.name!r} is fitted to columns without gaps; {v.name!r} has some."
                )
        rows = np.column_stack([found[v.name] for v in family])
        shares = row_weights(weights, len(rows))
        count = self._bias.size
        if shares.shape[1] != count:
            codes = columns(data, {v.name: v for v in switches}, remedy=_REMEDY).codes
            if shares.shape[1] > 1 or any(v.name not in codes or (codes[v.name] < 0).any() for v in switches):
                raise InvalidArgument(
                    f"{self.child.name!r} is fitted to columns without gaps of {listed(self._switches)}, or "
                    f"to a weight for each of its {count} rows."
                )
            row = np.ravel_multi_index([codes[v.name] for v in switches], [v.card for v in switches])
            shares = shares * (row[:, None] == np.arange(count))
        return Gaussian(dim=rows.shape[1]).statistics(rows if self._causes else rows[:, 0], shares)

    def gathered(self, codes: Codes, values: Array, weights: Array) -> GaussianStatistics:
        """Return the statistics of complete rows, added up in two passes.

        >>> from pgm.variables import REAL
        >>> y = LinearGaussian({"x": 0.0}).bind("y", None, (Variable("x", REAL),))
        >>> y.gathered(np.empty((2, 0), np.int64), np.array([[0.0, 1.0], [2.0, 5.0]]), np.ones(2)).mean
        array([[1., 3.]])
        """
        cards = [v.card for v in self.given[: len(self._switches)]]
        count, dim = self._bias.size, values.shape[1]
        row = np.ravel_multi_index(tuple(codes.T), cards) if cards else np.zeros(len(values), np.int64)
        weight = np.bincount(row, weights, minlength=count).astype(np.float64)
        shares = np.divide(1.0, weight, out=np.zeros_like(weight), where=weight > 0.0)
        mean, scatter = np.empty((count, dim)), np.empty((count, dim, dim))
        off = np.empty_like(values, order="F")
        for i in range(dim):
            mean[:, i] = np.bincount(row, weights * values[:, i], minlength=count) * shares
            off[:, i] = values[:, i] - mean[row, i]
            mean[:, i] += np.bincount(row, weights * off[:, i], minlength=count) * shares  # what was rounded
            off[:, i] = values[:, i] - mean[row, i]
        for i in range(dim):
            for j in range(i + 1):
                scatter[:, i, j] = np.bincount(row, weights * off[:, i] * off[:, j], minlength=count)
                scatter[:, j, i] = scatter[:, i, j]
        return GaussianStatistics(weight, mean, scatter)

    def expected_log(self, statistics: Any) -> float:
        """Return the log-likelihood of data with these moments.

        >>> x = LinearGaussian(bias=0.0, sd=1.0).bind("x", None, ())
        >>> round(x.expected_log(x.statistics({"x": [0.0]})), 6)
        -0.918939
        """
        found = self._checked_statistics(statistics, GaussianStatistics)
        both = np.concatenate([-self._weights, np.ones((self._bias.size, 1))], axis=1)
        off = (found.mean * both).sum(axis=1) - self._bias
        squares = np.einsum("ki,kij,kj->k", both, found.scatter, both) + found.weight * off**2
        there = found.weight > 0.0
        variance = self._sd[there] ** 2
        if not (variance > 0.0).all():
            return math.inf if not (squares[there][variance == 0.0] > 0.0).any() else -math.inf
        logs = found.weight[there] * (np.log(variance) + LOG_2PI) + squares[there] / variance
        return float(-0.5 * logs.sum())

    def own_parameters(self, statistics: Any) -> OwnParameters | None:
        """Return weights, bias and sd for each configuration of the discrete parents, with their derivatives.

        >>> x = LinearGaussian(bias=0.0, sd=2.0).bind("x", None, ())
        >>> x.own_parameters(x.statistics({"x": [2.0]})).slopes.tolist()
        [0.5, 0.0]
        """
        found = self._checked_statistics(statistics, GaussianStatistics)
        both = np.concatenate([-self._weights, np.ones((self._bias.size, 1))], axis=1)
        off = (found.mean * both).sum(axis=1) - self._bias
        total = found.weight * off  # the sum of the residuals; below, of their products with the causes
        products = np.einsum("kij,kj->ki", found.scatter, both)[:, :-1] + total[:, None] * found.mean[:, :-1]
        squares = np.einsum("ki,kij,kj->k", both, found.scatter, both) + total * off
        with np.errstate(divide="ignore", invalid="ignore"):
            precision = np.where(self._sd > 0.0, self._sd**-2.0, np.nan)
            spread = squares * precision / self._sd - found.weight / self._sd
            slopes = np.column_stack([products * precision[:, None], total * precision, spread])
        values = np.column_stack([self._weights, self._bias, self._sd])
        own = [*(f"weight of {name}" for name in self._causes), "bias", "sd"]
        switches = self.given[: len(self._switches)]
        rows = [row_label(switches, row) for row in np.ndindex(*[v.card for v in switches])]
        names = tuple(f"{row}: {name}" if row else name for row in rows for name in own)
        return OwnParameters(values.ravel(), slopes.ravel(), False, names)

    @classmethod
    def standard(cls, child: Variable, given: tuple[Variable, ...]) -> LinearGaussian:
        """Return a standard normal independent of its parents, to be fitted; discrete parents select rows.

        Args:
            child: the variable.
            given: its parents.

        Raises:
            TooLarge: its rows do not fit the memory limit.

        >>> from pgm.variables import REAL
        >>> LinearGaussian.standard(Variable("y", REAL), (Variable("c", ["a", "b"]),)).sd
        array([1., 1.])
        """
        switches = tuple([v for v in given if not v.continuous])
        causes = tuple([v for v in given if v.continuous])
        cards = [v.card for v in switches]
        check_cells([*cards, len(causes) + 2], f"{child.name!r}: its rows", "give it fewer discrete parents")
        n = math.prod(cards)
        made = cls.__new__(cls)
        names = tuple(v.name for v in switches), tuple(v.name for v in causes)
        made._fill(
            child, (*switches, *causes), *names, None, np.zeros((n, len(causes))), np.zeros(n), np.ones(n)
        )
        return made

    def _fitted(self, statistics: Any) -> Self:
        """Fit a regression for each configuration; with collinear parents, the one of minimum norm."""
        statistics = self._checked_statistics(statistics, GaussianStatistics)
        k = len(self._causes)
        empty = np.flatnonzero(~(statistics.weight > 0))
        if empty.size:
            switches = self.given[: len(self._switches)]
            codes = np.unravel_index(int(empty[0]), [v.card for v in switches]) if switches else ()
            where = f" for {row_label(switches, [int(code) for code in codes])}" if switches else ""
            raise InvalidArgument(f"{self.child.name!r}: there is no row with any weight{where} to fit to.")
        covariance = statistics.scatter / statistics.weight[:, None, None]
        scale = np.sqrt(np.einsum("kii->ki", covariance))
        scale[scale == 0.0] = 1.0
        correlation = covariance / (scale[:, :, None] * scale[:, None, :])
        solved = np.linalg.pinv(correlation[:, :k, :k], rcond=1e-12, hermitian=True)
        slopes = np.einsum("kij,kj->ki", solved, correlation[:, :k, k])
        rest = correlation[:, k, k] - np.einsum("ki,ki->k", slopes, correlation[:, :k, k])
        weights = slopes * scale[:, k:] / scale[:, :k]
        bias = statistics.mean[:, k] - np.einsum("ki,ki->k", weights, statistics.mean[:, :k])
        sd = scale[:, k] * np.sqrt(np.maximum(rest, 0.0))  # rounding may leave it below zero
        made = self.__new__(type(self))
        made._fill(self.child, self.given, self._switches, self._causes, None, weights, bias, sd)
        return made

    def to_parts(self, state: Callable[[Any, str], Any] = as_it_is) -> Any:
        """Return weights, bias and sd; where discrete parents select, those of each configuration."""
        _ = self.child  # an error if there is none
        rows = zip(self._weights.tolist(), self._bias.tolist(), self._sd.tolist(), strict=True)
        found = [{"weights": dict(zip(self._causes, w, strict=True)), "bias": b, "sd": s} for w, b, s in rows]
        return found if self._switches else found[0]

    @classmethod
    def from_parts(cls, child: Variable, given: tuple[Variable, ...], part: Part) -> LinearGaussian:
        """Return the density of these weights."""
        switches = [v for v in given if not v.continuous]
        causes = [v.name for v in given if v.continuous]
        if [v.name for v in given] != [*[v.name for v in switches], *causes]:
            part.fail("the discrete parents of a linear Gaussian come first, then the continuous ones")
        if not switches:
            return cls._line(part, causes).bind(child.name, None, given)
        count = product(v.card for v in switches)
        if len(part.elements("a list of linear Gaussians")) != count:
            part.fail(
                f"one for each of {counted(count)} configurations of the discrete parents expected, "
                f"found {len(part.value):,}"
            )
        keys = [
            tuple([v.states[i] for v, i in zip(switches, codes, strict=True)])
            for codes in np.ndindex(*[v.card for v in switches])
        ]
        lines = {key: cls._line(part.at(i), causes) for i, key in enumerate(keys)}
        made = cls.select(child.name, lines, [v.name for v in switches])
        return made.bind(child.name, None, given)

    @classmethod
    def _line(cls, part: Part, causes: Sequence[str]) -> LinearGaussian:
        part.members("a linear Gaussian", ["weights", "bias", "sd"])
        part.at("weights").members("the weights", causes)
        weights = {name: part.at("weights", name).number("a weight") for name in causes}
        return cls(weights, bias=part.at("bias").number("the bias"), sd=part.at("sd").number("the sd"))

    @property
    def n_parameters(self) -> int:
        """The number of parameters: in each row the weights, the bias and the standard deviation."""
        return self._weights.size + self._bias.size + self._sd.size

    def to_dict(self) -> dict[Any, Any]:
        """Return {"weights": {name: w}, "bias": b, "sd": s}; with discrete parents, {state: such a dict}."""
        names, rows = (
            self._causes,
            zip(self._weights.tolist(), self._bias.tolist(), self._sd.tolist(), strict=True),
        )
        found = [{"weights": dict(zip(names, w, strict=True)), "bias": b, "sd": s} for w, b, s in rows]
        if not self._switches:
            return found[0]
        switches = self.given[: len(self._switches)]
        keys = [
            tuple(v.states[i] for v, i in zip(switches, at, strict=True))
            for at in np.ndindex(*[v.card for v in switches])
        ]
        return {(key if len(key) > 1 else key[0]): row for key, row in zip(keys, found, strict=True)}

    # --- as a value ---

    def __eq__(self, other: object) -> bool:
        """Tell whether the parameters are equal and, where both belong to networks, the variables."""
        if not isinstance(other, LinearGaussian):
            return NotImplemented
        if self._switches != other._switches or set(self._causes) != set(other._causes):
            return False
        if self._rows is not None or other._rows is not None:
            return self._rows == other._rows
        order = [other._causes.index(cause) for cause in self._causes]
        return (
            self._child == other._child
            and set(self._given) == set(other._given)
            and np.array_equal(self._weights, other._weights[:, order])
            and np.array_equal(self._bias, other._bias)
            and np.array_equal(self._sd, other._sd)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if self._child is not None:
            return super().__repr__()
        if self._rows is not None:
            return f"LinearGaussian(parents={list(self.parents)}, {len(self._rows)} rows)"
        weights = f"{len(self._causes)} weights, "
        if len(self._causes) <= 5:
            pairs = zip(self._causes, self._weights[0].tolist(), strict=True)
            weights = f"{dict(pairs)!r}, " if self._causes else ""
        return f"LinearGaussian({weights}bias={self._bias[0]:.10g}, sd={self._sd[0]:.10g})"

    def _title(self) -> str:
        return super()._title().replace("P(", "p(", 1)

    def _lines(self) -> tuple[Sequence[object], Sequence[Sequence[object]], int]:
        switches = self.given[: len(self._switches)]
        rows = []
        for i in range(min(self._bias.size, ROWS_SHOWN)):
            codes = np.unravel_index(i, [v.card for v in switches]) if switches else ()
            states = [v.states[int(code)] for v, code in zip(switches, codes, strict=True)]
            parameters = [*self._weights[i].tolist(), self._bias[i], self._sd[i]]
            rows.append([*states, *(f"{value:.6g}" for value in parameters)])
        header = [*self._switches, *(f"* {cause}" for cause in self._causes), "bias", "sd"]
        return header, rows, int(self._bias.size)


def _checked(number: object, what: str) -> float:
    found = as_float(number)
    if not abs(found) <= _LARGEST:
        raise InvalidTable(
            f"The {what} of a linear Gaussian is a number of size up to {_LARGEST:g}, not {shown(number)}."
            f"{no_number(number)}"
        )
    return found
