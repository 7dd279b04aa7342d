"""Bounds by weighted mini-buckets."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pgm.inference.engines.options import Engine, number, whole
from pgm.inference.trees.needs import SUMS


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds(Engine):
    """Intervals that surely hold the answer: weighted mini-buckets, from above and from below.

    The evidence has its probability between two bounds, every marginal is an interval with a value inside,
    and `map` gives good states with a bound on all others. Stopped early, bounds are wider and still hold.

    Args:
        ibound: a table has at most one variable more; the larger, the tighter and the slower. None: as large
            as memory allows, and no larger than what takes some seconds.
        iterations: how often the bounds are tightened at most.
        tol: it stops when they gain less, relative to them.

    >>> Bounds(ibound=8).iterations
    100
    """

    ibound: int | None = None
    iterations: int = 100
    tol: float = 1e-6
    name = "bounds"
    module = f"{__name__}.prepared"
    answers = (*SUMS, "map", "marginal MAP", "plan")
    approximates = True
    takes_soft = False

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        if self.ibound is not None:
            whole(self, "ibound", 1)
        whole(self, "iterations", 0)
        number(self, "tol", 0.0, math.inf)
