"""Every kind of frame gives the same codes; what is not a state is named with its row."""

import datetime
import math
import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pgm
from pgm.errors import InvalidArgument, InvalidFrame, UnknownState
from pgm.frames import columns
from pgm.results import Samples
from pgm.variables import Bins, Variable

WET = Variable("wet", [False, True])
MOOD = Variable("mood", ["bad", "fair", "good"])
COUNT = Variable("count", [0, 1, 2])
AGE = Variable("age", Bins([0, 18, 65, 120]))
VARIABLES = {v.name: v for v in (WET, MOOD, COUNT, AGE, Variable("absent", [0, 1]))}

DATA = {
    "note": ["a", "b", "c"],  # no variable
    "age": [3.5, 18.0, None],
    "mood": ["good", None, "bad"],
    "wet": [True, None, False],
    "count": [2, 0, None],
}
CODES = {"wet": [1, -1, 0], "mood": [2, -1, 0], "count": [2, 0, -1], "age": [0, 1, -1]}


def structured():
    return np.array(
        [("good", 3.5, "b"), ("bad", 18.0, "a")], dtype=[("mood", "U4"), ("age", float), ("note", "U1")]
    )


FRAMES = {
    "dict of lists": lambda: DATA,
    "dict of tuples": lambda: {name: tuple(values) for name, values in DATA.items()},
    "dict of object arrays": lambda: {name: np.array(values, dtype=object) for name, values in DATA.items()},
    "dict of series": lambda: {name: pd.Series(values, dtype=object) for name, values in DATA.items()},
    "dict of polars series": lambda: {name: pl.Series(values) for name, values in DATA.items()},
    "dict of arrow": lambda: {name: pa.array(values) for name, values in DATA.items()},
    "dict of chunked arrow": lambda: {
        name: pa.chunked_array([values[:1], values[1:]]) for name, values in DATA.items()
    },
    "samples": lambda: Samples({name: np.array(values, dtype=object) for name, values in DATA.items()}),
    "rows": lambda: [dict(zip(DATA, row, strict=True)) for row in zip(*DATA.values(), strict=True)],
    "rows with gaps": lambda: [
        {name: value for name, value in zip(DATA, row, strict=True) if value is not None}
        for row in zip(*DATA.values(), strict=True)
    ],
    "pandas": lambda: pd.DataFrame(DATA),
    "pandas objects": lambda: pd.DataFrame(DATA, dtype=object),
    "pandas with an odd index": lambda: pd.DataFrame(DATA, index=[7, 7, 7]),
    "pandas nullable": lambda: pd.DataFrame(DATA).convert_dtypes(),
    "pandas arrow": lambda: pd.DataFrame(DATA).convert_dtypes(dtype_backend="pyarrow"),
    "pandas categorical": lambda: pd.DataFrame(DATA).astype(
        {"mood": "category", "wet": "category", "count": "category"}
    ),
    "polars": lambda: pl.DataFrame(DATA),
    "polars lazy": lambda: pl.DataFrame(DATA).lazy(),
    "polars categorical": lambda: pl.DataFrame(DATA).with_columns(pl.col("mood").cast(pl.Categorical)),
    "polars enum": lambda: pl.DataFrame(DATA).with_columns(
        pl.col("mood").cast(pl.Enum(["good", "bad", "ugly"]))
    ),
    "arrow": lambda: pa.table(DATA),
    "arrow dictionary": lambda: pa.table({**DATA, "mood": pa.array(DATA["mood"]).dictionary_encode()}),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", FRAMES)
def test_every_kind_of_frame_gives_the_same_codes(kind):
    read = columns(FRAMES[kind](), VARIABLES)
    assert read.n_rows == 3
    assert {name: codes.tolist() for name, codes in read.codes.items()} == CODES
    assert list(read.codes) == list(CODES)  # the order of the variables, whatever that of the frame
    assert {codes.dtype for codes in read.codes.values()} == {np.dtype(np.int32)}
    assert not read.bad.any()


def test_structured_arrays():
    read = columns(structured(), VARIABLES)
    assert {name: codes.tolist() for name, codes in read.codes.items()} == {"mood": [2, 0], "age": [0, 1]}


def test_other_libraries_where_they_are_installed():
    duckdb = pytest.importorskip("duckdb")
    frame = pd.DataFrame(DATA)  # noqa: F841 (duckdb finds it by its name)
    read = columns(duckdb.sql("select * from frame"), VARIABLES)
    assert {name: codes.tolist() for name, codes in read.codes.items()} == CODES


def test_dask_where_it_is_installed():
    dask = pytest.importorskip("dask.dataframe")
    read = columns(dask.from_pandas(pd.DataFrame(DATA), npartitions=2), VARIABLES)
    assert {name: codes.tolist() for name, codes in read.codes.items()} == CODES


@pytest.mark.parametrize(
    ("variable", "values", "codes"),
    [
        (WET, np.array([1, 0, 1]), [1, 0, 1]),
        (WET, np.array([1.0, math.nan, 0.0]), [1, -1, 0]),
        (WET, np.array([True, False]), [1, 0]),
        (WET, ["true", "False", None], [1, 0, -1]),
        (WET, [np.True_, 1, 1.0, 0], [1, 1, 1, 0]),
        (WET, np.array([1, 0], dtype=np.uint8), [1, 0]),
        (COUNT, ["1", "2.0", 0], [1, 2, 0]),
        (COUNT, np.array([2, 1], dtype=np.uint64), [2, 1]),
        (COUNT, np.array([2, 1], dtype=np.float16), [2, 1]),
        (Variable("byte", [-128, 127]), np.array([127, -128], dtype=np.int8), [1, 0]),
        (COUNT, np.array(["1", "2"]), [1, 2]),
        (COUNT, np.ma.masked_array([1, 2], [True, False]), [-1, 2]),
        (COUNT, range(3), [0, 1, 2]),
        (COUNT, np.full(3, math.nan), [-1, -1, -1]),
        (COUNT, [], []),
        (COUNT, np.zeros(0), []),
        (Variable("b", ["FALSE", "TRUE"]), [True, False], [1, 0]),
        (Variable("b", ["TRUE", "1"]), [1, True, 1.0], [1, 0, 1]),  # equal in Python, not in meaning
        (Variable("b", ["TRUE", "1"]), [True, 1, math.nan], [0, 1, -1]),
        (Variable("half", [0.5, 1.5]), np.array([1.5, 0.5, math.nan]), [1, 0, -1]),
        (Variable("wide", [0, 10**6, -(10**9)]), np.array([10**6, -(10**9), 0]), [1, 2, 0]),
        (Variable("huge", [2**63, 2**64 - 1]), np.array([2**64 - 1, 2**63], dtype=np.uint64), [1, 0]),
        (Variable("inf", [0, math.inf]), np.array([math.inf, 0]), [1, 0]),
        (Variable("pair", [(1, 2), (3, 4)]), [(3, 4), None, (1, 2)], [1, -1, 0]),
        (
            Variable("day", [datetime.datetime(2024, 2, 29)]),
            np.array(["2024-02-29", "NaT"], "M8[ns]"),
            [0, -1],
        ),
        (AGE, np.array([0, 18, 120, 17]), [0, 1, 2, 0]),
        (AGE, ["17", 18, "[65, 120]"], [0, 1, 2]),
        (AGE, np.array([math.nan, 64.9]), [-1, 1]),
    ],
)
def test_what_values_mean(variable, values, codes):
    frame = {variable.name: values}
    assert columns(frame, {variable.name: variable}).codes[variable.name].tolist() == codes


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 3), st.floats(-2, 3), st.sampled_from(["0", "1", "true"])
)


@given(
    st.lists(VALUES), st.sampled_from([[False, True], [0, 1, 2], ["TRUE", "1"], ["0", "x"], Bins([0, 1, 2])])
)
def test_a_column_is_read_value_by_value(values, states):
    x = Variable("x", states)
    expected = [-1 if value is None else x.domain.find(value) for value in values]
    read = columns({"x": values}, {"x": x}, bad="missing")
    assert read.codes["x"].tolist() == expected
    assert read.bad.tolist() == [
        code < 0 and value is not None for code, value in zip(expected, values, strict=True)
    ]


@given(st.lists(st.one_of(st.floats(), st.integers(-300, 300).map(float))), st.booleans())
def test_an_array_of_numbers_is_read_like_its_list(values, binned):
    x = Variable("x", Bins([-1, 0, 100]) if binned else [-2, 0, 0.5, 7, 1e300])
    array = columns({"x": np.array(values, dtype=float)}, {"x": x}, bad="missing")
    plain = columns({"x": values}, {"x": x}, bad="missing")
    assert array.codes["x"].tolist() == plain.codes["x"].tolist()
    assert array.bad.tolist() == plain.bad.tolist()


# --- mistakes -----------------------------------------------------------------------------------------------


UNKNOWN = (
    r"^Row 1 \(the first is 0\): 'mood' has no state 'god'; it has 'bad', 'fair', 'good'\. "
    r"Did you mean 'good'\? "
    r'bad_rows="missing" leaves such values out \(2 rows have such values\)\.$'
)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"mood": ["good", "god", "god"]}, UNKNOWN),
        (pd.DataFrame({"mood": ["good", "god"]}), "Row 1 .* 'god'"),
        (pd.DataFrame({"mood": ["good", "god"]}).astype("category"), "Row 1 .* 'god'"),
        (pl.DataFrame({"mood": ["good", "god"]}).lazy(), "Row 1 .* 'god'"),
        ({"count": np.array([0, 7])}, "Row 1 .* 'count' has no state 7; it has 0, 1, 2"),
        ({"count": np.array([0.5])}, r"Row 0 .* 'count' has no state 0\.5"),
        ({"count": np.array([math.inf])}, "Row 0 .* 'count' has no state inf"),
        ({"wet": np.array([0, 2])}, "'wet' has no state 2; it has False, True"),
        ({"age": np.array([5, 121])}, r"Row 1 .* 'age' has no bin for 121; its bins are \[0, 18\)"),
        ({"age": ["old"]}, "'age' has no bin for 'old'"),
        ({"mood": ["good", ["bad"]]}, r"Row 1 .* 'mood' has no state \['bad'\]"),
        ({"mood": ["good", b"bad"]}, "Row 1 .* no state b'bad'"),
    ],
)
def test_a_value_that_is_no_state_is_named_with_its_row(frame, message):
    with pytest.raises(UnknownState, match=message):
        columns(frame, VARIABLES)
    read = columns(frame, VARIABLES, bad="missing")
    assert read.bad.any()
    assert all((codes[read.bad] == -1).all() for codes in read.codes.values())


def test_bad_rows_are_marked_and_missing_ones_are_not():
    read = columns({"mood": ["good", "god", None], "count": [0, 1, 9]}, VARIABLES, bad="missing")
    assert read.bad.tolist() == [False, True, True]
    assert {name: codes.tolist() for name, codes in read.codes.items()} == {
        "mood": [2, -1, -1],
        "count": [0, 1, -1],
    }


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (None, "None is not a data frame; pgm reads pandas, polars, pyarrow, duckdb and dask frames"),
        (3, "3 is not a data frame"),
        ("data.csv", "'data.csv' is not a data frame"),
        (iter([]), "is not a data frame"),
        (pd.Series([1]), "is not a data frame"),
        (
            np.zeros((3, 2)),
            r"An array of shape \(3, 2\) has no names for its columns; write a dict of columns",
        ),
        ([1, 2], r"Row 0 is 1; the rows of a list are dicts such as \{'rain': True\}|Row 0 of the list is 1"),
        ({"wet": [True], "mood": ["bad", "good"]}, "different lengths: 'wet' has 1 rows, 'mood' 2"),
        ({"wet": [True], "note": ["a", "b"]}, "different lengths: 'wet' has 1 rows, 'note' 2"),
        (
            {"wet": True},
            r"The column 'wet' is True, not a list of values; for a single row, write a list: \[\{",
        ),
        ({"mood": "bad"}, "The column 'mood' is 'bad', not a list of values"),
        ({"mood": (c for c in "ab")}, "The column 'mood' is .* not a list of values"),
        ({"count": np.zeros((2, 2))}, "The column 'count' has 2 dimensions; a column has one"),
        (
            pd.DataFrame([["bad", "good"]], columns=["mood", "mood"]),
            "The frame has 2 columns 'mood'; keep one",
        ),
        (
            pa.Table.from_arrays([pa.array(["bad"])] * 2, names=["mood", "mood"]),
            "The frame has 2 columns 'mood'",
        ),
    ],
)
def test_what_is_no_frame_is_refused(frame, message):
    with pytest.raises(InvalidFrame, match=message):
        columns(frame, VARIABLES)


def test_an_unknown_way_with_bad_rows_is_refused():
    with pytest.raises(InvalidArgument, match="Bad rows can 'raise' or be 'missing', not 'ignore'"):
        columns({}, VARIABLES, bad="ignore")


def test_other_columns_are_not_looked_at():
    odd = pd.DataFrame([["bad", object(), []]], columns=["mood", "twice", "twice"])
    assert columns(odd, VARIABLES).codes["mood"].tolist() == [0]
    assert columns({"mood": ["bad"], "unread": 3, 7: ["x"]}, VARIABLES).n_rows == 1
    assert columns(pd.DataFrame({0: ["x"], "mood": ["bad"]}), VARIABLES).codes["mood"].tolist() == [0]


@pytest.mark.parametrize(
    ("frame", "n_rows"),
    [
        ({}, 0),
        ([], 0),
        ([{}], 1),
        (pd.DataFrame(), 0),
        (pd.DataFrame({"other": [1, 2]}), 2),
        (pl.DataFrame({"other": [1, 2]}).lazy(), 2),
        (pa.table({"other": [1, 2]}), 2),
        ({"other": [1, 2]}, 2),
        (pd.DataFrame({"mood": pd.Series([], dtype=object)}), 0),
    ],
)
def test_rows_are_counted_even_without_a_column_to_read(frame, n_rows):
    read = columns(frame, VARIABLES)
    assert read.n_rows == n_rows
    assert read.bad.shape == (n_rows,)


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_a_hundred_thousand_rows_take_a_moment(make):
    variables = {f"c{i}": Variable(f"c{i}", ["LOW", "NORMAL", "HIGH"]) for i in range(37)}
    codes = np.random.default_rng(0).integers(0, 3, 100_000)
    text = np.array(["LOW", "NORMAL", "HIGH"], dtype=object)[codes].tolist()
    frame = make(dict.fromkeys(variables, text))
    start = time.thread_time()
    read = columns(frame, variables)
    assert time.thread_time() - start < 3  # about 0.3 s on an idle machine
    assert (read.codes["c36"] == codes).all()


def test_a_record_batch_is_a_frame() -> None:
    wet = Variable("wet", ["no", "yes"])
    batch = pa.record_batch({"wet": ["yes", None, "no"], "note": [1, 2, 3]})
    assert columns(batch, {"wet": wet}).codes["wet"].tolist() == [1, -1, 0]


def test_decimals_fall_into_bins() -> None:
    """duckdb and polars hand them out for numbers with a point."""
    age = Variable("age", Bins([0, 18, 65]))
    frame = pl.DataFrame({"age": pl.Series(["5.5", "18", None, "65"]).cast(pl.Decimal(10, 2))})
    assert columns(frame, {"age": age}).codes["age"].tolist() == [0, 1, -1, 1]


@pytest.mark.parametrize("kind", ["polars", "pyarrow", "pandas", "dict", "lazy"])
def test_decimals_with_places_are_measurements_and_whole_ones_states(kind: str) -> None:
    from decimal import Decimal

    pl = pytest.importorskip("polars")
    prices = ["5.50", "18.25", None, "65.00", "7.75"] * 6_000
    made = pl.DataFrame(
        {
            "price": pl.Series(prices).cast(pl.Decimal(10, 2)),
            "rooms": pl.Series(["2", "3", "2", None, "3"] * 6_000).cast(pl.Decimal(5, 0)),
        }
    )
    if kind == "dict":
        cells = [None if p is None else Decimal(p) for p in prices]
        frame = {"price": cells, "rooms": [Decimal(2), Decimal(3), Decimal(2), None, Decimal(3)] * 6_000}
    else:
        frame = {
            "polars": lambda: made,
            "pyarrow": made.to_arrow,
            "pandas": made.to_pandas,
            "lazy": made.lazy,
        }[kind]()
    net = pgm.BayesianNetwork(edges="rooms -> price").fit(frame, max_iter=2)
    assert net.variables["rooms"].states == (2, 3)
    assert net.variables["price"].continuous
    assert float(net.query("price").mean) == pytest.approx((5.5 + 18.25 + 65.0 + 7.75) / 4, rel=0.2)
    if kind != "lazy":
        with pytest.raises(pgm.InvalidFrame, match=r"whole numbers as floats"):
            pgm.learn_structure({"price": [Decimal("5.00"), Decimal("7.00")]})
