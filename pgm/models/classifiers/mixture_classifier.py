"""Classes that are mixtures of normals: some components for each, learned by EM."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from pgm.calls import guard_constructors
from pgm.distributions import Gaussian
from pgm.distributions.gaussian_statistics import GaussianStatistics, gathered
from pgm.errors import InvalidArgument, listed, shown
from pgm.frames.matrices import Features
from pgm.frames.undeclared import Observations
from pgm.learning import Step, climb
from pgm.models import BayesianNetwork
from pgm.printing import label
from pgm.randomness import generator
from pgm.results.fit_report import FitReport
from pgm.variables import Variable

from .normal_rows import FORMS, Normals, add_chain, check, covariances, variances
from .row_classifier import RowClassifier
from .training import Training, free_name


class Components(NamedTuple):
    """The mixtures of all classes."""

    weights: np.ndarray  # (classes, components)
    normals: Normals  # of all components of the first class, of the second, ...


class MixtureClassifier(RowClassifier):
    """A classifier whose classes are mixtures of normal distributions. Follows scikit-learn's conventions.

    EM learns the mixtures of all classes, also from rows with gaps; what is missing is summed out when it is
    asked. `to_network()` is the same as a Bayesian network, in which the component is a hidden node.

    Args:
        n_components: how many normals each class has.
        form: which covariances these have: "full", "diagonal" (columns are independent in a component) or
            "spherical" (and have one variance).
        prior: how many rows the belief is worth that the columns of a component vary as those of all rows:
            it keeps components from collapsing to a point; 0: the largest likelihood.
        class_prior: P(class): "uniform", a dict, or a list in the order of `classes_`; left out: the shares
            of the rows.
        starts: how often EM begins; the first time with rows along their principal axis, then from chance.
            The best is kept.
        max_iter: how many steps at most.
        tol: it has converged when a step gains no more, for each unit of log-likelihood.
        seed: of the starts from chance.

    After `fit` there are `classes_`, `class_prior_`, `weights_`, `means_` and `covariances_` (of each class
    and component), `fit_report_`, `n_iter_`, `n_features_in_` and, of a data frame,
    `feature_names_in_`.

    >>> import pgm
    >>> rows, y = [[0.0], [0.5], [9.5], [10.0], [4.5], [5.0], [5.25]], ["out"] * 4 + ["in"] * 3
    >>> told = MixtureClassifier(n_components=2).fit(rows, y)
    >>> told.predict([[0.2], [4.8], [9.9]]).tolist()
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
        rows = np.column_stack(list(data.values.values()))
        task = _Task(rows, data, int(self.n_components), self.form, float(prior))
        seeds = generator(self.seed).spawn(int(self.starts))
        begin = [lambda seed=seed, i=i: task.first(seed if i else None) for i, seed in enumerate(seeds)]
        found, reports, best = climb(
            begin, task.expect, task.maximise, max_iter=self.max_iter, tol=self.tol, clock=data.clock
        )
        k, d = data.target.card, rows.shape[1]
        logs = tuple(report.log_likelihoods for report in reports)
        return {
            "weights_": found.weights,
            "means_": found.normals.means.reshape(k, -1, d),
            "covariances_": found.normals.covariances.reshape(k, -1, d, d),
            "fit_report_": reports[best].changed(starts=logs),
            "n_iter_": reports[best].iterations,
        }

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
        net = BayesianNetwork("classes of mixtures")
        k, m, d = self.means_.shape
        states = list(self._target.states)
        hidden = free_name("component", (*self._variables, self._target.name))
        part = Variable(hidden, list(range(m)))
        net.add(self._target.name, self.class_prior_, states=states)
        net.add(hidden, self.weights_, parents=[self._target.name], states=list(part.states))
        keys = [(state, i) for state in states for i in range(m)]
        normals = Normals(self.means_.reshape(k * m, d), self.covariances_.reshape(k * m, d, d))
        add_chain(net, list(self._variables), [self._target.name, hidden], normals, keys)
        return net

    def predict_component(self, X: Any, of: Any) -> np.ndarray:
        """P(component | row, class) of one class, a row for each row.

        Args:
            X: rows, as for `fit`.
            of: the class.

        Raises:
            UnknownState: there is no such class.
            IncompleteModel, InvalidFrame: as for `predict_log_proba`.

        >>> import pgm
        >>> rows, y = [[0.0], [0.5], [9.5], [10.0], [4.5], [5.0], [5.25]], ["out"] * 4 + ["in"] * 3
        >>> told = pgm.MixtureClassifier(n_components=2).fit(rows, y)
        >>> told.predict_component([[0.2], [9.9]], of="out").argmax(axis=1).tolist()
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


class _Task:
    """Rows, and the mixtures that learn from them."""

    def __init__(self, rows: np.ndarray, data: Training, m: int, form: str, prior: float) -> None:
        self.rows, self.data, self.m, self.form, self.prior = rows, data, m, form, prior
        self.k, self.d = data.target.card, rows.shape[1]
        self.spread = np.diag(variances(rows, data.weights))
        flat = [n for n, v in zip(data.variables, np.diag(self.spread).tolist(), strict=True) if v <= 0.0]
        if flat:
            raise InvalidArgument(
                f"{listed(flat)}: one value in all rows, which tells no class. Leave it out."
            )
        self.labels = np.zeros((len(rows), self.k))
        self.labels[np.arange(len(rows)), data.labels] = data.weights

    def first(self, random: np.random.Generator | None) -> Components:
        """Some rows of each class for each component: along the principal axis, or by chance."""
        filled = np.where(np.isnan(self.rows), self._means(), self.rows)
        belongs = np.zeros((len(filled), self.k, self.m))
        for c in range(self.k):
            mine = np.flatnonzero(self.data.labels == c)
            weights = self.data.weights[mine]
            if random is not None:
                axis = random.normal(size=self.d) / np.sqrt(np.diag(self.spread))
            else:
                off = filled[mine] - np.average(filled[mine], axis=0, weights=weights)
                off = np.asarray(off / np.sqrt(np.diag(self.spread)))
                axis = np.linalg.eigh((off * weights[:, None]).T @ off)[1][:, -1]
                axis = axis * np.sign(axis[np.abs(axis).argmax()]) / np.sqrt(np.diag(self.spread))
            belongs[mine, c, _cut(np.round(filled[mine] @ axis, 9), weights, self.m)] = 1.0
        shares = (self.labels[:, :, None] * belongs).reshape(len(filled), -1)
        found = gathered(filled, shares, None, None, self.form != "full")
        means: np.ndarray = found.mean.reshape(self.k, self.m, self.d)
        empty = found.weight.reshape(self.k, self.m) <= 0.0
        own = gathered(filled, self.labels, None, None).mean
        means = np.where(empty[:, :, None], own[:, None], means).reshape(-1, self.d)
        statistics = GaussianStatistics(found.weight, means, found.scatter)
        prior = max(self.prior, 1.0)  # rows may be few: to begin with, components are wide
        return self._made(statistics, prior)

    def _means(self) -> np.ndarray:
        """The mean of each row's class, of what is there."""
        there = ~np.isnan(self.rows)
        total = there.T.astype(float) @ self.labels
        sums = np.where(there, self.rows, 0.0).T @ self.labels
        if (total <= 0.0).any():
            j, c = np.argwhere(total <= 0.0)[0].tolist()
            raise InvalidArgument(
                f"The column {shown(list(self.data.variables)[j])} has no number in any row of the class "
                f"{shown(self.data.target.states[c])}: nothing says where it lies there."
            )
        return np.asarray((sums / total).T[self.data.labels])

    def expect(self, now: Components) -> Step[GaussianStatistics]:
        """How much each row is of each component, and what follows."""
        logs = _joint(self.rows, now)
        sums = _summed(logs)
        log = float((sums * self.labels).sum())
        with np.errstate(invalid="ignore"):
            belongs = np.nan_to_num(np.exp(logs - sums[:, :, None]))
        shares = (self.labels[:, :, None] * belongs).reshape(len(self.rows), -1)
        means, spreads = now.normals
        found = gathered(
            self.rows, shares, means, spreads, self.form != "full" and not np.isnan(self.rows).any()
        )
        belief = 0.0
        if self.prior > 0.0:
            _, dets = np.linalg.slogdet(spreads)
            traces = np.trace(
                np.linalg.solve(spreads, np.broadcast_to(self.spread, spreads.shape)), axis1=1, axis2=2
            )
            belief = -0.5 * self.prior * float((dets + traces).sum())
        return Step(log, log + belief, found)

    def maximise(self, now: Components, found: GaussianStatistics, iteration: int) -> Components:
        """The most probable mixtures for these statistics; a component without rows keeps its mean."""
        empty = found.weight <= 0.0
        means = np.where(empty[:, None], now.normals.means, found.mean)
        return self._made(GaussianStatistics(found.weight, means, found.scatter), self.prior)

    def _made(self, found: GaussianStatistics, prior: float) -> Components:
        weight = found.weight.reshape(self.k, self.m)
        scatter = found.scatter + prior * self.spread
        spreads = covariances(GaussianStatistics(found.weight + prior, found.mean, scatter), self.form, False)
        normals = Normals(found.mean, spreads)
        check(normals, list(self.data.variables), lambda i: f"component {i % self.m} of the class "
              f"{shown(self.data.target.states[i // self.m])}")  # fmt: skip
        return Components(weight / weight.sum(axis=1, keepdims=True), normals)


def _cut(values: np.ndarray, weights: np.ndarray, m: int) -> np.ndarray:
    """Which of m groups of about equal weight each value is in; equal ones are in the same."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order]) / weights.sum()
    ends = values[order][np.searchsorted(total, np.arange(1, m) / m - 1e-9)]
    return np.searchsorted(np.unique(ends), values, side="left").astype(np.int64)


def _joint(rows: np.ndarray, now: Components) -> np.ndarray:
    """Log of weight and density of each row, class and component."""
    k, m = now.weights.shape
    logs = Gaussian(now.normals.means, covariance=now.normals.covariances).log_rows(rows)
    with np.errstate(divide="ignore"):
        return np.asarray(logs.reshape(-1, k, m) + np.log(now.weights))


def _summed(logs: np.ndarray) -> np.ndarray:
    most = logs.max(axis=2)
    safe = np.where(most == -math.inf, 0.0, most)
    with np.errstate(divide="ignore"):
        return np.asarray(safe + np.log(np.exp(logs - safe[:, :, None]).sum(axis=2)))


guard_constructors([MixtureClassifier])
