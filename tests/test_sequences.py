"""Every way to write sequences down gives the same rows; mistakes are named with their sequence and step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pgm.errors import InvalidArgument, InvalidFrame
from pgm.frames import sequences
from pgm.variables import as_domain

LETTERS = as_domain(["a", "b", "c"])
COUNTS = as_domain([0, 1, 2])


@pytest.mark.parametrize(
    "one",
    [
        ["a", None, "c", "b"],
        ("a", float("nan"), "c", "b"),
        np.array(["a", None, "c", "b"], dtype=object),
        pd.Series(["a", None, "c", "b"]),
        pd.Series(["a", None, "c", "b"], dtype="category"),
        pl.Series(["a", None, "c", "b"]),
        pa.array(["a", None, "c", "b"]),
        {"letter": ["a", None, "c", "b"]},
        pd.DataFrame({"letter": ["a", None, "c", "b"]}, index=[5, 5, 6, 7]),
        pl.DataFrame({"letter": ["a", None, "c", "b"]}),
        [{"letter": "a"}, {"letter": None}, {"letter": "c"}, {"letter": "b"}],
        np.ma.masked_array(np.array(["a", "a", "c", "b"]), [0, 1, 0, 0]),
        iter(["a", None, "c", "b"]),
    ],
    ids=lambda one: type(one).__module__.partition(".")[0] + "." + type(one).__name__,
)
def test_one_sequence(one: Any) -> None:
    found = sequences(one)
    assert found.lone
    assert found.lengths.tolist() == [4]
    assert found.codes(LETTERS).tolist() == [0, -1, 2, 1]


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8, np.float64, object])
def test_integers_are_codes_whatever_their_type(kind: type) -> None:
    assert sequences(np.array([0, 2, 1], dtype=kind)).codes(COUNTS).tolist() == [0, 2, 1]
    assert sequences(np.array([[0], [2], [1]], dtype=kind)).codes(COUNTS).tolist() == [0, 2, 1]
    shifted = as_domain([1, 2, 3])
    assert sequences(np.array([1, 3, 2], dtype=kind)).codes(shifted).tolist() == [0, 2, 1]


@pytest.mark.parametrize(
    ("many", "options"),
    [
        ([["a", "b"], ["c"]], {}),
        (np.array(["a", "b", "c"], dtype=object), {"lengths": [2, 1]}),
        (["a", "b", "c"], {"lengths": np.array([2, 1])}),
        ([pd.Series(["a", "b"]), np.array(["c"])], {}),
        ([("a", "b"), ["c"]], {}),
        ({"id": [1, 1, 2], "letter": ["a", "b", "c"]}, {"sequence": "id"}),
        (pd.DataFrame({"id": ["x", "y", "x"], "letter": ["a", "c", "b"]}), {"sequence": "id"}),
        (pl.DataFrame({"id": ["x", "y", "x"], "letter": ["a", "c", "b"]}), {"sequence": "id"}),
        (pd.DataFrame({"letter": ["a", "b", "c"]}), {"lengths": [2, 1]}),
        ([{"letter": ["a", "b"]}, pd.DataFrame({"letter": ["c"]})], {}),
    ],
)
def test_many_sequences(many: Any, options: dict[str, Any]) -> None:
    found = sequences(many, **options)
    assert not found.lone
    assert found.lengths.tolist() == [2, 1]
    assert found.codes(LETTERS).tolist() == [0, 1, 2]


def test_a_table_of_states_is_a_sequence_in_each_row() -> None:
    found = sequences(np.array([[0, 1, 2], [2, 2, 0]]))
    assert found.lengths.tolist() == [3, 3]
    assert found.codes(COUNTS).tolist() == [0, 1, 2, 2, 2, 0]


@pytest.mark.parametrize(
    ("one", "lengths"),
    [
        (np.array([[1.0, 2.0], [math.nan, 4.0], [math.nan, math.nan]]), [3]),
        ([[1, 2], [None, 4], None], [3]),
        ([np.array([1.0, 2.0]), (None, 4), None], [3]),
        (pd.DataFrame({"x": [1.0, None, None], "y": [2.0, 4.0, None]}), [3]),
        ({"x": [1, None, None], "y": [2, 4, None]}, [3]),
        ([[[1, 2]], [[None, 4], None]], [1, 2]),
        ([np.array([[1.0, 2.0]]), [[None, 4], None]], [1, 2]),
        ([{"x": [1], "y": [2]}, {"x": [None, None], "y": [4, None]}], [1, 2]),
        (np.ma.masked_invalid([[1.0, 2.0], [math.nan, 4.0], [math.nan, math.nan]]), [3]),
    ],
)
def test_rows_of_numbers_with_gaps(one: Any, lengths: list[int]) -> None:
    found = sequences(one, vector=True)
    assert found.lengths.tolist() == lengths
    np.testing.assert_array_equal(found.floats(2), [[1, 2], [math.nan, 4], [math.nan, math.nan]])


def test_lone_numbers() -> None:
    np.testing.assert_array_equal(sequences([1, None, 2.5]).floats(1, flat=True), [[1], [math.nan], [2.5]])
    np.testing.assert_array_equal(sequences([[1, 2.0], [3]]).floats(1, flat=True), [[1], [2], [3]])
    assert sequences(np.array([1.0, 2.0]), vector=True).floats(1).tolist() == [[1.0], [2.0]]


def test_columns_of_rows_of_several_kinds() -> None:
    for rows in ([("a", 1.0), None, ("b", None)], {"letter": ["a", None, "b"], "x": [1.0, None, None]}):
        found = sequences(rows, vector=True)
        assert found.column("letter", 0).codes(LETTERS).tolist() == [0, -1, 1]
        np.testing.assert_array_equal(
            found.column("x", 1).floats(1, flat=True)[:, 0], [1, math.nan, math.nan]
        )


def test_a_tuple_may_be_a_symbol() -> None:
    pairs = as_domain([("a", "b"), ("b", "a")])
    found = sequences([("a", "b"), ("b", "a")], is_value=lambda value: pairs.find(value) >= 0)
    assert found.lone
    assert found.codes(pairs).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("data", "options", "said"),
    [
        ([], {}, "The sequence is empty: a sequence has at least one step."),
        ([["a"], []], {}, "Sequence 1 is empty"),
        ("abc", {}, "A sequence is a list of observations, not 'abc'. For its letters write list(...)."),
        (3, {}, "A sequence is a list of observations, not 3."),
        (np.array(3), {}, "not 3 alone"),
        (["a", "b"], {"lengths": [1, 2]}, "lengths= add up to 3 steps, and there are 2"),
        (["a", "b"], {"lengths": [2, 0]}, "lengths= is a list with the number of steps of each sequence"),
        (["a", "b"], {"lengths": 2}, "lengths= is a list with the number of steps"),
        (["a", "b"], {"lengths": [1.0, 1.0]}, "lengths= is a list with the number of steps"),
        (["a", "b"], {"sequence": "id"}, "sequence='id' is the column of a data frame"),
        ({"id": [1], "x": ["a"]}, {"sequence": "id", "lengths": [1]}, "give one of the two"),
        ({"id": [1], "x": ["a"]}, {"sequence": "ids"}, "The frame has no column 'ids'*Did you mean 'id'?"),
        ({"id": [1, None], "x": ["a", "b"]}, {"sequence": "id"}, "Row 1 (the first is 0) has no 'id'"),
        ([["a"], 3], {}, "Item 1 of the list (the first is 0) is 3, while others are sequences."),
        ([{"x": ["a"]}, {"y": ["b"]}], {"vector": True}, "need the same columns"),
    ],
)
def test_what_is_no_sequence(data: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises((InvalidArgument, InvalidFrame)) as error:
        sequences(data, **options)
    for part in said.split("*"):
        assert part in str(error.value)


@pytest.mark.parametrize(
    ("data", "options", "said"),
    [
        (["a", "B", "d"], {}, "Step 1 (the first is 0): 'B' is not one of the symbols 'a', 'b', 'c'. Did you "
         "mean 'b'? (1 more values are none of them either.)"),
        ([["a"], ["b", "x"]], {}, "Sequence 1, step 1 (both count from 0): 'x' is not one of the symbols"),
        (np.array([0, 1]), {}, "Step 0 (the first is 0): 0 is not one of the symbols"),
        ({"id": [7, 8], "x": ["a", "x"]}, {"sequence": "id"}, "Sequence 8, step 0 (steps count from 0): 'x'"),
        ({"x": ["a"], "y": ["b"]}, {}, "What is observed is one column, and the frame has 'x', 'y'"),
    ],
)  # fmt: skip
def test_what_is_no_symbol(data: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises((InvalidArgument, InvalidFrame)) as error:
        sequences(data, **options).codes(LETTERS)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([[1, 2], [1, 2, 3]], "Step 1 (the first is 0): an observation has 2 values, not 3."),
        ([[1, 2], [1, "2"]], "Step 1 (the first is 0): '2' is not a finite number. Text is not a number"),
        ([[1, 2], [1, math.inf]], "Step 1 (the first is 0): inf is not a finite number."),
        (np.array([[1, 2], [1, math.inf]]), "Step 1 (the first is 0): inf is not a finite number."),
        (np.ones((3, 4)), "An observation has 2 values; these have 4 columns."),
        ([[[1, 2]], [[1, 2], [3]]], "Sequence 1, step 1 (both count from 0): an observation has 2 values"),
        ([1.0, 2.0], "Step 0 (the first is 0): an observation has 2 values, not 1.0."),
        ({"x": [1], "y": [2], "z": [3]}, "the frame has the columns 'x', 'y', 'z': select those"),
    ],
)
def test_what_is_no_row_of_numbers(data: Any, said: str) -> None:
    with pytest.raises((InvalidArgument, InvalidFrame)) as error:
        sequences(data, vector=True).floats(2)
    assert said in str(error.value)
