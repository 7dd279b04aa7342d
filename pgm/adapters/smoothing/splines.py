"""Smoothing splines, and additive models of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from pgm.adapters.rows import positive, whole
from pgm.errors import ConvergenceWarning, InvalidFrame, shown, warn
from pgm.evidence import LARGEST
from pgm.runtime.clock import Clock, start_clock
from pgm.runtime.progress import report

from .base import SMOOTHING, Curve, Smoother

_STEPS = 24  # penalties tried, before the best is refined
_ONE_PLACE = 1e-100  # of the range: values nearer than that are one knot, for squares of slopes overflow
PASSES = 2  # passes of backfitting in which penalties are chosen


class SmoothingSpline(Smoother):
    """The smoothing spline: the natural cubic spline that minimises squared errors plus a curvature penalty.

    With several columns it is the sum of one for each (an additive model). Beyond the rows curves continue as
    lines.

    Args:
        penalty: the weight of the integrated squared second derivative relative to the squared errors;
            infinity: a line; None: by generalised cross-validation for each column (for fewer than five
            different values: a line).
        max_iter: the maximum number of passes of backfitting; one column needs none.
        tol: convergence tolerance, relative to the standard deviation of the targets.

    After `fit` there are `penalties_` and `degrees_of_freedom_` of the columns, and `deviation_` of the
    numbers about the curve.

    >>> x, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [1.0, 3.0, 2.0, 5.0, 4.0]
    >>> SmoothingSpline(penalty=1.0).fit(x, y).predict([[1.8]]).round(8).tolist()
    [2.92478772]
    """

    penalties_: np.ndarray
    degrees_of_freedom_: np.ndarray
    deviation_: float
    n_iter_: int
    _mean: float
    _curves: list[Spline]
    _shifts: list[float]

    def __init__(self, penalty: float | None = None, *, max_iter: int = 100, tol: float = 1e-6) -> None:
        """Store the options; `fit` checks them."""
        self.penalty, self.max_iter, self.tol = penalty, max_iter, tol

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Fit the curve of each column; returns the estimator itself.

        Args:
            X: rows: a data frame, or an array.
            y: the target value of each row.
            sample_weight: the weight of each row, as if repeated; by default 1.

        Raises:
            InvalidArgument: an option is out of range.
            InvalidFrame: a value is missing or not a number.
            OutOfTime: the time limit is reached.

        >>> SmoothingSpline(penalty=0.1).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]).deviation_
        0.0
        """
        given = self.penalty
        if given is not None and given != math.inf:
            positive("penalty", given)
        rows, targets, weights, about = self._begin_targets(X, y, sample_weight)
        for j, wide in enumerate(np.ptp(rows, axis=0).tolist()):
            if 0.0 < wide < 1.0 / LARGEST:
                name = about.get("feature_names_in_", [f"x{i}" for i in range(rows.shape[1])])[j]
                raise InvalidFrame(
                    f"The column {shown(name)} ranges over {wide:.3g} only, and a penalty is in units of the "
                    "cube of that: use another unit."
                )
        kept, unit = targets, _unit(targets)
        targets = targets / unit
        knots = [Knots.of(column, weights) for column in rows.T]
        # In units of the knots and the targets.
        penalties = [math.nan if given is None else float(given) / one.unit**3 for one in knots]
        degrees, curves = [1.0] * len(knots), [Spline.flat(0.0)] * len(knots)
        passes, clock = [0] * len(knots), start_clock()

        def smooth(j: int, values: np.ndarray) -> np.ndarray:
            if given is None and passes[j] < PASSES:
                penalties[j] = knots[j].best_penalty(values, clock)
            passes[j] += 1
            curves[j], degrees[j] = knots[j].spline(values, penalties[j])
            return np.asarray(curves[j].values[knots[j].place])

        mean, fitted, steps = backfit(
            len(knots), targets, weights, smooth, whole("max_iter", self.max_iter),
            positive("tol", self.tol), PASSES if given is None else 1,
        )  # fmt: skip
        off = targets - mean - fitted.sum(axis=0)
        # A curve of one column has its own mean, those of several share it.
        left = float(weights.sum()) - 1.0 - sum(one - 1.0 for one in degrees)
        square = float(weights @ off**2)
        rounding = float(weights @ targets**2) * 1e-28
        deviation = math.sqrt(square / left) if left > 1e-9 else 0.0 if square <= rounding else math.nan
        shifts = [
            float((weights @ curve.at(column)) / weights.sum())
            for curve, column in zip(curves, rows.T, strict=True)
        ]
        return self._keep(
            about, penalties_=np.array([p * one.unit**3 for p, one in zip(penalties, knots, strict=True)]),
            degrees_of_freedom_=np.array(degrees), deviation_=deviation * unit, n_iter_=steps, rows_=rows,
            targets_=kept, _mean=mean * unit, _curves=[curve.times(unit) for curve in curves],
            _shifts=[one * unit for one in shifts],
        )  # fmt: skip

    @property
    def best_estimator_(self) -> SmoothingSpline:
        """The same with the penalty that was found, of a single column."""
        found = float(self.penalties_[0])
        return SmoothingSpline(found, max_iter=self.max_iter, tol=self.tol)

    def effects(self, X: Any) -> np.ndarray:
        """Return the contribution of each column to each row, shape (rows, columns), centred at 0.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> found = SmoothingSpline(penalty=0.1).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
        >>> found.effects([[0.0], [2.0]]).round(9).tolist()
        [[-1.0], [1.0]]
        """
        return self._effects(self._read(X))

    def _effects(self, rows: np.ndarray) -> np.ndarray:
        parts = zip(self._curves, rows.T, self._shifts, strict=True)
        return np.column_stack([curve.at(column) - shift for curve, column, shift in parts])

    def _curve(self, rows: np.ndarray, spread: bool) -> Curve:
        mean = self._mean + self._effects(rows).sum(axis=1)
        return Curve(mean, np.full(len(rows), self.deviation_)) if spread else Curve(mean)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [
            [name, f"{p:.6g}", f"{d:.4g}"]
            for name, p, d in zip(self._names, self.penalties_, self.degrees_of_freedom_, strict=True)
        ]
        said = f"{self._begun()}: deviation {self.deviation_:.6g}"
        return ["column", "penalty", "degrees of freedom"], rows, said


@dataclass(frozen=True)
class Spline:
    """A natural cubic spline: values and second derivatives at its knots."""

    knots: np.ndarray  # in units
    values: np.ndarray
    bends: np.ndarray
    unit: float = 1.0

    @classmethod
    def flat(cls, value: float) -> Spline:
        """A constant."""
        return cls(np.zeros(1), np.full(1, value), np.zeros(1))

    def at(self, x: np.ndarray) -> np.ndarray:
        """The curve at places; beyond the knots a line."""
        t, g, c = self.knots, self.values, self.bends
        x = x / self.unit
        if len(t) == 1:
            return np.full(len(x), g[0])
        i = np.clip(np.searchsorted(t, x, side="right") - 1, 0, len(t) - 2)
        h, low, high = t[i + 1] - t[i], x - t[i], t[i + 1] - x
        inside = (low * g[i + 1] + high * g[i]) / h
        bend = ((1.0 + low / h) * c[i + 1] + (1.0 + high / h) * c[i]) * low * high / 6.0
        first = (g[1] - g[0]) / (t[1] - t[0]) - (t[1] - t[0]) * (2.0 * c[0] + c[1]) / 6.0
        last = (g[-1] - g[-2]) / (t[-1] - t[-2]) + (t[-1] - t[-2]) * (c[-2] + 2.0 * c[-1]) / 6.0
        found = inside - bend
        found = np.where(x < t[0], g[0] + (x - t[0]) * first, found)
        return np.asarray(np.where(x > t[-1], g[-1] + (x - t[-1]) * last, found))

    def times(self, factor: float) -> Spline:
        """The curve times a number."""
        return replace(self, values=self.values * factor, bends=self.bends * factor)


@dataclass(frozen=True)
class Knots:
    """The distinct values of a column, and the weights of rows there."""

    unit: float  # a power of two, so that cubes of differences stay within doubles
    knots: np.ndarray  # in units
    place: np.ndarray  # of each row among them
    weights: np.ndarray  # of each row
    sums: np.ndarray  # of weights at each knot

    @classmethod
    def of(cls, column: np.ndarray, weights: np.ndarray) -> Knots:
        """Look at a column."""
        knots, place = np.unique(column, return_inverse=True)
        place = place.reshape(-1)
        unit = _unit(knots[-1:] - knots[0])
        knots = knots / unit
        apart = np.diff(knots, prepend=-np.inf) > _ONE_PLACE
        place = np.cumsum(apart)[place] - 1
        return cls(unit, knots[apart], place, weights, np.bincount(place, weights))

    def means(self, values: np.ndarray) -> np.ndarray:
        """The mean at each knot."""
        return np.asarray(np.bincount(self.place, self.weights * values) / self.sums)

    def spline(self, values: np.ndarray, penalty: float) -> tuple[Spline, float]:
        """The curve of a penalty, and its degrees of freedom."""
        means, n = self.means(values), len(self.knots)
        if n > 2 and penalty < math.inf:
            fitted, bends = np.empty(n), np.empty(n)
            space = np.empty((3, n - 2))
            degrees = SMOOTHING.spline(self.knots, means, self.sums, penalty, fitted, bends, *space)
            return Spline(self.knots, fitted, bends, self.unit), float(degrees)
        if n == 1:
            return Spline.flat(float(means[0])), 1.0
        middle = self.sums @ self.knots / self.sums.sum()
        off = self.knots - middle
        slope = (self.sums * off) @ means / ((self.sums * off) @ off)
        line = self.sums @ means / self.sums.sum() + slope * off
        return Spline(self.knots, line, np.zeros(n), self.unit), 2.0

    def best_penalty(self, values: np.ndarray, clock: Clock) -> float:
        """The penalty of the smallest generalised cross-validation error; infinity is a line."""
        from scipy.optimize import minimize_scalar

        if len(self.knots) < 5:
            return math.inf
        total, means = float(self.sums.sum()), self.means(values)
        within = float(self.weights @ (values - means[self.place]) ** 2)

        def error(log_penalty: float) -> float:
            clock.check("smoothing")
            curve, degrees = self.spline(values, math.exp(log_penalty))
            square = within + float(self.sums @ (means - curve.values) ** 2)
            return total * square / (total - degrees) ** 2 if total - degrees > 1e-9 * total else math.inf

        # A penalty is in units of the cube of the range.
        unit = 3.0 * math.log(self.knots[-1] - self.knots[0]) + math.log(total / len(self.knots))
        tried = np.linspace(
            unit - 4.0 * math.log(len(self.knots)) - 6.0, unit + math.log(total) + 4.0, _STEPS
        )
        errors = [error(one) for one in tried.tolist()]
        # Where lines are as good the errors are alike, but for rounding: the smoothest is taken.
        best = int(np.flatnonzero(np.array(errors) <= min(errors) * (1.0 + 1e-9))[-1])
        low, high = tried[max(best - 1, 0)], tried[min(best + 1, _STEPS - 1)]
        found = minimize_scalar(error, bounds=(low, high), method="bounded", options={"xatol": 1e-6})
        return math.exp(found.x if found.fun < errors[best] * (1.0 - 1e-9) else tried[best])


def _unit(values: np.ndarray) -> float:
    """The power of two at or below the largest of these in size; 1 if all are zero."""
    return math.ldexp(0.5, math.frexp(float(np.abs(values).max(initial=0.0)))[1]) if values.any() else 1.0


def backfit(
    count: int,
    targets: np.ndarray,
    weights: np.ndarray,
    smooth: Callable[[int, np.ndarray], np.ndarray],
    max_iter: int,
    tol: float,
    least: int = 1,
) -> tuple[float, np.ndarray, int]:
    """Backfitting: fit each column to the residuals of the others; the mean, the contributions, the passes.

    Args:
        count: of the columns.
        targets: the values.
        weights: of the rows.
        smooth: fits a column, given by its index, to values, and returns the fitted values.
        max_iter: how often they take turns at most.
        tol: relative to the spread of the values.
        least: how often at least.
    """
    total = float(weights.sum())
    mean = float(weights @ targets) / total
    off = targets - mean
    size = math.sqrt(float(weights @ off**2) / total)
    fitted, clock = np.zeros((count, len(targets))), start_clock()
    left = off.copy()
    for step in range(max_iter):
        moved = 0.0
        for j in range(count):
            clock.check("columns take turns")
            left += fitted[j]
            new = smooth(j, left)
            new = new - float(weights @ new) / total
            moved = max(moved, float(np.abs(new - fitted[j]).max()))
            fitted[j] = new
            left -= new
        report(step + 1, max_iter, "columns take turns")
        if count == 1 or (moved <= tol * size and step + 1 >= least):
            report(max_iter, max_iter, "columns take turns")
            return mean, fitted, step + 1
    warn(
        f"Columns took turns {max_iter} times and still move by {moved / size:.2g} of the deviation of the "
        "numbers: allow more with max_iter=, or leave out columns that say the same.",
        ConvergenceWarning,
    )
    return mean, fitted, max_iter
