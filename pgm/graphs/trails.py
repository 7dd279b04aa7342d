"""Which arrows carry information between two variables, and which would if nothing blocked them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, TypeAlias

from .naming import members
from .walks import Arrows, marks, trail_arrows

if TYPE_CHECKING:
    import networkx as nx
else:
    from pgm.graphs import networkx_later as nx

Arc: TypeAlias = tuple[Any, Any]


def trails(
    graph: nx.DiGraph[Any] | Arrows, a: Hashable, b: Hashable, given: Any = ()
) -> tuple[set[Arc], set[Arc]]:
    """Return the arrows on active trails between two nodes given others, and those on blocked ones only.

    A trail is active if every collider on it is given or has a descendant that is, and nothing else on it is
    given (Koller & Friedman 2009, definition 3.6). Trails are too many to list, so an arrow counts as
    active if some active walk without U-turns uses it; in rare cases such a walk must cross itself.

    >>> graph = nx.DiGraph([("sky", "rain"), ("sky", "lawn"), ("rain", "wet"), ("lawn", "wet")])
    >>> active, blocked = trails(graph, "rain", "lawn")
    >>> sorted(active), sorted(blocked)
    ([('sky', 'lawn'), ('sky', 'rain')], [('lawn', 'wet'), ('rain', 'wet')])
    """
    arrows = graph if isinstance(graph, Arrows) else Arrows.of(graph)
    (start,), (goal,) = ([arrows.index[name] for name in members(arrows.index, [end])] for end in (a, b))
    known = [arrows.index[name] for name in members(arrows.index, given)]
    tails, heads, between, active = trail_arrows(arrows.graph, start, goal, marks(len(arrows.names), known))
    names = arrows.names
    links = [(names[u], names[v]) for u, v in zip(tails.tolist(), heads.tolist(), strict=True)]
    return (
        {links[i] for i in active.nonzero()[0].tolist()},
        {links[i] for i in (between & ~active).nonzero()[0].tolist()},
    )
