"""The kind and the abilities of an estimator, by scikit-learn's conventions."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import numpy as np

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
            f"pgm.EstimatorCPD takes a classifier or a regressor; {type(estimator).__name__} has no "
            "`predict`."
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
    except (TypeError, AttributeError):  # not derived from scikit-learn's BaseEstimator
        return hasattr(estimator, "classes_") or not hasattr(estimator, "predict_proba")
    return True


def copied(estimator: Any) -> Any:
    """A private copy that cannot be refitted elsewhere, or the estimator itself if it cannot be copied."""
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


def alike(one: Any, other: Any, seen: set[tuple[int, int]] | None = None) -> bool:
    """Whether two estimators or densities are equal: the same object, or of one type with the same contents.

    >>> from sklearn.svm import SVC
    >>> alike(SVC(), SVC()), alike(SVC(), SVC(C=2.0)), alike([1.0, float("nan")], [1.0, float("nan")])
    (True, False, True)
    """
    seen = set() if seen is None else seen
    if one is other or (id(one), id(other)) in seen:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, bool | int | float | complex | str | bytes | np.generic | type | FunctionType):
        return bool(one == other) or bool(one != one and other != other)  # NaN differs from itself
    seen.add((id(one), id(other)))
    if isinstance(one, np.ndarray) and one.dtype != object:
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        return bool(one.tobytes() == other.tobytes() or (one == other).all())
    if isinstance(one, np.ndarray):
        return one.shape == other.shape and alike(one.tolist(), other.tolist(), seen)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key], seen) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(alike(a, b, seen) for a, b in zip(one, other, strict=True))
    if isinstance(one, set | frozenset):
        return bool(one == other)
    if hasattr(one, "get_arrays"):  # a k-d tree of scikit-learn, which also counts its queries
        return alike([np.asarray(a) for a in one.get_arrays()], [np.asarray(a) for a in other.get_arrays()])
    try:
        parts = [thing.__reduce_ex__(4) for thing in (one, other)]  # what pickle would keep
    except Exception:
        return bool(one == other)
    if isinstance(parts[0], str):
        return bool(parts[0] == parts[1])
    mine, its = [[list(p) if isinstance(p, Iterator) else p for p in part] for part in parts]
    return alike(mine, its, seen)


def in_a_line(estimator: Any) -> str:
    """An estimator with its options in one line, even one of pgm's, which print as tables once fitted."""
    begun = getattr(estimator, "_begun", None)
    return " ".join((begun() if callable(begun) else repr(estimator)).split())
