"""Normal classes: linear and quadratic discriminants, with gaps."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from pgm.calls import guard_classes
from pgm.cpds import TableCPD
from pgm.distributions import Gaussian, priors
from pgm.distributions.gaussian_statistics import gathered
from pgm.errors import InvalidArgument, InvalidStructure, listed, shown, warn
from pgm.frames.matrices import Features
from pgm.frames.undeclared import Observations
from pgm.models import BayesianNetwork
from pgm.models.continuous_nodes import normal_nodes
from pgm.printing import label
from pgm.results.fit_report import FitReport
from pgm.variables import Variable

from .normal_rows import FORMS, Classes, Normals, Singular, learned, log_students
from .row_classifier import RowClassifier, frozen
from .training import Training

_SMOOTHED = 1e-3  # of the variance of a column, where a covariance is singular


class Discriminant(NamedTuple):
    """g(x) = x W x + w x + w0 of a class; the class with the largest is chosen."""

    quadratic: np.ndarray  # W; zeros where all classes share a covariance: the term cancels
    linear: np.ndarray  # w
    constant: float  # w0


class DiscriminantAnalysis(RowClassifier):
    """Linear or quadratic discriminant analysis: classes are normal. Follows scikit-learn's conventions.

    The rows of a class are normal. With one covariance for all classes the discriminants are linear (as in
    scikit-learn's LinearDiscriminantAnalysis), with one for each class quadratic
    (QuadraticDiscriminantAnalysis). Rows may have gaps: `fit` learns from them by EM, predictions integrate
    them out. `to_network()` returns the same model as a Bayesian network.

    Args:
        form: the form of the covariances: "full", "diagonal" (columns are independent within a class) or
            "spherical" (these, with a single variance).
        shared: whether all classes have one covariance.
        prior: a `pgm.priors.NormalWishart` for mean and precision of each class, over which predictions then
            average; needs form="full", shared=False.
        class_prior: P(class): "uniform", a dict, or a list in the order of `classes_`; left out: the
            frequencies of the classes.
        var_smoothing: this fraction of each column's variance is added to its variance within classes;
            "auto": none, or 0.001 with a warning if a covariance is singular.

    After `fit` there are `classes_`, `class_prior_`, `means_`, `covariances_` (one for each class),
    `discriminants_` ({class: Discriminant}), `fit_report_` (of EM, where there were gaps), `var_smoothing_`,
    `n_features_in_` and, for a data frame, `feature_names_in_`.

    >>> import pgm
    >>> rows = [[1.0, 2.0], [2.0, 1.0], [3.0, 3.5], [6.0, 5.0], [7.0, 7.0], [8.0, 5.5]]
    >>> model = DiscriminantAnalysis().fit(rows, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict([[4.0, 3.0], [5.0, 4.5]]).tolist()
    ['a', 'b']
    """

    states = None
    continuous = ()
    unknown = "raise"

    means_: np.ndarray
    covariances_: np.ndarray
    discriminants_: dict[Any, Discriminant]
    fit_report_: FitReport | None
    var_smoothing_: float
    _students: list[priors.Student] | None

    def __init__(
        self,
        form: str = "full",
        *,
        shared: bool = True,
        prior: Any = None,
        class_prior: Any = None,
        var_smoothing: float | str = "auto",
    ) -> None:
        self.form, self.shared, self.prior = form, shared, prior
        self.class_prior, self.var_smoothing = class_prior, var_smoothing

    def _declared(self, given: Features) -> tuple[dict[str, Any], Iterable[str]]:
        return {}, given.names

    def _learn(self, data: Training) -> dict[str, Any]:
        if not isinstance(self.form, str) or self.form not in FORMS:
            raise InvalidArgument(f"form= is {listed(FORMS)}, not {shown(self.form)}.")
        if not isinstance(self.shared, bool | np.bool_):
            raise InvalidArgument(f"shared= is True or False, not {shown(self.shared)}.")
        rows = np.column_stack(list(data.values.values()))
        if self.prior is not None:
            return self._averaged(rows, data)
        (normals, prior), report, smoothing = self._learned(rows, data)
        return {
            "class_prior_": prior,
            "means_": normals.means,
            "covariances_": normals.covariances,
            "discriminants_": discriminants(normals, data.target, prior, bool(self.shared)),
            "fit_report_": report,
            "var_smoothing_": smoothing,
            "_students": None,
        }

    def _learn_in_part(self, data: Training) -> dict[str, Any]:
        if self.prior is not None:
            raise InvalidArgument(
                "prior= needs a class for every row: leave out the rows without one, or leave out prior=."
            )
        return self._learn(data)

    def _learned(self, rows: np.ndarray, data: Training) -> tuple[Classes, FitReport | None, float]:
        """The normals, and how much was added to their variances."""
        asked = self.var_smoothing
        auto = isinstance(asked, str) and asked == "auto"
        if not auto and (
            isinstance(asked, bool) or not isinstance(asked, int | float) or not 0.0 <= asked < np.inf
        ):
            raise InvalidArgument(f'var_smoothing= is "auto" or a number of at least 0, not {shown(asked)}.')
        first, keep = 0.0 if auto else float(asked), self.class_prior is not None
        try:
            return *learned(rows, data, self.form, bool(self.shared), first, keep), first
        except Singular as error:
            if not auto:
                raise
            found = learned(rows, data, self.form, bool(self.shared), _SMOOTHED, keep)
            warn(
                f"{error.why} So {_SMOOTHED:g} of the variance of each column was added to its variances "
                f"(pass var_smoothing={_SMOOTHED:g} to do so without this warning)."
            )
            return *found, _SMOOTHED

    def _averaged(self, rows: np.ndarray, data: Training) -> dict[str, Any]:
        if not isinstance(self.prior, priors.NormalWishart):
            raise InvalidArgument(f"prior= is a pgm.priors.NormalWishart, not {shown(self.prior)}.")
        if self.form != "full" or self.shared:
            raise InvalidArgument(
                'prior= is for form="full", shared=False: each class has its own covariance.'
            )
        if np.isnan(rows).any():
            raise InvalidArgument("prior= needs rows without gaps: leave those with gaps out, or prior=.")
        k = data.target.card
        beliefs = []
        for c in range(k):
            mine = data.labels == c
            one = gathered(rows[mine], data.weights[mine, None], None, None)
            beliefs.append(self.prior.posterior(one))
        return {
            "means_": np.array([belief.mean for belief in beliefs]),
            "covariances_": np.array([np.linalg.inv(belief.precision) for belief in beliefs]),
            "discriminants_": {},
            "fit_report_": None,
            "var_smoothing_": 0.0,
            "_students": [belief.predictive() for belief in beliefs],
        }

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: means, covariances by their form, and P(class).

        >>> import pgm
        >>> rows, y = [[1.0, 2.0], [2.0, 1.0], [6.0, 5.0], [8.0, 5.5]], ["a", "a", "b", "b"]
        >>> pgm.DiscriminantAnalysis("spherical").fit(rows, y).n_parameters
        6
        """
        if not hasattr(self, "classes_"):
            raise self._missing_fit("fit it to rows whose classes are known")
        k, d = self.means_.shape
        each = {"full": d * (d + 1) // 2, "diagonal": d, "spherical": 1}[self.form]
        return int(k * d + each * (1 if self.shared else k) + k - 1)

    def _log_joint(self, seen: Observations) -> np.ndarray:
        rows = np.full((seen.n_rows, len(self._variables)), np.nan)
        for j, name in enumerate(self._variables):
            if name in seen.values:
                rows[:, j] = seen.values[name]
        if self._students is not None:
            logs = log_students(rows, self._students)
        else:
            logs = Gaussian(self.means_, covariance=self.covariances_).log_rows(rows)
        with np.errstate(divide="ignore"):
            return np.asarray(logs + np.log(self.class_prior_))

    def _network(self) -> BayesianNetwork:
        if self._students is not None:
            raise InvalidStructure(
                "With a prior the columns have Student's distribution in each class, which is not a local "
                "distribution of a network: leave prior= out."
            )
        root = TableCPD.trusted(self._target, (), frozen(self.class_prior_))
        columns = normal_nodes(self.means_, self.covariances_, [self._target], list(self._variables))
        return BayesianNetwork._from_cpds("normal classes", [root, *columns])

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        if not hasattr(self, "classes_"):
            return [self._begun()], [], "not fitted yet"
        rows = [["P(class)", *(f"{p:.6g}" for p in self.class_prior_.tolist())]]
        sds = np.sqrt(np.einsum("kii->ki", self.covariances_))
        for j, name in enumerate(self._variables):
            pairs = zip(self.means_[:, j].tolist(), sds[:, j].tolist(), strict=True)
            rows.append([label(name), *(f"{m:.4g} ± {s:.3g}" for m, s in pairs)])
        what = (
            f"{'one' if self.shared else 'a'} {self.form} covariance for {'all' if self.shared else 'each'}"
        )
        note = f"DiscriminantAnalysis of {label(self._target.name)!r}: mean ± sd, {what}"
        return ["column", *(label(state) for state in self._target.states)], rows, note


def discriminants(
    normals: Normals, target: Variable, prior: np.ndarray, shared: bool
) -> dict[Any, Discriminant]:
    """Log P(x, class) as a quadratic in x, without the terms that are the same for all classes."""
    found = {}
    for c, (mean, covariance) in enumerate(zip(*normals, strict=True)):
        precision = np.linalg.inv(covariance)
        w = precision @ mean
        p = float(prior[c])
        constant = -0.5 * float(mean @ w) + (math.log(p) if p > 0.0 else -math.inf)
        if not shared:
            constant -= 0.5 * float(np.linalg.slogdet(covariance)[1])
        quadratic = np.zeros_like(precision) if shared else -0.5 * precision
        found[target.states[c]] = Discriminant(quadratic, w, constant)
    return found


guard_classes([DiscriminantAnalysis])
