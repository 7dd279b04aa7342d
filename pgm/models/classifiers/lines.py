"""Continuous columns that are normal given the class and other columns: linear Gaussians, learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pgm.cpds import LinearGaussian
from pgm.distributions.gaussian_statistics import GaussianStatistics
from pgm.distributions.normal import log_standard_normal
from pgm.errors import InvalidArgument, listed, shown

from .training import Training


def rows_like(cells: GaussianStatistics, rows: float) -> GaussianStatistics:
    """Statistics of this many rows in each cell, which vary as those there do.

    >>> one = GaussianStatistics(np.array([2.0]), np.array([[0.0]]), np.array([[[6.0]]]))
    >>> rows_like(one, 1.0).scatter.tolist()
    [[[3.0]]]
    """
    one = np.divide(rows, cells.weight, out=np.zeros_like(cells.weight), where=cells.weight > 0.0)
    return GaussianStatistics(cells.weight * one, cells.mean, cells.scatter * one[:, None, None])


def line_of(
    data: Training, name: str, parents: Sequence[str], rows: float
) -> tuple[LinearGaussian, GaussianStatistics, GaussianStatistics]:
    """A continuous column as a linear function of continuous parents, for each class and state of the others.

    Pseudo-rows are added: to each class some that vary as all rows do, to each state within it some that vary
    as the class does. Returns the linear Gaussian, the statistics of the rows, and those of the pseudo-rows.

    Args:
        data: the rows; those with a gap in the family are left out.
        name: of the column.
        parents: its parents besides the class.
        rows: how many pseudo-rows are added to each.
    """
    child, given = data.variables[name], [data.variables[p] for p in parents]
    switches, causes = [v for v in given if not v.continuous], [v for v in given if v.continuous]
    there = ~np.isnan(data.values[name])
    for v in switches:
        there &= data.codes[v.name] >= 0
    for v in causes:
        there &= ~np.isnan(data.values[v.name])
    values = np.column_stack([data.values[v.name][there] for v in (*causes, child)])
    codes = np.column_stack([data.labels[there], *(data.codes[v.name][there] for v in switches)])
    weights = data.weights[there]
    every, of_class, line = (
        LinearGaussian.standard(child, tuple([*these, *causes]))
        for these in ([], [data.target], [data.target, *switches])
    )
    above = every.gathered(codes[:, :0], values, weights)
    if not above.scatter[0, -1, -1] > 0.0:
        raise InvalidArgument(
            f"The column {shown(name)} has one value in all rows, or none where its parents are observed: it "
            "cannot tell classes apart. Leave it out."
        )
    cells = of_class.gathered(codes[:, :1], values, weights)
    added = rows_like(_repeated(above, data.target.card), rows)
    if switches:
        above, cells = cells + added, line.gathered(codes, values, weights)
        added = rows_like(_repeated(above, cells.weight.size // data.target.card), rows)
    made: LinearGaussian = line.fitted(cells + added)
    sd = np.asarray(made.sd)
    if not (sd > 0.0).all():
        at = np.unravel_index(int((sd <= 0.0).argmax()), sd.shape)
        state, given_parents = data.target.states[int(at[0])], f" given {listed(parents)}" if parents else ""
        raise InvalidArgument(
            f"The column {shown(name)} has no variance left in the class {shown(state)}{given_parents}: give "
            "it a prior, prior=1, or cut it into states with bins=."
        )
    return made, cells, added


def _repeated(statistics: GaussianStatistics, many: int) -> GaussianStatistics:
    s = statistics
    return GaussianStatistics(*(np.repeat(part, many, axis=0) for part in (s.weight, s.mean, s.scatter)))


class Lines:
    """Log densities of continuous columns, for rows whose parents are all observed."""

    def __init__(self, cpds: Mapping[str, LinearGaussian]) -> None:
        """Take linear Gaussians; the first parent of each is the class."""
        self.cpds = dict(cpds)

    def add(
        self, codes: Mapping[str, np.ndarray], values: Mapping[str, np.ndarray], sums: np.ndarray
    ) -> np.ndarray:
        """Add to each row the log density of its continuous values; one that is missing adds nothing.

        Args:
            codes: of the discrete columns.
            values: of the continuous columns.
            sums: what to add to, a row for each row, a column for each class.
        """
        k = sums.shape[1]
        for name, cpd in self.cpds.items():
            switches = [v for v in cpd.given[1:] if not v.continuous]
            causes = [v.name for v in cpd.given if v.continuous]
            at = np.zeros(len(sums), np.int64)
            for v in switches:
                at = at * v.card + codes[v.name]
            bias, sd = np.asarray(cpd.bias).reshape(k, -1), np.asarray(cpd.sd).reshape(k, -1)
            slopes = np.asarray(cpd.weights).reshape(k, bias.shape[1], len(causes))
            x = values[name]
            off = x[:, None] - bias[:, at].T
            for i, cause in enumerate(causes):
                off -= slopes[:, at, i].T * values[cause][:, None]
            sds = sd[:, at].T
            logs = log_standard_normal(off / sds) - np.log(sds)
            logs[np.isnan(x)] = 0.0
            sums += logs
        return sums
