"""Worked numbers of the catalogue on rules of decision and their errors: F.md, rows F7 to F22, O2 to O4."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import roc_curve
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import pgm
from pgm.evaluation import decision_rates, error_estimates, regions, roc
from tests.known.book import near

NORMALS = {"N": norm(0.0, 1.0), "A": pgm.Gaussian(2.0, sd=1.0)}  # one of scipy, one of ours
SIGNS = [[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]


def signs() -> pgm.BayesianNetwork:
    """O2: three classes and a sign of three values."""
    net = pgm.BayesianNetwork()
    net.add("w", [0.5, 0.3, 0.2], states=[1, 2, 3])
    net.add("x", dict(zip([1, 2, 3], SIGNS, strict=True)), parents=["w"], states=[0, 1, 2])
    return net


def alarm(prior: float = 0.5) -> pgm.BayesianNetwork:
    """O3: N = N(0, 1), A = N(2, 1)."""
    net = pgm.BayesianNetwork()
    net.add("w", [prior, 1.0 - prior], states=["N", "A"])
    net.add("x", {"N": pgm.Gaussian(0.0, sd=1.0), "A": pgm.Gaussian(2.0, sd=1.0)}, parents=["w"])
    return net


def blobs(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(y * 2.0, 1.0)[:, None], np.array(["N", "A"])[y]


# --- F7 to F9: estimates ---


def test_F7_resubstitution_is_the_error_on_rows_learned_from():
    X, y = blobs(200, 0)
    found = error_estimates(LinearDiscriminantAnalysis(), X, y)
    assert found.resubstitution.rate == near(1.0 - LinearDiscriminantAnalysis().fit(X, y).score(X, y), 14)
    # Of one neighbour it is zero whatever the classes are: each row is its own.
    shuffled = np.random.default_rng(1).permutation(y)
    flattering = error_estimates(KNeighborsClassifier(1), X, shuffled)
    assert flattering.resubstitution.rate == 0.0 < 0.35 < flattering.cross_validation.rate


def test_F8_cross_validation_is_scikit_learns():
    X, y = blobs(203, 2)
    found = error_estimates(LinearDiscriminantAnalysis(), X, y, folds=5, seed=3)
    folds = StratifiedKFold(5, shuffle=True, random_state=3)
    scores = cross_val_score(LinearDiscriminantAnalysis(), X, y, cv=folds)
    np.testing.assert_allclose(found.folds, 1.0 - scores, atol=1e-15)
    sizes = [len(test) for _, test in folds.split(X, y)]
    assert found.cross_validation.wrong == round(float(np.dot(1.0 - scores, sizes)))


def test_F9_rows_of_their_own_come_near_the_true_error():
    X, y = blobs(4000, 4)
    other = blobs(20_000, 5)
    found = error_estimates(LinearDiscriminantAnalysis(), X, y, test=other)
    assert found.test.rate == near(1.0 - LinearDiscriminantAnalysis().fit(X, y).score(*other), 14)
    truth = norm.cdf(-1.0)
    assert abs(found.test.rate - truth) < 4.0 * math.sqrt(truth * (1.0 - truth) / 20_000)
    assert found.test.low < truth < found.test.high


# --- F10, F11: regions and boundaries ---


def test_F10_regions_may_consist_of_several_pieces():
    """One wide and one narrow class about the same place: the wide one is named on both sides."""
    two = {"wide": norm(0.0, 3.0), "narrow": norm(0.0, 1.0)}
    found = decision_rates(two, prior=[0.5, 0.5])
    assert [one.named for one in found.where] == ["wide", "narrow", "wide"]
    end = math.sqrt(2.0 * math.log(3.0) / (1.0 - 1.0 / 9.0))
    assert (found.where[0].high, found.where[1].high) == (near(-end, 12), near(end, 12))
    told = pgm.DiscriminantAnalysis(shared=False).fit(
        [[x] for x in (-6.0, -2.0, -1.0, 1.0, 2.0, 6.0)], [0, 1, 1, 1, 1, 0]
    )
    drawn = regions(told, [[-8.0], [8.0]], cells=200)
    assert [(b.below, b.above) for b in drawn.boundaries] == [(0, 1), (1, 0)]


def test_F11_boundaries_are_where_the_two_most_probable_tie():
    """O3: 1 at equal priors, 1 + log(9) / 2 at .9."""
    assert decision_rates(NORMALS, prior=[0.5, 0.5]).where[0].high == near(1.0, 13)
    assert decision_rates(NORMALS, prior=[0.9, 0.1]).where[0].high == near(2.0986122887)
    assert decision_rates(alarm(0.9), "w", "x").where[0].high == near(2.0986122887)


# --- F13, F18, F19: the error of a partition, and the smallest ---


def test_F13_F19_O2_the_prior_alone_and_the_best_rule():
    assert decision_rates(signs(), "w").error == near(0.5)
    found = decision_rates(signs(), "w", "x")
    assert (found.correct, found.error, found.bayes_error) == near((0.65, 0.35, 0.35))
    assert [one.named for one in found.where] == [1, 2, 3]
    assert [1.0 - found.rate(c, c) for c in (1, 2, 3)] == near([0.3, 0.4, 0.4])


def test_F18_the_error_of_any_partition():
    """O2 by hand: each partition of three signs, as a dict, a function and a classifier."""
    joint = np.array([0.5, 0.3, 0.2])[:, None] * SIGNS
    best = 1.0
    for rule in [(a, b, c) for a in (1, 2, 3) for b in (1, 2, 3) for c in (1, 2, 3)]:
        error = 1.0 - sum(joint[named - 1, x] for x, named in enumerate(rule))
        best = min(best, error)
        found = decision_rates(signs(), "w", "x", rule=dict(enumerate(rule)))
        assert found.error == pytest.approx(error, abs=1e-14)
        assert found.bayes_error == near(0.35)
    assert best == near(0.35)
    assert decision_rates(signs(), "w", "x", rule=lambda x: x + 1).error == near(0.35)

    told = KNeighborsClassifier(1).fit([[0], [1], [2]], [3, 2, 1])
    assert decision_rates(signs(), "w", "x", rule=told).error == near(1 - (0.02 + 0.18 + 0.05))


def test_F18_O3_a_threshold_that_is_not_the_best():
    """x* = 1.5: error .1876723700; the same by a network, by a function, and by scipy's quadrature."""
    from scipy.integrate import quad

    missed, _ = quad(norm(2.0, 1.0).pdf, -20.0, 1.5)
    false, _ = quad(norm(0.0, 1.0).pdf, 1.5, 20.0)
    for found in (
        decision_rates(NORMALS, prior=[0.5, 0.5], rule=["N", 1.5, "A"]),
        decision_rates(NORMALS, prior=[0.5, 0.5], rule=lambda x: "A" if x >= 1.5 else "N"),
        decision_rates(alarm(), "w", "x", rule=["N", 1.5, "A"]),
    ):
        assert found.error == near(0.1876723700)
        assert found.error == pytest.approx(0.5 * (missed + false), abs=1e-12)
        assert found.bayes_error == near(0.1586552539)


def test_F19_O3_the_bayes_error():
    assert decision_rates(NORMALS, prior=[0.5, 0.5]).error == near(0.1586552539)
    assert decision_rates(NORMALS, prior=[0.9, 0.1]).error == near(0.0700606859, 9)
    assert decision_rates(alarm(0.9), "w", "x").error == near(0.0700606859, 9)


# --- F12: withholding; F5: risk ---


def test_F12_chows_rule_has_the_smallest_risk():
    """A class is named where P is at least 1 - t: none between where sigmoid(2 x - 2) is t and 1 - t."""
    t = 0.2
    found = decision_rates(NORMALS, prior=[0.5, 0.5], reject=t)
    half = math.log((1.0 - t) / t) / 2.0
    assert [one.named for one in found.where] == ["N", None, "A"]
    assert [one.high for one in found.where[:2]] == near([1.0 - half, 1.0 + half])
    assert found.rejected == near(norm.cdf(1.0 + half) - norm.cdf(1.0 - half))
    assert found.error == near(norm.cdf(-1.0 - half))
    assert found.risk == near(found.error + t * found.rejected)
    for off in (-0.05, 0.05):  # other places to withhold cost more
        rule = ["N", 1.0 - half - off, None, 1.0 + half + off, "A"]
        assert decision_rates(NORMALS, prior=[0.5, 0.5], reject=t, rule=rule).risk > found.risk


def test_F5_the_rule_of_the_smallest_loss_is_the_influence_diagrams():
    loss = {(1, 2): 1.0, (1, 3): 4.0, (2, 1): 2.0, (2, 3): 1.0, (3, 1): 9.0, (3, 2): 3.0}
    found = decision_rates(signs(), "w", "x", loss=loss, reject=0.9)
    table = [[0.0 if a == b else loss[a, b] for b in (1, 2, 3)] for a in (1, 2, 3)]
    solved = pgm.loss_diagram(signs(), "w", table, reject=0.9, observes=["x"]).solve()
    assert found.risk == near(-solved.expected_utility)
    assert ["reject" if d.named is None else d.named for d in found.where] == [
        solved["decide"][x] for x in range(3)
    ]


# --- F20 to F22: detectors and their curves ---


def test_F20_O3_a_detector():
    found = decision_rates(NORMALS, prior=[0.5, 0.5], rule=["N", 1.5, "A"])
    assert found.rate("N", "A") == near(0.0668072013, 9)
    assert found.rate("A", "A") == near(0.6914624613)
    assert found.rate("A", "N") == near(0.3085375387)


def test_F21_O3_the_curve_of_two_densities():
    found = roc(NORMALS)
    assert found.auc == near(0.9213503965)
    for x, point in (
        (0.0, (0.5, 0.9772498681)),
        (1.0, (0.1586552539, 0.8413447461)),
        (2.0, (0.0227501319, 0.5)),
    ):
        rates = decision_rates(NORMALS, prior=[0.5, 0.5], rule=["N", x, "A"])
        assert (rates.rate("N", "A"), rates.rate("A", "A")) == near(point, 9)
        assert np.interp(point[0], found.false_positive, found.true_positive) == near(point[1], 5)
    np.testing.assert_allclose(found.true_positive[1:-1], norm.sf(found.thresholds[1:-1] - 2.0), atol=1e-13)


def test_F21_O4_the_curve_of_scores():
    found = roc([0, 0, 1, 0, 1, 1], [1, 2, 3, 4, 5, 6])
    assert found.false_positive == near([0, 0, 0, 1 / 3, 1 / 3, 2 / 3, 1])
    assert found.true_positive == near([0, 1 / 3, 2 / 3, 2 / 3, 1, 1, 1])
    assert found.auc == near(8 / 9)
    # The area is the probability that a positive case scores higher, ties counted half.
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, 300), rng.integers(0, 20, 300)
    above = score[y == 1][:, None] - score[y == 0]
    assert roc(y, score).auc == near(((above > 0) + 0.5 * (above == 0)).mean(), 12)


def test_F22_curves_in_one_picture():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 100)
    scores = {f"of {noise}": y + noise * rng.normal(size=100) for noise in (0.5, 1.0, 2.0)}
    found = roc(y, scores)
    assert list(found) == list(scores)
    ax = found.plot()
    drawn = {line.get_label().split(",")[0]: line for line in ax.lines if line.get_gid() == "roc"}
    for name, score in scores.items():
        false, true, _ = roc_curve(y, score, drop_intermediate=False)
        np.testing.assert_allclose(drawn[name].get_xydata(), np.column_stack([false, true]))
    roc(y, y + 0.0).plot(ax=ax)  # one more, on the same axes
    assert sum(line.get_gid() == "roc" for line in ax.lines) == 4
    assert sum(line.get_gid() == "chance" for line in ax.lines) == 1
    assert (
        len({(line.get_color(), line.get_linestyle()) for line in ax.lines if line.get_gid() == "roc"}) == 4
    )
