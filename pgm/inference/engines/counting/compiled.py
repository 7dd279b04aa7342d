"""The loops of counting: propagation, clause learning, components and their cache.

Nothing here recurses or allocates: the state of a search lies in arrays, so that it stops whenever an array
is full or its slice of work is done, and resumes where it stopped. Values are wide: a mantissa in [0.5, 1),
or 0, and an exponent.

A literal is true by decision, or because all others of a clause are false: that clause is its reason, its
index or, if it has two literals, -2 minus the literal that implies it; -1 for a decision.

A learned clause is implied by all clauses together. Inside a component it may therefore conflict because a
sibling component has no solution: whatever was cached below a branch without solutions is dropped again.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pgm.runtime.kinds import Bytes, Flag, Floats, FloatTable, Ints, Ints32, IntTable

if TYPE_CHECKING:
    from pgm.inference.engines.counting.counting_arrays import (
        Cache,
        Clauses,
        CountingProblem,
        CountingState,
        Record,
    )

DONE, STOPPED, RUNNING = 0, 1, 4
FULL_CLAUSES, FULL_PILE, FULL_FRAMES, FULL_CACHE, FULL_RECORD = 5, 6, 7, 8, 9  # what must grow first

_LOW = 0x7FFFFFFF
_MIX = 0x7FEB352D  # odd, under 2**31: a product of two such numbers fits 62 bits
_DECIDED = -1

# --- counters ---
LEVEL, TOP, KEY_TOP, TRAIL, HEAD_OF_TRAIL = 0, 1, 2, 3, 4  # frames, pile, keys on the pile, trail, its queue
GIVEN, CLAUSES, LITERALS, FACTS, LATE = 5, 6, 7, 8, 9  # clauses given; clauses, literals, facts, late: used
CACHED, KEYS = 10, 11
NODES, BRANCHES, RECORDED, CHILDREN = 12, 13, 14, 15
STAMP, WORK, CONFLICTS, HITS, RECORDING, STORING, LABELS, CLASH = 16, 17, 18, 19, 20, 21, 22, 23
COUNTERS = 24

# --- columns of a frame ---
F_PART, F_ATOM, F_NEXT, F_FIRST, F_TRAIL, F_CACHED = 0, 1, 2, 3, 4, 5
F_TOP, F_KEY_TOP, F_AT, F_LEFT, F_INSIDE, F_REASON = 6, 7, 8, 9, 10, 11
F_BRANCH, F_LIT, F_LIT_END, F_CHILD, F_SUM, F_PRODUCT = 12, 13, 14, 15, 16, 17
COLUMNS = 18

HEAD = 6  # of a part on the pile: atoms, clauses, where its key is, the key's length, its hash (two words)


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


# --- propagation ---


def _make_true(s, n, literal, reason, level):
    s.value[literal] = 1
    s.value[literal ^ 1] = -1
    s.reason[literal >> 1] = reason
    s.level[literal >> 1] = level
    s.trail[n[TRAIL]] = literal
    n[TRAIL] += 1


def _propagate(p, k, s, n, level):
    """Propagate; -1, or the reason that implies a literal (n[CLASH]) that is already false."""
    while n[HEAD_OF_TRAIL] < n[TRAIL]:
        literal = s.trail[n[HEAD_OF_TRAIL]]
        n[HEAD_OF_TRAIL] += 1
        for j in range(p.follow_at[literal], p.follow_at[literal + 1]):
            then = p.follows[j]
            if s.value[then] == 0:
                _make_true(s, n, then, -2 - literal, level)
            elif s.value[then] < 0:
                n[CLASH] = then
                return -2 - literal
        n[WORK] += 1 + (p.follow_at[literal + 1] - p.follow_at[literal]) // 8
        false = literal ^ 1
        before = -1
        watch = k.watch[false]
        while watch >= 0:
            n[WORK] += 1
            c, mine = watch >> 1, watch & 1
            begin = k.at[c]
            other = k.literals[begin + 1 - mine]
            following = k.next_watch[watch]
            if s.value[other] > 0:
                before, watch = watch, following
                continue
            found = -1
            for j in range(begin + 2, k.at[c + 1]):
                if s.value[k.literals[j]] >= 0:
                    found = j
                    break
            if found >= 0:
                new = k.literals[found]
                k.literals[found] = false
                k.literals[begin + mine] = new
                if before < 0:
                    k.watch[false] = following
                else:
                    k.next_watch[before] = following
                k.next_watch[watch] = k.watch[new]
                k.watch[new] = watch
                watch = following
                continue
            if s.value[other] < 0:
                n[CLASH] = other
                return c
            _make_true(s, n, other, c, level)
            before, watch = watch, following
    return -1


def _undo(s, n, to):
    while n[TRAIL] > to:
        n[TRAIL] -= 1
        literal = s.trail[n[TRAIL]]
        s.value[literal] = 0
        s.value[literal ^ 1] = 0
    n[HEAD_OF_TRAIL] = to


# --- clause learning ---


def _mark(s, n, literal, level, size, marked):
    """Add a false literal to the new clause, or count it if it is of this level; returns both sizes."""
    v = literal >> 1
    here = 0
    if s.seen[v] == 0 and s.level[v] > 0:
        s.seen[v] = 1
        s.marked[marked] = v
        marked += 1
        s.activity[v] += 1.0
        if s.level[v] == level:
            here = 1
        else:
            s.learned[size] = literal
            size += 1
    return here, size, marked


def _redundant(k, s, literal):
    """Whether a literal of the new clause follows from the others."""
    reason = s.reason[literal >> 1]
    if reason == _DECIDED:
        return False
    if reason < 0:
        v = (-2 - reason) >> 1
        return s.seen[v] != 0 or s.level[v] == 0
    for j in range(k.at[reason], k.at[reason + 1]):
        v = k.literals[j] >> 1
        if v != literal >> 1 and s.seen[v] == 0 and s.level[v] > 0:
            return False
    return True


def _analyse(k, s, n, clash, level):
    """Learn a clause from the conflict, in s.learned, with its one literal of this level first.

    Returns its size; 0 if the conflict does not depend on the decision at this level.
    """
    size, marked, here = 1, 0, 0
    more, size, marked = _mark(s, n, n[CLASH], level, size, marked)
    here += more
    reason, at, implied = clash, n[TRAIL], n[CLASH] >> 1
    first = True
    while True:
        if reason >= 0:
            for j in range(k.at[reason], k.at[reason + 1]):
                if k.literals[j] >> 1 != implied:
                    more, size, marked = _mark(s, n, k.literals[j], level, size, marked)
                    here += more
        elif reason != _DECIDED:
            more, size, marked = _mark(s, n, (-2 - reason) ^ 1, level, size, marked)
            here += more
        if first and here == 0:
            for j in range(marked):
                s.seen[s.marked[j]] = 0
            return 0
        first = False
        at -= 1
        v = s.trail[at] >> 1
        while s.seen[v] == 0 or s.level[v] != level:
            at -= 1
            v = s.trail[at] >> 1
        here -= 1
        if here == 0:
            break
        reason, implied = s.reason[v], v
    s.learned[0] = s.trail[at] ^ 1
    kept = 1
    for j in range(1, size):
        if not _redundant(k, s, s.learned[j]):
            s.learned[kept] = s.learned[j]
            kept += 1
    for j in range(marked):
        s.seen[s.marked[j]] = 0
    n[WORK] += marked // 4
    n[CONFLICTS] += 1
    if n[CONFLICTS] % 256 == 0:
        for v in range(s.activity.size):
            s.activity[v] *= 0.5
    return kept


def _watch(k, c):
    for which in range(2):
        literal = k.literals[k.at[c] + which]
        k.next_watch[2 * c + which] = k.watch[literal]
        k.watch[literal] = 2 * c + which


def watch_all(k: Clauses, n: Ints):
    """Watch the first two literals of each clause."""
    for i in range(k.watch.size):
        k.watch[i] = -1
    for c in range(n[CLAUSES]):
        _watch(k, c)


def _keep(k, s, n, size):
    """Store a new clause of this many literals, the first of this level, the others of earlier ones."""
    if size == 1:
        s.facts[n[FACTS]] = s.learned[0]
        n[FACTS] += 1
        return _DECIDED
    latest, spread = 1, 0
    for j in range(1, size):
        level = s.level[s.learned[j] >> 1]
        if level > s.level[s.learned[latest] >> 1]:
            latest = j
        if s.level_seen[level] != n[CONFLICTS]:
            s.level_seen[level] = n[CONFLICTS]
            spread += 1
    s.learned[1], s.learned[latest] = s.learned[latest], s.learned[1]
    c, at = n[CLAUSES], n[LITERALS]
    for j in range(size):
        k.literals[at + j] = s.learned[j]
    k.at[c + 1] = at + size
    k.levels[c] = spread
    n[CLAUSES], n[LITERALS] = c + 1, at + size
    _watch(k, c)
    if n[LATE] < s.late.size:
        s.late[n[LATE]] = c
        n[LATE] += 1
    return c


def forget(k: Clauses, s: CountingState, n: Ints, frames: IntTable, places: Ints32):
    """Drop the least useful half of the learned clauses, but none that is the reason of a literal."""
    first = n[GIVEN]
    for c in range(n[CLAUSES]):
        places[c] = c if c < first else -1
    for i in range(n[TRAIL]):
        reason = s.reason[s.trail[i] >> 1]
        if reason >= first:
            places[reason] = reason
    for level in range(n[LEVEL] + 1):
        if frames[level, F_REASON] >= first:
            places[frames[level, F_REASON]] = frames[level, F_REASON]
    wanted = (n[CLAUSES] - first) // 2
    limit, below, most = 0, 0, 0  # clauses that span fewer decisions stay; how many do
    for c in range(first, n[CLAUSES]):
        most = max(most, k.levels[c])
    while limit <= most:
        same = 0
        for c in range(first, n[CLAUSES]):
            if k.levels[c] == limit:
                same += 1
        if below + same > wanted:
            break
        below += same
        limit += 1
    spared = wanted - below
    for c in range(n[CLAUSES] - 1, first - 1, -1):  # of those that span as many the newer stay
        if k.levels[c] < limit:
            places[c] = c
        elif k.levels[c] == limit and spared > 0:
            places[c] = c
            spared -= 1
    used, literals = first, k.at[first]
    for c in range(first, n[CLAUSES]):
        if places[c] < 0:
            continue
        begin, end = k.at[c], k.at[c + 1]
        for j in range(begin, end):
            k.literals[literals + j - begin] = k.literals[j]
        k.levels[used] = k.levels[c]
        places[c] = used
        k.at[used] = literals  # never past the next clause's own, which is still to be read
        used += 1
        literals += end - begin
    k.at[used] = literals
    n[CLAUSES], n[LITERALS] = used, literals
    for i in range(n[TRAIL]):
        v = s.trail[i] >> 1
        if s.reason[v] >= first:
            s.reason[v] = places[s.reason[v]]
    for level in range(n[LEVEL] + 1):
        if frames[level, F_REASON] >= first:
            frames[level, F_REASON] = places[frames[level, F_REASON]]
    late = 0
    for i in range(n[LATE]):
        if places[s.late[i]] >= 0:
            s.late[late] = places[s.late[i]]
            late += 1
    n[LATE] = late
    watch_all(k, n)


# --- components ---


def _flood(p, k, s, n, v, label):
    """List the connected component of v in s.reached; returns how many atoms and clauses."""
    n_atoms, n_clauses, done = 1, 0, 0
    s.label[v] = label
    s.reached[0] = v
    while done < n_atoms:
        u = s.reached[done]
        done += 1
        degree = 0
        for literal in range(2 * u, 2 * u + 2):
            for j in range(p.follow_at[literal], p.follow_at[literal + 1]):
                if s.value[p.follows[j]] == 0:
                    w = p.follows[j] >> 1
                    degree += 1
                    if s.label[w] < 0:
                        s.label[w] = label
                        s.reached[n_atoms] = w
                        n_atoms += 1
        for j in range(p.occur_at[u], p.occur_at[u + 1]):
            c = p.occurs[j]
            if s.clause_stamp[c] == n[STAMP]:
                if s.clause_label[c] >= 0:
                    degree += 1
                continue
            s.clause_stamp[c] = n[STAMP]
            s.clause_label[c] = -1
            whole = 1
            satisfied = False
            for i in range(k.at[c], k.at[c + 1]):
                value = s.value[k.literals[i]]
                if value > 0:
                    satisfied = True
                    break
                if value < 0:
                    whole = 0
            if satisfied:
                continue
            s.clause_label[c] = label
            s.whole[c] = whole
            n_clauses += 1
            degree += 1
            for i in range(k.at[c], k.at[c + 1]):
                literal = k.literals[i]
                w = literal >> 1
                if s.value[literal] == 0 and s.label[w] < 0:
                    s.label[w] = label
                    s.reached[n_atoms] = w
                    n_atoms += 1
        s.degree[u] = degree
    return n_atoms, n_clauses


def _number(keys, at, x):
    """Write an integer, seven bits to a byte; returns where the next goes."""
    while x >= 128:
        keys[at] = 128 + (x & 127)
        x >>= 7
        at += 1
    keys[at] = x
    return at + 1


def _write_key(s, pile, keys, q, top):
    """Write what determines a component's sum; returns the key's length and hash.

    The key has its atoms, and its clauses with false literals outside. Clauses entirely inside are implied.
    """
    n_atoms, n_clauses = pile[q], pile[q + 1]
    at = _number(keys, top, n_atoms)
    last = -1
    for i in range(q + HEAD, q + HEAD + n_atoms):
        at = _number(keys, at, pile[i] - last)
        last = pile[i]
    last = -1
    for i in range(q + HEAD + n_atoms, q + HEAD + n_atoms + n_clauses):
        if s.whole[pile[i]] == 0:
            at = _number(keys, at, pile[i] - last)
            last = pile[i]
    h = 1
    for i in range(top, at):
        h = (h ^ int(keys[i])) * _MIX
        h = (h ^ (h >> 29)) & _LOW
    return at - top, h


def _cached(c, keys, key, length, h):
    """The index of a component in the cache, or -1."""
    last = c.slots.size - 1
    i = h & last
    while c.slots[i] >= 0:
        e = c.slots[i]
        if c.hash[e] == h and c.length[e] == length:
            same, at = True, c.at[e]
            for j in range(length):
                if c.keys[at + j] != keys[key + j]:
                    same = False
                    break
            if same:
                return e
        i = (i + 1) & last
    return -1


def _note(d, n, literal, share):
    t = n[RECORDED]
    d.lit[t], d.lit_share[t] = literal, share
    n[RECORDED] = t + 1


def _note_free(p, d, n, v):
    for literal in range(2 * v, 2 * v + 2):
        power = max(-2000, min(2000, p.exponent[literal] - p.free_exponent[v]))
        _note(d, n, literal, math.ldexp(p.mantissa[literal] / p.free_mantissa[v], int(power)))


def _split(p, k, c, s, d, n, frames, mantissas, pile, keys):
    """Find the components that this branch leaves, and look each up in the cache: 0, or what is full."""
    level = n[LEVEL]
    q = frames[level, F_PART]
    n_atoms, n_clauses = pile[q], pile[q + 1]
    first_clause = q + HEAD + n_atoms
    top, key_top = n[TOP], n[KEY_TOP]
    if (
        top + (HEAD + 1) * n_atoms + n_clauses > pile.size
        or key_top + 5 * (2 * n_atoms + n_clauses) > keys.size
    ):
        return FULL_PILE
    if n[RECORDING] != 0 and (
        n[RECORDED] + 2 * n_atoms > d.lit.size or n[CHILDREN] + n_atoms > d.child_node.size
    ):
        return FULL_RECORD
    n[WORK] += (n_atoms + n_clauses) // 2
    frames[level, F_CHILD] = -1
    frames[level, F_LIT] = n[RECORDED]
    pm, pe = 0.5, 1
    for i in range(q + HEAD, first_clause):
        s.label[pile[i]] = -1
    n[STAMP] += 1
    first_label = n[LABELS]
    n_parts, left = 0, 0
    for i in range(q + HEAD, first_clause):
        v = pile[i]
        value = s.value[2 * v]
        if value != 0:
            literal = 2 * v if value > 0 else 2 * v + 1
            pm, pe = _times(pm, pe, p.mantissa[literal], p.exponent[literal])
            if n[RECORDING] != 0:
                _note(d, n, literal, 1.0)
        elif s.label[v] < 0:
            atoms, clauses = _flood(p, k, s, n, v, first_label + n_parts)
            n[WORK] += (atoms + clauses) // 2
            s.part[n_parts] = -1
            if atoms == 1:
                pm, pe = _times(pm, pe, p.free_mantissa[v], p.free_exponent[v])
                if n[RECORDING] != 0:
                    _note_free(p, d, n, v)
            else:
                s.part[n_parts] = top
                pile[top], pile[top + 1], pile[top + 3] = 0, 0, 0
                pile[top + 2] = atoms  # where its clauses will begin
                top += HEAD + atoms + clauses
                left += 1
            n_parts += 1
    frames[level, F_LIT_END] = n[RECORDED]
    for i in range(q + HEAD, first_clause):  # in the order of the numbers, as the lists above are
        v = pile[i]
        r = s.part[s.label[v] - first_label] if s.value[2 * v] == 0 else -1
        if r >= 0:
            pile[r + HEAD + pile[r]] = v
            pile[r] += 1
    for i in range(first_clause, first_clause + n_clauses):
        f = pile[i]
        if s.clause_stamp[f] == n[STAMP] and s.clause_label[f] >= 0:
            r = s.part[s.clause_label[f] - first_label]
            if r >= 0:
                pile[r + HEAD + pile[r + 2] + pile[r + 1]] = f
                pile[r + 1] += 1
    n[LABELS] = first_label + n_parts  # never used again
    frames[level, F_AT] = n[TOP]
    for j in range(n_parts):
        r = s.part[j]
        if r < 0:
            continue
        length, h = _write_key(s, pile, keys, r, key_top)
        e = _cached(c, keys, key_top, length, h)
        if e < 0:
            pile[r + 2], pile[r + 3], pile[r + 4] = key_top, length, h
            key_top += length
            continue
        n[HITS] += 1
        c.used[e] = 1
        pile[r + 3] = -1
        pm, pe = _times(pm, pe, c.mantissa[e], c.exponent[e])
        if n[RECORDING] != 0:
            _add_child(d, n, frames, c.node[e])
    n[TOP], n[KEY_TOP] = top, key_top
    frames[level, F_LEFT] = left
    mantissas[level, 1], frames[level, F_PRODUCT] = pm, pe
    return 0


def _add_child(d, n, frames, node):
    t = n[CHILDREN]
    d.child_node[t] = node
    d.child_next[t] = frames[n[LEVEL], F_CHILD]
    frames[n[LEVEL], F_CHILD] = t
    n[CHILDREN] = t + 1


def _choose(p, s, pile, q):
    """The atom of a component to try first: by its place in the tree, its clauses and its conflicts."""
    best, found = -1.0, -1
    for i in range(q + HEAD, q + HEAD + pile[q]):
        v = pile[i]
        score = p.score[v] + s.activity[v] + s.degree[v]
        if score > best:
            best, found = score, v
    return found


def _open_frame(frames, mantissas, n, level, q, v):
    n[LEVEL] = level
    frames[level, F_PART], frames[level, F_ATOM], frames[level, F_NEXT] = q, v, 0
    frames[level, F_TRAIL], frames[level, F_CACHED] = n[TRAIL], n[CACHED]
    frames[level, F_TOP], frames[level, F_KEY_TOP] = n[TOP], n[KEY_TOP]
    frames[level, F_INSIDE], frames[level, F_LEFT], frames[level, F_BRANCH] = 0, 0, -1
    frames[level, F_REASON] = _DECIDED
    mantissas[level, 0], frames[level, F_SUM] = 0.0, 0


# --- the search ---


def begin(
    p: CountingProblem, s: CountingState, n: Ints, frames: IntTable, mantissas: FloatTable, pile: Ints32
):
    """Set up a search over everything; the pile has room for that."""
    _undo(s, n, 0)
    n_atoms, n_clauses = p.score.size, n[GIVEN]
    n[TOP], n[KEY_TOP], n[LATE] = 0, 0, 0
    for v in range(n_atoms):
        pile[HEAD + v] = v
    for c in range(n_clauses):
        pile[HEAD + n_atoms + c] = c
    pile[0], pile[1] = n_atoms, n_clauses
    n[TOP] = HEAD + n_atoms + n_clauses
    _open_frame(frames, mantissas, n, 0, 0, -1)


def _forget_since(c, n, before):
    """Drop the components that were cached last, so that this many stay."""
    last = c.slots.size - 1
    while n[CACHED] > before:
        n[CACHED] -= 1
        e = n[CACHED]
        n[KEYS] = c.at[e]
        i = c.hash[e] & last
        while c.slots[i] != e:
            i = (i + 1) & last
        c.slots[i] = -1  # no later entry can have probed past this slot


def _follow_up(p, k, s, n, level):
    """Propagate clauses that were learned since; False on a conflict."""
    for i in range(n[FACTS]):
        literal = s.facts[i]
        if s.value[literal] < 0:
            return False
        if s.value[literal] == 0:
            _make_true(s, n, literal, _DECIDED, 0)
    kept = 0
    for i in range(n[LATE]):
        c = s.late[i]
        at = k.at[c]
        mine, other = k.literals[at], k.literals[at + 1]
        if s.value[mine] < 0:
            mine, other = other, mine
        if s.value[other] >= 0:
            continue  # both are open again: from now on it is watched as others are
        s.late[kept] = c
        kept += 1
        if s.value[mine] == 0:
            alone = True
            for j in range(at + 2, k.at[c + 1]):
                if s.value[k.literals[j]] >= 0:
                    alone = False
                    break
            if alone:
                _make_true(s, n, mine, c, level)
    n[LATE] = kept
    return True


def _try(p, k, c, s, d, n, frames, mantissas, pile, keys, assumed):
    """Give the frame's atom a value and propagate: 0, 1 for nothing possible, or what is full."""
    level = n[LEVEL]
    if frames[level, F_ATOM] >= 0:
        if 2 * (n[CLAUSES] + 1) + 2 > k.next_watch.size or n[LITERALS] + s.label.size > k.literals.size:
            return FULL_CLAUSES
        literal = frames[level, F_FIRST] ^ frames[level, F_NEXT]
        _make_true(s, n, literal, frames[level, F_REASON], level + 1)
        frames[level, F_REASON] = _DECIDED
    else:
        for i in range(assumed.size):
            if s.value[assumed[i]] < 0:
                _undo(s, n, frames[level, F_TRAIL])
                return 1
            if s.value[assumed[i]] == 0:
                _make_true(s, n, assumed[i], _DECIDED, level + 1)
    status = 0
    reason = _DECIDED
    if not _follow_up(p, k, s, n, level + 1):
        status = 1
    else:
        clash = _propagate(p, k, s, n, level + 1)
        if clash != -1:
            status = 1
            if frames[level, F_ATOM] >= 0:
                size = _analyse(k, s, n, clash, level + 1)
                if size > 0:
                    made = _keep(k, s, n, size)
                    if s.learned[0] >> 1 == frames[level, F_ATOM]:
                        reason = made
    if status == 0:
        status = _split(p, k, c, s, d, n, frames, mantissas, pile, keys)
        if status == 0:
            return 0
    _undo(s, n, frames[level, F_TRAIL])
    if status == 1:
        frames[level, F_REASON] = reason
    return status


def advance(
    p: CountingProblem,
    k: Clauses,
    c: Cache,
    s: CountingState,
    d: Record,
    n: Ints,
    frames: IntTable,
    mantissas: FloatTable,
    pile: Ints32,
    keys: Bytes,
    assumed: Ints32,
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
                    v = _choose(p, s, pile, q)
                    _open_frame(frames, mantissas, n, level + 1, q, v)
                    frames[level + 1, F_FIRST] = 2 * v
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
            else:
                _forget_since(c, n, frames[level, F_CACHED])
            frames[level, F_CACHED] = n[CACHED]
            _undo(s, n, frames[level, F_TRAIL])
            n[TOP], n[KEY_TOP] = frames[level, F_TOP], frames[level, F_KEY_TOP]
            frames[level, F_INSIDE] = 0
            frames[level, F_NEXT] += 1
            continue
        v = frames[level, F_ATOM]
        if frames[level, F_NEXT] < (1 if v < 0 else 2):
            status = _try(p, k, c, s, d, n, frames, mantissas, pile, keys, assumed)
            if status == 0:
                frames[level, F_INSIDE] = 1
            elif status == 1:
                frames[level, F_NEXT] += 1
            else:
                return status
            continue
        # Both values were tried.
        sm, se = mantissas[level, 0], frames[level, F_SUM]
        q = frames[level, F_PART]
        node = -1
        store = v >= 0 and n[STORING] != 0 and sm != 0.0  # a zero may be due to a sibling component
        if n[RECORDING] != 0 and (n[NODES] >= d.node_branch.size or n[CHILDREN] >= d.child_node.size):
            return FULL_RECORD
        if store:
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
        if store:
            _store(c, n, pile, keys, q, sm, se, node)
        n[LEVEL] = level - 1
        up = level - 1
        mantissas[up, 1], frames[up, F_PRODUCT] = _times(mantissas[up, 1], frames[up, F_PRODUCT], sm, se)
        if sm == 0.0:
            frames[up, F_LEFT] = 0
        elif n[RECORDING] != 0:
            _add_child(d, n, frames, node)


def _store(c, n, pile, keys, q, sm, se, node):
    e, at = n[CACHED], n[KEYS]
    length = pile[q + 3]
    for j in range(length):
        c.keys[at + j] = keys[pile[q + 2] + j]
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


def sweep(c: Cache, n: Ints, frames: IntTable):
    """Drop half of the cache: the older half, except entries used since the last sweep."""
    total, room = n[CACHED], c.keys.size // 4
    kept, at, level = 0, 0, 0
    n_keys = n[KEYS]
    for e in range(total):
        while level <= n[LEVEL] and frames[level, F_CACHED] <= e:
            frames[level, F_CACHED] = kept
            level += 1
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
    while level <= n[LEVEL]:
        frames[level, F_CACHED] = kept
        level += 1
    n[CACHED], n[KEYS] = kept, at
    for i in range(c.slots.size):
        c.slots[i] = -1
    for e in range(kept):
        _link(c, e)


def shares(d: Record, n: Ints, flow: Floats, out: Floats):
    """The probability of each literal: what flows from the whole down through the recorded branches."""
    last = n[NODES] - 1
    for j in range(last + 1):
        flow[j] = 0.0
    flow[last] = 1.0
    for j in range(last, -1, -1):
        if flow[j] == 0.0:
            continue
        b = d.node_branch[j]
        while b >= 0:
            power = max(-2000, min(2000, d.branch_exponent[b] - d.node_exponent[j]))
            x = flow[j] * math.ldexp(d.branch_mantissa[b] / d.node_mantissa[j], int(power))
            for t in range(d.branch_lit[b], d.branch_lit_end[b]):
                out[d.lit[t]] += x * d.lit_share[t]
            t = d.branch_child[b]
            while t >= 0:
                flow[d.child_node[t]] += x
                t = d.child_next[t]
            b = d.branch_next[b]


# --- before the search ---


def probe(p: CountingProblem, k: Clauses, s: CountingState, n: Ints, units: Ints32, at: int, work: int):
    """Try each literal from index `at` on: if it cannot be true its negation is a fact.

    Facts and their consequences stay on the trail; `units` come first. Returns where to go on; -1: nothing is
    possible.
    """
    limit = n[WORK] + work
    for literal in units:
        if s.value[literal] < 0:
            return -1
        if s.value[literal] == 0:
            _make_true(s, n, literal, _DECIDED, 0)
    if _propagate(p, k, s, n, 0) != -1:
        return -1
    while at < s.value.size and n[WORK] <= limit:
        if s.value[at] == 0 and p.follow_at[at + 1] > p.follow_at[at]:
            before = n[TRAIL]
            _make_true(s, n, at, _DECIDED, 1)
            clash = _propagate(p, k, s, n, 1)
            _undo(s, n, before)
            if clash != -1:
                _make_true(s, n, at ^ 1, _DECIDED, 0)
                if _propagate(p, k, s, n, 0) != -1:
                    return -1
        at += 1
    return at
