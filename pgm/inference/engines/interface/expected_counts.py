"""Expected counts along sequences: how often each entry of each table is used, given the evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pgm.inference.engines.interface.log_tables import logs_of, onto
from pgm.inference.engines.interface.observed_rows import ObservedRows
from pgm.inference.engines.interface.passes import Block, Course, in_doubles_or_logs
from pgm.inference.engines.interface.slice_layout import SliceLayout
from pgm.runtime.clock import Clock
from pgm.runtime.running import Narrow

_FLOATS = 1 << 22  # held at once
_PAIRS = 64  # of frontier entries, up to which counts may be added up by patterns


@dataclass(frozen=True, eq=False)
class Expected:
    """What EM needs from `layout.fixed` and `layout.of_rows`, an array for each of their tables."""

    fixed: list[np.ndarray]  # (kinds of steps, states...): expected counts
    of_rows: list[np.ndarray]  # (rows, states...): the posterior of the states in each row
    logs: np.ndarray  # log P(row | rows before)


def expected(layout: SliceLayout, data: ObservedRows, weight: np.ndarray, clock: Clock) -> Expected:
    """Add up expected counts, each row with its weight."""

    def ask(logs: bool) -> Expected:
        course = Course(layout, data, clock, logs)
        found = Expected(
            [np.zeros(one.logs.shape) for one in layout.fixed],
            [np.empty((data.n, *[layout.cards[p] for p in one.scope])) for one in layout.of_rows],
            np.empty(data.n),
        )
        later = np.ones(course.k)
        for block in reversed(list(course.walked())):
            found.logs[block.a : block.b] = block.share
            beta, later = course.backward(block, later)
            if not _by_patterns(course, block, beta, weight, found):
                _row_by_row(course, block, beta, weight, found)
        return found

    return in_doubles_or_logs(ask)


def _by_patterns(course: Course, block: Block, beta: np.ndarray, weight: np.ndarray, found: Expected) -> bool:
    """Count each pattern between each pair of frontier entries; False if there are too many pairs."""
    k, count = course.k, block.rows.size
    pairs = k * k
    if course.logs or found.of_rows or pairs > _PAIRS or count * pairs > (block.b - block.a) // 2:
        return False
    eye = logs_of(np.eye(k))
    code = np.repeat(np.arange(count), pairs)
    past, future = np.tile(np.repeat(eye, k, axis=0), (count, 1)), np.tile(eye, (count * k, 1))
    buckets = set(range(len(course.layout.buckets)))
    beliefs = course.beliefs(block, code, past, future, buckets)
    root = beliefs[len(beliefs) - 1]
    total = root.reshape(root.shape[0], -1).max(axis=1)
    total[total == -np.inf] = 0.0
    total += np.log(np.maximum(np.exp(root.reshape(len(total), -1) - total[:, None]).sum(axis=1), 1e-300))
    total = np.where(np.isneginf(root.reshape(len(total), -1)).all(axis=1), -np.inf, total).reshape(
        count, pairs
    )
    before = course.before(block)
    joint = (before[:, :, None] * beta[:, None, :]).reshape(-1, pairs)
    often = np.empty((count, pairs))
    for pattern in range(count):
        rows = np.flatnonzero(block.code == pattern)
        most = total[pattern].max()
        least = np.where(np.isneginf(total[pattern]), most, total[pattern]).min()
        if most == -np.inf or least - most < -250.0:
            return False
        share = joint[rows] @ np.exp(total[pattern] - most)
        if not (share > 0.0).all():
            raise Narrow
        often[pattern] = logs_of((weight[block.a + rows] / share) @ joint[rows]) - most
    _add(course, block, code, beliefs, often.reshape(-1), found)
    return True


def _row_by_row(course: Course, block: Block, beta: np.ndarray, weight: np.ndarray, found: Expected) -> None:
    layout = course.layout
    past, future = course.before(block), beta
    if not course.logs:
        past, future = logs_of(past), logs_of(future)
    size = max(1, _FLOATS // max(layout.entries, 1))
    root = len(layout.buckets) - 1
    for a in range(0, block.b - block.a, size):
        course.clock.check("adding up expected counts")
        some = slice(a, min(a + size, block.b - block.a))
        code = block.code[some]
        beliefs = course.beliefs(block, code, past[some], future[some], set(range(root + 1)))
        table = beliefs[root].reshape(code.size, -1)
        most = table.max(axis=1)
        if (most == -np.inf).any():
            raise Narrow
        total = most + np.log(np.exp(table - most[:, None]).sum(axis=1))
        each = logs_of(weight[block.a + a : block.a + a + code.size]) - total
        _add(course, block, code, beliefs, each, found)
        for i, one in enumerate(layout.of_rows):
            f = len(layout.fixed) + i
            b = next(b for b, bucket in enumerate(layout.buckets) if f in bucket.factors)
            own = onto((layout.buckets[b].scope, beliefs[b]), one.scope)
            own = own - total.reshape(-1, *[1] * len(one.scope))
            found.of_rows[i][block.a + a : block.a + a + code.size] = np.exp(own)


def _add(
    course: Course,
    block: Block,
    code: np.ndarray,
    beliefs: dict[int, np.ndarray],
    weight: np.ndarray,
    found: Expected,
) -> None:
    """Add up the beliefs of all tables, each row with the weight whose logarithm is given."""
    layout = course.layout
    kinds = course.data.kind[block.rows[code]]
    for b, bucket in enumerate(layout.buckets):
        for f in bucket.factors:
            if f >= len(layout.fixed):
                continue
            one = layout.fixed[f]
            own = onto((bucket.scope, beliefs[b]), one.scope)
            counts = np.exp(own + weight.reshape(-1, *[1] * len(one.scope)))
            for kind in np.unique(kinds).tolist():
                found.fixed[f][kind] += counts[kinds == kind].sum(axis=0)
