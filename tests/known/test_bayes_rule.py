"""Worked numbers of the catalogue on probability and Bayes' rule.

E.md, appendix A, O49; F.md, O2 and O3; G.md, O1 and O13.
Rows that say "identity" have no numbers of their own: their numbers here are chosen, and worked by hand.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import pgm
from tests.known import book
from tests.known.book import near

# --- E151 to E160: events, conditions, Bayes' formula ---


def die() -> pgm.BayesianNetwork:
    """A die that favours high numbers: p(i) = i / 21."""
    net = pgm.BayesianNetwork("die")
    net.add("x", [i / 21 for i in range(1, 7)], states=range(1, 7))
    return net


def test_E151_the_axioms():
    """(A.1): P(S) = 1; disjoint events add up; the complement has the rest."""
    net = die()
    assert net.probability({"x": pgm.OneOf(*range(1, 7))}) == near(1.0)
    one, other, both = (pgm.OneOf(*faces) for faces in ((1, 2), (4, 6), (1, 2, 4, 6)))
    assert net.probability({"x": one}) == near(3 / 21)
    assert net.probability({"x": other}) == near(10 / 21)
    assert net.probability({"x": both}) == near(13 / 21)
    assert net.probability({"x": pgm.Not(1, 2, 4, 6)}) == near(8 / 21)
    for p in ([0.5, 0.6], [1.2, -0.2]):
        with pytest.raises(pgm.InvalidTable):
            pgm.BayesianNetwork().add("coin", p, states=["head", "tail"])


def two_events() -> pgm.BayesianNetwork:
    """O49: P(E) = .5, P(F) = .4, P(E and F) = .1."""
    net = pgm.BayesianNetwork("E or F")
    net.add("E", 0.5)
    net.add("F", {True: 0.2, False: 0.6}, parents=["E"])
    net.add("or", pgm.AtLeast(1, ["E", "F"]))
    net.add("and", pgm.AtLeast(2, ["E", "F"]))
    return net


def test_E152_inclusion_and_exclusion():
    """O49: .5 + .4 - .1 = .8."""
    net = two_events()
    assert [net.probability({name: True}) for name in ("E", "F", "and", "or")] == near([0.5, 0.4, 0.1, 0.8])
    assert net.query("E", {"or": True})[True] == near(0.5 / 0.8)


@pytest.mark.parametrize("engine", ["exact", "elimination"])
def test_E153_the_condition_is_a_share_of_what_is_left(engine):
    """(A.3): P(E | F) = P(E and F) / P(F), which needs P(F) > 0."""
    net = two_events()
    assert net.probability({"E": True}, given={"F": True}, engine=engine) == near(0.1 / 0.4)
    assert net.query("F", {"E": True}, engine=engine)[True] == near(0.1 / 0.5)
    assert net.query(["E", "F"], engine=engine)[True, True] == near(0.1)
    with pytest.raises(pgm.ImpossibleEvidence):
        net.query("E", {"and": True, "or": False}, engine=engine)
    net.set("E", 0.0)
    with pytest.raises(pgm.ImpossibleEvidence):
        net.probability({"F": True}, given={"E": True}, engine=engine)


def test_E154_bayes_formula_E155_total_probability():
    """O49: P(F) = .01, P(E | F) = .9, P(E | not F) = .05; P(E) = .009 + .0495."""
    net = pgm.BayesianNetwork()
    net.add("F", 0.01)
    net.add("E", {True: 0.9, False: 0.05}, parents=["F"])
    assert net.query("F", {"E": True})[True] == near(0.153846, 6)
    assert net.query("F", {"E": False})[True] == near(0.001 / 0.9415)
    assert net.probability({"E": True}) == near(0.0585)


def test_E154_three_causes_E155_their_sum():
    """(A.5), (A.6): three machines make .5, .3 and .2 of all parts, of which .02, .03 and .05 are bad."""
    net = pgm.BayesianNetwork()
    net.add("machine", [0.5, 0.3, 0.2], states=["A", "B", "C"])
    net.add("bad", {"A": 0.02, "B": 0.03, "C": 0.05}, parents=["machine"])
    assert net.probability({"bad": True}) == near(0.029)
    assert net.query("machine", {"bad": True}).values == near([10 / 29, 9 / 29, 10 / 29])


def test_E156_independence_of_events_and_of_variables():
    """(A.7), (A.16): the even and low faces of a fair die; three coins of which any two are independent."""
    net = pgm.BayesianNetwork()
    net.add("x", [1 / 6] * 6, states=range(1, 7))
    net.add("even", pgm.Deterministic(lambda x: x % 2 == 0, parents=["x"]), states=[False, True])
    net.add("low", pgm.Deterministic(lambda x: x <= 2, parents=["x"]), states=[False, True])
    assert net.probability({"even": True, "low": True}) == near(1 / 2 * 1 / 3)
    assert net.query("even", {"low": True})[True] == near(1 / 2)
    assert net.query(["even", "low"]).mutual_information("even", "low") == pytest.approx(0.0, abs=1e-15)
    assert not net.independent("even", "low")  # by these numbers, not by the graph

    coins = pgm.BayesianNetwork()
    coins.add("a", 0.5)
    coins.add("b", 0.5)
    coins.add("odd", pgm.Parity(["a", "b"]))
    assert coins.independent("a", "b")
    for pair in itertools.combinations(("a", "b", "odd"), 2):
        assert coins.query(list(pair)).values == near(np.full((2, 2), 0.25))
    assert coins.query("odd", {"a": True, "b": True})[True] == 0.0


def test_E157_distribution_functions():
    """(A.8) to (A.11): F(a) = P(X <= a), and P(a < X <= b) = F(b) - F(a)."""
    net = die()
    steps = [net.probability({"x": pgm.OneOf(*range(1, a + 1))}) for a in range(1, 7)]
    assert steps == near([1 / 21, 3 / 21, 6 / 21, 10 / 21, 15 / 21, 1.0])
    assert net.probability({"x": pgm.OneOf(3, 4, 5)}) == near(steps[4] - steps[1])

    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(1.0, sd=2.0))
    p = net.query("x")
    at = {0.0: 0.3085375387, 1.0: 0.5, 3.0: 0.8413447461}  # Phi(-1/2), Phi(0), Phi(1)
    assert p.cdf(list(at)) == near(list(at.values()))
    assert p.quantile(0.8413447460685429) == near(3.0)
    assert net.probability({"x": pgm.Interval(0.0, 3.0)}) == near(at[3.0] - at[0.0])
    assert net.probability({"x": pgm.Interval(-math.inf, 0.0)}) == near(at[0.0])
    assert p.pdf(1.0) == near(1 / (2 * math.sqrt(2 * math.pi)))


TABLE = np.array([[0.1, 0.2, 0.1], [0.3, 0.05, 0.25]])  # P(x, y)


def joint() -> pgm.MarkovNetwork:
    net = pgm.MarkovNetwork()
    net.add_variable("x", states=[0, 1])
    net.add_variable("y", states=["a", "b", "c"])
    net.add_factor(["x", "y"], TABLE)
    return net


def test_E158_what_is_not_asked_for_is_summed_out():
    """(A.12) to (A.15)."""
    net = joint()
    assert net.query(["x", "y"]).values == near(TABLE)
    assert net.query("x").values == near([0.4, 0.6])
    assert net.query("y").values == near([0.4, 0.25, 0.35])
    assert net.query(["y", "x"]).marginal("x").values == near([0.4, 0.6])
    number = pgm.BayesianNetwork()
    number.add("x", pgm.Gaussian(1.0, sd=2.0))
    number.add("y", pgm.LinearGaussian({"x": 3.0}, bias=-1.0, sd=4.0))
    y = number.query("y")
    assert (y.mean, y.variance) == near((2.0, 9 * 4 + 16))


def test_E159_a_row_of_the_joint_divided_by_its_sum():
    """(A.17)."""
    net = joint()
    assert net.query("x", {"y": "c"}).values == near([0.1 / 0.35, 0.25 / 0.35])
    assert net.query("y", {"x": 1}).values == near([0.3 / 0.6, 0.05 / 0.6, 0.25 / 0.6])
    assert net.query("x", {"y": pgm.Not("a")}).values == near([0.3 / 0.6, 0.3 / 0.6])


def test_E160_from_cause_to_effect_and_back():
    """(A.18), (A.19): vacation y, suntan x; the joint with its arrow turned answers the same."""
    causal = pgm.BayesianNetwork()
    causal.add("vacation", 0.2)
    causal.add("suntan", {True: 0.75, False: 0.125}, parents=["vacation"])
    assert causal.query("suntan", {"vacation": True})[True] == near(0.75)
    assert causal.query("vacation", {"suntan": True})[True] == near(0.15 / 0.25)
    assert causal.query("vacation", {"suntan": False})[True] == near(0.05 / 0.75)
    turned = pgm.BayesianNetwork()
    turned.add("suntan", 0.25)
    turned.add("vacation", {True: 0.6, False: 1 / 15}, parents=["suntan"])
    for target, given in (("suntan", "vacation"), ("vacation", "suntan")):
        for state in (False, True):
            expected = causal.query(target, {given: state}).values
            assert turned.query(target, {given: state}).values == near(expected)


# --- E161 to E164: moments ---


def four_rows() -> pgm.BayesianNetwork:
    """O49: X = (0, 0, 1, 1) and Y = (0, 1, 1, 2), as shares of these rows."""
    net = pgm.BayesianNetwork()
    rows = {"X": [0, 0, 1, 1], "Y": [0, 1, 1, 2]}
    net.add("X", [0.5, 0.5], states=[0, 1])
    net.add("Y", [[1 / 3] * 3] * 2, parents=["X"], states=[0, 1, 2])
    net.set("Y", net.cpd("Y").fit(rows))
    net.set("X", net.cpd("X").fit(rows))
    net.add("sum", pgm.Deterministic(lambda x, y: x + y, parents=["X", "Y"]), states=[0, 1, 2, 3])
    net.add("line", pgm.Deterministic(lambda y: 3 * y - 2, parents=["Y"]), states=[-2, 1, 4])
    return net


def test_E161_expectation():
    """(A.20) to (A.23): E[Y] = 1, E[Y^2] = 1.5, E[3 Y - 2] = 1; E[X + Y] = E[X] + E[Y]; given X = 1, 1.5."""
    net = four_rows()
    y = net.query("Y")
    assert [y.expectation(lambda s, n=n: s**n) for n in range(4)] == near([1.0, 1.0, 1.5, 2.5])
    assert [net.query(name).mean for name in ("X", "sum", "line")] == near([0.5, 1.5, 1.0])
    assert net.query("Y", {"X": 1}).mean == near(1.5)
    assert net.query(["X", "Y"]).expectation(lambda x, y: x * y) == near(0.75)


def test_E162_variance():
    """(A.24), (A.25): Var X = .25, Var Y = .5; Var(3 Y - 2) = 9 Var Y."""
    net = four_rows()
    found = [net.query(name) for name in ("X", "Y", "line")]
    assert [p.variance for p in found] == near([0.25, 0.5, 4.5])
    assert [p.std for p in found] == near([0.5, 0.5**0.5, 4.5**0.5])


def covariance(net: pgm.BayesianNetwork, a: str, b: str) -> float:
    product = net.query([a, b]).expectation(lambda x, y: x * y)
    return product - net.query(a).mean * net.query(b).mean


def test_E163_covariance():
    """(A.26) to (A.30): Cov = .25, and Var(X + Y) = .25 + .5 + 2 * .25 = 1.25."""
    net = four_rows()
    assert covariance(net, "X", "Y") == covariance(net, "Y", "X") == near(0.25)
    assert covariance(net, "X", "line") == near(3 * 0.25)
    assert net.query("sum").variance == near(1.25)
    numbers = pgm.BayesianNetwork()  # X with variance 1 / 4, and Y of variance 1 / 2 of which X is a part
    numbers.add("X", pgm.Gaussian(0.5, sd=0.5))
    numbers.add("Y", pgm.LinearGaussian({"X": 1.0}, bias=0.5, sd=0.5))
    numbers.add("sum", pgm.LinearGaussian({"X": 1.0, "Y": 1.0}, sd=0.0))
    assert numbers.query(["X", "Y"]).covariance == near(np.array([[0.25, 0.25], [0.25, 0.5]]))
    assert numbers.query("sum").variance == near(1.25)


def test_E164_correlation():
    """(A.31): .25 / (.25 * .5)**.5 = .707107; 1 and -1 where one is a line of the other."""
    net = four_rows()
    net.add("down", pgm.Deterministic(lambda y: 5 - 2 * y, parents=["Y"]), states=[1, 3, 5])

    def correlation(a: str, b: str) -> float:
        return covariance(net, a, b) / (net.query(a).std * net.query(b).std)

    assert correlation("X", "Y") == near(0.707107, 6)
    assert (correlation("Y", "line"), correlation("Y", "down")) == near((1.0, -1.0))


# --- E166 to E176: distributions ---


def test_E166_bernoulli():
    """O49: p = .3 has mean .3 and variance .21."""
    net = pgm.BayesianNetwork()
    net.add("x", [0.7, 0.3], states=[0, 1])
    x = net.query("x")
    assert (x.mean, x.variance) == near((0.3, 0.21))
    assert np.exp(net.log_likelihood({"x": [0, 1]})) == near([0.7, 0.3])


def test_E167_binomial():
    """O49: ten tries of .3 have mean 3, variance 2.1, and three of ten .266828."""
    net = pgm.BayesianNetwork()
    tries = [f"x{i}" for i in range(10)]
    for name in tries:
        net.add(name, [0.7, 0.3], states=[0, 1])
    net.add("three", pgm.Exactly(3, tries))
    net.add("some", pgm.AtLeast(3, tries))
    net.add("n", pgm.Deterministic(lambda *x: sum(x), parents=tries), states=range(11))
    n = net.query("n")
    assert (n.mean, n.variance) == near((3.0, 2.1))
    assert (n[3], net.probability({"three": True})) == near((0.266828, 0.266828), 6)
    assert n.values == near([math.comb(10, i) * 0.3**i * 0.7 ** (10 - i) for i in range(11)])
    assert net.probability({"some": True}) == near(1 - sum(n.values[:3]))
    assert net.query("x0", {"n": 3})[1] == near(0.3)  # by symmetry


def test_E169_one_of_K():
    """(A.39): the product of p_i to the power N_i, over units of which one is on."""
    p = [0.5, 0.3, 0.2]
    net = pgm.BayesianNetwork()
    net.add("x", p, states=[1, 2, 3])
    for i in (1, 2, 3):
        net.add(f"unit{i}", pgm.Deterministic(lambda x, i=i: int(x == i), parents=["x"]), states=[0, 1])
    units = net.query(["unit1", "unit2", "unit3"]).to_dict()
    assert {key: value for key, value in units.items() if value} == near(
        {(1, 0, 0): 0.5, (0, 1, 0): 0.3, (0, 0, 1): 0.2}
    )
    rows = {f"unit{i}": [int(x == i) for x in (1, 2, 1, 3)] for i in (1, 2, 3)}
    assert math.exp(net.score(rows)) == near(0.5**2 * 0.3 * 0.2)
    assert math.exp(net.score({"x": [1, 2, 1, 3]})) == near(0.015)


@pytest.mark.parametrize(("mean", "sd"), [(0.0, 1.0), (5.0, 0.25)])
def test_E171_the_normal_distribution(mean, sd):
    """The text's 68.27, 95.45 and 99.73 % within one, two and three standard deviations."""
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(mean, sd))
    for k, expected in ((1, 0.682689), (2, 0.954500), (3, 0.997300)):
        inside = pgm.Interval(mean - k * sd, mean + k * sd)
        assert net.probability({"x": inside}) == near(expected, 6)
    assert net.query("x").pdf([mean, mean + sd]) * sd == near([0.3989422804, 0.2419707245])


def test_E172_lines_and_sums_of_normals():
    """a X + b ~ N(a mu + b, a^2 var), and sums have the sum of the means and of the variances."""
    net = pgm.BayesianNetwork()
    for name, (mean, sd) in {"x": (1.0, 3.0), "y": (-2.0, 4.0), "z": (0.5, 12.0)}.items():
        net.add(name, pgm.Gaussian(mean, sd))
    net.add("line", pgm.LinearGaussian({"x": -2.0}, bias=7.0, sd=0.0))
    net.add("sum", pgm.LinearGaussian({"x": 1.0, "y": 1.0, "z": 1.0}, sd=0.0))
    line, total = net.query("line"), net.query("sum")
    assert (line.mean, line.variance) == near((5.0, 36.0))
    assert (total.mean, total.std) == near((-0.5, 13.0))
    assert net.query("sum", {"line": 1.0}).mean == near(3.0 - 2.0 + 0.5)


def test_E176_the_mean_of_a_sample():
    """(A.46): m ~ N(mu, var / N), also once a part of the sample is seen."""
    net = pgm.BayesianNetwork()
    names = [f"x{t}" for t in range(16)]
    for name in names:
        net.add(name, pgm.Gaussian(5.0, sd=2.0))
    net.add("m", pgm.LinearGaussian(dict.fromkeys(names, 1 / 16), sd=0.0))
    m = net.query("m")
    assert (m.mean, m.std) == near((5.0, 0.5))
    seen = net.query("m", dict.fromkeys(names[:4], 7.0))
    assert (seen.mean, seen.variance) == near((5.5, 12 * 4 / 256))
    one = net.query("x0", {"m": 6.0})
    assert (one.mean, one.variance) == near((6.0, 4 - 1 / 4))


# --- F13 to F17: three classes and two normal ones ---


def classes() -> pgm.BayesianNetwork:
    """F.md, O2."""
    net = pgm.BayesianNetwork("three classes")
    net.add("w", [0.5, 0.3, 0.2], states=[1, 2, 3])
    rows = {1: [0.7, 0.2, 0.1], 2: [0.2, 0.6, 0.2], 3: [0.1, 0.3, 0.6]}
    net.add("x", rows, parents=["w"], states=[0, 1, 2])
    return net


def normals(first: float) -> pgm.BayesianNetwork:
    """F.md, O3: N(0, 1) and N(2, 1)."""
    net = pgm.BayesianNetwork("two normals")
    net.add("w", [first, 1 - first], states=[1, 2])
    net.add("x", {1: pgm.Gaussian(0.0, 1.0), 2: pgm.Gaussian(2.0, 1.0)}, parents=["w"])
    return net


def test_F13_the_prior_alone():
    """O2: whatever x, the first class; wrong half of the time."""
    best = classes().map(targets="w")
    assert (best["w"], best.probability) == (1, near(0.5))
    assert normals(0.4).map(targets="w")["w"] == 2


def test_E155_F14_total_probability():
    """O2: p(x) = (.43, .34, .23); of the normals the density between them, O3."""
    assert [classes().probability({"x": x}) for x in (0, 1, 2)] == near([0.43, 0.34, 0.23])
    assert normals(0.5).probability({"x": 1.0}) == near(0.2419707245)  # phi(1), from either


def test_F15_posterior():
    """O2 and O3."""
    rows = [
        (0.81395349, 0.13953488, 0.04651163),
        (0.29411765, 0.52941176, 0.17647059),
        (0.21739130, 0.26086957, 0.52173913),
    ]
    for x, row in enumerate(rows):
        assert classes().query("w", {"x": x}).values == pytest.approx(row, abs=6e-9)
    assert classes().predict_proba({"x": [0, 1, 2]}, "w") == pytest.approx(np.array(rows), abs=6e-9)
    for prior, p in ((0.5, 0.2689414214), (0.9, 0.7680306833)):
        assert normals(prior).query("w", {"x": 1.5})[1] == near(p)


@pytest.mark.parametrize(("prior", "boundary"), [(0.5, 1.0), (0.9, 2.0986122887)])
def test_F16_the_ratio_of_likelihoods(prior, boundary):
    """O3: the first class where p(x | 1) / p(x | 2) > P(2) / P(1), which is left of the boundary."""
    net = normals(prior)
    threshold = (1 - prior) / prior
    for x in (boundary - 1e-6, boundary + 1e-6, -3.0, 1.5, 6.0):
        ratio = net.probability({"x": x}, given={"w": 1}) / net.probability({"x": x}, given={"w": 2})
        assert ratio == near(math.exp(2 - 2 * x))
        assert net.map({"x": x})["w"] == (1 if ratio > threshold else 2) == (1 if x < boundary else 2)
    assert net.query("w", {"x": boundary}).values == near([0.5, 0.5])


def test_F17_the_rule_of_least_error():
    """O2: classes 1, 2, 3 for x = 0, 1, 2; wrong in .3, .4 and .4 of each class, .35 of all."""
    net = classes()
    assert [net.map({"x": x})["w"] for x in (0, 1, 2)] == [1, 2, 3]
    assert net.predict({"x": [0, 1, 2]}, "w").tolist() == [1, 2, 3]
    net.add("right", pgm.Deterministic(lambda w, x: w == x + 1, parents=["w", "x"]), states=[False, True])
    assert [net.query("right", {"w": w})[False] for w in (1, 2, 3)] == near([0.3, 0.4, 0.4])
    assert net.query("right").values == near([0.35, 0.65])


# --- G5, G6, G25: hypotheses ---


def thresholds(noise: float) -> pgm.BayesianNetwork:
    """Hypotheses h = 0 ... 9, "yes from h on"; each label is turned with the probability `noise`."""
    net = pgm.BayesianNetwork("hypotheses")
    net.add("h", [0.1] * 10, states=range(10))
    for t, x in enumerate((2, 7, 4)):
        rows = {h: 1 - noise if x >= h else noise for h in range(10)}
        net.add(f"r{t}", rows, parents=["h"])
    return net


def test_G5_examples_without_noise_rule_hypotheses_out():
    """No at 2, yes at 7, no at 4: what is left are 3 ... 9, then 3 ... 7, then 5, 6, 7."""
    net = thresholds(0.0)
    seen = {}
    for name, label, left in (
        ("r0", False, range(3, 10)),
        ("r1", True, range(3, 8)),
        ("r2", False, (5, 6, 7)),
    ):
        seen[name] = label
        p = net.query("h", seen)
        assert [h for h in p if p[h] > 0] == list(left)
        assert p.values[p.values > 0] == near([1 / len(left)] * len(left))
    with pytest.raises(pgm.ImpossibleEvidence):
        net.query("h", {"r1": False, "r2": True})  # no at 7 and yes at 4


def test_G6_each_example_scales_the_posterior():
    """With labels turned in one of ten: 9 for each label that agrees and 1 for each that does not."""
    net = thresholds(0.1)
    agree = [sum((x >= h) == label for x, label in ((2, False), (7, True), (4, False))) for h in range(10)]
    assert agree == [1, 1, 1, 2, 2, 3, 3, 3, 2, 2]
    seen = {"r0": False, "r1": True, "r2": False}
    assert net.query("h", seen).values == near([9**a / (3 * 9 + 4 * 81 + 3 * 729) for a in agree])
    # One after the other: today's posterior is tomorrow's prior.
    online = thresholds(0.1)
    for name, label in seen.items():
        online.set("h", online.query("h", {name: label}).values)
    assert online.query("h").values == near(net.query("h", seen).values)


def test_G25_with_enough_data_the_likelihood_wins():
    """A coin with P(head) .8 or .4, priors .5 and .01: after n heads the odds are the prior's times 2^n."""
    for prior in (0.5, 0.01):
        net = pgm.BayesianNetwork()
        net.add("H", prior)
        for t in range(20):
            net.add(f"x{t}", {True: 0.8, False: 0.4}, parents=["H"])
        for n in (0, 1, 5, 20):
            odds = prior / (1 - prior) * 2**n
            assert net.query("H", {f"x{t}": True for t in range(n)})[True] == near(odds / (1 + odds))
            p = net.probability({f"x{t}": True for t in range(n)})
            assert p == near(prior * 0.8**n + (1 - prior) * 0.4**n)
    assert net.query("H", {f"x{t}": True for t in range(20)})[True] > 0.9999


# --- G10, G11, G19, G34 ---


def test_G10_what_else_is_in_the_basket():
    """O13: P(chips | beer) = .7, the confidence of the rule beer => chips; beer in 10 of 16 baskets."""
    beer = [True] * 10 + [False] * 6
    chips = [True] * 7 + [False] * 3 + [True] + [False] * 5
    net = pgm.BayesianNetwork()
    net.add("beer", 0.5)
    net.add("chips", {True: 0.5, False: 0.5}, parents=["beer"])
    for name in net.nodes:
        net.set(name, net.cpd(name).fit({"beer": beer, "chips": chips}))
    assert net.query("chips", {"beer": True})[True] == near(0.7)
    assert net.query("beer", {"chips": True})[True] == near(7 / 8)
    assert net.probability({"beer": True, "chips": True}) == near(7 / 16)  # the rule's support


def test_G11_what_else_is_in_the_basket_of_this_customer():
    """P(Y | X, D): over all customers D it is P(Y | X) again, by their shares among the buyers of X."""
    net = pgm.BayesianNetwork()
    net.add("age", [0.25, 0.75], states=["young", "old"])
    net.add("beer", {"young": 0.6, "old": 0.2}, parents=["age"])
    rows = {("young", True): 0.8, ("young", False): 0.5, ("old", True): 0.6, ("old", False): 0.1}
    net.add("chips", rows, parents=["age", "beer"])
    assert net.query("chips", {"beer": True, "age": "young"})[True] == near(0.8)
    assert net.query("age", {"beer": True}).values == near([0.5, 0.5])
    assert net.query("chips", {"beer": True})[True] == near(0.7)


def test_G19_three_kinds_of_noise():
    """Inputs measured with an error, labels turned by the teacher, attributes that nobody noted."""
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, 1.0))
    net.add("measured", pgm.LinearGaussian({"x": 1.0}, sd=0.5))
    x = net.query("x", {"measured": 2.0})
    assert (x.mean, x.variance) == near((1.6, 0.2))

    net = pgm.BayesianNetwork()
    net.add("class", [0.75, 0.25], states=[0, 1])
    net.add("label", {0: [0.9, 0.1], 1: [0.1, 0.9]}, parents=["class"], states=[0, 1])
    assert net.query("class", {"label": 1}).values == near([0.25, 0.75])
    assert net.query("class", {"label": 0}).values == near([27 / 28, 1 / 28])

    net = pgm.BayesianNetwork()
    net.add("hidden", [0.5, 0.5], states=[-1, 1])
    net.add("x", pgm.Gaussian(0.0, 1.0))
    lines = {h: pgm.LinearGaussian({"x": 1.0}, bias=3.0 * h, sd=0.5) for h in (-1, 1)}
    net.add("y", lines, parents=["hidden"])
    y = net.query("y", {"x": 2.0})
    assert (y.mean, y.variance) == near((2.0, 0.25 + 9.0))  # a random part of the output
    assert net.query("hidden", {"x": 2.0, "y": 5.0})[1] == near(1 / (1 + math.exp(-72)))
    assert net.query("hidden", {"x": 2.0, "y": 2.0})[1] == near(0.5)


def test_G34_log_odds():
    """O1: naive Bayes of fourteen customers gives log(16/567 / (6/875)) = 1.414694."""
    rows = book.customers()
    net = pgm.BayesianNetwork("naive Bayes")
    net.add("buys", [0.5, 0.5], states=["yes", "no"])
    for name in list(rows)[:4]:
        states = list(dict.fromkeys(rows[name]))
        net.add(name, [[1 / len(states)] * len(states)] * 2, parents=["buys"], states=states)
    for name in net.nodes:
        net.set(name, net.cpd(name).fit(rows))
    x = {"age": "youth", "income": "medium", "student": "yes", "credit": "fair"}
    odds = {c: net.log_probability({**x, "buys": c}) for c in ("yes", "no")}
    assert odds["yes"] - odds["no"] == near(1.414694, 7)
    p = net.query("buys", x)
    assert math.log(p["yes"] / p["no"]) == near(1.414694, 7)
    # The log odds are a sum: the prior's, and of each attribute what it tells.
    parts = [[net.query(name, {"buys": c})[state] for c in ("yes", "no")] for name, state in x.items()]
    assert math.log(9 / 5) + sum(math.log(yes / no) for yes, no in parts) == near(1.414694, 7)
    assert sum(a == b for a, b in zip(net.predict(rows, "buys"), rows["buys"], strict=True)) == 13
