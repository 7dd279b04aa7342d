"""States whose log odds are linear in continuous variables: not a factor until those are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .dense import Dense


@dataclass(frozen=True, eq=False, slots=True)
class Score:
    """P(child | parents): the softmax of offset[discrete parents...] + values @ weights."""

    scope: np.ndarray  # positions: discrete parents, continuous parents, the child
    n_discrete: int
    offset: np.ndarray  # (states of the discrete parents..., states)
    weights: np.ndarray  # (continuous parents, states)

    heads = 1

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

    def uniform(self) -> Dense:
        """A table over the states alone, which stands where the distribution sums to one."""
        scope = np.append(self.discrete, self.child)
        return Dense(scope[np.newaxis], np.full(self.offset.shape, 1.0 / self.offset.shape[-1]), 1)
