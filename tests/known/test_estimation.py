"""Worked numbers of the catalogue on estimation with parameters as nodes: D.md, O4 to O6, O10 to O27."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pgm
from tests.known.book import near

# --- D5: maximum likelihood ---


def test_D5_a_share_is_the_likeliest_proportion():
    """O4: three spams of ten give .3, and no other proportion makes these rows more probable."""
    rows = {"spam": [True] * 3 + [False] * 7}
    net = pgm.BayesianNetwork()
    net.add("spam", 0.5)
    net.set("spam", net.cpd("spam").fit(rows))
    assert net.query("spam")[True] == near(0.3)
    best = net.score(rows)
    assert best == near(3 * math.log(0.3) + 7 * math.log(0.7))
    for q in (0.29, 0.31, 1 / 3):
        net.set("spam", q)
        assert net.score(rows) < best


# --- D11, D12, D69: the mean of a normal distribution ---


def mean_known_sd(n: int, sd: float = 1.5, prior_sd: float = 0.8) -> pgm.BayesianNetwork:
    """Figure 16.3: mu ~ N(4, prior_sd^2), n numbers N(mu, sd^2), and the next one."""
    net = pgm.BayesianNetwork("figure 16.3")
    net.add("mu", pgm.Gaussian(4.0, prior_sd))
    for t in [*range(n), "next"]:
        net.add(f"x{t}", pgm.LinearGaussian({"mu": 1.0}, sd=sd))
    return net


def sample(n: int) -> dict[str, float]:
    """Numbers with the mean 6: what else they are must not matter."""
    return {f"x{t}": 6.0 + (t - (n - 1) / 2) / 4 for t in range(n)}


def test_D11_the_posterior_of_a_mean():
    """O5: N(5.7, .3^2) as printed; between the prior's mean and the sample's by .1495 and .8505."""
    mu = mean_known_sd(20).query("mu", sample(20))
    assert (mu.mean, mu.variance, mu.std) == near((5.7009966777, 0.0956810631, 0.3093235573))
    assert mu.mean == near(0.1495016611 * 4 + 0.8504983389 * 6)
    assert mu.std < min(0.8, 1.5 / math.sqrt(20))
    # Row by row, the posterior as the prior of the next row.
    net = mean_known_sd(0)
    for x in sample(20).values():
        mu = net.query("mu", {"xnext": x})
        net.set("mu", pgm.Gaussian(mu.mean, mu.std))
    assert (mu.mean, mu.variance) == near((5.7009966777, 0.0956810631), 9)


def test_D12_what_the_next_number_will_be():
    """O5: the posterior's variance and the noise's, 2.3456810631."""
    x = mean_known_sd(20).query("xnext", sample(20))
    assert (x.mean, x.variance, x.std) == near((5.7009966777, 2.3456810631, 1.5315616420))


SWEEP = [
    (0, 1.5, 0.8, 4.0, 0.8),
    (1, 1.5, 0.8, 4.4429065744, 0.7058823529),
    (5, 1.5, 0.8, 5.1743119266, 0.5140235243),
    (100, 1.5, 0.8, 5.9320754717, 0.1474308280),
    (20, 0.5, 0.8, 5.9616858238, 0.1107273065),
    (20, 3.0, 0.8, 5.1743119266, 0.5140235243),
    (20, 6.0, 0.8, 4.5245901639, 0.6871180012),
    (20, 1.5, 0.1, 4.1632653061, 0.0958314847),
    (20, 1.5, 0.2, 4.5245901639, 0.1717795003),
    (20, 1.5, 2.0, 5.9452887538, 0.3307907079),
    (20, 1.5, 10.0, 5.9977525284, 0.3352216874),
]


@pytest.mark.parametrize(("n", "sd", "prior_sd", "mean", "std"), SWEEP)
def test_D69_how_much_the_prior_counts(n, sd, prior_sd, mean, std):
    """O5, exercise 1."""
    mu = mean_known_sd(n, sd, prior_sd).query("mu", sample(n))
    assert (mu.mean, mu.std) == near((mean, std), 9)


def test_D70_a_proportion_with_a_normal_prior():
    """O27: 30 of 100, q ~ N(.2, .05^2), and the share's variance .3 * .7 / 100 = .0021."""
    net = pgm.BayesianNetwork()
    net.add("q", pgm.Gaussian(0.2, 0.05))
    net.add("share", pgm.LinearGaussian({"q": 1.0}, sd=math.sqrt(0.0021)))
    q = net.query("q", {"share": 0.3})
    assert (q.mean, q.variance, q.std) == near((0.2543478261, 0.0011413043, 0.0337831962), 8)


# --- D13: classes whose means are not known ---


def test_D13_classes_with_uncertain_means():
    """O6: X_1 = {1, 2}, X_2 = {-1}, mu_i ~ N(0, 4): P(C_1 | x = 0) = .5904, with sample means .5170."""
    net = pgm.BayesianNetwork()
    net.add("C", [2 / 3, 1 / 3], states=[1, 2])
    for i in (1, 2):
        net.add(f"mu{i}", pgm.Gaussian(0.0, 2.0))
    seen = {"a": (1, 1.0), "b": (1, 2.0), "c": (2, -1.0)}
    for name, (i, _) in seen.items():
        net.add(name, pgm.LinearGaussian({f"mu{i}": 1.0}, sd=1.0))
    net.add("x", {i: pgm.LinearGaussian({f"mu{i}": 1.0}, sd=1.0) for i in (1, 2)}, parents=["C"])
    data = {name: x for name, (_, x) in seen.items()}
    predictive = [net.query("x", {**data, "C": i}) for i in (1, 2)]
    assert [p.mean for p in predictive] == near([4 / 3, -0.8])
    assert [p.variance for p in predictive] == near([1 + 4 / 9, 1 + 0.8])
    assert [p.pdf(0.0) for p in predictive] == near([0.1793913515, 0.2489235038])
    assert net.query("C", {**data, "x": 0.0})[1] == near(0.5903884130)

    plug_in = pgm.BayesianNetwork()
    plug_in.add("C", [2 / 3, 1 / 3], states=[1, 2])
    plug_in.add("x", {1: pgm.Gaussian(1.5, 1.0), 2: pgm.Gaussian(-1.0, 1.0)}, parents=["C"])
    assert plug_in.query("C", {"x": 0.0})[1] == near(0.5170302049)


# --- D20, D22, D23, D37: regression ---

X, R = [0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 2.0, 4.0]


def test_D20_least_squares():
    """O10: w = (.9, .9); the residuals .1, .2, -.7, .4 leave a variance of .7 / 4, and so (16.20)."""
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, 1.0))
    net.add("r", pgm.LinearGaussian({"x": 7.0}, bias=7.0, sd=7.0))
    rows = {"x": X, "r": R}
    net.set("r", net.cpd("r").fit(rows))
    for x in (0.0, 1.5, -10.0):
        r = net.query("r", {"x": x})
        assert (r.mean, r.variance) == near((0.9 + 0.9 * x, 0.175))
    found = net.score(rows) - net.score({"x": X})
    assert found == near(-2 * math.log(2 * math.pi * 0.175) - 2)


def regression(alpha: float, beta: float) -> pgm.BayesianNetwork:
    """Figure 14.7: w ~ N(0, I / alpha), r ~ N(w0 + w1 x, 1 / beta); r4 and r5 are at 1.5 and 4."""
    net = pgm.BayesianNetwork("regression")
    for w in ("w0", "w1"):
        net.add(w, pgm.Gaussian(0.0, alpha**-0.5))
    for t, x in enumerate([*X, 1.5, 4.0]):
        net.add(f"r{t}", pgm.LinearGaussian({"w0": 1.0, "w1": x}, sd=beta**-0.5))
    return net


DATA = {f"r{t}": r for t, r in enumerate(R)}


def test_D22_the_posterior_of_the_weights():
    """O11, (16.23): alpha = 1, beta = 4; as alpha goes to 0, least squares."""
    net = regression(1.0, 4.0)
    w = net.query(["w0", "w1"], DATA)
    assert w.mean == near([0.82442748, 0.91603053], 8)
    assert w.covariance == near(np.array([[0.14503817, -0.06106870], [-0.06106870, 0.04325700]]), 7)
    best = net.map(DATA)  # the mode of a normal distribution is its mean: ridge with lambda = 1 / 4
    assert (best["w0"], best["w1"]) == near((0.82442748, 0.91603053), 8)
    assert net.log_probability(DATA) == near(-6.0732763234)
    assert regression(1e-10, 4.0).query(["w0", "w1"], DATA).mean == near([0.9, 0.9], 9)


def test_D23_the_error_bars_of_a_regression():
    """O11, (16.25): 1 / beta and x' S x; with least squares .3125 and .625, exercise 4."""
    for alpha, digits, rows in (
        (1.0, 10, {"r4": (2.1984732824, 0.3091603053), "r5": (4.4885496183, 0.5986005089)}),
        (1e-10, 9, {"r4": (0.9 * 2.5, 0.3125), "r5": (0.9 * 5.0, 0.625)}),
    ):
        net = regression(alpha, 4.0)
        for name, expected in rows.items():
            r = net.query(name, DATA)
            assert (r.mean, r.variance) == near(expected, digits)
    # Each row's weight in the forecast is its slope: the equivalent kernel (16.30) at 1.5.
    net, kernel = regression(1.0, 4.0), [0.21374046, 0.22900763, 0.24427481, 0.25954198]
    forecast = net.query("r4", DATA).mean
    moved = [net.query("r4", {**DATA, f"r{t}": r + 1.0}).mean - forecast for t, r in enumerate(R)]
    assert moved == near(kernel, 8)


def test_D37_a_prior_on_the_prior():
    """O17: alpha in {.1, 1, 10} with equal shares; each forecasts, by what the data say of it."""
    grid = [0.1, 1.0, 10.0]
    net = pgm.BayesianNetwork("two levels")
    net.add("alpha", [1 / 3] * 3, states=grid)
    for w in ("w0", "w1"):
        net.add(w, {a: pgm.Gaussian(0.0, a**-0.5) for a in grid}, parents=["alpha"])
    for t, x in enumerate([*X, 1.5]):
        net.add(f"r{t}", pgm.LinearGaussian({"w0": 1.0, "w1": x}, sd=0.5))
    assert net.query("alpha", DATA).values == near([0.17844416, 0.80653837, 0.01501746], 7)
    means = [net.query("r4", {**DATA, "alpha": a}).mean for a in grid]
    assert means == near([2.2444301825, 2.1984732824, 1.8947368421])
    assert net.query("r4", DATA).mean == near(2.2021126728)
    # The weights of the level above are those of the evidence of each model alone.
    evidence = np.array([regression(a, 4.0).probability(DATA) for a in grid])
    assert net.query("alpha", DATA).values == near(evidence / evidence.sum())


# --- D31: logistic discrimination ---


def test_D31_logistic_discrimination():
    """L on the rows of O15: its slope is the sum of (r - y) and of (r - y) x, zero where L is largest."""
    x, r = [-2.0, -1.0, 0.0, 0.5, 1.0, 2.0], [0, 0, 1, 0, 1, 1]
    net = pgm.BayesianNetwork()
    net.add("x", [1 / 6] * 6, states=x)
    net.add("r", pgm.Logistic({"x": 0.0}), states=[0, 1])
    rows = {"x": x, "r": r}

    def log_likelihood() -> float:
        return net.score(rows) - net.score({"x": x})

    assert log_likelihood() == near(-6 * math.log(2))
    net.set("r", pgm.Logistic({"x": 0.8784071698}, bias=-0.0501418093))  # w_MAP of O15
    y = net.predict_proba({"x": x}, "r")[:, 1]
    slope = [sum(e * b for e, b in zip(np.subtract(r, y), column, strict=True)) for column in ([1] * 6, x)]
    assert slope == pytest.approx([-0.0501418093, 0.8784071698], abs=1e-8)  # w_MAP = S_0 times the slope
    at_map = log_likelihood()
    net.set("r", net.cpd("r").fit(rows))
    y = net.predict_proba({"x": x}, "r")[:, 1]
    assert log_likelihood() > at_map
    for column in ([1.0] * 6, x):
        assert np.subtract(r, y) @ np.array(column) == pytest.approx(0.0, abs=1e-7)
    assert net.query("r", {"x": 2.0})[1] > 0.5 > net.query("r", {"x": -2.0})[1]
