"""Nonlinear systems: linear functions give the Kalman filter, others what textbooks and grids give."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pgm
from pgm import NonlinearDynamicalSystem, filters
from tests.linear_oracle import Linear, random_linear

GAUSSIAN = [
    filters.Extended(),
    filters.Unscented(),
    filters.Unscented(kappa=1.0),
    filters.Unscented(kappa=-0.5),
    filters.Unscented(alpha=1e-2, beta=2.0),
]


def affine(M: np.ndarray, shift: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: M @ x + (shift[:, None] if x.ndim > 1 else shift)


def pair(L: Linear, **more: Any) -> tuple[pgm.LinearDynamicalSystem, NonlinearDynamicalSystem]:
    """The same system twice, by matrices and by functions."""
    A, C, b, d = L.A[0], L.C[0], L.push[0], L.shift[0]
    rest: dict[str, Any] = {"Q": L.Q[0], "R": L.R[0], "mean": L.mean, "covariance": L.covariance}
    nonlinear = NonlinearDynamicalSystem(affine(A, b), affine(C, d), **rest, **more)
    return pgm.LinearDynamicalSystem(A=A, C=C, b=b, d=d, **rest), nonlinear


def gappy(lds: pgm.LinearDynamicalSystem, T: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    y = np.array(lds.sample(T, seed=seed).observations).reshape(T, -1)
    y[rng.random(y.shape) < 0.3] = np.nan
    return y


def sin_cos(x: np.ndarray) -> list[np.ndarray]:
    return [x[0] + 0.3 * np.sin(x[1]), 0.9 * x[1] - 0.2 * x[0] ** 2]


def bent(x: np.ndarray) -> list[np.ndarray]:
    return [np.cos(x[0]) * x[1], x[0] + x[1] ** 3 / 5]


def curved(**changes: Any) -> NonlinearDynamicalSystem:
    given: dict[str, Any] = {
        "Q": [[0.1, 0.02], [0.02, 0.2]],
        "R": [[0.3, 0.1], [0.1, 0.4]],
        "mean": [0.2, -0.3],
        "covariance": [[0.5, 0.1], [0.1, 0.3]],
    }
    return NonlinearDynamicalSystem(sin_cos, bent, **{**given, **changes})


SEEN = np.array([[0.3, 0.1], [np.nan, 0.4], [0.2, np.nan], [np.nan, np.nan], [-0.1, 0.5], [0.6, 0.2]])


# --- linear functions ---


@pytest.mark.parametrize("engine", GAUSSIAN, ids=str)
def test_linear_functions_give_the_kalman_filter(engine: filters.Filter) -> None:
    rng = np.random.default_rng(5)
    for seed in range(12):
        n, m = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        system = random_linear(rng, n, m, 7)
        if not system.Q[0].any():  # all rounding of the way back would be multiplied by the inverse of A
            system.Q = [np.eye(n)[:1].T @ np.eye(n)[:1] + 0.1 * np.eye(n)]
        lds, nds = pair(system)
        y = gappy(lds, 7, seed)
        for question in ("filter", "smooth"):
            mine, theirs = getattr(nds, question)(y, engine=engine), getattr(lds, question)(y)
            for what in ("mean", "covariance", "step_scores"):
                np.testing.assert_allclose(getattr(mine, what), getattr(theirs, what), rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(mine.signal.mean, theirs.signal.mean, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(mine.signal.covariance, theirs.signal.covariance, rtol=1e-9, atol=1e-9)
            assert not mine.exact
            assert theirs.exact
        before = nds.filter(y, engine=engine)
        np.testing.assert_allclose(before.predicted_mean, lds.filter(y).predicted_mean, rtol=1e-9, atol=1e-9)
        cross = nds.smooth(y, engine=engine).lag_one_covariance
        np.testing.assert_allclose(cross, lds.smooth(y).lag_one_covariance, rtol=1e-9, atol=1e-9)
        mine, theirs = nds.forecast(y, steps=3, engine=engine), lds.forecast(y, steps=3)
        np.testing.assert_allclose(mine.predicted.mean, theirs.predicted.mean, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(
            mine.predicted.covariance, theirs.predicted.covariance, rtol=1e-9, atol=1e-9
        )
        assert nds.score(y, engine=engine) == pytest.approx(lds.score(y), rel=1e-9, abs=1e-9)


def test_particles_of_a_linear_system_are_within_their_standard_errors() -> None:
    A, C = np.array([[0.9, 0.2], [0.0, 0.8]]), np.array([[1.0, 0.0], [0.5, 1.0]])
    start: dict[str, Any] = {"Q": [0.5, 0.3], "R": [0.8, 1.0], "mean": [0.0, 1.0], "covariance": np.eye(2)}
    lds = pgm.LinearDynamicalSystem(A=A, C=C, **start)
    nds = NonlinearDynamicalSystem(lambda x: A @ x, lambda x: C @ x, **start)
    y = gappy(lds, 12, 1)
    off: dict[str, list[np.ndarray]] = {"filter": [], "smooth": [], "forecast": []}
    for seed in range(8):
        engine = filters.Particles(samples=4000, paths=2000, seed=seed)
        for question, z in off.items():
            mine, theirs = getattr(nds, question)(y, engine=engine), getattr(lds, question)(y)
            errors = mine.report.intervals.errors
            assert errors.shape == mine.mean.shape
            z.append((mine.mean - theirs.mean) / errors)
            assert mine.report.error == errors.max()
            if question != "forecast":
                np.testing.assert_allclose(mine.covariance, theirs.covariance, atol=0.17)
                z.append(np.atleast_2d((mine.log_likelihood - theirs.log_likelihood) / mine.report.log_error))
            if question == "smooth":
                np.testing.assert_allclose(mine.lag_one_covariance, theirs.lag_one_covariance, atol=0.1)
            np.testing.assert_allclose(mine.signal.mean, theirs.signal.mean, atol=0.15)
    for z in off.values():
        every = np.concatenate([each.ravel() for each in z])
        assert 0.75 < every.std() < 1.5  # Student's t of 9 degrees of freedom has 1.13
        assert abs(every.mean()) < 0.35


# --- functions that are not linear ---


def by_the_book(nds: NonlinearDynamicalSystem, y: np.ndarray, F: Any, H: Any) -> tuple[Any, ...]:
    """The extended Kalman filter and smoother as in Sarkka 2013, algorithms 5.4 and 9.1."""
    m, P = nds.mean.copy(), nds.covariance.copy()
    means, covs, predictions, log = [], [], [], 0.0
    for t, row in enumerate(y):
        if t:
            J = F(m)
            m, P = np.array(nds.f(m)), J @ P @ J.T + nds.Q
        predictions.append((m, P))
        seen = ~np.isnan(row)
        if seen.any():
            J = H(m)[seen]
            S = J @ P @ J.T + nds.R[np.ix_(seen, seen)]
            off = (row - np.array(nds.h(m)))[seen]
            K = P @ J.T @ np.linalg.inv(S)
            m, P = m + K @ off, P - K @ S @ K.T
            log -= 0.5 * (off @ np.linalg.solve(S, off) + np.linalg.slogdet(2 * np.pi * S)[1])
        means.append(m)
        covs.append(P)
    smooth = [(means[-1], covs[-1])]
    for t in range(len(y) - 2, -1, -1):
        before, spread = predictions[t + 1]
        G = covs[t] @ F(means[t]).T @ np.linalg.inv(spread)
        later, wide = smooth[0]
        smooth.insert(0, (means[t] + G @ (later - before), covs[t] + G @ (wide - spread) @ G.T))
    return (
        np.array(means),
        np.array(covs),
        log,
        np.array([s[0] for s in smooth]),
        np.array([s[1] for s in smooth]),
    )


def F_of(x: np.ndarray) -> np.ndarray:
    return np.array([[1.0, 0.3 * np.cos(x[1])], [-0.4 * x[0], 0.9]])


def H_of(x: np.ndarray) -> np.ndarray:
    return np.array([[-np.sin(x[0]) * x[1], np.cos(x[0])], [1.0, 3 * x[1] ** 2 / 5]])


@pytest.mark.parametrize("own", [True, False])
def test_the_extended_filter_is_the_textbooks(own: bool) -> None:
    nds = curved(F=F_of, H=H_of) if own else curved()
    filtered, smoothed = nds.filter(SEEN, engine="extended"), nds.smooth(SEEN, engine="extended")
    mean, cov, log, later, wide = by_the_book(nds, SEEN, F_of, H_of)
    near = {"rtol": 1e-9, "atol": 1e-9} if own else {"rtol": 1e-7, "atol": 1e-7}
    np.testing.assert_allclose(filtered.mean, mean, **near)  # type: ignore[call-overload]
    np.testing.assert_allclose(filtered.covariance, cov, **near)  # type: ignore[call-overload]
    np.testing.assert_allclose(smoothed.mean, later, **near)  # type: ignore[call-overload]
    np.testing.assert_allclose(smoothed.covariance, wide, **near)  # type: ignore[call-overload]
    assert nds.score(SEEN, engine="extended") == pytest.approx(log, rel=1e-7)
    assert filtered.report.derivatives == ("as given" if own else "by differences")
    assert "derivatives" in str(filtered.report)


def spread_out(
    nds: NonlinearDynamicalSystem, y: np.ndarray, kappa: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """The unscented Kalman filter as in Sarkka 2013, algorithm 5.14, alpha = 1 and beta = 0."""

    def through(function: Any, m: np.ndarray, P: np.ndarray) -> tuple[np.ndarray, ...]:
        n = len(m)
        L = np.linalg.cholesky((n + kappa) * P)
        points = [m, *(m + L.T), *(m - L.T)]
        w = np.array([kappa / (n + kappa), *[0.5 / (n + kappa)] * (2 * n)])
        values = np.array([function(p) for p in points])
        centre = w @ values
        apart, own = values - centre, np.array(points) - m
        return centre, (apart.T * w) @ apart, (own.T * w) @ apart

    m, P = nds.mean.copy(), nds.covariance.copy()
    means, covs, log = [], [], 0.0
    for t, row in enumerate(y):
        if t:
            m, S, _ = through(nds.f, m, P)
            P = S + nds.Q
        seen = ~np.isnan(row)
        if seen.any():
            z, S, cross = through(nds.h, m, P)
            S, cross, off = (S + nds.R)[np.ix_(seen, seen)], cross[:, seen], (row - z)[seen]
            K = cross @ np.linalg.inv(S)
            m, P = m + K @ off, P - K @ S @ K.T
            log -= 0.5 * (off @ np.linalg.solve(S, off) + np.linalg.slogdet(2 * np.pi * S)[1])
        means.append(m)
        covs.append(P)
    return np.array(means), np.array(covs), log


@pytest.mark.parametrize("kappa", [0.0, 1.0, -0.4])
def test_the_unscented_filter_is_the_textbooks(kappa: float) -> None:
    """In two dimensions sigma points depend on which root is taken: along the axes there is one."""
    apart: dict[str, Any] = {"Q": [0.1, 0.2], "R": [0.3, 0.4], "covariance": [0.5, 0.3]}

    def alone(x: Any) -> Any:  # each number for itself: covariances stay diagonal
        return [np.sin(x[0]) + x[0], 0.9 * x[1] - 0.1 * x[1] ** 2]

    def seen(x: Any) -> Any:
        return [np.exp(0.3 * x[0]), x[1] + x[1] ** 3 / 5]

    nds = NonlinearDynamicalSystem(alone, seen, mean=[0.2, -0.3], **apart)
    found = nds.filter(SEEN, engine=filters.Unscented(kappa=kappa))
    mean, cov, log = spread_out(nds, SEEN, kappa)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-10)
    np.testing.assert_allclose(found.covariance, cov, rtol=1e-10, atol=1e-12)
    assert found.log_likelihood == pytest.approx(log, rel=1e-10)


def on_a_grid(y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """The growth model of Gordon, Salmond & Smith (1993) on a fine grid: as good as exact."""
    x = np.linspace(-45, 45, 1801)
    h = x[1] - x[0]
    move = (
        np.exp(-0.5 * (x[None] - (x / 2 + 25 * x / (1 + x**2))[:, None]) ** 2 / 10) / np.sqrt(20 * np.pi) * h
    )
    p, log, ahead = np.exp(-0.5 * x**2 / 5) / np.sqrt(10 * np.pi), 0.0, []
    for t, value in enumerate(y):
        if t:
            p = p @ move
        if not np.isnan(value):
            p = p * np.exp(-0.5 * (value - x**2 / 20) ** 2) / np.sqrt(2 * np.pi)
        share = p.sum() * h
        log += np.log(share) if not np.isnan(value) else 0.0
        p = p / share
        ahead.append(p)
    back, smooth = np.ones_like(x), []
    for t in range(len(y) - 1, -1, -1):
        own = ahead[t] * back
        smooth.insert(0, own / (own.sum() * h))
        seen = 1.0 if np.isnan(y[t]) else np.exp(-0.5 * (y[t] - x**2 / 20) ** 2)
        back = move @ (back * seen)
        back /= back.max()
    means = np.array([(p * x).sum() * h for p in ahead])
    sds = np.sqrt([(p * x**2).sum() * h for p in ahead] - means**2)
    return means, sds, np.array([(p * x).sum() * h for p in smooth]), log


def growth() -> NonlinearDynamicalSystem:
    return NonlinearDynamicalSystem(
        lambda x: x / 2 + 25 * x / (1 + x**2), lambda x: x**2 / 20, Q=10.0, R=1.0, mean=0.0, covariance=5.0
    )


def test_particles_find_what_a_grid_finds_where_there_are_two_modes() -> None:
    y = np.array(growth().sample(15, seed=2).observations)
    y[6] = np.nan
    mean, sd, smooth, log = on_a_grid(y)
    off, back, logs = [], [], []
    for seed in range(8):
        engine = filters.Particles(samples=5000, paths=2000, seed=seed)
        found, later = growth().filter(y, engine=engine), growth().smooth(y, engine=engine)
        off.append((found.mean[:, 0] - mean) / found.report.intervals.errors[:, 0])
        back.append((later.mean[:, 0] - smooth) / later.report.intervals.errors[:, 0])
        logs.append((found.log_likelihood - log) / found.report.log_error)
        np.testing.assert_allclose(found.std[:, 0], sd, rtol=0.06)
        assert found.report.samples == 5000
    for z in (off, back, logs):
        assert 0.5 < np.sqrt(np.mean(np.square(z))) < 1.8
        assert np.abs(np.mean(z, axis=0)).max() < 1.6  # of eight seeds: it errs to both sides


def test_angles_go_the_short_way_around() -> None:
    """Something walks past the direction where bearings jump from pi to -pi."""
    rest: dict[str, Any] = {
        "Q": 0.01,
        "R": [0.01],
        "mean": [-5.0, 0.5],
        "covariance": 0.1,
        "observations": "bearing",
    }

    def bearing(x: np.ndarray) -> np.ndarray:
        return np.arctan2(x[1], x[0])

    def turned(x: np.ndarray) -> np.ndarray:  # the same seen from the other side, where nothing jumps
        return np.arctan2(-x[1], -x[0])

    def walk(x: np.ndarray) -> np.ndarray:
        return x + np.array([0.0, -0.2]).reshape(2, *[1] * (x.ndim - 1))

    around = NonlinearDynamicalSystem(walk, bearing, periods={"bearing": 2 * np.pi}, **rest)
    plain = NonlinearDynamicalSystem(walk, turned, **rest)
    y = plain.sample(8, seed=1).observations
    jumping = np.where(y <= 0, y + np.pi, y - np.pi)
    assert np.ptp(jumping) > 5
    for engine in ("extended", "unscented", "particles"):
        for question in ("filter", "smooth"):
            a = getattr(around, question)(jumping, engine=engine)
            b = getattr(plain, question)(y, engine=engine)
            np.testing.assert_allclose(a.mean, b.mean, rtol=1e-7, atol=1e-7)
            np.testing.assert_allclose(a.covariance, b.covariance, rtol=1e-6, atol=1e-9)
            assert a.log_likelihood == pytest.approx(b.log_likelihood, rel=1e-7)
        off = (a.signal.mean - b.signal.mean) / np.pi
        np.testing.assert_allclose(np.abs(off), 1.0, rtol=1e-4)


def test_an_angle_in_the_state_goes_around_too() -> None:
    """A heading in degrees, known modulo 360."""
    rest: dict[str, Any] = {
        "Q": 4.0,
        "R": 9.0,
        "covariance": 25.0,
        "states": "heading",
        "observations": "compass",
    }
    around = NonlinearDynamicalSystem(
        lambda x: (x + 10) % 360,
        lambda x: x % 360,
        mean=340.0,
        periods={"heading": 360, "compass": 360},
        **rest,
    )
    straight = NonlinearDynamicalSystem(lambda x: x + 10, lambda x: x, mean=340.0, **rest)
    y = straight.sample(8, seed=3).observations
    for engine in ("extended", "unscented", filters.Particles(samples=2000)):
        for question in ("filter", "smooth"):
            a = getattr(around, question)(y % 360, engine=engine)
            b = getattr(straight, question)(y, engine=engine)
            off = (a.mean - b.mean) / 360
            np.testing.assert_allclose(off, off.round(), atol=1e-9)
            np.testing.assert_allclose(a.covariance, b.covariance, rtol=1e-7)


# --- what functions take, and how they are called ---


def test_functions_take_inputs_times_and_gaps_by_name() -> None:
    A = lambda gap: np.array([[1.0, gap], [0.0, 0.9]])  # noqa: E731
    Q = lambda gap: gap * np.array([[0.2, 0.05], [0.05, 0.1]])  # noqa: E731
    B, D = np.array([[0.5, 0.0], [0.0, 1.0]]), np.array([[1.0, -1.0]])
    rest: dict[str, Any] = {"Q": Q, "R": 0.5, "mean": [0.0, 1.0], "covariance": [1.0, 0.5]}
    lds = pgm.LinearDynamicalSystem(A=A, C=[[1.0, 0.0]], B=B, D=D, **rest)
    nds = NonlinearDynamicalSystem(
        lambda x, u, gap: A(gap) @ x + B @ u,
        lambda x, u: x[0] + (D @ u)[0],
        n_inputs=2,
        **{**rest, "R": [0.5]},
    )
    rng = np.random.default_rng(2)
    y, u, times = rng.normal(size=9), rng.normal(size=(9, 2)), np.cumsum(rng.random(9) + 0.1)
    y[3:5] = np.nan
    more: dict[str, Any] = {"inputs": u, "times": times}
    for engine in ("extended", "unscented"):
        for question in ("filter", "smooth"):
            a, b = getattr(nds, question)(y, engine=engine, **more), getattr(lds, question)(y, **more)
            np.testing.assert_allclose(a.mean, b.mean, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(a.signal.mean, b.signal.mean, rtol=1e-9, atol=1e-9)
            np.testing.assert_array_equal(a.steps, times)
        a, b = nds.forecast(y[:6], 3, engine=engine, **more), lds.forecast(y[:6], 3, **more)
        np.testing.assert_allclose(a.predicted.mean, b.predicted.mean, rtol=1e-9, atol=1e-9)
    found = nds.filter(y, engine=filters.Particles(samples=4000), **more)
    z = (found.mean - lds.filter(y, **more).mean) / found.report.intervals.errors
    assert np.abs(z).max() < 6
    seen: list[float] = []

    def spying(x: np.ndarray, t: float) -> np.ndarray:
        seen.append(t)
        return x

    NonlinearDynamicalSystem(spying, lambda x: x, Q=1.0, R=1.0, mean=0.0, covariance=1.0).score(
        [1.0, 2.0, 3.0], engine="extended", times=None
    )
    assert set(seen) == {0, 1}


@pytest.mark.parametrize("engine", ["extended", "unscented", "particles"])
def test_functions_of_one_state_only_give_the_same(engine: str) -> None:
    def alone(x: np.ndarray) -> list[float]:
        if x[0] > 0:  # refuses arrays
            return [float(x[0] + 0.3 * np.sin(x[1])), float(0.9 * x[1] - 0.2 * x[0] ** 2)]
        return sin_cos(x)  # type: ignore[return-value]

    def length(x: np.ndarray) -> float:  # takes an array, and would give a number of all of it
        return float(np.linalg.norm(x))

    def lengths(x: np.ndarray) -> np.ndarray:
        return np.sqrt((x**2).sum(axis=0))

    rest: dict[str, Any] = {"Q": 0.1, "R": 0.3, "mean": [0.2, -0.3], "covariance": 0.5}
    how: Any = filters.Particles(samples=200, paths=20) if engine == "particles" else engine
    slow = NonlinearDynamicalSystem(alone, length, **rest).smooth([0.5, 0.7, 0.4], engine=how)
    quick = NonlinearDynamicalSystem(sin_cos, lengths, **rest).smooth([0.5, 0.7, 0.4], engine=how)
    np.testing.assert_allclose(slow.mean, quick.mean, rtol=1e-9)
    np.testing.assert_allclose(slow.covariance, quick.covariance, rtol=1e-8)
    if engine == "particles":
        assert "f= and h= are called for one state at a time" in slow.report.advice
        assert "one state" not in quick.report.advice


def test_many_series_are_answered_as_each_by_itself() -> None:
    nds, rng = curved(), np.random.default_rng(3)
    series = [rng.normal(size=(T, 2)) for T in (5, 3, 5, 4)]
    for engine in ("extended", "unscented"):
        for question in ("filter", "smooth"):
            every = getattr(nds, question)(series, engine=engine)
            for one, y in zip(every, series, strict=True):
                alone = getattr(nds, question)(y, engine=engine)
                np.testing.assert_allclose(one.mean, alone.mean, rtol=1e-12, atol=1e-12)
                np.testing.assert_allclose(
                    one.signal.covariance, alone.signal.covariance, rtol=1e-9, atol=1e-12
                )
        scores = nds.score(series, engine=engine, by="sequence")
        assert scores.sum() == pytest.approx(nds.score(series, engine=engine))
    found = nds.filter(series, engine="particles")
    assert not found.exact
    assert found[0] == nds.filter(series[0], engine="particles")


# --- streams ---


@pytest.mark.parametrize(
    "engine", [filters.Extended(), filters.Unscented(), filters.Particles(samples=500)], ids=str
)
@pytest.mark.parametrize("chunk", [1, 4])
def test_a_stream_has_the_bits_of_the_batch(engine: filters.Filter, chunk: int) -> None:
    nds = curved()
    whole, stream = nds.filter(SEEN, engine=engine), nds.stream(engine=engine)
    parts = [stream.push(SEEN[t : t + chunk]) for t in range(0, len(SEEN), chunk)]
    for what in ("mean", "covariance", "step_scores", "steps", "predicted_mean"):
        np.testing.assert_array_equal(np.concatenate([getattr(p, what) for p in parts]), getattr(whole, what))
    assert stream.log_likelihood == pytest.approx(whole.log_likelihood)
    assert len(stream) == len(SEEN)
    ahead = nds.forecast(SEEN, steps=3, engine=engine)
    np.testing.assert_array_equal(stream.forecast(3).mean, ahead.mean)
    np.testing.assert_allclose(stream.forecast(3).predicted.covariance, ahead.predicted.covariance)
    for other in (stream.copy(), copy.deepcopy(stream), pickle.loads(pickle.dumps(stream))):
        a = other.push([0.1, 0.2]).mean
        np.testing.assert_array_equal(a, stream.copy().push([0.1, 0.2]).mean)
    assert len(stream) == len(SEEN)


def test_a_stream_that_raises_is_as_it_was() -> None:
    stream = curved().stream(engine=filters.Particles(samples=200))
    stream.push(SEEN[:2])
    before = stream.copy()
    with pytest.raises(pgm.InvalidArgument, match="2 values"):
        stream.push([[1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(stream.push(SEEN[2]).mean, before.push(SEEN[2]).mean)


# --- samples, values, text ---


def test_samples_follow_the_functions() -> None:
    nds = growth()
    drawn = nds.sample(4, sequences=4000, seed=0)
    x = np.array([one.states[:, 0] for one in drawn])
    y = np.array([one.observations for one in drawn])
    assert x[:, 0].std() == pytest.approx(np.sqrt(5), rel=0.05)
    noise = x[:, 1:] - (x[:, :-1] / 2 + 25 * x[:, :-1] / (1 + x[:, :-1] ** 2))
    assert noise.std() == pytest.approx(np.sqrt(10), rel=0.03)
    assert (y - x**2 / 20).std() == pytest.approx(1.0, rel=0.03)
    assert nds.sample(3, seed=1).states.tolist() == nds.sample(3, seed=1).states.tolist()


@pytest.mark.parametrize("engine", ["extended", "unscented", "particles"])
def test_answers_are_values(engine: str) -> None:
    nds = curved()
    for question in ("filter", "smooth", "forecast"):
        found = getattr(nds, question)(SEEN, engine=engine)
        again = pickle.loads(pickle.dumps(found))
        assert again == found
        np.testing.assert_array_equal(again.signal.mean, found.signal.mean)
        assert f"APPROXIMATE ({engine})" in repr(found)
        assert found.to_pandas().shape[1] == 4
        with pytest.raises(ValueError, match="read-only"):
            found.mean[0] = 1.0
        found.plot()
    ends = nds.smooth(SEEN, engine="particles")
    low = ends.interval(0.9).low
    assert np.quantile(ends.paths, 0.05, axis=0) == pytest.approx(low)


def test_a_system_is_a_value() -> None:
    nds = curved()
    assert nds == curved()
    assert nds != curved(R=1.0)
    assert pickle.loads(pickle.dumps(nds)) == nds
    with pytest.raises(AttributeError, match="does not change"):
        nds.Q = 1.0  # type: ignore[misc]
    assert repr(nds).splitlines()[1].split() == ["f", "sin_cos"]


WRONG: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: curved().filter(SEEN),
        'no exact answer, and nothing is approximated unasked: choose engine=, one of "extended"',
    ),
    (lambda: curved().filter(SEEN, engine="auto"), "no exact answer"),
    (lambda: curved().filter(SEEN, engine="ukf"), "engine='ukf' is not one of"),
    (lambda: curved().filter(SEEN, engine="unscneted"), "Did you mean 'unscented'?"),
    (lambda: curved().filter(SEEN, engine=filters.Particles), r"write pgm.filters.Particles\(\)"),
    (lambda: filters.Particles(samples=1001), "samples is a multiple of the 10 groups"),
    (lambda: filters.Particles(samples=5), "samples is a whole number of at least 10, not 5"),
    (lambda: filters.Unscented(alpha=0.0), "alpha is a number of at least 1e-06"),
    (
        lambda: curved().filter(SEEN, engine=filters.Unscented(kappa=-2.0)),
        "put the sigma points of 2 variables nowhere",
    ),
    (
        lambda: NonlinearDynamicalSystem([[1.0]], bent, 1, 1, 0, 1),
        "f= is a function of the state.*LinearDynamical",
    ),
    (
        lambda: NonlinearDynamicalSystem(lambda x, z: x, bent, 1, 1, 0, 1),
        "f= has a parameter 'z': it takes the state",
    ),
    (lambda: NonlinearDynamicalSystem(lambda x: x, lambda x, gap: x, 1, 1, 0, 1), "h= has a parameter 'gap'"),
    (lambda: curved(mean=[1.0, 2.0, 3.0]), "covariance= is 2 x 2, but should be 3 x 3"),
    (lambda: curved(covariance="diffuse"), "covariance= takes numbers"),
    (lambda: curved(Q=[[1.0, 2.0], [2.0, 1.0]]), "negative eigenvalue"),
    (lambda: curved(periods={"y2": 1.0}), "periods= names 'y2'; there are 'x0', 'x1', 'y0', 'y1'"),
    (lambda: curved(periods={"y0": -1.0}), "periods= of 'y0' is a positive number"),
    (lambda: curved(n_inputs=2), "n_inputs= has no effect"),
    (lambda: curved().filter(SEEN, engine="extended", inputs=[1.0] * 6), "neither u in f= nor u in h="),
    (
        lambda: curved().filter(SEEN, engine="extended", times=range(6)),
        "neither f= nor Q= is a function of the gap",
    ),
    (lambda: curved(F=lambda x: [1.0]).filter(SEEN, engine="extended"), "F= gives no matrix of 2 x 2"),
    (lambda: curved(R=[[1.0, 1.0], [1.0, 1.0]]).filter(SEEN, engine="particles"), "R= is singular"),
    (
        lambda: curved(Q=[1.0, 0.0]).smooth(SEEN, engine="particles"),
        "Q= is singular: no particle leads exactly",
    ),
    (
        lambda: NonlinearDynamicalSystem(lambda x: [x[0], x[0]], lambda x: x, 1, 1, 0, 1).score(
            [1, 2], engine="extended"
        ),
        "f= gives 2 numbers at step 0, and a state has 1",
    ),
    (
        lambda: NonlinearDynamicalSystem(lambda x: x, lambda x: np.log(x), 1, 1, 0, 1).score(
            [1, 2], engine="particles"
        ),
        "h= gives .* at step 0 for the state",
    ),
    (
        lambda: NonlinearDynamicalSystem(lambda x: "up", lambda x: x, 1, 1, 0, 1).score(
            [1, 2], engine="extended"
        ),
        "f= gives 'up' at step 0, and should give numbers",
    ),
    (lambda: pgm.write(curved(), io.StringIO(), format="json"), "made of functions, which no file holds"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "said"), WRONG)
def test_mistakes_are_answered_in_the_users_words(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(pgm.InvalidArgument, match=said):
        call()


@pytest.mark.parametrize("engine", ["extended", "unscented", "particles"])
def test_a_filter_that_leaves_all_numbers_says_so(engine: str) -> None:
    cubes = NonlinearDynamicalSystem(lambda x: x**3, lambda x: x, Q=1.0, R=1e9, mean=10.0, covariance=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(
            pgm.InvalidArgument, match=r"leaves the range of floating-point numbers at step \d|f= gives"
        ):
            cubes.filter([None] * 9, engine=engine)


def test_the_tangents_of_a_symmetric_start_lose_the_system() -> None:
    """At zero the growth model is steepest, and its square shows nothing: the variance grows without end."""
    y = np.array(growth().sample(400, seed=0).observations)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(pgm.InvalidArgument, match="the filter has lost it"):
            growth().filter(y, engine="extended")


def test_a_function_may_spoil_the_array_that_it_gets() -> None:
    def spoils(x: np.ndarray) -> np.ndarray:
        x *= 0.5
        return x

    rest: dict[str, Any] = {"Q": 1.0, "R": 1.0, "mean": 1.0, "covariance": 1.0}
    for engine in ("extended", "unscented", filters.Particles(samples=500)):
        a = NonlinearDynamicalSystem(spoils, lambda x: x, **rest).smooth([1.0, 2.0, 0.5], engine=engine)
        b = NonlinearDynamicalSystem(lambda x: x * 0.5, lambda x: x, **rest).smooth(
            [1.0, 2.0, 0.5], engine=engine
        )
        assert a == b


def test_an_observation_without_noise_has_no_density_where_it_is_known() -> None:
    nds = NonlinearDynamicalSystem(
        lambda x: x, lambda x: [x[0], x[0]], Q=1.0, R=[0.0, 0.0], mean=0.0, covariance=1.0
    )
    with pytest.raises(pgm.ImpossibleEvidence, match="has no noise"):
        nds.score([[1.0, 1.0]], engine="unscented")


def test_too_many_particles_to_keep_are_refused() -> None:
    with pgm.config(memory_limit="1 MB"), pytest.raises(pgm.TooLarge, match="keeps all particles to smooth"):
        growth().smooth([1.0] * 100, engine="particles")


def test_the_time_limit_holds() -> None:
    with pgm.config(time_limit=0.05), pytest.raises(pgm.OutOfTime):
        growth().filter(np.ones(100_000), engine="particles")
