"""Gaps that are filled by chance have the chances that single questions give."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pgm
from pgm.errors import ImpossibleEvidence, InvalidArgument


def test_draws_have_the_posterior_of_each_row_and_leave_what_is_known() -> None:
    net = pgm.load_network("asia")
    rows = [{"smoke": "yes", "dysp": None, "lung": None}, {"smoke": None, "dysp": "yes", "lung": "no"}]
    frame = pd.DataFrame([rows[i % 2] for i in range(4000)]).assign(note=range(4000))
    (filled,) = net.impute(frame, seed=0)
    assert list(filled.columns) == list(frame.columns)
    assert filled["note"].tolist() == list(range(4000))
    for i, row in enumerate(rows):
        some, given = filled[i::2], {n: s for n, s in row.items() if s is not None}
        for name, state in row.items():
            if state is not None:
                assert set(some[name]) == {state}
                continue
            share = (some[name] == "yes").mean()
            assert share == pytest.approx(net.query(name, given)["yes"], abs=0.04)
    joint = net.query(["dysp", "lung"], {"smoke": "yes"})
    first = filled[0::2]
    both = ((first["dysp"] == "yes") & (first["lung"] == "yes")).mean()
    assert both == pytest.approx(joint["yes", "yes"], abs=0.03)


def test_numbers_are_drawn_too_and_every_draw_differs() -> None:
    net = pgm.BayesianNetwork()
    net.add("c", 0.3)
    net.add("x", {True: pgm.Gaussian(2.0, sd=0.5), False: pgm.Gaussian(-1.0, sd=1.0)}, parents=["c"])
    frame = {"c": [True, None, False] * 300, "x": [None, 2.0, None] * 300}
    draws = net.impute(frame, draws=3, seed=1)
    assert len(draws) == 3
    assert not np.array_equal(draws[0]["x"], draws[1]["x"])
    x = np.concatenate([d["x"][0::3] for d in draws])
    assert (x.mean(), x.std()) == (pytest.approx(2.0, abs=0.08), pytest.approx(0.5, abs=0.06))
    again = net.impute(frame, draws=3, seed=1)
    assert all(
        (a["x"] == b["x"]).all() and (a["c"] == b["c"]).all() for a, b in zip(draws, again, strict=True)
    )
    assert (draws[0]["x"][1::3] == 2.0).all()


def test_frames_keep_their_kind_and_mistakes_are_answered() -> None:
    polars = pytest.importorskip("polars")
    net = pgm.load_network("asia")
    (one,) = net.impute(polars.DataFrame({"lung": ["yes", None], "other": [1, 2]}), seed=0)
    assert isinstance(one, polars.DataFrame)
    assert one["other"].to_list() == [1, 2]
    assert one["lung"].null_count() == 0
    with pytest.raises(InvalidArgument, match="draws="):
        net.impute({"lung": ["yes", None]}, draws=0)
    with pytest.raises(ImpossibleEvidence, match="Row 1"):
        net.impute({"lung": ["no", "yes"], "either": [None, "no"], "tub": [None, None]}, seed=0)
