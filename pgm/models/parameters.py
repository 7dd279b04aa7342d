"""Networks of given arrows with the parameters that data give them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pgm.cpds import TableCPD
from pgm.cpds.table_input import check_cells
from pgm.learning.counts import Counts
from pgm.variables import Variable

from .bayesian_network import BayesianNetwork


def fitted(
    variables: Sequence[Variable],
    columns: Sequence[np.ndarray],
    weights: np.ndarray | None,
    parents: Sequence[Sequence[int]],
    order: Sequence[str],
    name: str,
) -> BayesianNetwork:
    """The network with these arrows whose tables are the shares in the data; uniform without data."""
    counts = Counts(columns, [variable.card for variable in variables], weights)
    for v, those in enumerate(parents):
        cells = tuple(variables[u].card for u in (*those, v))
        check_cells(cells, f"The table of {variables[v].name!r}", "set max_parents=")
    tables = counts.tables([[*those, v] for v, those in enumerate(parents)])
    made = {}
    for v, (those, table) in enumerate(zip(parents, tables, strict=True)):
        sums = table.sum(axis=-1, keepdims=True)
        shares = np.where(sums > 0.0, table, 1.0) / np.where(sums > 0.0, sums, variables[v].card)
        shares.flags.writeable = False
        cpd = TableCPD.trusted(variables[v], tuple(variables[u] for u in those), shares)
        made[variables[v].name] = cpd
    return BayesianNetwork._from_cpds(name, [made[node] for node in order])
