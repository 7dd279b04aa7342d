"""A distribution P(child | parents) that is not a table: copy, rename, fill in. `->` says what else belongs to it.

-> pgm/cpds/echo.py: this file
-> pgm/cpds/registry.py: its import, and its name in the list; JSON, pictures, messages and tests find it there
-> pgm/cpds/__init__.py, pgm/__init__.py: its public name; in the latter also under _FORMS: wrong keywords are then named
-> docs/schema/pgm-1.json: what `to_parts` returns, under the key `kind`, which "oneOf" lists in the order of the registry
-> docs/reference/distributions.rst, CHANGELOG.md: a line each
-> tests/cpds/gates.py: how to make a random one; test_statistics.py then asks it all that the protocol promises
-> tests/html_page.py: a node with it, beside the other forms: what is printed is short, in a notebook too
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from pgm.cpds.base import CPD, as_it_is, set_fields
from pgm.cpds.statistics import Codes, RowCounts
from pgm.cpds.table_input import Array
from pgm.distributions.parts import Part
from pgm.errors import InvalidTable, shown
from pgm.factors import Dense
from pgm.variables import Variable


class Echo(CPD):
    """The child repeats its parent's state with probability p; otherwise it takes any of the others alike.

    Args:
        parent: the name of the parent, whose states the child has.
        p: how often it is repeated.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("said", [0.5, 0.5], states=["yes", "no"])
    >>> net.add("heard", Echo("said", 0.8))
    >>> round(net.probability({"said": "yes", "heard": "no"}), 6)
    0.1
    """

    __slots__ = ("_p", "_parent")  # a value: nothing changes after it is made
    kind, label = "echo", "echo"  # its key in files, and what a picture calls it

    _parent: str
    _p: float

    def __init__(self, parent: str, p: float) -> None:
        if isinstance(p, bool) or not isinstance(p, int | float) or not 0 <= p <= 1:
            raise InvalidTable(f"An Echo repeats with a probability from 0 to 1, not {shown(p)}.")
        set_fields(self, _child=None, _given=(), _parent=parent, _p=float(p))

    @property
    def parents(self) -> tuple[str, ...]:
        """The names of the parents, in order."""
        return (self._parent,)

    def bind(self, name: str, states: Any, given: tuple[Variable, ...]) -> Self:
        """Return this distribution for the child `name`: from here on it knows states. Check here."""
        return self.renamed(Variable(name, given[0].states if states is None else states), given)

    def renamed(self, child: Variable, given: tuple[Variable, ...]) -> Self:
        """Return the same distribution of other variables."""
        if child.card != given[0].card or child.card < 2:
            raise InvalidTable(
                f"{child.name!r} echoes {given[0].name!r}: both need the same two states or more."
            )
        made = self.__new__(type(self))
        set_fields(made, _child=child, _given=given, _parent=given[0].name, _p=self._p)
        return made

    def factor(self, scope: Sequence[int]) -> Dense:
        """Return what the engine multiplies. -> with many parents a pgm.factors.Gate: small tables in a chain."""
        heads = 1  # it sums to one over its last axis
        return Dense(np.array([scope], dtype=np.int64), self._matrix(), heads)

    def rows(self, codes: Codes) -> Array:
        """Return P(child | row) for each row of the parents' codes."""
        return self._matrix()[codes[:, 0]]

    def _matrix(self) -> Array:
        k = self.child.card
        return np.full((k, k), (1 - self._p) / (k - 1)) + np.eye(k) * (self._p - (1 - self._p) / (k - 1))

    def _counted(self, codes: Codes, weights: Array) -> RowCounts:
        """Return the sufficient statistics of rows, the child last: here how often it was an echo, and was not.

        -> without this method they are the distinct rows themselves (Configurations)
        -> if `factor` returns a gate: `expected` makes the same of expected counts of its tables
        """
        same = codes[:, 0] == codes[:, 1]
        return RowCounts(np.array([[weights[same].sum(), weights[~same].sum()]]))

    def _fitted(self, statistics: Any) -> Self:
        """Return the same kind with the most likely parameters for these statistics."""
        ((same, other),) = self._checked_statistics(statistics, RowCounts).values
        p = float(same / (same + other)) if same + other else self._p
        return type(self)(self._parent, p).renamed(self.child, self.given)

    def to_parts(self, state: Callable[[Any, str], Any] = as_it_is) -> float:
        """Return what a file holds of it; names of parents and states of the child are written beside it."""
        return self._p

    @classmethod
    def from_parts(cls, child: Variable, given: tuple[Variable, ...], part: Part) -> Self:
        """Return the distribution of these parts; `part` says where in the file something is wrong."""
        if len(given) != 1:
            part.fail("an echo has one parent")
        return cls(given[0].name, part.number("how often it repeats")).renamed(child, given)

    @property
    def n_parameters(self) -> int:
        """How many parameters can be chosen freely."""
        return 1

    def to_dict(self) -> dict[Any, Any]:
        """Return the parameters as plain Python objects."""
        return {"parent": self._parent, "p": self._p}

    def __eq__(self, other: object) -> bool:
        """Tell whether both repeat the same parent equally often, for the same child."""
        if not isinstance(other, Echo):
            return NotImplemented
        mine, theirs = ((e._child, e._given, e._parent, e._p) for e in (self, other))
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]

    def _lines(self) -> tuple[Sequence[object], Sequence[Sequence[object]], int]:
        """Return header, first rows and the number of rows of what is printed."""
        return ["echo of", "p"], [[self._parent, f"{self._p:.6g}"]], 1
