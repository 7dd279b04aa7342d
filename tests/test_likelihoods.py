"""What a classifier says as evidence, and its confusion matrix as a sensor."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import pgm
from pgm.errors import InvalidArgument, InvalidEvidence

RNG = np.random.default_rng(0)
Y = np.repeat(["bus", "car", "van"], [60, 30, 10])
X = RNG.normal(size=(100, 2)) + np.repeat([[0, 0], [2, 0], [0, 2]], [60, 30, 10], axis=0)
PRIOR = {"bus": 0.6, "car": 0.3, "van": 0.1}


def truck(prior: dict[str, float]) -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("kind", prior)
    return net


@pytest.mark.parametrize(
    ("estimator", "prior"),
    [
        (GaussianNB(), None),
        (LinearDiscriminantAnalysis(), None),
        (make_pipeline(StandardScaler(), GaussianNB()), None),
        (GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=2), None),
        (DecisionTreeClassifier(max_depth=2, random_state=0), None),
        (LogisticRegression(), PRIOR),
        (LogisticRegression(), [0.6, 0.3, 0.1]),
        (LogisticRegression(), pd.Series(Y).value_counts(normalize=True)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_multiplied_back_it_is_the_classifiers_answer(estimator: Any, prior: Any) -> None:
    estimator.fit(X, Y)
    answer = estimator.predict_proba(X[40:70])
    for row, p in zip(X[40:70], answer, strict=True):
        said = pgm.Likelihood.from_classifier(estimator, row, prior=prior)
        found = truck(PRIOR).query("kind", {"kind": said})
        np.testing.assert_allclose(found.values, p, atol=1e-12)
    many = pgm.Likelihood.from_classifier(estimator, X[40:70], prior=prior)
    assert isinstance(many, pgm.Likelihoods)
    one = dict(pgm.Likelihood.from_classifier(estimator, X[43], prior=prior).items)
    np.testing.assert_allclose(list(dict(many[3].items).values()), list(one.values()), rtol=1e-12)
    np.testing.assert_allclose(many.weights * [0.6, 0.3, 0.1], answer, atol=1e-12)


def test_another_prior_gives_the_answer_of_bayes_rule() -> None:
    ours = {"bus": 0.2, "car": 0.2, "van": 0.6}
    nb = GaussianNB().fit(X, Y)
    there = GaussianNB(priors=[0.2, 0.2, 0.6]).fit(X, Y)
    said = pgm.Likelihood.from_classifier(nb, X[0])
    np.testing.assert_allclose(
        truck(ours).query("kind", {"kind": said}).values, there.predict_proba(X[:1])[0], atol=1e-12
    )


def test_balanced_classes_and_counts_of_words_keep_their_prior() -> None:
    balanced = LogisticRegression(class_weight="balanced").fit(X, Y)
    said = pgm.Likelihood.from_classifier(balanced, X[0])
    np.testing.assert_allclose(list(dict(said.items).values()), 3 * balanced.predict_proba(X[:1])[0])
    words = MultinomialNB().fit(np.abs(X), Y)
    weights = pgm.Likelihood.from_classifier(words, np.abs(X[:5])).weights
    np.testing.assert_allclose(weights * [0.6, 0.3, 0.1], words.predict_proba(np.abs(X[:5])), atol=1e-12)


def test_rows_by_name() -> None:
    frame = pd.DataFrame(X, columns=["length", "height"])
    nb = GaussianNB().fit(frame, Y)
    by_name = pgm.Likelihood.from_classifier(nb, {"height": X[0, 1], "length": X[0, 0]})
    assert by_name == pgm.Likelihood.from_classifier(nb, frame.iloc[0])
    assert by_name == pgm.Likelihood.from_classifier(nb, frame)[0]
    columns = {"height": X[:3, 1], "length": X[:3, 0]}
    assert len(pgm.Likelihood.from_classifier(nb, columns)) == 3
    with pytest.raises(InvalidArgument, match="has no 'height'"):
        pgm.Likelihood.from_classifier(nb, {"length": 1.0})
    with pytest.raises(InvalidArgument, match="not fitted on 'weight'"):
        pgm.Likelihood.from_classifier(nb, {"length": 1.0, "height": 1.0, "weight": 2.0})
    with pytest.raises(InvalidArgument, match="without names"):
        pgm.Likelihood.from_classifier(GaussianNB().fit(X, Y), {"length": 1.0, "height": 1.0})


class Odd:
    classes_ = np.array(["a", "b"])

    def __init__(self, answer: Any, classes: Any = ("a", "b")) -> None:
        self.answer, self.classes_ = answer, np.array(classes)

    def fit(self, *_: Any) -> None: ...

    def predict_proba(self, rows: Any) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return np.array(self.answer)


@pytest.mark.parametrize(
    ("estimator", "prior", "said"),
    [
        (GaussianNB, None, "the class GaussianNB"),
        (3, None, "fitted classifier, not from 3"),
        (Perceptron().fit(X, Y), None, "no predict_proba"),
        (GaussianNB(), None, "fails to predict: NotFittedError"),
        (LogisticRegression().fit(X, Y), None, "prior= is needed: LogisticRegression does not keep"),
        (LogisticRegression().fit(X, Y), {"bus": 0.5, "car": 0.5}, "no share for 'van'"),
        (LogisticRegression().fit(X, Y), {**PRIOR, "tram": 0.0}, "share for 'tram'"),
        (LogisticRegression().fit(X, Y), [0.5, 0.5, 0.5], "sum to one"),
        (LogisticRegression().fit(X, Y), [0.5, 0.5], "sum to one"),
        (LogisticRegression().fit(X, Y), "uniform", "sum to one"),
        (LogisticRegression().fit(X, Y), {"bus": 0.5, "car": 0.5, "van": 0.0}, "has zero for 'van'"),
        (Odd([[0.5, 0.6]]), [0.5, 0.5], "not probabilities of classes"),
        (Odd([[1.5, -0.5]]), [0.5, 0.5], "not probabilities of classes"),
        (Odd([[np.nan, 1.0]]), [0.5, 0.5], "not probabilities of classes"),
        (Odd([[1.0]]), [0.5, 0.5], r"shape \(1, 1\)"),
        (Odd([[1.0]], ["a"]), [1.0], "one class only"),
        (Odd(RuntimeError("broken")), [0.5, 0.5], "RuntimeError: broken"),
    ],
)
def test_bad_classifiers_and_priors_are_refused(estimator: Any, prior: Any, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        pgm.Likelihood.from_classifier(estimator, [0.0, 0.0], prior=prior)


def test_a_class_that_is_no_state_is_refused_where_it_is_used() -> None:
    said = pgm.Likelihood.from_classifier(GaussianNB().fit(X, Y), X[0])
    net = pgm.BayesianNetwork()
    net.add("kind", {"bus": 0.5, "car": 0.3, "tram": 0.2})
    with pytest.raises(pgm.PGMError, match="'van'"):
        net.query("kind", {"kind": said})


def test_likelihoods_are_values() -> None:
    many = pgm.Likelihoods([[0.8, 0.1], [np.nan, np.nan]], ["yes", "no"])
    assert pickle.loads(pickle.dumps(many)) == many
    assert "0.8" in repr(many)
    assert "<table" in many._repr_html_()
    assert many[:1] == pgm.Likelihoods([[0.8, 0.1]], ["yes", "no"])
    assert np.asarray(many, dtype=object)[1] is None
    assert pd.Series(np.asarray(many)).iloc[0] == pgm.Likelihood({"yes": 0.8, "no": 0.1})
    with pytest.raises(AttributeError):
        many.weights = np.ones((1, 2))
    for bad in ([0.5, 0.5], [[0.1, 0.2, 0.3]], "text"):
        with pytest.raises(InvalidEvidence, match="a row for each case"):
            pgm.Likelihoods(bad, ["yes", "no"])


# --- the confusion matrix -----------------------------------------------------------------------------------


def test_a_confusion_table_is_counted() -> None:
    said = GaussianNB().fit(X, Y).predict(X)
    counts = confusion_matrix(Y, said, labels=["bus", "car", "van"])
    table = pgm.confusion_table(Y, said)
    for row, state in zip(counts, PRIOR, strict=True):
        np.testing.assert_allclose(list(table[state].values()), row / row.sum())
    assert list(table) == ["bus", "car", "van"]
    assert pgm.confusion_table(counts=counts, states=["bus", "car", "van"]) == table
    frame = pd.crosstab(pd.Series(Y, name="truth"), pd.Series(said, name="said"))
    assert pgm.confusion_table(counts=frame) == table
    by_hand = {s: dict(zip(PRIOR, row.tolist(), strict=True)) for s, row in zip(PRIOR, counts, strict=True)}
    assert pgm.confusion_table(counts=by_hand) == table
    smooth = pgm.confusion_table(Y, said, smoothing=0.5)
    np.testing.assert_allclose(
        list(smooth["van"].values()), (counts[2] + 0.5) / (counts[2].sum() + 1.5), rtol=1e-12
    )


def test_a_confusion_table_is_a_sensor() -> None:
    said = GaussianNB().fit(X, Y).predict(X)
    net = truck(PRIOR)
    net.add("predicted", pgm.confusion_table(Y, said, smoothing=1), parents=["kind"])
    assert net.variables["predicted"].states == ("bus", "car", "van")
    counts = confusion_matrix(Y, said) + 1.0
    joint = np.array([0.6, 0.3, 0.1])[:, None] * counts / counts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        net.query("kind", {"predicted": "car"}).values, joint[:, 1] / joint[:, 1].sum(), atol=1e-12
    )


def test_outputs_may_be_others_than_states() -> None:
    table = pgm.confusion_table(
        ["ill", "ill", "well", None],
        ["alarm", "?", "quiet", "?"],
        states=["well", "ill"],
        outputs=["quiet", "?", "alarm"],
    )
    assert table == {
        "well": {"quiet": 1.0, "?": 0.0, "alarm": 0.0},
        "ill": {"quiet": 0.0, "?": 0.5, "alarm": 0.5},
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "or counts="),
        ({"truth": ["a"], "predicted": ["a", "b"]}, "1 true states and 2 predictions"),
        ({"truth": ["a"], "predicted": ["b"]}, "no row whose truth is 'b'"),
        ({"truth": ["a"], "predicted": ["b"], "states": ["b"]}, "truth 'a' is not one of"),
        ({"truth": ["a"], "predicted": ["b"], "states": ["a"]}, "prediction 'b' is not one of"),
        ({"truth": ["a"], "predicted": ["a"], "counts": [[1]]}, "not both"),
        ({"truth": [], "predicted": []}, "no row to count"),
        ({"counts": [[1, 2], [3, 4]]}, "states= names the rows"),
        ({"counts": [[1, 2], [3, -4]], "states": ["a", "b"]}, "non-negative numbers"),
        ({"counts": [[1, 2]], "states": ["a", "b"]}, "its shape"),
        ({"counts": {"a": {"a": 1}}, "states": ["b"]}, "has the truth 'a'"),
        ({"counts": {"a": 1}}, "as a dict is"),
        ({"truth": ["a"], "predicted": ["a"], "smoothing": -1}, "smoothing= is a non-negative number"),
    ],
)
def test_bad_counts_are_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(pgm.PGMError, match=said):
        pgm.confusion_table(**arguments)


def test_confusion_tables_leave_out_gaps_and_follow_the_states() -> None:
    truth, said = ["a", None, "b", "a"], ["a", "b", "b", None]
    assert pgm.confusion_table(truth, said) == {"a": {"a": 1.0, "b": 0.0}, "b": {"a": 0.0, "b": 1.0}}
    counts = {"b": {"a": 1, "b": 3}, "a": {"a": 4}}  # not in the order of the states
    table = pgm.confusion_table(counts=counts, states=["a", "b"])
    assert table == {"a": {"a": 1.0, "b": 0.0}, "b": {"a": 0.25, "b": 0.75}}
