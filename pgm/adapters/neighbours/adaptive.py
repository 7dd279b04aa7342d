"""Nearest neighbours with a metric that is adapted to each query."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from pgm.adapters.rows import RowsClassifier, positive, whole
from pgm.errors import InvalidArgument, shown
from pgm.runtime.clock import start_clock

from .searching import Nearest, enough, nearest, votes

_BLOCK = 2**22  # neighbours that are processed at once


class AdaptiveNeighbours(RowsClassifier):
    """Discriminant-adaptive nearest neighbours (Hastie & Tibshirani 1996).

    Among the rows nearest to the query (Euclidean), near ones weighted more, let W be the covariance within
    classes and B that between their means. The k that vote are nearest among these by the metric
    W^-1/2 [W^-1/2 B W^-1/2 + spread I] W^-1/2: it is long across the boundary and short along it.

    Args:
        k: the number of neighbours that vote.
        neighbourhood: the number of rows that determine the metric and may vote.
        spread: what keeps the neighbourhood round; the larger, the less the classes matter.
        ridge: added to the diagonal of W, relative to its mean, because W may be singular.

    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(size=(200, 2)) * [1.0, 20.0]  # the second column says nothing, and loudest
    >>> told = AdaptiveNeighbours(5).fit(rows[:100], rows[:100, 0] > 0.0)
    >>> told.score(rows[100:], rows[100:, 0] > 0.0) > 0.8
    True
    """

    rows_: np.ndarray
    codes_: np.ndarray

    def __init__(
        self, k: int = 5, *, neighbourhood: int = 50, spread: float = 1.0, ridge: float = 0.01
    ) -> None:
        """Store the options; `fit` checks them."""
        self.k, self.neighbourhood, self.spread, self.ridge = k, neighbourhood, spread, ridge

    def fit(self, X: Any, y: Any) -> Self:
        """Store rows and their classes; returns the classifier itself.

        Args:
            X: numeric rows: a data frame, or an array.
            y: the class of each row.

        Raises:
            InvalidArgument: an option is out of range; one class only; fewer rows than neighbours.
            InvalidFrame: a value is missing or not a number.

        >>> AdaptiveNeighbours(1).fit([[0.0], [9.0]], ["a", "b"]).predict([[4.0]]).tolist()
        ['a']
        """
        rows, codes, _, about = self._begin_classes(X, y)
        positive("spread", self.spread)
        positive("ridge", self.ridge)
        enough(whole("k", self.k), len(rows))
        if whole("neighbourhood", self.neighbourhood) < self.k:
            raise InvalidArgument(
                f"k={self.k} vote of a neighbourhood={shown(self.neighbourhood)}: make that larger."
            )
        return self._keep(about, rows_=rows, codes_=codes)

    def metric_at(self, X: Any) -> np.ndarray:
        """Return the matrix of the metric about each row.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> AdaptiveNeighbours(1).fit([[0.0], [9.0]], ["a", "b"]).metric_at([[4.0]]).shape
        (1, 1, 1)
        """
        queries = self._read(X)
        found = nearest(self.rows_, queries, min(self.neighbourhood, len(self.rows_)), start_clock())
        roots, middle = self._metrics(found)
        return np.asarray(roots @ middle @ roots)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of each class among the k that are nearest by the metric of each row.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.
            OutOfTime: the time limit is reached.

        >>> AdaptiveNeighbours(1).fit([[0.0], [9.0]], ["a", "b"]).predict_proba([[4.0]]).tolist()
        [[1.0, 0.0]]
        """
        queries, clock = self._read(X), start_clock()
        wide, d = min(self.neighbourhood, len(self.rows_)), self.n_features_in_
        found = nearest(self.rows_, queries, wide, clock)
        shares = np.empty((len(queries), len(self.classes_)))
        size = max(1, _BLOCK // (wide * d + d * d * len(self.classes_)))
        for begin in range(0, len(queries), size):
            clock.check("metrics about rows")
            part = Nearest(found.near[begin : begin + size], found.far[begin : begin + size], 0)
            roots, middle = self._metrics(part)
            off = (self.rows_[part.near] - queries[begin : begin + size, None]) @ roots
            far = np.einsum("mki,mij,mkj->mk", off, middle, off, optimize=True)
            order = np.argsort(far, axis=1, kind="stable")[:, : self.k]
            chosen = Nearest(np.take_along_axis(part.near, order, 1), np.take_along_axis(far, order, 1), 0)
            shares[begin : begin + size] = votes(chosen, self.codes_, len(self.classes_), "uniform")
        return shares

    def _metrics(self, found: Nearest) -> tuple[np.ndarray, np.ndarray]:
        """W^-1/2 and W^-1/2 B W^-1/2 + spread I about each query."""
        k, d = len(self.classes_), self.n_features_in_
        rows, codes = self.rows_[found.near], self.codes_[found.near]
        far = np.sqrt(found.far)
        widest = far[:, -1:]
        inside = np.divide(far, widest, out=np.zeros_like(far), where=widest > 0.0)
        weights = (1.0 - inside**3) ** 3
        weights[~weights.any(axis=1)] = 1.0  # all are equally far
        own = weights[..., None] * (codes[..., None] == np.arange(k))  # m, rows, classes
        mass = own.sum(axis=1)
        total = mass.sum(axis=1)
        sums = np.einsum("mrk,mrd->mkd", own, rows, optimize=True)
        means = np.divide(sums, mass[..., None], out=np.zeros_like(sums), where=mass[..., None] > 0.0)
        centre = (sums.sum(axis=1) / total[:, None])[:, None]
        off = (rows - np.take_along_axis(means, codes[..., None], axis=1)) * np.sqrt(weights)[..., None]
        within = off.transpose(0, 2, 1) @ off / total[:, None, None]
        apart = (means - centre) * np.sqrt(mass / total[:, None])[..., None]
        between = apart.transpose(0, 2, 1) @ apart
        level = np.trace(within, axis1=1, axis2=2) / d
        level = np.where(level > 0.0, self.ridge * level, 1.0)  # no row is off its class: Euclid's metric
        values, vectors = np.linalg.eigh(within + level[:, None, None] * np.eye(d))
        roots = (vectors / np.sqrt(values)[:, None, :]) @ vectors.transpose(0, 2, 1)
        return roots, roots @ between @ roots + self.spread * np.eye(d)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        counts = np.bincount(self.codes_).tolist()
        rows = [[str(c), f"{n:,}"] for c, n in zip(self.classes_[:20].tolist(), counts, strict=False)]
        return ["class", "rows"], rows, self._begun()
