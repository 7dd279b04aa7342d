"""DSC, the Bayesian network interchange format (Microsoft, 1996), as MSBN, GeNIe and bnlearn write it.

    belief network "name"
    node a_b { name : "a b"; type : discrete [ 2 ] = { "x", "y" }; }
    probability ( c | a_b ) { (0) : 0.9, 0.1; (1) : 0.5, 0.5; }
    decision d { type : discrete [ 2 ] = { "x", "y" }; }         probability ( d | a_b ) { } says what is seen
    utility u { }
    probability ( u | d ) { (0) : 10; (1) : -5; }

A row begins with the states of the parents: their indices from 0, or the states themselves; `default` stands
for the rows left out. A colon, an equals sign and the word `is` mean the same. Quoted text has escapes as in
C.

Nodes are called by identifiers as in C. Any other name is written as the attribute `pgm_name`, and as
`name`, which other programs show, of a node with an identifier derived from it. When read, the name is
`pgm_name`, else the identifier; `name` is a caption, which may be absent or repeated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np

from pgm.cpds import DefaultCPD, TableCPD, table_input
from pgm.cpds.statistics import Codes
from pgm.errors import shown
from pgm.models import BayesianNetwork, MarkovNetwork
from pgm.models.decision import InfluenceDiagram
from pgm.models.decision.utilities import Utility
from pgm.variables import Domain, Variable

from .diagrams import COMBINE, MEMORY, Written, to_write, utility_table
from .identifiers import identifiers, stands_for
from .probability_blocks import Rows
from .reader import Block, Reader
from .scanner import QUOTE, Syntax, quoted
from .text import NUMBER, Text
from .writing import bayesian, keys, listings, states_as_text

_SYNTAX = Syntax(";:=(){}[]|", escapes=True)
_KEYWORDS = frozenset(
    "belief network node probability properties property type discrete continuous name position default "
    "function is named".split()
)
_BEGIN = "'belief network', with which a DSC file begins"
_TITLE = "the name of the network"
_BRACE = re.compile(r"[{}]")
_EQUALS = re.compile(r"\s*(?:[:=]|is\b)")
_KEYWORD = re.compile(r"([A-Za-z_]\w*)\s*(?:[:=]|is\b)")


def read(source: Text) -> BayesianNetwork | InfluenceDiagram:
    """Read a network or an influence diagram; states and names are text."""
    return _Reader(source).network()


class _Reader(Reader):
    syntax = _SYNTAX

    def network(self) -> BayesianNetwork | InfluenceDiagram:
        for keyword in ("belief", "network"):
            before = self.first(self.pos)
            if self.word(_BEGIN) != keyword:
                self.pos = before
                self.expected(_BEGIN)
        title = self.title()
        choice = "'node', 'probability', 'properties' or the end of the file"
        while (before := self.first(self.pos)) < len(self.text):
            keyword = self.word(choice)
            if keyword in ("node", "decision", "utility"):
                self.node(before, keyword)
            elif keyword == "probability":
                self.probability(before)
            elif keyword == "properties":
                self.skip_braces(before)
            else:
                self.pos = before
                self.expected(choice)
        self.check_blocks("probability block")
        return self.built(
            title,
            lambda name: _Rows(self, self.blocks[name]).cpd(),
            lambda name: _Worth(self, self.blocks[name]).utility(),
        )

    def title(self) -> str:
        """Read the name of the network, which may be left out."""
        before = self.first(self.pos)
        if before < len(self.text):
            word = self.word(_TITLE)
            self.pos = before
            if word not in ("node", "decision", "utility", "probability", "properties"):
                return self.name(_TITLE)
        return ""

    def skip_braces(self, at: int) -> None:
        self.mark("{", "after 'properties'")
        depth = 1
        for match in _BRACE.finditer(self.text, self.pos):
            depth += 1 if match[0] == "{" else -1
            if not depth:
                self.pos = match.end()
                return
        self.fail("the '{' after 'properties' is never closed", at)

    def node(self, position: int, kind: str) -> None:
        name = self.name(f"the name of a {kind}")
        self.declare(name, position)
        where = f"in the {kind} {shown(name)}"
        states, true_name = None, ""
        self.mark("{", where)
        while self.peek() != "}":
            at = self.first(self.pos)
            # User properties have their name in parentheses.
            keyword = "" if self.peek() == "(" else self.word(f"an attribute or '}}' {where}")
            if keyword == "type":
                if states is not None:
                    self.fail(f"a second type {where}", at)
                states = self.type(where, at)
            elif keyword in (MEMORY, COMBINE):
                self.equals(f"after {keyword!r} {where}")
                self.properties[keyword] = self.name(f"a value of {keyword!r} {where}")
                self.mark(";", f"after the value of {keyword!r} {where}")
            elif keyword == "pgm_name":
                self.equals(f"after 'pgm_name' {where}")
                true_name = self.name(f"the name {where}")
                self.mark(";", f"after the name {where}")
            else:
                self.skip_value(f"this attribute {where} has no ';' at its end", at)
        self.mark("}", where)
        true_name = true_name if stands_for(name, true_name, "n", _KEYWORDS) else ""
        if kind == "utility":
            self.add_utility(name, position, true_name)
            return
        if states is None:
            self.fail(f"expected 'type : discrete [ ... ] = {{ ... }};' {where}, found none", position)
        if kind == "decision":
            self.decisions.add(name)
        self.add(name, states, position, true_name)

    def type(self, where: str, at: int) -> list[str]:
        self.equals(f"after 'type' {where}")
        before = self.first(self.pos)
        found = self.word("'discrete'")
        if found != "discrete":
            self.fail(f"expected 'discrete' {where}, found {self.as_written(found)}: not supported", before)
        count = self.state_count()
        self.equals(f"and the states {where}")
        return self.states(count, where, at)

    def equals(self, where: str) -> None:
        """Read ':' or '=' or 'is'."""
        match = _EQUALS.match(self.text, self.pos)
        if match is None:
            self.expected(f"':' or '=' {where}")
        self.pos = match.end()

    def __init__(self, source: Text) -> None:
        super().__init__(source)
        self.numbered: dict[Domain, dict[str, int]] = {}

    def codes_of(self, variable: Variable) -> dict[str, int]:
        """Return what a state may be called before a row: its index, or its name unless that is a number."""
        found = self.numbered.get(variable.domain)
        if found is None:
            found = self.codes_of_names(variable) | {str(code): code for code in range(variable.card)}
            self.numbered[variable.domain] = found
        return found

    def codes_of_names(self, variable: Variable) -> dict[str, int]:
        """Return what a state is called in quotes, whatever its name."""
        return super().codes_of(variable)


class _Rows(Rows):
    reader: _Reader
    expected = "a row '( states ) : numbers;' or 'default : numbers;'"

    def after_key(self, text: str, piece: int) -> str:
        match = _EQUALS.match(text)
        if match is None:
            self.fail("expected ':' after the states of the parents", piece)
        return text[match.end() :]

    def keyword(self, text: str, piece: int) -> tuple[str, str]:
        match = _KEYWORD.match(text)
        if match is None:
            if self.given and NUMBER.match(text):
                self.fail("expected '( states ) :' before the numbers, as there are parents", piece)
            return ("table", text) if text else ("", "")
        if match[1] != "default":
            self.fail(f"expected {self.expected}; {shown(match[1])} is not supported", piece)
        return "default", text[match.end() :]

    def words(self, key: str, piece: int) -> list[str]:
        words = super().words(key, piece)
        if QUOTE in key and len(words) == len(self.given):
            for place, word in enumerate(key.replace(",", " ").split()):
                if QUOTE in word:  # a quoted state is a name even if it looks like a number
                    code = self.reader.codes_of_names(self.given[place]).get(words[place])
                    words[place] = f'"{words[place]}"' if code is None else str(code)
        return words

    def configurations(self, keys: list[str], pieces: list[int]) -> Codes:
        zeros = ["0"] * (len(self.given) + 1)
        if not all(key.replace(",", " ").split() == zeros for key in keys):
            return super().configurations(keys, pieces)
        # GeNIe writes all zeros before every row, and the rows in order.
        count = table_input.product(variable.card for variable in self.given)
        if len(keys) > count:
            self.fail(f"{len(keys):,} rows, and the parents have {count:,} configurations", pieces[count])
        return np.array([self.configuration(row) for row in range(len(keys))], dtype=np.int64).reshape(
            len(keys), len(self.given)
        )


class _Worth(_Rows):
    """The rows of a utility: one number each."""

    def __init__(self, reader: _Reader, block: Block) -> None:
        self.reader, self.block = reader, block
        self.child, self.given = reader.utilities[block.child], reader.given(block)
        self.pieces = reader.text[block.start : block.end].split(";")

    def utility(self) -> Utility:
        found = self.cpd()
        return utility_table(self.given, found.table())

    def finished(self, values: np.ndarray, place: Callable[[int], int]) -> TableCPD:
        values = np.ascontiguousarray(values)
        self.reader.worth(self.child.name, values.ravel(), place)
        shape = [*[v.card for v in self.given], 1]
        return TableCPD.trusted(self.child, self.given, values.reshape(shape))

    def compact(
        self, pieces: list[int], codes: Codes, texts: list[str], default: tuple[int, str]
    ) -> DefaultCPD:
        self.fail("a table of utilities without most of its rows is not supported", default[0])


# --- writing ------------------------------------------------------------------------------------------------


def write(model: BayesianNetwork | MarkovNetwork | InfluenceDiagram, *, expand: bool) -> str:
    """Return a network or an influence diagram as text.

    Args:
        model: what to write.
        expand: write tables in place of other distributions and of utilities of utilities, and bins as text.
    """
    whole = to_write(model, "DSC", expand=expand) if isinstance(model, InfluenceDiagram) else None
    net = bayesian(model if whole is None else whole.network, "DSC")
    decisions = () if whole is None else whole.diagram.decisions
    names = identifiers([*net.variables, *({} if whole is None else whole.utilities)], "n", _KEYWORDS)
    name_ = net.name if whole is None else whole.diagram.name
    parts = [f"belief network {quoted(name_, 'the name of the network')}\n"]
    about = "" if whole is None else "".join([f'  {k} : "{v}";\n' for k, v in whole.properties.items()])
    for name, variable in net.variables.items():
        called = _caption(name, names[name])
        if name in decisions:
            called, about = called + about, ""
        texts = states_as_text(variable, "DSC", expand)
        states = ", ".join([quoted(text, f"a state of {shown(name)}") for text in texts])
        kind = "decision" if name in decisions else "node"
        parts.append(
            f"{kind} {names[name]} {{\n{called}  type : discrete [ {variable.card} ] = {{ {states} }};\n}}\n"
        )
    if whole is not None:
        parts += _decided(whole, names, about)
    for name, values, default in listings(net, "DSC", expand):
        if name in decisions:
            continue
        parents = net.parents(name)
        lines = [", ".join(map(repr, row)) for row in values.tolist()]
        if not parents:
            parts.append(f"probability ( {names[name]} ) {{\n  {lines[0]};\n}}\n")
            continue
        listed = keys(net.cpd(name), [[*map(str, range(v.card))] for v in net.cpd(name).given])
        body = "".join([f"  ({', '.join(key)}) : {line};\n" for key, line in zip(listed, lines, strict=True)])
        if default is not None:
            body += f"  default : {', '.join(map(repr, default.tolist()))};\n"
        given = ", ".join([names[parent] for parent in parents])
        parts.append(f"probability ( {names[name]} | {given} ) {{\n{body}}}\n")
    return "".join(parts)


def _caption(true_name: str, name: str) -> str:
    """The lines that keep a name which is not an identifier."""
    caption = quoted(true_name, "the name")
    return "" if name == true_name else f"  name : {caption};\n  pgm_name : {caption};\n"


def _decided(whole: Written, names: dict[str, str], about: str) -> Iterator[str]:
    """Utilities, what decisions observe, and what outcomes are worth."""
    for name in whole.utilities:
        yield f"utility {names[name]} {{\n{_caption(name, names[name])}{about}}}\n"
        about = ""
    for name in whole.diagram.decisions:
        seen = ", ".join([names[parent] for parent in whole.diagram.parents(name)])
        yield f"probability ( {names[name]}{' | ' if seen else ''}{seen} ) {{\n}}\n"
    for name, utility in whole.utilities.items():
        assert utility.values is not None
        given = ", ".join([names[parent] for parent in utility.parents])
        if not given:
            yield f"probability ( {names[name]} ) {{\n  {float(utility.values)!r};\n}}\n"
            continue
        rows = [
            f"  ({', '.join(map(str, at))}) : {float(x)!r};\n" for at, x in np.ndenumerate(utility.values)
        ]
        yield f"probability ( {names[name]} | {given} ) {{\n{''.join(rows)}}}\n"
