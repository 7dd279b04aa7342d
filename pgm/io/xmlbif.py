"""XMLBIF 0.3, the Interchange Format for Bayesian networks in XML (Cozman 1998), of JavaBayes, Weka, aGrUM.

    <BIF VERSION="0.3"> <NETWORK> <NAME>wet grass</NAME>
      <VARIABLE TYPE="nature"> <NAME>rain</NAME> <OUTCOME>no</OUTCOME> <OUTCOME>yes</OUTCOME> </VARIABLE>
      <DEFINITION> <FOR>wet</FOR> <GIVEN>rain</GIVEN> <TABLE>0.9 0.1 0.2 0.8</TABLE> </DEFINITION>
    </NETWORK> </BIF>

In a table the state of the child changes fastest, then that of the last parent; so in that of a utility, a
variable of the type "utility", the last parent's does. A "decision" is given what it observes. Properties are
skipped, but for two of ours (diagrams.py).
Blanks around a name are stripped unless it says xml:space="preserve", as ours do where needed.
"""

from __future__ import annotations

from pgm.cpds.table import TableCPD
from pgm.errors import listed, shown
from pgm.models import BayesianNetwork, MarkovNetwork
from pgm.models.decision import InfluenceDiagram
from pgm.models.decision.utilities import Utility
from pgm.runtime.progress import each
from pgm.variables import Variable

from .diagrams import Decisions, assembled, open_decision, to_write, told, utility_table
from .marked import MarkedNetwork
from .markup import Element, leaf
from .refusals import Refusals
from .text import Text
from .writing import bayesian, states_as_text, tables

_DEFINITIONS = ("DEFINITION", "PROBABILITY")  # the second is from early drafts of the format
_OUTCOMES = ("OUTCOME", "VALUE")
_CHANCE = ("nature", "discrete")
_KINDS = (*_CHANCE, "decision", "utility")


def read(source: Text) -> BayesianNetwork | InfluenceDiagram:
    """Read a network or an influence diagram; states and names are text."""
    return _Reader(source).read()


class _Reader(MarkedNetwork):
    def read(self) -> BayesianNetwork | InfluenceDiagram:
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
        kinds: dict[str, str] = {}
        for element in parts["VARIABLE"]:
            name, kind, variable = self.variable(element)
            if name in places:
                self.fail(f"the variable {shown(name)} is declared a second time", element)
            places[name], kinds[name] = element, kind
            if variable is not None:
                variables[name] = variable
        cpds: dict[str, TableCPD] = {}
        observes: dict[str, tuple[str, ...]] = {}
        utilities: dict[str, Utility] = {}
        defined: set[str] = set()
        refusals = Refusals()
        definitions = [found for name in _DEFINITIONS for found in parts[name]]
        definitions.sort(key=lambda e: (e.line, e.column))
        for element in each(definitions, "reading tables"):
            with refusals:
                own = self.parts(element, "FOR", "GIVEN", "TABLE")
                target = self.only(element, own["FOR"], "FOR")
                name = self.leaf(target)
                kind = kinds.get(name, "")
                if kind == "utility":
                    utilities[name] = self.utility(element, own, name, variables)
                elif kind == "decision":
                    given = self.given(own, variables)
                    observes[name] = tuple(dict.fromkeys([v.name for v in given]))
                else:
                    cpd = self.definition(element, own, target, variables)
                if name in defined:
                    self.fail(f"a second definition of {shown(name)}", element)
                defined.add(name)
                if not kind or kind in _CHANCE:
                    cpds[name] = cpd
        refusals.check()
        for name, element in places.items():
            if name not in defined and kinds[name] != "decision":
                self.fail(f"the variable {shown(name)} has no <DEFINITION>", element)
        if not set(kinds.values()) - set(_CHANCE):
            return self.network(title, [cpds[name] for name in variables])
        every = [cpds[name] if name in cpds else open_decision(variables[name]) for name in variables]
        properties = dict(self.properties(networks[0]))
        acts = {name: observes.get(name, ()) for name, kind in kinds.items() if kind == "decision"}
        found = Decisions(acts, {name: utilities[name] for name in places if name in utilities}, properties)
        return told(lambda: assembled(title, every, found), lambda message: self.fail(message, root))

    def properties(self, element: Element) -> list[tuple[str, str]]:
        """Return those that say `name = value`."""
        texts = [self.leaf(c).partition("=") for c in self.inside(element) if c.name.upper() == "PROPERTY"]
        return [(name.strip(), value.strip()) for name, equals, value in texts if equals]

    def given(self, parts: dict[str, list[Element]], variables: dict[str, Variable]) -> tuple[Variable, ...]:
        return tuple([self.known(self.leaf(parent), variables, parent) for parent in parts["GIVEN"]])

    def utility(
        self, element: Element, parts: dict[str, list[Element]], name: str, variables: dict[str, Variable]
    ) -> Utility:
        given = self.given(parts, variables)
        table = self.only(element, parts["TABLE"], "TABLE")
        return utility_table(given, self.worth(table, name, given, element))

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

    def variable(self, element: Element) -> tuple[str, str, Variable | None]:
        """Return its name, its kind and, unless it is a utility, the variable."""
        parts = self.parts(element, "NAME", *_OUTCOMES)
        name = self.leaf(self.only(element, parts["NAME"]))
        kind = next((value for key, value in element.attributes.items() if key.upper() == "TYPE"), "nature")
        if kind not in _KINDS:
            self.fail(
                f"the variable {shown(name)} is of the type {shown(kind)}, which is not supported; "
                f"{listed(_KINDS)} are",
                element,
            )
        if kind == "utility":  # what its outcomes are called means nothing
            self.new(name, ["worth"], element)
            return name, kind, None
        outcomes = [self.leaf(child) for word in _OUTCOMES for child in parts[word]]
        return name, kind, self.new(name, outcomes, element)

    def definition(
        self,
        element: Element,
        parts: dict[str, list[Element]],
        target: Element,
        variables: dict[str, Variable],
    ) -> TableCPD:
        child = self.known(self.leaf(target), variables, target)
        given = self.given(parts, variables)
        table = self.only(element, parts["TABLE"], "TABLE")
        return TableCPD.trusted(child, given, self.table(table, child, given, element))


def write(model: BayesianNetwork | MarkovNetwork | InfluenceDiagram, *, expand: bool) -> str:
    """Return a network or an influence diagram as text.

    Args:
        model: what to write.
        expand: write tables in place of other distributions and of utilities of utilities, and bins as text.
    """
    whole = to_write(model, "XMLBIF", expand=expand) if isinstance(model, InfluenceDiagram) else None
    net = bayesian(model if whole is None else whole.network, "XMLBIF")
    decisions = () if whole is None else whole.diagram.decisions
    utilities = {} if whole is None else whole.utilities
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<BIF VERSION="0.3">', "<NETWORK>"]
    lines.append(leaf("NAME", net.name if whole is None else whole.diagram.name, "the name of the network"))
    for key, value in ({} if whole is None else whole.properties).items():
        lines.append(leaf("PROPERTY", f"{key} = {value}", "a property"))
    for name, variable in net.variables.items():
        kind = "decision" if name in decisions else "nature"
        lines += [f'<VARIABLE TYPE="{kind}">', "  " + leaf("NAME", name, "the name")]
        for state in states_as_text(variable, "XMLBIF", expand):
            lines.append("  " + leaf("OUTCOME", state, f"a state of {shown(name)}"))
        lines.append("</VARIABLE>")
    for name in utilities:
        lines += ['<VARIABLE TYPE="utility">', "  " + leaf("NAME", name, "the name")]
        lines += ["  <OUTCOME>worth</OUTCOME>", "</VARIABLE>"]
    for name in decisions:
        assert whole is not None
        lines += ["<DEFINITION>", "  " + leaf("FOR", name, "the name")]
        lines += ["  " + leaf("GIVEN", parent, "the name") for parent in whole.diagram.parents(name)]
        lines.append("</DEFINITION>")
    for name, utility in utilities.items():
        assert utility.values is not None
        lines += ["<DEFINITION>", "  " + leaf("FOR", name, "the name")]
        lines += ["  " + leaf("GIVEN", parent, "the name") for parent in utility.parents]
        lines += [f"  <TABLE>{' '.join(map(repr, utility.values.ravel().tolist()))}</TABLE>", "</DEFINITION>"]
    for name, values in tables(net, "XMLBIF", expand, decisions):
        lines += ["<DEFINITION>", "  " + leaf("FOR", name, "the name")]
        lines += ["  " + leaf("GIVEN", parent, "the name") for parent in net.parents(name)]
        lines.append("  <TABLE>")
        rows = values.reshape(-1, values.shape[-1]).tolist()
        lines += ["    " + " ".join(map(repr, row)) for row in rows]
        lines += ["  </TABLE>", "</DEFINITION>"]
    return "\n".join([*lines, "</NETWORK>", "</BIF>", ""])
