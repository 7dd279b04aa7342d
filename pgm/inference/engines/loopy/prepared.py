"""Belief propagation as an engine: messages over states, or normal densities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgm.evidence import Observed
from pgm.inference.engines.gaussian.propagation import NormalMessages, normal_messages
from pgm.inference.engines.loopy import Loopy, propagation
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.engines.problem import Maximum, Problem, Solution
from pgm.inference.engines.reduced import ReducedMaxima, ReducedSums, reduced
from pgm.inference.program.reduction import Known
from pgm.runtime.clock import Clock


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class LoopyAnswers(ReducedSums, ReducedMaxima):
    """A model and its evidence, ready for belief propagation."""

    def run(self, problem: Problem) -> Solution:
        """Sum a reduced question."""
        return propagation.solve(problem, self.options, self.clock)

    def maximise(self, problem: Problem, clock: Clock) -> Maximum:
        """Find good states for a reduced question, and a bound."""
        return propagation.maximise(problem, self.options, clock)

    def known_for_maxima(self) -> Known:
        """The evidence, with likelihoods in place of the wanted marginals."""
        if not self.wanted:
            return self.known
        case = self.case(self.everything(), only_wanted=False)
        return self.with_likelihoods(case, self.solve(case))


def prepare(
    options: Loopy,
    compiled: ModelSnapshot,
    observed: Observed,
    about: Sequence[str] | None,
    clock: Clock,
    *,
    fit: bool = True,
) -> LoopyAnswers | NormalMessages:
    """Normal densities as messages if the question is only about continuous variables, else tables."""
    found = normal_messages(compiled, observed, about, options, clock)
    return found or reduced(LoopyAnswers, options, compiled, observed, clock)
