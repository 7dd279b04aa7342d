"""The printed traps of chapter 14 (C.md T1 to T14): formulas and numbers not to be copied literally."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

import pgm
from tests.known import book

T, F = True, False


def test_T1_the_chain_has_466_not_48():
    assert book.fig_14_2().query("W")[T] == pytest.approx(0.466)


def test_T2_the_figures_are_different_networks():
    assert book.fig_14_2().query("C")[T] == pytest.approx(0.4)
    assert book.fig_14_3().query("C")[T] == pytest.approx(0.5)
    assert book.fig_14_4().query("R")[T] == pytest.approx(0.4)
    assert book.fig_14_3().query("R")[T] == pytest.approx(0.45)
    assert book.fig_14_4().query("S")[T] == pytest.approx(0.2)
    assert book.fig_14_3().query("S")[T] == pytest.approx(0.3)


def test_T3_causal_is_down_diagnostic_is_up():
    """Evidence in an ancestor predicts, evidence in a descendant diagnoses; the text swaps the names once."""
    net = book.fig_14_2()
    assert net.query("W", {"C": T})[T] == pytest.approx(0.76)  # P(W | C): down
    assert net.query("C", {"W": T})[T] == pytest.approx(152 / 233)  # P(C | W): up


def test_T4_clamped_evidence_counts_as_cause_and_as_effect():
    net = book.fig_14_2()
    assert net.query("R", {"C": T, "W": T})[T] == pytest.approx(18 / 19)  # "lambda only" gives .7339
    tree = book.fig_14_3()
    tree.add("W", {True: 0.9, False: 0.2}, parents=["R"])
    assert tree.query("R", {"S": T, "W": T})[T] == pytest.approx(0.5545023697, abs=1e-10)


def test_T5_evidence_below_normalises_away():
    """(14.22): the message to one child takes in what is known below the other, whatever its scale."""
    net = book.fig_14_3()
    net.add("W", {True: 0.9, False: 0.2}, parents=["R"])
    scaled = {"S": pgm.Likelihood({True: 5.0, False: 0.0})}
    assert net.query("C", scaled)[T] == pytest.approx(net.query("C", {"S": T})[T])
    assert net.query("R", scaled)[T] == pytest.approx(0.2166666667, abs=1e-10)


def test_T6_noisy_or_without_causes_is_the_leak_and_wet_grass_is_no_noisy_or():
    net = book.fig_14_4()
    gate = book.fig_14_4()
    gate.remove("W")
    gate.add("W", pgm.NoisyOr({"R": 0.9, "S": 0.9}))
    assert gate.query("W", {"R": F, "S": F})[T] == 0.0
    assert gate.query("W", {"R": T, "S": T})[T] == pytest.approx(0.99)
    assert net.query("W", {"R": F, "S": F})[T] == pytest.approx(0.1)
    assert net.query("W", {"R": T, "S": T})[T] == pytest.approx(0.95)
    # (14.27): a message to one parent sums over the others, not over itself
    assert gate.query("R", {"W": T})[T] == pytest.approx(0.7727272727, abs=1e-10)


def test_T7_the_bias_is_one_more_weight_and_the_exponent_has_brackets():
    net = pgm.BayesianNetwork()
    net.add("u", [0.2, 0.3, 0.5], states=[0, 1, 2])
    net.add("x", pgm.Logistic({"u": 0.7}, bias=-1.0))
    assert net.cpd("x").n_parameters == 2
    for u in range(3):
        assert net.query("x", {"u": u})[True] == pytest.approx(1 / (1 + np.exp(1.0 - 0.7 * u)))
    net.add("y", pgm.Logistic({"u": [0.0, 0.7]}, bias=[0.3, -0.7]))  # a softmax of two states is a sigmoid
    np.testing.assert_allclose(net.cpd("y").values, net.cpd("x").values)


def test_T8_a_table_has_a_column_for_each_configuration_and_one_number_less_than_states_in_each():
    net = pgm.BayesianNetwork()
    m, k = 3, 2
    for i in range(k):
        net.add(f"u{i}", [1 / m] * m, states=list(range(m)))
    net.add("x", np.full((m,) * (k + 1), 1 / m), parents=[f"u{i}" for i in range(k)], states=list(range(m)))
    assert net.n_parameters == k * (m - 1) + m**k * (m - 1)


def test_T9_maximal_is_not_largest():
    net = pgm.BayesianNetwork(edges="a -> b; b -> c; a -> c; c -> d")
    cliques = {frozenset(c) for c in net.junction_tree().cliques}
    assert cliques == {frozenset("abc"), frozenset("cd")}


def test_T10_a_clique_tree_needs_triangulation_and_the_running_intersection():
    """A ring of six: its edges joined in a line would not be a junction tree."""
    ring = pgm.MarkovNetwork()
    for i in range(6):
        ring.add_variable(f"v{i}", states=[0, 1])
    for i in range(6):
        ring.add_factor([f"v{i}", f"v{(i + 1) % 6}"], [[2, 1], [1, 3]])
    tree = ring.junction_tree()
    assert max(len(c) for c in tree.cliques) == 3
    joined = tree.to_networkx()
    assert nx.is_tree(joined)
    for name in ring.variables:
        assert nx.is_connected(joined.subgraph([node for node in joined if name in node]))
    a, b = np.linalg.eigvalsh([[2.0, 1.0], [1.0, 3.0]])
    assert ring.log_partition() == pytest.approx(np.log(a**6 + b**6))


def test_T11_dropping_directions_keeps_the_prior_of_the_root():
    net = pgm.MarkovNetwork()
    for name in "CRW":
        net.add_variable(name, states=[F, T])
    net.add_factor(["C", "R"], [[0.9, 0.1], [0.2, 0.8]])
    net.add_factor(["R", "W"], [[0.8, 0.2], [0.1, 0.9]])
    assert net.log_partition() == pytest.approx(np.log(2))
    assert net.query("C")[T] == pytest.approx(0.5)
    assert net.query("W")[T] == pytest.approx(103 / 200)
    net.add_factor(["C"], [0.6, 0.4])
    assert net.log_partition() == pytest.approx(0.0, abs=1e-15)
    assert net.query("W")[T] == pytest.approx(0.466)


def test_T12_moralisation_closes_a_loop_only_between_strangers():
    linked = pgm.BayesianNetwork(edges="a -> b; a -> c; b -> c")
    assert linked.moral_graph().number_of_edges() == 3
    strangers = pgm.BayesianNetwork(edges="a -> c <- b")
    assert strangers.moral_graph().number_of_edges() == 3


def test_T13_what_the_lost_figure_leaves_open_stays_open():
    """All three statements of the caption hold with either direction of B - E."""
    for orientation in ("E -> B", "B -> E"):
        net = book.fig_14_8(orientation)
        assert net.independent("B", "D", given="C")
        assert net.independent("B", "G", given="F")
        assert not net.independent("D", "E", given="F")


def test_T14_a_posterior_is_normalised_given_what_is_known():
    """(14.14) prints p(r) where p(r | X) divides: condition on the inputs before normalising."""
    net = book.fig_14_4()
    for r, s in itertools.product((T, F), repeat=2):
        seen = {"R": r, "S": s}
        p = net.query("W", seen)[T]
        assert p == pytest.approx(net.probability({**seen, "W": T}) / net.probability(seen))
        assert p == pytest.approx(net.probability({"W": T}, given=seen))
