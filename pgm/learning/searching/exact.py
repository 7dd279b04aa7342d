"""The best of all networks: by dynamic programming over sets of nodes, beyond that by integer programming."""

from __future__ import annotations

import numpy as np

from pgm.config import current
from pgm.errors import OutOfTime
from pgm.graphs.equivalence import compelled, extension
from pgm.learning.searches import Exact
from pgm.runtime.running import run

from .climbing import MOVING, climb
from .found import Found, Move
from .parent_sets import ParentSets, parent_sets
from .problem import StructureProblem

_BYTES = 8
_MOST_NODES = 26  # with more, sets of nodes take minutes and gigabytes


def search(options: Exact, problem: StructureProblem) -> Found:
    """Find a network of the highest score; at the time limit the best so far, with a bound."""
    families = problem.families()
    best = climb(
        families, problem.known, restarts=0, changes=0, tenure=10, patience=15, max_steps=None, rng=None
    )
    best.trace = [best.trace[0], Move("tabu", None, best.score)]
    if best.stopped_by:
        return best
    try:
        sets = parent_sets(problem, families, prune=True)
        n = problem.n
        need = _BYTES * (n * 2 ** max(n - 1, 0) + 3 * 2**n)
        if n <= _MOST_NODES and need <= current().memory_limit // 2:
            parents = _by_sets(sets, problem)
            made = Found(parents, families.total(parents), exact=True)
        else:
            from .programming import by_cuts

            made = by_cuts(sets, problem, families, best)
    except (OutOfTime, KeyboardInterrupt) as error:
        best.interrupt(error)
        return best
    if families.equivalent:  # of several best networks always the same one, whatever the order of rows
        same = extension(*compelled(made.parents))
        if same is not None and problem.known.obeyed(same):
            made.parents = [tuple(sorted(those)) for those in same]
    made.trace = [*best.trace, Move(options.name, None, made.score)]
    return made


def _by_sets(sets: list[ParentSets], problem: StructureProblem) -> list[tuple[int, ...]]:
    """Silander & Myllymäki 2006: the best network of each set of nodes has a sink, and is best without it."""
    n = problem.n
    best = np.full((n, 2 ** max(n - 1, 0)), -np.inf)
    for v, own in enumerate(sets):
        problem.clock.check("searching all networks")
        low = own.masks & ((1 << v) - 1)
        best[v, low | (own.masks >> (v + 1)) << v] = own.scores
        for bit in range(n - 1):  # the best subset of each set
            halves = best[v].reshape(-1, 2, 1 << bit)
            np.maximum(halves[:, 1], halves[:, 0], out=halves[:, 1])
    sinks = np.zeros(2**n, np.int8)
    totals = np.zeros(2**n)
    run("best_sinks", best, totals, sinks, steps=4.0 * n * 2**n, clock=problem.clock, module=MOVING)
    parents: list[tuple[int, ...]] = [()] * n
    left = 2**n - 1
    while left:
        v = int(sinks[left])
        left ^= 1 << v
        own = sets[v]
        fits = np.flatnonzero((own.masks & ~left) == 0)[0]
        parents[v] = members(int(own.masks[fits]), n)
    return parents


def members(mask: int, n: int) -> tuple[int, ...]:
    """The nodes in a set.

    >>> members(0b101, 3)
    (0, 2)
    """
    return tuple(u for u in range(n) if mask >> u & 1)
