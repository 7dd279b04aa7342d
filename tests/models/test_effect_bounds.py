"""Bounds of effects: published ones, programs over responses written here, and models that lie within."""

from __future__ import annotations

import itertools
import pickle
import random

import numpy as np
import pytest

import pgm
from pgm.errors import NotIdentifiable
from tests.causal_oracle import Surgery
from tests.models.test_identification import THREE, graph_of, mixed_graphs, responses


def network_of(table, names):
    """A network that has this joint distribution: each node given all before it."""
    net = pgm.BayesianNetwork()
    for k, name in enumerate(names):
        upto = table.sum(axis=tuple(range(k + 1, table.ndim)))
        with np.errstate(invalid="ignore"):
            given = upto / upto.sum(axis=-1, keepdims=True)
        given = np.where(np.isnan(given), 1.0 / given.shape[-1], given)
        net.add(name, given, parents=names[:k], states=list(range(table.shape[k])))
    return net


def test_vitamin_a():
    """Balke & Pearl 1997, section 5: the effect of vitamin A on survival lies between -0.1946 and 0.0054."""
    shares = {  # P(survives, takes it | offered): rows not offered and offered
        0: {(0, 0): 0.0064, (1, 0): 0.9936, (0, 1): 0.0, (1, 1): 0.0},
        1: {(0, 0): 0.0028, (1, 0): 0.1972, (0, 1): 0.001, (1, 1): 0.799},
    }
    table = np.array([[[0.5 * shares[z][y, x] for y in (0, 1)] for x in (0, 1)] for z in (0, 1)])
    net = network_of(table, ["offered", "taken", "survives"])
    graph = pgm.CausalGraph("offered -> taken -> survives; taken <-> survives")
    with_, without = (graph.bounds(net, "survives", do={"taken": k}) for k in (1, 0))
    assert with_.sharp
    assert with_[1][0] - without[1][1] == pytest.approx(-0.1946, abs=1e-9)
    assert with_[1][1] - without[1][0] == pytest.approx(0.0054, abs=1e-9)


@pytest.mark.parametrize("number", range(0, len(THREE), 2))
def test_sharp_bounds_by_programs_over_all_responses(number):
    from scipy.optimize import linprog

    parents, common = THREE[number]
    surgery = Surgery(parents, common, seed=number)
    net = network_of(surgery.joint(), ["v0", "v1", "v2"])
    graph = graph_of(parents, common)
    for x, y in itertools.permutations(range(3), 2):
        found = graph.bounds(net, f"v{y}", do={f"v{x}": 1})
        equal, goal, seen = responses(parents, surgery, x, y)
        ends = [sign * linprog(sign * goal, A_eq=equal, b_eq=seen, bounds=(0, None)).fun for sign in (1, -1)]
        assert found.sharp
        assert found[1] == pytest.approx(ends, abs=1e-7)
        assert found[0] == pytest.approx((1 - ends[1], 1 - ends[0]), abs=1e-7)
        assert found.identified == (found[1][0] == found[1][1])


@pytest.mark.parametrize("seed", range(40))
def test_every_model_lies_within(seed):
    """On graphs of four nodes with hidden causes of pairs, also given what is not influenced."""
    rng = random.Random(seed)
    parents, common = rng.choice(list(itertools.islice(mixed_graphs(4), seed, 4096, 97)))
    graph = graph_of(parents, common)
    surgery = Surgery(parents, common, seed=seed)
    net = network_of(surgery.joint(), ["v0", "v1", "v2", "v3"])
    for x, y in itertools.permutations(range(4), 2):
        below = {v for v in range(4) if v != x and f"v{v}" not in free_of(parents, x)}
        for z in [[], *([v] for v in range(4) if v not in (x, y) and v not in below)]:
            truth = surgery.effect([y], [x], z)
            found = graph.bounds(net, f"v{y}", do={f"v{x}": 1}, given={f"v{v}": 0 for v in z})
            value = truth[(1, *(0 for _ in z))]
            for state in (0, 1):
                low, high = found[state]
                assert low - 1e-7 <= value[state] <= high + 1e-7
                assert not found.identified or low == high == pytest.approx(value[state], abs=1e-9)


def free_of(parents, x):
    """The nodes that x does not influence."""
    below = {x}
    for v, those in enumerate(parents):
        if those & below:
            below.add(v)
    return {f"v{v}" for v in range(len(parents)) if v not in below}


def test_natural_bounds_where_there_are_too_many_ways(monkeypatch):
    from pgm.models.causal import effect_bounds

    net = pgm.BayesianNetwork()
    net.add("x", 0.4)
    net.add("y", {True: 0.9, False: 0.2}, parents="x")
    bow = pgm.CausalGraph("x -> y; x <-> y")
    sharp = bow.bounds(net, "y", do={"x": True})
    assert sharp[True] == pytest.approx((0.36, 0.96), abs=1e-9)  # P(x, y) and P(x, y) + 1 - P(x)
    monkeypatch.setattr(effect_bounds, "MOST_RESPONSES", 1)
    found = bow.bounds(net, "y", do={"x": True})
    assert not found.sharp
    assert all(found[state] == pytest.approx(sharp[state], abs=1e-9) for state in (False, True))
    assert found.plot().get_title() == "P(y | do(x=True))"
    assert "sharp" not in str(found)


def test_of_several_and_in_print():
    net = pgm.BayesianNetwork()
    net.add("u", 0.5)
    net.add("x", {True: 0.7, False: 0.2}, parents="u")
    net.add("y", {(True, True): 0.9, ...: 0.3}, parents=["x", "u"])
    net.add("w", {True: 0.6, False: 0.1}, parents="y")
    graph = net.causal_graph(hidden="u")
    found = graph.bounds(net, ["y", "w"], do={"x": True})
    truth = net.do({"x": True}).query(["y", "w"])
    assert list(found) == list(itertools.product((False, True), repeat=2))
    for states, (low, high) in found.items():
        assert low < truth[states] < high
    assert pickle.loads(pickle.dumps(found)).to_dict() == found.to_dict()
    assert list(found.to_pandas()["least"]) == [low for low, _ in found.values()]
    assert "<table" in found._repr_html_()
    assert "False, True" in str(found)
    rows = net.sample(5000, seed=0)
    estimate = graph.bounds({v: rows[v] for v in graph.nodes}, "y", do={"x": True})
    exact = graph.bounds(net, "y", do={"x": True})
    assert not estimate.exact
    assert estimate[True] == pytest.approx(exact[True], abs=0.03)
    value = pgm.CausalGraph("x -> y").bounds(net, "y", do={"x": True})
    assert value.identified
    assert "identifiable" in str(value)


def test_rows_that_no_model_of_the_graph_has():
    """Pearl's instrumental inequality: sum over y of max over z of P(x, y | z) is at most 1."""
    rows = {"z": [0, 1] * 50, "x": [1] * 100, "y": [0, 1] * 50}
    with pytest.raises(pgm.InvalidFrame, match="instrumental inequality"):
        pgm.CausalGraph("z -> x -> y; x <-> y").bounds(rows, "y", do={"x": 1})


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda graph, net: graph.bounds(net, "y", do="x"), "is a dict {name: state}"),
        (lambda graph, net: graph.bounds(net, "y", do={}), "do= is empty"),
        (lambda graph, net: graph.bounds(net, "q", do={"x": 1}), "no variable 'q'"),
        (lambda graph, net: graph.bounds(net, "y", do={"x": 7}), "no state 7"),
        (
            lambda graph, net: graph.bounds(net, "y", do={"x": 1}, given={"w": 1}),
            "influenced by what is done",
        ),
    ],
)
def test_mistakes(ask, message):
    graph = pgm.CausalGraph("x -> y; x <-> y; y -> w; x <-> w; w <-> y")
    net = network_of(np.full((2, 2, 2), 1 / 8), ["x", "y", "w"])
    with pytest.raises(pgm.PGMError, match=message):
        ask(graph, net)


def test_the_refusal_says_where_the_numbers_are():
    with pytest.raises(NotIdentifiable, match=r"graph\.bounds"):
        pgm.CausalGraph("x -> y; x <-> y").identify("y", do="x")


@pytest.mark.parametrize("seed", range(5))
def test_probabilities_of_causation_without_confounding(seed):
    """Tian & Pearl 2000: with p1, p0 = P(y | x), P(y | not x); both follow from the third."""
    p0, p1 = np.random.default_rng(seed).uniform(0.05, 0.95, 2)
    net = pgm.BayesianNetwork()
    net.add("x", 0.3)
    net.add("y", {True: p1, False: p0}, parents="x")
    found = net.necessity_and_sufficiency("x", "y")
    low, high = max(0.0, p1 - p0), min(p1, 1 - p0)
    assert found.both == pytest.approx((low, high), abs=1e-9)
    assert found.necessity == pytest.approx((low / p1, high / p1), abs=1e-9)
    assert found.sufficiency == pytest.approx((low / (1 - p0), high / (1 - p0)), abs=1e-9)
    assert found.undecided == ("y",)
    other = net.necessity_and_sufficiency("x", "y", outcome=False)
    low, high = max(0.0, p0 - p1), min(p0, 1 - p1)
    assert other.both == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_probabilities_of_causation_by_enumeration_of_the_noise(seed):
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.ones(4))
    functions = list(itertools.product((False, True), repeat=2))  # y without x, and with it
    net = pgm.BayesianNetwork()
    net.add("sex", 0.4)
    net.add("kind", dict(enumerate(share.tolist())))
    net.add("x", {True: 0.7, False: 0.2}, parents="sex")
    net.add("y", pgm.Deterministic(lambda x, kind: functions[kind][x]))
    found = net.necessity_and_sufficiency("x", "y", given={"sex": True})
    assert found.exact
    with_, without = share[1] + share[3], share[0] + share[1]  # y under x; not y without
    assert found.both == pytest.approx((share[1],) * 2, abs=1e-12)
    assert found.necessity == pytest.approx((share[1] / with_,) * 2, abs=1e-12)
    assert found.sufficiency == pytest.approx((share[1] / without,) * 2, abs=1e-12)
    assert "given sex=True" in str(found)


def test_probabilities_of_causation_in_print_and_where_nobody_is_like_that():
    net = pgm.BayesianNetwork()
    net.add("x", 0.5)
    net.add("y", {True: 0.6, False: 0.0}, parents="x")
    found = net.necessity_and_sufficiency("x", "y")
    assert found.necessity == pytest.approx((1.0, 1.0))
    assert found.sufficiency == pytest.approx((0.6, 0.6))
    net.set("y", {True: 0.0, False: 0.6})
    none = net.necessity_and_sufficiency("x", "y")
    assert none.necessity is None
    assert none.both == (0.0, 0.0)
    assert "-" in str(none)
    assert list(found.to_pandas()["probability of"]) == ["necessity", "sufficiency", "both"]
    assert pickle.loads(pickle.dumps(found)).to_dict() == found.to_dict()
    assert found.plot().get_title() == "x=True as the cause of y=True"
    with pytest.raises(pgm.ImpossibleEvidence) as caught:
        net.counterfactual("y", {"x": True, "y": True}, do={"x": False})
    assert caught.value.contradiction == {"x": True, "y": True}
    net.add("three", [0.2, 0.3, 0.5], states=list("abc"))
    for ask, message in (
        (lambda: net.necessity_and_sufficiency("x", "three"), "has 3 states"),
        (lambda: net.necessity_and_sufficiency("x", "x"), "cannot be both"),
        (lambda: net.necessity_and_sufficiency("x", "y", given={"y": True}), "is observed"),
        (lambda: net.necessity_and_sufficiency("three", "y"), "states="),
    ):
        with pytest.raises(pgm.PGMError, match=message):
            ask()
