"""Results are values: immutable, printable, picklable, and they say whether they are exact."""

import copy
import math
import pickle
import time
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import pgm
from pgm.errors import InvalidArgument, UnknownState, UnknownVariable
from pgm.printing import text_table
from pgm.results import (
    EXACT,
    Assignment,
    Distribution,
    Intervals,
    Logarithm,
    Marginals,
    MaxMarginals,
    Probability,
    Report,
    Samples,
    Trace,
    exact_report,
    farthest,
    merged,
)
from pgm.results.facts import FACTS
from pgm.variables import Bins, Variable, as_domain, states_array

RAIN = Variable("rain", [False, True])
MOOD = Variable("mood", ["bad", "fair", "good"])
DIE = Variable("die", range(1, 7))
LOOPY = Report("loopy", exact=False, converged=False, error=3e-4, advice="raise sweeps=")


def single():
    return Distribution((RAIN,), np.array([0.25, 0.75]))


def joint(report=EXACT):
    return Distribution((RAIN, MOOD), np.array([[0.1, 0.2, 0.3], [0.0, 0.15, 0.25]]), report)


def marginals(report=EXACT):
    return Marginals([RAIN, MOOD], np.array([0.25, 0.75, 0.2, 0.5, 0.3]), [0, 2], report)


def max_marginals(report=EXACT):
    return MaxMarginals([RAIN, MOOD], np.log([0.25, 0.5, 0.2, 0.5, 0.3]), [0, 2], report)


def assignment(report=EXACT):
    return Assignment([RAIN, MOOD], [1, 2], math.log(0.5), math.log(0.125), report)


def samples(report=EXACT):
    moods = np.array(["good", "bad", None], dtype=object)
    return Samples({"rain": np.array([True, False, True]), "mood": moods}, report)


MAKERS = [single, joint, marginals, max_marginals, assignment, samples]


# --- what all results have in common ------------------------------------------------------------------------


@pytest.mark.parametrize("make", MAKERS)
def test_results_pickle_and_copy(make):
    result = make()
    for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert type(again) is type(result)
        assert repr(again) == repr(result)
        assert again.report == result.report


@pytest.mark.parametrize("make", [joint, marginals, max_marginals, assignment, samples])
def test_an_approximate_result_says_so_loudly(make):
    assert make().exact
    assert "APPROX" not in repr(make())
    result = make(LOOPY)
    assert (result.exact, result.engine) == (False, "loopy")
    said = "APPROXIMATE (loopy): not converged, error 0.0003; raise sweeps="
    assert repr(result).splitlines()[-1] == said
    assert said in result._repr_html_()
    assert pickle.loads(pickle.dumps(result)).report == LOOPY


@pytest.mark.parametrize("make", [single, joint, marginals, max_marginals, assignment])
def test_results_do_not_change(make):
    result = make()
    with pytest.raises(AttributeError, match="does not change"):
        result.report = LOOPY
    with pytest.raises(AttributeError, match="does not change"):
        del result.report


class Cells(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text.append(data)


def test_html_is_escaped():
    evil = Variable("<script>", ["<b>", "&", '"'])
    p = Distribution((evil,), np.array([0.5, 0.25, 0.25]), Report("<i>", exact=False))
    results = [
        p,
        Marginals([evil], np.array([0.5, 0.25, 0.25]), [0], p.report),
        Assignment([evil], [0], 0.0, 0.0, p.report),
        Samples({"<script>": np.array(["<b>"], dtype=object)}, p.report),
    ]
    for result in results:
        parser = Cells()
        parser.feed(result._repr_html_())
        assert set(parser.tags) <= {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "br"}
        assert {"<script>", "<b>"} & set(parser.text)


def test_the_report_says_what_was_measured():
    assert str(EXACT) == "exact"
    report = Report(
        "gibbs", False, error=0.01, bounds=(0.1, 0.2), effective_sample_size=412.3, iterations=1000
    )
    assert str(report) == (
        "APPROXIMATE (gibbs): error 0.01, between 0.1 and 0.2, effective sample size 412, 1,000 iterations"
    )


def test_the_report_of_messages_and_of_a_bound():
    report = Report("loopy", False, iterations=3, residuals=(0.5, 0.1, 2e-9))
    assert report.residual == 2e-9
    assert str(report) == "APPROXIMATE (loopy): error not measured, 3 iterations, residual 2.0e-09"
    bound = Report("mean-field", False, log_bounds=(-2.5, math.inf))
    assert bound.residual is None  # it sends no messages
    assert str(bound) == "APPROXIMATE (mean-field): error not measured, log P(given) at least -2.5"
    both = Report("bounds", False, log_bounds=(-2.5, -2.25))
    assert "log P(given) at least -2.5 and at most -2.25" in str(both)


def test_an_answer_of_several_runs_says_the_worst_of_them():
    good = Report(
        "loopy", True, iterations=3, residuals=(0.1, 0.0), log_bounds=(0.0, 1.0), advice="well done"
    )
    bad = Report("loopy", False, converged=False, iterations=5, residuals=(0.5, 0.25), advice="go on")
    assert merged([good]) is good
    found = merged([good, bad, good])
    assert (found.exact, found.converged, found.iterations) == (False, False, 11)
    assert (found.residual, found.advice, found.log_bounds) == (0.25, "go on", None)
    assert merged([good, good]).exact


def test_an_error_that_was_not_measured_is_none():
    for exact in (EXACT, Report("search", True), exact_report("exact", EXACT.profile, None)):
        assert exact.error == 0.0
        assert "error" not in repr(exact)
        assert exact.to_dict()["error"] == 0.0
    unknown = Report("loopy", False)
    assert unknown.error is None
    assert unknown.log_error is None
    assert unknown.to_dict()["error"] is None
    assert ("error", "not measured") in unknown._lines()
    for text in (str(unknown), repr(unknown), unknown._repr_html_()):
        assert "not measured" in text
    measured = Report("gibbs", False, error=0.0)  # no draw differed: 0 was measured, and is said
    assert str(measured) == "APPROXIMATE (gibbs): error 0"
    assert merged([measured, measured.changed(error=0.2), EXACT]).error == 0.2
    assert merged([measured, unknown]).error is None


def test_sure_intervals_say_how_far_off_each_answer_may_be():
    ends = Intervals(np.array([0.1, 0.5]), np.array([0.4, 0.9]))
    report = Report("bounds", False, intervals=ends, error=farthest(ends, np.array([0.3, 0.7])))
    assert report.error == pytest.approx(0.2)
    ends = Intervals(np.array([0.1, 0.5, 0.5, 0.5, 0.0]), np.array([0.4, 0.9, 0.5, 0.5, 0.1]))
    values = np.array([0.3, 0.7, 0.5, 0.5, 0.0])
    both = Marginals([RAIN, MOOD], values, [0, 2], report.changed(intervals=ends))
    assert (both["rain"].report.error, both["mood"].report.error) == (pytest.approx(0.2), 0.1)
    value = Probability(0.25, Report("bounds", False, log_bounds=(math.log(0.2), math.log(0.4))))
    assert value.report.error == pytest.approx(0.15)
    assert value.log.report.error == pytest.approx(math.log(1.6))


def test_a_fact_is_an_attribute_and_what_was_not_measured_says_so():
    report = Report("gibbs", False, samples=100, r_hat=None, iterations=0, given={"a": 1})
    assert dict(report.facts) == {"samples": 100}
    assert (report.samples, report.r_hat, report.iterations, report.modes) == (100, None, 0, 1)
    assert (report.residuals, report.residual, report.chains) == ((), None, None)
    assert EXACT.facts == exact_report("exact", EXACT.profile, None).facts == {}
    for name, fact in FACTS.items():
        assert getattr(EXACT, name) == fact.missing
        assert name in dir(EXACT)
    with pytest.raises(AttributeError, match="'Report' object has no attribute 'rhat'") as caught:
        report.rhat  # noqa: B018
    assert caught.value.name == "rhat"
    with pytest.raises(TypeError, match="no fact is called 'rhat'"):
        Report("gibbs", False, rhat=1.0)


def test_a_report_does_not_change_but_makes_others():
    report = Report("gibbs", False, samples=100, r_hat=1.2)
    with pytest.raises(AttributeError, match="a Report does not change"):
        report.samples = 3
    with pytest.raises(AttributeError, match="a Report does not change"):
        del report.engine
    with pytest.raises(TypeError):
        report.facts["samples"] = 3
    other = report.changed(r_hat=None, converged=False, error=0.5)
    assert dict(other.facts) == {"samples": 100}
    assert (other.converged, other.error, other.engine) == (False, 0.5, "gibbs")
    assert dict(report.facts) == {"samples": 100, "r_hat": 1.2}
    assert hash(report) == hash(report.changed(given={"a": 1}))
    assert report == report.changed(given={"a": 1}, chains={"a": np.zeros((2, 3))}) != other
    for again in (pickle.loads(pickle.dumps(report)), copy.deepcopy(report), copy.copy(report)):
        assert (again, dict(again.facts)) == (report, dict(report.facts))


def test_a_trace_prints_as_a_table_and_escapes_what_it_shows():
    trace = Trace(("sweep", "message"), [("1", "<b> -> c"), ("2", "c -> d")])
    assert repr(trace).splitlines() == ["sweep  message", "1      <b> -> c", "2      c -> d"]
    assert "&lt;b&gt;" in trace._repr_html_()
    again = pickle.loads(pickle.dumps(trace))
    assert (again, again.header) == (trace, trace.header)
    assert len(trace[:1]) == 1


def test_a_logarithm_is_a_float_that_knows_how_it_was_found():
    log = Logarithm(-2.5, LOOPY)
    assert log + 1 == -1.5
    assert (log.exact, log.engine) == (False, "loopy")
    again = pickle.loads(pickle.dumps(log))
    assert (again, again.report) == (log, LOOPY)
    assert Probability(0.25, LOOPY).log.exact is False
    with pytest.raises(AttributeError, match="a Logarithm does not change"):
        log.report = EXACT


# --- Distribution -------------------------------------------------------------------------------------------


def test_a_distribution_of_one_variable():
    p = single()
    assert p[True] == p[1] == p["TRUE"] == p[np.True_] == p[{"rain": True}] == 0.75
    assert type(p[True]) is float
    assert p.mode() is True
    assert p.entropy() == pytest.approx(-(0.25 * math.log(0.25) + 0.75 * math.log(0.75)))
    assert (p.names, p.states, len(p)) == (("rain",), (False, True), 2)
    assert list(p) == [False, True]
    assert dict(p.items()) == p.to_dict() == {False: 0.25, True: 0.75}
    assert p.values.tolist() == [0.25, 0.75]
    assert np.asarray(p).tolist() == [0.25, 0.75]
    assert p.exact
    assert p.engine == "exact"
    assert repr(p) == "rain   P(rain)\nFalse  0.250000\nTrue   0.750000"


def test_a_joint_distribution():
    j = joint()
    assert j[True, "good"] == j[{"mood": "good", "rain": True}] == 0.25
    assert j[{"mood": "good"}] == pytest.approx(0.55)
    assert j[{"mood": "good", "rain": None}] == pytest.approx(0.55)
    assert j[{}] == pytest.approx(1)
    assert j.mode() == {"rain": False, "mood": "good"}
    assert j.states == ((False, True), ("bad", "fair", "good"))
    assert j.to_dict()[False, "fair"] == 0.2
    assert next(iter(j)) == (False, "bad")
    assert j.marginal("rain").values == pytest.approx([0.6, 0.4])
    assert j.marginal(["mood", "rain"]).values.shape == (3, 2)
    assert j.marginal(["mood", "rain"])["good", True] == 0.25
    assert joint(LOOPY).marginal("rain").report is LOOPY
    assert repr(j).splitlines()[:2] == ["rain   mood  P", "False  bad   0.100000"]


@given(
    hnp.arrays(float, (2, 3, 2), elements=st.floats(0, 1)),
    st.permutations(["a", "b", "c"]),
    st.integers(1, 3),
)
def test_marginals_of_a_joint_have_their_axes_in_the_order_asked(values, order, k):
    cards = {"a": 2, "b": 3, "c": 2}
    j = Distribution(tuple(Variable(n, range(card)) for n, card in cards.items()), values)
    kept = order[:k]
    expected = np.einsum(values, [0, 1, 2], ["abc".index(name) for name in kept])
    found = j.marginal(kept)
    assert found.names == tuple(kept)
    np.testing.assert_allclose(found.values, expected, atol=1e-12)
    assert not found.values.flags.writeable


def test_mistakes_with_a_distribution():
    with pytest.raises(UnknownState, match=r"'mood' has no state 'god'.*Did you mean 'good'?"):
        joint()[True, "god"]
    with pytest.raises(UnknownVariable, match=r"Did you mean 'mood'?"):
        joint()[{"mod": "good"}]
    for key in (True, (True,), (True, "good", 1)):
        with pytest.raises(InvalidArgument, match="This is the joint of 'rain', 'mood'; ask with 2 states"):
            joint()[key]
    with pytest.raises(UnknownVariable):
        joint().marginal("mod")
    with pytest.raises(InvalidArgument, match="marginal needs at least one of the names 'rain', 'mood'"):
        joint().marginal([])
    with pytest.raises(ValueError, match="read-only"):
        joint().values[0, 0] = 1


def test_ties_go_to_the_state_declared_first():
    assert Distribution((DIE,), np.full(6, 1 / 6)).mode() == 1


def test_expectation():
    assert single().expectation() == 0.75
    assert Distribution((DIE,), np.full(6, 1 / 6)).expectation() == pytest.approx(3.5)
    assert joint().expectation(lambda rain, mood: rain * len(mood)) == pytest.approx(0.15 * 4 + 0.25 * 4)
    far = Variable("far", [0, math.inf])
    assert Distribution((far,), np.array([1.0, 0.0])).expectation() == 0  # not 0 * inf
    for p in (joint(), joint().marginal("mood")):
        with pytest.raises(InvalidArgument, match="whose states are numeric; give a function of the states"):
            p.expectation()


def test_entropy_of_certainty_is_zero():
    assert str(Distribution((RAIN,), np.array([0.0, 1.0])).entropy()) == "0.0"


def test_equal_and_hashable():
    assert single() == single()
    assert hash(single()) == hash(single())
    assert single() != Distribution((RAIN,), np.array([0.25, 0.75 + 1e-16 * 2]))
    assert single() != Distribution((Variable("r", [False, True]),), np.array([0.25, 0.75]))
    assert hash(Distribution((RAIN,), np.array([-0.0, 1]))) == hash(Distribution((RAIN,), np.array([0.0, 1])))
    assert single() != {False: 0.25, True: 0.75}


def test_to_pandas():
    series = single().to_pandas()
    assert series[True] == 0.75
    assert series.index.name == "rain"
    series = joint().to_pandas()
    assert series[True, "good"] == 0.25
    assert list(series.index.names) == ["rain", "mood"]
    series.iloc[0] = 9  # a copy
    tuples = Distribution((Variable("t", [(1, 2), (3, 4)]),), np.array([0.5, 0.5])).to_pandas()
    assert not isinstance(tuples.index, pd.MultiIndex)


def test_without_pandas_the_error_says_so(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match="to_pandas needs pandas, which is not installed; to_dict does not"):
        single().to_pandas()


def test_long_tables_are_shortened_and_made_quickly():
    big = Distribution(tuple(Variable(f"x{i}", range(10)) for i in range(6)), np.full((10,) * 6, 1e-6))
    start = time.thread_time()
    lines = repr(big).splitlines()
    assert time.thread_time() - start < 0.1
    assert len(lines) == 22
    assert lines[-1] == "... 999,980 more of 1,000,000 rows"
    assert lines[1].endswith("1.00e-06")
    assert len(big._repr_html_()) < 10**4


def test_odd_labels_keep_the_table_straight():
    x = Variable("x\ny", ["a\tb", "", "雨", "long" * 50])
    lines = repr(Distribution((x,), np.array([0.1, 0.2, 0.3, 0.4]))).splitlines()
    assert len(lines) == 5
    assert lines[0].startswith("x\\ny ")
    assert lines[1].startswith("a\\tb ")
    assert lines[2].startswith("'' ")
    assert lines[3].index("0.3") == lines[1].index("0.1") - 1  # the character is two columns wide
    assert max(map(len, lines)) < 60


def test_bins_in_a_table():
    age = Variable("age", Bins([0, 18, 65]))
    p = Distribution((age,), np.array([0.25, 0.75]))
    assert repr(p).splitlines()[1:] == ["[0, 18)   0.250000", "[18, 65]  0.750000"]
    assert p[3] == p["[0, 18)"] == 0.25


def test_many_distributions_cost_little():
    values = np.full(2, 0.5)
    start = time.thread_time()
    for _ in range(10_000):
        Distribution((RAIN,), values, EXACT)
    assert time.thread_time() - start < 0.1  # about 0.5 microseconds each; the limit minds a busy machine


# --- Marginals ----------------------------------------------------------------------------------------------


def test_marginals_are_a_mapping():
    m = marginals()
    assert list(m) == ["rain", "mood"]
    assert m["mood"]["fair"] == 0.5
    assert m["mood"] == m["mood"]
    assert "rain" in m
    assert "snow" not in m
    assert len(m) == 2
    assert {name: p.mode() for name, p in m.items()} == {"rain": True, "mood": "fair"}
    assert m == marginals()
    assert m.to_dict() == {"rain": {False: 0.25, True: 0.75}, "mood": {"bad": 0.2, "fair": 0.5, "good": 0.3}}
    with pytest.raises(UnknownVariable, match=r"Did you mean 'mood'?"):
        m["mod"]
    with pytest.raises(ValueError, match="read-only"):
        m["mood"].values[0] = 1
    frame = m.to_pandas()
    assert list(frame.columns) == ["variable", "state", "p"]
    assert frame["p"].tolist() == [0.25, 0.75, 0.2, 0.5, 0.3]
    assert frame["state"].tolist() == [False, True, "bad", "fair", "good"]
    assert repr(m) == (
        "variable  most probable  P         next\n"
        "rain      True           0.750000  False 0.250000\n"
        "mood      fair           0.500000  good 0.300000"
    )


def test_marginals_of_nothing_and_of_one_state():
    nothing = Marginals([], np.zeros(0), [])
    assert len(nothing) == 0
    assert repr(nothing)
    assert nothing.to_pandas().shape == (0, 3)
    assert repr(Marginals([Variable("only", ["one"])], np.ones(1), [0])).splitlines()[1].split() == [
        "only",
        "one",
        "1.000000",
    ]


def test_marginals_take_offsets_as_an_array_and_may_leave_gaps():
    m = Marginals([RAIN, MOOD], np.array([0.25, 0.75, 9, 0.2, 0.5, 0.3]), np.array([0, 3]))
    assert m["mood"].to_dict() == {"bad": 0.2, "fair": 0.5, "good": 0.3}
    assert m.to_pandas()["p"].tolist() == [0.25, 0.75, 0.2, 0.5, 0.3]


# --- Probability --------------------------------------------------------------------------------------------


def test_a_probability_is_a_float():
    p = Probability(0.25)
    assert p == 0.25
    assert repr(p) == "0.25"
    assert p.log == math.log(0.25)
    assert (p.exact, p.engine) == (True, "exact")
    assert Probability(0.0).log == -math.inf
    again = pickle.loads(pickle.dumps(Probability(0.0, LOOPY, log=-2000.0)))
    assert (again, again.log, again.report) == (0.0, -2000.0, LOOPY)
    assert type(again) is Probability
    assert f"{p:.3f}" == "0.250"
    with pytest.raises(AttributeError):
        p.log = 0


# --- Assignment ---------------------------------------------------------------------------------------------


def test_an_assignment_is_a_mapping():
    best = assignment()
    assert best == {"rain": True, "mood": "good"}
    assert best["mood"] == "good"
    assert best.to_dict() == dict(best)
    assert best.probability == pytest.approx(0.5)
    assert best.probability.exact
    assert best.log_probability == math.log(0.5)
    assert best.log_joint == math.log(0.125)
    assert best.to_pandas().to_dict() == {"rain": True, "mood": "good"}
    assert repr(best) == "variable  state\nrain      True\nmood      good\nprobability 0.500000"
    with pytest.raises(UnknownVariable, match=r"Did you mean 'rain'?"):
        best["rian"]
    small = Assignment([RAIN], [1], -5000.0, -5000.0)
    assert (small.probability, small.probability.log) == (0.0, -5000.0)
    assert repr(small).endswith("log probability -5000")


@given(hnp.arrays(float, (2, 3, 2, 2), elements=st.sampled_from([0.0, 1.0, 2.0, 5.0, 1e-300])), st.data())
def test_mutual_information_is_its_sum_over_all_states(weights, data):
    if weights.sum() == 0.0:
        weights[0, 0, 0, 0] = 1.0
    sizes = {"a": 2, "b": 3, "c": 2, "d": 2}
    p = Distribution(tuple(Variable(n, range(k)) for n, k in sizes.items()), weights / weights.sum())
    names = data.draw(st.permutations(list(sizes)))
    i = data.draw(st.integers(1, 3))
    j = data.draw(st.integers(i + 1, 4))
    one, other, known = names[:i], names[i:j], names[j:]

    def of(key, kept):
        state = dict(zip(sizes, key, strict=True))
        same = lambda k: all(dict(zip(sizes, k, strict=True))[n] == state[n] for n in kept)  # noqa: E731
        return math.fsum(q for k, q in p.items() if same(k))

    expected = math.fsum(
        q
        * math.log(
            of(key, names[:j] + known) / of(key, one + known) / (of(key, other + known) / of(key, known))
        )
        for key, q in p.items()
        if q > 0
    )
    assert p.mutual_information(one, other, known) == pytest.approx(expected, abs=1e-12)
    assert p.mutual_information(other, one, known) == pytest.approx(expected, abs=1e-12)


def test_mutual_information_is_between_different_variables():
    with pytest.raises(InvalidArgument, match=r"'rain': the two sides .* must be different variables"):
        joint().mutual_information("rain", ["mood", "rain"])
    with pytest.raises(InvalidArgument, match="between two of the names 'rain', 'mood'"):
        joint().mutual_information("rain", [])
    with pytest.raises(UnknownVariable, match="Did you mean 'mood'"):
        joint().mutual_information("rain", "mod")


def test_moments_of_numbers():
    die = Distribution((DIE,), np.full(6, 1 / 6))
    assert die.mean == pytest.approx(3.5)
    assert die.variance == pytest.approx(35 / 12)  # (n^2 - 1) / 12
    assert die.std == pytest.approx(math.sqrt(35 / 12))
    assert single().mean == 0.75
    for p in (joint(), Distribution((MOOD,), np.full(3, 1 / 3))):
        for name in ("mean", "variance", "std"):
            with pytest.raises(InvalidArgument, match="needs one variable whose states are numeric"):
                getattr(p, name)


def grid(rows, columns, prefix="pixel"):
    domain = as_domain([0, 1])
    return [Variable.of(f"{prefix}[{i},{j}]", domain) for i in range(rows) for j in range(columns)]


@given(st.integers(1, 4), st.integers(1, 4), st.randoms())
def test_to_array_puts_each_variable_in_its_place(rows, columns, rnd):
    variables = grid(rows, columns)
    codes = {v.name: rnd.randint(0, 1) for v in variables}
    rnd.shuffle(variables)
    others = [Variable("pixel", [0, 1]), Variable("other[0,0]", [0, 1])]
    best = Assignment(variables + others, [codes[v.name] for v in variables] + [0, 0], 0.0, 0.0)
    array = best.to_array("pixel")
    assert array.dtype == np.int64
    assert array.tolist() == [[codes[f"pixel[{i},{j}]"] for j in range(columns)] for i in range(rows)]


def test_to_array_of_states_of_several_kinds():
    best = Assignment([Variable("x[0]", [False, True]), Variable("x[1]", ["a", "b"])], [1, 0], 0.0, 0.0)
    assert best.to_array("x").tolist() == [True, "a"]


def test_to_array_refuses_holes_and_strangers():
    best = Assignment(grid(2, 2)[:3], [0, 0, 0], 0.0, 0.0)
    with pytest.raises(
        InvalidArgument, match=r"'pixel\[\.\.\.\]' are 3 of the 4 that an array of shape \(2, 2\)"
    ):
        best.to_array("pixel")
    with pytest.raises(
        InvalidArgument, match=r"No variable is named like 'pixl\[0\]'.*Did you mean 'pixel'?"
    ):
        best.to_array("pixl")
    far = Assignment([Variable("x[999999999,999999999]", [0, 1])], [0], 0.0, 0.0)
    with pytest.raises(InvalidArgument, match="are 1 of the 1,000,000,000,000,000,000"):
        far.to_array("x")
    mixed = Assignment([Variable("x[0]", [0, 1]), Variable("x[0,0]", [0, 1])], [0, 0], 0.0, 0.0)
    with pytest.raises(InvalidArgument, match="different numbers of indices"):
        mixed.to_array("x")


@given(st.integers(1, 4), st.integers(1, 4), st.randoms())
def test_to_array_of_marginals_has_the_states_last(rows, columns, rnd):
    variables = grid(rows, columns)
    of = {v.name: rnd.random() for v in variables}
    rnd.shuffle(variables)
    variables.insert(rnd.randint(0, len(variables)), Variable("other", ["a", "b", "c"]))
    parts = [[1 - of[v.name], of[v.name]] if v.name in of else [0.5, 0.25, 0.25] for v in variables]
    begins = np.cumsum([0, *map(len, parts)])[:-1]
    array = Marginals(variables, np.concatenate(parts), begins).to_array("pixel")
    assert array.shape == (rows, columns, 2)
    for i, j in np.ndindex(rows, columns):
        p = of[f"pixel[{i},{j}]"]
        assert array[i, j].tolist() == [1 - p, p]


def test_to_array_of_marginals_refuses_what_makes_no_array():
    several = [Variable("x[0]", ["a", "b"]), Variable("x[1]", ["b", "a"])]
    with pytest.raises(InvalidArgument, match="do not all have the same states in the same order"):
        Marginals(several, np.full(4, 0.5), [0, 2]).to_array("x")
    seen = Report("exact", exact=True, given={"pixel[0,1]": 1, "rain": True})
    left = [v for v in grid(2, 2) if v.name != "pixel[0,1]"]
    with pytest.raises(InvalidArgument, match=r"needs\. 'pixel\[0,1\]' was given: what is known is not part"):
        Marginals(left, np.full(6, 0.5), [0, 2, 4], seen).to_array("pixel")


# --- Samples ------------------------------------------------------------------------------------------------


def test_samples_go_straight_into_a_frame():
    s = samples()
    assert isinstance(s, dict)
    assert pd.DataFrame(s).shape == s.to_pandas().shape == (3, 2)
    assert s.n_rows == 3
    assert type(s.to_dict()) is dict
    assert repr(s) == "rain   mood\nTrue   good\nFalse  bad\nTrue   None"
    assert repr(Samples({}))  # nothing to show is not an error
    long = repr(Samples({f"x{i}": np.arange(100) for i in range(50)}))
    assert long.splitlines()[-2:] == ["... 30 more of 50 columns", "... 80 more of 100 rows"]


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.update(a=1),
        lambda s: s.pop("rain"),
        lambda s: s.clear(),
        lambda s: s.__setitem__("rain", 1),
        lambda s: s.__delitem__("rain"),
        lambda s: s.__ior__({}),
        lambda s: s.setdefault("a", 1),
        lambda s: s.popitem(),
    ],
)
def test_samples_do_not_change(change):
    s = samples()
    with pytest.raises(TypeError, match=r"samples do not change; dict\(samples\) is a copy that does"):
        change(s)
    with pytest.raises(ValueError, match="read-only"):
        s["rain"][0] = False
    dict(s)["new"] = 1


def test_states_array():
    assert states_array(RAIN, np.array([1, 0])).dtype == bool
    assert states_array(DIE, np.array([5, 0])).tolist() == [6, 1]
    assert states_array(MOOD, np.array([2, 0])).tolist() == ["good", "bad"]
    assert states_array(RAIN, np.array([1, -1])).tolist() == [True, None]
    assert states_array(Variable("t", [(1, 2), (3, 4)]), np.array([1, -1])).tolist() == [(3, 4), None]
    assert states_array(RAIN, np.zeros(0, dtype=np.int32)).shape == (0,)
    with pytest.raises(IndexError):
        states_array(RAIN, np.array([2]))


def test_a_table_without_rows():
    assert text_table(["a", "b"], []) == "a  b"


def test_samples_are_values() -> None:
    samples = Samples({"a": np.array([1, 2]), "b": np.array(["x", None], dtype=object)})
    assert samples == pickle.loads(pickle.dumps(samples)) == copy.deepcopy(samples)
    assert samples != Samples({"a": np.array([1, 3]), "b": samples["b"].copy()})
    assert samples != 3
    assert samples != Samples({"a": np.array([1, 2])})
    with pytest.raises(UnknownVariable, match="no variable 'c'; there are 'a', 'b'"):
        samples["c"]
    with pytest.raises(AttributeError, match="samples do not change"):
        samples.report = None  # type: ignore[assignment]
    assert samples.exact


def test_an_array_of_states_needs_each_place_once() -> None:
    twins = [Variable("x[1]", [0, 1]), Variable("x[01]", [0, 1])]
    with pytest.raises(InvalidArgument, match="have the same indices"):
        Assignment(twins, [0, 1], 0.0, 0.0).to_array("x")


def test_what_was_given_is_said_to_be_no_part_of_an_answer():
    net = pgm.load_network("asia")
    for answer in (net.marginals({"asia": "no"}), net.map({"asia": "no"})):
        with pytest.raises(UnknownVariable, match=r"'asia' was given \(asia=no\) and is not part") as error:
            answer["asia"]
        assert "there are 'tub', 'smoke'" in str(error.value)
        with pytest.raises(UnknownVariable, match="Did you mean 'tub'"):
            answer["tube"]
