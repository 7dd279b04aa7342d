"""Belief propagation on graphs with loops."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from pgm.inference.engines.options import Engine, number, one_of, whole
from pgm.inference.trees.needs import SUMS


@dataclass(frozen=True, kw_only=True, slots=True)
class Loopy(Engine):
    """Belief propagation: factors and variables exchange messages until these no longer change.

    Exact on trees, and reported as exact there; on graphs with loops a good approximation if these are long
    or weak. The probability of the evidence is Bethe's approximation. `map` uses max-product, with a bound.
    If only continuous variables are asked about, messages are normal densities: once they converge the means
    are exact, even with loops.

    Args:
        schedule: "sequential" visits the factors forwards and backwards; "residual" sends the message that
            has changed most; "parallel" sends all at once, in several threads.
        damping: the share of the old message that is kept, from 0 to below 1; more helps convergence.
        max_iter: the largest number of sweeps over all messages.
        tol: converged when no log message changes by more than this.
        trace: keep every message, for teaching: `p.report.trace` is a table of them.

    >>> Loopy(damping=0.5).schedule
    'sequential'
    """

    schedule: Literal["sequential", "residual", "parallel"] = "sequential"
    damping: float = 0.0
    max_iter: int = 500
    tol: float = 1e-8
    trace: bool = False
    name = "loopy"
    module = f"{__name__}.prepared"
    answers = (*SUMS, "map")
    approximates = True

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        one_of(self, "schedule", ("sequential", "residual", "parallel"))
        number(self, "damping", 0.0, 1.0)
        number(self, "tol", 0.0, math.inf)
        whole(self, "max_iter", 1)
