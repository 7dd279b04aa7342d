"""Minimum cuts, and algorithms based on them: the loops. Capacities are integers, so nothing is rounded.

A graph is kept by arcs: those that leave node v are first[v] .. first[v + 1], arc a leads to head[a], and
sister[a] is the same arc the other way round. `excess[v]` is the residual capacity of the arc from the source
to v or, if negative, of that from v to the sink.
"""

from __future__ import annotations

import numpy as np

from pgm.runtime.kinds import Bytes, Flag, Floats, Ints, Ints32

DONE, STOPPED = 0, 1  # as in pgm/inference/trees/sweeps/compiled.py
FREE, SOURCE, SINK = 0, 1, 2  # which tree a node is in, and at the end on which side of the cut
ENDLESS = 1 << 62  # a capacity that no flow uses up; an energy that is not allowed
_TERMINAL, _ORPHAN, _NONE = -1, -2, -3  # in place of the arc to a parent
_FAR = 1 << 60


def link(n: int, left: Ints32, right: Ints32):
    """The arcs of a graph with these pairs of nodes; `forward[i]` is the arc of pair i from left to right."""
    m = left.size
    first = np.zeros(n + 1, np.int64)
    for i in range(m):
        first[left[i] + 1] += 1
        first[right[i] + 1] += 1
    for v in range(n):
        first[v + 1] += first[v]
    fill = first[:n].copy()
    head = np.empty(2 * m, np.int32)
    sister = np.empty(2 * m, np.int32)
    forward = np.empty(m, np.int32)
    for i in range(m):
        u, v = left[i], right[i]
        a = fill[u]
        fill[u] += 1
        b = fill[v]
        fill[v] += 1
        head[a], head[b] = v, u
        sister[a], sister[b] = b, a
        forward[i] = a
    return first, head, sister, forward


def _push(residual, a, b, flow):
    if residual[a] < ENDLESS:
        residual[a] -= flow
    if residual[b] < ENDLESS:
        residual[b] += flow


def _augment(head, sister, residual, excess, parent, orphans, middle):
    """Push what fits along the path through arc `middle`; returns how many nodes lost their parent."""
    flow = residual[middle]
    u = head[sister[middle]]
    while parent[u] >= 0:
        flow = min(flow, residual[sister[parent[u]]])
        u = head[parent[u]]
    flow = min(flow, excess[u])
    u = head[middle]
    while parent[u] >= 0:
        flow = min(flow, residual[parent[u]])
        u = head[parent[u]]
    flow = min(flow, -excess[u])

    count = 0
    _push(residual, middle, sister[middle], flow)
    u = head[sister[middle]]
    while parent[u] >= 0:
        a = parent[u]
        w = head[a]
        _push(residual, sister[a], a, flow)
        if residual[sister[a]] == 0:
            parent[u] = _ORPHAN
            orphans[count] = u
            count += 1
        u = w
    excess[u] -= flow
    if excess[u] == 0:
        parent[u] = _ORPHAN
        orphans[count] = u
        count += 1
    u = head[middle]
    while parent[u] >= 0:
        a = parent[u]
        w = head[a]
        _push(residual, a, sister[a], flow)
        if residual[a] == 0:
            parent[u] = _ORPHAN
            orphans[count] = u
            count += 1
        u = w
    excess[u] += flow
    if excess[u] == 0:
        parent[u] = _ORPHAN
        orphans[count] = u
        count += 1
    return count


def _new_parent(first, head, sister, residual, tree, parent, stamp, distance, now, v):
    """The arc to the neighbour nearest to its terminal that can feed v, and how near; _NONE if none can."""
    best, nearest = _NONE, _FAR
    for a in range(first[v], first[v + 1]):
        u = head[a]
        if tree[u] != tree[v]:
            continue
        through = sister[a] if tree[v] == SOURCE else a
        if residual[through] == 0:
            continue
        w, d = u, 0
        while d < _FAR:  # is there still a path from u to its terminal?
            if stamp[w] == now:
                d += distance[w]
                break
            p = parent[w]
            if p == _TERMINAL:
                stamp[w] = now
                distance[w] = 1
                d += 1
                break
            if p < 0:
                d = _FAR
            else:
                d += 1
                w = head[p]
        if d < _FAR:
            if d < nearest:
                best, nearest = a, d
            w = u
            while stamp[w] != now:
                stamp[w] = now
                distance[w] = d
                d -= 1
                w = head[parent[w]]
    return best, nearest


def max_flow(
    first: Ints, head: Ints32, sister: Ints32, residual: Ints, excess: Ints, tree: Bytes, stop: Flag
):
    """Push as much as fits from the source to the sink (Boykov & Kolmogorov 2004), and leave the rest.

    Afterwards `tree` says which nodes the source still reaches, and which reach the sink: a cut anywhere
    between the two sets that no residual arc crosses is a minimum cut. May be called again after `excess`
    was changed.
    """
    n = excess.size
    parent = np.full(n, _NONE, np.int64)
    stamp = np.zeros(n, np.int64)
    distance = np.zeros(n, np.int64)
    queue = np.empty(n + 1, np.int64)
    queued = np.zeros(n, np.uint8)
    orphans = np.empty(n + 1, np.int64)
    begin, count = 0, 0
    for v in range(n):
        tree[v] = FREE
        if excess[v] != 0:
            tree[v] = SOURCE if excess[v] > 0 else SINK
            parent[v] = _TERMINAL
            distance[v] = 1
            queue[count] = v
            count += 1
            queued[v] = 1
    now = 0
    v = -1
    while stop[0] == 0:
        while v < 0 or tree[v] == FREE:  # the next node whose tree may grow
            if count == 0:
                return DONE
            v = queue[begin]
            begin = begin + 1 if begin < n else 0
            count -= 1
            queued[v] = 0
        middle = -1
        for a in range(first[v], first[v + 1]):
            b = sister[a]
            if residual[a if tree[v] == SOURCE else b] == 0:
                continue
            u = head[a]
            if tree[u] == FREE:
                tree[u] = tree[v]
                parent[u] = b
                stamp[u] = stamp[v]
                distance[u] = distance[v] + 1
                if queued[u] == 0:
                    queue[(begin + count) % (n + 1)] = u
                    count += 1
                    queued[u] = 1
            elif tree[u] != tree[v]:
                middle = a if tree[v] == SOURCE else b
                break
            elif stamp[u] <= stamp[v] and distance[u] > distance[v]:
                parent[u] = b
                stamp[u] = stamp[v]
                distance[u] = distance[v] + 1
        now += 1
        if middle < 0:
            v = -1
            continue
        last = _augment(head, sister, residual, excess, parent, orphans, middle)
        next_ = 0
        while next_ != last:  # a ring: a node waits in it at most once
            w = orphans[next_]
            next_ = next_ + 1 if next_ < n else 0
            arc, near = _new_parent(first, head, sister, residual, tree, parent, stamp, distance, now, w)
            parent[w] = arc
            if arc >= 0:
                stamp[w] = now
                distance[w] = near + 1
                continue
            for a in range(first[w], first[w + 1]):
                u = head[a]
                if tree[u] != tree[w]:
                    continue
                if residual[sister[a] if tree[w] == SOURCE else a] > 0 and queued[u] == 0:
                    queue[(begin + count) % (n + 1)] = u
                    count += 1
                    queued[u] = 1
                if parent[u] >= 0 and head[parent[u]] == w:
                    parent[u] = _ORPHAN
                    orphans[last] = u
                    last = last + 1 if last < n else 0
            tree[w] = FREE
    return STOPPED


def firm(
    first: Ints,
    head: Ints32,
    sister: Ints32,
    residual: Ints,
    excess: Ints,
    tree: Bytes,
    side: int,
    more: int,
    found: Bytes,
    stop: Flag,
):
    """Mark the nodes guaranteed to stay on this side if its terminal capacities lose `more` in total.

    They are reached, by residual arcs of over `more`, from a node whose terminal arc has over `more` left:
    any flow that makes up for the loss leaves something of each of these capacities. After `max_flow`.
    """
    queue = np.empty(tree.size, np.int64)
    count = 0
    for v in range(tree.size):
        found[v] = 0
        if tree[v] == side and (excess[v] > more if side == SOURCE else -excess[v] > more):
            found[v] = 1
            queue[count] = v
            count += 1
    begin = 0
    while begin < count:
        if stop[0] != 0:
            return STOPPED
        v = queue[begin]
        begin += 1
        for a in range(first[v], first[v + 1]):
            u = head[a]
            if tree[u] == side and found[u] == 0 and residual[a if side == SOURCE else sister[a]] > more:
                found[u] = 1
                queue[count] = u
                count += 1
    return DONE


def least_residual(first: Ints, head: Ints32, residual: Ints, tree: Bytes):
    """The smallest capacity left between two free nodes; ENDLESS if there is none."""
    least = ENDLESS
    for v in range(tree.size):
        if tree[v] == FREE:
            for a in range(first[v], first[v + 1]):
                if tree[head[a]] == FREE and 0 < residual[a] < least:
                    least = residual[a]
    return least


def break_ties(
    first: Ints,
    head: Ints32,
    sister: Ints32,
    residual: Ints,
    tree: Bytes,
    order: Ints,
    prefer: Bytes,
    stop: Flag,
):
    """Give every free node, in this order, its preferred side, and the same to those that must follow."""
    stack = np.empty(tree.size, np.int64)
    for v in order:
        if tree[v] != FREE:
            continue
        if stop[0] != 0:
            return STOPPED
        side = prefer[v]
        tree[v] = side
        stack[0] = v
        depth = 1
        while depth > 0:
            depth -= 1
            w = stack[depth]
            for a in range(first[w], first[w + 1]):
                u = head[a]
                if tree[u] == FREE and residual[a if side == SOURCE else sister[a]] > 0:
                    tree[u] = side
                    stack[depth] = u
                    depth += 1
    return DONE


def colour(first: Ints, head: Ints32, odd: Bytes, part: Ints, flip: Bytes):
    """Flip variables so that the ends of an odd arc differ and those of an even one do not.

    `part[v]` becomes the first variable of v's connected component. Returns for each first variable whether
    its component can be flipped so.
    """
    n = part.size
    balanced = np.ones(n, np.uint8)
    stack = np.empty(n, np.int64)
    for v in range(n):
        part[v] = -1
    for v in range(n):
        if part[v] >= 0:
            continue
        part[v] = v
        flip[v] = 0
        stack[0] = v
        depth = 1
        while depth > 0:
            depth -= 1
            w = stack[depth]
            for a in range(first[w], first[w + 1]):
                u = head[a]
                side = flip[w] ^ odd[a]
                if part[u] < 0:
                    part[u] = v
                    flip[u] = side
                    stack[depth] = u
                    depth += 1
                elif flip[u] != side:
                    balanced[v] = 0
    return balanced


def parts(n: int, scope_at: Ints, scopes: Ints32):
    """For each variable the first one of its connected component."""
    root = np.arange(n)
    for f in range(scope_at.size - 1):
        for i in range(scope_at[f], scope_at[f + 1]):
            u, v = scopes[scope_at[f]], scopes[i]
            while root[u] != u:
                root[u] = root[root[u]]
                u = root[u]
            while root[v] != v:
                root[v] = root[root[v]]
                v = root[v]
            root[max(u, v)] = min(u, v)
    for v in range(n):
        root[v] = root[root[v]]
    return root


def _worst_exchange(cards, scopes, begin, end, energies, at, axis, gone, instead):
    """The least extra cost of a table if its variable on `axis` is in state `gone` rather than `instead`."""
    stride, total = 1, 1
    for i in range(end - 1, begin + axis, -1):
        stride *= cards[scopes[i]]
    for i in range(begin, end):
        total *= cards[scopes[i]]
    block = stride * cards[scopes[begin + axis]]
    least = ENDLESS
    for start in range(0, total, block):
        for i in range(start, start + stride):
            x = energies[at + i + gone * stride]
            if x < ENDLESS:
                y = energies[at + i + instead * stride]
                if y >= ENDLESS:
                    return -ENDLESS
                least = min(least, x - y)
    return least


def dead_ends(
    cards: Ints,
    state_at: Ints,
    scope_at: Ints,
    scopes: Ints32,
    table_at: Ints,
    user_at: Ints,
    users: Ints32,
    energies: Ints,
    error: int,
    use: Bytes,
    alive: Bytes,
    stop: Flag,
):
    """Close each state that another beats in any case (Goldstein 1994), by more than rounding.

    The arrays are those of ReducedArrays and the factors of each variable; energies are ENDLESS where not
    allowed, and at most `error` off. Only variables in `use` are looked at; `alive` becomes 0 for each state
    that is closed.
    """
    for v in range(cards.size):
        if use[v] == 0:
            continue
        if stop[0] != 0:
            return STOPPED
        margin = 2 * error * (user_at[v + 1] - user_at[v])
        for gone in range(cards[v]):
            for instead in range(cards[v]):
                if instead == gone:
                    continue
                gain = 0
                for i in range(user_at[v], user_at[v + 1]):
                    f = users[i]
                    begin, end = scope_at[f], scope_at[f + 1]
                    axis = 0
                    while scopes[begin + axis] != v:
                        axis += 1
                    least = _worst_exchange(
                        cards, scopes, begin, end, energies, table_at[f], axis, gone, instead
                    )
                    if least == -ENDLESS:
                        gain = -1
                        break
                    gain = min(gain + least, _FAR)
                if gain > margin:
                    alive[state_at[v] + gone] = 0
                    break
    return DONE


# --- moves that are not exact ---


def move(
    cards: Ints,
    scope_at: Ints,
    scopes: Ints32,
    table_at: Ints,
    energies: Ints,
    wall: int,
    states: Ints,
    other: Ints,
    forward: Ints32,
    sister: Ints32,
    residual: Ints,
    excess: Ints,
):
    """Write as a cut which variables should leave `states` for `other`: those on the side of the sink.

    What is not allowed costs `wall`. Where two neighbours together are not submodular, leaving alone is made
    dearer: the cut then never costs less than the truth, and staying costs the truth, so no move makes things
    worse (Rother, Kumar, Kolmogorov & Blake 2005).
    """
    excess[:] = 0
    pair = 0
    for f in range(scope_at.size - 1):
        begin, at = scope_at[f], table_at[f]
        u = scopes[begin]
        if scope_at[f + 1] - begin == 1:
            excess[u] += min(energies[at + other[u]], wall) - min(energies[at + states[u]], wall)
            continue
        v = scopes[begin + 1]
        row, new_row = at + states[u] * cards[v], at + other[u] * cards[v]
        stay = min(energies[row + states[v]], wall)
        right = min(energies[row + other[v]], wall)
        left = min(energies[new_row + states[v]], wall)
        both = min(energies[new_row + other[v]], wall)
        curve = left + right - stay - both
        if curve < 0:
            right -= curve
            curve = 0
        half = curve // 2
        a = forward[pair]
        residual[a], residual[sister[a]] = half, curve - half
        excess[v] += right - stay - half
        excess[u] += both - right + half
        pair += 1


def descend(
    cards: Ints,
    scope_at: Ints,
    scopes: Ints32,
    table_at: Ints,
    user_at: Ints,
    users: Ints32,
    energies: Ints,
    wall: int,
    costs: Ints,
    states: Ints,
    stop: Flag,
):
    """Give each variable in turn its best state given its neighbours', until nothing changes any more.

    Forbidden entries cost `wall`. Every change lowers the energy, an integer, so this terminates; setting the
    stop flag ends it early, with states no worse than any before.
    """
    changed = True
    while changed and stop[0] == 0:
        changed = False
        for v in range(cards.size):
            costs[:] = 0
            for i in range(user_at[v], user_at[v + 1]):
                f = users[i]
                begin, at, step = scope_at[f], table_at[f], 1
                if scope_at[f + 1] - begin == 2:
                    if scopes[begin] == v:
                        step = cards[scopes[begin + 1]]
                        at += states[scopes[begin + 1]]
                    else:
                        at += states[scopes[begin]] * cards[v]
                for x in range(cards[v]):
                    costs[x] += min(energies[at + x * step], wall)
            best = states[v]
            for x in range(cards[v]):
                if costs[x] < costs[best]:
                    best = x
            if best != states[v]:
                states[v] = best
                changed = True
    return DONE if stop[0] == 0 else STOPPED


def ascend(
    cards: Ints,
    state_at: Ints,
    scope_at: Ints,
    scopes: Ints32,
    table_at: Ints,
    table: Floats,
    message_at: Ints,
    messages: Floats,
    belief: Floats,
    work: Floats,
    stop: Flag,
):
    """Distribute each table over a pair between its variables, once, so that the sum of all minima rises.

    Globerson & Jaakkola 2007, section 6. Message i of scope position i is what its factor gives that
    variable; `belief` is what each variable was given in all. The sum of the minima of the beliefs, and of
    what is left of each table, is a lower bound. A table over one variable belongs to that entirely.
    """
    for f in range(scope_at.size - 1):
        if stop[0] != 0:
            return STOPPED
        i = scope_at[f]
        if scope_at[f + 1] - i != 2:
            continue
        at, m = table_at[f], message_at[i]
        s, t = state_at[scopes[i]], state_at[scopes[i + 1]]
        rows, columns = cards[scopes[i]], cards[scopes[i + 1]]
        for x in range(rows):  # what the others gave
            belief[s + x] -= messages[m + x]
        for y in range(columns):
            belief[t + y] -= messages[m + rows + y]
            work[rows + y] = np.inf
        for x in range(rows):
            least = np.inf
            for y in range(columns):
                total = table[at + x * columns + y] + belief[t + y]
                least = min(least, total)
                work[rows + y] = min(work[rows + y], total + belief[s + x])
            work[x] = least + belief[s + x]
        for x in range(rows):
            messages[m + x] = 0.5 * work[x] - belief[s + x]
            belief[s + x] = 0.5 * work[x]
        for y in range(columns):
            messages[m + rows + y] = 0.5 * work[rows + y] - belief[t + y]
            belief[t + y] = 0.5 * work[rows + y]
    return DONE


def lowest(state_at: Ints, belief: Floats, states: Ints):
    """For each variable the first state of the least belief."""
    for v in range(states.size):
        states[v] = 0
        for s in range(state_at[v] + 1, state_at[v + 1]):
            if belief[s] < belief[state_at[v] + states[v]]:
                states[v] = s - state_at[v]


def minima(
    cards: Ints,
    state_at: Ints,
    scope_at: Ints,
    scopes: Ints32,
    table_at: Ints,
    user_at: Ints,
    table: Floats,
    message_at: Ints,
    messages: Floats,
    least: Floats,
):
    """The minimum of each table minus its messages, then of each variable's belief.

    Their sum is a lower bound. Returns how much rounding may have raised it.
    """
    n, n_factors = cards.size, scope_at.size - 1
    belief = np.zeros(state_at[n])
    size = np.zeros(state_at[n])
    error = 0.0
    least[:] = np.inf
    for f in range(n_factors):
        i, at = scope_at[f], table_at[f]
        m, s, rows = message_at[i], state_at[scopes[i]], cards[scopes[i]]
        for x in range(rows):
            belief[s + x] += messages[m + x]
            size[s + x] += abs(messages[m + x])
        if scope_at[f + 1] - i == 1:
            least[f] = 0.0  # the message is the table
            continue
        t, columns = state_at[scopes[i + 1]], cards[scopes[i + 1]]
        for y in range(columns):
            belief[t + y] += messages[m + rows + y]
            size[t + y] += abs(messages[m + rows + y])
        largest = 0.0
        for x in range(rows):
            for y in range(columns):
                value, there = table[at + x * columns + y], messages[m + rows + y]
                if value < np.inf:
                    least[f] = min(least[f], value - messages[m + x] - there)
                    largest = max(largest, abs(value) + abs(messages[m + x]) + abs(there))
        error += 4.0 * largest
    for v in range(n):
        largest = 0.0
        for s in range(state_at[v], state_at[v + 1]):
            least[n_factors + v] = min(least[n_factors + v], belief[s])
            largest = max(largest, size[s])
        error += largest * (user_at[v + 1] - user_at[v])
    return error * 2.0**-52
