"""Distances against enumeration of the joint; random networks have the sizes that were asked for."""

from __future__ import annotations

import itertools
import math
import pickle
import random

import networkx as nx
import numpy as np
import pytest

import pgm
from pgm.graphs import CPDAG, Arrows
from pgm.graphs.adjustment import Effect
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


def test_intervention_distance_by_the_adjustment_criterion():
    """Whatever is claimed: parents of another graph, or any set, below x and on causal paths too."""
    rng = random.Random(0)
    for _ in range(60):
        n = rng.randint(3, 7)
        order = rng.sample(range(n), n)
        true = [set() for _ in range(n)]
        for i, v in enumerate(order):
            true[v] = {u for u in order[:i] if rng.random() < 0.4}
        claimed = [{u for u in range(n) if u != v and rng.random() < 0.35} for v in range(n)]
        arrows = Arrows.of({v: tuple(sorted(those)) for v, those in enumerate(true)})
        graph = nx.DiGraph([(u, v) for v in range(n) for u in true[v]])
        graph.add_nodes_from(range(n))
        wrong = 0
        for x, y in itertools.permutations(range(n), 2):
            if y in claimed[x]:
                wrong += nx.has_path(graph, x, y)
            else:
                wrong += bool(Effect.of(arrows, [x], [y]).fault(claimed[x]))
        assert intervention_distance(claimed, true) == wrong


@pytest.mark.parametrize("seed", range(30))
def test_the_distance_of_classes_is_the_extreme_over_their_graphs(seed):
    rng = random.Random(seed)
    graphs = []
    for _ in range(2):
        order = rng.sample(range(5), 5)
        graph = nx.DiGraph()
        graph.add_nodes_from(range(5))
        graph.add_edges_from(pair for pair in itertools.combinations(order, 2) if rng.random() < 0.5)
        graphs.append(graph)
    mine, theirs = map(CPDAG.of, graphs)

    def parents(graph):
        return [set(graph.predecessors(v)) for v in range(5)]

    def distances(first, second):
        return [intervention_distance(parents(a), parents(b)) for a in first for b in second]

    every = distances(mine.members(), [graphs[1]])
    assert pgm.compare(mine, graphs[1]).sid == (min(every), max(every))
    every = distances([graphs[0]], theirs.members())
    assert pgm.compare(graphs[0], theirs).sid == (min(every), max(every))
    every = distances(mine.members(), theirs.members())
    assert pgm.compare(mine, theirs).sid == (min(every), max(every))
    assert pgm.compare(*graphs).sid == (intervention_distance(*map(parents, graphs)),) * 2
    assert pickle.loads(pickle.dumps(pgm.compare(mine, theirs))).sid == (min(every), max(every))


def test_the_order_of_nodes_does_not_matter_for_effects():
    truth = pgm.BayesianNetwork(edges="a -> b -> c; a -> c")
    found = pgm.BayesianNetwork(edges="c -> a; b -> a; c -> b")
    swapped = nx.DiGraph()
    swapped.add_nodes_from("cba")
    swapped.add_edges_from(found.edges)
    assert pgm.compare(found, truth).sid == pgm.compare(swapped, truth).sid == (6, 6)


def test_an_edge_that_something_else_directs_is_no_choice():
    """a -> b - c without a - c: the edge has to lead away from b, or there would be a new v-structure."""
    partly = CPDAG("abc", [("a", "b")], [("b", "c")])
    assert partly.size == 1
    assert [sorted(graph.edges) for graph in partly.members()] == [[("a", "b"), ("b", "c")]]
    known = CPDAG("abc", [("a", "b")], [("b", "c"), ("a", "c")])  # a triangle of which one arrow is known
    assert known.size == len(known.members()) == 3
    truth = nx.DiGraph([("a", "b"), ("b", "c"), ("a", "c")])
    every = [pgm.compare(graph, truth).sid[0] for graph in known.members()]
    assert pgm.compare(known, truth).sid == (min(every), max(every)) == (0, max(every))
    with pytest.raises(pgm.InvalidStructure, match="cannot all be directed"):
        CPDAG("abcd", [], [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]).members()


def test_classes_are_counted():
    cliques = nx.complete_graph(9)
    assert CPDAG(cliques.nodes, [], cliques.edges).size == math.factorial(9)
    path = [(v, v + 1) for v in range(200)]
    assert CPDAG(range(201), [], path).size == 201
    rng = random.Random(0)
    for _ in range(20):
        order = rng.sample(range(7), 7)
        graph = nx.DiGraph()
        graph.add_nodes_from(range(7))
        graph.add_edges_from(pair for pair in itertools.combinations(order, 2) if rng.random() < 0.6)
        found = CPDAG.of(graph)
        assert (
            found.size
            == len(found.members(10_000))
            == len({frozenset(g.edges) for g in found.members(10_000)})
        )
    assert len(CPDAG(cliques.nodes, [], cliques.edges).members(limit=5)) == 5
    with pytest.raises(pgm.InvalidArgument, match="limit="):
        found.members(0)


def test_too_many_graphs_of_a_class_are_refused(monkeypatch):
    from pgm.graphs import members as of_classes

    monkeypatch.setattr(of_classes, "MOST_MEMBERS", 2)
    chain = pgm.BayesianNetwork(edges="a -> b -> c")
    with pytest.raises(pgm.TooLarge, match="one component of the class that claims"):
        _ = pgm.compare(chain.cpdag(), chain).sid
    with pytest.raises(pgm.TooLarge, match="the class of the true graph"):
        _ = pgm.compare(chain, chain.cpdag()).sid


def test_distances_draw_themselves():
    truth = pgm.BayesianNetwork(edges="a -> b -> c; a -> d")
    found = pgm.compare(pgm.BayesianNetwork(edges="b -> a; b -> d; b -> c"), truth)
    ax = found.plot()
    assert ax.get_title() == "3 arcs differ (SHD), 2 of the CPDAGs"
    assert pgm.compare(truth.cpdag(), truth).plot(title="class").get_title() == "class"
    assert truth.cpdag().plot(title="chain").get_title() == "chain"
    partly = CPDAG("abc", [("a", "b"), ("b", "c"), ("c", "a")])  # a cycle is drawn too
    assert partly.plot(title="cycle").get_title() == "cycle"
    a, b = pgm.BayesianNetwork(), pgm.BayesianNetwork()
    for net, p, q in ((a, 0.5, 0.5), (b, 0.25, 0.0)):
        net.add("rain", p)
        net.add("snow", q)
    ax = pgm.distance(a, b).plot()
    assert "snow without end" in " ".join(ax.get_title().split())
    assert [text.get_text() for text in ax.get_yticklabels()] == ["rain"]


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
