"""Gibbs sampling: the whole path of one chain at a time, given those of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgm.inference.engines.chain import Chain, Rows, draw, draw_given
from pgm.inference.engines.parallel_chains import Emitted
from pgm.inference.engines.sampling.diagnostics import effective_sample_size, r_hat, share_interval
from pgm.results import NORMAL_95, Intervals
from pgm.runtime.clock import Clock
from pgm.runtime.progress import report as report_progress

_NO_CODES = np.empty(0, np.int32)
_TRIES = 500  # sweeps that look for possible paths
_CYCLE, _STEP = 25, -1.0  # sweeps until the floor for zeros starts over; by how much it falls each time
_SWEEPS = 10  # from possible paths to likely ones
_AT_ONCE = 500_000  # draws whose autocorrelations are computed together


class NoPath(Exception):
    """No possible path was found, which does not show that there is none."""

    def __init__(self, row: int) -> None:
        """Take the first row that was impossible in the last try."""
        super().__init__(row)
        self.row = row


@dataclass(frozen=True, eq=False)
class Drawn:
    """The frequencies of states among the kept paths, and their errors."""

    shares: list[np.ndarray]  # of each chain, (steps, states)
    intervals: list[Intervals]


def _sweep(
    chains: Sequence[Chain],
    emitted: Emitted,
    paths: np.ndarray,
    floor: float,
    random: np.random.Generator,
    clock: Clock,
) -> None:
    """Redraw the path of each chain given the others; log densities are at least `floor`."""
    for m, chain in enumerate(chains):
        logs = np.maximum(emitted.along(m, paths), floor)
        paths[m] = draw_given(chain, Rows(logs, _NO_CODES, emitted.starts), 1, random, clock)[0]


def possible_paths(
    chains: Sequence[Chain], emitted: Emitted, first: int, random: np.random.Generator, clock: Clock
) -> np.ndarray:
    """Paths of all chains under which one sequence is possible, (chains, steps).

    Args:
        chains: all of them.
        emitted: the sequence.
        first: the index of its first row among all sequences, for the error.
        random: the generator of random values.
        clock: the clock of the question.

    Raises:
        NoPath: none was found.
    """
    paths = np.stack([draw(chain, emitted.starts, random) for chain in chains])
    for attempt in range(_TRIES):
        if (emitted.on(paths) > -np.inf).all():
            return paths
        # Zeros cost little at first, so that chains may pass through them; then more and more.
        floor = _STEP * (1 + attempt % _CYCLE)
        _sweep(chains, emitted, paths, floor, random, clock)
    raise NoPath(first + int((emitted.on(paths) == -np.inf).argmax()))


def drawn_paths(
    chains: Sequence[Chain], emitted: Emitted, first: int, random: np.random.Generator, clock: Clock
) -> np.ndarray:
    """Possible paths after some Gibbs sweeps, which make them likely ones; see `possible_paths`."""
    paths = possible_paths(chains, emitted, first, random, clock)
    for _ in range(_SWEEPS):
        _sweep(chains, emitted, paths, -np.inf, random, clock)
    return paths


def drawn(
    chains: Sequence[Chain],
    emitted: Emitted,
    first: int,
    samples: int,
    burn_in: int,
    many: int,
    random: np.random.Generator,
    clock: Clock,
) -> Drawn:
    """Frequencies of states in the paths of one sequence, from `many` independent Gibbs runs."""
    each = -(-samples // many)
    largest = max(chain.k for chain in chains)
    kept = np.empty((many, each, len(chains), emitted.n_rows), np.min_scalar_type(largest))
    total = many * (burn_in + each)
    for run in range(many):
        paths = possible_paths(chains, emitted, first, random, clock)
        for sweep in range(burn_in + each):
            report_progress(run * (burn_in + each) + sweep, total, "drawing paths")
            _sweep(chains, emitted, paths, -np.inf, random, clock)
            if sweep >= burn_in:
                kept[run, sweep - burn_in] = paths
    report_progress(total, total, "drawing paths")
    measured = [_measured(kept[:, :, m], chain.k, clock) for m, chain in enumerate(chains)]
    return Drawn([shares for shares, _ in measured], [intervals for _, intervals in measured])


def _measured(kept: np.ndarray, k: int, clock: Clock) -> tuple[np.ndarray, Intervals]:
    """Frequencies of the states of one chain in each step, with their errors, from (runs, draws, steps)."""
    many, each, steps = kept.shape
    shares, sizes, spread = np.empty((steps, k)), np.empty((steps, k)), np.empty((steps, k))
    size = max(1, _AT_ONCE // (many * each * k))
    for a in range(0, steps, size):
        clock.check("measuring errors")
        some = kept[:, :, a : a + size].transpose(2, 0, 1)[:, None]
        there = (some == np.arange(k)[:, None, None]).astype(np.float64)
        shares[a : a + size] = there.mean(axis=(2, 3))
        sizes[a : a + size] = effective_sample_size(there)
        spread[a : a + size] = r_hat(there)
    finite = sizes[np.isfinite(sizes)]  # a state drawn never or always gets the worst size of the others
    sizes[np.isnan(sizes)] = finite.min() if finite.size else many * each
    low, high = share_interval(shares, sizes)
    # Not the root of p (1 - p) / size, which is 0 for states drawn never or always.
    return shares, Intervals(low, high, (high - low) / (2.0 * NORMAL_95), sizes, spread)
