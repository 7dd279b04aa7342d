"""Weighted model counting: sums for models whose tables over several variables only allow or forbid.

Consequences of a value are found by watching two literals of each clause, clauses are learned from conflicts,
and independent components are summed one by one and cached.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pgm.inference.engines.counting.clauses import Formula, formula_of
from pgm.inference.engines.counting.counter import Counter
from pgm.inference.engines.counting.simplify import FALSE, TRUE, simplified
from pgm.inference.program.reduction import wide_multiply
from pgm.runtime.clock import Clock

Wide = tuple[float, int]


class Count:
    """Sums over a formula, which is simplified first; they share the cache and what was learned."""

    def __init__(self, formula: Formula, asked: np.ndarray, clock: Clock, *, record: bool = False) -> None:
        """Prepare sums with these reduced states clamped or, with `record`, the states' probabilities."""
        asked_for = {int(x) // 2 for x in formula.literal[asked]}
        self._formula = simplified(formula, sorted(asked_for), clock)
        self._counter = Counter(self._formula, clock, record=record)

    def total(self, clamped: Sequence[int] = ()) -> Wide:
        """The sum over everything open, with variables clamped to these reduced states."""
        literals = self._formula.literal[list(clamped)].tolist()
        if FALSE in literals:
            return 0.0, 0
        return wide_multiply(self._formula.constant, self._counter.total([x for x in literals if x != TRUE]))

    def shares(self) -> np.ndarray:
        """The probability of each reduced state, after a recorded `total`."""
        literal = self._formula.literal
        shares = np.concatenate([self._counter.shares(), [1.0, 0.0]])  # of TRUE and FALSE
        places = np.where(literal == TRUE, len(shares) - 2, len(shares) - 1)
        return np.asarray(shares[np.where(literal >= 0, literal, places)])


__all__ = ["Count", "formula_of"]
