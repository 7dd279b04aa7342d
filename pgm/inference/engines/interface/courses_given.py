"""Courses of a dynamic network drawn from their posterior: frontiers from the end back, then the rest."""

from __future__ import annotations

import numpy as np

from pgm.inference.engines.interface.log_tables import Piece, onto, product
from pgm.inference.engines.interface.passes import Block, Course

_TOGETHER = 1 << 16  # rows times courses that are drawn at once


def drawn_courses(course: Course, many: int, random: np.random.Generator) -> np.ndarray:
    """The codes of all variables in each course, (courses, rows, variables); 0 for continuous ones.

    `course` must be in logarithms.
    """
    template = course.layout.template
    blocks = list(course.walked(most=max(1, _TOGETHER // many)))
    codes = np.zeros((many, course.data.n, len(template.cards)), np.int32)
    at = np.full(many, -1, np.int64)
    for block in reversed(blocks):
        states = _states(course, block, at, many, random)
        for v, place in enumerate(template.at):
            if template.cards[v]:
                codes[:, block.a : block.b, v] = states[place].reshape(-1, many).T
    return codes


def _states(
    course: Course, block: Block, at: np.ndarray, many: int, random: np.random.Generator
) -> dict[int, np.ndarray]:
    """The states drawn for each place of a slice, for each row of the block and each course.

    `at` holds the entry of the frontier that each course has after the block, and gets that before it.
    """
    layout, cards, ops = course.layout, course.layout.cards, course.layout.operations
    n = block.b - block.a
    begins, ends = course.data.begins[block.a : block.b], course.data.ends[block.a : block.b]
    uniform = random.random(n * many * (ops.card.size + 1))
    chosen, frontier = np.zeros(n * many * ops.card.size, np.int32), np.zeros(n * many, np.int64)
    args = (ops, block.g.reshape(-1), block.code, begins, ends, course.first, block.carried)
    course._run(
        "draw_back", *args, block.alpha.reshape(-1), many, at, uniform, chosen, frontier, rows=n * (1 + many)
    )
    shape = [cards[p] for p in layout.outgoing]
    states: dict[int, np.ndarray] = dict(
        zip(layout.outgoing, np.unravel_index(frontier, shape) if shape else (), strict=True)
    )
    by_operation = chosen.reshape(n * many, -1)
    for o, b in enumerate(layout.path[:-1]):
        states[layout.buckets[b].variable] = by_operation[:, o].astype(np.int64)
    on_path, code = set(layout.path), np.repeat(block.code, many)
    local: dict[int, np.ndarray] = {}
    sent: dict[int, Piece] = {}
    for b, bucket in enumerate(layout.buckets):
        if b in on_path:
            continue
        mine = [block.pieces[f] for f in bucket.factors] + [sent[c] for c in bucket.children]
        local[b] = product(mine, bucket.scope, cards)
        sent[b] = bucket.sent, onto((bucket.scope, local[b]), bucket.sent)
    for b in range(len(layout.buckets) - 1, -1, -1):
        if b in on_path:
            continue
        bucket = layout.buckets[b]
        table = np.broadcast_to(local[b], (block.rows.size, *local[b].shape[1:]))
        turned = np.moveaxis(table, bucket.scope.index(bucket.variable) + 1, -1)
        rows = turned[(code, *(states[p] for p in bucket.sent))]
        weights = np.exp(rows - rows.max(axis=-1, keepdims=True))
        sums = np.cumsum(weights, axis=-1)
        drawn = (sums <= random.random(len(sums))[:, None] * sums[:, -1:]).sum(axis=-1)
        last = weights.shape[-1] - 1 - (weights[:, ::-1] > 0.0).argmax(axis=-1)
        states[bucket.variable] = np.minimum(drawn, last)
    return states
