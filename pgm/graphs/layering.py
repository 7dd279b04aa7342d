"""Assigns nodes of a drawing to layers: links lead down, and their total length is small."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np

Pairs = list[tuple[int, int]]


def levels(n: int, links: Pairs) -> list[int]:
    """Return a layer for each node of an acyclic graph, 0 at the top (Gansner et al. 1993, section 2).

    The total length of all links is minimal, unless a layer would hold far more nodes than there are
    layers; nodes that can move without making links longer go to the emptiest layer.

    >>> levels(4, [(0, 1), (1, 2), (3, 2)])
    [0, 1, 2, 1]
    """
    if not links:
        return [0] * n
    parents: list[list[int]] = [[] for _ in range(n)]
    children: list[list[int]] = [[] for _ in range(n)]
    for tail, head in links:
        parents[head].append(tail)
        children[tail].append(head)
    level = _earliest(parents, children)
    if any(level[head] - level[tail] > 1 for tail, head in links):
        level = _shortest(n, links)
    count: dict[int, int] = defaultdict(int)
    for at in level:
        count[at] += 1
    for node in range(n):
        if parents[node] and len(parents[node]) == len(children[node]):
            first = max(level[p] for p in parents[node]) + 1
            last = min(level[c] for c in children[node]) - 1
            best = min(
                range(first, last + 1), key=lambda i: (count[i] - (i == level[node]), i != level[node], i)
            )
            count[level[node]] -= 1
            count[best] += 1
            level[node] = best
    return _narrowed(level, parents, children)


def _earliest(parents: list[list[int]], children: list[list[int]]) -> list[int]:
    level = [0] * len(parents)
    waiting = [len(of) for of in parents]
    order = [node for node, count in enumerate(waiting) if not count]
    for node in order:  # grows during the loop
        for child in children[node]:
            level[child] = max(level[child], level[node] + 1)
            waiting[child] -= 1
            if not waiting[child]:
                order.append(child)
    return level


def _shortest(n: int, links: Pairs) -> list[int]:
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    m = len(links)
    ends = np.asarray(links)
    data = np.concatenate([np.ones(m), -np.ones(m)])  # level[tail] - level[head] <= -1
    longer: Any = csr_array((data, (np.tile(np.arange(m), 2), ends.T.ravel())), shape=(m, n))
    # A matrix of differences is totally unimodular: the vertex that the simplex method finds is integral.
    found = linprog(-longer.sum(axis=0), A_ub=longer, b_ub=-np.ones(m), method="highs-ds")
    level = np.rint(np.asarray(found.x)).astype(np.int64)
    return [int(at) for at in level - level.min()]


def _narrowed(level: list[int], parents: list[list[int]], children: list[list[int]]) -> list[int]:
    """Move nodes down out of crowded layers, starting with those that have little below them; sources follow.

    The leaves of a naive Bayes model end up in several rows.
    """
    n = len(level)
    widest = max(12, math.ceil(1.3 * math.sqrt(n)))
    below = [0] * n
    for node in sorted(range(n), key=lambda i: -level[i]):
        below[node] = max((below[c] + 1 for c in children[node]), default=0)
    count: dict[int, int] = defaultdict(int)
    for node in sorted(range(n), key=lambda i: (level[i], -below[i], i)):
        at = max([level[node], *(level[p] + 1 for p in parents[node])])
        while count[at] >= widest:
            at += 1
        level[node] = at
        count[at] += 1
    for node in sorted(range(n), key=lambda i: -level[i]):
        if children[node] and not parents[node]:
            room = range(min(level[c] for c in children[node]) - 1, level[node], -1)
            at = next((i for i in room if count[i] < widest), level[node])
            count[level[node]] -= 1
            count[at] += 1
            level[node] = at
    return level
