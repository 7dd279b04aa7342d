"""Equivalence classes of directed graphs: the CPDAG, and its members."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from pgm.calls import guard_methods
from pgm.errors import InvalidArgument, InvalidStructure, UnknownVariable, listed, shown
from pgm.graphs.equivalence import Sets, compelled, extension, v_structures
from pgm.graphs.naming import directed
from pgm.printing import ROWS, html_table, label, text_table
from pgm.runtime.clock import start_clock

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes
else:
    from pgm.graphs import networkx_later as nx


class CPDAG:
    """The class of all networks that imply the same independences: compelled arcs, and undirected edges.

    `directed` has the pairs (parent, child) of the arcs, `undirected` the edges, `v_structures` the triples
    (parent, child, parent) whose parents no edge joins. Networks that no data can distinguish have equal
    CPDAGs.

    >>> CPDAG.of(nx.DiGraph([("smoke", "lung"), ("lung", "dyspnoea"), ("asthma", "dyspnoea")]))
    CPDAG of 4 nodes, 1 v-structure
    edge                either way
    smoke - lung        yes
    lung -> dyspnoea    no
    asthma -> dyspnoea  no
    """

    __slots__ = ("directed", "nodes", "undirected", "v_structures")
    nodes: tuple[Any, ...]
    directed: tuple[tuple[Any, Any], ...]
    undirected: tuple[tuple[Any, Any], ...]
    v_structures: tuple[tuple[Any, Any, Any], ...]

    def __init__(
        self,
        nodes: Iterable[Any],
        directed: Iterable[tuple[Any, Any]] = (),
        undirected: Iterable[tuple[Any, Any]] = (),
    ) -> None:
        """Take a partly directed graph.

        Args:
            nodes: the names of all nodes.
            directed: pairs (parent, child).
            undirected: pairs of which either may be the parent.

        Raises:
            UnknownVariable: an edge has an end that is not among the nodes.
            InvalidStructure: two edges join the same nodes, or an edge joins a node to itself.
        """
        names = tuple(nodes)
        place = {name: i for i, name in enumerate(names)}
        arcs = [(place[_known(a, place)], place[_known(b, place)]) for a, b in directed]
        edges = [tuple(sorted((place[_known(a, place)], place[_known(b, place)]))) for a, b in undirected]
        pairs = [tuple(sorted(pair)) for pair in (*arcs, *edges)]
        for a, b in pairs:
            if a == b:
                raise InvalidStructure(f"An edge joins {names[a]!r} to itself.")
        if len(set(pairs)) < len(pairs):
            a, b = next(pair for i, pair in enumerate(pairs) if pair in pairs[:i])
            raise InvalidStructure(f"There are two edges between {names[a]!r} and {names[b]!r}.")
        parents: Sets = [set() for _ in names]
        beside: Sets = [set() for _ in names]
        for a, b in arcs:
            parents[b].add(a)
        for a, b in edges:
            beside[a].add(b)
            beside[b].add(a)
        known = [parents[v] | beside[v] for v in range(len(names))]
        collided = [
            (names[a], names[c], names[b])
            for a, c, b in v_structures(parents)
            if a not in known[b] and b not in known[a]
        ]
        for field, value in (
            ("nodes", names),
            ("directed", tuple((names[a], names[b]) for a, b in sorted(arcs, key=lambda arc: arc[::-1]))),
            ("undirected", tuple((names[a], names[b]) for a, b in sorted(edges))),
            ("v_structures", tuple(collided)),
        ):
            object.__setattr__(self, field, value)

    @staticmethod
    def of(graph: nx.DiGraph[Any]) -> CPDAG:
        """The CPDAG of a directed acyclic graph.

        Args:
            graph: any networkx DiGraph without cycles.

        Raises:
            InvalidStructure: it has a cycle, or is not directed.

        >>> CPDAG.of(nx.DiGraph([("rain", "wet"), ("wet", "slippery")])).undirected
        (('rain', 'wet'), ('wet', 'slippery'))
        """
        directed(graph)
        names = tuple(graph)
        place = {name: i for i, name in enumerate(names)}
        parents = [{place[u] for u in graph.predecessors(name)} for name in names]
        fixed, free = compelled(parents)
        return from_indices(names, fixed, free)

    def extension(self) -> nx.DiGraph[Any]:
        """A directed acyclic graph with these arcs and no other v-structures.

        Raises:
            InvalidStructure: there is none.

        >>> sorted(CPDAG(["a", "b", "c"], [("a", "b")], [("b", "c")]).extension().edges)
        [('a', 'b'), ('b', 'c')]
        """
        place = {name: i for i, name in enumerate(self.nodes)}
        parents: Sets = [set() for _ in self.nodes]
        beside: Sets = [set() for _ in self.nodes]
        for a, b in self.directed:
            parents[place[b]].add(place[a])
        for a, b in self.undirected:
            beside[place[a]].add(place[b])
            beside[place[b]].add(place[a])
        found = extension(parents, beside)
        if found is None:
            raise InvalidStructure(
                "No directed acyclic graph has these arcs and these v-structures only: the edges "
                f"{listed([f'{a} - {b}' for a, b in self.undirected])} cannot all be directed."
            )
        graph: nx.DiGraph[Any] = nx.DiGraph()
        graph.add_nodes_from(self.nodes)
        graph.add_edges_from(
            (self.nodes[u], self.nodes[v]) for v, those in enumerate(found) for u in sorted(those)
        )
        return graph

    @property
    def size(self) -> int:
        """The number of directed graphs in the class.

        Raises:
            InvalidStructure: there is none.
            OutOfTime: the time limit passed.

        >>> CPDAG("abc", [], [("a", "b"), ("b", "c")]).size
        3
        """
        from pgm.graphs.members import size

        return size(self, start_clock())

    def members(self, limit: int = 1_000) -> list[nx.DiGraph[Any]]:
        """The directed graphs of the class, which no data can distinguish.

        Args:
            limit: the largest number to list; `.size` counts them all.

        Raises:
            InvalidArgument: the limit is not a whole number of at least 1.
            InvalidStructure: there is none.

        >>> chain = CPDAG("abc", [], [("a", "b"), ("b", "c")])
        >>> sorted(sorted(graph.edges) for graph in chain.members())
        [[('a', 'b'), ('b', 'c')], [('b', 'a'), ('b', 'c')], [('b', 'a'), ('c', 'b')]]
        """
        from pgm.graphs.members import members

        if type(limit) is not int or limit < 1:
            raise InvalidArgument(f"limit= is the largest number of graphs to list, not {shown(limit)}.")
        found = []
        for parents in islice(members(self), limit):
            graph: nx.DiGraph[Any] = nx.DiGraph()
            graph.add_nodes_from(self.nodes)
            arcs = ((u, v) for v, those in enumerate(parents) for u in sorted(those))
            graph.add_edges_from((self.nodes[u], self.nodes[v]) for u, v in arcs)
            found.append(graph)
        return found

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw arcs as arrows, and edges that may point either way as lines without heads; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title.
        """
        from pgm import plot

        return plot.cpdag(self, ax, figsize=figsize, title=title)

    def adjustment_sets(
        self,
        x: Any,
        y: Any,
        *,
        hidden: Iterable[Any] = (),
        costs: Mapping[Any, float] | None = None,
        limit: int = 1_000,
    ) -> Any:
        """The minimal sets to adjust for that are right for every graph of the class (Perković et al. 2018).

        Args:
            x: the treatment: a node, or several.
            y: the outcome.
            hidden: nodes that are never observed.
            costs: what it costs to observe each node, 1 for those left out.
            limit: the largest number of sets to list.

        Raises:
            UnknownVariable: a name that the graph does not have.
            InvalidArgument: both ends have a node in common, one of them is hidden, or a cost is negative.

        >>> graph = CPDAG("vwxy", [("v", "x"), ("w", "x"), ("x", "y"), ("w", "y")])
        >>> graph.adjustment_sets("x", "y") == [{"w"}]
        True
        """
        from pgm.graphs.class_adjustment import class_adjustment_sets

        return class_adjustment_sets(self, x, y, hidden=tuple(hidden), costs=costs, limit=limit)

    def __setattr__(self, name: str, value: object) -> None:
        """Raise: a CPDAG is immutable."""
        raise AttributeError(f"a CPDAG does not change; .{name} cannot be set")

    def __eq__(self, other: object) -> bool:
        """Equal when nodes, arcs and edges are the same, in whatever order."""
        if not isinstance(other, CPDAG):
            return NotImplemented
        return (
            set(self.nodes) == set(other.nodes)
            and set(self.directed) == set(other.directed)
            and set(map(frozenset, self.undirected)) == set(map(frozenset, other.undirected))
        )

    def __hash__(self) -> int:
        """Hash of the sets of nodes, arcs and edges."""
        return hash(
            (frozenset(self.nodes), frozenset(self.directed), frozenset(map(frozenset, self.undirected)))
        )

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the parts."""
        return CPDAG, (self.nodes, self.directed, self.undirected)

    def to_dict(self) -> dict[str, list[Any]]:
        """The nodes, arcs, edges and v-structures as lists.

        >>> CPDAG(["a", "b"], [], [("a", "b")]).to_dict()["undirected"]
        [('a', 'b')]
        """
        return {
            name: list(getattr(self, name)) for name in ("nodes", "directed", "undirected", "v_structures")
        }

    def _table(self) -> tuple[list[str], list[list[str]], str, str]:
        edges = [(f"{label(a)} - {label(b)}", "yes") for a, b in self.undirected]
        edges += [(f"{label(a)} -> {label(b)}", "no") for a, b in self.directed]
        more = len(edges) - ROWS
        notes = f"... {more:,} more of {len(edges):,} edges" if more > 0 else ""
        count = len(self.v_structures)
        title = f"CPDAG of {len(self.nodes):,} nodes, {count:,} v-structure{'s' * (count != 1)}"
        return ["edge", "either way"], [list(edge) for edge in edges[:ROWS]], notes, title

    def __repr__(self) -> str:
        """As a table."""
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())


def from_indices(
    names: Sequence[Any], parents: Sequence[Iterable[int]], beside: Sequence[Iterable[int]]
) -> CPDAG:
    """The partly directed graph with these parents and neighbours of each vertex."""
    arcs = [(names[u], names[v]) for v, those in enumerate(parents) for u in sorted(those)]
    edges = [(names[u], names[v]) for v, those in enumerate(beside) for u in sorted(those) if u < v]
    return CPDAG(names, arcs, edges)


def _known(name: Any, place: Mapping[Any, int]) -> Any:
    if name not in place:
        raise UnknownVariable(name, place)
    return name


guard_methods([CPDAG])
