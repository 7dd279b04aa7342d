"""Tests of independence of one column and each of several others, given some."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pgm.errors import InvalidArgument, listed
from pgm.learning.independence import ChiSquare, MutualInformation, PartialCorrelation, Permutation, Test
from pgm.learning.searching.problem import Problem
from pgm.runtime.running import run

from .compiled import Rows
from .discrete import SCORING, rows_of
from .gaussian import scatter_of


class Outcomes(NamedTuple):
    """Of each candidate: the statistic, its degrees of freedom, the rows used, and how likely so much is."""

    statistics: np.ndarray
    freedom: np.ndarray
    rows: np.ndarray
    p_values: np.ndarray


class Tester:
    """One test of the columns of a problem; rows with gaps in what is tested are left out of it."""

    __test__ = False  # not one of pytest's

    def __init__(self, problem: Problem, test: Test) -> None:
        self.problem, self.test = problem, test
        self.asked = 0
        numbers = problem.numbers
        if test.numbers:
            if len(numbers) < problem.n:
                states = [name for i, name in enumerate(problem.names) if i not in numbers]
                raise InvalidArgument(
                    f'test="{test.name}" is for continuous columns; {listed(states)} have states: '
                    'use test="g" with states=pgm.Bins for the continuous ones.'
                )
            self._values = np.array(problem.columns)
            self._whole = None if any(problem.gaps) else scatter_of(self._values, problem.weights)
        else:
            if numbers:
                raise InvalidArgument(
                    f'test="{test.name}" is for states; {listed([problem.names[i] for i in numbers])} are '
                    'continuous: use test="partial-correlation" where all are, or states=pgm.Bins.'
                )
            if isinstance(test, Permutation):
                problem.need_rows('test="permutation"')
            self._rows = None if problem.asked is not None else rows_of(problem.counts)

    def outcomes(self, v: int, given: tuple[int, ...], candidates: np.ndarray) -> Outcomes:
        """Test v against each candidate, given others."""
        self.asked += candidates.size
        if isinstance(self.test, PartialCorrelation):
            return self._correlations(v, given, candidates)
        if self._rows is not None:
            found, freedom, used = self._depend(self._rows, v, given, candidates)
        else:
            found, freedom, used = self._asked(v, given, candidates)
        if isinstance(self.test, MutualInformation):
            told = np.where(used > 0.0, found / np.maximum(2.0 * used, 1e-300), 0.0)
            return Outcomes(found, freedom, used, np.where(told < self.test.threshold, 1.0, 0.0))
        if isinstance(self.test, Permutation):
            p_values = np.array(
                [self._shuffled(v, given, int(x), g) for x, g in zip(candidates, found, strict=True)]
            )
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

    def _asked(
        self, v: int, given: tuple[int, ...], candidates: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same from counts that an engine makes, several candidates at a time."""
        asked, clock = self.problem.asked, self.problem.clock
        assert asked is not None
        place = {int(u): i for i, u in enumerate(candidates.tolist())}
        out = np.empty((3, candidates.size))
        base = [v, *given]
        for some, counts in asked.blocks(base, list(place), clock):
            at = np.arange(len(base), len(base) + len(some), dtype=np.int64)
            own = tuple(range(1, len(base)))
            out[:, [place[u] for u in some]] = self._depend(rows_of(counts), 0, own, at)
        return out[0], out[1], out[2]

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

    def _shuffled(self, v: int, given: tuple[int, ...], x: int, observed: float) -> float:
        """The share of shuffles with a statistic at least as large; the data count as one."""
        assert isinstance(self.test, Permutation)
        assert self._rows is not None
        d, rng = self._rows, self.problem.rng
        kept = np.ones(d.codes.shape[1], bool)
        if d.gaps.shape[1]:
            kept = ~d.gaps[[v, x, *given]].any(axis=0).astype(bool)
        if d.weights.size:
            raise InvalidArgument('test="permutation" shuffles rows, so it takes no weights.')
        group = np.zeros(int(kept.sum()), np.int64)
        for u in given:
            group = group * int(d.cards[u]) + d.codes[u, kept]
        _, group = np.unique(group, return_inverse=True)
        mine, theirs = d.codes[v, kept].astype(np.int64), d.codes[x, kept].astype(np.int64)
        order = np.argsort(group, kind="stable")
        group, mine, theirs = group[order], mine[order], theirs[order]
        r, w = int(d.cards[v]), int(d.cards[x])
        size = int(group[-1]) + 1 if group.size else 0
        reached = 1
        for _ in range(self.test.shuffles):
            self.problem.clock.check("shuffling")
            shuffled = theirs[np.lexsort((rng.random(group.size), group))]
            table = np.bincount((group * r + mine) * w + shuffled, minlength=size * r * w).astype(np.float64)
            reached += _g(table.reshape(size, r, w)) >= observed - 1e-9 * (1.0 + observed)
        return reached / (self.test.shuffles + 1)


def _g(table: np.ndarray) -> float:
    across, down = table.sum(axis=2, keepdims=True), table.sum(axis=1, keepdims=True)
    total = table.sum(axis=(1, 2), keepdims=True)
    seen = table > 0.0
    expected = (across * down / np.maximum(total, 1.0))[seen]
    return float(2.0 * (table[seen] * np.log(table[seen] / expected)).sum())


def _partial(scatter: np.ndarray) -> float:
    """The correlation of the first two variables given the rest; 0 where one of them does not vary."""
    if len(scatter) > 2:
        solved = np.linalg.lstsq(scatter[2:, 2:], scatter[2:, :2], rcond=None)[0]
        scatter = scatter[:2, :2] - scatter[:2, 2:] @ solved
    spread = math.sqrt(max(float(scatter[0, 0] * scatter[1, 1]), 0.0))
    return float(scatter[0, 1]) / spread if spread > 0.0 else 0.0
