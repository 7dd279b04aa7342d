"""Each formula, evaluated, equals surgery on models with the hidden causes written out."""

from __future__ import annotations

import itertools
import os
import pickle
import random

import numpy as np
import pytest

import pgm
from pgm.errors import NotIdentifiable
from pgm.graphs import formulas
from pgm.models.causal.evaluation import chosen, evaluate
from pgm.variables import Variable
from tests.causal_oracle import Surgery

EVERY = os.environ.get("PGM_EVERY_GRAPH") == "1"  # all 4,096 graphs and more random ones: some minutes
FORMULAS = 178_285  # of the 245,760 questions about these graphs; the others are refused


class Model:
    """A surgery model as a source of probabilities of v0, v1, ..."""

    def __init__(self, surgery):
        self.table = surgery.joint()
        n = self.table.ndim
        self.variables = {f"v{i}": Variable(f"v{i}", list(range(self.table.shape[i]))) for i in range(n)}

    def joint(self, names):
        return np.einsum(self.table, list(range(self.table.ndim)), [int(name[1:]) for name in names])


def graph_of(parents, common):
    return pgm.CausalGraph.of(
        {f"v{v}": [f"v{u}" for u in sorted(those)] for v, those in enumerate(parents)},
        [(f"v{a}", f"v{b}") for a, b in common],
    )


def check(parents, common, x, y, given, seed, cards=None):
    """Compare the formula with surgery for all states; False if there is no formula."""
    surgery = Surgery(parents, common, seed=seed, cards=cards)
    return agrees(graph_of(parents, common), surgery, Model(surgery), x, y, given)


def agrees(graph, surgery, model, x, y, given):
    """The same where the graph and the model are there already."""
    name = "v{}".format
    try:
        found = graph.identify([*map(name, y)], do=[*map(name, x)], given=[*map(name, given)])
    except NotIdentifiable as error:
        outer, inner = error.hedge
        assert set(inner) < set(outer)
        assert set(outer) & set(map(name, x))
        return False
    truth = surgery.effect(y, x, given)
    value = evaluate(found.formula, model)
    for states in itertools.product(*(range(surgery.cards[v]) for v in (*x, *given))):
        known = dict(zip(map(name, (*x, *given)), states, strict=True))
        got = chosen(value, list(map(name, y)), known, model)
        assert got is not None
        np.testing.assert_allclose(got, truth[states], rtol=0, atol=1e-10)
    return True


def mixed_graphs(n):
    """All graphs of n ordered nodes, each pair with or without an arrow and a hidden cause."""
    pairs = list(itertools.combinations(range(n), 2))
    for kinds in itertools.product(range(4), repeat=len(pairs)):
        arrows = [pair for pair, kind in zip(pairs, kinds, strict=True) if kind & 1]
        common = [pair for pair, kind in zip(pairs, kinds, strict=True) if kind & 2]
        yield [{a for a, b in arrows if b == v} for v in range(n)], common


def questions(n):
    for x, y in itertools.permutations(range(n), 2):
        rest = [v for v in range(n) if v not in (x, y)]
        yield [x], [y], []
        yield from (([x], [y], [z]) for z in rest)
        yield from (([x, z], [y], []) for z in rest if x < z)
        yield from (([x], [y, z], []) for z in rest if y < z)


@pytest.mark.timeout(3000 if EVERY else 120)
def test_mixed_graphs_of_four_nodes():
    rng = random.Random(4)
    graphs = list(enumerate(mixed_graphs(4)))
    assert len(graphs) == 4096
    if not EVERY:
        graphs = rng.sample(graphs, 120)
    identified = 0
    for number, (parents, common) in graphs:
        asked = list(questions(4))
        assert len(asked) == 60
        surgery = Surgery(parents, common, seed=number)
        graph, model = graph_of(parents, common), Model(surgery)
        for x, y, given in asked if EVERY else rng.sample(asked, 4):
            identified += agrees(graph, surgery, model, x, y, given)
    assert identified == (FORMULAS if EVERY else 354)


@pytest.mark.parametrize("seed", range(400 if EVERY else 25))
def test_random_graphs_of_seven_nodes(seed):
    rng = random.Random(seed)
    n = 7
    parents = [{u for u in range(v) if rng.random() < 0.35} for v in range(n)]
    common = [pair for pair in itertools.combinations(range(n), 2) if rng.random() < 0.15]
    names = rng.sample(range(n), 4)
    for x, y, given in (
        (names[:1], names[1:2], []),
        (names[:2], names[2:3], []),
        (names[:1], names[1:2], names[2:3]),
        (names[:1], names[1:3], names[3:]),
    ):
        check(parents, common, x, y, given, seed, [rng.choice([2, 2, 3]) for _ in range(n)])


NAMED = {
    "back door": ("z -> x -> y <- z", "sum_z P(z) P(y | z, x)"),
    "front door": ("x -> z -> y; x <-> y", "sum_z P(z | x) sum_{x'} P(x') P(y | x', z)"),
    "M-bias": ("x -> y; x <-> m; m <-> y", "P(y | x)"),
    "napkin": (
        "w -> z -> x -> y; w <-> x; w <-> y",
        "[sum_w P(w) P(x, y | w, z)] / [sum_w P(w) P(x | w, z)]",
    ),
    "no influence": ("y -> x; x <-> y", "P(y)"),
}


@pytest.mark.parametrize("name", NAMED)
def test_by_name(name):
    edges, formula = NAMED[name]
    assert pgm.CausalGraph(edges).identify("y", do="x").text == formula


def test_a_graph_for_which_y0_gives_a_wrong_formula():
    """Issue 404 of y0 (0.2.11), which fails on the napkin too."""
    names = ["z2", "x", "z1", "z3", "y"]
    parents = [set(), {0}, {0, 1}, {0}, {2, 3}]
    common = [(1, 4), (1, 0), (1, 3), (4, 0)]
    edges = "x -> z1 -> y; z2 -> x; z2 -> z1; z2 -> z3 -> y; x <-> y; x <-> z2; x <-> z3; y <-> z2"
    by_name = pgm.CausalGraph(edges)
    assert by_name == pgm.CausalGraph.of(
        {names[v]: [names[u] for u in those] for v, those in enumerate(parents)},
        [(names[a], names[b]) for a, b in common],
    )
    for seed in range(5):
        assert check(parents, common, [1], [4], [], seed)


def test_the_bow_has_two_models_that_agree_on_what_is_seen():
    with pytest.raises(NotIdentifiable, match="hidden causes join 'x', 'y'") as caught:
        pgm.CausalGraph("x -> y; x <-> y").identify("y", do="x")
    assert caught.value.hedge == (("x", "y"), ("y",))
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.hedge, again.bounds) == (
        str(caught.value),
        caught.value.hedge,
        caught.value.bounds,
    )
    with pytest.raises(ValueError, match=r"between P\(x, y\) and P\(x, y\) \+ 1 - P\(x\)"):
        raise again


THREE = [
    (parents, common)
    for parents, common in mixed_graphs(3)
    if len(common) == 3  # as one hidden cause of all three: a linear program over response functions
]


@pytest.mark.parametrize("number", range(len(THREE)))
def test_what_is_refused_differs_between_models_of_the_same_data(number):
    """The least and the most that the effect can be, what is seen held fixed, are apart."""
    from scipy.optimize import linprog

    parents, common = THREE[number]
    for x, y in itertools.permutations(range(3), 2):
        try:
            graph_of(parents, common).identify(f"v{y}", do=f"v{x}")
        except NotIdentifiable:
            ends = [
                sign * linprog(sign * goal, A_eq=equal, b_eq=seen, bounds=(0, None)).fun
                for equal, goal, seen in [responses(parents, Surgery(parents, common, seed=number), x, y)]
                for sign in (1, -1)
            ]
            assert ends[1] - ends[0] > 1e-3, (parents, x, y)


def responses(parents, surgery, x, y):
    """For each way in which all three may respond, what is seen and what y is when x is done."""
    functions = [list(itertools.product(range(2), repeat=2 ** len(those))) for those in parents]
    columns = list(itertools.product(*functions))

    def run(functions, do):
        states = []
        for v, those in enumerate(parents):
            row = sum(states[u] << k for k, u in enumerate(sorted(those)))
            states.append(do[v] if v in do else functions[v][row])
        return tuple(states)

    equal = np.zeros((8, len(columns)))
    goal = np.zeros(len(columns))
    for c, column in enumerate(columns):
        equal[np.ravel_multi_index(run(column, {}), (2, 2, 2)), c] = 1.0
        goal[c] = run(column, {x: 1})[y]
    return equal, goal, surgery.joint().ravel()


def test_hidden_causes_of_a_network():
    net = pgm.BayesianNetwork()
    net.add("gene", 0.3)
    net.add("smoking", {True: 0.8, False: 0.2}, parents="gene")
    net.add("tar", {True: 0.9, False: 0.05}, parents="smoking")
    net.add("cancer", {(True, True): 0.7, (True, False): 0.4, (False, True): 0.3, (False, False): 0.05},
            parents=["tar", "gene"])  # fmt: skip
    graph = net.causal_graph(hidden="gene")
    assert graph == pgm.CausalGraph("smoking -> tar -> cancer; smoking <-> cancer")
    asked = graph.identify("cancer", do={"smoking": True})
    truth = net.do({"smoking": True}).query("cancer")[True]
    answer = asked.evaluate(net)
    assert answer[True] == pytest.approx(truth, abs=1e-12)
    assert answer.exact
    assert "do(smoking)=True" in str(answer.title)
    rows = net.sample(20_000, seed=0)
    estimate = asked.evaluate({name: rows[name] for name in graph.nodes})
    assert estimate[True] == pytest.approx(truth, abs=0.02)
    assert not estimate.exact
    assert graph.adjustment_sets("smoking", "cancer") == []
    assert not graph.independent("smoking", "cancer", given="tar")
    assert graph.plot().get_title() == ""
    assert "Identified" not in repr(asked)
    assert asked.plot().get_title() == repr(asked)


@pytest.mark.parametrize("seed", range(20))
def test_a_projection_keeps_independences(seed):
    rng = random.Random(seed)
    names = [f"v{i}" for i in range(7)]
    net = pgm.BayesianNetwork(
        edges=[*((a, b) for a, b in itertools.combinations(names, 2) if rng.random() < 0.35), ("v0", "v6")]
    )
    seen = [name for name in net.nodes if rng.random() < 0.6]
    graph = net.causal_graph(hidden=[name for name in net.nodes if name not in seen]) if seen else None
    for a, b in itertools.combinations(seen, 2):
        given = [v for v in seen if v not in (a, b) and rng.random() < 0.4]
        assert graph.independent(a, b, given) == net.independent(a, b, given)


def test_zeros_and_what_never_occurs():
    net = pgm.BayesianNetwork()
    net.add("z", {"a": 0.5, "b": 0.5, "c": 0.0})
    net.add("x", {"a": 0.5, "b": 1.0, "c": 0.3}, parents="z")
    net.add("y", np.array([[[0.8, 0.2], [0.1, 0.9]], [[0.6, 0.4], [0.7, 0.3]], [[0.5, 0.5], [0.5, 0.5]]]),
            parents=["z", "x"], states=[False, True])  # fmt: skip
    asked = net.causal_graph().identify("y", do="x")
    assert asked.evaluate(net, {"x": True})[True] == pytest.approx(0.6, abs=1e-12)  # z = c is never seen
    with pytest.raises(pgm.ImpossibleEvidence, match="never occurs in this network"):
        asked.evaluate(net, {"x": False})


def test_a_hundred_nodes_with_hidden_causes():
    rng = random.Random(1)
    names = [f"v{i}" for i in range(100)]
    parents = {b: [names[a] for a in sorted(rng.sample(range(i), min(i, 2)))] for i, b in enumerate(names)}
    for seed in range(10):
        rng = random.Random(seed)
        graph = pgm.CausalGraph.of(parents, [tuple(rng.sample(names, 2)) for _ in range(25)])
        try:
            found = graph.identify("v99", do=names[50 + seed])
            assert found.text
            assert found.latex
        except NotIdentifiable:
            pass


ROWS = {"x": [1, 0], "y": [1, 0]}
MISTAKES = {
    "no variable 'q'": lambda graph: graph.identify("y", do="q"),
    "cannot be both": lambda graph: graph.identify("y", do="y"),
    "'x' cannot be both": lambda graph: graph.identify("y", do="x", given="x"),
    "'x' has none": lambda graph: graph.identify("y", do="x").evaluate(ROWS),
    "no variable 'z'": lambda graph: graph.identify("y", do="x").evaluate(ROWS, {"z": 1}),
    "no state 7": lambda graph: graph.identify("y", do="x").evaluate(ROWS, {"x": 7}),
    "cells are missing": lambda graph: graph.identify("y", do="x").evaluate(
        ROWS | {"y": [1, None]}, {"x": 1}
    ),
    "no variable 'r'": lambda graph: pgm.CausalGraph("x -> y", common=[("x", "r")]),
    "cycle": lambda graph: pgm.CausalGraph("x -> y -> x"),
    "shares a hidden cause with itself": lambda graph: pgm.CausalGraph("x <-> x"),
    "pgm.CausalGraph holds it": lambda graph: pgm.BayesianNetwork(edges="x <-> y"),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message):
    with pytest.raises(pgm.PGMError, match=message):
        MISTAKES[message](pgm.CausalGraph("x -> y; z -> y"))


def test_it_prints():
    graph = pgm.CausalGraph("smoking -> tar -> cancer; smoking <-> cancer")
    asked = graph.identify("cancer", do="smoking")
    assert pickle.loads(pickle.dumps(graph)) == graph
    assert repr(pickle.loads(pickle.dumps(asked))) == repr(asked)
    assert asked.names == ("smoking", "tar", "cancer")
    assert r"\sum_{\mathrm{tar}} P(\mathrm{tar} \mid \mathrm{smoking})" in asked.latex
    assert asked._repr_latex_().startswith("$P(")
    assert asked.to_dict()["observed"] == ["smoking", "tar", "cancer"]
    assert "<table" in graph._repr_html_()
    assert pgm.CausalGraph(str(graph)) == graph
    assert formulas.text(formulas.Product(())) == "1"


def test_what_is_given_may_be_done_as_well():
    """Rule 2 given what is done: P(y, z | do(x)) has no formula, and P(y | do(x), z) has one.

    x -> z; x <-> z; x -> m -> y; x <-> y, numbered x, z, m, y.
    """
    parents, common = [set(), {0}, {0}, {2}], [(0, 1), (0, 3)]
    assert check(parents, common, [0], [3], [1], 1)
    assert not check(parents, common, [0], [3, 1], [], 1)


def test_nothing_times_what_is_not_defined_is_nothing():
    from pgm.models.causal.evaluation import Labelled, multiplied

    open_, zero = Labelled(("x",), np.array([np.nan, 0.5])), Labelled(("x",), np.array([0.0, 0.5]))
    for parts in ([open_, zero], [zero, open_]):
        assert multiplied(parts).values.tolist() == [0.0, 0.25]


def test_the_mean_is_over_what_is_defined():
    class Halves:
        def __init__(self):
            self.variables = {name: Variable(name, [0, 1]) for name in "zy"}

        def joint(self, names):
            return np.full([2] * len(names), 0.5 ** len(names))

    found = labelled(("z", "y"), [[np.nan, np.nan], [0.3, 0.7]])
    assert chosen(found, ["y"], {}, Halves()) == pytest.approx([0.3, 0.7])


def labelled(names, values):
    from pgm.models.causal.evaluation import Labelled

    return Labelled(names, np.array(values))
