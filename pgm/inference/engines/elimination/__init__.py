"""Exact answers by variable elimination."""

from __future__ import annotations

from dataclasses import dataclass

from pgm.inference.engines.options import Engine
from pgm.inference.trees.needs import SUMS


@dataclass(frozen=True, kw_only=True, slots=True)
class Elimination(Engine):
    """Variable elimination in logarithms: slow, written as a reference to check other engines against.

    >>> import pgm
    >>> net = pgm.load_network("asia")
    >>> round(net.query("lung", {"xray": "yes", "smoke": "yes"}, engine="elimination")["yes"], 6)
    0.645991
    """

    name = "elimination"
    module = f"{__name__}.prepared"
    answers = (*SUMS, "plan")
    approximates = False
