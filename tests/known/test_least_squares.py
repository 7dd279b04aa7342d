"""Worked numbers of the catalogue on least squares for classes: F.md, section 5.6, O12, O16, O17."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import pgm
from pgm.adapters import HoKashyap, LeastSquares, normalised
from tests.known.book import near

X = np.array([[1.0, 2.0], [2.0, 0.0], [3.0, 1.0], [2.0, 3.0]])  # O12
CLASS = [1, 1, 0, 0]
Y = np.array([[1, 1, 2], [1, 2, 0], [-1, -3, -1], [-1, -2, -3]], float)
BEST = [11 / 3, -4 / 3, -2 / 3]
XOR = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])


def weights(found: Any) -> list[float]:
    return [float(found.intercept_[0]), *found.coef_[0].tolist()]


def quietly(estimator: Any, rows: Any, y: Any, **more: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(rows, y, **more)


def test_F77_least_squares():
    """O12: b = 1: a = (11/3, -4/3, -2/3), Y a = 1; the likeliest weights of a linear Gaussian network."""
    found = LeastSquares().fit(X, CLASS)
    assert weights(found) == near(BEST)
    assert Y @ weights(found) == near([1.0] * 4)
    assert found.squares_[0] == pytest.approx(0.0, abs=1e-20)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(9, 2))
    y = (rng.random(9) < 0.5).astype(int)
    normal = normalised(rows, y)
    other = LeastSquares().fit(rows, y)
    assert normal.T @ normal @ weights(other) == pytest.approx(normal.T @ np.ones(9))  # the normal equations
    net = pgm.BayesianNetwork()
    for j in range(3):
        net.add(f"a{j}", pgm.Gaussian(0.0, 1e4))
    for i, row in enumerate(normal.tolist()):
        net.add(f"b{i}", pgm.LinearGaussian({f"a{j}": row[j] for j in range(3)}, sd=0.1))
    a = net.query(["a0", "a1", "a2"], {f"b{i}": 1.0 for i in range(9)})
    assert a.mean == pytest.approx(weights(other), rel=1e-6)


def test_F78_the_pseudoinverse():
    """O12: Y+ Y = I, with its entries. O16: of rank one it is the limit as epsilon falls: (.5, .5)."""
    inverse = np.linalg.pinv(Y)
    expected = [
        [Fraction(5, 4), Fraction(13, 12), Fraction(3, 4), Fraction(7, 12)],
        [Fraction(-1, 2), Fraction(-1, 6), Fraction(-1, 2), Fraction(-1, 6)],
        [0, Fraction(-1, 3), 0, Fraction(-1, 3)],
    ]
    assert inverse == pytest.approx(np.array(expected, float), abs=1e-14)
    assert inverse @ Y == pytest.approx(np.eye(3), abs=1e-14)
    assert Y @ inverse != pytest.approx(np.eye(4), abs=0.1)
    assert weights(LeastSquares().fit(X, CLASS)) == near((inverse @ np.ones(4)).tolist())
    single = LeastSquares().fit([[1.0], [-1.0]], [1, 0])  # rows (1, 1) and (-1, 1), of rank two
    assert single.rank_.tolist() == [2]
    flat = LeastSquares().fit([[1.0], [1.0], [-1.0]], [1, 1, 1 - 1])
    assert flat.rank_.tolist() == [2]
    same = LeastSquares().fit([[-1.0, -1.0], [1.0, 1.0]], [0, 1])  # (1, x, x): the shortest weights
    assert weights(same) == near([0.0, 0.5, 0.5]) or weights(same) == [
        pytest.approx(0.0, abs=1e-12), near(0.5), near(0.5)]  # fmt: skip
    assert same.rank_.tolist() == [2]
    y, b = np.ones((2, 2)), np.ones(2)
    limit = [np.linalg.solve(y.T @ y + e * np.eye(2), y.T @ b) for e in (0.1, 1e-8)]
    assert limit[0] == near([0.4878048780] * 2)
    assert limit[1] == pytest.approx(np.linalg.pinv(y) @ b, rel=1e-7)


FISHER = np.array([[1.0, 2.0], [2.0, 0.0], [0.0, 1.0], [3.0, 1.0], [2.0, 3.0]])  # O16


def test_F79_fishers_direction():
    """O16: a = (205/54, -40/27, -55/54), 10/9 of S_W^-1 (m1 - m2); w0 = -m w."""
    y = [1, 1, 1, 0, 0]
    found = LeastSquares("fisher").fit(FISHER, y)
    assert weights(found) == near([205 / 54, -40 / 27, -55 / 54])
    w = found.coef_[0]
    assert w / np.array([-4 / 3, -11 / 12]) == near([10 / 9] * 2)
    assert found.intercept_[0] == near(-FISHER.mean(axis=0) @ w)
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 3))
    y = (rows[:, 0] + rng.normal(size=50) > 0.4).astype(int)
    own = LeastSquares("fisher").fit(rows, y).coef_[0]
    peer = LinearDiscriminantAnalysis().fit(rows, y).coef_[0]
    assert own / np.linalg.norm(own) == pytest.approx(peer / np.linalg.norm(peer), rel=1e-9)


def test_F80_it_comes_near_to_the_bayes_discriminant():
    """O16: shares 3 : 1 and 1 : 3: g = .5 and -.5 = P(w1 | x) - P(w2 | x); (1 + g) / 2 is a row.

    Weights are rows repeated.
    """
    place = np.repeat([[1.0], [0.0]], 4, axis=0)
    y = [1, 1, 1, 0, 1, 0, 0, 0]
    found = LeastSquares().fit(place, y)
    assert found.decision_function([[1.0], [0.0]]) == near([0.5, -0.5])
    net = pgm.BayesianNetwork()
    net.add("x", [0.5, 0.5], states=[0, 1])
    net.add("w", [[0.5, 0.5]] * 2, states=[0, 1], parents=["x"])
    net.fit({"x": place[:, 0].astype(int).tolist(), "w": y})
    for x in (0, 1):
        assert net.query("w", {"x": x})[1] == near((1 + found.decision_function([[float(x)]])[0]) / 2)
    weighted = LeastSquares().fit(
        [[1.0], [1.0], [0.0], [0.0]], [1, 0, 1, 0], sample_weight=[3.0, 1.0, 1.0, 3.0]
    )
    assert weights(weighted) == near(weights(found))


def test_F81_lms_batch():
    """O12, eta = .01: the first step (0, -.02, -.02), the limit that of least squares.

    With eta / k the gradient vanishes even where Y'Y is singular.
    """
    found = quietly(LeastSquares(solver="batch", rate=0.01, tol=1e-12, max_iter=20000), X, CLASS)
    one = quietly(LeastSquares(solver="batch", rate=0.01, max_iter=1), X, CLASS)
    assert weights(one) == pytest.approx([0.0, -0.02, -0.02], abs=1e-15)
    assert weights(found) == near(BEST, 8)
    assert found.converged_
    auto = quietly(LeastSquares(solver="batch", tol=1e-10, max_iter=100000), X, CLASS)
    assert weights(auto) == near(BEST, 7)
    rows, of = [[1.0, 1.0], [-1.0, -1.0], [0.5, 0.5]], [1, 0, 0]  # (1, x, x): Y'Y is singular
    normal = normalised(rows, of)

    def slope(passes: int) -> float:
        options: dict[str, Any] = {"rate": 0.5, "schedule": "inverse", "tol": 0.0, "max_iter": passes}
        found = quietly(LeastSquares(solver="batch", **options), rows, of)
        assert found.rank_.tolist() == [2]
        return float(np.linalg.norm(normal.T @ (normal @ weights(found) - 1.0)))

    falling = [slope(n) for n in (10, 100, 1000, 10000)]
    assert falling == sorted(falling, reverse=True)
    assert falling[-1] < 1e-3 < falling[0]
    with pytest.raises(pgm.InvalidArgument, match="diverge"):
        quietly(LeastSquares(solver="batch", rate=1.0, max_iter=5000), X, CLASS)


def test_F82_widrow_and_hoff():
    """O12, eta = .1 / k: (.1, .1, .2), (.135, .17, .2). Of the first row it is a Kalman filter's update."""
    found = quietly(LeastSquares(solver="sequential", rate=0.1, schedule="inverse", max_iter=1), X, CLASS)
    path = found.traces_[1].weights
    assert path[1] == near([0.1, 0.1, 0.2])
    assert path[2] == near([0.135, 0.17, 0.2])
    a = np.zeros(3)
    for k, row in enumerate(Y):
        a = a + 0.1 / (k + 1) * (1.0 - row @ a) * row
    assert path[4] == near(a.tolist())
    long = quietly(LeastSquares(solver="sequential", rate=0.05, max_iter=20000, tol=1e-10), X, CLASS)
    assert weights(long) == near(BEST, 7)  # consistent rows: a constant rate has the same limit
    assert long.converged_
    # in a network, from a prior N(0, 1) and noise of variance 4: a' = y / (|y|^2 + 4)
    net = pgm.BayesianNetwork()
    for j in range(3):
        net.add(f"a{j}", pgm.Gaussian(0.0, 1.0))
    net.add("b", pgm.LinearGaussian({f"a{j}": Y[0, j] for j in range(3)}, sd=2.0))
    updated = net.query(["a0", "a1", "a2"], {"b": 1.0}).mean
    assert updated == near((0.1 * Y[0]).tolist())  # 1 / (6 + 4): Widrow and Hoff's step with that rate


def test_F83_least_squares_need_not_separate():
    """O16: w1 at 1, 2, 30, w2 at 0, -1, -2: the threshold is 5, and 1 and 2 are wrong."""
    rows, y = np.array([[1.0], [2.0], [30.0], [0.0], [-1.0], [-2.0]]), [1, 1, 1, 0, 0, 0]
    found = LeastSquares().fit(rows, y)
    assert weights(found) == near([-9 / 38, 9 / 190])
    assert -found.intercept_[0] / found.coef_[0, 0] == near(5.0)
    assert rows[found.predict(rows) != y].tolist() == [[1.0], [2.0]]
    assert pgm.adapters.separability(rows, y).separable
    assert HoKashyap(max_iter=10000).fit(rows, y).score(rows, y) == 1.0


def test_F84_ho_and_kashyap():
    """O17: with b = 1 it stops at once; with (1, 2, 1, .5) in 6 steps; XOR: e = -1, so nothing does."""
    found = HoKashyap().fit(X, CLASS)
    assert (found.n_iter_, found.separable_.tolist()) == (0, [True])
    assert weights(found) == near(BEST)
    found = HoKashyap(increment=0.9, targets=[1.0, 2.0, 1.0, 0.5], tol=1e-6).fit(X, CLASS)
    assert found.n_iter_ == 6
    assert weights(found) == near([5.83333, -1.91667, -1.08333], 6)
    assert found.targets_[0] == near([1.75, 2.0, 1.0, 1.25], 6)
    assert Y @ weights(found) == pytest.approx(found.targets_[0], abs=1e-6)
    xor = HoKashyap().fit(XOR, CLASS)
    assert xor.separable_.tolist() == [False]
    assert weights(xor) == pytest.approx([0.0] * 3, abs=1e-15)


@pytest.mark.parametrize("method", ["pseudoinverse", "gradient"])
@pytest.mark.parametrize("seed", range(6))
def test_F84_what_it_claims_is_true(method, seed):
    """Beside the linear program; the errors of a least squares fit sum to nothing against any column."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(12, 2))
    y = (rows @ [1.0, 1.0] + (0.0 if seed % 2 else 0.8) * rng.normal(size=12) > 0.0).astype(int)
    found = quietly(HoKashyap(method, max_iter=20000), rows, y)
    truth = pgm.adapters.separability(rows, y).separable
    assert found.separable_.tolist() in ([truth], [None])
    if method == "pseudoinverse":
        assert found.separable_.tolist() == [truth]
    assert (found.targets_ > 0.0).all()


def test_F85_ho_and_kashyap_modified():
    """a <- a + eta Y+ |e+| from a = Y+ b, b <- b + 2 eta e+; by hand."""
    eta, b = 0.4, np.array([1.0, 2.0, 1.0, 0.5])
    inverse = np.linalg.pinv(Y)
    a = inverse @ b
    steps = [a]
    for _ in range(3):
        up = np.maximum(Y @ a - b, 0.0)
        if up.max() <= 1e-9:
            break
        b = b + 2 * eta * up
        a = a + eta * inverse @ np.abs(up)
        steps.append(a)
    assert len(steps) > 2
    found = quietly(
        HoKashyap("gradient", increment=eta, targets=[1.0, 2.0, 1.0, 0.5], tol=1e-9, max_iter=3), X, CLASS
    )
    assert found.traces_[1].weights == pytest.approx(np.array(steps), rel=1e-12)
    assert found.separable_.tolist() == [True]
