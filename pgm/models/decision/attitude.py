"""Attitudes to risk: how the total utility of a case is judged."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pgm.errors import InvalidArgument, shown


@dataclass(frozen=True)
class ExponentialUtility:
    """Constant aversion to risk: what is maximised is the mean of -exp(-total / tolerance).

    Args:
        tolerance: how much risk is tolerated, in the units of the utilities: the larger, the closer to the
            mean. A fair bet to win this much or lose half of it is just about acceptable.

    >>> ExponentialUtility(tolerance=200).certainty_equivalent([100, 0], [0.5, 0.5])
    43.81403...
    """

    tolerance: float

    def __post_init__(self) -> None:
        number = self.tolerance
        if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number < math.inf:
            raise InvalidArgument(f"tolerance= is a positive number, not {shown(number)}.")

    def disutility(self, values: np.ndarray) -> tuple[np.ndarray, float]:
        """Return exp(-(values - least) / tolerance), and the least value, which keeps it within range.

        Args:
            values: a table of utilities.
        """
        least = float(values.min())
        return np.exp(-(values - least) / self.tolerance), least

    def certain(self, mean: np.ndarray | float, least: float) -> np.ndarray:
        """Return the certainty equivalent of a mean of `disutility`.

        Args:
            mean: the mean, or means.
            least: the sum of what was taken off.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(least - self.tolerance * np.log(np.asarray(mean)))

    def certainty_equivalent(self, values: object, probabilities: object) -> float:
        """Return the sure amount that is as good as a lottery.

        Args:
            values: what can be won.
            probabilities: of each value.

        Raises:
            ValueError: as many probabilities as values are expected.

        >>> ExponentialUtility(1.0).certainty_equivalent([2.0], [1.0])
        2.0
        """
        worth, least = self.disutility(np.asarray(values, dtype=float))
        return float(self.certain(float(np.asarray(probabilities, dtype=float) @ worth), least))
