"""Beliefs about answers: quantiles of Beta distributions, draws of a formula, the delta method."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.stats import beta

import pgm

ROWS = {"rain": [True] * 12 + [False] * 28, "wet": [True] * 10 + [False] * 2 + [True] * 5 + [False] * 23}


def fitted(prior="laplace", **options):
    return pgm.BayesianNetwork(edges="rain -> wet").fit(ROWS, prior=prior, **options)


def test_of_one_table_it_is_a_beta_distribution():
    found = fitted().credible_interval("rain", level=0.9, draws=20_000, seed=0)
    law = beta(13, 29)
    assert found.nodes == ("rain",)
    assert found.interval == pytest.approx(law.ppf([0.05, 0.95]), abs=0.005)
    assert found.mean == pytest.approx(law.mean(), abs=4 * found.report.error)
    assert found.sd == pytest.approx(law.std(), rel=0.03)
    assert not found.exact


def test_of_a_posterior_it_is_bayes_rule_of_independent_draws():
    net = fitted()
    found = net.credible_interval("rain", {"wet": True}, draws=4_000, seed=0)
    rng = np.random.default_rng(5)
    rain, wet, dry = (rng.beta(a, b, 200_000) for a, b in ((13, 29), (11, 3), (6, 24)))
    drawn = rain * wet / (rain * wet + (1 - rain) * dry)
    assert found.interval == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.015)
    assert found.mean == pytest.approx(drawn.mean(), abs=4 * found.report.error)
    assert found.probability == net.query("rain", {"wet": True})[True]
    assert found.nodes == ("rain", "wet")
    again = net.credible_interval("rain", {"wet": True}, draws=4_000, seed=0)
    assert again.interval == found.interval


def test_of_many_rows_it_is_the_delta_method():
    """Van Allen et al. 2008: the variance is the sum over rows of gradient' covariance gradient."""
    truth = pgm.load_network("asia")
    net = pgm.BayesianNetwork(edges=truth.edges).fit(truth.sample(20_000, seed=0), prior="bdeu")
    known = {"dysp": "yes"}
    found = net.credible_interval("bronc", known, state="yes", draws=1_500, seed=1)
    slopes, variance = net.sensitivity("bronc", known, state="yes", zeros=True), 0.0
    for name in found.nodes:
        belief = net.posterior(name)
        alpha, mean = belief.alpha, belief.mean
        total = alpha.sum(axis=-1, keepdims=True)
        # Of two states one number, whose derivative is that of the row.
        variance += (slopes[name][..., 1] ** 2 * (mean[..., 0] * mean[..., 1] / (total[..., 0] + 1))).sum()
    assert found.sd == pytest.approx(np.sqrt(variance), rel=0.1)


def test_fixed_nodes_stay_and_tied_ones_move_together():
    held = fitted().fit(ROWS, prior="laplace", fixed=["rain"])
    assert held.credible_interval("rain", {"wet": True}, draws=50, seed=0).nodes == ("wet",)
    assert held.credible_interval("rain", draws=5, seed=0).sd == 0.0
    net = pgm.BayesianNetwork()
    net.add("a", 0.5)
    net.add("b", 0.5)
    net.add("c", {(True, False): 1.0, ...: 0.0}, parents=["a", "b"])  # P(c) = p (1 - p), at most 1/4
    rows = {"a": [True, True, False], "b": [True, False, False], "c": [False, True, False]}
    apart = net.copy().fit(rows, prior="laplace", fixed=["c"]).credible_interval("c", draws=200, seed=0)
    assert apart.draws.max() > 0.3
    tied = net.fit(rows, prior="laplace", fixed=["c"], tied=[["a", "b"]])
    together = tied.credible_interval("c", draws=200, seed=0)
    assert set(together.nodes) == {"a", "b"}
    assert together.draws.max() <= 0.25 + 1e-12


def test_it_prints_and_is_drawn():
    found = fitted().credible_interval("rain", {"wet": True}, draws=100, seed=0)
    assert str(found).startswith("P(rain=True | wet=True) = ")
    assert "drawn 100 times" in str(found)
    assert "<table" in found._repr_html_()
    assert set(found.to_dict()) == {"probability", "mean", "sd", "low", "high"}
    assert len(found.to_pandas()) == 1
    copy = pickle.loads(pickle.dumps(found))
    assert copy.interval == found.interval
    assert found.plot().get_xlabel() == "P(rain=True | wet=True)"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: fitted().credible_interval("rain", level=1.0), "level= is a probability"),
        (lambda: fitted().credible_interval("rain", draws=1), "draws="),
        (lambda: fitted(None).credible_interval("rain"), "`fit` had no prior"),
        (lambda: pgm.load_network("asia").credible_interval("lung"), "call `fit` with a prior first"),
        (lambda: fitted().credible_interval("rain", {"rain": True}), "is given"),
    ],
)
def test_mistakes(ask, message):
    with pytest.raises(pgm.PGMError, match=message):
        ask()
