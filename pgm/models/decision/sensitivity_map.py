"""Two-way sensitivity: the optimal policy over two parameters, on a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.printing import ROWS, Tabular
from pgm.results.base import Result, pandas, put
from pgm.results.report import EXACT, Report

from .parameters import Parameter

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class SensitivityMap(Result, Tabular):
    """The optimal policy over two parameters, on a grid: `utilities[i, j]`, `best[i, j]`.

    >>> import pgm
    >>> d = pgm.InfluenceDiagram()
    >>> d.add_chance("rain", 0.3)
    >>> d.add_decision("umbrella", [False, True])
    >>> comfort = {(True, False): -10, (True, True): 2, (False, True): 5, (False, False): 8}
    >>> d.add_utility("comfort", comfort, parents=["rain", "umbrella"])
    >>> dry = ("comfort", {"rain": False, "umbrella": True})
    >>> found = d.sensitivity(("rain", {"rain": True}), dry)
    >>> found.policies
    ('umbrella: False', 'umbrella: True')
    """

    __slots__ = ("best", "first", "policies", "report", "second", "utilities", "x", "y")
    report: Report
    first: Parameter
    second: Parameter
    x: np.ndarray  # values of the first parameter
    y: np.ndarray
    utilities: np.ndarray  # expected, of the best policy, an axis for each parameter
    best: np.ndarray  # which of `policies` it is
    policies: tuple[str, ...]

    def __init__(
        self,
        first: Parameter,
        second: Parameter,
        x: np.ndarray,
        y: np.ndarray,
        utilities: np.ndarray,
        best: np.ndarray,
        policies: tuple[str, ...],
        report: Report = EXACT,
    ) -> None:
        """Store two parameters, their values, and the optimum at each pair of these."""
        for array in (x, y, utilities, best):
            array.flags.writeable = False
        named = {"first": first, "second": second, "x": x, "y": y, "utilities": utilities, "best": best}
        for name, value in {**named, "policies": tuple(policies), "report": report}.items():
            put(self, name, value)

    def to_dict(self) -> dict[str, Any]:
        """The two parameters with their values, expected utilities, and the optimal policies."""
        return {
            str(self.first): self.x.tolist(),
            str(self.second): self.y.tolist(),
            "utilities": self.utilities.tolist(),
            "best": self.best.tolist(),
            "policies": list(self.policies),
        }

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with a row for each pair of values."""
        rows = [
            [x, y, self.utilities[i, j], self.policies[int(self.best[i, j])]]
            for i, x in enumerate(self.x.tolist())
            for j, y in enumerate(self.y.tolist())
        ]
        columns = [str(self.first), str(self.second), "utility", "policy"]
        frame: pd.DataFrame = pandas().DataFrame(rows, columns=columns)
        return frame

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the regions of the optimal policies, with a cross at the current values; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches.
            title: the title.
        """
        from pgm import plot

        return plot.sensitivity_map(self, ax, figsize=figsize, title=title)

    def _parts(self) -> tuple[object, ...]:
        own = (self.first, self.second, self.x.copy(), self.y.copy(), self.utilities.copy(), self.best.copy())
        return *own, self.policies, self.report

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = []
        for place, policy in enumerate(self.policies[:ROWS]):
            here = self.best == place
            rows.append([policy, f"{here.mean():.1%}"])
        more = len(self.policies) - len(rows)
        notes = [f"... {more:,} more"] if more else []
        sides = zip((self.first, self.second), (self.x, self.y), strict=True)
        notes += [f"{one} from {at[0]:.6g} to {at[-1]:.6g}, now {one.value:.6g}" for one, at in sides]
        header = ["policy", "the best in"]
        return header, rows, "\n".join(notes if self.exact else [*notes, self.report.summary])
