"""The graphs of an equivalence class, and how the causal claims of two structures differ."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from pgm.errors import TooLarge
from pgm.graphs import walks
from pgm.graphs.cpdag import CPDAG
from pgm.graphs.equivalence import Sets, orient
from pgm.graphs.walks import with_parents
from pgm.graphs.walks.compiled import Graph
from pgm.runtime.clock import Clock

MOST_MEMBERS = 10_000  # graphs of a class, or of one part of it, that are visited


def members(graph: CPDAG) -> Iterator[Sets]:
    """The parents of each vertex in all graphs of a class, graph by graph.

    One edge at a time is directed one way, then the other, with the arcs that this compels (Meek 1995).

    Args:
        graph: the class.

    Raises:
        InvalidStructure: there is none.

    >>> len(list(members(CPDAG("abc", [], [("a", "b"), ("b", "c")]))))
    3
    """
    graph.extension()  # raises if there is none
    yield from _ways(*_closed(graph))


def size(graph: CPDAG, clock: Clock) -> int:
    """The number of graphs in a class.

    Its chain components (vertices connected by undirected edges) are independent of each other. Each vertex
    of a component is the only root in some graphs; with the root chosen, the component splits into smaller
    ones (He, Jia & Yu 2015).

    Args:
        graph: the class.
        clock: of the question: there may be many components.

    >>> from pgm.runtime.clock import start_clock
    >>> size(CPDAG("abcd", [], [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]), start_clock())
    8
    """
    _, free = _closed(graph)
    if not is_class(graph):  # background knowledge may link the components
        found = 0
        for _ in members(graph):
            clock.check("counting the graphs of a class")
            found += 1
        return found
    known: dict[frozenset[int], int] = {}

    def of(part: frozenset[int], beside: Sets) -> int:
        n, edges = len(part), sum(len(beside[v]) for v in part) // 2
        if edges == n - 1:
            return n
        if edges == n * (n - 1) // 2:
            return math.factorial(n)
        if part not in known:
            clock.check("counting the graphs of a class")
            total = 0
            for root in part:
                mine = [those if v in part else set() for v, those in enumerate(beside)]
                empty: Sets = [set() for _ in mine]
                _, rest = _directed(empty, mine, [(root, v) for v in mine[root]])
                total += math.prod(of(some, rest) for some in _chain_components(rest))
            known[part] = total
        return known[part]

    return math.prod(of(part, free) for part in _chain_components(free))


def is_class(graph: CPDAG) -> bool:
    """Whether a partly directed graph is the CPDAG of a class, without background knowledge."""
    return CPDAG.of(graph.extension()) == graph


def _closed(graph: CPDAG) -> tuple[Sets, Sets]:
    """Parents and neighbours of each vertex, with all arrows that the graph compels."""
    place = {name: i for i, name in enumerate(graph.nodes)}
    parents: Sets = [set() for _ in graph.nodes]
    beside: Sets = [set() for _ in graph.nodes]
    for a, b in graph.directed:
        parents[place[b]].add(place[a])
    for a, b in graph.undirected:
        beside[place[a]].add(place[b])
        beside[place[b]].add(place[a])
    orient(parents, beside)
    return parents, beside


def _directed(parents: Sets, beside: Sets, arrows: Iterable[tuple[int, int]]) -> tuple[Sets, Sets]:
    """A copy in which these edges are arrows, with all arrows that they compel."""
    up, free = [set(those) for those in parents], [set(those) for those in beside]
    for tail, head in arrows:
        free[tail].discard(head)
        free[head].discard(tail)
        up[head].add(tail)
    orient(up, free)
    return up, free


def _chain_components(beside: Sets) -> list[frozenset[int]]:
    """The sets of vertices that are connected by undirected edges."""
    left, found = {v for v, those in enumerate(beside) if those}, []
    while left:
        stack = [left.pop()]
        part = set(stack)
        while stack:
            new = beside[stack.pop()] - part
            part |= new
            stack += new
        left -= part
        found.append(frozenset(part))
    return found


def intervention_distance(
    claimed: Sequence[Collection[int]], true: Sequence[Collection[int]], of: Collection[int] | None = None
) -> int:
    """The number of effects that the claimed parents get wrong (Peters & Bühlmann 2015).

    Adjusting for the parents that a graph claims for x gives P(y | do(x)) if it is right; if it claims that y
    is a parent of x, then x has no effect on y.

    Args:
        claimed: the parents of each vertex, as claimed.
        true: the true ones.
        of: the vertices acted on; all if left out.

    >>> intervention_distance([[], [0]], [[1], []]), intervention_distance([[], [0]], [[], [0]])
    (2, 0)
    """
    graph = with_parents([sorted(those) for those in true])
    return sum(_wrong(graph, x, claimed[x]) for x in (range(len(true)) if of is None else of))


def _wrong(graph: Graph, x: int, parents: Collection[int]) -> int:
    """The number of effects of x that adjusting for these gets wrong.

    By the adjustment criterion, the effect on y is wrong if an active walk that is not causal leads from x to
    y, or if y descends from an adjusted descendant of x, or is one.
    """
    n = graph.parents_at.size - 1
    known = walks.marks(n, parents)
    found = np.zeros(n, np.uint8)
    walks.WALKS.not_causal(graph, x, known, walks.ancestors(graph, known), found)
    below = walks.descendants(graph, walks.marks(n, [x]))
    found |= walks.descendants(graph, known & below)
    found[known != 0] = below[known != 0]
    found[x] = 0
    return int(found.sum())


def intervention_bounds(claimed: CPDAG, true: CPDAG, clock: Clock) -> tuple[int, int]:
    """Bounds on the number of effects that a graph of one class gets wrong if one of another class is true.

    The chain components of the claimed class are independent of each other, so each is enumerated alone; the
    true class is enumerated graph by graph.

    Args:
        claimed: the class whose effects are asked for; a directed graph is a class of its own.
        true: the class that has the true graph, with the same nodes in the same order.
        clock: of the question.

    Raises:
        TooLarge: too many graphs.

    >>> from pgm.runtime.clock import start_clock
    >>> chain, arrow = CPDAG("ab", [], [("a", "b")]), CPDAG("ab", [("a", "b")])
    >>> intervention_bounds(chain, arrow, start_clock()), intervention_bounds(arrow, arrow, start_clock())
    ((0, 2), (0, 0))
    """
    parents, free = _closed(claimed)
    together = [frozenset(v for v, those in enumerate(free) if those)]
    parts = _chain_components(free) if is_class(claimed) else together
    loose = {v for part in parts for v in part}
    fixed = [v for v in range(len(parents)) if v not in loose]
    choices: list[list[list[tuple[int, frozenset[int]]]]] = []
    for part in parts:
        mine = [those if v in part else set() for v, those in enumerate(free)]
        alone = _few(_ways(parents, mine), "one component of the class that claims the effects")
        choices.append([[(v, frozenset(up[v])) for v in part] for up in alone])
    least = most = -1
    for up in _few(members(true), "the class of the true graph"):
        graph = with_parents([sorted(those) for those in up])
        known: dict[tuple[int, frozenset[int]], int] = {}

        def wrong(
            x: int,
            those: frozenset[int],
            graph: Graph = graph,
            known: dict[tuple[int, frozenset[int]], int] = known,
        ) -> int:
            if (x, those) not in known:
                clock.check("comparing effects")
                known[x, those] = _wrong(graph, x, those)
            return known[x, those]

        low = high = sum(wrong(v, frozenset(parents[v])) for v in fixed)
        for ways in choices:
            counts = [sum(wrong(v, those) for v, those in way) for way in ways]
            low, high = low + min(counts), high + max(counts)
        least, most = low if least < 0 else min(least, low), max(most, high)
    return least, most


def _ways(parents: Sets, beside: Sets) -> Iterator[Sets]:
    """All ways to direct the undirected edges without a new v-structure or a cycle."""
    stack = [(parents, beside)]
    while stack:
        up, free = stack.pop()
        edge = next(((v, min(those)) for v, those in enumerate(free) if those), None)
        if edge is None:
            yield up
            continue
        stack += [_directed(up, free, [way]) for way in (edge[::-1], edge)]


def _few(graphs: Iterator[Sets], what: str) -> list[Sets]:
    found = list(islice(graphs, MOST_MEMBERS + 1))
    if len(found) > MOST_MEMBERS:
        raise TooLarge(f"There are more than {MOST_MEMBERS:,} graphs in {what}: too many to enumerate.")
    return found


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
