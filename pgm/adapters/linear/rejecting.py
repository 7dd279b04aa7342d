"""Multiclass classification from two-class discriminants, with a reject option."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from pgm.errors import InvalidArgument, shown
from pgm.printing import label
from pgm.runtime.clock import in_one_time, start_clock

from .linear_classifier import ByScores, chosen, machines

_AGAINST = ("rest", "pairs")


class RejectingClassifier(ByScores):
    """Multiclass classification from two-class discriminants; rows on which they disagree are rejected.

    One-vs-rest has a discriminant g_i for each class, and a row belongs to class i if g_i alone is
    positive. Pairwise has a discriminant g_ij for each pair, fitted to their rows only, and a row belongs to
    class i if g_ij > 0 for all j. Other rows are rejected, or with `reject=None` go to the class with the
    largest g_i, or the largest sum of g_ij over j.

    Args:
        estimator: a two-class estimator, pgm's or scikit-learn's; by default `LeastSquares()`.
        against: "rest" or "pairs".
        reject: the prediction for rejected rows; None: no row is rejected.

    After `fit` there are `classes_` and `estimators_`, by class or by pair.

    >>> rows = [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]
    >>> found = RejectingClassifier(reject="?").fit(rows, ["a", "b", "c"])
    >>> found.predict([[4.0, 0.0], [4.0, 4.0], [1.0, 1.5]]).tolist()
    ['b', '?', '?']
    """

    estimators_: dict[Any, Any]

    def __init__(self, estimator: Any = None, *, against: str = "rest", reject: Any = None) -> None:
        self.estimator, self.against, self.reject = estimator, against, reject

    @in_one_time
    def fit(self, X: Any, y: Any) -> Self:
        """Fit a clone of the estimator for each discriminant; returns the estimator itself.

        Args:
            X: numeric rows: a data frame, or an array.
            y: the class of each row.

        Raises:
            InvalidArgument: an option is out of range; there is one class only; the estimator has no scores.
            InvalidFrame: a value is missing or not a number.
            OutOfTime: the time limit is reached.

        >>> found = RejectingClassifier(against="pairs").fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])
        >>> sorted(found.estimators_)
        [('a', 'b'), ('a', 'c'), ('b', 'c')]
        """
        from sklearn.base import clone

        from .least_squares import LeastSquares

        chosen("against", self.against, _AGAINST)
        rows, codes, _, about = self._begin_classes(X, y)
        classes = about["classes_"].tolist()
        if self.reject is not None and self.reject in classes:
            raise InvalidArgument(
                f"reject={shown(self.reject)} is one of the classes: call it something else."
            )
        one = LeastSquares() if self.estimator is None else self.estimator
        clock, fitted = start_clock(), {}
        for name, some, own in self._tasks(classes, codes):
            clock.check("one class after the other")
            fitted[name] = clone(one).fit(rows[some], own[some].astype(np.int64))
        return self._keep(about, estimators_=fitted)

    def _tasks(self, classes: list[Any], codes: np.ndarray) -> list[tuple[Any, np.ndarray, np.ndarray]]:
        """For each discriminant its name, its rows, and which of them are positive."""
        every = np.ones(len(codes), np.bool_)
        if self.against == "rest":
            return [(name, every, own) for name, own in machines(classes, codes)]
        return [
            ((classes[i], classes[j]), (codes == i) | (codes == j), codes == i)
            for i in range(len(classes))
            for j in range(i + 1, len(classes))
        ]

    def decision_function(self, X: Any) -> np.ndarray:
        """Return g_i of each row and class, or pairwise the sum of g_ij; with two classes that of the second.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: the estimator has neither `decision_function` nor `predict_proba`.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> found = RejectingClassifier().fit([[0.0], [2.0]], ["no", "yes"])
        >>> found.decision_function([[1.5]]).round(4).tolist()
        [0.5]
        """
        found = self._scores(self._read(X))
        if len(self.classes_) == 2:
            return -found[:, 0, 1] if self.against == "pairs" else found[:, 0]
        return np.asarray(found.sum(axis=2)) if self.against == "pairs" else found

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row, or `reject`.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: the estimator has neither `decision_function` nor `predict_proba`.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> found = RejectingClassifier(against="pairs", reject="?").fit([[0.0], [1.0], [2.0]], [0, 1, 2])
        >>> found.predict([[0.0], [2.0]]).tolist()
        [0, 2]
        """
        if self.reject is None:
            return super().predict(X)
        codes = agreed(self._scores(self._read(X)), len(self.classes_))
        if self.classes_.dtype.kind in "OUS" or isinstance(self.reject, str):
            words = np.array([*self.classes_.tolist(), self.reject], dtype=object)
        else:
            words = np.array([*self.classes_.tolist(), self.reject])
        return np.asarray(words[codes])

    def _scores(self, rows: np.ndarray) -> np.ndarray:
        """The value of each discriminant: [row, class], or [row, class, other class]."""
        values = {name: _score(one, rows) for name, one in self.estimators_.items()}
        if self.against == "rest":
            return np.column_stack(list(values.values()))
        k = len(self.classes_)
        place = {name: i for i, name in enumerate(self.classes_.tolist())}
        found = np.zeros((len(rows), k, k))
        for (one, other), value in values.items():
            found[:, place[one], place[other]] = value
            found[:, place[other], place[one]] = -value
        return found

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        names = [
            f"{label(name[0])} or {label(name[1])}" if isinstance(name, tuple) else label(name)
            for name in self.estimators_
        ]
        rows = [
            [name, type(one).__name__] for name, one in zip(names, self.estimators_.values(), strict=True)
        ]
        return ["discriminant", "estimator"], rows[:20], self._begun()


def agreed(scores: np.ndarray, k: int) -> np.ndarray:
    """The index of the class that all discriminants agree on; k if there is none.

    Args:
        scores: [row, class], of which one has to be positive; of two classes [row, 1], the second's; or
            [row, class, other class], all of which have to be positive.
        k: the number of classes.

    >>> agreed(np.array([[1.0, -3.0, -1.0], [-1.0, -1.0, -1.0], [1.0, -3.0, 2.0]]), 3).tolist()
    [0, 3, 3]
    """
    if scores.ndim == 3:
        alone = ((scores > 0.0) | np.eye(k, dtype=np.bool_)).all(axis=2)
    elif k == 2:
        alone = np.column_stack([scores[:, 0] < 0.0, scores[:, 0] > 0.0])
    else:
        alone = scores > 0.0
    return np.where(alone.sum(axis=1) == 1, alone.argmax(axis=1), k)


def _score(estimator: Any, rows: np.ndarray) -> np.ndarray:
    """The score of a two-class estimator: positive for the second class."""
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(rows), dtype=np.float64)
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(rows), dtype=np.float64)[:, 1] - 0.5
    raise InvalidArgument(
        f"{type(estimator).__name__} has neither decision_function nor predict_proba: there is no score."
    )
