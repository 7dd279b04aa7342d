"""Additive models: a smoother for each column, summed."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from pgm.adapters.rows import positive, whole
from pgm.errors import InvalidArgument, shown
from pgm.runtime.clock import in_one_time

from .base import Drawn
from .splines import PASSES, SmoothingSpline, backfit


class AdditiveSmoother(Drawn):
    """An additive model: the sum of a smoother for each column, fitted by backfitting.

    A smoother that chooses its own options, such as `SmoothingSpline()` or scikit-learn's GridSearchCV, does
    so in two passes; its `best_estimator_` is then kept, so that backfitting converges.

    Args:
        smoother: any regressor of one column, of which each column gets a copy; by default
            `SmoothingSpline()`.
        max_iter: the maximum number of passes of backfitting.
        tol: convergence tolerance, relative to the standard deviation of the targets.

    After `fit` there are `smoothers_`, one for each column, and `mean_`.

    >>> x = [[a, b] for a in (0.0, 1.0, 2.0) for b in (0.0, 1.0)]
    >>> y = [2.0, -1.0, 3.0, 0.0, 5.0, 2.0]
    >>> from pgm.adapters import Regressogram
    >>> found = AdditiveSmoother(Regressogram(width=1.0)).fit(x, y)
    >>> found.effects([[2.0, 0.0]]).round(7).tolist()
    [[1.6666667, 1.5]]
    """

    smoothers_: list[Any]
    mean_: float
    n_iter_: int
    _shifts: list[float]

    def __init__(self, smoother: Any = None, *, max_iter: int = 100, tol: float = 1e-6) -> None:
        """Store the options; `fit` checks them."""
        self.smoother, self.max_iter, self.tol = smoother, max_iter, tol

    @in_one_time
    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Fit a smoother to each column; returns the estimator itself.

        Args:
            X: rows: a data frame, or an array.
            y: the target value of each row.
            sample_weight: the weight of each row; by default 1. The smoother has to take weights then.

        Raises:
            InvalidArgument: an option is out of range; the smoother is none, or takes no weights.
            InvalidFrame: a value is missing or not a number.
            OutOfTime: the time limit is reached.

        >>> AdditiveSmoother().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]).predict([[3.0]]).round(9).tolist()
        [3.0]
        """
        from sklearn.base import clone
        from sklearn.utils.validation import has_fit_parameter

        given = SmoothingSpline() if self.smoother is None else self.smoother
        if not (hasattr(given, "fit") and hasattr(given, "predict")):
            raise InvalidArgument(f"smoother= is a regressor of one column, not {shown(given)}.")
        rows, targets, weights, about = self._begin_targets(X, y, sample_weight)
        weighted = has_fit_parameter(given, "sample_weight")
        if not weighted and sample_weight is not None:
            raise InvalidArgument(f"{type(given).__name__} takes no weights: leave sample_weight= out.")
        smoothers = [clone(given) for _ in rows.T]

        turns = [0] * len(smoothers)

        def smooth(j: int, values: np.ndarray) -> np.ndarray:
            turns[j] += 1
            if turns[j] == PASSES + 1 and hasattr(smoothers[j], "best_estimator_"):
                smoothers[j] = clone(smoothers[j].best_estimator_)
            column = rows[:, j : j + 1]
            with_weights = {"sample_weight": weights} if weighted else {}
            return np.asarray(smoothers[j].fit(column, values, **with_weights).predict(column))

        most, tol = whole("max_iter", self.max_iter), positive("tol", self.tol)
        mean, _, steps = backfit(len(smoothers), targets, weights, smooth, most, tol, PASSES)
        shifts = [
            float(weights @ one.predict(rows[:, j : j + 1])) / float(weights.sum())
            for j, one in enumerate(smoothers)
        ]
        return self._keep(
            about, smoothers_=smoothers, mean_=mean, n_iter_=steps, rows_=rows, targets_=targets,
            _shifts=shifts,
        )  # fmt: skip

    def effects(self, X: Any) -> np.ndarray:
        """Return the contribution of each column to each row, shape (rows, columns), centred at 0.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> found = AdditiveSmoother().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
        >>> found.effects([[0.0], [2.0]]).round(9).tolist()
        [[-1.0], [1.0]]
        """
        rows = self._read(X)
        return np.column_stack(
            [
                one.predict(rows[:, j : j + 1]) - shift
                for j, (one, shift) in enumerate(zip(self.smoothers_, self._shifts, strict=True))
            ]
        )

    def predict(self, X: Any) -> np.ndarray:
        """Return the mean plus the contribution of each column, for each row.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> AdditiveSmoother().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]).predict([[1.0]]).round(9).tolist()
        [1.0]
        """
        return np.asarray(self.mean_ + self.effects(X).sum(axis=1)) if self._fitted else self.effects(X)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [[name, type(one).__name__] for name, one in zip(self._names, self.smoothers_, strict=True)]
        return ["column", "smoother"], rows, f"{self._begun()}: mean {self.mean_:.6g}"
