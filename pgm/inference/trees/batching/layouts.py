"""Where the values of rows that share a tree go: worked out once per pattern of observations and question.

A layout holds no values of tables, so it serves as long as the zeros stay where they are. `lanes.py` runs
rows on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pgm.inference.program import Program
from pgm.inference.program.program_arrays import ReducedArrays
from pgm.inference.program.reduction import Case, Known, open_targets, reduce_case
from pgm.inference.trees import Shape, Tree, TreeCache, tree_of
from pgm.inference.trees.needs import Needs
from pgm.runtime.clock import Clock
from pgm.runtime.running import LANES, TABLES
from pgm.runtime.threads import Stopped

from .lane_arrays import Reads

_NEEDS = Needs("rows of a frame", "kept", asks=None)
# The tree of lanes: see compiled.py.
Skeleton = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]
_SECONDS_PER_STEP = 0.15e-9  # in one lane
_SECONDS_PER_CELL = 2e-9  # of evidence written into a lane


class Unobserved(Protocol):
    """A model without evidence, to be queried for the rows of a frame."""

    @property
    def program(self) -> Program:
        """The compiled model."""

    @property
    def known(self) -> Known:
        """The evidence: none."""

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

    targets: tuple[int, ...]  # positions; their states are the columns of the answer, concatenated
    whole: bool  # whether the marginals of several variables are wanted, not one joint
    families: bool = False  # the expected counts of all tables instead; `targets` are all variables


@dataclass(frozen=True, eq=False, slots=True)
class LaneLayout:
    """How rows that observe the same columns lie side by side on a tree.

    It says where values go but holds none, so it serves all programs of one `support`.
    """

    reduced: ReducedArrays
    shape: Shape
    skeleton: Skeleton
    sliced: np.ndarray  # uint8, tables that differ from row to row
    sources: np.ndarray  # the index of each entry of the tables among the program's values
    arrays: tuple[np.ndarray, ...]  # of `Lanes`, without the first three, which depend on values
    n_constants: int
    n_fixed: int
    pool_size: int
    evidence: tuple[np.ndarray, ...]  # of `RowEvidence`, without the values
    places: np.ndarray
    ones: np.ndarray
    observed: np.ndarray
    seconds: float
    reads: Reads | None
    key_bytes: int  # the size of its key in the cache

    @property
    def nbytes(self) -> int:
        """Memory for caching it."""
        own = self.sliced, self.sources, self.places, self.ones, self.observed
        every = (*self.reduced, *self.skeleton, *own, *self.arrays, *self.evidence, *(self.reads or ()))
        size: int = self.key_bytes + self.shape.nbytes + sum(a.nbytes for a in every)
        return size

    def serves(self, program: Program) -> bool:
        """Whether it fits the current memory limit, and whether doubles suffice has not changed."""
        low = program.arrays.low[self.reduced.factors]
        return _NEEDS.fits(self.shape) and self.shape.leaves_doubles(low) == self.shape.narrow


@dataclass(frozen=True, slots=True)
class Pattern:
    """What the rows of a group observe."""

    column: np.ndarray  # for each variable of the program its column in the codes, or -1
    observed: Sequence[int]  # variables that every row observes
    sometimes: Sequence[int]  # variables that some rows observe
    share: np.ndarray  # the share of rows that do, for each

    def key(self, wanted: Wanted) -> bytes:
        """What a layout depends on besides the model; lengths first, so that no two keys coincide."""
        variables = np.array([*self.observed, *self.sometimes], np.int64)
        lengths = np.array([len(self.observed), len(self.sometimes), wanted.whole, wanted.families], np.int64)
        targets = np.array(wanted.targets, np.int64)
        return b"".join(
            part.tobytes() for part in (lengths, variables, self.column[variables], self.share, targets)
        )


def layout_of(
    model: Unobserved,
    pattern: Pattern,
    wanted: Wanted,
    stop: np.ndarray,
    skeleton: Skeleton | None = None,
) -> LaneLayout:
    """The layout for rows that observe the same columns, from the model's cache if it is there.

    Args:
        model: the model without evidence.
        pattern: what the rows observe.
        wanted: the question.
        stop: the stop flag.
        skeleton: the skeleton of the default layout with its hubs split; None: as it is. How many operands
            each piece has tells where they are split.
    """
    program, pieces = model.program, b"" if skeleton is None else skeleton[4].tobytes()

    def make() -> LaneLayout:
        return lay_out(model, pattern, wanted, stop, skeleton)

    found = model.trees.get((program.support, "rows", pattern.key(wanted), pieces), make)
    return found if found.serves(program) else make()


def lay_out(
    model: Unobserved,
    pattern: Pattern,
    wanted: Wanted,
    stop: np.ndarray,
    skeleton: Skeleton | None,
) -> LaneLayout:
    """Lay out a tree for these rows; the arguments are those of `layout_of`."""
    program, column = model.program, pattern.column
    p = program.arrays
    observed, sometimes = list(pattern.observed), list(pattern.sometimes)
    case, tree = _tree_for(model, pattern, wanted)
    r, t = case.reduced, tree.arrays
    sliced_column = np.full(program.n, -1, np.int64)
    sliced_column[observed] = column[observed]
    step_at, table_column, table_step = LANES.strides_of(p, r.factors, sliced_column)
    sliced = (np.diff(step_at) > 0).astype(np.uint8)
    inner = open_targets(case, () if wanted.whole else wanted.targets)

    # Where to apply evidence that only some rows have.
    found = open_targets(case, sometimes)
    here = np.isin(np.array(sometimes, np.int64), r.variables)
    masked, part = found.astype(np.int64), pattern.share[here]
    if skeleton is None:
        skeleton = LANES.skeleton(t, inner.size)
    where, in_message, lane = LANES.place_masks(r, skeleton, sliced, masked, part, wanted.whole)
    open_wanted = np.empty(0, np.int32)
    if wanted.families:
        open_wanted = np.arange(r.factors.size, dtype=np.int32)
    elif wanted.whole:
        open_wanted = open_targets(case, wanted.targets)
    status, pool_size, n_constants, n_fixed, arrays, table_pool = LANES.lay_out(
        r,
        skeleton,
        sliced,
        masked,
        where,
        in_message,
        lane,
        open_wanted,
        wanted.families,
        wanted.whole,
        stop,
    )
    if status:
        raise Stopped

    which = np.flatnonzero(sliced)
    sources = case.sources()
    entries = [sources[r.table_at[g] : r.table_at[g + 1]] for g in which]
    states = [np.cumsum(case.open_states[p.state_at[v] : p.state_at[v + 1]]) - 1 for v in r.variables[masked]]
    scalar_step_at, scalar_column, scalar_step = LANES.strides_of(p, r.scalars, sliced_column)
    scalar_at = np.empty(r.scalars.size, np.int64)
    TABLES.gather_scalars(p, r, case.codes, scalar_at)
    evidence = (
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
    return LaneLayout(
        r,
        tree.shape.for_values_of(case),
        skeleton,
        sliced,
        sources,
        arrays,
        n_constants,
        n_fixed,
        pool_size,
        evidence,
        places,
        ones,
        seen,
        float(_seconds(tree.steps, wanted.whole, masked.size) + evidence[6].size * 1e-9),
        reads,
        len(pattern.key(wanted)),
    )


def cost(model: Unobserved, pattern: Pattern, wanted: Wanted) -> float:
    """Roughly how many seconds a row takes on a tree that these rows share, before that is laid out."""
    steps = _tree_for(model, pattern, wanted)[1].steps
    return _seconds(steps, wanted.whole, len(pattern.observed) + len(pattern.sometimes))


def _seconds(steps: float, whole: bool, n_columns: int) -> float:
    return 1e-8 + steps * (4.0 if whole else 1.0) * _SECONDS_PER_STEP + n_columns * _SECONDS_PER_CELL


def _places(
    case: Case, sliced_column: np.ndarray, wanted: Wanted
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where results go among the columns of the answer, and which columns the evidence decides."""
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


def _tree_for(model: Unobserved, pattern: Pattern, wanted: Wanted) -> tuple[Case, Tree]:
    """A tree without the variables that every row observes, and with those that only some do."""
    targets = wanted.targets
    case = reduce_case(
        model.program,
        model.known,
        list(targets),
        model.clock,
        prune=not wanted.families,
        only_wanted=len(targets) > 0 and not wanted.families,
        kept=pattern.sometimes,
        placeholders=pattern.observed,
        keep_ones=wanted.families,
    )
    inner = np.empty(0, np.int32) if wanted.whole else open_targets(case, targets)
    check = model.check_of(case, _NEEDS)
    return case, tree_of(case, model.clock, model.trees, targets=inner, check=check)
