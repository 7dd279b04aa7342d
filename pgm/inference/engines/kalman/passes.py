"""Filters and smooths many series; those with the same gaps share their covariances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from pgm.results import Matrices
from pgm.runtime import buffers
from pgm.runtime.clock import Clock, start_clock

from . import adjoint, diffuse
from .arrays import Steps, looped
from .schedule import Schedule, Series

_MOST_ROWS = 1 << 24  # floats kept for the backward pass, where there is room


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """The states of one series: predicted, filtered and, if asked for, smoothed."""

    predicted: np.ndarray  # (T, n) means given the observations before
    predicted_later: Callable[[], Matrices] | None  # their covariances; None unless asked for
    filtered: np.ndarray  # (T, n) means given also the present observation
    filtered_covariance: Matrices | None
    log: np.ndarray  # (T,) each step's term of the log density
    bad: int = -1  # a step with an entry that contradicts a certain prediction; -1: none
    smoothed: np.ndarray | None = None  # (T, n) means given all observations
    smoothed_covariance: Matrices | None = None
    back: Matrices | None = None  # the regression of x[t] on x[t+1], given the observations up to t
    cross: np.ndarray | None = None  # Cov(x[t], x[t+1]) given all, where `back` does not give it
    finite: bool = False  # all results are known to be finite: checked for many series at once

    @property
    def predicted_covariance(self) -> Matrices | None:
        """The predicted covariances, which are computed at this moment."""
        return None if self.predicted_later is None else self.predicted_later()

    def lag_one(self) -> np.ndarray:
        """The covariance of each state (rows) with the next (columns), smoothed: (T - 1, n, n)."""
        if self.cross is not None:
            return self.cross
        assert self.back is not None
        assert self.smoothed_covariance is not None
        J, P = self.back, self.smoothed_covariance
        return np.asarray(J.distinct[J.at] @ P.distinct[P.at[1:]])


@dataclass(frozen=True, slots=True, eq=False)
class _Pattern:
    """The covariances of all series with the same observed entries."""

    steps: Steps
    decorrelation: np.ndarray | None  # see `Schedule.steps`
    slot: np.ndarray  # (T,) the row of the tables below that each step uses
    predicted: np.ndarray  # factors U and D
    filtered: np.ndarray
    gains: np.ndarray
    variances: np.ndarray
    rows: np.ndarray  # orthogonal rows, of each slot if the backward pass needs them
    led: np.ndarray  # the move that they belong to
    taken: tuple[np.ndarray, ...]  # the buffers behind these tables, to be given back


def run(
    schedules: Sequence[Schedule],
    series: Sequence[Series],
    *,
    covariances: bool = True,
    smooth: bool = False,
    clock: Clock | None = None,
) -> list[Run]:
    """Filter every series, and smooth it if asked.

    Args:
        schedules: the matrices for each series; covariances of the same object are computed once.
        series: their observations.
        covariances: whether the covariances of the filter are wanted too.
        smooth: whether to smooth as well.
        clock: the clock of the question; a new one if left out.
    """
    clock = clock or start_clock()
    groups: dict[tuple[int, bytes], list[int]] = {}
    for i, (schedule, each) in enumerate(zip(schedules, series, strict=True)):
        groups.setdefault((id(schedule), np.isnan(each.y).tobytes()), []).append(i)
    found: list[Any] = [None] * len(series)
    for members in groups.values():
        some = [series[i] for i in members]
        together = _pattern_run(schedules[members[0]], some, covariances, smooth, clock)
        for i, one in zip(members, together, strict=True):
            found[i] = one
    return found


def _covariances(
    schedule: Schedule, seen: np.ndarray, clock: Clock, start: np.ndarray | None = None, *, back: bool = False
) -> _Pattern:
    steps, decorrelation = schedule.steps(seen)
    if start is not None:
        steps = steps._replace(start=start)
    T, m, n = schedule.shape
    slot = np.empty(T, np.int64)
    width = n + steps.weights.shape[1]
    back = back and T * n * width <= _MOST_ROWS
    kept = T * n * width if back else n * width
    *taken, last = [buffers.take(size) for size in (T * n * n, T * n * n, T * m * n, T * m, kept)]
    tables = [each.reshape(T, -1) for each in taken]
    rows, led = last.reshape(-1, width), np.empty(T if back else 0, np.int64)
    found = np.empty(1, np.int64)
    looped(
        "forward",
        steps,
        slot,
        *tables,
        rows,
        led,
        found,
        steps=T * n * n * (m + n + steps.weights.shape[1]),
        clock=clock,
    )
    count = int(found[0])
    predicted, filtered, gains, variances = (each[:count] for each in tables)
    everything = (*taken, last)
    return _Pattern(steps, decorrelation, slot, predicted, filtered, gains, variances, rows, led, everything)


def _predicted(schedule: Schedule, seen: np.ndarray) -> Matrices:
    """The predicted covariances, computed again: few read them, and keeping large tables costs more."""
    clock = start_clock()
    p = _covariances(schedule, seen, clock)
    try:
        return Matrices(_multiplied(p.predicted, schedule.shape[2], clock), p.slot)
    finally:
        for each in p.taken:
            buffers.give(each)


def _first(rows: np.ndarray, count: int) -> np.ndarray:
    """The first rows, copied if the others take most of the memory."""
    return rows[:count].copy() if count < len(rows) // 2 else rows[:count]


def _multiplied(factors: np.ndarray, n: int, clock: Clock) -> np.ndarray:
    out = np.empty_like(factors)
    looped("multiplied", factors, out, steps=factors.size * n, clock=clock)
    return out.reshape(-1, n, n)


def _means(
    p: _Pattern, y: np.ndarray, pushes: np.ndarray, first: np.ndarray, clock: Clock
) -> tuple[Any, ...]:
    """Predicted and filtered means, innovations, logs and the first bad row, of concatenated series."""
    rows, m = y.shape
    n, T = first.shape[1], p.slot.size
    made = [np.empty((rows, n)), np.empty((rows, n)), np.empty((rows, m)), np.empty((len(first), T))]
    found = np.empty(1, np.int64)
    args = (p.steps, p.slot, p.gains, p.variances, pushes, y, first, *made, found)
    looped("means", *args, steps=rows * n * (n + 2 * m), clock=clock)
    return *made, int(found[0])


def _decorrelated(p: _Pattern, y: np.ndarray) -> np.ndarray:
    """Observations transformed so that the noise of their entries is independent."""
    if p.decorrelation is None:
        return y
    found = p.decorrelation[np.tile(p.steps.look, len(y) // p.slot.size)] @ np.nan_to_num(y)[:, :, None]
    return np.asarray(found[:, :, 0])


def _pattern_run(
    schedule: Schedule, series: list[Series], covariances: bool, smooth: bool, clock: Clock
) -> list[Run]:
    """The runs of series with the same observed entries."""
    p = _covariances(schedule, ~np.isnan(series[0].y), clock, back=smooth)
    try:
        return _runs(p, schedule, series, covariances, smooth, clock)
    finally:
        for each in p.taken:
            buffers.give(each)


def _runs(
    p: _Pattern, schedule: Schedule, series: list[Series], covariances: bool, smooth: bool, clock: Clock
) -> list[Run]:
    T, m, n = schedule.shape
    y = np.concatenate([each.y for each in series]) if len(series) > 1 else series[0].y
    y = np.ascontiguousarray(y)
    y = _decorrelated(p, y)
    pushes = [each.pushes for each in series if each.pushes is not None]
    pushed = np.ascontiguousarray(np.concatenate(pushes)) if pushes else np.empty((0, n))
    first = np.tile(schedule.mean, (len(series), 1))
    predicted, filtered, innovations, log, bad = _means(p, y, pushed, first, clock)
    seen, diffuse_start = ~np.isnan(series[0].y), bool(schedule.diffuse.any())
    later, known = None, None
    if covariances:
        known = Matrices(_multiplied(p.filtered, n, clock), p.slot)
        if diffuse_start:
            here = Matrices(_multiplied(p.predicted, n, clock), p.slot)
            later = lambda: here  # noqa: E731
        else:
            later = cache(lambda: _predicted(schedule, seen))
    link, back = np.empty(max(T - 1, 0), np.int64), np.empty((T, n * n))
    smoothed, table, behind, cross, grown = None, None, None, None, False
    if smooth:
        index, both = np.empty(T, np.int64), np.empty(2, np.int64)
        taken = [buffers.take(size) for size in ((T + 1) * n * n, T * n * n, T * n)]
        matrices, left, weights = (
            part.reshape(-1, width) for part, width in zip(taken, (n * n, n * n, n), strict=True)
        )
        args = (p.steps, p.slot, p.predicted, p.filtered, p.rows, p.led, link, back)
        try:
            looped(
                "backward", *args, left, weights, index, matrices, both,
                steps=T * n * n * (4 * n + 2 * p.steps.weights.shape[1]), clock=clock,
            )  # fmt: skip
            links, count = both.tolist()
            table = Matrices(_multiplied(matrices[:count], n, clock), index)
        finally:
            for part in taken:
                buffers.give(part)
        behind = Matrices(_first(back, links).reshape(-1, n, n), link)
        smoothed = np.empty_like(filtered)
        looped(
            "means_back", link, back, predicted, filtered, smoothed, T, steps=filtered.size * n, clock=clock
        )
        grown = adjoint.grows(p.steps, behind.distinct, behind.at)
        if grown:
            after = _multiplied(p.filtered, n, clock)
            given = (p.steps, p.slot, p.predicted, after, p.gains, p.variances)
            smoothed, full, cross = adjoint.smoothed(*given, predicted, innovations, clock)
            table = Matrices(full, np.arange(T))
    finite = bool(np.isfinite(log.sum()) and np.isfinite(filtered.sum()) and not diffuse_start)
    finite = finite and (table is None or bool(np.isfinite(table.distinct.sum())))
    finite = finite and (known is None or bool(np.isfinite(known.distinct.sum())))
    found = []
    for i in range(len(series)):
        own = slice(i * T, (i + 1) * T)
        found.append(
            Run(
                predicted[own],
                later,
                filtered[own],
                known,
                log[i],
                bad - i * T if bad >= 0 and i * T <= bad < (i + 1) * T else -1,
                None if smoothed is None else smoothed[own],
                table,
                behind,
                cross,
                finite=finite,
            )
        )
    if diffuse_start:
        k = int(schedule.diffuse.sum())
        columns = np.eye(n)[schedule.diffuse]
        still = np.zeros((k * T, m))
        each = _means(p, still, np.empty((0, n)), np.ascontiguousarray(columns), clock)
        spread = None
        if grown:
            spread = adjoint.smoothed(*given, each[0], each[2], clock)[0]
        elif smooth:
            spread = np.empty_like(each[1])
            looped("means_back", link, back, each[0], each[1], spread, T, steps=spread.size * n, clock=clock)
        of_columns = diffuse.Columns.of(each[0], each[1], spread, each[2], k)
        found = [
            diffuse.known(one, of_columns, innovations[i * T : (i + 1) * T], p.variances, p.slot, clock)[0]
            for i, one in enumerate(found)
        ]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Carried:
    """What a filter carries from the steps it has seen to those to come."""

    mean: np.ndarray  # (n,) of the last state, given all observations so far
    factors: np.ndarray  # (n * n,) of its covariance
    columns: np.ndarray | None = None  # (k, n) what a unit of each unknown start adds to the mean
    known: np.ndarray | None = None  # the state of the equations for these unknowns


def run_on(schedule: Schedule, series: Series, before: Carried | None, clock: Clock) -> tuple[Run, Carried]:
    """Filter more steps of one series: the same results as for the whole series at once.

    Args:
        schedule: the last step that was filtered, and the new ones; at the beginning the new ones alone.
        series: observations of these steps; after the beginning, none in the first, whose state is `before`.
        before: what the run before returned; None at the beginning.
        clock: the clock of the question.
    """
    p = _covariances(schedule, ~np.isnan(series.y), clock, None if before is None else before.factors)
    try:
        n, k = schedule.shape[2], int(schedule.diffuse.sum())
        pushes = np.empty((0, n)) if series.pushes is None else np.ascontiguousarray(series.pushes)
        y = _decorrelated(p, np.ascontiguousarray(series.y))
        first = schedule.mean if before is None else before.mean
        predicted, filtered, innovations, log, bad = _means(p, y, pushes, first[None].copy(), clock)
        tables = [Matrices(_multiplied(each, n, clock), p.slot) for each in (p.predicted, p.filtered)]
        run = Run(predicted, lambda: tables[0], filtered, tables[1], log[0], bad)
        mean, factors = filtered[-1].copy(), p.filtered[p.slot[-1]].copy()
        if not k:
            return run, Carried(mean, factors)
        columns = np.eye(n)[schedule.diffuse]
        if before is not None and before.columns is not None:
            columns = before.columns
        each = _means(p, np.zeros((k * len(y), y.shape[1])), np.empty((0, n)), columns, clock)
        of_columns = diffuse.Columns.of(each[0], each[1], None, each[2], k)
        prior = None if before is None else before.known
        run, known = diffuse.known(run, of_columns, innovations, p.variances, p.slot, clock, prior)
        return run, Carried(mean, factors, of_columns.filtered[-1].T.copy(), known)
    finally:
        for one in p.taken:
            buffers.give(one)
