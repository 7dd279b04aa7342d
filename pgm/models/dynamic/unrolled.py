"""Hidden Markov models as Bayesian networks, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD, LinearGaussian, TableCPD, make, prepared
from pgm.cpds.table_input import check_cells
from pgm.errors import InvalidArgument, shown
from pgm.models.bayesian_network import BayesianNetwork
from pgm.variables import REAL, Variable

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


def observed(emission: Any, parents: tuple[Variable, ...], place: str) -> list[CPD]:
    """What is observed in a step, given the states of one parent or of several.

    Args:
        emission: with a row for each combination of states of the parents, the last of which varies fastest.
        parents: the hidden variables.
        place: what stands in the brackets of the names, such as the number of the step.
    """
    if (domain := emission.domain) is not None:
        seen = Variable.of(f"observation[{place}]", domain)
        with np.errstate(divide="ignore"):
            table = np.exp(emission.log_rows(np.arange(domain.card))).T
        shape = (*(v.card for v in parents), domain.card)
        return [TableCPD.trusted(seen, parents, np.ascontiguousarray(table).reshape(shape))]
    return _normals(emission, parents, place)


def _normals(emission: Any, parents: tuple[Variable, ...], place: str) -> list[CPD]:
    """Each number given those before it in the same step (the chain rule of a normal distribution)."""
    found = emission.normals()
    if found is None:
        kind = type(emission.shared if hasattr(emission, "by_row") else emission).__name__
        raise InvalidArgument(f"What a {kind} emits has no form as a node of a network.")
    means, covariances = found
    dim = means.shape[1]
    called = [f"observation[{place}]"] if dim == 1 else [f"observation[{place},{d}]" for d in range(dim)]
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
