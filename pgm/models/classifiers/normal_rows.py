"""Classes whose rows are normal: means and covariances, learned from rows with gaps too."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pgm.distributions import Gaussian
from pgm.distributions.gaussian_statistics import GaussianStatistics, gathered, patterns, restricted
from pgm.distributions.priors import Student
from pgm.errors import InvalidArgument, listed, shown
from pgm.learning import Collapsed, EStep, climb
from pgm.models.mixtures.learning import believed
from pgm.results.fit_report import FitReport
from pgm.runtime.running import unstoppable

from .training import Training

FORMS = ("full", "diagonal", "spherical")
_SINGULAR = 1e-9  # the least eigenvalue of correlations
_REMEDY = (
    'Leave columns out, share a covariance (shared=True), take form="diagonal", or raise var_smoothing=.'
)


class Singular(Collapsed):
    """A covariance without a density."""

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(f"{why} {remedy}")
        self.why, self.remedy = why, remedy

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.why, self.remedy)


class Normals(NamedTuple):
    """A mean and a covariance for each class."""

    means: np.ndarray  # (classes, columns)
    covariances: np.ndarray  # (classes, columns, columns)


def covariances(statistics: GaussianStatistics, form: str, shared: bool) -> np.ndarray:
    """The most likely covariances of this form, one for all classes or one for each.

    >>> two = GaussianStatistics(np.ones(2), np.zeros((2, 1)), np.array([[[1.0]], [[3.0]]]))
    >>> covariances(two, "full", True).ravel().tolist(), covariances(two, "full", False).ravel().tolist()
    ([2.0, 2.0], [1.0, 3.0])
    """
    if not shared:
        return restricted(statistics.scatter, statistics.weight, form)
    one = restricted(statistics.scatter.sum(axis=0)[None], statistics.weight.sum()[None], form)
    return np.repeat(one, len(statistics.weight), axis=0)


class Classes(NamedTuple):
    """Normals, and P(class)."""

    normals: Normals
    prior: np.ndarray


def learned(
    rows: np.ndarray, data: Training, form: str, shared: bool, smoothing: float, keep_shares: bool = True
) -> tuple[Classes, FitReport | None]:
    """The maximum likelihood normals of each class; where rows have gaps or no class by EM, with its report.

    Args:
        rows: floats, NaN where missing.
        data: their classes and weights.
        form: of the covariances.
        shared: whether all classes have one.
        smoothing: this fraction of each column's variance is added to its variance within classes.
        keep_shares: whether P(class) stays as it is in `data`, or rows without a class may change it.
    """
    k, known = data.target.card, data.labels >= 0
    shares = np.zeros((len(rows), k))
    shares[known, data.labels[known]] = data.weights[known]
    names = list(data.variables)
    floor = np.diag(smoothing * variances(rows, data.weights))
    alone = form != "full"

    def of_class(c: int) -> str:
        return f"the class {shown(data.target.states[c])}"

    def made(found: GaussianStatistics, prior: np.ndarray) -> Classes:
        normals = Normals(found.mean, covariances(found, form, shared) + floor)
        check(normals, names, of_class)
        return Classes(normals, prior)

    if not np.isnan(rows).any() and known.all():
        ask = partial(gathered, rows, shares, None, None, alone)
        found = unstoppable(ask, data.clock, "learning a classifier")
        _refuse_empty(found.weight, data)
        return made(found, data.class_prior), None

    def expect(now: Classes) -> EStep[GaussianStatistics]:
        means, spreads = now.normals
        logs = Gaussian(means, covariance=spreads).log_rows(rows)
        now_shares, log = shares, float((logs * shares).sum())
        if not known.all():
            with np.errstate(divide="ignore"):
                prior = np.log(now.prior)
            log += float(np.where(shares > 0.0, prior * shares, 0.0).sum())
            believed_, each = believed(logs[~known] + prior, data.weights[~known])
            now_shares = shares.copy()
            now_shares[~known] = believed_
            log += float(data.weights[~known] @ each)
        return EStep(log, log, gathered(rows, now_shares, means, spreads))

    def maximise(now: Classes, found: GaussianStatistics, iteration: int) -> Classes:
        return made(found, now.prior if keep_shares else found.weight / found.weight.sum())

    best, reports, _ = climb(
        [lambda: Classes(_first(rows, shares, data), data.class_prior)],
        expect, maximise, max_iter=1000, tol=1e-10, clock=data.clock,
    )  # fmt: skip
    return best, reports[0]


def variances(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The variance of each column over all rows, whatever their class."""
    there = ~np.isnan(rows)
    part = np.where(there, weights[:, None], 0.0)
    part /= part.sum(axis=0)
    mean = (part * np.where(there, rows, 0.0)).sum(axis=0)
    return np.asarray((part * np.where(there, rows - mean, 0.0) ** 2).sum(axis=0))


def _refuse_empty(weight: np.ndarray, data: Training) -> None:
    if not (weight > 0.0).all():
        state = data.target.states[int((weight <= 0.0).argmax())]
        raise InvalidArgument(f"No row of the class {shown(state)} has a value: its mean cannot be learned.")


def _first(rows: np.ndarray, shares: np.ndarray, data: Training) -> Normals:
    """Means and variances of the observed cells, column by column."""
    there = ~np.isnan(rows)
    total = there.T.astype(float) @ shares  # (columns, classes)
    if (total <= 0.0).any():
        j, c = np.argwhere(total <= 0.0)[0].tolist()
        raise InvalidArgument(
            f"The column {shown(list(data.variables)[j])} has no value in any row of the class "
            f"{shown(data.target.states[c])}: its mean there cannot be learned."
        )
    filled = np.where(there, rows, 0.0)
    means = (filled.T @ shares / total).T
    squares = (filled**2).T @ shares / total
    spread = np.maximum(squares.T - means**2, 0.0) + variances(rows, data.weights) * 1e-3
    return Normals(means, spread[:, :, None] * np.eye(rows.shape[1]))


def check(normals: Normals, names: list[str], what: Callable[[int], str], remedy: str = _REMEDY) -> None:
    """Refuse covariances that have no density, and say what helps."""
    for c, covariance in enumerate(normals.covariances):
        own = np.diag(covariance)
        if (own <= 0.0).any():
            flat = [name for name, v in zip(names, own.tolist(), strict=True) if v <= 0.0]
            why = f"{listed(flat)}: a single value in {what(c)}, so the variance is zero."
            raise Singular(why, remedy)
        scale = np.sqrt(own)
        if np.linalg.eigvalsh(covariance / np.outer(scale, scale))[0] < _SINGULAR:
            raise Singular(
                f"The covariance of {what(c)} is singular: some of its {len(names)} columns are linear "
                "functions of others, or there are too few rows.",
                remedy,
            )


def log_students(rows: np.ndarray, students: list[Student]) -> np.ndarray:
    """Log density of each row, a column for each class, of the entries that are not NaN."""
    found = np.zeros((len(rows), len(students)))
    for at, seen in patterns(rows):
        for c, one in enumerate(students if seen.size else []):
            mean, scale = np.atleast_1d(one.mean)[seen], np.atleast_2d(one.scale)[np.ix_(seen, seen)]
            found[at, c] = np.reshape(Student(one.df, mean, scale).log_density(rows[at][:, seen]), -1)
    return found
