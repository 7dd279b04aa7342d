"""Trees sliced by the evidence: one serves all questions that observe the same variables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pgm.config import memory_limit
from pgm.inference.program import Program
from pgm.inference.program.program_arrays import ProgramArrays
from pgm.inference.program.reduction import (
    Case,
    Known,
    open_index,
    open_targets,
    reduce_case,
    wide_multiply,
)
from pgm.inference.trees import EFFORT_FOR_MANY, Shape, Tree, TreeCache, lay_out_tree, shape_of
from pgm.inference.trees.needs import Needs, time_of
from pgm.inference.trees.sparse_cliques import with_lists
from pgm.inference.trees.sweeps import sweep_in, sweep_out
from pgm.runtime.buffers import give, take
from pgm.runtime.clock import RUNNING, TRIANGULATING, Clock
from pgm.runtime.running import REDUCTION, TABLES, Impossible, raise_status, seconds_of

Wide = tuple[float, int]

# The cost of building a tree for one question: reduce, triangulate, lay out; measured.
_NEW_TREE = 0.2e-3
_NEW_TREE_PER_FACTOR = 3e-6
_AT_ONCE = 3e6  # inner steps, some milliseconds; longer runs are interruptible, and shared by threads
_NOWHERE = np.empty(0, np.int64)
_MOST_RESULTS = 2**20  # of a joint: their indices in the answer would be stored too
_MOST_VALUES = 20_000  # table entries of a program for which a sliced tree is tried at all


class Moves(NamedTuple):
    """Where the tables of a sliced tree come from, and where its results go; all int64."""

    sources: np.ndarray  # the index of each entry, then each scalar, if all observed states were the first
    begins: np.ndarray  # where each table begins among these, then each scalar
    item: np.ndarray  # a table or scalar that moves with an observed state
    slot: np.ndarray  # for each such item, which of the observed variables moves it
    stride: np.ndarray  # for each such item, how far per state
    places: np.ndarray  # the index in the answer of each entry of the result
    fixed: np.ndarray  # indices of entries that are one whatever was observed
    seen_at: np.ndarray  # the indices of the observed variables' first states; empty if not in the answer


class _Scales(NamedTuple):
    """What else a sliced tree needs to know about a program's values."""

    arrays: ProgramArrays  # not the program itself: old tables are not kept
    low: np.ndarray  # int64 bounds on log2 of each table's smallest non-zero entry, then of each message
    exponent: int  # the power of two by which the product of all tables was divided


@dataclass(frozen=True, eq=False, slots=True)
class Sliced:
    """A tree, and where its tables come from; each run supplies the observed codes and the values.

    It serves all programs of one `support`.
    """

    tree: Tree
    moves: Moves
    packed: np.ndarray  # all int64 arrays of both, concatenated; empty for a large tree
    packed_at: np.ndarray
    factors: np.ndarray  # the program's factors of these tables, then those with a single entry left
    n_tables: int
    size: int  # of the answer
    room: int  # floats of work space that a run needs
    bytes: float  # memory of the question
    steps: float
    entries: np.ndarray  # where the table entries of the answer, then the scalars, are among all entries
    last: list[_Scales] = field(default_factory=list)  # the scales of the program that it last ran on

    def scales(self, program: Program) -> _Scales:
        """How the values of this program were scaled."""
        for kept in self.last:
            if kept.arrays is program.arrays:
                return kept
        p, low = program.arrays, np.zeros(self.tree.arrays.item_at.size - 1, np.int64)
        exponent = REDUCTION.scales(self.factors, self.n_tables, p.low, p.exponent, low)
        made = _Scales(p, low, int(exponent))
        self.last[:] = [made]
        return made

    def other_range(self, program: Program) -> bool:
        """Whether these values leave the range of doubles and the original ones do not, or vice versa."""
        shape, low = self.tree.shape, self.scales(program).low[: self.n_tables]
        return shape.leaves_doubles(low) != shape.narrow

    @property
    def nbytes(self) -> int:
        """Memory for caching it."""
        if self.packed.size:  # its contents are also stored separately
            t = self.tree.arrays
            return 2 * self.packed.nbytes + t.axes.nbytes + t.lookup.nbytes + self.entries.nbytes
        return self.tree.nbytes + sum(a.nbytes for a in self.moves) + self.entries.nbytes

    def answer(self, program: Program, codes: np.ndarray, clock: Clock) -> tuple[np.ndarray, Wide]:
        """The normalised answer for these observed states, and the total."""
        scales = self.scales(program)
        answer = np.zeros(self.size)
        clock.check()
        if not self.packed.size:
            return self._in_steps(program, scales, codes, answer, clock)
        tree = self.tree
        scratch = take(self.room)
        status, mantissa, exponent = TABLES.sliced(
            self.packed,
            self.packed_at,
            tree.arrays.axes,
            tree.arrays.lookup,
            program.values,
            scales.low,
            codes,
            tree.longest_row,
            scratch,
            answer,
        )
        give(scratch)
        if status:
            raise_status(status, "sliced", clock)
        clock.lap(RUNNING)
        return answer, (float(mantissa), int(exponent) + scales.exponent)

    def counts(self, program: Program, codes: np.ndarray, clock: Clock) -> np.ndarray:
        """P(entry | these observed states) of every table entry; they begin at `program.entries_at`."""
        found, m = self.answer(program, codes, clock)[0], self.moves
        flat = np.zeros(int(program.entries_at[-1]))
        TABLES.count_entries(found, codes, self.entries, *m[1:5], flat)
        return flat

    def _in_steps(
        self, program: Program, scales: _Scales, codes: np.ndarray, answer: np.ndarray, clock: Clock
    ) -> tuple[np.ndarray, Wide]:
        """`answer` for a large tree, whose sweeps can be stopped and shared by threads."""
        t, m = self.tree.arrays, self.moves
        n_tables = int(t.item_at.size - 1 - t.parent.size)
        pool = take(int(t.item_at[-1]))
        mantissa, exponent = TABLES.fill(program.values, codes, *m[:5], n_tables, pool)
        if mantissa == 0.0:
            raise Impossible
        low = scales.low.copy()
        high, powers = np.zeros_like(low), np.zeros(t.parent.size, np.int64)
        both = t.result_at.size > 1
        loss = np.full(0 if both else t.parent.size, -np.inf)
        sweep_in(self.tree, pool, np.empty(0), low, high, powers, clock, out_too=both, loss=loss)
        if both:
            results, down = np.empty(int(t.result_at[-1])), take(pool.size - int(t.item_at[n_tables]))
            sweep_out(self.tree, pool, down, results, low, high, powers, clock)
            give(down)
            bounds = t.result_at
        else:
            size = m.places.size  # of the last root's message: the end of the pool
            results = pool[pool.size - size :].copy()
            bounds = np.array([0, size] if size else [0])
        rest, more = TABLES.total_of(t, pool, powers)
        whole = wide_multiply((float(mantissa), int(exponent) + scales.exponent), (float(rest), int(more)))
        give(pool)
        raise_status(TABLES.normalise(bounds, results), "normalise", clock)
        TABLES.finish(results, codes, m.places, m.fixed, m.seen_at, answer)
        return answer, whole


@dataclass(frozen=True, eq=False, slots=True)
class Unsliced:
    """A mark in the cache: questions of this kind are better served by trees of their own."""

    nbytes: int


class _DoesNotFit(Exception):
    """There is no memory for the tree now; that is not worth caching."""


def sliced(
    program: Program,
    trees: TreeCache,
    hard: dict[int, int],
    targets: tuple[int, ...] | None,
    needs: Callable[[], Needs],
    clock: Clock,
    refuse: Callable[[Case, Shape], None],
    *,
    always: bool = False,
    entries: bool = False,
) -> Sliced | None:
    """The tree sliced by these observed variables, cached or built; None: a new tree is better.

    The choice depends on the model and on what is observed, not on what was asked before. A new tree takes
    time to build, but is smaller, because it knows the states; the sliced tree is used if running it costs
    less than building another.

    Args:
        program: the compiled model.
        trees: the model's trees.
        hard: the states that were observed, in the order of their variables.
        targets: variables whose joint is asked for, in this order; None: all marginals.
        needs: says what kind of run the question takes.
        clock: the clock of the question.
        refuse: raises `TooLarge` for a tree that does not fit; called if nothing was observed, because no
            other tree would then be smaller.
        always: use it even if a new tree would be better, for very frequent questions.
        entries: ask for the probabilities of all table entries; tables that matter neither to the targets nor
            to the evidence are left out.
    """
    observed = tuple(hard)
    key = (program.support, always, entries, observed, targets)

    def make() -> Sliced | Unsliced:
        return _make(program, observed, targets, needs(), clock, refuse, always, entries)

    try:
        found = trees.get(key, make)
        if isinstance(found, Sliced):
            if found.tree.shape.home is not None and found.other_range(program):
                found = make()  # the memory that it may take depends on that
    except _DoesNotFit:
        return None
    clock.lap(TRIANGULATING)
    if not isinstance(found, Sliced) or found.bytes > memory_limit():
        return None
    state_at = program.arrays.state_at
    for v, state in hard.items():
        if not program.open_states[state_at[v] + state]:
            raise Impossible
    return found


@dataclass(frozen=True, eq=False, slots=True)
class Considered:
    """A question sliced by the observed variables, and whether a tree for it is worthwhile."""

    case: Case
    inner: np.ndarray  # reduced variables whose joint is asked for
    mine: np.ndarray  # reduced variables whose marginals are asked for
    shape: Shape
    pays: bool
    why: str


def consider(
    program: Program,
    hard: Iterable[int],
    targets: Sequence[int] | None,
    needs: Needs,
    clock: Clock,
    *,
    always: bool = False,
    entries: bool = False,
) -> Considered | None:
    """Assess a sliced tree for this question; None if the model or the question is of the wrong kind."""
    observed = set(hard)
    if program.wide_exponents is not None or not program.possible:
        return None
    if observed and program.values.size > _MOST_VALUES and not always:
        return None
    if targets is not None and not entries:
        if not observed.isdisjoint(targets) or needs.results > _MOST_RESULTS:
            return None
    everything = targets is None
    wanted = np.arange(program.n_named) if targets is None else np.array(targets, dtype=np.int64)
    narrow = not everything and not entries and len(wanted) > 0
    case = reduce_case(
        program, Known(), wanted, clock, prune=not (entries and everything), only_wanted=narrow,
        placeholders=sorted(observed), keep_ones=entries,
    )  # fmt: skip
    inner, mine = np.empty(0, np.int32), np.empty(0, np.int32)
    if entries:
        pass
    elif everything:
        mine = np.flatnonzero(case.reduced.variables < program.n_named).astype(np.int32)
    else:
        inner = open_targets(case, wanted)
    shape = shape_of(case, clock, inner, effort=EFFORT_FOR_MANY)
    run = seconds_of(needs.steps(shape))
    other = _NEW_TREE + _NEW_TREE_PER_FACTOR * program.arrays.heads.size
    if not observed or always:
        return Considered(case, inner, mine, shape, True, "built once: nothing is observed")
    if run <= other:
        why = f"sliced by what is observed: its run takes less than another tree ({time_of(other)})"
        return Considered(case, inner, mine, shape, True, why)
    return Considered(case, inner, mine, shape, False, "")


def _make(
    program: Program,
    observed: tuple[int, ...],
    targets: Sequence[int] | None,
    needs: Needs,
    clock: Clock,
    refuse: Callable[[Case, Shape], None],
    always: bool,
    entries: bool,
) -> Sliced | Unsliced:
    found = consider(program, observed, targets, needs, clock, always=always, entries=entries)
    if found is None or not found.pays:
        return Unsliced(200 + 40 * len(observed))
    if not needs.fits(found.shape):
        if not observed:
            refuse(found.case, found.shape)
        raise _DoesNotFit
    p, n_named = program.arrays, program.n_named
    case, inner, mine = found.case, found.inner, found.mine
    r = case.reduced
    results = np.arange(mine.size + 1, dtype=np.int64), mine
    if entries:
        results = r.scope_at.astype(np.int64), r.scopes
    tree = lay_out_tree(case, found.shape, inner, *results, clock)

    slot_of = np.full(program.n, -1, np.int64)
    observed_at = np.array(observed, dtype=np.int64)
    slot_of[observed_at] = np.arange(observed_at.size)
    sources = np.empty(int(r.table_at[-1]) + r.scalars.size, np.int64)
    TABLES.gather(p, r, case.codes, case.virtual_at, program.values.size, sources[: int(r.table_at[-1])])
    TABLES.gather_scalars(p, r, case.codes, sources[int(r.table_at[-1]) :])
    item, slot, stride = TABLES.moves(p, r, slot_of)
    begins = np.concatenate([r.table_at, r.table_at[-1] + 1 + np.arange(r.scalars.size)])
    fixed = seen_at = at_entries = _NOWHERE
    if entries:
        size = int(r.table_at[-1])
        places = np.arange(size)
        shift = program.entries_at[:-1] - p.table_at
        at_entries = sources + np.append(np.repeat(shift[r.factors], np.diff(r.table_at)), shift[r.scalars])
    elif targets is None:
        owners = np.repeat(p.state_at[r.variables[mine]], r.cards[mine])
        places = owners + r.states[: int(r.state_at[mine.size])]
        size = int(p.state_at[n_named])
        still = np.flatnonzero((case.codes[:n_named] >= 0) & (slot_of[:n_named] < 0))
        fixed = p.state_at[still] + case.codes[still]
        seen_at = p.state_at[observed_at]
    else:
        cards = [int(p.cards[t]) for t in targets]
        size = math.prod(cards) if cards else 0
        places = np.arange(size).reshape(cards)[open_index(case, targets)].ravel() if cards else _NOWHERE
        if not inner.size:  # all targets are certain
            fixed, places = places, places[:0]
    steps, size_of_question = needs.steps(found.shape), needs.bytes_in_doubles(found.shape)
    if steps > _AT_ONCE and p.has_zero.any():
        bits = _ever_nonzero(
            program.values, sources, begins[: r.factors.size + 1], item, stride, p.cards[observed_at[slot]]
        )
        tree = with_lists(tree, bits, size_of_question, clock)
    t = tree.arrays
    moves = Moves(
        sources, begins, item, slot, stride, places.astype(np.int64), fixed.astype(np.int64), seen_at
    )
    packed, at = _NOWHERE, _NOWHERE
    if steps <= _AT_ONCE:
        arrays = [a for a in (*t, *moves) if a.dtype == np.int64]
        packed, at = np.concatenate(arrays), np.cumsum([0] + [a.size for a in arrays])
    room = int(t.item_at[-1])
    if t.result_at.size > 1:
        room += room - int(t.item_at[-1 - t.parent.size])
    total_bytes = size_of_question + tree.arrays.lists.nbytes
    own, n_tables = np.concatenate([r.factors, r.scalars]), r.factors.size
    return Sliced(tree, moves, packed, at, own, n_tables, size, room, total_bytes, steps, at_entries)


def _ever_nonzero(
    values: np.ndarray,
    sources: np.ndarray,
    begins: np.ndarray,
    item: np.ndarray,
    stride: np.ndarray,
    cards: np.ndarray,
) -> np.ndarray:
    """Which entries of the tables are non-zero for some states of the observed variables.

    Args:
        values: the values of the program.
        sources: the index of each entry if all observed states were the first.
        begins: where each table begins.
        item: the tables that move with an observed state.
        stride: for each of these, how far per state.
        cards: for each of these, how many states the observed variable has.
    """
    bits: np.ndarray = values[sources[: begins[-1]]] > 0.0
    for g in np.flatnonzero(np.bincount(item[item < begins.size - 1])).tolist():  # `unique` loads numpy.ma
        mine = slice(begins[g], begins[g + 1])
        shifts = np.zeros(1, np.int64)
        for step, card in zip(stride[item == g].tolist(), cards[item == g].tolist(), strict=True):
            shifts = np.add.outer(shifts, step * np.arange(card)).ravel()
        for shift in shifts.tolist():
            bits[mine] |= values[sources[mine] + shift] > 0.0
    return bits
