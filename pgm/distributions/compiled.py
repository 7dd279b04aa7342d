"""Normal distributions of many rows and states: densities, and sums of products. The loops.

`columns` holds what was observed column after column, so that many rows go through each operation at once.
"""

from __future__ import annotations

import math

import numpy as np

from pgm.runtime.kinds import Floats

_BLOCK = 128  # rows whose distances from a mean stay near the processor


def log_normals(
    columns: Floats, mean: Floats, scale: Floats, factor: Floats, peak: Floats, dim: int, logs: Floats
):
    """Log density of each row, a column for each state, from the Cholesky factors of the correlations."""
    k = peak.size
    n = columns.size // dim
    z = np.empty(dim * _BLOCK)
    squares = np.empty(_BLOCK)
    for begin in range(0, n, _BLOCK):
        size = min(_BLOCK, n - begin)
        for s in range(k):
            for r in range(size):
                squares[r] = 0.0
            for i in range(dim):
                at = i * _BLOCK
                row = begin + i * n
                centre = mean[s * dim + i]
                inverse = 1.0 / scale[s * dim + i]
                for r in range(size):
                    z[at + r] = (columns[row + r] - centre) * inverse
                for j in range(i):
                    x = factor[(s * dim + i) * dim + j]
                    if x != 0.0:
                        before = j * _BLOCK
                        for r in range(size):
                            z[at + r] -= x * z[before + r]
                x = 1.0 / factor[(s * dim + i) * dim + i]
                for r in range(size):
                    z[at + r] *= x
                    squares[r] += z[at + r] * z[at + r]
            top = peak[s]
            for r in range(size):
                logs[(begin + r) * k + s] = top - 0.5 * squares[r]


def weighted_sums(rows: Floats, weights: Floats, dim: int, weight: Floats, sums: Floats):
    """Of each state the weight of all rows, and the weighted sum of each entry: (dim, states)."""
    k = weight.size
    for t in range(weights.size // k):
        o = t * k
        for s in range(k):
            weight[s] += weights[o + s]
        for i in range(dim):
            x = rows[t * dim + i]
            at = i * k
            for s in range(k):
                sums[at + s] += weights[o + s] * x


def weighted_products(
    rows: Floats, weights: Floats, dim: int, k: int, mean: Floats, diagonal: int, scatter: Floats
):
    """Of each state the weighted products of what is off its mean: (dim, dim, states), the lower triangle.

    Where only the `diagonal` is needed, the rest stays zero.
    """
    off = np.empty(dim * k)
    for t in range(weights.size // k):
        o = t * k
        for i in range(dim):
            x = rows[t * dim + i]
            at = i * k
            for s in range(k):
                off[at + s] = x - mean[at + s]
        for i in range(dim):
            at = i * k
            for j in range(i if diagonal != 0 else 0, i + 1):
                other = j * k
                to = (i * dim + j) * k
                for s in range(k):
                    scatter[to + s] += weights[o + s] * off[at + s] * off[other + s]


def spreads(rows: Floats, dim: int, sd: Floats):
    """The standard deviation of each entry over the rows in which it is a number; nan where it never is."""
    mean = np.zeros(dim)
    count = np.zeros(dim)
    for _ in range(2):  # the first time what is added is the mean itself
        total = np.zeros(dim)
        for i in range(dim):
            sd[i] = 0.0
            count[i] = 0.0
        for t in range(rows.size // dim):
            o = t * dim
            for i in range(dim):
                x = rows[o + i]
                off = x - mean[i] if x == x else 0.0
                count[i] += 1.0 if x == x else 0.0
                total[i] += off
                sd[i] += off * off
        for i in range(dim):
            if count[i] > 0.0:
                mean[i] += total[i] / count[i]
    for i in range(dim):
        sd[i] = math.sqrt(sd[i] / count[i]) if count[i] > 0.0 else math.nan
