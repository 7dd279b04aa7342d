"""A reduced question laid out for branching: integer costs, equal tables stored once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pgm.config import current
from pgm.inference.engines.factor_graph import distinct_tables, only_factors
from pgm.inference.program.reduction import Case
from pgm.runtime.kinds import Bytes, Floats, Ints, Ints32, IntTable
from pgm.runtime.room import check_room

FORBIDDEN = 1 << 61  # as in compiled.py
_COUNTERS = 11
_BITS = 56  # no sum of costs over all factors reaches this power of two; moved costs may exceed it
_EQUALS = 64  # kept besides the k best, if they are equal to the last
_LEVELS = (6, 64)  # levels that the trail has full room for; where it ends, the search restarts


class BranchingProblem(NamedTuple):
    """The costs and their layout; factors over one variable are part of the costs of its states."""

    cards: Ints  # [m]
    state_at: Ints  # [m + 1]
    owner_of_state: Ints
    own: Ints  # the cost of each state by itself
    scope_at: Ints  # [F + 1]
    scopes: Ints32  # an *axis* is an index into it
    stride: Ints  # of each axis in its table
    owner: Ints32  # the factor of each axis
    message_at: Ints  # [A + 1]
    table: Ints  # [F] where its table begins
    rows: Ints  # [F]
    values: Ints  # costs, the least of a table is 0; FORBIDDEN where the entry is zero
    user_at: Ints  # [m + 1]
    users: Ints32  # the axes of each variable
    order: Ints32  # [m] the order in which variables are visited
    rank: Ints32  # [m] each variable's place in that order
    given_at: int  # where the parts of `State.w` begin
    open_at: int
    left_at: int
    floor_at: int
    grain: int  # a small cost


class BranchingState(NamedTuple):
    """What changes during a search."""

    w: Ints  # see compiled.py
    stamp: Ints  # the level at which each entry was last saved
    trail_at: Ints
    trail_old: Ints
    decisions: Ints  # twice a state, plus one where it is closed instead of fixed
    marks: Ints  # the length of the trail before each decision
    floors: Ints  # the floor before each decision
    dirty: Bytes  # [m]
    weight: Floats  # [m] how often a variable was involved in a dead end
    score: Floats  # [m]
    states: Ints  # [m] the states that the current costs favour
    best: Ints  # [m] the best states so far
    kept: IntTable  # [K, m] the states kept, best first, with room for equals of the last
    kept_cost: Ints  # [K]
    ahead: Bytes  # for each place in `users`
    low: Ints
    place: Ints  # scratch space for traversing a table
    row: Ints
    cost: Ints
    n: Ints  # [_COUNTERS]


@dataclass(frozen=True, eq=False, slots=True)
class BranchingLayout:
    """A problem, the state of its search, and the scale of its costs."""

    problem: BranchingProblem
    state: BranchingState
    unit: float  # of a cost, in natural logarithms
    offset: float  # the logarithm of the product of the reduced tables at cost 0
    error: float  # the largest error of that, at any cost
    room: float  # bytes that all this leaves of the memory limit


def lay_out(case: Case, engine: str, k: int = 1) -> BranchingLayout:
    """Lay out the search for a reduced case's k best states; `TooLarge` if it does not fit."""
    r = case.reduced
    m, widths = r.cards.size, np.diff(r.scope_at)
    n_states = int(r.state_at[-1])
    changing = 2.0 * n_states + m + float(r.cards[r.scopes].sum())
    levels = int(np.clip(current().memory_limit / (64.0 * changing + 1.0), *_LEVELS))
    answers = 1 if k == 1 else k + _EQUALS
    needed = 80.0 * r.scopes.size + (40.0 + 16.0 * levels) * changing + 8.0 * answers * m
    _check(engine, needed)
    kept, table = distinct_tables(case)
    room = _check(engine, needed + 60.0 * float(np.diff(r.table_at)[kept].sum()))
    few = only_factors(case, kept)
    mantissas, exponents = few.wide_tables()
    begins = few.reduced.table_at
    finite = mantissas > 0.0
    with np.errstate(divide="ignore"):
        costs = np.where(finite, -np.log2(mantissas) - exponents, np.inf)
    owners = np.repeat(np.arange(kept.size), np.diff(begins))
    least = np.minimum.reduceat(costs, begins[:-1]) if kept.size else np.empty(0)
    most = np.maximum.reduceat(np.where(finite, costs, -np.inf), begins[:-1]) if kept.size else least
    total = max(float((most - least)[table].sum()), 1e-6)
    shift = min(_BITS - math.frexp(total)[1], 1000)
    whole = np.full(costs.size, FORBIDDEN)
    whole[finite] = np.rint(np.ldexp((costs - least[owners])[finite], shift))
    # A logarithm's error is a few parts in 2**53 of its terms, that of rounding to integers a half.
    size = np.maximum(np.abs(most), np.abs(least)) + 1.0
    error = float(size[table].sum()) * 2.0**-50 + math.ldexp(0.5 * table.size, -shift)

    several = np.flatnonzero(widths > 1)
    scope_at = np.concatenate([[0], np.cumsum(widths[several])]).astype(np.int64)
    scopes = r.scopes[np.repeat(widths > 1, widths)]
    cards = r.cards[scopes]
    message_at = np.concatenate([[0], np.cumsum(cards)]).astype(np.int64)
    stride = np.ones(scopes.size, np.int64)
    for a in range(int(widths.max(initial=1)) - 2, -1, -1):  # the last axis runs fastest
        axes = scope_at[:-1][widths[several] > a + 1] + a
        stride[axes] = stride[axes + 1] * cards[axes + 1]
    n_messages = int(message_at[-1])
    own = np.zeros(n_states, np.int64)
    single = np.flatnonzero(widths == 1)  # every open state has a non-zero entry: reduction ensured that
    of = r.scopes[r.scope_at[single]]
    sizes = r.cards[of]
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    costs_at = np.repeat(begins[table[single]], sizes) + within
    np.add.at(own, np.repeat(r.state_at[of], sizes) + within, whole[costs_at])
    order = np.arange(m, dtype=np.int32)
    problem = BranchingProblem(
        cards=r.cards,
        state_at=r.state_at,
        owner_of_state=np.repeat(np.arange(m), r.cards),
        own=own,
        scope_at=scope_at,
        scopes=scopes,
        stride=stride,
        owner=np.repeat(np.arange(several.size, dtype=np.int32), widths[several]),
        message_at=message_at,
        table=begins[:-1][table[several]],
        rows=np.diff(begins)[table[several]],
        values=whole,
        user_at=np.concatenate([[0], np.cumsum(np.bincount(scopes, minlength=m))]).astype(np.int64),
        users=np.argsort(scopes, kind="stable").astype(np.int32),
        order=order,
        rank=order.copy(),
        given_at=n_states,
        open_at=n_states + n_messages,
        left_at=2 * n_states + n_messages,
        floor_at=2 * n_states + n_messages + m,
        grain=1 << min(max(0, shift - 10), 50),
    )
    state = _state(problem, int(widths.max(initial=1)), levels, answers)
    state.n[8] = k  # WANTED
    if k > 1:  # costs that differ by less may be equal
        state.n[10] = 2 * math.ceil(math.ldexp(error, shift)) + 1  # SLACK
    offset = -math.fsum(least[table].tolist()) * math.log(2.0)
    return BranchingLayout(
        problem, state, math.ldexp(math.log(2.0), -shift), offset, error * math.log(2.0), room
    )


def _state(p: BranchingProblem, width: int, levels: int, room: int) -> BranchingState:
    """Start with nothing decided and everything open."""
    m, size = p.cards.size, p.floor_at + 1
    w = np.zeros(size, np.int64)
    w[: p.given_at] = p.own
    w[p.open_at : p.left_at] = 1
    w[p.left_at : p.floor_at] = p.cards
    n = np.zeros(_COUNTERS, np.int64)
    n[3], n[7] = FORBIDDEN, p.grain  # BEST, SIGNIFICANT
    trail = levels * size
    return BranchingState(
        w=w,
        stamp=np.full(size, -1, np.int64),
        trail_at=np.empty(trail, np.int64),
        trail_old=np.empty(trail, np.int64),
        decisions=np.zeros(m + 1, np.int64),
        marks=np.zeros(m + 1, np.int64),
        floors=np.zeros(m + 2, np.int64),
        dirty=np.ones(m, np.uint8),
        weight=np.ones(m),
        score=np.zeros(m),
        states=np.zeros(m, np.int64),
        best=np.zeros(m, np.int64),
        kept=np.zeros((room, m), np.int64),
        kept_cost=np.zeros(room, np.int64),
        ahead=np.zeros(p.users.size, np.uint8),
        low=np.zeros(int(p.cards.max(initial=1)), np.int64),
        place=np.zeros(width + 1, np.int64),
        row=np.zeros(width + 1, np.int64),
        cost=np.zeros(width + 1, np.int64),
        n=n,
    )


def _check(engine: str, size: float) -> float:
    """The bytes of the memory limit that this many leave; `TooLarge` if they exceed it."""
    limit = current().memory_limit
    check_room(size, f'For tables and costs engine="{engine}" needs', "Observe more")
    return limit - size
