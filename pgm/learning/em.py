"""Expectation maximisation (Dempster, Laird & Rubin 1977): one loop for every model that uses it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from pgm.errors import InvalidArgument, OutOfTime, shown
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
            found, report, objective = _one(start(), expect, maximise, max_iter, tol, clock, what)
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
) -> tuple[_P, FitReport, float]:
    step = expect(parameters)
    logs = [step.log_likelihood]
    stopped = "max_iter"
    for iteration in range(max_iter):
        report_progress(iteration, max_iter, what)
        try:
            clock.check(what)
            raised = maximise(parameters, step.statistics, iteration + 1)
            next_step = expect(raised)
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
    report_progress(max_iter, max_iter, what)
    return parameters, FitReport(tuple(logs), stopped), step.objective
