"""Compiled loops that reduce a program to one question."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pgm.runtime.kinds import Bytes, Flag, Floats, Ints, Ints32

if TYPE_CHECKING:
    from pgm.inference.program.program_arrays import ProgramArrays

DONE, STOPPED, IMPOSSIBLE = 0, 1, 3  # as in pgm/inference/trees/sweeps/compiled.py


def replace_table(table: Floats, begin: int, values: Floats, narrowest: int):
    """Write another table over that of a factor, scaled; returns its `low` and `exponent`.

    A `low` above zero says that nothing was written: other entries than before are zero, or the entries span
    more than doubles do: more than `narrowest` powers of two.
    """
    least, top = 1 << 40, -(1 << 40)
    for i in range(table.size):
        if (table[i] > 0.0) != (values[begin + i] > 0.0):
            return 1, 0
        if table[i] > 0.0:
            power = math.frexp(table[i])[1]
            least, top = min(least, power), max(top, power)
    if least - top < narrowest:
        return 1, 0
    for i in range(table.size):
        values[begin + i] = math.ldexp(table[i], -top)
    return least - top - 1, top


def scales(factors: Ints32, n_tables: int, low: Ints, exponent: Ints, lows: Ints):
    """How some tables were scaled: bounds on the first of them, and the power of two taken out of all."""
    total = 0
    for i in range(factors.size):
        if i < n_tables:
            lows[i] = low[factors[i]]
        total += exponent[factors[i]]
    return total


def _droppable(p, count, needed, f):
    end = p.scope_at[f + 1]
    if p.heads[f] == 0:
        return False
    for i in range(end - p.heads[f], end):
        v = p.scopes[i]
        if needed[v] != 0 or count[v] != 1:
            return False
    return True


def prune(p: ProgramArrays, needed: Bytes, keep: Bytes):
    """Drop repeatedly each barren factor: one that sums to one over variables which nothing else mentions.

    Tables with one leader count as one factor and go together. Returns the dropped leaders, children before
    parents.
    """
    n_factors = p.heads.size
    count = np.zeros(p.cards.size, np.int64)
    seen = np.full(p.cards.size, -1, np.int64)  # the leader that last mentioned a variable
    for f in range(n_factors):
        for i in range(p.scope_at[f], p.scope_at[f + 1]):
            v = p.scopes[i]
            if seen[v] != p.leader[f]:
                seen[v] = p.leader[f]
                count[v] += 1
    seen[:] = -1
    queue = np.empty(n_factors, np.int64)
    queued = np.zeros(n_factors, np.uint8)
    first, last = 0, 0
    for f in range(n_factors):
        keep[f] = 1
        if _droppable(p, count, needed, f):
            queue[last] = f
            last += 1
            queued[f] = 1
    while first < last:
        f = queue[first]
        first += 1
        end = f
        while end < n_factors and p.leader[end] == f:
            keep[end] = 0
            end += 1
        for i in range(p.scope_at[f], p.scope_at[end]):
            v = p.scopes[i]
            if seen[v] == f:
                continue
            seen[v] = f
            count[v] -= 1
            if count[v] == 1 and needed[v] == 0:
                for u in range(p.user_at[v], p.user_at[v + 1]):
                    g = p.users[u]
                    if queued[g] == 0 and _droppable(p, count, needed, g):
                        queue[last] = g
                        last += 1
                        queued[g] = 1
    return queue[:last].copy()


def _keep_with(p, f, keep, seen, stack, depth):
    """Keep a leader and the tables that it leads; unseen variables that they mention go onto the stack."""
    end = f
    while end < p.heads.size and p.leader[end] == f:
        keep[end] = 1
        end += 1
    for i in range(p.scope_at[f], p.scope_at[end]):
        v = p.scopes[i]
        if seen[v] == 0:
            seen[v] = 1
            stack[depth] = v
            depth += 1
    return depth


def ancestors(p: ProgramArrays, loose: Bytes, needed: Bytes, keep: Bytes):
    """Mark the factors that `prune` does not drop; `loose` are those it would drop if nothing were needed.

    The converse view: a needed variable keeps the factor it heads, which needs all of its variables.
    After one pass over the factors the work is proportional to what is kept.
    """
    keep[:] = 0
    seen = needed.copy()
    stack = np.empty(p.cards.size, np.int64)
    depth = 0
    for f in range(p.heads.size):
        if p.leader[f] != f:
            continue
        wanted = loose[f] == 0
        end = p.scope_at[f + 1]
        for i in range(end - p.heads[f], end):
            if needed[p.scopes[i]] != 0:
                wanted = True
        if wanted:
            depth = _keep_with(p, f, keep, seen, stack, depth)
    while depth > 0:
        depth -= 1
        v = stack[depth]
        for u in range(p.user_at[v], p.user_at[v + 1]):
            f = p.users[u]
            end = p.scope_at[f + 1]
            heads = False
            for i in range(end - p.heads[f], end):
                heads = heads or p.scopes[i] == v
            if heads and keep[f] == 0:
                depth = _keep_with(p, f, keep, seen, stack, depth)


def drop_ones(p: ProgramArrays, values: Floats, open_states: Bytes, keep: Bytes):
    """Among tables with one leader, drop those that are all one over the open states."""
    n_factors = p.heads.size
    digits = np.zeros(64, np.int64)
    for f in range(n_factors):
        alone = p.leader[f] == f and (f + 1 == n_factors or p.leader[f + 1] != f)
        if alone or keep[f] == 0:
            continue
        begin, k = p.scope_at[f], p.scope_at[f + 1] - p.scope_at[f]
        one = math.ldexp(1.0, int(-p.exponent[f]))
        digits[:k] = 0
        at, same = p.table_at[f], True
        while same:
            is_open = True
            for i in range(k):
                if open_states[p.state_at[p.scopes[begin + i]] + digits[i]] == 0:
                    is_open = False
            if is_open and values[at] != one:
                same = False
            at += 1
            i = k - 1
            while i >= 0:
                digits[i] += 1
                if digits[i] < p.cards[p.scopes[begin + i]]:
                    break
                digits[i] = 0
                i -= 1
            if i < 0:
                break
        if same:
            keep[f] = 0


def propagate(p: ProgramArrays, support: Floats, keep: Bytes, open_states: Bytes, touched: Bytes, stop: Flag):
    """Close every state that no non-zero row of some factor supports, to a fixed point.

    `touched` marks the factors to begin with. Generalised arc consistency: a state that is closed has
    probability zero; so may one that is left open.
    """
    n_factors = p.heads.size
    widest, most_states = 1, 1
    for f in range(n_factors):
        widest = max(widest, p.scope_at[f + 1] - p.scope_at[f])
    for v in range(p.cards.size):
        most_states = max(most_states, p.cards[v])
    begins = np.zeros(widest + 1, np.int64)
    codes = np.zeros(widest * most_states, np.int64)
    supported = np.zeros(widest * most_states, np.uint8)
    position = np.zeros(widest, np.int64)
    stride = np.zeros(widest, np.int64)
    stack = np.empty(n_factors, np.int64)
    waiting = np.zeros(n_factors, np.uint8)
    depth = 0
    for f in range(n_factors):
        if touched[f] != 0 and keep[f] != 0 and p.has_zero[f] != 0:
            stack[depth] = f
            waiting[f] = 1
            depth += 1
    while depth > 0:
        if stop[0] != 0:
            return STOPPED
        depth -= 1
        f = stack[depth]
        waiting[f] = 0
        begin = p.scope_at[f]
        k = p.scope_at[f + 1] - begin
        if k == 0:
            continue
        step = 1
        for a in range(k - 1, -1, -1):
            stride[a] = step
            step *= p.cards[p.scopes[begin + a]]
        total = 0
        for a in range(k):
            v = p.scopes[begin + a]
            begins[a] = total
            for s in range(p.cards[v]):
                if open_states[p.state_at[v] + s] != 0:
                    codes[total] = s
                    supported[total] = 0
                    total += 1
        begins[k] = total
        missing = total
        at = p.table_at[f]
        for a in range(k - 1):
            at += codes[begins[a]] * stride[a]
            position[a] = 0
        while missing > 0:
            hit = False
            for j in range(begins[k - 1], total):
                if support[at + codes[j]] != 0.0:
                    hit = True
                    if supported[j] == 0:
                        supported[j] = 1
                        missing -= 1
            if hit:
                for a in range(k - 1):
                    j = begins[a] + position[a]
                    if supported[j] == 0:
                        supported[j] = 1
                        missing -= 1
            a = k - 2
            while a >= 0:
                here = begins[a] + position[a]
                if here + 1 < begins[a + 1]:
                    position[a] += 1
                    at += (codes[here + 1] - codes[here]) * stride[a]
                    break
                at -= (codes[here] - codes[begins[a]]) * stride[a]
                position[a] = 0
                a -= 1
            if a < 0:
                break
        if missing == 0:
            continue
        for a in range(k):
            v = p.scopes[begin + a]
            closed, left = 0, 0
            for j in range(begins[a], begins[a + 1]):
                if supported[j] == 0:
                    open_states[p.state_at[v] + codes[j]] = 0
                    closed += 1
                else:
                    left += 1
            if left == 0:
                return IMPOSSIBLE
            if closed > 0:
                for u in range(p.user_at[v], p.user_at[v + 1]):
                    g = p.users[u]
                    if g != f and waiting[g] == 0 and keep[g] != 0 and p.has_zero[g] != 0:
                        stack[depth] = g
                        waiting[g] = 1
                        depth += 1
    return DONE


def _root_of(link, v):
    while link[v] != v:
        link[v] = link[link[v]]
        v = link[v]
    return v


def sizes(p: ProgramArrays, keep: Bytes, open_states: Bytes):
    """Upper bounds on the variables, states, tables and scope entries that `reduce` would leave."""
    n = p.cards.size
    left = np.zeros(n, np.int32)
    variables, states = 0, 0
    for v in range(n):
        for s in range(p.state_at[v], p.state_at[v + 1]):
            left[v] += open_states[s]
        if left[v] > 1:
            variables += 1
            states += left[v]
    tables, places = 0, 0
    for f in range(p.heads.size):
        if keep[f] != 0:
            before = places
            for i in range(p.scope_at[f], p.scope_at[f + 1]):
                if left[p.scopes[i]] > 1:
                    places += 1
            if places > before:
                tables += 1
    return variables, states, tables, places


def reduce(
    p: ProgramArrays, keep: Bytes, open_states: Bytes, virtual: Ints32, wanted: Bytes, only_wanted: bool
):
    """Index what is still open: variables with several states left, and the tables over them.

    With `only_wanted`, components with nothing wanted are dropped too, unless a zero could still make the
    evidence impossible.
    """
    n, n_factors = p.cards.size, p.heads.size
    left = np.zeros(n, np.int32)  # small integers: what is looked up everywhere stays in the cache longer
    narrowed = np.zeros(n, np.uint8)
    for v in range(n):
        for s in range(p.state_at[v], p.state_at[v + 1]):
            left[v] += open_states[s]
        if left[v] < p.cards[v]:
            narrowed[v] = 1
    active = np.zeros(n, np.uint8)
    for v in range(n):
        if left[v] > 1 and (wanted[v] != 0 or p.user_at[v] == p.user_at[v + 1]):
            active[v] = 1
    for i in range(virtual.size):
        if left[virtual[i]] > 1:
            active[virtual[i]] = 1
    link = np.arange(n if only_wanted else 0).astype(np.int32)
    for f in range(n_factors):
        if keep[f] == 0:
            continue
        first = -1
        for i in range(p.scope_at[f], p.scope_at[f + 1]):
            v = p.scopes[i]
            if left[v] > 1:
                active[v] = 1
                if not only_wanted:
                    continue
                if first < 0:
                    first = _root_of(link, v)
                else:
                    other = _root_of(link, v)
                    if other != first:
                        link[other] = first
    if only_wanted:
        matters = np.zeros(n, np.uint8)
        for v in range(n):
            if wanted[v] != 0:
                matters[_root_of(link, v)] = 1
        for f in range(n_factors):
            if keep[f] != 0 and p.has_zero[f] != 0:
                for i in range(p.scope_at[f], p.scope_at[f + 1]):
                    if left[p.scopes[i]] > 1:
                        matters[_root_of(link, p.scopes[i])] = 1
                        break
        for v in range(n):
            if active[v] != 0 and matters[_root_of(link, v)] == 0:
                active[v] = 0

    number = np.full(n, -1, np.int32)
    m, n_states = 0, 0
    for v in range(n):
        if active[v] != 0:
            m += 1
            n_states += left[v]
    variables = np.empty(m, np.int32)
    cards = np.empty(m, np.int64)
    state_at = np.zeros(m + 1, np.int64)
    states = np.empty(n_states, np.int32)
    i, at = 0, 0
    for v in p.order:
        if active[v] != 0:
            number[v] = i
            variables[i] = v
            cards[i] = left[v]
            if narrowed[v] == 0:
                for s in range(left[v]):
                    states[at + s] = s
                at += left[v]
            else:
                begin = p.state_at[v]
                for s in range(begin, p.state_at[v + 1]):
                    if open_states[s] != 0:
                        states[at] = s - begin
                        at += 1
            i += 1
            state_at[i] = at

    n_kept, n_scope, n_scalars = 0, 0, 0
    for f in range(n_factors):
        if keep[f] == 0:
            continue
        k, dropped = 0, False
        for i in range(p.scope_at[f], p.scope_at[f + 1]):
            v = p.scopes[i]
            if number[v] >= 0:
                k += 1
            elif left[v] > 1:
                dropped = True
        if dropped:
            continue
        if k > 0:
            n_kept += 1
            n_scope += k
        else:
            n_scalars += 1
    n_virtual = 0
    for i in range(virtual.size):
        if number[virtual[i]] >= 0:
            n_virtual += 1
    factors = np.empty(n_kept + n_virtual, np.int32)
    scope_at = np.zeros(n_kept + n_virtual + 1, np.int64)
    scopes = np.empty(n_scope + n_virtual, np.int32)
    table_at = np.zeros(n_kept + n_virtual + 1, np.int64)
    scalars = np.empty(n_scalars, np.int32)
    g, at, h = 0, 0, 0
    for f in range(n_factors):
        if keep[f] == 0:
            continue
        k, dropped, size = 0, False, 1
        for i in range(p.scope_at[f], p.scope_at[f + 1]):
            v = p.scopes[i]
            if number[v] >= 0:
                scopes[at + k] = number[v]
                size *= left[v]
                k += 1
            elif left[v] > 1:
                dropped = True
        if dropped:
            continue
        if k > 0:
            factors[g] = f
            at += k
            scope_at[g + 1] = at
            table_at[g + 1] = table_at[g] + size
            g += 1
        else:
            scalars[h] = f
            h += 1
    for i in range(virtual.size):
        if number[virtual[i]] >= 0:
            factors[g] = n_factors + i
            scopes[at] = number[virtual[i]]
            at += 1
            scope_at[g + 1] = at
            table_at[g + 1] = table_at[g] + left[virtual[i]]
            g += 1
    return variables, cards, state_at, states, factors, scope_at, scopes, table_at, scalars


def fixed_codes(p: ProgramArrays, open_states: Bytes):
    """For each variable the one state left, else -1."""
    codes = np.full(p.cards.size, -1, np.int32)
    for v in range(p.cards.size):
        found, count = -1, 0
        for s in range(p.cards[v]):
            if open_states[p.state_at[v] + s] != 0:
                found = s
                count += 1
        if count == 1:
            codes[v] = found
    return codes


def neighbours(n: int, scope_at: Ints, scopes: Ints32, together: Ints32):
    """The graph in which the variables of a scope, and those of `together`, are linked: sorted rows, flat."""
    degree = np.zeros(n + 1, np.int64)
    for f in range(scope_at.size - 1):
        k = scope_at[f + 1] - scope_at[f]
        for i in range(scope_at[f], scope_at[f + 1]):
            degree[scopes[i] + 1] += k - 1
    for i in range(together.size):
        degree[together[i] + 1] += together.size - 1
    for v in range(n):
        degree[v + 1] += degree[v]
    raw = np.empty(degree[n], np.int32)
    fill = degree[:n].copy()
    for f in range(scope_at.size - 1):
        for i in range(scope_at[f], scope_at[f + 1]):
            for j in range(scope_at[f], scope_at[f + 1]):
                if i != j:
                    raw[fill[scopes[i]]] = scopes[j]
                    fill[scopes[i]] += 1
    for i in range(together.size):
        for j in range(together.size):
            if i != j:
                raw[fill[together[i]]] = together[j]
                fill[together[i]] += 1
    at = np.zeros(n + 1, np.int64)
    w = 0
    for v in range(n):
        begin, end = degree[v], degree[v + 1]
        if end - begin <= 32:
            for i in range(begin + 1, end):
                x, j = raw[i], i
                while j > begin and raw[j - 1] > x:
                    raw[j] = raw[j - 1]
                    j -= 1
                raw[j] = x
        else:
            raw[begin:end] = np.sort(raw[begin:end])
        last = -1
        for i in range(begin, end):
            if raw[i] != last:
                last = raw[i]
                raw[w] = last  # never past what has been read
                w += 1
        at[v + 1] = w
    return at, raw[:w].copy()


def walk(scope_at: Ints, scopes: Ints32, user_at: Ints, users: Ints32):
    """An order of the factors that goes from one to those sharing a variable with it; with their scopes.

    The third is the order in which it reaches the variables. A clique tree is traversed in much the same
    order: neighbours in it are then near in memory.
    """
    n_factors, n = scope_at.size - 1, user_at.size - 1
    passed = np.empty(n, np.int32)
    n_passed = 0
    order = np.empty(n_factors, np.int64)
    order_at = np.zeros(n_factors + 1, np.int64)
    ordered = np.empty(scopes.size, np.int32)
    stack = np.empty(n_factors + scopes.size, np.int64)
    waiting = np.ones(n_factors, np.uint8)
    seen = np.zeros(n, np.uint8)
    count, at = 0, 0
    for start in range(n_factors):
        stack[0], depth = start, 1
        while depth > 0:
            depth -= 1
            f = stack[depth]
            if waiting[f] == 0:
                continue
            waiting[f] = 0
            order[count] = f
            for i in range(scope_at[f], scope_at[f + 1]):
                v = scopes[i]
                ordered[at] = v
                at += 1
                if seen[v] == 0:
                    seen[v] = 1
                    passed[n_passed] = v
                    n_passed += 1
                    for u in range(user_at[v], user_at[v + 1]):
                        stack[depth] = users[u]
                        depth += 1
            count += 1
            order_at[count] = at
    for v in range(n):
        if seen[v] == 0:
            passed[n_passed] = v
            n_passed += 1
    return order, order_at, ordered, passed


def n_apart(scope_at: Ints, scopes: Ints32, far: int):
    """How many factors have two variables whose indices are this far apart."""
    count = 0
    for f in range(scope_at.size - 1):
        least = most = -1
        for i in range(scope_at[f], scope_at[f + 1]):
            v = scopes[i]
            least = v if least < 0 else min(least, v)
            most = max(most, v)
        if most - least >= far:
            count += 1
    return count


def users_of(n: int, scope_at: Ints, scopes: Ints32):
    """The factors of each variable, in order, flat with their offsets."""
    at = np.zeros(n + 1, np.int64)
    for i in range(scopes.size):
        at[scopes[i] + 1] += 1
    for v in range(n):
        at[v + 1] += at[v]
    fill = at[:n].copy()
    users = np.empty(scopes.size, np.int32)
    for f in range(scope_at.size - 1):
        for i in range(scope_at[f], scope_at[f + 1]):
            users[fill[scopes[i]]] = f
            fill[scopes[i]] += 1
    return at, users
