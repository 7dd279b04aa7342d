"""Prior knowledge about a structure: one object for every search, checked before any of them begins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pgm.errors import InvalidArgument, InvalidStructure, UnknownVariable, listed, shown
from pgm.graphs.equivalence import topological


@dataclass(frozen=True, eq=False)
class Constraints:
    """Which arcs are permitted and which required, how many parents a node may have, and where to start."""

    names: tuple[str, ...]
    allowed: np.ndarray  # bool [parent, child]
    required: np.ndarray  # bool [parent, child]
    room: np.ndarray  # how many parents each node may have
    start: tuple[tuple[int, ...], ...]  # parents of each node; the required ones at least

    @property
    def n(self) -> int:
        """The number of nodes."""
        return len(self.names)

    def obeyed(self, parents: Sequence[Iterable[int]]) -> bool:
        """Whether a graph has all required arcs, only permitted ones, and nowhere too many parents."""
        arcs = np.zeros((self.n, self.n), bool)
        for v, those in enumerate(parents):
            arcs[list(those), v] = True
        return bool((~arcs | self.allowed).all() and (arcs | ~self.required).all()) and bool(
            (arcs.sum(axis=0) <= self.room).all()
        )


def constraints(
    names: Sequence[str],
    *,
    require: Any = (),
    forbid: Any = (),
    tiers: Any = None,
    roots: Any = (),
    leaves: Any = (),
    max_parents: Any = None,
    start: Any = None,
    impossible: Iterable[tuple[str, str]] = (),
) -> Constraints:
    """Read constraints as users write them; contradictions are refused.

    Args:
        names: the nodes, in order.
        require: pairs (parent, child) that every result has.
        forbid: pairs that none has.
        tiers: lists of names; no arc leads from a later list to an earlier one.
        roots: names without parents.
        leaves: names without children.
        max_parents: the largest number of parents, of all nodes or by name.
        start: a network or pairs to begin with; an arc that is not permitted is refused.
        impossible: pairs that the kinds of the columns forbid.

    Raises:
        UnknownVariable: a name is not a column.
        InvalidStructure: the constraints contradict each other.
        InvalidArgument: a constraint cannot be read.

    >>> constraints("abc", require=[("a", "b")], tiers=["a", ["b", "c"]]).allowed.astype(int).tolist()
    [[0, 1, 1], [0, 0, 1], [0, 1, 0]]
    """
    names = tuple(names)
    place = {name: i for i, name in enumerate(names)}
    n = len(names)
    allowed = ~np.eye(n, dtype=bool)
    why: dict[tuple[int, int], str] = {}

    def ban(u: int, v: int, reason: str) -> None:
        allowed[u, v] = False
        why.setdefault((u, v), reason)

    for a, b in impossible:
        ban(place[a], place[b], f"{a!r} is continuous and {b!r} is discrete")
    for u, v in _pairs("forbid", forbid, place):
        ban(u, v, "forbid= excludes it")
    for name in _names("roots", roots, place):
        for u in range(n):
            ban(u, name, f"{names[name]!r} is among roots=")
    for name in _names("leaves", leaves, place):
        for v in range(n):
            ban(name, v, f"{names[name]!r} is among leaves=")
    for late, early in _against(tiers, place):
        ban(late, early, f"{names[late]!r} is in a later tier")
    room = _room(max_parents, names, place)
    required = np.zeros((n, n), bool)
    for u, v in _pairs("require", require, place):
        if u == v:
            raise InvalidStructure(f"require= has an arc from {names[u]!r} to itself.")
        if not allowed[u, v]:
            raise InvalidStructure(
                f"require= has {names[u]!r} -> {names[v]!r}, which is not permitted: {why[u, v]}."
            )
        required[u, v] = True
    for v in range(n):
        if required[:, v].sum() > room[v]:
            raise InvalidStructure(
                f"require= gives {names[v]!r} {int(required[:, v].sum())} parents; max_parents= permits "
                f"{room[v]}."
            )
    _check_acyclic("require=", required, names)
    begun = required.copy()
    for u, v in _start(start, place):
        if not allowed[u, v]:
            raise InvalidStructure(
                f"start= has {names[u]!r} -> {names[v]!r}, which is not permitted: "
                f"{why.get((u, v), 'it leads from a node to itself')}."
            )
        begun[u, v] = True
    _check_acyclic("start= and require= together", begun, names)
    for v in range(n):
        if begun[:, v].sum() > room[v]:
            raise InvalidStructure(
                f"start= gives {names[v]!r} {int(begun[:, v].sum())} parents, with those required; "
                f"max_parents= permits {room[v]}."
            )
    # An arc whose reverse is required, or that would close a cycle of required ones, is never possible.
    reached = required.copy()
    for k in range(n):
        reached |= np.outer(reached[:, k], reached[k])
    allowed &= ~reached.T
    parents = tuple(tuple(np.flatnonzero(begun[:, v]).tolist()) for v in range(n))
    return Constraints(names, allowed, required, room, parents)


def without(known: Constraints, names: Sequence[str]) -> Constraints:
    """The constraints on all nodes but these."""
    kept = np.array([name not in names for name in known.names])
    place = np.cumsum(kept) - 1
    start = tuple(
        tuple(int(place[u]) for u in those if kept[u]) for v, those in enumerate(known.start) if kept[v]
    )
    return Constraints(
        tuple(name for name, keep in zip(known.names, kept.tolist(), strict=True) if keep),
        known.allowed[np.ix_(kept, kept)],
        known.required[np.ix_(kept, kept)],
        np.minimum(known.room[kept], int(kept.sum())),
        start,
    )


def _check_acyclic(what: str, arcs: np.ndarray, names: Sequence[str]) -> None:
    parents = [set(np.flatnonzero(arcs[:, v]).tolist()) for v in range(len(names))]
    order = topological(parents)
    if len(order) == len(names):
        return
    left = set(range(len(names))) - set(order)
    v = min(left)
    path: list[int] = []
    while v not in path:
        path.append(v)
        v = min(parents[v] & left)
    cycle = path[path.index(v) :][::-1]
    first = cycle.index(min(cycle))
    cycle = cycle[first:] + cycle[:first]
    text = " -> ".join(repr(names[i]) for i in [*cycle, cycle[0]])
    raise InvalidStructure(f"The arcs of {what} form a cycle: {text}.")


def _place(name: Any, place: Mapping[str, int], what: str) -> int:
    if not isinstance(name, str) or name not in place:
        raise UnknownVariable(name, place, where=f"{what}=")
    return place[name]


def _pairs(what: str, pairs: Any, place: Mapping[str, int]) -> list[tuple[int, int]]:
    if isinstance(pairs, str | Mapping) or not isinstance(pairs, Iterable):
        raise InvalidArgument(f"{what}= takes pairs (parent, child), not {shown(pairs)}.")
    found = []
    for pair in pairs:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise InvalidArgument(f"{what}= takes pairs (parent, child); one of these is {shown(pair)}.")
        found.append((_place(pair[0], place, what), _place(pair[1], place, what)))
    return found


def _names(what: str, names: Any, place: Mapping[str, int]) -> list[int]:
    if isinstance(names, str):
        names = [names]
    if isinstance(names, Mapping) or not isinstance(names, Iterable):
        raise InvalidArgument(f"{what}= takes names, not {shown(names)}.")
    return [_place(name, place, what) for name in names]


def _against(tiers: Any, place: Mapping[str, int]) -> list[tuple[int, int]]:
    """Pairs of a node in a later tier and one in an earlier tier."""
    if tiers is None:
        return []
    if isinstance(tiers, str | Mapping) or not isinstance(tiers, Iterable):
        raise InvalidArgument(f"tiers= takes lists of names, earliest first, not {shown(tiers)}.")
    read = [_names("tiers", tier, place) for tier in tiers]
    every = [v for tier in read for v in tier]
    if len(set(every)) < len(every):
        twice = next(v for i, v in enumerate(every) if v in every[:i])
        raise InvalidStructure(f"tiers= has {listed([list(place)[twice]])} twice.")
    return [
        (late, v) for i, tier in enumerate(read) for v in tier for after in read[i + 1 :] for late in after
    ]


def _room(max_parents: Any, names: Sequence[str], place: Mapping[str, int]) -> np.ndarray:
    n = len(names)
    given = max_parents if isinstance(max_parents, Mapping) else dict.fromkeys(names, max_parents)
    room = np.full(n, n, np.int64)
    for name, value in given.items():
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise InvalidArgument(f"max_parents= is a whole number of at least 0, not {shown(value)}.")
        room[_place(name, place, "max_parents")] = min(int(value), n)
    return room


def _start(start: Any, place: Mapping[str, int]) -> list[tuple[int, int]]:
    if start is None:
        return []
    for name in getattr(start, "nodes", ()):
        _place(name, place, "start")
    edges = getattr(start, "edges", start)
    if not isinstance(edges, Iterable):
        raise InvalidArgument(f"start= is a network or a list of arcs (parent, child), not {shown(start)}.")
    return _pairs("start", edges if isinstance(edges, str | dict) else list(edges), place)
