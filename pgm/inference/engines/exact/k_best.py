"""The k best assignments of a tree, by partitioning the rest after each (Nilsson 1998)."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np

from pgm.config import memory_limit
from pgm.inference.engines.exact import tree_runs
from pgm.inference.engines.exact.tree_runs import MaxAssignment
from pgm.inference.program.reduction import Case
from pgm.inference.trees import Tree
from pgm.runtime.clock import Clock
from pgm.runtime.room import too_large
from pgm.runtime.running import READING

_TIED = 1e-12  # in log2; a smaller difference is rounding
_CELL = 300  # bytes of a waiting cell, without its states
_ANSWER = 1200  # bytes of an assignment, without its codes


@dataclass(eq=False, slots=True)
class _Cell:
    """The assignments that agree with `base` above clique `begin` and avoid the excluded entries there."""

    share: float  # log2 of the value of its best assignment, relative to the best of all
    base: np.ndarray
    begin: int
    excluded: tuple[int, ...]
    states: np.ndarray | None = None  # its best assignment, once it is needed
    key: bytes = b""  # sorts as the states of its best, as declared, or as a lower bound on them

    def __lt__(self, other: _Cell) -> bool:
        """Whether this cell comes first: the most probable does."""
        return self.share > other.share


def best(case: Case, tree: Tree, clock: Clock, stage: np.ndarray, k: int) -> list[MaxAssignment]:
    """Up to k assignments, best first, ties in declared order; fewer if fewer are possible.

    The assignments other than the best fall into disjoint cells: those that agree with it on the first
    cliques and differ in the next. The best of a cell differs from the one it was split off only below that
    clique, so its value takes one lookup in one clique. Among cells with equally good bests, of which there
    may be many, the one whose best comes first in declared order is wanted: they wait ordered by a lower
    bound on its key, and only those that reach the top are examined.
    """
    t = tree.arrays
    first, pool = tree_runs.maximum(case, tree, clock, stage)
    keys = _Keys(case, tree, stage)
    cliques = tree_runs.downwards(tree)
    heap = [_Cell(0.0, first.states, 0, (), first.states)]
    equals: list[tuple[bytes, int, _Cell]] = []  # cells whose best equals the last one found
    serial = 0
    least = math.inf
    found: list[MaxAssignment] = []

    def wait(cell: _Cell) -> None:
        nonlocal serial
        serial += 1
        heapq.heappush(equals, (cell.key, serial, cell))

    each, allowed = _ANSWER + 8 * first.states.size + 16 * case.program.n, memory_limit()
    while (heap or equals) and len(found) < k:
        clock.check()
        if (needed := each * len(found) + _CELL * (len(heap) + len(equals))) > allowed:
            some = f"The first {len(found):,} of the {k:,} most probable states take"
            raise too_large(needed, allowed, some, "Ask for a smaller k")
        if not equals:
            least = heap[0].share - _TIED * (1.0 - heap[0].share)
        while heap and heap[0].share >= least:
            cell = heapq.heappop(heap)
            cell.key = keys.of(cell.states) if cell.states is not None else keys.before(cell)
            wait(cell)
        chosen = heapq.heappop(equals)[2]
        if chosen.states is None:
            excluded = np.array(chosen.excluded, dtype=np.int64)
            below = cliques[chosen.begin :].copy()
            chosen.states = tree_runs.first_of_ties(
                tree, pool, below, excluded, keys.order, chosen.base, clock
            )
            chosen.key = keys.of(chosen.states)
            wait(chosen)
            continue
        states = chosen.states
        found.append(MaxAssignment(states, tree_runs.value_of(case, tree, pool, states)))
        rest = cliques[chosen.begin :].copy()
        shares = np.empty(rest.size)
        READING.alternatives(t, *pool, rest, np.array(chosen.excluded, dtype=np.int64), states, shares)
        for i in np.flatnonzero(shares > -np.inf).tolist():
            out = (chosen.excluded if i == 0 else ()) + (_entry(tree, int(rest[i]), states),)
            cell = _Cell(chosen.share + float(shares[i]), states, chosen.begin + i, out)
            if cell.share >= least:
                cell.key = keys.after(chosen.key, cell)
                wait(cell)
            else:
                heapq.heappush(heap, cell)
    return found


class _Keys:
    """Keys of states: bytes that compare like the codes, variable by variable in declared order."""

    def __init__(self, case: Case, tree: Tree, stage: np.ndarray) -> None:
        t = tree.arrays
        self.order = tree_runs.as_declared(case, stage)
        most = int(t.cards.max(initial=1))
        self._type = np.dtype(">u1" if most <= 1 << 8 else ">u2" if most <= 1 << 16 else ">u4")
        turn = np.full(t.parent.size, -1, np.int64)
        cliques = tree_runs.downwards(tree)
        turn[cliques] = np.arange(cliques.size)
        self._turn = turn[t.clique_of[self.order]]  # when each variable is chosen, going down the tree
        self._last = np.full(cliques.size, -1, np.int64)  # the place in the order of the last one chosen then
        np.maximum.at(self._last, self._turn, np.arange(self.order.size))

    def of(self, states: np.ndarray) -> bytes:
        """The exact key of these states."""
        return bytes(states[self.order].astype(self._type))

    def after(self, key: bytes, cell: _Cell) -> bytes:
        """A lower bound on the key of a new cell's best, given the key of equally good states outside it.

        Those states were the first of the cell before the split. The new cell's differ from them in some
        variable of one clique, and are larger where they first differ: at the latest in its last variable.
        """
        place = int(self._last[cell.begin])
        wide = self._type.itemsize
        code = int(cell.base[self.order[place]]) + 1
        return key[: place * wide] + code.to_bytes(wide, "big") if code < 1 << (8 * wide) else key

    def before(self, cell: _Cell) -> bytes:
        """A lower bound for a cell whose best is worth less: zeros for everything not fixed above it."""
        codes = np.where(self._turn < cell.begin, cell.base[self.order], 0)
        if not cell.base[self.order][self._turn == cell.begin].any():  # some of these are then not zero
            codes[self._last[cell.begin]] = 1
        return bytes(codes.astype(self._type))


def _entry(tree: Tree, c: int, states: np.ndarray) -> int:
    """The entry of clique c selected by these states."""
    t = tree.arrays
    entry = 0
    for v in t.axes[t.axis_at[c] : t.axis_at[c + 1]].tolist():
        entry = entry * int(t.cards[v]) + int(states[v])
    return entry
