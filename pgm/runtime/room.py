"""Memory about to be allocated is first compared with the limit; and sizes as text."""

from __future__ import annotations

from pgm.config import memory_limit
from pgm.errors import TooLarge


def size_of(number: float) -> str:
    """A count of bytes as text, with a unit.

    >>> size_of(2.5e6)
    '2.5 MB'
    """
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= scale:
            return f"{number / scale:,.1f} {unit}" if number < 1e15 else f"{number / scale:.1g} {unit}"
    return f"{number:.0f} bytes"


def check_room(needed: float, taken_by: str, remedy: str = "") -> None:
    """Raise `TooLarge` if this many bytes are more than the memory limit allows.

    Args:
        needed: the bytes, of all arrays that exist at one time.
        taken_by: the beginning of a sentence, up to its verb: "A grid of 100 pixels takes".
        remedy: what the user can do besides raising the limit, the beginning of a sentence: "Observe more".

    >>> from pgm.config import config
    >>> with config(memory_limit="1 MB"):
    ...     check_room(2.5e6, "A grid of 50,000 pixels takes", "Take fewer")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    pgm.errors.TooLarge: A grid of 50,000 pixels takes about 2.5 MB, and 1.0 MB are allowed. ...
    """
    limit = memory_limit()
    if needed > limit:
        raise too_large(needed, limit, taken_by, remedy)


def too_large(needed: float, limit: float, taken_by: str, remedy: str = "") -> TooLarge:
    """The error of `check_room`, for callers that compare the sizes themselves."""
    more = f"{remedy}, or allow" if remedy else "Allow"
    return TooLarge(
        f"{taken_by} about {size_of(needed)}, and {size_of(limit)} are allowed. {more} more with "
        "pgm.set_config(memory_limit=...)."
    )
