"""Scores of families and independence tests: counts and their sums in one pass. The loops.

The rows are the same for all families; what differs is a node, some parents, and one candidate more. So the
configurations of node and parents are numbered once, and each candidate adds one pass over the rows in which
it is not in its most frequent state: what is left of each configuration is in that state.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pgm.runtime.kinds import ByteTable, Flag, Floats, Ints, Ints32, ShortTable

DONE, STOPPED = 0, 1
ENTROPY, DIRICHLET, SPARSE, UNIFORM, NORMALISED = 0, 1, 2, 3, 4  # kinds of score


class Rows(NamedTuple):
    """The data: the state of each variable in each row."""

    codes: ShortTable  # [variable, row]; 0 where missing
    gaps: ByteTable  # [variable, row]: 1 where missing; no rows if nothing is
    cards: Ints
    modes: Ints  # the most frequent state of each variable
    starts: Ints  # where its rows begin in the next two
    rows: Ints32  # the rows in which it is in another state, in order
    others: Ints32  # that state
    weights: Floats  # of each row; empty if each counts once
    logs: Floats  # n log n for whole n; empty if weights are not whole
    regrets: Floats  # [states of the node * (rows + 1) + n]: log of the normaliser of n rows, for NORMALISED


def _xlogx(d: Rows, n):
    if d.logs.size > 0:
        return d.logs[int(n)]
    return n * math.log(n)


def _rising(a, n):
    """The logarithm of Gamma(a + n) / Gamma(a)."""
    if n == 1.0:
        return math.log(a)
    return math.lgamma(a + n) - math.lgamma(a)


def _number(d: Rows, parents: Ints, group: Ints32):
    """Leave in `group` the index of each row's configuration of parents; return how many there are.

    They are numbered as in a table, or by rank where that would have far more entries than rows.
    """
    n = group.size
    group[:] = 0
    count = 1
    for k in range(parents.size):
        v = parents[k]
        card = d.cards[v]
        codes = d.codes[v]
        if count * card > 4 * n + 256:
            count = _ranked(group, count)
            if count * card > 64 * n + 4096:
                count = _sorted(group, codes, card)
                continue
        for r in range(n):
            group[r] = group[r] * card + codes[r]
        count *= card
    return count


def _ranked(group: Ints32, count):
    """Renumber what occurs, in the same order."""
    seen = np.zeros(count, np.int32)
    for r in range(group.size):
        seen[group[r]] = 1
    rank = 0
    for g in range(count):
        if seen[g]:
            seen[g] = rank
            rank += 1
    for r in range(group.size):
        group[r] = seen[group[r]]
    return rank


def _sorted(group: Ints32, codes, card):
    """Append a variable with very many states, by sorting."""
    n = group.size
    keys = np.empty(n, np.int64)
    for r in range(n):
        keys[r] = group[r] * card + codes[r]
    order = np.argsort(keys, kind="mergesort")
    rank = -1
    last = -1
    for i in range(n):
        r = order[i]
        if keys[r] != last:
            last = keys[r]
            rank += 1
        group[r] = rank
    return rank + 1


def _of_configuration(d: Rows, kind, cell, states, n, card):
    """The part of a configuration's term that depends on its number of rows alone."""
    if kind == ENTROPY:
        return -_xlogx(d, n)
    if kind == NORMALISED:
        return -_xlogx(d, n) - d.regrets[(card - 1) * d.logs.size + int(n)]
    return -_rising(cell * states, n)


def _of_cell(d: Rows, kind, cell, n):
    if kind == ENTROPY or kind == NORMALISED:
        return _xlogx(d, n)
    return _rising(cell, n)


def _fill(d: Rows, x, cells, base: Ints32, marginal: Floats, table: Floats):
    """Leave in `table` how often each cell of `base` occurred with each state of x."""
    width = d.cards[x]
    for i in range(cells * width):
        table[i] = 0.0
    begin, end = d.starts[x], d.starts[x + 1]
    if d.weights.size == 0:
        for i in range(begin, end):
            table[base[d.rows[i]] * width + d.others[i]] += 1.0
    else:
        for i in range(begin, end):
            r = d.rows[i]
            table[base[r] * width + d.others[i]] += d.weights[r]
    mode = d.modes[x]
    for i in range(cells):
        rest = marginal[i]
        for j in range(i * width, i * width + width):
            rest -= table[j]
        if rest > 1e-9 * marginal[i]:
            table[i * width + mode] = rest


def _dense(d: Rows, v, x, groups, base: Ints32, marginal: Floats, kind, cells, amount, table: Floats):
    """The score of one candidate from the whole table of counts [configuration, state of v, state of x]."""
    card, width = d.cards[v], d.cards[x]
    _fill(d, x, groups * card, base, marginal, table)
    if kind == SPARSE:
        seen = 0
        for g in range(groups):
            for j in range(width):
                n = 0.0
                for k in range(card):
                    n += table[(g * card + k) * width + j]
                if n > 0.0:
                    seen += 1
        cells = amount / (float(max(seen, 1)) * card)
    found = 0.0
    for g in range(groups):
        for j in range(width):
            n = 0.0
            for k in range(card):
                c = table[(g * card + k) * width + j]
                if c > 0.0:
                    n += c
                    found += _of_cell(d, kind, cells, c)
            if n > 0.0:
                found += _of_configuration(d, kind, cells, card, n, card)
    return found


def _grouped(d: Rows, v, x, ends: Ints32, order: Ints32, kind, cells, amount, local: Floats, sums: Floats):
    """The same where the table would be larger than the data: one configuration of the parents at a time.

    `local` and `sums` are zero before and after.
    """
    card, width = d.cards[v], d.cards[x]
    mine, theirs = d.codes[v], d.codes[x]
    weighted = d.weights.size > 0
    found = 0.0
    if kind == SPARSE:
        seen = 0
        begin = 0
        for g in range(ends.size):
            for i in range(begin, ends[g]):
                sums[theirs[order[i]]] = 1.0
            for i in range(begin, ends[g]):
                if sums[theirs[order[i]]] > 0.0:
                    seen += 1
                    sums[theirs[order[i]]] = 0.0
            begin = ends[g]
        cells = amount / (float(max(seen, 1)) * card)
    begin = 0
    for g in range(ends.size):
        for i in range(begin, ends[g]):
            r = order[i]
            w = d.weights[r] if weighted else 1.0
            local[mine[r] * width + theirs[r]] += w
            sums[theirs[r]] += w
        for i in range(begin, ends[g]):
            r = order[i]
            c = local[mine[r] * width + theirs[r]]
            if c > 0.0:
                found += _of_cell(d, kind, cells, c)
                local[mine[r] * width + theirs[r]] = 0.0
            n = sums[theirs[r]]
            if n > 0.0:
                found += _of_configuration(d, kind, cells, card, n, card)
                sums[theirs[r]] = 0.0
        begin = ends[g]
    return found


def _alone(d: Rows, v, groups, marginal: Floats, kind, cells, amount):
    """The score without a further parent."""
    card = d.cards[v]
    if kind == SPARSE:
        seen = 0
        for g in range(groups):
            n = 0.0
            for k in range(card):
                n += marginal[g * card + k]
            if n > 0.0:
                seen += 1
        cells = amount / (float(max(seen, 1)) * card)
    found = 0.0
    for g in range(groups):
        n = 0.0
        for k in range(card):
            c = marginal[g * card + k]
            if c > 0.0:
                n += c
                found += _of_cell(d, kind, cells, c)
        if n > 0.0:
            found += _of_configuration(d, kind, cells, card, n, card)
    return found


def grow(d: Rows, v: int, parents: Ints, candidates: Ints, kind: int, amount: float, out: Floats, stop: Flag):
    """Leave in `out` the score of v with these parents and each candidate; -1 stands for none.

    `amount` is the equivalent sample size of the Dirichlet prior, for UNIFORM its count in each cell.
    """
    n = d.codes.shape[1]
    card = d.cards[v]
    group = np.empty(n, np.int32)
    groups = _number(d, parents, group)
    configurations = 1.0
    for k in range(parents.size):
        configurations *= float(d.cards[parents[k]])
    widest = 1
    for i in range(candidates.size):
        if candidates[i] >= 0:
            widest = max(widest, d.cards[candidates[i]])
    room = max(4 * n, 1024)
    if groups * card > room:
        groups = _ranked(group, groups)
    mine = d.codes[v]
    base = np.empty(n, np.int32)
    marginal = np.zeros(groups * card, np.float64)
    for r in range(n):
        base[r] = group[r] * card + mine[r]
    if d.weights.size == 0:
        for r in range(n):
            marginal[base[r]] += 1.0
    else:
        for r in range(n):
            marginal[base[r]] += d.weights[r]
    sparse = groups * card * widest > room
    table = np.empty(min(groups * card * widest, room), np.float64)
    local = np.zeros(card * widest if sparse else 0, np.float64)
    sums = np.zeros(widest if sparse else 0, np.float64)
    ends = np.zeros(groups if sparse else 0, np.int32)
    order = np.empty(n if sparse else 0, np.int32)
    if sparse:
        for r in range(n):
            ends[group[r]] += 1
        at = 0
        for g in range(groups):
            size = ends[g]
            ends[g] = at
            at += size
        for r in range(n):
            order[ends[group[r]]] = r
            ends[group[r]] += 1
    for i in range(candidates.size):
        if stop[0]:
            return STOPPED
        x = candidates[i]
        width = d.cards[x] if x >= 0 else 1
        cells = amount if kind == UNIFORM else amount / (configurations * width * card)
        if x < 0:
            out[i] = _alone(d, v, groups, marginal, kind, cells, amount)
        elif groups * card * width <= room:
            out[i] = _dense(d, v, x, groups, base, marginal, kind, cells, amount, table)
        else:
            out[i] = _grouped(d, v, x, ends, order, kind, cells, amount, local, sums)
    return DONE


def depend(
    d: Rows, v: int, parents: Ints, candidates: Ints, kind: int, out: Floats, freedom: Floats, used: Floats,
    stop: Flag,
):  # fmt: skip
    """Test v against each candidate given the parents: the statistic, its degrees of freedom, the rows used.

    `kind` 0 is G squared, twice the log-likelihood ratio; 1 is Pearson's chi-square. Only states that occur
    in a configuration count for its degrees of freedom; only rows without gaps in what is tested are used.
    """
    n = d.codes.shape[1]
    gaps = d.gaps.shape[1] > 0
    card = d.cards[v]
    group = np.empty(n, np.int32)
    groups = _number(d, parents, group)
    seen = np.ones(n, np.uint8)
    if gaps:
        for r in range(n):
            if d.gaps[v, r]:
                seen[r] = 0
        for k in range(parents.size):
            u = parents[k]
            for r in range(n):
                if d.gaps[u, r]:
                    seen[r] = 0
    room = max(4 * n, 1024)
    if groups * card > room:
        groups = _ranked(group, groups)
    widest = 1
    for i in range(candidates.size):
        widest = max(widest, d.cards[candidates[i]])
    across = np.zeros(card, np.float64)
    down = np.zeros(widest, np.float64)
    found = np.zeros(3, np.float64)
    mine = d.codes[v]
    weighted = d.weights.size > 0
    if not gaps and groups * card * widest <= room:
        base = np.empty(n, np.int32)
        marginal = np.zeros(groups * card, np.float64)
        for r in range(n):
            base[r] = group[r] * card + mine[r]
            marginal[base[r]] += d.weights[r] if weighted else 1.0
        whole = np.empty(groups * card * widest, np.float64)
        for i in range(candidates.size):
            if stop[0]:
                return STOPPED
            x = candidates[i]
            width = d.cards[x]
            _fill(d, x, groups * card, base, marginal, whole)
            found[:] = 0.0
            for g in range(groups):
                _test(whole, g * card * width, card, width, kind, across, down, found)
            out[i], freedom[i], used[i] = max(found[0], 0.0), found[1], found[2]
        return DONE
    order = np.empty(n, np.int32)
    ends = np.zeros(groups + 1, np.int32)
    for r in range(n):
        ends[group[r] + 1] += 1
    for g in range(groups):
        ends[g + 1] += ends[g]
    at = np.empty(groups, np.int32)
    for g in range(groups):
        at[g] = ends[g]
    for r in range(n):
        order[at[group[r]]] = r
        at[group[r]] += 1
    table = np.zeros(card * widest, np.float64)
    for i in range(candidates.size):
        if stop[0]:
            return STOPPED
        x = candidates[i]
        width = d.cards[x]
        theirs = d.codes[x]
        found[:] = 0.0
        for g in range(groups):
            if ends[g + 1] == ends[g]:
                continue
            for k in range(card * width):
                table[k] = 0.0
            for j in range(ends[g], ends[g + 1]):
                r = order[j]
                if gaps:
                    if not seen[r] or d.gaps[x, r]:
                        continue
                table[mine[r] * width + theirs[r]] += d.weights[r] if weighted else 1.0
            _test(table, 0, card, width, kind, across, down, found)
        out[i], freedom[i], used[i] = max(found[0], 0.0), found[1], found[2]
    return DONE


def _test(table: Floats, begin, card, width, kind, across: Floats, down: Floats, found: Floats):
    """Add to `found` the statistic of one configuration's table, its degrees of freedom, its rows."""
    total = 0.0
    for j in range(width):
        down[j] = 0.0
    for k in range(card):
        across[k] = 0.0
        for j in range(width):
            c = table[begin + k * width + j]
            across[k] += c
            down[j] += c
        total += across[k]
    if total <= 0.0:
        return
    found[2] += total
    some, others = -1, -1
    for k in range(card):
        if across[k] > 0.0:
            some += 1
    for j in range(width):
        if down[j] > 0.0:
            others += 1
    if some <= 0 or others <= 0:
        return
    found[1] += some * others
    for k in range(card):
        if across[k] <= 0.0:
            continue
        for j in range(width):
            if down[j] <= 0.0:
                continue
            c = table[begin + k * width + j]
            e = across[k] * down[j] / total
            if kind == 1:
                found[0] += (c - e) * (c - e) / e
            elif c > 0.0:
                found[0] += 2.0 * c * math.log(c / e)
