"""Expected sufficient statistics of rows with one pattern of observed variables, many rows at once.

Under each configuration of the discrete variables that select densities, hidden variables are normal given
the observed ones: their mean differs from row to row, their covariance does not. So the statistics of a
density are those of the rows filled in with means, weighted by the posterior of the configuration, plus the
covariance once for all rows. The discrete part becomes rows of states with weights, which are counted
together afterwards (Lauritzen 1995).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pgm.distributions.gaussian_statistics import GaussianStatistics, complete_statistics
from pgm.frames.soft_cells import SoftCells
from pgm.inference.engines.exact.posterior import Posterior
from pgm.inference.engines.gaussian.row_patterns import Linked, Pattern, Rows
from pgm.inference.program.continuous import Gaussians


class RowStatistics(Rows):
    """Rows with codes, values and weights, whose expected statistics are summed."""

    def __init__(
        self,
        posterior: Posterior,
        gaussians: Gaussians,
        codes: Mapping[int, np.ndarray],
        values: Mapping[int, np.ndarray],
        weights: np.ndarray,
        linked: Linked | None = None,
        soft: Mapping[int, SoftCells] | None = None,
    ) -> None:
        """Take in the rows; see `Rows`."""
        every = [x for x in range(gaussians.n) if x not in gaussians.own]  # those have no such statistics
        super().__init__(posterior, gaussians, codes, values, weights.size, [], every, linked, soft)
        self.weights = weights
        self.densities: dict[int, GaussianStatistics] = {}
        # Configurations of discrete variables, -1 where open, each with its weight.
        self.configurations: list[tuple[np.ndarray, np.ndarray]] = []
        self._found: list[tuple[Any, ...]] = []

    def _about(self, observed: list[int]) -> list[int]:
        return list(range(self.gaussians.index_of.size))  # every family counts; the others are in gates

    def _fill(self, rows: np.ndarray, *args: Any) -> None:
        """Add the statistics of a group only if all of its rows were answered without an error."""
        self._found = []
        super()._fill(rows, *args)
        for part, joint, at, pattern, values, means in self._found:
            self._add(part, joint, at, pattern, values, means)

    def _use(
        self,
        part: np.ndarray,
        joint: np.ndarray,
        at: np.ndarray,
        pattern: Pattern,
        values: np.ndarray,
        means: list[np.ndarray],
    ) -> None:
        weights = np.where(self.found.done[part], self.weights[part], 0.0)
        shares = np.where(weights > 0.0, joint, 0.0) * weights
        self._found.append((part, shares, at, pattern, values, means))

    def _add(
        self,
        part: np.ndarray,
        shares: np.ndarray,
        at: np.ndarray,
        pattern: Pattern,
        values: np.ndarray,
        means: list[np.ndarray],
    ) -> None:
        self._add_configurations(shares, at, pattern)
        for x in pattern.normals.order:
            if x in self.gaussians.own:
                continue
            self._add_density(x, shares, pattern, values, means)

    def _add_configurations(self, shares: np.ndarray, at: np.ndarray, pattern: Pattern) -> None:
        axes, others = pattern.normals.axes, pattern.others
        shape = [int(self.cards[v]) for v in others]
        n = math.prod(shape)
        weights = np.array([np.bincount(at, row, minlength=n) for row in shares]).reshape(-1)
        rows = np.full((weights.size, self.cards.size), -1, np.int32)
        dims = [*(int(self.cards[v]) for v in axes), *shape]
        grid = np.unravel_index(np.arange(weights.size), dims) if dims else ()
        for v, codes in zip((*axes, *others), grid, strict=True):
            rows[:, v] = codes
        for v, code in pattern.fixed.items():
            rows[:, v] = code
        there = weights > 0.0
        self.configurations.append((rows[there], weights[there]))

    def _add_density(
        self, x: int, shares: np.ndarray, pattern: Pattern, values: np.ndarray, means: list[np.ndarray]
    ) -> None:
        d = self.gaussians.arrays
        family = [*d.parents[d.parent_at[x] : d.parent_at[x + 1]].tolist(), x]
        seen, hidden = pattern.seen, pattern.hidden
        if all(y in seen for y in family):
            filled = np.ascontiguousarray(values[[seen.index(y) for y in family]].T)
            found = complete_statistics(filled, np.ascontiguousarray(shares.T))
        else:
            open_ = [i for i, y in enumerate(family) if y not in seen]
            places = [hidden.index(family[i]) for i in open_]
            each = []
            filled = np.empty((shares.shape[1], len(family)))
            for i, y in enumerate(family):
                if y in seen:
                    filled[:, i] = values[seen.index(y)]
            for k, share in enumerate(shares):
                for i, place in zip(open_, places, strict=True):
                    filled[:, i] = means[place][k]
                one = complete_statistics(filled, np.ascontiguousarray(share[:, None]))
                left = pattern.conditional.left[k][np.ix_(places, places)]
                one.scatter[0][np.ix_(open_, open_)] += one.weight[0] * left
                each.append(one)
            found = GaussianStatistics(*(np.concatenate([getattr(e, f) for e in each]) for f in _PARTS))
        row = pattern.normals.rows[x] - d.row_at[x]
        total = merged(found, row, int(d.row_at[x + 1] - d.row_at[x]))
        v = int(self.gaussians.positions[x])
        self.densities[v] = self.densities[v] + total if v in self.densities else total


_PARTS = ("weight", "mean", "scatter")


def merged(found: GaussianStatistics, row: np.ndarray, count: int) -> GaussianStatistics:
    """The statistics of `count` groups of components: `row` is the group of each component.

    >>> two = GaussianStatistics(np.ones(2), np.array([[0.0], [2.0]]), np.zeros((2, 1, 1)))
    >>> merged(two, np.array([0, 0]), 1).scatter.tolist()
    [[[2.0]]]
    """
    k, dim = found.mean.shape
    member = np.zeros((count, k))
    member[row, np.arange(k)] = 1.0
    weight = member @ found.weight
    share = np.divide(1.0, weight, out=np.zeros_like(weight), where=weight > 0.0)
    mean = member @ (found.weight[:, None] * found.mean) * share[:, None]
    off = found.mean - mean[row]
    spread = found.scatter + found.weight[:, None, None] * off[:, :, None] * off[:, None, :]
    return GaussianStatistics(weight, mean, (member @ spread.reshape(k, -1)).reshape(count, dim, dim))
