"""What is given becomes codes and weights, or an error that names the variable and the remedy."""

import math
import pickle
import time

import numpy as np
import pandas as pd
import pytest

from pgm.errors import InvalidEvidence, UnknownState, UnknownVariable
from pgm.evidence import Likelihood, Not, OneOf, Soft, names, observe
from pgm.variables import BOOLEAN, Bins, Interval, Variable

VARIABLES = {
    v.name: v
    for v in (
        Variable("wet", [False, True]),
        Variable("mood", ["bad", "fair", "good"]),
        Variable("age", Bins([0, 18, 65, 120])),
        Variable("count", [0, 1, 2, 5]),
        Variable("only", ["one"]),
    )
}


def one(name, value):
    """What is observed of one variable: ("hard", code), ("weights", [...]) or ("soft", [...])."""
    seen = observe(VARIABLES, {name: value})
    assert [bool(kind) for kind in (seen.hard, seen.weights, seen.soft)].count(True) == 1
    if seen.hard:
        return seen.hard[name]
    if seen.weights:
        ((weights,),) = seen.weights.values()
        return weights.tolist()
    return seen.soft[name].tolist()


@pytest.mark.parametrize(
    ("name", "value", "seen"),
    [
        ("wet", True, 1),
        ("wet", np.True_, 1),
        ("wet", "true", 1),
        ("mood", "good", 2),
        ("mood", OneOf("good", "bad"), [1, 0, 1]),
        ("mood", OneOf(["good", "bad"]), [1, 0, 1]),
        ("mood", OneOf({"good", "bad"}), [1, 0, 1]),
        ("mood", OneOf("good"), 2),
        ("mood", OneOf("bad", "fair", "good"), [1, 1, 1]),
        ("mood", Not("fair"), [1, 0, 1]),
        ("mood", Not("fair", "bad"), 2),
        ("wet", Not(True), 0),
        ("age", 17, 0),
        ("age", "17.5", 0),
        ("age", Interval(0, 18), 0),
        ("age", Interval(0, 65), [1, 1, 0]),
        ("age", Interval(-math.inf, 65), [1, 1, 0]),
        ("age", Interval(18, 1000), [0, 1, 1]),
        ("age", Not(Interval(0, 18)), [0, 1, 1]),
        ("age", OneOf(3, Interval(65, 120)), [1, 0, 1]),
        ("count", Interval(1, 3), [0, 1, 1, 0]),
        ("count", Interval(1, 2), 1),  # as it prints: [1, 2)
        ("count", Not(Interval(1, 2)), [1, 0, 1, 1]),
        ("count", Interval(1, 2, closed=True), [0, 1, 1, 0]),
        ("count", Interval(0.5, 1.5), 1),
        ("wet", Likelihood({True: 0.8, False: 0.1}), [0.1, 0.8]),
        ("wet", Likelihood({"TRUE": 8, "false": 1}), [1, 8]),
        ("wet", Soft({True: 0.7, False: 0.3}), [0.3, 0.7]),
        ("mood", Soft({"good": 0.75, "bad": 0.25}), [0.25, 0, 0.75]),
        ("mood", Soft({"good": 1}), 2),
        ("only", Soft({"one": 1.0}), 0),
        ("only", "one", 0),
    ],
)
def test_what_each_form_of_evidence_means(name, value, seen):
    assert one(name, value) == seen
    assert observe(VARIABLES, {name: value}).given == {name: value}


def test_a_likelihood_that_leaves_one_state_keeps_its_weight():
    seen = observe(VARIABLES, {"wet": Likelihood({True: 0.2, False: 0}), "only": Likelihood({"one": 0.5})})
    assert seen.hard == {"wet": 1, "only": 0}
    assert seen.log_weight == pytest.approx(math.log(0.1))
    assert observe(VARIABLES, {"wet": OneOf(True)}).log_weight == 0


def test_a_soft_is_divided_by_its_sum_within_rounding():
    assert sum(one("wet", Soft({True: 0.7 + 5e-7, False: 0.3}))) == pytest.approx(1, abs=1e-15)
    with pytest.raises(InvalidEvidence, match=r"'wet': Soft\(.*\) must sum to one, not 1\.1"):
        one("wet", Soft({True: 0.8, False: 0.3}))


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA, pd.NaT, np.float64("nan")])
def test_missing_values_are_not_observed(missing):
    seen = observe(VARIABLES, {"wet": missing, "mood": "bad"})
    assert seen.hard == {"mood": 0}
    assert seen.given == {"mood": "bad"}


def test_nothing_is_given():
    for nothing in (None, {}):
        seen = observe(VARIABLES, nothing)
        assert (seen.hard, seen.weights, seen.soft, seen.log_weight, seen.given) == ({}, {}, {}, 0.0, {})


def test_a_row_of_a_frame_is_evidence():
    row = pd.DataFrame({"wet": [True], "mood": ["good"]}).iloc[0]
    assert observe(VARIABLES, row).hard == {"wet": 1, "mood": 2}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("mood", OneOf(), r"'mood': OneOf\(\) is empty; the states are 'bad', 'fair', 'good'"),
        (
            "mood",
            Not("bad", "fair", "good"),
            r"'mood': Not\('bad', 'fair', 'good'\) leaves none of the states",
        ),
        (
            "mood",
            Likelihood({"good": 1, "bad": 1}),
            "'mood': Likelihood has no weight for 'fair'; give every",
        ),
        (
            "wet",
            Likelihood({True: -1, False: 1}),
            "'wet': Likelihood gives -1 for True; weights must be non-negative",
        ),
        ("wet", Likelihood({True: math.nan, False: 1}), "gives nan for True"),
        ("wet", Likelihood({True: math.inf, False: 1}), "gives inf for True"),
        ("wet", Likelihood({True: 10**400, False: 1}), "weights must be non-negative"),
        ("wet", Likelihood({True: "0.5", False: 1}), "gives '0.5' for True"),
        ("wet", Likelihood({True: None, False: 1}), "gives None for True"),
        ("wet", Likelihood({True: [1], False: 1}), r"gives \[1\] for True"),
        (
            "wet",
            Likelihood({True: 0, False: 0}),
            "Likelihood has only zeros; one weight must be positive",
        ),
        (
            "wet",
            Likelihood({True: 1, "true": 1, False: 1}),
            "Likelihood gives two weights for the state True",
        ),
        ("wet", Likelihood({}), "has no weight for False, True"),
        ("wet", Soft({}), "must sum to one, not 0"),
        ("wet", Soft({True: -0.5, False: 1.5}), "Soft gives -0.5 for True"),
        (
            "age",
            Interval(0, 20),
            r"'age': \[0, 20\) cuts a bin at 20; let it begin and end at edges: 0, 18, 65",
        ),
        ("age", Interval(200, 300), "leaves none of the states"),
        ("mood", Interval(0, 1), r"'mood': \[0, 1\) needs states that are numbers or bins, not 'bad'"),
        ("wet", Interval(0, 1), "needs states that are numbers or bins"),
        ("count", Interval(3, 4), "leaves none of the states 0, 1, 2, 5"),
        ("mood", ["bad", "good"], r"'mood': \['bad', 'good'\] is not a state; write pgm\.OneOf"),
        ("mood", {"bad", "good"}, r"is not a state; write pgm\.OneOf"),
        ("wet", np.array([True, False]), r"is not a state; write pgm\.OneOf.*data frame"),
        ("wet", {True: 0.8}, r"'wet': \{True: 0\.8\} is not a state; write pgm\.Likelihood"),
    ],
)
def test_a_mistake_is_answered_in_the_users_words(name, value, message):
    with pytest.raises(InvalidEvidence, match=message):
        observe(VARIABLES, {name: value})


def test_unknown_names_and_states_get_the_nearest():
    with pytest.raises(UnknownVariable, match=r"There is no variable 'wett'.*Did you mean 'wet'?"):
        observe(VARIABLES, {"wett": True})
    with pytest.raises(UnknownVariable):
        observe(VARIABLES, {"wett": None})  # a misspelt name is one, whatever its value
    with pytest.raises(UnknownVariable, match="Names are text"):
        observe(VARIABLES, {3: True})
    for value in ("god", OneOf("god"), Not("god"), Likelihood({"god": 1}), Soft({"god": 1})):
        with pytest.raises(UnknownState, match=r"'mood' has no state 'god'.*Did you mean 'good'?"):
            observe(VARIABLES, {"mood": value})


@pytest.mark.parametrize("given", ["wet", ["wet"], 3, True, object()])
def test_given_is_a_mapping(given):
    with pytest.raises(InvalidEvidence, match=r"Evidence is a mapping .* such as \{'wet': True\}, not"):
        observe(VARIABLES, given)


@pytest.mark.parametrize("kind", [Likelihood, Soft])
def test_numbers_for_states_are_a_mapping(kind):
    with pytest.raises(InvalidEvidence, match=f"{kind.__name__} takes a weight for each state, such as"):
        kind([0.8, 0.2])


EACH = [OneOf("a", "b"), Not("a"), Likelihood({"a": 1.0, "b": 2.0}), Soft({"a": 0.5, "b": 0.5})]


@pytest.mark.parametrize("evidence", EACH, ids=lambda value: repr(value)[:60])
def test_evidence_is_a_value(evidence):
    again = pickle.loads(pickle.dumps(evidence))
    assert again == evidence
    assert hash(again) == hash(evidence)
    assert [evidence == other for other in EACH].count(True) == 1
    with pytest.raises(AttributeError):
        evidence.states = ()
    assert eval(repr(evidence)) == evidence


def test_the_work_grows_with_the_evidence_not_with_the_model():
    million = {f"x{i}": Variable.of(f"x{i}", BOOLEAN) for i in range(10**6)}
    start = time.thread_time()
    for i in range(1000):
        observe(million, {f"x{i}": True})
    assert time.thread_time() - start < 1


def test_names():
    assert names(None) == names({}) == names([]) == ()
    assert names("rain") == ("rain",)
    assert names(("b", "a", "b")) == ("b", "a")
    assert names({"b", "a", "c"}) == ("a", "b", "c")
    assert names({"a": 1, "b": None}.keys()) == ("a", "b")
    assert names({"a": 1, "b": None, "c": math.nan}) == ("a",)
    assert names(["wet"], VARIABLES) == ("wet",)
    with pytest.raises(UnknownVariable, match=r"Did you mean 'wet'"):
        names("wett", VARIABLES)
    with pytest.raises(InvalidEvidence, match="Names are text; 3 in"):
        names(["a", 3])
    with pytest.raises(InvalidEvidence, match=r"Names are given as a list such as \['rain', 'wet'\], not 3"):
        names(3)


def test_an_interval_beyond_the_bins_is_told_the_bins() -> None:
    age = Variable("age", Bins([0, 18, 65]))
    with pytest.raises(InvalidEvidence, match=r"leaves none of the states \[0, 18\), \[18, 65\]\."):
        observe({"age": age}, {"age": Interval(200, 300)})
