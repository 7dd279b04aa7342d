"""Bounds by weighted mini-buckets."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pgm.inference.engines.options import Engine, number, whole
from pgm.inference.trees.needs import SUMS


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds(Engine):
    """Intervals guaranteed to contain the answer: upper and lower bounds by weighted mini-buckets.

    The probability of the evidence lies between two bounds, every marginal is an interval with a value
    inside, and `map` gives good states with a bound on all others. Stopped early, the bounds are wider but
    still hold.

    Args:
        ibound: a table has at most ibound + 1 variables; larger is tighter and slower. None: as large as
            memory and a few seconds allow.
        iterations: the largest number of sweeps that tighten the bounds.
        tol: stop when sweeps gain less than this, relative to the bounds.

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
