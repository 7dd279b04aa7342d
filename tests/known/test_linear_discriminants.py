"""Worked numbers of the catalogue on hyperplanes: A.md, O21, O29; F.md, sections 5.1 to 5.3, O11, O12."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures

import pgm
from pgm.adapters import (
    Hyperplane,
    LeastSquares,
    LinearProgram,
    Perceptron,
    RejectingClassifier,
    separability,
)
from pgm.adapters.linear.rejecting import agreed
from tests.known.book import near, threshold

W, W0 = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]), np.array([-1.0, -1.0, -1.0])  # O21, three classes


def given(weights: np.ndarray, bias: np.ndarray, classes: list[object]) -> LogisticRegression:
    """scikit-learn's linear classifier with these weights."""
    found = LogisticRegression()
    found.coef_, found.intercept_, found.classes_ = weights, bias, np.array(classes)
    return found


# --- A108, A109: discriminants ---


def test_A108_the_largest_discriminant():
    """O21: g = w x + w0 of three classes; the same as a softmax of them in a network, whose mode it is."""
    found = given(W, W0, ["C1", "C2", "C3"])
    points = [(2.0, 0.0), (2.0, 3.0), (-4.0, 1.0)]
    assert found.decision_function(points[:2]).tolist() == [[1.0, -3.0, -1.0], [1.0, -3.0, 2.0]]
    assert found.predict(points).tolist() == ["C1", "C3", "C2"]
    net = pgm.BayesianNetwork()
    for name in ("x1", "x2"):
        net.add(name, pgm.Gaussian(0.0, 1.0))
    weights = {"x1": W[:, 0].tolist(), "x2": W[:, 1].tolist()}
    net.add("C", pgm.Logistic(weights, bias=W0.tolist()), states=["C1", "C2", "C3"])
    for x1, x2 in points:
        p = net.query("C", {"x1": x1, "x2": x2})
        g = W @ [x1, x2] + W0
        assert p.mode() == found.predict([(x1, x2)])[0]
        assert p.values == near(np.exp(g) / np.exp(g).sum(), 9)


def in_a_network(estimator: object, columns: list[str]) -> pgm.BayesianNetwork:
    """The estimator as the distribution of C, whose parents are numbers."""
    net = pgm.BayesianNetwork()
    for name in columns:
        net.add(name, pgm.Gaussian(0.0, 3.0))
    net.add("C", pgm.EstimatorCPD(estimator, parents=columns))
    return net


def test_A108_as_the_distribution_of_a_node():
    """Any linear classifier: what it says, and the same log odds as its weights give."""
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(60, 2))
    y = np.where(rows[:, 0] - rows[:, 1] + rng.normal(size=60) > 0.0, "C1", "C2")
    found = LogisticRegression().fit(rows, y)
    net = in_a_network(found, ["x1", "x2"])
    g = Hyperplane.of(found)["C2"]
    for x1, x2 in ((0.0, 0.0), (1.5, -0.5), (-2.0, 3.0)):
        p = net.query("C", {"x1": x1, "x2": x2})
        assert p.values == pytest.approx(found.predict_proba([[x1, x2]])[0], abs=1e-12)
        assert math.log(p["C2"] / p["C1"]) == pytest.approx(g.value([[x1, x2]])[0], rel=1e-9)


def test_A109_what_counts_and_for_which_class():
    """The table has the largest weight first, and whom it speaks for."""
    rows = pd.DataFrame({"income": [4.0, 5.0, 1.0, 2.0], "debts": [0.5, 1.0, 3.0, 2.0]})
    found = LeastSquares().fit(rows, ["good", "good", "bad", "bad"])
    lines = str(found.hyperplanes_["good"]).splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["income", "debts"]
    assert [line.split(maxsplit=2)[2] for line in lines[1:3]] == ["for good", "against good"]
    assert abs(found.coef_[0, 0]) > abs(found.coef_[0, 1]) > 0.0
    assert "for good" in found._repr_html_()


# --- A111, A112, A142: what is linear in other columns ---


def test_A111_products_and_squares():
    """O29: x = (2, 3) has x1, x2, x1^2, x1 x2, x2^2 = 2, 3, 4, 6, 9."""
    terms = PolynomialFeatures(2, include_bias=False)
    assert terms.fit_transform([[2.0, 3.0]]).tolist() == [[2.0, 3.0, 4.0, 6.0, 9.0]]
    rng = np.random.default_rng(0)
    rows = rng.uniform(-2.0, 2.0, size=(80, 2))
    inside = np.where((rows**2).sum(axis=1) < 2.0, "in", "out")
    assert LinearProgram().fit(rows, inside).score(rows, inside) < 0.8
    assert make_pipeline(terms, LinearProgram()).fit(rows, inside).score(rows, inside) == 1.0
    soft = make_pipeline(PolynomialFeatures(2), LogisticRegression(C=100.0)).fit(rows, inside)
    net = in_a_network(soft, ["x1", "x2"])
    for x in rows[:3]:
        p = net.query("C", {"x1": x[0], "x2": x[1]}).values
        assert p == pytest.approx(soft.predict_proba([x])[0], abs=1e-12)


def test_A112_basis_functions():
    """Exercise 10.1: where each is not zero."""
    m, c = np.array([1.0, -1.0]), 2.0

    def basis(x: np.ndarray) -> np.ndarray:
        x1, x2 = x[:, 0], x[:, 1]
        far = ((x - m) ** 2).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            log = np.log(x2)
        return np.column_stack(
            [
                np.sin(x1),
                np.exp(-((x1 - 1.0) ** 2) / c),
                np.exp(-far / c),
                np.where(x2 > 0, log, 0.0),
                x1 > 2.0,
            ]
        )

    found = basis(np.array([[0.0, 1.0], [2.5, 2.0], [1.0, -1.0]]))
    assert (found != 0.0).tolist() == [
        [False, True, True, False, False],
        [True, True, True, True, True],
        [True, True, True, False, False],
    ]
    assert found[2, :3].tolist() == near([math.sin(1.0), 1.0, 1.0])
    rng = np.random.default_rng(1)
    rows = rng.uniform(-2.0, 3.0, size=(100, 2))
    near_m = ((rows - m) ** 2).sum(axis=1) < 2.0
    told = make_pipeline(FunctionTransformer(basis), LinearProgram()).fit(rows, near_m)
    assert told.score(rows, near_m) == 1.0  # one of the functions alone does it
    soft = make_pipeline(FunctionTransformer(basis), LogisticRegression(C=100.0)).fit(rows, near_m)
    net = in_a_network(soft, ["x1", "x2"])
    p = net.query("C", {"x1": 1.0, "x2": -1.0}).values
    assert p == pytest.approx(soft.predict_proba(m[None])[0], abs=1e-12)
    assert p[1] > 0.9


def test_A142_a_square_as_one_more_column():
    """O29: x^2 - 6 x + 8 <= 0 for 2 <= x <= 4; after the sigmoid .2689414214 at 3, .9525741268 at 1 and 5."""
    g = Hyperplane([-6.0, 1.0], 8.0, columns=["x", "x squared"])
    x = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    rows = np.column_stack([x, x * x])
    assert g.value(rows).tolist() == ((x - 3.0) ** 2 - 1.0).tolist() == [3.0, 0.0, -1.0, 0.0, 3.0]
    net = pgm.BayesianNetwork()
    for name in ("x", "z"):
        net.add(name, pgm.Gaussian(0.0, 9.0))
    net.add("C2", pgm.Logistic({"x": -6.0, "z": 1.0}, bias=8.0), states=[0, 1])
    p = [net.query("C2", {"x": each, "z": each * each})[1] for each in x]
    assert p == near([0.9525741268, 0.5, 0.2689414214, 0.5, 0.9525741268])
    grid = np.linspace(0.0, 6.0, 41)
    inside = np.abs(grid - 3.0) < 1.0
    assert not separability(grid[:, None], inside).separable
    assert separability(np.column_stack([grid, grid**2]), inside).separable


# --- A113, F51, F52, F55: the geometry ---


def test_A113_sides_and_distances():
    """O21: w = (3, 4), w0 = -5, x = (2, 1): g = 5, r = 1, the origin -1 off, the projection (1.4, .2)."""
    plane = Hyperplane([3.0, 4.0], -5.0)
    x = np.array([[2.0, 1.0]])
    assert plane.value(x).tolist() == [5.0]
    assert plane.distance(x).tolist() == [1.0]
    assert plane.origin_distance == -1.0 == plane.distance([[0.0, 0.0]])[0]
    foot = plane.projection(x)
    assert foot.tolist() == [near([1.4, 0.2])]
    assert plane.value(foot)[0] == pytest.approx(0.0, abs=1e-14)
    # x = x_p + r w / |w|, with g = g1 - g2 of two discriminants
    assert foot[0] + plane.distance(x)[0] * plane.weights / plane.length == near([2.0, 1.0])
    g1, g2 = Hyperplane([4.0, 1.0], 1.0), Hyperplane([1.0, -3.0], 6.0)
    assert (g1.value(x) - g2.value(x)).tolist() == plane.value(x).tolist()


def test_F51_two_half_spaces():
    found = given(np.array([[3.0, 4.0]]), np.array([-5.0]), ["w2", "w1"])
    points = [[3.0, 4.0], [0.0, 0.0]]
    assert Hyperplane.of(found)["w1"].side(points).tolist() == [1, -1]
    assert found.predict(points).tolist() == ["w1", "w2"]


def test_F52_signed_distances():
    """O11: g = 20, 4 off, the origin -1; w is normal to every difference of points of the hyperplane."""
    plane = Hyperplane([3.0, 4.0], -5.0)
    assert plane.value([[3.0, 4.0]]).tolist() == [20.0]
    assert plane.distance([[3.0, 4.0]]).tolist() == [4.0]
    assert plane.origin_distance == -1.0
    feet = plane.projection(np.random.default_rng(0).normal(size=(5, 2)))
    assert np.diff(feet, axis=0) @ plane.weights == pytest.approx(0.0, abs=1e-12)


def test_F53_terms_of_a_quadratic():
    """d (d + 1) / 2 more than a linear one: 3 of two columns, 6 of three."""
    for d, more in ((2, 3), (3, 6)):
        terms = PolynomialFeatures(2).fit(np.zeros((1, d)))
        assert terms.n_output_features_ - (d + 1) == more == d * (d + 1) // 2


def test_F54_a_parabola_cut_by_a_plane():
    """(1, x, x^2): outside an interval is one class, so its region is in two pieces."""
    x = np.linspace(-3.0, 3.0, 25)[:, None]
    outer = np.abs(x[:, 0]) > 1.1
    found = make_pipeline(PolynomialFeatures(2, include_bias=False), Perceptron(max_iter=5000)).fit(x, outer)
    assert found.score(x, outer) == 1.0
    labels = found.predict(np.linspace(-3.0, 3.0, 601)[:, None])
    assert int((np.diff(labels.astype(int)) != 0).sum()) == 2


def test_F55_augmented_vectors():
    """O11: |a| = sqrt(50), so 20 / sqrt(50) = 2.8284271247, less than 4; H goes through the origin of y."""
    plane = Hyperplane([3.0, 4.0], -5.0)
    assert plane.augmented.tolist() == [-5.0, 3.0, 4.0]
    x = np.array([[3.0, 4.0]])
    assert plane.distance(x, augmented=True).tolist() == near([2.8284271247])
    rows = np.random.default_rng(3).normal(size=(30, 2))
    assert (np.abs(plane.distance(rows, augmented=True)) <= np.abs(plane.distance(rows))).all()
    assert plane.augmented @ np.concatenate([[1.0], x[0]]) == plane.value(x)[0]


def test_F56_the_sign():
    """As a unit of a network that is sure, and as the side of a hyperplane."""
    plane = Hyperplane([3.0, 4.0], -5.0)
    net = pgm.BayesianNetwork()
    for name in ("x1", "x2"):
        net.add(name, [1 / 3] * 3, states=[0.0, 1.0, 2.0])
    net.add("y", threshold({"x1": 3.0, "x2": 4.0}, -5.0), states=[0, 1])
    for x1, x2 in itertools.product((0.0, 1.0, 2.0), repeat=2):
        side = plane.side([[x1, x2]])[0]
        assert net.query("y", {"x1": x1, "x2": x2})[int(side > 0)] == 1.0


# --- A114 to A116: several classes, and rejects ---


def test_A114_one_against_all():
    """O21: (2, 0) is C1; (0, 0) and (2, 3) are rejected, or C3 is the largest at (2, 3)."""
    g = given(W, W0, [0, 1, 2]).decision_function([[2.0, 0.0], [0.0, 0.0], [2.0, 3.0]])
    assert agreed(g, 3).tolist() == [0, 3, 3]
    assert g[[0, 2]].argmax(axis=1).tolist() == [0, 2]
    # regions of the largest discriminant are convex
    found = given(W, W0, [0, 1, 2])
    rows = np.random.default_rng(0).uniform(-4.0, 4.0, size=(400, 2))
    labels = found.predict(rows)
    for c in range(3):
        mine = rows[labels == c]
        assert (found.predict((mine[:-1] + mine[1:]) / 2) == c).all()


def test_A114_one_against_all_is_scikit_learns_but_for_rejects():
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(90, 2)) + 3.0 * np.repeat([[0, 0], [1, 0], [0, 1]], 30, axis=0)
    y = np.repeat(["a", "b", "c"], 30)
    ours = RejectingClassifier(LeastSquares()).fit(rows, y)
    peer = OneVsRestClassifier(LeastSquares()).fit(rows, y)
    assert ours.decision_function(rows) == pytest.approx(peer.decision_function(rows), rel=1e-12)
    assert ours.predict(rows).tolist() == peer.predict(rows).tolist()
    careful = RejectingClassifier(LeastSquares(), reject="none").fit(rows, y)
    g = peer.decision_function(rows)
    alone = (g > 0.0).sum(axis=1) == 1
    assert 0 < alone.sum() < 90
    assert (careful.predict(rows) == np.where(alone, peer.predict(rows), "none")).all()


def test_A114_a_reject_is_a_finding_too():
    """What it said, "none" among it, as a node below the truth: P(truth | said) by counting."""
    rng = np.random.default_rng(7)
    y = np.repeat(["a", "b", "c"], 60)
    rows = rng.normal(size=(180, 2)) + 2.0 * np.repeat([[0, 0], [1, 0], [0, 1]], 60, axis=0)
    said = RejectingClassifier(reject="none").fit(rows[::2], y[::2]).predict(rows[1::2])
    truth = y[1::2]
    names = ["a", "b", "c"]
    net = pgm.BayesianNetwork()
    net.add("truth", [1 / 3] * 3, states=names)
    table = pgm.confusion_table(truth, said, states=names, outputs=[*names, "none"])
    net.add("said", table, parents=["truth"])
    for word in [*names, "none"]:
        counts = np.array([((truth == name) & (said == word)).sum() for name in names])
        assert counts.sum() > 0
        assert net.query("truth", {"said": word}).values == near((counts / counts.sum()).tolist())


PAIRS = np.array([[[0.0, 1.0, -0.5], [-1.0, 0.0, 2.0], [0.5, -2.0, 0.0]]])  # O21: g_ij


def test_A115_pairs_that_all_agree():
    """O21: C1 loses to C3, C2 to C1, C3 to C2: rejected. With g13 = .5 it is C1."""
    assert agreed(PAIRS, 3).tolist() == [3]
    won = PAIRS.copy()
    won[0, 0, 2], won[0, 2, 0] = 0.5, -0.5
    assert agreed(won, 3).tolist() == [0]
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(90, 2)) + 2.0 * np.repeat([[0, 0], [1, 0], [0, 1]], 30, axis=0)
    y = np.repeat([1, 2, 3], 30)
    found = RejectingClassifier(LogisticRegression(), against="pairs", reject=-1).fit(rows, y)
    for (i, j), one in found.estimators_.items():  # trained on these two classes only
        some = (y == i) | (y == j)
        alone = LogisticRegression().fit(rows[some], y[some] == i)
        assert one.coef_ == pytest.approx(alone.coef_)
    peer = OneVsOneClassifier(LogisticRegression()).fit(rows, y)
    said = found.predict(rows)
    assert (said != -1).sum() > 60
    assert (said == peer.predict(rows))[said != -1].all()  # who wins against all has all votes


def test_A116_pairs_summed():
    """O21: sums .5, 1 and -1.5: C2."""
    assert PAIRS.sum(axis=2).tolist() == [[0.5, 1.0, -1.5]]
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(60, 2)) + 2.0 * np.repeat([[0, 0], [1, 0], [0, 1]], 20, axis=0)
    y = np.repeat([1, 2, 3], 20)
    found = RejectingClassifier(LogisticRegression(), against="pairs").fit(rows, y)
    sums = np.zeros((60, 3))
    for i, j in itertools.combinations((1, 2, 3), 2):
        some = (y == i) | (y == j)
        g = LogisticRegression().fit(rows[some], y[some] == i).decision_function(rows)
        sums[:, i - 1] += g
        sums[:, j - 1] -= g
    assert found.decision_function(rows) == pytest.approx(sums)
    assert found.predict(rows).tolist() == (sums.argmax(axis=1) + 1).tolist()


# --- F57 to F59: separability and the region of solutions ---

O12 = [[1.0, 2.0], [2.0, 0.0], [3.0, 1.0], [2.0, 3.0]]


def test_F57_linearly_separable():
    """O12 is, XOR is not, and the proof is a point of both hulls."""
    assert separability(O12, [1, 1, 0, 0]).separable
    xor = [[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]
    found = separability(xor, [1, 1, 0, 0])
    region = found.regions[1]
    assert (found.separable, region.shortest) == (False, None)
    share = region.certificate
    assert share == near([0.25] * 4)
    assert share[:2] @ np.array(xor[:2]) == pytest.approx(share[2:] @ np.array(xor[2:]), abs=1e-12)
    three = separability([[0.0], [1.0], [2.0], [3.0]], list("abbc"))
    assert three.to_dict()["regions"] == {"a": True, "b": False, "c": True}
    pairs = separability([[0.0], [1.0], [2.0], [3.0]], list("abbc"), pairs=True)
    assert pairs.separable


def test_F58_normalised_rows():
    """O12: rows of w2 negated."""
    y = pgm.adapters.normalised(O12, ["w1", "w1", "w2", "w2"], positive="w1")
    assert y.tolist() == [[1, 1, 2], [1, 2, 0], [-1, -3, -1], [-1, -2, -3]]
    a = np.array([11 / 3, -4 / 3, -2 / 3])
    assert (y @ a > 0.0).all()


def test_F59_the_region_of_solutions():
    """O12: |y|^2 = 6, 5, 11, 14; a margin b moves each border by b / |y|."""
    region = separability(O12, [1, 1, 0, 0], margin=2.0).regions[1]
    assert region.shifts == near(2.0 / np.sqrt([6.0, 5.0, 11.0, 14.0]))
    a = np.array([11 / 3, -4 / 3, -2 / 3])
    assert region.contains([2.0 * a + 1e-9 * a, 1.9 * a, -a]).tolist() == [True, False, False]
    rng = np.random.default_rng(0)
    some = rng.normal(scale=6.0, size=(500, 3))
    inside = np.array([all(row @ w >= 2.0 for row in region.rows) for w in some])
    assert region.contains(some).tolist() == inside.tolist()
    for rows in ([[2.0], [-1.0]], [[0.0], [1.0], [2.0]]):
        found = separability(rows, list("aba")[: len(rows)]).regions["b"]
        assert found.plot().get_ylabel() == "weight of x0"
