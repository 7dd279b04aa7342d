"""Local distributions P(child | parents): tables, noisy-OR, functions, linear Gaussian densities."""

from .base import CPD
from .deterministic import Deterministic
from .linear_gaussian import LinearGaussian
from .making import make, prepared
from .noisy_or import NoisyOr
from .table import TableCPD

__all__ = ["CPD", "Deterministic", "LinearGaussian", "NoisyOr", "TableCPD", "make", "prepared"]
