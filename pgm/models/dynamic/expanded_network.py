"""Chains over places as Bayesian networks: places, the states that a user sees, what they emit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pgm.cpds import CPD, TableCPD
from pgm.cpds.table_input import check_cells
from pgm.models.bayesian_network import BayesianNetwork
from pgm.variables import Domain, Variable, as_domain

from .chain_network import observed

if TYPE_CHECKING:
    from .hidden import HiddenChain


def network(model: HiddenChain, steps: int, places: Domain) -> BayesianNetwork:
    """The network of this many steps; "ends[t]" says whether a sequence ends there, where the model knows."""
    model._check_parameters()
    check_cells((places.card, places.card), "The transitions between places", "choose fewer states")
    chain = model._steps(None)
    move = chain.dense()
    going = move.sum(axis=1)
    leaks = bool((going < 1.0 - 1e-9).any())  # what is left of a row is the end
    end = 1.0 - going if leaks else model._ending() if model._ends else None
    if leaks:
        move = np.where(going[:, None] > 0, move / np.where(going > 0, going, 1.0)[:, None], 1.0 / len(move))
    cpds: list[CPD] = []
    seen: np.ndarray | None = None
    if model._visible is not None:
        seen = np.zeros((places.card, model.n_states))
        seen[np.arange(places.card), model._visible] = 1.0
    before: tuple[Variable, ...] = ()
    for t in range(steps):
        place = Variable.of(f"state[{t}]" if seen is None else f"place[{t}]", places)
        cpds.append(TableCPD.trusted(place, before, move if before else chain.start[0]))
        if seen is not None:
            state = Variable.of(f"state[{t}]", model.variable.domain)
            cpds.append(TableCPD.trusted(state, (place,), seen))
        cpds += observed(model._emission, (place,), str(t))
        before = (place,)
        if end is not None and (leaks or t == steps - 1):
            ends = Variable.of(f"ends[{t}]", as_domain([False, True]))
            cpds.append(TableCPD.trusted(ends, before, np.column_stack([1.0 - end, end])))
    return BayesianNetwork._from_cpds(model.name, cpds)
