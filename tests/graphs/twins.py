"""Slow twins of pgm/graphs/compiled.py: checked by eye, by networkx and sets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import networkx as nx
import numpy as np


def arrays(graph: nx.Graph) -> tuple[np.ndarray, np.ndarray]:
    """`indptr` and `indices` of a graph on 0..n-1."""
    n = graph.number_of_nodes()
    lists = [sorted(set(graph[v]) - {v}) for v in range(n)]
    indptr = np.zeros(n + 1, np.int64)
    indptr[1:] = np.cumsum([len(near) for near in lists], dtype=np.int64)
    return indptr, np.array([u for near in lists for u in near], np.int32)


def filled(graph: nx.Graph, order: Sequence[int]) -> tuple[nx.Graph, list[set[int]]]:
    """The graph with the edges that eliminating in this order adds, and the clique of each step."""
    full, left, cliques = graph.copy(), graph.copy(), []
    for v in order:
        near = set(left[v])
        cliques.append(near | {v})
        pairs = list(itertools.combinations(sorted(near), 2))
        left.add_edges_from(pairs)
        full.add_edges_from(pairs)
        left.remove_node(v)
    return full, cliques


def maximal(cliques: Sequence[set[int]]) -> set[frozenset[int]]:
    """The cliques that lie within no other."""
    distinct = {frozenset(c) for c in cliques}
    return {c for c in distinct if not any(c < d for d in distinct)}


def log2_sum(cliques: Sequence[frozenset[int]] | set[frozenset[int]], log2_card: np.ndarray) -> float:
    """log2 of the number of entries of all tables."""
    return (
        math.log2(sum(2.0 ** sum(log2_card[v] for v in sorted(c)) for c in cliques)) if cliques else -math.inf
    )


def missing_edges(graph: nx.Graph, weight: np.ndarray) -> list[float]:
    """The weight of the pairs of neighbours of each vertex that are not edges."""
    return [
        float(
            sum(
                weight[a] * weight[b]
                for a, b in itertools.combinations(graph[v], 2)
                if not graph.has_edge(a, b)
            )
        )
        for v in range(graph.number_of_nodes())
    ]


def greedy(graph: nx.Graph, log2_card: np.ndarray, weight: np.ndarray, fills: bool) -> list[int]:
    """The order of least cost, scored afresh at every step; what lies in the last clique goes first."""
    left, order, free = graph.copy(), [], -1
    while left:
        if free >= 0:
            v = free
        else:

            def score(u: int) -> tuple[float, int]:
                size = sum(log2_card[x] for x in [u, *left[u]])
                pairs = (
                    weight[a] * weight[b]
                    for a, b in itertools.combinations(left[u], 2)
                    if not left.has_edge(a, b)
                )
                return (round((sum(pairs) if fills else 0.0) + 0.001 * size, 9), u)

            v = min(left, key=score)
        order.append(v)
        near = list(left[v])
        left.add_edges_from(itertools.combinations(near, 2))
        left.remove_node(v)
        free = max((u for u in near if left.degree(u) == len(near) - 1), default=-1)
    return order


def least_clique(graph: nx.Graph, log2_card: np.ndarray) -> float:
    """The largest of the least weights of a vertex with its neighbours, as these vertices are taken away."""
    left, most = graph.copy(), -np.inf
    while left:
        weight, v = min((sum(log2_card[[u, *left[u]]]), u) for u in left)
        most = max(most, weight)
        left.remove_node(v)
    return most


def cuthill_mckee(graph: nx.Graph) -> list[int]:
    """Breadth first by degree, from the last vertex of such a walk from the last of such a walk; reversed."""
    found: list[int] = []

    def walk(root: int) -> list[int]:
        order = [root]
        for v in order:  # grows while it is read
            order += sorted((u for u in graph[v] if u not in order), key=lambda u: (graph.degree(u), u))
        return order

    for root in sorted(graph, key=lambda u: (graph.degree(u), u)):
        if root not in found:
            found += walk(walk(walk(root)[-1])[-1])
    return found[::-1]


def of_edges(n: int, one: np.ndarray, two: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`indptr` and `indices` of distinct edges, without a loop."""
    ends = np.lexsort((np.r_[two, one], np.r_[one, two]))
    indptr = np.zeros(n + 1, np.int64)
    indptr[1:] = np.cumsum(np.bincount(np.r_[one, two], minlength=n))
    return indptr, np.r_[two, one][ends].astype(np.int32)
