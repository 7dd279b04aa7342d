"""Markov chains whose transition matrix is a product of sparse ones, which may differ from row to row.

A step of M independent chains of K states is M sparse matrices, one after the other: O(M K^(M+1)) operations
and not O(K^(2M)) (Ghahramani & Jordan 1997). In a semi-Markov model the probability that leaves segments
passes through as many places as there are states. Transitions that depend on inputs have a row of values for
each row of inputs.

As for chains with one matrix, sums are scaled, and what leaves the range of doubles is run in logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from pgm.inference.engines.chain import ImpossibleStep, Rows
from pgm.runtime.clock import Clock
from pgm.runtime.loops import Loops
from pgm.runtime.running import Impossible, Narrow, run

LOOPS = Loops("pgm.inference.engines.staged.compiled", "passing messages along sequences")
_LEAST = 200  # steps of probability below 2**-200 may lose states
_NO_FLOATS, _NO_INTS = np.empty(0), np.empty(0, np.int64)
_Found = TypeVar("_Found")


@dataclass(frozen=True, eq=False)
class Stage:
    """One sparse matrix: arcs from `before` places to `behind` places, sorted by source."""

    before: int
    behind: int
    source: np.ndarray  # int64, rising
    to: np.ndarray  # int64

    @cached_property
    def at(self) -> np.ndarray:
        """Where the arcs of each place begin."""
        counts = np.bincount(self.source, minlength=self.before)
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    def kept(self, there: np.ndarray) -> Stage:
        """The stage with only these of its arcs."""
        return Stage(self.before, self.behind, self.source[there], self.to[there])


def stage(before: int, behind: int, source: Any, to: Any) -> tuple[Stage, np.ndarray]:
    """A stage of these arcs, and the order into which they were sorted."""
    source, to = np.asarray(source, np.int64).reshape(-1), np.asarray(to, np.int64).reshape(-1)
    order = np.argsort(source, kind="stable")
    return Stage(before, behind, source[order], to[order]), order


@dataclass(frozen=True, eq=False)
class Steps:
    """The initial and transition probabilities of a chain, transitions in stages.

    `start` has a row for each kind of start, and `begin` is the kind of each sequence; `values` has a row
    with the probabilities of all arcs for each kind of step, and `which` is the kind of the step into each
    row. Where `begin` or `which` is empty, all are of the first kind.
    """

    start: np.ndarray  # (kinds, k)
    stages: tuple[Stage, ...]
    values: np.ndarray  # (kinds, arcs of all stages)
    begin: np.ndarray = field(default_factory=lambda: _NO_INTS)  # int64
    which: np.ndarray = field(default_factory=lambda: _NO_INTS)  # int64

    @property
    def k(self) -> int:
        """How many states there are."""
        return int(self.start.shape[1])

    @cached_property
    def layout(self) -> tuple[Any, ...]:
        """For the loops: sizes of the stages, where the arcs of each place begin, and where they lead."""
        sizes = np.array([self.k, *(s.behind for s in self.stages)], np.int64)
        places = [s.before + 1 for s in self.stages]
        first = np.cumsum([0, *places[:-1]]).astype(np.int64)
        arcs = np.cumsum([0, *(s.to.size for s in self.stages)])
        at = np.concatenate([s.at + a for s, a in zip(self.stages, arcs[:-1].tolist(), strict=True)])
        return sizes, first, at.astype(np.int64), np.concatenate([s.to for s in self.stages])

    @property
    def width(self) -> int:
        """The most places between two stages."""
        return int(self.layout[0].max())

    @cached_property
    def flat(self) -> np.ndarray:
        """The values, row after row."""
        return np.ascontiguousarray(self.values, dtype=np.float64).reshape(-1)

    @cached_property
    def begun(self) -> np.ndarray:
        """The starts, row after row."""
        return np.ascontiguousarray(self.start, dtype=np.float64).reshape(-1)

    @cached_property
    def in_logs(self) -> tuple[np.ndarray, np.ndarray]:
        """Logarithms of starts and values."""
        with np.errstate(divide="ignore"):
            return np.log(self.begun), np.log(self.flat)

    @cached_property
    def is_narrow(self) -> bool:
        """Whether a step may be so improbable that sums lose states."""
        positive = self.begun[self.begun > 0.0]
        least = math.log2(positive.min()) if positive.size else 0.0
        total, at = 0.0, 0
        for one in self.stages:
            part = self.values[:, at : at + one.to.size]
            at += one.to.size
            part = part[part > 0.0]
            total += math.log2(part.min()) if part.size else 0.0
        return min(least, total) < -_LEAST

    def dense(self, kind: int = 0) -> np.ndarray:
        """The transition matrix (k, k) of one kind of step."""
        found, at = np.eye(self.k), 0
        for one in self.stages:
            matrix = np.zeros((one.before, one.behind))
            np.add.at(matrix, (one.source, one.to), self.values[kind, at : at + one.to.size])
            at += one.to.size
            found = found @ matrix
        return np.asarray(found)

    def ahead(self, p: np.ndarray, kind: int = 0) -> np.ndarray:
        """The distribution a step later."""
        at = 0
        for one in self.stages:
            flow = p[one.source] * self.values[kind, at : at + one.to.size]
            p = np.bincount(one.to, flow, one.behind)
            at += one.to.size
        return p


@dataclass(frozen=True, eq=False)
class Expected:
    """Expected counts for EM: starts in each state, arcs, and states of each distinct row."""

    begun: np.ndarray  # (kinds of starts, k)
    counts: np.ndarray  # (kinds of steps, arcs)
    seen: np.ndarray  # (distinct rows, k)
    logs: np.ndarray  # log P of each sequence


def filtered(steps: Steps, rows: Rows, clock: Clock) -> tuple[np.ndarray, np.ndarray]:
    """P(state | rows up to this one), (rows, k); and log P(row | rows before)."""

    def slow() -> tuple[np.ndarray, np.ndarray]:
        alpha, share = _forward_in_logs(steps, rows, clock)
        return np.exp(alpha), share

    return _either(lambda: _scaled(rows, *_forward(steps, rows, clock)), slow, steps, rows)


def log_likelihoods(steps: Steps, rows: Rows, clock: Clock) -> np.ndarray:
    """Log P of each sequence."""
    return np.add.reduceat(filtered(steps, rows, clock)[1], rows.starts[:-1])


def smoothed(steps: Steps, rows: Rows, clock: Clock, lag: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """P(state | all rows, or those up to `lag` steps later), (rows, k); and log P(row | rows before)."""

    def fast() -> tuple[np.ndarray, np.ndarray]:
        alpha, share = _forward(steps, rows, clock)
        if lag is None:
            nothing = (np.zeros(steps.begun.size), _NO_FLOATS, _NO_FLOATS)
            _backward(steps, rows, np.ones(rows.starts.size - 1), alpha, share, *nothing, clock=clock)
            return _scaled(rows, alpha, share)
        gamma = np.empty_like(alpha)
        args = (*steps.layout, steps.flat, steps.which, steps.width, rows.like, rows.code, rows.starts)
        args = (*args, lag, alpha.reshape(-1), share, gamma.reshape(-1))
        _run("lagged", *args, steps=steps, rows=rows, clock=clock, more=lag)
        return _scaled(rows, gamma, share)

    def slow() -> tuple[np.ndarray, np.ndarray]:
        alpha, share = _forward_in_logs(steps, rows, clock)
        nothing = (np.zeros(steps.begun.size), _NO_FLOATS, _NO_FLOATS)
        heavy = np.ones(rows.starts.size - 1)
        gamma = _backward_in_logs(steps, rows, heavy, alpha, *nothing, clock=clock, lag=lag)
        return gamma, share

    return _either(fast, slow, steps, rows)


def expected(steps: Steps, rows: Rows, weight: np.ndarray, clock: Clock) -> Expected:
    """Expected counts, each sequence with its weight: the E-step."""
    coded = bool(rows.code.size)

    def sums() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        seen = np.zeros(rows.logs.size) if coded else _NO_FLOATS
        return np.zeros(steps.begun.size), np.zeros(steps.flat.size), seen

    def gathered(
        found: tuple[np.ndarray, np.ndarray, np.ndarray], gamma: np.ndarray, share: np.ndarray
    ) -> Expected:
        begun, counts, seen = found
        heavy: np.ndarray = np.repeat(weight, np.diff(rows.starts))[:, None]
        return Expected(
            begun.reshape(steps.start.shape),
            counts.reshape(steps.values.shape),
            seen.reshape(rows.logs.shape) if coded else gamma * heavy,
            np.add.reduceat(share, rows.starts[:-1]),
        )

    def fast() -> Expected:
        alpha, share = _forward(steps, rows, clock)
        found = sums()
        _backward(steps, rows, weight, alpha, share, *found, clock=clock)
        return gathered(found, *_scaled(rows, alpha, share))

    def slow() -> Expected:
        alpha, share = _forward_in_logs(steps, rows, clock)
        found = sums()
        gamma = _backward_in_logs(steps, rows, weight, alpha, *found, clock=clock)
        return gathered(found, gamma, share)

    return _either(fast, slow, steps, rows)


def best_paths(steps: Steps, rows: Rows, clock: Clock) -> tuple[np.ndarray, np.ndarray]:
    """The most probable path, a state for each row, and log P(path, rows) of each sequence."""
    longest = int(np.diff(rows.starts).max())
    path, value = np.empty(rows.n_rows, np.int32), np.empty(rows.starts.size - 1)
    start, values = steps.in_logs
    args = (start, steps.begin, *steps.layout, values, steps.which, steps.width, _logs(rows))
    args = (*args, rows.code, rows.starts, np.empty(longest * steps.k), path, value)
    _run_to_row("best_paths", *args, steps=steps, rows=rows, clock=clock, more=2)
    return path, value


def draw(steps: Steps, starts: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """States of new sequences, one after the other."""
    path = np.empty(int(starts[-1]), np.int32)
    uniform = random.random(path.size * len(steps.stages))
    LOOPS.walk(
        steps.begun,
        steps.begin,
        *steps.layout,
        steps.flat,
        steps.which,
        uniform,
        starts.astype(np.int64),
        path,
    )
    return path


def draw_given(
    steps: Steps, rows: Rows, many: int, random: np.random.Generator, clock: Clock
) -> list[np.ndarray]:
    """States of one sequence drawn from their posterior, `many` times."""

    def drawn(alpha: np.ndarray) -> list[np.ndarray]:
        found = []
        for _ in range(many):
            clock.check("drawing paths")
            path = np.empty(rows.n_rows, np.int32)
            args = (*steps.layout, steps.in_logs[1], steps.which, steps.width, alpha.reshape(-1))
            LOOPS.walk_back(*args, random.random(path.size), path)
            found.append(path)
        return found

    def fast() -> list[np.ndarray]:
        with np.errstate(divide="ignore"):
            return drawn(np.log(_forward(steps, rows, clock)[0]))

    def slow() -> list[np.ndarray]:
        return drawn(_forward_in_logs(steps, rows, clock)[0])

    return _either(fast, slow, steps, rows)


# --- running ------------------------------------------------------------------------------------------------


def _either(fast: Callable[[], _Found], slow: Callable[[], _Found], steps: Steps, rows: Rows) -> _Found:
    """Run in doubles where no state is lost, else in logarithms."""
    if not (steps.is_narrow or rows.is_narrow):
        try:
            return fast()
        except Narrow:
            pass
    return slow()


def _scaled(rows: Rows, alpha: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    log, shift = np.log(share), rows.shift_of()
    return alpha, log if shift is None else log + shift


def _logs(rows: Rows) -> np.ndarray:
    return np.ascontiguousarray(rows.logs, dtype=np.float64).reshape(-1)


def _forward(steps: Steps, rows: Rows, clock: Clock) -> tuple[np.ndarray, np.ndarray]:
    alpha, share = np.empty((rows.n_rows, steps.k)), np.empty(rows.n_rows)
    args = (
        steps.begun,
        steps.begin,
        *steps.layout,
        steps.flat,
        steps.which,
        steps.width,
        rows.like,
        rows.code,
    )
    args = (*args, rows.starts, alpha.reshape(-1), share)
    _run_to_row("forward", *args, steps=steps, rows=rows, clock=clock)
    return alpha, share


def _backward(
    steps: Steps,
    rows: Rows,
    weight: np.ndarray,
    alpha: np.ndarray,
    share: np.ndarray,
    *sums: np.ndarray,
    clock: Clock,
) -> None:
    args = (steps.begin, *steps.layout, steps.flat, steps.which, steps.width, rows.like, rows.code)
    args = (*args, rows.starts, weight, alpha.reshape(-1), share, *sums)
    _run("backward", *args, steps=steps, rows=rows, clock=clock, more=2)


def _forward_in_logs(steps: Steps, rows: Rows, clock: Clock) -> tuple[np.ndarray, np.ndarray]:
    alpha, share = np.empty((rows.n_rows, steps.k)), np.empty(rows.n_rows)
    start, values = steps.in_logs
    args = (start, steps.begin, *steps.layout, values, steps.which, steps.width, _logs(rows), rows.code)
    args = (*args, rows.starts, alpha.reshape(-1), share)
    _run_to_row("forward_in_logs", *args, steps=steps, rows=rows, clock=clock, more=10)
    return alpha, share


def _backward_in_logs(
    steps: Steps,
    rows: Rows,
    weight: np.ndarray,
    alpha: np.ndarray,
    *sums: np.ndarray,
    clock: Clock,
    lag: int | None = None,
) -> np.ndarray:
    gamma = np.empty_like(alpha)
    args = (steps.begin, *steps.layout, steps.in_logs[1], steps.which, steps.width, _logs(rows), rows.code)
    far = -1 if lag is None else lag
    args = (*args, rows.starts, weight, alpha.reshape(-1), far, *sums, gamma.reshape(-1))
    _run("backward_in_logs", *args, steps=steps, rows=rows, clock=clock, more=10 * (lag or 1))
    return gamma


def _run_to_row(name: str, *args: Any, steps: Steps, rows: Rows, clock: Clock, more: int = 1) -> None:
    """Run a loop that reports the row at which no state was left."""
    where = np.zeros(1, np.int64)
    try:
        _run(name, *args, where, steps=steps, rows=rows, clock=clock, more=more)
    except Impossible:
        raise ImpossibleStep(int(where[0])) from None


def _run(name: str, *args: Any, steps: Steps, rows: Rows, clock: Clock, more: int = 1) -> None:
    work = float(rows.n_rows) * steps.layout[3].size * max(more, 1)
    run(name, *args, steps=work, clock=clock, module=LOOPS)
