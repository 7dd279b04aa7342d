"""Several engines for one question: exact if the plan fits the time, else the tightest of other answers."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np

from pgm.config import current
from pgm.errors import InvalidArgument, NoSupportFound, OutOfTime, TooLarge, listed
from pgm.evidence import Observed
from pgm.inference.engines import Engine
from pgm.inference.engines import prepare as prepare_engine
from pgm.inference.engines.auto.prepared import AutoPosterior
from pgm.inference.engines.bounds import Bounds
from pgm.inference.engines.branching import BranchAndBound
from pgm.inference.engines.by_position import by_position, make_posterior, no_states
from pgm.inference.engines.clique_sequence import CliqueSequence
from pgm.inference.engines.conditioning import Conditioned
from pgm.inference.engines.exact import Exact
from pgm.inference.engines.exact.posterior import Posterior
from pgm.inference.engines.gaussian.hybrid import HybridPosterior, hybrid_fields
from pgm.inference.engines.loopy import Loopy, propagation
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.engines.naming import Explanation, NamedMaxima, NamedSums
from pgm.inference.engines.plan import Plan
from pgm.inference.engines.portfolio import Best
from pgm.inference.engines.sampling import Importance
from pgm.inference.engines.search import Search
from pgm.inference.engines.table_sums import Context, TableSums
from pgm.inference.engines.wide_numbers import Wide, log_of
from pgm.results import Assignment, Intervals, Report, merged
from pgm.runtime.clock import Clock
from pgm.variables import VariableList

_PLANNED, _RUN = 0.6, 0.8  # of the time: what an exact answer may be planned to take, and may take
_OFFERED = 8.0  # times the budget, up to which conditioning is planned: a new tree reduces the estimate
_A_RUN = 2e-3  # seconds that each run takes on top of its plan
_SEARCHED = 0.3  # of the time: what a search may take if nearly everything is zero
_EXPLAINED = 0.4  # of the time, for the exact most probable states
_LATE = 0.2  # of the time, always left for a search: the first attempt may have taken long to prepare
_ZEROS = 0.5  # share of factors with zeros above which a search is tried
_DRAWN = 1e8  # the most states that are drawn, a byte each
_ENOUGH = 100.0  # effective sample size that samples need to judge other answers
_QUICK = 20  # sweeps of messages if there is no time for anything

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, eq=False, slots=True)
class _Rival(Generic[_Answer]):
    """The answer of one engine."""

    name: str
    answer: _Answer
    values: np.ndarray
    report: Report

    def spread(self) -> np.ndarray | None:
        """The standard error of each value; None unless the engine drew enough samples."""
        size: float | None = self.report.effective_sample_size
        intervals: Intervals | None = self.report.intervals
        if size is None or size < _ENOUGH:
            return None
        if intervals is not None and intervals.errors is not None:
            return intervals.errors
        off: float | None = self.report.log_error
        return None if off is None or self.values.size > 1 else np.array([off])


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Portfolio(Context, NamedSums, NamedMaxima):
    """A model and its evidence, ready for questions to several engines within a time budget."""

    compiled: ModelSnapshot
    observed: Observed
    seconds: float  # that all of it may take
    until: float  # in time.monotonic()
    made: list[Report] = field(default_factory=list)

    @property
    def report(self) -> Report:
        """How the answers asked for so far were made."""
        return merged(self.made).changed(profile=self.clock.profile, given=self.observed.given)

    # --- maxima ---

    def explained(
        self, targets: Sequence[int] | None, k: int
    ) -> tuple[list[Explanation], Callable[[], Wide | None]]:
        """The exact answer, or the best that another engine finds in the remaining time, if one can."""
        summed = targets is not None and len({*targets, *self.known.hard}) < self.program.n_named
        otherwise = BranchAndBound() if not summed else Bounds() if k == 1 else None

        def ask(one: NamedMaxima) -> tuple[list[Explanation], Callable[[], Wide | None]]:
            found, total = one.explained(targets, k)
            whole = total()  # within the same share of the time
            return found, lambda: whole

        clock = self._clock(_EXPLAINED if otherwise else _RUN)
        try:
            return ask(make_posterior(self.compiled, self.observed, clock, kind=AutoPosterior))
        except (TooLarge, OutOfTime) as refused:
            if otherwise is None:
                raise refused if isinstance(refused, TooLarge) else self._too_late() from None
        finally:
            self.clock.mark = clock.mark
        clock = self._clock(1.0, least=_LATE * self.seconds)
        try:
            return ask(prepare_engine(otherwise, self.compiled, self.observed, None, clock))
        except OutOfTime:
            raise self._too_late() from None
        finally:
            self.clock.mark = clock.mark

    # --- sums ---

    def total(self) -> Wide:
        """The sum of the product of all factors with the evidence."""
        found = self._best(lambda p: p.total(), lambda wide: np.array([log_of(wide)]), [], None)
        if isinstance(found, tuple):
            return found
        return propagation.wide_of(float(found[0]))

    def joint(self, targets: Sequence[int], question: str = "the joint distribution") -> np.ndarray:
        """P(targets | known), one axis for each target."""
        cards = [int(self.program.arrays.cards[t]) for t in targets]
        found = self._best(
            lambda p: p.joint(targets, question), np.ravel, targets, np.array([0, math.prod(cards)])
        )
        return np.asarray(found).reshape(cards)

    def marginals(self, targets: Sequence[int] | None = None) -> np.ndarray:
        """P(v | known) for all of the user's variables, concatenated."""
        groups = self.program.arrays.state_at[: self.program.n_named + 1]
        found = self._best(lambda p: p.marginals(targets), np.asarray, targets, groups)
        return np.asarray(found)

    def _best(
        self,
        ask: Callable[[Any], _Answer],
        values_of: Callable[[_Answer], np.ndarray],
        targets: Sequence[int] | None,
        groups: np.ndarray | None,
    ) -> _Answer | np.ndarray:
        """The exact answer, or the tightest of the others; its report is recorded.

        `groups` says where each distribution begins among the values; None: the value is a single logarithm.
        """
        found = self._exactly(ask, targets)
        if found is not None:
            self.made.append(found[1])
            return found[0]
        rivals = self._asked(ask, values_of)
        best, error = _tightest(rivals)
        if best.report.exact:
            self.made.append(best.report)
            return best.values
        sure = next((r for r in rivals if r.name == Bounds.name), None)
        values, intervals, log_bounds = best.values, best.report.intervals, best.report.log_bounds
        if sure is not None:
            log_bounds = sure.report.log_bounds
            if groups is None and log_bounds is not None:
                values = values.clip(*log_bounds)
            elif groups is not None and sure.report.intervals is not None:
                intervals = sure.report.intervals
                values = _moved_inside(values, sure.values, intervals, groups)
        names = [r.name for r in rivals]
        said = (
            f"the tightest of {listed(names)} is that of {best.name}"
            if len(names) > 1
            else f"from {best.name}"
        )
        moved = not np.array_equal(values, best.values)
        self.made.append(
            best.report.changed(
                engine=Best.name,
                error=error,
                advice=said + (", moved into the bounds" if moved else ""),
                intervals=intervals,
                log_bounds=log_bounds,
            )
        )
        return values

    def _clock(self, share: float, least: float = 0.0) -> Clock:
        """A clock for this share of the remaining time; its profile is shared with the question's."""
        now = time.monotonic()
        left = min(max(share * (self.until - now), least), self.clock.remaining())
        return Clock(self.seconds, now + left, self.clock.profile)

    def _exactly(
        self, ask: Callable[[Any], _Answer], targets: Sequence[int] | None
    ) -> tuple[_Answer, Report] | None:
        """The exact answer, if its plan fits the time or a short search finds it."""
        clock = self._clock(_RUN)
        try:
            posterior = self._planned(clock, "", targets)[0]
            if posterior is not None:
                return ask(posterior), posterior.report
        except (TooLarge, OutOfTime):
            pass
        finally:
            self.clock.mark = clock.mark
        if not self._searches():
            return None
        clock = self._clock(_SEARCHED)
        try:
            posterior = prepare_engine(Search(), self.compiled, self.observed, None, clock)
            return ask(posterior), posterior.report
        except (TooLarge, OutOfTime):
            return None
        finally:
            self.clock.mark = clock.mark

    def _planned(
        self, clock: Clock, question: str, targets: Sequence[int] | None, *, fit: bool = True
    ) -> tuple[TableSums | None, Plan]:
        """An engine that is exact and in time, by one tree or many runs of a smaller one; None: neither."""
        allowed = _PLANNED * max(0.0, self.until - time.monotonic())
        posterior: TableSums = self._exact(clock, fit=fit)
        plan = posterior.plan(question, targets)
        if plan.fits:
            return posterior if plan.seconds <= allowed else None, plan
        if plan.offer_seconds > _OFFERED * allowed:
            return None, plan
        with suppress(TooLarge):
            posterior = prepare_engine(Conditioned(), self.compiled, self.observed, None, clock, fit=fit)
            other = posterior.plan(question, targets)
            if other.fits and other.seconds + _A_RUN * other.runs <= allowed:
                return posterior, other
        return None, plan

    def _exact(self, clock: Clock, *, fit: bool) -> Posterior:
        found = make_posterior(self.compiled, self.observed, clock, fit=fit)
        assert isinstance(found, Posterior)  # with continuous variables the exact engine is asked
        return found

    def _searches(self) -> bool:
        """Whether to try a search: if many factors have zeros."""
        has_zero = self.program.arrays.has_zero
        return not self.observed.soft and bool(has_zero.sum() >= _ZEROS * max(1, has_zero.size))

    def plan(self, question: str, targets: Sequence[int] | None) -> Plan:
        """The plan of the exact answer, or of the tree that takes too long and the engines asked instead."""
        seconds = f"{max(0.0, self.until - time.monotonic()):.2g} s"
        posterior, plan = self._planned(self.clock, question, targets, fit=False)
        if posterior is not None:
            return replace(
                plan, engine=Best.name, chosen=f'engine="{posterior.engine}": exact within {seconds}'
            )
        names = dict.fromkeys(one.name for one, _ in self._engines())
        first = '"search", then ' if self._searches() else ""
        return replace(
            plan,
            engine=Best.name,
            exact=False,
            chosen=f"no exact answer is expected within {seconds}",
            later=f"{first}{listed(list(names))} in turn, and the tightest answer is kept; the sizes are "
            "those of one tree",
        )

    def _engines(self) -> list[tuple[Engine, float]]:
        """The engines to ask, each with its share of the time that then remains."""
        fits = min(_DRAWN, current().memory_limit / 4) / (self.program.n + 16)
        samples = int(max(1_000, min(2e6, fits)))
        asked: list[tuple[CliqueSequence | Loopy | Bounds | Importance, float]] = [
            (CliqueSequence(), 0.3),
            (Loopy(damping=0.3, max_iter=10_000), 0.2),
            (Bounds(), 0.5),
            (Importance(samples=samples), 0.5),
            (Importance(samples=samples, guide="bounds"), 0.9),
        ]
        return [(one, share) for one, share in asked if one.takes_soft or not self.observed.soft]

    def _asked(
        self, ask: Callable[[Any], _Answer], values: Callable[[_Answer], np.ndarray]
    ) -> list[_Rival[_Answer]]:
        """The answers of the engines that have one."""
        found: list[_Rival[_Answer]] = []
        refused: list[TooLarge] = []

        def put(options: Engine, clock: Clock) -> None:
            try:
                posterior = prepare_engine(options, self.compiled, self.observed, None, clock)
                answer = ask(posterior)
                name = options.name + (" by bounds" if getattr(options, "guide", "") == Bounds.name else "")
                rival = _Rival(name, answer, values(answer), posterior.report)
                if np.isfinite(rival.values).all():
                    found.append(rival)
            except TooLarge as error:
                refused.append(error)
            except (OutOfTime, NoSupportFound, InvalidArgument):
                pass
            finally:
                self.clock.mark = clock.mark

        for options, share in self._engines():
            put(options, self._clock(share))
            if found and found[-1].report.exact:  # belief propagation is, on a tree
                return found[-1:]
        if not found and not refused:  # hardly enough time to plan: give one quick answer anyway
            put(Loopy(max_iter=_QUICK), Clock(self.clock.limit, self.clock.deadline, self.clock.profile))
        if found:
            return found
        if refused:
            raise refused[0]
        raise self._too_late()

    def _too_late(self) -> OutOfTime:
        more = "pgm.engines.Best(seconds=...)"
        if self.clock.remaining() == 0.0:  # then more seconds alone would not help
            more = f"pgm.set_config(time_limit=...) and {more}"
        return OutOfTime(
            f'engine="best" has no answer: no engine found one within {self.seconds:.2g} s. Allow more '
            f"with {more}."
        )


def _tightest(rivals: Sequence[_Rival[_Answer]]) -> tuple[_Rival[_Answer], float | None]:
    """The answer closest to the truth, as far as samples can tell, and an estimate of its error, if any.

    The expected squared distance of an answer from unbiased samples is its own squared error plus the
    variance of the samples. Without enough samples the first answer wins, except that bounds come before
    answers that have not converged; the distance to the closest other answer then estimates the error.
    """
    several = [r for r in rivals if r.report.modes > 1]
    if several:  # samples of one mode of a distribution look as good as samples of all
        return several[0], several[0].report.error
    judges = [(float(np.square(s).mean()), r) for r in rivals if (s := r.spread()) is not None]
    if not judges:
        best = min(rivals, key=lambda r: not r.report.converged and r.name != Bounds.name)
        apart = [math.sqrt(_distance(best, r)) for r in rivals if r is not best and r.name != Bounds.name]
        measured = [error for error in (best.report.error, min(apart, default=None)) if error is not None]
        return best, max(measured, default=None)
    noise, judge = min(judges, key=lambda one: one[0])

    def risk(r: _Rival[_Answer]) -> float:
        return noise if r is judge else _distance(r, judge) - noise

    best = min(rivals, key=risk)
    return best, max(math.sqrt(max(risk(best), noise)), best.report.error or 0.0)


def _distance(a: _Rival[_Answer], b: _Rival[_Answer]) -> float:
    """The mean squared difference of two answers."""
    return float(np.square(a.values - b.values).mean())


def _moved_inside(values: np.ndarray, middle: np.ndarray, sure: Intervals, groups: np.ndarray) -> np.ndarray:
    """Each distribution moved towards `middle`, which is within the bounds, until it satisfies them too."""
    low, high = np.ravel(sure.low), np.ravel(sure.high)
    with np.errstate(divide="ignore", invalid="ignore"):
        over, under = (values - high) / (values - middle), (low - values) / (middle - values)
    move = np.where(values > high, over, np.where(values < low, under, 0.0)).clip(0.0, 1.0)
    most = np.maximum.reduceat(move, groups[:-1])
    share = np.repeat(most, np.diff(groups))
    return np.asarray(np.where(share > 0.0, (1.0 - share) * values + share * middle, values))


@dataclass(frozen=True, eq=False, slots=True)
class HybridPortfolio(HybridPosterior):
    """The exact engine, the only one asked about models with continuous variables; it refuses maxima."""

    def assignments(
        self,
        variables: VariableList,
        targets: Sequence[int] | None,
        k: int,
        observed: Observed,
        *,
        normalised: bool,
    ) -> list[Assignment]:
        """Refuse: only the exact engine finds maxima of models with continuous variables."""
        raise no_states(Best.name, self.named())


def prepare(
    options: Best,
    compiled: ModelSnapshot,
    observed: Observed,
    about: Sequence[str] | None,
    clock: Clock,
    *,
    fit: bool = True,
) -> Portfolio | HybridPosterior:
    """Prepare the model and its evidence, and set the time budget."""
    if compiled.gaussians is not None:
        known, soft = by_position(compiled, observed, fit)
        at = Posterior(
            compiled.program, compiled.trees, known, clock, compiled.names, Exact.name, observed.given
        )
        return HybridPortfolio(**hybrid_fields(compiled, observed, at, soft))
    known, _ = by_position(compiled, observed)
    seconds = options.seconds if clock.limit is None else min(options.seconds, clock.limit)
    until = time.monotonic() + min(seconds, clock.remaining())
    return Portfolio(
        *(compiled.program, compiled.trees, known, clock, compiled.names, options.name, observed.given),
        compiled=compiled,
        observed=observed,
        seconds=seconds,
        until=until,
    )
