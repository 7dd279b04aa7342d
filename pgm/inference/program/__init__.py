"""From the factors of a model to the flat arrays that every question starts from."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from pgm.factors import Dense, Factor, Gate, Sparse, Tables
from pgm.inference.program.program_arrays import ProgramArrays
from pgm.inference.program.sorting import checked
from pgm.runtime import progress
from pgm.runtime.clock import start_clock
from pgm.runtime.room import check_room
from pgm.runtime.running import REDUCTION, Impossible, run

# A sparse factor is expanded to a dense table if that takes at most this many entries per row.
_DENSE_PER_ROW = 16
_DENSE_ENTRIES = 4096
_DENSE_AXES = 32

_FAR_APART = 1 << 16  # with this many tables or more, those that share variables are placed side by side
COMPILING = (  # advice when time runs out
    " The time went into compiling the model, which every engine needs. A compilation that is cut short "
    "starts again: the first question needs a longer limit."
)
_SMALL = 1 << 24  # bytes: what takes less is not checked against the limit
# Bytes that compiling takes at its peak for each variable, array, scope, variable in a scope, and entry.
_VARIABLE, _ARRAY, _SCOPE, _PLACE, _ENTRY = 60, 200, 65, 12, 48
_FAR = 1 << 12  # variables whose indices are this far apart do not share the cache

NARROWEST = -1000  # entries with exponents this far below the largest of their table need wide numbers

_LN2 = np.log(np.longdouble(2))

# Kinds of variables: the user's; a function of those, like the row of a sparse factor; summed inside a gate.
FREE, FUNCTION, SUMMED = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Program:
    """The factors of a model, compiled once: structure, support and values as arrays.

    Values are kept as value / 2**exponent with the largest of a table in [0.5, 1). If the values of any table
    span more than doubles do, `wide_exponents` has a power of two for each, and only wide runs are allowed.
    """

    arrays: ProgramArrays
    values: np.ndarray  # float64, all tables
    n_named: int  # the first n_named variables are the user's
    kinds: np.ndarray  # uint8[n]
    wide_exponents: np.ndarray | None  # int64, one for each of `values`: an entry is value * 2**exponent
    open_states: np.ndarray  # uint8, one for each state: 0 if no assignment has it, whatever the evidence
    factor_of: np.ndarray  # int32[F] the model's factor that each one comes from
    possible: bool  # False: the factors leave no state at all
    has_joined: bool  # whether some distributions are products of several tables
    turns: np.ndarray  # int64[n] an elimination order: twice the index, a gate's hidden variables in between
    gates: dict[int, Gate]  # by factor index, those that have a form with two scalars
    parts_of: np.ndarray  # int64[n - n_named] the child of its gate, or ~ that of a sparse factor
    # The same object in programs that differ at most in positive values: what is laid out for one, by scopes
    # and zeros only, serves the others. What is cached below depends on no more than those either.
    support: object = field(default_factory=object)

    @cached_property
    def n(self) -> int:
        """The number of variables, auxiliary ones included."""
        return int(self.arrays.cards.size)

    def called(self, variables: Iterable[int], names: Sequence[str]) -> tuple[str, ...]:
        """The user's names of variables; an auxiliary variable is named after the factor it belongs to."""
        return tuple(names[v] if v < self.n_named else self._part(v, names) for v in variables)

    def _part(self, v: int, names: Sequence[str]) -> str:
        whose = int(self.parts_of[v - self.n_named])
        if whose < 0:
            return f"(the rows of a factor of {names[~whose]!r})"
        return f"(part {self._part_indices[v - self.n_named]} of the gate of {names[whose]!r})"

    @cached_property
    def _part_indices(self) -> np.ndarray:
        """The index of each auxiliary variable within its gate, whose variables are consecutive, from 1."""
        at = np.arange(self.parts_of.size)
        begins = np.where(np.diff(self.parts_of, prepend=-1) != 0, at, 0)
        return at - np.maximum.accumulate(begins) + 1

    @cached_property
    def rank(self) -> np.ndarray:
        """The position of each variable in the order in which questions index them."""
        rank = np.empty(self.n, np.int32)
        rank[self.arrays.order] = np.arange(self.n)
        return rank

    @cached_property
    def own_tables(self) -> np.ndarray:
        """For each variable, the index of the table of P(variable | parents); -1: none."""
        p, found = self.arrays, np.full(self.n, -1)
        of_one = np.flatnonzero(p.heads == 1)[::-1]
        found[p.scopes[p.scope_at[1:][of_one] - 1]] = of_one
        return found

    @cached_property
    def entries_at(self) -> np.ndarray:
        """Where the entries of each table begin if tables share none, and the count of all."""
        p = self.arrays
        sizes = np.multiply.reduceat(np.append(p.cards[p.scopes], 1), p.scope_at[:-1])
        sizes[np.diff(p.scope_at) == 0] = 1
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def entries(self) -> tuple[np.ndarray, np.ndarray]:
        """The entries of all tables, as in `entries_at`: values, and powers of two to multiply them by."""
        p, begins = self.arrays, self.entries_at
        sizes = np.diff(begins)
        places = np.arange(begins[-1]) + np.repeat(p.table_at - begins[:-1], sizes)
        powers = np.repeat(p.exponent, sizes)
        if self.wide_exponents is not None:
            powers = powers + self.wide_exponents[places]
        return self.values[places], powers

    @cached_property
    def loose(self) -> tuple[np.ndarray, np.ndarray]:
        """The factors that pruning would drop if nothing were needed: in pruning order, and as a mask."""
        p, marked = self.arrays, np.zeros(self.arrays.heads.size, np.uint8)
        if not p.heads.any():
            return np.empty(0, np.int64), marked
        order = REDUCTION.prune(p, np.zeros(self.n, np.uint8), np.ones_like(marked))
        marked[order] = 1
        return order, marked[p.leader]


def logs_to_wide(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Natural logarithms as mantissas in [1, 2) and exponents; minus infinity becomes 0."""
    finite = np.isfinite(logs)
    known = np.where(finite, logs, 0.0).astype(np.longdouble)  # long: large logarithms keep their last digits
    exponents = np.floor(known / _LN2)
    mantissas = np.where(finite, np.exp((known - exponents * _LN2).astype(np.float64)), 0.0)
    return mantissas, exponents.astype(np.int64)


class _Flat:
    """The tables of a program, collected as they come."""

    def __init__(self) -> None:
        """No tables yet."""
        self.values: list[np.ndarray] = []
        self.logs: list[int] = []  # which of them hold logarithms
        self.scopes: list[np.ndarray] = []
        # For each table: the number of scopes, of variables in each, of those over which it sums to one,
        # the index of its factor, and whether it forms one distribution with the table before.
        self._rows: list[np.ndarray] = []
        self._single: list[tuple[int, int, int, int, bool]] = []

    def add(self, owner: int, d: Dense) -> None:
        """Add one table."""
        if d.log:
            self.logs.append(len(self.values))
        self.values.append(np.asarray(d.values, dtype=np.float64))
        self.scopes.append(np.asarray(d.scopes, dtype=np.int32).ravel())
        count, width = d.scopes.shape
        self._single.append((count, width, d.heads, owner, d.joined))

    def add_all(self, owner: int, t: Tables) -> None:
        """Add many tables, each from its own factor."""
        self.values.extend(t.values)
        self.scopes.append(t.scopes)
        rows = np.zeros((t.widths.size, 5), np.int64)
        rows[:, 0], rows[:, 1], rows[:, 2] = 1, t.widths, t.heads
        rows[:, 3] = np.arange(owner, owner + t.widths.size)
        self._flush()
        self._rows.append(rows)

    def _flush(self) -> None:
        self._rows.append(np.array(self._single, dtype=np.int64).reshape(-1, 5))
        self._single = []

    def counted(self) -> tuple[int, int]:
        """How many scopes the tables have, and how many variables there are in all of these."""
        self._flush()
        return sum(int(rows[:, 0].sum()) for rows in self._rows), sum(scopes.size for scopes in self.scopes)

    def joined(self) -> tuple[np.ndarray, ...]:
        """Scopes, counts, widths, heads, owners and the joined flags, as arrays."""
        self._flush()
        scopes = np.concatenate(self.scopes) if self.scopes else np.empty(0, np.int32)
        return scopes, *np.ascontiguousarray(np.concatenate(self._rows).T)


def compile_program(
    cards: Iterable[int],
    factors: Iterable[Factor | Tables],
    *,
    as_given: bool = False,
    check: Callable[[], None] = lambda: None,
) -> Program:
    """Write the factors of a model as arrays; structured ones are decomposed into small tables first.

    If there are many, they and their variables are reordered so that neighbours are near in memory, unless
    `as_given`. `check` is called in between, and may raise, so that a question's time limit holds.
    """
    card_array = np.fromiter(cards, np.int64)
    n_named = card_array.size
    flat = _Flat()
    extra: list[int] = []
    kinds: list[int] = []  # of these auxiliary variables
    parts_of: list[int] = []  # of these, one of the user's variables
    turns = [2 * np.arange(n_named)]
    gates: dict[int, Gate] = {}
    index, pulse = -1, progress.pulse()
    for factor in checked(factors, check):
        index += 1
        if pulse is not None:
            pulse.beat("compiling the model")
        if isinstance(factor, Tables):
            flat.add_all(index, factor)
            index += factor.widths.size - 1
        elif isinstance(factor, Dense):
            flat.add(index, factor)
        elif isinstance(factor, Gate):
            for table in factor.as_tables(n_named + len(extra)):
                flat.add(index, table)
            extra.extend(factor.hidden)
            kinds.extend([FUNCTION if factor.function else SUMMED] * len(factor.hidden))
            parts_of.extend([int(factor.scope[-1])] * len(factor.hidden))
            if factor.hidden:
                turns.append(factor.turns())
                if factor.in_two is not None:
                    gates[index] = factor
        else:
            scope_cards = card_array[factor.scope].tolist()
            size = math.prod(scope_cards)
            few = factor.scope.size <= _DENSE_AXES
            if few and size <= max(_DENSE_ENTRIES, _DENSE_PER_ROW * len(factor.values)):
                flat.add(index, _written_out(factor, card_array))
            else:
                links = len(factor.values) * sum(scope_cards)
                check_room(
                    8 * links,
                    f"A factor of {len(factor.values):,} rows over {factor.scope.size} variables needs "
                    f"{links:,} entries to link rows to states, which take",
                )
                for table in factor.as_tables(card_array, n_named + len(extra)):
                    flat.add(index, table)
                extra.append(len(factor.values))
                kinds.append(FUNCTION)
                parts_of.append(~int(factor.scope[-1]))
                turns.append(np.array([2 * n_named]))
    all_cards = np.concatenate([card_array, np.array(extra, dtype=np.int64)])
    check()
    _check_room(all_cards.size, flat)
    check()
    turn = np.concatenate(turns)
    all_kinds = np.concatenate([np.full(n_named, FREE, np.uint8), np.array(kinds, dtype=np.uint8)])
    whose = np.array(parts_of, dtype=np.int64)
    program = replace(
        _flatten(all_cards, n_named, all_kinds, turn, whose, flat, as_given, check), gates=gates
    )
    return _without_dead_states(program) if program.possible else program


def _check_room(n: int, flat: _Flat) -> None:
    """Raise `TooLarge` if writing these tables as arrays takes more memory than is allowed."""
    tables, places = flat.counted()
    entries = sum(values.size for values in flat.values)
    needed = _VARIABLE * n + _ARRAY * len(flat.values) + _SCOPE * tables + _PLACE * places + _ENTRY * entries
    if needed > _SMALL:
        check_room(needed, f"Compiling this model of {n:,} variables and {tables:,} tables takes")


def _without_dead_states(program: Program) -> Program:
    """Close the states that are impossible whatever the evidence."""
    p = program.arrays
    if not p.has_zero.any():
        return program
    open_states, clock = program.open_states.copy(), start_clock()
    clock.remedy = COMPILING
    everything = np.ones(p.heads.size, np.uint8)
    try:
        run(
            "propagate",
            p,
            program.values,
            everything,
            open_states,
            everything,
            steps=float(program.values.size),
            clock=clock,
            module=REDUCTION,
        )
    except Impossible:
        return replace(program, possible=False)
    return replace(program, open_states=open_states)


def _written_out(factor: Sparse, cards: np.ndarray) -> Dense:
    shape = tuple(int(cards[v]) for v in factor.scope)
    table = np.full(shape, -np.inf if factor.log else 0.0)
    table[tuple(factor.rows.T)] = factor.values
    return Dense(factor.scope[None, :], table, factor.heads, factor.log)


def _flatten(
    cards: np.ndarray,
    n_named: int,
    kinds: np.ndarray,
    turns: np.ndarray,
    parts_of: np.ndarray,
    flat: _Flat,
    as_given: bool,
    check: Callable[[], None],
) -> Program:
    n = cards.size
    sizes = np.array([v.size for v in flat.values], dtype=np.int64)
    begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    check()
    raw = np.concatenate(flat.values, axis=None) if flat.values else np.empty(0)
    check()
    exponents = np.zeros(raw.size, dtype=np.int64)
    if flat.logs:
        in_logs = np.zeros(sizes.size, np.bool_)
        in_logs[flat.logs] = True
        part = np.repeat(in_logs, sizes)
        raw[part], exponents[part] = logs_to_wide(raw[part])

    check()
    mantissas, more = np.frexp(raw)
    check()
    exponents += more
    positive = mantissas > 0.0
    far = np.int64(1) << 40
    top = (
        np.maximum.reduceat(np.where(positive, exponents, -far), begins[:-1])
        if sizes.size
        else np.empty(0, np.int64)
    )
    least = (
        np.minimum.reduceat(np.where(positive, exponents, far), begins[:-1])
        if sizes.size
        else np.empty(0, np.int64)
    )
    has_any = top > -far
    check()
    top = np.where(has_any, top, 0)
    least = np.where(has_any, least, 0)
    zero = np.logical_or.reduceat(~positive, begins[:-1]) if sizes.size else np.empty(0, bool)
    relative = exponents - np.repeat(top, sizes)
    check()
    wide = bool(positive.any()) and int(relative[positive].min()) < NARROWEST
    if wide:
        values, wide_exponents = mantissas, np.where(positive, relative, 0)
    else:
        wide_exponents = None
        # The mantissa of a value and its shifted exponent: exact, because nothing here is denormal.
        values = np.ldexp(mantissas, np.where(positive, relative, 0).astype(np.int32))

    check()
    scopes, counts, widths, heads, owners, joined = flat.joined()
    check()
    each = np.repeat(np.arange(sizes.size), counts)
    scope_at = np.concatenate([[0], np.cumsum(widths[each])]).astype(np.int64)
    user_at, users = REDUCTION.users_of(n, scope_at, scopes)
    order = np.arange(n, dtype=np.int32)
    single = each.size == sizes.size and not joined.any()
    if each.size >= _FAR_APART and single and not as_given:
        apart = REDUCTION.n_apart(scope_at, scopes, _FAR)
        each, scope_at, scopes, passed = REDUCTION.walk(scope_at, scopes, user_at, users)
        user_at, users = REDUCTION.users_of(n, scope_at, scopes)
        if apart > each.size // 8:
            order = np.concatenate([passed[passed < n_named], passed[passed >= n_named]])
    arrays = ProgramArrays(
        cards=cards,
        state_at=np.concatenate([[0], np.cumsum(cards)]).astype(np.int64),
        scope_at=scope_at,
        scopes=scopes,
        table_at=begins[:-1][each],
        heads=heads[each],
        leader=np.maximum.accumulate(np.where(joined[each] != 0, 0, np.arange(each.size))),
        has_zero=zero.astype(np.uint8)[each],
        low=(least - top - 1)[each],
        exponent=top[each],
        user_at=user_at,
        users=users,
        order=order,
    )
    return Program(
        arrays=arrays,
        values=np.ascontiguousarray(values),
        n_named=n_named,
        kinds=kinds,
        wide_exponents=wide_exponents,
        open_states=np.ones(int(arrays.state_at[-1]), dtype=np.uint8),
        factor_of=owners[each].astype(np.int32),
        possible=bool(has_any.all()) if has_any.size else True,
        has_joined=bool(joined.any()),
        turns=turns,
        gates={},
        parts_of=parts_of,
    )
