"""Online updates of linear classifiers, row by row: the loops.

`rows` are normalised: augmented by a leading 1, and negated in the other class, so that a row is classified
correctly if its product with the weights `a` is positive. `counts` holds corrections so far, path points, the
stride of the path, and the errors of the pocket weights. All loops return the number of corrections they
made, or -1 if weights overflowed.
"""

from __future__ import annotations

import math

import numpy as np

from pgm.runtime.kinds import Floats, Ints

BLOCK = 256  # rows whose values are computed at once


def record(a: Floats, counts: Ints, steps: Ints, path: Floats):
    """Record the weights; if the path is full, drop every second point."""
    dim = a.size
    if counts[0] % counts[2] != 0:
        return
    if counts[1] == steps.size:
        kept = (counts[1] + 1) // 2
        for i in range(kept):
            steps[i] = steps[2 * i]
            for j in range(dim):
                path[i * dim + j] = path[2 * i * dim + j]
        counts[1] = kept
        counts[2] *= 2
        if counts[0] % counts[2] != 0:
            return
    at = counts[1]
    steps[at] = counts[0]
    for j in range(dim):
        path[at * dim + j] = a[j]
    counts[1] = at + 1


def product(rows: Floats, at: int, a: Floats):
    """A row times the weights."""
    total = 0.0
    for j in range(a.size):
        total += rows[at + j] * a[j]
    return total


def rate_of(rate: float, schedule: int, k: int):
    """The rate of the k-th correction: constant, or falling as 1 / k or 1 / sqrt(k)."""
    if schedule == 1:
        return rate / k
    if schedule == 2:
        return rate / math.sqrt(float(k))
    return rate


def errors_below(columns: Floats, a: Floats, most: int, values: Floats):
    """How many rows are not on the positive side; stops counting at `most`."""
    dim = a.size
    n = columns.size // dim
    wrong = 0
    begin = 0
    while begin < n and wrong < most:
        size = min(BLOCK, n - begin)
        for i in range(size):
            values[i] = 0.0
        for j in range(dim):
            weight = a[j]
            at = j * n + begin
            for i in range(size):
                values[i] += weight * columns[at + i]
        for i in range(size):
            if values[i] <= 0.0:
                wrong += 1
        begin += size
    return wrong


def follow_errors(
    rows: Floats, columns: Floats, order: Ints, relax: int, margin: float, rate: float, schedule: int,
    every: int, a: Floats, pocket: Floats, counts: Ints, steps: Ints, path: Floats,
):  # fmt: skip
    """Correct the weights at each row within the margin.

    Args:
        rows: normalised.
        columns: the same, a column after the other; none where there is no pocket.
        order: the order of the rows.
        relax: 0 adds a multiple of the row; 1 moves a multiple of the distance to the margin.
        margin: rows beyond it need no correction.
        rate: of the first correction.
        schedule: how the rate falls, see `rate_of`.
        every: compare with the pocket weights after this many corrections; 0: never.
        a: the weights.
        pocket: the weights with fewest errors so far.
        counts: see above.
        steps: the corrections at which the path was recorded.
        path: the weights there.
    """
    dim = a.size
    values = np.empty(BLOCK)
    done = 0
    for t in range(order.size):
        at = order[t] * dim
        value = product(rows, at, a)
        if not value <= margin:
            if value != value:
                return -1
            continue
        counts[0] += 1
        done += 1
        eta = rate_of(rate, schedule, counts[0])
        if relax == 1:
            square = 0.0
            for j in range(dim):
                square += rows[at + j] * rows[at + j]
            eta *= (margin - value) / square
        for j in range(dim):
            a[j] += eta * rows[at + j]
        record(a, counts, steps, path)
        if every > 0 and counts[0] % every == 0:
            wrong = errors_below(columns, a, counts[3], values)
            if wrong < counts[3]:
                counts[3] = wrong
                for j in range(dim):
                    pocket[j] = a[j]
    for j in range(dim):
        if not abs(a[j]) < math.inf:
            return -1
    return done


def multiply_errors(
    rows: Floats, order: Ints, margin: float, log_factor: float, up: Floats, down: Floats, a: Floats,
    counts: Ints, steps: Ints, path: Floats,
):  # fmt: skip
    """Balanced Winnow: a row within the margin multiplies two positive weight vectors."""
    dim = a.size
    done = 0
    for t in range(order.size):
        at = order[t] * dim
        if not product(rows, at, a) <= margin:
            continue
        counts[0] += 1
        done += 1
        for j in range(dim):
            power = log_factor * rows[at + j]
            if not abs(power) < 700.0:
                return -1
            up[j] *= math.exp(power)
            down[j] *= math.exp(-power)
            a[j] = up[j] - down[j]
            if not abs(a[j]) < math.inf:
                return -1
        record(a, counts, steps, path)
    return done


def follow_targets(
    rows: Floats, targets: Floats, order: Ints, rate: float, schedule: int, a: Floats, largest: Floats,
    counts: Ints, steps: Ints, path: Floats,
):  # fmt: skip
    """Widrow and Hoff: each row moves the weights down the gradient of its own squared error."""
    dim = a.size
    for t in range(order.size):
        at = order[t] * dim
        counts[0] += 1
        eta = rate_of(rate, schedule, counts[0])
        eta *= targets[order[t]] - product(rows, at, a)
        square = 0.0
        for j in range(dim):
            step = eta * rows[at + j]
            a[j] += step
            square += step * step
        if not square < math.inf:
            return -1
        largest[0] = max(largest[0], square)
        record(a, counts, steps, path)
    return order.size


def follow_votes(
    gram: Floats, sums: Floats, order: Ints, signs: Floats, mistaken: Ints, votes: Ints, count: int
):
    """The kernel perceptron over some rows; returns the number of weight vectors so far.

    Args:
        gram: the kernel of any two of these rows.
        sums: the value of the current weights at each of them.
        order: which rows they are.
        signs: the class of each of them, 1 or -1.
        mistaken: the row that made each of the weights, in turn.
        votes: how many rows each of the weights survived.
        count: weights so far.
    """
    n = order.size
    for t in range(n):
        if signs[t] * sums[t] > 0.0:
            if count > 0:
                votes[count - 1] += 1
            continue
        mistaken[count] = order[t]
        votes[count] = 1
        count += 1
        for s in range(t + 1, n):
            sums[s] += signs[t] * gram[s * n + t]
    return count


def add_votes(kernel: Floats, known: int, place: Ints, signs: Floats, votes: Ints, shares: Floats):
    """The votes of all weight vectors, each of which has one more mistake than the one before.

    Args:
        kernel: of each row and of each of the known rows.
        known: how many these are.
        place: which of them each of the weights was mistaken about.
        signs: the class of that, 1 or -1.
        votes: of each of the weights.
        shares: the votes for, less those against.
    """
    for t in range(shares.size):
        value = 0.0
        total = 0.0
        for j in range(place.size):
            value += signs[j] * kernel[t * known + place[j]]
            if value > 0.0:
                total += votes[j]
            elif value < 0.0:
                total -= votes[j]
        shares[t] = total
