"""Variational inference with independent distributions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from pgm.inference.engines.options import Engine, lists_of_names, number, seeded, whole
from pgm.inference.trees.needs import SUMS


@dataclass(frozen=True, kw_only=True, slots=True)
class MeanField(Engine):
    """The fully factorised distribution closest to the model: a guaranteed lower bound on log P(given).

    Args:
        restarts: the number of starting points; the first is uniform, and the best answer is kept.
        structured: blocks, lists of variables that stay dependent on each other; the exact engine works
            inside each block, so blocks must fit it. Variables in no block are independent.
        max_iter: the largest number of sweeps over all distributions, from each start.
        tol: converged when the bound rises by less than this.
        seed: for the starting points.

    >>> MeanField(structured=[["rain", "wet"]]).structured
    (('rain', 'wet'),)
    """

    restarts: int = 5
    structured: Iterable[Iterable[str]] = ()
    max_iter: int = 1000
    tol: float = 1e-9
    seed: int = 0
    name = "mean-field"
    module = f"{__name__}.prepared"
    answers = SUMS
    approximates = True

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        whole(self, "restarts", 1)
        whole(self, "max_iter", 1)
        seeded(self)
        number(self, "tol", 0.0, math.inf)
        lists_of_names(self, "structured")
