"""Frames with continuous columns in batches: the answers of rows asked one by one, and of brute force."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import pgm
from pgm.inference.engines.gaussian import row_patterns
from tests.gaussian_oracle import Plain, plains


def frame_of(plain: Plain, rng: np.random.Generator, n: int) -> list[dict[str, Any]]:
    """Rows of a few patterns of what is observed; each pattern several times."""
    names = [node.name for node in plain.nodes]
    patterns = [{name for name in names if rng.random() < 0.5} for _ in range(3)] + [set(names)]
    rows = []
    for _ in range(n):
        drawn, kept = plain.draw(rng), patterns[int(rng.integers(4))]
        rows.append({name: value if name in kept else None for name, value in drawn.items()})
    return rows


def answers(net: pgm.BayesianNetwork, rows: list[dict[str, Any]], plain: Plain) -> dict[str, np.ndarray]:
    """Everything that can be asked; an error is its text."""
    found: dict[str, Any] = {}

    def ask(name: str, call: Any) -> None:
        try:
            found[name] = call()
        except pgm.PGMError as error:
            found[name] = f"{type(error).__name__}: {error}"

    for bad in ("raise", "missing"):
        ask(f"log {bad}", lambda bad=bad: net.log_likelihood(rows, bad_rows=bad))
        for name in (*plain.discrete, *plain.continuous):
            ask(f"predict {name} {bad}", lambda name=name, bad=bad: net.predict(rows, name, bad_rows=bad))
        for name in plain.discrete:
            ask(f"share {name} {bad}", lambda name=name, bad=bad: net.predict_proba(rows, name, bad_rows=bad))
    ask("all", lambda: list(net.predict(rows, bad_rows="missing").values()))
    ask("all shares", lambda: list(net.predict_proba(rows, bad_rows="missing").values()))
    return found


def assert_equal(found: Any, expected: Any, what: str) -> None:
    if isinstance(expected, str) or isinstance(found, str):
        assert found == expected, what
    elif isinstance(expected, list):
        for one, other in zip(found, expected, strict=True):
            assert_equal(one, other, what)
    elif expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9, err_msg=what)
    else:
        assert found.tolist() == expected.tolist(), what


@settings(max_examples=60)
@given(plains(), st.sampled_from(["dense", "by evidence", "in chunks"]))
def test_batches_answer_as_one_row_at_a_time(case: Any, how: str) -> None:
    plain, rng = case
    net = plain.network()
    rows = frame_of(plain, rng, 12)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_patterns.Rows, "answer", lambda self, rows: self.found)
        expected = answers(net, rows, plain)
    with pytest.MonkeyPatch.context() as patch:
        if how == "by evidence":
            patch.setattr(row_patterns, "_MOST_ENTRIES", 3)
        if how == "in chunks":
            patch.setattr(row_patterns, "_AT_ONCE", 4)
        found = answers(net, rows, plain)
    assert found.keys() == expected.keys()
    for what, value in expected.items():
        assert_equal(found[what], value, what)


@settings(max_examples=60)
@given(plains(zeros=False))
def test_batches_answer_as_brute_force(case: Any) -> None:
    plain, rng = case
    net = plain.network()
    rows = frame_of(plain, rng, 8)

    def truths(without: str = "") -> list[Any]:
        known = [{n: v for n, v in row.items() if v is not None and n != without} for row in rows]
        found = [plain.answer(one) for one in known]
        assume(all(truth is not None for truth in found))
        return found

    expected = [truth.log_density for truth in truths()]
    assert net.log_likelihood(rows).tolist() == pytest.approx(expected, rel=1e-8, abs=1e-8)
    for name in plain.discrete:
        expected = [[truth.state(name, code) for code in range(plain.cards[name])] for truth in truths(name)]
        np.testing.assert_allclose(net.predict_proba(rows, name), expected, rtol=1e-7, atol=1e-9)
    for name in plain.continuous:
        expected = [truth.mean(name) for truth in truths(name)]
        np.testing.assert_allclose(net.predict(rows, name), expected, rtol=1e-6, atol=1e-7)


def mixture(d: int = 3, k: int = 4) -> pgm.BayesianNetwork:
    rng = np.random.default_rng(3)
    net = pgm.BayesianNetwork()
    net.add("c", rng.dirichlet(np.ones(k)), states=range(k))
    for i in range(d):
        before = [f"x{j}" for j in range(i)]
        rows = {
            c: pgm.LinearGaussian(dict.fromkeys(before, 0.3 * rng.normal()), bias=3 * rng.normal(), sd=1.0)
            for c in range(k)
        }
        net.add(f"x{i}", rows, parents=["c"])
    return net


def test_a_mixture_takes_no_question_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    from pgm.inference.asking import continuous_frames

    net = mixture()
    frame = net.sample(400, seed=1)
    data = {name: column for name, column in frame.items() if name != "c"}
    expected = [net.log_probability({name: float(data[name][i]) for name in data}) for i in range(3)]
    monkeypatch.setattr(continuous_frames, "_posterior", None)
    logs = net.log_likelihood(data)
    assert logs[:3].tolist() == pytest.approx(expected, rel=1e-12)
    assert net.predict_proba(data, "c").sum(axis=1) == pytest.approx(np.ones(400))
    data["x1"] = np.where(np.arange(400) % 2, np.nan, data["x1"])
    assert np.isfinite(net.predict(data, "x1")).all()


def test_the_time_limit_holds_between_batches() -> None:
    net = mixture()
    frame = net.sample(40_000, seed=1)
    data = {name: column for name, column in frame.items() if name != "c"}
    with pgm.config(time_limit=1e-6), pytest.raises(pgm.OutOfTime):
        net.log_likelihood(data)


def test_rows_far_from_everything_are_refused_as_before() -> None:
    net = pgm.BayesianNetwork()
    net.add("c", 0.5)
    net.add("x", {True: pgm.Gaussian(0, 1e-6), False: pgm.Gaussian(1.0, 1.0)}, parents=["c"])
    with pytest.raises(pgm.InvalidEvidence, match="Row 1"):
        net.log_likelihood({"x": [0.0, 1e6, 0.5]})
    assert math.isfinite(net.log_likelihood({"x": [0.0, 0.001, 0.01]}).sum())


def test_numbers_whose_squares_are_no_doubles_are_told_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    net = mixture()
    rows = {"x0": [0.5, 1e200, -1e160, 0.1], "x1": [0.5, 1e3, 0.1, 0.2]}

    def both() -> list[str]:
        found = []
        for frame in (rows, {"x0": rows["x1"], "x2": rows["x0"]}):
            for ask in (net.log_likelihood, lambda frame: net.predict_proba(frame, "c")):
                try:
                    found.append(np.round(ask(frame), 9).tolist().__repr__())
                except pgm.PGMError as error:
                    found.append(str(error))
        return found

    together = both()
    monkeypatch.setattr(row_patterns.Rows, "answer", lambda self, rows: self.found)
    assert together == both()
