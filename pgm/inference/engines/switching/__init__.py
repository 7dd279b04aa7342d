"""Switching linear systems: all paths of regimes, Gaussians merged in every step, or sampled paths.

This is not an engine that a network can name: it takes the matrices of several systems and observations.
"""

from .expected import Expected
from .lanes import Mixture, Regimes, Steps, mixture
from .merged import MergedStep, RegimeBelief, advanced, back, begun
from .paths import Lane, every_path, given_paths, histories, particles

__all__ = [
    "Expected",
    "Lane",
    "MergedStep",
    "Mixture",
    "RegimeBelief",
    "Regimes",
    "Steps",
    "advanced",
    "back",
    "begun",
    "every_path",
    "given_paths",
    "histories",
    "mixture",
    "particles",
]
