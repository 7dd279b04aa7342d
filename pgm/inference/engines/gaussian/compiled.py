"""Compiled loops for linear Gaussian densities on a strong junction tree.

A density is kept as rows of linear equations. A *soft* row says a'x = b + e with e a standard normal, a
*hard* one a'x = b exactly (sd = 0). Soft rows are joined by Householder reflections and never squared, as in
square root information filters (Bierman 1977); hard rows are solved first, with pivoting, and put into the
others. A variable that is eliminated leaves one row, its density given the variables that come after it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pgm.runtime.kinds import Bytes, Flag, Floats, FloatTable, Ints, Ints32, IntTable

if TYPE_CHECKING:
    from pgm.inference.engines.gaussian.gaussian_arrays import StrongTree
    from pgm.inference.program.continuous import Densities

# Work space for joining equations: work, kind, reach, scale, mirror, turned.
Room = tuple[FloatTable, Bytes, Floats, Floats, Floats, Ints]

SOFT, HARD = 1, 2
_HALF_LOG_2PI = 0.9189385332046727
# The remainder of a cancellation counts as zero below this share of the largest operand: it decides
# whether equations without noise repeat each other.
_CANCELLED = 2.0**-43
REPEATED = 1 << 20  # unit in which redundant equations are counted, above values that are met exactly


def relevant(parent_at: Ints, parents: Ints32, order: Ints32, flags: Bytes):
    """Add all ancestors to the marked variables; `order` has parents first."""
    for k in range(order.size - 1, -1, -1):
        x = order[k]
        if flags[x]:
            for i in range(parent_at[x], parent_at[x + 1]):
                flags[parents[i]] = 1


def parts(n: int, scope_at: Ints, scopes: Ints32):
    """The connected component of each of the first n vertices; only these connect scopes."""
    above = np.arange(n)
    for f in range(scope_at.size - 1):
        first = -1
        for i in range(scope_at[f], scope_at[f + 1]):
            v = scopes[i]
            if v >= n:
                continue
            while above[v] != v:
                above[v] = above[above[v]]
                v = above[v]
            if first < 0:
                first = v
            else:
                above[v] = first
    for v in range(n):
        u = v
        while above[u] != u:
            u = above[u]
        above[v] = u
    return above


def write_row(
    d: Densities,
    x: int,
    row: int,
    seen: Bytes,
    value: Floats,
    where: Ints,
    n: int,
    work: FloatTable,
    kind: Bytes,
    reach: Floats,
    scale: Floats,
    m: int,
):
    """Write the density of x as row m of `work`; return the logarithm of its constant."""
    for j in range(n + 1):
        work[m, j] = 0.0
    sd = d.sd[row]
    per = 1.0 if sd == 0.0 else 1.0 / sd
    at = d.weight_at[x] + (row - d.row_at[x]) * (d.parent_at[x + 1] - d.parent_at[x])
    right = d.bias[row]
    far, size = abs(right), 1.0
    if seen[x]:
        right -= value[x]
        far = max(far, abs(value[x]))
    else:
        work[m, where[x]] = per
    for i in range(d.parent_at[x], d.parent_at[x + 1]):
        p = d.parents[i]
        w = d.weights[at]
        at += 1
        if seen[p]:
            right += w * value[p]
            far = max(far, abs(w * value[p]))
        else:
            work[m, where[p]] -= w * per
            size = max(size, abs(w))
    work[m, n] = right * per
    kind[m] = HARD if sd == 0.0 else SOFT
    reach[m] = size
    scale[m] = max(far, 1e-300)
    return 0.0 if sd == 0.0 else -math.log(sd) - _HALF_LOG_2PI


def says_nothing(work: FloatTable, m: int, n: int):
    """Whether a row has no variables left."""
    for j in range(n):
        if work[m, j] != 0.0:
            return False
    return True


def row_of(d: Densities, x: int, digit: Ints, cards: Ints):
    """The density of x selected by its discrete parents."""
    index = 0
    for i in range(d.switch_at[x], d.switch_at[x + 1]):
        v = d.switches[i]
        index = index * cards[v] + digit[v]
    return d.row_at[x] + index


def seen_log(d: Densities, x: int, row: int, value: Floats):
    """Log density of an observed variable whose parents are observed, and 1 if it has no noise and fits.

    A variable without parents and noise is a constant, which has its value with probability 1.
    """
    at = d.weight_at[x] + (row - d.row_at[x]) * (d.parent_at[x + 1] - d.parent_at[x])
    mean = d.bias[row]
    far = max(abs(mean), abs(value[x]))
    for i in range(d.parent_at[x], d.parent_at[x + 1]):
        t = d.weights[at] * value[d.parents[i]]
        far = max(far, abs(t))
        mean += t
        at += 1
    off = value[x] - mean
    if d.sd[row] == 0.0:
        if abs(off) <= _CANCELLED * far:
            constant = d.parent_at[x] == d.parent_at[x + 1] and d.switch_at[x] == d.switch_at[x + 1]
            return 0.0, 0 if constant else 1
        return -np.inf, 0
    off /= d.sd[row]
    return -0.5 * off * off - math.log(d.sd[row]) - _HALF_LOG_2PI, 0


def seen_logs(
    d: Densities,
    which: Ints32,
    axis_at: Ints,
    axes: Ints32,
    cards: Ints,
    digit: Ints,
    value: Floats,
    log_at: Ints,
    logs: Floats,
    orders: Ints,
):
    """Tables of log densities, over their open discrete parents, of variables with nothing else hidden."""
    for k in range(which.size):
        x = which[k]
        n_confs = log_at[k + 1] - log_at[k]
        for conf in range(n_confs):
            rest = conf
            for a in range(axis_at[k + 1] - 1, axis_at[k] - 1, -1):
                digit[axes[a]] = rest % cards[axes[a]]
                rest //= cards[axes[a]]
            log, order = seen_log(d, x, row_of(d, x, digit, cards), value)
            logs[log_at[k] + conf] = log
            orders[log_at[k] + conf] = order


def swap(work: FloatTable, kind: Bytes, reach: Floats, scale: Floats, i: int, k: int, n: int):
    """Exchange two rows."""
    if i == k:
        return
    for j in range(n + 1):
        t = work[i, j]
        work[i, j] = work[k, j]
        work[k, j] = t
    one = kind[i]
    kind[i] = kind[k]
    kind[k] = one
    t = reach[i]
    reach[i] = reach[k]
    reach[k] = t
    t = scale[i]
    scale[i] = scale[k]
    scale[k] = t


def put_in(work: FloatTable, kind: Bytes, reach: Floats, scale: Floats, top: int, v: int, m: int, n: int):
    """Solve hard row `top` for column v and put the solution into the rows below."""
    pivot = work[top, v]
    for i in range(top + 1, m):
        a = work[i, v]
        if a == 0.0:
            continue
        f = a / pivot
        work[i, v] = 0.0
        if kind[i] == SOFT:
            for j in range(v + 1, n + 1):
                work[i, j] -= f * work[top, j]
            continue
        reach[i] = max(reach[i], abs(f) * reach[top])
        scale[i] = max(scale[i], abs(f) * scale[top])
        for j in range(v + 1, n + 1):
            b = work[top, j]
            if b != 0.0:
                t = work[i, j] - f * b
                most = scale[i] if j == n else reach[i]
                work[i, j] = 0.0 if abs(t) <= _CANCELLED * most else t


def reflect(work: FloatTable, kind: Bytes, mirror: Floats, turned: Ints, top: int, v: int, m: int, n: int):
    """Turn the soft rows from `top` on so that only the first of them is non-zero in column v.

    Only rows that are non-zero there are visited, listed in `turned`: of a child with many parents each
    has only its own row and that of the child.
    """
    most = abs(work[top, v])
    total, count = 0.0, 0
    for i in range(top, m):
        if kind[i] == SOFT and work[i, v] != 0.0:
            mirror[count] = work[i, v] / most
            total += mirror[count] * mirror[count]
            turned[count] = i
            count += 1
    if count == 1:
        return
    norm = math.sqrt(total)
    first = mirror[0]
    mirror[0] = first + norm if first > 0.0 else first - norm
    below = norm * (norm + abs(first))
    for j in range(v + 1, n + 1):
        s = 0.0
        for k in range(count):
            s += mirror[k] * work[turned[k], j]
        if s != 0.0:
            s /= below
            for k in range(count):
                work[turned[k], j] -= s * mirror[k]
    work[top, v] = -norm * most if first > 0.0 else norm * most
    for k in range(1, count):
        work[turned[k], v] = 0.0


def eliminate(
    work: FloatTable,
    kind: Bytes,
    reach: Floats,
    scale: Floats,
    mirror: Floats,
    turned: Ints,
    m: int,
    own: int,
    n: int,
    maximise: bool,
):
    """Bring m rows over n variables into echelon form; the first `own` variables are integrated out.

    Returns how many rows are left on top, the log of the integral's constant, how often an equation repeats
    others (times REPEATED), and a status: 3 for inconsistent equations, 4 for a variable that
    is undetermined.
    """
    top, log, order = 0, 0.0, 0
    for v in range(n):
        best, most = -1, 0.0
        for i in range(top, m):
            if kind[i] == HARD:
                size = abs(work[i, v]) / reach[i]
                if size > most:
                    best, most = i, size
        if best >= 0:
            swap(work, kind, reach, scale, top, best, n)
            if v < own:
                log -= math.log(abs(work[top, v]))
            put_in(work, kind, reach, scale, top, v, m, n)
            top += 1
            continue
        for i in range(top, m):
            if kind[i] == SOFT and abs(work[i, v]) > most:
                best, most = i, abs(work[i, v])
        if best < 0:
            if v < own:
                return top, log, order, 4
            continue
        swap(work, kind, reach, scale, top, best, n)
        reflect(work, kind, mirror, turned, top, v, m, n)
        if v < own:
            if not maximise:
                log += _HALF_LOG_2PI - math.log(abs(work[top, v]))
        top += 1
    for i in range(top, m):
        if kind[i] == HARD:
            if abs(work[i, n]) > _CANCELLED * scale[i]:
                return top, -np.inf, order, 3
            order += REPEATED
        else:
            log -= 0.5 * work[i, n] * work[i, n]
    return top, log, order, 0


def inward(
    d: Densities,
    t: StrongTree,
    cards: Ints,
    digit: Ints,
    seen: Bytes,
    value: Floats,
    maximise: bool,
    room: Room,
    where: Ints,
    logs: Floats,
    orders: Ints,
    rows: Floats,
    kinds: Bytes,
    sent: Floats,
    sent_kinds: Bytes,
    stop: Flag,
):
    """Eliminate clique after clique: rows of conditional densities, and each one's message to its parent.

    `logs` and `orders` have an entry for each configuration of the discrete variables of each clique.
    """
    work, kind, reach, scale, mirror, turned = room
    for c in range(t.parent.size):
        first = t.column_at[c]
        n = t.column_at[c + 1] - first
        own = t.own[c]
        s = n - own
        for j in range(n):
            where[t.columns[first + j]] = j
        for conf in range(t.log_at[c + 1] - t.log_at[c]):
            if stop[0]:
                return 1
            rest = conf
            for a in range(t.axis_at[c + 1] - 1, t.axis_at[c] - 1, -1):
                digit[t.axes[a]] = rest % cards[t.axes[a]]
                rest //= cards[t.axes[a]]
            m, log, order = 0, 0.0, 0
            for k in range(t.density_at[c], t.density_at[c + 1]):
                x = t.densities[k]
                log += write_row(
                    d, x, row_of(d, x, digit, cards), seen, value, where, n, work, kind, reach, scale, m
                )
                if kind[m] == HARD and seen[x] and says_nothing(work, m, n):
                    if abs(work[m, n]) > _CANCELLED * scale[m]:
                        log = -np.inf
                    order += 1
                else:
                    m += 1
            for k in range(t.child_at[c], t.child_at[c + 1]):
                b = t.children[k]
                index = 0
                for a in range(t.axis_at[b], t.axis_at[b + 1]):
                    index = index * cards[t.axes[a]] + digit[t.axes[a]]
                log += logs[t.log_at[b] + index]
                order += orders[t.log_at[b] + index]
                begin = t.column_at[b] + t.own[b]
                wide = t.column_at[b + 1] - begin
                at = t.sent_at[b] + index * wide * (wide + 3)
                flag = t.sent_kind_at[b] + index * wide
                for i in range(wide):
                    if sent_kinds[flag + i] == 0:
                        break
                    for j in range(n):
                        work[m, j] = 0.0
                    base = at + i * (wide + 3)
                    for j in range(wide):
                        work[m, where[t.columns[begin + j]]] = sent[base + j]
                    work[m, n] = sent[base + wide]
                    reach[m] = sent[base + wide + 1]
                    scale[m] = sent[base + wide + 2]
                    kind[m] = sent_kinds[flag + i]
                    m += 1
            top = 0
            if log > -np.inf:
                top, more, repeated, status = eliminate(
                    work, kind, reach, scale, mirror, turned, m, own, n, maximise
                )
                if status == 4:
                    return 4
                log += more
                order += repeated
            logs[t.log_at[c] + conf] = log
            orders[t.log_at[c] + conf] = order
            if log == -np.inf:
                continue
            at = t.row_at[c] + conf * own * (n + 1)
            flag = t.kind_at[c] + conf * own
            for i in range(own):
                kinds[flag + i] = kind[i]
                for j in range(n + 1):
                    rows[at + i * (n + 1) + j] = work[i, j]
            at = t.sent_at[c] + conf * s * (s + 3)
            flag = t.sent_kind_at[c] + conf * s
            for i in range(own, top):
                sent_kinds[flag + i - own] = kind[i]
                base = at + (i - own) * (s + 3)
                for j in range(s + 1):
                    sent[base + j] = work[i, own + j]
                sent[base + s + 1] = reach[i]
                sent[base + s + 2] = scale[i]
    return 0


def extend(
    rows: Floats,
    kinds: Bytes,
    at: int,
    flag: int,
    from_: int,
    own: int,
    n: int,
    mean: Floats,
    cov: Floats,
    m_at: int,
    c_at: int,
):
    """Moments of a clique's own variables, which come first, from those of its separator, which are known.

    Only those of the own variables from index `from_` on.
    """
    for v in range(own - 1, from_ - 1, -1):
        base = at + v * (n + 1)
        pivot = rows[base + v]
        centre = rows[base + n]
        for j in range(v + 1, n):
            centre -= rows[base + j] * mean[m_at + j]
        mean[m_at + v] = centre / pivot
        for k in range(v + 1, n):
            cov[c_at + v * n + k] = 0.0
        for j in range(v + 1, n):
            part = rows[base + j] / pivot
            if part != 0.0:
                for k in range(v + 1, n):
                    cov[c_at + v * n + k] -= part * cov[c_at + j * n + k]
        s = 0.0
        for j in range(v + 1, n):
            s -= rows[base + j] * cov[c_at + v * n + j]
            cov[c_at + j * n + v] = cov[c_at + v * n + j]
        s /= pivot
        if kinds[flag + v] == SOFT:
            s += 1.0 / pivot / pivot
        cov[c_at + v * n + v] = max(s, 0.0)  # rounding may leave a negative variance


def join(
    weight: Floats,
    mean: Floats,
    cov: Floats,
    at: int,
    m_at: int,
    c_at: int,
    share: float,
    other: Floats,
    other_cov: Floats,
    o_at: int,
    p_at: int,
    n: int,
    wide: int,
    pick: Ints,
):
    """Merge some variables of a density into the moments of those before (Chan, Golub & LeVeque 1979)."""
    total = weight[at] + share
    part = share / total
    rest = weight[at] / total
    for i in range(n):
        for j in range(n):
            a = other[o_at + pick[i]] - mean[m_at + i]
            b = other[o_at + pick[j]] - mean[m_at + j]
            here = cov[c_at + i * wide + j]
            there = other_cov[p_at + pick[i] * pick[n] + pick[j]]
            cov[c_at + i * wide + j] = rest * here + part * there + part * rest * a * b
    for i in range(n):
        mean[m_at + i] += part * (other[o_at + pick[i]] - mean[m_at + i])
    weight[at] = total


def outward(
    t: StrongTree,
    which: Ints,
    from_: Ints,
    cards: Ints,
    digit: Ints,
    where: Ints,
    pick: Ints,
    rows: Floats,
    kinds: Bytes,
    weight: Floats,
    mean: Floats,
    cov: Floats,
    stop: Flag,
):
    """Exact first two moments of every clique in `which`, parents first, for each of its configurations.

    Of the own variables of each only those from index `from_` on. `weight` has the probability of each
    configuration of the cliques without a parent. Configurations of a parent that coincide for its
    child are mixed, which keeps means and covariances exact.
    """
    for k in range(which.size):
        if stop[0]:
            return 1
        c = which[k]
        first, own = t.column_at[c], t.own[c]
        n = t.column_at[c + 1] - first
        n_confs = t.log_at[c + 1] - t.log_at[c]
        above = t.parent[c]
        if above >= 0:
            wide = t.column_at[above + 1] - t.column_at[above]
            for j in range(wide):
                where[t.columns[t.column_at[above] + j]] = j
            for j in range(n - own):
                pick[j] = where[t.columns[first + own + j]]
            pick[n - own] = wide
            for conf in range(t.log_at[above + 1] - t.log_at[above]):
                share = weight[t.log_at[above] + conf]
                if share == 0.0:
                    continue
                rest = conf
                for a in range(t.axis_at[above + 1] - 1, t.axis_at[above] - 1, -1):
                    digit[t.axes[a]] = rest % cards[t.axes[a]]
                    rest //= cards[t.axes[a]]
                index = 0
                for a in range(t.axis_at[c], t.axis_at[c + 1]):
                    index = index * cards[t.axes[a]] + digit[t.axes[a]]
                join(
                    weight, mean, cov, t.log_at[c] + index,
                    t.mean_at[c] + index * n + own, t.cov_at[c] + index * n * n + own * n + own,
                    share, mean, cov, t.mean_at[above] + conf * wide, t.cov_at[above] + conf * wide * wide,
                    n - own, n, pick,
                )  # fmt: skip
        for conf in range(n_confs):
            if stop[0]:
                return 1
            if weight[t.log_at[c] + conf] > 0.0:
                extend(
                    rows, kinds, t.row_at[c] + conf * own * (n + 1), t.kind_at[c] + conf * own,
                    min(from_[k], own), own, n,
                    mean, cov, t.mean_at[c] + conf * n, t.cov_at[c] + conf * n * n,
                )  # fmt: skip
    return 0


def overall(
    t: StrongTree,
    which: Ints,
    weight: Floats,
    mean: Floats,
    cov: Floats,
    total: Floats,
    centre: Floats,
    variance: Floats,
    pick: Ints,
    stop: Flag,
):
    """Mean and variance of each variable, over the configurations of the clique that eliminates it."""
    for k in range(which.size):
        if stop[0]:
            return 1
        c = which[k]
        n = t.column_at[c + 1] - t.column_at[c]
        pick[1] = n
        for conf in range(t.log_at[c + 1] - t.log_at[c]):
            share = weight[t.log_at[c] + conf]
            if share == 0.0:
                continue
            for j in range(t.own[c]):
                x = t.columns[t.column_at[c] + j]
                pick[0] = j
                join(
                    total, centre, variance, x, x, x, share, mean, cov,
                    t.mean_at[c] + conf * n, t.cov_at[c] + conf * n * n, 1, 1, pick,
                )  # fmt: skip
    return 0


def families(
    d: Densities,
    t: StrongTree,
    which: Ints,
    wanted: Bytes,
    cards: Ints,
    digit: Ints,
    seen: Bytes,
    value: Floats,
    where: Ints,
    weight: Floats,
    mean: Floats,
    cov: Floats,
    mean_at: Ints,
    cov_at: Ints,
    row_weight: Floats,
    row_mean: Floats,
    row_cov: Floats,
    stop: Flag,
):
    """Weight, mean and covariance of wanted variables and their continuous parents, for each of their rows.

    They are mixed from the moments of the cliques in `which`, of each variable in the one that its density
    belongs to (Chan, Golub & LeVeque 1979). `digit` has the states of observed discrete variables.
    """
    for k in range(which.size):
        if stop[0]:
            return 1
        c = which[k]
        n = t.column_at[c + 1] - t.column_at[c]
        for j in range(n):
            where[t.columns[t.column_at[c] + j]] = j
        for conf in range(t.log_at[c + 1] - t.log_at[c]):
            share = weight[t.log_at[c] + conf]
            if share == 0.0:
                continue
            rest = conf
            for a in range(t.axis_at[c + 1] - 1, t.axis_at[c] - 1, -1):
                digit[t.axes[a]] = rest % cards[t.axes[a]]
                rest //= cards[t.axes[a]]
            m_at = t.mean_at[c] + conf * n
            c_at = t.cov_at[c] + conf * n * n
            for f in range(t.density_at[c], t.density_at[c + 1]):
                x = t.densities[f]
                if not wanted[x]:
                    continue
                first = d.parent_at[x]
                size = d.parent_at[x + 1] - first + 1
                row = row_of(d, x, digit, cards)
                to = mean_at[x] + (row - d.row_at[x]) * size
                to_cov = cov_at[x] + (row - d.row_at[x]) * size * size
                total = row_weight[row] + share
                part = share / total
                before = row_weight[row] / total
                for i in range(size):
                    y = d.parents[first + i] if i < size - 1 else x
                    off = value[y] if seen[y] else mean[m_at + where[y]]
                    off -= row_mean[to + i]
                    for j in range(size):
                        z = d.parents[first + j] if j < size - 1 else x
                        other = value[z] if seen[z] else mean[m_at + where[z]]
                        other -= row_mean[to + j]
                        there = 0.0
                        if not seen[y] and not seen[z]:
                            there = cov[c_at + where[y] * n + where[z]]
                        here = row_cov[to_cov + i * size + j]
                        row_cov[to_cov + i * size + j] = before * here + part * (there + before * off * other)
                for i in range(size):
                    y = d.parents[first + i] if i < size - 1 else x
                    now = value[y] if seen[y] else mean[m_at + where[y]]
                    row_mean[to + i] += part * (now - row_mean[to + i])
                row_weight[row] = total
    return 0


def draw(
    t: StrongTree,
    cards: Ints,
    states: IntTable,
    rows: Floats,
    kinds: Bytes,
    noise: FloatTable,
    values: FloatTable,
    stop: Flag,
):
    """Values of every variable of the tree for each row of discrete `states`; `noise` is standard normal."""
    for c in range(t.parent.size - 1, -1, -1):
        if stop[0]:
            return 1
        first, own = t.column_at[c], t.own[c]
        n = t.column_at[c + 1] - first
        for k in range(states.shape[0]):
            index = 0
            for a in range(t.axis_at[c], t.axis_at[c + 1]):
                index = index * cards[t.axes[a]] + states[k, t.axes[a]]
            at = t.row_at[c] + index * own * (n + 1)
            flag = t.kind_at[c] + index * own
            for v in range(own - 1, -1, -1):
                base = at + v * (n + 1)
                x = t.columns[first + v]
                right = rows[base + n]
                if kinds[flag + v] == SOFT:
                    right += noise[k, x]
                for j in range(v + 1, n):
                    right -= rows[base + j] * values[k, t.columns[first + j]]
                values[k, x] = right / rows[base + v]
    return 0


def forward(
    d: Densities,
    which: Ints32,
    cards: Ints,
    states: IntTable,
    noise: FloatTable,
    values: FloatTable,
    stop: Flag,
):
    """Values of the variables in `which`, parents first, each from its density given its parents."""
    for k in range(states.shape[0]):
        if stop[0]:
            return 1
        for i in range(which.size):
            x = which[i]
            row = row_of(d, x, states[k], cards)
            at = d.weight_at[x] + (row - d.row_at[x]) * (d.parent_at[x + 1] - d.parent_at[x])
            mean = d.bias[row]
            for j in range(d.parent_at[x], d.parent_at[x + 1]):
                mean += d.weights[at] * values[k, d.parents[j]]
                at += 1
            values[k, x] = mean + d.sd[row] * noise[k, x]
    return 0
