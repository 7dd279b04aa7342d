"""Expected sufficient statistics of densities: weight, mean and scatter of each family in each of its rows.

A family is a continuous variable with its parents. Elimination leaves the exact first two moments of every
clique for each of its configurations, and mixing configurations keeps them exact (Lauritzen 1995).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pgm.distributions.gaussian_statistics import GaussianStatistics
from pgm.inference.engines.gaussian import elimination
from pgm.inference.program.continuous import starts
from pgm.runtime.running import GAUSSIAN, run

if TYPE_CHECKING:
    from pgm.inference.engines.gaussian.elimination import Eliminated, Moments
    from pgm.inference.engines.gaussian.hybrid import HybridPosterior

Weights = Callable[[Sequence[int]], np.ndarray]  # P(states of these discrete variables | evidence)


def expected_moments(posterior: HybridPosterior, weights: Weights) -> dict[int, GaussianStatistics]:
    """The statistics of each continuous variable, by its position; `weights` come from the exact engine."""
    if posterior.intervals:
        posterior.refuse_truncated([], always=True)
    g, rows = posterior.gaussians, _Rows(posterior)
    solved = posterior.solve(everything=posterior.at_once())
    if solved.made is not None:
        rows.add_observed(solved.made, weights)
    if posterior.at_once():
        made = solved.made
        if made is None or not made.layout.tree.parent.size:
            return rows.statistics()
        t = made.layout.tree
        roots = np.flatnonzero(t.parent < 0).tolist()
        shares = {c: weights(t.axes[t.axis_at[c] : t.axis_at[c + 1]].tolist()).ravel() for c in roots}
        parents_first = np.arange(t.parent.size)[::-1].copy()
        found = elimination.moments(made, parents_first, shares, posterior.clock)
        rows.add(made, found, parents_first, np.ones(g.n, np.uint8))
        return rows.statistics()
    d = g.arrays
    for x in range(g.n):  # one by one, each with the variables relevant to it
        family = [*d.parents[d.parent_at[x] : d.parent_at[x + 1]].tolist(), x]
        hidden = [y for y in family if not posterior.seen[y]]
        if not hidden or posterior.unknown[hidden].any():
            continue
        posterior.clock.check()
        posterior.solved.clear()
        alone = posterior.solve(hidden)
        assert alone.made is not None
        c, _ = posterior.place(alone.made.layout, hidden[0])
        own = np.array([c])
        found = elimination.moments(alone.made, own, {c: posterior.weights(alone, c)}, posterior.clock)
        rows.add(alone.made, found, own, (np.arange(g.n) == x).astype(np.uint8))
    return rows.statistics()


class _Rows:
    """Weight, mean and covariance for each row of each density."""

    def __init__(self, posterior: HybridPosterior) -> None:
        """Make room for all densities of a model; every row starts with weight zero."""
        self._posterior, d = posterior, posterior.gaussians.arrays
        self._counts, self._sizes = np.diff(d.row_at), np.diff(d.parent_at) + 1
        self._mean_at = starts(self._counts * self._sizes)
        self._cov_at = starts(self._counts * self._sizes**2)
        self._weight = np.zeros(int(d.row_at[-1]))
        self._mean = np.zeros(int(self._mean_at[-1]))
        self._cov = np.zeros(int(self._cov_at[-1]))
        self._digit = np.zeros(posterior.gaussians.index_of.size, np.int64)
        for v, code in posterior.known.hard.items():
            self._digit[v] = code

    def add(self, made: Eliminated, found: Moments, cliques: np.ndarray, wanted: np.ndarray) -> None:
        """Add the statistics of the wanted variables whose densities belong to these cliques."""
        at, layout = self._posterior, made.layout
        run(
            "families", at.gaussians.arrays, layout.tree, cliques, wanted, layout.cards, self._digit.copy(),
            at.seen, at.value, np.zeros(at.gaussians.n, np.int64), found.weight, found.mean, found.cov,
            self._mean_at, self._cov_at, self._weight, self._mean, self._cov,
            steps=layout.steps, clock=at.clock, module=GAUSSIAN,
        )  # fmt: skip

    def add_observed(self, made: Eliminated, weights: Weights) -> None:
        """Add the statistics of the variables with no hidden continuous variable in their family."""
        layout, d, value = made.layout, self._posterior.gaussians.arrays, self._posterior.value
        for i, x in enumerate(layout.plain.tolist()):
            axes = layout.plain_axes[layout.plain_axis_at[i] : layout.plain_axis_at[i + 1]].tolist()
            switches = d.switches[d.switch_at[x] : d.switch_at[x + 1]].tolist()
            rows = np.arange(d.row_at[x], d.row_at[x + 1]).reshape([int(layout.cards[v]) for v in switches])
            rows = rows[tuple([slice(None) if v in axes else int(self._digit[v]) for v in switches])]
            self._weight[rows] = weights(axes).reshape(rows.shape)
            members = value[[*d.parents[d.parent_at[x] : d.parent_at[x + 1]], x]]
            self._mean[self._mean_at[x] : self._mean_at[x + 1]] = np.tile(members, self._counts[x])

    def statistics(self) -> dict[int, GaussianStatistics]:
        """The statistics of all densities, by the positions of their variables."""
        found, d = {}, self._posterior.gaussians.arrays
        for x, v in enumerate(self._posterior.gaussians.positions.tolist()):
            k, n = int(self._counts[x]), int(self._sizes[x])
            weight = self._weight[d.row_at[x] : d.row_at[x + 1]].copy()
            mean = self._mean[self._mean_at[x] : self._mean_at[x + 1]].reshape(k, n).copy()
            cov = self._cov[self._cov_at[x] : self._cov_at[x + 1]].reshape(k, n, n)
            found[v] = GaussianStatistics(weight, mean, weight[:, None, None] * cov)
        return found
