"""The forms of tables that users write, and what is wrong with those that are refused."""

import copy
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pgm
from pgm.cpds import TableCPD, make

WET = pgm.Variable("wet", [False, True])
RAIN = pgm.Variable("rain", [False, True])
SKY = pgm.Variable("sky", ["clear", "cloudy", "dark"])
TWO = np.array([[0.8, 0.2], [0.1, 0.9]])


def table(what, given=(RAIN,), states=None, name="wet"):
    return make(name, what, states, tuple(given))


@pytest.mark.parametrize(
    "what",
    [
        {True: 0.9, False: 0.2},
        {True: [0.1, 0.9], False: (0.8, 0.2)},
        {True: {True: 0.9, False: 0.1}, False: {False: 0.8, True: 0.2}},
        {(True,): 0.9, (False,): 0.2},
        {1: 0.9, "false": 0.2},
        {np.True_: np.float64(0.9), ...: 0.2},
        {True: 0.9, ...: np.array([0.8, 0.2])},
        {True: Fraction(9, 10), False: Decimal("0.2")},
        {True: 0.9, False: {True: 0.2, False: 0.8}},
    ],
    ids=str,
)
def test_rows_by_the_state_of_the_parent(what):
    np.testing.assert_allclose(table(what, states=[False, True]).values, TWO, rtol=1e-15)


@pytest.mark.parametrize("what", [TWO, TWO.tolist(), tuple(map(tuple, TWO.tolist())), np.asfortranarray(TWO)])
def test_arrays_have_the_parents_first_and_the_child_last(what):
    np.testing.assert_array_equal(table(what, states=[False, True]).values, TWO)


def test_keys_follow_the_order_of_the_parents():
    found = table({("dark", True): 0.9, ("clear", False): 0.0, ...: 0.5}, [SKY, RAIN])
    assert found.values[2, 1, 1] == 0.9
    assert found.values[0, 0, 1] == 0.0
    assert found.values[1, 0, 1] == 0.5


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table, lambda c: pl.DataFrame(c).lazy()])
def test_frames_name_their_columns(frame):
    columns = {
        "wet": [True, False, False, True],
        "rain": [False, False, True, True],
        "p": [0.2, 0.8, 0.1, 0.9],
    }
    found = table(frame(columns))
    np.testing.assert_array_equal(found.values, TWO)
    assert found.child.states == (False, True)


def test_cells_left_out_of_a_frame_are_zero():
    found = table(pd.DataFrame({"rain": [False, True], "wet": ["no", "yes"], "p": [1.0, 1.0]}))
    np.testing.assert_array_equal(found.values, [[1, 0], [0, 1]])


def test_to_pandas_and_to_dict_read_back():
    found = table({("dark", True): [0.1, 0.2, 0.7], ...: [1, 0, 0]}, [SKY, RAIN], states=["c", "b", "a"])
    again = table(found.to_dict(), [SKY, RAIN], states=["c", "b", "a"])
    assert again == found
    assert table(found.to_pandas(), [SKY, RAIN], states=["c", "b", "a"]) == found


def test_a_root():
    np.testing.assert_array_equal(table(0.25, ()).values, [0.75, 0.25])
    np.testing.assert_array_equal(table([0.25, 0.75], (), ["a", "b"]).values, [0.25, 0.75])
    np.testing.assert_array_equal(table({"b": 1, "a": 0}, ()).values, [1, 0])
    np.testing.assert_array_equal(table({"b": 1}, (), ["a", "b", "c"]).values, [0, 1, 0])
    assert table({True: 1.0}, ()).child.states == (False, True)
    assert table(1, ()).to_dict() == {False: 0.0, True: 1.0}


@pytest.mark.parametrize(
    ("states", "of_a_dict", "of_data"),
    [
        (["ok", "fail"], ("ok", "fail"), ("fail", "ok")),
        (["dry", "Rain"], ("dry", "Rain"), ("Rain", "dry")),
        ([10, 9], (10, 9), (9, 10)),
        ([True, False], (False, True), (False, True)),
        ([np.True_], (False, True), (False, True)),
        ([np.int64(3), np.int64(2)], (3, 2), (2, 3)),
        (["a", 3, (1, 2), 2.5], ("a", 3, (1, 2), 2.5), (2.5, 3, "a", (1, 2))),
        # ranges have an order of their own, as truth values have
        (
            [pgm.Interval(18, 65), pgm.Interval(5, 18)],
            (pgm.Interval(5, 18), pgm.Interval(18, 65)),
            (pgm.Interval(5, 18), pgm.Interval(18, 65)),
        ),
    ],
    ids=str,
)
def test_the_keys_of_a_dict_declare_the_order_of_states_and_data_are_sorted(states, of_a_dict, of_data):
    share = 1 / len(states)
    written = table(dict.fromkeys(states, share), ()).child
    assert written.states == of_a_dict
    assert written.domain.declared
    column = pd.Series(states, dtype=object)
    seen = table(pd.DataFrame({"wet": column, "p": share}), ()).child
    assert seen.states == of_data
    assert seen.domain.declared == (of_a_dict == of_data)  # those that have an order of their own


def test_the_first_row_that_names_a_state_decides_where_it_stands():
    found = table({True: {"c": 0.5, "a": 0.5}, False: {"b": 0.5, "a": 0.25, "c": 0.25}})
    assert found.child.states == ("c", "a", "b")
    np.testing.assert_array_equal(found.values, [[0.25, 0.25, 0.5], [0.5, 0.5, 0]])
    partial = table({True: {"c": 1.0}, ...: {"b": 0.5, "a": 0.5}})
    assert partial.child.states == ("c", "b", "a")
    np.testing.assert_array_equal(partial.values, [[0, 0.5, 0.5], [1, 0, 0]])
    assert table({True: 0.9, False: {True: 0.2, False: 0.8}}).child.states == (False, True)


def test_declared_states_come_before_the_keys_of_a_dict():
    found = table({"ok": 0.9, "fail": 0.1}, (), ["fail", "ok"])
    assert found.child.states == ("fail", "ok")
    np.testing.assert_array_equal(found.values, [0.1, 0.9])


def test_an_order_that_nobody_declared_is_known_to_a_copy():
    seen = table(pd.DataFrame({"wet": ["ok", "fail"], "p": [0.9, 0.1]}), ()).child
    assert not pickle.loads(pickle.dumps(seen)).domain.declared
    assert not copy.deepcopy(seen).domain.declared
    assert seen == pgm.Variable("wet", ["fail", "ok"])  # the states are the same


def test_a_lone_number_is_the_probability_of_true_wherever_true_stands():
    assert table(0.3, (), ["TRUE", "FALSE"]).to_dict() == {"TRUE": 0.3, "FALSE": 0.7}
    assert table(0.3, (), [0, 1]).to_dict() == {0: 0.7, 1: 0.3}


def test_bins_are_states():
    found = table({True: [0.2, 0.3, 0.5], ...: {10: 1.0}}, states=pgm.Bins([0, 18, 65, 120]), name="age")
    np.testing.assert_array_equal(found.values, [[1, 0, 0], [0.2, 0.3, 0.5]])


SEEN = pd.DataFrame({"rain": [True, True, False, False, False], "wet": ["u", "v", "u", "u", "v"]})
SHARES = [[2 / 3, 1 / 3], [1 / 2, 1 / 2]]


@pytest.mark.parametrize(
    "what",
    [
        SEEN.groupby("rain")["wet"].value_counts(normalize=True),
        SEEN.value_counts(),
        SEEN.value_counts(["wet", "rain"]),
        pl.DataFrame(SEEN.to_dict("list")).group_by("rain", "wet").len("count"),
    ],
    ids=["shares", "counts", "counts, levels turned", "polars"],
)
def test_counts_of_pairs_are_a_table_by_the_names_of_their_levels(what):
    found = make("wet", what, None, (RAIN,), normalize=True)
    assert found.child.states == ("u", "v")
    np.testing.assert_allclose(found.values, SHARES, rtol=1e-15)


@pytest.mark.parametrize(
    ("what", "states", "expected"),
    [
        (
            pd.Series(["ok", "ok", "fail", "ok"]).value_counts(normalize=True),
            None,
            {"fail": 0.25, "ok": 0.75},
        ),
        (
            pd.Series(["ok", "ok", "fail", "ok"], name="x").value_counts(),
            ["ok", "fail"],
            {"ok": 0.75, "fail": 0.25},
        ),
        (pd.Series({"ok": 0.75, "fail": 0.25}), None, {"fail": 0.25, "ok": 0.75}),
        (pd.Series([True, False, True, True]).value_counts(), None, {False: 0.25, True: 0.75}),
        (pd.Series([0.25] * 2 + [0.5], index=range(1, 4)), None, {1: 0.25, 2: 0.25, 3: 0.5}),
        (pl.Series("wet", ["ok", "ok", "fail", "ok"]).value_counts(), None, {"fail": 0.25, "ok": 0.75}),
        (pl.Series("wet", ["a", "b"]).value_counts(normalize=True), None, {"a": 0.5, "b": 0.5}),
        # without an index that somebody gave a series is a list
        (pd.Series([0.75, 0.25]), ["ok", "fail"], {"ok": 0.75, "fail": 0.25}),
        (pl.Series([0.75, 0.25]), ["ok", "fail"], {"ok": 0.75, "fail": 0.25}),
    ],
    ids=lambda x: type(x).__name__,
)
def test_a_series_is_a_root_s_table_by_its_index(what, states, expected):
    found = make("wet", what, states, (), normalize=True)
    assert list(found.child.states) == list(expected)
    assert found.to_dict() == expected
    assert found.child.domain.declared == (states is not None or False in expected)  # data declare no order


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (pd.Series([0.75, 0.25]), "which states do the probabilities belong to"),
        (
            pd.Series({"ok": 3, "fail": 1}),
            "is 3.0, not from 0 to 1; normalize=True divides each row by its sum",
        ),
        (pd.Series(["a", None]).value_counts(dropna=False), "cannot be a state"),
        (
            pd.Series(["a", "b"]).value_counts().rename_axis("other").reset_index(),
            "the frame has no column 'wet'",
        ),
    ],
    ids=["no index", "counts", "missing", "another name"],
)
def test_a_series_that_is_no_table(what, words):
    with pytest.raises(pgm.PGMError, match=words):
        make("wet", what, None, (), normalize=False)


def test_a_series_of_a_factor_is_read_by_its_index():
    mrf = pgm.MarkovNetwork()
    mrf.add_variable("a", ["p", "q"])
    mrf.add_factor("a", pd.Series({"q": 3.0, "p": 1.0}))
    assert mrf.query("a").to_dict() == {"p": 0.25, "q": 0.75}


def test_rows_of_a_printed_table_are_divided_where_that_is_asked():
    printed = {"dark": [0.66, 0.33], "clear": [0.33, 0.66], ...: [1, 3]}
    net = pgm.BayesianNetwork()
    net.add("sky", {"clear": 0.33, "cloudy": 0.33, "dark": 0.33}, normalize=True)
    net.add("wet", printed, parents="sky", states=[False, True], normalize=True)
    np.testing.assert_allclose(net.cpd("sky").values, [1 / 3] * 3, rtol=1e-15)
    expected = [[1 / 3, 2 / 3], [1 / 4, 3 / 4], [2 / 3, 1 / 3]]
    np.testing.assert_allclose(net.cpd("wet").values, expected, rtol=1e-15)
    waiting = pgm.BayesianNetwork(edges="sky -> wet")
    waiting.set("wet", printed, states=[False, True], normalize=True)
    waiting = pickle.loads(pickle.dumps(waiting.rename({"wet": "grass"}).copy()))
    waiting.set("sky", net.cpd("sky"))
    np.testing.assert_array_equal(waiting.cpd("grass").values, net.cpd("wet").values)
    assert TableCPD(WET, [SKY], printed, normalize=True) == net.cpd("wet")


def test_what_sums_to_one_is_not_touched_by_normalize():
    exact = [[0.1, 0.2, 0.7], [1 / 3, 1 / 3, 1 / 3]]
    found = make("x", exact, ["a", "b", "c"], (RAIN,), normalize=True)
    np.testing.assert_array_equal(found.values, exact)
    assert make("x", {"a": 1e308, "b": 1e308}, None, (), normalize=True).to_dict() == {"a": 0.5, "b": 0.5}
    assert make("x", {"a": 5e-324, "b": 5e-324}, None, (), normalize=True).to_dict() == {"a": 0.5, "b": 0.5}


@pytest.mark.parametrize(
    ("what", "options", "words"),
    [
        (
            {True: [1, 2], False: [0, 0]},
            {},
            r"row rain=False: every entry is 0, so there is no sum to divide by",
        ),
        (
            {True: [1, 2], False: [1, -1]},
            {},
            r"row rain=False: the entry for True is -1.0, not a non-negative number",
        ),
        ({True: [1, 2], False: [1, float("nan")]}, {}, "the entry for True is nan"),
        ({True: [1, 2], False: [1, float("inf")]}, {}, "the entry for True is inf"),
        ({True: 1.2, False: 0.2}, {}, r"P\(True\) is 1.2; a probability is a number from 0 to 1"),
        (
            {True: [0.33, 0.66], ...: 0.5},
            {"normalize": False},
            "sum to 0.99, not to 1; normalize=True divides",
        ),
        ({True: 0.5, ...: 0.5}, {"normalize": "yes"}, "normalize= takes True or False, not 'yes'"),
        (pgm.NoisyOr({"rain": 0.5}), {}, "normalize= divides the rows of a written table, not of a NoisyOr"),
    ],
    ids=str,
)
def test_what_cannot_be_divided(what, options, words):
    net = pgm.BayesianNetwork()
    net.add("rain", 0.5)
    with pytest.raises(pgm.PGMError, match=words):
        net.add("wet", what, parents="rain", states=[False, True], **{"normalize": True, **options})
    assert net.nodes == ("rain",)


@pytest.mark.parametrize("third", [0.333333, 0.3333333, 1 / 3])
def test_rounding_is_divided_out(third):
    found = table([third] * 3, (), ["a", "b", "c"])
    np.testing.assert_allclose(found.values, 1 / 3, rtol=1e-15)
    again = table(found.values, (), ["a", "b", "c"])
    assert again == found  # to the bit


def test_what_is_right_is_kept_to_the_bit():
    p = [0.1, 0.2, 0.7]
    assert table(p, (), ["a", "b", "c"]).values.tolist() == p


@pytest.mark.parametrize(
    ("what", "given", "states", "words"),
    [
        ({True: [0.5, 0.6], False: [1, 0]}, [RAIN], [False, True], ["'wet'", "rain=True", "1.1"]),
        ({True: 0.5}, [RAIN], None, ["rain=False", "missing", "..."]),
        ({("dark", True): 0.5}, [SKY, RAIN], None, ["5 rows", "sky='clear', rain=False", "2 more"]),
        ({True: 0.5, "True": 0.5}, [pgm.Variable("r", ["True", "x"])], None, ["'True'", "same row"]),
        ({True: 0.5, "flase": 0.5}, [RAIN], None, ["'rain'", "'flase'", "Did you mean False?"]),
        ({True: 0.5, None: 0.5}, [RAIN], None, ["None"]),
        ({(True, "dark"): 0.5}, [SKY, RAIN], None, ["'sky'", "no state True"]),
        ({True: 0.5}, [SKY, RAIN], None, ["'sky', 'rain'", "order"]),
        ({True: 1.5, ...: 0.5}, [RAIN], None, ["rain=True", "1.5"]),
        ({True: [1.5, -0.5], ...: [0, 1]}, [RAIN], [0, 1], ["rain=True", "-0.5"]),
        ({True: [np.nan, 1], ...: [0, 1]}, [RAIN], [0, 1], ["rain=True", "nan"]),
        ({True: [1e308] * 2, ...: [0, 1]}, [RAIN], [0, 1], ["rain=True", "1e+308"]),
        (
            {True: [0.5, 0.5, 0], ...: [0, 1]},
            [RAIN],
            [0, 1],
            ["rain=True", "3 probabilities for the 2 states"],
        ),
        ({True: {"a": 1}, ...: {"b": 1}}, [RAIN], ["a", "c"], ["'b'", "..."]),
        ({True: {"a": 1, ...: 0}, False: 0.5}, [RAIN], None, ["`...`"]),
        ([[10**400, 0], [1, 0]], [RAIN], [0, 1], ["large"]),
        ({"a": 0.5, "flase": 0.5}, [], ["false", "a"], ["Did you mean 'false'?"]),
        ({True: "0.5", ...: 0.5}, [RAIN], [False, True], ["'0.5'"]),
        ({True: True, ...: 0.5}, [RAIN], [False, True], ["True is a state", "1.0"]),
        (0.5, [RAIN], None, ["row", "'rain'"]),
        (0.5, [], ["no", "yes"], ["lone number", "'no'"]),
        ([0.5, 0.5], [], None, ["states="]),
        (TWO, [RAIN], None, ["states="]),
        (TWO.T[:1], [RAIN], [0, 1], ["(2, 2)", "2 ('rain')", "(1, 2)"]),
        ([[0.5, 0.5], [1]], [RAIN], [0, 1], ["one length"]),
        ([["0.5", "0.5"]] * 2, [RAIN], [0, 1], ["numbers"]),
        (TWO > 0.5, [RAIN], [0, 1], ["numbers"]),
        (TWO + 0j, [RAIN], [0, 1], ["numbers"]),
        (np.ma.masked_less(TWO, 0.15), [RAIN], [0, 1], ["masked"]),
        ({0.5, 0.6}, [], [0, 1], ["{0.5, 0.6}"]),
        (None, [], None, ["None"]),
        ("0.5", [], None, ["'0.5'"]),
        (lambda rain: rain, [RAIN], None, ["pgm.Deterministic"]),
        ({}, [], None, ["state"]),
        ({}, [RAIN], [0, 1], ["2 rows"]),
        (10**400, [], None, ["large"]),
        (pd.DataFrame({"rain": [True], "p": [0.5]}), [RAIN], None, ["'wet'", "['rain']"]),
        (pd.DataFrame({"rain": [True], "wet": [True]}), [RAIN], None, ["'p'"]),
        (pd.DataFrame({"rain": [True] * 2, "wet": [True] * 2, "p": [0.5] * 2}), [RAIN], None, ["twice"]),
        (pd.DataFrame([[1, 1, 0.5]], columns=["wet", "wet", "p"]), [RAIN], None, ["twice", "'wet', 'wet'"]),
        (
            pa.Table.from_arrays([[1], [1], [0.5]], ["wet", "wet", "p"]),
            [RAIN],
            None,
            ["twice", "'wet', 'wet'"],
        ),
        (pd.DataFrame({"rain": [True], "wet": [True], "p": [1.0]}), [RAIN], None, ["rain=False"]),
        (pd.DataFrame({"rain": [True], "wet": [True], "p": ["x"]}), [RAIN], None, ["'x'", "row 0"]),
        (pd.DataFrame({"rain": ["no"], "wet": [True], "p": [1.0]}), [RAIN], None, ["'no'", "row 0"]),
    ],
    ids=lambda value: None if callable(value) else repr(value)[:60],
)
def test_mistakes_are_named(what, given, states, words):
    with pytest.raises(pgm.PGMError) as caught:
        table(what, given, states)
    message = str(caught.value)
    assert isinstance(caught.value, ValueError)
    for word in ["'wet'", *words]:
        assert word in message, message


def test_a_huge_table_is_refused_before_it_is_made():
    many = [pgm.Variable(f"x{i}", range(10)) for i in range(40)]
    with pytest.raises(pgm.TooLarge, match="'wet'"):
        table({...: 0.5}, many)
    with pgm.config(memory_limit="1 MB"), pytest.raises(pgm.TooLarge, match="2,000,000"):
        table({...: 0.5}, many[:6])
    with pytest.raises(pgm.TooLarge, match="copy"):
        table(np.broadcast_to(0.5, (10**6, 10**6)), [RAIN], [0, 1])
    one = [pgm.Variable(f"x{i}", [0]) for i in range(100)]
    with pytest.raises(pgm.TooLarge, match="axes"):
        table({...: 0.5}, one)


def test_the_table_is_a_value():
    rows = {True: [0.1, 0.9], False: [0.8, 0.2]}
    found = TableCPD(WET, [RAIN], rows)
    rows[True][0] = 7
    assert found.values[1, 0] == 0.1
    array = TWO.copy()
    kept = TableCPD(WET, [RAIN], array)
    array[:] = 7
    assert kept == found
    with pytest.raises(ValueError, match="read-only"):
        found.values[0, 0] = 1
    with pytest.raises(AttributeError, match="never changes"):
        found.x = 1
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert not again.values.flags.writeable
    assert copy.deepcopy(found) == found


def test_equality_is_by_names():
    a = table({("dark", True): 0.9, ...: 0.1}, [SKY, RAIN])
    b = table({(True, "dark"): 0.9, ...: 0.1}, [RAIN, SKY])
    assert a == b
    assert a != table({(True, "dark"): 0.8, ...: 0.1}, [RAIN, SKY])
    assert a != 3


def test_print():
    text = str(table({("dark", True): 0.9, ...: 0.1}, [SKY, RAIN]))
    lines = text.splitlines()
    assert lines[0] == "P(wet | sky, rain)"
    assert lines[-1].split() == ["dark", "True", "0.1", "0.9"]
    assert "<table" in table({True: 0.5, ...: 0.2})._repr_html_()
    wide = table({...: np.full(100, 0.01)}, [SKY, pgm.Variable("n", range(100))], states=range(100))
    assert "270 more" in str(wide)
    assert max(map(len, str(wide).splitlines())) < 150


def test_parameters_are_counted():
    assert table({...: [0.5, 0.25, 0.25]}, [SKY, RAIN], states=[1, 2, 3]).n_parameters == 12


@pytest.mark.parametrize(
    ("row", "message"), [(None, "None is no"), (True, "True is a state"), ("x", "'x' is no")]
)
def test_a_row_that_is_none_is_named_before_the_states_are_asked_for(row: object, message: str) -> None:
    net = pgm.BayesianNetwork()
    net.add("a", 0.5)
    with pytest.raises(pgm.InvalidTable, match=f"'c', row False: {message}"):
        net.add("c", {True: 0.3, False: row}, parents=["a"])


def test_a_probability_out_of_range_says_what_the_range_is() -> None:
    net = pgm.BayesianNetwork()
    with pytest.raises(pgm.InvalidTable, match=r"P\(True\) is 1.5; a probability is a number from 0 to 1"):
        net.add("c", 1.5)
    with pytest.raises(pgm.InvalidTable, match=r"the probability of 'y' is -0.5, not from 0 to 1"):
        net.add("c", [1.5, -0.5], states=["x", "y"])


def test_a_series_of_several_levels_names_them():
    net = pgm.BayesianNetwork()
    net.add("p", 0.5)
    series = pd.Series({(True, "a"): 0.2, (True, "b"): 0.8, (False, "a"): 0.5, (False, "b"): 0.5})
    with pytest.raises(pgm.InvalidTable, match=r"those of the parents and 'c': set index\.names"):
        net.add("c", series, parents=["p"])
    series.index.names = ["p", "c"]
    net.add("c", series, parents=["p"])
    assert net.query("c", {"p": True})["a"] == pytest.approx(0.2)
