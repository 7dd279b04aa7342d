"""Which variables depend on which others, given some: d-separation and separation, in linear time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

import networkx as nx

from pgm.graphs.naming import directed, members, undirected
from pgm.printing import ROWS, html_table, joined, label, text_table

_State = tuple[Any, bool]  # a node, and whether the trail came down to it from a parent


def d_separated(graph: nx.DiGraph[Any], a: Any, b: Any, given: Any = ()) -> bool:
    """Say whether the graph makes `a` and `b` independent given others (each a name or several).

    A node that is given is separated from everything.

    >>> graph = nx.DiGraph([("rain", "wet"), ("sprinkler", "wet")])
    >>> d_separated(graph, "rain", "sprinkler"), d_separated(graph, "rain", "sprinkler", "wet")
    (True, False)
    """
    found = reachable(graph, a, given)
    return not any(name in found for name in members(graph, b))


def reachable(graph: nx.DiGraph[Any], start: Any, given: Any = ()) -> tuple[Any, ...]:
    """Return the nodes d-connected to `start` given others, itself included, nearest first.

    A walk over (node, direction): Koller & Friedman 2009, algorithm 3.1.
    """
    directed(graph)
    observed = set(members(graph, given))
    came = _walk(graph, members(graph, start), observed, None)
    return tuple(dict.fromkeys(node for node, _ in came if node not in observed))


def active_trail(graph: nx.DiGraph[Any], a: Any, b: Any, given: Any = ()) -> tuple[Any, ...] | None:
    """Return a shortest active path between `a` and `b` given others, or None if they are d-separated.

    >>> graph = nx.DiGraph([("rain", "wet"), ("sprinkler", "wet"), ("wet", "slippery")])
    >>> active_trail(graph, "rain", "sprinkler", given=["slippery"])
    ('rain', 'wet', 'sprinkler')
    """
    directed(graph)
    (start,), (goal,) = members(graph, [a]), members(graph, [b])
    observed = set(members(graph, given))
    if start in observed or goal in observed:
        return None
    came = _walk(graph, (start,), observed, goal)
    state = next((state for state in ((goal, False), (goal, True)) if state in came), None)
    if state is None:
        return None
    trail = []
    # A shortest walk visits no node twice: to come back it would have turned at an open collider below,
    # which makes the node itself open.
    while state is not None:
        trail.append(state[0])
        state = came[state]
    return tuple(reversed(trail))


def _walk(
    graph: nx.DiGraph[Any], start: Iterable[Any], observed: set[Any], goal: Any
) -> dict[_State, _State | None]:
    """Return each state reached with its predecessor, breadth first, until the goal."""
    opened = _with_ancestors(graph, observed)
    came: dict[_State, _State | None] = {(node, False): None for node in start if node not in observed}
    queue = deque(came)
    while queue:
        state = queue.popleft()
        node, from_parent = state
        if node == goal and goal is not None:
            break
        if node not in observed:
            for child in graph.successors(node):
                if (child, True) not in came:
                    came[child, True] = state
                    queue.append((child, True))
        # Up to the parents: through an unobserved chain or fork, or an opened collider.
        if (node in opened) if from_parent else (node not in observed):
            for parent in graph.predecessors(node):
                if (parent, False) not in came:
                    came[parent, False] = state
                    queue.append((parent, False))
    return came


def _with_ancestors(graph: nx.DiGraph[Any], nodes: Iterable[Any]) -> set[Any]:
    found = set(nodes)
    waiting = list(found)
    while waiting:
        for parent in graph.predecessors(waiting.pop()):
            if parent not in found:
                found.add(parent)
                waiting.append(parent)
    return found


def separated(graph: nx.Graph[Any], a: Any, b: Any, given: Any = ()) -> bool:
    """Say whether every path between `a` and `b` passes through a given node (each a name or several).

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
    left out.

    >>> independencies(nx.DiGraph([("rain", "wet"), ("wet", "slippery")]))
    node      independent of  given
    slippery  rain            wet
    """
    directed(graph)
    found = []
    for node in graph:
        parents = tuple(graph.predecessors(node))
        not_free = {node, *parents, *nx.descendants(graph, node)}
        free = tuple(other for other in graph if other not in not_free)
        if free:
            found.append((node, free, parents))
    return Independencies(found)
