"""One step of a dynamic network, laid out once: the order in which its tables are summed, and its frontier.

A step has a place for each variable now and for each lag at which the variable is a parent. The places in
`incoming` carry the frontier, which the past hands over as one table (Murphy 2002, chapter 3); those in
`outgoing` carry the frontier of the next step, place by place. Summing all others out, in an order with small
tables, makes a tree of buckets. The path of the frontier through this tree is run again in every row; the
rest of the tree depends only on the evidence of the row.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pgm.graphs.triangulation import triangulate_in
from pgm.inference.engines.interface.log_tables import Scope
from pgm.inference.engines.interface.part_tables import CONTINUOUS, PartTables, Template
from pgm.runtime.clock import Clock

from .compiled import Operations


@dataclass(frozen=True, eq=False)
class Bucket:
    """A variable that is summed out, and what is multiplied before that; the last one sums out nothing."""

    variable: int
    scope: Scope
    factors: tuple[int, ...]
    children: tuple[int, ...]
    parent: int
    sent: Scope  # the scope of its message to the parent


class SliceLayout:
    """One step of a dynamic network: places, tables, buckets, and the operations of the frontier."""

    def __init__(
        self,
        template: Template,
        clock: Clock,
        *,
        best: bool = False,
        clusters: Sequence[Sequence[int]] | None = None,
    ) -> None:
        """Lay it out.

        Args:
            template: the network.
            clock: the clock of the question.
            best: for the most probable course, where gates may have to be written out.
            clusters: groups of variables, if the interface is a product of tables over groups and not one
                table; then there is no frontier, and each group has its own incoming and outgoing scope.
        """
        self.template, self.best = template, best
        tables = PartTables(template, best=best)
        self.cards, self.fixed, self.of_rows = tables.cards, tables.fixed, tables.of_rows
        incoming: list[int] = []
        outgoing: list[int] = []
        for card, at, lag, static in zip(
            template.cards, template.at, template.lags, template.static, strict=True
        ):
            if card == CONTINUOUS:
                continue
            if static:
                incoming.append(at)
                outgoing.append(at)
            incoming += range(at + 1, at + lag + 1)
            outgoing += range(at, at + lag)
        self.incoming, self.outgoing = tuple(incoming), tuple(outgoing)
        pairs = [] if clusters is None else [self._cluster(set(those)) for those in clusters]
        self.clusters = [pair for pair in pairs if pair[0]]
        self.stays: Scope = self.outgoing if clusters is None else ()
        self._joined = [self.incoming, self.outgoing]
        if clusters is not None:
            self._joined = [scope for pair in self.clusters for scope in pair]
        self.weighted = tuple(v for v, card in enumerate(template.cards) if card != CONTINUOUS)
        self.scopes: list[Scope] = [
            *(f.scope for f in self.fixed),
            *(f.scope for f in self.of_rows),
            *((template.at[v],) for v in self.weighted),
        ]
        self._order(clock)

    def _cluster(self, those: set[int]) -> tuple[Scope, Scope]:
        """The places of some variables in the incoming and in the outgoing frontier."""
        kept = [i for i, p in enumerate(self.incoming) if self.template.owner(p)[0] in those]
        return tuple(self.incoming[i] for i in kept), tuple(self.outgoing[i] for i in kept)

    def renewed(self, template: Template, clock: Clock) -> SliceLayout:
        """The layout of the same network with other parameters, in the same order where scopes are equal."""
        tables = PartTables(template, best=self.best)
        mine = [[one.scope for one in self.fixed], [one.scope for one in self.of_rows]]
        theirs = [[one.scope for one in tables.fixed], [one.scope for one in tables.of_rows]]
        if mine != theirs or tables.cards != self.cards:
            return SliceLayout(template, clock, best=self.best)
        made = copy.copy(self)
        made.template, made.fixed, made.of_rows = template, tables.fixed, tables.of_rows
        return made

    # --- the order ---

    def _order(self, clock: Clock) -> None:
        """Sum out what later steps do not need, in an order with small tables; lay out the buckets."""
        places = sorted({p for scope in self.scopes for p in scope} | {*self.incoming, *self.outgoing})
        index = {p: i for i, p in enumerate(places)}
        links: list[set[int]] = [set() for _ in places]
        for scope in [*self.scopes, *self._joined]:
            mine = [index[p] for p in scope]
            for i in mine:
                links[i].update(mine)
        neighbours = [sorted(those - {i}) for i, those in enumerate(links)]
        at = np.cumsum([0, *map(len, neighbours)], dtype=np.int64)
        flat = np.array([j for those in neighbours for j in those], np.int32)
        log2_card = np.log2(np.array([self.cards[p] for p in places], np.float64))
        stays = set(self.stays)
        stage = np.array([int(p in stays) for p in places], np.int64)
        found = triangulate_in(clock, at, flat, log2_card, stage=stage)
        self.heuristic, self.log2_entries, self.log2_largest = (
            found.heuristic,
            found.log2_total,
            found.log2_largest,
        )
        order = [places[i] for i in found.order.tolist() if places[i] not in stays]
        self._lay_out(order)

    def _lay_out(self, order: list[int]) -> None:
        turn = {p: i for i, p in enumerate(order)}
        root = len(order)
        own: list[list[int]] = [[] for _ in range(root + 1)]
        scopes: list[set[int]] = [{p} for p in order] + [set(self.stays)]
        children: list[list[int]] = [[] for _ in range(root + 1)]
        parent = [-1] * (root + 1)

        def place(scope: Scope) -> int:
            return min((turn.get(p, root) for p in scope), default=root)

        for f, scope in enumerate(self.scopes):
            b = place(scope)
            own[b].append(f)
            scopes[b].update(scope)
        for scope in self._joined:  # each of which then lies in one bucket
            scopes[place(scope)].update(scope)
        self.entry = place(self.incoming)
        for b in range(root):
            sent = tuple(sorted(scopes[b] - {order[b]}))
            parent[b] = place(sent)
            children[parent[b]].append(b)
            scopes[parent[b]].update(sent)
        self.buckets = [
            Bucket(
                order[b] if b < root else -1,
                tuple(sorted(scopes[b])),
                tuple(own[b]),
                tuple(children[b]),
                parent[b],
                tuple(sorted(scopes[b] - {order[b]})) if b < root else (),
            )
            for b in range(root + 1)
        ]
        path = [self.entry]
        while path[-1] != root:
            path.append(parent[path[-1]])
        self.path = tuple(path)
        self.bucket_of = {p: b for b, p in enumerate(order)} | dict.fromkeys(self.stays, root)

    # --- sizes ---

    def size(self, scope: Scope) -> int:
        """How many entries a table over these places has."""
        return math.prod([self.cards[p] for p in scope])

    @property
    def interface_entries(self) -> int:
        """How many entries the frontier has: the floats that one step hands to the next."""
        return self.size(self.incoming)

    @cached_property
    def work(self) -> int:
        """Multiplications of one row along the path of the frontier."""
        total, running = 0, set(self.incoming)
        for b, scope in zip(self.path, self.path_scopes, strict=True):
            running |= set(scope) | {p for p in (self.buckets[b].variable,) if p >= 0}
            total += self.size(tuple(running))
            running -= {self.buckets[b].variable}
        return total + self.interface_entries

    @cached_property
    def widest(self) -> int:
        """How many entries the largest table on that path has."""
        sizes, running = [self.interface_entries], set(self.incoming)
        for b, scope in zip(self.path, self.path_scopes, strict=True):
            running = (running | set(scope)) - {self.buckets[b].variable}
            if b == self.path[-1]:
                running |= set(self.outgoing)
            sizes.append(self.size(tuple(running)))
        return max(sizes)

    @cached_property
    def path_scopes(self) -> list[Scope]:
        """For each bucket on the path of the frontier, the scope of what the frontier is multiplied by."""
        found = []
        on_path = set(self.path)
        for b in self.path:
            bucket = self.buckets[b]
            scope = {p for f in bucket.factors for p in self.scopes[f]}
            scope |= {p for c in bucket.children if c not in on_path for p in self.buckets[c].sent}
            found.append(tuple(sorted(scope)))
        return found

    @property
    def block(self) -> int:
        """How many entries the tables of one pattern of evidence have on that path."""
        return sum(map(self.size, self.path_scopes))

    @property
    def entries(self) -> int:
        """How many entries all buckets have together."""
        return sum(self.size(bucket.scope) for bucket in self.buckets)

    # --- operations ---

    @cached_property
    def operations(self) -> Operations:
        """What the loops do with the frontier in each row."""
        at, card, f_step, g_step, g_at, enters = [0], [], [], [], [], []
        f_off, g_off = [], []
        running: Scope = self.incoming
        begin = 0
        for b, scope in zip(self.path, self.path_scopes, strict=True):
            out = self.buckets[b].variable
            made = tuple(sorted({*running, *scope} - {out}))
            if b == self.path[-1]:
                made = self.outgoing
            f_strides, g_strides = self._strides(running), self._strides(scope)
            f_off.append(self._offsets(made, f_strides))
            g_off.append(self._offsets(made, g_strides))
            at.append(at[-1] + f_off[-1].size)
            card.append(self.cards[out] if out >= 0 else 1)
            f_step.append(f_strides.get(out, 0))
            g_step.append(g_strides.get(out, 0))
            g_at.append(begin)
            enters.append(self.size(tuple(running)))
            begin += self.size(scope)
            running = made
        return Operations(
            at=np.array(at, np.int64),
            card=np.array(card, np.int64),
            f_step=np.array(f_step, np.int64),
            g_step=np.array(g_step, np.int64),
            g_at=np.array(g_at, np.int64),
            f_off=np.concatenate(f_off).astype(np.int32),
            g_off=np.concatenate(g_off).astype(np.int32),
            enters=np.array(enters, np.int64),
            widest=self.widest,
            block=begin,
            work=self.work,
        )

    def _strides(self, scope: Scope) -> dict[int, int]:
        found, step = {}, 1
        for p in reversed(scope):
            found[p] = step
            step *= self.cards[p]
        return found

    def _offsets(self, scope: Scope, strides: dict[int, int]) -> np.ndarray:
        found = np.zeros(1, np.int64)
        for p in scope:
            found = (found[:, None] + np.arange(self.cards[p]) * strides.get(p, 0)).reshape(-1)
        return found

    @cached_property
    def first(self) -> np.ndarray:
        """The frontier before the first step: 1 where all but static variables are in their first state."""
        found = np.zeros([self.cards[p] for p in self.incoming])
        fixed = {self.template.at[v] for v, static in enumerate(self.template.static) if static}
        found[tuple(slice(None) if p in fixed else 0 for p in self.incoming)] = 1.0
        return found.reshape(-1)
