"""Local distributions P(child | parents): tables, gates, functions, trees, mixtures, logistic, Gaussian."""

from .base import CPD
from .counting import AtLeast, Exactly, Parity
from .default import DefaultCPD
from .deterministic import Deterministic
from .linear_gaussian import LinearGaussian
from .logistic import Logistic
from .logistic_of_numbers import LogisticOfNumbers
from .making import make, prepared
from .mixture import MixtureCPD
from .noisy_max import NoisyMax, NoisyMin
from .noisy_or import NoisyAnd, NoisyOr
from .shelf import Shelf
from .table import TableCPD
from .tree import TreeCPD

__all__ = [
    "CPD",
    "AtLeast",
    "DefaultCPD",
    "Deterministic",
    "Exactly",
    "LinearGaussian",
    "Logistic",
    "LogisticOfNumbers",
    "MixtureCPD",
    "NoisyAnd",
    "NoisyMax",
    "NoisyMin",
    "NoisyOr",
    "Parity",
    "Shelf",
    "TableCPD",
    "TreeCPD",
    "make",
    "prepared",
]
