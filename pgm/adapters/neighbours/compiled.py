"""Neighbours of rows: who is near, which rows classify all others, in which discs a row lies. The loops."""

from __future__ import annotations

import math

import numpy as np

from pgm.runtime.kinds import Flag, Floats, Ints

DONE, STOPPED = 0, 1
LOOK = 1024  # rows between two looks at the stop flag
BLOCK = 512  # rows whose distances are added up side by side


def _far(rows, a, others, b, dim, most):
    """The squared distance of two rows; it is given up, and too small, as soon as it is `most` or more."""
    total = 0.0
    for i in range(dim):
        off = rows[a + i] - others[b + i]
        total += off * off
        if total >= most:
            return total
    return total


def nearest_in_part(
    rows: Floats, dim: int, queries: Floats, low: Ints, high: Ints, first: int, limit: float, k: int,
    near: Ints, far: Floats, looked: Ints, stop: Flag,
):  # fmt: skip
    """The k rows nearest to each query, and their squared distances; of equals the first.

    The distance of a row is no longer added up once it is beyond the k-th found so far. Query q is compared
    with rows low[q] to high[q] only. `first` columns are added up before a row is given up for being `limit`
    or more away from the query (`limit` infinite: never for that).
    Where there are fewer than k, `near` is -1 and `far` infinite. `looked[0]` counts columns of rows that
    were looked at.
    """
    seen = 0
    columns = 0
    for q in range(low.size):
        at = q * k
        place = q * dim
        for j in range(k):
            near[at + j] = -1
            far[at + j] = math.inf
        worst = math.inf
        for t in range(low[q], high[q]):
            total = 0.0
            i = 0
            base = t * dim
            while i < first and total < worst:
                off = rows[base + i] - queries[place + i]
                total += off * off
                i += 1
            if total < limit:
                while i < dim and total < worst:
                    off = rows[base + i] - queries[place + i]
                    total += off * off
                    i += 1
            else:
                total = math.inf
            columns += i
            if total < worst:
                j = k - 1
                while j > 0 and far[at + j - 1] > total:
                    far[at + j] = far[at + j - 1]
                    near[at + j] = near[at + j - 1]
                    j -= 1
                far[at + j] = total
                near[at + j] = t
                worst = far[at + k - 1]
        seen += high[q] - low[q]
        if seen >= LOOK:
            seen = 0
            if stop[0]:
                return STOPPED
    looked[0] = columns
    return DONE


def nearest_of_all(
    columns: Floats, dim: int, queries: Floats, own: int, k: int, near: Ints, far: Floats, stop: Flag
):
    """The k rows nearest to each query, and their squared distances; of equals the first.

    Distances are added up a column of many rows at a time, which processors do side by side. `own`: query
    q is not compared with itself, row q. `columns` has the rows one column after the other.
    """
    n = columns.size // dim
    m = queries.size // dim
    totals = np.empty(BLOCK)
    seen = 0
    for q in range(m):
        at = q * k
        for j in range(k):
            near[at + j] = -1
            far[at + j] = math.inf
        worst = math.inf
        begin = 0
        while begin < n:
            size = min(BLOCK, n - begin)
            for t in range(size):
                totals[t] = 0.0
            for i in range(dim):
                here = queries[q * dim + i]
                column = i * n + begin
                for t in range(size):
                    off = columns[column + t] - here
                    totals[t] += off * off
            if own != 0 and begin <= q and q < begin + size:
                totals[q - begin] = math.inf
            for t in range(size):
                if totals[t] < worst:
                    j = k - 1
                    while j > 0 and far[at + j - 1] > totals[t]:
                        far[at + j] = far[at + j - 1]
                        near[at + j] = near[at + j - 1]
                        j -= 1
                    far[at + j] = totals[t]
                    near[at + j] = begin + t
                    worst = far[at + k - 1]
            begin += size
        seen += n
        if seen >= LOOK:
            seen = 0
            if stop[0]:
                return STOPPED
    return DONE


def _vote(rows, dim, labels, stored, size, copies, without, row, k, near, far, votes):
    """The class of one row by the k nearest stored ones, each as often as it is stored; -1: there is none.

    `near` and `far` are places in `stored` and squared distances, of those that vote; returned beside the
    class is how far the last voter is. `without`: a place in `stored` one copy of which is left out.
    """
    found = 0
    total = 0  # copies of all found
    worst = math.inf
    for s in range(size):
        count = copies[s]
        if s == without:
            count -= 1
        if count <= 0:
            continue
        d = _far(rows, row * dim, rows, stored[s] * dim, dim, worst)
        if d < worst:
            j = found
            if found == k:
                j = k - 1
            else:
                found += 1
            while j > 0 and far[j - 1] > d:
                far[j] = far[j - 1]
                near[j] = near[j - 1]
                j -= 1
            far[j] = d
            near[j] = s
            # Whoever is behind k votes has none.
            total = 0
            last = 0
            while last < found and total < k:
                own = copies[near[last]]
                if near[last] == without:
                    own -= 1
                total += own
                last += 1
            found = last
            if total >= k:
                worst = far[found - 1]
    if found == 0:
        return -1, math.inf
    votes[:] = 0
    left = k
    for j in range(found):
        own = copies[near[j]]
        if near[j] == without:
            own -= 1
        own = min(own, left)
        votes[labels[stored[near[j]]]] += own
        left -= own
    best = 0
    for c in range(votes.size):
        if votes[c] > votes[best]:
            best = c
    if total < k:
        return best, math.inf
    return best, far[found - 1]


def condense(
    rows: Floats, dim: int, labels: Ints, classes: int, order: Ints, k: int, most: int, passes: int,
    stored: Ints, copies: Ints, made: Ints, stop: Flag,
):  # fmt: skip
    """Store each row that the stored ones vote wrongly about, again and again until nothing changes.

    A row is stored `most` times at most. `made` gets how many are stored, after how many passes, and whether
    the last of these changed nothing.
    """
    n = order.size
    near = np.empty(k, np.int64)
    far = np.empty(k)
    votes = np.zeros(classes, np.int64)
    place = np.full(n, -1)
    size = 0
    done = 0
    changed = True
    seen = 0
    while changed and done < passes:
        changed = False
        done += 1
        for o in range(n):
            t = order[o]
            if place[t] >= 0 and copies[place[t]] >= most:
                continue
            told, _ = _vote(rows, dim, labels, stored, size, copies, -1, t, k, near, far, votes)
            if told != labels[t]:
                changed = True
                if place[t] < 0:
                    place[t] = size
                    stored[size] = t
                    copies[size] = 1
                    size += 1
                else:
                    copies[place[t]] += 1
            seen += size
            if seen >= LOOK:
                seen = 0
                if stop[0]:
                    return STOPPED
    made[0] = size
    made[1] = done
    made[2] = 0 if changed else 1
    return DONE


def thin_out(
    rows: Floats, dim: int, labels: Ints, classes: int, k: int, stored: Ints, copies: Ints, stop: Flag
):
    """Take away copies of stored rows, the first stored first, while no row that was right becomes wrong.

    A vote may change only where the copy was among the voters: `reach` keeps how far these are from each row.
    """
    n = labels.size
    size = stored.size
    near = np.empty(k, np.int64)
    far = np.empty(k)
    votes = np.zeros(classes, np.int64)
    right = np.zeros(n, np.int64)
    reach = np.empty(n)
    left = 0
    for s in range(size):
        left += copies[s]
    for t in range(n):
        told, most = _vote(rows, dim, labels, stored, size, copies, -1, t, k, near, far, votes)
        right[t] = 1 if told == labels[t] else 0
        reach[t] = most
        if t % LOOK == 0 and stop[0]:
            return STOPPED
    changed = True
    touched = np.empty(n, np.int64)
    while changed and left > 1:
        changed = False
        for s in range(size):
            if left == 1:
                break
            if copies[s] == 0:
                continue
            count = 0
            needed = False
            for t in range(n):
                if _far(rows, t * dim, rows, stored[s] * dim, dim, math.inf) > reach[t]:
                    continue
                told, _ = _vote(rows, dim, labels, stored, size, copies, s, t, k, near, far, votes)
                if right[t] != 0 and told != labels[t]:
                    needed = True
                    break
                touched[count] = t
                count += 1
            if stop[0]:
                return STOPPED
            if needed:
                continue
            copies[s] -= 1
            left -= 1
            changed = True
            for i in range(count):
                t = touched[i]
                told, most = _vote(rows, dim, labels, stored, size, copies, -1, t, k, near, far, votes)
                right[t] = 1 if told == labels[t] else 0
                reach[t] = most
    return DONE


def nearest_stranger(rows: Floats, dim: int, labels: Ints, near: Ints, far: Floats, stop: Flag):
    """The nearest row of another class than each row's, and its squared distance; -1 where there is none."""
    n = labels.size
    for t in range(n):
        best = math.inf
        found = -1
        for s in range(n):
            if labels[s] != labels[t]:
                d = _far(rows, t * dim, rows, s * dim, dim, best)
                if d < best:
                    best = d
                    found = s
        near[t] = found
        far[t] = best
        if stop[0]:
            return STOPPED
    return DONE


def discs(
    rows: Floats, dim: int, labels: Ints, squares: Floats, queries: Floats, classes: int, counts: Ints,
    stop: Flag,
):  # fmt: skip
    """How many open discs of each class contain each query; `squares` are the squared radii."""
    n = labels.size
    m = queries.size // dim
    for q in range(m):
        for t in range(n):
            if _far(rows, t * dim, queries, q * dim, dim, squares[t]) < squares[t]:
                counts[q * classes + labels[t]] += 1
        if stop[0]:
            return STOPPED
    return DONE


def meets_stranger(rows: Floats, dim: int, labels: Ints, nearest: Ints, tries: int, kept: Ints, stop: Flag):
    """Mark rows from which some ray enters the Voronoi cell of a row of another class first.

    The rays go towards the nearest row of another class and `tries` others. What is marked has such a
    neighbour for certain; what is not may have one. All rows are different places.
    """
    n = labels.size
    towards = np.empty(dim)
    step = max(1, n // tries)
    for c in range(n):
        base = c * dim
        kept[c] = 0
        target = nearest[c]
        other = c % step
        while kept[c] == 0:
            if target >= 0 and labels[target] != labels[c]:
                for j in range(dim):
                    towards[j] = rows[target * dim + j] - rows[base + j]
                best = math.inf
                behind = -1
                for t in range(n):
                    along = 0.0
                    square = 0.0
                    for j in range(dim):
                        off = rows[t * dim + j] - rows[base + j]
                        along += off * towards[j]
                        square += off * off
                    if t == c or along <= 0.0:
                        continue
                    where = 0.5 * square / along
                    if where < best * (1.0 - 1e-9):
                        best = where
                        behind = t
                    elif where <= best * (1.0 + 1e-9):  # two walls at once prove nothing
                        behind = -1
                        best = min(best, where)
                if behind >= 0 and labels[behind] != labels[c]:
                    kept[c] = 1
                if stop[0]:
                    return STOPPED
            if other >= n:
                break
            target = other
            other += step
    return DONE
