"""BIF, the Interchange Format for Bayesian networks (Cozman 1997), as bnlearn, JavaBayes and aGrUM write it.

The format has white space, commas and comments wherever one likes, names with or without quotes, and for each
variable one probability block:

    probability ( child | parent, parent ) { (state, state) 0.9, 0.1;  default 0.5, 0.5; }
    probability ( child | parent ) { table 0.9 0.5 0.1 0.5; }       the state of the child changes slowest

Properties are skipped: they say how other programs draw or describe a network.
"""

from __future__ import annotations

from pgm.errors import shown
from pgm.models import BayesianNetwork, MarkovNetwork
from pgm.variables import Variable

from .probability_blocks import Rows
from .reader import Reader
from .scanner import written
from .text import Text
from .writing import bayesian, keys, listings, states_as_text

_NAMELESS = "unknown"  # what bnlearn writes for a network without a name
_KEYWORDS = frozenset(
    {"network", "variable", "probability", "property", "type", "discrete", "table", "default", _NAMELESS}
)


def read(source: Text) -> BayesianNetwork:
    """Read a network; states and names are text."""
    return _Reader(source).network()


class _Reader(Reader):
    def network(self) -> BayesianNetwork:
        if self.word("'network', with which a BIF file begins") != "network":
            self.pos = 0
            self.expected("'network', with which a BIF file begins")
        title = ""
        if self.peek() != "{":
            before = self.pos
            if self.word("the name of the network") != _NAMELESS:  # without quotes it is not a name
                self.pos = before
                title = self.name("the name of the network")
        for _ in self.attributes("after the name of the network"):
            pass
        choice = "'variable', 'probability' or the end of the file"
        while (before := self.first(self.pos)) < len(self.text):
            keyword = self.word(choice)
            if keyword == "variable":
                self.variable(before)
            elif keyword == "probability":
                self.probability(before)
            else:
                self.pos = before
                self.expected(choice)
        self.check_blocks("probability block")
        return self.built_network(title, lambda name: Rows(self, self.blocks[name]).cpd())

    def variable(self, position: int) -> None:
        name = self.name("the name of a variable")
        self.declare(name, position)
        where = f"in the variable {shown(name)}"
        for _ in self.attributes(where, "type"):
            at = self.first(self.pos)
            if name in self.variables:
                self.fail(f"a second type {where}", at)
            if self.word("'discrete'") != "discrete":
                self.pos = at
                self.expected(f"'discrete', the only type that BIF defines, {where}")
            self.add(name, self.states(self.state_count(), where, at), at)
        if name not in self.variables:
            self.fail(f"expected 'type discrete [ ... ] {{ ... }};' {where}, found none", position)


# --- writing ------------------------------------------------------------------------------------------------


def write(model: BayesianNetwork | MarkovNetwork, *, expand: bool) -> str:
    """Return a network as text; `expand` writes tables in place of other distributions, and bins as text."""
    net = bayesian(model, "BIF")
    variables = net.variables
    # By identity: the domains (0, 1) and (False, True) are equal, but not as text.
    states = {id(v.domain): _states(v, expand) for v in variables.values()}
    names = {name: written(name, "the name", _KEYWORDS) for name in variables}
    title = _NAMELESS if net.name == "" else written(net.name, "the name of the network", _KEYWORDS)
    parts = [f"network {title} {{\n}}\n"]
    for name, variable in variables.items():
        listed_states = ", ".join(states[id(variable.domain)])
        parts.append(
            f"variable {names[name]} {{\n  type discrete [ {variable.card} ] {{ {listed_states} }};\n}}\n"
        )
    for name, values, default in listings(net, "BIF", expand):
        parents = net.parents(name)
        lines = [", ".join(map(repr, row)) for row in values.tolist()]
        if not parents:
            parts.append(f"probability ( {names[name]} ) {{\n  table {lines[0]};\n}}\n")
            continue
        listed = keys(net.cpd(name), [states[id(variables[parent].domain)] for parent in parents])
        body = "".join([f"  ({', '.join(key)}) {line};\n" for key, line in zip(listed, lines, strict=True)])
        if default is not None:
            body += f"  default {', '.join(map(repr, default.tolist()))};\n"
        given = ", ".join([names[parent] for parent in parents])
        parts.append(f"probability ( {names[name]} | {given} ) {{\n{body}}}\n")
    return "".join(parts)


def _states(variable: Variable, expand: bool) -> list[str]:
    what = f"a state of {shown(variable.name)}"
    return [written(text, what, _KEYWORDS) for text in states_as_text(variable, "BIF", expand)]
