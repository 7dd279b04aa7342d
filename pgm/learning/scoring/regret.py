"""The regret of the multinomial: the log normaliser of its normalised maximum likelihood, exactly."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np


def regrets(rows: int, states: int) -> np.ndarray:
    """Log C(n, k) for k = 1..states and n = 0..rows, the latter changing fastest.

    C(n, 2) = sum over k of n! / ((n - k)! n^k), and C(n, k + 2) = C(n, k + 1) + n / k C(n, k)
    (Kontkanen & Myllymäki 2007; Mononen & Myllymäki 2008). The recurrence is computed with quotients, which
    stay small.

    >>> np.round(np.exp(regrets(2, 3)), 6).tolist()
    [1.0, 1.0, 1.0, 1.0, 2.0, 2.5, 1.0, 3.0, 4.5]
    """
    n = np.arange(rows + 1, dtype=np.float64)
    found = np.zeros((states, rows + 1))
    if states > 1:
        quotient = _of_two(n)  # C(n, k + 1) / C(n, k)
        for k in range(1, states):
            found[k] = found[k - 1] + np.log(quotient)
            quotient = 1.0 + n / (k * quotient)
    return found.reshape(-1)


def _of_two(n: np.ndarray) -> np.ndarray:
    """C(n, 2), summed until terms no longer count."""
    total, term = np.ones(n.size), np.ones(n.size)
    whole = np.maximum(n, 1.0)
    k = 1.0
    left = np.arange(n.size)
    while left.size:
        term[left] *= (n[left] - k + 1.0) / whole[left]
        total[left] += term[left]
        left = left[term[left] > 1e-17 * total[left]]
        k += 1.0
    return total


@lru_cache(maxsize=4096)
def one_regret(rows: int, states: int) -> float:
    """Log C(rows, states).

    >>> round(one_regret(2, 3), 6) == round(math.log(4.5), 6)
    True
    """
    if states <= 1 or rows == 0:
        return 0.0
    quotient, found = float(_of_two(np.array([float(rows)]))[0]), 0.0
    for k in range(1, states):
        found += math.log(quotient)
        quotient = 1.0 + rows / (k * quotient)
    return found
