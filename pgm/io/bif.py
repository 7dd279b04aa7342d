"""BIF, the Interchange Format for Bayesian networks (Cozman 1997), as bnlearn, JavaBayes and aGrUM write it.

The format has white space, commas and comments wherever one likes, names with or without quotes, and for each
variable one probability block:

    probability ( child | parent, parent ) { (state, state) 0.9, 0.1;  default 0.5, 0.5; }
    probability ( child | parent ) { table 0.9 0.5 0.1 0.5; }       the state of the child changes slowest

Properties are read over: they say how other programs draw or explain a network.
"""

from __future__ import annotations

from itertools import product

from pgm.config import current
from pgm.cpds.table import TableCPD
from pgm.errors import (
    InvalidArgument,
    InvalidVariable,
    shown,
)
from pgm.models import BayesianNetwork, MarkovNetwork
from pgm.variables import Interval, Variable, as_domain

from .blocks import Rows
from .reader import Reader
from .scanner import written
from .text import Path, read_text, write_text

_NAMELESS = "unknown"  # what bnlearn writes for a network without a name
_KEYWORDS = frozenset(
    {"network", "variable", "probability", "property", "type", "discrete", "table", "default", _NAMELESS}
)
_BYTES_EACH = 64  # what a number takes while it becomes text


def read(path: Path, encoding: str = "utf-8") -> BayesianNetwork:
    """Read a network; states and names are text."""
    return _Reader(read_text(path, encoding)).network()


class _Reader(Reader):
    def network(self) -> BayesianNetwork:
        if self.word("'network', with which a BIF file begins") != "network":
            self.pos = 0
            self.expected("'network', with which a BIF file begins")
        title = ""
        if self.peek() != "{":
            before = self.pos
            if self.word("the name of the network") != _NAMELESS:  # without quotes it is no name
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
        return self.built(title, [Rows(self, self.blocks[name]).cpd() for name in self.variables])

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
                self.expected(f"'discrete', the one type that BIF defines, {where}")
            self.add(name, self.states(self.state_count(), where, at), at)
        if name not in self.variables:
            self.fail(f"expected 'type discrete [ ... ] {{ ... }};' {where}, found none", position)


# --- writing ------------------------------------------------------------------------------------------------


def write(net: BayesianNetwork | MarkovNetwork, path: Path, *, expand: bool = False) -> None:
    """Write a network; `expand` writes tables in place of other distributions, and bins as text."""
    write_text(path, dumps(net, expand=expand))


def dumps(net: BayesianNetwork | MarkovNetwork, *, expand: bool = False) -> str:
    """Return the text that `write` puts in a file."""
    if not isinstance(net, BayesianNetwork):
        raise InvalidArgument(
            f"BIF holds Bayesian networks, not {shown(net)}; files that end in .uai hold Markov networks too"
        )
    net._check_complete()
    variables = net.variables
    # By identity: domains of 0, 1 and of False, True are equal, their texts are not.
    states = {id(v.domain): _states(v, expand) for v in variables.values()}
    names = {name: written(name, "the name", _KEYWORDS) for name in variables}
    title = _NAMELESS if net.name == "" else written(net.name, "the name of the network", _KEYWORDS)
    parts = [f"network {title} {{\n}}\n"]
    for name, variable in variables.items():
        listed_states = ", ".join(states[id(variable.domain)])
        parts.append(
            f"variable {names[name]} {{\n  type discrete [ {variable.card} ] {{ {listed_states} }};\n}}\n"
        )
    budget = current().memory_limit // _BYTES_EACH
    for name, variable in variables.items():
        cpd = net.cpd(name)
        if isinstance(cpd, TableCPD):
            values = cpd.table()
        elif expand:
            values = cpd.table(budget)
            budget -= values.size
        else:
            raise InvalidArgument(
                f"BIF holds tables only, and {shown(name)} is a {type(cpd).__name__}; "
                "expand=True writes its table"
            )
        lines = [", ".join(map(repr, row)) for row in values.reshape(-1, variable.card).tolist()]
        if not cpd.parents:
            parts.append(f"probability ( {names[name]} ) {{\n  table {lines[0]};\n}}\n")
            continue
        keys = product(*[states[id(variables[parent].domain)] for parent in cpd.parents])
        body = "".join([f"  ({', '.join(key)}) {line};\n" for key, line in zip(keys, lines, strict=True)])
        given = ", ".join([names[parent] for parent in cpd.parents])
        parts.append(f"probability ( {names[name]} | {given} ) {{\n{body}}}\n")
    return "".join(parts)


def _states(variable: Variable, expand: bool) -> list[str]:
    """Return the states as words; they must be found again when they are text."""
    texts = [state if isinstance(state, str) else _text(state) for state in variable.states]
    try:
        found = as_domain(texts)
    except InvalidVariable as error:
        raise InvalidArgument(f"BIF holds states as text; {shown(variable.name)}: {error}") from None
    for code, state in enumerate(variable.states):
        if found.find(state) != code and not (expand and isinstance(state, Interval)):
            remedy = (
                "expand=True writes the bins as text"
                if isinstance(state, Interval)
                else "make it text yourself"
            )
            raise InvalidArgument(
                f"BIF holds states as text, and the state {shown(state)} of {shown(variable.name)} "
                f"would not be found again as {shown(texts[code])}; {remedy}"
            )
    return [written(text, f"a state of {shown(variable.name)}", _KEYWORDS) for text in texts]


def _text(state: object) -> str:
    try:
        return str(state)
    except Exception:  # a state may be any object; one that cannot be printed will not be found again either
        return shown(state)
