"""The questions of posterior.py put to engines that do not answer exactly.

They work on the same reduced case as the exact engine, so pruning, dead states and every kind of evidence are
shared. To add an engine: its options in engines/__init__.py, its `solve` in SOLVERS below, its name in
tests/inference/test_approximate.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pgm import errors
from pgm.config import current
from pgm.errors import ConvergenceWarning, InvalidEvidence, OutOfTime, TooLarge, listed
from pgm.evidence import Observed
from pgm.inference.engines import (
    ENGINES,
    Bounds,
    BranchAndBound,
    CliqueSequence,
    Engine,
    Sampler,
    bounds,
    branching,
    clique_sequence,
    cuts,
    loopy,
    mean_field,
)
from pgm.inference.engines.gaussian.hybrid import HybridPosterior, no_states
from pgm.inference.engines.model_snapshot import ModelSnapshot, beside_numbers, by_position
from pgm.inference.engines.plan import Plan, make_plan
from pgm.inference.engines.posterior import Posterior, entries, log_of, times_exp
from pgm.inference.engines.problem import Maximum, Problem, Solution, none_possible
from pgm.inference.engines.sampling import answers as sampling
from pgm.inference.program import SUMMED, logs_to_wide
from pgm.inference.program.proportional_fitting import NoFit, in_doubles
from pgm.inference.program.reduction import Case, Known, open_index, open_targets, reduce_case
from pgm.inference.trees.needs import RESULT, Needs
from pgm.results import Report, merged
from pgm.runtime.clock import Clock
from pgm.runtime.running import Impossible

Wide = tuple[float, int]
_SUGGESTED = 0.5  # of the time, for which states of some variables to begin with
_MOST_RUNS = 10_000  # of an engine, for a joint that it does not know
_ROUNDING = 1e-9  # of a bound on a logarithm, relative
_ANY = "of several equally probable any may be found"
_NOTHING = np.empty(0, np.int32)

# The options are of the class that has this name in ENGINES.
SOLVERS: Mapping[str, Callable[[Problem, Any, Clock], Solution]] = {
    "loopy": loopy.solve,
    "mean-field": mean_field.solve,
    "bounds": bounds.solve,
    "clique-sequence": clique_sequence.solve,
    "rejection": sampling.solve,
    "likelihood-weighting": sampling.solve,
    "importance": sampling.solve,
    "gibbs": sampling.solve,
    "swendsen-wang": sampling.solve,
}
MAXIMISERS: Mapping[str, Callable[[Problem, Any, Clock], Maximum]] = {
    "loopy": loopy.maximise,
    "bounds": bounds.maximise,
    "srmp": branching.maximise,
    "branch-and-bound": branching.maximise,
}


def make_approximate(
    compiled: ModelSnapshot, observed: Observed, clock: Clock, options: Engine
) -> Approximate:
    """Put evidence into positions; marginals that are wanted afterwards are left to the engine."""
    if observed.soft and not getattr(options, "takes_soft", True):
        takers = [
            name
            for name, kind in ENGINES.items()
            if getattr(kind, "takes_soft", True) and set(kind.answers) & set(options.answers)
        ]
        raise InvalidEvidence(
            f'engine="{options.name}" does not take pgm.Soft, given here for {listed(list(observed.soft))}; '
            f"these do: {listed(takers)}. Or use pgm.Likelihood for uncertain evidence."
        )
    known, wanted = by_position(compiled, observed)
    at, numbers = Posterior(compiled.program, compiled.trees, known, clock, compiled.names), None
    if compiled.gaussians is not None:  # they are eliminated, exactly; what they leave are tables
        numbers = beside_numbers(compiled, observed, at, {})
        at = numbers.solve().discrete
    p = at.program, at.trees, at.known, clock, compiled.names, options.name
    return Approximate(
        *p,
        given=observed.given,
        options=options,
        wanted=wanted,
        log_weight=observed.log_weight,
        numbers=numbers,
    )


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Approximate(Posterior):
    """A model with what is known of it, ready to be asked of an engine that approximates."""

    options: Engine
    wanted: Mapping[int, np.ndarray]  # marginals that variables shall have afterwards
    log_weight: float  # by which the weights of the evidence were divided
    numbers: HybridPosterior | None = None  # the continuous variables, where there are any
    reports: list[Report] = field(default_factory=list)  # of all runs so far

    @property
    def report(self) -> Report:
        """How the answers asked for so far were made."""
        found = merged(self.reports).changed(profile=self.clock.profile, given=self.given)
        more = self.log_weight + (0.0 if self.numbers is None else self.numbers.solve().offset)
        if more == 0.0:
            return found
        if found.course is not None:
            found = found.changed(course=found.course.moved(more))
        if found.log_bounds is None:
            return found
        low, high = (end + more for end in found.log_bounds)
        off = 2.0**-51 * (abs(more) + abs(low))
        return found.changed(log_bounds=(low - off, high + off))

    # --- sums ---

    def total(self) -> Wide:
        """What the engine takes for the sum of the product of all factors with the evidence."""
        log = 0.0 if self.numbers is None else self.numbers.log_density()
        found = self._solve(self._case([], only_wanted=False), _NOTHING).total()
        # What was measured of single variables says nothing of the sum.
        self.reports[-1] = self.reports[-1].changed(intervals=None, error=None)
        return times_exp(found, log) if log else found

    def _only_states(self, targets: Sequence[int] | None) -> None:
        """Refuse a question about continuous variables; None: about everything."""
        if self.numbers is not None:
            asked = self.numbers.gaussians.positions.tolist() if targets is None else targets
            if self.numbers.numbers(asked):
                raise no_states(self.engine, [self.names[v] for v in asked if self.numbers.numbers([v])])

    def joint(self, targets: Sequence[int], question: str = "the joint distribution") -> np.ndarray:
        """P(targets | known) by this engine, one axis for each target in this order."""
        self._only_states(targets)
        needed, allowed = RESULT * entries(self.program.arrays.cards, targets), current().memory_limit
        if needed > allowed:
            raise TooLarge(
                f"The answer alone takes about {needed:.2g} bytes, and {allowed:,} are allowed. Ask for "
                "fewer targets at once."
            )
        case = self._case(targets)
        found = self._solve(case, open_targets(case, targets))
        # What the targets do not depend on was left out of the sum: this says nothing of P(given).
        self.reports[-1] = self.reports[-1].changed(log_bounds=None, log_error=None)
        if found.values is None:
            return self._by_conditioning(list(targets), self._settled(case, found))
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
        """P(a) P(b | a) P(c | a, b) ...: a run for each state of what stands before."""
        cards = [int(self.program.arrays.cards[t]) for t in targets]
        runs = sum(math.prod(cards[:i]) for i in range(len(cards)))
        if runs > _MOST_RUNS:
            raise TooLarge(
                f'engine="{self.engine}" knows the joint only of variables that share a factor. That of '
                f"{listed([self.names[t] for t in targets])} would take {runs:,} runs, one for each state of "
                "those before the last. Ask for fewer at once, or for marginals."
            )
        table: np.ndarray = np.ones(())
        for i, target in enumerate(targets):
            more = np.zeros((*table.shape, cards[i]))
            for states in np.ndindex(*table.shape):
                if table[states] > 0.0:
                    hard = dict(zip(targets[:i], states, strict=True))
                    more[states] = table[states] * self._one(target, hard, known)
            table = more
        said = f"the joint was put together from {runs:,} runs, by conditioning"
        own = self.reports[0].advice
        self.reports[0] = self.reports[0].changed(advice=f"{own}; {said}" if own else said)
        return np.asarray(table / table.sum())

    def _one(self, target: int, hard: Mapping[int, int], known: Known) -> np.ndarray:
        weights = {v: w for v, w in known.weights.items() if v not in hard}
        at: Approximate = replace(
            self, known=Known({**known.hard, **hard}, weights), wanted={}
        )  # it shares the reports
        try:
            return at.joint([target])
        except Impossible:  # the engine gave probability to what cannot be
            return np.zeros(int(self.program.arrays.cards[target]))

    def marginals(self, targets: Sequence[int] | None = None) -> tuple[np.ndarray, Wide]:
        """P(v | known) by this engine for all of the user's variables, one after the other.

        With targets what only others need is left out. Not the total, unlike the exact engine's: it is not
        had in passing.
        """
        self._only_states(targets)
        p, n_named = self.program.arrays, self.program.n_named
        wanted = self._everything() if targets is None else np.array(targets, dtype=np.int64)
        case = self._case(wanted, only_wanted=False)
        found, r = self._solve(case), case.reduced
        flat = np.zeros(int(p.state_at[n_named]))
        fixed = np.flatnonzero(case.codes[:n_named] >= 0)
        flat[p.state_at[fixed] + case.codes[fixed]] = 1.0
        m = np.count_nonzero(r.variables < n_named)  # the user's come first
        owners = np.repeat(p.state_at[r.variables[:m]], r.cards[:m])
        places = owners + r.states[: owners.size]
        assert found.values is not None  # only joints may not be known
        flat[places] = found.values[: owners.size]

        def put(part: np.ndarray, known: np.ndarray | float) -> np.ndarray:
            everywhere = np.full(flat.size, known)
            everywhere[places] = part[: places.size]
            return everywhere

        self._place(flat, put)
        return flat, (math.nan, 0)

    def _place(self, values: np.ndarray, put: Callable[[np.ndarray, Any], np.ndarray]) -> None:
        """Put intervals where their numbers are in the answer."""
        last = self.reports[-1]
        if last.intervals is not None:
            self.reports[-1] = last.changed(intervals=last.intervals.changed(put, values))

    # --- draws ---

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """About as good as draws from the posterior: (n, variables)."""
        self._only_states(None)
        case = self._case([], only_wanted=False)
        seed = int(rng.integers(1 << 62))
        assert isinstance(self.options, Sampler)
        drawn, report = sampling.sample(self._problem(case, {}), self.options, self.clock, n, seed)
        self.reports.append(report)
        return self.all_states(case, drawn, rng)

    # --- maxima ---

    def most_probable(self) -> tuple[np.ndarray, Wide, float, Posterior]:
        """Good states of all the user's variables, P(states, known), a bound on its log for any states.

        The last is what is known, put to the exact engine: for P(known), where that is had.
        """
        self._only_states(None)
        known = self.known
        if self.wanted:
            case = self._case(self._everything(), only_wanted=False)
            known = self._settled(case, self._solve(case))
        case = cuts.reduce_everything(self.program, known, self.clock)
        found = MAXIMISERS[self.engine](self._problem(case, {}), self.options, self.clock)
        try:
            codes, value, more = replace(self, known=known).worth(case, found.states)
        except Impossible:
            raise none_possible(self.engine) from None
        bound = found.bound + more
        log = log_of(value)
        proven = found.report.exact and more == 0.0 and bound - log <= _ROUNDING * max(1.0, abs(log))
        said = _ANY if proven else found.report.advice
        if found.report.exact and not proven and more:
            said = "what is hidden inside gates is summed, and the bound is loose there"
        error = 0.0 if proven else _below(bound, log)
        self.reports.append(found.report.changed(exact=proven, advice=said, error=error))
        exactly = Posterior(self.program, self.trees, known, self.clock, self.names)
        return codes, value, log if proven else max(bound, log), exactly

    def several(self, k: int) -> list[tuple[np.ndarray, Wide, float, Report]]:
        """The k best states found, best first: each with P(states, known) and a bound on the log of it."""
        self._only_states(None)
        assert isinstance(self.options, BranchAndBound)
        case = cuts.reduce_everything(self.program, self.known, self.clock)
        if (self.program.kinds[case.reduced.variables] == SUMMED).any():
            raise TooLarge(
                f'engine="{self.engine}" cannot rank several answers here: what is hidden inside gates such '
                "as pgm.NoisyOr is summed. Ask for one with `map`, or observe more."
            )
        found = branching.rank(self._problem(case, {}), k, self.options.seed, self.clock)
        assert found is not None  # its work is not limited
        made = []
        for states, bound, sure in zip(found.states, found.bounds, found.sure, strict=True):
            codes, value, _ = self.worth(case, states)
            log = log_of(value)
            said = found.report.advice if not sure else "" if found.settled else _ANY
            error = 0.0 if sure else _below(bound, log)
            report = found.report.changed(exact=sure, error=error, advice=said)
            made.append((codes, value, log if sure else max(bound, log), report))
        return made

    def most_probable_of(self, targets: Sequence[int]) -> tuple[np.ndarray, Wide, float, Posterior]:
        """The same of some variables, all others summed out.

        What the engine suggests is made better one variable at a time, as far as the exact engine can say by
        how much. Where it cannot sum the others out, the number is a bound from below.
        """
        self._only_states(None)
        exactly = Posterior(self.program, self.trees, self.known, self.clock, self.names)
        case = reduce_case(self.program, self.known, np.array(targets, dtype=np.int64), self.clock)
        free = open_targets(case, targets)
        assert isinstance(self.options, Bounds)
        clock, profile = self.clock, self.clock.profile
        if clock.deadline is not None:  # what is suggested has to be summed and made better in time
            clock = Clock(clock.limit, clock.deadline - (1.0 - _SUGGESTED) * clock.remaining(), profile)
        problem = self._problem(case, {}, free)
        try:
            found = MAXIMISERS[self.engine](problem, self.options, clock)
        except OutOfTime:
            found = MAXIMISERS[self.engine](problem, self.options, self.clock)
        r, codes = case.reduced, case.codes.astype(np.int64)
        codes[r.variables[free]] = r.states[r.state_at[free] + found.states[free]]

        def given(states: Iterable[int]) -> Known:
            cards = self.program.arrays.cards
            return self.known.with_weights({v: (np.eye(cards[v])[codes[v]],) for v in states})

        asked = [v for v in targets if v not in self.known.hard]
        try:
            said, proven = "", found.report.exact
            try:
                value = replace(exactly, known=given(asked)).total()
                if not proven:
                    before = codes.copy()
                    self._climb(
                        r.variables[free].tolist(), codes, lambda held: replace(exactly, known=given(held))
                    )
                    if not np.array_equal(codes, before):  # takes as long as the first, which was in time
                        value = replace(exactly, known=given(asked), clock=Clock(None, None, profile)).total()
            except (TooLarge, OutOfTime) as refused:
                late = isinstance(refused, OutOfTime)
                options = replace(self.options, iterations=0) if late else self.options
                clock = Clock(None, None, profile) if late else self.clock
                below = replace(self, known=given(asked), reports=[], options=options, clock=clock)
                below.total()
                bounds_of = below.reports[0].log_bounds
                assert bounds_of is not None
                value, proven = loopy.wide_of(bounds_of[0]), False
                why = "the sum over the rest was not done in time" if late else "the rest is too large a sum"
                said = f"{why}: the number is a bound from below"
            if value[0] == 0.0:
                raise Impossible
        except Impossible:
            raise none_possible(self.engine) from None
        log = log_of(value)
        proven = proven or (not said and found.bound - log <= _ROUNDING * max(1.0, abs(log)))
        error = 0.0 if proven else _below(found.bound, log)
        self.reports.append(found.report.changed(exact=proven, advice=_ANY if proven else said, error=error))
        return codes[: self.program.n_named], value, log if proven else max(found.bound, log), exactly

    def _climb(
        self, free: Sequence[int], codes: np.ndarray, given: Callable[[Iterable[int]], Posterior]
    ) -> None:
        """Give one variable after the other its best state given the others, until none has a better one."""
        settled, turn = 0, 0
        while settled < len(free):
            v = free[turn % len(free)]
            try:
                share = given(u for u in free if u != v).joint([v])
            except OutOfTime:
                return
            best = int(share.argmax())
            settled += 1
            if share[best] > share[codes[v]] * (1.0 + _ROUNDING):
                codes[v], settled = best, 1
            turn += 1

    # --- what it will take ---

    def plan(self, question: str, targets: Sequence[int] | None) -> Plan:
        """What is made for a question, and what it takes: of "bounds" and "clique-sequence"."""
        self._only_states(targets)
        case = self._case(self._everything() if targets is None else targets, only_wanted=targets is not None)
        if isinstance(self.options, CliqueSequence):
            return self._plan_sequence(question, targets, case, self.options)
        assert isinstance(self.options, Bounds)
        found, r = bounds.outline(case, self.options.ibound, self.clock), case.reduced
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

    def _plan_sequence(
        self, question: str, targets: Sequence[int] | None, case: Case, options: CliqueSequence
    ) -> Plan:
        cards = self.program.arrays.cards
        size = float(cards[: self.program.n_named].sum()) if targets is None else entries(cards, targets)
        needs = Needs(question, "both" if targets is None else "in", results=size, engine=self.engine)
        free = None if targets is None else open_targets(case, targets)
        shape, later = clique_sequence.outline(self._problem(case, {}, free), options, needs, self.clock)
        return replace(make_plan(case, shape, needs, self.names), exact=False, later=later)

    # --- shared ground ---

    def _case(self, targets: Sequence[int] | np.ndarray, *, only_wanted: bool = True) -> Case:
        supports = {v: ((w > 0).astype(np.float64),) for v, w in self.wanted.items()}
        known = self.known.with_weights(supports)
        return reduce_case(self.program, known, targets, self.clock, only_wanted=only_wanted)

    def _problem(
        self, case: Case, held: Mapping[int, np.ndarray], targets: np.ndarray | None = None
    ) -> Problem:
        return Problem(case, held, self.names, self.trees, targets)

    def _solve(self, case: Case, targets: np.ndarray | None = None) -> Solution:
        """Run the engine; what it measured goes into the report."""
        p, held = self.program.arrays, {}
        for v, w in self.wanted.items():
            is_open = case.open_states[p.state_at[v] : p.state_at[v + 1]] > 0
            if (w[~is_open] > 0).any():
                place = int(np.flatnonzero((w > 0) & ~is_open)[0])
                raise NoFit(float(w[place]), (v, place))
            for i in open_targets(case, [v]).tolist():
                held[i] = w[is_open]
        found = SOLVERS[self.engine](self._problem(case, held, targets), self.options, self.clock)
        self.reports.append(found.report)
        return found

    def _settled(self, case: Case, found: Solution) -> Known:
        """What is known, with likelihoods in place of the marginals that are wanted."""
        if not self.wanted:
            return self.known
        r, logs = case.reduced, {v: np.where(w > 0, 0.0, -np.inf) for v, w in self.wanted.items()}
        for i, own in found.weights().items():
            logs[int(r.variables[i])][r.states[r.state_at[i] : r.state_at[i + 1]]] = own
        return self.known.with_weights({v: in_doubles(*logs_to_wide(w)) for v, w in logs.items()})

    def warn(self) -> None:
        """Warn whoever asked, if the engine stopped before its numbers came to rest."""
        if not all(report.converged for report in self.reports):
            warn(self.report)


def warn(report: Report) -> None:
    """Warn whoever asked that the numbers had not come to rest."""
    text = f'engine="{report.engine}" has not converged: {report.advice}. The answer is what it had then.'
    errors.warn(text, ConvergenceWarning)


def _below(bound: float, log: float) -> float | None:
    """By how much these states may fall short of the best, in logarithms; None: there is no bound."""
    return max(0.0, bound - log) if bound < math.inf else None
