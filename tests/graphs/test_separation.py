"""Separation against networkx and against the enumeration of all trails."""

from __future__ import annotations

import itertools
import random

import networkx as nx
import pytest

from pgm.errors import InvalidArgument, InvalidStructure, UnknownVariable
from pgm.graphs import active_trail, d_separated, independencies, moral_graph, reachable, separated


def random_dag(seed: int, n: int = 7) -> nx.DiGraph:
    rng = random.Random(seed)
    order = rng.sample([f"v{i}" for i in range(n)], n)
    graph = nx.DiGraph()
    graph.add_nodes_from(sorted(order))
    graph.add_edges_from(pair for pair in itertools.combinations(order, 2) if rng.random() < 0.35)
    return graph


def active(graph: nx.DiGraph, trail: list[str], given: set[str]) -> bool:
    """The definition: colliders are given or have descendants that are; nothing else on the way is."""
    if trail[0] in given or trail[-1] in given:
        return False
    for before, node, after in zip(trail, trail[1:], trail[2:], strict=False):
        if graph.has_edge(before, node) and graph.has_edge(after, node):
            if not ({node} | nx.descendants(graph, node)) & given:
                return False
        elif node in given:
            return False
    return True


@pytest.mark.parametrize("seed", range(25))
def test_d_separation_by_its_definition(seed):
    graph = random_dag(seed)
    rng = random.Random(seed)
    for a, b in itertools.combinations(graph, 2):
        given = set(rng.sample(sorted(set(graph) - {a, b}), rng.randrange(4)))
        trails = [t for t in nx.all_simple_paths(graph.to_undirected(), a, b) if active(graph, t, given)]
        assert d_separated(graph, a, b, given) == (not trails)
        assert d_separated(graph, a, b, given) == nx.is_d_separator(graph, a, b, given)
        found = active_trail(graph, a, b, given)
        assert (found is None) == (not trails)
        if found is not None:
            assert active(graph, list(found), given)
            assert len(set(found)) == len(found) == min(map(len, trails))
        assert (b in reachable(graph, a, given)) == bool(trails)


@pytest.mark.parametrize("seed", range(25))
def test_sets_and_the_moral_criterion(seed):
    graph = random_dag(seed, 9)
    rng = random.Random(seed)
    a, b, given = (rng.sample(sorted(graph), 2) for _ in range(3))
    ancestral = graph.subgraph(set().union(*(nx.ancestors(graph, x) | {x} for x in a + b + given)))
    assert d_separated(graph, a, b, given) == separated(moral_graph(ancestral), a, b, given)
    moral = moral_graph(graph)
    assert set(map(frozenset, moral.edges)) == set(map(frozenset, nx.moral_graph(graph).edges))
    assert list(moral) == list(graph)


@pytest.mark.parametrize("seed", range(10))
def test_independencies_hold(seed):
    graph = random_dag(seed)
    stated = {node: set(free) for node, free, _ in independencies(graph)}
    for node, free, parents in independencies(graph):
        assert d_separated(graph, node, free, parents)
    for node in graph:
        rest = set(graph) - {node} - nx.descendants(graph, node) - set(graph.predecessors(node))
        assert stated.get(node, set()) == rest


def test_what_is_given_and_oneself():
    chain = nx.DiGraph([("a", "b"), ("b", "c")])
    assert not d_separated(chain, "a", "a")
    assert d_separated(chain, "a", "a", given="a")
    assert d_separated(chain, "a", "c", given=["c"])
    assert active_trail(chain, "a", "a") == ("a",)
    assert active_trail(chain, "a", "c", given="c") is None
    assert d_separated(chain, [], "a")
    both = nx.Graph(chain)
    assert not separated(both, "a", ["a", "c"])
    assert separated(both, "a", "a", given="a")


def test_deep_graphs_do_not_recurse():
    chain = nx.path_graph(50_000, create_using=nx.DiGraph)
    trail = active_trail(chain, 0, 49_999)
    assert trail is not None
    assert len(trail) == 50_000
    assert d_separated(chain, 0, 49_999, given=[25_000])


def test_errors():
    graph = nx.DiGraph([("rain", "wet")])
    with pytest.raises(UnknownVariable, match="rain"):
        d_separated(graph, "rian", "wet")
    with pytest.raises(InvalidArgument, match="DiGraph"):
        d_separated(nx.Graph(graph), "rain", "wet")
    with pytest.raises(InvalidArgument, match="moral_graph"):
        separated(graph, "rain", "wet")
    with pytest.raises(InvalidStructure, match="cycle"):
        moral_graph(nx.DiGraph([("a", "b"), ("b", "a")]))
