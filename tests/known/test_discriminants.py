"""Worked numbers of the catalogue on discriminants: A.md, chapter 10, O22 to O25, O29; F.md, O3."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import pgm
from tests.known import book
from tests.known.book import near, threshold

Point = tuple[float, float]


def log_odds(net: pgm.BayesianNetwork) -> Callable[[float, float], float]:
    """log P(C1 | x) / P(C2 | x) of two classes, as the network has it."""

    def at(x1: float, x2: float) -> float:
        p = net.query("C", {"x1": x1, "x2": x2})
        return math.log(p[1] / p[2])

    return at


# --- A110, A117, A118: what normal classes come to ---


def test_A110_a_quadratic_discriminant():
    """O23: W = diag(-.25, .25), w = (1, -1), w0 = 0; second differences of a quadratic are exact."""
    g = log_odds(
        book.classes([0.5, 0.5], [(1, 0), (0, 1)], [[[1.0, 0.0], [0.0, 2.0]], [[2.0, 0.0], [0.0, 1.0]]])
    )
    assert g(0.5, 1.5) == near(-0.5)
    assert g(0, 0) == pytest.approx(0.0, abs=1e-12)
    assert (g(1, 0) + g(-1, 0)) / 2 == near(-0.25)
    assert (g(0, 1) + g(0, -1)) / 2 == near(0.25)
    assert ((g(1, 0) - g(-1, 0)) / 2, (g(0, 1) - g(0, -1)) / 2) == near((1.0, -1.0))
    assert g(1, 1) - g(1, 0) - g(0, 1) + g(0, 0) == pytest.approx(0.0, abs=1e-12)


SHARED = [[2.0, 1.0], [1.0, 2.0]]


def test_A117_classes_of_one_covariance_have_linear_discriminants():
    """O22, (10.12): g_i = w_i x + w_i0, but for what no class changes: the quadratic and 2 pi |S|**.5."""
    net = book.classes([0.6, 0.4], [(2, 1), (0, 0)], [SHARED, SHARED])
    weights = {1: (1.0, 0.0, -1.5108256238), 2: (0.0, 0.0, -0.9162907319)}
    for x1, x2 in ((0.0, 0.0), (1.0, 1.0), (2.0, 0.0), (-1.0, 3.0)):
        common = -(x1 * x1 - x1 * x2 + x2 * x2) / 3 - math.log(2 * math.pi) - math.log(3) / 2
        scores = {c: w1 * x1 + w2 * x2 + w0 for c, (w1, w2, w0) in weights.items()}
        for c, g in scores.items():
            assert net.log_probability({"C": c, "x1": x1, "x2": x2}) == pytest.approx(g + common, rel=1e-9)
        shares = np.exp([scores[1], scores[2]])
        assert net.query("C", {"x1": x1, "x2": x2}).values == near(shares / shares.sum(), 9)


def test_A117_three_classes_are_the_softmax_of_three_discriminants():
    """Means (1, 0), (-1, 0), (0, 2) with the covariance I: g_i = m_i x - m_i m_i / 2 + log P_i."""
    means, priors, one = [(1.0, 0.0), (-1.0, 0.0), (0.0, 2.0)], [0.2, 0.3, 0.5], [[1.0, 0.0], [0.0, 1.0]]
    net = book.classes(priors, means, [one] * 3)
    x = np.array([0.4, 0.9])
    g = [np.dot(m, x) - np.dot(m, m) / 2 + math.log(p) for m, p in zip(means, priors, strict=True)]
    assert net.query("C", {"x1": 0.4, "x2": 0.9}).values == near(np.exp(g) / np.exp(g).sum())


def test_A118_two_classes_of_one_covariance_have_linear_log_odds():
    """O22, (10.14): w = (1, 0), w0 = -.5945348919."""
    net = book.classes([0.6, 0.4], [(2, 1), (0, 0)], [SHARED, SHARED])
    g = log_odds(net)
    assert g(0, 0) == near(-0.5945348919)
    assert g(1, 0) - g(0, 0) == near(1.0)
    assert g(0, 1) - g(0, 0) == pytest.approx(0.0, abs=1e-12)
    assert g(7, -5) == near(7 - 0.5945348919)
    rows = {(1.0, 1.0): 0.6, (0.0, 0.0): 0.3555950174, (2.0, 0.0): 0.8030496867}
    for (x1, x2), p in rows.items():
        assert net.query("C", {"x1": x1, "x2": x2})[1] == near(p)
    frame = {"x1": [1.0, 0.0, 2.0, 0.59, 0.6], "x2": [1.0, 0.0, 0.0, 5.0, -5.0]}
    assert net.predict_proba(frame, "C")[:3, 0] == near(list(rows.values()))
    assert net.predict(frame, "C").tolist() == [1, 2, 1, 2, 1]  # C1 where x1 > .5945348919


def test_A118_one_number():
    """Means 1 and -1, sd 1, equal priors: P(C1 | x) = sigmoid(2 x)."""
    net = pgm.BayesianNetwork()
    net.add("C", [0.5, 0.5], states=[1, 2])
    net.add("x", {1: pgm.Gaussian(1.0, 1.0), 2: pgm.Gaussian(-1.0, 1.0)}, parents=["C"])
    assert net.query("C", {"x": 0.5})[1] == near(0.7310585786)
    for x in (-3.0, -0.1, 0.0, 0.2, 4.0):
        assert net.query("C", {"x": x})[1] == near(1 / (1 + math.exp(-2 * x)))


@pytest.mark.parametrize(("prior", "boundary"), [(0.5, 1.0), (0.9, 2.0986122887)])
def test_F6_normal_classes_of_one_variance_part_in_a_point(prior, boundary):
    """O3 of F.md: N(0, 1) and N(2, 1); a line g_1 - g_2 = 2 - 2 x + log of the priors' ratio."""
    net = pgm.BayesianNetwork()
    net.add("C", [prior, 1 - prior], states=[1, 2])
    net.add("x", {1: pgm.Gaussian(0.0, 1.0), 2: pgm.Gaussian(2.0, 1.0)}, parents=["C"])
    for x in (-3.0, 0.0, 1.5, 5.0):
        g = [net.log_probability({"x": x, "C": c}) for c in (1, 2)]
        assert g[0] - g[1] == near(2 * (boundary - x), 9)
    assert net.predict({"x": [boundary - 1e-6, boundary + 1e-6]}, "C").tolist() == [1, 2]


def test_F6_fitted_normal_classes():
    """Rows with means 0 and 2: of one variance a line; of variances 1 and 4 a quadratic, twice zero."""
    net = pgm.BayesianNetwork()
    net.add("C", [0.5, 0.5], states=[1, 2])
    net.add("x", {1: pgm.Gaussian(7.0, 7.0), 2: pgm.Gaussian(7.0, 7.0)}, parents=["C"])

    def g(rows: list[float]) -> Callable[[float], float]:
        """g_1 - g_2 with the likeliest parameters."""
        for name in net.nodes:
            net.set(name, net.cpd(name).fit({"C": [1, 1, 2, 2], "x": rows}))
        return lambda x: net.log_probability({"x": x, "C": 1}) - net.log_probability({"x": x, "C": 2})

    line = g([-1.0, 1.0, 1.0, 3.0])
    assert [line(x) for x in (-1.0, 0.0, 3.0)] == near([4.0, 2.0, -4.0])
    quadratic = g([-1.0, 1.0, 0.0, 4.0])  # -x^2 / 2 + (x - 2)^2 / 8 + log 2
    assert [quadratic(x) for x in (0.0, 2.0, -2.0)] == near([math.log(2) + d for d in (0.5, -2.0, 0.0)])
    for root in (
        -2 / 3 - math.sqrt(16 + 24 * math.log(2)) / 3,
        -2 / 3 + math.sqrt(16 + 24 * math.log(2)) / 3,
    ):
        assert quadratic(root) == pytest.approx(0.0, abs=1e-12)
        assert net.query("C", {"x": root}).values == near([0.5, 0.5])


# --- A119, A125, A127 to A129: sigmoid and softmax ---


def soft(weights: dict[str, object], states: list[int], bias: object = 0.0) -> Callable[..., np.ndarray]:
    """P(y | numbers) of a logistic node, as the network answers."""
    net = pgm.BayesianNetwork()
    for name in weights:
        net.add(name, pgm.Gaussian(0.0, 1.0))
    net.add("y", pgm.Logistic(weights, bias=bias), states=states)
    return lambda *x: net.query("y", dict(zip(weights, x, strict=True))).values


def test_A119_the_sigmoid_its_inverse_and_its_slope():
    """O24: sigmoid(0) = .5, sigmoid(5) = .9933071491; dy/da = y (1 - y)."""
    sigmoid = soft({"a": 1.0}, [0, 1])
    assert sigmoid(0.0)[1] == 0.5
    assert sigmoid(5.0)[1] == near(0.9933071491)
    h = 1e-4  # what is left out of a central difference is of h**2
    for a, slope in ((0.0, 0.25), (5.0, 0.0066480567)):
        assert (sigmoid(a + h)[1] - sigmoid(a - h)[1]) / (2 * h) == pytest.approx(slope, rel=2e-8)
    for a in (-7.0, -0.3, 2.0, 6.0):
        off, on = sigmoid(a)
        assert math.log(on / off) == near(a)
        assert (sigmoid(a + h)[1] - sigmoid(a - h)[1]) / (2 * h) == pytest.approx(on * off, rel=2e-8)


def test_A125_a_prior_moves_the_intercept():
    """O24, (10.20): w0 = -1 + log(.7 / .3); three ways to the same number.

    Normal classes with means 1.5 and -.5 have log p(x | C1) / p(x | C2) = 2 x - 1.
    """
    w0 = -0.1527021396
    assert soft({"x": 2.0}, [2, 1], bias=w0)(1.0)[1] == near(0.8638095286)

    net = pgm.BayesianNetwork()
    net.add("C", [0.7, 0.3], states=[1, 2])
    assert net.query("C", {"C": pgm.Likelihood({1: math.e, 2: 1.0})})[1] == near(0.8638095286)
    net.add("x", {1: pgm.Gaussian(1.5, 1.0), 2: pgm.Gaussian(-0.5, 1.0)}, parents=["C"])
    assert net.query("C", {"x": 1.0})[1] == near(0.8638095286)
    even = net.copy()
    even.set("C", [0.5, 0.5])
    for x in (-1.0, 0.0, 1.0, 2.5):
        found, plain = (n.query("C", {"x": x}) for n in (net, even))
        assert math.log(plain[1] / plain[2]) == near(2 * x - 1)
        assert math.log(found[1] / found[2]) == near(2 * x + w0, 9)


def test_A127_a_class_of_reference():
    """O24: logits (1, -.5) and none for the last class."""
    expected = [0.6285317192, 0.1402443832, 0.2312238976]
    assert soft({"x": [0.5, -1.0, 0.0]}, [1, 2, 3], bias=[0.5, 0.5, 0.0])(1.0) == near(expected)
    # Only differences count: the same with any number added to all three.
    assert soft({"x": [2.5, 1.0, 2.0]}, [1, 2, 3], bias=[0.4, 0.4, -0.1])(1.0) == near(expected)


def test_A128_softmax_and_its_derivative():
    """O24: dy_i / da_j = y_i (delta_ij - y_j)."""
    softmax = soft({f"a{j}": np.eye(3)[j].tolist() for j in range(3)}, [1, 2, 3])
    a = np.array([1.0, 2.0, 3.0])
    y = softmax(*a)
    assert y == near([0.0900305732, 0.2447284711, 0.6652409558], 9)
    assert y.sum() == pytest.approx(1.0, abs=1e-15)
    h = 1e-4
    jacobian = np.array([(softmax(*(a + step)) - softmax(*(a - step))) / (2 * h) for step in h * np.eye(3)]).T
    expected = [
        [0.08192507, -0.02203304, -0.05989202],
        [-0.02203304, 0.18483645, -0.1628034],
        [-0.05989202, -0.1628034, 0.22269543],
    ]
    assert jacobian == pytest.approx(np.array(expected), abs=6e-9)


def test_A129_a_softmax_of_two_is_a_sigmoid():
    """O24: o = (2, .5)."""
    two = soft({"o1": [1.0, 0.0], "o2": [0.0, 1.0]}, [1, 2])
    one = soft({"o1": 1.0, "o2": -1.0}, [2, 1])
    assert two(2.0, 0.5)[0] == one(2.0, 0.5)[1] == near(0.8175744762)
    for o1, o2 in ((0.0, 0.0), (-3.0, 1.0), (700.0, 690.0)):
        assert two(o1, o2)[0] == near(one(o1, o2)[1]) == near(1 / (1 + math.exp(o2 - o1)))


# --- A124: the likelihood of weights ---

X = [1, 2, 3, 4]


def cross_entropy(w: float, w0: float, r: list[int]) -> float:
    """E of (10.23), from what a network gives rows: log P(x, r) - log P(x)."""
    net = pgm.BayesianNetwork()
    net.add("x", [0.25] * 4, states=X)
    net.add("r", pgm.Logistic({"x": w}, bias=w0), states=[0, 1])
    return net.score({"x": X}) - net.score({"x": X, "r": r})


def test_A124_cross_entropy_is_minus_the_log_likelihood():
    """O25: gradient descent on E at 0, 1, 2, 10, 100 and 1000 steps."""
    steps = [
        (0.0, 0.0, 2.7725887222),
        (0.2, 0.0, 2.5197427382),
        (0.2555923839, -0.0484152445, 2.4706214178),
        (0.4287643438, -0.4972992566, 2.1825880523),
        (1.5272994560, -3.4643421098, 0.9953476977),
        (4.2224560734, -10.3545022049, 0.2361440944),
    ]
    for w, w0, error in steps:
        assert cross_entropy(w, w0, [0, 0, 1, 1]) == near(error, 9)


def test_A124_a_row_is_y_or_one_less_y():
    net = pgm.BayesianNetwork()
    net.add("r", 0.3)
    assert np.exp(net.log_likelihood({"r": [True, False, None]})) == near([0.3, 0.7, 1.0])


def test_A124_what_maximises_it():
    """O25: r = 0, 1, 0, 1 is not separable, and has w = .9081842626, w0 = -2.2704606564."""
    r = [0, 1, 0, 1]
    net = pgm.BayesianNetwork()
    net.add("x", [0.25] * 4, states=X)
    net.add("r", pgm.Logistic({"x": 0.0}), states=[0, 1])
    net.set("r", net.cpd("r").fit({"x": X, "r": r}))
    fitted = net.cpd("r")
    assert (fitted.weights["x"], fitted.bias) == near((0.9081842626, -2.2704606564), 9)
    assert net.score({"x": X}) - net.score({"x": X, "r": r}) == near(2.3474865351)
    found = net.predict_proba({"x": X}, "r")[:, 1]
    assert found == near([0.2038706, 0.3883883, 0.6116117, 0.7961294], 7)


# --- A143: two discriminants and a gate ---


def test_A143_two_splits_and_a_gate():
    """O29: C1 is 2 <= x <= 4, as the quadratic discriminant has it; each line alone cannot say so."""
    net = pgm.BayesianNetwork()
    grid = [0.0, 1.0, 1.9, 2.0, 2.1, 3.0, 3.9, 4.0, 4.1, 5.0]
    net.add("x", [0.1] * 10, states=grid)
    net.add("below", threshold({"x": -1.0}, 2.0), states=[0, 1])
    net.add("above", threshold({"x": 1.0}, -4.0), states=[0, 1])
    net.add("C2", pgm.NoisyOr({"below": 1.0, "above": 1.0}), states=[0, 1])
    for x in grid:
        assert net.query("C2", {"x": x})[int((x - 3) ** 2 - 1 > 1e-9)] == 1.0
    assert net.predict({"x": grid}, "C2").tolist() == [1, 1, 1, 0, 0, 0, 0, 0, 1, 1]
    assert net.query("x", {"C2": 0}).values == near([0.0] * 3 + [0.2] * 5 + [0.0] * 2)
    assert net.query("below", {"C2": 1})[1] == near(3 / 5)
    assert net.query("above", {"C2": 1, "below": 0})[1] == 1.0
    assert net.probability({"below": 1, "above": 1}) == 0.0
