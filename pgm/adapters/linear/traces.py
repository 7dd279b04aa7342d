"""Traces of weights by step, shared by the iterative linear classifiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.printing import Tabular, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 1024  # points of a trace at most; of longer ones every second, fourth, ... correction is kept
_NUMBERS = 1 << 22  # entries at most: fewer points for very many columns
_ROWS = 20
_CELLS = 6


class WeightTrace(Tabular):
    """The weights after each correction, from first to last.

    `steps` counts corrections, `weights` has a row for each of them and a column for each of `columns`; the
    first column is the intercept, "1". Of more than 1,024 corrections every second is kept, every fourth,
    ...: `every` says so; the last one is always there.

    >>> import pgm
    >>> found = pgm.adapters.Perceptron().fit([[2.0], [-1.0]], ["yes", "no"])
    >>> found.traces_["yes"].weights.tolist()
    [[0.0, 0.0], [1.0, 2.0]]
    """

    def __init__(
        self, columns: Sequence[str], steps: np.ndarray, weights: np.ndarray, every: int = 1, name: Any = None
    ) -> None:
        """Take what was recorded.

        Args:
            columns: what the weights belong to.
            steps: the number of corrections at each point.
            weights: a row for each point.
            every: how many corrections lie between two points.
            name: the class that the weights are for, or None.
        """
        self.columns = list(columns)
        self.steps, self.weights, self.every, self.name = steps, weights, every, name

    def to_dict(self) -> dict[str, Any]:
        """Return the steps, and the weights of each column."""
        return {
            "step": self.steps.tolist(),
            **{name: self.weights[:, j].tolist() for j, name in enumerate(self.columns)},
        }

    def to_pandas(self) -> Any:
        """Return a DataFrame with a row for each step, and a column for each weight."""
        from pgm.results.base import pandas

        found = pandas().DataFrame(self.weights, columns=self.columns)
        found.index = pandas().Index(self.steps, name="step")
        return found

    def plot(
        self,
        columns: Any = None,
        *,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the weights by step; returns the Axes.

        Args:
            columns: the names of those to draw; by default those that change most.
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.

        Raises:
            InvalidArgument: there is no such column.
        """
        from pgm import plot

        return plot.weight_trace(self, columns, ax, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        n = len(self.steps)
        at = np.unique(np.linspace(0, n - 1, min(n, _ROWS)).round().astype(np.int64)).tolist()
        cells = self.columns[:_CELLS]
        rows = [[f"{self.steps[i]:,}", *(f"{x:.6g}" for x in self.weights[i, : len(cells)])] for i in at]
        said = [f"weights after {int(self.steps[-1]):,} corrections"]
        if self.name is not None:
            said[0] += f", for {label(self.name)}"
        if len(self.columns) > _CELLS:
            said.append(f"{len(self.columns) - _CELLS:,} more columns")
        if n > len(at):
            said.append(f"{n:,} points were kept")
        return ["step", *map(label, cells)], rows, "; ".join(said)


class Recorder:
    """Buffers for a trace, as the loops need them."""

    def __init__(self, start: np.ndarray) -> None:
        """The first point has the initial weights."""
        self.dim = start.size
        self.counts = np.array([0, 1, 1, 0], np.int64)  # corrections, points, stride, errors in the pocket
        points = max(16, min(POINTS, _NUMBERS // self.dim))
        self.steps = np.zeros(points, np.int64)
        self.path = np.zeros(points * self.dim)
        self.path[: self.dim] = start

    def add(self, a: np.ndarray) -> None:
        """One more correction, which no loop made."""
        from .loops import LINEAR

        self.counts[0] += 1
        LINEAR.record(a, self.counts, self.steps, self.path)

    def trace(self, columns: Sequence[str], name: Any, last: np.ndarray) -> WeightTrace:
        """The recorded trace, with the final weights."""
        done, points, every, _ = self.counts.tolist()
        steps, path = self.steps[:points], self.path[: points * self.dim].reshape(points, self.dim)
        if int(steps[-1]) != done:
            steps, path = np.append(steps, done), np.vstack([path, last])
        return WeightTrace(columns, steps.copy(), path.copy(), every, name)
