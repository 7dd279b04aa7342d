"""Outlier detection by single-linkage clustering."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pgm.errors import InvalidArgument
from pgm.runtime.clock import start_clock
from pgm.runtime.running import unstoppable

from .neighbours.metrics import plan_table
from .rows import Rows, positive, whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SingleLinkageOutliers(Rows):
    """Outlier detection by single linkage: small clusters of the cut tree are outliers.

    Clusters are merged nearest first; rows that merge late are far from everything. The tree is that of
    `scipy.cluster.hierarchy`.

    Args:
        distance: clusters farther apart are not merged; by default the cut is at the largest jump in merge
            distances.
        smallest: clusters of fewer rows are outliers.

    After `fit` there are `labels_`, -1 for outliers and 1; `clusters_`, the cluster of each row, from 0 on in
    the order of the rows; `heights_`, the distances of the joins; and `distance_`, that of the cut.

    >>> told = SingleLinkageOutliers().fit([[0.0], [1.0], [2.0], [10.0]])
    >>> told.labels_.tolist(), told.heights_.tolist()
    ([1, 1, 1, -1], [1.0, 1.0, 8.0])
    """

    _estimator_type = "outlier_detector"
    labels_: np.ndarray
    clusters_: np.ndarray
    heights_: np.ndarray
    distance_: float
    _linkage: np.ndarray

    def __init__(self, distance: float | None = None, *, smallest: int = 2) -> None:
        """Store the options; `fit` checks them."""
        self.distance, self.smallest = distance, smallest

    def fit(self, X: Any, y: Any = None) -> Self:
        """Build the tree, and cut it; returns the estimator itself.

        Args:
            X: numeric rows: a data frame, or an array.
            y: ignored; present for pipelines.

        Raises:
            InvalidArgument: an option is out of range; there is one row only.
            InvalidFrame: a value is missing or not a number.
            OutOfTime: the time limit is reached.
            TooLarge: the distances of all pairs would not fit into the memory limit.

        >>> SingleLinkageOutliers(5.0).fit([[0.0], [1.0], [9.0]]).clusters_.tolist()
        [0, 0, 1]
        """
        from scipy.cluster.hierarchy import fcluster, linkage

        distance = None if self.distance is None else positive("distance", self.distance)
        smallest = whole("smallest", self.smallest)
        rows, about = self._begin(X)
        n = len(rows)
        if n < 2:
            raise InvalidArgument("There is only 1 sample: there is nothing to join.")
        plan_table(n, -(-n // 2), "distances")
        tree = unstoppable(partial(linkage, rows, "single"), start_clock(), "joining rows")
        heights = tree[:, 2]
        if distance is None:
            jumps = np.diff(heights)
            distance = float(heights[-1])
            if jumps.size and jumps.max() > 0.0:
                at = int(jumps.argmax())
                distance = float(0.5 * (heights[at] + heights[at + 1]))
        clusters = fcluster(tree, distance, "distance")
        _, first, which = np.unique(clusters, return_index=True, return_inverse=True)
        numbered = np.argsort(np.argsort(first))[which.reshape(-1)]
        small = np.bincount(numbered)[numbered] < smallest
        return self._keep(
            about,
            labels_=np.where(small, -1, 1),
            clusters_=numbered,
            heights_=heights,
            distance_=distance,
            _linkage=tree,
        )

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Build the tree, cut it, and return -1 for outliers and 1 for the others.

        Args:
            X: numeric rows: a data frame, or an array.
            y: ignored; present for pipelines.

        Raises:
            InvalidArgument, InvalidFrame, TooLarge: as for `fit`.

        >>> SingleLinkageOutliers().fit_predict([[0.0], [1.0], [2.0], [10.0]]).tolist()
        [1, 1, 1, -1]
        """
        return self.fit(X).labels_

    def plot(
        self,
        *,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the tree and the cut; returns the Axes.

        Args:
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.

        Raises:
            IncompleteModel: it is not fitted.
        """
        from pgm import plot

        self._check_fitted()
        return plot.linkage_tree(
            self._linkage, self.labels_ < 0, self.distance_, ax, figsize=figsize, title=title
        )

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        counts = np.bincount(self.clusters_)
        rows = [
            [str(c), f"{n:,}", "outliers" if n < self.smallest else ""]
            for c, n in enumerate(counts.tolist()[:20])
        ]
        many = int((self.labels_ < 0).sum())
        return (
            ["cluster", "rows", ""],
            rows,
            f"{self._begun()}: cut at {self.distance_:.6g}, {many:,} outliers",
        )
