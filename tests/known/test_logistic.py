"""Worked numbers of the catalogue on logistic discrimination: A.md, A120 to A134, A140, A141; O25 to O27."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler

import pgm
from pgm.adapters import LogisticDiscriminant
from tests.known.book import near

FOUR = np.array([[1.0], [2.0], [3.0], [4.0]])
PARTED, MIXED = [0, 0, 1, 1], [0, 1, 0, 1]


def stepped(steps: int, **options: object) -> LogisticDiscriminant:
    """This many steps of gradient descent from zero, at the rate of the book."""
    return LogisticDiscriminant(
        **{"optimizer": "gradient", "rate": 0.1, "max_iter": steps, "tol": None, **options}
    )


def node(told: object, column: str = "x") -> pgm.BayesianNetwork:
    """The classifier as a node below one number."""
    net = pgm.BayesianNetwork()
    net.add(column, pgm.Gaussian(0.0, sd=1.0))
    net.add("r", pgm.EstimatorCPD(told, parents=[column]))
    return net


# --- A120 to A124, A126: two classes, step by step and by other ways down ---


@pytest.mark.parametrize(
    ("steps", "w", "w0", "error"),
    [
        (1, 0.2, 0.0, 2.5197427382),
        (2, 0.2555923839, -0.0484152445, 2.4706214178),
        (10, 0.4287643438, -0.4972992566, 2.1825880523),
        (100, 1.5272994560, -3.4643421098, 0.9953476977),
        (1000, 4.2224560734, -10.3545022049, 0.2361440944),
    ],
)
def test_A123_O25_gradient_descent_step_by_step(steps, w, w0, error):
    told = stepped(steps).fit(FOUR, PARTED)
    assert (told.coef_[0, 0], told.intercept_[0]) == near((w, w0), 9)
    assert told.loss_ == near(error, 9)
    assert told.trace_.errors[0] == near(2.7725887222)
    # The same through the bridge: a node below a number.
    p = node(told).query("r", {"x": 2.5})[1]
    assert p == pytest.approx(1.0 / (1.0 + np.exp(-(told.coef_[0, 0] * 2.5 + told.intercept_[0]))), abs=1e-12)


def test_A120_O25_down_the_gradient_and_each_step_by_itself():
    w = [stepped(n).fit([[-2.0], [-1.0], [1.0], [2.0]], PARTED).coef_[0, 0] for n in (1, 10, 100, 1000)]
    assert w == near([0.3, 1.3943457030, 3.1750666386, 5.3293259332], 9)
    trace = stepped(1000).fit(FOUR, PARTED).trace_
    assert (np.diff(trace.errors) < 0.0).all()
    slopes = np.diff(trace.weights[:, 0], axis=0) / -0.1
    step = 1e-6  # each step is the derivative of the error where it begins

    def error(w: float, w0: float) -> float:
        signs = np.array([1.0, 1.0, -1.0, -1.0])
        return float(np.logaddexp(0.0, signs * (w * FOUR[:, 0] + w0)).sum())

    for i in (0, 1, 57):
        w, w0 = trace.weights[i, 0]
        there = [(error(w + step, w0) - error(w - step, w0)) / (2 * step)]
        there.append((error(w, w0 + step) - error(w, w0 - step)) / (2 * step))
        np.testing.assert_allclose(slopes[i], there, atol=1e-8)


OPTIMUM = (0.9081842626, -2.2704606564)


@pytest.mark.parametrize("optimizer", ["gradient", "newton", "bfgs", "cg"])
def test_A121_O25_second_order_and_conjugate_gradients(optimizer):
    told = LogisticDiscriminant(optimizer=optimizer, tol=1e-9, max_iter=20_000).fit(FOUR, MIXED)
    assert told.converged_
    assert (told.coef_[0, 0], told.intercept_[0]) == pytest.approx(OPTIMUM, abs=1e-5)
    assert told.loss_ == near(2.3474865351)
    if optimizer != "gradient":
        assert told.n_iter_ < 30  # the gradient takes more than a thousand


@pytest.mark.parametrize("optimizer", ["annealing", "genetic"])
def test_A122_O25_searches_by_chance_from_anywhere(optimizer):
    told = LogisticDiscriminant(optimizer=optimizer, seed=0, max_iter=300, init=[[15.0, 15.0]]).fit(
        FOUR, MIXED
    )
    assert told.loss_ == near(2.3474865351, 8)
    assert told.predict_proba(FOUR)[:, 1] == pytest.approx(
        [0.2038706, 0.3883883, 0.6116117, 0.7961294], abs=1e-4
    )


def test_A123_O25_scikit_learn_finds_the_same_and_is_a_node_too():
    told = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000).fit(FOUR, MIXED)
    net = node(told)
    ours = node(LogisticDiscriminant(tol=1e-10).fit(FOUR, MIXED))
    native = pgm.BayesianNetwork()
    native.add("x", pgm.Gaussian(0.0, sd=1.0))
    native.add("r", pgm.Logistic({"x": OPTIMUM[0]}, bias=OPTIMUM[1]), states=[0, 1])
    for x in (-1.0, 1.0, 2.5, 4.0):
        wanted = native.query("r", {"x": x})[1]
        assert net.query("r", {"x": x})[1] == pytest.approx(wanted, abs=1e-6)
        assert ours.query("r", {"x": x})[1] == pytest.approx(wanted, abs=1e-7)
    hidden = [net.query("r", engine="quadrature").values for net in (ours, native)]
    assert hidden[0] == pytest.approx(hidden[1], abs=1e-6)


def test_A126_O25_early_stopping():
    """2 rows are misclassified after step 1, one after 9, none first after 41; then the error falls on."""
    trace = stepped(200).fit(FOUR, PARTED).trace_
    assert trace.misclassified[[1, 8, 9, 40, 41]].tolist() == [2, 2, 1, 1, 0]
    assert (np.diff(trace.errors[41:]) < 0.0).all()
    told = stepped(1000, patience=50).fit(FOUR, PARTED)
    assert told.n_iter_ == 41
    assert (told.coef_ == stepped(41).fit(FOUR, PARTED).coef_).all()
    assert (np.abs(told.coef_) < np.abs(stepped(1000).fit(FOUR, PARTED).coef_)).all()  # regularises
    # Without patience to wait for step 41 the fewest so far are kept: those of step 9.
    early = stepped(1000, patience=20).fit(FOUR, PARTED)
    assert (early.n_iter_, (early.coef_ == stepped(9).fit(FOUR, PARTED).coef_).all()) == (29, True)


# --- A130, A131: three classes, quadrics ---


def test_A130_O26_softmax_step_by_step():
    told = stepped(1).fit([[0.0], [1.0], [2.0]], [1, 2, 3])
    assert told.trace_.errors == near([3.2958368660, 3.1124565695])
    assert told.coef_[:, 0] == pytest.approx([-0.1, 0.0, 0.1], abs=1e-15)
    assert told.intercept_ == pytest.approx(np.zeros(3), abs=1e-15)
    assert told.predict_proba([[2.0]])[0] == near([0.2693074992, 0.3289329223, 0.4017595783])


def test_A130_on_normal_classes_the_error_is_that_of_the_parametric_discriminant():
    rng = np.random.default_rng(3)
    means = np.array([[0.0, 0.0], [2.5, 0.0], [0.0, 2.5]])
    y, other = rng.integers(0, 3, 3000), rng.integers(0, 3, 20_000)
    X, rows = means[y] + rng.normal(size=(3000, 2)), means[other] + rng.normal(size=(20_000, 2))
    ours = LogisticDiscriminant().fit(X, y)
    parametric = LinearDiscriminantAnalysis().fit(X, y)
    assert abs(ours.score(rows, other) - parametric.score(rows, other)) < 0.01
    assert (np.abs(ours.coef_[1] - ours.coef_[0] - [2.5, 0.0]) < 0.35).all()


def test_A131_O26_the_first_step_of_a_quadric():
    """Ex 10.5: x = (1, 2), (0, 1), (2, -1), r = 1, 0, 1, y = .5 give W = [[.25, 0], [0, .2]]."""
    told = stepped(1, quadratic=True).fit([[1.0, 2.0], [0.0, 1.0], [2.0, -1.0]], [1, 0, 1])
    assert told.quadratic_[0] == pytest.approx(np.array([[0.25, 0.0], [0.0, 0.2]]), abs=1e-15)


def test_A131_O23_two_normal_classes_have_a_quadratic_log_odds():
    rng = np.random.default_rng(5)
    n = 100_000
    y = rng.integers(1, 3, n)
    sd = np.where((y == 1)[:, None], np.sqrt([1.0, 2.0]), np.sqrt([2.0, 1.0]))
    X = np.where((y == 1)[:, None], [1.0, 0.0], [0.0, 1.0]) + sd * rng.normal(size=(n, 2))
    told = LogisticDiscriminant(quadratic=True).fit(X, y)
    # log P(2 | x) / P(1 | x) is minus the log odds of the book
    assert told.quadratic_[0] == pytest.approx(np.diag([0.25, -0.25]), abs=0.02)
    assert told.coef_[0] == pytest.approx([-1.0, 1.0], abs=0.03)
    assert told.decision_function([[0.5, 1.5]])[0] == pytest.approx(0.5, abs=0.03)
    cut = LogisticDiscriminant(quadratic=True, rank=1).fit(X[:5000], y[:5000])
    values = np.linalg.eigvalsh(cut.quadratic_[0])
    assert np.sort(np.abs(values))[0] == pytest.approx(0.0, abs=1e-12)
    whole = LogisticDiscriminant(quadratic=True).fit(X[:5000], y[:5000])
    largest = np.abs(np.linalg.eigvalsh(whole.quadratic_[0])).max()
    assert np.abs(values).max() == pytest.approx(largest, rel=1e-6)


def test_A131_polynomial_features_of_scikit_learn_are_the_same_through_the_bridge():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(300, 1))
    y = (np.abs(X[:, 0] - 0.2) + 0.3 * rng.logistic(size=300) > 0.8).astype(int)
    told = make_pipeline(
        PolynomialFeatures(2, include_bias=False), LogisticRegression(C=np.inf, tol=1e-10, max_iter=5000)
    ).fit(X, y)
    ours = LogisticDiscriminant(quadratic=True, tol=1e-9).fit(X, y)
    for x in (-1.0, 0.3, 2.0):
        assert node(told).query("r", {"x": x})[1] == pytest.approx(
            node(ours).query("r", {"x": x})[1], abs=1e-5
        )


# --- A132: basis functions ---


def test_A132_basis_functions_before_a_line():
    """Two bumps make two intervals of one class of what no line parts."""
    centres = np.array([-2.0, 2.0])

    def bumps(rows: np.ndarray) -> np.ndarray:
        return norm.pdf(np.asarray(rows), centres, 0.7)

    X = np.linspace(-5.0, 5.0, 201)[:, None]
    y = (np.abs(np.abs(X[:, 0]) - 2.0) < 1.0).astype(int)
    told = make_pipeline(FunctionTransformer(bumps), LogisticDiscriminant(max_iter=50)).fit(X, y)
    assert told.score(X, y) == 1.0
    assert LogisticDiscriminant().fit(X, y).score(X, y) < 0.7
    net = node(told)
    assert [net.query("r", {"x": x})[1] > 0.5 for x in (-4.0, -2.0, 0.0, 2.0, 4.0)] == [
        False,
        True,
        False,
        True,
        False,
    ]


# --- A133, A134: by regression ---


def test_A133_O27_squares_step_by_step():
    told = stepped(2, loss="squares").fit(FOUR, PARTED)
    assert told.trace_.errors == near([0.5, 0.4774386533, 0.4628714420])
    assert told.trace_.weights[1, 0] == pytest.approx([0.05, 0.0], abs=1e-15)
    assert (told.coef_[0, 0], told.intercept_[0]) == near((0.0900798861, -0.0032543509), 8)


def test_A134_O27_outputs_by_themselves():
    """Three copies of the two-class problem: each output is the sigmoid of its own regression."""
    X, y = FOUR, ["a", "a", "b", "c"]
    told = stepped(50, loss="squares").fit(X, y)
    for j, name in enumerate("abc"):
        alone = stepped(50, loss="squares").fit(X, [one == name for one in y])
        assert told.coef_[j] == pytest.approx(alone.coef_[0], abs=1e-14)
        np.testing.assert_allclose(told.outputs(X)[:, j], alone.outputs(X)[:, 0], atol=1e-14)
    outputs = told.outputs(X)
    assert not np.allclose(outputs.sum(axis=1), 1.0)
    np.testing.assert_allclose(told.predict_proba(X), outputs / outputs.sum(axis=1, keepdims=True))


def test_A134_classes_that_overlap_are_several_nodes():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(400, 1))
    labels = np.column_stack([X[:, 0] > -0.5, X[:, 0] > 0.5]).astype(int)  # a row may have both, or none
    told = MultiOutputClassifier(LogisticDiscriminant(loss="squares", max_iter=300, tol=1e-3)).fit(X, labels)
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, sd=1.0))
    for name, one in zip("ab", told.estimators_, strict=True):
        net.add(name, pgm.EstimatorCPD(one, parents=["x"]))
    assert [net.query(name, {"x": 0.0})[1] > 0.5 for name in "ab"] == [True, False]
    assert [net.query(name, {"x": 2.0})[1] > 0.5 for name in "ab"] == [True, True]


# --- A140, A141 ---


def test_A140_generalised_linear_models_and_their_links():
    """The canonical link makes the log odds, or the log of the mean, a line, as in statsmodels."""
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(9)
    X = rng.normal(size=(500, 2))
    y = (X @ [1.0, -0.5] + rng.logistic(size=500) > 0.3).astype(int)
    wanted = sm.GLM(y, sm.add_constant(X), family=sm.families.Binomial()).fit(tol=1e-12).params
    told = LogisticDiscriminant(tol=1e-10).fit(X, y)
    assert [*told.intercept_, *told.coef_[0]] == pytest.approx(wanted.tolist(), abs=1e-7)
    p = told.predict_proba(X)
    np.testing.assert_allclose(np.log(p[:, 1] / p[:, 0]), X @ told.coef_[0] + told.intercept_[0], atol=1e-10)

    counts = rng.poisson(np.exp(0.5 + X @ [0.3, -0.2]))
    line = sm.GLM(counts, sm.add_constant(X), family=sm.families.Poisson()).fit().params
    rate = PoissonRegressor(alpha=0.0, tol=1e-10, max_iter=10_000).fit(X, counts)
    net = pgm.BayesianNetwork()
    for name in ("u", "v"):
        net.add(name, pgm.Gaussian(0.0, sd=1.0))
    net.add("n", pgm.EstimatorCPD(rate, parents=["u", "v"], sd=1.0))
    mean = net.query("n", {"u": 0.4, "v": -1.0}).mean
    assert np.log(mean) == pytest.approx(line @ [1.0, 0.4, -1.0], abs=1e-5)


def test_A141_scaling_is_kept_for_the_rows_to_come():
    rng = np.random.default_rng(10)
    X = rng.normal([5.0], [100.0], (300, 1))
    y = (X[:, 0] + 30.0 * rng.logistic(size=300) > 20.0).astype(int)
    told = make_pipeline(
        StandardScaler(), LogisticDiscriminant(optimizer="gradient", rate=0.01, tol=1e-6)
    ).fit(X, y)
    plain = LogisticDiscriminant(tol=1e-9).fit(X, y)  # an optimum does not depend on the scale
    np.testing.assert_allclose(told.predict_proba(X), plain.predict_proba(X), atol=1e-5)
    # One row alone is scaled by what was stored, not by itself.
    assert node(told).query("r", {"x": 77.0})[1] == pytest.approx(
        told.predict_proba([[77.0]])[0, 1], abs=1e-12
    )
    z = (77.0 - X.mean()) / X.std()
    assert told[-1].predict_proba([[z]])[0, 1] == pytest.approx(told.predict_proba([[77.0]])[0, 1], abs=1e-12)
