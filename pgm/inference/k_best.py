"""The k best assignments of a tree, by splitting what is left after each (Nilsson 1998)."""

from __future__ import annotations

import heapq

import numpy as np

from pgm.config import Clock
from pgm.inference.engines import exact
from pgm.inference.engines.exact import Best
from pgm.inference.reduction import Case
from pgm.inference.running import code, run
from pgm.inference.trees import Tree


def best(case: Case, tree: Tree, clock: Clock, order: np.ndarray, k: int) -> list[Best]:
    """Up to k assignments, best first, equals in the given order of variables; fewer if fewer are possible.

    After max-calibration each clique knows the best value through each of its entries. The assignments other
    than the best fall into disjoint sets: those that agree with it on the first cliques and differ in the
    next. The best of each such set is one look at one clique.
    """
    t = tree.arrays
    first = exact.maximum(case, tree, clock, order)
    pm, pe = exact._wide_pool(case, tree)
    run("inward_wide", t, pm, pe, tree.maximising, steps=8 * tree.steps, clock=clock)
    bm, be = exact.max_beliefs(tree, pm, pe, clock)
    cliques = np.flatnonzero(tree.maximising)[::-1].copy()  # parents before children
    near = exact._near(tree)
    beliefs = []
    for c in cliques.tolist():
        part = slice(int(t.clique_at[c]), int(t.clique_at[c + 1]))
        beliefs.append(exact.relative_values(bm[part], be[part]))

    kernels = code(8.0 * t.operand.size)
    strides = [_strides(tree, c) for c in cliques.tolist()]
    found: list[Best] = []
    seen: set[bytes] = set()
    counter = 0
    # (-value relative to the best, states in order, tie-breaker, states, clique to begin at, excluded there)
    heap: list[tuple[float, tuple[int, ...], int, np.ndarray, int, frozenset[int]]] = [
        (-1.0, tuple(first.states[order].tolist()), 0, first.states, 0, frozenset())
    ]
    while heap and len(found) < k:
        clock.check()
        value, _, _, states, begin, excluded = heapq.heappop(heap)
        if states.tobytes() in seen:
            continue
        seen.add(states.tobytes())
        found.append(Best(states, exact._value(case, tree, pm, pe, states)))
        if len(found) == k:
            break
        for i in range(begin, cliques.size):
            c = int(cliques[i])
            entry = int(states[strides[i][0]] @ strides[i][1])
            out = (excluded if i == begin else frozenset()) | {entry}
            if t.parent[c] >= 0:
                sent = int(t.sent[c])
                candidates = np.arange(entry % sent, int(t.size[c]), sent)
            else:
                candidates = np.arange(int(t.size[c]))
            values = beliefs[i][candidates].copy()
            values[np.isin(candidates, list(out))] = 0.0
            top = float(values.max())
            if top <= 0.0:
                continue
            chosen = int(candidates[int(np.argmax(values >= top * (1 - 1e-13)))])
            other = states.copy()
            kernels._set_states(t, c, chosen, other)
            kernels.trace_back(t, pm, pe, cliques[i + 1 :].copy(), other, near)
            counter += 1
            share = float(f"{value * top / float(beliefs[i][entry]):.12e}")  # rounding must not order equals
            heapq.heappush(heap, (share, tuple(other[order].tolist()), counter, other, i, out))
    return found


def _strides(tree: Tree, c: int) -> tuple[np.ndarray, np.ndarray]:
    t = tree.arrays
    axes = t.axes[t.axis_at[c] : t.axis_at[c + 1]]
    cards = t.cards[axes]
    steps = np.concatenate([np.cumprod(cards[::-1])[::-1][1:], [1]]).astype(np.int64)
    return axes, steps
