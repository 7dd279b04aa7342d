"""What a user builds and queries: each model says which factors it consists of."""

from .bayesian_network import BayesianNetwork
from .markov_network import FactorGraph, MarkovNetwork
from .potentials import Potential

__all__ = ["BayesianNetwork", "FactorGraph", "MarkovNetwork", "Potential"]
