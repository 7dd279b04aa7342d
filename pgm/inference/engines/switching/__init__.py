"""Switching linear systems: every path of regimes, Gaussians merged in every step, or drawn paths.

Not among the engines that a network may name: it takes matrices of several systems and rows of numbers.
"""

from .lanes import Mixture, Regimes, Steps, mixture
from .merged import Now, advanced, back, begun, forward
from .paths import Lane, every_path, given_paths, histories, particles

__all__ = [
    "Lane",
    "Mixture",
    "Now",
    "Regimes",
    "Steps",
    "advanced",
    "back",
    "begun",
    "every_path",
    "forward",
    "given_paths",
    "histories",
    "mixture",
    "particles",
]
