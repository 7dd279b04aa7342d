"""A sequence of forests of cliques, none larger than a bound."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pgm.inference.engines.options import Engine, number, whole
from pgm.inference.trees.needs import SUMS


@dataclass(frozen=True, kw_only=True, slots=True)
class CliqueSequence(Engine):
    """A sequence of exact trees of bounded size that exchange beliefs.

    For models whose own tree is too large. The larger the trees may be, the less is lost between them; if one
    tree holds everything, the answers are exact. Otherwise their error is unknown.

    Args:
        clique_bound: no clique has more than 2**clique_bound entries unless a table of the model does. None:
            as large as memory and a few seconds allow.
        iterations: the largest number of round trips of beliefs to the last tree and back.
        tol: converged when no two trees' beliefs differ by more than this.

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
