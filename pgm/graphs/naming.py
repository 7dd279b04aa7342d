"""Converts graphs with named nodes, as users have them, to indexed arrays, as the loops take them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument, InvalidStructure, UnknownVariable

if TYPE_CHECKING:
    import networkx as nx
else:
    from pgm.graphs import networkx_later as nx


@dataclass(frozen=True, eq=False, slots=True)
class IndexedGraph:
    """An undirected graph as sorted neighbour lists: vertex v is `names[v]`."""

    names: tuple[Any, ...]
    index: dict[Any, int]
    indptr: np.ndarray
    indices: np.ndarray
    log2_card: np.ndarray

    @classmethod
    def of(cls, graph: nx.Graph[Any], cards: Mapping[Any, int] | None = None) -> IndexedGraph:
        """Index the nodes in graph order; without `cards` all have two states."""
        undirected(graph)
        names = tuple(graph)
        index = {name: i for i, name in enumerate(names)}
        lists = [sorted(index[other] for other in graph[name] if other != name) for name in names]
        indptr = np.zeros(len(names) + 1, np.int64)
        np.cumsum([len(near) for near in lists], out=indptr[1:])
        indices = np.fromiter((v for near in lists for v in near), np.int32, int(indptr[-1]))
        log2_card = np.ones(len(names))
        if cards is not None:
            missing = [name for name in names if name not in cards]
            if missing:
                raise InvalidArgument(f"cards= has no number of states for {missing[0]!r}.")
            counts = np.array([cards[name] for name in names], dtype=np.float64)
            if not (np.isfinite(counts) & (counts >= 1)).all():
                bad = names[int(np.argmin(np.isfinite(counts) & (counts >= 1)))]
                raise InvalidArgument(
                    f"cards= gives {bad!r} {cards[bad]!r} states; it must have at least one."
                )
            log2_card = np.log2(counts)
        return cls(names, index, indptr, indices, log2_card)

    def order(self, names: Iterable[Any]) -> np.ndarray:
        """Return an order of all nodes as indices."""
        names = tuple(names)
        found = np.array([self._position(name) for name in names], np.int32)
        if len(found) != len(self.names) or len(np.unique(found)) != len(found):
            raise InvalidArgument(
                f"The order must name each of the {len(self.names)} nodes once; it has {len(found)} names."
            )
        return found

    def stages(self, last: Iterable[Any]) -> np.ndarray:
        """Return 1 for the nodes that are to be eliminated last, 0 for the others."""
        found = np.zeros(len(self.names), np.int64)
        for name in (last,) if isinstance(last, str) else last:
            found[self._position(name)] = 1
        return found

    def _position(self, name: Any) -> int:
        if name not in self.index:
            raise UnknownVariable(name, self.index)
        return self.index[name]


def directed(graph: Any, *, acyclic: bool = True) -> None:
    """Raise unless this is an acyclic directed networkx graph; the cycle check may be left to the caller."""
    if not isinstance(graph, nx.Graph) or not graph.is_directed():
        raise InvalidArgument(f"A networkx.DiGraph is needed here, not {type(graph).__name__}.")
    if acyclic and not nx.is_directed_acyclic_graph(graph):
        raise InvalidStructure("The graph has a directed cycle.")


def undirected(graph: Any) -> None:
    """Raise unless this is an undirected networkx graph."""
    if not isinstance(graph, nx.Graph) or graph.is_directed():
        raise InvalidArgument(
            f"A networkx.Graph is needed here, not {type(graph).__name__}; see pgm.graphs.moral_graph."
        )


def members(graph: nx.Graph[Any] | Mapping[Any, Any], names: Any) -> tuple[Any, ...]:
    """Return one node or several as a tuple of distinct nodes of the graph, in the order given."""
    if (
        isinstance(names, str)
        or not isinstance(names, Iterable)
        or (isinstance(names, Hashable) and names in graph)
    ):
        several: tuple[Any, ...] = (names,)
    else:
        several = tuple(names)
    for name in several:
        if name not in graph:
            raise UnknownVariable(name, graph)
    return tuple(dict.fromkeys(several))
