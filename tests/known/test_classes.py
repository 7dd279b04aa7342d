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


# --- C25, C26, F6, F144, G58 to G63, G127: normal classes ---


def test_C25_numbers_that_are_given() -> None:
    """O18: P(C | x) = (.286451316, .713548684); without x_1 (.5218156227, .4781843773)."""
    net = pgm.BayesianNetwork("naive Bayes")
    net.add("C", [0.6, 0.4], states=[1, 2])
    net.add("x1", {1: pgm.Gaussian(0, 1), 2: pgm.Gaussian(2, 1)}, parents=["C"])
    net.add("x2", {1: pgm.Gaussian(0, 1), 2: pgm.Gaussian(1, 0.5)}, parents=["C"])
    told = pgm.NetworkClassifier.of(net, "C")
    found = told.predict_proba({"x1": [1.5, None], "x2": [0.5, 0.5]})
    assert found == near(np.array([[0.286451316, 0.713548684], [0.5218156227, 0.4781843773]]), 9)
    truths = pgm.BayesianNetwork("truths")
    truths.add("c", 0.4)
    for i, (one, zero) in enumerate([(0.9, 0.2), (0.6, 0.3), (0.1, 0.5)], start=1):
        truths.add(f"x{i}", {True: one, False: zero}, parents=["c"])
    told = pgm.NetworkClassifier.of(truths, "c")
    rows = {"x1": [1, 1], "x2": [1, None], "x3": [0, 0]}
    assert told.predict_proba(rows)[:, 1] == near([54 / 59, 0.84375])


def test_C26_columns_are_independent_within_a_class_only() -> None:
    """What x_2 tells of x_1 goes through the class: p(x_1 | x_2) = sum_i p(x_1 | C_i) P(C_i | x_2)."""
    rng = np.random.default_rng(3)
    y = rng.integers(2, size=200)
    x = rng.normal(size=(200, 2)) + 2.0 * y[:, None]
    told = pgm.NaiveBayes().fit(x, y)
    net = told.to_network()
    within = net.query("x0", {"class": 1, "x1": 0.5})
    assert within.pdf(1.5) == near(net.query("x0", {"class": 1}).pdf(1.5))
    shares = told.predict_proba([[np.nan, 0.5]])[0]
    parts = [net.query("x0", {"class": c}).pdf(1.5) for c in (0, 1)]
    assert net.query("x0", {"x1": 0.5}).pdf(1.5) == near(float(shares @ parts), 8)


NORMAL = [(0.0, 0.0), (2.0, 1.0), (1.0, 3.0)]


def normal_rows(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], 30)
    return rng.normal(size=(90, 2)) @ [[1.0, 0.4], [0.0, 0.8]] + np.array(NORMAL)[y], y


def test_F6_G58_discriminants_of_normal_classes() -> None:
    """g_i = log p(x | C_i) + log P(C_i); O3: N(0, 1) and N(2, 1) with P = .9 tie at 2.0986122887."""
    x = np.array([-1.0, 1.0, 1.0, 3.0])[:, None]  # means 0 and 2, variances 1
    for p, boundary in ((0.5, 1.0), (0.9, 2.0986122887)):
        told = pgm.DiscriminantAnalysis(class_prior=[p, 1 - p]).fit(x, [1, 1, 2, 2])
        assert told.means_.ravel().tolist() == [0.0, 2.0]
        assert told.covariances_.ravel().tolist() == [1.0, 1.0]
        assert told.decision_function([[boundary]])[0] == pytest.approx(0.0, abs=1e-9)
    half = pgm.DiscriminantAnalysis(class_prior="uniform").fit(x, [1, 1, 2, 2])
    assert half.predict_proba([[1.5]])[0, 0] == near(0.2689414214)
    told = pgm.DiscriminantAnalysis(class_prior=[0.9, 0.1]).fit(x, [1, 1, 2, 2])
    assert told.predict_proba([[1.5]])[0, 0] == near(0.7680306833)


def test_G59_quadratic_discriminants() -> None:
    """W_i = -S_i^-1 / 2, w_i = S_i^-1 m_i, w_i0 = -(m_i S_i^-1 m_i + log |S_i|) / 2 + log P(C_i)."""
    x, y = normal_rows()
    told = pgm.DiscriminantAnalysis(shared=False).fit(x, y)
    for c in range(3):
        mine = x[y == c]
        m, inverse = mine.mean(axis=0), np.linalg.inv(np.cov(mine.T, bias=True))
        found = told.discriminants_[c]
        assert found.quadratic == near(-inverse / 2, 9)
        assert found.linear == near(inverse @ m, 9)
        assert found.constant == near(
            -0.5 * (m @ inverse @ m - math.log(np.linalg.det(inverse))) + math.log(1 / 3), 9
        )


@pytest.mark.parametrize(
    ("row", "form", "shared", "parameters"),
    [
        ("G60", "spherical", True, 1),
        ("G61", "diagonal", True, 2),
        ("G62", "full", True, 3),
        ("G63", "full", False, 9),
    ],
)
def test_G60_G61_G62_G63_how_many_numbers_covariances_have(
    row: str, form: str, shared: bool, parameters: int
) -> None:
    x, y = normal_rows()
    told = pgm.DiscriminantAnalysis(form, shared=shared).fit(x, y)
    assert told.n_parameters - 3 * 2 - 2 == parameters
    linear = all(not d.quadratic.any() for d in told.discriminants_.values())
    assert linear == shared
    if form == "spherical":  # with equal P(C) the nearest mean is chosen
        even = pgm.DiscriminantAnalysis(form, shared=True, class_prior="uniform").fit(x, y)
        far = ((x[:, None] - even.means_) ** 2).sum(axis=2)
        assert even.predict(x).tolist() == far.argmin(axis=1).tolist()


def test_F144_classes_that_are_mixtures() -> None:
    """A class around another: no line and no quadratic is its boundary, a mixture's is."""
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(m, 0.5, (50, 2)) for m in ([0, 0], [6, 0], [3, 0], [9, 0])])
    y = np.repeat([0, 0, 1, 1], 50)
    told = pgm.MixtureClassifier(2).fit(x, y)
    assert told.score(x, y) > 0.98 > 0.8 > pgm.DiscriminantAnalysis().fit(x, y).score(x, y)
    p = [0.0, 0.0]
    for c in (0, 1):
        for w, m, s in zip(told.weights_[c], told.means_[c], told.covariances_[c], strict=True):
            p[c] += float(w * math.exp(pgm.Gaussian(m, covariance=s).log_density([[3.0, 0.2]]).item()))
    assert told.predict_proba([[3.0, 0.2]])[0, 1] == near(p[1] / sum(p), 8)


def test_G127_by_likelihoods_or_by_the_discriminant_itself() -> None:
    """Of classes with one covariance P(C | x) is logistic in x: the likelihood need not be known."""
    x, y = normal_rows(4)
    two = y < 2
    told = pgm.DiscriminantAnalysis().fit(x[two], y[two])
    one, other = told.discriminants_[1], told.discriminants_[0]
    net = pgm.BayesianNetwork("discriminant")
    net.add("x0", pgm.Gaussian(0.0, 1.0))
    net.add("x1", pgm.Gaussian(0.0, 1.0))
    w = one.linear - other.linear
    net.add("C", pgm.Logistic({"x0": float(w[0]), "x1": float(w[1])}, bias=one.constant - other.constant))
    direct = 1.0 / (1.0 + np.exp(-(x @ w + one.constant - other.constant)))
    assert told.predict_proba(x)[:, 1] == near(direct, 8)
    assert net.query("C", {"x0": float(x[0, 0]), "x1": float(x[0, 1])})[True] == near(float(direct[0]), 8)
