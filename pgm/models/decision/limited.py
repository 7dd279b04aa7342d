"""Limited-memory influence diagrams (Lauritzen & Nilsson 2001).

Rules are improved one at a time until none can be, from several starts; if each decision can be optimised
before the next, this is exact. Otherwise branch and bound over the rules follows: under no-forgetting the
diagram is worth at least as much, and where that policy needs to know more than it may, one entry of a rule
is fixed in every possible way.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD
from pgm.errors import ImpossibleEvidence, OutOfTime, TooLarge
from pgm.graphs.requisite import settled_first
from pgm.inference.engines.decisions import best_actions
from pgm.randomness import generator
from pgm.results.report import EXACT, Report
from pgm.runtime.clock import Clock, start_clock

from .advice import Advice, at_random, certain
from .decisions import Decision
from .policy import Policy
from .solving import with_full_memory
from .tables import Tables, expected, information

if TYPE_CHECKING:
    from pgm.evidence import Observed

    from .influence_diagram import InfluenceDiagram

_STARTS = 10
_NODES = 20_000  # of the search
_ROUNDING = 1e-9


def solved_with_limited_memory(diagram: InfluenceDiagram, observed: Observed, clock: Clock) -> Policy:
    """Return the best policy found, and report what is proven.

    Args:
        diagram: a diagram with limited memory.
        observed: the past.
        clock: the clock of the question.
    """
    waiting = [name for name in diagram.decisions if name not in observed.hard]
    anyhow = {name: at_random(diagram, name) for name in waiting}
    if expected(diagram, anyhow, observed.given)[1] == 0.0:
        raise ImpossibleEvidence("What is given has probability zero.", dict(observed.given))
    scopes = Tables.of(diagram, observed).utility_scopes
    flow = information(diagram, observed, waiting, scopes)
    order = settled_first(*flow, product=diagram.combine == "product")
    names = list(diagram.variables)
    if order is not None:
        found = _improved(diagram, observed, {}, [names[d] for d in order], clock, once=True)
        return _policy(diagram, observed, waiting, found[1], found[0], _proven(found[0]))
    search = _Search(diagram, observed, waiting)
    bound, note = search.run(*_climbed(diagram, observed, waiting, clock), clock)
    value, rules = search.value, search.rules
    gap = max(bound - value, 0.0)
    if gap <= _ROUNDING * max(1.0, abs(value)):
        return _policy(diagram, observed, waiting, rules, value, _proven(value))
    facts: dict[str, Any] = {"bounds": (value, bound), "value": value, "bound": bound, "gap": gap}
    report = Report("single policy updating", exact=False, error=gap, advice=note, **facts)
    return _policy(diagram, observed, waiting, rules, value, report)


def _proven(value: float) -> Report:
    return EXACT.changed(value=value, bound=value, gap=0.0)


def _climbed(
    diagram: InfluenceDiagram, past: Observed, waiting: list[str], clock: Clock
) -> tuple[float, dict[str, CPD]]:
    """The best of several starts."""
    random = generator(0)
    best: tuple[float, dict[str, CPD]] | None = None
    for start in range(_STARTS):
        rules = {name: _some_rule(diagram, name, random) for name in waiting} if start else {}
        try:
            found = _improved(diagram, past, rules, list(reversed(waiting)), clock)
        except OutOfTime:
            if best is None:
                raise
            break
        if best is None or found[0] > best[0] + _ROUNDING * max(1.0, abs(best[0])):
            best = found
    assert best is not None
    return best


def _some_rule(diagram: InfluenceDiagram, name: str, random: np.random.Generator) -> CPD:
    """Any action that is allowed, for each case."""
    variable = diagram.variables[name]
    given = tuple([diagram.variables[v] for v in diagram.parents(name)])
    weights = random.random((*[v.card for v in given], variable.card)) * _mask(diagram, name)
    return certain(variable, given, weights.argmax(axis=-1))


def _mask(diagram: InfluenceDiagram, name: str) -> np.ndarray:
    """Which actions are allowed, with an axis for all that is observed."""
    one = diagram._decisions[name]
    if one.allowed is None:
        return np.ones(1)
    at = [one.allowed_given.index(v) for v in one.observes if v in one.allowed_given]
    table = one.allowed.transpose([*at, len(at)]).astype(float)
    sizes = iter(table.shape[:-1])
    return table.reshape([*[next(sizes) if v in one.allowed_given else 1 for v in one.observes], -1])


def _improved(
    diagram: InfluenceDiagram,
    past: Observed,
    rules: Mapping[str, CPD],
    order: list[str],
    clock: Clock,
    *,
    once: bool = False,
) -> tuple[float, dict[str, CPD]]:
    """Improve one rule after the other until none can be, or once each."""
    now = {name: rules.get(name, at_random(diagram, name)) for name in order}
    before, product = -np.inf, diagram.combine == "product"
    while True:
        for name in order:
            clock.check("improving a policy")
            worth, _ = _worth(diagram, past, now, name)
            variables = tuple([diagram.variables[v] for v in _seen(diagram, name, past)])
            now[name] = certain(diagram.variables[name], variables, best_actions(worth, product=product))
        value = float(expected(diagram, now, past.given)[0])
        if once or value <= before + _ROUNDING * max(1.0, abs(before)):
            return value, now
        before = value


def _seen(diagram: InfluenceDiagram, name: str, past: Observed) -> list[str]:
    return [v for v in diagram.parents(name) if v not in past.hard]


def _worth(
    diagram: InfluenceDiagram, past: Observed, rules: Mapping[str, CPD], name: str
) -> tuple[np.ndarray, np.ndarray]:
    """The value of each action given the observations, with the other rules fixed."""
    seen = _seen(diagram, name, past)
    worth, probability = expected(
        diagram, {**rules, name: _uniform(diagram, name)}, past.given, [*seen, name]
    )
    worth = np.array(worth)
    mask = np.broadcast_to(_sliced_mask(diagram, name, past) > 0, worth.shape)
    worth[~mask] = -np.inf
    return worth, probability


def _uniform(diagram: InfluenceDiagram, name: str) -> CPD:
    variable = diagram.variables[name]
    return certain(variable, (), np.array(0), 1.0 / variable.card)


def _sliced_mask(diagram: InfluenceDiagram, name: str, past: Observed) -> np.ndarray:
    mask = _mask(diagram, name)
    at = []
    for axis, v in enumerate(diagram.parents(name)):
        code = past.hard.get(v)
        at.append(slice(None) if code is None else (code if mask.ndim > 1 and mask.shape[axis] > 1 else 0))
    return mask[tuple(at)] if mask.ndim > 1 else mask


def _policy(
    diagram: InfluenceDiagram,
    past: Observed,
    waiting: list[str],
    rules: Mapping[str, CPD],
    value: float,
    report: Report,
) -> Policy:
    advice = {}
    for name in waiting:
        worth, _ = _worth(diagram, past, rules, name)
        variables = tuple([diagram.variables[v] for v in _seen(diagram, name, past)])
        actions = rules[name].table().argmax(axis=-1)
        advice[name] = Advice(diagram.variables[name], variables, worth, np.asarray(actions))
    return Policy(diagram.copy(), past.given, advice, value, report)


# --- branch and bound ---------------------------------------------------------------------------------------


@dataclass(order=True)
class _Node:
    """A subset of all rules: the remaining actions, given the observations."""

    negative_bound: float
    ticket: int
    masks: dict[str, np.ndarray] = field(compare=False)
    decision: str = field(compare=False)  # the best action there depends on more than it observes
    at: tuple[int, ...] = field(compare=False)


class _Search:
    def __init__(self, diagram: InfluenceDiagram, past: Observed, waiting: list[str]) -> None:
        self.diagram, self.past, self.waiting = diagram, past, waiting
        self.full = diagram.copy()
        self.full.memory = "full"
        self.queue: list[_Node] = []
        self.tickets = count()

    def run(self, value: float, rules: dict[str, CPD], clock: Clock) -> tuple[float, str]:
        """Return the bound that is left, and what stopped the search; better rules are kept."""
        self.value, self.rules = value, rules
        open_ = {name: np.ones(self.shape(name), bool) for name in self.waiting}
        for name in self.waiting:
            open_[name] &= _mask(self.diagram, name) > 0
        try:
            self.consider(open_)
            for _ in range(_NODES):
                if not self.queue or -self.queue[0].negative_bound <= self.least:
                    return self.value, ""
                clock.check("searching among rules")
                node = heapq.heappop(self.queue)
                try:
                    for action in np.flatnonzero(node.masks[node.decision][node.at]):
                        child = node.masks | {node.decision: node.masks[node.decision].copy()}
                        child[node.decision][node.at] = False
                        child[node.decision][(*node.at, int(action))] = True
                        self.consider(child)
                except OutOfTime:
                    heapq.heappush(self.queue, node)
                    raise
        except TooLarge:
            return math.inf, "without forgetting the diagram is too large, so there is no bound"
        except OutOfTime:
            note = "the time limit came first: pgm.set_config(time_limit=...) allows more"
            return (max(-self.queue[0].negative_bound, self.value) if self.queue else math.inf), note
        return max(-self.queue[0].negative_bound, self.value), f"stopped after {_NODES:,} nodes"

    @property
    def least(self) -> float:
        """What a bound must exceed to matter."""
        return self.value + _ROUNDING * max(1.0, abs(self.value))

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple([self.diagram.variables[v].card for v in (*self.diagram.parents(name), name)])

    def consider(self, masks: dict[str, np.ndarray]) -> None:
        """Bound a part of the rules; keep it if it may have better ones, or its rules if these suffice."""
        for name, mask in masks.items():
            observes = self.diagram.parents(name)
            self.full._decisions[name] = Decision(observes, observes, mask)
        policy = with_full_memory(self.full, self.past, start_clock())
        bound = float(policy.expected_utility)
        if bound <= self.least:
            return
        rules = {}
        for name in self.waiting:
            at, rules[name] = self.forgetful(policy._advice[name])
            if at is not None:
                heapq.heappush(self.queue, _Node(-bound, next(self.tickets), masks, name, at))
                return
        self.value, self.rules = bound, rules

    def forgetful(self, advice: Advice) -> tuple[tuple[int, ...] | None, CPD]:
        """A case of what is observed in which the advice depends on more, and the rule if there is none."""
        name = advice.decision.name
        seen = _seen(self.diagram, name, self.past)
        own = [v.name for v in advice.given]
        shared = [v for v in seen if v in own]
        others = tuple([axis for axis, v in enumerate(own) if v not in shared])
        order = [*[own.index(v) for v in shared], *others]
        occurs = ~np.isnan(advice.values).any(axis=-1).transpose(order)
        actions = advice.actions.transpose(order)
        rest = tuple(range(len(shared), actions.ndim))
        low = np.where(occurs, actions, advice.decision.card).min(axis=rest)
        high = np.where(occurs, actions, -1).max(axis=rest)
        split = np.argwhere(high > low)
        variables = tuple([self.diagram.variables[v] for v in shared])
        rule = certain(advice.decision, variables, np.where(high < 0, 0, high))
        if not len(split):
            return None, rule
        codes = {**self.past.hard, **dict(zip(shared, split[0].tolist(), strict=True))}
        return tuple([codes.get(v, 0) for v in self.diagram.parents(name)]), rule
