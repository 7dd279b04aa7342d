"""Models that unfold in steps: hidden states with what they emit, and linear dynamical systems."""

from pgm.calls import guard_constructors, guard_methods

from . import parts
from .hmm import HMM
from .linear_dynamical_system import LinearDynamicalSystem
from .topology import Banded, LeftToRight

__all__ = ["HMM", "Banded", "LeftToRight", "LinearDynamicalSystem", "parts"]

guard_methods([HMM])
guard_constructors([HMM, LeftToRight, Banded])
