"""A condensed running mean, which stores only the rows that it needs, online."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from pgm.adapters.rows import positive, targets_of
from pgm.errors import InvalidArgument, shown
from pgm.runtime.clock import start_clock

from .base import SMOOTHING, Drawn
from .local import LocalSmoother

_WORK = 10**8  # differences of values between two checks of the clock


class CondensedSmoother(Drawn):
    """A running mean that stores only the rows that it needs, online.

    Rows are processed one by one. A row whose target is predicted by the mean of the stored rows within a
    width, up to a tolerance, is discarded; the others are stored. The result depends on the order.

    Args:
        width: of the window; rows nearer than this are in it.
        tolerance: the largest error of the mean.

    After `fit` there are the stored `rows_` and `targets_`, and `n_seen_`, the number of rows processed.

    >>> found = CondensedSmoother(1.5, tolerance=0.5).fit([[0.0], [1.0], [2.0]], [1.0, 1.2, 3.0])
    >>> found.rows_.tolist(), found.predict([[1.0]]).tolist()
    ([[0.0], [2.0]], [2.0])
    """

    rows_: np.ndarray
    targets_: np.ndarray
    n_seen_: int

    def __init__(self, width: float = 1.0, *, tolerance: float = 0.1) -> None:
        """Store the options; `fit` checks them."""
        self.width, self.tolerance = width, tolerance

    def fit(self, X: Any, y: Any = None) -> Self:
        """Start over, and process rows in their order; returns the estimator itself.

        Args:
            X: rows: a data frame, or an array.
            y: the target value of each row.

        Raises:
            InvalidArgument: an option is out of range.
            InvalidFrame: a value is missing or not a number.

        >>> CondensedSmoother(2.0).fit([[0.0], [1.0]], [1.0, 1.0]).n_seen_
        2
        """
        rows, targets, _, about = self._begin_targets(X, y)
        return self._take(about, rows[:0], targets[:0], rows, targets, 0)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Process more rows; returns the estimator itself.

        Args:
            X: rows: a data frame, or an array.
            y: the target value of each row.

        Raises:
            InvalidArgument: an option is out of range.
            InvalidFrame: a value is missing or not a number; the columns are not those before.

        >>> CondensedSmoother(2.0).partial_fit([[0.0]], [1.0]).partial_fit([[1.0]], [9.0]).targets_.tolist()
        [1.0, 9.0]
        """
        if not self._fitted:
            return self.fit(X, y)
        rows = self._read(X)
        return self._take({}, self.rows_, self.targets_, rows, targets_of(y, len(rows)), self.n_seen_)

    def _take(
        self, about: dict[str, Any], rows: np.ndarray, targets: np.ndarray, more: np.ndarray,
        numbers: np.ndarray, seen: int,
    ) -> Self:  # fmt: skip
        width, off = positive("width", self.width), self.tolerance
        if isinstance(off, bool) or not isinstance(off, int | float) or not off >= 0.0:
            raise InvalidArgument(f"tolerance= is a number that is not negative, not {shown(off)}.")
        every, all_numbers = np.concatenate([rows, more]), np.concatenate([targets, numbers])
        kept, (end, dim) = np.arange(len(every), dtype=np.int64), every.shape
        begin = count = len(rows)
        clock = start_clock()
        while begin < end:
            clock.check("condensing")
            # Each row is compared with those kept, and these may grow by all rows looked at.
            most = min(_WORK // (dim * (count + 1)), math.isqrt(_WORK // dim))
            stop = min(end, begin + 1 + most)
            count = SMOOTHING.condense(
                every.reshape(-1), all_numbers[:stop], dim, width, float(off), kept, count, begin
            )
            begin = stop
        kept = kept[:count]
        if about:
            return self._keep(about, rows_=every[kept], targets_=all_numbers[kept], n_seen_=seen + len(more))
        self.rows_, self.targets_, self.n_seen_ = every[kept], all_numbers[kept], seen + len(more)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the mean of the stored rows within a width, for each row.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: no stored row is within a width of a row.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> CondensedSmoother(1.5).fit([[0.0], [1.0]], [1.0, 2.0]).predict([[0.5]]).tolist()
        [1.5]
        """
        rows = self._read(X)
        mean = LocalSmoother(float(self.width), window="box", degree=0)
        return mean.fit(self.rows_, self.targets_)._curve(rows, False).mean

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        low, high = self.rows_.min(axis=0), self.rows_.max(axis=0)
        rows = [[name, f"{a:.6g} to {b:.6g}"] for name, a, b in zip(self._names, low, high, strict=True)]
        return (
            ["column", "range"],
            rows,
            f"{self._begun()}: {len(self.rows_):,} of {self.n_seen_:,} rows kept",
        )
