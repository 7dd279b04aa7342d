"""Voronoi neighbours: by Qhull in few columns, by linear programs in more."""

from __future__ import annotations

from typing import Any

import numpy as np

from pgm.errors import TooLarge
from pgm.runtime.clock import Clock
from pgm.runtime.progress import report

from .searching import loop

FEW = 4  # columns up to which Qhull is asked
_TRIES = 64  # rays from each row
_SURE = 1e-9  # of the distance to the nearest row: how wide a wall is at least
_SECONDS = 2e-8  # of a linear program, for each of its coefficients


def voronoi_neighbours(rows: np.ndarray) -> np.ndarray | None:
    """Pairs of rows whose cells share a wall, by Qhull; None: it cannot tell, and programs can.

    Args:
        rows: different places.

    >>> voronoi_neighbours(np.array([[0.0], [1.0], [5.0]])).tolist()
    [[0, 1], [1, 2]]
    """
    n, d = rows.shape
    if d == 1:
        order = np.argsort(rows[:, 0])
        return np.sort(np.column_stack([order[:-1], order[1:]]), axis=1)
    if d > FEW or n < d + 2:
        return None
    from scipy.spatial import QhullError, Voronoi

    try:
        found: Any = Voronoi(rows)
    except QhullError:  # all in one plane
        return None
    return np.sort(np.asarray(found.ridge_points, np.int64), axis=1)


def border_rows(rows: np.ndarray, codes: np.ndarray, most: int, clock: Clock) -> np.ndarray:
    """Mark the rows one of whose Voronoi neighbours is of another class.

    Args:
        rows: places, some of which may be equal: where these have several classes, they are marked.
        codes: the class of each.
        most: how many linear programs may be solved.
        clock: the time of the question.
    """
    places, of = np.unique(rows, axis=0, return_inverse=True)
    of = of.reshape(-1)
    own = np.full(len(places), -1)
    own[of] = codes
    mixed = np.zeros(len(places), bool)
    mixed[of[own[of] != codes]] = True
    marked = mixed.copy()
    if len(places) > 1:
        pairs = voronoi_neighbours(places)
        if pairs is None:
            marked |= _by_programs(places, own, mixed, most, clock)
        else:
            a, b = pairs.T
            apart = (own[a] != own[b]) | mixed[a] | mixed[b]
            marked[a[apart]] = marked[b[apart]] = True
    return np.asarray(marked[of])


def _by_programs(
    rows: np.ndarray, codes: np.ndarray, mixed: np.ndarray, most: int, clock: Clock
) -> np.ndarray:
    """The same of different places: rays settle most, the rest is settled by linear programs."""
    n, d = rows.shape
    codes = np.where(mixed, codes.max() + 1 + np.arange(n), codes)  # places of two are strangers to all
    near, far = np.empty(n, np.int64), np.empty(n)
    flat, kept = np.ascontiguousarray(rows).reshape(-1), np.zeros(n, np.int64)
    columns = np.ravel(rows, "F")
    loop("nearest_stranger", columns, d, flat, codes, near, far, steps=0.5 * n * rows.size, clock=clock)
    steps = float(n) * n * d * _TRIES / 4
    loop("meets_stranger", flat, d, codes, near, _TRIES, kept, steps=steps, clock=clock)
    marked = kept.astype(bool)
    left = np.flatnonzero(~marked)
    strangers = n - np.bincount(codes)[codes[left]]
    programs = int(strangers.sum())
    if programs > most:
        hours = programs * n * d * _SECONDS / 3600
        raise TooLarge(
            f"Voronoi editing of {n:,} places in {d} columns needs up to {programs:,} linear programs of "
            f"{n - 1:,} constraints each, about {hours:.2g} hours, and programs={most:,} are allowed. Raise "
            'that, take fewer rows or columns (up to four need no programs), or method="condensing".'
        )
    done = 0
    for i, row in enumerate(left.tolist()):
        others = np.flatnonzero(codes != codes[row])
        order = others[np.argsort(((rows[others] - rows[row]) ** 2).sum(axis=1), kind="stable")]
        clock.check("linear programs")
        report(done, programs, "Voronoi editing: linear programs")
        marked[row] = any(_share_a_wall(rows, row, other) for other in order.tolist())
        done += int(strangers[i])
    report(programs, programs, "Voronoi editing: linear programs")
    return marked


def _share_a_wall(rows: np.ndarray, one: int, other: int) -> bool:
    """Whether a place is equally far from both, and farther from all others."""
    from scipy.optimize import linprog

    off = np.delete(rows, one, axis=0) - rows[one]
    other -= other > one
    length = np.sqrt((off**2).sum(axis=1))
    off, half = off / length[:, None], 0.5 * length
    scale = half.min()
    half /= scale
    rest = np.arange(len(off)) != other
    if not rest.any():
        return True
    d = off.shape[1]
    found: Any = linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=np.column_stack([off[rest], np.ones(rest.sum())]),
        b_ub=half[rest],
        A_eq=np.append(off[other], 0.0)[None],
        b_eq=half[other : other + 1],
        bounds=[(None, None)] * d + [(None, 1.0)],
        method="highs",
    )
    return bool(found.status == 0 and found.x[-1] > _SURE)
