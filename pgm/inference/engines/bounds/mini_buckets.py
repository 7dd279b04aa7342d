"""Bounds on log Z, on marginals and on the most probable states, by weighted mini-buckets.

Variables are eliminated as in exact inference, but a bucket whose table would be too large is split into
mini-buckets, each summed with a weight. By Hoelder's inequality the product of their power sums is a bound:
an upper bound if the weights are positive and sum to one, a lower bound if all but one are negative (Liu &
Ihler 2011). One weight 1 and the others 0 is the mini-bucket of Dechter & Rish; mini-buckets of two variables
are tree-reweighting over the trees that the order allows; with all weights 0 the largest product is bounded.
Costs are moved between mini-buckets, and weights changed, while that tightens the bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pgm.errors import NoSupportFound
from pgm.inference.engines.bounds import Bounds
from pgm.inference.engines.bounds.buckets import BOUNDS, outline
from pgm.inference.engines.bounds.messages import ABOVE, BELOW, Bound, make_tables
from pgm.inference.engines.loopy import propagation
from pgm.inference.engines.mean_field import MeanField, ascent
from pgm.inference.engines.problem import Maximum, Problem, Solution
from pgm.results import Intervals, Report, farthest
from pgm.runtime.clock import Clock
from pgm.runtime.running import Impossible, run

_SHARE = 1e-3  # of the width of the bounds: the tolerance, to save time, of bounds with states chosen
_TIGHTEN = 0.4  # of the remaining time, for each of the two bounds
_NEAR = 1 << 14  # entries of a table over a variable and its neighbours
_OUT = 1e-14  # relative margin by which probabilities are moved outwards
_LEAST = float(np.finfo(float).tiny)  # the smallest probability of anything possible: normal doubles end here


def solve(problem: Problem, options: Bounds, clock: Clock) -> Solution:
    """Bounds on the total and, where asked for, on marginals and joints."""
    tables = make_tables(problem, options, clock)
    above = Bound(tables, ABOVE).tighten(options.iterations, options.tol, _TIGHTEN)
    if above.log == -math.inf:
        raise Impossible
    below = Bound(tables, BELOW).tighten(options.iterations, options.tol, _TIGHTEN)
    low, high = below.value(), above.value()
    found = tables.outline
    if found.n_split:
        low = max(low, _mean_field_bound(problem, clock))
    low = min(low, high)
    advice = ""
    if found.n_split:
        split = f"{found.n_split:,} of {found.order.size:,} buckets were split"
        advice = f"{split} at ibound={found.ibound}; a larger ibound narrows the interval"
    converged, rounds = above.converged and below.converged, above.iterations + below.iterations
    if not converged:
        advice = f"the time limit was reached after {rounds} sweeps{f'; {advice}' if advice else ''}"
    read = Reader(above, below, low, high)
    if problem.targets is None:
        everything = np.arange(found.order.size, dtype=np.int64)
        least, values, most = read.intervals(everything, np.arange(found.order.size + 1, dtype=np.int64))
    elif problem.targets.size:
        asked = problem.targets.astype(np.int64)
        least, values, most = read.intervals(asked, np.array([0, asked.size]))
    else:
        least = values = most = np.ones(1)
    middle = 0.5 * (low + high) if low > -math.inf else high
    intervals = Intervals(least, most)
    return Solution(
        values=values,
        total=lambda: propagation.wide_of(middle),
        weights=dict,
        report=Report(
            options.name,
            exact=False,
            converged=converged,
            iterations=rounds,
            error=farthest(intervals, values),
            intervals=intervals,
            log_bounds=(low, high),
            advice=advice,
        ),
    )


def heuristic(problem: Problem, options: Bounds, clock: Clock, largest: np.ndarray | None = None) -> Bound:
    """An upper bound, tightened until it converges: its messages guide sampling and the choice of states.

    Variables marked `largest` are maximised, the others summed out before them; None: all are summed out.
    """
    found = Bound(make_tables(problem, options, clock, largest), ABOVE, largest)
    return found.tighten(options.iterations, options.tol, _TIGHTEN)


def _mean_field_bound(problem: Problem, clock: Clock) -> float:
    """A lower bound that zeros do not spoil: that of the closest fully factorised distribution."""
    try:
        found = ascent.solve(problem, MeanField(restarts=2, max_iter=100), clock).report.log_bounds
    except NoSupportFound:
        return -math.inf
    return found[0] if found else -math.inf


@dataclass(eq=False, slots=True)
class Reader:
    """Probabilities as intervals, from bounds with some variables clamped to states."""

    above: Bound
    below: Bound
    low: float  # on the total
    high: float

    def intervals(self, variables: np.ndarray, group_at: np.ndarray) -> np.ndarray:
        """Lower ends, values inside and upper ends, for the joint states of groups of variables."""
        if group_at.size < 2:
            return np.empty((3, 0))
        width = self.high - self.low
        tolerance = _SHARE * width if width < math.inf else _SHARE
        highs, raw = self.above.clamped(variables, group_at, tolerance)
        lows, _ = self.below.clamped(variables, group_at, tolerance)
        lows, highs = np.minimum(lows, self.high), np.minimum(highs, self.high)
        sizes = np.multiply.reduceat(self.above.tables.arrays.cards[variables], group_at[:-1])
        begins = np.cumsum(sizes) - sizes
        group = np.repeat(np.arange(sizes.size), sizes)
        margin = 4.0 * sizes[group] * np.finfo(float).eps

        def sums(x: np.ndarray) -> np.ndarray:
            return np.asarray(np.add.reduceat(x, begins)[group])

        # For a state, and for all others together: lower and upper bounds on the mass. Each is scaled by the
        # largest of its kind: the upper bound of one state may be far below the lower bound of the total.
        possible = highs > -math.inf
        top, sure = (np.maximum.reduceat(x, begins)[group] for x in (highs, lows))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            most, least = np.exp(highs - top), np.exp(lows - top)
            others_most = (sums(most) * (1.0 + margin) - most).clip(0.0)
            low = np.where(least > 0.0, least / (least + others_most), 0.0)
            low = np.maximum(low, np.exp(lows - self.high)) * (1.0 - _OUT)
            least = np.where(sure > -math.inf, np.exp(lows - sure), 0.0)
            others_least = (sums(least) * (1.0 - margin) - least).clip(0.0)
            high = np.where(others_least > 0.0, 1.0 / (1.0 + others_least * np.exp(sure - highs)), 1.0)
            if self.low > -math.inf:
                high = np.minimum(high, np.exp(highs - self.low))
            high = np.where(possible, np.maximum(high * (1.0 + _OUT), _LEAST), 0.0)
        if sizes.size == variables.size:
            least, most = self._given_neighbours(variables, sizes)
            low, high = np.maximum(low, least), np.minimum(high, np.where(possible, most.clip(_LEAST), 0.0))
        low, high = low.clip(0.0, 1.0), high.clip(0.0, 1.0)
        low, high = (
            np.maximum(low, (1.0 - margin - (sums(high) - high)) * (1.0 - _OUT)).clip(0.0, 1.0),
            np.minimum(high, (1.0 + margin - (sums(low) - low)) * (1.0 + _OUT)).clip(0.0, 1.0),
        )
        value = np.exp(raw - np.maximum.reduceat(raw, begins)[group])
        value = (value / sums(value)).clip(low, high)
        # A shortfall or excess from one is distributed in proportion to the room left in each interval.
        missing = 1.0 - sums(value)
        room = np.where(missing > 0.0, high - value, value - low)
        rooms = sums(room)
        value += np.where(rooms > 0.0, missing * room / np.where(rooms > 0.0, rooms, 1.0), 0.0)
        return np.stack([low, value.clip(low, high), high])

    def _given_neighbours(self, variables: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds on each marginal from its neighbourhood alone: tighter in large models."""
        tables, n = self.above.tables, int(sizes.sum())
        lows, highs, at = np.empty(n), np.empty(n), np.cumsum(sizes) - sizes
        args = tables.graph.arrays, variables, at, _NEAR, lows, highs
        steps = 30.0 * n + 4.0 * tables.graph.steps
        run("given_neighbours", *args, steps=steps, clock=tables.clock, module=BOUNDS)
        return lows, highs


def maximise(problem: Problem, options: Bounds, clock: Clock) -> Maximum:
    """States chosen one variable after another by the mini-buckets' messages, and a bound on all others.

    With targets the other variables are summed out, and the states returned for them mean nothing.
    """
    n = problem.case.reduced.cards.size
    largest = np.full(n, problem.targets is None)
    if problem.targets is not None:
        largest[problem.targets] = True
    found = heuristic(problem, options, clock, largest)
    if found.log == -math.inf:
        raise Impossible
    split = found.tables.outline.n_split > 0
    report = Report(options.name, exact=not split, iterations=found.iterations)
    return Maximum(found.states(), found.value(), report)


__all__ = ["Bound", "heuristic", "maximise", "outline", "solve"]
