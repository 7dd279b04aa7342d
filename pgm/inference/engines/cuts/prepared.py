"""Minimum cuts, and moves based on them, as engines."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pgm.errors import InvalidArgument, TooLarge, listed
from pgm.evidence import Observed
from pgm.inference.engines import remedies
from pgm.inference.engines.by_position import make_posterior, no_states
from pgm.inference.engines.cuts import Cuts, Expansion, expansion, multilevel
from pgm.inference.engines.exact.posterior import Posterior, exactly
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.engines.naming import Explanation, NamedMaxima
from pgm.inference.engines.problem import BestStates, Rest, none_possible
from pgm.inference.engines.table_sums import Context
from pgm.inference.engines.wide_numbers import Wide, log_of
from pgm.inference.program import SUMMED
from pgm.inference.program.reduction import reduce_everything
from pgm.results import Report
from pgm.runtime.clock import Clock
from pgm.runtime.running import Impossible


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class CutsMaxima(Context, NamedMaxima):
    """A model and its evidence, to be maximised by cuts."""

    options: Cuts | Expansion

    def explained(
        self, targets: Sequence[int] | None, k: int
    ) -> tuple[list[Explanation], Callable[[], Wide | None]]:
        """The best states, and P(known) if it is cheap."""
        at = exactly(self)
        if isinstance(self.options, Expansion):
            found = by_moves(at, self.options)
        else:
            engine, best = by_cuts(at, lambda allowed: (None, at.best(None, 1, allowed)[0]))
            found = Explanation(best.codes, best.value, at.report_of(engine, best.ties_broken))
        return [found.of(targets)], at.total_in_passing


def prepare(
    options: Cuts | Expansion,
    compiled: ModelSnapshot,
    observed: Observed,
    about: Sequence[str] | None,
    clock: Clock,
    *,
    fit: bool = True,
) -> CutsMaxima:
    """Prepare this engine; minimum cuts do not handle continuous variables."""
    if compiled.gaussians is not None:
        raise no_states(options.name, [compiled.names[v] for v in compiled.gaussians.positions.tolist()])
    at = make_posterior(compiled, observed, clock, options.name, fit=fit)
    return CutsMaxima(
        *(at.program, at.trees, at.known, clock, at.names, at.engine, at.given), options=options
    )


def instead(
    at: Posterior, k: int, allowed: np.ndarray | None, rest: Rest, refused: TooLarge
) -> tuple[str, list[BestStates]] | None:
    """The cuts that "auto" tries; `rest` asks the engines that follow."""
    engine, found = by_cuts(at, rest, refused.plan, search=True)
    return engine, [found]


def by_cuts(
    posterior: Posterior, rest: Rest, plan: object = None, *, search: bool = False
) -> tuple[str, BestStates]:
    """The best states by minimum cuts, and by `rest` for what they leave; also which engine answered.

    Args:
        posterior: the model and its evidence.
        rest: finds the best of the states that are still allowed.
        plan: the plan of the tree that was refused before, if any.
        search: whether `rest` includes a search, for the message if nothing helps.
    """
    engine = Cuts.name

    def named(allowed: np.ndarray) -> BestStates:
        nonlocal engine
        other, found = rest(allowed)
        engine = other or engine
        return found

    try:
        found = multilevel.maximum(posterior.program, posterior.known, posterior.clock, named)
    except TooLarge as error:
        if error.plan is None:
            raise
        tried, more = "", "memory_limit"
        if search and (posterior.program.kinds == SUMMED).any():
            tried = "; a search takes no model in which variables hidden inside gates are summed"
        elif search:
            tried, more = "; a short search did not finish either", "time_limit"
        raise TooLarge(
            "The most probable states cannot be found exactly within the limits: the junction tree is too "
            "large, and minimum cuts leave too many variables undecided"
            f"{tried}. Observe more, or allow more with pgm.set_config({more}=...)."
            f"{remedies('map')}\n\n{plan or error.plan!r}",
            plan or error.plan,
        ) from None
    return engine, found


def by_moves(posterior: Posterior, options: Expansion) -> Explanation:
    """Good states by expansion moves, with a bound."""
    program = posterior.program
    case = reduce_everything(program, posterior.known, posterior.clock)
    r = case.reduced
    widths = np.diff(r.scope_at)
    if widths.max(initial=0) > 2:
        f = int(np.argmax(widths))
        places = r.variables[r.scopes[r.scope_at[f] : r.scope_at[f + 1]]].tolist()
        named = listed([posterior.names[v] for v in places if v < program.n_named])
        raise InvalidArgument(
            f'engine="expansion" takes factors over at most two unobserved variables; one is over '
            f"{widths[f]}, {named} among them. Observe some of these."
        )
    card = int(r.cards.max(initial=1))
    multilevel.check_size(case, 40, 60 + 48 * card)
    moved = expansion.expand(case, options.sweeps, options.bound_sweeps, posterior.clock)
    bound = log_of(case.constant()) - moved.least * math.log(2.0)
    bound += 2.0**-50 * (abs(bound) + program.n)  # the constant is a rounded product
    try:
        codes, value, more = posterior.worth(case, moved.states)
    except Impossible:
        raise none_possible(options.name) from None
    bound = max(bound + more, log_of(value))
    report = Report(
        options.name,
        exact=False,
        converged=moved.converged,
        error=bound - log_of(value),
        iterations=moved.sweeps,
        profile=posterior.clock.profile,
        advice="" if moved.converged else "allow more time or sweeps=",
        given=posterior.given,
    )
    return Explanation(codes, value, report, bound)
