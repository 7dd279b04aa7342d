"""Rows of a frame whose cells weigh states: as asking row by row with the same evidence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pgm
from pgm.errors import ImpossibleEvidence, InvalidArgument, InvalidEvidence, InvalidFrame, UnknownState

N = 12


def discrete(rng: np.random.Generator) -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    names: list[str] = []
    for i in range(6):
        parents = [p for p in names if rng.random() < 0.5][:2]
        card = int(rng.integers(2, 4))
        shape = (*[net.variables[p].card for p in parents], card)
        table = rng.dirichlet(np.ones(card), size=shape[:-1])
        if rng.random() < 0.3:  # zeros
            table[..., 0] = 0.0
            table /= table.sum(axis=-1, keepdims=True)
        net.add(f"v{i}", table, parents=parents, states=["a", "b", "c"][:card])
        names.append(f"v{i}")
    net.add("p", 0.3)
    net.add("q", {s: float(rng.random()) for s in net.variables["v0"].states}, parents=["v0"])
    net.add("gate", pgm.NoisyOr({"p": 0.8, "q": 0.6}, leak=0.1))
    return net


def hybrid(rng: np.random.Generator) -> pgm.BayesianNetwork:
    net = discrete(rng)
    lines = {s: pgm.LinearGaussian(bias=float(rng.normal()), sd=1.0) for s in net.variables["v2"].states}
    net.add("x", lines, parents=["v2"])
    net.add("y", pgm.LinearGaussian({"x": 1.5}, bias=0.5, sd=0.5))
    net.add("late", pgm.Logistic({"x": 1.0, "p": 0.5}))
    return net


def cells(net: pgm.BayesianNetwork, rng: np.random.Generator) -> dict[str, list[Any]]:
    """Columns of every kind of cell; the same objects come again."""
    drawn = net.sample(N, seed=int(rng.integers(2**31)))
    frame: dict[str, list[Any]] = {}
    for name, v in net.variables.items():
        if rng.random() < 0.2:
            continue
        column: list[Any] = []
        for i in range(N):
            value = drawn[name][i].item() if hasattr(drawn[name][i], "item") else drawn[name][i]
            kind = int(rng.integers(6))
            if kind == 0:
                value = None
            elif not v.continuous and kind in (1, 2):
                weights = rng.uniform(0.05, 3.0, v.card) * (rng.random(v.card) < 0.8)
                weights[v.code(value)] = 1.0
                value = pgm.Likelihood(dict(zip(v.states, weights.tolist(), strict=True)))
            elif not v.continuous and kind == 3:
                value = (
                    pgm.OneOf(value, v.states[0])
                    if i % 2 or v.card < 3
                    else pgm.Not(next(s for s in v.states if s != value))
                )
            column.append(value)
        frame[name] = column
    return frame or {"v0": [None] * N}


def rows_of(frame: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [
        {n: v for n, v in zip(frame, row, strict=True) if v is not None}
        for row in zip(*frame.values(), strict=True)
    ]


def compare(net: pgm.BayesianNetwork, frame: dict[str, list[Any]], target: str) -> None:
    rows = rows_of(frame)
    logs = net.log_likelihood(frame)
    shares = net.predict_proba(frame, target)
    every = net.predict_proba(frame)
    total: dict[str, np.ndarray] = {}
    for i, row in enumerate(rows):
        assert logs[i] == pytest.approx(net.log_probability(row), rel=1e-10, abs=1e-9)
        without = {n: v for n, v in row.items() if n != target}
        np.testing.assert_allclose(shares[i], net.query(target, without).values, atol=1e-11)
        for name in ("v0", "v3"):
            np.testing.assert_allclose(every[name][i], net.query(name, row).values, atol=1e-11)
        for name, counts in net.expected_counts(row).items():
            if isinstance(counts, np.ndarray):
                total[name] = total.get(name, 0.0) + counts
    counts = net.expected_counts(frame)
    for name, expected in total.items():
        np.testing.assert_allclose(counts[name], expected, atol=1e-9)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_row_is_its_evidence(seed: int) -> None:
    rng = np.random.default_rng(seed)
    net = discrete(rng)
    compare(net, cells(net, rng), "v1")


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_row_with_numbers_is_its_evidence(seed: int) -> None:
    rng = np.random.default_rng(seed)
    net = hybrid(rng)
    frame = cells(net, rng)
    frame["x"] = [float(v) for v in net.sample(N, seed=seed)["x"]]  # "late" needs it
    compare(net, frame, "v1")


def test_many_rows_of_one_pattern_share_their_work() -> None:
    rng = np.random.default_rng(3)
    net = hybrid(rng)
    n = 300
    weights = rng.dirichlet(np.ones(net.variables["v2"].card), n)
    x = rng.normal(size=n)
    found = net.predict_proba({"v2": weights, "x": x}, "v0")
    states = net.variables["v2"].states
    for i in range(0, n, 50):
        said = pgm.Likelihood(dict(zip(states, weights[i].tolist(), strict=True)))
        np.testing.assert_allclose(found[i], net.query("v0", {"v2": said, "x": x[i]}).values, atol=1e-11)


def two() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("c", {"a": 0.3, "b": 0.7})
    net.add("d", {"a": [0.8, 0.2], "b": [0.1, 0.9]}, parents=["c"], states=["x", "y"])
    return net


def test_every_way_of_writing_weights_is_the_same() -> None:
    weights = np.array([[0.9, 0.1], [np.nan, np.nan], [2.0, 0.0]])
    said = [pgm.Likelihood({"a": 0.9, "b": 0.1}), None, pgm.Likelihood({"a": 2.0, "b": 0.0})]
    right = np.array([0.9 * 0.3 / (0.9 * 0.3 + 0.1 * 0.7), 0.3, 1.0])
    turned = pgm.Likelihoods(weights[:, ::-1], ["b", "a"])
    d = right * 0.8 + (1 - right) * 0.1
    for column in (said, weights, turned, pd.Series(said), np.asarray(turned, dtype=object)):
        np.testing.assert_allclose(two().predict_proba({"c": column}, "d")[:, 0], d, atol=1e-12)
    frame = pd.DataFrame({"c": said})
    np.testing.assert_allclose(two().predict_proba(frame, "d")["x"], d, atol=1e-12)
    records = [{"c": cell} for cell in said]
    np.testing.assert_allclose(two().predict_proba(records, "d")[:, 0], d, atol=1e-12)
    logs = [math.log(0.34), 0.0, math.log(0.6)]
    np.testing.assert_allclose(two().log_likelihood(frame), logs, atol=1e-12)
    assert two().score({"c": weights}) == pytest.approx(math.fsum(logs))
    assert two().predict({"c": weights}).get("c").tolist() == ["a", "b", "a"]
    held = pl.DataFrame({"c": pl.Series(said, dtype=pl.Object)})
    np.testing.assert_allclose(two().predict_proba(held, "d")["x"].to_numpy(), d, atol=1e-12)


def test_extreme_weights_stay_exact() -> None:
    rng = np.random.default_rng(0)
    weights = np.exp(rng.uniform(-650.0, 650.0, (40, 2)))
    found = two().predict_proba({"c": weights}, "d")
    logs = two().log_likelihood({"c": weights})
    for i, row in enumerate(weights):
        said = pgm.Likelihood({"a": row[0], "b": row[1]})
        np.testing.assert_allclose(found[i], two().query("d", {"c": said}).values, rtol=1e-12)
        assert logs[i] == pytest.approx(two().log_probability({"c": said}), rel=1e-12)


def test_undirected_models_take_them_too() -> None:
    mrf = pgm.MarkovNetwork()
    mrf.add_variable("a", states=["red", "blue"])
    mrf.add_variable("b", states=["red", "blue"])
    mrf.add_factor(["a", "b"], [[10, 1], [1, 10]])
    found = mrf.predict_proba({"b": np.array([[0.9, 0.1], [0.5, 0.5]])}, "a")
    np.testing.assert_allclose(found[0, 0], (9 + 0.1) / (9 + 0.1 + 0.9 + 1), atol=1e-12)
    np.testing.assert_allclose(found[1], [0.5, 0.5], atol=1e-12)


def test_em_learns_from_what_a_classifier_says() -> None:
    drawn = two().sample(400, seed=1)
    weights = np.where(np.asarray(drawn["c"])[:, None] == np.array(["a", "b"]), 0.8, 0.2)
    d = (np.asarray(drawn["d"]) == "y").astype(int)
    p, q = np.array([0.5, 0.5]), np.array([[0.6, 0.4], [0.3, 0.7]])
    for _ in range(3):  # EM by hand
        post = p * q[:, d].T * weights
        post /= post.sum(axis=1, keepdims=True)
        p = post.mean(axis=0)
        q = np.stack([np.bincount(d, post[:, k], 2) / post[:, k].sum() for k in (0, 1)])
    net = two()
    net.set("c", {"a": 0.5, "b": 0.5})
    net.set("d", {"a": [0.6, 0.4], "b": [0.3, 0.7]})
    net.fit({"c": weights, "d": drawn["d"]}, max_iter=3, tol=1e-12)
    np.testing.assert_allclose(net.cpd("c").values, p, atol=1e-9)
    np.testing.assert_allclose(net.cpd("d").values, q, atol=1e-9)
    with pytest.raises(InvalidArgument, match="weigh them"):
        two().fit({"c": weights, "d": drawn["d"]}, method="hard")
    # certain weights are states: nothing is hidden
    certain = two().fit({"c": (weights > 0.5).astype(float), "d": drawn["d"]})
    counted = two().fit(drawn)
    np.testing.assert_allclose(certain.cpd("d").values, counted.cpd("d").values, atol=1e-9)


@pytest.mark.parametrize(
    ("column", "error", "said"),
    [
        (np.array([[0.5, 0.5, 0.0]]), InvalidFrame, "a column for each of 'a', 'b'"),
        (np.array([[0.5, -0.5]]), InvalidEvidence, "Row 0 .*not all zero"),
        (np.array([[0.0, 0.0]]), InvalidEvidence, "Row 0 .*not all zero"),
        (np.array([["x", "y"]]), InvalidFrame, "not all its entries are numbers"),
        (pgm.Likelihoods([[1.0, 2.0]], ["a", "z"]), UnknownState, "'z'"),
        (pgm.Likelihoods([[1.0]], ["a"]), InvalidEvidence, "a weight for each"),
        ([pgm.Likelihood({"a": 1.0})], InvalidEvidence, "Row 0 .*no weight for 'b'"),
        ([pgm.Soft({"a": 0.5, "b": 0.5})], InvalidEvidence, "Row 0 .*takes pgm.Likelihood"),
        (["a", pgm.OneOf("a"), "z"], UnknownState, "Row 2 .*'z'"),
    ],
)
def test_bad_cells_are_named(column: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        two().predict_proba({"c": column}, "d")


def test_cells_that_weigh_states_are_drawn_by_imputing() -> None:
    weights = np.tile([[0.9, 0.1]], (3000, 1))
    weights[1000:] = [0.2, 0.8]
    weights[2000:] = np.nan
    (filled,) = two().impute({"c": weights, "d": ["x"] * 3000}, seed=0)
    for part, (a, b) in (
        (slice(0, 1000), (0.9, 0.1)),
        (slice(1000, 2000), (0.2, 0.8)),
        (slice(2000, 3000), (1, 1)),
    ):
        right = a * 0.3 * 0.8 / (a * 0.3 * 0.8 + b * 0.7 * 0.1)
        assert np.mean(filled["c"][part] == "a") == pytest.approx(right, abs=4 * 0.5 / 1000**0.5)


def test_impossible_rows_say_what_was_given() -> None:
    net = pgm.BayesianNetwork()
    net.add("c", {"a": 1.0, "b": 0.0})
    net.add("d", {"a": [0.8, 0.2], "b": [0.1, 0.9]}, parents=["c"], states=["x", "y"])
    frame = {"c": np.array([[0.5, 0.5], [0.0, 1.0]])}
    with pytest.raises(ImpossibleEvidence, match=r"Row 1.*c = Likelihood"):
        net.predict_proba(frame, "d")
    kept = net.predict_proba(frame, "d", bad_rows="missing")
    np.testing.assert_allclose(kept[0], [0.8, 0.2])
    assert np.isnan(kept[1]).all()
    with pytest.raises(ImpossibleEvidence, match=r"Row 1"):
        net.expected_counts(frame)


def test_who_takes_no_weights_still_refuses_them() -> None:
    with pytest.raises(UnknownState, match="Likelihood"):
        two().cpd("d").fit({"c": [pgm.Likelihood({"a": 0.5, "b": 0.5})], "d": ["x"]})
