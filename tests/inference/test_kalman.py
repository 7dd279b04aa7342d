"""The loops of the Kalman filter and smoother against the joint normal of everything, conditioned."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import pgm
from pgm.inference.engines.kalman import Run, Schedule, Series, arrays, diffuse, passes, run
from pgm.results import Matrices
from pgm.runtime.loops import interpreted
from tests.linear_oracle import Linear, random_linear


def schedule(truth: Linear, changing: bool) -> Schedule:
    kinds = truth.T if changing else 1
    move = np.arange(truth.T - 1) if changing else np.zeros(truth.T - 1, np.int64)
    look = np.arange(truth.T) if changing else np.zeros(truth.T, np.int64)
    each = [np.array(matrices[:kinds]) for matrices in (truth.A, truth.Q, truth.C, truth.R)]
    return Schedule(*each, move, look, truth.mean, truth.covariance, truth.diffuse)


def series(truth: Linear, y: np.ndarray) -> Series:
    return Series(y - np.array(truth.shift), np.reshape(truth.push[: truth.T - 1], (-1, len(truth.mean))))


def ran(truth: Linear, y: np.ndarray, changing: bool = False) -> Run:
    return run([schedule(truth, changing)], [series(truth, y)], smooth=True)[0]


def gaps(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """Single entries missing, and whole steps."""
    y = y.copy()
    y[rng.random(y.shape) < 0.2] = np.nan
    y[rng.random(len(y)) < 0.2] = np.nan
    return y


def table(found: Matrices | None) -> np.ndarray:
    assert found is not None
    return found.all()


def close(a: object, b: object, within: float = 1e-9) -> None:
    a, b = np.asarray(a, float), np.asarray(b, float)
    finite = np.isfinite(a)
    assert a.shape == b.shape
    size = max(1.0, np.abs(b[finite]).max(initial=0))
    np.testing.assert_allclose(a[finite], b[finite], rtol=within, atol=within * size)


@pytest.mark.parametrize("seed", range(60))
def test_everything_is_as_by_conditioning(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m, T = rng.integers(1, 5), rng.integers(1, 4), rng.integers(1, 7)
    changing = bool(seed % 3 == 0)
    truth = random_linear(rng, n, m, T, changing=changing)
    y = gaps(rng, rng.normal(size=(T, m)))
    found, all_of_it = ran(truth, y, changing), truth.given(y)
    assert found.log.sum() == pytest.approx(all_of_it.log, rel=1e-9, abs=1e-9)
    close(found.smoothed, all_of_it.mean)
    smoothed = table(found.smoothed_covariance)
    for t in range(T):
        close(smoothed[t], all_of_it.covariance(t))
        if t + 1 < T:
            close(found.lag_one()[t], all_of_it.covariance(t, t + 1))
        for means, matrices, until in (
            (found.predicted, found.predicted_covariance, t),
            (found.filtered, found.filtered_covariance, t + 1),
        ):
            part = truth.given(y, until)
            close(means[t], part.mean[t])
            close(table(matrices)[t], part.covariance(t))


@pytest.mark.parametrize("seed", range(60))
def test_diffuse_starts_are_the_limit_of_wide_ones(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m, T = rng.integers(1, 4), rng.integers(1, 3), rng.integers(4, 6)
    changing = bool(seed % 3 == 0)
    truth = random_linear(rng, n, m, T, diffuse=True, changing=changing)
    if seed % 4 == 0:  # observed without noise
        truth.R = [each * 0.0 for each in truth.R] if m == 1 else truth.R
        truth.Q = [each + np.eye(n) for each in truth.Q]
    y = gaps(rng, rng.normal(size=(T, m)))
    if np.isfinite(y).sum() < 2 * n:
        y = rng.normal(size=(T, m))
    found, all_of_it = ran(truth, y, changing), truth.given(y, number=Decimal)
    for t in range(T):
        for means, matrices, until in (
            (found.predicted, found.predicted_covariance, t),
            (found.filtered, found.filtered_covariance, t + 1),
            (found.smoothed, found.smoothed_covariance, T),
        ):
            part = all_of_it if until == T else truth.given(y, until, Decimal)
            covariance, own = part.covariance(t), table(matrices)[t]
            wide = np.abs(covariance) > 1e30
            assert (np.isinf(own) == wide).all()
            assert (np.sign(own[wide]) == np.sign(covariance[wide])).all()
            close(own, covariance, 1e-8)
            close(means[t], part.mean[t], 1e-8)
    if not np.isinf(table(found.smoothed_covariance)).any():
        assert found.log.sum() == pytest.approx(all_of_it.log, rel=1e-8, abs=1e-8)
        for t in range(T - 1):
            close(found.lag_one()[t], all_of_it.covariance(t, t + 1), 1e-8)


# --- stopping ---


class Polled:
    """A stop flag that counts how often it is looked at, and is set from some look on."""

    def __init__(self, after: int) -> None:
        self.after, self.looks = after, 0

    def __getitem__(self, _: int) -> int:
        self.looks += 1
        return int(self.looks > self.after)


@pytest.mark.parametrize("loop", ["forward", "means", "multiplied", "backward", "means_back", "regress"])
def test_every_loop_looks_at_the_stop_flag_in_each_step(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = interpreted(arrays.KALMAN.module)
    rng = np.random.default_rng(1)
    y = rng.normal(size=(40, 1))
    y[rng.random(40) < 0.3] = np.nan
    kinds = (
        np.array([[[1.0, 1.0], [0.0, 1.0]]]),
        np.eye(2)[None],
        np.array([[[1.0, 0.0]]]),
        np.ones((1, 1, 1)),
    )
    one = Schedule(
        *kinds, np.zeros(39, int), np.zeros(40, int), np.zeros(2), np.zeros((2, 2)), np.ones(2, bool)
    )
    counts: list[int] = []

    def looped(name: str, *args: Any, steps: int, clock: Any) -> None:
        stop = Polled(10**9)
        assert plain[name](*args, stop) == plain["DONE"]
        if name == loop:
            counts.append(stop.looks)
            early = Polled(7)
            assert plain[name](*args, early) == plain["STOPPED"]
            assert early.looks == 8
            assert plain[name](*args, Polled(10**9)) == plain["DONE"]  # as it was

    monkeypatch.setattr(passes, "looped", looped)
    monkeypatch.setattr(diffuse, "looped", looped)
    run([one], [Series(y)], smooth=True)
    least = len({tuple(row) for row in np.isnan(y)}) if loop == "multiplied" else 39
    assert counts
    assert all(count >= least for count in counts)


def test_a_long_filter_meets_its_time_limit() -> None:
    lds = pgm.LinearDynamicalSystem(0.9 * np.eye(12), np.eye(12), np.eye(12), np.eye(12))
    y = np.random.default_rng(0).normal(size=(60_000, 12))
    y[np.random.default_rng(1).random(y.shape) < 0.1] = np.nan
    for ask in (lds.score, lds.filter, lds.smooth):
        start = time.monotonic()
        with pgm.config(time_limit=0.05), pytest.raises(pgm.OutOfTime, match=r"time limit of 0\.05 s"):
            ask(y)
        assert time.monotonic() - start < 1.0


def test_a_fit_that_runs_out_of_time_keeps_its_best_so_far() -> None:
    lds = pgm.LinearDynamicalSystem(0.5, 1.0, 1.0, 1.0)
    y = pgm.LinearDynamicalSystem(0.9, 1.0, 0.5, 0.5).sample(5_000, seed=0).observations
    with pgm.config(time_limit=0.3):
        lds.fit(y, max_iter=100_000, tol=0.0)
    assert lds.fit_report.stopped_by == "time limit"
    assert lds.score(y) == pytest.approx(lds.fit_report.log_likelihoods[-1], rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_states_without_noise_that_fade_are_smoothed_without_undoing_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, T, m = 2 + seed % 2, 40, 1 + seed % 2
    A = [[0.6, 0.2, 0.0], [0.1, 0.3, 0.0], [0.2, 0.0, 0.05]]
    truth = Linear(
        [np.array(A)[:n, :n]] * T,
        [np.zeros((n, n))] * T,
        [rng.normal(size=(m, n))] * T,
        [np.eye(m) + 0.5] * T,
        np.ones(n),
        np.eye(n),
        [rng.normal(size=n)] * T,
        [np.zeros(m)] * T,
        np.zeros(n, bool),
    )
    y = gaps(rng, rng.normal(size=(T, m)))
    found, expected = ran(truth, y), truth.given(y)
    close(found.smoothed, expected.mean, 1e-11)
    close(table(found.smoothed_covariance), [expected.covariance(t) for t in range(T)], 1e-11)
    close(found.lag_one(), [expected.covariance(t, t + 1) for t in range(T - 1)], 1e-11)
    values = np.linalg.eigvalsh(table(found.smoothed_covariance))
    assert (values[:, 0] >= -1e-15 * values[:, -1]).all()


def test_a_diffuse_start_that_fades_without_noise_is_least_squares() -> None:
    A, y = np.array([[0.6, 0.2], [0.1, 0.3]]), np.random.default_rng(0).normal(size=40)
    lds = pgm.LinearDynamicalSystem(A=A, C=[[1.0, 1.0]], Q=np.zeros((2, 2)), R=1.0, covariance="diffuse")
    powers = [np.linalg.matrix_power(A, t) for t in range(40)]
    H = np.array([power.sum(axis=0) for power in powers])
    V = np.linalg.inv(H.T @ H)
    found = lds.smooth(y)
    close(found.mean, [power @ V @ H.T @ y for power in powers], 1e-10)
    close(found.covariance, [power @ V @ power.T for power in powers], 1e-10)
