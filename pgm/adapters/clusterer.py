"""The base of clustering estimators: validation of rows, and scikit-learn's conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pgm.errors import InvalidArgument, shown

from .rows import row_weights
from .transforming import Transformer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROWS = 20  # clusters that are printed
_CELLS = 6  # entries of a centre that are printed


class Clusterer(Transformer):
    """A clustering of numeric rows, each of which belongs to the cluster with the nearest centre.

    What a subclass adds: `fit`, which sets what is learned.
    """

    _estimator_type = "clusterer"
    _remedy = "leave such rows out, or use pgm.Mixture, which sums over missing cells"
    n_clusters: int
    cluster_centers_: np.ndarray
    labels_: np.ndarray
    inertia_: float
    n_iter_: int

    @property
    def _n_outputs(self) -> int:
        return len(self.cluster_centers_)

    # --- questions ---

    def predict(self, X: Any) -> np.ndarray:
        """Return the index of each row's cluster, that of the nearest centre.

        Args:
            X: rows: a data frame, or an array.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> import pgm
        >>> pgm.KMeans(2, seed=0).fit([[0.0], [1.0], [9.0]]).predict([[8.0]]).tolist()
        [1]
        """
        return np.asarray(self._off(X).argmin(axis=1).astype(np.int32))

    def transform(self, X: Any) -> Any:
        """Return the distance of each row to each centre, a column for each cluster.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> import pgm
        >>> pgm.KMeans(2, seed=0).fit([[0.0], [1.0], [9.0]]).transform([[8.0]]).tolist()
        [[7.5, 1.0]]
        """
        return self._as_asked(X, self._off(X))

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Find clusters, and return the cluster index of each row.

        Args:
            X: rows: a data frame, or an array.
            y: ignored; present for pipelines.

        Raises:
            InvalidArgument: an option is out of range.
            InvalidFrame: a value is missing or not a number.

        >>> import pgm
        >>> pgm.KMeans(2, seed=0).fit_predict([[0.0], [1.0], [9.0]]).tolist()
        [0, 0, 1]
        """
        return self.fit(X, y).labels_

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Find clusters, and return the distance of each row to each centre.

        Args:
            X: rows: a data frame, or an array.
            y: ignored; present for pipelines.

        Raises:
            InvalidArgument: an option is out of range.
            InvalidFrame: a value is missing or not a number.

        >>> import pgm
        >>> pgm.KMeans(2, seed=0).fit_transform([[0.0], [1.0], [9.0]]).tolist()
        [[0.5, 9.0], [0.5, 8.0], [8.5, 0.0]]
        """
        return self.fit(X, y).transform(X)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find clusters; returns the estimator itself.

        Args:
            X: rows: a data frame, or an array.
            y: ignored; present for pipelines.

        Raises:
            InvalidArgument: an option is out of range.
            InvalidFrame: a value is missing or not a number.

        >>> import pgm
        >>> pgm.KMeans(2, seed=0).fit([[0.0], [1.0], [9.0]]).labels_.tolist()
        [0, 0, 1]
        """
        raise NotImplementedError

    def plot(
        self,
        X: Any = None,
        *,
        columns: Any = None,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw rows, coloured by their clusters, and the centres; returns the Axes.

        Args:
            X: rows, as for `fit`; left out: the centres alone.
            columns: the names of two columns; by default the first two.
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: there is no such column.
        """
        from pgm import plot

        self._check_fitted()
        rows = self.cluster_centers_[:0] if X is None else self._read(X)
        codes = np.zeros(0, np.int64) if X is None else self.predict(X)
        return plot.clusters(self, rows, codes, columns, ax, figsize=figsize, title=title)

    # --- how ---

    @property
    def _fitted(self) -> bool:
        return hasattr(self, "cluster_centers_")

    def _begin_clusters(
        self, X: Any, weights: Any = None, *, few: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rows to learn from and their weights, checked; the columns are remembered.

        Args:
            X: rows.
            weights: of each.
            few: whether there may be fewer than clusters.
        """
        k = self.n_clusters
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise InvalidArgument(f"n_clusters= is a whole number of at least 1, not {shown(k)}.")
        rows, about = self._begin(X)
        if len(rows) < k and not few:
            raise InvalidArgument(
                f"n_clusters={k}, and there are n_samples={len(rows)} rows: each cluster has one at least."
            )
        weights = row_weights(weights, len(rows))
        self._keep(about)
        return rows, weights

    def _off(self, X: Any) -> np.ndarray:
        from scipy.spatial.distance import cdist

        return np.asarray(cdist(self._read(X), self.cluster_centers_))

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        names, sizes = self._names, np.bincount(self.labels_, minlength=self.n_clusters)
        rows = [
            [str(i), f"{size:,}", *(f"{x:.6g}" for x in centre[:_CELLS])]
            for i, (size, centre) in enumerate(
                zip(sizes[:_ROWS].tolist(), self.cluster_centers_[:_ROWS].tolist(), strict=True)
            )
        ]
        more = len(names) - _CELLS
        said = f"; {more:,} more columns" if more > 0 else ""
        return ["cluster", "rows", *names[:_CELLS]], rows, f"{self._begun()}: {self._summary()}{said}"

    def _summary(self) -> str:
        return f"sum of squares {self.inertia_:.6g}"
