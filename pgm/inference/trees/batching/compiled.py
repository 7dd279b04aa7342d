"""Batched sweeps over many rows: every entry is a vector of SIMD lanes, one for each row.

A row is a column of the pool, so the innermost loops run over contiguous memory and never depend on each
other: a row's results do not depend on the other rows, or on their number.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pgm.runtime.kinds import Bytes, Flag, Floats, FloatTable, Ints, Ints32, IntTable, IntTable32

if TYPE_CHECKING:
    from pgm.inference.program.program_arrays import ProgramArrays, ReducedArrays
    from pgm.inference.trees.batching.lane_arrays import Lanes, Reads, RowEvidence
    from pgm.inference.trees.tree_arrays import TreeArrays

DONE, STOPPED, NARROW, IMPOSSIBLE = 0, 1, 2, 3  # as in pgm/inference/trees/sweeps/compiled.py
SAFE = 1000  # a number whose log2 is within this of 0 is neither denormal nor infinite
DRIFT = 300  # messages whose bounds have drifted this far are scaled, each lane separately
# The tree: axis_at, axes, parent, sends, operand_at, operand.
Skeleton = tuple[Ints, Ints32, Ints, Ints, Ints, Ints]
LANE_COST = 0.125  # of a multiplication in one lane, beside a store to a single lane


# --- equal rows ---


def pack(codes: IntTable32, radix: Ints, seen_only: bool, words: IntTable):
    """Pack each row of a frame into a few integers: digits code + 1, or whether there is a code at all.

    `codes` has a row for each column of the frame, `words` (all 0) has room for as many. Returns how many
    integers it took.
    """
    k = 0
    for begin in range(0, codes.shape[1], 1024):  # a block that stays in the cache
        k, room = 0, 2**62
        for w in range(codes.shape[0]):
            base = 2 if seen_only else radix[w] + 1
            if room < base:
                k += 1
                room = 2**62
            room //= base
            out, column = words[k], codes[w]
            for i in range(begin, min(begin + 1024, codes.shape[1])):
                digit = column[i] + 1
                if seen_only and digit > 1:
                    digit = 1
                out[i] = out[i] * base + digit
    return k + 1


def distinct(words: IntTable, n_words: int, slots: Ints32, first: Ints, inverse: Ints):
    """Number the distinct rows in order of appearance; returns how many there are.

    `slots` is a table for hashing, all -1, its size a power of two.
    """
    count = 0
    last = slots.size - 1
    for i in range(words.shape[1]):
        h = 0
        for k in range(n_words):
            h = ((h ^ int(words[k, i])) * 0x2545F4914F6CDD1D) & 0x7FFFFFFFFFFFFFFF
            h ^= h >> 29
        at = h & last
        while True:
            u = slots[at]
            if u < 0:
                slots[at] = count
                first[count] = i
                inverse[i] = count
                count += 1
                break
            same = True
            for k in range(n_words):
                if words[k, first[u]] != words[k, i]:
                    same = False
                    break
            if same:
                inverse[i] = u
                break
            at = (at + 1) & last
    return count


def gather_rows(codes: IntTable32, rows: Ints, out: IntTable32):
    """Write some columns of an array as rows, a few hundred at a time so that both stay in the cache."""
    for begin in range(0, rows.size, 256):
        end = min(rows.size, begin + 256)
        for w in range(codes.shape[0]):
            for i in range(begin, end):
                out[i, w] = codes[w, rows[i]]


# --- from a tree to lanes ---


def skeleton(t: TreeArrays, n_targets: int):
    """What is read from a tree: its cliques, how many axes each sends on, and its operands."""
    count = t.parent.size
    sends = np.zeros(count, np.int64)
    for c in range(count):
        left = t.sent[c]
        while left > 1:
            sends[c] += 1
            left //= t.cards[t.axes[t.axis_at[c + 1] - sends[c]]]
    if n_targets > 0:
        sends[count - 1] = n_targets
    return t.axis_at, t.axes, t.parent, sends, t.operand_at, t.operand


def _entries(cards, axes, first, last):
    n = 1
    for i in range(first, last):
        n *= cards[axes[i]]
    return n


def bounds(cards: Ints, tree: Skeleton, table_low: Ints, low: Ints, high: Ints, scaled: Bytes):
    """Bound log2 of each item's non-zero values; mark cliques whose messages are to be scaled.

    Returns whether no product can leave the range that is safe. A scaled message is taken to hold nothing
    under 2**-DRIFT; the run checks that in every lane.
    """
    axis_at, axes, parent, sends, operand_at, operand = tree
    n_factors = table_low.size
    for g in range(n_factors):
        low[g], high[g] = table_low[g], 0
    for c in range(parent.size):
        item = n_factors + c
        size = _entries(cards, axes, axis_at[c], axis_at[c + 1])
        sent = _entries(cards, axes, axis_at[c + 1] - sends[c], axis_at[c + 1])
        least, most = 0, 0
        low[item], high[item] = 0, math.frexp(float(size // sent))[1]
        for o in range(operand_at[c], operand_at[c + 1]):
            least += min(0, low[operand[o]])
            most += max(0, high[operand[o]])
            low[item] += low[operand[o]]
            high[item] += high[operand[o]]
        if least <= -SAFE or most + math.frexp(float(size))[1] >= SAFE:
            return False
        scaled[c] = 0
        if low[item] < -DRIFT or high[item] > DRIFT:
            scaled[c], low[item], high[item] = 1, -DRIFT, 0
    return True


def bounds_outward(cards: Ints, tree: Skeleton, low: Ints, high: Ints, scaled: Bytes):
    """The same for the outward pass: mark cliques whose corrections are to be scaled; whether all is safe."""
    axis_at, axes, parent, sends, operand_at, operand = tree
    n_factors = low.size - parent.size
    ratio_low, ratio_high = np.zeros(parent.size, np.int64), np.zeros(parent.size, np.int64)
    for c in range(parent.size - 1, -1, -1):
        scaled[c] = 0
        if ratio_low[c] < -DRIFT or ratio_high[c] > DRIFT:
            scaled[c], ratio_low[c], ratio_high[c] = 1, -DRIFT, 0
        size = _entries(cards, axes, axis_at[c], axis_at[c + 1])
        least, most = min(0, ratio_low[c]), max(0, ratio_high[c])
        whole_low, whole_high = ratio_low[c], ratio_high[c]
        for o in range(operand_at[c], operand_at[c + 1]):
            least += min(0, low[operand[o]])
            most += max(0, high[operand[o]])
            whole_low += low[operand[o]]
            whole_high += high[operand[o]]
        if least <= -SAFE or most + math.frexp(float(size))[1] >= SAFE:
            return False
        for o in range(operand_at[c], operand_at[c + 1]):
            child = operand[o] - n_factors
            if child >= 0:
                sent = _entries(cards, axes, axis_at[child + 1] - sends[child], axis_at[child + 1])
                ratio_low[child] = whole_low - low[operand[o]]
                ratio_high[child] = whole_high - high[operand[o]] + math.frexp(float(size // sent))[1]
    return True


def split_hubs(tree: Skeleton, table_low: Ints, whole: bool):
    """Split cliques whose products could leave the range of doubles into a chain of several.

    Each but the last sums out nothing; its product is scaled before the next multiplies on. On the way out,
    if there is one, a correction comes on top.
    """
    axis_at, axes, parent, sends, operand_at, operand = tree
    count, n_factors = parent.size, table_low.size
    low = np.zeros(n_factors + count, np.int64)
    low[:n_factors] = table_low
    least_allowed = SAFE // 10 - SAFE + (DRIFT if whole else 0)
    begins = np.zeros(operand.size, np.uint8)  # operands that begin the next piece
    extra = np.zeros(count + 1, np.int64)
    for c in range(count):
        least = 0
        for o in range(operand_at[c], operand_at[c + 1]):
            mine = min(0, low[operand[o]])
            if least + mine <= least_allowed and o > operand_at[c]:
                begins[o] = 1
                extra[c] += 1
                least = max(least, -DRIFT)
            least += mine
        low[n_factors + c] = least if least >= -DRIFT else -DRIFT
    n_extra, n_axes = 0, 0
    number = np.empty(count, np.int64)
    for c in range(count):
        n_extra += extra[c]
        n_axes += extra[c] * (axis_at[c + 1] - axis_at[c])
        number[c] = c + n_extra
    new_at = np.zeros(count + n_extra + 1, np.int64)
    new_axes = np.empty(axes.size + n_axes, axes.dtype)
    new_parent = np.empty(count + n_extra, np.int64)
    new_sends = np.empty(count + n_extra, np.int64)
    new_operand_at = np.zeros(count + n_extra + 1, np.int64)
    new_operand = np.empty(operand.size + n_extra, np.int64)
    d, a, w = 0, 0, 0
    for c in range(count):
        o = operand_at[c]
        for piece in range(extra[c] + 1):
            for i in range(axis_at[c], axis_at[c + 1]):
                new_axes[a] = axes[i]
                a += 1
            new_at[d + 1] = a
            if piece > 0:
                new_operand[w] = n_factors + d - 1
                w += 1
            first = o
            while o < operand_at[c + 1] and (o == first or begins[o] == 0):
                item = operand[o]
                new_operand[w] = item if item < n_factors else n_factors + number[item - n_factors]
                if item >= n_factors:
                    new_parent[number[item - n_factors]] = d
                w += 1
                o += 1
            new_operand_at[d + 1] = w
            if piece < extra[c]:
                new_parent[d], new_sends[d] = d + 1, axis_at[c + 1] - axis_at[c]
            else:
                new_parent[d] = -1  # until the clique comes that takes what it sends
                new_sends[d] = sends[c]
            d += 1
    return new_at, new_axes, new_parent, new_sends, new_operand_at, new_operand


def strides_of(p: ProgramArrays, factors: Ints32, column: Ints):
    """For each factor the columns of the frame that it depends on, with the steps in its table.

    `column` is -1 for variables that are not sliced.
    """
    at = np.zeros(factors.size + 1, np.int64)
    n = 0
    for g in range(factors.size):
        n += p.scope_at[factors[g] + 1] - p.scope_at[factors[g]]
    columns, steps = np.empty(n, np.int64), np.empty(n, np.int64)
    w = 0
    for g in range(factors.size):
        f, step = factors[g], 1
        for i in range(p.scope_at[f + 1] - 1, p.scope_at[f] - 1, -1):
            v = p.scopes[i]
            if column[v] >= 0:
                columns[w], steps[w] = column[v], step
                w += 1
            step *= p.cards[v]
        at[g + 1] = w
    return at, columns[:w].copy(), steps[:w].copy()


def _walk(cards, stride, first, last, index, at):
    """Write the sum of code times stride for all states of the axes first .. last-1, the last one fastest."""
    index[at] = 0
    size = 1
    for a in range(last - 1, first - 1, -1):
        for s in range(1, cards[a]):
            shift = s * stride[a]
            for j in range(size):
                index[at + s * size + j] = index[at + j] + shift
        size *= cards[a]
    return size


def _strides(r, tree, item, axis_of, stride):
    """The steps of an item along the axes of a clique; `axis_of` has their places."""
    axis_at, axes, _, sends, _, _ = tree
    n_factors = r.factors.size
    step = 1
    if item < n_factors:
        for i in range(r.scope_at[item + 1] - 1, r.scope_at[item] - 1, -1):
            stride[axis_of[r.scopes[i]]] = step
            step *= r.cards[r.scopes[i]]
    else:
        child = item - n_factors
        for i in range(axis_at[child + 1] - 1, axis_at[child + 1] - sends[child] - 1, -1):
            stride[axis_of[axes[i]]] = step
            step *= r.cards[axes[i]]


def _among(r, item, axes, first, last):
    """Whether these axes of a clique have all variables of a table."""
    for i in range(r.scope_at[item], r.scope_at[item + 1]):
        there = 0
        for j in range(first, last):
            if axes[j] == r.scopes[i]:
                there = 1
        if there == 0:
            return 0
    return 1


def place_masks(r: ReducedArrays, tree: Skeleton, sliced: Bytes, masked: Ints, share: Floats, whole: bool):
    """Choose where the states that a row excludes are masked, for each variable that some rows observe.

    That is a message that has the variable and is a lane anyway, or a vector of ones of its own, an operand
    of some clique: whichever costs least, when a share of the rows observes it. Returns the clique of each,
    whether it is the message, and which cliques differ from lane to lane.
    """
    axis_at, axes, parent, sends, operand_at, operand = tree
    m, count, n_factors = r.cards.size, parent.size, r.factors.size
    which = np.full(m, -1, np.int64)
    for w in range(masked.size):
        which[masked[w]] = w
    # marked: cliques below which some variable is summed out that is observed in some row
    marked, mixed = np.zeros(count, np.uint8), np.zeros(count, np.uint8)
    for c in range(count):
        for o in range(operand_at[c], operand_at[c + 1]):
            item = operand[o]
            if (item < n_factors and sliced[item] != 0) or (item >= n_factors and marked[item - n_factors]):
                marked[c] = mixed[c] = 1
            if item >= n_factors and whole:
                mixed[c] = 1
        for i in range(axis_at[c], axis_at[c + 1] - (sends[c] if parent[c] >= 0 else 0)):
            if which[axes[i]] >= 0:
                marked[c] = 1
    cost = np.full(masked.size, np.inf)
    where = np.full(masked.size, -1, np.int64)
    in_message = np.zeros(masked.size, np.uint8)
    for c in range(count):
        size = _entries(r.cards, axes, axis_at[c], axis_at[c + 1])
        first_sent = axis_at[c + 1] - sends[c]
        sent = _entries(r.cards, axes, first_sent, axis_at[c + 1])
        for i in range(axis_at[c], axis_at[c + 1]):
            w = which[axes[i]]
            if w < 0:
                continue
            here = share[w] * r.cards[axes[i]]
            if mixed[c] != 0 or marked[c] == 0:
                here += LANE_COST * size
            if here < cost[w]:
                cost[w], where[w], in_message[w] = here, c, 0
            if marked[c] != 0 and parent[c] >= 0 and i >= first_sent and share[w] * sent < cost[w]:
                cost[w], where[w], in_message[w] = share[w] * sent, c, 1
    lane = np.zeros(count, np.uint8)
    for w in range(masked.size):
        lane[where[w]] = 1
    for c in range(count):
        for o in range(operand_at[c], operand_at[c + 1]):
            if operand[o] < n_factors and sliced[operand[o]] != 0:
                lane[c] = 1
        if lane[c] != 0 and parent[c] >= 0:
            lane[parent[c]] = 1
    return where, in_message, lane


def lay_out(
    r: ReducedArrays,
    tree: Skeleton,
    sliced: Bytes,
    masked: Ints,
    where: Ints,
    in_message: Bytes,
    lane: Bytes,
    wanted: Ints32,
    families: bool,
    whole: bool,
    stop: Flag,
):
    """Turn a tree into the arrays that the lanes run on (see Lanes), whatever the values in its tables.

    What is `wanted` with `whole` are single variables, or with `families` all variables of some tables. Then
    messages that no row changes are kept, because what is below them is wanted too; otherwise
    they are multiplied into the constants of the clique above.
    """
    axis_at, axes, parent, sends, operand_at, operand = tree
    m, count, n_factors = r.cards.size, parent.size, r.factors.size
    size, sent = np.empty(count, np.int64), np.empty(count, np.int64)
    widest, n_lookup, n_constants = 1, 0, 0
    constant_at = np.full(count, -1, np.int64)
    pool_at = np.full(n_factors + count, -1, np.int64)  # items that are lanes
    fixed_at = np.full(count, -1, np.int64)  # messages that are the same for all rows
    n_pool, n_fixed = 0, 0
    for g in range(n_factors):
        if sliced[g] != 0:
            pool_at[g] = n_pool
            n_pool += r.table_at[g + 1] - r.table_at[g]
    for c in range(count):
        widest = max(widest, axis_at[c + 1] - axis_at[c])
        size[c] = _entries(r.cards, axes, axis_at[c], axis_at[c + 1])
        sent[c] = _entries(r.cards, axes, axis_at[c + 1] - sends[c], axis_at[c + 1])
        if lane[c] == 0:
            fixed_at[c] = n_fixed
            n_fixed += sent[c]
        if lane[c] != 0 or whole or parent[c] < 0:
            pool_at[n_factors + c] = n_pool
            n_pool += sent[c]
        if lane[c] != 0 or whole:
            constant_at[c] = n_constants
            n_constants += size[c]
            n_lookup += (operand_at[c + 1] - operand_at[c]) * (size[c] // sent[c] + sent[c])
    unary_at = np.full(masked.size, -1, np.int64)
    mask_begin = np.zeros(count + 1, np.int64)  # masks of each message
    unary_begin = np.zeros(count + 1, np.int64)
    for w in range(masked.size):
        c = where[w]
        if in_message[w] != 0:
            mask_begin[c + 1] += 1
        else:
            unary_begin[c + 1] += 1
            unary_at[w] = n_pool
            n_pool += r.cards[masked[w]]
            n_lookup += size[c] // sent[c] + sent[c]
    # What is wanted of a single variable is read where that is cheapest: a clique, or what a clique is sent.
    # What is wanted of a table is read where it is an operand.
    source = np.full(n_factors if families else m, -1, np.int64)
    through = np.zeros(source.size, np.uint8)
    cheapest = np.full(source.size, np.inf)
    result_at = np.zeros(wanted.size + 1, np.int64)
    read_begin, pass_begin = np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64)
    if whole:
        for c in range(count):
            if families:
                for o in range(operand_at[c], operand_at[c + 1]):
                    if operand[o] < n_factors:
                        source[operand[o]] = c
                        through[operand[o]] = _among(
                            r, operand[o], axes, axis_at[c + 1] - sends[c], axis_at[c + 1]
                        )
                continue
            for i in range(axis_at[c], axis_at[c + 1]):
                v = axes[i]
                if size[c] < cheapest[v]:
                    cheapest[v], source[v], through[v] = size[c], c, 0
                if parent[c] >= 0 and i >= axis_at[c + 1] - sends[c] and sent[c] <= cheapest[v]:
                    cheapest[v], source[v], through[v] = sent[c], c, 1
        for q in range(wanted.size):
            v = wanted[q]
            c = source[v]
            width = r.table_at[v + 1] - r.table_at[v] if families else r.cards[v]
            result_at[q + 1] = result_at[q] + width
            if parent[c] < 0:
                through[v] = 0
            if through[v] != 0:
                pass_begin[c + 1] += 1
                n_lookup += sent[c]
            else:
                read_begin[c + 1] += 1
                n_lookup += size[c] // sent[c] + sent[c]
    for c in range(count):
        mask_begin[c + 1] += mask_begin[c]
        unary_begin[c + 1] += unary_begin[c]
        read_begin[c + 1] += read_begin[c]
        pass_begin[c + 1] += pass_begin[c]
    masks, unaries = np.empty(mask_begin[count], np.int64), np.empty(unary_begin[count], np.int64)
    fill, fill_unary = mask_begin[:count].copy(), unary_begin[:count].copy()
    for w in range(masked.size):
        c = where[w]
        if in_message[w] != 0:
            masks[fill[c]] = w
            fill[c] += 1
        else:
            unaries[fill_unary[c]] = w
            fill_unary[c] += 1
    reads, passes = np.empty(read_begin[count], np.int64), np.empty(pass_begin[count], np.int64)
    fill, fill_pass = read_begin[:count].copy(), pass_begin[:count].copy()
    if whole:
        for q in range(wanted.size):
            c = source[wanted[q]]
            if through[wanted[q]] != 0:
                passes[fill_pass[c]] = q
                fill_pass[c] += 1
            else:
                reads[fill[c]] = q
                fill[c] += 1

    lookup = np.empty(n_lookup, np.int32)
    n_operands = operand.size + masked.size
    lane_begin = np.zeros(count + 1, np.int64)
    lane_pool, lane_outer, lane_inner = (
        np.zeros(n_operands, np.int64),
        np.zeros(n_operands, np.int64),
        np.zeros(n_operands, np.int64),
    )
    lane_child = np.full(n_operands, -1, np.int64)
    read_outer, read_inner = np.zeros(reads.size, np.int64), np.zeros(reads.size, np.int64)
    pass_inner = np.zeros(passes.size, np.int64)
    mask_after = np.zeros(masks.size, np.int64)
    stride, card = np.zeros(widest, np.int64), np.zeros(widest, np.int64)
    axis_of = np.full(m, -1, np.int64)
    status, at, n_lanes = DONE, 0, 0
    for c in range(count):
        if stop[0] != 0:
            status = STOPPED
            break
        begin, end = axis_at[c], axis_at[c + 1]
        cut = end - begin - sends[c]
        for i in range(begin, end):
            axis_of[axes[i]] = i - begin
            card[i - begin] = r.cards[axes[i]]
        for turn in range(2):
            for o in range(operand_at[c], operand_at[c + 1]):
                item = operand[o]
                if (item < n_factors) != (turn == 0) or constant_at[c] < 0 or pool_at[item] < 0:
                    continue
                for i in range(end - begin):
                    stride[i] = 0
                _strides(r, tree, item, axis_of, stride)
                lane_pool[n_lanes], lane_outer[n_lanes] = pool_at[item], at
                at += _walk(card, stride, 0, cut, lookup, at)
                lane_inner[n_lanes] = at
                at += _walk(card, stride, cut, end - begin, lookup, at)
                lane_child[n_lanes] = item - n_factors if item >= n_factors else -1
                n_lanes += 1
        for i in range(unary_begin[c], unary_begin[c + 1]):
            w = unaries[i]
            for j in range(end - begin):
                stride[j] = 0
            stride[axis_of[masked[w]]] = 1
            lane_pool[n_lanes], lane_outer[n_lanes] = unary_at[w], at
            at += _walk(card, stride, 0, cut, lookup, at)
            lane_inner[n_lanes] = at
            at += _walk(card, stride, cut, end - begin, lookup, at)
            n_lanes += 1
        lane_begin[c + 1] = n_lanes
        for i in range(mask_begin[c], mask_begin[c + 1]):
            after = 1
            for j in range(axis_of[masked[masks[i]]] + 1, end - begin):
                after *= card[j]
            mask_after[i] = after
        for i in range(read_begin[c], read_begin[c + 1]):
            for j in range(end - begin):
                stride[j] = 0
            if families:
                _strides(r, tree, wanted[reads[i]], axis_of, stride)
            else:
                stride[axis_of[wanted[reads[i]]]] = 1
            read_outer[i] = at
            at += _walk(card, stride, 0, cut, lookup, at)
            read_inner[i] = at
            at += _walk(card, stride, cut, end - begin, lookup, at)
        for i in range(pass_begin[c], pass_begin[c + 1]):
            for j in range(end - begin):
                stride[j] = 0
            if families:
                _strides(r, tree, wanted[passes[i]], axis_of, stride)
            else:
                stride[axis_of[wanted[passes[i]]]] = 1
            pass_inner[i] = at
            at += _walk(card, stride, cut, end - begin, lookup, at)
    return (
        status,
        n_pool,
        n_constants,
        n_fixed,
        (
            parent,
            lane,
            size,
            sent,
            constant_at,
            pool_at[n_factors:].copy(),
            fixed_at,
            lane_begin,
            lane_pool[:n_lanes].copy(),
            lane_outer[:n_lanes].copy(),
            lane_inner[:n_lanes].copy(),
            lane_child[:n_lanes].copy(),
            unary_at,
            mask_begin,
            masks,
            mask_after,
            result_at,
            read_begin,
            reads,
            read_outer,
            read_inner,
            pass_begin,
            passes,
            pass_inner,
            lookup[:at].copy(),
        ),
        pool_at[:n_factors].copy(),
    )


def multiply(
    r: ReducedArrays, tree: Skeleton, b: Lanes, tables: Floats, sliced: Bytes, whole: bool, stop: Flag
):
    """Multiply what no row changes into the constants and fixed messages of the lanes: one and zero before.

    Returns a status, and the power of two that the fixed messages are divided by.
    """
    axis_at, axes, parent, sends, operand_at, operand = tree
    count, n_factors = parent.size, r.factors.size
    widest, longest = 1, 1
    for c in range(count):
        widest = max(widest, axis_at[c + 1] - axis_at[c])
        longest = max(longest, b.size[c] // b.sent[c], b.sent[c])
    stride, card = np.zeros(widest, np.int64), np.zeros(widest, np.int64)
    axis_of = np.full(r.cards.size, -1, np.int64)
    outer, inner = np.empty(longest, np.int64), np.empty(longest, np.int64)
    product = np.empty(0)
    exponent, status = 0, DONE
    for c in range(count):
        if stop[0] != 0:
            status = STOPPED
            break
        begin, end = axis_at[c], axis_at[c + 1]
        cut = end - begin - sends[c]
        sent = b.sent[c]
        rows = b.size[c] // sent
        for i in range(begin, end):
            axis_of[axes[i]] = i - begin
            card[i - begin] = r.cards[axes[i]]
        if b.constant_at[c] >= 0:
            product = b.constants[b.constant_at[c] : b.constant_at[c] + b.size[c]]
        else:
            product = np.ones(b.size[c])
        for turn in range(2):
            if turn == 1 and whole and b.lane[c] == 0:
                product = product.copy()  # what is kept has no messages in it
            for o in range(operand_at[c], operand_at[c + 1]):
                item = operand[o]
                if (item < n_factors) != (turn == 0):
                    continue
                if item < n_factors and sliced[item] != 0:
                    continue
                if item >= n_factors and (b.lane[item - n_factors] != 0 or (whole and b.lane[c] != 0)):
                    continue
                for i in range(end - begin):
                    stride[i] = 0
                _strides(r, tree, item, axis_of, stride)
                _walk(card, stride, 0, cut, outer, 0)
                _walk(card, stride, cut, end - begin, inner, 0)
                if item < n_factors:
                    for k in range(rows):
                        base = r.table_at[item] + outer[k]
                        for s in range(sent):
                            product[k * sent + s] *= tables[base + inner[s]]
                else:
                    for k in range(rows):
                        base = b.fixed_at[item - n_factors] + outer[k]
                        for s in range(sent):
                            product[k * sent + s] *= b.fixed[base + inner[s]]
        if b.lane[c] != 0:
            continue
        to = b.fixed_at[c]
        for k in range(rows):
            for s in range(sent):
                b.fixed[to + s] += product[k * sent + s]
        if b.scaled[c] != 0:
            top, least = 0.0, np.inf
            for s in range(sent):
                x = b.fixed[to + s]
                if x > 0.0:
                    top, least = max(top, x), min(least, x)
            e = math.frexp(top)[1]
            exponent += e
            if top > 0.0 and math.frexp(least)[1] - 1 - e < -DRIFT:
                status = NARROW
            for s in range(sent):
                b.fixed[to + s] = math.ldexp(b.fixed[to + s], int(-e))
    return status, exponent


# --- the run ---


def _load(b, e, codes, row, j, struck, pool):
    """Write the evidence of one row into its lane; returns the product of tables reduced to scalars."""
    for w in range(e.mask_column.size):
        code = codes[row, e.mask_column[w]]
        state = -1
        if code >= 0:
            state = e.mask_state[e.mask_state_at[w] + code]
        if state != struck[w, j]:
            struck[w, j] = state
            at = b.unary_at[w]
            if at >= 0:
                for s in range(e.mask_card[w]):
                    pool[at + s, j] = 1.0 if state < 0 or s == state else 0.0
    for g in range(e.table_pool.size):
        base = 0
        for i in range(e.table_step_at[g], e.table_step_at[g + 1]):
            base += codes[row, e.table_column[i]] * e.table_step[i]
        at = e.table_pool[g] - e.table_entry_at[g]
        for i in range(e.table_entry_at[g], e.table_entry_at[g + 1]):
            pool[at + i, j] = e.values[base + e.table_entry[i]]
    x, power = 1.0, 0
    for h in range(e.scalar_at.size):
        at = e.scalar_at[h]
        for i in range(e.scalar_step_at[h], e.scalar_step_at[h + 1]):
            at += codes[row, e.scalar_column[i]] * e.scalar_step[i]
        x *= e.values[at]
        if x < 1e-6:  # values are 2**-1000 or more: the next product cannot leave the range
            x, more = math.frexp(x)
            power += more
    return x, power


def _scale(pool, at, n, powers, narrow):
    """Scale n entries of each lane by a power of two so that the largest lies in [0.5, 1).

    Lanes with an entry under 2**-DRIFT then are marked: the bounds do not hold for them.
    """
    for j in range(pool.shape[1]):
        top, least = 0.0, np.inf
        for s in range(n):
            x = pool[at + s, j]
            if x > 0.0:
                top, least = max(top, x), min(least, x)
        if top == 0.0:
            continue
        e = math.frexp(top)[1]
        if math.frexp(least)[1] - 1 - e < -DRIFT:
            narrow[j] = 1
            continue
        factor = math.ldexp(1.0, int(-e))
        for s in range(n):
            pool[at + s, j] *= factor
        powers[j] += e


def _inward(b, e, struck, pool, work, powers, narrow, stop):
    lanes = pool.shape[1]
    for c in range(b.parent.size):
        if b.lane[c] == 0:
            continue
        if stop[0] != 0:
            return
        at, sent, k_at = b.message_at[c], b.sent[c], b.constant_at[c]
        for s in range(at, at + sent):
            out = pool[s]
            for j in range(lanes):
                out[j] = 0.0
        first, last = b.lane_begin[c], b.lane_begin[c + 1]
        n = last - first
        outer0, inner0 = b.lane_outer[first], b.lane_inner[first]
        outer1, inner1 = b.lane_outer[last - 1], b.lane_inner[last - 1]
        for k in range(b.size[c] // sent):
            if (k & 1023) == 1023 and stop[0] != 0:
                return
            base0 = b.lane_pool[first] + b.lookup[outer0 + k]
            base1 = b.lane_pool[last - 1] + b.lookup[outer1 + k]
            for s in range(sent):
                x = b.constants[k_at + k * sent + s]
                if x == 0.0:
                    continue
                out = pool[at + s]
                left = pool[base0 + b.lookup[inner0 + s]]
                if n == 1:
                    for j in range(lanes):
                        out[j] += x * left[j]
                    continue
                right = pool[base1 + b.lookup[inner1 + s]]
                if n == 2:
                    for j in range(lanes):
                        out[j] += x * left[j] * right[j]
                    continue
                for j in range(lanes):
                    work[j] = x * left[j]
                for o in range(first + 1, last - 1):
                    other = pool[
                        b.lane_pool[o] + b.lookup[b.lane_outer[o] + k] + b.lookup[b.lane_inner[o] + s]
                    ]
                    for j in range(lanes):
                        work[j] *= other[j]
                for j in range(lanes):
                    out[j] += work[j] * right[j]
        if b.scaled[c] != 0:
            _scale(pool, at, sent, powers, narrow)
        for i in range(b.mask_begin[c], b.mask_begin[c + 1]):
            w, after = b.masks[i], b.mask_after[i]
            card = e.mask_card[w]
            for j in range(lanes):
                state = struck[w, j]
                if state < 0:
                    continue
                for s in range(sent):
                    if (s // after) % card != state:
                        pool[at + s, j] = 0.0


def _outward(b, pool, down, results, work, ratio_scaled, powers, narrow, stop):
    lanes = pool.shape[1]
    for i in range(results.shape[0]):
        out = results[i]
        for j in range(lanes):
            out[j] = 0.0
    for i in range(down.shape[0]):
        out = down[i]
        for j in range(lanes):
            out[j] = 0.0
    for c in range(b.parent.size - 1, -1, -1):
        if stop[0] != 0:
            return
        at, sent, k_at = b.message_at[c], b.sent[c], b.constant_at[c]
        for i in range(b.pass_begin[c], b.pass_begin[c + 1]):
            to = b.result_at[b.passes[i]]
            for s in range(sent):
                out, new = results[to + b.lookup[b.pass_inner[i] + s]], down[at + s]
                for j in range(lanes):
                    out[j] += new[j]
        for s in range(sent):
            old, new = pool[at + s], down[at + s]
            if b.parent[c] < 0:
                for j in range(lanes):
                    new[j] = 1.0
            else:
                for j in range(lanes):
                    new[j] = new[j] / old[j] if old[j] > 0.0 else 0.0
        if ratio_scaled[c] != 0:
            _scale(down, at, sent, powers, narrow)
        first, last = b.lane_begin[c], b.lane_begin[c + 1]
        child = first
        while child < last and b.lane_child[child] < 0:
            child += 1
        if child == last and b.read_begin[c] == b.read_begin[c + 1]:
            continue
        few = last - first <= 2 and b.read_begin[c] == b.read_begin[c + 1]  # one loop over the lanes does
        for k in range(b.size[c] // sent):
            if (k & 1023) == 1023 and stop[0] != 0:
                return
            for s in range(sent):
                x = b.constants[k_at + k * sent + s]
                if x == 0.0:
                    continue
                new = down[at + s]
                if few:
                    place = b.lane_pool[first] + b.lookup[b.lane_outer[first] + k]
                    place += b.lookup[b.lane_inner[first] + s]
                    left, to_left = pool[place], down[place]
                    if last - first == 1:
                        for j in range(lanes):
                            to_left[j] += x * new[j] * left[j]
                        continue
                    place = b.lane_pool[last - 1] + b.lookup[b.lane_outer[last - 1] + k]
                    place += b.lookup[b.lane_inner[last - 1] + s]
                    right, to_right = pool[place], down[place]
                    if b.lane_child[last - 1] < 0:
                        for j in range(lanes):
                            to_left[j] += x * new[j] * left[j] * right[j]
                    elif b.lane_child[first] < 0:
                        for j in range(lanes):
                            to_right[j] += x * new[j] * left[j] * right[j]
                    else:
                        for j in range(lanes):
                            y = x * new[j] * left[j] * right[j]
                            to_left[j] += y
                            to_right[j] += y
                    continue
                for j in range(lanes):
                    work[j] = x * new[j]
                for o in range(first, last):
                    other = pool[
                        b.lane_pool[o] + b.lookup[b.lane_outer[o] + k] + b.lookup[b.lane_inner[o] + s]
                    ]
                    for j in range(lanes):
                        work[j] *= other[j]
                for o in range(child, last):
                    if b.lane_child[o] >= 0:
                        out = down[
                            b.lane_pool[o] + b.lookup[b.lane_outer[o] + k] + b.lookup[b.lane_inner[o] + s]
                        ]
                        for j in range(lanes):
                            out[j] += work[j]
                for i in range(b.read_begin[c], b.read_begin[c + 1]):
                    to = b.result_at[b.reads[i]]
                    out = results[to + b.lookup[b.read_outer[i] + k] + b.lookup[b.read_inner[i] + s]]
                    for j in range(lanes):
                        out[j] += work[j]


def run_lanes(
    b: Lanes,
    e: RowEvidence,
    lanes: int,
    pool_size: int,
    whole: bool,
    ratio_scaled: Bytes,
    codes: IntTable32,
    rows: Ints,
    places: Ints,
    answers: FloatTable,
    tops: Floats,
    powers: Ints,
    status: Ints,
    stop: Flag,
):
    """Answer rows of a frame, `lanes` at a time.

    Row i of `codes` gets the sum over everything as tops[i] * 2**powers[i], and shares in answers[i]: of the
    last root's message, or with `whole` of each result; entry j of those goes to answers[i, places[j]].
    """
    n_cliques = b.parent.size
    pool = np.ones((pool_size, lanes))
    down = np.zeros((pool_size if whole else 0, lanes))
    results = np.zeros((b.result_at[b.result_at.size - 1], lanes))
    work = np.empty(lanes)
    struck = np.full((e.mask_column.size, lanes), -1, np.int64)
    scalar, scalar_power = np.ones(lanes), np.zeros(lanes, np.int64)
    shift, lost = np.zeros(lanes, np.int64), np.zeros(lanes, np.int64)
    narrow = np.zeros(lanes, np.uint8)
    for c in range(n_cliques):
        if b.lane[c] == 0 and b.message_at[c] >= 0:
            for s in range(b.sent[c]):
                for j in range(lanes):
                    pool[b.message_at[c] + s, j] = b.fixed[b.fixed_at[c] + s]
    for begin in range(0, rows.size, lanes):
        if stop[0] != 0:
            return STOPPED
        width = min(lanes, rows.size - begin)
        for j in range(width):
            scalar[j], scalar_power[j] = _load(b, e, codes, rows[begin + j], j, struck, pool)
        for j in range(lanes):
            shift[j], narrow[j] = 0, 0
        _inward(b, e, struck, pool, work, shift, narrow, stop)
        if whole:
            _outward(b, pool, down, results, work, ratio_scaled, lost, narrow, stop)
        if stop[0] != 0:
            return STOPPED
        for j in range(width):
            row = rows[begin + j]
            m, power = math.frexp(scalar[j])
            power += scalar_power[j] + shift[j]
            for c in range(n_cliques):
                if b.parent[c] < 0:
                    total = 0.0
                    for s in range(b.sent[c]):
                        total += pool[b.message_at[c] + s, j]
                    m, more = math.frexp(m * total)
                    power += more
            tops[row], powers[row] = m, power
            status[row] = NARROW if narrow[j] != 0 else (DONE if m > 0.0 else IMPOSSIBLE)
            if status[row] != DONE:
                continue
            if whole:
                for q in range(b.result_at.size - 1):
                    total = 0.0
                    for i in range(b.result_at[q], b.result_at[q + 1]):
                        total += results[i, j]
                    for i in range(b.result_at[q], b.result_at[q + 1]):
                        answers[row, places[i]] = results[i, j] / total
            elif places.size > 0:
                at = b.message_at[n_cliques - 1]
                total = 0.0
                for s in range(places.size):
                    total += pool[at + s, j]
                for s in range(places.size):
                    answers[row, places[s]] = pool[at + s, j] / total
    return DONE


def _count(results, b, f: Reads, factor, column_codes, rows, begin, width, sums, counts):
    """Add the normalised results of the rows in the lanes, times `factor`, their weights.

    Tables that no observed variable slices are added up lane by lane in `sums`, others at once in `counts`.
    """
    lanes = results.shape[1]
    share = np.empty(lanes)
    for q in range(b.result_at.size - 1):
        first, last = b.result_at[q], b.result_at[q + 1]
        for j in range(lanes):
            share[j] = 0.0
        for i in range(first, last):
            one = results[i]
            for j in range(lanes):
                share[j] += one[j]
        for j in range(lanes):
            share[j] = factor[j] / share[j] if share[j] > 0.0 else 0.0
        if f.step_at[q] == f.step_at[q + 1]:
            for i in range(first, last):
                one, out = results[i], sums[i]
                for j in range(lanes):
                    out[j] += one[j] * share[j]
            continue
        for j in range(width):
            if share[j] == 0.0:
                continue
            base = 0
            for i in range(f.step_at[q], f.step_at[q + 1]):
                base += column_codes[rows[begin + j], f.column[i]] * f.step[i]
            for i in range(first, last):
                counts[base + f.entry[i]] += results[i, j] * share[j]


def count_lanes(
    b: Lanes,
    e: RowEvidence,
    f: Reads,
    lanes: int,
    pool_size: int,
    ratio_scaled: Bytes,
    codes: IntTable32,
    rows: Ints,
    weights: Floats,
    counts: Floats,
    tops: Floats,
    powers: Ints,
    status: Ints,
    stop: Flag,
):
    """Add the expected counts of all tables over rows of a frame, `lanes` at a time, each with its weight.

    Row i of `codes` gets the sum over everything as tops[i] * 2**powers[i]; rows that do not get the status
    DONE are not counted.
    """
    n_cliques = b.parent.size
    pool = np.ones((pool_size, lanes))
    down = np.zeros((pool_size, lanes))
    results = np.zeros((b.result_at[b.result_at.size - 1], lanes))
    sums = np.zeros((b.result_at[b.result_at.size - 1], lanes))
    work, factor = np.empty(lanes), np.empty(lanes)
    struck = np.full((e.mask_column.size, lanes), -1, np.int64)
    scalar, scalar_power = np.ones(lanes), np.zeros(lanes, np.int64)
    shift, lost = np.zeros(lanes, np.int64), np.zeros(lanes, np.int64)
    narrow = np.zeros(lanes, np.uint8)
    for c in range(n_cliques):
        if b.lane[c] == 0 and b.message_at[c] >= 0:
            for s in range(b.sent[c]):
                for j in range(lanes):
                    pool[b.message_at[c] + s, j] = b.fixed[b.fixed_at[c] + s]
    for begin in range(0, rows.size, lanes):
        if stop[0] != 0:
            return STOPPED
        width = min(lanes, rows.size - begin)
        for j in range(width):
            scalar[j], scalar_power[j] = _load(b, e, codes, rows[begin + j], j, struck, pool)
        for j in range(lanes):
            shift[j], narrow[j] = 0, 0
        _inward(b, e, struck, pool, work, shift, narrow, stop)
        _outward(b, pool, down, results, work, ratio_scaled, lost, narrow, stop)
        if stop[0] != 0:
            return STOPPED
        for j in range(lanes):
            factor[j] = 0.0
        for j in range(width):
            row = rows[begin + j]
            m, power = math.frexp(scalar[j])
            power += scalar_power[j] + shift[j]
            for c in range(n_cliques):
                if b.parent[c] < 0:
                    total = 0.0
                    for s in range(b.sent[c]):
                        total += pool[b.message_at[c] + s, j]
                    m, more = math.frexp(m * total)
                    power += more
            tops[row], powers[row] = m, power
            status[row] = NARROW if narrow[j] != 0 else (DONE if m > 0.0 else IMPOSSIBLE)
            if status[row] != DONE:
                continue
            factor[j] = weights[row]
            for h in range(e.scalar_at.size):
                at = f.scalar_at[h]
                for i in range(e.scalar_step_at[h], e.scalar_step_at[h + 1]):
                    at += codes[row, e.scalar_column[i]] * e.scalar_step[i]
                counts[at] += weights[row]
        _count(results, b, f, factor, codes, rows, begin, width, sums, counts)
    for q in range(b.result_at.size - 1):
        if f.step_at[q] == f.step_at[q + 1]:
            for i in range(b.result_at[q], b.result_at[q + 1]):
                for j in range(lanes):
                    counts[f.entry[i]] += sums[i, j]
    return DONE
