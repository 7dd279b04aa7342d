"""Exact diffuse initialisation: unknown coefficients of the first state, found by least squares.

A diffuse first state is an unknown vector c (de Jong 1991): means are affine in it, x = a + B c, covariances
given c are those of the ordinary filter, and each innovation is one equation for c. Observations determine c
sooner or later; until then some variances are infinite.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pgm.results import Matrices
from pgm.runtime.clock import Clock

from .arrays import looped

if TYPE_CHECKING:
    from .passes import Run

_RANK = 1e-10  # a singular value this much smaller than the largest is zero


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """What one unit of each unknown adds to the means and to the predicted observations."""

    predicted: np.ndarray  # (T, n, k)
    filtered: np.ndarray
    smoothed: np.ndarray | None
    entries: np.ndarray  # (T, m, k)

    @classmethod
    def of(
        cls,
        predicted: np.ndarray,
        filtered: np.ndarray,
        smoothed: np.ndarray | None,
        innovations: np.ndarray,
        k: int,
    ) -> Columns:
        """Take them from means and innovations of k concatenated series of zeros, one for each unknown."""

        def stacked(rows: np.ndarray) -> np.ndarray:
            return np.asarray(rows.reshape(k, -1, rows.shape[1]).transpose(1, 2, 0))

        back = None if smoothed is None else stacked(smoothed)
        return cls(stacked(predicted), stacked(filtered), back, -stacked(innovations))


class _Found(NamedTuple):
    """The unknowns given the equations up to each step."""

    centre: np.ndarray  # (T, k)
    root: np.ndarray  # (T, k, k): the covariance is root root'
    free: np.ndarray  # (T, k, k): the projection on what is not determined
    log: np.ndarray  # (T,) half the logarithm of the determinant of the information


def known(
    run: Run,
    columns: Columns,
    innovations: np.ndarray,
    variances: np.ndarray,
    slot: np.ndarray,
    clock: Clock,
    before: np.ndarray | None = None,
) -> tuple[Run, np.ndarray]:
    """The run of a series with its unknowns estimated, and the state of these equations for steps to come.

    `before` is that state, as returned for the steps directly before these.

    Log densities are relative to the infinitely wide start: for each unknown that is determined, the standard
    deviation of its start is multiplied in, as in Durbin & Koopman 2012, section 7.2.
    """
    T, m, k = columns.entries.shape
    shocks = np.concatenate([columns.entries, innovations[:, :, None]], axis=2).reshape(T * m, k + 1)
    if before is None:
        before = np.zeros(k * (k + 1) + 2)
    triangles, rest = np.empty((T, k * (k + 1))), np.empty(T)
    args = (np.ascontiguousarray(shocks), variances, slot, before, triangles, rest)
    looped("regress", *args, steps=T * m * (k + 1) ** 2, clock=clock)
    each = _solved(triangles.reshape(T, k, k + 1))
    nothing = _solved(np.zeros((1, k, k + 1)))
    prior = _Found(*(np.concatenate([a, b[:-1]]) for a, b in zip(nothing, each, strict=True)))
    constants = run.log + 0.5 * _squares(innovations, variances, slot)
    constants[0] += before[-1]
    sums = np.cumsum(constants)
    total = sums - 0.5 * rest - each.log
    changes: dict[str, Any] = {
        "log": np.diff(total, prepend=0.0),
        **_stage("predicted", run.predicted, run.predicted_covariance, columns.predicted, prior),
        **_stage("filtered", run.filtered, run.filtered_covariance, columns.filtered, each),
    }
    if run.smoothed is not None and run.smoothed_covariance is not None and columns.smoothed is not None:
        last = _Found(*(np.repeat(x[-1:], T, axis=0) for x in each))
        changes |= _stage("smoothed", run.smoothed, run.smoothed_covariance, columns.smoothed, last)
        B = columns.smoothed
        finite, wide = _widened(run.lag_one(), B[:-1], B[1:], _Found(*(x[1:] for x in last)))
        changes["cross"] = Matrices(finite, np.arange(T - 1), wide).all()
    if before_it := changes.pop("predicted_covariance", None):
        changes["predicted_later"] = lambda: before_it
    return replace(run, **changes), np.concatenate([triangles[-1], rest[-1:], sums[-1:]])


def _squares(innovations: np.ndarray, variances: np.ndarray, slot: np.ndarray) -> np.ndarray:
    """The sum of squares of each step that the ordinary filter has counted."""
    own = variances[slot]
    squares = np.divide(innovations**2, own, out=np.zeros_like(own), where=own > 0)
    return np.asarray(squares.sum(axis=1))


def _solved(triangles: np.ndarray) -> _Found:
    """The least squares solution for each triangle (T, k, k + 1), whose last column is the right-hand side.

    Each triangle holds all equations so far. Where they do not determine the unknowns, the solution is the
    one of smallest norm.
    """
    R, z = triangles[:, :, :-1], triangles[:, :, -1:]
    T, k = R.shape[:2]
    first, last = 0, T  # bisection for the first step at which all is determined, as it then stays
    while first < last:
        middle = (first + last) // 2
        first, last = (first, middle) if _rank(R[middle]) == k else (middle + 1, last)
    root, centre = np.zeros((T, k, k)), np.zeros((T, k))
    free, log = np.zeros((T, k, k)), np.zeros(T)
    root[first:] = np.linalg.inv(R[first:])
    log[first:] = np.log(np.abs(np.diagonal(R[first:], axis1=1, axis2=2))).sum(axis=1)
    centre[first:] = (root[first:] @ z[first:])[:, :, 0]
    for t in range(first):
        rank = _rank(R[t])
        U, s, V = np.linalg.svd(R[t])
        root[t, :, :rank] = V[:rank].T / s[:rank]
        centre[t] = root[t] @ (U.T @ z[t, :, 0])
        free[t] = V[rank:].T @ V[rank:]
        log[t] = np.log(s[:rank]).sum()
    return _Found(centre, root, free, log)


def _rank(R: np.ndarray) -> int:
    """How many combinations of the unknowns are determined, whatever their units."""
    lengths = np.sqrt((R**2).sum(axis=0))
    scaled = R / np.where(lengths > 0, lengths, 1.0)
    return int((np.linalg.svd(scaled, compute_uv=False) > _RANK).sum())


def _stage(name: str, means: np.ndarray, table: Matrices | None, B: np.ndarray, c: _Found) -> dict[str, Any]:
    found = means + (B @ c.centre[:, :, None])[:, :, 0]
    if table is None:
        return {name: found}
    finite, wide = _widened(table.distinct[table.at], B, B, c)
    finite = (finite + finite.transpose(0, 2, 1)) / 2
    return {name: found, f"{name}_covariance": Matrices(finite, np.arange(len(B)), wide)}


def _widened(
    known: np.ndarray, A: np.ndarray, B: np.ndarray, c: _Found
) -> tuple[np.ndarray, np.ndarray | None]:
    """Covariances of x = a + A c and y = b + B c, given those for known c; and their infinite part."""
    found: np.ndarray = known + A @ c.root @ (B @ c.root).transpose(0, 2, 1)
    if not c.free.any():
        return found, None
    wide = A @ c.free @ B.transpose(0, 2, 1)
    sizes = np.sqrt((A**2).sum(axis=2))[:, :, None] * np.sqrt((B**2).sum(axis=2))[:, None, :]
    wide[np.abs(wide) <= _RANK * sizes] = 0.0
    return found, wide
