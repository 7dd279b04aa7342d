"""What learning needs: expected counts of all table entries, and derivatives of log P(known) by them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pgm.inference.engines.exact import tree_runs
from pgm.inference.program import SUMMED
from pgm.inference.program.reduction import Case, reduce_case
from pgm.inference.trees import tree_of
from pgm.inference.trees.needs import Needs
from pgm.inference.trees.shared_trees import Sliced
from pgm.runtime.running import TABLES, Impossible

if TYPE_CHECKING:
    from pgm.inference.engines.exact.posterior import Posterior


def expected_counts(at: Posterior) -> dict[int, np.ndarray]:
    """For each factor of the program, P(entry | known) for each entry of its table, flat."""
    flat, begins = flat_counts(at), at.program.entries_at.tolist()
    return {f: flat[begin:end] for f, (begin, end) in enumerate(itertools.pairwise(begins))}


def flat_counts(at: Posterior, targets: Sequence[int] | None = None) -> np.ndarray:
    """P(entry | known) of every table entry; the tables begin at `program.entries_at`.

    With targets, tables that matter neither to these nor to the evidence are left out and filled with zeros.
    """
    program, p = at.program, at.program.arrays

    def needs_of_all() -> Needs:
        return Needs("expected counts", "both", results=float(program.entries_at[-1]), asks=None)

    asked = None if targets is None else tuple(targets)
    shared = at.on_shared_tree(asked, needs_of_all, Sliced.counts, entries=True)
    if shared is not None:
        return shared
    wanted = at.everything() if targets is None else np.array(targets, dtype=np.int64)
    case = reduce_case(program, at.known, wanted, at.clock, prune=targets is not None, keep_ones=True)
    r = case.reduced
    m = int(np.count_nonzero(r.factors < p.heads.size))  # virtual evidence comes last
    size, begins = int(r.table_at[m]), r.scope_at[: m + 1]
    needs = Needs("expected counts", "both", results=float(size), asks=None)
    check = at.check_of(case, needs)
    results = begins.astype(np.int64), r.scopes[: begins[-1]]
    tree = tree_of(case, at.clock, at.trees, results=results, check=check)
    values, _ = at.in_doubles_or_wide(tree_runs.marginals, case, tree, needs)
    flat = np.zeros(int(program.entries_at[-1]))
    own, shift = r.factors[:m], program.entries_at[:-1] - p.table_at
    flat[case.sources()[:size] + np.repeat(shift[own], np.diff(r.table_at)[:m])] = values[:size]
    single = np.empty(r.scalars.size, np.int64)
    TABLES.gather_scalars(p, r, case.codes, single)
    flat[single + shift[r.scalars]] = 1.0
    return flat


def largest_entries(at: Posterior) -> np.ndarray:
    """The log of max P(states, known) over all states with each table entry, relative to the largest of all.

    The tables begin at `program.entries_at`. NaN in tables next to variables inside gates: those variables
    are summed out, so no maximum is known there.
    """
    program, p = at.program, at.program.arrays
    case = reduce_case(program, at.known, at.everything(), at.clock, prune=False, keep_ones=True)
    r = case.reduced
    stage = (program.kinds[r.variables] != SUMMED).astype(np.int64)
    size = int(r.table_at[-1])
    check = at.check_of(
        case, Needs("the best explanations", "both", wide=True, results=float(size), asks=None)
    )
    tree = tree_of(case, at.clock, at.trees, stage=stage, check=check)
    logs = tree_runs.largest_with_entries(case, tree, at.clock)
    flat = np.full(int(program.entries_at[-1]), -np.inf)
    m = int(np.count_nonzero(r.factors < p.heads.size))
    own, shift = r.factors[:m], program.entries_at[:-1] - p.table_at
    size = int(r.table_at[m])
    flat[case.sources()[:size] + np.repeat(shift[own], np.diff(r.table_at)[:m])] = logs[:size]
    single = np.empty(r.scalars.size, np.int64)
    TABLES.gather_scalars(p, r, case.codes, single)
    flat[single + shift[r.scalars]] = 0.0
    return flat


def derivatives(at: Posterior, *, zeros: bool) -> dict[int, np.ndarray]:
    """For each factor of the program, the derivative of log P(known) by each table entry, flat.

    For a non-zero entry it is P(entry | known) divided by the entry. Zero entries are NaN or, with `zeros`,
    take a sweep of their own in wide numbers, which includes the states that zeros rule out.
    """
    program = at.program
    if zeros and program.arrays.has_zero.any():
        return _with_zeros(at)
    begins = program.entries_at
    values, powers = program.entries()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # 0 / 0 is NaN
        found = flat_counts(at) / values
        if powers.any():
            found = np.ldexp(found, np.clip(-powers, -3000, 3000).astype(np.int32))
    return {f: found[begin:end] for f, (begin, end) in enumerate(itertools.pairwise(begins.tolist()))}


def _with_zeros(at: Posterior) -> dict[int, np.ndarray]:
    """The derivatives by all entries, zero ones included, in wide numbers."""
    case = reduce_case(at.program, at.known, at.everything(), at.clock, prune=False, domains=False)
    check = at.check_of(
        case,
        Needs("derivatives", "both", wide=True, results=float(case.reduced.table_at[-1]), asks=None),
    )
    tree = tree_of(case, at.clock, at.trees, check=check)
    values, whole = tree_runs.derivatives(case, tree, at.clock)
    if whole[0] == 0.0:
        raise Impossible
    found = _spread(case, values[: int(case.reduced.table_at[-1])])
    p, wide = at.program.arrays, at.program.wide_exponents
    for f in case.reduced.scalars.tolist():  # one entry of each is left, and the total is proportional to it
        entry = int(found[f].argmax())
        place = int(p.table_at[f]) + entry
        power = int(p.exponent[f]) + (0 if wide is None else int(wide[place]))
        with np.errstate(over="ignore"):
            found[f][entry] = np.ldexp(1.0 / at.program.values[place], max(-3000, min(3000, -power)))
    return found


def _spread(case: Case, values: np.ndarray) -> dict[int, np.ndarray]:
    p, r = case.program.arrays, case.reduced
    sources = case.sources()
    found: dict[int, np.ndarray] = {}
    for g, f in enumerate(r.factors.tolist()):
        if f >= p.heads.size:
            continue
        size = math.prod(p.cards[p.scopes[p.scope_at[f] : p.scope_at[f + 1]]].tolist())
        table = np.zeros(size)
        part = slice(int(r.table_at[g]), int(r.table_at[g + 1]))
        table[sources[part] - p.table_at[f]] = values[part]
        found[f] = table
    for f in r.scalars.tolist():
        scope = p.scopes[p.scope_at[f] : p.scope_at[f + 1]]
        cards = p.cards[scope].tolist()
        table = np.zeros(math.prod(cards))
        entry = int(np.ravel_multi_index(case.codes[scope].tolist(), cards)) if cards else 0
        table[entry] = 1.0
        found[f] = table
    return found
