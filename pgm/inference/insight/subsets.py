"""Answers given subsets of the evidence, in one batch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from pgm.errors import ImpossibleEvidence
from pgm.evidence import observe
from pgm.frames import Columns
from pgm.inference.asking.frame_queries import DONE, distinct, fill
from pgm.inference.asking.questions import Questions
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.trees.batching.lanes import Answers
from pgm.inference.trees.batching.layouts import Wanted
from pgm.runtime.clock import Clock
from pgm.variables import Variable

_AT_ONCE = 1 << 16  # subsets in one batch


@dataclass(frozen=True, eq=False)
class Parts:
    """Evidence, for answers given its parts.

    Args:
        model: the model.
        target: the target variable; None: only P(part).
        known: the findings, as the user wrote them.
        clock: the clock of the question.
    """

    model: Questions
    target: Variable | None
    known: Mapping[str, object]
    clock: Clock

    def answers(self, sets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """P(target | part) and log P(part) for each part; NaN and minus infinity where it is impossible.

        Args:
            sets: (parts, findings), true where a finding belongs to the part.
        """
        compiled = self.model._compile_in(self.clock)
        observed = observe(compiled.by_name, self.known)
        if compiled.gaussians is not None or len(observed.hard) < len(self.known):
            return self._one_by_one(sets)
        codes = np.array([observed.hard[name] for name in self.known], dtype=np.int32)
        card = 0 if self.target is None else self.target.card
        shares, logs = np.empty((len(sets), card)), np.empty(len(sets))
        for begin in range(0, len(sets), _AT_ONCE):
            rows = slice(begin, begin + _AT_ONCE)
            found = rows_of(
                compiled,
                list(self.known),
                np.where(sets[rows], codes, -1).astype(np.int32),
                () if self.target is None else (self.target.name,),
                self.clock,
            )
            shares[rows], logs[rows] = found
        return shares, logs

    def _one_by_one(self, sets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`answers` for findings other than states, or with continuous variables."""
        names = list(self.known)
        parts = (
            {name: self.known[name] for name, there in zip(names, part.tolist(), strict=True) if there}
            for part in sets
        )
        return one_by_one(self.model, self.target, parts, len(sets), self.clock)


def one_by_one(
    model: Questions,
    target: Variable | None,
    parts: Iterable[Mapping[str, object]],
    n: int,
    clock: Clock,
) -> tuple[np.ndarray, np.ndarray]:
    """P(target | part) and log P(part), one question each; NaN and minus infinity where it is impossible.

    Args:
        model: the model, which may have continuous variables.
        target: the target variable; None: only P(part).
        parts: the parts of the evidence, of any kind.
        n: how many parts there are.
        clock: the clock of the question.
    """
    card = 0 if target is None else target.card
    shares, logs = np.full((n, card), np.nan), np.full(n, -math.inf)
    for i, part in enumerate(parts):
        clock.check()
        try:
            logs[i] = model.log_probability(part)
            if target is not None and logs[i] > -math.inf:
                shares[i] = model.query(target.name, part).values
        except ImpossibleEvidence:
            pass
    return shares, logs


def rows_of(
    compiled: ModelSnapshot, names: list[str], codes: np.ndarray, targets: tuple[str, ...], clock: Clock
) -> tuple[np.ndarray, np.ndarray]:
    """P(target | row) and log P(row) for each row of codes; NaN and minus infinity where it is impossible.

    Args:
        compiled: the model, without continuous variables.
        names: the names of the columns.
        codes: (rows, columns), -1 where a cell is missing.
        targets: at most one name, which is not one of the columns.
        clock: the clock of the question.
    """
    assert compiled.gaussians is None
    n = len(codes)
    columns = {name: np.ascontiguousarray(codes[:, i]) for i, name in enumerate(names)}
    table = distinct(compiled, Columns(n, columns, np.zeros(n, bool)))
    places = tuple(compiled.position[name] for name in targets)
    m, width = table.codes.shape[0], int(compiled.program.arrays.cards[list(places)].sum())
    found = Answers(np.zeros(m, np.int64), np.zeros(m), np.zeros(m, np.int64), np.zeros((m, width)))
    logs = fill(compiled, table, Wanted(places, False), found, clock, totals=True)
    bad = found.status != DONE
    found.shares[bad] = np.nan
    logs[bad] = -math.inf
    return found.shares[table.inverse], logs[table.inverse]
