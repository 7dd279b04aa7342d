"""Markov chains and hidden Markov models as Bayesian networks, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD, LinearGaussian, TableCPD, make, prepared
from pgm.cpds.table_input import check_cells
from pgm.distributions import Bernoulli, GaussianMixture, Product, Tied
from pgm.errors import InvalidArgument, shown
from pgm.models.bayesian_network import BayesianNetwork
from pgm.variables import REAL, Domain, Variable, as_domain

if TYPE_CHECKING:
    from .hmm import HMM


def network(model: HMM, steps: int) -> BayesianNetwork:
    """The network of so many steps."""
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
    """The network of so many steps of states that are seen.

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
    """A number of steps of at least 1."""
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
        raise InvalidArgument(f"steps= is a whole number of at least 1, not {shown(steps)}.")
    check_cells((int(steps), 64), "So many steps", "choose fewer")  # variables, names, tables
    return int(steps)


def observed(
    emission: Any, parents: tuple[Variable, ...], place: str, name: str = "observation"
) -> list[CPD]:
    """What is observed in a step, given the states of one parent or of several.

    Args:
        emission: with a row for each combination of states of the parents, the last of which varies fastest.
        parents: the hidden variables.
        place: what stands in the brackets of the names, such as the number of the step.
        name: what stands before them.
    """
    if (domain := emission.domain) is not None:
        with np.errstate(divide="ignore"):
            rows = np.exp(emission.log_rows(np.arange(domain.card))).T
        return [_table(f"{name}[{place}]", domain, parents, rows)]
    if (found := emission.normals()) is not None:
        return _normals(found[0], found[1], parents, place, name)
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
        return [chosen, *_normals(means, covariances, both, place, name)]
    raise InvalidArgument(f"What a {type(shared).__name__} emits has no form as a node of a network.")


def _table(name: str, domain: Domain, parents: tuple[Variable, ...], rows: np.ndarray) -> TableCPD:
    shape = (*(v.card for v in parents), domain.card)
    return TableCPD.trusted(Variable.of(name, domain), parents, np.ascontiguousarray(rows).reshape(shape))


def _normals(
    means: np.ndarray, covariances: np.ndarray, parents: tuple[Variable, ...], place: str, name: str
) -> list[CPD]:
    """Each number given those before it in the same step (the chain rule of a normal distribution)."""
    dim = means.shape[1]
    called = [f"{name}[{place}]"] if dim == 1 else [f"{name}[{place},{d}]" for d in range(dim)]
    numbers = [Variable.of(name, REAL) for name in called]
    combined = list(product(*(v.states for v in parents))) if len(parents) > 1 else parents[0].states
    made = []
    for d in range(dim):
        by_state: Mapping[Any, Any] = {
            state: _regression(means[k], covariances[k], d, called) for k, state in enumerate(combined)
        }
        table, listed = prepared(called[d], by_state, [v.name for v in parents])
        there = {v.name: v for v in (*parents, *numbers[:d])}
        names = listed if listed is not None else table.parents  # type: ignore[attr-defined]
        made.append(make(called[d], table, None, tuple(there[name] for name in names)))
    return made


def _regression(mean: np.ndarray, covariance: np.ndarray, d: int, called: list[str]) -> LinearGaussian:
    weights = np.linalg.solve(covariance[:d, :d], covariance[:d, d])
    left = covariance[d, d] - covariance[d, :d] @ weights
    bias = float(mean[d] - weights @ mean[:d])
    return LinearGaussian(
        dict(zip(called[:d], weights.tolist(), strict=True)), bias=bias, sd=float(np.sqrt(left))
    )
