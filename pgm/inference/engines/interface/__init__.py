"""Dynamic networks by the interface algorithm: what a step hands to the next one is one table (Murphy 2002).

`SliceLayout` says in which order one step is summed; `Course` passes messages along sequences with it. In
this room a frontier is a table over the interface of two steps, and a course a state for each variable in
each step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pgm.inference.engines.interface.courses_given import drawn_courses
from pgm.inference.engines.interface.expected_counts import Expected, expected
from pgm.inference.engines.interface.interface_plan import InterfacePlan, check, check_slice, plan_of
from pgm.inference.engines.interface.most_probable import best_course
from pgm.inference.engines.interface.observed_rows import ObservedRows, Unseen
from pgm.inference.engines.interface.part_tables import Template
from pgm.inference.engines.interface.passes import LOOPS, Block, Course, ImpossibleRow, in_doubles_or_logs
from pgm.inference.engines.interface.slice_layout import SliceLayout
from pgm.runtime.clock import Clock

__all__ = [
    "LOOPS",
    "Course",
    "Expected",
    "ImpossibleRow",
    "InterfacePlan",
    "ObservedRows",
    "SliceLayout",
    "Template",
    "Unseen",
    "check",
    "check_slice",
    "continued",
    "drawn_given",
    "expected",
    "filtered",
    "frontiers",
    "most_probable",
    "plan_of",
    "scores",
    "smoothed",
]


def filtered(
    layout: SliceLayout, data: ObservedRows, wanted: Sequence[int], clock: Clock
) -> tuple[np.ndarray, np.ndarray]:
    """P(variable | rows up to this one), a column for each state, and log P(row | rows before).

    The columns are those of the wanted variables, one after the other.
    """

    def ask(logs: bool) -> tuple[np.ndarray, np.ndarray]:
        course = Course(layout, data, clock, logs)
        values, shares = [], []
        for block in course.walked():
            values.append(course.marginals(block, wanted, None))
            shares.append(block.share)
        return np.concatenate(values), np.concatenate(shares)

    return in_doubles_or_logs(ask)


def smoothed(
    layout: SliceLayout,
    data: ObservedRows,
    wanted: Sequence[int],
    clock: Clock,
    *,
    lag: int | None = None,
    sparing: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """P(variable | all rows of the sequence, or those up to `lag` steps later); otherwise as `filtered`.

    `sparing` keeps the messages of about sqrt(rows) rows and computes the others a second time.
    """

    def ask(logs: bool) -> tuple[np.ndarray, np.ndarray]:
        course = Course(layout, data, clock, logs)
        if lag is not None:
            return _lagged(course, wanted, lag)
        values = np.empty((data.n, sum(layout.cards[layout.template.at[v]] for v in wanted)))
        shares = np.empty(data.n)
        later = np.ones(course.k)
        kept: list[Block | tuple[int, int, np.ndarray]] = []
        for block in course.walked(most=math.isqrt(data.n) + 1 if sparing else data.n):
            shares[block.a : block.b] = block.share
            kept.append((block.a, block.b, block.carried) if sparing else block)
        while kept:
            one = kept.pop()
            if not isinstance(one, Block):
                one = course.prepared(*one)
                course.forward(one)
            beta, later = course.backward(one, later)
            values[one.a : one.b] = course.marginals(one, wanted, beta)
        return values, shares

    return in_doubles_or_logs(ask)


def _lagged(course: Course, wanted: Sequence[int], lag: int) -> tuple[np.ndarray, np.ndarray]:
    values, shares = [], []
    for block, beta, n in course.lagged(lag):
        values.append(course.marginals(block, wanted, beta)[:n])
        shares.append(block.share[:n])
    return np.concatenate(values), np.concatenate(shares)


def scores(layout: SliceLayout, data: ObservedRows, clock: Clock) -> np.ndarray:
    """Log P(row | rows before)."""
    return filtered(layout, data, (), clock)[1]


def frontiers(layout: SliceLayout, data: ObservedRows, clock: Clock) -> np.ndarray:
    """The frontier after the last row of each sequence, (sequences, entries)."""

    def ask(logs: bool) -> np.ndarray:
        course, found = Course(layout, data, clock, logs), []
        for block in course.walked():
            found.append(block.alpha[data.ends[block.a : block.b] != 0])
        every = np.concatenate(found)
        return np.asarray(np.exp(every) if logs else every)

    return in_doubles_or_logs(ask)


def continued(
    layout: SliceLayout, data: ObservedRows, wanted: Sequence[int], carried: np.ndarray | None, clock: Clock
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`filtered` for rows after others, which left the frontier `carried`; and the frontier at their end."""

    def ask(logs: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        course = Course(layout, data, clock, logs, carried)
        values, shares, last = [], [], course.start()
        for block in course.walked():
            values.append(course.marginals(block, wanted, None))
            shares.append(block.share)
            last = block.alpha[-1]
        after = np.array(np.exp(last) if logs else last)
        return np.concatenate(values), np.concatenate(shares), after

    return in_doubles_or_logs(ask)


def most_probable(layout: SliceLayout, data: ObservedRows, clock: Clock) -> tuple[np.ndarray, np.ndarray]:
    """The codes of the most probable course, (rows, variables), and log P(course, rows) of each sequence.

    The layout must be made for maxima: `SliceLayout(..., best=True)`.
    """
    return best_course(Course(layout, data, clock, logs=True))


def drawn_given(
    layout: SliceLayout, data: ObservedRows, many: int, random: np.random.Generator, clock: Clock
) -> np.ndarray:
    """The codes of all variables in `many` courses drawn given all rows, (courses, rows, variables)."""
    return drawn_courses(Course(layout, data, clock, logs=True), many, random)
