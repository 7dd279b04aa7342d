"""The contributions of utilities and cases to an expected utility."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.evidence import names as names_of
from pgm.evidence import observe

from . import utilities as worth
from .advice import as_cpd
from .tables import expected

if TYPE_CHECKING:
    from .influence_diagram import InfluenceDiagram
    from .policy import Policy


def contributions(policy: Policy, by: str | Iterable[str]) -> dict[str, Any]:
    """See `Policy.contributions`."""
    diagram = policy._diagram
    variables = [diagram.variables[name] for name in names_of(by, diagram.variables)]
    hard = observe(diagram.variables, policy.given).hard
    free = [v.name for v in variables if v.name not in hard]
    at = tuple([hard.get(v.name, slice(None)) for v in variables])
    rules = {name: as_cpd(one) for name, one in policy._advice.items()}
    found: dict[str, Any] = {}
    for name in diagram.utilities:
        alone = diagram.copy()
        alone._utilities = {**diagram._utilities, "": worth.Utility((name,), weights=(1.0,))}
        for other in diagram.utilities:
            if other != name and other not in _below(diagram, name):
                del alone._utilities[other]
        value, chance = expected(alone, rules, policy.given, free)
        if not variables:
            found[name] = float(value)
            continue
        parts = np.zeros([v.card for v in variables])
        parts[at] = np.where(chance > 0.0, value * chance, 0.0) / chance.sum()
        keys = product(*[v.states for v in variables])
        cases = zip(keys, parts.ravel().tolist(), strict=True)
        found[name] = {key if len(variables) > 1 else key[0]: part for key, part in cases}
    return found


def _below(diagram: InfluenceDiagram, name: str) -> set[str]:
    """The utilities that a utility is made of."""
    found = {name}
    queue = [name]
    for one in queue:  # grows during the loop
        for parent in diagram._utilities[one].parents:
            if parent in diagram._utilities and parent not in found:
                found.add(parent)
                queue.append(parent)
    return found
