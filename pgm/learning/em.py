"""Expectation maximisation (Dempster, Laird & Rubin 1977): the one loop of every model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from pgm.errors import ImpossibleEvidence, InvalidArgument, OutOfTime, shown
from pgm.results.fit_report import FitReport
from pgm.runtime.clock import Clock
from pgm.runtime.progress import report as report_progress

_P = TypeVar("_P")
_S = TypeVar("_S")
_ROUNDING = 1e-10  # how far a log-likelihood may fall, relative to its size, by rounding alone


class Collapsed(InvalidArgument):
    """The likelihood is unbounded along this path: a density shrinks to a point."""


@dataclass(frozen=True)
class Step(Generic[_S]):
    """The result of an E-step: the log-likelihood, its sum with the log prior, and expected statistics."""

    log_likelihood: float
    objective: float
    statistics: _S


def climb(
    starts: Sequence[Callable[[], _P]],
    expect: Callable[[_P], Step[_S]],
    maximise: Callable[[_P, _S, int], _P],
    *,
    max_iter: int,
    tol: float,
    clock: Clock,
    what: str = "EM",
    stride: Callable[[_P, _P, _P], _P | None] | None = None,
    glance: Callable[[_P], Step[_S]] | None = None,
) -> tuple[_P, list[FitReport], int]:
    """Climb from each start; return the best parameters, the report of each start, and which was best.

    Args:
        starts: functions, each of which makes initial parameters.
        expect: the E-step.
        maximise: the M-step; it also takes the iteration number, for messages.
        max_iter: the largest number of M-steps.
        tol: converged when a step gains no more than this, relative to the log-likelihood.
        clock: at its limit the best so far is kept, marked as not converged.
        what: the label of the progress report.
        stride: where three parameters in a row lead, or None; a stride is taken if it leads higher.
        glance: an E-step of which the statistics are not needed.
    """
    if isinstance(max_iter, bool) or not isinstance(max_iter, int | np.integer) or max_iter < 1:
        raise InvalidArgument(f"max_iter= is a whole number of at least 1, not {shown(max_iter)}.")
    if isinstance(tol, bool) or not isinstance(tol, int | float) or not tol >= 0.0:
        raise InvalidArgument(f"tol= is a number that is not negative, not {shown(tol)}.")
    best: tuple[float, int, _P] | None = None
    reports: list[FitReport] = []
    failed: Collapsed | None = None
    for number, start in enumerate(starts):
        try:
            found, report, objective = _one(
                start(), expect, maximise, max_iter, tol, clock, what, stride, glance or expect
            )
        except OutOfTime:
            if best is None:
                raise
            break
        except Collapsed as error:  # another start may do better
            failed = failed or error
            reports.append(FitReport((-np.inf,), "collapsed"))
            continue
        reports.append(report)
        if best is None or objective > best[0]:
            best = objective, number, found
        if report.stopped_by == "time limit":
            break
    if best is None:
        assert failed is not None
        raise failed
    return best[2], reports, best[1]


def _one(
    parameters: _P,
    expect: Callable[[_P], Step[_S]],
    maximise: Callable[[_P, _S, int], _P],
    max_iter: int,
    tol: float,
    clock: Clock,
    what: str,
    stride: Callable[[_P, _P, _P], _P | None] | None,
    glance: Callable[[_P], Step[_S]],
) -> tuple[_P, FitReport, float]:
    step = expect(parameters)
    logs = [step.log_likelihood]
    stopped = "max_iter"
    way = [parameters]  # since the last stride
    for iteration in range(max_iter):
        report_progress(iteration, max_iter, what)
        try:
            clock.check(what)
            raised = maximise(parameters, step.statistics, iteration + 1)
            next_step = (glance if len(logs) == max_iter else expect)(raised)
        except OutOfTime:
            stopped = "time limit"
            break
        gain = next_step.objective - step.objective
        if gain < 0.0 and -gain <= _ROUNDING * (1.0 + abs(step.objective)):
            stopped = "tol"  # only rounding is left: the previous parameters are as good
            break
        parameters, step = raised, next_step
        logs.append(step.log_likelihood)
        if gain <= tol * (1.0 + abs(step.objective)):
            stopped = "tol"
            break
        way.append(parameters)
        if stride is not None and len(way) == 3 and len(logs) <= max_iter:
            try:
                parameters, step = _strode(stride(way[0], way[1], way[2]), expect, parameters, step)
            except OutOfTime:
                stopped = "time limit"
                break
            if parameters is not way[2]:
                logs.append(step.log_likelihood)
            way = [parameters]
        if len(logs) > max_iter:
            break
    report_progress(max_iter, max_iter, what)
    return parameters, FitReport(tuple(logs), stopped), step.objective


def _strode(
    far: _P | None, expect: Callable[[_P], Step[_S]], near: _P, step: Step[_S]
) -> tuple[_P, Step[_S]]:
    """Far away if it is higher there, else where two plain steps led."""
    if far is not None:
        try:
            there = expect(far)
        except (Collapsed, ImpossibleEvidence):
            return near, step
        if there.objective >= step.objective:
            return far, there
    return near, step


def strides(first: np.ndarray, second: np.ndarray, third: np.ndarray) -> Iterator[np.ndarray]:
    """Where three points in a row lead, the farthest first, each next half as far beyond what they are.

    The length is that of SQUAREM (Varadhan & Roland 2008); there is none where they lead no farther.
    """
    step = second - first
    bend = (third - second) - step
    size, bent = float(np.linalg.norm(step)), float(np.linalg.norm(bend))
    far = size / bent if bent > 0.0 else 0.0
    while far > 1.0 + 1e-3:
        yield first + 2.0 * far * step + far * far * bend
        far = 1.0 + (far - 1.0) / 2.0 if far > 2.0 else 0.0
