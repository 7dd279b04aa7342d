"""Causal graphs with hidden common causes: what follows from the arrows alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pgm import graphs
from pgm.calls import guard_classes
from pgm.errors import InvalidEvidence, InvalidStructure, NotIdentifiable, UnknownVariable, listed, shown
from pgm.evidence import names
from pgm.graphs import identification
from pgm.graphs.adjustment import MOST, AdjustmentSets, check_ends
from pgm.graphs.class_adjustment import front_door_sets, instruments
from pgm.graphs.mixed import Cause, MixedGraph
from pgm.models import arrows
from pgm.printing import html_table, joined, label, text_table
from pgm.results.base import Frozen, put

from .identified import Identified

if TYPE_CHECKING:
    import networkx as nx
    import numpy as np
    from matplotlib.axes import Axes

    from .effect_bounds import EffectBounds
    from .estimation import Estimate

_SHOWN = 20


class CausalGraph(Frozen):
    """Arrows from causes to effects, and pairs that share a hidden cause: no probabilities.

    Args:
        edges: text such as "x -> y; x <-> y", where `<->` stands for a hidden common cause, or a list of
            pairs (cause, effect).
        common: pairs with a hidden common cause, besides those in the text.

    >>> graph = CausalGraph("smoking -> tar -> cancer; smoking <-> cancer")
    >>> graph
    CausalGraph of 3 nodes, 2 arrows, 1 hidden common cause
    node     causes   hidden causes with
    smoking  -        cancer
    tar      smoking  -
    cancer   tar      smoking
    >>> graph.identify("cancer", do="smoking").names
    ('smoking', 'tar', 'cancer')
    """

    __slots__ = ("_mixed", "_parents", "common")
    common: tuple[tuple[str, str], ...]
    _parents: dict[str, tuple[str, ...]]
    _mixed: MixedGraph

    def __init__(
        self, edges: str | Iterable[str | tuple[str, str]], common: Iterable[tuple[str, str]] = ()
    ) -> None:
        parents, pairs = arrows.parse_mixed(edges)
        for pair in common:
            if isinstance(pair, str) or len(tuple(pair)) != 2:
                raise InvalidStructure(f"common= lists pairs of names, not {shown(pair)}.")
            for name in pair:
                if name not in parents:
                    raise UnknownVariable(name, parents, where="common=")
            pairs.append((pair[0], pair[1]))
        self._take(parents, pairs)

    def _take(self, parents: Mapping[str, tuple[str, ...]], pairs: Iterable[tuple[str, str]]) -> None:
        place = {name: i for i, name in enumerate(parents)}
        found: dict[tuple[str, str], None] = {}
        for a, b in pairs:
            if a == b:
                raise InvalidStructure(f"{a!r} shares a hidden cause with itself.")
            found[(a, b) if place[a] < place[b] else (b, a)] = None
        put(self, "_parents", dict(parents))
        put(self, "common", tuple(sorted(found, key=lambda pair: (place[pair[0]], place[pair[1]]))))
        put(self, "_mixed", MixedGraph.of(parents, found))

    @classmethod
    def of(cls, parents: Mapping[str, Iterable[str]], common: Iterable[tuple[str, str]] = ()) -> CausalGraph:
        """The graph with these causes of each node.

        Args:
            parents: {name: its causes}, all nodes among them.
            common: pairs with a hidden common cause.

        Raises:
            InvalidStructure: the arrows form a cycle.
            UnknownVariable: a cause that is not a node.

        >>> CausalGraph.of({"x": [], "y": ["x"]}, [("x", "y")]) == CausalGraph("x -> y; x <-> y")
        True
        """
        known = {name: tuple(those) for name, those in parents.items()}
        for those in (*known.values(), *common):
            for name in those:
                if name not in known:
                    raise UnknownVariable(name, known)
        arrows.check_acyclic(known)
        made = object.__new__(cls)
        made._take(known, common)
        return made

    # --- nodes and arrows ---

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of all nodes that are observed."""
        return tuple(self._parents)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The arrows as pairs (cause, effect)."""
        return tuple([(a, b) for b, those in self._parents.items() for a in those])

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the direct causes of a node.

        Args:
            name: a node.

        Raises:
            UnknownVariable: there is no such node.

        >>> CausalGraph("x -> y; x <-> y").parents("y")
        ('x',)
        """
        if name not in self._parents:
            raise UnknownVariable(name, self._parents)
        return self._parents[name]

    def districts(self) -> tuple[tuple[str, ...], ...]:
        """Return the nodes in groups that hidden causes join (c-components).

        >>> CausalGraph("x -> z -> y; x <-> y").districts()
        (('x', 'y'), ('z',))
        """
        mixed = self._mixed
        return tuple([mixed.named(part) for part in mixed.districts(mixed.everything)])

    def __contains__(self, name: object) -> bool:
        """Whether there is such a node."""
        return name in self._parents

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self._parents)

    def __eq__(self, other: object) -> bool:
        """Equal when nodes, arrows and hidden causes are the same, in whatever order."""
        if not isinstance(other, CausalGraph):
            return NotImplemented
        mine, theirs = ({frozenset(pair) for pair in g.common} for g in (self, other))
        return mine == theirs and {v: set(p) for v, p in self._parents.items()} == {
            v: set(p) for v, p in other._parents.items()
        }

    def __hash__(self) -> int:
        """Hash nodes, arrows and hidden causes, in whatever order."""
        return hash((frozenset(self._parents), frozenset(self.edges), frozenset(map(frozenset, self.common))))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the parts."""
        return CausalGraph.of, (self._parents, self.common)

    # --- what follows ---

    def independent(self, a: str | Iterable[str], b: str | Iterable[str], given: Any = None) -> bool:
        """Tell whether two sets of variables are independent given others (m-separation).

        Args:
            a: one node or several.
            b: others.
            given: what is known: a name, a list of names, or a mapping, whose states do not matter.

        Raises:
            UnknownVariable: a name that the graph does not have.

        >>> graph = CausalGraph("x -> z -> y; x <-> y")
        >>> graph.independent("x", "y", given="z"), CausalGraph("x -> z <- y").independent("x", "y")
        (False, True)
        """
        return graphs.d_separated(
            self._mixed.arrows(), self._some(a, least=1), self._some(b, least=1), self._some(given)
        )

    def identify(self, y: str | Iterable[str], do: Any, given: Any = None) -> Identified:
        """Return P(y | do, given) as a formula of observed probabilities, if the graph permits one.

        By the algorithms ID and IDC (Shpitser & Pearl 2006), in the form of Tian's factors: they are
        complete, so where they find no formula, none is right for all models of the graph.

        Args:
            y: what may be influenced: a node or several.
            do: what is done: a name, a list of names, or a mapping {name: state}.
            given: what is seen of other nodes after the action, written like `do`.

        Raises:
            NotIdentifiable: the observed distribution does not determine it; the error has the hedge.
            UnknownVariable: a name that the graph does not have.
            InvalidArgument: a name in two of `y`, `do` and `given`.

        >>> CausalGraph("w -> z -> x -> y; w <-> x; w <-> y").identify("y", do="x")
        P(y | do(x)) = [sum_w P(w) P(x, y | w, z)] / [sum_w P(w) P(x | w, z)]
        """
        ys, xs, zs = self._some(y, least=1), self._some(do), self._some(given)
        check_ends(xs or ("",), ys)
        if zs:
            check_ends(zs, ys)
            check_ends(zs, xs or ("",))
        mixed = self._mixed
        values = values_of(do, "do=") | values_of(given, "given=")
        asked = Identified(self, graphs.formulas.Product(()), ys, xs, zs, {}).question
        try:
            formula, _ = identification.identify(mixed, *map(mixed.set_of, (ys, xs, zs)))
        except identification.Hedge as hedge:
            raise NotIdentifiable(asked, hedge.outer, hedge.inner, xs, ys, zs) from None
        return Identified(self, formula, ys, xs, zs, values)

    def bounds(
        self, source: Any, y: str | Iterable[str], do: Mapping[str, Any], given: Any = None
    ) -> EffectBounds:
        """Return bounds on P(y | do, given) where `identify` finds no formula.

        They come from linear programs over response functions (Balke & Pearl 1997), and are sharp if every
        two nodes in the district of the treatment share a hidden cause. With more than 4,096 combinations of
        functions, or treatments in several districts, they are the natural bounds, P(x, y) to
        P(x, y) + 1 - P(x), which hold but need not be sharp.

        Args:
            source: a Bayesian network that has these variables, or a data frame with a column for each.
            y: what may be influenced: a node or several.
            do: what is done: {name: state}.
            given: what is seen of nodes that the action does not influence, written like `do`.

        Raises:
            UnknownVariable, UnknownState: a name or a state that does not exist.
            InvalidArgument: no states are named, or the action influences what is given.
            InvalidFrame: missing columns or cells; or no model of the graph fits the rows.

        >>> import pgm
        >>> net = pgm.BayesianNetwork()
        >>> net.add("x", 0.4)
        >>> net.add("y", {True: 0.9, False: 0.2}, parents="x")
        >>> CausalGraph("x -> y; x <-> y").bounds(net, "y", do={"x": True})
        y      least     most
        False  0.040000  0.640000
        True   0.360000  0.960000
        P(y | do(x=True))
        sharp bounds
        """
        from .effect_bounds import effect_bounds

        return effect_bounds(self, source, y, do, given)

    def adjustment_sets(
        self,
        x: str | Iterable[str],
        y: str | Iterable[str],
        *,
        costs: Mapping[str, float] | None = None,
        limit: int = MOST,
    ) -> AdjustmentSets:
        """Return all minimal sets of variables to adjust for, as `BayesianNetwork.adjustment_sets` does.

        Args:
            x: what is acted on: a node, or several.
            y: what it may influence.
            costs: what it costs to observe each node, 1 for those left out: the cheapest set comes first.
            limit: how many sets are listed at most; of more, the first is still the best of all.

        Raises:
            UnknownVariable: a name that the graph does not have.
            InvalidArgument: both ends have a node in common; a negative cost.

        >>> CausalGraph("z -> x -> y <- z; z <-> y").adjustment_sets("x", "y") == [{"z"}]
        True
        """
        every = self._mixed.arrows()
        ends = self._some(x, least=1), self._some(y, least=1)
        return graphs.adjustment_sets(every, *ends, hidden=_causes(every), costs=costs, limit=limit)

    def front_door_sets(self, x: str, y: str) -> list[frozenset[str]]:
        """Return the minimal sets that satisfy the front-door criterion, the smallest first.

        Args:
            x: what is acted on.
            y: what it may influence.

        Raises:
            UnknownVariable: a name that the graph does not have.
            InvalidArgument: x is y.
            TooLarge: too many variables between them to try all sets.

        >>> CausalGraph("x -> m -> y; x <-> y").front_door_sets("x", "y")
        [frozenset({'m'})]
        """
        self._some([x, y], least=2)
        every = self._mixed.arrows()
        return front_door_sets(every, x, y, hidden=_causes(every))

    def instruments(self, x: str, y: str) -> list[tuple[str, frozenset[str]]]:
        """Return the instruments for the effect, each with what to condition on.

        Args:
            x: what is acted on.
            y: what it may influence.

        Raises:
            UnknownVariable: a name that the graph does not have.
            InvalidArgument: x is y.

        >>> CausalGraph("z -> x -> y; x <-> y").instruments("x", "y")
        [('z', frozenset())]
        """
        self._some([x, y], least=2)
        every = self._mixed.arrows()
        return instruments(every, x, y, hidden=_causes(every))

    def estimate(
        self,
        frame: Any,
        x: str,
        y: str,
        *,
        method: str = "plug-in",
        states: Any = None,
        outcome: Any = None,
        adjust: Any = None,
        given: Mapping[str, Any] | None = None,
        bootstrap: int = 200,
        seed: int | np.random.Generator | None = None,
    ) -> Estimate:
        """Estimate the average effect of x on y from rows of data, with an interval by the bootstrap.

        Args:
            frame: a data frame with a column for each variable that is needed.
            x: what is acted on.
            y: what it may influence.
            method: "plug-in", the formula of `identify` with relative frequencies; "inverse-weights" and
                "doubly-robust", which adjust by regression, also for continuous variables; "two-stage",
                least squares with an instrument, for linear effects.
            states: the two states of x, (control, treated); left out: its states if it has two, or 0 and 1.
            outcome: the state of y that counts; left out: the last of two; the mean if continuous.
            adjust: what to adjust for; the set of least variance, or a smallest one, if left out.
            given: {name: state}: the effect in this subgroup alone (conditional average effect).
            bootstrap: how many bootstrap samples are drawn for the interval.
            seed: of these samples.

        Raises:
            NotIdentifiable: the observed distribution does not determine the effect.
            InvalidArgument: adjust= is not a valid set, with the reason; there is no overlap; too few rows.
            InvalidFrame: missing columns or cells.

        >>> import pgm
        >>> net = pgm.BayesianNetwork()
        >>> net.add("z", 0.5)
        >>> net.add("x", {True: 0.8, False: 0.3}, parents="z")
        >>> net.add("y", {(True, True): 0.9, (True, False): 0.6, (False, True): 0.5, (False, False): 0.2},
        ...         parents=["z", "x"])
        >>> found = net.causal_graph().estimate(net.sample(5000, seed=0), "x", "y", bootstrap=50, seed=0)
        >>> found.interval[0] < 0.3 < found.interval[1]
        True
        """
        from .estimation import estimate

        return estimate(self, frame, x, y, method, states, outcome, adjust, bootstrap, seed, given)

    def to_networkx(self) -> nx.DiGraph[Any]:
        """Return the arrows, and each hidden cause as a node of its own with the attribute `hidden`."""
        import networkx as nx

        graph: nx.DiGraph[Any] = nx.DiGraph()
        graph.add_nodes_from(self.nodes, hidden=False)
        graph.add_edges_from(self.edges)
        for a, b in self.common:
            cause = Cause(a, b)
            graph.add_node(cause, hidden=True)
            graph.add_edges_from([(cause, a), (cause, b)])
        return graph

    def _some(self, what: Any, least: int = 0) -> tuple[str, ...]:
        found = names(what, least=least)
        for name in found:
            if name not in self._parents:
                raise UnknownVariable(name, self._parents)
        return found

    # --- in print ---

    def to_dict(self) -> dict[str, Any]:
        """The nodes, arrows and hidden common causes as lists.

        >>> CausalGraph("x -> y; x <-> y").to_dict()
        {'nodes': ['x', 'y'], 'arrows': [['x', 'y']], 'hidden': [['x', 'y']]}
        """
        return {
            "nodes": list(self.nodes),
            "arrows": [list(pair) for pair in self.edges],
            "hidden": [list(pair) for pair in self.common],
        }

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the arrows, and hidden causes as dashed lines with two heads; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title.
        """
        from pgm import plot

        return plot.causal_graph(self, ax, figsize=figsize, title=title)

    def __str__(self) -> str:
        """As text from which `CausalGraph` makes it again, if no name contains an arrow."""
        alone = [name for name in self.nodes if not any(name in pair for pair in (*self.edges, *self.common))]
        return "; ".join(
            [f"{a} -> {b}" for a, b in self.edges] + [f"{a} <-> {b}" for a, b in self.common] + alone
        )

    def __repr__(self) -> str:
        """As a table."""
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())

    def _table(self) -> tuple[list[str], list[list[str]], str, str]:
        beside: dict[str, list[str]] = {name: [] for name in self.nodes}
        for a, b in self.common:
            beside[a].append(b)
            beside[b].append(a)
        rows = [
            [label(name), joined(those, len(those)) or "-", joined(beside[name], len(beside[name])) or "-"]
            for name, those in list(self._parents.items())[:_SHOWN]
        ]
        more = len(self) - len(rows)
        counts = (len(self), "node"), (len(self.edges), "arrow"), (len(self.common), "hidden common cause")
        title = "CausalGraph of " + ", ".join(f"{n:,} {what}{'s' * (n != 1)}" for n, what in counts)
        notes = f"... {more:,} more of {len(self):,} nodes" if more > 0 else ""
        return ["node", "causes", "hidden causes with"], rows, notes, title


def _causes(arrows: graphs.Arrows) -> list[Any]:
    """The hidden causes among the nodes."""
    return [name for name in arrows.names if isinstance(name, Cause)]


def values_of(known: Any, what: str) -> dict[str, Any]:
    """The states in a mapping; none in a name or a list of names."""
    if known is None or isinstance(known, str):
        return {}
    if isinstance(known, Mapping):
        return dict(known)
    if isinstance(known, Iterable):
        return {}
    raise InvalidEvidence(f"{what} takes names or a dict {{name: state}}, not {shown(known)}.")


def hidden_of(parents: Mapping[str, Iterable[str]], hidden: tuple[str, ...]) -> CausalGraph:
    """The graph projected onto the nodes that are not hidden."""
    if len(set(hidden)) == len(parents):
        raise InvalidStructure(f"All variables are hidden: {listed(hidden)}.")
    kept, common = graphs.mixed.projected({v: tuple(p) for v, p in parents.items()}, hidden)
    return CausalGraph.of(kept, common)


guard_classes([CausalGraph])
