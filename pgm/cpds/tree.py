"""Decision trees and rules: which parents matter depends on the states of others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Self

import numpy as np

from pgm.distributions.parts import Part
from pgm.errors import InvalidTable, PGMError, TooLarge, listed, shown
from pgm.evidence import observe
from pgm.factors import Dense, Gate, Writer
from pgm.printing import chances
from pgm.variables import Variable

from .base import CPD, ROWS_SHOWN, as_it_is, set_fields
from .statistics import Codes, RowCounts, normalised, summed
from .table_input import MAX_AXES, Array, check_gate, child_states, plain, product, read_row, row_label
from .tree_nodes import Context, Region, TreeNode, read_tree, write_tree

_SMALL = 4096  # entries; a table of up to this size is not worth splitting
_MOST_LEAVES = 100_000
_MOST_WORDS = 20  # conditions that a message or a table shows


class TreeCPD(CPD):
    """P(child | parents) as a decision tree: each node tests a parent, each leaf is a row.

    Args:
        parent: the parent tested at the root.
        branches: for each of its states a row (a probability, a list, a dict, "uniform") or another TreeCPD;
            pgm.OneOf and pgm.Not stand for several states, `...` for all the others.

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

    __slots__ = ("_nodes", "_parents", "_rows", "_written")
    kind, label = "tree", "tree"

    _parents: tuple[str, ...]  # () until they are read from the branches of a tree as written
    _written: object  # (parent, branches) or a list of rules as the user wrote them; None once bound
    _nodes: tuple[TreeNode, ...]  # the first is the root; without nodes the tree is one leaf
    _rows: Array  # (leaves, child's states)

    def __init__(self, parent: str, branches: Mapping[Any, Any]) -> None:
        if not isinstance(parent, str):
            raise InvalidTable(
                f"pgm.TreeCPD takes the name of the parent that it tests first, not {shown(parent)}."
            )
        if not isinstance(branches, Mapping) or not branches:
            raise InvalidTable(
                f"pgm.TreeCPD({parent!r}, ...) takes a dict {{state: row or TreeCPD}}, not {shown(branches)}."
            )
        kept = {}
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
            kept[state] = branch if isinstance(branch, CPD) else plain(parent, branch)
        self._fill((), (parent, kept))

    def _fill(self, names: tuple[str, ...], written: object) -> None:
        set_fields(self, _child=None, _given=(), _parents=names, _written=written)
        set_fields(self, _nodes=(), _rows=np.empty((0, 0)))

    @classmethod
    def from_rules(cls, rules: Sequence[tuple[Mapping[str, Any], Any]], parents: Sequence[str] = ()) -> Self:
        """Make a tree from a list of rules (context, row); the first rule whose context holds applies.

        Args:
            rules: a context is a dict {parent: state}, with pgm.OneOf or pgm.Not for several states; the
                empty context always holds, and so gives the row for everything else.
            parents: names in the order wanted, including any that no rule mentions; left out: as they appear.

        Raises:
            InvalidTable: no rule holds in some context, or a rule is not a pair.

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
        for index, rule in enumerate(rules):
            if not isinstance(rule, list | tuple) or len(rule) != 2 or not isinstance(rule[0], Mapping):
                raise InvalidTable(
                    f"Rule {index} (the first is 0) is a pair (context, row), not {shown(rule)}."
                )
            names.update(dict.fromkeys(rule[0]))
            kept.append((dict(rule[0]), plain("rule", rule[1])))
        made = cls.__new__(cls)
        made._fill(tuple(names), kept)
        return made

    @property
    def parents(self) -> tuple[str, ...]:
        """The names of the parents, in the order in which the tree or the rules first mention them."""
        if not self._parents and isinstance(self._written, tuple):
            set_fields(self, _parents=tuple(dict.fromkeys(tree._as_written()[0] for tree in self._trees())))
        return self._parents

    def _as_written(self) -> tuple[str, dict[Any, object]]:
        """The parent and the branches; of a tree that was not written as rules."""
        assert isinstance(self._written, tuple)
        return self._written

    def _trees(self) -> list[TreeCPD]:
        """This tree as it was written and its subtrees, each once, in the order of the branches."""
        found: dict[int, TreeCPD] = {}
        waiting = [self]
        while waiting:
            tree = waiting.pop()
            if id(tree) not in found:
                found[id(tree)] = tree
                below = tree._as_written()[1].values()
                waiting += [branch for branch in reversed(below) if isinstance(branch, TreeCPD)]
        return list(found.values())

    def bind(self, name: str, states: Any, given: tuple[Variable, ...]) -> Self:
        """Return this tree for the child `name` with these parents."""
        if self._child is not None:
            return self.renamed(self._matched(name, states, given), given)
        if states is None:
            leaves = dict(enumerate(self._leaves()))
            states = child_states(name, leaves, 1)
        child = Variable(name, states)
        growing = _TreeBuilder(child, given)
        if isinstance(self._written, list):
            rules = [
                (growing.context(context), read_row(child, row, f"rule {i} (the first is 0)"))
                for i, (context, row) in enumerate(self._written)
            ]
            growing.rules(rules)
        else:
            growing.tree(self)
        return self._made(child, given, tuple(growing.nodes), np.array(growing.rows))

    def _leaves(self) -> Iterator[object]:
        if isinstance(self._written, list):
            yield from (row for _, row in self._written)
            return
        for tree in self._trees():
            yield from (
                branch for branch in tree._as_written()[1].values() if not isinstance(branch, TreeCPD)
            )

    def _made(
        self, child: Variable, given: tuple[Variable, ...], nodes: tuple[TreeNode, ...], rows: Array
    ) -> Self:
        rows.flags.writeable = False
        made = self.__new__(type(self))
        set_fields(made, _child=child, _given=given, _parents=tuple([v.name for v in given]), _written=None)
        set_fields(made, _nodes=nodes, _rows=rows)
        return made

    def _contexts(self) -> Iterator[tuple[int, Context]]:
        """Yield each leaf and the states that lead to it, in a dict that is reused for the next leaf.

        All of them at once would take memory quadratic in the depth.
        """
        region = Region()
        waiting: list[tuple[int, int, frozenset[int], int]] = [(0, -1, frozenset(), 0 if self._nodes else ~0)]
        while waiting:
            depth, asked, codes, at = waiting.pop()
            region.enter(depth, asked, codes)
            if at < 0:
                yield ~at, region.context
                continue
            i = self._nodes[at].parent
            every = self._given[i].card
            waiting += [
                (len(region.trail), i if len(codes) < every else -1, codes, below)
                for below, codes in reversed(self._nodes[at].ways().items())
            ]

    def factor(self, scope: Sequence[int]) -> Dense | Gate:
        """Return a small table as it is; else a table for each leaf, of the parents on its path."""
        cards = [v.card for v in self._given]
        k = self.child.card
        if math.prod(cards) * k <= _SMALL and len(scope) <= MAX_AXES:
            return Dense(np.array([scope], dtype=np.int64), self.table(), 1)
        writer = Writer(len(scope))
        sizes = [product([k, *(cards[i] for i in context)]) for _, context in self._contexts()]
        check_gate(self.child.name, sum(min(size, _SMALL) for size in sizes), "prune the tree")
        if max(sizes) <= _SMALL or not self._nodes:
            for leaf, context in self._contexts():
                at = sorted(context)
                table = np.ones((*[cards[i] for i in at], k))
                table[np.ix_(*[sorted(context[i]) for i in at], range(k))] = self._rows[leaf]
                writer.put([*at, writer.child], table)
            return writer.finish(scope, unnormalised=len(self._rows))
        # For long paths hidden variables say which nodes are reached, and each leaf depends on one of them.
        reached: dict[int, int] = {}
        for index, node in enumerate(self._nodes):
            for target in dict.fromkeys(node.branch.tolist()):
                here = writer.new(2)
                hit = node.branch == target
                link = np.stack([~hit, hit], axis=-1).astype(np.float64)
                if index == 0:
                    writer.put([node.parent, here], link)
                else:
                    never = np.stack([np.ones(hit.size), np.zeros(hit.size)], axis=-1)
                    writer.put([reached[index], node.parent, here], np.stack([never, link]))
                reached[target] = here
        for leaf, row in enumerate(self._rows):
            writer.put([reached[~leaf], writer.child], np.stack([np.ones(k), row]))
        return writer.finish(scope, function=True, unnormalised=len(self._rows))

    def rows(self, codes: Codes) -> Array:
        """Return the row of the leaf that each row of codes reaches."""
        return np.asarray(self._rows[self._leaf_of(codes)])

    def _leaf_of(self, codes: Codes) -> Codes:
        at = np.full(len(codes), 0 if self._nodes else ~0, dtype=np.int64)
        for index, node in enumerate(self._nodes):  # a node comes before those below it
            here = np.flatnonzero(at == index)
            at[here] = node.branch[codes[here, node.parent]]
        return ~at

    def _counted(self, codes: Codes, weights: Array) -> RowCounts:
        return RowCounts(summed((self._leaf_of(codes[:, :-1]), codes[:, -1]), weights, self._rows.shape))

    def expected(self, gate: Gate, tables: Sequence[Array]) -> RowCounts:
        """Return the counts of each leaf: that part of its table to which its path leads."""
        counts = np.zeros(self._rows.shape)
        if gate.hidden:  # the last tables are those of the leaves, in order; index 1: the leaf was reached
            counts[:] = [table[1] for table in tables[-len(counts) :]]
            return RowCounts(counts)
        for table, (leaf, context) in zip(tables, self._contexts(), strict=True):
            inside = np.ix_(*[sorted(context[i]) for i in sorted(context)], range(self.child.card))
            counts[leaf] = table[inside].reshape(-1, self.child.card).sum(axis=0)
        return RowCounts(counts)

    def _own_rows(self) -> Array:
        return self._rows

    def _row_texts(self) -> list[str]:
        texts = [""] * len(self._rows)
        for leaf, context in self._contexts():
            parts = []
            for i, codes in sorted(context.items()):
                states = [str(self.given[i].states[code]) for code in sorted(codes)]
                parts.append(f"{self._parents[i]}={' or '.join(states)}")
            texts[leaf] = ", ".join(parts) or "always"
        return texts

    def _fitted(self, statistics: Any) -> Self:
        """Count in each leaf; one without data is uniform."""
        rows = normalised(self._checked_statistics(statistics, RowCounts).values)
        return self._made(self.child, self._given, self._nodes, rows)

    def renamed(self, child: Variable, given: tuple[Variable, ...]) -> Self:
        """Return the same tree for variables that differ only in their names."""
        return self._made(child, given, self._nodes, self._rows)

    def to_parts(self, state: Callable[[Any, str], Any] = as_it_is) -> dict[str, Any]:
        """Return the nodes, which parent each tests and what comes next, and the rows of the leaves."""
        return write_tree(self._nodes, self._rows, self.given, state)

    @classmethod
    def from_parts(cls, child: Variable, given: tuple[Variable, ...], part: Part) -> Self:
        """Return the tree of these nodes and rows."""
        return cls.__new__(cls)._made(child, given, *read_tree(part, child, given))

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: in each leaf all but one."""
        return len(self._rows) * (self.child.card - 1)

    def to_dict(self) -> dict[Any, Any]:
        """Return {"rules": [({parent: state or tuple of states}, {state: p}), ...]}, one for each leaf."""
        rules = []
        for leaf, context in self._contexts():
            named = {}
            for i, codes in sorted(context.items()):
                states = tuple(self.given[i].states[code] for code in sorted(codes))
                named[self._parents[i]] = states if len(states) > 1 else states[0]
            rules.append((named, dict(zip(self.child.states, self._rows[leaf].tolist(), strict=True))))
        return {"rules": rules}

    def __eq__(self, other: object) -> bool:
        """Tell whether both have the same leaves; unbound, whether they were written alike."""
        if not isinstance(other, TreeCPD):
            return NotImplemented
        if self._child is None or other._child is None:
            return self._child is other._child and self._written_as(other)
        if self._child != other._child or set(self._given) != set(other._given):
            return False
        if len(self._rows) != len(other._rows):
            return False
        if self._given == other._given and np.array_equal(self._rows, other._rows):
            pairs = zip(self._nodes, other._nodes, strict=False)
            if all(a.parent == b.parent and np.array_equal(a.branch, b.branch) for a, b in pairs):
                return True
        # A configuration of each leaf must lead to an equal leaf in the other tree.
        ways = [{code: way for way in node.ways().items() for code in way[1]} for node in other._nodes]
        place = {v: i for i, v in enumerate(self._given)}
        mine = [place[v] for v in other._given]  # of each parent of the other tree
        for leaf, context in self._contexts():
            found: Context = {}
            at = 0 if ways else ~0
            while at >= 0:
                i = other._nodes[at].parent
                at, codes = ways[at][min(context.get(mine[i], (0,)))]
                if len(codes) < other._given[i].card:
                    found[mine[i]] = codes
            if found != context or not np.array_equal(self._rows[leaf], other._rows[~at]):
                return False
        return True

    def _written_as(self, other: TreeCPD) -> bool:
        pairs: list[tuple[Any, Any]] = [(self, other)]
        seen: set[tuple[int, int]] = set()
        while pairs:
            mine, theirs = pairs.pop()
            if not isinstance(mine, TreeCPD) or not isinstance(theirs, TreeCPD):
                if mine != theirs:
                    return False
            elif not isinstance(mine._written, tuple) or not isinstance(theirs._written, tuple):
                pairs.append((mine._written, theirs._written))
            elif (id(mine), id(theirs)) not in seen:
                seen.add((id(mine), id(theirs)))
                (name, own), (other_name, others) = mine._written, theirs._written
                if name != other_name or own.keys() != others.keys():
                    return False
                pairs += [(branch, others[state]) for state, branch in own.items()]
        return True

    def __getstate__(self) -> dict[str, Any]:
        """Write nested trees as a list, since pickling them would recurse as deep as they are nested."""
        state = super().__getstate__()
        if isinstance(self._written, tuple):
            trees = self._trees()
            index = {id(tree): n for n, tree in enumerate(trees)}
            state["_written"] = None
            state["_trees"] = [
                (parent, [(key, index.get(id(b)), None if id(b) in index else b) for key, b in own.items()])
                for parent, own in (tree._as_written() for tree in trees)
            ]
        return state

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        state = dict(state)
        listing = state.pop("_trees", [])
        super().__setstate__(state)
        trees = [self, *(self.__new__(type(self)) for _ in listing[1:])]
        for tree, (name, branches) in zip(trees, listing, strict=False):
            own = {key: row if below is None else trees[below] for key, below, row in branches}
            tree._fill((), (name, own))

    __hash__ = None  # type: ignore[assignment]

    def _lines(self) -> tuple[Sequence[object], Sequence[Sequence[object]], int]:
        rows: list[list[object]] = []
        for leaf, context in islice(self._contexts(), ROWS_SHOWN):
            row = self._rows[leaf].tolist()
            rows.append([_words(self._given, context, " = ", str) or "(always)", *chances(row)])
        return ["if", *self.child.states], rows, len(self._rows)


class _TreeBuilder:
    """Builds nodes and leaves from what a user wrote, once the states are known."""

    def __init__(self, child: Variable, given: tuple[Variable, ...]) -> None:
        self.child, self.given = child, given
        self.place = {v.name: i for i, v in enumerate(given)}
        self.by_name = {v.name: v for v in given}
        self.nodes: list[TreeNode] = []
        self.rows: list[Array] = []

    def context(self, written: Mapping[str, Any]) -> Context:
        """Return the codes that each parent may have in a context, of those parents that it restricts."""
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

    def _leaf(self, row: Array) -> int:
        if len(self.rows) == _MOST_LEAVES:
            raise TooLarge(
                f"{self.child.name!r}: the tree has more than {_MOST_LEAVES:,} leaves. Rules about many "
                "different parents multiply; summarise groups of parents in intermediate nodes."
            )
        self.rows.append(row)
        return ~(len(self.rows) - 1)

    def _row(self, region: Context, row: object) -> int:
        try:
            return self._leaf(read_row(self.child, row, ""))
        except InvalidTable:
            read_row(self.child, row, _words(self.given, region, "=", shown))
            raise

    def tree(self, tree: TreeCPD) -> None:
        """Add a tree as it was written."""
        region = Region()
        waiting: list[tuple[int, int, frozenset[int], object, TreeNode | None]] = []
        waiting.append((0, -1, frozenset(), tree, None))
        while waiting:
            depth, asked, codes, below, above = waiting.pop()
            region.enter(depth, asked if above and len(codes) < above.branch.size else -1, codes)
            if isinstance(below, TreeCPD):
                number, chosen = self._node(below, region.context)
                node = self.nodes[number]
                ways = sorted(chosen, key=lambda pair: min(pair[0]), reverse=True)
                waiting += [(len(region.trail), node.parent, codes, branch, node) for codes, branch in ways]
            else:
                number = self._row(region.context, below)
            if above is not None:
                above.branch[list(codes)] = number

    def _node(self, tree: TreeCPD, region: Context) -> tuple[int, list[tuple[frozenset[int], object]]]:
        """Add the first node of a tree; return its index, and which states take which branch."""
        name, branches = tree._as_written()
        i = self.place[name]
        variable = self.given[i]
        if i in region:
            raise InvalidTable(f"{self.child.name!r}: a path of its tree tests {name!r} twice.")
        left = set(range(variable.card))
        chosen: list[tuple[frozenset[int], object]] = []
        for state, below in branches.items():
            if state is ...:
                continue
            codes = self.context({name: state}).get(i, self._all(i))
            if not codes <= left:
                raise InvalidTable(f"{self.child.name!r}: {name}={shown(state)} appears twice in its tree.")
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
        self.nodes.append(TreeNode(i, np.zeros(variable.card, dtype=np.int64)))
        return len(self.nodes) - 1, chosen

    def rules(self, rules: list[tuple[Context, Array]]) -> None:
        """Add the tree of these rules, of which the first that holds applies."""
        region = Region()
        waiting: list[tuple[int, int, frozenset[int], list[tuple[Context, Array]], TreeNode | None]] = []
        waiting.append((0, -1, frozenset(), rules, None))
        while waiting:
            depth, asked, codes, left, above = waiting.pop()
            region.enter(depth, asked, codes)
            number, i = self._rule(left, region.context)
            if above is not None:
                above.branch[list(codes)] = number
            if number >= 0:
                before, hit = region.context.get(i, self._all(i)), left[0][0][i]
                for way in (before - hit, before & hit):
                    those = [rule for rule in left if way & rule[0].get(i, way)]
                    waiting.append((len(region.trail), i, way, those, self.nodes[number]))

    def _rule(self, rules: list[tuple[Context, Array]], region: Context) -> tuple[int, int]:
        """Add one node or leaf; return its index, and the parent that it tests (-1 for a leaf)."""
        if not rules:
            example = [min(region.get(i, {0})) for i in range(len(self.given))]
            raise InvalidTable(
                f"{self.child.name!r}: no rule holds for {row_label(self.given, example)}; a last rule "
                "({}, row) gives the row of all other cases."
            )
        context, row = rules[0]
        asked = next((i for i, codes in context.items() if not region.get(i, self._all(i)) <= codes), -1)
        if asked < 0:
            return self._leaf(row), asked
        self.nodes.append(TreeNode(asked, np.zeros(self.given[asked].card, dtype=np.int64)))
        return len(self.nodes) - 1, asked

    def _all(self, i: int) -> frozenset[int]:
        return frozenset(range(self.given[i].card))


def _words(given: Sequence[Variable], context: Context, equals: str, write: Callable[[Any], str]) -> str:
    words = []
    for i, codes in sorted(context.items())[:_MOST_WORDS]:
        states = [write(given[i].states[code]) for code in sorted(codes)[:5]]
        more = " or ..." if len(codes) > 5 else ""
        words.append(f"{given[i].name}{equals}{' or '.join(states)}{more}")
    return ", ".join([*words, "..."] if len(context) > _MOST_WORDS else words)
