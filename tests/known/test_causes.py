"""Worked numbers of the catalogue on causes: C21, E160, and the graphs that issue 20 names."""

from __future__ import annotations

import numpy as np
import pytest

import pgm
from tests.known import book
from tests.known.book import near


def test_C21_seeing_is_not_doing():
    """O5: P(W | S) is 0.9108333333 and P(W | do S) 0.9225; arrows may turn within an equivalence class."""
    net = book.fig_14_5()
    assert net.query("W", {"S": True})[True] == near(0.9108333333)
    assert net.do({"S": True}).query("W")[True] == near(0.9225, 4)
    assert net.adjustment_sets("S", "W") == [{"C"}, {"R"}]
    for z in ("C", "R"):
        adjusted = sum(net.query("W", {"S": True, z: s})[True] * net.query(z)[s] for s in (True, False))
        assert adjusted == near(0.9225, 4)
    found = net.causal_graph().identify("W", do={"S": True}).evaluate(net)
    assert found[True] == pytest.approx(0.9225, abs=1e-12)
    turned = pgm.BayesianNetwork(edges="R -> C -> S; R -> W <- S")
    assert turned.cpdag() == net.cpdag()
    assert turned.adjustment_sets("S", "W") != []


def test_E160_from_cause_to_sign_and_back():
    """Vacation makes a suntan: diagnosis reasons back along the arrow, an action does not reach there."""
    net = pgm.BayesianNetwork()
    net.add("vacation", 0.3)
    net.add("suntan", {True: 0.8, False: 0.2}, parents="vacation")
    seen = net.query("vacation", {"suntan": True})[True]
    assert seen == pytest.approx(0.24 / 0.38, rel=1e-14)
    assert net.do({"suntan": True}).query("vacation")[True] == pytest.approx(0.3, rel=1e-14)
    assert net.causal_graph().identify("suntan", do="vacation").text == "P(suntan | vacation)"
    assert net.causal_graph().identify("vacation", do="suntan").text == "P(vacation)"


def test_C21_the_napkin_by_its_formula():
    """P(y | do x) is sum_w P(x, y | z, w) P(w) over sum_w P(x | z, w) P(w), for every z."""
    net = pgm.BayesianNetwork()
    net.add("a", 0.4)
    net.add("b", 0.7)
    net.add("w", np.array([[[0.8, 0.2], [0.4, 0.6]], [[0.3, 0.7], [0.1, 0.9]]]), parents=["a", "b"],
            states=[False, True])  # fmt: skip
    net.add("z", {True: 0.7, False: 0.2}, parents="w")
    net.add("x", {(True, True): 0.9, (True, False): 0.6, (False, True): 0.3, (False, False): 0.2},
            parents=["z", "a"])  # fmt: skip
    net.add("y", {(True, True): 0.8, (True, False): 0.5, (False, True): 0.45, (False, False): 0.1},
            parents=["x", "b"])  # fmt: skip
    graph = net.causal_graph(hidden=["a", "b"])
    assert graph == pgm.CausalGraph("w -> z -> x -> y; w <-> x; w <-> y")
    truth = net.do({"x": True}).query("y")[True]
    for z in (True, False):
        top = bottom = 0.0
        for w in (True, False):
            p = net.query("w")[w]
            top += net.query(["x", "y"], {"z": z, "w": w})[True, True] * p
            bottom += net.query("x", {"z": z, "w": w})[True] * p
        assert top / bottom == pytest.approx(truth, abs=1e-12)
    assert graph.identify("y", do={"x": True}).evaluate(net)[True] == pytest.approx(truth, abs=1e-12)
