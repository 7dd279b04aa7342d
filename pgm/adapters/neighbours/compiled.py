"""Nearest neighbours, condensing, and coverage by discs: the loops."""

from __future__ import annotations

import math

import numpy as np

from pgm.runtime.kinds import Flag, Floats, Ints

DONE, STOPPED = 0, 1
LOOK = 1024  # rows between two looks at the stop flag
BLOCK = 512  # rows whose distances are added up side by side


def _far(rows, a, others, b, dim, most):
    """The squared distance of two rows; once it reaches `most` the sum is cut short, and too small."""
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


def _put(near, far, at, filled, k, entry, d):
    """Insert an entry behind all that are as near; return how many of the k places are then filled."""
    if filled < k:
        j = filled
        filled += 1
    elif d < far[at + k - 1]:
        j = k - 1
    else:
        return filled
    while j > 0 and far[at + j - 1] > d:
        far[at + j] = far[at + j - 1]
        near[at + j] = near[at + j - 1]
        j -= 1
    far[at + j] = d
    near[at + j] = entry
    return filled


def _said(near, at, count, labels, entries, votes):
    """The majority class of these entries, the first of ties; -1: there is none."""
    if count == 0:
        return -1
    votes[:] = 0
    for j in range(count):
        votes[labels[entries[near[at + j]]]] += 1
    best = 0
    for c in range(votes.size):
        if votes[c] > votes[best]:
            best = c
    return best


def condense(
    rows: Floats, dim: int, labels: Ints, classes: int, order: Ints, k: int, most: int, passes: int,
    entries: Ints, made: Ints, stop: Flag,
):  # fmt: skip
    """Condensing: store each row that the stored ones misclassify, until nothing changes.

    A row is stored `most` times at most, and `entries` says which were, one after the other. `made` gets how
    many these are, after how many passes, and whether the last of them changed nothing. Each row remembers
    its nearest entries, and is compared only with those stored since.
    """
    n = order.size
    near = np.empty(n * k, np.int64)
    far = np.empty(n * k)
    filled = np.zeros(n, np.int64)
    known = np.zeros(n, np.int64)
    copies = np.zeros(n, np.int64)
    votes = np.zeros(classes, np.int64)
    size = 0
    done = 0
    changed = True
    seen = 0
    while changed and done < passes:
        changed = False
        done += 1
        for o in range(n):
            t = order[o]
            if copies[t] >= most:
                continue
            at = t * k
            count = filled[t]
            worst = math.inf
            if count == k:
                worst = far[at + k - 1]
            for e in range(known[t], size):
                d = _far(rows, t * dim, rows, entries[e] * dim, dim, worst)
                if d < worst:
                    count = _put(near, far, at, count, k, e, d)
                    if count == k:
                        worst = far[at + k - 1]
            seen += size - known[t] + 1
            filled[t] = count
            known[t] = size
            if _said(near, at, count, labels, entries, votes) != labels[t]:
                changed = True
                entries[size] = t
                size += 1
                copies[t] += 1
            if seen >= LOOK:
                seen = 0
                if stop[0]:
                    return STOPPED
    made[0] = size
    made[1] = done
    made[2] = 0 if changed else 1
    return DONE


def _nearest_left(rows, dim, entries, left, t, k, near, far):
    """Find the k nearest entries of those left; return how many there are."""
    count = 0
    at = t * k
    worst = math.inf
    for e in range(entries.size):
        if left[e] == 0:
            continue
        d = _far(rows, t * dim, rows, entries[e] * dim, dim, worst)
        if d < worst:
            count = _put(near, far, at, count, k, e, d)
            if count == k:
                worst = far[at + k - 1]
    return count


def thin_out(
    rows: Floats, dim: int, labels: Ints, classes: int, k: int, entries: Ints, left: Ints, stop: Flag
):
    """Remove entries, oldest first, while no correctly classified row becomes misclassified.

    `left` gets 1 for entries that stay. Each row remembers its nearest entries, at least one more than vote,
    and looks at all only when these have become too few.
    """
    n = labels.size
    size = entries.size
    deep = k + 8
    near = np.empty(n * deep, np.int64)
    far = np.empty(n * deep)
    filled = np.zeros(n, np.int64)
    right = np.zeros(n, np.int64)
    votes = np.zeros(classes, np.int64)
    some = np.empty(k, np.int64)
    count = size
    left[:] = 1
    seen = 0
    for t in range(n):
        filled[t] = _nearest_left(rows, dim, entries, left, t, deep, near, far)
        told = _said(near, t * deep, min(k, filled[t]), labels, entries, votes)
        right[t] = 1 if told == labels[t] else 0
        seen += size
        if seen >= LOOK:
            seen = 0
            if stop[0]:
                return STOPPED
    changed = True
    while changed and count > 1:
        changed = False
        for e in range(size):
            if count == 1:
                break
            if left[e] == 0:
                continue
            needed = False
            for t in range(n):
                at = t * deep
                place = -1
                for j in range(min(k, filled[t])):
                    if near[at + j] == e:
                        place = j
                if place < 0 or right[t] == 0:
                    continue
                found = 0
                for j in range(min(k + 1, filled[t])):
                    if j != place:
                        some[found] = near[at + j]
                        found += 1
                told = _said(some, 0, found, labels, entries, votes)
                if told != labels[t]:
                    needed = True
                    break
            if stop[0]:
                return STOPPED
            if needed:
                continue
            left[e] = 0
            count -= 1
            changed = True
            for t in range(n):
                at = t * deep
                found = 0
                for j in range(filled[t]):
                    if near[at + j] != e:
                        near[at + found] = near[at + j]
                        far[at + found] = far[at + j]
                        found += 1
                if found < filled[t]:
                    filled[t] = found
                    if found < min(k + 1, count):
                        filled[t] = _nearest_left(rows, dim, entries, left, t, deep, near, far)
                    told = _said(near, at, min(k, filled[t]), labels, entries, votes)
                    right[t] = 1 if told == labels[t] else 0
    return DONE


def _side_by_side(columns, n, begin, size, dim, queries, at, totals):
    """Squared distances of a query from rows next to each other, added up a column at a time."""
    for t in range(size):
        totals[t] = 0.0
    for i in range(dim):
        here = queries[at + i]
        column = columns[i * n + begin : i * n + begin + size]
        for t in range(size):
            off = column[t] - here
            totals[t] += off * off


def nearest_stranger(
    columns: Floats, dim: int, rows: Floats, labels: Ints, near: Ints, far: Floats, stop: Flag
):
    """The nearest row of another class than each row's, and its squared distance; -1 where there is none.

    `columns` has the rows one column after the other.
    """
    n = labels.size
    totals = np.empty(BLOCK)
    for q in range(n):
        best = math.inf
        found = -1
        own = labels[q]
        begin = 0
        while begin < n:
            size = min(BLOCK, n - begin)
            _side_by_side(columns, n, begin, size, dim, rows, q * dim, totals)
            for t in range(size):
                if totals[t] < best and labels[begin + t] != own:
                    best = totals[t]
                    found = begin + t
            begin += size
        near[q] = found
        far[q] = best
        if stop[0]:
            return STOPPED
    return DONE


def discs(
    columns: Floats, dim: int, labels: Ints, squares: Floats, queries: Floats, classes: int, counts: Ints,
    stop: Flag,
):  # fmt: skip
    """How many open discs of each class contain each query; `squares` are the squared radii.

    `columns` has the centres one column after the other.
    """
    n = labels.size
    m = queries.size // dim
    totals = np.empty(BLOCK)
    for q in range(m):
        begin = 0
        while begin < n:
            size = min(BLOCK, n - begin)
            _side_by_side(columns, n, begin, size, dim, queries, q * dim, totals)
            for t in range(size):
                if totals[t] < squares[begin + t]:
                    counts[q * classes + labels[begin + t]] += 1
            begin += size
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
