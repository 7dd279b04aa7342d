"""The confidence of arcs: the same search on bootstrap samples, and the network that these agree on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from pgm.errors import OutOfTime
from pgm.graphs.equivalence import Sets, compelled, orient, topological
from pgm.learning.searches import Search
from pgm.runtime import progress
from pgm.runtime.threads import Task, run_all

from .constraints import Constraints
from .found import Found
from .problem import StructureProblem, sampled_rows

Shares = list[tuple[int, int, float]]


def shares(problem: StructureProblem, how: Search, samples: int, found: Found) -> list[Shares]:
    """The arcs found in each of this many samples; in fewer if time runs out, which `found` then says."""
    if not samples or found.stopped_by:
        if samples:
            found.notes["bootstrap"] = "no samples: the search itself was stopped"
        return []
    begun = problem.rng.spawn(samples)
    rows = problem.in_order()
    done: list[Shares | None] = [None] * samples
    count = 0

    def one(i: int, stop: np.ndarray) -> None:
        nonlocal count
        rng = begun[i]
        made = how.find(rows.resampled(sampled_rows(rows, rng), rng))
        if not made.stopped_by:
            done[i] = directed_shares(made.parents, problem.known)
        count += 1
        progress.report(count, samples, "bootstrap")

    try:
        run_all([Task(partial(one, i), 1.0) for i in range(samples)], problem.clock)
    except (OutOfTime, KeyboardInterrupt) as error:
        found.interrupt(error)
    finished = [each for each in done if each is not None]
    if len(finished) < samples:
        found.notes["bootstrap"] = f"stopped after {len(finished):,} of {samples:,} samples"
    return finished


def directed_shares(parents: Sequence[Sequence[int]], known: Constraints) -> Shares:
    """Arcs that the data and the constraints can direct count once; the others count half each way."""
    fixed, free = directed(parents, known)
    found = [(u, v, 1.0) for v, those in enumerate(fixed) for u in sorted(those)]
    return found + [(u, v, 0.5) for v, those in enumerate(free) for u in sorted(those)]


def directed(parents: Sequence[Sequence[int]], known: Constraints) -> tuple[Sets, Sets]:
    """The arcs that the data and the constraints can direct, and the edges that may point either way."""
    fixed, free = compelled(parents)
    changed = False
    for v, those in enumerate(free):
        for u in sorted(those):
            if u < v and known.allowed[u, v] != known.allowed[v, u]:
                a, b = (u, v) if known.allowed[u, v] else (v, u)
                free[a].discard(b)
                free[b].discard(a)
                fixed[b].add(a)
                changed = True
    if changed:
        orient(fixed, free)
    return fixed, free


def average(
    total: Mapping[tuple[int, int], float], known: Constraints
) -> tuple[list[tuple[int, ...]], float]:
    """The network of the arcs that are found often, and how often that is (Scutari & Nagarajan 2013).

    Edges are added by decreasing strength, in the more frequent direction, unless that would close a cycle
    or is not permitted.
    """
    n = known.n
    strength: dict[tuple[int, int], float] = {}
    for (u, v), share in total.items():
        pair = (min(u, v), max(u, v))
        strength[pair] = strength.get(pair, 0.0) + share
    threshold = _threshold(np.array(sorted(strength.values())), n * (n - 1) // 2)
    parents: list[set[int]] = [set(np.flatnonzero(known.required[:, v]).tolist()) for v in range(n)]
    ranked = sorted(strength.items(), key=lambda item: (-item[1], item[0]))
    for (u, v), share in ranked:
        if share <= threshold:
            break
        ways = sorted(((-total.get(arc, 0.0), arc) for arc in ((u, v), (v, u))), key=lambda way: way)
        for weight, (a, b) in ways:
            if weight == 0.0 or a in parents[b] or b in parents[a]:
                continue
            if not known.allowed[a, b] or len(parents[b]) >= known.room[b]:
                continue
            parents[b].add(a)
            if len(topological(parents)) == n:
                break
            parents[b].discard(a)
    return [tuple(sorted(those)) for those in parents], threshold


def _threshold(strengths: np.ndarray, pairs: int) -> float:
    """The share above which arcs are taken to exist: that of the step function nearest to their distribution.

    The distance is in L1, between the empirical distribution function of the shares of all pairs, most of
    them 0, and that of shares which are all 0 or 1.
    """
    every = np.concatenate([np.zeros(max(0, pairs - strengths.size)), np.minimum(strengths, 1.0)])
    values, counts = np.unique(every, return_counts=True)
    heights = np.cumsum(counts) / every.size  # of the distribution function from this value to the next
    lengths = np.diff(np.append(values, 1.0))
    if not (lengths > 0.0).any():
        return 0.5
    levels = np.unique(heights)
    costs = [float((np.abs(heights - level) * lengths).sum()) for level in levels]
    level = levels[int(np.argmin(costs))]
    # This share of all pairs has no arc: the threshold is the quantile there.
    return float(values[min(int(np.searchsorted(heights, level)), values.size - 1)])
