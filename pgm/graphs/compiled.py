"""Compiled loops over graphs: elimination orders and the cliques that they produce.

A graph is `indptr` and `indices` (sorted neighbour lists, symmetric, without loops) with `log2_card`, the
log2 of the number of states of each vertex. Table sizes are log2 floats everywhere, because products of cards
overflow.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import math

import numpy as np

from pgm.runtime.kinds import Flag, Floats, Ints, Ints32

# How `triangulate` found its order, indexed by the code that it returns.
HEURISTICS = (
    *(
        "given",
        "simplicial",
        "own",
        "cuthill-mckee",
        "reversed",
        "min-weight",
        "min-fill",
        "card-fill",
        "log-fill",
    ),
    *("min-fill, restarted", "card-fill, restarted", "log-fill, restarted"),
)

MANY = 50_000  # vertices; from here on fewer orders are tried
_ROUNDING = 1e-6  # tolerance for sums of log2


def add_log2(a: float, b: float):
    """log2(2^a + 2^b)."""
    if a < b:
        a, b = b, a
    if a == -math.inf or a == math.inf:
        return a
    return a + math.log2(1.0 + 2.0 ** (b - a))


def adjacent(indptr: Ints, indices: Ints32, a: int, b: int):
    """Whether a and b are neighbours, by binary search in the shorter list."""
    if indptr[a + 1] - indptr[a] > indptr[b + 1] - indptr[b]:
        a, b = b, a
    low, high = indptr[a], indptr[a + 1]
    while low < high:
        middle = (low + high) >> 1
        if indices[middle] < b:
            low = middle + 1
        else:
            high = middle
    return low < indptr[a + 1] and indices[low] == b


def simplicial_prefix(indptr: Ints, indices: Ints32, stage: Ints, order: Ints32):
    """Eliminate simplicial vertices while there are any; return how many.

    Such a clique is in every triangulation, so this loses nothing, and no edge is added: every check reads
    the graph as given. A vertex that fails remembers two neighbours that are not adjacent, and is checked
    again once one of them has gone.
    """
    n = indptr.size - 1
    widest = 32
    alive = np.ones(n, np.uint8)
    degree = np.empty(n, np.int64)
    witness = np.full(2 * n, -1, np.int64)
    queue = np.empty(n, np.int64)
    queued = np.ones(n, np.uint8)
    near = np.empty(widest, np.int64)
    first = -stage[0] if n > 0 else 0
    for v in range(n):
        degree[v] = indptr[v + 1] - indptr[v]
        queue[v] = v
        first = max(first, -stage[v])
    head, waiting, done = 0, n, 0
    while waiting > 0:
        v = queue[head]
        head += 1
        if head == n:
            head = 0
        waiting -= 1
        queued[v] = 0
        if degree[v] > widest or -stage[v] < first:
            continue
        d = 0
        for e in range(indptr[v], indptr[v + 1]):
            if alive[indices[e]] == 1:
                near[d] = indices[e]
                d += 1
        clique = True
        for i in range(d):
            for j in range(i):
                if not adjacent(indptr, indices, near[i], near[j]):
                    witness[2 * v] = near[i]
                    witness[2 * v + 1] = near[j]
                    clique = False
                    break
            if not clique:
                break
        if not clique:
            continue
        alive[v] = 0
        order[done] = v
        done += 1
        for i in range(d):
            u = near[i]
            degree[u] -= 1
            seen = witness[2 * u] >= 0 and witness[2 * u] != v and witness[2 * u + 1] != v
            if queued[u] == 0 and not seen:
                witness[2 * u] = -1
                queued[u] = 1
                queue[(head + waiting) % n] = u
                waiting += 1
    return done


def induced(indptr: Ints, indices: Ints32, names: Ints32, position: Ints32):
    """The subgraph induced by the vertices `names`; position[v] is the index of v in names, or -1."""
    n = names.size
    sub_ptr = np.zeros(n + 1, np.int64)
    sub = np.empty(indices.size, np.int32)
    m = 0
    for i in range(n):
        for e in range(indptr[names[i]], indptr[names[i] + 1]):
            if position[indices[e]] >= 0:
                sub[m] = position[indices[e]]
                m += 1
        sub_ptr[i + 1] = m
    return sub_ptr, sub[:m].copy()


def cuthill_mckee(indptr: Ints, indices: Ints32, order: Ints32):
    """Fill in the reverse Cuthill-McKee order: breadth first from a far end of each component.

    George & Liu 1981, chapter 4.
    """
    n = indptr.size - 1
    m = indices.size
    first = np.zeros(n + 1, np.int64)
    for v in range(n):
        first[indptr[v + 1] - indptr[v] + 1] += 1
    for d in range(n):
        first[d + 1] += first[d]
    by_degree = np.empty(n, np.int32)
    for v in range(n):
        d = indptr[v + 1] - indptr[v]
        by_degree[first[d]] = v
        first[d] += 1
    # Appending the vertices in order of degree to their neighbours' lists sorts every list by degree.
    fill = indptr[:-1].copy()
    near = np.empty(m, np.int32)
    for i in range(n):
        v = by_degree[i]
        for e in range(indptr[v], indptr[v + 1]):
            near[fill[indices[e]]] = v
            fill[indices[e]] += 1
    seen = np.full(n, -1, np.int32)
    begin = 0
    for i in range(n):
        root = by_degree[i]
        if seen[root] >= 3:
            continue
        for sweep in range(1, 4):  # the last vertex reached starts the next sweep, twice
            order[begin] = root
            seen[root] = sweep
            head, tail = begin, begin + 1
            while head < tail:
                v = order[head]
                head += 1
                for e in range(indptr[v], indptr[v + 1]):
                    u = near[e]
                    if seen[u] < sweep:
                        seen[u] = sweep
                        order[tail] = u
                        tail += 1
            root = order[tail - 1]
        begin = tail
    for i in range(n // 2):
        order[i], order[n - 1 - i] = order[n - 1 - i], order[i]


def postordered(indptr: Ints, indices: Ints32, order: Ints32, parent: Ints32):
    """The elimination tree of an order, and its postorder, which has the same cliques.

    Vertices near in the tree are then near in memory. `parent` is by position in the order returned.
    In near-linear time: Liu 1990.
    """
    n = order.size
    position = np.empty(n, np.int32)
    above = np.full(n, -1, np.int32)
    for i in range(n):
        position[order[i]] = i
    ancestor = np.full(n, -1, np.int32)
    for i in range(n):
        v = order[i]
        for e in range(indptr[v], indptr[v + 1]):
            j = position[indices[e]]
            while j != -1 and j < i:
                up = ancestor[j]
                ancestor[j] = i
                if up == -1:
                    above[j] = i
                j = up
    # Without recursion: children as linked lists, a stack of the path.
    child, sibling = ancestor, position  # reuses the memory of arrays no longer needed
    child[:] = -1
    for i in range(n - 1, -1, -1):
        if above[i] >= 0:
            sibling[i] = child[above[i]]
            child[above[i]] = i
    post = np.empty(n, np.int32)
    stack = np.empty(n, np.int32)
    orphan = np.full(n + 1, -1, np.int32)  # at each depth, the last vertex whose parent is not numbered yet
    k = 0
    for root in range(n):
        if above[root] >= 0:
            continue
        stack[0] = root
        top = 0
        while top >= 0:
            i = stack[top]
            if child[i] >= 0:
                top += 1
                stack[top] = child[i]
                child[i] = sibling[child[i]]
            else:
                post[k] = order[i]
                j, orphan[top + 1] = orphan[top + 1], -1
                while j >= 0:
                    other = parent[j]
                    parent[j] = k
                    j = other
                parent[k] = -1
                if top > 0:
                    parent[k] = orphan[top]
                    orphan[top] = k
                top -= 1
                k += 1
    return post


def columns(
    indptr: Ints,
    indices: Ints32,
    log2_card: Floats,
    order: Ints32,
    parent: Ints32,
    count: Ints,
    weight: Floats,
):
    """The size and log2 weight of each vertex's clique, by position in an order from `postordered`.

    In near-linear time (Gilbert, Ng & Peyton 1994): vertex i is in the cliques of the subtree of
    vertices between i and its earlier neighbours, so its weight is added at the leaves of that subtree and
    subtracted where two paths meet and above i; sums up the tree do the rest. Returns the log2 of the sum and
    of the largest of the maximal cliques, and the sum of their sizes.
    """
    n = order.size
    position = np.empty(n, np.int32)
    first = np.empty(n, np.int32)  # where the subtree of each vertex begins
    for i in range(n):
        position[order[i]] = i
        first[i] = i
        count[i] = 0
        weight[i] = 0.0
    for i in range(n):
        if first[i] == i:
            count[i] = 1
            weight[i] = log2_card[order[i]]
        up = parent[i]
        if up >= 0:
            first[up] = min(first[up], first[i])
    furthest = np.full(n, -1, np.int32)
    last_leaf = np.full(n, -1, np.int32)
    ancestor = np.arange(n)
    for j in range(n):
        up = parent[j]
        if up >= 0:
            count[up] -= 1
            weight[up] -= log2_card[order[j]]
        v = order[j]
        for e in range(indptr[v], indptr[v + 1]):
            i = position[indices[e]]
            if i <= j or first[j] <= furthest[i]:
                continue
            furthest[i] = first[j]
            before = last_leaf[i]
            last_leaf[i] = j
            w = log2_card[indices[e]]
            count[j] += 1
            weight[j] += w
            if before >= 0:
                q = before
                while q != ancestor[q]:
                    q = ancestor[q]
                while before != q:
                    up = ancestor[before]
                    ancestor[before] = q
                    before = up
                count[q] -= 1
                weight[q] -= w
        if parent[j] >= 0:
            ancestor[j] = parent[j]
    absorbed = np.zeros(n, np.uint8)
    for i in range(n):
        up = parent[i]
        if up >= 0:
            count[up] += count[i]
            weight[up] += weight[i]
    total, largest, sizes = -math.inf, -math.inf, 0
    for i in range(n):
        # count[i] is final here, and so is its parent's: is the parent's clique contained in this one?
        if parent[i] >= 0 and count[i] == count[parent[i]] + 1:
            absorbed[parent[i]] = 1
        if absorbed[i] == 0:
            total = add_log2(total, weight[i])
            largest = max(largest, weight[i])
            sizes += count[i]
    return total, largest, sizes


def clique_tree(
    indptr: Ints, indices: Ints32, order: Ints32, parent: Ints32, count: Ints, sizes: int, stop: Flag
):
    """Maximal cliques of an order and their tree; children come before parents. Useless when stopped.

    `clique_vars` lists for each clique the variables that no later clique contains, then its separator.
    """
    n = order.size
    position = np.empty(n, np.int32)
    for i in range(n):
        position[order[i]] = i
    # A supernode is a chain of the elimination tree in which each clique is contained in the one before; heir
    # continues it. If several could be continued, the one eliminated last is: linked variables that come
    # last in an order are then the residual of one clique.
    first = np.arange(n).astype(np.int32)
    heir = np.full(n, -1, np.int32)
    for i in range(n - 1, -1, -1):
        up = parent[i]
        if up >= 0 and count[i] == count[up] + 1 and first[up] == up:
            heir[i] = up
            first[up] = i
    for i in range(n):
        if heir[i] >= 0:
            first[heir[i]] = first[i]
    # Numbered by its last vertex, a clique comes before its parent.
    number = np.full(n, -1, np.int32)
    total = 0
    for i in range(n):
        if heir[i] < 0:
            number[first[i]] = total
            total += 1
    clique_ptr = np.zeros(total + 1, np.int64)
    n_residual = np.zeros(total, np.int32)
    clique_parent = np.full(total, -1, np.int32)
    for i in range(n):
        c = number[first[i]]
        n_residual[c] += 1
        if first[i] == i:
            clique_ptr[c + 1] = count[i]
        if heir[i] < 0 and parent[i] >= 0:
            clique_parent[c] = number[first[parent[i]]]
    for c in range(total):
        clique_ptr[c + 1] += clique_ptr[c]
    # Members in any order first: the vertex's later neighbours, and what the children pass up.
    members = np.empty(sizes, np.int32)
    fill = clique_ptr[:-1].copy()
    mark = np.full(n, -1, np.int32)
    head = np.full(n, -1, np.int32)  # for each vertex, the cliques whose separator starts there
    following = np.full(total, -1, np.int32)
    last = np.full(total, -1, np.int32)
    for i in range(n):
        if heir[i] < 0:
            last[number[first[i]]] = i
    for i in range(n):
        if stop[0] != 0:
            return clique_ptr, members, n_residual, clique_parent
        c = number[first[i]]
        if first[i] == i:
            mark[i] = i
            members[fill[c]] = i
            fill[c] += 1
            v = order[i]
            for e in range(indptr[v], indptr[v + 1]):
                j = position[indices[e]]
                if j > i and mark[j] != i:
                    mark[j] = i
                    members[fill[c]] = j
                    fill[c] += 1
            b = head[i]
            while b >= 0:
                for e in range(clique_ptr[b], clique_ptr[b + 1]):
                    j = members[e]
                    if j > i and mark[j] != i:
                        mark[j] = i
                        members[fill[c]] = j
                        fill[c] += 1
                b = following[b]
        if heir[i] < 0 and parent[i] >= 0:
            following[c] = head[parent[i]]
            head[parent[i]] = c
    # Transposing twice sorts every clique by position in the order, which puts the residual first.
    start = np.zeros(n + 1, np.int64)
    for e in range(sizes):
        start[members[e] + 1] += 1
    for i in range(n):
        start[i + 1] += start[i]
    owner = np.empty(sizes, np.int32)
    for c in range(total):
        for e in range(clique_ptr[c], clique_ptr[c + 1]):
            owner[start[members[e]]] = c
            start[members[e]] += 1
        fill[c] = clique_ptr[c]
    e = 0
    for i in range(n):
        while e < start[i]:
            c = owner[e]
            members[fill[c]] = order[i]
            fill[c] += 1
            e += 1
    return clique_ptr, members, n_residual, clique_parent


def missing_edges(indptr: Ints, indices: Ints32, weight: Floats, found: Floats, stop: Flag):
    """For each vertex, the sum of weight[a] * weight[b] over its non-adjacent pairs of neighbours.

    Useless when stopped.
    """
    n = indptr.size - 1
    for v in range(n):
        total, squares = 0.0, 0.0
        for e in range(indptr[v], indptr[v + 1]):
            w = weight[indices[e]]
            total += w
            squares += w * w
        found[v] = 0.5 * (total * total - squares)
    # Count each triangle once, from its vertex of smallest degree, so that hubs stay cheap.
    mark = np.full(n, -1, np.int64)
    for v in range(n):
        if stop[0] != 0:
            return
        dv = indptr[v + 1] - indptr[v]
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            du = indptr[u + 1] - indptr[u]
            if du > dv or (du == dv and u > v):
                mark[u] = v
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if mark[u] != v:
                continue
            du = indptr[u + 1] - indptr[u]
            for f in range(indptr[u], indptr[u + 1]):
                x = indices[f]
                if mark[x] == v and (
                    indptr[x + 1] - indptr[x] > du or (indptr[x + 1] - indptr[x] == du and x > u)
                ):
                    found[v] -= weight[u] * weight[x]
                    found[u] -= weight[v] * weight[x]
                    found[x] -= weight[v] * weight[u]


def play(win: Ints32, key: Floats, leaves: int):
    """Fill a tournament tree whose leaves are set: `win[1]` has the least key."""
    for p in range(leaves - 1, 0, -1):
        win[p] = win[2 * p + 1] if key[win[2 * p + 1]] < key[win[2 * p]] else win[2 * p]


def replay(win: Ints32, key: Floats, leaves: int, i: int):
    """Replay the matches of leaf i, up to where another leaf remains the winner."""
    p = (leaves + i) >> 1
    while p > 0:
        a, b = win[2 * p], win[2 * p + 1]
        if key[b] < key[a]:
            a = b
        if win[p] == a and a != i:
            return
        win[p] = a
        p >>= 1


def least_clique(indptr: Ints, indices: Ints32, log2_card: Floats):
    """A lower bound on the largest clique of any order: log2 of its entries.

    In any subgraph, the first of its vertices to be eliminated has all its neighbours there in its clique.
    The subgraphs come from repeatedly removing the vertex of least weight: the weighted degeneracy (Matula
    & Beck 1983).
    """
    n = log2_card.size
    leaves = 1
    while leaves < n:
        leaves *= 2
    key = np.full(n + 1, math.inf)
    win = np.full(2 * leaves, n, np.int32)
    for v in range(n):
        win[leaves + v] = v
        key[v] = log2_card[v]
        for e in range(indptr[v], indptr[v + 1]):
            key[v] += log2_card[indices[e]]
    play(win, key, leaves)
    least = -math.inf
    for _ in range(n):
        v = win[1]
        least = max(least, key[v])
        key[v] = math.inf
        replay(win, key, leaves, v)
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if key[u] < math.inf:
                key[u] -= log2_card[v]
                replay(win, key, leaves, u)
    return least


def greedy(
    indptr: Ints,
    indices: Ints32,
    log2_card: Floats,
    stage: Ints,
    fill_weight: Floats,
    missing: Floats,
    noise: Floats,
    rule: int,
    bound: float,
    budget: float,
    order: Ints32,
    stop: Flag,
):
    """Eliminate the cheapest vertex again and again; stop early once the clique sizes sum to over 2^bound.

    The cost of a vertex is the weight of the edges that eliminating it would add, then the weight of its
    clique; under rule 0, the weight of the clique alone. Vertices of a lower stage go first. Costs
    are updated for each new edge: (a, b) is no longer missing at any common
    neighbour, and a and b gain a neighbour each. Returns a status (0 done, 1 stopped, 2 past the
    bound, 3 past the budget), the log2 of the sum, and the operations used.
    """
    n = log2_card.size
    fills = rule > 0
    scale = 0.001 if fills else 1.0
    size = np.empty(n, np.int64)
    room = np.empty(n, np.int64)
    start = np.empty(n, np.int64)
    used = 0
    for v in range(n):
        size[v] = indptr[v + 1] - indptr[v]
        room[v] = size[v] + 4
        start[v] = used
        used += room[v]
    pool = np.empty(2 * used, np.int32)
    clique = np.empty(n)
    around = np.zeros(n)
    cost = np.zeros(n)
    leaves = 1
    while leaves < n:
        leaves *= 2
    key = np.full(n + 1, math.inf)
    for v in range(n):
        clique[v] = log2_card[v]
        for e in range(size[v]):
            u = indices[indptr[v] + e]
            pool[start[v] + e] = u
            clique[v] += log2_card[u]
            around[v] += fill_weight[u]
        if fills:
            cost[v] = missing[v]
    win = np.full(2 * leaves, n, np.int32)
    level = 0
    levels = 0
    for v in range(n):
        win[leaves + v] = v
        levels = max(levels, stage[v])
    mark = np.zeros(n, np.int64)
    touched = np.zeros(n, np.int64)
    changed = np.empty(n, np.int64)
    near = np.empty(n, np.int32)
    at = np.empty(n, np.int64)
    tick, turn, work, done, free = 0, 0, n + indices.size, 0, -1
    total = -math.inf
    level = -1
    alive = np.ones(n, np.uint8)
    while done < n:
        v = free
        if v < 0:
            v = win[1]
            while key[v] == math.inf:  # nothing left of this stage
                level += 1
                for u in range(n):
                    if stage[u] == level and alive[u] == 1:
                        key[u] = (max(cost[u], 0.0) + scale * clique[u]) * noise[u]
                play(win, key, leaves)
                v = win[1]
            total = add_log2(total, clique[v])
            if total > bound:
                return 2, total, work
        if stop[0] != 0:
            return 1, total, work
        if work > budget:
            return 3, total, work
        order[done] = v
        done += 1
        alive[v] = 0
        key[v] = math.inf
        replay(win, key, leaves, v)
        d = size[v]
        for i in range(d):
            near[i] = pool[start[v] + i]
        turn += 1
        n_changed = 0
        work += d
        for i in range(d):
            a = near[i]
            tick += 1
            mark[a] = tick
            work += size[a]
            for e in range(size[a]):
                x = pool[start[a] + e]
                mark[x] = tick
                if x == v:
                    at[i] = e
            if free >= 0:
                continue
            work += d - i
            for j in range(i + 1, d):
                b = near[j]
                if mark[b] == tick:
                    continue
                if fills:
                    common = 0.0
                    w = fill_weight[a] * fill_weight[b]
                    work += size[b]
                    for e in range(start[b], start[b] + size[b]):
                        x = pool[e]
                        if mark[x] == tick:
                            common += fill_weight[x]
                            cost[x] -= w
                            if touched[x] != turn:
                                touched[x] = turn
                                changed[n_changed] = x
                                n_changed += 1
                    cost[a] += fill_weight[b] * (around[a] - common)
                    cost[b] += fill_weight[a] * (around[b] - common)
                    around[a] += fill_weight[b]
                    around[b] += fill_weight[a]
                clique[a] += log2_card[b]
                clique[b] += log2_card[a]
                mark[b] = tick
                for side in range(2):
                    x, y = (a, b) if side == 0 else (b, a)
                    if size[x] == room[x]:
                        room[x] = 2 * size[x]
                        if used + room[x] > pool.size:
                            # Move the live lists to a new pool, with the same spare space.
                            needed = 0
                            for u in range(n):
                                if alive[u] == 1:
                                    needed += room[u]
                            fresh = np.empty(2 * needed, np.int32)
                            used = 0
                            for u in range(n):
                                if alive[u] == 1:
                                    for e in range(size[u]):
                                        fresh[used + e] = pool[start[u] + e]
                                    start[u] = used
                                    used += room[u]
                            pool = fresh
                            work += n + needed
                        else:
                            for e in range(size[x]):
                                pool[used + e] = pool[start[x] + e]
                            start[x] = used
                            used += room[x]
                    pool[start[x] + size[x]] = y
                    size[x] += 1
        free = -1
        for i in range(d):
            a = near[i]
            size[a] -= 1
            pool[start[a] + at[i]] = pool[start[a] + size[a]]
            # v's neighbours are now a clique, so what a's cost loses with v is a product.
            cost[a] -= (
                fill_weight[v] * (around[a] - fill_weight[v] - (around[v] - fill_weight[a])) if fills else 0.0
            )
            around[a] -= fill_weight[v]
            clique[a] -= log2_card[v]
            if touched[a] != turn:
                touched[a] = turn
                changed[n_changed] = a
                n_changed += 1
            if size[a] == d - 1 and stage[a] <= level:
                free = a  # its clique is contained in v's: it can be eliminated at once, at no cost
        for i in range(n_changed):
            x = changed[i]
            if alive[x] == 1 and stage[x] <= level:
                key[x] = (max(cost[x], 0.0) + scale * clique[x]) * noise[x]
                replay(win, key, leaves, x)
    return 0, total, work


def neighbourhood(indptr: Ints, indices: Ints32, root: int, most: int):
    """The subgraph of the vertices nearest to root, at most so many, and their names."""
    names = np.empty(most, np.int32)
    position = np.full(indptr.size - 1, -1, np.int32)
    names[0] = root
    position[root] = 0
    head, tail = 0, 1
    while head < tail:
        v = names[head]
        head += 1
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if tail < most and position[u] < 0:
                position[u] = tail
                names[tail] = u
                tail += 1
    names = names[:tail].copy()
    ptr, ids = induced(indptr, indices, names, position)
    return ptr, ids, names


def search(
    indptr: Ints,
    indices: Ints32,
    log2_card: Floats,
    stage: Ints,
    own: Ints32,
    limit: float,
    effort: float,
    budget: float,
    seed: int,
    few: int,
    best: Ints32,
    stop: Flag,
):
    """Put the best elimination order found into `best`.

    First nearly free orders, then the greedy ones, then greedy ones again with the cost of
    each vertex multiplied by a random factor: all drawn afresh at first, later only a tenth of those of
    the best so far. This takes up to `effort` operations per table entry; one operation takes about as
    long as filling an entry. With `few` above 0, only that many orders are tried unless one of them is
    within the limit. Returns a status, the log2 of the sum and of the largest, and which
    heuristic won.
    """
    n = log2_card.size
    size = n + indices.size
    levels = 0
    for v in range(n):
        levels = max(levels, stage[v])
    parent = np.empty(n, np.int32)
    count = np.empty(n, np.int64)
    weight = np.empty(n)
    trial = np.empty(n, np.int32)
    best_total, best_largest, heuristic = math.inf, math.inf, 0
    weights, missing = np.ones((4, 0)), np.zeros((4, 0))  # filled for the greedy orders
    noise, best_noise = np.ones(0), np.ones(0)
    best_rule, least = 0, 0.0
    alike = 1  # all cards equal: the rules that weight edges by cards are then equivalent
    for v in range(n):
        if log2_card[v] != log2_card[0]:
            alike = 0
    draw = 1 + seed % 2147483646
    spent, restart, latest, turn = 0, 0, 0, -1
    while True:
        turn += 1
        status = 0
        rule = turn - 3
        if 0 < few <= turn and best_total > limit:
            break
        if turn < 3:
            if levels > 0 or (turn == 2 and n > MANY):
                continue
            for i in range(n):
                trial[i] = own[i] if turn == 0 else own[n - 1 - i]
            if turn == 1:
                cuthill_mckee(indptr, indices, trial)
        else:
            allowance = 1e6 + 100.0 * size
            if rule == 0:
                weights, missing = np.ones((4, n)), np.zeros((4, n))
                noise, best_noise = np.ones(n), np.ones(n)
                for v in range(n):
                    weights[2, v] = math.floor(2.0 ** min(log2_card[v], 20.0) + 0.5)
                    weights[3, v] = log2_card[v]
            if rule in (2, 3) and alike == 1:
                continue
            if rule >= 4:
                if best_total > 1.5 * limit:
                    break
                if n > MANY and best_largest < best_total - math.log2(n) + 4.0:
                    break  # with many vertices of similar cost, random factors average out
                allowance = min(budget, effort * 2.0 ** min(best_total, 62.0))
                if spent + latest > allowance or allowance < 1000.0:
                    break
                if restart == 0:
                    least = least_clique(indptr, indices, log2_card)
                if least > limit or best_total <= least + _ROUNDING:
                    break
                fresh = spent < 0.3 * allowance
                rule = 1 + restart % 3 if fresh else best_rule
                sigma = 0.05 + 0.05 * (restart // 3 % 6)
                restart += 1
                for v in range(n):
                    draw = draw * 48271 % 2147483647
                    u = draw / 2147483647.0
                    if fresh or u < 0.1:
                        draw = draw * 48271 % 2147483647
                        angle = 2.0 * math.pi * draw / 2147483647.0
                        draw = draw * 48271 % 2147483647
                        radius = math.sqrt(-2.0 * math.log(draw / 2147483647.0))
                        noise[v] = math.exp(sigma * radius * math.cos(angle))
                    else:
                        noise[v] = best_noise[v]
            elif rule > 0:
                missing_edges(indptr, indices, weights[rule], missing[rule], stop)
            status, total, latest = greedy(
                indptr, indices, log2_card, stage, weights[rule], missing[rule], noise, rule,
                best_total, allowance, trial, stop
            )  # fmt: skip
            if turn >= 7:
                spent += latest
            if status == 1:
                break
            if status == 3 and turn < 7:
                turn = 6  # no time for the expensive ones
        if status == 0:
            again = postordered(indptr, indices, trial, parent)
            total, largest, _ = columns(indptr, indices, log2_card, again, parent, count, weight)
            # On a tie, prefer the order that does not depend on how the model is numbered.
            if total < best_total or heuristic == 0 or (turn == 1 and total == best_total):
                best_total, best_largest = total, largest
                heuristic = turn + 2 if turn < 7 else rule + 8
                best_rule = max(rule, 1)
                for i in range(n):
                    best[i] = trial[i]
                for i in range(best_noise.size):
                    best_noise[i] = noise[i]
    return status, best_total, best_largest, heuristic


def core(indptr: Ints, indices: Ints32, log2_card: Floats, stage: Ints, order: Ints32):
    """Put the simplicial vertices first in `order`; return how many, the graph of the rest, and its names."""
    n = log2_card.size
    done = simplicial_prefix(indptr, indices, stage, order)
    position = np.zeros(n, np.int32)
    for i in range(done):
        position[order[i]] = -1
    names = np.empty(n - done, np.int32)
    cards = np.empty(n - done)
    stages = np.empty(n - done, np.int64)
    k = 0
    for v in range(n):
        if position[v] == 0:
            names[k] = v
            cards[k] = log2_card[v]
            stages[k] = stage[v]
            position[v] = k
            k += 1
    ptr, ids = induced(indptr, indices, names, position)
    return done, names, ptr, ids, cards, stages


def ordered(indptr: Ints, indices: Ints32, log2_card: Floats, order: Ints32, limit: float, stop: Flag):
    """A status, the cliques of an order as a tree unless past the limit, and their sizes.

    The status is 0 for done, 1 for stopped, 2 for past the limit.
    """
    n = log2_card.size
    parent = np.empty(n, np.int32)
    count = np.empty(n, np.int64)
    order = postordered(indptr, indices, order, parent)
    total, largest, sizes = columns(indptr, indices, log2_card, order, parent, count, np.empty(n))
    status = 0
    if total > limit or sizes > 100_000_000:
        status, n, sizes = 2, 0, 0
        order = order[:0]
    ptr, members, n_residual, clique_parent = clique_tree(indptr, indices, order, parent, count, sizes, stop)
    if stop[0] != 0:
        status = 1
    return status, ptr, members, n_residual, clique_parent, total, largest
