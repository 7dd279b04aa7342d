"""Estimates of a classifier's error: resubstitution, cross-validation, and a test set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.calls import guarded
from pgm.errors import InvalidArgument, shown
from pgm.frames.matrices import features
from pgm.models.classifiers.conventions import labels_of
from pgm.printing import Tabular
from pgm.results.base import Frozen, put
from pgm.runtime.clock import in_one_time, start_clock
from pgm.runtime.progress import report

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Estimated:
    """How many rows were misclassified: `.rate`, with the 95 % Clopper-Pearson interval.

    The interval assumes independent rows, which is nearly true in cross-validation. It does not hold for
    the training rows, so there is none for these (`nan`).
    """

    method: str
    wrong: int
    rows: int
    low: float
    high: float

    @property
    def rate(self) -> float:
        """The fraction of rows."""
        return self.wrong / self.rows


class ErrorEstimates(Frozen, Tabular):
    """Estimates of the error of one classifier; made by `error_estimates`.

    `.resubstitution`, `.cross_validation` and `.test` (None without rows for it) have `.rate`, `.low` and
    `.high`; `.folds` are the rates of the folds.
    """

    __slots__ = ("cross_validation", "folds", "resubstitution", "test")
    resubstitution: Estimated
    cross_validation: Estimated
    test: Estimated | None
    folds: np.ndarray

    def __init__(
        self, again: Estimated, crossed: Estimated, test: Estimated | None, folds: np.ndarray
    ) -> None:
        put(self, "resubstitution", again)
        put(self, "cross_validation", crossed)
        put(self, "test", test)
        folds.flags.writeable = False
        put(self, "folds", folds)

    def __reduce__(self) -> tuple[Any, ...]:
        return ErrorEstimates, (self.resubstitution, self.cross_validation, self.test, self.folds)

    @property
    def _each(self) -> list[Estimated]:
        return [one for one in (self.resubstitution, self.cross_validation, self.test) if one is not None]

    def to_dict(self) -> dict[str, Any]:
        """The rate of each estimate, and of each fold.

        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> X, y = [[0.0], [1.0], [2.0], [9.0], [8.0], [7.0]], [0, 0, 0, 1, 1, 1]
        >>> error_estimates(KNeighborsClassifier(1), X, y, folds=3).to_dict()["resubstitution"]
        0.0
        """
        return {**{one.method: one.rate for one in self._each}, "folds": self.folds.tolist()}

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each estimate."""
        from pgm.results.base import pandas

        rows = [
            {
                "method": e.method,
                "rate": e.rate,
                "low": e.low,
                "high": e.high,
                "wrong": e.wrong,
                "rows": e.rows,
            }
            for e in self._each
        ]
        return pandas().DataFrame(rows).set_index("method")

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Return a plot of the estimates with their intervals, and of the folds.

        Args:
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.

        Raises:
            InvalidArgument: `ax=` is not an Axes.
        """
        from pgm import plot

        return plot.error_estimates(self, ax, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [
            [
                one.method,
                f"{one.rate:.6g}",
                "-" if np.isnan(one.low) else f"{one.low:.4f} to {one.high:.4f}",
                f"{one.wrong:,}",
                f"{one.rows:,}",
            ]
            for one in self._each
        ]
        off = f"{self.folds.mean():.4g} ± {self.folds.std(ddof=1):.2g}"
        note = f"{len(self.folds)} folds, {off} (sd); resubstitution is optimistic, so it has no interval"
        return ["error", "rate", "95 %", "wrong", "rows"], rows, note


@guarded
@in_one_time
def error_estimates(
    classifier: Any,
    X: Any,
    y: Any,
    *,
    test: tuple[Any, Any] | None = None,
    folds: int = 10,
    seed: int | None = 0,
) -> ErrorEstimates:
    """Estimate the error rate of a classifier in three ways; copies of it are fitted, it is not changed.

    Args:
        classifier: pgm's, scikit-learn's or a pipeline; fitted or not.
        X: training rows.
        y: their classes.
        test: held-out rows and their classes, (X, y).
        folds: the number of folds of the cross-validation, which is stratified by class.
        seed: seed of the assignment of rows to folds.

    Raises:
        InvalidArgument: it cannot be copied; too few rows of a class for the folds; invalid test rows.
        OutOfTime: the time limit is reached.

    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [9.0], [8.0], [1.5]], ["a", "a", "a", "b", "b", "b"]
    >>> error_estimates(KNeighborsClassifier(1), X, y, folds=3, test=([[4.0]], ["b"]))
    error             rate      95 %              wrong  rows
    resubstitution    0         -                 0      6
    cross-validation  0.333333  0.0433 to 0.7772  2      6
    test              1         0.0250 to 1.0000  1      1
    3 folds, 0.3333 ± 0.29 (sd); resubstitution is optimistic, so it has no interval
    """
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold
    from sklearn.utils import _safe_indexing

    if not hasattr(classifier, "get_params") or not hasattr(classifier, "fit"):
        raise InvalidArgument(f"A classifier needs fit() and get_params(); {shown(classifier)} lacks them.")
    count = len(next(iter(X.values()))) if isinstance(X, dict) else len(X)
    labels = labels_of(y, count)
    fewest = int(np.unique(labels, return_counts=True)[1].min())
    if isinstance(folds, bool) or not isinstance(folds, int) or not 2 <= folds <= fewest:
        raise InvalidArgument(
            f"folds= is a whole number from 2 to {fewest}, the rows of the rarest class; not {shown(folds)}."
        )

    def taken(rows: np.ndarray) -> Any:
        if isinstance(X, dict):
            return {name: np.asarray(column)[rows] for name, column in X.items()}
        return _safe_indexing(X, rows)

    def wrong(told: Any, rows: Any, true: np.ndarray) -> np.ndarray:
        return np.asarray(np.asarray(told.predict(rows)) != true)

    whole = clone(classifier).fit(X, labels)
    again = wrong(whole, X, labels)
    parts = StratifiedKFold(folds, shuffle=True, random_state=seed).split(np.zeros(count), labels)
    clock, each = start_clock(), []
    for done, (a, b) in enumerate(parts):
        clock.check("cross-validation")
        report(done, folds, "cross-validation")
        each.append(wrong(clone(classifier).fit(taken(a), labels[a]), taken(b), labels[b]))
    report(folds, folds, "cross-validation")
    other = None
    if test is not None:
        if not isinstance(test, tuple) or len(test) != 2:
            raise InvalidArgument(f"test= is rows and their classes, (X, y), not {shown(test)}.")
        given = features(test[0])
        first = given.frame[given.names[0]] if isinstance(given.frame, dict) else test[0]
        off = wrong(whole, test[0], labels_of(test[1], len(first)))
        other = estimated("test", int(off.sum()), len(off))
    return ErrorEstimates(
        Estimated("resubstitution", int(again.sum()), count, float("nan"), float("nan")),
        estimated("cross-validation", int(sum(int(part.sum()) for part in each)), count),
        other,
        np.array([part.mean() for part in each]),
    )


def estimated(method: str, wrong: int, rows: int) -> Estimated:
    """A rate with its 95 % Clopper-Pearson interval.

    >>> found = estimated("test", 1, 10)
    >>> round(found.low, 6), round(found.high, 6)
    (0.002529, 0.445016)
    """
    from scipy.stats import beta

    low = float(beta.ppf(0.025, wrong, rows - wrong + 1)) if wrong else 0.0
    high = float(beta.ppf(0.975, wrong + 1, rows - wrong)) if wrong < rows else 1.0
    return Estimated(method, wrong, rows, low, high)
