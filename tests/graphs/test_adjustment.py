"""Adjustment sets against tables: those listed give the effect, no part of them does, and none is missing."""

from __future__ import annotations

import itertools
import pickle
import random

import networkx as nx
import numpy as np
import pytest

import pgm
from pgm.graphs import CPDAG, Arrows, adjustment_sets
from pgm.graphs.adjustment import Effect
from pgm.graphs.separators import Separation
from pgm.graphs.walks import with_parents
from tests.causal_oracle import Surgery, adjusted


def numbered(parents):
    return Arrows(tuple(range(len(parents))), {v: v for v in range(len(parents))}, with_parents(parents))


def by_tables(parents, x, y, seed=0):
    """The minimal sets that give the effect for two random models, and so, all but surely, for every one."""
    models = [Surgery(parents, seed=seed + k) for k in range(2)]
    joints, effects = [m.joint() for m in models], [m.effect([y], [x]) for m in models]
    others = [v for v in range(len(parents)) if v not in (x, y)]
    good = [
        frozenset(z)
        for k in range(len(others) + 1)
        for z in itertools.combinations(others, k)
        if all(
            np.allclose(adjusted(j, y, x, z), e, rtol=0, atol=1e-12)
            for j, e in zip(joints, effects, strict=True)
        )
    ]
    return {z for z in good if not any(part < z for part in good)}


def ordered_graphs(n):
    pairs = list(itertools.combinations(range(n), 2))
    for arcs in itertools.product([False, True], repeat=len(pairs)):
        yield [{u for (u, w), there in zip(pairs, arcs, strict=True) if there and w == v} for v in range(n)]


def test_every_graph_of_four_nodes_by_its_tables():
    for number, parents in enumerate(ordered_graphs(4)):
        for x, y in itertools.permutations(range(4), 2):
            found = adjustment_sets(numbered(parents), x, y)
            assert len(set(found)) == len(found)
            assert set(found) == by_tables(parents, x, y, number), (parents, x, y)
            assert [len(z) for z in found] == sorted(len(z) for z in found)


@pytest.mark.parametrize("seed", range(12))
def test_random_graphs_of_six_nodes_by_their_tables(seed):
    rng = random.Random(seed)
    parents = [{u for u in range(v) if rng.random() < 0.5} for v in range(6)]
    x, y = sorted(rng.sample(range(6), 2))
    assert set(adjustment_sets(numbered(parents), x, y)) == by_tables(parents, x, y, seed)


def by_definition(graph, x, y, hidden):
    """All sets, minimal or not: Shpitser, VanderWeele & Robins 2010, by paths."""
    causal = {v for path in nx.all_simple_paths(graph, x, y) for v in path[1:]}
    below = causal.union(*(nx.descendants(graph, v) for v in causal))
    back_door = graph.copy()
    back_door.remove_edges_from([(x, v) for v in causal if graph.has_edge(x, v)])
    others = [v for v in graph if v not in below and v not in {x, y, *hidden}]
    return [
        frozenset(z)
        for k in range(len(others) + 1)
        for z in itertools.combinations(others, k)
        if nx.is_d_separator(back_door, x, y, set(z))
    ]


@pytest.mark.parametrize("seed", range(60))
def test_hidden_variables_and_costs(seed):
    rng = random.Random(seed)
    n = rng.randrange(2, 9)
    graph = nx.DiGraph()
    graph.add_nodes_from(rng.sample(range(n), n))
    density = 0.8 * rng.random()
    graph.add_edges_from(pair for pair in itertools.combinations(graph, 2) if rng.random() < density)
    x, y = rng.sample(range(n), 2)
    hidden = [v for v in range(n) if v not in (x, y) and rng.random() < 0.2]
    costs = {v: rng.choice([0, 1, 2.5, 7]) for v in range(n)}
    arrows = Arrows.of(graph)
    good = by_definition(graph, x, y, hidden)
    wanted = {z for z in good if not any(part < z for part in good)}
    found = adjustment_sets(arrows, x, y, hidden=hidden, costs=costs)
    assert set(found) == wanted
    assert len(found) == len(wanted)
    assert [found.cost(z) for z in found] == sorted(sum(costs[v] for v in z) for z in wanted)
    effect = Effect.of(arrows, [x], [y])
    problem = Separation.of(
        effect.back_door, effect.x, effect.y, (1 - arrows.flags(hidden)) & (1 - effect.below)
    )
    best = problem.cheapest(np.array([costs[v] for v in arrows.names], float))
    if wanted:
        assert frozenset(arrows.listed(best)) in wanted
        assert found.cost(arrows.listed(best)) == found.cost(found[0])
        assert frozenset(arrows.listed(problem.nearest())) in wanted
        some = adjustment_sets(arrows, x, y, hidden=hidden, costs=costs, limit=1)
        assert some.complete == (len(wanted) == 1)
        assert some.cost(some[0]) == found.cost(found[0])
    else:
        assert best is None
        assert not found
        assert found.why
    every = by_definition(graph, x, y, [])
    for k in range(min(3, n)):
        for z in itertools.combinations(range(n), k):
            assert (not effect.fault(z)) == (frozenset(z) in every)


@pytest.mark.parametrize("seed", range(60))
def test_the_set_of_least_variance_has_the_least_variance(seed):
    """For linear models: of all valid sets the residual of y over that of x is least (Henckel et al.).

    With hidden variables that holds of sets of ancestors (Smucler et al.), and of all where it says so.
    """
    rng = np.random.default_rng(seed)
    n = 6
    parents = [{u for u in range(v) if rng.random() < 0.5} for v in range(n)]
    x, y = sorted(rng.choice(n, 2, replace=False).tolist())
    hidden = [v for v in range(n) if v not in (x, y) and rng.random() < 0.3] if seed % 3 else []
    arrows = numbered(parents)
    found = adjustment_sets(arrows, x, y, hidden=hidden)
    if found.optimal is None:
        assert not found or not Effect.of(arrows, [x], [y]).causal.any()
        return
    weights = np.zeros((n, n))
    for v, those in enumerate(parents):
        weights[v, list(those)] = rng.uniform(0.3, 1.5, len(those))
    mixing = np.linalg.inv(np.eye(n) - weights)
    covariance = mixing @ np.diag(rng.uniform(0.5, 2.0, n)) @ mixing.T

    def residual(v, given):
        if not given:
            return covariance[v, v]
        c = covariance[np.ix_(given, [v])]
        return covariance[v, v] - (c.T @ np.linalg.solve(covariance[np.ix_(given, given)], c)).item()

    def variance(z):
        return residual(y, [x, *z]) / residual(x, list(z))

    effect = Effect.of(arrows, [x], [y])
    others = [v for v in range(n) if v not in (x, y, *hidden)]
    valid = [z for k in range(n - 1) for z in itertools.combinations(others, k) if not effect.fault(z)]
    assert sorted(found.optimal) in [sorted(z) for z in valid]
    graph = nx.DiGraph([(u, v) for v in range(n) for u in parents[v]])
    above = nx.ancestors(graph, x) | nx.ancestors(graph, y)
    some = [z for z in valid if found.optimal_of_all or set(z) <= above]
    assert variance(sorted(found.optimal)) <= min(map(variance, some)) + 1e-12
    assert found.optimal_of_all or hidden


def test_hidden_variables_may_leave_no_best_set_of_all():
    """Rotnitzky & Smucler's kind of graph: what is below a hidden cause of y may help, or not."""
    net = pgm.BayesianNetwork(edges="x -> y <- u -> w; z -> x; z -> y")
    found = net.adjustment_sets("x", "y", hidden="u")
    assert (found.optimal, found.optimal_of_all) == ({"z"}, False)
    assert "least variance among sets of ancestors: z" in str(found)
    every = net.adjustment_sets("x", "y")
    assert (every.optimal, every.optimal_of_all) == ({"z", "u"}, True)


@pytest.mark.parametrize("seed", range(40))
def test_the_set_of_least_variance_of_a_class_is_that_of_each_graph(seed):
    rng = np.random.default_rng(seed)
    graph = nx.DiGraph()
    graph.add_nodes_from("abcde")
    order = rng.permutation(list("abcde")).tolist()
    graph.add_edges_from(pair for pair in itertools.combinations(order, 2) if rng.random() < 0.4)
    cpdag = CPDAG.of(graph)
    for x, y in itertools.permutations("abcde", 2):
        best = cpdag.adjustment_sets(x, y).optimal
        if best is not None:
            each = [adjustment_sets(Arrows.of(one), x, y).optimal for one in cpdag.members()]
            assert each == [best] * cpdag.size


def test_more_sets_than_are_listed():
    rungs = 12  # 2 ** 12 minimal sets: one of two on each of twelve paths
    edges = [arrow for i in range(rungs) for arrow in ((f"a{i}", "x"), (f"a{i}", f"b{i}"), (f"b{i}", "y"))]
    net = pgm.BayesianNetwork(edges=[*edges, ("x", "y")])
    found = net.adjustment_sets("x", "y", costs={f"b{i}": 0.5 for i in range(rungs)})
    assert len(found) == 1000
    assert not found.complete
    assert found[0] == {f"b{i}" for i in range(rungs)}
    assert "there are more" in str(found)
    assert len(net.adjustment_sets("x", "y", limit=5000)) == 2**rungs


def test_it_prints_and_is_drawn():
    net = pgm.BayesianNetwork(edges="cloudy -> sprinkler -> wet <- rain <- cloudy")
    found = net.adjustment_sets("sprinkler", "wet")
    assert found == [{"cloudy"}, {"rain"}]
    assert found.optimal == {"rain"}
    assert found.complete
    assert "<table" in found._repr_html_()
    assert list(found.to_pandas()["set"]) == ["cloudy", "rain"]
    assert found.to_dict() == {
        "sets": [["cloudy"], ["rain"]],
        "optimal": ["rain"],
        "optimal_of_all": True,
        "complete": True,
    }
    assert pickle.loads(pickle.dumps(found)) == found
    assert found.plot().get_title() == "What sprinkler does to wet"
    none = net.adjustment_sets("wet", "sprinkler")
    assert not none
    assert "an arrow leads from 'sprinkler' to 'wet'" in str(none)
    assert "identify" in str(net.adjustment_sets("sprinkler", "wet", hidden=["cloudy", "rain"]))
    assert net.adjustment_sets("sprinkler", "wet", hidden="rain") == [{"cloudy"}]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("x", "x"), {}, "cannot be both"),
        (("x", "q"), {}, "no variable 'q'"),
        (("x", "y"), {"hidden": "x"}, "'x' is hidden"),
        (("x", "y"), {"costs": {"z": -1}}, "at least 0"),
        (("x", "y"), {"costs": {"q": 1}}, "costs=: there is no variable 'q'"),
        (("x", "y"), {"limit": 0}, "limit="),
    ],
)
def test_mistakes(arguments, options, message):
    net = pgm.BayesianNetwork(edges="z -> x -> y <- z")
    with pytest.raises(pgm.PGMError, match=message):
        net.adjustment_sets(*arguments, **options)


def test_what_is_hidden_below_does_not_matter_for_the_best_set():
    net = pgm.BayesianNetwork(edges="z -> x -> y <- z; y -> h; x -> w")
    found = net.adjustment_sets("x", "y", hidden="h")
    assert (found.optimal, found.optimal_of_all) == ({"z"}, True)
