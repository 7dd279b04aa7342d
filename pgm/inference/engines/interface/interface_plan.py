"""How large the frontier of a dynamic network is, and what a step costs, before anything is allocated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pgm.config import current
from pgm.errors import TooLarge, listed
from pgm.inference.engines.interface.slice_layout import SliceLayout
from pgm.inference.trees.needs import time_of
from pgm.printing import html_facts, text_facts
from pgm.runtime.room import check_room, size_of
from pgm.runtime.running import seconds_of


@dataclass(frozen=True, slots=True)
class InterfacePlan:
    """What the interface algorithm will do: the frontier between two steps, and the cost of each.

    >>> import pgm
    >>> dbn = pgm.DynamicBayesianNetwork()
    >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
    >>> dbn.plan().interface, dbn.plan().entries
    (('rain[-1]',), 2)
    """

    interface: tuple[str, ...]  # the variables over which the past hands a table to a step
    entries: int  # of that table
    largest: int  # entries of the largest table of a step
    operations: int  # multiplications that each row needs
    pattern: int  # entries of the tables that each distinct observation needs
    bytes: int  # that filtering needs, however many steps there are
    memory_limit: int
    heuristic: str  # the one that found the elimination order

    @property
    def fits(self) -> bool:
        """Whether it fits the memory limit."""
        return self.bytes <= self.memory_limit

    @property
    def seconds(self) -> float:
        """A rough estimate of the time that a step takes."""
        return seconds_of(_float(self.operations))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain Python objects, with `fits` and `seconds`."""
        return {**asdict(self), "interface": list(self.interface), "fits": self.fits, "seconds": self.seconds}

    def _lines(self) -> list[tuple[str, str]]:
        over = f": {listed(self.interface)}" if self.interface else ""
        variables = "variable" if len(self.interface) == 1 else "variables"
        return [
            ("engine", "interface (exact)"),
            ("interface", f"{len(self.interface):,} {variables}{over}"),
            ("its table", f"{_as_text(self.entries)} entries"),
            ("largest table", f"{_as_text(self.largest)} entries; {self.heuristic}"),
            ("memory", f"{size_of(_float(self.bytes))} of {size_of(float(self.memory_limit))} allowed"),
            ("each step", f"{_as_text(self.operations)} operations, {time_of(self.seconds)}"),
        ]

    def __repr__(self) -> str:
        """One line for each fact."""
        return text_facts(self._lines())

    def _repr_html_(self) -> str:
        return html_facts(self._lines())


def _float(count: int) -> float:
    """An integer that may be larger than any double."""
    return float(count) if count.bit_length() < 1000 else 1e300


def _as_text(count: int) -> str:
    """An integer as people write it, however large."""
    return f"{count:,}" if count < 10**15 else f"10**{math.log10(count):.1f}"


def plan_of(layout: SliceLayout, names: Sequence[str]) -> InterfacePlan:
    """The plan of a layout; `names`: of its variables."""
    interface = []
    for p in layout.incoming:
        v, back = layout.template.owner(p)
        interface.append(names[v] if layout.template.static[v] else f"{names[v]}[-{back}]")
    largest = max(layout.widest, *(layout.size(bucket.scope) for bucket in layout.buckets))
    # Offsets of the operations, messages back and forth, one pattern's tables, and one row of each bucket.
    need = 8 * (layout.work + 4 * layout.widest + 3 * layout.block) + 16 * largest
    limit = current().memory_limit
    return InterfacePlan(
        tuple(interface),
        layout.interface_entries,
        largest,
        layout.work,
        layout.block,
        need,
        limit,
        layout.heuristic,
    )


def check_slice(layout: SliceLayout, names: Sequence[str]) -> None:
    """Raise TooLarge if the tables of a single step do not fit, whatever the clusters of the interface."""
    largest = max((layout.size(bucket.scope) for bucket in layout.buckets), default=1)
    table = f"One step has a table of {_as_text(largest)} entries over some of {listed(names)}, which takes"
    check_room(_float(48 * largest), table, "Take smaller clusters=")


def check(layout: SliceLayout, names: Sequence[str]) -> None:
    """Raise TooLarge, with the plan, if it does not fit."""
    plan = plan_of(layout, names)
    if not plan.fits:
        raise TooLarge(
            f"What one step hands to the next does not fit the memory limit:\n{plan}\n"
            'Two engines approximate it: "boyen-koller", which treats clusters of the interface as '
            'independent, and "particles". Or raise memory_limit with pgm.config.'
        )
