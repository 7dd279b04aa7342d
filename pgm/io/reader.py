"""What the readers of BIF, DSC and Hugin NET share: variables with states, and tables for them.

In DSC and NET variables may be decisions, and there are utilities: then the file is an influence diagram.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pgm.config import current
from pgm.cpds import CPD, TableCPD, table_input
from pgm.errors import (
    FileFormatError,
    InvalidStructure,
    InvalidTable,
    InvalidVariable,
    TooLarge,
    counted,
    nearest,
    shown,
)
from pgm.models import BayesianNetwork
from pgm.models.decision import InfluenceDiagram
from pgm.models.decision.utilities import Utility
from pgm.runtime import progress
from pgm.runtime.progress import each
from pgm.variables import Bins, Domain, Variable

from .diagrams import Decisions, assembled, open_decision, told
from .refusals import Refusals
from .scanner import Scanner
from .text import NUMBER, Text, parsed

_SMALL = 64  # entries of a table that takes no more memory than the object around it


@dataclass(frozen=True, slots=True)
class Block:
    """The position of a table whose numbers are read once all variables are known."""

    at: int
    child: str
    parents: list[str]
    start: int
    end: int


class Reader(Scanner):
    """A text with variables and their tables, in any order."""

    def __init__(self, source: Text) -> None:
        super().__init__(source)
        self.variables: dict[str, Variable] = {}
        self.declared: dict[str, int] = {}  # text positions, for messages
        self.true_names: set[str] = set()
        self.codes: dict[Domain, dict[str, int]] = {}
        self.blocks: dict[str, Block] = {}
        self.decisions: set[str] = set()  # names in the file
        self.utilities: dict[str, Variable] = {}  # by their names in the file, each with a single state
        self.properties: dict[str, str] = {}  # of the diagram
        self.cells = 0
        self.limit = current().memory_limit // 8
        self.pulse = progress.pulse()

    # --- variables ---

    def declare(self, name: str, position: int) -> None:
        """Record where a variable is declared."""
        if name in self.declared:
            self.fail(f"the variable {shown(name)} is declared a second time", position)
        self.declared[name] = position

    def add(self, name: str, states: Sequence[str] | Bins | Domain, at: int, true_name: str = "") -> None:
        """Store a variable under its name in the file; the variable has its true name, if there is one."""
        if self.pulse is not None:
            self.pulse.beat("reading")
        self.variables[name] = self.new(true_name or name, states, at)

    def add_utility(self, name: str, at: int, true_name: str = "") -> None:
        """Store a utility under its name in the file."""
        self.utilities[name] = self.new(true_name or name, ["worth"], at)

    def new(self, name: str, states: Sequence[str] | Bins | Domain, at: int) -> Variable:
        """Return a variable of a name that no other has."""
        if name in self.true_names:
            self.fail(f"a second variable has the name {shown(name)}", at)
        self.true_names.add(name)
        try:
            return Variable(name, states)
        except InvalidVariable as error:
            self.fail(str(error), at)

    def state_count(self) -> str:
        """Read [ the number of states ]; as text, because a number may have a million digits."""
        self.mark("[", "and the number of states")
        count = self.word("the number of states")
        self.mark("]", "after the number of states")
        return count

    def states(self, count: str, where: str, at: int) -> list[str]:
        """Read { the states };, whose number is known."""
        self.mark("{", "and the states")
        start = self.pos
        chunk = self.until("}", f"after the states {where}")
        if "|" in chunk:
            self.fail(f"'|' among the states {where}", start + chunk.index("|"))
        states = self.words(chunk, start)
        self.mark(";", f"after the states {where}")
        if count.lstrip("0") != str(len(states)):
            self.fail(f"{self.as_written(count)} states are announced {where}, {len(states)} are listed", at)
        return states

    def known(self, name: str, position: int) -> Variable:
        """Return the variable of this name."""
        found = self.variables.get(name)
        if name in self.utilities:
            self.fail(f"{shown(name)} is a utility, on which no variable depends", position)
        if found is None:
            hint = nearest(name, self.variables)
            self.fail(f"{shown(name)} is not a variable of this file.{hint}", position)
        return found

    def codes_of(self, variable: Variable) -> dict[str, int]:
        """Return the codes of the states as texts; cached, because most variables share their states."""
        found = self.codes.get(variable.domain)
        if found is None:
            found = self.codes[variable.domain] = {state: code for code, state in enumerate(variable.states)}
        return found

    # --- tables ---

    def head(self, at: int, what: str) -> tuple[str, list[str]]:
        """Read ( variable | parents ), the head of a table; a second table for a variable is an error."""
        if self.pulse is not None:
            self.pulse.beat("reading")
        self.mark("(", "and the name of a variable")
        start = self.pos
        chunk = self.until(")", "after the names of the variable and its parents")
        before, bar, after = chunk.partition("|")
        names, parents = self.words(before, start), self.words(after, start)
        if not names or (bar and len(names) > 1) or "|" in after:
            self.fail("expected ( variable | parents ), with one variable before the '|'", start)
        # Without a bar the first name is the variable and the others are its parents, as JavaBayes writes it.
        child, parents = names[0], names[1:] + parents
        if child in self.blocks:
            self.fail(f"a second {what} for {shown(child)}", at)
        if len({child, *parents}) <= len(parents):
            self.fail(f"a name appears twice in the {what} of {shown(child)}", at)
        return child, parents

    def probability(self, at: int) -> None:
        """Skip a probability block, recording where its rows are."""
        child, parents = self.head(at, "probability block")
        self.mark("{", "and the probabilities")
        end = self.text.find("}", self.pos)
        if end < 0:
            self.fail(f"the probability block of {shown(child)} has no '}}' at its end", at)
        self.blocks[child] = Block(at, child, parents, self.pos, end)
        self.pos = end + 1

    def check_blocks(self, what: str) -> None:
        """Raise for variables without a table and tables without a variable."""
        for name, position in self.declared.items():
            if name not in self.blocks and name not in self.decisions:
                self.fail(f"the variable {shown(name)} has no {what}", position)
        for name, block in self.blocks.items():
            if name not in self.utilities:
                self.known(name, block.at)

    def is_compact(self, shape: Sequence[int], block: Block) -> bool:
        """Say whether a table with a default would be larger than the text that it comes from."""
        return (
            table_input.product(shape) > max(_SMALL, block.end - block.start)
            or len(shape) > table_input.MAX_AXES
        )

    def reserve(self, shape: Sequence[int], name: str, position: int) -> None:
        """Count the entries of all tables before any of them is allocated."""
        cells = table_input.product(shape)
        self.cells += cells
        if self.cells > self.limit:
            place = self.source.error("", position)
            raise TooLarge(
                f"{str(place).rstrip()} the table of {shown(name)} has {counted(cells)} entries; with "
                f"it the network would have {counted(self.cells)}, and the memory limit allows {self.limit:,}"
            )
        if len(shape) > table_input.MAX_AXES:
            self.fail(f"{shown(name)} has {len(shape) - 1} parents: too many", position)

    def numbers(self, words: list[str], text: str, name: str, position: int) -> np.ndarray:
        """Return words of the text at a position as numbers."""
        found = parsed(words, text)
        if found is None:
            self.check_numbers(words, name, position)
            raise AssertionError(words)
        return found

    def check_numbers(self, words: list[str], name: str, position: int) -> None:
        """Raise for the word at or after a position that is not a number."""
        for word in words:
            if not NUMBER.fullmatch(word):
                at = self.text.find(word, position)
                self.fail(f"{shown(name)}: expected a number or ';', found {self.as_written(word)}", at)

    def table(
        self, child: Variable, given: tuple[Variable, ...], values: np.ndarray, place: Callable[[int], int]
    ) -> TableCPD:
        """Return the table of these rows; `place` tells where in the text a row is."""
        values = np.ascontiguousarray(values)
        shape = (*[variable.card for variable in given], child.card)
        try:
            checked = table_input.checked(child, given, values.reshape(shape))
        except InvalidTable as error:
            raise self.source.error(str(error), place(table_input.first_wrong(values, child.card))) from None
        return TableCPD.trusted(child, given, checked)

    def given(self, block: Block) -> tuple[Variable, ...]:
        """Return the parents of a block."""
        return tuple([self.known(name, block.at) for name in block.parents])

    def worth(self, name: str, values: np.ndarray, place: Callable[[int], int]) -> np.ndarray:
        """Return the values of a utility, each of which must be finite; `place` tells where one is."""
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            self.fail(f"{shown(name)}: a utility is a finite number", place(int(bad[0])))
        return values

    def built(
        self, title: str, cpd: Callable[[str], CPD], utility: Callable[[str], Utility]
    ) -> BayesianNetwork | InfluenceDiagram:
        """Return the network, or the diagram, of the tables that the variables and utilities have."""
        if not self.decisions and not self.utilities:
            return self.built_network(title, cpd)
        cpds: list[CPD] = []
        decided = Decisions(properties=self.properties)
        refusals = Refusals()
        for name in each(self.variables, "reading tables"):
            with refusals:
                if name in self.decisions:
                    block = self.blocks.get(name)
                    seen = [] if block is None else [v.name for v in self.given(block)]
                    decided.observes[self.variables[name].name] = tuple(seen)
                    cpds.append(open_decision(self.variables[name]))
                else:
                    cpds.append(cpd(name))
        for name, variable in self.utilities.items():
            with refusals:
                decided.utilities[variable.name] = utility(name)
        refusals.check()
        return told(lambda: assembled(title, cpds, decided), lambda message: self.fail(message, 0))

    def built_network(self, title: str, cpd: Callable[[str], CPD]) -> BayesianNetwork:
        """Return the network of the tables that the variables have."""
        cpds: list[CPD] = []
        refusals = Refusals()
        for name in each(self.variables, "reading tables"):
            with refusals:
                cpds.append(cpd(name))
        refusals.check()
        try:
            return BayesianNetwork._from_cpds(title, cpds)
        except InvalidStructure as error:  # a cycle
            raise FileFormatError(str(error), self.source.path) from None
