"""Many tables, each with its own scope."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .dense import Dense


@dataclass(frozen=True, eq=False, slots=True)
class Tables:
    """The same as many `Dense` factors with one scope each, without a million objects."""

    widths: np.ndarray  # (n,) the number of variables of each scope
    scopes: np.ndarray  # positions, scope after scope
    values: Sequence[np.ndarray]  # (n,) float64
    heads: int = 0

    def each(self) -> Iterator[Dense]:
        """Yield the tables one by one."""
        scopes = np.split(self.scopes, np.cumsum(self.widths)[:-1])
        for scope, values in zip(scopes, self.values, strict=True):
            yield Dense(scope[np.newaxis], values, self.heads)
