"""Local regression: running means, medians and lines, kernel smoothers, loess, local polynomials."""

from __future__ import annotations

import itertools
import math
from typing import Any, Self

import numpy as np

from pgm.adapters.rows import positive, whole
from pgm.adapters.windows import SHAPES, distances, window_option
from pgm.errors import InvalidArgument, TooLarge, shown
from pgm.runtime.clock import start_clock

from .base import SMOOTHING, Curve, IntervalSmoother
from .local_sums import Products, about_means, deviation, heights, of_moments

WINDOWS = ("tricube", "gaussian", "epanechnikov", "box")
_SHORT = ("tricube", "epanechnikov", "box")  # windows that end, as the loops number them
_AT_ONCE = 1 << 24  # distances between looks at the clock
_MATRIX = (
    1 << 21
)  # distances at once where they are multiplied by features of the rows, which are read each time
_SHARE = 0.3  # of the rows in a window, by default
_MOST = 200  # coefficients of a polynomial
# Squares about the mean relative to those about the middle of all rows: below, too many digits cancelled, and
# sums are taken about each place.
_CANCELLED = 2.5e-3


class LocalSmoother(IntervalSmoother):
    """Local regression: at each point a mean, median, line or polynomial of the rows near it.

    With a box for a window it is the running mean (degree 0), median (`center="median"`) or line (degree 1);
    with a smooth window the kernel smoother (degree 0) or loess (degree 1). A window is set by a width
    or by a number of neighbours. If the rows near a point do not determine a line, the flattest of the best
    is used.

    Args:
        width: of the window: its radius, or the standard deviation of a Gaussian.
        neighbours: the number of rows that the window reaches, which sets its width; or the fraction of the
            rows, below 1, but at least one more than a polynomial has coefficients. By default 0.3, unless
            there is a width.
        window: "tricube", "gaussian", "epanechnikov" or "box".
        degree: of the polynomial; 0, a mean; 1, a line.
        center: "mean"; or "median", with degree 0.
        robust: the number of robustness iterations, which downweight rows far from the curve and refit it.

    >>> x, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [1.0, 3.0, 2.0, 5.0, 4.0]
    >>> LocalSmoother(1.5, window="gaussian").fit(x, y).predict([[1.8]]).round(10).tolist()
    [2.8885105046]
    """

    rows_: np.ndarray
    targets_: np.ndarray
    weights_: np.ndarray
    robust_weights_: np.ndarray
    neighbours_: float | None
    _middle: np.ndarray  # of the rows
    _level: float  # the mean of the targets

    def __init__(
        self,
        width: float | None = None,
        *,
        neighbours: float | None = None,
        window: str = "tricube",
        degree: int = 1,
        center: str = "mean",
        robust: int = 0,
    ) -> None:
        """Store the options; `fit` checks them."""
        self.width, self.neighbours, self.window = width, neighbours, window
        self.degree, self.center, self.robust = degree, center, robust

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Fit to rows and their targets; returns the estimator itself.

        Args:
            X: rows: a data frame, or an array.
            y: the target value of each row.
            sample_weight: the weight of each row, as if repeated; by default 1.

        Raises:
            InvalidArgument: an option is out of range; fewer rows than neighbours.
            InvalidFrame: a value is missing or not a number.
            OutOfTime: the time limit is reached (`robust`).
            TooLarge: the polynomial has more than 200 coefficients.

        >>> LocalSmoother(neighbours=2, window="box").fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]).neighbours_
        2.0
        """
        window_option("window", self.window, WINDOWS)
        window_option("center", self.center, ("mean", "median"))
        whole("degree", self.degree, 0)
        if self.center == "median" and self.degree != 0:
            raise InvalidArgument('center="median" needs degree=0: a median has no slope.')
        steps = whole("robust", self.robust, 0)
        rows, targets, weights, about = self._begin_targets(X, y, sample_weight)
        n, dim = float(weights.sum()), rows.shape[1]
        size = math.comb(dim + int(self.degree), dim)
        if size > _MOST:
            raise TooLarge(
                f"A polynomial of degree {self.degree} in {dim} columns has {size:,} coefficients, and "
                f"{_MOST} are possible: take a lower degree, or AdditiveSmoother."
            )
        learned: dict[str, Any] = {"neighbours_": None}
        if self.width is None:
            learned["neighbours_"] = self._near(n, size)
        else:
            if self.neighbours is not None:
                raise InvalidArgument("A window is wide by width= or by neighbours=: one of them.")
            positive("width", self.width)
        # A column that does not vary is 0 about the middle, not what its mean is rounded by.
        learned["_middle"] = np.where((rows == rows[0]).all(axis=0), rows[0], rows.mean(axis=0))
        learned |= {"_level": float(targets.mean()), "robust_weights_": np.ones(len(rows))}
        self._keep(about, rows_=rows, targets_=targets, weights_=weights, **learned)
        for _ in range(steps):
            off = np.abs(targets - self._curve(rows, False).mean)
            middle = float(_medians(weights[None, :], off)[0])
            if middle <= 1e-15 * float(np.abs(targets).max(initial=0.0)):
                break  # half of the rows are on the curve
            self.robust_weights_ = np.maximum(1.0 - (off / (6.0 * middle)) ** 2, 0.0) ** 2
        return self

    def _near(self, n: float, size: int) -> float:
        given = _SHARE if self.neighbours is None else self.neighbours
        if isinstance(given, bool) or not isinstance(given, int | float | np.integer | np.floating):
            given = math.nan
        if 0.0 < given < 1.0:
            return min(n, max(float(size + 1), math.floor(given * n + 1e-9)))
        if not given >= 1.0 or given != math.floor(given):
            raise InvalidArgument(
                "neighbours= is a whole number of at least 1, or a share of the rows below 1, not "
                f"{shown(self.neighbours)}."
            )
        if given > n:
            raise InvalidArgument(f"neighbours={int(given)}, and there are n_samples={n:g} rows.")
        return float(given)

    @property
    def _unspread(self) -> str:  # type: ignore[override]
        if self.center == "mean":
            return ""
        return 'With center="median" there is no standard deviation: take center="mean".'

    def _window(self, at: float, places: np.ndarray) -> np.ndarray | None:
        if self.rows_.shape[1] != 1:
            return None
        far = (self.rows_.T - at) ** 2
        _, scale = self._windows(far)
        there = (places - at) ** 2 / scale[0] ** 2
        if self.window == "box" and self.neighbours_ is not None:
            return np.asarray(there <= 1.0, np.float64)
        return SHAPES[self.window](there)

    # --- implementation ---

    def _curve(self, rows: np.ndarray, spread: bool) -> Curve:
        """The curve at some points, in blocks."""
        found = [np.empty(len(rows)) for _ in range(4 if spread else 1)]
        if self._is_short():
            return self._lines(rows, spread)
        features = self._features() if self.degree == 1 else None
        block = {} if features is None else {"block": _MATRIX}
        for part, far in distances(rows, self.rows_, self.window, "smoothing", **block):
            window, scales = self._windows(far)
            total = window @ self.weights_
            if not total.all():
                self._refuse_empty(part.start + int((total == 0.0).argmax()))
            if self.center == "median":
                each = Curve(_medians(window * self.weights_, self.targets_))
            elif self.degree == 0:
                each = self._means(window, total, spread)
            else:
                each = self._polynomials(rows[part], window, scales, total, features, spread)
            for whole_, one in zip(found, each, strict=False):
                whole_[part] = one
        return Curve(*found)

    def _is_short(self) -> bool:
        """Whether a line takes only the rows in its window, which stand together in order of one column."""
        one = self.rows_.shape[1] == 1 and self.degree == 1 and self.window in _SHORT
        return one and bool((self.weights_ == 1.0).all())

    def _lines(self, places: np.ndarray, spread: bool) -> Curve:
        """The same of one column, from sums over the rows in each window."""
        m, order = len(places), np.argsort(self.rows_[:, 0], kind="stable")
        rows, targets, counts = self.rows_[order, 0], self.targets_[order], self.robust_weights_[order]
        near = 0 if self.neighbours_ is None else int(self.neighbours_)
        width = 0.0 if self.width is None else float(self.width)
        window = _SHORT.index(self.window) + (self.window == "box" and near > 0)
        total, middles, residues = np.zeros(m), np.zeros(m), np.zeros(m)
        sums, answers, spreads = np.zeros((m, 2, 2)), np.zeros((m, 2)), np.zeros((m, 2, 2))
        clock, step = start_clock(), max(1, _AT_ONCE // len(rows))
        for begin in range(0, m, step):
            clock.check("smoothing")
            part = slice(begin, begin + step)
            SMOOTHING.lines(
                rows, targets, counts, np.ascontiguousarray(places[part, 0]), width, near, window, spread,
                np.empty(len(rows)), total[part], middles[part], sums[part].reshape(-1),
                answers[part].reshape(-1), spreads[part].reshape(-1), residues[part],
            )  # fmt: skip
        if not total.all():
            self._refuse_empty(int((total == 0.0).argmax()))
        return heights(of_moments(sums, answers, spreads, residues, middles, total, spread), total, spread)

    def _windows(self, far: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The weight of each row at each point, from squared distances; and the widths."""
        if self.neighbours_ is None:
            assert self.width is not None
            squares = np.full(len(far), float(self.width) ** 2)
        else:
            squares = _reach(far, self.neighbours_, self.weights_)
        scales = np.sqrt(squares)
        scales[scales == 0.0] = 1.0
        if self.window == "gaussian":
            # Relative to the nearest row that counts, so that not all underflow.
            nearest = np.where(self.robust_weights_ > 0.0, far, np.inf).min(axis=1, keepdims=True)
            found = np.exp(-0.5 * (far - nearest) / (scales**2)[:, None])
        elif self.neighbours_ is not None and self.window == "box":
            found = (far <= squares[:, None]).astype(np.float64)
        else:
            found = SHAPES[self.window](far / (scales**2)[:, None])
        found *= self.robust_weights_
        if self.neighbours_ is not None:
            # All that are near are at the edge: as if the window were a little wider.
            edge = ~found.any(axis=1)
            if edge.any():
                found[edge] = (far[edge] <= squares[edge, None]) * self.robust_weights_
        return found, scales

    def _refuse_empty(self, row: int) -> None:
        raise InvalidArgument(
            f"Row {row:,} (the first is 0): no row of `fit` is in its window. Take a larger width=, or "
            "neighbours=, which always reaches some."
        )

    def _means(self, window: np.ndarray, total: np.ndarray, spread: bool) -> Curve:
        mean = window @ (self.weights_ * self.targets_) / total
        if not spread:
            return Curve(mean)
        squares = (window * window) @ self.weights_
        residue = (window * (self.targets_ - mean[:, None]) ** 2) @ self.weights_
        left = total - squares / total
        many = total**2 / squares - 1.0
        return Curve(mean, deviation(residue, left, total), np.sqrt(squares) / total, many)

    def _polynomials(
        self, places: np.ndarray, window: np.ndarray, scales: np.ndarray, total: np.ndarray,
        features: np.ndarray | None, spread: bool,
    ) -> Curve:  # fmt: skip
        sums = None if features is None else self._products(places, window, total, features, spread)
        if sums is None:
            sums = self._products_about(places, window, scales, total, spread)
        return heights(sums, total, spread)

    def _features(self) -> np.ndarray:
        """Of each row 1, columns, their products, the number, and products with it, about the middle."""
        x, y = self.rows_ - self._middle, (self.targets_ - self._level)[:, None]
        low, high = np.triu_indices(x.shape[1])
        every = [np.ones_like(y), x, x[:, low] * x[:, high], y, x * y, y * y]
        return np.asarray(np.hstack(every) * self.weights_[:, None])

    def _products(
        self, places: np.ndarray, window: np.ndarray, total: np.ndarray, features: np.ndarray, spread: bool
    ) -> Products | None:
        """All sums as products of matrices, about the middle of all rows; None: windows are too narrow."""
        dim = places.shape[1]
        low, high = np.triu_indices(dim)
        sums = window @ features
        mean, level = sums[:, 1 : dim + 1] / total[:, None], sums[:, -dim - 2] / total
        about = about_means(sums, mean, total, low, high)
        squares = np.einsum("qaa->qa", about)
        if (squares < _CANCELLED * sums[:, dim + 1 : dim + 1 + len(low)][:, low == high]).any():
            return None
        lean = places - self._middle - mean
        found = Products(
            about=about,
            squares=squares + lean**2 * total[:, None],
            right=sums[:, -dim - 1 : -1] - mean * sums[:, -dim - 2, None],
            lean=lean,
            level=level + self._level,
            residue=sums[:, -1] - level * sums[:, -dim - 2],
        )
        if not spread:
            return found
        sums = (window * window) @ features[:, : dim + 1 + len(low)]
        twice, shift = sums[:, 0], sums[:, 1 : dim + 1] / sums[:, :1] - mean
        around = about_means(sums, mean + shift, twice, low, high)
        around += (twice[:, None] * shift)[:, :, None] * shift[:, None, :]
        return found._replace(twice=twice, twice_mean=twice[:, None] * shift, twice_about=around)

    def _products_about(
        self, places: np.ndarray, window: np.ndarray, scales: np.ndarray, total: np.ndarray, spread: bool
    ) -> Products:
        """The same of monomials about each place, in units of the window: right for every width."""
        m, dim = places.shape
        parents, columns = _monomials(dim, int(self.degree))
        size = len(parents)
        middles = window @ (self.weights_ * self.targets_) / total
        sums, answers = np.zeros((m, size, size)), np.zeros((m, size))
        spreads, residues = np.zeros((m if spread else 0, size, size)), np.zeros(m)
        SMOOTHING.moments(
            window.reshape(-1), self.weights_, self.rows_.reshape(-1), self.targets_,
            np.ascontiguousarray(places).reshape(-1), scales, middles, dim, parents, columns, int(spread),
            sums.reshape(-1), answers.reshape(-1), spreads.reshape(-1), residues,
        )  # fmt: skip
        return of_moments(sums, answers, spreads, residues, middles, total, spread)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        low, high = self.rows_.min(axis=0), self.rows_.max(axis=0)
        rows = [[name, f"{a:.6g} to {b:.6g}"] for name, a, b in zip(self._names, low, high, strict=True)]
        near = f"width {self.width:.6g}" if self.neighbours_ is None else f"{self.neighbours_:g} neighbours"
        return ["column", "range"], rows, f"{self._begun()}: {len(self.rows_):,} rows, {near}"


def _reach(far: np.ndarray, near: float, weights: np.ndarray) -> np.ndarray:
    """The squared distance to the neighbour that completes their number."""
    if (weights == 1.0).all():
        k = int(near) - 1
        return np.partition(far, k, axis=1)[:, k].copy()
    order = np.argsort(far, axis=1)
    there = np.cumsum(weights[order], axis=1)
    last = np.minimum((there < near * (1.0 - 1e-12)).sum(axis=1), far.shape[1] - 1)
    return np.asarray(np.take_along_axis(far, order[np.arange(len(far)), last][:, None], axis=1)[:, 0])


def _medians(weights: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Weighted medians: the mean of the lower and the upper one."""
    order = np.argsort(targets, kind="stable")
    sums = np.cumsum(weights[:, order], axis=1)
    half = 0.5 * sums[:, -1:]
    slack = 1e-12 * half
    low, high = (sums < half - slack).sum(axis=1), (sums <= half + slack).sum(axis=1)
    values = targets[order]
    return np.asarray(0.5 * (values[low] + values[np.minimum(high, len(values) - 1)]))


def _monomials(dim: int, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """All monomials of this many columns: which one each is times which column; the first is 1."""
    every = [one for k in range(degree + 1) for one in itertools.combinations_with_replacement(range(dim), k)]
    place = {one: t for t, one in enumerate(every)}
    parents = [0] + [place[one[:-1]] for one in every[1:]]
    columns = [0] + [one[-1] for one in every[1:]]
    return np.array(parents, np.int64), np.array(columns, np.int64)
