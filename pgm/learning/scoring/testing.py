"""Tests of independence between one column and each of several others, given a conditioning set."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pgm.errors import InvalidArgument, listed
from pgm.learning.independence import ChiSquare, MutualInformation, PartialCorrelation, Permutation, Test
from pgm.learning.searching.problem import StructureProblem
from pgm.runtime.running import run

from .compiled import Rows
from .discrete import SCORING, rows_of
from .gaussian import scatter_of


class Outcomes(NamedTuple):
    """For each candidate: the statistic, its degrees of freedom, the rows used, and the p-value."""

    statistics: np.ndarray
    freedom: np.ndarray
    rows: np.ndarray
    p_values: np.ndarray


class Tester:
    """One test of the columns of a problem; rows with gaps in the tested columns are left out."""

    __test__ = False  # not one of pytest's

    def __init__(self, problem: StructureProblem, test: Test) -> None:
        self.problem, self.test = problem, test
        self.asked = 0
        continuous = problem.continuous
        if test.continuous:
            if len(continuous) < problem.n:
                states = [name for i, name in enumerate(problem.names) if i not in continuous]
                raise InvalidArgument(
                    f'test="{test.name}" is for continuous columns; {listed(states)} have states: '
                    'use test="g" with states=pgm.Bins for the continuous ones.'
                )
            self._values = np.array(problem.columns)
            self._whole = None if any(problem.gaps) else scatter_of(self._values, problem.weights)
        else:
            if continuous:
                raise InvalidArgument(
                    f'test="{test.name}" is for states; {listed([problem.names[i] for i in continuous])} are '
                    'continuous: use test="partial-correlation" where all are, or states=pgm.Bins.'
                )
            weights = problem.weights
            if isinstance(test, Permutation) and weights is not None and (weights != np.rint(weights)).any():
                raise InvalidArgument('test="permutation" shuffles rows: weights= are whole numbers of rows.')
            self._rows = None if problem.asked is not None else rows_of(problem.counts)

    def outcomes(self, v: int, given: tuple[int, ...], candidates: np.ndarray) -> Outcomes:
        """Test v against each candidate, given the conditioning set."""
        self.asked += candidates.size
        if isinstance(self.test, PartialCorrelation):
            return self._correlations(v, given, candidates)
        found, freedom, used = np.empty((3, candidates.size))
        p_values = np.ones(candidates.size)
        for rows, own, others, those, at in self._parts(v, given, candidates):
            found[at], freedom[at], used[at] = self._depend(rows, own, others, those)
            if isinstance(self.test, Permutation):
                p_values[at] = [
                    self._shuffled(rows, own, others, int(x), g)
                    for x, g in zip(those, found[at], strict=True)
                ]
        if isinstance(self.test, MutualInformation):
            told = np.where(used > 0.0, found / np.maximum(2.0 * used, 1e-300), 0.0)
            return Outcomes(found, freedom, used, np.where(told < self.test.threshold, 1.0, 0.0))
        if isinstance(self.test, Permutation):
            return Outcomes(found, freedom, used, p_values)
        from scipy.special import chdtrc

        p_values = np.where(freedom > 0.0, chdtrc(np.maximum(freedom, 1.0), found), 1.0)
        return Outcomes(found, freedom, used, p_values)

    def _depend(
        self, rows: Rows, v: int, given: tuple[int, ...], candidates: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The statistic of each candidate, its degrees of freedom, and the rows used."""
        found, freedom, used = (np.empty(candidates.size) for _ in range(3))
        run(
            "depend", rows, v, np.array(given, np.int64), candidates.astype(np.int64),
            int(isinstance(self.test, ChiSquare)), found, freedom, used,
            steps=8.0 * rows.codes.shape[1] * (candidates.size + 1), clock=self.problem.clock,
            module=SCORING,
        )  # fmt: skip
        return found, freedom, used

    def _parts(
        self, v: int, given: tuple[int, ...], candidates: np.ndarray
    ) -> Iterator[tuple[Rows, int, tuple[int, ...], np.ndarray, np.ndarray]]:
        """Yield rows, their columns for v, for those given and for some candidates, and which ones these are.

        A data engine counts several candidates at a time.
        """
        if self._rows is not None:
            yield self._rows, v, given, candidates, np.arange(candidates.size)
            return
        asked, clock = self.problem.asked, self.problem.clock
        assert asked is not None
        place = {int(u): i for i, u in enumerate(candidates.tolist())}
        base = [v, *given]
        own = tuple(range(1, len(base)))
        for some, counts in asked.blocks(base, list(place), clock):
            at = np.arange(len(base), len(base) + len(some), dtype=np.int64)
            yield rows_of(counts), 0, own, at, np.array([place[u] for u in some])

    def _correlations(self, v: int, given: tuple[int, ...], candidates: np.ndarray) -> Outcomes:
        from scipy.special import ndtr

        k = len(given)
        found, rows = np.zeros(candidates.size), np.zeros(candidates.size)
        p_values = np.ones(candidates.size)
        for i, x in enumerate(candidates.tolist()):
            nodes = [v, x, *given]
            if self._whole is not None:
                scatter, count = self._whole[0][np.ix_(nodes, nodes)], self._whole[1]
            else:
                some = self._values[nodes]
                kept = ~np.isnan(some).any(axis=0)
                weights = self.problem.weights
                scatter, count = scatter_of(some[:, kept], None if weights is None else weights[kept])
            r = _partial(scatter)
            rows[i] = count
            if count - k - 3.0 > 0.0:
                found[i] = math.sqrt(count - k - 3.0) * math.atanh(min(abs(r), 1.0 - 1e-15))
                p_values[i] = 2.0 * float(ndtr(-found[i]))
        return Outcomes(found, np.ones(candidates.size), rows, p_values)

    def _shuffled(self, rows: Rows, v: int, given: tuple[int, ...], x: int, observed: float) -> float:
        """The share of shuffles with a statistic at least as large; the data count as one.

        The counts after a shuffle are drawn directly: tables with the same margins (Patefield 1981).
        """
        from scipy.special import xlogy
        from scipy.stats import random_table

        assert isinstance(self.test, Permutation)
        shuffles, clock = self.test.shuffles, self.problem.clock
        statistics = np.zeros(shuffles)
        for table in _tables(rows, v, given, x):
            clock.check("shuffling")
            across, down = table.sum(axis=1), table.sum(axis=0)
            across, down = across[across > 0], down[down > 0]
            if across.size < 2 or down.size < 2:  # nothing to shuffle
                continue
            drawn = random_table(across, down).rvs(shuffles, random_state=self.problem.rng)
            expected = across[:, None] * down / across.sum()
            statistics += 2.0 * xlogy(drawn, drawn / expected).sum(axis=(1, 2))
        reached = int((statistics >= observed - 1e-9 * (1.0 + observed)).sum())
        return (reached + 1) / (shuffles + 1)


def _tables(rows: Rows, v: int, given: tuple[int, ...], x: int) -> np.ndarray:
    """The counts of v and x where those given have each of the states that occur, (cases, states, states)."""
    kept = np.ones(rows.codes.shape[1], bool)
    if rows.gaps.shape[1]:
        kept = ~rows.gaps[[v, x, *given]].any(axis=0).astype(bool)
    case = np.zeros(int(kept.sum()), np.int64)
    for u in given:
        case = np.unique(case * int(rows.cards[u]) + rows.codes[u, kept], return_inverse=True)[1].reshape(-1)
    r, w, cases = int(rows.cards[v]), int(rows.cards[x]), int(case.max(initial=-1)) + 1
    place = (case * r + rows.codes[v, kept]) * w + rows.codes[x, kept]
    counts = np.bincount(place, rows.weights[kept] if rows.weights.size else None, cases * r * w)
    return np.rint(counts).astype(np.int64).reshape(cases, r, w)


def _partial(scatter: np.ndarray) -> float:
    """The correlation of the first two variables given the rest; 0 where one of them does not vary."""
    if len(scatter) > 2:
        solved = np.linalg.lstsq(scatter[2:, 2:], scatter[2:, :2], rcond=None)[0]
        scatter = scatter[:2, :2] - scatter[:2, 2:] @ solved
    spread = math.sqrt(max(float(scatter[0, 0] * scatter[1, 1]), 0.0))
    return float(scatter[0, 1]) / spread if spread > 0.0 else 0.0
