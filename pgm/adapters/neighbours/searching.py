"""Nearest-neighbour search, shared by all neighbour methods."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pgm.errors import InvalidArgument
from pgm.runtime.clock import Clock
from pgm.runtime.loops import Loops
from pgm.runtime.running import run

NEIGHBOURS = Loops("pgm.adapters.neighbours.compiled", "looking for neighbours")


class Nearest(NamedTuple):
    """The rows nearest to some others; of equals the first.

    Where a query has fewer than are looked for, the place is -1 and the distance infinite.
    """

    near: np.ndarray  # places, a row for each query
    far: np.ndarray  # squared distances
    looked: int  # coordinates that were looked at


def loop(name: str, *args: Any, steps: float, clock: Clock) -> None:
    """Call one of the loops of this folder, in a watched thread if long."""
    run(name, *args, steps=steps, clock=clock, module=NEIGHBOURS)


def nearest(rows: np.ndarray, queries: np.ndarray, k: int, clock: Clock, *, own: bool = False) -> Nearest:
    """The k rows nearest to each query in Euclidean distance; all distances are computed.

    Args:
        rows: the candidates.
        queries: the points whose neighbours are sought.
        k: how many.
        clock: the time of the question.
        own: query i is row i, and no neighbour of its own.
    """
    (n, d), m = rows.shape, len(queries)
    near, far = np.empty((m, k), np.int64), np.empty((m, k))
    columns = np.ascontiguousarray(rows.T).reshape(-1)
    loop(
        "nearest_of_all", columns, d, np.ascontiguousarray(queries).reshape(-1), int(own), k,
        near.reshape(-1), far.reshape(-1), steps=0.5 * m * n * d, clock=clock,
    )  # fmt: skip
    return Nearest(near, far, m * n * d)


def nearest_in_part(
    rows: np.ndarray,
    queries: np.ndarray,
    k: int,
    clock: Clock,
    *,
    ranges: tuple[np.ndarray, np.ndarray] | None = None,
    first: int = 0,
    limit: float = math.inf,
) -> Nearest:
    """The same, where distances are no longer added up once they are too large; see the loop.

    Args:
        rows: the candidates.
        queries: the points whose neighbours are sought.
        k: how many.
        clock: the time of the question.
        ranges: from which row to which each query looks; all if left out.
        first: columns after which a row may be given up for being too far away.
        limit: the squared distance that is too far.
    """
    m, n = len(queries), len(rows)
    near, far = np.empty((m, k), np.int64), np.empty((m, k))
    low, high = (np.zeros(m, np.int64), np.full(m, n)) if ranges is None else ranges
    looked = np.zeros(1, np.int64)
    loop(
        "nearest_in_part", rows.reshape(-1), rows.shape[1], queries.reshape(-1), low, high, first, limit, k,
        near.reshape(-1), far.reshape(-1), looked, steps=4.0 * m * n, clock=clock,
    )  # fmt: skip
    return Nearest(near, far, int(looked[0]))


def votes(
    found: Nearest, codes: np.ndarray, classes: int, weights: str, counts: np.ndarray | None = None
) -> np.ndarray:
    """What the neighbours of each query say: a column for each class, all together one.

    With weights="distance" each counts by the inverse of its distance; those at no distance at all, where
    there are any, alone. A row of zeros: the query has no neighbour. `counts`: how often each is there.
    """
    there = found.near >= 0 if counts is None else counts > 0.0
    if weights == "distance":
        far = np.sqrt(found.far)
        on_it = (there & (far == 0.0)).any(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            shares = np.where(on_it, far == 0.0, 1.0 / far)
    else:
        shares = there.astype(np.float64)
    if counts is not None:
        shares = shares * counts
    m = len(shares)
    places = np.arange(m)[:, None] * classes + codes[found.near]
    total = np.bincount(places[there], shares[there], m * classes).reshape(m, classes).astype(np.float64)
    whole = total.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(total, whole, out=np.zeros_like(total), where=whole > 0.0))


def enough(k: int, count: float, what: str = "rows") -> None:
    """Refuse more neighbours than there are rows."""
    if count < k * (1.0 - 1e-12):
        raise InvalidArgument(
            f"k={k} neighbours, and there are n_samples={count:g} {what}: take a smaller k, or more rows."
        )
