"""Columns of numbers that are normal given the class and other columns: lines learned, and what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pgm.cpds import LinearGaussian
from pgm.distributions.gaussian_statistics import GaussianStatistics
from pgm.errors import InvalidArgument, listed, shown

from .training import Training

_LOG_2PI = float(np.log(2.0 * np.pi))


def with_belief(cells: GaussianStatistics, above: GaussianStatistics, rows: float) -> GaussianStatistics:
    """Statistics of cells, with so many rows more in each that vary as those above do.

    >>> one = GaussianStatistics(np.array([2.0]), np.array([[0.0]]), np.array([[[6.0]]]))
    >>> with_belief(times(one, 0.0), one, 1.0).scatter.tolist()
    [[[3.0]]]
    """
    if rows == 0.0:
        return cells
    one = np.divide(rows, above.weight, out=np.zeros_like(above.weight), where=above.weight > 0.0)
    return cells + GaussianStatistics(above.weight * one, above.mean, above.scatter * one[:, None, None])


def learned_line(data: Training, name: str, parents: Sequence[str], rows: float) -> LinearGaussian:
    """A column of numbers as a line in numbers among its parents, for each class and state of the others.

    Rows are added that vary as those around: to each class as all, to each state in it as the class.

    Args:
        data: the rows; those with a gap in the family are left out.
        name: of the column.
        parents: others, besides the class.
        rows: how many are added.
    """
    child, given = data.variables[name], [data.variables[p] for p in parents]
    switches, causes = [v for v in given if not v.continuous], [v for v in given if v.continuous]
    there = ~np.isnan(data.values[name])
    for v in switches:
        there &= data.codes[v.name] >= 0
    for v in causes:
        there &= ~np.isnan(data.values[v.name])
    numbers = np.column_stack([data.values[v.name][there] for v in (*causes, child)])
    codes = np.column_stack([data.labels[there], *(data.codes[v.name][there] for v in switches)])
    weights = data.weights[there]
    levels = [
        LinearGaussian.standard(child, tuple([*given_, *causes]))
        for given_ in ([], [data.target], [data.target, *switches])
    ]
    wide = levels[0].gathered(codes[:, :0], numbers, weights)
    if not wide.scatter[0, -1, -1] > 0.0:
        raise InvalidArgument(
            f"The column {shown(name)} has one value in all rows, or none beside its parents: it tells "
            "nothing of the class. Leave it out."
        )
    found = wide
    for cpd, width in zip(levels[1:], (1, codes.shape[1])[: 1 + bool(switches)], strict=False):
        cells = cpd.gathered(codes[:, :width], numbers, weights)
        many = cells.weight.size // found.weight.size
        found = with_belief(cells, _repeated(found, many), rows)
    made: LinearGaussian = levels[2].fitted(found)
    sd = np.asarray(made.sd)
    if not (sd > 0.0).all():
        at = np.unravel_index(int((sd <= 0.0).argmax()), sd.shape)
        state, beside = data.target.states[int(at[0])], f" beside {listed(parents)}" if parents else ""
        raise InvalidArgument(
            f"The column {shown(name)} has no variance left in the class {shown(state)}{beside}: give it a "
            "prior, prior=1, or cut its numbers into states with bins=."
        )
    return made


def _repeated(statistics: GaussianStatistics, many: int) -> GaussianStatistics:
    s = statistics
    return GaussianStatistics(*(np.repeat(part, many, axis=0) for part in (s.weight, s.mean, s.scatter)))


class Lines:
    """Log densities of columns of numbers, for rows whose parents are all there."""

    def __init__(self, cpds: Mapping[str, LinearGaussian]) -> None:
        """Take the lines; the first parent of each is the class."""
        self.cpds = dict(cpds)

    def add(
        self, codes: Mapping[str, np.ndarray], values: Mapping[str, np.ndarray], sums: np.ndarray
    ) -> np.ndarray:
        """Add to each row what its numbers say; where one is missing its line says nothing.

        Args:
            codes: of the columns of states.
            values: of the columns of numbers.
            sums: a row for each row, a column for each class.
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
            logs = -0.5 * ((off / sds) ** 2 + _LOG_2PI) - np.log(sds)
            logs[np.isnan(x)] = 0.0
            sums += logs
        return sums
