"""Sums of logarithms over the columns of many rows, and their softmax: the loops."""

from __future__ import annotations

import math

from pgm.runtime.kinds import Floats, Ints, IntTable32

BLOCK = 512  # rows


def add_logs(codes: IntTable32, begin: Ints, logs: Floats, k: int, sums: Floats):
    """Add to each row's k sums the k logarithms of each column, from (begin[column] + code) * k on.

    Those of code -1, where nothing was observed, precede those of code 0.
    """
    m, n = codes.shape[0], codes.shape[1]
    first = 0
    while first < n:
        last = min(first + BLOCK, n)
        for j in range(m):
            column, start = codes[j], begin[j]
            for i in range(first, last):
                at = (start + column[i]) * k
                to = i * k
                for c in range(k):
                    sums[to + c] += logs[at + c]
        first = last


def to_logs_of_shares(sums: Floats, k: int):
    """Subtract from each row's k logarithms the logarithm of the sum of their exponentials.

    Return the first row in which all are minus infinity, or -1.
    """
    bad = -1
    for i in range(sums.size // k):
        o = i * k
        most = -math.inf
        for c in range(k):
            if sums[o + c] > most:
                most = sums[o + c]
        if most == -math.inf:
            if bad < 0:
                bad = i
            continue
        total = 0.0
        for c in range(k):
            total += math.exp(sums[o + c] - most)
        total = most + math.log(total)
        for c in range(k):
            sums[o + c] -= total
    return bad


def to_shares(sums: Floats, k: int):
    """Turn each row's k logarithms into shares; return the first row of minus infinities only, or -1."""
    bad = -1
    for i in range(sums.size // k):
        o = i * k
        most = -math.inf
        for c in range(k):
            if sums[o + c] > most:
                most = sums[o + c]
        if most == -math.inf:
            if bad < 0:
                bad = i
            continue
        total = 0.0
        for c in range(k):
            share = math.exp(sums[o + c] - most)
            sums[o + c] = share
            total += share
        for c in range(k):
            sums[o + c] /= total
    return bad
