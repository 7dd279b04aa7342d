"""Nonlinear dynamical systems: extended and unscented Kalman filters, particle filters, and their smoothers.

This is not an engine that a network can name: it takes functions, matrices and arrays of observations.
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
