"""Nearest-neighbour density estimates: by the distance to the k-th nearest row."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from pgm.adapters.rows import whole
from pgm.adapters.windows import distances, log_ball, log_mean, log_volume, window_option
from pgm.errors import InvalidArgument, shown

from .base import DrawnDensity

WINDOWS = ("gaussian", "epanechnikov")


class NeighbourDensity(DrawnDensity):
    """The k-nearest-neighbour density estimate k / (n V), V the volume of the ball to the k-th nearest row.

    It is not a proper density: its integral is infinite, and for k = 1 it is infinite at a row.
    It serves as a likelihood, to compare classes. With a window, it is the mean of windows
    whose width is the distance to the k-th nearest row: an adaptive bandwidth.

    Args:
        neighbours: k; or "root", the square root of the number of rows, rounded down.
        window: None, a ball that counts; or "gaussian" or "epanechnikov", as of `ParzenDensity`.

    After `fit` there are `neighbours_` and `rows_`.

    >>> found = NeighbourDensity(2).fit([[0.0], [1.0], [3.0], [6.0], [10.0]])
    >>> np.exp(found.score_samples([[2.0]])).round(6).tolist()
    [0.2]
    """

    neighbours_: int
    rows_: np.ndarray

    def __init__(self, neighbours: int | str = "root", *, window: str | None = None) -> None:
        """Store the options; `fit` checks them."""
        self.neighbours, self.window = neighbours, window

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to rows; returns the estimator itself.

        Args:
            X: rows: a data frame, or an array.
            y: ignored; present for pipelines.

        Raises:
            InvalidArgument: an option is out of range; fewer rows than neighbours.
            InvalidFrame: a value is missing or not a number.

        >>> NeighbourDensity().fit(np.arange(16.0).reshape(-1, 1)).neighbours_
        4
        """
        if self.window is not None:
            window_option("window", self.window, WINDOWS)
        rows, about = self._begin(X)
        if isinstance(self.neighbours, str):
            if self.neighbours != "root":
                raise InvalidArgument(
                    f'neighbours= is a whole number or "root", not {shown(self.neighbours)}.'
                )
            k = math.isqrt(len(rows))
        else:
            k = whole("neighbours", self.neighbours)
        if k > len(rows):
            raise InvalidArgument(f"neighbours={k}, and there are n_samples={len(rows)} rows.")
        return self._keep(about, neighbours_=k, rows_=rows)

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the logarithm of k / (n V) at each row.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.
            OutOfTime: the time limit is reached.

        >>> NeighbourDensity(1).fit([[0.0], [1.0]]).score_samples([[0.0]]).tolist()  # at a row
        [inf]
        """
        places, n, k = self._read(X), len(self.rows_), self.neighbours_
        dim, found = places.shape[1], np.empty(len(places))
        for part, far in distances(places, self.rows_, "gaussian", "density"):
            reach = np.partition(far, k - 1, axis=1)[:, k - 1]
            at_row = reach == 0.0
            reach[at_row] = 1.0
            if self.window is None:
                found[part] = math.log(k / n) - log_ball(dim)
            else:
                found[part] = log_mean(far, 1.0 / reach[:, None], None, self.window)
                found[part] -= log_volume(self.window, dim)
            found[part] -= 0.5 * dim * np.log(reach)
            found[part][at_row] = np.inf
        return found

    def _range(self) -> tuple[np.ndarray, np.ndarray]:
        low, high = self.rows_.min(axis=0), self.rows_.max(axis=0)
        beyond = np.where(high > low, 0.25 * (high - low), 1.0)
        return low - beyond, high + beyond

    def _points(self) -> np.ndarray:
        return self.rows_

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        deviations = np.std(self.rows_, axis=0)
        rows = [[name, f"{s:.6g}"] for name, s in zip(self._names, deviations.tolist(), strict=True)]
        said = f"{self._begun()}: {len(self.rows_):,} rows, the {self.neighbours_:,} nearest; no distribution"
        return ["column", "standard deviation"], rows, said
