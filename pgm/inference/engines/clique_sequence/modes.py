"""Two sequences of forests for one question: where they agree, and what to do where they do not.

Like loopy messages, forests may agree on one mode of a distribution that has several, and nothing that they
measure reveals it. Another order may find another mode. Each sequence gives the mass of its own mode.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pgm.inference.engines.loopy.propagation import wide_of
from pgm.inference.engines.problem import Problem, Solution
from pgm.inference.program.reduction import wide_multiply
from pgm.results import Report, merged

_APART = 0.5  # of a probability: two that differ by more belong to different modes
_CLOSE = 0.1  # two that differ by more do not confirm each other


class Calibrated(NamedTuple):
    """The result that the forests of one sequence agreed on."""

    singles: np.ndarray  # beliefs of single variables
    values: np.ndarray | None  # the answer to the question
    log_total: float
    report: Report


def solution(problem: Problem, first: Calibrated, second: Calibrated | None) -> Solution:
    """One answer from two, or from the only one."""
    found = first if second is None else _joined(first, second)

    def total() -> tuple[float, int]:
        return wide_multiply(problem.case.constant(), wide_of(found.log_total))

    return Solution(found.values, total, dict, found.report)


def _joined(first: Calibrated, second: Calibrated) -> Calibrated:
    """The first if the second confirms it; for two modes of one distribution, their mixture."""
    apart = float(np.abs(first.singles - second.singles).max(initial=0.0))
    both = first.report.residuals + second.report.residuals
    report = merged([first.report, second.report]).changed(residuals=both)
    if not (first.report.converged and second.report.converged):
        found = second if second.report.converged else first
        said = f"another order of the tables gave values up to {apart:.2g} apart; {found.report.advice}"
        return found._replace(report=report.changed(converged=False, error=apart, advice=said))
    if apart <= _APART:
        said = f"another order of the tables gave values up to {apart:.2g} apart; {first.report.advice}"
        if apart <= _CLOSE:
            said = first.report.advice
        return first._replace(report=report.changed(converged=apart <= _CLOSE, error=apart, advice=said))
    top = max(first.log_total, second.log_total)
    share = np.exp([first.log_total - top, second.log_total - top])
    log_total = top + math.log(float(share.sum()))
    share /= share.sum()
    said = (
        f"two orders of the tables found different parts of the distribution, of {share[0]:.3g} and "
        f"{share[1]:.3g} of their joint mass, and there may be more; this is their mixture. Compare "
        f'engine="bounds"; {first.report.advice}'
    )

    def mixed(a: np.ndarray | None, b: np.ndarray | None) -> np.ndarray | None:
        return None if a is None or b is None else share[0] * a + share[1] * b

    singles = share[0] * first.singles + share[1] * second.singles
    report = report.changed(converged=False, error=apart, advice=said, modes=2)
    return Calibrated(singles, mixed(first.values, second.values), log_total, report)
