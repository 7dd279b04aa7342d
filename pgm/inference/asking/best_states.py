"""The most probable state of each row."""

from __future__ import annotations

import numpy as np


def best_states(shares: np.ndarray) -> np.ndarray:
    """The code of the most probable state in each row of P(state | row): (rows, states).

    Rounding must not decide between equals: of states that are equal up to rounding the first wins. Rows
    are compared state by state, since rows of a few states are too short for loops along them.

    >>> best_states(np.array([[0.3, 0.7], [0.5, 0.5 + 1e-15]])).tolist()
    [1, 0]
    """
    columns = np.ascontiguousarray(shares.T)
    least = columns.max(axis=0, initial=0.0) * (1 - 1e-13)
    codes = np.zeros(least.size, np.int64)
    behind = np.ones(least.size, bool)  # all states so far are less probable than the best
    for column in columns[:-1]:
        behind &= column < least
        codes += behind
    return codes
