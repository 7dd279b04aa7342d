"""A mixture of small tables, one for each parent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from pgm.distributions.parts import Part
from pgm.errors import InvalidFrame, InvalidTable, shown
from pgm.factors import Gate, Writer
from pgm.printing import chances
from pgm.variables import Variable

from .base import CPD, ROWS_SHOWN, as_it_is, set_fields
from .em_acceleration import maximise
from .own_parameters import OwnParameters, of_rows, row_slopes
from .statistics import Codes, Configurations, RowCounts, SeenAndCounted, normalised, weighted_log
from .table_input import EXACT, TOLERANCE, Array, check_gate, child_states, is_number, plain, read


class MixtureCPD(CPD):
    """P(child | parents) = sum over parents i of weight i * P_i(child | parent i).

    One of the parents, chosen at random with the weights, determines the child by its own small table.

    Args:
        tables: {parent: table}, each a table as for a child with this one parent.
        weights: {parent: weight}, summing to one; left out: equal.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("mother", 0.5); net.add("father", 0.5)
    >>> tables = {"mother": {True: 0.9, False: 0.2}, "father": {True: 0.7, False: 0.1}}
    >>> net.add("child", pgm.MixtureCPD(tables, weights={"mother": 0.75, "father": 0.25}))
    >>> round(net.cpd("child").probability({"mother": True, "father": False, "child": True}), 6)
    0.7
    """

    __slots__ = ("_parents", "_tables", "_weights", "_written")
    kind, label = "mixture", "mixture"

    _parents: tuple[str, ...]
    _written: tuple[object, ...]  # the tables as the user wrote them; empty once bound
    _tables: tuple[Array, ...]
    _weights: Array

    def __init__(self, tables: Mapping[str, Any], weights: Mapping[str, float] | None = None) -> None:
        if not isinstance(tables, Mapping) or not tables or not all(isinstance(name, str) for name in tables):
            raise InvalidTable(f"pgm.MixtureCPD takes a dict {{parent: table}}, not {shown(tables)}.")
        if weights is None:
            shares = np.full(len(tables), 1.0 / len(tables))
        else:
            shares = _shares(tables, weights)
        shares.flags.writeable = False
        written = tuple([plain(name, table) for name, table in tables.items()])
        set_fields(self, _child=None, _given=(), _parents=tuple(tables), _written=written)
        set_fields(self, _tables=(), _weights=shares)

    @property
    def parents(self) -> tuple[str, ...]:
        """The names of the parents, in the order given."""
        return self._parents

    @property
    def weights(self) -> dict[str, float]:
        """The probability that each parent is the one that determines the child."""
        return dict(zip(self._parents, self._weights.tolist(), strict=True))

    def bind(self, name: str, states: Any, given: tuple[Variable, ...]) -> Self:
        """Return this mixture for the child `name` with these parents."""
        if self._child is not None:
            return self.renamed(self._matched(name, states, given), given)
        child = Variable(name, child_states(name, self._written[0], 1) if states is None else states)
        tables = tuple([read(child, (v,), table) for v, table in zip(given, self._written, strict=True)])
        return self._made(child, given, tables, self._weights)

    def _made(
        self, child: Variable, given: tuple[Variable, ...], tables: tuple[Array, ...], weights: Array
    ) -> Self:
        for part in (*tables, weights):
            part.flags.writeable = False
        made = self.__new__(type(self))
        set_fields(made, _child=child, _given=given, _parents=tuple([v.name for v in given]), _written=())
        set_fields(made, _tables=tables, _weights=weights)
        return made

    def factor(self, scope: Sequence[int]) -> Gate:
        """Return the mixture as a chain: undecided so far, or the state that was decided on."""
        k = self.child.card
        size = (k + 1) ** 2 * sum(v.card for v in self._given)
        check_gate(self.child.name, size, "use fewer states")
        order = np.argsort(np.array(scope[:-1]), kind="stable").tolist()
        left = np.cumsum(self._weights[order][::-1])[::-1]
        links = []
        for step, i in enumerate(order):
            last = step == len(order) - 1
            now = 1.0 if last or left[step] == 0 else float(self._weights[i] / left[step])
            link = np.zeros((k + 1, len(self._tables[i]), k if last else k + 1))
            link[np.arange(k), :, np.arange(k)] = 1.0
            link[k, :, :k] = now * self._tables[i]
            if not last:
                link[k, :, k] = 1.0 - now
            links.append(link)
        writer = Writer(len(scope))
        writer.chain(order, np.eye(k + 1)[k], links)
        return writer.finish(scope, in_two=self._in_two)

    def _in_two(self) -> tuple[Array, list[Array]]:
        """One, and the weighted sum so far of the parents' tables."""
        tables = [w * table for w, table in zip(self._weights, self._tables, strict=True)]
        steps = [np.stack([np.ones_like(table), table, np.ones_like(table)], axis=-1) for table in tables]
        return np.tile([1.0, 0.0, 1.0], (self.child.card, 1)), steps

    def rows(self, codes: Codes) -> Array:
        """Return the mixture of the rows of each parent's table."""
        found = np.zeros((len(codes), self.child.card))
        for i, (share, table) in enumerate(zip(self._weights.tolist(), self._tables, strict=True)):
            found += share * table[codes[:, i]]
        return found

    def expected(self, gate: Gate, tables: Sequence[Array]) -> RowCounts:
        """Return how often each parent, in each of its states, decided for each state of the child."""
        k, found = self.child.card, {}
        for (at, _), counts in zip(gate.tables, tables, strict=True):
            if len(at) > 1:  # the first table may be that of the chain's start, where nothing is decided
                found[at[-2]] = (counts if len(at) == 2 else counts[k])[:, :k]
        return RowCounts(np.concatenate([found[i] for i in range(len(self._tables))]))

    def _own_rows(self) -> Array:
        return np.concatenate([w * table for w, table in zip(self._weights, self._tables, strict=True)])

    def own_parameters(self, statistics: Any) -> OwnParameters | None:
        """Return the entries of each parent's table and then the weights, with their derivatives.

        >>> import pgm
        >>> net = pgm.BayesianNetwork()
        >>> net.add("a", 0.5); net.add("b", 0.5)
        >>> net.add("c", pgm.MixtureCPD({"a": {True: 0.9, False: 0.2}, "b": {True: 0.6, False: 0.5}}))
        >>> net.cpd("c").own_parameters(net.expected_counts({"c": True})["c"]).slopes[-2:].round(6).tolist()
        [0.0, 0.0]
        """
        if not isinstance(statistics, RowCounts):
            return None
        texts = [f"{v.name}={state}" for v in self._given for state in v.states]
        counts, rows = statistics.values, np.concatenate(self._tables)
        sizes = np.cumsum([len(table) for table in self._tables])[:-1]
        decided = np.array([part.sum() for part in np.split(counts, sizes)])
        found = of_rows(counts, rows, texts, self.child.states)
        return OwnParameters(
            np.concatenate([found.values, self._weights]),
            np.concatenate([found.slopes, row_slopes(decided, self._weights)]),
            True,
            (*found.names, *(f"weight of {name}" for name in self._parents)),
        )

    def _fitted(self, statistics: Any) -> Self:
        """Count which parent decided; where that is hidden, run EM. A zero stays a zero."""
        if isinstance(statistics, RowCounts):
            rows = normalised(statistics.values, np.concatenate(self._tables))
            sizes = np.cumsum([len(table) for table in self._tables])
            decided = np.array([part.sum() for part in np.split(statistics.values, sizes[:-1])])
            tables = tuple([part.copy() for part in np.split(rows, sizes[:-1])])
            return self._made(self.child, self._given, tables, normalised(decided, self._weights))
        if isinstance(statistics, SeenAndCounted):
            return self._by_em(statistics.seen, statistics.counted.values)
        found = self._checked_statistics(statistics, Configurations)
        return self._by_em(found, np.zeros((sum(len(table) for table in self._tables), self.child.card)))

    def _by_em(self, rows: Configurations, counted: Array) -> Self:
        """Run EM from the current parameters: which parent decided is hidden, except in `counted`."""
        codes, weights = rows.rows, rows.weights
        total = float(weights.sum() + counted.sum())
        if total == 0.0:
            return self
        seen, k = codes[:, -1], self.child.card
        begins = np.cumsum([0, *[len(table) for table in self._tables]])[:-1]
        cell = (codes[:, :-1] + begins) * k + seen[:, np.newaxis]  # of each row in each parent's table
        n = len(begins)
        decided = np.add.reduceat(counted.sum(axis=1), begins)

        def step(now: Array) -> tuple[Array, float]:
            shares, tables = now[:n], now[n:].reshape(-1, k)
            terms = shares * now[n:][cell]
            probability = terms.sum(axis=1)
            if not (probability > 0).all():
                raise InvalidFrame(
                    f"{self.child.name!r}: some rows have probability zero, and EM never changes a zero; "
                    "start from tables without zeros."
                )
            counts = terms * (weights / probability)[:, np.newaxis]
            sizes = np.bincount(cell.ravel(), counts.ravel(), minlength=tables.size)
            found = counted + sizes.reshape(tables.shape)
            sums = found.sum(axis=1, keepdims=True)
            raised = np.where(sums > 0, found / np.where(sums > 0, sums, 1.0), tables)
            chosen = counts.sum(axis=0) + decided
            better = np.concatenate([chosen / chosen.sum(), raised.ravel()])
            value = float(weights @ np.log(probability)) + weighted_log(decided, shares)
            return better, value + weighted_log(counted.ravel(), tables.ravel())

        start = np.concatenate([self._weights, *[table.ravel() for table in self._tables]])
        if counted.any():
            start = step(start)[0]  # has no zero where something was counted
        fitted = maximise(self.child.name, step, start, total)
        tables = tuple([part.copy() for part in np.split(fitted[n:].reshape(-1, k), begins[1:])])
        return self._made(self.child, self._given, tables, fitted[:n].copy())

    def renamed(self, child: Variable, given: tuple[Variable, ...]) -> Self:
        """Return the same mixture for variables that differ only in their names."""
        return self._made(child, given, self._tables, self._weights)

    def to_parts(self, state: Callable[[Any, str], Any] = as_it_is) -> dict[str, Any]:
        """Return the weight and the table of each parent."""
        tables = {v.name: table.tolist() for v, table in zip(self.given, self._tables, strict=True)}
        return {"weights": self.weights, "tables": tables}

    @classmethod
    def from_parts(cls, child: Variable, given: tuple[Variable, ...], part: Part) -> Self:
        """Return the mixture of these tables."""
        part.members("a mixture", ["weights", "tables"])
        names = [v.name for v in given]
        part.at("weights").members("the weights", names)
        part.at("tables").members("the tables", names)
        tables = {v.name: part.at("tables", v.name).rows(v.card, child.card, "the table") for v in given}
        weights = {name: part.at("weights", name).number("the weight of a parent") for name in names}
        return cls(tables, weights).bind(child.name, child.domain, given)

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: all weights but one, in each row all but one."""
        rows = sum(len(table) for table in self._tables)
        return len(self._tables) - 1 + rows * (self.child.card - 1)

    def to_dict(self) -> dict[Any, Any]:
        """Return {"weights": {parent: weight}, "tables": {parent: {state: {state: p}}}}."""
        states = self.child.states
        tables = {
            v.name: {
                s: dict(zip(states, row, strict=True))
                for s, row in zip(v.states, table.tolist(), strict=True)
            }
            for v, table in zip(self._given, self._tables, strict=True)
        }
        return {"weights": self.weights, "tables": tables}

    def __eq__(self, other: object) -> bool:
        """Tell whether the parameters are equal and, where both belong to networks, the variables."""
        if not isinstance(other, MixtureCPD):
            return NotImplemented
        if (
            self._child != other._child
            or set(self._given) != set(other._given)
            or self.weights != other.weights
        ):
            return False
        theirs = dict(zip(other._parents, other._tables if self._child else other._written, strict=True))
        mine = zip(self._parents, self._tables if self._child else self._written, strict=True)
        return all(_alike(table, theirs[name]) for name, table in mine)

    __hash__ = None  # type: ignore[assignment]

    def _lines(self) -> tuple[Sequence[object], Sequence[Sequence[object]], int]:
        rows: list[list[object]] = []
        for v, table, share in zip(self._given, self._tables, self._weights.tolist(), strict=True):
            for state, row in zip(v.states, table.tolist(), strict=True):
                rows.append([*chances([share]), f"{v.name} = {state}", *chances(row)])
        return ["weight", "table of", *self.child.states], rows[:ROWS_SHOWN], len(rows)


def _alike(mine: Any, theirs: Any) -> bool:
    return np.array_equal(mine, theirs) if isinstance(mine, np.ndarray) else bool(mine == theirs)


def _shares(tables: Mapping[str, Any], weights: object) -> Array:
    if not isinstance(weights, Mapping) or set(weights) != set(tables):
        raise InvalidTable(
            f"pgm.MixtureCPD takes a weight for each of {list(tables)[:10]}, {{parent: weight}}, "
            f"not {shown(weights)}."
        )
    for name, w in weights.items():
        if not is_number(w) or not 0.0 <= float(w) <= 1.0:
            raise InvalidTable(f"pgm.MixtureCPD: the weight of {name!r} is from 0 to 1, not {shown(w)}.")
    found = np.array([float(weights[name]) for name in tables])
    if abs(found.sum() - 1.0) > TOLERANCE:
        raise InvalidTable(f"pgm.MixtureCPD: the weights sum to {found.sum():.10g}, not to 1.")
    # like rows of tables: weights that sum to one up to the last bits are left as written
    return found if abs(found.sum() - 1.0) <= EXACT else np.asarray(found / found.sum())
