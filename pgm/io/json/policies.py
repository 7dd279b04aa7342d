"""Policies in JSON, version 2 of the format: a diagram, the past, and what to do at each open decision."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pgm.distributions.parts import Part
from pgm.errors import PGMError, nearest, shown
from pgm.evidence import Likelihood, observe
from pgm.models.decision import ExponentialUtility, InfluenceDiagram, Policy
from pgm.models.decision.advice import Advice
from pgm.results.report import EXACT, Report

from .diagrams import read_body
from .diagrams import write as write_diagram

POLICY = "policy"


def write(policy: Policy, *, expand: bool) -> dict[str, Any]:
    """Return the policy as the object of its file."""
    diagram = policy._diagram
    made: dict[str, Any] = {"diagram": write_diagram(diagram, expand=expand)}
    if diagram.name:
        made["name"] = diagram.name
    past = observe(diagram.variables, policy.given)
    given = [{"name": name, "state": code} for name, code in past.hard.items()]
    weighted = [
        {"name": name, "weights": np.prod(several, axis=0).tolist()}
        for name, several in past.weights.items()
        if name not in past.hard
    ]
    if given or weighted:
        made["given"] = [*given, *weighted]
    made["rules"] = [
        {
            "decision": name,
            "given": [v.name for v in one.given],
            "actions": one.actions.ravel().tolist(),
            "worth": [x if math.isfinite(x) else None for x in one.values.ravel().tolist()],
        }
        for name, one in policy._advice.items()
    ]
    made["value"] = float(policy.expected_utility)
    if not policy.exact:
        bound = policy.report.bound
        made["bound"] = bound if bound is not None and math.isfinite(bound) else None
    if policy.attitude is not None:
        made["tolerance"] = policy.attitude.tolerance
    return made


def read(part: Part) -> Policy:
    """Return the policy of a file."""
    part.members("a model", ["pgm", POLICY], ["name", "about"])
    body = part.at(POLICY)
    found = body.members("a policy", ["diagram", "rules", "value"], ["name", "given", "bound", "tolerance"])
    name = body.at("name").text("a text") if "name" in found else ""
    diagram = read_body(body.at("diagram"), name)
    given = _given(body, diagram) if "given" in found else {}
    waiting = [decision for decision in diagram.decisions if decision not in given]
    advice = {}
    rules = body.at("rules")
    for i in range(len(rules.elements("a list of rules"))):
        one = _rule(rules.at(i), diagram)
        if one.decision.name not in waiting or one.decision.name in advice:
            rules.fail(f"a second rule of {shown(one.decision.name)}, or one of a decision that is given", i)
        advice[one.decision.name] = one
    if set(advice) != set(waiting):
        absent = next(name for name in waiting if name not in advice)
        rules.fail(f"there is no rule for the decision {shown(absent)}")
    value = body.at("value").number("the expected utility")
    report = EXACT
    if "bound" in found:
        open_ = found["bound"] is None
        bound = math.inf if open_ else body.at("bound").number("a bound on the best expected utility")
        facts: dict[str, Any] = {
            "bounds": (value, bound),
            "value": value,
            "bound": bound,
            "gap": bound - value,
        }
        report = Report("single policy updating", exact=False, error=bound - value, **facts)
    attitude = None
    try:
        if "tolerance" in found:
            attitude = ExponentialUtility(body.at("tolerance").number("a tolerance of risk"))
        observe(diagram.variables, given)
    except PGMError as error:
        body.fail(str(error))
    ordered = {name: advice[name] for name in waiting}
    return Policy(diagram, given, ordered, value, report, attitude)


def _given(body: Part, diagram: InfluenceDiagram) -> dict[str, Any]:
    given: dict[str, Any] = {}
    parts = body.at("given")
    for i in range(len(parts.elements("a list of findings"))):
        part = parts.at(i)
        found = part.members("a finding", ["name"], ["state", "weights"])
        if ("state" in found) == ("weights" in found):
            part.fail('a finding has either "state" or "weights"')
        name = part.at("name").text("the name of a node")
        if name not in diagram.variables or name in given:
            hint = nearest(name, diagram.variables)
            part.fail(f"{shown(name)} is not a node, or is given twice.{hint}", "name")
        variable = diagram.variables[name]
        if "state" in found:
            code = part.at("state").whole("the place of a state", 0, variable.card - 1)
            given[name] = variable.states[code]
            continue
        weights = part.at("weights").numbers(variable.card, "a weight for each state")
        try:
            given[name] = Likelihood(dict(zip(variable.states, weights.tolist(), strict=True)))
        except PGMError as error:
            part.fail(str(error))
    return given


def _rule(part: Part, diagram: InfluenceDiagram) -> Advice:
    part.members("a rule", ["decision", "given", "actions", "worth"])
    name = part.at("decision").text("the name of a decision")
    if name not in diagram.decisions:
        part.fail(f"there is no decision {shown(name)}.{nearest(name, diagram.decisions)}", "decision")
    names = part.at("given").names("a list of names")
    for i, other in enumerate(names):
        if other not in diagram.known(name):
            part.fail(f"{shown(other)} is not known when {shown(name)} is decided", "given", i)
    given = tuple([diagram.variables[other] for other in names])
    decision = diagram.variables[name]
    shape = [v.card for v in given]
    rows = math.prod(shape)
    actions, worth = part.at("actions"), part.at("worth")
    if len(actions.elements("a list of actions")) != rows:
        actions.fail(f"one action for each of {rows:,} cases expected, found {len(actions.value):,}")
    if len(worth.elements("a list of numbers")) != rows * decision.card:
        worth.fail(f"{rows * decision.card:,} numbers expected, found {len(worth.value):,}")
    codes = [actions.at(i).whole("the place of an action", 0, decision.card - 1) for i in range(rows)]
    numbers = [
        math.nan if each is None else worth.at(i).number("what an action is worth, or null")
        for i, each in enumerate(worth.value)
    ]
    values = np.array(numbers).reshape(rows, decision.card)
    lost = np.isnan(values)
    values[lost & ~lost.all(axis=1, keepdims=True)] = -np.inf  # not allowed; a row of null cannot happen
    taken = values[np.arange(rows), codes]
    if np.isneginf(taken).any():
        bad = int(np.isneginf(taken).argmax())
        actions.fail("the action taken is not allowed there", bad)
    return Advice(decision, given, values.reshape(*shape, -1), np.array(codes).reshape(shape))
