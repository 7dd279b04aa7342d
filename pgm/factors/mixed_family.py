"""A child with some continuous parents: a table only once these are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False, slots=True)
class MixedFamily:
    """The positions of a child and its parents, the discrete ones first."""

    scope: np.ndarray  # positions: discrete parents, continuous parents, the child
    n_discrete: int

    @property
    def child(self) -> int:
        """The position of the child."""
        return int(self.scope[-1])

    @property
    def discrete(self) -> np.ndarray:
        """The positions of the discrete parents."""
        return self.scope[: self.n_discrete]

    @property
    def continuous(self) -> np.ndarray:
        """The positions of the continuous parents."""
        return self.scope[self.n_discrete : -1]
