"""Distributions of response functions: the constraints that tables set, and the bounds that follow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, product

import numpy as np

from pgm.errors import TooLarge
from pgm.runtime.clock import Clock

MOST_CORNERS = 20_000  # linear programs, or systems of equations


def constraints_of(functions: Sequence[tuple[int, ...]], table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The probabilities q of response functions that give the table: A q = b, a row for each free entry."""
    answers = np.array(functions)
    rows, wanted = [np.ones(len(functions))], [1.0]
    for row in range(table.shape[0]):
        for state in range(table.shape[1] - 1):
            rows.append((answers[:, row] == state).astype(float))
            wanted.append(float(table[row, state]))
    return np.array(rows), np.array(wanted)


def extremes(
    gains: np.ndarray, constraints: Sequence[tuple[np.ndarray, np.ndarray]], clock: Clock
) -> tuple[np.ndarray, np.ndarray]:
    """The least and the most of sums of gains[t, r1, r2, ...] q1[r1] q2[r2] ..., each q with A q = b, q >= 0.

    The sum is linear in each q, so its extremes are at corners. A linear program over the node with the most
    functions is solved at each combination of corners of the others.
    """
    from scipy.optimize import linprog

    sizes = [a.shape[1] for a, _ in constraints]
    last = int(np.argmax(sizes))
    gains = np.moveaxis(gains, last + 1, -1)
    others = [pair for k, pair in enumerate(constraints) if k != last]
    corners = [_corners(a, b, clock) for a, b in others]
    count = math.prod(len(some) for some in corners)
    if count * gains.shape[0] > MOST_CORNERS:
        raise TooLarge(
            f"The bounds are among {count:,} corners of response functions, and at most {MOST_CORNERS:,} are "
            "tried. Write some of these nodes as functions of their parents and of a node for their noise."
        )
    a, b = constraints[last]
    low, high = np.full(gains.shape[0], np.inf), np.full(gains.shape[0], -np.inf)
    for chosen in product(*corners):
        clock.check("bounding a counterfactual")
        reduced = gains
        for q in chosen:
            reduced = np.tensordot(reduced, q, axes=(1, 0))
        for t, goal in enumerate(reduced):
            for sign, ends in ((1.0, low), (-1.0, high)):
                found = linprog(sign * goal, A_eq=a, b_eq=b, bounds=(0.0, None), method="highs")
                assert found.status == 0, found.message
                value = sign * float(found.fun or 0.0)
                ends[t] = min(ends[t], value) if sign > 0 else max(ends[t], value)
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def _corners(a: np.ndarray, b: np.ndarray, clock: Clock) -> list[np.ndarray]:
    """The corners of {q : A q = b, q >= 0}: its basic feasible solutions."""
    rank, columns = a.shape
    if math.comb(columns, rank) > MOST_CORNERS:
        raise TooLarge(
            f"The corners of {columns:,} response functions are too many to list: write all but one of the "
            "undecided nodes as functions of their parents and of a node for their noise."
        )
    found: dict[bytes, np.ndarray] = {}
    for some in combinations(range(columns), rank):
        part = a[:, some]
        if abs(np.linalg.det(part)) < 1e-9:
            continue
        values = np.linalg.solve(part, b)
        if (values > -1e-12).all():
            q = np.zeros(columns)
            q[list(some)] = np.maximum(values, 0.0)
            found[np.round(q, 10).tobytes()] = q
    clock.check("bounding a counterfactual")
    return list(found.values())
