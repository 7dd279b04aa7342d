"""Discrete variables with continuous parents in many rows: their estimators are called once for all rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pgm.factors import Dense, GaussianFactor, Linking, RowNormal
from pgm.factors.row_table import check_rows
from pgm.factors.score import table_of
from pgm.frames import side_by_side

_WIDTH = 4  # floats that a row takes besides its columns


@dataclass(frozen=True, eq=False, slots=True)
class _Link:
    """The distribution of a child with continuous parents in all rows of a frame; computed when needed."""

    score: Any
    codes: Mapping[int, np.ndarray]  # of discrete variables by position, -1 where not observed
    values: Mapping[int, np.ndarray]  # of continuous ones by position, NaN where not observed
    n_rows: int
    complete: Set[int] = frozenset()  # continuous variables that all rows observe
    _found: dict[str, Any] = field(default_factory=dict)

    def values_known(self) -> np.ndarray:
        """Rows in which all continuous parents that make a difference are observed, as flags."""
        known = np.ones(self.n_rows, bool)
        for p, matters in zip(self.score.continuous.tolist(), self._matters(), strict=True):
            if matters and p not in self.complete:
                known &= ~np.isnan(self.values[p]) if p in self.values else False
        return known

    def _matters(self) -> np.ndarray:
        return np.asarray(getattr(self.score, "matters", np.ones(self.score.continuous.size, bool)))

    def all_known(self) -> bool:
        """Whether every row has all parents."""
        return bool(self.values_known().all()) and all(
            v in self.codes and bool((self.codes[v] >= 0).all()) for v in self.score.discrete.tolist()
        )

    def _laid_out(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The arguments of the call: each row of the frame once for each configuration of its open parents.

        Returns where the configurations of each row begin (-1: left out), the codes of the discrete parents,
        and the values of the continuous ones.
        """
        score = self.score
        there = np.flatnonzero(self.values_known())
        nothing = np.full(self.n_rows, -1, np.int32)
        columns = [self.codes.get(v, nothing) for v in score.discrete.tolist()]
        counts = np.ones(there.size, np.int64)
        for column, card in zip(columns, score.cards, strict=True):
            counts[column[there] < 0] *= card
        start = np.full(self.n_rows, -1, np.int64)
        ends = np.cumsum(counts)
        start[there] = ends - counts
        total = int(ends[-1]) if there.size else 0
        check_rows(total, score.scope.size + _WIDTH)
        plain = total == self.n_rows
        of = there if total == there.size else np.repeat(there, counts)
        codes = np.empty((total, len(columns)), np.int64, order="F")
        left = np.arange(total) - start[of] if total > there.size else np.zeros(total, np.int64)
        for i in range(len(columns) - 1, -1, -1):  # the last parent changes fastest
            column, card = columns[i][of], score.cards[i]
            open_ = column < 0
            codes[:, i] = np.where(open_, left % card, column)
            left = np.where(open_, left // card, left)
        hidden = np.zeros(total)
        values = side_by_side(
            [
                hidden if p not in self.values else self.values[p] if plain else self.values[p][of]
                for p in score.continuous.tolist()
            ],
            total,
        )
        if not self._matters().all():  # a parent that makes no difference may be missing
            values = np.where(np.isnan(values), 0.0, values)
        return start, codes, values

    def open_at(self, row: int) -> list[int]:
        """The discrete parents that are not observed in a row."""
        return [v for v in self.score.discrete.tolist() if v not in self.codes or self.codes[v][row] < 0]


@dataclass(frozen=True, eq=False, slots=True)
class Link(_Link):
    """A discrete variable with continuous parents, in all rows."""

    score: Linking

    def shares(self) -> np.ndarray:
        """P(child | row), where all parents are observed in every row: (rows, states)."""
        score = self.score
        codes = np.empty((self.n_rows, score.discrete.size), np.int64, order="F")
        for i, v in enumerate(score.discrete.tolist()):
            codes[:, i] = self.codes[v]
        values = side_by_side([self.values[p] for p in score.continuous.tolist()], self.n_rows)
        return score.rows(codes, values)

    def logs(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the configurations of the open discrete parents of each row begin, and log P(child | those).

        A row whose continuous parents are not all observed begins at -1.
        """
        if "logs" not in self._found:
            start, codes, values = self._laid_out()
            self._found["logs"] = start, self.score.logs(codes, values)
        found: tuple[np.ndarray, np.ndarray] = self._found["logs"]
        return found

    def table(self, row: int) -> Dense | None:
        """P(child | open discrete parents) of one row; None if one of its continuous parents is hidden."""
        start, logs = self.logs()
        if start[row] < 0:
            return None
        score, open_ = self.score, self.open_at(row)
        cards = [k for v, k in zip(score.discrete.tolist(), score.cards, strict=True) if v in open_]
        here = logs[start[row] : start[row] + math.prod(cards)].reshape(*cards, score.card)
        return table_of([*open_, score.child], here)

    def likelihood(
        self, rows: np.ndarray, axes: Sequence[int], digits: Sequence[np.ndarray], n: int
    ) -> np.ndarray:
        """Log P(child | parents) + log(states), for configurations of the axes and rows of one pattern.

        The table that holds its place in the model has 1 / states everywhere.

        Args:
            rows: of the frame.
            axes: discrete variables, the open ones of this family among them.
            digits: for each axis, its state in each of the n configurations.
            n: how many configurations there are.
        """
        start, logs = self.logs()
        score, open_ = self.score, set(self.open_at(int(rows[0])))
        of = dict(zip(axes, digits, strict=True))
        at = np.zeros(n, np.int64)
        for v, card in zip(score.discrete.tolist(), score.cards, strict=True):
            if v in open_:
                at = at * card + of[v]
        code = of[score.child][:, None] if score.child in of else self.codes[score.child][rows][None]
        return np.asarray(logs[start[rows][None] + at[:, None], code] + math.log(score.card))


@dataclass(frozen=True, eq=False, slots=True)
class CurveLink(_Link):
    """A continuous variable given by a nonlinear regression on others, in all rows."""

    score: RowNormal

    def moments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where the configurations of each row begin, and the mean and standard deviation under each."""
        if "moments" not in self._found:
            start, codes, values = self._laid_out()
            self._found["moments"] = (start, *self.score.moments(codes, values))
        found: tuple[np.ndarray, np.ndarray, np.ndarray] = self._found["moments"]
        return found

    def table(self, row: int) -> GaussianFactor | None:
        """The density of one row given its open discrete parents; None if a continuous parent is hidden."""
        start, mean, sd = self.moments()
        if start[row] < 0:
            return None
        curve, open_ = self.score, self.open_at(row)
        count = math.prod(k for v, k in zip(curve.discrete.tolist(), curve.cards, strict=True) if v in open_)
        here = slice(int(start[row]), int(start[row]) + count)
        scope = np.array([*open_, curve.child], np.int64)
        return GaussianFactor(scope, len(open_), np.zeros((count, 0)), mean[here], sd[here])
