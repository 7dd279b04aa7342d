"""Naive Bayes beside scikit-learn's, beside its own network, and beside sums over all completions of rows."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import naive_bayes as peers

import pgm

RNG = np.random.default_rng(20)
X = RNG.integers(0, 3, (80, 4))
Y = (X[:, 0] + X[:, 1] * RNG.integers(0, 2, 80) + RNG.integers(0, 2, 80)) % 3
FLOATS = X + RNG.normal(0, 0.7, X.shape)


def same(mine, peer, rows, tolerance=1e-9):
    assert np.array_equal(mine.classes_, peer.classes_)
    assert mine.predict_proba(rows) == pytest.approx(peer.predict_proba(rows), abs=tolerance)
    assert mine.predict_log_proba(rows) == pytest.approx(peer.predict_log_proba(rows), abs=1e-7)
    assert np.array_equal(mine.predict(rows), peer.predict(rows))
    assert mine.score(rows, Y) == pytest.approx(peer.score(rows, Y), abs=1e-12)


# --- scikit-learn's numbers ---


@pytest.mark.parametrize("alpha", [1.0, 0.25])
@pytest.mark.parametrize("weights", [None, RNG.uniform(0.0, 3.0, 80)])
def test_categories_as_in_CategoricalNB(alpha, weights):
    mine = pgm.NaiveBayes(prior=alpha).fit(X, Y, sample_weight=weights)
    same(mine, peers.CategoricalNB(alpha=alpha).fit(X, Y, sample_weight=weights), X)


def test_numbers_as_in_GaussianNB():
    for smoothing in (1e-9, 0.1):
        peer = peers.GaussianNB(var_smoothing=smoothing).fit(FLOATS, Y)
        same(pgm.NaiveBayes(var_smoothing=smoothing).fit(FLOATS, Y), peer, FLOATS)
    weights = RNG.integers(1, 4, 80).astype(float)
    mine = pgm.NaiveBayes(var_smoothing=0.0).fit(FLOATS, Y, weights)
    same(mine, peers.GaussianNB(var_smoothing=0.0).fit(FLOATS, Y, weights), FLOATS)


def test_truths_as_in_BernoulliNB():
    rows = (X > 0).astype(int)
    rows[:, 3] = 0  # a column that is never true still has two states
    mine = pgm.NaiveBayes("bernoulli", class_prior="uniform").fit(rows, Y)
    same(mine, peers.BernoulliNB(fit_prior=False).fit(rows, Y), rows)
    same(pgm.NaiveBayes("bernoulli").fit(rows.astype(float), Y), peers.BernoulliNB().fit(rows, Y), rows)


def test_counts_as_in_MultinomialNB():
    for rows in (X, np.abs(FLOATS)):
        mine = pgm.NaiveBayes("multinomial", prior=0.5).fit(rows, Y)
        same(mine, peers.MultinomialNB(alpha=0.5).fit(rows, Y), rows)


def test_parts_as_in_one_fit():
    whole = pgm.NaiveBayes(states={"x0": [0, 1, 2]}).fit(X, Y)
    parts = pgm.NaiveBayes(states={f"x{j}": [0, 1, 2] for j in range(4)})
    for i in range(0, 80, 20):
        parts.partial_fit(X[i : i + 20], Y[i : i + 20], classes=[0, 1, 2] if i == 0 else None)
    assert parts.predict_proba(X) == pytest.approx(whole.predict_proba(X), abs=1e-12)
    numbers, peer = pgm.NaiveBayes(), peers.GaussianNB()
    for i in range(0, 80, 40):
        numbers.partial_fit(FLOATS[i : i + 40], Y[i : i + 40])
        peer.partial_fit(FLOATS[i : i + 40], Y[i : i + 40], classes=[0, 1, 2])
    assert numbers.predict_proba(FLOATS) == pytest.approx(
        pgm.NaiveBayes().fit(FLOATS, Y).predict_proba(FLOATS), abs=1e-12
    )
    assert numbers.predict_proba(FLOATS) == pytest.approx(peer.predict_proba(FLOATS), abs=1e-6)


def test_what_is_forgotten_counts_less():
    told = pgm.NaiveBayes(prior=0.0, states={"x0": [0, 1]}).partial_fit([[0], [0], [1]], [0, 0, 1])
    told.partial_fit([[1], [1]], [0, 1], forget=0.5)
    assert told.class_prior_ == pytest.approx([2 / 3.5, 1.5 / 3.5])
    assert told.predict_proba([[1]]) == pytest.approx(np.array([[1.0, 1.5]]) / 2.5)


# --- the same network, and gaps ---


def mixed(seed=0, n=60):
    rng = np.random.default_rng(seed)
    y = rng.choice(["no", "yes"], n)
    frame = pd.DataFrame(
        {
            "size": np.where(y == "yes", 1.5, 0.0) + rng.normal(0, 1, n),
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], n)),
            "wet": np.where(rng.random(n) < 0.3, ~(y == "yes"), y == "yes"),
            "count": rng.integers(1, 5, n),
        }
    )
    return frame, y


def holes(frame, seed=1, share=0.3):
    rng = np.random.default_rng(seed)
    return frame.astype(object).where(rng.random(frame.shape) > share, None)


@pytest.mark.parametrize("prior", [1.0, 0.5, "bdeu", {"colour": 2.0, "wet": pgm.priors.Beta(1, 1)}])
def test_the_same_as_its_network(prior):
    frame, y = mixed()
    if isinstance(prior, dict):
        prior = {"colour": 2.0, ...: 1.0}
    told = pgm.NaiveBayes(prior=prior).fit(frame, y)
    asked = holes(frame)
    mine = told.predict_proba(asked)
    assert mine == pytest.approx(told.to_network().predict_proba(asked, "class").to_numpy(), abs=1e-9)
    assert told.network.nodes == ("class", "size", "colour", "wet", "count")
    lone = told.predict_proba(frame[["wet"]])
    assert lone == pytest.approx(told.network.predict_proba(frame[["wet"]], "class").to_numpy(), abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_gaps_are_summed_out(seed):
    """P(class | what is there) from P(class, complete row) of all complete rows: exact fractions."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(4, 12)), int(rng.integers(2, 4))
    cards = rng.integers(1, 4, 3)
    rows = np.column_stack([rng.integers(0, c, n) for c in cards]).astype(object)
    rows[rng.random(rows.shape) < 0.2] = None
    for j in range(3):
        rows[0, j] = 0
    y = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    states = {f"x{j}": list(range(int(c))) for j, c in enumerate(cards)}
    told = pgm.NaiveBayes(states=states).fit(rows, y)

    def joint(c, cells):
        p = Fraction(int((y == c).sum()), n)
        for j, x in enumerate(cells):
            seen = [row[j] for row in rows[y == c] if row[j] is not None]
            p *= Fraction(seen.count(x) + 1, len(seen) + int(cards[j]))
        return p

    asked = [x if rng.random() < 0.6 else None for x in (int(rng.integers(c)) for c in cards)]
    every = [range(c) if x is None else [x] for x, c in zip(asked, cards.tolist(), strict=True)]
    sums = [sum(joint(c, cells) for cells in itertools.product(*every)) for c in range(k)]
    want = [float(s / sum(sums)) for s in sums]
    assert told.predict_proba(np.array([asked], dtype=object))[0].tolist() == pytest.approx(want, abs=1e-12)


def test_learning_leaves_gaps_out():
    told = pgm.NaiveBayes(var_smoothing=0.0).fit([[1.0], [np.nan], [3.0], [4.5], [5.5]], [0, 0, 0, 1, 1])
    cpd = told.network.cpd("x0")
    assert (cpd.bias.tolist(), cpd.sd.tolist()) == ([2.0, 5.0], [1.0, 0.5])
    assert told.class_prior_.tolist() == [0.6, 0.4]


def test_what_is_believed_of_the_numbers():
    """With NormalGamma the next number is Student's, scipy's; the mean is plugged in on request."""
    from scipy import stats

    x, y = np.array([[1.0], [2.0], [4.0], [7.5]]), [0, 0, 1, 1]
    prior = pgm.priors.NormalGamma(2.0, rows=1.0, a=2.0, b=3.0)
    told = pgm.NaiveBayes(prior={"x0": prior}).fit(x, y)
    t = []
    for rows in (x[:2, 0], x[2:, 0]):
        after = prior.posterior(rows)
        scale = math.sqrt(after.b * (after.rows + 1) / (after.a * after.rows))
        t.append(float(stats.t(2 * after.a, after.mean, scale).pdf(3.0)))
    assert told.predict_proba([[3.0]])[0] == pytest.approx(np.array(t) / sum(t), abs=1e-12)
    with pytest.raises(pgm.InvalidStructure, match=r"Student.*estimate=\"mean\""):
        told.to_network()
    plugged = pgm.NaiveBayes(prior={"x0": prior}, estimate="mean").fit(x, y)
    net = pgm.BayesianNetwork(edges="class -> x0").fit({"x0": x[:, 0], "class": y}, prior={"x0": prior})
    assert plugged.network.cpd("x0") == net.cpd("x0")


def test_a_mode_of_dirichlet_priors():
    told = pgm.NaiveBayes(prior=2.0, estimate="mode").fit(X, Y)
    same(told, peers.CategoricalNB(alpha=1.0).fit(X, Y), X)


# --- decisions ---


def test_a_decision_is_the_smallest_sum_of_losses():
    told = pgm.NaiveBayes().fit(X, Y)
    loss = RNG.uniform(0, 5, (3, 3))
    found = told.decide(X, loss, reject=1.2)
    p = told.predict_proba(X)
    risk = [[sum(p[i, t] * loss[t, a] for t in range(3)) for a in range(3)] + [1.2] for i in range(80)]
    assert found.risk == pytest.approx(np.array(risk), abs=1e-12)
    want = [min(range(4), key=row.__getitem__) for row in risk]
    assert [3 if d is None else d for d in found.decisions.tolist()] == want
    assert found.rejected.tolist() == [w == 3 for w in want]
    pairs = {(t, a): loss[t, a] for t in range(3) for a in range(3)}
    assert told.decide(X, pairs, reject=1.2).risk == pytest.approx(found.risk, abs=1e-15)
    assert told.decide(X).decisions.tolist() == told.predict(X).tolist()
    assert len(found.to_pandas()) == len(found) == 80
    assert "rejected" in repr(found)
    assert found.plot is not None


def test_log_odds_and_the_decision_function():
    told = pgm.NaiveBayes().fit(X, Y)
    logs = peers.CategoricalNB().fit(X, Y).predict_log_proba(X)
    assert told.log_odds(X, 2, 0) == pytest.approx(logs[:, 2] - logs[:, 0], abs=1e-9)
    assert told.decision_function(X) == pytest.approx(logs, abs=1e-9)
    two = pgm.NaiveBayes().fit(X, Y > 0)
    assert two.decision_function(X) == pytest.approx(two.log_odds(X, True, False), abs=1e-12)


# --- bad input, in the user's words ---


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pgm.NaiveBayes().predict([[0]]), "learned nothing yet: fit it"),
        (lambda: pgm.NaiveBayes().to_network(), "learned nothing yet"),
        (lambda: pgm.NaiveBayes().plot(), "learned nothing yet"),
        (lambda: pgm.NaiveBayes().fit(X, None), "y has a class for each"),
        (lambda: pgm.NaiveBayes().fit(X, Y[:5]), "a class for each of the 80 rows|each of 80 rows"),
        (lambda: pgm.NaiveBayes().fit(X, np.zeros(80)), "only one class, 0"),
        (lambda: pgm.NaiveBayes().fit(X, FLOATS[:, 0]), "continuous.*pgm.discretize"),
        (lambda: pgm.NaiveBayes().fit(X[:0], Y[:0]), "no rows"),
        (lambda: pgm.NaiveBayes().fit(X, Y, -np.ones(80)), "weight of row 0"),
        (lambda: pgm.NaiveBayes().fit(X, Y, np.zeros(80)), "sample_weight is zero"),
        (lambda: pgm.NaiveBayes("gausian").fit(X, Y), "Did you mean 'gaussian'"),
        (lambda: pgm.NaiveBayes({"x9": "gaussian"}).fit(X, Y), "columns=.*'x9'"),
        (lambda: pgm.NaiveBayes(states={"x9": [1]}).fit(X, Y), "states=.*'x9'"),
        (lambda: pgm.NaiveBayes().fit({"a": [1.0, 2.0]}, [0, 1]), r"continuous=\['a'\]"),
        (lambda: pgm.NaiveBayes(continuous=["x9"]).fit(X, Y), "continuous=.*'x9'"),
        (lambda: pgm.NaiveBayes("bernoulli", continuous=["x0"]).fit(X, Y), "contradict"),
        (lambda: pgm.NaiveBayes("gaussian", states={"x0": [0]}).fit(X, Y), "contradict"),
        (lambda: pgm.NaiveBayes("multinomial").fit(X - 1, Y), "Negative values in data.*'x0'"),
        (lambda: pgm.NaiveBayes("categorical").fit(FLOATS, Y), "fractional values.*pgm.discretize"),
        (lambda: pgm.NaiveBayes(prior=-1).fit(X, Y), "0 or more"),
        (lambda: pgm.NaiveBayes(prior="jeffreys").fit(X, Y), "prior= is 'bdeu'"),
        (lambda: pgm.NaiveBayes(estimate="map").fit(X, Y), "estimate= is 'predictive'"),
        (lambda: pgm.NaiveBayes(var_smoothing=-1).fit(FLOATS, Y), "var_smoothing="),
        (lambda: pgm.NaiveBayes(class_prior=[0.5, 0.5]).fit(X, Y), "class_prior="),
        (lambda: pgm.NaiveBayes(class_prior={7: 1.0}).fit(X, Y), "names 7, which is not a class"),
        (lambda: pgm.NaiveBayes(unknown="skip").fit(X, Y), 'unknown= is "raise"'),
        (lambda: pgm.NaiveBayes().fit(X, Y).predict(X + 5), "no state 5|no state 6|no state 7"),
        (lambda: pgm.NaiveBayes().fit(X, Y).predict(X[:, :2]), "2 features.*expecting 4"),
        (lambda: pgm.NaiveBayes().fit({"a": [1, 2]}, "b"), "'b' names a column"),
        (lambda: pgm.NaiveBayes().fit({"a": [1.5, None], "b": [0, 1]}, "b"), "'a' has no value.*class 1"),
        (lambda: pgm.NaiveBayes().fit({"a": [1.5, 1.5, 1.5, 1.5]}, [0, 1, 0, 1]), "a single value.*class 0"),
        (lambda: pgm.NaiveBayes().fit({"a": [None, None]}, [0, 1]), "'a' has no value"),
        (lambda: pgm.NaiveBayes().fit({"a": [1, 2], "c": ["x", None]}, "c"), "only one class"),
        (lambda: pgm.NaiveBayes().fit({"rain": [1, 2]}, [0, 1]).predict({"rian": [1]}), "rain"),
        (lambda: pgm.NaiveBayes().fit(X, Y).decide(X, [[1]]), "a row for each of the 3"),
        (lambda: pgm.NaiveBayes().fit(X, Y).decide(X, {(0, 9): 1.0}), "no state 9"),
        (lambda: pgm.NaiveBayes().fit(X, Y).decide(X, reject="x"), "reject="),
        (lambda: pgm.NaiveBayes().fit(X, Y).log_odds(X, 0, 8), "no state 8"),
        (lambda: pgm.NaiveBayes().partial_fit(X, Y, forget=0.5), "forget= has no effect"),
        (lambda: pgm.NaiveBayes().fit(X, Y).partial_fit(X, Y, forget=2.0), "between 0 and 1"),
        (lambda: pgm.NaiveBayes().fit(X, Y).partial_fit(X, Y + 9), "has no state"),
        (lambda: pgm.NaiveBayes().set_params(alpha=1), "There is no option 'alpha'"),
        (lambda: pgm.NaiveBayes("multinomial").fit(X, Y).to_network(), "number of draws"),
        (lambda: pgm.NaiveBayes("multinomial").fit([[1.0, None], [1, 2]], [0, 1]), "'x1' has a gap"),
        (lambda: pgm.NaiveBayes().fit(FLOATS, Y).plot(columns=["x0", "x1", "x2"]), "one column or two"),
        (lambda: pgm.NaiveBayes().fit(FLOATS, Y).plot(FLOATS), "X and y, or neither"),
    ],
)
def test_bad_input_is_answered_in_words(call, words):
    with pytest.raises(pgm.PGMError, match=words):
        call()


def test_a_failed_fit_changes_nothing():
    told = pgm.NaiveBayes().fit(X, Y)
    before = told.predict_proba(X)
    with pytest.raises(pgm.PGMError):
        told.fit(FLOATS, np.zeros(80))
    assert np.array_equal(told.predict_proba(X), before)


def test_what_is_unknown_may_be_a_gap():
    told = pgm.NaiveBayes(unknown="missing").fit([["a"], ["b"]], [0, 1])
    assert told.predict_proba([["c"]]).tolist() == [[0.5, 0.5]]


def test_impossible_rows_are_named():
    told = pgm.NaiveBayes(prior=0).fit([[0, 0], [1, 1]], ["a", "b"])
    with pytest.raises(pgm.ImpossibleEvidence, match=r"Row 1 .* is impossible in each class"):
        told.predict([[0, 0], [0, 1]])
    assert told.predict_proba([[0, None]]).tolist() == [[1.0, 0.0]]
    assert told.decision_function([[0, 0]]).tolist() == [-math.inf]


def test_frames_are_read_by_name_and_arrays_by_place():
    frame, y = mixed()
    told = pgm.NaiveBayes().fit(frame, y)
    assert told.feature_names_in_.tolist() == list(frame)
    turned = frame[list(frame)[::-1]].assign(extra=1)
    assert np.array_equal(told.predict_proba(turned), told.predict_proba(frame))
    assert np.array_equal(told.predict_proba(frame.to_numpy()), told.predict_proba(frame))
    by_column = pgm.NaiveBayes().fit(frame.assign(answer=y), "answer")
    assert np.array_equal(by_column.predict_proba(frame), told.predict_proba(frame))
    assert by_column.to_network().nodes[0] == "answer"
    assert pgm.NaiveBayes().fit({"class": [0, 1]}, [0, 1]).to_network().nodes == ("class_", "class")
    wide = np.array([[0, 10**12], [1, -(10**12)], [0, 10**12]])
    assert pgm.NaiveBayes().fit(wide, [0, 1, 0]).predict(wide).tolist() == [0, 1, 0]


def test_it_prints_and_draws():
    frame, y = mixed()
    told = pgm.NaiveBayes().fit(frame, y)
    assert repr(told).splitlines()[0].split() == ["column", "kind", "no", "yes"]
    assert "<table" in told._repr_html_()
    assert repr(pgm.NaiveBayes(prior=2)).startswith("NaiveBayes(prior=2)\n")
    assert told.plot().get_xlabel() == "size"
    assert told.plot(columns=["size", "wet"]).get_ylabel() == "wet"
    assert told.plot(columns="colour").get_xlabel() == "colour"
    two = pgm.NaiveBayes().fit(FLOATS, Y)
    ax = two.plot(FLOATS, Y)
    assert sum(len(c.get_offsets()) for c in ax.collections if hasattr(c, "get_sizes")) >= 80
    assert two.decide(FLOATS[:5], reject=0.3).plot().get_xlabel() == "row"
