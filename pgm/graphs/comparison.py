"""How far one structure is from another: arcs that are missing, extra or reversed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pgm.calls import guard_methods, guarded
from pgm.errors import InvalidArgument, InvalidStructure, listed, shown
from pgm.graphs.cpdag import CPDAG
from pgm.graphs.members import intervention_bounds
from pgm.printing import html_facts, joined, label, text_facts
from pgm.runtime.clock import start_clock

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes
else:
    from pgm.graphs import networkx_later as nx

Pair = tuple[Any, Any]


class Comparison:
    """How a structure differs from a reference; `shd` counts the differences (structural Hamming distance).

    `missing` are arcs of the reference between nodes that the structure does not join, `extra` arcs between
    nodes that the reference does not join, `reversed` arcs of the reference that point the other way, and
    `common` those that both have. `shd_cpdag` counts the differences of the CPDAGs, so it is 0 where no data
    could distinguish the two graphs (Tsamardinos, Brown & Aliferis 2006). `sid` counts the effects that the
    structure gets wrong if the reference is right.

    >>> compare(nx.DiGraph([("a", "b"), ("b", "c")]), nx.DiGraph([("b", "a"), ("b", "c"), ("c", "d")]))
    Traceback (most recent call last):
    pgm.errors.InvalidStructure: The two structures have different nodes: only the second has 'd'.
    >>> compare(nx.DiGraph([("a", "b"), ("b", "c")]), nx.DiGraph([("b", "a"), ("b", "c")]))
    distance      1 (SHD), 0 of the CPDAGs
    common        b -> c
    missing       none
    extra         none
    reversed      b -> a
    """

    __slots__ = ("_sid", "common", "extra", "missing", "reversed", "shd", "shd_cpdag", "structures")
    common: tuple[Pair, ...]
    missing: tuple[Pair, ...]
    extra: tuple[Pair, ...]
    reversed: tuple[Pair, ...]
    shd: int
    shd_cpdag: int
    structures: tuple[CPDAG, CPDAG]
    _sid: tuple[int, int] | None

    def __init__(
        self,
        common: Iterable[Pair],
        missing: Iterable[Pair],
        extra: Iterable[Pair],
        reversed: Iterable[Pair],
        shd_cpdag: int,
        structures: tuple[CPDAG, CPDAG],
    ) -> None:
        """Take the pairs, the distance of the CPDAGs, and what was compared."""
        parts = tuple(map(tuple, (common, missing, extra, reversed)))
        for field, value in zip(("common", "missing", "extra", "reversed"), parts, strict=True):
            object.__setattr__(self, field, value)
        object.__setattr__(self, "shd", sum(map(len, parts[1:])))
        object.__setattr__(self, "shd_cpdag", shd_cpdag)
        object.__setattr__(self, "structures", structures)
        object.__setattr__(self, "_sid", None)

    def __setattr__(self, name: str, value: object) -> None:
        """Raise: a Comparison is immutable."""
        raise AttributeError(f"a Comparison does not change; .{name} cannot be set")

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the parts."""
        parts = self.common, self.missing, self.extra, self.reversed, self.shd_cpdag
        return Comparison, (*parts, self.structures)

    def __eq__(self, other: object) -> bool:
        """Equal when all parts are."""
        return self.to_dict() == other.to_dict() if isinstance(other, Comparison) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    @property
    def sid(self) -> tuple[int, int]:
        """Bounds on the number of effects that it gets wrong (structural intervention distance).

        That is the number of pairs (x, y) for which adjusting for the parents of x does not give P(y | do(x))
        if the reference is right (Peters & Bühlmann 2015). For two directed graphs both are the same; where
        edges may point either way they are the extremes over the graphs of the classes.

        Raises:
            TooLarge: too many graphs in a class.
            InvalidStructure: a structure without a directed graph.

        >>> chain = nx.DiGraph([("a", "b"), ("b", "c")])
        >>> compare(CPDAG.of(chain), chain).sid
        (0, 6)
        """
        if self._sid is None:
            mine, theirs = self.structures
            ordered = CPDAG(theirs.nodes, mine.directed, mine.undirected)
            object.__setattr__(self, "_sid", intervention_bounds(ordered, theirs, start_clock()))
        assert self._sid is not None
        return self._sid

    @property
    def precision(self) -> float:
        """The share of the arcs, whichever way they point, that the reference has; 1 if there are none."""
        right = len(self.common) + len(self.reversed)
        return right / (right + len(self.extra)) if right + len(self.extra) else 1.0

    @property
    def recall(self) -> float:
        """The share of the reference's arcs that were found, whichever way they point; 1 if it has none."""
        right = len(self.common) + len(self.reversed)
        return right / (right + len(self.missing)) if right + len(self.missing) else 1.0

    def to_dict(self) -> dict[str, Any]:
        """The distances and the arcs as plain Python objects.

        >>> compare(nx.DiGraph([("a", "b")]), nx.DiGraph([("b", "a")])).to_dict()["reversed"]
        [('b', 'a')]
        """
        pairs = {name: list(getattr(self, name)) for name in ("common", "missing", "extra", "reversed")}
        return {"shd": self.shd, "shd_cpdag": self.shd_cpdag, **pairs}

    def to_pandas(self) -> Any:
        """A data frame with a row for each arc and its kind of difference."""
        import pandas

        rows = [
            (a, b, name)
            for name in ("common", "missing", "extra", "reversed")
            for a, b in getattr(self, name)
        ]
        return pandas.DataFrame(rows, columns=["parent", "child", "arc"])

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the arcs of both, those in which they differ by colour and style; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; the distance if left out.
        """
        from pgm import plot

        return plot.comparison(self, ax, figsize=figsize, title=title)

    def _lines(self) -> list[tuple[str, str]]:
        lines = [("distance", f"{self.shd:,} (SHD), {self.shd_cpdag:,} of the CPDAGs")]
        for name in ("common", "missing", "extra", "reversed"):
            pairs = getattr(self, name)
            arcs = joined((f"{label(a)} -> {label(b)}" for a, b in pairs), len(pairs), 300)
            lines.append((name, arcs or "none"))
        return lines

    def __repr__(self) -> str:
        """A line for each kind of difference."""
        return text_facts(self._lines())

    def _repr_html_(self) -> str:
        return html_facts(self._lines())


@guarded
def compare(a: Any, b: Any) -> Comparison:
    """Compare the structure of `a` with that of `b`, the reference.

    Arcs are given as the reference has them. Where both are CPDAGs, an edge that only one leaves undirected
    counts as reversed.

    Args:
        a: a Bayesian network, a CPDAG, or a networkx DiGraph.
        b: another one, with the same nodes.

    Raises:
        InvalidStructure: they have different nodes.
        InvalidArgument: one of them is something else.

    >>> import pgm
    >>> truth = pgm.BayesianNetwork(edges="cloudy -> rain -> wet <- sprinkler <- cloudy")
    >>> found = pgm.BayesianNetwork(edges="rain -> cloudy; rain -> wet <- sprinkler; cloudy -> wet")
    >>> pgm.compare(found, truth)
    distance      3 (SHD), 2 of the CPDAGs
    common        rain -> wet, sprinkler -> wet
    missing       cloudy -> sprinkler
    extra         cloudy -> wet
    reversed      cloudy -> rain
    """
    one, other = _graph(a, "first"), _graph(b, "second")
    for mine, theirs, which in ((one, other, "first"), (other, one, "second")):
        known = set(theirs.nodes)
        if only := [name for name in mine.nodes if name not in known]:
            raise InvalidStructure(
                f"The two structures have different nodes: only the {which} has {listed(only)}."
            )
    common, missing, extra, turned = _differences(one, other)
    if isinstance(a, CPDAG) and isinstance(b, CPDAG):
        of_classes = len(missing) + len(extra) + len(turned)
    else:
        of_classes = sum(map(len, _differences(_class(one), _class(other))[1:]))
    return Comparison(common, missing, extra, turned, of_classes, (one, other))


def _class(graph: CPDAG) -> CPDAG:
    """The CPDAG of a graph; itself if it leaves edges undirected."""
    if graph.undirected:
        return graph
    arcs: nx.DiGraph[Any] = nx.DiGraph()
    arcs.add_nodes_from(graph.nodes)
    arcs.add_edges_from(graph.directed)
    return CPDAG.of(arcs)


def _graph(structure: Any, which: str) -> CPDAG:
    if isinstance(structure, CPDAG):
        return structure
    found = structure.to_networkx() if hasattr(structure, "to_networkx") else structure
    if not isinstance(found, nx.DiGraph):
        raise InvalidArgument(
            f"compare takes Bayesian networks, CPDAGs or directed graphs; the {which} is {shown(structure)}."
        )
    return CPDAG(tuple(found), found.edges)


def _differences(one: CPDAG, other: CPDAG) -> tuple[list[Pair], list[Pair], list[Pair], list[Pair]]:
    """Common, missing, extra and reversed arcs; the last as the reference has them."""
    mine, theirs = ({frozenset(arc): arc for arc in (*g.directed, *g.undirected)} for g in (one, other))
    either = [{frozenset(arc) for arc in g.undirected} for g in (one, other)]
    common: list[Pair] = []
    turned: list[Pair] = []
    for pair, arc in theirs.items():
        if pair in mine:
            same = pair in either[0] and pair in either[1]
            alike = pair not in either[0] and pair not in either[1] and mine[pair] == arc
            (common if same or alike else turned).append(arc)
    missing = [arc for pair, arc in theirs.items() if pair not in mine]
    extra = [arc for pair, arc in mine.items() if pair not in theirs]
    return common, missing, extra, turned


guard_methods([Comparison])
