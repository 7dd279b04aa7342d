"""The exact engine: message passing on a clique tree."""

from __future__ import annotations

from dataclasses import dataclass

from pgm.inference.engines.options import Engine, Turn
from pgm.inference.trees.needs import SUMS


@dataclass(frozen=True, kw_only=True, slots=True)
class Exact(Engine):
    """Message passing on a clique tree built for the question.

    >>> import pgm
    >>> net = pgm.load_network("asia")
    >>> round(net.query("lung", {"xray": "yes", "smoke": "yes"}, engine="exact")["yes"], 6)
    0.645991
    """

    name = "exact"
    module = f"{__name__}.prepared"
    answers = (*SUMS, "map", "k_best", "marginal MAP", "max_marginals", "sample", "plan")
    approximates = False
    turns = dict.fromkeys(answers, Turn(0, "its cost is known before it begins"))
