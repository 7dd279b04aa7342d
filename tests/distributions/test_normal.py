"""The normal log density against scipy, also where it can hardly be worked out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import pgm
from pgm.distributions.normal import cholesky_of_correlations, log_normal, log_peak, log_standard_normal
from tests import strategies  # noqa: F401  (the profile of hypothesis)


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
