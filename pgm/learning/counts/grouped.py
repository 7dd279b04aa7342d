"""Counts that a data engine has made of some sets of columns, with all configurations that occur."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pgm.runtime.clock import Clock
from pgm.runtime.room import check_room

from . import FEWER, Occurring, counts_of, distinct


class GroupedCounts:
    """The part of `Counts` that fitting tables needs, without the rows.

    Args:
        cards: the number of states of each column.
        groups: (columns, their codes with a row for each configuration, the weight of its rows).

    >>> pairs = np.array([[0, 0], [1, 1], [1, 0]])
    >>> GroupedCounts([2, 2], [((0, 1), pairs, np.array([5.0, 3.0, 2.0]))]).tables([[1], [1, 0]])
    [array([7., 3.]), array([[5., 2.],
           [0., 3.]])]
    """

    def __init__(
        self, cards: Sequence[int], groups: Sequence[tuple[Sequence[int], np.ndarray, np.ndarray]]
    ) -> None:
        self.cards, self._groups = tuple(cards), list(groups)

    def tables(self, families: Sequence[Sequence[int]], clock: Clock | None = None) -> list[np.ndarray]:
        """The weight of the rows with each configuration of these columns, a table for each family."""
        cells = sum(math.prod(self.cards[v] for v in family) for family in families)
        check_room(8.0 * cells, counts_of(len(families), cells), FEWER)
        found = []
        for family in families:
            if clock is not None:
                clock.check()
            codes, weights = self._of(family)
            shape = [self.cards[v] for v in family]
            flat = np.ravel_multi_index(tuple(codes.T), shape)
            table = np.bincount(flat, weights, math.prod(shape)).reshape(shape)
            table.flags.writeable = False
            found.append(table)
        return found

    def occurring(self, family: Sequence[int]) -> Occurring:
        """The configurations of these columns that occur, and their weights."""
        codes, weights = self._of(family)
        rows, inverse = distinct(
            np.ascontiguousarray(codes.T, np.int32), np.array([self.cards[v] for v in family], np.int64)
        )
        order = np.lexsort(rows.T[::-1])
        totals = np.bincount(inverse, weights, minlength=len(rows)).astype(np.float64)
        return Occurring(rows[order], totals[order])

    def _of(self, family: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        columns, codes, weights = next(each for each in self._groups if set(family) <= set(each[0]))
        return codes[:, [list(columns).index(v) for v in family]], weights
