"""Scores of discrete families (BIC, AIC, BDeu, BDs, K2, fNML, qNML), from counts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pgm.errors import InvalidArgument
from pgm.learning.counts import Counts
from pgm.learning.scores import FNML, K2, QNML, BDeu, BDs, Score
from pgm.runtime.clock import Clock
from pgm.runtime.loops import Loops
from pgm.runtime.running import run

from .compiled import DIRICHLET, ENTROPY, NORMALISED, SPARSE, UNIFORM, Rows
from .families import Families, Parents
from .regret import one_regret, regrets

SCORING = Loops("pgm.learning.scoring.compiled", "scoring families")
_WHOLE = 1 << 22  # rows up to which n log n is looked up


def rows_of(counts: Counts) -> Rows:
    """The columns as the compiled loops take them."""
    found = [counts.codes(column) for column in range(len(counts.cards))]
    gaps = np.zeros((len(found), counts.n_distinct if counts.gaps.any() else 0), np.uint8)
    if gaps.shape[1]:
        for column, gap in zip(found, gaps, strict=True):
            gap[column < 0] = 1
            column[column < 0] = 0
    codes = np.array(found, np.uint16).reshape(len(counts.cards), counts.n_distinct)
    weights = counts.weights
    if (weights == 1.0).all():
        weights = np.zeros(0)
    modes, starts, rows, others = [], [0], [], []
    for column, card in zip(codes, counts.cards, strict=True):
        mode = int(np.bincount(column, weights if weights.size else None, minlength=card).argmax())
        elsewhere = np.flatnonzero(column != mode).astype(np.int32)
        modes.append(mode)
        rows.append(elsewhere)
        others.append(column[elsewhere].astype(np.int32))
        starts.append(starts[-1] + elsewhere.size)
    none = np.zeros(0, np.int32)
    return Rows(
        codes,
        gaps,
        np.array(counts.cards, np.int64),
        np.array(modes, np.int64),
        np.array(starts, np.int64),
        np.concatenate([none, *rows]),
        np.concatenate([none, *others]),
        weights,
        _logs(weights, counts.total),
        np.zeros(0),
    )


def _logs(weights: np.ndarray, total: float) -> np.ndarray:
    """A table of n log n, up to the number of rows; empty if weights are not whole, or rows too many."""
    if total > _WHOLE or (weights.size and not (weights == np.floor(weights)).all()):
        return np.zeros(0)
    n = np.arange(round(total) + 1, dtype=np.float64)
    n[0] = 1.0
    logs: np.ndarray = n * np.log(n)
    return logs


class DiscreteFamilies(Families):
    """Discrete families under one score.

    Args:
        counts: the columns, none of which has a gap.
        score: the score.
        clock: the clock of the search.
        rows: the same columns as `rows_of` returns them, if available.
    """

    def __init__(self, counts: Counts, score: Score, clock: Clock, rows: Rows | None = None) -> None:
        super().__init__(len(counts.cards), clock, equivalent=score.equivalent)
        self.score_of, self.total_rows = score, counts.total
        self.rows = rows_of(counts) if rows is None else rows
        self.cards = np.array(counts.cards, np.float64)
        self._each = score.per_parameter(counts.total)
        self._kind, self._amount = ENTROPY, 0.0
        if isinstance(score, BDeu | BDs):
            self._kind = DIRICHLET if isinstance(score, BDeu) else SPARSE
            self._amount = float(score.equivalent_sample_size)
        elif isinstance(score, K2):
            self._kind, self._amount = UNIFORM, 1.0
        elif score.whole:
            if not self.rows.logs.size:
                raise InvalidArgument(
                    f'score="{score.name}" is defined for whole rows: it takes no fractional weights, and at '
                    f"most {_WHOLE:,} rows."
                )
            if isinstance(score, FNML):
                self._kind = NORMALISED
                self.rows = self.rows._replace(regrets=regrets(int(self.total_rows), int(max(counts.cards))))

    def work(self, v: int, parents: Parents, candidates: np.ndarray) -> np.ndarray:
        """Score by counting; see `Families`."""
        out = np.empty(candidates.size)
        run(
            "grow", self.rows, v, np.array(parents, np.int64), candidates, self._kind, self._amount, out,
            steps=6.0 * self.rows.codes.shape[1] * (candidates.size + 1), clock=self.clock, module=SCORING,
        )  # fmt: skip
        if self._each or isinstance(self.score_of, QNML):
            configurations = math.prod(self.cards[list(parents)].tolist())
            each = np.where(candidates < 0, 1.0, self.cards[candidates]) * configurations
            if self._each:
                out -= self._each * (self.cards[v] - 1.0) * each
            else:
                out -= self._quotients(int(self.cards[v]), each.tolist())
        return out

    def _quotients(self, card: int, configurations: Sequence[float]) -> np.ndarray:
        n = int(self.total_rows)
        return np.array([one_regret(n, int(q) * card) - one_regret(n, int(q)) for q in configurations])
