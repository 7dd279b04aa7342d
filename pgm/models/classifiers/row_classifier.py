"""What classifiers of rows share: how data are read, and the predictions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from pgm.errors import (
    InvalidArgument,
    InvalidFrame,
    UnknownVariable,
    shown,
)
from pgm.evidence import LARGEST
from pgm.frames import among, weights_of
from pgm.frames.matrices import Features, features, learned, observed
from pgm.frames.undeclared import Observations
from pgm.printing import label
from pgm.results.fit_report import FitReport
from pgm.runtime.clock import start_clock
from pgm.variables import Variable

from .conventions import (
    Estimator,
    at_least_two,
    class_prior_of,
    classes_of,
    labelled,
    labels_of,
    posterior,
)
from .training import Training, classes_column, free_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pgm.models import BayesianNetwork

    from .decisions import Decisions


class RowClassifier(Estimator):
    """A classifier of rows, of a data frame or an array, in scikit-learn's conventions.

    A subclass adds `_learn`, which returns the attributes that `fit` sets, and `_log_joint`.
    """

    takes_states: ClassVar[bool] = True  # what pgm.EstimatorCPD asks: whether states need no encoding
    class_prior: Any
    states: Any
    continuous: Any
    unknown: str

    classes_: np.ndarray
    class_prior_: np.ndarray
    fit_report_: FitReport | None
    n_features_in_: int
    feature_names_in_: np.ndarray
    _named: bool
    _target: Variable
    _variables: dict[str, Variable]
    _ranges: dict[str, tuple[float, float]]

    # --- for subclasses ---

    def _learn(self, data: Training) -> dict[str, Any]:
        """What is learned, as attributes by name."""
        raise NotImplementedError

    def _learn_in_part(self, data: Training) -> dict[str, Any]:
        """The same, where some rows have no class: by EM, starting from what the others show."""
        raise NotImplementedError

    def _log_joint(self, seen: Observations) -> np.ndarray:
        """Log P(class, row), a column for each class; the rows are read."""
        raise NotImplementedError

    def _log_shares(self, seen: Observations) -> np.ndarray:
        """Log P(class | row), or what differs from it by a constant for each row."""
        return self._log_joint(seen)

    def _renamed(self, given: Features) -> Features:
        """The rows, with names for the columns of an array if the model has them."""
        return given

    def _called(self, name: str) -> str:
        """The name of the class."""
        return name

    def _declared(self, given: Features) -> tuple[dict[str, Any], Iterable[str]]:
        """The states of columns that the user declares, and which are continuous whatever they hold."""
        states = {} if self.states is None else self.states
        if not isinstance(states, Mapping):
            raise InvalidArgument(f"states= is a dict {{column: its states}}, not {shown(states)}.")
        for name in states:
            if name not in given.names:
                raise UnknownVariable(name, given.names, where="states=")
        if isinstance(self.continuous, Mapping) or not isinstance(self.continuous, Iterable):
            raise InvalidArgument(f"continuous= lists names of columns, not {shown(self.continuous)}.")
        real = [self.continuous] if isinstance(self.continuous, str) else list(self.continuous)
        for name in real:
            if name not in given.names:
                raise UnknownVariable(name, given.names, where="continuous=")
        return dict(states), real

    def _said_shares(self) -> str:
        """P(class), as printed below tables."""
        pairs = zip(self._target.states, self.class_prior_.tolist(), strict=True)
        return ", ".join(f"{label(state)} {p:.4g}" for state, p in pairs)

    # --- learning ---

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows whose classes are known; returns the classifier itself.

        Rows without a class (None or NaN) are learned from too: EM shares each out among the classes by their
        posterior, and learns again (Nigam & al. 2000). `fit_report_` then has the details.

        Args:
            X: a data frame, a dict of columns, or an array of rows, whose columns are then x0, x1, ...
            y: the class of each row, None where it is unknown; or the name of the column of X that has it.
            sample_weight: how much each row counts; 1 if left out.

        Raises:
            InvalidFrame: no rows, a column without a value.
            InvalidArgument: there are not as many classes as rows, or only one; an option is out of range.
            UnknownState, UnknownVariable: what was declared does not fit the columns.

        >>> import pgm
        >>> model = pgm.NaiveBayes().fit({"wet": [1, 1, 0], "rain": ["yes", "yes", "no"]}, "rain")
        >>> model.predict({"wet": [0, 1]}).tolist()
        ['no', 'yes']
        """
        data, named = self._read(X, y, sample_weight)
        found = self._learn_in_part(data) if data.in_part else self._learn(data)
        about = self._about(data, named)
        vars(self).pop("feature_names_in_", None)
        vars(self).update({**about, **found})
        return self

    def _about(self, data: Training, named: bool) -> dict[str, Any]:
        """The attributes that describe the columns and the classes."""
        about: dict[str, Any] = {
            "classes_": data.classes,
            "class_prior_": data.class_prior,
            "fit_report_": None,
            "n_features_in_": len(data.variables),
            "_named": named,
            "_target": data.target,
            "_ranges": {name: (float(np.nanmin(x)), float(np.nanmax(x))) for name, x in data.values.items()},
        }
        about["_variables"] = data.variables
        if named:
            about["feature_names_in_"] = np.array(list(data.variables), dtype=object)
        return about

    def _read(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> tuple[Training, bool]:
        clock = start_clock()
        if not isinstance(self.unknown, str) or self.unknown not in ("raise", "missing"):
            raise InvalidArgument(f'unknown= is "raise" or "missing", not {shown(self.unknown)}.')
        given = features(X)
        name, labels, given = classes_column(given, y)
        given = self._renamed(given)
        declared, continuous = self._declared(given)
        found = learned(given, states=declared, continuous=continuous, check=clock.check)
        for column, values in found.values.items():
            if np.isnan(values).all():
                raise InvalidFrame(f"The column {shown(column)} has no value.")
            if np.nanmax(np.abs(values)) > LARGEST:
                raise InvalidFrame(
                    f"The column {shown(column)} has values beyond {LARGEST:g}; use another unit."
                )
        n = found.n_rows
        weights = weights_of(sample_weight, n)
        labels = labels_of(labels, n)
        keep = weights > 0.0
        if not keep.any():
            raise InvalidArgument("sample_weight is zero for every row: there is nothing to learn from.")
        codes, reals, kept = found.codes, found.values, weights
        if not keep.all():
            labels, kept = labels[keep], weights[keep]
            codes = {each: column[keep] for each, column in codes.items()}
            reals = {each: column[keep] for each, column in reals.items()}
        known = labelled(labels)
        if not known.any():
            raise InvalidFrame("Input y contains NaN, or nothing, in every row: no row has a class.")
        there, codes_of_known = classes_of(labels[known])
        which = np.full(len(labels), -1, np.int64)
        which[known] = codes_of_known
        if classes is None:
            classes = there
        else:
            classes = np.unique(np.asarray(classes))
            every = Variable("class", classes.tolist())
            which = np.array([*(every.code(one) for one in there.tolist()), -1])[which]
        at_least_two(classes)
        target = Variable(self._called(free_name(name, given.names)), classes.tolist())
        counts = np.bincount(which[known], kept[known], len(classes))
        shares = class_prior_of(self.class_prior, classes.tolist(), counts)
        return Training(
            found.variables, codes, reals, target, classes, which, kept, shares, clock
        ), given.named

    # --- questions ---

    def _seen(self, X: Any) -> Observations:
        """Read rows to be classified; a column that a frame lacks counts as unobserved."""
        if not hasattr(self, "classes_"):
            raise self._missing_fit("fit it to rows whose classes are known")
        clock = start_clock()
        given = features(X)
        variables = self._variables
        if given.named and self._named:
            places = {name: i for i, name in enumerate(variables)}
            wanted = among(X, variables, places, {self._target.name})
        else:
            if len(given.names) != self.n_features_in_:
                raise InvalidFrame(
                    f"X has {len(given.names)} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input."
                )
            wanted = {
                name: Variable.of(name, known.domain)
                for name, known in zip(given.names, variables.values(), strict=True)
            }
        found = observed(given, wanted, bad=self.unknown, check=clock.check)
        if not (given.named and self._named) and given.names != tuple(variables):
            own = dict(zip(given.names, variables, strict=True))
            return Observations(
                found.n_rows,
                dict(variables),
                {own[name]: column for name, column in found.codes.items()},
                {own[name]: column for name, column in found.values.items()},
            )
        return found

    def _posterior(self, X: Any, *, log: bool) -> np.ndarray:
        return posterior(
            self._log_shares(self._seen(X)), lambda row: f"Row {row:,} (the first is 0)", log=log
        )

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Log P(class | row), a row for each row, a column for each of `classes_`.

        Args:
            X: rows, as for `fit`; missing cells are summed out, and so are absent columns.

        Raises:
            IncompleteModel: there was no `fit`.
            UnknownState: a value that is not a state of its column; `unknown="missing"` takes it as a gap.
            ImpossibleEvidence: a row that is impossible in every class.
            InvalidFrame: X has other columns than `fit` had.

        >>> import pgm
        >>> model = pgm.NaiveBayes().fit([[0], [1], [1]], ["a", "b", "b"])
        >>> model.predict_log_proba([[1]]).round(6).tolist()
        [[-1.704748, -0.200671]]
        """
        return self._posterior(X, log=True)

    def predict_proba(self, X: Any) -> np.ndarray:
        """P(class | row), a row for each row, a column for each of `classes_`.

        Args:
            X: rows, as for `fit`; missing cells are summed out, and so are absent columns.

        Raises:
            IncompleteModel, UnknownState, ImpossibleEvidence, InvalidFrame: as for `predict_log_proba`.

        >>> import pgm
        >>> model = pgm.NaiveBayes().fit([[0], [1], [1]], ["a", "b", "b"])
        >>> model.predict_proba([[1]]).round(6).tolist()
        [[0.181818, 0.818182]]
        """
        return self._posterior(X, log=False)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row; a tie goes to the one that comes first in `classes_`.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel, UnknownState, ImpossibleEvidence, InvalidFrame: as for `predict_log_proba`.

        >>> import pgm
        >>> pgm.NaiveBayes().fit([[0], [1], [1]], ["a", "b", "b"]).predict([[0], [1]]).tolist()
        ['a', 'b']
        """
        found = self._log_shares(self._seen(X))
        best = found.argmax(axis=1)
        if (found[np.arange(len(found)), best] == -np.inf).any():
            self._posterior(X, log=True)  # raises, and says which row
        return np.asarray(self.classes_[best])

    def decision_function(self, X: Any) -> np.ndarray:
        """The score behind predictions: log P(class | row), or of two classes the log odds of the second.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel, UnknownState, ImpossibleEvidence, InvalidFrame: as for `predict_log_proba`.

        >>> import pgm
        >>> model = pgm.NaiveBayes().fit([[0], [1], [1]], ["a", "b", "b"])
        >>> model.decision_function([[0], [1]]).round(6).tolist()
        [-0.287682, 1.504077]
        """
        found = self.predict_log_proba(X)
        return np.asarray(found[:, 1] - found[:, 0]) if found.shape[1] == 2 else found

    def log_odds(self, X: Any, a: Any, b: Any) -> np.ndarray:
        """Log P(a | row) / P(b | row) for each row: class a is the likelier one where it is above zero.

        Args:
            X: rows, as for `fit`.
            a: a class.
            b: another one.

        Raises:
            UnknownState: there is no such class.
            IncompleteModel, ImpossibleEvidence, InvalidFrame: as for `predict_log_proba`.

        >>> import pgm
        >>> model = pgm.NaiveBayes().fit([[0], [1], [1]], ["a", "b", "b"])
        >>> model.log_odds([[1]], "b", "a").round(6).tolist()
        [1.504077]
        """
        found = self.predict_log_proba(X)
        one, other = (self._target.code(each) for each in (a, b))
        return np.asarray(found[:, one] - found[:, other])

    def decide(self, X: Any, loss: Any = None, *, reject: float | None = None) -> Decisions:
        """The class to name for each row where mistakes have different losses, or none where it is rejected.

        The action with the smallest expected loss is taken, the first of a tie. Without `loss` every mistake
        costs 1, and `reject` is Chow's rule: a class is named if its probability is at least 1 - reject.

        Args:
            X: rows, as for `fit`.
            loss: the loss of naming a class: an array (true class, class named) in the order of `classes_`,
                or a dict {(true, named): loss}, in which pairs that are left out cost nothing.
            reject: the loss of naming no class; left out: a class is always named.

        Raises:
            InvalidArgument: losses that are not numeric, or of another shape.
            UnknownState: the dict names something that is not a class.
            IncompleteModel, ImpossibleEvidence, InvalidFrame: as for `predict_log_proba`.

        >>> import pgm
        >>> model = pgm.NaiveBayes().fit([[0], [1], [1]], ["a", "b", "b"])
        >>> model.decide([[0], [1]], reject=0.3)
        row  decision  expected loss
        0    -              0.300000
        1    b              0.181818
        """
        from .decisions import Decisions

        shares = self.predict_proba(X)
        return Decisions.of(shares, self._target, loss, reject)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy: the share of rows whose class is predicted correctly.

        Args:
            X: rows, as for `fit`.
            y: the class of each row; or the name of the column of X that has it.
            sample_weight: how much each row counts; 1 if left out.

        Raises:
            InvalidArgument: there are not as many classes as rows.
            IncompleteModel, UnknownState, ImpossibleEvidence, InvalidFrame: as for `predict_log_proba`.

        >>> import pgm
        >>> pgm.NaiveBayes().fit([[0], [1], [1]], ["a", "b", "b"]).score([[0], [1]], ["a", "a"])
        0.5
        """
        found = self.predict(X)
        if isinstance(y, str):
            _, y, _ = classes_column(features(X), y)
        true = labels_of(y, len(found))
        if not (known := labelled(true)).all():
            raise InvalidFrame(
                f"Row {int((~known).argmax()):,} (the first is 0) has no class to compare with."
            )
        right = found == true
        return float(np.average(right, weights=weights_of(sample_weight, len(found))))

    @property
    def network(self) -> BayesianNetwork:
        """The classifier as a Bayesian network, which answers every question about its variables."""
        if not hasattr(self, "classes_"):
            raise self._missing_fit("fit it to rows whose classes are known")
        return self._network()

    def _network(self) -> BayesianNetwork:
        raise NotImplementedError

    def to_network(self) -> BayesianNetwork:
        """Return the classifier as a Bayesian network of the class and the columns.

        Raises:
            IncompleteModel: there was no `fit`.
            InvalidStructure: this classifier is not a network; the message says why.

        >>> import pgm
        >>> model = pgm.NaiveBayes().fit([[0], [1], [1]], ["a", "b", "b"])
        >>> model.to_network().query("class", {"x0": 1}).values.round(6).tolist()
        [0.181818, 0.818182]
        """
        return self.network.copy()

    def plot(
        self,
        X: Any = None,
        y: Any = None,
        *,
        columns: Any = None,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Return a picture of the decision regions in two columns, or of P(x, class) along one.

        Columns that are not drawn are summed out.

        Args:
            X: rows to draw as points; only with two continuous columns.
            y: their classes.
            columns: one or two columns; left out: the first continuous ones, else the first discrete ones.
            ax: the axes to draw into.
            figsize: the size of a new figure.
            title: instead of the usual one; "" for none.

        Raises:
            InvalidArgument: more than two columns; rows without classes.
            IncompleteModel: there was no `fit`.

        >>> import pgm
        >>> model = pgm.NaiveBayes().fit([[0.5], [1.5], [1.7]], ["a", "b", "b"])
        >>> model.plot().get_xlabel()
        'x0'
        """
        from pgm import plot

        if not hasattr(self, "classes_"):
            raise self._missing_fit("fit it to rows whose classes are known")
        made: Axes = plot.decision_regions(self, X, y, columns, ax, figsize, title)
        return made


def frozen(values: np.ndarray) -> np.ndarray:
    """A copy of an array that never changes."""
    made = np.array(values)
    made.flags.writeable = False
    return made
