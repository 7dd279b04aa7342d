"""Rows of a frame that share a tree, answered in batches: each row in a lane of the same arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from pgm.config import current
from pgm.inference.program import Program
from pgm.inference.program.reduction import Case, Known, lows, open_targets, reduce_case
from pgm.inference.trees import Shape, Tree, TreeCache, tree_of
from pgm.inference.trees.needs import Needs
from pgm.runtime.clock import Clock
from pgm.runtime.running import LANES, TABLES, Narrow
from pgm.runtime.threads import Task

from .lane_arrays import Lanes, Reads, RowEvidence

_NARROW = 2  # a status of the compiled loops

# The overhead of an entry is the same for any number of lanes, and matters more than the
# nearest cache: up to 32 lanes each doubling pays off while a thread's data fit in this many bytes.
_CACHE = 2**25
_MOST_LANES, _LEAST_LANES = 32, 8
_SECONDS_PER_STEP = 0.15e-9  # in one lane
_SECONDS_PER_CELL = 2e-9  # of evidence written into a lane
_MOST_ROWS = 4096  # of one task
_PIECE = 0.02  # target seconds of a task
_COUNTING = 0.1  # of one that has counts of its own


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
    seconds: float  # about how long one row takes
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
        """The same tasks, which add up expected counts, and the array of this size that each writes."""
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


class Unobserved(Protocol):
    """A model without evidence, to be queried for the rows of a frame."""

    @property
    def program(self) -> Program:
        """The compiled model."""

    @property
    def known(self) -> Known:
        """Nothing."""

    @property
    def trees(self) -> TreeCache:
        """The trees that the model caches."""

    @property
    def clock(self) -> Clock:
        """The clock of the question."""

    def check_of(self, case: Case, needs: Needs) -> Callable[[Shape], None]:
        """A function that raises `TooLarge` for a tree that does not fit."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The question asked for every row."""

    targets: tuple[int, ...]  # positions; their states are columns of the answer, one after the other
    whole: bool  # the marginals of several, not one
    families: bool = False  # the expected counts of all tables instead; `targets` are all variables


def cost(model: Unobserved, observed: Sequence[int], sometimes: Sequence[int], wanted: Wanted) -> float:
    """About how many seconds a row takes on a tree that these rows share, before that is laid out."""
    tree = tree_for_rows(
        model, observed, sometimes, wanted.targets, whole=wanted.whole, families=wanted.families
    )[1]
    return _seconds(tree.steps, wanted.whole, len(observed) + len(sometimes))


def _seconds(steps: float, whole: bool, n_columns: int) -> float:
    return 1e-8 + steps * (4.0 if whole else 1.0) * _SECONDS_PER_STEP + n_columns * _SECONDS_PER_CELL


def group_of(
    model: Unobserved,
    column: np.ndarray,
    observed: Sequence[int],
    sometimes: Sequence[int],
    share: np.ndarray,
    wanted: Wanted,
    n_rows: int,
    stop: np.ndarray,
) -> Group:
    """Lay out a tree for rows that share it; `Narrow` where doubles are not safe.

    Args:
        model: the model without evidence.
        column: for each variable of the program its column in the codes, or -1.
        observed: variables that every row observes.
        sometimes: variables that some rows observe.
        share: the share of rows that do, for each.
        wanted: the question.
        n_rows: the number of rows.
        stop: the stop flag.
    """
    program = model.program
    p = program.arrays
    case, tree = tree_for_rows(
        model, observed, sometimes, wanted.targets, whole=wanted.whole, families=wanted.families
    )
    r, t = case.reduced, tree.arrays
    sliced_column = np.full(program.n, -1, np.int64)
    sliced_column[list(observed)] = column[list(observed)]
    step_at, table_column, table_step = LANES.strides_of(p, r.factors, sliced_column)
    sliced = (np.diff(step_at) > 0).astype(np.uint8)
    inner = open_targets(case, () if wanted.whole else wanted.targets)

    # Where evidence that only some rows have is applied.
    found = open_targets(case, sometimes)
    here = np.isin(np.array(sometimes, np.int64), r.variables)
    masked, part = found.astype(np.int64), share[here]
    skeleton = LANES.skeleton(t, inner.size)
    table_low = lows(case)
    skeleton, scaled, ratio_scaled = _bounded(r.cards, skeleton, table_low, wanted.whole)
    where, in_message, lane = LANES.place_masks(r, skeleton, sliced, masked, part, wanted.whole)
    open_wanted = np.empty(0, np.int32)
    if wanted.families:
        open_wanted = np.arange(r.factors.size, dtype=np.int32)
    elif wanted.whole:
        open_wanted = open_targets(case, wanted.targets)
    status, power, pool_size, arrays, table_pool = LANES.lay_out(
        r,
        skeleton,
        case.tables(),
        sliced,
        masked,
        where,
        in_message,
        lane,
        scaled,
        open_wanted,
        wanted.families,
        wanted.whole,
        stop,
    )
    if status == _NARROW:
        raise Narrow

    which = np.flatnonzero(sliced)
    sources = case.sources()
    entries = [sources[r.table_at[g] : r.table_at[g + 1]] for g in which]
    states = [np.cumsum(case.open_states[p.state_at[v] : p.state_at[v + 1]]) - 1 for v in r.variables[masked]]
    scalar_step_at, scalar_column, scalar_step = LANES.strides_of(p, r.scalars, sliced_column)
    scalar_at = np.empty(r.scalars.size, np.int64)
    TABLES.gather_scalars(p, r, case.codes, scalar_at)
    evidence = RowEvidence(
        program.values,
        column[r.variables[masked]],
        r.cards[masked],
        _begins([s.size for s in states])[:-1],
        _joined(states),
        table_pool[which],
        _begins([e.size for e in entries]),
        _joined(entries),
        _begins(np.diff(step_at)[which]),
        table_column,
        table_step,
        scalar_at,
        scalar_step_at,
        scalar_column,
        scalar_step,
    )
    places, ones, seen = _places(case, sliced_column, wanted)
    reads = None
    if wanted.families:
        begins = program.entries_at
        shift = np.repeat(begins[r.factors] - p.table_at[r.factors], np.diff(r.table_at))
        own_at = scalar_at + begins[r.scalars] - p.table_at[r.scalars]
        reads = Reads(sources + shift, step_at, table_column, table_step, own_at)
    used = float(_seconds(tree.steps, wanted.whole, masked.size) + evidence.table_entry.size * 1e-9)
    own = r.factors[r.factors < p.heads.size]
    return Group(
        Lanes(*arrays),
        evidence,
        lanes_for(pool_size * (2 if wanted.whole else 1), n_rows),
        pool_size,
        wanted.whole,
        ratio_scaled,
        int(power + p.exponent[own].sum() + p.exponent[r.scalars].sum()),
        places,
        ones,
        seen,
        used,
        reads,
    )


Skeleton = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _bounded(
    cards: np.ndarray, skeleton: Skeleton, table_low: np.ndarray, whole: bool
) -> tuple[Skeleton, np.ndarray, np.ndarray]:
    """The tree, hubs split where needed, with marks on what must be scaled in the inward and outward pass."""
    for attempt in range(2):
        count = skeleton[2].size
        low = np.zeros(table_low.size + count, np.int64)
        high = np.zeros_like(low)
        scaled, ratio_scaled = np.zeros(count, np.uint8), np.zeros(count, np.uint8)
        safe = LANES.bounds(cards, skeleton, table_low, low, high, scaled)
        if safe and (not whole or LANES.bounds_outward(cards, skeleton, low, high, ratio_scaled)):
            return skeleton, scaled, ratio_scaled
        if attempt == 0:
            skeleton = LANES.split_hubs(skeleton, table_low, whole)
    raise Narrow


def lanes_for(pool_size: int, n_rows: int) -> int:
    """How many rows are answered at once, a power of two; fewer than eight only where memory is short."""
    limits = current()
    n = _MOST_LANES
    while n > _LEAST_LANES and 8 * n * pool_size > _CACHE:
        n //= 2
    while n > 1 and (n >= 2 * n_rows or 16 * n * pool_size * limits.threads > limits.memory_limit):
        n //= 2
    return n


def _places(
    case: Case, sliced_column: np.ndarray, wanted: Wanted
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where results go among the columns of the answer, and which of those the evidence decides."""
    p, r = case.program.arrays, case.reduced
    places, ones, seen = [], [], []
    begin = 0
    reduced = np.zeros(case.program.n, bool)
    reduced[r.variables] = True
    for v in wanted.targets:
        if sliced_column[v] >= 0:
            seen.append((int(sliced_column[v]), begin))
        elif reduced[v]:
            places.append(begin + np.flatnonzero(case.open_states[p.state_at[v] : p.state_at[v + 1]]))
        else:
            ones.append(begin + int(case.codes[v]))
        begin += int(p.cards[v])
    return (
        _joined(places),
        np.array(ones, dtype=np.int64),
        np.array(seen, dtype=np.int64).reshape(-1, 2),
    )


def _begins(sizes: Sequence[int] | np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, np.int64))]).astype(np.int64)


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts).astype(np.int64) if parts else np.empty(0, np.int64)


def tree_for_rows(
    model: Unobserved,
    observed: Sequence[int],
    sometimes: Sequence[int],
    targets: Sequence[int],
    *,
    whole: bool = False,
    families: bool = False,
) -> tuple[Case, Tree]:
    """A tree that serves every row of a frame in which the same variables are observed.

    Args:
        model: the model, nothing known.
        observed: variables that every row observes: they are sliced away.
        sometimes: variables that some rows observe: they stay.
        targets: what the last root keeps, or with `whole` what will be read off all over the tree.
        whole: a tree for the outward pass too.
        families: all tables are wanted, so none is dropped.
    """
    case = reduce_case(
        model.program,
        model.known,
        list(targets),
        model.clock,
        prune=not families,
        only_wanted=len(targets) > 0 and not families,
        kept=sometimes,
        placeholders=observed,
        keep_ones=families,
    )
    inner = np.empty(0, np.int32) if whole else open_targets(case, targets)
    check = model.check_of(case, Needs("rows of a frame", "kept", asks=None))
    return case, tree_of(case, model.clock, model.trees, targets=inner, check=check)
