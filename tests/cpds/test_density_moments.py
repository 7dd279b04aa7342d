"""Moments of densities: against integrals of the densities themselves, and laws of total variance."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity

import pgm
from pgm.cpds.density_moments import moments_of
from pgm.cpds.given_densities import form_of
from pgm.errors import InvalidArgument

RNG = np.random.default_rng(5)
ONE = np.concatenate([RNG.normal(0, 1, 20), RNG.gamma(3.0, size=20)])[:, None]
TWO = RNG.normal(size=(40, 2)) @ np.array([[1.0, 0.7], [0.0, 0.5]])
ROW_WEIGHTS = RNG.uniform(0.2, 1.0, 40)
KERNELS = ("gaussian", "tophat", "epanechnikov", "exponential", "linear")
FORMS, WINDOWS = ("full", "tied", "diag", "spherical"), ("gaussian", "epanechnikov")
UNIVARIATE = [
    stats.gamma(2.0, scale=1.5),
    stats.rv_histogram(np.histogram(ONE, bins=6))(),
    stats.gaussian_kde(ONE[:, 0], weights=ROW_WEIGHTS),
    *[KernelDensity(kernel=kernel, bandwidth=0.8).fit(ONE, sample_weight=ROW_WEIGHTS) for kernel in KERNELS],
    GaussianMixture(2, random_state=0).fit(ONE),
    pgm.Gaussian(1.0, sd=2.0),
    pgm.GaussianMixture(weights=[0.3, 0.7], mean=[0.0, 4.0], sd=[1.0, 2.0]),
    pgm.StudentT(mean=1.0, scale=2.0, df=7.0),
    pgm.adapters.HistogramDensity(5).fit(ONE),
    pgm.adapters.HistogramDensity(5, polygon=True).fit(ONE),
    *[pgm.adapters.ParzenDensity(0.8, window=w).fit(ONE) for w in ("gaussian", "cube", "epanechnikov")],
]


@pytest.mark.parametrize("density", UNIVARIATE, ids=lambda d: type(d).__name__)
def test_of_one_number(density: Any) -> None:
    mean, covariance = moments_of("'x'", "", density, 1)
    form = form_of(density)
    assert form is not None
    x = np.linspace(-90.0, 110.0, 1_000_001)
    y = np.exp(np.asarray(form.logs(density, x[::50, None])).ravel())
    first, second = (integrate.simpson(y * x[::50] ** k, x=x[::50]) for k in (1, 2))
    assert integrate.simpson(y, x=x[::50]) == pytest.approx(1.0, abs=5e-3)
    assert mean[0] == pytest.approx(first, abs=1e-2)
    assert covariance[0, 0] == pytest.approx(second - first**2, rel=1e-2)


@pytest.mark.parametrize(
    "density",
    [
        stats.multivariate_normal([1.0, 2.0], [[1.0, 0.3], [0.3, 2.0]]),
        stats.multivariate_t([1.0, 2.0], [[1.0, 0.3], [0.3, 2.0]], df=6),
        stats.gaussian_kde(TWO.T),
        *[GaussianMixture(2, covariance_type=c, random_state=0).fit(TWO) for c in FORMS],
        *[KernelDensity(kernel=kernel, bandwidth=0.7).fit(TWO) for kernel in KERNELS],
        pgm.adapters.HistogramDensity(4).fit(TWO),
        *[pgm.adapters.ParzenDensity(0.8, window=w, covariance="full").fit(TWO) for w in WINDOWS],
        pgm.adapters.ParzenDensity(0.8, grid=40).fit(TWO),
    ],
    ids=lambda d: type(d).__name__,
)  # fmt: skip
def test_of_a_block(density: Any) -> None:
    mean, covariance = moments_of("'x'", "", density, 2)
    form = form_of(density)
    assert form is not None
    axis = np.linspace(-14.0, 14.0, 281)
    at = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    y = np.exp(np.asarray(form.logs(density, at)))
    y /= y.sum()
    np.testing.assert_allclose(mean, y @ at, atol=0.02)
    np.testing.assert_allclose(covariance, (y[:, None] * (at - y @ at)).T @ (at - y @ at), atol=0.06)


def test_a_hidden_number_has_exact_moments() -> None:
    net = pgm.BayesianNetwork()
    net.add("a", 0.3)
    net.add("b", 0.6)
    net.add("test", {True: 0.9, False: 0.2}, parents=["a"])
    means, variances = {}, {}
    rows = {}
    for i, key in enumerate([(True, True), (True, False), (False, True), (False, False)]):
        rows[key] = stats.gamma(1.0 + i) if i % 2 else stats.norm(i, 2.0)
        means[key], variances[key] = (1.0 + i, 1.0 + i) if i % 2 else (float(i), 4.0)
    net.add("x", pgm.DensityCPD(rows), parents=["a", "b"])
    net.add("y", pgm.LinearGaussian({"x": 1.0}, sd=1.0))
    for known in ({"test": True}, {"test": True, "b": False}, {"a": True, "b": True}, {}):
        p, shares = (
            net.query("x", known),
            net.query(["a", "b"], {k: v for k, v in known.items() if k not in "ab"}),
        )
        weights = {
            key: shares[key] * all(known.get(n, s) == s for n, s in zip("ab", key, strict=True))
            for key in rows
        }
        total = sum(weights.values())
        mean = sum(w * means[key] for key, w in weights.items()) / total
        square = sum(w * (variances[key] + means[key] ** 2) for key, w in weights.items()) / total
        assert p.exact
        assert p.form == "moments"
        assert p.mean == pytest.approx(mean, rel=1e-12)
        assert p.variance == pytest.approx(square - mean**2, rel=1e-12)
        assert p.plot() is not None
    with pytest.raises(InvalidArgument, match=r"not of normals \(then ask for it at a value"):
        net.query("x").pdf(1.0)
    for known in ({"y": 1.0}, {"y": pgm.Interval(0.0, 1.0)}):
        with pytest.raises(pgm.PGMError):
            net.query("x", known)
    with pytest.raises(InvalidArgument, match="no form"):
        net.query("y")


def test_a_block_in_part_and_what_says_no_moments() -> None:
    net = pgm.BayesianNetwork()
    net.add("k", 0.25)
    left = stats.multivariate_normal([0.0, 1.0], [[1.0, 0.5], [0.5, 2.0]])
    right = GaussianMixture(1, random_state=0).fit(TWO)
    net.add(["u", "v"], pgm.DensityCPD({True: left, False: right}), parents=["k"])
    both = net.query(["v", "u"])
    mean = 0.25 * np.array([1.0, 0.0]) + 0.75 * right.means_[0, ::-1]
    np.testing.assert_allclose(both.mean, mean, rtol=1e-12)
    assert both.covariance[0, 1] == pytest.approx(
        0.25 * 0.5 + 0.75 * right.covariances_[0, 0, 1]
        + 0.25 * 0.75 * np.prod(np.array([1.0, 0.0]) - right.means_[0, ::-1])
    )  # fmt: skip
    assert net.query("u").mean == pytest.approx(mean[1])
    net.add("cauchy", pgm.DensityCPD(stats.cauchy()))
    with pytest.raises(InvalidArgument, match=r"'cauchy'.*no finite mean and variance.*\"gibbs\""):
        net.query("cauchy")
    net.add("z", pgm.DensityCPD(KernelDensity(kernel="cosine").fit(ONE)))
    with pytest.raises(InvalidArgument, match="KernelDensity, does not provide its mean"):
        net.query("z")


def test_marginals_have_hidden_densities() -> None:
    """As `query` answers them, each; what depends on a hidden one is refused, never left out in silence."""
    net = pgm.BayesianNetwork()
    net.add("c", 0.3)
    net.add("d", {True: 0.9, False: 0.2}, parents="c")
    net.add("wear", pgm.DensityCPD({True: stats.gamma(5.0), False: stats.norm(1.0, 3.0)}), parents="c")
    joint = stats.multivariate_normal([1.0, 2.0], [[1.0, 0.3], [0.3, 2.0]])
    net.add(["u", "v"], pgm.DensityCPD(joint))
    net.add("g", {True: pgm.Gaussian(0.0, sd=1.0), False: pgm.Gaussian(5.0, sd=2.0)}, parents="d")
    for known in ({}, {"d": True}, {"g": 1.0}, {"wear": 2.0}, {"c": True}):
        found = net.marginals(known)
        assert list(found) == [name for name in net.nodes if name not in known]
        for name, p in found.items():
            alone = net.query(name, known)
            if name in "cd":
                np.testing.assert_allclose(p.values, alone.values, atol=1e-14)
            else:
                assert (p.mean, p.std) == (pytest.approx(alone.mean), pytest.approx(alone.std))
        assert found.exact
    assert net.marginals(targets=["wear", "g"])["wear"].mean == pytest.approx(0.3 * 5.0 + 0.7)
    assert pickle.loads(pickle.dumps(net.marginals()))["wear"].mean == pytest.approx(0.3 * 5.0 + 0.7)
    net.add("y", pgm.LinearGaussian({"wear": 1.0}, sd=1.0))
    with pytest.raises(InvalidArgument, match=r"'wear'.*depends on 'wear'.*targets="):
        net.marginals()
    assert set(net.marginals(targets=["c", "g", "wear"])) == {"c", "g", "wear"}
    net.add("k", pgm.DensityCPD(Silent()))
    with pytest.raises(InvalidArgument, match=r"'k'.*does not provide its mean"):
        net.marginals(targets=["k", "c"])


class Silent:
    """A density that does not say its moments."""

    def score_samples(self, rows: Any) -> Any:
        return stats.norm.logpdf(np.asarray(rows)[:, 0])
