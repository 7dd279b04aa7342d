"""Samples, and what all samplers need to draw them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pgm.inference.engines.sampling.lookup_arrays import LookupLayout


@dataclass(frozen=True, eq=False, slots=True)
class Draws:
    """Samples of the reduced variables: independent ones with weights, or from chains."""

    layout: LookupLayout
    states: np.ndarray  # (draws, variables); chain after chain
    chains: int  # 0: independent draws
    weights: np.ndarray  # of each sample, summing to 1
    log_total: float  # the logarithm of the sum of the product of all factors in the layout
    log_error: float  # its standard error
    tried: int  # samples or sweeps drawn, including those discarded
    asked_for: int  # more than `tried` if the time limit was reached


def generator(seed: int, *key: int) -> np.random.Generator:
    """The generator of one piece of work: the same whichever thread does it, and when."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def room_of(layout: LookupLayout) -> np.ndarray:
    """Work space for the states of one variable."""
    return np.empty((3, int(layout.arrays.cards.max(initial=1))))
