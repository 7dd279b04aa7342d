"""Regressograms: a mean or a line in each bin."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from pgm.adapters.cells import Cells, cells_of
from pgm.adapters.rows import whole
from pgm.adapters.windows import window_option
from pgm.errors import InvalidArgument

from .base import Curve, IntervalSmoother, flattest

_ROWS, _COLUMNS = 20, 4  # that are printed


class Regressogram(IntervalSmoother):
    """A regressogram: in each cell of a grid the mean of its rows, or a line (plane) fitted to them.

    Args:
        bins: the number of cells in each column, from its smallest to its largest value; or the name of a
            rule of `numpy.histogram_bin_edges`; None: use `width` and `origin`, or ten cells.
        width: the width of the cells, one for all columns or one for each; the grid is then unbounded.
        origin: the edge of a cell; with `width`.
        degree: 0, a mean; 1, a line.
        empty: the prediction in a cell without rows: "raise" refuses, "mean" is the mean of all rows.

    After `fit` there are `cells_`, those that contain rows, and `means_`, one for each.

    >>> found = Regressogram(width=2.0).fit([[0.0], [1.0], [2.0], [3.0], [4.0]], [1.0, 3.0, 2.0, 5.0, 4.0])
    >>> found.predict([[1.8], [2.5], [4.0]]).tolist()
    [2.0, 3.5, 4.0]
    """

    cells_: Cells
    means_: np.ndarray
    mean_: float
    _places: np.ndarray
    _slopes: np.ndarray
    _inverse: np.ndarray
    _residue: np.ndarray
    _sizes: np.ndarray
    _freedom: np.ndarray

    def __init__(
        self,
        bins: int | str | None = None,
        *,
        width: Any = None,
        origin: Any = None,
        degree: int = 0,
        empty: str = "raise",
    ) -> None:
        """Store the options; `fit` checks them."""
        self.bins, self.width, self.origin = bins, width, origin
        self.degree, self.empty = degree, empty

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Fit the mean or the line of each cell; returns the estimator itself.

        Args:
            X: rows: a data frame, or an array.
            y: the target value of each row.
            sample_weight: the weight of each row, as if repeated; by default 1.

        Raises:
            InvalidArgument: an option is out of range.
            InvalidFrame: a value is missing or not a number.

        >>> Regressogram(2).fit([[0.0], [1.0], [9.0]], [1.0, 3.0, 5.0]).means_.tolist()
        [2.0, 5.0]
        """
        if whole("degree", self.degree, 0) > 1:
            raise InvalidArgument(f"degree= is 0, a mean, or 1, a line, not {self.degree}.")
        window_option("empty", self.empty, ("raise", "mean"))
        rows, targets, weights, about = self._begin_targets(X, y, sample_weight)
        cells, codes = cells_of(rows, self.bins, self.width, self.origin)
        k, dim = len(cells.filled), rows.shape[1]

        def total(values: np.ndarray) -> np.ndarray:
            return np.bincount(codes, weights * values, k)

        n = total(np.ones(len(rows)))
        means = total(targets) / n
        places = np.column_stack([total(column) / n for column in rows.T])
        slopes, inverse, rank = np.zeros((k, dim)), np.zeros((k, dim, dim)), np.zeros(k)
        if self.degree == 1:
            off, about_mean = rows - places[codes], np.empty((k, dim, dim))
            for a in range(dim):
                for b in range(a + 1):
                    about_mean[:, a, b] = about_mean[:, b, a] = total(off[:, a] * off[:, b])
            answers = np.column_stack([total(column * (targets - means[codes])) for column in off.T])
            size = np.column_stack([total(column * column) for column in (rows - rows.mean(axis=0)).T])
            slopes, inverse, rank = flattest(about_mean, size, answers)
        residue = total((targets - means[codes] - ((rows - places[codes]) * slopes[codes]).sum(axis=1)) ** 2)
        return self._keep(
            about, cells_=cells, means_=means, mean_=float(weights @ targets / weights.sum()), rows_=rows,
            targets_=targets, _places=places, _slopes=slopes, _inverse=inverse, _residue=residue, _sizes=n,
            _freedom=n - 1.0 - rank,
        )  # fmt: skip

    def _curve(self, rows: np.ndarray, spread: bool) -> Curve:
        codes = self.cells_.find(rows)
        lost = codes < 0
        if lost.any():
            if self.empty == "raise":
                raise InvalidArgument(
                    f"Row {int(lost.argmax()):,} (the first is 0) is in a cell without rows: "
                    f"{len(self.cells_.filled):,} have some{self._of_all()}. Take wider cells, "
                    'or empty="mean".'
                )
            if spread:
                raise InvalidArgument(
                    f"Row {int(lost.argmax()):,} (the first is 0) is in a cell without rows, where nothing "
                    "is known of how values vary: use wider cells."
                )
        off = rows - self._places[codes]
        mean: np.ndarray = self.means_[codes] + (off * self._slopes[codes]).sum(axis=1)
        mean = np.asarray(np.where(lost, self.mean_, mean))
        if not spread:
            return Curve(mean)
        freedom = self._freedom[codes]
        known = freedom > 1e-9
        deviation = np.sqrt(self._residue[codes] / np.where(known, freedom, 1.0))
        share = 1.0 / self._sizes[codes] + np.einsum("qa,qab,qb->q", off, self._inverse[codes], off)
        return Curve(mean, np.where(known, deviation, np.nan), np.sqrt(share), freedom)

    def _window(self, at: float, places: np.ndarray) -> np.ndarray | None:
        if self.cells_.filled.shape[1] != 1:
            return None
        cell = np.floor((np.append(places, at) - self.cells_.starts[0]) / self.cells_.widths[0])
        return np.asarray(cell[:-1] == cell[-1], np.float64)

    def _of_all(self) -> str:
        """How many cells there are, if they end."""
        return f", of {self.cells_.count:,.6g}" if np.isfinite(self.cells_.count) else ""

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        low, high = (corner[:_ROWS, :_COLUMNS] for corner in self.cells_.corners())
        rows = [
            [*(f"{a:.4g} to {b:.4g}" for a, b in zip(one, other, strict=True)), f"{n:,.6g}", f"{m:.6g}"]
            for one, other, n, m in zip(low, high, self._sizes[:_ROWS], self.means_[:_ROWS], strict=True)
        ]
        said = f"{self._begun()}: {len(self.cells_.filled):,} cells with rows{self._of_all()}"
        return [*self._names[:_COLUMNS], "rows", "mean"], rows, said
