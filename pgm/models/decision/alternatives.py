"""Comparison of risk profiles, and stochastic dominance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pgm.errors import InvalidArgument, shown
from pgm.printing import ROWS, Tabular, label, number
from pgm.results.base import Result, pandas, put
from pgm.results.report import EXACT, Report

from .risk import RiskProfile

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_COLUMNS = ["mean", "sd", "P(loss)", "5 % quantile", "worst 5 %"]


class Alternatives(Result, Tabular, Mapping[str, RiskProfile]):
    """Risk profiles by name, {name: profile}; the largest mean first.

    Nobody who prefers more (order 1), or is also risk averse (order 2), chooses a dominated one.

    >>> import numpy as np
    >>> sure = RiskProfile(np.array([1.0]), np.array([1.0]))
    >>> bold = RiskProfile(np.array([0.0, 2.0]), np.array([0.5, 0.5]))
    >>> Alternatives({"bold": bold, "sure": sure})
          mean  sd  P(loss)   5 % quantile  worst 5 %  dominated by
    bold  1     1   0.000000  0             0          sure (order 2)
    sure  1     0   0.000000  1             1          -
    """

    __slots__ = ("_profiles", "report")
    report: Report
    _profiles: dict[str, RiskProfile]

    def __init__(self, profiles: Mapping[str, RiskProfile]) -> None:
        """Take profiles by name."""
        if not isinstance(profiles, Mapping) or not profiles:
            raise InvalidArgument(f"A dict {{name: risk profile}} is expected, not {shown(profiles)}.")
        for name, one in profiles.items():
            if not isinstance(one, RiskProfile):
                raise InvalidArgument(
                    f"{shown(name)} is compared by its risk profile, such as policy.risk(), not by "
                    f"{shown(one)}."
                )
        ranked = sorted(profiles, key=lambda name: -profiles[name].mean)
        put(self, "_profiles", {name: profiles[name] for name in ranked})
        rough = next((one.report for one in profiles.values() if not one.exact), None)
        put(self, "report", EXACT if rough is None else rough)

    def __getitem__(self, name: str) -> RiskProfile:
        return self._profiles[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._profiles)

    def __len__(self) -> int:
        return len(self._profiles)

    def dominated(self) -> dict[str, tuple[str, int]]:
        """Return the dominated profiles, {name: (by which, of which order)}."""
        found = {}
        for name, one in self.items():
            for order in (1, 2):
                better = next((o for o, p in self.items() if o != name and p.dominates(one, order)), None)
                if better is not None:
                    found[name] = better, order
                    break
        return found

    def to_dict(self) -> dict[str, dict[float, float]]:
        """{name: {total: probability}}."""
        return {name: one.to_dict() for name, one in self.items()}

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with a row for each alternative."""
        rows = [_figures(one) for one in self.values()]
        frame: pd.DataFrame = pandas().DataFrame(rows, columns=_COLUMNS, index=list(self))
        return frame

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the cumulative distribution function of each; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches.
            title: the title.
        """
        from pgm import plot

        return plot.risk(self._profiles, ax, figsize=figsize, title=title)

    def _parts(self) -> tuple[object, ...]:
        return (self._profiles,)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        out = self.dominated()
        rows = []
        for name in list(self)[:ROWS]:
            mean, sd, loss, *rest = _figures(self[name])
            by = f"{out[name][0]} (order {out[name][1]})" if name in out else "-"
            rows.append(
                [label(name), f"{mean:.6g}", f"{sd:.6g}", number(loss), *[f"{x:.6g}" for x in rest], by]
            )
        more = len(self) - len(rows)
        notes = [f"... {more:,} more"] if more else []
        return (
            ["", *_COLUMNS, "dominated by"],
            rows,
            "\n".join(notes if self.exact else [*notes, self.report.summary]),
        )


def _figures(one: RiskProfile) -> list[float]:
    return [one.mean, one.std, one.probability_below(), one.quantile(0.05), one.expected_shortfall()]
