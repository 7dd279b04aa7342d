"""Many tables, each over variables of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False, slots=True)
class Tables:
    """As many `Dense` factors of one scope each, without a million objects for them."""

    widths: np.ndarray  # (n,) how many variables each scope has
    scopes: np.ndarray  # positions, scope after scope
    values: Sequence[np.ndarray]  # (n,) float64
    heads: int = 0
