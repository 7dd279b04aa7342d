"""The two sweeps over a tree of cliques, by one thread or by several: the same numbers either way.

Parts of a tree that hang below different cliques do not touch; each is swept by one thread. No sum is taken
in another order for that, so the bits do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pgm.config import RUNNING, Clock, current
from pgm.inference.plan import seconds_of
from pgm.inference.pool import Task, run_all
from pgm.inference.running import TREES, code, run, settle
from pgm.inference.trees import Tree

SUMS = np.empty(0, np.uint8)
_WORTH_THREADS = 5e-3  # seconds


def sweep_in(
    tree: Tree,
    pool: np.ndarray,
    kept: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    exponent: np.ndarray,
    clock: Clock,
    largest: np.ndarray = SUMS,
) -> None:
    """Send all messages towards the roots; the arguments are those of the kernel `inward`."""
    parts, rest, share = _shares(tree)

    def args(cliques: np.ndarray) -> tuple[object, ...]:
        return tree.arrays, cliques, largest, pool, np.empty(tree.longest_row), kept, low, high, exponent

    _side_by_side("inward", args, parts, seconds_of(tree.steps * share), clock)
    run("inward", *args(rest), steps=tree.steps * (1.0 - share), clock=clock)


def sweep_out(
    tree: Tree,
    pool: np.ndarray,
    down: np.ndarray,
    results: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    exponent: np.ndarray,
    clock: Clock,
) -> None:
    """Send all messages away from the roots, and read the results; as the kernel `outward`."""
    parts, rest, share = _shares(tree)
    ratio_low, ratio_high = np.zeros_like(exponent), np.zeros_like(exponent)

    def args(cliques: np.ndarray) -> tuple[object, ...]:
        rows = np.empty(tree.longest_row), np.empty(tree.longest_row)
        state = (tree.arrays, cliques, pool, down, results, low, high, exponent, ratio_low, ratio_high)
        return *state, *rows

    run("outward", *args(rest), steps=tree.steps * (1.0 - share), clock=clock)
    _side_by_side("outward", args, parts, seconds_of(tree.steps * share), clock)


def _shares(tree: Tree) -> tuple[list[np.ndarray], np.ndarray, float]:
    """The cliques that each thread sweeps, those above them, and how much of the work the threads share."""
    everything, threads = tree.all_cliques, current().threads
    if threads == 1 or seconds_of(tree.steps) < _WORTH_THREADS:
        return [], everything, 0.0
    cost = tree.clique_steps()
    share_of = code(1e9, TREES).shares(tree.arrays.parent, cost, threads)
    parts = [np.flatnonzero(share_of == i) for i in range(threads)]
    parts = [part for part in parts if part.size]
    if len(parts) < 2:
        return [], everything, 0.0
    rest = np.flatnonzero(share_of < 0)
    return parts, rest, 1.0 - float(cost[rest].sum() / cost.sum())


def _side_by_side(
    name: str,
    args: Callable[[np.ndarray], tuple[object, ...]],
    parts: list[np.ndarray],
    seconds: float,
    clock: Clock,
) -> None:
    if not parts:
        return
    kernel = getattr(code(1e9), name)

    def task(cliques: np.ndarray) -> Task:
        def work(stop: np.ndarray) -> None:
            status = kernel(*args(cliques), stop)
            if not stop[0]:  # else another task, or the clock, has said why
                settle(status, name, clock)

        return Task(work, seconds / len(parts))

    run_all([task(cliques) for cliques in parts], clock)
    clock.lap(RUNNING)
