"""Online k-means, and swaps of medoids: the loops."""

from __future__ import annotations

import math

import numpy as np

from pgm.runtime.kinds import Floats, Ints


def follow(rows: Floats, order: Ints, dim: int, rate: float, centres: Floats):
    """Move the centre that is nearest to a row towards it, one row after the other."""
    k = centres.size // dim
    for t in range(order.size):
        row = order[t] * dim
        best = math.inf
        winner = 0
        for c in range(k):
            far = 0.0
            for i in range(dim):
                off = rows[row + i] - centres[c * dim + i]
                far += off * off
            if far < best:
                best = far
                winner = c
        for i in range(dim):
            centres[winner * dim + i] += rate * (rows[row + i] - centres[winner * dim + i])


def distances(rows: Floats, dim: int, metric: int, point: int, far: Floats):
    """The distances of all rows from one: metric 0 Euclidean, 1 Manhattan; 2: rows are distances already."""
    at = point * dim
    for t in range(far.size):
        row = t * dim
        total = 0.0
        if metric == 0:
            for i in range(dim):
                off = rows[row + i] - rows[at + i]
                total += off * off
            total = math.sqrt(total)
        elif metric == 1:
            for i in range(dim):
                total += abs(rows[row + i] - rows[at + i])
        else:
            total = rows[row + point]
        far[t] = total


def nearest_two(
    rows: Floats, dim: int, metric: int, medoids: Ints, near: Ints, first: Floats, second: Floats
):
    """The nearest medoid of each row, its distance and that of the next one; returns the sum of the first."""
    n = near.size
    far = np.empty(n)
    for t in range(n):
        first[t] = math.inf
        second[t] = math.inf
        near[t] = 0
    for m in range(medoids.size):
        distances(rows, dim, metric, medoids[m], far)
        for t in range(n):
            if far[t] < first[t]:
                second[t] = first[t]
                first[t] = far[t]
                near[t] = m
            elif far[t] < second[t]:
                second[t] = far[t]
    total = 0.0
    for t in range(n):
        total += first[t]
    return total


def best_exchange(
    rows: Floats, dim: int, metric: int, k: int, candidates: Ints, taken: Ints, near: Ints, first: Floats,
    second: Floats, choice: Ints, gains: Floats,
):  # fmt: skip
    """The smallest change of the sum of distances from putting a candidate in the place of a medoid.

    All medoids of a candidate are tried in one pass (Schubert & Rousseeuw 2019). `choice` gets the
    candidate and the medoid. Returns the change, infinity if no candidate is left.
    """
    n = near.size
    far = np.empty(n)
    best = math.inf
    for c in range(candidates.size):
        if taken[candidates[c]] != 0:
            continue
        distances(rows, dim, metric, candidates[c], far)
        shared = 0.0
        for m in range(k):
            gains[m] = 0.0
        for t in range(n):
            if far[t] < first[t]:
                shared += far[t] - first[t]
            else:
                gains[near[t]] += min(far[t], second[t]) - first[t]
        for m in range(k):
            if shared + gains[m] < best:
                best = shared + gains[m]
                choice[0] = candidates[c]
                choice[1] = m
    return best


def best_addition(
    rows: Floats, dim: int, metric: int, candidates: Ints, taken: Ints, first: Floats, choice: Ints
):
    """The smallest sum of distances with one more medoid; `choice` gets which row that is."""
    n = first.size
    far = np.empty(n)
    best = math.inf
    for c in range(candidates.size):
        if taken[candidates[c]] != 0:
            continue
        distances(rows, dim, metric, candidates[c], far)
        total = 0.0
        for t in range(n):
            total += min(far[t], first[t])
        if total < best:
            best = total
            choice[0] = candidates[c]
    return best
