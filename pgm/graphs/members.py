"""The graphs of an equivalence class, and how a structure's causal claims differ from another's."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from pgm.graphs import walks
from pgm.graphs.adjustment import Effect
from pgm.graphs.equivalence import CPDAG, Sets, orient
from pgm.graphs.walks import Arrows, with_parents


def members(graph: CPDAG) -> Iterator[list[set[int]]]:
    """The parents of each vertex in all graphs of a class, one graph after the other.

    An edge is directed one way, what follows is compelled (Meek 1995), and so on; then the other way.

    >>> len(list(members(CPDAG("abc", [], [("a", "b"), ("b", "c")]))))
    3
    """
    place = {name: i for i, name in enumerate(graph.nodes)}
    parents: Sets = [set() for _ in graph.nodes]
    beside: Sets = [set() for _ in graph.nodes]
    for a, b in graph.directed:
        parents[place[b]].add(place[a])
    for a, b in graph.undirected:
        beside[place[a]].add(place[b])
        beside[place[b]].add(place[a])
    stack = [(parents, beside)]
    while stack:
        up, free = stack.pop()
        edge = next(((v, min(those)) for v, those in enumerate(free) if those), None)
        if edge is None:
            yield up
            continue
        for tail, head in (edge[::-1], edge):
            up_, free_ = [set(those) for those in up], [set(those) for those in free]
            free_[tail].discard(head)
            free_[head].discard(tail)
            up_[head].add(tail)
            orient(up_, free_)
            stack.append((up_, free_))


def intervention_distance(
    claimed: Sequence[Collection[int]], true: Sequence[Collection[int]], of: Collection[int] | None = None
) -> int:
    """How many effects of one vertex on another the claimed parents get wrong (Peters & Bühlmann 2015).

    Adjusting for the parents that a graph claims of x gives P(y | do(x)), if it is right; if it claims that y
    is a parent of x, then x has no effect on y.

    Args:
        claimed: the parents of each vertex, as claimed.
        true: the true ones.
        of: the vertices acted on; all if left out.

    >>> intervention_distance([[], [0]], [[1], []]), intervention_distance([[], [0]], [[], [0]])
    (2, 0)
    """
    n = len(true)
    names = tuple(range(n))
    arrows = Arrows(names, {v: v for v in names}, with_parents([sorted(those) for those in true]))
    wrong = 0
    for x in range(n) if of is None else of:
        below = walks.descendants(arrows.graph, walks.marks(n, [x]))
        adjusted = set(claimed[x])
        for y in range(n):
            if y == x:
                continue
            if y in adjusted:
                wrong += bool(below[y])
            else:
                wrong += bool(Effect.of(arrows, [x], [y]).fault(adjusted))
    return wrong


def is_independence_map(mapping: Sequence[Collection[int]], of: Sequence[Collection[int]]) -> bool:
    """Whether every independence that one graph claims holds in the other (its local Markov property).

    >>> is_independence_map([[], [0]], [[], []]), is_independence_map([[], []], [[], [0]])
    (True, False)
    """
    n = len(of)
    graph, other = with_parents([sorted(p) for p in mapping]), with_parents([sorted(p) for p in of])
    for v in range(n):
        below = walks.descendants(graph, walks.marks(n, [v]))
        rest = [u for u in range(n) if not below[u] and u not in mapping[v]]
        known = walks.marks(n, list(mapping[v]))
        connected = walks.connected(other, [v], known)
        if np.any(connected[rest]):
            return False
    return True
