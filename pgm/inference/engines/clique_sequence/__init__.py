"""A sequence of forests of cliques, none larger than a bound."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pgm.inference.engines.options import Engine, number, whole
from pgm.inference.trees.needs import SUMS


@dataclass(frozen=True, kw_only=True, slots=True)
class CliqueSequence(Engine):
    """Exact trees of bounded size, one after the other, that tell each other what they believe.

    For models whose own tree is too large. The larger the trees may be, the less is lost between them; where
    one holds everything the numbers are exact. How far off they are otherwise is not known.

    Args:
        clique_bound: no clique has more than 2**clique_bound entries, but where a table of the model has.
            None: as large as memory allows, and no larger than what takes some seconds.
        iterations: how often beliefs are sent to the last tree and back at most.
        tol: it has converged when no two trees differ by more in what they believe.

    >>> CliqueSequence(clique_bound=12).iterations
    100
    """

    clique_bound: int | None = None
    iterations: int = 100
    tol: float = 1e-6
    name = "clique-sequence"
    module = f"{__name__}.prepared"
    answers = (*SUMS, "plan")
    approximates = True
    takes_soft = False

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        if self.clique_bound is not None:
            whole(self, "clique_bound", 1)
        whole(self, "iterations", 1)
        number(self, "tol", 0.0, math.inf)
