"""Counts: how often the states of some columns occurred together. Learning sees data only through these.

    counts = Counts([codes_of_a, codes_of_b, codes_of_c], cards=[2, 3, 2])     # int arrays, -1 where missing
    counts.table([0, 2])           # array (2, 2) of floats: the axes are in the order asked
    counts.tables([[0, 2], [1]])   # many families in one pass over the rows
    counts.occurring([0, 1, 2])    # for tables too large to write out: the configurations that occur

A row with a missing value is left out of the families that have this column. `Counts(..., weights=w)` adds up
weights; equal rows are merged where that saves work. Tables are read-only and cached while they fit
(`memory=` bytes); a different order of columns also comes from the cache.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pgm.config import current
from pgm.errors import TooLarge, counted
from pgm.runtime.clock import Clock, start_clock
from pgm.runtime.forks import Lock
from pgm.runtime.loops import Loops
from pgm.runtime.room import check_room
from pgm.runtime.running import LANES, run
from pgm.runtime.threads import Task, run_all

from .compiled import Families

COUNTING = Loops("pgm.learning.counts.compiled", "counting")
_PROBE = 1000  # rows: if few of these are distinct, equal rows are merged
_CACHE = 256 << 20  # bytes
_OWN = 1 << 16  # bytes: larger tables are cached as copies, smaller ones as views
_CELL = 2e-9  # seconds for one row of one family
_EMPTY = np.zeros(0)
_MOST_CELLS = 2**31 - 2
# The type that holds codes, the code of a missing value (-1 wrapped around), and the loop that counts them.
_KINDS: tuple[tuple[Any, int, str], ...] = (
    (np.uint8, 255, "count_bytes"),
    (np.uint16, 65535, "count_shorts"),
    (np.int32, -1, "count_ints"),
)


class Occurring(NamedTuple):
    """The configurations that occur, in the order of their cells in a table, and the weight of each."""

    codes: np.ndarray  # int32 (configurations, columns of the family)
    weights: np.ndarray


FEWER = "Take fewer columns, or columns with fewer states"


def counts_of(families: int, cells: int) -> str:
    """What takes the memory, for `check_room`."""
    return f"The counts of {families:,} families have {counted(cells)} cells, which take"


class Counts:
    """Rows of codes, and how often configurations of their columns occur.

    Args:
        columns: an int array for each column, -1 where there is no value.
        cards: the number of states of each column.
        weights: one for each row; None: each counts once.
        memory: the bytes of tables that are cached.
        merge: whether equal rows are merged; None: if a sample of the rows shows that it pays.

    >>> counts = Counts([np.array([0, 0, 1, -1]), np.array([1, 1, 0, 0])], [2, 2])
    >>> counts.table([0, 1]).tolist(), counts.table([1]).tolist()
    ([[0.0, 2.0], [1.0, 0.0]], [2.0, 2.0])
    """

    def __init__(
        self,
        columns: Sequence[np.ndarray],
        cards: Sequence[int],
        weights: np.ndarray | None = None,
        *,
        memory: int | None = None,
        merge: bool | None = None,
    ) -> None:
        self.cards = tuple(int(card) for card in cards)
        self.n_rows = len(columns[0]) if len(columns) else 0 if weights is None else len(weights)
        widest = max(self.cards, default=1)
        kind, self._missing, self._loop = _KINDS[0 if widest < 256 else 1 if widest < 65536 else 2]
        self._codes: np.ndarray = np.empty((len(columns), self.n_rows), kind)
        for i, column in enumerate(columns):
            self._codes[i] = column if column.dtype == kind else column.astype(kind)  # -1 wraps around
        self._weights = _EMPTY if weights is None else np.ascontiguousarray(weights, np.float64)
        self.total = float(self.n_rows if weights is None else self._weights.sum())
        if merge or (merge is None and self._repeats()):
            self._merge()
        self.gaps = np.array([bool((row == self._missing).any()) for row in self._codes], bool)
        self._kept: OrderedDict[tuple[int, ...], np.ndarray] = OrderedDict()
        self._bytes = 0
        self._memory = min(_CACHE, current().memory_limit // 8) if memory is None else memory
        self._lock = Lock()

    @property
    def n_distinct(self) -> int:
        """The number of rows that are visited: of distinct ones, where equal rows were merged."""
        return int(self._codes.shape[1])

    def codes(self, column: int) -> np.ndarray:
        """The codes of a column as int64, -1 where missing, for the rows that are visited."""
        row = self._codes[column]
        found: np.ndarray = row.astype(np.int64)
        if self.gaps[column]:
            found[row == self._missing] = -1
        return found

    @property
    def weights(self) -> np.ndarray:
        """The weight of each row that is visited."""
        return self._weights if self._weights.size else np.ones(self.n_distinct)

    def complete(self, columns: Sequence[int]) -> bool:
        """Whether every row has a value in all of these columns."""
        return not bool(self.gaps[list(columns)].any())

    def table(self, family: Sequence[int], clock: Clock | None = None) -> np.ndarray:
        """The weight of the rows with each configuration of these columns, the axes in this order."""
        return self.tables([family], clock)[0]

    def tables(self, families: Sequence[Sequence[int]], clock: Clock | None = None) -> list[np.ndarray]:
        """The tables of many families, those not in the cache in one pass over the rows.

        Raises:
            TooLarge: a table, or all of them, would not fit the memory limit; see `occurring`.
        """
        clock = start_clock() if clock is None else clock
        wanted = [tuple(sorted(family)) for family in families]
        held: dict[tuple[int, ...], np.ndarray] = {}
        with self._lock:
            for key in wanted:
                if key in self._kept:
                    self._kept.move_to_end(key)
                    held[key] = self._kept[key]
        new = [key for key in dict.fromkeys(wanted) if key not in held]
        if new:
            held.update(zip(new, self._counted(new, clock), strict=True))
            self._keep({key: held[key] for key in new})
        found = []
        for key, family in zip(wanted, families, strict=True):
            order = [key.index(column) for column in family]
            table = held[key]
            found.append(table if order == sorted(order) else table.transpose(order))
        return found

    def cells(self, family: Sequence[int]) -> int:
        """The number of cells of the table of these columns."""
        return math.prod(self.cards[column] for column in family)

    def occurring(self, family: Sequence[int]) -> Occurring:
        """The configurations of these columns that occur, and their weights; memory grows with the rows.

        They are sorted by their codes, the last column changing fastest: those that differ only in the last
        column are adjacent.

        >>> Counts([np.array([2, 0, 2]), np.array([1, 1, 1])], [3, 2]).occurring([0, 1])
        Occurring(codes=array([[0, 1],
               [2, 1]], dtype=int32), weights=array([1., 2.]))
        """
        m, n = len(family), self.n_distinct
        codes = np.empty((m, n), np.int32)
        seen = np.ones(n, bool)
        for i, column in enumerate(family):
            codes[i] = self._codes[column]
            if self.gaps[column]:
                seen &= self._codes[column] != self._missing
        weights = self.weights
        if not seen.all():
            codes, weights = np.ascontiguousarray(codes[:, seen]), weights[seen]
        rows, inverse = distinct(codes, np.array([self.cards[c] for c in family], np.int64))
        order = np.lexsort(rows.T[::-1]) if m else np.arange(len(rows))
        totals = np.bincount(inverse, weights, minlength=len(rows)).astype(np.float64)
        return Occurring(rows[order], totals[order])

    def _counted(self, families: Sequence[tuple[int, ...]], clock: Clock) -> list[np.ndarray]:
        cells = [self.cells(family) for family in families]
        small = sum(c for c in cells if c < 4096)
        need = 24.0 * sum(cells) + 16.0 * small
        check_room(need, counts_of(len(families), sum(cells)), FEWER)
        if (largest := max(cells, default=0)) >= _MOST_CELLS:
            raise TooLarge(f"One table has {counted(largest)} cells, too many for an index. {FEWER}.")
        out = np.empty(sum(cells))
        ends = np.cumsum([0, *cells])
        work = max(1, self.n_distinct) * _CELL
        share = max(1, -(-len(families) // max(1, 2 * current().threads)))
        if work * len(families) < 0.01:
            share = len(families)

        def some(begin: int, end: int, stop: np.ndarray) -> None:
            run(
                self._loop, self._codes, self._families(families[begin:end], cells[begin:end]),
                self._weights, out[ends[begin] : ends[end]],
                steps=6.0 * self.n_distinct * (end - begin), clock=clock, module=COUNTING,
            )  # fmt: skip

        if share == len(families):
            some(0, share, np.zeros(1, np.uint8))
        else:
            parts = [(b, min(len(families), b + share)) for b in range(0, len(families), share)]
            run_all([Task(partial(some, b, e), work * (e - b)) for b, e in parts], clock)
        out.flags.writeable = False
        return [
            out[ends[i] : ends[i + 1]].reshape([self.cards[c] for c in family])
            for i, family in enumerate(families)
        ]

    def _families(self, families: Sequence[tuple[int, ...]], cells: Sequence[int]) -> Families:
        members = [column for family in families for column in family]
        strides: list[int] = []
        for family in families:
            step, steps = 1, []
            for column in reversed(family):
                steps.append(step)
                step *= self.cards[column]
            strides += reversed(steps)
        begin = np.zeros(len(families) + 1, np.int64)
        begin[1:] = np.cumsum([len(family) for family in families])
        return Families(
            begin,
            np.array(members, np.int64),
            np.array(strides, np.int64),
            np.array(cells, np.int64),
            self._missing,
            self.gaps.astype(np.uint8),
        )

    def _keep(self, new: dict[tuple[int, ...], np.ndarray]) -> None:
        with self._lock:
            for key, table in new.items():
                size = table.nbytes + 200
                if size * 4 > self._memory:
                    continue
                if key not in self._kept:
                    kept = table.copy() if table.nbytes > _OWN else table  # else a view of all new tables
                    kept.flags.writeable = False
                    self._kept[key] = kept
                    self._bytes += size
            while self._bytes > self._memory and self._kept:
                _, gone = self._kept.popitem(last=False)
                self._bytes -= gone.nbytes + 200

    def _repeats(self) -> bool:
        """Whether a sample of rows has few distinct ones: then merging costs less than one pass saves."""
        if self.n_rows < 4 * _PROBE or not self.cards:
            return False
        step = self.n_rows // _PROBE
        some = np.ascontiguousarray(self._codes[:, ::step][:, :_PROBE]).astype(np.int32)
        some[some == self._missing] = -1
        rows, _ = distinct(some, np.array(self.cards, np.int64))
        return len(rows) < _PROBE // 4

    def _merge(self) -> None:
        codes = self._codes.astype(np.int32)
        codes[codes == self._missing] = -1
        rows, inverse = distinct(codes, np.array(self.cards, np.int64))
        weights = self._weights if self._weights.size else None
        self._weights = np.bincount(inverse, weights, minlength=len(rows)).astype(np.float64)
        self._codes = np.ascontiguousarray(rows.T.astype(self._codes.dtype))


def distinct(codes: np.ndarray, cards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows of codes, given column by column, and for each row the index of its equal there.

    >>> [a.tolist() for a in distinct(np.array([[1, 0, 1], [0, -1, 0]], np.int32), np.array([2, 2]))]
    [[[1, 0], [0, -1]], [0, 1, 0]]
    """
    m, n = codes.shape
    words = np.zeros((1 + m, n), np.int64)
    first, inverse = np.empty(n, np.int64), np.empty(n, np.int64)
    slots = np.full(1 << max(1, (2 * n - 1).bit_length()), -1, np.int32)
    count = LANES.distinct(words, LANES.pack(codes, cards, False, words), slots, first, inverse)
    rows = np.empty((count, m), np.int32)
    LANES.gather_rows(codes, first[:count], rows)
    return rows, inverse
