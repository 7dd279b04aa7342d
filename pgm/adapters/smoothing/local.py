"""Local means, medians, lines and polynomials: running, by windows, by neighbours; loess."""

from __future__ import annotations

import itertools
import math
from typing import Any, Self

import numpy as np

from pgm.adapters.rows import positive, whole
from pgm.adapters.windows import SHAPES, distances, window_option
from pgm.errors import InvalidArgument, TooLarge, shown

from .base import SMOOTHING, Curve, IntervalSmoother, flattest

WINDOWS = ("tricube", "gaussian", "epanechnikov", "box")
_SHARE = 0.3  # of the rows that are near, if nothing is said
_MOST = 200  # coefficients of a polynomial


class LocalSmoother(IntervalSmoother):
    """A curve that at each place is a mean, a median, a line or a polynomial of the rows near it.

    With a box for a window it is the running mean (degree 0), median (`center="median"`) or line (degree 1);
    with a smooth window the kernel smoother (degree 0) or loess (degree 1). What is near is said by a width
    or by a number of neighbours. Where rows near a place do not determine a line, the flattest of the best
    is taken.

    Args:
        width: of the window: how far it reaches, or the standard deviation of a Gaussian.
        neighbours: the window reaches just so many rows, and is as wide as they are far; or the share of the
            rows, a number below 1, but one more than a polynomial has coefficients. By default 0.3, unless
            there is a width.
        window: "tricube", "gaussian", "epanechnikov" or "box".
        degree: of the polynomial; 0, a mean; 1, a line.
        center: "mean"; or "median", with degree 0.
        robust: how often rows far from the curve are given less weight, and the curve is found anew.

    >>> x, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [1.0, 3.0, 2.0, 5.0, 4.0]
    >>> LocalSmoother(1.5, window="gaussian").fit(x, y).predict([[1.8]]).round(10).tolist()
    [2.8885105046]
    """

    rows_: np.ndarray
    targets_: np.ndarray
    weights_: np.ndarray
    robust_weights_: np.ndarray
    neighbours_: float | None

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
        """Take the options; `fit` checks them."""
        self.width, self.neighbours, self.window = width, neighbours, window
        self.degree, self.center, self.robust = degree, center, robust

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Take rows and their numbers; returns the estimator itself.

        Args:
            X: rows: a data frame, or an array.
            y: the number of each row.
            sample_weight: how much each row counts, as if there were so many; 1 if left out.

        Raises:
            InvalidArgument: an option is out of range; fewer rows than neighbours.
            InvalidFrame: a value is missing or no number.
            OutOfTime: the time limit is over (`robust`).
            TooLarge: the polynomial has more than 200 coefficients.

        >>> LocalSmoother(neighbours=2, window="box").fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]).neighbours_
        2.0
        """
        window_option("window", self.window, WINDOWS)
        window_option("center", self.center, ("mean", "median"))
        whole("degree", self.degree, 0)
        if self.center == "median" and self.degree != 0:
            raise InvalidArgument('center="median" goes with degree=0: a median has no slope.')
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
        ones = np.ones(len(rows))
        self._keep(about, rows_=rows, targets_=targets, weights_=weights, robust_weights_=ones, **learned)
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

    # --- how ---

    def _curve(self, rows: np.ndarray, spread: bool) -> Curve:
        """The curve at places, some at a time."""
        found = [np.empty(len(rows)) for _ in range(4 if spread else 1)]
        for part, far in distances(rows, self.rows_, self.window, "smoothing"):
            window, scales = self._windows(far)
            total = window @ self.weights_
            if not total.all():
                self._refuse_empty(part.start + int((total == 0.0).argmax()))
            if self.center == "median":
                each = Curve(_medians(window * self.weights_, self.targets_))
            elif self.degree == 0:
                each = self._means(window, total, spread)
            else:
                each = self._polynomials(rows[part], window, scales, total, spread)
            for whole_, one in zip(found, each, strict=False):
                whole_[part] = one
        return Curve(*found)

    def _windows(self, far: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How much each row counts at each place, by squared distances; and the widths."""
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
        return Curve(mean, _deviation(residue, left, total), np.sqrt(squares) / total, many)

    def _polynomials(
        self, places: np.ndarray, window: np.ndarray, scales: np.ndarray, total: np.ndarray, spread: bool
    ) -> Curve:
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
        sums += np.tril(sums, -1).transpose(0, 2, 1)
        whole_, first = sums[:, 0, 0], sums[:, 0, 1:]
        mean = first / whole_[:, None]
        about = sums[:, 1:, 1:] - first[:, :, None] * mean[:, None, :]
        right = answers[:, 1:] - answers[:, :1] * mean
        found = flattest(about, np.einsum("qaa->qa", sums)[:, 1:], right)
        height = answers[:, 0] / whole_ - (mean * found.slopes).sum(axis=1)
        if not spread:
            return Curve(middles + height)
        spreads += np.tril(spreads, -1).transpose(0, 2, 1)
        # The row of the inverse that says how much each row counts for the height, and the whole inverse.
        turned = (found.inverse @ mean[:, :, None])[:, :, 0]
        inverse = np.empty_like(sums)
        inverse[:, 1:, 1:] = found.inverse
        inverse[:, 0, 1:] = inverse[:, 1:, 0] = -turned
        inverse[:, 0, 0] = 1.0 / whole_ + (mean * turned).sum(axis=1)
        counts = inverse[:, 0]
        share = np.sqrt(np.maximum(np.einsum("qa,qab,qb->q", counts, spreads, counts), 0.0))
        left = whole_ - np.einsum("qab,qba->q", inverse, spreads)
        residue = residues - answers[:, 0] ** 2 / whole_ - (right * found.slopes).sum(axis=1)
        many = whole_**2 / spreads[:, 0, 0] - 1.0 - found.rank
        return Curve(middles + height, _deviation(residue, left, whole_), share, many)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        low, high = self.rows_.min(axis=0), self.rows_.max(axis=0)
        rows = [[name, f"{a:.6g} to {b:.6g}"] for name, a, b in zip(self._names, low, high, strict=True)]
        near = f"width {self.width:.6g}" if self.neighbours_ is None else f"{self.neighbours_:g} neighbours"
        return ["column", "range"], rows, f"{self._begun()}: {len(self.rows_):,} rows, {near}"


def _deviation(residue: np.ndarray, left: np.ndarray, total: np.ndarray) -> np.ndarray:
    """The standard deviation about the curve; NaN where nothing is left to tell it."""
    known = left > 1e-9 * total
    with np.errstate(invalid="ignore"):
        # What is below zero is rounding: rows on the curve.
        found = np.sqrt(np.maximum(residue, 0.0) / np.where(known, left, 1.0))
    return np.where(known, found, np.nan)


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
    """All monomials of so many columns: which one each is times which column; the first is 1."""
    every = [one for k in range(degree + 1) for one in itertools.combinations_with_replacement(range(dim), k)]
    place = {one: t for t, one in enumerate(every)}
    parents = [0] + [place[one[:-1]] for one in every[1:]]
    columns = [0] + [one[-1] for one in every[1:]]
    return np.array(parents, np.int64), np.array(columns, np.int64)
