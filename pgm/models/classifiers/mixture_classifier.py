"""Classes that are mixtures of normals: several components each, learned by EM."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pgm.calls import guard_classes
from pgm.cpds import TableCPD
from pgm.distributions import Gaussian
from pgm.distributions.gaussian_statistics import GaussianStatistics, gathered, restricted
from pgm.errors import InvalidArgument, listed, shown
from pgm.frames.matrices import Features
from pgm.frames.undeclared import Observations
from pgm.learning import climb
from pgm.models import BayesianNetwork
from pgm.models.continuous_nodes import normal_nodes
from pgm.models.mixtures import Mixture
from pgm.models.mixtures.labels import Labels
from pgm.models.mixtures.learning import Counted, MixtureLearning, Parameters
from pgm.printing import label
from pgm.randomness import generator
from pgm.results.fit_report import FitReport
from pgm.variables import Variable

from .normal_rows import FORMS, Normals, check, variances
from .row_classifier import RowClassifier, frozen
from .training import Training, free_name

_REMEDY = 'Leave columns out, take fewer components or form="diagonal", or raise prior=.'


class Components(NamedTuple):
    """The mixtures of all classes."""

    weights: np.ndarray  # (classes, components)
    normals: Normals  # of all components of the first class, of the second, ...


class MixtureClassifier(RowClassifier):
    """A classifier whose classes are mixtures of normal distributions. Follows scikit-learn's conventions.

    All classes together are one mixture (`pgm.Mixture`), in which each component belongs to a class and the
    classes of rows are labels. EM learns it, also from rows with gaps or without a class; predictions
    integrate out what is missing. `to_network()` returns the same model as a Bayesian network, in which the
    component is a hidden node.

    Args:
        n_components: how many normals each class has.
        form: the form of their covariances: "full", "diagonal" (columns are independent within a component)
            or "spherical" (these, with a single variance).
        prior: how many pseudo-rows each component gets, which vary as all rows do: they keep it from
            collapsing to a point; 0: maximum likelihood.
        class_prior: P(class): "uniform", a dict, or a list in the order of `classes_`; left out: the
            frequencies of the classes.
        starts: how many times EM is started: first from rows split along their principal axis, then at
            random. The best is kept.
        max_iter: the largest number of iterations.
        tol: EM has converged when an iteration gains no more than this, relative to the log-likelihood.
        seed: of the random starts.

    After `fit` there are `classes_`, `class_prior_`, `weights_`, `means_` and `covariances_` (of each class
    and component), `fit_report_`, `n_iter_`, `n_features_in_` and, for a data frame,
    `feature_names_in_`.

    >>> import pgm
    >>> rows, y = [[0.0], [0.5], [9.5], [10.0], [4.5], [5.0], [5.25]], ["out"] * 4 + ["in"] * 3
    >>> model = MixtureClassifier(n_components=2).fit(rows, y)
    >>> model.predict([[0.2], [4.8], [9.9]]).tolist()
    ['out', 'in', 'out']
    """

    states = None
    continuous = ()
    unknown = "raise"

    weights_: np.ndarray
    means_: np.ndarray
    covariances_: np.ndarray
    fit_report_: FitReport
    n_iter_: int

    def __init__(
        self,
        n_components: int = 2,
        *,
        form: str = "full",
        prior: float = 1.0,
        class_prior: Any = None,
        starts: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-9,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        self.n_components, self.form, self.prior, self.class_prior = n_components, form, prior, class_prior
        self.starts, self.max_iter, self.tol, self.seed = starts, max_iter, tol, seed

    def _declared(self, given: Features) -> tuple[dict[str, Any], Iterable[str]]:
        return {}, given.names

    def _learn(self, data: Training) -> dict[str, Any]:
        for name, least in (("n_components", 1), ("starts", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
                raise InvalidArgument(f"{name}= is a whole number of at least {least}, not {shown(value)}.")
        if not isinstance(self.form, str) or self.form not in FORMS:
            raise InvalidArgument(f"form= is {listed(FORMS)}, not {shown(self.form)}.")
        prior = self.prior
        if isinstance(prior, bool) or not isinstance(prior, int | float) or not 0.0 <= prior < np.inf:
            raise InvalidArgument(f"prior= is a number of rows, 0 or more, not {shown(prior)}.")
        m, k, d = int(self.n_components), data.target.card, len(data.values)
        belief = _Spread(_variances(data), float(prior), self.form)
        fitting = _Classes(data, m, belief, self.class_prior is not None)
        seeds = generator(self.seed).spawn(int(self.starts))
        begin = [lambda seed=seed, i=i: fitting.first(seed if i else None) for i, seed in enumerate(seeds)]
        found, reports, best = climb(
            begin, fitting.expect, fitting.maximise, max_iter=self.max_iter, tol=self.tol, clock=data.clock
        )
        logs = tuple(report.log_likelihoods for report in reports)
        weights = found.weights.reshape(k, m)
        mean, covariance = _parts(found.emission)
        return {
            "class_prior_": weights.sum(axis=1),
            "weights_": weights / weights.sum(axis=1, keepdims=True),
            "means_": mean.reshape(k, m, d),
            "covariances_": covariance.reshape(k, m, d, d),
            "fit_report_": reports[best].changed(starts=logs),
            "n_iter_": reports[best].iterations,
        }

    def _learn_in_part(self, data: Training) -> dict[str, Any]:
        return self._learn(data)

    def _log_joint(self, seen: Observations) -> np.ndarray:
        rows = np.full((seen.n_rows, len(self._variables)), np.nan)
        for j, name in enumerate(self._variables):
            if name in seen.values:
                rows[:, j] = seen.values[name]
        k, m, d = self.means_.shape
        normals = Normals(self.means_.reshape(k * m, d), self.covariances_.reshape(k * m, d, d))
        logs = _joint(rows, Components(self.weights_, normals))
        with np.errstate(divide="ignore"):
            return np.asarray(_summed(logs) + np.log(self.class_prior_))

    def _network(self) -> BayesianNetwork:
        k, m, d = self.means_.shape
        hidden = free_name("component", (*self._variables, self._target.name))
        part = Variable(hidden, list(range(m)))
        root = TableCPD.trusted(self._target, (), frozen(self.class_prior_))
        chosen = TableCPD.trusted(part, (self._target,), frozen(self.weights_))
        flat = self.means_.reshape(k * m, d), self.covariances_.reshape(k * m, d, d)
        columns = normal_nodes(*flat, [self._target, part], list(self._variables))
        return BayesianNetwork._from_cpds("classes of mixtures", [root, chosen, *columns])

    def predict_component(self, X: Any, of: Any) -> np.ndarray:
        """P(component | row, class) for one class, a row for each row, a column for each component.

        Args:
            X: rows, as for `fit`.
            of: the class.

        Raises:
            UnknownState: there is no such class.
            IncompleteModel, InvalidFrame: as for `predict_log_proba`.

        >>> import pgm
        >>> rows, y = [[0.0], [0.5], [9.5], [10.0], [4.5], [5.0], [5.25]], ["out"] * 4 + ["in"] * 3
        >>> model = pgm.MixtureClassifier(n_components=2).fit(rows, y)
        >>> model.predict_component([[0.2], [9.9]], of="out").argmax(axis=1).tolist()
        [0, 1]
        """
        seen = self._seen(X)
        code = self._target.code(of)
        rows = np.full((seen.n_rows, len(self._variables)), np.nan)
        for j, name in enumerate(self._variables):
            if name in seen.values:
                rows[:, j] = seen.values[name]
        normals = Normals(self.means_[code], self.covariances_[code])
        logs = _joint(rows, Components(self.weights_[code][None], normals))[:, 0]
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        if not hasattr(self, "classes_"):
            return [self._begun()], [], "not fitted yet"
        rows: list[list[str]] = []
        for c, state in enumerate(self._target.states):
            for i, weight in enumerate(self.weights_[c].tolist()):
                means = [f"{x:.4g}" for x in self.means_[c, i].tolist()]
                p = f"{float(self.class_prior_[c]):.6g}" if i == 0 else ""
                rows.append([label(state) if i == 0 else "", p, f"{weight:.4g}", *means])
        note = f"MixtureClassifier of {label(self._target.name)!r}: the mean of each component; {self.form}"
        return ["class", "P(class)", "weight", *map(label, self._variables)], rows, note


def _variances(data: Training) -> np.ndarray:
    """The variance of each column over all rows, as a diagonal matrix."""
    found = variances(np.column_stack(list(data.values.values())), data.weights)
    if flat := [name for name, v in zip(data.variables, found.tolist(), strict=True) if v <= 0.0]:
        raise InvalidArgument(
            f"{listed(flat)}: one value in all rows, which cannot tell classes apart. Leave it out."
        )
    return np.diag(found)


def _parts(emission: Any) -> tuple[np.ndarray, np.ndarray]:
    mean, covariance = emission.parameters()
    return mean, covariance


@dataclass(frozen=True, eq=False)
class _Spread:
    """A prior worth this many pseudo-rows in each component, which vary as all rows do."""

    variances: np.ndarray  # (columns, columns)
    rows: float
    form: str

    def fitted(self, emission: Any, s: GaussianStatistics) -> Any:
        """The most probable emission; a component without rows keeps its mean."""
        mean = np.where(s.weight[:, None] > 0.0, s.mean, emission.parameters()[0])
        scatter = s.scatter + self.rows * self.variances
        return emission._of(mean, restricted(scatter, s.weight + self.rows, self.form))

    def log(self, emission: Any) -> float:
        """The log density of the covariances, up to a constant."""
        if self.rows == 0.0:
            return 0.0
        _, covariance = emission.parameters()
        every = np.broadcast_to(self.variances, covariance.shape)
        traces = np.trace(np.linalg.solve(covariance, every), axis1=1, axis2=2)
        return float(-0.5 * self.rows * (np.linalg.slogdet(covariance)[1] + traces).sum())

    def drawn(self, emission: Any, statistics: Any, random: np.random.Generator) -> Any:
        """Not needed: the classifier takes the most probable parameters, it draws none."""
        raise NotImplementedError


class _Classes(MixtureLearning):
    """EM of a mixture whose components belong to classes: the first m to the first class, and so on."""

    def __init__(self, data: Training, m: int, belief: _Spread, fixed: bool) -> None:
        """Take rows with their classes.

        Args:
            data: the rows.
            m: how many components each class has.
            belief: the prior.
            fixed: whether P(class) was given by the user and stays.
        """
        self.data, self.m, self.belief = data, m, belief
        self.class_prior = data.class_prior if fixed else None
        classes = data.target.card
        model = Mixture(
            n_components=classes * m,
            emission=Gaussian(dim=len(data.values), form=belief.form),
            columns=[f"x{i}" for i in range(len(data.values))],
        )
        read = model._rows(dict(zip(model.columns, data.values.values(), strict=True)))
        with np.errstate(divide="ignore"):
            logs = np.log(np.repeat(np.eye(classes), m, axis=0))
        super().__init__(model, read, Labels(data.labels, logs), weights=data.weights)
        self.clock, self.prior_emission = data.clock, belief

    def first(self, random: np.random.Generator | None) -> Parameters:
        """Start from the rows of each class, cut into components along the principal or a random axis."""
        rows, data, classes = (
            np.column_stack(list(self.data.values.values())),
            self.data,
            self.data.target.card,
        )
        known = data.labels >= 0
        rows, labels, weights = rows[known], data.labels[known], data.weights[known]
        own = np.zeros((len(rows), classes))
        own[np.arange(len(rows)), labels] = weights
        filled = np.where(np.isnan(rows), self._means(rows, own, labels), rows)
        scale = np.sqrt(np.diag(self.belief.variances))
        shares = np.zeros((len(rows), classes, self.m))
        for c in range(classes):
            mine = np.flatnonzero(labels == c)
            if random is not None:
                axis = random.normal(size=len(scale)) / scale
            else:
                off = filled[mine] - np.average(filled[mine], axis=0, weights=weights[mine])
                off = np.asarray(off / scale)
                axis = np.linalg.eigh((off * weights[mine, None]).T @ off)[1][:, -1]
                axis = axis * np.sign(axis[np.abs(axis).argmax()]) / scale
            group = _cut(np.round(filled[mine] @ axis, 9), weights[mine], self.m)
            shares[mine, c, group] = weights[mine]
        found = gathered(filled, shares.reshape(len(rows), -1), None, None, self.belief.form != "full")
        every = np.repeat(gathered(filled, own, None, None).mean, self.m, axis=0)
        mean = np.where(found.weight[:, None] > 0.0, found.mean, every)
        rows_believed = max(self.belief.rows, 1.0)  # a component may have few rows: begin with wide ones
        scatter = found.scatter + rows_believed * self.belief.variances
        spread = restricted(scatter, found.weight + rows_believed, self.belief.form)
        emission = self.model.emission._of(mean, spread)  # type: ignore[attr-defined]
        self.check(emission, "at the start")
        within = found.weight.reshape(classes, self.m)
        within = within / within.sum(axis=1, keepdims=True)
        return Parameters((data.class_prior[:, None] * within).reshape(-1), emission)

    def _means(self, rows: np.ndarray, own: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """For each row the column means of its class, over the cells that are observed."""
        there = ~np.isnan(rows)
        total = there.T.astype(float) @ own
        sums = np.where(there, rows, 0.0).T @ own
        if (total <= 0.0).any():
            j, c = np.argwhere(total <= 0.0)[0].tolist()
            raise InvalidArgument(
                f"The column {shown(list(self.data.variables)[j])} has no value in any row of the class "
                f"{shown(self.data.target.states[c])}: its mean there cannot be learned."
            )
        return np.asarray((sums / total).T[labels])

    def maximise(self, now: Parameters, found: Counted, iteration: int) -> Parameters:
        """The most probable mixture; P(class) stays where the user gave it."""
        made = super().maximise(now, found, iteration)
        if self.class_prior is None:
            return made
        within = made.weights.reshape(-1, self.m)
        sums = within.sum(axis=1, keepdims=True)
        old = now.weights.reshape(-1, self.m)
        within = np.where(
            sums > 0.0, within / np.where(sums > 0.0, sums, 1.0), old / old.sum(axis=1, keepdims=True)
        )
        return Parameters((self.class_prior[:, None] * within).reshape(-1), made.emission)

    def check(self, emission: Any, when: str) -> None:
        """Raise where a density has shrunk to a point."""
        states = self.data.target.states

        def called(i: int) -> str:
            return f"component {i % self.m} of the class {shown(states[i // self.m])}"

        check(Normals(*_parts(emission)), list(self.data.variables), called, _REMEDY)


def _cut(values: np.ndarray, weights: np.ndarray, m: int) -> np.ndarray:
    """Which of m groups of about equal weight each value is in; equal values share a group."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order]) / weights.sum()
    ends = values[order][np.searchsorted(total, np.arange(1, m) / m - 1e-9)]
    return np.searchsorted(np.unique(ends), values, side="left").astype(np.int64)


def _joint(rows: np.ndarray, now: Components) -> np.ndarray:
    """Log of weight times density, for each row, class and component."""
    k, m = now.weights.shape
    logs = Gaussian(now.normals.means, covariance=now.normals.covariances).log_rows(rows)
    with np.errstate(divide="ignore"):
        return np.asarray(logs.reshape(-1, k, m) + np.log(now.weights))


def _summed(logs: np.ndarray) -> np.ndarray:
    most = logs.max(axis=2)
    safe = np.where(most == -math.inf, 0.0, most)
    with np.errstate(divide="ignore"):
        return np.asarray(safe + np.log(np.exp(logs - safe[:, :, None]).sum(axis=2)))


guard_classes([MixtureClassifier])
