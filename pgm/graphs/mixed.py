"""Graphs with arrows and hidden common causes: districts, projections; sets are bits of an int."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pgm.errors import UnknownVariable
from pgm.graphs.walks import Arrows


@dataclass(frozen=True, slots=True)
class Cause:
    """A hidden common cause of two variables, as a node among the others."""

    first: Hashable
    second: Hashable

    def __str__(self) -> str:
        """As it is written."""
        return f"{self.first} <-> {self.second}"


@dataclass(frozen=True, eq=False, slots=True)
class MixedGraph:
    """Vertex v is `names[v]`; bits of `parents[v]` are its parents; those of `beside[v]` share a cause."""

    names: tuple[Any, ...]
    index: dict[Any, int]
    parents: tuple[int, ...]
    beside: tuple[int, ...]
    order: tuple[int, ...]  # parents before children

    @classmethod
    def of(cls, parents: Mapping[Any, Sequence[Any]], common: Iterable[tuple[Any, Any]] = ()) -> MixedGraph:
        """Take the parents of each node, without cycle, and the pairs with a hidden common cause."""
        names = tuple(parents)
        index = {name: i for i, name in enumerate(names)}
        beside = [0] * len(names)
        for a, b in common:
            beside[index[a]] |= 1 << index[b]
            beside[index[b]] |= 1 << index[a]
        above = tuple([bits([index[u] for u in those]) for those in parents.values()])
        order = Arrows.of(dict(parents)).order().tolist()
        return cls(names, index, above, tuple(beside), tuple(order))

    @property
    def everything(self) -> int:
        """All vertices."""
        return (1 << len(self.names)) - 1

    def set_of(self, names: Iterable[Any]) -> int:
        """The vertices with these names."""
        found = 0
        for name in names:
            if name not in self.index:
                raise UnknownVariable(name, self.names)
            found |= 1 << self.index[name]
        return found

    def named(self, some: int) -> tuple[Any, ...]:
        """The names of some vertices, parents before children."""
        return tuple([self.names[v] for v in self.order if some >> v & 1])

    def ancestors(self, some: int, within: int) -> int:
        """These vertices and their ancestors, in the subgraph of the vertices `within`."""
        found, new = some & within, some & within
        while new:
            up = 0
            for v in each(new):
                up |= self.parents[v]
            new = up & within & ~found
            found |= new
        return found

    def district(self, v: int, within: int) -> int:
        """The vertices connected to v by hidden causes, in the subgraph of the vertices `within`."""
        found = new = 1 << v
        while new:
            near = 0
            for u in each(new):
                near |= self.beside[u]
            new = near & within & ~found
            found |= new
        return found

    def districts(self, within: int) -> list[int]:
        """The districts of a subgraph: sets of vertices that hidden causes connect."""
        found, left = [], within
        for v in self.order:
            if left >> v & 1:
                found.append(self.district(v, within))
                left &= ~found[-1]
        return found

    def arrows(self, *, no_arrows_into: int = 0, no_arrows_from: int = 0) -> Arrows:
        """The graph with each hidden cause as a node, and without some arrows.

        >>> MixedGraph.of({"x": (), "y": ("x",)}, [("x", "y")]).arrows().names[2:]
        (Cause(first='x', second='y'),)
        """
        above: dict[Any, tuple[Any, ...]] = {}
        causes: dict[Any, tuple[Any, ...]] = {}
        for v, name in enumerate(self.names):
            own: tuple[Any, ...] = ()
            if not no_arrows_into >> v & 1:
                own = tuple([self.names[u] for u in each(self.parents[v] & ~no_arrows_from)])
                for u in each(self.beside[v] & ~no_arrows_into):
                    cause = Cause(self.names[min(u, v)], self.names[max(u, v)])
                    causes[cause] = ()
                    own += (cause,)
            above[name] = own
        return Arrows.of(above | causes)


def bits(some: Iterable[int]) -> int:
    """A set of vertices as an int.

    >>> bits([0, 3])
    9
    """
    found = 0
    for v in some:
        found |= 1 << v
    return found


def each(some: int) -> Iterator[int]:
    """The vertices of a set, in order.

    >>> list(each(9))
    [0, 3]
    """
    while some:
        low = some & -some
        yield low.bit_length() - 1
        some ^= low


def projected(
    parents: Mapping[Any, Sequence[Any]], hidden: Iterable[Any]
) -> tuple[dict[Any, tuple[Any, ...]], list[tuple[Any, Any]]]:
    """The latent projection on the nodes that are not hidden: their parents, and pairs that share a cause.

    Verma & Pearl 1990: an arrow where a directed path leads through hidden nodes alone, a common cause where
    such paths lead from one hidden node to both.

    >>> projected({"u": (), "x": ("u",), "m": ("x",), "y": ("m", "u")}, ["u", "m"])
    ({'x': (), 'y': ('x',)}, [('x', 'y')])
    """
    unseen = set(hidden)
    order = [list(parents)[v] for v in Arrows.of(dict(parents)).order().tolist()]
    above: dict[Any, dict[Any, None]] = {}  # observed nodes from which paths lead through hidden nodes only
    roots: dict[Any, dict[Any, None]] = {}  # hidden nodes on such paths
    for node in order:
        seen: dict[Any, None] = {}
        causes: dict[Any, None] = {}
        for parent in parents[node]:
            if parent in unseen:
                seen |= above[parent]
                causes |= roots[parent]
            else:
                seen[parent] = None
        above[node], roots[node] = seen, causes | ({node: None} if node in unseen else {})
    place = {node: i for i, node in enumerate(parents)}
    kept = {node: tuple(sorted(above[node], key=place.__getitem__)) for node in parents if node not in unseen}
    below: dict[Any, list[Any]] = {}
    for node in kept:
        for cause in roots[node]:
            below.setdefault(cause, []).append(node)
    pairs = {(a, b): None for those in below.values() for i, a in enumerate(those) for b in those[i + 1 :]}
    return kept, sorted(pairs, key=lambda pair: (place[pair[0]], place[pair[1]]))
