"""How a structure is searched for. A name such as "tabu" stands for an object with options.

SEARCHES is the only list of them. A search needs a class here, and a module with a function
`search(options, problem)` that returns a `Found`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pgm.errors import InvalidArgument, nearest, shown

if TYPE_CHECKING:
    from .searching.found import Found
    from .searching.problem import Problem


class Search:
    """Options of a search; what does not depend on them is a class attribute."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]
    name: ClassVar[str]
    module: ClassVar[str]  # below pgm.learning.searching; imported when first used
    scores: ClassVar[bool] = True  # whether it goes by a score
    target: str | None = None  # the node that it is about, where it is about one

    def find(self, problem: Problem) -> Found:
        """Search."""
        found: Found = import_module(f"pgm.learning.searching.{self.module}").search(self, problem)
        return found


def _whole(search: Any, **least: int) -> None:
    """Refuse options that are not whole numbers, or too small."""
    for name, low in least.items():
        value = getattr(search, name)
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
            raise InvalidArgument(f"{name} is a whole number of at least {low}, not {shown(value)}.")


@dataclass(frozen=True, slots=True)
class HillClimb(Search):
    """Greedy search: the best change of one arc (added, removed, reversed), as long as the score grows.

    Args:
        restarts: how often it begins again, at the best network with some random changes.
        changes: how many random changes; a tenth of the nodes, at least 4, if left out.
        max_steps: the most changes in all.

    >>> HillClimb(restarts=5)
    HillClimb(restarts=5, changes=None, max_steps=None)
    """

    restarts: int = 0
    changes: int | None = None
    max_steps: int | None = None
    name: ClassVar[str] = "hill-climb"
    module: ClassVar[str] = "greedy"

    def __post_init__(self) -> None:
        """Check the options."""
        _whole(self, restarts=0, **_given(self, changes=1, max_steps=0))


@dataclass(frozen=True, slots=True)
class Tabu(Search):
    """Greedy search that goes on, downhill too, and leaves what it changed alone for a while (Glover 1989).

    Args:
        tenure: for how many steps a pair of nodes stays as it is after a change.
        patience: after how many steps without a new best it ends.
        restarts: how often it begins again, at the best network with some random changes.
        changes: how many random changes; a tenth of the nodes, at least 4, if left out.
        max_steps: the most changes in all.

    >>> Tabu(tenure=20).name
    'tabu'
    """

    tenure: int = 10
    patience: int = 15
    restarts: int = 0
    changes: int | None = None
    max_steps: int | None = None
    name: ClassVar[str] = "tabu"
    module: ClassVar[str] = "greedy"

    def __post_init__(self) -> None:
        """Check the options."""
        _whole(self, tenure=1, patience=1, restarts=0, **_given(self, changes=1, max_steps=0))


def _given(search: Any, **least: int) -> dict[str, int]:
    return {name: low for name, low in least.items() if getattr(search, name) is not None}


SEARCHES: dict[str, type[Search]] = {kind.name: kind for kind in (HillClimb, Tabu)}


def find_search(search: str | Search) -> Search:
    """The search of this name.

    >>> find_search("hill-climb")
    HillClimb(restarts=0, changes=None, max_steps=None)
    """
    if isinstance(search, Search):
        return search
    if isinstance(search, str) and search in SEARCHES:
        return SEARCHES[search]()
    passed: object = search
    if isinstance(passed, type) and issubclass(passed, Search):
        name = passed.__name__
        raise InvalidArgument(f"search= takes a search, and {name} is the class of one: write {name}().")
    names = ", ".join(map(repr, SEARCHES))
    raise InvalidArgument(f"search={shown(search)} is not one of {names}.{nearest(search, SEARCHES)}")
