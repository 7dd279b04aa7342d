"""Elimination orders and clique trees on graphs given as arrays: the plans of exact inference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pgm.runtime import threads
from pgm.runtime.clock import Clock
from pgm.runtime.loops import Loops
from pgm.runtime.running import beside

LOOPS = Loops("pgm.graphs.compiled")
_WATCHED = 2_000  # neighbours in a graph whose triangulation may take a while
_WATCHED_CLOSELY = 50  # the same where the time is limited or progress is shown: a thread takes 0.1 ms
_NEVER = np.zeros(1, np.uint8)
_NO_POINTERS = np.zeros(1, np.int64)
_NOTHING = np.zeros(0, np.int32)


@dataclass(frozen=True, eq=False)
class Triangulation:
    """An elimination order and its maximal cliques as a tree, or as a forest if the graph is disconnected.

    Clique c holds `clique_vars[clique_ptr[c]:clique_ptr[c + 1]]`: first its `n_residual[c]` own variables
    in the order of elimination, then its separator. Children come before their parents; the `parent` of a
    root is -1. If the search was `stopped`, or the best order found exceeds the limit, it is not
    `complete` and there are no cliques; the sizes and `order` are then those of the best order found.
    """

    order: np.ndarray
    clique_ptr: np.ndarray
    clique_vars: np.ndarray
    n_residual: np.ndarray
    parent: np.ndarray
    log2_total: float
    log2_largest: float
    heuristic: str
    complete: bool
    stopped: bool = False

    @property
    def n_cliques(self) -> int:
        """The number of maximal cliques."""
        return len(self.parent)

    def clique(self, c: int) -> np.ndarray:
        """Return the variables of clique c: residual, then separator."""
        return self.clique_vars[self.clique_ptr[c] : self.clique_ptr[c + 1]]

    def separator(self, c: int) -> np.ndarray:
        """Return the variables that clique c shares with its parent."""
        return self.clique_vars[self.clique_ptr[c] + self.n_residual[c] : self.clique_ptr[c + 1]]


def triangulate(
    indptr: np.ndarray,
    indices: np.ndarray,
    log2_card: np.ndarray,
    *,
    limit_log2: float = np.inf,
    effort: float = 0.5,
    budget: float = 1e8,
    stop: np.ndarray | None = None,
    order: np.ndarray | None = None,
    stage: np.ndarray | None = None,
    own: np.ndarray | None = None,
    seed: int = 0,
) -> Triangulation:
    """Find an elimination order with small cliques, and the tree of these cliques.

    Args:
        indptr: neighbours of vertex v are `indices[indptr[v]:indptr[v + 1]]` (int64).
        indices: sorted neighbour lists, symmetric, without loops (int32).
        log2_card: log2 of the number of states of each vertex (float64).
        limit_log2: give up on orders whose cliques sum to more than 2^limit_log2 entries.
        effort: operations that random restarts may use per table entry; at 1, about as long as filling
            the tables. More for a tree that serves many questions, 0 for no restarts.
        budget: operations that they may use in total, some 5 ns each.
        stop: an array of one byte that another thread sets to end the search.
        order: use this order instead of searching.
        stage: vertices of a lower stage are eliminated before those of a higher one (int64).
        own: the position of each vertex in an order that the model suggests, which is tried too (int64).
        seed: seed of the random restarts.
    """
    n, limit, found = len(log2_card), float(limit_log2), 0
    stop = _NEVER if stop is None else stop
    if order is None:
        order = np.empty(n, np.int32)
        stage = np.zeros(n, np.int64) if stage is None else np.asarray(stage, np.int64)
        found = 1
        done, names, *rest = LOOPS.core(indptr, indices, log2_card, stage, order)
        if done < n:
            best = np.empty(n - done, np.int32)
            turns = np.arange(n) if own is None else own
            rest.append(np.argsort(turns[names], kind="stable").astype(np.int32))
            plain = n > LOOPS.MANY and not stage.any()  # with stages the cheap orders are not tried
            few = int(plain and _hopeless(indptr, indices, log2_card, turns, limit, stop))
            status, total, largest, found = LOOPS.search(
                *rest, limit, float(effort), float(budget), seed, few, best, stop
            )
            if not found and status != 1 and stage.any():  # greedy search gave up: use a plain order
                best = np.lexsort((np.diff(rest[0]), rest[3]))
                order[done:] = names[best]
                return triangulate(indptr, indices, log2_card, limit_log2=limit_log2, order=order, stop=stop)
            order[done:] = names[best] if found else names
            if status == 1 or not found or total > limit:
                no = _NOTHING
                name, stopped = LOOPS.HEURISTICS[found], status == 1
                return Triangulation(order, _NO_POINTERS, no, no, no, total, largest, name, False, stopped)
    order = np.asarray(order, np.int32)
    status, *tree, total, largest = LOOPS.ordered(indptr, indices, log2_card, order, limit, stop)
    ptr, members, own, parent = tree
    name, stopped = LOOPS.HEURISTICS[found], status == 1
    return Triangulation(order, ptr, members, own, parent, total, largest, name, status == 0, stopped)


def _hopeless(
    indptr: np.ndarray,
    indices: np.ndarray,
    log2_card: np.ndarray,
    turns: np.ndarray,
    limit: float,
    stop: np.ndarray,
) -> bool:
    """Tell whether a subgraph of some thousand vertices exceeds the limit in the cheap and greedy orders.

    A graph is no easier than its subgraphs, but this proves nothing about other orders, only that the same
    rules would have to do better on the whole graph.
    """
    ptr, ids, names = LOOPS.neighbourhood(indptr, indices, len(log2_card) // 2, 10_000)
    m, cards = len(names), log2_card[names]
    ones, stage, order = np.ones(m), np.zeros(m, np.int64), np.empty(m, np.int32)
    status, _, _ = LOOPS.greedy(ptr, ids, cards, stage, ones, ones, ones, 0, limit, 1e7, order, stop)
    if status != 2:
        return False
    own = np.argsort(turns[names], kind="stable").astype(np.int32)
    _, total, _, _ = LOOPS.search(ptr, ids, cards, stage, own, limit, 0.0, 0.0, 0, 3, order, stop)
    return bool(total > limit)


def triangulate_in(
    clock: Clock, at: np.ndarray, indices: np.ndarray, *args: Any, **options: Any
) -> Triangulation:
    """Triangulate as `triangulate` does, within the time limit if it may take long."""
    clock.check("looking for a tree")
    waits = clock.deadline is None and clock.pulse is None
    if len(indices) < (_WATCHED if waits else _WATCHED_CLOSELY) or threads.flag() is not None:
        return triangulate(at, indices, *args, **options)

    def work(stop: np.ndarray) -> Triangulation:
        return triangulate(at, indices, *args, stop=stop, **options)

    found: Triangulation = beside(work, (), np.zeros(1, np.uint8), clock, "looking for a tree")
    return found
