"""Minimal d-separators: the one next to a set, the cheapest, and all of them with polynomial delay.

A minimal d-separator lies among the ancestors of what it separates, where it is a minimal separator of the
moral graph (van der Zander, Liskiewicz & Textor 2019). From the one next to the first set all others are
reached by moving one vertex to its side and taking the separator next to that (Berry, Bordat & Cogis 2000).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from pgm.graphs import walks
from pgm.graphs.walks import WALKS
from pgm.graphs.walks.compiled import Graph
from pgm.runtime.clock import Clock


@dataclass(frozen=True, eq=False, slots=True)
class Separation:
    """Two sets of vertices to be separated, by vertices that are `free` to be taken; all are flags."""

    graph: Graph
    sources: np.ndarray
    goals: np.ndarray
    free: np.ndarray
    alive: np.ndarray  # the ancestors of both

    @classmethod
    def of(cls, graph: Graph, sources: np.ndarray, goals: np.ndarray, free: np.ndarray) -> Separation:
        """Take two sets to separate; only their ancestors matter."""
        alive = walks.ancestors(graph, sources | goals)
        return cls(graph, sources, goals, free & alive & ~(sources | goals), alive)

    def nearest(self) -> np.ndarray | None:
        """The minimal separator next to the sources; None if nothing separates."""
        return self._next_to(self.sources.copy())

    def cheapest(self, costs: np.ndarray) -> np.ndarray | None:
        """A minimal separator whose costs, none of them negative, have the least sum; None if there is none.

        A minimum cut: the capacity of a vertex is its cost; each family is a node that links its members.
        """
        n = self.alive.size
        here = np.flatnonzero(self.alive)
        tails, heads = walks.pairs(self.graph)
        kept = self.alive[heads] != 0
        members, families = np.concatenate([tails[kept], here]), np.concatenate([heads[kept], here])
        sources, goals = np.flatnonzero(self.sources), np.flatnonzero(self.goals)
        source, sink = 3 * n, 3 * n + 1  # v is entered at 2 v and left at 2 v + 1, its family is 2 n + v
        begins = [2 * here, 2 * members + 1, 2 * n + families, np.full(sources.size, source), 2 * goals + 1]
        ends = [2 * here + 1, 2 * n + families, 2 * members, 2 * sources, np.full(goals.size, sink)]
        begin, end = np.concatenate(begins), np.concatenate(ends)
        m = begin.size
        room = np.zeros(2 * m)
        room[:m] = np.inf
        room[: here.size] = np.where(self.free[here] != 0, costs[here], np.inf)
        order = np.argsort(np.concatenate([begin, end]), kind="stable")
        place = np.empty(2 * m, np.int64)
        place[order] = np.arange(2 * m)
        at = np.zeros(3 * n + 3, np.int64)
        np.cumsum(np.bincount(np.concatenate([begin, end]), minlength=3 * n + 2), out=at[1:])
        partner = place[np.where(order < m, order + m, order - m)]
        reached = np.zeros(3 * n + 2, np.uint8)
        arcs = np.concatenate([np.concatenate([end, begin])[order], partner])
        if WALKS.flow(at, arcs, room[order], source, sink, reached) == np.inf:
            return None
        cut = reached[: 2 * n : 2] & (1 - reached[1 : 2 * n : 2]) & self.free
        return self._next_to(self._side(np.ascontiguousarray(cut)))

    def every(self, costs: np.ndarray, clock: Clock) -> Iterator[np.ndarray]:
        """All minimal separators, each once; of those found so far the cheapest comes first."""
        first = self.nearest()
        if first is None:
            return
        known = {first.tobytes()}
        waiting: list[tuple[float, int, bytes]] = []

        def wait(found: np.ndarray) -> None:
            some = found != 0
            heappush(waiting, (float(costs[some].sum()), int(some.sum()), found.tobytes()))

        wait(first)
        while waiting:
            clock.check("listing separators")
            found = np.frombuffer(heappop(waiting)[2], np.uint8)
            yield found
            side = self._side(found)
            for v in np.flatnonzero(found).tolist():
                inside = side.copy()
                inside[v] = 1
                other = self._next_to(inside)
                if other is not None and other.tobytes() not in known:
                    known.add(other.tobytes())
                    wait(other)

    def _side(self, separator: np.ndarray) -> np.ndarray:
        """The vertices that a separator leaves connected to the sources."""
        inside = self.sources.copy()
        WALKS.component(self.graph, self.alive, inside, separator, np.zeros(inside.size, np.uint8))
        return inside

    def _next_to(self, inside: np.ndarray) -> np.ndarray | None:
        found = np.zeros(inside.size, np.uint8)
        there = WALKS.next_to(self.graph, self.alive, self.free, inside, self.goals, found)
        return found if there else None
