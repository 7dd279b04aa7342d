"""What approximate engines share: a reduced case, evidence of every kind, measured errors.

They work on the same reduced case as the exact engine, so pruning, the removal of impossible states and every
kind of evidence are shared. An engine is a subclass that defines how it runs; see docs/developer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pgm.errors import TooLarge, listed
from pgm.evidence import Observed
from pgm.inference.engines.by_position import by_position, no_states
from pgm.inference.engines.exact.posterior import Posterior, exactly
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.engines.naming import Explanation, NamedMaxima, NamedSums
from pgm.inference.engines.options import Engine
from pgm.inference.engines.problem import Maximum, Problem, Solution, none_possible
from pgm.inference.engines.table_sums import Context, entries
from pgm.inference.engines.wide_numbers import Wide, log_of, times_exp
from pgm.inference.program import logs_to_wide
from pgm.inference.program.proportional_fitting import NoFit, in_doubles
from pgm.inference.program.reduction import (
    Case,
    Known,
    open_index,
    open_targets,
    reduce_case,
    reduce_everything,
)
from pgm.inference.trees.needs import RESULT
from pgm.results import Report, merged
from pgm.runtime.clock import Clock
from pgm.runtime.room import check_room
from pgm.runtime.running import Impossible

if TYPE_CHECKING:
    from pgm.inference.engines.gaussian.hybrid import HybridPosterior

_MOST_RUNS = 10_000  # of an engine, for a joint that no single run can give
ROUNDING = 1e-9  # of a bound on a logarithm, relative
ANY = "of several equally probable answers any may be found"
_NOTHING = np.empty(0, np.int32)
_Kind = TypeVar("_Kind", bound="Reduced")


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Reduced(Context):
    """A model and its evidence, ready for questions to an engine that need not be exact."""

    options: Any  # of the engine's own class
    wanted: Mapping[int, np.ndarray]  # marginals that variables must have in the posterior
    log_weight: float  # log of the factor by which the weights of the evidence were divided
    continuous: HybridPosterior | None = None  # the continuous variables, if there are any
    reports: list[Report] = field(default_factory=list)  # of all runs so far

    @property
    def report(self) -> Report:
        """How the answers asked for so far were made."""
        found = merged(self.reports).changed(profile=self.clock.profile, given=self.given)
        more = self.log_weight + (0.0 if self.continuous is None else self.continuous.solve().offset)
        if more == 0.0:
            return found
        if found.course is not None:
            found = found.changed(course=found.course.moved(more))
        if found.log_bounds is None:
            return found
        low, high = (end + more for end in found.log_bounds)
        off = 2.0**-51 * (abs(more) + abs(low))
        return found.changed(log_bounds=(low - off, high + off))

    @property
    def doubtful(self) -> bool:
        """Whether a run stopped before it converged."""
        return not all(report.converged for report in self.reports)

    def only_states(self, targets: Sequence[int] | None) -> None:
        """Refuse a question about continuous variables; None: about everything."""
        if self.continuous is not None:
            asked = self.continuous.gaussians.positions.tolist() if targets is None else targets
            if self.continuous.among(asked):
                raise no_states(self.engine, [self.names[v] for v in asked if self.continuous.among([v])])

    def case(self, targets: Sequence[int] | np.ndarray, *, only_wanted: bool = True) -> Case:
        """The reduced question, with the states that the wanted marginals allow."""
        supports = {v: ((w > 0).astype(np.float64),) for v, w in self.wanted.items()}
        known = self.known.with_weights(supports)
        return reduce_case(self.program, known, targets, self.clock, only_wanted=only_wanted)

    def problem(
        self, case: Case, held: Mapping[int, np.ndarray], targets: np.ndarray | None = None
    ) -> Problem:
        """The reduced question in the form that engines take."""
        return Problem(case, held, self.names, self.trees, targets)


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class ReducedShares(Reduced, NamedSums):
    """Distributions from an engine that has a `run`."""

    def run(self, problem: Problem) -> Solution:
        """Sum a reduced question."""
        raise NotImplementedError

    def joint(self, targets: Sequence[int], question: str = "the joint distribution") -> np.ndarray:
        """P(targets | known) by this engine, one axis for each target in this order."""
        self.only_states(targets)
        needed = RESULT * entries(self.program.arrays.cards, targets)
        check_room(needed, "The answer alone takes", "Ask for fewer targets at once")
        case = self.case(targets)
        found = self.solve(case, open_targets(case, targets))
        # Factors irrelevant to the targets were left out of the sum, so it is not P(given).
        self.reports[-1] = self.reports[-1].changed(log_bounds=None, log_error=None)
        if found.values is None:
            return self._by_conditioning(list(targets), self.with_likelihoods(case, found))
        index, shape = open_index(case, targets), self.program.arrays.cards[list(targets)]

        def put(part: np.ndarray, known: np.ndarray | float) -> np.ndarray:
            everywhere = np.full(shape, known)
            everywhere[index] = part.reshape([i.size for i in index])
            return everywhere

        table = put(found.values, 0.0)
        table /= table.sum()
        self._place(table, put)
        return table

    def _by_conditioning(self, targets: list[int], known: Known) -> np.ndarray:
        """P(a) P(b | a) P(c | a, b) ...: one run for each state of the preceding variables."""
        cards = [int(self.program.arrays.cards[t]) for t in targets]
        runs = sum(math.prod(cards[:i]) for i in range(len(cards)))
        if runs > _MOST_RUNS:
            raise TooLarge(
                f'engine="{self.engine}" finds the joint distribution only of variables that share a factor. '
                f"That of {listed([self.names[t] for t in targets])} would take {runs:,} runs, one for each "
                "joint state of all but the last. Ask for fewer variables at once, or for marginals."
            )
        table: np.ndarray = np.ones(())
        for i, target in enumerate(targets):
            more = np.zeros((*table.shape, cards[i]))
            for states in np.ndindex(*table.shape):
                if table[states] > 0.0:
                    hard = dict(zip(targets[:i], states, strict=True))
                    more[states] = table[states] * self._one(target, hard, known)
            table = more
        said = f"the joint was assembled from {runs:,} runs, by conditioning"
        own = self.reports[0].advice
        self.reports[0] = self.reports[0].changed(advice=f"{own}; {said}" if own else said)
        return np.asarray(table / table.sum())

    def _one(self, target: int, hard: Mapping[int, int], known: Known) -> np.ndarray:
        weights = {v: w for v, w in known.weights.items() if v not in hard}
        at = replace(self, known=Known({**known.hard, **hard}, weights), wanted={})  # shares the reports
        try:
            share: np.ndarray = at.joint([target])
            return share
        except Impossible:  # the engine gave probability to something impossible
            return np.zeros(int(self.program.arrays.cards[target]))

    def marginals(self, targets: Sequence[int] | None = None) -> np.ndarray:
        """P(v | known) by this engine for all of the user's variables, concatenated.

        With targets, work that only the other variables need is left out.
        """
        self.only_states(targets)
        p, n_named = self.program.arrays, self.program.n_named
        wanted = self.everything() if targets is None else np.array(targets, dtype=np.int64)
        case = self.case(wanted, only_wanted=False)
        found, r = self.solve(case), case.reduced
        flat = np.zeros(int(p.state_at[n_named]))
        fixed = np.flatnonzero(case.codes[:n_named] >= 0)
        flat[p.state_at[fixed] + case.codes[fixed]] = 1.0
        m = np.count_nonzero(r.variables < n_named)  # the user's variables come first
        owners = np.repeat(p.state_at[r.variables[:m]], r.cards[:m])
        places = owners + r.states[: owners.size]
        assert found.values is not None  # only a joint may be unavailable
        flat[places] = found.values[: owners.size]

        def put(part: np.ndarray, known: np.ndarray | float) -> np.ndarray:
            everywhere = np.full(flat.size, known)
            everywhere[places] = part[: places.size]
            return everywhere

        self._place(flat, put)
        return flat

    def _place(self, values: np.ndarray, put: Callable[[np.ndarray, Any], np.ndarray]) -> None:
        """Put the intervals where their values are in the answer."""
        last = self.reports[-1]
        if last.intervals is not None:
            self.reports[-1] = last.changed(intervals=last.intervals.changed(put, values))

    def solve(self, case: Case, targets: np.ndarray | None = None) -> Solution:
        """Run the engine; its measurements go into the report."""
        p, held = self.program.arrays, {}
        for v, w in self.wanted.items():
            is_open = case.open_states[p.state_at[v] : p.state_at[v + 1]] > 0
            if (w[~is_open] > 0).any():
                place = int(np.flatnonzero((w > 0) & ~is_open)[0])
                raise NoFit(float(w[place]), (v, place))
            for i in open_targets(case, [v]).tolist():
                held[i] = w[is_open]
        found = self.run(self.problem(case, held, targets))
        self.reports.append(found.report)
        return found

    def with_likelihoods(self, case: Case, found: Solution) -> Known:
        """The evidence, with likelihoods in place of the wanted marginals."""
        if not self.wanted:
            return self.known
        r, logs = case.reduced, {v: np.where(w > 0, 0.0, -np.inf) for v, w in self.wanted.items()}
        for i, own in found.weights().items():
            logs[int(r.variables[i])][r.states[r.state_at[i] : r.state_at[i + 1]]] = own
        return self.known.with_weights({v: in_doubles(*logs_to_wide(w)) for v, w in logs.items()})


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class ReducedSums(ReducedShares):
    """Distributions and the probability of the evidence, from an engine whose `run` gives both."""

    def total(self) -> Wide:
        """The engine's estimate of the sum of the product of all factors with the evidence."""
        log = 0.0 if self.continuous is None else self.continuous.log_density()
        found = self.solve(self.case([], only_wanted=False), _NOTHING).total()
        # Errors measured for single variables say nothing about the sum.
        self.reports[-1] = self.reports[-1].changed(intervals=None, error=None)
        return times_exp(found, log) if log else found


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class ReducedMaxima(Reduced, NamedMaxima):
    """Maxima from an engine that has a `maximise`."""

    def maximise(self, problem: Problem, clock: Clock) -> Maximum:
        """Find good states for a reduced question, and a bound."""
        raise NotImplementedError

    def known_for_maxima(self) -> Known:
        """The evidence, with likelihoods in place of the wanted marginals."""
        return self.known

    def explained(
        self, targets: Sequence[int] | None, k: int
    ) -> tuple[list[Explanation], Callable[[], Wide | None]]:
        """The best states found, and P(known) if it is cheap."""
        codes, value, bound, at = self.most_probable()
        return [Explanation(codes, value, self.report, bound).of(targets)], at.total_in_passing

    def most_probable(self) -> tuple[np.ndarray, Wide, float, Posterior]:
        """Good states of all the user's variables, P(states, known), a bound on its log for any states.

        Last comes the exact engine with the same evidence, which gives P(known) if that fits.
        """
        self.only_states(None)
        known = self.known_for_maxima()
        case = reduce_everything(self.program, known, self.clock)
        found = self.maximise(self.problem(case, {}), self.clock)
        at = replace(exactly(self), known=known)
        try:
            codes, value, more = at.worth(case, found.states)
        except Impossible:
            raise none_possible(self.engine) from None
        bound = found.bound + more
        log = log_of(value)
        proven = found.report.exact and more == 0.0 and bound - log <= ROUNDING * max(1.0, abs(log))
        said = ANY if proven else found.report.advice
        if found.report.exact and not proven and more:
            said = "variables inside gates are summed out, and the bound is loose there"
        error = 0.0 if proven else below(bound, log)
        self.reports.append(found.report.changed(exact=proven, advice=said, error=error))
        return codes, value, log if proven else max(bound, log), at


def reduced(
    kind: type[_Kind], options: Engine, compiled: ModelSnapshot, observed: Observed, clock: Clock
) -> _Kind:
    """The model and its evidence by position; prescribed marginals are left to the engine."""
    known, wanted = by_position(compiled, observed)
    at, continuous = Posterior(compiled.program, compiled.trees, known, clock, compiled.names), None
    if compiled.gaussians is not None:  # continuous variables are eliminated exactly, which leaves tables
        from pgm.inference.engines.gaussian.hybrid import HybridPosterior, hybrid_fields

        continuous = HybridPosterior(**hybrid_fields(compiled, observed, at, {}))
        at = exactly(continuous.solve().discrete)
    return kind(
        *(at.program, at.trees, at.known, clock, compiled.names, options.name, observed.given),
        options=options,
        wanted=wanted,
        log_weight=observed.log_weight,
        continuous=continuous,
    )


def below(bound: float, log: float) -> float | None:
    """How far these states may fall short of the best, in logarithms; None: there is no bound."""
    return max(0.0, bound - log) if bound < math.inf else None
