"""Which arrows carry information between two variables, and which would if nothing blocked them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from typing import Any, TypeAlias

import networkx as nx

from .naming import directed, members

Arc: TypeAlias = tuple[Any, Any]


def trails(graph: nx.DiGraph[Any], a: Hashable, b: Hashable, given: Any = ()) -> tuple[set[Arc], set[Arc]]:
    """Return the arrows on active trails between two nodes given others, and those on blocked ones only.

    A trail is active if every collider on it is given or has a descendant that is, and nothing else on it is
    given (Koller & Friedman 2009, definition 3.6). Trails are too many to list, so an arrow counts as
    active if some active walk without U-turns uses it; in rare cases such a walk must cross itself.

    >>> graph = nx.DiGraph([("sky", "rain"), ("sky", "lawn"), ("rain", "wet"), ("lawn", "wet")])
    >>> active, blocked = trails(graph, "rain", "lawn")
    >>> sorted(active), sorted(blocked)
    ([('sky', 'lawn'), ('sky', 'rain')], [('lawn', 'wet'), ('rain', 'wet')])
    """
    directed(graph)
    (start,), (goal,) = members(graph, [a]), members(graph, [b])
    observed = set(members(graph, given))
    between = _between(graph, start, goal)
    if {start, goal} & observed:
        return set(), between
    opened = set(observed)
    for node in reversed(list(nx.topological_sort(graph))):
        if any(child in opened for child in graph.successors(node)):
            opened.add(node)
    there, back = (_steps(between, end, observed, opened) for end in (start, goal))
    active = {(x, y) for x, y in between for u, v in ((x, y), (y, x)) if (u, v) in there and (v, u) in back}
    return active, between - active


def _steps(between: set[Arc], start: Hashable, observed: set[Any], opened: set[Any]) -> set[Arc]:
    """Return the steps from node to node, with or against an arrow, of active walks without U-turns."""
    near: dict[Hashable, list[Hashable]] = defaultdict(list)
    for tail, head in between:
        near[tail].append(head)
        near[head].append(tail)
    stack = [(start, other) for other in near[start]]
    found = set(stack)
    while stack:
        before, node = stack.pop()
        for after in near[node]:
            collider = (before, node) in between and (after, node) in between
            passes = node in opened if collider else node not in observed
            if passes and after != before and (node, after) not in found:
                found.add((node, after))
                stack.append((node, after))
    return found


def _between(graph: nx.DiGraph[Any], start: Hashable, goal: Hashable) -> set[Arc]:
    """Return the arrows on paths, whatever their directions, that visit no node twice."""
    skeleton = nx.Graph(list(graph.edges))
    if start == goal or start not in skeleton or goal not in skeleton:
        return set()
    # If the two are joined by an edge, the edges on simple paths are those in its block (Menger).
    joined = skeleton.has_edge(start, goal)
    skeleton.add_edge(start, goal)
    for block in nx.biconnected_component_edges(skeleton):
        pairs = {frozenset(pair) for pair in block}
        if frozenset((start, goal)) in pairs:
            if not joined:
                pairs.discard(frozenset((start, goal)))
            return {(tail, head) for tail, head in graph.edges if frozenset((tail, head)) in pairs}
    return set()
