"""One bound on a reduced question, upper or lower, tightened step by step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pgm.inference.engines.bounds import Bounds
from pgm.inference.engines.bounds.buckets import BOUNDS, BucketArrays, Outline, lay_out, outline
from pgm.inference.engines.factor_graph import Graph, make_graph
from pgm.inference.engines.problem import Problem
from pgm.runtime.clock import Clock
from pgm.runtime.kinds import Bytes, Floats
from pgm.runtime.progress import report as report_progress
from pgm.runtime.running import run

ABOVE, BELOW = 0, 1  # the side that a bound is on
_NEGATIVE = -0.25  # weight in a lower bound, shared by all mini-buckets of a bucket but one
_LEAST_STEP = 1 / 64
_PATIENCE = 3  # consecutive steps that gain next to nothing


class BoundState(NamedTuple):
    """The arrays of one bound; the first three are shared."""

    theta: Floats  # the tables: the product of each mini-bucket's factors
    big: Floats  # [C] an upper bound on the values of each table
    error: Floats  # [C] the largest error of these values
    weights: Floats  # [C]
    shift: Floats  # the costs moved between the mini-buckets of a bucket
    no_shift: Floats  # zeros
    sent: Floats  # messages, first to last
    back: Floats  # messages in the other direction, one for each sent: they guide, and bound nothing
    entropy: Floats  # [C] the entropy of a split bucket's variable given the others, in each mini-bucket
    largest: Floats  # [C] the largest finite value sent
    changed: Bytes  # [C] zeros outside the compiled loops


@dataclass(frozen=True, eq=False, slots=True)
class Tables:
    """Mini-buckets with their tables, for bounds of any kind."""

    graph: Graph
    outline: Outline
    arrays: BucketArrays
    theta: np.ndarray
    big: np.ndarray
    error: np.ndarray
    clock: Clock

    @property
    def constant(self) -> tuple[float, float]:
        """The logarithm of the constant factor, and its largest error."""
        mantissa, exponent = self.graph.constant
        case = self.graph.case
        parts = math.log(mantissa), exponent * math.log(2.0)
        rounded = case.reduced.scalars.size + case.program.n + 4.0
        return math.fsum(parts), 2.0**-51 * (rounded + math.fsum(map(abs, parts)))


def make_tables(problem: Problem, options: Bounds, clock: Clock, largest: np.ndarray | None = None) -> Tables:
    """Choose and fill the mini-buckets; those of the variables marked `largest` come last."""
    graph = make_graph(problem.case, options.name, each_message=8.0)
    found = outline(problem.case, options.ibound, clock, largest).check()
    arrays = lay_out(problem.case, found)
    g, n = graph.arrays, found.parent.size
    theta, big, error = np.empty(int(arrays.size_at[-1])), np.zeros(n), np.zeros(n)
    sizes = np.multiply.reduceat(g.cards[g.scopes], g.scope_at[:-1]) if g.table.size else np.ones(1)
    room, idx = np.empty(int(sizes.max(initial=1))), _places(arrays)
    strides = np.empty(2 * int(np.diff(found.scope_at).max(initial=1)), np.int64)
    r = problem.case.reduced
    uses = np.bincount(r.scopes[r.scope_at[graph.alone]], minlength=g.cards.size).astype(np.float64)
    work = found.home, uses, theta, big, error, room, idx, strides
    run("fill", g, arrays, *work, steps=found.steps, clock=clock, module=BOUNDS)
    return Tables(graph, found, arrays, theta, big, error, clock)


def _places(b: BucketArrays) -> np.ndarray:
    return np.empty(int(np.diff(b.size_at).max(initial=1)), np.int64)


class Bound:
    """A bound on the logarithm of the sum of the product of all factors; some variables may be maximised."""

    def __init__(self, tables: Tables, mode: int, largest: np.ndarray | None = None) -> None:
        """Start with even weights and no costs moved; an upper bound maximises variables marked `largest`."""
        b, n = tables.arrays, tables.outline.parent.size
        parts = np.repeat(np.diff(b.bucket_at), np.diff(b.bucket_at)).astype(np.float64)
        weights = np.zeros(n)
        if mode == ABOVE:
            weights = np.floor(2.0**24 / np.maximum(parts, 1.0)) / 2.0**24
        else:
            weights = np.minimum(-1.0, np.ceil(2.0**24 * _NEGATIVE / np.maximum(parts - 1.0, 1.0))) / 2.0**24
        weights[b.lead] = 0.0  # so that they sum to exactly one
        sums = np.add.reduceat(weights, b.bucket_at[:-1]) if n else weights
        weights[b.lead] = 1.0 - sums
        if largest is not None:
            weights[np.repeat(largest[b.order], np.diff(b.bucket_at))] = 0.0
        shifts, sent = int(b.shared_at[-1]), int(b.sent_at[-1])
        self.tables, self.mode = tables, mode
        self.state = BoundState(
            tables.theta,
            tables.big,
            tables.error,
            weights,
            np.zeros(shifts),
            np.zeros(shifts),
            np.empty(sent),
            np.zeros(sent),
            np.zeros(n),
            np.zeros(n),
            np.zeros(n, np.uint8),
        )
        sizes = np.diff(b.shared_at)
        in_bucket = np.add.reduceat(sizes, b.bucket_at[:-1]) if n else sizes
        self._f, self._idx = np.empty(self._most(b.size_at)), _places(b)
        self._top, self._moments = np.empty(self._most(b.shared_at)), np.empty(int(in_bucket.max(initial=1)))
        self._sums = np.empty(self._most(b.sent_at))
        self.log, self.slack, self.iterations = math.nan, 0.0, 0
        self.converged = True  # False: out of time

    @staticmethod
    def _most(begins: np.ndarray) -> int:
        return int(np.diff(begins).max(initial=1))

    def _call(self, name: str, *args: object) -> None:
        t = self.tables
        steps = t.outline.steps
        run(name, t.arrays, self.state, self.mode, *args, steps=steps, clock=t.clock, module=BOUNDS)

    def _forward(
        self, step: float = 0.0, *, match: bool = False, reweigh: bool = False
    ) -> tuple[float, float]:
        out = np.zeros(2)
        room = self._f, self._idx, self._top, self._moments
        self._call("forward", step, match, reweigh, *room, out)
        return float(out[0]), float(out[1])

    def tighten(self, iterations: int, tol: float, share: float = 1.0) -> Bound:
        """Move costs and weights while that helps, for a share of the remaining time; keep the best."""
        enough = (1.0 - share) * self.tables.clock.remaining()
        state, sign = self.state, -1.0 if self.mode == BELOW else 1.0
        self.log, self.slack = self._forward()
        self.iterations = 1
        if not self.tables.outline.n_split:
            return self
        kept = state.shift.copy(), state.weights.copy()
        self._backward()
        step, idle = 1.0, 0
        for done in range(iterations):
            if self.tables.clock.remaining() < enough < math.inf:
                self.converged = False
                break
            self.tables.clock.check()
            report_progress(float(done), float(iterations), "bounds")
            log, _ = self._forward(step, match=True, reweigh=done > 0)
            self.iterations += 1
            gain = sign * (self.log - log) if log != self.log else 0.0
            if math.isinf(self.log):
                idle = idle + 1 if math.isinf(log) else 0
                gain = math.inf
            if gain > 0.0:
                idle = idle + 1 if gain <= tol * max(1.0, abs(log)) else idle if math.isinf(log) else 0
                self.log = log
                kept = state.shift.copy(), state.weights.copy()
                self._backward()
                step = min(1.0, 1.5 * step)
            else:
                state.shift[:], state.weights[:] = kept
                step *= 0.5
            if idle >= _PATIENCE or step < _LEAST_STEP:
                break
        state.shift[:], state.weights[:] = kept
        self.log, self.slack = self._forward()
        return self

    def _backward(self) -> None:
        self._call("backward", self._f, self._idx, self._sums)

    def value(self, log: float | None = None, slack: float = 0.0) -> float:
        """The bound, moved outwards by the largest possible rounding error."""
        log = self.log if log is None else log
        constant, off = self.tables.constant
        if math.isinf(log):
            return log
        whole = log + constant
        out = self.slack + slack + off + 2.0**-51 * (abs(log) + abs(constant))
        return whole - out if self.mode == BELOW else whole + out

    def clamped(
        self, variables: np.ndarray, group_at: np.ndarray, tolerance: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """The bound for all states of each group of variables: moved outwards, and as computed."""
        t, n = self.tables, self.tables.outline.parent.size
        cards = t.arrays.cards[variables]
        sizes = np.multiply.reduceat(cards, group_at[:-1]) if group_at.size > 1 else np.empty(0, np.int64)
        at = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        logs, slacks = np.empty(int(at[-1])), np.empty(int(at[-1]))
        mark, listed = np.zeros(n, np.uint8), np.empty(n, np.int64)
        others, largest = np.empty_like(self.state.sent), np.zeros(n)
        room = mark, listed, others, largest, self._f, self._idx, logs, slacks
        steps = t.outline.steps * max(1, logs.size)
        args = self.log, variables, group_at, at, tolerance, *room
        run("clamp_all", t.arrays, self.state, self.mode, *args, steps=steps, clock=t.clock, module=BOUNDS)
        constant, off = t.constant
        finite = np.isfinite(logs)
        out = np.where(finite, self.slack + slacks + off + 2.0**-50 * (np.abs(logs) + abs(constant)), 0.0)
        raw = logs + constant
        return raw - out if self.mode == BELOW else raw + out, raw

    def states(self) -> np.ndarray:
        """A state for each variable, from the last to the first: the best according to the messages."""
        b = self.tables.arrays
        states = np.zeros(b.cards.size, np.int64)
        most = int(np.diff(b.bucket_at).max(initial=1))
        room = np.empty((most, int(b.cards.max(initial=1))))
        args = b, self.state, states, room
        run("decode", *args, steps=self.tables.outline.steps, clock=self.tables.clock, module=BOUNDS)
        return states
