"""A classifier as the distribution of a discrete child."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from pgm.errors import InvalidArgument, InvalidFrame, InvalidTable, listed, shown
from pgm.factors import Dense, RowTable
from pgm.variables import Variable

from .complete_rows import codes_of_row, values_of_frame
from .estimator import EstimatorCPD
from .estimator_inputs import Inputs
from .statistics import Codes, Configurations, weighted_log
from .table_input import Array, sorted_domain

_OFF = 1e-6  # the sum of a row may be off by rounding, in single precision
_TABLE = 1 << 16  # entries; a table of up to this size is computed at once
METHODS = ("sigmoid", "isotonic")


class ClassifierCPD(EstimatorCPD):
    """P(child | parents) of a classifier; `pgm.EstimatorCPD` makes it."""

    __slots__ = ("_order", "_table")
    kind, label = "classifier", "classifier"

    _order: Any  # for each state the column of the classifier; None: the same order
    _table: Array | None  # once computed, if all parents are discrete

    def _unbound_fields(self) -> dict[str, Any]:
        return {"_order": None, "_table": None}

    def _check_options(self, *, rows: Any, method: Any, sd: Any, coding: Any) -> None:
        if sd is not None:
            raise InvalidArgument("sd= is for regressors: a classifier has no noise but its probabilities.")
        if method is not None and method not in METHODS:
            raise InvalidArgument(f"method= is one of {listed(METHODS)}, not {shown(method)}.")
        if method is not None and rows is None:
            raise InvalidArgument(
                f"method={method!r} calibrates on rows=, a frame that it was not fitted on."
            )

    @property
    def waits_for_states(self) -> bool:
        """Whether `fit` will determine the states of the child."""
        return not self.is_fitted

    def bind(self, name: str, states: Any, given: tuple[Variable, ...]) -> Self:
        """Return this distribution of `name`, whose states are the classes."""
        given = self._in_order(name, given)
        estimator = self._estimator
        if not self.is_fitted:
            if states is None:
                raise InvalidTable(f"{name!r}: its {self._kind} is not fitted, and no states are declared.")
            if not hasattr(estimator, "predict_proba"):
                raise InvalidTable(
                    f"{name!r}: its {self._kind} is not fitted, and has scores but no `predict_proba`: fit "
                    "it first, and give rows= to calibrate it on; or take sklearn.calibration."
                    f"CalibratedClassifierCV({self._kind}(...)), which `net.fit` fits and calibrates."
                )
            made = self._bound(
                Variable(name, states),
                given,
                _inputs=Inputs.of(name, estimator, given, self._asked["coding"]),
            )
            if self._asked["rows"] is not None:
                raise InvalidArgument(f"{name!r}: rows= calibrates a fitted classifier; fit it first.")
            return made
        classes = _classes(name, estimator)
        child = Variable(name, sorted_domain(name, classes) if states is None else states)
        made = self._bound(
            child,
            given,
            _inputs=Inputs.of(name, estimator, given, self._asked["coding"]),
            _order=_order(child, classes, type(estimator).__name__),
            _table=None,
        )
        if self._asked["rows"] is not None:
            made = made._calibrated()
        elif not hasattr(estimator, "predict_proba"):
            raise InvalidTable(
                f"{name!r}: its {self._kind} has no `predict_proba`, only scores: give rows=, a frame with "
                f"{listed([*self._parents, name])} that it was not fitted on, and the scores are calibrated "
                'on it, method="sigmoid" or "isotonic".'
            )
        made._probe()
        return made

    def _calibrated(self) -> Self:
        """A copy whose scores or probabilities are calibrated on the rows given for this."""
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.frozen import FrozenEstimator

        assert self._inputs is not None
        name = self.child.name
        rows = values_of_frame(name, (*self.given, self.child), self._asked["rows"])
        wanted = np.asarray(self._estimator.classes_)
        place = np.arange(wanted.size) if self._order is None else self._order
        labels = wanted[np.asarray(place)[rows[:, -1].astype(np.int64)]]
        if len(np.unique(labels)) != wanted.size:
            raise InvalidFrame(
                f"{name!r}: its {self._kind} has the states {listed(self.child.states)}, and rows= to "
                f"calibrate it on only {listed(np.unique(labels).tolist())}. Give rows of each."
            )
        made = CalibratedClassifierCV(
            FrozenEstimator(self._estimator), method=self._asked["method"] or "sigmoid"
        )
        try:
            made.fit(self._inputs.matrix(list(rows[:, :-1].T)), labels)
        except Exception as error:
            raise InvalidFrame(
                f"{name!r}: its {self._kind} cannot be calibrated on rows=: {error}"
            ) from error
        asked = {
            **self._asked,
            "rows": None,
            "method": None,
            "calibrated": self._asked["method"] or "sigmoid",
        }
        return self._bound(self.child, self.given, _estimator=made, _asked=asked)

    # --- probabilities ---

    def _answer(self, columns_: Sequence[Array], matrix: Array | None = None) -> Array:
        if not len(columns_[0]):
            return np.empty((0, self.child.card))
        found = self._ask("predict_proba", columns_, matrix)
        name, n = self.child.name, len(columns_[0])
        if isinstance(found, list):
            raise InvalidTable(f"{name!r}: its {self._kind} predicts several outputs; a node has one.")
        try:
            values = np.asarray(found, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidTable(
                f"{name!r}: its {self._kind} returns {shown(found)} from `predict_proba`, not an array of "
                "numbers."
            ) from None
        if values.shape != (n, self.child.card):
            raise InvalidTable(
                f"{name!r}: its {self._kind} returns probabilities of shape {values.shape} for {n:,} rows "
                f"and {self.child.card} states; ({n}, {self.child.card}) is expected."
            )
        sums = values @ np.ones(values.shape[1])
        off = max(float(sums.max()) - 1.0, 1.0 - float(sums.min()))
        if not (values.min() >= 0.0 and off <= _OFF):
            self._refuse(values, sums, columns_)
        if off > 1e-12:
            values = values / sums[:, None]
        return values if self._order is None else values[:, self._order]

    def _refuse(self, values: Array, sums: Array, columns_: Sequence[Array]) -> None:
        """Raise an error that names the row whose probabilities are invalid."""
        bad = ~((values >= 0.0).all(axis=1) & (np.abs(sums - 1.0) <= _OFF))
        row = int(bad.argmax())
        shares = values[row]
        if np.isnan(shares).any():
            why = "are not all numeric"
        elif (shares < 0.0).any():
            why = "are negative"
        else:
            why = f"sum to {float(sums[row]):.9g}, not to one"
        raise InvalidTable(
            f"{self.child.name!r}: the probabilities that its {self._kind} returns where "
            f"{self._row_text(columns_, row)} {why}: {shown(shares.tolist())}."
        )

    def rows(self, codes: Any) -> Array:
        """Return P(class) for each row of state codes and continuous values."""
        _ = self.child
        return self._answer([codes[:, i] for i in range(len(self._given))])

    def _of_parts(self, codes: Codes, values: Array) -> Array:
        return self._answer(self._split(codes, values), self._as_matrix(values))

    def probability(self, row: Mapping[str, Any]) -> float:
        """Return P(child | parents) of one row: a state for the child, a state or value for each parent."""
        code = codes_of_row((*self.given, self.child), row)[-1]
        return float(self.rows(self._row({v.name: row[v.name] for v in self.given}))[0, code])

    def table(self, limit: int | None = None) -> Array:
        """Return the table P(child | parents), computed in one call, if all parents are discrete.

        >>> import pgm
        >>> from sklearn.naive_bayes import BernoulliNB
        >>> net = pgm.BayesianNetwork()
        >>> net.add("a", 0.5)
        >>> net.add("b", pgm.EstimatorCPD(BernoulliNB().fit([[0], [1]], [False, True]), parents=["a"]))
        >>> net.cpd("b").table().round(3).tolist()
        [[0.667, 0.333], [0.333, 0.667]]
        """
        those = [v.name for v in self.given if v.continuous]
        if those:
            raise InvalidTable(
                f"{self.child.name!r} is given by a {self._kind} and depends on {listed(those)}, "
                "continuous: there is no table of it; see .probability(row)."
            )
        shape = self._cells(limit)
        if self._table is None:
            part = self.factor(range(len(shape)))
            values = part.table(np.empty(0), {}).values if isinstance(part, RowTable) else part.values
            values.flags.writeable = False
            object.__setattr__(self, "_table", values)
        assert self._table is not None
        return self._table.reshape(shape)

    def factor(self, scope: Sequence[int]) -> Dense | RowTable:
        """Return a table if all parents are discrete and it is small, else what is computed row by row."""
        shape = [v.card for v in (*self.given, self.child)]
        made, n = self._sorted_scope(scope)
        part = RowTable(
            made, n, tuple([v.card for v in self.given if not v.continuous]), self.child.card, self._of_parts
        )
        if n < len(self._given) or math.prod(shape) > _TABLE:
            return part
        if self._table is None:
            values = part.table(np.empty(0), {}).values
            values.flags.writeable = False
            object.__setattr__(self, "_table", values)
        assert self._table is not None
        return Dense(np.array([scope], dtype=np.int64), self._table.reshape(shape), 1)

    # --- learning ---

    def expected_log(self, statistics: Any) -> float:
        """Return the log-likelihood of these rows."""
        found = self._checked_statistics(statistics, Configurations)
        seen = found.rows[:, -1].astype(np.int64)
        return weighted_log(found.weights, self.rows(found.rows[:, :-1])[np.arange(len(seen)), seen])

    def _fitted(self, statistics: Any) -> Self:
        found = self._checked_statistics(statistics, Configurations)
        codes = found.rows[:, -1].astype(np.int64)
        child = self.child
        seen = np.bincount(codes, minlength=child.card) > 0
        if not seen.all():
            none = [state for state, there in zip(child.states, seen, strict=True) if not there]
            raise InvalidFrame(
                f"{child.name!r}: no row has {listed(none)}, and a classifier knows nothing about states "
                "that it never saw. Leave these states out, or give more rows."
            )
        plain = all(isinstance(s, str) for s in child.states) or child.domain.array.dtype.kind in "bi"
        wanted = child.domain.array[codes] if plain else codes
        learned = self._learned(found.rows[:, :-1], wanted, found.weights)
        classes = _classes(child.name, learned)
        states = classes if plain else [child.states[int(c)] for c in classes]
        return self._bound(
            child,
            self.given,
            _estimator=learned,
            _order=_order(child, states, self._kind),
            _table=None,
        )

    def _own_lines(self) -> list[tuple[str, str]]:
        lines = [("states", listed(self.child.states))]
        if "calibrated" in self._asked:
            lines.append(("calibrated", self._asked["calibrated"]))
        return lines


def _classes(name: str, estimator: Any) -> list[Any]:
    found = getattr(estimator, "classes_", None)
    kind = type(estimator).__name__
    if found is None:
        raise InvalidTable(f"{name!r}: its {kind} does not say which classes it has; it needs `classes_`.")
    if isinstance(found, list) and found and isinstance(found[0], np.ndarray):
        raise InvalidTable(f"{name!r}: its {kind} predicts several outputs; a node has one.")
    classes: list[Any] = np.asarray(found).tolist()
    if len(classes) < 2:
        raise InvalidTable(
            f"{name!r}: its {kind} was fitted on one class only, {listed(classes)}: it has nothing to "
            "distinguish."
        )
    return classes


def _order(child: Variable, classes: Sequence[Any], kind: str) -> Any:
    """For each state the column of the classifier; None if they are in order."""
    codes = [child.domain.find(one) for one in classes]
    unknown = [one for one, code in zip(classes, codes, strict=True) if code < 0]
    if unknown:
        raise InvalidTable(
            f"{child.name!r}: its {kind} has the classes {listed(classes)}, and the states "
            f"{listed(child.states)} do not include {listed(unknown)}. The states are its classes; leave out "
            "states=, or reorder them."
        )
    if len(set(codes)) < len(codes):
        raise InvalidTable(
            f"{child.name!r}: two classes of its {kind}, {listed(classes)}, mean the same state."
        )
    absent = [state for code, state in enumerate(child.states) if code not in codes]
    if absent:
        raise InvalidTable(
            f"{child.name!r}: its {kind} has the classes {listed(classes)}, and none is the state "
            f"{listed(absent)}: it was not fitted on rows with it. Declare its classes as the states, or fit "
            "it on rows of all."
        )
    return None if codes == list(range(len(codes))) else np.argsort(codes)
