"""Compiled loops from a triangulation to a tree that is ready to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pgm.runtime.kinds import Flag, Floats, Ints, Ints32

if TYPE_CHECKING:
    from pgm.inference.program.program_arrays import ReducedArrays

MOST_OPERANDS = 256  # of a clique whose operands are gathered in groups
LEAST_ENTRIES = 256  # of such a clique
LONG_RUN = 16  # shorter runs are looked up entry by entry
BYTES_OF_CLIQUE, BYTES_OF_OPERAND = 220.0, 80.0  # whatever their size
MANY_FORMS = 1 << 16
SHARE = 4.0  # a group has at most this share of its clique's entries


def holder(n: int, clique_at: Ints, cliques: Ints32, targets: Ints32):
    """The smallest of all cliques that hold these targets, of n variables."""
    best, best_size = -1, -1
    is_target = np.zeros(n, np.uint8)
    for i in range(targets.size):
        is_target[targets[i]] = 1
    for c in range(clique_at.size - 1):
        found = 0
        for i in range(clique_at[c], clique_at[c + 1]):
            found += is_target[cliques[i]]
        width = clique_at[c + 1] - clique_at[c]
        if found == targets.size and (best < 0 or width < best_size):
            best, best_size = c, width
    return best


def centre(cards: Ints, clique_at: Ints, cliques: Ints32, parent: Ints32):
    """The centroid of the tree: removing this clique minimises the largest remaining component."""
    count = parent.size
    below = np.ones(count)
    for c in range(count):
        for i in range(clique_at[c], clique_at[c + 1]):
            below[c] *= cards[cliques[i]]
    largest = np.zeros(count)  # of the subtrees below
    for c in range(count):
        if parent[c] >= 0:
            below[parent[c]] += below[c]
            largest[parent[c]] = max(largest[parent[c]], below[c])
    root = -1
    for c in range(count):
        if parent[c] < 0 and (root < 0 or below[c] > below[root]):
            root = c
    of_root = np.zeros(count, np.uint8)
    of_root[root] = 1
    best = root
    for c in range(count - 1, -1, -1):
        if parent[c] >= 0:
            of_root[c] = of_root[parent[c]]
        if of_root[c] != 0:
            largest[c] = max(largest[c], below[root] - below[c])
            if largest[c] < largest[best]:
                best = c
    return best


def reroot(n: int, clique_at: Ints, cliques: Ints32, kept: Ints32, parent: Ints32, best: int):
    """Root a tree, of n variables, at this clique; `kept` counts what a clique sums out.

    Returns the same four arrays, children still before parents, and the new root (the last clique).
    """
    count = parent.size
    on_path = np.zeros(count, np.uint8)
    length, c = 0, best
    while c >= 0:
        on_path[c] = 1
        length += 1
        c = parent[c]
    path = np.empty(length, np.int64)
    c = best
    for i in range(length):
        path[i] = c
        c = parent[c]
    before_on_path = np.full(count, -1, np.int64)
    for i in range(1, length):
        before_on_path[path[i]] = path[i - 1]
    order = np.empty(count, np.int64)
    place = np.empty(count, np.int64)
    w = 0
    for c in range(count):
        if on_path[c] == 0:
            order[w] = c
            w += 1
    for i in range(length - 1, -1, -1):
        order[w] = path[i]
        w += 1
    for i in range(count):
        place[order[i]] = i
    new_at = np.zeros(count + 1, np.int64)
    new_cliques = np.empty(cliques.size, np.int32)
    new_kept = np.empty(count, np.int32)
    new_parent = np.empty(count, np.int32)
    mark = np.zeros(n, np.uint8)
    w = 0
    for i in range(count):
        c = order[i]
        begin, end = clique_at[c], clique_at[c + 1]
        if on_path[c] == 0:
            for j in range(begin, end):
                new_cliques[w] = cliques[j]
                w += 1
            new_kept[i] = kept[c]
            new_parent[i] = place[parent[c]] if parent[c] >= 0 else -1
        else:
            # what the edge towards the new root carries is what the clique before it on the path sent
            before = before_on_path[c]
            if before >= 0:
                for j in range(clique_at[before] + kept[before], clique_at[before + 1]):
                    mark[cliques[j]] = 1
            for j in range(begin, end):
                if mark[cliques[j]] == 0:
                    new_cliques[w] = cliques[j]
                    w += 1
            new_kept[i] = w - new_at[i]
            for j in range(begin, end):
                if mark[cliques[j]] == 1:
                    new_cliques[w] = cliques[j]
                    w += 1
            if before >= 0:
                for j in range(clique_at[before] + kept[before], clique_at[before + 1]):
                    mark[cliques[j]] = 0
                new_parent[i] = place[before]
            else:
                new_parent[i] = -1
        new_at[i + 1] = w
    return new_at, new_cliques, new_kept, new_parent


def split_stages(clique_at: Ints, cliques: Ints32, kept: Ints32, parent: Ints32, stage: Ints):
    """Split each clique that sums out variables of both stages in two, so that no clique mixes them.

    Variables of stage 0 come first in what a clique keeps. Returns the new tree.
    """
    count = parent.size
    extra, more = 0, 0
    first = np.zeros(count, np.int64)  # how many of stage 0 a mixed clique keeps
    for c in range(count):
        low = 0
        for i in range(clique_at[c], clique_at[c] + kept[c]):
            if stage[cliques[i]] == 0:
                low += 1
        if 0 < low < kept[c]:
            first[c] = low
            extra += 1
            more += clique_at[c + 1] - clique_at[c] - low
    new_at = np.zeros(count + extra + 1, np.int64)
    new_cliques = np.empty(cliques.size + more, np.int32)
    new_kept = np.empty(count + extra, np.int32)
    new_parent = np.empty(count + extra, np.int32)
    lower = np.empty(count, np.int64)  # where the first half of each clique went
    w, i = 0, 0
    for c in range(count):
        lower[c] = i
        begin, end = clique_at[c], clique_at[c + 1]
        for wanted in range(2):
            for j in range(begin, begin + kept[c]):
                if (stage[cliques[j]] != 0) == (wanted == 1):
                    new_cliques[w] = cliques[j]
                    w += 1
        for j in range(begin + kept[c], end):
            new_cliques[w] = cliques[j]
            w += 1
        new_kept[i] = kept[c]
        new_at[i + 1] = w
        i += 1
        if first[c] > 0:
            new_kept[i - 1] = first[c]
            for j in range(new_at[i - 1] + first[c], new_at[i]):
                new_cliques[w] = new_cliques[j]
                w += 1
            new_kept[i] = kept[c] - first[c]
            new_at[i + 1] = w
            i += 1
    for c in range(count):
        above = lower[parent[c]] if parent[c] >= 0 else -1
        if above >= 0 and first[parent[c]] > 0 and (first[c] > 0 or stage[cliques[clique_at[c]]] != 0):
            above += 1  # a maximising clique must not be below a summing one
        if first[c] > 0:
            new_parent[lower[c]] = lower[c] + 1
            new_parent[lower[c] + 1] = above
        else:
            new_parent[lower[c]] = above
    return new_at, new_cliques, new_kept, new_parent


def _walk(cards, stride, first, last, index, at):
    """Write the sum of code times stride for all states of the axes first .. last-1, the last one fastest."""
    index[at] = 0
    size = 1
    for a in range(last - 1, first - 1, -1):
        for s in range(1, cards[a]):
            shift = s * stride[a]
            for j in range(size):
                index[at + s * size + j] = index[at + j] + shift
        size *= cards[a]
    return size


def _pattern(index, at, size):
    """How an index moves along a row: its kind (see TreeArrays) and the length of its runs.

    A run stores one index; the rest of the index moves along.
    """
    run = 1
    while run < size and index[at + run] == index[at]:
        run += 1
    if run == size:
        return 0, size
    contiguous = 1
    while contiguous < size and index[at + contiguous] == contiguous:
        contiguous += 1
    if contiguous == size:
        return 1, size
    kind = 2
    if contiguous >= LONG_RUN:
        kind, run = 3, contiguous
    elif run < LONG_RUN:
        run = 1
    for i in range(size // run):
        index[at + i] = index[at + i * run]
    return kind, run


def _shorten(cards, stride, first, last, index, at):
    """Write how a row is summed into the entries of an item: where each begins, then what to add to that.

    Returns how many entries those are: negative if they do not also stand side by side in the row, 0 if not
    even in the item.
    """
    begin, size, found = at, 1, True
    index[at] = 0
    while found:
        found, step = False, 1
        for a in range(last - 1, first - 1, -1):
            if stride[a] == size and not found:
                for s in range(1, cards[a]):
                    for j in range(size):
                        index[at + s * size + j] = index[at + j] + s * step
                size *= cards[a]
                found = True
            step *= cards[a]
    entries = 1
    for a in range(first, last):
        if stride[a] > 0:
            entries *= cards[a]
    if entries != size:
        return 0
    at += size
    index[at] = 0
    size, step = 1, 1
    for a in range(last - 1, first - 1, -1):
        if stride[a] == 0:
            for s in range(1, cards[a]):
                for j in range(size):
                    index[at + s * size + j] = index[at + j] + s * step
            size *= cards[a]
        step *= cards[a]
    for j in range(entries):
        if index[begin + j] != j:
            return -entries
    return entries


def homes(r: ReducedArrays, clique_at: Ints, cliques: Ints32, kept: Ints32, parent: Ints32):
    """The clique in which each table is multiplied: the one that sums out the first of its variables."""
    m = r.cards.size
    clique_of = np.full(m, -1, np.int64)
    rank = np.zeros(m, np.int64)
    place = 0
    for c in range(parent.size):
        end = clique_at[c] + kept[c] if parent[c] >= 0 else clique_at[c + 1]
        for i in range(clique_at[c], end):
            clique_of[cliques[i]] = c
            rank[cliques[i]] = place
            place += 1
    home = np.empty(r.factors.size, np.int64)
    for g in range(r.factors.size):
        first = r.scopes[r.scope_at[g]]
        for i in range(r.scope_at[g] + 1, r.scope_at[g + 1]):
            if rank[r.scopes[i]] < rank[first]:
                first = r.scopes[i]
        home[g] = clique_of[first]
    return home


def measure(cards: Ints, clique_at: Ints, cliques: Ints32, kept: Ints32, parent: Ints32, home: Ints):
    """The total message size, the bytes of the tree once laid out, and the steps of a pass."""
    count = parent.size
    uses = np.zeros(count, np.int64)
    for g in range(home.size):
        uses[home[g]] += 1
    for c in range(count):
        if parent[c] >= 0:
            uses[parent[c]] += 1
    seen = np.zeros(MANY_FORMS, np.uint8)  # many small cliques of one form share their lookup tables
    sent_by_all, layout, steps = 0.0, 0.0, 0.0
    for c in range(count):
        size, sent = 1.0, 1.0
        for i in range(clique_at[c], clique_at[c + 1]):
            size *= cards[cliques[i]]
            if i >= clique_at[c] + kept[c]:
                sent *= cards[cliques[i]]
        sent_by_all += sent
        steps += size * (uses[c] + 2)
        layout += BYTES_OF_CLIQUE + BYTES_OF_OPERAND * uses[c]
        row = 32.0 if size < 4096.0 else (128.0 if size < 262144.0 else 512.0)  # as in lay_out
        form = 16 * int(size) + min(uses[c], 15) if size < 4096.0 else -1
        if form < 0 or seen[form] == 0:
            layout += 4.0 * uses[c] * (size / row + 3.0 * row)
            if form >= 0:
                seen[form] = 1
    return sent_by_all, layout, steps


def gather_operands(
    r: ReducedArrays, clique_at: Ints, cliques: Ints32, kept: Ints32, parent: Ints32, home: Ints
):
    """Give large cliques fewer operands: multiply small ones beforehand, in cliques that sum out nothing.

    Such a clique stands between the operands and the clique; each entry of the large one then costs a look-up
    for the group instead of one for each member, going in and coming out. Returns the new tree and homes.
    """
    m, count, n_factors = r.cards.size, parent.size, r.factors.size
    begin = np.zeros(count + 1, np.int64)
    for g in range(n_factors):
        begin[home[g] + 1] += 1
    for c in range(count):
        if parent[c] >= 0:
            begin[parent[c] + 1] += 1
    for c in range(count):
        begin[c + 1] += begin[c]
    members = np.empty(begin[count], np.int64)  # tables, then cliques numbered from n_factors
    fill = begin[:count].copy()
    for g in range(n_factors):
        members[fill[home[g]]] = g
        fill[home[g]] += 1
    for c in range(count):
        if parent[c] >= 0:
            members[fill[parent[c]]] = n_factors + c
            fill[parent[c]] += 1

    # Groups of all cliques, in the order in which they are made; a group may be a member of a later one.
    group_home = np.empty(members.size, np.int64)
    group_scope = np.empty(members.size, np.uint64)
    joined = np.full(n_factors + count + members.size, -1, np.int64)  # the group that each item went into
    n_groups = 0
    position = np.zeros(m, np.int64)
    one = np.uint64(1)
    scope = np.zeros(MOST_OPERANDS, np.uint64)
    item = np.zeros(MOST_OPERANDS, np.int64)
    for c in range(count):
        width, k = clique_at[c + 1] - clique_at[c], begin[c + 1] - begin[c]
        if k < 3 or k > MOST_OPERANDS or width > 60:
            continue
        size = 1.0
        for i in range(width):
            v = cliques[clique_at[c] + i]
            position[v] = i
            size *= r.cards[v]
        if size < LEAST_ENTRIES or size < k * k * (k // 16):  # searching for pairs must not take longer
            continue
        for o in range(k):
            item[o] = members[begin[c] + o]
            scope[o] = np.uint64(0)
            if item[o] < n_factors:
                for i in range(r.scope_at[item[o]], r.scope_at[item[o] + 1]):
                    scope[o] |= one << np.uint64(position[r.scopes[i]])
            else:
                child = item[o] - n_factors
                for i in range(clique_at[child] + kept[child], clique_at[child + 1]):
                    scope[o] |= one << np.uint64(position[cliques[i]])
        while k > 2:
            best, best_i, best_j = size / SHARE, -1, -1
            for i in range(k):
                for j in range(i):
                    union = scope[i] | scope[j]
                    entries = 1.0
                    for x in range(width):
                        if (union >> np.uint64(x)) & one:
                            entries *= r.cards[cliques[clique_at[c] + x]]
                    if entries <= best:
                        best, best_i, best_j = entries, i, j
            if best_i < 0:
                break
            union = scope[best_i] | scope[best_j]
            target, other = -1, -1
            for x in (best_i, best_j):  # a group that has the whole scope already takes the other in
                if item[x] >= n_factors + count and scope[x] == union and target < 0:
                    target = x
            if target < 0:
                group_home[n_groups] = c
                group_scope[n_groups] = union
                joined[item[best_i]] = n_groups
                joined[item[best_j]] = n_groups
                item[best_j] = n_factors + count + n_groups
                scope[best_j] = union
                n_groups += 1
                target, other = best_j, best_i
            else:
                other = best_i if target == best_j else best_j
                joined[item[other]] = item[target] - n_factors - count
            k -= 1
            item[other] = item[k]
            scope[other] = scope[k]
    if n_groups == 0:
        return clique_at, cliques, kept, parent, home

    # Renumber: the groups of a clique come right before it, in the order in which they were made.
    extra = 0
    group_at = np.zeros(count + 1, np.int64)
    for q in range(n_groups):
        group_at[group_home[q] + 1] += 1
        for x in range(64):
            if (group_scope[q] >> np.uint64(x)) & one:
                extra += 1
    for c in range(count):
        group_at[c + 1] += group_at[c]
    total = count + n_groups
    new_at = np.zeros(total + 1, np.int64)
    new_cliques = np.empty(cliques.size + extra, np.int32)
    new_kept = np.zeros(total, np.int32)
    new_parent = np.empty(total, np.int32)
    number = np.empty(count, np.int64)
    w, i = 0, 0
    for c in range(count):
        for q in range(group_at[c], group_at[c + 1]):
            for x in range(64):
                if (group_scope[q] >> np.uint64(x)) & one:
                    new_cliques[w] = cliques[clique_at[c] + x]
                    w += 1
            i += 1
            new_at[i] = w
        number[c] = i
        for j in range(clique_at[c], clique_at[c + 1]):
            new_cliques[w] = cliques[j]
            w += 1
        new_kept[i] = kept[c]
        i += 1
        new_at[i] = w
    for q in range(n_groups):
        c = group_home[q]
        into = joined[n_factors + count + q]
        mine = number[c] - group_at[c + 1] + q
        new_parent[mine] = number[c] if into < 0 else number[c] - group_at[c + 1] + into
    new_home = np.empty(n_factors, np.int64)
    for g in range(n_factors):
        c, into = home[g], joined[g]
        new_home[g] = number[c] if into < 0 else number[c] - group_at[c + 1] + into
    for c in range(count):
        if parent[c] < 0:
            new_parent[number[c]] = -1
        else:
            up, into = parent[c], joined[n_factors + c]
            new_parent[number[c]] = number[up] if into < 0 else number[up] - group_at[up + 1] + into
    return new_at, new_cliques, new_kept, new_parent, new_home


def order_axes(
    r: ReducedArrays,
    clique_at: Ints,
    cliques: Ints32,
    kept: Ints32,
    parent: Ints32,
    home: Ints,
    targets: Ints32,
):
    """Put the variables of each clique in an order in which its operands lie side by side along a row.

    What a clique sends comes last, in the order that its parent has; so only what it sums out, and the order
    of a root, are free. There the variables that most operands of large cliques share come last: along those
    a row and its operands move together, and nothing has to be looked up.
    """
    m, count = r.cards.size, parent.size
    size = np.ones(count)
    n_operands = np.zeros(count)
    for c in range(count):
        for i in range(clique_at[c], clique_at[c + 1]):
            size[c] *= r.cards[cliques[i]]
        if parent[c] >= 0:
            n_operands[parent[c]] += 1
    for g in range(r.factors.size):
        n_operands[home[g]] += 1
    shared = np.zeros(m)
    for c in range(count):
        for i in range(clique_at[c], clique_at[c + 1]):
            shared[cliques[i]] -= size[c] * n_operands[c]
            if parent[c] >= 0 and i >= clique_at[c] + kept[c]:
                shared[cliques[i]] += 2 * size[parent[c]]
    for g in range(r.factors.size):
        for i in range(r.scope_at[g], r.scope_at[g + 1]):
            shared[r.scopes[i]] += 2 * size[home[g]]

    ordered = cliques.copy()
    key = np.zeros(m)
    for c in range(count - 1, -1, -1):
        begin, end = clique_at[c], clique_at[c + 1]
        middle = begin + kept[c] if parent[c] >= 0 else end
        for i in range(begin, middle):
            key[ordered[i]] = shared[ordered[i]]
        if c == count - 1:
            for i in range(targets.size):
                key[targets[i]] = np.inf
        if parent[c] >= 0:
            up = parent[c]
            for i in range(clique_at[up], clique_at[up + 1]):
                key[ordered[i]] = i
        for first, last in ((begin, middle), (middle, end)):
            for i in range(first + 1, last):
                v, j = ordered[i], i
                while j > first and key[ordered[j - 1]] > key[v]:
                    ordered[j] = ordered[j - 1]
                    j -= 1
                ordered[j] = v
        if c == count - 1:
            for i in range(targets.size):
                ordered[end - targets.size + i] = targets[i]
    return ordered


def shares(parent: Ints, cost: Floats, threads: int):
    """Which thread sweeps each clique, -1 for what is left between those parts and the roots.

    Parts are whole subtrees, at first one below each root. The largest is split at its top for as long as
    this shortens the time of the threads plus that of what is left.
    """
    count = parent.size
    below = cost.copy()
    n_children = np.zeros(count + 1, np.int64)
    for c in range(count):
        if parent[c] >= 0:
            below[parent[c]] += below[c]
            n_children[parent[c] + 1] += 1
    for c in range(count):
        n_children[c + 1] += n_children[c]
    children = np.empty(count, np.int64)
    fill = n_children[:count].copy()
    for c in range(count):
        if parent[c] >= 0:
            children[fill[parent[c]]] = c
            fill[parent[c]] += 1
    tops = np.empty(count, np.int64)
    n_tops, left = 0, 0.0
    total = 0.0
    for c in range(count):
        if parent[c] < 0:
            tops[n_tops] = c
            n_tops += 1
            total += below[c]
    small = total / 1000.0  # parts below this are not worth sorting
    owner = np.full(count, -1, np.int64)
    best_time = np.inf
    loads = np.zeros(threads)
    mine = np.empty(count, np.int64)
    for _ in range(200):
        # The largest first, each to the thread that has least.
        for k in range(1, n_tops if n_tops <= 1000 else 0):  # of so many the order hardly matters
            top, i = tops[k], k
            while i > 0 and below[tops[i - 1]] < below[top]:
                tops[i] = tops[i - 1]
                i -= 1
            tops[i] = top
        for i in range(threads):
            loads[i] = 0.0
        longest = 0.0
        for k in range(n_tops):
            least = 0
            for i in range(threads):
                if loads[i] < loads[least]:
                    least = i
            loads[least] += below[tops[k]]
            mine[k] = least
            longest = max(longest, loads[least])
        if longest + left < best_time:
            best_time = longest + left
            for c in range(count):
                owner[c] = -1
            for k in range(n_tops):
                owner[tops[k]] = mine[k]
        if n_tops == 0 or n_tops > 1000 or below[tops[0]] < small or left > best_time:
            break
        top = tops[0]
        left += cost[top]
        n_tops -= 1
        tops[0] = tops[n_tops]
        for i in range(n_children[top], n_children[top + 1]):
            tops[n_tops] = children[i]
            n_tops += 1
    for c in range(count - 1, -1, -1):  # what hangs below belongs to the same thread
        if owner[c] < 0 and parent[c] >= 0:
            owner[c] = owner[parent[c]]
    return owner


def lay_out(
    r: ReducedArrays,
    clique_at: Ints,
    cliques: Ints32,
    kept: Ints32,
    parent: Ints32,
    table_home: Ints,
    targets: Ints32,
    result_scope_at: Ints,
    result_scopes: Ints32,
    stop: Flag,
):
    """Turn cliques into the arrays of a tree: sizes, which table goes where, and how indices move along rows.

    With targets the last clique is a root that keeps them, in this order, as if it sent them on. Useless when
    stopped.
    """
    m, n_cliques, n_factors = r.cards.size, parent.size, r.factors.size
    n_items = n_factors + n_cliques
    axes = cliques.copy()
    sends = np.empty(n_cliques, np.int64)
    for c in range(n_cliques):
        sends[c] = clique_at[c + 1] - clique_at[c] - kept[c]
    rank = np.zeros(m, np.int64)
    if targets.size > 0:
        c = n_cliques - 1
        for i in range(targets.size):
            rank[targets[i]] = 1
        w = clique_at[c]
        for i in range(clique_at[c], clique_at[c + 1]):
            if rank[cliques[i]] == 0:
                axes[w] = cliques[i]
                w += 1
        for i in range(targets.size):
            axes[w + i] = targets[i]
        sends[c] = targets.size

    # The clique that sums a variable out, and the place of each variable in the order of summing out.
    clique_of = np.full(m, -1, np.int64)
    place = 0
    for c in range(n_cliques):
        for i in range(clique_at[c], clique_at[c + 1] - (sends[c] if parent[c] >= 0 else 0)):
            clique_of[axes[i]] = c
            rank[axes[i]] = place
            place += 1

    size = np.ones(n_cliques, np.int64)
    sent = np.ones(n_cliques, np.int64)
    inner = np.ones(n_cliques, np.int64)
    split = np.zeros(n_cliques, np.int64)
    all_at = np.zeros(n_cliques + 1, np.int64)
    item_at = np.zeros(n_items + 1, np.int64)
    widest = 1
    for g in range(n_factors):
        item_at[g] = r.table_at[g]
    at = r.table_at[n_factors]
    for c in range(n_cliques):
        widest = max(widest, clique_at[c + 1] - clique_at[c])
        split[c] = clique_at[c + 1]
        for i in range(clique_at[c + 1] - 1, clique_at[c] - 1, -1):
            states = r.cards[axes[i]]
            size[c] *= states
            if i >= clique_at[c + 1] - sends[c]:
                sent[c] *= states
        row = 32 if size[c] < 4096 else (128 if size[c] < 262144 else 512)
        while inner[c] < row and split[c] > clique_at[c]:
            split[c] -= 1
            inner[c] *= r.cards[axes[split[c]]]
        all_at[c + 1] = all_at[c] + size[c]
        item_at[n_factors + c] = at
        at += sent[c]
    item_at[n_items] = at

    # Operands of each clique: its tables, then what its children send.
    home = np.empty(n_items, np.int64)
    operand_at = np.zeros(n_cliques + 1, np.int64)
    for g in range(n_factors):
        home[g] = table_home[g]
        operand_at[home[g] + 1] += 1
    for c in range(n_cliques):
        home[n_factors + c] = parent[c]
        if parent[c] >= 0:
            operand_at[parent[c] + 1] += 1
    for c in range(n_cliques):
        operand_at[c + 1] += operand_at[c]
    operand = np.empty(operand_at[n_cliques], np.int64)
    fill = operand_at[:n_cliques].copy()
    for item in range(n_items):
        if home[item] >= 0:
            operand[fill[home[item]]] = item
            fill[home[item]] += 1

    # Results: a single variable is read where that is cheapest, a scope where its table lives.
    n_results = result_scope_at.size - 1
    result_at = np.zeros(n_results + 1, np.int64)
    source = np.full(n_results, -1, np.int64)
    through = np.zeros(n_results, np.uint8)
    cheapest = np.full(m, -1, np.int64)
    cost = np.zeros(m, np.int64)
    by_message = np.zeros(m, np.uint8)
    for c in range(n_cliques):
        for i in range(clique_at[c], clique_at[c + 1]):
            v = axes[i]
            if cheapest[v] < 0 or size[c] < cost[v]:
                cheapest[v], cost[v], by_message[v] = c, size[c], 0
            if parent[c] >= 0 and i >= clique_at[c + 1] - sends[c] and sent[c] <= cost[v]:
                cheapest[v], cost[v], by_message[v] = c, sent[c], 1
    wanted_at = np.zeros(n_cliques + 1, np.int64)
    passing_at = np.zeros(n_cliques + 1, np.int64)
    for q in range(n_results):
        k = result_scope_at[q + 1] - result_scope_at[q]
        entries, low, c = 1, m, -1
        for i in range(result_scope_at[q], result_scope_at[q + 1]):
            v = result_scopes[i]
            entries *= r.cards[v]
            if rank[v] < low:
                low = rank[v]
                c = clique_of[v]
        if k == 1:
            v = result_scopes[result_scope_at[q]]
            c = cheapest[v]
            through[q] = by_message[v]
        source[q] = c
        result_at[q + 1] = result_at[q] + entries
        if through[q] == 1:
            passing_at[c + 1] += 1
        else:
            wanted_at[c + 1] += 1
    for c in range(n_cliques):
        wanted_at[c + 1] += wanted_at[c]
        passing_at[c + 1] += passing_at[c]
    wanted = np.empty(wanted_at[n_cliques], np.int64)
    passing = np.empty(passing_at[n_cliques], np.int64)
    fill = wanted_at[:n_cliques].copy()
    fill_passing = passing_at[:n_cliques].copy()
    for q in range(n_results):
        c = source[q]
        if through[q] == 1:
            passing[fill_passing[c]] = q
            fill_passing[c] += 1
        else:
            wanted[fill[c]] = q
            fill[c] += 1

    # How each operand and each result moves along the rows of its clique.
    n_index = 0
    for c in range(n_cliques):
        uses = operand_at[c + 1] - operand_at[c] + wanted_at[c + 1] - wanted_at[c]
        n_index += uses * (size[c] // inner[c] + 3 * inner[c]) + (passing_at[c + 1] - passing_at[c]) * sent[c]
    index = np.empty(n_index, np.int32)
    kind = np.zeros(operand.size, np.int64)
    run = np.ones(operand.size, np.int64)
    short_at = np.zeros(operand.size, np.int64)
    short = np.zeros(operand.size, np.int64)
    outer_at = np.zeros(operand.size, np.int64)
    inner_at = np.zeros(operand.size, np.int64)
    wanted_kind = np.zeros(wanted.size, np.int64)
    wanted_run = np.ones(wanted.size, np.int64)
    wanted_short_at = np.zeros(wanted.size, np.int64)
    wanted_short = np.zeros(wanted.size, np.int64)
    wanted_outer = np.zeros(wanted.size, np.int64)
    wanted_inner = np.zeros(wanted.size, np.int64)
    passing_index = np.zeros(passing.size, np.int64)
    stride = np.zeros(widest, np.int64)
    card = np.zeros(widest, np.int64)
    axis_of = np.full(m, -1, np.int64)
    # Cliques of one form use one part of the look-up: a chain of a million has a handful.
    n_slots = 16
    while n_slots < 2 * operand.size:
        n_slots *= 2
    slots = np.full(n_slots, -1, np.int64)  # the first operand of each form, by a hash of its form
    form_at = np.zeros(operand.size, np.int64)
    forms, n_forms = np.empty(1024, np.int64), 0
    at = 0
    for c in range(n_cliques):
        begin, end = clique_at[c], clique_at[c + 1]
        for i in range(begin, end):
            axis_of[axes[i]] = i - begin
            card[i - begin] = r.cards[axes[i]]
        cut = split[c] - begin
        for o in range(operand_at[c], operand_at[c + 1]):
            if stop[0] != 0:
                break
            item = operand[o]
            stride[: end - begin] = 0
            step = 1
            if item < n_factors:
                for i in range(r.scope_at[item + 1] - 1, r.scope_at[item] - 1, -1):
                    stride[axis_of[r.scopes[i]]] = step
                    step *= r.cards[r.scopes[i]]
            else:
                child = item - n_factors
                for i in range(clique_at[child + 1] - 1, clique_at[child + 1] - sends[child] - 1, -1):
                    stride[axis_of[axes[i]]] = step
                    step *= r.cards[axes[i]]
            # A form is what the walk below depends on; the same as one before?
            length = 2 * (end - begin) + 3
            while n_forms + length > forms.size:
                forms = np.concatenate((forms, np.empty(forms.size, np.int64)))
            form = forms[n_forms : n_forms + length]
            form[0], form[1], form[2] = end - begin, cut, 1 if item >= n_factors else 0
            for i in range(end - begin):
                form[3 + 2 * i], form[4 + 2 * i] = card[i], stride[i]
            hashed = 0
            for i in range(length):
                hashed = ((hashed ^ (form[i] & 0x7FFFFFFF)) * 1000003) & 0x7FFFFFFF  # never past 2**53
            place = (hashed ^ (hashed >> 13)) & (n_slots - 1)
            same = -1
            while slots[place] >= 0 and same < 0:
                other = forms[form_at[slots[place]] : form_at[slots[place]] + length]
                equal = other.size == length
                for i in range(other.size):
                    equal = equal and other[i] == form[i]
                if equal:
                    same = slots[place]
                else:
                    place = (place + 1) & (n_slots - 1)
            if same >= 0:
                outer_at[o], inner_at[o], kind[o], run[o] = (
                    outer_at[same],
                    inner_at[same],
                    kind[same],
                    run[same],
                )
                short_at[o], short[o] = short_at[same], short[same]
                continue
            slots[place] = o
            form_at[o] = n_forms
            n_forms += length
            outer_at[o] = at
            at += _walk(card, stride, 0, cut, index, at)
            inner_at[o] = at
            length = _walk(card, stride, cut, end - begin, index, at)
            kind[o], run[o] = _pattern(index, at, length)
            if kind[o] >= 2:
                at += length // run[o]
                if item >= n_factors:
                    short_at[o] = at
                    short[o] = _shorten(card, stride, cut, end - begin, index, at)
                    if short[o] != 0:
                        at += abs(short[o]) + length // abs(short[o])
        for w in range(wanted_at[c], wanted_at[c + 1]):
            if stop[0] != 0:
                break
            q = wanted[w]
            stride[: end - begin] = 0
            step = 1
            for i in range(result_scope_at[q + 1] - 1, result_scope_at[q] - 1, -1):
                stride[axis_of[result_scopes[i]]] = step
                step *= r.cards[result_scopes[i]]
            wanted_outer[w] = at
            at += _walk(card, stride, 0, cut, index, at)
            wanted_inner[w] = at
            length = _walk(card, stride, cut, end - begin, index, at)
            wanted_kind[w], wanted_run[w] = _pattern(index, at, length)
            if wanted_kind[w] >= 2:
                at += length // wanted_run[w]
                wanted_short_at[w] = at
                wanted_short[w] = _shorten(card, stride, cut, end - begin, index, at)
                if wanted_short[w] != 0:
                    at += abs(wanted_short[w]) + length // abs(wanted_short[w])
        for w in range(passing_at[c], passing_at[c + 1]):
            stride[: end - begin] = 0
            stride[axis_of[result_scopes[result_scope_at[passing[w]]]]] = 1
            passing_index[w] = at
            at += _walk(card, stride, end - begin - sends[c], end - begin, index, at)
    parents = np.empty(n_cliques, np.int64)
    for c in range(n_cliques):
        parents[c] = parent[c]
    used = index[:at]
    if 2 * at < n_index:  # else the copy would take more memory than it frees
        used = used.copy()
    return (
        axes,
        parents,
        size,
        sent,
        inner,
        all_at,
        item_at,
        operand_at,
        operand,
        kind,
        run,
        short_at,
        short,
        outer_at,
        inner_at,
        result_at,
        wanted_at,
        wanted,
        wanted_kind,
        wanted_run,
        wanted_short_at,
        wanted_short,
        wanted_outer,
        wanted_inner,
        passing_at,
        passing,
        passing_index,
        used,
        clique_of,
    )
