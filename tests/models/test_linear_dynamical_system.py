"""Linear dynamical systems as users ask them: numbers as of other programs, errors in the user's words."""

from __future__ import annotations

import pickle
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import pgm
from pgm import LinearDynamicalSystem
from tests.linear_oracle import Linear

Y = [1.0, 0.5, -0.3, 1.2, 2.0]
RNG = np.random.default_rng(7)


def scalar(**changes: Any) -> LinearDynamicalSystem:
    given: dict[str, Any] = {"A": 0.9, "C": 1.0, "Q": 0.5, "R": 0.8, "mean": 0.0, "covariance": 1.0}
    return LinearDynamicalSystem(**{**given, **changes})


def plane(**changes: Any) -> LinearDynamicalSystem:
    given: dict[str, Any] = {
        "A": [[0.8, 0.3], [-0.2, 0.7]],
        "C": [[1.0, 0.0], [0.5, 1.0], [0.2, -1.0]],
        "Q": [[0.5, 0.1], [0.1, 0.3]],
        "R": [[0.5, 0.1, 0.0], [0.1, 0.4, 0.1], [0.0, 0.1, 0.6]],
    }
    return LinearDynamicalSystem(**{**given, **changes})


def gappy(T: int, m: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(T, m))
    y[rng.random(y.shape) < 0.2] = np.nan
    y[T // 2] = np.nan
    return y


def truth(
    lds: LinearDynamicalSystem, T: int, u: np.ndarray | None = None, gaps: np.ndarray | None = None
) -> Linear:
    """The same system, written out for the oracle."""
    n, m = len(lds.states), len(lds.observations)

    def each(value: Any, size: int) -> list[np.ndarray]:
        if callable(value):
            assert gaps is not None
            return [*(np.asarray(value(float(gap)), float).reshape(n, n) for gap in gaps), np.eye(n)]
        return list(value[:size]) if value.ndim == 3 else [value] * size

    wide = np.isinf(np.diagonal(lds.covariance))
    push = np.zeros((T, n)) + (0 if lds.b is None else lds.b)
    shift = np.zeros((T, m)) + (0 if lds.d is None else lds.d)
    if u is not None:
        push = push + (0 if lds.B is None else u @ lds.B.T)
        shift = shift + (0 if lds.D is None else u @ lds.D.T)
    start = np.where(np.isinf(lds.covariance), 0.0, lds.covariance)
    parts = (each(lds.A, T), each(lds.Q, T), each(lds.C, T), each(lds.R, T))
    return Linear(*parts, lds.mean, start, list(push), list(shift), wide)


def same_as_oracle(lds: LinearDynamicalSystem, y: np.ndarray, oracle: Linear, **given: Any) -> None:
    number = Decimal if oracle.diffuse.any() else float
    all_of_it = oracle.given(y, number=number)
    seen = y[:, 0] if y.shape[1] == 1 else y
    filtered, smoothed = lds.filter(seen, **given), lds.smooth(seen, **given)
    assert lds.score(seen, **given) == pytest.approx(all_of_it.log, rel=1e-9)
    assert smoothed.mean == pytest.approx(all_of_it.mean, rel=1e-8, abs=1e-9)
    for t in range(len(y)):
        assert smoothed.covariance[t] == pytest.approx(all_of_it.covariance(t), rel=1e-8, abs=1e-9)
    assert filtered.mean[-1] == pytest.approx(all_of_it.mean[-1], rel=1e-8, abs=1e-9)


# --- numbers ---


def test_several_numbers_with_gaps() -> None:
    lds, y = plane(), gappy(8, 3)
    same_as_oracle(lds, y, truth(lds, 8))


def test_inputs_and_constants() -> None:
    lds = plane(B=[[1.0], [0.5]], D=[0.2, 0.0, -1.0], b=[0.1, -0.2], d=[1.0, 2.0, 3.0])
    u, y = RNG.normal(size=8), gappy(8, 3)
    same_as_oracle(lds, y, truth(lds, 8, u[:, None]), inputs=u)
    lds = scalar(B=[[1.0, -2.0]], D=[[0.5, 0.0]], d=1.0)
    u = RNG.normal(size=(6, 2))
    same_as_oracle(lds, gappy(6, 1), truth(lds, 6, u), inputs=u)


def test_matrices_that_change() -> None:
    T = 7
    A, C = RNG.normal(size=(T - 1, 2, 2)), RNG.normal(size=(T, 3, 2))
    Q = np.array([np.diag(row) for row in RNG.random((T - 1, 2))])
    R = np.array([np.diag(row) for row in RNG.random((T, 3))])
    lds = plane(A=A, C=C, Q=Q, R=R, mean=[1.0, 2.0], covariance=np.eye(2))
    padded = plane(A=[*A, np.eye(2)], C=C, Q=[*Q, np.eye(2)], R=R, mean=[1.0, 2.0], covariance=np.eye(2))
    same_as_oracle(lds, gappy(T, 3), truth(padded, T))
    only_R = plane(R=R, mean=[1.0, 2.0], covariance=np.eye(2))
    same_as_oracle(only_R, gappy(T, 3), truth(only_R, T))


def test_irregular_times() -> None:
    """A random walk with a slope in continuous time, which does not depend on where one looks in between."""
    lds = LinearDynamicalSystem(
        A=lambda gap: [[1.0, gap], [0.0, 1.0]],
        C=[1.0, 0.0],
        Q=lambda gap: [[gap**3 / 3, gap**2 / 2], [gap**2 / 2, gap]],
        R=0.3,
        covariance="diffuse",
    )
    times = np.array([0.0, 0.5, 2.0, 2.5, 4.0, 7.0])
    y = RNG.normal(size=(6, 1))
    same_as_oracle(lds, y, truth(lds, 6, gaps=np.diff(times)), times=times)
    more = np.insert(times, 3, 2.2)
    gap = np.insert(y[:, 0], 3, np.nan)
    assert lds.score(gap, times=more) == pytest.approx(lds.score(y[:, 0], times=times), rel=1e-12)
    found = lds.forecast(y[:, 0], 2, times=[*times, 8.0, 9.5])
    assert found.steps.tolist() == [8.0, 9.5]
    both = lds.filter([*y[:, 0], None, None], times=[*times, 8.0, 9.5])
    assert np.array_equal(found.mean, both.mean[-2:])
    assert np.array_equal(found.covariance, both.covariance[-2:])


@pytest.mark.parametrize("covariance", ["diffuse", [np.inf, 1.0], [1.0, np.inf]])
def test_diffuse_starts(covariance: Any) -> None:
    lds, y = plane(covariance=covariance), gappy(6, 3, seed=1)
    same_as_oracle(lds, y, truth(lds, 6))


def test_a_stationary_start_is_that_of_a_long_past() -> None:
    lds = plane(b=[0.3, 0.1])
    mean, covariance = np.zeros(2), np.zeros((2, 2))
    for _ in range(2000):
        mean, covariance = lds.A @ mean + lds.b, lds.A @ covariance @ lds.A.T + lds.Q
    assert lds.mean == pytest.approx(mean)
    assert lds.covariance == pytest.approx(covariance)
    assert plane(mean="stationary", covariance="stationary", b=[0.3, 0.1]) == lds


statsmodels = pytest.importorskip("statsmodels.tsa.statespace.kalman_smoother", reason="a peer")


def of_statsmodels(lds: LinearDynamicalSystem, y: np.ndarray, diffuse: bool = False) -> Any:
    n, m = len(lds.states), len(lds.observations)
    peer = statsmodels.KalmanSmoother(k_endog=m, k_states=n, k_posdef=n)
    peer.bind(np.ascontiguousarray(y.reshape(-1, m)))
    for name, value in (("transition", lds.A), ("design", lds.C), ("state_cov", lds.Q), ("obs_cov", lds.R)):
        peer[name] = value
    peer["selection"] = np.eye(n)
    if diffuse:
        peer.initialize_diffuse()
    else:
        peer.initialize_known(lds.mean, lds.covariance)
    return peer.smooth()


@pytest.mark.parametrize("gaps", [False, True])
def test_statsmodels_has_the_same_numbers(gaps: bool) -> None:
    lds = plane()
    y = gappy(300, 3) if gaps else np.random.default_rng(1).normal(size=(300, 3))
    peer, filtered, smoothed = of_statsmodels(lds, y), lds.filter(y), lds.smooth(y)
    assert lds.score(y) == pytest.approx(peer.llf, rel=1e-9)
    assert filtered.mean == pytest.approx(peer.filtered_state.T, abs=1e-9)
    assert filtered.covariance == pytest.approx(peer.filtered_state_cov.transpose(2, 0, 1), abs=1e-9)
    assert filtered.predicted_mean == pytest.approx(peer.predicted_state.T[:-1], abs=1e-9)
    assert smoothed.mean == pytest.approx(peer.smoothed_state.T, abs=1e-9)
    assert smoothed.covariance == pytest.approx(peer.smoothed_state_cov.transpose(2, 0, 1), abs=1e-9)
    ahead = peer.smoothed_state_autocov.transpose(2, 1, 0)[:-1]  # of the next with each
    assert smoothed.lag_one_covariance == pytest.approx(ahead, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_statsmodels_has_the_same_numbers_of_random_systems(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    A = rng.normal(size=(n, n))
    A *= 0.95 / np.abs(np.linalg.eigvals(A)).max()
    root, noise = rng.normal(size=(n, n)), rng.normal(size=(m, m))
    lds = LinearDynamicalSystem(
        A, rng.normal(size=(m, n)), root @ root.T, noise @ noise.T + 0.1 * np.eye(m), rng.normal(size=n), 2.0
    )
    y = gappy(80, m, seed)
    peer, filtered, smoothed = of_statsmodels(lds, y), lds.filter(y), lds.smooth(y)
    assert lds.score(y) == pytest.approx(peer.llf, rel=1e-9)
    assert filtered.mean == pytest.approx(peer.filtered_state.T, abs=1e-8)
    assert smoothed.mean == pytest.approx(peer.smoothed_state.T, abs=1e-8)
    assert smoothed.covariance == pytest.approx(peer.smoothed_state_cov.transpose(2, 0, 1), abs=1e-8)


def test_statsmodels_has_the_same_diffuse_likelihood() -> None:
    lds = plane(R=np.diag([0.5, 0.4, 0.6]), covariance="diffuse")
    y = np.random.default_rng(1).normal(size=(50, 3)).cumsum(axis=0)
    peer = of_statsmodels(lds, y, diffuse=True)
    assert lds.score(y) == pytest.approx(peer.llf, rel=1e-9)
    assert lds.smooth(y).mean == pytest.approx(peer.smoothed_state.T, abs=1e-8)


# --- rounding ---


def stiff(seed: int) -> tuple[LinearDynamicalSystem, np.ndarray]:
    """Covariances whose eigenvalues reach from 1e-6 to 1e6, in turned coordinates."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    Q = turn @ np.diag([1e6, 1.0, 1e-3, 1e-6]) @ turn.T
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    A = 0.95 * turn
    C = rng.normal(size=(2, 4))
    Q, R = (Q + Q.T) / 2, np.diag([1e-6, 1e6])
    lds = LinearDynamicalSystem(A=A, C=C, Q=Q, R=R, mean=np.zeros(4), covariance=Q)
    y = lds.sample(400, seed=seed).observations.copy()
    y[rng.random(y.shape) < 0.1] = np.nan
    return lds, y


@pytest.mark.parametrize("seed", range(10))
def test_covariances_stay_symmetric_and_positive_definite(seed: int) -> None:
    lds, y = stiff(seed)
    filtered, smoothed = lds.filter(y), lds.smooth(y)
    assert np.linalg.cond(lds.Q) > 0.9e12
    for found in (filtered.covariance, filtered.predicted_covariance, smoothed.covariance):
        assert np.array_equal(found, found.transpose(0, 2, 1))
        assert np.linalg.eigvalsh(found)[:, 0].min() > 0
        np.linalg.cholesky(found)


def test_an_observation_a_million_times_more_exact_than_what_was_known() -> None:
    """Joseph's example: the plain update loses all digits of the variance."""
    start = {"mean": [0, 0], "covariance": np.eye(2)}
    lds = LinearDynamicalSystem(A=np.eye(2), C=[[1.0, 1.0]], Q=0.0, R=1e-16, **start)
    found = lds.filter([1.0]).covariance[0]
    assert found[0, 0] == pytest.approx(0.5, rel=1e-12)
    assert found.sum() == pytest.approx(1e-16, rel=2.0, abs=3e-16)
    assert np.linalg.eigvalsh(found)[0] > -1e-17


def test_the_steady_state_changes_no_digit() -> None:
    """Matrices that are given for each step, a bit apart in ones nobody uses, have no slots to share."""
    lds, T = plane(), 3000
    y = np.random.default_rng(3).normal(size=(T, 3))
    each = {"A": np.tile(lds.A, (T, 1, 1)), "Q": np.tile(lds.Q, (T, 1, 1))}
    apart = plane(**each, mean=lds.mean, covariance=lds.covariance)
    for found, other in ((lds.filter(y), apart.filter(y)), (lds.smooth(y), apart.smooth(y))):
        assert np.array_equal(found.mean, other.mean)
        assert np.array_equal(found.covariance, other.covariance)
    assert lds.score(y) == apart.score(y)


def test_a_hundred_thousand_steps_lose_nothing() -> None:
    """The log density in long double, for a system whose filter is a recursion of one number."""
    lds = scalar()
    y = lds.sample(100_000, seed=1).observations
    mean, variance, log = np.longdouble(0), np.longdouble(1), np.longdouble(0)
    a, q, r = np.longdouble(0.9), np.longdouble(0.5), np.longdouble(0.8)
    for value in y.astype(np.longdouble):
        f, off = variance + r, value - mean
        log -= (np.log(2 * np.longdouble(np.pi) * f) + off * off / f) / 2
        mean, variance = a * (mean + variance / f * off), a * a * (variance - variance**2 / f) + q
    assert lds.score(y) == pytest.approx(float(log), rel=1e-12)


def test_what_has_no_noise() -> None:
    lds = LinearDynamicalSystem(A=1.0, C=1.0, Q=0.0, R=0.0, mean=0.0, covariance=4.0)
    found = lds.smooth([2.0, 2.0, None])
    assert found.mean[:, 0].tolist() == [2.0, 2.0, 2.0]
    assert found.covariance[:, 0, 0].tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(pgm.ImpossibleEvidence, match=r"step 1 .*probability is zero.*R="):
        lds.score([2.0, 2.1])
    walk = LinearDynamicalSystem(A=1.0, C=1.0, Q=0.5, R=0.0, covariance="diffuse")
    assert walk.filter([1.0, 3.0]).mean[:, 0] == pytest.approx([1.0, 3.0])
    assert walk.score([1.0, 3.0]) == pytest.approx(-0.5 * np.log(2 * np.pi) * 2 - 0.5 * np.log(0.5) - 4.0)


def test_a_diffuse_start_that_is_never_observed() -> None:
    lds = LinearDynamicalSystem(
        A=np.eye(2), C=[[1.0, 0.0]], Q=[0.1, 0.1], R=0.5, covariance="diffuse", states=["seen", "unseen"]
    )
    found = lds.smooth([1.0, 2.0, 1.5])
    assert np.isfinite(found.std[:, 0]).all()
    assert np.isinf(found.std[:, 1]).all()
    assert np.isfinite(found.signal.std).all()
    one = LinearDynamicalSystem(A=1.0, C=1.0, Q=0.1, R=0.5, covariance="diffuse")
    assert lds.score([1.0, 2.0, 1.5]) == pytest.approx(one.score([1.0, 2.0, 1.5]))


def test_a_sum_may_be_known_where_its_parts_are_not() -> None:
    """After one observation of level + season neither is known, and what will be observed is."""
    lds = LinearDynamicalSystem(A=np.eye(2), C=[[1.0, 2.0]], Q=[0.1, 0.2], R=0.5, covariance="diffuse")
    found = lds.filter([3.0])
    assert np.isinf(found.std).all()
    assert found.covariance[0, 0, 1] == -np.inf
    assert found.signal.mean[0, 0] == pytest.approx(3.0)
    assert found.signal.covariance[0, 0, 0] == pytest.approx(0.5)


# --- many series ---


def test_many_series_are_asked_at_once() -> None:
    lds = plane()
    data = np.random.default_rng(2).normal(size=(5, 20, 3))
    data[2, 3, 1] = np.nan
    together = lds.smooth(data)
    for one, y in zip(together, data, strict=True):
        alone = lds.smooth(y)
        assert alone == one
        assert alone.log_likelihood == one.log_likelihood
    assert lds.score(data) == pytest.approx(sum(lds.score(y) for y in data))
    assert lds.score(data, by="sequence").tolist() == [lds.score(y) for y in data]
    assert [one.tolist() for one in lds.score(data, by="step")] == [
        lds.filter(y).step_scores.tolist() for y in data
    ]
    ragged = [data[0], data[1][:7], data[2][:1]]
    assert [len(found) for found in lds.filter(ragged)] == [20, 7, 1]
    assert lds.filter(ragged)[1] == lds.filter(data[1][:7])
    below = lds.filter(np.concatenate(ragged), lengths=[20, 7, 1])
    assert below == lds.filter(ragged)
    assert [len(found) for found in lds.forecast(ragged, 3)] == [3, 3, 3]


def test_frames() -> None:
    lds = scalar()
    frame = pd.DataFrame({"day": [0, 1, 0, 1], "y": [1.0, 2.0, 0.5, None]})
    expected = [scalar().filter([1.0, 0.5]), scalar().filter([2.0, None])]
    assert list(lds.filter(frame, sequence="day")) == expected
    assert list(lds.filter(pl.from_pandas(frame), sequence="day")) == expected
    assert lds.filter(pd.Series(Y)) == lds.filter(Y)
    wide = pd.DataFrame(gappy(6, 3), columns=["a", "b", "c"])
    assert plane().filter(wide) == plane().filter(wide.to_numpy())


# --- drawing ---


def test_samples_have_the_moments_of_the_system() -> None:
    lds = plane(b=[0.5, 0.0], d=[1.0, 0.0, 0.0])
    drawn = lds.sample(60_000, seed=5)
    x, y = drawn.states, drawn.observations
    assert x.mean(axis=0) == pytest.approx(lds.mean, abs=0.05)
    assert np.cov(x.T) == pytest.approx(lds.covariance, abs=0.06)
    assert (y - x @ lds.C.T).mean(axis=0) == pytest.approx([1.0, 0.0, 0.0], abs=0.02)
    assert np.cov((y - x @ lds.C.T).T) == pytest.approx(lds.R, abs=0.02)
    off = x[1:] - x[:-1] @ lds.A.T - lds.b
    assert np.cov(off.T) == pytest.approx(lds.Q, abs=0.02)
    again = lds.sample(60_000, seed=5)
    assert np.array_equal(again.observations, y)


def test_several_series_are_drawn_apart() -> None:
    lds = plane(b=[0.5, 0.0])
    many = lds.sample(2, sequences=40_000, seed=6)
    assert len(many) == 40_000
    x = np.array([one.states for one in many])
    assert x[:, 0].mean(axis=0) == pytest.approx(lds.mean, abs=0.05)
    assert np.cov(x[:, 1].T) == pytest.approx(lds.covariance, abs=0.06)
    assert np.corrcoef(x[::2, 0, 0], x[1::2, 0, 0])[0, 1] == pytest.approx(0.0, abs=0.03)
    assert np.array_equal(lds.sample(5, seed=1).states, lds.sample(5, sequences=1, seed=1)[0].states)


def test_what_is_drawn_prints_and_goes_elsewhere() -> None:
    drawn = plane().sample(30, seed=2)
    assert str(drawn).splitlines()[0].split() == ["step", "x0", "x1", "y0", "y1", "y2"]
    frame = drawn.to_pandas()
    assert list(frame.columns) == ["x0", "x1", "y0", "y1", "y2"]
    assert np.array_equal(frame[["y0", "y1", "y2"]].to_numpy(), drawn.observations)
    assert drawn.to_dict() == {"states": drawn.states.tolist(), "observations": drawn.observations.tolist()}
    again = pickle.loads(pickle.dumps(drawn))
    assert np.array_equal(again.states, drawn.states)
    assert str(again) == str(drawn)
    with pytest.raises(ValueError, match="read-only"):
        drawn.states[0] = 1.0
    axes = drawn.plot()
    assert [line.get_label() for line in axes.get_lines()] == ["x0", "x1", "y0", "y1", "y2"]
    assert np.array_equal(axes.get_lines()[0].get_ydata(), drawn.states[:, 0])
    several = plane().sample(3, sequences=2, seed=2)
    assert several.to_pandas().shape == (6, 5)
    assert str(several).splitlines()[0].split() == ["sequence", "steps"]


def test_what_is_drawn_at_times_has_these_times() -> None:
    walk = scalar(A=lambda gap: 1.0, Q=lambda gap: gap, states="place", observations="place")
    drawn = walk.sample(3, times=[0.0, 0.5, 4.0], seed=1)
    frame = drawn.to_pandas()
    assert frame.index.tolist() == [0.0, 0.5, 4.0]
    assert list(frame.columns) == ["place", "place observed"]
    assert drawn.plot().get_xlabel() == "time"


# --- results ---


def test_results_are_values() -> None:
    lds, y = plane(states=["a", "b"], observations=["u", "v", "w"]), gappy(30, 3)
    for found in (lds.filter(y), lds.smooth(y), lds.forecast(y, 4), lds.forecast(y, 4).predicted):
        assert pickle.loads(pickle.dumps(found)) == found
        assert found.exact
        assert found.engine == "kalman"
        assert "step" in repr(found)
        assert "<table" in found._repr_html_()
        assert len(repr(found).splitlines()) < 26
        with pytest.raises(AttributeError, match="does not change"):
            found.mean = 1
        with pytest.raises(ValueError, match="read-only"):
            found.mean[0] = 1
        with pytest.raises(ValueError, match="read-only"):
            found.covariance[0] = 1
        frame = found.to_pandas()
        assert frame.index.tolist() == found.steps.tolist()
        assert frame.iloc[:, 0].to_numpy() == pytest.approx(found.mean[:, 0])
        assert found.to_dict()["mean"][found.names[0]] == found.mean[:, 0].tolist()
        interval = found.interval(0.9)
        assert interval.high - found.mean == pytest.approx(1.6448536269514722 * found.std)
    assert lds.filter(y).names == ("a", "b")
    assert lds.filter(y).signal.names == ("u", "v", "w")
    assert lds.filter(y).marginal("b").mean[:, 0] == pytest.approx(lds.filter(y).mean[:, 1])
    assert pickle.loads(pickle.dumps(lds)) == lds


def test_each_steps_share_adds_up() -> None:
    lds, y = plane(), gappy(30, 3)
    shares = lds.filter(y).step_scores
    assert shares.sum() == pytest.approx(lds.score(y))
    assert shares[:10].sum() == pytest.approx(lds.score(y[:10]))
    wide = plane(covariance="diffuse")
    assert wide.filter(y).step_scores[:10].sum() == pytest.approx(wide.score(y[:10]))


def test_the_system_prints() -> None:
    assert repr(scalar()).splitlines() == [
        "Linear dynamical system  1 state, 1 observed",
        "A                        0.9",
        "C                        1",
        "Q                        0.5",
        "R                        0.8",
        "mean                     0",
        "covariance               1",
        "start: given",
    ]


@pytest.mark.parametrize("names", [None, "y1", ["y0", "x1"]])
def test_pictures(names: Any) -> None:
    lds, y = plane(), gappy(30, 3)
    for found in (lds.filter(y), lds.smooth(y), lds.forecast(y, 5)):
        ax = found.plot(names=names)
        assert ax.get_xlabel() == "step"
    ax = lds.filter(y).plot(names="y0")
    lds.smooth(y).plot(ax=ax, names="y0")
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["y0, observed", "y0, filtered", "y0, smoothed"]
    with pytest.raises(pgm.UnknownVariable, match="'z'"):
        lds.filter(y).plot(names="z")


# --- networks ---


def test_a_network_has_the_same_numbers() -> None:
    T = 5
    lds = plane(b=[0.3, -0.1], d=[1.0, 0.0, 2.0])
    y = gappy(T, 3)
    net, smoothed = lds.to_network(T), lds.smooth(y)
    seen = {f"y{i}[{t}]": y[t, i] for t in range(T) for i in range(3) if not np.isnan(y[t, i])}
    assert net.log_probability(seen) == pytest.approx(lds.score(y), rel=1e-9)
    for t in range(T):
        p = net.query([f"x0[{t}]", f"x1[{t}]"], seen)
        assert p.mean == pytest.approx(smoothed.mean[t], abs=1e-8)
        assert p.covariance == pytest.approx(smoothed.covariance[t], abs=1e-8)


def test_a_network_of_singular_noise() -> None:
    lds = LinearDynamicalSystem(
        A=[[0.5, 0.2], [1.0, 0.0]], C=[[1.0, 0.0]], Q=[[1.0, 0.0], [0.0, 0.0]], R=0.1
    )  # an autoregression of order two
    y = [0.3, -0.2, 1.0]
    net = lds.to_network(3)
    seen = {f"y[{t}]": value for t, value in enumerate(y)}
    assert net.log_probability(seen) == pytest.approx(lds.score(y), rel=1e-9)
    assert net.query("x1[2]", seen).mean == pytest.approx(lds.smooth(y).mean[2, 1], abs=1e-8)


# --- mistakes ---


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"Q": -0.5}, r"Q= has a negative variance: \[0, 0\] is -0.5"),
        ({"R": float("nan")}, r"R= is nan: parameters are finite numbers"),
        ({"A": [[0.9, 0.1]]}, r"A= is 1 x 2"),
        ({"C": [[1.0, 2.0]]}, r"C= is 1 x 2, but should be any x 1"),
        ({"mean": [1.0, 2.0]}, r"mean= has shape \(2,\), but should have 1 value:"),
        ({"covariance": "wide"}, r"covariance= takes numbers or 'stationary' or 'diffuse', not 'wide'"),
        (
            {"A": 1.0, "mean": None, "covariance": None},
            r"eigenvalue of size 1, so there is no stat",
        ),
        ({"A": "0.9"}, r"A= takes numbers, not '0.9'"),
        ({"states": ["a", "b"]}, r"states= takes 1 different name"),
        ({"C": lambda gap: gap}, r"C= and R= are matrices"),
        ({"B": 1.0, "D": [[1.0, 2.0]]}, r"B= and D= take 1 and 2 inputs"),
    ],
)
def test_bad_parameters(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(pgm.InvalidArgument, match=words):
        scalar(**changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"Q": [[1.0, 0.2], [0.3, 1.0]]}, r"Q= is not symmetric.*\[0, 1\] is 0.2, \[1, 0\] is 0.3"),
        ({"R": [[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]}, r"R= has a negative eigenvalue, -1"),
        ({"R": [0.5, -0.4, 0.6]}, r"R= has a negative variance: \[1, 1\] is -0.4"),
        ({"R": np.eye(2)}, r"R= is 2 x 2, but should be 3 x 3: an observation has 3 dimensions"),
        ({"A": [[0.9, np.nan], [0.0, 0.5]]}, r"A\[0, 1\] is nan"),
        ({"covariance": [[1.0, np.inf], [np.inf, 1.0]]}, r"only variances may be"),
    ],
)
def test_bad_matrices(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(pgm.InvalidArgument, match=words):
        plane(**changes)


@pytest.mark.parametrize(
    ("lds", "y", "given", "words"),
    [
        (scalar(), [], {}, r"empty"),
        (scalar(), [[]], {}, r"empty"),
        (scalar(), [1.0, "a"], {}, r"[Ss]tep 1.*'a' is not a finite number"),
        (scalar(), [1.0, np.inf], {}, r"[Ss]tep 1.*not a finite number"),
        (plane(), np.zeros((4, 2)), {}, r"An observation has 3 values; these have 2 columns"),
        (plane(), [[1.0, 2.0, 3.0], [1.0, 2.0]], {}, r"Step 1.*3 values, not 2"),
        (scalar(), Y, {"inputs": Y}, r"inputs= has no effect"),
        (scalar(B=1.0), Y, {}, r"give inputs="),
        (scalar(B=1.0), Y, {"inputs": Y[:3]}, r"inputs= has 3 rows, but there are 5 steps"),
        (scalar(B=1.0), Y, {"inputs": [1.0, None, 1.0, 1.0, 1.0]}, r"inputs= of step 1 .*missing"),
        (scalar(B=1.0), [Y, Y], {"inputs": [Y]}, r"inputs= has 1 series, but there are 2 of observations"),
        (scalar(), Y, {"times": Y}, r"times= has no effect"),
        (scalar(A=lambda gap: gap), Y, {}, r"give times="),
        (scalar(A=lambda gap: gap), Y, {"times": [0, 1, 1, 2, 3]}, r"step 1 is at 1, step 2 at 1"),
        (scalar(A=lambda gap: gap), Y, {"times": [0, 1]}, r"times= has 2 values, but there are 5 steps"),
        (scalar(A=lambda gap: [1, 2, 3]), Y, {"times": range(5)}, r"A\(1\)= is 1 x 3"),
        (scalar(A=[[[0.9]]] * 3), Y, {}, r"A= has matrices for 3 steps in time; 5 observations need 4"),
        (scalar(R=[[[0.9]]] * 3), Y, {}, r"R= has matrices for 3 observations, but there are 5 steps"),
        (scalar(A=1e200), Y, {}, r"leaves the range of floating-point numbers"),
    ],
)
def test_bad_questions(lds: LinearDynamicalSystem, y: Any, given: dict[str, Any], words: str) -> None:
    for ask in (lds.score, lds.filter, lds.smooth):
        with pytest.raises((pgm.InvalidArgument, pgm.InvalidFrame), match=words):
            ask(y, **given)


def test_bad_forecasts_and_samples() -> None:
    with pytest.raises(pgm.InvalidArgument, match=r"steps= is a whole number"):
        scalar().forecast(Y, 0)
    with pytest.raises(pgm.InvalidArgument, match=r"5 steps observed and 2 to come"):
        scalar(B=1.0).forecast(Y, 2, inputs=Y)
    with pytest.raises(pgm.InvalidArgument, match=r"diffuse"):
        scalar(covariance="diffuse").sample(3)
    with pytest.raises(pgm.InvalidArgument, match=r"diffuse"):
        scalar(covariance="diffuse").to_network(3)
    with pytest.raises(AttributeError, match="only fit changes"):
        scalar().A = 1.0


def test_what_is_said_of_several_series_knows_their_names() -> None:
    frame = pd.DataFrame({"who": ["Ann", "Bob", "Ann"], "y": [1.0, 2.0, 0.5]})
    lds = scalar()
    for ask in (lds.filter, lds.smooth, lds.forecast):
        found = ask(frame, sequence="who")
        assert found.ids == ("Ann", "Bob")
        assert found["Ann"] == ask([1.0, 0.5])
        assert found.log_likelihood == pytest.approx(lds.score(frame, sequence="who"))
        assert found == pickle.loads(pickle.dumps(found))
        assert found != ask([[1.0, 0.5], [3.0]])
    with pytest.raises(pgm.InvalidArgument, match="Sequence 'Bob' leaves the range"):
        lds.score(pd.DataFrame({"who": ["Ann", "Bob"], "y": [1.0, 1e200]}), sequence="who")


def test_each_steps_share_is_in_every_answer() -> None:
    lds, shares = plane(), plane().score(gappy(9, 3), by="step")
    for found in (lds.filter(gappy(9, 3)), lds.smooth(gappy(9, 3)), lds.forecast(gappy(9, 3), steps=2)):
        assert found.step_scores.tolist() == pytest.approx(shares.tolist())
        assert found.log_likelihood == pytest.approx(shares.sum())


def test_matrices_are_read_only() -> None:
    lds = scalar()
    for each in (lds.A, lds.C, lds.Q, lds.R, lds.mean, lds.covariance, lds.copy().fit(Y, max_iter=2).A):
        with pytest.raises(ValueError, match="read-only"):
            each[0] = 7.0


@pytest.mark.parametrize("y", [[1.0] * 800, [None] * 800])
def test_covariances_that_leave_the_range(y: list[Any]) -> None:
    blind = LinearDynamicalSystem(A=3.0, C=0.0, Q=1.0, R=1.0, mean=0.0, covariance=1.0)
    for ask in (blind.filter, blind.smooth, blind.forecast):
        with pytest.raises(pgm.InvalidArgument, match=r"The sequence leaves the range .*unstable"):
            ask(y)
    with pytest.raises(pgm.InvalidArgument, match=r"The states leave the range .*unstable"):
        blind.sample(800, seed=0)


def test_a_sum_of_diffuse_parts_has_a_diffuse_start() -> None:
    assert "start: diffuse" in repr(pgm.components.level() + pgm.components.season(4))


@pytest.mark.parametrize("which", [0, 2, 17])
def test_noise_of_many_steps_is_checked_at_once(which: int) -> None:
    Q = np.tile(np.diag([1.0, 2.0]), (20, 1, 1))
    Q[which] = [[1.0, 2.0], [2.0, 1.0]]
    with pytest.raises(pgm.InvalidArgument, match=f"Q= of step {which} has a negative eigenvalue, -1:"):
        plane(Q=Q, C=np.eye(2), R=1.0, covariance=1.0)


def test_errors_name_what_was_given() -> None:
    driven, timed = scalar(B=[[1.0, 2.0]]), scalar(A=lambda gap: 0.5)
    with pytest.raises(pgm.InvalidArgument, match=r"^inputs=, step 0 .*: a row has 2 values, not 1"):
        driven.score([1.0, 2.0], inputs=[1.0, 2.0])
    with pytest.raises(pgm.InvalidArgument, match=r"^inputs=, step 1 .*: inf is not a finite number"):
        driven.score([1.0, 2.0], inputs=[[1.0, 1.0], [1.0, np.inf]])
    with pytest.raises(pgm.InvalidArgument, match="times= are dates"):
        timed.score([1.0, 2.0], times=pd.date_range("2026-01-01", periods=2))
    with pytest.raises(pgm.InvalidArgument, match="times= is a list with the times of each series, not 5"):
        timed.score([[1.0, 2.0], [3.0]], times=5)
    with pytest.raises(pgm.InvalidArgument, match="states= takes 1 different name, not 3"):
        scalar(states=3)
    with pytest.raises(pgm.InvalidArgument, match=r"fixed= names \['A'\]"):
        scalar().fit(Y, fixed=[["A"]])
    with pytest.raises(pgm.InvalidArgument, match="fixed= of 'A' takes True, or an array of booleans"):
        scalar().fit(Y, fixed={"A": [[True], [False, True]]})
    with pytest.raises(pgm.InvalidArgument, match="A= takes numbers, not None"):
        scalar(A=None)
    with pytest.raises(pgm.InvalidArgument, match="gap= is a positive number"):
        pgm.components.constant_velocity(gap=[1.0, 2.0])  # type: ignore[arg-type]


def test_a_picture_shows_single_steps_and_tells_observations_apart() -> None:
    ax = scalar().smooth([1.0]).plot()
    assert ax.get_lines()[-1].get_marker() == "_"
    assert any(len(each.get_paths()) == 1 for each in ax.collections)
    ax = plane().filter(gappy(6, 3)).plot()
    assert len({str(each.get_paths()[0].vertices) for each in ax.collections if each.get_gid()}) == 3


def test_states_that_hardly_differ_are_smoothed_to_the_last_digits() -> None:
    """Given the next state the last is known a thousand times better in one direction than in the other.

    The regression of a state on the next has entries near 1000. When covariances themselves were carried, the
    rounding of a step was multiplied by the squares of these, and 5e-6 of the variances was lost.
    """
    lds = LinearDynamicalSystem(
        A=[[-0.26992977, -0.22484331], [-0.2718868, -0.01355838]],
        C=[[-0.17941076, -1.18750689], [0.68831034, 1.08441206]],
        Q=[[4.5, 3.0], [3.0, 2.0]],
        R=1.0,
        mean=[0.0, 0.0],
        covariance=1.0,
    )
    y = RNG.normal(size=(6, 2))
    y[2:4] = np.nan
    found, exact = lds.smooth(y), truth(lds, 6).given(y, number=Decimal)
    for t in range(6):
        assert found.covariance[t] == pytest.approx(exact.covariance(t), rel=0, abs=1e-11)
    for t in range(5):
        assert found.lag_one_covariance[t] == pytest.approx(exact.covariance(t, t + 1), rel=0, abs=1e-11)
