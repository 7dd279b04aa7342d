"""Cached scores of families, which every search queries, whatever the columns are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from pgm.runtime.clock import Clock

Parents = tuple[int, ...]  # in ascending order
_KEPT = 256 << 20  # bytes of scores that are cached


class Families:
    """The score of a node for each set of parents, cached; subclasses compute it.

    Args:
        n: how many nodes there are: 0, 1, ...
        clock: the clock of the search.
        equivalent: whether Markov equivalent networks score alike.
    """

    def __init__(self, n: int, clock: Clock, *, equivalent: bool = False) -> None:
        self.n = n
        self.clock = clock
        self.equivalent = equivalent
        self.asked = 0  # the number of families that were scored
        self._permitted = [np.array([u for u in range(n) if u != v], np.int64) for v in range(n)]
        self._grown: dict[tuple[int, Parents], np.ndarray] = {}
        self._alone: dict[tuple[int, Parents], float] = {}
        self._bytes = 0

    def permit(self, allowed: np.ndarray) -> None:
        """Permit only these arcs [parent, child]: others score -inf."""
        arcs = allowed.copy()
        np.fill_diagonal(arcs, False)
        self._permitted = [np.flatnonzero(arcs[:, v]).astype(np.int64) for v in range(self.n)]
        self._grown.clear()
        self._alone.clear()
        self._bytes = 0

    def work(self, v: int, parents: Parents, candidates: np.ndarray) -> np.ndarray:
        """The score of v with these parents and each additional candidate; -1 means none."""
        raise NotImplementedError

    def grown(self, v: int, parents: Parents) -> np.ndarray:
        """The score of v with these parents and each additional node; -inf where that is not permitted."""
        key = v, parents
        found = self._grown.get(key)
        if found is None:
            candidates = self._permitted[v]
            if parents:
                candidates = candidates[~np.isin(candidates, parents)]
            found = np.full(self.n, -np.inf)
            if candidates.size:
                found[candidates] = self.work(v, parents, candidates)
            self.asked += candidates.size
            self._bytes += found.nbytes + 200
            if self._bytes > _KEPT:
                self._grown.clear()
                self._alone.clear()
                self._bytes = found.nbytes
            self._grown[key] = found
        return found

    def score(self, v: int, parents: Iterable[int]) -> float:
        """The score of v with these parents."""
        those = tuple(sorted(parents))
        key = v, those
        known = self._alone.get(key)
        if known is None:
            for i, u in enumerate(those):
                larger = self._grown.get((v, those[:i] + those[i + 1 :]))
                if larger is not None and larger[u] > -np.inf:
                    known = float(larger[u])
                    break
            else:
                known = float(self.work(v, those, np.array([-1], np.int64))[0])
                self.asked += 1
            self._alone[key] = known
            self._bytes += 200
        return known

    def total(self, parents: Sequence[Iterable[int]]) -> float:
        """The score of a whole network."""
        return float(sum(self.score(v, those) for v, those in enumerate(parents)))
