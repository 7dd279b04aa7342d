"""Decision trees and rules: which parents matter depends on the states of others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from pgm.errors import InvalidTable, PGMError, TooLarge, listed, shown
from pgm.evidence import observe
from pgm.factors import Dense, Gate, Writer
from pgm.printing import chances
from pgm.variables import Variable

from .base import CPD, ROWS_SHOWN, set_fields
from .data import Codes
from .rows import MAX_AXES, Array, check_gate, child_states, plain, read_row, row_label

_SMALL = 4096  # numbers of a table that is not worth taking apart
_MOST_LEAVES = 100_000
Context = dict[int, frozenset[int]]  # for some parents the codes they may have


class TreeNode(NamedTuple):
    """A question of a tree."""

    parent: int  # whose state decides
    branch: npt.NDArray[np.int64]  # for each of its states the next node, or ~leaf


class TreeCPD(CPD):
    """P(child | parents) by a decision tree: the state of one parent tells which is asked next, or the row.

    Args:
        parent: the parent that is asked first.
        branches: for each of its states a row (a number, a list, a dict, "uniform") or another TreeCPD;
            pgm.OneOf and pgm.Not stand for several states, `...` for all that are left.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("rain", 0.4); net.add("sprinkler", 0.2)
    >>> dry = pgm.TreeCPD("sprinkler", {True: 0.9, False: 0.1})
    >>> net.add("wet", pgm.TreeCPD("rain", {True: 0.95, False: dry}))
    >>> print(net.cpd("wet"))
    P(wet | rain, sprinkler)
    if                               False  True
    rain = False, sprinkler = False    0.9   0.1
    rain = False, sprinkler = True     0.1   0.9
    rain = True                       0.05  0.95
    """

    __slots__ = ("_contexts", "_nodes", "_parents", "_rows", "_written")

    _parents: tuple[str, ...]
    _written: object  # (parent, branches) or a list of rules as the user wrote them; None once bound
    _nodes: tuple[TreeNode, ...]  # the first is the root; without any there is one leaf
    _contexts: tuple[Context, ...]  # of each leaf
    _rows: Array  # (leaves, child's states)

    def __init__(self, parent: str, branches: Mapping[Any, Any]) -> None:
        if not isinstance(parent, str):
            raise InvalidTable(
                f"pgm.TreeCPD takes the name of the parent that it asks first, not {shown(parent)}."
            )
        if not isinstance(branches, Mapping) or not branches:
            raise InvalidTable(
                f"pgm.TreeCPD({parent!r}, ...) takes a dict {{state: row or TreeCPD}}, not {shown(branches)}."
            )
        kept = {}
        names = {parent: None}
        for state, branch in branches.items():
            if isinstance(branch, CPD):
                if (
                    not isinstance(branch, TreeCPD)
                    or branch._child is not None
                    or isinstance(branch._written, list)
                ):
                    raise InvalidTable(
                        f"pgm.TreeCPD, branch {parent}={shown(state)}: a row or another pgm.TreeCPD(parent, "
                        f"branches), not {shown(branch)}."
                    )
                names.update(dict.fromkeys(branch._parents))
            kept[state] = branch if isinstance(branch, CPD) else plain(parent, branch)
        self._fill(tuple(names), (parent, kept))

    def _fill(self, names: tuple[str, ...], written: object) -> None:
        set_fields(self, _child=None, _given=(), _parents=names, _written=written)
        set_fields(self, _nodes=(), _contexts=(), _rows=np.empty((0, 0)))

    @classmethod
    def from_rules(cls, rules: Sequence[tuple[Mapping[str, Any], Any]], parents: Sequence[str] = ()) -> Self:
        """Make the tree of a list of rules (context, row), of which the first whose context holds decides.

        Args:
            rules: a context is a dict {parent: state}, with pgm.OneOf or pgm.Not for several states; the
                empty one holds always, and so gives the row of all that is left.
            parents: names in the order wanted, also such as no rule speaks of; left out: as they appear.

        Raises:
            InvalidTable: no rule holds in some context, or a rule is no pair.

        >>> import pgm
        >>> net = pgm.BayesianNetwork()
        >>> for name in "abc":
        ...     net.add(name, 0.5)
        >>> rules = [({"a": True, "b": True}, 0.9), ({"c": True}, 0.5), ({}, 0.1)]
        >>> net.add("x", pgm.TreeCPD.from_rules(rules))
        >>> net.query("x", {"b": False, "c": False})[True]
        0.1
        """
        if not isinstance(rules, list | tuple) or not rules:
            raise InvalidTable(f"Rules are a list of pairs (context, row), not {shown(rules)}.")
        if not isinstance(parents, str | list | tuple):
            raise InvalidTable(f"parents= takes a list of names, not {shown(parents)}.")
        names = dict.fromkeys([parents] if isinstance(parents, str) else parents)
        kept = []
        for number, rule in enumerate(rules):
            if not isinstance(rule, list | tuple) or len(rule) != 2 or not isinstance(rule[0], Mapping):
                raise InvalidTable(
                    f"Rule {number} (the first is 0) is a pair (context, row), not {shown(rule)}."
                )
            names.update(dict.fromkeys(rule[0]))
            kept.append((dict(rule[0]), plain("rule", rule[1])))
        made = cls.__new__(cls)
        made._fill(tuple(names), kept)
        return made

    @property
    def parents(self) -> tuple[str, ...]:
        """The names of the parents, in the order in which the tree or the rules come to them."""
        return self._parents

    def bind(self, name: str, states: Any, given: tuple[Variable, ...]) -> Self:
        """Return this tree for the child `name` with these parents."""
        if self._child is not None:
            return self.renamed(self._matched(name, states, given), given)
        if states is None:
            leaves = dict(enumerate(self._leaves()))
            states = child_states(name, leaves, 1)
        child = Variable(name, states)
        growing = _Growing(child, given)
        if isinstance(self._written, list):
            rules = [
                (growing.context(context), read_row(child, row, f"rule {i} (the first is 0)"))
                for i, (context, row) in enumerate(self._written)
            ]
            growing.rules(rules)
        else:
            growing.tree(self)
        return self._made(child, given, tuple(growing.nodes), tuple(growing.contexts), np.array(growing.rows))

    def _leaves(self) -> Iterator[object]:
        if isinstance(self._written, list):
            yield from (row for _, row in self._written)
            return
        for branch in self._written[1].values():  # type: ignore[index]
            if isinstance(branch, TreeCPD):
                yield from branch._leaves()
            else:
                yield branch

    def _made(
        self,
        child: Variable,
        given: tuple[Variable, ...],
        nodes: tuple[TreeNode, ...],
        contexts: tuple[Context, ...],
        rows: Array,
    ) -> Self:
        rows.flags.writeable = False
        made = self.__new__(type(self))
        set_fields(made, _child=child, _given=given, _parents=tuple([v.name for v in given]), _written=None)
        set_fields(made, _nodes=nodes, _contexts=contexts, _rows=rows)
        return made

    def factor(self, scope: Sequence[int]) -> Dense | Gate:
        """Return a small table as it is; else a table for each leaf, of the parents on its path."""
        cards = [v.card for v in self._given]
        k = self.child.card
        if math.prod(cards) * k <= _SMALL and len(scope) <= MAX_AXES:
            return Dense(np.array([scope], dtype=np.int64), self.table(), 1)
        writer = Writer(len(scope))
        sizes = [math.prod(cards[i] for i in context) * k for context in self._contexts]
        check_gate(self.child.name, sum(min(size, _SMALL) for size in sizes), "prune the tree")
        if max(sizes) <= _SMALL or not self._nodes:
            for context, row in zip(self._contexts, self._rows, strict=True):
                writer.put([*context, writer.child], _leaf([cards[i] for i in context], context, row))
            return writer.finish(scope, together=len(self._rows))
        # Paths too long for that: hidden variables say which nodes are reached, and a leaf asks one of them.
        reached: dict[int, int] = {}
        for number, node in enumerate(self._nodes):
            for target in dict.fromkeys(node.branch.tolist()):
                here = writer.new(2)
                hit = node.branch == target
                link = np.stack([~hit, hit], axis=-1).astype(np.float64)
                if number == 0:
                    writer.put([node.parent, here], link)
                else:
                    never = np.stack([np.ones(hit.size), np.zeros(hit.size)], axis=-1)
                    writer.put([reached[number], node.parent, here], np.stack([never, link]))
                reached[target] = here
        for leaf, row in enumerate(self._rows):
            writer.put([reached[~leaf], writer.child], np.stack([np.ones(k), row]))
        return writer.finish(scope, function=True, together=len(self._rows))

    def rows(self, codes: Codes) -> Array:
        """Return the row of the leaf that each row of codes reaches."""
        return np.asarray(self._rows[self._leaf_of(codes)])

    def _leaf_of(self, codes: Codes) -> Codes:
        at = np.full(len(codes), 0 if self._nodes else ~0, dtype=np.int64)
        for number, node in enumerate(self._nodes):  # a node stands before those below it
            here = np.flatnonzero(at == number)
            at[here] = node.branch[codes[here, node.parent]]
        return ~at

    def _fitted(self, codes: Codes, weights: Array) -> Self:
        """By counting in each leaf; one without data is uniform."""
        counts = np.zeros(self._rows.shape)
        np.add.at(counts, (self._leaf_of(codes[:, :-1]), codes[:, -1]), weights)
        totals = counts.sum(axis=1, keepdims=True)
        seen = totals > 0
        rows = np.where(seen, counts / np.where(seen, totals, 1.0), 1.0 / self.child.card)
        return self._made(self.child, self._given, self._nodes, self._contexts, rows)

    def renamed(self, child: Variable, given: tuple[Variable, ...]) -> Self:
        """Return the same tree of variables that differ only in their names."""
        return self._made(child, given, self._nodes, self._contexts, self._rows)

    @property
    def n_parameters(self) -> int:
        """How many numbers can be chosen freely: in each leaf all but one."""
        return len(self._rows) * (self.child.card - 1)

    def to_dict(self) -> dict[Any, Any]:
        """Return {"rules": [({parent: state or tuple of states}, {state: p}), ...]}, one for each leaf."""
        rules = []
        for context, row in zip(self._contexts, self._rows.tolist(), strict=True):
            named = {}
            for i, codes in context.items():
                states = tuple(self.given[i].states[code] for code in sorted(codes))
                named[self._parents[i]] = states if len(states) > 1 else states[0]
            rules.append((named, dict(zip(self.child.states, row, strict=True))))
        return {"rules": rules}

    def __eq__(self, other: object) -> bool:
        """Tell whether both have the same leaves; unbound, whether they were written alike."""
        if not isinstance(other, TreeCPD):
            return NotImplemented
        if self._child is None or other._child is None:
            return self._child is other._child and bool(self._written == other._written)
        if self._child != other._child or set(self._given) != set(other._given):
            return False
        return self._by_context() == other._by_context()

    def _by_context(self) -> dict[frozenset[tuple[str, frozenset[int]]], tuple[float, ...]]:
        return {
            frozenset((self._parents[i], codes) for i, codes in context.items()): tuple(row)
            for context, row in zip(self._contexts, self._rows.tolist(), strict=True)
        }

    __hash__ = None  # type: ignore[assignment]

    def _lines(self) -> tuple[Sequence[object], Sequence[Sequence[object]], int]:
        rows: list[list[object]] = []
        for context, row in zip(self._contexts[:ROWS_SHOWN], self._rows.tolist(), strict=False):
            rows.append([_words(self._given, context, " = ", str) or "(always)", *chances(row)])
        return ["if", *self.child.states], rows, len(self._rows)


class _Growing:
    """Makes nodes and leaves of what a user wrote, once the states are known."""

    def __init__(self, child: Variable, given: tuple[Variable, ...]) -> None:
        self.child, self.given = child, given
        self.place = {v.name: i for i, v in enumerate(given)}
        self.by_name = {v.name: v for v in given}
        self.nodes: list[TreeNode] = []
        self.contexts: list[Context] = []
        self.rows: list[Array] = []

    def context(self, written: Mapping[str, Any]) -> Context:
        """Return which codes the parents may have."""
        try:
            seen = observe(self.by_name, written)
        except PGMError as error:
            raise InvalidTable(f"{self.child.name!r}, context {shown(dict(written))}: {error}") from None
        found: Context = {self.place[name]: frozenset([code]) for name, code in seen.hard.items()}
        for name, (weights,) in seen.weights.items():
            if seen.log_weight or set(weights.tolist()) - {0.0, 1.0}:
                raise InvalidTable(
                    f"{self.child.name!r}: a context names states, not {shown(written[name])}."
                )
            found[self.place[name]] = frozenset(np.flatnonzero(weights).tolist())
        if seen.soft:
            raise InvalidTable(f"{self.child.name!r}: a context names states, not {shown(dict(written))}.")
        return {i: codes for i, codes in found.items() if len(codes) < self.given[i].card}

    def _leaf(self, region: Context, row: Array) -> int:
        if len(self.rows) == _MOST_LEAVES:
            raise TooLarge(
                f"{self.child.name!r}: the tree has more than {_MOST_LEAVES:,} leaves. Rules about many "
                "different parents multiply; put groups of them into nodes between."
            )
        self.rows.append(row)
        self.contexts.append({i: region[i] for i in sorted(region)})
        return ~(len(self.rows) - 1)

    def _row(self, region: Context, row: object) -> int:
        return self._leaf(region, read_row(self.child, row, _words(self.given, region, "=", shown)))

    def tree(self, tree: TreeCPD, region: Context | None = None) -> int:
        """Add a tree that is reached in this region; return its number."""
        region = region or {}
        name: str = tree._written[0]  # type: ignore[index]
        branches: dict[Any, object] = tree._written[1]  # type: ignore[index]
        i = self.place[name]
        variable = self.given[i]
        if i in region:
            raise InvalidTable(f"{self.child.name!r}: a path of its tree asks {name!r} twice.")
        branch = np.zeros(variable.card, dtype=np.int64)
        number = len(self.nodes)
        self.nodes.append(TreeNode(i, branch))
        left = set(range(variable.card))
        chosen: list[tuple[frozenset[int], object]] = []
        for state, below in branches.items():
            if state is ...:
                continue
            codes = self.context({name: state}).get(i, self._all(i))
            if not codes <= left:
                raise InvalidTable(f"{self.child.name!r}: {name}={shown(state)} is met twice in its tree.")
            left -= codes
            chosen.append((codes, below))
        if left and ... not in branches:
            states = [variable.states[code] for code in sorted(left)]
            raise InvalidTable(
                f"{self.child.name!r}: its tree has no branch for {name} = {listed(states)}; the key `...` "
                "stands for all states left out."
            )
        if left:
            chosen.append((frozenset(left), branches[...]))
        for codes, below in sorted(chosen, key=lambda pair: min(pair[0])):
            inner = {**region, i: codes} if len(codes) < variable.card else region
            branch[list(codes)] = (
                self.tree(below, inner) if isinstance(below, TreeCPD) else self._row(inner, below)
            )
        return number

    def rules(self, rules: list[tuple[Context, Array]]) -> None:
        """Add the tree of these rules, of which the first that holds decides."""
        waiting: list[tuple[list[tuple[Context, Array]], Context, TreeNode | None, frozenset[int]]] = []
        waiting.append((rules, {}, None, frozenset()))
        while waiting:
            left, region, above, way = waiting.pop()
            number = self._rule(left, region, waiting)
            if above is not None:
                above.branch[list(way)] = number

    def _rule(self, rules: list[tuple[Context, Array]], region: Context, waiting: list[Any]) -> int:
        """Add one node or leaf, and to what is waiting the regions below it; return its number."""
        if not rules:
            example = [min(region.get(i, {0})) for i in range(len(self.given))]
            raise InvalidTable(
                f"{self.child.name!r}: no rule holds for {row_label(self.given, example)}; a last rule "
                "({}, row) gives the row of all that is left."
            )
        context, row = rules[0]
        asked = next((i for i, codes in context.items() if not region.get(i, self._all(i)) <= codes), None)
        if asked is None:
            return self._leaf(region, row)
        codes = region.get(asked, self._all(asked))
        node = TreeNode(asked, np.zeros(self.given[asked].card, dtype=np.int64))
        self.nodes.append(node)
        for way in (codes - context[asked], codes & context[asked]):
            inner = {**region, asked: way}
            left = [rule for rule in rules if inner[asked] & rule[0].get(asked, inner[asked])]
            waiting.append((left, inner, node, way))
        return len(self.nodes) - 1

    def _all(self, i: int) -> frozenset[int]:
        return frozenset(range(self.given[i].card))


def _leaf(cards: Sequence[int], context: Context, row: Array) -> Array:
    table = np.ones((*cards, row.size))
    table[np.ix_(*[sorted(codes) for codes in context.values()], range(row.size))] = row
    return table


def _words(given: Sequence[Variable], context: Context, equals: str, write: Callable[[Any], str]) -> str:
    words = []
    for i, codes in sorted(context.items()):
        states = [write(given[i].states[code]) for code in sorted(codes)[:5]]
        more = " or ..." if len(codes) > 5 else ""
        words.append(f"{given[i].name}{equals}{' or '.join(states)}{more}")
    return ", ".join(words)
