"""Worked numbers of the catalogue on combined classifiers and mixtures.

D.md, O16, O29 and O30; F.md, O21 and O25; G.md, O10.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

import pgm
from tests.known.book import near

# D.md, O29: the outputs of three learners (trap E9: its printed combinations are wrong in two places)
TABLE_17_2 = [(0.2, 0.5, 0.3), (0.0, 0.6, 0.4), (0.4, 0.4, 0.2)]

# --- D87, D88, F154: votes ---

MAJORITY = {
    0.4: [0.4, 0.352, 0.31744, 0.24650187, 0.17437787, 0.15376777, 0.07352920],
    0.5: [0.5] * 7,
    0.55: [0.55, 0.57475, 0.59312688, 0.63312258, 0.67900339, 0.69367603, 0.76407085],
    0.6: [0.6, 0.648, 0.68256, 0.75349813, 0.82562213, 0.84623223, 0.92647080],
    0.7: [0.7, 0.784, 0.83692, 0.92177521, 0.97361006, 0.98253026, 0.99863591],
    0.8: [0.8, 0.896, 0.94208, 0.98834579, 0.99903030, 0.99963095, 0.99999919],
    0.9: [0.9, 0.972, 0.99144, 0.99970429, 0.99999865, 0.99999984, 1.0],
}  # O30, L = 1, 3, 5, 11, 21, 25, 51


def voters(p: float, number: int) -> pgm.BayesianNetwork:
    """Each right with probability p; together they are right if more than half are."""
    net = pgm.BayesianNetwork("voters")
    names = [f"d{i}" for i in range(number)]
    for name in names:
        net.add(name, p)
    net.add("right", pgm.AtLeast(number // 2 + 1, names))
    return net


@pytest.mark.parametrize("p", MAJORITY)
def test_D88_the_more_voters_the_surer(p):
    """O30: surer of what is right where each is right more often than not."""
    found = [voters(p, number).probability({"right": True}) for number in (1, 3, 5, 11, 21, 25, 51)]
    assert found == pytest.approx(MAJORITY[p], abs=6e-9)


def test_D88_an_even_number_counts_ties_as_errors():
    """O30: the printed formula, p = .6: .36 of two and .4752 of four."""
    assert [voters(0.6, number).probability({"right": True}) for number in (2, 4)] == near([0.36, 0.4752])


def vote(*votes: int) -> int:
    """The class with most votes, of two the first."""
    return max(sorted(set(votes)), key=votes.count)


def test_D87_plurality():
    """O29: crisp votes (C2, C2, C1) elect C2; votes drawn from the outputs elect a class by two or three."""
    net = pgm.BayesianNetwork()
    for j, row in enumerate(TABLE_17_2, 1):
        net.add(f"d{j}", list(row), states=[1, 2, 3])
    net.add("y", pgm.Deterministic(vote, parents=["d1", "d2", "d3"]), states=[1, 2, 3])
    crisp = {f"d{j}": net.query(f"d{j}").mode() for j in (1, 2, 3)}  # the tie of d3 goes to the first
    assert crisp == {"d1": 2, "d2": 2, "d3": 1}
    assert net.query("y", crisp)[2] == 1.0
    assert net.query("y", {"d1": 3, "d2": 2, "d3": 3})[3] == 1.0
    two_agree_on_three = 0.3 * 0.4 + 0.3 * 0.2 + 0.4 * 0.2 - 2 * 0.3 * 0.4 * 0.2
    assert net.query("y")[3] == near(two_agree_on_three)


def test_F154_a_majority_of_dependent_voters():
    """Of three voters .8 right, two who copy each other decide alone; independent they reach .896."""
    net = voters(0.8, 3)
    assert net.probability({"right": True}) == near(0.896)
    assert net.query("d0", {"right": False})[True] == near(0.8 * 0.04 / 0.104)
    copied = pgm.BayesianNetwork()
    copied.add("d0", 0.8)
    copied.add("d1", {True: 1.0, False: 0.0}, parents=["d0"])
    copied.add("d2", 0.8)
    copied.add("right", pgm.AtLeast(2, ["d0", "d1", "d2"]))
    assert copied.probability({"right": True}) == near(0.8)
    assert copied.query("right", {"d0": True, "d2": False})[True] == 1.0


# --- D91, G189: models by their probability ---


def combination(outputs: Sequence[Sequence[float]], prior: Sequence[float]) -> pgm.BayesianNetwork:
    """(17.3): which model M is right, and what each says of the class."""
    net = pgm.BayesianNetwork("models")
    models = list(range(1, len(prior) + 1))
    net.add("M", list(prior), states=models)
    net.add("C", dict(zip(models, map(list, outputs), strict=True)), parents=["M"], states=[1, 2, 3])
    return net


def test_D91_models_of_equal_weight_are_the_sum_rule():
    """O29: (.2, .5, .3), C2; the product rule (0, 5/6, 1/6) is for models that are all right."""
    net = combination(TABLE_17_2, [1 / 3] * 3)
    assert net.query("C").values == near([0.2, 0.5, 0.3])
    assert net.map(targets="C")["C"] == 2
    product = pgm.MarkovNetwork()
    product.add_variable("C", states=[1, 2, 3])
    for row in TABLE_17_2:
        product.add_factor(["C"], list(row))
    assert product.partition() == near(0.144)
    assert product.query("C").values == near([0.0, 5 / 6, 1 / 6])


def test_D91_models_by_what_data_say_of_them():
    """O16: the evidence of degrees 0 to 7 of a polynomial, uniform prior: .826 for the third."""
    evidence = [-25.113300, -24.431231, -26.046057, -18.434851]
    evidence += [-20.338732, -21.407571, -23.692536, -25.121607]
    net = pgm.BayesianNetwork()
    net.add("M", [1 / 8] * 8, states=range(8))
    weights = pgm.Likelihood({m: math.exp(e) for m, e in enumerate(evidence)})
    expected = [0.00103872, 0.00205455, 0.00040870, 0.82586736]
    expected += [0.12304534, 0.04225464, 0.00430058, 0.00103012]
    assert net.query("M", {"M": weights}).values == pytest.approx(expected, rel=1e-5)  # six digits of a log


def test_G189_models_of_unequal_weight():
    """G.md, O10: sum over models of P(C | x, M) P(M); a class that is seen tells which model was right."""
    net = combination(TABLE_17_2, [0.5, 0.25, 0.25])
    assert net.query("C").values == near([0.2, 0.5, 0.3])  # d2 and d3 average to d1
    net.set("M", [0.2, 0.7, 0.1])
    assert net.query("C").values == near([0.08, 0.56, 0.36])
    assert net.query("M", {"C": 1}).values == near([0.5, 0.0, 0.5])
    assert net.query("M", {"C": 2}).values == near([0.1 / 0.56, 0.42 / 0.56, 0.04 / 0.56])


# --- F133, F135, F138, F139, G81: mixtures ---


def mixture(share: float, means: Sequence[float], variances: Sequence[float]) -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork("mixture")
    net.add("Z", [share, 1 - share], states=[1, 2])
    parts = {j: pgm.Gaussian(m, math.sqrt(v)) for j, m, v in zip((1, 2), means, variances, strict=True)}
    net.add("t", parts, parents=["Z"])
    return net


def normal(t: float, mean: float, variance: float) -> float:
    return math.exp(-((t - mean) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)


@pytest.mark.parametrize("t", [-2.0, 0.3, 4.0])
def test_F133_G81_the_density_of_a_mixture(t):
    """(6.1): each part by its share; one part alone where it is known."""
    net = mixture(0.3, (-1.0, 1.0), (1.0, 4.0))
    one, two = normal(t, -1.0, 1.0), normal(t, 1.0, 4.0)
    assert net.query("t").pdf(t) == near(0.3 * one + 0.7 * two)
    assert net.probability({"t": t}) == near(0.3 * one + 0.7 * two)
    assert net.query("t", {"Z": 2}).pdf(t) == near(two)


def test_G81_the_moments_of_a_mixture():
    net = mixture(0.3, (-1.0, 1.0), (1.0, 4.0))
    p = net.query("t")
    assert p.mean == near(0.4)
    assert p.variance == near(0.3 * (1 + 1) + 0.7 * (4 + 1) - 0.4**2)
    assert p.cdf(1.0) == near(0.3 * 0.9772498681 + 0.7 * 0.5)


ROWS = [
    # data, E, share, means and variances after one step, E after it (O21)
    (
        (-2.0, -1.0, 1.0, 2.0),
        ((-1.0, 1.0), 7.1581869771),
        (0.5, (-1.34482466, 1.34482466), (0.69144664, 0.69144664), 6.4618563013),
    ),
    (
        (0.0, 1.0, 4.0, 5.0),
        ((0.0, 4.0), 7.4295159702),
        (0.49550498, (0.49615339, 4.46813833), (0.25207756, 0.35926418), 5.7372980692),
    ),
]


@pytest.mark.parametrize(("data", "start", "step"), ROWS, ids=["symmetric", "two pairs"])
def test_F135_the_error_function_of_a_mixture(data, start, step):
    """(6.2) to (6.4): E = -ln L, at the start and after a step of EM, which does not raise it."""
    means, before = start
    share, moved, variances, after = step
    assert -mixture(0.5, means, (1.0, 1.0)).score({"t": list(data)}) == near(before)
    assert -mixture(share, moved, variances).score({"t": list(data)}) == near(after, 8)


def test_F138_complete_data():
    """y = (x, z): with z known each part is fitted to its own rows, the limit of O21."""
    rows = {"Z": [1, 1, 2, 2], "t": [0.0, 1.0, 4.0, 5.0]}
    net = mixture(0.9, (7.0, 7.0), (7.0, 7.0))
    before = net.score(rows)
    for name in ("Z", "t"):
        net.set(name, net.cpd(name).fit(rows))
    assert net.query("Z").values == near([0.5, 0.5])
    for z, mean in ((1, 0.5), (2, 4.5)):
        t = net.query("t", {"Z": z})
        assert (t.mean, t.variance) == near((mean, 0.25))
    assert -net.score({"t": rows["t"]}) == near(5.6757541327)
    # The likelihood of a complete row is that of its indicator and of its number under that part.
    complete = [0.5 * normal(t, {1: 0.5, 2: 4.5}[z], 0.25) for z, t in zip(*rows.values(), strict=True)]
    assert np.exp(net.log_likelihood(rows)) == near(complete)
    assert net.score(rows) > before


def test_F139_responsibilities():
    """O21: what each part has of each number; their means are the parts' new shares."""
    data = [-2.0, -1.0, 1.0, 2.0]
    net = mixture(0.5, (-1.0, 1.0), (1.0, 1.0))
    expected = [0.98201379, 0.88079708, 0.11920292, 0.01798621]
    assert [net.query("Z", {"t": t})[1] for t in data] == pytest.approx(expected, abs=6e-9)
    assert net.predict_proba({"t": data}, "Z")[:, 0] == pytest.approx(np.array(expected), abs=6e-9)
    second = mixture(0.5, (0.0, 4.0), (1.0, 1.0)).predict_proba({"t": [0.0, 1.0, 4.0, 5.0]}, "Z")
    assert second.mean(axis=0) == pytest.approx([0.49550498, 0.50449502], abs=6e-9)


# --- F158 to F160: mixtures of experts ---

SEEN = {"x1": 1.0, "x2": 2.0}


def gated() -> pgm.BayesianNetwork:
    """O25: the gate's vectors (1, 0), (0, 1), (-1, -1), and experts that say 1 with .9, .2 and .5."""
    net = pgm.BayesianNetwork("experts")
    for name in ("x1", "x2"):
        net.add(name, pgm.Gaussian(0.0, 1.0))
    net.add("Z", pgm.Logistic({"x1": [1.0, 0.0, -1.0], "x2": [0.0, 1.0, -1.0]}), states=[1, 2, 3])
    net.add("y", {1: [0.1, 0.9], 2: [0.8, 0.2], 3: [0.5, 0.5]}, parents=["Z"], states=[0, 1])
    return net


def test_F159_the_gate():
    """O25: the softmax of (1, 2, -3)."""
    assert gated().query("Z", SEEN).values == pytest.approx([0.26762315, 0.72747516, 0.00490169], abs=6e-9)
    assert gated().query("Z", {"x1": 0.0, "x2": 0.0}).values == near([1 / 3] * 3)


def test_F160_the_output():
    """O25: .3888067146; once it is 1 the first expert is the likeliest to have spoken."""
    net = gated()
    assert net.query("y", SEEN)[1] == near(0.3888067146)
    found = net.query("Z", {**SEEN, "y": 1}).values
    assert found == pytest.approx([0.61948734, 0.37420915, 0.00630350], abs=6e-9)


def test_F158_experts_that_look_at_the_input():
    """o_i = g(x; theta_i): lines x1 + 1, x2 and 3, each with its noise, mixed by the gate of O25."""
    net = gated()
    lines = {
        1: pgm.LinearGaussian({"x1": 1.0, "x2": 0.0}, bias=1.0, sd=0.5),
        2: pgm.LinearGaussian({"x1": 0.0, "x2": 1.0}, sd=0.5),
        3: pgm.LinearGaussian({"x1": 0.0, "x2": 0.0}, bias=3.0, sd=0.5),
    }
    net.add("o", lines, parents=["Z"])
    assert [net.query("o", {**SEEN, "Z": z}).mean for z in (1, 2, 3)] == near([2.0, 2.0, 3.0])
    assert [net.query("o", {"x1": 3.0, "x2": -1.0, "Z": z}).mean for z in (1, 2, 3)] == near([4.0, -1.0, 3.0])
    assert net.query("o", SEEN).mean == near(2.00490169, 9)
    assert net.query("Z", {**SEEN, "o": 2.0})[3] == near(
        0.00490169 * math.exp(-2) / (0.99509831 + 0.00490169 * math.exp(-2)), 6
    )
