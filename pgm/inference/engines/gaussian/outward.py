"""Densities of all continuous variables at once, from the outward pass through the tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from pgm.inference.engines.exact.posterior import exactly
from pgm.inference.engines.gaussian import elimination
from pgm.inference.engines.gaussian.strong_tree import StrongTreeLayout
from pgm.results import Density, Report, as_density
from pgm.runtime.running import GAUSSIAN, run
from pgm.variables import Variable

if TYPE_CHECKING:
    from pgm.inference.engines.gaussian.hybrid import HybridSums, Solved

_FEW = 2  # joint tables that are computed one by one; if there are more, from the tree at once


def densities(
    posterior: HybridSums, by_position: Mapping[int, Variable], flat: np.ndarray, report: Report
) -> Callable[[str], Density]:
    """The density of each unobserved continuous variable; `flat` has all discrete marginals."""
    if posterior.intervals:
        posterior.refuse_truncated([], always=True)
    posterior.refuse_unknown(np.isin(posterior.gaussians.positions, list(by_position)))
    if not posterior.at_once():  # one by one, each with the variables relevant to it
        each = {}
        for v, variable in by_position.items():
            posterior.clock.check()
            each[variable.name] = posterior.density([v], (variable,), report)
            posterior.solved.clear()
        return each.__getitem__
    solved = posterior.solve(everything=True)
    made = solved.made
    assert made is not None
    layout, t = made.layout, made.layout.tree
    weights = all_weights(posterior, solved, made.layout, flat)
    order = np.arange(t.parent.size)[::-1].copy()
    found = elimination.moments(made, order, weights, posterior.clock)
    n = posterior.gaussians.n
    centre, variance = np.zeros(n), np.zeros(n)
    run(
        "overall", t, order, found.weight, found.mean, found.cov, np.zeros(n), centre, variance,
        np.zeros(2, np.int64), steps=layout.steps, clock=posterior.clock, module=GAUSSIAN,
    )  # fmt: skip
    home = np.full(n, -1, np.int64)
    column = np.zeros(n, np.int64)
    clique = np.repeat(np.arange(t.parent.size), np.diff(t.column_at))
    within = np.arange(t.columns.size) - t.column_at[:-1][clique]
    own = within < t.own[clique]
    home[t.columns[own]], column[t.columns[own]] = clique[own], within[own]
    n_axes = np.diff(t.axis_at)
    root = layout.roots()
    index_of = {posterior.names[v]: int(posterior.gaussians.index_of[v]) for v in by_position}

    def make(name: str) -> Density:
        x = index_of[name]
        variable = (by_position[int(posterior.gaussians.positions[x])],)
        c, j = int(home[x]), int(column[x])
        if n_axes[c] < n_axes[root[c]]:
            moments = np.ones(1), centre[x].reshape(1, 1), variance[x].reshape(1, 1, 1)
            return as_density(variable, *moments, report, "moments")
        w = found.weight[t.log_at[c] : t.log_at[c + 1]]
        width = int(t.column_at[c + 1] - t.column_at[c])
        used = np.flatnonzero(w > 0)
        mean = found.mean[t.mean_at[c] : t.mean_at[c + 1]].reshape(-1, width)[used, j]
        cov = found.cov[t.cov_at[c] : t.cov_at[c + 1]].reshape(-1, width, width)[used, j, j]
        return as_density(variable, w[used] / w[used].sum(), mean[:, None], cov[:, None, None], report)

    return make


def all_weights(
    posterior: HybridSums, solved: Solved, layout: StrongTreeLayout, flat: np.ndarray
) -> dict[int, np.ndarray]:
    """P(configuration | evidence) of every root clique; `flat` has all discrete marginals."""
    t, state_at = layout.tree, posterior.program.arrays.state_at
    roots = np.flatnonzero(t.parent < 0).tolist()
    axes_of = {c: t.axes[t.axis_at[c] : t.axis_at[c + 1]].tolist() for c in roots}
    several = {tuple(sorted(axes)) for axes in axes_of.values() if len(axes) > 1}
    joints: dict[tuple[int, ...], np.ndarray] = {}
    if len(several) > _FEW:
        counts = exactly(solved.discrete).expected_counts()
        joints = {key: counts[solved.factor(key)] for key in several}
    found = {}
    for c, axes in axes_of.items():
        if len(axes) < 2:
            found[c] = flat[state_at[axes[0]] : state_at[axes[0] + 1]] if axes else np.ones(1)
            continue
        key = tuple(sorted(axes))
        if key not in joints:
            joints[key] = solved.discrete.joint(key)
        table = joints[key].reshape([int(layout.cards[v]) for v in key])
        found[c] = table.transpose([key.index(v) for v in axes]).ravel()
    return found
