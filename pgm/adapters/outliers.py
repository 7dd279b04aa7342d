"""Outlier detection: by low density, or by distant neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pgm.errors import InvalidArgument, shown
from pgm.runtime.clock import start_clock

from .neighbours.searching import enough, nearest
from .rows import Rows, fraction, positive, whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Outliers(Rows):
    """An outlier detector: -1 for outliers, 1 for inliers. A subclass adds `fit` and `score_samples`."""

    _estimator_type = "outlier_detector"
    offset_: float

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to the rows; returns the estimator itself.

        Args:
            X: numeric rows: a data frame, or an array.
            y: ignored; present for pipelines.

        Raises:
            InvalidArgument: an option is out of range; the rows are too few.
            InvalidFrame: a value is missing or not a number.

        >>> from pgm.adapters import DensityOutliers
        >>> DensityOutliers().fit([[0.0], [1.0], [2.0], [3.0], [9.0]]).predict([[9.0]]).tolist()
        [-1]
        """
        raise NotImplementedError

    def score_samples(self, X: Any) -> np.ndarray:
        """Return a score for each row: the larger, the more typical.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> from pgm.adapters import DensityOutliers
        >>> DensityOutliers().fit([[-1.0], [1.0]]).score_samples([[0.0]]).round(6).tolist()
        [-0.918939]
        """
        raise NotImplementedError

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the score of each row minus the threshold; outliers are below 0.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> from pgm.adapters import LocalOutlierRatio
        >>> told = LocalOutlierRatio(2).fit([[0.0], [1.0], [2.0], [3.0], [4.0]])
        >>> told.decision_function([[8.0]]).round(6).tolist()
        [-1.833333]
        """
        return np.asarray(self.score_samples(X) - self.offset_)

    def predict(self, X: Any) -> np.ndarray:
        """Return -1 for each row that is an outlier, 1 for the others.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> from pgm.adapters import LocalOutlierRatio
        >>> LocalOutlierRatio(2).fit([[0.0], [1.0], [2.0], [3.0], [4.0]]).predict([[8.0], [2.5]]).tolist()
        [-1, 1]
        """
        return np.where(self.decision_function(X) < 0.0, -1, 1)

    def plot(
        self,
        X: Any,
        *,
        columns: Any = None,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw rows, the outliers among them marked; returns the Axes.

        Args:
            X: rows, as for `fit`.
            columns: the names of one column or two; by default the first two.
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: there is no such column.
        """
        from pgm import plot

        return plot.outliers(
            self, self._read(X), self.predict(X) < 0, columns, ax, figsize=figsize, title=title
        )


class DensityOutliers(Outliers):
    """Outlier detection by low density.

    Args:
        density: an estimator with `fit` and `score_samples`, the logarithm of a density: scikit-learn's
            `KernelDensity` or `GaussianMixture`, or a density of pgm. By default one normal distribution,
            for which low density is a large Mahalanobis distance; if the rows span fewer dimensions than
            there are columns, it is defined on their span, and any row off the span is an outlier. The fewer
            parameters a density has, the more outliers among the training rows mask themselves.
        limit: rows whose density is below it are outliers.
        contamination: without a limit, the fraction of training rows to fall below it.

    After `fit` there are `density_`, fitted, and `offset_`, the logarithm of the limit.

    >>> import math
    >>> told = DensityOutliers(limit=0.001).fit([[0.0], [1.0], [2.0], [3.0], [4.0]])
    >>> told.predict([[2.0], [10.0]]).tolist()
    [1, -1]
    >>> at_mean, far = told.score_samples([[2.0], [10.0]])
    >>> round(2.0 * float(at_mean - far), 6)  # (10 - mean)² / variance
    32.0
    """

    density_: Any

    def __init__(
        self, density: Any = None, *, limit: float | None = None, contamination: float = 0.05
    ) -> None:
        """Store the options; `fit` checks them."""
        self.density, self.limit, self.contamination = density, limit, contamination

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit a copy of the density, and find the threshold; returns the estimator itself.

        Args:
            X: numeric rows: a data frame, or an array.
            y: ignored; present for pipelines.

        Raises:
            InvalidArgument: an option is out of range; the density cannot be fitted.
            InvalidFrame: a value is missing or not a number.

        >>> DensityOutliers().fit([[0.0], [1.0], [2.0], [3.0], [9.0]]).predict([[9.0]]).tolist()
        [-1]
        """
        from sklearn.base import clone

        limit = None if self.limit is None else positive("limit", self.limit)
        share = fraction("contamination", self.contamination)
        if share > 0.5:
            raise InvalidArgument(f"contamination= is a share of 0.5 at most, not {shown(share)}.")
        rows, about = self._begin(X)
        if self.density is None:
            density = _Normal(rows)
        else:
            if not hasattr(self.density, "score_samples") or not hasattr(self.density, "fit"):
                raise InvalidArgument(
                    f"density= is an estimator with fit and score_samples, not {shown(self.density)}."
                )
            density = clone(self.density).fit(rows)
        if limit is None:
            offset = float(np.percentile(density.score_samples(rows), 100.0 * share))
        else:
            offset = float(np.log(limit))
        return self._keep(about, density_=density, offset_=offset)

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log density of each row.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> DensityOutliers().fit([[-1.0], [1.0]]).score_samples([[0.0]]).round(6).tolist()
        [-0.918939]
        """
        rows = self._read(X)
        return np.asarray(self.density_.score_samples(rows))

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        return ["limit of the log density"], [[f"{self.offset_:.6g}"]], self._begun()


class _Normal:
    """One normal distribution, by maximum likelihood, on the span of its rows; off that it is 0."""

    def __init__(self, rows: np.ndarray) -> None:
        from scipy.stats import multivariate_normal

        if len(rows) < 2:
            raise InvalidArgument("There is only 1 sample: one row determines no covariance.")
        self.mean_ = rows.mean(axis=0)
        self.covariance_ = np.cov(rows, rowvar=False, ddof=0).reshape(rows.shape[1], -1)
        if not self.covariance_.any():
            raise InvalidArgument(f"All n_samples={len(rows)} rows are equal: nothing is unlike the others.")
        self._density = multivariate_normal(self.mean_, self.covariance_, allow_singular=True)

    def score_samples(self, rows: np.ndarray) -> np.ndarray:
        return np.reshape(self._density.logpdf(rows), -1)


class LocalOutlierRatio(Outliers):
    """The local outlier factor as d_k(x) over the mean d_k of its neighbours (Alpaydin 2014, 8.23).

    d_k is the distance to the k-th nearest row of `fit`, other than itself. About 1 is typical, much more is
    not. scikit-learn's `LocalOutlierFactor` uses reachability distances instead (Breunig et al. 2000), and
    has other values.

    Args:
        k: how many neighbours.
        limit: the ratio above which a row is an outlier.

    After `fit` there are `ratios_` and `labels_` of the rows of `fit`, each compared with the others; and
    `reach_`, their d_k. Questions are about new rows: one of `fit` would be its own neighbour.

    >>> told = LocalOutlierRatio(2).fit([[0.0], [1.0], [2.0], [3.0], [4.0], [10.0]])
    >>> told.ratios_.round(6).tolist()
    [2.0, 0.666667, 1.0, 0.666667, 2.0, 4.666667]
    """

    rows_: np.ndarray
    reach_: np.ndarray
    ratios_: np.ndarray
    labels_: np.ndarray

    def __init__(self, k: int = 5, *, limit: float = 1.5) -> None:
        """Store the options; `fit` checks them."""
        self.k, self.limit = k, limit

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find neighbours of each row; returns the estimator itself.

        Args:
            X: numeric rows: a data frame, or an array.
            y: ignored; present for pipelines.

        Raises:
            InvalidArgument: an option is out of range; not more rows than neighbours.
            InvalidFrame: a value is missing or not a number.

        >>> LocalOutlierRatio(2, limit=2.5).fit([[0.0], [1.0], [2.0], [3.0], [9.0]]).labels_.tolist()
        [1, 1, 1, 1, -1]
        """
        limit = positive("limit", self.limit)
        rows, about = self._begin(X)
        enough(whole("k", self.k) + 1, len(rows))
        found = nearest(rows, rows, self.k, start_clock(), own=True)
        reach = np.sqrt(found.far[:, -1])
        ratios = _ratios(reach, reach[found.near])
        return self._keep(
            about,
            rows_=rows,
            reach_=reach,
            ratios_=ratios,
            labels_=np.where(ratios > limit, -1, 1),
            offset_=-limit,
        )

    def ratios(self, X: Any) -> np.ndarray:
        """Return the ratio of each row; new rows only.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> told = LocalOutlierRatio(2).fit([[0.0], [1.0], [2.0], [3.0], [4.0]])
        >>> told.ratios([[8.0]]).round(6).tolist()
        [3.333333]
        """
        queries = self._read(X)
        found = nearest(self.rows_, queries, self.k, start_clock())
        return _ratios(np.sqrt(found.far[:, -1]), self.reach_[found.near])

    def neighbour_distance(self, X: Any) -> np.ndarray:
        """Return the distance from each row to the k-th nearest training row; new rows only.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> told = LocalOutlierRatio(2).fit([[0.0], [1.0], [2.0], [3.0], [4.0]])
        >>> told.neighbour_distance([[8.0]]).tolist()
        [5.0]
        """
        queries = self._read(X)
        return np.asarray(np.sqrt(nearest(self.rows_, queries, self.k, start_clock()).far[:, -1]))

    def score_samples(self, X: Any) -> np.ndarray:
        """Return minus the ratio of each row: the larger, the more typical; new rows only.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> told = LocalOutlierRatio(2).fit([[0.0], [1.0], [2.0], [3.0], [4.0]])
        >>> told.score_samples([[8.0]]).round(6).tolist()
        [-3.333333]
        """
        return -self.ratios(X)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        worst = np.argsort(-self.ratios_, kind="stable")[:20]
        rows = [[f"{i:,}", f"{self.ratios_[i]:.6g}", f"{self.reach_[i]:.6g}"] for i in worst.tolist()]
        many = int((self.labels_ < 0).sum())
        return (
            ["row", "ratio", f"distance to neighbour {self.k}"],
            rows,
            f"{self._begun()}: {many:,} outliers",
        )


def _ratios(reach: np.ndarray, others: np.ndarray) -> np.ndarray:
    """d_k over the mean of the neighbours'; 1 if all coincide, infinite if only the neighbours do."""
    mean = others.mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = reach / mean
    return np.asarray(np.where(mean > 0.0, found, np.where(reach > 0.0, np.inf, 1.0)))
