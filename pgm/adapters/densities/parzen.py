"""Parzen (kernel) density estimates: window shapes and widths, evaluated directly or on a grid."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from pgm.adapters.rows import positive, row_weights, whole
from pgm.adapters.windows import SHAPES, distances, log_mean, log_volume, window_option
from pgm.errors import InvalidArgument, shown
from pgm.randomness import draw_count, generator

from .base import DrawnDensity
from .grid import Grid, spread_on_grid
from .widths import RULES, rule_width, validated_width

WINDOWS = ("gaussian", "epanechnikov", "cube")


class ParzenDensity(DrawnDensity):
    """The Parzen (kernel) density estimate: the mean of windows, one around each row.

    The smaller the width, the closer it follows the rows. With a grid, rows are convolved with the window on
    it by Fourier transform, which is fast for many rows but approximate: `grid_error_` bounds the error.

    Args:
        width: of the windows; or a rule: "silverman", "scott", "root" (1 / sqrt(n)), "volume" (the volume of
            a cube is 1 / sqrt(n)), or "validation", which maximises the leave-one-out likelihood.
        window: "gaussian"; "epanechnikov", a paraboloid of radius one width; or "cube", whose edge is the
            width (with one column, the naive estimator).
        scale: factor by which the width of a rule is multiplied.
        covariance: the shape of the windows: None, equally wide in all columns; "diagonal", by the variances;
            "full", by the covariance of the rows; or a matrix. Widths are relative to it.
        grid: the number of grid points in each column; None: no grid. Windows are then Gaussian, and
            `covariance` None or "diagonal".

    After `fit` there are `width_`, `rows_` (None with a grid), `covariance_` and `grid_error_`.

    >>> found = ParzenDensity(1.0).fit([[0.0], [1.0], [3.0], [6.0], [10.0]])
    >>> np.exp(found.score_samples([[2.0]])).round(10).tolist()
    [0.1076132492]
    """

    width_: float
    rows_: np.ndarray | None
    weights_: np.ndarray
    covariance_: np.ndarray
    grid_error_: float
    n_rows_: float
    _root: np.ndarray
    _grid: Grid | None

    def __init__(
        self,
        width: float | str = "silverman",
        *,
        window: str = "gaussian",
        scale: float = 1.0,
        covariance: Any = None,
        grid: int | None = None,
    ) -> None:
        """Store the options; `fit` checks them."""
        self.width, self.window, self.scale = width, window, scale
        self.covariance, self.grid = covariance, grid

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Fit to rows; returns the estimator itself.

        Args:
            X: rows: a data frame, or an array.
            y: ignored; present for pipelines.
            sample_weight: the weight of each row; by default 1.

        Raises:
            InvalidArgument: an option is out of range; rows do not vary, so that a rule gives no width.
            InvalidFrame: a value is missing or not a number.
            OutOfTime: the time limit is reached before a width is found.
            TooLarge: the grid would have more points than memory allows.

        >>> ParzenDensity("root").fit([[0.0], [1.0], [3.0], [6.0]]).width_
        0.5
        """
        window = window_option("window", self.window, WINDOWS)
        scale = positive("scale", self.scale)
        if isinstance(self.width, str):
            window_option("width", self.width, RULES)
        elif scale != 1.0:
            raise InvalidArgument(
                "scale= multiplies the width of a rule; here width= is a number, so change that."
            )
        if self.grid is not None:
            whole("grid", self.grid, 2)
            if window != "gaussian" or not (self.covariance is None or isinstance(self.covariance, str)):
                raise InvalidArgument('A grid takes window="gaussian", and covariance=None or "diagonal".')
            if self.covariance == "full":
                raise InvalidArgument('A grid has columns for axes: it takes covariance=None or "diagonal".')
        rows, about = self._begin(X)
        weights = row_weights(sample_weight, len(rows))
        keep = weights > 0.0
        if not keep.all():
            rows, weights = rows[keep], weights[keep]
        covariance = _covariance(self.covariance, rows, weights, window)
        root = np.eye(rows.shape[1]) if covariance is None else np.linalg.cholesky(covariance)
        n = float(weights.sum())
        if self.width == "validation":
            width = scale * validated_width(_whitened(rows, rows.mean(axis=0), root), weights, window)
        elif isinstance(self.width, str):
            width = scale * rule_width(self.width, rows, weights, window, covariance is not None)
        else:
            width = positive("width", self.width)
        learned: dict[str, Any] = {
            "width_": width,
            "n_rows_": n,
            "covariance_": np.eye(rows.shape[1]) if covariance is None else covariance,
            "_root": root,
            "rows_": rows,
            "weights_": weights,
            "grid_error_": 0.0,
            "_grid": None,
        }
        if self.grid is not None:
            grid = spread_on_grid(rows, weights, width * np.diag(root), int(self.grid))
            learned |= {"_grid": grid, "grid_error_": grid.error, "rows_": None}
        return self._keep(about, **learned)

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log density at each row; minus infinity outside of all windows.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.
            OutOfTime: the time limit is reached.

        >>> found = ParzenDensity(1.0, window="cube").fit([[0.0], [0.3], [0.8], [2.0]])
        >>> np.exp(found.score_samples([[0.0], [0.5]])).round(6).tolist()
        [0.5, 0.75]
        """
        places = self._read(X)
        if self._grid is not None:
            with np.errstate(divide="ignore"):
                return np.asarray(np.log(self._grid.at(places)))
        assert self.rows_ is not None
        middle = self.rows_.mean(axis=0)
        places, rows = (_whitened(some, middle, self._root) for some in (places, self.rows_))
        found = log_density(places, rows, self.weights_, self.width_, self.window)
        return found - float(np.log(np.diag(self._root)).sum())

    def sample(self, n: int = 1, *, seed: int | np.random.Generator | None = None) -> np.ndarray:
        """Return rows drawn from the density.

        Args:
            n: the number of rows.
            seed: seed of the random draws.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: `n` is out of range.

        >>> ParzenDensity(1.0).fit([[0.0], [9.0]]).sample(3, seed=0).shape
        (3, 1)
        """
        self._check_fitted()
        count, random, dim = draw_count(n), generator(seed), self.n_features_in_
        if self._grid is not None:
            places = random.choice(self._grid.shares.size, count, p=self._grid.shares.ravel())
            across = np.column_stack(np.unravel_index(places, self._grid.shares.shape))
            middles = self._grid.origin + self._grid.step * across
        else:
            assert self.rows_ is not None
            shares = self.weights_ / self.weights_.sum()
            middles = self.rows_[random.choice(len(self.rows_), count, p=shares)]
        if self.window == "gaussian":
            noise = random.normal(size=(count, dim))
        elif self.window == "cube":
            noise = random.uniform(-0.5, 0.5, size=(count, dim))
        else:  # the radius of a paraboloid: its square is Beta(d / 2, 2)
            noise = random.normal(size=(count, dim))
            noise *= np.sqrt(random.beta(0.5 * dim, 2.0, size=count) / (noise**2).sum(axis=1))[:, None]
        return np.asarray(middles + self.width_ * noise @ self._root.T)

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean of each column, and the covariance matrix.

        Raises:
            IncompleteModel: it is not fitted.

        >>> mean, covariance = ParzenDensity(1.0).fit([[0.0], [9.0]]).moments()
        >>> mean.tolist(), covariance.tolist()
        ([4.5], [[21.25]])
        """
        self._check_fitted()
        dim = self.n_features_in_
        if self._grid is not None:
            places = np.indices(self._grid.shares.shape).reshape(dim, -1).T
            rows, weights = self._grid.origin + self._grid.step * places, self._grid.shares.ravel()
        else:
            assert self.rows_ is not None
            rows, weights = self.rows_, self.weights_
        weights = weights / weights.sum()
        mean = weights @ rows
        off = rows - mean
        window = {"gaussian": 1.0, "cube": 1.0 / 12.0}.get(self.window, 1.0 / (dim + 4.0))
        spread = window * self.width_**2 * self.covariance_
        return mean, (weights[:, None] * off).T @ off + spread

    def _range(self) -> tuple[np.ndarray, np.ndarray]:
        if self._grid is not None:
            return self._grid.origin, self._grid.origin + self._grid.step * (
                np.array(self._grid.values.shape) - 1
            )
        assert self.rows_ is not None
        beyond = {"gaussian": 3.0, "cube": 0.75}.get(self.window, 1.25) * self.width_
        reach = beyond * np.sqrt(np.diag(self.covariance_))
        return self.rows_.min(axis=0) - reach, self.rows_.max(axis=0) + reach

    def _points(self) -> np.ndarray:
        return super()._points() if self.rows_ is None else self.rows_

    def _windows(self, count: int, places: np.ndarray) -> np.ndarray:
        if self.rows_ is None or len(self.rows_) > count:
            return super()._windows(count, places)
        width = self.width_ * float(self._root[0, 0])
        shares = self.weights_ / self.weights_.sum() / width / math.exp(log_volume(self.window, 1))
        return np.asarray(shares[:, None] * SHAPES[self.window](((places - self.rows_) / width) ** 2))

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        deviations = np.sqrt(np.diag(self.covariance_)) * self.width_
        rows = [[name, f"{w:.6g}"] for name, w in zip(self._names, deviations.tolist(), strict=True)]
        said = f"{self._begun()}: {self.n_rows_:,.6g} rows, width {self.width_:.6g}"
        if self._grid is not None:
            said += f"; on a grid, not exact: the density is right within {self.grid_error_:.3g}"
        return ["column", "width of windows"], rows, said


def log_density(
    places: np.ndarray, rows: np.ndarray, weights: np.ndarray, width: float, window: str
) -> np.ndarray:
    """The log mean of windows around rows."""
    found, dim = np.empty(len(places)), rows.shape[1]
    shares = None if (weights == weights[0]).all() else weights / weights.sum()
    for part, far in distances(places, rows, window, "density"):
        found[part] = log_mean(far, 1.0 / width**2, shares, window)
    return np.asarray(found - dim * math.log(width) - log_volume(window, dim))


def _whitened(rows: np.ndarray, middle: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Rows in coordinates in which windows are spherical."""
    if (root == np.eye(len(root))).all():
        return rows
    from scipy.linalg import solve_triangular

    return np.ascontiguousarray(solve_triangular(root, (rows - middle).T, lower=True).T)


def _covariance(given: Any, rows: np.ndarray, weights: np.ndarray, window: str) -> np.ndarray | None:
    """The matrix that shapes the windows; None: all columns alike."""
    if given is None:
        return None
    dim = rows.shape[1]
    if isinstance(given, str):
        window_option("covariance", given, ("diagonal", "full"))
        n = weights.sum()
        off = rows - weights @ rows / n
        if n <= 1.0 or (off == 0.0).all(axis=0).any():
            raise InvalidArgument(
                f'covariance="{given}" is that of the rows, and a column does not vary in the '
                f"n_samples={len(rows)} rows: set covariance=None."
            )
        found = (weights * off.T) @ off / (n - 1.0)
        if given == "diagonal":
            found = np.diag(np.diag(found))
    else:
        try:
            found = np.array(given, dtype=np.float64)
        except (TypeError, ValueError):
            found = np.array(np.nan)
        if found.shape != (dim, dim) or not np.allclose(found, found.T):
            raise InvalidArgument(
                f'covariance= is None, "diagonal", "full", or a symmetric matrix of {dim} by {dim}, not '
                f"{shown(given)}."
            )
    if window == "cube" and (found != np.diag(np.diag(found))).any():
        raise InvalidArgument('window="cube" has edges along the columns: covariance= is None or "diagonal".')
    scale = np.sqrt(np.abs(np.diag(found)))
    if (scale == 0.0).any() or np.linalg.eigvalsh(found / np.outer(scale, scale)).min() < 1e-12:
        raise InvalidArgument(
            "The covariance of the windows is singular: a column follows from the others. Leave it out, or "
            'set covariance="diagonal".'
        )
    return np.asarray(found)
