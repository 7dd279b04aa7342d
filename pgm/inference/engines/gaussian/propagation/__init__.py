"""Belief propagation for continuous variables: normal messages (Pearl 1988; Weiss & Freeman 2001).

Without loops all means and variances are exact. With loops, means are exact once messages converge, but
variances are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pgm.errors import InvalidArgument, InvalidEvidence, OutOfTime, TooLarge, listed
from pgm.evidence import Observed
from pgm.inference.engines.by_position import by_position, no_states
from pgm.inference.engines.exact.posterior import Posterior
from pgm.inference.engines.factor_graph import GRAPHS
from pgm.inference.engines.gaussian import answers, elimination
from pgm.inference.engines.gaussian.deterministic import chosen_rows
from pgm.inference.engines.gaussian.hybrid import HybridSums, hybrid_fields
from pgm.inference.engines.gaussian.scores import refuse_intervals
from pgm.inference.engines.loopy import Loopy
from pgm.inference.engines.loopy.propagation import how_to_go_on
from pgm.inference.program.continuous import starts
from pgm.inference.program.reduction import reduce_case
from pgm.results import Assignment, Density, Marginals, Report, as_density
from pgm.runtime.clock import Clock
from pgm.runtime.kinds import Floats, Ints
from pgm.runtime.loops import Loops
from pgm.runtime.progress import report as report_progress
from pgm.runtime.running import run
from pgm.variables import Variable, VariableList

if TYPE_CHECKING:
    from pgm.inference.engines.model_snapshot import ModelSnapshot

MESSAGES = Loops("pgm.inference.engines.gaussian.propagation.compiled")
_ROUNDING = 1e-13  # relative to a mean's distance from 0 in standard deviations
_NOTHING = np.empty(0)
_LEAST = 1e-150  # a smaller sd has no precision in doubles


class Equations(NamedTuple):
    """The relevant densities, as equations `left` x = `right` + a standard normal."""

    scope_at: Ints  # [m + 1]
    scopes: Ints  # hidden continuous variables, by their own index
    owner: Ints  # the equation of each entry of `scopes`
    user_at: Ints  # [n + 1]
    users: Ints  # the entries of `scopes` that each variable occurs in
    left: Floats  # the coefficient of each entry
    right: Floats  # [m]


@dataclass(frozen=True, eq=False, slots=True)
class Beliefs:
    """The result of message passing."""

    variables: np.ndarray  # their indices, ascending
    belief: np.ndarray  # the precision of each, and precision times mean
    report: Report


@dataclass(frozen=True, eq=False, slots=True)
class NormalMessages(HybridSums):
    """A model whose questions about continuous variables are answered by messages; none about states."""

    options: Loopy = field(kw_only=True)
    wanted: np.ndarray = field(kw_only=True)  # the indices of the variables that will be asked about
    unproven: str = field(kw_only=True)  # what was not checked, as text
    found: list[Beliefs] = field(kw_only=True, default_factory=list)  # empty before the first question

    @property
    def report(self) -> Report:
        """How the answers are made."""
        made = self._beliefs().report
        if self.unproven:
            advice = "; ".join(part for part in (made.advice, self.unproven) if part)
            made = made.changed(exact=False, error=None, advice=advice)
        return made.changed(profile=self.clock.profile, given=self.given)

    def _beliefs(self) -> Beliefs:
        if not self.found:
            self.found.append(_send(self))
        return self.found[0]

    def at_once(self) -> bool:
        """No: there is no tree; all densities come from the messages."""
        return False

    @property
    def doubtful(self) -> bool:
        """Whether messages have not converged."""
        return not self._beliefs().report.converged

    def assignments(
        self,
        variables: VariableList,
        targets: Sequence[int] | None,
        k: int,
        observed: Observed,
        *,
        normalised: bool,
    ) -> list[Assignment]:
        """Refuse: max-product is for discrete variables."""
        raise no_states(self.engine, self.named())

    def every_marginal(self, variables: VariableList, targets: Sequence[int] | None) -> Marginals:
        """The density of each unobserved continuous variable, from its messages."""
        return answers.marginals(variables, self, targets, _NOTHING)

    def density(self, positions: Sequence[int], variables: tuple[Variable, ...], report: Report) -> Density:
        """The density of one continuous variable, from its messages."""
        if len(positions) > 1:
            raise InvalidArgument(
                f'engine="{self.engine}" gives the density of one continuous variable, not a joint density '
                f'as of {listed([v.name for v in variables])}; ask for marginals, or use engine="exact".'
            )
        (x,) = self.among(positions)
        if self.seen[x]:
            mean, variance = self.value[x], 0.0
        else:
            found = self._beliefs()
            precision, weighted = found.belief[np.searchsorted(found.variables, x)]
            if precision <= 0.0:
                raise InvalidArgument(
                    f"After {found.report.iterations} sweeps no message has reached {variables[0].name!r}: "
                    "raise max_iter= of pgm.engines.Loopy."
                )
            mean, variance = weighted / precision, 1.0 / precision
        return as_density(variables, np.ones(1), np.full((1, 1), mean), np.full((1, 1, 1), variance), report)


def normal_messages(
    compiled: ModelSnapshot, observed: Observed, about: Sequence[str] | None, options: Loopy, clock: Clock
) -> NormalMessages | None:
    """The model, ready for normal messages; None if the question is about discrete variables."""
    if compiled.gaussians is None or (about is not None and not about):
        return None
    names = [n for n in compiled.names if n not in observed.given] if about is None else about
    wanted = compiled.gaussians.index_of[[compiled.position[n] for n in names]]
    if (wanted < 0).any():
        return None
    refuse_intervals(observed, compiled, options.name)
    if options.schedule == "residual" or options.trace:
        what = "trace=True" if options.trace else 'schedule="residual"'
        raise InvalidArgument(
            f"pgm.engines.Loopy({what}) is for discrete variables, and {listed(list(names))} "
            f"{'are' if names[1:] else 'is'} continuous."
        )
    known, _ = by_position(compiled, observed, fit=False)
    plain = Posterior(
        compiled.program, compiled.trees, known, clock, compiled.names, options.name, observed.given
    )
    own = hybrid_fields(compiled, observed, plain, {})
    mixed = HybridSums(**own)
    unproven = ""
    if observed.hard or observed.weights or observed.soft:  # this raises if they are impossible
        try:
            replace(mixed, seen=np.zeros_like(mixed.seen)).total()
        except TooLarge:
            reduce_case(mixed.program, mixed.known, [], clock)
            unproven = "the tree that would prove the evidence possible does not fit in memory"
    return NormalMessages(**own, options=options, wanted=wanted, unproven=unproven)


def _equations(at: NormalMessages) -> tuple[np.ndarray, Equations]:
    """The unobserved continuous variables of the question, and the equations between them."""
    g = at.gaussians
    d, marked = g.arrays, at.seen.copy()
    marked[at.wanted] = 1
    relevant = elimination.ancestors(g, marked) != 0
    at.refuse_unknown(relevant)
    codes = np.zeros(g.index_of.size, np.int64)
    cards = np.asarray(at.program.arrays.cards[: g.index_of.size])
    unknown = (cards > 1) & (g.index_of < 0)
    for v, state in at.known.hard.items():
        codes[v], unknown[v] = state, False
    of_switch = np.repeat(np.arange(g.n), np.diff(d.switch_at))
    if (open_ := relevant[of_switch] & unknown[d.switches]).any():
        names = [at.names[v] for v in np.unique(d.switches[open_])]
        raise InvalidEvidence(
            f'engine="{at.engine}": continuous variables in this question depend on {listed(names)}, so '
            'their distributions are mixtures. Observe these, or use engine="exact".'
        )
    rows = chosen_rows(at, codes)
    sd = d.sd[rows]
    if (silent := relevant & (sd < _LEAST)).any():
        raise InvalidArgument(
            f'engine="{at.engine}" sends no messages through densities without noise (sd=0): '
            f'{listed(at.named(np.flatnonzero(silent)))}. Give them a positive sd, or use engine="exact".'
        )
    per = np.where(relevant, 1.0 / np.maximum(sd, _LEAST), 0.0)  # irrelevant variables have no equation
    counts = np.diff(d.parent_at)
    child = np.repeat(np.arange(g.n), counts)
    within = np.arange(d.parents.size) - d.parent_at[:-1][child]
    weights = d.weights[(d.weight_at[:-1] + (rows - d.row_at[:-1]) * counts)[child] + within]
    # Each equation: the variable itself, then its parents.
    owner = np.concatenate([np.arange(g.n), child])
    members = np.concatenate([np.arange(g.n), d.parents])
    left = np.concatenate([per, -weights * per[child]])
    known = at.seen[members] != 0
    observed = np.bincount(owner[known], left[known] * at.value[members[known]], minlength=g.n)
    right = d.bias[rows] * per - observed
    stays = relevant[owner] & ~known & (left != 0.0)
    with np.errstate(over="ignore"):
        if not (np.isfinite(left * left).all() and np.isfinite(right).all()):
            raise InvalidArgument(
                f'engine="{at.engine}": weights, values or standard deviations are so far from 1 that their '
                "squares leave the range of doubles. Choose other units."
            )
    order = np.argsort(owner[stays], kind="stable")
    owner, members, left = owner[stays][order], members[stays][order], left[stays][order]
    of, owner = np.unique(owner, return_inverse=True)
    hidden, scopes = np.unique(members, return_inverse=True)
    e = Equations(
        scope_at=starts(np.bincount(owner, minlength=of.size)),
        scopes=scopes.astype(np.int64),
        owner=owner.astype(np.int64),
        user_at=starts(np.bincount(scopes, minlength=hidden.size)),
        users=np.argsort(scopes, kind="stable"),
        left=left,
        right=right[of],
    )
    return hidden, e


def _send(at: NormalMessages) -> Beliefs:
    """Send messages until beliefs converge or `max_iter` is reached."""
    options, clock = at.options, at.clock
    hidden, e = _equations(at)
    steps = 4.0 * float((np.diff(e.scope_at).astype(np.float64) ** 2).sum()) + 4.0 * e.scopes.size
    order, reached_by = np.empty(hidden.size, np.int64), np.empty(hidden.size, np.int64)
    scopes, owner, users = (x.astype(np.int32) for x in (e.scopes, e.owner, e.users))
    links = e.scope_at, scopes, owner, e.user_at, users
    loops = not GRAPHS.walk(*links, np.empty(e.right.size, np.int64), order, reached_by)
    down, sent = np.zeros((e.scopes.size, 2)), np.zeros((e.scopes.size, 2))
    belief, out = np.zeros((hidden.size, 2)), np.zeros(1)
    at_once = options.schedule == "parallel"
    residuals: list[float] = []
    late = False

    def has_converged(tol: float) -> bool:
        heard = belief[:, 0] > 0.0
        far = np.abs(belief[heard, 1]) / np.sqrt(belief[heard, 0])
        return residuals[-1] <= max(tol, _ROUNDING * (1.0 + float(far.max(initial=0.0))))

    while len(residuals) < options.max_iter:
        report_progress(float(len(residuals)), float(options.max_iter), "messages")
        turn = order if len(residuals) % 2 else order[::-1].copy()  # in from the ends, then out again
        args = e, turn, at_once, options.damping, down, sent, belief, out
        try:
            run("sweep", *args, steps=steps, clock=clock, module=MESSAGES)
        except OutOfTime:
            if not residuals:
                raise
            late = True
            break
        residuals.append(float(out[0]))
        if has_converged(options.tol) or not np.isfinite(out[0]):
            break
    converged = not residuals or (not late and has_converged(options.tol))
    advice = ""
    if not converged:
        what = f"means still move by {residuals[-1]:.2g} standard deviations"
        advice = how_to_go_on(what, len(residuals), late, options)
    elif loops:
        advice = "there are loops: means are exact, variances are not"
    report = Report(
        options.name,
        exact=converged and not loops and (not residuals or has_converged(0.0)),
        converged=converged,
        iterations=len(residuals),
        residuals=tuple(residuals),
        advice=advice,
    )
    return Beliefs(hidden, belief, report)
