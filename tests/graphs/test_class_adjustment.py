"""Sets that are right for a whole class, front doors and instruments, against their definitions."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

import pgm
from pgm.graphs import CPDAG, Arrows
from pgm.graphs.adjustment import Effect
from pgm.graphs.class_adjustment import class_adjustment_sets, local_parents
from pgm.graphs.members import members
from tests.causal_oracle import Surgery
from tests.graphs.test_adjustment import ordered_graphs


def test_classes_of_four_nodes_by_all_their_graphs():
    seen = set()
    for parents in ordered_graphs(4):
        graph = nx.DiGraph()
        graph.add_nodes_from(range(4))
        graph.add_edges_from((u, v) for v, those in enumerate(parents) for u in those)
        cpdag = CPDAG.of(graph)
        if cpdag in seen:
            continue
        seen.add(cpdag)
        every = [Arrows.of({v: tuple(sorted(up[v])) for v in range(4)}) for up in members(cpdag)]
        for x in range(4):
            found = {frozenset(up[x]) for up in members(cpdag)}
            assert {frozenset(some) for some in local_parents(cpdag, x)} == found
        for x, y in itertools.permutations(range(4), 2):
            effects = [Effect.of(arrows, [x], [y]) for arrows in every]
            others = [v for v in range(4) if v not in (x, y)]
            good = [
                frozenset(z)
                for k in range(3)
                for z in itertools.combinations(others, k)
                if not any(effect.fault(z) for effect in effects)
            ]
            wanted = {z for z in good if not any(part < z for part in good)}
            got = class_adjustment_sets(cpdag, x, y)
            assert set(got) == wanted, (cpdag, x, y)
            assert got or got.why


@pytest.mark.parametrize("seed", range(8))
def test_front_doors_give_the_effect(seed):
    """x -> a -> b -> y with hidden causes here and there: each set listed, by the formula and surgery."""
    rng = np.random.default_rng(seed)
    parents = [set(), {0}, {1}, {2}]
    common = [(0, 3)] + [pair for pair in ((1, 2), (0, 2), (1, 3)) if rng.random() < 0.4]
    graph = pgm.CausalGraph.of(
        {f"v{v}": [f"v{u}" for u in those] for v, those in enumerate(parents)},
        [(f"v{a}", f"v{b}") for a, b in common],
    )
    model = Surgery(parents, common, seed=seed)
    joint, truth = model.joint(), model.effect([3], [0])
    listed = {frozenset(int(name[1:]) for name in some) for some in graph.front_door_sets("v0", "v3")}
    good = []
    for k in (1, 2):
        for m in itertools.combinations((1, 2), k):
            p_x = joint.sum(axis=(1, 2, 3))
            both = joint.sum(axis=tuple({1, 2} - set(m)))  # x, m..., y
            m_given_x = both.sum(axis=-1) / p_x.reshape(-1, *[1] * k)
            y_given = both / both.sum(axis=-1, keepdims=True)
            inner = np.tensordot(p_x, y_given, 1)  # m..., y
            value = np.tensordot(m_given_x, inner, axes=k)
            if np.allclose(value, truth, rtol=0, atol=1e-12):
                good.append(frozenset(m))
    assert listed == {m for m in good if not any(part < m for part in good)}


def test_instruments_by_name():
    assert pgm.CausalGraph("z -> x -> y; x <-> y").instruments("x", "y") == [("z", frozenset())]
    assert pgm.CausalGraph("z -> x -> y; x <-> y; z -> y").instruments("x", "y") == []
    found = pgm.CausalGraph("w -> z -> x -> y; w -> y; x <-> y").instruments("x", "y")
    assert ("z", frozenset({"w"})) in found
    assert all(name != "w" for name, _ in found)
    assert pgm.CausalGraph("x -> y; z <-> x; x <-> y").instruments("x", "y") == [("z", frozenset())]
    with pytest.raises(pgm.UnknownVariable):
        pgm.CausalGraph("x -> y").instruments("x", "q")


def test_what_a_class_does_not_decide():
    cpdag = pgm.BayesianNetwork(edges="x -> y").cpdag()
    found = cpdag.adjustment_sets("x", "y")
    assert not found
    assert "may point either way" in str(found)
    assert pgm.CausalGraph("x -> m -> y; x <-> m").front_door_sets("x", "y") == []


@pytest.mark.parametrize("seed", range(4))
def test_the_range_has_the_effects_of_all_graphs_of_the_class(seed):
    net = pgm.random_network(5, arcs=6, seed=seed)
    cpdag = net.cpdag()
    found = pgm.effect_range(cpdag, "v2", "v4", net)
    wanted = set()
    names = list(cpdag.nodes)
    for up in members(cpdag):
        other = pgm.BayesianNetwork(edges=[(names[u], names[v]) for v, those in enumerate(up) for u in those])
        whole = pgm.BayesianNetwork()
        for name in other.topological_order():
            parents = list(other.parents(name))
            joint = np.asarray(net.query([*parents, name]).values)
            whole.add(name, joint / joint.sum(axis=-1, keepdims=True), parents=parents, states=[0, 1])
        if "v2" in whole and "v4" in whole:
            ends = [whole.do({"v2": s}).query("v4")[1] for s in (0, 1)]
            wanted.add(round(ends[1] - ends[0], 9))
    assert {round(value, 9) for _, value in found.effects} == wanted
    assert found.least == min(found.to_dict().values())
    assert "<table" in found._repr_html_()
