"""The columns of naive Bayes: their sufficient statistics, distributions and log-likelihoods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pgm.cpds import CPD, LinearGaussian
from pgm.distributions import priors
from pgm.distributions.gaussian_statistics import GaussianStatistics
from pgm.distributions.normal import log_standard_normal
from pgm.errors import InvalidArgument, shown
from pgm.frames.undeclared import Observations
from pgm.learning.parameters import Rule
from pgm.variables import Variable

from .conventions import CLASSES


def moments(values: np.ndarray, labels: np.ndarray, weights: np.ndarray, k: int) -> GaussianStatistics:
    """Sufficient statistics of a continuous column in each class; what is missing is left out.

    >>> found = moments(np.array([1.0, np.nan, 3.0]), np.zeros(3, int), np.ones(3), 1)
    >>> found.weight.tolist(), found.mean.tolist(), found.scatter.tolist()
    ([2.0], [[2.0]], [[[2.0]]])
    """
    there = ~np.isnan(values)
    if not there.all():
        values, labels, weights = values[there], labels[there], weights[there]
    total = np.bincount(labels, weights, k)
    sums = np.bincount(labels, weights * values, k)
    mean = np.divide(sums, total, out=np.zeros(k), where=total > 0.0)
    off = values - mean[labels]
    scatter = np.bincount(labels, weights * off * off, k)
    return GaussianStatistics(total, mean[:, None], scatter[:, None, None])


def spread(statistics: GaussianStatistics) -> float:
    """The variance of all rows together, whatever their class.

    >>> spread(moments(np.array([1.0, 3.0]), np.array([0, 1]), np.ones(2), 2))
    1.0
    """
    weight = statistics.weight / statistics.weight.sum()
    mean = statistics.mean[:, 0]
    return float(statistics.scatter.sum() / statistics.weight.sum() + weight @ (mean - weight @ mean) ** 2)


@dataclass(eq=False)
class Terms:
    """Log-likelihoods of the columns, ready to be added up for rows, a column for each class."""

    k: int
    tables: list[str] = field(default_factory=list)
    begin: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    logs: np.ndarray = field(
        default_factory=lambda: np.zeros(0)
    )  # (states of all columns and a gap each) * k
    normals: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)  # means, sds
    students: dict[str, list[priors.Student]] = field(default_factory=dict)
    counted: list[str] = field(default_factory=list)  # the columns of one multinomial
    log_shares: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))  # theirs: (columns, classes)

    @classmethod
    def of(
        cls,
        k: int,
        cpds: Mapping[str, CPD],
        students: Mapping[str, list[priors.Student]],
        counted: Sequence[str] = (),
        shares: np.ndarray | None = None,
    ) -> Terms:
        """Take logarithms.

        Args:
            k: the number of classes.
            cpds: of each column that has a table or a normal distribution in each class.
            students: of columns that have Student's distribution, one for each class.
            counted: the columns of one multinomial.
            shares: how they share its draws, a row for each class.
        """
        found = cls(k, students=dict(students), counted=list(counted))
        parts, begin, at = [], [], 0
        for name, cpd in cpds.items():
            if isinstance(cpd, LinearGaussian):
                found.normals[name] = (np.asarray(cpd.bias), np.asarray(cpd.sd))
                continue
            with np.errstate(divide="ignore"):
                parts.append(np.vstack([np.zeros(k), np.log(cpd.values).T]))
            found.tables.append(name)
            begin.append(at + 1)  # the row before the states is for gaps, which add zero
            at += len(parts[-1])
        if parts:
            found.begin = np.array(begin, np.int64)
            found.logs = np.ascontiguousarray(np.vstack(parts)).reshape(-1)
        if shares is not None:
            with np.errstate(divide="ignore"):
                found.log_shares = np.log(shares.T)
        return found

    def add(self, seen: Observations, sums: np.ndarray) -> np.ndarray:
        """Add to each row of `sums` the log-likelihoods of the row's columns."""
        there = [i for i, name in enumerate(self.tables) if name in seen.codes]
        if there:
            codes = np.empty((len(there), seen.n_rows), np.int32)
            for at, i in enumerate(there):
                codes[at] = seen.codes[self.tables[i]]
            CLASSES.add_logs(codes, self.begin[there], self.logs, self.k, sums.reshape(-1))
        for name, (means, sds) in self.normals.items():
            if name in seen.values:
                x = seen.values[name]
                logs = log_standard_normal((x[:, None] - means) / sds) - np.log(sds)
                sums += _known(x, logs)
        for name, found in self.students.items():
            if name in seen.values:
                x = seen.values[name]
                safe = np.where(np.isnan(x), 0.0, x)
                sums += _known(x, np.column_stack([one.log_density(safe) for one in found]))
        self._add_counts(seen, sums)
        return sums

    def _add_counts(self, seen: Observations, sums: np.ndarray) -> None:
        if not self.counted:
            return
        for name in self.counted:
            if name not in seen.values or np.isnan(seen.values[name]).any():
                raise InvalidArgument(
                    f"The column {shown(name)} has a gap, but it is a count of a multinomial: the total is "
                    "then unknown. Write 0 where nothing was counted."
                )
        counts = np.column_stack([seen.values[name] for name in self.counted])
        refuse_negative(dict(zip(self.counted, counts.T, strict=True)))
        impossible = self.log_shares == -np.inf
        if impossible.any():
            sums += counts @ np.where(impossible, 0.0, self.log_shares)
            sums[(counts @ impossible) > 0.0] = -np.inf
        else:
            sums += counts @ self.log_shares


def _known(x: np.ndarray, logs: np.ndarray) -> np.ndarray:
    gaps = np.isnan(x)
    if gaps.any():
        logs[gaps] = 0.0
    return logs


def refuse_negative(counts: Mapping[str, np.ndarray]) -> None:
    """Refuse counts below zero."""
    for name, column in counts.items():
        if (column < 0.0).any():
            row = int((column < 0.0).argmax())
            raise InvalidArgument(
                f"Negative values in data: the column {shown(name)} is a count of a multinomial, but row "
                f"{row:,} has {column[row]:g}."
            )


def normal(
    name: str, blank: CPD, statistics: GaussianStatistics, rule: Rule, floor: float, target: Variable
) -> CPD:
    """The normal distribution of a column in each class.

    Args:
        name: of the column.
        blank: such a distribution with placeholder parameters.
        statistics: of its rows.
        rule: the prior.
        floor: what is added to each variance.
        target: the class.
    """
    seen = statistics.weight > 0.0
    if rule.conjugate is None and rule.pseudo is None and not seen.all():
        state = target.states[int((~seen).argmax())]
        raise InvalidArgument(
            f"The column {shown(name)} has no value in any row of the class {shown(state)}: give it a prior, "
            f"prior={{{name!r}: pgm.priors.NormalGamma(...), ...: 1}}."
        )
    made = rule.fitted(blank, statistics)
    mean, variance = np.asarray(made.bias), np.asarray(made.sd) ** 2  # type: ignore[attr-defined]
    if rule.conjugate is None:
        variance = variance + floor
    if (variance <= 0.0).any():
        state = target.states[int((variance <= 0.0).argmax())]
        raise InvalidArgument(
            f"The column {shown(name)} has a single value in the class {shown(state)}, so its variance there "
            "is zero: leave the column out, or raise var_smoothing=."
        )
    return with_moments(made, mean, variance)


def with_moments(cpd: CPD, mean: np.ndarray, variance: np.ndarray) -> CPD:
    """The same normal distributions with these means and variances."""
    n = len(mean)
    return cpd.fitted(GaussianStatistics(np.ones(n), mean.reshape(n, 1), variance.reshape(n, 1, 1)))
