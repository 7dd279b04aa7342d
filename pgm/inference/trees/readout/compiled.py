"""Read-out of a tree after an inward sweep: best states, the first of ties, drawn states.

The statuses are those of the sweeps: 0 done, 1 stopped. A *wide* number is a mantissa and an exponent.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pgm.runtime.kinds import Bytes, Flag, Floats, FloatTable, Ints, IntTable

if TYPE_CHECKING:
    from pgm.inference.program.program_arrays import ProgramArrays
    from pgm.inference.trees.tree_arrays import TreeArrays

DONE, STOPPED = 0, 1


def _along(lookup, kind, run, ix, j):
    if kind == 0:
        return 0
    if kind == 1:
        return j
    if kind == 2:
        return lookup[ix + j // run]
    return lookup[ix + j // run] + j % run


def _product_at(entry, n, first, last, item_at, operand, lookup, outer_at, kind, run, inner_at, pm, pe):
    """The product of operands first .. last - 1 at an entry of their clique, whose rows have n entries."""
    row, j = entry // n, entry % n
    m, e = 1.0, 0
    for o in range(first, last):
        i = item_at[operand[o]] + lookup[outer_at[o] + row] + _along(lookup, kind[o], run[o], inner_at[o], j)
        m *= pm[i]
        e += pe[i]
        if m < 1e-200:
            if m == 0.0:
                return 0.0, 0
            m, more = math.frexp(m)
            e += more
    m, more = math.frexp(m)
    return m, e + more


def _share(m, e, other_m, other_e):
    """One wide number divided by another, as a double."""
    return math.ldexp(m / other_m, int(max(-1070, min(e - other_e, 1000))))


def _sent_entry(sent, end, axes, cards, states):
    """Which entry of a message, over the axes before `end`, these states select."""
    s, step, i = 0, 1, end - 1
    while step < sent:
        v = axes[i]
        s += states[v] * step
        step *= cards[v]
        i -= 1
    return s


def _set_states(begin, end, axes, cards, entry, states):
    for i in range(end - 1, begin - 1, -1):
        v = axes[i]
        states[v] = entry % cards[v]
        entry //= cards[v]


def trace_back(
    t: TreeArrays, pm: Floats, pe: Ints, cliques: Ints, states: Ints, near: float, ties: Ints, stop: Flag
):
    """Read the best states off the messages of a max pass, parents first; ties[0] counts the ties it met.

    Entries within a factor 1 - near of the best count as tied: they differ by rounding only.
    """
    arrays = (t.item_at, t.operand, t.lookup, t.outer_at, t.kind, t.run, t.inner_at, pm, pe)
    for i in range(cliques.size):
        if stop[0] != 0:
            return STOPPED
        c = cliques[i]
        sent = t.sent[c]
        s = _sent_entry(t.sent[c], t.axis_at[c + 1], t.axes, t.cards, states) if t.parent[c] >= 0 else 0
        if t.parent[c] < 0:
            sent = 1
        best, best_m, best_e = -1, 0.0, 0
        tied = 0
        for entry in range(s, t.size[c], sent):
            m, e = _product_at(entry, t.inner[c], t.operand_at[c], t.operand_at[c + 1], *arrays)
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
        _set_states(t.axis_at[c], t.axis_at[c + 1], t.axes, t.cards, best, states)
    return DONE


def score(t: TreeArrays, pm: Floats, pe: Ints, largest: Bytes, states: Ints):
    """The product of all operands of the maximising cliques at these states, as a wide number."""
    total_m, total_e = 1.0, 0
    n_cliques = t.parent.size
    n_factors = t.item_at.size - 1 - n_cliques
    for c in range(n_cliques):
        if largest[c] == 0:
            if t.parent[c] < 0:  # a component without maximisation: a constant
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
                i = t.item_at[item] + t.lookup[t.outer_at[o] + row]
                i += _along(t.lookup, t.kind[o], t.run[o], t.inner_at[o], j)
                total_m, more = math.frexp(total_m * pm[i])
                total_e += more + pe[i]
    return total_m, total_e


def best_entries(
    t: TreeArrays,
    pm: Floats,
    pe: Ints,
    cliques: Ints,
    first_only: bool,
    excluded: Ints,
    states: Ints,
    free: Bytes,
    alive: Bytes,
    near: float,
    stop: Flag,
):
    """Mark the entries of some best completion, going down from where it begins.

    It begins at the first of `cliques` (parents come first), given the states that its message selects and
    not in `excluded` entries; unless `first_only`, at every root. What is not below it is left unchanged.
    Entries within a factor 1 - near of the best count as best: they differ by rounding only.
    """
    arrays = (t.item_at, t.operand, t.lookup, t.outer_at, t.kind, t.run, t.inner_at, pm, pe)
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
            s = _sent_entry(t.sent[c], t.axis_at[c + 1], t.axes, t.cards, states) if up >= 0 else 0
            best_m, best_e = 0.0, 0
            for turn in range(2):
                for entry in range(s, t.size[c], sent):
                    out = False
                    for x in range(excluded.size):
                        out = out or (i == 0 and excluded[x] == entry)
                    m, e = _product_at(entry, t.inner[c], t.operand_at[c], t.operand_at[c + 1], *arrays)
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
                    _set_states(t.axis_at[up], t.axis_at[up + 1], t.axes, t.cards, entry, local)
                    seen[_sent_entry(t.sent[c], t.axis_at[c + 1], t.axes, t.cards, local)] = 1
            for entry in range(t.size[c]):
                s = entry % sent
                if seen[s] != 0:
                    m, e = _product_at(entry, t.inner[c], t.operand_at[c], t.operand_at[c + 1], *arrays)
                    if m > 0.0 and _share(m, e, pm[at + s], pe[at + s]) >= 1.0 - near:
                        alive[base + entry] = 1
    return DONE


def alternatives(
    t: TreeArrays, pm: Floats, pe: Ints, cliques: Ints, excluded: Ints, states: Ints, shares: Floats
):
    """Compare the best other entry of each clique with the one that these states have: log2 of the quotient.

    What its message selects stays as it is; in the first clique `excluded` entries are ruled out, too.
    """
    arrays = (t.item_at, t.operand, t.lookup, t.outer_at, t.kind, t.run, t.inner_at, pm, pe)
    for i in range(cliques.size):
        c = cliques[i]
        up = t.parent[c]
        sent = t.sent[c] if up >= 0 else 1
        s = _sent_entry(t.sent[c], t.axis_at[c + 1], t.axes, t.cards, states) if up >= 0 else 0
        own, step = 0, 1
        for a in range(t.axis_at[c + 1] - 1, t.axis_at[c] - 1, -1):
            own += states[t.axes[a]] * step
            step *= t.cards[t.axes[a]]
        own_m, own_e = _product_at(own, t.inner[c], t.operand_at[c], t.operand_at[c + 1], *arrays)
        best_m, best_e = 0.0, 0
        for entry in range(s, t.size[c], sent):
            out = entry == own
            for x in range(excluded.size):
                out = out or (i == 0 and excluded[x] == entry)
            if not out:
                m, e = _product_at(entry, t.inner[c], t.operand_at[c], t.operand_at[c + 1], *arrays)
                if m > 0.0 and (best_m == 0.0 or _share(m, e, best_m, best_e) > 1.0):
                    best_m, best_e = m, e
        shares[i] = math.log2(best_m / own_m) + (best_e - own_e) if best_m > 0.0 else -np.inf


def _raise_to(values_m, values_e, i, m, e):
    """Make a wide number, m from 0.5 to below 1, the larger of itself and another."""
    if values_m[i] == 0.0 or e > values_e[i] or (e == values_e[i] and m > values_m[i]):
        values_m[i] = m
        values_e[i] = e


def max_marginals(
    t: TreeArrays,
    pm: Floats,
    pe: Ints,
    cliques: Ints,
    largest: Bytes,
    state_at: Ints,
    back_m: Floats,
    back_e: Ints,
    found_m: Floats,
    found_e: Ints,
    entries_m: Floats,
    entries_e: Ints,
    stop: Flag,
):
    """The largest product with each state of each variable that is maximised, after a max pass.

    The same for each entry of a table, if there is room for these; tables in cliques that are summed have
    none. Parents come first in `cliques`; `largest` marks them among all. What a parent sends back is the
    largest product of all that does not come from below: its entries over the message that they hold, which
    is not zero where they are not. `back_*` is laid out as the messages are, and zero like `found_*`.
    """
    arrays = (t.item_at, t.operand, t.lookup, t.outer_at, t.kind, t.run, t.inner_at, pm, pe)
    n_factors = t.item_at.size - 1 - t.parent.size
    base = t.item_at[n_factors]
    for i in range(cliques.size):
        c = cliques[i]
        n, sent = t.inner[c], t.sent[c]
        at = t.item_at[n_factors + c] - base
        for entry in range(t.size[c]):
            if (entry & 4095) == 0 and stop[0] != 0:
                return STOPPED
            m, e = _product_at(entry, n, t.operand_at[c], t.operand_at[c + 1], *arrays)
            if t.parent[c] >= 0:
                m *= back_m[at + entry % sent]
                e += back_e[at + entry % sent]
            if m == 0.0:
                continue
            m, more = math.frexp(m)
            e += more
            left = entry
            for a in range(t.axis_at[c + 1] - 1, t.axis_at[c] - 1, -1):
                v = t.axes[a]
                if t.clique_of[v] == c:
                    _raise_to(found_m, found_e, state_at[v] + left % t.cards[v], m, e)
                left //= t.cards[v]
            row, j = entry // n, entry % n
            for o in range(t.operand_at[c], t.operand_at[c + 1]):
                item = t.operand[o]
                if item < n_factors and entries_m.size > 0:
                    k = t.item_at[item] + t.lookup[t.outer_at[o] + row]
                    k += _along(t.lookup, t.kind[o], t.run[o], t.inner_at[o], j)
                    _raise_to(entries_m, entries_e, k, m, e)
                if item >= n_factors and largest[item - n_factors] != 0:
                    k = t.item_at[item] + t.lookup[t.outer_at[o] + row]
                    k += _along(t.lookup, t.kind[o], t.run[o], t.inner_at[o], j)
                    rest, more = math.frexp(m / pm[k])
                    _raise_to(back_m, back_e, k - base, rest, e - pe[k] + more)
    return DONE


def first_of_ties(t: TreeArrays, alive: Bytes, free: Bytes, order: Ints, states: Ints, stop: Flag):
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
                            _set_states(t.axis_at[c], t.axis_at[c + 1], t.axes, t.cards, entry, local)
                            seen[_sent_entry(t.sent[low], t.axis_at[low + 1], t.axes, t.cards, local)] = 1
                changed = False
                for entry in range(t.size[other]):
                    if alive[t.clique_at[other] + entry] != 0:
                        if other == low:
                            s = entry % sent
                        else:
                            _set_states(t.axis_at[other], t.axis_at[other + 1], t.axes, t.cards, entry, local)
                            s = _sent_entry(t.sent[low], t.axis_at[low + 1], t.axes, t.cards, local)
                        if seen[s] == 0:
                            alive[t.clique_at[other] + entry] = 0
                            changed = True
                if changed and waiting[other] == 0:
                    waiting[other] = 1
                    stack[depth] = other
                    depth += 1
    return DONE


def draw(t: TreeArrays, kept: Floats, uniforms: FloatTable, states: IntTable, stop: Flag):
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
                s = _sent_entry(t.sent[c], t.axis_at[c + 1], t.axes, t.cards, mine)
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
            _set_states(t.axis_at[c], t.axis_at[c + 1], t.axes, t.cards, chosen, mine)
    return DONE


def _forward_joined(p, values, f, uniform, states):
    """Draw the last variable from the product of the tables that f leads."""
    child = p.scopes[p.scope_at[f + 1] - 1]
    size = p.cards[child]
    product = np.ones(size)
    g = f
    while g < p.heads.size and p.leader[g] == f:
        end = p.scope_at[g + 1]
        step, at = size, p.table_at[g]
        for a in range(end - 2, p.scope_at[g] - 1, -1):
            v = p.scopes[a]
            at += states[v] * step
            step *= p.cards[v]
        for s in range(size):
            product[s] *= math.ldexp(values[at + s], int(p.exponent[g]))
        g += 1
    total = 0.0
    for s in range(size):
        total += product[s]
    left = uniform * total
    chosen = 0
    for s in range(size):
        if product[s] > 0.0:
            chosen = s
            left -= product[s]
            if left < 0.0:
                break
    states[child] = chosen


def forward(
    p: ProgramArrays, values: Floats, dropped: Ints, uniforms: FloatTable, states: IntTable, stop: Flag
):
    """Draw the variables that pruning dropped, parents first: each from its table given what is drawn."""
    for i in range(states.shape[0]):
        if stop[0] != 0:
            return STOPPED
        for d in range(dropped.size - 1, -1, -1):
            f = dropped[d]
            if f + 1 < p.heads.size and p.leader[f + 1] == f:
                _forward_joined(p, values, f, uniforms[i, d], states[i])
                continue
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


def conditionals(t: TreeArrays, pm: Floats, pe: Ints, kept: Floats, stop: Flag):
    """What each clique holds, divided by what it sends, after a wide inward pass."""
    arrays = (t.item_at, t.operand, t.lookup, t.outer_at, t.kind, t.run, t.inner_at, pm, pe)
    n_cliques = t.parent.size
    n_factors = t.item_at.size - 1 - n_cliques
    for c in range(n_cliques):
        if stop[0] != 0:
            return STOPPED
        at = t.item_at[n_factors + c]
        for entry in range(t.size[c]):
            m, e = _product_at(entry, t.inner[c], t.operand_at[c], t.operand_at[c + 1], *arrays)
            s = at + entry % t.sent[c]
            x = 0.0
            if m > 0.0:
                x = math.ldexp(m / pm[s], int(max(-2000, min(2000, e - pe[s]))))
            kept[t.clique_at[c] + entry] = x
    return DONE
