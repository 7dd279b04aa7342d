"""From samples to answers: each has a standard error, a 95 % interval and an effective sample size."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pgm.inference.engines.loopy.propagation import wide_of
from pgm.inference.engines.problem import Problem, Solution
from pgm.inference.engines.sampling import Gibbs, Importance, Sampler, SwendsenWang, chains, weighted
from pgm.inference.engines.sampling.diagnostics import effective_sample_size, r_hat, share_interval
from pgm.inference.engines.sampling.draws import Draws, generator
from pgm.inference.engines.sampling.gibbs_blocks import check_names
from pgm.inference.engines.sampling.lookup_arrays import SAMPLING, LookupLayout, lay_out
from pgm.inference.program.reduction import open_targets, wide_multiply
from pgm.results import NORMAL_95, Intervals, Report
from pgm.runtime.clock import Clock
from pgm.runtime.progress import report as report_progress

_LEAST_SIZE = 100.0  # effective samples below which an answer counts as not converged
_MOST_R_HAT = 1.05
_AT_ONCE = 5e5  # draws whose autocorrelations are computed together


def solve(problem: Problem, options: Sampler, clock: Clock) -> Solution:
    """Draw samples and answer from them: all marginals, a joint, or only the total."""
    if isinstance(options, Gibbs | SwendsenWang):
        check_names(options, problem.names)
    layout = lay_out(problem, options.name)
    if layout.alone.all() and not _traced(options):  # all variables are independent: no sample is needed
        return _without_draws(layout, options.name)
    drawn = _draw(layout, options, clock)
    targets = problem.targets
    values, measured = _marginals(drawn) if targets is None else _joint(drawn, targets)
    report = _report(drawn, options, measured)
    constant = layout.graph.constant
    return Solution(
        values=values,
        total=lambda: wide_multiply(constant, wide_of(drawn.log_total)),
        weights=dict,
        report=report,
    )


def sample(problem: Problem, options: Sampler, clock: Clock, n: int, seed: int) -> tuple[np.ndarray, Report]:
    """Draw n samples of all reduced variables: from chains, or weighted samples resampled by weight."""
    if isinstance(options, Gibbs | SwendsenWang):
        check_names(options, problem.names)
    options = replace(options, samples=max(n, options.samples), seed=seed)
    layout = lay_out(problem, options.name)
    drawn = _draw(layout, options, clock)
    if drawn.chains:
        chosen = np.arange(n) * len(drawn.states) // max(1, n)
    else:
        chosen = generator(seed, 1 << 34).choice(len(drawn.states), n, p=drawn.weights)
    report = _report(drawn, options, _marginals(drawn)[1])
    note = (
        "successive cases of a chain are correlated"
        if drawn.chains
        else "resampled by weight: a case may occur several times"
    )
    advice = f"{report.advice}; {note}" if report.advice else note
    return drawn.states[chosen].astype(np.int64), report.changed(advice=advice, intervals=None)


def _draw(layout: LookupLayout, options: Sampler, clock: Clock) -> Draws:
    if isinstance(options, Gibbs | SwendsenWang):
        return chains.draw(layout, options, clock)
    return weighted.draw(layout, options, clock)


def _traced(options: Sampler) -> tuple[str, ...]:
    return tuple(options.trace) if isinstance(options, Gibbs | SwendsenWang) else ()


def _alone(layout: LookupLayout) -> np.ndarray:
    """The distribution of each variable from its own factors only, one after the other."""
    a = layout.arrays
    if not a.cards.size:
        return np.empty(0)
    tops = np.maximum.reduceat(a.local, a.state_at[:-1])
    values = np.exp(a.local - np.repeat(tops, a.cards))
    return np.asarray(values / np.repeat(np.add.reduceat(values, a.state_at[:-1]), a.cards))


def _product(values: np.ndarray, layout: LookupLayout, targets: np.ndarray) -> np.ndarray:
    """The joint distribution of independent variables, flat."""
    table = np.ones(1)
    for v in targets.tolist():
        part = slice(int(layout.arrays.state_at[v]), int(layout.arrays.state_at[v + 1]))
        table = np.multiply.outer(table, values[part]).ravel()
    return table


def _without_draws(layout: LookupLayout, name: str) -> Solution:
    """The exact answer where no factor is over several variables."""
    a = layout.arrays
    values = _alone(layout)
    log = 0.0
    if a.cards.size:
        tops = np.maximum.reduceat(a.local, a.state_at[:-1])
        sums = np.add.reduceat(np.exp(a.local - np.repeat(tops, a.cards)), a.state_at[:-1])
        log = math.fsum([*tops.tolist(), *np.log(sums).tolist()])

    targets = layout.problem.targets
    return Solution(
        values=values if targets is None else _product(values, layout, targets),
        total=lambda: wide_multiply(layout.graph.constant, wide_of(log)),
        weights=dict,
        report=Report(name, exact=True),
    )


# --- estimates and their errors ---


def _marginals(drawn: Draws) -> tuple[np.ndarray, Intervals]:
    """P(state) for every state of every variable; exact for variables that are independent of all others."""
    layout, a = drawn.layout, drawn.layout.arrays
    size = a.local.size
    sums, squares = np.zeros(size), np.zeros(size)
    SAMPLING.count(drawn.states, drawn.weights, a.state_at, sums, squares)
    owners = np.repeat(np.arange(a.cards.size), a.cards)
    measured = _measured(drawn, sums, squares, owners)
    exact = layout.alone[owners]
    values = np.where(exact, _alone(layout), sums)
    return values, measured.changed(lambda a, known: np.where(exact, known, a), values)


def _joint(drawn: Draws, targets: np.ndarray) -> tuple[np.ndarray, Intervals]:
    """P(states of the targets), flat."""
    layout, cards = drawn.layout, drawn.layout.arrays.cards[targets]
    if layout.alone[targets].all():
        values = _product(_alone(layout), layout, targets)
        zeros = np.zeros(values.size)
        return values, Intervals(values, values, errors=zeros, effective_sizes=zeros + np.inf)
    cells = np.ravel_multi_index(tuple(drawn.states[:, targets].T.astype(np.int64)), tuple(cards))
    size = int(np.prod(cards))
    sums = np.bincount(cells, drawn.weights, size)
    squares = np.bincount(cells, drawn.weights**2, size)
    return sums, _measured(drawn, sums, squares, np.zeros(size, np.int64), cells)


def _measured(
    drawn: Draws, p: np.ndarray, squares: np.ndarray, owners: np.ndarray, cells: np.ndarray | None = None
) -> Intervals:
    """Standard errors, intervals and effective sizes of estimated probabilities.

    Args:
        drawn: the samples.
        p: the estimates, for states of one variable after the other, or for cells.
        squares: the corresponding sums of squared weights.
        owners: the variable of each estimate.
        cells: if the estimates are for cells, the cell of each sample.
    """
    if drawn.chains:
        sizes, hats = _of_chains(drawn, p.size, owners, cells)
    else:
        hats = None
        everywhere = float((drawn.weights**2).sum())
        variance = np.maximum(squares * (1.0 - 2.0 * p) + p**2 * everywhere, 0.0)
        sizes = np.full(p.size, 1.0 / everywhere)
        some = (p > 0.0) & (p < 1.0) & (variance > 0.0)
        sizes[some] = np.minimum((p * (1.0 - p))[some] / variance[some], len(drawn.weights))
    low, high = share_interval(p, sizes)
    # Not the root of p (1 - p) / size, which is 0 for events that occurred never or always.
    errors = (high - low) / (2.0 * NORMAL_95)
    return Intervals(low, high, errors=errors, effective_sizes=sizes, r_hat=hats)


def _of_chains(
    drawn: Draws, size: int, owners: np.ndarray, cells: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Effective sizes and R-hat of indicators of states or cells; constant ones get the smallest size."""
    a, m = drawn.layout.arrays, drawn.layout.arrays.cards.size
    draws = len(drawn.states) // drawn.chains
    states = drawn.states.reshape(drawn.chains, draws, m)
    sizes, hats = np.full(size, np.nan), np.ones(size)
    at_once = max(1, int(_AT_ONCE / (drawn.chains * draws)))
    if cells is None:
        within = np.arange(size) - a.state_at[owners]
        todo = np.flatnonzero((a.cards[owners] != 2) | (within == 1))  # one of two states is enough
    else:
        todo = np.arange(size)
    for begin in range(0, todo.size, at_once):
        report_progress(begin, todo.size, "measuring errors")
        part = todo[begin : begin + at_once]
        if cells is None:
            series = states[:, :, owners[part]].transpose(2, 0, 1) == within[part][:, None, None]
        else:
            series = cells.reshape(1, drawn.chains, draws) == part[:, None, None]
        sizes[part], hats[part] = effective_sample_size(series), r_hat(series)
    if cells is None:
        two = np.flatnonzero((a.cards[owners] == 2) & (within == 0))
        sizes[two], hats[two] = sizes[two + 1], hats[two + 1]
    finite = sizes[np.isfinite(sizes)]
    sizes[np.isnan(sizes)] = finite.min() if finite.size else float(drawn.chains * draws)
    return sizes, hats


def _report(drawn: Draws, options: Sampler, measured: Intervals) -> Report:
    """The report of what was measured, and whether the samples suffice."""
    assert measured.errors is not None
    assert measured.effective_sizes is not None
    chains_ = drawn.chains
    advice, converged = [], True
    size = float(measured.effective_sizes.min(initial=np.inf))
    if not chains_ or math.isinf(size):  # with all weight on few samples, their variance is not known
        size = min(size, 1.0 / float((drawn.weights**2).sum()))
    hat = None if measured.r_hat is None else float(measured.r_hat.max(initial=1.0))
    if drawn.tried < drawn.asked_for:
        advice.append(
            f"the time limit was reached after {drawn.tried:,} of {drawn.asked_for:,} samples; allow more "
            "with pgm.set_config(time_limit=...)"
        )
        converged = False
    if size < _LEAST_SIZE:
        other = "" if chains_ else ', or engine="importance"'
        if isinstance(options, Importance):
            other = ', or guide="bounds"' if options.guide == "loopy" else ""
        advice.append(f"the samples are worth only {size:.3g} independent ones; try more samples={other}")
        converged = False
    if hat is not None and not hat <= _MOST_R_HAT:
        advice.append(f"the chains do not agree yet (R-hat {hat:.3g}); try more samples= and burn_in=")
        converged = False
    return Report(
        options.name,
        exact=False,
        converged=converged,
        error=float(measured.errors.max(initial=0.0)),
        advice=", and ".join(advice),
        samples=drawn.tried,
        effective_sample_size=size,
        log_error=None if chains_ else drawn.log_error,
        r_hat=hat,
        intervals=measured,
        chains=_chains(drawn, options),
    )


def _chains(drawn: Draws, options: Sampler) -> dict[str, np.ndarray] | None:
    """The sampled states of each traced variable that the question needs."""
    if not _traced(options):
        return None
    problem, a = drawn.layout.problem, drawn.layout.arrays
    r = problem.case.reduced
    kept = {}
    draws = len(drawn.states) // drawn.chains
    states = drawn.states.reshape(drawn.chains, draws, a.cards.size)
    for name in _traced(options):
        for v in open_targets(problem.case, [problem.names.index(name)]).tolist():
            kept[name] = r.states[r.state_at[v] + states[:, :, v].astype(np.int64)]
    return kept
