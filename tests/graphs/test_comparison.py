"""Distances between structures, beside worked examples and a count of pairs."""

from __future__ import annotations

import itertools
import pickle

import networkx as nx
import numpy as np
import pytest

import pgm
from pgm.graphs import CPDAG


def dag(rng: np.random.Generator, n: int) -> nx.DiGraph[str]:
    names = [f"x{i}" for i in rng.permutation(n)]
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(sorted(names))
    graph.add_edges_from(pair for pair in itertools.combinations(names, 2) if rng.random() < 0.4)
    return graph


def test_the_distance_counts_the_pairs_that_differ() -> None:
    """Of adjacency matrices, pair by pair: the definition."""
    rng = np.random.default_rng(1)
    for _ in range(30):
        a, b = dag(rng, 6), dag(rng, 6)
        found = pgm.compare(a, b)
        nodes = sorted(a)
        one, other = (nx.to_numpy_array(g, nodelist=nodes) for g in (a, b))
        different = sum(
            (one[i, j], one[j, i]) != (other[i, j], other[j, i])
            for i, j in itertools.combinations(range(6), 2)
        )
        assert found.shd == different
        assert set(found.extra) == {arc for arc in a.edges if arc not in b.edges and arc[::-1] not in b.edges}
        assert set(found.missing) == {
            arc for arc in b.edges if arc not in a.edges and arc[::-1] not in a.edges
        }
        assert set(found.reversed) == {arc for arc in b.edges if arc[::-1] in a.edges}
        assert set(found.common) == set(a.edges) & set(b.edges)
        assert found.shd_cpdag == pgm.compare(CPDAG.of(a), CPDAG.of(b)).shd
        assert pickle.loads(pickle.dumps(found)) == found


def test_what_no_data_can_tell_apart_has_no_distance() -> None:
    asia = pgm.load_network("asia")
    turned = nx.DiGraph(asia.edges)
    turned.remove_edge("smoke", "bronc")
    turned.add_edge("bronc", "smoke")
    found = pgm.compare(turned, asia)
    assert (found.shd, found.shd_cpdag) == (1, 0)
    assert found.reversed == (("smoke", "bronc"),)
    assert (found.precision, found.recall) == (1.0, 1.0)


def test_shares_of_arcs() -> None:
    found = pgm.compare(
        nx.DiGraph([("a", "b"), ("b", "c")]), nx.DiGraph([("b", "a"), ("a", "c"), ("b", "c")])
    )
    assert (found.precision, found.recall) == (1.0, 2 / 3)
    assert list(found.to_pandas()["arc"]) == ["common", "missing", "reversed"]
    assert "missing       a -> c" in repr(found)
    assert "a -&gt; c" in found._repr_html_()


def test_what_cannot_be_compared() -> None:
    with pytest.raises(pgm.InvalidArgument, match="the second is 'asia'"):
        pgm.compare(nx.DiGraph([("a", "b")]), "asia")
    with pytest.raises(pgm.InvalidStructure, match="only the first has 'b'"):
        pgm.compare(nx.DiGraph([("a", "b")]), nx.DiGraph([("a", "c")]))
    with pytest.raises(AttributeError, match="does not change"):
        pgm.compare(nx.DiGraph([("a", "b")]), nx.DiGraph([("a", "b")])).shd = 1
