"""The hypothesis of an explanation or sensitivity analysis: one state of a target, and its odds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pgm.cpds import CPD
from pgm.errors import InvalidArgument, InvalidEvidence, UnknownVariable, shown
from pgm.evidence import observe
from pgm.inference.asking.questions import Questions
from pgm.printing import label
from pgm.results import Distribution
from pgm.results.base import condition
from pgm.variables import State, Variable

Given = Mapping[str, Any] | None


class Network(Protocol):
    """What explanation and sensitivity analysis need from a network, apart from its answers."""

    def cpd(self, name: str) -> CPD:
        """P(name | parents)."""


@dataclass(frozen=True, slots=True)
class Aim:
    """A target, the state of interest, and the evidence."""

    variable: Variable
    code: int
    given: dict[str, object]  # as the user wrote it, without missing values
    answer: Distribution  # P(target | given)

    @property
    def name(self) -> str:
        """The target's name."""
        return self.variable.name

    @property
    def state(self) -> State:
        """The state that is asked about."""
        return self.variable.states[self.code]

    @property
    def probability(self) -> float:
        """Its probability given the evidence."""
        return float(self.answer.values[self.code])

    @property
    def title(self) -> str:
        """The probability in question, as in P(rain=True | wet=True)."""
        event = f"{label(self.name)}={label(self.state)}"
        return f"P({event} | {condition(self.given)})" if self.given else f"P({event})"


def target_of(model: Questions, target: object, given: Given) -> tuple[Variable, dict[str, object]]:
    """The target's variable and the evidence, checked: the target is discrete and not observed."""
    variables = model.variables
    if not isinstance(target, str) or target not in variables:
        raise UnknownVariable(target, variables)
    variable = variables[target]
    if variable.continuous:
        raise InvalidArgument(
            f"{target!r} is continuous, and this asks about a state of the target. Ask about a discrete one, "
            f"or look at net.query({target!r}, given) with and without the evidence."
        )
    known = observe(variables, given).given
    if target in known:
        raise InvalidEvidence(
            f"The target {target!r} is given ({target} = {shown(known[target])}): nothing is left to ask "
            "about it. Leave it out of the evidence, or ask about another variable."
        )
    return variable, dict(known)


def aim(model: Questions, target: object, given: Given, state: State | None) -> Aim:
    """The hypothesis; by default the state True, or else the most probable one given the evidence."""
    variable, known = target_of(model, target, given)
    answer: Distribution = model.query(variable.name, known)
    if state is not None:
        code = variable.code(state)
    elif variable.states == (False, True):
        code = 1
    else:
        code = int(answer.values.argmax())
    return Aim(variable, code, known, answer)


def log_odds(p: float) -> float:
    """The logarithm of p : 1 - p.

    >>> round(log_odds(0.45), 6), log_odds(1.0)
    (-0.200671, inf)
    """
    if p <= 0.0:
        return -math.inf
    return math.inf if p >= 1.0 else math.log(p) - math.log1p(-p)
