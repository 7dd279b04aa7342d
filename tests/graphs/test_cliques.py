"""Junction trees, chordal graphs and orders, with names."""

from __future__ import annotations

import itertools
import os
import pickle
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

from pgm.errors import InvalidArgument, InvalidStructure, UnknownVariable
from pgm.graphs import (
    ELIMINATIONS,
    JunctionTree,
    elimination_order,
    junction_tree,
    maximal_cliques,
    triangulated,
    width_bounds,
)
from tests.graphs import twins


def named(seed: int) -> nx.Graph:
    graph = nx.gnp_random_graph(seed % 12 + 1, (seed % 5 + 1) / 8, seed=seed)
    return nx.relabel_nodes(graph, {v: f"x{v}" for v in graph})


def check(graph: nx.Graph, tree: JunctionTree) -> None:
    full = triangulated(graph, tree.order)
    assert nx.is_chordal(full)
    assert {frozenset(c) for c in tree.cliques} == {frozenset(c) for c in nx.find_cliques(full)}
    assert {frozenset(c) for c in maximal_cliques(full)} == {frozenset(c) for c in tree.cliques}
    joined = tree.to_networkx()
    assert nx.is_forest(joined)
    assert nx.number_connected_components(joined) == nx.number_connected_components(graph)
    for (child, parent), separator in zip(tree.edges, tree.separators, strict=True):
        assert tree.parent[child] == parent > child
        assert set(separator) == set(tree.cliques[child]) & set(tree.cliques[parent])
    for name in graph:  # running intersection
        assert nx.is_connected(joined.subgraph([c for c in tree.cliques if name in c]))
    place = {name: i for i, name in enumerate(graph)}
    assert all(list(c) == sorted(c, key=place.__getitem__) for c in tree.cliques)


@pytest.mark.parametrize("seed", range(40))
def test_junction_trees(seed):
    graph = named(seed)
    rng = np.random.default_rng(seed)
    cards = {name: int(rng.integers(1, 5)) for name in graph}
    tree = junction_tree(graph, cards)
    check(graph, tree)
    check(graph, junction_tree(graph, order=rng.permutation(list(graph)).tolist()))
    last = list(graph)[:3]
    strong = junction_tree(graph, cards, last=last)
    check(graph, strong)
    for clique in tree.cliques:
        rooted = junction_tree(graph, cards, root=clique)
        check(graph, rooted)
        assert set(map(frozenset, rooted.cliques)) == set(map(frozenset, tree.cliques))
        assert any(
            p < 0 and set(clique) <= set(c) for c, p in zip(rooted.cliques, rooted.parent, strict=True)
        )
    assert set(strong.order[len(graph) - len(last) :]) == set(last)
    assert pickle.loads(pickle.dumps(tree)) == tree


@pytest.mark.parametrize("heuristic", ELIMINATIONS)
def test_every_heuristic_orders(heuristic):
    for seed in range(20):
        graph = named(seed)
        order = elimination_order(graph, heuristic=heuristic)
        assert sorted(order) == sorted(graph)
    assert elimination_order(nx.Graph(), heuristic=heuristic) == ()


def test_min_fill_adds_nothing_to_chordal_graphs():
    for seed in range(20):
        chordal = triangulated(named(seed), sorted(named(seed)))
        again = triangulated(chordal, elimination_order(chordal, heuristic="min-fill"))
        assert again.number_of_edges() == chordal.number_of_edges()


def treewidth(graph: nx.Graph) -> int:
    plain = nx.convert_node_labels_to_integers(graph)
    orders = itertools.permutations(range(len(plain)))
    return min(max(map(len, twins.filled(plain, order)[1]), default=0) - 1 for order in orders)


@pytest.mark.parametrize("seed", range(12))
def test_width_bounds_hold_the_treewidth(seed):
    graph = nx.gnp_random_graph(6, (seed + 2) / 14, seed=seed)
    low, high = width_bounds(graph)
    assert low <= treewidth(graph) <= high
    assert high <= low + 1


def test_known_widths():
    assert width_bounds(nx.Graph()) == (-1, -1)
    assert width_bounds(nx.empty_graph(3)) == (0, 0)
    assert width_bounds(nx.path_graph(50)) == (1, 1)
    assert width_bounds(nx.complete_graph(7)) == (6, 6)
    low, high = width_bounds(nx.grid_2d_graph(6, 6))
    assert 3 <= low <= 6 == high


def test_text_and_html():
    tree = junction_tree(nx.path_graph(["a<b", "b", "c"]))
    assert str(tree) == (
        "JunctionTree(2 cliques, 3 variables, width 1)\n"
        "clique  separator  next clique\n"
        "a<b, b  b          b, c\n"
        "b, c               (root)"
    )
    assert "a&lt;b" in tree._repr_html_()
    assert "more of 60 cliques" in str(junction_tree(nx.path_graph(61)))
    assert str(junction_tree(nx.Graph()))


def test_errors():
    square = nx.cycle_graph(["a", "b", "c", "d"])
    with pytest.raises(InvalidStructure, match="chord"):
        maximal_cliques(square)
    with pytest.raises(InvalidArgument, match="once"):
        junction_tree(square, order=["a", "b", "c"])
    with pytest.raises(InvalidArgument, match="once"):
        triangulated(square, ["a", "b", "c", "c"])
    with pytest.raises(UnknownVariable):
        elimination_order(square, last=["z"])
    with pytest.raises(InvalidArgument, match="min-fill"):
        elimination_order(square, heuristic="min-fil")
    with pytest.raises(InvalidArgument, match="states"):
        elimination_order(square, cards={"a": 2, "b": 2, "c": 0, "d": 2})
    with pytest.raises(InvalidArgument, match="no number of states for 'd'"):
        elimination_order(square, cards={"a": 2, "b": 2, "c": 2})
    with pytest.raises(InvalidArgument, match="not both"):
        junction_tree(square, order="abcd", last="a")
    with pytest.raises(InvalidArgument, match="Give root= or last=, not both"):
        junction_tree(square, root="a", last="a")
    with pytest.raises(
        InvalidArgument, match=r"No clique contains all of 'b', 'd'.*the cliques are a, b, c; a, c, d"
    ):
        junction_tree(square, order="bdac", root=["b", "d"])
    with pytest.raises(UnknownVariable, match="'e'"):
        junction_tree(square, root="e")
    with pytest.raises(InvalidArgument, match="moral_graph"):
        junction_tree(nx.DiGraph(square))


def test_the_hash_seed_changes_nothing():
    program = (
        "import networkx as nx, pgm.graphs as g;"
        "graph = nx.relabel_nodes(nx.gnp_random_graph(40, 0.1, seed=1), str);"
        "print(g.junction_tree(graph), g.elimination_order(graph), g.width_bounds(graph))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }  # fmt: skip
    assert len(outputs) == 1
