"""Blocks of variables that a chain draws together, chosen so that it can reach every possible state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgm.errors import InvalidArgument, UnknownVariable, listed
from pgm.inference.engines.sampling import Gibbs, SwendsenWang
from pgm.inference.engines.sampling.lookup_arrays import SAMPLING, LookupLayout
from pgm.inference.engines.sampling.steps import GuideArrays, StepArrays, both, in_blocks
from pgm.inference.program.reduction import open_targets
from pgm.runtime.clock import Clock
from pgm.runtime.running import run

_ENTRIES = 1e6  # that all messages inside blocks may have, if not more by the next line
_WORTH = 16.0  # the same as a multiple of the entries of all factors
_LOOKS = 50.0  # at each edge, in the search for blocks


@dataclass(frozen=True, eq=False, slots=True)
class Blocks:
    """The variables in the order in which they are drawn, block by block; some may appear twice."""

    steps: StepArrays
    messages: GuideArrays
    block_at: np.ndarray  # where each block begins in `steps`
    has_zeros: bool


def find_blocks(layout: LookupLayout, options: Gibbs, clock: Clock) -> Blocks:
    """The requested blocks, merged where zeros would otherwise keep the chain from some states.

    Raises:
        InvalidArgument: blocks, requested or merged, are too wide to be drawn as a whole.
    """
    a, g = layout.arrays, layout.graph.arrays
    block_of = _asked_for(layout, options)
    second = block_of.copy()
    if options.blocks == "trees":
        args = g.user_at, g.users, a.owner, a.scope_at, a.scopes
        budget = int(_LOOKS * float((np.diff(a.scope_at) ** 2).sum()))
        SAMPLING.grow_trees(*args, np.arange(block_of.size), budget, block_of)
        # Variables that did not fit into the first trees come first in others.
        SAMPLING.grow_trees(*args, np.argsort(-block_of, kind="stable"), budget, second)
    else:
        single = block_of < 0
        block_of[single] = block_of.max(initial=-1) + 1 + np.arange(int(single.sum()))
    sizes = np.multiply.reduceat(a.cards[a.scopes], a.scope_at[:-1]) if g.table.size else np.empty(0)
    has_zero = (np.diff(g.row_at)[g.table] < sizes).astype(np.uint8)
    groups = _tied(layout, has_zero, clock)
    most = max(_ENTRIES, _WORTH * float(sizes.sum()))
    tied_blocks = block_of.copy()
    for group in np.unique(groups[groups >= 0]).tolist():
        mine = np.flatnonzero(groups == group)
        if np.unique(block_of[mine]).size > 1:
            tied_blocks[mine] = tied_blocks.max() + 1
    tied_blocks = np.unique(tied_blocks, return_inverse=True)[1].astype(np.int64)
    found = in_blocks(layout, tied_blocks, most)
    if found is None and (groups < 0).all():
        raise InvalidArgument(
            'blocks= of engine="gibbs" has blocks that are too wide to be drawn as a whole: their messages '
            f'have more than {most:,.0f} entries. Make them smaller, or use blocks="trees".'
        )
    if found is None:
        mine = np.flatnonzero(groups >= 0)
        raise InvalidArgument(
            f'engine="gibbs" cannot be shown to reach every possible state: zeros tie {_named(layout, mine)} '
            "together, too many to be drawn as one block. "
            'Use engine="importance" or "likelihood-weighting", which need no chain.'
        )
    if options.blocks == "trees" and block_of.max(initial=0) > 0:
        more = in_blocks(layout, second, most)
        if more is not None:
            found = both(found, more)
    return Blocks(*found, has_zeros=bool(has_zero.any()))


def _named(layout: LookupLayout, variables: np.ndarray) -> str:
    problem = layout.problem
    own = np.sort(problem.case.reduced.variables[variables])
    return listed([problem.names[v] for v in own.tolist() if v < len(problem.names)])


def check_names(options: Gibbs | SwendsenWang, names: Sequence[str]) -> None:
    """Refuse options with an unknown variable, or with one variable in two blocks."""
    known = dict.fromkeys(names)
    for name in options.trace:
        if name not in known:
            raise UnknownVariable(name, known, "trace=")
    seen: set[object] = set()
    if isinstance(options, Gibbs) and not isinstance(options.blocks, str):
        for name in (name for block in options.blocks for name in block):
            if not isinstance(name, str) or name not in known:
                raise UnknownVariable(name, known, "blocks=")
            if name in seen:
                raise InvalidArgument(f"{name!r} is in blocks= twice; blocks do not share variables.")
            seen.add(name)


def _asked_for(layout: LookupLayout, options: Gibbs) -> np.ndarray:
    """The index of the block that the user put each variable into; -1 for none."""
    r, names = layout.problem.case.reduced, layout.problem.names
    block_of = np.full(r.cards.size, -1, np.int64)
    if isinstance(options.blocks, str):
        return block_of
    place = dict(zip(names, range(len(names)), strict=True))
    for i, block in enumerate(options.blocks):
        block_of[open_targets(layout.problem.case, [place[name] for name in block])] = i
    return np.unique(np.append(block_of, -1), return_inverse=True)[1][:-1].astype(np.int64) - 1


def _tied(layout: LookupLayout, has_zero: np.ndarray, clock: Clock) -> np.ndarray:
    """Groups that must be drawn together so that every possible state is reached; -1 for other variables.

    A state is closed if another can replace it whatever the other variables are: changing one variable leads
    from the first to the second. The set of possible states is connected if the rest is; and the rest is if
    all variables that zeros still couple are drawn together.
    """
    a, g = layout.arrays, layout.graph.arrays
    groups = np.full(a.cards.size, -1, np.int64)
    if not has_zero.any():
        return groups
    is_open = np.ones(a.local.size, np.uint8)
    steps = 4.0 * float(a.logs.size) * float(a.cards.max()) + 20.0 * a.scopes.size
    run("fold", a, g.user_at, g.users, has_zero, is_open, steps=steps, clock=clock, module=SAMPLING)
    SAMPLING.tied(a, has_zero, is_open, groups)
    return groups
