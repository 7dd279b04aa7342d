"""What smoothers say: the curve, how numbers vary about it, and intervals for the curve itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pgm.adapters.rows import RowsRegressor, targets_of
from pgm.errors import InvalidArgument, shown
from pgm.runtime.loops import Loops

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMOOTHING = Loops("pgm.adapters.smoothing.compiled", "smoothing")


class Curve(NamedTuple):
    """What is known at some places; all but the curve are None if not asked for."""

    mean: np.ndarray
    deviation: np.ndarray | None = None  # standard deviation of numbers about the curve
    share: np.ndarray | None = None  # standard error of the curve, in deviations
    freedom: np.ndarray | None = None  # degrees of freedom of the deviation


class Drawn(RowsRegressor):
    """A regression by what is near, and its picture. What a subclass adds: `fit` and `predict`."""

    def plot(
        self,
        X: Any = None,
        y: Any = None,
        *,
        column: str | None = None,
        level: float | None = 0.95,
        at: float | None = None,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the curve along a column, its interval, rows, and the window at a place; returns the Axes.

        Args:
            X: rows that are drawn as points, as for `fit`; those of `fit` if left out.
            y: their numbers.
            column: along which column; the others stay at their medians. The first if left out.
            level: of the interval, where there is one; None: no interval.
            at: the place whose window is drawn, where there is one; none if left out.
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: there is no such column; rows without numbers.
        """
        from pgm import plot

        if not self._fitted:
            raise self._missing_fit("fit it to rows first")
        rows, targets = self.rows_, self.targets_
        if X is not None:
            rows = self._read(X)
            targets = targets_of(y, len(rows))
        return plot.smoother(self, rows, targets, column, level, at, ax, figsize=figsize, title=title)

    rows_: np.ndarray
    targets_: np.ndarray

    def _window(self, at: float, places: np.ndarray) -> np.ndarray | None:
        """How much a row at each place counts for the curve at one, of a single column; None: no window."""
        return None


class Smoother(Drawn):
    """A regression that knows how numbers vary about it. What a subclass adds: `fit` and `_curve`."""

    _unspread = ""  # why there are no deviations

    def _curve(self, rows: np.ndarray, spread: bool) -> Curve:
        raise NotImplementedError

    def predict(self, X: Any, *, return_std: bool = False) -> Any:
        """Return the curve at each row.

        Args:
            X: rows, as for `fit`.
            return_std: whether the standard deviation of numbers about the curve is returned too, as it is
                near each row.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: nothing is near a row; or too little for a standard deviation.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.
            OutOfTime: the time limit is reached.

        >>> import pgm
        >>> x, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [1.0, 3.0, 2.0, 5.0, 4.0]
        >>> smoother = pgm.adapters.LocalSmoother(1.5, window="box", degree=0).fit(x, y)
        >>> [a.round(6).tolist() for a in smoother.predict([[1.8]], return_std=True)]
        [[3.333333], [1.527525]]
        """
        rows = self._read(X)
        if not return_std:
            return self._curve(rows, False).mean
        self._refuse_unspread()
        found = self._curve(rows, True)
        assert found.deviation is not None
        bad = ~np.isfinite(found.deviation)
        if bad.any():
            raise InvalidArgument(
                f"Near row {int(bad.argmax()):,} (the first is 0) there are too few numbers for a standard "
                "deviation: take a wider window."
            )
        return found.mean, found.deviation

    def _refuse_unspread(self) -> None:
        if self._unspread:
            raise InvalidArgument(self._unspread)


class IntervalSmoother(Smoother):
    """A regression that knows its own standard error."""

    def interval(self, X: Any, *, level: float = 0.95) -> np.ndarray:
        """Return an interval for the curve at each row: its lower end and its upper end.

        It is the curve and a multiple of its standard error by Student's t, with the degrees of freedom that
        are near. What a smoother misses because its window is wide (bias) is not in it.

        Args:
            X: rows, as for `fit`.
            level: of the interval.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: nothing is near a row; the level is none.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.
            OutOfTime: the time limit is reached.

        >>> import pgm
        >>> x, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [1.0, 3.0, 2.0, 5.0, 4.0]
        >>> smoother = pgm.adapters.LocalSmoother(1.5, window="box", degree=0).fit(x, y)
        >>> smoother.interval([[1.8]]).round(7).tolist()
        [[-0.4612497, 7.1279164]]
        """
        from scipy.stats import t as student

        if isinstance(level, bool) or not isinstance(level, int | float) or not 0.0 < level < 1.0:
            raise InvalidArgument(f"level= is a number between 0 and 1, not {shown(level)}.")
        rows = self._read(X)
        self._refuse_unspread()
        found = self._curve(rows, True)
        assert found.deviation is not None
        assert found.share is not None
        assert found.freedom is not None
        known = np.isfinite(found.deviation) & (found.freedom > 1e-9)
        reach = np.full(len(rows), np.inf)
        reach[known] = student.ppf(0.5 + 0.5 * level, found.freedom[known])
        reach[known] *= found.deviation[known] * found.share[known]
        return np.column_stack([found.mean - reach, found.mean + reach])


class Slopes(NamedTuple):
    """Slopes of the flattest of the best planes: for each place those, the inverse behind them, its rank."""

    slopes: np.ndarray
    inverse: np.ndarray
    rank: np.ndarray


_FLAT = 1e-12  # the share of a sum of squares below which rows do not vary in a direction


def flattest(about_mean: np.ndarray, about_place: np.ndarray, answers: np.ndarray) -> Slopes:
    """Solve normal equations of many places at once, where rows may lie on a point, a line or a plane.

    In a direction in which rows do not vary the slope is 0.

    Args:
        about_mean: for each place the sums of products of columns about their means.
        about_place: for each place the sums of squares of columns as they are.
        answers: for each place the sums of products with the targets, about the means.
    """
    scale = np.sqrt(about_place)
    scale[scale == 0.0] = 1.0
    values, vectors = np.linalg.eigh(about_mean / (scale[:, :, None] * scale[:, None, :]))
    there = values > _FLAT
    inverse = np.where(there, 1.0 / np.where(there, values, 1.0), 0.0)
    found = (vectors * inverse[:, None, :]) @ vectors.transpose(0, 2, 1)
    found /= scale[:, :, None] * scale[:, None, :]
    return Slopes((found @ answers[:, :, None])[:, :, 0], found, there.sum(axis=1))
