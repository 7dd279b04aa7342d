"""What was drawn, and how drawing is shared by threads and stopped by the clock."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pgm.inference.engines.sampling.layout import Layout


@dataclass(frozen=True, eq=False, slots=True)
class Draws:
    """Cases of the reduced variables: independent ones with weights, or those of chains."""

    layout: Layout
    states: np.ndarray  # (draws, variables); chain after chain
    chains: int  # 0: independent draws
    weights: np.ndarray  # of each case, the sum of all is 1
    log_total: float  # the logarithm of the sum of the product of all factors in the layout
    log_error: float  # its standard error
    tried: int  # cases or sweeps that were drawn, with those thrown away
    asked_for: int  # fewer were drawn if the time was up


def generator(seed: int, *key: int) -> np.random.Generator:
    """The randomness of one piece of work: the same whoever does it, and when."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def room_of(layout: Layout) -> np.ndarray:
    """Work space for the states of one variable."""
    return np.empty((3, int(layout.arrays.cards.max(initial=1))))
