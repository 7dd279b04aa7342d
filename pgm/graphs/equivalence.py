"""Which directed graphs say the same: v-structures, CPDAGs, and back to a graph (Verma & Pearl 1990).

The functions take the parents of each vertex 0, 1, ... as sets; a partly directed graph has undirected
neighbours besides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pgm.errors import InvalidStructure, UnknownVariable, listed
from pgm.graphs.naming import directed
from pgm.printing import ROWS, html_table, label, text_table

if TYPE_CHECKING:
    import networkx as nx
else:
    from pgm.graphs import networkx_later as nx

Sets = list[set[int]]


def topological(parents: Sequence[Iterable[int]]) -> list[int]:
    """Vertices with parents before children; those on a cycle, or below one, are left out.

    >>> topological([{1}, set(), {0, 1}])
    [1, 0, 2]
    """
    waiting = [len(set(those)) for those in parents]
    children: list[list[int]] = [[] for _ in parents]
    for v, those in enumerate(parents):
        for u in sorted(set(those)):
            children[u].append(v)
    order = [v for v, count in enumerate(waiting) if not count]
    for v in order:  # grows
        for w in children[v]:
            waiting[w] -= 1
            if not waiting[w]:
                order.append(w)
    return order


def compelled(parents: Sequence[Iterable[int]]) -> tuple[Sets, Sets]:
    """The parents and the undirected neighbours of each vertex in the CPDAG of a directed acyclic graph.

    Chickering 1995, "A transformational characterization of equivalent Bayesian network structures".

    >>> compelled([set(), {0}, {1, 3}, set()])  # 0 - 1 -> 2 <- 3
    ([set(), set(), {1, 3}, set()], [{1}, {0}, set(), set()])
    """
    known: Sets = [set(those) for those in parents]
    order = topological(known)
    rank = {v: i for i, v in enumerate(order)}
    fixed: Sets = [set() for _ in known]
    free: Sets = [set() for _ in known]  # parents over arcs that may be reversed
    for y in order:
        for x in sorted(known[y], key=lambda v: -rank[v]):
            if x in fixed[y] or x in free[y]:
                continue
            if any(w not in known[y] for w in fixed[x]):
                fixed[y] = set(known[y])
                break
            fixed[y] |= fixed[x]
            unknown = known[y] - fixed[y] - free[y]
            if any(z not in known[x] for z in known[y] if z != x):
                fixed[y] |= unknown
            else:
                free[y] |= unknown
    neighbours: Sets = [set(those) for those in free]
    for y, those in enumerate(free):
        for x in those:
            neighbours[x].add(y)
    return fixed, neighbours


def v_structures(parents: Sequence[Iterable[int]]) -> list[tuple[int, int, int]]:
    """Each two parents that no arc joins, with their child between them.

    >>> v_structures([set(), {0, 2}, set()])
    [(0, 1, 2)]
    """
    known: Sets = [set(those) for those in parents]
    found = []
    for child, those in enumerate(known):
        ordered = sorted(those)
        for i, a in enumerate(ordered):
            found += [(a, child, b) for b in ordered[i + 1 :] if a not in known[b] and b not in known[a]]
    return found


def extension(parents: Sequence[Iterable[int]], neighbours: Sequence[Iterable[int]]) -> Sets | None:
    """A directed acyclic graph with the same arcs and v-structures, or None (Dor & Tarsi 1992).

    Of several, undirected edges point away from the lower number where that is possible.

    >>> extension([set(), set(), {1, 3}, set()], [{1}, {0}, set(), set()])
    [set(), {0}, {1, 3}, set()]
    """
    n = len(parents)
    up: Sets = [set(those) for those in parents]
    beside: Sets = [set(those) for those in neighbours]
    down: Sets = [set() for _ in range(n)]
    for v in range(n):
        for u in up[v]:
            down[u].add(v)
    made: Sets = [set(those) for those in parents]
    left = set(range(n))

    def sink(v: int) -> bool:
        around = up[v] | beside[v]
        return not down[v] and all(around - {w} <= up[w] | down[w] | beside[w] for w in beside[v])

    waiting = sorted(left)  # as a stack: the highest first
    while left:
        found = -1
        while waiting:
            v = waiting.pop()
            if v in left and sink(v):
                found = v
                break
        if found < 0:
            return None
        touched = up[found] | beside[found]
        made[found] |= beside[found]
        for w in touched:
            down[w].discard(found)
            up[w].discard(found)
            beside[w].discard(found)
        left.discard(found)
        # What was no sink may have become one: the neighbours, and theirs.
        again = set(touched)
        for w in touched:
            again |= beside[w]
        waiting = sorted({*waiting, *again} & left)
    return made


def orient(parents: Sets, neighbours: Sets) -> None:
    """Direct, in place, what Meek's four rules compel (Meek 1995): no new v-structure, no cycle.

    >>> parents, neighbours = [set(), {0}, set()], [set(), {2}, {1}]
    >>> orient(parents, neighbours)
    >>> parents, neighbours
    ([set(), {0}, {1}], [set(), set(), set()])
    """

    def joined(a: int, b: int) -> bool:
        return a in parents[b] or b in parents[a] or a in neighbours[b]

    def points(a: int, b: int) -> bool:
        """Whether the edge a - b must point to b."""
        if any(not joined(c, b) for c in parents[a]):  # c -> a - b
            return True
        if any(a in parents[c] for c in parents[b]):  # a -> c -> b
            return True
        between = [c for c in neighbours[a] if c in parents[b]]  # a - c -> b
        if any(not joined(c, d) for i, c in enumerate(between) for d in between[i + 1 :]):
            return True
        return any(  # a - d -> c -> b, a joined to c, d not joined to b
            d in neighbours[a] and not joined(d, b) and joined(a, c) for c in parents[b] for d in parents[c]
        )

    waiting = {(a, b) for a in range(len(parents)) for b in neighbours[a]}
    while waiting:
        again: set[tuple[int, int]] = set()
        for a, b in sorted(waiting):
            if b in neighbours[a] and points(a, b):
                neighbours[a].discard(b)
                neighbours[b].discard(a)
                parents[b].add(a)
                around = {a, b} | neighbours[a] | neighbours[b] | parents[a] | parents[b]
                again |= {(c, d) for c in around for d in neighbours[c]}
                again |= {(d, c) for c in around for d in neighbours[c]}
        waiting = again


class CPDAG:
    """What all networks that imply the same independences have in common: some arcs, and edges either way.

    `directed` has the pairs (parent, child) of the arcs, `undirected` the edges, `v_structures` the triples
    (parent, child, parent) whose parents no edge joins. Equal for networks that no data can tell apart.

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
            UnknownVariable: an edge of a node that is not among them.
            InvalidStructure: two edges between the same nodes, or an edge from a node to itself.
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
            InvalidStructure: it has a cycle, or its edges no direction.

        >>> CPDAG.of(nx.DiGraph([("rain", "wet"), ("wet", "slippery")])).undirected
        (('rain', 'wet'), ('wet', 'slippery'))
        """
        directed(graph)
        names = tuple(graph)
        place = {name: i for i, name in enumerate(names)}
        parents = [{place[u] for u in graph.predecessors(name)} for name in names]
        fixed, free = compelled(parents)
        return by_number(names, fixed, free)

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
            x: what is acted on: a node, or several.
            y: what it may influence.
            hidden: nodes that nobody observes.
            costs: what it costs to observe each node, 1 for those left out.
            limit: how many sets are listed at most.

        Raises:
            UnknownVariable: a name that the graph does not have.
            InvalidArgument: both ends have a node in common, or one of them is hidden; a negative cost.

        >>> graph = CPDAG("vwxy", [("v", "x"), ("w", "x"), ("x", "y"), ("w", "y")])
        >>> graph.adjustment_sets("x", "y") == [{"w"}]
        True
        """
        from pgm.graphs.class_adjustment import class_adjustment_sets

        return class_adjustment_sets(self, x, y, hidden=tuple(hidden), costs=costs, limit=limit)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: it is a value."""
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
        """Of the sets."""
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


def by_number(
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
