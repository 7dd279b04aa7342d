"""scikit-learn's battery for each public linear classifier."""

from __future__ import annotations

from typing import Any

import pytest

from pgm.adapters import (
    HoKashyap,
    LeastSquares,
    LinearProgram,
    Perceptron,
    RejectingClassifier,
    VotedPerceptron,
    Winnow,
)
from tests.adapters.estimators import check

ALL: dict[str, tuple[Any, int]] = {
    "Perceptron": (Perceptron(), 55),
    "Pocket": (Perceptron(keep="best", max_iter=20), 55),
    "Winnow": (Winnow(), 55),
    "VotedPerceptron": (VotedPerceptron(), 55),
    "LeastSquares": (LeastSquares(), 62),
    "HoKashyap": (HoKashyap(max_iter=100), 55),
    "LinearProgram": (LinearProgram(), 55),
    "RejectingClassifier": (RejectingClassifier(), 55),
}


@pytest.mark.parametrize("name", ALL)
def test_scikit_learn_takes_them_for_its_own(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(*ALL[name], monkeypatch)
