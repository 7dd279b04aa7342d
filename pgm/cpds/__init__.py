"""Local distributions P(child | parents): tables, noisy-OR, functions."""

from .base import CPD
from .deterministic import Deterministic
from .making import make
from .noisy_or import NoisyOr
from .shelf import Shelf
from .table import TableCPD

__all__ = ["CPD", "Deterministic", "NoisyOr", "Shelf", "TableCPD", "make"]
