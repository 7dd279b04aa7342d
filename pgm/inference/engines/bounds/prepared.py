"""Weighted mini-buckets as an engine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pgm.config import current
from pgm.errors import OutOfTime, TooLarge
from pgm.evidence import Observed
from pgm.inference.engines.bounds import Bounds
from pgm.inference.engines.bounds.mini_buckets import maximise, outline, solve
from pgm.inference.engines.exact.posterior import Posterior, exactly
from pgm.inference.engines.loopy import propagation
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.engines.naming import Explanation
from pgm.inference.engines.plan import Plan
from pgm.inference.engines.problem import Maximum, Problem, Solution, none_possible
from pgm.inference.engines.reduced import ANY, ROUNDING, ReducedMaxima, ReducedSums, below, reduced
from pgm.inference.engines.table_sums import entries
from pgm.inference.engines.wide_numbers import Wide, log_of
from pgm.inference.program.reduction import Known, open_targets, reduce_case
from pgm.runtime.clock import Clock
from pgm.runtime.running import Impossible

_SUGGESTED = 0.5  # of the time, for finding initial states of some variables


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class BoundsAnswers(ReducedSums, ReducedMaxima):
    """A model and its evidence, ready to be asked for bounds."""

    def run(self, problem: Problem) -> Solution:
        """Sum a reduced question."""
        return solve(problem, self.options, self.clock)

    def maximise(self, problem: Problem, clock: Clock) -> Maximum:
        """Find good states for a reduced question, and a bound."""
        return maximise(problem, self.options, clock)

    def explained(
        self, targets: Sequence[int] | None, k: int
    ) -> tuple[list[Explanation], Callable[[], Wide | None]]:
        """The best states found, all others summed out, and P(known) if it is cheap."""
        if targets is None or len({*targets, *self.known.hard}) == self.program.n_named:
            return ReducedMaxima.explained(self, targets, k)
        codes, value, bound, at = self.most_probable_of(targets)
        return [Explanation(codes, value, self.report, bound).of(targets)], at.total_in_passing

    def most_probable_of(self, targets: Sequence[int]) -> tuple[np.ndarray, Wide, float, Posterior]:
        """Like `most_probable`, for some variables, with all others summed out.

        The engine's suggestion is improved one variable at a time, as far as the exact engine can evaluate
        it. If that cannot sum the others out, the value is a lower bound.
        """
        self.only_states(None)
        at = exactly(self)
        case = reduce_case(self.program, self.known, np.array(targets, dtype=np.int64), self.clock)
        free = open_targets(case, targets)
        clock, profile = self.clock, self.clock.profile
        if clock.deadline is not None:  # leave time to sum and improve the suggestion
            clock = Clock(clock.limit, clock.deadline - (1.0 - _SUGGESTED) * clock.remaining(), profile)
        problem = self.problem(case, {}, free)
        try:
            found = maximise(problem, self.options, clock)
        except OutOfTime:
            found = maximise(problem, self.options, self.clock)
        r, codes = case.reduced, case.codes.astype(np.int64)
        codes[r.variables[free]] = r.states[r.state_at[free] + found.states[free]]

        def given(states: Iterable[int]) -> Known:
            cards = self.program.arrays.cards
            return self.known.with_weights({v: (np.eye(cards[v])[codes[v]],) for v in states})

        asked = [v for v in targets if v not in self.known.hard]
        try:
            said, proven = "", found.report.exact
            try:
                value = replace(at, known=given(asked)).total()
                if not proven:
                    before = codes.copy()
                    self._climb(
                        r.variables[free].tolist(), codes, lambda held: replace(at, known=given(held))
                    )
                    # The second sum costs no more than the first, which was in time.
                    if not np.array_equal(codes, before):
                        value = replace(at, known=given(asked), clock=Clock(None, None, profile)).total()
            except (TooLarge, OutOfTime) as refused:
                late = isinstance(refused, OutOfTime)
                options = replace(self.options, iterations=0) if late else self.options
                clock = Clock(None, None, profile) if late else self.clock
                under = replace(self, known=given(asked), reports=[], options=options, clock=clock)
                under.total()
                bounds_of = under.reports[0].log_bounds
                assert bounds_of is not None
                value, proven = propagation.wide_of(bounds_of[0]), False
                why = "was not finished in time" if late else "does not fit"
                said = f"the sum over the other variables {why}: the value is a lower bound"
            if value[0] == 0.0:
                raise Impossible
        except Impossible:
            raise none_possible(self.engine) from None
        log = log_of(value)
        proven = proven or (not said and found.bound - log <= ROUNDING * max(1.0, abs(log)))
        error = 0.0 if proven else below(found.bound, log)
        self.reports.append(found.report.changed(exact=proven, advice=ANY if proven else said, error=error))
        return codes[: self.program.n_named], value, log if proven else max(found.bound, log), at

    def _climb(
        self, free: Sequence[int], codes: np.ndarray, given: Callable[[Iterable[int]], Posterior]
    ) -> None:
        """Give each variable in turn its best state given the others, until none has a better one."""
        unchanged, turn = 0, 0
        while unchanged < len(free):
            v = free[turn % len(free)]
            try:
                share = given(u for u in free if u != v).joint([v])
            except OutOfTime:
                return
            best = int(share.argmax())
            unchanged += 1
            if share[best] > share[codes[v]] * (1.0 + ROUNDING):
                codes[v], unchanged = best, 1
            turn += 1

    def plan(self, question: str, targets: Sequence[int] | None) -> Plan:
        """The mini-buckets for a question, and what they cost."""
        self.only_states(targets)
        case = self.case(self.everything() if targets is None else targets, only_wanted=targets is not None)
        found, r = outline(case, self.options.ibound, self.clock), case.reduced
        top = int(found.log2_sizes.argmax()) if found.log2_sizes.size else 0
        largest = found.scopes[found.scope_at[top : top + 2].min() : found.scope_at[top : top + 2].max()]
        cards = self.program.arrays.cards
        split = f"{found.n_split:,} of {r.cards.size:,} buckets split, {found.parent.size:,} mini-buckets"

        def named(places: Iterable[int]) -> tuple[str, ...]:
            return self.program.called([int(r.variables[v]) for v in places], self.names)

        return Plan(
            question=question,
            engine=self.engine,
            exact=False,
            n_variables=self.program.n,
            n_known=int((case.codes >= 0).sum()),
            n_left=int(r.cards.size),
            order=named(found.order.tolist()),
            heuristic=found.heuristic,
            tree=f"{split}; ibound={found.ibound}",
            width=found.ibound,
            largest=named(largest.tolist()),
            log2_largest=float(found.log2_sizes.max(initial=0.0)),
            log2_entries=math.log2(max(1.0, found.entries)),
            bytes_inward=found.bytes,
            bytes_all=found.bytes,
            bytes=found.bytes,
            bytes_in_doubles=found.bytes,
            operations=4.0 * found.steps * (self.options.iterations + 1),
            results=float(cards.sum()) if targets is None else entries(cards, targets),
            memory_limit=current().memory_limit,
            complete=True,
        )


def prepare(
    options: Bounds,
    compiled: ModelSnapshot,
    observed: Observed,
    about: Sequence[str] | None,
    clock: Clock,
    *,
    fit: bool = True,
) -> BoundsAnswers:
    """Prepare this engine."""
    return reduced(BoundsAnswers, options, compiled, observed, clock)
