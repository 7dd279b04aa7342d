"""Distributions fitted to data: optima known from elsewhere, and one M-step for rows and for counts."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import optimize

import pgm
from tests.cpds.gates import STATES, distribution, extreme, mixture, tree


def bound(made: object, parents: dict[str, int], k: int) -> pgm.CPD:
    net = pgm.BayesianNetwork()
    for name, card in parents.items():
        net.add(name, [1 / card] * card, states=STATES[card])
    net.add("x", made, states=STATES[k])
    return net.cpd("x")


def columns(cpd: pgm.CPD, codes: np.ndarray) -> dict[str, list[object]]:
    variables = (*cpd.given, cpd.child)
    return {v.name: [v.states[c] for c in codes[:, i]] for i, v in enumerate(variables)}


def log_likelihood(cpd: pgm.CPD, counts: np.ndarray) -> float:
    seen = counts > 0
    return float((counts[seen] * np.log(cpd.values[seen])).sum())


@pytest.mark.parametrize("kind", ["rows", "noisy", "logistic", "tree", "mixture"])
def test_rows_weights_and_counts_are_one_fit(kind: str) -> None:
    rng = np.random.default_rng(3)
    parents = {"a": 2, "b": 3}
    made = {
        "rows": pgm.TableCPD,
        "noisy": pgm.NoisyMax(
            {"a": {True: [0.5, 0.3, 0.2]}, "b": {"top": [0.2, 0.2, 0.6]}}, leak=[0.8, 0.1, 0.1]
        ),
        "logistic": pgm.Logistic({"a": [0.0, 1.0, 2.0], "b": {"top": [0.0, 0.5, 0.5]}}, bias=[0.0, 0.0, 0.0]),
        "tree": pgm.TreeCPD("a", {True: [0.5, 0.3, 0.2], False: [1, 0, 0]}),
        "mixture": pgm.MixtureCPD({"a": np.full((2, 3), 1 / 3), "b": [[0.2, 0.3, 0.5]] * 3}),
    }[kind]
    if kind == "rows":
        made = np.full((2, 3, 3), 1 / 3)
        net = pgm.BayesianNetwork()
        net.add("a", 0.5)
        net.add("b", [0.2, 0.3, 0.5], states=STATES[3])
        net.add("x", made, parents=["a", "b"], states=STATES[3])
        cpd = net.cpd("x")
    else:
        cpd = bound(made, {name: parents[name] for name in made.parents}, 3)
    cards = [v.card for v in (*cpd.given, cpd.child)]
    codes = np.array([[rng.integers(c) for c in cards] for _ in range(300)])
    counts = np.zeros(cards)
    np.add.at(counts, tuple(codes.T), 1)
    by_rows = cpd.fit(columns(cpd, codes))
    by_counts = cpd.fit(counts)
    distinct = np.argwhere(counts > 0)
    by_weights = cpd.fit(columns(cpd, distinct), weights=counts[counts > 0])
    assert by_rows == by_counts == by_weights
    assert log_likelihood(by_rows, counts) >= log_likelihood(cpd.fit(counts * 7.5), counts) - 1e-6
    with np.errstate(divide="ignore", invalid="ignore"):
        before = log_likelihood(cpd, counts)
    assert log_likelihood(by_rows, counts) > before
    assert type(by_rows) is type(cpd)
    assert by_rows.parents == cpd.parents
    assert cpd != by_rows


def test_a_table_is_fitted_by_counting_and_is_uniform_where_nothing_was_seen() -> None:
    net = pgm.BayesianNetwork()
    net.add("a", 0.5)
    net.add("x", {True: 0.5, False: 0.5}, parents=["a"])
    fitted = net.cpd("x").fit({"a": [1, 1, 1], "x": [0, 1, 1], "other": ["?", "?", "?"]})
    assert fitted.to_dict() == {False: {False: 0.5, True: 0.5}, True: {False: 1 / 3, True: 2 / 3}}
    net.set("x", fitted)
    assert net.query("x", {"a": True})[True] == pytest.approx(2 / 3)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_noisy_gates_are_found_again_from_their_own_probabilities(largest: bool, seed: int) -> None:
    """With the true distribution as counts, the true numbers have the largest likelihood there can be."""
    rng = np.random.default_rng(seed)
    parents = {"a": 2, "b": 3, "c": 2}
    made, table = extreme(rng, parents, 3, largest)
    counts = table * rng.random((*table.shape[:-1], 1)) * 100
    start = made.__class__(
        {
            name: {s: distribution(rng, 3, 0.0) for s in entry}
            for name, entry in zip(made.parents, made._written[:-1], strict=True)
        },
        leak=distribution(rng, 3, 0.0),
    )
    fitted = bound(start, parents, 3).fit(counts)
    best = log_likelihood(bound(made, parents, 3), counts)
    assert log_likelihood(fitted, counts) <= best + 1e-7
    assert log_likelihood(fitted, counts) == pytest.approx(best, abs=1e-5 * counts.sum())
    assert np.abs(fitted.values - table).max() < 5e-3


def test_noisy_or_em_against_a_numerical_optimum() -> None:
    rng = np.random.default_rng(5)
    counts = rng.integers(1, 30, size=(2, 2, 2, 2)).astype(float)

    def minus(logits: np.ndarray) -> float:
        *p, leak = 1 / (1 + np.exp(-logits))
        total = 0.0
        for a, b, c in itertools.product(range(2), repeat=3):
            quiet = (1 - leak) * math.prod((1 - q) if on else 1 for q, on in zip(p, (a, b, c), strict=True))
            total -= counts[a, b, c, 0] * math.log(quiet) + counts[a, b, c, 1] * math.log1p(-quiet)
        return total

    best = min(
        (optimize.minimize(minus, rng.normal(size=4), tol=1e-12) for _ in range(5)),
        key=lambda found: found.fun,
    )
    cpd = bound(pgm.NoisyOr({"a": 0.5, "b": 0.5, "c": 0.5}, leak=0.5), dict.fromkeys("abc", 2), 2)
    fitted = cpd.fit(counts)
    assert -log_likelihood(fitted, counts) == pytest.approx(best.fun, abs=1e-6)
    expected = 1 / (1 + np.exp(-best.x))
    np.testing.assert_allclose([*fitted.probabilities.values(), fitted.leak], expected, atol=1e-4)
    # the negation: noisy-AND on the opposite of everything
    opposite = bound(pgm.NoisyAnd({"a": 0.5, "b": 0.5, "c": 0.5}, leak=0.5), dict.fromkeys("abc", 2), 2)
    mirrored = opposite.fit(counts[::-1, ::-1, ::-1, ::-1])
    np.testing.assert_allclose([*mirrored.probabilities.values(), mirrored.leak], expected, atol=1e-4)


def test_a_noisy_or_of_rare_effects_keeps_its_digits() -> None:
    cpd = bound(pgm.NoisyOr({"a": 1e-13}, leak=1e-14), {"a": 2}, 2)
    assert cpd.values[1, 1] == pytest.approx(1.1e-13, rel=1e-9)
    fitted = cpd.fit(np.array([[1e14, 1.0], [1e13, 1.0]]))
    assert fitted.leak == pytest.approx(1e-14, rel=1e-6)
    assert fitted.probabilities["a"] == pytest.approx(9e-14, rel=1e-6)


def test_a_cause_that_all_but_always_acts() -> None:
    cpd = bound(pgm.NoisyOr.from_q({"a": 1e-20}, leak=0.5), {"a": 2}, 2)  # 1 - 1e-20 is 1, but q is not lost
    fitted = cpd.fit(np.array([[1.0, 1.0], [1.0, 3.0]]))
    assert fitted.leak == pytest.approx(0.5, abs=1e-6)
    assert fitted.probabilities["a"] == pytest.approx(0.5, abs=1e-6)


def test_many_causes_are_fitted_quickly() -> None:
    rng = np.random.default_rng(0)
    n, rows = 300, 2000
    p = rng.uniform(0.1, 0.9, n)
    causes = rng.random((rows, n)) < 0.02
    effect = rng.random(rows) < 1 - 0.9 * np.where(causes, 1 - p, 1).prod(axis=1)
    net = pgm.BayesianNetwork()
    for i in range(n):
        net.add(f"c{i}", 0.02)
    net.add("x", pgm.NoisyOr({f"c{i}": 0.5 for i in range(n)}, leak=0.5))
    frame = {f"c{i}": causes[:, i] for i in range(n)} | {"x": effect}
    fitted = net.cpd("x").fit(frame)
    assert 0.02 < fitted.leak < 0.2
    found = np.array(list(fitted.probabilities.values()))
    quiet = (1 - fitted.leak) * np.where(causes, 1 - found, 1).prod(axis=1)
    truth = 0.9 * np.where(causes, 1 - p, 1).prod(axis=1)

    def likelihood(q: np.ndarray) -> float:
        return float(np.log(np.where(effect, 1 - q, q)).sum())

    assert likelihood(quiet) > likelihood(truth)


def test_impossible_rows_are_an_error() -> None:
    cpd = bound(pgm.NoisyOr({"a": 0.5}), {"a": 2}, 2)
    with pytest.raises(pgm.InvalidFrame, match=r"'x': some rows have probability zero.*leak"):
        cpd.fit({"a": [False], "x": [True]})
    made = pgm.MixtureCPD({"a": {True: 1.0, False: 0.0}})
    with pytest.raises(pgm.InvalidFrame, match="probability zero"):
        bound(made, {"a": 2}, 2).fit({"a": [False], "x": [True]})


# --- logistic ---


def test_logistic_satisfies_the_score_equations() -> None:
    """At the optimum, and only there, seen and expected sums of every feature agree (the log is concave)."""
    rng = np.random.default_rng(2)
    made = pgm.Logistic(
        {"a": [0, 0, 0], "b": {"mid": [0, 0, 0], "top": [0, 0, 0]}, "c": [0, 0, 0]}, bias=[0, 0, 0]
    )
    parents = {"a": 2, "b": 3, "c": 4}
    counts = rng.integers(1, 20, size=(2, 3, 4, 3)).astype(float)
    fitted = bound(made, parents, 3).fit(counts)
    gap = counts - counts.sum(axis=-1, keepdims=True) * fitted.values
    a, b, c = np.indices((2, 3, 4))
    for feature in (np.ones_like(a), a, b == 1, b == 2, c):
        np.testing.assert_allclose((gap * feature[..., np.newaxis]).sum(axis=(0, 1, 2)), 0, atol=1e-6)


def test_logistic_finds_its_own_weights_again() -> None:
    made = pgm.Logistic({"a": 4.0, "b": {"mid": -1.0, "top": 2.0}, "c": -0.5}, bias=-2.0)
    cpd = bound(made, {"a": 2, "b": 3, "c": 4}, 2)
    start = bound(pgm.Logistic({"a": 0, "b": {"mid": 0, "top": 0}, "c": 0}), {"a": 2, "b": 3, "c": 4}, 2)
    fitted = start.fit(cpd.values * 100)
    assert fitted.bias == pytest.approx(-2.0, abs=1e-9)
    assert fitted.weights["a"] == pytest.approx(4.0, abs=1e-9)
    assert fitted.weights["b"] == pytest.approx({"mid": -1.0, "top": 2.0}, abs=1e-9)
    assert fitted.weights["c"] == pytest.approx(-0.5, abs=1e-9)


def test_logistic_says_when_there_is_no_optimum() -> None:
    cpd = bound(pgm.Logistic({"a": 0.0, "b": 0.0}), {"a": 2, "b": 2}, 2)
    for other in ([0, 1, 0, 1], [0, 0, 1, 0]):  # apart by `a` alone; or only where a is False
        frame = {"a": [0, 0, 1, 1], "b": other, "x": [0, 0, 1, 1]}
        with pytest.warns(pgm.ConvergenceWarning, match="'x': the weights diverge"):
            fitted = cpd.fit(frame)
        assert fitted.probability({"a": True, "b": False, "x": True}) > 0.999
    # a parent that never varies is not a problem: it shares its weight with the bias
    fitted = cpd.fit({"a": [1, 1, 1, 1], "b": [0, 0, 1, 1], "x": [0, 1, 1, 0]})
    assert fitted.probability({"a": True, "b": False, "x": True}) == pytest.approx(0.5)


# --- trees, mixtures ---


def test_a_tree_is_fitted_by_counting_in_each_leaf() -> None:
    rng = np.random.default_rng(11)
    parents = {"a": 2, "b": 3, "c": 2}
    for seed in range(5):
        made, _ = tree(np.random.default_rng(seed), parents, 3)
        cpd = bound(made, parents, 3)
        counts = rng.integers(0, 4, size=(2, 3, 2, 3)).astype(float)
        fitted = cpd.fit(counts)
        alike: dict[tuple[float, ...], np.ndarray] = {}  # cells of one leaf have one row, before and after
        leaves = {}
        for codes in np.ndindex(2, 3, 2):
            leaf = int(cpd._leaf_of(np.array([codes]))[0])
            alike[leaf] = alike.get(leaf, 0) + counts[codes]
            leaves[codes] = leaf
        for codes, leaf in leaves.items():
            total = alike[leaf].sum()
            expected = alike[leaf] / total if total else np.full(3, 1 / 3)
            np.testing.assert_allclose(fitted.values[codes], expected)


def test_a_mixture_reaches_the_likelihood_of_its_own_table() -> None:
    rng = np.random.default_rng(4)
    parents = {"a": 2, "b": 3}
    _, table = mixture(rng, parents, 3)
    start = pgm.MixtureCPD({n: [distribution(rng, 3, 0.0) for _ in range(c)] for n, c in parents.items()})
    fitted = bound(start, parents, 3).fit(table * 50)
    np.testing.assert_allclose(fitted.values, table, atol=5e-3)
    assert sum(fitted.weights.values()) == pytest.approx(1)


def test_what_has_no_numbers_fits_itself() -> None:
    for made in (pgm.AtLeast(1, ["a", "b"]), pgm.Deterministic(lambda a, b: a and b)):
        cpd = bound(made, {"a": 2, "b": 2}, 2) if isinstance(made, pgm.AtLeast) else None
        if cpd is None:
            net = pgm.BayesianNetwork()
            net.add("a", 0.5)
            net.add("b", 0.5)
            net.add("x", made)
            cpd = net.cpd("x")
        assert cpd.fit({"a": [True], "b": [True], "x": [True]}) == cpd
