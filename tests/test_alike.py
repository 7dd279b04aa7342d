"""Answers in the form of the frame that was asked about, each column as its library would read it."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pgm.frames import Alike
from pgm.inference.asking.best_states import best_states
from pgm.variables import REAL, Variable, states_array

STATES: dict[str, list[Any]] = {
    "text": ["no", "yes", "ä\n"],
    "truths": [False, True],
    "integers": [3, 1, 7],
    "floats": [0.5, 1.0],
    "two types": [0, "many"],
    "tuples": [(1, 2), (3,)],
    "dates": [date(2026, 1, 1), date(2026, 2, 1)],
}
CODES = {"all known": [1, 0, 1, 1], "gaps": [1, -1, 0, -1], "none known": [-1, -1, -1, -1], "no rows": []}
VARIABLES = {name: Variable(name, states) for name, states in STATES.items()} | {"x": Variable("x", REAL)}


def cells(name: str, codes: list[int]) -> list[Any]:
    return [None if code < 0 else STATES[name][code] for code in codes]


@pytest.mark.parametrize("codes", CODES.values(), ids=list(CODES))
@pytest.mark.parametrize("name", STATES)
def test_states_in_pandas_are_as_pandas_reads_them(name: str, codes: list[int]) -> None:
    frame = pd.DataFrame({"note": np.zeros(len(codes))}, index=np.arange(5, 5 + len(codes)))
    whole, alike = states_array(VARIABLES[name], np.array(codes, int)), Alike(frame, VARIABLES)
    found = alike.column(name, np.array(codes, int))
    pd.testing.assert_series_equal(found, pd.Series(whole, index=frame.index, name=name))
    several = alike.columns({name: np.array(codes, int), "x": np.ones(len(codes))})
    there = pd.DataFrame({name: whole, "x": np.ones(len(codes))}, index=frame.index)
    pd.testing.assert_frame_equal(several, there)
    replaced = alike.replaced(frame, {name: np.array(codes, int)})
    pd.testing.assert_frame_equal(replaced, frame.assign(**{name: pd.Series(whole, index=frame.index)}))


@pytest.mark.parametrize("codes", CODES.values(), ids=list(CODES))
@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("library", [pl, pa], ids=["polars", "pyarrow"])
def test_states_in_polars_and_pyarrow_are_as_these_read_them(
    library: Any, name: str, codes: list[int]
) -> None:
    made = pl.DataFrame if library is pl else pa.table
    frame = made({"note": np.zeros(len(codes))})
    alike, wanted = Alike(frame, VARIABLES), cells(name, codes)
    if name in ("two types", "tuples"):
        wanted = [None if cell is None else str(cell) for cell in wanted]
    for found in (
        alike.column(name, np.array(codes, int)),
        alike.columns({name: np.array(codes, int)})[name],
        alike.replaced(frame, {name: np.array(codes, int)})[name],
    ):
        assert (found.to_list() if library is pl else found.to_pylist()) == wanted
        if name == "text" and codes and min(codes) >= 0:
            assert found.dtype == pl.String if library is pl else pa.types.is_string(found.type)


def test_an_answer_is_the_users_own() -> None:
    codes, shares = np.array([0, 1]), np.array([[0.25, 0.75], [1.0, 0.0]])
    shares.flags.writeable = False
    alike = Alike(pd.DataFrame({"note": [1, 2]}), VARIABLES)
    one, table = alike.column("text", codes), alike.shares("truths", shares)
    one.iloc[0], table.iloc[0, 0] = "yes", 9.0
    assert alike.column("text", codes).tolist() == ["no", "yes"]
    assert shares[0, 0] == 0.25
    assert table.to_numpy().tolist() == [[9.0, 0.75], [1.0, 0.0]]


@pytest.mark.parametrize("states", [1, 2, 3, 11])
def test_the_first_of_the_most_probable_states_wins(states: int) -> None:
    rng = np.random.default_rng(states)
    shares = rng.dirichlet(np.full(states, 0.3), 200)
    shares[::3] = rng.integers(0, 3, shares[::3].shape) / 3.0  # equal ones, and rows of zeros
    shares[::6] *= 1.0 + 1e-15 * rng.integers(-9, 10, shares[::6].shape)
    for given in (shares, np.asfortranarray(shares), shares[:, ::-1], np.empty((0, states))):
        found = best_states(given)
        assert found.dtype == np.int64
        assert found.tolist() == [
            next(code for code, share in enumerate(row) if share >= max(row) * (1 - 1e-13))
            for row in given.tolist()
        ]
