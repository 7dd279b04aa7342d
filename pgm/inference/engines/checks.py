"""What options of engines must be."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from pgm.errors import InvalidArgument, nearest, shown
from pgm.randomness import fixed_seed


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
