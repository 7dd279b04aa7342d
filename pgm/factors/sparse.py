"""A table given by its non-zero rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .dense import Dense


@dataclass(frozen=True, eq=False, slots=True)
class Sparse:
    """A factor that is zero outside the listed, distinct rows; its scope may be far too wide for a table."""

    scope: np.ndarray  # (k,) positions
    rows: np.ndarray  # (m, k) state codes
    values: np.ndarray  # (m,)
    heads: int = 0
    log: bool = False

    def as_tables(self, cards: np.ndarray, auxiliary: int) -> list[Dense]:
        """Write the factor as small tables that share an auxiliary variable: the row index.

        Given the row, each variable is known, so the wide table factorises into one table per variable.
        The row is a function of the variables, so summing over it and maximising over it are the same.
        """
        m, k = self.rows.shape
        tables = [Dense(np.array([[auxiliary]]), self.values, 0, self.log)]
        for axis in range(k):
            link = np.zeros((m, int(cards[self.scope[axis]])))
            link[np.arange(m), self.rows[:, axis]] = 1.0
            tables.append(Dense(np.array([[auxiliary, self.scope[axis]]]), link))
        return tables
