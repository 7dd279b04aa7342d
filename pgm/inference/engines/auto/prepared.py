"""Who answers when nobody is named: a tree of cliques; where none fits minimum cuts, or a search.

One best assignment is sought by a tree; by minimum cuts, then a tree for what they leave, or a search. The k
best: by a tree; a search. Sums: by a tree; a search where there is a time limit and many tables have zeros.
All of these are exact: nothing is approximated unless somebody asks for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from pgm.distributions.gaussian_statistics import GaussianStatistics
from pgm.errors import OutOfTime, TooLarge
from pgm.evidence import Observed
from pgm.inference.engines.auto import Auto
from pgm.inference.engines.branching import BranchAndBound, branch_and_bound
from pgm.inference.engines.by_position import make_posterior
from pgm.inference.engines.capabilities import Everything, Sums
from pgm.inference.engines.cuts import multilevel
from pgm.inference.engines.cuts.prepared import Rest, by_cuts, tree_of
from pgm.inference.engines.exact.posterior import Posterior
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.engines.naming import Explanation
from pgm.inference.engines.plan import Plan, searched
from pgm.inference.engines.problem import Problem
from pgm.inference.engines.search import Search
from pgm.inference.engines.search.prepared import prepare as by_search
from pgm.inference.engines.wide import Wide
from pgm.inference.program import SUMMED, Program
from pgm.results import Assignment, Density, Distribution, Marginals, MaxMarginals, Report, Samples
from pgm.runtime.clock import Clock
from pgm.variables import VariableList

_SEARCH_WORK = 3e8  # of a search without a time limit: some seconds
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
    """Ready to be asked; under a time limit sums may be searched."""
    found = make_posterior(compiled, observed, clock, fit=fit, kind=AutoPosterior)
    if clock.limit is None:
        return found

    def search() -> Sums:
        return by_search(Search(), compiled, observed, about, clock, fit=fit)

    return OrSearched(found, search, clock)


@dataclass(frozen=True, eq=False, slots=True)
class AutoPosterior(Posterior):
    """The exact engine, whose maxima may be had by cuts or a search where no tree fits."""

    def explained(
        self, targets: Sequence[int] | None, k: int
    ) -> tuple[list[Explanation], Callable[[], Wide | None]]:
        """The k most probable states of the targets (None: of everything), and P(known)."""
        try:
            return Posterior.explained(self, targets, k)
        except TooLarge as refused:
            summed = targets is not None and len({*targets, *self.known.hard}) < self.program.n_named
            if summed or (k > 1 and refused.plan is None):  # a tree fits, not so many answers
                raise
            found = ranked(self, k, refused) if k > 1 else [by_cuts(self, _rest_of(self), refused.plan, True)]
            return [one.of(targets) for one in found], self.total_in_passing


@dataclass(frozen=True, eq=False, slots=True)
class OrSearched:
    """The exact engine, with a search in place of a tree that does not fit where there are many zeros."""

    exact: Everything
    search: Callable[[], Sums]
    clock: Clock
    used: list[Sums] = field(default_factory=list)  # who answered last, if it was the search

    @property
    def report(self) -> Report:
        """How the answers asked for so far were made."""
        return (self.used or [self.exact])[-1].report

    @property
    def doubtful(self) -> bool:
        """Exact engines come to rest."""
        return self.exact.doubtful

    @property
    def program(self) -> Program:
        """Of the exact engine."""
        return self.exact.program

    def _asked(self, ask: Callable[[Sums], _Answer]) -> _Answer:
        try:
            return ask(self.exact)
        except TooLarge as refused:
            if not (isinstance(refused.plan, Plan) and refused.plan.searchable):
                raise
            plan = refused.plan
        self.used.append(self.search())
        try:
            return ask(self.used[-1])
        except OutOfTime as late:
            raise OutOfTime(
                "No tree of cliques fits, and the search that was tried in its place did not end within the "
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
        """P(variable | known) of each."""
        return self._asked(lambda one: one.every_marginal(variables, targets))

    def plan(self, question: str, targets: Sequence[int] | None) -> Plan:
        """What a tree takes, or that a search is tried."""
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
        """Of each state the most probable assignment that has it."""
        return self.exact.max_assignments(variables, observed)

    def expected_statistics(self) -> tuple[dict[int, np.ndarray], dict[int, GaussianStatistics]]:
        """For each factor its table of P(entry | known), flat; and the statistics of each density."""
        return self.exact.expected_statistics()

    def derivatives(self) -> dict[int, np.ndarray]:
        """For each factor the derivative of log P(known) by each entry of its table, flat."""
        return self.exact.derivatives()

    def samples(self, variables: VariableList, n: int, rng: np.random.Generator) -> Samples:
        """Cases from P(all variables | known)."""
        return self.exact.samples(variables, n, rng)


def _rest_of(posterior: Posterior) -> Rest:
    """What cuts leave, by a tree, or by a search where that is too large."""
    tree = tree_of(posterior)

    def rest(allowed: np.ndarray) -> tuple[str, multilevel.Found]:
        try:
            return tree(allowed)
        except TooLarge:
            found = by_branching(posterior, allowed)
            if found is None:
                raise
            return BranchAndBound.name, found

    return rest


def by_branching(posterior: Posterior, allowed: np.ndarray) -> multilevel.Found | None:
    """By branch and bound, until the time limit, or without one some seconds; None if that is too short."""
    program, clock = posterior.program, posterior.clock
    case = multilevel.reduce_everything(program, posterior.known, clock, allowed)
    if (program.kinds[case.reduced.variables] == SUMMED).any():
        return None
    try:
        states = branch_and_bound.best_states(case, clock, math.inf if clock.deadline else _SEARCH_WORK)
    except TooLarge:
        return None
    except OutOfTime:
        raise OutOfTime(
            f"The most probable states were not found for sure within the time limit of {clock.limit:g} s: a "
            "tree of cliques is too large, and the search has not ended. Allow more with "
            'pgm.set_config(time_limit=...), or ask with engine="branch-and-bound" for the best found by '
            "then, with a bound."
        ) from None
    if states is None:
        return None
    return multilevel.Found(*posterior.worth(case, states)[:2], settled=False)


def ranked(posterior: Posterior, k: int, refused: TooLarge) -> list[Explanation]:
    """The k best by branch and bound, until the time limit, or without one some seconds."""
    program, clock = posterior.program, posterior.clock
    case = multilevel.reduce_everything(program, posterior.known, clock)
    if (program.kinds[case.reduced.variables] == SUMMED).any():
        raise refused
    problem = Problem(case, {}, posterior.names, posterior.trees)
    try:
        found = branch_and_bound.rank(problem, k, 0, clock, math.inf if clock.deadline else _SEARCH_WORK)
    except OutOfTime:
        found = None
    if found is not None and all(found.sure):
        report = posterior.report_of(BranchAndBound.name, found.settled)
        several = [posterior.worth(case, states)[:2] for states in found.states]
        return [Explanation(codes, value, report) for codes, value in several]
    if clock.remaining() > 0.0:
        raise refused
    raise OutOfTime(
        f"The {k:,} most probable states were not found for sure within the time limit of {clock.limit:g} s: "
        "a tree of cliques is too large, and the search has not ended. Allow more with "
        'pgm.set_config(time_limit=...), or ask with engine="branch-and-bound" for the best found by then, '
        "with bounds."
    )
