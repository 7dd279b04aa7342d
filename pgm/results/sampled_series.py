"""Series sampled from a linear dynamical system."""

from __future__ import annotations

import numpy as np

from pgm.results.base import put
from pgm.results.report import Report
from pgm.results.steps import Drawn

KALMAN = Report("kalman", exact=True)


class SampledSeries(Drawn):
    """Sampled states and observations, step by step.

    `states` is (steps, states); `observations` is (steps,) or (steps, entries): what `filter` takes.

    >>> import pgm
    >>> still = pgm.LinearDynamicalSystem(A=2.0, C=1.0, Q=0.0, R=0.0, mean=1.0, covariance=0.0)
    >>> still.sample(4, seed=0)
    step  x  y
    0     1  1
    1     2  2
    2     4  4
    3     8  8
    """

    __slots__ = ("_observed", "names", "observations", "report", "states", "steps")
    names: tuple[str, ...]
    states: np.ndarray
    steps: np.ndarray  # their indices, or their times
    _observed: tuple[str, ...]

    def __init__(
        self,
        names: tuple[str, ...],
        states: np.ndarray,
        observed: tuple[str, ...],
        observations: np.ndarray,
        steps: np.ndarray | None = None,
        report: Report = KALMAN,
    ) -> None:
        """Take arrays, which become read-only."""
        steps = np.arange(len(states)) if steps is None else steps
        for name, value in (("states", states), ("observations", observations), ("steps", steps)):
            value.flags.writeable = False
            put(self, name, value)
        put(self, "names", names)
        put(self, "_observed", observed)
        put(self, "report", report)

    def _index(self) -> np.ndarray:
        return self.steps

    def _columns(self) -> dict[str, np.ndarray]:
        mine = self.state_columns
        seen = self.observed_columns.items()
        return mine | {f"{name} observed" if name in mine else name: column for name, column in seen}

    @property
    def state_columns(self) -> dict[str, np.ndarray]:
        """The entries of the states by name."""
        return dict(zip(self.names, self.states.T, strict=True))

    @property
    def observed_columns(self) -> dict[str, np.ndarray]:
        """The entries of the observations by name."""
        rows = self.observations.reshape(len(self.observations), -1)
        return dict(zip(self._observed, rows.T, strict=True))

    def _parts(self) -> tuple[object, ...]:
        return self.names, self.states, self._observed, self.observations, self.steps, self.report
