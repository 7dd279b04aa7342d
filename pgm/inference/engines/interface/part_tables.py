"""A dynamic network as an engine takes it, and the tables that its distributions are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgm.factors import Dense, Gate, GaussianFactor, ModelPart, RowNormal, RowTable, Score, Sparse, Tables
from pgm.inference.engines.interface.log_tables import Scope, logs_of

CONTINUOUS = 0  # the count of states that marks a continuous variable


@dataclass(frozen=True, eq=False)
class Template:
    """A dynamic network as an engine takes it.

    A variable has place `at[v]` in the current step and `at[v] + k` as it was k steps ago; `parts[v][i]` is
    its distribution in step i of a sequence, the last one serving all later steps. A variable that never
    changes has one place, and a distribution in the first step only.
    """

    cards: tuple[int, ...]  # how many states each variable has; 0: continuous
    at: tuple[int, ...]
    lags: tuple[int, ...]  # the largest lag at which each variable is a parent
    static: tuple[bool, ...]
    parts: tuple[tuple[ModelPart | None, ...], ...]

    @property
    def n_kinds(self) -> int:
        """How many kinds of steps there are: those with distributions of their own, all later ones as one."""
        return len(self.parts[0])

    @property
    def n_places(self) -> int:
        """How many places the variables have."""
        return self.at[-1] + self.lags[-1] + 1

    def owner(self, place: int) -> tuple[int, int]:
        """The variable at a place, and how many steps ago."""
        v = int(np.searchsorted(np.array(self.at), place, side="right")) - 1
        return v, place - self.at[v]


@dataclass(frozen=True, eq=False)
class Fixed:
    """A table of the model: logarithms, an axis for the kinds of steps, then one for each variable."""

    scope: Scope
    logs: np.ndarray
    variable: int  # the variable whose distribution it is a part of
    kinds: tuple[int, ...]  # of steps that have it; elsewhere it is one
    turned: tuple[int, ...]  # the axes of the distribution, as indices into `scope`
    part: int  # the index among the tables of the distribution; -1: none of them


@dataclass(frozen=True, eq=False)
class OfRows:
    """A table rebuilt for each row, from its continuous values."""

    scope: Scope
    parts: tuple[ModelPart | None, ...]  # by the kind of step
    variable: int


class PartTables:
    """The tables of all distributions, for each kind of step, and the states at each place.

    Auxiliary variables of gates have places of their own, after those of the variables.
    """

    def __init__(self, template: Template, *, best: bool) -> None:
        """Split the distributions into tables; `best`: for maxima, where gates may have to be written out."""
        self.template = template
        self.cards: list[int] = [1] * template.n_places
        for card, at, lag in zip(template.cards, template.at, template.lags, strict=True):
            self.cards[at : at + lag + 1] = [max(card, 1)] * (lag + 1)
        self.fixed: list[Fixed] = []
        self.of_rows: list[OfRows] = []
        for v in range(len(template.cards)):
            self._take(v, best)

    def _take(self, v: int, best: bool) -> None:
        """Add the tables of a variable; those that several kinds of steps share are added once."""
        parts = self.template.parts[v]
        n = len(parts)
        groups: dict[int, list[int]] = {}
        for kind, part in enumerate(parts):
            if part is not None:
                groups.setdefault(id(part), []).append(kind)
        if any(isinstance(part, GaussianFactor | Score | RowTable | RowNormal) for part in parts):
            places = {p for part in parts for p in self._discrete(part)}
            self.of_rows.append(OfRows(tuple(sorted(places)), parts, v))
            return
        plain = [part for part in parts if part is not None]
        if all(isinstance(part, Dense) for part in plain):  # one table; first steps may lack parents
            self._of_all_kinds(v, plain)
            return
        for kinds in groups.values():
            part = parts[kinds[0]]
            assert part is not None
            begin = len(self.cards)
            for i, (scope, values) in enumerate(self._tables(part, best)):
                self._put(v, scope, {kind: values for kind in kinds}, n, i)
            for hidden in range(begin, len(self.cards)):
                unused = np.zeros((n, self.cards[hidden]))
                for kind in set(range(n)) - set(kinds):
                    unused[kind, 1:] = -np.inf
                if len(kinds) < n:
                    self.fixed.append(Fixed((hidden,), unused, v, (), (0,), -1))

    def _of_all_kinds(self, v: int, plain: Sequence[ModelPart]) -> None:
        parts = self.template.parts[v]
        values = {}
        scope: Sequence[int] = ()
        for kind, part in enumerate(parts):
            if part is not None:
                assert isinstance(part, Dense)
                mine = part.scopes[0].tolist()
                values[kind] = (mine, part.values)
                if len(mine) >= len(scope):
                    scope = mine
        place = sorted(scope)
        full = {}
        for kind, (mine, table) in values.items():
            turned = table.transpose(np.argsort(mine))
            sizes = dict(zip(sorted(mine), turned.shape, strict=True))
            shape = [sizes.get(p, 1) for p in place]
            full[kind] = np.broadcast_to(turned.reshape(shape), [self.cards[p] for p in place])
        back = [place.index(p) for p in scope]
        self._put(v, scope, {k: t.transpose(back) for k, t in full.items()}, len(parts), 0)

    def _put(self, v: int, scope: Sequence[int], values: dict[int, np.ndarray], n: int, part: int) -> None:
        turned = np.argsort(scope)
        cards = [self.cards[scope[i]] for i in turned]
        logs = np.zeros((n, *cards))
        for kind, table in values.items():
            logs[kind] = logs_of(table.transpose(turned))
        back = tuple(np.argsort(turned).tolist())
        self.fixed.append(Fixed(tuple(sorted(scope)), logs, v, tuple(values), back, part))

    def _discrete(self, part: ModelPart | None) -> list[int]:
        """The places of the discrete variables of a density or score."""
        if part is None:
            return []
        if isinstance(part, GaussianFactor):
            return [int(p) for p in part.scope[: part.n_switches]]
        if isinstance(part, RowNormal):
            return [int(p) for p in part.discrete]
        if isinstance(part, Score | RowTable):
            return [*part.discrete.tolist(), part.child]
        assert isinstance(part, Dense)
        return [int(p) for p in part.scopes[0]]

    def _tables(self, part: ModelPart, best: bool) -> list[tuple[list[int], np.ndarray]]:
        """A distribution as small tables, with new places for its auxiliary variables."""
        if isinstance(part, Gate):
            if best and part.hidden and not part.function:
                scope = part.scope.tolist()
                return [(scope, part.written_out([self.cards[p] for p in scope]))]
            begin = len(self.cards)
            self.cards += part.hidden
            dense = part.as_tables(begin)
        elif isinstance(part, Sparse):
            begin = len(self.cards)
            self.cards.append(len(part.rows))
            dense = part.as_tables(np.array(self.cards), begin)
        elif isinstance(part, Tables):
            dense = list(part.each())
        else:
            assert isinstance(part, Dense)
            dense = [part]
        found = []
        for one in dense:
            values = np.exp(one.values) if one.log else one.values
            found += [(row.tolist(), values) for row in one.scopes]
        return found
