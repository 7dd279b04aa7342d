"""What every engine says of itself, and what its options must be.

An engine is a class of options in the `__init__.py` of its folder, which imports none of its code. It
says which questions it `answers`; whether it `approximates`; in which `module` its `prepare` is; whether it
`takes_soft`, evidence that prescribes marginals; whether it `takes_scores`, states that depend on hidden
continuous variables; and, by its `turns`, for which questions "auto" asks it, and when. All other evidence
every engine takes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from pgm.errors import InvalidArgument, nearest, shown
from pgm.inference.trees.needs import Question
from pgm.randomness import fixed_seed


class Turn(NamedTuple):
    """When "auto" asks an engine for an answer: after those of a lower rank, where no tree fits."""

    rank: int  # 0 is asked first
    why: str
    timed: bool = False  # only under a time limit, for what it costs is not known before
    zeros: float = 0.0  # only where so large a part of the tables has zeros


class Engine:
    """Options of an engine; what does not depend on them is said by the class."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]  # every one is a frozen dataclass
    name: ClassVar[str]
    module: ClassVar[str]  # which has its `prepare`; imported when first used
    answers: ClassVar[tuple[Question, ...]]
    approximates: ClassVar[bool]
    takes_soft: ClassVar[bool] = True
    takes_scores: ClassVar[bool] = False
    turns: ClassVar[Mapping[Question, Turn]] = {}  # of "auto"; without any it is asked by name alone

    def for_both_sums(self) -> tuple[Engine, Engine]:
        """Who finds the two sums of a quotient: in the time of one, and with errors that are independent."""
        return self, self


def whole(engine: object, name: str, least: int) -> None:
    """Refuse an option that is no whole number, or too small a one."""
    value = getattr(engine, name)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidArgument(f"{name} is a whole number of at least {least}, not {shown(value)}.")


def seeded(engine: object) -> None:
    """Refuse a seed that is none; keep it as an int."""
    object.__setattr__(engine, "seed", fixed_seed(getattr(engine, "seed")))  # noqa: B009 (any engine with a seed)


def number(engine: object, name: str, least: float, below: float) -> None:
    """Refuse an option that is no number, or out of range."""
    value = getattr(engine, name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value < below:
        upper = f" and below {below:g}" if below < math.inf else ""
        raise InvalidArgument(f"{name} is a number of at least {least:g}{upper}, not {shown(value)}.")


def one_of(engine: object, name: str, known: Sequence[str]) -> None:
    """Refuse an option that is none of these words."""
    value = getattr(engine, name)
    if not isinstance(value, str) or value not in known:
        words = ", ".join(map(repr, known))
        raise InvalidArgument(f"{name}={shown(value)} is not one of {words}.{nearest(value, known)}")


def lists_of_names(engine: object, name: str) -> None:
    """Refuse an option that is not lists of names; keep it as tuples."""
    value = getattr(engine, name)
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidArgument(f"{name}= takes lists of names, not {shown(value)}.")
    lists = []
    for one in value:
        if isinstance(one, str) or not isinstance(one, Iterable):
            raise InvalidArgument(f"{name}= takes lists of names; one of these is {shown(one)}.")
        lists.append(tuple(one))
    object.__setattr__(engine, name, tuple(lists))
