"""The most probable states: which engine finds them, and what is known of the answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgm.errors import InvalidArgument, OutOfTime, TooLarge, listed
from pgm.inference.engines import Bounds, BranchAndBound, Cuts, Engine, Expansion, branching, cuts, remedies
from pgm.inference.engines.approximate import Approximate
from pgm.inference.engines.portfolio import Portfolio
from pgm.inference.engines.posterior import Posterior, Wide, log_of
from pgm.inference.engines.problem import Problem, none_possible
from pgm.inference.program import SUMMED
from pgm.inference.program.reduction import reduce_case
from pgm.inference.trees import planned
from pgm.inference.trees.needs import Needs
from pgm.results import Report
from pgm.runtime.running import Impossible

_PASSING_STEPS = 3e9  # of a sum that is asked for beside something else: a few seconds
_SEARCH_WORK = 3e8  # of a search without a time limit: some seconds
_ONE_OF_SEVERAL = "one of several equally probable; it is not sure to be the first in declared order"


@dataclass(frozen=True, eq=False, slots=True)
class Explanation:
    """States of what was asked, P(states, known), and how they were found."""

    codes: np.ndarray
    value: Wide
    report: Report
    bound: float | None = None  # on log P(states, known) of any states; None: these are the best


def explain(
    posterior: Posterior, targets: Sequence[int] | None, k: int, engine: Engine, *, otherwise: bool
) -> tuple[list[Explanation], Wide | None]:
    """The k most probable states of the targets (None: of everything), and P(known) unless it is too large.

    Args:
        posterior: the model and what is known.
        targets: positions; for an engine that does not sum, all that are not observed.
        k: how many; 1 for an engine that does not find more.
        engine: who answers.
        otherwise: go on to minimum cuts where no tree fits, and to a search.
    """
    named = posterior.program.n_named
    summed = targets is not None and len({*targets, *posterior.known.hard}) < named
    if isinstance(posterior, Portfolio):
        other = BranchAndBound() if not summed else Bounds() if k == 1 else None

        def ask(one: Posterior, by: Engine) -> tuple[list[Explanation], Wide | None]:
            return explain(one, targets, k, by, otherwise=not summed)

        return posterior.explain(ask, other)
    if isinstance(posterior, Approximate) and k > 1:
        ranked = [Explanation(codes, value, how, bound) for codes, value, bound, how in posterior.several(k)]
        plain = Posterior(
            posterior.program, posterior.trees, posterior.known, posterior.clock, posterior.names
        )
        return [_asked(one, targets) for one in ranked], _total_in_passing(plain)
    if isinstance(posterior, Approximate):
        made = posterior.most_probable() if not summed else posterior.most_probable_of(targets or ())
        codes, value, bound, exactly = made
        found = Explanation(codes, value, posterior.report, bound)
        return [_asked(found, targets)], _total_in_passing(exactly)
    if isinstance(engine, Expansion):
        return [_asked(_by_moves(posterior, engine), targets)], _total_in_passing(posterior)
    if isinstance(engine, Cuts):
        return [_asked(_by_cuts(posterior), targets)], _total_in_passing(posterior)
    try:
        best = posterior.best(targets, k)
    except TooLarge as refused:
        if not otherwise or (k > 1 and refused.plan is None):  # a tree fits, not so many answers
            raise
        several = (
            [_by_cuts(posterior, refused.plan, search=True)] if k == 1 else _ranked(posterior, k, refused)
        )
        return [_asked(one, targets) for one in several], _total_in_passing(posterior)
    answers = [
        Explanation(codes, value, _exact("exact", settled, posterior)) for codes, value, settled in best
    ]
    return answers, posterior.total()


def _asked(found: Explanation, targets: Sequence[int] | None) -> Explanation:
    if targets is None:
        return found
    return Explanation(found.codes[list(targets)], found.value, found.report, found.bound)


def _exact(engine: str, settled: bool, posterior: Posterior) -> Report:
    advice = "" if settled else _ONE_OF_SEVERAL
    return Report(engine, exact=True, advice=advice, profile=posterior.clock.profile, given=posterior.given)


def _by_cuts(posterior: Posterior, plan: object = None, *, search: bool = False) -> Explanation:
    """By minimum cuts; `plan` is that of the tree which was refused before, if any.

    What neither they nor a tree can do is searched, if that is wanted.
    """
    engine = "cuts"

    def rest(allowed: np.ndarray) -> cuts.Found:
        nonlocal engine
        try:
            return cuts.Found(*posterior.best(None, 1, allowed)[0])
        except TooLarge:
            found = _by_branching(posterior, allowed) if search else None
            if found is None:
                raise
            engine = BranchAndBound.name
            return found

    try:
        found = cuts.maximum(posterior.program, posterior.known, posterior.clock, rest)
    except TooLarge as error:
        if error.plan is None:
            raise
        raise TooLarge(
            "The most probable states cannot be had exactly within the limits: a tree of cliques is too "
            f"large, minimum cuts do not settle enough{', a short search has not ended' if search else ''}. "
            "Observe more, or allow more with "
            f"pgm.set_config({'time_limit' if search else 'memory_limit'}=...)."
            f"{remedies('map')}\n\n{plan or error.plan!r}",
            plan or error.plan,
        ) from None
    return Explanation(found.codes, found.value, _exact(engine, found.settled, posterior))


def _by_branching(posterior: Posterior, allowed: np.ndarray) -> cuts.Found | None:
    """By branch and bound, until the time limit, or without one some seconds; None if that is too short."""
    program, clock = posterior.program, posterior.clock
    case = cuts.reduce_everything(program, posterior.known, clock, allowed)
    if (program.kinds[case.reduced.variables] == SUMMED).any():
        return None
    try:
        states = branching.best_states(case, clock, math.inf if clock.deadline else _SEARCH_WORK)
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
    return cuts.Found(*posterior.worth(case, states)[:2], settled=False)


def _ranked(posterior: Posterior, k: int, refused: TooLarge) -> list[Explanation]:
    """The k best by branch and bound, until the time limit, or without one some seconds."""
    program, clock = posterior.program, posterior.clock
    case = cuts.reduce_everything(program, posterior.known, clock)
    if (program.kinds[case.reduced.variables] == SUMMED).any():
        raise refused
    problem = Problem(case, {}, posterior.names, posterior.trees)
    try:
        found = branching.rank(problem, k, 0, clock, math.inf if clock.deadline else _SEARCH_WORK)
    except OutOfTime:
        found = None
    if found is not None and all(found.sure):
        report = _exact(BranchAndBound.name, found.settled, posterior)
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


def _by_moves(posterior: Posterior, options: Expansion) -> Explanation:
    program = posterior.program
    case = cuts.reduce_everything(program, posterior.known, posterior.clock)
    r = case.reduced
    widths = np.diff(r.scope_at)
    if widths.max(initial=0) > 2:
        f = int(np.argmax(widths))
        places = r.variables[r.scopes[r.scope_at[f] : r.scope_at[f + 1]]].tolist()
        named = listed([posterior.names[v] for v in places if v < program.n_named])
        raise InvalidArgument(
            f'engine="expansion" takes factors over two variables at most; one is over {widths[f]} that are '
            f"not observed, {named} among them. Observe some of these."
        )
    card = int(r.cards.max(initial=1))
    cuts.check_room(case, 40, 60 + 48 * card)
    moved = cuts.expand(case, options.sweeps, options.bound_sweeps, posterior.clock)
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


def _total_in_passing(posterior: Posterior) -> Wide | None:
    """P(known) where it is had quickly."""
    try:
        case = reduce_case(posterior.program, posterior.known, [], posterior.clock)
        needs = Needs("the probability of the evidence")
        shape = planned(case, posterior.clock, posterior.trees)
        if not needs.fits(shape) or needs.steps(shape) > _PASSING_STEPS:
            return None
        return posterior.total()
    except (TooLarge, OutOfTime):
        return None
