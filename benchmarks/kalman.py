"""Kalman filters and smoothers beside statsmodels, pykalman, simdkalman: a long series, many short ones."""

from __future__ import annotations

from typing import Any

import numpy as np

import pgm
from benchmarks.harness import Finding, Options, Report, Side, compete

STATSMODELS = "statsmodels"  # its univariate filter
_OF_STATSMODELS = ("transition", "design", "state_cov", "obs_cov")
_WANTED = {"filter": (5.0, 10.0), "smooth": (5.0, 8.0)}  # without gaps, with a tenth of the entries missing


def system(seed: int = 0) -> pgm.LinearDynamicalSystem:
    """Four states, two observed entries."""
    rng = np.random.default_rng(seed)
    A = np.diag([0.9, 0.8, 0.7, 0.95]) + 0.05 * rng.normal(size=(4, 4))
    C = rng.normal(size=(2, 4))
    return pgm.LinearDynamicalSystem(A, C, 0.1, 0.5, mean=np.zeros(4), covariance=np.eye(4))


def run(report: Report, options: Options) -> None:
    """All races; of a peer that is not installed, none."""
    quick = max(options.sizes) < 100_000
    lds, rng = system(), np.random.default_rng(1)
    steps, many = (500, 20) if quick else (10_000, 1_000)
    y = rng.normal(size=(steps, 2))
    gaps = np.where(rng.random(y.shape) < 0.1, np.nan, y)
    for what in ("filter", "smooth"):
        for rows, said, wanted in zip((y, gaps), ("complete", "a tenth missing"), _WANTED[what], strict=True):
            _race(report, options, f"Kalman {what}", f"{steps:,} steps, {said}", _ours(lds, rows, what),
                  _statsmodels(lds, [rows], what), STATSMODELS, wanted)  # fmt: skip
    _race(report, options, "Kalman smooth", f"{steps:,} steps, complete", _ours(lds, y, "smooth"),
          _pykalman(lds, y), "pykalman", 300.0)  # fmt: skip
    series = rng.normal(size=(many, 100, 2))
    case = f"{many:,} series of 100 steps"
    ours = _ours(lds, series, "smooth")
    _race(report, options, "Kalman smooth", case, ours, _statsmodels(lds, list(series), "smooth"),
          STATSMODELS, 20.0)  # fmt: skip
    _race(report, options, "Kalman smooth", case, ours, _simdkalman(lds, series), "simdkalman", 5.0)


def _race(
    report: Report,
    options: Options,
    race: str,
    case: str,
    ours: Side,
    theirs: Side | None,
    label: str,
    wanted: float,
) -> None:
    if theirs is None or not options.wants(race):
        return
    compete(report, race, case, ours, theirs, questions=1, rounds=options.rounds, compare=_agree, label=label)
    ratio = report.of(race, label)[case].ratio
    if ratio is not None:
        said = f"{race}, {case}, beside {label}"
        report.find(Finding(said, f"{ratio:.1f} times", f"{wanted:g} times", ratio >= wanted))


def _agree(ours: Any, theirs: Any) -> None:
    """The same means and covariances, of each series; where statsmodels takes the steady state, nearly so."""
    for mine, others in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine[0], others[0], rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(mine[1], others[1], rtol=1e-7, atol=1e-7)


def _ours(lds: pgm.LinearDynamicalSystem, y: np.ndarray, what: str) -> Side:
    def side(_: int) -> Any:
        found = getattr(lds, what)(y)
        return [(one.mean, one.covariance) for one in (found if y.ndim == 3 else [found])]

    return side


def _statsmodels(lds: pgm.LinearDynamicalSystem, series: list[np.ndarray], what: str) -> Side | None:
    try:
        from statsmodels.tsa.statespace.kalman_smoother import KalmanSmoother
    except ImportError:
        return None

    def one(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        made = KalmanSmoother(k_endog=2, k_states=4, k_posdef=4)
        made.bind(np.ascontiguousarray(y))
        for name, value in zip(_OF_STATSMODELS, (lds.A, lds.C, lds.Q, lds.R), strict=True):
            made[name] = value
        made["selection"] = np.eye(4)
        made.initialize_known(lds.mean, lds.covariance)
        made.set_filter_method(filter_univariate=True, filter_conventional=False)
        found = getattr(made, what)()
        stage = "filtered" if what == "filter" else "smoothed"
        return getattr(found, f"{stage}_state").T, getattr(found, f"{stage}_state_cov").transpose(2, 0, 1)

    return lambda _: [one(y) for y in series]


def _pykalman(lds: pgm.LinearDynamicalSystem, y: np.ndarray) -> Side | None:
    try:
        from pykalman import KalmanFilter
    except ImportError:
        return None
    made = KalmanFilter(lds.A, lds.C, lds.Q, lds.R, np.zeros(4), np.zeros(2), lds.mean, lds.covariance)
    return lambda _: [made.smooth(y)]


def _simdkalman(lds: pgm.LinearDynamicalSystem, series: np.ndarray) -> Side | None:
    try:
        import simdkalman
    except ImportError:
        return None
    made = simdkalman.KalmanFilter(
        state_transition=lds.A, process_noise=lds.Q, observation_model=lds.C, observation_noise=lds.R
    )

    def side(_: int) -> Any:
        states = made.smooth(series, initial_value=lds.mean, initial_covariance=lds.covariance).states
        return list(zip(states.mean, states.cov, strict=True))

    return side
