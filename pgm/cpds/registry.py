"""The one list of local distributions: JSON, XDSL, pictures, tests and messages look here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pgm.variables import Variable

from .base import CPD
from .counting_cpds import AtLeast, Exactly, Parity
from .default import DefaultCPD
from .deterministic import Deterministic
from .hybrid_logistic import HybridLogistic
from .linear_gaussian import LinearGaussian
from .logistic import Logistic
from .mixture import MixtureCPD
from .noisy_max import NoisyMax, NoisyMin
from .noisy_or import NoisyAnd, NoisyOr
from .table import TableCPD
from .tree import TreeCPD

_ALL: tuple[type[CPD], ...] = (
    TableCPD,
    Deterministic,
    DefaultCPD,
    TreeCPD,
    NoisyOr,
    NoisyAnd,
    NoisyMax,
    NoisyMin,
    AtLeast,
    Exactly,
    Parity,
    MixtureCPD,
    Logistic,
    LinearGaussian,
)
KINDS: Mapping[str, type[CPD]] = MappingProxyType({cpd.kind: cpd for cpd in _ALL})
_HYBRID: dict[type[CPD], type[HybridLogistic]] = {Logistic: HybridLogistic}


def kind_of(kind: str, given: Sequence[Variable]) -> type[CPD]:
    """Return the class of a kind, in the form that these parents need; CPD if it is not in files.

    >>> kind_of("logistic", ()).__name__
    'Logistic'
    """
    found = KINDS.get(kind, CPD)
    return _HYBRID.get(found, found) if any(v.continuous for v in given) else found


def for_parents(table: object, given: Sequence[Variable]) -> object:
    """Return a distribution in the form that continuous parents need; anything else as it is."""
    if isinstance(table, Logistic) and any(v.continuous for v in given):
        return HybridLogistic.of(table)
    return table
