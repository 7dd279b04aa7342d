"""Linear dynamical systems: Kalman filter and smoother, many series at once, gaps, exactly diffuse starts.

Not among the engines that a network may name: it takes the matrices of a system and arrays of observations.
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
