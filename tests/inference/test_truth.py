"""Every question, every kind of evidence, every engine, against brute force in exact rationals.

1e-12 absolute or relative; 1e-9 where several Soft are fitted at once. Impossible evidence raises everywhere.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import pgm
from pgm.factors import Dense
from tests.oracle import Known, Oracle, log
from tests.strategies import (
    KINDS,
    TAME,
    TIES,
    Case,
    Question,
    bayesian_networks,
    knowledge,
    markov_networks,
    models,
)

ENGINES = ["exact", "elimination", "search"]
DATA = st.data()


def drawn(
    data: st.DataObject, cases: st.SearchStrategy[Case], **options: Any
) -> tuple[Case, Question, Oracle]:
    """A model, a question, its truth; noted, so that a failure can be typed in."""
    case = data.draw(cases)
    question = data.draw(knowledge(case, **options))
    note(f"{case!r}\ngiven = {question.given}")
    return case, question, question.oracle(case)


def close(found: Any, expected: Any, tolerance: float = 1e-12) -> None:
    """Within the tolerance, absolutely or relatively, and never NaN."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape
    assert not np.isnan(found).any()
    with np.errstate(invalid="ignore"):
        off = np.abs(found - expected) > tolerance * np.maximum(1.0, np.abs(expected))
    assert not off.any(), f"{found} is not {expected}"


def possible(oracle: Oracle, ask: Any) -> bool:
    """Whether there is an answer; if not, asking must say that the evidence is impossible."""
    if oracle.possible:
        return True
    with pytest.raises(pgm.ImpossibleEvidence):
        ask()
    return False


# --- sums ---


@pytest.mark.parametrize("engine", ENGINES)
@given(data=DATA)
def test_every_marginal(engine, data):
    case, question, oracle = drawn(data, models())
    if not possible(oracle, lambda: case.model.marginals(question.given, engine=engine)):
        return
    found = case.model.marginals(question.given, engine=engine)
    assert found.exact
    assert set(found) >= set(case.names) - set(question.given)
    assert list(found) == [name for name in case.names if name in found]
    for name, distribution in found.items():
        close(distribution.values, oracle.posterior([name]))


@pytest.mark.parametrize("engine", ENGINES)
@given(data=DATA)
def test_one_target(engine, data):
    """Any target, also an observed one."""
    case, question, oracle = drawn(data, models())
    name = data.draw(st.sampled_from(case.names))
    if possible(oracle, lambda: case.model.query(name, question.given, engine=engine)):
        found = case.model.query(name, question.given, engine=engine)
        assert found.exact
        assert tuple(found.states) == case.states[name]
        close(found.values, oracle.posterior([name]))


@pytest.mark.parametrize("engine", ENGINES)
@given(data=DATA)
def test_a_joint(engine, data):
    """Any set of targets, the axes in the order asked."""
    case, question, oracle = drawn(data, models())
    names = data.draw(st.lists(st.sampled_from(case.names), min_size=1, unique=True))
    if possible(oracle, lambda: case.model.query(names, question.given, engine=engine)):
        found = case.model.query(names, question.given, engine=engine)
        assert found.names == tuple(names)
        close(found.values, oracle.posterior(names))


@pytest.mark.parametrize("engine", ENGINES)
@given(data=DATA)
def test_soft_evidence(engine, data):
    """Marginals wanted afterwards, one or several, beside evidence of other kinds.

    Several are fitted by iteration, which crawls where states hold together by 1e-10: the numbers are tame.
    """
    case, question, oracle = drawn(data, models(TAME, most=6), soft=3)
    if not possible(oracle, lambda: case.model.marginals(question.given, engine=engine)):
        return
    found = case.model.marginals(question.given, engine=engine)
    for name, distribution in found.items():
        close(distribution.values, oracle.posterior([name]), question.tolerance)
    for name, wanted in question.known.wanted.items():
        close(case.model.query(name, question.given, engine=engine).values, wanted, question.tolerance)
    names = data.draw(st.lists(st.sampled_from(case.names), min_size=1, max_size=3, unique=True))
    close(
        case.model.query(names, question.given, engine=engine).values,
        oracle.posterior(names),
        question.tolerance,
    )


@pytest.mark.parametrize("engine", ENGINES)
@given(data=DATA)
def test_the_probability_of_evidence(engine, data):
    case, question, oracle = drawn(data, models())
    before = Oracle(case.plain)
    if before.possible:
        found = case.model.log_probability(question.given, engine=engine)
        if oracle.possible:
            close(found, oracle.log_probability)
            p = case.model.probability(question.given, engine=engine)
            assert p.exact
            close(p, float(oracle.partition / oracle.partition_before))
            close(p.log, oracle.log_probability)
        else:
            assert found == -math.inf
            assert case.model.probability(question.given, engine=engine) == 0.0


@pytest.mark.parametrize("engine", ENGINES)
@given(data=DATA)
def test_the_probability_of_an_event(engine, data):
    """P(event | given): of other variables, or states of the same."""
    case, question, oracle = drawn(data, models())
    event = data.draw(knowledge(case, most=3))
    plain = [
        {name for name, weights in known.weights.items() if np.max(weights) == np.sum(weights) == 1}
        for known in (question.known, event.known)
    ]
    both_plain = plain[0] & plain[1]
    event_given = {k: v for k, v in event.given.items() if k not in question.given or k in both_plain}
    weights = {k: v for k, v in event.known.weights.items() if k in event_given}
    note(f"event = {event_given}")
    if possible(oracle, lambda: case.model.probability(event_given, given=question.given, engine=engine)):
        both = {
            name: np.asarray(question.known.weights.get(name, 1.0)) * np.asarray(weights.get(name, 1.0))
            for name in {**weights, **question.known.weights}
        }
        expected = float(Oracle(case.plain, Known(both)).partition / oracle.partition)
        close(case.model.probability(event_given, given=question.given, engine=engine), expected)


@given(case=markov_networks())
def test_the_partition_function(case):
    note(repr(case))
    oracle = Oracle(case.plain)
    found = case.model.log_partition()
    if oracle.possible:
        close(found, log(oracle.partition))
    else:
        assert found == -math.inf


# --- maxima ---


def check_assignment(case: Case, oracle: Oracle, best: pgm.Assignment, top: Any) -> None:
    """As probable as the best can be, and honest about how probable that is."""
    weight = oracle.weight_of(case.codes(best))
    assert float(weight / top) == pytest.approx(1.0, abs=1e-12)
    close(best.probability, float(weight / oracle.partition))
    close(best.log_probability, log(weight / oracle.partition))
    assert best.exact


@given(data=DATA)
def test_max_marginals(data):
    case, question, oracle = drawn(data, models())
    if possible(oracle, lambda: case.model.max_marginals(question.given)):
        found = case.model.max_marginals(question.given)
        for name in found:
            for logarithm, truth in zip(found.log_values(name), oracle.max_marginal(name), strict=True):
                if truth:
                    close(logarithm, log(truth))
                else:
                    assert logarithm == -math.inf


@given(data=DATA)
def test_the_most_probable_explanation(data):
    case, question, oracle = drawn(data, models())
    if possible(oracle, lambda: case.model.map(question.given)):
        best = case.model.map(question.given)
        assert set(best) >= set(case.names) - set(question.given)
        check_assignment(case, oracle, best, oracle.best()[0][1])
        close(best.log_joint, log(oracle.weight_of(case.codes(best))))


@given(data=DATA)
def test_marginal_map(data):
    case, question, oracle = drawn(data, models())
    names = data.draw(st.lists(st.sampled_from(case.names), min_size=1, unique=True))
    if possible(oracle, lambda: case.model.map(question.given, targets=names)):
        best = case.model.map(question.given, targets=names)
        assert set(best) == set(names)
        check_assignment(case, oracle, best, oracle.best(names)[0][1])


def test_marginal_map_counts_every_factor_once():
    """Found by thousands of examples: the factor of `below` was counted twice."""
    net = pgm.BayesianNetwork()
    net.add("top", 0.32)
    net.add("apart", 0.54)
    net.add("middle", {False: 0.08, True: 0.22}, parents=["top"])
    net.add("alone", 0.39)
    net.add("below", {False: 0.37, True: 0.81}, parents=["top"])
    net.add("other", 0.38)
    net.add("last", {False: 0.87, True: 0.26}, parents=["middle"])
    targets = ["top", "below", "last"]
    best = net.map(targets=targets)
    assert best.probability == pytest.approx(net.probability(dict(best)), abs=1e-12)
    joint = net.query(targets)
    assert best.probability == pytest.approx(joint.values.max(), abs=1e-12)
    ranked = np.sort(joint.values, axis=None)[::-1]
    assert [b.probability for b in net.k_best(k=8, targets=targets)] == pytest.approx(ranked)


@given(data=DATA)
def test_the_most_probable_explanation_under_soft_evidence(data):
    """The best of the joint that has the wanted marginals."""
    case, question, oracle = drawn(data, models(TAME, most=5), soft=2)
    if possible(oracle, lambda: case.model.map(question.given)):
        known = question.known
        tilted = Oracle(case.plain, Known({**known.weights, **known.tilts}))
        best = case.model.map(question.given)
        found = tilted.weight_of(case.codes(best)) / tilted.partition
        top = tilted.best()[0][1] / tilted.partition
        assert float(found / top) == pytest.approx(1.0, abs=question.tolerance)
        close(best.probability, float(found), question.tolerance)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("target", ["x", "apart", ["x", "apart"]], ids=str)
def test_no_table_is_zero_and_their_product_is(engine, target):
    """Three neighbours of two states that must all differ: seen only in a sum, of the target or beside it."""
    net = pgm.MarkovNetwork()
    for name in ("x", "y", "z", "switch", "apart"):
        net.add_variable(name, states=[0, 1])
    net.add_factor("apart", [0.3, 0.7])
    for pair in (["x", "y"], ["y", "z"]):
        net.add_factor(pair, [[0, 1], [1, 0]])
    net.add_factor(["z", "x", "switch"], [[[1, 0], [1, 1]], [[1, 1], [1, 0]]])  # 1: z and x differ as well
    with pytest.raises(pgm.ImpossibleEvidence) as caught:
        net.query(target, {"switch": 1}, engine=engine)
    assert caught.value.contradiction == {"switch": 1}
    expected = {"x": [0.5, 0.5], "apart": [0.3, 0.7]}.get(str(target), [[0.15, 0.35], [0.15, 0.35]])
    assert net.query(target, {"switch": 0}, engine=engine).values == pytest.approx(np.array(expected))


def test_the_engine_that_sums_says_that_it_does_not_maximise():
    net = pgm.BayesianNetwork()
    net.add("a", 0.3)
    with pytest.raises(pgm.InvalidArgument, match="exact"):
        net.map(engine="elimination")


@given(data=DATA)
def test_the_k_best(data):
    case, question, oracle = drawn(data, models())
    k = data.draw(st.integers(1, 12))
    names = data.draw(st.none() | st.lists(st.sampled_from(case.names), min_size=1, max_size=3, unique=True))
    if possible(oracle, lambda: case.model.k_best(question.given, k=k, targets=names)):
        found = case.model.k_best(question.given, k=k, targets=names)
        expected = oracle.best(names, k=k)
        assert len(found) == len(expected)
        assert len({tuple(sorted(case.codes(a).items())) for a in found}) == len(found)
        for assignment, (_, weight) in zip(found, expected, strict=True):
            check_assignment(case, oracle, assignment, weight)


@given(data=DATA)
def test_ties_go_to_the_state_declared_first(data):
    """Where products are exact, ties are ties, and the order of declaration decides."""
    case, question, oracle = drawn(data, models(TIES, most=6), kinds=("hard", "one of", "not"))
    if not possible(oracle, lambda: case.model.map(question.given)):
        return
    first = oracle.best()[0][0]
    assert {**first, **case.codes(case.model.map(question.given))} == first
    names = data.draw(st.lists(st.sampled_from(case.names), min_size=1, unique=True))
    assert case.codes(case.model.map(question.given, targets=names)) == oracle.best(names)[0][0]


@given(data=DATA)
def test_ties_among_the_k_best(data):
    case, question, oracle = drawn(data, models(TIES, most=6), kinds=("hard", "one of", "not"))
    if possible(oracle, lambda: case.model.k_best(question.given, k=8)):
        found = [case.codes(a) for a in case.model.k_best(question.given, k=8)]
        expected = [codes for codes, _ in oracle.best(k=8)]
        assert [{**e, **f} for f, e in zip(found, expected, strict=True)] == expected


# --- tables ---


@given(data=DATA)
def test_expected_counts(data):
    """One per family: the posterior of parents and child, whatever was observed of them."""
    case, question, oracle = drawn(data, bayesian_networks(), soft=1)
    if possible(oracle, lambda: case.model.expected_counts(question.given)):
        counts = case.model.expected_counts(question.given)
        for number, (scope, _) in enumerate(case.plain.tables):
            if not isinstance(case.model.cpd(scope[-1]), pgm.NoisyOr):  # no table, no entries
                close(counts[scope[-1]], oracle.expected_counts(number))


@given(data=DATA)
def test_gradients(data):
    """The derivative of log P(evidence) by every entry of every table, also by those that are zero."""
    case, question, oracle = drawn(data, bayesian_networks())
    if possible(oracle, lambda: case.model.gradients(question.given)):
        every, gradients = (
            case.model.gradients(question.given, zeros=True),
            case.model.gradients(question.given),
        )
        for number, (scope, table) in enumerate(case.plain.tables):
            if not isinstance(case.model.cpd(scope[-1]), pgm.NoisyOr):
                wanted = oracle.gradient(number)
                close(every[scope[-1]], wanted)
                close(gradients[scope[-1]][table > 0], wanted[table > 0])
                assert np.isnan(gradients[scope[-1]][table == 0]).all()


def has_table(potential: Any) -> bool:
    """A factor written by its rows may be kept as those."""
    return isinstance(potential.factor, Dense)


@given(data=DATA)
def test_tables_of_undirected_models(data):
    """Expected counts, and the derivative of the sum over what agrees with the evidence, by every entry."""
    case, question, oracle = drawn(data, markov_networks())
    if possible(oracle, lambda: case.model.gradients(question.given)):
        counts, gradients = (
            case.model.expected_counts(question.given),
            case.model.gradients(question.given, zeros=True),
        )
        kept = [i for i, potential in enumerate(case.model.potentials) if has_table(potential)]
        assert sorted(counts) == sorted(gradients) == kept
        for number in kept:
            close(counts[number], oracle.expected_counts(number))
            close(gradients[number], oracle.gradient(number))


@given(data=DATA)
def test_partition_under_evidence(data):
    """The sum over what agrees with the evidence, weights and all; zero where nothing does."""
    case, question, oracle = drawn(data, markov_networks())
    for engine in ("auto", *ENGINES, "conditioned"):
        found = case.model.partition(question.given, engine=engine)
        assert found.exact
        close(found.log, log(oracle.partition))
        close(case.model.log_partition(question.given, engine=engine), log(oracle.partition))
        if oracle.partition:
            close(float(found) / float(oracle.partition), 1.0)
        else:
            assert found == 0.0


# --- samples ---


@given(data=DATA)
def test_samples_follow_the_posterior(data):
    """A thousand draws: nothing impossible, and the frequencies of the joint are the oracle's."""
    case, question, oracle = drawn(data, models(most=4), soft=1)
    if not possible(oracle, lambda: case.model.sample(10, given=question.given, seed=1)):
        return
    n = 1000
    samples = case.model.sample(n, given=question.given, seed=1)
    free = list(samples)
    assert set(free) >= set(case.names) - set(question.given)
    joint = oracle.posterior(free)
    where = tuple(np.array([case.states[name].index(s) for s in samples[name].tolist()]) for name in free)
    seen = np.zeros(joint.shape)
    np.add.at(seen, where, 1)
    assert not seen[joint == 0].any()
    spread = np.sqrt(n * joint * (1 - joint))
    assert np.all(np.abs(seen - n * joint) <= 5.5 * spread + 3)


# --- the hot loop ---


@given(data=DATA)
def test_a_compiled_question(data):
    """`compile` fixes which variables are known; then any states of them."""
    case = data.draw(models())
    note(repr(case))
    target = data.draw(st.sampled_from(case.names))
    known = [n for n in data.draw(st.lists(st.sampled_from(case.names), unique=True)) if n != target]
    if not possible(Oracle(case.plain), lambda: case.model.compile(target, given=known)({})):
        return
    ask = case.model.compile(target, given=known)
    for _ in range(3):
        codes = {name: data.draw(st.integers(0, len(case.states[name]) - 1)) for name in known}
        states = {name: case.states[name][code] for name, code in codes.items()}
        weights = {name: np.eye(len(case.states[name]))[code] for name, code in codes.items()}
        oracle = Oracle(case.plain, Known(weights))
        if possible(oracle, lambda states=states: ask(states)):
            close(ask(states).values, oracle.posterior([target]))


@given(data=DATA)
def test_a_frame_row_by_row(data):
    """predict, predict_proba, log_likelihood and score with missing cells and impossible rows."""
    case = data.draw(models(most=6))
    note(repr(case))
    prior = Oracle(case.plain)
    if not prior.possible:
        return
    target = data.draw(st.sampled_from(case.names))
    columns = data.draw(st.lists(st.sampled_from(case.names), min_size=1, unique=True))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n = data.draw(st.integers(1, 6))
    codes = {name: rng.integers(-1, len(case.states[name]), size=n) for name in columns}
    frame = {name: [None if c < 0 else case.states[name][c] for c in codes[name]] for name in columns}
    note(f"frame = {frame}, target = {target!r}")

    def truth(row: int, leave: str | None = None) -> Oracle:
        weights = {
            name: np.eye(len(case.states[name]))[codes[name][row]]
            for name in columns
            if codes[name][row] >= 0 and name != leave
        }
        return Oracle(case.plain, Known(weights))

    rows = [truth(i) for i in range(n)]
    logs = [oracle.log_probability if oracle.possible else -math.inf for oracle in rows]
    found = case.model.log_likelihood(frame, bad_rows="missing")
    for value, expected in zip(found, logs, strict=True):
        if math.isfinite(expected):
            close(value, expected)
        else:
            assert value == -math.inf or math.isnan(value)
    if all(map(math.isfinite, logs)):
        close(case.model.log_likelihood(frame), logs)
        close(case.model.score(frame), sum(logs), 1e-11)

    rows = [truth(i, leave=target) for i in range(n)]
    good = [i for i in range(n) if rows[i].possible]
    if len(good) < n:
        with pytest.raises(pgm.ImpossibleEvidence):
            case.model.predict_proba(frame, target)
        with pytest.raises(pgm.ImpossibleEvidence):
            case.model.predict(frame, target)
    table = np.asarray(case.model.predict_proba(frame, target, bad_rows="missing"))
    labels = list(case.model.predict(frame, target, bad_rows="missing"))
    for i in good:
        expected = rows[i].posterior([target])
        close(table[i], expected)
        assert expected[case.states[target].index(labels[i])] >= expected.max() - 1e-12


# --- evidence in other words ---


@pytest.mark.parametrize("kind", KINDS)
@given(data=DATA)
def test_each_kind_of_evidence_alone(kind, data):
    """So that a failure names the kind."""
    case, question, oracle = drawn(data, models(most=5), kinds=(kind,))
    if possible(oracle, lambda: case.model.marginals(question.given)):
        for name, distribution in case.model.marginals(question.given).items():
            close(distribution.values, oracle.posterior([name]))
        close(case.model.log_probability(question.given), oracle.log_probability)
