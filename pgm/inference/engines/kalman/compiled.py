"""Compiled loops of the Kalman filter and smoother, in factored form.

A covariance is kept as U D U', U unit upper triangular and D diagonal, in one n by n array with D on its
diagonal: it is symmetric and has no negative eigenvalue, whatever is rounded. Observed entries come one at a
time (Bierman 1977, chapter 5), steps in time by weighted Gram-Schmidt (Thornton 1976). The smoother goes back
with the covariance of x[t] given x[t+1], a sum of squares too. Nothing is inverted, so covariances may be
singular.

Covariances do not depend on what was observed, only on which entries were. Each distinct one is worked out
once: a *slot* holds those of a step, and as soon as the factors equal, to the last bit, those of an earlier
slot, the slots that followed it are used again. That is the steady state, and it changes no digit.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pgm.runtime.kinds import Flag, Floats, FloatTable, Ints

if TYPE_CHECKING:
    from pgm.inference.engines.kalman.arrays import Steps

DONE, STOPPED = 0, 1
_LOG_2PI = 1.8378770664093453
# Where noise does not reach every state, a remainder of weighted Gram-Schmidt this much shorter than its row
# was is rounding: the state follows from those after it.
_CANCELLED = 2.0**-86
# An entry without variance is met if it is off by at most this share of the values it is compared with.
_MET = 1e-9


def _observe(factors: Floats, c: Floats, noise: float, n: int, f: Floats, gain: Floats):
    """Condition on c x + N(0, noise); return its variance, leave the gain times that variance.

    What the state determines up to rounding has no variance, and changes nothing.
    """
    for j in range(n):
        s = c[j]
        for k in range(j):
            s += factors[k * n + j] * c[k]
        f[j] = s
    if noise == 0.0:
        total, length = 0.0, 0.0
        for j in range(n):
            s = abs(c[j])
            for k in range(j):
                s += abs(factors[k * n + j] * c[k])
            length += factors[j * n + j] * s * s
            total += factors[j * n + j] * f[j] * f[j]
        if total <= _CANCELLED * length:
            return 0.0
    total = noise
    per = 1.0 / noise if noise > 0.0 else 0.0
    for j in range(n):
        g = factors[j * n + j] * f[j]
        gain[j] = g
        before = total
        total += f[j] * g
        if total > 0.0:
            p = -f[j] * per
            per = 1.0 / total
            factors[j * n + j] *= before * per
            for k in range(j):
                u = factors[k * n + j]
                factors[k * n + j] = u + gain[k] * p
                gain[k] += u * g
    return total


def _advance(
    A: Floats,
    G: Floats,
    weights: Floats,
    factors: Floats,
    n: int,
    rows: FloatTable,
    base: int,
    scale: Floats,
    out: Floats,
):
    """Factors of A P A' + G diag(weights) G'; n rows from `base` on become orthogonal under `scale`."""
    q = weights.size
    size = n + q
    full = q == n  # the noise reaches every state: no row can be rounding alone
    for k in range(n):
        scale[k] = factors[k * n + k]
    for k in range(q):
        scale[n + k] = weights[k]
        if weights[k] == 0.0:
            full = False
    for i in range(n):
        row = rows[base + i]
        length = 0.0
        for k in range(n):
            s = A[i * n + k]
            for j in range(k):
                s += A[i * n + j] * factors[j * n + k]
            row[k] = s
            if not full:
                s = abs(A[i * n + k])
                for j in range(k):
                    s += abs(A[i * n + j] * factors[j * n + k])
                length += scale[k] * s * s
        for k in range(q):
            row[n + k] = G[i * q + k]
            length += weights[k] * row[n + k] * row[n + k]
        out[i * n + i] = _CANCELLED * length
    _triangle(rows, base, scale, n, size, full, out)


def _triangle(rows: FloatTable, base: int, scale: Floats, n: int, size: int, full: bool, out: Floats):
    """Factors of rows diag(scale) rows'; the rows become orthogonal under these weights.

    Unless noise reaches every state (`full`), a remainder no longer than the diagonal of `out` is rounding
    alone.
    """
    for j in range(n - 1, -1, -1):
        row = rows[base + j]
        d = 0.0
        for k in range(size):
            d += scale[k] * row[k] * row[k]
        if not full and d <= out[j * n + j]:
            d = 0.0
        out[j * n + j] = d
        for i in range(j):
            other = rows[base + i]
            s = 0.0
            if d > 0.0:
                for k in range(size):
                    s += scale[k] * row[k] * other[k]
                s /= d
                for k in range(size):
                    other[k] -= s * row[k]
            out[i * n + j] = s
            out[j * n + i] = 0.0


def _same(a: Floats, b: Floats):
    for k in range(a.size):
        if a[k] != b[k]:
            return False
    return True


def _same_seen(s: Steps, a: int, b: int):
    for i in range(s.seen.shape[1]):
        if s.seen[a, i] != s.seen[b, i]:
            return False
    return True


def forward(
    s: Steps,
    slot: Ints,
    predicted: FloatTable,
    filtered: FloatTable,
    gains: FloatTable,
    variances: FloatTable,
    rows: FloatTable,
    led: Ints,
    found: Ints,
    stop: Flag,
):
    """The covariances of all steps: which slot each step has, and what is in the slots; `found`: how many.

    `predicted` and `filtered` take factors, `gains` the gain of each observed entry, `variances` its variance
    given all before it. If `rows` has more than n, it takes the orthogonal rows of each slot, which the
    backward pass needs, and `led` the transition that they belong to.
    """
    steps, m = s.seen.shape[0], s.seen.shape[1]
    n = int(math.sqrt(s.start.size + 0.5))
    scale = np.empty(n + s.weights.shape[1])
    f, gain = np.empty(n), np.empty(n)
    state = s.start.copy()
    at = np.empty(steps, np.int64)  # of each slot: the first step that has it
    after = np.full(steps, -1)  # and the slot whose predicted factors come next
    count, known, anchor, due, since = 0, -1, -1, 2, 0
    for t in range(steps):
        if stop[0] != 0:
            return STOPPED
        now = -1
        if known >= 0 and s.look[at[known]] == s.look[t] and _same_seen(s, at[known], t):
            now = known
        if now < 0:
            now = count
            count += 1
            at[now] = t
            predicted[now] = predicted[known] if known >= 0 else state
            filtered[now] = predicted[now]
            C, noise = s.C[s.look[t]], s.noise[s.look[t]]
            for i in range(m):
                if s.seen[t, i]:
                    total = _observe(filtered[now], C[i * n :], noise[i], n, f, gain)
                    variances[now, i] = total
                    for k in range(n):
                        gains[now, i * n + k] = gain[k] / total if total > 0.0 else 0.0
                else:
                    variances[now, i] = 1.0
                    for k in range(n):
                        gains[now, i * n + k] = 0.0
            since += 1
            if since == due:
                anchor, due, since = now, 2 * due, 0
        slot[t] = now
        if t == steps - 1:
            break
        move = s.move[t]
        if after[now] >= 0 and s.move[at[now]] == move:
            known = after[now]
            continue
        base = 0
        if rows.shape[0] > n:
            base = now * n
            led[now] = move
        _advance(s.A[move], s.G[move], s.weights[move], filtered[now], n, rows, base, scale, state)
        known = -1
        if _same(state, predicted[now]):
            known = now
        elif anchor >= 0 and _same(state, predicted[anchor]):
            known = anchor
        if at[now] == t or s.move[at[now]] == move:
            after[now] = known if known >= 0 else count
    found[0] = count
    return DONE


def means(
    s: Steps,
    slot: Ints,
    gains: FloatTable,
    variances: FloatTable,
    pushes: FloatTable,
    y: FloatTable,
    first: FloatTable,
    predicted: FloatTable,
    filtered: FloatTable,
    surprises: FloatTable,
    log: FloatTable,
    found: Ints,
    stop: Flag,
):
    """The means of several series of one pattern, one after the other in rows of `y`, `predicted`, ...

    `surprises` takes the innovations, each entry less its mean given those before it, `log` the contribution
    of each step to the log density, `found` the first row with an entry that has no variance and yet differs
    from its mean, or -1.
    """
    steps, m = s.seen.shape[0], s.seen.shape[1]
    n = int(math.sqrt(s.start.size + 0.5))
    constants = np.empty(steps)  # of each slot: what does not depend on y
    state = np.empty(n)
    bad = -1
    for series in range(first.shape[0]):
        done = -1
        state[:] = first[series]
        for t in range(steps):
            if stop[0] != 0:
                return STOPPED
            now, row = slot[t], series * steps + t
            predicted[row] = state
            C = s.C[s.look[t]]
            gain, variance = gains[now], variances[now]
            if now > done and series == 0:
                total = 0.0
                for i in range(m):
                    if s.seen[t, i] and variance[i] > 0.0:
                        total += _LOG_2PI + math.log(variance[i])
                constants[now] = total
                done = now
            squares = constants[now]
            for i in range(m):
                off = 0.0
                if s.seen[t, i]:
                    off = y[row, i]
                    reach = abs(off)
                    for k in range(n):
                        off -= C[i * n + k] * state[k]
                        reach += abs(C[i * n + k] * state[k])
                    if variance[i] > 0.0:
                        squares += off * off / variance[i]
                        for k in range(n):
                            state[k] += gain[i * n + k] * off
                    elif variance[i] != 0.0:
                        squares += variance[i]  # NaN, which the answer reports
                    elif abs(off) > _MET * reach and bad < 0:
                        bad = row
                surprises[row, i] = off
            log[series, t] = -0.5 * squares
            filtered[row] = state
            if t + 1 < steps:
                A, known = s.A[s.move[t]], filtered[row]
                for i in range(n):
                    total = 0.0
                    for k in range(n):
                        total += A[i * n + k] * known[k]
                    state[i] = total
                if pushes.size:
                    push = pushes[series * (steps - 1) + t]
                    for i in range(n):
                        state[i] += push[i]
    found[0] = bad
    return DONE


def multiplied(factors: FloatTable, out: FloatTable, stop: Flag):
    """The matrices U D U' of these factors."""
    n = int(math.sqrt(factors.shape[1] + 0.5))
    for row in range(factors.shape[0]):
        if stop[0] != 0:
            return STOPPED
        _multiplied(factors[row], n, out[row])
    return DONE


def _multiplied(factors: Floats, n: int, out: Floats):
    for i in range(n):
        for j in range(i, n):
            total = factors[j * n + j] * (factors[i * n + j] if i < j else 1.0)
            for k in range(j + 1, n):
                total += factors[i * n + k] * factors[k * n + k] * factors[j * n + k]
            out[i * n + j] = total
            out[j * n + i] = total


def _linked(
    factors: Floats,
    n: int,
    rows: FloatTable,
    base: int,
    scale: Floats,
    after: Floats,
    own: FloatTable,
    back: Floats,
    left: Floats,
    weights: Floats,
):
    """The regression of x[t] on x[t+1]: its matrix, and the factors of the covariance that is left.

    `rows` from `base` on, `scale` and `after` are what `_advance` leaves: x[t+1] in terms of orthogonal
    noise.
    """
    size = scale.size
    for i in range(n):
        mine = own[i]
        length = factors[i * n + i]
        for k in range(size):
            mine[k] = 0.0
        mine[i] = 1.0
        for k in range(i + 1, n):
            mine[k] = factors[i * n + k]
            length += factors[k * n + k] * mine[k] * mine[k]
        left[i * n + i] = _CANCELLED * length
    for j in range(n):
        d, row = after[j * n + j], rows[base + j]
        for i in range(n):
            mine = own[i]
            total = 0.0
            if d > 0.0:
                for k in range(size):
                    total += scale[k] * row[k] * mine[k]
                total /= d
                for k in range(size):
                    mine[k] -= total * row[k]
            back[i * n + j] = total
    for j in range(n):
        for i in range(n):
            total = back[i * n + j]
            for k in range(j):
                total -= back[i * n + k] * after[k * n + j]
            back[i * n + j] = total
    _triangle(own, 0, scale, n, size, False, left)
    for i in range(n):
        weights[i] = left[i * n + i]
        left[i * n + i] = 1.0


def backward(
    s: Steps,
    slot: Ints,
    predicted: FloatTable,
    filtered: FloatTable,
    rows: FloatTable,
    led: Ints,
    link: Ints,
    back: FloatTable,
    left: FloatTable,
    weights: FloatTable,
    index: Ints,
    smoothed: FloatTable,
    found: Ints,
    stop: Flag,
):
    """The covariances given all that was observed; `found`: how many links there are, and how many matrices.

    A *link* is a slot and the step after it: given x[t+1] and what was observed until t, x[t] has a
    regression matrix, which `back` takes, and a covariance, whose factors `left` and `weights` take.
    `smoothed` takes factors: with covariances themselves the rounding of a step would be multiplied by the
    square of that matrix. `link` and `index` say which ones each step has.
    """
    steps = slot.size
    n = int(math.sqrt(s.start.size + 0.5))
    size = n + s.weights.shape[1]
    spare, scale, own = np.empty((n, size)), np.empty(size), np.empty((n, size))
    after = np.empty(n * n)
    both, scales = np.empty((n, 2 * n)), np.empty(2 * n)
    moved = np.empty(steps, np.int64)
    latest = np.full(steps, -1)  # the last link that was made of each slot
    came = np.full(steps, -1)  # of each matrix: the one before it in time, and the link to that
    by = np.full(steps, -1)
    links, count, anchor, due, since = 0, 1, 0, 2, 0
    smoothed[0] = filtered[slot[steps - 1]]
    index[steps - 1] = 0
    for t in range(steps - 2, -1, -1):
        if stop[0] != 0:
            return STOPPED
        now, move, known = slot[t], s.move[t], index[t + 1]
        j = latest[now]
        if j < 0 or moved[j] != move:
            j = links
            links += 1
            latest[now] = j
            moved[j] = move
            if rows.shape[0] > n and led[now] == move:
                for k in range(n):
                    scale[k] = filtered[now, k * n + k]
                for k in range(s.weights.shape[1]):
                    scale[n + k] = s.weights[move, k]
                later = predicted[slot[t + 1]]
                _linked(filtered[now], n, rows, now * n, scale, later, own, back[j], left[j], weights[j])
            else:
                _advance(s.A[move], s.G[move], s.weights[move], filtered[now], n, spare, 0, scale, after)
                _linked(filtered[now], n, spare, 0, scale, after, own, back[j], left[j], weights[j])
        link[t] = j
        if came[known] >= 0 and by[known] == j:
            index[t] = came[known]
            continue
        _advance(back[j], left[j], weights[j], smoothed[known], n, both, 0, scales, smoothed[count])
        made = count
        if _same(smoothed[count], smoothed[known]):
            made = known
        elif _same(smoothed[count], smoothed[anchor]):
            made = anchor
        else:
            count += 1
            since += 1
            if since == due:
                anchor, due, since = made, 2 * due, 0
        came[known] = made
        by[known] = j
        index[t] = made
    found[0] = links
    found[1] = count
    return DONE


def means_back(
    link: Ints,
    back: FloatTable,
    predicted: FloatTable,
    filtered: FloatTable,
    smoothed: FloatTable,
    steps: int,
    stop: Flag,
):
    """The means given all that was observed, of several series of one pattern."""
    n = filtered.shape[1]
    for series in range(filtered.shape[0] // steps):
        last = series * steps + steps - 1
        smoothed[last] = filtered[last]
        for t in range(steps - 2, -1, -1):
            if stop[0] != 0:
                return STOPPED
            row = series * steps + t
            J, own, later, expected = back[link[t]], filtered[row], smoothed[row + 1], predicted[row + 1]
            for i in range(n):
                total = own[i]
                for k in range(n):
                    total += J[i * n + k] * (later[k] - expected[k])
                smoothed[row, i] = total
    return DONE


def regress(
    shocks: FloatTable,
    variances: FloatTable,
    slot: Ints,
    before: Floats,
    triangles: FloatTable,
    rests: Floats,
    stop: Flag,
):
    """Least squares as observations come in (Golub & Van Loan 2013, section 6.5).

    A row of `shocks` is an entry: its regressors, then its value. `triangles` takes the triangle of all rows
    up to each step, `rests` the sum of squares that no coefficient explains; `before` has both as they were.
    """
    steps, m = slot.size, variances.shape[1]
    size = shocks.shape[1]
    triangle, row = np.zeros((size, size)), np.empty(size)
    for j in range(size - 1):
        for k in range(size):
            triangle[j, k] = before[j * size + k]
    rest = before[(size - 1) * size]
    for t in range(steps):
        if stop[0] != 0:
            return STOPPED
        for i in range(m):
            variance = variances[slot[t], i]
            if variance == 0.0:
                continue
            root = math.sqrt(variance)
            for k in range(size):
                row[k] = shocks[t * m + i, k] / root
            for j in range(size - 1):
                if row[j] == 0.0:
                    continue
                own = triangle[j]
                c, d = own[j], row[j]
                length = math.sqrt(c * c + d * d)
                c /= length
                d /= length
                for k in range(j, size):
                    x = own[k]
                    own[k] = c * x + d * row[k]
                    row[k] = c * row[k] - d * x
            rest += row[size - 1] * row[size - 1]
        for j in range(size - 1):
            for k in range(size):
                triangles[t, j * size + k] = triangle[j, k]
        rests[t] = rest
    return DONE
