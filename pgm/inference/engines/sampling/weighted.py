"""Independent weighted samples: rejection, likelihood weighting, and importance sampling with a guide."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from pgm.errors import InvalidArgument, NoSupportFound, OutOfTime
from pgm.inference.engines.bounds import Bounds, mini_buckets
from pgm.inference.engines.loopy import Loopy, propagation
from pgm.inference.engines.sampling import Importance, LikelihoodWeighting, Rejection
from pgm.inference.engines.sampling.draws import Draws, generator, room_of
from pgm.inference.engines.sampling.lookup_arrays import SAMPLING, LookupLayout, check_samples
from pgm.inference.engines.sampling.steps import (
    NO_GUIDES,
    GuideArrays,
    StepArrays,
    make_guides,
    make_steps,
    parents_first,
)
from pgm.runtime.clock import RUNNING, Clock
from pgm.runtime.progress import report as report_progress
from pgm.runtime.running import Impossible, raise_status
from pgm.runtime.threads import Task, run_all

_CHUNK = 2e6  # inner steps of one piece of work, which is never split
_SECONDS = 3e-9  # of an inner step
_PLAIN_EVERY = 20  # one sample in this many is drawn without the guide
_UNSEEN = 1.5  # over n: half of the 95 % bound 3 / n on the probability of an event that never occurred
_STRENGTHS = (1.0, 0.75, 0.5, 0.25, 0.0)  # of a guide: powers to which its messages are raised
_TRIAL = 400  # samples for each strength
_LN2 = math.log(2.0)


@dataclass(frozen=True, eq=False, slots=True)
class Proposal:
    """The proposal distribution; the weights correct for its difference from the true factors.

    An engine with messages over several variables makes one of these: each message is a guide, and is read
    once all of its variables but the last are drawn.
    """

    steps: StepArrays
    guides: GuideArrays = NO_GUIDES
    values: np.ndarray = field(default_factory=lambda: np.empty(0))  # logarithms: the tables concatenated
    plain_every: int = 0  # one sample in this many is drawn without the guides, in case these are far off
    perfect: bool = False  # all weights are equal: proven, not observed


def from_network(layout: LookupLayout) -> Proposal:
    """Draw parents first, each from its own table; evidence only weights the sample."""
    order, asked = parents_first(layout)
    steps = make_steps(layout, order)
    return Proposal(steps._replace(asked=asked[steps.refs].astype(np.uint8)))


def from_beliefs(layout: LookupLayout, sent: propagation.Messages) -> Proposal:
    """Draw each from all complete factors, and from the messages of the others in belief propagation."""
    g = sent.graph.arrays
    # In a wider factor the second variable's message would sum over the first, ignoring its drawn state.
    perfect = sent.exact and int(np.diff(g.scope_at).max(initial=0)) <= 2
    order = sent.walked if perfect else parents_first(layout)[0]
    steps = make_steps(layout, order)
    missing = np.ones(g.scopes.size, bool)
    missing[steps.refs] = False
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    # A variable drawn before its neighbours reads messages; the last of a factor sees the others' states.
    axes = np.flatnonzero(missing)
    sizes = g.cards[g.scopes[axes]]
    ends = np.cumsum(sizes)
    within = np.arange(int(sizes.sum())) - np.repeat(ends - sizes, sizes)
    to = np.repeat(g.state_at[g.scopes[axes]], sizes) + within
    np.add.at(steps.guide, to, sent.messages[np.repeat(g.message_at[axes], sizes) + within])
    return Proposal(steps, plain_every=0 if perfect else _PLAIN_EVERY, perfect=perfect)


def from_buckets(layout: LookupLayout, bound: mini_buckets.Bound) -> Proposal:
    """Draw in reverse elimination order, from the factors and the messages to the mini-buckets."""
    found, cards = bound.tables.outline, layout.arrays.cards
    sends = found.parent >= 0
    widths = np.where(sends, np.diff(found.scope_at) - 1, 0)
    ends = np.repeat(found.scope_at[1:], np.diff(found.scope_at)) - 1
    kept = np.repeat(sends, np.diff(found.scope_at)) & (np.arange(found.scopes.size) != ends)
    scope_at = np.concatenate([[0], np.cumsum(widths[sends])]).astype(np.int64)
    guides = make_guides(cards, scope_at, found.scopes[kept])
    values = bound.state.sent[np.repeat(sends, np.diff(bound.tables.arrays.sent_at))]
    perfect = not found.n_split
    steps = make_steps(layout, found.order[::-1].copy(), guides)
    return Proposal(steps, guides, values, 0 if perfect else _PLAIN_EVERY, perfect)


def tempered(proposal: Proposal, layout: LookupLayout, options: Importance, clock: Clock) -> Proposal:
    """The proposal with its guides tempered to the best strength: loops make them overconfident."""
    if proposal.perfect:
        return proposal
    best, most = proposal, -1.0
    trial = min(_TRIAL, 20 + options.samples // 10)
    for i, strength in enumerate(_STRENGTHS):
        one = replace(
            proposal,
            steps=proposal.steps._replace(guide=_weaker(proposal.steps.guide, strength)),
            values=_weaker(proposal.values, strength),
            plain_every=proposal.plain_every if strength else 0,
        )
        key = (1 << 31) + i  # separate samples: the choice must not depend on those of the answer
        try:
            logs = draw_from(one, layout, options.name, trial, options.seed, clock, key=key)[1]
        except OutOfTime:
            return best
        worth = _effective(logs)
        if worth > most:
            best, most = one, worth
    return best


def _weaker(logs: np.ndarray, strength: float) -> np.ndarray:
    return strength * logs if strength else np.zeros_like(logs)


def _effective(logs: np.ndarray) -> float:
    """The effective sample size of weights, given their logarithms."""
    top = float(logs.max(initial=-math.inf))
    if top == -math.inf:
        return 0.0
    weights = np.exp(logs - top)
    return float(weights.sum() ** 2 / (weights**2).sum())


def draw(layout: LookupLayout, options: Rejection | LikelihoodWeighting | Importance, clock: Clock) -> Draws:
    """Draw and weight samples."""
    if isinstance(options, Rejection):
        _check_network(layout)
    if isinstance(options, Importance):
        proposal = tempered(_guided(layout, options, clock), layout, options, clock)
    else:
        proposal = from_network(layout)
    states, logs, indices = draw_from(proposal, layout, options.name, options.samples, options.seed, clock)
    top = float(logs.max())
    if top == -math.inf:
        raise nothing_found(options.name, logs.size)
    if isinstance(options, Rejection):
        return _accepted(layout, options, states, logs)
    weights = np.exp(logs - top)
    total = math.fsum(weights.tolist())
    mean = total / logs.size
    every = proposal.plain_every
    plain = indices % every == every - 1 if every else np.zeros(logs.size, bool)
    # The count of samples of each kind was fixed in advance, so a difference between kinds is not an error.
    spread = math.fsum(float(w.var(ddof=1)) * w.size for w in (weights[plain], weights[~plain]) if w.size > 1)
    # An event in none of n samples has a probability below 3 / n for 95 of 100 seeds; but not if all
    # weights are known to be equal.
    unseen = _UNSEEN / logs.size
    log = top + math.log(mean)
    rounding = 2.0**-50 * (abs(log) + layout.steps)
    error = rounding if proposal.perfect else math.hypot(math.sqrt(spread) / total, unseen)
    return Draws(layout, states, 0, weights / total, log, error, logs.size, options.samples)


def _guided(layout: LookupLayout, options: Importance, clock: Clock) -> Proposal:
    if options.guide == "loopy":
        sent = propagation.send(layout.problem, Loopy(max_iter=options.guide_iter), clock)
        return from_beliefs(layout, sent)
    bound = mini_buckets.heuristic(layout.problem, Bounds(iterations=options.guide_iter), clock)
    if bound.log == -math.inf:
        raise Impossible
    return from_buckets(layout, bound)


def _accepted(layout: LookupLayout, options: Rejection, states: np.ndarray, logs: np.ndarray) -> Draws:
    """Keep each sample with the probability that the rest of its evidence comes out as observed."""
    case, constant = layout.problem.case, layout.graph.constant
    # Weights of evidence may exceed one: samples are kept in proportion to the largest possible weight.
    begins = case.virtual_at[:-1]
    most = np.maximum.reduceat(case.virtual_values, begins) if begins.size else np.ones(0)
    powers = float(case.virtual_exponents[begins].sum()) if begins.size else 0.0
    shift = math.log(constant[0]) + constant[1] * _LN2
    largest = math.log(case.weight[0]) + (case.weight[1] - powers) * _LN2 + float(np.log(most).sum())
    chances = np.exp(logs + (shift - largest))
    kept = generator(options.seed, 1 << 31).random(logs.size) < chances
    n = int(kept.sum())
    if n == 0:
        raise nothing_found(options.name, logs.size)
    share = n / logs.size
    log = math.log(share) - shift + largest
    error = math.sqrt((1.0 - share) / n)
    return Draws(layout, states[kept], 0, np.full(n, 1.0 / n), log, error, logs.size, options.samples)


def draw_from(
    proposal: Proposal,
    layout: LookupLayout,
    name: str,
    samples: int,
    seed: int,
    clock: Clock,
    *,
    key: int = 0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Samples, their log weights and their indices; fewer if the time limit is reached first."""
    m = layout.arrays.cards.size
    steps = layout.steps + 4.0 * float(layout.arrays.cards[proposal.guides.scopes].sum())
    chunk = max(1, min(samples, int(_CHUNK / max(1.0, steps))))
    kind = layout.states_type
    room = float(samples) * (m * np.dtype(kind).itemsize + 8.0) + 8.0 * chunk * m
    check_samples(name, room, f"{samples:,} samples of {m:,} variables")
    states: np.ndarray = np.empty((samples, m), kind)
    logs = np.empty(samples)
    chunks = range(-(-samples // chunk))
    done = np.zeros(len(chunks), bool)

    def work(i: int, stop: np.ndarray) -> None:
        part = slice(i * chunk, min(samples, (i + 1) * chunk))
        uniforms = generator(seed, key, i).random((part.stop - part.start, m))
        guides = proposal.guides, proposal.values, proposal.plain_every
        args = layout.arrays, proposal.steps, *guides, part.start, uniforms
        status = SAMPLING.weigh(*args, states[part], logs[part], room_of(layout), stop)
        if not stop[0]:
            raise_status(status, "weigh", clock)
            done[i] = True
            report_progress(float(done.sum()), float(done.size), "samples")

    seconds = chunk * steps * _SECONDS
    try:
        run_all([Task(partial(work, i), seconds) for i in chunks], clock)
    except OutOfTime:
        if not done.any():
            raise
    clock.lap(RUNNING)
    if done.all():
        return states, logs, np.arange(samples)
    kept = np.flatnonzero(np.repeat(done, chunk)[:samples])
    return states[kept], logs[kept], kept


def nothing_found(name: str, samples: int) -> NoSupportFound:
    """The error if every sample had weight zero or was rejected."""
    found = "was accepted" if name == Rejection.name else "had non-zero weight"
    return NoSupportFound(
        f'engine="{name}": no sample of {samples:,} {found}; this does not prove that '
        'the evidence is impossible. engine="importance" looks for rare cases; more samples= may find one.'
    )


def _check_network(layout: LookupLayout) -> None:
    """Refuse a model whose factors are not conditional distributions."""
    case = layout.problem.case
    p = case.program.arrays
    inside = np.concatenate([case.reduced.factors[case.reduced.factors < p.heads.size], case.reduced.scalars])
    if (p.heads[p.leader[inside]] != 1).any():
        raise InvalidArgument(
            'engine="rejection" draws each variable from its table given its parents; this model has a '
            'factor that is not such a table. Use "importance", "likelihood-weighting" or "gibbs".'
        )
