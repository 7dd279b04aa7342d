"""Distances against enumeration of the joint; random networks have the sizes that were asked for."""

from __future__ import annotations

import itertools
import math
import pickle

import networkx as nx
import numpy as np
import pytest

import pgm
from pgm.graphs import CPDAG
from pgm.graphs.members import intervention_distance, is_independence_map, members
from tests.causal_oracle import Surgery
from tests.graphs.test_adjustment import ordered_graphs


@pytest.mark.parametrize("seed", range(6))
def test_divergences_by_the_joint(seed):
    a = pgm.random_network(6, arcs=8, states=(2, 3), seed=seed)
    cards = {name: v.card for name, v in a.variables.items()}
    other = pgm.random_network(6, arcs=7, states=1, seed=seed + 100)
    rng = np.random.default_rng(seed)
    b = pgm.BayesianNetwork()
    for name in other.topological_order():
        parents = list(other.parents(name))
        table = rng.dirichlet(np.ones(cards[name]), size=[cards[p] for p in parents] or None)
        b.add(name, table, parents=parents, states=list(range(cards[name])))
    names = list(a.nodes)
    p, q = (np.asarray(net.query(names).values) for net in (a, b))
    found = pgm.distance(a, b)
    assert found.kl == pytest.approx((p * np.log(p / q)).sum(), abs=1e-10)
    assert found.kl_back == pytest.approx((q * np.log(q / p)).sum(), abs=1e-10)
    assert sum(found.by_node.values()) == pytest.approx(found.kl, abs=1e-10)
    assert found.total_variation == pytest.approx((np.abs(p - q).sum() / 2,) * 2, abs=1e-12)
    assert found.hellinger == pytest.approx((math.sqrt(1 - np.sqrt(p * q).sum()),) * 2, abs=1e-7)
    assert found.exact
    assert found.shd == pgm.compare(a, b).shd


def test_bounds_hold_where_the_joint_is_large(monkeypatch):
    from pgm.models import distances

    a = pgm.random_network(8, arcs=10, seed=1)
    b = a.copy()
    rng = np.random.default_rng(0)
    for name in ("v3", "v5"):
        table = np.asarray(a.cpd(name).values)
        b.set(name, 0.8 * table + 0.2 * rng.dirichlet(np.ones(2), size=table.shape[:-1] or None))
    exact = pgm.distance(a, b)
    monkeypatch.setattr(distances, "MOST_CELLS", 1)
    found = pgm.distance(a, b)
    assert not found.exact
    for name in ("hellinger", "total_variation"):
        low, high = getattr(found, name)
        assert 0 < low <= getattr(exact, name)[0] <= high < 1
    assert {name for name, value in found.by_node.items() if value} == {"v3", "v5"}


def test_zeros_and_oneself():
    a, b = pgm.BayesianNetwork(), pgm.BayesianNetwork()
    a.add("x", 0.5)
    b.add("x", 0.0)
    assert pgm.distance(a, b).kl == math.inf
    assert pgm.distance(b, a).kl == pytest.approx(math.log(2))
    same = pgm.distance(a, a)
    assert (same.kl, same.hellinger, same.shd, same.sid, same.i_map) == (0.0, (0.0, 0.0), 0, 0, True)
    assert "KL(a || b)" in str(same)
    assert "<table" in same._repr_html_()
    assert pickle.loads(pickle.dumps(same)).to_dict() == same.to_dict()
    assert list(same.to_pandas().columns) == ["node", "kl"]


def test_intervention_distance_by_surgery():
    """On all graphs of three nodes: a claim is wrong if it fails for a random model of the true graph."""
    graphs = list(ordered_graphs(3))
    for number, true in enumerate(graphs):
        model = Surgery(true, seed=number)
        joint = model.joint()
        for claimed in graphs:
            wrong = 0
            for x, y in itertools.permutations(range(3), 2):
                truth = model.effect([y], [x])
                z = sorted(claimed[x])
                if y in z:
                    value = np.einsum(joint, [0, 1, 2], [y])[None, :].repeat(2, axis=0)
                else:
                    from tests.causal_oracle import adjusted

                    value = adjusted(joint, y, x, z)
                wrong += not np.allclose(value, truth, rtol=0, atol=1e-10)
            assert intervention_distance(claimed, true) == wrong


def test_independence_maps_by_separation():
    graphs = list(ordered_graphs(4))
    for i, j in itertools.product(range(0, 64, 5), range(0, 64, 3)):
        a, b = (nx.DiGraph([(u, v) for v, those in enumerate(graphs[k]) for u in those]) for k in (i, j))
        for graph in (a, b):
            graph.add_nodes_from(range(4))
        wanted = all(
            nx.is_d_separator(b, u, v, set(z))
            for u, v in itertools.combinations(range(4), 2)
            for k in range(3)
            for z in itertools.combinations([w for w in range(4) if w not in (u, v)], k)
            if nx.is_d_separator(a, u, v, set(z))
        )
        assert is_independence_map(graphs[i], graphs[j]) == wanted


def test_the_graphs_of_a_class_are_all_that_share_its_cpdag():
    by_class: dict[CPDAG, set[frozenset]] = {}
    for arcs in itertools.product(range(3), repeat=6):
        pairs = itertools.combinations(range(4), 2)
        graph = nx.DiGraph()
        graph.add_nodes_from(range(4))
        graph.add_edges_from(p if k == 1 else p[::-1] for p, k in zip(pairs, arcs, strict=True) if k)
        if nx.is_directed_acyclic_graph(graph):
            by_class.setdefault(CPDAG.of(graph), set()).add(frozenset(graph.edges))
    assert sum(map(len, by_class.values())) == 543
    for cpdag, graphs in by_class.items():
        found = [
            frozenset((cpdag.nodes[u], cpdag.nodes[v]) for v, those in enumerate(up) for u in those)
            for up in members(cpdag)
        ]
        assert len(found) == len(set(found))
        assert set(found) == graphs


@pytest.mark.parametrize("seed", range(5))
def test_random_networks_have_what_was_asked_for(seed):
    net = pgm.random_network(40, arcs=60, states=(2, 5), treewidth=3, max_parents=3, zeros=0.25, seed=seed)
    assert (len(net), len(net.edges)) == (40, 60)
    assert {v.card for v in net.variables.values()} <= {2, 3, 4, 5}
    assert max(len(net.parents(name)) for name in net) <= 3
    tables = [np.asarray(net.cpd(name).values) for name in net]
    entries = sum(table.size for table in tables)
    assert sum((table == 0).sum() for table in tables) == round(0.25 * entries)
    assert all(np.allclose(table.sum(axis=-1), 1.0, atol=1e-12) for table in tables)
    width, _ = nx.algorithms.approximation.treewidth_min_fill_in(net.moral_graph())
    assert width <= 3  # min-fill gives an upper bound; the true treewidth is at most that
    again = pgm.random_network(40, arcs=60, states=(2, 5), treewidth=3, max_parents=3, zeros=0.25, seed=seed)
    assert again == net
    targets, given = pgm.random_question(net, evidence=0.2, targets=2, seed=seed)
    assert (len(targets), len(given)) == (2, 8)
    assert not set(targets) & set(given)
    assert net.probability(given) > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pgm.random_network(0), "nodes= is a whole number"),
        (lambda: pgm.random_network(3, arcs=4), "more than the 3"),
        (lambda: pgm.random_network(3, zeros=0.9), "at most 0.5"),
        (lambda: pgm.random_network(3, states=(3, 2)), "states="),
        (lambda: pgm.random_network(3, concentration=0), "concentration="),
        (lambda: pgm.random_question(pgm.random_network(3, seed=0), evidence=3), "there are 3"),
        (lambda: pgm.distance(pgm.random_network(3, seed=0), "net"), "takes two Bayesian networks"),
        (
            lambda: pgm.distance(pgm.random_network(3, seed=0), pgm.random_network(4, seed=0)),
            "different nodes",
        ),
        (
            lambda: pgm.distance(pgm.random_network(3, seed=0), pgm.random_network(3, states=3, seed=0)),
            "has the states",
        ),
    ],
)
def test_mistakes(call, message):
    with pytest.raises(pgm.PGMError, match=message):
        call()
