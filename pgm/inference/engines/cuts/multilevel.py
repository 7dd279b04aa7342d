"""The best states if no tree fits: cuts fix what they can, and a tree solves the rest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pgm.inference.engines.cuts import energies as tables
from pgm.inference.engines.cuts import flow
from pgm.inference.engines.problem import BestStates
from pgm.inference.program import SUMMED, Program
from pgm.inference.program.reduction import Case, Known, one_of_each, only, reduce_everything
from pgm.runtime.clock import Clock
from pgm.runtime.room import check_room
from pgm.runtime.running import CUTS, REDUCTION, run

_MOST_WORK = 2e8  # inner steps that a search for dead ends may take


def maximum(
    program: Program, known: Known, clock: Clock, by_tree: Callable[[np.ndarray], BestStates]
) -> BestStates:
    """The best states of all variables, exactly.

    Pairwise binary variables are solved by a minimum cut if their component allows it, otherwise some of them
    by roof duality; for other variables, states that can never be better are closed. This is repeated with
    what is left.

    Args:
        program: the compiled model.
        known: evidence by position.
        clock: the clock of the question.
        by_tree: finds the best of the marked states, or raises `TooLarge`.
    """
    allowed = np.ones(program.open_states.size, np.uint8)
    ties_broken = True
    while True:
        case = reduce_everything(program, known, clock, allowed)
        r = case.reduced
        if not r.variables.size:
            return BestStates(case.codes[: program.n_named].astype(np.int64), case.constant(), ties_broken)
        summed = bool((program.kinds[r.variables] == SUMMED).any())
        alive, sure = (None, True) if summed else _narrow(case, clock)
        if alive is None or alive.all():
            found = by_tree(allowed)
            return BestStates(found.codes, found.value, ties_broken and found.ties_broken)
        ties_broken = ties_broken and sure
        allowed = only(case, alive)


def check_size(case: Case, entry: int, link: int) -> None:
    """Raise `TooLarge` if this many bytes for each table entry and each scope entry exceed the limit."""
    r = case.reduced
    needed = entry * int(r.table_at[-1]) + link * (r.scopes.size + r.cards.size)
    check_room(needed, f"The cuts for {r.cards.size:,} variables in {r.factors.size:,} tables take")


def _narrow(case: Case, clock: Clock) -> tuple[np.ndarray, bool]:
    """Which reduced states may still be best, and whether those ruled out lose ties in declared order too."""
    check_size(case, 16, 120)
    r = case.reduced
    clock.check()
    energies = tables.energies_of(case, clock)
    clock.check()
    use = tables.cuttable(case)
    alive = np.ones(r.states.size, np.uint8)
    ties_broken = True
    if use.any():
        pairs = tables.pairs_of(case, energies, use, clock)
        clock.check()
        bad = tables.unsupported(pairs, use.size)
        if bad.any():
            v, s = np.nonzero(bad)
            alive[r.state_at[v] + s] = 0
            return alive, True
        labels = flow.solve(pairs, use, energies, case.declared(), clock)
        alive, ties_broken = one_of_each(case, labels.states), labels.ties_broken
    if not use.all():
        _close_dead_ends(case, energies, ~use, alive, clock)
    return alive, ties_broken


def _close_dead_ends(
    case: Case, energies: tables.Energies, use: np.ndarray, alive: np.ndarray, clock: Clock
) -> None:
    r = case.reduced
    owners = np.repeat(np.arange(r.factors.size), np.diff(r.scope_at))
    cards = r.cards[r.scopes].astype(float)
    steps = 3.0 * float((np.diff(r.table_at)[owners] * cards)[use[r.scopes]].sum())
    if steps > _MOST_WORK:
        return
    user_at, users = REDUCTION.users_of(r.cards.size, r.scope_at, r.scopes)
    run(
        "dead_ends",
        r.cards,
        r.state_at,
        r.scope_at,
        r.scopes,
        r.table_at,
        user_at,
        users,
        energies.values,
        energies.error,
        use.astype(np.uint8),
        alive,
        steps=steps,
        clock=clock,
        module=CUTS,
    )
