"""Models that unfold in steps: Markov chains, hidden states and what they emit, linear dynamical systems."""

from pgm.calls import guard_constructors, guard_methods

from . import components
from .hmm import HMM
from .linear_dynamical_system import LinearDynamicalSystem
from .markov_chain import MarkovChain
from .topology import Banded, LeftToRight

__all__ = ["HMM", "Banded", "LeftToRight", "LinearDynamicalSystem", "MarkovChain", "components"]

guard_methods([HMM, MarkovChain, LinearDynamicalSystem])
guard_constructors([HMM, MarkovChain, LinearDynamicalSystem, LeftToRight, Banded])
