"""Hyperplanes: sides, distances and projections of points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import IncompleteModel, InvalidArgument, counted, shown
from pgm.printing import Tabular, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROWS = 20


class Hyperplane(Tabular):
    """The points with g(x) = w x + w0 = 0 (Duda, Hart & Stork 2001, section 5.2).

    g is positive on the side to which w points. Distances are signed as g is.

    Args:
        weights: w, one for each column.
        intercept: w0.
        columns: the names of the columns; by default x0, x1, ...
        name: the class on the positive side, or None.

    >>> plane = Hyperplane([3.0, 4.0], -5.0)
    >>> plane.value([[2.0, 1.0]]).tolist(), plane.distance([[2.0, 1.0]]).tolist(), plane.origin_distance
    ([5.0], [1.0], -1.0)
    >>> plane.projection([[2.0, 1.0]]).round(6).tolist()
    [[1.4, 0.2]]
    """

    def __init__(
        self, weights: Any, intercept: float = 0.0, *, columns: Sequence[str] | None = None, name: Any = None
    ) -> None:
        self.weights = np.array(weights, dtype=np.float64)
        self.intercept = float(intercept)
        if self.weights.ndim != 1 or not self.weights.size or not np.isfinite(self.weights).all():
            raise InvalidArgument(f"weights= has a finite number for each column, not {shown(weights)}.")
        if not np.isfinite(self.intercept):
            raise InvalidArgument(f"intercept= is a finite number, not {shown(intercept)}.")
        self.columns = [f"x{i}" for i in range(self.weights.size)] if columns is None else list(columns)
        if len(self.columns) != self.weights.size:
            raise InvalidArgument(
                f"columns= has a name for each of {counted(self.weights.size)} weights, not "
                f"{len(self.columns)}."
            )
        self.name = name

    @classmethod
    def of(cls, estimator: Any) -> dict[Any, Hyperplane]:
        """Return the hyperplanes of a fitted linear classifier, by the class on the positive side.

        Two classes have one, with the second class on its positive side. With more, each has one.

        Args:
            estimator: anything with `coef_` and `intercept_`: pgm's, or scikit-learn's.

        Raises:
            IncompleteModel: it is not linear, or not fitted.

        >>> from sklearn.linear_model import LogisticRegression
        >>> found = Hyperplane.of(LogisticRegression().fit([[0.0], [2.0]], ["no", "yes"]))["yes"]
        >>> round(float(found.distance([[2.0]])[0]), 3)
        1.0
        """
        if not hasattr(estimator, "coef_") or not hasattr(estimator, "intercept_"):
            raise IncompleteModel(
                f"{type(estimator).__name__} has no coef_ and intercept_: it is not fitted, or not linear."
            )
        weights = np.atleast_2d(np.asarray(estimator.coef_, dtype=np.float64))
        bias = np.broadcast_to(np.asarray(estimator.intercept_, dtype=np.float64).reshape(-1), len(weights))
        classes = np.asarray(getattr(estimator, "classes_", np.arange(len(weights)))).tolist()
        names = classes[1:] if len(weights) == 1 and len(classes) == 2 else classes
        if len(names) != len(weights):
            raise IncompleteModel(
                f"{type(estimator).__name__} has {len(weights)} hyperplanes for {len(classes)} classes: "
                'which is of which is not said. pgm.adapters.RejectingClassifier(against="pairs") says it.'
            )
        columns = getattr(estimator, "feature_names_in_", None)
        return {
            name: cls(w, float(b), columns=None if columns is None else list(columns), name=name)
            for name, w, b in zip(names, weights, bias.tolist(), strict=True)
        }

    @property
    def length(self) -> float:
        """The length of w."""
        return float(np.linalg.norm(self.weights))

    @property
    def origin_distance(self) -> float:
        """The distance of the origin, w0 / |w|."""
        return self.intercept / self._length()

    @property
    def augmented(self) -> np.ndarray:
        """(w0, w): the weights in augmented space (1, x), where the hyperplane passes through the origin."""
        return np.concatenate([[self.intercept], self.weights])

    @property
    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """The positive and the negative part of the augmented weights: their difference is these.

        >>> [part.tolist() for part in Hyperplane([-2.0, 0.0], 1.0).parts]
        [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]
        """
        a = self.augmented
        return np.maximum(a, 0.0), np.maximum(-a, 0.0)

    def value(self, X: Any) -> np.ndarray:
        """Return g(x) of each row.

        Args:
            X: rows: a data frame that has the columns, or an array.

        Raises:
            InvalidFrame: a value is missing or not a number; other columns.

        >>> Hyperplane([1.0, -1.0]).value([[3.0, 1.0]]).tolist()
        [2.0]
        """
        return np.asarray(self._rows(X) @ self.weights + self.intercept)

    def side(self, X: Any) -> np.ndarray:
        """Return on which side each row is: 1 where g is positive, -1 where it is negative, 0 between.

        Args:
            X: rows, as for `value`.

        Raises:
            InvalidFrame: a value is missing or not a number; other columns.

        >>> Hyperplane([1.0, -1.0]).side([[3.0, 1.0], [1.0, 3.0], [2.0, 2.0]]).tolist()
        [1, -1, 0]
        """
        return np.asarray(np.sign(self.value(X)).astype(np.int64))

    def distance(self, X: Any, *, augmented: bool = False) -> np.ndarray:
        """Return the signed distance of each row, negative on the negative side.

        Args:
            X: rows, as for `value`.
            augmented: whether to measure distances in augmented space (1, x), where they are never larger.

        Raises:
            InvalidArgument: w is zero.
            InvalidFrame: a value is missing or not a number; other columns.

        >>> Hyperplane([3.0, 4.0], -5.0).distance([[3.0, 4.0]]).tolist()
        [4.0]
        """
        by = float(np.linalg.norm(self.augmented)) if augmented else self._length()
        return np.asarray(self.value(X) / by)

    def projection(self, X: Any) -> np.ndarray:
        """Return the point of the hyperplane that is nearest to each row.

        Args:
            X: rows, as for `value`.

        Raises:
            InvalidArgument: w is zero.
            InvalidFrame: a value is missing or not a number; other columns.

        >>> Hyperplane([1.0, 0.0], -2.0).projection([[5.0, 7.0]]).tolist()
        [[2.0, 7.0]]
        """
        rows = self._rows(X)
        far = (rows @ self.weights + self.intercept) / self._length()
        return np.asarray(rows - far[:, None] * (self.weights / self.length))

    def plot(
        self,
        X: Any = None,
        *,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the line in two columns, w, and the distances of points; returns the Axes.

        Args:
            X: points, as for `value`; by default the origin alone.
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.

        Raises:
            InvalidArgument: there are not two columns, or w is zero.
            InvalidFrame: a value is missing or not a number; other columns.
        """
        from pgm import plot

        self._length()
        rows = np.zeros((1, self.weights.size)) if X is None else self._rows(X)
        return plot.hyperplane(self, rows, ax, figsize=figsize, title=title)

    def to_dict(self) -> dict[str, Any]:
        """Return the intercept and the weight of each column."""
        return {
            "intercept": self.intercept,
            "weights": dict(zip(self.columns, self.weights.tolist(), strict=True)),
        }

    def to_pandas(self) -> Any:
        """Return a Series with the weight of each column."""
        from pgm.results.base import pandas

        return pandas().Series(self.weights, index=self.columns, name="weight")

    def _length(self) -> float:
        if self.length == 0.0:
            raise InvalidArgument("All weights are zero: there is no hyperplane, so nothing is far from it.")
        return self.length

    def _rows(self, X: Any) -> np.ndarray:
        from pgm.adapters.rows import floats_of
        from pgm.errors import InvalidFrame
        from pgm.frames.matrices import features

        given = features(X)
        if given.named:
            missing = [name for name in self.columns if name not in given.names]
            if missing:
                raise InvalidFrame(f"The frame has no column {shown(missing[0])}, which has a weight.")
            return floats_of(given, self.columns)
        rows = floats_of(given)
        if rows.shape[1] != self.weights.size:
            raise InvalidFrame(
                f"There are {self.weights.size} weights, and the rows have {rows.shape[1]} columns."
            )
        return rows

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        order = np.argsort(-np.abs(self.weights), kind="stable")[:_ROWS].tolist()
        speaks = "the positive side" if self.name is None else label(self.name)
        rows = [[label(self.columns[j]), *effect(float(self.weights[j]), speaks)] for j in order]
        more = len(self.columns) - len(rows)
        note = f"intercept {self.intercept:.6g}, length of the weights {self.length:.6g}"
        return ["column", "weight", "effect"], rows, note + (f"; {more:,} more columns" if more else "")


def effect(weight: float, name: str) -> list[str]:
    """A weight, and the class that it favours."""
    way = "for" if weight > 0.0 else "against"
    return [f"{weight:.6g}", f"{way} {name}" if weight else "none"]
