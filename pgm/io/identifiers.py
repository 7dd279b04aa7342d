"""Names for formats whose names are identifiers as in C: made of a true name, and never the same for two."""

from __future__ import annotations

import re
from collections.abc import Iterable

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OTHER = re.compile(r"[^A-Za-z0-9_]")


def identifiers(names: Iterable[str], reserved: frozenset[str]) -> dict[str, str]:
    """Return {name: identifier}: a name that is one stays as it is, whatever is made of the others.

    >>> identifiers(["a", "a b", "a/b", "node", "a_b", "5'"], frozenset({"node"}))
    {'a': 'a', 'a b': 'a_b_2', 'a/b': 'a_b_3', 'node': 'node_', 'a_b': 'a_b', "5'": '_5_'}
    """
    found = {name: name if _IDENTIFIER.fullmatch(name) and name not in reserved else "" for name in names}
    taken = {*found.values(), *reserved}
    counts: dict[str, int] = {}
    for name, kept in found.items():
        if kept:
            continue
        base = _OTHER.sub("_", name)
        if not _IDENTIFIER.fullmatch(base):
            base = f"_{base}"
        if base in reserved:
            base = f"{base}_"
        made = base
        while made in taken:
            counts[base] = counts.get(base, 1) + 1
            made = f"{base}_{counts[base]}"
        taken.add(made)
        found[name] = made
    return found
