"""How questions are answered. A name such as "exact" is a door to an object with options."""

from __future__ import annotations

from dataclasses import dataclass

from pgm.errors import InvalidArgument, nearest, shown


@dataclass(frozen=True, kw_only=True, slots=True)
class Exact:
    """Message passing on a tree of cliques, made for the question."""

    name = "exact"


@dataclass(frozen=True, kw_only=True, slots=True)
class Elimination:
    """One variable after the other, in logarithms: slow, and written to be checked against."""

    name = "elimination"


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """One variable after the other given each of its states: for models full of zeros."""

    name = "search"


@dataclass(frozen=True, kw_only=True, slots=True)
class Conditioned:
    """Several runs of a smaller tree, one for each state of some variables: for trees past the memory.

    Args:
        variables: which to condition on; None: as few as make the tree fit, perhaps none.
    """

    name = "conditioned"
    variables: tuple[str, ...] | None = None


Engine = Exact | Elimination | Search | Conditioned
ENGINES: dict[str, type[Engine]] = {
    "exact": Exact,
    "elimination": Elimination,
    "search": Search,
    "conditioned": Conditioned,
}


def find(engine: str | Engine) -> Engine:
    """The engine of this name; "auto" is exact inference, or an error that says what it would take."""
    if isinstance(engine, Engine):
        return engine
    if engine == "auto":
        return Exact()
    if isinstance(engine, str) and engine in ENGINES:
        return ENGINES[engine]()
    names = ", ".join(repr(name) for name in ("auto", *ENGINES))
    raise InvalidArgument(f"engine={shown(engine)} is not one of {names}.{nearest(engine, ENGINES)}")


__all__ = ["ENGINES", "Conditioned", "Elimination", "Engine", "Exact", "Search", "find"]
