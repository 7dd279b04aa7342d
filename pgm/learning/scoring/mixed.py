"""Scores of mixed families: a linear Gaussian in each configuration of the discrete parents."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pgm.learning.scores import Score
from pgm.runtime.clock import Clock

from .discrete import DiscreteFamilies
from .families import Families, Parents

_NOTHING = 1e-12
_KEPT = 512  # sets of discrete parents whose moments are cached


class MixedFamilies(Families):
    """Families of mixed columns under one score; discrete variables have no continuous parents.

    A family in which some configuration has too few rows for its regression scores -inf: its density would
    shrink to a point.

    Args:
        discrete: the discrete families; continuous columns have one state there.
        places: the row of each continuous node in `values`.
        values: [continuous column, row], without gaps.
        codes: [node, row].
        weights: of the rows, or None.
        score: the score.
        clock: the clock of the search.
    """

    def __init__(
        self,
        discrete: DiscreteFamilies,
        places: dict[int, int],
        values: np.ndarray,
        codes: Sequence[np.ndarray],
        weights: np.ndarray | None,
        score: Score,
        clock: Clock,
    ) -> None:
        super().__init__(discrete.n, clock, equivalent=False)
        self.discrete, self.places, self.codes, self.score_of = discrete, places, codes, score
        self.weights = np.ones(values.shape[1]) if weights is None else weights
        self.count = float(self.weights.sum())
        self.values = values - (values @ self.weights / self.count)[:, None]
        self._each = score.per_parameter(self.count)
        self._moments: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {}

    def work(self, v: int, parents: Parents, candidates: np.ndarray) -> np.ndarray:
        """Score by counting, or by a regression in each configuration; see `Families`."""
        if v not in self.places:
            return self.discrete.work(v, parents, candidates)
        out = np.empty(candidates.size)
        for i, x in enumerate(candidates.tolist()):
            out[i] = self._density(v, parents if x < 0 else (*parents, x))
        return out

    def _density(self, v: int, parents: Sequence[int]) -> float:
        states = tuple(sorted(u for u in parents if u not in self.places))
        inputs = [self.places[u] for u in parents if u in self.places]
        counts, scatters = self._of(states)
        own = self.places[v]
        spread = scatters[:, own, own]
        if (counts <= len(inputs) + 1).any():
            return -math.inf
        left = spread.copy()
        if inputs:
            inner = scatters[:, inputs][:, :, inputs]
            beside = scatters[:, inputs, own]
            solved = np.linalg.pinv(inner, hermitian=True) @ beside[:, :, None]
            left = spread - (beside * solved[:, :, 0]).sum(axis=1)
        if (left <= _NOTHING * max(float(spread.sum()), 1e-300)).any():
            return -math.inf
        fit = float((-0.5 * counts * (np.log(2.0 * math.pi * left / counts) + 1.0)).sum())
        configurations = math.prod(float(self.discrete.cards[u]) for u in states)
        return fit - self._each * configurations * (len(inputs) + 2)

    def _of(self, states: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        """The weight of the rows, and sums of products about the means, in each configuration of states."""
        known = self._moments.get(states)
        if known is not None:
            return known
        group = np.zeros(self.weights.size, np.int64)
        for u in states:
            group = group * int(self.discrete.cards[u]) + self.codes[u]
        _, group = np.unique(group, return_inverse=True)
        groups = int(group.max()) + 1
        counts = np.bincount(group, self.weights, minlength=groups)
        m = len(self.values)
        means = (
            np.array([np.bincount(group, self.weights * row, minlength=groups) for row in self.values])
            / counts
        )
        scatters = np.empty((groups, m, m))
        centred = self.values - means[:, group]
        for i in range(m):
            for j in range(i, m):
                sums = np.bincount(group, self.weights * centred[i] * centred[j], minlength=groups)
                scatters[:, i, j] = scatters[:, j, i] = sums
        if len(self._moments) >= _KEPT:
            self._moments.clear()
        self._moments[states] = counts, scatters
        return counts, scatters
