"""TAN, k-dependence and AODE whose numbers stay numbers: beside networks, discriminants, all trees."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.utils.estimator_checks import check_estimator

import pgm
from pgm.models.classifiers.dependence import Told, tree
from tests.adapters.test_clusters import blobs

MODELS: dict[str, Any] = {
    "TAN": lambda **more: pgm.TANClassifier(bins=None, **more),
    "2-dependence": lambda **more: pgm.KDependenceClassifier(2, bins=None, **more),
    "AODE": lambda **more: pgm.AODEClassifier(bins=None, **more),
}


def mixed(seed: int, n: int = 150) -> tuple[dict[str, np.ndarray], np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.array(["no", "yes"])[rng.integers(0, 2, n)]
    yes = (y == "yes").astype(int)
    a, x = rng.integers(0, 3, n), rng.normal(size=n) + yes
    z = 0.7 * x + rng.normal(size=n) * (1 + yes) + (a == 2)
    frame = {
        "a": np.array(list("pqr"))[a],
        "x": x,
        "z": z,
        "w": rng.normal(size=n) - z,
        "b": (a + yes) % 2 == 1,
    }
    return frame, y


def with_gaps(frame: dict[str, np.ndarray], seed: int) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    return {name: [None if rng.random() < 0.3 else v for v in x.tolist()] for name, x in frame.items()}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", MODELS)
def test_they_say_what_their_networks_say(name: str, seed: int) -> None:
    frame, y = mixed(seed)
    told = MODELS[name]().fit(with_gaps(frame, seed), y)
    nets = list(told.networks.values()) if name == "AODE" else [told.to_network()]
    for asked in (frame, with_gaps(frame, seed + 5)):
        joint = told._log_joint(told._seen(asked))
        for c, state in enumerate(["no", "yes"]):
            each = [np.exp(net.log_likelihood({**asked, "class": [state] * len(y)})) for net in nets]
            np.testing.assert_allclose(np.exp(joint[:, c]), np.mean(each, axis=0), rtol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_two_numbers_are_a_quadratic_discriminant(name: str) -> None:
    rows = blobs(3, 200, 2)
    y = (rows[:, 0] + np.random.default_rng(0).normal(size=200) > 3).astype(int)
    told = MODELS[name](prior=0).fit(rows, y)
    covariances = [np.cov(rows[y == c].T, bias=True) for c in (0, 1)]
    peer = QuadraticDiscriminantAnalysis(store_covariance=True).fit(rows, y)
    peer.rotations_, peer.scalings_ = [], []
    for matrix in covariances:  # the most likely covariances, where scikit-learn divides by n - 1
        values, vectors = np.linalg.eigh(matrix)
        peer.rotations_.append(vectors)
        peer.scalings_.append(values)
    np.testing.assert_allclose(told.predict_proba(rows), peer.predict_proba(rows), atol=1e-9)


def test_as_many_parents_as_numbers_are_a_discriminant_of_all() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(120, 4)) @ rng.normal(size=(4, 4))
    y = rng.integers(0, 3, 120)
    told = pgm.KDependenceClassifier(3, bins=None, prior=0).fit(rows, y)
    full = pgm.DiscriminantAnalysis(shared=False).fit(rows, y)
    np.testing.assert_allclose(told.predict_proba(rows), full.predict_proba(rows), atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_the_tree_is_the_heaviest_of_those_in_which_no_number_is_a_parent_of_states(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 5
    weights = np.triu(rng.random((n, n)), 1)
    weights += weights.T
    real = (rng.random(n) < 0.5).tolist()
    found = tree(Told(np.zeros(n), weights - np.diag(np.full(n, np.inf)), real))

    def worth(parents: tuple[int | None, ...]) -> float:
        for v in range(n):
            seen, at = set(), v
            while parents[at] is not None:
                if at in seen:
                    return -1.0
                seen.add(at)
                at = parents[at]  # type: ignore[assignment]
        if parents.count(None) != 1 or any(
            p is not None and real[p] and not real[v] for v, p in enumerate(parents)
        ):
            return -1.0
        return sum(weights[v, p] for v, p in enumerate(parents) if p is not None)

    best = max(map(worth, itertools.product([None, *range(n)], repeat=n)))
    assert worth(tuple(p[0] if p else None for p in found)) == pytest.approx(best)


def test_what_is_told_is_of_normal_columns() -> None:
    """-log(1 - r^2) / 2 for numbers, half the logarithm of variances for a number and states."""
    frame, y = mixed(4, 3000)
    seen: list[Told] = []

    class Kept(pgm.TANClassifier):
        def _parents(self, told: Told) -> list[tuple[int, ...]]:
            seen.append(told)
            return super()._parents(told)

    Kept(bins=None).fit(frame, y)
    names, told = list(frame), seen[0]
    x, z = names.index("x"), names.index("z")
    parts = [(y == c) for c in ("no", "yes")]
    by_hand = sum(
        p.mean() * -0.5 * np.log(1 - np.corrcoef(frame["x"][p], frame["z"][p])[0, 1] ** 2) for p in parts
    )
    assert told.of_each_other[x, z] == pytest.approx(by_hand, abs=1e-9)
    by_hand = np.log(frame["x"].std()) - sum(p.mean() * np.log(frame["x"][p].std()) for p in parts)
    assert told.of_class[x] == pytest.approx(by_hand, abs=1e-2)  # a row is believed besides
    by_hand = 0.0
    for p in parts:
        cells = [p & (frame["a"] == s) for s in "pqr"]
        by_hand += p.mean() * np.log(frame["z"][p].std())
        by_hand -= sum(cell.mean() * np.log(frame["z"][cell].std()) for cell in cells)
    assert told.of_each_other[names.index("a"), z] == pytest.approx(by_hand, abs=1e-2)


def test_rows_that_are_believed_fill_empty_cells() -> None:
    """Of one row in a cell mean and variance are those of it and one that varies as its class does."""
    frame = {"s": ["u", "u", "u", "v"] * 2, "x": [1.0, 2.0, 3.0, 9.0, 1.5, 2.5, 3.5, 2.0]}
    y = ["a"] * 4 + ["b"] * 4
    told = pgm.TANClassifier(bins=None).fit(frame, y)
    cpd = told.network.cpd("x")
    every = np.array(frame["x"])
    mine = every[:4]
    mean = (mine.sum() + every.mean()) / 5  # a row as all of them
    square = (np.square(mine).sum() + np.square(every).mean()) / 5
    variance = square - mean**2
    at = (9.0 + mean) / 2  # and in the cell one as those of the class
    spread = (81.0 + variance + mean**2) / 2 - at**2
    assert cpd.bias[0, 1] == pytest.approx(at)
    assert cpd.sd[0, 1] == pytest.approx(np.sqrt(spread))
    with pytest.raises(pgm.InvalidArgument, match=r"'x' has no variance left in the class 'a' given 's'"):
        pgm.TANClassifier(bins=None, prior=0).fit(frame, y)
    with pytest.raises(pgm.InvalidArgument, match=r"'x' has one value in all rows"):
        pgm.TANClassifier(bins=None).fit({"x": [1.5] * 8, "s": frame["s"]}, y)


@pytest.mark.parametrize("name", MODELS)
def test_scikit_learn_takes_them_for_its_own(name: str) -> None:
    found = check_estimator(MODELS[name](), on_fail=None, on_skip=None)
    assert not [each["check_name"] for each in found or () if each["status"] == "failed"]
