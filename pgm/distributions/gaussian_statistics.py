"""Sufficient statistics of normal distributions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class GaussianStatistics:
    """Sufficient statistics (weight, mean, scatter) for each component; `+` adds those of other rows."""

    weight: np.ndarray  # (k,)
    mean: np.ndarray  # (k, dim)
    scatter: np.ndarray  # (k, dim, dim) sum of weighted products of what is off the mean

    def __add__(self, other: GaussianStatistics) -> GaussianStatistics:
        """Those of all rows (Chan, Golub & LeVeque 1979)."""
        weight = self.weight + other.weight
        part = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        off = other.mean - self.mean
        spread = (self.weight * part)[:, None, None] * off[:, :, None] * off[:, None, :]
        return GaussianStatistics(
            weight, self.mean + part[:, None] * off, self.scatter + other.scatter + spread
        )
