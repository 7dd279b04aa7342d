"""Densities without a graph: one class for each, a root's distribution and what a hidden state emits."""

from .categorical import Categorical
from .gaussian import Gaussian

__all__ = ["Categorical", "Gaussian"]
