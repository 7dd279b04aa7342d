"""Many tables, each with its own scope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False, slots=True)
class Tables:
    """As many `Dense` factors of one scope each, without a million objects."""

    widths: np.ndarray  # (n,) the number of variables of each scope
    scopes: np.ndarray  # positions, scope after scope
    values: Sequence[np.ndarray]  # (n,) float64
    heads: int = 0
