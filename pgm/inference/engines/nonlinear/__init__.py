"""Nonlinear dynamical systems: extended and unscented Kalman filters, particle filters, and their smoothers.

Not among the engines that a network may name: it takes functions, matrices and arrays of observations.
"""

from .functions import At, Caller, difference, extras
from .moments import Link, Model, Moments, Sigma, back, covariance
from .particles import Kept, Particles, Sizes, moments, paths, singular

__all__ = [
    "At",
    "Caller",
    "Kept",
    "Link",
    "Model",
    "Moments",
    "Particles",
    "Sigma",
    "Sizes",
    "back",
    "covariance",
    "difference",
    "extras",
    "moments",
    "paths",
    "singular",
]
