"""Numbers, sizes and moments that break inference elsewhere (engine-measurements 1 and 6.2)."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import subprocess
import sys
import textwrap
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

import pgm
from tests.machine import slowness

ENGINES = ["exact", "elimination"]
T, F = True, False


def run(script: str, *, seconds: float = 120, **environment: str) -> str:
    """A script in a Python of its own; what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=seconds,
        env={**os.environ, "PYTHONPATH": os.getcwd(), **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- probabilities far below the smallest float ---


def naive_bayes(features: int, states: int = 2, row: dict | None = None) -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork("naive Bayes")
    net.add("c", np.full(states, 1 / states), states=list(range(states)))
    for i in range(features):
        table = np.full((states, 2), 0.5) if row is None else row
        net.add(f"x{i}", table, parents=["c"], states=[0, 1])
    return net


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("states", "features"), [(2, 1100), (500, 120), (2, 20_000)])
def test_a_hub_whose_children_tell_nothing(engine, states, features):
    net = naive_bayes(features, states)
    assert net.query("c", engine=engine).values == pytest.approx(np.full(states, 1 / states), rel=1e-12)
    seen = {f"x{i}": i % 2 for i in range(features)}
    assert net.query("c", seen, engine=engine).values == pytest.approx(np.full(states, 1 / states), rel=1e-11)
    assert net.log_probability(seen, engine=engine) == pytest.approx(-features * math.log(2), rel=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_features_that_contradict_each_other_a_thousand_to_one(engine):
    """240 features, half for each class: the two sides are 1e-360 and equal."""
    net = naive_bayes(240, 2, np.array([[1000 / 1001, 1 / 1001], [1 / 1001, 1000 / 1001]]))
    half = {f"x{i}": i % 2 for i in range(240)}
    assert net.query("c", half, engine=engine).values == pytest.approx([0.5, 0.5], abs=1e-12)
    expected = 120 * (math.log(1000) - 2 * math.log(1001))
    assert net.log_probability(half, engine=engine) == pytest.approx(expected, rel=1e-12)
    assert net.marginals(half, engine=engine)["c"].values == pytest.approx([0.5, 0.5], abs=1e-12)
    three_more = {**half, "x1": 0, "x3": 0, "x5": 0}
    odds = 1000.0**6
    assert net.query("c", three_more, engine=engine)[0] == pytest.approx(odds / (1 + odds), abs=1e-12)
    assert net.query("c", three_more, engine=engine)[1] == pytest.approx(1 / (1 + odds), rel=1e-9)
    assert net.map(half)["c"] == 0  # a tie


def test_twenty_thousand_features_that_tell():
    """Log P(evidence) near -1e5, the posterior in closed form."""
    n = 20_000
    net = naive_bayes(n, 2, np.array([[0.99, 0.01], [0.01, 0.99]]))
    seen = {f"x{i}": i % 2 for i in range(n - 1)}  # one more 0 than 1; the last is not seen
    m = net.marginals(seen)
    assert m["c"].values == pytest.approx([0.99, 0.01], rel=1e-9)
    assert m[f"x{n - 1}"][0] == pytest.approx(0.99 * 0.99 + 0.01 * 0.01, rel=1e-9)
    both = (n - 2) / 2 * math.log(0.99 * 0.01)
    assert net.log_probability(seen) == pytest.approx(both + math.log(0.5), rel=1e-12)
    best = net.map(seen)
    assert best["c"] == 0
    assert best[f"x{n - 1}"] == 0


def test_log_probability_of_minus_a_hundred_thousand():
    """A chain of 2,000 with findings 1e-30 each: P(e) is 1e-60000 (pyAgrum: 0.0)."""
    net = pgm.BayesianNetwork()
    net.add("z0", 0.5)
    seen = {}
    for i in range(1, 2001):
        net.add(f"z{i}", {True: 0.9, False: 0.1}, parents=[f"z{i - 1}"])
        net.add(f"y{i}", {True: 1e-30, False: 2e-30}, parents=[f"z{i}"])
        seen[f"y{i}"] = True
    transfer = [[Fraction(9, 10), Fraction(1, 10)], [Fraction(1, 10), Fraction(9, 10)]]
    likely = [Fraction(1), Fraction(2)]
    alpha, log_scale = np.array([0.5, 0.5]), 0.0
    step = np.array([[float(transfer[a][b] * likely[b]) for b in range(2)] for a in range(2)])
    for _ in range(2000):
        alpha = alpha @ step
        log_scale += math.log(alpha.sum())
        alpha /= alpha.sum()
    expected = log_scale + 2000 * math.log(1e-30)
    assert net.log_probability(seen) == pytest.approx(expected, rel=1e-12)
    assert expected < -1e5
    assert net.probability(seen) == 0.0
    assert net.probability(seen).log == pytest.approx(expected, rel=1e-12)
    assert net.query("z2000", seen)[T] == pytest.approx(alpha[0], abs=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_finding_of_probability_1e_320(engine):
    """A denormal product: rounding must not eat the posterior."""
    net = pgm.BayesianNetwork()
    net.add("a", 0.5)
    for i in range(32):
        net.add(f"b{i}", {True: 3e-10, False: 1e-10}, parents=["a"])
    seen = {f"b{i}": True for i in range(32)}
    odds = 3.0**32
    assert net.query("a", seen, engine=engine)[F] == pytest.approx(1 / (1 + odds), rel=1e-10)


@pytest.mark.parametrize("sign", [1, -1])
def test_tables_times_1e300(sign):
    """A ring of factors whose product leaves the floats on either side."""
    n, scale = 24, 10.0 ** (300 * sign)
    net = pgm.MarkovNetwork()
    for i in range(n):
        net.add_variable(f"v{i}", states=[0, 1])
    for i in range(n):
        net.add_factor([f"v{i}", f"v{(i + 1) % n}"], np.array([[3.0, 1.0], [1.0, 2.0]]) * scale)
    a, b = np.linalg.eigvalsh([[3.0, 1.0], [1.0, 2.0]])
    expected = n * math.log(b) + math.log1p((a / b) ** n) + n * math.log(scale)
    assert net.log_partition() == pytest.approx(expected, rel=1e-12)
    assert net.marginals()["v0"].values.sum() == pytest.approx(1.0)
    assert dict(net.map()) == {f"v{i}": 0 for i in range(n)}


def test_up_and_down_by_1e300_cancels():
    net = pgm.MarkovNetwork()
    net.add_variable("a", states=[0, 1])
    for i in range(40):
        net.add_factor(["a"], [1e300, 1e-300] if i % 2 else [1e-300, 1e300])
    net.add_factor(["a"], [1.0, 3.0])
    assert net.query("a").values == pytest.approx([0.25, 0.75], abs=1e-12)
    assert net.log_partition() == pytest.approx(math.log(4), abs=1e-9)


def test_log_factors_beyond_the_floats():
    net = pgm.MarkovNetwork()
    for name in "ab":
        net.add_variable(name, states=[0, 1])
    net.add_factor(["a"], [-1e6, -1e6 - 1], log=True)
    net.add_factor(["a", "b"], [[5e5, -math.inf], [5e5, 5e5]], log=True)
    z = 1 + 2 * math.exp(-1)
    assert net.log_partition() == pytest.approx(-5e5 + math.log(z), rel=1e-12)
    assert net.query("a")[0] == pytest.approx(1 / z, abs=1e-10)


# --- many nodes ---


def test_a_chain_of_100_000_nodes():
    """Built, sorted, asked from one end to the other; no recursion, no quadratic step."""
    n, flip = 100_000, 1e-5
    start = time.perf_counter()
    net = pgm.BayesianNetwork("chain")
    net.add("v0", 0.5)
    table = np.array([[1 - flip, flip], [flip, 1 - flip]])
    for i in range(1, n):
        net.add(f"v{i}", table, parents=[f"v{i - 1}"], states=[False, True])
    stay = (1 + (1 - 2 * flip) ** (n - 1)) / 2
    assert net.query(f"v{n - 1}", {"v0": True})[T] == pytest.approx(stay, abs=1e-10)
    assert net.query("v0", {f"v{n - 1}": True})[T] == pytest.approx(stay, abs=1e-10)
    assert net.query("v50000")[T] == pytest.approx(0.5, abs=1e-12)
    m = net.marginals({"v0": False})
    assert len(m) == n - 1
    assert m["v1"][T] == pytest.approx(flip, rel=1e-9)
    every = {f"v{i}": True for i in range(n)}
    assert net.log_probability(every) == pytest.approx(math.log(0.5) + (n - 1) * math.log1p(-flip), rel=1e-11)
    best = net.map({f"v{n - 1}": True})
    assert all(best[f"v{i}"] is True for i in (0, 1, 77, n // 2))
    assert net.independent("v0", "v9", given="v5")
    assert time.perf_counter() - start < 60


def test_a_factor_over_100_binary_variables_by_its_rows():
    net = pgm.MarkovNetwork()
    names = [f"b{i}" for i in range(100)]
    for name in names:
        net.add_variable(name, states=[0, 1])
    rows = {(0,) * 100: 5.0, (1,) * 100: 3.0, (*(0,) * 99, 1): 2.0}
    net.add_factor(names, rows)
    assert net.log_partition() == pytest.approx(math.log(10))
    assert net.query("b99")[1] == pytest.approx(0.5)
    assert net.query(["b0", "b99"], {"b50": 0}).values == pytest.approx(np.array([[5 / 7, 2 / 7], [0, 0]]))
    assert dict(net.map()) == dict.fromkeys(names, 0)
    assert [a.probability for a in net.k_best(k=9)] == pytest.approx([0.5, 0.3, 0.2])
    with pytest.raises(pgm.ImpossibleEvidence) as caught:
        net.query("b2", {"b3": 0, "b7": 1, "b50": 0})
    assert set(caught.value.contradiction) in ({"b3", "b7"}, {"b7", "b50"})


def test_a_clique_with_more_axes_than_numpy_has():
    """70 variables of one state between two others: no array has 72 axes."""
    net = pgm.MarkovNetwork()
    names = [f"v{i}" for i in range(70)]
    net.add_variable("a", states=[0, 1])
    net.add_variable("z", states=[0, 1])
    for name in names:
        net.add_variable(name, states=["only"])
    net.add_factor(["a", *names, "z"], {(0, *["only"] * 70, 0): 3.0, (1, *["only"] * 70, 1): 1.0})
    assert net.query("a", {"z": 1})[1] == 1.0
    assert net.query("a")[0] == pytest.approx(0.75)
    assert net.map()["v33"] == "only"
    with pytest.raises(pgm.PGMError):
        net.query(["a", *names, "z"])


# --- noisy-OR ---


@pytest.mark.parametrize("engine", ENGINES)
def test_a_noisy_or_of_1000_causes(engine):
    n, prior, p, leak = 1000, 0.01, 0.3, 0.001
    net = pgm.BayesianNetwork()
    for i in range(n):
        net.add(f"u{i}", prior)
    tracemalloc.start()
    net.add("x", pgm.NoisyOr({f"u{i}": p for i in range(n)}, leak=leak))
    quiet = (1 - leak) * (1 - prior * p) ** n
    start = time.perf_counter()
    assert net.query("x", engine=engine)[T] == pytest.approx(1 - quiet, abs=1e-12)
    assert net.query("u7", {"x": False}, engine=engine)[T] == pytest.approx(
        prior * (1 - p) / (1 - prior * p), abs=1e-12
    )
    without = (1 - leak) * (1 - prior * p) ** (n - 1)
    expected = prior * (1 - (1 - p) * without) / (1 - quiet)
    assert net.query("u0", {"x": True}, engine=engine)[T] == pytest.approx(expected, abs=1e-12)
    m = net.marginals({"x": True})
    assert m["u0"][T] == pytest.approx(expected, abs=1e-12)
    assert m["u999"][T] == pytest.approx(expected, abs=1e-12)
    assert not any(net.map({"x": False}).values())
    try:  # maximising over causes whose effect is summed over has no small form: the size, or the answer
        best = net.map({"x": True})
    except pgm.TooLarge:
        pass
    else:
        assert sum(best[f"u{i}"] for i in range(n)) == 1  # one cause is three times as likely as the leak
    assert tracemalloc.get_traced_memory()[1] < 100e6
    tracemalloc.stop()
    assert time.perf_counter() - start < 60


def quickscore(priors, strengths, positive, negative):
    """P(findings) of a two-layer noisy-OR network in rationals: a sum over subsets of the positives."""
    total = Fraction(0)
    for size in range(len(positive) + 1):
        for subset in itertools.combinations(positive, size):
            term = Fraction(1)
            for disease, prior in enumerate(priors):
                own = [strengths[disease, f] for f in (*subset, *negative) if (disease, f) in strengths]
                if own and prior:
                    term *= prior * math.prod(1 - strength for strength in own) + 1 - prior
            total += term if size % 2 == 0 else -term
    return total


@pytest.mark.parametrize("rare", [Fraction(1, 1000), Fraction(1, 10**6)])
def test_twelve_positive_findings_on_rare_diseases(rare):
    """A sum with signs loses digits here (1.4 % off, or 0 for P near 1e-17); the answer must not."""
    diseases, findings = 14, 12
    rng = np.random.default_rng(12)
    priors = [rare * int(k) for k in rng.integers(1, 5, size=diseases)]
    strengths = {}
    for finding in range(findings):
        for disease in rng.choice(diseases, size=3, replace=False).tolist():
            strengths[disease, finding] = Fraction(int(rng.integers(1, 20)), 20)
    positive, negative = list(range(findings)), []
    net = pgm.BayesianNetwork()
    for disease in range(diseases):
        net.add(f"d{disease}", float(priors[disease]))
    for finding in range(findings):
        net.add(
            f"f{finding}", pgm.NoisyOr({f"d{d}": float(s) for (d, f), s in strengths.items() if f == finding})
        )
    truth = quickscore(priors, strengths, positive, negative)
    seen = {f"f{i}": True for i in positive}
    assert net.probability(seen) == pytest.approx(float(truth), rel=1e-9)
    for disease in (0, 5):
        one = [Fraction(1) if d == disease else prior for d, prior in enumerate(priors)]
        expected = priors[disease] * quickscore(one, strengths, positive, negative) / truth
        assert net.query(f"d{disease}", seen)[T] == pytest.approx(float(expected), abs=1e-9)


# --- impossible evidence ---


def asia() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork("asia")
    net.add("asia", 0.01)
    net.add("tub", {True: 0.05, False: 0.01}, parents=["asia"])
    net.add("smoke", 0.5)
    net.add("lung", {True: 0.1, False: 0.01}, parents=["smoke"])
    net.add("bronc", {True: 0.6, False: 0.3}, parents=["smoke"])
    net.add("either", pgm.Deterministic(lambda lung, tub: lung or tub))
    net.add("xray", {True: 0.98, False: 0.05}, parents=["either"])
    net.add("dysp", {(T, T): 0.9, (T, F): 0.8, (F, T): 0.7, (F, F): 0.1}, parents=["bronc", "either"])
    return net


def with_islands() -> pgm.BayesianNetwork:
    """Asia beside a pair of its own, a root that is never True, and a gate without leak."""
    net = asia()
    net.add("i1", 0.5)
    net.add("i2", {True: 1.0, False: 0.0}, parents=["i1"])
    net.add("never", 0.0)
    net.add("cause", 0.5)
    net.add("gate", pgm.NoisyOr({"cause": 0.9}))
    net.add("colour", [0.5, 0.5, 0.0], states=["red", "green", "blue"])
    net.add("hue", [0.5, 0.3, 0.2], states=["red", "green", "blue"])
    net.add("shade", {"red": 1.0, "green": 1.0, "blue": 0.0}, parents=["hue"])
    return net


IMPOSSIBLE = {
    "asia": ({"either": T, "lung": F, "tub": F}, {"either", "lung", "tub"}),
    "asia with more": ({"either": T, "lung": F, "tub": F, "smoke": T, "xray": F}, {"either", "lung", "tub"}),
    "a separated component": ({"i1": T, "i2": F}, {"i1", "i2"}),
    "a separated component among others": ({"smoke": T, "i1": T, "i2": F, "bronc": F}, {"i1", "i2"}),
    "a root": ({"never": T}, {"never"}),
    "a gate without leak": ({"cause": F, "gate": T}, {"cause", "gate"}),
    "OneOf": ({"colour": pgm.OneOf("blue")}, {"colour"}),
    "Not": ({"colour": pgm.Not("red", "green")}, {"colour"}),
    "OneOf over an arrow": ({"shade": F, "hue": pgm.OneOf("red", "green")}, {"shade", "hue"}),
    "Likelihood": ({"colour": pgm.Likelihood({"red": 0, "green": 0, "blue": 0.5})}, {"colour"}),
}

ASK = {
    "query": lambda net, e: net.query("dysp", e),
    "query by elimination": lambda net, e: net.query("dysp", e, engine="elimination"),
    "query of what is observed": lambda net, e: net.query(next(iter(e)), e),
    "marginals": lambda net, e: net.marginals(e),
    "marginals by elimination": lambda net, e: net.marginals(e, engine="elimination"),
    "joint": lambda net, e: net.query(["asia", "dysp"], e),
    "map": lambda net, e: net.map(e),
    "marginal map": lambda net, e: net.map(e, targets="dysp"),
    "k_best": lambda net, e: net.k_best(e, k=2),
    "sample": lambda net, e: net.sample(5, given=e, seed=0),
    "expected_counts": lambda net, e: net.expected_counts(e),
    "gradients": lambda net, e: net.gradients(e),
    "conditional probability": lambda net, e: net.probability({"dysp": T}, given=e),
}


@pytest.mark.parametrize("ask", ASK.values(), ids=ASK)
@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_impossible_evidence_raises_wherever_it_hides(case, ask):
    evidence, smallest = IMPOSSIBLE[case]
    with pytest.raises(pgm.ImpossibleEvidence) as caught:
        ask(with_islands(), evidence)
    assert set(caught.value.contradiction) == smallest
    for name in smallest:
        assert name in str(caught.value)


def test_soft_evidence_that_cannot_be_had_is_an_error():
    net = with_islands()
    for given in (
        {"colour": pgm.Soft({"red": 0.5, "blue": 0.5})},
        {"either": pgm.Soft({True: 0.5, False: 0.5}), "lung": True},
        {"i1": pgm.Soft({True: 0.9, False: 0.1}), "i2": pgm.Soft({True: 0.1, False: 0.9})},
    ):
        with pytest.raises((pgm.InvalidEvidence, pgm.ImpossibleEvidence)):
            net.marginals(given)
    with pytest.raises(pgm.ImpossibleEvidence):
        net.marginals({"smoke": pgm.Soft({True: 0.5, False: 0.5}), "i1": True, "i2": False})


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_impossible_evidence_has_probability_zero(case):
    evidence, _ = IMPOSSIBLE[case]
    net = with_islands()
    assert net.probability(evidence) == 0.0
    assert net.log_probability(evidence) == -math.inf
    assert net.query("dysp")[T] == pytest.approx(0.4359706)  # and the network is none the worse


def test_impossible_evidence_after_the_logarithms_took_over():
    """Features of 1e-300 beside a contradiction: nothing may pass for merely small."""
    net = pgm.BayesianNetwork()
    net.add("c", 0.5)
    for i in range(4):
        net.add(f"x{i}", {True: 1e-300, False: 2e-300}, parents=["c"])
    net.add("y", {True: 1.0, False: 0.0}, parents=["c"])
    net.add("z", {True: 0.0, False: 1.0}, parents=["c"])
    seen = {f"x{i}": True for i in range(4)}
    assert net.query("c", seen)[T] == pytest.approx(1 / 17)
    with pytest.raises(pgm.ImpossibleEvidence) as caught:
        net.query("c", {**seen, "y": True, "z": True})
    assert set(caught.value.contradiction) == {"y", "z"}
    assert net.log_probability({**seen, "y": True, "z": True}) == -math.inf


def test_an_event_against_what_is_given_has_probability_zero_unless_that_is_impossible():
    net = with_islands()
    assert net.probability({"smoke": True}, given={"smoke": False}) == 0.0
    assert net.probability({"smoke": True}, given={"smoke": True}) == 1.0
    with pytest.raises(pgm.ImpossibleEvidence):
        net.probability({"smoke": True}, given={"smoke": False, "never": True})


def test_the_weight_of_a_likelihood_on_an_observed_variable_is_not_lost():
    net = with_islands()
    event = {"smoke": pgm.Likelihood({True: 0.8, False: 0.0})}
    try:
        found = net.probability(event, given={"smoke": True})
    except pgm.InvalidEvidence:
        return
    assert found == pytest.approx(0.8)


def test_a_markov_network_without_any_possible_state():
    net = pgm.MarkovNetwork()
    net.add_variable("a", states=[0, 1])
    net.add_variable("b", states=[0, 1])
    net.add_factor(["a"], [1, 0])
    net.add_factor(["a"], [0, 1])
    assert net.log_partition() == -math.inf
    for ask in (lambda: net.query("b"), net.marginals, net.map, lambda: net.sample(1, seed=0)):
        with pytest.raises(pgm.ImpossibleEvidence):
            ask()


def test_a_most_probable_explanation_assigns_barren_nodes_too():
    """Maximising does not sum to one: the likelier parent may lose through its undecided child."""
    net = pgm.BayesianNetwork()
    net.add("a", {"x": 0.55, "y": 0.45})
    net.add("b", {"x": [0.25] * 4, "y": [1.0, 0.0, 0.0, 0.0]}, parents=["a"], states=["p", "q", "r", "s"])
    assert dict(net.map()) == {"a": "y", "b": "p"}
    assert dict(net.map(targets="a")) == {"a": "x"}
    assert net.map().probability == pytest.approx(0.45)


# --- models without content ---


def test_models_without_variables_or_factors():
    assert dict(pgm.BayesianNetwork().marginals()) == {}
    assert dict(pgm.BayesianNetwork().map()) == {}
    assert pgm.BayesianNetwork().log_probability({}) == 0.0
    assert pgm.MarkovNetwork().log_partition() == 0.0
    free = pgm.MarkovNetwork()
    free.add_variable("a", states=["x", "y", "z"])
    assert free.log_partition() == pytest.approx(math.log(3))
    assert free.query("a").values == pytest.approx([1 / 3] * 3)
    assert dict(free.map()) == {"a": "x"}
    assert dict(free.marginals({"a": "y"})) == {}


# --- limits ---
#
# Times are those of the process: beside other tests the clock on the wall says nothing.


def clique(n: int = 40, states: int = 10) -> pgm.MarkovNetwork:
    net = pgm.MarkovNetwork()
    table = np.random.default_rng(0).uniform(0.5, 1.5, size=(states, states))
    for i in range(n):
        net.add_variable(f"v{i}", states=list(range(states)))
    for i, j in itertools.combinations(range(n), 2):
        net.add_factor([f"v{i}", f"v{j}"], table)
    return net


TOO_MUCH = {
    "query": lambda net, name: net.query(name),
    "marginals": lambda net, name: net.marginals(),
    "log_partition": lambda net, name: net.log_partition(),
    "map": lambda net, name: net.map(engine="cuts"),  # by itself it searches for some seconds
    "k_best": lambda net, name: net.k_best(k=3, engine="exact"),  # so does this
    "sample": lambda net, name: net.sample(1, seed=0),
}


@pytest.mark.parametrize("ask", TOO_MUCH.values(), ids=TOO_MUCH)
def test_a_clique_of_40_nodes_with_10_states_is_too_large_at_once(ask):
    with pytest.raises(pgm.TooLarge):  # compiles what it needs
        ask(clique(30), "v3")
    seconds = []
    for _ in range(3):
        net = clique()
        start = time.thread_time()
        with pytest.raises(pgm.TooLarge) as caught:
            ask(net, "v3")
        seconds.append(time.thread_time() - start)
    assert min(seconds) < 1.0 * slowness()
    tracemalloc.start()
    with pytest.raises(pgm.TooLarge):
        ask(net, "v3")
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()
    assert isinstance(caught.value, MemoryError)
    assert caught.value.plan is not None
    assert re.search(r"\de\+[34]|10", str(caught.value))


def test_what_too_large_advises_exists():
    with pytest.raises(pgm.TooLarge) as caught:
        clique().query("v0")
    for name in ("loopy", "gibbs", "bounds", "mean-field", "likelihood-weighting"):
        if name in str(caught.value):
            small = clique(3, 2)
            assert small.query("v0", engine=name).values.sum() == pytest.approx(1.0)


def test_a_grid_of_a_million_pixels_is_too_large_within_a_second():
    """In a process of its own: a gigabyte less for the others."""
    out = run(
        """
        import json, time
        import numpy as np, pgm
        from tests.machine import memory, slowness
        rng = np.random.default_rng(0)
        def grid(pixels):
            return pgm.MarkovNetwork.grid(pixels, states=[0, 1], coupling=1.0, unary=[[.9, .1], [.1, .9]])
        small = grid(rng.integers(2, size=(9, 9)))
        small.marginals()
        small.map()
        pixels = rng.integers(2, size=(1000, 1000))
        built, times = [], {}
        for attempt in range(2):
            start = time.thread_time()
            net = grid(pixels)
            built.append(time.thread_time() - start)
            for what, target in {"query": ["pixel[5,5]"], "marginals": [], "log_partition": []}.items():
                start = time.thread_time()
                try:
                    getattr(net, what)(*target)
                except pgm.TooLarge:
                    times[what] = min(times.get(what, 99), time.thread_time() - start)
        # Not getrusage: its peak is that of the process which started this one, where that was larger.
        print(json.dumps([slowness(), built, times, memory("VmHWM") / 1e9]))
        """
    )
    slow, built, times, gigabytes = json.loads(out)
    assert min(built) < 2.0 * slow
    assert set(times) == {"query", "marginals", "log_partition"}
    assert max(times.values()) < 1.0 * slow, (times, slow)
    assert gigabytes < 2.5


def test_a_small_limit_refuses_and_a_larger_one_answers():
    net = clique(6, 6)
    with pgm.config(memory_limit="10 kB"), pytest.raises(pgm.TooLarge):
        net.query("v0")
    with pgm.config(memory_limit="100 MB"):
        assert net.query("v0").exact


LONG = """
    import json, os, signal, threading, time
    import numpy as np, pgm
    from tests.machine import slowness
    def grid(n):
        pixels = np.random.default_rng(0).integers(2, size=(n, n))
        return pgm.MarkovNetwork.grid(pixels, states=[0, 1], coupling=.5, unary=[[.6, .4], [.4, .6]])
    net = grid(22)
    grid(12).log_partition(); grid(12).marginals(); grid(12).map()
"""


@pytest.mark.parametrize("ask", ["log_partition()", "query('pixel[0,0]')", "map()"])
def test_late_is_out_of_time_within_a_second(ask):
    out = run(
        LONG
        + f"""
    seconds = []
    for attempt in range(3):
        start = time.process_time()
        try:
            with pgm.config(time_limit=0.5, memory_limit="7 GB"):
                net.{ask}
            print("done")
        except pgm.OutOfTime as error:
            assert isinstance(error, TimeoutError)
            seconds.append(time.process_time() - start)
            if seconds[-1] < 1.0:
                break
    print("late", min(seconds) / slowness())
    rest = list(net.variables)[1:]
    small = net.query("pixel[0,0]", dict.fromkeys(rest, 0))
    assert abs(small.values.sum() - 1) < 1e-12
    """
    )
    verdict, seconds = out.split()
    assert verdict == "late", "the question was too easy for this test"
    assert float(seconds) < 1.5


@pytest.mark.parametrize(
    "ask",
    [
        "log_partition()",
        "query('pixel[0,0]')",
        "map()",
        "map(engine='branch-and-bound')",
        "query('pixel[0,0]', engine=pgm.engines.Gibbs(samples=1_000_000))",
    ],
)
def test_ctrl_c_stops_within_a_second(ask):
    out = run(
        LONG
        + f"""
    seconds = []
    for attempt in range(3):
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        start = time.process_time()
        try:
            with pgm.config(memory_limit="7 GB"):
                net.{ask}
            print("done")
        except KeyboardInterrupt:
            seconds.append(time.process_time() - start)
            if seconds[-1] < 1.0:
                break
    print("stopped", min(seconds) / slowness())
    rest = list(net.variables)[1:]
    small = net.query("pixel[0,0]", dict.fromkeys(rest, 0))
    assert abs(small.values.sum() - 1) < 1e-12
    """
    )
    verdict, seconds = out.split()
    assert verdict == "stopped", "the question was too easy for this test"
    assert float(seconds) < 1.5


# --- threads and bits ---


def test_eight_threads_on_one_network():
    net = asia()
    questions = [
        {
            name: state
            for name, state in zip(("smoke", "xray", "asia"), states, strict=True)
            if state is not None
        }
        for states in itertools.product((T, F, None), repeat=3)
    ]

    def ask(given: dict) -> list[bytes]:
        m = net.marginals(given)
        return [m[name].values.tobytes() for name in m] + [
            repr(sorted(net.map(given).items())).encode(),
            repr(net.log_probability(given)).encode(),
        ]

    alone = [ask(given) for given in questions]
    fresh = asia()
    net = fresh
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(ask, questions * 8))
    assert together == alone * 8


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_the_same_bits_for_any_number_of_threads(threads):
    net = clique(9, 4)
    frame = net.sample(50, seed=0)
    with pgm.config(threads=1):
        alone = (
            net.predict_proba({k: v for k, v in frame.items() if k != "v0"}, "v0"),
            net.marginals()["v3"].values,
        )
    with pgm.config(threads=threads):
        again = (
            net.predict_proba({k: v for k, v in frame.items() if k != "v0"}, "v0"),
            net.marginals()["v3"].values,
        )
    assert np.array_equal(np.asarray(alone[0]), np.asarray(again[0]))
    assert np.array_equal(alone[1], again[1])


def test_the_same_bits_whatever_the_hash_seed():
    script = """
        import hashlib, numpy as np, pgm
        rng = np.random.default_rng(5)
        net = pgm.BayesianNetwork()
        names = [f"n{i}" for i in range(40)]
        for i, name in enumerate(names):
            several = min(i, int(rng.integers(0, 4)))
            parents = [names[j] for j in sorted(rng.permutation(i)[:several])]
            table = rng.dirichlet(np.ones(3), size=(3,) * len(parents))
            net.add(name, table, parents=parents, states=["a", "b", "c"])
        given = {"n39": "a", "n20": pgm.OneOf("a", "c"), "n7": pgm.Likelihood({"a": .3, "b": .2, "c": .9})}
        digest = hashlib.sha256()
        m = net.marginals(given)
        for name in m:
            digest.update(m[name].values.tobytes())
        digest.update(repr((net.map(given), net.log_probability(given), list(net.variables))).encode())
        drawn = net.sample(20, given=given, seed=3)
        digest.update(repr([v.tolist() for v in drawn.values()]).encode())
        digest.update(net.query(["n3", "n31"], given).values.tobytes())
        digest.update(repr(net.junction_tree()).encode())
        print(digest.hexdigest())
    """
    assert len({run(script, PYTHONHASHSEED=seed) for seed in ("0", "1", "77", "1")}) == 1
