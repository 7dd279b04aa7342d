"""Structure searches: the best change of one arc, dynamic programming over subsets, order MCMC. The loops."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pgm.runtime.kinds import ByteTable, Flag, Floats, FloatTable, Ints, Ints8, IntTable

DONE, STOPPED = 0, 1
ADD, DROP, TURN = 0, 1, 2
NOTHING = 40.0  # nats below the largest term, where another adds no digit that matters
FAR = -1e300  # below every score: minus infinity and NaN


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
                            _choose_direction(g, slack, found, gain)
                            return
        if found[0] < 0:
            return


def _choose_direction(g: Graph, slack, found, gain):
    """Of two directions that gain alike, point to where other parents promise less."""
    u, v = found[1], found[2]
    other = g.gains[u, v]
    if not abs(other - gain[0]) <= slack or g.reach[u, v] or g.sizes[u] >= g.room[u]:
        return
    here, there = 0.0, 0.0
    for w in range(g.arcs.shape[0]):
        if w != u and g.gains[v, w] > 0.0:
            here += g.gains[v, w]
        if w != v and g.gains[u, w] > 0.0:
            there += g.gains[u, w]
    if there < here - slack:
        found[1], found[2] = v, u
        gain[0] = other


def _better(turn, delta, best, slack, found):
    """In the first turn whether it exceeds the best so far, in the second whether it is the first as good."""
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
    """Recompute `reach`; return how many vertices are neither on nor below a cycle: n if there is none."""
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


def best_sinks(best: FloatTable, totals: Floats, sinks: Ints8, stop: Flag):
    """The score of the best network of each set of nodes, and its last node.

    `best[v, s]` is the best score of v with parents in s, a set whose bits are the nodes other than v.
    """
    n = best.shape[0]
    totals[0] = 0.0
    for s in range(1, totals.size):
        if s % 1024 == 0 and stop[0]:
            return STOPPED
        top = FAR
        sink = 0
        for v in range(n):
            if s >> v & 1:
                rest = s ^ (1 << v)
                low = rest & ((1 << v) - 1)
                score = totals[rest] + best[v, low | (rest >> (v + 1)) << v]
                if score > top:
                    top = score
                    sink = v
        totals[s] = top
        sinks[s] = sink
    return DONE


def _sets_of(masks: Ints, scores: Floats, begin, end, before):
    """The first set of parents that lies among those before: the best, as the best stand first."""
    for i in range(begin, end):
        if masks[i] & ~before == 0:
            return i
    return -1


def _weigh(masks: Ints, scores: Floats, begin, end, before):
    """The logarithm of the sum over all sets of parents among those before."""
    first = _sets_of(masks, scores, begin, end, before)
    if first < 0:
        return FAR
    top = scores[first]
    total = 0.0
    for i in range(first, end):
        if scores[i] < top - NOTHING:
            break
        if masks[i] & ~before == 0:
            total += math.exp(scores[i] - top)
    return top + math.log(total)


def walk_orders(
    masks: Ints, scores: Floats, starts: Ints, order: Ints, own: Floats, ones: Ints, others: Ints,
    logs: Floats, burning: int, thin: int, sums: FloatTable, best: Floats, best_sets: Ints, state: Floats,
    counted: Ints, stop: Flag,
):  # fmt: skip
    """Metropolis sampling of orders, by exchanging two nodes in each step.

    After the first `burning` steps every `thin`-th order adds to `sums` the posterior of each arc given it.
    """
    n = order.size
    fresh = np.empty(n, np.float64)
    before = 0
    total = 0.0
    for i in range(n):
        v = order[i]
        own[v] = _weigh(masks, scores, starts[v], starts[v + 1], before)
        total += own[v]
        before |= 1 << v
    for step in range(logs.size):
        if stop[0]:
            return STOPPED
        a, b = min(ones[step], others[step]), max(ones[step], others[step])
        if a != b:
            order[a], order[b] = order[b], order[a]
            before = 0
            for i in range(a):
                before |= 1 << order[i]
            changed = total
            for i in range(a, b + 1):
                v = order[i]
                fresh[v] = _weigh(masks, scores, starts[v], starts[v + 1], before)
                changed += fresh[v] - own[v]
                before |= 1 << v
            if changed > FAR / 2.0 and logs[step] < changed - total:
                total = changed
                state[1] += 1.0
                for i in range(a, b + 1):
                    own[order[i]] = fresh[order[i]]
                _note_best(masks, scores, starts, order, best, best_sets)
            else:
                order[a], order[b] = order[b], order[a]
        if step >= burning and step % thin == 0:
            counted[0] += 1
            before = 0
            for i in range(n):
                v = order[i]
                begin, end = starts[v], starts[v + 1]
                for k in range(begin, end):
                    if scores[k] < own[v] - NOTHING:
                        break
                    if masks[k] & ~before == 0:
                        share = math.exp(scores[k] - own[v])
                        for u in range(n):
                            if masks[k] >> u & 1:
                                sums[u, v] += share
                before |= 1 << v
    state[0] = total
    return DONE


def _note_best(masks: Ints, scores: Floats, starts: Ints, order: Ints, best: Floats, best_sets: Ints):
    """Keep the best network of this order, if it is the best so far."""
    total = 0.0
    before = 0
    for i in range(order.size):
        v = order[i]
        total += scores[_sets_of(masks, scores, starts[v], starts[v + 1], before)]
        before |= 1 << v
    if total > best[0]:
        best[0] = total
        before = 0
        for i in range(order.size):
            v = order[i]
            best_sets[v] = _sets_of(masks, scores, starts[v], starts[v + 1], before) - starts[v]
            before |= 1 << v
