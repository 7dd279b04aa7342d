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
class Cuts:
    """Minimum cuts for the most probable states of binary variables in linked pairs; a tree for what is left.

    Exact. Only `map` can be asked.
    """

    name = "cuts"


@dataclass(frozen=True, kw_only=True, slots=True)
class Expansion:
    """Moves to one state after the other, for the most probable states of variables in linked pairs.

    Not exact, and says how far off it may be. Only `map` can be asked.

    Args:
        sweeps: how often every state is tried at most; it stops sooner when none helps.
        bound_sweeps: how often the bound is tightened at most.
    """

    sweeps: int = 20
    bound_sweeps: int = 100
    name = "expansion"

    def __post_init__(self) -> None:
        """Refuse what is no number of sweeps."""
        for name, least in (("sweeps", 1), ("bound_sweeps", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InvalidArgument(f"{name} is a whole number of at least {least}, not {shown(value)}.")


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


Engine = Exact | Elimination | Search | Conditioned | Cuts | Expansion
ENGINES: dict[str, type[Engine]] = {
    "exact": Exact,
    "elimination": Elimination,
    "search": Search,
    "conditioned": Conditioned,
    "cuts": Cuts,
    "expansion": Expansion,
}
ONLY_SUMS = ("elimination", "search", "conditioned")
ONLY_MAXIMA = ("cuts", "expansion")


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


def find_for_sums(engine: str | Engine) -> Engine:
    """The same, for a question about sums: not every engine takes these."""
    found = find(engine)
    if found.name in ONLY_MAXIMA:
        raise InvalidArgument(
            f'engine="{found.name}" only finds the most probable states (`map`); for probabilities use '
            'engine="exact".'
        )
    return found


__all__ = [
    "ENGINES",
    "Conditioned",
    "Cuts",
    "Elimination",
    "Engine",
    "Exact",
    "Expansion",
    "Search",
    "find",
    "find_for_sums",
]
