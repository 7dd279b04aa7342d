"""Bayesian networks in JSON."""

from __future__ import annotations

from typing import Any

from pgm.cpds import CPD
from pgm.errors import FileFormatError, InvalidStructure, PGMError, TooLarge, nearest, shown
from pgm.io.text import Refusals
from pgm.io.writing import FARTHEST, captions, positions
from pgm.models import BayesianNetwork
from pgm.runtime.progress import each
from pgm.variables import REAL, Domain, Variable, check_name

from .kinds import KINDS, Node, write_cpd
from .parts import Part
from .states import read_domain, write_domain


def write_network(net: BayesianNetwork, *, expand: bool) -> list[dict[str, Any]]:
    """Return an object for each node, in order."""
    net._check_complete()
    called, placed = captions(net), positions(net)
    nodes = []
    for name, variable in each(net.variables.items(), "writing"):
        node: dict[str, Any] = {"name": name}
        if name in called:
            node["caption"] = called[name]
        if name in placed:
            node["position"] = list(placed[name])
        if not variable.continuous:
            node |= write_domain(name, variable.domain)
        if net.parents(name):
            node["parents"] = list(net.parents(name))
        nodes.append(node | write_cpd(net.cpd(name), expand=expand))
    return nodes


def read_network(part: Part, title: str) -> BayesianNetwork:
    """Return the network with these nodes."""
    nodes = [part.at(i) for i in range(len(part.elements("a list of nodes")))]
    variables: dict[str, Variable] = {}
    refusals = Refusals()
    for node in nodes:
        with refusals:
            variable = read_variable(node, ["caption", "position", "parents", *KINDS])
            if variable.name in variables:
                node.fail(f"a second node {shown(variable.name)}", "name")
            variables[variable.name] = variable
    refusals.check()
    cpds: list[CPD] = []
    for node in each(nodes, "reading tables"):
        with refusals:
            cpds.append(_cpd(node, variables))
    refusals.check()
    try:
        net = BayesianNetwork._from_cpds(title, cpds)
    except InvalidStructure as error:  # a cycle
        raise FileFormatError(str(error), part.source.path) from None
    for node, name in zip(nodes, variables, strict=True):
        if "caption" in node.value:
            net.captions[name] = node.at("caption").text("what a node is called in its picture")
        if "position" in node.value:
            net.positions[name] = _position(node.at("position"))
    return net


def _position(part: Part) -> tuple[int, int, int, int]:
    if len(part.elements("left, top, right and bottom")) != 4:
        part.expected("left, top, right and bottom")
    left, top, right, bottom = (part.at(i).whole("a place", -FARTHEST, FARTHEST) for i in range(4))
    return left, top, right, bottom


def read_variable(part: Part, more: list[str]) -> Variable:
    """Return the variable that this object describes; a number if it has no states."""
    value = part.members("a node" if more else "a variable", ["name"], ["states", "bins", *more])
    name = part.at("name").text("the name of a variable")
    if not name.strip():
        part.expected("the name of a variable", "name")
    domain: Domain = REAL if "states" not in value and "bins" not in value else read_domain(part, name)
    return Variable.of(check_name(name), domain)


def _cpd(part: Part, variables: dict[str, Variable]) -> Any:
    value = part.value
    child = variables[value["name"]]
    given = []
    for i, parent in enumerate(part.at("parents").names("a list of names") if "parents" in value else ()):
        if parent not in variables:
            part.fail(f"there is no node {shown(parent)}.{nearest(parent, variables)}", "parents", i)
        if parent == child.name:
            part.fail("a node cannot be its own parent", "parents", i)
        given.append(variables[parent])
    kinds = [key for key in value if key in KINDS]
    if len(kinds) != 1:
        found = "no distribution" if not kinds else f"{len(kinds)} distributions"
        some = ", ".join(list(KINDS)[:5])
        part.fail(f"{shown(child.name)} has {found}, and a node has one ({some}, ...)")
    key = kinds[0]
    if child.continuous != (key == "linear-gaussian"):
        need = "has no states" if child.continuous else "is of a number, and this node has states"
        what = f'{shown(child.name)} {need}: its distribution is "linear-gaussian"'
        part.fail(what if child.continuous else f'"linear-gaussian" {need}', key, key=True)
    numbers = [v.name for v in given if v.continuous]
    if numbers and key not in ("linear-gaussian", "logistic"):
        part.fail(f'the parent {shown(numbers[0])} is a number: "{key}" is of parents with states', "parents")
    body = part.at(key)
    try:
        return KINDS[key].read(
            body, Node(child.name, None if child.continuous else child.domain, tuple(given))
        )
    except (FileFormatError, TooLarge):
        raise
    except PGMError as error:
        body.fail(str(error))
