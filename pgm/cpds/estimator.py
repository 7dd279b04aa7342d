"""Any scikit-learn estimator as a local distribution: what classifiers and regressors share."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from pgm.distributions.parts import Part
from pgm.errors import IncompleteModel, InvalidArgument, InvalidFrame, InvalidTable, PGMError, listed, shown
from pgm.variables import Variable

from .base import CPD, as_it_is, set_fields
from .complete_rows import values_of_frame, values_of_row, weighted_rows
from .estimator_inputs import Inputs
from .estimator_traits import alike, classifies, copied, in_a_line, is_fitted, weights_key
from .statistics import Codes, Configurations
from .table_input import Array


class EstimatorCPD(CPD):
    """P(child | parents) given by an estimator that follows scikit-learn's conventions.

    A classifier gives the probabilities of the child's states, which are its classes; a regressor the mean of
    a continuous child, with normal noise around it. Discrete and continuous parents may be mixed: they are
    passed by name and in this order, in the encoding that the estimator was fitted on. If discrete parents
    are hidden, their configurations are tabulated in one call. The estimator is copied, so refitting yours
    does not change the network; one that is not fitted yet is fitted by `net.fit`.

    Args:
        estimator: a classifier with `predict_proba` or `decision_function`, or a regressor.
        parents: names, in the order of the columns that it was fitted on.
        rows: a data frame with parents and child on which it was not fitted: a classifier is calibrated on
            these rows, and the `sd` of a regressor is estimated from them.
        method: how a classifier is calibrated: "sigmoid" (Platt scaling) or "isotonic"; needs `rows`.
        sd: the standard deviation of the noise around a regressor, if it does not return one itself.
        coding: how the states of parents are encoded: "states", "values" (numeric states), "codes" or
            "one-hot", or a dict {parent: one of these}. If left out, a pipeline gets states, and other
            estimators whatever the number and the names of their columns require; print it to see which.

    Raises:
        InvalidTable: it is not such an estimator, or, when it is added to a network, was fitted on other
            columns, has classes that differ from the states, or gives no probabilities.

    >>> import pgm
    >>> from sklearn.linear_model import LogisticRegression
    >>> ill = LogisticRegression().fit([[36.5], [37.0], [38.5], [39.5]], [False, False, True, True])
    >>> net = pgm.BayesianNetwork()
    >>> net.add("temperature", pgm.Gaussian(37.2, sd=1.0))
    >>> net.add("ill", pgm.EstimatorCPD(ill, parents=["temperature"]))
    >>> p = net.query("ill", {"temperature": 38.0})
    >>> bool(abs(p[True] - ill.predict_proba([[38.0]])[0, 1]) < 1e-12)
    True
    """

    __slots__ = ("_asked", "_estimator", "_inputs", "_parents")
    takes_continuous: ClassVar[bool] = True
    rowwise: ClassVar[bool] = True

    _estimator: Any
    _parents: tuple[str, ...]
    _asked: dict[str, Any]  # the options, as they were given
    _inputs: Inputs | None

    def __new__(
        cls,
        estimator: Any = None,
        parents: str | Sequence[str] = (),
        *,
        rows: Any = None,
        method: str | None = None,
        sd: float | None = None,
        coding: str | Mapping[str, str] | None = None,
    ) -> Self:
        """Make a CPD of a classifier or of a regressor, whichever the estimator is."""
        if cls is not EstimatorCPD:
            return super().__new__(cls)
        from .estimator_classifier import ClassifierCPD
        from .estimator_regressor import RegressorCPD

        kind: Any = ClassifierCPD if classifies(estimator) else RegressorCPD
        found: Self = super().__new__(kind)
        return found

    def __init__(
        self,
        estimator: Any,
        parents: str | Sequence[str],
        *,
        rows: Any = None,
        method: str | None = None,
        sd: float | None = None,
        coding: str | Mapping[str, str] | None = None,
    ) -> None:
        if isinstance(parents, str):
            parents = (parents,)
        if not isinstance(parents, list | tuple) or not parents:
            raise InvalidTable(
                "parents= lists the inputs of an estimator in the order of its columns, not "
                f"{shown(parents)}."
            )
        asked = {"rows": rows, "method": method, "sd": sd, "coding": coding}
        self._check_options(**asked)
        set_fields(
            self,
            _child=None,
            _given=(),
            _parents=tuple(parents),
            _asked=asked,
            _inputs=None,
            _estimator=copied(estimator),
            **self._unbound_fields(),
        )

    def __getnewargs__(self) -> tuple[()]:
        return ()

    def _unbound_fields(self) -> dict[str, Any]:
        """The fields that a subclass adds, before there is a child."""
        return {}

    @abstractmethod
    def _check_options(self, *, rows: Any, method: Any, sd: Any, coding: Any) -> None:
        """Refuse options without effect."""

    @property
    def parents(self) -> tuple[str, ...]:
        """The names of the parents, in the order of the estimator's columns."""
        return self._parents

    @property
    def estimator(self) -> Any:
        """A copy of the estimator; the calibrated one, if it was calibrated."""
        return copied(self._estimator)

    @property
    def called(self) -> str:
        """Its name in messages."""
        return f"a {self._kind} (pgm.EstimatorCPD)"

    @property
    def is_fitted(self) -> bool:
        """Whether it can predict."""
        return is_fitted(self._estimator)

    def _bound(self, child: Variable, given: tuple[Variable, ...], **own: Any) -> Self:
        made = object.__new__(type(self))
        fields = {slot: value for slot, value in self.__getstate__().items()}
        set_fields(made, **{**fields, "_child": child, "_given": given, **own})
        return made

    def renamed(self, child: Variable, given: tuple[Variable, ...]) -> Self:
        """Return the same distribution for variables that differ only in their names."""
        return self._bound(child, given, _parents=tuple([v.name for v in given]))

    def _in_order(self, name: str, given: tuple[Variable, ...]) -> tuple[Variable, ...]:
        by_name = {v.name: v for v in given}
        return tuple([by_name[parent] for parent in self._parents])

    # --- predictions ---

    @property
    def _kind(self) -> str:
        return type(self._estimator).__name__

    def _ask(
        self, method: str, columns_: Sequence[Array], matrix: Array | None = None, **options: Any
    ) -> Any:
        """Call the estimator once, for these columns of the parents; its errors name the node."""
        node = self.child.name
        if not self.is_fitted:
            raise IncompleteModel(
                f"{node!r}: its {self._kind} is not fitted yet. Fit it before it is added, or call "
                f"`fit` of the network with a frame that has {listed([*self._parents, node])}."
            )
        assert self._inputs is not None
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            try:
                rows = self._inputs.matrix(columns_) if matrix is None else self._inputs.named(matrix)
                return getattr(self._estimator, method)(rows, **options)
            except PGMError as error:
                raise type(error)(f"{node!r}, its {self._kind}: {error}") from error
            except Exception as error:
                if matrix is not None and not matrix.flags.writeable and "read-only" in str(error):
                    return self._ask(method, columns_, matrix.copy(), **options)  # it writes to its input
                raise InvalidTable(
                    f"{node!r}: its {self._kind} raises {type(error).__name__} in `{method}` for the columns "
                    f"{listed(self._parents)}: {error}"
                ) from error

    def _probe(self) -> None:
        """Predict one row, another, and the first again: the first and third answer must agree."""
        if not self.is_fitted:
            return
        first = [np.zeros(1) for _ in self._given]
        other = [np.array([1.0 if v.continuous else v.card - 1.0]) for v in self._given]
        try:
            before = self._answer(first)
            self._answer(other)
            after = self._answer(first)
        except PGMError:  # these rows need not make sense; a real failure is reported when it occurs
            return
        if not np.array_equal(before, after, equal_nan=True):
            raise InvalidTable(
                f"{self.child.name!r}: its {self._kind} changes when it predicts: it answers the same row "
                f"with {shown(before.ravel().tolist())}, then with {shown(after.ravel().tolist())}. A "
                "distribution is a function of its parents; fix its random_state, or use an estimator "
                "that does not learn while it predicts."
            )

    @abstractmethod
    def _answer(self, columns_: Sequence[Array], matrix: Array | None = None) -> Array:
        """The estimator's predictions for these rows, checked."""

    def _row_text(self, columns_: Sequence[Array], row: int) -> str:
        """A row of the parents, for errors."""
        cells = [float(column[row]) for column in columns_]
        return ", ".join(
            f"{v.name}={cell if v.continuous else v.states[int(cell)]!r}"
            for v, cell in zip(self._given, cells, strict=True)
        )

    def _split(self, codes: Codes, values: Array) -> list[Array]:
        """Columns of the parents, from discrete and continuous ones."""
        states, reals = iter(codes.T), iter(values.T)
        return [next(reals) if v.continuous else next(states) for v in self._given]

    def _as_matrix(self, values: Array) -> Array | None:
        """The values of continuous parents, if they are all that the estimator takes, as they are."""
        return values if self._inputs is not None and self._inputs.plain else None

    def _sorted_scope(self, scope: Sequence[int]) -> tuple[Array, int]:
        """Positions of the discrete parents, of the continuous ones, and of the child."""
        states = [i for i, v in zip(scope, self._given, strict=False) if not v.continuous]
        reals = [i for i, v in zip(scope, self._given, strict=False) if v.continuous]
        return np.array([*states, *reals, scope[-1]], dtype=np.int64), len(states)

    # --- rows ---

    def _row(self, row: Any) -> Array:
        return values_of_row(self.given, row)

    def _frame(self, frame: Any) -> Array:
        return values_of_frame(self.child.name, self.given, frame)

    # --- learning ---

    def statistics(self, data: Any, weights: Any = None) -> Configurations:
        """Return the rows themselves: an estimator has no known sufficient statistics.

        Args:
            data: a data frame or a dict of columns, with the child and all parents in each row; or expected
                counts of all configurations, if all of them are discrete.
            weights: one for each row.

        Raises:
            InvalidFrame: a column is missing, or has gaps.
            InvalidArgument: weights are negative or of the wrong length.

        >>> import pgm
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> net = pgm.BayesianNetwork()
        >>> net.add("x", pgm.Gaussian(0.0, sd=1.0))
        >>> net.add("y", pgm.EstimatorCPD(DecisionTreeRegressor(), parents=["x"]))
        >>> net.cpd("y").statistics({"x": [0.0, 1.0], "y": [1.0, 2.0]}).rows.tolist()
        [[0.0, 1.0], [1.0, 2.0]]
        """
        if isinstance(data, Configurations):
            return data
        if isinstance(data, np.ndarray) and data.dtype.names is None:
            codes, shares = weighted_rows((*self.given, self.child), data, weights)
            return Configurations.of(codes.astype(np.float64), shares, None)
        rows = values_of_frame(self.child.name, (*self.given, self.child), data)
        shares = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
        if shares.shape != (len(rows),) or not ((shares >= 0.0) & np.isfinite(shares)).all():
            raise InvalidArgument(
                f"{self.child.name!r}: a non-negative weight for each of the {len(rows):,} rows is expected."
            )
        return Configurations.of(rows, shares, None)

    def gathered(self, codes: Codes, values: Array, weights: Array) -> Configurations:
        """Return the rows themselves.

        >>> import pgm
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> net = pgm.BayesianNetwork()
        >>> net.add("x", pgm.Gaussian(0.0, sd=1.0))
        >>> net.add("y", pgm.EstimatorCPD(DecisionTreeRegressor(), parents=["x"]))
        >>> net.cpd("y").gathered(np.zeros((1, 0), int), np.array([[0.5, 2.0]]), np.ones(1)).rows.tolist()
        [[0.5, 2.0]]
        """
        states, reals = iter(codes.T), iter(values.T)
        columns_ = [next(reals) if v.continuous else next(states) for v in (*self.given, self.child)]
        return Configurations.of(np.column_stack(columns_).astype(np.float64), weights, None)

    def _learned(self, known: Array, wanted: Any, weights: Array) -> Any:
        """A clone of the estimator, fitted to rows of the parents."""
        from sklearn.base import clone

        node, estimator, options = self.child.name, clone(self._estimator), {}
        assert self._inputs is not None
        if not (weights == 1.0).all():
            key = weights_key(estimator)
            if key is None:
                raise InvalidArgument(
                    f"{node!r}: rows have weights here, from weights= or because EM completes missing "
                    f"cells, and `fit` of {self._kind} takes no sample_weight. Use an estimator that does, "
                    f"leave out rows with gaps, or keep it, fixed=[{node!r}]."
                )
            options[key] = weights
        try:
            return estimator.fit(self._inputs.matrix(list(known.T)), wanted, **options)
        except PGMError as error:
            raise type(error)(f"{node!r}, its {self._kind}: {error}") from error
        except Exception as error:
            raise InvalidFrame(
                f"{node!r}: its {self._kind} raises {type(error).__name__} in `fit` for the columns "
                f"{listed(self._parents)}: {error}"
            ) from error

    @property
    def n_parameters(self) -> int:
        """Zero: the number of parameters of an estimator is unknown."""
        return 0

    # --- as a value ---

    def to_parts(self, state: Callable[[Any, str], Any] = as_it_is) -> NoReturn:
        """Refuse: an estimator has no form in a file."""
        raise InvalidTable(
            f"{self.child.name!r} is given by a {self._kind}, which no file format of pgm holds; a pickle of "
            "the network does."
        )

    @classmethod
    def from_parts(cls, child: Variable, given: tuple[Variable, ...], part: Part) -> NoReturn:
        """Refuse: an estimator has no form in a file."""
        part.fail("no file format holds an estimator")

    def to_dict(self) -> dict[Any, Any]:
        """Return {"estimator": what it prints, "inputs": {parent: how it is encoded}}."""
        inputs = dict(self._inputs.lines(self.given)) if self._inputs is not None else {}
        return {"estimator": in_a_line(self._estimator), "inputs": inputs}

    def __eq__(self, other: object) -> bool:
        """Tell whether the estimators are equal and, if both belong to networks, the variables."""
        if not isinstance(other, EstimatorCPD):
            return NotImplemented
        if type(self) is not type(other) or self._parents != other._parents or self._child != other._child:
            return False
        return self._given == other._given and alike(self._values_of(), other._values_of())

    def _values_of(self) -> Any:
        return self._estimator

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if self._child is None:
            return f"EstimatorCPD({in_a_line(self._estimator)}, parents={list(self._parents)})"
        return super().__repr__()

    def _lines(self) -> tuple[Sequence[object], Sequence[Sequence[object]], int]:
        rows: list[tuple[str, str]] = [("estimator", in_a_line(self._estimator)), *self._own_lines()]
        if not self.is_fitted:
            rows.append(("fitted", "not yet"))
        if self._inputs is not None:
            for said, group in groupby(self._inputs.lines(self._given), key=itemgetter(1)):
                names = [name for name, _ in group]
                some = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]} ({len(names)})"
                rows.append((f"input {some}", said))
        return ["part", "value"], rows, len(rows)

    @abstractmethod
    def _own_lines(self) -> list[tuple[str, str]]:
        """What is printed about the kind."""
