"""Smoothers: sums for local polynomials, smoothing splines, and online condensing: the loops."""

from __future__ import annotations

import math

import numpy as np

from pgm.runtime.kinds import Floats, Ints


def moments(
    weights: Floats, counts: Floats, rows: Floats, targets: Floats, places: Floats, scales: Floats,
    middles: Floats, dim: int, parents: Ints, columns: Ints, squares: int, sums: Floats, answers: Floats,
    spreads: Floats, residues: Floats,
):  # fmt: skip
    """Moments: sums of products of monomials about each point, weighted by window and count.

    A monomial is its parent times a column; the first is 1. `sums` and `spreads` (with squared weights of the
    window, if `squares`) are matrices for each place, their lower halves; `answers` are products with targets
    less `middles`, `residues` the squares of these.
    """
    n = targets.size
    size = parents.size
    basis = np.empty(size)
    basis[0] = 1.0
    for q in range(scales.size):
        at = q * size * size
        unit = 1.0 / scales[q]
        for i in range(n):
            w = weights[q * n + i]
            if w == 0.0:
                continue
            for t in range(1, size):
                j = columns[t]
                basis[t] = basis[parents[t]] * ((rows[i * dim + j] - places[q * dim + j]) * unit)
            both = w * counts[i]
            off = targets[i] - middles[q]
            residues[q] += both * off * off
            for a in range(size):
                one = both * basis[a]
                answers[q * size + a] += one * off
                begin = at + a * size
                for b in range(a + 1):
                    sums[begin + b] += one * basis[b]
            if squares != 0:
                for a in range(size):
                    one = w * both * basis[a]
                    begin = at + a * size
                    for b in range(a + 1):
                        spreads[begin + b] += one * basis[b]


def lines(
    rows: Floats, targets: Floats, counts: Floats, places: Floats, width: float, near: int, window: int,
    spread: bool, room: Floats, totals: Floats, middles: Floats, sums: Floats, answers: Floats,
    spreads: Floats, residues: Floats,
):  # fmt: skip
    """Moments of 1 and the distance from each place, of one column, over the rows in its window alone.

    The rows are in ascending order. A window is as wide as the distance to the `near`-th row, or has this
    width if `near` is 0. `window` is 0 for tricube, 1 for Epanechnikov, 2 for a box, 3 for a box with its
    edge. `room` has a place for each row; the results are those of `moments` for degree 1, and `totals` of
    the weights, zero where no row is in the window.
    """
    n = rows.size
    for q in range(places.size):
        place = places[q]
        reach = width
        if near > 0:
            low, high = 0, n - near
            while low < high:
                middle = (low + high) // 2
                if place - rows[middle] > rows[middle + near] - place:
                    low = middle + 1
                else:
                    high = middle
            reach = max(place - rows[low], rows[low + near - 1] - place)
        squares = reach * reach
        scale = math.sqrt(squares)
        if scale == 0.0:
            scale = 1.0
        unit = scale * scale
        bound = max(scale, reach) * (1.0 + 1e-9)
        first, high = 0, n
        while first < high:
            middle = (first + high) // 2
            if place - rows[middle] > bound:
                first = middle + 1
            else:
                high = middle
        last = first
        total, level = 0.0, 0.0
        while last < n and rows[last] - place <= bound:
            far = (rows[last] - place) * (rows[last] - place)
            u = far / unit
            w = 0.0
            if window == 3:
                w = 1.0 if far <= squares else 0.0
            elif u < 1.0:
                if window == 0:
                    w = 1.0 - u * math.sqrt(u)
                    w *= w * w
                elif window == 1:
                    w = 1.0 - u
                else:
                    w = 1.0
            w *= counts[last]
            room[last] = w
            total += w
            level += w * targets[last]
            last += 1
        if total == 0.0 and near > 0:  # all that are near are at the edge: as if it were a little wider
            level = 0.0
            for i in range(first, last):
                far = (rows[i] - place) * (rows[i] - place)
                room[i] = counts[i] if far <= squares else 0.0
                total += room[i]
                level += room[i] * targets[i]
        totals[q] = total
        if total == 0.0:
            continue
        level /= total
        middles[q] = level
        one, two, flat, lean, rest = 0.0, 0.0, 0.0, 0.0, 0.0
        twice, twice_one, twice_two = 0.0, 0.0, 0.0
        for i in range(first, last):
            w = room[i]
            x = (rows[i] - place) / scale
            off = targets[i] - level
            one += w * x
            two += w * x * x
            flat += w * off
            lean += w * x * off
            rest += w * off * off
            twice += w * w
            twice_one += w * w * x
            twice_two += w * w * x * x
        sums[4 * q] = total
        sums[4 * q + 2] = one
        sums[4 * q + 3] = two
        answers[2 * q] = flat
        answers[2 * q + 1] = lean
        residues[q] = rest
        if spread:
            spreads[4 * q] = twice
            spreads[4 * q + 2] = twice_one
            spreads[4 * q + 3] = twice_two


def spline(
    knots: Floats, values: Floats, weights: Floats, penalty: float, fitted: Floats, bends: Floats,
    d: Floats, first: Floats, second: Floats,
):  # fmt: skip
    """The natural cubic spline that minimises squared errors plus the penalty times its squared bend.

    By Reinsch's equations; there are three knots at least. `fitted` gets its values, `bends` its second
    derivatives at the knots. Returns the trace of the matrix that maps `values` to `fitted`.
    """
    n = knots.size
    m = n - 2
    # A symmetric matrix with two bands below the diagonal, and the right side.
    for j in range(m):
        left = knots[j + 1] - knots[j]
        right = knots[j + 2] - knots[j + 1]
        a = 1.0 / left
        c = 1.0 / right
        b = -(a + c)
        d[j] = (left + right) / 3.0 + penalty * (
            a * a / weights[j] + b * b / weights[j + 1] + c * c / weights[j + 2]
        )
        first[j] = 0.0
        second[j] = 0.0
        if j + 1 < m:
            beyond = knots[j + 3] - knots[j + 2]
            e = -(1.0 / right + 1.0 / beyond)
            first[j] = right / 6.0 + penalty * (b * c / weights[j + 1] + c * e / weights[j + 2])
        if j + 2 < m:
            beyond = knots[j + 3] - knots[j + 2]
            second[j] = penalty * c / beyond / weights[j + 2]
        bends[j + 1] = (values[j + 2] - values[j + 1]) * c - (values[j + 1] - values[j]) * a
    bends[0] = 0.0
    bends[n - 1] = 0.0
    # L D L': d, and the two bands of L.
    for j in range(m):
        one = first[j]
        two = second[j]
        first[j] = one / d[j]
        second[j] = two / d[j]
        if j + 1 < m:
            d[j + 1] -= first[j] * one
            first[j + 1] -= first[j] * two
            bends[j + 2] -= first[j] * bends[j + 1]
        if j + 2 < m:
            d[j + 2] -= second[j] * two
            bends[j + 3] -= second[j] * bends[j + 1]
    for j in range(m - 1, -1, -1):
        bends[j + 1] /= d[j]
        if j + 1 < m:
            bends[j + 1] -= first[j] * bends[j + 2]
        if j + 2 < m:
            bends[j + 1] -= second[j] * bends[j + 3]
    for i in range(n):
        slope = 0.0
        if i < n - 1:
            slope += (bends[i + 1] - bends[i]) / (knots[i + 1] - knots[i])
        if i > 0:
            slope -= (bends[i] - bends[i - 1]) / (knots[i] - knots[i - 1])
        fitted[i] = values[i] - penalty * slope / weights[i]
    # The middle bands of the inverse, from the last row up (Hutchinson & de Hoog 1985), and the trace.
    trace = float(n)
    b00 = 0.0  # of rows j + 1 and j + 2
    b01 = 0.0
    b11 = 0.0
    for j in range(m - 1, -1, -1):
        l1 = first[j]
        l2 = second[j]
        c01 = -l1 * b00 - l2 * b01
        c02 = -l1 * b01 - l2 * b11
        c00 = 1.0 / d[j] - l1 * c01 - l2 * c02
        a = 1.0 / (knots[j + 1] - knots[j])
        c = 1.0 / (knots[j + 2] - knots[j + 1])
        b = -(a + c)
        trace -= penalty * c00 * (a * a / weights[j] + b * b / weights[j + 1] + c * c / weights[j + 2])
        if j + 1 < m:
            beyond = 1.0 / (knots[j + 3] - knots[j + 2])
            e = -(c + beyond)
            trace -= 2.0 * penalty * c01 * (b * c / weights[j + 1] + c * e / weights[j + 2])
            if j + 2 < m:
                trace -= 2.0 * penalty * c02 * c * beyond / weights[j + 2]
        b11 = b00
        b01 = c01
        b00 = c00
    return trace


def condense(
    rows: Floats, targets: Floats, dim: int, width: float, tolerance: float, kept: Ints, count: int,
    begin: int,
):  # fmt: skip
    """Keep the rows that the mean of nearby kept rows does not predict; returns how many are kept.

    `kept` has `count` rows already; from `begin` on rows are looked at, one after the other.
    """
    n = targets.size
    for i in range(begin, n):
        total = 0.0
        found = 0
        for k in range(count):
            row = kept[k]
            far = 0.0
            for j in range(dim):
                off = rows[row * dim + j] - rows[i * dim + j]
                far += off * off
            if far < width * width:
                total += targets[row]
                found += 1
        if found == 0 or abs(total / found - targets[i]) > tolerance:
            kept[count] = i
            count += 1
    return count
