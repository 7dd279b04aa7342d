"""The memory and time of a run, before anything large is allocated; and sizes and times as text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from pgm.config import memory_limit
from pgm.inference.trees import Shape

Question = Literal[
    "query", "marginals", "probability", "map", "k_best", "marginal MAP", "max_marginals", "sample", "plan"
]
SUMS: tuple[Question, ...] = ("query", "marginals", "probability")
Sweeps = Literal["in", "both", "kept"]

_WIDE = 16  # bytes of a wide number
RESULT = 40  # peak bytes for each value of the answer
MOST_STEPS = 1e14  # about a day; more is refused even if it would fit in memory


@dataclass(frozen=True, slots=True)
class Needs:
    """The kind of run that a question needs."""

    question: str  # in the user's words
    sweeps: Sweeps = "in"
    wide: bool = False  # in wide numbers
    results: float = 0.0  # entries of the answer
    each: float = RESULT  # peak bytes for each of them
    engine: str = "exact"
    runs: float = 1.0  # how many times the tree is run
    cutset: tuple[int, ...] = ()  # the variables that are known in each run
    asks: Question | None = "query"  # the kind of question, for naming other engines; None: no other can

    def bytes(self, shape: Shape) -> tuple[float, float, float]:
        """The bytes of one sweep, of both, and the most that this question takes.

        Doubles are tried first; if they may not suffice, the most is that of the wide numbers tried next.
        """
        inward, wide = self._sweep(shape, self.wide), self.wide or shape.narrow
        most = inward if wide == self.wide else self._sweep(shape, wide)
        both = most + (_WIDE * (shape.messages + shape.tables) if wide else 8 * shape.messages)
        if self.sweeps == "kept":
            return inward, both, most + 8.0 * power_of_two(shape.log2_total)
        return inward, both, most if self.sweeps == "in" else both

    def _sweep(self, shape: Shape, wide: bool) -> float:
        where = 3 * _WIDE if wide else 16  # for each entry of a table: its value, and the index of its source
        each = self.each
        if self.sweeps == "in" and not wide:  # a joint stays in its message if that is most of all messages
            each = 0 if 0.5 * shape.messages <= self.results <= shape.messages else 8
        return (
            where * shape.tables
            + (_WIDE if wide else 8) * shape.messages
            + shape.layout
            + each * self.results
        )

    def bytes_in_doubles(self, shape: Shape) -> float:
        """The memory of this question if doubles suffice; as `bytes` if more than the roots are read."""
        return self._sweep(shape, self.wide) if self.sweeps == "in" else self.bytes(shape)[2]

    def steps(self, shape: Shape) -> float:
        """Inner steps of the run."""
        return self.runs * shape.steps * (1.0 if self.sweeps == "in" else 2.0) * (10.0 if self.wide else 1.0)

    def fits(self, shape: Shape) -> bool:
        """Whether the question may run now."""
        allowed = memory_limit()
        return shape.complete and self.bytes_in_doubles(shape) <= allowed and self.steps(shape) <= MOST_STEPS


def power_of_two(exponent: float) -> float:
    """Two to this power; infinite if a double cannot hold it."""
    return 2.0**exponent if exponent < 1000 else math.inf


def time_of(seconds: float) -> str:
    """A rough time, formatted for people."""
    if seconds < 1e-3:
        return "under a millisecond"
    if seconds < 1.0:
        return f"about {seconds * 1e3:.0f} ms"
    if seconds < 120.0:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 3600:.1f} hours" if seconds < 1e7 else "years"
