"""Mean field: a bound from below on every model, whatever the blocks; the best of several starts."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import pgm
from tests.oracle import Oracle, log
from tests.strategies import NUMBERS, bayesian_networks, knowledge, markov_networks

DATA = st.data()


@settings(max_examples=150)
@given(data=DATA)
def test_the_bound_is_one_on_every_model(data):
    case = data.draw(markov_networks(NUMBERS, most=6))
    names = data.draw(st.permutations(case.names))
    cut = data.draw(st.integers(0, len(names)))
    blocks = data.draw(st.sampled_from([(), (names,), (names[:cut],), (names[:cut], names[cut:])]))
    note(f"{case!r}\nblocks = {blocks}")
    engine = pgm.engines.MeanField(structured=blocks, restarts=2)
    exact = log(Oracle(case.plain).partition_before)
    try:
        found = case.model.partition(engine=engine)
    except (pgm.ImpossibleEvidence, pgm.NoSupportFound):
        return
    except pgm.InvalidArgument:  # a factor lies partly in a block; see the last test
        assert blocks not in ((), (names,))
        return
    if found == 0.0 and found.exact:
        assert exact == -math.inf
        return
    assert found.log <= exact
    assert found.report.log_bounds[0] <= exact
    if blocks == (names,):  # nothing is left out: the bound is the number
        assert found.log == pytest.approx(exact, abs=1e-7, rel=1e-9)


@settings(max_examples=60)
@given(data=DATA)
def test_the_bound_on_evidence(data):
    case = data.draw(bayesian_networks(most=6))
    question = data.draw(knowledge(case))
    oracle = question.oracle(case)
    note(f"{case!r}\ngiven = {question.given}")
    try:
        found = case.model.probability(question.given, engine="mean-field")
    except (pgm.ImpossibleEvidence, pgm.NoSupportFound):
        return
    assert found.log <= log(oracle.partition) + 1e-12  # the rows of the network are rounded
    if found.report.log_bounds is not None:
        assert found.report.log_bounds[0] == pytest.approx(found.log, abs=1e-9)


def ring(strength: float, n: int = 6) -> pgm.MarkovNetwork:
    mrf = pgm.MarkovNetwork()
    for i in range(n):
        mrf.add_variable(f"x{i}", states=[0, 1])
    for i in range(n):
        mrf.add_factor([f"x{i}", f"x{(i + 1) % n}"], np.eye(2) * strength, log=True)
    return mrf


def test_blocks_tighten_the_bound():
    mrf = ring(1.5)
    names = list(mrf.variables)
    bounds = [
        mrf.log_partition(engine=pgm.engines.MeanField(structured=blocks))
        for blocks in ([], [names[:2]], [names[:5]], [names])
    ]
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[-1] - 0.1
    assert bounds[-1] == pytest.approx(mrf.log_partition(), abs=1e-9)
    joint = mrf.query(["x0", "x1", "x5"], engine=pgm.engines.MeanField(structured=[names[:5]]))
    pair = joint.marginal(["x0", "x1"]).values
    assert abs(pair - np.outer(pair.sum(1), pair.sum(0))).max() > 0.05  # dependent inside the block
    with_x5 = joint.marginal(["x1", "x5"]).values
    np.testing.assert_allclose(with_x5, np.outer(with_x5.sum(1), with_x5.sum(0)), atol=1e-12)


def test_the_bound_rises_from_sweep_to_sweep():
    mrf = ring(1.5)
    mrf.add_factor(["x0"], [0.0, 1.0], log=True)
    found = mrf.log_partition(engine="mean-field")
    course = found.report.course
    assert course.unit == "iterations"
    assert course.at == tuple(range(1, len(course.at) + 1))
    assert len(course.at) > 1
    assert list(course.least) == sorted(course.least)
    assert course.least[-1] == pytest.approx(found, abs=1e-9)
    assert course.least[-1] <= mrf.log_partition()
    assert set(course.most) == {math.inf}


def test_several_starts_find_the_better_optimum():
    mrf = pgm.MarkovNetwork()
    for name in "abcd":
        mrf.add_variable(name, states=[0, 1, 2])
    rng = np.random.default_rng(3)
    for pair in ("ab", "bc", "cd", "da", "ac"):
        mrf.add_factor(list(pair), rng.normal(size=(3, 3)) * 3.0, log=True)
    one, many = (mrf.log_partition(engine=pgm.engines.MeanField(restarts=n)) for n in (1, 30))
    assert one <= many <= mrf.log_partition()
    again = mrf.log_partition(engine=pgm.engines.MeanField(restarts=30))
    assert many == again
    seeds = {float(mrf.log_partition(engine=pgm.engines.MeanField(restarts=2, seed=s))) for s in range(20)}
    assert len(seeds) > 1


def test_zeros_are_followed_or_no_support_is_found():
    """A parity of three: point masses are all that independent distributions can be."""
    mrf = pgm.MarkovNetwork()
    for name in "abc":
        mrf.add_variable(name, states=[0, 1])
    mrf.add_factor(list("abc"), {key: 1.0 for key in np.ndindex(2, 2, 2) if sum(key) % 2 == 0})
    found = mrf.partition(engine="mean-field")
    assert found.log == pytest.approx(0.0, abs=1e-9)  # of four configurations it sees one
    assert found.log <= 0.0
    whole = mrf.partition(engine=pgm.engines.MeanField(structured=[["a", "b", "c"]]))
    assert whole == pytest.approx(4.0)


def test_blocks_that_cannot_be():
    net = pgm.BayesianNetwork()
    net.add("a", 0.3)
    net.add("b", 0.4)
    net.add("c", {(x, y): 0.2 + 0.3 * x + 0.1 * y for x in (0, 1) for y in (0, 1)}, parents=["a", "b"])
    for blocks, given_, said in (
        ([["a", "b"]], {}, "'a', 'b', 'c' has several of its variables in one block of structured="),
        ([["a", "b"], ["b", "c"]], {}, "'b' is in structured= twice"),
        ([["a", "b", "c"]], {"a": pgm.Soft({True: 0.5, False: 0.5})}, "'a' has pgm.Soft evidence"),
    ):
        with pytest.raises(pgm.InvalidArgument, match=said):
            net.marginals(given_, engine=pgm.engines.MeanField(structured=blocks))
    with pytest.raises(pgm.UnknownVariable, match="structured=: there is no variable 'x'"):
        net.marginals(engine=pgm.engines.MeanField(structured=[["x"]]))
    assert (
        net.marginals({"c": True}, engine=pgm.engines.MeanField(structured=[["a", "b"]]))["a"].exact is False
    )


def test_restarts_that_nobody_waits_for_take_neither_time_nor_memory():
    net = pgm.load_network("asia")
    net.query("lung", engine=pgm.engines.MeanField(restarts=1))
    tracemalloc.start()
    try:
        with pgm.config(time_limit=0.3), pytest.raises(pgm.OutOfTime):
            net.query("lung", engine=pgm.engines.MeanField(restarts=10**8))
        assert tracemalloc.get_traced_memory()[1] < 2e7
    finally:
        tracemalloc.stop()
