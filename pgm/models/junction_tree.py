"""The junction tree of a model with its tables and messages, as in textbooks: for teaching.

`query` uses another tree, for the model that remains once evidence has been sliced out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from pgm.cpds.table_input import MAX_AXES
from pgm.errors import InvalidStructure, TooLarge, listed
from pgm.evidence import Observed, observe
from pgm.factors import Dense
from pgm.graphs import JunctionTree
from pgm.inference.asking.failures import contradiction, refuse_soft
from pgm.inference.asking.questions import Questions
from pgm.inference.program.sorting import in_tables, one_by_one, sort_parts
from pgm.printing import html_text, joined, number
from pgm.results import Probability, Report, Trace
from pgm.runtime.clock import start_clock
from pgm.runtime.room import check_room
from pgm.variables import Variable, VariableList

from .potentials import Potential

_SMALLEST = 2.0**-1022  # the smallest normal double: below it digits are lost
_LONGEST = 1_000_000  # values in a trace


@dataclass(frozen=True, eq=False, slots=True)
class Message:
    """A message from a clique to a neighbour: a value for each configuration of their separator."""

    sender: tuple[str, ...]
    receiver: tuple[str, ...]
    inward: bool
    table: Potential

    @property
    def values(self) -> np.ndarray:
        """The values, with an axis for each variable of the separator."""
        return self.table.values

    def __repr__(self) -> str:
        way = "inward" if self.inward else "outward"
        ends = (joined(clique, len(clique)) for clique in (self.sender, self.receiver))
        return f"Message({' -> '.join(ends)}; {way})"

    def __str__(self) -> str:
        return f"{self!r}\n{self.table}"

    def _repr_html_(self) -> str:
        return html_text(str(self))


@dataclass(frozen=True, repr=False)
class CliqueTree(JunctionTree):
    """A junction tree of a model, with the tables of its cliques and every message between them.

    Messages go inward first, from the leaves to the root, then outward; clique i sends its own
    `potentials[i]` times all messages received from its other neighbours, marginalised to the separator
    (Shafer & Shenoy 1990). With all messages in, its table is `beliefs[i]`: P(its variables, given), which
    sums to `total`, P(given). The model is the product of the beliefs over that of the `separator_beliefs`
    (Lauritzen & Spiegelhalter 1988). In a forest no message goes from tree to tree: the beliefs of each tree
    reflect the evidence in that tree, and `total` is the product of what they sum to.

    Tables are computed on first access, from the model as it was when the tree was made. If a value is
    too small or too large for a double, all tables are given as logarithms, and `table.log` is true.

    >>> from pgm import BayesianNetwork
    >>> net = BayesianNetwork()
    >>> net.add("rain", 0.2)
    >>> net.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
    >>> net.add("slippery", {True: 0.7, False: 0.0}, parents=["wet"])
    >>> tree = net.junction_tree({"slippery": True}, root="rain")
    >>> tree.messages[0]
    Message(wet, slippery -> rain, wet; inward)
    >>> tree.messages[0].values, round(tree.total, 6)
    (array([0. , 0.7]), 0.182)
    """

    model: Questions = field(compare=False)
    given: Mapping[str, Any] | None = field(default=None, hash=False)

    @classmethod
    def of(cls, tree: JunctionTree, model: Questions, given: Mapping[str, Any] | None) -> CliqueTree:
        """A tree with the tables of a model, and the evidence, checked."""
        if given is not None:
            refuse_soft(observe(model.variables, given))
            given = dict(given)
        return cls(
            tree.cliques, tree.parent, tree.edges, tree.separators, tree.order, model.copy(), given or None
        )

    # --- before ---

    @property
    def assigned(self) -> tuple[tuple[str, ...], ...]:
        """For each clique, the factors of its potential: tables of the model, and evidence.

        Each is assigned to the first clique that contains its variables.
        """
        places = self._places()
        found: list[list[str]] = [[] for _ in self.cliques]
        for one in self._factors:
            if one.variables:
                conditional = one.factor.heads == 1
                *given, child = one.names
                label = f"P({child}{' | ' * bool(given)}{', '.join(given)})"
                found[places(one.names)].append(label if conditional else f"f({', '.join(one.names)})")
        for name in (*self._observed.hard, *self._observed.weights):
            found[places([name])].append(f"evidence on {name}")
        return tuple(map(tuple, found))

    @cached_property
    def potentials(self) -> tuple[Potential, ...]:
        """The table of each clique before any message: the product of what is assigned to it."""
        return self._shown(self._start[: len(self)])

    # --- what is sent, and after ---

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """Every message in the order sent: inward, children before parents, then outward in reverse."""
        tables = self._shown([table for *_, table in self._run.sent])
        return tuple(
            Message(self.cliques[a], self.cliques[b], self.parent[a] == b, table)
            for (a, b, _), table in zip(self._run.sent, tables, strict=True)
        )

    @cached_property
    def beliefs(self) -> tuple[Potential, ...]:
        """The table of each clique after all messages: P(its variables, what is given in its tree)."""
        return self._shown(self._run.beliefs[: len(self)])

    @cached_property
    def separator_beliefs(self) -> tuple[Potential, ...]:
        """The table of each of the `separators` after all messages, like `beliefs`."""
        return self._shown(self._run.shared)

    @property
    def total(self) -> Probability:
        """P(given), or for a Markov network the partition function: the sum of every belief of a tree."""
        mantissa, power = self._run.total
        value = math.ldexp(mantissa, power) if power <= 1024 else math.inf
        log = math.log(value) if abs(power) < 4 else math.log(mantissa) + power * math.log(2.0)
        return Probability(value, Report("exact", exact=True, given=self.given), log=log)

    @property
    def trace(self) -> Trace:
        """Every message in the order sent, as a table of text; print it to see them all.

        The values are in the order of the separator's configurations, the last variable changing fastest.
        """
        if sum(table.values.size for *_, table in self._run.sent) > _LONGEST:
            raise TooLarge(
                f"A trace of all messages would have more than {_LONGEST:,} values; see `messages` for one."
            )
        rows = [
            (
                str(step),
                "inward" if one.inward else "outward",
                ", ".join(one.sender),
                ", ".join(one.receiver),
                ", ".join(one.table.names),
                " ".join(map(number, one.values.ravel().tolist())),
            )
            for step, one in enumerate(self.messages, 1)
        ]
        return Trace(
            ("step", "pass", "from", "to", "over", "log entries" if self._in_logs else "entries"), rows
        )

    # --- how ---

    @cached_property
    def _factors(self) -> Sequence[Potential]:
        from .markov_network import Potentials

        variables = self.model.variables
        if continuous := [v.name for v in variables.values() if v.continuous]:
            raise InvalidStructure(
                f"{listed(continuous)}: cliques of continuous variables have no tables; net.marginals gives "
                "their posteriors."
            )
        tables = one_by_one(sort_parts(in_tables(self.model.factors())).discrete)
        return Potentials(VariableList.of_model(variables), tables)

    @cached_property
    def _observed(self) -> Observed:
        return observe(self.model.variables, self.given)

    def _places(self) -> Any:
        """A function from names to the first clique that contains them all."""
        having: dict[str, list[int]] = {}
        for i, clique in enumerate(self.cliques):
            for name in clique:
                having.setdefault(name, []).append(i)

        def place(names: Iterable[str]) -> int:
            fewest = min((having[name] for name in names), key=len)
            return next(i for i in fewest if set(names) <= set(self.cliques[i]))

        return place

    @cached_property
    def _start(self) -> list[_Table]:
        factors, variables, place = self._factors, self.model.variables, self._places()
        shapes = [[variables[name].card for name in clique] for clique in self.cliques]
        cells = sum(map(math.prod, shapes))
        axes = max(map(len, shapes), default=0)
        if axes > MAX_AXES:
            raise TooLarge(
                f"The table of a clique has {axes} axes, and numpy has {MAX_AXES}; net.query needs no such "
                "table."
            )
        check_room(
            min(32 * cells, 10**300),
            "The tables of the cliques, with the beliefs and the messages, take",
            "Ask net.query, which does not need all of them at once",
        )
        tables = [_Table(c, np.ones(shape), 0) for c, shape in zip(self.cliques, shapes, strict=True)] or [
            _Table((), np.ones(()), 0)
        ]
        for one in factors:
            at = place(one.names) if one.variables else 0
            tables[at] = tables[at].times(_Table.read(one.names, one.values, one.log))
        for name, values in _evidence(self._observed, variables):
            at = place([name])
            tables[at] = tables[at].times(_Table.read((name,), values, False))
        weight = _Table.read((), np.array(self._observed.log_weight), True)
        return [tables[0].times(weight), *tables[1:]]

    @cached_property
    def _run(self) -> _Run:
        inward: dict[int, _Table] = {}
        collected = list(self._start)
        below = dict(zip((child for child, _ in self.edges), self.separators, strict=True))
        children: dict[int, list[int]] = {}
        sent = []
        for child, parent in self.edges:  # children come first
            inward[child] = collected[child].summed_to(below[child])
            collected[parent] = collected[parent].times(inward[child])
            sent.append((child, parent, inward[child]))
            children.setdefault(parent, []).append(child)
        mantissa, power = 1.0, 0
        for root in [i for i, above in enumerate(self.parent) if above < 0] or [0]:
            found = collected[root].summed_to(())
            mantissa, more = math.frexp(mantissa * float(found.values))
            power += more + found.power
        if mantissa == 0.0:
            raise contradiction(self.model._compile(), self._observed, start_clock())
        outward: dict[int, _Table] = {}
        beliefs = list(collected)
        for parent in sorted(children, reverse=True):
            before = self._start[parent]
            if parent in outward:
                before = before.times(outward[parent])
            products = [before]  # prefix products of the incoming messages, up to each child
            for child in children[parent]:
                products.append(products[-1].times(inward[child]))
            beliefs[parent] = products.pop()
            others = _Table(before.names, np.ones(before.values.shape), 0)  # messages from later children
            for child in reversed(children[parent]):
                outward[child] = products.pop().times(others).summed_to(below[child])
                others = others.times(inward[child])
                beliefs[child] = collected[child].times(outward[child])
                sent.append((parent, child, outward[child]))
        shared = [inward[child].times(outward[child]) for child, _ in self.edges]
        return _Run(sent, beliefs, shared, (mantissa, power))

    @cached_property
    def _in_logs(self) -> bool:
        run = self._run
        every = [*self._start, *(table for *_, table in run.sent), *run.beliefs, *run.shared]
        return not all(table.plain for table in every)

    def _shown(self, tables: Iterable[_Table]) -> tuple[Potential, ...]:
        variables, log = self.model.variables, self._in_logs
        shown = []
        for table in tables:
            values = table.logs() if log else np.ldexp(table.values, table.power)
            values.flags.writeable = False
            scope = np.arange(len(table.names))[np.newaxis]
            shown.append(Potential(tuple([variables[n] for n in table.names]), Dense(scope, values, log=log)))
        return tuple(shown)


@dataclass(frozen=True, eq=False, slots=True)
class _Table:
    """A table over some variables, times a power of two, which keeps long products in range."""

    names: tuple[str, ...]
    values: np.ndarray
    power: int

    @classmethod
    def read(cls, names: tuple[str, ...], values: np.ndarray, log: bool) -> _Table:
        """The values in linear scale, or their logarithms."""
        if not log:
            return cls(names, values, 0)._scaled(values > 0.0)
        top = float(values.max())
        power = math.floor(top / math.log(2.0)) if top > -math.inf else 0
        return cls(names, np.exp(values - power * math.log(2.0)), power)._scaled(values > -math.inf)

    def times(self, other: _Table) -> _Table:
        """The product with a table over some of the same variables."""
        order = [other.names.index(name) for name in self.names if name in other.names]
        shape = [
            n if name in other.names else 1 for name, n in zip(self.names, self.values.shape, strict=True)
        ]
        theirs = other.values.transpose(order).reshape(shape)
        product = self.values * theirs
        return _Table(self.names, product, self.power + other.power)._scaled((self.values > 0) & (theirs > 0))

    def summed_to(self, names: tuple[str, ...]) -> _Table:
        """The sum over all variables but these, which come in the same order."""
        axes = tuple(i for i, name in enumerate(self.names) if name not in names)
        sums = np.asarray(self.values.sum(axis=axes))
        return _Table(names, sums, self.power)._scaled(sums > 0.0)

    def _scaled(self, positive: np.ndarray) -> _Table:
        """The same table, its largest value scaled into [1/2, 1]; positive values must keep all digits."""
        if (positive & (self.values < _SMALLEST)).any():
            raise TooLarge(
                "The values of one table differ by more than a double can hold, a factor of 1e308, so it "
                "cannot be shown. net.query still answers."
            )
        _, power = math.frexp(float(self.values.max(initial=0.0)))
        return _Table(self.names, np.ldexp(self.values, -power), self.power + power)

    @property
    def plain(self) -> bool:
        """Whether each value, times the power of two, is a double with all its digits."""
        found = np.ldexp(self.values, self.power) if self.power < 1024 else self.values * math.inf
        return not ((self.values > 0) & ((found < _SMALLEST) | np.isinf(found))).any()

    def logs(self) -> np.ndarray:
        """The natural logarithms."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.values) + self.power * math.log(2.0))


@dataclass(frozen=True, eq=False, slots=True)
class _Run:
    """The result of passing all messages."""

    sent: list[tuple[int, int, _Table]]
    beliefs: list[_Table]
    shared: list[_Table]
    total: tuple[float, int]


def _evidence(observed: Observed, variables: Mapping[str, Variable]) -> Iterator[tuple[str, np.ndarray]]:
    """The evidence on each variable as a weight for each of its states."""
    for name, code in observed.hard.items():
        values = np.zeros(variables[name].card)
        values[code] = 1.0
        yield name, values
    for name, tables in observed.weights.items():
        for values in tables:
            yield name, values
