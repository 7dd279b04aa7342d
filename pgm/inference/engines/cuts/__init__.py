"""The most probable states of models for which no tree fits: minimum cuts, and moves based on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pgm.inference.engines.options import Engine, Turn, whole
from pgm.inference.trees.needs import Question


@dataclass(frozen=True, kw_only=True, slots=True)
class Cuts(Engine):
    """Minimum cuts for the most probable states of pairwise binary models; a tree for what they leave.

    Exact. It only answers `map`.

    >>> import pgm
    >>> grid = pgm.MarkovNetwork.grid([[1, 0]], states=[0, 1], coupling=2.0, unary=[[0.9, 0.1], [0.2, 0.8]])
    >>> grid.map(engine="cuts").to_array("pixel")
    array([[1, 1]])
    """

    name = "cuts"
    module = f"{__name__}.prepared"
    answers = ("map",)
    approximates = False
    turns: ClassVar[Mapping[Question, Turn]] = {
        "map": Turn(1, "fix most states of images and the like; a tree may solve what they leave")
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class Expansion(Engine):
    """Expansion moves to one state after another, for the most probable states of pairwise models.

    Not exact, but reports how far off the answer may be. It only answers `map`.

    Args:
        sweeps: the largest number of passes over all states; it stops sooner once no move helps.
        bound_sweeps: the largest number of sweeps that tighten the bound.

    >>> import pgm
    >>> grid = pgm.MarkovNetwork.grid([[1, 0]], states=[0, 1], coupling=2.0, unary=[[0.9, 0.1], [0.2, 0.8]])
    >>> grid.map(engine=Expansion(sweeps=5)).to_array("pixel")
    array([[1, 1]])
    """

    sweeps: int = 20
    bound_sweeps: int = 100
    name = "expansion"
    module = f"{__name__}.prepared"
    answers = ("map",)
    approximates = True

    def __post_init__(self) -> None:
        """Refuse an invalid number of sweeps."""
        whole(self, "sweeps", 1)
        whole(self, "bound_sweeps", 0)
