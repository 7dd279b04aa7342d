"""States of switching linear systems over time, with the probabilities of regimes."""

from __future__ import annotations

from typing import Any

import numpy as np

from pgm.printing import ROWS, Share, label
from pgm.results.base import put
from pgm.results.gaussian_path import Filtered, Forecast, Smoothed
from pgm.results.sampled_series import SampledSeries
from pgm.results.steps import StateBeliefs


class _WithRegimes:
    """The additions to a Gaussian path where regimes switch; its moments are those of all regimes."""

    __slots__ = ()
    regimes: StateBeliefs  # P(regime) in each step; `values` is (steps, regimes)

    def __init__(self, regimes: StateBeliefs, *others: Any) -> None:
        """Take the beliefs about regimes; `others` are as without them."""
        super().__init__(*others)
        put(self, "regimes", regimes)

    def _parts(self) -> tuple[object, ...]:
        return self.regimes, *super()._parts()  # type: ignore[misc]

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        header, rows, notes = super()._table()  # type: ignore[misc]
        values = self.regimes.values
        some = [*range(len(rows) - 1), len(values) - 1] if len(values) > ROWS else range(len(values))
        more = [[*row, *map(Share, values[t].tolist())] for row, t in zip(rows, some, strict=True)]
        return [*header, *map(label, self.regimes.states)], more, notes

    def to_dict(self) -> dict[str, Any]:
        """As without regimes, and their probabilities by name."""
        found: dict[str, Any] = super().to_dict()  # type: ignore[misc]
        return found | {"regimes": self.regimes.to_dict()["states"]}

    def to_pandas(self) -> Any:
        """A frame with a row for each step: means, standard deviations, and the probabilities of regimes."""
        frame = super().to_pandas()  # type: ignore[misc]
        for k, name in enumerate(self.regimes.states):
            frame[f"P({label(name)})"] = self.regimes.values[:, k]
        return frame


class SwitchingFiltered(_WithRegimes, Filtered):
    """The states and regimes given the observations up to each step: `mean`, `covariance`, `regimes`."""

    __slots__ = ("regimes",)


class SwitchingSmoothed(_WithRegimes, Smoothed):
    """The states and regimes given all observations: `mean`, `covariance`, `regimes`."""

    __slots__ = ("regimes",)


class SwitchingForecast(_WithRegimes, Forecast):
    """The states and regimes of future steps; `predicted` is the forecast of observations."""

    __slots__ = ("regimes",)


class SampledRegimes(SampledSeries):
    """Sampled regimes, states and observations, step by step.

    >>> import pgm
    >>> calm = pgm.LinearDynamicalSystem(A=1.0, C=1.0, Q=0.0, R=0.0, mean=1.0, covariance=0.0)
    >>> wild = pgm.LinearDynamicalSystem(A=-2.0, C=1.0, Q=0.0, R=0.0, mean=1.0, covariance=0.0)
    >>> moves, systems = [[0.0, 1.0], [1.0, 0.0]], {"calm": calm, "wild": wild}
    >>> both = pgm.SwitchingLinearDynamicalSystem([1.0, 0.0], moves, systems)
    >>> both.sample(3, seed=0).regimes
    ('calm', 'wild', 'calm')
    """

    __slots__ = ("regimes",)
    regimes: tuple[Any, ...]

    def __init__(self, regimes: tuple[Any, ...], *others: Any) -> None:
        """Take the regimes; `others` are as for `SampledSeries`."""
        super().__init__(*others)
        put(self, "regimes", regimes)

    def _columns(self) -> dict[str, np.ndarray]:
        return {"regime": np.array(self.regimes, dtype=object), **super()._columns()}

    def _parts(self) -> tuple[object, ...]:
        return self.regimes, *super()._parts()
