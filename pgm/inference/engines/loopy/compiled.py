"""Messages between factors and variables, in logarithms: the loops.

Only messages from factors are stored, with the largest entry 0. The message of a variable to a factor is its
belief, the sum of everything that reaches it, minus the factor's own message. Inside a factor values are
exponentiated as long as none of their products can leave the range of a double, and stay logarithms
otherwise.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pgm.runtime.kinds import Bytes, Flag, Floats, FloatTable, Ints

if TYPE_CHECKING:
    from pgm.inference.engines.factor_graph import GraphArrays

DONE, STOPPED = 0, 1  # as in pgm/inference/trees/sweeps/compiled.py
_SAFE = -690.0  # the logarithm of a number that is far above the smallest double
_LOOK = 4096  # factors between two looks at the stop flag


def gather(g: GraphArrays, messages: Floats, held: Bytes, beliefs: Floats, first: int, last: int):
    """The belief of each variable from `first` on: its own weights and the messages of all factors."""
    for v in range(first, last):
        if held[v] != 0:
            continue
        begin, n = g.state_at[v], g.cards[v]
        for s in range(n):
            beliefs[begin + s] = g.local[begin + s]
        for i in range(g.user_at[v], g.user_at[v + 1]):
            at = g.message_at[g.users[i]]
            for s in range(n):
                beliefs[begin + s] += messages[at + s]


def _receive(g, f, beliefs, messages, c):
    """A factor's messages from its variables, the largest entry 0; returns the least of their products."""
    low, at = 0.0, 0
    for a in range(g.scope_at[f], g.scope_at[f + 1]):
        v = g.scopes[a]
        n, begin, m = g.cards[v], g.state_at[v], g.message_at[a]
        top = -math.inf
        for s in range(n):
            x = beliefs[begin + s] - messages[m + s]
            c[at + s] = x
            if x > top:
                top = x
        least = 0.0
        for s in range(n):
            x = c[at + s] - top
            c[at + s] = x
            if x < least:
                least = x
        low += least
        at += n
    return low


def _binary(values, row, low, b0, b1, m0, m1, free0, free1, damping, beliefs, messages, moved):
    """As `_pair`, for two states each: a message is one scalar, the logarithm of a ratio."""
    d0 = (beliefs[b0 + 1] - messages[m0 + 1]) - (beliefs[b0] - messages[m0])
    d1 = (beliefs[b1 + 1] - messages[m1 + 1]) - (beliefs[b1] - messages[m1])
    if not low - abs(d0) - abs(d1) >= _SAFE:
        return -1.0
    x0 = x1 = y0 = y1 = 1.0
    if d0 > 0.0:
        x0 = math.exp(-d0)
    else:
        x1 = math.exp(d0)
    if d1 > 0.0:
        y0 = math.exp(-d1)
    else:
        y1 = math.exp(d1)
    a, b, c, d = values[row], values[row + 1], values[row + 2], values[row + 3]
    r0 = math.log((c * y0 + d * y1) / (a * y0 + b * y1))
    r1 = math.log((b * x0 + d * x1) / (a * x0 + c * x1))
    worst = 0.0
    for side in range(2):
        r, at, begin, free = (r0, m0, b0, free0) if side == 0 else (r1, m1, b1, free1)
        low_step, high_step = min(0.0, -r) - messages[at], min(0.0, r) - messages[at + 1]
        moved[side] = max(abs(low_step), abs(high_step))
        worst = max(worst, moved[side])
        if damping != 0.0:
            low_step *= 1.0 - damping
            high_step *= 1.0 - damping
        messages[at] += low_step
        messages[at + 1] += high_step
        if free:
            beliefs[begin] += low_step
            beliefs[begin + 1] += high_step
    return worst


def _either(values, row, low, n0, n1, b0, b1, m0, m1, free0, free1, damping, beliefs, messages, c, o, moved):
    """A pair without zeros, by the function for its cards."""
    if n0 == 2 and n1 == 2:
        return _binary(values, row, low, b0, b1, m0, m1, free0, free1, damping, beliefs, messages, moved)
    return _pair(
        values, row, low, n0, n1, b0, b1, m0, m1, free0, free1, damping, beliefs, messages, c, o, moved
    )


def _pair(values, row, low, n0, n1, b0, b1, m0, m1, free0, free1, damping, beliefs, messages, c, o, moved):
    """`_send` and `_take` in one for a pair without zeros, as in images; few arguments are fast to pass.

    Beliefs are updated where free0 and free1 say so. Returns the largest change, or -1 if values must stay
    logarithms and nothing was done.
    """
    top, least = -math.inf, math.inf
    for s in range(n0):
        x = beliefs[b0 + s] - messages[m0 + s]
        c[s] = x
        top = max(top, x)
        least = min(least, x)
    low += least - top
    for s in range(n0):
        c[s] -= top
    top, least = -math.inf, math.inf
    for s in range(n1):
        x = beliefs[b1 + s] - messages[m1 + s]
        c[n0 + s] = x
        top = max(top, x)
        least = min(least, x)
    low += least - top
    if not low >= _SAFE:
        return -1.0
    for s in range(n1):
        c[n0 + s] -= top
        o[n0 + s] = 0.0
    for s in range(n0 + n1):
        if c[s] != 0.0:
            c[s] = math.exp(c[s])
        else:
            c[s] = 1.0
    most = 0.0
    for i in range(n0):
        x, total = c[i], 0.0
        for j in range(n1):
            value = values[row]
            row += 1
            total += value * c[n0 + j]
            o[n0 + j] += value * x
        o[i] = total
        most = max(most, total)
    change0, change1 = 0.0, 0.0
    keep = 1.0 - damping
    for s in range(n0):
        new = math.log(o[s] / most) if o[s] != most else 0.0
        step = new - messages[m0 + s]
        change0 = max(change0, abs(step))
        if damping != 0.0:
            new = messages[m0 + s] + keep * step
        if free0:
            beliefs[b0 + s] += new - messages[m0 + s]
        messages[m0 + s] = new
    most = 0.0
    for s in range(n1):
        most = max(most, o[n0 + s])
    for s in range(n1):
        new = math.log(o[n0 + s] / most) if o[n0 + s] != most else 0.0
        step = new - messages[m1 + s]
        change1 = max(change1, abs(step))
        if damping != 0.0:
            new = messages[m1 + s] + keep * step
        if free1:
            beliefs[b1 + s] += new - messages[m1 + s]
        messages[m1 + s] = new
    moved[0], moved[1] = change0, change1
    return max(change0, change1)


def _multiply_rows(g, t, k, offset, e, o, before):
    """Sums over the non-zero rows of a table, for each axis without what came along it."""
    code = g.code_at[t]
    for row in range(g.row_at[t], g.row_at[t + 1]):
        x = g.values[row]
        for a in range(k):
            before[a] = x
            x *= e[offset[a] + g.codes[code + a]]
        x = 1.0
        for a in range(k - 1, -1, -1):
            at = offset[a] + g.codes[code + a]
            o[at] += before[a] * x
            x *= e[at]
        code += k


def _add_rows(g, t, k, offset, c, o, e, largest):
    """The same in logarithms: maxima and, where sums are wanted, the sums relative to these in `e`."""
    size = offset[k]
    for i in range(size):
        o[i] = -math.inf
    code = g.code_at[t]
    for row in range(g.row_at[t], g.row_at[t + 1]):
        x = g.logs[row]
        for a in range(k):
            x += c[offset[a] + g.codes[code + a]]
        for a in range(k):
            at = offset[a] + g.codes[code + a]
            if x - c[at] > o[at]:
                o[at] = x - c[at]
        code += k
    if largest:
        return
    for i in range(size):
        e[i] = 0.0
    code = g.code_at[t]
    for row in range(g.row_at[t], g.row_at[t + 1]):
        x = g.logs[row]
        for a in range(k):
            x += c[offset[a] + g.codes[code + a]]
        for a in range(k):
            at = offset[a] + g.codes[code + a]
            e[at] += math.exp(x - c[at] - o[at])
        code += k
    for i in range(size):
        o[i] += math.log(e[i])


def _send(g, f, beliefs, messages, largest, room, offset):
    """The messages that a factor would send now, in the last row of `room`; the largest entry 0."""
    c, e, o = room[0], room[1], room[2]
    begin, end, t = g.scope_at[f], g.scope_at[f + 1], g.table[f]
    k = end - begin
    low = g.low[t] + _receive(g, f, beliefs, messages, c)
    offset[0] = 0
    for a in range(k):
        offset[a + 1] = offset[a] + g.cards[g.scopes[begin + a]]
    size = offset[k]
    if largest or low < _SAFE:
        _add_rows(g, t, k, offset, c, o, e, largest)
        for a in range(k):
            top = -math.inf
            for i in range(offset[a], offset[a + 1]):
                if o[i] > top:
                    top = o[i]
            for i in range(offset[a], offset[a + 1]):
                o[i] -= top
        return
    for i in range(size):
        e[i] = 1.0 if c[i] == 0.0 else math.exp(c[i])
    for i in range(size):
        o[i] = 0.0
    _multiply_rows(g, t, k, offset, e, o, room[3])
    for a in range(k):
        top = 0.0
        for i in range(offset[a], offset[a + 1]):
            if o[i] > top:
                top = o[i]
        for i in range(offset[a], offset[a + 1]):
            o[i] = 0.0 if o[i] == top else math.log(o[i] / top)


def _take(g, f, beliefs, messages, held, damping, live, o, moved):
    """Replace a factor's messages; `moved` gets each axis's change before damping. Returns the largest.

    With `live` the beliefs are updated at once.
    """
    at, worst, k = 0, 0.0, 0
    for a in range(g.scope_at[f], g.scope_at[f + 1]):
        v = g.scopes[a]
        n, m, begin = g.cards[v], g.message_at[a], g.state_at[v]
        most = 0.0
        for s in range(n):
            old = messages[m + s]
            step = o[at + s] - old
            if abs(step) > most:
                most = abs(step)
            new = o[at + s] if damping == 0.0 else old + (1.0 - damping) * step
            messages[m + s] = new
            if live and held[v] == 0:
                beliefs[begin + s] += new - old
        moved[k] = most
        if most > worst:
            worst = most
        k += 1
        at += n
    return worst


def send_all(
    g: GraphArrays,
    order: Ints,
    first: int,
    last: int,
    beliefs: Floats,
    messages: Floats,
    held: Bytes,
    damping: float,
    largest: bool,
    live: bool,
    room: FloatTable,
    offset: Ints,
    out: Floats,
    stop: Flag,
):
    """Let factors send, those of `order` from `first` to `last`, backwards where `last` is smaller.

    Without `live` all of them look at the beliefs as they were. `out` receives the largest change.
    """
    step = 1 if last >= first else -1
    worst = 0.0
    count = 0
    c, o, moved = room[0], room[2], room[4]
    scope_at, scopes, table, cards, state_at = g.scope_at, g.scopes, g.table, g.cards, g.state_at
    message_at, square, values, row_at, low = g.message_at, g.square, g.values, g.row_at, g.low
    for i in range(first, last, step):
        count += 1
        if count % _LOOK == 0 and stop[0] != 0:
            return STOPPED
        f = order[i]
        change = -1.0
        t = table[f]
        if square[t] != 0 and not largest:
            a = scope_at[f]
            v, u = scopes[a], scopes[a + 1]
            change = _either(
                values,
                row_at[t],
                low[t],
                cards[v],
                cards[u],
                state_at[v],
                state_at[u],
                message_at[a],
                message_at[a + 1],
                live and held[v] == 0,
                live and held[u] == 0,
                damping,
                beliefs,
                messages,
                c,
                o,
                moved,
            )
        if change < 0.0:
            _send(g, f, beliefs, messages, largest, room, offset)
            change = _take(g, f, beliefs, messages, held, damping, live, o, moved)
        if not change <= worst:  # also true of NaN
            worst = change
    out[0] = worst
    return DONE


def measure(
    g: GraphArrays,
    first: int,
    last: int,
    beliefs: Floats,
    messages: Floats,
    largest: bool,
    room: FloatTable,
    offset: Ints,
    out: Floats,
    stop: Flag,
):
    """How much the messages of these factors would change."""
    worst = 0.0
    for f in range(first, last):
        if f % _LOOK == 0 and stop[0] != 0:
            return STOPPED
        _send(g, f, beliefs, messages, largest, room, offset)
        at = g.message_at[g.scope_at[f]]
        for i in range(g.message_at[g.scope_at[f + 1]] - at):
            change = abs(room[2, i] - messages[at + i])
            if not change <= worst:
                worst = change
    out[0] = worst
    return DONE


def _sift(heap, place, priority, i):
    """Restore the order of a heap whose entry i has another priority: largest first, then by index."""
    f = heap[i]
    x = priority[f]
    while i > 0:
        parent = (i - 1) // 2
        u = heap[parent]
        if priority[u] > x or (priority[u] == x and u < f):
            break
        heap[i] = u
        place[u] = i
        i = parent
    while True:
        child = 2 * i + 1
        if child >= heap.size:
            break
        if child + 1 < heap.size:
            a, b = heap[child], heap[child + 1]
            if priority[b] > priority[a] or (priority[b] == priority[a] and b < a):
                child += 1
        u = heap[child]
        if priority[u] < x or (priority[u] == x and u > f):
            break
        heap[i] = u
        place[u] = i
        i = child
    heap[i] = f
    place[f] = i


def send_most(
    g: GraphArrays,
    heap: Ints,
    place: Ints,
    priority: Floats,
    updates: int,
    tol: float,
    beliefs: Floats,
    messages: Floats,
    held: Bytes,
    damping: float,
    largest: bool,
    room: FloatTable,
    offset: Ints,
    out: Floats,
    stop: Flag,
):
    """Repeatedly let the factor send whose variables' messages have changed most since it last did.

    The priority of a factor is the largest change that others have sent its variables since: cheaper than the
    change of its own messages, which need not be computed (Sutton & McCallum 2007). `out` receives the
    largest priority when this ends.
    """
    c, o, moved = room[0], room[2], room[4]
    scope_at, scopes, table, cards, state_at = g.scope_at, g.scopes, g.table, g.cards, g.state_at
    message_at, square, values, row_at, low = g.message_at, g.square, g.values, g.row_at, g.low
    user_at, users, owner = g.user_at, g.users, g.owner
    for count in range(updates):
        f = heap[0]
        if priority[f] <= tol:
            break
        if count % _LOOK == 0 and stop[0] != 0:
            return STOPPED
        worst = -1.0
        t = table[f]
        if square[t] != 0 and not largest:
            a = scope_at[f]
            v, u = scopes[a], scopes[a + 1]
            worst = _either(
                values,
                row_at[t],
                low[t],
                cards[v],
                cards[u],
                state_at[v],
                state_at[u],
                message_at[a],
                message_at[a + 1],
                held[v] == 0,
                held[u] == 0,
                damping,
                beliefs,
                messages,
                c,
                o,
                moved,
            )
        if worst < 0.0:
            _send(g, f, beliefs, messages, largest, room, offset)
            worst = _take(g, f, beliefs, messages, held, damping, True, o, moved)
        priority[f] = damping * worst
        _sift(heap, place, priority, 0)
        k = 0
        for a in range(scope_at[f], scope_at[f + 1]):
            v = scopes[a]
            change = (1.0 - damping) * moved[k]
            k += 1
            if change == 0.0 or held[v] != 0:
                continue
            for i in range(user_at[v], user_at[v + 1]):
                other = owner[users[i]]
                if other != f and change > priority[other]:
                    priority[other] = change
                    _sift(heap, place, priority, place[other])
    out[0] = priority[heap[0]]
    return DONE


def _log_sum(x, begin, end):
    top = -math.inf
    for i in range(begin, end):
        if x[i] > top:
            top = x[i]
    total = 0.0
    for i in range(begin, end):
        total += math.exp(x[i] - top)
    return top + math.log(total)


def bethe(
    g: GraphArrays,
    beliefs: Floats,
    messages: Floats,
    room: FloatTable,
    of_factor: Floats,
    of_variable: Floats,
    stop: Flag,
):
    """The contribution of each factor and variable to the logarithm of Bethe's partition function."""
    c, x = room[0], room[1]
    for v in range(g.cards.size):
        of_variable[v] = _log_sum(beliefs, g.state_at[v], g.state_at[v + 1])
    for f in range(g.scope_at.size - 1):
        if f % _LOOK == 0 and stop[0] != 0:
            return STOPPED
        _receive(g, f, beliefs, messages, c)
        begin, t = g.scope_at[f], g.table[f]
        k = g.scope_at[f + 1] - begin
        top, total = _best_row(g, f, c), 0.0
        code = g.code_at[t]
        for row in range(g.row_at[t], g.row_at[t + 1]):
            y, at = g.logs[row], 0
            for a in range(k):
                y += c[at + g.codes[code + a]]
                at += g.cards[g.scopes[begin + a]]
            total += math.exp(y - top)
            code += k
        found = top + math.log(total)
        at = 0
        for a in range(begin, begin + k):
            n = g.cards[g.scopes[a]]
            for s in range(n):
                x[s] = c[at + s] + messages[g.message_at[a] + s]
            found -= _log_sum(x, 0, n)
            at += n
        of_factor[f] = found
    return DONE


def _best_row(g, f, c):
    """The largest sum of a factor's logarithm and what c has for each axis."""
    begin, t = g.scope_at[f], g.table[f]
    k = g.scope_at[f + 1] - begin
    top = -math.inf
    code = g.code_at[t]
    for row in range(g.row_at[t], g.row_at[t + 1]):
        x, at = g.logs[row], 0
        for a in range(k):
            x += c[at + g.codes[code + a]]
            at += g.cards[g.scopes[begin + a]]
        code += k
        if x > top:
            top = x
    return top


def dual(
    g: GraphArrays,
    beliefs: Floats,
    messages: Floats,
    weight: Floats,
    own: Floats,
    room: FloatTable,
    of_factor: Floats,
    of_variable: Floats,
    stop: Flag,
):
    """The maximum of each factor minus its messages, with the given share of its variables' beliefs."""
    c = room[0]
    for v in range(g.cards.size):
        top = -math.inf
        for i in range(g.state_at[v], g.state_at[v + 1]):
            if own[v] * beliefs[i] > top:
                top = own[v] * beliefs[i]
        of_variable[v] = top
    for f in range(g.scope_at.size - 1):
        if f % _LOOK == 0 and stop[0] != 0:
            return STOPPED
        at = 0
        for a in range(g.scope_at[f], g.scope_at[f + 1]):
            v = g.scopes[a]
            for s in range(g.cards[v]):
                c[at] = weight[a] * beliefs[g.state_at[v] + s] - messages[g.message_at[a] + s]
                at += 1
        of_factor[f] = _best_row(g, f, c)
    return DONE


def belief_of_factor(
    g: GraphArrays, f: int, beliefs: Floats, messages: Floats, room: FloatTable, flat: Floats
):
    """A factor's joint log belief over its variables, as a table; minus infinity for zeros."""
    c = room[0]
    _receive(g, f, beliefs, messages, c)
    begin, t = g.scope_at[f], g.table[f]
    k = g.scope_at[f + 1] - begin
    code = g.code_at[t]
    for row in range(g.row_at[t], g.row_at[t + 1]):
        x, at, place = g.logs[row], 0, 0
        for a in range(k):
            n, s = g.cards[g.scopes[begin + a]], g.codes[code + a]
            x += c[at + s]
            at += n
            place = place * n + s
        flat[place] = x
        code += k


def _score(g, f, states, beliefs, messages, axis, out):
    """For each state of one axis of a factor the best row given the states already chosen.

    Variables without a state yet contribute their messages.
    """
    begin, t = g.scope_at[f], g.table[f]
    k = g.scope_at[f + 1] - begin
    for s in range(g.cards[g.scopes[begin + axis]]):
        out[s] = -math.inf
    code = g.code_at[t]
    for row in range(g.row_at[t], g.row_at[t + 1]):
        x = g.logs[row]
        for a in range(k):
            if a == axis:
                continue
            v, s = g.scopes[begin + a], g.codes[code + a]
            if states[v] < 0:
                x += beliefs[g.state_at[v] + s] - messages[g.message_at[begin + a] + s]
            elif states[v] != s:
                x = -math.inf
                break
        s = g.codes[code + axis]
        if x > out[s]:
            out[s] = x
        code += k


def choose(
    g: GraphArrays,
    order: Ints,
    beliefs: Floats,
    messages: Floats,
    states: Ints,
    again: bool,
    total: Floats,
    room: Floats,
    out: Floats,
    stop: Flag,
):
    """Give each variable, in this order, its best state given those already chosen; the first of equals.

    With `again` all have one, and each is reconsidered given the others. `out` receives how many changed.
    """
    changed = 0
    for place in range(order.size):
        if place % _LOOK == 0 and stop[0] != 0:
            return STOPPED
        v = order[place]
        n, begin = g.cards[v], g.state_at[v]
        for s in range(n):
            total[s] = g.local[begin + s]
        for i in range(g.user_at[v], g.user_at[v + 1]):
            a = g.users[i]
            f = g.owner[a]
            _score(g, f, states, beliefs, messages, a - g.scope_at[f], room)
            for s in range(n):
                total[s] += room[s]
        best = states[v] if again else 0
        for s in range(n):
            if total[best] == -math.inf:
                if total[s] > total[best]:
                    best = s
            elif total[s] - total[best] > 1e-12 * abs(total[best]):  # less is rounding: the first of equals
                best = s
        if best != states[v]:
            states[v] = best
            changed += 1
    out[0] = changed
    return DONE
