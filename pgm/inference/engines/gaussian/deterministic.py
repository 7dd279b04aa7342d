"""The joint density where some variables are functions of others: with respect to which measure.

It is the density of the hidden variables with noise; if observed ones without noise constrain them by
equations C x = b, it is the density on that affine subspace, with respect to its Euclidean measure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pgm.errors import InvalidArgument, listed
from pgm.inference.program.continuous import Gaussians
from pgm.runtime.room import check_room

if TYPE_CHECKING:
    from pgm.inference.engines.gaussian.elimination import Eliminated
    from pgm.inference.engines.gaussian.hybrid import HybridSums

_HARD = 2  # as in compiled.py


def check_comparable(posterior: HybridSums) -> None:
    """Raise if hidden states decide what is a function of what: their densities are not comparable."""
    d = posterior.gaussians.arrays
    exact = np.flatnonzero(d.sd == 0.0)
    owners = np.unique(np.searchsorted(d.row_at, exact, side="right") - 1)
    wrong = []
    for x in owners[np.diff(d.row_at)[owners] > 1].tolist():
        rows = np.arange(d.row_at[x], d.row_at[x + 1])
        switches = d.switches[d.switch_at[x] : d.switch_at[x + 1]].tolist()
        rows = rows.reshape([int(posterior.program.arrays.cards[v]) for v in switches])
        rows = rows[tuple([posterior.known.hard.get(v, slice(None)) for v in switches])].ravel()
        k = int(d.parent_at[x + 1] - d.parent_at[x])
        weights = d.weights[d.weight_at[x] : d.weight_at[x + 1]]
        weights = weights.reshape(int(d.row_at[x + 1] - d.row_at[x]), k)[rows - d.row_at[x]]
        exact_too = d.sd[rows] == 0.0
        if exact_too.any() and not (exact_too.all() and (weights == weights[0]).all()):
            wrong.append(x)
    if wrong:
        names = posterior.named(wrong)
        what = "follows from its parents" if len(names) == 1 else "follow from their parents"
        raise InvalidArgument(
            f"{listed(names)} {what} without noise (sd = 0) for some states of the discrete parents but not "
            "for others: their densities cannot be compared. Observe these parents, ask for marginals, or "
            "sample."
        )


def stretch(posterior: HybridSums, made: Eliminated, states: np.ndarray) -> float:
    """What must be added to the result of elimination for the logarithm of that density.

    Elimination solves equations for whichever variable comes first, and integrates over the rest.
    """
    g, t = posterior.gaussians, made.layout.tree
    log = 0.0
    at = np.flatnonzero(made.kinds == _HARD)
    cliques = np.searchsorted(t.kind_at, at, side="right") - 1
    for c in np.unique(cliques).tolist():
        axes = t.axes[t.axis_at[c] : t.axis_at[c + 1]]
        conf = int(np.ravel_multi_index(states[axes], made.layout.cards[axes])) if axes.size else 0
        own, n = int(t.own[c]), int(t.column_at[c + 1] - t.column_at[c])
        mine = at[cliques == c] - t.kind_at[c] - conf * own
        mine = mine[(mine >= 0) & (mine < own)]
        log += float(np.log(np.abs(made.rows[t.row_at[c] + conf * own * (n + 1) + mine * (n + 2)])).sum())
    bound = _equations(g, posterior.seen, chosen_rows(posterior, states))
    if bound.size:
        log -= 0.5 * float(np.linalg.slogdet(bound @ bound.T)[1])
    return log


def chosen_rows(posterior: HybridSums, states: np.ndarray) -> np.ndarray:
    """The row of each variable's density that these states of all discrete variables select."""
    d, cards = posterior.gaussians.arrays, posterior.program.arrays.cards
    rows = d.row_at[:-1].copy()
    for x in np.flatnonzero(np.diff(d.switch_at)).tolist():
        switches = d.switches[d.switch_at[x] : d.switch_at[x + 1]]
        rows[x] += np.ravel_multi_index(states[switches], cards[switches])
    return rows


def _equations(g: Gaussians, seen: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The coefficients C of the constraints of observed variables without noise on hidden ones with noise."""
    import scipy.sparse.linalg

    d = g.arrays
    exact = d.sd[rows] == 0.0
    followers, free = np.flatnonzero(exact), np.flatnonzero(~exact & (seen == 0))
    observed = np.flatnonzero(seen[followers] != 0)
    if not observed.size:
        return np.zeros((0, 0))
    check_room(
        8.0 * observed.size * (followers.size + free.size),
        f"{observed.size:,} observed variables without noise (sd = 0) constrain {free.size:,} others: the "
        "matrix of these constraints takes",
        "Ask for marginals, sample",
    )
    counts = np.diff(d.parent_at)
    k = counts[followers]
    ends = np.cumsum(k)
    each = np.arange(int(ends[-1]) if k.size else 0) - np.repeat(ends - k, k)
    begins = d.weight_at[followers] + (rows[followers] - d.row_at[followers]) * k
    weights = d.weights[np.repeat(begins, k) + each]
    parents = d.parents[np.repeat(d.parent_at[followers], k) + each]
    of = np.repeat(np.arange(followers.size), k)
    all_ = scipy.sparse.csc_matrix((weights, (of, parents)), shape=(followers.size, g.n))
    inner = scipy.sparse.identity(followers.size, format="csc") - all_[:, followers]
    unit = np.zeros((followers.size, observed.size))
    unit[observed, np.arange(observed.size)] = 1.0
    reach = scipy.sparse.linalg.splu(inner.T.tocsc()).solve(unit)  # observed rows of the inverse, as columns
    found: np.ndarray = (all_[:, free].T @ reach).T
    return np.asarray(found[np.abs(found).max(axis=1, initial=0.0) > 0.0])
