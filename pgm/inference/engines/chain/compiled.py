"""Forward-backward and Viterbi for hidden Markov chains: the loops.

All sequences are concatenated; sequence n is rows starts[n] to starts[n + 1]. Row t observes
`like[code[t]]`, the likelihood of each of the k states, divided by the largest of them; without codes its own
row, `like[t]`. `move` is the k x k matrix of transitions, row after row; where most of it is zero, `arc` has
what is not, those out of state i at[i] to at[i + 1], and `to` where each leads. Where it has zeros (`safe` is
0), a state that is nearly but not quite impossible may matter later: loops stop with NARROW before its
probability leaves the range of doubles, and the same is done in logarithms.
"""

from __future__ import annotations

import math

import numpy as np

from pgm.runtime.apart import apart
from pgm.runtime.kinds import Bytes, Flag, Floats, Ints, Ints32

DONE, STOPPED, NARROW, IMPOSSIBLE = 0, 1, 2, 3  # as in pgm/inference/trees/sweeps/compiled.py
_LOOK = 4096  # rows between two looks at the stop flag
_SEE = 16  # rows between two looks at how many states are possible
_LOW = 2.0**-64  # sums below this are scaled
_UP = 2.0**64
_TINY = 2.0**-500  # a positive share below this may be lost later
_FIRST = 2.0**-300  # the least sum in the first step
_BESIDE = 4  # sequences processed side by side, so that none waits for its own last step


def _times(k, move, a, o, out, p):
    """Write a * move to out[p], eight rows at a time, so that it is read less often."""
    i = 0
    if k < 8:
        for j in apart(k):
            out[p + j] = 0.0
    else:
        x0, x1, x2, x3, x4, x5, x6, x7 = (
            a[o], a[o + 1], a[o + 2], a[o + 3], a[o + 4], a[o + 5], a[o + 6], a[o + 7],
        )  # fmt: skip
        for j in apart(k):
            y = ((x0 * move[j] + x1 * move[k + j]) + x2 * move[2 * k + j]) + x3 * move[3 * k + j]
            y = ((y + x4 * move[4 * k + j]) + x5 * move[5 * k + j]) + x6 * move[6 * k + j]
            out[p + j] = y + x7 * move[7 * k + j]
        i = 8
    while i + 8 <= k:
        q = o + i
        x0, x1, x2, x3, x4, x5, x6, x7 = (
            a[q], a[q + 1], a[q + 2], a[q + 3], a[q + 4], a[q + 5], a[q + 6], a[q + 7],
        )  # fmt: skip
        m = i * k
        for j in apart(k):
            y = ((out[p + j] + x0 * move[m + j]) + x1 * move[m + k + j]) + x2 * move[m + 2 * k + j]
            y = ((y + x3 * move[m + 3 * k + j]) + x4 * move[m + 4 * k + j]) + x5 * move[m + 5 * k + j]
            out[p + j] = (y + x6 * move[m + 6 * k + j]) + x7 * move[m + 7 * k + j]
        i += 8
    while i + 4 <= k:
        x0, x1, x2, x3 = a[o + i], a[o + i + 1], a[o + i + 2], a[o + i + 3]
        m0 = i * k
        m1, m2, m3 = m0 + k, m0 + 2 * k, m0 + 3 * k
        for j in apart(k):
            out[p + j] = (
                ((out[p + j] + x0 * move[m0 + j]) + x1 * move[m1 + j]) + x2 * move[m2 + j]
            ) + x3 * move[m3 + j]
        i += 4
    while i < k:
        x = a[o + i]
        m = i * k
        for j in apart(k):
            out[p + j] += x * move[m + j]
        i += 1


def _along(k, at, to, arc, w, out):
    """A step back along the arcs: out = move * w."""
    for i in range(k):
        x = 0.0
        for e in range(at[i], at[i + 1]):
            x += arc[e] * w[to[e]]
        out[i] = x


def _onward(k, at, to, arc, into, of, way, a, few, like, b, out):
    """A step along the arcs: out = a * move * like.

    Where `few` states are possible it goes along the arcs out of these; else along those into each state,
    whose sum then does not wait for memory. Either way a sum is of the same numbers in the same order.
    """
    if few:
        for j in apart(k):
            out[j] = 0.0
        for i in range(k):
            x = a[i]
            if x != 0.0:
                for e in range(at[i], at[i + 1]):
                    out[to[e]] += x * arc[e]
        for j in apart(k):
            out[j] *= like[b + j]
    else:
        for j in range(k):
            x = 0.0
            for e in range(into[j], into[j + 1]):
                x += a[of[e]] * way[e]
            out[j] = x * like[b + j]


def _are_few(k, a):
    """Whether so many states are impossible that it pays to look up which."""
    live = 0
    for j in range(k):
        live += 1 if a[j] != 0.0 else 0
    return 8 * live < 7 * k


def _total(a, o, k):
    """The sum of k entries from a[o] on, four at a time: no addition waits for the sum of all before it."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for j in range(0, k - 3, 4):
        s0 += a[o + j]
        s1 += a[o + j + 1]
        s2 += a[o + j + 2]
        s3 += a[o + j + 3]
    for j in range(k - k % 4, k):
        s0 += a[o + j]
    return (s0 + s1) + (s2 + s3)


def forward(
    start: Floats,
    move: Floats,
    like: Floats,
    code: Ints32,
    starts: Ints,
    safe: int,
    carried: Floats,
    alpha: Floats,
    share: Floats,
    room: Floats,
    where: Ints,
    stop: Flag,
):
    """P(state | rows up to this one) in `alpha`, P(row | rows before) in `share` (Rabiner 1989).

    `carried` is the filtered distribution of the first sequence before these rows: probabilities of the
    states up to a factor, and their sum; zero if nothing was observed. Afterwards it is that of the last
    sequence.
    """
    g = 0
    width = _BESIDE if safe != 0 else 1
    while g < starts.size - 1:
        end = min(g + width, starts.size - 1)
        status = _forward(
            start,
            move,
            like,
            code,
            starts,
            safe,
            g,
            end,
            carried,
            alpha,
            share,
            room,
            where,
            stop,
        )
        if status == DONE:
            g = end
        elif width > 1 and status != STOPPED:
            width = 1  # again, one after the other: the first that fails is wanted
        else:
            return status
    return DONE


def _forward(start, move, like, code, starts, safe, first, last, carried, alpha, share, room, where, stop):
    k = start.size
    if k == 8:
        return _side_by_side(
            8,
            start,
            move,
            like,
            code,
            starts,
            safe,
            first,
            last,
            carried,
            alpha,
            share,
            room,
            where,
            stop,
        )
    elif k == 16:
        return _side_by_side(
            16,
            start,
            move,
            like,
            code,
            starts,
            safe,
            first,
            last,
            carried,
            alpha,
            share,
            room,
            where,
            stop,
        )
    elif k == 32:
        return _side_by_side(
            32,
            start,
            move,
            like,
            code,
            starts,
            safe,
            first,
            last,
            carried,
            alpha,
            share,
            room,
            where,
            stop,
        )
    else:
        return _side_by_side(
            k,
            start,
            move,
            like,
            code,
            starts,
            safe,
            first,
            last,
            carried,
            alpha,
            share,
            room,
            where,
            stop,
        )


def _side_by_side(
    k,
    start,
    move,
    like,
    code,
    starts,
    safe,
    first,
    last,
    carried,
    alpha,
    share,
    room,
    where,
    stop,
):
    """Sequences `first` to `last`, without the last, a step of each at a time."""
    coded = code.size > 0
    a = room[: _BESIDE * k]  # up to a factor, so that no step waits for a division
    ahead = room[_BESIDE * k :]
    before = np.ones(last - first)
    steps = 0
    for n in range(first, last):
        steps = max(steps, starts[n + 1] - starts[n])
    goes_on = first == 0 and carried[k] > 0.0
    if goes_on:
        before[0] = carried[k]
        for j in apart(k):
            a[j] = carried[j]
    for i in range(steps):
        if i % _LOOK == 0 and stop[0] != 0:
            return STOPPED
        for n in range(first, last):
            t = starts[n] + i
            if t < starts[n + 1]:
                s = (n - first) * k
                b = code[t] * k if coded else t * k
                if i == 0 and not (goes_on and n == 0):
                    for j in apart(k):
                        ahead[j] = start[j]
                else:
                    _times(k, move, a, s, ahead, 0)
                for j in apart(k):
                    a[s + j] = ahead[j] * like[b + j]
        for n in range(first, last):
            t = starts[n] + i
            if t < starts[n + 1]:
                s = (n - first) * k
                o = t * k
                is_first = i == 0 and not (goes_on and n == 0)
                total = _total(a, s, k)
                if not total > 0.0 or (safe != 0 and is_first and total < _FIRST):
                    where[0] = t
                    return IMPOSSIBLE if safe == 0 or (not total > 0.0 and not is_first) else NARROW
                share[t] = total / before[n - first]
                inverse = 1.0 / total
                for j in apart(k):
                    alpha[o + j] = a[s + j] * inverse
                if safe == 0:
                    for j in range(k):
                        if 0.0 < alpha[o + j] < _TINY:
                            return NARROW
                before[n - first] = total
                if total < _LOW or total > _UP:
                    for j in apart(k):
                        a[s + j] = alpha[o + j]
                    before[n - first] = 1.0
    if last == starts.size - 1:
        for j in apart(k):
            carried[j] = a[(last - first - 1) * k + j]
        carried[k] = before[last - first - 1]
    return DONE


def forward_along(
    start: Floats,
    at: Ints,
    to: Ints,
    arc: Floats,
    into: Ints,
    of: Ints,
    way: Floats,
    like: Floats,
    code: Ints32,
    starts: Ints,
    carried: Floats,
    alpha: Floats,
    share: Floats,
    room: Floats,
    where: Ints,
    stop: Flag,
):
    """The same where most transitions are impossible: along the arcs."""
    k = start.size
    coded = code.size > 0
    s = 0  # where in `room` the last step is
    few = False
    for n in range(starts.size - 1):
        goes_on = n == 0 and carried[k] > 0.0
        before = carried[k] if goes_on else 1.0
        if goes_on:
            for j in range(k):
                room[s + j] = carried[j]
        for t in range(starts[n], starts[n + 1]):
            if t % _LOOK == 0 and stop[0] != 0:
                return STOPPED
            o = t * k
            b = code[t] * k if coded else o
            s, a = k - s, room[s : s + k]
            out = room[s : s + k]
            if t % _SEE == 0:
                few = _are_few(k, a)
            is_first = t == starts[n] and not goes_on
            if is_first:
                for j in range(k):
                    out[j] = start[j] * like[b + j]
            else:
                _onward(k, at, to, arc, into, of, way, a, few, like, b, out)
            total = _total(out, 0, k)
            if not total > 0.0:
                where[0] = t
                return IMPOSSIBLE
            share[t] = total / before
            inverse = 1.0 / total
            lost = 0
            for j in range(k):
                x = out[j] * inverse
                alpha[o + j] = x
                lost += 1 if 0.0 < x < _TINY else 0
            if lost > 0:
                return NARROW
            before = total
            if total < _LOW or total > _UP:
                for j in range(k):
                    out[j] = alpha[o + j]
                before = 1.0
        carried[k] = before
    for j in range(k):
        carried[j] = room[s + j]
    return DONE


def forward_of_four(
    start: Floats,
    move: Floats,
    like: Floats,
    code: Ints32,
    starts: Ints,
    safe: int,
    carried: Floats,
    alpha: Floats,
    share: Floats,
    where: Ints,
    stop: Flag,
):
    """The same for four states."""
    coded = code.size > 0
    m00, m01, m02, m03 = move[0], move[1], move[2], move[3]
    m10, m11, m12, m13 = move[4], move[5], move[6], move[7]
    m20, m21, m22, m23 = move[8], move[9], move[10], move[11]
    m30, m31, m32, m33 = move[12], move[13], move[14], move[15]
    for n in range(starts.size - 1):
        goes_on = n == 0 and carried[4] > 0.0
        before = carried[4] if goes_on else 1.0
        a0, a1, a2, a3 = carried[0], carried[1], carried[2], carried[3]
        for t in range(starts[n], starts[n + 1]):
            if t % _LOOK == 0 and stop[0] != 0:
                return STOPPED
            o = t * 4
            b = code[t] * 4 if coded else o
            is_first = t == starts[n] and not goes_on
            if is_first:
                x0, x1, x2, x3 = start[0], start[1], start[2], start[3]
            else:
                x0 = (a0 * m00 + a1 * m10) + (a2 * m20 + a3 * m30)
                x1 = (a0 * m01 + a1 * m11) + (a2 * m21 + a3 * m31)
                x2 = (a0 * m02 + a1 * m12) + (a2 * m22 + a3 * m32)
                x3 = (a0 * m03 + a1 * m13) + (a2 * m23 + a3 * m33)
            a0, a1, a2, a3 = x0 * like[b], x1 * like[b + 1], x2 * like[b + 2], x3 * like[b + 3]
            total = (a0 + a1) + (a2 + a3)
            if not total > 0.0 or (safe != 0 and is_first and total < _FIRST):
                where[0] = t
                return IMPOSSIBLE if safe == 0 or (not total > 0.0 and not is_first) else NARROW
            share[t] = total / before
            inverse = 1.0 / total
            x0, x1, x2, x3 = a0 * inverse, a1 * inverse, a2 * inverse, a3 * inverse
            alpha[o] = x0
            alpha[o + 1] = x1
            alpha[o + 2] = x2
            alpha[o + 3] = x3
            if safe == 0:
                if 0.0 < x0 < _TINY or 0.0 < x1 < _TINY or 0.0 < x2 < _TINY or 0.0 < x3 < _TINY:
                    return NARROW
            before = total
            if total < _LOW or total > _UP:
                a0, a1, a2, a3 = x0, x1, x2, x3
                before = 1.0
        carried[0], carried[1], carried[2], carried[3], carried[4] = a0, a1, a2, a3, before
    return DONE


def backward(
    turned: Floats,
    like: Floats,
    code: Ints32,
    starts: Ints,
    weight: Floats,
    alpha: Floats,
    share: Floats,
    room: Floats,
    first: Floats,
    pairs: Floats,
    seen: Floats,
    stop: Flag,
):
    """P(state | all rows) in place of `alpha`; expected counts are added to first, pairs and seen if given.

    `pairs` lacks the factor of the transition itself. `seen` is by code. Each sequence counts `weight`.
    """
    k = first.size
    if k == 8:
        return _backward(8, turned, like, code, starts, weight, alpha, share, room, first, pairs, seen, stop)
    elif k == 16:
        return _backward(16, turned, like, code, starts, weight, alpha, share, room, first, pairs, seen, stop)
    elif k == 32:
        return _backward(32, turned, like, code, starts, weight, alpha, share, room, first, pairs, seen, stop)
    else:
        return _backward(k, turned, like, code, starts, weight, alpha, share, room, first, pairs, seen, stop)


def _backward(k, turned, like, code, starts, weight, alpha, share, room, first, pairs, seen, stop):
    coded = code.size > 0
    counted = seen.size > 0
    kept = pairs.size > 0  # pairs of four rows are added at once
    w, beta = room[: _BESIDE * k], room[_BESIDE * k : 2 * _BESIDE * k]
    here, onward = room[2 * _BESIDE * k : 6 * _BESIDE * k], room[6 * _BESIDE * k : 10 * _BESIDE * k]
    for g in range(0, starts.size - 1, _BESIDE):
        end = min(g + _BESIDE, starts.size - 1)
        steps = 0
        for n in range(g, end):
            steps = max(steps, starts[n + 1] - starts[n])
        for i in range(steps):
            if i % _LOOK == 0 and stop[0] != 0:
                return STOPPED
            for n in range(g, end):
                s = (n - g) * k
                if starts[n + 1] - 1 - i < starts[n]:
                    continue
                elif i == 0:
                    for j in apart(k):
                        beta[s + j] = 1.0
                else:
                    _times(k, turned, w, s, beta, s)
            for n in range(g, end):
                t = starts[n + 1] - 1 - i
                if t < starts[n]:
                    continue
                s = (n - g) * k
                o = t * k
                b = code[t] * k if coded else o
                heavy = weight[n]
                inverse = 1.0 / share[t]
                q = 4 * s + (i & 3) * k
                if kept:
                    many = heavy if i > 0 else 0.0  # nothing follows the last row
                    for j in apart(k):
                        here[q + j] = alpha[o + j] * many
                        onward[q + j] = w[s + j] if i > 0 else 0.0
                for j in apart(k):
                    # For a state that cannot be reached the backward probability is arbitrary.
                    a = alpha[o + j]
                    x = beta[s + j] if a != 0.0 else 0.0
                    w[s + j] = like[b + j] * inverse * x
                    alpha[o + j] = a * x
                if counted:
                    for j in apart(k):
                        seen[b + j] += heavy * alpha[o + j]
                if t == starts[n]:
                    for j in apart(k):
                        first[j] += heavy * alpha[o + j]
                if kept and (i & 3 == 3 or t == starts[n]):
                    for j in apart(q + k, 4 * (s + k)):
                        here[j] = 0.0
                        onward[j] = 0.0
                    _add_pairs(k, here, onward, 4 * s, pairs)
    return DONE


def _add_pairs(k, here, onward, o, pairs):
    """Add the expected pairs of four rows, two states at a time: `pairs` is read and written less often."""
    o1, o2, o3 = o + k, o + 2 * k, o + 3 * k
    for i in range(0, k - 1, 2):
        x0, x1, x2, x3 = here[o + i], here[o1 + i], here[o2 + i], here[o3 + i]
        y0, y1, y2, y3 = here[o + i + 1], here[o1 + i + 1], here[o2 + i + 1], here[o3 + i + 1]
        m = i * k
        for j in apart(k):
            w0, w1, w2, w3 = onward[o + j], onward[o1 + j], onward[o2 + j], onward[o3 + j]
            pairs[m + j] = (((pairs[m + j] + x0 * w0) + x1 * w1) + x2 * w2) + x3 * w3
            pairs[m + k + j] = (((pairs[m + k + j] + y0 * w0) + y1 * w1) + y2 * w2) + y3 * w3
    if k % 2 == 1:
        i = k - 1
        x0, x1, x2, x3 = here[o + i], here[o1 + i], here[o2 + i], here[o3 + i]
        m = i * k
        for j in apart(k):
            y0 = ((pairs[m + j] + x0 * onward[o + j]) + x1 * onward[o1 + j]) + x2 * onward[o2 + j]
            pairs[m + j] = y0 + x3 * onward[o3 + j]


def backward_along(
    at: Ints,
    to: Ints,
    arc: Floats,
    like: Floats,
    code: Ints32,
    starts: Ints,
    weight: Floats,
    alpha: Floats,
    share: Floats,
    room: Floats,
    first: Floats,
    pairs: Floats,
    seen: Floats,
    stop: Flag,
):
    """The same where most transitions are impossible: `pairs` is by arc."""
    k = first.size
    coded = code.size > 0
    counted = seen.size > 0
    w, beta = room[:k], room[k : 2 * k]
    for n in range(starts.size - 1):
        heavy = weight[n]
        last = starts[n + 1] - 1
        for t in range(last, starts[n] - 1, -1):
            if t % _LOOK == 0 and stop[0] != 0:
                return STOPPED
            o = t * k
            b = code[t] * k if coded else o
            inverse = 1.0 / share[t]
            if t == last:
                for j in range(k):
                    beta[j] = 1.0
            elif pairs.size == 0:
                _along(k, at, to, arc, w, beta)
            else:
                for i in range(k):
                    x = 0.0
                    if alpha[o + i] != 0.0:
                        y = alpha[o + i] * heavy
                        for e in range(at[i], at[i + 1]):
                            z = w[to[e]]
                            x += arc[e] * z
                            pairs[e] += y * z
                    beta[i] = x
            for j in apart(k):
                # For a state that cannot be reached the backward probability is arbitrary.
                a = alpha[o + j]
                x = beta[j] if a != 0.0 else 0.0
                w[j] = like[b + j] * inverse * x
                alpha[o + j] = a * x
            if counted:
                for j in apart(k):
                    seen[b + j] += heavy * alpha[o + j]
        for j in range(k):
            first[j] += heavy * alpha[starts[n] * k + j]
    return DONE


def backward_of_four(
    move: Floats,
    like: Floats,
    code: Ints32,
    starts: Ints,
    weight: Floats,
    alpha: Floats,
    share: Floats,
    first: Floats,
    pairs: Floats,
    seen: Floats,
    stop: Flag,
):
    """The same for four states, all of whose transitions are in `move`."""
    coded = code.size > 0
    paired = pairs.size > 0
    counted = seen.size > 0
    m00, m01, m02, m03 = move[0], move[1], move[2], move[3]
    m10, m11, m12, m13 = move[4], move[5], move[6], move[7]
    m20, m21, m22, m23 = move[8], move[9], move[10], move[11]
    m30, m31, m32, m33 = move[12], move[13], move[14], move[15]
    for n in range(starts.size - 1):
        begin, last = starts[n], starts[n + 1] - 1
        heavy = weight[n]
        w0, w1, w2, w3 = 0.0, 0.0, 0.0, 0.0
        for t in range(last, begin - 1, -1):
            if t % _LOOK == 0 and stop[0] != 0:
                return STOPPED
            o = t * 4
            a0, a1, a2, a3 = alpha[o], alpha[o + 1], alpha[o + 2], alpha[o + 3]
            b0, b1, b2, b3 = 1.0, 1.0, 1.0, 1.0
            if t < last:
                b0 = (m00 * w0 + m01 * w1) + (m02 * w2 + m03 * w3)
                b1 = (m10 * w0 + m11 * w1) + (m12 * w2 + m13 * w3)
                b2 = (m20 * w0 + m21 * w1) + (m22 * w2 + m23 * w3)
                b3 = (m30 * w0 + m31 * w1) + (m32 * w2 + m33 * w3)
                if paired:
                    x0, x1, x2, x3 = a0 * heavy, a1 * heavy, a2 * heavy, a3 * heavy
                    pairs[0] += x0 * w0
                    pairs[1] += x0 * w1
                    pairs[2] += x0 * w2
                    pairs[3] += x0 * w3
                    pairs[4] += x1 * w0
                    pairs[5] += x1 * w1
                    pairs[6] += x1 * w2
                    pairs[7] += x1 * w3
                    pairs[8] += x2 * w0
                    pairs[9] += x2 * w1
                    pairs[10] += x2 * w2
                    pairs[11] += x2 * w3
                    pairs[12] += x3 * w0
                    pairs[13] += x3 * w1
                    pairs[14] += x3 * w2
                    pairs[15] += x3 * w3
            b = code[t] * 4 if coded else o
            inverse = 1.0 / share[t]
            # For a state that cannot be reached the backward probability is arbitrary.
            w0 = (like[b] * inverse) * b0 if a0 != 0.0 else 0.0
            w1 = (like[b + 1] * inverse) * b1 if a1 != 0.0 else 0.0
            w2 = (like[b + 2] * inverse) * b2 if a2 != 0.0 else 0.0
            w3 = (like[b + 3] * inverse) * b3 if a3 != 0.0 else 0.0
            a0 = a0 * b0 if a0 != 0.0 else 0.0
            a1 = a1 * b1 if a1 != 0.0 else 0.0
            a2 = a2 * b2 if a2 != 0.0 else 0.0
            a3 = a3 * b3 if a3 != 0.0 else 0.0
            alpha[o] = a0
            alpha[o + 1] = a1
            alpha[o + 2] = a2
            alpha[o + 3] = a3
            if counted:
                seen[b] += heavy * a0
                seen[b + 1] += heavy * a1
                seen[b + 2] += heavy * a2
                seen[b + 3] += heavy * a3
        o = begin * 4
        for j in range(4):
            first[j] += heavy * alpha[o + j]
    return DONE


def lagged(
    turned: Floats,
    at: Ints,
    to: Ints,
    arc: Floats,
    like: Floats,
    code: Ints32,
    starts: Ints,
    lag: int,
    k: int,
    alpha: Floats,
    share: Floats,
    gamma: Floats,
    stop: Flag,
):
    """P(state | rows up to `lag` steps later) in `gamma`."""
    coded = code.size > 0
    beta = np.empty(k)
    w = np.empty(k)
    for n in range(starts.size - 1):
        for t in range(starts[n], starts[n + 1]):
            if stop[0] != 0:
                return STOPPED
            for j in range(k):
                beta[j] = 1.0
            for s in range(min(t + lag, starts[n + 1] - 1), t, -1):
                b = code[s] * k if coded else s * k
                inverse = 1.0 / share[s]
                for j in range(k):
                    w[j] = like[b + j] * inverse * beta[j] if alpha[s * k + j] != 0.0 else 0.0
                if at.size == 0:
                    _times(k, turned, w, 0, beta, 0)
                else:
                    _along(k, at, to, arc, w, beta)
            for j in range(k):
                a = alpha[t * k + j]
                gamma[t * k + j] = a * beta[j] if a != 0.0 else 0.0
    return DONE


def score(
    start: Floats,
    move: Floats,
    turned: Floats,
    room: Floats,
    like: Floats,
    code: Ints32,
    starts: Ints,
    safe: int,
    logs: Floats,
    powers: Ints,
    stop: Flag,
):
    """Log P of each sequence: `logs`, and powers of two to be added; nothing else is kept.

    Where nothing can underflow it runs from both ends at once: neither direction waits for the other.
    """
    k = start.size
    if k == 8:
        return _score(8, start, move, turned, room, like, code, starts, safe, logs, powers, stop)
    elif k == 16:
        return _score(16, start, move, turned, room, like, code, starts, safe, logs, powers, stop)
    elif k == 32:
        return _score(32, start, move, turned, room, like, code, starts, safe, logs, powers, stop)
    else:
        return _score(k, start, move, turned, room, like, code, starts, safe, logs, powers, stop)


def _score(k, start, move, turned, room, like, code, starts, safe, logs, powers, stop):
    """The same for k states; common values of k are constants to the compiler."""
    coded = code.size > 0
    a, back = room[: _BESIDE * k], room[_BESIDE * k : 2 * _BESIDE * k]
    ahead, w = room[2 * _BESIDE * k : (2 * _BESIDE + 1) * k], room[(2 * _BESIDE + 1) * k :]
    half = np.empty(_BESIDE, np.int64)
    for g in range(0, starts.size - 1, _BESIDE):
        last = min(g + _BESIDE, starts.size - 1)
        least, steps = starts[last] - starts[g], 0
        for n in range(g, last):
            begin = starts[n]
            half[n - g] = (starts[n + 1] - begin - 1) // 2 if safe != 0 else 0
            least, steps = min(least, half[n - g]), max(steps, half[n - g])
            b = code[begin] * k if coded else begin * k
            s = (n - g) * k
            total = 0.0
            for j in range(k):
                a[s + j] = start[j] * like[b + j]
                total += a[s + j]
                back[s + j] = 1.0
            if not total > 0.0 or (safe != 0 and total < _FIRST):
                return NARROW  # or impossible: the caller, who looks for the step, will see
            powers[n] = 0
        # A row changes sums by 2**-364 to 2**64 at most, and what is above _TINY after four has lost nothing.
        for i in range(steps):
            if i % _LOOK == 0 and stop[0] != 0:
                return STOPPED
            for n in range(g, last):
                if i < half[n - g]:
                    s = (n - g) * k
                    t = starts[n + 1] - 1 - i
                    c = code[t] * k if coded else t * k
                    for j in apart(k):
                        w[j] = back[s + j] * like[c + j]
                    _times(k, turned, w, 0, back, s)
            for n in range(g, last):
                if i < half[n - g]:
                    s = (n - g) * k
                    t = starts[n] + 1 + i
                    b = code[t] * k if coded else t * k
                    _times(k, move, a, s, ahead, 0)
                    for j in apart(k):
                        a[s + j] = ahead[j] * like[b + j]
            if i & 3 != 3 and i < least - 1:
                continue
            for n in range(g, last):
                if i >= half[n - g] or (i & 3 != 3 and i < half[n - g] - 1):
                    continue
                s = (n - g) * k
                total = _total(a, s, k)
                other = _total(back, s, k)
                if not total > _TINY or not other > _TINY:
                    return NARROW
                if not _LOW <= total <= _UP:
                    power = _scaled(a, s, k, total)
                    powers[n] += power
                if not _LOW <= other <= _UP:
                    power = _scaled(back, s, k, other)
                    powers[n] += power
        for n in range(g, last):
            s = (n - g) * k
            for t in range(starts[n] + 1 + half[n - g], starts[n + 1] - half[n - g]):
                if t % _LOOK == 0 and stop[0] != 0:
                    return STOPPED
                b = code[t] * k if coded else t * k
                _times(k, move, a, s, ahead, 0)
                for j in apart(k):
                    a[s + j] = ahead[j] * like[b + j]
                total = _total(a, s, k)
                if not total > 0.0:
                    return NARROW
                if not _LOW <= total <= _UP:
                    power = _scaled(a, s, k, total)
                    powers[n] += power
                if safe == 0:
                    for j in range(k):
                        if 0.0 < a[s + j] < _TINY:
                            return NARROW
            total = 0.0
            for j in range(k):
                total += a[s + j] * back[s + j]
            if not total > 0.0:
                return NARROW
            logs[n] = math.log(total)
    return DONE


def score_along(
    start: Floats,
    at: Ints,
    to: Ints,
    arc: Floats,
    into: Ints,
    of: Ints,
    way: Floats,
    room: Floats,
    like: Floats,
    code: Ints32,
    starts: Ints,
    logs: Floats,
    powers: Ints,
    stop: Flag,
):
    """The same where most transitions are impossible: along the arcs, and forwards only."""
    k = start.size
    coded = code.size > 0
    s = 0  # where in `room` the last step is
    few = False
    for n in range(starts.size - 1):
        b = code[starts[n]] * k if coded else starts[n] * k
        total = 0.0
        for j in range(k):
            x = start[j] * like[b + j]
            room[s + j] = x
            total += x
        if not total > 0.0:
            return NARROW  # or impossible: the caller, who looks for the step, will see
        powers[n] = 0
        for t in range(starts[n] + 1, starts[n + 1]):
            if t % _LOOK == 0 and stop[0] != 0:
                return STOPPED
            b = code[t] * k if coded else t * k
            s, a = k - s, room[s : s + k]
            out = room[s : s + k]
            if t % _SEE == 0:
                few = _are_few(k, a)
            _onward(k, at, to, arc, into, of, way, a, few, like, b, out)
            total = _total(out, 0, k)
            if not total > 0.0:
                return NARROW
            if not _LOW <= total <= _UP:
                power = _scaled(out, 0, k, total)
                powers[n] += power
            for j in range(k):
                if 0.0 < out[j] < _TINY:
                    return NARROW
        total = 0.0
        for j in range(k):
            total += room[s + j]
        logs[n] = math.log(total)
    return DONE


def _scaled(a, o, k, total):
    """Scale k entries that sum to `total` to near one; returns the power of two that was taken out."""
    power = 0
    by = 1.0
    while total < _LOW:
        total *= _UP
        by *= _UP
        power -= 64
    while total > _UP:  # densities may be large
        total *= _LOW
        by *= _LOW
        power += 64
    for j in apart(o, o + k):
        a[j] *= by
    return power


def score_of_four(
    start: Floats,
    move: Floats,
    like: Floats,
    code: Ints32,
    starts: Ints,
    safe: int,
    logs: Floats,
    powers: Ints,
    stop: Flag,
):
    """The same for four states, from both ends at once: neither direction waits for the other."""
    coded = code.size > 0
    m00, m01, m02, m03 = move[0], move[1], move[2], move[3]
    m10, m11, m12, m13 = move[4], move[5], move[6], move[7]
    m20, m21, m22, m23 = move[8], move[9], move[10], move[11]
    m30, m31, m32, m33 = move[12], move[13], move[14], move[15]
    for n in range(starts.size - 1):
        begin, end = starts[n], starts[n + 1]
        power = 0
        b = code[begin] * 4 if coded else begin * 4
        a0, a1, a2, a3 = (
            start[0] * like[b],
            start[1] * like[b + 1],
            start[2] * like[b + 2],
            start[3] * like[b + 3],
        )
        total = (a0 + a1) + (a2 + a3)
        if not total > 0.0 or (safe != 0 and total < _FIRST):
            return NARROW
        b0, b1, b2, b3 = 1.0, 1.0, 1.0, 1.0
        half = (end - begin - 1) // 2
        for i in range(half):
            if i % _LOOK == 0 and stop[0] != 0:
                return STOPPED
            b = code[begin + 1 + i] * 4 if coded else (begin + 1 + i) * 4
            c = code[end - 1 - i] * 4 if coded else (end - 1 - i) * 4
            x0 = ((a0 * m00 + a1 * m10) + (a2 * m20 + a3 * m30)) * like[b]
            x1 = ((a0 * m01 + a1 * m11) + (a2 * m21 + a3 * m31)) * like[b + 1]
            x2 = ((a0 * m02 + a1 * m12) + (a2 * m22 + a3 * m32)) * like[b + 2]
            x3 = ((a0 * m03 + a1 * m13) + (a2 * m23 + a3 * m33)) * like[b + 3]
            b0 *= like[c]
            b1 *= like[c + 1]
            b2 *= like[c + 2]
            b3 *= like[c + 3]
            y0 = (m00 * b0 + m01 * b1) + (m02 * b2 + m03 * b3)
            y1 = (m10 * b0 + m11 * b1) + (m12 * b2 + m13 * b3)
            y2 = (m20 * b0 + m21 * b1) + (m22 * b2 + m23 * b3)
            y3 = (m30 * b0 + m31 * b1) + (m32 * b2 + m33 * b3)
            a0, a1, a2, a3 = x0, x1, x2, x3
            b0, b1, b2, b3 = y0, y1, y2, y3
            total = (x0 + x1) + (x2 + x3)
            other = (y0 + y1) + (y2 + y3)
            if total > _UP:  # densities may be large
                total *= _LOW
                power += 64
                a0, a1, a2, a3 = a0 * _LOW, a1 * _LOW, a2 * _LOW, a3 * _LOW
            if other > _UP:
                other *= _LOW
                power += 64
                b0, b1, b2, b3 = b0 * _LOW, b1 * _LOW, b2 * _LOW, b3 * _LOW
            if total < _LOW or other < _LOW:
                if not total > 0.0 or not other > 0.0:
                    return NARROW
                while total < _LOW:
                    total *= _UP
                    power -= 64
                    a0, a1, a2, a3 = a0 * _UP, a1 * _UP, a2 * _UP, a3 * _UP
                while other < _LOW:
                    other *= _UP
                    power -= 64
                    b0, b1, b2, b3 = b0 * _UP, b1 * _UP, b2 * _UP, b3 * _UP
            if safe == 0:
                if 0.0 < a0 < _TINY or 0.0 < a1 < _TINY or 0.0 < a2 < _TINY or 0.0 < a3 < _TINY:
                    return NARROW
                if 0.0 < b0 < _TINY or 0.0 < b1 < _TINY or 0.0 < b2 < _TINY or 0.0 < b3 < _TINY:
                    return NARROW
        if (end - begin) % 2 == 0:  # a step is left in the middle
            b = code[begin + 1 + half] * 4 if coded else (begin + 1 + half) * 4
            x0 = ((a0 * m00 + a1 * m10) + (a2 * m20 + a3 * m30)) * like[b]
            x1 = ((a0 * m01 + a1 * m11) + (a2 * m21 + a3 * m31)) * like[b + 1]
            x2 = ((a0 * m02 + a1 * m12) + (a2 * m22 + a3 * m32)) * like[b + 2]
            x3 = ((a0 * m03 + a1 * m13) + (a2 * m23 + a3 * m33)) * like[b + 3]
            a0, a1, a2, a3 = x0, x1, x2, x3
        total = (a0 * b0 + a1 * b1) + (a2 * b2 + a3 * b3)
        if not total > 0.0:
            return NARROW
        logs[n] = math.log(total)
        powers[n] = power
    return DONE


def largest(logs: Floats, k: int, most: Floats):
    """The largest of each k entries."""
    for t in range(most.size):
        x = logs[t * k]
        for j in range(1, k):
            x = max(x, logs[t * k + j])
        most[t] = x
    return DONE


# --- in logarithms: slower, and nothing is too small --------------------------------------------------------


def forward_in_logs(
    start: Floats,
    move: Floats,
    like: Floats,
    code: Ints32,
    starts: Ints,
    carried: Floats,
    alpha: Floats,
    share: Floats,
    where: Ints,
    stop: Flag,
):
    """Log P(state | rows up to this one), and log P(row | rows before); all that is given are logarithms.

    `carried` is the first of these before these rows, where the first sequence has begun; else it is empty.
    """
    k = start.size
    coded = code.size > 0
    before = np.empty(k)
    for n in range(starts.size - 1):
        for t in range(starts[n], starts[n + 1]):
            if stop[0] != 0:
                return STOPPED
            o = t * k
            b = code[t] * k if coded else o
            is_first = t == starts[n]
            if is_first and n == 0 and carried.size > 0:
                is_first = False
                for j in range(k):
                    before[j] = carried[j]
            most = -math.inf
            for j in range(k):
                if is_first:
                    x = start[j]
                else:
                    top = -math.inf
                    for i in range(k):
                        top = max(top, before[i] + move[i * k + j])
                    x = -math.inf
                    if top > -math.inf:
                        s = 0.0
                        for i in range(k):
                            s += math.exp(before[i] + move[i * k + j] - top)
                        x = top + math.log(s)
                x += like[b + j]
                alpha[o + j] = x
                most = max(most, x)
            if most == -math.inf:
                where[0] = t
                return IMPOSSIBLE
            s = 0.0
            for j in range(k):
                s += math.exp(alpha[o + j] - most)
            share[t] = most + math.log(s)
            for j in range(k):
                alpha[o + j] -= share[t]
                before[j] = alpha[o + j]
    return DONE


def backward_in_logs(
    move: Floats, like: Floats, code: Ints32, starts: Ints, k: int, beta: Floats, stop: Flag
):
    """Log P(rows after | state), less the largest of each row: sums of many rows would lose digits."""
    coded = code.size > 0
    w = np.empty(k)
    for n in range(starts.size - 1):
        for t in range(starts[n + 1] - 1, starts[n] - 1, -1):
            if stop[0] != 0:
                return STOPPED
            o = t * k
            if t == starts[n + 1] - 1:
                for j in range(k):
                    beta[o + j] = 0.0
                continue
            b = code[t + 1] * k if coded else o + k
            for j in range(k):
                w[j] = like[b + j] + beta[o + k + j]
            most = -math.inf
            for i in range(k):
                top = -math.inf
                for j in range(k):
                    top = max(top, move[i * k + j] + w[j])
                beta[o + i] = -math.inf
                if top > -math.inf:
                    s = 0.0
                    for j in range(k):
                        s += math.exp(move[i * k + j] + w[j] - top)
                    beta[o + i] = top + math.log(s)
                most = max(most, beta[o + i])
            if most > -math.inf:
                for i in range(k):
                    beta[o + i] -= most
    return DONE


# --- the most probable paths --------------------------------------------------------------------------------


def _best(k, move, a, o, out):
    """Raise `out` to the best of a[o + i] + move[i], row after row, four at a time as in `_times`."""
    i = 0
    while i + 4 <= k:
        x0, x1, x2, x3 = a[o + i], a[o + i + 1], a[o + i + 2], a[o + i + 3]
        m0 = i * k
        m1, m2, m3 = m0 + k, m0 + 2 * k, m0 + 3 * k
        for j in range(k):
            y0, y1, y2, y3 = x0 + move[m0 + j], x1 + move[m1 + j], x2 + move[m2 + j], x3 + move[m3 + j]
            y0 = y0 if y0 > y1 else y1
            y2 = y2 if y2 > y3 else y3
            y0 = y0 if y0 > y2 else y2
            out[j] = y0 if y0 > out[j] else out[j]
        i += 4
    while i < k:
        x = a[o + i]
        m = i * k
        for j in range(k):
            y = x + move[m + j]
            out[j] = y if y > out[j] else out[j]
        i += 1


def best_paths(
    start: Floats,
    move: Floats,
    turned: Floats,
    at: Ints,
    to: Ints,
    arc: Floats,
    like: Floats,
    code: Ints32,
    starts: Ints,
    kept: Floats,
    path: Ints32,
    value: Floats,
    where: Ints,
    stop: Flag,
):
    """The best path of each sequence and its logarithm (Viterbi 1967); all that is given are logarithms.

    `kept` has room for the scores of the best paths to all states, in each step of the longest sequence;
    predecessors are looked up on the way back. Of equal paths the one with the first states wins, compared
    from the end.
    """
    k = start.size
    coded = code.size > 0
    ahead = np.empty(k)
    for n in range(starts.size - 1):
        begin, end = starts[n], starts[n + 1]
        taken = 0.0
        for t in range(begin, end):
            if t % _LOOK == 0 and stop[0] != 0:
                return STOPPED
            b = code[t] * k if coded else t * k
            o = (t - begin) * k
            if t == begin:
                for j in range(k):
                    ahead[j] = start[j]
            else:
                for j in range(k):
                    ahead[j] = -math.inf
                if at.size == 0:
                    _best(k, move, kept, o - k, ahead)
                else:
                    for i in range(k):
                        x = kept[o - k + i]
                        for e in range(at[i], at[i + 1]):
                            y = x + arc[e]
                            ahead[to[e]] = y if y > ahead[to[e]] else ahead[to[e]]
            most = -math.inf
            for j in range(k):
                x = ahead[j] + like[b + j]
                kept[o + j] = x
                most = max(most, x)
            if most == -math.inf:
                where[0] = t
                return IMPOSSIBLE
            if (t - begin) % 64 == 0:  # so that sums do not lose digits as they grow
                taken += most
                for j in range(k):
                    kept[o + j] -= most
        o = (end - 1 - begin) * k
        state = 0
        for i in range(1, k):
            if kept[o + i] > kept[o + state]:
                state = i
        value[n] = kept[o + state] + taken
        path[end - 1] = state
        for t in range(end - 2, begin - 1, -1):
            o = (t - begin) * k
            m = state * k
            most = kept[o] + turned[m]
            for i in range(k):
                x = kept[o + i] + turned[m + i]
                ahead[i] = x
                most = x if x > most else most
            state = 0
            while ahead[state] < most:
                state += 1
            path[t] = state
    return DONE


def best_paths_of_four(
    start: Floats,
    move: Floats,
    like: Floats,
    code: Ints32,
    starts: Ints,
    ways: Bytes,
    path: Ints32,
    value: Floats,
    where: Ints,
    stop: Flag,
):
    """The same for four states; `ways` has a byte for each step: of each state, which it was reached from."""
    coded = code.size > 0
    m00, m01, m02, m03 = move[0], move[1], move[2], move[3]
    m10, m11, m12, m13 = move[4], move[5], move[6], move[7]
    m20, m21, m22, m23 = move[8], move[9], move[10], move[11]
    m30, m31, m32, m33 = move[12], move[13], move[14], move[15]
    for n in range(starts.size - 1):
        begin, end = starts[n], starts[n + 1]
        taken = 0.0
        a0, a1, a2, a3 = 0.0, 0.0, 0.0, 0.0
        for t in range(begin, end):
            if t % _LOOK == 0 and stop[0] != 0:
                return STOPPED
            b = code[t] * 4 if coded else t * 4
            if t == begin:
                x0, x1, x2, x3 = start[0], start[1], start[2], start[3]
            else:
                x0, i0 = _best_of_four(a0 + m00, a1 + m10, a2 + m20, a3 + m30)
                x1, i1 = _best_of_four(a0 + m01, a1 + m11, a2 + m21, a3 + m31)
                x2, i2 = _best_of_four(a0 + m02, a1 + m12, a2 + m22, a3 + m32)
                x3, i3 = _best_of_four(a0 + m03, a1 + m13, a2 + m23, a3 + m33)
                ways[t - begin] = (i0 + 4 * i1) + (16 * i2 + 64 * i3)
            a0, a1, a2, a3 = x0 + like[b], x1 + like[b + 1], x2 + like[b + 2], x3 + like[b + 3]
            x0 = a0 if a0 > a1 else a1
            x2 = a2 if a2 > a3 else a3
            x0 = x0 if x0 > x2 else x2
            if x0 == -math.inf:
                where[0] = t
                return IMPOSSIBLE
            if (t - begin) % 64 == 0:  # so that sums do not lose digits as they grow
                taken += x0
                a0, a1, a2, a3 = a0 - x0, a1 - x0, a2 - x0, a3 - x0
        most, state = _best_of_four(a0, a1, a2, a3)
        value[n] = most + taken
        path[end - 1] = state
        for t in range(end - 1, begin, -1):
            state = (ways[t - begin] >> (2 * state)) & 3
            path[t - 1] = state
    return DONE


def _best_of_four(y0, y1, y2, y3):
    """The largest, and the first that is as large."""
    i = 1 if y1 > y0 else 0
    j = 3 if y3 > y2 else 2
    x = y0 if y0 > y1 else y1
    z = y2 if y2 > y3 else y3
    later = 1 if z > x else 0
    return (x if x > z else z), i + later * (j - i)


def ranked_paths(
    start: Floats,
    move: Floats,
    like: Floats,
    code: Ints32,
    many: int,
    values: Floats,
    paths: Ints32,
    count: Ints,
    stop: Flag,
):
    """The `many` best paths of one sequence, the best first; `count` gets how many there are.

    Each state keeps that many best paths to itself, each of which extends one of those to the state before
    (Seshadri & Sundberg 1994). All that is given are logarithms.
    """
    k = start.size
    coded = code.size > 0
    steps = code.size if coded else like.size // k
    best = np.full(k * many, -math.inf)
    ahead = np.full(k * many, -math.inf)
    back = np.zeros(steps * k * many, np.int32)  # which of all paths to the step before
    for t in range(steps):
        if stop[0] != 0:
            return STOPPED
        b = code[t] * k if coded else t * k
        o = t * k * many
        for j in range(k):
            for r in range(many):
                ahead[j * many + r] = -math.inf
            if t == 0:
                ahead[j * many] = start[j] + like[b + j]
                continue
            here = j * many
            for i in range(k):
                step = move[i * k + j] + like[b + j]
                if step == -math.inf:
                    continue
                for r in range(many):
                    y = best[i * many + r] + step
                    if not y > ahead[here + many - 1]:
                        break  # those after it are no better
                    place = many - 1
                    while place > 0 and y > ahead[here + place - 1]:
                        ahead[here + place] = ahead[here + place - 1]
                        back[o + here + place] = back[o + here + place - 1]
                        place -= 1
                    ahead[here + place] = y
                    back[o + here + place] = i * many + r
        for i in range(k * many):
            best[i] = ahead[i]
    found = 0
    while found < many:
        top = 0
        for i in range(1, k * many):
            if best[i] > best[top]:
                top = i
        if best[top] == -math.inf:
            break
        values[found] = best[top]
        best[top] = -math.inf
        place = top
        for t in range(steps - 1, -1, -1):
            paths[found * steps + t] = place // many
            place = back[t * k * many + place]
        found += 1
    count[0] = found
    return DONE


# --- drawing ------------------------------------------------------------------------------------------------


def walk(start: Floats, move: Floats, uniform: Floats, starts: Ints, path: Ints32):
    """States drawn one after the other; `start` and the rows of `move` are sums of probabilities so far."""
    k = start.size
    for n in range(starts.size - 1):
        state = 0
        for t in range(starts[n], starts[n + 1]):
            j = 0
            if t == starts[n]:
                while j < k - 1 and uniform[t] >= start[j]:
                    j += 1
            else:
                while j < k - 1 and uniform[t] >= move[state * k + j]:
                    j += 1
            state = j
            path[t] = j


def walk_far(first: Floats, at: Ints, move: Floats, k: int, uniform: Floats, starts: Ints, path: Ints32):
    """States each of which depends on several before it, drawn one after the other.

    `first` has the tables of the first steps one behind the other, that of step s from at[s] on. Tables have
    a row for each sequence of states before, of sums of probabilities so far.
    """
    order = at.size
    wide = 1
    for _ in range(order):
        wide *= k
    for n in range(starts.size - 1):
        before = 0  # the last states as digits of a number
        for t in range(starts[n], starts[n + 1]):
            j = 0
            if t - starts[n] < order:
                row = at[t - starts[n]] + before * k
                while j < k - 1 and uniform[t] >= first[row + j]:
                    j += 1
            else:
                row = before * k
                while j < k - 1 and uniform[t] >= move[row + j]:
                    j += 1
            path[t] = j
            before = (before * k + j) % wide


def walk_back(move: Floats, k: int, alpha: Floats, uniform: Floats, starts: Ints, path: Ints32):
    """Paths given all rows, drawn backwards from the filtered distributions (Fruehwirth-Schnatter 1994)."""
    n = starts.size - 1
    w = np.empty(k)
    state = 0
    for t in range(path.size - 1, -1, -1):
        last = t == starts[n] - 1
        if last:
            n -= 1
        total = 0.0
        for i in range(k):
            x = alpha[t * k + i]
            if not last:
                x *= move[i * k + state]
            w[i] = x
            total += x
        x = uniform[t] * total
        chosen = -1
        for i in range(k):
            if w[i] > 0.0 and (chosen < 0 or x >= 0.0):
                chosen = i
            x -= w[i]
        state = chosen
        path[t] = state


def walk_back_in_logs(move: Floats, k: int, alpha: Floats, uniform: Floats, starts: Ints, path: Ints32):
    """The same, where `move` and `alpha` are logarithms: a state beyond the range of doubles may be drawn."""
    n = starts.size - 1
    w = np.empty(k)
    state = 0
    for t in range(path.size - 1, -1, -1):
        last = t == starts[n] - 1
        if last:
            n -= 1
        most = -math.inf
        for i in range(k):
            w[i] = alpha[t * k + i]
            if not last:
                w[i] += move[i * k + state]
            most = max(most, w[i])
        total = 0.0
        for i in range(k):
            w[i] = math.exp(w[i] - most)
            total += w[i]
        x = uniform[t] * total
        chosen = -1
        for i in range(k):
            if w[i] > 0.0 and (chosen < 0 or x >= 0.0):
                chosen = i
            x -= w[i]
        state = chosen
        path[t] = state
