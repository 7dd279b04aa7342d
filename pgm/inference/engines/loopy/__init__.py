"""Belief propagation on graphs with loops."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from pgm.inference.engines.options import Engine, number, one_of, whole
from pgm.inference.trees.needs import SUMS


@dataclass(frozen=True, kw_only=True, slots=True)
class Loopy(Engine):
    """Belief propagation: factors and variables send each other messages until these no longer change.

    Exact on trees, and said to be exact there; on graphs with loops good where these are long or weak. The
    probability of the evidence is Bethe's. `map` sends maxima, and has a bound. Asked about numbers alone it
    sends normal densities: their means are right as soon as messages rest, even with loops.

    Args:
        schedule: "sequential" goes over the factors forwards and backwards; "residual" sends where most has
            changed; "parallel" sends all at once, by several threads.
        damping: the share of the old message that stays, from 0 to below 1; with more of it more converges.
        max_iter: how often all messages are sent at most.
        tol: it has converged when no logarithm of a message changes by more.
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
