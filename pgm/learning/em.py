"""Expectation maximisation (Dempster, Laird & Rubin 1977): the one loop of every model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from pgm.config import config
from pgm.errors import ImpossibleEvidence, InvalidArgument, OutOfTime, shown
from pgm.results.fit_report import FitReport
from pgm.runtime import threads
from pgm.runtime.clock import Clock
from pgm.runtime.progress import report as report_progress

_P = TypeVar("_P")
_S = TypeVar("_S")
_LONG = 1.0  # seconds: how long a start takes is not known, and a thread costs little
_ROUNDING = 1e-10  # how far a log-likelihood may fall, relative to its size, by rounding alone


class Collapsed(InvalidArgument):
    """The likelihood is unbounded along this path: a density collapses to a point."""


@dataclass(frozen=True)
class EStep(Generic[_S]):
    """The result of an E-step: the log-likelihood, its sum with the log prior, and expected statistics."""

    log_likelihood: float
    objective: float
    statistics: _S


def climb(
    starts: Sequence[Callable[[], _P]],
    expect: Callable[[_P], EStep[_S]],
    maximise: Callable[[_P, _S, int], _P],
    *,
    max_iter: int,
    tol: float,
    clock: Clock,
    what: str = "EM",
    stride: Callable[[_P, _P, _P], _P | None] | None = None,
    glance: Callable[[_P], EStep[_S]] | None = None,
    together: bool = False,
) -> tuple[_P, list[FitReport], int]:
    """Run EM from each start; return the best parameters, the report of each start, and which was best.

    Args:
        starts: functions, each of which returns initial parameters.
        expect: the E-step.
        maximise: the M-step; it also takes the iteration number, for messages.
        max_iter: the largest number of M-steps.
        tol: converged when a step gains no more than this, relative to the log-likelihood.
        clock: at its limit the best so far is kept, marked as not converged.
        what: the label of the progress report.
        stride: extrapolates three successive parameters, or None; the result is kept if it is better.
        glance: an E-step that computes no statistics, for the last iteration.
        together: several starts may run at the same time: the steps share no state.
    """
    if isinstance(max_iter, bool) or not isinstance(max_iter, int | np.integer) or max_iter < 1:
        raise InvalidArgument(f"max_iter= is a whole number of at least 1, not {shown(max_iter)}.")
    if isinstance(tol, bool) or not isinstance(tol, int | float) or not tol >= 0.0:
        raise InvalidArgument(f"tol= is a number that is not negative, not {shown(tol)}.")
    ended: dict[int, tuple[_P, FitReport, float] | Collapsed] = {}

    def climbs(start: int) -> None:
        try:
            ended[start] = _one(
                starts[start](), expect, maximise, max_iter, tol, clock, what, stride, glance or expect
            )
        except Collapsed as error:  # another start may do better
            ended[start] = error

    late: OutOfTime | None = None
    try:
        if together and len(starts) > 1:
            _all_at_once(climbs, len(starts), clock)
        else:
            for start in range(len(starts)):
                climbs(start)
                if isinstance(done := ended[start], tuple) and done[1].stopped_by == "time limit":
                    break
    except OutOfTime as error:
        late = error
    best: tuple[float, int, _P] | None = None
    reports: list[FitReport] = []
    for _, one in sorted(ended.items()):
        if isinstance(one, Collapsed):
            reports.append(FitReport((-np.inf,), "collapsed"))
            continue
        if best is None or one[2] > best[0]:
            best = one[2], len(reports), one[0]
        reports.append(one[1])
    if best is None:
        raise late or next(error for error in ended.values() if isinstance(error, Collapsed))
    return best[2], reports, best[1]


def _all_at_once(climbs: Callable[[int], None], many: int, clock: Clock) -> None:
    """Run EM from all starts on as many threads as pgm.config allows; only their total reports progress."""

    def task(start: int) -> threads.Task:
        def work(stop: np.ndarray) -> None:
            with config(progress=False):
                climbs(start)

        return threads.Task(work, _LONG)

    threads.run_all(map(task, range(many)), clock)


def _one(
    parameters: _P,
    expect: Callable[[_P], EStep[_S]],
    maximise: Callable[[_P, _S, int], _P],
    max_iter: int,
    tol: float,
    clock: Clock,
    what: str,
    stride: Callable[[_P, _P, _P], _P | None] | None,
    glance: Callable[[_P], EStep[_S]],
) -> tuple[_P, FitReport, float]:
    step = expect(parameters)
    logs = [step.log_likelihood]
    stopped = "max_iter"
    way = [parameters]  # since the last extrapolation
    for iteration in range(max_iter):
        report_progress(iteration, max_iter, what)
        try:
            clock.check(what)
            raised = maximise(parameters, step.statistics, iteration + 1)
            next_step = (glance if len(logs) == max_iter else expect)(raised)
        except (OutOfTime, threads.Stopped):
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
                parameters, step = _extrapolated(stride(way[0], way[1], way[2]), expect, parameters, step)
            except (OutOfTime, threads.Stopped):
                stopped = "time limit"
                break
            if parameters is not way[2]:
                logs.append(step.log_likelihood)
            way = [parameters]
        if len(logs) > max_iter:
            break
    report_progress(max_iter, max_iter, what)
    return parameters, FitReport(tuple(logs), stopped), step.objective


def _extrapolated(
    far: _P | None, expect: Callable[[_P], EStep[_S]], near: _P, step: EStep[_S]
) -> tuple[_P, EStep[_S]]:
    """The extrapolation if it is better, else the result of two plain steps."""
    if far is not None:
        try:
            there = expect(far)
        except (Collapsed, ImpossibleEvidence):
            return near, step
        if there.objective >= step.objective:
            return far, there
    return near, step


def strides(first: np.ndarray, second: np.ndarray, third: np.ndarray) -> Iterator[np.ndarray]:
    """Extrapolations of three successive points, the farthest first, each of the next half as far.

    The length of the first is that of SQUAREM (Varadhan & Roland 2008); there are none where the points do
    not advance.
    """
    step = second - first
    bend = (third - second) - step
    size, bent = float(np.linalg.norm(step)), float(np.linalg.norm(bend))
    far = size / bent if bent > 0.0 else 0.0
    while far > 1.0 + 1e-3:
        yield first + 2.0 * far * step + far * far * bend
        far = 1.0 + (far - 1.0) / 2.0 if far > 2.0 else 0.0
