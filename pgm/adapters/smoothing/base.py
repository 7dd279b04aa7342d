"""The base of smoothers: the curve, the standard deviation about it, and confidence intervals."""

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
    """Results at some points; all but the curve are None if not requested."""

    mean: np.ndarray
    deviation: np.ndarray | None = None  # standard deviation about the curve
    share: np.ndarray | None = None  # standard error of the curve, in deviations
    freedom: np.ndarray | None = None  # degrees of freedom of the deviation


class Drawn(RowsRegressor):
    """A smoother, and its plot. A subclass adds `fit` and `predict`."""

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
        """Draw the curve along a column, its interval, rows, and the window at a point; returns the Axes.

        Args:
            X: rows to draw as points, as for `fit`; by default those of `fit`.
            y: their targets.
            column: the column along which to draw, by default the first; the others stay at their medians.
            level: of the interval, if there is one; None: no interval.
            at: the point whose window is drawn, if there is one; by default none.
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: there is no such column; rows without targets.
        """
        from pgm import plot

        self._check_fitted()
        rows, targets = self.rows_, self.targets_
        if X is not None:
            rows = self._read(X)
            targets = targets_of(y, len(rows))
        return plot.smoother(self, rows, targets, column, level, at, ax, figsize=figsize, title=title)

    rows_: np.ndarray
    targets_: np.ndarray

    def _window(self, at: float, places: np.ndarray) -> np.ndarray | None:
        """The weight of rows at some points for the curve at one, for a single column; None: no window."""
        return None


class Smoother(Drawn):
    """A smoother with a standard deviation about the curve. A subclass adds `fit` and `_curve`."""

    _unspread = ""  # why there are no standard deviations

    def _curve(self, rows: np.ndarray, spread: bool) -> Curve:
        raise NotImplementedError

    def predict(self, X: Any, *, return_std: bool = False) -> Any:
        """Return the curve at each row.

        Args:
            X: rows, as for `fit`.
            return_std: whether to return also the standard deviation of targets about the curve,
                locally at each row.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: no training row is near a row, or too few for a standard deviation.
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
                f"Near row {int(bad.argmax()):,} (the first is 0) there are too few values for a standard "
                "deviation: take a wider window."
            )
        return found.mean, found.deviation

    def _refuse_unspread(self) -> None:
        if self._unspread:
            raise InvalidArgument(self._unspread)


class IntervalSmoother(Smoother):
    """A smoother with a standard error."""

    def interval(self, X: Any, *, level: float = 0.95) -> np.ndarray:
        """Return a confidence interval for the curve at each row: lower and upper end.

        It is the curve plus and minus a multiple of its standard error by Student's t, with local degrees of
        freedom. The bias of a wide window is not included.

        Args:
            X: rows, as for `fit`.
            level: of the interval.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: no training row is near a row; invalid level.
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
    """Minimum-norm slopes: for each point the slopes, the pseudoinverse behind them, and its rank."""

    slopes: np.ndarray
    inverse: np.ndarray
    rank: np.ndarray


_FLAT = 1e-12  # the share of a sum of squares below which rows do not vary in a direction


def flattest(about_mean: np.ndarray, about_place: np.ndarray, answers: np.ndarray) -> Slopes:
    """Solve normal equations at many points at once; rows may be degenerate (a point, line or plane).

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
