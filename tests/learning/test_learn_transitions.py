"""Dynamic networks from sequences: arrows, tables and errors, beside counts of pandas."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pgm


def weather() -> pgm.DynamicBayesianNetwork:
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("rain", {True: 0.8, False: 0.2}, parents=["rain[-1]"], initial=0.5)
    dbn.add("mud", {(True, True): 0.95, (True, False): 0.7, (False, True): 0.6, (False, False): 0.05},
            parents=["rain", "mud[-1]"], initial={True: 0.7, False: 0.05})  # fmt: skip
    return dbn


def rows_of(steps: int, seed: int) -> dict[str, Any]:
    drawn = weather().sample(steps, seed=seed)
    return {name: np.asarray(drawn[name]) for name in ("rain", "mud")}


def test_the_arrows_of_a_dynamic_network_come_back() -> None:
    rows = rows_of(4000, 1)
    found = pgm.learn_transitions(rows, forbid=[("mud", "rain")])
    arcs = {("rain[-1]", "rain"), ("rain", "mud"), ("mud[-1]", "mud")}
    assert set(found.structure.network.edges) == arcs
    assert set(found.network.parents("mud")) == {"rain", "mud[-1]"}
    frame = pd.DataFrame(rows)
    before = frame.rain.shift(1).iloc[1:].astype(bool)
    shares = frame.rain.iloc[1:].groupby(before).mean()
    table = found.network.cpd("rain").values
    assert table[:, 1].tolist() == pytest.approx([shares[False], shares[True]])
    assert pickle.loads(pickle.dumps(found)).structure.score == found.structure.score
    assert "rain[-1] -> rain" in repr(found)
    assert "<table" in found._repr_html_()
    assert set(zip(found.to_pandas().parent, found.to_pandas().child, strict=True)) == arcs
    assert set(found.to_dict()["arcs"]) == arcs
    assert found.plot(title="weather").get_title() == "weather"


def test_sequences_do_not_run_into_each_other() -> None:
    """Ten sequences by column or by lengths, in one order or another: the same pairs."""
    parts = [pd.DataFrame(rows_of(120, seed)).assign(who=f"p{seed}") for seed in range(10)]
    frame = pd.concat(parts, ignore_index=True)
    given: dict[str, Any] = {"forbid": [("mud", "rain")]}
    by_column = pgm.learn_transitions(frame, sequence="who", **given)
    by_length = pgm.learn_transitions(frame[["rain", "mud"]], lengths=[120] * 10, **given)
    assert by_column.structure.score == pytest.approx(by_length.structure.score)
    assert by_column.network == by_length.network
    woven = frame.sort_values(["who"], key=lambda who: who.str[1:].astype(int) * -1, kind="stable")
    again = pgm.learn_transitions(woven, sequence="who", **given)
    assert set(again.structure.network.edges) == set(by_column.structure.network.edges)
    for name in ("rain", "mud"):
        np.testing.assert_allclose(again.network.cpd(name).values, by_column.network.cpd(name).values)
    assert by_column.structure.n_rows == 10 * 119


def test_two_steps_back() -> None:
    rng = np.random.default_rng(0)
    x = [0, 1]
    for _ in range(1500):
        x.append(int(rng.random() < (0.9 if x[-2] else 0.1)))
    found = pgm.learn_transitions({"x": x}, lag=2)
    assert found.network.parents("x") == ("x[-2]",)
    assert found.network.lag == 2


@pytest.mark.parametrize(
    ("frame", "given", "said"),
    [
        ({"x": [0, 1, 0]}, {"lag": 0}, "lag= is a whole number"),
        ({"x": [0, 1, 0]}, {"lag": 3}, "No sequence has more than lag=3 steps"),
        ({"x": [0, 1, None]}, {}, "missing in the columns 'x'"),
        ({"x": [0.5, 1.5, 2.5]}, {}, "are continuous"),
        ({"x": [0, 1, 0]}, {"lengths": [2]}, "adds up to 2, but the frame has 3 rows"),
        ({"x": [0, 1, 0], "s": [1, 1, 1]}, {"sequence": "s", "lengths": [3]}, "in two ways"),
    ],
)
def test_what_shows_no_transitions(frame: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises(pgm.PGMError, match=said):
        pgm.learn_transitions(frame, **given)
