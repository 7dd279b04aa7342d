"""Likelihoods from a classifier: its predictions, divided by the prior that it was trained with."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pgm.errors import InvalidArgument, listed, shown

_ONE = 1e-6  # how far from one a sum of probabilities may be: rounding, not a mistake


def likelihoods(estimator: Any, rows: Any, prior: Any) -> tuple[list[Any], np.ndarray, bool]:
    """The classes, P(class | row) / P(class) of each row, and whether it is a single row.

    Args:
        estimator: a fitted classifier.
        rows: one row, or a frame or array of several.
        prior: as for `Likelihood.from_classifier`.

    Raises:
        InvalidArgument: as there.
    """
    kind = type(estimator).__name__
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        what = f"the class {estimator.__name__}" if isinstance(estimator, type) else shown(estimator)
        raise InvalidArgument(f"A likelihood is read from a fitted classifier, not from {what}.")
    if not hasattr(estimator, "predict_proba"):
        raise InvalidArgument(
            f"A likelihood needs probabilities, and {kind} has no predict_proba here. Calibrate it: "
            "sklearn.calibration.CalibratedClassifierCV."
        )
    table, one = _laid_out(estimator, rows)
    try:
        found = np.asarray(estimator.predict_proba(table), dtype=np.float64)
        classes = np.asarray(estimator.classes_).tolist()
    except Exception as error:
        raise InvalidArgument(f"{kind} fails to predict: {type(error).__name__}: {error}") from error
    if len(classes) < 2:
        raise InvalidArgument(
            f"{kind} knows one class only, {listed(classes)}: it cannot distinguish it from others."
        )
    if found.shape != (len(table), len(classes)):
        raise InvalidArgument(
            f"{kind} returns probabilities of shape {found.shape} for {len(table):,} rows and {len(classes)} "
            "classes."
        )
    wrong = ~((found >= 0.0).all(axis=1) & (np.abs(found.sum(axis=1) - 1.0) <= _ONE))
    if wrong.any():
        row = int(wrong.argmax())
        raise InvalidArgument(
            f"{kind} returns {shown(found[row].tolist())}{'' if one else f' for row {row:,}'}, which are "
            "not probabilities of classes."
        )
    shares = _given(prior, classes) if prior is not None else _read(estimator, kind, classes)
    none = shares == 0.0
    if (found[:, none] > 0.0).any():
        row, at = (int(i[0]) for i in np.nonzero((found > 0.0) & none))
        raise InvalidArgument(
            f"prior= has zero for {shown(classes[at])}, and {kind} gives it {found[row, at]:.6g}"
            f"{'' if one else f' in row {row:,}'}: it was trained with such rows."
        )
    return classes, found / np.where(none, 1.0, shares), one


def _laid_out(estimator: Any, rows: Any) -> tuple[Any, bool]:
    """The rows as the estimator takes them, and whether there is only one."""
    names = getattr(estimator, "feature_names_in_", None)
    if isinstance(rows, Mapping):
        if names is None:
            raise InvalidArgument(
                f"{type(estimator).__name__} was fitted on columns without names: give the features in their "
                f"order, a list, not {shown(rows)}."
            )
        columns = [str(name) for name in names]
        if absent := [name for name in columns if name not in rows]:
            raise InvalidArgument(f"The row has no {listed(absent)}; the classifier takes {listed(columns)}.")
        if unknown := [name for name in rows if name not in columns]:
            raise InvalidArgument(
                f"The classifier was not fitted on {listed(unknown)}; it takes {listed(columns)}."
            )
        import pandas as pd

        one = not any(_several(rows[name]) for name in columns)
        return pd.DataFrame({name: [rows[name]] if one else rows[name] for name in columns}), one
    if hasattr(rows, "columns") and hasattr(rows, "shape"):
        return rows, False
    if hasattr(rows, "index") and hasattr(rows, "to_frame"):  # a row of a pandas frame
        return (rows.to_frame().T if names is not None else np.asarray(rows)[np.newaxis]), True
    found = np.asarray(rows)
    if found.ndim == 0:
        raise InvalidArgument(f"A row has a value for each feature, such as [{shown(rows)}].")
    return (found[np.newaxis], True) if found.ndim == 1 else (rows, False)


def _several(value: Any) -> bool:
    return not isinstance(value, str) and hasattr(value, "__len__")


def _given(prior: Any, classes: Sequence[Any]) -> np.ndarray:
    """A prior as the user wrote it, in the order of the classes."""
    written = prior.to_dict() if hasattr(prior, "to_dict") else prior
    if isinstance(written, Mapping):
        if absent := [c for c in classes if c not in written]:
            raise InvalidArgument(f"prior= has no share for {listed(absent)}: it was {shown(written)}.")
        if unknown := [key for key in written if key not in classes]:
            raise InvalidArgument(
                f"prior= has a share for {listed(unknown)}, and the classes are {listed(classes)}."
            )
        written = [written[c] for c in classes]
    try:
        shares = np.array(written, dtype=np.float64)
    except (TypeError, ValueError):
        shares = np.array(math.nan)
    if shares.shape != (len(classes),) or not (shares >= 0.0).all() or not abs(shares.sum() - 1.0) <= _ONE:
        raise InvalidArgument(
            f"prior= has a probability for each of {listed(classes)}, which sum to one; not {shown(prior)}."
        )
    return shares


def _read(estimator: Any, kind: str, classes: Sequence[Any]) -> np.ndarray:
    """The prior that an estimator was trained with, as it records it."""
    inner = estimator
    while True:
        if hasattr(inner, "best_estimator_"):
            inner = inner.best_estimator_
        elif hasattr(inner, "steps"):
            inner = inner.steps[-1][1]
        else:
            break
    found: Any = None
    for name in ("class_prior_", "priors_"):
        found = getattr(inner, name, None) if found is None else found
    if found is None and hasattr(inner, "class_log_prior_"):
        found = np.exp(inner.class_log_prior_)
    if found is None and hasattr(inner, "tree_") and np.ndim(inner.tree_.value) == 3:
        found = inner.tree_.value[0, 0]  # the weight of each class in all rows
    if found is None and isinstance(weights := getattr(inner, "class_weight", None), str):
        found = np.ones(len(classes)) if weights == "balanced" else None
    shares = np.zeros(0) if found is None else np.asarray(found, dtype=np.float64)
    if shares.shape != (len(classes),) or not (shares >= 0.0).all() or not 0.0 < shares.sum() < math.inf:
        raise InvalidArgument(
            f"prior= is needed: {kind} does not keep the share of each class in the data that it was trained "
            f"with. Give it, prior={{{shown(classes[0])}: p, ...}}: dividing by a different prior gives a "
            "different likelihood."
        )
    return np.asarray(shares / shares.sum())
