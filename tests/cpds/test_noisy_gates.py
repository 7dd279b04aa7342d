"""Noisy-AND, MAX and MIN, and noisy-OR from q: formulas, sizes, mistakes."""

from __future__ import annotations

import itertools
import pickle
import time
import tracemalloc

import numpy as np
import pytest

import pgm


def test_from_q_is_the_book_s_form() -> None:
    gate = pgm.NoisyOr.from_q({"rain": 0.1, "sprinkler": 0.2}, leak=0.05)
    assert gate == pgm.NoisyOr({"rain": 0.9, "sprinkler": 0.8}, leak=0.05)
    assert repr(gate) == "NoisyOr({'rain': 0.9, 'sprinkler': 0.8}, leak=0.05)"
    net = pgm.BayesianNetwork()
    net.add("rain", 0.5)
    net.add("wet", pgm.NoisyOr.from_q({"rain": 1e-20}))  # 1 - 1e-20 is 1, but q is kept
    assert net.cpd("wet").values.tolist() == [[1.0, 0.0], [1e-20, 1.0]]
    for bad in (1.5, -0.1, float("nan"), "x", True):
        with pytest.raises(pgm.InvalidTable, match=r"'a' \(q\)"):
            pgm.NoisyOr.from_q({"a": bad})
    with pytest.raises(pgm.InvalidTable, match="dict"):
        pgm.NoisyOr.from_q([0.1])


def test_noisy_and_is_noisy_or_negated() -> None:
    net = pgm.BayesianNetwork()
    net.add("a", 0.3)
    net.add("b", {"off": 0.4, "on": 0.6}, states=["off", "on"])
    net.add("x", pgm.NoisyAnd({"a": 0.9, "b": 0.6}, leak=0.2))
    for a, b in itertools.product([0, 1], repeat=2):
        expected = 0.8 * (1 if a else 0.1) * (1 if b else 0.4)
        assert net.cpd("x").values[a, b, 1] == pytest.approx(expected, rel=1e-15)
    assert net.cpd("x").to_dict() == {"causes": {"a": 0.9, "b": 0.6}, "leak": 0.2}
    assert "noisy-AND of" in str(net.cpd("x"))
    sharp = pgm.BayesianNetwork()
    for name in "abc":
        sharp.add(name, 0.5)
    sharp.add("x", pgm.NoisyAnd(dict.fromkeys("abc", 1.0)))
    sharp.add("y", pgm.Deterministic(lambda a, b, c: a and b and c))
    np.testing.assert_array_equal(sharp.cpd("x").values, sharp.cpd("y").values)


def test_noisy_max_of_two_states_is_noisy_or() -> None:
    net = pgm.BayesianNetwork()
    net.add("a", 0.3)
    net.add("b", 0.6)
    net.add("x", pgm.NoisyOr({"a": 0.9, "b": 0.6}, leak=0.2))
    net.add("y", pgm.NoisyMax({"a": 0.9, "b": {True: [0.4, 0.6]}}, leak=0.2), states=[False, True])
    np.testing.assert_array_equal(net.cpd("x").values, net.cpd("y").values)
    net.add("s", {"none": 0.5, "mild": 0.3, "bad": 0.2}, states=["none", "mild", "bad"])
    net.add("z", pgm.NoisyOr({"s": {"mild": 0.2, "bad": 0.7}}, leak=0.1))  # a cause of three states
    np.testing.assert_allclose(net.cpd("z").values[:, 1], [0.1, 1 - 0.9 * 0.8, 1 - 0.9 * 0.3])
    assert net.cpd("z").to_dict()["causes"]["s"]["bad"] == {False: 0.3, True: 0.7}


def test_noisy_min_is_noisy_max_upside_down() -> None:
    rng = np.random.default_rng(0)
    rows = rng.dirichlet(np.ones(4), size=(2, 3))
    leak = rng.dirichlet(np.ones(4))
    net = pgm.BayesianNetwork()
    net.add("a", [0.2, 0.3, 0.5], states=["x", "y", "z"])
    net.add("b", [0.2, 0.3, 0.5], states=["x", "y", "z"])
    net.add("low", pgm.NoisyMin({"a": rows[0], "b": rows[1]}, leak=leak), states=[1, 2, 3, 4])
    upside_down = pgm.NoisyMax({"a": rows[0][:, ::-1], "b": rows[1][:, ::-1]}, leak=leak[::-1])
    net.add("high", upside_down, states=[1, 2, 3, 4])
    np.testing.assert_allclose(net.cpd("low").values, net.cpd("high").values[:, :, ::-1], atol=1e-15)


@pytest.mark.parametrize("gate", [pgm.NoisyMax, pgm.NoisyMin])
def test_a_thousand_causes_of_four_states(gate: type[pgm.NoisyMax]) -> None:
    n = 1000
    rng = np.random.default_rng(1)
    rows = {f"c{i}": rng.dirichlet([50.0, 0.02, 0.01, 0.01]) for i in range(n)}
    if gate is pgm.NoisyMin:
        rows = {name: row[::-1] for name, row in rows.items()}
    net = pgm.BayesianNetwork()
    for i in range(n):
        net.add(f"c{i}", 0.1)
    tracemalloc.start()
    net.add("x", gate({name: {True: row} for name, row in rows.items()}), states=["a", "b", "c", "d"])
    assert net.cpd("x").n_parameters == 1001 * 3
    flip = slice(None, None, -1 if gate is pgm.NoisyMin else 1)
    each = np.array([0.9 + 0.1 * np.cumsum(row[flip]) for row in rows.values()])  # P(effect at most)
    at_most = each.prod(axis=0)
    expected = np.diff(at_most, prepend=0.0)[flip]
    net.query("x")
    begin = time.thread_time()
    np.testing.assert_allclose(net.query("x").values, expected, atol=1e-13)
    seen = net.query("c3", {"x": "c"})
    assert time.thread_time() - begin < 5
    without = at_most / each[3]
    on = 0.1 * np.cumsum(rows["c3"][flip]) * without
    p = np.diff(on, prepend=0.0)[flip][2] / expected[2]
    assert seen[True] == pytest.approx(p, abs=1e-12)
    assert tracemalloc.get_traced_memory()[1] < 100e6
    tracemalloc.stop()
    assert len(str(net.cpd("x"))) < 4000


@pytest.mark.parametrize(
    ("made", "states", "words"),
    [
        (lambda: pgm.NoisyMax(["a"]), None, "dict"),
        (lambda: pgm.NoisyMax({"a": "x"}), None, "cause 'a'"),
        (lambda: pgm.NoisyMax({"a": 1.5}), None, "cause 'a'"),
        (lambda: pgm.NoisyMax({3: 0.5}), None, "by name"),
        (lambda: pgm.NoisyMax({"a": 0.5}, leak=1.5), None, "leak"),
        (lambda: pgm.NoisyAnd({"a": 0.5}, leak=[0.5, 0.5]), None, "leak"),
        (lambda: pgm.NoisyMax({"a": {True: [1, 0, 0]}}), None, "weakest first"),
        (lambda: pgm.NoisyMax({"a": 0.5}), ["x", "y", "z"], "a lone probability is for two states"),
        (lambda: pgm.NoisyMax({"s": 0.5}), [False, True], "'s' has 3"),
        (lambda: pgm.NoisyMax({"a": {"maybe": [1, 0, 0]}}), ["x", "y", "z"], "no state 'maybe'"),
        (lambda: pgm.NoisyMax({"a": {True: [0.5, 0.2, 0.2]}}), ["x", "y", "z"], "row a=True: .*sum to 0.9"),
        (
            lambda: pgm.NoisyMax({"a": {True: [0.5, 0.5]}}),
            ["x", "y", "z"],
            "row a=True: 2 probabilities for the 3",
        ),
        (lambda: pgm.NoisyMax({"a": {True: [1, -1, 1]}}), ["x", "y", "z"], "not from 0 to 1"),
        (lambda: pgm.NoisyMax({"a": [[1, 0, 0]]}), ["x", "y", "z"], "1 rows for its 2 states"),
        (
            lambda: pgm.NoisyMax({"a": {True: [1, 0, 0]}}, leak=[1, 0]),
            ["x", "y", "z"],
            "leak: 2 probabilities",
        ),
    ],
)
def test_mistakes(made, states, words) -> None:
    net = pgm.BayesianNetwork()
    net.add("a", 0.5)
    net.add("s", [0.5, 0.2, 0.3], states=["x", "y", "z"])
    with pytest.raises(pgm.InvalidTable, match=words):
        net.add("effect", made(), states=states)
    assert "effect" not in net


def test_later_edits_do_not_reach_a_gate() -> None:
    rows = {True: [0.5, 0.3, 0.2]}
    gate = pgm.NoisyMax({"a": rows})
    rows[True] = [1, 0, 0]
    net = pgm.BayesianNetwork()
    net.add("a", 0.5)
    net.add("x", gate, states=[0, 1, 2])
    assert net.cpd("x").values[1].tolist() == [0.5, 0.3, 0.2]
    with pytest.raises(ValueError, match="read-only"):
        net.cpd("x").effects["a"][0] = 1
    assert pickle.loads(pickle.dumps(net)).cpd("x") == net.cpd("x")
    other = pgm.BayesianNetwork()
    other.add("a", 0.5)
    with pytest.raises(pgm.InvalidTable, match="for the states"):
        other.add("x", net.cpd("x"), states=[1, 2, 3])
