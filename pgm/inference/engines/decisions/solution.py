"""Run the steps of a schedule on tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pgm.runtime.clock import Clock

from .schedule import EliminationStep, Schedule, Scope

# Actions whose values differ by less are equally good: relative to the largest of the row, and to the largest
# of the table, whose rounding error remains where such values cancel out.
_TIE, _CANCELLED = 1e-12, 1e-14
_FEW, _MANY = 16, 4096  # loop over an axis of at most _FEW entries, in tables of at least _MANY


@dataclass(frozen=True, eq=False)
class Choice:
    """The worth of each action, given what is known when the decision is made."""

    decision: int
    scope: Scope  # the known variables that matter, then the decision
    values: np.ndarray  # an axis for each of `scope`; NaN where what is known cannot happen


@dataclass(frozen=True, eq=False)
class Solution:
    """The best choices, and their worth given the variables that were kept."""

    value: np.ndarray  # an axis for each variable kept; NaN where its states cannot occur
    probability: np.ndarray  # of these states and the evidence
    choices: dict[int, Choice]


def solve(
    plan: Schedule,
    cards: Sequence[int],
    tables: Sequence[np.ndarray],
    clock: Clock,
    *,
    multiply: bool = False,
    least: bool = False,
    keep: Scope = (),
) -> Solution:
    """Return the choices that maximise the expected utility.

    Args:
        plan: the steps.
        cards: the number of states of each variable.
        tables: those of the problem, in its order; a utility of type bool says which actions are allowed.
        clock: the clock of the question.
        multiply: whether utilities are multiplied instead of added; none may then be negative.
        least: whether the smallest value is the best.
        keep: the variables that no step eliminates, in the order of the answer's axes.
    """
    run = _Run(plan.scopes, cards, tables, multiply, least)
    for step in plan.steps:
        clock.check("solving")
        run.take(step)
    shape = [cards[v] for v in keep]
    probability = run.joined(plan.left, keep, np.multiply)
    value = run.joined(plan.values, keep, run.join)
    probability = np.ones(shape) if probability is None else probability
    value = np.full(shape, run.neutral) if value is None else value
    return Solution(np.where(probability > 0.0, value, math.nan), probability, run.choices)


class _Run:
    def __init__(
        self,
        scopes: Sequence[Scope],
        cards: Sequence[int],
        tables: Sequence[np.ndarray],
        multiply: bool,
        least: bool,
    ) -> None:
        self.scopes, self.cards = scopes, cards
        self.tables: dict[int, np.ndarray] = dict(enumerate(tables))
        self.join: Callable[..., np.ndarray] = np.multiply if multiply else np.add
        self.neutral = 1.0 if multiply else 0.0
        self.least = least
        self.choices: dict[int, Choice] = {}

    def take(self, step: EliminationStep) -> None:
        if step.decision:
            self._decide(step)
        else:
            self._sum(step)
        for i in (*step.probabilities, *step.utilities):
            del self.tables[i]

    def _sum(self, step: EliminationStep) -> None:
        chance, value = step.made
        if chance < 0 and value < 0:
            return
        own = step.probability_scope
        if own is None:
            own = tuple(sorted({u for i in step.probabilities for u in self.scopes[i]} - {step.variable}))
        given = (step.variable, *own)  # summed along the first axis: contiguous rows are added
        p = self.joined(step.probabilities, given, np.multiply)
        if p is None:
            p = np.ones([self.cards[u] for u in given])
        if chance >= 0:
            total = p.sum(axis=0)
            self.tables[chance] = total
            if value >= 0:
                with np.errstate(divide="ignore", invalid="ignore"):
                    p = p / total  # NaN where what is known cannot happen
        if value < 0:
            return
        assert step.utility_scope is not None
        union = step.utility_scope
        inner = {u for i in step.utilities for u in self.scopes[i]} - {step.variable}
        around = (step.variable, *[u for u in union if u in inner])
        v = self.joined(step.utilities, around, self.join)
        assert v is not None
        self.tables[value] = _expectation(_spread(p, given[1:], union), _spread(v, around[1:], union))

    def _decide(self, step: EliminationStep) -> None:
        # Of what is left only utilities depend on the decision, so any action's probabilities will do.
        chance, value = step.made
        if chance >= 0:
            assert step.probability_scope is not None
            given = (step.variable, *step.probability_scope)
            p = self.joined(step.probabilities, given, np.multiply)
            assert p is not None
            self.tables[chance] = p[0].copy()
        scope = (*(step.utility_scope or ()), step.variable)
        v = self.joined(step.utilities, scope, self.join)
        if v is None:  # no utility depends on it
            v = np.full(self.cards[step.variable], self.neutral)
        self.choices[step.variable] = Choice(step.variable, scope, v)
        if value >= 0:
            self.tables[value] = over_last(np.minimum if self.least else np.maximum, v)

    def joined(
        self, which: Sequence[int], scope: Scope, join: Callable[..., np.ndarray]
    ) -> np.ndarray | None:
        """The product or sum of some tables, with these axes; the worst value where none is allowed."""
        found: np.ndarray | None = None
        masks = []
        for i in which:
            one = self.tables[i]
            if one.dtype == bool:
                masks.append(_aligned(one, self.scopes[i], scope))
                continue
            one = _aligned(one, self.scopes[i], scope)
            found = one if found is None else join(found, one)
        if found is None and not masks:
            return None
        if found is None:
            found = np.full(1, self.neutral)
        for mask in masks:
            found = np.where(mask, found, math.inf if self.least else -math.inf)
        shape = tuple([self.cards[u] for u in scope])
        return found if found.shape == shape else np.broadcast_to(found, shape)


def _aligned(table: np.ndarray, scope: Scope, target: Scope) -> np.ndarray:
    """The table with the axes of `target`, of length one where it does not depend on a variable."""
    order = [scope.index(u) for u in target if u in scope]
    sizes = iter([table.shape[axis] for axis in order])
    return table.transpose(order).reshape([next(sizes) if u in scope else 1 for u in target])


def _spread(table: np.ndarray, scope: Scope, target: Scope) -> np.ndarray:
    """Like `_aligned`, for a table with an additional first axis and its other axes in order."""
    sizes = dict(zip(scope, table.shape[1:], strict=True))
    return table.reshape([table.shape[0], *[sizes.get(u, 1) for u in target]])


def _expectation(p: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The sum of p * v along the first axis, where zero probability times anything is zero."""
    rest = tuple(map(max, p.shape[1:], v.shape[1:]))  # lengths are equal, or one of them is one
    if not np.isfinite(v).all():
        # Non-finite values of what cannot happen count for nothing.
        v = np.where((p == 0.0) & ~np.isfinite(v), 0.0, v)
    if math.prod(rest) * p.shape[0] > 4096:
        found = _by_matrices(p, v)
        if found is not None:
            return found
    total = np.zeros(rest)
    room = np.empty(rest)
    for one, worth in zip(p, v, strict=True):
        np.multiply(one, worth, out=room)
        total += room
    return total


def _by_matrices(p: np.ndarray, v: np.ndarray) -> np.ndarray | None:
    """`_expectation` as one matrix product; None if the two share an axis besides the first."""
    shared = [a for a in range(1, p.ndim) if p.shape[a] > 1 and v.shape[a] > 1]
    if shared:
        return None
    left = p.reshape(p.shape[0], -1)
    right = v.reshape(v.shape[0], -1)
    product = left.T @ right
    own = [a for a in range(1, p.ndim) if p.shape[a] > 1]
    theirs = [a for a in range(1, p.ndim) if a not in own]
    shape = [p.shape[a] for a in own] + [v.shape[a] for a in theirs]
    order = [*own, *theirs]
    found: np.ndarray = product.reshape(shape)
    return found if order == sorted(order) else found.transpose(np.argsort(order))


def over_last(function: np.ufunc, table: np.ndarray) -> np.ndarray:
    """`function.reduce` along the last axis, by a loop over it if it is short, which is faster.

    >>> over_last(np.maximum, np.array([[1.0, 3.0], [2.0, 0.0]])).tolist()
    [3.0, 2.0]
    """
    few = table.shape[-1]
    if few > _FEW or table.size < _MANY:
        return np.asarray(function.reduce(table, axis=-1))
    found = table[..., 0].copy()
    for i in range(1, few):
        function(found, table[..., i], out=found)
    return found


def best_actions(values: np.ndarray, *, product: bool = False) -> np.ndarray:
    """Return the best action along the last axis; among those equal up to rounding, the first.

    Args:
        values: the worth of each action; -inf: not allowed, NaN: cannot happen.
        product: whether the values are products of utilities, in which nothing cancels out.

    >>> best_actions(np.array([[0.1 + 0.2, 0.3], [1.0, 2.0]])).tolist()
    [0, 1]
    """
    size = np.where(np.isfinite(values), np.abs(values), 0.0)
    rounding = _TIE * over_last(np.maximum, size)[..., np.newaxis]
    if not product:
        rounding = np.maximum(rounding, _CANCELLED * size.max(initial=0.0))
    with np.errstate(invalid="ignore"):
        highest = over_last(np.maximum, values)[..., np.newaxis]
        near = values >= highest - rounding
    never = np.isnan(highest)  # cannot happen: the first allowed action
    if never.any():
        near = np.where(never, ~np.isneginf(values), near)
    return np.asarray(near.argmax(axis=-1))
