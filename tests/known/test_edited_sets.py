"""Worked numbers of the catalogue on edited sets and networks of prototypes: A.md O6; F.md O8, O10."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import pgm
from pgm.adapters import (
    Condensing,
    EditedNeighbours,
    GrabBag,
    NearestNeighbours,
    ProbabilisticNeuralNetwork,
    RCENetwork,
    SideEditing,
    augmented_error,
)
from tests.known.book import near

SIX, OF_SIX = np.arange(6.0)[:, None], list("aaabbb")  # O6
TWO, OF_TWO = np.array([[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]]), list("aaabbb")  # F.md O10


def in_order(order: list[int], **options: Any) -> list[int]:
    """Which rows of O6 are kept, gone through in this order; as they are called in O6."""
    rows, classes = SIX[order], [OF_SIX[i] for i in order]
    found = EditedNeighbours(Condensing(order="given", **options)).fit(rows, classes)
    assert found.training_error_ == 0.0
    assert found.converged_
    return [order[i] for i in found.indices_.tolist()]


# --- A12, A13, A45, A46: condensing -------------------------------------------------------------------------


def test_A12_condensing() -> None:
    """O6: what is kept depends on the order; {2, 3} is the smallest."""
    assert in_order([0, 1, 2, 3, 4, 5]) == [0, 3, 2]
    assert in_order([5, 4, 3, 2, 1, 0]) == [5, 2, 3]
    assert in_order([2, 3, 0, 1, 4, 5]) == [2, 3]
    first = EditedNeighbours(Condensing(order="given", passes=1)).fit(SIX, OF_SIX)
    assert (first.indices_.tolist(), first.converged_) == ([0, 3], False)
    whole = EditedNeighbours(Condensing(order="given")).fit(SIX, OF_SIX)
    assert whole.passes_ == 3  # the third changes nothing


@pytest.mark.parametrize("seed", range(3))
def test_A12_any_random_order_is_consistent(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, classes = rng.normal(size=(200, 2)), rng.integers(3, size=200)
    found = EditedNeighbours(Condensing(seed=seed)).fit(rows, classes)
    peer = NearestNeighbours(1).fit(rows[found.indices_], classes[found.indices_])
    assert peer.score(rows, classes) == 1.0
    assert len(found.indices_) < 200


def test_A12_through_a_network() -> None:
    found = EditedNeighbours("voronoi").fit(TWO, OF_TWO)
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(3.0, sd=3.0))
    net.add("C", pgm.EstimatorCPD(found, parents=["x"]))
    net.add("alarm", {"a": 0.1, "b": 0.8}, parents=["C"])
    assert net.query("C", {"x": 3.4}).mode() == "a"
    assert net.query("alarm", {"x": 3.6})[True] == near(0.8)
    assert "EditedNeighbours(method='voronoi')" in repr(net.cpd("C"))


def test_A13_consistent_subsets_and_augmented_error() -> None:
    """O6, (8.17): lambda = .1."""
    for kept, value in (([0, 3], 1 / 6 + 0.2), ([0, 2, 3], 0.3), ([2, 3], 0.2)):
        assert augmented_error(SIX, OF_SIX, kept, penalty=0.1) == near(value)
    errors = [augmented_error(SIX, OF_SIX, kept) for kept in ([0, 3], [0, 2, 3], [2, 3])]
    assert [error == 0.0 for error in errors] == [False, True, True]
    many = EditedNeighbours(Condensing(starts=30, penalty=0.1, seed=0)).fit(SIX, OF_SIX)
    assert sorted(many.indices_.tolist()) == [2, 3]  # the best of all orders


def test_A45_rows_are_stored_until_the_vote_is_right() -> None:
    """O6: x = 0 of class a beside three of b, k = 3: with one copy the vote is b, with two a."""
    rows, classes = np.array([[0.0], [1.0], [2.0], [2.5]]), np.array(list("abbb"))
    far = np.array([[99.0]])
    for copies, vote in ((0, "b"), (1, "b"), (2, "a")):
        stored = [0] * copies + [1, 2, 3]
        x, y = np.concatenate([rows[stored], far]), [*classes[stored], "a"]
        assert NearestNeighbours(3).fit(x, y).predict([[0.0]]).tolist() == [vote]
    found = EditedNeighbours(Condensing(order="given"), k=3).fit(rows, classes)
    assert found.copies_[found.indices_.tolist().index(0)] >= 2
    assert found.training_error_ == 0.0
    assert found.predict([[0.0]]).tolist() == ["a"]
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(80, 2)), rng.integers(2, size=80)
    for k in (2, 3, 5):
        found = EditedNeighbours(Condensing(seed=1), k=k).fit(x, y)
        stored = np.repeat(found.indices_, found.copies_)
        assert found.copies_.max() > 1
        assert augmented_error(x, y, stored, k=k) == 0.0
        assert found.converged_


def test_A46_what_is_no_longer_needed() -> None:
    """O6: of {0, 2, 3} row 0 goes."""
    assert in_order([0, 1, 2, 3, 4, 5], thin=True) == [3, 2]
    rng = np.random.default_rng(2)
    rows, classes = rng.normal(size=(120, 2)), rng.integers(3, size=120)
    for k in (1, 3):
        thin = EditedNeighbours(Condensing(seed=0, thin=True), k=k).fit(rows, classes)
        all_of_it = EditedNeighbours(Condensing(seed=0), k=k).fit(rows, classes)
        assert thin.copies_.sum() < all_of_it.copies_.sum()
        stored = np.repeat(thin.indices_, thin.copies_).tolist()
        assert augmented_error(rows, classes, stored, k=k) == 0.0
        for i in range(len(stored)):  # none of the rest can go
            assert augmented_error(rows, classes, stored[:i] + stored[i + 1 :], k=k) > 0.0


# --- F46, F47, F50: other ways to edit ----------------------------------------------------------------------


def test_F46_voronoi_editing() -> None:
    """O10: {2, 5} is kept, the boundary stays at 3.5."""
    found = EditedNeighbours("voronoi").fit(TWO, OF_TWO)
    assert TWO[found.indices_, 0].tolist() == [2.0, 5.0]
    assert found.predict([[3.499], [3.501]]).tolist() == ["a", "b"]


def test_F47_wrong_sides() -> None:
    """A boundary by logistic regression: rows beyond it go. Else other rows vote, as counted here."""
    rows = np.array([[0.0], [1.0], [2.0], [6.0], [4.0], [5.0], [6.0], [7.0], [1.5]])
    classes = np.array(list("aaaabbbbb"))
    line = LogisticRegression().fit(rows, classes)
    found = EditedNeighbours(SideEditing(boundary=LogisticRegression())).fit(rows, classes)
    assert found.indices_.tolist() == np.flatnonzero(line.predict(rows) == classes).tolist()
    assert found.indices_.tolist() == [0, 1, 2, 4, 5, 6, 7]
    rng = np.random.default_rng(3)
    rows, classes = rng.normal(size=(60, 2)), rng.integers(2, size=60)
    found = EditedNeighbours(SideEditing(neighbours=5), k=3).fit(rows, classes)
    kept = []
    for i in range(60):
        far = ((rows - rows[i]) ** 2).sum(axis=1)
        far[i] = np.inf
        if np.bincount(classes[np.argsort(far)[:5]], minlength=2).argmax() == classes[i]:
            kept.append(i)
    assert found.indices_.tolist() == kept


def test_F50_store_and_grab_bag() -> None:
    """O10: in the order given store {0, 5}, bag {1, 2, 6, 7}; the boundary moves to 2.5."""
    found = EditedNeighbours("grab-bag").fit(TWO, OF_TWO)
    assert TWO[found.indices_, 0].tolist() == [0.0, 5.0]
    assert found.predict([[2.499], [2.501]]).tolist() == ["a", "b"]
    rng = np.random.default_rng(4)
    rows, classes = rng.normal(size=(80, 2)), rng.integers(3, size=80)
    for k in (1, 3):
        store: list[int] = []
        bag = list(range(80))
        moved = True
        while moved:  # as Patt has it
            moved, left = False, []
            for i in bag:
                far = ((rows[store] - rows[i]) ** 2).sum(axis=1)
                said = np.bincount(classes[store][np.argsort(far, kind="stable")[:k]], minlength=3).argmax()
                if not store or said != classes[i]:
                    store.append(i)
                    moved = True
                else:
                    left.append(i)
            bag = left
        found = EditedNeighbours(GrabBag(), k=k).fit(rows, classes)
        assert found.indices_.tolist() == store
        assert (found.copies_ == 1).all()


# --- F33 to F35: probabilistic neural networks --------------------------------------------------------------


def test_F33_the_net_and_its_training() -> None:
    """A hidden unit for each row, of length one, linked to its class; new ones at any time."""
    rows, classes = np.array([[1.0, 0.0], [3.0, 4.0], [0.0, 2.0], [-5.0, 0.0]]), [1, 1, 2, 2]
    model = ProbabilisticNeuralNetwork().fit(rows, classes)
    assert model.weights_ == near(np.array([[1, 0], [0.6, 0.8], [0, 1], [-1, 0]]))
    assert model.codes_.tolist() == [0, 0, 1, 1]
    assert (model.n_features_in_, len(model.classes_)) == (2, 2)
    online = ProbabilisticNeuralNetwork()
    for row, c in zip(rows, classes, strict=True):
        online.partial_fit([row], [c], classes=[1, 2])
    x = np.random.default_rng(5).normal(size=(9, 2))
    assert online.activations(x) == near(model.activations(x))


def test_F34_what_a_hidden_unit_sends() -> None:
    """O8: z = -1, 0, 1."""
    for sigma, sent in ((1.0, [0.1353352832, 0.3678794412, 1.0]), (0.5, [0.0003354626, 0.0183156389, 1.0])):
        model = ProbabilisticNeuralNetwork(sigma).fit([[2.0, 0.0], [0.0, 1.0]], ["a", "b"])
        found = model.activations([[-1.0, 0.0], [0.0, 3.0], [1.0, 0.0]])[:, 0]
        assert found == near(sent, 7)
    rng = np.random.default_rng(6)
    w, x = rng.normal(size=(2, 4)), rng.normal(size=4)
    w, x = w / np.linalg.norm(w, axis=1, keepdims=True), x / np.linalg.norm(x)
    model = ProbabilisticNeuralNetwork(0.7).fit(w, ["a", "b"])
    assert model.activations([x])[0] == near(np.exp(-((x - w) ** 2).sum(axis=1) / (2 * 0.7**2)))


def test_F35_classes_by_the_largest_output() -> None:
    """O8: g = 1.77952019, .83561893; their share is P(class | row), in a network too."""
    rows, classes = [[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [-1.0, 0.0]], [1, 1, 2, 2]
    model = ProbabilisticNeuralNetwork().fit(rows, classes)
    assert model.activations([[0.8, 0.6]])[0] == near([1.77952019, 0.83561893], 8)
    assert model.predict([[0.8, 0.6]]).tolist() == [1]
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, sd=1.0))
    net.add("y", pgm.Gaussian(0.0, sd=1.0))
    net.add("C", pgm.EstimatorCPD(model, parents=["x", "y"]))
    assert net.query("C", {"x": 8.0, "y": 6.0})[1] == near(0.68046865, 8)


def test_F35_a_narrow_window_does_not_underflow() -> None:
    model = ProbabilisticNeuralNetwork(0.01).fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    assert model.activations([[-1.0, -0.5]]).tolist() == [[0.0, 0.0]]
    off = np.array([-1.0, -0.5]) / math.hypot(1.0, 0.5)
    odds = (off[1] - off[0]) / 0.01**2
    assert odds > 700
    assert model.predict_proba([[-1.0, -0.5]])[0] == near([math.exp(-odds), 1.0])


# --- F48, F49: reduced Coulomb energy -----------------------------------------------------------------------


def test_F48_radii() -> None:
    """O10: (5, 4, 3, 3, 4, 5)."""
    assert RCENetwork().fit(TWO, OF_TWO).radii_.tolist() == [5.0, 4.0, 3.0, 3.0, 4.0, 5.0]
    assert RCENetwork(largest=3.5).fit(TWO, OF_TWO).radii_.tolist() == [3.5, 3.5, 3.0, 3.0, 3.5, 3.5]
    assert RCENetwork(margin=0.5).fit(TWO, OF_TWO).radii_.tolist() == [4.5, 3.5, 2.5, 2.5, 3.5, 4.5]
    rng = np.random.default_rng(7)
    rows, classes = rng.normal(size=(70, 3)), rng.integers(3, size=70)
    model = RCENetwork(unit_length=True).fit(rows, classes)
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    far = np.sqrt(((rows[:, None] - rows) ** 2).sum(axis=-1))
    apart = np.where(classes[:, None] != classes, far, np.inf).min(axis=1)
    assert model.radii_ == near(apart)
    counts = RCENetwork(unit_length=True).fit(rows, classes).counts(rows)
    assert (counts[np.arange(70), classes] > 0).all()
    assert (counts > 0).sum() == 70  # no disc holds a row of another class


def test_F49_regions() -> None:
    """O10: class 1 covers (-5, 5), class 2 (2, 12); (2, 5) is in conflict, nothing is known outside."""
    model = RCENetwork().fit(TWO, OF_TWO)
    places = [[-5.0], [-4.999], [2.0], [2.001], [4.999], [5.0], [11.999], [12.0]]
    said = ["none", "class", "class", "conflict", "conflict", "class", "class", "none"]
    assert model.regions(places).tolist() == said
    covered = (model.counts(places) > 0).tolist()
    assert covered[1] == [True, False]
    assert covered[3] == [True, True]
    assert covered[6] == [False, True]


def test_F49_doubtful_regions_are_evidence() -> None:
    """A class alone is certain, a conflict weighs discs, no disc says nothing; the prior does the rest."""
    model = RCENetwork().fit(TWO, OF_TWO)
    net = pgm.BayesianNetwork()
    net.add("C", [0.9, 0.1], states=["a", "b"])
    sure, doubtful, nothing = model.evidence([[1.0], [4.0], [40.0]])
    assert net.query("C", {"C": sure})["a"] == 1.0
    assert net.query("C", {"C": nothing})["a"] == near(0.9)
    discs = [sum(abs(4.0 - x) < r for x, r in zip(own, radii, strict=True)) for own, radii in
             (((0, 1, 2), (5, 4, 3)), ((5, 6, 7), (3, 4, 5)))]  # fmt: skip
    assert discs == [3, 3]
    p = 0.9 * discs[0] / (0.9 * discs[0] + 0.1 * discs[1])
    assert net.query("C", {"C": doubtful})["a"] == near(p)
    careful = model.evidence([[1.0]], error=0.2)[0]
    assert net.query("C", {"C": careful})["b"] == near(0.1 * 0.1 / (0.1 * 0.1 + 0.9 * 0.9))
    with pytest.raises(pgm.InvalidArgument, match="error="):
        model.evidence([[1.0]], error=1.5)
