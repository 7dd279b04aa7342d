"""What learning needs: expected counts of all table entries, and derivatives with respect to them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pgm.inference.engines.exact import tree_runs
from pgm.inference.program.reduction import Case, reduce_case
from pgm.inference.trees import tree_of
from pgm.inference.trees.needs import Needs
from pgm.runtime.running import Impossible

if TYPE_CHECKING:
    from pgm.inference.engines.exact.posterior import Posterior


def expected_counts(at: Posterior) -> dict[int, np.ndarray]:
    """For each factor of the program its table of P(entry | known), flat; all zeros if it has none."""
    p = at.program.arrays
    case = reduce_case(at.program, at.known, at.everything(), at.clock, prune=False, keep_ones=True)
    r = case.reduced
    ours = np.flatnonzero(r.factors < p.heads.size)
    lengths = np.diff(r.scope_at)[ours]
    begins = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    scopes = r.scopes[: begins[-1]]  # virtual evidence comes last
    entries = float(r.table_at[ours.size])
    needs = Needs("expected counts", "both", results=entries, asks=None)
    check = at.check_of(case, needs)
    tree = tree_of(case, at.clock, at.trees, results=(begins, scopes), check=check)
    values, _ = at.in_doubles_or_wide(tree_runs.marginals, case, tree, needs)
    return _spread(case, values)


def derivatives(at: Posterior) -> dict[int, np.ndarray]:
    """For each factor of the program the derivative of log P(known) by each table entry, flat."""
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
    for f in case.reduced.scalars.tolist():  # one entry is left of it, and the total is proportional to that
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
