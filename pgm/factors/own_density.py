"""Continuous variables with an arbitrary density for each state: usable only where they are observed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .gaussian import GaussianFactor


@dataclass(frozen=True, eq=False, slots=True)
class OwnDensity(GaussianFactor):
    """p(block | states), the block being the continuous parents and the child; observed whole or not at all.

    Engines see a standard normal without weights, which is right where the variable is not queried, since it
    integrates to one. Where the block is observed, its likelihood replaces it. Only the last variable of a
    block has a likelihood, that of the whole block.
    """

    whole: bool  # whether this is the last variable of the block
    logs: Callable[[np.ndarray], np.ndarray]  # (rows, variables of the block) -> (rows, selections)
    draw: Callable[[np.ndarray, np.random.Generator], np.ndarray]  # selections -> (rows, variables)
    moments: Callable[[], tuple[np.ndarray, np.ndarray]]  # of each selection, or an error
    counts: bool = False  # whether these are probabilities of whole numbers

    @classmethod
    def of(
        cls,
        scope: np.ndarray,
        n_switches: int,
        selections: int,
        whole: bool,
        logs: Callable[[np.ndarray], np.ndarray],
        draw: Callable[[np.ndarray, np.random.Generator], np.ndarray],
        moments: Callable[[], tuple[np.ndarray, np.ndarray]],
        counts: bool = False,
    ) -> OwnDensity:
        """The density of the last of these positions, with the standard normal that represents it."""
        weights = np.zeros((selections, scope.size - n_switches - 1))
        zeros, ones = np.zeros(selections), np.ones(selections)
        return cls(scope, n_switches, weights, zeros, ones, whole, logs, draw, moments, counts)
