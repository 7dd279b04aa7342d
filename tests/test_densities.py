"""Densities as results: numbers against scipy, and what they show."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import pgm
from pgm.variables import REAL, Variable
from tests import strategies  # noqa: F401  (the profile of hypothesis)


def near(value: Any) -> Any:
    return pytest.approx(value, rel=1e-11, abs=1e-13)


def mixture(weights: Any, means: Any, sds: Any) -> pgm.Density:
    w, m, s = (np.array(values, dtype=float) for values in (weights, means, sds))
    return pgm.Density((Variable("x", REAL),), w, m[:, None], (s**2)[:, None, None])


def test_a_normal_is_that_of_scipy() -> None:
    p, truth = mixture([1.0], [2.0], [3.0]), stats.norm(2.0, 3.0)
    x = np.linspace(-8, 12, 9)
    assert p.pdf(x) == near(truth.pdf(x))
    assert p.log_pdf(1e3) == near(truth.logpdf(1e3))
    assert p.cdf(x) == near(truth.cdf(x))
    q = [0.0, 1e-12, 0.3, 0.5, 1.0]
    assert p.quantile(q) == near(truth.ppf(q))
    assert (p.mean, p.std, p.entropy(), p.mode()) == near((2.0, 3.0, truth.entropy(), 2.0))
    assert isinstance(p.pdf(1.0), float)


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.booleans())
def test_quantiles_turn_the_distribution_function_round(seed: int, k: int, atoms: bool) -> None:
    rng = np.random.default_rng(seed)
    sds = rng.exponential(size=k) * (rng.random(k) < 0.7 if atoms else 1.0)
    p = mixture(rng.dirichlet(np.ones(k)), 10 * rng.normal(size=k), sds)
    q = rng.random(5)
    x = p.quantile(q)
    assert (p.cdf(np.nextafter(x, np.inf)) >= q - 1e-12).all()
    assert (p.cdf(np.nextafter(x, -np.inf)) <= q + 1e-12).all()


def test_the_ends_of_a_mixture() -> None:
    p = mixture([0.5, 0.5], [0.0, 3.0], [0.0, 1.0])
    assert p.quantile([0.0, 1.0]).tolist() == [-np.inf, np.inf]
    assert p.quantile(0.4) == 0.0  # the atom
    assert p.cdf([-1e-9, 0.0]) == pytest.approx([0.5 * stats.norm.cdf(-3), 0.5 + 0.5 * stats.norm.cdf(-3)])
    assert p.pdf(0.0) == np.inf
    assert p.pdf(3.0) == near(0.5 * stats.norm.pdf(0.0))


def test_the_moments_of_a_mixture() -> None:
    p = mixture([0.3, 0.7], [-1.0, 2.0], [1.0, 0.5])
    assert p.mean == near(1.1)
    assert p.variance == near(0.3 * (1 + 1) + 0.7 * (0.25 + 4) - 1.1**2)
    assert p.form == "mixture"
    drawn = p.sample(40_000, seed=0)
    assert drawn.mean() == pytest.approx(1.1, abs=5 * p.std / 200)
    for refused in (p.mode, p.entropy, lambda: p.expectation(lambda x: x**2)):
        with pytest.raises(pgm.InvalidArgument):
            refused()


def test_a_density_has_nothing_of_what_is_about_states() -> None:
    p = mixture([1.0], [2.0], [3.0])
    for name in ("values", "states", "keys", "items", "bounds"):
        with pytest.raises(AttributeError, match=rf"a Density has no \.{name}: see \.mean, \.variance"):
            getattr(p, name)
    for name in ("__getitem__", "__iter__", "__array__"):
        assert not hasattr(p, name)
    with pytest.raises(TypeError, match="'Density' object is not subscriptable"):
        p[1.0]  # type: ignore[index]
    with pytest.raises(AttributeError, match=r"has no \.meen$") as caught:
        p.meen  # noqa: B018
    assert (caught.value.name, caught.value.obj) == ("meen", p)  # by which Python proposes .mean
    assert not isinstance(p, pgm.Distribution)


def joint() -> pgm.Density:
    net = pgm.BayesianNetwork()
    net.add("a", pgm.Gaussian(1.0, 1.0))
    net.add("b", pgm.LinearGaussian({"a": 2.0}, sd=1.0))
    return net.query(["b", "a"])


def test_a_joint_has_names_mean_and_covariance() -> None:
    p = joint()
    assert p.names == ("b", "a")
    assert p.mean.tolist() == [2.0, 1.0]
    assert p.covariance == near(np.array([[5.0, 2.0], [2.0, 1.0]]))
    truth = stats.multivariate_normal([2.0, 1.0], [[5.0, 2.0], [2.0, 1.0]])
    points = np.array([[0.5, 0.1], [2.0, -1.0]])
    assert p.pdf(points) == near(truth.pdf(points))
    assert p.pdf({"a": 0.1, "b": 0.5}) == near(truth.pdf([0.5, 0.1]))
    assert p.marginal("a").mean == 1.0
    assert p.marginal(["a", "b"]).covariance[0, 0] == near(1.0)
    assert p.mode() == {"b": 2.0, "a": 1.0}
    assert p.entropy() == near(truth.entropy())
    with pytest.raises(pgm.InvalidArgument, match=r"p\.marginal"):
        p.cdf(1.0)


def test_it_prints() -> None:
    assert repr(mixture([1.0], [2.0], [3.0])) == "variable  mean  sd\nx         2     3"
    assert repr(mixture([0.25, 0.75], [2.0, 6.0], [1.0, 1.0])) == (
        "p(x)          mean  sd\nall           5     2\np = 0.750000  6     1\np = 0.250000  2     1\n"
        "a mixture of 2 normals"
    )
    assert repr(joint()).splitlines()[0].split() == ["variable", "mean", "cov", "b", "cov", "a"]
    assert "<table" in joint()._repr_html_()


def test_results_are_values() -> None:
    p = mixture([0.25, 0.75], [2.0, 6.0], [1.0, 1.0])
    assert pickle.loads(pickle.dumps(p)) == p
    assert hash(p) == hash(pickle.loads(pickle.dumps(p)))
    with pytest.raises(AttributeError):
        p.form = "normal"  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        p.components[1][0] = 3.0
    assert p.to_dict() == {"mean": 5.0, "sd": 2.0}
    assert p.to_pandas()["mean"] == 5.0


def test_marginals_of_both_kinds() -> None:
    net = pgm.BayesianNetwork()
    net.add("c", {"u": 0.25, "v": 0.75})
    net.add("x", {"u": pgm.Gaussian(2.0, 1.0), "v": pgm.Gaussian(6.0, 1.0)}, parents="c")
    found = net.marginals()
    assert repr(found) == (
        "variable  most probable  P\nc         v              0.750000\nx         5 (mean)       2 (sd)"
    )
    again = pickle.loads(pickle.dumps(found))
    assert (again["x"], again["c"]) == (found["x"], found["c"])
    assert [type(p) for p in found.values()] == [pgm.Distribution, pgm.Density]
    assert found.to_dict()["x"] == {"mean": 5.0, "sd": 2.0}
    assert len(found.to_pandas()) == 3
    with pytest.raises(pgm.UnknownVariable, match="Did you mean 'x'"):
        found["X"]
    best = net.map()
    assert dict(best) == {"c": "v", "x": 6.0}
    assert dict(pickle.loads(pickle.dumps(best))) == dict(best)
    assert "log density" in repr(best)
    drawn = net.sample(10, seed=0)
    assert drawn["x"].dtype == np.float64
    assert net.sample(10, seed=0) == drawn


def test_numbers_of_an_assignment_make_an_array() -> None:
    net = pgm.BayesianNetwork()
    net.add("x[1]", pgm.Gaussian(2.0, 1.0))
    net.add("x[0]", pgm.LinearGaussian({"x[1]": 2.0}, sd=1.0))
    assert net.map().to_array("x").tolist() == [4.0, 2.0]
