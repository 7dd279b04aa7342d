"""One suite for every engine that approximates: honest, well-mannered, and right where it must be.

Engines are found in the registry.
"""

from __future__ import annotations

import math
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import pgm
from tests.oracle import log
from tests.strategies import TAME, bayesian_networks, knowledge, markov_networks, models

# Which do not take any model that is drawn here, and so have tests of their own.
ELSEWHERE = {
    "rejection": "Bayesian networks alone",
    "swendsen-wang": "pairs that favour equal states",
    "best": "the others in turn",
}
# Options with which an engine is quicker; others with which it is asked as well.
QUICK: dict[str, Any] = {
    "likelihood-weighting": pgm.engines.LikelihoodWeighting(samples=1000),
    "importance": pgm.engines.Importance(samples=1000),
    "gibbs": pgm.engines.Gibbs(samples=400, burn_in=20),
}
OTHERS: dict[str, Any] = {
    "loopy, residual": pgm.engines.Loopy(schedule="residual", damping=0.2),
    "loopy, parallel": pgm.engines.Loopy(schedule="parallel", damping=0.3),
    "bounds, split": pgm.engines.Bounds(ibound=1, iterations=10),
    "clique-sequence, small": pgm.engines.CliqueSequence(clique_bound=2),
}
# What to call it -> an engine by its name or with options.
ENGINES: dict[str, Any] = {
    name: QUICK.get(name, name)
    for name, kind in pgm.engines.ENGINES.items()
    if kind.approximates and "marginals" in kind.answers and name not in ELSEWHERE
} | OTHERS
DATA = st.data()
every_engine = pytest.mark.parametrize("engine", ENGINES.values(), ids=list(ENGINES))
pytestmark = pytest.mark.filterwarnings("ignore::pgm.ConvergenceWarning")


# Which do not say how far off their numbers may be, not even as an estimate.
UNMEASURED = ("loopy", "mean-field")


def found_class(engine: Any) -> Any:
    return pgm.engines.ENGINES[engine] if isinstance(engine, str) else type(engine)


def ask(call: Any) -> Any:
    """The answer, or None where the engine says that it met nothing possible."""
    try:
        return call()
    except (pgm.ImpossibleEvidence, pgm.NoSupportFound):
        return None


@every_engine
@settings(max_examples=60)
@given(data=DATA)
def test_every_kind_of_evidence_is_taken_or_refused_by_name(engine, data):
    case = data.draw(models(TAME, most=6))
    question = data.draw(knowledge(case, soft=2))
    note(f"{case!r}\ngiven = {question.given}")
    oracle = question.oracle(case)
    uncertain = any(max(w) < 1.0 for w in question.known.wanted.values())
    if uncertain and not found_class(engine).takes_soft:
        with pytest.raises(pgm.InvalidEvidence, match=r"does not take pgm\.Soft"):
            case.model.marginals(question.given, engine=engine)
        return
    try:
        found = ask(lambda: case.model.marginals(question.given, engine=engine))
    except pgm.InvalidEvidence:  # several Soft that exclude each other in this engine's eyes
        assert question.known.wanted
        return
    if found is None:
        return
    if not oracle.possible:  # it need not notice, but it must not claim to know
        assert not found.exact
        return
    for name, p in found.items():
        assert p.values.min() >= 0.0
        assert p.values.sum() == pytest.approx(1.0, abs=1e-12)
        expected = oracle.posterior([name])
        if p.exact:
            np.testing.assert_allclose(p.values, expected, atol=1e-9)
    for name, wanted in question.known.wanted.items():
        p = case.model.query(name, question.given, engine=engine)
        np.testing.assert_allclose(p.values, wanted, atol=1e-12)


@every_engine
@settings(max_examples=60)
@given(data=DATA)
def test_impossible_evidence_never_has_an_exact_answer(engine, data):
    case = data.draw(models(most=6))
    question = data.draw(knowledge(case))
    oracle = question.oracle(case)
    found = ask(lambda: case.model.marginals(question.given, engine=engine))
    if not oracle.possible and found is not None:
        assert not found.exact
    if "probability" not in found_class(engine).answers:
        return
    p = ask(lambda: case.model.probability(question.given, engine=engine))
    if p is not None and p == 0.0 and p.exact:
        assert not oracle.possible


@every_engine
@settings(max_examples=40)
@given(data=DATA)
def test_single_variables_are_exact_up_to_rounding(engine, data):
    """Without factors between variables every engine has the answer; so too where all others are observed."""
    case = data.draw(models(TAME, most=5))
    states = {n: own[0] for n, own in case.states.items()}
    free = data.draw(st.sampled_from(case.names))
    known = {name: state for name, state in states.items() if name != free}
    try:
        expected = case.model.query(free, known)
    except pgm.ImpossibleEvidence:
        with pytest.raises(pgm.ImpossibleEvidence):
            case.model.query(free, known, engine=engine)
        return
    found = case.model.query(free, known, engine=engine)
    np.testing.assert_allclose(found.values, expected.values, atol=1e-12)


def loop() -> pgm.MarkovNetwork:
    """Four variables in a ring."""
    mrf = pgm.MarkovNetwork()
    for name in "abcd":
        mrf.add_variable(name, states=["x", "y"])
    for pair in ("ab", "bc", "cd", "da"):
        mrf.add_factor(list(pair), [[2.0, 1.0], [1.0, 3.0]])
    return mrf


@every_engine
def test_an_answer_says_that_it_is_approximate_and_what_was_measured(engine):
    mrf = loop()
    p = mrf.query("a", {"c": "x"}, engine=engine)
    q = mrf.marginals(engine=engine)
    for found in (q, q["b"], mrf.query(["a", "b"], engine=engine)):
        assert found.exact is False
        assert found.engine == found.report.engine == found_class(engine).name
        assert found.report.converged is True
        assert found.report.iterations + found.report.samples > 0
        for text in (repr(found), found._repr_html_()):
            assert f"APPROXIMATE ({found.engine})" in text
            assert "iterations" in text or "samples" in text
        assert pickle.loads(pickle.dumps(found)) == found
        error, measures = found.report.error, found_class(engine).name not in UNMEASURED
        assert (error is not None) == measures
        assert ("error not measured" in repr(found)) == (not measures)
        assert (found.report.to_dict()["error"] is None) == (not measures)
    assert p.engine == q.engine
    if "probability" not in found_class(engine).answers:
        return
    z = mrf.partition(engine=engine)
    assert z.exact is False
    assert z.log.exact is False
    assert mrf.log_partition(engine=engine).report.engine == z.engine
    assert mrf.log_probability({"a": "x"}, engine=engine).exact is False


@every_engine
def test_what_an_engine_does_not_answer_is_refused_by_name(engine):
    mrf, kind = loop(), found_class(engine)
    calls = {
        "probability": lambda: mrf.partition(engine=engine),
        "sample": lambda: mrf.sample(3, engine=engine, seed=0),
        "k_best": lambda: mrf.k_best(k=2, engine=engine),
        "marginal MAP": lambda: mrf.map(targets="a", engine=engine),
        "map": lambda: mrf.map(engine=engine),
        "plan": lambda: mrf.plan(engine=engine),
    }
    for question, call in calls.items():
        if question in kind.answers:
            found = call()
            for one in found if question == "k_best" else [found]:
                assert not one.exact or one.gap == 0.0  # optimal, and proven so
        else:
            with pytest.raises(pgm.InvalidArgument, match=f'engine="{kind.name}" does not answer') as refused:
                call()
            assert "exact" in str(refused.value)  # who does


@every_engine
def test_the_same_bits_again_and_in_any_number_of_threads(engine):
    rng = np.random.default_rng(4)
    seen = rng.integers(0, 2, (30, 30))
    mrf = pgm.MarkovNetwork.grid(seen, states=[0, 1], coupling=0.3, unary=[[0.7, 0.3], [0.4, 0.6]])
    answers = []
    for threads in (1, 2, 3):
        with pgm.config(threads=threads):
            answers.append(np.concatenate([p.values for p in mrf.marginals(engine=engine).values()]))
    assert all(np.array_equal(answers[0], other) for other in answers[1:])


@every_engine
def test_limits_hold(engine):
    seen = np.zeros((60, 60), int)
    mrf = pgm.MarkovNetwork.grid(seen, states=[0, 1], coupling=0.3, unary=[[0.7, 0.3], [0.4, 0.6]])
    if hasattr(engine, "samples"):
        mrf.marginals(engine=engine)  # a sampler that is ready has drawn something within any time
    with pgm.config(memory_limit="100 kB"), pytest.raises(pgm.TooLarge, match="kB are allowed"):
        mrf.marginals(engine=engine)
    with pgm.config(time_limit=1e-4):
        try:
            found = mrf.marginals(engine=engine)
        except pgm.OutOfTime:
            pass
        else:  # a sampler answers by what it has drawn so far, and says so
            assert not found.report.converged
            assert "the time limit was reached after" in found.report.advice
    with pytest.raises(pgm.TooLarge, match="Ask for fewer"):
        mrf.query([f"pixel[{i},{i}]" for i in range(40)], engine=engine)


@every_engine
def test_empty_models_and_single_states(engine):
    mrf = pgm.MarkovNetwork()
    assert len(mrf.marginals(engine=engine)) == 0
    sums = "probability" in found_class(engine).answers
    assert not sums or mrf.partition(engine=engine) == pytest.approx(1.0)
    mrf.add_variable("one", states=["only"])
    mrf.add_variable("free", states=["x", "y", "z"])
    assert mrf.query("one", engine=engine).values.tolist() == [1.0]
    assert mrf.query("free", engine=engine).values == pytest.approx([1 / 3] * 3)
    assert mrf.query(["one", "free"], engine=engine).values == pytest.approx(np.full((1, 3), 1 / 3))
    assert not sums or mrf.log_partition(engine=engine) == pytest.approx(math.log(3.0))


@every_engine
def test_numbers_far_below_the_smallest_double(engine):
    """A hub of 300 children: half of them weigh its states 1 to 1e-300, the others 1e-300 to 1."""
    mrf = pgm.MarkovNetwork()
    mrf.add_variable("hub", states=[0, 1])
    for i in range(300):
        mrf.add_variable(f"x{i}", states=[0, 1])
        rows = [[1.0, 1.0], [1e-300, 1e-300]]
        mrf.add_factor(["hub", f"x{i}"], rows if i % 2 else rows[::-1])
    p = mrf.query("hub", engine=engine)
    assert p.values == pytest.approx([0.5, 0.5], abs=max(1e-9, 6.0 * (p.report.error or 0.0)))
    if "probability" not in found_class(engine).answers:
        return
    expected = 150 * math.log(1e-300) + 301 * math.log(2.0)
    assert mrf.log_partition(engine=engine) == pytest.approx(expected, rel=1e-9)


def test_too_large_names_engines_that_exist_and_answer():
    seen = np.random.default_rng(0).integers(0, 3, (40, 40))
    unary = np.random.default_rng(1).random((3, 3))
    mrf = pgm.MarkovNetwork.grid(seen, states=[0, 1, 2], coupling=0.3, unary=unary)
    with pgm.config(memory_limit="50 MB"):
        for call, question in (
            (lambda: mrf.marginals(), "marginals"),
            (lambda: mrf.query("pixel[0,0]"), "query"),
            (lambda: mrf.sample(5), "sample"),
            (lambda: mrf.map(targets="pixel[0,0]"), "marginal MAP"),
        ):
            with pytest.raises(pgm.TooLarge) as refused:
                call()
            for name, kind in pgm.engines.ENGINES.items():
                named = f'"{name}"' in str(refused.value).partition("\n")[0]
                if kind.approximates:
                    assert named == (question in kind.answers), (name, question)
        assert mrf.marginals(engine="loopy")["pixel[0,0]"].values.sum() == pytest.approx(1.0)


STOPPED = [pgm.engines.Loopy(max_iter=2), pgm.engines.MeanField(max_iter=1, tol=0.0)]


@pytest.mark.parametrize("engine", STOPPED)
@pytest.mark.filterwarnings("default")
def test_no_convergence_is_a_warning_at_the_users_line(engine):
    with pytest.warns(pgm.ConvergenceWarning, match=r"has not converged.*max_iter=") as caught:
        p = loop().query("a", engine=engine)
    assert [w.filename for w in caught] == [__file__]
    assert p.report.converged is False
    assert "not converged" in repr(p)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loop().query("a", engine=engine.name)  # nothing to warn of


@pytest.mark.parametrize(
    ("make", "options", "said"),
    [
        (pgm.engines.Loopy, {"schedule": "residul"}, "Did you mean 'residual'"),
        (pgm.engines.Loopy, {"damping": 1.0}, "damping is a number of at least 0 and below 1, not 1.0"),
        (pgm.engines.Loopy, {"damping": True}, "damping"),
        (pgm.engines.Loopy, {"tol": -1}, "tol"),
        (pgm.engines.Loopy, {"tol": math.nan}, "tol"),
        (pgm.engines.Loopy, {"max_iter": 0}, "max_iter is a whole number of at least 1, not 0"),
        (pgm.engines.MeanField, {"restarts": 0}, "restarts"),
        (pgm.engines.MeanField, {"seed": -1}, "seed"),
        (pgm.engines.MeanField, {"structured": "ab"}, "structured= takes lists of names"),
        (pgm.engines.MeanField, {"structured": ["ab"]}, "structured= takes lists of names"),
    ],
)
def test_options_out_of_range(make, options, said):
    with pytest.raises(pgm.InvalidArgument, match=said):
        make(**options)


@every_engine
@settings(max_examples=30)
@given(data=DATA)
def test_an_impossible_event_has_probability_zero(engine, data):
    case = data.draw(bayesian_networks(TAME, most=4))
    name = data.draw(st.sampled_from(case.names))
    state = case.states[name][0]
    if "probability" in found_class(engine).answers and case.model.query(name)[state] == 0.0:
        assert ask(lambda: case.model.probability({name: state}, engine=engine)) in (None, 0.0)


@settings(max_examples=40)
@given(data=DATA)
def test_a_lower_bound_is_one(data):
    """Of every engine that says so in its report."""
    case = data.draw(markov_networks(most=6))
    question = data.draw(knowledge(case))
    oracle = question.oracle(case)
    note(f"{case!r}\ngiven = {question.given}")
    for engine in ENGINES.values():
        if "probability" not in found_class(engine).answers:
            continue
        found = ask(lambda engine=engine: case.model.partition(engine=engine))
        if found is not None and found.report.log_bounds is not None:
            low, high = found.report.log_bounds
            assert low <= log(oracle.partition_before) <= high


def frustrated(n: int, strength: float) -> pgm.MarkovNetwork:
    """A grid of two states each, with couplings of either sign and a field on every second variable."""
    rng = np.random.default_rng(0)
    mrf = pgm.MarkovNetwork()
    cells = [(i, j) for i in range(n) for j in range(n)]
    for i, j in cells:
        mrf.add_variable(f"{i},{j}", states=[0, 1])
        mrf.add_factor([f"{i},{j}"], [1.0, np.exp(rng.normal())])
    for i, j in cells:
        for other in ((i + 1, j), (i, j + 1)):
            if max(other) < n:
                w = np.exp(strength * rng.choice([-1.0, 1.0]))
                mrf.add_factor([f"{i},{j}", f"{other[0]},{other[1]}"], [[w, 1.0], [1.0, w]])
    return mrf


@pytest.mark.parametrize("engine", ["loopy", "mean-field"])
def test_an_engine_that_is_far_off_does_not_claim_an_error_of_zero(engine):
    mrf = frustrated(8, 1.5)
    exact = mrf.marginals()
    assert exact.report.error == 0.0
    found = mrf.marginals(engine=engine)
    off = max(np.abs(found[name].values - exact[name].values).max() for name in exact)
    assert off > 0.1
    for answer in (found, found["0,0"], mrf.query(["0,0", "0,1"], engine=engine)):
        assert answer.report.error is None
        assert "error not measured" in repr(answer)
        assert "error not measured" in answer._repr_html_()


@pytest.mark.parametrize("ibound", [1, 3, 20])
def test_bounds_say_how_far_off_they_may_be(ibound):
    mrf = frustrated(4, 1.0)
    exact, options = mrf.marginals(), pgm.engines.Bounds(ibound=ibound)
    found = mrf.marginals(engine=options)
    joint, truth = mrf.query(["0,0", "0,1"], engine=options), mrf.query(["0,0", "0,1"])
    pairs = [(found[name], exact[name]) for name in exact] + [(joint, truth)]
    pairs += [(joint.marginal(["0,0"]), exact["0,0"])]
    for p, right in pairs:
        assert np.abs(p.values - right.values).max() <= p.report.error + 1e-12
        ends = np.abs(p.bounds - p.values[..., None])
        assert p.report.error == pytest.approx(ends.max(), rel=1e-9)
    z = mrf.partition(engine=options)
    assert abs(z - mrf.partition()) <= z.report.error * (1.0 + 1e-9)
    assert abs(z.log - mrf.log_partition()) <= z.log.report.error + 1e-9


def test_what_was_measured_of_single_variables_is_not_the_error_of_their_sum():
    mrf = frustrated(6, 1.0)
    for engine in ("loopy", "mean-field", pgm.engines.CliqueSequence(clique_bound=2)):
        for found in (mrf.partition(engine=engine), mrf.log_partition(engine=engine)):
            assert found.report.error is None


def test_the_error_of_states_is_what_the_bound_leaves():
    best = frustrated(6, 1.0).map(engine="srmp")
    assert best.report.error == (0.0 if best.exact else pytest.approx(best.gap))
