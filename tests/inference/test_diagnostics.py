"""R-hat, effective sample size and intervals, beside arviz and closed forms."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pgm.inference.engines.sampling.diagnostics import (
    NORMAL_95,
    effective_sample_size,
    r_hat,
    share_interval,
    split,
)

REFERENCE = json.loads((Path(__file__).parents[1] / "known/references/chains.json").read_text())["cases"]


def numbers(case: dict) -> np.ndarray:
    return np.array([[float(x) for x in chain] for chain in case["chains"]])


@pytest.mark.parametrize("case", REFERENCE)
def test_as_arviz_has_it(case):
    """`tests/known/references/chains.json` says how its numbers were made."""
    chains = numbers(case)
    assert effective_sample_size(chains) == pytest.approx(case["ess"], rel=1e-9)
    assert r_hat(chains) == pytest.approx(case["r_hat"], rel=1e-9)


def test_many_at_once_are_each_by_itself():
    rng = np.random.default_rng(1)
    chains = rng.random((5, 4, 30))
    together = effective_sample_size(chains), r_hat(chains)
    for i in range(5):
        assert together[0][i] == pytest.approx(effective_sample_size(chains[i]))
        assert together[1][i] == pytest.approx(r_hat(chains[i]))


def test_an_autoregression_has_the_size_that_its_spectrum_says():
    """x' = rho x + noise: n (1 - rho) / (1 + rho) draws are as good as independent."""
    rng, rho, n = np.random.default_rng(2), 0.8, 20_000
    x = np.zeros((4, n))
    for t in range(1, n):
        x[:, t] = rho * x[:, t - 1] + rng.normal(size=4)
    assert effective_sample_size(x) == pytest.approx(4 * n * (1 - rho) / (1 + rho), rel=0.1)


def test_chains_that_stand_still():
    assert np.isnan(effective_sample_size(np.ones((4, 20))))
    assert r_hat(np.ones((4, 20))) == 1.0
    apart = np.repeat([[0.0], [0.0], [1.0], [1.0]], 20, axis=1)
    assert r_hat(apart) == np.inf


def test_halves_of_an_odd_chain_leave_out_the_middle():
    assert split(np.arange(5.0)[None]).tolist() == [[0.0, 1.0], [3.0, 4.0]]


def test_wilsons_interval_solves_its_equation():
    """At its ends p lies as many standard deviations off as the normal law says (Wilson 1927)."""
    p, n = np.array([0.1, 0.5, 0.93]), np.array([20.0, 100.0, 1000.0])
    for end in share_interval(p, n):
        np.testing.assert_allclose(np.abs(p - end), NORMAL_95 * np.sqrt(end * (1 - end) / n), rtol=1e-9)
    low, high = share_interval(np.array([0.0, 1.0]), np.array([100.0, 100.0]))
    assert low.tolist() == pytest.approx([0.0, 1.0 - high[0]])
    assert high[1] == 1.0
    assert 0.03 < high[0] < 0.04
