"""What finds clusters of rows of numbers: how data come in, and scikit-learn's conventions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pgm.errors import InvalidArgument, InvalidFrame, UnknownState, shown
from pgm.evidence import LARGEST
from pgm.frames import real_columns
from pgm.frames.matrices import features
from pgm.models.classifiers.conventions import Estimator
from pgm.variables import REAL, Variable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROWS = 20  # clusters that are printed
_CELLS = 6  # entries of a centre that are printed


class Clusterer(Estimator):
    """Rows of numbers, each of which belongs to the cluster whose centre is nearest.

    What a subclass adds: `fit`, which sets what is learned.
    """

    _estimator_type = "clusterer"
    n_clusters: int
    cluster_centers_: np.ndarray
    labels_: np.ndarray
    inertia_: float
    n_iter_: int
    n_features_in_: int
    feature_names_in_: np.ndarray

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks before it validates: something that finds clusters, and changes rows."""
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="clusterer",
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(),
        )

    # --- questions ---

    def predict(self, X: Any) -> np.ndarray:
        """Return the number of each row's cluster, that of the nearest centre.

        Args:
            X: rows: a data frame, or an array.

        Raises:
            IncompleteModel: there was no `fit`.
            InvalidFrame: a value is missing or no number; the columns are not those of `fit`.

        >>> import pgm
        >>> pgm.KMeans(2, seed=0).fit([[0.0], [1.0], [9.0]]).predict([[8.0]]).tolist()
        [1]
        """
        return np.asarray(self._off(X).argmin(axis=1).astype(np.int32))

    def transform(self, X: Any) -> np.ndarray:
        """Return how far each row is from each centre, a column for each cluster.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: there was no `fit`.
            InvalidFrame: a value is missing or no number; the columns are not those of `fit`.

        >>> import pgm
        >>> pgm.KMeans(2, seed=0).fit([[0.0], [1.0], [9.0]]).transform([[8.0]]).tolist()
        [[7.5, 1.0]]
        """
        return self._off(X)

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Find clusters, and return the number of each row's.

        Args:
            X: rows: a data frame, or an array.
            y: nothing; there so that pipelines can pass it.

        Raises:
            InvalidArgument: an option is out of range.
            InvalidFrame: a value is missing or no number.

        >>> import pgm
        >>> pgm.KMeans(2, seed=0).fit_predict([[0.0], [1.0], [9.0]]).tolist()
        [0, 0, 1]
        """
        return self.fit(X, y).labels_

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Find clusters, and return how far each row is from each centre.

        Args:
            X: rows: a data frame, or an array.
            y: nothing; there so that pipelines can pass it.

        Raises:
            InvalidArgument: an option is out of range.
            InvalidFrame: a value is missing or no number.

        >>> import pgm
        >>> pgm.KMeans(2, seed=0).fit_transform([[0.0], [1.0], [9.0]]).tolist()
        [[0.5, 9.0], [0.5, 8.0], [8.5, 0.0]]
        """
        return self.fit(X, y).transform(X)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find clusters; returns the estimator itself.

        Args:
            X: rows: a data frame, or an array.
            y: nothing; there so that pipelines can pass it.

        Raises:
            InvalidArgument: an option is out of range.
            InvalidFrame: a value is missing or no number.

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
            columns: the names of two columns; the first two if left out.
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: what stands above; what is shown if left out.

        Raises:
            IncompleteModel: there was no `fit`.
            InvalidArgument: there is no such column.
        """
        from pgm import plot

        if not hasattr(self, "cluster_centers_"):
            raise self._missing_fit("fit it to rows first")
        rows = self.cluster_centers_[:0] if X is None else self._read(X)
        codes = np.zeros(0, np.int64) if X is None else self.predict(X)
        return plot.clusters(self, rows, codes, columns, ax, figsize=figsize, title=title)

    # --- how ---

    @property
    def _names(self) -> list[str]:
        found = getattr(self, "feature_names_in_", None)
        return [f"x{i}" for i in range(self.n_features_in_)] if found is None else found.tolist()

    def _begin(self, X: Any, weights: Any = None, *, few: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Rows to learn from and their weights, checked; the columns are remembered.

        Args:
            X: rows.
            weights: of each.
            few: whether there may be fewer than clusters.
        """
        k = self.n_clusters
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise InvalidArgument(f"n_clusters= is a whole number of at least 1, not {shown(k)}.")
        given = features(X)
        rows = _numbers(given)
        if len(rows) < k and not few:
            raise InvalidArgument(
                f"n_clusters={k}, and there are n_samples={len(rows)} rows: each cluster has one at least."
            )
        self.n_features_in_ = rows.shape[1]
        if given.named:
            self.feature_names_in_ = np.array(given.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return rows, _weights(weights, len(rows))

    def _read(self, X: Any) -> np.ndarray:
        """Rows to ask about."""
        if not hasattr(self, "cluster_centers_"):
            raise self._missing_fit("fit it to rows first")
        given = features(X)
        known = getattr(self, "feature_names_in_", None)
        if known is not None and given.named and list(given.names) != known.tolist():
            missing = [name for name in known.tolist() if name not in given.names]
            if missing:
                raise InvalidFrame(f"The frame has no column {shown(missing[0])}, which `fit` has seen.")
            return _numbers(given, known.tolist())
        rows = _numbers(given)
        if rows.shape[1] != self.n_features_in_:
            raise InvalidFrame(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        return rows

    def _off(self, X: Any) -> np.ndarray:
        from scipy.spatial.distance import cdist

        return np.asarray(cdist(self._read(X), self.cluster_centers_))

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        if not hasattr(self, "cluster_centers_"):
            return ["cluster"], [], f"{self._begun()}, not fitted yet"
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

    def __repr__(self) -> str:
        return super().__repr__() if hasattr(self, "cluster_centers_") else self._begun()


def _numbers(given: Any, names: list[str] | None = None) -> np.ndarray:
    """The columns as one array of numbers, none of them missing."""
    wanted = list(given.names) if names is None else names
    try:
        found = real_columns(
            given.frame, {name: Variable.of(name, REAL) for name in wanted}, remedy="leave such rows out"
        )
    except UnknownState as error:
        raise InvalidFrame(str(error)) from None
    rows = np.column_stack([found.values[name] for name in wanted])
    bad = np.isnan(rows)
    if bad.any():
        row, column = np.argwhere(bad)[0].tolist()
        raise InvalidFrame(
            f"Row {row:,} (the first is 0) has no value in the column {shown(wanted[column])} (NaN): leave "
            "such rows out, or take pgm.Mixture, which sums over what is missing."
        )
    if np.abs(rows).max(initial=0.0) > LARGEST:
        raise InvalidFrame(f"There are numbers beyond {LARGEST:g}: use another unit.")
    return np.ascontiguousarray(rows)


def _weights(given: Any, n: int) -> np.ndarray:
    from pgm.frames import weights_of

    found = weights_of(np.full(n, float(given)) if isinstance(given, int | float) else given, n)
    if not found.any():
        raise InvalidArgument("sample_weight= is zero for all rows: there is nothing to learn from.")
    return found


def whole(name: str, value: Any, least: int = 1) -> int:
    """An option that is a whole number."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidArgument(f"{name}= is a whole number of at least {least}, not {shown(value)}.")
    return int(value)


def fraction(name: str, value: Any) -> float:
    """An option that is a number above 0, 1 at most."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.floating):
        value = math.nan
    if not 0.0 < value <= 1.0:
        raise InvalidArgument(f"{name}= is a number above 0, 1 at most, not {shown(value)}.")
    return float(value)
