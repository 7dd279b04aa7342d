"""A distribution written out: one row of probabilities for each configuration of the parents."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, Self

import numpy as np

from pgm.distributions.parts import Part
from pgm.errors import InvalidArgument, InvalidTable, listed, shown
from pgm.factors import Dense
from pgm.printing import chances
from pgm.variables import Variable

from .base import CPD, ROWS_SHOWN, as_it_is, set_fields
from .own_parameters import OwnParameters, of_rows
from .statistics import Codes, normalised, summed, weighted_log
from .table_input import MAX_AXES, Array, check_cells, checked, checked_flag, frozen, read, row_label


class TableCPD(CPD):
    """P(child | parents) as a table, with the parents' axes in the order given and the child's last.

    Args:
        child: the variable whose distribution it is.
        parents: the parents, in the order of the table.
        table: as for `BayesianNetwork.add`.
        normalize: divide each row by its sum; without it a row that is off by more than rounding, 1e-6, is an
            error.

    Raises:
        InvalidTable: the values have the wrong shape, one is negative, or a row does not sum to one; the
            message names the row.

    >>> wet, rain = Variable("wet", [False, True]), Variable("rain", [False, True])
    >>> print(TableCPD(wet, [rain], {True: 0.9, False: 0.2}))
    P(wet | rain)
    rain   False  True
    False    0.8   0.2
    True     0.1   0.9
    """

    __slots__ = ("_values",)
    kind, label = "table", "table"
    tabular = True

    _values: Array

    def __init__(
        self, child: Variable, parents: Sequence[Variable], table: object, *, normalize: bool = False
    ) -> None:
        given = tuple(parents)
        if not all(isinstance(v, Variable) for v in (child, *given)):
            raise InvalidTable(
                f"A TableCPD is made of pgm.Variable objects, not of {shown((child, *given))}."
            )
        if len({v.name for v in (child, *given)}) <= len(given):
            raise InvalidTable(f"{child.name!r}: a variable appears twice in {listed([child, *given])}.")
        values = read(child, given, frozen(child.name, table), checked_flag(child.name, normalize))
        set_fields(self, _child=child, _given=given, _values=values)

    @classmethod
    def trusted(cls, child: Variable, given: tuple[Variable, ...], values: Array) -> Self:
        """Wrap an array that is known to be valid and is read-only.

        Args:
            child: the variable whose distribution it is.
            given: the parents, in the order of the table.
            values: its entries.

        >>> wet = Variable("wet", [False, True])
        >>> TableCPD.trusted(wet, (), np.array([0.8, 0.2])).to_dict()
        {False: 0.8, True: 0.2}
        """
        made = cls.__new__(cls)
        _set_child(made, child)  # past the guard of __setattr__, and fast
        _set_given(made, given)
        _set_values(made, values)
        return made

    @property
    def parents(self) -> tuple[str, ...]:
        """The names of the parents, in the order of the table's axes."""
        return tuple([v.name for v in self._given])

    def bind(self, name: str, states: Any, given: tuple[Variable, ...]) -> TableCPD:
        """Return this table for the child `name`; all states must be those of the table."""
        child = self._matched(name, states, given)
        return TableCPD.trusted(child, given, self._values)

    def factor(self, scope: Sequence[int]) -> Dense:
        """Return the table as a factor of the variables at these positions."""
        return Dense(np.array([scope], dtype=np.int64), self._values, 1)

    def table(self, limit: int | None = None) -> Array:
        """Return the table, read-only."""
        if limit is not None:
            check_cells(self._values.shape, f"{self.child.name!r}: its table", "allow more", limit)
        return self._values

    def rows(self, codes: Codes) -> Array:
        """Return the rows of the table for rows of the parents' codes."""
        return np.broadcast_to(self._values[tuple(codes.T)], (len(codes), self.child.card))

    def _counted(self, codes: Codes, weights: Array) -> Array:
        return summed(list(codes.T), weights, self._values.shape)

    def expected_log(self, statistics: Any) -> float:
        """Return the log-likelihood of data with these counts.

        >>> wet = Variable("wet", [False, True])
        >>> round(TableCPD(wet, [], 0.5).expected_log(np.array([1.0, 1.0])), 6)
        -1.386294
        """
        return weighted_log(np.asarray(statistics), self._values)

    def own_parameters(self, statistics: Any) -> OwnParameters | None:
        """Return all entries, and the slope of a log-likelihood in each, the rest of its row in proportion.

        >>> wet = Variable("wet", [False, True])
        >>> TableCPD(wet, [], 0.25).own_parameters(np.array([1.0, 1.0])).slopes.round(6).tolist()
        [-2.666667, 2.666667]
        """
        configurations = np.ndindex(*[v.card for v in self._given])
        texts = [row_label(self._given, row) for row in configurations]
        shape = (-1, self.child.card)
        counts, rows = np.asarray(statistics).reshape(shape), np.asarray(self.values).reshape(shape)
        return of_rows(counts, rows, texts, self.child.states)

    def _fitted(self, statistics: Any) -> Self:
        """Count; a row without data is uniform."""
        if np.shape(statistics) != self._values.shape:
            raise InvalidArgument(
                f"{self.child.name!r}: a table is fitted to counts of its own shape, {self._values.shape}, "
                f"not to {shown(statistics)}."
            )
        values = normalised(np.asarray(statistics, dtype=np.float64))
        values.flags.writeable = False
        return self.trusted(self.child, self._given, values)

    def renamed(self, child: Variable, given: tuple[Variable, ...]) -> Self:
        """Return the same table for variables that differ only in their names."""
        return self.trusted(child, given, self._values)

    def to_parts(self, state: Callable[[Any, str], Any] = as_it_is) -> list[list[float]]:
        """Return the rows, the state of the last parent changing fastest."""
        rows: list[list[float]] = self._values.reshape(-1, self.child.card).tolist()
        return rows

    @classmethod
    def from_parts(cls, child: Variable, given: tuple[Variable, ...], part: Part) -> Self:
        """Return the table of these rows."""
        shape = (*[v.card for v in given], child.card)
        if len(shape) > MAX_AXES:
            part.fail(f"a table of {len(shape) - 1} parents; {MAX_AXES - 1} are possible")
        values = part.rows(math.prod(shape[:-1]), child.card, "the table")
        return cls.trusted(child, given, checked(child, given, values.reshape(shape)))

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: in each row all but one."""
        return self._values.size // self.child.card * (self.child.card - 1)

    def to_dict(self) -> dict[Any, Any]:
        """Return {parent state: {state: p}}, with tuples as keys if several; {state: p} of a root."""
        states = self.child.states
        if not self._given:
            return dict(zip(states, self._values.tolist(), strict=True))
        rows = self._values.reshape(-1, len(states)).tolist()
        keys = (
            tuple(v.states[i] for v, i in zip(self._given, codes, strict=True))
            for codes in self._configurations()
        )
        return {
            (key if len(key) > 1 else key[0]): dict(zip(states, row, strict=True))
            for key, row in zip(keys, rows, strict=True)
        }

    def _configurations(self) -> np.ndindex:
        return np.ndindex(*self._values.shape[:-1])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TableCPD):
            return NotImplemented
        if self.child != other.child or len(self._given) != len(other._given):
            return False
        if self._given == other._given:
            return np.array_equal(self._values, other._values)
        place = {v: axis for axis, v in enumerate(other._given)}
        if any(v not in place for v in self._given):
            return False
        axes = [*(place[v] for v in self._given), len(place)]
        return np.array_equal(self._values, other._values.transpose(axes))

    __hash__ = None  # type: ignore[assignment]

    def _lines(self) -> tuple[Sequence[object], Sequence[Sequence[object]], int]:
        states = self.child.states
        count = self._values.size // len(states)
        flat = self._values.reshape(-1, len(states))
        rows = []
        for codes, row in zip(
            islice(self._configurations(), ROWS_SHOWN), flat[:ROWS_SHOWN].tolist(), strict=True
        ):
            states_of = [v.states[i] for v, i in zip(self._given, codes, strict=True)]
            rows.append([*states_of, *chances(row)])
        return [*self.parents, *states], rows, count


_set_child, _set_given = CPD.__dict__["_child"].__set__, CPD.__dict__["_given"].__set__
_set_values = TableCPD.__dict__["_values"].__set__
