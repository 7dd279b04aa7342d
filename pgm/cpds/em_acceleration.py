"""Expectation maximisation, accelerated: SQUAREM extrapolates from two steps once steps are small."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pgm.errors import ConvergenceWarning, warn
from pgm.runtime.clock import start_clock

from .table_input import Array

_MOST_STEPS = 20_000
_STILL = 1e-13  # a gain in log-likelihood per unit of weight that is mere rounding


def maximise(name: str, step: Callable[[Array], tuple[Array, float]], start: Array, total: float) -> Array:
    """Repeat a step of EM until the likelihood converges.

    Two consecutive steps are extrapolated (SQUAREM, Varadhan & Roland 2008). The extrapolation is
    kept only if it does not lower the likelihood, which thus never falls. Rows that sum to one still do,
    and a zero stays a zero.

    Args:
        name: of the child, for the warning.
        step: one step of EM, from parameters to better ones and the log-likelihood of those given.
        start: where to begin.
        total: the weight of the data.
    """
    clock = start_clock()
    now, steps = start, 0
    while steps < _MOST_STEPS:
        clock.check()
        once, value = step(now)
        twice, better = step(once)
        steps += 2
        if better - value <= _STILL * total:
            return once
        first = once - now
        bend = twice - once - first
        size = float(np.sqrt((bend * bend).sum()))
        now = twice
        if size > 0.0:
            stride = max(1.0, float(np.sqrt((first * first).sum())) / size)
            far = once - first + 2.0 * stride * first + stride * stride * bend
            if ((far > 0.0) | (twice == 0.0)).all():
                beyond, reached = step(far)
                steps += 1
                if reached >= better:
                    now = beyond
    text = f"{name!r}: EM has not converged after {_MOST_STEPS:,} steps; fit again from its result."
    warn(text, ConvergenceWarning)
    return now
