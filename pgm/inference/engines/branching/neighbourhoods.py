"""Which variables to free together, so that a search finds their best states given the others'."""

from __future__ import annotations

import numpy as np

from pgm.inference.engines.branching.branching_arrays import BranchingProblem

_KEPT = 200_000  # indices of neighbours, a few megabytes


class Neighbourhoods:
    """Connected sets of variables, a different one each time."""

    def __init__(self, p: BranchingProblem) -> None:
        """For this problem."""
        self._problem = p
        self._found: dict[int, list[int]] = {}  # the neighbours of variables met so far
        self._room = _KEPT

    def of(self, start: int, size: int, rng: np.random.Generator) -> np.ndarray:
        """Mark up to `size` variables: `start`, then repeatedly a random neighbour of those marked.

        A variable is listed once for each marked neighbour, so one with many of them tends to come sooner.
        """
        marked = np.zeros(self._problem.cards.size, np.uint8)
        waiting, count = [start], 0
        while waiting and count < size:
            i = int(rng.integers(len(waiting)))
            v, waiting[i] = waiting[i], waiting[-1]
            waiting.pop()
            if marked[v] == 0:
                marked[v] = 1
                count += 1
                waiting.extend(u for u in self._neighbours(v) if marked[u] == 0)
        return marked

    def _neighbours(self, v: int) -> list[int]:
        found = self._found.get(v)
        if found is None:
            p = self._problem
            factors = p.owner[p.users[p.user_at[v] : p.user_at[v + 1]]]
            tied = {u for f in factors for u in p.scopes[p.scope_at[f] : p.scope_at[f + 1]].tolist()}
            found = sorted(tied - {v})
            if len(found) <= self._room:
                self._found[v] = found
                self._room -= len(found)
        return found
