"""Names as identifiers, for formats whose names are letters, digits and underscores.

A name that is an identifier stays; any other gets a similar one that is unique. The file
also keeps the name itself; `stands_for` tells whether the two still match after another program's edits.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

_LONGEST = 60  # letters of a derived identifier, before its number
_OTHER = re.compile(r"[^A-Za-z0-9]+")


def identifier(name: str, prefix: str, keywords: Container[str] | None = None) -> str:
    """Return an identifier similar to the name; if there are keywords, one as in C.

    >>> identifier("Asy/Patchy", "s"), identifier("<5", "s"), identifier("+", "s"), identifier("é", "s")
    ('Asy_Patchy', 's_5', 's', 'é')
    >>> identifier("node", "n", {"node"}), identifier("é", "n", {"node"})
    ('n_node', 'n')
    """
    known = () if keywords is None else keywords
    if _is_identifier(name) and name not in known and (keywords is None or name.isascii()):
        return name
    plain = _OTHER.sub("_", name).strip("_")[:_LONGEST]
    if plain and plain[0].isalpha() and plain not in known:
        return plain
    return f"{prefix}_{plain}" if plain else prefix


def identifiers(names: Iterable[str], prefix: str, keywords: Container[str] | None = None) -> dict[str, str]:
    """Return a unique identifier for each name.

    >>> identifiers(["a b", "a_b", "a+b", "0"], "s")
    {'a b': 'a_b_2', 'a_b': 'a_b', 'a+b': 'a_b_3', '0': 's_0'}
    """
    names = list(names)
    likes = [identifier(name, prefix, keywords) for name in names]
    taken = {name for name, like in zip(names, likes, strict=True) if name == like}
    counts: dict[str, int] = {}
    found: dict[str, str] = {}
    for name, base in zip(names, likes, strict=True):
        made = base
        while made != name and made in taken:
            counts[base] = counts.get(base, 1) + 1
            made = f"{base}_{counts[base]}"
        taken.add(made)
        found[name] = made
    return found


def stands_for(made: str, name: str, prefix: str, keywords: Container[str] | None = None) -> bool:
    """Tell whether `identifiers` may have derived this from the name."""
    base = identifier(name, prefix, keywords)
    return made == base or re.fullmatch(re.escape(base) + "_[0-9]+", made) is not None


def _is_identifier(name: str) -> bool:
    return name[:1].isalpha() and all(c == "_" or c.isalpha() or c in "0123456789" for c in name)
