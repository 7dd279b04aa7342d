"""The loops over tables: inward, outward, in doubles and in wide numbers, and what is read off them.

They return a status; questions.py has the words: 0 done, 1 stopped, 2 the range of a double would not do (run
wide), 3 no state is possible. A *wide* number is a mantissa and an exponent, for what no double holds.
"""

from __future__ import annotations

import math

import numpy as np

from pgm.jit import njit

DONE, STOPPED, NARROW, IMPOSSIBLE = 0, 1, 2, 3
SAFE = 1000  # a number whose log2 is within this of 0 is neither denormal nor infinite
DRIFT = 300  # messages whose bounds have moved so far are measured and scaled


@njit
def _gather_table(p, r, number, codes, virtual_at, n_values, g, source):
    f = r.factors[g]
    at = r.table_at[g]
    if f >= p.heads.size:
        i = r.scopes[r.scope_at[g]]
        start = n_values + virtual_at[f - p.heads.size]
        for s in range(r.state_at[i], r.state_at[i + 1]):
            source[at] = start + r.states[s]
            at += 1
        return
    base, step, size = p.table_at[f], 1, 1
    source[at] = 0
    for a in range(p.scope_at[f + 1] - 1, p.scope_at[f] - 1, -1):  # the last axis runs fastest
        v = p.scopes[a]
        i = number[v]
        if i < 0:
            base += codes[v] * step
        else:
            begin = r.state_at[i]
            for s in range(r.cards[i] - 1, -1, -1):  # the block of state 0 is what the others are made from
                shift = r.states[begin + s] * step
                for j in range(size):
                    source[at + s * size + j] = source[at + j] + shift
            size *= r.cards[i]
        step *= p.cards[v]
    for j in range(size):
        source[at + j] += base


@njit
def numbers(p, r):
    """The number of each variable of the program among the reduced ones, -1 if it is not there."""
    number = np.full(p.cards.size, -1, np.int64)
    for i in range(r.variables.size):
        number[r.variables[i]] = i
    return number


@njit
def gather(p, r, codes, virtual_at, n_values, source):
    """Where in the program's values, virtual evidence behind them, each entry of the reduced tables is."""
    number = numbers(p, r)
    for g in range(r.factors.size):
        _gather_table(p, r, number, codes, virtual_at, n_values, g, source)


@njit
def gather_scalars(p, r, codes, source):
    """Where in the program's values each factor stands of which one number is left."""
    for h in range(r.scalars.size):
        f = r.scalars[h]
        base, step = p.table_at[f], 1
        for a in range(p.scope_at[f + 1] - 1, p.scope_at[f] - 1, -1):
            base += codes[p.scopes[a]] * step
            step *= p.cards[p.scopes[a]]
        source[h] = base


@njit
def _within(t, c, low, high, more_low, more_high):
    """Whether no product of operands of clique c, and one more, can leave the range that is safe.

    low and high bound log2 of what each item holds, zeros apart.
    """
    least, most = min(0, more_low), max(0, more_high)
    for o in range(t.operand_at[c], t.operand_at[c + 1]):
        least += min(0, low[t.operand[o]])
        most += max(0, high[t.operand[o]])
    return least > -SAFE and most + math.frexp(float(t.size[c]))[1] < SAFE


@njit
def _rescaled(values, at, n):
    """Scale a part of an array by a power of two so that its largest entry lies in [0.5, 1).

    Returns the power taken out and a lower bound on log2 of the smallest entry that is not zero; 1 for the
    bound if all are zero.
    """
    top, least = 0.0, np.inf
    for i in range(at, at + n):
        x = values[i]
        if x > top:
            top = x
        if x > 0.0 and x < least:
            least = x
    if top == 0.0:
        return 0, 1
    e = math.frexp(top)[1]
    scale = math.ldexp(1.0, -e)
    for i in range(at, at + n):
        values[i] *= scale
    return e, math.frexp(least)[1] - 1 - e


@njit
def _multiply_row(t, c, row, pool, out):
    """Write the product of a clique's operands along one row to out, short of a factor; return that."""
    n = t.inner[c]
    factor = 1.0
    begun = False
    for o in range(t.operand_at[c], t.operand_at[c + 1]):
        base = t.item_at[t.operand[o]] + t.lookup[t.outer_at[o] + row]
        kind = t.kind[o]
        if kind == 0:
            factor *= pool[base]
            continue
        if not begun:
            begun = True
            for j in range(n):
                out[j] = 1.0
        ix, run = t.inner_at[o], t.run[o]
        if kind == 1:
            for j in range(n):
                out[j] *= pool[base + j]
        elif run == 1:
            for j in range(n):
                out[j] *= pool[base + t.lookup[ix + j]]
        elif kind == 2:
            for i in range(n // run):
                x = pool[base + t.lookup[ix + i]]
                for j in range(i * run, i * run + run):
                    out[j] *= x
        else:
            for i in range(n // run):
                start = base + t.lookup[ix + i]
                for j in range(run):
                    out[i * run + j] *= pool[start + j]
    if not begun:
        for j in range(n):
            out[j] = 1.0
    return factor


@njit
def _sum_row(row, n):
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    j = 0
    while j + 3 < n:  # four sums, so that one addition need not wait for the last
        a += row[j]
        b += row[j + 1]
        c += row[j + 2]
        d += row[j + 3]
        j += 4
    while j < n:
        a += row[j]
        j += 1
    return (a + b) + (c + d)


@njit
def _add_row(lookup, kind, run, ix, row, n, out, to):
    """Add a row to what an operand of this kind has of it."""
    if kind == 1:
        for j in range(n):
            out[to + j] += row[j]
    elif run == 1:
        for j in range(n):
            out[to + lookup[ix + j]] += row[j]
    elif kind == 2:
        for i in range(n // run):
            x = row[i * run]
            for j in range(i * run + 1, i * run + run):
                x += row[j]
            out[to + lookup[ix + i]] += x
    else:
        for i in range(n // run):
            start = to + lookup[ix + i]
            for j in range(run):
                out[start + j] += row[i * run + j]


@njit
def _shorten_row(steps, first, last, row, here, there):
    """Sum axes out of a row, the last one first; returns how much is left and whether it is in `here`."""
    length = 0
    source, target = row, here
    for i in range(first, last, 3):
        before, states, after = steps[i], steps[i + 1], steps[i + 2]
        length = before * after
        if after == 1:
            if states == 2:
                for p in range(before):
                    target[p] = source[2 * p] + source[2 * p + 1]
            else:
                for p in range(before):
                    x = source[p * states]
                    for s in range(1, states):
                        x += source[p * states + s]
                    target[p] = x
        else:
            for p in range(before):
                to, at = p * after, p * states * after
                for q in range(after):
                    target[to + q] = source[at + q] + source[at + after + q]
                for s in range(2, states):
                    at = (p * states + s) * after
                    for q in range(after):
                        target[to + q] += source[at + q]
        source = target
        target = there if (i - first) % 6 == 0 else here
    return length, (last - first) % 6 == 3


@njit
def inward(t, pool, work, kept, low, high, exponent, stop):
    """Send every message towards the roots: multiply a clique's operands and sum, row by row, in one sweep.

    `work` is room for a row; if `kept` has room it gets all products. low and high bound log2 of what items
    hold; they are carried along, and where they drift the message is measured and scaled by a power of two,
    which `exponent` takes out.
    """
    n_cliques = t.parent.size
    n_factors = t.item_at.size - 1 - n_cliques
    for c in range(n_cliques):
        if stop[0] != 0:
            return STOPPED
        if not _within(t, c, low, high, 0, 0):
            return NARROW
        n, sent = t.inner[c], t.sent[c]
        at = t.item_at[n_factors + c]
        for s in range(sent):
            pool[at + s] = 0.0
        row_at = t.clique_at[c]
        wrap = max(1, sent // n)
        for row in range(t.size[c] // n):
            if (row & 4095) == 4095 and stop[0] != 0:
                return STOPPED
            factor = _multiply_row(t, c, row, pool, work)
            if sent >= n:
                here = at + (row % wrap) * n
                for j in range(n):
                    pool[here + j] += factor * work[j]
            elif sent == 1:
                pool[at] += factor * _sum_row(work, n)
            else:
                for k in range(0, n, sent):
                    for s in range(sent):
                        pool[at + s] += factor * work[k + s]
            if kept.size > 0:
                for j in range(n):
                    kept[row_at + j] = factor * work[j]
                row_at += n
        item = n_factors + c
        low[item] = 0
        high[item] = math.frexp(float(t.size[c] // sent))[1]
        for o in range(t.operand_at[c], t.operand_at[c + 1]):
            low[item] += low[t.operand[o]]
            high[item] += high[t.operand[o]]
        exponent[c] = 0
        if low[item] < -DRIFT or high[item] > DRIFT or t.parent[c] < 0:
            exponent[c], low[item] = _rescaled(pool, at, sent)
            high[item] = 0
            if low[item] > 0:
                return IMPOSSIBLE
    return DONE


@njit
def outward(t, pool, down, results, low, high, ratio, belief, stop):
    """Send every message away from the roots and read the results, multiplying each clique a second time.

    That is quicker than to keep the products, which are much larger than what they are made from. `down` has
    the beliefs over what each clique sends, laid out as the messages; a clique is corrected by the ratio of
    new to old, in which 0 / 0 is 0.
    """
    n_cliques = t.parent.size
    n_factors = t.item_at.size - 1 - n_cliques
    half, quarter = np.empty(belief.size), np.empty(belief.size)
    first_message = t.item_at[n_factors]
    ratio_low, ratio_high = np.zeros(n_cliques, np.int64), np.zeros(n_cliques, np.int64)
    for i in range(results.size):
        results[i] = 0.0
    for i in range(down.size):
        down[i] = 0.0
    for c in range(n_cliques - 1, -1, -1):
        if stop[0] != 0:
            return STOPPED
        n, sent = t.inner[c], t.sent[c]
        at = t.item_at[n_factors + c]
        new = at - first_message
        if t.parent[c] < 0:
            for s in range(sent):
                ratio[s] = 1.0
        else:
            for s in range(sent):
                old = pool[at + s]
                ratio[s] = down[new + s] / old if old > 0.0 else 0.0
            if ratio_low[c] < -DRIFT or ratio_high[c] > DRIFT:
                ratio_low[c] = _rescaled(ratio, 0, sent)[1]
                ratio_high[c] = 0
        if not _within(t, c, low, high, ratio_low[c], ratio_high[c]):
            return NARROW
        # What goes down to a child, over what it sent: the product of all the others.
        least, most = ratio_low[c], ratio_high[c]
        for o in range(t.operand_at[c], t.operand_at[c + 1]):
            least += low[t.operand[o]]
            most += high[t.operand[o]]
        for o in range(t.operand_at[c], t.operand_at[c + 1]):
            child = t.operand[o] - n_factors
            if child >= 0:
                ratio_low[child] = least - low[t.operand[o]]
                ratio_high[child] = most - high[t.operand[o]]
                ratio_high[child] += math.frexp(float(t.size[c] // t.sent[child]))[1]
        for w in range(t.passing_at[c], t.passing_at[c + 1]):
            ix, to = t.passing_index[w], t.result_at[t.passing[w]]
            for s in range(sent):
                results[to + t.lookup[ix + s]] += down[new + s]
        first, last = t.operand_at[c], t.operand_at[c + 1]
        while first < last and t.operand[first] < n_factors:
            first += 1
        if first == last and t.wanted_at[c] == t.wanted_at[c + 1]:
            continue
        wrap = max(1, sent // n)
        for row in range(t.size[c] // n):
            if (row & 4095) == 4095 and stop[0] != 0:
                return STOPPED
            factor = _multiply_row(t, c, row, pool, belief)
            if factor == 0.0:
                continue
            if sent >= n:
                here = (row % wrap) * n
                for j in range(n):
                    belief[j] *= factor * ratio[here + j]
            else:
                for k in range(0, n, sent):
                    for s in range(sent):
                        belief[k + s] *= factor * ratio[s]
            whole = -1.0  # the sum of the row, once it is needed
            for o in range(first, last):
                to = t.item_at[t.operand[o]] - first_message + t.lookup[t.outer_at[o] + row]
                if t.kind[o] == 0:
                    if whole < 0.0:
                        whole = _sum_row(belief, n)
                    down[to] += whole
                elif t.step_at[o] < t.step_at[o + 1]:
                    length, in_half = _shorten_row(
                        t.steps, t.step_at[o], t.step_at[o + 1], belief, half, quarter
                    )
                    shortened = half if in_half else quarter
                    for j in range(length):
                        down[to + j] += shortened[j]
                else:
                    _add_row(t.lookup, t.kind[o], t.run[o], t.inner_at[o], belief, n, down, to)
            for w in range(t.wanted_at[c], t.wanted_at[c + 1]):
                to = t.result_at[t.wanted[w]] + t.lookup[t.wanted_outer[w] + row]
                if t.wanted_kind[w] == 0:
                    if whole < 0.0:
                        whole = _sum_row(belief, n)
                    results[to] += whole
                else:
                    kind, run = t.wanted_kind[w], t.wanted_run[w]
                    _add_row(t.lookup, kind, run, t.wanted_inner[w], belief, n, results, to)
    return DONE


@njit
def normalise(result_at, results):
    """Divide each result by its sum; 3 if one has none."""
    for q in range(result_at.size - 1):
        total = 0.0
        for i in range(result_at[q], result_at[q + 1]):
            total += results[i]
        if not total > 0.0:
            return IMPOSSIBLE
        for i in range(result_at[q], result_at[q + 1]):
            results[i] /= total
    return DONE


@njit
def wide_product(mantissas, exponents):
    """Multiply wide numbers into one."""
    m, e = 1.0, 0
    for i in range(mantissas.size):
        m, more = math.frexp(m * mantissas[i])
        e += more + exponents[i]
        if m == 0.0:
            return 0.0, 0
    return m, e


@njit
def _accumulate(pm, pe, i, m, e, largest):
    """Add a normalised wide number to entry i, or keep the larger of the two."""
    if m == 0.0:
        return
    if pm[i] == 0.0:
        pm[i], pe[i] = m, e
        return
    d = e - pe[i]
    if largest:
        if d > 0 or (d == 0 and m > pm[i]):
            pm[i], pe[i] = m, e
    elif d <= 0:
        if d > -1070:
            total, more = math.frexp(pm[i] + math.ldexp(m, int(d)))
            pm[i] = total
            pe[i] += more
    elif d < 1070:
        total, more = math.frexp(m + math.ldexp(pm[i], int(-d)))
        pm[i] = total
        pe[i] = e + more
    else:
        pm[i], pe[i] = m, e


@njit
def _entry_index(t, o, row, j):
    at = t.item_at[t.operand[o]] + t.lookup[t.outer_at[o] + row]
    return at + _along(t.lookup, t.kind[o], t.run[o], t.inner_at[o], j)


@njit
def _along(lookup, kind, run, ix, j):
    if kind == 0:
        return 0
    if kind == 1:
        return j
    if kind == 2:
        return lookup[ix + j // run]
    return lookup[ix + j // run] + j % run


@njit
def inward_wide(t, pm, pe, largest, stop):
    """As `inward`, in wide numbers; cliques marked `largest` take maxima, not sums. Nothing needs scaling."""
    n_cliques = t.parent.size
    n_factors = t.item_at.size - 1 - n_cliques
    for c in range(n_cliques):
        n, sent = t.inner[c], t.sent[c]
        at = t.item_at[n_factors + c]
        for s in range(sent):
            pm[at + s] = 0.0
            pe[at + s] = 0
        for row in range(t.size[c] // n):
            if (row & 255) == 0 and stop[0] != 0:
                return STOPPED
            for j in range(n):
                m, e = 1.0, 0
                for o in range(t.operand_at[c], t.operand_at[c + 1]):
                    i = _entry_index(t, o, row, j)
                    m *= pm[i]
                    e += pe[i]
                    if m == 0.0:
                        break
                    if m < 1e-200:
                        m, more = math.frexp(m)
                        e += more
                if m > 0.0:
                    m, more = math.frexp(m)
                    _accumulate(pm, pe, at + (row * n + j) % sent, m, e + more, largest[c] != 0)
        top = 0.0
        for s in range(sent):
            top = max(top, pm[at + s])
        if top == 0.0:
            return IMPOSSIBLE
    return DONE


@njit
def outward_wide(t, pm, pe, gm, ge, rm, re, stop):
    """For every operand of every clique, the sum of the product of all the others: no division.

    gm, ge are laid out as the items: for a table the derivative of the total by each of its entries, for a
    message what the parent sends back. rm, re are the results.
    """
    n_cliques = t.parent.size
    n_factors = t.item_at.size - 1 - n_cliques
    for i in range(gm.size):
        gm[i] = 0.0
        ge[i] = 0
    for i in range(rm.size):
        rm[i] = 0.0
        re[i] = 0
    most = 1
    for c in range(n_cliques):
        most = max(most, t.operand_at[c + 1] - t.operand_at[c])
    before_m = np.empty(most)
    before_e = np.empty(most, np.int64)
    for c in range(n_cliques - 1, -1, -1):
        n, sent = t.inner[c], t.sent[c]
        at = t.item_at[n_factors + c]
        first, last = t.operand_at[c], t.operand_at[c + 1]
        if t.parent[c] >= 0:
            for w in range(t.passing_at[c], t.passing_at[c + 1]):
                ix, to = t.passing_index[w], t.result_at[t.passing[w]]
                for s in range(sent):
                    m, more = math.frexp(gm[at + s] * pm[at + s])
                    _accumulate(rm, re, to + t.lookup[ix + s], m, ge[at + s] + pe[at + s] + more, False)
        for row in range(t.size[c] // n):
            if (row & 255) == 0 and stop[0] != 0:
                return STOPPED
            for j in range(n):
                m, e = 1.0, 0
                if t.parent[c] >= 0:
                    s = (row * n + j) % sent
                    m, e = gm[at + s], ge[at + s]
                for o in range(first, last):
                    before_m[o - first] = m
                    before_e[o - first] = e
                    i = _entry_index(t, o, row, j)
                    m, more = math.frexp(m * pm[i])
                    e += more + pe[i]
                if m > 0.0:
                    for w in range(t.wanted_at[c], t.wanted_at[c + 1]):
                        to = t.result_at[t.wanted[w]] + t.lookup[t.wanted_outer[w] + row]
                        kind, run = t.wanted_kind[w], t.wanted_run[w]
                        to += _along(t.lookup, kind, run, t.wanted_inner[w], j)
                        _accumulate(rm, re, to, m, e, False)
                m, e = 1.0, 0
                for o in range(last - 1, first - 1, -1):
                    i = _entry_index(t, o, row, j)
                    both, more = math.frexp(m * before_m[o - first])
                    _accumulate(gm, ge, i, both, e + before_e[o - first] + more, False)
                    m, more = math.frexp(m * pm[i])
                    e += more + pe[i]
                    if m == 0.0:
                        break
    return DONE


@njit
def _clique_entry(t, c, entry, pm, pe):
    row, j = entry // t.inner[c], entry % t.inner[c]
    m, e = 1.0, 0
    for o in range(t.operand_at[c], t.operand_at[c + 1]):
        i = _entry_index(t, o, row, j)
        m *= pm[i]
        e += pe[i]
        if m < 1e-200:
            if m == 0.0:
                return 0.0, 0
            m, more = math.frexp(m)
            e += more
    m, more = math.frexp(m)
    return m, e + more


@njit
def _share(m, e, other_m, other_e):
    """One wide number divided by another, as a double."""
    return math.ldexp(m / other_m, int(max(-1070, min(e - other_e, 1000))))


@njit
def _sent_entry(t, c, states):
    """Which entry of the message of clique c these states select."""
    s, step, i = 0, 1, t.axis_at[c + 1] - 1
    while step < t.sent[c]:
        v = t.axes[i]
        s += states[v] * step
        step *= t.cards[v]
        i -= 1
    return s


@njit
def _set_states(t, c, entry, states):
    for i in range(t.axis_at[c + 1] - 1, t.axis_at[c] - 1, -1):
        v = t.axes[i]
        states[v] = entry % t.cards[v]
        entry //= t.cards[v]


@njit
def trace_back(t, pm, pe, cliques, states, near, ties, stop):
    """Read the best states off the messages of a max pass, parents first; ties[0] counts the ties it met.

    Entries within a factor 1 - near of the best count as tied: they differ by rounding only.
    """
    for i in range(cliques.size):
        if stop[0] != 0:
            return STOPPED
        c = cliques[i]
        sent = t.sent[c]
        s = _sent_entry(t, c, states) if t.parent[c] >= 0 else 0
        if t.parent[c] < 0:
            sent = 1
        best, best_m, best_e = -1, 0.0, 0
        tied = 0
        for entry in range(s, t.size[c], sent):
            m, e = _clique_entry(t, c, entry, pm, pe)
            if m == 0.0:
                continue
            if best < 0:
                best, best_m, best_e = entry, m, e
                continue
            share = _share(m, e, best_m, best_e)
            if share > 1.0 + near:
                best, best_m, best_e = entry, m, e
                tied = 0
            elif share >= 1.0 - near:
                tied += 1
        ties[0] += tied
        _set_states(t, c, best, states)
    return DONE


@njit
def score(t, pm, pe, largest, states):
    """The product of all operands of the maximising cliques at these states, as a wide number."""
    total_m, total_e = 1.0, 0
    n_cliques = t.parent.size
    n_factors = t.item_at.size - 1 - n_cliques
    for c in range(n_cliques):
        if largest[c] == 0:
            if t.parent[c] < 0:  # a part without maximisation: a constant
                at = t.item_at[n_factors + c]
                total_m, more = math.frexp(total_m * pm[at])
                total_e += more + pe[at]
            continue
        entry, step = 0, 1
        for i in range(t.axis_at[c + 1] - 1, t.axis_at[c] - 1, -1):
            entry += states[t.axes[i]] * step
            step *= t.cards[t.axes[i]]
        row, j = entry // t.inner[c], entry % t.inner[c]
        for o in range(t.operand_at[c], t.operand_at[c + 1]):
            item = t.operand[o]
            if item < n_factors or largest[item - n_factors] == 0:
                i = _entry_index(t, o, row, j)
                total_m, more = math.frexp(total_m * pm[i])
                total_e += more + pe[i]
    return total_m, total_e


@njit
def best_entries(t, pm, pe, cliques, first_only, excluded, states, free, alive, near, stop):
    """Mark the entries of some best completion, going down from where it begins.

    It begins at the first of `cliques` (parents come first), given the states that its message selects and
    not in `excluded` entries; unless `first_only`, at every root. What does not hang below is left as it is.
    Entries within a factor 1 - near of the best count as best: they differ by rounding only.
    """
    n_factors = t.item_at.size - 1 - t.parent.size
    most = 1
    for i in range(cliques.size):
        most = max(most, t.sent[cliques[i]])
    seen = np.zeros(most, np.uint8)
    local = np.zeros(t.cards.size, np.int64)
    for i in range(cliques.size):
        if stop[0] != 0:
            return STOPPED
        c = cliques[i]
        up = t.parent[c]
        sent = t.sent[c] if up >= 0 else 1
        base = t.clique_at[c]
        if i == 0 or (up < 0 and not first_only):
            free[c] = 1
            s = _sent_entry(t, c, states) if up >= 0 else 0
            best_m, best_e = 0.0, 0
            for turn in range(2):
                for entry in range(s, t.size[c], sent):
                    out = False
                    for x in range(excluded.size):
                        out = out or (i == 0 and excluded[x] == entry)
                    m, e = _clique_entry(t, c, entry, pm, pe)
                    if out or m == 0.0:
                        continue
                    if turn == 0:
                        if best_m == 0.0 or _share(m, e, best_m, best_e) > 1.0:
                            best_m, best_e = m, e
                    elif _share(m, e, best_m, best_e) >= 1.0 - near:
                        alive[base + entry] = 1
        elif up >= 0 and free[up] != 0:
            free[c] = 1
            at = t.item_at[n_factors + c]
            for s in range(sent):
                seen[s] = 0
            for entry in range(t.size[up]):
                if alive[t.clique_at[up] + entry] != 0:
                    _set_states(t, up, entry, local)
                    seen[_sent_entry(t, c, local)] = 1
            for entry in range(t.size[c]):
                s = entry % sent
                if seen[s] != 0:
                    m, e = _clique_entry(t, c, entry, pm, pe)
                    if m > 0.0 and _share(m, e, pm[at + s], pe[at + s]) >= 1.0 - near:
                        alive[base + entry] = 1
    return DONE


@njit
def alternatives(t, pm, pe, cliques, excluded, states, shares):
    """Compare the best other entry of each clique with the one that these states have: log2 of the quotient.

    What its message selects stays as it is; in the first clique `excluded` entries are out too.
    """
    for i in range(cliques.size):
        c = cliques[i]
        up = t.parent[c]
        sent = t.sent[c] if up >= 0 else 1
        s = _sent_entry(t, c, states) if up >= 0 else 0
        own, step = 0, 1
        for a in range(t.axis_at[c + 1] - 1, t.axis_at[c] - 1, -1):
            own += states[t.axes[a]] * step
            step *= t.cards[t.axes[a]]
        own_m, own_e = _clique_entry(t, c, own, pm, pe)
        best_m, best_e = 0.0, 0
        for entry in range(s, t.size[c], sent):
            out = entry == own
            for x in range(excluded.size):
                out = out or (i == 0 and excluded[x] == entry)
            if not out:
                m, e = _clique_entry(t, c, entry, pm, pe)
                if m > 0.0 and (best_m == 0.0 or _share(m, e, best_m, best_e) > 1.0):
                    best_m, best_e = m, e
        shares[i] = math.log2(best_m / own_m) + (best_e - own_e) if best_m > 0.0 else -np.inf


@njit
def first_of_ties(t, alive, free, order, states, stop):
    """Among all joint states whose entries are alive in every clique, the first one in the given order.

    `alive` marks the entries that belong to some best assignment, so each of them extends to a whole one;
    fixing a variable closes entries, and what that closes in a message closes entries of the neighbours. Only
    cliques marked `free` and the variables that they sum out take part.
    """
    n_cliques, m = t.parent.size, t.cards.size
    n_children = np.zeros(n_cliques + 1, np.int64)
    for c in range(n_cliques):
        if t.parent[c] >= 0 and free[c] != 0:
            n_children[t.parent[c] + 1] += 1
    for c in range(n_cliques):
        n_children[c + 1] += n_children[c]
    children = np.empty(n_children[n_cliques], np.int64)
    fill = n_children[:n_cliques].copy()
    for c in range(n_cliques):
        if t.parent[c] >= 0 and free[c] != 0:
            children[fill[t.parent[c]]] = c
            fill[t.parent[c]] += 1
    most = 1
    for c in range(n_cliques):
        most = max(most, t.sent[c])
    seen = np.zeros(most, np.uint8)
    stack = np.empty(2 * n_cliques + 2, np.int64)
    waiting = np.zeros(n_cliques, np.uint8)
    is_open = np.zeros(64, np.uint8)
    local = np.zeros(m, np.int64)
    for step in range(order.size):
        if stop[0] != 0:
            return STOPPED
        v = order[step]
        home = t.clique_of[v]
        if free[home] == 0:
            continue
        stride = 1
        for i in range(t.axis_at[home + 1] - 1, t.axis_at[home] - 1, -1):
            if t.axes[i] == v:
                break
            stride *= t.cards[t.axes[i]]
        card = t.cards[v]
        if is_open.size < card:
            is_open = np.zeros(card, np.uint8)
        for s in range(card):
            is_open[s] = 0
        base = t.clique_at[home]
        for entry in range(t.size[home]):
            if alive[base + entry] != 0:
                is_open[(entry // stride) % card] = 1
        chosen, count = -1, 0
        for s in range(card):
            if is_open[s] != 0:
                count += 1
                if chosen < 0:
                    chosen = s
        states[v] = chosen
        if count <= 1:
            continue
        for entry in range(t.size[home]):
            if alive[base + entry] != 0 and (entry // stride) % card != chosen:
                alive[base + entry] = 0
        depth = 1
        stack[0] = home
        waiting[home] = 1
        while depth > 0:
            depth -= 1
            c = stack[depth]
            waiting[c] = 0
            has_parent = 1 if t.parent[c] >= 0 and free[t.parent[c]] != 0 else 0
            n_edges = n_children[c + 1] - n_children[c] + has_parent
            for edge in range(n_edges):
                if n_children[c] + edge < n_children[c + 1]:
                    low = children[n_children[c] + edge]
                    other = low
                else:
                    low, other = c, t.parent[c]
                sent = t.sent[low]
                for s in range(sent):
                    seen[s] = 0
                for entry in range(t.size[c]):
                    if alive[t.clique_at[c] + entry] != 0:
                        if c == low:
                            seen[entry % sent] = 1
                        else:
                            _set_states(t, c, entry, local)
                            seen[_sent_entry(t, low, local)] = 1
                changed = False
                for entry in range(t.size[other]):
                    if alive[t.clique_at[other] + entry] != 0:
                        if other == low:
                            s = entry % sent
                        else:
                            _set_states(t, other, entry, local)
                            s = _sent_entry(t, low, local)
                        if seen[s] == 0:
                            alive[t.clique_at[other] + entry] = 0
                            changed = True
                if changed and waiting[other] == 0:
                    waiting[other] = 1
                    stack[depth] = other
                    depth += 1
    return DONE


@njit
def draw(t, kept, uniforms, states, stop):
    """Draw joint states from the kept products, roots first; states[i] is one draw."""
    n_cliques = t.parent.size
    for i in range(states.shape[0]):
        if stop[0] != 0:
            return STOPPED
        mine = states[i]
        for c in range(n_cliques - 1, -1, -1):
            sent = t.sent[c]
            s = 0
            if t.parent[c] >= 0:
                s = _sent_entry(t, c, mine)
            at = t.clique_at[c]
            total = 0.0
            for entry in range(s, t.size[c], sent):
                total += kept[at + entry]
            left = uniforms[i, c] * total
            chosen = -1
            for entry in range(s, t.size[c], sent):
                if kept[at + entry] > 0.0:
                    chosen = entry
                    left -= kept[at + entry]
                    if left < 0.0:
                        break
            _set_states(t, c, chosen, mine)
    return DONE


@njit
def forward(p, values, dropped, uniforms, states, stop):
    """Draw the variables that pruning dropped, parents first: each from its table given what is drawn."""
    for i in range(states.shape[0]):
        if stop[0] != 0:
            return STOPPED
        for d in range(dropped.size - 1, -1, -1):
            f = dropped[d]
            end = p.scope_at[f + 1]
            first_head = end - p.heads[f]
            size, step, at = 1, 1, p.table_at[f]
            for a in range(end - 1, p.scope_at[f] - 1, -1):
                v = p.scopes[a]
                if a >= first_head:
                    size *= p.cards[v]
                else:
                    at += states[i, v] * step
                step *= p.cards[v]
            total = 0.0
            for s in range(size):
                total += values[at + s]
            left = uniforms[i, d] * total
            chosen = 0
            for s in range(size):
                if values[at + s] > 0.0:
                    chosen = s
                    left -= values[at + s]
                    if left < 0.0:
                        break
            for a in range(end - 1, first_head - 1, -1):
                v = p.scopes[a]
                states[i, v] = chosen % p.cards[v]
                chosen //= p.cards[v]
    return DONE


@njit
def total_of(t, pool, exponent):
    """The product of what all roots hold, as a wide number."""
    n_cliques = t.parent.size
    n_factors = t.item_at.size - 1 - n_cliques
    m, e = 1.0, 0
    for c in range(n_cliques):
        e += exponent[c]
        if t.parent[c] < 0:
            total = 0.0
            for s in range(t.sent[c]):
                total += pool[t.item_at[n_factors + c] + s]
            m, more = math.frexp(m * total)
            e += more
    return m, e


@njit
def conditionals(t, pm, pe, kept, stop):
    """What each clique holds, divided by what it sends, after a wide inward pass."""
    n_cliques = t.parent.size
    n_factors = t.item_at.size - 1 - n_cliques
    for c in range(n_cliques):
        if stop[0] != 0:
            return STOPPED
        at = t.item_at[n_factors + c]
        for entry in range(t.size[c]):
            m, e = _clique_entry(t, c, entry, pm, pe)
            s = at + entry % t.sent[c]
            x = 0.0
            if m > 0.0:
                x = math.ldexp(m / pm[s], int(max(-2000, min(2000, e - pe[s]))))
            kept[t.clique_at[c] + entry] = x
    return DONE
