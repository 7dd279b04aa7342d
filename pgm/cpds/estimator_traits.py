"""What kind of estimator something is, by scikit-learn's conventions, and what it can do."""

from __future__ import annotations

import copy
from typing import Any

from pgm.errors import InvalidTable, shown


def classifies(estimator: Any) -> bool:
    """Whether an estimator is a classifier; an error if it is neither that nor a regressor."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit") or estimator is None:
        what = (
            f"the class {estimator.__name__}: write {estimator.__name__}()"
            if isinstance(estimator, type)
            else shown(estimator)
        )
        raise InvalidTable(f"pgm.EstimatorCPD takes an estimator, with `fit` and `predict`, not {what}.")
    if hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function"):
        return True
    from sklearn.base import is_classifier

    if is_classifier(estimator):
        raise InvalidTable(
            f"pgm.EstimatorCPD takes a classifier with `predict_proba` or `decision_function`; "
            f"{type(estimator).__name__} has neither. Wrap it, for instance in "
            "sklearn.calibration.CalibratedClassifierCV."
        )
    if not hasattr(estimator, "predict"):
        raise InvalidTable(
            f"pgm.EstimatorCPD takes a classifier or a regressor; {type(estimator).__name__} does not "
            "predict."
        )
    return False


def is_fitted(estimator: Any) -> bool:
    """Whether an estimator can predict."""
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    except (TypeError, AttributeError):  # not made on scikit-learn's base
        return hasattr(estimator, "classes_") or not hasattr(estimator, "predict_proba")
    return True


def copied(estimator: Any) -> Any:
    """A copy that nobody else can refit, or the estimator itself if it cannot be copied."""
    try:
        return copy.deepcopy(estimator)
    except Exception:
        return estimator


def weights_key(estimator: Any) -> str | None:
    """The option of `fit` that takes weights of rows; None if there is none."""
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import has_fit_parameter

    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return f"{name}__sample_weight" if has_fit_parameter(last, "sample_weight") else None
    return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None


def same(one: Any, other: Any) -> bool:
    """Whether two estimators are equal, by their contents."""
    if one is other:
        return True
    import joblib  # type: ignore[import-untyped]

    return bool(joblib.hash(one) == joblib.hash(other))


def in_a_line(estimator: Any) -> str:
    """An estimator with its options in one line; those of pgm too, which print as tables once fitted."""
    begun = getattr(estimator, "_begun", None)
    return " ".join((begun() if callable(begun) else repr(estimator)).split())
