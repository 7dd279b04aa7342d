"""The most probable states by bounds, and by a search that bounds guide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pgm.inference.engines.options import Engine, Turn, seeded, whole
from pgm.inference.trees.needs import Question


@dataclass(frozen=True, kw_only=True, slots=True)
class Srmp(Engine):
    """A bound on the most probable states by moving costs between factors, and good states from it.

    Takes any factors and any number of states. It only answers `map`; an answer that meets the bound is
    exact.

    Args:
        sweeps: the largest number of passes that move all costs; it stops sooner when the bound gains little.
        moves: how often some variables are freed and optimised again with the others fixed.
        seed: for choosing the variables that are freed.

    >>> Srmp(sweeps=50).moves
    300
    """

    sweeps: int = 200
    moves: int = 300
    seed: int = 0
    name = "srmp"
    module = f"{__name__}.prepared"
    answers = ("map",)
    approximates = True
    takes_soft = False

    def __post_init__(self) -> None:
        """Refuse invalid options."""
        whole(self, "sweeps", 1)
        whole(self, "moves", 0)
        seeded(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class BranchAndBound(Engine):
    """The most probable states by search with the bounds of "srmp": exact if it runs to the end.

    Under a time limit it returns the best states so far with a bound on all others. It only answers `map` and
    `k_best`. HiGHS helps with small problems; what it proves in floating point is a bound and not `exact`.

    Args:
        seed: for the moves that improve the states meanwhile.

    >>> BranchAndBound(seed=1).seed
    1
    """

    seed: int = 0
    name = "branch-and-bound"
    module = f"{__name__}.prepared"
    answers = ("map", "k_best")
    approximates = True
    turns: ClassVar[Mapping[Question, Turn]] = {
        "map": Turn(2, "takes any factors, but may not end: what it finds counts if it is proven"),
        "k_best": Turn(1, "ranks answers without a tree; all must be proven"),
    }
    takes_soft = False

    def __post_init__(self) -> None:
        """Refuse an invalid seed."""
        seeded(self)
