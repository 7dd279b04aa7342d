"""Elimination orders for networkx graphs, and bounds on the treewidth; inference uses triangulation.py."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument, listed, nearest, shown
from pgm.graphs.naming import IndexedGraph, undirected
from pgm.graphs.triangulation import LOOPS, triangulate

if TYPE_CHECKING:
    import networkx as nx
else:
    from pgm.graphs import networkx_later as nx

# The rules of `LOOPS.greedy`, by rule number.
_RULES = {"min-weight": 0, "min-fill": 1, "weighted-fill": 2}
ELIMINATIONS = ("best", *_RULES, "cuthill-mckee")


def elimination_order(
    graph: nx.Graph[Any],
    cards: Mapping[Any, int] | None = None,
    heuristic: str = "best",
    last: Iterable[Any] = (),
) -> tuple[Any, ...]:
    """Return an elimination order with small cliques.

    Args:
        graph: undirected; see `moral_graph` for a directed one.
        cards: number of states of each node; two if left out.
        heuristic: "best" tries them all and more; "min-fill" eliminates the node that adds the fewest edges
            next, "weighted-fill" the one whose new edges have the least sum of products of cards,
            "min-weight" the one with the smallest clique; "cuthill-mckee" is a breadth-first order, reversed.
        last: nodes to eliminate after all others.

    >>> elimination_order(nx.path_graph(["a", "b", "c"]), heuristic="min-fill", last=["a"])
    ('c', 'b', 'a')
    """
    if heuristic not in ELIMINATIONS:
        raise InvalidArgument(
            f"There is no heuristic {shown(heuristic)}; there are {listed(ELIMINATIONS)}."
            + nearest(heuristic, ELIMINATIONS)
        )
    g = IndexedGraph.of(graph, cards)
    n, stage = len(g.names), g.stages(last)
    if heuristic == "best" or n == 0:
        order = triangulate(g.indptr, g.indices, g.log2_card, stage=stage).order
    else:
        order = np.empty(n, np.int32)
        if heuristic == "cuthill-mckee":
            if stage.any():
                raise InvalidArgument('"cuthill-mckee" cannot keep nodes for last; another heuristic can.')
            LOOPS.cuthill_mckee(g.indptr, g.indices, order)
        else:
            rule = _RULES[heuristic]
            weight = np.floor(2.0 ** np.minimum(g.log2_card, 20.0) + 0.5) if rule == 2 else np.ones(n)
            missing = np.zeros(n)
            if rule:
                LOOPS.missing_edges(g.indptr, g.indices, weight, missing, np.zeros(1, np.uint8))
            LOOPS.greedy(
                g.indptr, g.indices, g.log2_card, stage, weight, missing, np.ones(n), rule,
                math.inf, math.inf, order, np.zeros(1, np.uint8),
            )  # fmt: skip
    return tuple(g.names[v] for v in order.tolist())


def width_bounds(graph: nx.Graph[Any]) -> tuple[int, int]:
    """Return a lower and an upper bound on the treewidth.

    The lower is the contraction degeneracy: treewidth is at least the least degree of any minor (Bodlaender,
    Koster & Wolle 2006, "least-c"). The upper is the width of the best elimination order found.

    >>> width_bounds(nx.cycle_graph(5))
    (2, 2)
    """
    undirected(graph)
    if not graph:
        return -1, -1
    g = IndexedGraph.of(graph)
    found = triangulate(g.indptr, g.indices, g.log2_card)
    return _least_c(g), round(found.log2_largest) - 1


def _least_c(g: IndexedGraph) -> int:
    near = [set(g.indices[g.indptr[v] : g.indptr[v + 1]].tolist()) for v in range(len(g.names))]
    queue = [(len(others), v) for v, others in enumerate(near)]
    heapq.heapify(queue)
    bound = 0
    while queue:
        degree, v = heapq.heappop(queue)
        if degree != len(near[v]) or degree < 0:
            continue
        bound = max(bound, degree)
        if degree == 0:
            continue
        # Contract into the neighbour with the fewest common neighbours, which loses the fewest edges.
        into = min(near[v], key=lambda u: (len(near[u] & near[v]), u))
        for u in near[v]:
            near[u].discard(v)
            if u != into:
                near[u].add(into)
                near[into].add(u)
        for u in (*near[v], into):
            heapq.heappush(queue, (len(near[u]), u))
        near[v] = set()
    return bound
