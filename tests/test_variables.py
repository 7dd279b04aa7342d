"""A value means a state if equal or written alike; what would be confused is refused."""

import copy
import datetime
import math
import pickle
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pgm.errors import InvalidVariable, UnknownState
from pgm.variables import BOOLEAN, Bins, Domain, Interval, Variable, as_domain, is_missing, typed_array

RAIN = Variable("rain", [False, True])
AGE = Variable("age", Bins([0, 18, 65, 120]))

PLAIN = st.one_of(
    st.booleans(),
    st.integers(-3, 3),
    st.integers(),
    st.floats(allow_nan=False),
    st.sampled_from(
        ["1", "0", "1.0", "01", "true", "TRUE", "False", "inf", "-0.0", "0.5", "1e+22", "nan", ""]
    ),
    st.text(max_size=5),
    st.tuples(st.integers(0, 1)),
)


# --- rule 6 -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value", [True, np.True_, 1, 1.0, np.int8(1), np.float32(1), "True", "TRUE", "true", np.str_("tRUE")]
)
def test_what_means_true(value):
    assert RAIN.code(value) == 1
    assert RAIN.code(np.array(value)) == 1


@pytest.mark.parametrize("value", ["1", "yes", "T", 2, 0.5, "true ", b"True"])
def test_what_does_not_mean_true(value):
    with pytest.raises(UnknownState, match=r"'rain' has no state .*; it has False, True\."):
        RAIN.code(value)


@pytest.mark.parametrize(
    ("states", "value", "code"),
    [
        (["FALSE", "TRUE"], True, 1),
        (["FALSE", "TRUE"], np.False_, 0),
        (["FALSE", "TRUE"], "true", -1),  # text means the same text only
        (["FALSE", "TRUE"], 1, -1),
        ([1, 2], "1", 0),
        ([1, 2], "2.0", 1),
        ([1, 2], "02", -1),
        ([1, 2], True, 0),
        (["1", "2"], 1, 0),
        (["1", "2"], 2.0, 1),
        (["1", "2"], np.int64(2), 1),
        (["1", "2"], "1.0", -1),
        (["1.0", "2.0"], 2, 1),
        (["01", "2"], 1, -1),
        (["0.1", "1e+22"], 0.1, 0),
        (["0.1", "1e+22"], 1e22, 1),
        ([0.1, 0.5], "0.1", 0),
        ([0.1, 0.5], "0.10", -1),
        ([0.1, 0.5], Decimal("0.5"), 1),
        ([1, 2], Fraction(2), 1),
        ([0, 1], "-0.0", -1),
        (["nan", "x"], "nan", 0),
        (["yes", "no"], "Yes", -1),
        ([math.inf, 0], "inf", 0),
        (["TRUE", "1"], True, 0),
        (["TRUE", "1"], 1, 1),
        ([("a", 1), ("a", 2)], ("a", 2), 1),
        ([10**400, 1], 10**400, 0),
        ([10**400, 1], "1" + "0" * 400, -1),
        ([2**60, 2**60 + 1], str(2**60 + 1), 1),
        ([datetime.date(2024, 2, 29)], datetime.date(2024, 2, 29), 0),
        (["a", "b"], [], -1),
        (["a", "b"], {"a": 1}, -1),
        (["a", "b"], np.array(["a"]), -1),
    ],
)
def test_written_alike(states, value, code):
    assert as_domain(states).find(value) == code


@pytest.mark.parametrize(
    "states",
    [
        [1, True],
        [0.0, False],
        ["1", 1],
        ["True", "TRUE"],
        ["true", True],
        ["1", "1.0"],
        [1, "True"],
        [True, "1"],
        [0.1, "0.1"],
        ["inf", math.inf],
        [1, Decimal(1)],
        [Fraction(1, 2), 0.5],
    ],
)
def test_states_that_would_be_confused_are_refused_by_name(states):
    with pytest.raises(
        InvalidVariable, match=r"'x': The states .* and .* would be confused: .* would mean both"
    ):
        Variable("x", states)


@given(st.lists(PLAIN, min_size=1, max_size=4), PLAIN)
def test_each_state_means_itself_and_no_value_means_two(states, value):
    try:
        domain = Domain(states)
    except InvalidVariable:
        assume(False)
    assert [domain.find(state) for state in domain.states] == list(range(domain.card))
    alone = [Domain([state]).find(value) for state in states]
    assert sum(code == 0 for code in alone) <= 1
    assert domain.find(value) == (alone.index(0) if 0 in alone else -1)


@given(PLAIN, PLAIN)
def test_meaning_is_mutual(one, other):
    assume(not isinstance(one, str) or not isinstance(other, str))
    assert Domain([one]).find(other) == Domain([other]).find(one)


@pytest.mark.parametrize(
    "value",
    [
        None,
        math.nan,
        np.nan,
        np.float32("nan"),
        pd.NA,
        pd.NaT,
        Decimal("nan"),
        np.datetime64("NaT"),
        np.ma.masked,
    ],
)
def test_what_means_not_observed(value):
    assert is_missing(value)
    with pytest.raises(UnknownState, match="mean not observed"):
        RAIN.code(value)
    with pytest.raises(InvalidVariable, match="cannot be a state: it means not observed"):
        Variable("x", [value, 1])


@pytest.mark.parametrize(
    "value", [0, False, "", "nan", "None", (), np.datetime64("2024-01-01"), math.inf, [], np.zeros(2)]
)
def test_what_is_observed(value):
    assert not is_missing(value)


# --- states and names ---------------------------------------------------------------------------------------


def test_states_keep_order_and_become_plain():
    x = Variable("x", np.array(["b", "a"]))
    assert x.states == ("b", "a")
    assert {type(state) for state in x.states} == {str}
    assert [type(state) for state in Variable("x", np.array([2, 1])).states] == [int, int]
    assert Variable("x", range(3)).states == (0, 1, 2)
    assert Variable("x", {"dry": 0.7, "rainy": 0.3}.keys()).states == ("dry", "rainy")
    assert Variable("x", pd.Index(["u", "v"])).states == ("u", "v")
    assert Variable("only", ["one"]).card == 1


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ([], "There must be at least one state"),
        ("abc", r"States are a list such as \['no', 'yes'\], not 'abc'"),
        (3, r"States are a list such as range\(3\), not 3"),
        (None, "States are a list"),
        (iter("ab"), "States are a list"),
        ({"a", "b"}, "A set has no order; write the states as a list"),
        (np.zeros((2, 2)), "the array given has 2 dimensions"),
        (["a", "a"], "The state 'a' appears twice"),
        ([["a"], ["b"]], r"\['a'\] cannot be a state: not hashable; make it a tuple or text"),
        ([10**5000, 1], "cannot be a state: Python cannot print it; make it text"),
        ([("a", -(10**5000)), 1], "cannot be a state: Python cannot print it; make it text"),
        ([Interval(0, 1), Interval(2, 3)], r"without a gap; \[0, 1\) comes before \[2, 3\)"),
    ],
)
def test_bad_states_are_refused_and_say_whose(states, message):
    with pytest.raises(InvalidVariable, match=f"^'x': .*{message}"):
        Variable("x", states)


@pytest.mark.parametrize("name", ["", "  ", None, 3, b"x", ("a",)])
def test_a_name_is_text(name):
    with pytest.raises(InvalidVariable, match="The name of a variable is text that is not empty"):
        Variable(name, [0, 1])


def test_names_become_plain_text():
    assert type(Variable(np.str_("x"), [0, 1]).name) is str


def test_enums_are_states_as_any_value():
    class Level(IntEnum):
        LOW = 1
        HIGH = 2

    x = Variable("x", list(Level))
    assert x.code(Level.HIGH) == x.code(2) == 1
    assert x.states[0] is Level.LOW


# --- values -------------------------------------------------------------------------------------------------


def test_equal_by_name_and_states_in_order():
    assert Variable("rain", [False, True]) == RAIN
    assert hash(Variable("rain", [False, True])) == hash(RAIN)
    assert Variable("rain", [True, False]) != RAIN
    assert Variable("wet", [False, True]) != RAIN
    assert RAIN != "rain"


@pytest.mark.parametrize("variable", [RAIN, AGE, Variable("m", ["a", "b"]), Variable("t", [(1, 2), "x"])])
def test_pickle_and_copies_are_equal(variable):
    again = pickle.loads(pickle.dumps(variable))
    assert again == variable
    assert again.bins == variable.bins
    assert [type(state) for state in again.states] == [type(state) for state in variable.states]
    assert copy.deepcopy(variable) is variable
    assert copy.copy(variable) is variable


def test_a_variable_does_not_change():
    with pytest.raises(AttributeError, match="does not change"):
        RAIN.name = "snow"
    with pytest.raises(AttributeError, match="does not change"):
        del RAIN.name


def test_domains_are_shared_but_types_are_kept():
    assert as_domain([False, True]) is BOOLEAN
    assert as_domain(["a", "b"]) is as_domain(("a", "b"))
    assert as_domain([0, 1]).states[0] is not False
    assert [type(state) for state in as_domain([0, 1]).states] == [int, int]
    assert as_domain(BOOLEAN) is BOOLEAN
    assert Variable.of("x", BOOLEAN) == Variable("x", [False, True])


def test_repr_is_short_and_honest():
    assert repr(RAIN) == "Variable('rain', [False, True])"
    assert repr(AGE) == "Variable('age', Bins([0, 18, 65, 120]))"
    assert len(repr(Variable("x", range(10**5)))) < 100


def test_typed_arrays():
    assert typed_array([True, False]).dtype == bool
    assert typed_array([1, 2]).dtype == np.int64
    assert typed_array([0.5]).dtype == np.float64
    assert typed_array([1, True]).dtype == object
    assert typed_array([2**70]).dtype == object
    assert typed_array([(1, 2), (3, 4)]).tolist() == [(1, 2), (3, 4)]
    assert typed_array([]).shape == (0,)
    assert not BOOLEAN.array.flags.writeable


# --- bins ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (0, 0),
        (17.99, 0),
        (18, 1),
        (np.float32(64), 1),
        (65, 2),
        (120, 2),
        ("17", 0),
        ("18.5", 1),
        ("[0, 18)", 0),
        ("[65, 120]", 2),
        (Interval(18, 65), 1),
        (Interval(65, 120), 2),
    ],
)
def test_a_number_finds_its_bin(value, code):
    assert AGE.code(value) == code


@pytest.mark.parametrize("value", [-1, 121, math.inf, "old", True, Interval(0, 65), "[0, 18]", [3], "017"])
def test_what_is_in_no_bin(value):
    with pytest.raises(
        UnknownState, match=r"'age' has no bin for .*; its bins are \[0, 18\), \[18, 65\), \[65, 120\]"
    ):
        AGE.code(value)


def test_infinite_edges():
    x = Variable("x", Bins([-math.inf, 0, math.inf]))
    assert [str(state) for state in x.states] == ["(-inf, 0)", "[0, inf)"]
    assert [x.code(value) for value in (-math.inf, -1e308, 0, math.inf, 10**400)] == [0, 0, 1, 1, 1]
    with pytest.raises(UnknownState):
        x.code(math.nan)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([0], "needs two edges or more"),
        ([], "needs two edges or more"),
        ([0, 0], "must increase; 0 comes before 0"),
        ([3, 1], "must increase; 3 comes before 1"),
        ([0, math.nan], "An edge must be a number; nan is not"),
        ([0, "1"], "An edge must be a number; '1' is not"),
        ([0, None], "An edge must be a number"),
        ([0, 10**400], "An edge must be a number"),
        ([2**60, 2**60 + 1], "must increase"),  # the same float
        (3, r"Bins takes edges such as \[0, 18, 65\], not 3"),
    ],
)
def test_bad_edges(edges, message):
    with pytest.raises(InvalidVariable, match=message):
        Bins(edges)


@given(
    st.lists(st.floats(allow_nan=False), min_size=2, max_size=6, unique=True).map(sorted),
    st.floats(allow_nan=False),
)
def test_the_bin_of_a_number_holds_it(edges, number):
    x = Variable("x", Bins(edges))
    code = x.domain.find(number)
    assert [number in state for state in x.states] == [i == code for i in range(x.card)]
    assert [x.code(str(state)) for state in x.states] == list(range(x.card))
    assert Variable("x", x.states).bins == x.bins


@pytest.mark.parametrize(("lo", "hi"), [(1, 1), (2, 1), (math.nan, 1), ("a", "b"), (None, 1)])
def test_bad_intervals(lo, hi):
    with pytest.raises(InvalidVariable, match="must have two numbers, the smaller one first"):
        Interval(lo, hi)


def test_an_interval_is_a_value():
    assert Interval(0, 18) == Interval(0.0, 18.0)
    assert hash(Interval(0, 18)) == hash(Interval(0.0, 18.0))
    assert repr(Interval(0, 18)) == "Interval(lo=0, hi=18)"
    assert pickle.loads(pickle.dumps(Interval(0, 0.5))) == Interval(0, 0.5)
    assert "1" not in Interval(0, 18)
