"""Counts of configurations of columns: the loops.

Codes are column-major, in the narrowest integers that hold them. A block of rows goes through every
family before the next block, so it is read from memory once. Small tables are counted in several copies in
turn, because neighbouring rows often fall into the same cell and would wait for each other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pgm.runtime.kinds import Bytes, ByteTable, Flag, Floats, Ints, IntTable32, ShortTable

DONE, STOPPED = 0, 1
BLOCK = 2048  # rows
COPIES = 4
SMALL = 4096  # cells of a table that is counted in copies


class Families(NamedTuple):
    """What is counted: the columns of family f are members[begin[f] : begin[f + 1]]."""

    begin: Ints
    members: Ints
    strides: Ints  # of each member in its family's table
    cells: Ints  # of each family's table
    missing: int  # the code of a cell without a value
    gaps: Bytes  # for each column whether it has such cells


def _places(codes, f: Families, family, first, n, place):
    """For rows from `first` on the cell that each belongs to; one past the last where a value is missing."""
    begin = f.begin[family]
    end = f.begin[family + 1]
    if begin == end:
        for i in range(n):
            place[i] = 0
    for m in range(begin, end):
        column, step = codes[f.members[m]], f.strides[m]
        if m == begin:
            for i in range(n):
                place[i] = column[first + i] * step
        else:
            for i in range(n):
                place[i] += column[first + i] * step
    for m in range(begin, end):
        if f.gaps[f.members[m]]:
            column, beyond = codes[f.members[m]], f.cells[family]
            for i in range(n):
                if column[first + i] == f.missing:
                    place[i] = beyond


def _count(codes, f: Families, counts, stop):
    n_families = f.cells.size
    rows = codes.shape[1]
    at = np.zeros(n_families + 1, np.int64)
    for family in range(n_families):
        room = f.cells[family] + 1
        at[family + 1] = at[family] + (room * COPIES if room <= SMALL else room)
    seen = np.zeros(at[n_families], np.int32)
    place = np.zeros(BLOCK, np.int32)
    for first in range(0, rows, BLOCK):
        if stop[0]:
            return STOPPED
        n = min(BLOCK, rows - first)
        for family in range(n_families):
            _places(codes, f, family, first, n, place)
            a = at[family]
            room = f.cells[family] + 1
            if room <= SMALL:
                b = a + room
                c = b + room
                d = c + room
                last = n - n % COPIES
                for i in range(0, last, COPIES):
                    seen[a + place[i]] += 1
                    seen[b + place[i + 1]] += 1
                    seen[c + place[i + 2]] += 1
                    seen[d + place[i + 3]] += 1
                for i in range(last, n):
                    seen[a + place[i]] += 1
            else:
                for i in range(n):
                    seen[a + place[i]] += 1
    to = 0
    for family in range(n_families):
        room = f.cells[family] + 1
        for cell in range(f.cells[family]):
            total = int(seen[at[family] + cell])
            if room <= SMALL:
                for copy in range(1, COPIES):
                    total += seen[at[family] + copy * room + cell]
            counts[to + cell] = float(total)
        to += f.cells[family]
    return DONE


def _weigh(codes, f: Families, weights, counts, stop):
    n_families = f.cells.size
    rows = codes.shape[1]
    at = np.zeros(n_families + 1, np.int64)
    for family in range(n_families):
        at[family + 1] = at[family] + f.cells[family] + 1
    seen = np.zeros(at[n_families])
    place = np.zeros(BLOCK, np.int32)
    for first in range(0, rows, BLOCK):
        if stop[0]:
            return STOPPED
        n = min(BLOCK, rows - first)
        for family in range(n_families):
            _places(codes, f, family, first, n, place)
            a = at[family]
            for i in range(n):
                seen[a + place[i]] += weights[first + i]
    to = 0
    for family in range(n_families):
        for cell in range(f.cells[family]):
            counts[to + cell] = seen[at[family] + cell]
        to += f.cells[family]
    return DONE


def count_bytes(codes: ByteTable, f: Families, weights: Floats, counts: Floats, stop: Flag):
    """Tables of all families, one after the other; `weights` is empty where every row counts once."""
    if weights.size > 0:
        return _weigh(codes, f, weights, counts, stop)
    return _count(codes, f, counts, stop)


def count_shorts(codes: ShortTable, f: Families, weights: Floats, counts: Floats, stop: Flag):
    """The same for codes of two bytes."""
    if weights.size > 0:
        return _weigh(codes, f, weights, counts, stop)
    return _count(codes, f, counts, stop)


def count_ints(codes: IntTable32, f: Families, weights: Floats, counts: Floats, stop: Flag):
    """The same for codes of four bytes."""
    if weights.size > 0:
        return _weigh(codes, f, weights, counts, stop)
    return _count(codes, f, counts, stop)
