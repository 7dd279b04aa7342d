"""Markov chains and hidden Markov models as Bayesian networks, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD, TableCPD
from pgm.cpds.table_input import check_cells
from pgm.distributions import Bernoulli, GaussianMixture, Product, Tied
from pgm.errors import InvalidArgument, shown
from pgm.models.bayesian_network import BayesianNetwork
from pgm.models.continuous_nodes import density_nodes, normal_nodes
from pgm.variables import Domain, Variable, as_domain

if TYPE_CHECKING:
    from .hmm import HMM


def network(model: HMM, steps: int) -> BayesianNetwork:
    """The Bayesian network of a hidden Markov model over this many steps."""
    states = model.variable.domain
    cpds: list[CPD] = []
    for t in range(steps_of(steps)):
        hidden = Variable.of(f"state[{t}]", states)
        if t == 0:
            cpds.append(TableCPD.trusted(hidden, (), model.initial))
        else:
            cpds.append(TableCPD.trusted(hidden, (Variable.of(f"state[{t - 1}]", states),), model.transition))
        cpds += observed(model.emission, (hidden,), str(t))
    return BayesianNetwork._from_cpds(model.name, cpds)


def chain(name: str, variable: Variable, tables: Sequence[np.ndarray], steps: int) -> BayesianNetwork:
    """The Bayesian network of a Markov chain, whose states are observed, over this many steps.

    Args:
        name: of the network.
        variable: the states.
        tables: of the first state, of the second given the first, ..., and of all later ones.
        steps: how many.
    """
    seen = [Variable.of(f"state[{t}]", variable.domain) for t in range(steps_of(steps))]
    order = len(tables) - 1
    cpds = [
        TableCPD.trusted(one, tuple(seen[max(t - order, 0) : t]), tables[min(t, order)])
        for t, one in enumerate(seen)
    ]
    return BayesianNetwork._from_cpds(name, cpds)


def steps_of(steps: Any) -> int:
    """How many steps, checked: at least 1."""
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
        raise InvalidArgument(f"steps= is a whole number of at least 1, not {shown(steps)}.")
    check_cells((int(steps), 64), "This many steps", "choose fewer")  # variables, names, tables
    return int(steps)


def observed(
    emission: Any, parents: tuple[Variable, ...], place: str, name: str = "observation"
) -> list[CPD]:
    """The nodes of what is observed in a step, given the states of one parent or of several.

    Args:
        emission: with a row for each combination of states of the parents, the last of which varies fastest.
        parents: the hidden variables.
        place: the text in the brackets of the names, such as the index of the step.
        name: the text before them.
    """
    if (domain := emission.domain) is not None:
        with np.errstate(divide="ignore"):
            rows = np.exp(emission.log_rows(np.arange(domain.card))).T
        return [_table(f"{name}[{place}]", domain, parents, rows)]
    if (found := emission.normals()) is not None:
        return normal_nodes(found[0], found[1], parents, _names_of(name, place, found[0].shape[1]))
    shared = emission.shared if hasattr(emission, "by_row") else emission
    tied = shared is not emission
    of = emission.of if tied else np.arange(shared.n_states or 1)  # the row of each state
    if isinstance(shared, Product):
        parts = [Tied(part, of) if tied else part for part in shared.parts]
        if shared.names is None:
            cpds = [observed(part, parents, f"{place},{i}", name) for i, part in enumerate(parts)]
        else:
            columns = zip(shared.columns(), parts, strict=True)
            cpds = [observed(part, parents, place, column) for column, part in columns]
        return [cpd for some in cpds for cpd in some]
    if isinstance(shared, Bernoulli):
        shares = shared.moments()[0][of]
        places = [f"{place},{d}" for d in range(shared.dim)] if shared.vector else [place]
        return [
            _table(f"{name}[{at}]", as_domain([0, 1]), parents, np.stack([1.0 - p, p], axis=1))
            for at, p in zip(places, shares.T, strict=True)
        ]
    if isinstance(shared, GaussianMixture):
        weights, means, covariances = (part[of] for part in shared.components())
        k, m, dim = means.shape
        called = f"component[{place}]" if name == "observation" else f"{name} component[{place}]"
        chosen = _table(called, as_domain(list(range(m))), parents, weights)
        both = (*parents, Variable.of(called, as_domain(list(range(m)))))
        means, covariances = means.reshape(k * m, dim), covariances.reshape(k * m, dim, dim)
        return [chosen, *normal_nodes(means, covariances, both, _names_of(name, place, dim))]
    if hasattr(shared, "of_state"):
        one = shared.n_states is None
        each = [shared if one else shared.of_state(int(i)) for i in of]
        return density_nodes(each, parents, _names_of(name, place, shared.dim))
    raise InvalidArgument(f"What a {type(shared).__name__} emits cannot be written as a node of a network.")


def _table(name: str, domain: Domain, parents: tuple[Variable, ...], rows: np.ndarray) -> TableCPD:
    shape = (*(v.card for v in parents), domain.card)
    return TableCPD.trusted(Variable.of(name, domain), parents, np.ascontiguousarray(rows).reshape(shape))


def _names_of(name: str, place: str, dim: int) -> list[str]:
    return [f"{name}[{place}]"] if dim == 1 else [f"{name}[{place},{d}]" for d in range(dim)]
