"""The choice of an engine when none is named: a clique tree; if none fits, the next engines in line.

Their `turns` say which these are, in which order, and why. Only proven answers count: nothing is approximated
unless the user asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from pgm.distributions.gaussian_statistics import GaussianStatistics
from pgm.errors import OutOfTime, TooLarge
from pgm.evidence import Observed
from pgm.inference.engines import Engine, after_the_tree, code_of
from pgm.inference.engines import prepare as prepare_engine
from pgm.inference.engines.auto import Auto
from pgm.inference.engines.by_position import make_posterior
from pgm.inference.engines.capabilities import Everything, Sums
from pgm.inference.engines.exact.posterior import Posterior
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.engines.naming import Explanation
from pgm.inference.engines.plan import Plan, has_turn, searched
from pgm.inference.engines.problem import BestStates
from pgm.inference.engines.wide_numbers import Wide
from pgm.inference.program import Program
from pgm.results import Assignment, Density, Distribution, Marginals, MaxMarginals, Report, Samples
from pgm.runtime.clock import Clock
from pgm.variables import VariableList

_Answer = TypeVar("_Answer")


def prepare(
    options: Auto,
    compiled: ModelSnapshot,
    observed: Observed,
    about: Sequence[str] | None,
    clock: Clock,
    *,
    fit: bool = True,
) -> Everything:
    """Prepare the exact engine, with a search to follow if no tree fits."""
    found = make_posterior(compiled, observed, clock, fit=fit, kind=AutoPosterior)
    others = after_the_tree("query", clock.limit is not None)
    if not others:
        return found

    def prepared(kind: type[Engine]) -> Sums:
        made: Sums = prepare_engine(kind(), compiled, observed, about, clock, fit=fit)
        return made

    return OrSearched(found, others, prepared, clock)


@dataclass(frozen=True, eq=False, slots=True)
class AutoPosterior(Posterior):
    """The exact engine; if no tree fits, another engine may find the maxima."""

    def explained(
        self, targets: Sequence[int] | None, k: int
    ) -> tuple[list[Explanation], Callable[[], Wide | None]]:
        """The k most probable states of the targets (None: of everything), and P(known)."""
        try:
            return Posterior.explained(self, targets, k)
        except TooLarge as refused:
            summed = targets is not None and len({*targets, *self.known.hard}) < self.program.n_named
            if summed or (k > 1 and refused.plan is None):  # a tree fits, but not this many answers
                raise
            others = after_the_tree("k_best" if k > 1 else "map", self.clock.limit is not None)
            engine, found = self._in_turn(others, k, None, refused)
        best = [Explanation(one.codes, one.value, self.report_of(engine, one.ties_broken)) for one in found]
        return [one.of(targets) for one in best], self.total_in_passing

    def _in_turn(
        self, others: Sequence[type[Engine]], k: int, allowed: np.ndarray | None, refused: TooLarge
    ) -> tuple[str, list[BestStates]]:
        """The first of these engines to find the best of the allowed states: its name, and the states."""
        for at, kind in enumerate(others, 1):

            def rest(allowed: np.ndarray, later: Sequence[type[Engine]] = others[at:]) -> _OfRest:
                try:
                    return None, self.best(None, 1, allowed)[0]
                except TooLarge as error:
                    engine, found = self._in_turn(later, 1, allowed, error)
                    return engine, found[0]

            found = code_of(kind.module).instead(self, k, allowed, rest, refused)
            if found is not None:
                answer: tuple[str, list[BestStates]] = found
                return answer
        raise refused


_OfRest = tuple[str | None, BestStates]


@dataclass(frozen=True, eq=False, slots=True)
class OrSearched:
    """The exact engine; where no tree fits and there are many zeros, a search takes its place."""

    exact: Everything
    others: tuple[type[Engine], ...]
    prepared: Callable[[type[Engine]], Sums]
    clock: Clock
    used: list[Sums] = field(default_factory=list)  # the engine that answered last, if it was a search

    @property
    def report(self) -> Report:
        """How the answers asked for so far were made."""
        return (self.used or [self.exact])[-1].report

    @property
    def doubtful(self) -> bool:
        """Exact engines always converge."""
        return self.exact.doubtful

    @property
    def program(self) -> Program:
        """The exact engine's program."""
        return self.exact.program

    def _asked(self, ask: Callable[[Sums], _Answer]) -> _Answer:
        try:
            return ask(self.exact)
        except TooLarge as refused:
            plan = refused.plan
            kind = next((k for k in self.others if isinstance(plan, Plan) and has_turn(k, plan)), None)
            if kind is None:
                raise
        self.used.append(self.prepared(kind))
        try:
            return ask(self.used[-1])
        except OutOfTime as late:
            raise OutOfTime(
                "No clique tree fits, and the search that was tried in its place did not end within the "
                f"time limit of {self.clock.limit:g} s. Allow more with pgm.set_config(time_limit=...), or "
                f"choose an approximate engine=.\n\n{plan!r}"
            ) from late

    def total(self) -> Wide:
        """The sum of the product of all factors with the evidence."""
        return self._asked(lambda one: one.total())

    def distribution(self, variables: VariableList, targets: Sequence[int]) -> Distribution | Density:
        """P(targets | known)."""
        return self._asked(lambda one: one.distribution(variables, targets))

    def every_marginal(self, variables: VariableList, targets: Sequence[int] | None) -> Marginals:
        """P(variable | known) for each target."""
        return self._asked(lambda one: one.every_marginal(variables, targets))

    def plan(self, question: str, targets: Sequence[int] | None) -> Plan:
        """The plan of a tree, or of the search that is tried instead."""
        plan = self.exact.plan(question, targets)
        return searched(plan, self.clock) if plan.searchable else plan

    def assignments(
        self,
        variables: VariableList,
        targets: Sequence[int] | None,
        k: int,
        observed: Observed,
        *,
        normalised: bool,
    ) -> list[Assignment]:
        """The k most probable, best first."""
        return self.exact.assignments(variables, targets, k, observed, normalised=normalised)

    def max_assignments(self, variables: VariableList, observed: Observed) -> MaxMarginals:
        """For each state, the most probable assignment that contains it."""
        return self.exact.max_assignments(variables, observed)

    def expected_statistics(self) -> tuple[dict[int, np.ndarray], dict[int, GaussianStatistics]]:
        """P(entry | known) for each entry of each factor's table, flat; the statistics of each density."""
        return self.exact.expected_statistics()

    def derivatives(self, *, zeros: bool) -> dict[int, np.ndarray]:
        """The derivative of log P(known) with respect to each entry of each factor's table, flat."""
        return self.exact.derivatives(zeros=zeros)

    def samples(self, variables: VariableList, n: int, rng: np.random.Generator) -> Samples:
        """Cases from P(all variables | known)."""
        return self.exact.samples(variables, n, rng)
