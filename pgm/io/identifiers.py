"""Names as identifiers, for formats whose names are letters, digits and underscores.

A name that is an identifier stays; any other gets one that is like it and that no other name has. The file
keeps the name itself beside it; `stands_for` tells whether it still belongs there after another program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_LONGEST = 60  # letters of a made identifier, before its number
_OTHER = re.compile(r"[^A-Za-z0-9]+")


def identifier(name: str, prefix: str) -> str:
    """Return what is like the name and an identifier.

    >>> identifier("Asy/Patchy", "s"), identifier("<5", "s"), identifier("+", "s")
    ('Asy_Patchy', 's_5', 's')
    """
    if _is_identifier(name):
        return name
    plain = _OTHER.sub("_", name).strip("_")[:_LONGEST]
    if plain and plain[0].isalpha():
        return plain
    return f"{prefix}_{plain}" if plain else prefix


def identifiers(names: Iterable[str], prefix: str) -> dict[str, str]:
    """Return an identifier for each name, no two alike.

    >>> identifiers(["a b", "a_b", "a+b", "0"], "s")
    {'a b': 'a_b_2', 'a_b': 'a_b', 'a+b': 'a_b_3', '0': 's_0'}
    """
    names = list(names)
    taken = {name for name in names if _is_identifier(name)}
    counts: dict[str, int] = {}
    found: dict[str, str] = {}
    for name in names:
        base = made = identifier(name, prefix)
        while made != name and made in taken:
            counts[base] = counts.get(base, 1) + 1
            made = f"{base}_{counts[base]}"
        taken.add(made)
        found[name] = made
    return found


def stands_for(made: str, name: str, prefix: str) -> bool:
    """Tell whether `identifiers` may have made this of the name."""
    base = identifier(name, prefix)
    return made == base or re.fullmatch(re.escape(base) + "_[0-9]+", made) is not None


def _is_identifier(name: str) -> bool:
    return name[:1].isalpha() and all(c == "_" or c.isalpha() or c in "0123456789" for c in name)
