"""The evidence of each step of sequences, as tables of a slice: rows with equal evidence share them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from pgm.distributions.normal import log_standard_normal
from pgm.factors import Dense, GaussianFactor, ModelPart, OwnDensity, RowNormal, RowTable, Score
from pgm.factors.row_table import configurations
from pgm.inference.engines.interface.log_tables import Piece, logs_of
from pgm.inference.engines.interface.part_tables import OfRows, Template
from pgm.inference.engines.interface.slice_layout import SliceLayout


class Unseen(Exception):
    """A continuous parent was not observed where its child was: that likelihood is not a table."""

    def __init__(self, row: int, child: int, parent: int) -> None:
        """Take the row, the child, and the continuous parent."""
        super().__init__(row)
        self.row, self.child, self.parent = row, child, parent


@dataclass(frozen=True, eq=False)
class ObservedRows:
    """Steps of sequences, one below the other.

    Continuous columns begin `history` rows earlier, with the past steps that lagged parents refer to.
    """

    kind: np.ndarray  # int64: the index of the distributions that a step has
    begins: np.ndarray  # uint8: 1 where a sequence begins
    ends: np.ndarray  # uint8: 1 where one ends
    codes: Mapping[int, np.ndarray]  # int32 by variable, -1 where not observed
    soft: Mapping[
        int, tuple[np.ndarray, np.ndarray]
    ]  # rows in rising order, and the logarithms of their weights
    values: Mapping[int, np.ndarray]  # of each continuous variable, NaN where not observed
    own: np.ndarray = field(default_factory=lambda: np.empty(0, bool))  # rows that share with no other
    history: int = 0

    @property
    def n(self) -> int:
        """How many rows there are."""
        return int(self.kind.size)

    def patterns(self, template: Template, a: int, b: int) -> tuple[np.ndarray, np.ndarray]:
        """Patterns of equal evidence in rows a to b: the pattern of each row, and a row for each pattern."""
        if self.values:
            return np.arange(b - a, dtype=np.int32), np.arange(a, b)
        key = self.kind[a:b].copy()
        space = template.n_kinds
        for v, codes in self.codes.items():
            card = template.cards[v] + 1
            if space > 2**61 // card:  # renumber what there is so far
                key = np.unique(key, return_inverse=True)[1].astype(np.int64)
                space = b - a
            key *= card
            key += codes[a:b]
            key += 1
            space *= card
        if self.own.size and (alone := np.flatnonzero(self.own[a:b])).size:
            key[alone] = space + np.arange(alone.size)
            space += alone.size
        if space <= 4 * (b - a) + 1024:
            seen = np.full(space, -1, np.int64)
            seen[key[::-1]] = np.arange(b - 1, a - 1, -1)
            some = np.flatnonzero(seen >= 0)
            place = np.empty(space, np.int32)
            place[some] = np.arange(some.size)
            return place[key], seen[some]
        _, first, code = np.unique(key, return_index=True, return_inverse=True)
        return code.astype(np.int32).reshape(-1), first + a

    def pieces(self, layout: SliceLayout, rows: np.ndarray) -> list[Piece]:
        """All tables of a slice for these rows, in the order of `layout.scopes`."""
        kinds = self.kind[rows]
        alike = bool((kinds == kinds[0]).all())
        found: list[Piece] = []
        for fixed in layout.fixed:
            found.append((fixed.scope, fixed.logs[kinds[:1]] if alike else fixed.logs[kinds]))
        for one in layout.of_rows:
            found.append((one.scope, self._made(layout, one, rows)))
        for v in layout.weighted:
            found.append(((layout.template.at[v],), self._weights(v, layout.template.cards[v], rows)))
        return found

    def _weights(self, v: int, card: int, rows: np.ndarray) -> np.ndarray:
        codes = self.codes.get(v)
        if codes is None and v not in self.soft:
            return np.zeros((1, card))
        table = np.zeros((rows.size, card))
        if codes is not None:
            hard = np.flatnonzero(codes[rows] >= 0)
            table[hard] = -np.inf
            table[hard, codes[rows[hard]]] = 0.0
        if v in self.soft:
            where, logs = self.soft[v]
            at = np.searchsorted(where, rows)
            there = np.flatnonzero((at < where.size) & (where[np.minimum(at, where.size - 1)] == rows))
            table[there] += logs[at[there]]
        return table

    def _made(self, layout: SliceLayout, one: OfRows, rows: np.ndarray) -> np.ndarray:
        """The table of densities and distributions with continuous parents in these rows."""
        sizes = [layout.cards[p] for p in one.scope]
        found = np.zeros((rows.size, *sizes))
        kinds = self.kind[rows]
        for kind in np.unique(kinds).tolist():
            part = one.parts[kind]
            if part is None:
                continue
            at = np.flatnonzero(kinds == kind)
            places, table = self._of_part(layout, one.variable, part, rows[at])
            turned = np.argsort(places, kind="stable")
            table = table.transpose([0, *(int(i) + 1 for i in turned)])
            into = [layout.cards[p] if p in places else 1 for p in one.scope]
            found[at] = table.reshape(-1, *into)
        return found

    def _of_part(
        self, layout: SliceLayout, v: int, part: ModelPart, rows: np.ndarray
    ) -> tuple[list[int], np.ndarray]:
        if isinstance(part, OwnDensity):
            y = self.values[v][rows + self.history]
            seen, places = ~np.isnan(y), part.scope[: part.n_switches].tolist()
            logs = np.zeros((rows.size, part.bias.size))
            logs[seen] = part.logs(y[seen, None])
            return places, logs.reshape(rows.size, *[layout.cards[p] for p in places])
        if isinstance(part, RowNormal):
            return self._curve(layout, v, part, rows)
        if isinstance(part, GaussianFactor):
            return self._density(layout, v, part, rows)
        if isinstance(part, Score):
            places = part.scope.tolist()
            values = self._values_at(layout, v, places[part.n_discrete : -1], rows, np.ones(rows.size, bool))
            score = part.offset[None] + (values @ part.weights).reshape(rows.size, *[1] * part.n_discrete, -1)
            score = score - score.max(axis=-1, keepdims=True)
            score = score - np.log(np.exp(score).sum(axis=-1, keepdims=True))
            return [*places[: part.n_discrete], places[-1]], score
        if isinstance(part, RowTable):
            places = part.scope.tolist()
            values = self._values_at(layout, v, places[part.n_discrete : -1], rows, np.ones(rows.size, bool))
            every = configurations(part.discrete, part.cards, {}, rows.size * (part.scope.size + part.card))
            codes = np.tile(every, (rows.size, 1))
            logs = part.logs(codes, np.repeat(values, len(every), axis=0))
            return [*places[: part.n_discrete], places[-1]], logs.reshape(rows.size, *part.cards, part.card)
        assert isinstance(part, Dense)
        logs = logs_of(part.values)
        return part.scopes[0].tolist(), np.broadcast_to(logs, (rows.size, *logs.shape))

    def _density(
        self, layout: SliceLayout, v: int, part: GaussianFactor, rows: np.ndarray
    ) -> tuple[list[int], np.ndarray]:
        places = part.scope.tolist()
        y = self.values[v][rows + self.history]
        seen = ~np.isnan(y)
        x = self._values_at(layout, v, places[part.n_switches : -1], rows, seen)
        left = np.where(seen, y, 0.0)[:, None] - part.bias - x @ part.weights.T
        logs = log_standard_normal(left / part.sd) - np.log(part.sd)
        logs[~seen] = 0.0
        shape = [layout.cards[p] for p in places[: part.n_switches]]
        return places[: part.n_switches], logs.reshape(rows.size, *shape)

    def _curve(
        self, layout: SliceLayout, v: int, part: RowNormal, rows: np.ndarray
    ) -> tuple[list[int], np.ndarray]:
        y = self.values[v][rows + self.history]
        seen = ~np.isnan(y)
        x = self._values_at(layout, v, part.continuous.tolist(), rows, seen)[seen]
        every = configurations(part.discrete, part.cards, {}, rows.size * (part.scope.size + 2))
        mean, sd = part.moments(np.tile(every, (len(x), 1)), np.repeat(x, len(every), axis=0))
        logs = np.zeros((rows.size, len(every)))
        left = np.repeat(y[seen], len(every)) - mean
        logs[seen] = (log_standard_normal(left / sd) - np.log(sd)).reshape(-1, len(every))
        return part.discrete.tolist(), logs.reshape(rows.size, *part.cards)

    def _values_at(
        self, layout: SliceLayout, v: int, places: list[int], rows: np.ndarray, needed: np.ndarray
    ) -> np.ndarray:
        """The values at these places, of the rows that need them."""
        found = np.zeros((rows.size, len(places)))
        for i, p in enumerate(places):
            u, back = layout.template.owner(p)
            column = self.values[u][rows + self.history - back]
            missing = np.isnan(column) & needed
            if missing.any():
                raise Unseen(int(rows[missing.argmax()]), v, u)
            found[:, i] = np.where(np.isnan(column), 0.0, column)
        return found
