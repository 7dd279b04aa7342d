"""Attitudes to risk: utility functions of the total."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pgm.cpds.table_input import is_number
from pgm.errors import InvalidArgument, shown

_SMALLEST = 1e-290  # below, doubles lose digits


@dataclass(frozen=True)
class ExponentialUtility:
    """Constant risk aversion: `solve` maximises the mean of -exp(-total / tolerance).

    Args:
        tolerance: the risk tolerance, in the units of the utilities: the larger, the closer to the
            mean. A fair bet to win this much or lose half of it is just about acceptable.

    >>> ExponentialUtility(tolerance=200).certainty_equivalent([100, 0], [0.5, 0.5])
    43.81403...
    """

    tolerance: float

    def __post_init__(self) -> None:
        if not is_number(self.tolerance) or not 0 < self.tolerance < math.inf:
            raise InvalidArgument(f"tolerance= is a positive number, not {shown(self.tolerance)}.")
        object.__setattr__(self, "tolerance", float(self.tolerance))

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
            least: the sum of the least values that `disutility` subtracted.

        Raises:
            InvalidArgument: a mean is too small for a double, so that its logarithm would be wrong.
        """
        if (np.abs(mean) < _SMALLEST).any():
            raise InvalidArgument(
                f"tolerance={self.tolerance:g} is too small for these utilities: some lie more than "
                f"{-math.log(_SMALLEST):.0f} times the tolerance above the lowest, and exp(-x / tolerance) "
                "underflows. Take a larger tolerance, raise the lowest utilities, or rule out forbidden "
                "actions by allowed=."
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(least - self.tolerance * np.log(np.asarray(mean)))

    def certainty_equivalent(self, values: object, probabilities: object) -> float:
        """Return the certainty equivalent of a lottery.

        Args:
            values: the outcomes.
            probabilities: of each value.

        Raises:
            InvalidArgument: values or probabilities are not lists of finite numbers, differ in length, or the
                probabilities are negative or do not sum to 1.

        >>> ExponentialUtility(1.0).certainty_equivalent([2.0], [1.0])
        2.0
        """
        won, p = (_floats(given) for given in (values, probabilities))
        if won is None or p is None or won.size != p.size or not won.size:
            raise InvalidArgument(
                "A lottery is a list of finite numbers that can be won, and a list of as many probabilities; "
                f"these are {shown(values)} and {shown(probabilities)}."
            )
        if (p < 0.0).any() or abs(p.sum() - 1.0) > 1e-9:
            raise InvalidArgument(
                f"The probabilities {shown(probabilities)} are negative or do not sum to 1."
            )
        worth, least = self.disutility(won[p > 0.0])
        return float(self.certain(float(p[p > 0.0] @ worth), least))


def _floats(given: object) -> np.ndarray | None:
    """A list of finite numbers as an array; None if it is something else."""
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    return found if found.ndim == 1 and np.isfinite(found).all() else None
