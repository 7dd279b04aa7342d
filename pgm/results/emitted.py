"""Forecasts of numeric observations of any kind: mean, standard deviation and quantiles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pgm.errors import InvalidArgument
from pgm.printing import Tabular

_WIDEST = 1e300
_STEPS = 200


class Emitted(Tabular):
    """Observations of a step whose states have these probabilities.

    >>> from pgm.distributions import Poisson
    >>> Emitted(Poisson([1.0, 5.0]), np.array([0.5, 0.5])).mean
    3.0
    """

    def __init__(self, emission: Any, p: np.ndarray, name: str = "observation") -> None:
        """Take what the states emit, their probabilities, and the name of the observation."""
        self._emission, self._p = emission, np.array(p)
        self.names = [name] if not emission.vector else [f"{name}[{i}]" for i in range(emission.dim)]

    def __eq__(self, other: object) -> bool:
        """Equal when the same is emitted with the same probabilities."""
        if not isinstance(other, Emitted):
            return NotImplemented
        return bool(self._emission == other._emission) and np.array_equal(self._p, other._p)

    __hash__ = None  # type: ignore[assignment]

    @property
    def mean(self) -> Any:
        """The mean of each entry; a float where one value is observed."""
        found = self._p @ self._emission.moments()[0]
        return found if self._emission.vector else float(found[0])

    @property
    def std(self) -> Any:
        """The standard deviation of each entry; a float where one value is observed."""
        mean, variance = self._emission.moments()
        middle = self._p @ mean
        found = np.sqrt(np.maximum(self._p @ (variance + (mean - middle) ** 2), 0.0))
        return found if self._emission.vector else float(found[0])

    def quantile(self, tail: float, entry: int = 0) -> float:
        """The least value of an entry that is not exceeded with this probability.

        Args:
            tail: a probability between 0 and 1.
            entry: the index of the entry.

        Raises:
            InvalidArgument: tail is not a probability between 0 and 1.

        >>> from pgm.distributions import Poisson
        >>> Emitted(Poisson([1.0]), np.ones(1)).quantile(0.9)
        2.0
        """
        if not 0.0 < tail < 1.0:
            raise InvalidArgument(f"A quantile is of a probability between 0 and 1, not {tail!r}.")

        def reached(x: float) -> bool:
            return float(self._p @ self._emission.below(x, entry)) >= tail

        low, high = -1.0, 1.0
        while not reached(high) and high < _WIDEST:
            high *= 4.0
        while reached(low) and low > -_WIDEST:
            low *= 4.0
        for _ in range(_STEPS):
            middle = math.floor((low + high) / 2) if self._emission.whole else (low + high) / 2
            if not low < middle < high:
                break
            low, high = (low, middle) if reached(middle) else (middle, high)
        return float(math.ceil(high)) if self._emission.whole else high

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        mean, std = np.atleast_1d(self.mean).tolist(), np.atleast_1d(self.std).tolist()
        rows = [[name, f"{m:.6g}", f"{s:.6g}"] for name, m, s in zip(self.names, mean, std, strict=True)]
        return ["", "mean", "sd"], rows, ""
