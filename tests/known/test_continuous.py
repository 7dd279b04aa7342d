"""Rows C of the catalogue that have numbers for states: regression, classification, clustering, Kalman.

The numbers are those of items O16, O18 and O38 of shared/catalogue/C.md, O17 of D.md and O10 of B.md.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import pgm
from tests.known.book import near

# --- O16: linear regression with its weights as nodes ------------------------------------

X, R = (0.0, 1.0, 2.0, 3.0), (1.0, 2.0, 2.0, 4.0)
ALPHA, BETA = 1.0, 4.0


def regression() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork("regression")
    for w in ("w0", "w1"):
        net.add(w, pgm.Gaussian(0.0, sd=ALPHA**-0.5))
    for t, x in enumerate([*X, 1.5, 4.0]):
        net.add(f"r{t}", pgm.LinearGaussian({"w0": 1.0, "w1": x}, sd=BETA**-0.5))
    return net


DATA = {f"r{t}": r for t, r in enumerate(R)}


def test_C28_linear_regression_as_a_graph() -> None:
    net = regression()
    w = net.query(["w0", "w1"], DATA)
    assert w.mean == near([0.8244274809, 0.9160305344])
    assert w.covariance == near(np.array([[0.1450381679, -0.06106870229], [-0.06106870229, 0.04325699746]]))
    inside, outside = net.query("r4", DATA), net.query("r5", DATA)
    assert (inside.mean, inside.variance) == near((2.198473282, 0.3091603053))
    assert (outside.mean, outside.variance) == near((4.488549618, 0.5986005089))
    assert net.log_probability(DATA) == near(-6.073276323)


def test_C71_a_hyperparameter_is_one_more_node() -> None:
    """D.md, O17: the precision of the weights is .1, 1 or 10; the data choose, and the forecast is mixed."""
    precisions = [0.1, 1.0, 10.0]
    net = pgm.BayesianNetwork("hierarchy")
    net.add("alpha", [1 / 3] * 3, states=precisions)
    for w in ("w0", "w1"):
        net.add(w, {a: pgm.Gaussian(0.0, sd=a**-0.5) for a in precisions}, parents=["alpha"])
    for t, x in enumerate([*X, 1.5]):
        net.add(f"r{t}", pgm.LinearGaussian({"w0": 1.0, "w1": x}, sd=BETA**-0.5))
    assert net.query("alpha", DATA).values == near([0.17844416, 0.80653837, 0.01501746], 7)
    found = [net.query("r4", {**DATA, "alpha": a}).mean for a in precisions]
    assert found == near([2.2444301825, 2.1984732824, 1.8947368421])
    assert net.query("r4", DATA).mean == near(2.2021126728)
    assert net.log_probability(DATA, given={"alpha": 1.0}) == near(-6.0732763234)
    assert net.query("w0").variance == near((10 + 1 + 0.1) / 3)
    # Without data the level above says nothing of the mean, and the weights are tied through it alone.
    assert not net.independent("w0", "w1")
    assert net.independent("w0", "w1", given="alpha")
    assert not net.independent("w0", "w1", given=["alpha", "r1"])


def test_C19_continuous_nodes_are_tied_by_what_is_not_seen() -> None:
    """Cov(r_s, r_t) = 1 + x_s x_t + [s = t] / 4 with w summed out; no tie at all with w known."""
    p = regression().query(["r0", "r1", "r2", "r3"])
    assert p.covariance[0, 1] == near(1.0)
    assert p.covariance[2, 3] / math.sqrt(p.covariance[2, 2] * p.covariance[3, 3]) == near(0.9542374472)
    assert p.covariance == near(np.add(1.0, np.outer(X, X)) + np.eye(4) / 4)
    assert p.mean == pytest.approx(np.zeros(4), abs=1e-12)
    known = regression().query(["r1", "r3"], {"w0": 0.5, "w1": -2.0})
    assert known.mean == near([0.5 - 2.0, 0.5 - 6.0])
    assert known.covariance == near(np.eye(2) / 4)


def test_C19_a_conditional_gaussian_of_a_state_and_a_number() -> None:
    """y ~ N(mu(u, x), sd(u)): each state of u has its own line and noise; what is hidden is mixed."""
    net = pgm.BayesianNetwork("conditional Gaussian")
    net.add("u", [0.7, 0.3], states=["a", "b"])
    net.add("x", pgm.Gaussian(1.0, sd=2.0))
    lines = {
        "a": pgm.LinearGaussian({"x": 2.0}, bias=1.0, sd=0.5),
        "b": pgm.LinearGaussian({"x": -1.0}, bias=3.0, sd=1.5),
    }
    net.add("y", lines, parents=["u"])

    def normal(y: float, mean: float, sd: float) -> float:
        return math.exp(-((y - mean) ** 2) / (2 * sd * sd)) / (sd * math.sqrt(2 * math.pi))

    for state, x, mean, sd in (("a", 1.5, 4.0, 0.5), ("b", 1.5, 1.5, 1.5), ("b", -2.0, 5.0, 1.5)):
        y = net.query("y", {"u": state, "x": x})
        assert (y.mean, y.std) == near((mean, sd))
        assert y.pdf(2.5) == near(normal(2.5, mean, sd))
    a, b = 0.7 * normal(2.5, 4.0, 0.5), 0.3 * normal(2.5, 1.5, 1.5)
    assert net.probability({"y": 2.5}, given={"x": 1.5}) == near(a + b)
    assert net.query("u", {"x": 1.5, "y": 2.5})["a"] == near(a / (a + b))
    # x hidden: each line carries its variance along, N(3, .25 + 4 * 4) and N(2, 2.25 + 4)
    y = net.query("y")
    assert y.mean == near(0.7 * 3.0 + 0.3 * 2.0)
    assert y.variance == near(0.7 * (16.25 + 9.0) + 0.3 * (6.25 + 4.0) - 2.7**2)
    assert net.query("x", {"u": "a", "y": 5.0}).mean == near(1.0 + 8.0 / 16.25 * 2.0)


def test_C19_the_line_of_a_regression() -> None:
    """O10 of B.md: mu(x) = 7/6 + x/2 fitted to three rows, and another for the rows of another state."""
    net = pgm.BayesianNetwork("fitted")
    net.add("u", [0.5, 0.5], states=["a", "b"])
    net.add("x", pgm.Gaussian(0.0, sd=1.0))
    anything = pgm.LinearGaussian({"x": 5.0}, bias=5.0, sd=5.0)
    net.add("y", {"a": anything, "b": anything}, parents=["u"])
    rows = {
        "u": list("aaabbb"),
        "x": [0.0, 1.0, 2.0, 0.0, 1.0, 2.0],
        "y": [1.0, 2.0, 2.0, 0.0, -2.0, -1.0],
    }
    net.set("y", net.cpd("y").fit(rows))
    for x in (0.0, 4.0):
        y = net.query("y", {"u": "a", "x": x})
        assert (y.mean, y.variance) == near((7 / 6 + x / 2, 1 / 18))
        y = net.query("y", {"u": "b", "x": x})
        assert (y.mean, y.variance) == near((-1 / 2 - x / 2, 1 / 2))


# --- O18: classes and clusters ------------------------------------


def naive_bayes() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork("gaussian naive bayes")
    net.add("C", {1: 0.6, 2: 0.4})
    net.add("x1", {1: pgm.Gaussian(0, 1), 2: pgm.Gaussian(2, 1)}, parents=["C"])
    net.add("x2", {1: pgm.Gaussian(0, 1), 2: pgm.Gaussian(1, 0.5)}, parents=["C"])
    return net


def test_C23_classification_as_a_graph() -> None:
    net = naive_bayes()
    assert net.query("C", {"x2": 0.5}).values == near([0.5218156227, 0.4781843773])
    assert net.query("x1").pdf(1.5) == near(0.2185366881)
    assert net.probability({"x1": 1.5}) == near(0.2185366881)


def test_C25_naive_bayes_with_numbers() -> None:
    net = naive_bayes()
    case = {"x1": 1.5, "x2": 0.5}
    assert net.probability(case) == near(0.09551079454)
    assert net.query("C", case).values == near([0.286451316, 0.713548684])
    frame = {"x1": [1.5, None], "x2": [0.5, 0.5]}
    assert net.predict_proba(frame, "C") == near(
        np.array([[0.286451316, 0.713548684], [0.5218156227, 0.4781843773]])
    )
    assert net.predict(frame, "C").tolist() == [2, 1]
    assert net.log_likelihood(frame)[0] == near(math.log(0.09551079454))


def test_C26_features_are_independent_within_a_class_only() -> None:
    net = naive_bayes()
    within = net.query("x1", {"x2": 0.5, "C": 1})
    assert (within.form, within.pdf(1.5)) == ("normal", near(0.1295175957))
    assert net.query("x1", {"C": 1}).pdf(1.5) == near(0.1295175957)
    across = net.query("x1", {"x2": 0.5})
    assert (across.form, across.exact, across.pdf(1.5)) == ("mixture", True, near(0.2359364439))


def test_C24_clustering_is_the_arrow_turned_round() -> None:
    net = pgm.BayesianNetwork("clusters")
    net.add("Z", {1: 0.6, 2: 0.4})
    net.add("x", {1: pgm.Gaussian(0, 1), 2: pgm.Gaussian(3, math.sqrt(2))}, parents=["Z"])
    for x, share, density in ((0.5, 0.8993061411, 0.2348913083), (2.5, 0.09026025852, 0.1165183932)):
        assert net.query("Z", {"x": x})[1] == near(share)
        assert net.probability({"x": x}) == near(density)


# --- O38: the Kalman filter as a network ------------------------------------

Y = (1.0, 0.5, -0.3, 1.2, 2.0)


def kalman(
    a: float = 0.9, q: float = 0.5, c: float = 1.0, r: float = 0.8, steps: int = 6
) -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork("kalman")
    for t in range(1, steps + 1):
        cause = {f"x{t - 1}": a} if t > 1 else {}
        net.add(f"x{t}", pgm.LinearGaussian(cause, sd=math.sqrt(q if t > 1 else 1.0)))
        net.add(f"y{t}", pgm.LinearGaussian({f"x{t}": c}, sd=math.sqrt(r)))
    return net


SEEN = {f"y{t}": y for t, y in enumerate(Y, 1)}


def test_C116_kalman_filter_and_smoother() -> None:
    net = kalman()
    assert net.log_probability(SEEN) == near(-7.346238326)
    filtered = [
        net.query(f"x{t}", {name: y for name, y in SEEN.items() if int(name[1:]) <= t}) for t in range(1, 6)
    ]
    assert [p.mean for p in filtered] == near([0.5555555556, 0.5, 0.06681299903, 0.6409236603, 1.301586213])
    assert [p.variance for p in filtered] == near(
        [0.4444444444, 0.4144578313, 0.408732801, 0.4076203966, 0.4074035161]
    )
    smoothed = net.marginals(SEEN)
    assert [smoothed[f"x{t}"].mean for t in range(1, 6)] == near(
        [0.5588051728, 0.5069866771, 0.4656532259, 0.9611973284, 1.301586213]
    )
    assert [smoothed[f"x{t}"].variance for t in range(1, 6)] == near(
        [0.3253843176, 0.3096445638, 0.3095935038, 0.3250616169, 0.4074035161]
    )
    assert net.query(["x1", "x5"], SEEN).covariance[0, 1] == near(0.01654343649)
    for pair in (["x1", "x2"], ["x2", "x1"], ["x5", "x4"]):
        both = net.query(pair, SEEN)
        assert both.mean == near([smoothed[x].mean for x in pair])
        assert both.variance == near([smoothed[x].variance for x in pair])
    assert (smoothed["x6"].mean, smoothed["x6"].variance) == near((1.171427591, 0.829996848))
    assert smoothed["y6"].variance == near(1.629996848)
    without = {name: y for name, y in SEEN.items() if name != "y3"}
    assert net.log_probability(without) == near(-5.696490222)
    found = net.marginals(without)
    assert [found[f"x{t}"].mean for t in range(1, 6)] == near(
        [0.6591502576, 0.7227286093, 0.9490099243, 1.185835794, 1.426001363]
    )


def test_C116_states_without_memory() -> None:
    net = kalman(a=0.0, q=1.0, c=0.7, r=0.5)
    assert net.log_probability(SEEN) == near(-7.993809251)
    found = net.marginals(SEEN)
    assert [found[f"x{t}"].mean for t in range(1, 6)] == near(
        [0.7070707071, 0.3535353535, -0.2121212121, 0.8484848485, 1.414141414]
    )


def test_C134_a_state_without_memory_is_factor_analysis() -> None:
    """O38 with a = 0: every y_t by itself, log p(y) = -7.993809251 and E[x | y] = c / (c**2 + R) y."""
    chain = kalman(a=0.0, q=1.0, c=0.7, r=0.5)
    alone = kalman(a=0.0, q=1.0, c=0.7, r=0.5, steps=1)
    assert chain.log_probability(SEEN) == near(-7.993809251)
    assert alone.score({"y1": list(Y)}) == near(-7.993809251)
    found = chain.marginals(SEEN)
    for t, (y, mean) in enumerate(
        zip(Y, (0.7070707071, 0.3535353535, -0.2121212121, 0.8484848485, 1.414141414), strict=True), 1
    ):
        each = alone.query("x1", {"y1": y})
        assert (each.mean, found[f"x{t}"].mean) == near((mean, mean))
        assert (each.variance, found[f"x{t}"].variance) == near((0.5 / 0.99, 0.5 / 0.99))
    assert alone.query("y1").variance == near(0.99)
    remembers = kalman(a=0.9, q=1.0, c=0.7, r=0.5)
    assert remembers.log_probability(SEEN) != pytest.approx(-7.993809251, abs=0.1)


def test_C134_factor_analysis_of_several_numbers() -> None:
    """6.5: one factor behind three numbers; E[x | y] = C' (C C' + R)**-1 y."""
    net = pgm.BayesianNetwork("factor analysis")
    net.add("x", pgm.Gaussian(0.0, sd=1.0))
    for name, loading, noise in (("y1", 2.0, 1.0), ("y2", -1.0, 0.5), ("y3", 1.0, 2.0)):
        net.add(name, pgm.LinearGaussian({"x": loading}, sd=math.sqrt(noise)))
    # precision of x: 1 + 4 / 1 + 1 / .5 + 1 / 2 = 7.5; its weighted sum: 2 * 1 - 2 * -1 + .5 * 3 = 5.5
    x = net.query("x", {"y1": 1.0, "y2": -1.0, "y3": 3.0})
    assert (x.mean, x.variance) == near((5.5 / 7.5, 1 / 7.5))
    assert net.query(["y1", "y2", "y3"]).covariance == near(
        np.array([[5.0, -2.0, 2.0], [-2.0, 1.5, -1.0], [2.0, -1.0, 3.0]])
    )


def test_C116_a_state_of_two_dimensions_is_two_nodes() -> None:
    net = pgm.BayesianNetwork("constant velocity")
    for t in range(1, 5):
        where = {f"p{t - 1}": 1.0, f"v{t - 1}": 1.0} if t > 1 else {}
        speed = {f"v{t - 1}": 1.0} if t > 1 else {}
        sd = math.sqrt(0.1) if t > 1 else 1.0
        net.add(f"p{t}", pgm.LinearGaussian(where, sd=sd))
        net.add(f"v{t}", pgm.LinearGaussian(speed, bias=0.0 if t > 1 else 1.0, sd=sd))
        net.add(f"y{t}", pgm.LinearGaussian({f"p{t}": 1.0}, sd=math.sqrt(0.5)))
    seen = {f"y{t}": y for t, y in enumerate((0.9, 2.1, 2.9, 4.2), 1)}
    assert net.log_probability(seen) == near(-5.20858377)
    found = net.marginals(seen)
    assert [(found[f"p{t}"].mean, found[f"v{t}"].mean) for t in range(1, 5)] == [
        near(pair)
        for pair in (
            (0.6911502291, 1.160694478),
            (1.879189776, 1.149418857),
            (3.011791657, 1.154960212),
            (4.172293224, 1.154960212),
        )
    ]


def test_C117_a_switching_system_is_a_mixture_of_all_its_histories() -> None:
    net = pgm.BayesianNetwork("switching")
    net.add("s1", {1: 0.5, 2: 0.5})
    net.add("x1", pgm.Gaussian(0.0, 1.0))
    for t in range(2, 6):
        net.add(f"s{t}", {1: {1: 0.9, 2: 0.1}, 2: {1: 0.2, 2: 0.8}}, parents=[f"s{t - 1}"])
        before = f"x{t - 1}"
        rows = {
            1: pgm.LinearGaussian({before: 0.9}, sd=math.sqrt(0.1)),
            2: pgm.LinearGaussian({before: -0.5}, sd=1.0),
        }
        net.add(f"x{t}", rows, parents=[f"s{t}"])
    for t in range(1, 6):
        net.add(f"y{t}", pgm.LinearGaussian({f"x{t}": 1.0}, sd=math.sqrt(0.8)))
    assert net.probability(SEEN) == near(0.0004732425482)
    found = net.marginals(SEEN)
    assert [found[f"s{t}"][1] for t in range(1, 6)] == near(
        [0.6144703646, 0.7118938013, 0.7304295625, 0.7336726019, 0.7887413687]
    )
    assert [found[f"x{t}"].mean for t in range(1, 6)] == near(
        [0.5842495685, 0.4956126512, 0.3638964361, 0.7194378746, 0.896879202]
    )


def test_pyagrum_says_the_same_of_forty_gaussians() -> None:
    """The numbers are those of pyagrum.clg.CLGVariableElimination, which multiplies canonical forms."""
    rng = np.random.default_rng(0)
    net = pgm.BayesianNetwork()
    for i in range(40):
        parents = [j for j in range(max(0, i - 4), i) if rng.random() < 0.5]
        weights = {f"x{j}": float(np.round(rng.normal() * 0.6, 2)) for j in parents}
        bias, sd = float(np.round(rng.normal(), 2)), float(np.round(0.2 + rng.random(), 2))
        net.add(f"x{i}", pgm.LinearGaussian(weights, bias=bias, sd=sd))
    seen = {f"x{i}": float(rng.normal()) for i in (3, 17, 30)}
    p = net.query("x10", seen)
    assert (p.mean, p.std) == near((-2.9930108719698905, 0.9159429892502642))
