"""Logistic discrimination, beside scikit-learn and differences; its trace, options and refusals."""

import copy
import pickle

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.linear_model import LogisticRegression

import pgm
from pgm.adapters import LogisticDiscriminant
from pgm.adapters.logistic.objectives import Objective
from tests.adapters.estimators import check

RNG = np.random.default_rng(11)
X = RNG.normal(size=(150, 3))
Y2 = np.where(X @ [1.0, -2.0, 0.5] + RNG.logistic(size=150) > 0, "yes", "no")
Y3 = np.digitize(X @ [1.0, 1.0, 0.0] + RNG.logistic(size=150), [-1.0, 1.0])


@pytest.mark.parametrize("options", [{}, {"loss": "squares"}, {"quadratic": True}, {"optimizer": "gradient"}])
def test_the_battery_of_scikit_learn(options, monkeypatch):
    check(LogisticDiscriminant(**options), 62, monkeypatch)


@pytest.mark.parametrize("y", [Y2, Y3], ids=["two", "three"])
@pytest.mark.parametrize("optimizer", ["newton", "bfgs", "cg", "gradient"])
def test_the_optimum_is_scikit_learns(y, optimizer):
    weights = RNG.integers(1, 4, 150)
    wanted = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, y, weights).predict_proba(X)
    found = LogisticDiscriminant(optimizer=optimizer, tol=1e-7, max_iter=20_000).fit(X, y, weights)
    assert found.converged_
    np.testing.assert_allclose(found.predict_proba(X), wanted, atol=1e-4)
    assert found.trace_.errors[-1] <= found.trace_.errors[0]


@pytest.mark.parametrize("squares", [False, True])
@pytest.mark.parametrize("outputs", [1, 3])
def test_derivatives_are_differences(squares, outputs):
    rows = np.column_stack([RNG.normal(size=(20, 2)), np.ones(20)])
    codes = RNG.integers(0, max(2, outputs), 20)
    targets = codes[None, :] if outputs == 1 else np.eye(outputs)[:, codes]
    target = Objective(rows, targets, RNG.uniform(0.5, 2.0, 20), squares)
    for _ in range(3):
        flat, along = RNG.normal(size=(2, outputs * 3))
        np.testing.assert_allclose(target.gradient(flat), approx_fprime(flat, target.value), atol=1e-5)
        step = 1e-6
        bent = (target.gradient(flat + step * along) - target.gradient(flat - step * along)) / (2 * step)
        np.testing.assert_allclose(target.curved(flat, along), bent, atol=1e-6)
        seen = target.look(flat)
        assert (seen.error, seen.misclassified) == (target.value(flat), target.misclassified(flat))


@pytest.mark.parametrize("loss", ["cross-entropy", "squares"])
@pytest.mark.parametrize("y", [Y2, Y3], ids=["two", "three"])
def test_the_rate_by_itself_never_overshoots(loss, y):
    """Whatever the scale of the columns."""
    for scale in (1e-3, 1.0, 1e3):
        told = LogisticDiscriminant(loss=loss, optimizer="gradient", max_iter=60, tol=None).fit(scale * X, y)
        assert (np.diff(told.trace_.errors) <= 1e-12).all()


def test_a_quadric_is_what_products_of_columns_give():
    told = LogisticDiscriminant(quadratic=True, tol=1e-8).fit(X, Y2)
    j, k = np.triu_indices(3)
    wide = np.column_stack([X, X[:, j] * X[:, k]])
    same = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(wide, Y2)
    np.testing.assert_allclose(told.predict_proba(X), same.predict_proba(wide), atol=1e-5)
    assert (told.quadratic_ == told.quadratic_.transpose(0, 2, 1)).all()


def test_patience_keeps_the_fewest_errors_and_looks_at_rows_of_their_own():
    told = LogisticDiscriminant(optimizer="gradient", patience=30, validation=0.3, seed=1).fit(X, Y2)
    assert told.n_iter_ < 1000
    again = LogisticDiscriminant(optimizer="gradient", patience=30, validation=0.3, seed=1).fit(X, Y2)
    assert (told.coef_ == again.coef_).all()
    other = LogisticDiscriminant(optimizer="gradient", patience=30).fit(X, Y2)
    assert other.trace_.misclassified.min() == (other.predict(X) != Y2).sum()


def test_the_trace_stays_short_and_keeps_the_end():
    told = LogisticDiscriminant(optimizer="gradient", max_iter=5000, tol=None).fit(X[:20], Y2[:20])
    trace = told.trace_
    assert len(trace) <= 1026
    assert trace.steps[-1] == 5000
    assert (trace.weights[-1] == np.column_stack([told.coef_, told.intercept_])).all()
    assert trace.errors[-1] == told.loss_
    assert trace.to_pandas().loc[5000, "error"] == told.loss_
    ax = trace.plot()
    np.testing.assert_allclose(ax.lines[0].get_ydata(), trace.errors)
    assert "5,000" in repr(trace)


def test_saturated_rows_overflow_nowhere():
    told = LogisticDiscriminant(optimizer="gradient", rate=1.0, max_iter=5, tol=None).fit(1e4 * X, Y2)
    shares = told.predict_proba(1e6 * X)
    assert np.isfinite(shares).all()
    assert (shares.sum(axis=1) == 1.0).all()


def test_copies_print_and_draw():
    told = LogisticDiscriminant().fit({"u": X[:, 0], "v": X[:, 1]}, Y3)
    for again in (copy.deepcopy(told), pickle.loads(pickle.dumps(told))):
        assert repr(again) == repr(told)
    assert "cross-entropy" in repr(told)
    assert "v" in told._repr_html_()
    ax = told.plot({"u": X[:, 0], "v": X[:, 1]}, Y3, reject=0.4)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("u", "v")


def test_a_search_that_ran_out_says_so():
    with pytest.warns(pgm.ConvergenceWarning, match="3 steps of 'gradient'"):
        told = LogisticDiscriminant(optimizer="gradient", max_iter=3).fit(X, Y2)
    assert not told.converged_
    assert "stopped before" in repr(told)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"loss": "hinge"}, "loss="),
        ({"optimizer": "gradien"}, "Did you mean"),
        ({"quadratic": 3}, "quadratic="),
        ({"rank": 1}, "without quadratic"),
        ({"rank": -1, "quadratic": True}, "rank="),
        ({"rate": 0.1}, "rate="),
        ({"rate": -0.1, "optimizer": "gradient"}, "rate="),
        ({"patience": 3}, "patience="),
        ({"patience": 0, "optimizer": "gradient"}, "patience="),
        ({"validation": 0.2}, "without patience"),
        ({"validation": 1.0}, "validation="),
        ({"validation": 0.99, "patience": 3, "optimizer": "gradient", "seed": 3}, "without rows"),
        ({"init": "ones"}, "init="),
        ({"init": [[1.0, 2.0]]}, "1 by 4"),
        ({"max_iter": 0}, "max_iter="),
        ({"tol": 0.0}, "tol="),
        ({"bound": -1.0, "optimizer": "annealing"}, "bound="),
        ({"loss": "squares", "optimizer": "gradient", "rate": 1e308}, "beyond all bounds"),
    ],
)
def test_options_that_are_none_are_refused(options, said):
    told = LogisticDiscriminant(**options)
    with pytest.raises(pgm.InvalidArgument, match=said):
        told.fit(X, Y2)
    with pytest.raises(pgm.IncompleteModel):
        told.predict(X)


def test_products_are_planned_before_they_are_made():
    with pgm.config(memory_limit="1 MB"), pytest.raises(pgm.TooLarge, match="products"):
        LogisticDiscriminant(quadratic=True).fit(np.zeros((1000, 20)), np.arange(1000) % 2)


def test_time_is_limited():
    with pgm.config(time_limit=0.05), pytest.raises(pgm.OutOfTime):
        LogisticDiscriminant(optimizer="gradient", max_iter=10**7, tol=None).fit(X, Y2)
