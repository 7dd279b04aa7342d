"""Loops that draw states from products of tables, in logarithms; uniforms are passed in."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pgm.runtime.kinds import Bytes, ByteTable, Flag, Floats, FloatTable, Ints, Ints32

if TYPE_CHECKING:
    from pgm.inference.engines.sampling.hybrid_arrays import EntryArrays, LinkArrays, MoveArrays
    from pgm.inference.engines.sampling.lookup_arrays import LookupArrays
    from pgm.inference.engines.sampling.steps import GuideArrays, StepArrays
    from pgm.inference.program.continuous import Densities

DONE, STOPPED, IMPOSSIBLE = 0, 1, 3  # as in pgm/inference/trees/sweeps/compiled.py
_HALF_LOG_2PI = 0.9189385332046727
_STEPS_OUT = 8  # of a slice, at most


# --- tables ---


def strides(scope_at: Ints, cards: Ints, stride: Ints):
    """How far apart two states of each axis are, the last axis running fastest."""
    for f in range(scope_at.size - 1):
        step = 1
        for a in range(scope_at[f + 1] - 1, scope_at[f] - 1, -1):
            stride[a] = step
            step *= cards[a]


def write_out(
    scope_at: Ints,
    table: Ints32,
    row_at: Ints,
    code_at: Ints,
    codes: Ints32,
    values: Floats,
    stride: Ints,
    begins: Ints,
    logs: Floats,
):
    """Put the listed rows of each table into its array."""
    done = np.zeros(row_at.size, np.uint8)
    for f in range(table.size):
        t = table[f]
        if done[t] != 0:
            continue
        done[t] = 1
        begin, k = scope_at[f], scope_at[f + 1] - scope_at[f]
        c = code_at[t]
        for row in range(row_at[t], row_at[t + 1]):
            at = begins[t]
            for i in range(k):
                at += codes[c + i] * stride[begin + i]
            logs[at] = values[row]
            c += k


def _add(scope_at, scopes, owner, stride, table_at, logs, axis, now, n, out):
    """Add to `out` a table's logarithm for each state of an axis, the other variables as they are now."""
    f = owner[axis]
    at = table_at[f]
    for b in range(scope_at[f], scope_at[f + 1]):
        if b != axis:
            at += now[scopes[b]] * stride[b]
    step = stride[axis]
    for s in range(n):
        out[s] += logs[at + s * step]


def _value(scope_at, scopes, stride, table_at, logs, f, now):
    """A table's logarithm at the present states."""
    at = table_at[f]
    for b in range(scope_at[f], scope_at[f + 1]):
        at += now[scopes[b]] * stride[b]
    return logs[at]


def _pick(scores, n, u, weights):
    """A state by probabilities in proportion to exp(score), and the logarithm of the sum; -1 for none."""
    top = -math.inf
    for s in range(n):
        if scores[s] > top:
            top = scores[s]
    if top == -math.inf:
        return -1, top
    total = 0.0
    for s in range(n):
        weights[s] = math.exp(scores[s] - top)
        total += weights[s]
    left = u * total
    chosen = -1
    for s in range(n):
        if weights[s] > 0.0:
            chosen = s
            left -= weights[s]
            if left < 0.0:
                break
    return chosen, top + math.log(total)


# --- the order of drawing ---


def completing(scope_at: Ints, scopes: Ints32, block_of: Ints, place: Ints, last: Bytes):
    """Mark each axis whose variable is drawn last of those of its factor that are in its block."""
    for f in range(scope_at.size - 1):
        for a in range(scope_at[f], scope_at[f + 1]):
            v = scopes[a]
            last[a] = 1
            for b in range(scope_at[f], scope_at[f + 1]):
                u = scopes[b]
                if block_of[u] == block_of[v] and place[u] > place[v]:
                    last[a] = 0
                    break


def topological(n: int, edge_at: Ints, edges: Ints, order: Ints):
    """Variables, those before others that edges lead to; on directed cycles, in index order."""
    waiting = np.zeros(n, np.int64)
    for e in range(edges.size):
        waiting[edges[e]] += 1
    taken = np.zeros(n, np.uint8)
    ready = np.empty(n, np.int64)
    size, count, lowest = 0, 0, 0
    for v in range(n - 1, -1, -1):
        if waiting[v] == 0:
            ready[size] = v
            size += 1
    while count < n:
        if size > 0:
            size -= 1
            v = ready[size]
            if taken[v] != 0:
                continue
        else:
            while taken[lowest] != 0:
                lowest += 1
            v = lowest
        taken[v] = 1
        order[count] = v
        count += 1
        for e in range(edge_at[v], edge_at[v + 1]):
            u = edges[e]
            waiting[u] -= 1
            if waiting[u] == 0 and taken[u] == 0:
                ready[size] = u
                size += 1


def grow_trees(
    user_at: Ints,
    users: Ints32,
    owner: Ints32,
    scope_at: Ints,
    scopes: Ints32,
    roots: Ints,
    budget: int,
    block_of: Ints,
):
    """Cover the variables with blocks that are trees of factors; returns how many.

    A variable joins a block if all that is linked to it there is in one of its factors: so drawing the block
    as a whole takes no larger tables than the model has. Blocks grow from the first of `roots` that is free;
    once so many links as `budget` says were looked at, what is left is by itself.
    """
    n = block_of.size
    queue = np.empty(n, np.int64)
    seen = np.full(n, -1, np.int64)
    met = np.full(n, -1, np.int64)
    count = 0
    for i in range(n):
        root = roots[i]
        if block_of[root] >= 0:
            continue
        first, last = 0, 1
        queue[0] = root
        seen[root] = count
        while first < last:
            v = queue[first]
            first += 1
            linked, most = 0, 0
            if budget < 0 and v != root:
                continue
            for r in range(user_at[v], user_at[v + 1]):
                f, inside = owner[users[r]], 0
                budget -= scope_at[f + 1] - scope_at[f]
                for a in range(scope_at[f], scope_at[f + 1]):
                    u = scopes[a]
                    if u != v and block_of[u] == count:
                        inside += 1
                        if met[u] != v:
                            met[u] = v
                            linked += 1
                most = max(most, inside)
            for r in range(user_at[v], user_at[v + 1]):  # marks are of one visit
                f = owner[users[r]]
                for a in range(scope_at[f], scope_at[f + 1]):
                    met[scopes[a]] = -1
            if most < linked:
                continue
            block_of[v] = count
            for r in range(user_at[v], user_at[v + 1]):
                f = owner[users[r]]
                for a in range(scope_at[f], scope_at[f + 1]):
                    u = scopes[a]
                    if block_of[u] < 0 and seen[u] != count:
                        seen[u] = count
                        queue[last] = u
                        last += 1
        count += 1
    return count


def message_scopes(
    clique_at: Ints, members: Ints32, own: Ints, place: Ints, scope_at: Ints, scopes: Ints32, fill: bool
):
    """The variables of the message that each step sends, by its place; first how many, then which."""
    for c in range(clique_at.size - 1):
        for i in range(clique_at[c], clique_at[c] + own[c]):
            k = place[members[i]]
            size = clique_at[c + 1] - i - 1
            if not fill:
                scope_at[k + 1] = size
            else:
                for j in range(size):
                    scopes[scope_at[k] + j] = members[i + 1 + j]


# --- independent samples ---


def _log_sum(scores, n):
    """The logarithm of the sum of exp(score)."""
    top = -math.inf
    for s in range(n):
        if scores[s] > top:
            top = scores[s]
    if top == -math.inf:
        return top
    total = 0.0
    for s in range(n):
        total += math.exp(scores[s] - top)
    return top + math.log(total)


def weigh(
    a: LookupArrays,
    t: StepArrays,
    m: GuideArrays,
    pool: Floats,
    plain_every: int,
    first: int,
    uniforms: FloatTable,
    states: ByteTable,
    log_weights: Floats,
    room: FloatTable,
    stop: Flag,
):
    """Draw cases step by step, and weight each by the product of all factors over its proposal density.

    `a` are the factors, `t` the steps, `m` guiding tables with their values in `pool`. One case in
    `plain_every` is drawn without any guide, and all are weighed as draws from the mixture, so that no weight
    is more than so many times what it would be without; 0: all are guided. `first` is the index of the
    first case.
    """
    # Taken out of the tuples once: handing them on costs more than a draw.
    cards, state_at, local = a.cards, a.state_at, a.local
    scope_at, scopes, owner, stride = a.scope_at, a.scopes, a.owner, a.stride
    table_at, logs = a.table_at, a.logs
    variable, ref_at, refs, is_asked, guide = t.variable, t.ref_at, t.refs, t.asked, t.guide
    read_at, reads = t.read_at, t.reads
    m_scope_at, m_scopes, m_owner, m_stride, m_table_at = m.scope_at, m.scopes, m.owner, m.stride, m.table_at
    now = np.zeros(cards.size, np.int64)
    asked, guided, weights = room[0], room[1], room[2]
    share = 1.0 / plain_every if plain_every > 0 else 0.0
    for i in range(states.shape[0]):
        if stop[0] != 0:
            return STOPPED
        plainly = plain_every > 0 and (first + i) % plain_every == plain_every - 1
        # The product of the factors over the proposal; and one proposal over the other.
        weight, excess = 0.0, 0.0
        for k in range(variable.size):
            v = variable[k]
            n, begin = cards[v], state_at[v]
            for s in range(n):
                asked[s] = local[begin + s]
            for r in range(ref_at[k], ref_at[k + 1]):
                if is_asked[r] != 0:
                    _add(scope_at, scopes, owner, stride, table_at, logs, refs[r], now, n, asked)
            for s in range(n):
                guided[s] = asked[s] + guide[begin + s]
            for r in range(read_at[k], read_at[k + 1]):
                _add(m_scope_at, m_scopes, m_owner, m_stride, m_table_at, pool, reads[r], now, n, guided)
            if plainly:
                chosen, total = _pick(asked, n, uniforms[i, k], weights)
            else:
                chosen, total = _pick(guided, n, uniforms[i, k], weights)
            if chosen < 0:
                weight = -math.inf
                break
            now[v] = chosen
            if plainly:
                weight += total
                excess += (guided[chosen] - _log_sum(guided, n)) - (asked[chosen] - total)
            else:
                weight += total + (asked[chosen] - guided[chosen])
                if plain_every > 0:
                    excess += (asked[chosen] - _log_sum(asked, n)) - (guided[chosen] - total)
            for r in range(ref_at[k], ref_at[k + 1]):
                if is_asked[r] == 0:
                    f = owner[refs[r]]
                    weight += _value(scope_at, scopes, stride, table_at, logs, f, now)
            if weight == -math.inf:
                break
        if plain_every > 0 and weight > -math.inf:
            other = 1.0 - share if plainly else share
            low, high = math.log(1.0 - other), math.log(other) + excess
            if low > high:
                low, high = high, low
            weight -= high + math.log1p(math.exp(low - high))
        log_weights[i] = weight
        for v in range(now.size):
            states[i, v] = now[v]
    return DONE


# --- chains ---


def sweep(
    a: LookupArrays,
    t: StepArrays,
    m: GuideArrays,
    pool: Floats,
    block_at: Ints,
    now: Ints,
    uniforms: FloatTable,
    states: ByteTable,
    room: FloatTable,
    stop: Flag,
):
    """Resample one block after the other given all others, over and over; states[i] is the result of a sweep.

    Inside a block messages go from the variable drawn last to the one drawn first, then all are drawn.
    """
    scores, weights = room[0], room[1]
    # Taken out of the tuples once: handing them on costs more than a draw.
    cards, state_at, local = a.cards, a.state_at, a.local
    scope_at, scopes, owner, stride = a.scope_at, a.scopes, a.owner, a.stride
    table_at, logs = a.table_at, a.logs
    variable, ref_at, refs, read_at, reads = t.variable, t.ref_at, t.refs, t.read_at, t.reads
    m_scope_at, m_scopes, m_owner, m_stride, m_table_at = m.scope_at, m.scopes, m.owner, m.stride, m.table_at
    for i in range(states.shape[0]):
        for b in range(block_at.size - 1):
            if stop[0] != 0:
                return STOPPED
            first, last = block_at[b], block_at[b + 1]
            for k in range(last - 1, first, -1):
                begin, end = m_scope_at[k], m_scope_at[k + 1]
                if begin == end:
                    continue
                v = variable[k]
                n = cards[v]
                for j in range(begin, end):
                    now[m_scopes[j]] = 0
                for entry in range(m_table_at[k], m_table_at[k + 1]):
                    for s in range(n):
                        scores[s] = local[state_at[v] + s]
                    for r in range(ref_at[k], ref_at[k + 1]):
                        _add(scope_at, scopes, owner, stride, table_at, logs, refs[r], now, n, scores)
                    for r in range(read_at[k], read_at[k + 1]):
                        _add(
                            m_scope_at,
                            m_scopes,
                            m_owner,
                            m_stride,
                            m_table_at,
                            pool,
                            reads[r],
                            now,
                            n,
                            scores,
                        )
                    pool[entry] = _log_sum(scores, n)
                    j = end - 1
                    while j >= begin:
                        u = m_scopes[j]
                        now[u] += 1
                        if now[u] < cards[u]:
                            break
                        now[u] = 0
                        j -= 1
            for k in range(first, last):
                v = variable[k]
                n = cards[v]
                for s in range(n):
                    scores[s] = local[state_at[v] + s]
                for r in range(ref_at[k], ref_at[k + 1]):
                    _add(scope_at, scopes, owner, stride, table_at, logs, refs[r], now, n, scores)
                for r in range(read_at[k], read_at[k + 1]):
                    _add(m_scope_at, m_scopes, m_owner, m_stride, m_table_at, pool, reads[r], now, n, scores)
                chosen, _ = _pick(scores, n, uniforms[i, k], weights)
                if chosen < 0:
                    return IMPOSSIBLE
                now[v] = chosen
        for v in range(now.size):
            states[i, v] = now[v]
    return DONE


def _root(parent, v):
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v


def clusters(
    a: LookupArrays,
    fields: Floats,
    bond_at: Ints,
    chances: Floats,
    gains: Floats,
    now: Ints,
    uniforms: FloatTable,
    states: ByteTable,
    room: FloatTable,
    stop: Flag,
):
    """Join equal neighbours at random, then draw a state for each cluster, again and again.

    `chances` and `gains` hold, for each state of each bond, the probability that it joins, and by how much
    the log weight of that state then grows; `fields` are the logarithms left for single variables.
    """
    cards, state_at, scopes = a.cards, a.state_at, a.scopes
    n, n_bonds = now.size, bond_at.size
    parent = np.empty(n, np.int64)
    joined = np.empty(n_bonds, np.uint8)
    scores = np.empty(fields.size)
    for i in range(states.shape[0]):
        if stop[0] != 0:
            return STOPPED
        for v in range(n):
            parent[v] = v
        for s in range(fields.size):
            scores[s] = fields[s]
        for f in range(n_bonds):
            u, v = scopes[2 * f], scopes[2 * f + 1]
            joined[f] = 0
            if now[u] == now[v] and uniforms[i, f] < chances[bond_at[f] + now[u]]:
                joined[f] = 1
                ru, rv = _root(parent, u), _root(parent, v)
                if ru < rv:  # the lowest index is the root
                    parent[rv] = ru
                elif rv < ru:
                    parent[ru] = rv
        for v in range(n):
            r = _root(parent, v)
            if r != v:
                for s in range(cards[v]):
                    scores[state_at[r] + s] += scores[state_at[v] + s]
        for f in range(n_bonds):
            if joined[f] != 0:
                r = _root(parent, scopes[2 * f])
                for s in range(cards[r]):
                    scores[state_at[r] + s] += gains[bond_at[f] + s]
        for v in range(n):
            r = _root(parent, v)
            if r == v:  # the root precedes the others
                of_root = scores[state_at[v] : state_at[v + 1]]
                now[v], _ = _pick(of_root, cards[v], uniforms[i, n_bonds + v], room[0])
            else:
                now[v] = now[r]
            states[i, v] = now[v]
    return DONE


# --- chains over discrete and continuous variables ---


def _row(d, x, codes, cards):
    """Which of its densities a continuous variable has."""
    index = 0
    for i in range(d.switch_at[x], d.switch_at[x + 1]):
        v = d.switches[i]
        index = index * cards[v] + codes[v]
    return d.row_at[x] + index


def _mean(d, x, row, values):
    """The mean of a linear Gaussian variable."""
    mean = d.bias[row]
    begin = d.parent_at[x]
    k = d.parent_at[x + 1] - begin
    at = d.weight_at[x] + (row - d.row_at[x]) * k
    for i in range(k):
        mean += d.weights[at + i] * values[d.parents[begin + i]]
    return mean


def _link_log(links, link, begin, code, values):
    """The log probability of a state whose log odds are linear; its offsets begin there."""
    card, first = links.card[link], links.continuous_at[link]
    k = links.continuous_at[link + 1] - first
    at = links.weight_at[link]
    top, own = -math.inf, 0.0
    for s in range(card):
        score = links.offsets[begin + s]
        for i in range(k):
            score += links.weights[at + i * card + s] * values[links.continuous[first + i]]
        if s == code:
            own = score
        top = max(top, score)
    total = 0.0
    for s in range(card):
        score = links.offsets[begin + s]
        for i in range(k):
            score += links.weights[at + i * card + s] * values[links.continuous[first + i]]
        total += math.exp(score - top)
    return own - top - math.log(total)


def rewrite(d: Densities, links: LinkArrays, e: EntryArrays, values: Floats, tables: Floats):
    """Write the tables that states are drawn from, given the continuous values."""
    for i in range(tables.size):
        tables[i] = e.base[i]
    for i in range(e.line.size):
        x, row = e.line[i], e.line_row[i]
        off = (values[x] - _mean(d, x, row, values)) / d.sd[row]
        tables[e.line_to[i]] += -0.5 * off * off - math.log(d.sd[row]) - _HALF_LOG_2PI
    for i in range(e.link.size):
        tables[e.link_to[i]] += _link_log(links, e.link[i], e.link_offset[i], e.link_code[i], values)


def _links_log(links, begins, those, first, last, codes, values):
    """The log probability of several states."""
    total = 0.0
    for i in range(first, last):
        link = those[i]
        total += _link_log(links, link, begins[i], codes[links.child[link]], values)
    return total


def move_continuous(
    d: Densities,
    links: LinkArrays,
    moves: MoveArrays,
    cards: Ints,
    codes: Ints,
    normals: Floats,
    uniforms: FloatTable,
    values: Floats,
):
    """Draw each continuous variable in turn given all else, the states included.

    Its own linear relation and those of its children give one normal density. If that is all, it is drawn
    from that; else a step of slice sampling (Neal 2003), with this many uniforms for each, respects the ends
    of its interval and the log odds of its children.
    """
    begins = np.zeros(moves.link.size, np.int64)
    for i in range(moves.link.size):
        link, index = moves.link[i], 0
        for j in range(links.above_at[link], links.above_at[link + 1]):
            index = index * cards[links.above[j]] + codes[links.above[j]]
        begins[i] = links.offset_at[link] + index * links.card[link]
    sliced = 0
    for i in range(moves.variable.size):
        x = moves.variable[i]
        row = _row(d, x, codes, cards)
        precision = 1.0 / (d.sd[row] * d.sd[row])
        pull = _mean(d, x, row, values) * precision
        for j in range(moves.child_at[i], moves.child_at[i + 1]):
            c = moves.child[j]
            row = _row(d, c, codes, cards)
            k = d.parent_at[c + 1] - d.parent_at[c]
            w = d.weights[d.weight_at[c] + (row - d.row_at[c]) * k + moves.slot[j]]
            left = values[c] - (_mean(d, c, row, values) - w * values[x])
            per = w / (d.sd[row] * d.sd[row])
            precision += w * per
            pull += left * per
        centre, spread = pull / precision, 1.0 / math.sqrt(precision)
        if moves.sliced[i] == 0:
            values[x] = centre + spread * normals[i]
            continue
        first, last = moves.link_at[i], moves.link_at[i + 1]
        u = uniforms[sliced]
        sliced += 1
        now, low, high = values[x], moves.low[i], moves.high[i]
        off = (now - centre) / spread
        level = _links_log(links, begins, moves.link, first, last, codes, values) - 0.5 * off * off
        level += math.log(u[0])
        left, right = now - 2.0 * spread * u[1], now + 2.0 * spread * (1.0 - u[1])
        below = int(u[2] * _STEPS_OUT)
        for end in range(2):
            steps = below if end == 0 else _STEPS_OUT - 1 - below
            while steps > 0:
                steps -= 1
                at = left if end == 0 else right
                if at <= low or at >= high:
                    break
                values[x] = at
                off = (at - centre) / spread
                found = _links_log(links, begins, moves.link, first, last, codes, values) - 0.5 * off * off
                if found < level:
                    break
                if end == 0:
                    left -= 2.0 * spread
                else:
                    right += 2.0 * spread
        left, right = max(left, low), min(right, high)
        chosen = now  # if no uniform is left, which is as likely from either end
        for k in range(3, u.size):
            at = left + (right - left) * u[k]
            values[x] = at
            off = (at - centre) / spread
            found = _links_log(links, begins, moves.link, first, last, codes, values) - 0.5 * off * off
            if found >= level and at < high:
                chosen = at
                break
            if at < now:
                left = at
            else:
                right = at
        values[x] = chosen
    return DONE


# --- whether chains reach everything ---


def _covered(a, f, axis, s, by, is_open, now):
    """Whether a table is non-zero with state `by` of an axis wherever it is so with s, by open states."""
    begin, end = a.scope_at[f], a.scope_at[f + 1]
    for b in range(begin, end):
        now[b - begin] = 0
    there = True
    while there:
        at, inside = a.table_at[f], True
        for b in range(begin, end):
            if b != axis:
                at += now[b - begin] * a.stride[b]
                if is_open[a.state_at[a.scopes[b]] + now[b - begin]] == 0:
                    inside = False
                    break
        if inside and a.logs[at + s * a.stride[axis]] > -math.inf:
            if a.logs[at + by * a.stride[axis]] == -math.inf:
                return False
        there = False
        for b in range(end - 1, begin - 1, -1):
            if b == axis:
                continue
            now[b - begin] += 1
            if now[b - begin] < a.cards[a.scopes[b]]:
                there = True
                break
            now[b - begin] = 0
    return True


def fold(a: LookupArrays, user_at: Ints, users: Ints32, has_zero: Bytes, is_open: Bytes, stop: Flag):
    """Close each state in place of which another can always be taken, until no more can be.

    A case with the first then leads to one with the other by changing that variable alone.
    """
    n = a.cards.size
    widest = 1
    for f in range(a.scope_at.size - 1):
        widest = max(widest, a.scope_at[f + 1] - a.scope_at[f])
    now = np.zeros(widest, np.int64)
    waiting = np.ones(n, np.uint8)
    queue = np.arange(n)
    first, size = 0, n
    while size > 0:
        if stop[0] != 0:
            return STOPPED
        v = queue[first]
        first = (first + 1) % n
        size -= 1
        waiting[v] = 0
        changed = False
        begin = a.state_at[v]
        for s in range(a.cards[v]):
            if is_open[begin + s] == 0:
                continue
            for by in range(a.cards[v]):
                if by == s or is_open[begin + by] == 0:
                    continue
                covered = True
                for i in range(user_at[v], user_at[v + 1]):
                    axis = users[i]
                    f = a.owner[axis]
                    if has_zero[f] != 0 and not _covered(a, f, axis, s, by, is_open, now):
                        covered = False
                        break
                if covered:
                    is_open[begin + s] = 0
                    changed = True
                    break
        if changed:
            for i in range(user_at[v], user_at[v + 1]):
                f = a.owner[users[i]]
                if has_zero[f] == 0:
                    continue
                for b in range(a.scope_at[f], a.scope_at[f + 1]):
                    u = a.scopes[b]
                    if u != v and waiting[u] == 0:
                        waiting[u] = 1
                        queue[(first + size) % n] = u
                        size += 1
    return DONE


def tied(a: LookupArrays, has_zero: Bytes, is_open: Bytes, group: Ints):
    """Number the groups of variables with several open states that zeros tie together; -1: in none."""
    n = a.cards.size
    parent = np.arange(n)
    count = np.zeros(n, np.int64)
    for v in range(n):
        for s in range(a.state_at[v], a.state_at[v + 1]):
            count[v] += is_open[s]
        group[v] = -1
    for f in range(a.scope_at.size - 1):
        if has_zero[f] == 0:
            continue
        begin, end = a.scope_at[f], a.scope_at[f + 1]
        now = np.zeros(end - begin, np.int64)
        zero, there = False, True
        while there:
            at, inside = a.table_at[f], True
            for b in range(begin, end):
                at += now[b - begin] * a.stride[b]
                if is_open[a.state_at[a.scopes[b]] + now[b - begin]] == 0:
                    inside = False
            if inside and a.logs[at] == -math.inf:
                zero = True
                break
            there = False
            for b in range(end - 1, begin - 1, -1):
                now[b - begin] += 1
                if now[b - begin] < a.cards[a.scopes[b]]:
                    there = True
                    break
                now[b - begin] = 0
        if zero:
            leader = -1
            for b in range(begin, end):
                u = a.scopes[b]
                if count[u] > 1:
                    if leader < 0:
                        leader = u
                    group[u] = 0
                    parent[_root(parent, u)] = _root(parent, leader)
    for v in range(n):
        if group[v] == 0:
            group[v] = _root(parent, v)


# --- counting ---


def count(states: ByteTable, weights: Floats, state_at: Ints, sums: Floats, squares: Floats):
    """The sum of the weights, and of their squares, over the cases in which each variable has each state."""
    for i in range(states.shape[0]):
        w = weights[i]
        for v in range(states.shape[1]):
            at = state_at[v] + states[i, v]
            sums[at] += w
            squares[at] += w * w
