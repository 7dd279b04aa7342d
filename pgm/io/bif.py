"""BIF, the Interchange Format for Bayesian networks (Cozman 1997), as bnlearn, JavaBayes and aGrUM write it.

The format has white space, commas and comments wherever one likes, names with or without quotes, and for each
variable one probability block:

    probability ( child | parent, parent ) { (state, state) 0.9, 0.1;  default 0.5, 0.5; }
    probability ( child | parent ) { table 0.9 0.5 0.1 0.5; }       the state of the child changes slowest

Properties are read over: they say how other programs draw or explain a network.
"""

from __future__ import annotations

import math
from itertools import product
from typing import NoReturn

import numpy as np

from pgm.config import current
from pgm.cpds import rows
from pgm.cpds.table import TableCPD
from pgm.errors import (
    FileFormatError,
    InvalidStructure,
    InvalidTable,
    InvalidVariable,
    TooLarge,
    listed,
    nearest,
    shown,
)
from pgm.models import BayesianNetwork, MarkovNetwork
from pgm.variables import Domain, Variable

from .scanner import Scanner, written
from .text import NUMBER, Text, parsed
from .writing import bayesian, states_as_text, tables

_NAMELESS = "unknown"  # what bnlearn writes for a network without a name
_KEYWORDS = frozenset(
    {"network", "variable", "probability", "property", "type", "discrete", "table", "default", _NAMELESS}
)


def read(source: Text) -> BayesianNetwork:
    """Read a network; states and names are text."""
    return _Reader(source).network()


class _Block:
    """A probability block whose numbers are read when all variables are known."""

    __slots__ = ("at", "child", "end", "parents", "start")

    def __init__(self, at: int, child: str, parents: list[str], start: int, end: int) -> None:
        self.at, self.child, self.parents, self.start, self.end = at, child, parents, start, end


class _Reader(Scanner):
    def __init__(self, source: Text) -> None:
        super().__init__(source)
        self.variables: dict[str, Variable] = {}
        self.declared: dict[str, int] = {}  # where, for messages
        self.codes: dict[Domain, dict[str, int]] = {}
        self.blocks: dict[str, _Block] = {}
        self.cells = 0
        self.limit = current().memory_limit // 8

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
        for name, position in self.declared.items():
            if name not in self.blocks:
                self.fail(f"the variable {shown(name)} has no probability block", position)
        for name, block in self.blocks.items():
            self.known(name, block.at)
        return self.built(title)

    def variable(self, position: int) -> None:
        name = self.name("the name of a variable")
        if name in self.declared:
            self.fail(f"the variable {shown(name)} is declared a second time", position)
        self.declared[name] = position
        where = f"in the variable {shown(name)}"
        for _ in self.attributes(where, "type"):
            at = self.first(self.pos)
            if name in self.variables:
                self.fail(f"a second type {where}", at)
            if self.word("'discrete'") != "discrete":
                self.pos = at
                self.expected(f"'discrete', the one type that BIF defines, {where}")
            self.mark("[", "and the number of states")
            count = self.word("the number of states")
            self.mark("]", "after the number of states")
            self.mark("{", "and the states")
            start = self.pos
            chunk = self.until("}", f"after the states {where}")
            if "|" in chunk:
                self.fail(f"'|' among the states {where}", start + chunk.index("|"))
            states = self.words(chunk, start)
            self.mark(";", f"after the states {where}")
            if count.lstrip("0") != str(len(states)):  # as text: a number may have a million digits
                self.fail(
                    f"{self.as_written(count)} states are announced {where}, {len(states)} are listed", at
                )
            try:
                self.variables[name] = Variable(name, states)
            except InvalidVariable as error:
                self.fail(str(error), at)
        if name not in self.variables:
            self.fail(f"expected 'type discrete [ ... ] {{ ... }};' {where}, found none", position)

    def probability(self, at: int) -> None:
        self.mark("(", "and the name of a variable")
        start = self.pos
        chunk = self.until(")", "after the names of the variable and its parents")
        head, bar, tail = chunk.partition("|")
        names, parents = self.words(head, start), self.words(tail, start)
        if not names or (bar and len(names) > 1) or "|" in tail:
            self.fail("expected ( variable | parents ), with one variable before the '|'", start)
        # Without a bar the first name is the variable and the others are its parents, as JavaBayes writes it.
        child, parents = names[0], names[1:] + parents
        if child in self.blocks:
            self.fail(f"a second probability block for {shown(child)}", at)
        if len({child, *parents}) <= len(parents):
            self.fail(f"a name appears twice in the probability block of {shown(child)}", at)
        self.mark("{", "and the probabilities")
        end = self.text.find("}", self.pos)
        if end < 0:
            self.fail(f"the probability block of {shown(child)} has no '}}' at its end", at)
        self.blocks[child] = _Block(at, child, parents, self.pos, end)
        self.pos = end + 1

    def built(self, title: str) -> BayesianNetwork:
        cpds = [_Table(self, self.blocks[name]).cpd() for name in self.variables]
        try:
            return BayesianNetwork._from_cpds(title, cpds)
        except InvalidStructure as error:  # a cycle
            raise FileFormatError(str(error), self.source.path) from None

    def known(self, name: str, position: int) -> Variable:
        found = self.variables.get(name)
        if found is None:
            hint = nearest(name, self.variables)
            self.fail(f"{shown(name)} is not a variable of this file.{hint}", position)
        return found

    def codes_of(self, variable: Variable) -> dict[str, int]:
        """Return the codes of the states as texts; kept, as most variables have the states of others."""
        found = self.codes.get(variable.domain)
        if found is None:
            found = self.codes[variable.domain] = {state: code for code, state in enumerate(variable.states)}
        return found

    def reserve(self, cells: int, what: str, position: int) -> None:
        """Count the numbers of all tables, before any of them is made."""
        self.cells += cells
        if self.cells > self.limit:
            place = self.source.error("", position)
            raise TooLarge(
                f"{str(place).rstrip()} {what} has {cells:,} numbers; with it the network would have "
                f"{self.cells:,}, and the memory limit allows {self.limit:,}"
            )


class _Table:
    """The body of a probability block, cut at its semicolons."""

    def __init__(self, reader: _Reader, block: _Block) -> None:
        self.reader = reader
        self.block = block
        self.child, *given = [reader.known(name, block.at) for name in (block.child, *block.parents)]
        self.given = tuple(given)
        self.pieces = reader.text[block.start : block.end].split(";")

    def position(self, piece: int) -> int:
        return self.reader.first(self.block.start + sum(len(before) + 1 for before in self.pieces[:piece]))

    def fail(self, message: str, piece: int) -> NoReturn:
        self.reader.fail(f"{shown(self.child.name)}: {message}", self.position(piece))

    def cpd(self) -> TableCPD:
        pieces: list[int] = []  # of each row: its number, the states before it, its probabilities
        keys: list[str] = []
        texts: list[str] = []
        special: dict[str, tuple[int, str]] = {}
        for number, piece in enumerate(self.pieces[:-1]):
            piece = piece.lstrip()
            if piece[:1] == "(":
                key, closed, text = piece[1:].partition(")")
                if not closed:
                    self.fail("expected ')' after the states of the parents", number)
                pieces.append(number)
                keys.append(key)
                texts.append(text)
                continue
            keyword, text = [*piece.split(None, 1), "", ""][:2]
            if keyword not in ("table", "default", "property") or "{" in piece:
                found = self.reader.as_written(piece[:40]) if piece else "';'"
                self.fail(
                    f"expected a row '( states ) numbers;', 'table', 'default' or 'property', found {found}",
                    number,
                )
            if keyword in special:
                self.fail(f"a second '{keyword}'", number)
            if keyword != "property":
                special[keyword] = (number, text)
        if rest := self.pieces[-1].strip():
            self.fail(f"expected ';' after {self.reader.as_written(rest[-40:])}", len(self.pieces) - 1)
        return self.made(pieces, self.places(keys, pieces), texts, special)

    def places(self, keys: list[str], pieces: list[int]) -> list[int]:
        """Return the number of the parents' configuration that each key names."""
        strides: list[int] = []
        count = 1
        for variable in reversed(self.given):
            strides.append(count)
            count *= variable.card
        axes = list(zip(map(self.reader.codes_of, self.given), reversed(strides), strict=True))
        quotes = self.reader.quotes
        places: list[int] = []
        for key in keys:
            words = key.replace(",", " ").split()
            if quotes:
                words = self.reader.plain(words, self.block.start)
            place = 0
            try:
                for word, (codes, stride) in zip(words, axes, strict=True):
                    place += codes[word] * stride
            except (KeyError, ValueError):
                self.fail_key(words, pieces[len(places)])
            places.append(place)
        return places

    def fail_key(self, words: list[str], piece: int) -> NoReturn:
        if len(words) != len(self.given):
            parents = listed([variable.name for variable in self.given])
            self.fail(f"expected a state of each parent ({parents}), found {len(words)} words", piece)
        for word, variable in zip(words, self.given, strict=True):
            if word not in variable.states:
                hint = nearest(word, variable.states)
                states = listed(variable.states)
                self.fail(
                    f"the parent {shown(variable.name)} has no state {shown(word)}; it has {states}.{hint}",
                    piece,
                )
        raise AssertionError(words)

    def made(
        self, pieces: list[int], places: list[int], texts: list[str], special: dict[str, tuple[int, str]]
    ) -> TableCPD:
        """Put the rows where they belong."""
        shape = (*[variable.card for variable in self.given], self.child.card)
        count, card = math.prod(shape[:-1]), self.child.card
        whole, default = special.get("table"), special.get("default")
        if whole and (texts or default):
            self.fail("rows or a default beside a 'table': only one of them can hold", whole[0])
        if not whole and not default:
            self.check_rows(places, pieces, count)
        elif len(set(places)) < len(places):
            self.check_rows(places, pieces, len(places))
        self.reader.reserve(count * card, f"the table of {shown(self.child.name)}", self.block.at)
        if len(shape) > rows.MAX_AXES:
            self.reader.fail(
                f"{shown(self.child.name)} has {len(shape) - 1} parents: too many", self.block.at
            )
        if whole:
            values = self.numbers([whole[0]], [whole[1]], count * card).reshape(card, count).T
        else:
            values = np.empty((count, card))
            if default:
                values[:] = self.numbers([default[0]], [default[1]], card)
            values[places] = self.numbers(pieces, texts, card).reshape(-1, card)
        values = np.ascontiguousarray(values)
        try:
            checked = rows.checked(self.child, self.given, values.reshape(shape))
        except InvalidTable as error:
            bad = np.flatnonzero(~(values.min(axis=1) >= 0.0))
            if not bad.size:
                bad = np.flatnonzero(~(np.abs(values.sum(axis=1) - 1.0) <= rows.TOLERANCE))
            where = dict(zip(places, pieces, strict=True))
            piece = where.get(int(bad[0]), (whole or default or (0,))[0])
            raise self.reader.source.error(str(error), self.position(piece)) from None
        return TableCPD._of(self.child, self.given, checked)

    def check_rows(self, places: list[int], pieces: list[int], count: int) -> None:
        """Refuse rows given twice and rows left out."""
        if len(set(places)) < len(places):
            seen: set[int] = set()
            for place, piece in zip(places, pieces, strict=True):
                if place in seen:
                    self.fail(f"a second row for {self.row(place)}", piece)
                seen.add(place)
        if len(places) < count:
            ordered = sorted(places)
            first = next((place for place, given in enumerate(ordered) if place != given), len(ordered))
            row = f"the row for {self.row(first)}" if self.given else "its row"
            more = f" (and {count - len(places) - 1:,} more)" if count - len(places) > 1 else ""
            self.reader.fail(
                f"{shown(self.child.name)}: {row}{more} is missing, and there is no 'default'", self.block.at
            )

    def row(self, place: int) -> str:
        codes: list[int] = []
        for variable in reversed(self.given):
            place, code = divmod(place, variable.card)
            codes.append(code)
        return rows.row_label(self.given, reversed(codes))

    def numbers(self, pieces: list[int], texts: list[str], each: int) -> np.ndarray:
        """Read the numbers of some pieces, `each` of them in every piece."""
        words: list[str] = []
        for text in texts:
            before = len(words)
            words += text.replace(",", " ").split()
            if len(words) - before != each:
                piece = pieces[texts.index(text)]
                self.check_words(words[before:], piece)
                self.fail(f"expected {each} numbers, found {len(words) - before}", piece)
        found = parsed(words, "".join(texts))
        if found is not None:
            return found
        for text, piece in zip(texts, pieces, strict=True):
            self.check_words(text.replace(",", " ").split(), piece)
        raise AssertionError(words)

    def check_words(self, words: list[str], piece: int) -> None:
        for word in words:
            if not NUMBER.fullmatch(word):
                position = self.reader.text.find(word, self.position(piece))
                found = self.reader.as_written(word)
                self.reader.fail(
                    f"{shown(self.child.name)}: expected a number or ';', found {found}", position
                )


# --- writing ------------------------------------------------------------------------------------------------


def write(model: BayesianNetwork | MarkovNetwork, *, expand: bool) -> str:
    """Return a network as text; `expand` writes tables in place of other distributions, and bins as text."""
    net = bayesian(model, "BIF")
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
    for name, values in tables(net, "BIF", expand):
        parents = net.parents(name)
        lines = [", ".join(map(repr, row)) for row in values.reshape(-1, values.shape[-1]).tolist()]
        if not parents:
            parts.append(f"probability ( {names[name]} ) {{\n  table {lines[0]};\n}}\n")
            continue
        keys = product(*[states[id(variables[parent].domain)] for parent in parents])
        body = "".join([f"  ({', '.join(key)}) {line};\n" for key, line in zip(keys, lines, strict=True)])
        given = ", ".join([names[parent] for parent in parents])
        parts.append(f"probability ( {names[name]} | {given} ) {{\n{body}}}\n")
    return "".join(parts)


def _states(variable: Variable, expand: bool) -> list[str]:
    what = f"a state of {shown(variable.name)}"
    return [written(text, what, _KEYWORDS) for text in states_as_text(variable, "BIF", expand)]
