"""Dynamic networks where steps are extreme, sequences many, and variables never change or are never used."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest

import pgm


def coins():
    """A coin that is the same in each throw of a sequence, and somebody who reports the throws."""
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("coin", {"fair": 0.5, "bent": 0.5}, static=True)
    dbn.add("heads", {"fair": 0.5, "bent": 0.9}, parents=["coin"])
    dbn.add("said", {True: 0.95, False: 0.2}, parents=["heads"])
    return dbn


@pytest.mark.parametrize("engine", ["interface", "boyen-koller", "particles"])
def test_each_sequence_has_a_coin_of_its_own(engine):
    dbn, rng = coins(), np.random.default_rng(0)
    data = [{"said": (rng.random(n) < 0.8).tolist()} for n in (4, 1, 6)]
    found = dbn.filter(data, targets=["coin", "heads"], engine=engine)
    for i, one in enumerate(data):
        alone = dbn.filter(one, targets=["coin", "heads"])
        off = 0.05 if engine == "particles" else 1e-12
        np.testing.assert_allclose(found[i].values, alone.values, rtol=0, atol=off)
        net = dbn.unroll(len(one["said"]))
        known = {f"said[{t}]": value for t, value in enumerate(one["said"])}
        np.testing.assert_allclose(alone.values[-1, :2], net.query("coin", known).values, rtol=0, atol=1e-12)


def test_smoothing_in_little_memory():
    dbn = pgm.DynamicBayesianNetwork()
    for i in range(7):
        dbn.add(f"x{i}", {True: 0.9, False: 0.1}, parents=[f"x{i}[-1]"], initial=0.5)
    dbn.add("y", pgm.NoisyOr({f"x{i}": 0.1 for i in range(7)}))
    data = {"y": np.random.default_rng(0).random(4_000) < 0.5}
    peaks, answers = [], []
    for sparing in (False, True):
        tracemalloc.start()
        answers.append(dbn.smooth(data, targets="x0", sparing=sparing))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert answers[0] == answers[1]
    assert peaks[1] < 0.3 * peaks[0]


def test_weights_count_where_no_two_rows_are_alike():
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("q", [[0.7, 0.3], [0.2, 0.8]], parents=["q[-1]"], initial=[0.6, 0.4], states=[0, 1])
    dbn.add("y", {0: pgm.Gaussian(0.0, sd=1.0), 1: pgm.Gaussian(3.0, sd=1.5)}, parents=["q"])
    one, two = {"y": [0.5, 2.5, 3.5]}, {"y": [-0.5, 1.0]}
    twice = dbn.copy().fit([one, two, two], max_iter=3, tol=0.0)
    heavy = dbn.copy().fit([one, two], weights=[1.0, 2.0], max_iter=3, tol=0.0)
    np.testing.assert_allclose(heavy.cpd("q").values, twice.cpd("q").values, atol=1e-12)
    np.testing.assert_allclose(heavy.cpd("y").bias, twice.cpd("y").bias, atol=1e-12)


def test_rows_that_are_never_used_keep_their_numbers():
    dbn = pgm.DynamicBayesianNetwork()
    rows = {"a": [0.5, 0.5, 0.0], "b": [0.5, 0.5, 0.0], "c": [0.1, 0.2, 0.7]}
    dbn.add("x", rows, parents=["x[-1]"], initial=[0.5, 0.5, 0.0], states=["a", "b", "c"])
    dbn.fit({"x": list("aababb")})
    np.testing.assert_allclose(dbn.cpd("x").values[2], [0.1, 0.2, 0.7], atol=1e-15)
    np.testing.assert_allclose(dbn.cpd("x").values[0], [1 / 3, 2 / 3, 0.0], atol=1e-15)


def test_a_single_step_that_no_double_holds():
    dbn, count = pgm.DynamicBayesianNetwork(), 400
    dbn.add("x", {"a": [1.0, 0.0], "b": [0.0, 1.0]}, parents=["x[-1]"], initial=[0.5, 0.5], states=["a", "b"])
    for i in range(count):
        dbn.add(f"o{i}", {"a": [0.5, 0.5], "b": [0.99, 0.01]}, parents=["x"], states=["no", "yes"])
    dbn.add("end", {"a": [1.0, 0.0], "b": [0.0, 1.0]}, parents=["x"], states=["no", "yes"])
    data = {f"o{i}": ["yes", None] for i in range(count)} | {"end": [None, "yes"]}
    smoothed = dbn.smooth(data)
    assert smoothed.marginal("x").values[:, 1].tolist() == [1.0, 1.0]
    assert smoothed.log_likelihood == pytest.approx(math.log(0.5) + count * math.log(0.01), rel=1e-12)
