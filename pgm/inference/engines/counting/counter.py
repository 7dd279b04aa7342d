"""The search over a formula: growing arrays, the clock, and the arguments of the compiled loops."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pgm.config import current
from pgm.graphs.triangulation import triangulate_in
from pgm.inference.engines.counting.clauses import Formula
from pgm.inference.engines.counting.counting_arrays import (
    Clauses,
    CountingProblem,
    Record,
    empty_cache,
    empty_record,
    empty_state,
)
from pgm.runtime.clock import RUNNING, Clock
from pgm.runtime.loops import Loops
from pgm.runtime.progress import report
from pgm.runtime.room import too_large
from pgm.runtime.running import REDUCTION, SEARCH, Impossible

Wide = tuple[float, int]
COUNTING = Loops("pgm.inference.engines.counting.compiled")
_SLICE = 300_000  # units of work between two checks of the clock: some tens of milliseconds
_COUNTERS, _COLUMNS, _SUM = 24, 18, 16  # these and what follows as in compiled.py
_TRAIL, _GIVEN, _CLAUSES, _LITERALS, _CACHED, _KEYS = 3, 5, 6, 7, 10, 11
_NODES, _WORK, _RECORDING, _STORING = 12, 17, 20, 21
_RUNNING, _FULL_CLAUSES, _PILE, _FRAMES, _CACHE, _RECORD = 4, 5, 6, 7, 8, 9
_RECORD_PARTS = {"node": (0, 3, _NODES), "branch": (3, 9, 13), "lit": (9, 11, 14), "child": (11, 13, 15)}
_LATE = 100
_LEARNED = 4_000  # clauses learned before the less useful half is first forgotten
_MORE_LEARNED = 1.1  # times as many before the next time
_MOST_FOR_ORDER = 2e7  # entries of all cliques, up to which their tree guides the search


class Counter:
    """A search over a formula; sums over the same formula share the cache and the learned clauses."""

    def __init__(self, formula: Formula, clock: Clock, *, record: bool = False, probe: bool = False) -> None:
        """Lay out the arrays; `record` keeps the whole search, for `shares`; `probe`: only for `facts`."""
        self._clock = clock
        self._limit = current().memory_limit
        n = formula.mantissa.size // 2
        self._units = np.array([c[0] for c in formula.clauses if len(c) == 1], np.int32)
        several = [c for c in formula.clauses if len(c) > 2]
        self._clauses = _clauses_of(several, n)
        scopes = [c for c in formula.clauses if len(c) > 1]
        self._problem = _problem_of(formula, several, np.zeros(n) if probe else self._scores(n, scopes))
        self._state = empty_state(n, len(several), _LATE)
        self._n = np.zeros(_COUNTERS, np.int64)
        self._n[_GIVEN] = self._n[_CLAUSES] = len(several)
        self._n[_LITERALS] = int(self._clauses.at[len(several)])
        self._n[_STORING], self._n[_RECORDING] = 1, int(record)
        COUNTING.watch_all(self._clauses, self._n)
        self._most_learned = float(_LEARNED)
        self._cache = empty_cache(64, 4096)
        sizes = (64, 64, 2 * n + 64, n + 64) if record else (0, 0, 0, 0)
        self._record = empty_record(*sizes)
        self._frames = np.zeros((16, _COLUMNS), np.int64)
        self._mantissas = np.zeros((16, 2))
        self._pile = np.zeros(16 * (n + 1) + 4 * len(several) + 256, np.int32)
        self._pile_keys = np.zeros(self._pile.size * 4, np.uint8)
        self._room(0)

    def _scores(self, n: int, scopes: list[tuple[int, ...]]) -> np.ndarray:
        """How early each atom should be tried, by its place in a clique tree.

        A narrow tree shows where the formula decomposes; the wider the tree, the less it is worth compared
        with what the search learns.
        """
        score = np.zeros(n)
        if not scopes:
            return score
        scope_at = np.cumsum([0, *map(len, scopes)]).astype(np.int64)
        atoms = np.array([x // 2 for c in scopes for x in c], np.int32)
        at, indices = REDUCTION.neighbours(n, scope_at, atoms, np.empty(0, np.int32))
        log2_cards = np.ones(n)
        found = triangulate_in(self._clock, at, indices, log2_cards, limit_log2=60.0)
        if not found.complete and n * min(n, found.log2_largest + 1.0) < _MOST_FOR_ORDER:
            found = triangulate_in(self._clock, at, indices, log2_cards, order=found.order)
        self._clock.check()
        if not found.complete:
            return score
        depth = np.full(n, -1, np.int64)
        ptr, variables = found.clique_ptr.astype(np.int64), found.clique_vars.astype(np.int64)
        SEARCH.depths(n, ptr, variables, found.parent.astype(np.int64), depth)
        width = int(np.diff(ptr).max())
        weight = 100.0 * math.exp(min(n / width, 20.0) - width / 20.0) / n
        rank = np.empty(n)
        rank[found.order] = np.arange(n) / n  # one order for all branches, so that cached components recur
        return np.asarray(weight * (1.0 - (depth - 0.5 * rank) / (1.0 + depth.max())))

    # --- memory ---

    def _bytes(self) -> int:
        parts: tuple[Sequence[np.ndarray], ...] = (
            self._problem,
            self._clauses,
            self._state,
            self._cache,
            self._record,
            (self._frames, self._mantissas, self._pile, self._pile_keys),
        )
        return sum(a.nbytes for part in parts for a in part)

    def _room(self, more: int) -> None:
        """Raise `TooLarge` unless this many bytes are still available."""
        needed = self._bytes() + more
        if needed > self._limit:
            one = ", query one variable, which keeps no record" if self._n[_RECORDING] else ""
            raise too_large(needed, self._limit, "The search now needs", f"Observe more{one}")

    def _grow(self, status: int) -> None:
        if status == _FULL_CLAUSES:
            self._grow_clauses()
        elif status == _PILE:
            self._room(2 * (self._pile.nbytes + self._pile_keys.nbytes))
            self._pile = _longer(self._pile, 2 * self._pile.size)
            self._pile_keys = _longer(self._pile_keys, 2 * self._pile_keys.size)
        elif status == _FRAMES:
            self._room(2 * self._frames.nbytes)
            rows = 2 * self._frames.shape[0]
            self._frames, self._mantissas = _longer(self._frames, rows), _longer(self._mantissas, rows)
        elif status == _RECORD:
            self._grow_record()
        else:
            self._grow_cache()

    def _grow_clauses(self) -> None:
        learned = int(self._n[_CLAUSES] - self._n[_GIVEN])
        nbytes = sum(a.nbytes for a in self._clauses)
        if learned >= self._most_learned or self._bytes() + 2 * nbytes > self._limit // 2:
            places = np.zeros(int(self._n[_CLAUSES]), np.int32)
            COUNTING.forget(self._clauses, self._state, self._n, self._frames, places)
            self._most_learned *= _MORE_LEARNED
            if 2 * int(self._n[_CLAUSES] - self._n[_GIVEN]) <= learned + 2:
                return
        k = self._clauses
        self._room(2 * nbytes)
        clauses, literals = 2 * k.levels.size, 2 * k.literals.size + self._problem.score.size
        self._clauses = Clauses(
            at=_longer(k.at, clauses + 1),
            literals=_longer(k.literals, literals),
            watch=k.watch,
            next_watch=_longer(k.next_watch, 2 * clauses),
            levels=_longer(k.levels, clauses),
        )

    def _grow_record(self) -> None:
        parts: list[np.ndarray] = list(self._record)
        spare = 2 * self._problem.score.size + 64  # the most that one step may need
        for begin, end, used in _RECORD_PARTS.values():
            size = parts[begin].size
            if 2 * (int(self._n[used]) + spare) > size:
                self._room(2 * sum(a.nbytes for a in parts[begin:end]) + 40 * spare)
                for i in range(begin, end):
                    parts[i] = _longer(parts[i], 2 * size + 2 * spare)
        self._record = Record(*parts)

    def _grow_cache(self) -> None:
        old = self._cache
        nbytes = sum(a.nbytes for a in old)
        if self._bytes() + 2 * nbytes <= (self._limit * 3) // 4:
            wide = 2 * int(self._n[_KEYS]) > old.keys.size
            many = 2 * int(self._n[_CACHED]) > old.at.size
            self._cache = empty_cache(
                old.at.size * (2 if many else 1), old.keys.size * (2 if wide or not many else 1)
            )
            for new, before in zip(self._cache[1:], old[1:], strict=True):
                new[: before.size] = before
            COUNTING.relink(self._cache, self._n)
            return
        nothing = int(self._n[_CACHED]) == 0
        COUNTING.sweep(old, self._n, self._frames)
        if nothing:  # a key longer than the limit for all keys
            self._n[_STORING] = 0

    # --- the search ---

    def facts(self) -> list[int]:
        """The literals that must be true, as far as trying each by itself shows."""
        at = 0
        while at < self._state.value.size:
            self._clock.check()
            at = COUNTING.probe(self._problem, self._clauses, self._state, self._n, self._units, at, _SLICE)
            if at < 0:
                raise Impossible
            report(float(self._n[_WORK]), math.inf, "search")
        return list(map(int, self._state.trail[: int(self._n[_TRAIL])]))

    def total(self, assumed: Sequence[int] = ()) -> Wide:
        """The sum over assignments in which these literals are true."""
        literals = np.array(assumed, np.int32)
        never = np.zeros(1, np.uint8)
        COUNTING.begin(self._problem, self._state, self._n, self._frames, self._mantissas, self._pile)
        while True:
            self._clock.check()
            status = COUNTING.advance(
                self._problem,
                self._clauses,
                self._cache,
                self._state,
                self._record,
                self._n,
                self._frames,
                self._mantissas,
                self._pile,
                self._pile_keys,
                literals,
                _SLICE,
                never,
            )
            if status == 0:
                break
            if status == _RUNNING:
                report(float(self._n[_WORK]), math.inf, "search")
            else:
                self._grow(status)
        self._clock.lap(RUNNING)
        return float(self._mantissas[0, 0]), int(self._frames[0, _SUM])

    def shares(self) -> np.ndarray:
        """The probability that each literal is true, after a recorded `total`."""
        out = np.zeros(2 * self._problem.score.size)
        self._room(8 * int(self._n[_NODES]))
        COUNTING.shares(self._record, self._n, np.zeros(int(self._n[_NODES])), out)
        self._clock.lap(RUNNING)
        return out


# --- arrays ---


def _clauses_of(several: list[tuple[int, ...]], n: int) -> Clauses:
    at = np.cumsum([0, *map(len, several)]).astype(np.int64)
    room = len(several) + 256
    return Clauses(
        at=_longer(at, room + 1),
        literals=_longer(np.array([x for c in several for x in c], np.int32), int(at[-1]) + 16 * 256 + 2 * n),
        watch=np.full(2 * n, -1, np.int32),
        next_watch=np.full(2 * room, -1, np.int32),
        levels=np.zeros(room, np.int32),
    )


def _problem_of(formula: Formula, several: list[tuple[int, ...]], score: np.ndarray) -> CountingProblem:
    n = score.size
    pairs = np.array([c for c in formula.clauses if len(c) == 2], np.int32).reshape(-1, 2)
    follow_at, follows = _lists(
        np.concatenate([pairs[:, 0] ^ 1, pairs[:, 1] ^ 1]), np.concatenate([pairs[:, 1], pairs[:, 0]]), 2 * n
    )
    atoms = np.array([x // 2 for c in several for x in c], np.int32)
    owner = np.repeat(np.arange(len(several), dtype=np.int32), [len(c) for c in several])
    occur_at, occurs = _lists(atoms, owner, n)
    m, e = formula.mantissa, formula.exponent
    top = np.maximum(e[::2], e[1::2])
    both = np.ldexp(m[::2], np.maximum(e[::2] - top, -2000).astype(np.int32)) + np.ldexp(
        m[1::2], np.maximum(e[1::2] - top, -2000).astype(np.int32)
    )
    free, more = np.frexp(both)
    return CountingProblem(follow_at, follows, occur_at, occurs, m, e, free, top + more, score)


def _lists(keys: np.ndarray, values: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The values of each key, concatenated, and where those of each key begin."""
    at = np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=n))]).astype(np.int64)
    return at, values[np.argsort(keys, kind="stable")].astype(np.int32)


def _longer(array: np.ndarray, size: int) -> np.ndarray:
    new = np.zeros((size, *array.shape[1:]), array.dtype)
    new[: len(array)] = array
    return new
