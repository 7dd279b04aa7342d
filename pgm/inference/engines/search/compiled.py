"""The loops of the search: propagation, components, the cache, and the backward pass over the record.

Nothing here recurses or allocates: the state of a search lies in arrays, so it stops whenever an array is
full or its slice of work is done, and continues once the clock has been checked or the full array has been
replaced by a larger one. A set of states is a row of 62-bit words. Values are
wide: a mantissa in [0.5, 1), or 0, and an exponent.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pgm.runtime.kinds import Flag, Floats, FloatTable, Ints, Ints32, IntTable

if TYPE_CHECKING:
    from pgm.inference.engines.search.search_arrays import Cache, Memo, Record, SearchProblem, SearchState

DONE, STOPPED, RUNNING = 0, 1, 4
FULL_MEMO, FULL_PILE, FULL_FRAMES, FULL_CACHE, FULL_RECORD = 5, 6, 7, 8, 9  # what must grow before it goes on

BITS = 62
_LOW = 0x7FFFFFFF
_MIX = 0x7FEB352D  # odd, under 2**31: a product of two such numbers fits 62 bits

# --- counters ---
LEVEL, TOP, QUEUE, DOMAINS, CURRENT = 0, 1, 2, 3, 4  # depth of frames; used parts of pile, queue and trails
ENTRIES, WORDS, CLASSES = 5, 6, 7  # used parts of the memo
CACHED, KEYS = 8, 9  # used parts of the cache
NODES, BRANCHES, LITERALS, CHILDREN = 10, 11, 12, 13  # used parts of the record
STAMP, WORK, CONFLICTS, HITS, RECORDING, STORING, LABELS = 14, 15, 16, 17, 18, 19, 20
COUNTERS = 21

# --- columns of a frame ---
F_RECORD, F_VAR, F_NEXT, F_DOMAINS, F_CURRENT, F_TOP, F_AT, F_LEFT, F_INSIDE = 0, 1, 2, 3, 4, 5, 6, 7, 8
F_BRANCH, F_LIT, F_LIT_END, F_CHILD, F_SUM, F_PRODUCT = 9, 10, 11, 12, 13, 14
COLUMNS = 15

SMALL, SMALL_RECORDED = 32, 16  # joint states up to which a component is summed by enumeration
HEAD = 5  # of a component in the pile: variables, factors, where its key is, the key's length, its hash


# --- wide numbers ---


def _times(am, ae, bm, be):
    m = am * bm
    if m == 0.0:
        return 0.0, 0
    e = ae + be
    if m < 0.5:
        m *= 2.0
        e -= 1
    return m, e


def _plus(am, ae, bm, be):
    if am == 0.0:
        return bm, be
    if bm == 0.0:
        return am, ae
    if ae < be:
        am, ae, bm, be = bm, be, am, ae
    shift = be - ae
    if shift < -1074:
        return am, ae
    m = am + math.ldexp(bm, int(shift))
    if m >= 1.0:
        return m * 0.5, ae + 1
    return m, ae


# --- sets of states ---


def _lowest(word):
    b = 0
    while (word >> b) & 1 == 0:
        b += 1
    return b


def _mixed(h, x):
    h = (h ^ (x & _LOW)) * _MIX
    h = (h ^ (h >> 29)) & _LOW
    h = (h ^ ((x >> 31) & _LOW)) * _MIX
    return (h ^ (h >> 29)) & _LOW


# --- tables under narrowed states: each examined once, then cached ---


def _place(p, s, kind, words, at):
    """List the states in `words[at:]` for each axis in s.begins, s.codes; return the offset of the first."""
    a0 = p.axis_at[kind]
    n_axes = p.axis_at[kind + 1] - a0
    total, offset = 0, p.kind_table[kind]
    for a in range(n_axes):
        s.begins[a] = total
        w = at + p.axis_word[a0 + a]
        card = p.axis_cards[a0 + a]
        for b in range(card):
            if (words[w + b // BITS] >> (b % BITS)) & 1 != 0:
                s.codes[total] = b
                total += 1
        s.position[a] = 0
        if total > s.begins[a]:
            offset += s.codes[s.begins[a]] * p.axis_stride[a0 + a]
    s.begins[n_axes] = total
    return offset


def _step(p, s, a0, axes, offset):
    """Go to the next entry of the walk over these axes (a bit mask); -1 after the last."""
    a = 0
    while axes >> a != 0:
        if (axes >> a) & 1 != 0:
            here = s.begins[a] + s.position[a]
            if here + 1 < s.begins[a + 1]:
                s.position[a] += 1
                return offset + (s.codes[here + 1] - s.codes[here]) * p.axis_stride[a0 + a]
            offset -= (s.codes[here] - s.codes[s.begins[a]]) * p.axis_stride[a0 + a]
            s.position[a] = 0
        a += 1
    return -1


def _find(p, mo, s, n, kind):
    """The entry for a table narrowed to s.mask, a new one if there is none; -1 when there is no room."""
    size = p.kind_words[kind]
    h = kind + 1
    for i in range(size):
        h = _mixed(h, s.mask[i])
    last = mo.slots.size - 1
    i = h & last
    while mo.slots[i] >= 0:
        e = mo.slots[i]
        if mo.kind[e] == kind:
            same, at = True, mo.at[e]
            for j in range(size):
                if mo.words[at + j] != s.mask[j]:
                    same = False
                    break
            if same:
                return e
        i = (i + 1) & last
    e, at = n[ENTRIES], n[WORDS]
    if e >= mo.kind.size or 2 * e >= last or at + 2 * size > mo.words.size:
        return -1
    mo.slots[i] = e
    mo.kind[e], mo.at[e], mo.final[e], mo.dead[e] = kind, at, -1, 0
    for j in range(size):
        mo.words[at + j] = s.mask[j]
    n[ENTRIES] = e + 1
    n[WORDS] = at + 2 * size
    return e


def _supported(p, mo, s, kind, e):
    """Write the states that a non-zero entry supports behind the entry's own; False when there are none."""
    at, size = mo.at[e], p.kind_words[kind]
    a0 = p.axis_at[kind]
    n_axes = p.axis_at[kind + 1] - a0
    x = _place(p, s, kind, mo.words, at)
    total = s.begins[n_axes]
    for j in range(total):
        s.seen[j] = 0
    missing = total
    axes = (1 << n_axes) - 1
    while x >= 0 and missing > 0:
        if p.mantissas[x] != 0.0:
            for a in range(n_axes):
                j = s.begins[a] + s.position[a]
                if s.seen[j] == 0:
                    s.seen[j] = 1
                    missing -= 1
        x = _step(p, s, a0, axes, x)
    for j in range(size):
        mo.words[at + size + j] = 0
    for a in range(n_axes):
        w = at + size + p.axis_word[a0 + a]
        any_left = False
        for j in range(s.begins[a], s.begins[a + 1]):
            if s.seen[j] != 0:
                any_left = True
                mo.words[w + s.codes[j] // BITS] |= 1 << (s.codes[j] % BITS)
        if not any_left:
            return False
    return True


def _relevant(p, mo, s, kind, at):
    """The axes, as bits, along which the table narrowed to `mo.words[at:]` changes at all."""
    a0 = p.axis_at[kind]
    n_axes = p.axis_at[kind + 1] - a0
    x = _place(p, s, kind, mo.words, at)
    axes, several = 0, 0
    for a in range(n_axes):
        if s.begins[a + 1] - s.begins[a] > 1:
            several |= 1 << a
    every = several
    while x >= 0 and several != 0:
        for a in range(n_axes):
            if (several >> a) & 1 != 0 and s.position[a] > 0:
                shift = s.codes[s.begins[a] + s.position[a]] - s.codes[s.begins[a]]
                y = x - shift * p.axis_stride[a0 + a]
                if p.mantissas[x] != p.mantissas[y] or p.exponents[x] != p.exponents[y]:
                    axes |= 1 << a
                    several &= ~(1 << a)
        x = _step(p, s, a0, every, x)
    return axes


def _same_class(p, mo, s, kind, e, g):
    """Whether two entries are the same function of the same states of the same axes."""
    if mo.kind[g] != kind or mo.relevant[g] != mo.relevant[e]:
        return False
    a0 = p.axis_at[kind]
    n_axes = p.axis_at[kind + 1] - a0
    y = p.kind_table[kind]
    for a in range(n_axes):
        relevant = (mo.relevant[e] >> a) & 1 != 0
        words = (p.axis_cards[a0 + a] + BITS - 1) // BITS
        first = -1
        for j in range(p.axis_word[a0 + a], p.axis_word[a0 + a] + words):
            ours, theirs = mo.words[mo.at[e] + j], mo.words[mo.at[g] + j]
            if relevant and ours != theirs:
                return False
            if first < 0 and theirs != 0:
                first = (j - p.axis_word[a0 + a]) * BITS + _lowest(theirs)
        y += first * p.axis_stride[a0 + a]
    x = _place(p, s, kind, mo.words, mo.at[e])
    apart = y - x
    while x >= 0:
        if p.mantissas[x] != p.mantissas[x + apart] or p.exponents[x] != p.exponents[x + apart]:
            return False
        x = _step(p, s, a0, mo.relevant[e], x)
    return True


def _classify(p, mo, s, n, kind, e):
    """Give an entry the index shared by all entries that are the same function."""
    a0 = p.axis_at[kind]
    h = _mixed(kind + 1, mo.relevant[e])
    x = _place(p, s, kind, mo.words, mo.at[e])
    mo.mantissa[e], mo.exponent[e] = p.mantissas[x], p.exponents[x]
    if mo.relevant[e] == 0:
        mo.group[e] = -1
        return
    while x >= 0:
        h = _mixed(h, int(p.mantissas[x] * 9007199254740992.0))
        h = _mixed(h, p.exponents[x] & _LOW)
        x = _step(p, s, a0, mo.relevant[e], x)
    last = mo.class_slots.size - 1
    i = h & last
    while mo.class_slots[i] >= 0:
        g = mo.class_slots[i]
        if _same_class(p, mo, s, kind, e, g):
            mo.group[e] = mo.group[g]
            return
        i = (i + 1) & last
    mo.class_slots[i] = e
    mo.group[e] = n[CLASSES]
    n[CLASSES] += 1


def _looked_up(p, mo, s, n, kind):
    """The examined entry for a table narrowed to s.mask; -1 when there is no room.

    Its `final` entry has the states without support gone, and the axes that do not matter down to one state.
    """
    e = _find(p, mo, s, n, kind)
    if e < 0 or mo.final[e] >= 0:
        return e
    size = p.kind_words[kind]
    if not _supported(p, mo, s, kind, e):
        mo.dead[e] = 1
        mo.final[e] = e
        return e
    at = mo.at[e]
    axes = _relevant(p, mo, s, kind, at + size)
    a0 = p.axis_at[kind]
    entries = 4
    for a in range(p.axis_at[kind + 1] - a0):
        entries *= s.begins[a + 1] - s.begins[a]
    n[WORK] += entries
    for a in range(p.axis_at[kind + 1] - a0):
        begun = False
        for j in range(p.axis_word[a0 + a], p.axis_word[a0 + a] + (p.axis_cards[a0 + a] + BITS - 1) // BITS):
            word = mo.words[at + size + j]
            if (axes >> a) & 1 == 0:
                word = 0 if begun or word == 0 else 1 << _lowest(word)
                begun = begun or word != 0
            s.mask[j] = word
    g = _find(p, mo, s, n, kind)
    if g < 0:
        return -1
    if mo.final[g] < 0:
        mo.final[g] = g
        mo.relevant[g] = axes
        for j in range(size):
            mo.words[mo.at[g] + size + j] = mo.words[mo.at[g] + j]
        _classify(p, mo, s, n, kind, g)
    mo.final[e] = g
    return e


def rehash(p: SearchProblem, mo: Memo, n: Ints):
    """Put all entries into new, empty slots; the classes too."""
    last = mo.slots.size - 1
    for e in range(n[ENTRIES]):
        kind = mo.kind[e]
        h = kind + 1
        for j in range(p.kind_words[kind]):
            h = _mixed(h, mo.words[mo.at[e] + j])
        i = h & last
        while mo.slots[i] >= 0:
            i = (i + 1) & last
        mo.slots[i] = e


def rehash_classes(p: SearchProblem, mo: Memo, s: SearchState, n: Ints):
    """Put one entry of each class into new, empty slots."""
    last = mo.class_slots.size - 1
    named = np.zeros(n[CLASSES], np.uint8)
    for e in range(n[ENTRIES]):
        if mo.final[e] != e or mo.dead[e] != 0 or mo.relevant[e] == 0 or named[mo.group[e]] != 0:
            continue
        named[mo.group[e]] = 1
        kind = mo.kind[e]
        h = _mixed(kind + 1, mo.relevant[e])
        x = _place(p, s, kind, mo.words, mo.at[e])
        while x >= 0:
            h = _mixed(h, int(p.mantissas[x] * 9007199254740992.0))
            h = _mixed(h, p.exponents[x] & _LOW)
            x = _step(p, s, p.axis_at[kind], mo.relevant[e], x)
        i = h & last
        while mo.class_slots[i] >= 0:
            i = (i + 1) & last
        mo.class_slots[i] = e


# --- propagation ---


def _wake(p, mo, s, n, v, but):
    """Queue the factors over a variable."""
    for u in range(p.user_at[v], p.user_at[v + 1]):
        f = p.users[u]
        if f == but or s.queued[f] != 0:
            continue
        e = s.current[f]
        if e < 0 or (mo.relevant[e] >> p.user_axis[u]) & 1 != 0:
            s.queued[f] = 1
            s.queue[n[QUEUE]] = f
            n[QUEUE] += 1


def _set_word(s, n, v, w, word):
    t = n[DOMAINS]
    s.domain_trail[t, 0], s.domain_trail[t, 1] = w, s.domain[w]
    s.domain_trail[t, 2], s.domain_trail[t, 3] = v, s.n_open[v]
    n[DOMAINS] = t + 1
    s.domain[w] = word


def _assign(p, mo, s, n, v, state):
    """Leave one state of a variable."""
    if s.n_open[v] == 1:
        return
    for w in range(p.word_at[v], p.word_at[v + 1]):
        word = 0
        if w - p.word_at[v] == state // BITS:
            word = 1 << (state % BITS)
        if s.domain[w] != word:
            _set_word(s, n, v, w, word)
    s.n_open[v] = 1
    _wake(p, mo, s, n, v, -1)


def _forget_queue(s, n):
    while n[QUEUE] > 0:
        n[QUEUE] -= 1
        s.queued[s.queue[n[QUEUE]]] = 0


def _propagate(p, mo, s, n):
    """Close states without support until nothing changes: 0 done, 1 no state is left, 2 no room."""
    while n[QUEUE] > 0:
        n[QUEUE] -= 1
        f = s.queue[n[QUEUE]]
        s.queued[f] = 0
        n[WORK] += 1
        kind, e = p.kind[f], s.current[f]
        begin, a0 = p.scope_at[f], p.axis_at[p.kind[f]]
        n_axes = p.scope_at[f + 1] - begin
        size = p.kind_words[kind]
        for a in range(n_axes):
            v = p.scopes[begin + a]
            w = p.axis_word[a0 + a]
            live = e < 0 or (mo.relevant[e] >> a) & 1 != 0
            for j in range(p.word_at[v + 1] - p.word_at[v]):
                s.mask[w + j] = s.domain[p.word_at[v] + j] if live else mo.words[mo.at[e] + w + j]
        x = _looked_up(p, mo, s, n, kind)
        if x < 0:
            _forget_queue(s, n)
            return 2
        if mo.dead[x] != 0:
            n[CONFLICTS] += 1
            for a in range(n_axes):
                s.activity[p.scopes[begin + a]] += 1.0
            if n[CONFLICTS] % 256 == 0:
                for v in range(s.activity.size):
                    s.activity[v] *= 0.5
            _forget_queue(s, n)
            return 1
        y = mo.final[x]
        if y != e:
            t = n[CURRENT]
            s.current_trail[t, 0], s.current_trail[t, 1] = f, e
            n[CURRENT] = t + 1
            s.current[f] = y
        for a in range(n_axes):
            if e >= 0 and (mo.relevant[e] >> a) & 1 == 0:
                continue
            v = p.scopes[begin + a]
            g = mo.at[x] + size + p.axis_word[a0 + a]
            changed = False
            for j in range(p.word_at[v + 1] - p.word_at[v]):
                w = p.word_at[v] + j
                if s.domain[w] != mo.words[g + j]:
                    gone = s.domain[w] & ~mo.words[g + j]
                    _set_word(s, n, v, w, mo.words[g + j])
                    changed = True
                    while gone != 0:
                        gone &= gone - 1
                        s.n_open[v] -= 1
            if changed:
                _wake(p, mo, s, n, v, f)
    return 0


def _undo(s, n, domains, current):
    while n[DOMAINS] > domains:
        n[DOMAINS] -= 1
        t = n[DOMAINS]
        s.domain[s.domain_trail[t, 0]] = s.domain_trail[t, 1]
        s.n_open[s.domain_trail[t, 2]] = s.domain_trail[t, 3]
    while n[CURRENT] > current:
        n[CURRENT] -= 1
        t = n[CURRENT]
        s.current[s.current_trail[t, 0]] = s.current_trail[t, 1]


# --- components ---


def _flood(p, mo, s, n, v, label):
    """List the connected component of v in s.reached, s.between; returns how many variables and factors."""
    n_vars, n_factors, done = 1, 0, 0
    s.label[v] = label
    s.reached[0] = v
    while done < n_vars:
        u = s.reached[done]
        done += 1
        for i in range(p.user_at[u], p.user_at[u + 1]):
            f = p.users[i]
            if s.stamp[f] == n[STAMP]:
                continue
            axes = mo.relevant[s.current[f]]
            if (axes >> p.user_axis[i]) & 1 == 0:
                continue
            s.stamp[f] = n[STAMP]
            s.factor_label[f] = label
            s.between[n_factors] = f
            n_factors += 1
            begin, a = p.scope_at[f], 0
            while axes >> a != 0:
                if (axes >> a) & 1 != 0:
                    w = p.scopes[begin + a]
                    if s.label[w] < 0:
                        s.label[w] = label
                        s.reached[n_vars] = w
                        n_vars += 1
                a += 1
    return n_vars, n_factors


def _is_small(s, n_vars, most):
    """Whether the variables just reached have at most this many joint states."""
    states = 1
    for i in range(n_vars):
        states *= s.n_open[s.reached[i]]
        if states > most:
            return False
    return True


def _enumerate(p, mo, s, n, d, n_vars, n_factors):
    """The sum over all joint states of the few variables just reached; each one's shares go on record.

    Variables take their states in turn, the last one fastest. A factor is multiplied at the last of its
    variables; what those before have made of the product is kept for each depth.
    """
    n_states = 0
    for i in range(n_vars):
        v = s.reached[i]
        s.small_at[i] = n_states
        for w in range(p.word_at[v], p.word_at[v + 1]):
            word = s.domain[w]
            while word != 0:
                s.small_codes[n_states] = (w - p.word_at[v]) * BITS + _lowest(word)
                n_states += 1
                word &= word - 1
        s.small_ready[i] = 0
        s.small_depth[v] = i
    s.small_at[n_vars] = n_states
    for j in range(n_factors):
        f = s.between[j]
        e = s.current[f]
        axes, a0 = mo.relevant[e], p.axis_at[p.kind[f]]
        x, last = p.kind_table[p.kind[f]], 0
        for a in range(p.scope_at[f + 1] - p.scope_at[f]):
            if (axes >> a) & 1 == 0:
                x += _first(p, mo, e, a0 + a) * p.axis_stride[a0 + a]
            else:
                last = max(last, s.small_depth[p.scopes[p.scope_at[f] + a]])
        s.offset[f] = x
        s.last[f] = last
    recording = n[RECORDING] != 0
    begin = n[LITERALS]
    if recording:
        for i in range(n_vars):
            for k in range(s.small_at[i], s.small_at[i + 1]):
                d.lit_state[begin + k] = p.state_at[s.reached[i]] + s.small_codes[k]
                d.lit_share[begin + k], d.lit_power[begin + k] = 0.0, 0
        n[LITERALS] = begin + n_states
    sm, se = 0.0, 0
    i = 0
    while i >= 0:
        v = s.reached[i]
        k = s.small_at[i] + s.small_ready[i]
        before = s.small_codes[k - 1] if s.small_ready[i] > 0 else 0
        if k == s.small_at[i + 1]:  # all were tried: back to the variable before
            for u in range(p.user_at[v], p.user_at[v + 1]):
                f = p.users[u]
                if (mo.relevant[s.current[f]] >> p.user_axis[u]) & 1 != 0:
                    s.offset[f] -= before * p.axis_stride[p.axis_at[p.kind[f]] + p.user_axis[u]]
            s.small_ready[i] = 0
            i -= 1
            continue
        s.small_ready[i] += 1
        pm, pe = 0.5, 1
        if i > 0:
            pm, pe = s.small_mantissa[i - 1], s.small_exponent[i - 1]
        for u in range(p.user_at[v], p.user_at[v + 1]):
            f = p.users[u]
            if (mo.relevant[s.current[f]] >> p.user_axis[u]) & 1 == 0:
                continue
            stride = p.axis_stride[p.axis_at[p.kind[f]] + p.user_axis[u]]
            s.offset[f] += (s.small_codes[k] - before) * stride
            if pm != 0.0 and s.last[f] == i:
                pm, pe = _times(pm, pe, p.mantissas[s.offset[f]], p.exponents[s.offset[f]])
        if pm == 0.0:
            continue
        if i < n_vars - 1:
            s.small_mantissa[i], s.small_exponent[i] = pm, pe
            i += 1
            continue
        sm, se = _plus(sm, se, pm, pe)
        if recording:
            for j in range(n_vars):
                t = begin + s.small_at[j] + s.small_ready[j] - 1
                d.lit_share[t], d.lit_power[t] = _plus(d.lit_share[t], d.lit_power[t], pm, pe)
    if sm != 0.0:
        for t in range(begin, n[LITERALS]):
            power = max(-2000, min(2000, d.lit_power[t] - se))
            d.lit_share[t] = math.ldexp(d.lit_share[t] / sm, int(power))
    return sm, se


def _first(p, mo, e, axis):
    """The first state that an entry leaves to an axis."""
    w = mo.at[e] + p.axis_word[axis]
    j = 0
    while mo.words[w + j] == 0:
        j += 1
    return j * BITS + _lowest(mo.words[w + j])


def _write_key(p, mo, s, pile, q, label, top):
    """Write what determines a component's sum at the top of the pile; return its length and hash.

    The key has the open states of its variables, and each factor that reaches outside with the index of its
    narrowed table. A factor whose variables all lie inside is determined by their states.
    """
    n_vars, n_factors = pile[q], pile[q + 1]
    at = top
    pile[at] = n_vars
    at += 1
    for i in range(q + HEAD, q + HEAD + n_vars):
        v = pile[i]
        narrowed = 0
        for w in range(p.word_at[v], p.word_at[v + 1]):
            if s.domain[w] != p.full[w]:
                narrowed = 1
        pile[at] = 2 * v + narrowed
        at += 1
        if narrowed != 0:
            for w in range(p.word_at[v], p.word_at[v + 1]):
                pile[at] = s.domain[w] & _LOW
                pile[at + 1] = s.domain[w] >> 31
                at += 2
    for i in range(q + HEAD + n_vars, q + HEAD + n_vars + n_factors):
        f = pile[i]
        inside = True
        for j in range(p.scope_at[f], p.scope_at[f + 1]):
            if s.label[p.scopes[j]] != label:
                inside = False
                break
        if not inside:
            pile[at] = f
            pile[at + 1] = mo.group[s.current[f]]
            at += 2
    h = 1
    for i in range(top, at):
        h = (h ^ int(pile[i])) * _MIX
        h = (h ^ (h >> 29)) & _LOW
    return at - top, h


def _cached(c, pile, key, length, h):
    """The index of a component in the cache, or -1."""
    last = c.slots.size - 1
    i = h & last
    while c.slots[i] >= 0:
        e = c.slots[i]
        if c.hash[e] == h and c.length[e] == length:
            same, at = True, c.at[e]
            for j in range(length):
                if c.keys[at + j] != pile[key + j]:
                    same = False
                    break
            if same:
                return e
        i = (i + 1) & last
    return -1


def _split(p, mo, c, s, d, n, frames, mantissas, pile):
    """Find the components that the present branch leaves, and look each up in the cache.

    Returns 0, or 1 when one of them is known to be zero, or what is full.
    """
    level = n[LEVEL]
    q = frames[level, F_RECORD]
    n_vars, n_factors = pile[q], pile[q + 1]
    first_factor = q + HEAD + n_vars
    states, words = 0, 0
    for i in range(q + HEAD, first_factor):
        v = pile[i]
        s.label[v] = -1
        states += s.n_open[v]
        words += p.word_at[v + 1] - p.word_at[v]
    top = n[TOP]
    if top + (HEAD + 3) * n_vars + 2 * words + 3 * n_factors + 16 > pile.size:
        return FULL_PILE
    if n[RECORDING] != 0 and (
        n[LITERALS] + states > d.lit_state.size or n[CHILDREN] + n_vars > d.child_node.size
    ):
        return FULL_RECORD
    n[WORK] += n_vars + n_factors
    frames[level, F_CHILD] = -1
    frames[level, F_LIT] = n[LITERALS]
    pm, pe = 0.5, 1
    for i in range(first_factor, first_factor + n_factors):
        e = s.current[pile[i]]
        if mo.relevant[e] == 0:
            pm, pe = _times(pm, pe, mo.mantissa[e], mo.exponent[e])
    n[STAMP] += 1
    first_label, n_parts, left = n[LABELS], 0, 0
    for i in range(q + HEAD, first_factor):
        v = pile[i]
        if s.n_open[v] == 1:
            if n[RECORDING] != 0:
                t = n[LITERALS]
                w = p.word_at[v]
                while s.domain[w] == 0:
                    w += 1
                d.lit_state[t] = p.state_at[v] + (w - p.word_at[v]) * BITS + _lowest(s.domain[w])
                d.lit_share[t] = 1.0
                n[LITERALS] = t + 1
        elif s.label[v] < 0:
            mine, factors = _flood(p, mo, s, n, v, first_label + n_parts)
            s.part[n_parts] = -1
            if _is_small(s, mine, SMALL_RECORDED if n[RECORDING] != 0 else SMALL):
                xm, xe = _enumerate(p, mo, s, n, d, mine, factors)
                n[WORK] += 4
                pm, pe = _times(pm, pe, xm, xe)
                if pm == 0.0:
                    n[LABELS] = first_label + n_parts + 1
                    return 1
            else:
                s.part[n_parts] = top
                pile[top], pile[top + 1], pile[top + 3] = 0, 0, 0
                pile[top + 2] = mine  # where its factors will begin
                top += HEAD + mine + factors
                left += 1
            n_parts += 1
    frames[level, F_LIT_END] = n[LITERALS]
    for i in range(q + HEAD, first_factor):  # in index order, as the lists above are
        v = pile[i]
        r = s.part[s.label[v] - first_label] if s.n_open[v] > 1 else -1
        if r >= 0:
            pile[r + HEAD + pile[r]] = v
            pile[r] += 1
    for i in range(first_factor, first_factor + n_factors):
        f = pile[i]
        r = s.part[s.factor_label[f] - first_label] if s.stamp[f] == n[STAMP] else -1
        if r >= 0:
            pile[r + HEAD + pile[r + 2] + pile[r + 1]] = f
            pile[r + 1] += 1
    n[LABELS] = first_label + n_parts  # never reused: earlier labels belong to other components
    frames[level, F_AT] = n[TOP]
    for j in range(n_parts):
        r = s.part[j]
        if r < 0:
            continue
        length, h = _write_key(p, mo, s, pile, r, first_label + j, top)
        e = _cached(c, pile, top, length, h)
        if e < 0:
            pile[r + 2], pile[r + 3], pile[r + 4] = top, length, h
            top += length
            continue
        n[HITS] += 1
        c.used[e] = 1
        pile[r + 3] = -1
        pm, pe = _times(pm, pe, c.mantissa[e], c.exponent[e])
        if pm == 0.0:
            return 1
        if n[RECORDING] != 0:
            _add_child(d, n, frames, c.node[e])
    n[TOP] = top
    frames[level, F_LEFT] = left
    mantissas[level, 1], frames[level, F_PRODUCT] = pm, pe
    return 0


def _add_child(d, n, frames, node):
    t = n[CHILDREN]
    d.child_node[t] = node
    d.child_next[t] = frames[n[LEVEL], F_CHILD]
    frames[n[LEVEL], F_CHILD] = t
    n[CHILDREN] = t + 1


def _choose(p, mo, s, pile, q):
    """The variable of a component to try first: by its place in the tree, its factors and its conflicts."""
    best, found = -1.0, -1
    for i in range(q + HEAD, q + HEAD + pile[q]):
        v = pile[i]
        score = p.score[v] + s.activity[v]
        if score + p.user_at[v + 1] - p.user_at[v] <= best:
            continue
        for u in range(p.user_at[v], p.user_at[v + 1]):
            if (mo.relevant[s.current[p.users[u]]] >> p.user_axis[u]) & 1 != 0:
                score += 1.0
        if score > best:
            best, found = score, v
    return found


def _open_frame(frames, mantissas, n, level, q, v):
    n[LEVEL] = level
    frames[level, F_RECORD], frames[level, F_VAR], frames[level, F_NEXT] = q, v, 0
    frames[level, F_DOMAINS], frames[level, F_CURRENT], frames[level, F_TOP] = n[DOMAINS], n[CURRENT], n[TOP]
    frames[level, F_INSIDE], frames[level, F_LEFT], frames[level, F_BRANCH] = 0, 0, -1
    mantissas[level, 0], frames[level, F_SUM] = 0.0, 0


# --- the search ---


def begin(
    p: SearchProblem, mo: Memo, s: SearchState, n: Ints, frames: IntTable, mantissas: FloatTable, pile: Ints32
):
    """Set up a search over everything; the pile has room for that."""
    n[DOMAINS], n[CURRENT], n[QUEUE], n[TOP] = 0, 0, 0, 0
    n_vars, n_factors = p.cards.size, p.kind.size
    for v in range(n_vars):
        s.n_open[v] = p.cards[v]
        pile[HEAD + v] = v
    for w in range(p.full.size):
        s.domain[w] = p.full[w]
    for f in range(n_factors):
        s.current[f] = -1
        s.queued[f] = 0
        pile[HEAD + n_vars + f] = f
    pile[0], pile[1], pile[2], pile[3], pile[4] = n_vars, n_factors, 0, 0, 0
    n[TOP] = HEAD + n_vars + n_factors
    _open_frame(frames, mantissas, n, 0, 0, -1)


def _try(p, mo, c, s, d, n, frames, mantissas, pile, state, clamped, codes):
    """Give the frame's variable a state and propagate: 0, 1 for nothing possible, or what is full."""
    level = n[LEVEL]
    frames[level, F_TOP] = n[TOP]
    if frames[level, F_VAR] >= 0:
        _assign(p, mo, s, n, frames[level, F_VAR], state)
    else:
        for i in range(clamped.size):
            _assign(p, mo, s, n, clamped[i], codes[i])
        _forget_queue(s, n)
        for f in range(p.kind.size - 1, -1, -1):
            s.queue[n[QUEUE]] = f
            s.queued[f] = 1
            n[QUEUE] += 1
    literals, children = n[LITERALS], n[CHILDREN]
    status = _propagate(p, mo, s, n)
    if status == 2:
        status = FULL_MEMO
    elif status == 0:
        status = _split(p, mo, c, s, d, n, frames, mantissas, pile)
    if status != 0:
        n[LITERALS], n[CHILDREN] = literals, children
        n[TOP] = frames[level, F_TOP]
        _undo(s, n, frames[level, F_DOMAINS], frames[level, F_CURRENT])
    return status


def advance(
    p: SearchProblem,
    mo: Memo,
    c: Cache,
    s: SearchState,
    d: Record,
    n: Ints,
    frames: IntTable,
    mantissas: FloatTable,
    pile: Ints32,
    clamped: Ints,
    codes: Ints,
    work: int,
    stop: Flag,
):
    """Continue until done, until this much work is done, or until an array is full.

    The sum is then in the first frame.
    """
    limit = n[WORK] + work
    while True:
        if stop[0] != 0:
            return STOPPED
        if n[WORK] > limit:
            return RUNNING
        n[WORK] += 1
        level = n[LEVEL]
        if frames[level, F_INSIDE] != 0:
            if frames[level, F_LEFT] > 0:  # components of this branch are still to be summed
                if level + 2 > frames.shape[0]:
                    return FULL_FRAMES
                q = frames[level, F_AT]
                frames[level, F_LEFT] -= 1
                frames[level, F_AT] = q + HEAD + pile[q] + pile[q + 1]
                if pile[q + 3] >= 0:
                    _open_frame(frames, mantissas, n, level + 1, q, _choose(p, mo, s, pile, q))
                continue
            pm, pe = mantissas[level, 1], frames[level, F_PRODUCT]
            if pm != 0.0:
                if n[RECORDING] != 0:
                    t = n[BRANCHES]
                    if t >= d.branch_next.size:
                        return FULL_RECORD
                    d.branch_next[t] = frames[level, F_BRANCH]
                    d.branch_mantissa[t], d.branch_exponent[t] = pm, pe
                    d.branch_lit[t], d.branch_lit_end[t] = frames[level, F_LIT], frames[level, F_LIT_END]
                    d.branch_child[t] = frames[level, F_CHILD]
                    frames[level, F_BRANCH] = t
                    n[BRANCHES] = t + 1
                mantissas[level, 0], frames[level, F_SUM] = _plus(
                    mantissas[level, 0], frames[level, F_SUM], pm, pe
                )
            _undo(s, n, frames[level, F_DOMAINS], frames[level, F_CURRENT])
            n[TOP] = frames[level, F_TOP]
            frames[level, F_INSIDE] = 0
            frames[level, F_NEXT] += 1
            continue
        v = frames[level, F_VAR]
        state = frames[level, F_NEXT]
        if v >= 0:
            while state < p.cards[v] and (s.domain[p.word_at[v] + state // BITS] >> (state % BITS)) & 1 == 0:
                state += 1
            frames[level, F_NEXT] = state
        if state < (1 if v < 0 else p.cards[v]):
            status = _try(p, mo, c, s, d, n, frames, mantissas, pile, state, clamped, codes)
            if status == 0:
                frames[level, F_INSIDE] = 1
            elif status == 1:
                frames[level, F_NEXT] += 1
            else:
                return status
            continue
        # Every state was tried.
        sm, se = mantissas[level, 0], frames[level, F_SUM]
        q = frames[level, F_RECORD]
        node = -1
        if n[RECORDING] != 0:
            if n[NODES] >= d.node_branch.size or n[CHILDREN] >= d.child_node.size:
                return FULL_RECORD
        if v >= 0 and n[STORING] != 0:
            e = n[CACHED]
            if e >= c.at.size or 2 * e >= c.slots.size or n[KEYS] + pile[q + 3] > c.keys.size:
                return FULL_CACHE
        if n[RECORDING] != 0:
            node = n[NODES]
            n[NODES] = node + 1
            d.node_branch[node] = frames[level, F_BRANCH]
            d.node_mantissa[node], d.node_exponent[node] = sm, se
        if v < 0:
            return DONE
        if n[STORING] != 0:
            _store(c, n, pile, q, sm, se, node)
        n[LEVEL] = level - 1
        up = level - 1
        mantissas[up, 1], frames[up, F_PRODUCT] = _times(mantissas[up, 1], frames[up, F_PRODUCT], sm, se)
        if sm == 0.0:
            frames[up, F_LEFT] = 0
        elif n[RECORDING] != 0:
            _add_child(d, n, frames, node)


def _store(c, n, pile, q, sm, se, node):
    e, at = n[CACHED], n[KEYS]
    length = pile[q + 3]
    for j in range(length):
        c.keys[at + j] = pile[pile[q + 2] + j]
    c.at[e], c.length[e], c.hash[e], c.used[e] = at, length, pile[q + 4], 0
    c.mantissa[e], c.exponent[e], c.node[e] = sm, se, node
    n[CACHED], n[KEYS] = e + 1, at + length
    _link(c, e)


def _link(c, e):
    last = c.slots.size - 1
    i = c.hash[e] & last
    while c.slots[i] >= 0:
        i = (i + 1) & last
    c.slots[i] = e


def relink(c: Cache, n: Ints):
    """Put all cached components into new, empty slots."""
    for e in range(n[CACHED]):
        _link(c, e)


def sweep(c: Cache, n: Ints):
    """Drop half of the cache: the older half, except entries used since the last sweep."""
    total, room = n[CACHED], c.keys.size // 4
    kept, at = 0, 0
    n_keys = n[KEYS]
    for e in range(total):
        length = c.length[e]
        old = 2 * c.at[e] < n_keys
        if old and (c.used[e] == 0 or at + length > room):
            continue
        begin = c.at[e]
        for j in range(length):
            c.keys[at + j] = c.keys[begin + j]  # never ahead of what has been read
        c.at[kept], c.length[kept], c.hash[kept], c.used[kept] = at, length, c.hash[e], 0
        c.mantissa[kept], c.exponent[kept], c.node[kept] = c.mantissa[e], c.exponent[e], c.node[e]
        kept += 1
        at += length
    n[CACHED], n[KEYS] = kept, at
    for i in range(c.slots.size):
        c.slots[i] = -1
    for e in range(kept):
        _link(c, e)


def shares(d: Record, n: Ints, flow: Floats, out: Floats):
    """The probability of each state: what flows from the whole down through the recorded branches."""
    last = n[NODES] - 1
    for k in range(last + 1):
        flow[k] = 0.0
    flow[last] = 1.0
    for k in range(last, -1, -1):
        if flow[k] == 0.0:
            continue
        b = d.node_branch[k]
        while b >= 0:
            power = max(-2000, min(2000, d.branch_exponent[b] - d.node_exponent[k]))
            x = flow[k] * math.ldexp(d.branch_mantissa[b] / d.node_mantissa[k], int(power))
            for t in range(d.branch_lit[b], d.branch_lit_end[b]):
                out[d.lit_state[t]] += x * d.lit_share[t]
            t = d.branch_child[b]
            while t >= 0:
                flow[d.child_node[t]] += x
                t = d.child_next[t]
            b = d.branch_next[b]


# --- before the search ---


def kinds(cards: Ints, scope_at: Ints, scopes: Ints32, table_at: Ints, mantissas: Floats, exponents: Ints):
    """Index the tables so that equal ones share an index; returns that, and the first factor of each."""
    n_factors = scope_at.size - 1
    kind = np.zeros(n_factors, np.int32)
    first = np.zeros(n_factors, np.int64)
    size = 4
    while size < 2 * n_factors + 2:
        size *= 2
    slots = np.full(size, -1, np.int64)
    n_kinds = 0
    for f in range(n_factors):
        n_axes = scope_at[f + 1] - scope_at[f]
        h = n_axes
        for i in range(n_axes):
            h = _mixed(h, cards[scopes[scope_at[f] + i]])
        for x in range(table_at[f], table_at[f + 1]):
            h = _mixed(h, int(mantissas[x] * 9007199254740992.0))
            h = _mixed(h, exponents[x] & _LOW)
        i = h & (size - 1)
        while slots[i] >= 0:
            g = first[slots[i]]
            same = scope_at[g + 1] - scope_at[g] == n_axes
            j = 0
            while same and j < n_axes:
                same = cards[scopes[scope_at[f] + j]] == cards[scopes[scope_at[g] + j]]
                j += 1
            j = 0
            length = table_at[f + 1] - table_at[f]
            while same and j < length:
                x, y = table_at[f] + j, table_at[g] + j
                same = mantissas[x] == mantissas[y] and exponents[x] == exponents[y]
                j += 1
            if same:
                break
            i = (i + 1) & (size - 1)
        if slots[i] < 0:
            slots[i] = n_kinds
            first[n_kinds] = f
            n_kinds += 1
        kind[f] = slots[i]
    return kind, first[:n_kinds].copy()


def users_of(n: int, scope_at: Ints, scopes: Ints32):
    """The factors of each variable, and its axis in each; flat, with where each variable's begin."""
    at = np.zeros(n + 1, np.int64)
    for i in range(scopes.size):
        at[scopes[i] + 1] += 1
    for v in range(n):
        at[v + 1] += at[v]
    fill = at[:n].copy()
    users, axes = np.empty(scopes.size, np.int32), np.empty(scopes.size, np.int32)
    for f in range(scope_at.size - 1):
        for i in range(scope_at[f], scope_at[f + 1]):
            t = fill[scopes[i]]
            users[t], axes[t] = f, i - scope_at[f]
            fill[scopes[i]] = t + 1
    return at, users, axes


def depths(n_vars: int, clique_ptr: Ints, clique_vars: Ints, parent: Ints, depth: Ints):
    """How many cliques lie between each variable and the middle of the clique tree."""
    n_cliques = parent.size
    weight = np.zeros(n_cliques, np.int64)
    heaviest = np.zeros(n_cliques, np.int64)
    for k in range(n_cliques):  # children first
        weight[k] += clique_ptr[k + 1] - clique_ptr[k]
        if parent[k] >= 0:
            weight[parent[k]] += weight[k]
            heaviest[parent[k]] = max(heaviest[parent[k]], weight[k])
    root = np.arange(n_cliques)
    middle = np.full(n_cliques, -1, np.int64)  # of each tree, under its root
    for k in range(n_cliques - 1, -1, -1):
        if parent[k] >= 0:
            root[k] = root[parent[k]]
        r = root[k]
        if 2 * max(heaviest[k], weight[r] - weight[k]) <= weight[r] + 1 or middle[r] < 0:
            middle[r] = k
    far = np.full(n_cliques, -1, np.int64)
    for k in range(n_cliques):  # from the middle to the root
        if parent[k] < 0:
            c, length = middle[k], 0
            while c >= 0:
                far[c] = length
                length += 1
                c = parent[c]
    for k in range(n_cliques - 1, -1, -1):
        if far[k] < 0:
            far[k] = far[parent[k]] + 1
    for k in range(n_cliques):
        for i in range(clique_ptr[k], clique_ptr[k + 1]):
            v = clique_vars[i]
            if depth[v] < 0 or far[k] < depth[v]:
                depth[v] = far[k]
