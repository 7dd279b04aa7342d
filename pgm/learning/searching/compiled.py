"""Moves between graphs, compiled: the best change of one arc, and which vertex can be reached from which."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pgm.runtime.kinds import ByteTable, Floats, FloatTable, Ints, IntTable

DONE, STOPPED = 0, 1
ADD, DROP, TURN = 0, 1, 2
FAR = -1e300  # below every score: minus infinity, and what is no number


class Graph(NamedTuple):
    """A directed acyclic graph, and what each change of one arc would gain."""

    arcs: ByteTable  # [u, v]: 1 where u is a parent of v
    reach: ByteTable  # [u, v]: 1 where a directed path leads from u to v
    gains: FloatTable  # [v, u]: of u as one more parent of v; -inf where that is not permitted
    losses: FloatTable  # [v, u]: of v without its parent u
    kept: ByteTable  # [u, v]: 1 where the arc may be neither removed nor reversed
    room: Ints  # how many parents each vertex may have
    sizes: Ints  # how many it has
    until: IntTable  # [u, v]: before which step the pair is not changed again


def best_move(g: Graph, step: int, needed: float, least: float, slack: float, found: Ints, gain: Floats):
    """Leave in `found` and `gain` the best change: kind, u, v of the arc u -> v; kind -1 if there is none.

    Of gains that differ by no more than `slack` the first in order is taken, so rounding decides nothing. A
    pair that was changed lately takes part only if it gains more than `needed`; all gain more than `least`.
    """
    n = g.arcs.shape[0]
    best = least
    found[0] = -1
    for turn in range(2):
        for i in range(n):
            for j in range(n):
                if i == j:
                    continue
                u, v = (i, j) if turn else (j, i)  # the largest gain, row by row; then the first, by parent
                if g.arcs[u, v]:
                    if g.kept[u, v]:
                        continue
                    delta = g.losses[v, u]
                    kind = DROP
                    free = g.until[u, v] <= step
                    if (free or delta > needed) and _better(turn, delta, best, slack, found):
                        best = max(best, delta)
                        found[0], found[1], found[2] = kind, u, v
                        gain[0] = delta
                        if turn:
                            return
                    if g.gains[u, v] > FAR and g.sizes[u] < g.room[u]:
                        delta = g.losses[v, u] + g.gains[u, v]
                        if (free or delta > needed) and _better(turn, delta, best, slack, found):
                            if not _other_path(g, u, v):
                                best = max(best, delta)
                                found[0], found[1], found[2] = TURN, u, v
                                gain[0] = delta
                                if turn:
                                    return
                elif g.gains[v, u] > best - slack and g.sizes[v] < g.room[v]:
                    if g.arcs[v, u] or g.reach[v, u]:
                        continue
                    delta = g.gains[v, u]
                    free = g.until[u, v] <= step
                    if (free or delta > needed) and _better(turn, delta, best, slack, found):
                        best = max(best, delta)
                        found[0], found[1], found[2] = ADD, u, v
                        gain[0] = delta
                        if turn:
                            return
        if found[0] < 0:
            return


def _better(turn, delta, best, slack, found):
    """In the first turn what exceeds the best so far, in the second the first that is as good."""
    if turn == 0:
        return delta > best
    return delta >= best - slack


def _other_path(g: Graph, u, v):
    """Whether a path other than the arc leads from u to v."""
    for w in range(g.arcs.shape[0]):
        if g.arcs[u, w] and w != v and g.reach[w, v]:
            return True
    return False


def reach_more(arcs: ByteTable, reach: ByteTable, u: int, v: int):
    """Bring `reach` up to date after u -> v was added."""
    n = arcs.shape[0]
    for a in range(n):
        if (a == u or reach[a, u]) and not (reach[a, v]):
            reach[a, v] = 1
            for w in range(n):
                reach[a, w] |= reach[v, w]


def reach_all(arcs: ByteTable, reach: ByteTable):
    """Work `reach` out anew; return how many vertices are on no cycle and below none: n, if there is none."""
    n = arcs.shape[0]
    waiting = np.zeros(n, np.int64)
    order = np.empty(n, np.int64)
    end = 0
    for u in range(n):
        for v in range(n):
            waiting[v] += arcs[u, v]
    for v in range(n):
        if waiting[v] == 0:
            order[end] = v
            end += 1
    begin = 0
    while begin < end:
        u = order[begin]
        begin += 1
        for v in range(n):
            if arcs[u, v]:
                waiting[v] -= 1
                if waiting[v] == 0:
                    order[end] = v
                    end += 1
    for i in range(end - 1, -1, -1):
        u = order[i]
        for w in range(n):
            reach[u, w] = 0
        for v in range(n):
            if arcs[u, v] and not reach[u, v]:
                reach[u, v] = 1
                for w in range(n):
                    reach[u, w] |= reach[v, w]
    return end
