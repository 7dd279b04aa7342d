"""Measures of cluster quality: compactness and separation."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.calls import guarded
from pgm.errors import InvalidArgument, shown
from pgm.frames.matrices import features
from pgm.printing import Tabular, label
from pgm.randomness import generator
from pgm.runtime.clock import start_clock
from pgm.runtime.running import unstoppable

from .rows import floats_of, whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROWS = 20


class ClusterQuality(Tabular):
    """The quality of clusters, individually and overall; see `cluster_quality`.

    `silhouette` is between -1 and 1, the larger the better; `calinski_harabasz` the larger; `davies_bouldin`
    the smaller. `within` and `between` are the sums of squares about the clusters' means, and of these about
    the mean of all: together they are the sum of squares of all rows.

    >>> found = cluster_quality([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1])
    >>> round(found.silhouette, 4), found.within, found.between
    (0.8885, 1.0, 81.0)
    """

    def __init__(self, **facts: Any) -> None:
        """Store the results."""
        self.clusters: list[Any] = facts["clusters"]
        self.sizes: np.ndarray = facts["sizes"]
        self.squares: np.ndarray = facts["squares"]  # within each cluster
        self.silhouettes: np.ndarray = facts["silhouettes"]  # the mean of each cluster's rows
        self.silhouette: float = facts["silhouette"]
        self.calinski_harabasz: float = facts["calinski_harabasz"]
        self.davies_bouldin: float = facts["davies_bouldin"]
        self.between: float = facts["between"]
        self.sample: int | None = facts["sample"]  # number of rows used for silhouettes; None: all

    @property
    def within(self) -> float:
        """The sum of squares of all rows about the means of their clusters."""
        return float(self.squares.sum())

    def to_dict(self) -> dict[str, Any]:
        """A list for each column of the table, and the overall measures."""
        return {
            "cluster": self.clusters,
            "rows": self.sizes.tolist(),
            "squares": self.squares.tolist(),
            "silhouette": self.silhouettes.tolist(),
            "all": {
                name: getattr(self, name)
                for name in ("silhouette", "calinski_harabasz", "davies_bouldin", "within", "between")
            },
        }

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each cluster."""
        from pgm.results.base import pandas

        found = self.to_dict()
        del found["all"]
        return pandas().DataFrame(found).set_index("cluster")

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the mean silhouette of each cluster and of all rows; returns the Axes.

        Args:
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.
        """
        from pgm import plot

        return plot.silhouettes(self, ax, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        table = zip(
            self.clusters, self.sizes.tolist(), self.squares.tolist(), self.silhouettes.tolist(), strict=True
        )
        rows = [[label(c), f"{n:,}", f"{s:.6g}", f"{q:.4g}"] for c, n, s, q in list(table)[:_ROWS]]
        of = "" if self.sample is None else f" (of {self.sample:,} rows)"
        said = (
            f"silhouette {self.silhouette:.4g}{of}, Calinski-Harabasz {self.calinski_harabasz:.6g}, "
            f"Davies-Bouldin {self.davies_bouldin:.4g}; sums of squares: within {self.within:.6g}, between "
            f"{self.between:.6g}"
        )
        return ["cluster", "rows", "sum of squares", "silhouette"], rows, said


@guarded
def cluster_quality(
    X: Any, labels: Any, *, sample: int | None = None, seed: int | np.random.Generator | None = None
) -> ClusterQuality:
    """Measure the quality of clusters: how compact they are, and how well separated.

    Args:
        X: numeric rows: a data frame, or an array.
        labels: the cluster of each row.
        sample: compute silhouettes on a random sample of this many rows: their cost is quadratic.
        seed: seed of that sample.

    Raises:
        InvalidArgument: there are not as many labels as rows, or fewer than two clusters, or each row is one.
        InvalidFrame: a value is missing or not a number.
        OutOfTime: the time limit is reached: take a `sample`.

    >>> rows = [[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [3.0, 3.0], [3.5, 3.0]]
    >>> round(cluster_quality(rows, [0, 0, 0, 1, 1]).silhouette, 4)
    0.6306
    """
    from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score, silhouette_samples

    rows = floats_of(features(X))
    codes, names = _codes(labels, len(rows))
    k = len(names)
    if not 2 <= k < len(rows):
        raise InvalidArgument(
            f"There are {k} clusters of {len(rows)} rows: quality compares two at least, not each row alone."
        )
    at = np.arange(len(rows))
    if sample is not None and whole("sample", sample, 2) < len(rows):
        at = np.sort(generator(seed).choice(len(rows), sample, replace=False))
    sizes = np.bincount(codes, minlength=k)
    means = np.column_stack([np.bincount(codes, column, k) / sizes for column in rows.T])
    squares = np.bincount(codes, ((rows - means[codes]) ** 2).sum(axis=1), k)
    between = float(sizes @ ((means - rows.mean(axis=0)) ** 2).sum(axis=1))
    there = np.unique(codes[at])
    if not 2 <= there.size < at.size:
        raise InvalidArgument(f"sample={sample} rows are too few: they are of {there.size} clusters.")
    each = unstoppable(partial(silhouette_samples, rows[at], codes[at]), start_clock(), "silhouettes")
    counts = np.bincount(codes[at], minlength=k)
    sums = np.bincount(codes[at], each, k)
    return ClusterQuality(
        clusters=names,
        sizes=sizes,
        squares=squares,
        silhouettes=np.divide(sums, counts, out=np.full(k, np.nan), where=counts > 0),
        silhouette=float(each.mean()),
        calinski_harabasz=float(calinski_harabasz_score(rows, codes)),
        davies_bouldin=float(davies_bouldin_score(rows, codes)),
        between=between,
        sample=None if at.size == len(rows) else int(at.size),
    )


def _codes(labels: Any, n: int) -> tuple[np.ndarray, list[Any]]:
    found = np.asarray(labels)
    if found.shape != (n,):
        raise InvalidArgument(f"labels= has a cluster for each of {n:,} rows, not {shown(labels)}.")
    names, codes = np.unique(found, return_inverse=True)
    return codes.reshape(-1).astype(np.int64), names.tolist()
