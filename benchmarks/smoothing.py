"""Densities by windows and smoothers beside scikit-learn, scipy and statsmodels; and how long ours take."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.harness import Finding, Options, Report, Result, Side, compete
from pgm import adapters

SCIKIT, SCIPY, STATSMODELS = "scikit-learn", "scipy", "statsmodels"
_ROWS, _PLACES, _WIDTH = 10_000, 1_000, 0.5
_MANY, _CELLS = 1_000_000, 1_000
_LONGEST = 2.0  # seconds that fit and predict may take on 10,000 rows of 10 columns


def run(report: Report, options: Options) -> None:
    """Windows, windows on a grid, curves, and every method of ours on 10,000 rows of 10 columns."""
    rng = np.random.default_rng(0)
    windows(report, options, rng)
    on_a_grid(report, options, rng)
    curves(report, options, rng)
    alone(report, options, rng)


def windows(report: Report, options: Options, rng: np.random.Generator) -> None:
    """Gaussian windows in 1, 2 and 10 columns: no slower than KernelDensity, and the same densities."""
    race = "density by windows"
    if not options.wants(race):
        return
    from sklearn.neighbors import KernelDensity

    for dim in (1, 2, 10):
        rows, places = rng.normal(size=(_ROWS, dim)), rng.normal(size=(_PLACES, dim))
        mine, peer = adapters.ParzenDensity(_WIDTH).fit(rows), KernelDensity(bandwidth=_WIDTH).fit(rows)
        case = f"{_ROWS:,} rows at {_PLACES:,} places, {dim} columns"
        _race(report, options, race, case, lambda _, m=mine, p=places: np.exp(m.score_samples(p)),
              lambda _, m=peer, p=places: np.exp(m.score_samples(p)), SCIKIT, 1.0, 1e-6)  # fmt: skip


def on_a_grid(report: Report, options: Options, rng: np.random.Generator) -> None:
    """A million rows on a thousand points by Fourier transform: the same density as on their histogram."""
    race = "density on a grid"
    if not options.wants(race):
        return
    rows = rng.normal(size=(_MANY, 1))
    best = np.inf
    for _ in range(options.rounds):
        start = time.perf_counter()
        found = adapters.ParzenDensity(grid=_CELLS).fit(rows)
        best = min(best, time.perf_counter() - start)
    places = rng.normal(size=(20, 1))
    exact = np.exp(adapters.ParzenDensity(found.width_).fit(rows).score_samples(places))
    off = float(np.abs(np.exp(found.score_samples(places)) - exact).max())
    if not off <= found.grid_error_:
        raise AssertionError(f"{race}: off by {off:g}, and {found.grid_error_:g} was said")
    case = f"{_MANY:,} rows, {_CELLS:,} points"
    report.add(Result(race, case, "pgm", best, 1.0, figures={"off": off}))
    report.find(Finding(f"{race}, {case}", f"{best:.3f} s, off by {off:.1e}", "0.1 s", best <= 0.1))


def curves(report: Report, options: Options, rng: np.random.Generator) -> None:
    """Loess beside statsmodels, and a smoothing spline beside scipy."""
    from scipy.interpolate import make_smoothing_spline

    x = np.sort(rng.uniform(0.0, 10.0, 3000))
    y = np.sin(x) + 0.3 * rng.normal(size=3000)
    if options.wants("loess"):
        from statsmodels.nonparametric.smoothers_lowess import lowess

        smoother = adapters.LocalSmoother(neighbours=0.2)

        def theirs(_: int) -> np.ndarray:
            return np.asarray(lowess(y, x, frac=0.2, it=0, return_sorted=False))

        _race(report, options, "loess", "3,000 rows",
              lambda _: smoother.fit(x[:, None], y).predict(x[:, None]), theirs, STATSMODELS, None,
              1e-8)  # fmt: skip
    if options.wants("smoothing spline"):
        spline = adapters.SmoothingSpline(1.0)
        _race(report, options, "smoothing spline", "3,000 rows",
              lambda _: spline.fit(x[:, None], y).predict(x[:, None]),
              lambda _: make_smoothing_spline(x, y, lam=1.0)(x), SCIPY, 1.0, 1e-3)  # fmt: skip


def alone(report: Report, options: Options, rng: np.random.Generator) -> None:
    """Fit and predict of every method, warm, on 10,000 rows of 10 columns."""
    race = "rows of ten columns"
    if not options.wants(race):
        return
    n = min(_ROWS, options.rows)
    rows = rng.normal(size=(n, 10))
    numbers = rows.sum(axis=1) + rng.normal(size=n)
    methods = [
        adapters.ParzenDensity(), adapters.NeighbourDensity(), adapters.HistogramDensity(),
        adapters.LocalSmoother(), adapters.LocalSmoother(1.0, window="gaussian", degree=0),
        adapters.Regressogram(), adapters.SmoothingSpline(), adapters.AdditiveSmoother(),
        adapters.CondensedSmoother(2.0),
    ]  # fmt: skip
    for method in methods:
        best = np.inf
        for _ in range(min(options.rounds, 3)):
            start = time.perf_counter()
            method.fit(rows, numbers)
            getattr(method, "predict", getattr(method, "score_samples", None))(rows)
            best = min(best, time.perf_counter() - start)
        case = f"{method._begun()}, {n:,} rows"
        report.add(Result(race, case, "pgm", best, 1.0))
        report.find(Finding(f"{race}, {case}", f"{best:.2f} s", f"{_LONGEST:g} s", best <= _LONGEST))


def _race(
    report: Report, options: Options, race: str, case: str, mine: Side, theirs: Side, label: str,
    wanted: float | None, within: float,
) -> None:  # fmt: skip
    def compare(one: Any, other: Any) -> None:
        np.testing.assert_allclose(one, other, rtol=within, atol=1e-3 * within)

    compete(
        report, race, case, mine, theirs, questions=1, rounds=options.rounds, compare=compare, label=label
    )
    ratio = report.of(race, label)[case].ratio
    if ratio is not None and wanted is not None:
        said = f"{race}, {case}, beside {label}"
        report.find(Finding(said, f"{ratio:.2f} times", f"{wanted:g} times", ratio >= wanted))
