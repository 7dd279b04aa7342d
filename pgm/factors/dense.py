"""One table, and every scope it applies to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False, slots=True)
class Dense:
    """A table over several variables, used once for each row of `scopes`.

    A conditional table has one scope with the child last, and `heads=1`; the million pairs of pixels in an
    image share one table and cost an array of scopes.
    """

    scopes: np.ndarray  # (n, k) positions
    values: np.ndarray  # float64, one axis for each variable of a scope
    heads: int = 0
    log: bool = False  # the values are natural logarithms
    joined: bool = False  # only the product with the table before it is a distribution
