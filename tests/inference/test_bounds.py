"""Weighted mini-buckets: what they say bounds, on every model; and how near."""

from __future__ import annotations

import itertools
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

import pgm
from pgm.inference.engines.exact.posterior import Posterior
from tests.oracle import Known, Oracle, log
from tests.strategies import knowledge, models

Bounds = pgm.engines.Bounds
DATA = st.data()
OPTIONS = st.builds(
    Bounds, ibound=st.sampled_from([1, 1, 2, 3, None]), iterations=st.sampled_from([0, 1, 3, 100])
)


def ask(call: Any) -> Any:
    """The answer, or None where the engine proved that there is none."""
    try:
        return call()
    except pgm.ImpossibleEvidence:
        return None


def random_grid(n: int, strength: float, *, cards: int = 2, zeros: float = 0.0, seed: int = 0) -> Any:
    """A grid with tables that agree on nothing."""
    rng = np.random.default_rng(seed)
    mrf = pgm.MarkovNetwork()
    for i in range(n):
        for j in range(n):
            mrf.add_variable(f"v[{i},{j}]", states=list(range(cards)))
    for i in range(n):
        for j in range(n):
            for other in ((i + 1, j), (i, j + 1)):
                if max(other) < n:
                    table = np.exp(rng.normal(0.0, strength, (cards, cards)))
                    table[rng.random((cards, cards)) < zeros] = 0.0
                    mrf.add_factor([f"v[{i},{j}]", "v[{},{}]".format(*other)], table)
    return mrf


@settings(max_examples=200)
@given(data=DATA, engine=OPTIONS)
def test_bounds_hold_on_every_model(engine, data):
    """With zeros, forty decades, gates, all kinds of evidence; and nothing possible is called impossible."""
    case = data.draw(models(most=7))
    question = data.draw(knowledge(case))
    oracle = question.oracle(case)
    note(f"{case!r}\ngiven = {question.given}\n{engine}")
    found = ask(lambda: case.model.marginals(question.given, engine=engine))
    if found is None or not oracle.possible:
        assert found is None or not found.exact
        assert not oracle.possible
        return
    low, high = found.report.log_bounds
    assert low <= log(oracle.partition) <= high
    for name, p in found.items():
        low, high = p.bounds.T
        expected = oracle.posterior([name])
        assert (low <= expected).all()
        assert (expected <= high).all()
        assert (low <= p.values).all()
        assert (p.values <= high).all()


@settings(max_examples=80)
@given(data=DATA, engine=OPTIONS)
def test_bounds_on_probabilities_joints_and_maxima_hold(engine, data):
    case = data.draw(models(most=6))
    question = data.draw(knowledge(case))
    oracle = question.oracle(case)
    note(f"{case!r}\ngiven = {question.given}\n{engine}")
    p = ask(lambda: case.model.probability(question.given, engine=engine))
    if p is not None and p.log.bounds is not None:
        low, high = p.log.bounds
        assert low <= p.log <= high
        # The oracle's own logarithms are rounded: a difference of two.
        off = 1e-14 * (abs(log(oracle.partition_before)) + 1.0) if oracle.possible else 0.0
        assert low - off <= oracle.log_probability <= high + off
    if not oracle.possible:
        return
    names = data.draw(st.lists(st.sampled_from(case.names), min_size=1, max_size=3, unique=True))
    joint = case.model.query(names, question.given, engine=engine)
    expected = oracle.posterior(names)
    assert (joint.bounds[..., 0] <= expected).all()
    assert (expected <= joint.bounds[..., 1]).all()
    single = joint.marginal(names[-1])
    assert (single.bounds[..., 0] <= oracle.posterior([names[-1]])).all()
    assert (oracle.posterior([names[-1]]) <= single.bounds[..., 1]).all()
    try:
        best = case.model.map(question.given, engine=engine)
    except pgm.NoSupportFound:
        return
    ((_, weight),) = oracle.best()
    assert best.bound >= log(weight) - 1e-12 * (1.0 + abs(log(weight)))
    assert best.log_joint <= best.bound
    if best.exact:
        assert best.log_joint == pytest.approx(log(weight), rel=1e-12, abs=1e-12)


@settings(max_examples=80)
@given(data=DATA, engine=OPTIONS)
def test_bounds_on_maxima_over_some_variables_hold(engine, data):
    case = data.draw(models(most=6))
    question = data.draw(knowledge(case))
    oracle = question.oracle(case)
    names = data.draw(st.lists(st.sampled_from(case.names), min_size=1, max_size=4, unique=True))
    note(f"{case!r}\ngiven = {question.given}\ntargets = {names}\n{engine}")
    if not oracle.possible:
        return
    try:
        best = case.model.map(question.given, targets=names, engine=engine)
    except pgm.NoSupportFound:
        return
    ((_, weight),) = oracle.best(names)
    off = 1e-12 * (1.0 + abs(log(weight)))
    assert best.bound >= log(weight) - off
    assert best.log_joint <= min(best.bound, log(weight) + off)
    if best.exact:
        assert best.log_joint == pytest.approx(log(weight), rel=1e-12, abs=1e-12)
    codes = {name: list(case.states[name]).index(best[name]) for name in names}
    assert best.log_joint == pytest.approx(log(oracle.weight_of(codes)), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("late", ["total", "joint"])
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=DATA)
def test_late_is_no_reason_to_give_nothing(monkeypatch, late, data):
    """The time is up when what is suggested is summed, or made better: states stay, bounds hold."""
    case = data.draw(models(most=6))
    names = data.draw(st.lists(st.sampled_from(case.names), min_size=1, max_size=3, unique=True))
    best = Oracle(case.plain, Known()).best(names)
    assume(best)  # else nothing is possible
    ((_, weight),) = best

    def too_late(*_: Any) -> Any:
        raise pgm.OutOfTime("late")

    with monkeypatch.context() as patch:
        patch.setattr(Posterior, late, too_late)
        best = case.model.map(targets=names, engine=Bounds(ibound=1, iterations=3))
    off = 1e-12 * (1.0 + abs(log(weight)))
    assert best.log_joint <= log(weight) + off
    assert best.bound >= log(weight) - off
    if late == "total":
        assert best.log_joint == -math.inf or "in time" in best.report.advice or best.exact


@pytest.mark.parametrize(("cards", "zeros"), [(2, 0.0), (3, 0.0), (2, 0.04)])
def test_a_larger_ibound_and_more_sweeps_narrow_the_bounds(cards, zeros):
    mrf = random_grid(7, 1.0, cards=cards, zeros=zeros)
    exact = mrf.log_partition()
    widths = []
    for ibound in (1, 3, 5, 7):
        found = mrf.log_partition(engine=Bounds(ibound=ibound))
        low, high = found.bounds
        assert low <= exact <= high
        assert low <= found <= high
        widths.append(high - exact)
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.01 * widths[0]
    high = [mrf.log_partition(engine=Bounds(ibound=3, iterations=n)).bounds[1] for n in (0, 1, 10, 100)]
    assert high == sorted(high, reverse=True)
    assert high[-1] < high[0] - 0.1


def test_nothing_is_left_between_the_bounds_where_nothing_is_split():
    """Rounding is all: and it is bounded by some thousand units of it."""
    mrf = random_grid(8, 1.0)
    exact, found = mrf.log_partition(), mrf.log_partition(engine="bounds")
    low, high = found.bounds
    assert low <= exact <= high
    assert high - low < 1e-10
    assert found.exact is False
    assert "split" not in str(found.report)
    for name, p in mrf.marginals(engine="bounds").items():
        expected = mrf.query(name).values
        assert (p.bounds[:, 0] <= expected).all()
        assert (expected <= p.bounds[:, 1]).all()
        assert (p.bounds[:, 1] - p.bounds[:, 0]).max() < 1e-5


def test_marginals_of_a_large_model_are_held_by_what_is_near():
    """The bounds on the whole are far apart; a variable given its neighbours still has a range."""
    mrf = random_grid(11, 0.3)
    low, high = mrf.log_partition(engine=Bounds(ibound=1, iterations=0)).bounds
    assert high - low > 2.0
    found = mrf.marginals(engine=Bounds(ibound=1, iterations=0))
    for name, expected in mrf.marginals().items():
        least, most = found[name].bounds.T
        assert (least <= expected.values).all()
        assert (expected.values <= most).all()
        assert (most - least < 0.9).all()


def test_evidence_is_proven_impossible_even_where_buckets_are_split():
    """A ring of three that differ, of two states each: no state is dead by itself."""
    mrf = pgm.MarkovNetwork()
    for name in "abcd":
        mrf.add_variable(name, states=[0, 1])
    for pair in ("ab", "bc", "ca"):
        mrf.add_factor(list(pair), [[0, 1], [1, 0]])
    mrf.add_factor(["c", "d"], [[1, 2], [3, 4]])
    with pytest.raises(pgm.ImpossibleEvidence):
        mrf.query("d", engine="bounds")
    assert mrf.log_partition(engine="bounds") == -math.inf


def test_intervals_are_shown_and_pickled():
    mrf = random_grid(5, 1.0)
    p = mrf.query("v[0,0]", engine=Bounds(ibound=2))
    text = repr(p)
    assert text.splitlines()[0].split() == ["v[0,0]", "P(v[0,0])", "at", "least", "at", "most"]
    for row, (low, high) in zip(text.splitlines()[1:3], p.bounds, strict=True):
        shown = [float(x) for x in row.split()[1:]]
        assert shown[1] <= low <= shown[0] <= high + 1e-6
        assert high <= shown[2]
    assert ">at most</th>" in p._repr_html_()
    everything = mrf.marginals(engine=Bounds(ibound=2))
    assert "at least" in repr(everything)
    assert "at least" in repr(everything["v[0,0]"])
    again = pickle.loads(pickle.dumps(everything))
    np.testing.assert_array_equal(again["v[1,1]"].bounds, everything["v[1,1]"].bounds)
    assert not p.bounds.flags.writeable
    z = mrf.partition(engine=Bounds(ibound=2))
    assert z.bounds[0] <= mrf.partition() <= z.bounds[1]
    assert z.log.bounds == z.report.log_bounds
    assert mrf.query("v[0,0]").bounds is None


def test_a_plan_says_what_it_will_take_and_makes_no_table():
    mrf = random_grid(40, 1.0)
    with pgm.config(memory_limit="3 MB"):
        plan = mrf.plan("v[0,0]", engine="bounds")
        assert plan.fits
        assert plan.exact is False
        assert 0 < plan.bytes < 3e6
        assert f"ibound={plan.width}" in repr(plan)
        assert "not exact: an interval" in repr(plan)
        assert not mrf.plan(engine=Bounds(ibound=30)).fits
    with pgm.config(memory_limit="1 MB"):
        assert mrf.plan(engine="bounds").width < plan.width


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ibound": 0}, "ibound is a whole number of at least 1, not 0"),
        ({"ibound": 2.0}, "ibound"),
        ({"iterations": -1}, "iterations"),
        ({"tol": -1.0}, "tol"),
    ],
)
def test_options_out_of_range(options, said):
    with pytest.raises(pgm.InvalidArgument, match=said):
        Bounds(**options)


def test_too_large_an_ibound_is_refused_before_it_is_tried():
    mrf = random_grid(20, 1.0)
    with pgm.config(memory_limit="20 MB"):
        with pytest.raises(pgm.TooLarge, match=r"mini-buckets of up to \d+ variables.*smaller ibound="):
            mrf.log_partition(engine=Bounds(ibound=25))
        low, high = mrf.log_partition(engine=Bounds(iterations=1)).bounds
        assert low < high


def test_bounds_that_run_out_of_time_still_hold():
    mrf = random_grid(12, 2.0, seed=1)
    exact = mrf.log_partition()
    mrf.log_partition(engine=Bounds(ibound=9, iterations=1))  # compiled before the clock runs
    with (
        pgm.config(time_limit=1.0),
        pytest.warns(pgm.ConvergenceWarning, match="the time limit was reached after"),
    ):
        found = mrf.log_partition(engine=Bounds(ibound=9, iterations=100_000, tol=0.0))
    low, high = found.bounds
    assert low <= exact <= high
    assert not found.report.converged


@pytest.mark.parametrize("given", [{}, {"b": True}, {"b": pgm.Likelihood({True: 0.5, False: 4.0})}])
def test_what_may_be_larger_than_one_is_not_cut_off_there(given):
    """Weights of evidence, and densities: .96 and .04 are the chances of a, .3 and .6 those of b."""
    net = pgm.BayesianNetwork()
    net.add("a", 0.96)
    net.add("b", {True: 0.3, False: 0.6}, parents=["a"])
    net.add("h", {True: pgm.Gaussian(1.65, 0.07), False: pgm.Gaussian(1.78, 0.07)}, parents=["a"])
    likely = [0.5 * 0.3 + 4.0 * 0.7, 0.5 * 0.6 + 4.0 * 0.4]
    weight = {None: [1.0, 1.0], True: [0.3, 0.6]}.get(given.get("b"), likely)
    chances = np.array([0.96, 0.04]) * weight
    chances /= chances.sum()
    density = np.exp(-0.5 * ((1.7 - np.array([1.65, 1.78])) / 0.07) ** 2) / (0.07 * math.sqrt(2 * math.pi))
    event = pgm.Likelihood({True: 3.0, False: 0.5})
    for asked, truth in (({"a": event}, chances @ [3.0, 0.5]), ({"h": 1.7}, chances @ density)):
        p = net.probability(asked, given=given, engine="bounds")
        assert p == pytest.approx(truth, rel=1e-12)
        assert p.bounds[0] <= truth <= p.bounds[1]
    net.remove("h")
    p = net.to_markov_network().probability({"a": event}, given=given, engine="bounds")
    assert p == pytest.approx(chances @ [3.0, 0.5], rel=1e-12)


@pytest.mark.parametrize("iterations", [0, 3])
@pytest.mark.parametrize("ibound", [1, 2])
def test_marginals_far_below_each_other_stay_inside(ibound: int, iterations: int) -> None:
    """Factors that span more than a double: against sums of logarithms over all states."""
    rng = np.random.default_rng(1)
    states = np.array(list(itertools.product([0, 1], repeat=4)))
    for _ in range(40):
        mrf, logs = pgm.MarkovNetwork(), np.zeros(len(states))
        for v in "abcd":
            mrf.add_variable(v, [0, 1])
        for i, j in itertools.combinations(range(4), 2):
            table = rng.choice([0.0, -100.0, -300.0, -436.0, -800.0, -1000.0], (2, 2))
            table = table + rng.normal(size=(2, 2))
            mrf.add_factor(["abcd"[i], "abcd"[j]], table, log=True)
            logs += table[states[:, i], states[:, j]]
        engine = Bounds(ibound=ibound, iterations=iterations)
        found = mrf.marginals(engine=engine)
        for i, v in enumerate("abcd"):
            for s in (0, 1):
                truth = math.exp(np.logaddexp.reduce(logs[states[:, i] == s]) - np.logaddexp.reduce(logs))
                low, high = found[v].bounds[s]
                assert low * (1.0 - 1e-9) <= truth <= high * (1.0 + 1e-9), (v, s)
