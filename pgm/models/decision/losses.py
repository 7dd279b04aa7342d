"""Cost-sensitive classification as a decision, with a reject option."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from pgm.calls import guarded
from pgm.errors import InvalidArgument, InvalidStructure, shown
from pgm.evidence import known
from pgm.models.bayesian_network import BayesianNetwork

from .influence_diagram import InfluenceDiagram
from .utilities import of_variables


@guarded
def loss_diagram(
    model: BayesianNetwork,
    target: str,
    loss: object = None,
    *,
    reject: float | None = None,
    observes: str | Iterable[str] = (),
    decision: str = "decide",
) -> InfluenceDiagram:
    """Return the decision which state of a variable to predict, when errors have costs.

    Its utility, "gain", is minus the loss. Without `loss` every error costs 1: the most probable state is
    named; with `reject`, if its probability is at least 1 - reject (Chow's rule).

    Args:
        model: a discrete Bayesian network.
        target: the variable.
        loss: the cost of naming a state, in any form of a table over (true state, state named); a dict
            has keys (true, named).
        reject: the cost of naming none, if that is an option: the action "reject".
        observes: what is known at the decision, in addition to the evidence given to `solve`.
        decision: the name of the decision.

    Raises:
        UnknownVariable: there is no such variable.
        InvalidTable: losses of the wrong shape, or missing ones.
        InvalidStructure: the network has continuous variables, or a node of these names.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("ill", 0.3)
    >>> net.add("sign", {True: 0.8, False: 0.1}, parents=["ill"])
    >>> d = loss_diagram(net, "ill", {(True, False): 10, (False, True): 1, ...: 0}, reject=0.6)
    >>> d.solve({"sign": True}).decide("decide"), d.solve({"sign": False}).decide("decide")
    (True, 'reject')
    """
    if not isinstance(model, BayesianNetwork):
        raise InvalidArgument(f"A loss diagram is built on a Bayesian network, not on {shown(model)}.")
    variable = known(model.variables, target)
    model._check_complete()
    for name, each in model.variables.items():
        if each.continuous:
            raise InvalidStructure(
                f"{name!r} is continuous, and an influence diagram has states only: give it bins first."
            )
    actions = list(variable.states)
    if reject is not None:
        if isinstance(reject, bool) or not isinstance(reject, int | float) or not math.isfinite(reject):
            raise InvalidArgument(f"reject= is the cost of naming no state, a number, not {shown(reject)}.")
        if variable.domain.find("reject") >= 0:
            raise InvalidArgument(f"{target!r} has a state that means 'reject': rename it first.")
        actions.append("reject")
    if loss is None:
        cost = 1.0 - np.eye(variable.card)
    else:
        read = of_variables("loss", (variable, type(variable).of("named", variable.domain)), loss).values
        assert read is not None
        cost = read
    if reject is not None:
        cost = np.column_stack([cost, np.full(variable.card, float(reject))])
    diagram = InfluenceDiagram(model.name)
    diagram._network = model.copy()
    diagram.add_decision(decision, actions, observes=observes)
    diagram.add_utility("gain", -cost, parents=[target, decision])
    return diagram
