"""New names for the variables of a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pgm.errors import InvalidArgument, InvalidStructure, UnknownVariable, shown
from pgm.variables import check_name


def renamed(old: Iterable[str], new: Mapping[str, str]) -> dict[str, str]:
    """Return the new name of each variable; names may be swapped, but not shared.

    >>> renamed(["a", "b", "c"], {"a": "b", "b": "a"})
    {'a': 'b', 'b': 'a', 'c': 'c'}
    """
    if not isinstance(new, Mapping):
        raise InvalidArgument(f"`rename` takes a dict {{old name: new name}}, not {shown(new)}.")
    called = {name: name for name in old}
    for name, other in new.items():
        if name not in called:
            raise UnknownVariable(name, called)
        called[name] = check_name(other)
    owners: dict[str, str] = {}
    for name, other in called.items():
        if other in owners:
            raise InvalidStructure(f"{owners[other]!r} and {name!r} would both be called {other!r}.")
        owners[other] = name
    return called
