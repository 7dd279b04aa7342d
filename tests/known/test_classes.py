"""Worked numbers of the catalogue on classifiers: C.md, D.md, F.md, G.md; learned from rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pgm
from tests.known import book
from tests.known.book import near

YOUTH = {"age": ["youth"], "income": ["medium"], "student": ["yes"], "credit": ["fair"]}


def customers(prior: float = 0.0) -> pgm.NaiveBayes:
    return pgm.NaiveBayes(prior=prior).fit(book.customers(), "buys")


# --- G25 to G28, G34, G65: who buys a computer ---


def test_G25_the_posterior_is_prior_times_likelihood_over_evidence() -> None:
    told = customers()
    yes, no = 9 / 14 * (2 / 9) * (4 / 9) * (6 / 9) * (6 / 9), 5 / 14 * (3 / 5) * (2 / 5) * (1 / 5) * (2 / 5)
    assert told.predict_proba(YOUTH)[0] == near(np.array([no, yes]) / (yes + no))


def test_G26_naive_bayes_names_the_most_probable_class() -> None:
    told = customers()
    assert told.predict(YOUTH).tolist() == ["yes"]
    assert told.class_prior_ == near([5 / 14, 9 / 14])
    even = pgm.NaiveBayes(prior=0.0, class_prior="uniform").fit(book.customers(), "buys")
    assert even.class_prior_.tolist() == [0.5, 0.5]  # unknown shares count as equal


def test_G27_a_categorical_column_is_shares_of_rows() -> None:
    net = customers().to_network()
    assert net.query("age", {"buys": "yes"})["youth"] == near(2 / 9)
    assert net.query("student", {"buys": "no"})["yes"] == near(1 / 5)


def test_G28_a_column_of_numbers_is_normal_in_each_class() -> None:
    x, y = [20.0, 30.0, 40.0, 50.0, 70.0], ["no", "no", "yes", "yes", "yes"]
    told = pgm.NaiveBayes(continuous=["age"], var_smoothing=0.0).fit({"age": x}, y)
    mean, sd = 160 / 3, math.sqrt(sum((v - 160 / 3) ** 2 for v in x[2:]) / 3)
    assert told.to_network().query("age", {"class": "yes"}).pdf(35.0) == near(
        math.exp(-((35.0 - mean) ** 2) / (2 * sd**2)) / (math.sqrt(2 * math.pi) * sd)
    )


def test_G34_log_odds_of_two_classes() -> None:
    assert customers().log_odds(YOUTH, "yes", "no")[0] == near(1.414694, 7)
    assert customers().decision_function(YOUTH)[0] == near(1.414694, 7)


def test_G65_discriminants_of_categories_are_sums_of_logarithms() -> None:
    """g_i = sum_j sum_k z_jk log p_ijk + log P(C_i), p_ijk as counted."""
    told = customers(prior=1.0)
    rows = book.customers()
    g = []
    for c in ("no", "yes"):
        mine = [i for i, b in enumerate(rows["buys"]) if b == c]
        total = math.log(len(mine) / 14)
        for name, (state,) in YOUTH.items():
            total += math.log(
                (sum(rows[name][i] == state for i in mine) + 1) / (len(mine) + len(set(rows[name])))
            )
        g.append(total)
    assert told.log_odds(YOUTH, "yes", "no")[0] == near(g[1] - g[0])


# --- G29 to G33: decisions ---


def test_G29_the_action_of_the_smallest_expected_loss() -> None:
    """R(a_i | x) = sum_k loss_ik P(C_k | x)."""
    told = customers()
    p = told.predict_proba(YOUTH)[0]
    found = told.decide(YOUTH, {("yes", "no"): 1.0, ("no", "yes"): 10.0})
    assert found.risk[0] == near([p[1] * 1.0, p[0] * 10.0])
    assert found.decisions.tolist() == ["no"]


def test_G30_with_equal_losses_the_most_probable_class() -> None:
    told = customers()
    p = told.predict_proba(book.customers())
    found = told.decide(book.customers())
    assert found.risk == near(1.0 - p)
    assert found.decisions.tolist() == told.predict(book.customers()).tolist()


def test_G31_rejected_below_one_minus_lambda() -> None:
    told = customers()
    p = told.predict_proba(book.customers())
    for cost in (0.05, 0.2, 0.45):
        found = told.decide(book.customers(), reject=cost)
        assert found.rejected.tolist() == (p.max(axis=1) < 1.0 - cost).tolist()
        assert found.expected_loss == near(np.minimum(1.0 - p.max(axis=1), cost))


def test_G32_discriminants_and_what_they_choose() -> None:
    """-R(a_i | x), P(C_i | x) and p(x | C_i) P(C_i) are largest for the same class."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 2)), rng.integers(3, size=40)
    told = pgm.NaiveBayes().fit(x, y)
    best = told.decision_function(x).argmax(axis=1)
    assert best.tolist() == told.decide(x).risk.argmin(axis=1).tolist() == told.predict(x).tolist()
    assert told.plot(x, y).get_xlabel() == "x0"


def test_G33_a_dichotomizer_chooses_by_its_sign() -> None:
    """g = g_1 - g_2; of more classes each has a discriminant."""
    told = customers()
    g = told.decision_function(book.customers())
    assert g.shape == (14,)
    assert told.predict(book.customers()).tolist() == ["yes" if v > 0 else "no" for v in g.tolist()]


# --- C25, G50, G64, D13: numbers and truths ---


def test_G50_classes_of_one_normal_number() -> None:
    """g_i = -log(2 pi) / 2 - log s_i - (x - m_i)^2 / (2 s_i^2) + log P(C_i)."""
    x = np.array([1.0, 2.0, 4.0, 6.0, 9.0, 8.0, 10.0])
    y = np.array([1, 1, 1, 2, 2, 2, 2])
    told = pgm.NaiveBayes(var_smoothing=0.0).fit(x[:, None], y)
    asked = np.array([3.0, 5.0, 7.0])
    g = []
    for c in (1, 2):
        mine = x[y == c]
        m, s = mine.mean(), mine.std()
        g.append(-0.5 * math.log(2 * math.pi) - math.log(s) - (asked - m) ** 2 / (2 * s**2))
        g[-1] += math.log(len(mine) / 7)
    assert told.log_odds(asked[:, None], 1, 2) == near(g[0] - g[1])


def test_G64_truths_have_linear_discriminants() -> None:
    """g_i = sum_j x_j log p_ij + (1 - x_j) log(1 - p_ij) + log P(C_i)."""
    rng = np.random.default_rng(4)
    x, y = rng.random((50, 3)) < 0.4, rng.integers(2, size=50)
    told = pgm.NaiveBayes("bernoulli", prior=0.0).fit(x, y)
    p = np.array([x[y == c].mean(axis=0) for c in (0, 1)])
    w = np.log(p[1] / p[0]) - np.log((1 - p[1]) / (1 - p[0]))
    w0 = np.log((1 - p[1]) / (1 - p[0])).sum() + math.log((y == 1).sum() / (y == 0).sum())
    assert told.decision_function(x) == near(x @ w + w0)


def test_D13_unknown_means_are_averaged_over() -> None:
    """O6: X_1 = {1, 2}, X_2 = {-1}, mu_i ~ N(0, 4): .5903884130, where sample means say .5170302049."""
    x, y = np.array([[1.0], [2.0], [-1.0]]), [1, 1, 2]
    told = pgm.NaiveBayes(prior={"x0": pgm.priors.Normal(0.0, 2.0, noise=1.0)}).fit(x, y)
    assert told.predict_proba([[0.0]])[0, 0] == near(0.5903884130)
    cpd = told.to_network().cpd("x0")
    assert cpd.bias == near([4 / 3, -0.8])
    assert cpd.sd**2 == near([1 + 0.4444444444, 1.8])
    plug_in = pgm.NaiveBayes(prior={"x0": pgm.priors.Normal(0.0, 1e6, noise=1.0)}, estimate="mean")
    assert plug_in.fit(x, y).predict_proba([[0.0]])[0, 0] == pytest.approx(0.5170302049, abs=1e-9)
