"""Networks for worlds that differ by an action: node splitting, and the parts of twin networks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD, LinearGaussian, TableCPD
from pgm.evidence import value_of
from pgm.variables import Variable

if TYPE_CHECKING:
    from pgm.models.bayesian_network import BayesianNetwork


def another(name: str, taken: Iterable[str], mark: str = "*") -> str:
    """A name that is not taken."""
    while name in taken:
        name += mark
    return name


def fixed(variable: Variable, name: str, state: Any) -> CPD:
    """A root of another name that has this state of the variable with certainty."""
    if variable.continuous:
        return LinearGaussian(bias=value_of(variable, state), sd=0.0).bind(name, None, ())
    values = np.zeros(variable.card)
    values[variable.code(state)] = 1.0
    values.flags.writeable = False
    return TableCPD.trusted(Variable.of(name, variable.domain), (), values)


def renamed(cpd: CPD, called: Mapping[str, str]) -> CPD:
    """The same distribution, with other names for the node and its parents."""
    *given, child = [Variable.of(called.get(v.name, v.name), v.domain) for v in (*cpd.given, cpd.child)]
    return cpd.renamed(child, tuple(given))


def split(net: BayesianNetwork, x: str, to: Mapping[str, Any]) -> BayesianNetwork:
    """The network in which these children of x see the given states, while x keeps its own distribution.

    A single-world intervention graph (Richardson & Robins 2013), with one intervention for each arrow.
    """
    cpds: dict[str, CPD] = {name: net.cpd(name) for name in net.nodes}
    variable = net.variables[x]
    copies: dict[Any, str] = {}
    for child, state in to.items():
        key = state if variable.continuous else variable.code(state)
        if key not in copies:
            copies[key] = another(f"{x}={state}", cpds)
            cpds[copies[key]] = fixed(variable, copies[key], state)
        cpds[child] = renamed(cpds[child], {x: copies[key]})
    return _network(net, cpds)


def _network(net: BayesianNetwork, cpds: Mapping[str, CPD]) -> BayesianNetwork:
    return type(net)._from_cpds(net.name, cpds.values())
