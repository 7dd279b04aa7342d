"""k-means: scikit-learn's, and online k-means."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pgm.errors import InvalidArgument, shown
from pgm.randomness import generator
from pgm.runtime.clock import Clock, start_clock
from pgm.runtime.loops import Loops
from pgm.runtime.progress import report as report_progress
from pgm.runtime.running import unstoppable

from .clusterer import Clusterer
from .rows import fraction, whole

if TYPE_CHECKING:
    from pgm.models.mixtures import Mixture

CLUSTERS = Loops("pgm.adapters.compiled", "finding clusters")
_WORK = 5e8  # multiplications in steps that are not interrupted: less than a second
_PATH = 200  # points in time at which an online form keeps where its centres are


class KMeans(Clusterer):
    """k-means, by scikit-learn: centres that minimise the squared distances of rows to the nearest one.

    Lloyd's algorithm assigns each row to its nearest centre, and moves centres to the means of their rows. It
    is the limit of a Gaussian mixture with vanishing variances: `to_mixture()` continues from there.

    Args:
        n_clusters: the number of clusters.
        init: "k-means++" or "random", which draw rows; or centres, a row for each; or the number of each
            row's cluster to begin with.
        starts: the number of starts, if `init` is random; the smallest sum of squares is kept.
        max_iter: the maximum number of steps.
        tol: convergence tolerance for the shift of the centres, relative to the variance of the rows.
        seed: seed of the random draws.

    After `fit` there are `cluster_centers_`, `labels_`, `inertia_` (the sum of squared distances), `n_iter_`
    and `starts_`, the sums of all starts.

    >>> found = KMeans(2, init=[0, 1, 0, 1]).fit([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [3.0, 3.0]])
    >>> found.labels_.tolist(), round(found.inertia_, 4)
    ([0, 0, 0, 1], 2.6667)
    """

    starts_: list[float]

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        starts: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        """Store the options; `fit` checks them."""
        self.n_clusters, self.init, self.starts = n_clusters, init, starts
        self.max_iter, self.tol, self.seed = max_iter, tol, seed

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Find clusters; returns the estimator itself.

        Args:
            X: rows: a data frame, or an array.
            y: ignored; present for pipelines.
            sample_weight: the weight of each row; by default 1.

        Raises:
            InvalidArgument: an option is out of range; fewer rows than clusters.
            InvalidFrame: a value is missing or not a number.
            OutOfTime: the time limit is reached before the first start has ended.

        >>> KMeans(2, seed=0).fit([[0.0], [1.0], [9.0]]).cluster_centers_.tolist()
        [[0.5], [9.0]]
        """
        rows, weights = self._begin_clusters(X, sample_weight)
        begin = initial(self.init, rows, weights, int(self.n_clusters))
        if isinstance(self.tol, bool) or not isinstance(self.tol, int | float) or not self.tol >= 0.0:
            raise InvalidArgument(f"tol= is a number that is not negative, not {shown(self.tol)}.")
        many = whole("starts", self.starts) if isinstance(begin, str) else 1
        seeds = generator(self.seed).integers(2**31, size=many)
        clock, best, sums = start_clock(), None, []
        for i, seed in enumerate(seeds.tolist()):
            report_progress(i, many, "k-means")
            found = self._one(rows, weights, begin, seed, clock, late=best is None)
            if found is None:
                break
            sums.append(float(found.inertia_))
            if best is None or found.inertia_ < best.inertia_:
                best = found
        report_progress(many, many, "k-means")
        assert best is not None
        self.cluster_centers_, self.labels_ = best.cluster_centers_, best.labels_
        self.inertia_, self.n_iter_, self.starts_ = float(best.inertia_), int(best.n_iter_), sums
        return self

    def _one(
        self, rows: np.ndarray, weights: np.ndarray, begin: Any, seed: int, clock: Clock, *, late: bool
    ) -> Any:
        """One start, some steps at a time, so that time limits hold within it; None if the time is up.

        Args:
            rows: floats.
            weights: of each.
            begin: where it begins.
            seed: seed of the random draws.
            clock: checked between steps.
            late: whether to raise where the time is over, for there is no earlier start.
        """
        from sklearn.cluster import KMeans as Peer

        k, left, done = int(self.n_clusters), whole("max_iter", self.max_iter), 0
        at_once = max(3, int(_WORK / (rows.size * k + 1)))  # fewer would not show that it rests
        while True:
            if late:
                clock.check("k-means")
            elif clock.remaining() <= 0.0:
                return None
            steps = min(left - done, at_once)
            peer = Peer(k, init=begin, n_init=1, max_iter=steps, tol=float(self.tol), random_state=seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # fewer different rows than clusters: said below
                unstoppable(partial(peer.fit, rows, sample_weight=weights), clock, "k-means")
            done += int(peer.n_iter_)
            if peer.n_iter_ < steps or done >= left:
                peer.n_iter_ = done
                return peer
            begin = peer.cluster_centers_

    def score(self, X: Any, y: Any = None) -> float:
        """Return minus the sum of squared distances to the nearest centres.

        Args:
            X: rows, as for `fit`.
            y: nothing; there so that searches can pass it.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number.

        >>> KMeans(2, seed=0).fit([[0.0], [1.0], [9.0]]).score([[0.0], [8.0]])
        -1.25
        """
        return -float((self._off(X).min(axis=1) ** 2).sum())

    def to_mixture(self, X: Any, *, form: str = "full") -> Mixture:
        """Return the mixture of normal distributions that has these clusters as its components.

        Args:
            X: the rows; their clusters give weights, means and covariances.
            form: of the covariances, as of `pgm.Gaussian`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: a cluster has rows on one point or line, so that there is no density.

        >>> rows = [[0.0], [1.0], [2.0], [9.0], [10.0]]
        >>> KMeans(2, seed=0).fit(rows).to_mixture(rows).weights.tolist()
        [0.6, 0.4]
        """
        from pgm.distributions import Gaussian
        from pgm.models.mixtures import Mixture

        rows, codes = self._read(X), self.predict(X)
        emission = Gaussian(dim=rows.shape[1], form=form)
        columns = list(getattr(self, "feature_names_in_", [])) or None
        made = Mixture(n_components=int(self.n_clusters), emission=emission, columns=columns)
        return made.fit(rows if rows.shape[1] > 1 else rows[:, 0], labels=codes, max_iter=1)


class OnlineKMeans(Clusterer):
    """Online k-means: each row moves its nearest centre a fraction of the distance towards it.

    With a constant rate old rows are forgotten, so that centres follow drift; scikit-learn's
    MiniBatchKMeans has one that falls with the number of rows.

    Args:
        n_clusters: the number of clusters.
        rate: the fraction of the distance that the nearest centre moves.
        init: "random" draws rows of the first batch; or centres, a row for each; or the number of each
            row's cluster to begin with.
        passes: the number of passes of `fit`, each in a new random order.
        seed: seed of the random draws.

    After `fit` there are `cluster_centers_`, `labels_`, `inertia_` and `path_`, where the centres were at
    some points in time.

    >>> found = OnlineKMeans(2, rate=0.5, init=[[0.0], [8.0]]).partial_fit([[1.0], [10.0], [3.0]])
    >>> found.cluster_centers_.tolist()
    [[1.75], [9.0]]
    """

    path_: np.ndarray

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        rate: float = 0.1,
        init: Any = "random",
        passes: int = 1,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        """Store the options; `fit` checks them."""
        self.n_clusters, self.rate, self.init, self.passes, self.seed = n_clusters, rate, init, passes, seed

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find clusters from scratch, visiting the rows in random order; returns the estimator itself.

        Args:
            X: rows: a data frame, or an array.
            y: ignored; present for pipelines.

        Raises:
            InvalidArgument: an option is out of range; fewer rows than clusters.
            InvalidFrame: a value is missing or not a number.

        >>> OnlineKMeans(2, rate=0.5, init=[[0.0], [8.0]]).fit([[1.0], [9.0]]).cluster_centers_.tolist()
        [[0.5], [8.5]]
        """
        rows, _ = self._begin_clusters(X)
        random = generator(self.seed)
        passes, clock = whole("passes", self.passes), start_clock()
        self._start(rows, random)
        for i in range(passes):
            report_progress(i, passes, "k-means")
            self._follow(rows, random.permutation(len(rows)), clock)
        report_progress(passes, passes, "k-means")
        self.n_iter_ = passes
        return self._told(rows)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from more rows, in their order; returns the estimator itself.

        Args:
            X: rows: a data frame, or an array.
            y: ignored; present for pipelines.

        Raises:
            InvalidArgument: an option is out of range; the first batch has fewer rows than clusters.
            InvalidFrame: a value is missing or not a number; the columns are not those before.

        >>> OnlineKMeans(1, rate=0.5, init=[[0.0]]).partial_fit([[2.0], [2.0]]).cluster_centers_.tolist()
        [[1.5]]
        """
        if hasattr(self, "cluster_centers_"):
            rows = self._read(X)
        else:
            rows, _ = self._begin_clusters(X, few=not isinstance(self.init, str))
            self._start(rows, generator(self.seed))
            self.n_iter_ = 0
        self._follow(rows, np.arange(len(rows)), start_clock())
        self.n_iter_ += 1
        return self._told(rows)

    def _start(self, rows: np.ndarray, random: np.random.Generator) -> None:
        begin = initial(self.init, rows, np.ones(len(rows)), int(self.n_clusters), ("random",))
        if isinstance(begin, str):
            begin = rows[random.choice(len(rows), int(self.n_clusters), replace=False)]
        self.cluster_centers_ = np.array(begin)
        self.path_ = self.cluster_centers_[None].copy()

    def _follow(self, rows: np.ndarray, order: np.ndarray, clock: Clock) -> None:
        rate = fraction("rate", self.rate)
        centres, path = self.cluster_centers_.copy(), [self.path_]
        for part in np.array_split(order, min(len(order), 20)):
            clock.check("k-means")
            CLUSTERS.follow(rows.reshape(-1), part, rows.shape[1], rate, centres.reshape(-1))
            path.append(centres[None].copy())
        self.cluster_centers_, self.path_ = centres, np.concatenate(path)
        if len(self.path_) > _PATH:
            self.path_ = np.concatenate([self.path_[:-1][::2], self.path_[-1:]])

    def _told(self, rows: np.ndarray) -> Self:
        from scipy.spatial.distance import cdist

        far = cdist(rows, self.cluster_centers_)
        self.labels_ = far.argmin(axis=1).astype(np.int32)
        self.inertia_ = float((far.min(axis=1) ** 2).sum())
        return self


def initial(
    init: Any, rows: np.ndarray, weights: np.ndarray, k: int, names: tuple[str, ...] = ("k-means++", "random")
) -> Any:
    """Where centres begin: a name, or an array of centres."""
    if isinstance(init, str) and init in names:
        return init
    wrong = InvalidArgument(
        f"init= is {' or '.join(map(repr, names))}, {k} centres of {rows.shape[1]} values, or a cluster "
        f"from 0 to {k - 1} for each of {len(rows)} rows; not {shown(init)}."
    )
    try:
        found = np.array(np.nan if isinstance(init, str) else init, dtype=np.float64)
    except (TypeError, ValueError):
        raise wrong from None
    if found.shape == (k, rows.shape[1]) and np.isfinite(found).all():
        return found
    codes = found.astype(np.int64) if np.isfinite(found).all() else np.array(-1)
    if found.shape != (len(rows),) or (codes != found).any() or codes.min() < 0 or codes.max() >= k:
        raise wrong
    total = np.bincount(codes, weights, k)
    if not (total > 0.0).all():
        raise InvalidArgument(f"init= gives cluster {int(total.argmin())} no row.")
    return np.column_stack([np.bincount(codes, weights * column, k) / total for column in rows.T])
