"""Weighted mini-buckets: the loops.

Every value is a logarithm. The variables of a table are in reverse elimination order, so that the one its
bucket eliminates comes last, and its message has an entry for each row.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pgm.runtime.kinds import Bytes, Flag, Floats, FloatTable, Ints, Ints32

if TYPE_CHECKING:
    from pgm.inference.engines.bounds.buckets import BucketArrays
    from pgm.inference.engines.bounds.messages import BoundState
    from pgm.inference.engines.factor_graph import GraphArrays

DONE, STOPPED = 0, 1  # as in pgm/inference/trees/sweeps/compiled.py
_UPPER, _LOWER = 0, 1  # which bound; buckets of weight 0 take maxima, all others sum
_UNIT = 2.0**-53  # unit roundoff
_GRID = 2.0**32  # shifts are multiples of 1 / this: their sums are exact
_MOST_SHIFT = 2.0**20
_FINE = 2.0**24  # so are weights
_LEAST_WEIGHT = 2.0**-10
_FLOOR = -690.0  # the least value sent back, which only guides where costs are moved
_LOOKS = 64  # mini-buckets of a bucket that are tried for one more table


# --- which tables go together ---


def _grown(array, size):
    """The same array with room for at least this many entries."""
    if size <= array.size:
        return array
    larger = np.empty(max(size, 2 * array.size), array.dtype)
    larger[: array.size] = array
    return larger


def _union(place, a, a_first, a_last, b, b_first, b_last, out):
    """Merge two lists of variables in descending elimination order; returns the length."""
    n = 0
    while a_first < a_last or b_first < b_last:
        if b_first == b_last or (a_first < a_last and place[a[a_first]] >= place[b[b_first]]):
            if b_first < b_last and a[a_first] == b[b_first]:
                b_first += 1
            out[n] = a[a_first]
            a_first += 1
        else:
            out[n] = b[b_first]
            b_first += 1
        n += 1
    return n


def _log2_size(log2_cards, variables, first, last):
    size = 0.0
    for i in range(first, last):
        size += log2_cards[variables[i]]
    return size


def partition(
    scope_at: Ints,
    scopes: Ints32,
    log2_cards: Floats,
    order: Ints,
    place: Ints,
    most_variables: float,
    most_log2: float,
    stop: Flag,
):
    """Put the factors, and what mini-buckets send, into mini-buckets of at most this size.

    Returns where the mini-buckets of each place of the order begin, where their variables begin, the
    variables, the mini-bucket that receives what each sends (-1: a scalar), the one that holds each factor.
    A factor larger than allowed has a mini-bucket of its own.
    """
    n, n_factors = order.size, scope_at.size - 1
    item_at = np.zeros(n_factors + 2, np.int64)
    item_vars = np.empty(max(16, scopes.size), np.int32)
    made_by = np.full(n_factors + 2, -1, np.int64)  # the mini-bucket that sends an item
    following = np.full(n_factors + 2, -1, np.int64)
    head = np.full(n, -1, np.int64)
    widest = 1
    for f in range(n_factors):
        begin, k = item_at[f], scope_at[f + 1] - scope_at[f]
        widest = max(widest, k)
        for i in range(k):
            v = scopes[scope_at[f] + i]
            j = begin + i
            while j > begin and place[item_vars[j - 1]] < place[v]:
                item_vars[j] = item_vars[j - 1]
                j -= 1
            item_vars[j] = v
        item_at[f + 1] = begin + k
        v = item_vars[begin + k - 1]
        following[f] = head[v]
        head[v] = f
    n_items = n_factors
    room = int(min(max(most_variables, widest), n)) + widest + 1
    mini = np.empty((1, room), np.int32)
    length = np.empty(1, np.int64)
    merged = np.empty(2 * room, np.int32)
    bucket_at = np.zeros(n + 1, np.int64)
    clique_at = np.zeros(2, np.int64)
    clique_vars = np.empty(16, np.int32)
    parent = np.full(2, -1, np.int64)
    home = np.full(n_factors, -1, np.int64)
    count = 0
    for turn in range(n):
        if stop[0] != 0:  # the result will not be used
            break
        v = order[turn]
        listed = 0
        i = head[v]
        while i >= 0:
            listed += 1
            i = following[i]
        items = np.empty(listed, np.int64)
        keys = np.empty(listed)
        i = head[v]
        for j in range(listed):
            items[j] = i
            keys[j] = -_log2_size(log2_cards, item_vars, item_at[i], item_at[i + 1])
            i = following[i]
        largest_first = np.argsort(keys, kind="mergesort")
        minis = 0
        if listed > mini.shape[0]:
            mini = np.empty((listed, room), np.int32)
            length = np.empty(listed, np.int64)
        if listed == 0:
            mini[0, 0] = v
            length[0] = 1
            minis = 1
        for j in range(listed):
            i = items[largest_first[j]]
            best, least = -1, math.inf
            for b in range(max(0, minis - _LOOKS), minis):
                k = _union(place, mini[b], 0, length[b], item_vars, item_at[i], item_at[i + 1], merged)
                if k > length[b]:
                    size = _log2_size(log2_cards, merged, 0, k)
                    if k > most_variables or size > most_log2:
                        continue
                    more = size - _log2_size(log2_cards, mini[b], 0, length[b])
                else:
                    more = 0.0
                if more < least:
                    best, least = b, more
            if best < 0:
                best = minis
                minis += 1
                length[best] = 0
            k = _union(place, mini[best], 0, length[best], item_vars, item_at[i], item_at[i + 1], merged)
            mini[best, :k] = merged[:k]
            length[best] = k
            if made_by[i] < 0:
                home[i] = count + best
            else:
                parent[made_by[i]] = count + best
        clique_at = _grown(clique_at, count + minis + 1)
        parent = _grown(parent, count + minis)
        item_at = _grown(item_at, n_items + minis + 1)
        made_by = _grown(made_by, n_items + minis)
        following = _grown(following, n_items + minis)
        for b in range(minis):
            begin, k = clique_at[count], length[b]
            clique_vars = _grown(clique_vars, begin + k)
            clique_vars[begin : begin + k] = mini[b, :k]
            clique_at[count + 1] = begin + k
            parent[count] = -1
            if k > 1:
                start = item_at[n_items]
                item_vars = _grown(item_vars, start + k)
                item_vars[start : start + k - 1] = mini[b, : k - 1]
                item_at[n_items + 1] = start + k - 1
                made_by[n_items] = count
                u = mini[b, k - 2]
                following[n_items] = head[u]
                head[u] = n_items
                n_items += 1
            count += 1
        bucket_at[turn + 1] = count
    return bucket_at, clique_at[: count + 1], clique_vars[: clique_at[count]], parent[:count], home


def steps_along(
    scope_at: Ints,
    scopes: Ints32,
    size_of: Ints,
    part: Ints32,
    first: int,
    last: int,
    whole: int,
    strides: Ints,
    begin: int,
):
    """How far the index into a table over `part[first:last]` moves along each axis of the table `whole`.

    Both lists stand in the same order; axes that the part lacks get 0.
    """
    stride = 1
    j = last - 1
    for i in range(scope_at[whole + 1] - 1, scope_at[whole] - 1, -1):
        at = begin + i - scope_at[whole]
        if j >= first and part[j] == scopes[i]:
            strides[at] = stride
            stride *= size_of[scopes[i]]
            j -= 1
        else:
            strides[at] = 0


def lay_out(
    bucket_at: Ints,
    scope_at: Ints,
    scopes: Ints32,
    parent: Ints,
    cards: Ints,
    stride_at: Ints,
    strides: Ints,
    shared_at: Ints,
    shared_strides: Ints,
):
    """The strides of each mini-bucket's message in the receiving table, and of its shift in its own.

    The shift of a mini-bucket is over the variables that all of its bucket have in common; `shared_at`
    receives where it begins, after those before it. There is none where a bucket has a single one.
    """
    for c in range(parent.size):
        if parent[c] >= 0:
            steps_along(
                scope_at,
                scopes,
                cards,
                scopes,
                scope_at[c],
                scope_at[c + 1] - 1,
                parent[c],
                strides,
                stride_at[c],
            )
    for k in range(bucket_at.size - 1):
        first, last = bucket_at[k], bucket_at[k + 1]
        n = scope_at[first + 1] - scope_at[first]
        common = scopes[scope_at[first] : scope_at[first + 1]].copy()
        for c in range(first + 1, last):
            kept, j = 0, scope_at[c]
            for i in range(n):
                for j in range(scope_at[c], scope_at[c + 1]):
                    if scopes[j] == common[i]:
                        common[kept] = common[i]
                        kept += 1
                        break
            n = kept
        size = 1
        for i in range(n):
            size *= cards[common[i]]
        for c in range(first, last):
            if last - first > 1:
                steps_along(scope_at, scopes, cards, common, 0, n, c, shared_strides, scope_at[c])
                shared_at[c + 1] = shared_at[c] + size
            else:
                shared_at[c + 1] = shared_at[c]


# --- tables ---


def _places(b, c, strides, begin, idx):
    """For each entry of a table where it stands in another one, given how far each axis moves there."""
    first, last = b.scope_at[c], b.scope_at[c + 1]
    idx[0] = 0
    size = 1
    for a in range(last - 1, first - 1, -1):
        move = strides[begin + a - first]
        filled = size
        for s in range(1, b.cards[b.scopes[a]]):
            shift = s * move
            for i in range(size):
                idx[filled + i] = idx[i] + shift
            filled += size
        size = filled
    return size


def fill(
    g: GraphArrays,
    b: BucketArrays,
    home: Ints,
    uses: Floats,
    theta: Floats,
    big: Floats,
    error: Floats,
    room: Floats,
    idx: Ints,
    strides: Ints,
    stop: Flag,
):
    """The product of the factors of each mini-bucket; its largest value, and a bound on its rounding.

    `uses` says how many factors over one variable alone there are of each.
    """
    theta[:] = 0.0
    width = strides.size // 2
    sorted_vars = np.empty(width, np.int32)
    for f in range(home.size):
        if stop[0] != 0:
            return STOPPED
        c, t = home[f], g.table[f]
        begin, k = g.scope_at[f], g.scope_at[f + 1] - g.scope_at[f]
        # The factor as a dense table, its axes in the order of the mini-bucket.
        n, size = 0, 1
        for i in range(b.scope_at[c], b.scope_at[c + 1]):
            for a in range(k):
                if g.scopes[begin + a] == b.scopes[i]:
                    sorted_vars[n] = b.scopes[i]
                    n += 1
        for a in range(k - 1, -1, -1):
            for e in range(k):
                if g.scopes[begin + e] == sorted_vars[a]:
                    strides[width + e] = size
            size *= g.cards[sorted_vars[a]]
        room[:size] = -math.inf
        code = g.code_at[t]
        for row in range(g.row_at[t], g.row_at[t + 1]):
            at = 0
            for a in range(k):
                at += g.codes[code + a] * strides[width + a]
            room[at] = g.logs[row]
            code += k
        steps_along(b.scope_at, b.scopes, b.cards, sorted_vars, 0, k, c, strides, 0)
        size = _places(b, c, strides, 0, idx)
        o = b.size_at[c]
        for i in range(size):
            theta[o + i] += room[idx[i]]
        largest = -g.low[t] if g.row_at[t + 1] > g.row_at[t] else 0.0
        error[c] += _UNIT * 6.0 * (largest + 1.0)
        big[c] += largest + 1.0
    for turn in range(b.order.size):
        c, v = b.bucket_at[turn], b.order[turn]
        n = b.cards[v]
        largest = 0.0
        for s in range(n):
            largest = max(largest, abs(g.local[g.state_at[v] + s]))
        for i in range(b.size_at[c + 1] - b.size_at[c]):
            theta[b.size_at[c] + i] += g.local[g.state_at[v] + i % n]
        error[c] += _UNIT * 6.0 * (uses[v] + 1.0) * (largest + 1.0)
        big[c] += largest
    # Each sum of several factors is rounded as often as there are factors.
    for f in range(home.size):
        error[home[f]] += 2.0 * _UNIT * big[home[f]]
    return DONE


def _gathered(b, c, theta, shift, messages, changed, others, mode, weight, out, o, idx):
    """A mini-bucket's table: its factors, what it receives, its shift. Returns the largest it can be made of.

    Where `changed` is set for a sender, `others` has what it sends.
    """
    begin, size = b.size_at[c], b.size_at[c + 1] - b.size_at[c]
    for i in range(size):
        out[o + i] = theta[begin + i]
    for j in range(b.child_at[c], b.child_at[c + 1]):
        d = b.children[j]
        _places(b, c, b.strides, b.stride_at[d], idx)
        sent = others if changed[d] != 0 else messages
        at = b.sent_at[d]
        if mode != _LOWER:
            for i in range(size):
                out[o + i] += sent[at + idx[i]]
        else:
            # Plus infinity marks what was left out of the sum; beside a zero, and in one of positive weight,
            # it may be taken for a zero.
            for i in range(size):
                x, y = out[o + i], sent[at + idx[i]]
                if y == -math.inf or (y == math.inf and (weight > 0.0 or x == -math.inf)):
                    out[o + i] = -math.inf
                elif x != -math.inf:
                    out[o + i] = x + y
    if b.shared_at[c + 1] > b.shared_at[c]:
        _places(b, c, b.shared_strides, b.scope_at[c], idx)
        at = b.shared_at[c]
        for i in range(size):
            x = shift[at + idx[i]]
            out[o + i] = x if x == math.inf else out[o + i] + x


def _send(f, o, size, card, weight, out, at):
    """The power sum of each row: the largest for weight 0. Returns the largest finite value sent."""
    largest = 0.0
    for row in range(size // card):
        i = o + row * card
        if weight >= 0.0:
            top = -math.inf
            for s in range(card):
                if f[i + s] > top:
                    top = f[i + s]
        else:
            top = math.inf
            for s in range(card):
                if f[i + s] < top:
                    top = f[i + s]
        if weight != 0.0 and -math.inf < top < math.inf:
            total = 0.0
            for s in range(card):
                total += math.exp((f[i + s] - top) / weight)
            top += weight * math.log(total)
        out[at + row] = top
        if -math.inf < top < math.inf and abs(top) > largest:
            largest = abs(top)
    return largest


def _rounding(b, c, shift, weight, largest, sent, big, error):
    """The largest rounding error of a mini-bucket's message, given those of what it received."""
    terms = b.child_at[c + 1] - b.child_at[c] + 6.0
    reach = big[c]
    for j in range(b.child_at[c], b.child_at[c + 1]):
        reach += largest[b.children[j]]
    most = 0.0
    for i in range(b.shared_at[c], b.shared_at[c + 1]):
        if -math.inf < shift[i] < math.inf and abs(shift[i]) > most:
            most = abs(shift[i])
    reach += most
    card = b.cards[b.scopes[b.scope_at[c + 1] - 1]]
    return error[c] + 2.0 * _UNIT * (terms * reach + abs(weight) * (8.0 * card + 16.0) + 4.0 * sent)


def _moments(b, c, f, o, size, back, weight, shift, idx, top, sums):
    """The weighted logarithm of how much each state of what a bucket shares counts; without its shift."""
    n = b.shared_at[c + 1] - b.shared_at[c]
    card = b.cards[b.scopes[b.scope_at[c + 1] - 1]]
    _places(b, c, b.shared_strides, b.scope_at[c], idx)
    top[:n] = -math.inf
    dead = np.ones(n, np.uint8)  # nothing but zeros
    scale = 1.0 if weight == 0.0 else 1.0 / weight
    for i in range(size):
        x = f[o + i]
        if x != -math.inf:
            dead[idx[i]] = 0
        y = (x + back[b.sent_at[c] + i // card]) * scale
        if y > top[idx[i]]:
            top[idx[i]] = y
    if weight == 0.0:
        for s in range(n):
            sums[s] = top[s]
    else:
        sums[:n] = 0.0
        for i in range(size):
            s = idx[i]
            if -math.inf < top[s] < math.inf:
                sums[s] += math.exp((f[o + i] + back[b.sent_at[c] + i // card]) * scale - top[s])
        for s in range(n):
            if -math.inf < top[s] < math.inf:
                sums[s] = weight * (top[s] + math.log(sums[s]))
            else:
                sums[s] = top[s] * weight
    for s in range(n):
        x = shift[b.shared_at[c] + s]
        if dead[s] != 0 or x == -math.inf or x == math.inf:
            sums[s] = math.nan  # gone
        else:
            sums[s] += x


def _match(b, first, last, lead, step, mode, weights, shift, moments):
    """Move costs between the mini-buckets of a bucket until they agree on the variables that they share."""
    n = b.shared_at[first + 1] - b.shared_at[first]
    k = last - first
    for r in range(k):  # constants do not matter
        top = -math.inf
        for s in range(n):
            x = moments[r * n + s]
            if x == x and top < x < math.inf:
                top = x
        if top > -math.inf:
            for s in range(n):
                moments[r * n + s] -= top
    for s in range(n):
        total, gone, finite = 0.0, False, True
        for r in range(k):
            x = moments[r * n + s]
            if x != x:
                gone = True
            elif math.isinf(x):
                finite = False
            else:
                total += x
        if gone:
            # Zero in one of them is zero in the product: the others need not count it. In a lower bound
            # the one of positive weight keeps the zero, and those of negative weight leave the state out.
            for r in range(k):
                zero = mode != _LOWER or first + r == lead
                shift[b.shared_at[first + r] + s] = -math.inf if zero else math.inf
            continue
        if not finite:
            continue
        rest, fits = 0.0, True
        for r in range(k):
            c = first + r
            if c != lead:
                share = 1.0 / k if weights[lead] == 0.0 else weights[c]
                x = shift[b.shared_at[c] + s] + step * (share * total - moments[r * n + s])
                x = math.floor(x * _GRID + 0.5) / _GRID
                moments[r * n + s] = x
                rest += x
                if abs(x) > _MOST_SHIFT or abs(rest) > _MOST_SHIFT:  # sums would no longer be exact
                    fits = False
        if fits:
            for r in range(k):
                c = first + r
                shift[b.shared_at[c] + s] = -rest if c == lead else moments[r * n + s]


def _reweigh(first, last, lead, step, mode, weights, entropy):
    """Shift weight to the mini-buckets that gain by it; weights still sum to exactly one."""
    if mode == _UPPER:
        mean = 0.0
        for c in range(first, last):
            mean += weights[c] * entropy[c]
        total = 0.0
        for c in range(first, last):
            change = min(1.0, max(-1.0, step * weights[c] * (mean - entropy[c])))
            weights[c] *= math.exp(change)
            total += weights[c]
        rest = 0.0
        for c in range(first, last):
            if c != lead:
                x = max(_LEAST_WEIGHT, weights[c] / total)
                weights[c] = math.floor(x * _FINE + 0.5) / _FINE
                rest += weights[c]
        weights[lead] = 1.0 - rest
        if weights[lead] < _LEAST_WEIGHT:  # crowded out: even shares
            share = math.floor(_FINE / (last - first)) / _FINE
            for c in range(first, last):
                weights[c] = share
            weights[lead] = 1.0 - share * (last - first - 1)
    elif mode == _LOWER:
        rest = 0.0
        for c in range(first, last):
            if c != lead:
                change = min(1.0, max(-1.0, step * -weights[c] * (entropy[lead] - entropy[c])))
                x = min(4.0, max(_LEAST_WEIGHT, -weights[c] * math.exp(change)))
                weights[c] = -math.floor(x * _FINE + 0.5) / _FINE
                rest += weights[c]
        weights[lead] = 1.0 - rest


def forward(
    b: BucketArrays,
    state: BoundState,
    mode: int,
    step: float,
    match: bool,
    reweigh: bool,
    f: Floats,
    idx: Ints,
    top: Floats,
    moments: Floats,
    out: Floats,
    stop: Flag,
):
    """Send from the first bucket to the last, moving costs on the way; `out`: the bound, and its rounding."""
    total, slack = 0.0, 0.0
    none = state.changed
    for k in range(b.order.size):
        if stop[0] != 0:
            return STOPPED
        first, last = b.bucket_at[k], b.bucket_at[k + 1]
        split = last - first > 1
        if split and reweigh and state.weights[first] != 0.0:
            _reweigh(first, last, b.lead[k], step, mode, state.weights, state.entropy)
        if split and match:
            n = b.shared_at[first + 1] - b.shared_at[first]
            for c in range(first, last):
                size, w = b.size_at[c + 1] - b.size_at[c], state.weights[c]
                _gathered(b, c, state.theta, state.no_shift, state.sent, none, state.sent, mode, w, f, 0, idx)
                sums = moments[(c - first) * n : (c - first + 1) * n]
                _moments(b, c, f, 0, size, state.back, w, state.shift, idx, top, sums)
            _match(b, first, last, b.lead[k], step, mode, state.weights, state.shift, moments)
        for c in range(first, last):
            size, w = b.size_at[c + 1] - b.size_at[c], state.weights[c]
            _gathered(b, c, state.theta, state.shift, state.sent, none, state.sent, mode, w, f, 0, idx)
            card = b.cards[b.order[k]]
            sent = _send(f, 0, size, card, w, state.sent, b.sent_at[c])
            state.largest[c] = sent
            slack += _rounding(b, c, state.shift, w, state.largest, sent, state.big, state.error)
            if b.parent[c] < 0:
                x = state.sent[b.sent_at[c]]
                total += x if x < math.inf else -math.inf
                slack += _UNIT * abs(total) if abs(total) < math.inf else 0.0
    out[0], out[1] = total, slack
    return DONE


def backward(b: BucketArrays, state: BoundState, mode: int, f: Floats, idx: Ints, sums: Floats, stop: Flag):
    """Send from the last bucket to the first, the mini-buckets' beliefs about each other's variables.

    This only guides where costs are moved to; no bound depends on it.
    """
    none = state.changed
    for c in range(b.parent.size - 1, -1, -1):
        if stop[0] != 0:
            return STOPPED
        first, last = b.child_at[c], b.child_at[c + 1]
        if b.parent[c] < 0:
            state.back[b.sent_at[c]] = 0.0
        split = b.shared_at[c + 1] > b.shared_at[c]
        if first == last and not split:
            continue
        w, size = state.weights[c], b.size_at[c + 1] - b.size_at[c]
        card = b.cards[b.scopes[b.scope_at[c + 1] - 1]]
        _gathered(b, c, state.theta, state.shift, state.sent, none, state.sent, mode, w, f, 0, idx)
        scale = 1.0 if w == 0.0 else 1.0 / w
        top = -math.inf
        for i in range(size):
            y = (f[i] + state.back[b.sent_at[c] + i // card]) * scale
            if y > top:
                top = y
        whole, spread = 0.0, 0.0
        sound = -math.inf < top < math.inf
        if sound:
            for i in range(size):
                y = (f[i] + state.back[b.sent_at[c] + i // card]) * scale - top
                if w == 0.0:
                    f[i] = y
                else:
                    x = math.exp(y)
                    whole += x
                    if split and x > 0.0:
                        m = state.sent[b.sent_at[c] + i // card]
                        if -math.inf < m < math.inf:
                            spread += x * (m - f[i]) * scale
                    f[i] = x
        state.entropy[c] = spread / whole if whole > 0.0 else 0.0
        for j in range(first, last):
            d = b.children[j]
            at, n = b.sent_at[d], b.sent_at[d + 1] - b.sent_at[d]
            if not sound:
                state.back[at : at + n] = 0.0
                continue
            _places(b, c, b.strides, b.stride_at[d], idx)
            if w == 0.0:
                sums[:n] = _FLOOR
                for i in range(size):
                    if f[i] > sums[idx[i]]:
                        sums[idx[i]] = f[i]
            else:
                sums[:n] = 0.0
                for i in range(size):
                    sums[idx[i]] += f[i]
            child = 1.0 if state.weights[d] == 0.0 else state.weights[d]
            for s in range(n):
                m = state.sent[at + s]
                if not -math.inf < m < math.inf:
                    state.back[at + s] = 0.0
                elif w == 0.0:
                    state.back[at + s] = child * sums[s] - m
                else:
                    x = math.log(sums[s] / whole) if sums[s] > 1e-300 * whole else _FLOOR
                    state.back[at + s] = child * x - m
    return DONE


# --- the bound with some states chosen ---


def touched_by(b: BucketArrays, variables: Ints, mark: Bytes, listed: Ints):
    """The mini-buckets whose message changes when these variables are in one state; children first."""
    n = 0
    for j in range(variables.size):
        v = variables[j]
        for i in range(b.with_at[v], b.with_at[v + 1]):
            c = b.with_variable[i]
            while c >= 0 and mark[c] == 0:
                mark[c] = 1
                listed[n] = c
                n += 1
                c = b.parent[c]
    listed[:n].sort()
    for i in range(n):
        mark[listed[i]] = 0
    return n


def _clamp(
    b, state, mode, total, variables, states, tolerance, listed, n, others, largest, f, idx, out, stop
):
    """The bound where variables are in these states; `out`: the bound, and what rounding adds to its error.

    Only what depends on them is sent anew. Where a message differs from the old one by a constant, within
    the tolerance, the bound does so too: nothing behind it is sent.
    """
    slack, moved = 0.0, 0.0
    lost = math.isinf(total)
    for i in range(n):
        for j in range(b.child_at[listed[i]], b.child_at[listed[i] + 1]):
            largest[b.children[j]] = state.largest[b.children[j]]
    for i in range(n):
        if stop[0] != 0:
            return STOPPED
        c = listed[i]
        due = False
        for j in range(b.child_at[c], b.child_at[c + 1]):
            if state.changed[b.children[j]] != 0:
                due = True
        for j in range(variables.size):
            for a in range(b.scope_at[c], b.scope_at[c + 1]):
                if b.scopes[a] == variables[j]:
                    due = True
        if not due:
            continue
        size, w, at = b.size_at[c + 1] - b.size_at[c], state.weights[c], b.sent_at[c]
        _gathered(b, c, state.theta, state.shift, state.sent, state.changed, others, mode, w, f, 0, idx)
        gone = math.inf if w < 0.0 else -math.inf
        for j in range(variables.size):
            inner = 1
            for a in range(b.scope_at[c + 1] - 1, b.scope_at[c] - 1, -1):
                card = b.cards[b.scopes[a]]
                if b.scopes[a] == variables[j]:
                    for e in range(size):
                        if (e // inner) % card != states[j]:
                            f[e] = gone
                inner *= card
        card = b.cards[b.scopes[b.scope_at[c + 1] - 1]]
        sent = _send(f, 0, size, card, w, others, at)
        largest[c] = max(sent, state.largest[c])
        slack += _rounding(b, c, state.shift, w, largest, sent, state.big, state.error)
        low, high = math.inf, -math.inf
        for e in range(size // card):
            x, y = others[at + e], state.sent[at + e]
            if not (math.isinf(x) or math.isinf(y)):
                change = x - y
            elif x == y:
                continue
            else:
                change = math.inf if x > y else -math.inf
            low, high = min(low, change), max(high, change)
        if low > high:  # nothing but infinities, and the same
            low, high = 0.0, 0.0
        root = b.parent[c] < 0
        near = -math.inf < low and high < math.inf and high - low <= tolerance
        if not lost and (root or near):
            moved += low if mode == _LOWER else high
            slack += 4.0 * _UNIT * largest[c]
        else:
            state.changed[c] = 1
    if lost:  # the bound itself is not finite: sum again
        total = 0.0
        for c in range(b.parent.size):
            if b.parent[c] < 0:
                x = others[b.sent_at[c]] if state.changed[c] != 0 else state.sent[b.sent_at[c]]
                total += x if x < math.inf else -math.inf
                if abs(total) < math.inf:
                    slack += _UNIT * abs(total)
    for i in range(n):
        state.changed[listed[i]] = 0
    if moved == math.inf:  # of a lower bound: a message that was left out before
        moved = 0.0
    out[0] = total + moved
    out[1] = slack + 4.0 * _UNIT * n * (abs(total + moved) if not math.isinf(total + moved) else 0.0)
    return DONE


def clamp_all(
    b: BucketArrays,
    state: BoundState,
    mode: int,
    total: float,
    variables: Ints,
    group_at: Ints,
    at: Ints,
    tolerance: float,
    mark: Bytes,
    listed: Ints,
    others: Floats,
    largest: Floats,
    f: Floats,
    idx: Ints,
    logs: Floats,
    slacks: Floats,
    stop: Flag,
):
    """The bound for all states of each group of variables together, in the order of a table over them."""
    out = np.zeros(2)
    for group in range(group_at.size - 1):
        mine = variables[group_at[group] : group_at[group + 1]]
        n = touched_by(b, mine, mark, listed)
        states = np.zeros(mine.size, np.int64)
        for i in range(at[group], at[group + 1]):
            rest = i - at[group]
            for j in range(mine.size - 1, -1, -1):
                card = b.cards[mine[j]]
                states[j] = rest % card
                rest //= card
            status = _clamp(
                b, state, mode, total, mine, states, tolerance, listed, n, others, largest, f, idx, out, stop
            )
            if status != DONE:
                return status
            logs[i], slacks[i] = out[0], out[1]
    return DONE


def ahead(b: BucketArrays, state: BoundState, turn: int, states: Ints, out: FloatTable):
    """The values of a bucket's mini-buckets for each state of its variable, given the states of later ones.

    `out`: a row for each mini-bucket, of logarithms less what it sent. For maxima their sum over the bucket
    bounds by how much the best product changes when the state is chosen.
    """
    first, last = b.bucket_at[turn], b.bucket_at[turn + 1]
    card = b.cards[b.order[turn]]
    for c in range(first, last):
        row, begin = 0, b.scope_at[c]
        for a in range(begin, b.scope_at[c + 1] - 1):
            row = row * b.cards[b.scopes[a]] + states[b.scopes[a]]
        for s in range(card):
            x = state.theta[b.size_at[c] + row * card + s]
            for j in range(b.child_at[c], b.child_at[c + 1]):
                d, at = b.children[j], 0
                for a in range(begin, b.scope_at[c + 1]):
                    own = s if a == b.scope_at[c + 1] - 1 else states[b.scopes[a]]
                    at += own * b.strides[b.stride_at[d] + a - begin]
                x += state.sent[b.sent_at[d] + at]
            if b.shared_at[c + 1] > b.shared_at[c]:
                at = 0
                for a in range(begin, b.scope_at[c + 1]):
                    own = s if a == b.scope_at[c + 1] - 1 else states[b.scopes[a]]
                    at += own * b.shared_strides[a]
                x += state.shift[b.shared_at[c] + at]
            m = state.sent[b.sent_at[c] + row]
            out[c - first, s] = x - m if m > -math.inf else -math.inf


def decode(b: BucketArrays, state: BoundState, states: Ints, room: FloatTable, stop: Flag):
    """A state for each variable, from the last bucket to the first: the best that `ahead` says."""
    for turn in range(b.order.size - 1, -1, -1):
        if stop[0] != 0:
            return STOPPED
        v = b.order[turn]
        k = b.bucket_at[turn + 1] - b.bucket_at[turn]
        ahead(b, state, turn, states, room)
        best, most = 0, -math.inf
        for s in range(b.cards[v]):
            x = 0.0
            for r in range(k):
                x += room[r, s]
            if x > most:
                best, most = s, x
        states[v] = best
    return DONE


def given_neighbours(
    g: GraphArrays, variables: Ints, at: Ints, most: int, lows: Floats, highs: Floats, stop: Flag
):
    """The least and the greatest probability of each state, whatever the states of the variable's neighbours.

    A marginal is a mean of these. Variables with so many neighbours that their table would have more entries
    than `most` get 0 and 1.
    """
    table, room = np.empty(most), np.empty(most)
    for place in range(variables.size):
        if stop[0] != 0:
            return STOPPED
        v = variables[place]
        card, first, last = g.cards[v], g.user_at[v], g.user_at[v + 1]
        for s in range(card):
            lows[at[place] + s], highs[at[place] + s] = 0.0, 1.0
        count, total = 0, float(card)
        for i in range(first, last):
            f = g.owner[g.users[i]]
            count += g.scope_at[f + 1] - g.scope_at[f] - 1
        near = np.empty(count, np.int64)
        n = 0
        for i in range(first, last):
            f = g.owner[g.users[i]]
            for a in range(g.scope_at[f], g.scope_at[f + 1]):
                u = g.scopes[a]
                new = u != v
                for j in range(n):
                    if near[j] == u:
                        new = False
                if new and total <= most:
                    near[n] = u
                    n += 1
                    total *= g.cards[u]
        if total > most:
            continue
        size = int(total)
        reach = 0.0
        for e in range(size):
            table[e] = g.local[g.state_at[v] + e % card]
            reach = max(reach, abs(table[e]))
        states = np.zeros(n, np.int64)
        for i in range(first, last):
            f = g.owner[g.users[i]]
            t, begin, k = g.table[f], g.scope_at[f], g.scope_at[f + 1] - g.scope_at[f]
            strides, own, cells = np.zeros(n, np.int64), 0, 1
            for a in range(k - 1, -1, -1):
                u = g.scopes[begin + a]
                if u == v:
                    own = cells
                for j in range(n):
                    if near[j] == u:
                        strides[j] = cells
                cells *= g.cards[u]
            room[:cells] = -math.inf
            code = g.code_at[t]
            for row in range(g.row_at[t], g.row_at[t + 1]):
                cell = 0
                for a in range(k):
                    cell = cell * g.cards[g.scopes[begin + a]] + g.codes[code + a]
                room[cell] = g.logs[row]
                code += k
            reach += abs(g.low[t])
            states[:] = 0
            cell = 0
            for e in range(0, size, card):
                for s in range(card):
                    table[e + s] += room[cell + s * own]
                j = n - 1
                while j >= 0:
                    states[j] += 1
                    cell += strides[j]
                    if states[j] < g.cards[near[j]]:
                        break
                    cell -= strides[j] * states[j]
                    states[j] = 0
                    j -= 1
        # Each sum of logarithms is off by this at most, each probability by as much, relative, and doubled.
        off = 16.0 * _UNIT * (last - first + card + 4.0) * (reach + 1.0)
        for s in range(card):
            lows[at[place] + s], highs[at[place] + s] = 1.0, 0.0
        for e in range(0, size, card):
            top, whole = -math.inf, 0.0
            for s in range(card):
                top = max(top, table[e + s])
            if top == -math.inf:  # these states of the neighbours are impossible
                continue
            for s in range(card):
                whole += math.exp(table[e + s] - top)
            for s in range(card):
                x = math.exp(table[e + s] - top) / whole
                lows[at[place] + s] = min(lows[at[place] + s], x * (1.0 - off))
                highs[at[place] + s] = max(highs[at[place] + s], x * (1.0 + off))
    return DONE
