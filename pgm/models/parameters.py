"""Networks of learned arrows, with parameters fitted to the same data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pgm.cpds import CPD
from pgm.learning.counts.asked import AskedCounts
from pgm.learning.counts.grouped import GroupedCounts
from pgm.learning.parameters import rules
from pgm.learning.searching.problem import StructureProblem
from pgm.runtime.clock import Clock

from .bayesian_network import BayesianNetwork
from .fitting import NetworkFitting
from .fitting_input import Options, TrainingRows, kinds_of


def fitted(
    problem: StructureProblem, parents: Sequence[Sequence[int]], order: Sequence[str], name: str, clock: Clock
) -> BayesianNetwork:
    """The network with these arrows and maximum-likelihood parameters, by EM where cells are missing."""
    names, variables, columns = problem.names, problem.variables, problem.columns
    place = {node: v for v, node in enumerate(names)}
    net = BayesianNetwork(name)
    net._parents.update({node: tuple(names[u] for u in parents[place[node]]) for node in order})
    net._domains.update(dict.fromkeys(order))
    domains = {node: variables[place[node]].domain for node in order}
    kinds = kinds_of(net, domains)
    n = len(columns[0]) if problem.asked is not None else problem.n_rows
    rows = TrainingRows(
        n,
        {node: columns[place[node]] for node in order if not variables[place[node]].continuous},
        {node: columns[place[node]] for node in order if variables[place[node]].continuous},
        np.ones(n) if problem.weights is None else problem.weights,
        problem.weights is None,
        problem.given,
        None if problem.asked is None else _grouped(problem.asked, kinds, place, list(order)),
    )
    fitting = NetworkFitting(net, kinds, rows, rules(None, "mean", {}, kinds), [], {}, clock)
    net._take_fit(fitting.climbed(Options(seed=0)) if rows.gaps() else fitting.counted())
    return net


def _grouped(
    asked: AskedCounts, kinds: Mapping[str, CPD], place: Mapping[str, int], order: list[str]
) -> GroupedCounts:
    """The counts of all families, queried from the data engine."""
    groups = []
    for name, cpd in kinds.items():
        family = [*cpd.parents, name]
        codes, weights = asked.of([place[v] for v in family]).occurring(range(len(family)))
        groups.append(([order.index(v) for v in family], codes.astype(np.int64), weights))
    return GroupedCounts([kinds[v].child.card for v in order], groups)
