"""Continuous variables given by any regression on others: a density only once these are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from .gaussian import GaussianFactor
from .mixed_family import MixedFamily
from .row_table import configurations

Moments = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False, slots=True)
class RowNormal(MixedFamily):
    """p(child | parents): normal with a mean and a standard deviation for each row of the parents.

    `moments(codes, values)` takes arrays (n, discrete parents) of int64 and (n, continuous parents) and
    returns n means and n standard deviations. It is called once for many rows.
    """

    cards: tuple[int, ...]  # of the discrete parents
    moments: Moments
    sd: float | None = None  # of all rows, if it is the same

    heads = 1

    def stand_in(self) -> GaussianFactor:
        """A standard normal of the child alone, for where this distribution integrates to one."""
        return GaussianFactor(self.scope[-1:], 0, np.zeros((1, 0)), np.zeros(1), np.ones(1))

    def density(self, values: np.ndarray, codes: Mapping[int, int]) -> GaussianFactor:
        """p(child | unobserved discrete parents) at these values of the continuous parents.

        Args:
            values: of the continuous parents, in order.
            codes: of the observed discrete parents, by position.
        """
        rows = configurations(self.discrete, self.cards, codes, self.scope.size + 2)
        mean, sd = self.moments(rows, np.broadcast_to(values, (len(rows), values.size)))
        open_ = [v for v in self.discrete.tolist() if v not in codes]
        scope = np.array([*open_, self.child], np.int64)
        return GaussianFactor(scope, len(open_), np.zeros((len(rows), 0)), np.array(mean), np.array(sd))

    def drawn(self, codes: np.ndarray, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw a value for each row."""
        mean, sd = self.moments(codes, values)
        return np.asarray(mean + sd * rng.standard_normal(len(mean)))
