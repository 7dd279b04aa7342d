"""The base of all adapters: validation of numeric rows, and scikit-learn's conventions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pgm.errors import InvalidArgument, InvalidFrame, UnknownState, shown
from pgm.evidence import LARGEST
from pgm.frames import real_columns, weights_of
from pgm.frames.matrices import Features, features
from pgm.models.classifiers.conventions import Estimator, at_least_two, classes_of, column_vector, labels_of
from pgm.variables import REAL, Variable


class Rows(Estimator):
    """An estimator on numeric rows: `fit` remembers the columns, and later calls must have the same.

    A subclass adds: `fit`, which calls `_begin` first and `_keep` last, so that a `fit` that fails
    changes nothing; and `_table`, which is printed. Other methods call `_read`.
    """

    _remedy = "leave such rows out"
    n_features_in_: int
    feature_names_in_: np.ndarray

    def __sklearn_tags__(self) -> Any:
        """The tags that scikit-learn's validation reads: numeric rows, without missing values."""
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags, TransformerTags

        kind = self._estimator_type
        return Tags(
            estimator_type=kind,
            target_tags=TargetTags(required=kind in ("classifier", "regressor")),
            classifier_tags=ClassifierTags() if kind == "classifier" else None,
            regressor_tags=RegressorTags() if kind == "regressor" else None,
            transformer_tags=TransformerTags() if hasattr(self, "transform") else None,
            input_tags=InputTags(),
        )

    @property
    def _fitted(self) -> bool:
        return hasattr(self, "n_features_in_")

    @property
    def _names(self) -> list[str]:
        """The names of the columns."""
        found = getattr(self, "feature_names_in_", None)
        return [f"x{i}" for i in range(self.n_features_in_)] if found is None else found.tolist()

    def _check_fitted(self) -> None:
        if not self._fitted:
            raise self._missing_fit("fit it to rows first")

    def _begin(self, X: Any) -> tuple[np.ndarray, dict[str, Any]]:
        """Training rows, checked, and what to remember about their columns."""
        given = features(X)
        rows = floats_of(given, remedy=self._remedy)
        about: dict[str, Any] = {"n_features_in_": rows.shape[1]}
        if given.named:
            about["feature_names_in_"] = np.array(given.names, dtype=object)
        return rows, about

    def _keep(self, about: dict[str, Any], **learned: Any) -> Self:
        """Remember the columns and what was learned, all at once; returns the estimator itself."""
        vars(self).pop("feature_names_in_", None)
        vars(self).update(about)
        vars(self).update(learned)
        return self

    def _read(self, X: Any) -> np.ndarray:
        """New rows, with the columns of `fit`; those of a frame are matched by name."""
        self._check_fitted()
        given = features(X)
        known = getattr(self, "feature_names_in_", None)
        if known is not None and given.named and list(given.names) != known.tolist():
            missing = [name for name in known.tolist() if name not in given.names]
            if missing:
                raise InvalidFrame(f"The frame has no column {shown(missing[0])}, which `fit` has seen.")
            return floats_of(given, known.tolist(), remedy=self._remedy)
        rows = floats_of(given, remedy=self._remedy)
        if rows.shape[1] != self.n_features_in_:
            raise InvalidFrame(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        return rows

    def __repr__(self) -> str:
        return super().__repr__() if self._fitted else self._begun()

    def _repr_html_(self) -> str:
        from pgm.printing import html_text

        return super()._repr_html_() if self._fitted else html_text(self._begun())


class RowsClassifier(Rows):
    """A classifier of numeric rows.

    A subclass adds: `fit`, which calls `_begin_classes`; and `predict_proba`, or else a `predict` of its
    own, which calls `_read` first.
    """

    _estimator_type = "classifier"
    classes_: np.ndarray

    def _begin_classes(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Rows, the index of each row's class in `classes_`, weights, and what to remember.

        Rows of weight zero are left out.
        """
        rows, about = self._begin(X)
        labels = labels_of(y, len(rows))
        weights = row_weights(sample_weight, len(rows))
        keep = weights > 0.0
        if not keep.all():
            rows, labels, weights = rows[keep], labels[keep], weights[keep]
        classes, codes = classes_of(labels)
        at_least_two(classes)
        about["classes_"] = classes
        return rows, codes, weights, about

    if TYPE_CHECKING:  # scikit-learn looks for the name: a class without probabilities has none

        def predict_proba(self, X: Any) -> np.ndarray:
            """P(class | row), shape (rows, classes)."""

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row; ties go to the first in `classes_`.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> from pgm.adapters import NearestNeighbours
        >>> NearestNeighbours(1).fit([[0.0], [9.0]], ["a", "b"]).predict([[4.0]]).tolist()
        ['a']
        """
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy: the fraction of rows whose class is predicted correctly.

        Args:
            X: rows, as for `fit`.
            y: the class of each row.
            sample_weight: the weight of each row; by default 1.

        Raises:
            InvalidArgument: there are not as many classes as rows.
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> from pgm.adapters import NearestNeighbours
        >>> NearestNeighbours(1).fit([[0.0], [9.0]], ["a", "b"]).score([[4.0], [5.0]], ["a", "a"])
        0.5
        """
        found = self.predict(X)
        right = found == labels_of(y, len(found))
        return float(np.average(right, weights=row_weights(sample_weight, len(found))))


class RowsRegressor(Rows):
    """A regressor on numeric rows.

    A subclass adds: `fit`, which calls `_begin_targets`; and `predict`.
    """

    _estimator_type = "regressor"

    def _begin_targets(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Rows, the target value of each row, weights, and what to remember.

        Rows of weight zero are left out.
        """
        rows, about = self._begin(X)
        targets = targets_of(y, len(rows))
        weights = row_weights(sample_weight, len(rows))
        keep = weights > 0.0
        if not keep.all():
            rows, targets, weights = rows[keep], targets[keep], weights[keep]
        return rows, targets, weights, about

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted value of each row.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> from pgm.adapters import LocalSmoother
        >>> LocalSmoother(2.0, window="box").fit([[0.0], [1.0]], [0.0, 2.0]).predict([[0.5]]).tolist()
        [1.0]
        """
        raise NotImplementedError

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R squared: one minus the ratio of squared errors to the squared deviations from the mean.

        Args:
            X: rows, as for `fit`.
            y: the target value of each row.
            sample_weight: the weight of each row; by default 1.

        Raises:
            InvalidArgument: there are not as many targets as rows.
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> from pgm.adapters import LocalSmoother
        >>> rows, y = [[0.0], [1.0], [2.0]], [0.0, 2.0, 4.0]
        >>> LocalSmoother(9.0, window="box").fit(rows, y).score(rows, y)
        1.0
        """
        found = self.predict(X)
        y, weights = targets_of(y, len(found)), row_weights(sample_weight, len(found))
        about = float(weights @ (y - np.average(y, weights=weights)) ** 2)
        off = float(weights @ (y - found) ** 2)
        if about == 0.0:
            return 1.0 if off == 0.0 else 0.0
        return 1.0 - off / about


class RowsDensity(Rows):
    """A density of numeric rows.

    A subclass adds: `fit`; and `score_samples`, the log density of each row.
    """

    _estimator_type = "density_estimator"

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from rows; returns the estimator itself.

        Args:
            X: rows: a data frame, or an array.
            y: ignored; present for pipelines.

        Raises:
            InvalidArgument: an option is out of range.
            InvalidFrame: a value is missing or not a number.

        >>> from pgm.adapters import ParzenDensity
        >>> ParzenDensity(1.0).fit([[0.0], [3.0]]).width_
        1.0
        """
        raise NotImplementedError

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log density of each row.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> from pgm.adapters import ParzenDensity
        >>> ParzenDensity(1.0, window="cube").fit([[0.0], [3.0]]).score_samples([[0.2]]).round(6).tolist()
        [-0.693147]
        """
        raise NotImplementedError

    def score(self, X: Any, y: Any = None) -> float:
        """Return the log-likelihood of all rows.

        Args:
            X: rows, as for `fit`.
            y: ignored; present for pipelines.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> from pgm.adapters import ParzenDensity
        >>> round(ParzenDensity(1.0, window="cube").fit([[0.0], [3.0]]).score([[0.2], [3.1]]), 6)
        -1.386294
        """
        return float(self.score_samples(X).sum())


# --- validation of options and rows ---


def floats_of(
    given: Features, names: list[str] | None = None, *, remedy: str = "leave such rows out"
) -> np.ndarray:
    """The columns as one array of floats, none of them missing; False and True are 0 and 1.

    >>> floats_of(features([[1, 2], [3, 4]])).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    >>> floats_of(features({"ill": [True, False]})).tolist()
    [[1.0], [0.0]]
    """
    wanted = list(given.names) if names is None else names
    plain = None if given.named else list(given.frame.values())
    if plain and all(isinstance(one, np.ndarray) and one.dtype == np.float64 for one in plain):
        rows = np.column_stack(plain)
        if np.abs(rows).max(initial=0.0) <= LARGEST:  # False for NaN: the slow path finds the error message
            return rows
    try:
        found = real_columns(
            given.frame,
            {name: Variable.of(name, REAL) for name in wanted},
            remedy=remedy[:1].upper() + remedy[1:],
            truths=True,
        )
    except UnknownState as error:
        raise InvalidFrame(str(error)) from None
    rows = np.column_stack([found.values[name] for name in wanted])
    bad = np.isnan(rows)
    if bad.any():
        row, column = np.argwhere(bad)[0].tolist()
        raise InvalidFrame(
            f"Row {row:,} (the first is 0) has no value in the column {shown(wanted[column])} (NaN): "
            f"{remedy}."
        )
    if np.abs(rows).max(initial=0.0) > LARGEST:
        raise InvalidFrame(f"There are values beyond {LARGEST:g}: use another unit.")
    return np.ascontiguousarray(rows)


def targets_of(y: Any, count: int) -> np.ndarray:
    """The target value of each row, checked.

    >>> targets_of([1, 2.5], 2).tolist()
    [1.0, 2.5]
    """
    if y is None:
        raise InvalidArgument("This regressor requires y to be passed, but the target y is None.")
    try:
        found = np.asarray(y)
        if found.dtype.kind == "c":
            raise InvalidArgument("Complex data not supported: y has real numbers.")
        found = found.astype(np.float64)
    except (TypeError, ValueError):
        raise InvalidArgument(f"y has a number for each row, not {shown(y)}.") from None
    if found.ndim == 2 and found.shape[1] == 1:
        column_vector("y")
        found = found[:, 0]
    if found.shape != (count,):
        raise InvalidArgument(f"y has a number for each of {count:,} rows, not {shown(y)}.")
    if not np.isfinite(found).all():
        row = int((~np.isfinite(found)).argmax())
        raise InvalidFrame(f"Input y contains NaN or infinity: row {row:,} (the first is 0) is not finite.")
    if np.abs(found).max(initial=0.0) > LARGEST:
        raise InvalidFrame(f"y has values beyond {LARGEST:g}: use another unit.")
    return found


def row_weights(given: Any, n: int) -> np.ndarray:
    """The weight of each row.

    >>> row_weights(None, 2).tolist()
    [1.0, 1.0]
    """
    found = weights_of(np.full(n, float(given)) if isinstance(given, int | float) else given, n)
    if not found.any():
        raise InvalidArgument("sample_weight= is zero for all rows: there is nothing to learn from.")
    return found


def whole(name: str, value: Any, least: int = 1) -> int:
    """An option that is an integer."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidArgument(f"{name}= is a whole number of at least {least}, not {shown(value)}.")
    return int(value)


def fraction(name: str, value: Any) -> float:
    """An option in (0, 1]."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.floating):
        value = math.nan
    if not 0.0 < value <= 1.0:
        raise InvalidArgument(f"{name}= is a number above 0, 1 at most, not {shown(value)}.")
    return float(value)


def positive(name: str, value: Any) -> float:
    """An option that is positive and finite."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        value = math.nan
    if not 0.0 < value < math.inf:
        raise InvalidArgument(f"{name}= is a finite number above 0, not {shown(value)}.")
    return float(value)
