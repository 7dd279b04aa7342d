"""Counts of a few columns at a time, queried from the data engine, and cached."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from pgm.runtime.clock import Clock

from . import Counts

_TOGETHER = 1 << 14  # configurations; counting this many takes about the time of counting two
_KEPT = 1 << 22  # configurations that are cached in all

Grouped = tuple[list[np.ndarray], np.ndarray]


class AskedCounts:
    """Counts of columns whose rows stay in their engine.

    Args:
        cards: the number of states of each column.
        group: the configurations of some columns that occur, as codes column by column, and their weights.
        total: the weight of all rows.
        n_rows: how many rows there are.

    >>> def group(columns):
    ...     return [np.array([0, 1])] * len(columns), np.array([3.0, 2.0])
    >>> AskedCounts([2, 2], group, 5.0, 5).of([1, 0]).table([0, 1]).tolist()
    [[3.0, 0.0], [0.0, 2.0]]
    """

    def __init__(
        self, cards: Sequence[int], group: Callable[[Sequence[int]], Grouped], total: float, n_rows: int
    ) -> None:
        self.cards, self.total, self.n_rows = tuple(cards), total, n_rows
        self._group, self._size = group, 0
        self._kept: OrderedDict[tuple[int, ...], Grouped] = OrderedDict()
        self.asked = 0  # group-bys

    def of(self, columns: Sequence[int]) -> Counts:
        """Counts of these columns alone; equal rows are merged."""
        wanted = set(columns)
        key = next((key for key in self._kept if wanted <= set(key)), None)
        if key is None:
            key = tuple(sorted(wanted))
            found = self._group(key)
            self.asked += 1
            self._kept[key], self._size = found, self._size + len(found[1])
            while self._size > _KEPT and len(self._kept) > 1:
                self._size -= len(self._kept.popitem(last=False)[1][1])
        self._kept.move_to_end(key)
        codes, weights = self._kept[key]
        return Counts(
            [codes[key.index(v)] for v in columns],
            [self.cards[v] for v in columns],
            weights,
            merge=len(key) > len(wanted),
        )

    def blocks(
        self, base: Sequence[int], candidates: Sequence[int], clock: Clock
    ) -> Iterator[tuple[list[int], Counts]]:
        """Batches of the candidates, with counts of the base followed by these.

        Args:
            base: columns that are in each.
            candidates: other columns, each in one batch.
            clock: checked before each group-by.
        """
        left, known = list(candidates), set(base)
        for key in list(self._kept):
            some = [u for u in left if u in key] if known <= set(key) else []
            if some and key in self._kept:
                yield some, self.of([*base, *some])
                left = [u for u in left if u not in some]
        while left:
            clock.check("counting")
            size, many = math.prod(self.cards[v] for v in base), 0
            while many < len(left) and (many == 0 or size * self.cards[left[many]] <= _TOGETHER):
                size *= self.cards[left[many]]
                many += 1
            some, left = left[:many], left[many:]
            yield some, self.of([*base, *some])
