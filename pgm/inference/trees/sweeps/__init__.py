"""The two sweeps over a clique tree, by one thread or several, with bit-identical results.

Disjoint subtrees are independent: each is swept by one thread. The threads share the rows of a huge clique
above them. No sum is taken in another order, so results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from pgm.config import current
from pgm.inference.trees import Tree
from pgm.inference.trees.sweeps.row_slices import CLOSE, OPEN, WHOLE, huge, slabs_in, slabs_out
from pgm.inference.trees.tree_arrays import TreeArrays
from pgm.runtime.clock import RUNNING, Clock
from pgm.runtime.running import TABLES, TREES, raise_status, run, seconds_of
from pgm.runtime.threads import Task, run_all

SUMS = np.empty(0, np.uint8)
_NO_LOSS = np.empty(0)
_WORTH_THREADS = 1.7e7  # inner steps: 5 ms
_SLABS = 2  # per thread, so that the last slab to begin does not keep other threads waiting


def sweep_in(
    tree: Tree,
    pool: np.ndarray,
    kept: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    exponent: np.ndarray,
    clock: Clock,
    largest: np.ndarray = SUMS,
    *,
    out_too: bool = False,
    loss: np.ndarray = _NO_LOSS,
) -> None:
    """Send all messages towards the roots; the arguments are those of the compiled `inward`."""

    def args(cliques: np.ndarray, slab: np.ndarray = WHOLE) -> tuple[object, ...]:
        row = np.empty(tree.longest_row)
        return tree.arrays, cliques, largest, pool, row, kept, low, high, exponent, loss, out_too, slab

    work = _share(tree, slabs_in)
    if work.parts:
        _side_by_side("inward", map(args, work.parts), work.shared, clock)
    for cliques, slabs, steps in work.rest:
        if not slabs:
            run("inward", *args(cliques), steps=steps, clock=clock)
            continue
        message = float(tree.arrays.sent[cliques[0]])  # which is cleared and, at the end, scaled
        run("inward", *args(cliques, OPEN), steps=message, clock=clock)
        _side_by_side("inward", [args(cliques, slab) for slab in slabs], steps, clock)
        run("inward", *args(cliques, CLOSE), steps=message, clock=clock)
    if loss.size:
        raise_status(TABLES.proven(tree.arrays, pool, loss), "proven", clock)


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
    """Send all messages away from the roots and read the results; arguments as for the compiled `outward`."""
    ratio_low, ratio_high = np.zeros_like(exponent), np.zeros_like(exponent)

    def args(cliques: np.ndarray, slab: np.ndarray = WHOLE) -> tuple[object, ...]:
        rows = np.empty(tree.longest_row), np.empty(tree.longest_row)
        state = (tree.arrays, cliques, pool, down, results, low, high, exponent, ratio_low, ratio_high)
        return *state, *rows, slab

    work = _share(tree, slabs_out)
    for cliques, slabs, steps in reversed(work.rest):
        if not slabs:
            run("outward", *args(cliques), steps=steps, clock=clock)
            continue
        run("outward", *args(cliques, OPEN), steps=0.0, clock=clock)
        _side_by_side("outward", [args(cliques, slab) for slab in slabs], steps, clock)
        run("outward", *args(cliques, CLOSE), steps=0.0, clock=clock)
    if work.parts:
        _side_by_side("outward", map(args, work.parts), work.shared, clock)


@dataclass(frozen=True, eq=False, slots=True)
class _Shared:
    """Which thread sweeps which cliques."""

    parts: list[np.ndarray]  # what each thread sweeps
    shared: float  # inner steps of that
    rest: list[tuple[np.ndarray, list[np.ndarray], float]]  # cliques above, in order: with slabs, or without


def _share(tree: Tree, cut: Callable[[TreeArrays, int, int], list[np.ndarray]]) -> _Shared:
    threads = current().threads if tree.steps >= _WORTH_THREADS else 1
    if threads == 1:
        return _Shared([], 0.0, [(tree.all_cliques, [], tree.steps)])
    t, cost = tree.arrays, tree.clique_steps()
    share_of = TREES.shares(t.parent, cost, threads)
    parts = [np.flatnonzero(share_of == i) for i in range(threads)]
    parts = [part for part in parts if part.size]
    if len(parts) < 2:
        share_of[:] = -1
        parts = []
    above = np.flatnonzero(share_of < 0)
    rest: list[tuple[np.ndarray, list[np.ndarray], float]] = []
    begin = 0
    for i in np.flatnonzero(huge(t)[above]).tolist():
        slabs = cut(t, int(above[i]), _SLABS * threads)
        if slabs:
            rest.append((above[begin:i], [], float(cost[above[begin:i]].sum())))
            rest.append((above[i : i + 1], slabs, float(cost[above[i]])))
            begin = i + 1
    rest.append((above[begin:], [], float(cost[above[begin:]].sum())))
    return _Shared(parts, float(cost[share_of >= 0].sum()), rest)


def _side_by_side(name: str, calls: Iterable[tuple[object, ...]], steps: float, clock: Clock) -> None:
    """Call a compiled function once for each of these arguments, on as many threads as allowed."""
    calls = list(calls)
    loop = getattr(TABLES, name)

    def task(args: tuple[object, ...]) -> Task:
        def work(stop: np.ndarray) -> None:
            status = loop(*args, stop)
            if not stop[0]:  # otherwise another task, or the clock, raises the error
                raise_status(status, name, clock)

        return Task(work, seconds_of(steps) / len(calls))

    run_all([task(args) for args in calls], clock)
    clock.lap(RUNNING)
