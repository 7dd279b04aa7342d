"""scikit-learn's own battery for estimators, whole."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import sklearn
from sklearn.utils.estimator_checks import check_estimator


def check(estimator: Any, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """No check fails, none is skipped, and there are as many as there were.

    The battery gets shorter in silence. The check of the array API wants its variable.
    """
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(estimator, on_fail=None, on_skip=None)
    said = {one["check_name"]: (one["status"], str(one["exception"])) for one in found}
    assert {name: why for name, why in said.items() if why[0] != "passed"} == {}
    if sklearn.__version__.startswith("1.9"):
        assert len(found) == count
    assert len(found) > 0.6 * count
