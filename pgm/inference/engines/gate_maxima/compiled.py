"""Pruning of dominated choices in maximisation: the loops."""

from __future__ import annotations

import math

import numpy as np

from pgm.runtime.kinds import Bytes, Flag, Floats, FloatTable, Ints, ShortTable

DONE, STOPPED = 0, 1  # as in pgm/inference/trees/sweeps/compiled.py


def _earlier(codes, i, j):
    """Whether the states of row i come before those of row j, as declared."""
    for k in range(codes.shape[1]):
        if codes[i, k] != codes[j, k]:
            return codes[i, k] < codes[j, k]
    return False


def _surely_worse(worth, i, best, shares, tied):
    """Whether row i is worth less than the best by more than rounding, by the last criterion alone."""
    last = worth.shape[1] - 1
    more = worth[best, last] - worth[i, last]
    if not more > 0.0:
        return False
    top = -math.inf
    for k in range(last + 1):
        top = max(top, worth[best, k] + shares[k])
    if top == math.inf:
        return False
    whole = 0.0
    for k in range(last + 1):
        whole += math.exp(worth[best, k] + shares[k] - top)
    return math.exp(worth[best, last] - top) * -math.expm1(-more) > tied * whole


def _may_win(worth, codes, i, best, shares, tied, ties):
    """1 if row i may be worth more than the best, or come before it; 0 if not; -1 if it replaces it."""
    equal, same = True, False
    for k in range(worth.shape[1]):
        x, y = worth[i, k], worth[best, k]
        if x > y + tied:
            return 1
        if y > x + tied:
            equal = False
        elif x > -math.inf:
            same = True
    if equal:
        return -1 if _earlier(codes, i, best) else 0
    if ties and same and _earlier(codes, i, best) and not _surely_worse(worth, i, best, shares, tied):
        return 1
    return 0


def winners(
    worth: FloatTable,
    codes: ShortTable,
    begins: Ints,
    shares: Floats,
    tied: float,
    ties: bool,
    keep: Bytes,
    stop: Flag,
):
    """Mark, in each group, the rows that no other beats by every criterion.

    Args:
        worth: logarithms, a row for each choice, in each group the largest first.
        codes: the states that a choice stands for: of equals the first is kept, and with `ties` also what
            comes before a better one and might be worth as much.
        begins: where each group begins, and the end of all.
        shares: logarithms of the most that each criterion may count beside the last.
        tied: logarithms this close differ by rounding.
        ties: whether to keep, too, what comes before a better one; see `codes`.
        keep: becomes 1 for what is kept.
        stop: set to end early.
    """
    kept = np.empty(worth.shape[0], np.int64)
    last = worth.shape[1] - 1
    for group in range(begins.size - 1):
        n, top = 0, -1  # how many are kept, and which of them is best by the last criterion
        for i in range(begins[group], begins[group + 1]):
            if stop[0] != 0:
                return STOPPED
            keep[i] = 0
            found, at = 1, top
            j = 0
            if top >= 0 and worth[i, last] > worth[kept[top], last] + tied:
                j = n  # nothing that is kept is as good by this criterion
            elif top >= 0:
                found = _may_win(worth, codes, i, kept[top], shares, tied, ties)
            while found == 1 and j < n:
                if j != top:
                    found, at = _may_win(worth, codes, i, kept[j], shares, tied, ties), j
                j += 1
            if found == -1:
                kept[at] = i
            elif found == 1:
                kept[n] = i
                if top < 0 or worth[i, last] > worth[kept[top], last]:
                    top = n
                n += 1
        for j in range(n):
            keep[kept[j]] = 1
    return DONE
