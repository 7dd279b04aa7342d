"""The most probable course of a dynamic network: the best frontiers, then the assignments behind each."""

from __future__ import annotations

import numpy as np

from pgm.inference.engines.interface.log_tables import Piece, onto, product
from pgm.inference.engines.interface.passes import Block, Course


def best_course(course: Course) -> tuple[np.ndarray, np.ndarray]:
    """The codes of all variables, (rows, variables), and log P(course, rows) of each sequence.

    `course` must be in logarithms, with a layout made for maxima.
    """
    template = course.layout.template
    blocks = list(course.walked(best=True))
    codes = np.zeros((course.data.n, len(template.cards)), np.int32)
    last = -1
    for block in reversed(blocks):
        last, frontier, chosen = _followed(course, block, last)
        states = _states(course, block, frontier, chosen)
        for v, at in enumerate(template.at):
            if at in states:
                codes[block.a : block.b, v] = states[at]
    ends = np.flatnonzero(course.data.ends)
    joint = np.empty(ends.size)
    for block in blocks:
        here = (ends >= block.a) & (ends < block.b)
        joint[here] = block.alpha[ends[here] - block.a].max(axis=1)
    return codes, joint


def _followed(course: Course, block: Block, last: int) -> tuple[int, np.ndarray, np.ndarray]:
    """The entry of the best frontier before the block, that after each row, and the states maximised over."""
    n, ops = block.b - block.a, course.layout.operations
    chosen, frontier = np.zeros(n * ops.card.size, np.int32), np.zeros(n, np.int64)
    data = course.data
    begins, ends = data.begins[block.a : block.b], data.ends[block.a : block.b]
    args = (ops, block.g.reshape(-1), block.code, begins, ends, course.first, block.carried)
    before = np.zeros(1, np.int64)
    course._run("trace", *args, block.alpha.reshape(-1), last, chosen, frontier, before, rows=2 * n)
    return int(before[0]), frontier, chosen.reshape(n, -1)


def _states(course: Course, block: Block, frontier: np.ndarray, chosen: np.ndarray) -> dict[int, np.ndarray]:
    """The state at each place of a slice, for each row of the block."""
    layout, cards = course.layout, course.layout.cards
    shape = [cards[p] for p in layout.outgoing]
    states: dict[int, np.ndarray] = dict(
        zip(layout.outgoing, np.unravel_index(frontier, shape) if shape else (), strict=True)
    )
    for o, b in enumerate(layout.path[:-1]):
        states[layout.buckets[b].variable] = chosen[:, o].astype(np.int64)
    on_path = set(layout.path)
    local: dict[int, np.ndarray] = {}
    sent: dict[int, Piece] = {}
    for b, bucket in enumerate(layout.buckets):
        if b in on_path:
            continue
        mine = [block.pieces[f] for f in bucket.factors] + [sent[c] for c in bucket.children]
        local[b] = product(mine, bucket.scope, cards)
        sent[b] = bucket.sent, onto((bucket.scope, local[b]), bucket.sent, best=True)
    for b in range(len(layout.buckets) - 1, -1, -1):
        if b in on_path:
            continue
        bucket = layout.buckets[b]
        table = np.broadcast_to(local[b], (block.rows.size, *local[b].shape[1:]))
        turned = np.moveaxis(table, bucket.scope.index(bucket.variable) + 1, -1)
        rows = turned[(block.code, *(states[p] for p in bucket.sent))]
        states[bucket.variable] = rows.argmax(axis=-1)
    return states
