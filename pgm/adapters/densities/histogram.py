"""Multivariate histograms as densities; only cells that contain rows are stored."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from pgm.adapters.cells import Cells, cells_of
from pgm.adapters.rows import row_weights
from pgm.errors import InvalidArgument, TooLarge
from pgm.randomness import draw_count, generator

from .base import DrawnDensity

_MOST = 1_000_000  # cells of a polygon, the empty ones included


class HistogramDensity(DrawnDensity):
    """A histogram: constant in each cell of a grid, the fraction of rows in it over its volume.

    Args:
        bins: the number of cells in each column, from its smallest to its largest value; or the name of a
            rule of `numpy.histogram_bin_edges`, such as "auto"; None: use `width` and `origin`.
        width: the width of the cells, one for all columns or one for each; the grid is then unbounded.
        origin: the edge of a cell; with `width`.
        polygon: for one column: interpolate linearly between the centres of cells (frequency polygon).

    After `fit` there are `n_cells_`, the number of cells (infinite with `width`), `n_filled_`, how
    many of them contain rows, `cells_`, these, and `shares_`, the fraction of rows in each.

    >>> found = HistogramDensity(width=4.0).fit([[0.0], [1.0], [3.0], [6.0], [10.0]])
    >>> np.exp(found.score_samples([[2.0], [4.0], [99.0]])).round(10).tolist()
    [0.15, 0.05, 0.0]
    """

    cells_: Cells
    shares_: np.ndarray
    n_cells_: float
    n_filled_: int
    n_rows_: float
    _polygon: tuple[np.ndarray, np.ndarray]

    def __init__(
        self,
        bins: int | str | None = None,
        *,
        width: Any = None,
        origin: Any = None,
        polygon: bool = False,
    ) -> None:
        """Store the options; `fit` checks them."""
        self.bins, self.width, self.origin, self.polygon = bins, width, origin, polygon

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Count rows in cells; returns the estimator itself.

        Args:
            X: rows: a data frame, or an array.
            y: ignored; present for pipelines.
            sample_weight: the weight of each row; by default 1.

        Raises:
            InvalidArgument: an option is out of range, or a polygon of several columns is wanted.
            InvalidFrame: a value is missing or not a number.
            TooLarge: a polygon would have more than a million cells.

        >>> HistogramDensity(10).fit(np.zeros((3, 8)) + [[0.0], [0.5], [1.0]]).n_cells_
        100000000.0
        """
        rows, about = self._begin(X)
        weights = row_weights(sample_weight, len(rows))
        keep = weights > 0.0
        if not keep.all():
            rows, weights = rows[keep], weights[keep]
        cells, codes = cells_of(rows, self.bins, self.width, self.origin)
        n = float(weights.sum())
        shares = np.bincount(codes, weights, len(cells.filled)) / n
        learned: dict[str, Any] = {"cells_": cells, "shares_": shares, "n_cells_": cells.count, "n_rows_": n}
        if self.polygon:
            learned["_polygon"] = _polygon(cells, shares)
        return self._keep(about, n_filled_=len(cells.filled), **learned)

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log density at each row; minus infinity in empty cells.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> found = HistogramDensity(width=4.0, polygon=True).fit([[0.0], [1.0], [3.0], [6.0], [10.0]])
        >>> np.exp(found.score_samples([[3.0], [4.0], [8.0]])).round(10).tolist()
        [0.125, 0.1, 0.05]
        """
        rows = self._read(X)
        if self.polygon:
            found = np.interp(rows[:, 0], *self._polygon, left=0.0, right=0.0)
        else:
            codes = self.cells_.find(rows)
            density = np.append(self.shares_ / self.cells_.volumes, 0.0)
            found = density[codes]
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(found))

    def sample(self, n: int = 1, *, seed: int | np.random.Generator | None = None) -> np.ndarray:
        """Return rows drawn from the density.

        Args:
            n: the number of rows.
            seed: seed of the random draws.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: `n` is out of range, or the density is a polygon.

        >>> HistogramDensity(4).fit([[0.0], [9.0]]).sample(3, seed=0).shape
        (3, 1)
        """
        self._check_fitted()
        if self.polygon:
            raise InvalidArgument("Samples are drawn from cells: set polygon=False.")
        count, random = draw_count(n), generator(seed)
        at = random.choice(len(self.shares_), count, p=self.shares_ / self.shares_.sum())
        low, high = self.cells_.corners()
        return np.asarray(random.uniform(low[at], high[at]))

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean of each column, and the covariance matrix.

        Raises:
            IncompleteModel: it is not fitted.

        >>> mean, covariance = HistogramDensity(4).fit([[0.0], [9.0]]).moments()
        >>> mean.shape, covariance.shape
        ((1,), (1, 1))
        """
        self._check_fitted()
        if self.polygon:
            x, y = self._polygon
            middle, half = 0.5 * (x[1:] + x[:-1]), 0.5 * (y[1:] + y[:-1])
            # Simpson's rule is exact for lines times squares
            powers = [
                float(
                    (np.diff(x) / 6.0) @ (x[:-1] ** k * y[:-1] + 4.0 * middle**k * half + x[1:] ** k * y[1:])
                )
                for k in range(3)
            ]
            mean = powers[1] / powers[0]
            return np.array([mean]), np.array([[powers[2] / powers[0] - mean**2]])
        low, high = self.cells_.corners()
        shares, middles = self.shares_ / self.shares_.sum(), 0.5 * (low + high)
        means = shares @ middles
        off = middles - means
        return means, (shares[:, None] * off).T @ off + np.diag(shares @ (high - low) ** 2 / 12.0)

    def _range(self) -> tuple[np.ndarray, np.ndarray]:
        low, high = self.cells_.corners()
        beyond = self.cells_.widths * (0.6 if self.polygon else 0.1)
        return low.min(axis=0) - beyond, high.max(axis=0) + beyond

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [
            [name, f"{w:.6g}" if w else "", "" if math.isinf(k) else f"{int(k):,}"]
            for name, w, k in zip(self._names, self.cells_.widths, self.cells_.counts, strict=True)
        ]
        cells = " cells" if math.isinf(self.n_cells_) else f" of {self.n_cells_:,.6g} cells"
        return (
            ["column", "width", "cells"],
            rows,
            f"{self._begun()}: {self.n_rows_:,.6g} rows in {self.n_filled_:,}{cells}",
        )


def _polygon(cells: Cells, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centres of all cells of one column and densities there, with an empty cell at each end."""
    if cells.filled.shape[1] != 1:
        raise InvalidArgument(
            f"polygon=True goes from cell to cell of one column, and there are {cells.filled.shape[1]}."
        )
    codes = cells.filled[:, 0]
    first, size = int(codes.min()), int(codes.max() - codes.min()) + 1
    if size > _MOST:
        raise TooLarge(
            f"Between the smallest and the largest row lie {size:,} cells, and a polygon has {_MOST:,} at "
            "most: take wider cells, or polygon=False."
        )
    heights = np.zeros(size + 2)
    heights[codes - first + 1] = shares / cells.widths[0]
    middles = cells.starts[0] + cells.widths[0] * (np.arange(first - 1, first + size + 1) + 0.5)
    return middles, heights
