"""The most probable states by branch and bound: any factors, any number of states, an answer at any time.

Costs are moved between factors and variables until the lower bound on the total cost, the floor, stops
rising: sequential reparametrisation (Kolmogorov 2015), in integers. The remaining costs favour some states;
starting from these, blocks of variables are freed and solved again, forests and neighbourhoods in turn.
Branch and bound fixes or closes states until nothing better than the best known states is left; it continues
where the floor is lowest (de Givry et al. 2015), so that the lowest floor is a bound on everything.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np

from pgm.errors import OutOfTime
from pgm.inference.engines.branching import BranchAndBound, Srmp, relaxation
from pgm.inference.engines.branching.branching_arrays import FORBIDDEN, BranchingLayout, lay_out
from pgm.inference.engines.branching.neighbourhoods import Neighbourhoods
from pgm.inference.engines.branching.open_parts import Dive, OpenParts, Part
from pgm.inference.engines.problem import Maximum, Problem
from pgm.inference.engines.wide_numbers import log_of
from pgm.inference.program.reduction import Case
from pgm.results import Course, Report
from pgm.runtime import progress
from pgm.runtime.clock import Clock
from pgm.runtime.loops import Loops
from pgm.runtime.running import Impossible

BRANCHING = Loops("pgm.inference.engines.branching.compiled")
_DONE, _PAUSED = 0, 1  # as in compiled.py
_REPLAYS = 5  # a search takes this many times the work of replaying its decisions, or a slice
_SLICE = 4_000_000  # units of work between two checks of the clock: some tens of milliseconds
_LEVELS, _BEST, _WORK, _FAILS, _KEPT, _SLACK = 2, 3, 4, 5, 9, 10  # places in `n`, as in compiled.py
_GAIN = 1e-3  # of the gap, or of the floor: a pass forwards and back must gain this for another to follow
_MOVES_SHARE = 0.6  # of the work of a search that goes into moves
_ANYWHERE = 0.3  # of the neighbourhoods lie around a random variable, the others where costs are paid
_PATIENCE = 10  # moves in a row without a gain before the search has its turn
_NARROWER = 0.5  # times the gap: then all states are examined again, since many are now out of reach
_WIDER, _SMALLER = 1.05, 0.9  # times the size of a neighbourhood: if its search was complete, if not
_OPEN, _HIGHS = 0.5, 0.4  # of the remaining memory: for open parts, and for HiGHS
_FIRST_SWEEPS = 200
_EVERY = 0.01  # seconds between two entries in the history
_NOTES = 1000  # entries in the history, before half of them are dropped
_UNAIDED = 3e6  # units of work before HiGHS is asked for its duals: a tenth of a second or two
_RELAXED = 10.0  # seconds that this may take, at most a quarter of those left
_FIRST_TURN = 1.0  # seconds before HiGHS is asked to branch and cut itself
_TURN = 0.5  # of the time that has passed: the budget of such a turn
_AGAIN = 3.0  # times the time that has passed: when the next turn is due
_LONGEST = 60.0  # seconds of one call of HiGHS, which cannot be interrupted
_NOTHING = np.empty(0, np.int64)


def maximise(problem: Problem, options: Srmp | BranchAndBound, clock: Clock) -> Maximum:
    """Good states and a bound; branch and bound goes on until the two meet or time runs out."""
    case = problem.case
    work = _Branching(lay_out(case, options.name), options.seed, clock)
    constant = log_of(case.constant())
    in_time = True
    try:
        if isinstance(options, Srmp):
            work.raise_floor(options.sweeps)
            work.start()
            work.move(options.moves)
        else:
            work.raise_floor(_FIRST_SWEEPS)
            work.branch(turns=True)
    except OutOfTime:
        in_time = False
    except _Spent:
        pass
    least = work.floor()
    if least >= work.best and work.best == FORBIDDEN:
        raise Impossible
    proven = least >= work.best
    layout = work.layout
    certain = min(least, work.best)
    rounded = min(max(certain, work.claimed), work.best)
    bound = constant + layout.offset - rounded * layout.unit
    bound += layout.error + 2.0**-50 * (abs(bound) + abs(constant) + abs(layout.offset))
    said = "" if proven else "allow more time" if not in_time else 'ask with engine="branch-and-bound"'
    if rounded > certain:
        said = "the bound is that of HiGHS, in floating point, lowered by its tolerances"
    report = Report(
        options.name,
        exact=proven,
        converged=True,
        iterations=work.rounds,
        profile=clock.profile,
        advice=said,
        course=work.course(constant),
    )
    return Maximum(work.states(), bound, report)


def best_states(case: Case, clock: Clock, work: float) -> np.ndarray | None:
    """The best states of a reduced case; None if this much work does not prove which they are."""
    found = _Branching(lay_out(case, BranchAndBound.name), 0, clock, work)
    try:
        found.raise_floor(_FIRST_SWEEPS)
        found.branch()
    except _Spent:
        return None
    if found.best == FORBIDDEN:
        raise Impossible
    return found.states()


class Ranked(NamedTuple):
    """The best states so far, best first, ties in declared order."""

    states: np.ndarray  # of each reduced variable, one row per answer
    bounds: list[float]  # on the logarithm of the best possible value at this rank
    sure: list[bool]  # whether each is proven to belong at its rank
    ties_broken: bool  # whether proven ones are the first among their equals
    report: Report


def rank(problem: Problem, k: int, seed: int, clock: Clock, work: float = math.inf) -> Ranked | None:
    """The k best states; at the time limit those found so far, None if this much work finds none."""
    case = problem.case
    layout = lay_out(case, BranchAndBound.name, k)
    found = _Branching(layout, seed, clock, work)
    in_time = True
    try:
        found.raise_floor(_FIRST_SWEEPS)
        found.branch()
    except _Spent:
        return None
    except OutOfTime:
        in_time = False
    n, s = layout.state.n, layout.state
    kept, slack = int(n[_KEPT]), int(n[_SLACK])
    if not kept:
        if in_time:
            raise Impossible
        raise OutOfTime(
            f"No states of non-zero probability were found within the time limit of {clock.limit:g} s, which "
            "does not prove that there are none. Allow more with pgm.set_config(time_limit=...)."
        )
    costs, order = s.kept_cost[:kept].tolist(), case.declared()
    left = sorted(range(kept), key=costs.__getitem__)
    ranked: list[int] = []
    while left and len(ranked) < k:
        tied = [i for i in left if costs[i] <= costs[left[0]] + slack]
        first = min(tied, key=lambda i: s.kept[i][order].tolist())
        left.remove(first)
        ranked.append(first)
    others = found.floor()  # a lower bound on the cost of all other states
    constant = log_of(case.constant()) + layout.offset
    bounds = []
    for i in ranked:
        bound = constant - min(others, costs[i]) * layout.unit
        bounds.append(bound + layout.error + 2.0**-50 * (abs(bound) + abs(constant) + abs(layout.offset)))
    sure = [in_time or costs[i] + slack < others for i in ranked]
    said = "" if in_time else "allow more time"
    report = Report(BranchAndBound.name, in_time, iterations=found.rounds, profile=clock.profile, advice=said)
    return Ranked(s.kept[ranked].copy(), bounds, sure, slack > 0, report)


class _Spent(Exception):
    """The allowed work is used up."""


class _Branching:
    """A search in progress: the best states so far, the floor, and what is still open."""

    def __init__(self, layout: BranchingLayout, seed: int, clock: Clock, work: float = math.inf) -> None:
        self.layout, self._clock, self._allowed = layout, clock, work
        self._rng = np.random.default_rng(seed)
        p = layout.problem
        self._root = 0  # the floor before branching
        self._open = OpenParts(_OPEN * layout.room)
        self._current: Part | None = None  # the part being searched
        self._closed = False  # nothing better than the best can be left
        self.claimed = 0  # the lower bound that HiGHS claims, if below the best
        self.rounds = 0
        self._moved = 0  # work that went into moves
        self._size = 32.0  # of a neighbourhood
        self._around = Neighbourhoods(p)
        self._order = np.arange(p.cards.size)
        self._room = np.empty(p.cards.size + p.table.size, np.int64)
        self._mark = np.empty_like(self._room)
        self._costs = np.empty(p.given_at, np.int64)
        self._begun = self._noted = time.monotonic()
        self._notes: list[tuple[float, int, int]] = []  # seconds, the best, the floor

    @property
    def best(self) -> int:
        """The cost of the best states so far."""
        return int(self.layout.state.n[_BEST])

    def states(self) -> np.ndarray:
        """The best so far."""
        return self.layout.state.best.copy()

    def floor(self) -> int:
        """A lower bound on the cost of any states."""
        if self._closed:
            return self.best
        least = self._open.least()
        if self._current is not None:
            least = self._current.floor if least is None else min(least, self._current.floor)
        return min(self._root if least is None else max(least, self._root), self.best)

    def course(self, constant: float) -> Course:
        """The history of bounds, as logarithms."""
        self._note(time.monotonic())
        first, unit, error = constant + self.layout.offset, self.layout.unit, self.layout.error
        least = tuple(first - b * unit - error if b < FORBIDDEN else -math.inf for _, b, _ in self._notes)
        most = tuple(first - floor * unit + error for *_, floor in self._notes)
        return Course("seconds", tuple(at for at, *_ in self._notes), least, most)

    def _note(self, now: float) -> None:
        self._noted = now
        self._notes.append((now - self._begun, self.best, self.floor()))
        if len(self._notes) > _NOTES:  # half of them are enough
            self._notes = self._notes[::2]

    def _check(self) -> None:
        now = time.monotonic()
        if now - self._noted > _EVERY:
            self._note(now)
        self._clock.check("branch and bound")
        if self.layout.state.n[_WORK] > self._allowed:
            raise _Spent

    # --- the bound ---

    def raise_floor(self, sweeps: int) -> None:
        """Passes over everything, forwards and backwards, until they gain little."""
        p, s = self.layout.problem, self.layout.state
        for done in range(sweeps):
            place, before = 0, self._root
            while True:
                self._check()
                place = BRANCHING.sweep(p, s, place, _SLICE)
                if place <= 0:
                    break
            if place < 0:
                self._closed = True
                return
            self._root = int(s.w[p.floor_at])
            BRANCHING.assess(p, s)
            self.rounds += 1
            progress.report(done + 1, sweeps, "bounding")
            rest = self.best - self._root if self.best < FORBIDDEN else self._root
            if self._root - before <= _GAIN * rest:
                return
            if self._root >= self.best:
                self._closed = True
                return

    # --- states ---

    def start(self) -> None:
        """Find some states, good or not."""
        tries = 0
        self._begin()
        while self.best == FORBIDDEN and self._parts() and tries < 100:
            self._step(1000)
            tries += 1

    def move(self, rounds: int) -> None:
        """Repeatedly free some variables and find their best states given the others'."""
        for done in range(rounds):
            if self._closed or self.best == FORBIDDEN or self.floor() >= self.best:
                return
            progress.report(done, rounds, "moves")
            self._move()

    def _move(self) -> None:
        """Free forests until one gains nothing; then free neighbouring variables, and search."""
        p, s = self.layout.problem, self.layout.state
        m, begin = p.cards.size, int(s.n[_WORK])
        before = FORBIDDEN
        while self.best < before:
            self._check()
            before = self.best
            freed = np.zeros(m, np.uint8)
            self._rng.shuffle(self._order)
            BRANCHING.forest(p, self._order, self._room, self._mark, freed)
            BRANCHING.solve_forest(p, s, freed, self._room, self._mark, self._costs)
        freed = self._around.of(self._middle(), int(self._size), self._rng)
        kept = np.flatnonzero(freed == 0)
        ended = BRANCHING.search(p, s, 2 * (p.state_at[kept] + s.best[kept]), 100, _SLICE) == _DONE
        self._size = min(_WIDER * self._size, float(m)) if ended else max(8.0, _SMALLER * self._size)
        self._moved += int(s.n[_WORK]) - begin

    def _middle(self) -> int:
        """The variable around which others are freed: drawn by the cost that it pays, or uniformly."""
        p, best = self.layout.problem, self.layout.state.best
        if self._rng.random() < _ANYWHERE:
            return int(self._rng.integers(best.size))
        pays = (p.own[p.state_at[:-1] + best] - np.minimum.reduceat(p.own, p.state_at[:-1])).astype(float)
        if p.rows.size:
            rows = p.table + np.add.reduceat(best[p.scopes] * p.stride, p.scope_at[:-1])
            np.add.at(pays, p.scopes, np.repeat(p.values[rows], np.diff(p.scope_at)))
        total = pays.sum()
        return int(self._rng.choice(best.size, p=pays / total if total > 0.0 else None))

    # --- branching ---

    def branch(self, *, turns: bool = False) -> None:
        """Search until nothing better than the best states is left; HiGHS may help and take turns."""
        if self._closed:
            return
        self._begin()
        n = self.layout.state.n
        fails, begin, relaxed, stale, gap = 64, int(n[_WORK]), False, 0, self.best - self._root
        started = time.monotonic()
        due = started + _FIRST_TURN
        while self._parts():
            if not relaxed and n[_WORK] - begin > _UNAIDED:
                relaxed = True
                self._relax()
                continue
            if turns and relaxed and time.monotonic() > due and self._allowed == math.inf:
                self._turn(_TURN * (time.monotonic() - started))
                due = started + _AGAIN * (time.monotonic() - started)
                continue
            if self.best < FORBIDDEN and (
                stale < _PATIENCE or self._moved < _MOVES_SHARE * (int(n[_WORK]) - begin)
            ):
                before = self.best
                self._move()
                stale = 0 if self.best < before else stale + 1
                if self.best - self._root < _NARROWER * gap:
                    gap = self.best - self._root
                    relaxation.to_root(self.layout.state)
                    self.raise_floor(_FIRST_SWEEPS)
                continue
            replayed = self._step(fails)
            if replayed > 0.1 * fails:
                fails = min(2 * fails, 1 << 20)
            elif replayed < 0.05 * fails:
                fails = max(8, fails // 2)
        self._closed = True

    def _relax(self) -> None:
        """Move costs by the duals of the linear relaxation."""
        p, s = self.layout.problem, self.layout.state
        relaxation.to_root(s)
        left = relaxation.residual(p, s, _HIGHS * self.layout.room)
        if left is None:
            return
        seconds = min(_RELAXED, 0.25 * self._clock.remaining())
        found = relaxation.relax(p, s, left, self._clock, seconds)
        if found is None:
            return
        moved, states = found
        BRANCHING.keep(p, s, states, relaxation.cost_of(p, states))
        if relaxation.move(p, s, left, moved):
            self._root = max(self._root, int(s.w[p.floor_at]))
            self.raise_floor(_FIRST_SWEEPS)

    def _turn(self, seconds: float) -> None:
        """Let HiGHS branch and cut; afterwards the search continues for as long as it has run so far."""
        p, s = self.layout.problem, self.layout.state
        relaxation.to_root(s)
        left = relaxation.residual(p, s, _HIGHS * self.layout.room)
        if left is None:
            return
        found = relaxation.whole(p, s, left, self._clock, min(_LONGEST, seconds, self._clock.remaining()))
        if found.states is not None:
            BRANCHING.keep(p, s, found.states, relaxation.cost_of(p, found.states))
        self.claimed = max(self.claimed, found.least or 0)
        if found.ended:
            self._allowed = 2.0 * float(s.n[_WORK])

    def _begin(self) -> None:
        """Open the root: the whole problem."""
        self._open.push(self._root, Dive(_NOTHING), 0, deep=True)

    def _parts(self) -> bool:
        """Whether anything that is open may be better than the best states."""
        return not self._closed and self._open.drop(self.best, sort=self.best < FORBIDDEN)

    def _step(self, fails: int) -> int:
        """Search one of the open parts for this many dead ends; return how many decisions it began with."""
        p, s = self.layout.problem, self.layout.state
        self._check()
        self._current = self._open.pop()
        floor, path = self._current.floor, self._current.path()
        begin = int(s.n[_WORK])
        status = BRANCHING.search(p, s, path, fails, _SLICE)
        # Otherwise all the time would go into replaying decisions.
        until = begin + _REPLAYS * (int(s.n[_WORK]) - begin)
        while status == _PAUSED and s.n[_WORK] < until:
            self._check()
            status = BRANCHING.go_on(p, s, fails, _SLICE)
        self.rounds += int(s.n[_FAILS])
        if status != _DONE:
            levels = int(s.n[_LEVELS])
            taken, floors = s.decisions[:levels], s.floors[: levels + 1].tolist()
            dive, deep = Dive(np.concatenate([path, taken])), self.best == FORBIDDEN
            for i in np.flatnonzero(taken % 2 == 0).tolist():
                self._open.push(max(floor, floors[i]), dive, path.size + i + 1, deep=deep, flipped=True)
            self._open.push(max(floor, floors[levels]), dive, dive.decisions.size, deep=deep)
        self._current = None
        return path.size
