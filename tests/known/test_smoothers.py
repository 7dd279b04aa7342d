"""Regression by what is near: A.md A27 to A36, A41, A43, A47 to A51 (O9 to O11, O13)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import interpolate, stats
from sklearn.linear_model import HuberRegressor, LinearRegression, RANSACRegressor, TheilSenRegressor
from sklearn.model_selection import GridSearchCV, LeaveOneOut
from sklearn.neighbors import KNeighborsRegressor, RadiusNeighborsRegressor

import pgm
from pgm.adapters import (
    AdditiveSmoother,
    CondensedSmoother,
    LocalSmoother,
    Regressogram,
    SmoothingSpline,
)
from tests.known.book import near

X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
Y = np.array([1.0, 3.0, 2.0, 5.0, 4.0])
AT = [[1.8]]


def found(model: Any, x: Any = X, y: Any = Y, at: Any = AT) -> list[float]:
    return model.fit(x, y).predict(at).tolist()


def network(model: Any, **options: Any) -> pgm.BayesianNetwork:
    """x, and y that follows it as a fitted regressor says."""
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(2.0, sd=1.0))
    net.add("y", pgm.EstimatorCPD(model.fit(X, Y), parents=["x"], **options))
    return net


def test_A27_A28_A30_A33_A34_A47_A51_in_a_network():
    """Each is a normal distribution around the curve, whose deviation is that of what is near: N(g, s^2)."""
    cases = [
        (Regressogram(width=2.0), 2.0, np.sqrt(2.0)),
        (LocalSmoother(1.5, window="box", degree=0), 10 / 3, 1.5275252),
        (LocalSmoother(1.5, window="gaussian", degree=0), 2.9498185199, None),
        (LocalSmoother(1.5, window="gaussian"), 2.8885105046, None),
        (SmoothingSpline(1.0), 2.9247877237, None),
        (Regressogram(width=2.5, degree=1), 2.4, np.sqrt(1.5)),
    ]
    for model, mean, deviation in cases:
        answer = network(model).query("y", {"x": 1.8})
        assert answer.mean == near(mean, 9)
        assert answer.sd == near(float(model.predict(AT, return_std=True)[1][0]))
        if deviation is not None:
            assert answer.sd == near(deviation, 8)


def test_A28_A41_A48_learned_and_drawn_in_a_network():
    """`net.fit` fits a copy; what is drawn is the curve and its noise; smoothers without noise take an sd."""
    rng = np.random.default_rng(0)
    x = rng.normal(2.0, 1.0, size=300)
    y = np.sin(2.0 * x) + 0.1 * rng.normal(size=300)
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, sd=1.0))
    net.add("y", pgm.EstimatorCPD(LocalSmoother(0.3, window="gaussian"), parents=["x"]))
    net.fit({"x": x, "y": y})
    alone = LocalSmoother(0.3, window="gaussian").fit(x[:, None], y)
    assert net.query("y", {"x": 2.2}).mean == near(alone.predict([[2.2]])[0])
    drawn = net.sample(2000, seed=0)
    off = np.asarray(drawn["y"]) - np.sin(2.0 * np.asarray(drawn["x"]))
    assert abs(off.mean()) < 0.05
    for model in (AdditiveSmoother(), CondensedSmoother(1.5)):
        assert network(model, sd=0.5).query("y", {"x": 1.8}).mean == near(found(model)[0])


def test_A27_regressogram():
    """O9: bins of width 2 from 0 have the means 2, 3.5 and 4."""
    model = Regressogram(width=2.0)
    assert found(model, at=[[0.0], [1.8], [2.0], [3.9], [4.0]]) == near([2.0, 2.0, 3.5, 3.5, 4.0])
    peer = stats.binned_statistic(X[:, 0], Y, bins=[0, 2, 4, 6]).statistic
    assert model.means_.tolist() == near(peer)
    assert found(Regressogram(width=2.0, origin=1.0)) == near([2.5])


def test_A28_running_mean():
    """O9: the window {1, 2, 3} has the mean 10/3, that of h = 2 2.75; a row just h away is out."""
    assert found(LocalSmoother(1.5, window="box", degree=0)) == near([10 / 3])
    assert found(LocalSmoother(2.0, window="box", degree=0)) == near([2.75])
    assert found(LocalSmoother(1.0, window="box", degree=0), at=[[2.0]]) == near([2.0])  # not 10/3
    peer = RadiusNeighborsRegressor(radius=1.5).fit(X, Y)
    places = [[0.2], [1.8], [3.3]]
    assert found(LocalSmoother(1.5, window="box", degree=0), at=places) == near(peer.predict(places))


def test_A29_running_median():
    """O9: 3, and 2.5 of four numbers."""
    assert found(LocalSmoother(1.5, window="box", degree=0, center="median")) == [3.0]
    assert found(LocalSmoother(2.0, window="box", degree=0, center="median")) == [2.5]
    noisy = Y.copy()
    noisy[3] = 500.0
    assert found(LocalSmoother(1.5, window="box", degree=0, center="median"), y=noisy) == [3.0]


def test_A30_kernel_smoother():
    """O9: Gaussian, h = 1.5: 2.9498185199; wide: 3; narrow: 2; the mean of R in T -> X, T -> R."""
    assert found(LocalSmoother(1.5, window="gaussian", degree=0)) == near([2.9498185199])
    assert found(LocalSmoother(1e7, window="gaussian", degree=0)) == near([3.0])
    assert found(LocalSmoother(1e-3, window="gaussian", degree=0)) == near([2.0])
    net = pgm.BayesianNetwork()
    net.add("T", [0.2] * 5, states=list(range(5)))
    net.add("X", {t: pgm.Gaussian(float(X[t, 0]), 1.5) for t in range(5)}, parents=["T"])
    net.add("R", {t: pgm.Gaussian(float(Y[t]), 1.0) for t in range(5)}, parents=["T"])
    assert net.query("R", {"X": 1.8}).mean == near(2.9498185199)
    weights = [0.14263433, 0.2541849, 0.2904395, 0.21278541, 0.09995586]
    assert list(net.query("T", {"X": 1.8}).values) == near(weights, 7)


def test_A31_nearest_neighbours():
    """O9: k = 3: 10/3, scikit-learn's; with Gaussian weights of h = d_3 = 1.2: 2.9186818544."""
    assert found(LocalSmoother(neighbours=3, window="box", degree=0)) == near([10 / 3])
    answer = network(KNeighborsRegressor(3), sd=1.0).query("y", {"x": 1.8})
    assert (answer.mean, answer.sd) == near((10 / 3, 1.0))
    assert found(LocalSmoother(neighbours=3, window="gaussian", degree=0)) == near([2.9186818544])


def test_A32_running_line():
    """O9: h = 1.5: 4/3 + x; a line is found again, for any h."""
    assert found(LocalSmoother(1.5, window="box")) == near([3.1333333333])
    line = 5.0 - 3.0 * X[:, 0]
    for model in (LocalSmoother(1.5, window="box"), LocalSmoother(neighbours=3, window="box")):
        assert found(model, y=line, at=[[0.3], [1.8], [3.9]]) == near(5.0 - 3.0 * np.array([0.3, 1.8, 3.9]))


def test_A33_loess():
    """O9: Gaussian, h = 1.5: 2.8885105046 (slope .8370430, the rest 1.3818330); wide: least squares, 2.84."""
    assert found(LocalSmoother(1.5, window="gaussian")) == near([2.8885105046])
    weights = np.exp(-0.5 * ((1.8 - X[:, 0]) / 1.5) ** 2)
    a, b = np.polyfit(X[:, 0], Y, 1, w=np.sqrt(weights))
    assert (a, b) == (near(0.8370430, 7), near(1.3818330, 7))
    assert found(LocalSmoother(1e6, window="gaussian")) == near([2.84])
    line = 5.0 - 3.0 * X[:, 0]
    for h in (0.7, 1.5, 40.0):
        assert found(LocalSmoother(h, window="gaussian"), y=line) == near([5.0 - 5.4])


@pytest.mark.parametrize("steps", [0, 3])
def test_A33_is_lowess(steps):
    """With tricube weights, neighbours and robust steps it is Cleveland's, as in statsmodels."""
    lowess = pytest.importorskip("statsmodels.nonparametric.smoothers_lowess").lowess
    rng = np.random.default_rng(steps)
    x = np.sort(rng.uniform(0, 10, 80))
    y = np.sin(x) + 0.3 * rng.standard_t(2, size=80)
    peer = lowess(y, x, frac=0.4, it=steps, return_sorted=False)
    model = LocalSmoother(neighbours=0.4, robust=steps)
    assert found(model, x[:, None], y, x[:, None]) == near(peer, 9)


def test_A34_smoothing_splines():
    """O10: penalties .1 and 1 at the rows and at 1.8; none at all is a natural spline, infinity a line."""
    expected = {
        0.1: [1.17289628, 2.41790607, 2.90410959, 4.24647750, 4.25861057, 2.7487710372],
        1.0: [1.28005115, 2.26342711, 3.08951407, 3.91048593, 4.45652174, 2.9247877237],
    }
    for penalty, values in expected.items():
        assert found(SmoothingSpline(penalty), at=[*X.tolist(), *AT]) == near(values, 9)
        peer = interpolate.make_smoothing_spline(X[:, 0], Y, lam=penalty)
        assert found(SmoothingSpline(penalty), at=[[0.4], [3.3]]) == near(peer([0.4, 3.3]))
    assert found(SmoothingSpline(1e-9)) == near([1.9497142857], 8)
    assert found(SmoothingSpline(np.inf), at=[*AT, [9.0]]) == near([2.84, 1.4 + 0.8 * 9.0])
    assert found(SmoothingSpline(1e9)) == near([2.84], 8)


def test_A35_A36_widths_of_smoothers_by_leaving_one_out():
    """O11: squared errors of Gaussian windows fall, and rise again: 1.5 is best."""
    widths = [0.5, 1.0, 1.5, 2.0, 4.0]
    search = GridSearchCV(
        LocalSmoother(1.0, window="gaussian", degree=0), {"width": widths}, cv=LeaveOneOut(),
        scoring="neg_mean_squared_error",
    ).fit(X, Y)  # fmt: skip
    expected = [15.197535, 11.933726, 10.908195, 11.790398, 14.313799]
    assert (-5.0 * search.cv_results_["mean_test_score"]).tolist() == near(expected, 8)
    assert search.best_params_ == {"width": 1.5}


def test_A36_bias_and_variance():
    """Over samples of a sine: a wide window has more bias and less variance than a narrow one."""
    rng, x = np.random.default_rng(0), np.linspace(0.0, 6.0, 60)[:, None]
    places = np.linspace(1.0, 5.0, 9)[:, None]
    bias, variance = [], []
    for h in (0.15, 0.5, 1.5):
        model = LocalSmoother(h, window="gaussian", degree=0)
        curves = np.array(
            [found(model, x, np.sin(x[:, 0]) + 0.5 * rng.normal(size=60), places) for _ in range(40)]
        )
        bias.append(((curves.mean(axis=0) - np.sin(places[:, 0])) ** 2).mean())
        variance.append(curves.var(axis=0).mean())
    assert bias[0] < bias[1] < bias[2]
    assert variance[0] > variance[1] > variance[2]


def test_A41_additive_models():
    """O13: a = (0, 1, 3) and c = (2, -1) on the full grid: mean 1.8333333, centred effects, no residual."""
    x = np.array([[i, j] for i in range(3) for j in range(2)], dtype=float)
    y = np.array([0.0, 1.0, 3.0])[x[:, 0].astype(int)] + np.array([2.0, -1.0])[x[:, 1].astype(int)]
    for model in (AdditiveSmoother(Regressogram(width=1.0)), SmoothingSpline(1e-10)):
        assert found(model, x, y, x) == pytest.approx(y.tolist(), abs=1e-7)
        effects = model.effects([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]])
        assert effects[:, 0].tolist() == near([-1.3333333, -0.3333333, 1.6666667], 7)
        assert effects[:2, 1].tolist() == near([1.5, -1.5], 7)
    assert AdditiveSmoother(Regressogram(width=1.0)).fit(x, y).mean_ == near(1.8333333, 8)


@pytest.mark.parametrize(
    "robust", [HuberRegressor(), RANSACRegressor(random_state=0), TheilSenRegressor(random_state=0)]
)
def test_A43_robust_regression(robust):
    """Of 30 rows on a line four are far off: least squares follows them, the others do not."""
    rng = np.random.default_rng(0)
    x = np.linspace(0.0, 10.0, 30)[:, None]
    y = 1.0 + 2.0 * x[:, 0] + 0.1 * rng.normal(size=30)
    y[25:29] += 60.0
    assert abs(found(LinearRegression(), x, y, [[5.0]])[0] - 11.0) > 3.0
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(5.0, sd=3.0))
    net.add("y", pgm.EstimatorCPD(robust.fit(x, y), parents=["x"], sd=0.1))
    assert net.query("y", {"x": 5.0}).mean == pytest.approx(11.0, abs=0.2)


def test_A43_robust_local_lines():
    x = np.linspace(0.0, 10.0, 60)[:, None]
    y = np.sin(x[:, 0])
    y[20:22] += 30.0
    plain, robust = (found(LocalSmoother(neighbours=0.2, robust=k), x, y, x[20:22]) for k in (0, 4))
    assert np.abs(robust - np.sin(x[20:22, 0])).max() < 0.1
    assert np.abs(plain - np.sin(x[20:22, 0])).min() > 3.0


def test_A47_lines_in_bins():
    """O9: [0, 2.5) and [2.5, 5): means 2 and 4.5, with squared errors 2 and .5; lines with 1.5 and 0."""
    means, lines = (Regressogram(width=2.5, degree=d).fit(X, Y) for d in (0, 1))
    assert means.means_.tolist() == near([2.0, 4.5])
    places = [[0.0], [2.0], [3.0], [4.0], [4.9]]
    assert lines.predict(places).tolist() == near([1.5, 2.5, 5.0, 4.0, 8.0 - 4.9])
    for model, expected in ((means, [2.0, 0.5]), (lines, [1.5, 0.0])):
        off = (Y - model.predict(X)) ** 2
        assert [off[:3].sum(), off[3:].sum()] == pytest.approx(expected, abs=1e-12)


def test_A48_rows_are_kept_only_where_they_are_needed():
    """Each row that was forgotten is told by the mean of those kept before it; the order matters."""
    rng = np.random.default_rng(0)
    x, y = rng.uniform(0, 10, size=(200, 1)), rng.normal(size=200)
    model = CondensedSmoother(1.0, tolerance=0.8)
    for part in np.split(np.arange(200), 4):
        model.partial_fit(x[part], y[part])
    kept: list[int] = []
    for i in range(200):
        near_by = [k for k in kept if abs(x[k, 0] - x[i, 0]) < 1.0]
        if not near_by or abs(y[near_by].mean() - y[i]) > 0.8:
            kept.append(i)
    assert model.rows_.tolist() == x[kept].tolist()
    assert model.targets_.tolist() == y[kept].tolist()
    assert model.n_seen_ == 200
    assert len(kept) < 120
    running = LocalSmoother(1.0, window="box", degree=0).fit(x[kept], y[kept])
    assert model.predict(x).tolist() == running.predict(x).tolist()
    back = CondensedSmoother(1.0, tolerance=0.8).fit(x[::-1], y[::-1])
    assert sorted(back.rows_[:, 0]) != sorted(x[kept, 0])


def test_A49_several_columns():
    """O9: the rows of O3 with r = 1, 2, 3, 4 at (1, .5), h = .8."""
    rows = [[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [3.0, 3.0]]
    model = LocalSmoother(0.8, window="gaussian", degree=0)
    assert found(model, rows, [1.0, 2.0, 3.0, 4.0], [[1.0, 0.5]]) == near([2.0004223696])


def test_A50_the_degree_by_cross_validation():
    """A local parabola follows what a line and a mean cut off; polynomials of its degree are found again."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-3, 3, size=(120, 1)), axis=0)
    y = x[:, 0] ** 2 + 0.2 * rng.normal(size=120)
    search = GridSearchCV(LocalSmoother(2.0, window="gaussian"), {"degree": [0, 1, 2]}, cv=5)
    assert search.fit(x, y).best_params_ == {"degree": 2}
    for degree in (2, 3):
        exact = LocalSmoother(1.5, window="gaussian", degree=degree)
        places = [[-1.3], [0.0], [2.2]]
        cubic = np.polynomial.polynomial.polyval(x[:, 0], [1.0, -2.0, 0.5, 0.3][: degree + 1])
        expected = np.polynomial.polynomial.polyval(np.ravel(places), [1.0, -2.0, 0.5, 0.3][: degree + 1])
        assert found(exact, x, cubic, places) == near(expected, 8)


def test_A51_intervals_of_a_running_mean():
    """O9: window {1, 2, 3}: s = 1.5275252, s / sqrt(3) = .8819171, 95 % by Student's t."""
    model = LocalSmoother(1.5, window="box", degree=0).fit(X, Y)
    mean, deviation = model.predict(AT, return_std=True)
    assert (mean.tolist(), deviation.tolist()) == (near([3.3333333], 8), near([1.5275252], 8))
    low, high = model.interval(AT)[0].tolist()
    assert [low, high] == near([-0.4612497, 7.1279164], 7)
    assert (high - low) / 2 / stats.t.ppf(0.975, 2) == near(0.8819171, 7)
    bins = Regressogram(width=2.0).fit(X, Y)
    assert bins.interval(AT).tolist()[0] == near(
        [2.0 - stats.t.ppf(0.975, 1), 2.0 + stats.t.ppf(0.975, 1)], 9
    )
