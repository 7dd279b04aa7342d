"""Codes of integers in many columns, a row at a time: the loops."""

from __future__ import annotations

from pgm.runtime.kinds import Ints, Ints32, IntTable, IntTable32

BLOCK = 256  # rows, so that a block is read from memory once and written in runs


def look_up(values: IntTable, low: Ints, sizes: Ints, begin: Ints, table: Ints32, codes: IntTable32):
    """Look up the code of each integer i, table[begin + i - low] of its column; return how many have none.

    `codes` has a row for each column. An integer outside the table, or with -1 there, has no code.
    """
    m, n = codes.shape[0], codes.shape[1]
    wrong = 0
    first = 0
    while first < n:
        last = min(first + BLOCK, n)
        for j in range(m):
            least, size, start = low[j], sizes[j], begin[j]
            column = codes[j]
            for i in range(first, last):
                place = values[i, j] - least
                code = -1
                if 0 <= place < size:
                    code = table[start + place]
                if code < 0:
                    wrong += 1
                column[i] = code
        first = last
    return wrong
