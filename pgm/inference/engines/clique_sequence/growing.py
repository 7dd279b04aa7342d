"""Which tables go into which forest: as many as fit, in elimination order."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pgm.graphs.triangulation import Triangulation, triangulate_in
from pgm.inference.engines.clique_sequence.clusters import Cluster, Scope, cut, joined, trees
from pgm.inference.engines.clique_sequence.forest import Check, Forest, Message, Table, make_forest
from pgm.runtime.clock import Clock
from pgm.runtime.running import REDUCTION

_GROWN = 0.85  # of the bound in logarithms: how large cliques grow before some variables are summed out
_SENT = 0.7  # of the bound in logarithms: how large the clusters sent to other forests are
_ROUNDING = 1e-9
_NOTHING = np.empty(0, np.int64)
_TOGETHER = np.empty(0, np.int32)


@dataclass(frozen=True, eq=False, slots=True)
class Tables:
    """The tables to distribute, in the elimination order of their variables."""

    cards: np.ndarray  # of all variables
    scope_at: np.ndarray
    scopes: np.ndarray
    values: Callable[[int], Table]
    read: int = -1  # the table whose belief is wanted

    def scope(self, index: int) -> np.ndarray:
        """The variables of a table."""
        return self.scopes[self.scope_at[index] : self.scope_at[index + 1]]

    def flat(self, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The variables of some tables, concatenated, and where each table's begin."""
        widths = self.scope_at[which + 1] - self.scope_at[which]
        ends = np.concatenate([[0], np.cumsum(widths)])
        return self.scopes[np.arange(ends[-1]) + np.repeat(self.scope_at[which] - ends[:-1], widths)], ends


@dataclass(frozen=True, eq=False, slots=True)
class Group:
    """Connected tables, which will form a forest."""

    tables: np.ndarray
    messages: list[Message]
    variables: np.ndarray  # ascending
    tree: Triangulation | None = None  # over indices into `variables`; None: only messages, or too large


class Growth:
    """Forests, made one after another, senders before their receivers."""

    def __init__(self, tables: Tables, bound: float, clock: Clock, check: Check) -> None:
        """Start with nothing grown; no clique may exceed 2**bound entries unless a table does."""
        self.tables, self.clock, self.check = tables, clock, check
        self.log2_cards = np.log2(tables.cards.astype(np.float64))
        sizes = np.add.reduceat(self.log2_cards[tables.scopes], tables.scope_at[:-1])
        self.bound = max(bound, float(sizes.max()))
        self.grown_bound = max(_GROWN * bound, float(sizes.max()))
        self.sent_bound = _SENT * bound
        self.forests: list[Forest] = []
        self.log2_largest = 0.0
        self.lost = 0.0  # nats lost by cutting
        self.dropped = 0  # how many variables were not summed out exactly
        self._left = np.bincount(tables.scopes, minlength=tables.cards.size)  # tables in no group
        self._group_of = np.full(tables.cards.size, -1, np.int64)
        self._groups: dict[int, Group] = {}
        self._next_group = 0

    def grow(self) -> None:
        """Put all tables into forests, each with the messages that it receives first."""
        self._add(np.arange(self.tables.scope_at.size - 1))
        for g in sorted(self._groups):
            self._close(g)

    def _add(self, new: np.ndarray) -> None:
        """Put tables into the groups that they link; if a group becomes too large, add them by halves."""
        if not new.size:
            return
        self.clock.check()
        for some, touched in self._parts(new):
            merged = self._merged(some, touched)
            if merged.tree is not None:
                self._commit(merged, some, touched)
            elif some.size > 1:
                self._add(some[: some.size // 2])
                self._add(some[some.size // 2 :])
            else:
                self._force(some)

    def _parts(self, new: np.ndarray) -> list[tuple[np.ndarray, list[int]]]:
        """The new tables by connected component, with the groups that each component touches."""
        from scipy.sparse import coo_array  # at first use: scipy is slow to import
        from scipy.sparse.csgraph import connected_components

        n = self.tables.cards.size
        variables, ends = self.tables.flat(new)
        group = self._group_of[variables]
        names, ids = np.unique(np.where(group >= 0, n + group, variables), return_inverse=True)
        rows = np.repeat(np.arange(new.size), np.diff(ends))
        nodes = new.size + names.size
        links = coo_array((np.ones(rows.size, np.int8), (rows, new.size + ids)), shape=(nodes, nodes))
        count, label = connected_components(links, directed=False)
        order = np.argsort(label[: new.size], kind="stable")
        begins = np.searchsorted(label[order], np.arange(count + 1))
        touched: list[list[int]] = [[] for _ in range(count)]
        grouped = np.flatnonzero(names >= n)
        for name, part in zip((names[grouped] - n).tolist(), label[new.size + grouped].tolist(), strict=True):
            touched[part].append(name)
        return [(new[order[begins[i] : begins[i + 1]]], touched[i]) for i in range(count)]

    def _merged(self, new: np.ndarray, touched: list[int]) -> Group:
        """New tables merged with the groups that they touch; with a tree if that is small enough."""
        groups = [self._groups[g] for g in touched]
        which = np.concatenate([*(g.tables for g in groups), new])
        messages = [m for g in groups for m in g.messages]
        flat, ends = self.tables.flat(which)
        sent = [m.variables for m in messages]
        everything = np.concatenate([flat, *sent]).astype(np.int64)
        ends = np.concatenate([ends, ends[-1] + np.cumsum([len(s) for s in sent])]).astype(np.int64)
        variables, local = np.unique(everything, return_inverse=True)
        m = variables.size
        at, indices = REDUCTION.neighbours(m, ends, local.astype(np.int32), _TOGETHER)
        logs, limit = self.log2_cards[variables], self.grown_bound + math.log2(m + 1)
        found = triangulate_in(self.clock, at, indices, logs, limit_log2=limit, effort=0.0)
        good = found.complete and found.log2_largest <= self.grown_bound + _ROUNDING
        return Group(which, messages, variables, found if good else None)

    def _commit(self, merged: Group, new: np.ndarray, touched: list[int]) -> None:
        for g in touched:
            del self._groups[g]
        self._left -= np.bincount(self.tables.flat(new)[0], minlength=self._left.size)
        self._open(merged)

    def _open(self, group: Group) -> None:
        self._groups[self._next_group] = group
        self._group_of[group.variables] = self._next_group
        self._next_group += 1

    def _force(self, new: np.ndarray) -> None:
        """Put one table in, closing the groups that it touches, the largest first, until it fits."""
        scope = self.tables.scope(int(new[0]))
        room = max(0.5 * (self.grown_bound + self.sent_bound), float(self.log2_cards[scope].sum()))
        while True:
            self.clock.check()
            touched = sorted(set(self._group_of[scope].tolist()) - {-1})
            merged = self._merged(new, touched)
            old = [g for g in touched if self._groups[g].tables.size]
            several = [g for g in touched if any(len(m.variables) > 1 for m in self._groups[g].messages)]
            tree = merged.tree
            if tree is not None and (old or not several or tree.log2_largest <= room + _ROUNDING):
                self._commit(merged, new, touched)
                return
            if old:
                self._close(max(old, key=lambda g: self._groups[g].variables.size))
            else:  # it would fit with nothing to spare, or not at all: messages must be smaller
                self._split(max(several, key=self._longest))

    def _longest(self, g: int) -> float:
        return max(float(self.log2_cards[list(m.variables)].sum()) for m in self._groups[g].messages)

    def _close(self, g: int) -> None:
        """Turn a group into a forest; only the messages that it sends remain."""
        group = self._groups.pop(g)
        found, variables = group.tree, group.variables
        assert found is not None  # groups of messages alone are not closed
        self._group_of[variables] = -1
        done = self._left[variables] == 0
        places, dropped = joined(found, done, self.log2_cards[variables], self.bound)
        wide: list[Scope] = [tuple(variables[list(one)].tolist()) for one in places]
        own = [self.tables.values(index) for index in group.tables.tolist()]
        read = (
            [tuple(self.tables.scope(self.tables.read).tolist())] if self.tables.read in group.tables else []
        )
        args = self.tables.cards, own, group.messages, wide, variables[done], read, self.clock, self.check
        forest = make_forest(variables, *args)
        forest.sweep(self.clock, self.check)
        self.forests.append(forest)
        self.dropped += dropped
        self.log2_largest = max(self.log2_largest, forest.tree.shape.log2_largest)
        beliefs = [Cluster(scope, forest.beliefs[h]) for h, scope in enumerate(wide)]
        self._send(forest, beliefs, self.sent_bound)

    def _send(self, forest: Forest, clusters: list[Cluster], bound: float) -> None:
        """Open a group for each part of a forest's messages, in clusters no larger than the bound."""
        clusters, lost = cut(clusters, self.log2_cards, bound)
        self.lost += lost
        for part in trees(clusters):
            messages = []
            for one, shared in part:
                mine = set(one.variables)
                holder = next(h for h, scope in enumerate(forest.wide) if mine.issubset(scope))
                ones = np.ones_like(one.belief)
                messages.append(Message(one.variables, shared, forest, holder, one.given(shared), ones))
            forest.leaving.extend(messages)
            variables = np.unique(np.concatenate([m.variables for m in messages]))
            self._open(Group(_NOTHING, messages, variables))

    def _split(self, g: int) -> None:
        """Shrink the messages of a group without tables: its largest cluster to half the size or less."""
        group = self._groups.pop(g)
        forest, mine = group.messages[0].source, set(map(id, group.messages))
        size = max(float(self.log2_cards[list(m.variables)].sum()) for m in group.messages)
        self._group_of[group.variables] = -1
        forest.leaving = [m for m in forest.leaving if id(m) not in mine]
        self._send(forest, [Cluster(m.variables, m.sent.belief) for m in group.messages], size - 1.0)
