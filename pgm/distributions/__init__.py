"""Distributions without a graph, used for roots and as the emissions of hidden states."""

from .categorical import Categorical
from .gaussian import Gaussian
from .protocol import LocalDistribution

__all__ = ["Categorical", "Gaussian", "LocalDistribution"]
