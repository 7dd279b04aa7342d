"""Bounds by moving costs between factors and variables, and the search that they guide: the loops.

Costs are integers, so nothing is rounded and every step can be undone exactly. The remaining costs of factors
and variables are never negative; what has been moved to the `floor` is a lower bound on the cost of any
states. Everything that changes lies in one array `w`, so that one trail undoes it: each open state's cost,
then what each factor gave along each axis, then which states are open, how many each variable has left, and
the floor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgm.runtime.kinds import Bytes, Ints

if TYPE_CHECKING:
    from pgm.inference.engines.branching.branching_arrays import BranchingProblem, BranchingState

DONE, PAUSED, LEFT = 0, 1, 2  # how a search ends
FORBIDDEN = 1 << 61  # the cost of a row that is zero; twice this does not overflow
TRAIL, STAMP, LEVELS, BEST, WORK, FAILS, IMPROVED, SIGNIFICANT, WANTED, KEPT, SLACK = range(
    11
)  # places in `n`
_PASSES = 6  # over what has changed, after each decision


def _put(w, stamp, trail_at, trail_old, n, i, value):
    """Set one entry of the state, and save the old value unless this level has saved it already.

    The arrays come one by one because counting their users, out of a tuple, takes longer than the rest.
    """
    if stamp[i] != n[STAMP]:
        stamp[i] = n[STAMP]
        trail_at[n[TRAIL]] = i
        trail_old[n[TRAIL]] = w[i]
        n[TRAIL] += 1
    w[i] = value


def _undo(s, mark):
    """Undo everything since the trail had this length."""
    n = s.n
    for i in range(n[TRAIL] - 1, mark - 1, -1):
        s.w[s.trail_at[i]] = s.trail_old[i]
    n[TRAIL] = mark


def _new_level(s):
    """Begin a new level: entries are saved again."""
    s.n[STAMP] += 1


def _lowest(p, s, axis):
    """Write to `s.low` the least remaining cost of the factor for each state of the axis's variable."""
    f = p.owner[axis]
    begin, width = p.scope_at[f], p.scope_at[f + 1] - p.scope_at[f]
    w, low, values = s.w, s.low, p.values
    for x in range(p.cards[p.scopes[axis]]):
        low[x] = FORBIDDEN
    inner = begin + width - 1
    v, mine = p.scopes[inner], axis - begin
    card, given, is_open = p.cards[v], p.given_at + p.message_at[inner], p.open_at + p.state_at[v]
    # All but the last two axes are enumerated by counters; these two are loops.
    u = p.scopes[inner - 1]
    card_2, given_2 = p.cards[u], p.given_at + p.message_at[inner - 1]
    is_open_2, step_2 = p.open_at + p.state_at[u], p.stride[inner - 1]
    n_outer = width - 2
    place = s.place
    for d in range(n_outer):
        place[d] = 0
    while True:
        row, cost, here = p.table[f], 0, True
        for d in range(n_outer):
            a, x = begin + d, place[d]
            if w[p.open_at + p.state_at[p.scopes[a]] + x] == 0:
                here = False
                break
            row += x * p.stride[a]
            cost += w[p.given_at + p.message_at[a] + x]
        if here:
            for y in range(card_2):
                if w[is_open_2 + y] == 0:
                    continue
                at = row + y * step_2
                more = cost + w[given_2 + y]
                least = FORBIDDEN
                for x in range(card):
                    if w[is_open + x] != 0 and values[at + x] < FORBIDDEN:
                        value = values[at + x] - more - w[given + x]
                        if mine == n_outer + 1:
                            low[x] = min(low[x], value)
                        elif value < least:
                            least = value
                if mine == n_outer:
                    low[y] = min(low[y], least)
                elif mine < n_outer:
                    low[place[mine]] = min(low[place[mine]], least)
        d = n_outer - 1
        while d >= 0:
            place[d] += 1
            if place[d] < p.cards[p.scopes[begin + d]]:
                break
            place[d] = 0
            d -= 1
        if d < 0:
            break


def _close(p, s, v, x):
    """Close a state of a variable, but never the last one."""
    w, stamp, trail_at, trail_old, n = s.w, s.stamp, s.trail_at, s.trail_old, s.n
    _put(w, stamp, trail_at, trail_old, n, p.open_at + p.state_at[v] + x, 0)
    _put(w, stamp, trail_at, trail_old, n, p.left_at + v, w[p.left_at + v] - 1)


def _reach(p, s, axis, forward):
    """1 if the factor has an open variable that comes later on this way, 2 if an earlier one, 3 if both."""
    f, v = p.owner[axis], p.scopes[axis]
    found = 0
    for b in range(p.scope_at[f], p.scope_at[f + 1]):
        u = p.scopes[b]
        if b != axis and s.w[p.left_at + u] > 1:
            found |= 1 if (p.rank[u] > p.rank[v]) == forward else 2
    return found


def _touch(p, s, axis):
    """Mark the other variables of a factor to be visited."""
    f = p.owner[axis]
    for b in range(p.scope_at[f], p.scope_at[f + 1]):
        if b != axis:
            s.dirty[p.scopes[b]] = 1


def _visit(p, s, v, forward):
    """Collect from all factors of a variable, raise the floor, share what is left among factors ahead.

    Returns whether anything may still be better than the best known states.
    """
    w, stamp, trail_at, trail_old, n = s.w, s.stamp, s.trail_at, s.trail_old, s.n
    low, reached, owner, rows, message_at = s.low, s.ahead, p.owner, p.rows, p.message_at
    given_at, open_at, left_at, floor_at = p.given_at, p.open_at, p.left_at, p.floor_at
    begin, card, best = p.state_at[v], p.cards[v], n[BEST]
    users, first, last = p.users, p.user_at[v], p.user_at[v + 1]
    closed = False
    for i in range(first, last):
        a = users[i]
        _lowest(p, s, a)
        n[WORK] += rows[owner[a]]
        given = given_at + message_at[a]
        for x in range(card):
            if w[open_at + begin + x] == 0 or low[x] == 0:
                continue
            if low[x] == FORBIDDEN:
                if w[left_at + v] == 1:
                    return False
                _close(p, s, v, x)
                closed = True
            else:
                _put(w, stamp, trail_at, trail_old, n, begin + x, w[begin + x] + low[x])
                _put(w, stamp, trail_at, trail_old, n, given + x, w[given + x] + low[x])
    least = FORBIDDEN
    for x in range(card):
        if w[open_at + begin + x] != 0:
            least = min(least, w[begin + x])
    floor = w[floor_at] + least
    if floor >= best:
        return False
    if least > 0:
        _put(w, stamp, trail_at, trail_old, n, floor_at, floor)
    for x in range(card):
        if w[open_at + begin + x] != 0:
            if least > 0:
                _put(w, stamp, trail_at, trail_old, n, begin + x, w[begin + x] - least)
            if floor + w[begin + x] >= best:
                _close(p, s, v, x)
                closed = True
    if closed:
        for i in range(first, last):
            _touch(p, s, users[i])
        if w[left_at + v] == 1:
            s.dirty[v] = 1
    if w[left_at + v] == 1:
        return True
    ahead, behind = 0, 0
    for i in range(first, last):
        reach = _reach(p, s, users[i], forward)
        reached[i] = reach & 1
        ahead += reach & 1
        behind += reach >> 1
    if ahead == 0:
        return True
    parts, most = max(ahead, behind), 0
    for x in range(card):
        if w[open_at + begin + x] == 0:
            continue
        share = w[begin + x] // parts
        if share == 0:
            continue
        most = max(most, share)
        _put(w, stamp, trail_at, trail_old, n, begin + x, w[begin + x] - share * ahead)
        for i in range(first, last):
            if reached[i] != 0:
                at = given_at + message_at[users[i]] + x
                _put(w, stamp, trail_at, trail_old, n, at, w[at] - share)
    if most > n[SIGNIFICANT]:
        for i in range(first, last):
            if reached[i] != 0:
                _touch(p, s, users[i])
    return True


def _propagate(p, s, passes):
    """Visit the variables marked as changed, forwards and backwards; False if nothing better is left."""
    n, n_variables = s.n, p.cards.size
    gap = n[BEST] - s.w[p.floor_at]
    n[SIGNIFICANT] = gap >> 7 if n[BEST] < FORBIDDEN else p.grain
    for k in range(passes):
        any_dirty = False
        for i in range(n_variables):
            v = p.order[i] if k % 2 == 0 else p.order[n_variables - 1 - i]
            if s.dirty[v] != 0:
                s.dirty[v] = 0
                any_dirty = True
                if not _visit(p, s, v, k % 2 == 0):
                    s.weight[v] += 1.0
                    for j in range(p.user_at[v], p.user_at[v + 1]):
                        f = p.owner[p.users[j]]
                        for b in range(p.scope_at[f], p.scope_at[f + 1]):
                            s.weight[p.scopes[b]] += 0.2
                    s.dirty[:] = 0
                    return False
        if not any_dirty:
            break
    s.dirty[:] = 0
    n[WORK] += n_variables
    return True


def _keep(p, s, states, total):
    """Keep these states if they are among the best wanted, or equal to the last of them.

    A cost must stay below `n[BEST]`. If too many are equal only the first to come are kept.
    """
    n = s.n
    if total >= n[BEST]:
        return
    for i in range(n[KEPT]):
        if s.kept_cost[i] == total:
            same = True
            for v in range(p.cards.size):
                if s.kept[i, v] != states[v]:
                    same = False
                    break
            if same:
                return
    if n[KEPT] == s.kept_cost.size:
        if n[WANTED] > 1:
            n[SLACK] = 0
        i = n[KEPT] - 1
        if total >= s.kept_cost[i]:
            n[BEST] = s.kept_cost[n[WANTED] - 1]
            return
    else:
        i = n[KEPT]
        n[KEPT] += 1
    while i > 0 and s.kept_cost[i - 1] > total:
        s.kept_cost[i] = s.kept_cost[i - 1]
        s.kept[i] = s.kept[i - 1]
        i -= 1
    s.kept_cost[i] = total
    for v in range(p.cards.size):
        s.kept[i, v] = states[v]
        if i == 0:
            s.best[v] = states[v]
    n[IMPROVED] += 1
    if n[KEPT] >= n[WANTED]:
        n[BEST] = s.kept_cost[n[WANTED] - 1] + n[SLACK]


def keep(p: BranchingProblem, s: BranchingState, states: Ints, total: int):
    """Keep states that were found elsewhere, if they are good enough."""
    _keep(p, s, states, total)


def _assess(p, s):
    """Choose the cheapest states, keep them if they are the best so far, and choose where to branch.

    Returns the variable, or -1 when no states of this part are better than these.
    """
    w, n, states = s.w, s.n, s.states
    n_variables = p.cards.size
    for v in range(n_variables):
        at, kept = p.state_at[v], s.best[v]
        found = -1
        if n[BEST] < FORBIDDEN and w[p.open_at + at + kept] != 0 and w[at + kept] == 0:
            found = kept
        else:
            for x in range(p.cards[v]):
                if w[p.open_at + at + x] != 0 and (found < 0 or w[at + x] < w[at + found]):
                    found = x
        states[v] = found
    s.score[:] = 0.0
    floor = w[p.floor_at]
    total = floor
    gap = float(n[BEST] - floor)
    possible, where = True, -1
    for v in range(n_variables):  # adds 0, unless the passes were stopped halfway
        total += w[p.state_at[v] + states[v]]
    for f in range(p.scope_at.size - 1):
        row, rest = p.table[f], 0
        for a in range(p.scope_at[f], p.scope_at[f + 1]):
            x = states[p.scopes[a]]
            row += x * p.stride[a]
            rest += w[p.given_at + p.message_at[a] + x]
        if p.values[row] >= FORBIDDEN:
            possible = False
            much = 1.0
        else:
            rest = p.values[row] - rest
            total += rest
            if rest == 0:
                continue
            much = min(1.0, rest / gap)
        for a in range(p.scope_at[f], p.scope_at[f + 1]):
            if w[p.left_at + p.scopes[a]] > 1:
                s.score[p.scopes[a]] += much
    if possible:
        _keep(p, s, states, total)
    most = 0.0
    for v in range(n_variables):
        if s.score[v] > 0.0:
            score = s.score[v] * s.weight[v]
            if score > most:
                most = score
                where = v
    n[WORK] += 4 * p.scopes.size
    if possible and total == floor:
        where = -1
    if where < 0 and n[WANTED] > 1:  # others that are equally good, or nearly, may be wanted too
        for v in range(n_variables):
            if w[p.left_at + v] > 1:
                return v
    return where


def _fix(p, s, v, state):
    """Leave a variable one state."""
    for x in range(p.cards[v]):
        if x != state and s.w[p.open_at + p.state_at[v] + x] != 0:
            _close(p, s, v, x)
    s.dirty[v] = 1
    for i in range(p.user_at[v], p.user_at[v + 1]):
        _touch(p, s, p.users[i])


def _decide(p, s, code):
    """Fix a state (even codes) or close it (odd ones); False where that leaves nothing."""
    v, x = p.owner_of_state[code // 2], code // 2 - p.state_at[p.owner_of_state[code // 2]]
    is_open = s.w[p.open_at + code // 2] != 0
    if code % 2 == 0:
        if not is_open:
            return False
        if s.w[p.left_at + v] > 1:
            _fix(p, s, v, x)
    elif is_open:
        if s.w[p.left_at + v] == 1:
            return False
        _close(p, s, v, x)
        s.dirty[v] = 1
        for i in range(p.user_at[v], p.user_at[v + 1]):
            _touch(p, s, p.users[i])
    return True


def sweep(p: BranchingProblem, s: BranchingState, place: int, work: int):
    """Raise the floor permanently by a pass forwards and one backwards.

    Begins at `place` and stops after this much work. Returns where to continue, 0 at the end, or -1 if
    nothing better than the best known states is left.
    """
    m = p.cards.size
    until = s.n[WORK] + work
    _undo(s, 0)
    while place < 2 * m:
        v = p.order[place] if place < m else p.order[2 * m - 1 - place]
        _new_level(s)
        good = _visit(p, s, v, place < m)
        s.n[TRAIL] = 0
        place += 1
        if not good:
            return -1
        if s.n[WORK] >= until:
            return place
    s.dirty[:] = 0
    return 0


def assess(p: BranchingProblem, s: BranchingState):
    """Round to states, once; those are kept if they are the best so far."""
    return _assess(p, s)


def _leader(together, i):
    """The first of those that were joined with this one."""
    while together[i] != i:
        together[i] = together[together[i]]
        i = together[i]
    return i


def forest(p: BranchingProblem, order: Ints, together: Ints, mark: Ints, freed: Bytes):
    """Mark variables, in this order, as long as factors link them without a loop.

    `together` and `mark` are work space for each variable and each factor.
    """
    mark[:] = 0
    m = p.cards.size
    for i in range(together.size):
        together[i] = i
    for v in order:
        loop = False
        first, last = p.user_at[v], p.user_at[v + 1]
        for i in range(first, last):  # are two of its factors already connected?
            f = _leader(together, p.owner[p.users[i]] + m)
            if mark[f] == v + 1:
                loop = True
                break
            mark[f] = v + 1
        if not loop:
            freed[v] = 1
            for i in range(first, last):
                together[_leader(together, p.owner[p.users[i]] + m)] = v


def _lowest_beside(p, s, axis, only, freed, costs):
    """For each state of the axis's variable the least cost of its factor and of what hangs below it.

    Variables that are not freed stay as in `s.best`. With one state only (not -1), the others' states that
    go with it best are written to `s.best`.
    """
    f, v = p.owner[axis], p.scopes[axis]
    begin, end = p.scope_at[f], p.scope_at[f + 1]
    place, low, best = s.place, s.low, s.best
    for x in range(p.cards[v]):
        low[x] = FORBIDDEN
        if only >= 0 and x != only:
            continue
        for b in range(begin, end):
            u = p.scopes[b]
            place[b - begin] = x if b == axis else 0 if freed[u] != 0 else best[u]
        while True:
            row, below = p.table[f], 0
            for b in range(begin, end):
                row += place[b - begin] * p.stride[b]
                if b != axis and freed[p.scopes[b]] != 0:
                    below = min(below + costs[p.state_at[p.scopes[b]] + place[b - begin]], FORBIDDEN)
            cost = FORBIDDEN
            if p.values[row] < FORBIDDEN and below < FORBIDDEN:
                cost = p.values[row] + below
            if cost < low[x]:
                low[x] = cost
                if only >= 0:
                    for b in range(begin, end):
                        s.row[b - begin] = place[b - begin]
            b = end - 1
            while b >= begin:
                u = p.scopes[b]
                if b != axis and freed[u] != 0:
                    place[b - begin] += 1
                    if place[b - begin] < p.cards[u]:
                        break
                    place[b - begin] = 0
                b -= 1
            if b < begin:
                break
        if only >= 0 and low[x] < FORBIDDEN:
            for b in range(begin, end):
                if b != axis and freed[p.scopes[b]] != 0:
                    best[p.scopes[b]] = s.row[b - begin]


def solve_forest(
    p: BranchingProblem, s: BranchingState, freed: Bytes, queue: Ints, hanging: Ints, costs: Ints
):
    """Give the freed variables, which form no loop, their best states given the others' in `s.best`.

    `queue`, `hanging` and `costs` are work space for each variable, factor and state.
    """
    head, tail, n_hanging = 0, 0, 0
    best, n = s.best, s.n
    for root in range(p.cards.size):
        if freed[root] != 1:
            continue
        freed[root] = 2
        queue[tail] = root
        tail += 1
        while head < tail:
            v = queue[head]
            head += 1
            for x in range(p.state_at[v], p.state_at[v + 1]):
                costs[x] = p.own[x]
            for i in range(p.user_at[v], p.user_at[v + 1]):
                a = p.users[i]
                f = p.owner[a]
                above = False  # the factor that v hangs from
                for b in range(p.scope_at[f], p.scope_at[f + 1]):
                    if b != a and freed[p.scopes[b]] == 3:
                        above = True
                if above:
                    continue
                hanging[n_hanging] = a
                n_hanging += 1
                for b in range(p.scope_at[f], p.scope_at[f + 1]):
                    u = p.scopes[b]
                    if freed[u] == 1:
                        freed[u] = 2
                        queue[tail] = u
                        tail += 1
            freed[v] = 3
    for h in range(n_hanging - 1, -1, -1):
        a = hanging[h]
        at = p.state_at[p.scopes[a]]
        _lowest_beside(p, s, a, -1, freed, costs)
        for x in range(p.cards[p.scopes[a]]):
            costs[at + x] = min(costs[at + x] + s.low[x], FORBIDDEN)
        n[WORK] += p.rows[p.owner[a]]
    for i in range(tail):  # roots choose first, and so on down
        freed[queue[i]] = 1
    for h in range(n_hanging):
        a = hanging[h]
        v = p.scopes[a]
        if freed[v] == 1:
            _choose(p, s, v, costs)
            freed[v] = 2
        _lowest_beside(p, s, a, best[v], freed, costs)
        f = p.owner[a]
        for b in range(p.scope_at[f], p.scope_at[f + 1]):
            if freed[p.scopes[b]] == 1:
                freed[p.scopes[b]] = 2
    for i in range(tail):
        if freed[queue[i]] == 1:  # in no factor
            _choose(p, s, queue[i], costs)
    total = 0
    for v in range(p.cards.size):
        total += p.own[p.state_at[v] + best[v]]
    for f in range(p.scope_at.size - 1):
        row = p.table[f]
        for a in range(p.scope_at[f], p.scope_at[f + 1]):
            row += best[p.scopes[a]] * p.stride[a]
        total += p.values[row]
    n[WORK] += p.scopes.size
    _keep(p, s, best, total)


def _choose(p, s, v, costs):
    at = p.state_at[v]
    for x in range(p.cards[v]):
        if costs[at + x] < costs[at + s.best[v]]:
            s.best[v] = x


def search(p: BranchingProblem, s: BranchingState, path: Ints, fails: int, work: int):
    """Search below the decisions of `path`, depth first: `DONE`, or why it stopped.

    `PAUSED` after this much work and at least one decision: it may continue. `LEFT` after this many dead
    ends, or when the trail is full. The decisions on the stack then define what is open: each one that is not
    flipped has another side that has not been explored, and the last stands for itself.
    """
    n = s.n
    _undo(s, 0)
    n[LEVELS] = 0
    n[FAILS] = 0
    _new_level(s)
    good = True
    for code in path:
        if not _decide(p, s, code):
            good = False
            break
    if good:
        good = _propagate(p, s, _PASSES)
    s.dirty[:] = 0
    n[WORK] += p.cards.size
    s.floors[0] = s.w[p.floor_at]
    return _descend(p, s, good, fails, n[WORK] + work)


def go_on(p: BranchingProblem, s: BranchingState, fails: int, work: int):
    """Continue a paused search."""
    return _descend(p, s, True, fails, s.n[WORK] + work)


def _descend(p, s, good, fails, until):
    n = s.n
    decided = False
    while True:
        if good:
            v = _assess(p, s)
            level = n[LEVELS]
            if v >= 0 and s.w[p.floor_at] < n[BEST]:
                s.floors[level] = s.w[p.floor_at]
                full = n[TRAIL] + 2 * s.w.size > s.trail_at.size or level == s.decisions.size
                if n[FAILS] >= fails or full:
                    return LEFT
                if n[WORK] >= until and decided:
                    return PAUSED
                decided = True
                s.decisions[level] = 2 * (p.state_at[v] + s.states[v])
                s.marks[level] = n[TRAIL]
                n[LEVELS] = level + 1
                _new_level(s)
                good = _decide(p, s, s.decisions[level]) and _propagate(p, s, _PASSES)
                s.dirty[:] = 0
                continue
        n[FAILS] += 1
        while n[LEVELS] > 0 and s.decisions[n[LEVELS] - 1] % 2 == 1:
            n[LEVELS] -= 1
        if n[LEVELS] == 0:
            _undo(s, 0)
            return DONE
        level = n[LEVELS] - 1
        _undo(s, s.marks[level])
        _new_level(s)
        s.decisions[level] += 1
        good = s.w[p.floor_at] < n[BEST]
        if good:
            good = _decide(p, s, s.decisions[level]) and _propagate(p, s, _PASSES)
            s.dirty[:] = 0
