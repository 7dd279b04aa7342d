"""Cuts beside scikit-learn's, numpy's quantiles and enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import pgm
from pgm.errors import InvalidArgument, InvalidFrame


def inner(bins: pgm.Bins) -> list[float]:
    assert (bins.edges[0], bins.edges[-1]) == (-np.inf, np.inf)
    return list(bins.edges[1:-1])


@pytest.mark.parametrize(
    ("method", "strategy"), [("width", "uniform"), ("quantile", "quantile"), ("k-means", "kmeans")]
)
def test_cuts_are_those_of_scikit_learn(method: str, strategy: str) -> None:
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    for seed in range(5):
        x = np.random.default_rng(seed).gamma(2.0, size=200)
        options = {"quantile_method": "linear"} if strategy == "quantile" else {}
        try:
            peer = preprocessing.KBinsDiscretizer(5, encode="ordinal", strategy=strategy, **options)
        except TypeError:  # of an earlier version
            peer = preprocessing.KBinsDiscretizer(5, encode="ordinal", strategy=strategy)
        wanted = peer.fit(x[:, None]).bin_edges_[0][1:-1]
        found = inner(pgm.discretize(x, method, 5))
        if method != "k-means":
            np.testing.assert_allclose(found, wanted, rtol=1e-9)
            continue
        which = np.searchsorted(found, x)  # the peer stops a little before the means rest
        means = [float(x[which == k].mean()) for k in range(5)]
        np.testing.assert_allclose(found, [(a + b) / 2 for a, b in itertools.pairwise(means)], rtol=1e-9)
        spread = sum(float(((x[which == k] - means[k]) ** 2).sum()) for k in range(5))
        theirs = np.searchsorted(wanted, x)
        assert (
            spread
            <= sum(
                float(((part - part.mean()) ** 2).sum()) for k in range(5) if (part := x[theirs == k]).size
            )
            + 1e-9
        )
        np.testing.assert_allclose(found, wanted, rtol=0.02)


def gain_pays(x: np.ndarray, c: np.ndarray, cut: float) -> tuple[float, bool]:
    """Fayyad and Irani's gain and criterion, written down once more, slowly."""

    def entropy(part: np.ndarray) -> float:
        shares = [float((part == k).mean()) for k in set(part.tolist())]
        return -sum(p * np.log2(p) for p in shares)

    a, b, n = c[x < cut], c[x > cut], len(c)
    gain = entropy(c) - len(a) / n * entropy(a) - len(b) / n * entropy(b)
    k, ka, kb = (len(set(part.tolist())) for part in (c, a, b))
    delta = np.log2(3**k - 2) - (k * entropy(c) - ka * entropy(a) - kb * entropy(b))
    return gain, bool(gain > (np.log2(n - 1) + delta) / n)


def by_hand(x: np.ndarray, c: np.ndarray) -> list[float]:
    values = np.unique(x)
    if len(values) < 2:
        return []
    cuts = [(a + b) / 2 for a, b in itertools.pairwise(values.tolist())]
    best = max(cuts, key=lambda cut: gain_pays(x, c, cut)[0])
    if not gain_pays(x, c, best)[1]:
        return []
    return [*by_hand(x[x < best], c[x < best]), best, *by_hand(x[x > best], c[x > best])]


@pytest.mark.parametrize("seed", range(6))
def test_cuts_by_description_length_pay(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=120), 1)
    c = np.where(np.abs(x) > 0.8, "out", "in")
    c = np.where(rng.random(120) < 0.1 * (seed % 3), rng.permutation(c), c)
    found = pgm.discretize({"x": x, "c": c}, "mdlp", target="c")["x"]
    assert inner(found) == pytest.approx(by_hand(x, c))
    if seed % 3 == 0:
        assert len(inner(found)) == 2
    noise = pgm.discretize({"x": x, "c": rng.permutation(c)}, "mdlp", target="c")["x"]
    assert inner(noise) == []


def test_bins_are_kept_in_the_network_that_was_fitted() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=300), "c": rng.choice(["a", "b"], 300)})
    bins = pgm.discretize(frame, "quantile", 3)
    assert list(bins) == ["x"]
    net = pgm.BayesianNetwork(edges="c -> x").fit(frame, states=bins)
    assert net.variables["x"].bins == bins["x"]
    assert net.predict_proba({"x": [1e9, -1e9]}, "c").shape == (2, 2)
    np.testing.assert_allclose(net.query("x").values, [1 / 3] * 3, atol=0.01)
    assert pgm.discretize(frame["x"], bins=3) == bins["x"]


def test_mistakes_are_answered() -> None:
    frame = {"x": [1.5, 2.0, None], "c": ["a", "b", "a"]}
    for options, words in (
        ({"method": "equal"}, "method="),
        ({"bins": 1}, "bins="),
        ({"method": "mdlp"}, "target="),
        ({"method": "mdlp", "target": "c", "bins": 3}, "no effect"),
        ({"target": "c"}, "no effect"),
    ):
        with pytest.raises(InvalidArgument, match=words):
            pgm.discretize(frame, **options)  # type: ignore[arg-type]
    with pytest.raises(InvalidFrame, match="no column 'y'"):
        pgm.discretize(frame, columns=["y"])
    with pytest.raises(InvalidFrame, match="every value is 2"):
        pgm.discretize([2.0, 2.0])
    with pytest.raises(InvalidFrame, match="No column holds floats"):
        pgm.discretize({"c": ["a", "b"]})
