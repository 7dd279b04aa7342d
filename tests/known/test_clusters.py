"""Worked numbers of the catalogue on mixtures and clusters: C.md O18, D.md O20, F.md O21, G.md O1 and O4."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

import pgm
from tests.known.book import customers, near

Dirichlet, NormalWishart = pgm.priors.Dirichlet, pgm.priors.NormalWishart
NEAR_ONE, NEAR_FOUR = [-2.0, -1.0, 1.0, 2.0], [0.0, 1.0, 4.0, 5.0]
PARTITION = [[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [3.0, 3.0]]


def two(means: list[float]) -> pgm.Mixture:
    """Two components of O21, of equal weight, with unit variances."""
    return pgm.Mixture([0.5, 0.5], pgm.Gaussian(means, sd=1.0))


def test_C24_clustering_is_the_posterior_of_a_hidden_node() -> None:
    """O18: π = (.6, .4), μ = (0, 3), σ² = (1, 2)."""
    found = pgm.Mixture([0.6, 0.4], pgm.Gaussian([0.0, 3.0], sd=[1.0, math.sqrt(2.0)]))
    net = found.to_network()
    for x, p, density in ((0.5, 0.8993061411, 0.2348913083), (2.5, 0.09026025852, 0.1165183932)):
        assert found.predict_proba([x])[0, 0] == near(p)
        assert net.query("component", {"x": x}).values[0] == near(p)
        assert math.exp(found.score([x])) == near(density)
        assert net.probability({"x": x}) == near(density)


def test_D47_map_em_of_the_weights() -> None:
    """O20, (16.40): α = (2, 2, 2), N = (5, 3, 2); α = 1 gives the shares."""
    sure = pgm.Bernoulli([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    rows = [[1, 0]] * 5 + [[0, 1]] * 3 + [[0, 0]] * 2
    for alpha, weights in ((2.0, [6 / 13, 4 / 13, 3 / 13]), (1.0, [0.5, 0.3, 0.2])):
        found = pgm.Mixture([1 / 3] * 3, sure).fit(rows, prior={"weights": Dirichlet([alpha] * 3)})
        assert found.weights == near(weights)


def test_D47_map_em_of_means_and_covariances() -> None:
    """O20, (16.41) with k = 1: the mode over mean and covariance. That over mean and precision, which `fit`
    takes, is the same with 2d + 2 more degrees of freedom, for the Jacobian is |Λ|^(d + 1)."""
    x = [[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]]
    d, begin = 2, pgm.Mixture([1.0], pgm.Gaussian([[0.0, 0.0]], covariance=[np.eye(2)]))
    found = begin.fit(x, prior={"emission": NormalWishart([0, 0], rows=1, df=3 + 2 * d + 2)})
    assert found.emission.mean[0] == near([2.0, 2.0])
    assert found.emission.covariance[0].ravel() == near([1.0, 0.72727273, 0.72727273, 1.0], 8)
    precision = np.linalg.inv(found.emission.covariance[0]).ravel()
    assert precision == near([2.12280702, -1.54385965, -1.54385965, 2.12280702], 8)
    little = NormalWishart([0, 0], rows=1e-12, df=9)
    loose = begin.copy().fit(x, prior={"emission": little})
    assert loose.emission.mean[0] == near([2.5, 2.5])  # κ0 = 0: the mean of the data


def test_D46_components_drawn_from_a_prior() -> None:
    """Weights from a Dirichlet, means and precisions from a normal-Wishart: which rows are together, by all
    16 ways to divide four rows, in closed form; drawn by the chain of one step that a mixture is."""
    rows = np.array([[0.0], [0.4], [3.0], [3.5]])
    prior, alpha = NormalWishart([1.5], rows=0.5, df=3.0, scale=[[1.0]]), 1.5
    logs, together = [], []
    for z in itertools.product([0, 1], repeat=4):
        counts = np.bincount(z, minlength=2)
        log = float(gammaln(alpha + counts).sum())
        log += sum(prior.log_evidence(rows[np.array(z) == k]) for k in (0, 1) if counts[k])
        logs.append(log)
        together.append(np.equal.outer(z, z))
    shares = np.exp(np.array(logs) - logsumexp(logs))
    exact = np.tensordot(shares, np.array(together, float), 1)
    model = pgm.HMM(n_states=2, emission=pgm.Gaussian(), transition=[[1, 0], [0, 1]])
    belief = {"initial": Dirichlet([alpha, alpha]), "emission": prior}
    drawn = model.posterior([[x] for x in rows[:, 0]], prior=belief, draws=1500, burn_in=50, chains=2, seed=0)
    weights, emission = drawn.initial.draws, drawn.emission
    found = np.zeros((4, 4))
    for w, m, v in zip(weights, emission["mean"].draws, emission["covariance"].draws, strict=True):
        p = pgm.Mixture(w, pgm.Gaussian(m[:, 0], sd=np.sqrt(v[:, 0, 0]))).predict_proba(rows[:, 0])
        found += p @ p.T / len(weights)
    off = ~np.eye(4, dtype=bool)
    assert found[off] == pytest.approx(exact[off], abs=0.04)


def test_F3_G84_k_means_is_the_limit_of_a_mixture() -> None:
    """Hard EM with equal weights and one small variance for all: the same partition, centres and sum."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 2)) + 4.0 * rng.integers(3, size=(60, 1))
    clusters = pgm.KMeans(3, init=rows[:3], tol=0.0).fit(rows)
    centres, codes = rows[:3], None
    for _ in range(100):
        found = pgm.Mixture([1 / 3] * 3, pgm.Gaussian(centres, covariance=[1e-2 * np.eye(2)] * 3))
        again = found.predict(rows)
        if codes is not None and (again == codes).all():
            break
        codes = again
        hard = pgm.Mixture([1 / 3] * 3, found.emission, columns=["a", "b"])
        hard.fit(rows, method="hard", fixed=["weights"], max_iter=1)
        centres = hard.emission.mean
    assert codes.tolist() == clusters.labels_.tolist()
    assert centres == pytest.approx(clusters.cluster_centers_)
    assert clusters.inertia_ == near(float(((rows - centres[codes]) ** 2).sum()))


@pytest.mark.parametrize("row", ["F133", "F135", "G81", "G82"])
def test_F133_F135_G81_G82_density_and_error_of_a_mixture(row: str) -> None:
    """O21: p(t) is the weighted sum of the components' densities; E = - log L."""
    found = two([-1.0, 1.0])
    each = [math.exp(-0.5 * (0.3 - m) ** 2) / math.sqrt(2 * math.pi) for m in (-1.0, 1.0)]
    assert math.exp(found.score([0.3])) == near(0.5 * sum(each))
    assert -found.score(NEAR_ONE) == near(7.1581869771)
    assert found.predict_proba(NEAR_ONE)[:, 0] == near([0.98201379, 0.88079708, 0.11920292, 0.01798621], 7)
    assert -two([0.0, 4.0]).score(NEAR_FOUR) == near(7.4295159702)


def test_F134_what_a_mixture_consists_of() -> None:
    found = pgm.Mixture([0.2, 0.3, 0.5], pgm.Gaussian(np.zeros((3, 2)), covariance=[np.eye(2)] * 3))
    assert (found.n_components, found.n_parameters) == (3, 2 + 3 * 2 + 3 * 3)
    for form, free in (("diagonal", 14), ("spherical", 11), ("tied", 11)):
        emission = pgm.Gaussian(np.zeros((3, 2)), covariance=[np.eye(2)] * 3, form=form)
        assert pgm.Mixture([0.2, 0.3, 0.5], emission).n_parameters == free


def test_F136_at_the_limit_all_derivatives_vanish() -> None:
    """O21: π = ½, μ = (.5, 4.5), σ² = .25, E = 5.6757541327; and E never increases."""
    found = two([0.0, 4.0]).fit(NEAR_FOUR, max_iter=1000, tol=0.0)
    errors = -np.array(found.fit_report.log_likelihoods)
    assert (np.diff(errors) <= 1e-12).all()
    assert errors[-1] == near(5.6757541327)
    assert found.weights == near([0.5, 0.5], 6)
    assert found.emission.mean == near([0.5, 4.5], 6)
    assert found.emission.sd**2 == near([0.25, 0.25], 6)

    def error(w: float, m: float, v: float) -> float:
        emission = pgm.Gaussian([m, 4.5], sd=[math.sqrt(v), 0.5])
        return -float(pgm.Mixture([w, 1.0 - w], emission).score(NEAR_FOUR))

    at, step = np.array([0.5, found.emission.mean[0], found.emission.sd[0] ** 2]), 1e-5
    for off in np.eye(3) * step:
        assert (error(*(at + off)) - error(*(at - off))) / (2 * step) == pytest.approx(0.0, abs=1e-4)


def test_F137_isotropic_components_one_step_and_online() -> None:
    """O21, after one step; rows that come in one batch give the same."""
    found = two([-1.0, 1.0]).fit(NEAR_ONE, max_iter=1)
    assert found.weights == near([0.5, 0.5])
    assert found.emission.mean == near([-1.34482466, 1.34482466], 8)
    assert found.emission.sd**2 == near([0.69144664, 0.69144664], 7)
    assert -found.score(NEAR_ONE) == near(6.4618563013)
    other = two([0.0, 4.0]).partial_fit(NEAR_FOUR)
    assert other.weights == near([0.49550498, 0.50449502], 7)
    assert other.emission.mean == near([0.49615339, 4.46813833], 7)
    assert other.emission.sd**2 == near([0.25207756, 0.35926418], 7)
    assert -other.score(NEAR_FOUR) == near(5.7372980692)
    rows = np.column_stack([NEAR_ONE, NEAR_ONE])  # twice the same: spherical variances are the same
    emission = pgm.Gaussian([[-1.0, -1.0], [1.0, 1.0]], covariance=[2 * np.eye(2)] * 2, form="spherical")
    both = pgm.Mixture([0.5, 0.5], emission).fit(rows, max_iter=1)
    assert both.emission.mean[:, 0] == near([-1.34482466, 1.34482466], 8)
    assert np.diagonal(both.emission.covariance[0]) == near([0.69144664, 0.69144664], 7)


@pytest.mark.parametrize("form", ["full", "diagonal", "spherical"])
def test_F141_three_kinds_of_covariances(form: str) -> None:
    from sklearn.mixture import GaussianMixture

    rng = np.random.default_rng(1)
    rows = np.vstack([rng.normal(size=(40, 2)), [5.0, 5.0] + rng.normal(size=(40, 2)) @ [[1, 0.8], [0, 0.4]]])
    peer = GaussianMixture(2, covariance_type=form[:4] if form != "spherical" else form, reg_covar=0.0,
                           tol=1e-12, max_iter=500, random_state=0).fit(rows)  # fmt: skip
    found = pgm.Mixture(n_components=2, emission=pgm.Gaussian(dim=2, form=form))
    found.fit(rows, max_iter=500, tol=1e-14, seed=0)
    assert found.score(rows) == near(float(peer.score_samples(rows).sum()), 8)
    assert found.plot(rows).get_xlabel() == "x[0]"


def test_G77_quality_of_clusters() -> None:
    """The better partition of O4 has the larger silhouette; by hand from its distances."""
    worse, better = ([0, 1, 0, 1], [0, 0, 0, 1])
    found = [pgm.cluster_quality(PARTITION, labels).silhouette for labels in (worse, better)]
    assert found[1] > found[0]
    x = np.array(PARTITION)
    far = np.sqrt(((x[:, None] - x) ** 2).sum(axis=2))
    each = []
    for i in range(3):
        a, b = far[i, [j for j in range(3) if j != i]].mean(), far[i, 3]
        each.append((b - a) / max(a, b))
    assert found[1] == near(sum(each) / 4)  # a row that is alone counts 0


def test_G78_G86_the_sum_of_squares_of_a_partition() -> None:
    """O4: 1 + 6.5 = 7.5, then 2.6667 + 0."""
    for labels, squares in (([0, 1, 0, 1], [1.0, 6.5]), ([0, 0, 0, 1], [8 / 3, 0.0])):
        found = pgm.cluster_quality(PARTITION, labels)
        assert found.squares == near(squares)
        assert found.within == near(sum(squares))


def test_G79_medoids() -> None:
    """Of all pairs of rows the two with the least sum of distances, by exchanges and by chance."""
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(15, 2)) + 3.0 * rng.integers(2, size=(15, 1))
    far = np.sqrt(((rows[:, None] - rows) ** 2).sum(axis=2))
    least = min(far[:, list(pair)].min(axis=1).sum() for pair in itertools.combinations(range(15), 2))
    assert pgm.KMedoids(2).fit(rows).inertia_ == near(float(least))
    assert pgm.KMedoids(2, method="clarans", seed=0).fit(rows).inertia_ == near(float(least))


def test_G83_labels_are_given() -> None:
    """With labels the components are the classes' shares, means and covariances; naive Bayes of O1 is one."""
    rng = np.random.default_rng(3)
    rows, z = rng.normal(size=(30, 2)), rng.integers(2, size=30)
    found = pgm.Mixture(n_components=2, emission=pgm.Gaussian(dim=2)).fit(rows, labels=z)
    assert found.weights == near((np.bincount(z) / 30).tolist())
    for k in (0, 1):
        assert found.emission.mean[k] == near(rows[z == k].mean(axis=0).tolist())
        covariance = np.cov(rows[z == k].T, ddof=0).ravel().tolist()
        assert found.emission.covariance[k].ravel() == near(covariance, 8)
    frame: dict[str, Any] = customers()
    states = {name: sorted(set(column)) for name, column in frame.items()}
    names = ("age", "income", "student", "credit")
    columns = pgm.Product({name: pgm.Categorical(symbols=states[name]) for name in names})
    naive = pgm.Mixture(states=["no", "yes"], emission=columns).fit(frame, labels="buys")
    assert naive.weights == near([5 / 14, 9 / 14])
    row = {"age": ["youth"], "income": ["medium"], "student": ["yes"], "credit": ["fair"]}
    assert naive.predict_proba(row)[0, 1] == near(1000 / 1243)
    assert math.exp(naive.score(row)) == near(2486 / 70875)


def test_G85_k_means_from_a_partition() -> None:
    """O4: from {x1, x3}, {x2, x4} to {x1, x2, x3}, {x4}."""
    from pgm.adapters.kmeans import initial

    x = np.array(PARTITION)
    assert initial([0, 1, 0, 1], x, np.ones(4), 2).ravel() == near([1.5, 0.5, 1.5, 2.0])
    found = pgm.KMeans(2, init=[0, 1, 0, 1]).fit(PARTITION)
    assert found.labels_.tolist() == [0, 0, 0, 1]
    assert found.cluster_centers_.ravel() == near([1.0, 2 / 3, 3.0, 3.0])
    off = found.transform(PARTITION)
    assert off[:, 0] == near([0.6667, 1.0541, 1.0541, 3.0732], 4)
    assert off[:, 1] == pytest.approx([3.6056, 3.6056, 2.2361, 0.0], abs=1e-4)


def test_G168_reconstruction_error() -> None:
    """O4: half the sum of squares, of which the online step is the gradient."""
    found = pgm.KMeans(2, init=[0, 1, 0, 1]).fit(PARTITION)
    assert found.inertia_ == near(8 / 3)
    assert -found.score(PARTITION) == near(8 / 3)
    m, x, rate = np.array([1.5, 0.5]), np.array([1.0, 0.0]), 0.1
    moved = pgm.OnlineKMeans(2, rate=rate, init=[m, [9.0, 9.0]]).partial_fit([x]).cluster_centers_[0]
    slope = [
        (0.5 * ((x - m - h) ** 2).sum() - 0.5 * ((x - m + h) ** 2).sum()) / 2e-6 for h in np.eye(2) * 1e-6
    ]
    assert moved == pytest.approx(m - rate * np.array(slope), abs=1e-8)


def test_G169_online_k_means_moves_the_winner() -> None:
    """m_i += η (x - m_i) for the nearest, with a constant η; the others stay."""
    found = pgm.OnlineKMeans(2, rate=0.25, init=[[1.5, 0.5], [1.5, 2.0]]).partial_fit(PARTITION)
    a, b = np.array([1.5, 0.5]), np.array([1.5, 2.0])
    for x in np.array(PARTITION):
        if ((x - a) ** 2).sum() <= ((x - b) ** 2).sum():
            a += 0.25 * (x - a)
        else:
            b += 0.25 * (x - b)
    assert found.cluster_centers_.ravel() == near([*a, *b])
