"""Rows without a class: what is learned of them stays when one more step of EM is taken by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal

import pgm


def drawn(seed: int = 0, n: int = 240) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    yes = rng.integers(0, 2, n)
    y = np.array(["no", "yes"])[yes]
    frame = {name: (yes + (rng.random(n) < p)) % 2 for name, p in zip("abc", (0.2, 0.25, 0.15), strict=True)}
    frame["x"] = rng.normal(size=n) + 2.5 * yes
    frame["z"] = 0.5 * frame["x"] + rng.normal(size=n) * (1 + 0.5 * yes)
    part = y.astype(object)
    part[rng.random(n) < 0.7] = None
    return frame, y, part


STATES, NUMBERS, ALL = ("a", "b", "c"), ("x", "z"), ("a", "b", "c", "x", "z")
MODELS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "NaiveBayes": (lambda: pgm.NaiveBayes(var_smoothing=0.0), ALL),
    "TAN": (lambda: pgm.TANClassifier(), STATES),
    "TAN of numbers": (lambda: pgm.TANClassifier(bins=None, prior=0), NUMBERS),
    "k-dependence": (lambda: pgm.KDependenceClassifier(1, prior=0.5), STATES),
    "linear": (lambda: pgm.DiscriminantAnalysis(), NUMBERS),
    "quadratic": (lambda: pgm.DiscriminantAnalysis(shared=False), NUMBERS),
    "mixtures": (lambda: pgm.MixtureClassifier(1, prior=0.0), NUMBERS),
    "a network": (
        lambda: pgm.NetworkClassifier(
            pgm.BayesianNetwork(edges="class -> a; class -> b; class -> c"), "class"
        ),
        STATES,
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_at_rest_a_step_by_hand_changes_nothing(name: str) -> None:
    """Each row without a class is written once for each, weighing as much as that class is likely."""
    make, columns = MODELS[name]
    frame, y, part = drawn()
    frame = {column: frame[column] for column in columns}
    told = make().fit(frame, part)
    assert told.fit_report_.converged
    known = np.array([label is not None for label in part])
    rest = {column: values[~known] for column, values in frame.items()}
    shares = told.predict_proba(rest)
    every = {c: np.concatenate([v[known], np.repeat(rest[c], 2)]) for c, v in frame.items()}
    labels = np.concatenate([y[known], np.tile(["no", "yes"], len(shares))])
    weights = np.concatenate([np.ones(known.sum()), shares.ravel()])
    again = make().fit(every, labels, sample_weight=weights)
    if hasattr(told, "network_") or name in ("TAN", "TAN of numbers", "k-dependence"):
        assert set(again.network.edges) == set(told.network.edges)
    tolerance = 1e-2 if name == "a network" else 2e-4  # which stops at 1e-6 of the likelihood
    np.testing.assert_allclose(again.predict_proba(frame), told.predict_proba(frame), atol=tolerance)
    if name != "a network":  # whose classes are those of the rows
        np.testing.assert_allclose(again.class_prior_, told.class_prior_, atol=tolerance)
    fewer = make().fit({column: values[known] for column, values in frame.items()}, y[known])
    moved = np.abs(fewer.predict_proba(frame) - told.predict_proba(frame)).max()
    assert moved > 10 * tolerance or name == "a network"


def test_quadratic_classes_are_those_of_em_by_hand() -> None:
    frame, _, part = drawn(1)
    rows = np.column_stack([frame["x"], frame["z"]])
    told = pgm.DiscriminantAnalysis(shared=False).fit(rows, part)
    shares = np.array([[0.5, 0.5] if p is None else [p == "no", p == "yes"] for p in part], float)
    known = np.array([p is not None for p in part])
    weight = np.where(known, 1.0, 0.0)[:, None] * shares
    for _ in range(400):
        total = weight.sum(axis=0)
        means = (weight.T @ rows) / total[:, None]
        covariances = [(weight[:, [c]] * (rows - means[c])).T @ (rows - means[c]) / total[c] for c in (0, 1)]
        densities = np.column_stack(
            [total[c] / total.sum() * multivariate_normal(means[c], covariances[c]).pdf(rows) for c in (0, 1)]
        )
        weight = np.where(known[:, None], shares, densities / densities.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(told.means_, means, atol=1e-3)
    np.testing.assert_allclose(told.covariances_, covariances, atol=1e-3)
    np.testing.assert_allclose(told.class_prior_, total / total.sum(), atol=1e-3)


def test_averaged_one_dependence_learns_each_network_by_itself() -> None:
    frame, y, part = drawn(2)
    frame = {column: frame[column] for column in STATES}
    told = pgm.AODEClassifier().fit(frame, part)
    known = np.array([label is not None for label in part])
    assert told.class_prior_.tolist() == [(y[known] == "no").mean(), (y[known] == "yes").mean()]
    net = told.networks["a"]
    start = net.copy()
    start.fit(
        {**frame, "class": part},
        prior={**dict.fromkeys("abc", "laplace")},
        fixed=["class"],
        max_iter=500,
        tol=1e-12,
    )
    for name in STATES:
        np.testing.assert_allclose(net.cpd(name).values, start.cpd(name).values, atol=1e-4)


def test_a_said_distribution_of_classes_stays() -> None:
    frame, _, part = drawn()
    for told in (
        pgm.NaiveBayes(class_prior={"no": 0.9, "yes": 0.1}),
        pgm.TANClassifier(class_prior=[0.9, 0.1]),
        pgm.DiscriminantAnalysis(class_prior=[0.9, 0.1]),
        pgm.MixtureClassifier(1, class_prior=[0.9, 0.1]),
    ):
        numbers = isinstance(told, pgm.DiscriminantAnalysis | pgm.MixtureClassifier)
        told.fit({c: frame[c] for c in (NUMBERS if numbers else ALL)}, part)
        np.testing.assert_allclose(told.class_prior_, [0.9, 0.1], rtol=1e-12)


def test_the_column_of_classes_may_have_gaps() -> None:
    frame, _, part = drawn()
    rows = pd.DataFrame(frame).assign(kind=part)
    one = pgm.NaiveBayes().fit(rows, "kind")
    two = pgm.NaiveBayes().fit(frame, part)
    np.testing.assert_allclose(one.predict_proba(frame), two.predict_proba(frame), atol=1e-9)
    assert one.classes_.tolist() == ["no", "yes"]
    floats = np.where(pd.isna(part), np.nan, part == "yes").astype(float)
    assert pgm.NaiveBayes().fit(frame, floats).classes_.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda f, p: pgm.NaiveBayes().fit(f, [None] * len(p)), "no row has a class"),
        (lambda f, p: pgm.NaiveBayes().fit(f, p).score(f, p), "has no class to compare with"),
        (lambda f, p: pgm.NaiveBayes().fit(f, p).partial_fit(f, p), "`partial_fit` does not"),
        (lambda f, p: pgm.NaiveBayes(prior={"x": pgm.priors.NormalGamma()}).fit(f, p), 'estimate="mean"'),
        (
            lambda f, p: pgm.NaiveBayes("multinomial").fit({"x": np.abs(f["x"])}, p),
            "learned only from rows with a class",
        ),
        (
            lambda f, p: pgm.DiscriminantAnalysis(
                shared=False, prior=pgm.priors.NormalWishart([0.0, 0.0])
            ).fit({c: f[c] for c in NUMBERS}, p),
            "leave out the rows without one",
        ),
    ],
)
def test_what_is_wrong_is_said(call: Any, words: str) -> None:
    frame, _, part = drawn()
    with pytest.raises(pgm.PGMError, match=words):
        call(frame, part)
