"""States whose log odds are linear in continuous variables: a factor only once those are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .dense import Dense
from .mixed_family import MixedFamily

_NARROW = -600.0  # logs of probabilities above this are doubles with room to spare


@dataclass(frozen=True, eq=False, slots=True)
class Score(MixedFamily):
    """P(child | parents): the softmax of offset[discrete parents...] + values @ weights."""

    offset: np.ndarray  # (states of the discrete parents..., states)
    weights: np.ndarray  # (continuous parents, states)

    heads = 1
    linear = True  # in log odds

    @property
    def card(self) -> int:
        """The number of states of the child."""
        return int(self.offset.shape[-1])

    @property
    def cards(self) -> tuple[int, ...]:
        """The number of states of each discrete parent."""
        return self.offset.shape[:-1]

    @property
    def matters(self) -> np.ndarray:
        """Which of the continuous parents make a difference."""
        return np.asarray(np.ptp(self.weights, axis=1) > 0.0)

    def uniform(self) -> Dense:
        """A uniform table, for where this distribution sums to one."""
        scope = np.append(self.discrete, self.child)
        return Dense(scope[np.newaxis], np.full(self.offset.shape, 1.0 / self.offset.shape[-1]), 1)

    def known(self, values: np.ndarray, free: np.ndarray) -> np.ndarray:
        """The scores given these values of the continuous parents, without the part of the `free` ones."""
        left = self.matters & ~free
        return np.asarray(self.offset + values[left] @ self.weights[left])

    def table(self, values: np.ndarray, codes: Mapping[int, int]) -> Dense:
        """P(child | discrete parents) at these values of the continuous parents."""
        scope = [*self.discrete.tolist(), self.child]
        return table_of(scope, self.known(values, np.zeros(values.size, bool)))

    def logs(self, codes: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Log P(child | row) for rows of codes (n, discrete) and of values (n, continuous): (n, states)."""
        scores = self.offset[tuple(codes.T)] + values @ self.weights
        top = scores.max(axis=-1, keepdims=True)
        return np.asarray(scores - top - np.log(np.exp(scores - top).sum(axis=-1, keepdims=True)))

    def rows(self, codes: np.ndarray, values: np.ndarray) -> np.ndarray:
        """P(child | row) for such rows."""
        return np.asarray(np.exp(self.logs(codes, values)))

    def drawn(self, codes: np.ndarray, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw a state for each row: that of the largest score after adding Gumbel noise (Yellott 1977)."""
        scores = self.offset[tuple(codes.T)] + values @ self.weights
        return np.asarray(np.argmax(scores + rng.gumbel(size=scores.shape), axis=1))


def table_of(scope: Sequence[int], scores: np.ndarray) -> Dense:
    """The conditional distribution with these scores, the states of the child on the last axis."""
    top = scores.max(axis=-1, keepdims=True)
    logs = scores - top - np.log(np.exp(scores - top).sum(axis=-1, keepdims=True))
    narrow = float(logs.min(where=np.isfinite(logs), initial=0.0)) > _NARROW
    return Dense(np.array([scope], dtype=np.int64), np.exp(logs) if narrow else logs, 1, log=not narrow)
