"""Intervals around each value of an answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pgm.printing import ROWS, Tabular, outward

NORMAL_95 = 1.959963984540054  # standard deviations beyond which a normal value lies once in twenty


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Intervals(Tabular):
    """Intervals around each value of an answer: arrays of the shape of its `values`.

    >>> Intervals(np.array([0.28]), np.array([0.32]))[0]
    (0.28, 0.32)
    """

    low: np.ndarray
    high: np.ndarray
    errors: np.ndarray | None = None  # standard errors; None where nothing was drawn
    effective_sizes: np.ndarray | None = None  # effective sample sizes; inf where a value is known
    r_hat: np.ndarray | None = None  # how much chains disagree

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for array in (self.low, self.high, self.errors, self.effective_sizes, self.r_hat):
            if array is not None:
                array.flags.writeable = False

    def __getitem__(self, index: Any) -> tuple[float, float]:
        """The ends for one value."""
        return float(self.low[index]), float(self.high[index])

    def changed(
        self, change: Callable[[np.ndarray, Any], np.ndarray], values: np.ndarray | float = math.nan
    ) -> Intervals:
        """The same for other values: `change` gets an array, and its placeholder for a known value.

        The ends of such a value are the value itself.
        """

        def of(array: np.ndarray | None, known: float) -> np.ndarray | None:
            return None if array is None else change(array, known)

        return Intervals(
            change(self.low, values),
            change(self.high, values),
            of(self.errors, 0.0),
            of(self.effective_sizes, math.inf),
            of(self.r_hat, 1.0),
        )

    @property
    def sure(self) -> bool:
        """Whether they always contain the values, not only for 95 of 100 seeds."""
        return self.errors is None

    @property
    def heads(self) -> tuple[str, str]:
        """The headings of the ends in a table."""
        return ("at least", "at most") if self.sure else ("95 % from", "to")

    def cells(self, index: Any = ...) -> list[list[str]]:
        """The ends in a table, one row for each value."""
        lows, highs = np.ravel(self.low[index])[:ROWS], np.ravel(self.high[index])[:ROWS]
        return [outward(*ends) for ends in zip(lows.tolist(), highs.tolist(), strict=True)]

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [[str(i), *ends] for i, ends in enumerate(self.cells())]
        more = self.low.size - len(rows)
        return ["", *self.heads], rows, f"... {more:,} more of {self.low.size:,} intervals" if more else ""


def farthest(intervals: Intervals, values: np.ndarray) -> float:
    """The largest distance of any of these values from an end of its interval."""
    return float(np.maximum(intervals.high - values, values - intervals.low).max(initial=0.0))
