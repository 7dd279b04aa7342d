"""Numbers that are drawn: against exact answers, quadrature and integrals by scipy."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from sklearn.tree import DecisionTreeRegressor

import pgm
from pgm.errors import InvalidArgument, InvalidEvidence, NoSupportFound

Engine = pgm.engines.LikelihoodWeighting
WEIGHTED, CHAINS = Engine(samples=20_000, seed=1), pgm.engines.Gibbs(samples=4_000, burn_in=100, chains=20)
GUIDED = pgm.engines.Importance(samples=10_000, guide_iter=30, seed=1)
REJECTED = pgm.engines.Rejection(samples=20_000, seed=1)
ENGINES = pytest.mark.parametrize(
    "engine", [WEIGHTED, CHAINS, GUIDED, REJECTED], ids=lambda engine: engine.name
)


def near(found: Any, exact: Any) -> None:
    """Within four standard errors, and these are small enough to tell something."""
    assert not found.report.exact
    assert found.report.error < 0.1
    values = found.values if hasattr(found, "values") else found.mean
    right = exact.values if hasattr(exact, "values") else exact.mean
    np.testing.assert_allclose(values, right, atol=4 * found.report.error + 1e-9)


def net_of(seed: int, own: bool) -> tuple[pgm.BayesianNetwork, np.random.Generator]:
    rng = np.random.default_rng(seed)
    net = pgm.BayesianNetwork()
    net.add("a", rng.dirichlet(np.ones(3) * 2), states=["i", "j", "k"])
    net.add("b", 0.2 + 0.6 * float(rng.random()))
    rows: dict[Any, Any] = {}
    for key in itertools.product("ijk", [False, True]):
        m, s = float(rng.normal()), float(rng.uniform(0.7, 1.5))
        rows[key] = stats.norm(m, s) if own else pgm.LinearGaussian(bias=m, sd=s)
    net.add("x", pgm.DensityCPD(rows) if own else rows, parents=["a", "b"])
    net.add("y", pgm.LinearGaussian({"x": 1.0}, bias=0.5, sd=1.0))
    net.add("noisy", pgm.NoisyOr({"b": 0.7}, leak=0.2))
    return net, rng


@ENGINES
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 10**6), own=st.booleans())
def test_evidence_below_hidden_numbers(engine: Any, seed: int, own: bool) -> None:
    (mine, rng), (theirs, _) = net_of(seed, own), net_of(seed, False)
    known = {"y": float(rng.normal()), "noisy": True, "a": pgm.Likelihood({"i": 0.5, "j": 1.0, "k": 0.7})}
    if own:
        with pytest.raises(InvalidArgument, match="likelihood-weighting"):
            mine.query("b", known)
    for target in ("b", "a", ["a", "b"], "x"):
        near(mine.query(target, known, engine=engine), theirs.query(target, known))
    if "probability" in engine.answers and own:
        total = mine.probability(known, engine=engine)
        right = theirs.probability(known)
        assert float(total) == pytest.approx(float(right), rel=5 * total.report.log_error)
    both = mine.marginals(known, engine=engine)
    assert set(both) == {"a", "b", "x"}
    assert both["x"].variance == pytest.approx(theirs.query("x", known).variance, rel=0.15)


def test_an_integral_by_scipy() -> None:
    net = pgm.BayesianNetwork()
    net.add("x", pgm.DensityCPD(stats.gamma(3.0)))
    net.add("y", pgm.LinearGaussian({"x": 2.0}, sd=1.0))
    top, bottom = (
        integrate.quad(lambda x, k=k: x**k * stats.gamma(3.0).pdf(x) * stats.norm(2 * x, 1).pdf(5.0), 0, 30)[
            0
        ]
        for k in (1, 0)
    )
    p = net.query("x", {"y": 5.0}, engine=Engine(samples=40_000))
    assert p.mean == pytest.approx(top / bottom, abs=4 * p.report.error)
    total = net.probability({"y": 5.0}, engine=Engine(samples=40_000))
    assert float(total) == pytest.approx(bottom, rel=5 * total.report.log_error)
    inside = net.probability({"x": pgm.Interval(1, 2)}, engine=Engine(samples=40_000))
    assert float(inside) == pytest.approx(np.diff(stats.gamma(3.0).cdf([1, 2]))[0], rel=0.05)


@ENGINES
def test_states_that_hidden_numbers_decide(engine: Any) -> None:
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, sd=1.5))
    net.add("late", pgm.Logistic({"x": 2.0}, bias=-0.5))
    net.add("again", pgm.Logistic({"x": -1.0}, bias=0.5))
    near(
        net.query("again", {"late": True}, engine=engine),
        net.query("again", {"late": True}, engine="quadrature"),
    )
    near(net.query("x", {"late": True}, engine=engine), net.query("x", {"late": True}, engine="quadrature"))


@ENGINES
def test_a_number_that_follows_a_hidden_one_by_a_tree(engine: Any) -> None:
    grid = np.linspace(-3, 3, 200)[:, None]
    tree = DecisionTreeRegressor(max_leaf_nodes=2).fit(grid, np.where(grid[:, 0] > 0.0, 4.0, 1.0))
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, sd=1.0))
    net.add("y", pgm.EstimatorCPD(tree, parents=["x"], sd=1.0))
    up, down = stats.norm(4, 1).pdf(3.5), stats.norm(1, 1).pdf(3.5)  # each half the time
    cut = float(tree.tree_.threshold[0])
    high = 1 - stats.norm.cdf(cut)
    share = high * up / (high * up + (1 - high) * down)
    above, below = stats.norm.pdf(cut) / high, -stats.norm.pdf(cut) / (1 - high)
    p = net.query("x", {"y": 3.5}, engine=engine)
    assert p.mean == pytest.approx(share * above + (1 - share) * below, abs=4 * p.report.error)
    q = net.query("y", engine=engine)
    assert q.mean == pytest.approx(4.0 * high + 1.0 * (1 - high), abs=4 * q.report.error)


def test_it_says_how_it_went() -> None:
    net, _ = net_of(0, True)
    p = net.query("b", {"y": 1.0}, engine="likelihood-weighting")
    assert p.report.samples == 10_000
    assert p.report.effective_sample_size > 100
    assert p == net.query("b", {"y": 1.0}, engine="likelihood-weighting")  # the same seed
    with pytest.warns(pgm.ConvergenceWarning, match="try more samples="):
        net.query("b", {"y": 9.0}, engine=Engine(samples=200))
    drawn = net.sample(500, given={"y": 1.0}, seed=0, engine="likelihood-weighting")
    assert len(drawn["x"]) == 500
    assert abs(np.mean(drawn["x"]) - net.query("x", {"y": 1.0}, engine=Engine()).mean) < 0.25
    with pytest.raises(InvalidArgument, match="of both kinds"):
        net.query(["a", "x"], engine="likelihood-weighting")
    zero = pgm.BayesianNetwork()
    zero.add("x", pgm.DensityCPD(stats.uniform(0, 1)))
    zero.add("late", pgm.Logistic({"x": 1.0}))
    with pytest.raises(NoSupportFound):
        zero.query("late", {"x": 3.0}, engine="likelihood-weighting")


@pytest.mark.parametrize("ask", [lambda n: n.query("x", engine="likelihood-weighting")])
def test_numbers_of_lines_are_drawn_too(ask: Callable[[pgm.BayesianNetwork], Any]) -> None:
    net, _ = net_of(3, False)
    near(ask(net), net.query("x"))


def test_rare_evidence_on_numbers() -> None:
    """P(known) of what likelihood weighting never comes near, beside the exact answer."""
    mine, theirs = net_of(5, True)[0], net_of(5, False)[0]
    known = {"y": 9.0, "noisy": True}
    engine = pgm.engines.Importance(samples=10_000, guide_iter=50, seed=3)
    total, right = mine.probability(known, engine=engine), theirs.probability(known)
    assert total.report.effective_sample_size > 1000
    assert total.report.log_error < 0.05
    assert float(total) == pytest.approx(float(right), rel=5 * total.report.log_error)
    near(mine.query("x", known, engine=engine), theirs.query("x", known))
    near(mine.query("a", known, engine=engine), theirs.query("a", known))
    between = {"y": pgm.Interval(7.0, 9.0), "noisy": True}
    total, right = mine.probability(between, engine=engine), theirs.probability(between)
    assert float(total) == pytest.approx(float(right), rel=5 * total.report.log_error)
    drawn = mine.sample(100, given=between, engine=engine, seed=0)
    assert all(7.0 <= y < 9.0 for y in drawn["y"])
    with pytest.raises(InvalidArgument, match="guide='bounds' is for discrete variables"):
        mine.query("a", known, engine=pgm.engines.Importance(guide="bounds"))
    exact = pgm.BayesianNetwork()
    exact.add("x", pgm.Gaussian(0.0, sd=1.0))
    exact.add("y", pgm.LinearGaussian({"x": 1.0}, sd=0.0))
    with pytest.raises(InvalidArgument, match='engine="importance" needs noise to move'):
        exact.query("x", {"y": 1.0}, engine="importance")


def test_soft_evidence_of_one_variable_is_a_likelihood() -> None:
    """As the error of engines that do not take pgm.Soft says."""
    mine, theirs = net_of(5, True)[0], net_of(5, False)[0]
    known, wanted = {"noisy": True}, {"i": 0.2, "j": 0.5, "k": 0.3}
    right = theirs.query("x", {**known, "a": pgm.Soft(wanted)})
    for name in ("gibbs", "importance", "likelihood-weighting"):
        with pytest.raises(InvalidEvidence, match="divided by the present one"):
            mine.query("x", {**known, "a": pgm.Soft(wanted)}, engine=name)
    engine = pgm.engines.LikelihoodWeighting(seed=1)
    now = mine.query("a", known, engine=engine)
    weights = pgm.Likelihood({state: p / now[state] for state, p in wanted.items()})
    near(mine.query("x", {**known, "a": weights}, engine=engine), right)
