"""Rows of a frame that share a tree, answered in batches: each row in a lane of the same arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from pgm.config import current
from pgm.inference.program.program_arrays import ProgramArrays
from pgm.runtime.running import LANES, TABLES, Narrow
from pgm.runtime.threads import Task

from .lane_arrays import Lanes, Reads, RowEvidence
from .layouts import LaneLayout, Pattern, Unobserved, Wanted, layout_of

_NARROW = 2  # a status of the compiled loops

# The overhead of an entry is the same for any number of lanes, and matters more than the nearest cache: up to
# 32 lanes, each doubling pays off while a thread's data fit in this many bytes.
_CACHE = 2**25
_MOST_LANES, _LEAST_LANES = 32, 8
_MOST_ROWS = 4096  # of one task
_PIECE = 0.02  # target seconds of a task
_COUNTING = 0.1  # of a task that has expected counts of its own


@dataclass(frozen=True, eq=False, slots=True)
class Answers:
    """The results for the rows of a frame; each task writes its own rows."""

    status: np.ndarray  # int64
    tops: np.ndarray  # the sum over everything is tops * 2**powers
    powers: np.ndarray
    shares: np.ndarray  # (rows, states of all targets)


@dataclass(frozen=True, eq=False, slots=True)
class Group:
    """Rows that share a tree, ready to run."""

    lanes: Lanes
    evidence: RowEvidence
    n_lanes: int
    pool_size: int
    whole: bool
    ratio_scaled: np.ndarray
    power: int  # a power of two common to all rows
    places: np.ndarray  # the column of the answer for each entry of the results
    ones: np.ndarray  # columns that are 1 in every row: states that are the only ones left
    observed: np.ndarray  # (column of the frame, first column of the answer) of targets that all rows observe
    seconds: float  # roughly how long one row takes
    reads: Reads | None  # where expected counts go, if those are wanted

    def pieces(self, codes: np.ndarray, rows: np.ndarray, answers: Answers) -> list[Task]:
        """The tasks for these rows of `codes`, split the same way for any number of threads."""
        return [
            Task(partial(self._run, codes, part, answers), self.seconds * part.size)
            for part in self._parts(rows, _PIECE)
        ]

    def counting(
        self, codes: np.ndarray, rows: np.ndarray, weights: np.ndarray, answers: Answers, size: int
    ) -> tuple[list[Task], list[np.ndarray]]:
        """Tasks that add up expected counts of these rows, and the array of this size that each writes."""
        tasks, counts = [], []
        for part in self._parts(rows, _COUNTING):
            counts.append(np.zeros(size))
            work = partial(self._count, codes, part, weights, answers, counts[-1])
            tasks.append(Task(work, self.seconds * part.size))
        return tasks, counts

    def _parts(self, rows: np.ndarray, seconds: float) -> list[np.ndarray]:
        step = min(_MOST_ROWS, int(seconds / self.seconds) // self.n_lanes * self.n_lanes)
        step = max(self.n_lanes, step)
        return [rows[begin : begin + step] for begin in range(0, rows.size, step)]

    def _count(
        self,
        codes: np.ndarray,
        rows: np.ndarray,
        weights: np.ndarray,
        answers: Answers,
        counts: np.ndarray,
        stop: np.ndarray,
    ) -> None:
        assert self.reads is not None
        LANES.count_lanes(
            self.lanes,
            self.evidence,
            self.reads,
            self.n_lanes,
            self.pool_size,
            self.ratio_scaled,
            codes,
            rows,
            weights,
            counts,
            answers.tops,
            answers.powers,
            answers.status,
            stop,
        )
        answers.powers[rows] += self.power

    def _run(self, codes: np.ndarray, rows: np.ndarray, answers: Answers, stop: np.ndarray) -> None:
        LANES.run_lanes(
            self.lanes,
            self.evidence,
            self.n_lanes,
            self.pool_size,
            self.whole,
            self.ratio_scaled,
            codes,
            rows,
            self.places,
            answers.shares,
            answers.tops,
            answers.powers,
            answers.status,
            stop,
        )
        answers.powers[rows] += self.power
        answers.shares[rows[:, None], self.ones] = 1.0
        for column, begin in self.observed.tolist():
            answers.shares[rows, begin + codes[rows, column]] = 1.0


def group_of(model: Unobserved, pattern: Pattern, wanted: Wanted, n_rows: int, stop: np.ndarray) -> Group:
    """Lay out a tree for rows that share it; raises `Narrow` if doubles are not safe.

    Args:
        model: the model without evidence.
        pattern: what the rows observe.
        wanted: the question.
        n_rows: the number of rows.
        stop: the stop flag.
    """
    program = model.program
    p, layout = program.arrays, layout_of(model, pattern, wanted, stop)
    scales = _scales(layout, p, wanted.whole)
    if scales is None:
        split = LANES.split_hubs(layout.skeleton, p.low[layout.reduced.factors], wanted.whole)
        layout = layout_of(model, pattern, wanted, stop, split)
        scales = _scales(layout, p, wanted.whole)
        if scales is None:
            raise Narrow
    r = layout.reduced
    scaled, ratio_scaled = scales
    tables = np.empty(layout.sources.size)
    TABLES.pick(program.values, layout.sources, tables)
    lanes = Lanes(scaled, np.ones(layout.n_constants), np.zeros(layout.n_fixed), *layout.arrays)
    status, power = LANES.multiply(r, layout.skeleton, lanes, tables, layout.sliced, wanted.whole, stop)
    if status == _NARROW:
        raise Narrow
    return Group(
        lanes,
        RowEvidence(program.values, *layout.evidence),
        lanes_for(layout.pool_size * (2 if wanted.whole else 1), n_rows),
        layout.pool_size,
        wanted.whole,
        ratio_scaled,
        int(power + p.exponent[r.factors].sum() + p.exponent[r.scalars].sum()),
        layout.places,
        layout.ones,
        layout.observed,
        layout.seconds,
        layout.reads,
    )


def _scales(layout: LaneLayout, p: ProgramArrays, whole: bool) -> tuple[np.ndarray, np.ndarray] | None:
    """Which messages to scale in the inward and outward pass; None: doubles are not safe on this tree."""
    cards, skeleton, table_low = layout.reduced.cards, layout.skeleton, p.low[layout.reduced.factors]
    count = skeleton[2].size
    low = np.zeros(table_low.size + count, np.int64)
    high = np.zeros_like(low)
    scaled, ratio_scaled = np.zeros(count, np.uint8), np.zeros(count, np.uint8)
    if not LANES.bounds(cards, skeleton, table_low, low, high, scaled):
        return None
    if whole and not LANES.bounds_outward(cards, skeleton, low, high, ratio_scaled):
        return None
    return scaled, ratio_scaled


def lanes_for(pool_size: int, n_rows: int) -> int:
    """How many rows are answered at once: a power of two, below eight only for few rows or little memory."""
    limits = current()
    n = _MOST_LANES
    while n > _LEAST_LANES and 8 * n * pool_size > _CACHE:
        n //= 2
    while n > 1 and (n >= 2 * n_rows or 16 * n * pool_size * limits.threads > limits.memory_limit):
        n //= 2
    return n
