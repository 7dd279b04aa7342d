"""The order in which variables are drawn, and the factors they are drawn from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pgm.graphs.triangulation import triangulate
from pgm.inference.engines.sampling.lookup_arrays import SAMPLING, LookupLayout
from pgm.inference.program import FUNCTION
from pgm.runtime.kinds import Bytes, Floats, Ints, Ints32
from pgm.runtime.running import REDUCTION


class StepArrays(NamedTuple):
    """One step for each variable: its index, the factors it is drawn from, and the guide."""

    variable: Ints  # [m]
    ref_at: Ints  # [m + 1]
    refs: Ints  # axes of the factors whose last variable to be drawn it is
    asked: Bytes  # whether it is drawn from that factor; otherwise the factor weights the sample
    guide: Floats  # for each state a logarithm that is added for drawing and corrected by the weight
    read_at: Ints  # [m + 1]
    reads: Ints  # axes of the guide tables whose last variable it is


class GuideArrays(NamedTuple):
    """Guide tables over variables drawn one after the other, laid out like factors; values are elsewhere.

    An engine with messages over several variables passes them in this form.
    """

    scope_at: Ints  # [K + 1]
    scopes: Ints32
    owner: Ints32  # the table of each axis
    stride: Ints
    table_at: Ints  # [K + 1]


NO_GUIDES = GuideArrays(
    np.zeros(1, np.int64),
    np.empty(0, np.int32),
    np.empty(0, np.int32),
    np.empty(0, np.int64),
    np.zeros(1, np.int64),
)


def make_guides(cards: np.ndarray, scope_at: np.ndarray, scopes: np.ndarray) -> GuideArrays:
    """Lay out tables over these scopes, the last axis running fastest."""
    widths = np.diff(scope_at)
    stride = np.ones(scopes.size, np.int64)
    SAMPLING.strides(scope_at, cards[scopes], stride)
    sizes = np.zeros(widths.size, np.int64)
    some = widths > 0
    first = scope_at[:-1][some]
    sizes[some] = stride[first] * cards[scopes[first]]
    owner = np.repeat(np.arange(widths.size, dtype=np.int32), widths)
    table_at = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return GuideArrays(scope_at, scopes, owner, stride, table_at)


def make_steps(
    layout: LookupLayout,
    variables: np.ndarray,
    guides: GuideArrays = NO_GUIDES,
    *,
    blocks: np.ndarray | None = None,
) -> StepArrays:
    """Draw the variables in this order, each from all factors that are complete by then.

    Args:
        layout: the question.
        variables: all of them, in the order of drawing.
        guides: tables that are read once all of their variables are drawn.
        blocks: the block of each variable: a factor then counts in each of its blocks, and is complete once
            all of its variables there are drawn.
    """
    a = layout.arrays
    place = np.empty(variables.size, np.int64)
    place[variables] = np.arange(variables.size)
    blocks = np.zeros(variables.size, np.int64) if blocks is None else blocks
    ref_at, refs = _by_step(a.scope_at, a.scopes, blocks, place)
    read_at, reads = _by_step(guides.scope_at, guides.scopes, np.zeros_like(blocks), place)
    asked, guide = np.ones(refs.size, np.uint8), np.zeros(a.local.size)
    return StepArrays(variables.astype(np.int64), ref_at, refs, asked, guide, read_at, reads)


def _by_step(
    scope_at: np.ndarray, scopes: np.ndarray, blocks: np.ndarray, place: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    last = np.zeros(scopes.size, np.uint8)
    SAMPLING.completing(scope_at, scopes, blocks, place, last)
    axes = np.flatnonzero(last)
    steps = place[scopes[axes]]
    counts = np.bincount(steps, minlength=place.size)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), axes[np.argsort(steps, kind="stable")]


def parents_first(layout: LookupLayout) -> tuple[np.ndarray, np.ndarray]:
    """Variables in ancestral order, and the factors that each is then drawn from.

    A variable with a conditional distribution is drawn from that, in one table or several together; any other
    from all complete factors. The row of a sparse factor comes after all of its variables but the last; the
    table that gives a row's states is always drawn from, since no other row is possible.
    """
    a, graph, case = layout.arrays, layout.graph, layout.problem.case
    p, r = case.program.arrays, case.reduced
    factor = r.factors[graph.factors].astype(np.int64)
    ours = factor < p.heads.size
    last_axis = a.scope_at[1:] - 1
    own = np.zeros(factor.size, bool)
    own[ours] = p.heads[p.leader[factor[ours]]] == 1
    child_of = p.scopes[p.scope_at[factor[ours] + 1] - 1] if ours.any() else np.empty(0, np.int32)
    own[np.flatnonzero(ours)] &= r.variables[a.scopes[last_axis[ours]]] == child_of
    has_own = np.zeros(a.cards.size, bool)
    has_own[a.scopes[last_axis[own]]] = True
    for f in graph.alone.tolist():  # a root's table is over one variable, and part of its own weights
        if r.factors[f] < p.heads.size and p.heads[p.leader[r.factors[f]]] == 1:
            v = r.scopes[r.scope_at[f]]
            has_own[v] |= r.variables[v] == p.scopes[p.scope_at[r.factors[f] + 1] - 1]
    is_row = case.program.kinds == FUNCTION
    is_row[p.scopes[p.scope_at[1:][p.heads == 1] - 1]] = False  # a gate's row, with a table of its own
    is_row = is_row[r.variables]
    begins = a.scope_at[:-1]
    first_is_row = is_row[a.scopes[begins]]
    links = first_is_row | is_row[a.scopes[last_axis]]  # pairs: a row index and a variable
    row_axis = np.where(first_is_row, begins, last_axis)
    final = np.full(a.cards.size, -1, np.int64)
    np.maximum.at(final, a.scopes[row_axis[links]], factor[links])
    closes = links & (factor == final[a.scopes[row_axis]])
    # Edges lead to one axis of each factor from all others.
    heads = np.where(links & ~closes, row_axis, np.where(links, begins + last_axis - row_axis, last_axis))
    drawn_from = own | links
    target = a.scopes[heads][a.owner]
    edge = drawn_from[a.owner] & (a.scopes != target)
    sources, targets = a.scopes[edge], target[edge]
    by = np.argsort(sources, kind="stable")
    edge_at = np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=a.cards.size))]).astype(np.int64)
    order = np.empty(a.cards.size, np.int64)
    SAMPLING.topological(order.size, edge_at, targets[by].astype(np.int64), order)
    return order, np.where(has_own[a.scopes], drawn_from[a.owner], True)


def in_blocks(
    layout: LookupLayout, blocks: np.ndarray, limit: float
) -> tuple[StepArrays, GuideArrays, np.ndarray] | None:
    """Steps and messages that draw each block as a whole, and where each block begins.

    None if the messages would have more than `limit` entries.
    """
    a = layout.arrays
    m = a.cards.size
    key = a.owner.astype(np.int64) * (int(blocks.max(initial=0)) + 1) + blocks[a.scopes]
    by = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[by], prepend=-1))
    scope_at = np.concatenate([starts, [by.size]]).astype(np.int64)
    at, indices = REDUCTION.neighbours(m, scope_at, a.scopes[by], np.empty(0, np.int32))
    found = triangulate(at, indices, np.log2(a.cards.astype(np.float64)), limit_log2=np.log2(limit))
    if not found.complete:
        return None
    eliminated = np.empty(m, np.int64)
    own = found.n_residual.astype(np.int64)
    first = found.clique_ptr[:-1].astype(np.int64)
    where = np.repeat(first - np.concatenate([[0], np.cumsum(own)[:-1]]), own) + np.arange(m) if m else first
    eliminated[found.clique_vars[where]] = np.arange(m)
    variables = np.lexsort((-eliminated, blocks))
    place = np.empty(m, np.int64)
    place[variables] = np.arange(m)
    message_at, nothing = np.zeros(m + 1, np.int64), np.empty(0, np.int32)
    args = found.clique_ptr.astype(np.int64), found.clique_vars.astype(np.int32), own, place
    SAMPLING.message_scopes(*args, message_at, nothing, False)
    np.cumsum(message_at, out=message_at)
    scopes = np.empty(int(message_at[-1]), np.int32)
    SAMPLING.message_scopes(*args, message_at, scopes, True)
    guides = make_guides(a.cards, message_at, scopes)
    steps = make_steps(layout, variables, guides, blocks=blocks)
    block_at = np.concatenate(
        [[0], np.cumsum(np.bincount(blocks, minlength=int(blocks.max(initial=-1)) + 1))]
    )
    return steps, guides, block_at.astype(np.int64)


Covered = tuple[StepArrays, GuideArrays, np.ndarray]  # what `in_blocks` returns


def both(first: Covered, second: Covered) -> Covered:
    """Two coverings, drawn one after the other in each sweep."""
    (s, m, b), (t, n, c) = first, second
    steps = StepArrays(
        variable=np.concatenate([s.variable, t.variable]),
        ref_at=_one_after_the_other(s.ref_at, t.ref_at),
        refs=np.concatenate([s.refs, t.refs]),
        asked=np.concatenate([s.asked, t.asked]),
        guide=s.guide,
        read_at=_one_after_the_other(s.read_at, t.read_at),
        reads=np.concatenate([s.reads, t.reads + m.scopes.size]),
    )
    messages = GuideArrays(
        scope_at=_one_after_the_other(m.scope_at, n.scope_at),
        scopes=np.concatenate([m.scopes, n.scopes]),
        owner=np.concatenate([m.owner, n.owner + np.int32(m.scope_at.size - 1)]),
        stride=np.concatenate([m.stride, n.stride]),
        table_at=_one_after_the_other(m.table_at, n.table_at),
    )
    return steps, messages, _one_after_the_other(b, c)


def _one_after_the_other(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.concatenate([a, b[1:] + a[-1]])
