"""scikit-learn's conventions: its own checks of every public classifier, and its tools around them."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import pgm

CLASSIFIERS = {
    "NaiveBayes": lambda: pgm.NaiveBayes(),
    "TANClassifier": lambda: pgm.TANClassifier(),
    "KDependenceClassifier": lambda: pgm.KDependenceClassifier(),
    "AODEClassifier": lambda: pgm.AODEClassifier(),
    "NetworkClassifier": lambda: pgm.NetworkClassifier(),
    "DiscriminantAnalysis": lambda: pgm.DiscriminantAnalysis(),
    "MixtureClassifier": lambda: pgm.MixtureClassifier(),
}
RNG = np.random.default_rng(0)
Y = np.repeat(["a", "b", "c"], 30)
X = np.array([[0.0, 0.0], [3.0, 1.0], [1.0, 3.0]]).repeat(30, axis=0) + RNG.normal(0, 0.8, (90, 2))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_check_of_scikit_learn_passes(name, monkeypatch):
    """No check fails, and none is skipped: that of the array API wants its variable."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(CLASSIFIERS[name](), on_fail=None, on_skip=None)
    others = {one["check_name"]: (one["status"], str(one["exception"])) for one in found}
    assert {check: said for check, said in others.items() if said[0] != "passed"} == {}
    if sklearn.__version__.startswith("1.9"):
        assert len(found) == 61
    assert len(found) > 40


def test_no_public_classifier_is_left_out():
    found = {name for name in pgm.__all__ if hasattr(getattr(pgm, name), "decision_function")}
    assert found == set(CLASSIFIERS)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_its_tools_take_it(name):
    told = CLASSIFIERS[name]()
    assert is_classifier(told)
    assert type(clone(told)) is type(told)
    assert clone(told).get_params().keys() == told.get_params().keys()
    pipe = make_pipeline(StandardScaler(), clone(told)).fit(X, Y)
    assert pipe.score(X, Y) > 0.85
    assert cross_val_score(told, X, Y, cv=3).mean() > 0.8
    option = "prior" if name != "DiscriminantAnalysis" else "var_smoothing"
    grid = GridSearchCV(told, {option: [1.0, 0.5]}, cv=2).fit(X, Y)
    assert grid.best_estimator_.predict(X).shape == (90,)
    told.fit(X, Y)
    p = told.predict_proba(X)
    for other in (copy.deepcopy(told), pickle.loads(pickle.dumps(told))):
        assert np.array_equal(other.predict_proba(X), p)
    assert p.sum(axis=1) == pytest.approx(np.ones(90), abs=1e-12)
    assert np.array_equal(told.classes_[p.argmax(axis=1)], told.predict(X))
