"""Densities of rows beside scikit-learn, scipy and sums by hand; options, errors, pictures."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, special, stats
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pgm
from pgm.adapters import HistogramDensity, NeighbourDensity, ParzenDensity, rows_needed
from pgm.adapters.densities.widths import left_out
from tests.adapters.estimators import check

ALL: dict[str, tuple[Any, int]] = {
    "windows": (ParzenDensity(), 48),
    "shaped": (ParzenDensity(window="epanechnikov", covariance="diagonal"), 48),
    "neighbours": (NeighbourDensity(), 41),
    "histogram": (HistogramDensity(), 48),
}


def normal(seed: int, n: int = 80, dim: int = 2) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, dim)) @ rng.normal(size=(dim, dim))


@pytest.mark.parametrize("name", ALL)
def test_scikit_learns_battery(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(ALL[name][0], ALL[name][1], monkeypatch)


@pytest.mark.parametrize("name", ALL)
def test_frames_copies_and_words(name: str) -> None:
    rows = pd.DataFrame(normal(0), columns=["a", "b"])
    model = ALL[name][0].fit(rows)
    found = model.score_samples(rows)
    assert model.score_samples(rows[["b", "a"]]).tolist() == found.tolist()
    assert pickle.loads(pickle.dumps(model)).score_samples(rows).tolist() == found.tolist()
    assert model.score(rows) == pytest.approx(found.sum())
    assert "80 rows" in repr(model)
    assert "<table" in model._repr_html_()
    assert model.plot().get_xlabel() == "a"
    make_pipeline(StandardScaler(), ALL[name][0]).fit(rows.to_numpy()).score_samples(rows.to_numpy())
    with pytest.raises(pgm.errors.InvalidArgument, match="one column or two"):
        ALL[name][0].fit(normal(1, dim=3)).plot()


@pytest.mark.parametrize("window", ["gaussian", "epanechnikov"])
@pytest.mark.parametrize("dim", [1, 2, 10])
def test_round_windows_are_scikit_learns(window: str, dim: int) -> None:
    """Where its sums in a tree round; and to the last digits what one finds row by row."""
    rows, places = normal(dim, 300, dim), normal(dim + 1, 60, dim)
    weights = np.random.default_rng(3).integers(0, 4, size=300).astype(float)
    for given in (None, weights):
        peer = KernelDensity(bandwidth=1.7, kernel=window).fit(rows, sample_weight=given)
        mine = ParzenDensity(1.7, window=window).fit(rows, sample_weight=given)
        found = mine.score_samples(places)
        np.testing.assert_allclose(np.exp(found), np.exp(peer.score_samples(places)), rtol=1e-5, atol=1e-16)
        if window == "gaussian":
            logs = stats.norm.logpdf(places[:, None], rows, 1.7).sum(axis=2)
            shares = np.full(300, 1 / 300) if given is None else given / given.sum()
            np.testing.assert_allclose(found, special.logsumexp(logs, axis=1, b=shares), rtol=1e-12)


@pytest.mark.parametrize("rule", ["scott", "silverman"])
def test_rules_are_scipys(rule: str) -> None:
    rows = normal(5, dim=3)
    weights = np.random.default_rng(0).integers(1, 4, size=80)
    peer = stats.gaussian_kde(np.repeat(rows, weights, axis=0).T, rule)
    mine = ParzenDensity(rule, covariance="full").fit(rows, sample_weight=weights)
    np.testing.assert_allclose(np.exp(mine.score_samples(rows)), peer(rows.T), rtol=1e-9)
    one = rows[:, :1]
    alone = ParzenDensity(rule).fit(one).width_
    assert alone == pytest.approx(stats.gaussian_kde(one.T, rule).factor * one.std(ddof=1))


def test_other_windows_are_as_much_wider_as_makes_them_as_smooth() -> None:
    """Canonical bandwidths (Marron & Nolan 1988): Gaussian .7764, Epanechnikov 1.7188, box 1.3510."""
    rows = normal(16, 50, 1)
    one, paraboloid, cube = (
        ParzenDensity(window=window).fit(rows).width_ for window in ("gaussian", "epanechnikov", "cube")
    )
    assert paraboloid / one == pytest.approx(1.7188 / 0.7764, rel=2e-4)
    assert cube / one == pytest.approx(2 * 1.3510 / 0.7764, rel=2e-4)  # as wide as its edge


@pytest.mark.parametrize("dim", [1, 2])
def test_the_bound_of_a_grid_is_reached(dim: int) -> None:
    """A row in the middle of a cell is off by all that is said, where windows are wide beside steps."""
    row = np.zeros((1, dim))
    found, exact = ParzenDensity(1.0, grid=100).fit(row), ParzenDensity(1.0).fit(row)
    off = np.exp(exact.score_samples(row))[0] - np.exp(found.score_samples(row))[0]
    assert 0.95 < off / found.grid_error_ <= 1.0


@pytest.mark.parametrize("window", ["epanechnikov", "cube"])
def test_rules_of_other_windows_are_as_good(window: str) -> None:
    """Beside N(0, 1) the rule has nearly the smallest integrated squared error that any width has."""
    x = np.linspace(-5, 5, 1001)
    true = stats.norm.pdf(x)

    def error(width: Any) -> float:
        total = 0.0
        for seed in range(6):
            rows = np.random.default_rng(seed).normal(size=(400, 1))
            found = np.exp(ParzenDensity(width, window=window).fit(rows).score_samples(x[:, None]))
            total += float(((found - true) ** 2).sum())
        return total

    best = min(error(h) for h in np.geomspace(0.2, 4.0, 15))
    assert error("silverman") < 1.35 * best


def test_far_away_nothing_underflows() -> None:
    model = ParzenDensity(0.01).fit([[0.0], [1.0]])
    expected = stats.norm.logpdf(50.0, 1.0, 0.01) - math.log(2.0)
    assert model.score_samples([[50.0]])[0] == pytest.approx(expected)
    assert ParzenDensity(0.01, window="cube").fit([[0.0]]).score_samples([[9.0]])[0] == -math.inf


@pytest.mark.parametrize("window", ["gaussian", "epanechnikov", "cube"])
def test_samples_have_the_moments_of_the_density(window: str) -> None:
    """Within four standard errors: the mean of the rows, their covariance and that of the windows."""
    rows = normal(6, 30)
    model = ParzenDensity(0.9, window=window, covariance="diagonal").fit(rows)
    drawn = model.sample(20_000, seed=1)
    unit = {"gaussian": 1.0, "epanechnikov": 1.0 / 6.0, "cube": 1.0 / 12.0}[window]  # in two columns
    expected = np.cov(rows.T, ddof=0) + 0.81 * unit * model.covariance_
    error = np.sqrt(np.diag(expected) / 20_000)
    assert (np.abs(drawn.mean(axis=0) - rows.mean(axis=0)) < 4 * error).all()
    np.testing.assert_allclose(np.cov(drawn.T), expected, atol=0.06 * np.diag(expected).max())
    low, high = HistogramDensity(5).fit(rows).sample(500, seed=0).T
    assert rows[:, 0].min() <= low.min() < low.max() <= rows[:, 0].max()
    assert rows[:, 1].min() <= high.min()


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_histograms_are_numpys(dim: int) -> None:
    rows = normal(7, 200, dim) + 1e6
    heights, edges = np.histogramdd(rows, bins=6, density=True)
    middles = np.stack(np.meshgrid(*[(e[1:] + e[:-1]) / 2 for e in edges], indexing="ij"), axis=-1)
    with np.errstate(divide="ignore"):
        expected = np.log(heights.ravel())
    found = HistogramDensity(6).fit(rows).score_samples(middles.reshape(-1, dim))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert np.isfinite(HistogramDensity(6).fit(rows).score_samples(rows)).all()  # the largest is in a cell


def test_bins_by_rule_and_beyond() -> None:
    rows = np.random.default_rng(0).normal(size=(500, 1))
    assert HistogramDensity("auto").fit(rows).n_cells_ == len(np.histogram_bin_edges(rows, "auto")) - 1
    assert HistogramDensity(4).fit(rows).score_samples([[99.0]]).tolist() == [-math.inf]
    assert HistogramDensity(width=0.5).fit(rows).score_samples([[99.0]]).tolist() == [-math.inf]
    assert HistogramDensity(3).fit(np.ones((4, 1))).n_filled_ == 1  # a column that does not vary


def test_weights_are_rows_repeated() -> None:
    rows, weights = normal(8, 40, 1), np.random.default_rng(0).integers(0, 4, size=40)
    many = np.repeat(rows, weights, axis=0)
    for model in (
        ParzenDensity(),
        ParzenDensity(0.3, grid=40),
        HistogramDensity(),
        HistogramDensity(polygon=True),
    ):
        once = model.fit(rows, sample_weight=weights).score_samples(rows)
        np.testing.assert_allclose(once, model.fit(many).score_samples(rows), rtol=1e-9)


def test_neighbours_beside_distances() -> None:
    rows, places = normal(9, 50, 3), normal(10, 20, 3)
    far = np.sort(np.linalg.norm(places[:, None] - rows, axis=2), axis=1)[:, 6]
    found = np.exp(NeighbourDensity(7).fit(rows).score_samples(places))
    assert found == pytest.approx(7 / 50 / (4 / 3 * math.pi * far**3))
    smooth = NeighbourDensity(7, window="gaussian").fit(rows).score_samples(places)
    for x, h, one in zip(places, far, smooth, strict=True):
        assert one == pytest.approx(ParzenDensity(float(h)).fit(rows).score_samples([x])[0])


def test_the_best_width_beside_a_search() -> None:
    """Each of 30 rows is left out in turn, in scikit-learn's search too."""
    rows = normal(11, 30, 1)
    widths = np.geomspace(0.05, 5.0, 60)
    search = GridSearchCV(KernelDensity(), {"bandwidth": widths}, cv=30).fit(rows)
    assert ParzenDensity("validation").fit(rows).width_ == pytest.approx(
        search.best_params_["bandwidth"], rel=0.09
    )
    narrow = ParzenDensity("validation", window="epanechnikov").fit(rows)
    assert np.isfinite(narrow.score_samples(rows)).all()


@pytest.mark.parametrize("window", ["gaussian", "epanechnikov", "cube"])
def test_the_likelihood_that_leaves_rows_out(window: str) -> None:
    rows, weights = normal(17, 12, 2), np.arange(1.0, 13.0)
    total = 0.0
    for i in range(12):
        rest = ParzenDensity(6.0, window=window).fit(
            np.delete(rows, i, 0), sample_weight=np.delete(weights, i)
        )
        total += weights[i] * rest.score_samples(rows[i : i + 1])[0]
    assert left_out(rows, weights, 6.0, window) == pytest.approx(total)


def test_a_grid_covers_what_windows_reach() -> None:
    rows = np.random.default_rng(12).normal(size=(1000, 1))
    model = ParzenDensity(grid=400).fit(rows)
    low, high = model._range()
    total = integrate.quad(lambda x: math.exp(model.score_samples([[x]])[0]), low[0], high[0], limit=400)[0]
    assert total == pytest.approx(1.0, abs=1e-3)
    assert model.score_samples([[99.0]]).tolist() == [-math.inf]
    shaped = ParzenDensity(grid=150, covariance="diagonal").fit(normal(13) * [1.0, 100.0])
    exact = ParzenDensity(covariance="diagonal").fit(normal(13) * [1.0, 100.0])
    places = normal(14, 30) * [1.0, 100.0]
    off = np.abs(np.exp(shaped.score_samples(places)) - np.exp(exact.score_samples(places))).max()
    assert off < shaped.grid_error_
    drawn, kept = model.sample(5000, seed=0), ParzenDensity().fit(rows).sample(5000, seed=1)
    assert stats.ks_2samp(drawn[:, 0], kept[:, 0]).pvalue > 0.01


TWO = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]


@pytest.mark.parametrize(
    ("model", "rows", "said"),
    [
        (ParzenDensity(0.0), TWO, "width= is a finite number above 0"),
        (ParzenDensity("silvermann"), TWO, 'did you mean "silverman"|silverman'),
        (ParzenDensity(window="normal"), TWO, "window= is"),
        (ParzenDensity(1.0, scale=2.0), TWO, "multiplies the width of a rule"),
        (ParzenDensity(covariance=[[1.0]]), TWO, "symmetric matrix of 2 by 2"),
        (ParzenDensity(covariance=[[1.0, 1.0], [1.0, 1.0]]), TWO, "singular"),
        (ParzenDensity(window="cube", covariance="full"), TWO, "edges along the columns"),
        (ParzenDensity(grid=10, window="cube"), TWO, "A grid takes"),
        (ParzenDensity(grid=10, covariance="full"), TWO, "axes"),
        (ParzenDensity("validation"), [[1.0], [1.0], [1.0]], "do not"),
        (ParzenDensity("validation"), [[1.0]], "two at least"),
        (ParzenDensity("validation"), [[1.0], [1.0], [2.0], [2.0]], "narrower"),
        (ParzenDensity(), [[1.0], [1.0]], "do not .n_samples=2"),
        (NeighbourDensity(4), TWO, "n_samples=3"),
        (NeighbourDensity("rot"), TWO, '"root"'),
        (HistogramDensity(3, width=1.0), TWO, "give one of the two"),
        (HistogramDensity(origin=1.0), TWO, "set that too"),
        (HistogramDensity(width=[1.0, -1.0]), TWO, "above 0"),
        (HistogramDensity(width=1e-18), TWO, "wider cells"),
        (HistogramDensity(polygon=True), TWO, "one column"),
        (HistogramDensity("most"), TWO, "whole number or one of"),
    ],
)  # fmt: skip
def test_wrong_options(model: Any, rows: Any, said: str) -> None:
    with pytest.raises(pgm.errors.InvalidArgument, match=said):
        model.fit(rows)
    assert not hasattr(model, "n_features_in_")


def test_sizes_are_checked_before() -> None:
    with pytest.raises(pgm.errors.TooLarge, match="1,000,000,000,000 points"):
        ParzenDensity(grid=1000).fit(normal(15, 10, 4))
    with pytest.raises(pgm.errors.TooLarge, match="a polygon has"):
        HistogramDensity(width=1e-6, polygon=True).fit([[0.0], [9.0]])
    with pytest.raises(pgm.errors.InvalidArgument, match="whole number"):
        rows_needed(0)
    with pytest.raises(pgm.errors.OutOfTime), pgm.config(time_limit=1e-9):
        ParzenDensity(1.0).fit(TWO).score_samples(TWO)
