"""Worked numbers of the catalogue on mixtures of experts: B.md, chapter 12, O27."""

from __future__ import annotations

import pytest

import pgm
from tests.known.book import near

SEEN = {"x1": 1.0, "x2": 2.0}


def gated() -> pgm.BayesianNetwork:
    """Two numbers, and a gate g = softmax(M x) with M = ((0, .5), (0, -.5))."""
    net = pgm.BayesianNetwork()
    for name in ("x1", "x2"):
        net.add(name, pgm.Gaussian(0.0, 1.0))
    net.add("h", pgm.Logistic({"x1": [0.0, 0.0], "x2": [0.5, -0.5]}), states=[1, 2])
    return net


def test_B118_experts_of_regression():
    """(12.49): experts r = x2 and r = x1 - x2 with noise N(0, 1); the gate weighs them at each x."""
    net = gated()
    experts = {1: pgm.LinearGaussian({"x1": 0.0, "x2": 1.0}), 2: pgm.LinearGaussian({"x1": 1.0, "x2": -1.0})}
    net.add("r", experts, parents=["h"])
    assert net.query("h", SEEN).values == near([0.880797078, 0.119202922], 9)
    assert [net.query("r", {**SEEN, "h": h}).mean for h in (1, 2)] == near([2.0, -1.0])
    assert net.query("r", SEEN).mean == near(1.6423912339)
    assert net.query("h", {**SEEN, "r": 1.5}).values == near([0.9933071491, 0.0066928509], 8)
    assert net.probability({"r": 1.5}, given=SEEN) == near(0.3121875357)
    # The gate is not a prior: where x2 = -2 the other expert speaks as loudly.
    assert net.query("h", {"x1": 1.0, "x2": -2.0}).values == near([0.119202922, 0.880797078], 9)


def test_B118_experts_of_classification():
    """Each expert a sigmoid of its own; what comes out is the mixture, and the gate learns from the class."""
    net = gated()
    net.add("expert1", pgm.Logistic({"x1": [0.0, 0.5], "x2": [1.0, 0.0]}), states=[1, 2])
    net.add("expert2", pgm.Logistic({"x1": [1.0, 0.0], "x2": [-1.0, 0.5]}), states=[1, 2])

    def chosen(h: int, one: int, two: int) -> int:
        return one if h == 1 else two

    net.add("class", pgm.Deterministic(chosen, parents=["h", "expert1", "expert2"]), states=[1, 2])
    assert net.query("expert1", SEEN).values == near([0.8175744762, 0.1824255238])
    assert net.query("expert2", SEEN).values == near([0.119202922, 0.880797078], 9)
    assert net.query("class", SEEN).values == near([0.7343265463, 0.2656734537])
    assert net.log_probability({"class": 1}, given=SEEN) == near(-0.3088014634)
    assert net.query("h", {**SEEN, "class": 1}).values == near([0.9806498394, 0.0193501606], 9)
    assert net.query("class", {**SEEN, "h": 2}).values == pytest.approx(
        net.query("expert2", SEEN).values, abs=1e-15
    )
