"""Sampled cases."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from pgm.printing import ROWS, Tabular, label
from pgm.results.base import Result, not_among, noted, pandas, put
from pgm.results.report import EXACT, Report

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class Samples(Result, Tabular, dict[str, np.ndarray]):
    """Sampled cases, an array of states for each variable: a dict that converts directly to a DataFrame.

    >>> Samples({"rain": np.array([True, False]), "mood": np.array(["good", "bad"], dtype=object)})
    rain   mood
    True   good
    False  bad
    """

    __slots__ = ("report",)
    report: Report
    _frozen: ClassVar[str] = "samples do not change"

    def __init__(self, columns: Mapping[str, np.ndarray], report: Report = EXACT) -> None:
        """Take arrays of equal length; they become read-only."""
        super().__init__(columns)
        for column in self.values():
            column.flags.writeable = False
        put(self, "report", report)

    def __missing__(self, name: object) -> NoReturn:
        raise not_among(name, self, self.report)

    def __eq__(self, other: object) -> bool:
        """Equal when the names, in order, and all cases are; a plain dict of arrays can be equal too."""
        if not isinstance(other, dict):
            return NotImplemented
        return list(self) == list(other) and all(
            np.array_equal(mine, theirs) for mine, theirs in zip(self.values(), other.values(), strict=True)
        )

    def __ne__(self, other: object) -> bool:
        """Not equal; a dict would define this differently."""
        return not self == other

    __hash__ = None

    @property
    def n_rows(self) -> int:
        """The number of cases."""
        return next((len(column) for column in self.values()), 0)

    def to_dict(self) -> dict[str, list[Any]]:
        """{name: list of states}; `dict(samples)` has the arrays themselves."""
        return {name: column.tolist() for name, column in self.items()}

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with a column for each variable."""
        frame: pd.DataFrame = pandas().DataFrame(dict(self))
        return frame

    def plot(
        self,
        name: str | None = None,
        *,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the shares of the states of every variable, or one variable by itself; returns the Axes.

        Args:
            name: of one variable; all if left out.
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        from pgm import plot

        return plot.samples(self, name, ax, figsize=figsize, title=title)

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError("samples do not change; dict(samples) is a copy that does")

    __setitem__ = __delitem__ = __ior__ = _refuse
    update = setdefault = pop = popitem = clear = _refuse

    def _parts(self) -> tuple[object, ...]:
        return dict(self), self.report

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        columns = list(islice(self.items(), ROWS))
        header = [label(name) for name, _ in columns]
        rows = [[label(column[i]) for _, column in columns] for i in range(min(self.n_rows, ROWS))]
        notes = noted(self.n_rows, len(rows), "rows", self.report)
        if len(columns) < len(self):
            notes = f"... {len(self) - len(columns):,} more of {len(self):,} columns\n{notes}".rstrip()
        return header, rows, notes

    def __repr__(self) -> str:
        """A table of the first cases."""
        return super().__repr__() or "(no columns)"
