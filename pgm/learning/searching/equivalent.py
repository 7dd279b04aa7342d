"""Greedy equivalence search: arcs are added to, then removed from, classes of networks (Chickering 2002)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from pgm.errors import OutOfTime
from pgm.graphs.equivalence import Sets, compelled, extension
from pgm.learning.scoring.families import Families
from pgm.learning.searches import GES

from .climbing import climb
from .constraints import Constraints
from .found import Found, Move
from .problem import StructureProblem

_SLACK = 1e-9
_MOST_SUBSETS = 12  # neighbours of which all subsets are tried

Operator = tuple[float, int, int, tuple[int, ...]]  # what it gains, x, y, the subset


class Classes:
    """A CPDAG, and the gains of operators on it; sets of nodes are bit masks."""

    def __init__(self, families: Families, known: Constraints, parents: Sequence[Sequence[int]]) -> None:
        self.families, self.known = families, known
        self.n = known.n
        self.up = [0] * self.n
        self.beside = [0] * self.n
        self.put(*compelled(parents))

    def put(self, parents: Sets, beside: Sets) -> None:
        """Move to the class of this CPDAG."""
        self.up = [sum(1 << u for u in those) for those in parents]
        self.beside = [sum(1 << u for u in those) for those in beside]
        self.down = [0] * self.n
        for v, those in enumerate(parents):
            for u in those:
                self.down[u] |= 1 << v
        self.near = [self.up[v] | self.down[v] | self.beside[v] for v in range(self.n)]

    def state(self, x: int, y: int) -> tuple[int, int, int]:
        """What the operators on a pair depend on, apart from paths and cliques."""
        return self.up[y], self.beside[y], self.near[x] & self.beside[y]

    def clique(self, nodes: int) -> bool:
        """Whether these nodes are pairwise adjacent."""
        left = nodes
        while left:
            bit = left & -left
            left ^= bit
            if left & ~self.near[bit.bit_length() - 1]:
                return False
        return True

    def open_path(self, y: int, x: int, closed: int) -> bool:
        """Whether some semi-directed path from y to x avoids the closed nodes."""
        seen = 1 << y | closed
        if seen >> x & 1:
            return False
        front = 1 << y
        while front:
            bit = front & -front
            front ^= bit
            v = bit.bit_length() - 1
            new = (self.down[v] | self.beside[v]) & ~seen
            if new >> x & 1:
                return True
            seen |= new
            front |= new
        return False

    def change(self, x: int, y: int, subset: tuple[int, ...], insert: bool) -> bool:
        """Apply an operator: add or remove x -> y, and find the new class; False if there is none."""
        parents = [set(_members(those)) for those in self.up]
        beside = [set(_members(those)) for those in self.beside]
        if insert:
            parents[y].add(x)
            for t in subset:
                beside[t].discard(y)
                beside[y].discard(t)
                parents[y].add(t)
        else:
            parents[y].discard(x)
            beside[y].discard(x)
            beside[x].discard(y)
            for h in subset:
                beside[y].discard(h)
                beside[h].discard(y)
                parents[h].add(y)
                if h in beside[x]:
                    beside[x].discard(h)
                    beside[h].discard(x)
                    parents[h].add(x)
        made = extension(parents, beside)
        if made is None:
            return False
        self.put(*compelled(made))
        return True

    def network(self) -> list[tuple[int, ...]]:
        """A network of the class."""
        made = extension(
            [set(_members(those)) for those in self.up], [set(_members(those)) for those in self.beside]
        )
        assert made is not None
        return [tuple(sorted(those)) for those in made]


def _members(mask: int) -> list[int]:
    found = []
    while mask:
        bit = mask & -mask
        found.append(bit.bit_length() - 1)
        mask ^= bit
    return found


def _inserts(c: Classes, x: int, y: int) -> list[Operator]:
    """Ways to join x -> y that gain (Chickering 2002, theorem 15), the path condition left for later."""
    shared = c.beside[y] & c.near[x]
    others = _members(c.beside[y] & ~c.near[x] & ~(1 << x))[:_MOST_SUBSETS]
    found = []
    if not c.clique(shared):
        return []
    for size in range(len(others) + 1):
        for subset in itertools.combinations(others, size):
            closed = shared | sum(1 << t for t in subset)
            if size and not c.clique(closed):
                continue
            base = tuple(_members(closed | c.up[y]))
            if len(base) >= c.known.room[y]:
                continue
            here = c.families.score(y, base)
            gain = float(c.families.grown(y, base)[x]) - here
            if gain > _SLACK * (1.0 + abs(here)):
                found.append((gain, x, y, subset))
    return found


def _deletes(c: Classes, x: int, y: int) -> list[Operator]:
    """Ways to separate x and y that gain (theorem 17)."""
    shared = c.beside[y] & c.near[x]
    found = []
    nodes = _members(shared)[:_MOST_SUBSETS]
    for size in range(len(nodes) + 1):
        for subset in itertools.combinations(nodes, size):
            kept = shared & ~sum(1 << h for h in subset)
            if not c.clique(kept):
                continue
            base = (kept | c.up[y]) & ~(1 << x)
            here = c.families.score(y, _members(base | 1 << x))
            gain = c.families.score(y, _members(base)) - here
            if gain > _SLACK * (1.0 + abs(here)):
                found.append((gain, x, y, subset))
    return found


def _phase(c: Classes, insert: bool, found: Found | None) -> None:
    """Apply the best valid operator until none gains."""
    kept: dict[tuple[int, int], tuple[tuple[int, int, int], list[Operator]]] = {}
    while True:
        every: list[Operator] = []
        for y in range(c.n):
            c.families.clock.check("searching classes of networks")
            for x in range(c.n):
                joined = c.near[y] >> x & 1
                if x == y or joined == insert or (not insert and c.down[y] >> x & 1):
                    continue
                if insert and not c.known.allowed[x, y]:
                    continue
                state = c.state(x, y)
                old = kept.get((x, y))
                if old is None or old[0] != state:
                    old = kept[x, y] = state, (_inserts if insert else _deletes)(c, x, y)
                every += old[1]
        every.sort(key=lambda op: (-round(op[0], 7), op[1:]))
        for gain, x, y, subset in every:
            if insert:
                closed = (c.beside[y] & c.near[x]) | sum(1 << t for t in subset)
                if not c.clique(closed) or c.open_path(y, x, closed):
                    continue
            elif not c.clique(c.beside[y] & c.near[x] & ~sum(1 << h for h in subset)):
                continue
            if c.change(x, y, subset, insert):
                if found is not None:
                    found.score += gain
                    found.trace.append(Move("add" if insert else "remove", (x, y), found.score))
                    found.parents = c.network()
                kept = {pair: entry for pair, entry in kept.items() if pair[0] not in (x, y)}
                break
        else:
            return


def backward(
    families: Families, known: Constraints, parents: Sequence[Sequence[int]]
) -> list[tuple[int, ...]]:
    """The backward phase alone, from a given network."""
    classes = Classes(families, known, parents)
    _phase(classes, False, None)
    return classes.network()


def search(options: GES, problem: StructureProblem) -> Found:
    """Both phases, repeated while the score grows; constraints that no class meets end in hill climbing."""
    families, known = problem.families(), problem.known
    plain = not known.required.any() and bool((known.allowed | np.eye(problem.n, dtype=bool)).all())
    begun = families.total(known.start)
    found = Found(list(known.start), begun, [Move("start", None, begun)])
    try:
        classes = Classes(families, known, known.start)
        while True:
            before = found.score
            _phase(classes, True, found)
            _phase(classes, False, found)
            found.score = families.total(found.parents)
            if not found.score > before + _SLACK * (1.0 + abs(before)):
                break
    except (OutOfTime, KeyboardInterrupt) as error:
        found.interrupt(error)
    if not (plain and known.obeyed(found.parents)) and not known.obeyed(found.parents):
        _finish(families, problem, found)
    found.score = families.total(found.parents)
    return found


def _finish(families: Families, problem: StructureProblem, found: Found) -> None:
    """Keep the arcs that are permitted, either way round, and climb from there."""
    from dataclasses import replace

    from pgm.graphs.equivalence import topological

    known = problem.known
    parents = [set(np.flatnonzero(known.required[:, v]).tolist()) for v in range(problem.n)]
    for v, those in enumerate(found.parents):
        for u in those:
            for a, b in ((u, v), (v, u)):
                if known.allowed[a, b] and a not in parents[b] and b not in parents[a]:
                    if len(parents[b]) < known.room[b]:
                        parents[b].add(a)
                        if len(topological(parents)) == problem.n:
                            break
                        parents[b].discard(a)
    start = tuple(tuple(sorted(those)) for those in parents)
    made = climb(
        families,
        replace(known, start=start),
        restarts=0,
        changes=0,
        tenure=0,
        patience=0,
        max_steps=None,
        rng=None,
    )
    found.parents, found.score = made.parents, made.score
    found.stopped_by = found.stopped_by or made.stopped_by
    found.trace += made.trace
    found.notes["constraints"] = "constraints that no equivalence class can meet: finished by hill climbing"
