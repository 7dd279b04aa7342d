"""Linear dynamical systems: Kalman filter and smoother, many series at once, gaps, exactly diffuse starts.

Not among the engines that a network may name: it takes the matrices of a system and arrays of observations.
"""

from .passes import Carried, Run, run, run_on
from .schedule import Schedule, Series, stationary
from .simulation import simulated

__all__ = ["Carried", "Run", "Schedule", "Series", "run", "run_on", "simulated", "stationary"]
