"""What readers of networks in XML share: variables, tables, and networks without cycles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pgm.cpds import CPD, table_input
from pgm.cpds.table_input import Array
from pgm.errors import InvalidStructure, InvalidTable, InvalidVariable, counted, nearest, shown
from pgm.models import BayesianNetwork
from pgm.variables import Variable

from .markup import Element, Markup
from .text import NUMBER, parsed


class MarkedNetwork(Markup):
    """An XML file that holds a network."""

    def new(self, name: str, states: Sequence[str], at: Element) -> Variable:
        """Return a variable."""
        try:
            return Variable(name, states)
        except InvalidVariable as error:
            self.fail(str(error), at)

    def known(self, name: str, variables: Mapping[str, Variable], at: Element) -> Variable:
        """Return the variable of this name."""
        found = variables.get(name)
        if found is None:
            self.fail(f"{shown(name)} is not a variable of this file.{nearest(name, variables)}", at)
        return found

    def shape(self, child: Variable, given: Sequence[Variable], at: Element) -> tuple[int, ...]:
        """Return the shape of the table, child last; raise if no array can have it."""
        if len(given) >= table_input.MAX_AXES:
            self.fail(f"{shown(child.name)} has {len(given)} parents: too many", at)
        if len({v.name for v in (child, *given)}) <= len(given):
            self.fail(f"{shown(child.name)}: a name appears twice among it and its parents", at)
        return (*[v.card for v in given], child.card)

    def words(self, element: Element, count: int, what: str) -> list[str]:
        """Return this many words."""
        words = self.leaf(element).split()
        if len(words) != count:
            self.fail(f"expected {counted(count)} {what} in <{element.tag}>, found {len(words):,}", element)
        return words

    def numbers(self, element: Element, count: int, name: str) -> Array:
        """Return this many numbers; nothing is allocated for an announced size."""
        words = self.words(element, count, f"numbers for {shown(name)}")
        found = parsed(words, "".join(words))
        if found is not None:
            return found
        number = next(i for i, word in enumerate(words) if not NUMBER.fullmatch(word))
        self.fail_word(f"{shown(name)}: expected a number, found {shown(words[number])}", element, number)

    def table(self, element: Element, child: Variable, given: Sequence[Variable], at: Element) -> Array:
        """Return the rows of a table, parents in the order given, the child's state changing fastest."""
        shape = self.shape(child, given, at)
        values = self.numbers(element, math.prod(shape), child.name).reshape(shape)
        return self.checked(element, child, given, values)

    def worth(self, element: Element, name: str, given: Sequence[Variable], at: Element) -> Array:
        """Return the values of a utility; each must be finite."""
        if len(given) >= table_input.MAX_AXES or len({v.name for v in given}) < len(given):
            self.fail(f"{shown(name)}: too many parents, or one that is named twice", at)
        values = self.numbers(element, math.prod([v.card for v in given]), name)
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            self.fail_word(f"{shown(name)}: a utility is a finite number", element, int(bad[0]))
        return values

    def checked(
        self,
        element: Element,
        child: Variable,
        given: Sequence[Variable],
        values: Array,
        label: str | None = None,
    ) -> Array:
        """Return rows that sum to one; the error names the place of the first that does not."""
        try:
            return table_input.checked(child, given, values, label)
        except InvalidTable as error:
            self.fail_word(str(error), element, table_input.first_wrong(values, child.card) * child.card)

    def network(self, name: str, cpds: Iterable[CPD]) -> BayesianNetwork:
        """Return the network of these distributions."""
        try:
            return BayesianNetwork._from_cpds(name, cpds)
        except InvalidStructure as error:  # a cycle
            self.fail(str(error), self.root)
