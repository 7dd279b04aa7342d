"""Nearest-neighbour classification on an edited subset of the rows, and its training error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pgm.adapters.rows import RowsClassifier, floats_of, whole
from pgm.calls import guarded
from pgm.errors import InvalidArgument, listed, shown, warn
from pgm.errors import nearest as nearest_word
from pgm.frames.matrices import features
from pgm.models.classifiers.conventions import classes_of, labels_of
from pgm.runtime.clock import start_clock

from .editing import METHODS, error_of
from .searching import nearest, votes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class EditedNeighbours(RowsClassifier):
    """k nearest neighbours on an edited subset of rows, chosen by `method`.

    Args:
        method: "condensing", "voronoi", "side" or "grab-bag"; or one of these with options, as
            `Condensing(thin=True)`, `VoronoiEditing()`, `SideEditing(boundary=...)`, `GrabBag()`.
        k: the number of neighbours that vote; ties go to the first class.

    After `fit` there are `indices_`, which rows are kept, in the order in which they were chosen; `copies_`,
    how often each counts; `rows_` and `codes_`, the voters; `training_error_`, the fraction of all rows that
    they misclassify; `passes_` and `converged_`, whether the last pass changed nothing.

    >>> told = EditedNeighbours("voronoi").fit([[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]], list("aaabbb"))
    >>> told.indices_.tolist(), told.training_error_, told.predict([[3.4], [3.6]]).tolist()
    ([2, 3], 0.0, ['a', 'b'])
    """

    indices_: np.ndarray
    copies_: np.ndarray
    training_error_: float
    passes_: int
    converged_: bool
    rows_: np.ndarray
    codes_: np.ndarray
    _count: int

    def __init__(self, method: Any = "condensing", *, k: int = 1) -> None:
        """Store the options; `fit` checks them."""
        self.method, self.k = method, k

    def fit(self, X: Any, y: Any) -> Self:
        """Choose and store rows; returns the classifier itself.

        Args:
            X: numeric rows: a data frame, or an array.
            y: the class of each row.

        Raises:
            InvalidArgument: an option is out of range; one class only; no row is left.
            InvalidFrame: a value is missing or not a number.
            TooLarge: Voronoi editing would take more linear programs than are allowed.
            OutOfTime: the time limit is reached.

        >>> EditedNeighbours("grab-bag").fit([[0.0], [1.0], [9.0]], [0, 0, 1]).indices_.tolist()
        [0, 2]
        """
        method = self.method
        if isinstance(method, str):
            if method not in METHODS:
                raise InvalidArgument(
                    f"method= is {listed(METHODS)}, not {shown(method)}.{nearest_word(method, METHODS)}"
                )
            method = METHODS[method]()
        elif not isinstance(method, tuple(METHODS.values())):
            raise InvalidArgument(f"method= is {listed(METHODS)}, or one with options, not {shown(method)}.")
        rows, codes, _, about = self._begin_classes(X, y)
        k, clock = whole("k", self.k), start_clock()
        found = method._choose(rows, codes, k, clock)
        missing = np.setdiff1d(np.arange(len(about["classes_"])), codes[found.rows])
        if missing.size:
            name = shown(about["classes_"].tolist()[missing[0]])
            if not found.rows.size:
                raise InvalidArgument("No row is left: each is on the wrong side. Take another boundary.")
            warn(f"No row of the class {name} is left: all are on the wrong side, and it is never named.")
        wrong = error_of(rows, codes, found.rows, k, clock)
        _, first, copies = np.unique(found.rows, return_index=True, return_counts=True)
        order = np.argsort(first)
        return self._keep(
            about,
            indices_=found.rows[first[order]],
            copies_=copies[order],
            training_error_=wrong,
            passes_=found.passes,
            converged_=found.stable,
            rows_=rows[found.rows],
            codes_=codes[found.rows],
            _count=len(rows),
        )

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of each class among the votes of the k nearest kept rows.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> told = EditedNeighbours("grab-bag").fit([[0.0], [1.0], [9.0]], [0, 0, 1])
        >>> told.predict_proba([[4.0]]).tolist()
        [[1.0, 0.0]]
        """
        queries = self._read(X)
        found = nearest(self.rows_, queries, self.k, start_clock())
        return votes(found, self.codes_, len(self.classes_), "uniform")

    def plot(
        self,
        X: Any = None,
        y: Any = None,
        *,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw Voronoi cells, decision boundaries, and stars on rows that are not kept; returns the Axes.

        Args:
            X: the rows of `fit`, of two columns; left out: those kept alone.
            y: their classes.
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: there are not two columns, or not the rows of `fit`.
        """
        from pgm import plot

        self._check_fitted()
        rows, codes, kept = self.rows_, self.codes_, np.ones(len(self.rows_), bool)
        if X is not None:
            rows = self._read(X)
            labels = labels_of(y, len(rows))
            if len(rows) != self._count or not np.isin(labels, self.classes_).all():
                raise InvalidArgument(f"These are not the {self._count:,} rows of `fit`, with their classes.")
            codes = np.searchsorted(self.classes_, labels)
            kept = np.isin(np.arange(len(rows)), self.indices_)
        said = f"{len(self.indices_):,} of {self._count:,} rows kept"
        names = [str(c) for c in self.classes_.tolist()]
        return plot.voronoi_cells(
            rows, codes, names, kept, self._names, ax, figsize=figsize, title=said if title is None else title
        )

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        counts = np.bincount(self.codes_, minlength=len(self.classes_)).tolist()
        rows = [[str(c), f"{n:,}"] for c, n in zip(self.classes_[:20].tolist(), counts, strict=False)]
        said = (
            f"{self._begun()}: {len(self.indices_):,} of {self._count:,} rows kept, which are wrong about "
            f"{self.training_error_:.4g} of all"
        )
        return ["class", "kept"], rows, said if self.converged_ else f"{said}; it had not converged"


@guarded
def augmented_error(X: Any, y: Any, kept: Any, *, penalty: float = 0.0, k: int = 1) -> float:
    """The fraction of rows that the kept ones misclassify, plus a penalty for each kept row (8.17).

    With `penalty=0` it is zero exactly if what is kept is a consistent subset.

    Args:
        X: numeric rows: a data frame, or an array.
        y: the class of each row.
        kept: the indices of the kept rows; one that is stored twice is listed twice.
        penalty: that of each kept row.
        k: the number of neighbours that vote.

    Raises:
        InvalidArgument: `kept` is empty, or holds something other than row indices.
        InvalidFrame: a value is missing or not a number.

    >>> rows = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> round(augmented_error(rows, list("aaabbb"), [2, 3], penalty=0.1), 6)
    0.2
    """
    rows = floats_of(features(X))
    codes = classes_of(labels_of(y, len(rows)))[1]
    stored = np.asarray(kept)
    if stored.ndim != 1 or stored.dtype.kind not in "iu" or not stored.size:
        raise InvalidArgument(f"kept= has places of rows, as [0, 3], not {shown(kept)}.")
    if stored.min() < 0 or stored.max() >= len(rows):
        raise InvalidArgument(f"kept= has places from 0 to {len(rows) - 1:,}, not {shown(kept)}.")
    if not isinstance(penalty, int | float) or not 0.0 <= penalty < np.inf:
        raise InvalidArgument(f"penalty= is a number, 0 or more, not {shown(penalty)}.")
    return error_of(rows, codes, stored, whole("k", k), start_clock()) + penalty * len(stored)
