"""Elimination orders and clique trees on graphs given as arrays: what exact inference is planned with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pgm.jit import kernels

_NEVER = np.zeros(1, np.uint8)


@dataclass(frozen=True, eq=False)
class Triangulation:
    """An elimination order with its maximal cliques as a tree, or as a forest where the graph falls into parts.

    Clique c holds `clique_vars[clique_ptr[c]:clique_ptr[c + 1]]`: first its `n_residual[c]` own variables in the order
    of elimination, then its separator. Children come before their parents; `parent` of a root is -1.
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
        """How many maximal cliques there are."""
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
    seed: int = 0,
) -> Triangulation:
    """Find an elimination order with small cliques, and the tree of these cliques.

    Args:
        indptr: neighbours of vertex v are `indices[indptr[v]:indptr[v + 1]]` (int64).
        indices: sorted neighbour lists, symmetric, without loops (int32).
        log2_card: log2 of the number of states of each vertex (float64).
        limit_log2: give up orders whose cliques sum to more than 2^limit_log2 entries.
        effort: operations that random restarts may use for each entry of the tables; about as long as filling them
            if one. More for a tree that serves many questions, 0 for none.
        budget: operations that they may use at all, some 5 ns each.
        stop: an array of one byte, set by another thread to end the search.
        order: use this order and search for none.
        stage: vertices of a lower stage are eliminated before those of a higher one (int64).
        seed: of the random restarts.
    """
    n = len(log2_card)
    stage = np.zeros(n, np.int64) if stage is None else np.asarray(stage, np.int64)
    chosen = np.empty(n, np.int32) if order is None else np.array(order, np.int32)
    stop = _NEVER if stop is None else stop
    compiled = kernels("pgm.graphs.compiled", 20.0 * (n + len(indices)))
    status, *tree, total, largest, heuristic = compiled.triangulate(
        indptr, indices, log2_card, stage, order is not None, float(limit_log2), float(effort), float(budget), seed,
        chosen, stop,
    )  # fmt: skip
    return Triangulation(chosen, *tree, total, largest, compiled.HEURISTICS[heuristic], status == 0, status == 1)
