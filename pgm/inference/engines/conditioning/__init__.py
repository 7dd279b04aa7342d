"""Exact answers beyond memory, by conditioning on a cutset."""

from __future__ import annotations

from dataclasses import dataclass

from pgm.inference.engines.options import Engine
from pgm.inference.trees.needs import SUMS


@dataclass(frozen=True, kw_only=True, slots=True)
class Conditioned(Engine):
    """Several runs of a smaller tree, one for each joint state of a cutset: for trees that exceed memory.

    Args:
        variables: the cutset, whose states are fixed in each run; None: as few variables as make the tree
            fit, possibly none.

    >>> import pgm
    >>> net = pgm.load_network("asia")
    >>> engine = Conditioned(variables=["smoke"])
    >>> round(net.query("lung", {"xray": "yes", "bronc": "yes"}, engine=engine)["yes"], 6)
    0.552802
    """

    name = "conditioned"
    module = f"{__name__}.prepared"
    answers = (*SUMS, "plan")
    approximates = False
    variables: tuple[str, ...] | None = None
