"""The course of a structure search, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

from pgm.printing import ROWS, Tabular, label
from pgm.results.base import Frozen, pandas, put


class SearchStep(NamedTuple):
    """One step: what was done to which arc (parent, child), and the score afterwards.

    >>> SearchStep("add", ("rain", "wet"), -120.5).move
    'add'
    """

    move: str
    arc: tuple[str, str] | None
    score: float


class SearchTrace(Frozen, Tabular, Sequence[SearchStep]):
    """The steps of a search, the start first; prints as a table.

    >>> SearchTrace([SearchStep("start", None, -10.0), SearchStep("add", ("rain", "wet"), -8.0)])
    move   arc          score
    start  -            -10.000
    add    rain -> wet  -8.000
    """

    __slots__ = ("_steps",)
    _steps: tuple[SearchStep, ...]

    def __init__(self, steps: Sequence[SearchStep]) -> None:
        """Take the steps in order."""
        put(self, "_steps", tuple(steps))

    @overload
    def __getitem__(self, i: int) -> SearchStep: ...
    @overload
    def __getitem__(self, i: slice) -> SearchTrace: ...
    def __getitem__(self, i: int | slice) -> SearchStep | SearchTrace:
        """One step, or some."""
        return SearchTrace(self._steps[i]) if isinstance(i, slice) else self._steps[i]

    def __len__(self) -> int:
        """The number of steps, including the start."""
        return len(self._steps)

    def __iter__(self) -> Iterator[SearchStep]:
        """The steps in order."""
        return iter(self._steps)

    def __eq__(self, other: object) -> bool:
        """Equal when all steps are."""
        return self._steps == other._steps if isinstance(other, SearchTrace) else NotImplemented

    def __hash__(self) -> int:
        """Hash of the steps."""
        return hash(self._steps)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the steps."""
        return SearchTrace, (self._steps,)

    @property
    def scores(self) -> tuple[float, ...]:
        """The score after each step."""
        return tuple(step.score for step in self._steps)

    def to_pandas(self) -> Any:
        """A data frame with a row for each step."""
        rows = [(step.move, *(step.arc or (None, None)), step.score) for step in self._steps]
        return pandas().DataFrame(rows, columns=["move", "parent", "child", "score"])

    def to_dict(self) -> dict[str, list[Any]]:
        """{"move", "arc", "score"}, each a list."""
        return {name: [getattr(step, name) for step in self._steps] for name in SearchStep._fields}

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        shown = self._steps if len(self) <= ROWS else (*self._steps[: ROWS - 1], self._steps[-1])
        rows = [
            [
                step.move,
                "-" if step.arc is None else f"{label(step.arc[0])} -> {label(step.arc[1])}",
                f"{step.score:.3f}",
            ]
            for step in shown
        ]
        if len(self) > ROWS:
            rows.insert(ROWS - 1, ["...", "", ""])
        notes = f"{len(self):,} steps" if len(self) > ROWS else ""
        return ["move", "arc", "score"], rows, notes
