"""`pgm.engines.Best`: exact where the plan fits, else the tightest of several answers, inside sure bounds."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import pgm
from pgm.inference.engines.portfolio import prepared as portfolio
from tests.machine import slowness
from tests.oracle import log
from tests.strategies import TAME, knowledge, models

Best = pgm.engines.Best
DATA = st.data()
pytestmark = pytest.mark.filterwarnings("ignore::pgm.ConvergenceWarning")


@pytest.fixture
def hurried(monkeypatch):
    """Nothing is planned to fit the time: every answer is one of the others."""
    monkeypatch.setattr(portfolio, "_PLANNED", -1.0)
    monkeypatch.setattr(portfolio, "_ZEROS", 2.0)


def grid(side: int, strength: float) -> pgm.MarkovNetwork:
    rng = np.random.default_rng(side)
    seen = rng.integers(0, 2, (side, side))
    return pgm.MarkovNetwork.grid(seen, states=[0, 1], coupling=strength, unary=[[0.7, 0.3], [0.4, 0.6]])


@settings(max_examples=25)
@given(data=DATA)
def test_what_fits_is_exact(data):
    case = data.draw(models(most=5))
    question = data.draw(knowledge(case))
    oracle = question.oracle(case)
    note(f"{case!r}\ngiven = {question.given}")
    if not oracle.possible:
        with pytest.raises(pgm.ImpossibleEvidence):
            case.model.marginals(question.given, engine=Best(seconds=5))
        return
    for name, p in case.model.marginals(question.given, engine=Best(seconds=5)).items():
        assert p.report.exact
        assert p.values == pytest.approx(oracle.posterior([name]), abs=1e-12)
    found = case.model.probability(question.given, engine=Best(seconds=5))
    assert found.report.exact
    assert found.log == pytest.approx(oracle.log_probability, abs=1e-10)
    assert case.model.map(question.given, engine=Best(seconds=5)).exact


@settings(max_examples=20, deadline=None)
@given(data=DATA)
def test_what_does_not_fit_is_within_sure_bounds(hurried_always, data):
    case = data.draw(models(TAME, most=5))
    question = data.draw(knowledge(case))
    oracle = question.oracle(case)
    note(f"{case!r}\ngiven = {question.given}")
    try:
        found = case.model.marginals(question.given, engine=Best(seconds=2))
    except pgm.ImpossibleEvidence:
        assert not oracle.possible
        return
    assert oracle.possible
    for name, p in found.items():
        assert p.values.sum() == pytest.approx(1.0)
        expected = oracle.posterior([name])
        if p.exact:  # of a tree, by its messages
            assert p.values == pytest.approx(expected, abs=1e-9)
            continue
        low, high = np.moveaxis(p.bounds, -1, 0)
        assert (low <= expected).all()
        assert (expected <= high).all()
        assert (low - 1e-15 <= p.values).all()
        assert (p.values <= high + 1e-15).all()
    p = case.model.probability(question.given, engine=Best(seconds=2))
    if p.report.exact:
        assert p.log == pytest.approx(oracle.log_probability, abs=1e-8)
        return
    low, high = p.log.bounds
    assert low <= p.log <= high
    off = 1e-14 * (abs(log(oracle.partition_before)) + 1.0)
    assert low - off <= oracle.log_probability <= high + off


@pytest.fixture(scope="module")
def hurried_always():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(portfolio, "_PLANNED", -1.0)
        patch.setattr(portfolio, "_ZEROS", 2.0)
        yield


def test_draws_choose_between_answers(hurried):
    """Belief propagation is off where loops are short and strong; draws see it."""
    mrf = grid(5, 0.5)
    exact = mrf.marginals()
    names = list(exact)

    def error(found):
        return np.mean([abs(found[v].values - exact[v].values).mean() for v in names])

    loopy = mrf.marginals(engine="loopy")
    found = mrf.marginals(engine=Best(seconds=3))
    assert (
        "tightest of 'clique-sequence', 'loopy', 'bounds', 'importance', 'importance by bounds' is that of"
        in (found.report.advice)
    )
    assert error(found) < 0.5 * error(loopy)
    joint = mrf.query(names[:2], engine=Best(seconds=3))
    assert joint.values == pytest.approx(mrf.query(names[:2]).values, abs=0.02)
    assert joint.values.shape == (2, 2)


def test_answers_are_moved_into_the_bounds():
    low, high = np.array([0.1, 0.5, 0.0, 0.9]), np.array([0.5, 0.9, 0.1, 1.0])
    middle = np.array([0.3, 0.7, 0.05, 0.95])
    values = np.array([0.05, 0.95, 0.08, 0.92])
    found = portfolio._moved_inside(values, middle, pgm.results.Intervals(low, high), np.array([0, 2, 4]))
    assert found == pytest.approx([0.1, 0.9, 0.08, 0.92])


def test_the_time_is_kept_and_said():
    mrf = grid(40, 0.8)
    for name in ("clique-sequence", "loopy", "bounds", "importance", pgm.engines.Importance(guide="bounds")):
        grid(3, 0.8).marginals(engine=name)  # compiles what it needs
    with pgm.config(memory_limit="200 MB"):
        begin = time.perf_counter()
        found = mrf.marginals(engine=Best(seconds=1.5))
        took = time.perf_counter() - begin
    assert not found.report.exact
    assert found.report.engine == "best"
    assert took < 5.0 * slowness()
    with pgm.config(memory_limit="200 MB"):
        best = mrf.map(engine=Best(seconds=2))
    assert best.exact or best.bound >= best.log_joint


def test_what_it_cannot_do_is_said(hurried):
    mrf = grid(3, 0.5)
    with pytest.raises(pgm.InvalidArgument, match="seconds"):
        Best(seconds=0)
    with pytest.raises(pgm.InvalidArgument, match="does not answer `sample`"):
        mrf.sample(3, engine=Best())
    soft = mrf.marginals({"pixel[0,0]": pgm.Soft({0: 0.5, 1: 0.5})}, engine=Best(seconds=2))
    assert soft["pixel[0,0]"].values == pytest.approx([0.5, 0.5], abs=1e-6)


def rival(name, values, report):
    return portfolio._Rival(name, None, np.array(values), report)


def test_parts_of_a_distribution_come_before_draws_of_one_of_them():
    def report(engine, **more):
        return pgm.results.Report(engine, exact=False, **more)

    errors = pgm.results.Intervals(np.zeros(2), np.ones(2), np.full(2, 0.01))
    sampled = report("importance", effective_sample_size=900.0, intervals=errors)
    drawn = rival("importance", [0.9, 0.1], sampled)
    loopy = rival("loopy", [0.88, 0.12], report("loopy"))
    parts = report("clique-sequence", converged=False, error=0.9, modes=2)
    mixed = rival("clique-sequence", [0.8, 0.2], parts)
    alone = rival("clique-sequence", [0.8, 0.2], report("clique-sequence", error=0.02))
    assert portfolio._tightest([alone, loopy, drawn]) == (drawn, pytest.approx(0.01))
    assert portfolio._tightest([mixed, loopy, drawn]) == (mixed, 0.9)
    best, error = portfolio._tightest([alone, loopy])
    assert best is alone  # without a judge; the others say how far off it may be
    assert error == pytest.approx(0.08)


def late_first(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """The exact attempt takes so long, as in a process that has to compile it, and ends without an answer."""

    def slow(*args, **kwargs):
        time.sleep(seconds)
        raise pgm.OutOfTime("too late")

    monkeypatch.setattr(portfolio, "make_posterior", slow)


@pytest.mark.parametrize("ask", [lambda m, e: m.map(engine=e), lambda m, e: m.k_best(k=2, engine=e)[0]])
def test_an_exact_attempt_that_overruns_leaves_time_for_a_search(monkeypatch, ask):
    model = grid(3, 0.4)
    truth = model.map()
    model.map(engine="branch-and-bound"), model.k_best(k=2, engine="branch-and-bound")  # compiled by now
    late_first(monkeypatch, 1.1)
    assert dict(ask(model, Best(seconds=1.0))) == dict(truth)


def test_who_comes_too_late_says_how_long_it_had(monkeypatch):
    model = grid(30, 0.4)
    late_first(monkeypatch, 0.3)
    with (
        pgm.config(time_limit=0.2),
        pytest.raises(
            pgm.OutOfTime, match=r"no engine found one within 0\.2 s\. .*pgm\.set_config\(time_limit="
        ),
    ):
        model.k_best(k=2, engine=Best(seconds=5.0))


def test_several_answers_of_a_sum_are_exact_or_refused():
    net = pgm.BayesianNetwork()
    for name in "abc":
        net.add(name, 0.3)
    net.add("d", pgm.NoisyOr({"a": 0.5, "b": 0.6, "c": 0.7}))
    first, second = net.k_best({"d": True}, k=2, targets=["a", "b"], engine="best")
    states = [(one["a"], one["b"]) for one in (first, second)]
    assert states == [
        (False, True),
        (True, False),
    ]  # .21 * (1 - .4 * .79) = .144, .21 * (1 - .5 * .79) = .127
    assert second.probability < first.probability
    with pytest.raises(pgm.InvalidArgument, match='engine="bounds" does not answer `k_best`'):
        net.k_best({"d": True}, k=2, targets=["a", "b"], engine="bounds")
