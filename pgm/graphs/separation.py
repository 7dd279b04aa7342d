"""Which variables depend on which others, given some: d-separation and separation, in linear time."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from pgm.graphs import walks
from pgm.graphs.naming import directed, members, undirected
from pgm.graphs.walks import Arrows
from pgm.printing import ROWS, html_table, joined, label, text_table

if TYPE_CHECKING:
    import networkx as nx
else:
    from pgm.graphs import networkx_later as nx


def d_separated(graph: nx.DiGraph[Any] | Arrows, a: Any, b: Any, given: Any = ()) -> bool:
    """Tell whether the graph makes `a` and `b` independent given others (each a name or several).

    A node that is given is separated from everything.

    >>> graph = nx.DiGraph([("rain", "wet"), ("sprinkler", "wet")])
    >>> d_separated(graph, "rain", "sprinkler"), d_separated(graph, "rain", "sprinkler", "wet")
    (True, False)
    """
    arrows, (one, other, known) = _indices(graph, a, b, given)
    return walks.d_separated(arrows.graph, one, other, known)


def reachable(graph: nx.DiGraph[Any] | Arrows, start: Any, given: Any = ()) -> tuple[Any, ...]:
    """Return the nodes d-connected to `start` given others, itself included, nearest first."""
    arrows, (starts, known) = _indices(graph, start, given)
    observed = walks.marks(len(arrows.names), known)
    states, _ = walks.walk(arrows.graph, starts, observed)
    found = dict.fromkeys((states >> 1).tolist())
    return tuple([arrows.names[v] for v in found if not observed[v]])


def active_trail(graph: nx.DiGraph[Any] | Arrows, a: Any, b: Any, given: Any = ()) -> tuple[Any, ...] | None:
    """Return a shortest active path between `a` and `b` given others, or None if they are d-separated.

    >>> graph = nx.DiGraph([("rain", "wet"), ("sprinkler", "wet"), ("wet", "slippery")])
    >>> active_trail(graph, "rain", "sprinkler", given=["slippery"])
    ('rain', 'wet', 'sprinkler')
    """
    arrows, ((start,), (goal,), known) = _indices(graph, [a], [b], given)
    if start in known or goal in known:
        return None
    states, came = walks.walk(arrows.graph, [start], walks.marks(len(arrows.names), known), goal)
    there = (states >> 1 == goal).nonzero()[0]
    if not there.size:
        return None
    state = int(states[there[0]])
    trail = []
    # A shortest walk visits no node twice: to come back it would have turned at an open collider below,
    # which makes the node itself open.
    while state >= 0:
        trail.append(arrows.names[state >> 1])
        state = int(came[state])
    return tuple(reversed(trail))


def _indices(graph: nx.DiGraph[Any] | Arrows, *sets: Any) -> tuple[Arrows, list[list[int]]]:
    """The graph as arrays, and the vertices of each of some sets of names."""
    arrows = graph if isinstance(graph, Arrows) else Arrows.of(graph)
    return arrows, [[arrows.index[name] for name in members(arrows.index, some)] for some in sets]


def separated(graph: nx.Graph[Any], a: Any, b: Any, given: Any = ()) -> bool:
    """Tell whether every path between `a` and `b` passes through a given node (each a name or several).

    >>> separated(nx.Graph([("a", "b"), ("b", "c")]), "a", "c", given="b")
    True
    """
    undirected(graph)
    goal, seen = set(members(graph, b)), set(members(graph, given))
    goal -= seen
    waiting = [node for node in members(graph, a) if node not in seen]
    seen.update(waiting)
    while waiting:
        node = waiting.pop()
        if node in goal:
            return False
        for other in graph[node]:
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return True


class Independencies(tuple[tuple[Any, tuple[Any, ...], tuple[Any, ...]], ...]):
    """Statements (node, what it is independent of, given what): a tuple that prints as a table."""

    __slots__ = ()

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [
            [label(node), joined(free, len(free)), joined(given, len(given)) or "-"]
            for node, free, given in self[:ROWS]
        ]
        more = len(self) - len(rows)
        notes = f"... {more:,} more of {len(self):,} nodes" if more else ""
        return ["node", "independent of", "given"], rows, notes

    def __repr__(self) -> str:
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())


def independencies(graph: nx.DiGraph[Any]) -> Independencies:
    """Return the local Markov property: each node, what it is independent of, and given what (its parents).

    These statements imply all others that the graph encodes (Pearl 1988). Nodes independent of nothing are
    left out. Time and memory grow with the square of the number of nodes: each names most of the others.

    >>> independencies(nx.DiGraph([("rain", "wet"), ("wet", "slippery")]))
    node      independent of  given
    slippery  rain            wet
    """
    directed(graph)
    bit = {node: 1 << i for i, node in enumerate(graph)}
    below: dict[Any, int] = {}  # each node and its descendants
    for node in reversed(list(nx.topological_sort(graph))):
        below[node] = reduce(or_, [below[child] for child in graph.successors(node)], bit[node])
    found = []
    for node in graph:
        parents = tuple(graph.predecessors(node))
        not_free = reduce(or_, [bit[parent] for parent in parents], below[node])
        flags = f"{not_free:0{len(bit)}b}"[::-1]
        free = tuple(other for other, flag in zip(graph, flags, strict=True) if flag == "0")
        if free:
            found.append((node, free, parents))
    return Independencies(found)
