"""The most probable states by bounds, and by search with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pgm.inference.engines.options import Engine, Turn, seeded, whole
from pgm.inference.trees.needs import Question


@dataclass(frozen=True, kw_only=True, slots=True)
class Srmp(Engine):
    """A bound on the most probable states by moving costs between factors, and good states from it.

    Any factors and any numbers of states. Only `map` can be asked; its answer is exact if it meets the
    bound.

    Args:
        sweeps: how often all costs are moved at most; it stops sooner when the bound gains little.
        moves: how often some variables are freed and solved again beside the others.
        seed: of which variables are freed.

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
        """Refuse what is no number of sweeps."""
        whole(self, "sweeps", 1)
        whole(self, "moves", 0)
        seeded(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class BranchAndBound(Engine):
    """The most probable states by search, with the bounds of "srmp": exact when it ends.

    Under a time limit it returns the best states so far with a bound on all others. Only `map` and `k_best`
    can be asked. HiGHS helps with small problems: what it proves in floating point is a bound, not `exact`.

    Args:
        seed: of the moves that improve the states meanwhile.

    >>> BranchAndBound(seed=1).seed
    1
    """

    seed: int = 0
    name = "branch-and-bound"
    module = f"{__name__}.prepared"
    answers = ("map", "k_best")
    approximates = True
    turns: ClassVar[Mapping[Question, Turn]] = {
        "map": Turn(2, "takes any factors, but may not end: what it finds counts where it is proven"),
        "k_best": Turn(1, "ranks answers without a tree; all must be proven"),
    }
    takes_soft = False

    def __post_init__(self) -> None:
        """Refuse what is no seed."""
        seeded(self)
