"""Densities by windows and neighbours: A.md A1 to A7, A35, A37, A38, A42; F.md F23 to F30, F32, F36, F37."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize, stats
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.neighbors import KernelDensity

import pgm
from pgm.adapters import HistogramDensity, LocalSmoother, NeighbourDensity, ParzenDensity, rows_needed
from tests.known.book import near

FIVE = [[0.0], [1.0], [3.0], [6.0], [10.0]]  # O1 of A.md
FOUR = [[0.0], [0.3], [0.8], [2.0]]  # O5 of F.md
SQUARE = [[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [3.0, 3.0]]  # O3 of A.md


def density(model: Any, rows: Any, *places: Any) -> list[float]:
    """The density at places, of one column if they are numbers."""
    at = [[x] if isinstance(x, int | float) else x for x in places]
    return np.exp(model.fit(rows).score_samples(at)).tolist()


def test_A1_gaussian_windows():
    """O1c: at 2, for widths .5, 1 and 2; the integral is 1; as a network of rows and noise."""
    found = [density(ParzenDensity(h), FIVE, 2.0)[0] for h in (0.5, 1.0, 2.0)]
    assert found == near([0.0432463053, 0.1076132492, 0.1000226175], 9)
    model = ParzenDensity(1.0).fit(FIVE)
    assert integrate.quad(lambda x: math.exp(model.score_samples([[x]])[0]), -10, 20)[0] == near(1.0, 8)
    net = pgm.BayesianNetwork()
    net.add("T", [0.2] * 5, states=list(range(5)))
    net.add("X", {t: pgm.Gaussian(row[0], 1.0) for t, row in enumerate(FIVE)}, parents=["T"])
    assert net.probability({"X": 2.0}) == near(0.1076132492)


def test_A2_histogram_and_naive_estimator():
    """Bins of width 4 from 0; the naive estimator is a box of width h around x, at h = 2 d_k that of A3."""
    assert density(HistogramDensity(width=4.0), FIVE, 2.0, 4.0, 11.9, 12.0) == near([0.15, 0.05, 0.05, 0.0])
    peer = stats.rv_histogram(np.histogram(np.ravel(FIVE), bins=4))
    places = [0.1, 2.4, 2.6, 9.9]
    assert density(HistogramDensity(4), FIVE, *places) == near(peer.pdf(places))
    for k, reach in enumerate([1.0, 1.0, 2.0, 4.0, 8.0], start=1):
        # Sorted distances 1, 1, 2, 4, 8: of two at the same distance the naive estimator counts both.
        naive = density(ParzenDensity(2 * reach, window="cube"), FIVE, 2.0)
        assert naive == near(density(NeighbourDensity(max(k, 2)), FIVE, 2.0))


def test_A3_k_nearest_neighbours():
    """O1: at 2 for k = 1 to 5; O2: slopes jump in the middle of neighbours, and there is no integral."""
    found = [density(NeighbourDensity(k), FIVE, 2.0)[0] for k in range(1, 6)]
    assert found == near([0.1, 0.2, 0.15, 0.1, 0.0625])
    model = NeighbourDensity(2).fit(FIVE)

    def reach(x: float) -> float:
        return 2 / (2 * 5) / math.exp(model.score_samples([[x]])[0])

    for x in (1.5, 3.5, 6.5):
        assert reach(x - 0.2) == near(reach(x) - 0.2)
        assert reach(x + 0.2) == near(reach(x) - 0.2)
    x = np.concatenate([-np.geomspace(1e4, 1e3, 20001), np.geomspace(1e3, 1e4, 20001)])[:, None]
    y = np.exp(model.score_samples(x))
    left, right = (integrate.simpson(y[i], x=x[i, 0]) for i in (slice(0, 20001), slice(20001, None)))
    assert left + right == pytest.approx(0.4 * math.log(10.0), rel=2e-3)  # 0.9210340 in the limit
    assert left + right == near(0.9219, 4)


def test_A3_a_row_itself():
    assert NeighbourDensity(1).fit(FIVE).score_samples([[3.0]]).tolist() == [math.inf]


def test_A4_windows_as_wide_as_the_kth_neighbour_is_far():
    """O1b: Gaussian windows at 2, of widths 1, 2 and 4 for k = 1, 3 and 4."""
    found = [density(NeighbourDensity(k, window="gaussian"), FIVE, 2.0)[0] for k in (1, 3, 4)]
    assert found == near([0.1076132492, 0.1000226175, 0.0710681626], 9)


def test_A5_several_columns():
    """O3: round windows of width .8 at (1, .5)."""
    assert density(ParzenDensity(0.8), SQUARE, [1.0, 0.5]) == near([0.0979870554], 9)
    peer = KernelDensity(bandwidth=0.8).fit(SQUARE)
    places = [[1.0, 0.5], [-3.0, 2.0]]
    assert density(ParzenDensity(0.8), SQUARE, *places) == near(np.exp(peer.score_samples(places)))


def test_A6_windows_with_the_covariance_of_the_rows():
    """O3: S = [[5/3, 4/3], [4/3, 2]]; or columns of equal variance first."""
    model = ParzenDensity(0.8, covariance="full")
    assert density(model, SQUARE, [1.0, 0.5]) == near([0.0808254931], 9)
    assert model.covariance_.ravel().tolist() == near([5 / 3, 4 / 3, 4 / 3, 2.0])
    peer = stats.gaussian_kde(np.transpose(SQUARE), bw_method=0.8)
    assert density(model, SQUARE, [-1.0, 4.0]) == near(peer([-1.0, 4.0]))
    scale = np.std(SQUARE, axis=0, ddof=1)
    scaled = density(ParzenDensity(0.8), np.array(SQUARE) / scale, (np.array([1.0, 0.5]) / scale).tolist())
    found = density(ParzenDensity(0.8, covariance="diagonal"), SQUARE, [1.0, 0.5])
    assert found == near((np.array(scaled) / scale.prod()).tolist())


def test_A7_cells_of_eight_columns():
    """Ten bins each: 10^8 cells, of which rows fill as many as there are rows at most."""
    rows = np.random.default_rng(0).normal(size=(1000, 8))
    found = HistogramDensity(10).fit(rows)
    assert found.n_cells_ == 10**8
    assert 900 < found.n_filled_ <= 1000
    assert "of 1e+08 cells" in repr(found)


def test_A35_widths_by_validation():
    """O11: log likelihood of {2, 7} for widths .25 to 8; 2 is best on the grid, 1.35072 of all."""
    train, held = np.array(FIVE), np.array([[2.0], [7.0]])
    widths = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0]
    expected = [-17.591017, -6.976073, -5.238895, -5.219505, -5.503945, -6.278963]
    assert [ParzenDensity(h).fit(train).score(held) for h in widths] == near(expected, 7)
    split = PredefinedSplit([-1] * 5 + [0] * 2)
    search = GridSearchCV(ParzenDensity(), {"width": widths}, cv=split).fit(np.concatenate([train, held]))
    assert search.best_params_ == {"width": 2.0}
    best = optimize.minimize_scalar(lambda h: -ParzenDensity(h).fit(train).score(held), bounds=(0.5, 4.0))
    assert (best.x, -best.fun) == (near(1.35072, 6), near(-5.187117, 7))


def test_A35_a_width_that_leaves_rows_out():
    """The rule "validation" is the width of the largest log likelihood of each row by the others."""
    rows = np.random.default_rng(1).normal(size=(40, 2))

    def loss(h: float) -> float:
        return -sum(
            ParzenDensity(h).fit(np.delete(rows, i, axis=0)).score(rows[i : i + 1]) for i in range(len(rows))
        )

    found = ParzenDensity("validation").fit(rows).width_
    assert found == pytest.approx(optimize.minimize_scalar(loss, bounds=(0.1, 2.0)).x, rel=1e-4)


@pytest.mark.parametrize("dim", [1, 2])
def test_A37_by_fourier_transform(dim):
    """Equal to the sum of windows but for what is said, and better on a finer grid."""
    rows = np.random.default_rng(2).normal(size=(500, dim))
    places = np.random.default_rng(3).normal(size=(200, dim))
    exact = np.exp(ParzenDensity(0.4).fit(rows).score_samples(places))
    off = []
    for points in (50, 100, 200):
        binned = ParzenDensity(0.4, grid=points).fit(rows)
        off.append(np.abs(np.exp(binned.score_samples(places)) - exact).max())
        assert off[-1] <= binned.grid_error_
    assert off[2] < off[1] / 3 < off[0] / 9
    assert "not exact" in repr(binned)


def test_A38_all_at_once_as_one_by_one():
    rows = np.random.default_rng(4).normal(size=(300, 3))
    for model in (ParzenDensity(0.7), ParzenDensity(0.7, window="epanechnikov"), NeighbourDensity(5)):
        model.fit(rows)
        one = [model.score_samples(rows[i : i + 1] + 0.1)[0] for i in range(len(rows))]
        assert model.score_samples(rows + 0.1).tolist() == one


def test_A42_smooth_histograms():
    """O13: middles 2, 6, 10 with densities .15, .05, .05; lines between them, or windows."""
    polygon = HistogramDensity(width=4.0, polygon=True)
    assert density(polygon, FIVE, 3.0, 4.0, 8.0) == near([0.125, 0.1, 0.05])
    area = integrate.quad(lambda x: math.exp(polygon.score_samples([[x]])[0]), -2, 14, points=[2, 6, 10])[0]
    assert area == near(1.0, 8)  # with an empty cell at each end
    middles, heights = np.array([[2.0], [6.0], [10.0]]), np.array([0.15, 0.05, 0.05])
    weights = np.exp(-0.5 * ((3.0 - middles[:, 0]) / 2.0) ** 2)
    smooth = LocalSmoother(2.0, window="gaussian", degree=0).fit(middles, heights)
    assert smooth.predict([[3.0]]).tolist() == near([weights @ heights / weights.sum()])


def test_A1_A3_A4_F27_F36_classes_by_their_densities():
    """O4 and O5: p(x | C) of windows and of neighbours as nodes; only windows are drawn from."""
    one, two = [[0.0], [1.0], [2.0]], [[3.0], [5.0]]

    def network(make: Any) -> pgm.BayesianNetwork:
        net = pgm.BayesianNetwork()
        net.add("C", [0.6, 0.4], states=["one", "two"])
        net.add("X", pgm.DensityCPD({"one": make().fit(one), "two": make().fit(two)}), parents=["C"])
        return net

    windows = network(lambda: ParzenDensity(1.0))
    assert windows.query("C", {"X": 2.4})["one"] == near(0.6090986405)
    assert windows.probability({"X": 2.4}) == near(0.1080784272 + 0.0693615144, 9)
    assert windows.predict_proba({"X": [2.4, 2.4]}, "C")[:, 0].tolist() == near([0.6090986405] * 2)
    drawn = windows.sample(4000, seed=0)
    mean = np.asarray(drawn["X"], dtype=float).mean()
    assert abs(mean - 2.2) < 4 * math.sqrt(3.96 / 4000)
    near_by = network(lambda: NeighbourDensity(2))
    # k / (n V): 2 / (3 * 2.8) for the rows 2 and 1, 2 / (2 * 5.2) for the rows 3 and 5.
    one_at, two_at = 0.6 * 2 / 8.4, 0.4 * 2 / 10.4
    assert near_by.query("C", {"X": 2.4})["one"] == near(one_at / (one_at + two_at))
    adaptive = network(lambda: NeighbourDensity(2, window="gaussian")).query("C", {"X": 2.4})["one"]
    one_at, two_at = (density(NeighbourDensity(2, window="gaussian"), rows, 2.4)[0] for rows in (one, two))
    assert adaptive == near(0.6 * one_at / (0.6 * one_at + 0.4 * two_at))
    with pytest.raises(pgm.errors.PGMError):
        near_by.sample(3, seed=0)


def test_A2_A5_A6_A37_several_columns_as_one_block():
    """A block of two numbers given a state: cells, round and shaped windows, and windows on a grid."""
    rng = np.random.default_rng(0)
    one, two = rng.normal(size=(200, 2)), rng.normal([1.5, 0.0], size=(200, 2))
    for make in (
        lambda: HistogramDensity(width=0.8),
        lambda: ParzenDensity(0.5),
        lambda: ParzenDensity(covariance="full"),
        lambda: ParzenDensity(0.5, grid=80),
    ):
        fitted = [make().fit(rows) for rows in (one, two)]
        net = pgm.BayesianNetwork()
        net.add("C", [0.5, 0.5], states=["one", "two"])
        net.add(["x", "y"], pgm.DensityCPD(dict(zip(["one", "two"], fitted, strict=True))), parents=["C"])
        a, b = (math.exp(each.score_samples([[0.6, 0.1]])[0]) for each in fitted)
        assert net.query("C", {"x": 0.6, "y": 0.1})["one"] == near(a / (a + b))


# --- F.md ---------------------------------------------------------------------------------------------------


def test_F23_F25_counts_over_rows_and_volume():
    """k / (n V): the rows in a cube around x, over all rows and the volume of the cube."""
    rows, x, h = np.random.default_rng(5).normal(size=(50, 2)), np.array([0.2, -0.1]), 0.9
    k = (np.abs(rows - x) <= h / 2).all(axis=1).sum()
    assert density(ParzenDensity(h, window="cube"), rows, x) == near([k / (50 * h**2)])


def test_F24_the_cube_is_closed():
    """O5: (0, 0), (.4, .4), (.6, 0), (1, 1), h = 1 at 0; a row at a distance of just h / 2 counts."""
    rows = [[0.0, 0.0], [0.4, 0.4], [0.6, 0.0], [1.0, 1.0]]
    assert density(ParzenDensity(1.0, window="cube"), rows, [0.0, 0.0]) == near([0.5])
    assert density(ParzenDensity(1.0, window="cube"), [[0.0]], 0.5, -0.5, 0.501) == [1.0, 1.0, 0.0]


def test_F26_hypercubes():
    """O5: for h = 1 and h = .5 at 0, .5, 1 and 2."""
    wide, narrow = (density(ParzenDensity(h, window="cube"), FOUR, 0.0, 0.5, 1.0, 2.0) for h in (1.0, 0.5))
    assert wide == near([0.5, 0.75, 0.25, 0.25])
    assert narrow == near([0.5, 0.5, 0.5, 0.5])


def test_F27_gaussian_windows():
    """O5, and how far the expected density at 0 is off: 1 / sqrt(2 pi (1 + h^2)) for N(0, 1)."""
    expected = {1.0: [0.2810031538, 0.3135033580, 0.2968095191, 0.1852920948],
                0.5: [0.4216107741, 0.4739486581, 0.3129897695, 0.2113514300]}  # fmt: skip
    for h, values in expected.items():
        assert density(ParzenDensity(h), FOUR, 0.0, 0.5, 1.0, 2.0) == near(values, 9)
    # Rows at the quantiles of N(0, 1), as many as make the mean that of the distribution.
    rows = stats.norm.ppf((np.arange(20000) + 0.5) / 20000)[:, None]
    assert density(ParzenDensity(1.0), rows, 0.0) == pytest.approx([0.2820947918], abs=1e-6)


def test_F28_epanechnikov_windows():
    """O5; in several columns scikit-learn's."""
    found = density(ParzenDensity(1.0, window="epanechnikov"), FOUR, 0.0, 0.5, 1.0, 2.0)
    assert found == near([0.425625, 0.49125, 0.275625, 0.1875])
    rows = np.random.default_rng(6).normal(size=(60, 3))
    peer = KernelDensity(bandwidth=1.3, kernel="epanechnikov").fit(rows)
    model = ParzenDensity(1.3, window="epanechnikov")
    assert density(model, rows, *rows[:9]) == near(np.exp(peer.score_samples(rows[:9])))


def test_F29_widths_that_shrink_with_the_root_of_rows():
    """h_1 = 1: n = 1, 4, 100 gives 1, .5, .1."""
    found = [ParzenDensity("root").fit(np.arange(float(n))[:, None]).width_ for n in (1, 4, 100)]
    assert found == near([1.0, 0.5, 0.1])
    assert ParzenDensity("root", scale=3.0).fit(np.arange(4.0)[:, None]).width_ == near(1.5)


@pytest.mark.parametrize("window", ["gaussian", "epanechnikov", "cube"])
def test_F30_a_density_for_every_width(window):
    """Not negative, and 1 in all; a wide window is smooth, a narrow one is the rows themselves."""
    for h in (0.05, 0.5, 5.0):
        model = ParzenDensity(h, window=window).fit(FOUR)
        x = np.linspace(-8.0 * h, 2.0 + 8.0 * h, 200_003)
        y = np.exp(model.score_samples(x[:, None]))
        assert (y >= 0.0).all()
        assert integrate.trapezoid(y, x) == pytest.approx(1.0, abs=2e-3)
    narrow = ParzenDensity(1e-3, window=window).fit(FOUR)
    assert np.exp(narrow.score_samples([[0.3], [0.31]])).round(9).tolist()[1] == 0.0


def test_F30_two_columns():
    model = ParzenDensity(0.6, window="epanechnikov", covariance="full").fit(SQUARE)
    x = np.linspace(-3.0, 6.0, 700)
    across, up = np.meshgrid(x, x)
    y = np.exp(model.score_samples(np.column_stack([across.ravel(), up.ravel()])))
    assert y.sum() * (x[1] - x[0]) ** 2 == pytest.approx(1.0, abs=1e-3)


def test_F32_rows_needed():
    """O7: 4, 19, 768 (the seed prints 786), 10 700 and 842 000 rounded; by brute force for two columns."""
    found = [rows_needed(d) for d in range(1, 11)]
    assert found == [4, 19, 67, 223, 768, 2788, 10730, 43684, 187275, 841566]

    def error(n: int, h: np.ndarray, d: int) -> float:
        square = (4 * math.pi * h**2) ** (-d / 2) * (2 * math.pi * (1 + h**2 / 2)) ** (-d / 2)
        mean = (1 + h**2) ** (-d / 2)
        return float(((mean - 1) ** 2 + (square * (2 * math.pi) ** d - mean**2) / n).min())

    h = np.linspace(0.05, 3.0, 50_000)
    assert error(19, h, 2) < 0.1 <= error(18, h, 2)
    assert error(rows_needed(3, error=0.2), h, 3) < 0.2 <= error(rows_needed(3, error=0.2) - 1, h, 3)


def test_F36_neighbours():
    """O9: rows 1, 2, 4, 7, 11; at 3 for k = 1, 2, 3: .1, .2, .15; at 2.5 .2 for k = 1 and 3."""
    rows = [[1.0], [2.0], [4.0], [7.0], [11.0]]
    assert [density(NeighbourDensity(k), rows, 3.0)[0] for k in (1, 2, 3)] == near([0.1, 0.2, 0.15])
    assert [density(NeighbourDensity(k), rows, 2.5)[0] for k in (1, 3)] == near([0.2, 0.2])


def test_F36_in_two_columns_the_cell_is_a_disc():
    rows = [[1.0, 0.0], [0.0, 2.0], [5.0, 5.0]]
    assert density(NeighbourDensity(2), rows, [0.0, 0.0]) == near([2 / (3 * math.pi * 4)])


def test_F37_the_choice_of_cells():
    """k = sqrt(n): 4 of 16, 10 of 100; V = 1 / sqrt(n): a cube of that volume in any number of columns."""
    for n, k in ((16, 4), (100, 10)):
        assert NeighbourDensity().fit(np.arange(float(n))[:, None]).neighbours_ == k
        for dim in (1, 3):
            rows = np.random.default_rng(7).normal(size=(n, dim))
            assert ParzenDensity("volume", window="cube").fit(rows).width_ ** dim == near(1 / math.sqrt(n))
