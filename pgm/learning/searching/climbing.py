"""Hill climbing and tabu search: one arc at a time, with the gain of every change kept up to date."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pgm.errors import OutOfTime
from pgm.learning.scoring.families import Families
from pgm.runtime import progress
from pgm.runtime.loops import Loops

from .compiled import ADD, DROP, TURN, Graph
from .constraints import Constraints
from .found import Found, Move

MOVING = Loops("pgm.learning.searching.compiled", "searching")
_SLACK = 1e-9  # of the score: a smaller difference is rounding
_WALKS, _FAR = 2, 40  # walks among equivalent graphs, and reversals in each
_WORDS = {ADD: "add", DROP: "remove", TURN: "reverse"}


class Climber:
    """A graph, and the gain of each change of one arc.

    Args:
        families: the scores.
        known: the constraints.
        parents: the start.
    """

    def __init__(self, families: Families, known: Constraints, parents: Sequence[Sequence[int]]) -> None:
        n = known.n
        self.families, self.known = families, known
        self.graph = Graph(
            np.zeros((n, n), np.uint8),
            np.zeros((n, n), np.uint8),
            np.full((n, n), -np.inf),
            np.full((n, n), -np.inf),
            known.required.astype(np.uint8),
            known.room.astype(np.int64),
            np.zeros(n, np.int64),
            np.zeros((n, n), np.int64),
        )
        self._found, self._gain = np.zeros(3, np.int64), np.zeros(1)
        self.parents: list[tuple[int, ...]] = [()] * n
        self.score = 0.0
        self.put(parents)

    def put(self, parents: Sequence[Sequence[int]]) -> None:
        """Move to another graph."""
        g = self.graph
        before = list(self.parents)
        self.parents = [tuple(sorted(those)) for those in parents]
        g.arcs[:] = 0
        for v, those in enumerate(self.parents):
            g.arcs[list(those), v] = 1
            g.sizes[v] = len(those)
        MOVING.reach_all(g.arcs, g.reach)
        for v, those in enumerate(self.parents):
            if those != before[v] or not np.isfinite(g.gains[v]).any():
                self._update_gains(v)
            if v % 64 == 63:
                self.families.clock.check("scoring pairs of columns")
        self.score = self.families.total(self.parents)

    def _update_gains(self, v: int) -> None:
        """Compute the gains of changes to the parents of v."""
        g, those = self.graph, self.parents[v]
        here = self.families.score(v, those)
        if len(those) < self.known.room[v]:
            g.gains[v] = self.families.grown(v, those) - here
        else:
            g.gains[v] = -np.inf
        g.losses[v] = -np.inf
        for i, u in enumerate(those):
            g.losses[v, u] = self.families.score(v, those[:i] + those[i + 1 :]) - here

    def best(self, step: int, needed: float, least: float) -> tuple[int, int, int, float] | None:
        """The best change, as (kind, parent, child, gain); None if there is none.

        Every change gains more than `least`; that of a pair that is tabu at this step, more than `needed`.
        """
        MOVING.best_move(self.graph, step, needed, least, self.slack, self._found, self._gain)
        kind, u, v = self._found.tolist()
        return None if kind < 0 else (kind, u, v, float(self._gain[0]))

    @property
    def slack(self) -> float:
        """Differences of the score up to this size are rounding."""
        return _SLACK * (1.0 + abs(self.score))

    def turn(self, parents: Sequence[Sequence[int]]) -> tuple[int, int] | None:
        """From this graph, reverse an arc that data cannot direct, if that lets another change gain.

        Such an arc u -> v is covered: the other parents of v are those of u (Chickering 1995). Return its new
        direction, or None, and leave the graph as it was.
        """
        if not self.families.equivalent:
            return None
        if [tuple(sorted(those)) for those in parents] != self.parents:
            self.put(parents)
        start, score = list(self.parents), self.score
        self.graph.until[:] = 0
        seen = {tuple(self.parents)}
        for walk in range(_WALKS):
            last = (walk * self.known.n) // _WALKS  # each walk begins at other nodes
            for _ in range(_FAR):
                arc = self._covered(last, seen)
                if arc is None:
                    break
                u, v = arc
                last = v + 1
                self.change(TURN, u, v)
                seen.add(tuple(self.parents))
                if self.best(0, 0.0, 2.0 * self.slack) is not None:
                    return v, u
            self.put(start)
            self.score = score
        return None

    def _covered(self, first: int, seen: set[tuple[tuple[int, ...], ...]]) -> tuple[int, int] | None:
        """The next covered arc whose reversal leads to a new graph, from the node `first` on."""
        g, n = self.graph, self.known.n
        for k in range(n):
            v = (first + k) % n
            for u in self.parents[v]:
                rest = tuple(w for w in self.parents[v] if w != u)
                if rest != self.parents[u] or g.kept[u, v]:
                    continue
                if not self.known.allowed[v, u] or g.sizes[u] >= g.room[u]:
                    continue
                changed = list(self.parents)
                changed[v], changed[u] = rest, tuple(sorted((*rest, v)))
                if tuple(changed) not in seen:
                    return u, v
        return None

    def change(self, kind: int, u: int, v: int) -> None:
        """Add, remove or reverse u -> v."""
        g = self.graph
        if kind == ADD:
            g.arcs[u, v] = 1
            self.parents[v] = tuple(sorted((*self.parents[v], u)))
            MOVING.reach_more(g.arcs, g.reach, u, v)
        else:
            g.arcs[u, v] = 0
            self.parents[v] = tuple(w for w in self.parents[v] if w != u)
            if kind == TURN:
                g.arcs[v, u] = 1
                self.parents[u] = tuple(sorted((*self.parents[u], v)))
            MOVING.reach_all(g.arcs, g.reach)
        for w in (v, u) if kind == TURN else (v,):
            g.sizes[w] = len(self.parents[w])
            self._update_gains(w)


def climb(
    families: Families,
    known: Constraints,
    *,
    restarts: int,
    changes: int,
    tenure: int,
    patience: int,
    max_steps: int | None,
    rng: np.random.Generator | None,
    listen: Callable[[Found], None] = lambda found: None,
) -> Found:
    """Change arcs as long as the score grows, or for `patience` steps more where `tenure` is above 0.

    Args:
        families: the scores.
        known: the constraints.
        restarts: the number of restarts from the best graph with some random changes.
        changes: the number of random changes at each restart.
        tenure: the number of steps for which a pair of nodes stays unchanged after a change (Glover 1989).
        patience: the number of steps without a new best after which a tabu search ends.
        max_steps: the largest number of changes in all.
        rng: for the random changes.
        listen: called with the best so far at each step.
    """
    best = Found([list(those) for those in known.start], -np.inf, [])
    try:
        climber = Climber(families, known, known.start)
        best.parents, best.score = list(climber.parents), climber.score
        best.trace.append(Move("start", None, climber.score))
        listen(best)
        steps = 0
        for again in range(restarts + 1):
            if again:
                assert rng is not None
                climber.put(_shaken(best.parents, known, changes, rng))
                best.trace.append(Move("restart", None, climber.score))
            steps = _ascend(climber, best, steps, tenure=tenure, patience=patience, max_steps=max_steps)
            if restarts:
                progress.report(again + 1, restarts + 1, "searching for a structure")
            if max_steps is not None and steps >= max_steps:
                best.stopped_by = "max_steps"
                break
        drop_idle(families, known, best)
    except (OutOfTime, KeyboardInterrupt) as error:
        if best.score == -np.inf:  # not a single network has been scored yet
            raise
        best.interrupt(error)
    best.score = families.total(best.parents)
    return best


def _ascend(
    climber: Climber, best: Found, steps: int, *, tenure: int, patience: int, max_steps: int | None
) -> int:
    """Change arcs until no change gains any more; record each step, and return their number so far."""
    climber.graph.until[:] = 0
    idle = 0
    while max_steps is None or steps < max_steps:
        climber.families.clock.check("searching for a structure")
        slack = climber.slack
        needed = max(0.0, best.score - climber.score) + slack
        move = climber.best(steps, needed, slack if not tenure else -np.inf) if idle <= patience else None
        if move is None:
            turned = climber.turn(best.parents)
            if turned is None:
                break
            best.trace.append(Move("reverse", turned, climber.score))
            climber.graph.until[:] = 0
            idle = 0
            steps += 1
            continue
        kind, u, v, gain = move
        climber.change(kind, u, v)
        climber.score += gain
        steps += 1
        if tenure:
            climber.graph.until[u, v] = climber.graph.until[v, u] = steps + tenure
        best.trace.append(Move(_WORDS[kind], (u, v), climber.score))
        if climber.score > best.score + slack:
            best.parents, best.score = list(climber.parents), climber.score
            idle = 0
        elif tenure:
            idle += 1
    return steps


def drop_idle(families: Families, known: Constraints, best: Found) -> None:
    """Remove arcs without which the network scores as high, such as those of a constant column."""
    slack = _SLACK * (1.0 + abs(best.score))
    for v, those in enumerate(best.parents):
        kept = tuple(those)
        for u in those:
            rest = tuple(w for w in kept if w != u)
            if not known.required[u, v] and families.score(v, kept) - families.score(v, rest) <= slack:
                kept = rest
                best.trace.append(Move(_WORDS[DROP], (u, v), best.score))
        best.parents[v] = kept


def _shaken(
    parents: Sequence[Sequence[int]], known: Constraints, changes: int, rng: np.random.Generator
) -> list[tuple[int, ...]]:
    """The graph after random changes of arcs that leave it acyclic and permitted."""
    n = known.n
    arcs = np.zeros((n, n), np.uint8)
    for v, those in enumerate(parents):
        arcs[list(those), v] = 1
    reach = np.zeros((n, n), np.uint8)
    done = 0
    for _ in range(20 * changes if n > 1 else 0):
        if done == changes:
            break
        u, v = (int(i) for i in rng.choice(n, 2, replace=False))
        before = arcs.copy()
        if arcs[u, v]:
            if known.required[u, v]:
                continue
            arcs[u, v] = 0
            if rng.random() < 0.5 and known.allowed[v, u] and arcs[:, u].sum() < known.room[u]:
                arcs[v, u] = 1
        elif not arcs[v, u] and known.allowed[u, v] and arcs[:, v].sum() < known.room[v]:
            arcs[u, v] = 1
        else:
            continue
        if MOVING.reach_all(arcs, reach) < n:
            arcs[:] = before
        else:
            done += 1
    return [tuple(np.flatnonzero(arcs[:, v]).tolist()) for v in range(n)]
