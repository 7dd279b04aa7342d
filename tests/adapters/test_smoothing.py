"""Smoothers beside statsmodels, scipy and sums by hand; options, errors, pictures."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import interpolate
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor

import pgm
from pgm.adapters import (
    AdditiveSmoother,
    CondensedSmoother,
    LocalSmoother,
    Regressogram,
    SmoothingSpline,
)
from tests.adapters.estimators import check

ALL: dict[str, tuple[Any, int]] = {
    "loess": (LocalSmoother(), 59),
    "regressogram": (Regressogram(empty="mean"), 59),
    "spline": (SmoothingSpline(), 59),
    "additive": (AdditiveSmoother(), 59),
    "condensed": (CondensedSmoother(), 52),
}


def wave(seed: int, n: int = 60, dim: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.0, 6.0, size=(n, dim))
    return x, np.sin(x).sum(axis=1) + 0.2 * rng.normal(size=n)


@pytest.mark.parametrize("name", ALL)
def test_scikit_learns_battery(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(ALL[name][0], ALL[name][1], monkeypatch)


@pytest.mark.parametrize("name", ALL)
def test_frames_copies_and_words(name: str) -> None:
    x, y = wave(0, dim=2)
    rows = pd.DataFrame(x, columns=["a", "b"])
    model = ALL[name][0].fit(rows, y)
    found = model.predict(rows)
    assert model.predict(rows[["b", "a"]]).tolist() == found.tolist()
    assert pickle.loads(pickle.dumps(model)).predict(rows).tolist() == found.tolist()
    assert "column" in repr(model) or "rows" in repr(model)
    assert "<table" in model._repr_html_()
    assert model.plot(column="b", at=3.0).get_xlabel().startswith("b; other columns")
    with pytest.raises(pgm.errors.InvalidArgument, match=r"column= is one of .*'a'"):
        model.plot(column="c")


# --- local ---


@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize(("degree", "kind"), [(0, "lc"), (1, "ll")])
def test_gaussian_windows_are_statsmodels(dim: int, degree: int, kind: str) -> None:
    x, y = wave(dim, dim=dim)
    kernels = pytest.importorskip("statsmodels.nonparametric.kernel_regression")
    peer = kernels.KernelReg(y, x, "c" * dim, reg_type=kind, bw=[0.8] * dim)
    mine = LocalSmoother(0.8, window="gaussian", degree=degree).fit(x, y)
    np.testing.assert_allclose(mine.predict(x), peer.fit(x)[0], rtol=1e-8)


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("model", [LocalSmoother(1e7, window="gaussian"), LocalSmoother(50.0, window="box")])
def test_a_wide_window_is_least_squares_with_its_intervals(degree: int, model: LocalSmoother) -> None:
    x, y = wave(2, 30)
    design = np.column_stack([x**k for k in range(degree + 1)])
    sm = pytest.importorskip("statsmodels.api")
    peer = sm.OLS(y, design).fit()
    mine = model.set_params(degree=degree, width=50.0 if model.window == "box" else 1e4).fit(x, y)
    tolerance = 1e-9 if model.window == "box" else 1e-5
    expected = peer.get_prediction(design)
    np.testing.assert_allclose(mine.predict(x), expected.predicted_mean, rtol=tolerance)
    np.testing.assert_allclose(mine.interval(x, level=0.9), expected.conf_int(alpha=0.1), rtol=tolerance)
    np.testing.assert_allclose(mine.predict(x, return_std=True)[1], np.sqrt(peer.scale), rtol=tolerance)


def test_lines_by_weighted_least_squares() -> None:
    """The curve and its standard error, at every place by statsmodels' own weights."""
    x, y = wave(3, 40, 2)
    counts = np.random.default_rng(0).integers(1, 4, size=40).astype(float)
    mine = LocalSmoother(1.3, window="gaussian").fit(x, y, sample_weight=counts)
    curve = mine._curve(x[:5], True)
    for i in range(5):
        w = np.exp(-0.5 * ((x - x[i]) ** 2).sum(axis=1) / 1.69)
        design = np.column_stack([np.ones(40), x - x[i]])
        gram = design.T @ (design * (counts * w)[:, None])
        hat = np.linalg.solve(gram, (design * w[:, None]).T)  # for each copy of a row
        b = hat @ (counts * y)
        assert curve.mean[i] == pytest.approx(b[0])
        assert curve.share[i] == pytest.approx(np.sqrt(hat[0] ** 2 @ counts))
        left = counts @ w - np.trace(np.linalg.solve(gram, design.T @ (design * (counts * w**2)[:, None])))
        assert curve.deviation[i] ** 2 == pytest.approx((counts * w) @ (y - design @ b) ** 2 / left)


@pytest.mark.parametrize(
    "model",
    [
        LocalSmoother(),
        LocalSmoother(neighbours=20, window="gaussian", degree=0),
        LocalSmoother(1.0, window="epanechnikov", degree=2),
        LocalSmoother(1.0, window="box", degree=0, center="median"),
        LocalSmoother(0.8, robust=2),
        Regressogram(4, degree=1),
        SmoothingSpline(),
    ],
    ids=str,
)
def test_weights_are_rows_repeated(model: Any) -> None:
    x, y = wave(4, 50)
    weights = np.random.default_rng(0).integers(0, 4, size=50)
    once = model.fit(x, y, sample_weight=weights)
    assert len(once.rows_) == (weights > 0).sum()
    places, asked = np.linspace(x.min(), x.max(), 20)[:, None], {}
    if model.get_params().get("center") != "median":
        asked = {"return_std": True}
    found, score = once.predict(places, **asked), once.score(x[::2], y[::2], weights[::2])
    model.fit(np.repeat(x, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(found, model.predict(places, **asked), rtol=1e-6)
    half = np.repeat(x[::2], weights[::2], axis=0), np.repeat(y[::2], weights[::2])
    assert score == pytest.approx(model.score(*half), rel=1e-6)


@pytest.mark.parametrize("dim", [1, 3])
def test_sums_about_the_middle_are_those_about_each_place(dim: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = wave(7, 150, dim)
    model = LocalSmoother(neighbours=0.5).fit(x, y, sample_weight=np.arange(1.0, 151.0))
    fast = model._curve(x, True)
    monkeypatch.setattr("pgm.adapters.smoothing.local._CANCELLED", np.inf)
    for one, other in zip(fast, model._curve(x, True), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("window", ["tricube", "epanechnikov", "box"])
@pytest.mark.parametrize(
    "options", [{"neighbours": 3}, {"neighbours": 0.5}, {"neighbours": 0.5, "robust": 2}, {"width": 1.3}]
)
def test_rows_in_the_window_alone_say_what_all_rows_say(
    window: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one column in any order, with places beyond its ends, between and on rows, several of them equal."""
    x, y = wave(9, 80)
    x[:40] = x[:40].round()  # ties
    places = np.vstack([x, [[-0.5], [6.5], [2.25]]])
    model = LocalSmoother(window=window, **options)
    fast = model.fit(x, y)._curve(places, True)
    asked: list[int] = []
    dense = LocalSmoother._windows
    monkeypatch.setattr(LocalSmoother, "_windows", lambda *a: asked.append(1) or dense(*a))
    model.fit(x, y)._curve(places, True)
    assert not asked
    monkeypatch.setattr(LocalSmoother, "_is_short", lambda _: False)
    for one, other in zip(fast, model.fit(x, y)._curve(places, True), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)
    assert asked


def test_narrow_windows_far_from_the_origin() -> None:
    """A line is found again by windows of a millionth of the range, beside a column that does not vary."""
    x = np.linspace(0.0, 1.0, 50)[:, None] * 1e-6 + [[0.1]]
    rows = np.vstack([np.hstack([x, np.full((50, 1), 0.3)]), [[9.0, 0.3]]])
    y = 1.0 + 1e6 * (rows[:, 0] - 0.1)
    found = LocalSmoother(neighbours=8).fit(rows, y).predict(rows[:50])
    np.testing.assert_allclose(found, y[:50], rtol=1e-8)
    two = LocalSmoother(5.0, window="box").fit(
        [[1.0, 2.0], [2.0, 4.0]], [0.0, 1.0]
    )  # on a line, off the axes
    np.testing.assert_allclose(two.predict([[1.5, 3.0], [2.0, 4.0], [0.5, 3.5]]), [0.5, 1.0, 0.5], atol=1e-9)


def test_neighbours_are_scikit_learns() -> None:
    x, y = wave(5, 60, 3)
    peer = KNeighborsRegressor(7).fit(x, y)
    mine = LocalSmoother(neighbours=7, window="box", degree=0).fit(x, y)
    places = wave(6, 30, 3)[0]
    np.testing.assert_allclose(mine.predict(places), peer.predict(places))


def test_few_rows_take_the_flattest_line() -> None:
    """One row: its number; two: the line through them, as flat as can be across; equal rows: their mean."""
    assert LocalSmoother(1.0, window="box").fit([[0.0]], [3.0]).predict([[0.9]]).tolist() == [3.0]
    model = LocalSmoother(9.0, window="box").fit([[0.0, 0.0], [2.0, 0.0]], [1.0, 5.0])
    assert model.predict([[1.0, 0.0], [3.0, 0.0], [3.0, 4.0]]).tolist() == pytest.approx([3.0, 7.0, 7.0])
    equal = LocalSmoother(neighbours=2).fit([[1.0], [1.0], [5.0]], [2.0, 4.0, 9.0])
    assert equal.predict([[1.0]]).tolist() == [3.0]
    tied = LocalSmoother(neighbours=2, degree=0).fit([[0.0], [2.0], [9.0]], [2.0, 4.0, 9.0])
    assert tied.predict([[1.0]]).tolist() == [3.0]  # both at the edge of the window


def test_far_away_the_nearest_counts() -> None:
    model = LocalSmoother(0.01, window="gaussian", degree=0).fit([[0.0], [1.0]], [2.0, 7.0])
    assert model.predict([[50.0]]).tolist() == [7.0]


def test_medians_of_weighted_rows() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.uniform(size=(40, 1)), rng.normal(size=40)
    counts = rng.integers(1, 5, size=40)
    model = LocalSmoother(0.3, window="box", degree=0, center="median").fit(x, y, sample_weight=counts)
    for place, found in zip(x[:10], model.predict(x[:10]), strict=True):
        inside = np.abs(x[:, 0] - place) < 0.3
        assert found == np.median(np.repeat(y[inside], counts[inside]))
    with pytest.raises(pgm.errors.InvalidArgument, match="no standard deviation"):
        model.interval(x)


def test_intervals_hold() -> None:
    """Of straight lines with normal noise, in 95 of 100 samples at each place."""
    rng, x = np.random.default_rng(0), np.linspace(0.0, 1.0, 40)[:, None]
    places = x[5:35:6]
    model, inside = LocalSmoother(0.3, window="epanechnikov"), 0
    for _ in range(300):
        low, high = model.fit(x, 3.0 * x[:, 0] + rng.normal(size=40)).interval(places).T
        inside += int(((low <= 3.0 * places[:, 0]) & (3.0 * places[:, 0] <= high)).sum())
    assert 0.92 < inside / (300 * len(places)) < 0.98


# --- splines ---


@pytest.mark.parametrize("n", [5, 20, 120])
def test_splines_are_scipys(n: int) -> None:
    rng = np.random.default_rng(n)
    x = np.linspace(0.0, 6.0, n) + rng.uniform(0.0, 3.0 / n, n)
    y, weights = np.sin(x) + 0.2 * rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    for penalty in (1e-4, 0.3, 50.0):
        peer = interpolate.make_smoothing_spline(x, y, weights, lam=penalty)
        mine = SmoothingSpline(penalty).fit(x[:, None], y, sample_weight=weights)
        np.testing.assert_allclose(mine.predict(x[:, None]), peer(x), atol=1e-8)
        between = np.linspace(x[0], x[-1], 50)
        np.testing.assert_allclose(mine.predict(between[:, None]), peer(between), atol=1e-8)
    beyond = mine.predict([[x[-1] + 1.0], [x[-1] + 2.0], [x[-1] + 3.0]])
    assert beyond[2] - beyond[1] == pytest.approx(beyond[1] - beyond[0])
    assert beyond[0] - mine.predict([[x[-1]]])[0] == pytest.approx(peer.derivative()(x[-1]))
    before = mine.predict([[x[0] - 1.0], [x[0]]])
    assert before[1] - before[0] == pytest.approx(peer.derivative()(x[0]))


@pytest.mark.parametrize("seed", range(3))
def test_penalties_by_generalised_cross_validation(seed: int) -> None:
    """As scipy finds them; the trace of the matrix of the smoother is the degrees of freedom."""
    x, y = wave(seed, 40)
    order = np.argsort(x[:, 0])
    x, y = x[order], y[order]
    mine = SmoothingSpline().fit(x, y)
    matrix = np.column_stack([mine.best_estimator_.fit(x, one).predict(x) for one in np.eye(40)])
    assert mine.degrees_of_freedom_[0] == pytest.approx(np.trace(matrix))
    off = y - mine.predict(x)
    assert mine.deviation_ == pytest.approx(np.sqrt(off @ off / (40 - np.trace(matrix))))
    assert mine.predict(x[:2], return_std=True)[1].tolist() == [mine.deviation_] * 2
    theirs = y - interpolate.make_smoothing_spline(x[:, 0], y)(x[:, 0])
    np.testing.assert_allclose(off, theirs, atol=1e-4)


def test_values_that_occur_often_and_few_of_them() -> None:
    x, y = np.repeat([[0.0], [1.0], [2.0]], 4, axis=0), np.arange(12.0)
    line = SmoothingSpline().fit(x, y)  # fewer than five different values
    assert line.penalties_.tolist() == [np.inf]
    assert line.predict([[5.0]]).tolist() == pytest.approx([1.5 + 4.0 * 5.0])
    assert SmoothingSpline().fit([[1.0], [1.0]], [2.0, 4.0]).predict([[7.0]]).tolist() == [3.0]
    assert SmoothingSpline(1e-9).fit(x, y).predict([[1.0]]).tolist() == pytest.approx([5.5])


def test_several_columns_are_summed() -> None:
    x, y = wave(8, 400, 3)
    model = SmoothingSpline().fit(x, y)
    effects = model.effects(x)
    np.testing.assert_allclose(effects.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(effects, np.sin(x) - np.sin(x).mean(axis=0), atol=0.2)
    np.testing.assert_allclose(model.predict(x), y.mean() + effects.sum(axis=1))
    given = SmoothingSpline(0.05).fit(x, y)
    same = AdditiveSmoother(SmoothingSpline(0.05)).fit(x, y)
    np.testing.assert_allclose(same.predict(x), given.predict(x), atol=1e-8)
    found = [one.penalties_[0] for one in AdditiveSmoother().fit(x, y).smoothers_]
    np.testing.assert_allclose(found, model.penalties_, rtol=0.02)  # where the error is flat
    searched = GridSearchCV(LocalSmoother(1.0, window="gaussian"), {"width": [0.3, 1.0]}, cv=3)
    by_search = AdditiveSmoother(searched, max_iter=30, tol=1e-4).fit(x, y)
    assert by_search.score(x, y) > 0.9
    assert isinstance(by_search.smoothers_[0], LocalSmoother)  # the search is over


def test_columns_that_say_the_same_are_told() -> None:
    x, y = wave(9, 50)
    with pytest.warns(pgm.errors.ConvergenceWarning, match="leave out columns"):
        AdditiveSmoother(LocalSmoother(1.0, window="gaussian"), max_iter=2).fit(np.hstack([x, x]), y)


# --- what is refused ---

ROWS, NUMBERS = [[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (LocalSmoother(-1.0), "width= is a finite number above 0"),
        (LocalSmoother(1.0, neighbours=2), "one of them"),
        (LocalSmoother(neighbours=2.5), "whole number of at least 1, or a share"),
        (LocalSmoother(neighbours=4), "n_samples=3"),
        (LocalSmoother(window="cube"), "window= is"),
        (LocalSmoother(center="median"), "degree=0"),
        (LocalSmoother(degree=-1), "degree="),
        (Regressogram(degree=2), "0, a mean, or 1, a line"),
        (Regressogram(empty="zero"), "empty="),
        (SmoothingSpline(-1.0), "penalty="),
        (AdditiveSmoother("spline"), "regressor of one column"),
        (CondensedSmoother(tolerance=-1.0), "tolerance="),
    ],
)
def test_wrong_options(model: Any, said: str) -> None:
    with pytest.raises(pgm.errors.InvalidArgument, match=said):
        model.fit(ROWS, NUMBERS)
    assert not hasattr(model, "n_features_in_")


def test_where_nothing_is_near() -> None:
    with pytest.raises(pgm.errors.InvalidArgument, match=r"Row 1 .* no row of `fit` is in its window"):
        LocalSmoother(0.5, window="box").fit(ROWS, NUMBERS).predict([[0.1], [9.0]])
    with pytest.raises(pgm.errors.InvalidArgument, match=r"Row 0 .* in a cell without rows: 3 have some"):
        Regressogram(3).fit(ROWS, NUMBERS).predict([[9.0]])
    mean = Regressogram(3, empty="mean").fit(ROWS, NUMBERS)
    assert mean.predict([[9.0]]).tolist() == pytest.approx([7 / 3])
    with pytest.raises(pgm.errors.InvalidArgument, match="nothing is known"):
        mean.interval([[9.0]])
    alone = LocalSmoother(0.5, window="box", degree=0).fit(ROWS, NUMBERS)
    assert alone.interval([[1.0]]).tolist() == [[-np.inf, np.inf]]
    with pytest.raises(pgm.errors.InvalidArgument, match="too few values"):
        alone.predict([[1.0]], return_std=True)
    with pytest.raises(pgm.errors.TooLarge, match="1,001 coefficients"):
        LocalSmoother(degree=4).fit(np.zeros((3, 10)) + np.eye(3, 10), NUMBERS)
    with pytest.raises(pgm.errors.InvalidArgument, match="takes no weights"):
        AdditiveSmoother(KNeighborsRegressor(1)).fit(ROWS, NUMBERS, sample_weight=[1, 2, 1])
    AdditiveSmoother(IsotonicRegression(out_of_bounds="clip")).fit(ROWS, NUMBERS, sample_weight=[1, 2, 1])
    with pytest.raises(pgm.errors.OutOfTime), pgm.config(time_limit=1e-9):
        alone.predict(ROWS)


def test_rounding_decides_nothing() -> None:
    """Shares, sums of weights and residuals that are a rounding error away from what they stand for."""
    x = np.arange(100.0)[:, None]
    assert 0.29 * 100 < 29.0
    assert LocalSmoother(neighbours=0.29).fit(x, x[:, 0]).neighbours_ == 29.0
    # Ten rows of weight 0.1 are one row, though their sum is below 1; and .1 and .1 are half of .4.
    tenth = np.full(100, 0.1)
    mean = LocalSmoother(neighbours=1, window="box", degree=0).fit(x, x[:, 0] ** 2, sample_weight=tenth)
    assert mean.predict([[0.0]]) == pytest.approx([(np.arange(10) ** 2).mean()])
    median = LocalSmoother(9.0, window="box", degree=0, center="median")
    median.fit([[1.0], [2.0], [3.0], [4.0]], [1.0, 2.0, 3.0, 4.0], sample_weight=[0.1, 0.1, 0.15, 0.05])
    assert median.predict([[2.0]]).tolist() == [2.5]
    # Rows on a line are on the curve, whatever their residuals are by rounding.
    x, _ = wave(2)
    line = LocalSmoother(2.0, window="gaussian", degree=2, robust=3).fit(x, np.pi * x[:, 0] / 7.0)
    assert (line.robust_weights_ == 1.0).all()


def test_a_column_that_does_not_vary_takes_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = wave(4)
    rows = np.column_stack([x, np.full(60, 0.1)])  # whose mean is not 0.1 in doubles
    assert rows[:, 1].mean() != 0.1
    model = LocalSmoother(1.0).fit(rows, y)
    monkeypatch.delattr(LocalSmoother, "_products_about")
    alone = LocalSmoother(1.0).fit(x, y)
    np.testing.assert_allclose(model.predict(rows), alone.predict(x), atol=1e-9)


@pytest.mark.parametrize("unit", [1e-100, 1e-60, 1e60, 1e99])
def test_splines_have_no_units(unit: float) -> None:
    x, y = wave(6, 40)
    for penalty in (None, 0.3):
        plain = SmoothingSpline(penalty).fit(x, y)
        for height in (1e-300, 1e-150, 1.0, 1e99):
            scaled = SmoothingSpline(None if penalty is None else penalty * unit**3).fit(x * unit, y * height)
            np.testing.assert_allclose(scaled.predict(x * unit) / height, plain.predict(x), atol=1e-5)
            assert scaled.deviation_ / height == pytest.approx(plain.deviation_, rel=1e-5)
            np.testing.assert_allclose(scaled.penalties_ / unit**3, plain.penalties_, rtol=1e-3)


@pytest.mark.parametrize("gap", [1e-17, 1e-90, 1e-160, 5e-324])
def test_values_that_nearly_agree_are_one_knot(gap: float) -> None:
    y = [1.0, 3.0, 2.0, 5.0, 4.0, 6.0]
    near, same = ([[0.0], [first], [1.0], [2.0], [3.0], [4.0]] for first in (gap, 0.0))
    found, limit = (SmoothingSpline(0.5).fit(rows, y) for rows in (near, same))
    np.testing.assert_allclose(found.predict(near), limit.predict(same), rtol=1e-12)


def test_scales_that_doubles_do_not_hold_are_refused() -> None:
    with pytest.raises(pgm.errors.InvalidFrame, match=r"'x0' ranges over 5e-150 only.*another unit"):
        SmoothingSpline().fit(np.arange(6.0)[:, None] * 1e-150, np.arange(6.0))
    for model, _ in ALL.values():
        with pytest.raises(pgm.errors.InvalidFrame, match=r"y has values beyond 1e\+100"):
            model.fit(np.arange(6.0)[:, None], np.arange(6.0) * 1e150)
