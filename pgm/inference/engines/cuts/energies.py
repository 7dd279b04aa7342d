"""Tables as integer energies, minus their logarithms to base two, so that sums are exact."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pgm.inference.program.reduction import Case
from pgm.runtime.clock import Clock
from pgm.runtime.running import CUTS

FORBIDDEN = 1 << 62  # ENDLESS of compiled.py


@dataclass(frozen=True, eq=False, slots=True)
class Energies:
    """The energies of a case's reduced tables, in units of 2**-shift; `error` bounds the error of each."""

    values: np.ndarray  # int64, FORBIDDEN where an entry is zero
    shift: int
    error: int


def logarithms(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Minus log2 of each distinct value in the reduced tables, and the index of each entry's value."""
    p = case.program
    with np.errstate(divide="ignore"):
        logs = -np.log2(p.values)
        if p.wide_exponents is not None:
            logs -= p.wide_exponents
        if case.virtual_values.size:
            virtual = case.virtual_exponents - np.log2(case.virtual_values)
            logs = np.concatenate([logs, virtual])
    return logs, case.sources()


def largest_of(logs: np.ndarray) -> float:
    """The largest finite absolute value, at least a small positive number."""
    return max(float(np.abs(logs[np.isfinite(logs)]).max(initial=0.0)), 1e-6)


def energies_of(case: Case, clock: Clock) -> Energies:
    """The energies of a case, in the finest unit that fits."""
    logs, sources = logarithms(case)
    clock.check()
    return rounded(case, logs, sources)


def rounded(case: Case, logs: np.ndarray, sources: np.ndarray, bits: int = 60) -> Energies:
    """These logarithms as integers, in the finest unit that keeps sums over a variable's tables < 2**bits."""
    largest = largest_of(logs)
    uses = int(np.bincount(case.reduced.scopes, minlength=1).max(initial=1))
    total = 8.0 * largest * uses
    if not np.isfinite(logs).all():  # all flow may have to pass through one arc of infinite capacity
        total = 8.0 * largest * max(1, case.reduced.factors.size)
    shift = min(bits - math.frexp(total)[1], 1000)
    whole = np.full(logs.size, FORBIDDEN)
    finite = np.isfinite(logs)
    whole[finite] = np.rint(np.ldexp(logs[finite], shift))
    # The logarithm's error is a few parts in 2**53 of its largest term; rounding to integers adds up to one.
    return Energies(whole.take(sources), shift, math.ceil(math.ldexp(largest + 1.0, shift - 50)) + 1)


@dataclass(frozen=True, eq=False, slots=True)
class Pairs:
    """Binary variables, the cost of state 1 relative to state 0, and four energies for each pair."""

    alone: np.ndarray  # int64[n] the energy of state 1 minus that of state 0
    left: np.ndarray  # int32[m] the smaller of the pair's variables
    right: np.ndarray  # int32[m]
    tables: np.ndarray  # int64[m, 4] of states 00, 01, 10, 11; 0 where forbidden
    forbidden: np.ndarray  # bool[m, 4]
    uses: np.ndarray  # int64[n] how many tables each variable is in


def pairs_of(case: Case, energies: Energies, use: np.ndarray, clock: Clock) -> Pairs:
    """The tables over the variables in `use`, all binary, and in no table over more than two variables."""
    r = case.reduced
    n, widths = r.cards.size, np.diff(r.scope_at)
    mine = use[r.scopes[r.scope_at[:-1]]]
    singles = np.flatnonzero(mine & (widths == 1))
    alone = np.zeros(n, np.int64)
    owners = r.scopes[r.scope_at[singles]]
    at = r.table_at[singles]
    np.add.at(alone, owners, energies.values[at + 1] - energies.values[at])
    clock.check()
    doubles = np.flatnonzero(mine & (widths == 2))
    left, right = r.scopes[r.scope_at[doubles]], r.scopes[r.scope_at[doubles] + 1]
    entries = r.table_at[doubles][:, None] + np.arange(4)
    swapped = left > right
    entries[swapped] = entries[swapped][:, [0, 2, 1, 3]]
    clock.check()
    tables = energies.values[entries]
    left, right = np.minimum(left, right), np.maximum(left, right)
    forbidden = tables == FORBIDDEN
    tables[forbidden] = 0
    uses = np.bincount(r.scopes[np.repeat(mine, widths)], minlength=n).astype(np.int64)
    clock.check()
    key = left.astype(np.int64) * n + right
    order = np.argsort(key, kind="stable")
    clock.check()
    begins = np.flatnonzero(np.diff(key[order], prepend=-1))
    if begins.size < order.size:  # several tables over the same two variables
        tables = np.add.reduceat(tables[order], begins)
        forbidden = np.logical_or.reduceat(forbidden[order], begins)
        tables[forbidden] = 0
        left, right = left[order[begins]], right[order[begins]]
    return Pairs(alone, left, right, tables, forbidden, uses)


def unsupported(pairs: Pairs, n: int) -> np.ndarray:
    """Which states of each variable a neighbour rules out: (n, 2)."""
    bad = np.zeros((n, 2), bool)
    f = pairs.forbidden
    for ends, (i, j), state in (
        (pairs.left, (0, 1), 0),
        (pairs.left, (2, 3), 1),
        (pairs.right, (0, 2), 0),
        (pairs.right, (1, 3), 1),
    ):
        bad[ends[f[:, i] & f[:, j]], state] = True
    return bad


def cuttable(case: Case) -> np.ndarray:
    """Which variables lie in components that are entirely binary, with tables over at most two variables."""
    r = case.reduced
    root = CUTS.parts(r.cards.size, r.scope_at, r.scopes)
    widths = np.diff(r.scope_at)
    bad = np.zeros(r.cards.size, bool)
    bad[root[r.cards != 2]] = True
    bad[root[r.scopes[np.repeat(widths > 2, widths)]]] = True
    return np.asarray(~bad[root])
