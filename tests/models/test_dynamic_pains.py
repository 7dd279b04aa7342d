"""What goes wrong with dynamic networks elsewhere; each number is an issue of pgmpy/pgmpy."""

from __future__ import annotations

import numpy as np
import pytest

import pgm


def pair():
    """A and B, each of which depends on itself one step ago, B on A too."""
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("A", {0: [0.9, 0.1], 1: [0.3, 0.7]}, parents=["A[-1]"], initial=[0.5, 0.5], states=[0, 1])
    rows = {(0, 0): [0.8, 0.2], (0, 1): [0.4, 0.6], (1, 0): [0.5, 0.5], (1, 1): [0.1, 0.9]}
    dbn.add("B", rows, parents=["A", "B[-1]"], initial={0: [0.6, 0.4], 1: [0.2, 0.8]}, states=[0, 1])
    return dbn


def test_pgmpy_1638_a_forward_query_is_that_of_the_unfolded_network():
    net = pgm.BayesianNetwork()
    net.add("A0", [0.5, 0.5], states=[0, 1])
    net.add("B0", {0: [0.6, 0.4], 1: [0.2, 0.8]}, parents=["A0"], states=[0, 1])
    net.add("A1", {0: [0.9, 0.1], 1: [0.3, 0.7]}, parents=["A0"], states=[0, 1])
    rows = {(0, 0): [0.8, 0.2], (0, 1): [0.4, 0.6], (1, 0): [0.5, 0.5], (1, 1): [0.1, 0.9]}
    net.add("B1", rows, parents=["A1", "B0"], states=[0, 1])
    found = pair().forecast({"B": [1]})
    for name in "AB":
        np.testing.assert_allclose(
            found.marginal(name).values[0], net.query(f"{name}1", {"B0": 1}).values, atol=1e-12
        )


def test_pgmpy_1583_parents_of_both_steps_in_any_order():
    dbn = pair()
    assert dbn.parents("B") == ("A", "B[-1]")
    rows = {(0, 0): [0.8, 0.2], (1, 0): [0.4, 0.6], (0, 1): [0.5, 0.5], (1, 1): [0.1, 0.9]}  # B[-1] first
    other = pgm.DynamicBayesianNetwork()
    other.add("A", {0: [0.9, 0.1], 1: [0.3, 0.7]}, parents=["A[-1]"], initial=[0.5, 0.5], states=[0, 1])
    other.add("B", rows, parents=["B[-1]", "A"], initial={0: [0.6, 0.4], 1: [0.2, 0.8]}, states=[0, 1])
    data = {"B": [1, None, 0]}
    np.testing.assert_allclose(other.smooth(data).values, dbn.smooth(data).values, atol=1e-14)


def test_pgmpy_1157_the_distribution_of_each_step_can_be_had():
    dbn = pair()
    assert dbn.cpd("B", step=0).parents == ("A",)
    assert dbn.cpd("B", step=1) == dbn.cpd("B", step=7) == dbn.cpd("B")


def test_pgmpy_1417_arrows_may_skip_steps():
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("x", {0: [0.9, 0.1], 1: [0.2, 0.8]}, parents=["x[-3]"], initial=[[0.5, 0.5]] * 3, states=[0, 1])
    found = dbn.filter({"x": [1, 0, None, None, None, None, None]})
    np.testing.assert_allclose(found.values[:, 1], [1, 0, 0.5, 0.8, 0.1, 0.45, 0.66], atol=1e-12)


def test_pgmpy_1585_a_hidden_markov_model_of_three_steps():
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("Z", {0: [0.7, 0.3], 1: [0.8, 0.2]}, parents=["Z[-1]"], initial=[0.5, 0.5], states=[0, 1])
    assert dbn.unroll(3).edges == (("Z[0]", "Z[1]"), ("Z[1]", "Z[2]"))
    smoothed = dbn.smooth({"Z": [None, None, 1]}).values
    joint = np.array([0.5, 0.5])[:, None, None] * np.array([[0.7, 0.3], [0.8, 0.2]])[:, :, None]
    joint = (joint * np.array([[0.7, 0.3], [0.8, 0.2]])[None])[:, :, 1]
    np.testing.assert_allclose(smoothed[0], joint.sum(axis=1) / joint.sum(), atol=1e-12)


def test_pgmpy_1629_virtual_evidence_in_a_step():
    dbn = pair()
    weak = dbn.filter({"B": [pgm.Likelihood({0: 0.2, 1: 0.6}), None]}).marginal("A").values[0]
    prior = np.array([0.5, 0.5]) * np.array([0.6 * 0.2 + 0.4 * 0.6, 0.2 * 0.2 + 0.8 * 0.6])
    np.testing.assert_allclose(weak, prior / prior.sum(), atol=1e-12)


def test_pgmpy_1679_a_thousand_steps_take_milliseconds():
    found = pair().filter({"B": [1, 0, 0, 1] * 250})
    assert len(found) == 1000
    assert found.values[-1].sum() == pytest.approx(1.0)
