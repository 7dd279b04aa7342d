"""Chains over states and numbers: what they reach, refuse and report; see test_numbers_drawn.py."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.tree import DecisionTreeClassifier

import pgm
from pgm.errors import InvalidArgument, NoSupportFound, OutOfTime
from pgm.inference.engines.sampling.hybrid_cases import truncated

Gibbs = pgm.engines.Gibbs


def line(low: float, high: float) -> tuple[pgm.BayesianNetwork, dict[str, Any]]:
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, sd=1.0))
    net.add("y", pgm.LinearGaussian({"x": 1.0}, sd=1.0))
    return net, {"y": pgm.Interval(low, high)}


WEIGHTED, CHAINS = pgm.engines.LikelihoodWeighting(), Gibbs(samples=8000, burn_in=50)
REJECTED = pgm.engines.Rejection(samples=100_000)


@pytest.mark.parametrize(
    ("ends", "engine"),
    [
        ((2.0, 3.0), WEIGHTED),
        ((2.0, 3.0), REJECTED),
        ((-1.0, math.inf), WEIGHTED),
        ((2.0, 3.0), CHAINS),
        ((9.0, 11.0), CHAINS),
    ],
)
def test_an_interval_below(ends: tuple[float, float], engine: Any) -> None:
    net, known = line(*ends)
    right = stats.truncnorm(*(end / math.sqrt(2.0) for end in ends), scale=math.sqrt(2.0))
    y = net.query("y", known, engine=engine)
    assert y.mean == pytest.approx(right.mean(), abs=4 * y.report.error)
    assert y.variance == pytest.approx(right.var(), rel=0.1)
    x = net.query("x", known, engine=engine)
    assert x.mean == pytest.approx(right.mean() / 2.0, abs=4 * x.report.error)
    assert x.variance == pytest.approx(0.5 + right.var() / 4.0, rel=0.1)


@pytest.mark.parametrize("engine", ["gibbs", "importance", "rejection"])
def test_an_interval_on_a_density_of_its_own(engine: str) -> None:
    net = pgm.BayesianNetwork()
    net.add("fault", 0.3)
    densities = {True: stats.norm(0.0, 1.0), False: stats.norm(3.0, 1.0)}
    net.add("x", pgm.DensityCPD(densities), parents=["fault"])
    net.add("y", pgm.LinearGaussian({"x": 1.0}, sd=1.0))
    x = np.linspace(1.0, 2.0, 4001)
    below = stats.norm(x, 1.0).pdf(1.2)
    has, has_not = (integrate.simpson(densities[fault].pdf(x) * below, x=x) for fault in (True, False))
    right = 0.3 * has / (0.3 * has + 0.7 * has_not)
    found = net.query("fault", {"x": pgm.Interval(1.0, 2.0), "y": 1.2}, engine=engine)
    assert found[True] == pytest.approx(right, abs=4 * found.report.error)
    assert found.report.error < 0.03


def test_normal_draws_between_two_ends() -> None:
    uniforms = (np.arange(2000) + 0.5) / 2000
    for low, high in [(-1.0, 2.0), (5.0, 6.0), (-40.0, -39.0), (38.0, math.inf)]:
        drawn, logs = truncated(np.full(2000, 0.5), np.full(2000, 2.0), low, high, uniforms)
        right = stats.truncnorm((low - 0.5) / 2, (high - 0.5) / 2, 0.5, 2.0)
        far, near = (low, high) if low < 0.0 else (1.0 - high, 1.0 - low)  # the same by reflection
        tails = stats.norm(0.5, 2.0).logcdf([near, far])
        assert logs[0] == pytest.approx(tails[0] + math.log1p(-math.exp(tails[1] - tails[0])))
        flip = np.sort(drawn)
        assert low <= flip[0]
        assert flip[-1] < high
        np.testing.assert_allclose(drawn.mean(), right.mean(), rtol=2e-3)


def test_logistic_children_and_states_above() -> None:
    """Against sums over a fine grid."""
    net = pgm.BayesianNetwork()
    net.add("kind", [0.3, 0.7], states=["p", "q"])
    net.add(
        "x",
        {"p": pgm.LinearGaussian(bias=-1.0, sd=0.8), "q": pgm.LinearGaussian(bias=1.0, sd=1.5)},
        parents=["kind"],
    )
    net.add("w", pgm.LinearGaussian({"x": 0.5}, bias=0.2, sd=0.7))
    net.add("late", pgm.Logistic({"x": 2.0, "kind": {"p": 0.0, "q": -1.0}, "w": 0.5}, bias=-0.5))
    net.add("seen", {True: [0.9, 0.1], False: [0.2, 0.8]}, parents=["late"], states=["yes", "no"])
    x, w = np.meshgrid(np.linspace(-7, 7, 400), np.linspace(-7, 7, 400), indexing="ij")
    weights, grid = {}, {}
    for kind, mean, sd, prior, bias in [("p", -1.0, 0.8, 0.3, 0.0), ("q", 1.0, 1.5, 0.7, -1.0)]:
        late = 1.0 / (1.0 + np.exp(-(2.0 * x + 0.5 * w - 0.5 + bias)))
        density = stats.norm(mean, sd).pdf(x) * stats.norm(0.5 * x + 0.2, 0.7).pdf(w)
        grid[kind] = prior * density * (0.9 * late + 0.2 * (1 - late)) * ((w >= -0.5) & (w < 1.0))
        weights[kind] = grid[kind].sum()
    total = sum(weights.values())
    known = {"seen": "yes", "w": pgm.Interval(-0.5, 1.0)}
    engine = Gibbs(samples=8000, burn_in=100, seed=2)
    p = net.query("kind", known, engine=engine)
    assert p["p"] == pytest.approx(weights["p"] / total, abs=4 * p.report.error)
    for name, values in [("x", x), ("w", w)]:
        d = net.query(name, known, engine=engine)
        right = sum((grid[k] * values).sum() for k in grid) / total
        assert d.mean == pytest.approx(right, abs=4 * d.report.error + 0.01)
        spread = sum((grid[k] * (values - right) ** 2).sum() for k in grid) / total
        assert d.variance == pytest.approx(spread, rel=0.1)


def test_it_reaches_what_zeros_keep_apart() -> None:
    """x decides the state for sure, and the state holds x: neither can move alone."""
    grid = np.linspace(-4, 4, 200)[:, None]
    tree = DecisionTreeClassifier(max_depth=1).fit(grid, np.where(grid[:, 0] > 1.0, "high", "low"))
    net = pgm.BayesianNetwork()
    net.add("x", pgm.DensityCPD(stats.norm(0.0, 1.5)))
    net.add("level", pgm.EstimatorCPD(tree, parents=["x"]))
    net.add("alarm", {"high": 0.7, "low": 0.2}, parents=["level"])
    high = 1 - stats.norm(0.0, 1.5).cdf(tree.tree_.threshold[0])
    right = high * 0.7 / (high * 0.7 + (1 - high) * 0.2)
    p = net.query("level", {"alarm": True}, engine=Gibbs(samples=6000, burn_in=50, seed=1))
    assert p["high"] == pytest.approx(right, abs=4 * p.report.error)
    assert p.report.r_hat < 1.1
    # Densities that leave no place for both states, which hold each other as well.
    net = pgm.BayesianNetwork()
    net.add("side", 0.3)
    net.add("x", pgm.DensityCPD({True: stats.uniform(2, 1), False: stats.uniform(0, 1)}), parents=["side"])
    net.add("y", pgm.LinearGaussian({"x": 1.0}, sd=2.0))
    q = net.query("side", {"y": 3.0}, engine=Gibbs(samples=6000, burn_in=50, seed=1))
    on, off = (np.mean(stats.norm(np.linspace(a, a + 1, 2001), 2.0).pdf(3.0)) for a in (2, 0))
    assert q[True] == pytest.approx(0.3 * on / (0.3 * on + 0.7 * off), abs=4 * q.report.error)


class Counted(DecisionTreeClassifier):
    calls, rows = 0, 0

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:
        Counted.calls += 1
        Counted.rows += len(X)
        return super().predict_proba(X, check_input)


def test_a_classifier_is_asked_for_all_chains_at_once() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 1))
    tree = Counted(max_depth=2).fit(rows, rows[:, 0] + rng.normal(size=300) > 0)
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, sd=1.0))
    net.add("s", pgm.EstimatorCPD(tree, parents=["x"]))
    Counted.calls = Counted.rows = 0
    engine = Gibbs(samples=1000, burn_in=50, chains=50)
    p = net.query("x", {"s": True}, engine=engine)
    assert Counted.calls <= 3 * 70 + 5  # two choices a sweep and, every tenth, cases drawn parents first
    assert Counted.rows > 20 * Counted.calls
    assert p.report.samples == 50 * 70
    weights = np.asarray(tree.predict_proba(np.linspace(-5, 5, 4001)[:, None])[:, 1])
    density = weights * stats.norm.pdf(np.linspace(-5, 5, 4001))
    assert p.mean == pytest.approx(
        (density * np.linspace(-5, 5, 4001)).sum() / density.sum(), abs=4 * p.report.error
    )


def test_a_block_and_whole_numbers() -> None:
    cov = np.array([[1.0, 0.6], [0.6, 1.0]])
    net = pgm.BayesianNetwork()
    net.add(["u", "v"], pgm.DensityCPD(stats.multivariate_normal([0.0, 1.0], cov)))
    net.add("n", pgm.DensityCPD(stats.poisson(3.0)))
    net.add("y", pgm.LinearGaussian({"u": 1.0, "v": -1.0, "n": 1.0}, sd=0.5))
    known, engine = {"y": 4.0}, Gibbs(samples=8000, burn_in=100, seed=3)
    n = np.arange(0, 30)
    shares = stats.poisson(3.0).pmf(n) * stats.norm(n - 1.0, math.sqrt(0.8 + 0.25)).pdf(4.0)
    shares /= shares.sum()
    p = net.query("n", known, engine=engine)
    assert p.mean == pytest.approx(float(shares @ n), abs=4 * p.report.error)
    gain = (1.0 - 0.6) / (0.8 + 0.25)  # of u by what y differs from its mean
    q = net.query("u", known, engine=engine)
    assert q.mean == pytest.approx(gain * (4.0 - float(shares @ n) + 1.0), abs=4 * q.report.error)


def net_of_all() -> tuple[pgm.BayesianNetwork, dict[str, Any]]:
    net = pgm.BayesianNetwork()
    net.add("a", 0.4)
    net.add("x", pgm.DensityCPD({True: stats.norm(1, 1), False: stats.gamma(2.0)}), parents=["a"])
    net.add("y", pgm.LinearGaussian({"x": 1.0}, sd=1.0))
    net.add("late", pgm.Logistic({"y": 1.0}))
    net.add("below", 0.3)
    return net, {"y": pgm.Interval(0.0, 2.0), "late": True}


def test_it_says_how_it_went() -> None:
    net, known = net_of_all()
    engine = Gibbs(samples=800, burn_in=20, trace=["a", "x"])
    with pytest.warns(pgm.ConvergenceWarning):
        p = net.query("a", known, engine=Gibbs(samples=100, burn_in=5))
    assert not p.report.converged
    p = net.query("a", known, engine=engine)
    assert p.report.samples == 40 * 40
    assert p.report.r_hat < 1.2
    assert p.report.intervals[1][0] < p[True] < p.report.intervals[1][1]
    assert {name: series.shape for name, series in p.report.chains.items()} == {"a": (40, 20), "x": (40, 20)}
    assert p.report.chains["a"].mean() == pytest.approx(p[True])
    every = net.marginals(known, engine=engine)
    assert set(every) == {"a", "x", "y", "below"}
    assert every["below"][True] == pytest.approx(0.3, abs=0.1)
    drawn = net.sample(50, given=known, seed=1, engine=engine)
    assert set(drawn) == {"a", "x", "y", "late", "below"}
    assert all(0.0 <= y < 2.0 for y in drawn["y"])
    with pytest.raises(InvalidArgument, match="of both kinds"):
        net.query(["a", "x"], known, engine=engine)
    with pytest.raises(pgm.PGMError, match="yy"):
        net.query("a", known, engine=Gibbs(trace=["yy"]))


def test_the_same_bits_for_a_seed_whatever_the_threads() -> None:
    net, known = net_of_all()
    found = []
    for threads, seed in [(1, 5), (2, 5), (1, 6)]:
        with pgm.config(threads=threads):
            found.append(net.query("x", known, engine=Gibbs(samples=400, burn_in=20, seed=seed)))
    assert found[0].mean == found[1].mean
    assert found[0].variance == found[1].variance
    assert found[0].mean != found[2].mean


def test_the_time_limit_holds() -> None:
    net, known = net_of_all()
    with pgm.config(time_limit=0.4), pytest.warns(pgm.ConvergenceWarning, match="time limit"):
        p = net.query("x", known, engine=Gibbs(samples=10_000_000, burn_in=0, chains=4))
    assert p.report.samples < 10_000_000
    with pgm.config(time_limit=0.2), pytest.raises(OutOfTime):
        net.query("x", known, engine=Gibbs(burn_in=10_000_000))


def test_what_it_refuses() -> None:
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, sd=1.0))
    net.add("twice", pgm.LinearGaussian({"x": 2.0}, sd=0.0))
    net.add("y", pgm.LinearGaussian({"twice": 1.0}, sd=1.0))
    with pytest.raises(InvalidArgument, match=r"'twice' follows 'x' without noise \(sd=0\).*exact"):
        net.query("x", {"y": 1.0}, engine="gibbs")
    below = net.query("twice", {"x": 1.5}, engine=Gibbs(samples=100))
    assert below.mean == pytest.approx(3.0)
    never = pgm.BayesianNetwork()
    never.add("x", pgm.DensityCPD(stats.uniform(0, 1)))
    never.add("s", pgm.Logistic({"x": 1.0}))
    with pytest.raises(NoSupportFound, match="none of 1,000 cases"):
        never.query("s", {"x": pgm.Interval(3.0, 4.0)}, engine="gibbs")


@pytest.mark.parametrize("blocks", ["trees", "single", [["a", "b"]]])
def test_states_are_drawn_in_blocks_with_gates_and_zeros(blocks: Any) -> None:
    net = pgm.BayesianNetwork()
    rng = np.random.default_rng(7)
    net.add("a", [0.2, 0.5, 0.3], states=["i", "j", "k"])
    net.add("b", {"i": 0.0, "j": 0.6, "k": 1.0}, parents=["a"])
    rows = {
        key: pgm.LinearGaussian(bias=float(rng.normal()), sd=float(rng.uniform(0.7, 1.5)))
        for key in itertools.product("ijk", [False, True])
    }
    net.add("x", rows, parents=["a", "b"])
    net.add("y", pgm.LinearGaussian({"x": 1.0}, sd=1.0))
    net.add("gate", pgm.NoisyOr({"b": 0.7}, leak=0.1))
    net.add("tail", {True: 0.9, False: 0.2}, parents=["gate"])
    known = {"y": 0.7, "tail": True, "gate": pgm.Likelihood({True: 0.4, False: 1.0})}
    d = net.query("x", known, engine=Gibbs(samples=4000, burn_in=50, blocks=blocks))
    assert d.mean == pytest.approx(net.query("x", known).mean, abs=4 * d.report.error)


@pytest.mark.parametrize("called", [False, True])
def test_ctrl_c_ends_chains_within_a_sweep(called: bool) -> None:
    """In the middle of 200,000 sweeps; the network answers afterwards as it did before."""
    net, known = line(0.5, 2.0)
    if called:
        tree = DecisionTreeClassifier(random_state=0).fit([[-1.0], [0.0], [1.0], [2.0]], [0, 0, 1, 1])
        net.add("c", pgm.EstimatorCPD(tree, parents=["x"]))
        known["c"] = 1
    small = Gibbs(samples=2000, burn_in=50, seed=4)
    before = net.query("x", known, engine=small)
    reports: list[float] = []

    def interrupt(done: float, total: float, what: str) -> None:
        if done > 20.0 and not reports:
            reports.append(done)
            raise KeyboardInterrupt

    with pgm.config(progress=interrupt), pytest.raises(KeyboardInterrupt):
        net.query("x", known, engine=Gibbs(samples=400_000, chains=2, seed=1))
    assert reports[0] < 100_000
    assert net.query("x", known, engine=small).mean == before.mean
