"""k nearest neighbours with a choice of search."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from pgm.adapters.rows import RowsClassifier, positive, whole
from pgm.errors import ImpossibleEvidence, InvalidArgument, listed, shown
from pgm.errors import nearest as nearest_word
from pgm.runtime.clock import Clock, start_clock

from .searching import Nearest, enough, nearest, nearest_in_part, votes

WEIGHTS = ("uniform", "distance")
SEARCHES = ("full", "partial", "tree", "quadrants")


class NearestNeighbours(RowsClassifier):
    """The k-nearest-neighbour rule in Euclidean distance, with a choice of search.

    scikit-learn's `KNeighborsClassifier` has other metrics; this one reads fewer entries, counts them,
    and gives class-conditional densities.

    Args:
        k: the number of neighbours that vote; odd k has fewer ties, which go to the first class.
        weights: "uniform", or "distance": each votes by the inverse of its distance.
        search: "full" computes all distances. "partial" accumulates a distance column by column, and drops
            a row once it is farther than the k-th found so far; the answer is the same, and with many
            columns it is faster. "tree" is scipy's k-d tree, exact too, and faster with many rows of few
            columns. "quadrants" halves the first `halved` columns: one
            row represents each part, and a query is compared only with the part whose row is nearest to it.
            This is an approximation, and printed as such.
        first: with "partial", after this many columns a row is given up if it is `limit` or more away
            already.
        limit: with `first`, that distance.
        halved: with "quadrants", how many columns are halved: two make four parts.

    After `fit` there are `rows_` and `codes_`, the places of their classes in `classes_`; `row_weights_`; and
    `exact_`. Rows of weight zero are not kept.

    >>> told = NearestNeighbours(3).fit([[1.0], [2.0], [4.0], [7.0], [11.0]], ["a", "a", "b", "b", "b"])
    >>> told.predict_proba([[2.5]]).round(6).tolist()
    [[0.666667, 0.333333]]
    """

    rows_: np.ndarray
    codes_: np.ndarray
    row_weights_: np.ndarray
    exact_: bool
    _kept: np.ndarray  # which rows of `fit` these are
    _search: Any

    def __init__(
        self,
        k: int = 3,
        *,
        weights: str = "uniform",
        search: str = "full",
        first: int | None = None,
        limit: float | None = None,
        halved: int = 2,
    ) -> None:
        """Store the options; `fit` checks them."""
        self.k, self.weights, self.search = k, weights, search
        self.first, self.limit, self.halved = first, limit, halved

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Store rows and their classes; returns the classifier itself.

        Args:
            X: numeric rows: a data frame, or an array.
            y: the class of each row.
            sample_weight: the weight of each row, as if repeated; by default 1.

        Raises:
            InvalidArgument: an option is out of range; one class only; fewer rows than neighbours.
            InvalidFrame: a value is missing or not a number.

        >>> NearestNeighbours(1).fit([[0.0], [9.0]], ["a", "b"]).predict([[4.0]]).tolist()
        ['a']
        """
        for name, value, known in (("weights", self.weights, WEIGHTS), ("search", self.search, SEARCHES)):
            if not isinstance(value, str) or value not in known:
                raise InvalidArgument(
                    f"{name}= is {listed(known)}, not {shown(value)}.{nearest_word(value, known)}"
                )
        if (self.first is None) != (self.limit is None):
            raise InvalidArgument(
                "first= and limit= go together: after how many columns, and which distance."
            )
        if self.first is not None and self.search != "partial":
            raise InvalidArgument(f'first= and limit= are of search="partial", not {shown(self.search)}.')
        rows, codes, weights, about = self._begin_classes(X, y, sample_weight)
        given = np.asarray(1.0 if sample_weight is None else sample_weight)
        kept = np.flatnonzero(given) if given.ndim else np.arange(len(rows))
        enough(whole("k", self.k), float(weights.sum()))
        if self.first is not None:
            if whole("first", self.first) > rows.shape[1]:
                raise InvalidArgument(f"first={self.first}, and there are {rows.shape[1]} columns.")
            positive("limit", self.limit)
        search: Any = None
        if self.search == "tree":
            from scipy.spatial import cKDTree

            search = cKDTree(rows)
        elif self.search == "quadrants":
            search = _Parts(rows, weights, whole("halved", self.halved))
        exact = self.search != "quadrants" and self.first is None
        return self._keep(
            about, rows_=rows, codes_=codes, row_weights_=weights, exact_=exact, _kept=kept, _search=search
        )

    def kneighbors(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the distances of the neighbours of each row, and their indices in `fit`, nearest first.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> told = NearestNeighbours(1).fit([[0.0], [9.0]], ["a", "b"])
        >>> [found.tolist() for found in told.kneighbors([[4.0]])]
        [[[4.0]], [[0]]]
        """
        queries = self._read(X)
        found = self._nearest(queries, min(self.k, len(self.rows_)), start_clock())
        return np.sqrt(found.far), np.where(found.near < 0, -1, self._kept[found.near])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of each class among the neighbours' votes, k_i / k without weights.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.
            ImpossibleEvidence: a row has no neighbour within `limit`.

        >>> told = NearestNeighbours(1).fit([[0.0], [9.0]], ["a", "b"])
        >>> told.predict_proba([[4.0], [5.0]]).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        found, counts = self._voters(self._read(X), start_clock())
        shares = votes(found, self.codes_, len(self.classes_), self.weights, counts)
        none = found.near[:, 0] < 0
        if none.any():
            raise ImpossibleEvidence(
                f"Row {int(none.argmax()):,} (the first is 0) has no neighbour: all are "
                f"limit={self.limit} or more away by the first {self.first} columns. Take a larger limit."
            )
        return shares

    def class_densities(self, X: Any) -> np.ndarray:
        """Return p(row | class) = k_i / (N_i V), V the volume of the ball up to the k-th neighbour.

        With P(class) = N_i / N they give the shares k_i / k of `predict_proba`. They are not proper
        densities: their integral is infinite.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: a row lies on k rows of `fit`: the ball has no volume.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> told = NearestNeighbours(3).fit([[0.0], [1.0], [2.0], [3.0], [5.0]], ["a", "a", "a", "b", "b"])
        >>> told.class_densities([[2.4]]).round(6).tolist()
        [[0.238095, 0.178571]]
        """
        found, weights = self._voters(self._read(X), start_clock())
        k, d = self.k, self.n_features_in_
        last = (weights > 0.0).cumsum(axis=1).argmax(axis=1)
        reached = weights.sum(axis=1) >= k * (1.0 - 1e-12)
        reach = np.sqrt(np.where(reached, found.far[np.arange(len(last)), last], math.inf))
        if (reach == 0.0).any():
            raise InvalidArgument(
                f"Row {int((reach == 0.0).argmax()):,} (the first is 0) lies on {k} rows of fit: the "
                "ball that holds them has no volume. Take a larger k."
            )
        counts = votes(found, self.codes_, len(self.classes_), "uniform", weights)
        counts *= weights.sum(axis=1, keepdims=True)
        unit = math.pi ** (0.5 * d) / math.gamma(0.5 * d + 1.0)
        volume = unit * reach**d
        return np.asarray(counts / (np.bincount(self.codes_, self.row_weights_) * volume[:, None]))

    def looked_at(self, X: Any) -> float:
        """Return the fraction of all entries that the search for these rows reads.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: search="tree", which does not count.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> rows = [[0.0, 0.0], [0.0, 1.0], [9.0, 0.0], [9.0, 1.0]]
        >>> NearestNeighbours(1, search="partial").fit(rows, [0, 0, 1, 1]).looked_at([[0.0, 0.0]])
        0.25
        """
        queries = self._read(X)
        if self.search == "tree":
            raise InvalidArgument('search="tree" does not count comparisons.')
        found, _ = self._voters(queries, start_clock())
        return found.looked / (len(queries) * self.rows_.size)

    def _voters(self, queries: np.ndarray, clock: Clock) -> tuple[Nearest, np.ndarray]:
        """So many neighbours that their weights reach k; and how much of each weight counts."""
        n, many, looked = len(self.rows_), min(self.k, len(self.rows_)), 0
        found = self._nearest(queries, many, clock)
        while True:
            weights = np.where(found.near < 0, 0.0, self.row_weights_[found.near])
            before = np.cumsum(weights, axis=1) - weights
            short = (before[:, -1] + weights[:, -1] < self.k * (1.0 - 1e-12)) & (found.near[:, -1] >= 0)
            if many == n or not short.any():
                return found._replace(looked=found.looked + looked), np.clip(self.k - before, 0.0, weights)
            many, looked = min(n, 2 * many), looked + found.looked
            found = self._nearest(queries, many, clock)

    def _nearest(self, queries: np.ndarray, k: int, clock: Clock) -> Nearest:
        if self.search == "tree":
            far, near = self._search.query(queries, k=[*range(1, k + 1)])
            return Nearest(near.astype(np.int64), far**2, 0)
        if self.search == "quadrants":
            return self._search.nearest(queries, k, clock)  # type: ignore[no-any-return]
        if self.search == "full":
            return nearest(self.rows_, queries, k, clock)
        limit = math.inf if self.limit is None else float(self.limit) ** 2
        return nearest_in_part(self.rows_, queries, k, clock, first=self.first or 0, limit=limit)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        counts = np.bincount(self.codes_).tolist()
        rows = [[str(c), f"{n:,}"] for c, n in zip(self.classes_[:20].tolist(), counts, strict=False)]
        how = "" if self.exact_ else "; the neighbours found are approximate"
        return ["class", "rows"], rows, f"{self._begun()}{how}"


class _Parts:
    """Rows in quadrants, each with its prototype: the row nearest to the centre of its rows."""

    def __init__(self, rows: np.ndarray, weights: np.ndarray, halved: int) -> None:
        halved = min(halved, rows.shape[1], 30)
        middle = 0.5 * (rows.min(axis=0) + rows.max(axis=0))[:halved]
        part = (rows[:, :halved] > middle) @ (1 << np.arange(halved))
        _, part = np.unique(part, return_inverse=True)
        self.order = np.argsort(part, kind="stable")
        self.sorted = np.ascontiguousarray(rows[self.order])
        sizes = np.bincount(part)
        self.ends = np.cumsum(sizes)
        self.begins = self.ends - sizes
        mass = weights[self.order, None]
        means = np.add.reduceat(self.sorted * mass, self.begins) / np.add.reduceat(mass, self.begins)
        away = ((self.sorted - np.repeat(means, sizes, axis=0)) ** 2).sum(axis=1)
        widest = np.repeat(np.maximum.reduceat(away, self.begins), sizes)
        away = np.round(np.divide(away, widest, out=np.zeros_like(away), where=widest > 0.0), 9)
        # Ties, as between two rows, go by their values: not by their order, nor by rounding.
        best = np.lexsort((*self.sorted.T[::-1], away, np.repeat(np.arange(len(sizes)), sizes)))[self.begins]
        self.prototypes = np.ascontiguousarray(self.sorted[best])

    def nearest(self, queries: np.ndarray, k: int, clock: Clock) -> Nearest:
        chosen = nearest(self.prototypes, queries, 1, clock)
        part = chosen.near[:, 0]
        order = np.argsort(part, kind="stable")  # queries of one part after the other
        found = nearest_in_part(
            self.sorted,
            np.ascontiguousarray(queries[order]),
            k,
            clock,
            ranges=(self.begins[part[order]], self.ends[part[order]]),
        )
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        near = np.where(found.near < 0, -1, self.order[found.near])[back]
        return Nearest(near, found.far[back], chosen.looked + found.looked)
