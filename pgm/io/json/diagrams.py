"""Influence diagrams in JSON, version 2 of the format."""

from __future__ import annotations

from typing import Any

import numpy as np

from pgm.cpds import CPD, KINDS, TableCPD
from pgm.distributions.parts import Part
from pgm.errors import FileFormatError, InvalidArgument, InvalidStructure, PGMError, nearest, shown
from pgm.models import BayesianNetwork
from pgm.models.decision import InfluenceDiagram
from pgm.models.decision.decisions import Decision
from pgm.models.decision.utilities import Utility
from pgm.variables import Variable, check_name

from .networks import read_cpd, read_variable, written_cpd
from .states import write_domain

DIAGRAM = "influence-diagram"
_DECISION = "decision"


def write(diagram: InfluenceDiagram, *, expand: bool) -> dict[str, Any]:
    """Return the diagram as the object of its file."""
    nodes = []
    for name, variable in diagram.variables.items():
        node: dict[str, Any] = {"name": name, **write_domain(name, variable.domain)}
        if name in diagram.decisions:
            one = diagram._decisions[name]
            own: dict[str, Any] = {"observes": list(one.observes)}
            if one.allowed is not None:
                own["given"] = list(one.allowed_given)
                own["allowed"] = one.allowed.reshape(-1, variable.card).tolist()
            nodes.append(node | {_DECISION: own})
            continue
        if diagram.parents(name):
            node["parents"] = list(diagram.parents(name))
        nodes.append(node | written_cpd(diagram.cpd(name), expand))
    made: dict[str, Any] = {"nodes": nodes, "decisions": list(diagram.decisions)}
    made["utilities"] = [_written(name, diagram._utilities[name]) for name in diagram.utilities]
    if diagram.memory != "full":
        made["memory"] = diagram.memory
    if diagram.combine != "sum":
        made["combine"] = diagram.combine
    return made


def _written(name: str, utility: Utility) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "parents": list(utility.parents)}
    if utility.function is not None:
        raise InvalidArgument(
            f"The utility {name!r} is a function of others, which has no JSON form: make it a table of the "
            "variables, or a weighted sum."
        )
    if utility.weights is not None:
        return found | {"weights": list(utility.weights)}
    assert utility.values is not None
    return found | {"values": utility.values.ravel().tolist()}


def read(part: Part) -> InfluenceDiagram:
    """Return the diagram of a file."""
    whole = part.members("a model", ["pgm", DIAGRAM], ["name", "about"])
    for key in ("name", "about"):
        if key in whole:
            part.at(key).text("a text")
    return read_body(part.at(DIAGRAM), whole.get("name", ""))


def read_body(body: Part, name: str) -> InfluenceDiagram:
    """Return the diagram of a part of a file, which has its name elsewhere."""
    found = body.members("an influence diagram", ["nodes", "decisions", "utilities"], ["combine", "memory"])
    combine = found.get("combine", "sum")
    if combine not in ("sum", "product"):
        body.fail('expected "sum" or "product"', "combine")
    memory = found.get("memory", "full")
    if memory not in ("full", "limited"):
        body.fail('expected "full" or "limited"', "memory")
    diagram = InfluenceDiagram(name, memory, combine=combine)
    nodes = [body.at("nodes", i) for i in range(len(body.at("nodes").elements("a list of nodes")))]
    variables: dict[str, Variable] = {}
    for node in nodes:
        variable = read_variable(node, ["parents", _DECISION, *KINDS])
        if variable.continuous:
            node.fail(
                f"{shown(variable.name)} has no states, and the nodes of an influence diagram have some"
            )
        if variable.name in variables:
            node.fail(f"a second node {shown(variable.name)}", "name")
        variables[variable.name] = variable
    cpds: list[CPD] = []
    own: dict[str, Decision] = {}
    for node, variable in zip(nodes, variables.values(), strict=True):
        if _DECISION in node.value:
            for key in ("parents", *KINDS):
                if key in node.value:
                    node.fail(f"a decision observes, and has no {shown(key)}", key, key=True)
            own[variable.name] = _decision(node.at(_DECISION), variable, variables)
            values = np.full(variable.card, 1.0 / variable.card)
            values.flags.writeable = False
            cpds.append(TableCPD.trusted(variable, (), values))
        else:
            cpds.append(read_cpd(node, variables))
    order = body.at("decisions").names("a list of names")
    if sorted(order) != sorted(own):
        body.fail(f"the order of the decisions names each of {list(own)} once", "decisions")
    try:
        diagram._network = BayesianNetwork._from_cpds(diagram.name, cpds)
        diagram._decisions = {name: own[name] for name in order}
        diagram._check_order(diagram._decisions)
    except InvalidStructure as error:  # a cycle
        raise FileFormatError(str(error), body.source.name) from None
    listed = body.at("utilities")
    for i in range(len(listed.elements("a list of utilities"))):
        _utility(listed.at(i), diagram)
    return diagram


def _decision(part: Part, variable: Variable, variables: dict[str, Variable]) -> Decision:
    found = part.members("a decision", ["observes"], ["given", "allowed"])
    observes = tuple(part.at("observes").names("a list of names"))
    for i, name in enumerate(observes):
        if name not in variables:
            part.fail(f"there is no node {shown(name)}.{nearest(name, variables)}", "observes", i)
    if "allowed" not in found:
        if "given" in found:
            part.fail('"given" says what "allowed" depends on, and there is none', "given", key=True)
        return Decision(observes)
    given = tuple(part.at("given").names("a list of names")) if "given" in found else ()
    for i, name in enumerate(given):
        if name not in observes:
            part.fail(f"{shown(name)} is not observed", "given", i)
    shape = [variables[name].card for name in given]
    rows = part.at("allowed")
    count = int(np.prod(shape, dtype=float))
    if len(rows.elements("a list of rows")) != count:
        rows.fail(f"one row for each of {count:,} configurations expected, found {len(rows.value):,}")
    made = np.zeros((count, variable.card), bool)
    for i in range(count):
        row = rows.at(i)
        if len(row.elements("a list of true and false")) != variable.card:
            row.fail(f"one entry for each of {variable.card} actions expected, found {len(row.value):,}")
        made[i] = [row.at(k).truth("whether an action is allowed") for k in range(variable.card)]
        if not made[i].any():
            row.fail("no action is left")
    made = made.reshape(*shape, variable.card)
    made.flags.writeable = False
    return Decision(observes, given, made)


def _utility(part: Part, diagram: InfluenceDiagram) -> None:
    found = part.members("a utility", ["name", "parents"], ["values", "weights"])
    name = part.at("name").text("the name of a utility")
    if not name.strip():
        part.expected("the name of a utility", "name")
    parents = part.at("parents").names("a list of names")
    if ("values" in found) == ("weights" in found):
        part.fail('a utility has either "values" or "weights"')
    for i, parent in enumerate(parents):
        if parent not in diagram:
            part.fail(f"there is no node {shown(parent)}.{nearest(parent, diagram.nodes)}", "parents", i)
    try:
        if "weights" in found:
            numbers = part.at("weights").numbers(len(parents), "the weights of utilities")
            if not all(parent in diagram.utilities for parent in parents):
                part.fail('"weights" are of utilities, and these are variables', "weights", key=True)
            diagram.add_utility(check_name(name), numbers.tolist(), parents=parents)
            return
        if any(parent in diagram.utilities for parent in parents):
            part.fail('"values" are of variables, and these are utilities', "values", key=True)
        shape = [diagram.variables[parent].card for parent in parents]
        size = int(np.prod(shape, dtype=float))
        numbers = part.at("values").numbers(size, "what each configuration is worth")
        values: object = numbers.reshape(shape) if parents else float(numbers[0])
        diagram.add_utility(check_name(name), values, parents=parents)
    except FileFormatError:
        raise
    except PGMError as error:
        part.fail(str(error))
