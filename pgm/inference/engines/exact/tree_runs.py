"""Exact answers by message passing on a clique tree: in doubles or, if those fail, in wide numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from pgm.config import current
from pgm.inference.program.reduction import Case, WideArray, lows, wide_multiply
from pgm.inference.trees import Shape, Tree
from pgm.inference.trees.sweeps import SUMS, sweep_in, sweep_out
from pgm.runtime.buffers import give, take
from pgm.runtime.clock import Clock
from pgm.runtime.running import READING, TABLES, Impossible, Narrow, run

Wide = tuple[float, int]
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, eq=False, slots=True)
class Inward:
    """The result of an inward pass."""

    pool: np.ndarray  # the tables, then the messages
    kept: np.ndarray  # the product of each clique, if kept
    low: np.ndarray  # lower bounds on log2 of each item's entries
    high: np.ndarray
    exponent: np.ndarray
    constant: Wide  # the product of factors outside the tree

    def total(self, tree: Tree) -> Wide:
        """The product over all components; if an outward sweep computes it, only after that."""
        m, e = TABLES.total_of(tree.arrays, self.pool, self.exponent)
        return wide_multiply(self.constant, (float(m), int(e)))


def inward(
    case: Case,
    tree: Tree,
    clock: Clock,
    *,
    keep: bool = False,
    largest: np.ndarray = SUMS,
    out_too: bool = False,
) -> Inward:
    """Send all messages to the roots in doubles; raises `Narrow` if doubles do not suffice.

    If only the roots are read, products may underflow as long as that makes no difference there.
    """
    t = tree.arrays
    if case.program.wide_exponents is not None:
        raise Narrow
    constant = case.constant()
    pool = take(int(t.item_at[-1]))
    case.tables(pool[: int(case.reduced.table_at[-1])])
    low = np.zeros(t.item_at.size - 1, np.int64)
    low[: case.reduced.factors.size] = lows(case)
    high = np.zeros_like(low)
    exponent = np.zeros(t.parent.size, np.int64)
    kept = np.empty(tree.entries if keep else 0)
    roots_only = not (keep or out_too or largest.size)
    loss = np.full(t.parent.size if roots_only else 0, -np.inf)
    sweep_in(tree, pool, kept, low, high, exponent, clock, largest, out_too=out_too, loss=loss)
    return Inward(pool, kept, low, high, exponent, constant)


def in_doubles_or_wide(
    question: Callable[..., _Answer],
    case: Case,
    tree: Tree,
    clock: Clock,
    *args: Any,
    check: Callable[[Shape], None],
) -> _Answer:
    """Ask one of the questions below in doubles; if they are too narrow, in wide numbers, after `check`."""
    try:
        return question(case, tree, clock, *args)
    except Narrow:
        pass  # this frees the arrays of the first run
    check(tree.shape)
    return question(case, tree, clock, *args, wide=True)


def total(case: Case, tree: Tree, clock: Clock, *, wide: bool = False) -> Wide:
    """The sum of the product of all factors over all open states."""
    if wide:
        pm, pe = _wide_pool(case, tree)
        run("inward_wide", tree.arrays, pm, pe, _sums(tree), steps=8 * tree.steps, clock=clock)
        return _wide_total(case, tree, pm, pe)
    up = inward(case, tree, clock)
    whole = up.total(tree)
    give(up.pool)
    return whole


def marginals(case: Case, tree: Tree, clock: Clock, *, wide: bool = False) -> tuple[np.ndarray, Wide]:
    """The normalised results that the tree was laid out for, and the total."""
    t = tree.arrays
    if wide:
        rm, re, whole = wide_results(case, tree, clock)
        shifts = np.repeat(
            np.maximum.reduceat(np.where(rm > 0, re, -(1 << 60)), t.result_at[:-1]) if rm.size else re,
            np.diff(t.result_at),
        )
        results = np.ldexp(rm, np.clip(re - shifts, -2000, 0).astype(np.int32))
    else:
        up = inward(case, tree, clock, out_too=True)
        results = np.empty(int(t.result_at[-1]))
        down = take(up.pool.size - int(t.item_at[case.reduced.factors.size]))
        sweep_out(tree, up.pool, down, results, up.low, up.high, up.exponent, clock)
        whole = up.total(tree)
        give(up.pool)
        give(down)
    if TABLES.normalise(t.result_at, results) != 0:
        raise Impossible
    return results, whole


def joint(
    case: Case, tree: Tree, clock: Clock, n_targets: int, *, wide: bool = False
) -> tuple[WideArray, Wide]:
    """The table that the last root keeps, up to a scale, and the total of all components."""
    t = tree.arrays
    n_factors = case.reduced.factors.size
    at = int(t.item_at[n_factors + t.parent.size - 1])
    size = int(t.sent[-1])
    if wide:
        pm, pe = _wide_pool(case, tree)
        run("inward_wide", t, pm, pe, _sums(tree), steps=8 * tree.steps, clock=clock)
        return (pm[at : at + size], pe[at : at + size]), _wide_total(case, tree, pm, pe)
    up = inward(case, tree, clock)
    values, whole = up.pool[at : at + size], up.total(tree)
    if 2 * size < up.pool.size:  # otherwise a copy would take more memory than it frees
        values = values.copy()
        give(up.pool)
    return (values, None), whole


def derivatives(case: Case, tree: Tree, clock: Clock) -> tuple[np.ndarray, Wide]:
    """The derivative of the log total by each entry of the reduced tables, zero entries included."""
    t = tree.arrays
    pm, pe = _wide_pool(case, tree)
    sums = _sums(tree)
    run("inward_wide", t, pm, pe, sums, steps=8 * tree.steps, clock=clock)
    gm, ge, _, _ = _outward_wide(tree, pm, pe, clock)
    n_entries = int(case.reduced.table_at[-1])
    n_factors = case.reduced.factors.size
    roots = np.flatnonzero(t.parent < 0)
    at = t.item_at[n_factors + roots]
    # A component's derivative is divided by the total of that component alone: the others cancel.
    part_of = np.empty(t.parent.size, np.int64)
    for c in range(t.parent.size - 1, -1, -1):
        part_of[c] = c if t.parent[c] < 0 else part_of[t.parent[c]]
    root_m, root_e = np.ones(t.parent.size), np.zeros(t.parent.size, np.int64)
    root_m[roots], root_e[roots] = pm[at], pe[at]
    home = np.empty(n_factors, np.int64)
    owners = np.repeat(np.arange(t.parent.size), np.diff(t.operand_at))
    tables = t.operand < n_factors
    home[t.operand[tables]] = part_of[owners[tables]]
    entry_part = np.repeat(home, np.diff(case.reduced.table_at))
    own = case.reduced.factors < case.program.arrays.heads.size
    scale = np.zeros(n_factors, np.int64)
    scale[own] = case.program.arrays.exponent[case.reduced.factors[own]]
    shift = ge[:n_entries] - root_e[entry_part] - np.repeat(scale, np.diff(case.reduced.table_at))
    with np.errstate(over="ignore"):  # values beyond a double are infinite
        values = np.ldexp(gm[:n_entries] / root_m[entry_part], np.clip(shift, -3000, 3000).astype(np.int32))
    return values, _wide_total(case, tree, pm, pe)


@dataclass(frozen=True, eq=False, slots=True)
class MaxAssignment:
    """The best states of the maximised variables, as reduced codes, and their value."""

    states: np.ndarray
    value: Wide
    ties_broken: bool = True  # False: one of several, without memory to find the first


def maximum(
    case: Case, tree: Tree, clock: Clock, stage: np.ndarray
) -> tuple[MaxAssignment, tuple[np.ndarray, np.ndarray]]:
    """The states of the largest value, the first as declared among several, and the pool that proves it.

    A caller that no longer needs the pool passes it to `give`.
    """
    t = tree.arrays
    # Memory for wide numbers has been checked: the powers of two take as much again as the values.
    pm, pe, most = in_doubles_or_wide(_most, case, tree, clock, check=lambda _: None)
    states = np.zeros(t.cards.size, np.int64)
    cliques = downwards(tree)
    ties = np.zeros(1, np.int64)
    steps = 8.0 * tree.steps
    run("trace_back", t, pm, pe, cliques, states, _near(tree), ties, steps=steps, clock=clock, module=READING)
    if ties[0] == 0:
        return MaxAssignment(states, most), (pm, pe)
    ties_broken = tree.entries <= current().memory_limit
    if ties_broken:
        states = first_of_ties(tree, (pm, pe), cliques, None, as_declared(case, stage), states, clock)
    return MaxAssignment(states, value_of(case, tree, (pm, pe), states), ties_broken), (pm, pe)


def max_marginals(case: Case, tree: Tree, clock: Clock) -> tuple[np.ndarray, Wide]:
    """The log of each maximised state's max-marginal relative to the largest value, and that value."""
    found, _, most = _largest(case, tree, clock, entries=0)
    with np.errstate(divide="ignore", invalid="ignore"):  # summed variables have none
        logs = np.log(found[0]) + found[1] * math.log(2.0)
        top = np.maximum.reduceat(logs, case.reduced.state_at[:-1]) if logs.size else logs
        return logs - np.repeat(top, case.reduced.cards), most


def largest_with_entries(case: Case, tree: Tree, clock: Clock) -> np.ndarray:
    """The log of the largest product with each entry of the reduced tables, relative to the table's largest.

    The table's largest belongs to a best explanation. Minus infinity where there is no such product; NaN in
    tables of cliques that are summed.
    """
    _, found, _ = _largest(case, tree, clock, entries=int(case.reduced.table_at[-1]))
    begins = case.reduced.table_at
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(found[0]) + found[1] * math.log(2.0)
        if logs.size:
            logs -= np.repeat(np.maximum.reduceat(logs, begins[:-1]), np.diff(begins))
    return np.asarray(logs)


def _largest(
    case: Case, tree: Tree, clock: Clock, entries: int
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray], Wide]:
    """The largest products with each state, and with each entry of a table, as wide numbers."""
    t = tree.arrays
    pm, pe, most = in_doubles_or_wide(_most, case, tree, clock, check=lambda _: None)
    messages = pm.size - int(t.item_at[case.reduced.factors.size])
    back = np.zeros(messages), np.zeros(messages, np.int64)
    found = np.zeros(case.reduced.states.size), np.zeros(case.reduced.states.size, np.int64)
    each = np.zeros(entries), np.zeros(entries, np.int64)
    args = t, pm, pe, downwards(tree), tree.maximising, case.reduced.state_at, *back, *found, *each
    run("max_marginals", *args, steps=16 * tree.steps, clock=clock, module=READING)
    for part in (pm, pe):
        give(part)
    return found, each, most


def as_declared(case: Case, stage: np.ndarray) -> np.ndarray:
    """The maximised variables, in the model's order."""
    order = case.declared()
    return np.asarray(order[stage[order] != 0])


def _most(case: Case, tree: Tree, clock: Clock, *, wide: bool = False) -> tuple[np.ndarray, np.ndarray, Wide]:
    """The pool after a maximising pass, as mantissas and powers of two, and the largest value."""
    t = tree.arrays
    if wide:
        pm, pe = _wide_pool(case, tree)
        run("inward_wide", t, pm, pe, tree.maximising, steps=8 * tree.steps, clock=clock)
        return pm, pe, _wide_total(case, tree, pm, pe)
    up = inward(case, tree, clock, largest=tree.maximising)
    powers = take(up.pool.size).view(np.int64)
    TABLES.powers_of(t, up.exponent, powers)
    return up.pool, powers, up.total(tree)


def downwards(tree: Tree) -> np.ndarray:
    """The maximising cliques, parents first."""
    return np.flatnonzero(tree.maximising)[::-1].copy()


def _near(tree: Tree) -> float:
    """The relative difference of two values that rounding may cause: one part in 2**52 for each product."""
    return min(4e-16 * (8 + tree.arrays.operand.size), 1e-12)


def value_of(case: Case, tree: Tree, pool: tuple[np.ndarray, np.ndarray], states: np.ndarray) -> Wide:
    """The product of all factors at these states."""
    m, e = READING.score(tree.arrays, *pool, tree.maximising, states)
    return wide_multiply(case.constant(), (float(m), int(e)))


def first_of_ties(
    tree: Tree,
    pool: tuple[np.ndarray, np.ndarray],
    cliques: np.ndarray,
    excluded: np.ndarray | None,
    order: np.ndarray,
    states: np.ndarray,
    clock: Clock,
) -> np.ndarray:
    """The best completion of these states that comes first in the given order of variables.

    Args:
        tree: after a maximising pass.
        pool: its tables and messages.
        cliques: where to begin, then all cliques below it.
        excluded: entries that are not allowed in the first clique; None: begin at every root.
        order: variables, the most significant first.
        states: the states fixed above; not changed.
        clock: the clock of the question.
    """
    t = tree.arrays
    alive, free = np.zeros(tree.entries, np.uint8), np.zeros(t.parent.size, np.uint8)
    outs = np.empty(0, np.int64) if excluded is None else excluded
    args = (t, *pool, cliques, excluded is not None, outs, states, free, alive, _near(tree))
    run("best_entries", *args, steps=16 * tree.steps, clock=clock, module=READING)
    found = states.copy()
    run("first_of_ties", t, alive, free, order, found, steps=8 * tree.steps, clock=clock, module=READING)
    return found


def _outward_wide(
    tree: Tree, pm: np.ndarray, pe: np.ndarray, clock: Clock
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    t = tree.arrays
    gm, ge = np.empty_like(pm), np.empty_like(pe)
    rm, re = np.empty(int(t.result_at[-1])), np.empty(int(t.result_at[-1]), np.int64)
    run("outward_wide", t, pm, pe, gm, ge, rm, re, steps=16 * tree.steps, clock=clock)
    return gm, ge, rm, re


def wide_results(case: Case, tree: Tree, clock: Clock) -> tuple[np.ndarray, np.ndarray, Wide]:
    """The unnormalised results in wide numbers, and the total."""
    pm, pe = _wide_pool(case, tree)
    sums = _sums(tree)
    run("inward_wide", tree.arrays, pm, pe, sums, steps=8 * tree.steps, clock=clock)
    _, _, rm, re = _outward_wide(tree, pm, pe, clock)
    return rm, re, _wide_total(case, tree, pm, pe)


def _wide_pool(case: Case, tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    size, tables = int(tree.arrays.item_at[-1]), int(case.reduced.table_at[-1])
    pm, pe = np.zeros(size), np.zeros(size, np.int64)
    pm[:tables], pe[:tables] = case.wide_tables()
    return pm, pe


def _sums(tree: Tree) -> np.ndarray:
    return np.zeros(tree.arrays.parent.size, np.uint8)


def _wide_total(case: Case, tree: Tree, pm: np.ndarray, pe: np.ndarray) -> Wide:
    t = tree.arrays
    whole = case.constant()
    n_factors = case.reduced.factors.size
    for c in np.flatnonzero(t.parent < 0):
        at, size = int(t.item_at[n_factors + c]), int(t.sent[c])
        m, e = pm[at : at + size], pe[at : at + size]
        top = int(e[m > 0].max())
        part = math.fsum(np.ldexp(m, np.clip(e - top, -2000, 0).astype(np.int32)).tolist())
        whole = wide_multiply(whole, (part, top))
    return whole


def draws(
    case: Case,
    tree: Tree,
    clock: Clock,
    n: int,
    rng: np.random.Generator,
    *,
    check: Callable[[Shape], None],
) -> np.ndarray:
    """Draw n joint states of everything open: reduced codes, one row each; `check` as above."""
    t = tree.arrays
    kept = in_doubles_or_wide(_products, case, tree, clock, check=check)
    states = np.zeros((n, t.cards.size), np.int64)
    chunk = max(1, int(4e6) // max(1, t.parent.size))
    entries = float((t.size / t.sent).sum())  # entries that a draw reads
    for begin in range(0, n, chunk):
        part = states[begin : begin + chunk]
        uniforms = rng.random((part.shape[0], t.parent.size))
        steps = 4.0 * part.size + part.shape[0] * entries
        run("draw", t, kept, uniforms, part, steps=steps, clock=clock, module=READING)
    return states


def _products(case: Case, tree: Tree, clock: Clock, *, wide: bool = False) -> np.ndarray:
    """The table of each clique after an inward pass, up to a factor for each entry of its message."""
    return _wide_conditionals(case, tree, clock) if wide else inward(case, tree, clock, keep=True).kept


def _wide_conditionals(case: Case, tree: Tree, clock: Clock) -> np.ndarray:
    """The product of each clique divided by its message: conditional probabilities, which fit a double."""
    t = tree.arrays
    pm, pe = _wide_pool(case, tree)
    sums = _sums(tree)
    run("inward_wide", t, pm, pe, sums, steps=8 * tree.steps, clock=clock)
    kept = np.zeros(tree.entries)
    run("conditionals", t, pm, pe, kept, steps=8 * tree.steps, clock=clock, module=READING)
    return kept
