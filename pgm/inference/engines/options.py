"""What every engine declares about itself, and checks of its options.

An engine is a class of options in the `__init__.py` of its folder, which imports none of its code. It
declares which questions it `answers`; whether it `approximates`; which `module` holds its `prepare`; whether
it `takes_soft`, evidence that prescribes marginals; whether it `takes_scores`, states that depend on hidden
continuous variables; and, in `turns`, for which questions "auto" asks it, and when. Every engine takes all
other kinds of evidence.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from pgm.errors import InvalidArgument, nearest, shown
from pgm.inference.trees.needs import Question
from pgm.randomness import fixed_seed


class Turn(NamedTuple):
    """When "auto" asks an engine: if no tree fits, after those of a lower rank."""

    rank: int  # 0 is asked first
    why: str
    timed: bool = False  # only under a time limit, because its cost is not known in advance
    zeros: float = 0.0  # only if at least this share of the tables has zeros


class Engine:
    """Options of an engine; what does not depend on them is a class attribute."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]  # every one is a frozen dataclass
    name: ClassVar[str]
    module: ClassVar[str]  # the module with its `prepare`; imported when first used
    answers: ClassVar[tuple[Question, ...]]
    approximates: ClassVar[bool]
    takes_soft: ClassVar[bool] = True
    takes_scores: ClassVar[bool] = False
    turns: ClassVar[Mapping[Question, Turn]] = {}  # in "auto"; without any, the engine runs only by name

    def for_both_sums(self) -> tuple[Engine, Engine]:
        """The engines for the two sums of a quotient: together in the time of one, errors independent."""
        return self, self


def whole(engine: object, name: str, least: int) -> None:
    """Refuse an option that is not an integer, or too small."""
    value = getattr(engine, name)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidArgument(f"{name} is a whole number of at least {least}, not {shown(value)}.")


def seeded(engine: object) -> None:
    """Refuse an invalid seed; keep a valid one as an int."""
    object.__setattr__(engine, "seed", fixed_seed(getattr(engine, "seed")))  # noqa: B009 (any engine with a seed)


def number(engine: object, name: str, least: float, below: float) -> None:
    """Refuse an option that is not a number, or out of range."""
    value = getattr(engine, name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value < below:
        upper = f" and below {below:g}" if below < math.inf else ""
        raise InvalidArgument(f"{name} is a number of at least {least:g}{upper}, not {shown(value)}.")


def one_of(engine: object, name: str, known: Sequence[str]) -> None:
    """Refuse an option that is not one of these words."""
    value = getattr(engine, name)
    if not isinstance(value, str) or value not in known:
        words = ", ".join(map(repr, known))
        raise InvalidArgument(f"{name}={shown(value)} is not one of {words}.{nearest(value, known)}")


def lists_of_names(engine: object, name: str) -> None:
    """Refuse an option that does not consist of lists of names; keep it as tuples."""
    value = getattr(engine, name)
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidArgument(f"{name}= takes lists of names, not {shown(value)}.")
    lists = []
    for one in value:
        if isinstance(one, str) or not isinstance(one, Iterable):
            raise InvalidArgument(f"{name}= takes lists of names, and {shown(one)} is not a list.")
        lists.append(tuple(one))
    object.__setattr__(engine, name, tuple(lists))
