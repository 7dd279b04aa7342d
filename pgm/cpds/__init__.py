"""Local distributions P(child | parents): tables, gates, functions, trees, mixtures, logistic, Gaussian."""

from .base import CPD
from .coerce import make, prepared
from .confusion import confusion_table
from .counting_cpds import AtLeast, Exactly, Parity
from .cpd_store import CPDStore
from .default import DefaultCPD
from .density_cpd import DensityCPD
from .deterministic import Deterministic
from .estimator import EstimatorCPD
from .hybrid_logistic import HybridLogistic
from .linear_gaussian import LinearGaussian
from .logistic import Logistic
from .mixture import MixtureCPD
from .noisy_max import NoisyMax, NoisyMin
from .noisy_or import NoisyAnd, NoisyOr
from .registry import KINDS, kind_of
from .table import TableCPD
from .tree import TreeCPD

__all__ = [
    "CPD",
    "KINDS",
    "AtLeast",
    "CPDStore",
    "DefaultCPD",
    "DensityCPD",
    "Deterministic",
    "EstimatorCPD",
    "Exactly",
    "HybridLogistic",
    "LinearGaussian",
    "Logistic",
    "MixtureCPD",
    "NoisyAnd",
    "NoisyMax",
    "NoisyMin",
    "NoisyOr",
    "Parity",
    "TableCPD",
    "TreeCPD",
    "confusion_table",
    "kind_of",
    "make",
    "prepared",
]
