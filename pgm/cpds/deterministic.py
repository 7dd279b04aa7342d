"""A child that is a function of its parents."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from itertools import islice, product
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pgm.distributions.parts import Part
from pgm.errors import InvalidTable, TooLarge, counted, listed, shown
from pgm.factors import Dense, Sparse
from pgm.variables import Variable, is_missing

from .base import CPD, ROWS_SHOWN, as_it_is, set_fields
from .statistics import Codes, RowCounts
from .table_input import MAX_AXES, Array, row_label, sorted_domain

_MOST_CONFIGURATIONS = 1_000_000
_DENSE_CELLS = 1 << 20  # above this size, listing the non-zero rows costs less than all the zeros


class Deterministic(CPD):
    """The child's state as a function of its parents' states.

    The parents are the function's parameters, or `parents=[...]` in the order of its arguments. The
    function is called once for each configuration when it is added; only its results are kept. The states
    are the results, sorted, unless `states=` declares them.

    Args:
        function: gets a state of each parent and returns one of the child.
        parents: names in the order of its arguments; None: the names of its parameters.

    Raises:
        InvalidTable: it is not a function, its parameters have no names, or, when it is added to a network,
            it fails or returns something that is not a state.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("a", 0.5); net.add("b", 0.5)
    >>> net.add("both", pgm.Deterministic(lambda a, b: a and b))
    >>> net.cpd("both").to_dict()[True, False]
    False
    """

    __slots__ = ("_codes", "_function", "_parents")
    kind, label = "function", "deterministic"

    _parents: tuple[str, ...]
    _function: Callable[..., Any] | None  # None once the outcomes are known
    _codes: npt.NDArray[np.int32]  # the child's state for each configuration of the parents

    def __init__(self, function: Callable[..., Any], parents: str | Sequence[str] | None = None) -> None:
        if not callable(function):
            raise InvalidTable(f"pgm.Deterministic takes a function, not {shown(function)}.")
        if isinstance(parents, str):
            parents = (parents,)
        if not isinstance(parents, list | tuple | None):
            raise InvalidTable(
                f"parents= takes a list of names in the order of arguments, not {shown(parents)}."
            )
        names = _parameters(function) if parents is None else tuple(parents)
        empty = np.zeros(0, dtype=np.int32)
        set_fields(self, _child=None, _given=(), _parents=names, _function=function, _codes=empty)

    @property
    def parents(self) -> tuple[str, ...]:
        """The names of the parents, in the order of the function's arguments."""
        return self._parents

    @property
    def codes(self) -> npt.NDArray[np.int32]:
        """For each configuration of the parents the index of the child's state, read-only."""
        return self._codes

    def bind(self, name: str, states: Any, given: tuple[Variable, ...]) -> Deterministic:
        """Call the function for every configuration of these parents, and keep the outcomes."""
        if self._function is None:
            return self._bound(self._matched(name, states, given), given, self._codes)
        cards = [v.card for v in given]
        count = math.prod(cards)
        if count > _MOST_CONFIGURATIONS:
            many = f"{count:,}" if count < 10**15 else f"10**{math.log10(count):.0f}"
            raise TooLarge(
                f"{name!r}: its parents have {many} configurations, for each of which the function would "
                f"be called; {_MOST_CONFIGURATIONS:,} are allowed: nothing is known of a function but its "
                "outcomes. Split it over several nodes, or use a form that is known: pgm.AtLeast, "
                "pgm.Exactly, pgm.Parity, pgm.NoisyOr, pgm.TreeCPD."
            )
        if len(given) >= MAX_AXES:
            raise TooLarge(f"{name!r}: a function of {len(given)} parents; {MAX_AXES - 1} are possible.")
        outcomes = []
        for configuration in product(*[v.states for v in given]):
            try:
                outcome = self._function(*configuration)
                hash(outcome)
            except Exception as error:
                label = _label(given, configuration)
                raise InvalidTable(f"{name!r}, row {label}: the function fails: {shown(error)}.") from error
            if is_missing(outcome):
                raise InvalidTable(
                    f"{name!r}, row {_label(given, configuration)}: the function gives {outcome!r}, which is "
                    "not a state."
                )
            outcomes.append(outcome)
        child = Variable(name, sorted_domain(name, dict.fromkeys(outcomes)) if states is None else states)
        find = child.domain.find
        codes = np.fromiter((find(outcome) for outcome in outcomes), dtype=np.int32, count=count)
        if codes.min() < 0:
            at = int(np.argmin(codes))
            label = row_label(given, np.array(np.unravel_index(at, cards)))
            raise InvalidTable(
                f"{name!r}, row {label}: the function gives "
                f"{shown(outcomes[at])}, which is not one of the states {listed(child.states)}."
            )
        return self._bound(child, given, codes.reshape(cards))

    @classmethod
    def trusted(cls, child: Variable, given: tuple[Variable, ...], codes: npt.NDArray[np.int32]) -> Self:
        """Make one from outcomes that are known to be valid.

        Args:
            child: the variable that is a function of the others.
            given: its parents.
            codes: the outcomes, as `codes` returns them.

        >>> a, b = Variable("a", [False, True]), Variable("b", [False, True])
        >>> Deterministic.trusted(b, (a,), np.array([1, 0], np.int32)).to_dict()
        {False: True, True: False}
        """
        return cls.__new__(cls)._bound(child, given, codes)

    def _bound(self, child: Variable, given: tuple[Variable, ...], codes: npt.NDArray[np.int32]) -> Self:
        codes.flags.writeable = False
        made = self.__new__(type(self))
        names = tuple([v.name for v in given])
        set_fields(made, _child=child, _given=given, _parents=names, _function=None, _codes=codes)
        return made

    def factor(self, scope: Sequence[int]) -> Dense | Sparse:
        """Return the function as a factor: a table of zeros and ones, or its non-zero rows if it is wide."""
        positions = np.array(scope, dtype=np.int64)
        if self._codes.size * self.child.card <= _DENSE_CELLS:
            return Dense(positions[np.newaxis], self.table(), 1)
        parents = np.indices(self._codes.shape).reshape(len(self._given), -1)
        rows = np.concatenate([parents, self._codes.reshape(1, -1)]).T
        return Sparse(positions, np.ascontiguousarray(rows, dtype=np.int64), np.ones(len(rows)), 1)

    def table(self, limit: int | None = None) -> Array:
        """Return the function as a table of zeros and ones."""
        table = np.zeros(self._cells(limit))
        np.put_along_axis(table, self._codes[..., np.newaxis].astype(np.int64), 1.0, axis=-1)
        table.flags.writeable = False
        return table

    def rows(self, codes: Codes) -> Array:
        """Return a one for the outcome of each row."""
        found = np.zeros((len(codes), self.child.card))
        found[np.arange(len(codes)), self._codes[tuple(codes.T)]] = 1.0
        return found

    def outcomes(self) -> npt.NDArray[np.int32]:
        """Return the child's state for each configuration of the parents."""
        return self._codes

    def _counted(self, codes: Codes, weights: Array) -> RowCounts:
        return RowCounts(np.array([[weights.sum()]]))

    def _fitted(self, statistics: Any) -> Self:
        return self  # a function has no parameters

    def renamed(self, child: Variable, given: tuple[Variable, ...]) -> Self:
        """Return the same function for variables that differ only in their names."""
        return self._bound(child, given, self._codes)

    def to_parts(self, state: Callable[[Any, str], Any] = as_it_is) -> list[Any]:
        """Return the child's state for each configuration, the state of the last parent changing fastest."""
        states = [state(s, self.child.name) for s in self.child.states]
        return [states[code] for code in self._codes.ravel().tolist()]

    @classmethod
    def from_parts(cls, child: Variable, given: tuple[Variable, ...], part: Part) -> Self:
        """Return the function with these outcomes."""
        cards = [v.card for v in given]
        if len(cards) >= MAX_AXES:
            part.fail(f"a function of {len(cards)} parents; {MAX_AXES - 1} are possible")
        found, count = part.elements("a list of states"), math.prod(cards)
        if len(found) != count:
            part.fail(f"a state for each of {counted(count)} configurations expected, found {len(found):,}")
        if set(map(type, found)) <= {str, bool, int, float}:
            codes = np.fromiter(map(child.code, found), dtype=np.int32, count=count)
        else:
            codes = np.array([child.code(part.at(i).state()) for i in range(count)], dtype=np.int32)
        return cls.trusted(child, given, codes.reshape(cards))

    @property
    def n_parameters(self) -> int:
        """Zero: a function has no parameters."""
        return 0

    def to_dict(self) -> dict[Any, Any]:
        """Return {parent state: state}, keys in tuples unless there is one parent."""
        keys = product(*[v.states for v in self.given])
        outcomes = (self.child.states[code] for code in self._codes.flat)
        return {
            (key[0] if len(key) == 1 else key): outcome for key, outcome in zip(keys, outcomes, strict=True)
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Deterministic):
            return NotImplemented
        if self._child is None or other._child is None:
            return self._function is other._function and self._parents == other._parents
        if self._child != other._child or set(self._given) != set(other._given):
            return False
        axes = [other._given.index(v) for v in self._given]
        return np.array_equal(self._codes, other._codes.transpose(axes))

    __hash__ = None  # type: ignore[assignment]

    def _lines(self) -> tuple[Sequence[object], Sequence[Sequence[object]], int]:
        configurations = islice(product(*[v.states for v in self.given]), ROWS_SHOWN)
        outcomes = [self.child.states[code] for code in self._codes.reshape(-1)[:ROWS_SHOWN]]
        rows = [[*key, outcome] for key, outcome in zip(configurations, outcomes, strict=True)]
        return [*self._parents, self.child.name], rows, self._codes.size


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        parameters = None
    if parameters is None or any(
        p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters
    ):
        raise InvalidTable(
            f"The parents of {function!r} cannot be read from its signature: write parents=[...]."
        )
    return tuple(p.name for p in parameters)


def _label(given: Sequence[Variable], configuration: Sequence[Any]) -> str:
    return ", ".join(f"{v.name}={state!r}" for v, state in zip(given, configuration, strict=True))
