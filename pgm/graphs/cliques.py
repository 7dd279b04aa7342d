"""Cliques of chordal graphs, and trees of them: junction trees, or forests if the graph is disconnected."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument, InvalidStructure, TooLarge, listed
from pgm.graphs.naming import IndexedGraph, members
from pgm.graphs.triangulation import LOOPS, Triangulation, triangulate
from pgm.printing import html_table, joined, text_table

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes
else:
    from pgm.graphs import networkx_later as nx

_SHOWN = 20  # lines of a tree in print


@dataclass(frozen=True)
class JunctionTree:
    """Maximal cliques joined so that those of each variable form a connected subtree.

    The parent of clique i is clique `parent[i]`, -1 for a root; children come first. Edge k joins the two
    cliques `edges[k]`, (child, parent), which share `separators[k]`.
    """

    cliques: tuple[tuple[Any, ...], ...]
    parent: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]
    separators: tuple[tuple[Any, ...], ...]
    order: tuple[Any, ...]

    @property
    def width(self) -> int:
        """The size of the largest clique, less one; -1 where there is none."""
        return max(map(len, self.cliques), default=0) - 1

    def to_networkx(self) -> nx.Graph[Any]:
        """Return the tree with the cliques as nodes; the edge attribute `separator` holds what both share."""
        tree: nx.Graph[Any] = nx.Graph()
        tree.add_nodes_from(self.cliques)
        for (child, parent), separator in zip(self.edges, self.separators, strict=True):
            tree.add_edge(self.cliques[child], self.cliques[parent], separator=separator)
        return tree

    def to_dict(self) -> dict[str, Any]:
        """Return {"cliques", "parent", "edges", "separators", "order", "width"} as plain lists.

        >>> junction_tree(nx.path_graph(["a", "b", "c"])).to_dict()["separators"]
        [['b']]
        """
        parts = {"cliques": self.cliques, "edges": self.edges, "separators": self.separators}
        lists = {name: [list(part) for part in each] for name, each in parts.items()}
        return {**lists, "parent": list(self.parent), "order": list(self.order), "width": self.width}

    def __len__(self) -> int:
        """The number of cliques."""
        return len(self.cliques)

    def __repr__(self) -> str:
        facts = f"{len(self):,} cliques, {len(self.order):,} variables, width {self.width:,}"
        return f"{type(self).__name__}({facts})"

    def __str__(self) -> str:
        return f"{self!r}\n{text_table(*self._printed())}"

    def _repr_html_(self) -> str:
        return html_table(*self._printed(), repr(self))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the cliques and what they share; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        from pgm import plot

        return plot.junction_tree(self, ax, figsize=figsize, title=title)

    def _printed(self) -> tuple[list[str], list[list[str]], str]:
        shared = dict(zip((child for child, _ in self.edges), self.separators, strict=True))
        rows = []
        for i, (clique, parent) in enumerate(zip(self.cliques[:_SHOWN], self.parent, strict=False)):
            above = _shown(self.cliques[parent]) if parent >= 0 else "(root)"
            rows.append([_shown(clique), _shown(shared.get(i, ())), above])
        more = f"... {len(self) - _SHOWN:,} more of {len(self):,} cliques" if len(self) > _SHOWN else ""
        return ["clique", "separator", "next clique"], rows, more


def _shown(variables: tuple[Any, ...]) -> str:
    return joined(variables, len(variables), 36)


def junction_tree(
    graph: nx.Graph[Any],
    cards: Mapping[Any, int] | None = None,
    order: Iterable[Any] | None = None,
    last: Iterable[Any] = (),
    root: Any = None,
) -> JunctionTree:
    """Return the maximal cliques of a triangulation, joined as a tree, or a forest if it is disconnected.

    Args:
        graph: undirected; see `moral_graph` for a directed one.
        cards: number of states of each node; two if left out.
        order: the elimination order to use; if left out, a good one is searched for.
        last: nodes to eliminate after all others, which gives a strong junction tree (Jensen, Jensen &
        Dittmer 1994).
        root: one node or several; a clique that contains them all becomes the root of its tree.

    >>> tree = junction_tree(nx.cycle_graph(["a", "b", "c", "d"]))
    >>> len(tree), tree.width, [len(separator) for separator in tree.separators]
    (2, 2, [2])
    """
    g = IndexedGraph.of(graph, cards)
    stage = g.stages(last)
    if order is not None and stage.any():
        raise InvalidArgument("Give order= or last=, not both.")
    found = triangulate(
        g.indptr, g.indices, g.log2_card, order=None if order is None else g.order(order), stage=stage
    )
    cliques, parent = _cliques(g, found), found.parent.tolist()
    if root is not None:
        if stage.any():
            raise InvalidArgument("Give root= or last=, not both: a strong tree has its root already.")
        cliques, parent = _rooted(cliques, parent, members(graph, root))
    edges = tuple((c, p) for c, p in enumerate(parent) if p >= 0)
    separators = tuple(tuple(v for v in cliques[c] if v in set(cliques[p])) for c, p in edges)
    names = tuple(g.names[v] for v in found.order.tolist())
    return JunctionTree(cliques, tuple(parent), edges, separators, names)


def _rooted(
    cliques: tuple[tuple[Any, ...], ...], parent: list[int], names: tuple[Any, ...]
) -> tuple[tuple[tuple[Any, ...], ...], list[int]]:
    """The same tree rooted at a clique that contains these names, children still first."""
    root = next((c for c, clique in enumerate(cliques) if set(names) <= set(clique)), None)
    if root is None:
        raise InvalidArgument(
            f"No clique contains all of {listed(names)}, as the root must; the cliques are "
            f"{'; '.join(map(_shown, cliques[:_SHOWN]))}{'; ...' if len(cliques) > _SHOWN else ''}."
        )
    near: list[list[int]] = [[] for _ in cliques]
    for c, p in enumerate(parent):
        if p >= 0:
            near[c].append(p)
            near[p].append(c)
    above = {root: -1}
    for c in (walk := [root]):  # grows while it is read
        for other in near[c]:
            if other not in above:
                above[other] = c
                walk.append(other)
    order = [c for c in range(len(cliques)) if c not in above] + walk[::-1]
    place = {c: i for i, c in enumerate(order)} | {-1: -1}
    return tuple(cliques[c] for c in order), [place[above.get(c, parent[c])] for c in order]


def triangulated(graph: nx.Graph[Any], order: Iterable[Any]) -> nx.Graph[Any]:
    """Return the chordal graph that this elimination order produces: every clique is complete.

    >>> sorted(triangulated(nx.cycle_graph(["a", "b", "c", "d"]), "abcd").edges)
    [('a', 'b'), ('a', 'd'), ('b', 'c'), ('b', 'd'), ('c', 'd')]
    """
    g = IndexedGraph.of(graph)
    found = triangulate(g.indptr, g.indices, g.log2_card, order=g.order(order))
    full = graph.copy()
    for clique in _cliques(g, found):
        full.add_edges_from(pair for pair in combinations(clique, 2) if not full.has_edge(*pair))
    return full


def maximal_cliques(graph: nx.Graph[Any]) -> tuple[tuple[Any, ...], ...]:
    """Return the maximal cliques of a chordal graph.

    What a clique shares with all later cliques is contained in one of them (running intersection).

    >>> maximal_cliques(nx.path_graph(["a", "b", "c"]))
    (('a', 'b'), ('b', 'c'))
    """
    g = IndexedGraph.of(graph)
    n = len(g.names)
    order = np.empty(n, np.int32)
    if n:
        # A chordal graph always has a simplicial vertex (one without fill-in), and min-fill finds it.
        missing = np.zeros(n)
        LOOPS.missing_edges(g.indptr, g.indices, np.ones(n), missing, np.zeros(1, np.uint8))
        LOOPS.greedy(
            g.indptr, g.indices, np.zeros(n), np.zeros(n, np.int64), np.ones(n), missing, np.ones(n), 1,
            math.inf, math.inf, order, np.zeros(1, np.uint8),
        )  # fmt: skip
    found = triangulate(g.indptr, g.indices, g.log2_card, order=order)
    own = found.n_residual.astype(np.int64)
    sizes = np.diff(found.clique_ptr)
    if int((own * (sizes - own) + own * (own - 1) // 2).sum()) != len(g.indices) // 2:
        raise InvalidStructure(
            "A cycle of four or more nodes has no chord; pgm.graphs.triangulated gives it one."
        )
    return _cliques(g, found)


def _cliques(g: IndexedGraph, found: Triangulation) -> tuple[tuple[Any, ...], ...]:
    if not found.complete:
        raise TooLarge(
            f"The best order found has cliques too large to list, one of 2^{found.log2_largest:.0f} states."
        )
    return tuple(_named(g, found.clique(c)) for c in range(found.n_cliques))


def _named(g: IndexedGraph, vertices: np.ndarray) -> tuple[Any, ...]:
    """The names in graph order."""
    return tuple(g.names[v] for v in np.sort(vertices).tolist())
