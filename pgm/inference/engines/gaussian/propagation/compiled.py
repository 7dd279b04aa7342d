"""Gaussian belief propagation: messages between noisy linear equations and their variables. The loops.

A message is a normal density of one variable, as its precision and its precision times its mean; a precision
of 0 carries no information. The message to an equation is the sum of the other equations' messages: nothing
is subtracted, so nothing cancels.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pgm.runtime.kinds import Flag, Floats, FloatTable, Ints

if TYPE_CHECKING:
    from pgm.inference.engines.gaussian.propagation import Equations

DONE, STOPPED = 0, 1  # as in pgm/inference/trees/sweeps/compiled.py
_LOOK = 4096  # products between two looks at the stop flag


def _receive(e, v, damping, sent, down):
    """The messages of all equations to v, from those of their other variables; returns the work done."""
    work = 0
    for i in range(e.user_at[v], e.user_at[v + 1]):
        at = e.users[i]
        f = e.owner[at]
        begin, end = e.scope_at[f], e.scope_at[f + 1]
        work += end - begin
        spread, rest, silent = 1.0, e.right[f], False
        for a in range(begin, end):
            if a == at:
                continue
            if sent[a, 0] <= 0.0:
                silent = True
                break
            spread += e.left[a] * e.left[a] / sent[a, 0]
            rest -= e.left[a] * (sent[a, 1] / sent[a, 0])
        precision = 0.0 if silent else e.left[at] * e.left[at] / spread
        weighted = 0.0 if silent else e.left[at] * rest / spread
        down[at, 0] = damping * down[at, 0] + (1.0 - damping) * precision
        down[at, 1] = damping * down[at, 1] + (1.0 - damping) * weighted
    return work


def _send(e, v, down, sent, belief):
    """The messages of v to its equations; returns how far its belief moved, in standard deviations."""
    begin, end = e.user_at[v], e.user_at[v + 1]
    precision, weighted = 0.0, 0.0
    for i in range(begin, end):
        at = e.users[i]
        sent[at, 0], sent[at, 1] = precision, weighted
        precision += down[at, 0]
        weighted += down[at, 1]
    before, before_weighted = belief[v, 0], belief[v, 1]
    belief[v, 0], belief[v, 1] = precision, weighted
    precision, weighted = 0.0, 0.0
    for i in range(end - 1, begin - 1, -1):
        at = e.users[i]
        sent[at, 0] += precision
        sent[at, 1] += weighted
        precision += down[at, 0]
        weighted += down[at, 1]
    if belief[v, 0] <= 0.0:
        return 1.0  # no message has arrived yet
    if before <= 0.0:
        return 1.0
    moved = abs(belief[v, 1] / belief[v, 0] - before_weighted / before) * math.sqrt(belief[v, 0])
    return max(moved, abs(1.0 - math.sqrt(before / belief[v, 0])))


def sweep(
    e: Equations,
    order: Ints,
    at_once: bool,
    damping: float,
    down: FloatTable,
    sent: FloatTable,
    belief: FloatTable,
    out: Floats,
    stop: Flag,
):
    """Each variable in turn receives from its equations and sends; `at_once`: all receive before any send."""
    most, work = 0.0, 0
    for k in range(order.size):
        work += _receive(e, order[k], damping, sent, down)
        if not at_once:
            most = max(most, _send(e, order[k], down, sent, belief))
        if work > _LOOK:
            work = 0
            if stop[0] != 0:
                return STOPPED
    if at_once:
        for k in range(order.size):
            most = max(most, _send(e, order[k], down, sent, belief))
    out[0] = most
    return DONE
