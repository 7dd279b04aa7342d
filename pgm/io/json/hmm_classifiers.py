"""Classifiers of sequences in JSON: a hidden Markov model for each class, each as in a file of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from pgm.distributions.parts import Part
from pgm.errors import InvalidArgument
from pgm.models.dynamic.hmm_classifier import HMMClassifier
from pgm.variables import Variable

from . import hmm
from .classifiers import _classes
from .states import read_domain, write_domain
from .values import read_value, write_value

HMM_CLASSIFIER = "hmm-classifier"


def write(told: HMMClassifier) -> dict[str, Any]:
    """Return the classifier as the object of its file; learning begins, when read again, where it ended."""
    if type(told) is not HMMClassifier:
        raise InvalidArgument(f"A {type(told).__name__} has no JSON form.")
    if not hasattr(told, "classes_"):
        raise told._missing_fit("fit it before it is written")
    options = {
        option: write_value(value, f"The option {option}= of the HMMClassifier")
        for option, value in told.get_params(deep=False).items()
        if option != "model"
    }
    return {
        "options": options,
        **write_domain("class", Variable("class", told.classes_.tolist()).domain),
        "plain": told.classes_.dtype.kind != "O",
        "class_prior": told.class_prior_.tolist(),
        "models": [{"pgm": 1, "hmm": hmm.write(model)} for model in told.models_.values()],
    }


def read(part: Part) -> HMMClassifier:
    """Return the classifier of a file."""
    value = part.members("a model", ["pgm", HMM_CLASSIFIER], ["name", "about"])
    for key in ("name", "about"):
        if key in value:
            part.at(key).text("a text")
    inside = part.at(HMM_CLASSIFIER)
    inside.members(
        "a classifier of sequences", ["options", "plain", "class_prior", "models"], ["states", "bins"]
    )
    if "states" not in inside.value:
        inside.fail("a classifier has the states of its class")
    target = Variable.of("class", read_domain(inside, "class"))
    shares = inside.at("class_prior").numbers(target.card, "P(class)")
    if target.card < 2 or (shares < 0.0).any() or abs(shares.sum() - 1.0) > 1e-6:
        inside.fail("there are two classes or more, and P(class) sums to one", "class_prior")
    options = inside.at("options")
    options.members("the options", [], [name for name in HMMClassifier._options() if name != "model"])
    models = inside.at("models")
    if len(models.elements("a list of models")) != target.card:
        models.fail(f"a model for each of {target.card} classes expected, found {len(models.value):,}")
    made = {state: hmm.read(models.at(i)) for i, state in enumerate(target.states)}
    told = HMMClassifier(made, **{key: read_value(options.at(key)) for key in options.value})
    told.classes_ = _classes(target, inside.at("plain").truth("whether the classes are of one type"))
    told.class_prior_, told.models_ = np.asarray(shares), made
    told.fit_reports_ = dict.fromkeys(made)
    return told
