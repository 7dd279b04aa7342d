"""Worked numbers of the catalogue on learning to rank: A.md, rows A135 to A139 and A144; O28."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import LinearSVC

import pgm
from pgm.adapters import LinearRanker, click_pairs


def films() -> tuple[np.ndarray, np.ndarray]:
    """Rows that a line orders with room to spare."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(15, 2))
    X = X[np.argsort(-(X @ [2.0, 1.0]))]
    return X, np.arange(1, 16)


def test_A135_the_best_and_the_best_few_have_the_highest_scores():
    X, ranks = films()
    told = LinearRanker(max_iter=5000, rate=1.0).fit(X, ranks)
    assert told.rank(X).tolist() == ranks.tolist()
    assert told.top(X)[0] == told.predict(X).argmax() == 0
    assert told.top(X, 4).tolist() == [0, 1, 2, 3]
    # The score is a number like any other: a node of a network follows the columns by it.
    net = pgm.BayesianNetwork()
    for name in ("u", "v"):
        net.add(name, pgm.Gaussian(0.0, sd=1.0))
    net.add("score", pgm.EstimatorCPD(told, parents=["u", "v"], sd=0.5))
    assert net.query("score", {"u": 0.3, "v": -1.0}).mean == pytest.approx(
        told.predict([[0.3, -1.0]])[0], abs=1e-12
    )


def test_A136_O28_one_step_of_the_online_update():
    """w = (-1, 0), (2, 1) above (1, 0), rate .5: scores -2, -1, error 1; then w = (-.5, .5), -.5, -.5, 0."""
    X = np.array([[2.0, 1.0], [1.0, 0.0]])
    start = {"margin": 0, "rate": 0.5, "init": [-1.0, 0.0]}
    w = np.array([-1.0, 0.0])
    assert (X @ w).tolist() == [-2.0, -1.0]
    told = LinearRanker(**start, max_iter=1).fit(X, [1, 2])
    assert told.coef_.tolist() == [-0.5, 0.5]
    assert told.predict(X).tolist() == [-0.5, -0.5]
    assert told.loss_ == 0.0
    # A tie has no error: the second pass has no step, and a line that is right stays as it is.
    assert LinearRanker(**start).fit(X, [1, 2]).n_iter_ == 2
    right = LinearRanker(margin=0, rate=0.5, init=[1.0, 0.0]).fit(X, [1, 2])
    assert (right.coef_.tolist(), right.converged_) == ([1.0, 0.0], True)
    # The sign of (10.48) as printed would make it worse.
    assert (X[1] - X[0]) @ told.coef_ <= 0.0


def test_A136_a_partial_order_is_enough():
    X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [5.0, 0.0]])
    told = LinearRanker(max_iter=1000).fit_pairs(X, [(0, 1), (2, 0)])  # nothing is said of the last row
    g = told.predict(X)
    assert g[2] > g[0] > g[1]
    assert told.n_pairs_ == 2


def test_A137_a_margin_is_kept_and_a_support_vector_machine_orders_the_same():
    X, ranks = films()
    told = LinearRanker(margin=1.0, max_iter=5000, rate=1.0).fit(X, ranks)
    assert told.converged_
    ahead = -np.diff(told.predict(X))  # of each row to the next
    assert ahead.min() >= 1.0 - 1e-9
    i, j = np.triu_indices(15, 1)
    off = X[i] - X[j]
    machine = LinearSVC(C=1e6, loss="hinge", fit_intercept=False, max_iter=200_000).fit(
        np.vstack([off, -off]), np.repeat([1, 0], len(off))
    )
    assert ((off @ machine.coef_[0]) > 0.0).all()
    assert (off @ told.coef_ > 0.0).all()


def test_A138_candidates_of_another_model_are_put_in_a_new_order():
    """The first model's score is one column; another one says more."""
    rng = np.random.default_rng(4)
    n = 60
    lists = np.repeat(np.arange(n), 5)
    truth = rng.normal(size=5 * n)
    base = truth + 1.5 * rng.normal(size=5 * n)  # what the first model says
    extra = truth + 0.3 * rng.normal(size=5 * n)
    X = np.column_stack([base, extra])
    ranks = np.concatenate([np.argsort(np.argsort(-truth[lists == i])) + 1 for i in range(n)])
    learn, ask = lists < 40, lists >= 40
    told = LinearRanker(max_iter=100).fit(X[learn], ranks[learn], lists[learn])
    best = told.rerank(X[ask], lists[ask])
    assert list(best) == list(range(40, 60))
    first = np.array([rows[0] for rows in best.values()])
    by_base = np.arange(0, 100, 5) + base[ask].reshape(20, 5).argmax(axis=1)
    assert (ranks[ask][first] == 1).mean() > (ranks[ask][by_base] == 1).mean() + 0.2
    for i, rows in best.items():
        assert sorted(rows.tolist()) == np.flatnonzero(lists[ask] == i).tolist()
        assert (np.diff(told.predict(X[ask])[rows]) <= 0.0).all()


def test_A139_O28_clicks_are_pairs():
    """A click on the third says that it is better than the two above, and nothing of what is below."""
    assert click_pairs([1, 2, 3, 4, 5], 3) == [(3, 1), (3, 2)]
    X = np.array([[0.0, 1.0], [1.0, 1.0], [3.0, 0.0]])
    told = LinearRanker().fit_pairs(X, click_pairs([0, 1, 2], 2))
    assert told.top(X)[0] == 2


def test_A144_O28_ranks_that_no_line_has_and_a_quadric_does():
    """x = 1, 2, 3 with ranks 2, 1, 3: w > 0 and w < 0 at once; with x and x**2, w = (3.8, -1) has them."""
    X, ranks = np.array([[1.0], [2.0], [3.0]]), [2, 1, 3]
    off = [1.0, -1.0, -2.0]  # better minus worse: 2 - 1, 2 - 3, 1 - 3
    assert linprog([0.0], A_ub=-np.array(off)[:, None], b_ub=-np.ones(3), bounds=[(None, None)]).status == 2
    line = LinearRanker(max_iter=500).fit(X, ranks)
    assert not line.converged_
    assert line.score(X, ranks) < 1.0

    wide = np.column_stack([X, X**2])
    given = LinearRanker(margin=0, init=[3.8, -1.0]).fit(wide, ranks)
    assert given.predict(wide) == pytest.approx([2.8, 3.6, 2.4])
    assert (given.n_iter_, given.rank(wide).tolist()) == (1, ranks)

    told = make_pipeline(PolynomialFeatures(2, include_bias=False), LinearRanker(max_iter=5000)).fit(X, ranks)
    assert np.argsort(-told.predict(X)).tolist() == [1, 0, 2]
    assert told.score(X, ranks) == 1.0
