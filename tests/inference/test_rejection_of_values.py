"""Rejection sampling where continuous variables are observed: kept in proportion to a bounded density."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import LinearRegression

import pgm
from pgm.errors import InvalidArgument, NoSupportFound

ENGINE = pgm.engines.Rejection(samples=40_000, seed=3)


def net_of(seed: int, own: bool) -> pgm.BayesianNetwork:
    """a, b -> x with a standard deviation for each row; x -> y; a -> s."""
    rng = np.random.default_rng(seed)
    net = pgm.BayesianNetwork()
    net.add("a", float(rng.uniform(0.3, 0.7)))
    net.add("b", rng.dirichlet(np.ones(3) * 3), states=["i", "j", "k"])
    rows: dict[Any, Any] = {}
    for a in (False, True):
        for b in "ijk":
            mean, sd = float(rng.normal()), float(rng.uniform(0.4, 1.6))
            rows[a, b] = stats.norm(mean, sd) if own else pgm.Gaussian(mean, sd=sd)
    net.add("x", pgm.DensityCPD(rows) if own else rows, parents=["a", "b"])
    net.add("y", pgm.LinearGaussian({"x": -0.7}, bias=0.2, sd=0.8))
    net.add("s", {False: 0.2, True: 0.7}, parents=["a"])
    return net


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("own", [False, True])
def test_values_that_are_observed(seed: int, own: bool) -> None:
    net, lines = net_of(seed, own), net_of(seed, False)
    likely = pgm.Likelihood({"i": 5.0, "j": 20.0, "k": 8.0})  # above one: only ratios matter
    for known in ({"x": 0.4, "b": likely}, {"y": -0.3, "s": True}, {"x": pgm.Interval(0.0, 1.0), "y": 0.1}):
        found, right = net.query(["a", "b"], known, engine=ENGINE), lines.query(["a", "b"], known)
        np.testing.assert_allclose(found.values, right.values, atol=4 * found.report.error)
        assert found.report.error < 0.02
        total = net.probability(known, engine=ENGINE)
        assert float(total) == pytest.approx(float(lines.probability(known)), rel=4 * total.report.log_error)
    y, right_y = net.query("y", {"x": 0.4}, engine=ENGINE), lines.query("y", {"x": 0.4})
    assert y.mean == pytest.approx(right_y.mean, abs=4 * y.report.error)
    assert y.variance == pytest.approx(right_y.variance, rel=0.1)


def test_what_was_known_is_in_the_title() -> None:
    net = net_of(0, True)
    chains = pgm.engines.Gibbs(samples=2000, burn_in=20)
    for engine in ("rejection", "likelihood-weighting", chains):
        assert "P(a | y=0.5)" in str(net.query("a", {"y": 0.5}, engine=engine))


def test_a_regressor_needs_one_standard_deviation() -> None:
    x = np.linspace(-2, 2, 30)[:, None]
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, sd=1.0))
    line = LinearRegression().fit(x, 2.0 * x[:, 0])
    net.add("y", pgm.EstimatorCPD(line, parents=["x"], sd=0.5))
    found = net.query("x", {"y": 1.0}, engine=ENGINE)  # the posterior of a line: 2 y / (4 + .25)
    assert found.mean == pytest.approx(2.0 / 4.25, abs=4 * found.report.error)
    assert found.sd == pytest.approx(np.sqrt(0.25 / 4.25), rel=0.05)
    process = GaussianProcessRegressor(alpha=0.1, optimizer=None).fit(x, np.sin(x[:, 0]))
    net.set("y", pgm.EstimatorCPD(process, parents=["x"]))
    with pytest.raises(
        InvalidArgument, match=r"'y' is observed, and its density has no known upper bound.*sd="
    ):
        net.query("x", {"y": 0.5}, engine=ENGINE)
    assert net.query("x", {"y": pgm.Interval(0.0, 1.0)}, engine=ENGINE).mean > 0.2


def test_nothing_is_accepted() -> None:
    net = net_of(1, False)
    with pytest.raises(NoSupportFound, match=r"no sample of 40,000 was accepted"):
        net.query("a", {"y": 60.0}, engine=ENGINE)
    zero = pgm.BayesianNetwork()
    zero.add("x", pgm.DensityCPD(stats.uniform(0, 1)))
    zero.add("late", pgm.Logistic({"x": 1.0}))
    with pytest.raises(NoSupportFound):
        zero.query("late", {"x": 3.0}, engine=ENGINE)
    found = zero.query("late", {"x": 0.5}, engine=ENGINE)
    assert found[True] == pytest.approx(1 / (1 + np.exp(-0.5)), abs=4 * found.report.error + 1e-12)
