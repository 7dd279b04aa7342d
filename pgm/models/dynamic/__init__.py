"""Models that unfold in steps: Markov chains, hidden Markov models, linear dynamical systems."""

from pgm.calls import guard_classes

from . import components, filters
from .hmm import HMM
from .linear_dynamical_system import LinearDynamicalSystem
from .markov_chain import MarkovChain
from .nonlinear_dynamical_system import NonlinearDynamicalSystem
from .switching_linear_dynamical_system import SwitchingLinearDynamicalSystem
from .topology import Banded, LeftToRight

__all__ = [
    "HMM",
    "Banded",
    "LeftToRight",
    "LinearDynamicalSystem",
    "MarkovChain",
    "NonlinearDynamicalSystem",
    "SwitchingLinearDynamicalSystem",
    "components",
    "filters",
]

_SYSTEMS = [LinearDynamicalSystem, NonlinearDynamicalSystem, SwitchingLinearDynamicalSystem]
guard_classes([HMM, MarkovChain, *_SYSTEMS, LeftToRight, Banded])
