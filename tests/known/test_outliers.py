"""Worked numbers of the catalogue on outliers: A.md O8."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity, LocalOutlierFactor

import pgm
from pgm.adapters import DensityOutliers, LocalOutlierRatio, ParzenDensity, SingleLinkageOutliers
from tests.known.book import near

X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [10.0]])


def far_by_density(model: DensityOutliers, x: float) -> float:
    """The squared Mahalanobis distance: what the density loses on the way from the mean, twice."""
    best, there = model.score_samples([model.density_.mean_, [x]])
    return float(2.0 * (best - there))


def test_A23_masking_of_outliers_by_a_normal_distribution() -> None:
    """O8: with 10 among the rows its squared distance is 4.21, without it 32."""
    with_it, without = DensityOutliers().fit(X), DensityOutliers().fit(X[:5])
    assert with_it.density_.mean_[0] == near(3.3333333333)
    assert with_it.density_.covariance_[0, 0] == near(10.5555555556)
    assert far_by_density(with_it, 10.0) == near(4.2105263158)
    assert far_by_density(without, 10.0) == near(32.0)
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(2.0, sd=math.sqrt(2.0)))
    assert net.log_likelihood({"x": [10.0, 1.0]}) == near(without.score_samples([[10.0], [1.0]]))
    limit = math.exp(-10.0)
    assert DensityOutliers(limit=limit).fit(X[:5]).predict([[10.0], [5.0]]).tolist() == [-1, 1]


def test_A23_a_density_and_anything_at_all_below_a_node() -> None:
    """What is typical, or anything, with a prior: by Bayes' rule, and the same by windows."""
    for model in (DensityOutliers(), DensityOutliers(ParzenDensity(0.7))):
        typical = model.fit(X[:5]).density_
        net = pgm.BayesianNetwork()
        net.add("broken", 0.01)
        net.add("x", pgm.DensityCPD({False: typical, True: stats.uniform(-50, 100)}), parents=["broken"])
        for x in (2.0, 7.0, 12.0):
            odds = 0.01 * 0.01 / (0.99 * math.exp(model.score_samples([[x]])[0]))
            assert net.query("broken", {"x": x})[True] == near(odds / (1.0 + odds))


def test_A23_several_columns() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 3))
    model = DensityOutliers(contamination=0.1).fit(rows)
    off = rows - rows.mean(axis=0)
    squares = np.einsum("ni,ij,nj->n", off, np.linalg.inv(off.T @ off / 200), off)
    worst = np.argsort(squares)[-20:]
    assert np.flatnonzero(model.predict(rows) < 0).tolist() == sorted(worst.tolist())
    flat = np.column_stack([rows[:, 0], 2.0 * rows[:, 0]])  # in a plane: what is off it is impossible
    model = DensityOutliers().fit(flat)
    assert model.predict([[0.0, 0.0], [0.0, 1.0]]).tolist() == [1, -1]
    assert model.score_samples([[0.0, 1.0]])[0] == -math.inf


def test_A24_outliers_of_any_density() -> None:
    """A mixture has a small density far from its centres, and between them."""
    rng = np.random.default_rng(1)
    rows = np.concatenate([rng.normal(0, 1, (150, 1)), rng.normal(12, 1, (150, 1))])
    mixture = DensityOutliers(GaussianMixture(2, random_state=0), limit=1e-3).fit(rows)
    assert mixture.predict([[0.0], [12.0], [6.0], [-7.0]]).tolist() == [1, 1, -1, -1]
    assert DensityOutliers(limit=1e-3).fit(rows).predict([[6.0]]).tolist() == [1]
    net = pgm.BayesianNetwork()
    net.add("Z", mixture.density_.weights_, states=[0, 1])
    means, variances = mixture.density_.means_[:, 0], mixture.density_.covariances_[:, 0, 0]
    components = zip(means, variances, strict=True)
    net.add("x", {k: pgm.Gaussian(m, sd=math.sqrt(v)) for k, (m, v) in enumerate(components)}, parents=["Z"])
    x = [0.0, 6.0, -7.0]
    assert mixture.score_samples([[each] for each in x]) == near(net.log_likelihood({"x": x}))


def test_A25_a_density_without_parameters_is_not_masked() -> None:
    """O8's rows: by a normal distribution 10 is no rarer than e^-4.2/2, by kernels it stands alone."""
    kernels = DensityOutliers(KernelDensity(bandwidth=0.7), contamination=0.2).fit(X)
    assert kernels.predict(X).tolist() == [1, 1, 1, 1, 1, -1]
    by_hand = np.exp(-0.5 * (cdist(X, X) / 0.7) ** 2).mean(axis=1) / (0.7 * math.sqrt(2.0 * math.pi))
    assert kernels.score_samples(X) == near(np.log(by_hand), 9)
    assert kernels.offset_ == near(float(np.percentile(np.log(by_hand), 20.0)))


def test_A26_local_outlier_factor_of_the_text() -> None:
    """O8, (8.23); scikit-learn's is another one."""
    model = LocalOutlierRatio(2, limit=2.5).fit(X)
    assert model.ratios_[[5, 2, 0]] == near([14 / 3, 1.0, 2.0])
    assert model.labels_.tolist() == [1, 1, 1, 1, 1, -1]
    new = LocalOutlierRatio(2).fit(X[:5])
    assert new.ratios([[8.0]])[0] == near(10 / 3)
    assert new.score_samples([[8.0]])[0] == near(-10 / 3)
    assert new.predict([[8.0], [2.5]]).tolist() == [-1, 1]
    other = -LocalOutlierFactor(2).fit(X).negative_outlier_factor_
    assert other[[5, 2, 0]] == near([4.3333, 0.6667, 1.25], 4)


@pytest.mark.parametrize("k", [1, 3, 7])
def test_A26_by_definition(k: int) -> None:
    rng = np.random.default_rng(2)
    rows, asked = rng.normal(size=(60, 3)), rng.normal(size=(10, 3))
    far = cdist(rows, rows)
    np.fill_diagonal(far, np.inf)
    reach = np.sort(far, axis=1)[:, k - 1]
    own = [reach[i] / reach[np.argsort(far[i])[:k]].mean() for i in range(60)]
    model = LocalOutlierRatio(k).fit(rows)
    assert model.ratios_ == near(np.array(own))
    away = cdist(asked, rows)
    new = [np.sort(away[i])[k - 1] / reach[np.argsort(away[i])[:k]].mean() for i in range(10)]
    assert model.ratios(asked) == near(np.array(new))


def test_A44_single_linkage() -> None:
    """O8: heights 1, 1, 8; cut at 5."""
    rows = [[0.0], [1.0], [2.0], [10.0]]
    for model in (SingleLinkageOutliers(5.0), SingleLinkageOutliers()):
        model.fit(rows)
        assert model.heights_.tolist() == [1.0, 1.0, 8.0]
        assert model.clusters_.tolist() == [0, 0, 0, 1]
        assert model.labels_.tolist() == [1, 1, 1, -1]
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(50, 2))
    model = SingleLinkageOutliers(0.5, smallest=3).fit(rows)
    peer = fcluster(linkage(rows, "single"), 0.5, "distance")
    assert (np.equal.outer(model.clusters_, model.clusters_) == np.equal.outer(peer, peer)).all()
    assert model.labels_.tolist() == np.where(np.bincount(peer)[peer] < 3, -1, 1).tolist()
