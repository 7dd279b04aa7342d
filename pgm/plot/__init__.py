"""Pictures of models and answers; the only room that imports matplotlib.

Every function takes `ax=` and returns the Axes. Without `ax` it makes a figure of the size that the content
needs, on a canvas that needs no screen; in a notebook the returned axes show themselves.
"""

from .answers import answer_curves, answer_surface, answer_tornado
from .automata import state_graph
from .bar_grid import assignment, marginals, samples
from .bars import distribution, max_marginals, ranked, ranked_assignments
from .beliefs import belief, densities, intervals, table_belief
from .causal import adjustment, causal_effect, causal_graph, twin_network
from .classes import decision_regions, expected_losses
from .decision_trees import strategy
from .decisions import influence_diagram, risk, rule
from .diagnoses import diagnosis
from .effects import between, effect_range, estimate, ranges
from .errors import calibration, decision_rates, error_by_step, error_estimates, roc_curves
from .explanations import contributions, explaining_paths, information_map, odd_cells, waterfall
from .groups import clusters, silhouettes
from .hyperplanes import hyperplane, solution_region, weight_trace, weight_traces
from .many_sequences import several
from .mixtures import mixture
from .neighbours import discs, layers, similar_cases, voronoi_cells
from .networks import junction_tree, network
from .outliers import linkage_tree, outliers
from .paths import gaussian_path, states_over_time
from .plans import plan
from .ranking import ranked_rows
from .regions import classifier_regions, regions
from .sensitivity import sensitivity, sensitivity_map, tornado
from .sequences import fit, selection, steps
from .smoothing import row_density, smoother
from .structures import comparison, cpdag, structure
from .traces import report

__all__ = [
    "adjustment",
    "answer_curves",
    "answer_surface",
    "answer_tornado",
    "assignment",
    "belief",
    "between",
    "calibration",
    "causal_effect",
    "causal_graph",
    "classifier_regions",
    "clusters",
    "comparison",
    "contributions",
    "cpdag",
    "decision_rates",
    "decision_regions",
    "densities",
    "diagnosis",
    "discs",
    "distribution",
    "effect_range",
    "error_by_step",
    "error_estimates",
    "estimate",
    "expected_losses",
    "explaining_paths",
    "fit",
    "gaussian_path",
    "hyperplane",
    "influence_diagram",
    "information_map",
    "intervals",
    "junction_tree",
    "layers",
    "linkage_tree",
    "marginals",
    "max_marginals",
    "mixture",
    "network",
    "odd_cells",
    "outliers",
    "plan",
    "ranges",
    "ranked",
    "ranked_assignments",
    "ranked_rows",
    "regions",
    "report",
    "risk",
    "roc_curves",
    "row_density",
    "rule",
    "samples",
    "selection",
    "sensitivity",
    "sensitivity_map",
    "several",
    "silhouettes",
    "similar_cases",
    "smoother",
    "solution_region",
    "state_graph",
    "states_over_time",
    "steps",
    "strategy",
    "structure",
    "table_belief",
    "tornado",
    "twin_network",
    "voronoi_cells",
    "waterfall",
    "weight_trace",
    "weight_traces",
]
