"""The criterion functions that perceptrons, relaxation and least squares minimise."""

from __future__ import annotations

from typing import Any

import numpy as np

from pgm.adapters.rows import Rows
from pgm.calls import guarded
from pgm.errors import InvalidArgument, shown
from pgm.models.classifiers.conventions import at_least_two, classes_of, labels_of
from pgm.printing import Tabular

from .linear_classifier import normalised_rows, real

_NAMES = {
    "misclassified": "J: rows with a y <= 0",
    "perceptron": "Jp: sum of -a y over these",
    "squared": "Jq: sum of (a y)**2 over these",
    "relaxation": "Jr: half the sum of (a y - margin)**2 / |y|**2 over rows with a y <= margin",
    "shortfall": "Jp': sum of margin - a y over these",
    "squares": "Js: sum of (a y - 1)**2 over all rows",
}


class Criteria(Tabular):
    """The value of each criterion for some weights; see `criteria`. `gradients` has its gradients."""

    def __init__(self, values: dict[str, float], gradients: dict[str, np.ndarray]) -> None:
        """Store the results."""
        self.misclassified = int(values["misclassified"])
        self.perceptron = values["perceptron"]
        self.squared = values["squared"]
        self.relaxation = values["relaxation"]
        self.shortfall = values["shortfall"]
        self.squares = values["squares"]
        self.gradients = gradients

    def to_dict(self) -> dict[str, float]:
        """Return the values by name."""
        return {name: getattr(self, name) for name in _NAMES}

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [[name, f"{getattr(self, name):.6g}", said] for name, said in _NAMES.items()]
        return ["criterion", "value", "what it is"], rows, ""


@guarded
def normalised(X: Any, y: Any, *, positive: Any = None) -> np.ndarray:
    """Return normalised rows: augmented by a leading 1, and negated in the other class.

    Weights a separate the classes where a y > 0 for all of them.

    Args:
        X: numeric rows: a data frame, or an array.
        y: the class of each row, of two.
        positive: the class that is not negated; by default the second in order.

    Raises:
        InvalidArgument: there are not two classes, or not one for each row; `positive` is not one of them.
        InvalidFrame: a value is missing or not a number.

    >>> normalised([[2.0], [-1.0]], ["yes", "no"]).tolist()
    [[1.0, 2.0], [-1.0, 1.0]]
    """
    rows, _ = Rows()._begin(X)
    classes, codes = classes_of(labels_of(y, len(rows)))
    at_least_two(classes)
    known = classes.tolist()
    if len(known) > 2:
        raise InvalidArgument(f"y has {len(known)} classes: one hyperplane separates two.")
    if positive is not None and positive not in known:
        raise InvalidArgument(f"positive= is {shown(known[0])} or {shown(known[1])}, not {shown(positive)}.")
    own = 1 if positive is None else known.index(positive)
    return normalised_rows(rows, np.where(codes == own, 1.0, -1.0))


@guarded
def criteria(weights: Any, X: Any, y: Any, *, margin: float = 0.0, positive: Any = None) -> Criteria:
    """Evaluate the criteria that perceptrons, relaxation and least squares minimise (Duda 2001, 5.5 to 5.8).

    Args:
        weights: one for each column, the intercept first.
        X: numeric rows: a data frame, or an array.
        y: the class of each row, of two.
        margin: of the criteria that have one.
        positive: the class on the positive side; by default the second in order.

    Raises:
        InvalidArgument: there are not two classes, or not as many weights as columns and an intercept.
        InvalidFrame: a value is missing or not a number.

    >>> found = criteria([1.0, 0.0], [[2.0], [-1.0]], ["yes", "no"])
    >>> found.misclassified, found.perceptron
    (1, 1.0)
    """
    rows = normalised(X, y, positive=positive)
    margin = real("margin", margin, 0.0)
    a = np.asarray(weights, dtype=np.float64)
    if a.shape != (rows.shape[1],) or not np.isfinite(a).all():
        raise InvalidArgument(
            f"weights= has {rows.shape[1]} finite numbers, the intercept first, not {shown(weights)}."
        )
    values = rows @ a
    wrong, short = values <= 0.0, values <= margin
    lack = np.where(short, margin - values, 0.0)
    squares = (rows * rows).sum(axis=1)
    found = {
        "misclassified": float(wrong.sum()),
        "perceptron": float(-values[wrong].sum()) + 0.0,
        "squared": float((values[wrong] ** 2).sum()),
        "relaxation": 0.5 * float((lack**2 / squares).sum()),
        "shortfall": float(lack.sum()),
        "squares": float(((values - 1.0) ** 2).sum()),
    }
    gradients = {
        "perceptron": -rows[wrong].sum(axis=0),
        "squared": 2.0 * values[wrong] @ rows[wrong],
        "relaxation": -(lack / squares) @ rows,
        "shortfall": -rows[short].sum(axis=0),
        "squares": 2.0 * (values - 1.0) @ rows,
    }
    return Criteria(found, gradients)
