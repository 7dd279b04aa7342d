"""Switching linear systems: every path of regimes, Gaussians merged in every step, or drawn paths.

Not among the engines that a network may name: it takes the matrices of several systems and observations.
"""

from .expected import Expected
from .lanes import Mixture, Regimes, Steps, mixture
from .merged import MergedStep, Now, advanced, back, begun
from .paths import Lane, every_path, given_paths, histories, particles

__all__ = [
    "Expected",
    "Lane",
    "MergedStep",
    "Mixture",
    "Now",
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
