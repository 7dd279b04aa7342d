"""What classifiers share: scikit-learn's conventions, kept without importing it.

An option is an argument of the constructor and an attribute of that name, nothing else; what is learned has
names that end in an underscore. That is all that pipelines, grid search and `sklearn.base.clone` need.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from pgm.errors import (
    ImpossibleEvidence,
    IncompleteModel,
    InvalidArgument,
    InvalidFrame,
    listed,
    nearest,
    shown,
    warn,
)
from pgm.printing import Tabular
from pgm.runtime.loops import Loops
from pgm.variables import is_missing

CLASSES = Loops("pgm.models.classifiers.compiled", "telling classes apart")


class Estimator(Tabular):
    """Options that can be read, changed and copied, as scikit-learn's tools do."""

    _estimator_type = "classifier"

    @classmethod
    def _options(cls) -> list[str]:
        return [name for name in inspect.signature(cls).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the options, by name.

        Args:
            deep: whether options that have options of their own show these too, as `option__name`.

        Raises:
            Nothing.

        >>> import pgm
        >>> pgm.HMMClassifier(max_iter=7).get_params()["max_iter"]
        7
        """
        found = {name: getattr(self, name) for name in self._options()}
        if deep:
            for name, value in list(found.items()):
                if hasattr(value, "get_params") and not isinstance(value, type):
                    found |= {f"{name}__{inner}": each for inner, each in value.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Change options; returns the classifier itself.

        Args:
            params: options by name; `option__name` is an option of an option.

        Raises:
            InvalidArgument: there is no such option.

        >>> import pgm
        >>> pgm.HMMClassifier().set_params(max_iter=7).max_iter
        7
        """
        known = self._options()
        inner: dict[str, dict[str, Any]] = {}
        for name, value in params.items():
            own, _, rest = name.partition("__")
            if own not in known or (rest and not hasattr(getattr(self, own), "set_params")):
                raise InvalidArgument(
                    f"There is no option {shown(name)}; there are {listed(known)}.{nearest(own, known)}"
                )
            if rest:
                inner.setdefault(own, {})[rest] = value
            else:
                setattr(self, name, value)
        for own, values in inner.items():
            getattr(self, own).set_params(**values)
        return self

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks before it validates: a classifier that needs classes, and takes gaps."""
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(allow_nan=True),
        )

    def _missing_fit(self, what: str) -> IncompleteModel:
        """The error about a question before `fit`; scikit-learn's own too, where that is loaded."""
        text = f"This {type(self).__name__} has learned nothing yet: {what}."
        if "sklearn" not in sys.modules:
            return IncompleteModel(text)
        return _not_fitted()(text)

    def _begun(self) -> str:
        """The call of the constructor, with the options that differ from their defaults."""
        plain = inspect.signature(type(self)).parameters
        said = [
            f"{name}={shown(value)}"
            for name, value in self.get_params(deep=False).items()
            if name in plain and not _same(value, plain[name].default)
        ]
        return f"{type(self).__name__}({', '.join(said)})"


def _same(value: object, default: object) -> bool:
    return value is default or (isinstance(value, str | int | float | bool) and value == default)


_CLASSES: list[type[IncompleteModel]] = []


def _not_fitted() -> type[IncompleteModel]:
    if not _CLASSES:
        from sklearn.exceptions import NotFittedError

        class NotFitted(IncompleteModel, NotFittedError):  # type: ignore[misc]
            """A question before `fit`."""

            def __reduce__(self) -> tuple[object, ...]:
                return IncompleteModel, self.args

        _CLASSES.append(NotFitted)
    return _CLASSES[0]


def column_vector(what: str) -> None:
    """Warn, as scikit-learn does, that classes came as a column."""
    text = f"A column-vector y was passed when a 1d array was expected: {what} has one class for each row."
    category: type[Warning] = UserWarning
    if "sklearn" in sys.modules:
        from sklearn.exceptions import DataConversionWarning

        category = DataConversionWarning
    warn(text, category)


def labels_of(y: Any, count: int, what: str = "rows") -> np.ndarray:
    """The class of each row, as an array of the right length; `classes_of` checks what they are.

    >>> labels_of(["a", "b"], 2).tolist()
    ['a', 'b']
    """
    if y is None:
        raise InvalidArgument(
            "This classifier requires y to be passed, but the target y is None: y has a class for each of "
            f"the {count:,} {what}."
        )
    found = np.asarray(y)
    if found.ndim == 2 and found.shape[1] == 1:
        column_vector("y")
        found = found[:, 0]
    if found.shape != (count,):
        raise InvalidArgument(f"y has a class for each of {count:,} {what}, not {shown(y)}.")
    return found


def labelled(labels: np.ndarray) -> np.ndarray:
    """Which rows have a class; None and NaN mean no class.

    >>> labelled(np.array(["a", None], dtype=object)).tolist()
    [True, False]
    """
    if labels.dtype.kind == "f":
        return np.asarray(~np.isnan(labels))
    if labels.dtype.kind != "O":
        return np.ones(len(labels), bool)
    return ~_missing(labels)


def _missing(labels: np.ndarray) -> np.ndarray:
    """Which labels are None, NaN or the like; each different one is looked at once, unless some are."""
    every = labels.tolist()
    try:
        different = set(every)
    except TypeError:  # a list, for one: what it is not is said later
        different = every
    if not any(map(is_missing, different)):
        return np.zeros(len(every), bool)
    return np.array([is_missing(label) for label in every], bool)


def classes_of(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The classes in order, and the index of each row's class.

    >>> [a.tolist() for a in classes_of(np.array(["b", "a", "b"]))]
    [['a', 'b'], [1, 0, 1]]
    """
    if labels.dtype.kind == "f":
        if np.isnan(labels).any():
            raise InvalidFrame("Input y contains NaN: each row that is learned from has a class.")
        if not np.isfinite(labels).all() or (labels != np.floor(labels)).any():
            raise InvalidArgument(
                "Unknown label type: continuous. y has classes, and these are fractional values: cut "
                "them with pgm.discretize first."
            )
    if labels.dtype.kind == "O":
        missing = _missing(labels)
        if missing.any():
            raise InvalidFrame(
                f"Input y contains NaN, or nothing, in row {int(missing.argmax()):,}: each row that is "
                "learned from has a class."
            )
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        raise InvalidArgument(
            "Unknown label type: the classes in y are of several kinds, which have no order: "
            f"{listed(dict.fromkeys(map(str, labels.tolist())))}."
        ) from None
    return classes, codes.reshape(-1)


def at_least_two(classes: np.ndarray) -> None:
    """Refuse a single class."""
    if len(classes) < 2:
        raise InvalidArgument(
            f"There is only one class, {shown(classes.tolist()[0])}: nothing to distinguish."
        )


def class_prior_of(given: Any, classes: Sequence[Any], counts: np.ndarray) -> np.ndarray:
    """P(class): the frequencies of the classes, or as the user says.

    >>> class_prior_of(None, ["a", "b"], np.array([1.0, 3.0])).tolist()
    [0.25, 0.75]
    """
    if given is None:
        return np.asarray(counts / counts.sum())
    if isinstance(given, str) and given == "uniform":
        return np.full(len(classes), 1.0 / len(classes))
    said = given
    if isinstance(given, Mapping):
        if unknown := [name for name in given if name not in classes]:
            raise InvalidArgument(
                f"class_prior= names {shown(unknown[0])}, which is not a class: those are {listed(classes)}."
            )
        given = [given.get(name, np.nan) for name in classes]
    try:
        found = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if found.shape != (len(classes),) or not (found >= 0.0).all() or abs(found.sum() - 1.0) > 1e-6:
        raise InvalidArgument(
            f'class_prior= is "uniform", or has a probability for each of {listed(classes)}, which '
            f"sum to one; not {shown(said)}."
        )
    return np.asarray(found / found.sum())


def posterior(joint: np.ndarray, row: Any, *, log: bool) -> np.ndarray:
    """P(class | row) from log P(class, row), or its logarithm.

    Args:
        joint: a row for each row, a column for each class; it is overwritten.
        row: what to call a row that is impossible in every class, by its index.
        log: whether logarithms are wanted.

    >>> posterior(np.log([[0.1, 0.3]]), str, log=False).round(6).tolist()
    [[0.25, 0.75]]
    """
    joint = np.ascontiguousarray(joint)
    flat = joint.reshape(-1)
    k = joint.shape[1]
    bad = CLASSES.to_logs_of_shares(flat, k) if log else CLASSES.to_shares(flat, k)
    if bad >= 0:
        raise ImpossibleEvidence(f"{row(bad)} is impossible in each class.")
    return joint
