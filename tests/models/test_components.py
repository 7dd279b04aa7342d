"""Components of time series: beside statsmodels' structural models, and by what each of them is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pgm
from pgm import components


def series(n: int = 60) -> np.ndarray:
    rng = np.random.default_rng(4)
    t = np.arange(n)
    y = 3.0 + 0.1 * t + 2.0 * np.sin(t * np.pi / 2) + rng.normal(size=n)
    y[[7, 8, 30]] = np.nan
    return y


def peer(y: np.ndarray, values: dict[str, float], **given: Any) -> Any:
    structural = pytest.importorskip("statsmodels.tsa.statespace.structural")
    model = structural.UnobservedComponents(y, use_exact_diffuse=True, **given)
    assert set(model.param_names) == set(values)
    return model.smooth([values[name] for name in model.param_names])


def test_level_trend_and_season_are_those_of_statsmodels() -> None:
    y = series()
    ours = components.trend(Q=(0.3, 0.02)) + components.season(4, Q=0.1, R=0.8)
    values = {"sigma2.irregular": 0.8, "sigma2.level": 0.3, "sigma2.trend": 0.02, "sigma2.seasonal": 0.1}
    theirs = peer(y, values, level="local linear trend", seasonal=4)
    assert ours.score(y) == pytest.approx(theirs.llf, rel=1e-9)
    smoothed = ours.smooth(y)
    assert smoothed.mean == pytest.approx(theirs.smoothed_state.T, abs=1e-8)
    assert smoothed.covariance == pytest.approx(theirs.smoothed_state_cov.transpose(2, 0, 1), abs=1e-8)
    ahead = theirs.get_forecast(8)
    found = ours.forecast(y, 8).predicted
    assert found.mean[:, 0] == pytest.approx(ahead.predicted_mean, abs=1e-8)
    assert found.std[:, 0] == pytest.approx(ahead.se_mean, abs=1e-8)


def test_level_and_autoregression_are_those_of_statsmodels() -> None:
    y = series()
    ours = components.level(Q=0.2, R=0.5) + components.autoregression([0.5, 0.2], Q=0.7)
    values = {"sigma2.irregular": 0.5, "sigma2.level": 0.2, "sigma2.ar": 0.7, "ar.L1": 0.5, "ar.L2": 0.2}
    theirs = peer(y, values, level="local level", autoregressive=2)
    assert ours.score(y) == pytest.approx(theirs.llf, rel=1e-9)
    assert ours.smooth(y).mean == pytest.approx(theirs.smoothed_state.T, abs=1e-8)


def test_an_autoregression_without_noise_of_its_own() -> None:
    """The density of a stationary AR(2), written out from its autocovariances (Box & Jenkins 1976, 3.2)."""
    a, b, n = 0.5, 0.3, 12
    y = np.random.default_rng(0).normal(size=n)
    rho = [1.0, a / (1 - b)]
    for _ in range(n - 2):
        rho.append(a * rho[-1] + b * rho[-2])
    variance = 1.0 / (1 - a * rho[1] - b * rho[2])
    S = variance * np.array([[rho[abs(i - j)] for j in range(n)] for i in range(n)])
    log = -0.5 * (n * np.log(2 * np.pi) + np.linalg.slogdet(S)[1] + y @ np.linalg.solve(S, y))
    assert components.autoregression([a, b]).score(y) == pytest.approx(log, rel=1e-10)


def test_constant_velocity_in_the_plane_is_twice_that_of_a_line() -> None:
    y = np.random.default_rng(1).normal(size=(20, 2)).cumsum(axis=0)
    plane, line = components.constant_velocity(2, Q=0.3, R=0.5), components.constant_velocity(1, Q=0.3, R=0.5)
    assert plane.score(y) == pytest.approx(line.score(y[:, 0]) + line.score(y[:, 1]))
    assert plane.filter(y).mean[:, 2:] == pytest.approx(line.filter(y[:, 1]).mean)
    halves = np.insert(y[:, 0], range(1, 20), np.nan)  # twice as often, seen every other time
    assert components.constant_velocity(1, Q=0.3, R=0.5, gap=0.5).score(halves) == pytest.approx(
        line.score(y[:, 0])
    )


def test_sums_have_distinct_names_and_all_constants() -> None:
    one = pgm.LinearDynamicalSystem(A=0.5, C=1.0, Q=1.0, R=0.1, d=1.0)
    two = pgm.LinearDynamicalSystem(A=0.2, C=2.0, Q=0.5, R=0.2, b=3.0)
    both = one + two
    assert both.states == ("x", "x (2)")
    assert both.R[0, 0] == pytest.approx(0.3)
    assert both.d.tolist() == [1.0]
    assert both.b.tolist() == [0.0, 3.0]
    assert both.mean == pytest.approx([0.0, 3.0 / 0.8])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: components.level(Q=-1.0), r"Q= has a negative variance"),
        (lambda: components.trend(Q=1.0), r"two variances"),
        (lambda: components.season(1), r"period is a whole number"),
        (lambda: components.season(4, Q=[1.0, 2.0]), r"Q= is a variance"),
        (lambda: components.autoregression([1.0]), r"not stationary.*factor 1 "),
        (lambda: components.autoregression([]), r"one for each lag"),
        (lambda: components.constant_velocity(0), r"dimensions is"),
        (lambda: components.constant_velocity(gap=0), r"gap= is a positive"),
        (lambda: components.level() + components.constant_velocity(2), r"of the same dimension, not 1 and 2"),
        (
            lambda: components.level() + pgm.LinearDynamicalSystem(0.5, 1.0, 1.0, 1.0, B=1.0),
            r"cannot be added",
        ),
    ],
)
def test_bad_components(make: Any, words: str) -> None:
    with pytest.raises(pgm.InvalidArgument, match=words):
        make()


def test_only_systems_are_added() -> None:
    with pytest.raises(TypeError):
        components.level() + 1  # type: ignore[operator]
