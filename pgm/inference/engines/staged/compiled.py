"""Chains whose transitions consist of several stages: the loops.

A step leads from the k states through one stage or several, each a sparse matrix, to the k states again: the
chains of a factorial model move one after the other, a semi-Markov model leaves a state before it enters one.
Stage s has sizes[s] places before it and sizes[s + 1] behind it. Its arcs out of place i are those from
at[first[s] + i] to at[first[s] + i + 1], each leads to `to`, and has its share in a row of `values`: which
row a step takes is `which`, one for each row that is entered; without it the first. `buf` and `back` have a
row of `width` for each place between stages. Sequences are concatenated, and `like` and
`code` are as in pgm/inference/engines/chain/compiled.py. Between two states there is at most one path.
"""

from __future__ import annotations

import math

import numpy as np

from pgm.runtime.kinds import Flag, Floats, Ints, Ints32

DONE, STOPPED, NARROW, IMPOSSIBLE = 0, 1, 2, 3  # as in pgm/inference/trees/sweeps/compiled.py
_LOOK = 1024  # rows between two looks at the stop flag
_TINY = 2.0**-500  # a positive share below this may be lost later


def _onward(sizes, first, at, to, values, v, width, buf):
    """A step: the first row of `buf` is before it, the last behind it."""
    for s in range(sizes.size - 1):
        a, b = s * width, (s + 1) * width
        for j in range(sizes[s + 1]):
            buf[b + j] = 0.0
        for i in range(sizes[s]):
            x = buf[a + i]
            if x != 0.0:
                o = first[s] + i
                for e in range(at[o], at[o + 1]):
                    buf[b + to[e]] += x * values[v + e]


def _backward(sizes, first, at, to, values, v, width, back):
    """A step back: the last row of `back` has the backward values after it, the first those before it."""
    for s in range(sizes.size - 2, -1, -1):
        a, b = s * width, (s + 1) * width
        for i in range(sizes[s]):
            o = first[s] + i
            x = 0.0
            for e in range(at[o], at[o + 1]):
                x += values[v + e] * back[b + to[e]]
            back[a + i] = x


def forward(
    start: Floats,
    begin: Ints,
    sizes: Ints,
    first: Ints,
    at: Ints,
    to: Ints,
    values: Floats,
    which: Ints,
    width: int,
    like: Floats,
    code: Ints32,
    starts: Ints,
    alpha: Floats,
    share: Floats,
    where: Ints,
    stop: Flag,
):
    """P(state | rows up to this one) in `alpha`, P(row | rows before) in `share`."""
    k, last, arcs = sizes[0], (sizes.size - 1) * width, to.size
    coded, varied = code.size > 0, which.size > 0
    buf = np.empty(sizes.size * width)
    for n in range(starts.size - 1):
        for t in range(starts[n], starts[n + 1]):
            if t % _LOOK == 0 and stop[0] != 0:
                return STOPPED
            o = t * k
            b = code[t] * k if coded else o
            if t == starts[n]:
                s = begin[n] * k if begin.size > 0 else 0
                for j in range(k):
                    buf[last + j] = start[s + j]
            else:
                for j in range(k):
                    buf[j] = alpha[o - k + j]
                _onward(sizes, first, at, to, values, which[t] * arcs if varied else 0, width, buf)
            total = 0.0
            for j in range(k):
                x = buf[last + j] * like[b + j]
                alpha[o + j] = x
                total += x
            if not total > 0.0:
                where[0] = t
                return IMPOSSIBLE
            share[t] = total
            inverse = 1.0 / total
            for j in range(k):
                x = alpha[o + j] * inverse
                alpha[o + j] = x
                if 0.0 < x < _TINY:
                    return NARROW
    return DONE


def backward(
    begin: Ints,
    sizes: Ints,
    first: Ints,
    at: Ints,
    to: Ints,
    values: Floats,
    which: Ints,
    width: int,
    like: Floats,
    code: Ints32,
    starts: Ints,
    weight: Floats,
    alpha: Floats,
    share: Floats,
    begun: Floats,
    counts: Floats,
    seen: Floats,
    stop: Flag,
):
    """P(state | all rows) in place of `alpha`; expected counts are added to begun, and counts and seen."""
    k, last, arcs = sizes[0], (sizes.size - 1) * width, to.size
    coded, varied = code.size > 0, which.size > 0
    counted, summed = counts.size > 0, seen.size > 0
    buf = np.empty(sizes.size * width)
    back = np.empty(sizes.size * width)
    for n in range(starts.size - 1):
        heavy = weight[n]
        for t in range(starts[n + 1] - 1, starts[n] - 1, -1):
            if t % _LOOK == 0 and stop[0] != 0:
                return STOPPED
            o = t * k
            if t == starts[n + 1] - 1:
                for j in range(k):
                    back[j] = 1.0
            else:
                v = which[t + 1] * arcs if varied else 0
                _backward(sizes, first, at, to, values, v, width, back)
                if counted:
                    for j in range(k):
                        buf[j] = alpha[o + j] * heavy
                    for s in range(sizes.size - 1):
                        a, b = s * width, (s + 1) * width
                        for j in range(sizes[s + 1]):
                            buf[b + j] = 0.0
                        for i in range(sizes[s]):
                            x = buf[a + i]
                            if x != 0.0:
                                for e in range(at[first[s] + i], at[first[s] + i + 1]):
                                    y = x * values[v + e]
                                    buf[b + to[e]] += y
                                    counts[v + e] += y * back[b + to[e]]
            c = code[t] * k if coded else o
            inverse = 1.0 / share[t]
            for j in range(k):
                x = alpha[o + j]
                beta = back[j]
                # For a state that cannot be reached the backward probability is arbitrary.
                back[last + j] = like[c + j] * inverse * beta if x != 0.0 else 0.0
                alpha[o + j] = x * beta if x != 0.0 else 0.0
            if summed:
                for j in range(k):
                    seen[c + j] += heavy * alpha[o + j]
        b = begin[n] * k if begin.size > 0 else 0
        for j in range(k):
            begun[b + j] += heavy * alpha[starts[n] * k + j]
    return DONE


def lagged(
    sizes: Ints,
    first: Ints,
    at: Ints,
    to: Ints,
    values: Floats,
    which: Ints,
    width: int,
    like: Floats,
    code: Ints32,
    starts: Ints,
    lag: int,
    alpha: Floats,
    share: Floats,
    gamma: Floats,
    stop: Flag,
):
    """P(state | rows up to `lag` steps later) in `gamma`."""
    k, last, arcs = sizes[0], (sizes.size - 1) * width, to.size
    coded, varied = code.size > 0, which.size > 0
    back = np.empty(sizes.size * width)
    for n in range(starts.size - 1):
        for t in range(starts[n], starts[n + 1]):
            if stop[0] != 0:
                return STOPPED
            for j in range(k):
                back[j] = 1.0
            for u in range(min(t + lag, starts[n + 1] - 1), t, -1):
                b = code[u] * k if coded else u * k
                inverse = 1.0 / share[u]
                for j in range(k):
                    back[last + j] = like[b + j] * inverse * back[j] if alpha[u * k + j] != 0.0 else 0.0
                _backward(sizes, first, at, to, values, which[u] * arcs if varied else 0, width, back)
            for j in range(k):
                x = alpha[t * k + j]
                gamma[t * k + j] = x * back[j] if x != 0.0 else 0.0
    return DONE


# --- in logarithms: slower, and nothing is too small --------------------------------------------------------


def _onward_in_logs(sizes, first, at, to, logs, v, width, buf, top):
    for s in range(sizes.size - 1):
        a, b = s * width, (s + 1) * width
        for j in range(sizes[s + 1]):
            top[j] = -math.inf
            buf[b + j] = 0.0
        for i in range(sizes[s]):
            x = buf[a + i]
            if x > -math.inf:
                for e in range(at[first[s] + i], at[first[s] + i + 1]):
                    top[to[e]] = max(top[to[e]], x + logs[v + e])
        for i in range(sizes[s]):
            x = buf[a + i]
            if x > -math.inf:
                for e in range(at[first[s] + i], at[first[s] + i + 1]):
                    if top[to[e]] > -math.inf:
                        buf[b + to[e]] += math.exp(x + logs[v + e] - top[to[e]])
        for j in range(sizes[s + 1]):
            buf[b + j] = top[j] + math.log(buf[b + j]) if top[j] > -math.inf else -math.inf


def _backward_in_logs(sizes, first, at, to, logs, v, width, back):
    for s in range(sizes.size - 2, -1, -1):
        a, b = s * width, (s + 1) * width
        for i in range(sizes[s]):
            o = first[s] + i
            top = -math.inf
            for e in range(at[o], at[o + 1]):
                top = max(top, logs[v + e] + back[b + to[e]])
            x = 0.0
            if top > -math.inf:
                for e in range(at[o], at[o + 1]):
                    x += math.exp(logs[v + e] + back[b + to[e]] - top)
            back[a + i] = top + math.log(x) if top > -math.inf else -math.inf


def _log_sum(k, a):
    """The logarithm of the sum of the first k of these logarithms."""
    top = -math.inf
    for j in range(k):
        top = max(top, a[j])
    if top == -math.inf:
        return top
    total = 0.0
    for j in range(k):
        total += math.exp(a[j] - top)
    return top + math.log(total)


def forward_in_logs(
    start: Floats,
    begin: Ints,
    sizes: Ints,
    first: Ints,
    at: Ints,
    to: Ints,
    logs: Floats,
    which: Ints,
    width: int,
    like: Floats,
    code: Ints32,
    starts: Ints,
    alpha: Floats,
    share: Floats,
    where: Ints,
    stop: Flag,
):
    """Log P(state | rows up to this one), and log P(row | rows before); all that is given are logarithms."""
    k, last, arcs = sizes[0], (sizes.size - 1) * width, to.size
    coded, varied = code.size > 0, which.size > 0
    buf = np.empty(sizes.size * width)
    top = np.empty(width)
    row = np.empty(k)
    for n in range(starts.size - 1):
        for t in range(starts[n], starts[n + 1]):
            if stop[0] != 0:
                return STOPPED
            o = t * k
            b = code[t] * k if coded else o
            if t == starts[n]:
                s = begin[n] * k if begin.size > 0 else 0
                for j in range(k):
                    buf[last + j] = start[s + j]
            else:
                for j in range(k):
                    buf[j] = alpha[o - k + j]
                _onward_in_logs(sizes, first, at, to, logs, which[t] * arcs if varied else 0, width, buf, top)
            for j in range(k):
                row[j] = buf[last + j] + like[b + j]
            share[t] = _log_sum(k, row)
            if share[t] == -math.inf:
                where[0] = t
                return IMPOSSIBLE
            for j in range(k):
                alpha[o + j] = row[j] - share[t]
    return DONE


def backward_in_logs(
    begin: Ints,
    sizes: Ints,
    first: Ints,
    at: Ints,
    to: Ints,
    logs: Floats,
    which: Ints,
    width: int,
    like: Floats,
    code: Ints32,
    starts: Ints,
    weight: Floats,
    alpha: Floats,
    lag: int,
    begun: Floats,
    counts: Floats,
    seen: Floats,
    gamma: Floats,
    stop: Flag,
):
    """P(state | all rows), or those up to `lag` later if that is not negative, in `gamma`; else as above."""
    k, last, arcs = sizes[0], (sizes.size - 1) * width, to.size
    coded, varied = code.size > 0, which.size > 0
    counted, summed = counts.size > 0, seen.size > 0
    buf = np.empty(sizes.size * width)
    back = np.empty(sizes.size * width)
    top = np.empty(width)
    row = np.empty(k)
    for n in range(starts.size - 1):
        heavy = weight[n]
        end = starts[n + 1] - 1
        for t in range(end, starts[n] - 1, -1):
            if stop[0] != 0:
                return STOPPED
            o = t * k
            u = end if t == end else t + 1
            if lag >= 0:
                u = min(t + lag, end)
            if lag >= 0 or t == end:
                for j in range(k):
                    back[j] = 0.0
            while u > t:
                b = code[u] * k if coded else u * k
                most = -math.inf
                for j in range(k):
                    back[last + j] = like[b + j] + back[j]
                    most = max(most, back[last + j])
                for j in range(k):  # sums of many rows would lose digits
                    back[last + j] -= most if most > -math.inf else 0.0
                _backward_in_logs(sizes, first, at, to, logs, which[u] * arcs if varied else 0, width, back)
                u -= 1
            for j in range(k):
                row[j] = alpha[o + j] + back[j]
            total = _log_sum(k, row)
            for j in range(k):
                gamma[o + j] = math.exp(row[j] - total)
            if counted and t < end:
                v = which[t + 1] * arcs if varied else 0
                for j in range(k):
                    buf[j] = alpha[o + j]
                _onward_in_logs(sizes, first, at, to, logs, v, width, buf, top)
                for s in range(sizes.size - 1):
                    a, b = s * width, (s + 1) * width
                    for i in range(sizes[s]):
                        x = buf[a + i] - total
                        if x > -math.inf:
                            for e in range(at[first[s] + i], at[first[s] + i + 1]):
                                counts[v + e] += heavy * math.exp(x + logs[v + e] + back[b + to[e]])
            if summed:
                c = code[t] * k if coded else o
                for j in range(k):
                    seen[c + j] += heavy * gamma[o + j]
        b = begin[n] * k if begin.size > 0 else 0
        for j in range(k):
            begun[b + j] += heavy * gamma[starts[n] * k + j]
    return DONE


# --- the most probable paths --------------------------------------------------------------------------------


def _best(sizes, first, at, to, logs, v, width, buf):
    """The best way to each place behind each stage."""
    for s in range(sizes.size - 1):
        a, b = s * width, (s + 1) * width
        for j in range(sizes[s + 1]):
            buf[b + j] = -math.inf
        for i in range(sizes[s]):
            x = buf[a + i]
            if x > -math.inf:
                o = first[s] + i
                for e in range(at[o], at[o + 1]):
                    y = x + logs[v + e]
                    if y > buf[b + to[e]]:
                        buf[b + to[e]] = y


def best_paths(
    start: Floats,
    begin: Ints,
    sizes: Ints,
    first: Ints,
    at: Ints,
    to: Ints,
    logs: Floats,
    which: Ints,
    width: int,
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

    `kept` has room for the scores of the best paths to all states in each step of the longest sequence; on
    the way back each step is repeated, and the arcs that led to the state are looked up.
    """
    k, last, arcs = sizes[0], (sizes.size - 1) * width, to.size
    coded, varied = code.size > 0, which.size > 0
    buf = np.empty(sizes.size * width)
    for n in range(starts.size - 1):
        taken = 0.0
        for t in range(starts[n], starts[n + 1]):
            if t % _LOOK == 0 and stop[0] != 0:
                return STOPPED
            b = code[t] * k if coded else t * k
            o = (t - starts[n]) * k
            if t == starts[n]:
                s = begin[n] * k if begin.size > 0 else 0
                for j in range(k):
                    buf[last + j] = start[s + j]
            else:
                for j in range(k):
                    buf[j] = kept[o - k + j]
                _best(sizes, first, at, to, logs, which[t] * arcs if varied else 0, width, buf)
            most = -math.inf
            for j in range(k):
                kept[o + j] = buf[last + j] + like[b + j]
                most = max(most, kept[o + j])
            if most == -math.inf:
                where[0] = t
                return IMPOSSIBLE
            taken += most
            for j in range(k):  # so that sums do not lose digits as they grow
                kept[o + j] -= most
        end = starts[n + 1] - 1
        o = (end - starts[n]) * k
        state = 0
        while kept[o + state] < 0.0:
            state += 1
        value[n] = taken
        path[end] = state
        for t in range(end, starts[n], -1):
            o = (t - 1 - starts[n]) * k
            for j in range(k):
                buf[j] = kept[o + j]
            v = which[t] * arcs if varied else 0
            _best(sizes, first, at, to, logs, v, width, buf)
            for s in range(sizes.size - 2, -1, -1):
                a, b = s * width, (s + 1) * width
                found = -1
                i = 0
                while found < 0:
                    x = buf[a + i]
                    if x > -math.inf:
                        for e in range(at[first[s] + i], at[first[s] + i + 1]):
                            if found < 0 and to[e] == state and x + logs[v + e] == buf[b + state]:
                                found = i
                    i += 1
                state = found
            path[t - 1] = state
    return DONE


# --- drawing ------------------------------------------------------------------------------------------------


def walk(
    start: Floats,
    begin: Ints,
    sizes: Ints,
    first: Ints,
    at: Ints,
    to: Ints,
    values: Floats,
    which: Ints,
    uniform: Floats,
    starts: Ints,
    path: Ints32,
):
    """States drawn one after the other; each step takes a uniform for each stage."""
    k, stages, arcs = sizes[0], sizes.size - 1, to.size
    for n in range(starts.size - 1):
        place = 0
        for t in range(starts[n], starts[n + 1]):
            if t == starts[n]:
                s = begin[n] * k if begin.size > 0 else 0
                x = uniform[t * stages]
                chosen = -1
                for j in range(k):
                    if start[s + j] > 0.0 and (chosen < 0 or x >= 0.0):
                        chosen = j
                    x -= start[s + j]
                place = chosen
            else:
                v = which[t] * arcs if which.size > 0 else 0
                for s in range(stages):
                    x = uniform[t * stages + s]
                    chosen = -1
                    for e in range(at[first[s] + place], at[first[s] + place + 1]):
                        if values[v + e] > 0.0 and (chosen < 0 or x >= 0.0):
                            chosen = e
                        x -= values[v + e]
                    place = to[chosen]
            path[t] = place


def walk_back(
    sizes: Ints,
    first: Ints,
    at: Ints,
    to: Ints,
    logs: Floats,
    which: Ints,
    width: int,
    alpha: Floats,
    uniform: Floats,
    path: Ints32,
):
    """One path given all rows, from the end, drawn from logarithms (Fruehwirth-Schnatter 1994)."""
    k, last, arcs = sizes[0], (sizes.size - 1) * width, to.size
    back = np.empty(sizes.size * width)
    row = np.empty(k)
    state = 0
    for t in range(path.size - 1, -1, -1):
        for j in range(k):
            back[j] = 0.0
        if t < path.size - 1:
            for j in range(k):
                back[last + j] = 0.0 if j == state else -math.inf
            v = which[t + 1] * arcs if which.size > 0 else 0
            _backward_in_logs(sizes, first, at, to, logs, v, width, back)
        for j in range(k):
            row[j] = alpha[t * k + j] + back[j]
        total = _log_sum(k, row)
        x = uniform[t]
        chosen = -1
        for j in range(k):
            p = math.exp(row[j] - total)
            if p > 0.0 and (chosen < 0 or x >= 0.0):
                chosen = j
            x -= p
        state = chosen
        path[t] = state
