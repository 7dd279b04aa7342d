"""Best order score search: the order of the nodes whose best network scores highest (Andrews et al. 2023)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pgm.errors import OutOfTime
from pgm.graphs.equivalence import topological
from pgm.learning.scoring.families import Families
from pgm.learning.searches import BOSS
from pgm.runtime import progress

from .constraints import Constraints
from .equivalent import backward
from .found import Found, Move
from .problem import StructureProblem

_SLACK = 1e-9


class GrowShrink:
    """The parents of a node among those before it: grown one by one, then shrunk, and cached."""

    def __init__(self, families: Families, known: Constraints, v: int) -> None:
        self.families, self.v = families, v
        self.base = tuple(np.flatnonzero(known.required[:, v]).tolist())
        self.needed = sum(1 << u for u in self.base)
        self.room = int(known.room[v])
        self._better: dict[tuple[int, ...], list[tuple[int, int]]] = {}  # nodes that improve, the best first
        self._shrunk: dict[tuple[int, ...], tuple[float, tuple[int, ...]]] = {}

    def best(self, before: int) -> tuple[float, tuple[int, ...]]:
        """The score and the parents of v among a set of nodes, a bit mask."""
        if before & self.needed != self.needed:
            return -np.inf, self.base
        those = self.base
        while True:
            better = self._better.get(those)
            if better is None:
                better = self._better[those] = self._improving(those)
            for bit, u in better:
                if before & bit:
                    those = tuple(sorted((*those, u)))
                    break
            else:
                break
        found = self._shrunk.get(those)
        if found is None:
            found = self._shrunk[those] = self._shrink(those)
        return found

    def _improving(self, those: tuple[int, ...]) -> list[tuple[int, int]]:
        if len(those) >= self.room:
            return []
        here = self.families.score(self.v, those)
        larger = self.families.grown(self.v, those)
        slack = _SLACK * (1.0 + abs(here))
        nodes = np.flatnonzero(larger > here + slack)
        ranked = sorted(nodes.tolist(), key=lambda u: (-round(float(larger[u] - here) / slack), u))
        return [(1 << u, u) for u in ranked]

    def _shrink(self, those: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
        here = self.families.score(self.v, those)
        while True:
            best, without = here + _SLACK * (1.0 + abs(here)), those
            for u in those:
                if u not in self.base:
                    smaller = tuple(w for w in those if w != u)
                    score = self.families.score(self.v, smaller)
                    if score > best:
                        best, without = score, smaller
            if without == those:
                return here, those
            here, those = best, without


def search(options: BOSS, problem: StructureProblem) -> Found:
    """Move nodes through the order as long as the score grows; restart from random orders."""
    families, known = problem.families(), problem.known
    trees = [GrowShrink(families, known, v) for v in range(problem.n)]
    start = topological(known.start)
    begun = families.total(known.start)
    best = Found(list(known.start), begun, [Move("start", None, begun)])
    plain = not known.required.any() and bool((known.allowed | np.eye(problem.n, dtype=bool)).all())
    try:
        for again in range(options.restarts + 1):
            if again:
                best.trace.append(Move("restart", None, best.trace[-1].score))
                order = _shuffled(start, known, problem)
            else:
                order = start
            parents, score = _climb(order, trees, problem, best)
            if plain and not (known.room < problem.n).any():
                parents = backward(families, known, parents)
                score = families.total(parents)
            if score > best.score + _SLACK * (1.0 + abs(score)):
                best.parents, best.score = parents, score
            best.trace.append(Move("network", None, score))
            if options.restarts:
                progress.report(again + 1, options.restarts + 1, "searching for an order")
    except (OutOfTime, KeyboardInterrupt) as error:
        best.interrupt(error)
    best.score = families.total(best.parents)
    return best


def _shuffled(start: Sequence[int], known: Constraints, problem: StructureProblem) -> list[int]:
    """A random order with required parents before their children."""
    rank = problem.rng.permutation(problem.n)
    waiting = {v: set(np.flatnonzero(known.required[:, v]).tolist()) for v in start}
    order: list[int] = []
    while waiting:
        v = min((v for v, those in waiting.items() if not those), key=lambda v: int(rank[v]))
        del waiting[v]
        order.append(v)
        for those in waiting.values():
            those.discard(v)
    return order


def _climb(
    start: Sequence[int], trees: list[GrowShrink], problem: StructureProblem, best: Found
) -> tuple[list[tuple[int, ...]], float]:
    """Move each node to where the score of the order is highest, until none moves."""
    order = list(start)
    total = _total(order, trees)
    while True:
        before = total
        for v in sorted(order):
            problem.clock.check("searching for an order")
            rest = [w for w in order if w != v]
            scores = _positions(v, rest, trees)
            at = int(np.argmax(scores))
            slack = _SLACK * (1.0 + abs(total))
            if scores[at] > total + slack:
                at = int(np.flatnonzero(scores >= scores[at] - slack)[0])
                order = [*rest[:at], v, *rest[at:]]
                total = float(scores[at])
                best.trace.append(Move("move", None, total))
        if not total > before + _SLACK * (1.0 + abs(total)):
            parents: list[tuple[int, ...]] = [()] * len(order)
            seen = 0
            for v in order:
                parents[v] = trees[v].best(seen)[1]
                seen |= 1 << v
            return parents, total


def _total(order: Sequence[int], trees: list[GrowShrink]) -> float:
    seen, total = 0, 0.0
    for v in order:
        total += trees[v].best(seen)[0]
        seen |= 1 << v
    return total


def _positions(v: int, rest: Sequence[int], trees: list[GrowShrink]) -> np.ndarray:
    """The score of the order with v before the first of the rest, before the second, ..., last."""
    n = len(rest)
    without, having, own = np.zeros(n), np.zeros(n), np.zeros(n + 1)
    seen, bit = 0, 1 << v
    for i, w in enumerate(rest):
        tree = trees[w]
        own[i] = trees[v].best(seen)[0]
        without[i] = tree.best(seen)[0]
        having[i] = tree.best(seen | bit)[0]
        seen |= 1 << w
    own[n] = trees[v].best(seen)[0]
    early = np.concatenate([[0.0], np.cumsum(without)])
    late = np.concatenate([np.cumsum(having[::-1])[::-1], [0.0]])
    scores: np.ndarray = early + own + late
    return np.where(np.isfinite(scores), scores, -np.inf)
