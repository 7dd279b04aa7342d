"""The k best assignments of a tree, by splitting what is left after each (Nilsson 1998)."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from pgm.config import Clock
from pgm.inference.engines import exact
from pgm.inference.engines.exact import Best
from pgm.inference.reduction import Case
from pgm.inference.running import READING, code
from pgm.inference.trees import Tree

_TIED = 1e-12  # in log2; what is closer differs by rounding


@dataclass(eq=False, slots=True)
class _Cell:
    """The assignments that agree with `base` above clique `begin` and avoid the excluded entries there."""

    share: float  # log2 of the value of its best assignment, relative to the best of all
    base: np.ndarray
    begin: int
    excluded: tuple[int, ...]
    states: np.ndarray | None = None  # its best assignment, once it is needed

    def __lt__(self, other: _Cell) -> bool:
        """The most probable first."""
        return self.share > other.share


def best(case: Case, tree: Tree, clock: Clock, stage: np.ndarray, k: int) -> list[Best]:
    """Up to k assignments, best first, equals as declared; fewer if fewer are possible.

    The assignments other than the best fall into disjoint cells: those that agree with it on the first
    cliques and differ in the next. The best of a cell differs from the one it was split off only below that
    clique, so its value is one look at one clique.
    """
    t = tree.arrays
    first, pool = exact.maximum(case, tree, clock, stage)
    order = exact.as_declared(case, stage)
    cliques = exact.downwards(tree)
    kernels = code(8.0 * tree.steps, READING)
    heap = [_Cell(0.0, first.states, 0, (), first.states)]
    found: list[Best] = []
    while heap and len(found) < k:
        clock.check()
        tied = [heapq.heappop(heap)]
        while heap and heap[0].share >= tied[0].share - _TIED * (1.0 - tied[0].share):
            tied.append(heapq.heappop(heap))
        for cell in tied:
            if cell.states is None:
                excluded = np.array(cell.excluded, dtype=np.int64)
                below = cliques[cell.begin :].copy()
                cell.states = exact.first_of_ties(tree, pool, below, excluded, order, cell.base, clock)
        chosen = min(tied, key=lambda cell: cell.states[order].tolist() if cell.states is not None else [])
        for cell in tied:
            if cell is not chosen:
                heapq.heappush(heap, cell)
        states = chosen.states
        assert states is not None
        found.append(Best(states, exact.value_of(case, tree, pool, states)))
        rest = cliques[chosen.begin :].copy()
        shares = np.empty(rest.size)
        kernels.alternatives(t, *pool, rest, np.array(chosen.excluded, dtype=np.int64), states, shares)
        for i in np.flatnonzero(shares > -np.inf).tolist():
            out = (chosen.excluded if i == 0 else ()) + (_entry(tree, int(rest[i]), states),)
            heapq.heappush(heap, _Cell(chosen.share + float(shares[i]), states, chosen.begin + i, out))
    return found


def _entry(tree: Tree, c: int, states: np.ndarray) -> int:
    """The entry of clique c that these states select."""
    t = tree.arrays
    entry = 0
    for v in t.axes[t.axis_at[c] : t.axis_at[c + 1]].tolist():
        entry = entry * int(t.cards[v]) + int(states[v])
    return entry
