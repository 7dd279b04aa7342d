"""What an intervention puts in the place of a variable's distribution: a state, a distribution or a rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD, Deterministic, LinearGaussian, TableCPD
from pgm.errors import (
    IncompleteModel,
    InvalidArgument,
    InvalidEvidence,
    InvalidStructure,
    InvalidTable,
    shown,
)
from pgm.evidence import value_of
from pgm.models import arrows
from pgm.variables import Variable

if TYPE_CHECKING:
    from pgm.models.bayesian_network import BayesianNetwork


def act(net: BayesianNetwork, actions: Any) -> dict[str, CPD]:
    """The distribution that each action puts in the place of the variable's own."""
    if not isinstance(actions, Mapping):
        raise InvalidEvidence(f"Interventions are a dict {{name: state}}, not {shown(actions)}.")
    found = {}
    for name, action in actions.items():
        domain = net._domains[net._known(name)]
        if domain is None:
            raise IncompleteModel(f"{name!r} has no states yet: give it a table with `set` first.")
        found[name] = _distribution(net, Variable.of(name, domain), action)
    parents = {node: found[node].parents if node in found else net._parents[node] for node in net._parents}
    try:
        arrows.check_acyclic(parents)
    except InvalidStructure as error:
        raise InvalidStructure(f"A rule observes something that its action influences. {error}") from None
    return found


def _distribution(net: BayesianNetwork, variable: Variable, action: Any) -> CPD:
    name = variable.name
    if isinstance(action, CPD) or (callable(action) and not isinstance(action, type)):
        return _rule(net, variable, action)
    if isinstance(action, Mapping):
        return _at_random(variable, action)
    if variable.continuous:
        return LinearGaussian(bias=value_of(variable, action), sd=0.0).bind(name, None, ())
    values = np.zeros(variable.card)
    values[variable.code(action)] = 1.0
    values.flags.writeable = False
    return TableCPD.trusted(variable, (), values)


def _rule(net: BayesianNetwork, variable: Variable, action: Any) -> CPD:
    """A function whose arguments name what it observes, or any local distribution."""
    rule = action if isinstance(action, CPD) else Deterministic(action)
    given = []
    for parent in rule.parents:
        domain = net._domains[net._known(parent)]
        if domain is None:
            raise IncompleteModel(f"{parent!r} has no states yet: give it a table with `set` first.")
        given.append(Variable.of(parent, domain))
    made = rule.bind(variable.name, variable.domain, tuple(given))
    if made.child.domain != variable.domain:
        raise InvalidTable(
            f"The rule for {variable.name!r} has other states than the network: {shown(made.child.states)}."
        )
    return made


def _at_random(variable: Variable, action: Mapping[Any, Any]) -> CPD:
    """A distribution over the states, checked."""
    if variable.continuous:
        raise InvalidArgument(
            f"{variable.name!r} is continuous: a random intervention is pgm.LinearGaussian(bias=, sd=)."
        )
    values = np.zeros(variable.card)
    for state, p in action.items():
        if not isinstance(p, int | float | np.number) or not p >= 0.0:
            raise InvalidTable(f"do: {variable.name!r} takes {shown(state)} with probability {shown(p)}.")
        values[variable.code(state)] = p
    if abs(values.sum() - 1.0) > 1e-6:
        raise InvalidTable(
            f"do: the probabilities of {variable.name!r} add up to {values.sum():.6g}, not to 1."
        )
    values /= values.sum()
    values.flags.writeable = False
    return TableCPD.trusted(variable, (), values)
