"""How an answer came about: its bounds over time, and what an engine did step by step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pgm.printing import ROWS, Tabular

_CELL = 50  # characters of a cell of a trace


@dataclass(frozen=True, slots=True, repr=False)
class Course(Tabular):
    """How bounds converged on an answer: the lower and the upper bound after so much work.

    Bounds are on the logarithm of P(given), or of P(states, given) for the most probable states.

    >>> Course("iterations", (1.0, 2.0), (-5.0, -4.5), (float("inf"), float("inf"))).least[-1]
    -4.5
    """

    unit: Literal["iterations", "seconds"]
    at: tuple[float, ...]
    least: tuple[float, ...]
    most: tuple[float, ...]

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        n = len(self.at)
        some = range(n) if n <= ROWS else [*range(ROWS - 1), n - 1]
        rows = [[f"{each[i]:.6g}" for each in (self.at, self.least, self.most)] for i in some]
        notes = f"{n:,} times, of which {ROWS} are shown" if n > ROWS else ""
        return [self.unit, "at least", "at most"], rows, notes

    def moved(self, by: float) -> Course:
        """The same bounds with this added."""
        return Course(self.unit, self.at, tuple(x + by for x in self.least), tuple(x + by for x in self.most))


class Trace(Tabular, tuple[tuple[str, ...], ...]):
    """What an engine did, step by step: rows of text under a heading each; prints as a table.

    >>> Trace(("sweep", "message"), [("1", "C -> R")])
    sweep  message
    1      C -> R
    """

    header: tuple[str, ...]

    def __new__(cls, header: Sequence[str], rows: Iterable[Sequence[str]]) -> Trace:
        """Take the headings and the rows."""
        self = super().__new__(cls, (tuple(row) for row in rows))
        self.header = tuple(header)
        return self

    def _table(self) -> tuple[tuple[str, ...], list[list[str]], str]:
        rows = [
            [cell if len(cell) <= _CELL else cell[: _CELL - 1] + "…" for cell in row] for row in self[:ROWS]
        ]
        more = len(self) - len(rows)
        notes = f"... {more:,} more of {len(self):,} rows; print(trace) has all" if more else ""
        return self.header, rows, notes

    def __str__(self) -> str:
        """All rows in full: a printed trace is there to be read."""
        return "\n".join("  ".join(row) for row in (self.header, *self))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle headings and rows."""
        return Trace, (self.header, tuple(self))
