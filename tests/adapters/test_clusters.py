"""Clusters beside scikit-learn, enumeration and sums by hand; scikit-learn's own checks of estimators."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.base import clone
from sklearn.cluster import KMeans as Peer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import pgm
from tests.adapters.estimators import NEW, SPARSE


def blobs(seed: int, n: int = 120, k: int = 3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return 8.0 * np.array([[0, 0], [1, 0], [0.4, 1], [1.5, 1.2], [-1, 0.7]])[
        rng.integers(k, size=n)
    ] + rng.normal(size=(n, 2))


ALL: dict[str, Any] = {
    "KMeans": lambda: pgm.KMeans(3, starts=3, seed=0),
    "OnlineKMeans": lambda: pgm.OnlineKMeans(3, rate=0.05, passes=5, seed=0),
    "PAM": lambda: pgm.KMedoids(3),
    "CLARANS": lambda: pgm.KMedoids(3, method="clarans", starts=1, seed=0),
}


@pytest.mark.parametrize("name", ALL)
def test_scikit_learn_takes_them_for_its_own(name: str) -> None:
    chance = "what is drawn to begin with depends on the number of rows, as in scikit-learn's KMeans"
    known = {"check_sample_weight_equivalence_on_dense_data": chance} if name == "KMeans" else None
    found = check_estimator(ALL[name](), on_fail=None, on_skip=None, expected_failed_checks=known)
    failed = [each["check_name"] for each in found or () if each["status"] == "failed"]
    assert set(failed) <= (set() if NEW else {SPARSE})
    rows = blobs(0)
    pipe = make_pipeline(StandardScaler(), clone(ALL[name]())).fit(rows)
    assert len(set(pipe.predict(rows).tolist())) == 3


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("seed", range(3))
def test_what_was_learned_is_of_these_rows(name: str, seed: int) -> None:
    rows = pd.DataFrame(blobs(seed), columns=["a", "b"])
    found = ALL[name]().fit(rows)
    assert found.feature_names_in_.tolist() == ["a", "b"]
    assert found.predict(rows[["b", "a"]]).tolist() == found.labels_.tolist()
    assert found.transform(rows).argmin(axis=1).tolist() == found.labels_.tolist()
    assert found.predict(rows.to_numpy()).tolist() == found.labels_.tolist()
    again = pickle.loads(pickle.dumps(found))
    assert again.predict(rows).tolist() == found.labels_.tolist()
    peer = Peer(3, n_init=10, random_state=0).fit(rows)
    if name != "OnlineKMeans":  # which may begin badly, and has one start
        assert metrics.adjusted_rand_score(found.labels_, peer.labels_) > 0.8
    assert "cluster" in repr(found)
    assert "<table" in found._repr_html_()
    assert found.plot(rows).get_xlabel() == "a"


# --- k-means ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_k_means_from_the_same_start_is_scikit_learns(seed: int) -> None:
    rows = blobs(seed)
    weights = np.random.default_rng(seed).random(len(rows))
    peer = Peer(3, init=rows[:3], n_init=1).fit(rows, sample_weight=weights)
    found = pgm.KMeans(3, init=rows[:3]).fit(rows, sample_weight=weights)
    assert found.cluster_centers_.tolist() == peer.cluster_centers_.tolist()
    assert found.labels_.tolist() == peer.labels_.tolist()
    assert (found.inertia_, found.n_iter_) == (peer.inertia_, peer.n_iter_)
    assert found.score(rows) == pytest.approx(peer.score(rows))


def test_the_best_of_the_starts_is_kept() -> None:
    found = pgm.KMeans(5, init="random", starts=8, seed=1).fit(blobs(5, k=5))
    assert len(found.starts_) == 8
    assert found.inertia_ == min(found.starts_) < max(found.starts_)


def test_a_mixture_begins_with_the_clusters() -> None:
    rows = pd.DataFrame(blobs(6), columns=["a", "b"])
    clusters = pgm.KMeans(3, seed=0).fit(rows)
    found = clusters.to_mixture(rows)
    assert found.columns == ("a", "b")
    np.testing.assert_allclose(found.emission.mean, clusters.cluster_centers_, atol=1e-3)
    assert found.weights == pytest.approx(np.bincount(clusters.labels_) / len(rows), abs=1e-3)


def test_rows_are_followed_one_after_the_other() -> None:
    rows = blobs(7, 60)
    found = pgm.OnlineKMeans(3, rate=0.2, init=rows[:3])
    centres = rows[:3].copy()
    for part in np.split(rows, 4):
        found.partial_fit(part)
        for x in part:
            k = ((centres - x) ** 2).sum(axis=1).argmin()
            centres[k] += 0.2 * (x - centres[k])
        np.testing.assert_allclose(found.cluster_centers_, centres, rtol=1e-12)
    assert found.n_iter_ == 4
    assert found.path_[0].tolist() == rows[:3].tolist()
    assert found.path_[-1].tolist() == found.cluster_centers_.tolist()


# --- medoids ------------------------------------------------------------------------------------------------


def cost(far: np.ndarray, medoids: Any) -> float:
    return float(far[:, list(medoids)].min(axis=1).sum())


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
@pytest.mark.parametrize("seed", range(4))
def test_no_exchange_of_pam_gains(metric: str, seed: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(24, 2))
    far = metrics.pairwise_distances(rows, metric="euclidean" if metric == "precomputed" else metric)
    found = pgm.KMedoids(3, metric=metric).fit(far if metric == "precomputed" else rows)
    best = min(cost(far, some) for some in itertools.combinations(range(24), 3))
    assert found.inertia_ == pytest.approx(cost(far, found.medoid_indices_))
    assert found.labels_.tolist() == far[:, found.medoid_indices_].argmin(axis=1).tolist()
    assert found.inertia_ <= 1.1 * best
    for m, row in itertools.product(range(3), range(24)):
        other = found.medoid_indices_.copy()
        other[m] = row
        assert cost(far, other) >= found.inertia_ - 1e-9


def test_pam_begins_as_the_book_says() -> None:
    """BUILD: the row nearest to all, then each time the row that lowers the sum most; no exchange is made."""
    rows = np.random.default_rng(9).normal(size=(30, 2))
    far = metrics.pairwise_distances(rows)
    medoids: list[int] = []
    for _ in range(4):
        medoids.append(min(range(30), key=lambda row: cost(far, [*medoids, row])))
    with_exchange = pgm.KMedoids(4).fit(rows)
    assert with_exchange.inertia_ <= cost(far, medoids)
    one = pgm.KMedoids(1).fit(rows)
    assert one.medoid_indices_.tolist() == medoids[:1]


@pytest.mark.parametrize("seed", range(3))
def test_clarans_is_nearly_as_good_as_pam(seed: int) -> None:
    rows = blobs(seed, 150, 4)
    pam = pgm.KMedoids(4).fit(rows)
    found = pgm.KMedoids(4, method="clarans", seed=seed).fit(rows)
    assert pam.inertia_ - 1e-9 <= found.inertia_ * (1 + 1e-12) <= 1.1 * pam.inertia_
    assert found.inertia_ == pytest.approx(cost(metrics.pairwise_distances(rows), found.medoid_indices_))


# --- quality ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_quality_is_scikit_learns_and_squares_add_up(seed: int) -> None:
    rows = blobs(seed)
    labels = np.array(["x", "y", "z"])[pgm.KMeans(3, seed=0).fit(rows).labels_]
    found = pgm.cluster_quality(rows, labels)
    assert found.silhouette == pytest.approx(metrics.silhouette_score(rows, labels))
    assert found.calinski_harabasz == pytest.approx(metrics.calinski_harabasz_score(rows, labels))
    assert found.davies_bouldin == pytest.approx(metrics.davies_bouldin_score(rows, labels))
    whole = ((rows - rows.mean(axis=0)) ** 2).sum()
    assert found.within + found.between == pytest.approx(whole)
    assert found.within == pytest.approx(pgm.KMeans(3, seed=0).fit(rows).inertia_)
    assert found.clusters == ["x", "y", "z"]
    each = metrics.silhouette_samples(rows, labels)
    assert found.silhouettes == pytest.approx([each[labels == c].mean() for c in "xyz"])
    some = pgm.cluster_quality(rows, labels, sample=60, seed=0)
    assert some.silhouette == pytest.approx(found.silhouette, abs=0.1)
    assert "(of 60 rows)" in repr(some)
    assert found.to_pandas()["rows"].sum() == len(rows)
    assert found.plot().get_xlabel() == "silhouette"


# --- what is wrong ------------------------------------------------------------------------------------------

ROWS = [[0.0, 1.0], [2.0, 1.0], [5.0, 5.0]]
WRONG: list[tuple[Any, str]] = [
    (lambda: pgm.KMeans(0).fit(ROWS), "n_clusters= is a whole number of at least 1"),
    (lambda: pgm.KMeans(4).fit(ROWS), "n_clusters=4, and there are n_samples=3 rows"),
    (lambda: pgm.KMeans(2, init="best").fit(ROWS), "init= is 'k-means"),
    (lambda: pgm.KMeans(2, init=[0, 0, 0]).fit(ROWS), "gives cluster 1 no row"),
    (lambda: pgm.KMeans(2, init=[0, 1, 2]).fit(ROWS), "from 0 to 1 for each"),
    (lambda: pgm.KMeans(2, starts=0).fit(ROWS), "starts= is a whole number"),
    (lambda: pgm.KMeans(2, tol=-1).fit(ROWS), "tol= is a number"),
    (lambda: pgm.KMeans(2).fit(ROWS, sample_weight=[0, 0, 0]), "zero for all rows"),
    (lambda: pgm.KMeans(2).fit([[0.0, None], [1.0, 2.0]]), "Row 0 .* no value in the column 'x1'"),
    (lambda: pgm.KMeans(2).predict(ROWS), "learned nothing yet"),
    (lambda: pgm.KMeans(2, seed=0).fit(ROWS).predict([[1.0]]), "expecting 2 features"),
    (lambda: pgm.KMeans(2, seed=0).fit(ROWS).plot(ROWS, columns="z"), "columns= names two columns"),
    (lambda: pgm.OnlineKMeans(2, rate=0.0).fit(ROWS), "rate= is a number above 0"),
    (lambda: pgm.OnlineKMeans(2, passes=0).fit(ROWS), "passes="),
    (lambda: pgm.KMedoids(2, method="clara").fit(ROWS), "Did you mean 'clarans'"),
    (lambda: pgm.KMedoids(2, metric="cosine").fit(ROWS), "metric= is"),
    (lambda: pgm.KMedoids(2, metric="precomputed").fit(ROWS), "a square matrix of distances"),
    (lambda: pgm.KMedoids(2, neighbours=5).fit(ROWS), "no effect with method=.pam"),
    (lambda: pgm.cluster_quality(ROWS, [0, 1]), "a cluster for each of 3 rows"),
    (lambda: pgm.cluster_quality(ROWS, [0, 0, 0]), "There are 1 clusters of 3 rows"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_what_is_wrong_is_said(number: int) -> None:
    do, said = WRONG[number]
    with pytest.raises(pgm.PGMError, match=said):
        do()


@pytest.mark.parametrize("tol", [1e-4, 0.0])
def test_some_steps_at_a_time_are_the_same_steps(monkeypatch: pytest.MonkeyPatch, tol: float) -> None:
    rows = np.random.default_rng(0).normal(size=(400, 3))
    whole = pgm.KMeans(6, tol=tol, starts=2, seed=1).fit(rows)
    assert whole.n_iter_ > 6
    monkeypatch.setattr("pgm.adapters.kmeans._WORK", 1.0)
    parts = pgm.KMeans(6, tol=tol, starts=2, seed=1).fit(rows)
    np.testing.assert_allclose(parts.cluster_centers_, whole.cluster_centers_, rtol=1e-9)
    np.testing.assert_allclose(parts.starts_, whole.starts_, rtol=1e-12)
    assert parts.labels_.tolist() == whole.labels_.tolist()
    assert whole.n_iter_ <= parts.n_iter_ <= whole.n_iter_ + 2
    few = pgm.KMeans(6, tol=tol, starts=1, max_iter=4, seed=1).fit(rows)
    assert few.n_iter_ == 4


def test_a_start_of_k_means_ends_at_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).normal(size=(20_000, 4))
    monkeypatch.setattr("pgm.adapters.kmeans._WORK", 1.0)
    pgm.KMeans(3, starts=1).fit(rows[:100])  # scikit-learn is imported
    with pgm.config(time_limit=0.1), pytest.raises(pgm.OutOfTime):
        pgm.KMeans(40, starts=1, tol=0.0, max_iter=100_000).fit(rows)


def test_limits_hold() -> None:
    rows = np.random.default_rng(0).normal(size=(3000, 4))
    for slow in (pgm.KMedoids(5), pgm.KMedoids(5, method="clarans")):
        with pgm.config(time_limit=1e-9), pytest.raises(pgm.OutOfTime):
            slow.fit(rows)
