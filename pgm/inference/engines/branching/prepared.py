"""Moved costs, alone and with branch and bound, as engines."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pgm.errors import OutOfTime, TooLarge
from pgm.evidence import Observed
from pgm.inference.engines.branching import BranchAndBound, Srmp, branch_and_bound
from pgm.inference.engines.exact.posterior import Posterior, exactly
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.engines.naming import Explanation
from pgm.inference.engines.problem import BestStates, Maximum, Problem, Rest
from pgm.inference.engines.reduced import ANY, ReducedMaxima, below, reduced
from pgm.inference.engines.wide_numbers import Wide, log_of
from pgm.inference.program import SUMMED
from pgm.inference.program.reduction import Case, reduce_everything
from pgm.results import Report
from pgm.runtime.clock import Clock

_WORK = 3e8  # of a search without a time limit: a few seconds


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class BranchingMaxima(ReducedMaxima):
    """A model and its evidence, ready to be maximised."""

    def maximise(self, problem: Problem, clock: Clock) -> Maximum:
        """Find good states for a reduced question, and a bound."""
        return branch_and_bound.maximise(problem, self.options, clock)

    def explained(
        self, targets: Sequence[int] | None, k: int
    ) -> tuple[list[Explanation], Callable[[], Wide | None]]:
        """The k best states found, and P(known) if it is cheap."""
        if k == 1:
            return ReducedMaxima.explained(self, targets, k)
        ranked = [Explanation(codes, value, how, bound) for codes, value, bound, how in self.several(k)]
        return [one.of(targets) for one in ranked], exactly(self).total_in_passing

    def several(self, k: int) -> list[tuple[np.ndarray, Wide, float, Report]]:
        """The k best states found, best first: each with P(states, known) and a bound on its logarithm."""
        self.only_states(None)
        case = reduce_everything(self.program, self.known, self.clock)
        if (self.program.kinds[case.reduced.variables] == SUMMED).any():
            raise TooLarge(
                f'engine="{self.engine}" cannot rank several answers here: variables hidden inside gates '
                "such as pgm.NoisyOr are summed out. Ask for one answer with `map`, or observe more."
            )
        found = branch_and_bound.rank(self.problem(case, {}), k, self.options.seed, self.clock)
        assert found is not None  # its work is not limited
        at, made = exactly(self), []
        for states, bound, sure in zip(found.states, found.bounds, found.sure, strict=True):
            codes, value, _ = at.worth(case, states)
            log = log_of(value)
            said = found.report.advice if not sure else "" if found.ties_broken else ANY
            error = 0.0 if sure else below(bound, log)
            report = found.report.changed(exact=sure, error=error, advice=said)
            made.append((codes, value, log if sure else max(bound, log), report))
        return made


def prepare(
    options: Srmp | BranchAndBound,
    compiled: ModelSnapshot,
    observed: Observed,
    about: Sequence[str] | None,
    clock: Clock,
    *,
    fit: bool = True,
) -> BranchingMaxima:
    """Prepare this engine."""
    return reduced(BranchingMaxima, options, compiled, observed, clock)


def instead(
    at: Posterior, k: int, allowed: np.ndarray | None, rest: Rest, refused: TooLarge
) -> tuple[str, list[BestStates]] | None:
    """The search that "auto" tries, for the time limit or a few seconds; its result must be proven."""
    case = reduce_everything(at.program, at.known, at.clock, allowed)
    if (at.program.kinds[case.reduced.variables] == SUMMED).any():
        return None
    work = math.inf if at.clock.deadline else _WORK
    if k > 1:
        return _several(at, case, k, work)
    try:
        states = branch_and_bound.best_states(case, at.clock, work)
    except TooLarge:
        return None
    except OutOfTime:
        raise _late("The most probable states", at.clock, "a bound") from None
    if states is None:
        return None
    return BranchAndBound.name, [BestStates(*at.worth(case, states)[:2], ties_broken=False)]


def _several(at: Posterior, case: Case, k: int, work: float) -> tuple[str, list[BestStates]] | None:
    try:
        found = branch_and_bound.rank(Problem(case, {}, at.names, at.trees), k, 0, at.clock, work)
    except OutOfTime:
        found = None
    if found is not None and all(found.sure):
        several = [BestStates(*at.worth(case, states)[:2], found.ties_broken) for states in found.states]
        return BranchAndBound.name, several
    if at.clock.remaining() > 0.0:
        return None
    raise _late(f"The {k:,} most probable states", at.clock, "bounds")


def _late(what: str, clock: Clock, bound: str) -> OutOfTime:
    return OutOfTime(
        f"{what} were not proven within the time limit of {clock.limit:g} s: a clique tree is too large, and "
        "the search did not end. Allow more with pgm.set_config(time_limit=...), or ask with "
        f'engine="branch-and-bound" for the best found by then, with {bound}.'
    )
