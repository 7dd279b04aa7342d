"""A reduced question as a graph of variables and factors: the loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pgm.runtime.kinds import Bytes, Floats, Ints, Ints32

if TYPE_CHECKING:
    from pgm.inference.program.program_arrays import ProgramArrays, ReducedArrays


def _mixed(h, x):
    """Mix another integer into a hash that stays below 2**40, so that no product overflows."""
    return ((h ^ x) * 1_000_003 + (x >> 7)) % 1_099_511_627_689


def classes(p: ProgramArrays, open_states: Bytes, slots: Ints, class_of: Ints32):
    """For each variable the first that has as many states and the same ones open."""
    mask = slots.size - 1
    for v in range(p.cards.size):
        n, begin = p.cards[v], p.state_at[v]
        h = np.int64(n)
        for s in range(n):
            if open_states[begin + s] == 0:
                h = _mixed(h, s + 1)
        at = _mixed(h, 7) & mask
        while True:
            u = slots[at]
            if u < 0:
                slots[at] = v
                class_of[v] = v
                break
            if p.cards[u] == n:
                same = True
                for s in range(n):
                    if open_states[begin + s] != open_states[p.state_at[u] + s]:
                        same = False
                        break
                if same:
                    class_of[v] = u
                    break
            at = (at + 1) & mask


def share(p: ProgramArrays, r: ReducedArrays, class_of: Ints32, slots: Ints, first: Ints):
    """For each reduced factor the first one whose reduced table holds the same values.

    That is so where both use one table of the program, and the same states of each axis are open.
    """
    mask = slots.size - 1
    n_factors = p.heads.size
    for g in range(r.factors.size):
        f = r.factors[g]
        if f >= n_factors:  # weights of evidence
            first[g] = g
            continue
        begin, end = p.scope_at[f], p.scope_at[f + 1]
        h = p.table_at[f]
        for i in range(begin, end):
            h = _mixed(h, class_of[p.scopes[i]])
        at = _mixed(h, end - begin) & mask
        while True:
            o = slots[at]
            if o < 0:
                slots[at] = g
                first[g] = g
                break
            e = r.factors[o]
            if p.table_at[e] == p.table_at[f] and p.scope_at[e + 1] - p.scope_at[e] == end - begin:
                same = True
                for i in range(end - begin):
                    if class_of[p.scopes[begin + i]] != class_of[p.scopes[p.scope_at[e] + i]]:
                        same = False
                        break
                if same:
                    first[g] = o
                    break
            at = (at + 1) & mask


def rows(r: ReducedArrays, mantissas: Floats, entry_at: Ints, code_at: Ints, source: Ints, codes: Ints32):
    """The non-zero rows of each table: where its value is stored, and the state of each axis."""
    for t in range(r.factors.size):
        begin, k = r.scope_at[t], r.scope_at[t + 1] - r.scope_at[t]
        at, c = entry_at[t], code_at[t]
        state = np.zeros(k + 1, np.int64)
        for i in range(r.table_at[t], r.table_at[t + 1]):
            if mantissas[i] != 0.0:
                source[at] = i
                at += 1
                for a in range(k):
                    codes[c] = state[a]
                    c += 1
            a = k - 1
            while a >= 0:
                state[a] += 1
                if state[a] < r.cards[r.scopes[begin + a]]:
                    break
                state[a] = 0
                a -= 1


def fold(
    scope_at: Ints,
    scopes: Ints32,
    table: Ints,
    state_at: Ints,
    cards: Ints,
    logs_at: Ints,
    logs: Floats,
    local: Floats,
):
    """Add the logarithms of factors of one variable to that variable."""
    for f in range(scope_at.size - 1):
        v, t = scopes[scope_at[f]], table[f]
        for s in range(cards[v]):
            local[state_at[v] + s] += logs[logs_at[t] + s]


def walk(
    scope_at: Ints,
    scopes: Ints32,
    owner: Ints32,
    user_at: Ints,
    users: Ints32,
    order: Ints,
    walked: Ints,
    reached_by: Ints,
):
    """Factors and variables in the order in which they are met from the first variable of each component.

    `reached_by` receives the axis along which a variable was met, -1 for the first of a component. Returns
    whether there is no loop.
    """
    n, n_factors = user_at.size - 1, scope_at.size - 1
    met = np.zeros(n_factors, np.uint8)
    reached = np.zeros(n, np.uint8)
    count, parts, first, last = 0, 0, 0, 0
    for root in range(n):
        if reached[root] != 0:
            continue
        parts += 1
        reached[root] = 1
        reached_by[root] = -1
        walked[last] = root
        last += 1
        while first < last:
            v = walked[first]
            first += 1
            for i in range(user_at[v], user_at[v + 1]):
                f = owner[users[i]]
                if met[f] != 0:
                    continue
                met[f] = 1
                order[count] = f
                count += 1
                for a in range(scope_at[f], scope_at[f + 1]):
                    u = scopes[a]
                    if reached[u] == 0:
                        reached[u] = 1
                        reached_by[u] = a
                        walked[last] = u
                        last += 1
    return scopes.size == n + n_factors - parts
