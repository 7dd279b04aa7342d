"""Structured mean field: each chain keeps its own dependence, and sees expectations over the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgm.inference.engines.chain import Chain, ImpossibleStep, Rows, smoothed
from pgm.inference.engines.parallel_chains import SHARES, Emitted, moved
from pgm.inference.engines.parallel_chains.drawing import drawn_paths
from pgm.runtime.clock import Clock
from pgm.runtime.progress import report as report_progress

_NO_CODES = np.empty(0, np.int32)


@dataclass(frozen=True, eq=False)
class Approximation:
    """Independent chains: the beliefs of each, the expected log densities behind them, and the bound."""

    beliefs: list[np.ndarray]  # of each chain, (steps, states)
    fields: list[np.ndarray]  # the expected log densities behind them
    shares: np.ndarray  # the term of each step in the bound on log P(rows)
    changes: tuple[float, ...]  # the largest change of a probability in each sweep
    converged: bool


def rows_of(field: np.ndarray, emitted: Emitted) -> Rows:
    """The rows of one chain, with its expected log densities."""
    return Rows(field, _NO_CODES, emitted.starts)


def ascend(
    chains: Sequence[Chain],
    emitted: Emitted,
    beliefs: Sequence[np.ndarray],
    max_iter: int,
    tol: float,
    clock: Clock,
) -> Approximation:
    """Update one chain after the other, which never lowers the bound, until the bound converges.

    Raises:
        ImpossibleStep: the beliefs of the others leave a chain no possible path.
    """
    current, fields = list(beliefs), list(beliefs)
    shares = np.full(emitted.n_rows, -np.inf)
    changes: list[float] = []
    before, converged = -np.inf, False
    last = len(chains) - 1
    for sweep in range(max_iter):
        report_progress(sweep, max_iter, "mean field")
        change, shares = 0.0, np.zeros(emitted.n_rows)
        for m, chain in enumerate(chains):
            fields[m] = emitted.expected(m, current, clock)
            found, logs = smoothed(chain, rows_of(fields[m], emitted), clock)
            change = max(change, float(np.abs(found - current[m]).max()))
            current[m] = found
            # The divergence of a chain from its prior is the expectation of its fields less its log
            # normaliser; and the expectation of the last chain's fields is the expected log density.
            shares += logs
            if m < last:
                shares -= (found * np.where(found > 0.0, fields[m], 0.0)).sum(axis=1)
        changes.append(change)
        bound = float(shares.sum())
        if bound - before <= tol:
            converged = True
            break
        before = bound
    report_progress(max_iter, max_iter, "mean field")
    return Approximation(current, fields, shares, tuple(changes), converged)


def approximated(
    chains: Sequence[Chain],
    emitted: Emitted,
    restarts: int,
    max_iter: int,
    tol: float,
    random: np.random.Generator,
    clock: Clock,
) -> Approximation:
    """The best of several starts, for each sequence separately; the first is the prior.

    Where zeros rule out states as soon as another chain may be elsewhere, the other starts are drawn paths.
    Otherwise the second is annealed: log densities count little at first and then more and more, so that
    chains divide the explanation among them before they are certain; the others are random beliefs.

    Raises:
        NoPath: zeros in the emission leave no start, and no possible path was found.
    """
    prior = [moved(chain, emitted.starts) for chain in chains]
    best: Approximation | None = None
    for restart in range(restarts):
        begin = prior
        if restart and emitted.has_zeros:
            begin = [np.zeros(p.shape) for p in prior]
            for n in range(emitted.starts.size - 1):
                _begin_at_paths(begin, chains, emitted, n, random, clock)
        elif restart == 1:
            begin = _annealed(chains, emitted, prior, clock)
        elif restart:
            begin = [p * random.standard_gamma(0.5, p.shape) for p in prior]
            totals = [q.sum(axis=1, keepdims=True) for q in begin]
            begin = [
                np.where(total > 0.0, q / np.where(total > 0.0, total, 1.0), p)
                for q, total, p in zip(begin, totals, prior, strict=True)
            ]
        found = climbed(chains, emitted, begin, max_iter, tol, random, clock)
        best = found if best is None else _better(best, found, emitted.starts)
    assert best is not None
    return best


def climbed(
    chains: Sequence[Chain],
    emitted: Emitted,
    begin: Sequence[np.ndarray],
    max_iter: int,
    tol: float,
    random: np.random.Generator,
    clock: Clock,
) -> Approximation:
    """Ascend; a sequence whose start leaves no possible path starts again from drawn paths."""
    begin = [q.copy() for q in begin]
    while True:
        try:
            return ascend(chains, emitted, begin, max_iter, tol, clock)
        except ImpossibleStep as error:
            n = int(np.searchsorted(emitted.starts, error.row, side="right")) - 1
            _begin_at_paths(begin, chains, emitted, n, random, clock)


def _annealed(
    chains: Sequence[Chain], emitted: Emitted, prior: Sequence[np.ndarray], clock: Clock
) -> list[np.ndarray]:
    """Beliefs after sweeps in which the log densities count more and more."""
    beliefs = list(prior)
    for share in SHARES:
        for m, chain in enumerate(chains):
            field = share * emitted.expected(m, beliefs, clock)
            beliefs[m] = smoothed(chain, rows_of(field, emitted), clock)[0]
    return beliefs


def _begin_at_paths(
    begin: Sequence[np.ndarray],
    chains: Sequence[Chain],
    emitted: Emitted,
    n: int,
    random: np.random.Generator,
    clock: Clock,
) -> None:
    """Start one sequence with all belief on drawn paths."""
    paths = drawn_paths(chains, emitted.part(n), int(emitted.starts[n]), random, clock)
    a, b = int(emitted.starts[n]), int(emitted.starts[n + 1])
    for q, path in zip(begin, paths, strict=True):
        q[a:b] = 0.0
        q[np.arange(a, b), path] = 1.0


def _better(one: Approximation, other: Approximation, starts: np.ndarray) -> Approximation:
    """For each sequence the approximation with the higher bound."""
    higher = np.add.reduceat(other.shares, starts[:-1]) > np.add.reduceat(one.shares, starts[:-1])
    if higher.all() or not higher.any():
        return other if higher.all() else one
    row = np.repeat(higher, np.diff(starts))
    both = [
        [np.where(row[:, None], b, a) for a, b in zip(first, second, strict=True)]
        for first, second in ((one.beliefs, other.beliefs), (one.fields, other.fields))
    ]
    shares = np.where(row, other.shares, one.shares)
    changes = max(one.changes, other.changes, key=lambda each: each[-1])
    return Approximation(both[0], both[1], shares, changes, one.converged and other.converged)
