"""Structures drawn from their posterior: over orders (Friedman & Koller 2003), and over networks."""

from __future__ import annotations

import numpy as np

from pgm.errors import OutOfTime
from pgm.graphs.equivalence import topological
from pgm.learning.searches import OrderMCMC, StructureMCMC
from pgm.runtime import progress
from pgm.runtime.running import run

from .climbing import MOVING, climb, drop_idle
from .exact import members
from .found import Found, Move
from .parent_sets import parent_sets
from .problem import StructureProblem

_CHUNK = 1000


def search(options: OrderMCMC | StructureMCMC, problem: StructureProblem) -> Found:
    """Draw, and keep the best network."""
    return _orders(options, problem) if isinstance(options, OrderMCMC) else _networks(options, problem)


def _orders(options: OrderMCMC, problem: StructureProblem) -> Found:
    """In a move two nodes of the order swap places; each node's sets of parents are summed over exactly."""
    n, families = problem.n, problem.families()
    first = climb(
        families, problem.known, restarts=0, changes=0, tenure=0, patience=0, max_steps=None, rng=None
    )
    if first.stopped_by:
        return first
    found = Found(first.parents, first.score, [Move("start", None, first.score)])
    sums = np.zeros((n, n))
    counted = 0
    try:
        sets = parent_sets(problem, families, prune=False)
        starts = np.cumsum([0, *(own.masks.size for own in sets)]).astype(np.int64)
        masks, scores = (
            np.concatenate(part) for part in zip(*((s.masks, s.scores) for s in sets), strict=True)
        )
        order = np.array(topological(first.parents), np.int64)
        own = np.zeros(n)
        best = np.full(1, -np.inf)
        best_sets = np.zeros(n, np.int64)
        state = np.zeros(2)  # the log-probability of the current order, and the number of accepted moves
        for begin in range(0, options.steps, _CHUNK):
            progress.report(begin, options.steps, "drawing orders")
            size = min(_CHUNK, options.steps - begin)
            pairs = problem.rng.integers(0, n, (2, size))
            logs = np.log(problem.rng.random(size))
            burning = max(0, min(size, options.burn_in - begin))
            more = np.zeros(1, np.int64)
            run(
                "walk_orders", masks, scores, starts, order, own, pairs[0].copy(), pairs[1].copy(), logs,
                burning, options.thin, sums, best, best_sets, state, more,
                steps=10.0 * size * masks.size / max(n, 1), clock=problem.clock, module=MOVING,
            )  # fmt: skip
            counted += int(more[0])
            found.trace.append(Move("orders", None, float(state[0])))
            if best[0] > found.score + 1e-9 * (1.0 + abs(found.score)):
                found.score = float(best[0])
                found.parents = [members(int(masks[starts[v] + best_sets[v]]), n) for v in range(n)]
        progress.report(options.steps, options.steps, "drawing orders")
        found.notes["accepted"] = f"{state[1] / max(options.steps, 1):.1%} of {options.steps:,} moves"
    except (OutOfTime, KeyboardInterrupt) as error:
        found.interrupt(error)
    if counted:
        shares = sums / counted
        found.confidence = {
            (u, v): float(shares[u, v]) for u in range(n) for v in range(n) if u != v and shares[u, v] > 0.0
        }
        found.notes["confidence"] = f"posterior of each arc, over {counted:,} orders drawn"
    found.score = families.total(found.parents)
    return found


def _networks(options: StructureMCMC, problem: StructureProblem) -> Found:
    """A Metropolis walk: a pair (u, v) is drawn; u -> v is added, removed, or replaces v -> u.

    The reverse move is proposed as often, so acceptance depends on the scores alone.
    """
    n, known, families = problem.n, problem.known, problem.families()
    first = climb(families, known, restarts=0, changes=0, tenure=0, patience=0, max_steps=None, rng=None)
    if first.stopped_by:
        return first
    found = Found(list(first.parents), first.score, [Move("start", None, first.score)])
    parents = [tuple(those) for those in first.parents]
    arcs = np.zeros((n, n), np.uint8)
    for v, those in enumerate(parents):
        arcs[list(those), v] = 1
    score = first.score
    sums, counted, since, accepted = np.zeros((n, n)), 0, 0, 0
    rng = problem.rng
    every = max(1, options.steps // 200)
    done = 0
    try:
        for begin in range(0, options.steps, _CHUNK):
            progress.report(begin, options.steps, "drawing networks")
            size = min(_CHUNK, options.steps - begin)
            pairs = rng.integers(0, n, (size, 2)).tolist()
            logs = np.log(rng.random(size)).tolist()
            for (u, v), log in zip(pairs, logs, strict=True):
                done += 1
                if done % 64 == 0:
                    problem.clock.check("drawing networks")
                change = _proposed(u, v, arcs, parents, problem) if u != v else None
                if change is not None:
                    delta = sum(families.score(w, new) - families.score(w, parents[w]) for w, new in change)
                    if log < delta:
                        if since:
                            sums += float(since) * arcs
                            since = 0
                        for w, new in change:
                            parents[w] = new
                            arcs[:, w] = 0
                            arcs[list(new), w] = 1
                        score += delta
                        accepted += 1
                        if score > found.score + 1e-9 * (1.0 + abs(score)):
                            found.score, found.parents = score, list(parents)
                if done > options.burn_in:
                    since += 1
                    counted += 1
                if done % every == 0:
                    found.trace.append(Move("network", None, score))
        found.notes["accepted"] = f"{accepted / max(done, 1):.1%} of {done:,} moves"
        drop_idle(families, known, found)
    except (OutOfTime, KeyboardInterrupt) as error:
        found.interrupt(error)
    sums += float(since) * arcs
    if counted:
        found.confidence = {
            (u, v): float(sums[u, v]) / counted for u in range(n) for v in range(n) if sums[u, v] > 0.0
        }
        found.notes["confidence"] = f"posterior of each arc, over {counted:,} networks drawn"
    found.score = families.total(found.parents)
    return found


def _proposed(
    u: int, v: int, arcs: np.ndarray, parents: list[tuple[int, ...]], problem: StructureProblem
) -> list[tuple[int, tuple[int, ...]]] | None:
    """The families that change, and how; None if the move is not permitted or closes a cycle."""
    known = problem.known
    if arcs[u, v]:
        if known.required[u, v]:
            return None
        return [(v, tuple(w for w in parents[v] if w != u))]
    if not known.allowed[u, v] or len(parents[v]) >= known.room[v]:
        return None
    change = [(v, tuple(sorted((*parents[v], u))))]
    if arcs[v, u]:
        if known.required[v, u]:
            return None
        change.append((u, tuple(w for w in parents[u] if w != v)))
    seen, queue = {v}, [v]  # is there a path from v to u, other than an arc that is removed?
    for w in queue:
        for x in np.flatnonzero(arcs[w]).tolist():
            if w == v and x == u:
                continue
            if x == u:
                return None
            if x not in seen:
                seen.add(x)
                queue.append(x)
    return change
