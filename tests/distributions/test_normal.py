"""The normal log density against scipy, also where it can hardly be worked out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import pgm
from pgm.distributions.gaussian_statistics import gathered
from pgm.distributions.normal import (
    NORMALS,
    cholesky_of_correlations,
    log_normal,
    log_normals,
    log_peak,
    log_standard_normal,
)
from tests import strategies  # noqa: F401  (the profile of hypothesis)
from tests.loops import forms


def covariance(rng: np.random.Generator, dim: int) -> np.ndarray:
    root = rng.normal(size=(dim, dim + 1)) * 10.0 ** rng.uniform(-6, 6, size=(dim, 1))
    return root @ root.T


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_it_is_that_of_scipy_whatever_the_units(seed: int, dim: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = covariance(rng, dim)
    scale = np.sqrt(np.diag(matrix))
    off = rng.normal(size=(3, dim))
    correlations = matrix / np.outer(scale, scale)
    truth = stats.multivariate_normal(np.zeros(dim), correlations, allow_singular=True).logpdf(off)
    found = log_normal(off * scale, matrix)
    if found is None:
        assert np.linalg.eigvalsh(correlations).min() < 1e-12
        return
    loose = 1e-16 / np.linalg.eigvalsh(correlations).min()
    assert found + np.log(scale).sum() == pytest.approx(truth, rel=1e-10 + 100 * loose, abs=1e-10)
    of_class = pgm.Gaussian(np.zeros(dim), covariance=matrix).log_density(off * scale)
    assert of_class == pytest.approx(found, rel=1e-10 + 100 * loose, abs=1e-10)


def test_one_dimension_and_a_constant() -> None:
    x = np.linspace(-8.0, 8.0, 9)
    assert log_standard_normal(x) == pytest.approx(stats.norm.logpdf(x), rel=1e-14)
    assert log_normal(x[:, None], np.array([[6.25]])) == pytest.approx(
        stats.norm.logpdf(x, scale=2.5), rel=1e-13
    )
    assert log_peak(3, math.log(8.0)) == pytest.approx(
        stats.multivariate_normal(np.zeros(3), 2.0 * np.eye(3)).logpdf(np.zeros(3)), rel=1e-13
    )
    constant = log_normal(np.array([[0.0], [1e-9]]), np.zeros((1, 1)))
    assert constant is not None
    assert constant.tolist() == [math.inf, -math.inf]


def test_a_singular_covariance_has_no_density() -> None:
    for matrix in (np.ones((2, 2)), np.zeros((2, 2)), np.diag([1.0, 0.0])):
        assert log_normal(np.zeros(2), matrix) is None
        assert cholesky_of_correlations(matrix) is None
        with pytest.raises(pgm.InvalidArgument, match="singular: there is no density"):
            pgm.Gaussian([0.0, 0.0], covariance=matrix).log_density([0.0, 0.0])
    with pytest.raises(pgm.InvalidArgument, match="singular: there is no density"):
        pgm.Gaussian([0.0, 1.0], sd=[0.0, 1.0]).log_density(0.0)


@pytest.mark.parametrize("dim", [1, 2, 5])
@pytest.mark.parametrize("rows", [1, 127, 128, 300])
def test_many_rows_and_states_at_once(dim: int, rows: int) -> None:
    """Densities beside scipy's, sums of products beside numpy's; interpreted, the same bits."""
    random = np.random.default_rng(dim)
    x, means = random.normal(size=(rows, dim)) + 1e3, random.normal(size=(3, dim)) + 1e3
    roots = random.normal(size=(3, dim, dim)) + 2 * np.eye(dim)
    covariances = roots @ roots.transpose(0, 2, 1)
    weights = random.random((rows, 3))
    weights[:, 2] = 0.0

    def all_of_it() -> list[np.ndarray]:
        found, sums, sd = log_normals(x, means, covariances), gathered(x, weights, None, None), np.empty(dim)
        NORMALS.spreads(x.reshape(-1), dim, sd)
        return [np.asarray(found), sums.weight, sums.mean, sums.scatter, sd]

    logs, weight, mean, scatter, sd = all_of_it()
    for s in range(3):
        right = stats.multivariate_normal.logpdf(x, means[s], covariances[s])
        assert logs[:, s] == pytest.approx(np.atleast_1d(right), rel=1e-10)
        assert weight[s] == pytest.approx(weights[:, s].sum())
    for s in range(2):
        centre = np.average(x, axis=0, weights=weights[:, s])
        assert mean[s] == pytest.approx(centre, rel=1e-13)
        assert scatter[s] == pytest.approx((weights[:, s, None] * (x - centre)).T @ (x - centre), abs=1e-8)
    assert not scatter[2].any()
    assert sd == pytest.approx(x.std(axis=0), abs=1e-12)
    with forms.interpreted():
        for one, other in zip([logs, weight, mean, scatter, sd], all_of_it(), strict=True):
            assert np.array_equal(one, other)


def test_how_far_rows_lie_apart_leaves_out_what_is_missing() -> None:
    x, sd = np.array([[1.0, math.nan, math.nan], [3.0, 4.0, math.nan], [8.0, 7.0, math.nan]]), np.empty(3)
    NORMALS.spreads(x.reshape(-1), 3, sd)
    assert sd[:2] == pytest.approx(np.nanstd(x[:, :2], axis=0), rel=1e-14)
    assert math.isnan(sd[2])


def test_the_singular_one_is_named_by_its_number() -> None:
    assert log_normals(np.zeros((2, 2)), np.zeros((2, 2)), np.array([np.eye(2), np.ones((2, 2))])) == 1
