"""Sequences told apart by class: Bayes' rule by hand, scikit-learn's conventions, conditional likelihood."""

from __future__ import annotations

import itertools
import math
import pickle
from typing import Any

import numpy as np
import pytest

import pgm


def two_words() -> tuple[list[Any], list[str]]:
    rng = np.random.default_rng(0)
    one = pgm.HMM([0.9, 0.1], [[0.7, 0.3], [0.2, 0.8]], pgm.Categorical([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]]))
    two = pgm.HMM([0.2, 0.8], [[0.8, 0.2], [0.3, 0.7]], pgm.Categorical([[0.5, 0.3, 0.2], [0.1, 0.5, 0.4]]))
    x, y = [], []
    for i in range(40):
        y.append("no" if i % 4 else "yes")
        model = one if y[-1] == "yes" else two
        x.append(model.sample(int(rng.integers(3, 9)), seed=i).observations)
    return x, y


def blank(k: int = 2) -> pgm.HMM:
    return pgm.HMM(n_states=k, emission=pgm.Categorical(symbols=[0, 1, 2]))


def test_it_is_bayes_rule() -> None:
    x, y = two_words()
    begin = pgm.HMM([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], pgm.Categorical([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]))
    told = pgm.HMMClassifier(begin).fit(x, y)
    assert told.classes_.tolist() == ["no", "yes"]
    assert told.class_prior_.tolist() == [0.75, 0.25]
    for name in told.classes_:
        mine = [one for one, label in zip(x, y, strict=True) if label == name]
        assert told.models_[name] == begin.copy().fit(mine)
    logs = np.array([told.models_[c].score(x, by="sequence") for c in told.classes_]).T
    joint = np.exp(logs) * told.class_prior_
    assert told.predict_proba(x) == pytest.approx(joint / joint.sum(axis=1, keepdims=True), rel=1e-12)
    assert told.predict_log_proba(x) == pytest.approx(np.log(told.predict_proba(x)), abs=1e-12)
    right = told.predict(x) == np.array(y)
    assert told.score(x, y) == pytest.approx(right.mean())
    assert told.score(x, y, sample_weight=right + 1e-12) == pytest.approx(1.0)
    below = told.predict_proba(np.concatenate(x), lengths=[len(one) for one in x])
    assert np.array_equal(below, told.predict_proba(x))
    again = pickle.loads(pickle.dumps(told))
    assert np.array_equal(again.predict_proba(x), told.predict_proba(x))


def test_priors_of_classes_are_given_or_counted() -> None:
    x, y = two_words()
    even = pgm.HMMClassifier(blank(1), class_prior="uniform").fit(x, y)
    assert even.class_prior_.tolist() == [0.5, 0.5]
    named = pgm.HMMClassifier(blank(1), class_prior={"yes": 0.9, "no": 0.1}).fit(x, y)
    assert named.class_prior_.tolist() == [0.1, 0.9]
    heavy = pgm.HMMClassifier(blank(1)).fit(x, y, sample_weight=[3.0 if c == "yes" else 1.0 for c in y])
    assert heavy.class_prior_.tolist() == [0.5, 0.5]


def test_scikit_learn_takes_it_for_its_own() -> None:
    pytest.importorskip("sklearn")
    from sklearn.base import clone, is_classifier
    from sklearn.model_selection import GridSearchCV, cross_val_score

    x, y = two_words()
    told = pgm.HMMClassifier(blank(), seed=0, max_iter=5)
    assert is_classifier(told)
    other = clone(told)
    assert other is not told
    assert other.get_params().keys() == told.get_params().keys()
    assert other.set_params(max_iter=7).max_iter == 7
    found = cross_val_score(told, x, y, cv=2)
    assert found.shape == (2,)
    assert (found > 0.5).all()
    best = GridSearchCV(told, {"prior": [0.1, 1.0]}, cv=2).fit(x, y)
    assert best.best_params_["prior"] in (0.1, 1.0)


def test_a_sequence_that_a_class_cannot_emit() -> None:
    x = [[0, 0, 1], [0, 1], [2, 2], [2, 2, 2]]
    told = pgm.HMMClassifier(blank(1)).fit(x, ["a", "a", "b", "b"])
    assert told.predict_proba([[0], [2, 2]]).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(pgm.ImpossibleEvidence, match="Sequence 1 is impossible in each class"):
        told.predict([[0], [0, 2]])


def conditional(told: Any, x: Any, y: Any) -> float:
    logs = told.predict_log_proba(x)
    return float(sum(row[told.classes_.tolist().index(c)] for row, c in zip(logs, y, strict=True)))


def nudged(table: np.ndarray, i: int, j: int, step: float) -> np.ndarray:
    made = table.copy()
    made[i, j] *= math.exp(step)
    return np.asarray(made / made.sum(axis=1, keepdims=True))


def test_the_conditional_likelihood_rises_until_its_gradient_vanishes() -> None:
    x, y = two_words()
    plain = pgm.HMMClassifier(blank(), seed=0, max_iter=20, prior=0.5).fit(x, y)
    told = pgm.HMMClassifier(blank(), seed=0, method="conditional", prior=0.5, max_iter=4000, tol=1e-11).fit(
        x, y
    )
    logs = told.conditional_report_.log_likelihoods
    assert all(b >= a for a, b in itertools.pairwise(logs))
    assert conditional(told, x, y) == pytest.approx(logs[-1], rel=1e-12)
    assert logs[-1] > conditional(plain, x, y) + 1.0

    def gradient(told: Any) -> float:
        most = 0.0
        for name, model in told.models_.items():
            tables = {"emission": model.emission.p, "transition": model.transition}
            for part, table in tables.items():
                for i, j in np.ndindex(table.shape):
                    if not 1e-3 < table[i, j] < 0.999:
                        continue
                    ends = []
                    for step in (-1e-4, 1e-4):
                        changed = {**tables, part: nudged(table, i, j, step)}
                        told.models_[name] = pgm.HMM(
                            model.initial, changed["transition"], pgm.Categorical(changed["emission"])
                        )
                        ends.append(conditional(told, x, y))
                    told.models_[name] = model
                    most = max(most, abs(ends[1] - ends[0]) / 2e-4)
        return most

    assert gradient(plain) > 0.3
    assert gradient(told) < 0.03


@pytest.mark.parametrize(
    "emission",
    [pgm.Gaussian(), pgm.Poisson(), pgm.GaussianMixture(n_components=2), pgm.Product([pgm.Gaussian()])],
    ids=lambda e: e.kind,
)  # fmt: skip
def test_the_conditional_likelihood_rises_for_numbers(emission: Any) -> None:
    rng = np.random.default_rng(3)
    x: list[Any] = [rng.poisson(3.0 + (i % 2), 8).astype(float) for i in range(20)]
    if emission.kind != "poisson":
        x = [one + rng.normal(size=8) for one in x]
    if emission.vector:
        x = [one[:, None] for one in x]
    y = [i % 2 for i in range(20)]
    model = pgm.HMM(n_states=1, emission=emission)
    plain = pgm.HMMClassifier(model, seed=0).fit(x, y)
    told = pgm.HMMClassifier(model, seed=0, method="conditional").fit(x, y)
    logs = told.conditional_report_.log_likelihoods
    assert all(b >= a for a, b in itertools.pairwise(logs))
    assert logs[0] == pytest.approx(conditional(plain, x, y), rel=1e-9)
    assert conditional(told, x, y) == pytest.approx(logs[-1], rel=1e-9)
    assert logs[-1] > logs[0]


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: pgm.HMMClassifier(blank()).predict([[0]]), "fit it to sequences"),
        (
            lambda: pgm.HMMClassifier(3).fit([[0], [1]], [0, 1]),
            "model= is the pgm.HMM that each class starts",
        ),
        (lambda: pgm.HMMClassifier(blank()).fit([[0], [1]], [0]), "y has a class for each of 2 sequences"),
        (lambda: pgm.HMMClassifier(blank()).fit([[0], [1]], [0, 0]), "only one class, 0"),
        (lambda: pgm.HMMClassifier(blank(), method="mmi").fit([[0], [1]], [0, 1]), "method= is 'em', "),
        (lambda: pgm.HMMClassifier({0: blank()}).fit([[0], [1]], [0, 1]), "no model for the class 1"),
        (lambda: pgm.HMMClassifier(blank(), class_prior=[0.5]).fit([[0], [1]], [0, 1]), "class_prior= is"),
        (lambda: pgm.HMMClassifier(blank()).set_params(n_iter=3), "There is no option 'n_iter'"),
    ],
)
def test_mistakes_are_named(ask: Any, said: str) -> None:
    with pytest.raises(pgm.PGMError) as error:
        ask()
    assert said in str(error.value)


def test_it_prints() -> None:
    x, y = two_words()
    assert "not fitted yet" in repr(pgm.HMMClassifier(blank()))
    assert repr(pgm.HMMClassifier(blank(), seed=0).fit(x, y)).splitlines()[1].split() == [
        "no",
        "0.75",
        "2",
        "7",
    ]
    assert "<table" in pgm.HMMClassifier(blank(1)).fit(x, y)._repr_html_()
