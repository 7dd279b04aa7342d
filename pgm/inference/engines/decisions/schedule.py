"""The order in which variables are eliminated from a decision problem, and the tables that result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Scope = tuple[int, ...]


@dataclass(frozen=True)
class DiagramProblem:
    """The structure of a decision problem: which tables there are, and when each variable is eliminated.

    Probabilities come first among the tables, then utilities.
    """

    cards: tuple[int, ...]
    probabilities: tuple[Scope, ...]
    heads: tuple[int, ...]  # for each probability table, the variable over which it sums to one; -1: none
    utilities: tuple[Scope, ...]
    rounds: tuple[tuple[bool, tuple[int, ...]], ...]  # (whether decisions, variables), in elimination order


@dataclass(frozen=True)
class EliminationStep:
    """The elimination of one variable. Tables are indexed: the problem's, then those that steps make."""

    variable: int
    decision: bool
    probabilities: tuple[int, ...]  # the tables that it uses up
    utilities: tuple[int, ...]
    probability_scope: Scope | None  # of the table made; None: not made, since it would be one everywhere
    utility_scope: Scope | None
    made: tuple[int, int]  # the indices of the new probability and utility tables; -1: none


@dataclass(frozen=True)
class Schedule:
    """All steps, and what they cost."""

    steps: tuple[EliminationStep, ...]
    left: tuple[int, ...]  # the probability tables that remain, without variables: their product is P(given)
    values: tuple[int, ...]  # the utility tables that remain, without variables
    scopes: tuple[Scope, ...]  # of all tables
    largest: Scope  # the variables of the largest table
    entries: float  # of the largest table
    bytes: float  # the peak
    operations: float


def schedule(problem: DiagramProblem) -> Schedule:
    """Return the steps: within each round, the variable with the smallest table goes first."""
    return _Scheduler(problem).run()


class _Scheduler:
    def __init__(self, problem: DiagramProblem) -> None:
        self.cards = problem.cards
        self.scopes: list[Scope] = [*problem.probabilities, *problem.utilities]
        n = len(problem.probabilities)
        # For probabilities: the heads, over which a table sums to one whatever its other variables are; None:
        # it does not. A table without any head left is one everywhere and need not be made.
        self.heads: dict[int, frozenset[int] | None] = {
            i: None if head < 0 else frozenset((head,)) for i, head in enumerate(problem.heads)
        }
        self.with_probability: list[set[int]] = [set() for _ in problem.cards]
        self.with_utility: list[set[int]] = [set() for _ in problem.cards]
        for i, scope in enumerate(self.scopes):
            for v in scope:
                (self.with_probability if i < n else self.with_utility)[v].add(i)
        self.live_probabilities = set(range(n))
        self.live_utilities = set(range(n, len(self.scopes)))
        self.rounds = problem.rounds
        self.steps: list[EliminationStep] = []
        self.bytes = self.peak = 8.0 * sum(map(self._size, self.scopes))
        self.operations = 0.0
        self.largest: tuple[float, Scope] = (0.0, ())
        for scope in self.scopes:
            self._note_size(scope)

    def run(self) -> Schedule:
        for decision, variables in self.rounds:
            waiting = dict.fromkeys(variables)
            costs = {v: self._cost(v) for v in waiting}
            while waiting:
                v = min(waiting, key=lambda v: (costs[v], v))
                del waiting[v]
                near = self._eliminate(v, decision)
                for other in near:
                    if other in waiting:
                        costs[other] = self._cost(other)
        return Schedule(
            tuple(self.steps),
            tuple(sorted(self.live_probabilities)),
            tuple(sorted(self.live_utilities)),
            tuple(self.scopes),
            self.largest[1],
            self.largest[0],
            self.peak,
            self.operations,
        )

    def _size(self, scope: Sequence[int]) -> float:
        return math.prod([float(self.cards[v]) for v in scope])

    def _note_size(self, scope: Scope) -> None:
        size = self._size(scope)
        if size > self.largest[0]:
            self.largest = size, scope

    def _cost(self, v: int) -> float:
        scope = {u for i in self.with_probability[v] | self.with_utility[v] for u in self.scopes[i]}
        return self._size(tuple(scope))

    def _eliminate(self, v: int, decision: bool) -> set[int]:
        chances, values = sorted(self.with_probability[v]), sorted(self.with_utility[v])
        near = {u for i in (*chances, *values) for u in self.scopes[i]} - {v}
        chance_scope = tuple(sorted({u for i in chances for u in self.scopes[i]} - {v}))
        value_scope = {u for i in values for u in self.scopes[i]} - {v}
        heads: frozenset[int] | None = frozenset()
        for i in chances:
            own = self.heads[i]
            heads = None if own is None or heads is None else heads | own
        if not decision:
            value_scope |= set(chance_scope) if values else set()
            heads = None if heads is None else heads - {v}
        makes_chance = bool(chances) and (heads is None or bool(heads))
        kept: tuple[Scope | None, Scope | None] = (
            chance_scope if makes_chance else None,
            tuple(sorted(value_scope)) if values else None,
        )
        for i in (*chances, *values):
            live, held = (
                (self.live_probabilities, self.with_probability)
                if i in self.live_probabilities
                else (self.live_utilities, self.with_utility)
            )
            live.discard(i)
            for u in self.scopes[i]:
                held[u].discard(i)
        before = self.bytes
        work = 0.0
        if chances and (values or makes_chance):
            work += self._size((*chance_scope, v)) * (2 if values else 1)
        if values:
            work += self._size((*value_scope, v)) * (2 if len(values) > 1 or decision else 1)
        made = []
        for scope, live, held in zip(
            kept,
            (self.live_probabilities, self.live_utilities),
            (self.with_probability, self.with_utility),
            strict=True,
        ):
            if scope is None:
                made.append(-1)
                continue
            index = len(self.scopes)
            self.scopes.append(scope)
            live.add(index)
            for u in scope:
                held[u].add(index)
            self._note_size(scope)
            self.bytes += 8.0 * self._size(scope)
            made.append(index)
        if made[0] >= 0:
            self.heads[made[0]] = heads
        if values:
            self._note_size(tuple(sorted({*value_scope, v})) if decision or len(values) > 1 else ())
        self.peak = max(self.peak, before + 8.0 * work + 8.0 * self._size(tuple(value_scope)))
        self.operations += work
        self.bytes -= 8.0 * sum(self._size(self.scopes[i]) for i in (*chances, *values))
        if decision:  # the worth of each action is kept: it is the policy
            self.bytes += 8.0 * self._size((*value_scope, v))
        self.steps.append(
            EliminationStep(v, decision, tuple(chances), tuple(values), kept[0], kept[1], (made[0], made[1]))
        )
        return near
