"""The k best where no tree fits, against the tree where it does: order, ties, bounds when stopped."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import pgm
from pgm.inference.engines.branching import branch_and_bound
from pgm.inference.engines.branching.branching_arrays import lay_out
from pgm.inference.engines.wide_numbers import log_of
from pgm.inference.program import SUMMED
from pgm.runtime.clock import Clock
from tests.inference.test_branching import case_of, ising
from tests.strategies import KINDS, NUMBERS, TIES, knowledge, models

DATA = st.data()


def case_of_kinds(model: Any, known: Any) -> np.ndarray:
    """What kind of variable is left of a question about everything."""
    case = case_of(model, known)
    return case.program.kinds[case.reduced.variables]


@pytest.mark.parametrize("numbers", [NUMBERS, TIES], ids=["numbers", "ties"])
@settings(max_examples=100)
@given(data=DATA)
def test_the_k_best_are_those_of_the_tree(numbers, data):
    case = data.draw(models(numbers, most=7))
    question = data.draw(knowledge(case, soft=0, kinds=KINDS))
    k = data.draw(st.sampled_from([2, 3, 8, 40]))
    note(f"{case!r}\ngiven = {question.given}, k = {k}")
    if not question.oracle(case).possible:
        with pytest.raises((pgm.ImpossibleEvidence, pgm.NoSupportFound)):
            case.model.k_best(question.given, k=k, engine="branch-and-bound")
        return
    right = case.model.k_best(question.given, k=k)
    if (case_of_kinds(case.model, question.given) == SUMMED).any():
        with pytest.raises(pgm.TooLarge, match="hidden inside gates"):
            case.model.k_best(question.given, k=k, engine="branch-and-bound")
        return
    found = case.model.k_best(question.given, k=k, engine="branch-and-bound")
    assert [a.log_joint for a in found] == pytest.approx([a.log_joint for a in right], rel=1e-9, abs=1e-9)
    assert all(a.exact and a.gap == 0.0 for a in found)
    assert [a.log_probability for a in found] == pytest.approx([a.log_probability for a in right], abs=1e-9)
    if all(not a.report.advice for a in found):
        assert [dict(a) for a in found] == [dict(a) for a in right]
    assert len({tuple(a.codes) for a in found}) == len(found)


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), k=st.sampled_from([2, 5, 20]), parts=st.integers(0, 40))
def test_stopped_early_nothing_passes_its_bound(seed, k, parts):
    """After some parts of the search: the i-th bound is above the i-th best of all."""
    mrf = ising(4, seed, 1.0)
    right = [a.log_joint for a in mrf.k_best(k=k)]
    case = case_of(mrf)
    layout = lay_out(case, "branch-and-bound", k)
    work = branch_and_bound._Branching(layout, 0, Clock(None, None))
    work.raise_floor(2)
    work._begin()
    for _ in range(parts):
        if not work._parts():
            break
        work._step(2)
    n, s = layout.state.n, layout.state
    constant = log_of(case.constant()) + layout.offset
    costs = s.kept_cost[: min(k, n[9])].tolist()
    assert costs == sorted(costs)
    assert len({tuple(row) for row in s.kept[: n[9]].tolist()}) == n[9]
    for cost, best in zip(costs, right, strict=False):
        assert constant - cost * layout.unit <= best + 1e-9
        assert constant - min(cost, work.floor()) * layout.unit >= best - 1e-9


def test_the_time_limit_gives_what_there_is_with_bounds():
    mrf = ising(24, 1)
    mrf.k_best(k=2, engine="branch-and-bound", given={f"s{i}": 1 for i in range(550)})  # compiles
    with pgm.config(time_limit=2.0):
        found = mrf.k_best(k=3, engine="branch-and-bound")
    assert 1 <= len(found) <= 3
    assert not found[-1].exact
    assert [a.log_joint for a in found] == sorted((a.log_joint for a in found), reverse=True)
    for a in found:
        assert a.bound >= a.log_joint
        assert a.exact == (a.gap == 0.0)
    assert "allow more time" in found[-1].report.advice


def test_without_a_tree_the_k_best_are_searched():
    mrf = ising(15, 5, 0.6)
    right = mrf.k_best(k=6)
    with pgm.config(memory_limit="2 MB"):
        with pytest.raises(pgm.TooLarge):
            mrf.k_best(k=6, engine="exact")
        found = mrf.k_best(k=6)
    assert [a.engine for a in found] == ["branch-and-bound"] * 6
    assert [dict(a) for a in found] == [dict(a) for a in right]
    assert [a.log_joint for a in found] == pytest.approx([a.log_joint for a in right], rel=1e-12)
    assert all(a.exact for a in found)


def test_equals_come_as_declared_and_too_many_are_said():
    """Spins that all want to be equal: two best. Without any wish all 2^12 are equal."""
    mrf = pgm.MarkovNetwork()
    for i in range(12):
        mrf.add_variable(f"s{i}", states=["a", "b"])
    for i in range(12):
        mrf.add_factor([f"s{i}", f"s{(i + 1) % 12}"], [[3.0, 1.0], [1.0, 3.0]])
    first, second, third = mrf.k_best(k=3, engine="branch-and-bound")
    assert set(first.values()) == {"a"}
    assert set(second.values()) == {"b"}
    assert third.log_joint == pytest.approx(10 * math.log(3.0))
    assert (
        first.report.advice == third.report.advice == "of several equally probable answers any may be found"
    )

    mrf = pgm.MarkovNetwork()
    for i in range(12):
        mrf.add_variable(f"s{i}", states=["a", "b"])
    for i in range(11):
        mrf.add_factor([f"s{i}", f"s{i + 1}"], [[1.0, 1.0], [1.0, 1.0 + 1e-16 * i]])
    found = mrf.k_best(k=4, engine="branch-and-bound")
    assert len(found) == 4
    assert all(a.exact and "any may be found" in a.report.advice for a in found)


def test_best_ranks_too():
    mrf = ising(12, 5, 0.6)
    right = mrf.k_best(k=3)
    with pgm.config(memory_limit="2 MB"):
        found = mrf.k_best(k=3, engine=pgm.engines.Best(seconds=30.0))
    assert [dict(a) for a in found] == [dict(a) for a in right]


@pytest.mark.parametrize("engine", ["auto", "branch-and-bound", "best"])
def test_time_that_is_too_short_is_not_called_a_lack_of_support(engine):
    """A positive model: whatever is asked of it has an answer, found in time or not."""
    rng = np.random.default_rng(0)
    mrf = pgm.MarkovNetwork()
    names = [[f"v{i},{j}" for j in range(24)] for i in range(24)]
    for name in itertools.chain(*names):
        mrf.add_variable(name, [0, 1, 2])
    for row in (*names, *map(list, zip(*names, strict=True))):
        for a, b in itertools.pairwise(row):
            mrf.add_factor([a, b], np.exp(rng.normal(size=(3, 3))))
    with pgm.config(time_limit=0.02):
        try:
            found = mrf.k_best(k=3, engine=engine)
        except pgm.OutOfTime:
            return
    assert not found[0].exact


def test_what_no_engine_can_rank_is_not_offered_one():
    net = pgm.BayesianNetwork()
    causes = [f"c{i}" for i in range(40)]
    for name in causes:
        net.add(name, 0.1)
    net.add("x", pgm.NoisyOr(dict.fromkeys(causes, 0.5)))
    for engine in ("auto", "best", "branch-and-bound"):
        with pgm.config(memory_limit="100 MB"), pytest.raises(pgm.TooLarge) as refused:
            net.k_best({"x": True}, k=2, engine=engine)
        assert "would approximate it" not in str(refused.value)
