"""Rows of the catalogue about classifiers whose prior is exchanged."""

from __future__ import annotations

import math

import pytest

import pgm


def test_A125_prior_corrected_intercept() -> None:
    """w0 = w0 of the likelihood ratio + log of the ratio of priors: O24."""
    w0, wx, prior = -1.0, 2.0, 0.7
    corrected = w0 + math.log(prior / (1.0 - prior))
    assert corrected == pytest.approx(-0.1527021396, abs=1e-9)
    net = pgm.BayesianNetwork()
    net.add("c", prior)
    said = pgm.Likelihood({True: math.exp(wx + w0), False: 1.0})
    assert net.query("c", {"c": said})[True] == pytest.approx(0.8638095286, abs=1e-9)
    # a logistic regression trained with other shares of the classes gives the same, its prior divided out
    trained = 0.2
    p = 1.0 / (1.0 + math.exp(-(wx + w0 + math.log(trained / (1.0 - trained)))))

    class Trained:
        classes_ = (False, True)

        def fit(self, *_: object) -> None: ...

        def predict_proba(self, rows: object) -> list[list[float]]:
            return [[1.0 - p, p]]

    said = pgm.Likelihood.from_classifier(Trained(), [0.0], prior={True: trained, False: 1.0 - trained})
    assert net.query("c", {"c": said})[True] == pytest.approx(0.8638095286, abs=1e-9)
