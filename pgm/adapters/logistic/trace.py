"""A trace of the optimisation: error, misclassified rows and weights by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.printing import Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 1024


class LogisticTrace(Tabular):
    """The error after each step, from the start to the end.

    `steps`, `errors` (what is minimised), `misclassified` (by weight of the rows) and `weights` have an entry
    for each point. Of more than 1,024 steps every second is kept, every fourth, ...: `every` says so; the
    last one is always there.

    >>> import pgm
    >>> told = pgm.adapters.LogisticDiscriminant(
    ...     optimizer="gradient", rate=0.1, max_iter=2, tol=None
    ... )
    >>> told = told.fit([[1.0], [2.0]], [0, 1])
    >>> told.trace_.errors.round(6).tolist()
    [1.386294, 1.362856, 1.344645]
    """

    def __init__(self) -> None:
        """An empty trace."""
        self.every = 1
        self._points: list[tuple[int, float, float, np.ndarray]] = []
        self._last: tuple[int, float, float, np.ndarray] | None = None

    def _add(self, step: int, error: float, misclassified: float, weights: np.ndarray) -> None:
        """Take a step, which may be the last."""
        self._last = (step, error, misclassified, weights.copy())
        if step % self.every == 0:
            self._points.append(self._last)
            if len(self._points) > _MOST:
                self._points = self._points[::2]
                self.every *= 2

    @property
    def _next(self) -> int:
        """The index of the next step."""
        return 0 if self._last is None else self._last[0] + 1

    @property
    def _all(self) -> list[tuple[int, float, float, np.ndarray]]:
        if self._last is None or (self._points and self._points[-1][0] == self._last[0]):
            return self._points
        return [*self._points, self._last]

    @property
    def steps(self) -> np.ndarray:
        """The index of each step; 0 is the start."""
        return np.array([one[0] for one in self._all])

    @property
    def errors(self) -> np.ndarray:
        """What is minimised, after each."""
        return np.array([one[1] for one in self._all])

    @property
    def misclassified(self) -> np.ndarray:
        """The misclassified rows, by weight, after each."""
        return np.array([one[2] for one in self._all])

    @property
    def weights(self) -> np.ndarray:
        """The weights after each: outputs by columns, the intercept last."""
        return np.array([one[3] for one in self._all])

    def __len__(self) -> int:
        """How many points there are."""
        return len(self._all)

    def to_dict(self) -> dict[str, Any]:
        """Return steps, errors and rows misclassified as lists."""
        return {
            "step": self.steps.tolist(),
            "error": self.errors.tolist(),
            "misclassified": self.misclassified.tolist(),
        }

    def to_pandas(self) -> Any:
        """Return a DataFrame with a row for each point."""
        from pgm.results.base import pandas

        return pandas().DataFrame(self.to_dict()).set_index("step")

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Return a plot of the error by step, and of the rows misclassified, dashed.

        Args:
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.

        Raises:
            InvalidArgument: `ax=` is not an Axes.
        """
        from pgm import plot

        return plot.error_by_step(self, ax, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        every = self._all
        shows = np.unique(np.linspace(0, len(every) - 1, min(len(every), 12)).astype(np.int64)).tolist()
        rows = [[f"{every[i][0]:,}", f"{every[i][1]:.10g}", f"{every[i][2]:g}"] for i in shows]
        more = f"{len(shows)} of {len(every):,} points" if len(shows) < len(every) else ""
        return ["step", "error", "misclassified"], rows, more
