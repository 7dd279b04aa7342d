"""Scores of families whose rows stay in their engine: each is computed from counts queried there."""

from __future__ import annotations

import numpy as np

from pgm.learning.counts.asked import AskedCounts
from pgm.learning.scores import Score
from pgm.runtime.clock import Clock

from .discrete import DiscreteFamilies
from .families import Families, Parents


class AskedFamilies(Families):
    """Discrete families under one score, of rows that an engine counts.

    Args:
        counts: the source of counts.
        score: the score.
        clock: the clock of the search.
    """

    def __init__(self, counts: AskedCounts, score: Score, clock: Clock) -> None:
        super().__init__(len(counts.cards), clock, equivalent=score.equivalent)
        self.counts, self.score_of = counts, score

    def work(self, v: int, parents: Parents, candidates: np.ndarray) -> np.ndarray:
        """Query counts, several candidates at a time, and score these; see `Families`."""
        found, base, own = np.empty(candidates.size), [v, *parents], tuple(range(1, len(parents) + 1))
        place = {int(u): i for i, u in enumerate(candidates.tolist())}
        if -1 in place:
            counts = self.counts.of(base)
            alone = DiscreteFamilies(counts, self.score_of, self.clock)
            found[place[-1]] = alone.work(0, own, np.array([-1], np.int64))[0]
        for some, counts in self.counts.blocks(base, [u for u in place if u >= 0], self.clock):
            families = DiscreteFamilies(counts, self.score_of, self.clock)
            at = np.arange(len(base), len(base) + len(some), dtype=np.int64)
            found[[place[u] for u in some]] = families.work(0, own, at)
        return found
