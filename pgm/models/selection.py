"""Models of several sizes, and which of them is best."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from pgm.printing import Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_Candidate = TypeVar("_Candidate")


class Selection(Tabular, Generic[_Candidate]):
    """Candidates, each with its size, `log_likelihood`, `aic`, `bic` and `validation`, and the `best`."""

    size: ClassVar[str]  # the attribute of a candidate that says how large it is
    word: ClassVar[str]  # what it counts
    rows: ClassVar[str]  # what may be held out

    def __init__(self, candidates: Iterable[_Candidate], score: str) -> None:
        """Take the candidates, and the criterion."""
        self.candidates, self.score = tuple(candidates), score
        self.best = max(self.candidates, key=lambda one: goodness(one, score))

    def to_dict(self) -> dict[str, Any]:
        """A list for each column of the table."""
        names = (self.size, "log_likelihood", "aic", "bic", "validation")
        return {name: [getattr(one, name) for one in self.candidates] for name in names}

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each size."""
        from pgm.results.base import pandas

        return pandas().DataFrame(self.to_dict()).set_index(self.size)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the criterion over the sizes of the models; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        from pgm import plot

        sizes = [getattr(one, self.size) for one in self.candidates]
        values = [getattr(one, self.score) for one in self.candidates]
        name = {"bic": "BIC", "aic": "AIC"}.get(self.score, f"log-likelihood of held-out {self.rows}")
        best = getattr(self.best, self.size)
        return plot.selection(sizes, values, best, name, ax, figsize=figsize, title=title, word=self.word)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        found = self.to_dict()
        held = any(one is not None for one in found["validation"])
        rows = []
        for i, one in enumerate(self.candidates):
            validation = [] if not held else [f"{found['validation'][i]:.6g}"]
            numbers = [f"{found[name][i]:.6g}" for name in ("log_likelihood", "aic", "bic")]
            best = "best" if one is self.best else ""
            rows.append([f"{found[self.size][i]:,}", *numbers, *validation, best])
        header = [self.word, "log-likelihood", "AIC", "BIC", *(["held out"] if held else []), ""]
        return header, rows, f"chosen by {self.score}"


def goodness(one: Any, score: str) -> float:
    """The criterion, larger is better."""
    if score == "validation":
        return -math.inf if one.validation is None else float(one.validation)
    return -float(getattr(one, score))
