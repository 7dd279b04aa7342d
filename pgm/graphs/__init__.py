"""Structure without probabilities: separation, moral graphs, elimination orders, cliques and their trees."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pgm.graphs.cliques import JunctionTree, junction_tree, maximal_cliques, triangulated
    from pgm.graphs.elimination import ELIMINATIONS, elimination_order, width_bounds
    from pgm.graphs.moral import moral_graph
    from pgm.graphs.separation import (
        Independencies,
        active_trail,
        d_separated,
        independencies,
        reachable,
        separated,
    )

__all__ = [
    "ELIMINATIONS",
    "Independencies",
    "JunctionTree",
    "active_trail",
    "d_separated",
    "elimination_order",
    "independencies",
    "junction_tree",
    "maximal_cliques",
    "moral_graph",
    "reachable",
    "separated",
    "triangulated",
    "width_bounds",
]

_HOMES = {
    "cliques": ("JunctionTree", "junction_tree", "maximal_cliques", "triangulated"),
    "elimination": ("ELIMINATIONS", "elimination_order", "width_bounds"),
    "moral": ("moral_graph",),
    "separation": (
        "Independencies",
        "active_trail",
        "d_separated",
        "independencies",
        "reachable",
        "separated",
    ),
}  # they import networkx, which takes a third of the time that all of pgm takes: only who asks for them waits


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            from importlib import import_module

            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
