"""Worked numbers of the catalogue on neighbours: A.md O4, O5, O7, O12; F.md O3, O6, O9; B.md O43."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.optimize import linprog
from scipy.spatial.distance import cdist, hamming
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KernelDensity, KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pgm
from pgm.adapters import (
    AdaptiveNeighbours,
    LargeMarginMetric,
    NearestNeighbours,
    ParzenDensity,
    PrototypeClassifier,
    SimilarityMap,
    similar_cases,
)
from pgm.adapters.neighbours.metrics import _Error
from pgm.runtime.clock import start_clock
from tests.known.book import near

LINE, OF_LINE = np.array([[0.0], [1.0], [2.0], [3.0], [5.0]]), ["C1", "C1", "C1", "C2", "C2"]  # O4, O5
S = np.array([[2.0, 1.8], [1.8, 2.0]])
CROSSES, RINGS = [(1, 1), (2, 2), (-1.5, -1.5)], [(0.7, -0.7), (-0.8, 0.8), (1, -0.9)]  # fig. 8.7
FIG, OF_FIG = np.array([*CROSSES, *RINGS], float), ["x"] * 3 + ["o"] * 3


def told(estimator: Any, row: Any) -> Any:
    """P(class | row) of a fitted estimator that is the distribution of a node."""
    net = pgm.BayesianNetwork()
    names = [f"x{i}" for i in range(len(row))]
    for name in names:
        net.add(name, pgm.Gaussian(0.0, sd=10.0))
    net.add("C", pgm.EstimatorCPD(estimator, parents=names))
    return net.query("C", dict(zip(names, row, strict=True))).values


def by_kernels(width: float, rows: np.ndarray, classes: np.ndarray, prior: Any, x: float) -> Any:
    """P(class | x) of a network in which each class has a kernel density of its own."""
    net = pgm.BayesianNetwork()
    states = sorted(set(classes.tolist()))
    net.add("C", prior, states=states)
    own = {c: ParzenDensity(width).fit(rows[classes == c]) for c in states}
    net.add("X", pgm.DensityCPD(own), parents=["C"])
    return net.query("C", {"X": x})


# --- A8 to A11, F31, F38 to F42: densities and neighbours ---------------------------------------------------


def test_A8_kernel_classifier_is_a_network_of_rows() -> None:
    """O4: C -> T -> X, T one of the rows of its class; each row votes for its class with weight K."""
    net = pgm.BayesianNetwork()
    net.add("C", [3 / 5, 2 / 5], states=["C1", "C2"])
    rows = {"C1": [1 / 3] * 3 + [0.0] * 2, "C2": [0.0] * 3 + [0.5] * 2}
    net.add("T", rows, parents=["C"], states=[f"t{i}" for i in range(5)])
    net.add("X", {f"t{i}": pgm.Gaussian(x, sd=1.0) for i, x in enumerate(LINE[:, 0])}, parents=["T"])
    found = net.query("C", {"X": 2.4})
    assert found["C1"] == near(0.6090986405)
    joint = net.probability({"X": 2.4}) * found.values
    assert joint == near([0.1080784272, 0.0693615144])
    classes = np.array(OF_LINE)
    for c, g in zip(["C1", "C2"], joint, strict=True):
        own = KernelDensity(bandwidth=1.0).fit(LINE[classes == c])
        assert math.exp(own.score_samples([[2.4]])[0]) * (classes == c).mean() == near(g)
    assert by_kernels(1.0, LINE, classes, [3 / 5, 2 / 5], 2.4)["C1"] == near(0.6090986405)


def test_F31_parzen_classifier() -> None:
    """O6: the boundary is 2 whatever the width, and how sure it is follows the width."""
    for h, at in ((1.0, 0.7660847040), (0.3, 0.9999850551)):
        net = pgm.BayesianNetwork()
        net.add("C", [0.5, 0.5], states=[1, 2])
        net.add("T", 0.5)
        places = {(1, False): 0.0, (1, True): 1.0, (2, False): 3.0, (2, True): 4.0}
        rows = {key: pgm.Gaussian(x, sd=h) for key, x in places.items()}
        net.add("X", rows, parents=["C", "T"])
        assert net.query("C", {"X": 1.5})[1] == near(at)
        assert net.query("C", {"X": 2.0})[1] == near(0.5)
        assert [net.map({"X": x}, targets="C")["C"] for x in (1.999, 2.001)] == [1, 2]
        four, classes = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([1, 1, 2, 2])
        assert by_kernels(h, four, classes, [0.5, 0.5], 1.5)[1] == near(at)


def test_A9_density_of_each_class_by_neighbours() -> None:
    """O5: r = 1.4, V = 2.8, k1 = 2, k2 = 1; with the shares of the classes it gives k_i / k back."""
    model = NearestNeighbours(3).fit(LINE, OF_LINE)
    each = model.class_densities([[2.4]])[0]
    assert each == near([0.2380952381, 0.1785714286])
    assert each @ [3 / 5, 2 / 5] == near(0.2142857143)
    assert each * [3 / 5, 2 / 5] / 0.2142857143 == near([2 / 3, 1 / 3], 8)
    rng = np.random.default_rng(0)
    for d, ball in ((1, 2.0), (2, math.pi), (3, 4 * math.pi / 3)):
        rows, classes = rng.normal(size=(30, d)), rng.integers(3, size=30)
        model = NearestNeighbours(7).fit(rows, classes)
        x = rng.normal(size=(5, d))
        reach = np.sort(cdist(x, rows), axis=1)[:, 6]
        counts = np.bincount(classes)
        joint = model.class_densities(x) * counts / 30
        assert joint.sum(axis=1) == near(7 / (30 * ball * reach**d))
        assert joint / joint.sum(axis=1, keepdims=True) == near(model.predict_proba(x))


def test_A10_F39_posterior_of_k_neighbours() -> None:
    for k, p in ((1, 1.0), (3, 2 / 3), (5, 0.6)):
        peer = KNeighborsClassifier(k).fit(LINE, OF_LINE)
        assert told(peer, [2.4])[0] == near(p)
        assert told(NearestNeighbours(k).fit(LINE, OF_LINE), [2.4])[0] == near(p)


def test_A10_votes_weighted_by_distance() -> None:
    rng = np.random.default_rng(1)
    rows, classes, x = rng.normal(size=(60, 3)), rng.integers(3, size=60), rng.normal(size=(20, 3))
    x[:3] = rows[:3]  # those on a row are that row's
    peer = KNeighborsClassifier(5, weights="distance").fit(rows, classes)
    ours = NearestNeighbours(5, weights="distance").fit(rows, classes)
    assert ours.predict_proba(x) == near(peer.predict_proba(x))
    assert told(peer, x[5]) == near(ours.predict_proba(x[5:6])[0])


@pytest.mark.parametrize("row", ["F36", "F38"])
def test_F36_F38_joint_density_of_neighbours(row: str) -> None:
    """O9: n = 5, V = 2r."""
    rows, classes = np.array([[1.0], [2.0], [4.0], [7.0], [11.0]]), [1, 1, 2, 2, 2]
    for x, k, density in ((3.0, 1, 0.1), (3.0, 2, 0.2), (3.0, 3, 0.15), (2.5, 1, 0.2), (2.5, 3, 0.2)):
        model = NearestNeighbours(k).fit(rows, classes)
        joint = model.class_densities([[x]])[0] * [2 / 5, 3 / 5]
        assert joint.sum() == near(density)
        assert joint / joint.sum() == near(model.predict_proba([[x]])[0])
    assert told(NearestNeighbours(3).fit(rows, classes), [2.5]) == near([2 / 3, 1 / 3])
    assert NearestNeighbours(1).fit(rows, classes).predict([[2.5]]).tolist() == [1]


@pytest.mark.parametrize("row", ["A11", "F40"])
def test_A11_F40_the_nearest_row(row: str) -> None:
    """The boundary is half-way between neighbours of two classes."""
    peer = KNeighborsClassifier(1).fit(LINE, OF_LINE)
    ours = NearestNeighbours(1).fit(LINE, OF_LINE)
    for x, c in ((2.499, 0), (2.501, 1), (-9.0, 0), (99.0, 1)):
        assert told(peer, [x])[c] == told(ours, [x])[c] == 1.0


@pytest.mark.parametrize("row", ["A11", "F42"])
def test_A11_F42_cells_of_the_nearest_row(row: str) -> None:
    """The picture's boundary is as far from two rows of different classes, and farther from all others."""
    rng = np.random.default_rng(2)
    rows, classes = rng.uniform(size=(25, 2)), rng.integers(3, size=25)
    drawn = pgm.adapters.EditedNeighbours("voronoi").fit(rows, classes).plot(rows, classes)
    segments = np.array(drawn.collections[2].get_segments())
    assert len(segments) > 10
    for share in (0.2, 0.7):
        at = segments[:, 0] * share + segments[:, 1] * (1 - share)
        far = cdist(at, rows)
        order = np.argsort(far, axis=1)
        first, second = (np.take_along_axis(far, order[:, i : i + 1], 1) for i in (0, 1))
        assert first == pytest.approx(second, rel=1e-6)
        assert (classes[order[:, 0]] != classes[order[:, 1]]).all()


@pytest.mark.parametrize("row", ["A40", "F41"])
def test_A40_F41_errors_of_neighbours_with_many_rows(row: str) -> None:
    """O12: P(C1) = .7 whatever x: Bayes .3, 1-nn 2 x .3 x .7 = .42, k-nn down to .3. F.md O3: two normals."""
    rng = np.random.default_rng(3)
    n = 4000
    rows, classes = rng.uniform(size=(2 * n, 1)), rng.random(2 * n) < 0.7
    for k, risk in ((1, 0.42), (401, 0.3)):
        model = NearestNeighbours(k, search="tree").fit(rows[:n], classes[:n])
        error = 1.0 - model.score(rows[n:], classes[n:])
        assert error == pytest.approx(risk, abs=4 * math.sqrt(2 * risk * (1 - risk) / n) + 0.005)

    def tied(x: float) -> float:
        one, two = stats.norm.pdf(x), stats.norm.pdf(x, 2.0)
        return float(one * two / (one + two))

    risk = integrate.quad(tied, -10, 12)[0]  # the integral of 2 eta (1 - eta) p
    assert risk == near(0.2247997546, 9)
    assert 0.1586552539 <= risk <= 2 * 0.1586552539
    second = rng.random(2 * n) < 0.5
    rows = rng.normal(2.0 * second)[:, None]
    model = NearestNeighbours(1, search="tree").fit(rows[:n], second[:n])
    error = 1.0 - model.score(rows[n:], second[n:])
    assert error == pytest.approx(risk, abs=4 * math.sqrt(2 * risk * (1 - risk) / n))


# --- A14 to A16: prototypes and metrics of places -----------------------------------------------------------


def spread(mean: Any, covariance: np.ndarray) -> np.ndarray:
    """Four rows of this mean and, by maximum likelihood, covariance."""
    a, b = math.sqrt(2.0) * np.linalg.cholesky(covariance).T
    return np.asarray(mean) + np.array([a, -a, b, -b])


def test_A14_nearest_mean_by_rows() -> None:
    """O7, (8.18): Euclid names class 2, Mahalanobis, a square, class 1."""
    rows, classes = np.concatenate([spread((0, 0), S), spread((2, 0), S)]), [1] * 4 + [2] * 4
    for distance, far, c in (
        ("euclidean", [1.8027756, 1.1180340], 2),
        ("shared", [1.4473684, 5.6578947], 1),
        ("mahalanobis", [1.4473684, 5.6578947], 1),
    ):
        model = PrototypeClassifier(distance=distance).fit(rows, classes)
        assert model.distances([[1.5, 1.0]])[0] == near(far, 8)
        assert model.predict([[1.5, 1.0]]).tolist() == [c]
    own = np.array([[1.0, 0.2], [0.2, 3.0]])
    rows = np.concatenate([spread((0, 0), S), spread((2, 0), own)])
    off = np.array([[1.5, 1.0], [-0.5, 1.0]])
    far = PrototypeClassifier(distance="mahalanobis").fit(rows, classes).distances([[1.5, 1.0]])[0]
    assert far == near([o @ np.linalg.inv(c) @ o for o, c in zip(off, (S, own), strict=True)])
    shared = PrototypeClassifier(distance="shared").fit(rows, classes).distances([[1.5, 1.0]])[0]
    assert shared == near([o @ np.linalg.inv((S + own) / 2) @ o for o in off])


def test_A14_calibrated_in_a_network() -> None:
    """It has no probabilities: the bridge makes some of its decision function, on other rows."""
    rng = np.random.default_rng(4)
    second = rng.random(400) < 0.5
    rows = rng.normal(size=(400, 1)) + 2.0 * second[:, None]
    model = PrototypeClassifier().fit(rows[:200], second[:200])
    frame = {"x": rows[200:, 0], "C": second[200:]}
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(1.0, sd=1.5))
    net.add("C", pgm.EstimatorCPD(model, parents=["x"], rows=frame))
    middle = float(model.prototypes_.mean())
    assert net.query("C", {"x": middle})[True] == pytest.approx(0.5, abs=0.15)
    assert net.query("C", {"x": 3.5})[True] > 0.85 > 0.15 > net.query("C", {"x": -1.5})[True]


def test_A15_prototypes_of_several_clusters() -> None:
    """O7, (8.19)."""
    centres = [[0.0, 0.0], [4.0, 0.0], [2.0, 1.0], [9.0, 9.0]]
    model = PrototypeClassifier(2, starts=10, seed=0).fit(centres, [1, 1, 2, 2])
    for x, far, c in (((3.2, 0.2), [0.8246, 1.4422], 1), ((1.2, 0.7), [1.3892, 0.8544], 2)):
        assert model.distances([x])[0] == pytest.approx(far, abs=5e-5)
        assert model.predict([x]).tolist() == [c]


def test_A16_a_metric_for_each_place() -> None:
    """The metric about a place by its definition, row after row; Euclid's where classes do not matter."""
    rng = np.random.default_rng(5)
    rows, classes = rng.normal(size=(40, 2)) * [1.0, 3.0], rng.integers(3, size=40)
    x = np.array([0.2, -0.5])
    model = AdaptiveNeighbours(3, neighbourhood=15, spread=0.7, ridge=1e-9).fit(rows, classes)
    far = np.sqrt(((rows - x) ** 2).sum(axis=1))
    near_ones = np.argsort(far)[:15]
    weights = (1 - (far[near_ones] / far[near_ones].max()) ** 3) ** 3
    within, between = np.zeros((2, 2)), np.zeros((2, 2))
    mean = weights @ rows[near_ones] / weights.sum()
    for c in range(3):
        mine = classes[near_ones] == c
        own = weights[mine] @ rows[near_ones][mine] / weights[mine].sum()
        between += weights[mine].sum() / weights.sum() * np.outer(own - mean, own - mean)
        for w, row in zip(weights[mine], rows[near_ones][mine], strict=True):
            within += w * np.outer(row - own, row - own) / weights.sum()
    values, vectors = np.linalg.eigh(within)
    root = vectors @ np.diag(values**-0.5) @ vectors.T
    metric = root @ (root @ between @ root + 0.7 * np.eye(2)) @ root
    assert model.metric_at([x])[0] == pytest.approx(metric, rel=1e-6)
    off = rows[near_ones] - x
    chosen = near_ones[np.argsort(np.einsum("ri,ij,rj->r", off, metric, off))[:3]]
    assert model.predict_proba([x])[0] == near(np.bincount(classes[chosen], minlength=3) / 3)
    assert told(model, x) == near(model.predict_proba([x])[0])


def test_A16_it_finds_what_euclid_does_not() -> None:
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(600, 4)) * [1.0, 8.0, 8.0, 8.0]
    classes = rows[:, 0] > 0.0
    plain = NearestNeighbours(5).fit(rows[:300], classes[:300]).score(rows[300:], classes[300:])
    adaptive = AdaptiveNeighbours(5).fit(rows[:300], classes[:300]).score(rows[300:], classes[300:])
    assert adaptive > plain + 0.1


# --- A17 to A22, F43: metrics, learned and given ------------------------------------------------------------


def test_A17_a_given_metric() -> None:
    """Fig. 8.7: by Euclid the three nearest are all o, by M = S^-1 they are x."""
    euclid = KNeighborsClassifier(3).fit(FIG, OF_FIG)
    assert euclid.kneighbors([[0.0, 0.0]])[0][0] == near([0.9899, 1.1314, 1.3454], 4)
    assert told(euclid, [0.0, 0.0]).tolist() == [1.0, 0.0]
    inverse = {"VI": np.linalg.inv(S)}
    mahalanobis = KNeighborsClassifier(6, metric="mahalanobis", metric_params=inverse).fit(FIG, OF_FIG)
    far, which = mahalanobis.kneighbors([[0.0, 0.0]])
    assert far[0] ** 2 == near([0.5263158, 1.1842105, 2.1052632, 4.9, 6.4, 9.0263158], 7)
    assert which[0].tolist() == [0, 2, 1, 3, 4, 5]
    voted = KNeighborsClassifier(3, metric="mahalanobis", metric_params=inverse).fit(FIG, OF_FIG)
    assert told(voted, [0.0, 0.0]).tolist() == [0.0, 1.0]


def test_A17_sparse_metrics_are_optimal() -> None:
    """A diagonal metric is the answer of a linear program, which HiGHS solves too."""
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(60, 5))
    classes = (rows[:, 0] + 0.3 * rows[:, 1] > 0.0).astype(int)
    zeros = []
    for sparsity in (0.0, 3.0, 30.0):
        model = LargeMarginMetric(4, form="diagonal", sparsity=sparsity).fit(rows, classes)
        error = _Error(rows, classes, 4, 0.5, start_clock())
        pull, push = error.pairs**2, error.strangers**2
        t = len(error.target)
        cost = np.concatenate([0.5 * pull.sum(axis=0) + sparsity, np.full(t, 0.5)])
        lines = np.hstack([pull[error.target] - push[error.stranger], -np.eye(t)])
        exact = linprog(cost, A_ub=lines, b_ub=-np.ones(t), bounds=(0, None))
        assert exact.fun * (1 - 1e-9) <= model.error_ <= (1 + 1e-4) * exact.fun
        zeros.append(int((np.diag(model.metric_) == 0.0).sum()))
    assert zeros[0] <= zeros[1] <= zeros[2]
    assert zeros[2] >= 3


def test_A18_large_margins() -> None:
    """B.md O43: k = 2, weight .5; and the gradient."""
    rows, classes = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]), np.array([0, 0, 1])
    error = _Error(rows, classes, 2, 0.5, start_clock())
    for diagonal, value in (((1.0, 1.0), 1.0), ((1.0, 0.25), 1.5), ((0.25, 1.0), 0.25), ((0.0, 0.25), 0.0)):
        assert error(np.diag(np.sqrt(diagonal)))[0] == near(value)
    model = LargeMarginMetric(2).fit(rows, classes)
    assert model.errors_[0] == near(1.0)
    assert model.error_ < 1e-4
    assert (np.diff(model.errors_) < 0.0).all()
    rng = np.random.default_rng(8)
    rows, classes = rng.normal(size=(40, 3)), rng.integers(2, size=40)
    error, factor = _Error(rows, classes, 4, 0.6, start_clock()), rng.normal(size=(2, 3))
    slope = 2.0 * factor @ error(factor)[1]
    for place in np.ndindex(2, 3):
        step = np.zeros((2, 3))
        step[place] = 1e-6
        by_steps = (error(factor + step)[0] - error(factor - step)[0]) / 2e-6
        assert slope[place] == pytest.approx(by_steps, rel=1e-5, abs=1e-5)


def test_A18_neighbours_of_other_classes_go_away() -> None:
    """Where one column alone tells the classes apart, and others are louder; then as a node of a network."""
    rng = np.random.default_rng(9)
    rows = rng.normal(size=(400, 3)) * [1.0, 6.0, 6.0]
    classes = rows[:, 0] > 0.0
    plain = KNeighborsClassifier(3).fit(rows[:200], classes[:200]).score(rows[200:], classes[200:])
    pipe = make_pipeline(LargeMarginMetric(12, margin_weight=0.8), KNeighborsClassifier(3))
    pipe.fit(rows[:200], classes[:200])
    learned = pipe.score(rows[200:], classes[200:])
    assert learned > plain + 0.15
    assert told(pipe, rows[250]) == near(pipe.predict_proba(rows[250:251])[0])


def test_A19_metrics_of_low_rank() -> None:
    """O7, (8.21): both sides 36; L = (1, -1) / sqrt 2 puts all x of fig. 8.7 to 0; then it is learned."""
    factor, x, other = np.array([[1.0, 2.0]]), np.array([3.0, 1.0]), np.array([1.0, -1.0])
    metric = factor.T @ factor
    assert metric.tolist() == [[1.0, 2.0], [2.0, 4.0]]
    assert (x - other) @ metric @ (x - other) == near(36.0)
    assert ((factor @ x - factor @ other) ** 2).sum() == near(36.0)
    projected = FIG @ (np.array([[1.0], [-1.0]]) / math.sqrt(2.0))
    assert projected[:3, 0].tolist() == [0.0, 0.0, 0.0]
    assert told(KNeighborsClassifier(3).fit(projected, OF_FIG), [0.0]).tolist() == [0.0, 1.0]
    rng = np.random.default_rng(15)
    along = rng.normal(size=(200, 1)) * [[5.0, 5.0]]  # the classes lie side by side along the diagonal
    classes = np.arange(200) % 2
    rows = along + np.outer(classes - 0.5, [2.0, -2.0]) + 0.1 * rng.normal(size=(200, 2))
    model = LargeMarginMetric(8, dim=1, margin_weight=0.9).fit(rows, classes)
    assert model.components_.shape == (1, 2)
    assert model.components_[0, 1] / model.components_[0, 0] == pytest.approx(-1.0, abs=0.1)
    assert model.metric_ == near(model.components_.T @ model.components_)
    z = model.transform(rows)
    by_metric = cdist(rows, rows, "mahalanobis", VI=model.metric_) ** 2
    assert cdist(z, z, "sqeuclidean") == pytest.approx(by_metric, abs=1e-6)
    found = make_pipeline(model, KNeighborsClassifier(3)).fit(rows, classes)
    assert told(found, [0.5, -0.5]).tolist() == [0.0, 1.0]


def test_A20_hamming() -> None:
    a, b = [0, 1, 2, 3], [0, 9, 2, 8]  # (a, b, c, d) and (a, x, c, y)
    assert hamming(a, b) * 4 == near(2.0)
    model = KNeighborsClassifier(1, metric="hamming").fit([a, [9, 9, 9, 9]], ["near", "far"])
    assert model.kneighbors([b])[0][0, 0] * 4 == near(2.0)
    assert told(model, b).tolist() == [0.0, 1.0]


def test_A21_distances_of_ones_own() -> None:
    """Words by the changes from one to the other: rows are distances, or a function makes them."""

    def changes(one: str, other: str) -> int:
        before = list(range(len(other) + 1))
        for i, a in enumerate(one, 1):
            now = [i]
            for j, b in enumerate(other, 1):
                now.append(min(before[j] + 1, now[-1] + 1, before[j - 1] + (a != b)))
            before = now
        return before[-1]

    words, kinds = ["kitten", "mitten", "table", "cable"], ["cat", "cat", "thing", "thing"]
    square = [[changes(a, b) for b in words] for a in words]
    model = KNeighborsClassifier(1, metric="precomputed").fit(square, kinds)
    asked = [[changes(word, b) for b in words] for word in ("sitting", "fable")]
    assert asked[0][0] == 3
    assert model.predict(asked).tolist() == ["cat", "thing"]
    by_number = KNeighborsClassifier(
        1, metric=lambda a, b: float(changes(words[int(a[0])], words[int(b[0])]))
    ).fit([[0.0], [2.0]], ["cat", "thing"])
    assert told(by_number, [1.0]).tolist() == [1.0, 0.0]
    assert told(by_number, [3.0]).tolist() == [0.0, 1.0]


def test_A22_similarities_to_all_rows() -> None:
    """On the rows of fit it is the Gram matrix; then any learner follows."""
    rng = np.random.default_rng(10)
    rows = rng.normal(size=(80, 2))
    classes = (rows**2).sum(axis=1) > 1.2  # a ring about a disc
    gram = np.exp(-0.5 * cdist(rows, rows, "sqeuclidean"))
    model = SimilarityMap("rbf", gamma=0.5).fit(rows)
    assert model.transform(rows) == near(gram)
    assert model.transform(rows[:3] + 1.0) == near(np.exp(-0.5 * cdist(rows[:3] + 1.0, rows, "sqeuclidean")))
    pipe = make_pipeline(model, LogisticRegression(C=10.0)).fit(rows, classes)
    assert pipe.score(rows, classes) > 0.9 > LogisticRegression().fit(rows, classes).score(rows, classes)
    assert told(pipe, rows[0]) == near(pipe.predict_proba(rows[:1])[0])


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "chebyshev", "cosine"])
def test_F43_the_choice_of_a_metric(metric: str) -> None:
    rng = np.random.default_rng(11)
    rows, classes, x = rng.normal(size=(50, 3)), rng.integers(2, size=50), rng.normal(size=3)
    far = cdist([x], rows, metric)[0]
    p = np.bincount(classes[np.argsort(far)[:7]], minlength=2) / 7
    assert told(KNeighborsClassifier(7, metric=metric).fit(rows, classes), x) == near(p)


# --- F44, F45: fewer numbers are looked at ------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 4])
def test_F44_partial_distances_find_the_same(k: int) -> None:
    """A row is given up beyond the k-th found so far: the answer is that of the full search."""
    rng = np.random.default_rng(12)
    rows, classes, x = rng.normal(size=(300, 8)), rng.integers(3, size=300), rng.normal(size=(40, 8))
    model = NearestNeighbours(k, search="partial").fit(rows, classes)
    far, which = model.kneighbors(x)
    full = cdist(x, rows)
    order = np.argsort(full, axis=1)[:, :k]
    assert which.tolist() == order.tolist()
    assert far == near(np.take_along_axis(full, order, 1))
    assert model.looked_at(x) < 0.75


def test_F44_a_fixed_value_after_some_columns() -> None:
    """By hand: those are left whose first two columns are nearer than the value."""
    rng = np.random.default_rng(13)
    rows, classes, x = rng.normal(size=(200, 6)), rng.integers(2, size=200), rng.normal(size=(30, 6)) * 0.5
    model = NearestNeighbours(3, search="partial", first=2, limit=0.8).fit(rows, classes)
    assert not model.exact_
    far, which = model.kneighbors(x)
    for i, row in enumerate(x):
        left = np.flatnonzero(((rows[:, :2] - row[:2]) ** 2).sum(axis=1) < 0.64)
        away = np.sqrt(((rows[left] - row) ** 2).sum(axis=1))
        best = np.argsort(away)[:3]
        assert which[i].tolist() == left[best].tolist()
        assert far[i] == near(away[best])
    without = NearestNeighbours(3, search="partial").fit(rows, classes)
    assert model.looked_at(x) < without.looked_at(x) < 1.0
    with pytest.raises(pgm.ImpossibleEvidence, match=r"Row 0 .* no neighbour"):
        model.predict(np.full((1, 6), 50.0))


def test_F45_quadrants_and_trees() -> None:
    """Four quadrants: a quarter of the rows is queried, and the answer may differ; a tree finds the same."""
    rng = np.random.default_rng(14)
    rows, classes, x = rng.uniform(size=(4000, 2)), rng.integers(2, size=4000), rng.uniform(size=(500, 2))
    full = NearestNeighbours(1).fit(rows, classes)
    tree = NearestNeighbours(1, search="tree").fit(rows, classes)
    parts = NearestNeighbours(1, search="quadrants").fit(rows, classes)
    assert tree.kneighbors(x)[1].tolist() == full.kneighbors(x)[1].tolist()
    assert tree.exact_
    assert not parts.exact_
    assert "approximate" in repr(parts)
    which = parts.kneighbors(x)[1][:, 0]
    same = which == full.kneighbors(x)[1][:, 0]
    assert 0.95 < same.mean() < 1.0
    middle = 0.5 * (rows.min(axis=0) + rows.max(axis=0))
    for row, found in zip(x, which, strict=True):  # in the quadrant of the nearest prototype
        quadrant = [(rows > middle) @ [1, 2] == q for q in range(4)]
        stands = [rows[q][((rows[q] - rows[q].mean(axis=0)) ** 2).sum(axis=1).argmin()] for q in quadrant]
        chosen = int(((np.array(stands) - row) ** 2).sum(axis=1).argmin())
        inside = np.flatnonzero(quadrant[chosen])
        assert found == inside[((rows[inside] - row) ** 2).sum(axis=1).argmin()]
    all_of_four = NearestNeighbours(1, search="partial").fit(rows, classes)
    assert parts.looked_at(x) / all_of_four.looked_at(x) == pytest.approx(0.25, abs=0.04)


# --- A39: cases ---------------------------------------------------------------------------------------------


def test_A39_cases_that_justify_an_answer() -> None:
    rows = {"age": [30.0, 35.0, 60.0, 62.0], "dose": [1.0, 2.0, 2.0, 1.0]}
    outcome = ["well", "well", "ill", "well"]
    import pandas as pd

    frame = pd.DataFrame(rows)
    asked = pd.DataFrame({"age": [59.0], "dose": [2.0]})
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(3, weights="distance")).fit(frame, outcome)
    found = similar_cases(model, asked, frame, outcome)
    net = pgm.BayesianNetwork()
    net.add("age", pgm.Gaussian(50.0, sd=20.0))
    net.add("dose", pgm.Gaussian(1.5, sd=1.0))
    net.add("outcome", pgm.EstimatorCPD(model, parents=["age", "dose"]))
    p = net.query("outcome", {"age": 59.0, "dose": 2.0})
    assert found.rows[0] == 2
    assert found.answer == p.mode()
    for state in ("well", "ill"):  # the shares of the cases are the answer
        said = sum(s for s, o in zip(found.shares, found.outcomes, strict=True) if o == state)
        assert p[state] == near(said)
    assert found.values["age"][0] == 60.0
    assert "because of 3 similar cases" in repr(found)
    assert found.to_pandas().loc[2, "outcome"] == "ill"
