"""Belief propagation: exact on trees, Bethe's numbers on loops, in any schedule; maxima with a bound."""

from __future__ import annotations

import itertools
import math
from time import thread_time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import pgm
from pgm.inference.engines.factor_graph import make_graph
from pgm.inference.engines.loopy import propagation
from pgm.inference.engines.problem import Problem
from pgm.inference.program.reduction import Known, reduce_case
from pgm.runtime.clock import Clock
from tests.loops.forms import FORMS
from tests.oracle import Oracle, Plain
from tests.strategies import NUMBERS, TAME, TIES, knowledge, markov_networks, models

SCHEDULES = ["sequential", "residual", "parallel"]
DATA = st.data()


def problem(model: Any, known: dict[int, int] | None = None) -> Problem:
    compiled = model._compile()
    everything = np.arange(compiled.program.n_named)
    case = reduce_case(compiled.program, Known(known or {}), everything, Clock(None, None))
    return Problem(case, {}, compiled.names, compiled.trees)


# --- trees ---


@st.composite
def forests(draw: st.DrawFn) -> pgm.MarkovNetwork:
    """Factors that each bring new variables, and are joined to what is there by one at most."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    style = draw(NUMBERS)
    mrf = pgm.MarkovNetwork()
    names: list[str] = []
    for _ in range(draw(st.integers(1, 5))):
        fresh = [f"x{len(names) + i}" for i in range(draw(st.integers(1, 3)))]
        if len(names) + len(fresh) > 8:
            break
        for name in fresh:
            mrf.add_variable(name, states=list(range(draw(st.integers(1, 3)))))
        join = [draw(st.sampled_from(names))] if names and draw(st.booleans()) else []
        scope = draw(st.permutations([*join, *fresh]))
        shape = tuple(len(mrf.variables[name].states) for name in scope)
        mrf.add_factor(scope, style.draw(rng, shape))
        names += fresh
    return mrf


@pytest.mark.parametrize("schedule", SCHEDULES)
@settings(max_examples=80)
@given(mrf=forests())
def test_trees_are_exact_and_said_to_be(schedule, mrf):
    engine = pgm.engines.Loopy(schedule=schedule, tol=1e-13)
    try:
        expected = mrf.marginals()
    except pgm.ImpossibleEvidence:
        with pytest.raises(pgm.ImpossibleEvidence):
            mrf.marginals(engine=engine)
        return
    found = mrf.marginals(engine=engine)
    assert found.exact
    assert found.report.iterations <= len(mrf.variables) + 3
    for name, p in expected.items():
        np.testing.assert_allclose(found[name].values, p.values, rtol=1e-9, atol=1e-13)
    assert mrf.log_partition(engine=engine) == pytest.approx(mrf.log_partition(), abs=1e-10, rel=1e-12)
    best, right = mrf.map(engine=engine), mrf.map()
    assert best.exact
    assert best.log_joint == pytest.approx(right.log_joint, abs=1e-10, rel=1e-12)
    assert best.gap == 0.0
    for potential in mrf.potentials:
        if 1 < len(potential.names):
            joint = mrf.query(potential.names, engine=engine)
            assert joint.exact
            np.testing.assert_allclose(joint.values, mrf.query(potential.names).values, rtol=1e-9, atol=1e-13)


def test_two_sweeps_do_for_a_chain_in_any_order():
    rng = np.random.default_rng(0)
    mrf = pgm.MarkovNetwork()
    for i in rng.permutation(2000):
        mrf.add_variable(f"x{i}", states=[0, 1])
    for i in rng.permutation(1999):
        mrf.add_factor([f"x{i}", f"x{i + 1}"], rng.random((2, 2)) + 0.01)
    found = mrf.marginals(engine="loopy")
    assert found.exact
    assert found.report.iterations == 3  # the third finds that nothing moves
    expected = mrf.marginals()
    assert max(abs(found[name].values - p.values).max() for name, p in expected.items()) < 1e-11
    flooding = pgm.engines.Loopy(schedule="parallel", max_iter=2500, tol=1e-13)
    assert mrf.query("x1000", engine=flooding).exact


def test_one_soft_on_a_tree_is_exact():
    net = pgm.BayesianNetwork()
    net.add("a", 0.3)
    net.add("b", {True: 0.9, False: 0.2}, parents=["a"])
    net.add("c", {True: 0.6, False: 0.1}, parents=["b"])
    known = {"b": pgm.Soft({True: 0.8, False: 0.2})}
    found, expected = net.marginals(known, engine="loopy"), net.marginals(known)
    assert found.exact
    for name in "abc":
        np.testing.assert_allclose(found[name].values, expected[name].values, atol=1e-12)
    both = {"a": pgm.Soft({True: 0.5, False: 0.5}), "c": pgm.Soft({True: 0.9, False: 0.1})}
    found, expected = net.marginals(both, engine="loopy"), net.marginals(both)
    assert not found.exact  # approached, not reached
    np.testing.assert_allclose(found["b"].values, expected["b"].values, atol=1e-7)
    best, right = net.map(both, engine="loopy"), net.map(both)
    assert dict(best) == dict(right)
    assert best.probability == pytest.approx(right.probability, abs=1e-6)
    np.testing.assert_allclose(
        net.query(["a", "c"], both, engine="loopy").values, net.query(["a", "c"], both).values, atol=1e-6
    )


# --- loops: Bethe, in textbook form ---


def flooding(plain: Plain, sweeps: int, damping: float) -> tuple[dict[str, np.ndarray], float]:
    """Loopy belief propagation as the books have it, in plain numbers; log Z from the Bethe free energy."""
    tables = [(scope, np.asarray(t, float)) for scope, t in plain.tables]
    message = {(i, v): np.zeros(plain.cards[v]) for i, (scope, _) in enumerate(tables) for v in scope}
    users = {v: [i for i, (scope, _) in enumerate(tables) if v in scope] for v in plain.names}

    def cavity(i: int, v: str) -> np.ndarray:
        return np.exp(sum((message[j, v] for j in users[v] if j != i), np.zeros(plain.cards[v])))

    def product(i: int, without: str | None) -> np.ndarray:
        scope, table = tables[i]
        for axis, v in enumerate(scope):
            if v != without:
                shape = [-1 if a == axis else 1 for a in range(len(scope))]
                table = table * cavity(i, v).reshape(shape)
        return table

    for _ in range(sweeps):
        new = {}
        for i, (scope, _) in enumerate(tables):
            for axis, v in enumerate(scope):
                sent = product(i, v).sum(axis=tuple(a for a in range(len(scope)) if a != axis))
                logs = np.log(sent / sent.max())
                new[i, v] = (1 - damping) * logs + damping * message[i, v] if len(scope) > 1 else logs
        message = new
    beliefs = {}
    for v in plain.names:
        b = np.exp(sum((message[j, v] for j in users[v]), np.zeros(plain.cards[v])))
        beliefs[v] = b / b.sum()
    log_z = 0.0
    for i, (_, table) in enumerate(tables):
        b = product(i, None)
        b = b / b.sum()
        log_z += float((b * (np.log(table) - np.log(b))).sum())
    for v in plain.names:
        log_z -= (1 - len(users[v])) * float((beliefs[v] * np.log(beliefs[v])).sum())
    return beliefs, log_z


@pytest.mark.parametrize("schedule", SCHEDULES)
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1))
def test_loops_have_the_fixed_point_and_the_free_energy_of_the_books(schedule, seed):
    rng = np.random.default_rng(seed)
    cards = {name: int(rng.integers(2, 4)) for name in "abcde"}
    scopes = [tuple(rng.permutation(list("abcde"))[: rng.integers(1, 4)]) for _ in range(6)]
    tables = tuple((scope, rng.uniform(0.5, 1.5, [cards[v] for v in scope])) for scope in scopes)
    mrf = pgm.MarkovNetwork()
    for name, card in cards.items():
        mrf.add_variable(name, states=list(range(card)))
    for scope, table in tables:
        mrf.add_factor(scope, table)
    beliefs, log_z = flooding(Plain(cards, tables), 300, 0.2)
    found = mrf.marginals(engine=pgm.engines.Loopy(schedule=schedule, damping=0.1, tol=1e-12))
    assert found.report.converged
    for name, p in beliefs.items():
        np.testing.assert_allclose(found[name].values, p, atol=1e-9)
    engine = pgm.engines.Loopy(schedule=schedule, tol=1e-12)
    assert mrf.log_partition(engine=engine) == pytest.approx(log_z, abs=1e-9)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_each_sweep_of_flooding_is_that_of_the_books(schedule):
    """Not only the fixed point: the numbers on the way, damped."""
    rng = np.random.default_rng(5)
    pairs = [*itertools.combinations("abcd", 2), ("a",), ("c",)]
    tables = tuple((pair, rng.uniform(0.1, 2.0, [2] * len(pair))) for pair in pairs)
    mrf = pgm.MarkovNetwork()
    for name in "abcd":
        mrf.add_variable(name, states=[0, 1])
    for pair, table in tables:
        mrf.add_factor(pair, table)
    engine = pgm.engines.Loopy(schedule=schedule, damping=0.3, max_iter=4)
    with pytest.warns(pgm.ConvergenceWarning):
        found = mrf.marginals(engine=engine)
    assert len(found.report.residuals) == 4
    beliefs, _ = flooding(Plain(dict.fromkeys("abcd", 2), tables), 4, 0.3)
    same = [np.allclose(found[name].values, p, atol=1e-13) for name, p in beliefs.items()]
    assert all(same) == (schedule == "parallel")


@pytest.mark.filterwarnings("ignore::pgm.ConvergenceWarning")
@settings(max_examples=60)
@given(data=DATA)
def test_joints_of_a_factor_have_the_marginals_of_its_variables(data):
    case = data.draw(markov_networks(TAME, most=6))
    note(repr(case))
    engine = pgm.engines.Loopy(damping=0.3, max_iter=2000)
    try:
        found = case.model.marginals(engine=engine)
    except (pgm.ImpossibleEvidence, pgm.NoSupportFound):
        return
    if not found.report.converged:
        return
    for scope, table in case.plain.tables:
        joint = case.model.query(scope, engine=engine)
        written_by_rows = 0.0 in table
        if "conditioning" in joint.report.advice:
            assert written_by_rows
            continue
        for name in scope:
            np.testing.assert_allclose(joint.marginal(name).values, found[name].values, atol=1e-5)


def test_a_joint_of_no_factor_is_put_together_by_conditioning():
    mrf = pgm.MarkovNetwork()
    for name in "abc":
        mrf.add_variable(name, states=[0, 1])
    mrf.add_factor(["a", "b"], [[3.0, 1.0], [1.0, 2.0]])
    mrf.add_factor(["b", "c"], [[1.0, 0.0], [1.0, 5.0]])
    found = mrf.query(["c", "a"], engine="loopy")
    assert "conditioning" in found.report.advice
    np.testing.assert_allclose(found.values, mrf.query(["c", "a"]).values, atol=1e-12)


# --- maxima ---


@pytest.mark.filterwarnings("ignore::pgm.ConvergenceWarning")
@settings(max_examples=120)
@given(data=DATA)
def test_the_most_probable_states_and_their_bound(data):
    case = data.draw(models(st.one_of(TAME, TIES), most=6))
    question = data.draw(knowledge(case))
    note(f"{case!r}\ngiven = {question.given}")
    oracle = question.oracle(case)
    try:
        found = case.model.map(question.given, engine=pgm.engines.Loopy(damping=0.1, max_iter=100))
    except (pgm.ImpossibleEvidence, pgm.NoSupportFound):
        return
    if not oracle.possible:
        raise AssertionError("states of probability zero were found")
    right = case.model.map(question.given)
    assert found.log_joint <= right.log_joint + 1e-9
    assert found.bound >= right.log_joint - 1e-9
    if found.exact:
        assert found.log_joint == pytest.approx(right.log_joint, abs=1e-8)
    codes = case.codes(dict(found))
    at = [codes.get(name, 0) for name in case.names]
    for name, weights in question.known.weights.items():
        if name not in codes:
            at[case.names.index(name)] = int(np.argmax(weights))
    assert math.exp(found.log_joint) == pytest.approx(
        float(oracle._joint[tuple(at)]) / oracle._denominator, rel=1e-8
    )


def test_the_inside_of_gates_is_summed_in_the_value_and_the_bound():
    net = pgm.BayesianNetwork()
    causes = [f"c{i}" for i in range(6)]
    for i, name in enumerate(causes):
        net.add(name, 0.1 + 0.1 * i)
    net.add("e", pgm.NoisyOr(dict(zip(causes, np.linspace(0.2, 0.9, 6), strict=True)), leak=0.01))
    found, right = net.map({"e": True}, engine="loopy"), net.map({"e": True})
    assert not found.exact
    assert found.log_joint <= right.log_joint + 1e-12 <= found.bound + 1e-9
    assert net.probability({**found, "e": True}).log == pytest.approx(found.log_joint, abs=1e-10)


# --- the arrays ---


def test_equal_tables_are_kept_once():
    seen = np.random.default_rng(0).integers(0, 2, (20, 20))
    mrf = pgm.MarkovNetwork.grid(seen, states=[0, 1], coupling=1.0, unary=[[0.9, 0.1], [0.2, 0.8]])
    graph = make_graph(problem(mrf).case, "loopy", each_message=40.0)
    assert graph.arrays.table.size == 2 * 20 * 19
    assert graph.arrays.low.size == 3  # of pairs, and of pixels of either colour
    # an observed pixel leaves its neighbours a row each: the same row
    place = list(mrf.variables).index("pixel[5,5]")
    sliced = make_graph(problem(mrf, {place: 1}).case, "loopy", each_message=40.0)
    assert sliced.arrays.low.size == 5  # whether it was the first of the pair or the second


def test_sparse_factors_cost_their_rows():
    mrf = pgm.MarkovNetwork()
    names = [f"x{i}" for i in range(40)]
    for name in names:
        mrf.add_variable(name, states=[0, 1])
    rng = np.random.default_rng(0)
    rows = {tuple(rng.integers(0, 2, 40).tolist()): float(rng.random() + 0.1) for _ in range(200)}
    mrf.add_factor(names, rows)
    graph = make_graph(problem(mrf).case, "loopy", each_message=40.0)
    assert graph.arrays.values.size <= 200 * 41  # one row for each number of the row and variable
    found = mrf.marginals(engine="loopy")
    assert found.exact  # a star
    total = sum(rows.values())
    for i, name in enumerate(names):
        assert found[name][1] == pytest.approx(sum(v for r, v in rows.items() if r[i]) / total, abs=1e-12)


def test_the_interpreter_gives_the_same_bits():
    rng = np.random.default_rng(2)
    mrf = pgm.MarkovNetwork()
    for i in range(6):
        mrf.add_variable(f"x{i}", states=[0, 1, 2] if i % 2 else [0, 1])
    for i in range(6):
        pair = [f"x{i}", f"x{(i + 1) % 6}"]
        table = rng.random([3 if int(n[1]) % 2 else 2 for n in pair]) ** 5
        table[0, 0] *= i != 2
        mrf.add_factor(pair, table * 10.0 ** (-200.0 * (i == 3) * rng.random(table.shape)))
    mrf.add_factor(["x0", "x2", "x4"], rng.random((2, 2, 2)))
    mrf.add_factor(["x0", "x4"], rng.random((2, 2)))
    asked = problem(mrf)
    for schedule, largest in itertools.product(SCHEDULES, (False, True)):
        options = pgm.engines.Loopy(schedule=schedule, damping=0.1, max_iter=7)
        found = []
        for form in FORMS.values():
            with form():
                sent = propagation.send(asked, options, Clock(None, None), largest=largest)
                found.append((sent.messages, sent.beliefs, sent.residuals, propagation.choose_states(sent)))
                if not largest:
                    found[-1] += (propagation._bethe(sent),)
        for a, *others in zip(*found, strict=True):
            assert all(np.array_equal(a, b) for b in others)


def test_growth_is_linear():
    engine = pgm.engines.Loopy(max_iter=3, tol=0.0)
    times = []
    for side in (30, 30, 95, 95):
        seen = np.random.default_rng(0).integers(0, 2, (side, side))
        mrf = pgm.MarkovNetwork.grid(seen, states=[0, 1], coupling=1.0, unary=[[0.9, 0.1], [0.2, 0.8]])
        asked = problem(mrf)
        start = thread_time()
        propagation.send(asked, engine, Clock(None, None))
        times.append(thread_time() - start)
    assert min(times[2:]) < 40 * min(times[:2])


def test_messages_of_parallel_sweeps_are_the_same_in_threads():
    seen = np.random.default_rng(0).integers(0, 2, (300, 300))
    mrf = pgm.MarkovNetwork.grid(seen, states=[0, 1], coupling=1.0, unary=[[0.9, 0.1], [0.2, 0.8]])
    asked, found = problem(mrf), []
    for threads in (1, 2, 3):
        with pgm.config(threads=threads):
            options = pgm.engines.Loopy(schedule="parallel", max_iter=3, tol=0.0)
            found.append(propagation.send(asked, options, Clock(None, None)))
    assert np.array_equal(found[0].messages, found[1].messages)
    assert np.array_equal(found[0].beliefs, found[2].beliefs)
    assert found[0].residuals == found[2].residuals


def test_bethe_is_below_the_truth_where_all_attract():
    """Ruozzi 2012."""
    mrf = pgm.MarkovNetwork()
    for name in "abc":
        mrf.add_variable(name, states=[0, 1])
    tables = []
    for pair in (("a", "b"), ("b", "c"), ("a", "c")):
        table = np.array([[3.0, 1.0], [1.0, 2.0]])
        mrf.add_factor(pair, table)
        tables.append((pair, table))
    oracle = Oracle(Plain(dict.fromkeys("abc", 2), tuple(tables)))
    assert mrf.log_partition(engine="loopy") < math.log(oracle.partition_before)
