"""What branch and bound has yet to explore, and the memory that it takes."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

_PART = 200  # bytes of an open part, not counting its decisions


class Dive:
    """The decisions of one search, stored once for all the parts that it left open."""

    __slots__ = ("decisions", "parts")

    def __init__(self, decisions: np.ndarray) -> None:
        self.decisions = decisions
        self.parts = 0  # how many are still open


class Part(NamedTuple):
    """An open part. The first two fields order it: the lowest floor first, then the newest."""

    floor: int  # a lower bound on the cost of anything in it
    serial: int  # unique, and lower for newer parts
    dive: Dive
    length: int  # how many of its decisions lead here
    flipped: bool  # whether the last of these goes the other way

    def path(self) -> np.ndarray:
        """The decisions that lead to this part."""
        found = self.dive.decisions[: self.length].copy()
        if self.flipped:
            found[-1] += 1
        return found


class OpenParts:
    """The open parts, the lowest floor first, or the newest first while memory is short."""

    def __init__(self, most: float) -> None:
        """Start with nothing open; parts are kept by their floors up to this many bytes."""
        self._most = most
        self._held = 0
        self._made = 0
        self._heap: list[Part] = []
        self._stack: list[Part] = []  # the newest comes first, before the others

    def push(self, floor: int, dive: Dive, length: int, *, deep: bool, flipped: bool = False) -> None:
        """Keep a part for later; `deep`: it comes next, whatever its floor."""
        self._made -= 1
        self._held += _PART + (0 if dive.parts else dive.decisions.nbytes)
        dive.parts += 1
        part = Part(floor, self._made, dive, length, flipped)
        if deep or self._full():
            self._stack.append(part)
        else:
            heapq.heappush(self._heap, part)

    def pop(self) -> Part:
        """The next part to explore."""
        part = self._stack.pop() if self._stack else heapq.heappop(self._heap)
        self._release(part)
        return part

    def drop(self, best: int, *, sort: bool) -> bool:
        """Drop parts from the front whose cost is at least `best`; return whether any are left.

        With `sort`, parts that were to come next are again kept by their floors if memory allows.
        """
        while self._stack and self._stack[-1].floor >= best:
            self._release(self._stack.pop())
        if sort and self._stack and not self._full():
            for part in self._stack:
                heapq.heappush(self._heap, part)
            self._stack = []
        if not self._stack and self._heap and self._heap[0].floor >= best:
            self._heap, self._held = [], 0
        return bool(self._heap or self._stack)

    def least(self) -> int | None:
        """The lowest floor; None if nothing is open."""
        return min((part.floor for part in (*self._heap[:1], *self._stack)), default=None)

    def _full(self) -> bool:
        return self._held > self._most

    def _release(self, part: Part) -> None:
        part.dive.parts -= 1
        self._held -= _PART + (0 if part.dive.parts else part.dive.decisions.nbytes)
