"""Structure without probabilities: separation, moral graphs, elimination orders, cliques and their trees."""

from pgm.graphs import formulas, mixed
from pgm.graphs.adjustment import AdjustmentSets, adjustment_sets
from pgm.graphs.cliques import JunctionTree, junction_tree, maximal_cliques, triangulated
from pgm.graphs.comparison import Comparison, compare
from pgm.graphs.cpdag import CPDAG
from pgm.graphs.dot import to_dot
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
from pgm.graphs.walks import Arrows

__all__ = [
    "CPDAG",
    "ELIMINATIONS",
    "AdjustmentSets",
    "Arrows",
    "Comparison",
    "Independencies",
    "JunctionTree",
    "active_trail",
    "adjustment_sets",
    "compare",
    "d_separated",
    "elimination_order",
    "formulas",
    "independencies",
    "junction_tree",
    "maximal_cliques",
    "mixed",
    "moral_graph",
    "reachable",
    "separated",
    "to_dot",
    "triangulated",
    "width_bounds",
]
