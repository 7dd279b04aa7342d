"""Densities that a network learns: beside scikit-learn's own fits, and EM written out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity

import pgm
from pgm.errors import IncompleteModel, InvalidArgument, InvalidFrame

RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 2, 200)
FRAME: dict[str, Any] = {
    "c": np.array(["a", "b"])[CODES], "x": RNG.normal(2.0 * CODES, 1.0), "y": RNG.normal(-CODES, 1.0)
}  # fmt: skip
AT = np.linspace(-2.0, 4.0, 7)


def net_of(density: Any, names: str | list[str] = "x") -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("c", [0.5, 0.5], states=["a", "b"])
    net.add(names, pgm.DensityCPD(density), parents=["c"])
    return net


def logs(net: pgm.BayesianNetwork, state: str) -> np.ndarray:
    return np.log([net.cpd("x").probability({"c": state, "x": x}) for x in AT])


def test_a_clone_is_fitted_for_each_state() -> None:
    window, mixture = KernelDensity(bandwidth=0.5), GaussianMixture(2, random_state=0)
    net = net_of(window)
    with pytest.raises(IncompleteModel, match="'x': its KernelDensity is not fitted yet"):
        net.query("c", {"x": 1.0})
    net.fit(FRAME)
    for code, state in enumerate("ab"):
        rows = FRAME["x"][code == CODES][:, None]
        right = KernelDensity(bandwidth=0.5).fit(rows)
        np.testing.assert_allclose(logs(net, state), right.score_samples(AT[:, None]), rtol=1e-12)
        assert net.query("x", {"c": state}).mean == pytest.approx(rows.mean())
    assert not hasattr(window, "tree_")
    both = net_of({"a": mixture, "b": pgm.adapters.ParzenDensity()}).fit(FRAME)
    right = GaussianMixture(2, random_state=0).fit(FRAME["x"][CODES == 0][:, None])
    np.testing.assert_allclose(logs(both, "a"), right.score_samples(AT[:, None]), rtol=1e-12)
    refitted = both.copy().fit({name: column[:100] for name, column in FRAME.items()})
    assert not np.allclose(logs(refitted, "b"), logs(both, "b"))
    block = net_of(pgm.adapters.ParzenDensity(0.7), ["x", "y"]).fit(FRAME)
    rows = np.column_stack([FRAME["x"], FRAME["y"]])[CODES == 1]
    right = pgm.adapters.ParzenDensity(0.7).fit(rows)
    assert np.log(block.cpd("y").probability({"c": "b", "x": 1.0, "y": 0.0})) == pytest.approx(
        right.score_samples([[1.0, 0.0]])[0]
    )


def test_weights_are_rows_that_come_several_times() -> None:
    weights = RNG.integers(0, 4, 200)
    once = net_of(KernelDensity(bandwidth=0.5)).fit(FRAME, weights=weights)
    often = net_of(KernelDensity(bandwidth=0.5)).fit({n: np.repeat(c, weights) for n, c in FRAME.items()})
    for state in "ab":
        np.testing.assert_allclose(logs(once, state), logs(often, state), rtol=1e-9)
    with pytest.raises(InvalidArgument, match=r"'x', row c='a'.*GaussianMixture takes no sample_weight"):
        net_of(GaussianMixture(1)).fit(FRAME, weights=weights)


class Normal(BaseEstimator):
    """Fitted by maximum likelihood, so that each step of EM is taken."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        weights = np.ones(len(X)) if sample_weight is None else sample_weight
        self.mean_ = float(weights @ X[:, 0] / weights.sum())
        self.sd_ = float(np.sqrt(weights @ (X[:, 0] - self.mean_) ** 2 / weights.sum()))
        return self

    def score_samples(self, X: Any) -> Any:
        return stats.norm(self.mean_, self.sd_).logpdf(X[:, 0])


def test_em_weighs_rows_by_what_is_believed_of_them() -> None:
    known = np.arange(200) % 5 != 0
    gaps = {"x": FRAME["x"], "c": np.where(known, FRAME["c"], None)}
    found = net_of(Normal()).fit(gaps, tol=1e-12, max_iter=200)
    x, believed, keep = FRAME["x"][:, None], CODES.astype(np.float64), known
    for _ in range(100):
        fits = [Normal().fit(x[keep], sample_weight=w[keep]) for w in (1.0 - believed, believed)]
        share = float(believed[keep].mean())
        odds = np.log(share) - np.log1p(-share) + fits[1].score_samples(x) - fits[0].score_samples(x)
        believed, keep = np.where(known, CODES, 1.0 / (1.0 + np.exp(-odds))), np.ones(200, bool)
    np.testing.assert_allclose(logs(found, "b"), fits[1].score_samples(AT[:, None]), rtol=1e-5)
    assert found.cpd("c").values[1] == pytest.approx(share, rel=1e-5)
    hidden = net_of(KernelDensity(bandwidth=0.5)).fit({"x": FRAME["x"]}, latent=["c"], seed=0, max_iter=3)
    assert abs(hidden.query("x", {"c": "a"}).mean - hidden.query("x", {"c": "b"}).mean) > 1.0


def test_what_it_refuses() -> None:
    with pytest.raises(InvalidFrame, match=r"'x', row c='b': no row has these states"):
        net_of(KernelDensity()).fit({"c": ["a", "a"], "x": [0.0, 1.0]})
    with pytest.raises(InvalidArgument, match=r"rv_continuous_frozen has no `fit`.*fixed=\['x'\]"):
        net_of({"a": stats.norm(), "b": stats.norm(1.0)}).fit(FRAME)
    with pytest.raises(InvalidFrame, match=r"'x', row c='a': the density, a GaussianMixture, raises"):
        net_of(GaussianMixture(5)).fit({"c": ["a", "a", "b"], "x": [0.0, 1.0, 2.0]})
    with pytest.raises(InvalidArgument, match="continuous with missing cells"):
        net_of(KernelDensity()).fit({"c": ["a", "a", "b"], "x": [0.0, np.nan, 2.0]})
