"""k-medoids: PAM, which tries all swaps, and CLARANS, which samples them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from pgm.errors import InvalidArgument, InvalidFrame, listed, nearest, shown
from pgm.randomness import generator
from pgm.runtime.clock import Clock, start_clock
from pgm.runtime.progress import report as report_progress

from .clusterer import Clusterer
from .kmeans import CLUSTERS
from .rows import whole

METRICS = ("euclidean", "manhattan", "precomputed")
METHODS = ("pam", "clarans")
_BLOCK = 2**24  # entries that are processed between two checks of the clock
_LEAST = 250  # swaps that CLARANS tries (Ng & Han 2002); here rows, each for all medoids
_SHARE = 0.0125  # of all


class KMedoids(Clusterer):
    """k-medoids: rows of the data, chosen to minimise the distances of all rows to the nearest one.

    Unlike means, medoids are rows that exist, any distance will do, and outliers pull less.

    Args:
        n_clusters: the number of clusters.
        method: "pam" starts with the best row, adds the best next ones, and makes the best swap of a
            medoid and another row until none gains (Kaufman & Rousseeuw 1990); "clarans" starts at random and
            takes the first improving random swap (Ng & Han 2002), for many rows.
        metric: "euclidean", "manhattan", or "precomputed": X is a matrix of distances.
        starts: the number of starts of "clarans".
        neighbours: how many rows in turn "clarans" tries in the place of each medoid before it stops; 1.25 %
            of all, 250 at least, if left out.
        max_iter: the maximum number of swaps.
        seed: seed of the random draws.

    After `fit` there are `medoid_indices_`, `cluster_centers_` (these rows), `labels_`, `inertia_` (the sum
    of distances) and `n_iter_`, the number of exchanges.

    >>> found = KMedoids(2).fit([[0.0], [1.0], [2.0], [9.0], [50.0]])
    >>> found.cluster_centers_.tolist(), found.inertia_
    ([[2.0], [50.0]], 10.0)
    """

    medoid_indices_: np.ndarray

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        method: str = "pam",
        metric: str = "euclidean",
        starts: int = 2,
        neighbours: int | None = None,
        max_iter: int = 1000,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        """Store the options; `fit` checks them."""
        self.n_clusters, self.method, self.metric, self.starts = n_clusters, method, metric, starts
        self.neighbours, self.max_iter, self.seed = neighbours, max_iter, seed

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks before it validates; rows may be distances."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find clusters; returns the estimator itself.

        Args:
            X: rows: a data frame, or an array.
            y: ignored; present for pipelines.

        Raises:
            InvalidArgument: an option is out of range; fewer rows than clusters.
            InvalidFrame: a value is missing or not a number; distances that are none.
            OutOfTime: the time limit is reached.

        >>> KMedoids(2, metric="manhattan").fit([[0.0, 0.0], [1.0, 1.0], [9.0, 9.0]]).inertia_
        2.0
        """
        for name, value, known in (("method", self.method, METHODS), ("metric", self.metric, METRICS)):
            if not isinstance(value, str) or value not in known:
                raise InvalidArgument(
                    f"{name}= is {listed(known)}, not {shown(value)}.{nearest(value, known)}"
                )
        if self.neighbours is not None:
            if self.method != "clarans":
                raise InvalidArgument('neighbours= has no effect with method="pam", which tries all.')
            whole("neighbours", self.neighbours)
        rows, _ = self._begin_clusters(X)
        if self.metric == "precomputed":
            _check_distances(rows)
        search = _Search(rows, METRICS.index(self.metric), int(self.n_clusters), start_clock())
        most = whole("max_iter", self.max_iter)
        if self.method == "pam":
            best = _pam(search, most)
        else:
            random, starts = generator(self.seed), whole("starts", self.starts)
            found = []
            for i in range(starts):
                report_progress(i, starts, "CLARANS")
                found.append(_clarans(search, most, self.neighbours, random))
            report_progress(starts, starts, "CLARANS")
            best = min(found, key=lambda one: one[0])
        self.inertia_, medoids, self.n_iter_ = best
        order = np.argsort(medoids)  # in the order of the rows
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        self.medoid_indices_ = medoids[order]
        self.cluster_centers_ = rows[self.medoid_indices_]
        search.look(medoids)
        self.labels_ = place[search.near].astype(np.int32)
        return self

    def _off(self, X: Any) -> np.ndarray:
        from scipy.spatial.distance import cdist

        rows = self._read(X)
        if self.metric == "precomputed":
            return np.asarray(rows[:, self.medoid_indices_])
        return np.asarray(
            cdist(rows, self.cluster_centers_, "cityblock" if self.metric == "manhattan" else "euclidean")
        )

    def _summary(self) -> str:
        return f"sum of distances {self.inertia_:.6g}"


class _Search:
    """Rows, and where the nearest two medoids are."""

    def __init__(self, rows: np.ndarray, metric: int, k: int, clock: Clock) -> None:
        n = len(rows)
        self.rows, self.dim, self.metric, self.k = rows.reshape(-1), rows.shape[1], metric, k
        self.n, self.clock = n, clock
        self.near, self.first, self.second = np.zeros(n, np.int64), np.full(n, np.inf), np.full(n, np.inf)
        self.taken = np.zeros(n, np.int64)
        self.choice, self.gains = np.zeros(2, np.int64), np.zeros(k)

    def look(self, medoids: np.ndarray) -> float:
        """The sum of distances; which medoid is nearest to each row, and how far the next is."""
        self.taken[:] = 0
        self.taken[medoids] = 1
        return float(
            CLUSTERS.nearest_two(
                self.rows, self.dim, self.metric, medoids, self.near, self.first, self.second
            )
        )

    def parts(self) -> list[np.ndarray]:
        """All rows, in parts, checking the clock after each."""
        size = max(1, _BLOCK // (self.n * self.dim))
        return np.split(np.arange(self.n), np.arange(size, self.n, size))

    def exchange(self, candidates: np.ndarray) -> tuple[float, int, int]:
        """The best change of the sum, and which row takes the place of which medoid."""
        self.clock.check("k-medoids")
        change = CLUSTERS.best_exchange(
            self.rows, self.dim, self.metric, self.k, candidates, self.taken, self.near, self.first,
            self.second, self.choice, self.gains,
        )  # fmt: skip
        return float(change), int(self.choice[0]), int(self.choice[1])

    def addition(self) -> int:
        """The row that is best as one medoid more."""
        best = np.inf, 0
        for part in self.parts():
            self.clock.check("k-medoids")
            total = CLUSTERS.best_addition(
                self.rows, self.dim, self.metric, part, self.taken, self.first, self.choice
            )
            best = min(best, (float(total), int(self.choice[0])))
        return best[1]


def _pam(search: _Search, most: int) -> tuple[float, np.ndarray, int]:
    medoids = np.empty(0, np.int64)
    for i in range(search.k):
        report_progress(i, search.k, "k-medoids")
        medoids = np.append(medoids, search.addition())
        total = search.look(medoids)
    report_progress(search.k, search.k, "k-medoids")
    for step in range(most):
        change, row, medoid = min(search.exchange(part) for part in search.parts())
        if not change < -1e-12 * (1.0 + total):
            return total, medoids, step
        medoids[medoid] = row
        total = search.look(medoids)
    return total, medoids, most


def _clarans(
    search: _Search, most: int, neighbours: int | None, random: np.random.Generator
) -> tuple[float, np.ndarray, int]:
    n, k = search.n, search.k
    medoids = random.choice(n, k, replace=False).astype(np.int64)
    total = search.look(medoids)
    if n == k:
        return total, medoids, 0
    look_at = neighbours or max(_LEAST, int(_SHARE * (n - k)))
    tried = steps = 0
    while tried < look_at and steps < most:
        tried += 1
        row = int(random.integers(n))
        while search.taken[row]:
            row = int(random.integers(n))
        change, row, medoid = search.exchange(np.array([row]))
        if change < -1e-12 * (1.0 + total):
            medoids[medoid] = row
            total = search.look(medoids)
            tried, steps = 0, steps + 1
    return total, medoids, steps


def _check_distances(rows: np.ndarray) -> None:
    if rows.shape[0] != rows.shape[1] or (rows < 0.0).any() or np.diag(rows).any():
        raise InvalidFrame(
            'metric="precomputed" takes a square matrix of distances, not negative and 0 from a row to '
            f"itself, and this is {rows.shape[0]} by {rows.shape[1]}."
        )
