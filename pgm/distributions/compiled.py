"""Normal distributions of many rows and states: densities, and sums of products. The loops.

Rows are processed in column-major blocks, so that many go through each operation
at once. Rows with gaps are grouped by missing entries: `order` has their indices, `begins` where
each such pattern begins in it, `seen` a row of ones and zeros for each.
"""

from __future__ import annotations

import math

import numpy as np

from pgm.runtime.kinds import Bytes, Floats, Ints

_BLOCK = 128  # rows whose distances from a mean stay in the cache


def log_normals(
    rows: Floats, mean: Floats, scale: Floats, factor: Floats, peak: Floats, dim: int, logs: Floats
):
    """Log density of each row, a column for each state, from the Cholesky factors of the correlations."""
    k = peak.size
    n = rows.size // dim
    x = np.empty(dim * _BLOCK)
    z = np.empty(dim * _BLOCK)
    squares = np.empty(_BLOCK)
    for begin in range(0, n, _BLOCK):
        size = min(_BLOCK, n - begin)
        for r in range(size):
            row = (begin + r) * dim
            for i in range(dim):
                x[i * _BLOCK + r] = rows[row + i]
        for s in range(k):
            _whitened(x, mean, scale, factor, s, dim, size, z, squares)
            top = peak[s]
            for r in range(size):
                logs[(begin + r) * k + s] = top - 0.5 * squares[r]


def _whitened(
    x: Floats, mean: Floats, scale: Floats, factor: Floats, s: int, dim: int, size: int, z: Floats,
    squares: Floats,
):  # fmt: skip
    """The squared Mahalanobis distance of some rows from the mean of a state."""
    for r in range(size):
        squares[r] = 0.0
    for i in range(dim):
        at = i * _BLOCK
        centre = mean[s * dim + i]
        inverse = 1.0 / scale[s * dim + i]
        for r in range(size):
            z[at + r] = (x[at + r] - centre) * inverse
        for j in range(i):
            c = factor[(s * dim + i) * dim + j]
            if c != 0.0:
                before = j * _BLOCK
                for r in range(size):
                    z[at + r] -= c * z[before + r]
        c = 1.0 / factor[(s * dim + i) * dim + i]
        for r in range(size):
            z[at + r] *= c
            squares[r] += z[at + r] * z[at + r]


def weighted_sums(rows: Floats, weights: Floats, dim: int, weight: Floats, sums: Floats):
    """The weight of all rows for each state, and the weighted sum of each entry: (dim, states)."""
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
    """Weighted products of deviations from the mean of each state: (dim, dim, states), lower triangles.

    Where only the `diagonal` is needed, the rest stays zero.
    """
    if diagonal != 0:
        for t in range(weights.size // k):
            o = t * k
            for i in range(dim):
                x = rows[t * dim + i]
                at = i * k
                to = (i * dim + i) * k
                for s in range(k):
                    d = x - mean[at + s]
                    scatter[to + s] += weights[o + s] * d * d
        return
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
            for j in range(i + 1):
                other = j * k
                to = (i * dim + j) * k
                for s in range(k):
                    scatter[to + s] += weights[o + s] * off[at + s] * off[other + s]


def spreads(rows: Floats, dim: int, sd: Floats):
    """The standard deviation of each entry over the rows in which it is a number; nan where it never is."""
    mean = np.zeros(dim)
    count = np.zeros(dim)
    for _ in range(2):  # the first pass finds the mean
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


def factored(covariance: Floats, at: int, width: int, seen: Ints, many: int, scale: Floats, factor: Floats):
    """The standard deviations and the Cholesky factor of the correlations of some entries of one matrix.

    They are written without gaps, in rows of `many`. Returns the smallest pivot, 0 if there is none.
    """
    least = 1.0
    for i in range(many):
        variance = covariance[at + seen[i] * width + seen[i]]
        if not variance > 0.0:
            return 0.0
        scale[i] = math.sqrt(variance)
    for i in range(many):
        for j in range(i + 1):
            total = covariance[at + seen[i] * width + seen[j]] / (scale[i] * scale[j])
            for m in range(j):
                total -= factor[i * many + m] * factor[j * many + m]
            if i == j:
                if not total > 0.0:
                    return 0.0
                factor[i * many + i] = math.sqrt(total)
                least = min(least, factor[i * many + i])
            else:
                factor[i * many + j] = total / factor[j * many + j]
    return least


def log_partial_normals(
    rows: Floats, order: Ints, begins: Ints, seen: Bytes, mean: Floats, covariance: Floats, dim: int, k: int,
    log_2pi: float, singular: float, logs: Floats,
):  # fmt: skip
    """Log density of the observed entries of each row; returns a state that is singular, or -1."""
    there = np.empty(dim, np.int64)
    means, scales, factors = np.empty(k * dim), np.empty(k * dim), np.empty(k * dim * dim)
    one_scale, one_factor = np.empty(dim), np.empty(dim * dim)
    peak = np.empty(k)
    x, z, squares = np.empty(dim * _BLOCK), np.empty(dim * _BLOCK), np.empty(_BLOCK)
    for p in range(begins.size - 1):
        many = 0
        for i in range(dim):
            if seen[p * dim + i] != 0:
                there[many] = i
                many += 1
        for s in range(k):
            if factored(covariance, s * dim * dim, dim, there, many, one_scale, one_factor) < singular:
                return s
            half = 0.0
            for i in range(many):
                means[s * many + i] = mean[s * dim + there[i]]
                scales[s * many + i] = one_scale[i]
                half += math.log(one_scale[i]) + math.log(one_factor[i * many + i])
            for i in range(many * many):
                factors[s * many * many + i] = one_factor[i]
            peak[s] = -0.5 * (many * log_2pi + 2.0 * half)
        for begin in range(begins[p], begins[p + 1], _BLOCK):
            size = min(_BLOCK, begins[p + 1] - begin)
            for r in range(size):
                row = order[begin + r] * dim
                for i in range(many):
                    x[i * _BLOCK + r] = rows[row + there[i]]
            for s in range(k):
                _whitened(x, means, scales, factors, s, many, size, z, squares)
                for r in range(size):
                    logs[order[begin + r] * k + s] = peak[s] - 0.5 * squares[r]
    return -1


def partial_statistics(
    rows: Floats, weights: Floats, order: Ints, begins: Ints, seen: Bytes, mean: Floats, covariance: Floats,
    dim: int, k: int, singular: float, weight: Floats, means: Floats, scatter: Floats,
):  # fmt: skip
    """The weight, mean and scatter of each state, with missing entries replaced by their expectations.

    Given what was observed, the rest is a regression on it: so the mean and the scatter of what was observed
    are enough, for each pattern. Patterns are combined as in Chan, Golub & LeVeque (1979). Returns a
    state that is singular, or -1.
    """
    there, gone = np.empty(dim, np.int64), np.empty(dim, np.int64)
    scale, factor = np.empty(dim), np.empty(dim * dim)
    total, sums, off = np.empty(k), np.empty(dim * k), np.empty(dim * k)
    products = np.empty(dim * dim * k)
    gain, mixed = np.empty(dim * dim), np.empty(dim * dim)
    solved, centre, spread = np.empty(dim), np.empty(dim), np.empty(dim * dim)
    for p in range(begins.size - 1):
        many = 0
        missing = 0
        for i in range(dim):
            if seen[p * dim + i] != 0:
                there[many] = i
                many += 1
            else:
                gone[missing] = i
                missing += 1
        total[:] = 0.0
        sums[:] = 0.0
        products[:] = 0.0
        for t in range(begins[p], begins[p + 1]):
            o = order[t] * k
            row = order[t] * dim
            for s in range(k):
                total[s] += weights[o + s]
            for i in range(many):
                x = rows[row + there[i]]
                at = i * k
                for s in range(k):
                    sums[at + s] += weights[o + s] * x
        for i in range(many):
            for s in range(k):
                sums[i * k + s] = sums[i * k + s] / total[s] if total[s] > 0.0 else 0.0
        for t in range(begins[p], begins[p + 1]):
            o = order[t] * k
            row = order[t] * dim
            for i in range(many):
                x = rows[row + there[i]]
                at = i * k
                for s in range(k):
                    off[at + s] = x - sums[at + s]
            for i in range(many):
                at = i * k
                for j in range(i + 1):
                    other = j * k
                    to = (i * dim + j) * k
                    for s in range(k):
                        products[to + s] += weights[o + s] * off[at + s] * off[other + s]
        for s in range(k):
            if not total[s] > 0.0:
                continue
            if missing > 0 and (
                factored(covariance, s * dim * dim, dim, there, many, scale, factor) < singular
            ):
                return s
            for g in range(missing):  # the regression on what was observed, by two triangular systems
                for i in range(many):
                    value = covariance[(s * dim + gone[g]) * dim + there[i]] / scale[i]
                    for j in range(i):
                        value -= factor[i * many + j] * solved[j]
                    solved[i] = value / factor[i * many + i]
                for back in range(many):
                    i = many - 1 - back
                    value = solved[i]
                    for j in range(i + 1, many):
                        value -= factor[j * many + i] * gain[g * many + j]
                    gain[g * many + i] = value / factor[i * many + i]
                for i in range(many):
                    gain[g * many + i] /= scale[i]
            for i in range(many):
                centre[there[i]] = sums[i * k + s]
                for j in range(i + 1):
                    spread[there[i] * dim + there[j]] = products[(i * dim + j) * k + s]
                    spread[there[j] * dim + there[i]] = products[(i * dim + j) * k + s]
            for g in range(missing):
                value = mean[s * dim + gone[g]]
                for i in range(many):
                    value += gain[g * many + i] * (sums[i * k + s] - mean[s * dim + there[i]])
                centre[gone[g]] = value
                for j in range(many):
                    value = 0.0
                    for i in range(many):
                        value += gain[g * many + i] * spread[there[i] * dim + there[j]]
                    mixed[g * many + j] = value
                    spread[gone[g] * dim + there[j]] = value
                    spread[there[j] * dim + gone[g]] = value
            for g in range(missing):
                for h in range(g + 1):
                    value = covariance[(s * dim + gone[g]) * dim + gone[h]]  # the conditional covariance
                    for i in range(many):
                        value -= gain[g * many + i] * covariance[(s * dim + gone[h]) * dim + there[i]]
                    value *= total[s]
                    for i in range(many):
                        value += mixed[g * many + i] * gain[h * many + i]
                    spread[gone[g] * dim + gone[h]] = value
                    spread[gone[h] * dim + gone[g]] = value
            both = weight[s] + total[s]
            share = total[s] / both
            for i in range(dim):
                solved[i] = centre[i] - means[s * dim + i]
            for i in range(dim):
                for j in range(dim):
                    scatter[(s * dim + i) * dim + j] += (
                        spread[i * dim + j] + weight[s] * share * solved[i] * solved[j]
                    )
            for i in range(dim):
                means[s * dim + i] += share * solved[i]
            weight[s] = both
    return -1


def believed(logs: Floats, weights: Floats, shares: Floats, each: Floats):
    """The log-sum-exp of each row, and the softmax of its terms times the weight of the row.

    Returns a row whose terms are all minus infinity or NaN; -1 if there is none.
    """
    n = each.size
    k = logs.size // n
    impossible = -1
    for t in range(n):
        o = t * k
        top = logs[o]
        for s in range(1, k):
            top = max(top, logs[o + s])
        if not top > -math.inf:
            if impossible < 0:
                impossible = t
            each[t] = -math.inf
            for s in range(k):
                shares[o + s] = 0.0
            continue
        total = 0.0
        for s in range(k):
            x = math.exp(logs[o + s] - top)
            shares[o + s] = x
            total += x
        each[t] = top + math.log(total)
        share = weights[t] / total
        for s in range(k):
            shares[o + s] *= share
    return impossible
