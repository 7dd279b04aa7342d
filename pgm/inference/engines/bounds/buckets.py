"""The mini-buckets and what they cost, before any table is allocated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pgm.config import current
from pgm.graphs.triangulation import triangulate_in
from pgm.inference.program.reduction import Case
from pgm.runtime.clock import Clock
from pgm.runtime.kinds import Ints, Ints32
from pgm.runtime.loops import Loops
from pgm.runtime.room import check_room
from pgm.runtime.running import REDUCTION, beside

BOUNDS = Loops("pgm.inference.engines.bounds.compiled")
_MOST_LOG2 = 40  # of a table's entries: anything larger fits nowhere
_MOST_ENTRIES = 2.0**18  # of all tables if no ibound= is given: a sweep takes a few hundredths of a second
_QUICK = 1e6  # inner steps: anything longer checks the clock
_NO_TARGETS = np.empty(0, np.int32)


class BucketArrays(NamedTuple):
    """Mini-buckets in elimination order; each sends its message to a later one, or to none.

    A table's variables are in the reverse of that order: the one to be summed out comes last.
    """

    cards: Ints  # [m]
    order: Ints  # [m] of elimination
    bucket_at: Ints  # [m + 1] where the mini-buckets of each place in the order begin
    lead: Ints  # [m] one mini-bucket of each bucket: the one of positive weight in a lower bound
    scope_at: Ints  # [C + 1]
    scopes: Ints32
    size_at: Ints  # [C + 1] where each table begins
    parent: Ints  # [C] the receiver of its message; -1: it sends a scalar
    sent_at: Ints  # [C + 1] where its message begins
    child_at: Ints  # [C + 1]
    children: Ints
    stride_at: Ints  # [C] where the strides of its message begin, one for each axis of the receiver
    strides: Ints
    shared_at: Ints  # [C + 1] where its shift begins, over the variables that its bucket has in common
    shared_strides: Ints  # for each place of `scopes`
    with_at: Ints  # [m + 1]
    with_variable: Ints  # the mini-buckets that each variable is in


@dataclass(frozen=True, eq=False, slots=True)
class Outline:
    """The mini-buckets as sets of variables, without tables."""

    order: np.ndarray
    bucket_at: np.ndarray
    scope_at: np.ndarray
    scopes: np.ndarray
    parent: np.ndarray
    home: np.ndarray  # of each factor
    heuristic: str  # that gave the order
    log2_sizes: np.ndarray  # of each mini-bucket's table

    @property
    def entries(self) -> float:
        """The entries of all tables."""
        sizes: np.ndarray = np.exp2(self.log2_sizes)
        return float(sizes.sum())

    @property
    def bytes(self) -> float:
        """Memory for both bounds: tables, messages in both directions, shifts, work space."""
        largest = float(np.exp2(self.log2_sizes.max(initial=0.0)))
        return 8.0 * (self.entries + 16.0 * self.sent + 8.0 * largest) + 120.0 * self.scopes.size

    @property
    def sent(self) -> float:
        """Entries of all messages: with two or more states, at most half as many as the tables have."""
        return 0.5 * self.entries

    @property
    def ibound(self) -> int:
        """The number of variables in the largest table, minus one."""
        return int(np.diff(self.scope_at).max(initial=1)) - 1

    @property
    def n_split(self) -> int:
        """How many buckets were split."""
        return int((np.diff(self.bucket_at) > 1).sum())

    @property
    def steps(self) -> float:
        """Inner steps of a sweep of one bound."""
        return 30.0 * self.entries + 40.0 * self.scopes.size

    def check(self) -> Outline:
        """Return this outline; raise `TooLarge` if it does not fit."""
        check_room(
            self.bytes,
            f'For mini-buckets of up to {self.ibound + 1} variables engine="bounds" needs',
            "Give a smaller ibound= to pgm.engines.Bounds, observe more",
        )
        return self


def outline(case: Case, ibound: int | None, clock: Clock, last: np.ndarray | None = None) -> Outline:
    """Mini-buckets of at most ibound + 1 variables; None: as large as memory and a few seconds allow.

    Variables marked `last` are eliminated after all others.
    """
    r = case.reduced
    m = r.cards.size
    log2_cards = np.log2(r.cards.astype(np.float64))
    at, indices = REDUCTION.neighbours(m, r.scope_at, r.scopes, _NO_TARGETS)
    clock.check()
    stage = None if last is None else last.astype(np.int64)
    triangulation = triangulate_in(clock, at, indices, log2_cards, effort=0.1, budget=1e7, stage=stage)
    order = triangulation.order.astype(np.int64)
    clock.check()
    place = np.empty(m, np.int64)
    place[order] = np.arange(m)
    wide = np.diff(r.scope_at) > 1
    scope_at = np.concatenate([[0], np.cumsum(np.diff(r.scope_at)[wide])]).astype(np.int64)
    scopes = r.scopes[np.repeat(wide, np.diff(r.scope_at))]

    def of(most_variables: float, most_log2: float) -> Outline:
        steps, stop = 100.0 * (scopes.size + m), np.zeros(1, np.uint8)
        most = float(most_variables), float(most_log2)
        args = scope_at, scopes, log2_cards, order, place, *most
        found = (
            BOUNDS.partition(*args, stop) if steps < _QUICK else beside(BOUNDS.partition, args, stop, clock)
        )
        bucket_at, clique_at, variables, parent, home = found
        ends = np.concatenate([[0.0], np.cumsum(log2_cards[variables])])
        clock.check()
        sizes, heuristic = ends[clique_at[1:]] - ends[clique_at[:-1]], triangulation.heuristic
        return Outline(order, bucket_at, clique_at, variables, parent, home, heuristic, sizes)

    if ibound is not None:
        return of(ibound + 1.0, _MOST_LOG2)
    low, high = 1, _MOST_LOG2
    best = of(np.inf, low)
    while low < high:
        middle = (low + high + 1) // 2
        found = of(np.inf, middle)
        if found.entries <= _MOST_ENTRIES and found.bytes <= current().memory_limit:
            low, best = middle, found
        else:
            high = middle - 1
    return best


def lay_out(case: Case, found: Outline) -> BucketArrays:
    """Lay out the arrays of an outline that fits."""
    r, n = case.reduced, found.parent.size
    cards, widths = r.cards, np.diff(found.scope_at)
    sizes = np.multiply.reduceat(cards[found.scopes], found.scope_at[:-1]) if n else np.empty(0, np.int64)
    own = cards[found.scopes[found.scope_at[1:] - 1]] if n else sizes
    received = np.where(found.parent >= 0, widths[found.parent], 0)
    stride_at = (np.cumsum(received) - received).astype(np.int64)
    strides = np.zeros(int(received.sum()), np.int64)
    shared_at, shared_strides = np.zeros(n + 1, np.int64), np.zeros(found.scopes.size, np.int64)
    BOUNDS.lay_out(
        found.bucket_at,
        found.scope_at,
        found.scopes,
        found.parent,
        cards,
        stride_at,
        strides,
        shared_at,
        shared_strides,
    )
    senders = np.flatnonzero(found.parent >= 0)
    receivers = found.parent[senders]
    owner = np.repeat(np.arange(n, dtype=np.int64), widths)
    return BucketArrays(
        cards=cards,
        order=found.order,
        bucket_at=found.bucket_at,
        lead=found.bucket_at[:-1].copy(),
        scope_at=found.scope_at,
        scopes=found.scopes,
        size_at=_begins(sizes),
        parent=found.parent,
        sent_at=_begins(sizes // own),
        child_at=_begins(np.bincount(receivers, minlength=n)),
        children=senders[np.argsort(receivers, kind="stable")],
        stride_at=stride_at,
        strides=strides,
        shared_at=shared_at,
        shared_strides=shared_strides,
        with_at=_begins(np.bincount(found.scopes, minlength=cards.size)),
        with_variable=owner[np.argsort(found.scopes, kind="stable")],
    )


def _begins(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
