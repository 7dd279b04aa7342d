"""Naive Bayes: columns that are independent given the class, of any kinds, with gaps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np

from pgm.calls import guard_classes
from pgm.cpds import CPD, LinearGaussian, TableCPD
from pgm.distributions import priors
from pgm.distributions.pseudo_counts import Laplace, times
from pgm.errors import (
    InvalidArgument,
    InvalidFrame,
    InvalidStructure,
    UnknownVariable,
    listed,
    nearest,
    shown,
)
from pgm.frames import weights_of
from pgm.frames.matrices import Features, features
from pgm.frames.undeclared import Observations
from pgm.learning.counts import Counts
from pgm.learning.parameters import Rule, rules
from pgm.models import BayesianNetwork
from pgm.printing import joined, label
from pgm.runtime.clock import start_clock
from pgm.variables import Variable

from .column_terms import Terms, moments, normal, refuse_negative, spread, with_moments
from .conventions import class_prior_of, labelled, labels_of
from .in_part import climbed
from .row_classifier import RowClassifier, frozen
from .training import Training, classes_column

KINDS = ("auto", "categorical", "bernoulli", "gaussian", "multinomial")
ESTIMATES = ("predictive", "mean", "mode")


class NaiveBayes(RowClassifier):
    """Naive Bayes: columns are independent given the class. Follows scikit-learn's conventions.

    P(class | row) is P(class) times the probability of each cell in that class, divided by the sum over the
    classes. Columns may be of different kinds. A missing cell is left out of the counts in `fit` and summed
    out in predictions, which is exact. `to_network()` returns the same model as a Bayesian network.

    Args:
        columns: the kind of each column: "auto" (booleans, text, whole numbers and categories have a table,
            floats a normal distribution), "categorical", "bernoulli" (False and True), "gaussian" or
            "multinomial" (all such columns together are the counts of one multinomial); for all, or
            {column: kind}.
        states: {column: its states, or pgm.Bins}, for columns whose states are not to be read off the data.
        continuous: columns to treat as continuous although their values could be states, as whole floats.
        prior: a float, added to each count (Laplace's rule with 1, none with 0); "bdeu", "laplace" or "k2";
            an object of pgm.priors; or {column: one of these}, `...` for the rest. `pgm.priors.Normal` and
            `NormalGamma` are for continuous columns.
        estimate: "predictive" averages over the posterior of the parameters; "mean" and "mode" plug in its
            mean or mode.
        class_prior: P(class): "uniform", a dict, or a list in the order of `classes_`; left out: the
            frequencies of the classes.
        var_smoothing: this fraction of the largest column variance is added to every variance that has no
            prior of its own, as in scikit-learn's GaussianNB.
        unknown: what to do with a value that `fit` never saw: "raise", or take it as "missing".

    After `fit` there are `classes_`, `class_prior_`, `n_features_in_` and, for a data frame,
    `feature_names_in_`.

    >>> import pgm
    >>> rows = {"wet": [True, True, False, None], "mm": [3.5, 2.0, 0.5, 0.25]}
    >>> model = NaiveBayes().fit(rows, ["rain", "rain", "sun", "sun"])
    >>> model.predict({"wet": [None, False], "mm": [4.25, None]}).tolist()
    ['rain', 'sun']
    """

    def __init__(
        self,
        columns: Any = "auto",
        *,
        states: Any = None,
        continuous: Any = (),
        prior: Any = 1.0,
        estimate: str = "predictive",
        class_prior: Any = None,
        var_smoothing: float = 1e-9,
        unknown: str = "raise",
    ) -> None:
        self.columns, self.states, self.continuous, self.prior = columns, states, continuous, prior
        self.estimate, self.class_prior = estimate, class_prior
        self.var_smoothing, self.unknown = var_smoothing, unknown

    # --- learning ---

    def _declared(self, given: Features) -> tuple[dict[str, Any], Iterable[str]]:
        states, declared = super()._declared(given)
        kinds = _kinds(self.columns, given.names)
        real = list(declared)
        for name, kind in kinds.items():
            if kind in ("gaussian", "multinomial"):
                if name in states:
                    raise InvalidArgument(
                        f"{name!r} is {kind}, which has no states: states= and columns= contradict each "
                        "other."
                    )
                real.append(name)
            elif kind != "auto" and name in real:
                raise InvalidArgument(
                    f"{name!r} is {kind}, not continuous: continuous= and columns= contradict each other."
                )
            elif kind == "bernoulli":
                states.setdefault(name, [False, True])
            elif kind == "categorical" and name not in states:
                found = _whole_states(name, given)
                if found is not None:
                    states[name] = found
        return states, real

    def _learn(self, data: Training) -> dict[str, Any]:
        kinds = _kinds(self.columns, tuple(data.variables))
        counted = [name for name, kind in kinds.items() if kind == "multinomial"]
        return self._from(data, _statistics(data, counted), data.per_class(), counted)

    def _learn_in_part(self, data: Training) -> dict[str, Any]:
        begun = self._learn(data.known())
        if begun["_counted"]:
            raise InvalidArgument(
                f"{listed(begun['_counted'])}: the counts of a multinomial are learned only from rows with a "
                "class. Leave the others out."
            )
        if begun["_students"]:
            raise InvalidArgument(
                'Rows without a class need estimate="mean" or "mode": EM has no step for the Student '
                'distributions that estimate="predictive" gives continuous columns.'
            )
        rules = self._rules(begun["_cpds"])
        found = climbed(data, begun["_cpds"].values(), rules, keep_shares=self.class_prior is not None)
        statistics = {name: found.learned.statistics[name] for name in begun["_cpds"]}
        shares = found.cpds[data.target.name].values
        weight = shares * data.weights.sum()
        made = self._from(data, statistics, weight, [])
        return made | {"class_prior_": shares, "fit_report_": found.report}

    def _from(
        self, data: Training, statistics: dict[str, Any], weight: np.ndarray, counted: list[str]
    ) -> dict[str, Any]:
        """The learned attributes, from sufficient statistics and the weight of each class."""
        if self.estimate not in ESTIMATES:
            raise InvalidArgument(f"estimate= is {listed(ESTIMATES)}, not {shown(self.estimate)}.")
        floor = self.var_smoothing
        if isinstance(floor, bool) or not isinstance(floor, int | float) or not 0.0 <= floor < np.inf:
            raise InvalidArgument(f"var_smoothing= is a number of at least 0, not {shown(floor)}.")
        target = data.target
        blank = {
            name: blank_cpd(variable, (target,))
            for name, variable in data.variables.items()
            if name not in counted
        }
        made = self._rules(blank)
        widest = max((spread(statistics[name]) for name, cpd in blank.items() if cpd.continuous), default=0.0)
        cpds: dict[str, CPD] = {}
        students: dict[str, list[priors.Student]] = {}
        for name, cpd in blank.items():
            if not cpd.continuous:
                cpds[name] = made[name].fitted(cpd, statistics[name])
                continue
            rule = made[name]
            if rule.conjugate is not None and self.estimate == "predictive":
                beliefs = [belief.predictive() for belief in rule.conjugate.rows_of(statistics[name])]
                if isinstance(beliefs[0], priors.Student):
                    students[name] = beliefs
                else:
                    mean = np.array([one.mean for one in beliefs])
                    cpds[name] = with_moments(cpd, mean, np.array([one.sd for one in beliefs]) ** 2)
                continue
            cpds[name] = normal(name, cpd, statistics[name], rule, floor * widest, target)
        shares = None
        if counted:
            alpha = self._alpha_of_counts()
            rows = np.column_stack([statistics[name] for name in counted]) + alpha
            total = rows.sum(axis=1, keepdims=True)
            shares = np.divide(rows, total, out=np.full_like(rows, 1.0 / len(counted)), where=total > 0.0)
        return {
            "_cpds": cpds,
            "_students": students,
            "_counted": counted,
            "_shares": shares,
            "_terms": Terms.of(target.card, cpds, students, counted, shares),
            "_statistics": statistics,
            "_weight": weight,
        }

    def _rules(self, blank: Mapping[str, CPD]) -> dict[str, Rule]:
        """How each column is learned."""
        said = dict(self.prior) if isinstance(self.prior, Mapping) else {...: self.prior}
        tables = {name for name, cpd in blank.items() if cpd.tabular}
        for name, one in list(said.items()):
            if isinstance(one, int | float | np.number) and not isinstance(one, bool):
                if not 0.0 <= one < np.inf:
                    raise InvalidArgument(f"prior= is added to each count, 0 or more, not {shown(one)}.")
                said[name] = Laplace(float(one)) if one > 0.0 else None
        if said.get(...) is not None and isinstance(said[...], Laplace):
            rest = said.pop(...)
            said |= {name: rest for name in tables if name not in said}
        prior = said if any(one is not None for one in said.values()) else None
        estimate = "mode" if self.estimate == "mode" else "mean"
        if prior is None and estimate == "mode":
            raise InvalidArgument('estimate="mode" has no effect without a prior.')
        return rules(prior, estimate, {}, blank)

    def _alpha_of_counts(self) -> float:
        """The pseudo-count that is added to each count of the multinomial."""
        said = self.prior.get(..., 0.0) if isinstance(self.prior, Mapping) else self.prior
        if isinstance(said, Laplace):
            return said.count
        if isinstance(said, str) and said in ("laplace", "k2"):
            return 1.0
        if said is None:
            return 0.0
        if isinstance(said, int | float | np.number) and not isinstance(said, bool):
            return float(said)
        raise InvalidArgument(
            f"prior= of multinomial columns is a pseudo-count that is added to each count, not {shown(said)}."
        )

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        forget: float | None = None,
    ) -> Self:
        """Learn from more rows, added to those before, as one `fit` to all of them; returns the classifier.

        Args:
            X: rows, as for `fit`; states of columns are those of the first call, or of `states=`.
            y: their classes.
            classes: all classes, if the first rows may lack some; only in the first call.
            sample_weight: how much each row counts; 1 if left out.
            forget: the share of the weight of earlier rows to forget, for data that drift.

        Raises:
            UnknownState: a class or a value that the first call did not have.
            InvalidArgument, InvalidFrame: as for `fit`.

        >>> import pgm
        >>> model = pgm.NaiveBayes(states={"x0": [0, 1]}).partial_fit([[0]], ["a"], classes=["a", "b"])
        >>> model.partial_fit([[1], [1]], ["b", "b"]).predict_proba([[1]]).round(6).tolist()
        [[0.181818, 0.818182]]
        """
        first = not hasattr(self, "classes_")
        if forget is not None and (
            first or isinstance(forget, bool) or not isinstance(forget, float) or not 0.0 < forget < 1.0
        ):
            raise InvalidArgument(
                "forget= is the share of the weight of earlier rows to forget, between 0 and 1, not "
                f"{shown(forget)}."
                if not first
                else "forget= has no effect in the first call: there are no earlier rows."
            )
        if first:
            data, named = self._read(X, y, sample_weight, classes)
            found = self._learn_in_part(data) if data.in_part else self._learn(data)
            vars(self).update(self._about(data, named) | found)
            return self
        if classes is not None and [*map(str, np.unique(classes))] != [*map(str, self.classes_.tolist())]:
            raise InvalidArgument(
                f"classes= are those of the first call, {listed(self.classes_.tolist())}, not "
                f"{shown(classes)}."
            )
        data = self._more(X, y, sample_weight)
        keep = 1.0 if forget is None else 1.0 - forget
        new = _statistics(data, self._counted)
        statistics = {name: times(self._statistics[name], keep) + one for name, one in new.items()}
        weight = keep * self._weight + data.per_class()
        shares = class_prior_of(self.class_prior, list(data.target.states), weight)
        found = self._from(data, statistics, weight, self._counted)
        vars(self).update(found, class_prior_=shares)
        for name, x in data.values.items():
            low, high = self._ranges[name]
            self._ranges[name] = (min(low, float(np.nanmin(x))), max(high, float(np.nanmax(x))))
        return self

    def _more(self, X: Any, y: Any, sample_weight: Any) -> Training:
        """More rows of the same columns and classes."""
        clock = start_clock()
        _, labels, given = classes_column(features(X), y)
        absent = [each for each in self._variables if self._named and given.named and each not in given.names]
        if absent:
            raise InvalidFrame(
                f"The rows have no column {listed(absent)}, which `fit` had.{nearest(absent[0], given.names)}"
            )
        seen = self._seen(X)
        weights = weights_of(sample_weight, seen.n_rows)
        told = labels_of(labels, seen.n_rows)
        if not (known := labelled(told)).all():
            raise InvalidFrame(
                f"Row {int((~known).argmax()):,} (the first is 0) has no class; `fit` learns from such rows, "
                "`partial_fit` does not."
            )
        codes = np.array([self._target.code(one) for one in told.tolist()], np.int64)
        keep = weights > 0.0
        return Training(
            self._variables,
            {each: column[keep] for each, column in seen.codes.items()},
            {each: column[keep] for each, column in seen.values.items()},
            self._target,
            self.classes_,
            codes[keep],
            weights[keep],
            self.class_prior_,
            clock,
        )

    # --- questions ---

    _cpds: dict[str, CPD]
    _students: dict[str, list[priors.Student]]
    _counted: list[str]
    _shares: np.ndarray | None
    _terms: Terms
    _statistics: dict[str, Any]
    _weight: np.ndarray

    def _log_joint(self, seen: Observations) -> np.ndarray:
        with np.errstate(divide="ignore"):
            sums = np.tile(np.log(self.class_prior_), (seen.n_rows, 1))
        return self._terms.add(seen, sums)

    def _network(self) -> BayesianNetwork:
        if self._counted:
            raise InvalidStructure(
                f"{listed(self._counted)}: the counts of a multinomial cannot be nodes, because the number "
                "of draws is not modelled. For a network, give the columns another kind with columns=."
            )
        if self._students:
            raise InvalidStructure(
                f"{listed(self._students)}: Student's distribution is not a local distribution of a network; "
                'estimate="mean" gives a normal one.'
            )
        root = TableCPD.trusted(self._target, (), frozen(self.class_prior_))
        return BayesianNetwork._from_cpds("naive Bayes", [root, *self._cpds.values()])

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        if not hasattr(self, "classes_"):
            return [self._begun()], [], "not fitted yet"
        states = [label(state) for state in self._target.states]
        rows = [["P(class)", "", *(f"{p:.6g}" for p in self.class_prior_.tolist())]]
        for name in self._variables:
            rows.append([label(name), *self._row(name)])
        what = f"NaiveBayes of {label(self._target.name)!r}"
        return ["column", "kind", *states], rows, f"{what}: normal columns as mean ± sd, tables as their mode"

    def _row(self, name: str) -> list[str]:
        if name in self._students:
            return [
                "Student",
                *(f"{float(one.mean):.4g} ± {float(one.scale):.3g}" for one in self._students[name]),
            ]
        if name in self._counted:
            assert self._shares is not None
            return ["counts", *(f"{p:.4g}" for p in self._shares[:, self._counted.index(name)].tolist())]
        cpd = self._cpds[name]
        if isinstance(cpd, LinearGaussian):
            pairs = zip(np.ravel(cpd.bias).tolist(), np.ravel(cpd.sd).tolist(), strict=True)
            return ["normal", *(f"{m:.4g} ± {s:.3g}" for m, s in pairs)]
        best = cpd.values.argmax(axis=1).tolist()
        states = cpd.child.states
        kind = f"{len(states):,} states"
        return [kind, *(f"{label(states[b])} {row[b]:.3g}" for b, row in zip(best, cpd.values, strict=True))]


def _statistics(data: Training, counted: list[str]) -> dict[str, Any]:
    """Counts of states and moments of continuous columns, in each class."""
    k = data.target.card
    names = list(data.codes)
    plain = bool((data.weights == 1.0).all())
    counts = Counts(
        [data.labels, *data.codes.values()],
        [k, *(data.variables[name].card for name in names)],
        None if plain else data.weights,
        merge=False,
    )
    found: dict[str, Any] = dict(
        zip(names, counts.tables([[0, i + 1] for i in range(len(names))], data.clock), strict=True)
    )
    for name, x in data.values.items():
        if name not in counted:
            found[name] = moments(x, data.labels, data.weights, k)
            continue
        if np.isnan(x).any():
            raise InvalidFrame(
                f"The column {shown(name)} has a gap, but it is a count of a multinomial: write 0 where "
                "nothing was counted."
            )
        refuse_negative({name: x})
        found[name] = np.bincount(data.labels, data.weights * x, k)
    return {name: found[name] for name in data.variables}


def blank_cpd(variable: Variable, given: tuple[Variable, ...]) -> CPD:
    """A distribution of the column's kind, with placeholder parameters."""
    if variable.continuous:
        return LinearGaussian.standard(variable, given)
    shape = tuple(v.card for v in (*given, variable))
    return TableCPD.trusted(variable, given, frozen(np.full(shape, 1.0 / variable.card)))


def _kinds(columns: Any, names: tuple[str, ...]) -> dict[str, str]:
    """The kind of each column, as the user says."""
    given = columns if isinstance(columns, Mapping) else {...: columns}
    for name, kind in given.items():
        if name is not ... and name not in names:
            raise UnknownVariable(name, names, where="columns=")
        if not isinstance(kind, str) or kind not in KINDS:
            raise InvalidArgument(
                f"columns= is {' or '.join(map(repr, KINDS))}, not {shown(kind)}.{nearest(kind, KINDS)}"
            )
    rest: str = given.get(..., "auto")
    return {name: str(given.get(name, rest)) for name in names}


def _whole_states(name: str, given: Features) -> list[int] | None:
    """The states of a column of whole floats; None for other types, which tell their states themselves."""
    column = given.frame[name] if isinstance(given.frame, Mapping) else None
    if column is None and hasattr(given.frame, "__getitem__"):
        column = given.frame[name]
    try:
        values = np.asarray(column)
    except (TypeError, ValueError):
        return None
    if values.dtype.kind != "f":
        return None
    known = np.unique(values[~np.isnan(values)])
    if (known != np.floor(known)).any() or not known.size:
        raise InvalidFrame(
            f"The column {shown(name)} is declared categorical, but has fractional values such as "
            f"{joined(map(str, known[known != np.floor(known)][:3].tolist()), 3)}: cut it into bins, "
            f"states={{{name!r}: pgm.discretize(...)}}, or declare it gaussian."
        )
    return [int(value) for value in known.tolist()]


guard_classes([NaiveBayes])
