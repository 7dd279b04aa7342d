"""Dynamic networks in JSON."""

from __future__ import annotations

from typing import Any

from pgm.cpds import CPD, KINDS, kind_of
from pgm.distributions.parts import Part
from pgm.errors import FileFormatError, InvalidArgument, PGMError, TooLarge, nearest, shown
from pgm.models.dynamic.dynamic_bayesian_network import DynamicBayesianNetwork
from pgm.models.dynamic.network_slices import Node, back_of, check_whole, of_cpds, parent_names, there
from pgm.variables import REAL, Domain, Variable, check_name

from .states import read_domain, write_domain, write_state

DYNAMIC = "dynamic-network"


def write(model: DynamicBayesianNetwork) -> list[dict[str, Any]]:
    """Return an object for each variable, in order."""
    check_whole(model._nodes)
    nodes = []
    for name, node in model._nodes.items():
        found: dict[str, Any] = {"name": name}
        if not node.variable.continuous:
            found |= write_domain(name, node.domain)
        if node.static:
            found["static"] = True
        if node.parents:
            found["parents"] = list(node.parents)
        found |= _written(node.cpds[-1])
        if node.cpds[:-1]:
            found["initial"] = [_first(node, step, cpd) for step, cpd in enumerate(node.cpds[:-1])]
        nodes.append(found)
    return nodes


def _first(node: Node, step: int, cpd: CPD) -> dict[str, Any]:
    own = {} if cpd.parents == there(node.parents, step) else {"parents": list(cpd.parents)}
    return own | _written(cpd)


def _written(cpd: CPD) -> dict[str, Any]:
    if kind_of(cpd.kind, cpd.given) is not type(cpd):
        raise InvalidArgument(
            f"The distribution of {shown(cpd.child.name)} is {cpd.called}, which has no JSON form."
        )
    return {cpd.kind: cpd.to_parts(write_state)}


def read(part: Part) -> DynamicBayesianNetwork:
    """Return the model of a file."""
    value = part.members("a model", ["pgm", DYNAMIC], ["name", "about"])
    for key in ("name", "about"):
        if key in value:
            part.at(key).text("a text")
    inside = part.at(DYNAMIC)
    entries = [inside.at(i) for i in range(len(inside.elements("a list of variables")))]
    domains: dict[str, Domain] = {}
    for entry in entries:
        found = entry.members(
            "a variable", ["name"], ["states", "bins", "static", "parents", "initial", *KINDS]
        )
        name = entry.at("name").text("the name of a variable")
        if not name.strip() or name in domains or back_of(name)[0] != name:
            entry.expected("the name of a variable, which no other has, without a step", "name")
        domains[check_name(name)] = (
            REAL if "states" not in found and "bins" not in found else read_domain(entry, name)
        )
    nodes: dict[str, Node] = {}
    for entry in entries:
        try:
            node = _node(entry, domains, nodes)
        except (FileFormatError, TooLarge):
            raise
        except PGMError as error:
            entry.fail(str(error))
        nodes[node.name] = node
    made = DynamicBayesianNetwork(value.get("name", ""))
    made._nodes = nodes
    return made


def _node(entry: Part, domains: dict[str, Domain], known: dict[str, Node]) -> Node:
    value = entry.value
    name = value["name"]
    static = "static" in value and entry.at("static").truth("whether it is the same in every step")
    written = entry.at("parents").names("a list of names") if "parents" in value else ()
    for i, parent in enumerate(written):
        other = back_of(parent)[0]
        if other not in domains:
            entry.fail(f"there is no variable {shown(other)}.{nearest(other, domains)}", "parents", i)
    parents = parent_names(name, None, written, known, static)
    lag = max((back_of(parent)[1] for parent in parents), default=0)
    firsts = (
        [entry.at("initial", i) for i in range(len(entry.at("initial").elements("a list")))] if lag else []
    )
    if lag and "initial" in value and len(firsts) != lag:
        entry.expected(f"a distribution for each of the first {lag} steps", "initial")
    if not lag and "initial" in value:
        entry.fail("what looks at no earlier step has no first steps of its own", "initial")
    cpds = []
    for step, first in enumerate(firsts):
        first.members("the distribution of a step", [], ["parents", *KINDS])
        those = there(parents, step)
        if "parents" in first.value:
            own = tuple(first.at("parents").names("a list of names"))
            if sorted(own) != sorted(those):
                first.expected(f"the parents {list(those)}, in any order", "parents")
            those = own
        cpds.append(_cpd(first, name, domains, those))
    cpds.append(_cpd(entry, name, domains, parents))
    return of_cpds(name, parents, domains[name], static, cpds)


def _cpd(part: Part, name: str, domains: dict[str, Domain], parents: tuple[str, ...]) -> CPD:
    kinds = [key for key in part.value if key in KINDS]
    if len(kinds) != 1:
        part.fail(f"{shown(name)} has one distribution here ({', '.join(list(KINDS)[:5])}, ...)")
    child = Variable.of(name, domains[name])
    given = tuple([Variable.of(parent, domains[back_of(parent)[0]]) for parent in parents])
    key = kinds[0]
    kind = kind_of(key, given)
    if child.continuous != kind.continuous:
        part.fail(
            f'"{key}" is not for a variable {"without" if child.continuous else "with"} states', key, key=True
        )
    if any(v.continuous for v in given) and not kind.takes_continuous:
        part.fail(f'"{key}" is of parents with states', key, key=True)
    return kind.from_parts(child, given, part.at(key))
