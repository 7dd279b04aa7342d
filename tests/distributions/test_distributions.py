"""Densities without a graph, beside scipy's and numpy's own."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import stats

import pgm
from pgm.distributions import LocalDistribution
from pgm.distributions.parts import Part


def near(value: Any) -> Any:
    return pytest.approx(value, rel=1e-12, abs=1e-13)


def test_a_gaussian_of_a_number_is_that_of_scipy() -> None:
    x = np.linspace(-3, 4, 7)
    g = pgm.Gaussian(0.5, sd=1.3)
    assert g.log_density(x) == near(stats.norm(0.5, 1.3).logpdf(x))
    assert float(g.log_density(2.0)) == near(stats.norm(0.5, 1.3).logpdf(2.0))
    many = pgm.Gaussian([0.0, 3.0], sd=[1.0, 2.0])
    assert many.log_density(x) == near(
        np.column_stack([stats.norm(0, 1).logpdf(x), stats.norm(3, 2).logpdf(x)])
    )


def test_a_gaussian_of_several_is_that_of_scipy() -> None:
    mean, covariance = [1.0, -2.0], [[2.0, 0.6], [0.6, 0.5]]
    g = pgm.Gaussian(mean, covariance=covariance)
    x = np.random.default_rng(0).normal(size=(5, 2))
    assert g.log_density(x) == near(stats.multivariate_normal(mean, covariance).logpdf(x))
    assert (g.dim, g.n_states) == (2, None)
    drawn = g.sample(50_000, seed=3)
    assert np.cov(drawn.T) == pytest.approx(np.array(covariance), abs=0.05)
    assert drawn.mean(axis=0) == pytest.approx(np.array(mean), abs=0.04)


def test_a_gaussian_is_fitted_to_columns_and_weights() -> None:
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=(40, 3)), rng.random(40)
    g = pgm.Gaussian(dim=3).fit(x, w)
    assert g.mean == near(np.average(x, axis=0, weights=w))
    assert g.covariance == near(np.cov(x.T, aweights=w, ddof=0))
    two = np.column_stack([w, 1 - w])
    both = pgm.Gaussian(dim=3).fit(x, two)
    assert both.n_states == 2
    assert both.mean[0] == near(g.mean)
    a, b = pgm.Gaussian(dim=3).statistics(x[:15], w[:15]), pgm.Gaussian(dim=3).statistics(x[15:], w[15:])
    assert pgm.Gaussian(dim=3).fitted(a + b).covariance == near(g.covariance)
    assert pgm.Gaussian().fit([1.0, 2.0, 6.0]).sd == near(np.std([1.0, 2.0, 6.0]))


def test_a_categorical_counts() -> None:
    b = pgm.Categorical([[0.5, 0.25, 0.25], [0.1, 0.1, 0.8]], symbols=["r", "g", "b"])
    assert b.n_states == 2
    assert b.log_density(["g", "b"]) == near(np.log([[0.25, 0.1], [0.25, 0.8]]))
    fitted = b.fit(["r", "b", "b"], [[1.0, 0.0], [0.5, 0.5], [0.5, 1.5]])
    assert fitted.p == near(np.array([[0.5, 0.0, 0.5], [0.0, 0.0, 1.0]]))
    assert set(b.sample(500, seed=0, state=1).tolist()) == {"r", "g", "b"}
    assert pgm.Categorical({"x": 1.0, "y": 0.0}).log_density("y") == -np.inf


@pytest.mark.parametrize(
    ("one", "data"),
    [
        (pgm.Gaussian(0.0, sd=1.0), np.array([1.0, 2.0, 4.0, 8.0, 5.0])),
        (pgm.Gaussian(dim=2), np.array([[1.0, 2.0], [4.0, 8.0], [5.0, 1.0], [0.0, 0.5], [2.0, 2.0]])),
        (pgm.Categorical([0.5, 0.5], symbols=["a", "b"]), np.array(["a", "b", "a", "a", "b"])),
    ],
    ids=["a number", "two", "symbols"],
)
def test_they_keep_the_protocol_of_local_distributions(one: Any, data: np.ndarray) -> None:
    """Statistics of parts add up, weights are rows, a prior is rows nobody saw, parts make it again."""
    assert isinstance(one, LocalDistribution)
    times = np.array([1, 2, 1, 3, 1])
    whole = one.fit(data, times.astype(float))
    again = one.fit(np.repeat(data, times, axis=0))
    first, rest = one.statistics(data[:2], times[:2]), one.statistics(data[2:], times[2:])
    for other in (again, one.fitted(first + rest), one.fitted(first, prior=rest)):
        for field in ("p",) if isinstance(one, pgm.Categorical) else ("mean", "covariance"):
            assert getattr(other, field) == near(getattr(whole, field))
    assert type(one).from_parts(Part.of(whole.to_parts())) == whole
    several = one.fit(data, np.column_stack([times, times[::-1]]))
    assert type(one).from_parts(Part.of(several.to_parts())) == several


def test_they_are_values() -> None:
    for made in (
        pgm.Gaussian(0.0, sd=1.0),
        pgm.Gaussian([0.0, 1.0], covariance=np.eye(2)),
        pgm.Gaussian(dim=2),
        pgm.Categorical([0.2, 0.8]),
    ):
        assert pickle.loads(pickle.dumps(made)) == made
        with pytest.raises(AttributeError):
            made.dim = 3
        assert "<" in made._repr_html_()
    with pytest.raises(ValueError, match="read-only"):
        pgm.Gaussian([0.0, 1.0], covariance=np.eye(2)).mean[0] = 3.0


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: pgm.Gaussian(0.0, sd=-1.0), "cannot be negative"),
        (lambda: pgm.Gaussian(0.0), "sd= .* or covariance="),
        (lambda: pgm.Gaussian(sd=1.0), "needs a mean"),
        (lambda: pgm.Gaussian("high", sd=1.0), "numbers"),
        (lambda: pgm.Gaussian(float("nan"), sd=1.0), "finite"),
        (lambda: pgm.Gaussian([0, 0], covariance=[[1, 2], [2, 1]]), "negative eigenvalue"),
        (lambda: pgm.Gaussian([0, 0], covariance=[[1, 2], [0, 1]]), "not symmetric"),
        (lambda: pgm.Gaussian([0, 0, 0], covariance=np.eye(2)), "does not match"),
        (lambda: pgm.Gaussian(0.0, sd=1e-200), "another unit"),
        (lambda: pgm.Gaussian([0, 0], covariance=[[1, 1], [1, 1]]).log_density([0, 0]), "singular"),
        (lambda: pgm.Gaussian().log_density(0.0), "no parameters yet"),
        (lambda: pgm.Gaussian().fit([]), "no row with any weight"),
        (lambda: pgm.Gaussian().fit([1.0], weights=[-1.0]), "non-negative"),
        (lambda: pgm.Categorical([0.5, 0.6]), "not to 1.1"),
        (lambda: pgm.Categorical([1.5, -0.5]), "not negative"),
        (lambda: pgm.Categorical([1.0], symbols=["a", "b"]), "2 symbols for 1"),
        (lambda: pgm.Categorical([0.5, 0.5]).log_density("x"), "not one of the symbols"),
    ],
)
def test_mistakes_are_named(make: Any, what: str) -> None:
    with pytest.raises(pgm.PGMError, match=what):
        make()
