"""The loops over tables: inward and outward sweeps, in doubles and wide numbers, and whole small queries.

They return a status (see runtime/running.py): 0 done, 1 stopped, 2 out of the range of a double (run
wide), 3 no state is possible. A *wide* number is a mantissa and an exponent, for what no double holds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pgm.inference.trees.tree_arrays import TreeArrays
from pgm.runtime.kinds import Bytes, Flag, Floats, Ints, Ints32

if TYPE_CHECKING:
    from pgm.inference.program.program_arrays import ProgramArrays, ReducedArrays

DONE, STOPPED, NARROW, IMPOSSIBLE = 0, 1, 2, 3
SAFE = 1000  # a number whose log2 is within this of 0 is neither denormal nor infinite
LEAST = -1022  # log2 of the smallest double with full precision
SMALLEST = 2.0**LEAST  # that double; smaller ones are met only where products may fall below it
NEGLIGIBLE = -60  # log2 of what is far less than rounding
DRIFT = 300  # messages whose bounds have moved so far are measured and scaled
BLOCK = 1024  # listed entries that are worked on together
OPEN, ROWS, CLOSE = 0, 1, 2  # what is done with a clique that is processed slab by slab


def reduced_indices(p: ProgramArrays, r: ReducedArrays):
    """The index of each variable of the program among the reduced ones, or -1."""
    index = np.full(p.cards.size, -1, np.int64)
    for i in range(r.variables.size):
        index[r.variables[i]] = i
    return index


def gather(p: ProgramArrays, r: ReducedArrays, codes: Ints32, virtual_at: Ints, n_values: int, source: Ints):
    """Where in the program's values, virtual evidence behind them, each entry of the reduced tables is."""
    index = reduced_indices(p, r)
    for g in range(r.factors.size):
        f = r.factors[g]
        at = r.table_at[g]
        if f >= p.heads.size:
            i = r.scopes[r.scope_at[g]]
            start = n_values + virtual_at[f - p.heads.size]
            for s in range(r.state_at[i], r.state_at[i + 1]):
                source[at] = start + r.states[s]
                at += 1
            continue
        base, step, size = p.table_at[f], 1, 1
        mine = source[at : r.table_at[g + 1]]
        for a in range(p.scope_at[f], p.scope_at[f + 1]):
            size *= p.cards[p.scopes[a]]
        if size == mine.size:  # nothing in it is observed or closed
            for j in range(size):
                mine[j] = base + j
            continue
        size = 1
        mine[0] = 0
        for a in range(p.scope_at[f + 1] - 1, p.scope_at[f] - 1, -1):  # the last axis changes fastest
            v = p.scopes[a]
            i = index[v]
            if i < 0:
                base += codes[v] * step
            else:
                begin = r.state_at[i]
                for s in range(r.cards[i] - 1, -1, -1):  # the block of state 0 is what others are made from
                    shift = r.states[begin + s] * step
                    block = mine[s * size : s * size + size]
                    for j in range(size):
                        block[j] = mine[j] + shift
                size *= r.cards[i]
            step *= p.cards[v]
        for j in range(size):
            mine[j] += base


def pick(values: Floats, sources: Ints, out: Floats):
    """The values at these indices."""
    for i in range(out.size):
        out[i] = values[sources[i]]


def gather_scalars(p: ProgramArrays, r: ReducedArrays, codes: Ints32, source: Ints):
    """The index in the program's values of each factor reduced to a scalar."""
    for h in range(r.scalars.size):
        f = r.scalars[h]
        base, step = p.table_at[f], 1
        for a in range(p.scope_at[f + 1] - 1, p.scope_at[f] - 1, -1):
            base += codes[p.scopes[a]] * step
            step *= p.cards[p.scopes[a]]
        source[h] = base


def moves(p: ProgramArrays, r: ReducedArrays, slot_of: Ints):
    """Which tables, and after them scalars, move with variables that have a slot, and how far."""
    count = 0
    for turn in range(2):
        if turn == 1:
            item, slot, stride = (
                np.empty(count, np.int64),
                np.empty(count, np.int64),
                np.empty(count, np.int64),
            )
        count = 0
        for i in range(r.factors.size + r.scalars.size):
            f = r.factors[i] if i < r.factors.size else r.scalars[i - r.factors.size]
            step = 1
            for a in range(p.scope_at[f + 1] - 1, p.scope_at[f] - 1, -1):
                v = p.scopes[a]
                if slot_of[v] >= 0:
                    if turn == 1:
                        item[count], slot[count], stride[count] = i, slot_of[v], step
                    count += 1
                step *= p.cards[v]
    return item, slot, stride


def _reach(operands, low, high, entries, more_low, more_high):
    """Bounds on log2 of the products of a clique's operands, and one more, and of the sums of these.

    low and high bound log2 of each item's non-zero values.
    """
    least, most = min(0, more_low), max(0, more_high)
    for o in range(operands.size):
        least += min(0, low[operands[o]])
        most += max(0, high[operands[o]])
    return least, most + math.frexp(float(entries))[1]


def _within(operands, low, high, entries, more_low, more_high):
    """Whether no product of a clique's operands, and one more, can leave the range that is safe."""
    least, most = _reach(operands, low, high, entries, more_low, more_high)
    return least > -SAFE and most < SAFE


def _loss(operands, n_factors, least, high, loss, terms):
    """log2 of the error of a clique's sums from products under the smallest double and from its operands.

    `least` bounds log2 of the products. One that is rounded there is off by less than 2**LEAST times what the
    operands still to come can hold, for any number of operands; what is off in an operand is multiplied by
    all others (what is off in two is negligible: `inward` sees to that). Each sum has `terms` terms.
    """
    worst, count, most = -np.inf, 0, 0
    if least <= -SAFE:
        worst, count = float(LEAST), 1
    for o in range(operands.size):
        item = operands[o]
        above = max(0, high[item])
        most += above
        if item >= n_factors and loss[item - n_factors] > -np.inf:
            worst, count = max(worst, loss[item - n_factors] - above), count + 1
    return worst + most + math.log2(float(count * terms)) + 1.0


def proven(t: TreeArrays, pool: Floats, loss: Floats):
    """Whether everything that the roots keep is provably accurate: NARROW if not."""
    n_factors = t.item_at.size - 1 - t.parent.size
    for c in range(t.parent.size):
        if t.parent[c] < 0 and loss[c] > -np.inf:
            enough = 2.0 ** min(1.0, loss[c] - NEGLIGIBLE)
            at = t.item_at[n_factors + c]
            for x in pool[at : at + t.sent[c]]:
                if not x > enough:
                    return NARROW
    return DONE


def _rescaled(values, at, n):
    """Scale a part of an array by a power of two so that its largest entry lies in [0.5, 1).

    Returns the power taken out and a lower bound on log2 of the smallest entry that is not zero; 1 for the
    bound if all are zero, or nearly so.
    """
    top, least = 0.0, np.inf
    for i in range(at, at + n):
        x = values[i]
        if x > top:
            top = x
        if x > 0.0 and x < least:
            least = x
    if top < SMALLEST:
        return 0, 1
    e = math.frexp(top)[1]
    scale = math.ldexp(1.0, -e)
    for i in range(at, at + n):
        values[i] *= scale
    return e, math.frexp(least)[1] - 1 - e


def _measured(values):
    """Bounds on log2 of an array's non-zero values."""
    top, least = 0.0, np.inf
    for x in values:
        if x > top:
            top = x
        if x > 0.0 and x < least:
            least = x
    if top == 0.0:
        return 0, 0
    return math.frexp(least)[1] - 1, math.frexp(top)[1]


# A named tuple is handed on as hundreds of words: what is called for every row takes the few arrays it needs.
# Parts of arrays are taken as slices, whose indices a compiler knows not to be negative: it can then work on
# several entries at a time.


def _multiply_row(lookup, kind, run, ix, part, out, begun):
    """Multiply a row by an operand's entries for it, from the start of `part`; if not `begun`, write them."""
    n = out.size
    if kind == 1:
        if begun:
            for j in range(n):
                out[j] *= part[j]
        else:
            for j in range(n):
                out[j] = part[j]
        return
    index = lookup[ix : ix + n // run]
    if run == 1:
        if begun:
            for j in range(n):
                out[j] *= part[index[j]]
        else:
            for j in range(n):
                out[j] = part[index[j]]
        return
    for i in range(index.size):
        to = out[i * run : i * run + run]
        if kind == 2:
            x = part[index[i]]
            if begun:
                for j in range(run):
                    to[j] *= x
            else:
                for j in range(run):
                    to[j] = x
        else:
            block = part[index[i] : index[i] + run]
            if begun:
                for j in range(run):
                    to[j] *= block[j]
            else:
                for j in range(run):
                    to[j] = block[j]


def _fold(row, blocks, length):
    """Add the blocks of a row up into the first one, the upper half onto the lower until one is left."""
    while blocks > 1:
        half = blocks // 2
        upper = row[(blocks - half) * length : blocks * length]
        for j in range(upper.size):
            row[j] += upper[j]
        blocks -= half


def _fold_largest(row, blocks, length):
    """The same with maxima."""
    while blocks > 1:
        half = blocks // 2
        upper = row[(blocks - half) * length : blocks * length]
        for j in range(upper.size):
            row[j] = max(row[j], upper[j])
        blocks -= half


def _add_row(lookup, kind, run, ix, short_at, short, row, out, to):
    """Add a row to the entries that it has in an item of this kind."""
    n = row.size
    if kind == 1:
        part = out[to : to + n]
        for j in range(n):
            part[j] += row[j]
    elif short == 0:
        part = out[to:]
        for j in range(n):
            part[_along(lookup, kind, run, ix, j)] += row[j]
    else:
        contiguous, short = short > 0, abs(short)
        part, index = out[to : to + short], lookup[short_at : short_at + short]
        shifts = lookup[short_at + short : short_at + short + n // short]
        if contiguous:
            for k in range(shifts.size):
                block = row[shifts[k] : shifts[k] + short]
                for j in range(short):
                    part[j] += block[j]
        elif short >= 8:
            for k in range(shifts.size):
                block = row[shifts[k] :]
                for j in range(short):
                    part[j] += block[index[j]]
        else:
            for j in range(short):
                block = row[index[j] :]
                a, b = 0.0, 0.0  # two sums, so that one addition need not wait for the last
                for k in range(shifts.size // 2):
                    a += block[shifts[2 * k]]
                    b += block[shifts[2 * k + 1]]
                if shifts.size % 2 == 1:
                    a += block[shifts[shifts.size - 1]]
                part[j] += a + b


def _multiply_listed(t, c, length, begin, pool, out):
    """The products of the operands of a clique at some of its listed entries."""
    end = begin + out.size
    for j in range(out.size):
        out[j] = 1.0
    at = t.list_at[c]
    for o in range(t.operand_at[c], t.operand_at[c + 1]):
        at += length
        index, part = t.lists[at + begin : at + end], pool[t.item_at[t.operand[o]] :]
        for j in range(out.size):
            out[j] *= part[index[j]]


def inward(
    t: TreeArrays,
    cliques: Ints,
    largest: Bytes,
    pool: Floats,
    work: Floats,
    kept: Floats,
    low: Ints,
    high: Ints,
    exponent: Ints,
    loss: Floats,
    out_too: bool,
    slab: Ints,
    stop: Flag,
):
    """Send messages towards the roots: multiply a clique's operands and sum, row by row, in one sweep.

    `cliques` are those to visit, children before their parents; those marked `largest`, if any are, take
    maxima, not sums. `work` is room for a row; if `kept` has room it gets all products. low and high bound
    log2 of what items hold; they are carried along, and where they drift the message is measured and scaled
    by a power of two, which `exponent` takes out.

    If `loss` has room, products may fall under the smallest double; it gets log2 of the error that this
    may cause in each entry of a message, and `proven` says whether the roots are accurate nevertheless.

    Roots that have children need not be summed if `out_too`: the outward sweep finds the total anyway.

    `slab` is empty, or says what to do with the only clique, OPEN, ROWS or CLOSE, and with which rows: the
    period, and the first and the end within each period. Slabs of one clique may run in parallel if they send
    different entries.
    """
    n_factors = t.item_at.size - 1 - t.parent.size
    plain = t.list_at.size > 0 and largest.size == 0 and kept.size == 0
    whole = slab.size == 0
    opening = whole or slab[0] == OPEN
    for i in range(cliques.size):
        c = cliques[i]
        if stop[0] != 0:
            return STOPPED
        n, sent = t.inner[c], t.sent[c]
        at = t.item_at[n_factors + c]
        first, last = t.operand_at[c], t.operand_at[c + 1]
        operands = t.operand[first:last]
        if opening:
            exponent[c] = 0
        if opening and not _within(operands, low, high, t.size[c], 0, 0):
            for o in range(operands.size):  # perhaps the bounds are just far too wide
                item = operands[o]
                if item >= n_factors:
                    begin, end = t.item_at[item], t.item_at[item + 1]
                    e, low[item] = _rescaled(pool, begin, end - begin)
                    exponent[item - n_factors] += e
                    high[item] = 0
                    if loss.size > 0:
                        loss[item - n_factors] -= e
                        if loss[item - n_factors] > NEGLIGIBLE:
                            return NARROW
                    if low[item] > 0:
                        return IMPOSSIBLE if loss.size == 0 or loss[item - n_factors] == -np.inf else NARROW
            least, most = _reach(operands, low, high, t.size[c], 0, 0)
            if (least <= -SAFE and loss.size == 0) or most >= SAFE:
                return NARROW
        out, message = work[:n], pool[at : at + sent]
        if opening:
            for s in range(sent):
                message[s] = 0.0
        if opening and not whole:
            continue
        if out_too and t.parent[c] < 0 and last > first and t.operand[last - 1] >= n_factors:
            continue
        wrap, n_rows = max(1, sent // n), t.size[c] // n
        if plain and t.list_at[c + 1] > t.list_at[c]:
            n_rows = 0
            length = (t.list_at[c + 1] - t.list_at[c]) // (
                1 + last - first + t.wanted_at[c + 1] - t.wanted_at[c]
            )
            to = t.lists[t.list_at[c] : t.list_at[c] + length]
            for begin in range(0, length, BLOCK):
                if stop[0] != 0:
                    return STOPPED
                some = work[: min(BLOCK, length - begin)]
                _multiply_listed(t, c, length, begin, pool, some)
                for j in range(some.size):
                    message[to[begin + j]] += some[j]
        if not whole and slab[0] == CLOSE:
            n_rows = 0
        period, begin, end = max(1, n_rows), 0, n_rows
        if not whole:
            period, begin, end = slab[1], slab[2], slab[3]
        for turn in range(0, n_rows, period):
            for row in range(turn + begin, turn + end):
                if (row & 4095) == 4095 and stop[0] != 0:
                    return STOPPED
                factor, begun = 1.0, False
                for o in range(first, last):
                    base = t.item_at[t.operand[o]] + t.lookup[t.outer_at[o] + row]
                    if t.kind[o] == 0:
                        factor *= pool[base]
                        if factor == 0.0:
                            break
                    else:
                        _multiply_row(t.lookup, t.kind[o], t.run[o], t.inner_at[o], pool[base:], out, begun)
                        begun = True
                if not begun:
                    for j in range(n):
                        out[j] = 1.0
                if kept.size > 0:
                    copy = kept[t.clique_at[c] + row * n : t.clique_at[c] + row * n + n]
                    for j in range(n):
                        copy[j] = factor * out[j] if factor > 0.0 else 0.0
                if factor == 0.0:
                    continue
                if largest.size > 0 and largest[c] != 0:
                    here = message
                    if sent >= n:
                        here = message[(row % wrap) * n : (row % wrap) * n + n]
                    else:
                        _fold_largest(out, n // sent, sent)
                    for s in range(here.size):
                        here[s] = max(here[s], factor * out[s])
                elif sent >= n:
                    here = message[(row % wrap) * n : (row % wrap) * n + n]
                    for j in range(n):
                        here[j] += factor * out[j]
                else:
                    _fold(out, n // sent, sent)
                    for s in range(sent):
                        message[s] += factor * out[s]
        if not whole and slab[0] == ROWS:
            continue
        item = n_factors + c
        low[item] = 0
        high[item] = math.frexp(float(t.size[c] // sent))[1]
        least, inherited = 0, False
        for o in range(first, last):
            each = t.operand[o]
            low[item] += low[each]
            high[item] += high[each]
            least += min(0, low[each])
            inherited |= loss.size > 0 and each >= n_factors and loss[each - n_factors] > -np.inf
        if loss.size > 0 and (inherited or least <= -SAFE):
            loss[c] = _loss(operands, n_factors, least, high, loss, t.size[c] // sent)
        if low[item] < -DRIFT or high[item] > DRIFT or t.parent[c] < 0:
            exponent[c], low[item] = _rescaled(pool, at, sent)
            high[item] = 0
            if loss.size > 0:
                loss[c] -= exponent[c]
            if low[item] > 0:
                return IMPOSSIBLE if loss.size == 0 or loss[c] == -np.inf else NARROW
        if loss.size > 0 and loss[c] - max(0, high[item]) > NEGLIGIBLE:
            return NARROW
    return DONE


def outward(
    t: TreeArrays,
    cliques: Ints,
    pool: Floats,
    down: Floats,
    results: Floats,
    low: Ints,
    high: Ints,
    exponent: Ints,
    ratio_low: Ints,
    ratio_high: Ints,
    repeated: Floats,
    belief: Floats,
    slab: Ints,
    stop: Flag,
):
    """Send messages away from the roots and read the results, multiplying each clique a second time.

    `cliques` are in the order of `inward`, and are visited from last to first. To multiply again
    is faster than to store the products, which are much larger than their operands. `down` has the
    beliefs over what each clique sends, laid out as the messages, and then the ratio of new to old by which
    the clique is corrected; 0 / 0 is 0. A clique that sums out nothing has its belief from there. `repeated`
    and `belief` are room for a row.

    `slab` is as it is for `inward`.
    """
    n_factors = t.item_at.size - 1 - t.parent.size
    folded = np.empty(belief.size)
    whole = slab.size == 0
    opening = whole or slab[0] == OPEN
    first_message = t.item_at[n_factors]
    for i in range(cliques.size - 1, -1, -1):
        c = cliques[i]
        if stop[0] != 0:
            return STOPPED
        n, sent = t.inner[c], t.sent[c]
        at = t.item_at[n_factors + c]
        below = down[at - first_message : at - first_message + sent]
        for w in range(t.passing_at[c], t.passing_at[c + 1] if opening else 0):
            index = t.lookup[t.passing_index[w] : t.passing_index[w] + sent]
            part = results[t.result_at[t.passing[w]] : t.result_at[t.passing[w] + 1]]
            for s in range(part.size):
                part[s] = 0.0
            for s in range(sent):
                part[index[s]] += below[s]
        first, last = t.operand_at[c], t.operand_at[c + 1]
        first_child = first
        while first_child < last and t.operand[first_child] < n_factors:
            first_child += 1
        if first_child == last and t.wanted_at[c] == t.wanted_at[c + 1]:
            continue
        operands = t.operand[first:last]
        is_root = t.parent[c] < 0
        as_it_came = t.size[c] == sent and not is_root and exponent[c] == 0
        ratio = below
        if not is_root and not as_it_came:
            if opening:
                message = pool[at : at + sent]
                for s in range(sent):
                    ratio[s] = below[s] / message[s] if message[s] > 0.0 else 0.0
                drifted = ratio_low[c] < -DRIFT or ratio_high[c] > DRIFT
                if drifted or not _within(operands, low, high, t.size[c], ratio_low[c], ratio_high[c]):
                    ratio_low[c] = _rescaled(ratio, 0, sent)[1]
                    ratio_high[c] = 0
            if sent < n:  # as long as a row
                ratio = repeated[:n]
                for s in range(sent):
                    ratio[s] = below[s]
                for s in range(sent, n):
                    ratio[s] = ratio[s - sent]
        if not _within(operands, low, high, t.size[c], ratio_low[c], ratio_high[c]):
            for o in range(first_child, last):  # what a hub's neighbours send has bounds that only add up
                item = t.operand[o]
                low[item], high[item] = _measured(pool[t.item_at[item] : t.item_at[item + 1]])
            if not _within(operands, low, high, t.size[c], ratio_low[c], ratio_high[c]):
                return NARROW
        # What goes down to a child, over what it sent: the product of all the others.
        least, most = ratio_low[c], ratio_high[c]
        for o in range(first, last):
            least += low[t.operand[o]]
            most += high[t.operand[o]]
        for o in range(first_child, last if opening else first_child):
            child = t.operand[o] - n_factors
            ratio_low[child] = least - low[t.operand[o]]
            ratio_high[child] = most - high[t.operand[o]]
            ratio_high[child] += math.frexp(float(t.size[c] // t.sent[child]))[1]
            part = down[t.item_at[t.operand[o]] - first_message : t.item_at[t.operand[o] + 1] - first_message]
            for s in range(part.size):
                part[s] = 0.0
        for w in range(t.wanted_at[c], t.wanted_at[c + 1] if opening else 0):
            part = results[t.result_at[t.wanted[w]] : t.result_at[t.wanted[w] + 1]]
            for s in range(part.size):
                part[s] = 0.0
        row_belief = belief[:n]
        wrap, n_rows = max(1, sent // n), t.size[c] // n
        if t.list_at.size > 0 and t.list_at[c + 1] > t.list_at[c]:
            n_rows = 0
            length = (t.list_at[c + 1] - t.list_at[c]) // (
                1 + last - first + t.wanted_at[c + 1] - t.wanted_at[c]
            )
            entry = t.lists[t.list_at[c] : t.list_at[c] + length]
            for begin in range(0, length, BLOCK):
                if stop[0] != 0:
                    return STOPPED
                some = belief[: min(BLOCK, length - begin)]
                _multiply_listed(t, c, length, begin, pool, some)
                if not is_root:
                    for j in range(some.size):
                        some[j] *= ratio[entry[begin + j]]
                column = t.list_at[c] + begin + length * (1 + first_child - first)
                for o in range(first_child, last):
                    part = down[t.item_at[t.operand[o]] - first_message :]
                    index = t.lists[column : column + some.size]
                    for j in range(some.size):
                        part[index[j]] += some[j]
                    column += length
                for w in range(t.wanted_at[c], t.wanted_at[c + 1]):
                    part = results[t.result_at[t.wanted[w]] :]
                    index = t.lists[column : column + some.size]
                    for j in range(some.size):
                        part[index[j]] += some[j]
                    column += length
        if opening and not whole:
            continue
        if not whole and slab[0] == CLOSE:
            n_rows = 0
        period, begin, end = max(1, n_rows), 0, n_rows
        if not whole:
            period, begin, end = slab[1], slab[2], slab[3]
        for turn in range(0, n_rows, period):
            for row in range(turn + begin, turn + end):
                if (row & 4095) == 4095 and stop[0] != 0:
                    return STOPPED
                if as_it_came:
                    part = below[row * n : row * n + n]
                    for j in range(n):
                        row_belief[j] = part[j]
                else:
                    factor, begun = 1.0, False
                    for o in range(first, last):
                        base = t.item_at[t.operand[o]] + t.lookup[t.outer_at[o] + row]
                        if t.kind[o] == 0:
                            factor *= pool[base]
                            if factor == 0.0:
                                break
                        else:
                            _multiply_row(
                                t.lookup, t.kind[o], t.run[o], t.inner_at[o], pool[base:], row_belief, begun
                            )
                            begun = True
                    if factor == 0.0:
                        continue
                    if not begun:
                        for j in range(n):
                            row_belief[j] = 1.0
                    if is_root:
                        for j in range(n):
                            row_belief[j] *= factor
                    else:
                        part = ratio[(row % wrap) * n : (row % wrap) * n + n]
                        for j in range(n):
                            row_belief[j] *= factor * part[j]
                summed = False
                for o in range(first_child, last):
                    to = t.item_at[t.operand[o]] - first_message + t.lookup[t.outer_at[o] + row]
                    if t.kind[o] != 0:
                        kind, run, ix = t.kind[o], t.run[o], t.inner_at[o]
                        _add_row(t.lookup, kind, run, ix, t.short_at[o], t.short[o], row_belief, down, to)
                    else:
                        if not summed:
                            for j in range(n):
                                folded[j] = row_belief[j]
                            _fold(folded, n, 1)
                            summed = True
                        down[to] += folded[0]
                for w in range(t.wanted_at[c], t.wanted_at[c + 1]):
                    to = t.result_at[t.wanted[w]] + t.lookup[t.wanted_outer[w] + row]
                    if t.wanted_kind[w] != 0:
                        kind, run, ix = t.wanted_kind[w], t.wanted_run[w], t.wanted_inner[w]
                        short_at, short = t.wanted_short_at[w], t.wanted_short[w]
                        _add_row(t.lookup, kind, run, ix, short_at, short, row_belief, results, to)
                    else:
                        if not summed:
                            for j in range(n):
                                folded[j] = row_belief[j]
                            _fold(folded, n, 1)
                            summed = True
                        results[to] += folded[0]
        if is_root and pool[at] == 0.0 and (whole or slab[0] == CLOSE):
            item = t.operand[first_child]
            for s in range(t.item_at[item] - first_message, t.item_at[item + 1] - first_message):
                pool[at] += down[s]
            if pool[at] == 0.0:
                return IMPOSSIBLE
    return DONE


def normalise(result_at: Ints, results: Floats):
    """Divide each result by its sum; returns 3 if a sum is zero."""
    for q in range(result_at.size - 1):
        total = 0.0
        for i in range(result_at[q], result_at[q + 1]):
            total += results[i]
        if not total > 0.0:
            return IMPOSSIBLE
        for i in range(result_at[q], result_at[q + 1]):
            results[i] /= total
    return DONE


def fill(
    values: Floats,
    codes: Ints,
    sources: Ints,
    begins: Ints,
    item: Ints,
    slot: Ints,
    stride: Ints,
    n_tables: int,
    pool: Floats,
):
    """Put the tables of a sliced tree, for these states of what was observed, where the tree has them.

    Returns the product of the scalars behind the tables, as a wide number.
    """
    shift = np.zeros(begins.size, np.int64)
    for i in range(item.size):
        shift[item[i]] += codes[slot[i]] * stride[i]
    for g in range(n_tables):
        for i in range(begins[g], begins[g + 1]):
            pool[i] = values[sources[i] + shift[g]]
    m, e = 1.0, 0
    for g in range(n_tables, begins.size - 1):
        m, more = math.frexp(m * values[sources[begins[g]] + shift[g]])
        e += more
    return m, e


def finish(results: Floats, codes: Ints, places: Ints, fixed: Ints, seen_at: Ints, answer: Floats):
    """Write results to their indices in an answer; fixed entries, and observed states, are certain."""
    for i in range(places.size):
        answer[places[i]] = results[i]
    for i in range(fixed.size):
        answer[fixed[i]] = 1.0
    for i in range(seen_at.size):
        answer[seen_at[i] + codes[i]] = 1.0


def count_entries(
    results: Floats,
    codes: Ints,
    entries: Ints,
    begins: Ints,
    item: Ints,
    slot: Ints,
    stride: Ints,
    counts: Floats,
):
    """Write results to the table entries that they are about; those of scalars, which come last, are certain.

    The arguments are those of `fill`; `entries` says where each stands among all if all observed variables
    had their first state.
    """
    shift = np.zeros(begins.size, np.int64)
    for i in range(item.size):
        shift[item[i]] += codes[slot[i]] * stride[i]
    for g in range(begins.size - 1):
        for i in range(begins[g], begins[g + 1]):
            counts[entries[i] + shift[g]] = results[i] if i < results.size else 1.0


def sliced(
    packed: Ints,
    at: Ints,
    axes: Ints32,
    lookup: Ints32,
    values: Floats,
    low: Ints,
    codes: Ints,
    row: int,
    scratch: Floats,
    answer: Floats,
):
    """Run a whole question on a tree that is sliced by what was observed; shared_trees.py says what it takes.

    All arrays of 64-bit integers come as one, `at` says where each begins: passing forty would take longer
    than a small question. `low` has bounds on log2 of the smallest non-zero entries, `row` is the length of
    the longest row. The answer is read from the last root if no results are laid out, else in the outward
    sweep. Returns a status, and the total as a wide number.
    """
    t = TreeArrays(
        packed[at[0] : at[1]],  # cards
        packed[at[1] : at[2]],  # axis_at
        axes,
        packed[at[2] : at[3]],  # parent
        packed[at[3] : at[4]],  # size
        packed[at[4] : at[5]],  # sent
        packed[at[5] : at[6]],  # inner
        packed[at[6] : at[7]],  # clique_at
        packed[at[7] : at[8]],  # item_at
        packed[at[8] : at[9]],  # operand_at
        packed[at[9] : at[10]],  # operand
        packed[at[10] : at[11]],  # kind
        packed[at[11] : at[12]],  # run
        packed[at[12] : at[13]],  # short_at
        packed[at[13] : at[14]],  # short
        packed[at[14] : at[15]],  # outer_at
        packed[at[15] : at[16]],  # inner_at
        packed[at[16] : at[17]],  # result_at
        packed[at[17] : at[18]],  # wanted_at
        packed[at[18] : at[19]],  # wanted
        packed[at[19] : at[20]],  # wanted_kind
        packed[at[20] : at[21]],  # wanted_run
        packed[at[21] : at[22]],  # wanted_short_at
        packed[at[22] : at[23]],  # wanted_short
        packed[at[23] : at[24]],  # wanted_outer
        packed[at[24] : at[25]],  # wanted_inner
        packed[at[25] : at[26]],  # passing_at
        packed[at[26] : at[27]],  # passing
        packed[at[27] : at[28]],  # passing_index
        lookup,
        packed[at[28] : at[29]],  # clique_of
        packed[at[29] : at[30]],  # list_at
        lookup[:0],  # lists
    )
    sources = packed[at[30] : at[31]]
    begins = packed[at[31] : at[32]]
    item = packed[at[32] : at[33]]
    slot = packed[at[33] : at[34]]
    stride = packed[at[34] : at[35]]
    places = packed[at[35] : at[36]]
    fixed = packed[at[36] : at[37]]
    seen_at = packed[at[37] : at[38]]
    n_cliques = t.parent.size
    n_tables = t.item_at.size - 1 - n_cliques
    used = t.item_at[n_tables + n_cliques]
    pool = scratch[:used]
    m, e = fill(values, codes, sources, begins, item, slot, stride, n_tables, pool)
    if m == 0.0:
        return IMPOSSIBLE, 0.0, 0
    least, most = low.copy(), np.zeros(low.size, np.int64)
    powers, cliques = np.zeros(n_cliques, np.int64), np.arange(n_cliques)
    work, never = np.empty(row), np.zeros(1, np.uint8)
    both, none = t.result_at.size > 1, packed[:0]
    loss = np.full(0 if both else n_cliques, -np.inf)
    status = inward(t, cliques, never[:0], pool, work, work[:0], least, most, powers, loss, both, none, never)
    if status == DONE and not both:
        status = proven(t, pool, loss)
    if status != DONE:
        return status, 0.0, 0
    results = work[:0]
    if both:
        down = scratch[used : 2 * used - t.item_at[n_tables]]
        repeated = np.empty(row)
        results = np.empty(t.result_at[t.result_at.size - 1])
        ratio_low, ratio_high = np.zeros(n_cliques, np.int64), np.zeros(n_cliques, np.int64)
        status = outward(
            *(
                t,
                cliques,
                pool,
                down,
                results,
                least,
                most,
                powers,
                ratio_low,
                ratio_high,
                repeated,
                work,
                none,
                never,
            )
        )
        if status == DONE:
            status = normalise(t.result_at, results)
        if status != DONE:
            return status, 0.0, 0
    total, more = total_of(t, pool, powers)
    m, shift = math.frexp(m * total)
    if not both and places.size > 0:
        root = t.item_at[n_tables + n_cliques - 1]
        results = pool[root : root + places.size]
        normalise(np.array([0, places.size]), results)
    finish(results, codes, places, fixed, seen_at, answer)
    return DONE, m, e + more + shift


def support(t: TreeArrays, bits: Bytes, down: Bytes, counts: Ints, most: float, stop: Flag):
    """Which entries can be non-zero at all.

    `bits` has 1 for each entry of a table that is not zero, and gets those of the messages. `down` is what is
    left of each message once the rest of the tree is known; `counts`, how many entries each clique has left.
    If the inward sweep leaves more than `most` of all entries, it ends there.
    """
    n_factors = t.item_at.size - 1 - t.parent.size
    first_message = t.item_at[n_factors]
    longest = 1
    for c in range(t.parent.size):
        longest = max(longest, t.inner[c])
    work = np.empty(longest, np.uint8)
    for c in range(t.parent.size):
        n, sent, at = t.inner[c], t.sent[c], t.item_at[n_factors + c]
        bits[at : at + sent] = 0
        wrap = max(1, sent // n)
        for row in range(t.size[c] // n):
            if (row & 4095) == 0 and stop[0] != 0:
                return STOPPED
            out = work[:n]
            if _bits_of_row(t, bits, c, row, out):
                here = bits[at + (row % wrap) * n : at + sent] if sent >= n else bits[at : at + sent]
                for begin in range(0, n, sent):
                    block = out[begin : begin + sent]
                    for j in range(block.size):
                        here[j] |= block[j]
                found = 0
                for j in range(n):
                    found += out[j]
                counts[c] += found
    if counts.sum() > most:
        return DONE
    counts[:] = 0
    down[:] = 0
    for c in range(t.parent.size - 1, -1, -1):
        n, sent, at = t.inner[c], t.sent[c], t.item_at[n_factors + c] - first_message
        if t.parent[c] < 0:
            down[at : at + sent] = 1
        for row in range(t.size[c] // n):
            if (row & 4095) == 0 and stop[0] != 0:
                return STOPPED
            out = work[:n]
            if not _bits_of_row(t, bits, c, row, out):
                continue
            _keep_sent(row, down[at : at + sent], out)
            found = 0
            for j in range(n):
                found += out[j]
            counts[c] += found
            for o in range(t.operand_at[c], t.operand_at[c + 1]):
                if t.operand[o] >= n_factors and found > 0:
                    part = down[t.item_at[t.operand[o]] - first_message + t.lookup[t.outer_at[o] + row] :]
                    _mark_row(t.lookup, t.kind[o], t.run[o], t.inner_at[o], out, part)
    return DONE


def _bits_of_row(t, bits, c, row, out):
    """The product of the operands' bits along a row; returns whether any is set."""
    begun = False
    for o in range(t.operand_at[c], t.operand_at[c + 1]):
        base = t.item_at[t.operand[o]] + t.lookup[t.outer_at[o] + row]
        if t.kind[o] == 0:
            if bits[base] == 0:
                return False
        else:
            _multiply_row(t.lookup, t.kind[o], t.run[o], t.inner_at[o], bits[base:], out, begun)
            begun = True
    if not begun:
        out[:] = 1
    return True


def _keep_sent(row, message, out):
    """Drop the marks of a row's entries that are not marked in the message."""
    n, sent = out.size, message.size
    here = message[(row % max(1, sent // n)) * n :] if sent >= n else message
    for begin in range(0, n, sent):
        block = out[begin : begin + sent]
        for j in range(block.size):
            block[j] &= here[j]


def _mark_row(lookup, kind, run, ix, row, part):
    """Mark what an operand, from the beginning of `part`, has for the marked entries of a row."""
    n = row.size
    if kind == 0:
        part[0] = 1
    elif kind == 1:
        to = part[:n]
        for j in range(n):
            to[j] |= row[j]
    else:
        index = lookup[ix : ix + n // run]
        for i in range(index.size):
            block = row[i * run : i * run + run]
            if kind == 3:
                to = part[index[i] : index[i] + run]
                for j in range(run):
                    to[j] |= block[j]
            else:
                some = 0
                for j in range(run):
                    some |= block[j]
                part[index[i]] |= some


def list_entries(t: TreeArrays, bits: Bytes, down: Bytes, stop: Flag):
    """Write the lists of the cliques that are to have one, after `support`."""
    n_factors = t.item_at.size - 1 - t.parent.size
    longest = 1
    for c in range(t.parent.size):
        longest = max(longest, t.inner[c])
    work = np.empty(longest, np.uint8)
    for c in range(t.parent.size):
        n, sent, at = t.inner[c], t.sent[c], t.item_at[n_factors + c] - t.item_at[n_factors]
        first, last = t.operand_at[c], t.operand_at[c + 1]
        wanted, end = t.wanted_at[c], t.wanted_at[c + 1]
        length = (t.list_at[c + 1] - t.list_at[c]) // (1 + last - first + end - wanted)
        if length == 0:
            continue
        to = t.list_at[c]
        for row in range(t.size[c] // n):
            if (row & 4095) == 0 and stop[0] != 0:
                return STOPPED
            out = work[:n]
            if not _bits_of_row(t, bits, c, row, out):
                continue
            _keep_sent(row, down[at : at + sent], out)
            for j in range(n):
                if out[j] == 0:
                    continue
                column = to
                t.lists[column] = (row * n + j) % sent
                for o in range(first, last):
                    column += length
                    x = _along(t.lookup, t.kind[o], t.run[o], t.inner_at[o], j)
                    t.lists[column] = t.lookup[t.outer_at[o] + row] + x
                for w in range(wanted, end):
                    column += length
                    x = _along(t.lookup, t.wanted_kind[w], t.wanted_run[w], t.wanted_inner[w], j)
                    t.lists[column] = t.lookup[t.wanted_outer[w] + row] + x
                to += 1
    return DONE


def wide_product(mantissas: Floats, exponents: Ints):
    """Multiply wide numbers into one."""
    m, e = 1.0, 0
    for i in range(mantissas.size):
        m, more = math.frexp(m * mantissas[i])
        e += more + exponents[i]
        if m == 0.0:
            return 0.0, 0
    return m, e


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


def _entry_index(t, o, row, j):
    at = t.item_at[t.operand[o]] + t.lookup[t.outer_at[o] + row]
    return at + _along(t.lookup, t.kind[o], t.run[o], t.inner_at[o], j)


def _along(lookup, kind, run, ix, j):
    if kind == 0:
        return 0
    if kind == 1:
        return j
    if kind == 2:
        return lookup[ix + j // run]
    return lookup[ix + j // run] + j % run


def powers_of(t: TreeArrays, exponent: Ints, powers: Ints):
    """For each entry of the pool the power of two that an inward pass has taken out, below it too."""
    n_cliques = t.parent.size
    n_factors = t.item_at.size - 1 - n_cliques
    below = exponent.copy()
    for i in range(t.item_at[n_factors]):
        powers[i] = 0
    for c in range(n_cliques):
        if t.parent[c] >= 0:
            below[t.parent[c]] += below[c]
        for i in range(t.item_at[n_factors + c], t.item_at[n_factors + c + 1]):
            powers[i] = below[c]


def inward_wide(t: TreeArrays, pm: Floats, pe: Ints, largest: Bytes, stop: Flag):
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


def outward_wide(t: TreeArrays, pm: Floats, pe: Ints, gm: Floats, ge: Ints, rm: Floats, re: Ints, stop: Flag):
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


def total_of(t: TreeArrays, pool: Floats, exponent: Ints):
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
