"""Linear dynamical systems: Kalman filter and smoother for many series, with gaps and exact diffuse starts.

This is not an engine that a network can name: it takes the matrices of a system and arrays of observations.
"""

from .passes import Carried, Run, run, run_on
from .schedule import Schedule, Series, stationary
from .simulation import TooFar, drawn_off, filled, simulated

__all__ = [
    "Carried",
    "Run",
    "Schedule",
    "Series",
    "TooFar",
    "drawn_off",
    "filled",
    "run",
    "run_on",
    "simulated",
    "stationary",
]
