"""Mixtures of Gaussians and k-means beside scikit-learn: the same rows, the same start, as many steps."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import pgm
from benchmarks.harness import Finding, Options, Report, Side, compete

SCIKIT = "scikit-learn"
_COMPONENTS, _COLUMNS, _STEPS = 8, 10, 20
_KINDS = {"full": ("full", 1.0), "diagonal": ("diag", 1.0)}  # ours: theirs, and what is wanted
_GAPS = 0.2  # of the cells; the peer takes none, and has the rows without


def run(report: Report, options: Options) -> None:
    """All races; without the peer none."""
    try:
        from sklearn.mixture import GaussianMixture  # noqa: F401
    except ImportError:
        return
    rng, n = np.random.default_rng(0), options.rows
    centres = 1.5 * rng.normal(size=(_COMPONENTS, _COLUMNS))
    rows = centres[rng.integers(_COMPONENTS, size=n)] + rng.normal(size=(n, _COLUMNS))
    gaps = np.where(rng.random(rows.shape) < _GAPS, np.nan, rows)
    case = f"{n:,} rows of {_COLUMNS}, {_COMPONENTS} components, {_STEPS} steps"
    for form, (theirs, wanted) in _KINDS.items():
        _race(
            report,
            options,
            f"mixture, {form}",
            case,
            ours(rows, rows, form),
            _peer(rows, theirs),
            wanted,
            _agree,
        )
        race = f"mixture with gaps, {form}"
        _race(report, options, race, case, ours(gaps, rows, form), _peer(rows, theirs), 0.2, None)
    _race(report, options, "k-means", f"{n:,} rows of {_COLUMNS}", _clusters(rows, True),
          _clusters(rows, False), 0.8, _agree)  # fmt: skip


def _race(
    report: Report,
    options: Options,
    race: str,
    case: str,
    mine: Side,
    theirs: Side,
    wanted: float,
    compare: Any,
) -> None:
    if not options.wants(race):
        return
    compete(report, race, case, mine, theirs, questions=1, rounds=options.rounds,
            compare=compare or (lambda a, b: None), label=SCIKIT)  # fmt: skip
    ratio = report.of(race, SCIKIT)[case].ratio
    if ratio is not None:
        said = f"{race}, {case}, beside {SCIKIT}" + ("" if compare else " without gaps")
        report.find(Finding(said, f"{ratio:.2f} times", f"{wanted:g} times", ratio >= wanted))


def _agree(mine: Any, theirs: Any) -> None:
    for one, other in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)


def ours(data: np.ndarray, rows: np.ndarray, form: str) -> Side:
    """Steps of EM from the first rows; returned are weights and means."""
    k, d = _COMPONENTS, _COLUMNS

    def learned(_: int) -> Any:
        emission = pgm.Gaussian(rows[:k], covariance=[np.eye(d)] * k, form=form)
        found = pgm.Mixture(np.full(k, 1 / k), emission).fit(data, max_iter=_STEPS, tol=0.0)
        return [found.weights, found.emission.mean]  # type: ignore[attr-defined]

    return learned


def _peer(rows: np.ndarray, kind: str) -> Side:
    from sklearn.mixture import GaussianMixture

    k, d = _COMPONENTS, _COLUMNS
    precisions = np.repeat(np.eye(d)[None], k, axis=0) if kind == "full" else np.ones((k, d))

    def learned(_: int) -> Any:
        found = GaussianMixture(
            k, covariance_type=kind, reg_covar=0.0, tol=0.0, max_iter=_STEPS, weights_init=np.full(k, 1 / k),
            means_init=rows[:k], precisions_init=precisions, init_params="random_from_data",
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it has not converged
            found.fit(rows)
        return [found.weights_, found.means_]

    return learned


def _clusters(rows: np.ndarray, mine: bool) -> Side:
    from sklearn.cluster import KMeans

    def found(_: int) -> Any:
        made = (
            pgm.KMeans(_COMPONENTS, init=rows[:_COMPONENTS])
            if mine
            else KMeans(_COMPONENTS, init=rows[:_COMPONENTS], n_init=1)
        ).fit(rows)
        return [made.cluster_centers_]

    return found
