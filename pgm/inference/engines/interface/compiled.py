"""The interface algorithm for dynamic networks: the loops.

The frontier is the interface between the past and a step: a table over the variables that later steps use. A
step takes it through a few operations; each multiplies it by a table of what was observed there and sums out
a variable, until the frontier of the next step is left. Entry i of what operation o makes is the sum over the
states s of its variable of frontier[f_off[i] + s * f_step[o]] * g[g_at[o] + g_off[i] + s * g_step[o]], where
g is the block of the step's observation pattern: rows with the same pattern share one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pgm.runtime.kinds import Bytes, Flag, Floats, Ints, Ints32

DONE, STOPPED, NARROW, IMPOSSIBLE = 0, 1, 2, 3  # as in pgm/inference/trees/sweeps/compiled.py
_LOOK = 1 << 16  # inner steps between two looks at the stop flag
_TINY = 2.0**-500  # a positive share below this may be lost later


class Operations(NamedTuple):
    """What is done with the frontier in each step."""

    at: Ints  # [O + 1] where the entries that each operation makes begin in `f_off` and `g_off`
    card: Ints  # [O] states of the variable that is summed out; 1 for none
    f_step: Ints
    g_step: Ints
    g_at: Ints
    f_off: Ints32
    g_off: Ints32
    enters: Ints  # [O] entries of the table that each operation takes
    widest: int  # entries of the largest table
    block: int  # entries of g for one pattern
    work: int  # inner steps of one step


def _sums(ops: Operations, g, base, work):
    """Take the frontier at the front of `work` through a step; return where the next one begins."""
    here = 0
    for o in range(ops.card.size):
        there = ops.widest - here
        card, fs, gs = ops.card[o], ops.f_step[o], ops.g_step[o]
        b = base + ops.g_at[o]
        begin = ops.at[o]
        for i in range(begin, ops.at[o + 1]):
            p = here + ops.f_off[i]
            q = b + ops.g_off[i]
            x = 0.0
            for _ in range(card):
                x += work[p] * g[q]
                p += fs
                q += gs
            work[there + i - begin] = x
        here = there
    return here


def forward(
    ops: Operations,
    g: Floats,
    code: Ints32,
    begins: Bytes,
    first: Floats,
    carried: Floats,
    alpha: Floats,
    share: Floats,
    where: Ints,
    stop: Flag,
):
    """P(frontier | rows up to this one) in `alpha`, P(row | rows before) in `share` (Murphy 2002, 3.4)."""
    k = first.size
    work = np.empty(2 * ops.widest)
    looked = 0
    for t in range(code.size):
        looked += ops.work
        if looked >= _LOOK:
            if stop[0] != 0:
                return STOPPED
            looked = 0
        if begins[t] != 0:
            for j in range(k):
                work[j] = first[j]
        elif t == 0:
            for j in range(k):
                work[j] = carried[j]
        else:
            for j in range(k):
                work[j] = alpha[(t - 1) * k + j]
        here = _sums(ops, g, code[t] * ops.block, work)
        total = 0.0
        for j in range(k):
            total += work[here + j]
        if not total > 0.0:
            where[0] = t
            return IMPOSSIBLE
        share[t] = total
        inverse = 1.0 / total
        narrow = False
        for j in range(k):
            x = work[here + j] * inverse
            alpha[t * k + j] = x
            if 0.0 < x < _TINY:
                narrow = True
        if narrow or total < _TINY:
            return NARROW
    return DONE


def _back(ops: Operations, g, base, work):
    """Take the table at the front of `work` a step back, to the frontier before; return its offset."""
    here = 0
    for o in range(ops.card.size - 1, -1, -1):
        there = ops.widest - here
        card, fs, gs = ops.card[o], ops.f_step[o], ops.g_step[o]
        b = base + ops.g_at[o]
        begin = ops.at[o]
        for j in range(ops.enters[o]):
            work[there + j] = 0.0
        for i in range(begin, ops.at[o + 1]):
            x = work[here + i - begin]
            if x != 0.0:
                p = there + ops.f_off[i]
                q = b + ops.g_off[i]
                for _ in range(card):
                    work[p] += x * g[q]
                    p += fs
                    q += gs
        here = there
    return here


def _scaled(work, here, k, before):
    """Divide by the largest entry; whether that left the range in which nothing is lost."""
    most = 0.0
    for j in range(k):
        most = max(most, work[here + j])
    if most < _TINY:
        return True
    inverse = 1.0 / most
    narrow = False
    for j in range(k):
        x = work[here + j] * inverse
        before[j] = x
        if 0.0 < x < _TINY:
            narrow = True
    return narrow


def backward(
    ops: Operations,
    g: Floats,
    code: Ints32,
    ends: Bytes,
    later: Floats,
    beta: Floats,
    before: Floats,
    stop: Flag,
):
    """P(rows after this one | frontier) in `beta`, each up to a factor; that before all rows in `before`."""
    k = before.size
    work = np.empty(2 * ops.widest)
    looked = 0
    n = code.size
    for t in range(n - 1, -1, -1):
        looked += ops.work
        if looked >= _LOOK:
            if stop[0] != 0:
                return STOPPED
            looked = 0
        for j in range(k):
            x = 1.0
            if ends[t] == 0:
                x = later[j] if t == n - 1 else before[j]
            beta[t * k + j] = x
            work[j] = x
        here = _back(ops, g, code[t] * ops.block, work)
        if _scaled(work, here, k, before):
            return NARROW
    return DONE


def lagged(
    ops: Operations, g: Floats, code: Ints32, ends: Bytes, lag: int, beta: Floats, before: Floats, stop: Flag
):
    """The same given only the rows up to `lag` steps later."""
    k = before.size
    work = np.empty(2 * ops.widest)
    looked = 0
    n = code.size
    for t in range(n):
        last = t
        while last < n - 1 and last < t + lag and ends[last] == 0:
            last += 1
        for j in range(k):
            before[j] = 1.0
        for s in range(last, t, -1):
            looked += ops.work
            if looked >= _LOOK:
                if stop[0] != 0:
                    return STOPPED
                looked = 0
            for j in range(k):
                work[j] = before[j]
            here = _back(ops, g, code[s] * ops.block, work)
            if _scaled(work, here, k, before):
                return NARROW
        for j in range(k):
            beta[t * k + j] = before[j]
    return DONE


def _log_sums(ops: Operations, g, base, work, best):
    """The same in logarithms; `best`: the largest term in place of the sum."""
    here = 0
    for o in range(ops.card.size):
        there = ops.widest - here
        card, fs, gs = ops.card[o], ops.f_step[o], ops.g_step[o]
        b = base + ops.g_at[o]
        begin = ops.at[o]
        for i in range(begin, ops.at[o + 1]):
            p = here + ops.f_off[i]
            q = b + ops.g_off[i]
            most = -math.inf
            for s in range(card):
                most = max(most, work[p + s * fs] + g[q + s * gs])
            if not best and card > 1 and most > -math.inf:
                x = 0.0
                for s in range(card):
                    x += math.exp(work[p + s * fs] + g[q + s * gs] - most)
                most += math.log(x)
            work[there + i - begin] = most
        here = there
    return here


def forward_in_logs(
    ops: Operations,
    g: Floats,
    code: Ints32,
    begins: Bytes,
    first: Floats,
    carried: Floats,
    best: int,
    alpha: Floats,
    share: Floats,
    where: Ints,
    stop: Flag,
):
    """The same as `forward` in logarithms; `best`: of the best course up to each frontier, not normalised."""
    k = first.size
    work = np.empty(2 * ops.widest)
    looked = 0
    for t in range(code.size):
        looked += ops.work
        if looked >= _LOOK:
            if stop[0] != 0:
                return STOPPED
            looked = 0
        if begins[t] != 0:
            for j in range(k):
                work[j] = first[j]
        elif t == 0:
            for j in range(k):
                work[j] = carried[j]
        else:
            for j in range(k):
                work[j] = alpha[(t - 1) * k + j]
        here = _log_sums(ops, g, code[t] * ops.block, work, best != 0)
        most = -math.inf
        for j in range(k):
            most = max(most, work[here + j])
        if not most > -math.inf:
            where[0] = t
            return IMPOSSIBLE
        total = 0.0
        if best == 0:
            for j in range(k):
                total += math.exp(work[here + j] - most)
            total = most + math.log(total)
        share[t] = total
        for j in range(k):
            alpha[t * k + j] = work[here + j] - total
    return DONE


def _log_back(ops: Operations, g, base, work, most):
    """The same as `_back` in logarithms."""
    here = 0
    for o in range(ops.card.size - 1, -1, -1):
        there = ops.widest - here
        card, fs, gs = ops.card[o], ops.f_step[o], ops.g_step[o]
        b = base + ops.g_at[o]
        begin = ops.at[o]
        for j in range(ops.enters[o]):
            most[j] = -math.inf
            work[there + j] = 0.0
        for i in range(begin, ops.at[o + 1]):
            x = work[here + i - begin]
            for s in range(card):
                p = ops.f_off[i] + s * fs
                most[p] = max(most[p], x + g[b + ops.g_off[i] + s * gs])
        for i in range(begin, ops.at[o + 1]):
            x = work[here + i - begin]
            for s in range(card):
                p = ops.f_off[i] + s * fs
                if most[p] > -math.inf:
                    work[there + p] += math.exp(x + g[b + ops.g_off[i] + s * gs] - most[p])
        for j in range(ops.enters[o]):
            work[there + j] = most[j] + math.log(work[there + j]) if most[j] > -math.inf else -math.inf
        here = there
    return here


def backward_in_logs(
    ops: Operations,
    g: Floats,
    code: Ints32,
    ends: Bytes,
    later: Floats,
    beta: Floats,
    before: Floats,
    stop: Flag,
):
    """The same as `backward` in logarithms."""
    k = before.size
    work = np.empty(2 * ops.widest)
    most = np.empty(ops.widest)
    looked = 0
    n = code.size
    for t in range(n - 1, -1, -1):
        looked += ops.work
        if looked >= _LOOK:
            if stop[0] != 0:
                return STOPPED
            looked = 0
        for j in range(k):
            x = 0.0
            if ends[t] == 0:
                x = later[j] if t == n - 1 else before[j]
            beta[t * k + j] = x
            work[j] = x
        here = _log_back(ops, g, code[t] * ops.block, work, most)
        top = -math.inf
        for j in range(k):
            top = max(top, work[here + j])
        for j in range(k):
            before[j] = work[here + j] - top
    return DONE


def lagged_in_logs(
    ops: Operations, g: Floats, code: Ints32, ends: Bytes, lag: int, beta: Floats, before: Floats, stop: Flag
):
    """The same as `lagged` in logarithms."""
    k = before.size
    work = np.empty(2 * ops.widest)
    most = np.empty(ops.widest)
    looked = 0
    n = code.size
    for t in range(n):
        last = t
        while last < n - 1 and last < t + lag and ends[last] == 0:
            last += 1
        for j in range(k):
            before[j] = 0.0
        for s in range(last, t, -1):
            looked += ops.work
            if looked >= _LOOK:
                if stop[0] != 0:
                    return STOPPED
                looked = 0
            for j in range(k):
                work[j] = before[j]
            here = _log_back(ops, g, code[s] * ops.block, work, most)
            for j in range(k):
                before[j] = work[here + j]
        for j in range(k):
            beta[t * k + j] = before[j]
    return DONE


def trace(
    ops: Operations,
    g: Floats,
    code: Ints32,
    begins: Bytes,
    ends: Bytes,
    first: Floats,
    carried: Floats,
    alpha: Floats,
    last: int,
    chosen: Ints32,
    frontier: Ints,
    before: Ints,
    stop: Flag,
):
    """Follow the best course back: the state of each operation's variable, the entry of each row's frontier.

    `last`: the entry of the last row's frontier; negative: the best one. `before` gets that of the frontier
    before all rows. What the operations made is worked out again from the frontiers in `alpha`, step by step.
    """
    k = first.size
    n_ops = ops.card.size
    where = np.zeros(n_ops + 1, np.int64)  # where the table that each operation takes begins
    for o in range(n_ops):
        where[o + 1] = where[o] + ops.enters[o]
    work = np.empty(where[n_ops] + k)
    at = last
    looked = 0
    for t in range(code.size - 1, -1, -1):
        looked += ops.work
        if looked >= _LOOK:
            if stop[0] != 0:
                return STOPPED
            looked = 0
        if ends[t] != 0 or at < 0:
            at = 0
            for j in range(k):
                if alpha[t * k + j] > alpha[t * k + at]:
                    at = j
        frontier[t] = at
        for j in range(k):
            if begins[t] != 0:
                work[j] = first[j]
            elif t == 0:
                work[j] = carried[j]
            else:
                work[j] = alpha[(t - 1) * k + j]
        base = code[t] * ops.block
        for o in range(n_ops):
            begin = ops.at[o]
            for i in range(begin, ops.at[o + 1]):
                most = -math.inf
                for s in range(ops.card[o]):
                    p = where[o] + ops.f_off[i] + s * ops.f_step[o]
                    q = base + ops.g_at[o] + ops.g_off[i] + s * ops.g_step[o]
                    most = max(most, work[p] + g[q])
                work[where[o + 1] + i - begin] = most
        for o in range(n_ops - 1, -1, -1):
            i = ops.at[o] + at
            found = 0
            most = -math.inf
            for s in range(ops.card[o]):
                p = where[o] + ops.f_off[i] + s * ops.f_step[o]
                q = base + ops.g_at[o] + ops.g_off[i] + s * ops.g_step[o]
                x = work[p] + g[q]
                if x > most:
                    most = x
                    found = s
            chosen[t * n_ops + o] = found
            at = ops.f_off[i] + found * ops.f_step[o]
    before[0] = at
    return DONE


def _taken(logs, at, n, u):
    """The place of a draw among n weights, given as logarithms from `at` on; u is uniform in [0, 1)."""
    most = -math.inf
    for s in range(n):
        most = max(most, logs[at + s])
    total = 0.0
    for s in range(n):
        total += math.exp(logs[at + s] - most)
    left = u * total
    found = 0
    for s in range(n):
        x = math.exp(logs[at + s] - most)
        if x > 0.0:  # rounding may leave u beyond the last one: then it is that
            found = s
            left -= x
            if left < 0.0:
                break
    return found


def draw_back(
    ops: Operations,
    g: Floats,
    code: Ints32,
    begins: Bytes,
    ends: Bytes,
    first: Floats,
    carried: Floats,
    alpha: Floats,
    many: int,
    at: Ints,
    uniform: Floats,
    chosen: Ints32,
    frontier: Ints,
    stop: Flag,
):
    """Draw courses back from their ends, with all tables in logarithms (Carter & Kohn 1994).

    `at`: the entry of the last row's frontier in each course, negative to draw it; afterwards that of the
    frontier before all rows. `chosen` gets the state of each operation's variable, `frontier` the entry of
    each row's frontier. What the operations made is worked out again from the frontiers in `alpha`, once for
    all courses.
    """
    k = first.size
    n_ops = ops.card.size
    where = np.zeros(n_ops + 1, np.int64)  # where the table that each operation takes begins
    widest = 0
    for o in range(n_ops):
        where[o + 1] = where[o] + ops.enters[o]
        widest = max(widest, ops.card[o])
    work = np.empty(where[n_ops] + k)
    terms = np.empty(widest)
    looked = 0
    for t in range(code.size - 1, -1, -1):
        looked += ops.work + many * n_ops
        if looked >= _LOOK:
            if stop[0] != 0:
                return STOPPED
            looked = 0
        for j in range(k):
            if begins[t] != 0:
                work[j] = first[j]
            elif t == 0:
                work[j] = carried[j]
            else:
                work[j] = alpha[(t - 1) * k + j]
        base = code[t] * ops.block
        for o in range(n_ops):
            begin = ops.at[o]
            for i in range(begin, ops.at[o + 1]):
                p = where[o] + ops.f_off[i]
                q = base + ops.g_at[o] + ops.g_off[i]
                most = -math.inf
                for s in range(ops.card[o]):
                    most = max(most, work[p + s * ops.f_step[o]] + g[q + s * ops.g_step[o]])
                if ops.card[o] > 1 and most > -math.inf:
                    x = 0.0
                    for s in range(ops.card[o]):
                        x += math.exp(work[p + s * ops.f_step[o]] + g[q + s * ops.g_step[o]] - most)
                    most += math.log(x)
                work[where[o + 1] + i - begin] = most
        for d in range(many):
            here = (t * many + d) * (n_ops + 1)
            if ends[t] != 0 or at[d] < 0:
                at[d] = _taken(alpha, t * k, k, uniform[here + n_ops])
            frontier[t * many + d] = at[d]
            for o in range(n_ops - 1, -1, -1):
                i = ops.at[o] + at[d]
                p = where[o] + ops.f_off[i]
                q = base + ops.g_at[o] + ops.g_off[i]
                for s in range(ops.card[o]):
                    terms[s] = work[p + s * ops.f_step[o]] + g[q + s * ops.g_step[o]]
                found = _taken(terms, 0, ops.card[o], uniform[here + o])
                chosen[(t * many + d) * n_ops + o] = found
                at[d] = ops.f_off[i] + found * ops.f_step[o]
    return DONE


def draw(
    parent_at: Ints,
    parent: Ints,
    back: Ints,
    stride: Ints,
    sums: Floats,
    table_at: Ints,
    card: Ints,
    kinds: int,
    begins: Bytes,
    uniform: Floats,
    codes: Ints32,
):
    """Draw the variables of each step in order, each given its parents; tables are sums so far.

    Table number kind * V + v is of variable v; its parents are parent[parent_at[.]:parent_at[. + 1]], each so
    many steps back. A kind whose table is empty, of what never changes, keeps the state of the step before.
    """
    n_variables = card.size
    step = 0
    for t in range(begins.size):
        step = 0 if begins[t] != 0 else step + 1
        kind = min(step, kinds - 1)
        for v in range(n_variables):
            which = kind * n_variables + v
            if table_at[which + 1] == table_at[which]:
                codes[t * n_variables + v] = codes[(t - 1) * n_variables + v]
            else:
                row = 0
                for i in range(parent_at[which], parent_at[which + 1]):
                    row += codes[(t - back[i]) * n_variables + parent[i]] * stride[i]
                p = table_at[which] + row * card[v]
                s = 0
                while sums[p + s] <= uniform[t * n_variables + v]:
                    s += 1
                codes[t * n_variables + v] = s
    return DONE
