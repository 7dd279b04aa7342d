"""Decision rules as distributions, and an influence diagram that follows them as a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD, TableCPD
from pgm.models.bayesian_network import BayesianNetwork
from pgm.variables import Variable

if TYPE_CHECKING:
    from .influence_diagram import InfluenceDiagram


@dataclass(frozen=True, eq=False)
class Advice:
    """How the actions of a decision compare, given the requisite observations."""

    decision: Variable
    given: tuple[Variable, ...]
    values: np.ndarray  # an axis for each of `given`, then the actions; only differences (or ratios) count
    actions: np.ndarray  # codes of the best ones


def as_cpd(advice: Advice) -> CPD:
    """Return a rule as a deterministic distribution."""
    return certain(advice.decision, advice.given, advice.actions)


def certain(variable: Variable, given: tuple[Variable, ...], codes: np.ndarray, spread: float = 0.0) -> CPD:
    """Return a decision as a deterministic distribution.

    Args:
        variable: the decision.
        given: what it depends on.
        codes: of the action, by what is given.
        spread: the probability of each action instead.
    """
    values = np.full((*codes.shape, variable.card), spread)
    if not spread:
        np.put_along_axis(values, codes[..., np.newaxis], 1.0, axis=-1)
    return _table(variable, given, values)


def at_random(diagram: InfluenceDiagram, decision: str) -> CPD:
    """Return a decision as a distribution: each action that is allowed is equally probable.

    Args:
        diagram: the diagram.
        decision: one of its decisions.
    """
    variable, one = diagram.variables[decision], diagram._decisions[decision]
    values = np.ones(variable.card) if one.allowed is None else one.allowed.astype(float)
    given = tuple([diagram.variables[name] for name in one.allowed_given])
    return _table(variable, given, values / values.sum(axis=-1, keepdims=True))


def _table(child: Variable, given: tuple[Variable, ...], values: np.ndarray) -> CPD:
    values.flags.writeable = False
    return TableCPD.trusted(child, given, values)


def as_network(
    diagram: InfluenceDiagram, rules: Mapping[str, CPD], given: Mapping[str, Any]
) -> BayesianNetwork:
    """Return a diagram as a network, with these distributions of decisions; others are given.

    Args:
        diagram: the diagram.
        rules: the distribution of each decision that is not given.
        given: the past.
    """
    network = diagram._network
    cpds: list[CPD] = []
    for name in network:
        if name in rules:
            cpds.append(rules[name])
        elif name in diagram.decisions:
            variable = network.variables[name]
            values = np.zeros(variable.card)
            values[variable.code(given[name])] = 1.0
            cpds.append(_table(variable, (), values))
        else:
            cpds.append(network.cpd(name))
    return BayesianNetwork._from_cpds(diagram.name, cpds)
