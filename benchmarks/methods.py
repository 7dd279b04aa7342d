"""Fit and predict of every method that is not graphical, on 10,000 rows of 10 columns, beside a peer."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Finding, Options, Report, Result
from pgm import adapters

SCIKIT, SCIPY = "scikit-learn", "scipy"
_ROWS, _COLUMNS, _ROUNDS = 10_000, 10, 3
_LONGEST = 2.0  # seconds that fit and predict may take
_RACE = "methods"

Case = tuple[Any, Any, tuple[str, Any] | None]  # the method, its targets, a peer and its name


def run(report: Report, options: Options) -> None:
    """Neighbours, outliers, hyperplanes, logistic discrimination and ranking."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    rng, n = np.random.default_rng(0), min(_ROWS, options.rows)
    rows = rng.normal(size=(n, _COLUMNS))
    scores = rows @ rng.normal(size=_COLUMNS)
    noisy = scores + rng.normal(size=n)
    labels = {
        "two": np.where(noisy > 0.0, "b", "a"),
        "apart": np.where(scores > 0.0, "b", "a"),
        "three": np.array(list("abc"))[np.digitize(noisy, [-1.0, 1.0])],
        "grades": np.round(noisy).clip(-2.0, 2.0),
        "none": None,
    }
    families: dict[str, Callable[[], Sequence[Case]]] = {
        "neighbours": _neighbours, "editing": _editing, "outliers": _outliers, "hyperplanes": _hyperplanes,
        "programs": _programs, "logistic": _logistic, "ranking": _ranking,
    }  # fmt: skip
    with threadpool_limits(options.threads), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes that overlap, metrics that say nothing: not asked here
        for family, cases in families.items():
            if options.wants(f"{_RACE}: {family}"):
                for method, which, peer in cases():
                    _one(report, family, method, rows, labels[which], which, peer)


def _one(
    report: Report,
    family: str,
    method: Any,
    rows: np.ndarray,
    targets: Any,
    which: str,
    peer: tuple[str, Any] | None,
) -> None:
    race, case = f"{_RACE}: {family}", f"{method._begun()}, {which}, {len(rows):,} rows"
    group = {"group": np.arange(len(rows)) // 10} if which == "grades" else {}
    mine = theirs = math.inf
    for _ in range(_ROUNDS):  # the first one warms up; in turns, the best counts
        mine = min(mine, _seconds(partial(_asked, method, rows, targets, **group)))
        if peer is not None:
            theirs = min(theirs, _seconds(partial(_asked, peer[1], rows, targets)))
    report.add(Result(race, case, "pgm", mine, 1.0))
    if peer is not None:
        report.add(Result(race, case, peer[0], theirs, theirs / mine))
    report.find(Finding(f"{race}, {case}", f"{mine:.2f} s", f"{_LONGEST:g} s", mine <= _LONGEST))


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _asked(method: Any, rows: np.ndarray, targets: Any, **more: Any) -> Any:
    """Fit, and what there is to ask of it: predictions, or representations."""
    if callable(method):
        return method(rows, targets)
    method.fit(rows, targets, **more) if targets is not None else method.fit(rows)
    for name in ("predict", "transform"):
        if hasattr(method, name):
            return getattr(method, name)(rows)
    return method.labels_  # those of the rows, which nothing else has


def _neighbours() -> Sequence[Case]:
    from sklearn.metrics.pairwise import rbf_kernel
    from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

    def brute(k: int, weights: str = "uniform") -> Any:
        return SCIKIT, KNeighborsClassifier(k, weights=weights, algorithm="brute")

    a = adapters
    return [
        (a.NearestNeighbours(), "two", brute(3)),
        (a.NearestNeighbours(15, weights="distance"), "two", brute(15, "distance")),
        (a.NearestNeighbours(search="tree"), "two", (SCIKIT, KNeighborsClassifier(3, algorithm="kd_tree"))),
        (a.NearestNeighbours(search="partial"), "two", None),
        (a.AdaptiveNeighbours(), "two", None),
        (a.PrototypeClassifier(), "two", (SCIKIT, NearestCentroid())),
        (a.PrototypeClassifier(5), "two", None),
        (a.LargeMarginMetric(margin_weight=0.9), "two", None),
        (a.LargeMarginMetric(10, margin_weight=0.9), "two", None),
        (a.LargeMarginMetric(dim=2), "two", None),
        (a.LargeMarginMetric(10, form="diagonal"), "three", None),
        (a.SimilarityMap(), "none", (SCIKIT, lambda rows, _: rbf_kernel(rows))),
    ]


def _editing() -> Sequence[Case]:
    a = adapters
    return [
        (a.EditedNeighbours("condensing"), "two", None),
        (a.EditedNeighbours("grab-bag"), "two", None),
        (a.EditedNeighbours("side"), "two", None),
        (a.ProbabilisticNeuralNetwork(), "two", None),
        (a.RCENetwork(), "two", None),
    ]


def _outliers() -> Sequence[Case]:
    from scipy.cluster.hierarchy import linkage
    from sklearn.neighbors import LocalOutlierFactor

    a = adapters
    return [
        (a.DensityOutliers(), "none", None),
        (a.LocalOutlierRatio(), "none", (SCIKIT, lambda rows, _: LocalOutlierFactor(5).fit_predict(rows))),
        (a.SingleLinkageOutliers(), "none", (SCIPY, lambda rows, _: linkage(rows, "single"))),
    ]


def _hyperplanes() -> Sequence[Case]:
    from sklearn.linear_model import Perceptron, RidgeClassifier

    a = adapters
    plain = Perceptron(max_iter=100, tol=None, shuffle=False)
    return [
        (a.Perceptron(), "two", (SCIKIT, plain)),
        (a.Perceptron(max_iter=1000), "apart", None),
        (a.Perceptron("batch"), "two", None),
        (a.Perceptron(rule="relaxation", margin=1.0), "two", None),
        (a.Perceptron("farthest"), "two", None),
        (a.Perceptron(keep="best"), "two", None),
        (a.Winnow(), "two", None),
        (a.VotedPerceptron(), "two", None),
        (a.VotedPerceptron("poly"), "two", None),
        (a.VotedPerceptron("rbf"), "two", None),
        (a.LeastSquares(), "two", (SCIKIT, RidgeClassifier(0.0))),
        (a.LeastSquares(solver="sequential"), "two", None),
        (a.HoKashyap(), "two", None),
        (a.HoKashyap(), "apart", None),
        (a.RejectingClassifier(), "three", None),
        (a.RejectingClassifier(against="pairs"), "three", None),
    ]


def _programs() -> Sequence[Case]:
    from sklearn.svm import LinearSVC

    hinge = SCIKIT, LinearSVC(loss="hinge", C=1e6, max_iter=1000)  # the same objective, nearly
    return [
        (adapters.LinearProgram(), "two", hinge),
        (adapters.LinearProgram(form="primal"), "two", None),
        (adapters.LinearProgram(), "apart", None),
        (adapters.LinearProgram(form="primal"), "apart", None),
        (adapters.LinearProgram("largest"), "two", None),
        (adapters.LinearProgram("largest", form="primal"), "two", None),
        (adapters.LinearProgram(), "three", None),
        (adapters.LinearProgram(form="primal"), "three", None),
    ]


def _logistic() -> Sequence[Case]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures

    def free() -> Any:
        return LogisticRegression(C=np.inf, solver="newton-cg", max_iter=1000)

    a = adapters.LogisticDiscriminant
    return [
        (a(), "two", (SCIKIT, free())),
        (a(), "three", (SCIKIT, free())),
        (a(quadratic=True), "three", (SCIKIT, make_pipeline(PolynomialFeatures(), free()))),
        (a(optimizer="gradient"), "two", None),
        (a(optimizer="bfgs"), "two", None),
        (a(optimizer="cg"), "two", None),
        (a(optimizer="annealing", seed=0), "two", None),
        (a(optimizer="genetic", seed=0), "two", None),
        (a(loss="squares"), "two", None),
    ]


def _ranking() -> Sequence[Case]:
    return [(adapters.LinearRanker(), "grades", None)]
