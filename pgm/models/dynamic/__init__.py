"""Models that unfold in steps: Markov chains, hidden states and what they emit, linear dynamical systems."""

from pgm.calls import guard_constructors, guard_methods

from . import components
from .coupled_hmm import CoupledHMM
from .factorial_hmm import FactorialHMM
from .hmm import HMM
from .linear_dynamical_system import LinearDynamicalSystem
from .markov_chain import MarkovChain
from .switching_hmm import SwitchingHMM
from .topology import Banded, LeftToRight
from .tree_hmm import TreeHMM

__all__ = [
    "HMM",
    "Banded",
    "CoupledHMM",
    "FactorialHMM",
    "LeftToRight",
    "LinearDynamicalSystem",
    "MarkovChain",
    "SwitchingHMM",
    "TreeHMM",
    "components",
]

_VARIANTS = (FactorialHMM, CoupledHMM, SwitchingHMM, TreeHMM)
guard_methods([HMM, MarkovChain, LinearDynamicalSystem, *_VARIANTS])
guard_constructors([HMM, MarkovChain, LinearDynamicalSystem, LeftToRight, Banded, *_VARIANTS])
