"""Markov chains: Gibbs sampling in blocks, and Swendsen and Wang's clusters."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from pgm.errors import OutOfTime
from pgm.inference.engines.loopy import Loopy, propagation
from pgm.inference.engines.sampling import Gibbs, Importance, SwendsenWang, count_chains
from pgm.inference.engines.sampling.clusters import find_bonds
from pgm.inference.engines.sampling.draws import Draws, generator, room_of
from pgm.inference.engines.sampling.gibbs_blocks import find_blocks
from pgm.inference.engines.sampling.lookup_arrays import SAMPLING, LookupLayout, check_samples
from pgm.inference.engines.sampling.weighted import draw_from, from_beliefs, nothing_found
from pgm.runtime.clock import RUNNING, Clock
from pgm.runtime.progress import report as report_progress
from pgm.runtime.running import raise_status
from pgm.runtime.threads import Task, run_all

_ROUND = 5e6  # inner steps of each chain between two synchronisations
_SECONDS = 3e-9  # of an inner step
_LEAST = 4  # states of each chain below which it cannot be diagnosed
_START = 24  # bytes for each variable of each chain, to find its starting state
_CHAIN = 2000  # bytes for each chain: its generator, its task
_TRIES = 1000  # samples drawn to find starting states
# Continues a chain from its current states, given uniform random values: fills the array of states.
Move = Callable[[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray], int]


def draw(layout: LookupLayout, options: Gibbs | SwendsenWang, clock: Clock) -> Draws:
    """Run the chains side by side."""
    room = float(count_chains(options)) * (layout.arrays.cards.size * _START + _CHAIN)
    check_samples(options.name, room, f"{count_chains(options):,} chains")
    if isinstance(options, Gibbs):
        return _run(layout, options, clock, *_gibbs(layout, options, clock))
    return _run(layout, options, clock, *_swendsen_wang(layout, options))


def _gibbs(layout: LookupLayout, options: Gibbs, clock: Clock) -> tuple[Move, np.ndarray, int, float]:
    blocks = find_blocks(layout, options, clock)
    a, entries = layout.arrays, float(blocks.messages.table_at[-1])
    check_samples(options.name, 8.0 * count_chains(options) * entries, "messages inside blocks")
    starts = _starts(layout, options, clock, blocks.has_zeros)
    pools = np.zeros((count_chains(options), int(entries)))
    steps = layout.steps * blocks.steps.variable.size / max(1, a.cards.size) + 8.0 * entries

    def move(
        chain: int, current: np.ndarray, uniforms: np.ndarray, states: np.ndarray, stop: np.ndarray
    ) -> int:
        args = a, blocks.steps, blocks.messages, pools[chain], blocks.block_at
        return int(SAMPLING.sweep(*args, current, uniforms, states, room_of(layout), stop))

    return move, starts, blocks.steps.variable.size, steps


def _swendsen_wang(layout: LookupLayout, options: SwendsenWang) -> tuple[Move, np.ndarray, int, float]:
    a, bonds = layout.arrays, find_bonds(layout)
    starts = _starts(layout, options, None, has_zeros=False)

    def move(
        chain: int, current: np.ndarray, uniforms: np.ndarray, states: np.ndarray, stop: np.ndarray
    ) -> int:
        return int(SAMPLING.clusters(a, *bonds, current, uniforms, states, room_of(layout), stop))

    return move, starts, a.table_at.size + a.cards.size, layout.steps


def _starts(
    layout: LookupLayout, options: Gibbs | SwendsenWang, clock: Clock | None, has_zeros: bool
) -> np.ndarray:
    """The starting states of each chain: uniform or, if there are zeros, samples that these allow."""
    a = layout.arrays
    if not has_zeros or clock is None:
        rng = generator(options.seed, 1 << 33)
        uniforms = rng.random((count_chains(options), a.cards.size))
        return np.asarray(np.floor(uniforms * a.cards), dtype=np.int64)
    sent = propagation.send(layout.problem, Loopy(max_iter=Importance().guide_iter), clock)
    guided = from_beliefs(layout, sent)
    states, logs, _ = draw_from(guided, layout, options.name, _TRIES, options.seed, clock)
    possible = np.flatnonzero(logs > -math.inf)
    if not possible.size:
        raise nothing_found(options.name, logs.size)
    chosen = possible[np.arange(count_chains(options)) % possible.size]
    return np.asarray(states[chosen], dtype=np.int64)


def _run(
    layout: LookupLayout,
    options: Gibbs | SwendsenWang,
    clock: Clock,
    move: Move,
    starts: np.ndarray,
    n_uniforms: int,
    steps: float,
) -> Draws:
    """Run sweeps in rounds: after each all chains are equally long, so the clock may stop them there."""
    m, chains = layout.arrays.cards.size, count_chains(options)
    kept = -(-options.samples // chains)
    in_round = max(1, min(options.burn_in + kept, int(_ROUND / max(1.0, steps))))
    kind = np.dtype(layout.states_type)
    room = float(chains) * (kept * m * kind.itemsize + in_round * (8.0 * n_uniforms + m * kind.itemsize))
    check_samples(options.name, room, f"{chains * kept:,} samples of {m:,} variables")
    states = np.empty((chains, kept, m), kind)
    generators = [generator(options.seed, chain) for chain in range(chains)]
    begun = -options.burn_in
    while begun < kept:
        until = min(kept, begun + in_round) if begun >= 0 else min(0, begun + in_round)

        def work(chain: int, stop: np.ndarray, begun: int = begun, until: int = until) -> None:
            uniforms = generators[chain].random((until - begun, n_uniforms))
            to = states[chain, begun:until] if begun >= 0 else np.empty((until - begun, m), kind)
            status = move(chain, starts[chain], uniforms, to, stop)
            if not stop[0]:
                raise_status(status, "sweep", clock)

        seconds = (until - begun) * steps * _SECONDS
        try:
            run_all([Task(partial(work, chain), seconds) for chain in range(chains)], clock)
        except OutOfTime:
            if begun < _LEAST:
                raise
            break
        begun = until
        report_progress(float(begun + options.burn_in), float(kept + options.burn_in), "sweeps")
    clock.lap(RUNNING)
    cases = states[:, :begun].reshape(chains * begun, m)
    tried = chains * (begun + options.burn_in)
    equal = np.full(len(cases), 1.0 / len(cases))
    return Draws(layout, cases, chains, equal, math.nan, math.nan, tried, chains * (kept + options.burn_in))
