"""Frames whose columns nobody declared, beside what pandas says of them."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import pgm
from pgm.frames import observations

DAYS = tuple(datetime.date(2020, 1, d) for d in (1, 2, 3))
COLUMNS: dict[str, tuple[list[Any], tuple[Any, ...]]] = {
    "truth": ([True, False, True, True], (False, True)),
    "one truth": ([True, True, True, True], (False, True)),
    "text": (["b", "a", "b", "c"], ("a", "b", "c")),
    "whole": ([3, 1, 3, 2], (1, 2, 3)),
    "gaps": (["b", None, "a", "b"], ("a", "b")),
    "days": ([DAYS[1], DAYS[0], DAYS[1], DAYS[2]], DAYS),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_states_are_what_occurs_sorted(name: str) -> None:
    cells, states = COLUMNS[name]
    forms: list[Any] = [cells, np.array(cells, dtype=object), pd.Series(cells, dtype=object)]
    if name in ("truth", "whole", "one truth"):
        forms.append(np.array(cells))
    for form in forms:
        read = observations({"x": form})
        assert read.n_rows == 4
        assert read.variables["x"].states == states
        assert not read.variables["x"].domain.declared or name in ("truth", "one truth")
        codes = read.codes["x"]
        found = [None if code < 0 else read.variables["x"].states[code] for code in codes.tolist()]
        assert [(type(f), f) for f in found] == [(type(c), c) for c in cells]


def test_categories_are_declared() -> None:
    for ordered in (True, False):
        column = pd.Categorical(["lo", "hi", None], categories=["lo", "mid", "hi"], ordered=ordered)
        read = observations(pd.DataFrame({"x": column}))
        assert read.variables["x"].states == (("lo", "mid", "hi") if ordered else ("hi", "lo", "mid"))
        assert [read.variables["x"].states[c] for c in read.codes["x"][:2]] == ["lo", "hi"]
        assert read.codes["x"][2] == -1


def test_categories_of_polars_are_those_of_its_kind_whatever_the_rows() -> None:
    kind = pl.Enum(["lo", "mid", "hi"])
    for cells in (["hi", "lo", None], ["lo", "hi", None]):
        read = observations(pl.DataFrame({"x": pl.Series(cells, dtype=kind)}))
        assert read.variables["x"].states == ("lo", "mid", "hi")


def test_numbers_are_continuous() -> None:
    read = observations({"x": [0.5, None, 2.0], "n": [1, 2, 3]}, continuous="n")
    assert read.variables["x"].continuous
    assert read.variables["n"].continuous
    assert read.values["n"].tolist() == [1.0, 2.0, 3.0]
    assert np.isnan(read.values["x"][1])
    nulls = pd.DataFrame({"x": pd.array([1, None, 2], dtype="Int64")})
    assert observations(nulls).variables["x"].states == (1, 2)


def test_states_may_be_said() -> None:
    read = observations({"age": [3.0, 70.0, 30.0]}, states={"age": pgm.Bins([0, 18, 65, 120])})
    assert read.codes["age"].tolist() == [0, 2, 1]
    with pytest.raises(pgm.UnknownState, match="Row 1"):
        observations({"x": ["a", "z"]}, states={"x": ["a", "b"]})
    with pytest.raises(pgm.InvalidFrame, match="as an identifier has"):
        observations({"x": np.arange(70_000)})
