"""The base of density estimates, with their plot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pgm.adapters.rows import RowsDensity

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class DrawnDensity(RowsDensity):
    """A density estimate, and its plot. A subclass adds `fit`, `score_samples` and `_range`."""

    def plot(
        self,
        *,
        windows: int = 20,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the density, one column as a curve, two as contours, with rows; returns the Axes.

        Args:
            windows: draw the windows of up to this many rows, if there is one column.
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: there are more than two columns.
        """
        from pgm import plot

        self._check_fitted()
        return plot.row_density(self, windows, ax, figsize=figsize, title=title)

    def _range(self) -> tuple[np.ndarray, np.ndarray]:
        """The range of a plot."""
        raise NotImplementedError

    def _points(self) -> np.ndarray:
        """The rows that are known."""
        return np.zeros((0, self.n_features_in_))

    def _windows(self, count: int, places: np.ndarray) -> np.ndarray:
        """The contribution of single rows' windows to the density, for one column."""
        return np.zeros((0, len(places)))
