"""States given all observations, as paths drawn by a particle smoother."""

from __future__ import annotations

from typing import Any

import numpy as np

from pgm.errors import InvalidArgument, shown
from pgm.results.base import put
from pgm.results.gaussian_path import Smoothed
from pgm.results.intervals import Intervals


class SmoothedPaths(Smoothed):
    """The states given all observations, as sampled paths: `paths`, (paths, steps, states).

    `mean`, `covariance` and `interval` are those of the paths, whatever their distribution is.

    >>> import pgm
    >>> walk = pgm.NonlinearDynamicalSystem(lambda x: x, lambda x: x, Q=1.0, R=1.0, mean=0, covariance=1)
    >>> walk.smooth([1.0, 2.0], engine=pgm.filters.Particles(samples=1000, paths=500)).paths.shape
    (500, 2, 1)
    """

    __slots__ = ("paths",)
    paths: np.ndarray

    def __init__(self, paths: np.ndarray, *others: Any) -> None:
        """Take an array, which becomes read-only; `others` are as for `Smoothed`."""
        super().__init__(*others)
        paths.flags.writeable = False
        put(self, "paths", paths)

    def interval(self, level: float = 0.95) -> Intervals:
        """The interval of each value with this probability: quantiles of the paths.

        Args:
            level: the probability, between 0 and 1.

        Raises:
            InvalidArgument: level is not between 0 and 1.

        >>> import pgm
        >>> walk = pgm.NonlinearDynamicalSystem(lambda x: x, lambda x: x, Q=1.0, R=1.0, mean=0, covariance=1)
        >>> walk.smooth([1.0, 2.0], engine="particles").interval(0.5).low.shape
        (2, 1)
        """
        if not isinstance(level, float | int) or not 0.0 < level < 1.0:
            raise InvalidArgument(f"level= is a probability between 0 and 1, not {shown(level)}.")
        low, high = np.quantile(self.paths, [0.5 - level / 2, 0.5 + level / 2], axis=0)
        return Intervals(low, high)

    def _parts(self) -> tuple[object, ...]:
        return self.paths, *super()._parts()
