"""Tables most of whose rows are equal: that row is stored once, with the rows that differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pgm.distributions.parts import Part
from pgm.errors import InvalidTable, shown
from pgm.factors import Dense, Gate, Writer
from pgm.printing import chances
from pgm.variables import Variable

from .base import CPD, ROWS_SHOWN, as_it_is, set_fields
from .statistics import Codes, RowCounts, normalised, summed
from .table import TableCPD
from .table_input import (
    MAX_AXES,
    Array,
    check_gate,
    checked,
    child_states,
    default_row,
    first_wrong,
    plain,
    product,
    row_label,
    written_rows,
)

_SMALL = 4096  # entries; a table of up to this size is not worth splitting


class DefaultCPD(CPD):
    """P(child | parents) with rows for some configurations of the parents, and one row for all others.

    Its memory is that of these rows, however many parents there are. The readers of BIF and DSC turn a
    `default` row that spans many others into one.

    Args:
        parents: their names, in the order of the states in the keys.
        rows: a dict {states of the parents: row}, in which `...` is the row of all those left out.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> doors = [f"door {i}" for i in range(40)]
    >>> for door in doors:
    ...     net.add(door, 0.5)
    >>> net.add("alarm", pgm.DefaultCPD(doors, {(False,) * 40: 0.001, ...: 0.9}))
    >>> round(net.query("alarm", {"door 0": False})[True], 6)
    0.9
    """

    __slots__ = ("_codes", "_parents", "_rows", "_written")
    kind, label = "rows", "table"

    _parents: tuple[str, ...]
    _written: Mapping[Any, Any] | None  # as the user wrote it; None once bound
    _codes: npt.NDArray[np.int32]  # (n, parents): the configurations that have rows of their own, sorted
    _rows: Array  # (n + 1, child's states): these rows, and that of all others

    def __init__(self, parents: Sequence[str], rows: Mapping[Any, Any]) -> None:
        names = (parents,) if isinstance(parents, str) else tuple(parents)
        if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            raise InvalidTable(f"pgm.DefaultCPD takes the names of its parents, not {shown(parents)}.")
        if not isinstance(rows, Mapping) or ... not in rows:
            raise InvalidTable(
                "pgm.DefaultCPD takes a dict {states of the parents: row} in which `...` has the row of all "
                f"others, not {shown(rows)}."
            )
        kept = {key: plain("rows", row) for key, row in rows.items()}
        set_fields(self, _child=None, _given=(), _parents=names, _written=kept)
        set_fields(self, _codes=np.empty((0, 0), dtype=np.int32), _rows=np.empty((0, 0)))

    @property
    def parents(self) -> tuple[str, ...]:
        """The names of the parents, in the order of the keys."""
        return self._parents

    def bind(self, name: str, states: Any, given: tuple[Variable, ...]) -> Self:
        """Return these rows for the child `name` with these parents."""
        if self._child is not None:
            return self.renamed(self._matched(name, states, given), given)
        assert self._written is not None
        child = Variable(name, child_states(name, self._written, 1) if states is None else states)
        found = written_rows(child, given, self._written)
        codes = np.array(list(found), dtype=np.int32).reshape(-1, len(given))
        probabilities = np.array([*found.values(), default_row(child, self._written)], dtype=np.float64)

        def label(row: int) -> str:
            return "..." if row == len(codes) else row_label(given, codes[row])

        return self.trusted(child, given, codes, checked_rows(child, probabilities, label))

    @classmethod
    def trusted(
        cls, child: Variable, given: tuple[Variable, ...], codes: npt.NDArray[np.int32], rows: Array
    ) -> Self:
        """Make one from distinct configurations and checked rows.

        Args:
            child: the variable whose distribution it is.
            given: its parents.
            codes: configurations of their states, one for each row but the last.
            rows: of probabilities; the last is that of all other configurations.

        >>> a, b = Variable("a", [False, True]), Variable("b", [False, True])
        >>> rows = np.array([[0.9, 0.1], [0.5, 0.5]])
        >>> DefaultCPD.trusted(b, (a,), np.array([[1]], np.int32), rows).to_dict()
        {True: {False: 0.9, True: 0.1}, Ellipsis: {False: 0.5, True: 0.5}}
        """
        own = np.flatnonzero((rows[:-1] != rows[-1]).any(axis=1))  # rows equal to the default add nothing
        order = own[np.lexsort(codes[own].T[::-1])] if own.size else own
        return cls._made(child, given, codes[order], rows[[*order.tolist(), -1]])

    @classmethod
    def _made(
        cls, child: Variable, given: tuple[Variable, ...], codes: npt.NDArray[np.int32], rows: Array
    ) -> Self:
        codes.flags.writeable = rows.flags.writeable = False
        made = cls.__new__(cls)
        set_fields(made, _child=child, _given=given, _parents=tuple([v.name for v in given]), _written=None)
        set_fields(made, _codes=codes, _rows=rows)
        return made

    def _levels(self) -> Iterator[Codes]:
        """For each parent, the steps from prefixes to longer ones: index of the prefix * states + code.

        A prefix is the first codes of some configuration; prefixes are indexed in the order of the steps.
        """
        before = np.zeros(len(self._codes), dtype=np.int64)
        for i, v in enumerate(self._given):
            steps = before * v.card + self._codes[:, i]
            new = np.diff(steps, prepend=-1) != 0  # sorted, since the configurations are
            yield steps[new]
            before = np.cumsum(new) - 1

    def _place(self, codes: Codes) -> Codes:
        """Return the index of the row for each configuration of codes; -1 is the last, that of all others."""
        at = np.full(len(codes), 0 if len(self._codes) else -1, dtype=np.int64)
        for i, steps in enumerate(self._levels() if len(self._codes) else ()):
            wanted = at * self._given[i].card + codes[:, i]
            found = np.minimum(np.searchsorted(steps, wanted), steps.size - 1)
            at = np.where((at >= 0) & (steps[found] == wanted), found, -1)
        return at

    def factor(self, scope: Sequence[int]) -> Dense | Gate:
        """Return a small table as it is; else a chain that follows the configurations, parent by parent."""
        cards = [v.card for v in self._given]
        k = self.child.card
        if product([*cards, k]) <= _SMALL and len(scope) <= MAX_AXES:
            return Dense(np.array([scope], dtype=np.int64), self.table(), 1)
        writer = Writer(len(scope))
        if not len(self._codes):
            writer.put([writer.child], self._rows[-1])
            return writer.finish(scope)
        levels = list(self._levels())
        # The last value of each running state says that no listed configuration is left.
        sizes = [1, *(steps.size + 1 for steps in levels[:-1]), k]
        cells = sum(a * card * b for a, card, b in zip(sizes, cards, sizes[1:], strict=False))
        check_gate(self.child.name, cells, "list fewer rows")
        links: list[Array] = []
        for steps, card, a, b in zip(levels, cards, sizes, sizes[1:], strict=False):
            last = len(links) == len(levels) - 1
            link = np.zeros((a * card, b))
            link[:] = self._rows[-1] if last else np.eye(1, b, b - 1)
            link[steps] = self._rows[:-1] if last else np.eye(b)[: b - 1]
            links.append(link.reshape(a, card, b))
        writer.chain(range(len(cards)), np.ones(1), links)
        return writer.finish(scope, function=True)

    def rows(self, codes: Codes) -> Array:
        """Return for each row of codes its own row, or that of all others."""
        return np.asarray(self._rows[self._place(codes)])

    def table(self, limit: int | None = None) -> Array:
        """Return the table written out, read-only; raises pgm.TooLarge if it does not fit."""
        values = np.empty(self._cells(limit))
        values[:] = self._rows[-1]
        values[tuple(self._codes.T)] = self._rows[:-1]
        values.flags.writeable = False
        return values

    def listed_rows(self) -> tuple[npt.NDArray[np.int32], Array, Array]:
        """Return the configurations that have rows of their own, these rows, and that of all others."""
        return self._codes, self._rows[:-1], self._rows[-1]

    def _counted(self, codes: Codes, weights: Array) -> RowCounts:
        places = self._place(codes[:, :-1]) % len(self._rows)
        return RowCounts(summed((places, codes[:, -1]), weights, self._rows.shape))

    def expected(self, gate: Gate, tables: Sequence[Array]) -> RowCounts:
        """Return the counts of each row: the last link of the chain knows which configuration was reached."""
        counts = np.zeros(self._rows.shape)
        last = tables[-1].reshape(-1, self.child.card)
        if len(self._codes):
            *_, steps = self._levels()
            counts[:-1] = last[steps]
        counts[-1] = np.maximum(last.sum(axis=0) - counts[:-1].sum(axis=0), 0.0)
        return RowCounts(counts)

    def _own_rows(self) -> Array:
        return self._rows

    def _row_texts(self) -> list[str]:
        return [*(row_label(self._given, row) for row in self._codes), "..."]

    def _fitted(self, statistics: Any) -> Self:
        """Count in each row, and in that of all others; one without data is uniform."""
        rows = normalised(self._checked_statistics(statistics, RowCounts).values)
        return self._made(self.child, self._given, self._codes, rows)

    def renamed(self, child: Variable, given: tuple[Variable, ...]) -> Self:
        """Return the same rows for variables that differ only in their names."""
        return self._made(child, given, self._codes, self._rows)

    def to_parts(self, state: Callable[[Any, str], Any] = as_it_is) -> dict[str, Any]:
        """Return the configurations that have rows, these rows, and the row of all others."""
        states = [[state(s, v.name) for s in v.states] for v in self._given]
        keys = [[own[code] for own, code in zip(states, at, strict=True)] for at in self._codes.tolist()]
        rows = self._rows.tolist()
        return {"if": keys, "then": rows[:-1], "else": rows[-1]}

    @classmethod
    def from_parts(cls, child: Variable, given: tuple[Variable, ...], part: Part) -> Self:
        """Return the distribution of these rows."""
        part.members("rows and a default", ["if", "then", "else"])
        keys = part.at("if")
        count = len(keys.elements("a list of configurations"))
        part.take(count * (len(given) + child.card), f"the rows of {shown(child.name)}")
        if not given:
            part.fail("rows and a default need parents")
        codes = np.empty((count, len(given)), dtype=np.int32)
        seen: set[bytes] = set()
        for index in range(count):
            key = keys.at(index)
            if len(key.elements("a state of each parent")) != len(given):
                key.expected(f"a state of each of the {len(given)} parents")
            codes[index] = [v.code(key.at(i).state()) for i, v in enumerate(given)]
            seen.add(codes[index].tobytes())
            if len(seen) <= index:
                key.fail("these states appear twice")
        values = part.at("then").rows(count, child.card, "the rows")
        other = part.at("else").numbers(child.card, "the row of all others")
        rows = checked_rows(child, np.vstack([values, other]), lambda row: f"number {row}")
        return cls.trusted(child, given, codes, rows)

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: in each row all but one."""
        return len(self._rows) * (self.child.card - 1)

    def to_dict(self) -> dict[Any, Any]:
        """Return {parents' states: {state: p}, ...: {state: p}}, which `pgm.DefaultCPD` reads back."""
        rows = [dict(zip(self.child.states, row, strict=True)) for row in self._rows.tolist()]
        keys = map(self._key, self._codes.tolist())
        return {**dict(zip(keys, rows[:-1], strict=True)), ...: rows[-1]}

    def _key(self, codes: Sequence[int]) -> Any:
        key = tuple([v.states[code] for v, code in zip(self._given, codes, strict=True)])
        return key if len(key) > 1 else key[0]

    def __eq__(self, other: object) -> bool:
        """Tell whether both have the same rows, one perhaps as a table; unbound, if written alike."""
        if isinstance(other, TableCPD) and self._child is not None:
            if self._child != other.child or set(self._given) != set(other.given):
                return False
            return other == TableCPD.trusted(self.child, self._given, self.table())
        if not isinstance(other, DefaultCPD):
            return NotImplemented
        if self._child is None or other._child is None:
            written = (self._parents, self._written) == (other._parents, other._written)
            return self._child is other._child and written
        if self._child != other._child or set(self._given) != set(other._given):
            return False
        place = {v: axis for axis, v in enumerate(other._given)}
        turned = self.trusted(
            self._child, other._given, self._codes[:, _inverse([place[v] for v in self._given])], self._rows
        )
        same = self.trusted(other._child, other._given, other._codes, other._rows)
        return np.array_equal(turned._codes, same._codes) and np.array_equal(turned._rows, same._rows)

    __hash__ = None  # type: ignore[assignment]

    def _lines(self) -> tuple[Sequence[object], Sequence[Sequence[object]], int]:
        other = [*["..."] * len(self._given), *chances(self._rows[-1].tolist())]
        lines: list[list[object]] = []
        for codes, row in islice(zip(self._codes, self._rows.tolist(), strict=False), ROWS_SHOWN - 1):
            states = [v.states[code] for v, code in zip(self._given, codes, strict=True)]
            lines.append([*states, *chances(row)])
        return [*self._parents, *self.child.states], [*lines, other], len(self._rows)


def checked_rows(child: Variable, rows: Array, label: Callable[[int], str]) -> Array:
    """Return rows that are distributions; the error names the label of one that is not."""
    try:
        return checked(child, (), rows, "")
    except InvalidTable:
        index = first_wrong(rows, child.card)
        checked(child, (), rows[index], label(index))
        raise


def _inverse(order: Sequence[int]) -> list[int]:
    return sorted(range(len(order)), key=order.__getitem__)
