"""Several engines in turn within a time budget, and the tightest answer."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from pgm.inference.engines.options import Engine, number
from pgm.inference.trees.needs import SUMS


@dataclass(frozen=True, kw_only=True, slots=True)
class Best(Engine):
    """The tightest answer within a few seconds: exact if the plan fits, else the best of several engines.

    If a tree exceeds memory but fits once some variables are conditioned on, that is done. Otherwise a
    sequence of trees, belief propagation, bounds and importance sampling run in turn. Samples, if there are
    enough, show which answer is closest to the truth; guaranteed bounds limit it if they were found in time.

    Args:
        seconds: roughly how long an answer may take.

    >>> Best(seconds=2).seconds
    2
    """

    seconds: float = 10.0
    name = "best"
    module = f"{__name__}.prepared"
    answers = (*SUMS, "map", "k_best", "marginal MAP", "plan")
    approximates = True

    def for_both_sums(self) -> tuple[Best, Best]:
        """Half of the time for each of the two sums."""
        half = replace(self, seconds=self.seconds / 2)
        return half, half

    def __post_init__(self) -> None:
        """Refuse an invalid time."""
        number(self, "seconds", 1e-3, math.inf)
