"""Bayesian networks in JSON."""

from __future__ import annotations

from typing import Any

from pgm.cpds import CPD, KINDS, TableCPD, kind_of
from pgm.distributions.parts import Part
from pgm.errors import FileFormatError, InvalidArgument, InvalidStructure, PGMError, TooLarge, nearest, shown
from pgm.io.refusals import Refusals
from pgm.io.writing import FARTHEST, captions, positions
from pgm.models import BayesianNetwork
from pgm.runtime.progress import each
from pgm.variables import REAL, Domain, Variable, check_name

from .states import read_domain, write_domain, write_state


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
        nodes.append(node | written_cpd(net.cpd(name), expand))
    return nodes


def written_cpd(cpd: CPD, expand: bool) -> dict[str, Any]:
    """Return a distribution as a member of the object of its node."""
    if cpd.kind in KINDS and kind_of(cpd.kind, cpd.given) is type(cpd):
        return {cpd.kind: cpd.to_parts(write_state)}
    if cpd.continuous:
        raise InvalidArgument(
            f"The distribution of {shown(cpd.child.name)} is {cpd.called} of Python "
            "objects, which no "
            "file format holds; keep the network with pickle."
        )
    if expand:
        return {"table": TableCPD.trusted(cpd.child, cpd.given, cpd.table()).to_parts()}
    real = cpd.continuous or any(v.continuous for v in cpd.given)
    remedy = "no table either: a pickle keeps it." if real else "; expand=True writes its table."
    raise InvalidArgument(
        f"The distribution of {shown(cpd.child.name)} is {cpd.called}, which has no JSON form"
        f"{', and ' if real else ''}{remedy}"
    )


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
            cpds.append(read_cpd(node, variables))
    refusals.check()
    try:
        net = BayesianNetwork._from_cpds(title, cpds)
    except InvalidStructure as error:  # a cycle
        raise FileFormatError(str(error), part.source.name) from None
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
    """Return the variable that this object describes; a continuous one if it has no states."""
    value = part.members("a node" if more else "a variable", ["name"], ["states", "bins", *more])
    name = part.at("name").text("the name of a variable")
    if not name.strip():
        part.expected("the name of a variable", "name")
    domain: Domain = REAL if "states" not in value and "bins" not in value else read_domain(part, name)
    return Variable.of(check_name(name), domain)


def read_cpd(part: Part, variables: dict[str, Variable]) -> Any:
    """Return the distribution of a node, given all variables."""
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
    kind = kind_of(key, given)
    if child.continuous and not kind.continuous:
        those = " or ".join([f'"{other}"' for other, cpd in KINDS.items() if cpd.continuous])
        part.fail(f"{shown(child.name)} has no states: its distribution is {those}", key, key=True)
    if kind.continuous and not child.continuous:
        part.fail(f'"{key}" is for continuous nodes, and this one has states', key, key=True)
    real = [v.name for v in given if v.continuous]
    if real and not kind.takes_continuous:
        part.fail(f'the parent {shown(real[0])} is continuous: "{key}" is of parents with states', "parents")
    body = part.at(key)
    try:
        return kind.from_parts(child, tuple(given), body)
    except (FileFormatError, TooLarge):
        raise
    except PGMError as error:
        body.fail(str(error))
