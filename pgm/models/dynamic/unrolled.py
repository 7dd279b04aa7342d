"""Hidden Markov models as Bayesian networks, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD, LinearGaussian, TableCPD, make, prepared
from pgm.errors import InvalidArgument, shown
from pgm.models.bayesian_network import BayesianNetwork
from pgm.variables import REAL, Variable

if TYPE_CHECKING:
    from .hmm import HMM


def network(model: HMM, steps: int) -> BayesianNetwork:
    """The network of so many steps."""
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
        raise InvalidArgument(f"steps= is a whole number of at least 1, not {shown(steps)}.")
    states = model.variable.domain
    cpds: list[CPD] = []
    emitted = _tables(model) if model.emission.domain is not None else None
    for t in range(int(steps)):
        hidden = Variable.of(f"state[{t}]", states)
        if t == 0:
            cpds.append(TableCPD.trusted(hidden, (), model.initial))
        else:
            cpds.append(TableCPD.trusted(hidden, (Variable.of(f"state[{t - 1}]", states),), model.transition))
        if emitted is not None:
            seen = Variable.of(f"observation[{t}]", model.emission.domain)  # type: ignore[arg-type]
            cpds.append(TableCPD.trusted(seen, (hidden,), emitted))
        else:
            cpds += _normals(model, hidden, t)
    return BayesianNetwork._from_cpds(model.name, cpds)


def _tables(model: HMM) -> np.ndarray:
    assert model.emission.domain is not None
    with np.errstate(divide="ignore"):
        return np.ascontiguousarray(np.exp(model.emission.log_rows(np.arange(model.emission.domain.card))).T)


def _normals(model: HMM, hidden: Variable, t: int) -> list[CPD]:
    """Each number given those before it in the same step (the chain rule of a normal distribution)."""
    found = model.emission.normals()
    if found is None:
        raise InvalidArgument(f"A {type(model.emission).__name__} has no form as a node of a network.")
    means, covariances = found
    dim = means.shape[1]
    called = [f"observation[{t}]"] if dim == 1 else [f"observation[{t},{d}]" for d in range(dim)]
    numbers = [Variable.of(name, REAL) for name in called]
    made = []
    for d in range(dim):
        by_state: Mapping[Any, Any] = {
            state: _regression(means[k], covariances[k], d, called) for k, state in enumerate(hidden.states)
        }
        table, parents = prepared(called[d], by_state, [hidden.name])
        there = {v.name: v for v in (hidden, *numbers[:d])}
        listed = parents if parents is not None else table.parents  # type: ignore[attr-defined]
        made.append(make(called[d], table, None, tuple(there[name] for name in listed)))
    return made


def _regression(mean: np.ndarray, covariance: np.ndarray, d: int, called: list[str]) -> LinearGaussian:
    weights = np.linalg.solve(covariance[:d, :d], covariance[:d, d])
    left = covariance[d, d] - covariance[d, :d] @ weights
    bias = float(mean[d] - weights @ mean[:d])
    return LinearGaussian(
        dict(zip(called[:d], weights.tolist(), strict=True)), bias=bias, sd=float(np.sqrt(left))
    )
