"""Exact sums by search, for models full of zeros."""

from __future__ import annotations

from dataclasses import dataclass

from pgm.inference.engines.options import Engine, Turn
from pgm.inference.trees.needs import SUMS


@dataclass(frozen=True, kw_only=True, slots=True)
class Search(Engine):
    """Search over the states of one variable after another: for models full of zeros.

    >>> import pgm
    >>> net = pgm.load_network("asia")
    >>> round(net.query("lung", {"xray": "yes", "smoke": "yes"}, engine="search")["yes"], 6)
    0.645991
    """

    name = "search"
    module = f"{__name__}.prepared"
    answers = (*SUMS, "plan")
    approximates = False
    turns = dict.fromkeys(SUMS, Turn(1, "needs no tables; its cost shows as it runs", timed=True, zeros=0.5))
