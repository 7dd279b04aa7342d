"""XMLBIF 0.3, the Interchange Format for Bayesian networks in XML (Cozman 1998), of JavaBayes, Weka, aGrUM.

    <BIF VERSION="0.3"> <NETWORK> <NAME>wet grass</NAME>
      <VARIABLE TYPE="nature"> <NAME>rain</NAME> <OUTCOME>no</OUTCOME> <OUTCOME>yes</OUTCOME> </VARIABLE>
      <DEFINITION> <FOR>wet</FOR> <GIVEN>rain</GIVEN> <TABLE>0.9 0.1 0.2 0.8</TABLE> </DEFINITION>
    </NETWORK> </BIF>

In a table the state of the child changes fastest, then that of the last parent. Properties are skipped.
Blanks around a name are stripped unless it says xml:space="preserve", as ours do where needed.
"""

from __future__ import annotations

from pgm.cpds.table import TableCPD
from pgm.errors import listed, shown
from pgm.models import BayesianNetwork, MarkovNetwork
from pgm.runtime.progress import each
from pgm.variables import Variable

from .marked import MarkedNetwork
from .markup import Element, leaf
from .refusals import Refusals
from .text import Text
from .writing import bayesian, states_as_text, tables

_DEFINITIONS = ("DEFINITION", "PROBABILITY")  # the second is from early drafts of the format
_OUTCOMES = ("OUTCOME", "VALUE")
_CHANCE = ("nature", "discrete")


def read(source: Text) -> BayesianNetwork:
    """Read a network; states and names are text."""
    return _Reader(source).read()


class _Reader(MarkedNetwork):
    def read(self) -> BayesianNetwork:
        root = self.root
        if root.name.upper() != "BIF":
            hint = "; it is GeNIe's: pass format='xdsl'" if root.name == "smile" else ""
            self.fail(f"XMLBIF begins with <BIF>, this file with <{root.tag}>{hint}", root)
        networks = self.parts(root, "NETWORK")["NETWORK"]
        if len(networks) != 1:
            self.fail(f"expected one <NETWORK>, found {len(networks)}", root)
        parts = self.parts(networks[0], "NAME", "VARIABLE", *_DEFINITIONS)
        title = self.leaf(self.only(networks[0], parts["NAME"])) if parts["NAME"] else ""
        variables: dict[str, Variable] = {}
        places: dict[str, Element] = {}
        for element in parts["VARIABLE"]:
            variable = self.variable(element)
            if variable.name in variables:
                self.fail(f"the variable {shown(variable.name)} is declared a second time", element)
            variables[variable.name], places[variable.name] = variable, element
        cpds: dict[str, TableCPD] = {}
        refusals = Refusals()
        definitions = [found for name in _DEFINITIONS for found in parts[name]]
        definitions.sort(key=lambda e: (e.line, e.column))
        for element in each(definitions, "reading tables"):
            with refusals:
                cpd = self.definition(element, variables)
                if cpd.child.name in cpds:
                    self.fail(f"a second definition of {shown(cpd.child.name)}", element)
                cpds[cpd.child.name] = cpd
        refusals.check()
        for name, element in places.items():
            if name not in cpds:
                self.fail(f"the variable {shown(name)} has no <DEFINITION>", element)
        return self.network(title, [cpds[name] for name in variables])

    def parts(self, element: Element, *names: str) -> dict[str, list[Element]]:
        """Return the elements in one by their names, in capitals; properties are left out."""
        found: dict[str, list[Element]] = {name: [] for name in (*names, "PROPERTY")}
        for child in self.inside(element):
            if child.name.upper() not in found:
                expected = listed([*names, "PROPERTY"]).replace("'", "")
                self.fail(f"expected one of {expected} in <{element.tag}>, found <{child.tag}>", child)
            found[child.name.upper()].append(child)
        return found

    def only(self, element: Element, found: list[Element], name: str = "NAME") -> Element:
        if len(found) != 1:
            place = found[1] if found else element
            self.fail(f"expected one <{name}> in <{element.tag}>, found {len(found)}", place)
        return found[0]

    def variable(self, element: Element) -> Variable:
        parts = self.parts(element, "NAME", *_OUTCOMES)
        name = self.leaf(self.only(element, parts["NAME"]))
        kind = next((value for key, value in element.attributes.items() if key.upper() == "TYPE"), "nature")
        if kind not in _CHANCE:
            self.fail(
                f"the variable {shown(name)} is of the type {shown(kind)}, which is not supported; "
                "variables of chance ('nature') are",
                element,
            )
        outcomes = [self.leaf(child) for word in _OUTCOMES for child in parts[word]]
        return self.new(name, outcomes, element)

    def definition(self, element: Element, variables: dict[str, Variable]) -> TableCPD:
        parts = self.parts(element, "FOR", "GIVEN", "TABLE")
        target = self.only(element, parts["FOR"], "FOR")
        child = self.known(self.leaf(target), variables, target)
        given = tuple([self.known(self.leaf(parent), variables, parent) for parent in parts["GIVEN"]])
        table = self.only(element, parts["TABLE"], "TABLE")
        return TableCPD.trusted(child, given, self.table(table, child, given, element))


def write(model: BayesianNetwork | MarkovNetwork, *, expand: bool) -> str:
    """Return a network as text; `expand` writes tables in place of other distributions, and bins as text."""
    net = bayesian(model, "XMLBIF")
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<BIF VERSION="0.3">', "<NETWORK>"]
    lines.append(leaf("NAME", net.name, "the name of the network"))
    for name, variable in net.variables.items():
        lines += ['<VARIABLE TYPE="nature">', "  " + leaf("NAME", name, "the name")]
        for state in states_as_text(variable, "XMLBIF", expand):
            lines.append("  " + leaf("OUTCOME", state, f"a state of {shown(name)}"))
        lines.append("</VARIABLE>")
    for name, values in tables(net, "XMLBIF", expand):
        lines += ["<DEFINITION>", "  " + leaf("FOR", name, "the name")]
        lines += ["  " + leaf("GIVEN", parent, "the name") for parent in net.parents(name)]
        lines.append("  <TABLE>")
        rows = values.reshape(-1, values.shape[-1]).tolist()
        lines += ["    " + " ".join(map(repr, row)) for row in rows]
        lines += ["  </TABLE>", "</DEFINITION>"]
    return "\n".join([*lines, "</NETWORK>", "</BIF>", ""])
