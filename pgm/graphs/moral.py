"""Moralise a directed graph: the undirected graph in which every family is a clique."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from pgm.graphs.naming import directed

if TYPE_CHECKING:
    import networkx as nx
else:
    from pgm.graphs import networkx_later as nx


def moral_graph(graph: nx.DiGraph[Any]) -> nx.Graph[Any]:
    """Return the moral graph: undirected, with the parents of every common child joined.

    >>> graph = nx.DiGraph([("rain", "wet"), ("sprinkler", "wet")])
    >>> moral_graph(graph).has_edge("rain", "sprinkler")
    True
    """
    directed(graph)
    moral: nx.Graph[Any] = nx.Graph()
    moral.add_nodes_from(graph.nodes(data=True))
    moral.add_edges_from(graph.edges)
    for child in graph:
        moral.add_edges_from(combinations(graph.predecessors(child), 2))
    return moral
