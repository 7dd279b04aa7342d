"""Distributions of variables with states."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument, UnknownVariable, listed, shown
from pgm.printing import ROWS, Share, label
from pgm.results.base import OfVariables, noted, pandas
from pgm.results.intervals import Intervals, farthest
from pgm.results.report import EXACT, Report
from pgm.variables import State, Variable, is_missing

if TYPE_CHECKING:
    import pandas as pd

_TITLE = 60  # characters; a longer title is not used as the heading of a column


class Distribution(OfVariables):
    """A probability for each state of a variable, or for each combination of states of several.

    `p[state]`, or `p[state1, state2]` in the order asked; a mapping names the variables instead, and those
    that it leaves out are summed out.

    >>> rain, wet = Variable("rain", [False, True]), Variable("wet", ["no", "yes"])
    >>> j = Distribution((rain, wet), np.array([[0.5, 0.1], [0.1, 0.3]]))
    >>> j[True, "yes"], j[{"wet": "yes"}], j.mode()
    (0.3, 0.4, {'rain': False, 'wet': 'no'})
    >>> j.marginal("rain")
    rain   P(rain)
    False  0.600000
    True   0.400000
    """

    __slots__ = ("values",)
    values: np.ndarray

    def __init__(self, variables: tuple[Variable, ...], values: np.ndarray, report: Report = EXACT) -> None:
        """Take values with one axis for each variable; they are kept as they are, and become read-only."""
        values.setflags(write=False)
        if values.base is None:  # an array that owns its memory can be made writeable again; a view cannot
            values = values.view()
        set_variables(self, variables)  # without any check: a thousand are made in one call
        set_values(self, values)
        set_report(self, report)

    @property
    def states(self) -> tuple[Any, ...]:
        """The states of the variable; of a joint distribution, those of each."""
        if len(self.variables) == 1:
            return self.variables[0].states
        return tuple(variable.states for variable in self.variables)

    def __getitem__(self, key: State | tuple[State, ...] | Mapping[str, State]) -> float:
        """The probability of a state, of a combination of states, or of a mapping from names to states."""
        if isinstance(key, Mapping):
            return self._of_mapping(key)
        if len(self.variables) == 1:
            return float(self.values[self.variables[0].code(key)])
        if not isinstance(key, tuple) or len(key) != len(self.variables):
            raise InvalidArgument(
                f"This is the joint of {listed(self.names)}; ask with {len(self.variables)} states in this "
                f"order, or with a mapping from names to states, not {shown(key)}."
            )
        return float(self.values[tuple(v.code(state) for v, state in zip(self.variables, key, strict=True))])

    def _of_mapping(self, wanted: Mapping[str, State]) -> float:
        names = self.names
        index: list[int | slice] = [slice(None)] * len(names)
        for name, state in wanted.items():
            if name not in names:
                raise UnknownVariable(name, names)
            if not is_missing(state):
                axis = names.index(name)
                index[axis] = self.variables[axis].code(state)
        return float(self.values[tuple(index)].sum())

    @property
    def bounds(self) -> np.ndarray | None:
        """A lower and an upper bound on each probability, along the last axis; None: not known."""
        found = self.report.intervals
        if found is None or not found.sure:
            return None
        ends = np.stack([found.low, found.high], axis=-1)
        ends.flags.writeable = False
        return ends

    def keys(self) -> Iterator[Any]:
        """The states in order; of a joint distribution, tuples of them."""
        if len(self.variables) == 1:
            return iter(self.variables[0].states)
        return product(*(variable.states for variable in self.variables))

    def items(self) -> Iterator[tuple[Any, float]]:
        """Pairs of state and probability, in order."""
        return zip(self.keys(), map(float, self.values.flat), strict=True)

    def __iter__(self) -> Iterator[Any]:
        """The states in order; of a joint distribution, tuples of them."""
        return self.keys()

    def __len__(self) -> int:
        """The number of states, or of their combinations."""
        return int(self.values.size)

    def mode(self) -> Any:
        """The most probable state, of equals the one declared first; of a joint distribution, a dict."""
        best = np.unravel_index(int(self.values.argmax()), self.values.shape)
        states = {v.name: v.states[code] for v, code in zip(self.variables, best, strict=True)}
        return states if len(states) > 1 else next(iter(states.values()))

    def entropy(self) -> float:
        """How uncertain this is, in nats.

        >>> round(Distribution((Variable("coin", ["head", "tail"]),), np.array([0.5, 0.5])).entropy(), 6)
        0.693147
        """
        p = self.values[self.values > 0]
        return max(0.0, -float(p @ np.log(p)))

    def mutual_information(
        self, a: str | Sequence[str], b: str | Sequence[str], given: str | Sequence[str] = ()
    ) -> float:
        """The mutual information of some variables of a joint distribution with others, in nats.

        I(a; b), or I(a; b | given), averaged over the states of `given` (Cover & Thomas 2006, equations 2.28
        and 2.60). It is 0 where they are independent, and at most the entropy of either.

        Args:
            a: one of the names, or several, taken as one variable.
            b: others.
            given: variables to condition on.

        Raises:
            UnknownVariable: a name is not one of the variables.
            InvalidArgument: a name appears twice, or a or b is empty.

        >>> bits = [Variable(name, [0, 1]) for name in ("a", "b", "parity")]
        >>> j = Distribution(tuple(bits), np.array([[[0.25, 0.0], [0.0, 0.25]], [[0.0, 0.25], [0.25, 0.0]]]))
        >>> j.mutual_information("a", "b"), round(j.mutual_information("a", "b", given="parity"), 6)
        (0.0, 0.693147)
        """
        sets = self._sets(a, b, given)
        joint = self.marginal([name for names in sets for name in names])
        cards = [v.card for v in joint.variables]
        ends = np.cumsum([0, *map(len, sets)])
        abc = joint.values.reshape([math.prod(cards[i:j]) for i, j in pairwise(ends.tolist())])
        ac, bc, c = abc.sum(axis=1, keepdims=True), abc.sum(axis=0, keepdims=True), abc.sum(axis=(0, 1))
        some = abc > 0.0
        b_given_ac = np.divide(abc, ac, where=some, out=np.ones_like(abc))
        b_given_c = np.divide(bc, c, where=bc > 0.0, out=np.ones_like(bc))
        return max(0.0, float((abc * (np.log(b_given_ac) - np.log(b_given_c))).sum()))

    def expectation(self, f: Callable[..., float] | None = None) -> float:
        """The mean of the states, which must be numeric, or of a function of them.

        Args:
            f: a function of a state; of a joint distribution, of a state of each. None: the state itself.

        Raises:
            InvalidArgument: there is no f, and states are not numeric, or there are several variables.

        >>> die = Distribution((Variable("die", range(1, 7)),), np.full(6, 1 / 6))
        >>> round(die.expectation(), 6), round(die.expectation(lambda eyes: eyes**2), 6)
        (3.5, 15.166667)
        """
        if f is not None:
            joint = len(self.variables) > 1
            return math.fsum(p * (f(*key) if joint else f(key)) for key, p in self.items() if p > 0)
        return math.fsum(p * state for state, p in self._weighted_states() if p > 0)

    @property
    def mean(self) -> Any:
        """The mean of one variable whose states are numeric, as `expectation()` gives it.

        >>> Distribution((Variable("children", [0, 1, 2]),), np.array([0.5, 0.25, 0.25])).mean
        0.75
        """
        return self.expectation()

    @property
    def variance(self) -> Any:
        """The variance of one variable whose states are numeric.

        >>> Distribution((Variable("children", [0, 1, 2]),), np.array([0.5, 0.25, 0.25])).variance
        0.6875
        """
        mean = self.expectation()
        return math.fsum(p * (state - mean) ** 2 for state, p in self._weighted_states() if p > 0)

    @property
    def std(self) -> Any:
        """The standard deviation of one variable whose states are numeric."""
        return math.sqrt(self.variance)

    def _weighted_states(self) -> Iterable[tuple[Any, float]]:
        """Pairs of state and probability, of one variable whose states are numeric."""
        if len(self.variables) > 1 or not all(isinstance(state, int | float) for state in self.states):
            raise InvalidArgument(
                f"The mean of {listed(self.names)} needs one variable whose states are numeric; "
                "give a function of the states: expectation(lambda state: ...)."
            )
        return self.items()

    def marginal(self, names: str | Sequence[str]) -> Distribution:
        """The distribution of some of the variables, with its axes in the order asked.

        Args:
            names: one name, or a list of names in the order wanted.

        Raises:
            UnknownVariable: a name is not one of the variables.
            InvalidArgument: no name is given.

        >>> rain, wet = Variable("rain", [False, True]), Variable("wet", ["no", "yes"])
        >>> Distribution((rain, wet), np.array([[0.5, 0.125], [0.125, 0.25]])).marginal("rain")[True]
        0.375
        """
        axes = self._kept(names)
        gone = tuple(axis for axis in range(len(self.variables)) if axis not in axes)
        order = [sorted(axes).index(axis) for axis in axes]
        values = self.values.sum(axis=gone).transpose(order).copy()
        report = _summed(self.report, gone, self.values.sum(axis=gone)) if gone else self.report
        if report.intervals is not None:
            report = report.changed(intervals=report.intervals.changed(lambda a, _: a.transpose(order)))
        return Distribution(tuple(self.variables[axis] for axis in axes), values, report)

    def to_dict(self) -> dict[Any, float]:
        """{state: probability}; of a joint distribution, {(state, state, ...): probability}."""
        return dict(self.items())

    def to_pandas(self) -> pd.Series:
        """A Series whose index holds the states."""
        if len(self.variables) == 1:
            index = pandas().Index(self.states, name=self.names[0], tupleize_cols=False)
        else:
            index = pandas().MultiIndex.from_product(self.states, names=self.names)
        series: pd.Series = pandas().Series(self.values.ravel().copy(), index=index, name="p")
        return series

    def __eq__(self, other: object) -> bool:
        """Equal when the variables are the same, in order, and the probabilities identical."""
        if not isinstance(other, Distribution):
            return NotImplemented
        return self.variables == other.variables and np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        """Hash of the variables and values."""
        return hash((self.variables, (self.values + 0.0).tobytes()))  # -0.0 equals 0.0

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The probabilities, for numpy."""
        return np.array(self.values, dtype=dtype) if copy else np.asarray(self.values, dtype=dtype)

    def _parts(self) -> tuple[object, ...]:
        return self.variables, self.values, self.report

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        joint = len(self.variables) > 1
        names = [label(name) for name in self.names]
        title = self.title
        titled = not joint and len(title) <= _TITLE
        header = [*names, title if titled else "P"]
        rows = [[*map(label, key if joint else (key,)), Share(p)] for key, p in islice(self.items(), ROWS)]
        if self.report.intervals is not None:
            header += self.report.intervals.heads
            for row, ends in zip(rows, self.report.intervals.cells(), strict=False):
                row += ends
        return header, rows, noted(len(self), len(rows), "rows", self.report, given=not titled)


# Past the guard, and quicker than `put`: for code that makes thousands at once.
set_variables = OfVariables.__dict__["variables"].__set__
set_report = OfVariables.__dict__["report"].__set__
set_values = Distribution.__dict__["values"].__set__


def _summed(report: Report, axes: tuple[int, ...], values: np.ndarray) -> Report:
    """The report on these values, which are sums along some axes."""
    each = report.intervals
    if each is None:
        return report
    if each.errors is not None:  # the error is at most their sum; 95 % intervals do not follow
        return report.changed(intervals=None, error=float(each.errors.sum(axis=axes).max()))
    low = each.low.sum(axis=axes) * (1.0 - 2.0**-40)
    high = each.high.sum(axis=axes) * (1.0 + 2.0**-40)
    ends = Intervals(np.minimum(low, 1.0), np.minimum(high, 1.0))
    return report.changed(intervals=ends, error=farthest(ends, values))
