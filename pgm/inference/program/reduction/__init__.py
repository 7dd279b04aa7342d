"""A program reduced to one question: pruned, restricted to the states still open, sliced."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pgm.config import memory_limit
from pgm.inference.program import Program
from pgm.inference.program.program_arrays import ProgramArrays, ReducedArrays
from pgm.runtime.buffers import give, take
from pgm.runtime.clock import REDUCING, Clock
from pgm.runtime.room import check_room
from pgm.runtime.running import REDUCTION, TABLES, Impossible, run

_NOTHING = np.empty(0, np.int32)
_LARGE = 1 << 18  # with more scope entries, the reduced size is counted before anything is written
_VARIABLE, _STATE, _TABLE, _PLACE = 45, 5, 30, 8  # peak bytes for writing each
WideArray = tuple[np.ndarray, np.ndarray | None]  # mantissas, and powers of two to multiply them by


@dataclass(frozen=True, eq=False, slots=True)
class Known:
    """Evidence by variable index: states that are certain, and weights over the states of others."""

    hard: dict[int, int] = field(default_factory=dict)
    weights: dict[int, tuple[np.ndarray, ...]] = field(default_factory=dict)  # their product may underflow

    def with_weights(self, more: Mapping[int, tuple[np.ndarray, ...]]) -> Known:
        """The same evidence with these weights added."""
        return Known(self.hard, self.weights | {v: (*self.weights.get(v, ()), *w) for v, w in more.items()})


@dataclass(frozen=True, eq=False, slots=True)
class Case:
    """A program reduced for one question."""

    program: Program
    reduced: ReducedArrays
    codes: np.ndarray  # int32[n] the state of every variable that has only one left, else -1
    open_states: np.ndarray  # uint8
    virtual_at: np.ndarray  # int64 where each virtual weight table begins
    virtual_values: np.ndarray  # float64
    virtual_exponents: np.ndarray  # int64, the power of two by which each table of weights is divided
    weight: tuple[float, int]  # the weight of the certain states, as a wide number: mantissa and exponent
    keep: np.ndarray  # uint8 factors kept by pruning
    key: bytes  # equal for questions that the same tree serves

    def declared(self) -> np.ndarray:
        """The reduced variables in model order."""
        return np.argsort(self.reduced.variables, kind="stable")

    def dropped(self) -> np.ndarray:
        """The factors that pruning removed, children first."""
        order = self.program.loose[0]
        return np.asarray(order[self.keep[order] == 0])

    def tables(self, out: np.ndarray | None = None) -> np.ndarray:
        """The entries of the reduced tables, written into an array if one is given."""
        values = self.program.values
        if self.virtual_values.size:
            values = np.concatenate([values, np.ldexp(self.virtual_values, -self.virtual_exponents)])
        room = take(int(self.reduced.table_at[-1])).view(np.int64)
        sources = self.sources(room)
        found = np.empty(sources.size) if out is None else out
        TABLES.pick(values, sources, found)
        give(room)
        return found

    def wide_tables(self) -> tuple[np.ndarray, np.ndarray]:
        """The entries of the reduced tables as mantissas and exponents."""
        sources = self.sources()
        values, wide = self.program.values, self.program.wide_exponents
        if self.virtual_values.size:
            values = np.concatenate([values, self.virtual_values])
            mine = np.zeros(self.program.values.size, np.int64) if wide is None else wide
            wide = np.concatenate([mine, -self.virtual_exponents])
        mantissas, more = np.frexp(values.take(sources))
        exponents = more.astype(np.int64)
        return mantissas, exponents if wide is None else exponents + wide.take(sources)

    def sources(self, out: np.ndarray | None = None) -> np.ndarray:
        """The index of each entry of the reduced tables among the program's values."""
        sources = np.empty(int(self.reduced.table_at[-1]), np.int64) if out is None else out
        p = self.program
        TABLES.gather(p.arrays, self.reduced, self.codes, self.virtual_at, p.values.size, sources)
        return sources

    def constant(self) -> tuple[float, int]:
        """The product of the factors reduced to scalars, and of all scales: a wide number."""
        p, r = self.program, self.reduced
        at = np.empty(r.scalars.size, np.int64)
        TABLES.gather_scalars(p.arrays, r, self.codes, at)
        exponents = p.arrays.exponent[r.scalars]
        if p.wide_exponents is not None:
            exponents = exponents + p.wide_exponents[at]
        mantissa, exponent = TABLES.wide_product(p.values[at], exponents)
        if mantissa == 0.0 and r.scalars.size:
            raise Impossible
        mine = r.factors[r.factors < p.arrays.heads.size]
        scale = int(exponent) + int(p.arrays.exponent[mine].sum())
        return wide_multiply((float(mantissa), scale), self.weight)


def wide_multiply(a: tuple[float, int], b: tuple[float, int]) -> tuple[float, int]:
    """The product of two wide numbers."""
    mantissa, exponent = math.frexp(a[0] * b[0])
    return mantissa, exponent + a[1] + b[1]


def narrow(wide: WideArray) -> np.ndarray:
    """Wide numbers as doubles, divided by the largest if they have exponents."""
    values, powers = wide
    if powers is None:
        return values
    if not (values > 0).any():
        return np.zeros_like(values)
    found = np.ldexp(values, np.clip(powers - powers[values > 0].max(), -2000, 0).astype(np.int32))
    return np.asarray(found / found.max())


def open_targets(case: Case, targets: Sequence[int] | np.ndarray) -> np.ndarray:
    """The indices, among the reduced variables, of the targets still open, in the order asked."""
    wanted = np.array(targets, dtype=np.int64)
    if not case.reduced.variables.size:
        return np.empty(0, np.int32)
    rank = case.program.rank
    places = np.searchsorted(rank[case.reduced.variables], rank[wanted])
    places = places.clip(max=case.reduced.variables.size - 1)
    return np.asarray(places[case.reduced.variables[places] == wanted], dtype=np.int32)


def spread(case: Case, targets: Sequence[int], compact: np.ndarray) -> np.ndarray:
    """A table over the open states of the targets as one over all their states, zero elsewhere."""
    cards = [int(card) for card in case.program.arrays.cards[list(targets)]]
    if compact.size == math.prod(cards):
        return compact.reshape(cards)
    index, full = open_index(case, targets), np.zeros(cards, compact.dtype)
    full[index] = compact.reshape([i.size for i in index])
    return full


def open_index(case: Case, targets: Sequence[int]) -> tuple[np.ndarray, ...]:
    """The positions of the open states in a table over all states of the targets."""
    p = case.program.arrays
    index = [np.flatnonzero(case.open_states[p.state_at[t] : p.state_at[t + 1]]) for t in targets]
    return np.ix_(*index)


def lows(case: Case) -> np.ndarray:
    """For each reduced table a lower bound on log2 of its smallest non-zero entry."""
    r, p = case.reduced, case.program.arrays
    low = np.empty(r.factors.size, np.int64)
    ours = r.factors < p.heads.size
    low[ours] = p.low[r.factors[ours]]
    if not ours.all():
        for g in np.flatnonzero(~ours):
            begin = int(case.virtual_at[int(r.factors[g]) - p.heads.size])
            v = int(r.variables[r.scopes[r.scope_at[g]]])
            weights = case.virtual_values[begin : begin + int(p.cards[v])]
            low[g] = math.frexp(weights[weights > 0].min())[1] - 1 - int(case.virtual_exponents[begin])
    return low


def reduce_case(
    program: Program,
    known: Known,
    wanted: Sequence[int] | np.ndarray,
    clock: Clock,
    *,
    prune: bool = True,
    only_wanted: bool = False,
    domains: bool = True,
    kept: Collection[int] = (),
    placeholders: Collection[int] = (),
    allowed: np.ndarray | None = None,
    keep_ones: bool = False,
) -> Case:
    """Reduce a program for a question about `wanted` under what is `known`.

    Args:
        program: the compiled model.
        known: evidence by position.
        wanted: indices of the variables in the answer.
        clock: the clock of the question.
        prune: drop barren factors, which only sum to one.
        only_wanted: drop components without anything wanted, unless zeros could make them impossible.
        domains: close states that have probability zero.
        kept: indices of variables that may be observed: their factors are not pruned.
        placeholders: indices of variables that will be observed, in states not yet known.
        allowed: marks, over the states of all variables, those that are not closed already.
        keep_ones: keep tables that are all one over the open states, because they themselves are asked about.
    """
    if domains and not program.possible:
        raise Impossible
    p = program.arrays
    n_factors = p.heads.size
    wanted_flags = np.zeros(program.n, np.uint8)
    wanted_flags[np.asarray(wanted, dtype=np.int64)] = 1

    keep = np.ones(n_factors, np.uint8)
    if prune:
        needed = wanted_flags.copy()
        for v in known.hard:
            needed[v] = 1
        for v in known.weights:
            needed[v] = 1
        for v in (*kept, *placeholders):
            needed[v] = 1
        REDUCTION.ancestors(p, program.loose[1], needed, keep)

    open_states = program.open_states.copy() if domains else np.ones_like(program.open_states)
    touched = np.full(n_factors, allowed is not None, np.uint8)
    if allowed is not None:
        open_states &= allowed
    for v, state in known.hard.items():
        begin, end = p.state_at[v], p.state_at[v + 1]
        possible = open_states[begin + state]
        open_states[begin:end] = 0
        open_states[begin + state] = possible
        if not possible:
            raise Impossible
        touched[p.users[p.user_at[v] : p.user_at[v + 1]]] = 1
    virtual: list[int] = []
    for v, tables in known.weights.items():
        begin, end = p.state_at[v], p.state_at[v + 1]
        for weights in tables:
            open_states[begin:end] &= weights > 0
        if not open_states[begin:end].any():
            raise Impossible
        touched[p.users[p.user_at[v] : p.user_at[v + 1]]] = 1
        virtual.append(v)
    if domains and touched.any():
        steps = 4.0 * program.values.size + p.scopes.size
        run(
            "propagate",
            p,
            program.values,
            keep,
            open_states,
            touched,
            steps=steps,
            clock=clock,
            module=REDUCTION,
        )

    pruned = keep
    if domains and not keep_ones and program.has_joined and program.wide_exponents is None:
        keep = keep.copy()
        REDUCTION.drop_ones(p, program.values, open_states, keep)
    for v in placeholders:
        begin, end = p.state_at[v], p.state_at[v + 1]
        open_states[begin:end] = 0
        open_states[begin] = 1
    # Weights that are all one over the open states only restrict states.
    kept_virtual: list[int] = []
    powers: list[np.ndarray] = []
    weight = (1.0, 0)
    chunks: list[np.ndarray] = []
    for v in virtual:
        if v in placeholders:  # the caller multiplies by the weight of the state later
            continue
        is_open = open_states[p.state_at[v] : p.state_at[v + 1]] > 0
        for weights in known.weights[v]:
            left = weights[is_open]
            if left.size == 1:
                weight = wide_multiply(weight, (float(left[0]), 0))
            elif not (left == 1.0).all():
                kept_virtual.append(v)
                chunks.append(np.where(is_open, weights, 0.0))
                power = math.frexp(float(left.max()))[1]
                powers.append(np.full(weights.size, power))
                weight = (weight[0], weight[1] + power)
    virtual_array = np.array(kept_virtual, dtype=np.int32) if kept_virtual else _NOTHING
    virtual_at = np.zeros(len(chunks) + 1, np.int64)
    if chunks:
        np.cumsum([len(c) for c in chunks], out=virtual_at[1:])
    if p.scopes.size > _LARGE and not only_wanted:
        _check_room(p, keep, open_states)
    arrays = ReducedArrays(*REDUCTION.reduce(p, keep, open_states, virtual_array, wanted_flags, only_wanted))
    codes = REDUCTION.fixed_codes(p, open_states)
    # What a tree depends on: the cards of the open variables, and which of them share a table.
    shape = arrays.variables.data, arrays.cards.data, arrays.scope_at.data, arrays.scopes.data
    key = b"|".join(shape)
    clock.lap(REDUCING)
    return Case(
        program,
        arrays,
        codes,
        open_states,
        virtual_at,
        np.concatenate(chunks) if chunks else np.empty(0),
        np.concatenate(powers) if powers else np.empty(0, np.int64),
        weight,
        pruned,
        key,
    )


def reduce_everything(
    program: Program, known: Known, clock: Clock, allowed: np.ndarray | None = None
) -> Case:
    """The case in which nothing may be pruned, because every variable is asked about."""
    everything = np.arange(program.n_named)
    return reduce_case(program, known, everything, clock, prune=False, allowed=allowed)


def only(case: Case, alive: np.ndarray) -> np.ndarray:
    """The program's open states, without those reduced states that are not `alive`."""
    r = case.reduced
    allowed = case.open_states.copy()
    owners = np.repeat(np.arange(r.cards.size), r.cards)
    allowed[case.program.arrays.state_at[r.variables[owners]] + r.states] &= alive
    return allowed


def one_of_each(case: Case, states: np.ndarray) -> np.ndarray:
    """Mark, among the reduced states, the given one of each variable, or all where that is -1."""
    r = case.reduced
    alive = np.repeat((states < 0).astype(np.uint8), r.cards)
    alive[(r.state_at[:-1] + states)[states >= 0]] = 1
    return alive


def _check_room(p: ProgramArrays, keep: np.ndarray, open_states: np.ndarray) -> None:
    """Raise `TooLarge` if writing the reduced program takes more memory than allowed."""
    if _room(p.cards.size, open_states.size, p.heads.size, p.scopes.size) <= memory_limit():
        return
    left = REDUCTION.sizes(p, keep, open_states)
    what = f"Reduced to what the question needs, {left[0]:,} variables in {left[2]:,} tables, the model takes"
    check_room(_room(*left), what, "Observe more")


def _room(variables: int, states: int, tables: int, places: int) -> int:
    return _VARIABLE * variables + _STATE * states + _TABLE * tables + _PLACE * places
