"""The outcome of a search: the best graph, its trace, and what ended it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Move(NamedTuple):
    """One step of a search: what was done to which arc (parent, child), and the score afterwards."""

    what: str
    arc: tuple[int, int] | None
    score: float


@dataclass
class Found:
    """The best graph so far."""

    parents: list[Any]  # of each node, as indices
    score: float
    trace: list[Move] = field(default_factory=list)
    stopped_by: str = ""  # "time limit", "Ctrl-C", "max_steps"; empty if it ended by itself
    exact: bool = False  # whether no graph scores higher
    beside: list[set[int]] | None = None  # undirected neighbours, where a search finds a CPDAG
    confidence: dict[tuple[int, int], float] | None = None
    blanket: tuple[str, ...] | None = None  # of a target, where a search is about one
    notes: dict[str, str] = field(default_factory=dict)  # remarks for the report, by heading

    def interrupt(self, error: BaseException) -> None:
        """Mark the search as ended from outside."""
        self.stopped_by = "Ctrl-C" if isinstance(error, KeyboardInterrupt) else "time limit"

    @staticmethod
    def arcs(parents: Iterable[Iterable[int]]) -> list[tuple[int, int]]:
        """The arcs as pairs (parent, child)."""
        return [(u, v) for v, those in enumerate(parents) for u in sorted(those)]
