"""Plates: labelled rectangles around groups of nodes, never around any other node."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pgm.errors import InvalidArgument, UnknownVariable, shown

from .canvas import shortened, text_width

LABEL = 8.5  # letters, in points
_LABEL_HEIGHT = 13.0
_PADDING = 8.0


class Plates:
    """Which nodes are grouped.

    Args:
        members: for each label, its nodes; of two plates with a node in common, one lies inside the other.
    """

    def __init__(self, members: Mapping[str, Sequence[Hashable]]) -> None:
        self.members = {label: list(dict.fromkeys(nodes)) for label, nodes in members.items()}
        # Larger plates first: of two that share nodes the first is the outer one.
        self.labels = sorted(self.members, key=lambda label: -len(self.members[label]))
        self._paths: dict[Hashable, tuple[int, ...]] = {}
        for number, label in enumerate(self.labels):
            for node in self.members[label]:
                self._paths[node] = (*self._paths.get(node, ()), number)

    def path(self, node: Hashable) -> tuple[int, ...]:
        """Return the indices of the plates around a node, outermost first."""
        return self._paths.get(node, ())

    def bordered(
        self, rows: Sequence[Sequence[int]], groups: Sequence[tuple[int, ...]]
    ) -> tuple[list[list[int]], Borders]:
        """Return the rows with an item on either side of each plate, and what these items are."""
        free = len(groups)
        left: dict[int, dict[int, int]] = {}
        right: dict[int, dict[int, int]] = {}
        found: list[list[int]] = []
        for i, row in enumerate(rows):
            new: list[int] = []
            paths = [(), *(groups[item] for item in row), ()]
            for (before, after), item in zip(pairwise(paths), [*row, None], strict=True):
                same = sum(a == b for a, b in zip(before, after, strict=False))
                for side, numbers in ((right, before[same:][::-1]), (left, after[same:])):
                    for number in numbers:
                        side.setdefault(number, {})[i] = free
                        new.append(free)
                        free += 1
                if item is not None:
                    new.append(item)
            found.append(new)
        inner = {n: {m for path in groups if n in path for m in path[path.index(n) :]} for n in left}
        return found, Borders(self.labels, left, right, inner, len(rows))


@dataclass(frozen=True)
class Borders:
    """The items on both sides of each plate, by layer."""

    labels: Sequence[str]
    left: Mapping[int, Mapping[int, int]]
    right: Mapping[int, Mapping[int, int]]
    inner: Mapping[int, set[int]]  # for each plate, itself and those inside
    depth: int

    def chains(self) -> list[tuple[int, int]]:
        """Return the pairs of items, one layer apart, that should be aligned vertically."""
        sides = [*self.left.values(), *self.right.values()]
        return [(side[i], side[j]) for side in sides for i, j in pairwise(sorted(side))]

    def _deep(self, number: int, last: bool) -> int:
        """Count the plates, this one and those inside it, that begin (or end) in the same layer."""
        end = max if last else min
        here = end(self.left[number])
        inner = [self._deep(m, last) for m in self.inner[number] - {number} if end(self.left[m]) == here]
        return 1 + max(inner, default=0)

    @property
    def above(self) -> list[float]:
        """Return the room that plates need above each layer."""
        room = [0.0] * self.depth
        for number, side in self.left.items():
            room[min(side)] = max(room[min(side)], _PADDING * self._deep(number, last=False))
        return room

    @property
    def below(self) -> list[float]:
        """Return the room that plates need below each layer, for their labels too."""
        room = [0.0] * self.depth
        for number, side in self.left.items():
            need = (_PADDING / 2 + _LABEL_HEIGHT) * self._deep(number, last=True)
            room[max(side)] = max(room[max(side)], need)
        return room

    def straightened(
        self, rows: Sequence[Sequence[int]], x: np.ndarray, widths: np.ndarray, half: np.ndarray
    ) -> np.ndarray:
        """Move items to the right until each border is one straight line and nothing is too close.

        Plates have the same order in every layer, so a solution always exists: the longest path.
        """
        if not self.left:
            return x
        same = np.arange(len(x))
        wanted = x.copy()
        for sides, extreme in ((self.left, min), (self.right, max)):
            for side in sides.values():
                first = next(iter(side.values()))
                same[list(side.values())] = first
                wanted[first] = extreme(x[item] for item in side.values())
        after: dict[int, list[tuple[int, float]]] = {}
        waiting = np.zeros(len(x), dtype=np.int64)
        apart = [(a, b, float(half[a] + half[b])) for row in rows for a, b in pairwise(row)]
        for number, side in self.left.items():
            label = text_width(shortened(self.labels[number], 40), LABEL) + 2 * _PADDING
            apart.append((next(iter(side.values())), next(iter(self.right[number].values())), label))
        for a, b, step in apart:
            after.setdefault(int(same[a]), []).append((int(same[b]), step))
            waiting[same[b]] += 1
        ready = [int(item) for item in np.unique(same) if not waiting[item]]
        for item in ready:  # grows during the loop
            for other, step in after.get(item, ()):
                wanted[other] = max(wanted[other], wanted[item] + step)
                waiting[other] -= 1
                if not waiting[other]:
                    ready.append(other)
        return np.asarray(wanted[same])

    def frames(
        self, x: np.ndarray, tops: Sequence[float], bottoms: Sequence[float]
    ) -> dict[str, tuple[float, float, float, float]]:
        """Return left, low, right and top of each plate."""
        found = {}
        for number in sorted(self.left):  # outer ones first
            left, right = self.left[number], self.right[number]
            top = tops[min(left)] + _PADDING * self._deep(number, last=False)
            low = bottoms[max(left)] - (_PADDING / 2 + _LABEL_HEIGHT) * self._deep(number, last=True)
            ends = float(x[next(iter(left.values()))]), float(x[next(iter(right.values()))])
            found[self.labels[number]] = (ends[0], low, ends[1], top)
        return found


def checked(plates: object, names: Iterable[str]) -> Plates:
    """Return the plates that a user described, if they are that."""
    known = dict.fromkeys(names)
    if not isinstance(plates, Mapping):
        raise InvalidArgument(f'plates= takes {{"label": ["node", ...]}}, not {shown(plates)}.')
    members: dict[str, list[str]] = {}
    for label, nodes in plates.items():
        chosen = [nodes] if isinstance(nodes, str) else list(nodes)
        for node in chosen:
            if node not in known:
                raise UnknownVariable(node, known, f"plates={{{shown(label)}: ...}}")
        if not chosen:
            raise InvalidArgument(f"Plate {shown(label)} has no nodes.")
        members[str(label)] = chosen
    for one, a in members.items():
        for other, b in members.items():
            if set(a) & set(b) and not (set(a) <= set(b) or set(b) <= set(a)):
                raise InvalidArgument(
                    f"Plates {shown(one)} and {shown(other)} share some of their nodes, as "
                    f"{shown(min(set(a) & set(b)))}; one must lie inside the other."
                )
    return Plates(members)
