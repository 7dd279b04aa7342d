"""Several engines in turn within a time, and the tightest answer."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from pgm.inference.engines.options import Engine, number
from pgm.inference.trees.needs import SUMS


@dataclass(frozen=True, kw_only=True, slots=True)
class Best(Engine):
    """Whatever gives the tightest answer in some seconds: exact where the plan fits, else several others.

    Where a tree does not fit the memory, but does with some variables conditioned on, that is done.
    A sequence of trees, belief propagation, bounds and importance sampling are asked in turn. Samples tell
    which answer is nearest to the truth, where there are enough; guaranteed bounds limit it wherever they
    were found in time.

    Args:
        seconds: how long it may take, about.

    >>> Best(seconds=2).seconds
    2
    """

    seconds: float = 10.0
    name = "best"
    module = f"{__name__}.prepared"
    answers = (*SUMS, "map", "k_best", "marginal MAP", "plan")
    approximates = True

    def for_both_sums(self) -> tuple[Best, Best]:
        """Half of the time for each."""
        half = replace(self, seconds=self.seconds / 2)
        return half, half

    def __post_init__(self) -> None:
        """Refuse what is no time."""
        number(self, "seconds", 1e-3, math.inf)
