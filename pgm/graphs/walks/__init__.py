"""Arrows as arrays, and walks over them: ancestors, d-connection, trails; all linear in the arrows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidStructure
from pgm.graphs.naming import directed
from pgm.runtime.loops import Loops

from .compiled import NOT_YET, START, Graph

if TYPE_CHECKING:
    import networkx as nx
else:
    from pgm.graphs import networkx_later as nx

WALKS = Loops("pgm.graphs.walks.compiled", "walking over arrows")


@dataclass(frozen=True, eq=False, slots=True)
class Arrows:
    """A directed acyclic graph: vertex v is `names[v]`, its parents and children are in `graph`."""

    names: tuple[Any, ...]
    index: dict[Any, int]
    graph: Graph

    @classmethod
    def of(cls, graph: nx.DiGraph[Any] | Mapping[Any, Sequence[Any]]) -> Arrows:
        """Take a networkx graph, which is checked, or the parents of each node."""
        if not isinstance(graph, Mapping):
            directed(graph, acyclic=False)
            names = tuple(graph)
            index = {name: i for i, name in enumerate(names)}
            lists = [[index[u] for u in graph.pred[name]] for name in names]
            found = cls(names, index, with_parents(lists))
            if len(found.order()) < len(names):
                raise InvalidStructure("The graph has a directed cycle.")
            return found
        names = tuple(graph)
        index = dict(zip(names, range(len(names)), strict=True))
        counts = np.fromiter(map(len, graph.values()), np.int64, len(names))
        tails = np.fromiter(map(index.__getitem__, chain.from_iterable(graph.values())), np.int64)
        return cls(names, index, from_pairs(len(names), tails, np.repeat(np.arange(len(names)), counts)))

    def flags(self, names: Iterable[Any]) -> np.ndarray:
        """A byte for each vertex: 1 for those with these names."""
        return marks(len(self.names), [self.index[name] for name in names])

    def listed(self, flags: np.ndarray) -> tuple[Any, ...]:
        """The names of the vertices that are marked, in order."""
        return tuple([self.names[v] for v in np.flatnonzero(flags).tolist()])

    def order(self) -> np.ndarray:
        """The vertices with parents before children; those on a cycle, or below one, are left out."""
        order = np.empty(len(self.names), np.int64)
        return order[: WALKS.sorted_vertices(self.graph, order)]


def marks(n: int, vertices: Collection[int] | np.ndarray) -> np.ndarray:
    """A byte for each of n vertices: 1 for these."""
    found = np.zeros(n, np.uint8)
    found[np.fromiter(vertices, np.int64, len(vertices))] = 1
    return found


def with_parents(parents: Sequence[Collection[int]]) -> Graph:
    """The graph in which each vertex has these parents.

    >>> with_parents([[], [0], [0, 1]]).children.tolist()
    [1, 2, 2]
    """
    counts = np.fromiter(map(len, parents), np.int64, len(parents))
    tails = np.fromiter(chain.from_iterable(parents), np.int64, int(counts.sum()))
    return from_pairs(len(parents), tails, np.repeat(np.arange(len(parents)), counts))


def from_pairs(n: int, tails: np.ndarray, heads: np.ndarray) -> Graph:
    """The graph of n vertices with these arrows."""
    return Graph(*_lists(n, heads, tails), *_lists(n, tails, heads))


def pairs(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Tails and heads of the arrows, sorted by heads."""
    n = graph.parents_at.size - 1
    return graph.parents, np.repeat(np.arange(n), np.diff(graph.parents_at))


def without(graph: Graph, dropped: np.ndarray) -> Graph:
    """The graph without some of its arrows, in the order of `pairs`."""
    tails, heads = pairs(graph)
    return from_pairs(graph.parents_at.size - 1, tails[~dropped], heads[~dropped])


def _lists(n: int, keys: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    at = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(keys, minlength=n), out=at[1:])
    return at, np.ascontiguousarray(values[np.argsort(keys, kind="stable")], np.int64)


def ancestors(graph: Graph, flags: np.ndarray) -> np.ndarray:
    """Mark these vertices and their ancestors."""
    found = flags.copy()
    WALKS.spread(graph.parents_at, graph.parents, found)
    return found


def descendants(graph: Graph, flags: np.ndarray) -> np.ndarray:
    """Mark these vertices and their descendants."""
    found = flags.copy()
    WALKS.spread(graph.children_at, graph.children, found)
    return found


def walk(
    graph: Graph, start: Iterable[int], observed: np.ndarray, goal: int = -1
) -> tuple[np.ndarray, np.ndarray]:
    """The states of active walks in the order in which they are reached, and the one before each.

    Koller & Friedman 2009, algorithm 3.1; what a state is: see `compiled.walk`.
    """
    n = observed.size
    came = np.full(2 * n, NOT_YET, np.int64)
    queue = np.empty(2 * n, np.int64)
    first = [2 * v for v in dict.fromkeys(start) if not observed[v]]
    queue[: len(first)] = first
    came[first] = START
    size = WALKS.walk(graph, observed, ancestors(graph, observed), goal, came, queue, len(first))
    return queue[:size], came


def connected(graph: Graph, start: Iterable[int], observed: np.ndarray) -> np.ndarray:
    """Mark the vertices d-connected to the starts given the observed ones, themselves included."""
    reached, _ = walk(graph, start, observed)
    found = np.zeros(observed.size, np.uint8)
    found[reached >> 1] = 1
    found[observed != 0] = 0
    return found


def d_separated(graph: Graph, a: Iterable[int], b: Iterable[int], given: Collection[int] = ()) -> bool:
    """Whether two sets of vertices are d-separated by a third; what is given is separated from everything.

    >>> d_separated(with_parents([[], [], [0, 1]]), [0], [1]), d_separated(with_parents([[], [0]]), [0], [1])
    (True, False)
    """
    found = connected(graph, a, marks(graph.parents_at.size - 1, given))
    return not any(found[v] for v in b)


def trail_arrows(
    graph: Graph, start: int, goal: int, observed: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Tails and heads of all arrows; which lie on a path between the two, and which of them are active."""
    tails, heads = pairs(graph)
    m, n = tails.size, observed.size
    begins, ends = np.concatenate([tails, heads]), np.concatenate([heads, tails])
    order = np.argsort(begins, kind="stable")
    at = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(begins, minlength=n), out=at[1:])
    kept = np.zeros(m, np.uint8)
    if start != goal:
        WALKS.between(at, np.ascontiguousarray(ends[order]), order % max(m, 1), start, goal, kept)
    active = np.zeros(m, bool)
    if kept.any() and not observed[start] and not observed[goal]:
        keep = np.flatnonzero(np.concatenate([kept, kept]))
        order = keep[np.argsort(begins[keep], kind="stable")]
        np.cumsum(np.bincount(begins[order], minlength=n), out=at[1:])
        place = np.empty(2 * m, np.int64)
        place[order] = np.arange(order.size)
        back = place[np.where(order < m, order + m, order - m)]
        near, down = np.ascontiguousarray(ends[order]), (order < m).astype(np.uint8)
        opened = ancestors(graph, observed)
        there, here = np.zeros(order.size, np.uint8), np.zeros(order.size, np.uint8)
        for end, found in ((start, there), (goal, here)):
            WALKS.steps(at, near, back, down, observed, opened, end, found)
        active[order[(there & here[back]) != 0] % m] = True
    return tails, heads, kept != 0, active
