"""Markov equivalence of directed graphs: v-structures, CPDAGs, and back to a graph (Verma & Pearl 1990).

The functions take the parents of each vertex 0, 1, ... as sets; a partly directed graph has undirected
neighbours as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Sets = list[set[int]]


def topological(parents: Sequence[Iterable[int]]) -> list[int]:
    """Vertices with parents before children; those on a cycle, or below one, are left out.

    >>> topological([{1}, set(), {0, 1}])
    [1, 0, 2]
    """
    waiting = [len(set(those)) for those in parents]
    children: list[list[int]] = [[] for _ in parents]
    for v, those in enumerate(parents):
        for u in sorted(set(those)):
            children[u].append(v)
    order = [v for v, count in enumerate(waiting) if not count]
    for v in order:  # grows
        for w in children[v]:
            waiting[w] -= 1
            if not waiting[w]:
                order.append(w)
    return order


def compelled(parents: Sequence[Iterable[int]]) -> tuple[Sets, Sets]:
    """The parents and the undirected neighbours of each vertex in the CPDAG of a directed acyclic graph.

    Chickering 1995, "A transformational characterization of equivalent Bayesian network structures".

    >>> compelled([set(), {0}, {1, 3}, set()])  # 0 - 1 -> 2 <- 3
    ([set(), set(), {1, 3}, set()], [{1}, {0}, set(), set()])
    """
    known: Sets = [set(those) for those in parents]
    order = topological(known)
    rank = {v: i for i, v in enumerate(order)}
    fixed: Sets = [set() for _ in known]
    free: Sets = [set() for _ in known]  # parents over arcs that may be reversed
    for y in order:
        for x in sorted(known[y], key=lambda v: -rank[v]):
            if x in fixed[y] or x in free[y]:
                continue
            if any(w not in known[y] for w in fixed[x]):
                fixed[y] = set(known[y])
                break
            fixed[y] |= fixed[x]
            unknown = known[y] - fixed[y] - free[y]
            if any(z not in known[x] for z in known[y] if z != x):
                fixed[y] |= unknown
            else:
                free[y] |= unknown
    neighbours: Sets = [set(those) for those in free]
    for y, those in enumerate(free):
        for x in those:
            neighbours[x].add(y)
    return fixed, neighbours


def v_structures(parents: Sequence[Iterable[int]]) -> list[tuple[int, int, int]]:
    """Pairs of parents that no arc joins, with their child between them.

    >>> v_structures([set(), {0, 2}, set()])
    [(0, 1, 2)]
    """
    known: Sets = [set(those) for those in parents]
    found = []
    for child, those in enumerate(known):
        ordered = sorted(those)
        for i, a in enumerate(ordered):
            found += [(a, child, b) for b in ordered[i + 1 :] if a not in known[b] and b not in known[a]]
    return found


def extension(parents: Sequence[Iterable[int]], neighbours: Sequence[Iterable[int]]) -> Sets | None:
    """A directed acyclic graph with the same arcs and v-structures, or None (Dor & Tarsi 1992).

    Of several graphs it is the one in which undirected edges point away from the lower index where possible.

    >>> extension([set(), set(), {1, 3}, set()], [{1}, {0}, set(), set()])
    [set(), {0}, {1, 3}, set()]
    """
    n = len(parents)
    up: Sets = [set(those) for those in parents]
    beside: Sets = [set(those) for those in neighbours]
    down: Sets = [set() for _ in range(n)]
    for v in range(n):
        for u in up[v]:
            down[u].add(v)
    made: Sets = [set(those) for those in parents]
    left = set(range(n))

    def sink(v: int) -> bool:
        around = up[v] | beside[v]
        return not down[v] and all(around - {w} <= up[w] | down[w] | beside[w] for w in beside[v])

    waiting = sorted(left)  # as a stack: the highest first
    while left:
        found = -1
        while waiting:
            v = waiting.pop()
            if v in left and sink(v):
                found = v
                break
        if found < 0:
            return None
        touched = up[found] | beside[found]
        made[found] |= beside[found]
        for w in touched:
            down[w].discard(found)
            up[w].discard(found)
            beside[w].discard(found)
        left.discard(found)
        # Vertices that were no sinks may have become so: the neighbours, and their neighbours.
        again = set(touched)
        for w in touched:
            again |= beside[w]
        waiting = sorted({*waiting, *again} & left)
    return made


def orient(parents: Sets, neighbours: Sets) -> None:
    """Direct, in place, what Meek's four rules compel (Meek 1995): no new v-structure, no cycle.

    >>> parents, neighbours = [set(), {0}, set()], [set(), {2}, {1}]
    >>> orient(parents, neighbours)
    >>> parents, neighbours
    ([set(), {0}, {1}], [set(), set(), set()])
    """

    def joined(a: int, b: int) -> bool:
        return a in parents[b] or b in parents[a] or a in neighbours[b]

    def points(a: int, b: int) -> bool:
        """Whether the edge a - b must point to b."""
        if any(not joined(c, b) for c in parents[a]):  # c -> a - b
            return True
        if any(a in parents[c] for c in parents[b]):  # a -> c -> b
            return True
        between = [c for c in neighbours[a] if c in parents[b]]  # a - c -> b
        if any(not joined(c, d) for i, c in enumerate(between) for d in between[i + 1 :]):
            return True
        return any(  # a - d -> c -> b, a joined to c, d not joined to b
            d in neighbours[a] and not joined(d, b) and joined(a, c) for c in parents[b] for d in parents[c]
        )

    waiting = {(a, b) for a in range(len(parents)) for b in neighbours[a]}
    while waiting:
        again: set[tuple[int, int]] = set()
        for a, b in sorted(waiting):
            if b in neighbours[a] and points(a, b):
                neighbours[a].discard(b)
                neighbours[b].discard(a)
                parents[b].add(a)
                around = {a, b} | neighbours[a] | neighbours[b] | parents[a] | parents[b]
                again |= {(c, d) for c in around for d in neighbours[c]}
                again |= {(d, c) for c in around for d in neighbours[c]}
        waiting = again
