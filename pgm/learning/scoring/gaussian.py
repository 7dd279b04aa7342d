"""Scores of continuous families: linear Gaussians, from sums of products."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pgm.errors import InvalidFrame, listed, shown
from pgm.learning.scores import BGe, Score
from pgm.runtime.clock import Clock

from .families import Families, Parents

_NOTHING = 1e-12  # relative to a column's spread: a smaller residual is that of a linear function of others


def scatter_of(values: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, float]:
    """Sums of products about the means of the rows of `values`, and the weight of the observations.

    >>> scatter_of(np.array([[1.0, 3.0], [2.0, 2.0]]), None)[0].tolist()
    [[2.0, 0.0], [0.0, 0.0]]
    """
    w = np.ones(values.shape[1]) if weights is None else weights
    count = float(w.sum())
    centred = values - (values @ w / count if count else np.zeros(len(values)))[:, None]
    return (centred * w) @ centred.T, count


def residuals(scatter: np.ndarray, v: int, parents: Sequence[int], others: np.ndarray) -> np.ndarray:
    """Sums of squared residuals given the parents: [0] of v, [1] of each other node, [2] their products."""
    nodes = [v, *others.tolist()]
    rest = scatter[np.ix_([v], nodes)]
    own = scatter[nodes, nodes]
    if parents:
        inner = scatter[np.ix_(parents, parents)]
        solved = np.linalg.lstsq(inner, scatter[np.ix_(parents, nodes)], rcond=None)[0]
        rest = rest - scatter[np.ix_([v], parents)] @ solved
        own = own - (scatter[np.ix_(parents, nodes)] * solved).sum(axis=0)
    return np.array([np.full(others.size, own[0]), own[1:], rest[0, 1:]])


class GaussianFamilies(Families):
    """Continuous families under one score.

    Args:
        names: of the columns, for messages.
        values: [column, row], without gaps.
        weights: of the rows, or None.
        score: the score.
        clock: the clock of the search.
    """

    def __init__(
        self,
        names: Sequence[str],
        values: np.ndarray,
        weights: np.ndarray | None,
        score: Score,
        clock: Clock,
    ) -> None:
        super().__init__(len(names), clock, equivalent=score.equivalent)
        self.names, self.score_of = names, score
        self.scatter, self.count = scatter_of(values, weights)
        for v, spread in enumerate(np.diag(self.scatter).tolist()):
            if not spread > 0.0:
                raise InvalidFrame(f"The column {shown(names[v])} is constant: its density has no width.")
        if isinstance(score, BGe):
            n, mean = len(names), score.mean_rows
            self._freedom = n + 2.0 if score.freedom is None else float(score.freedom)
            if not self._freedom > n + 1.0:
                raise InvalidFrame(f"freedom= of BGe must exceed the number of columns, {n}, by more than 1.")
            self._t = mean * (self._freedom - n - 1.0) / (mean + 1.0)
            self._posterior = self.scatter + self._t * np.eye(n)

    def work(self, v: int, parents: Parents, candidates: np.ndarray) -> np.ndarray:
        """Score by regression; see `Families`."""
        those = list(parents)
        alone = candidates < 0
        others = np.where(alone, v, candidates)
        if isinstance(self.score_of, BGe):
            return self._bge(v, those, others, alone)
        own, theirs, both = residuals(self.scatter, v, those, others)
        useful = ~alone & (theirs > _NOTHING * np.diag(self.scatter)[others])
        left = own - np.where(useful, both**2 / np.where(useful, theirs, 1.0), 0.0)
        if (left <= _NOTHING * self.scatter[v, v]).any():
            at = int((left <= _NOTHING * self.scatter[v, v]).argmax())
            with_it = [self.names[u] for u in (*those, *([] if alone[at] else [int(others[at])]))]
            raise InvalidFrame(
                f"The column {shown(self.names[v])} is a linear function of {listed(with_it)}: its density "
                "would have no width. Leave one of them out."
            )
        n = self.count
        fit = -0.5 * n * (np.log(2.0 * math.pi * left / n) + 1.0)
        parameters = len(those) + np.where(alone, 0, 1) + 2
        found: np.ndarray = fit - self.score_of.per_parameter(n) * parameters
        return found

    def _bge(self, v: int, parents: list[int], others: np.ndarray, alone: np.ndarray) -> np.ndarray:
        """Geiger & Heckerman 2002, as Kuipers, Moffa & Heckerman 2014 corrected it."""
        score = self.score_of
        assert isinstance(score, BGe)
        own, theirs, both = residuals(self._posterior, v, parents, others)
        left = np.where(alone, own, own - both**2 / np.where(alone, 1.0, theirs))
        above = np.linalg.slogdet(self._posterior[np.ix_(parents, parents)])[1] if parents else 0.0
        above = above + np.where(alone, 0.0, np.log(np.where(alone, 1.0, theirs)))
        n, rows = self.n, self.count
        size = len(parents) + np.where(alone, 0, 1)
        prior = self._freedom - n + size + 1.0
        gammas = np.array([math.lgamma((rows + p) / 2.0) - math.lgamma(p / 2.0) for p in prior.tolist()])
        log_t = math.log(self._t)
        found: np.ndarray = (
            -0.5 * rows * math.log(math.pi)
            + 0.5 * math.log(score.mean_rows / (rows + score.mean_rows))
            + gammas
            + 0.5 * prior * log_t * (size + 1.0)
            - 0.5 * (prior - 1.0) * log_t * size
            - 0.5 * (rows + prior) * np.log(left)
            - 0.5 * above
        )
        return found
