"""Which box stands in which layer, and in which order: few crossings, short links, no layer too wide.

The steps of Sugiyama, Tagawa & Toda 1981: layers, then bends where a long link passes a layer, then orders by
barycentres. Everything is decided by the order in which nodes and links are given: the same network gives the
same picture.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

Link: TypeAlias = tuple[Hashable, Hashable]
Neighbours: TypeAlias = Mapping[Hashable, Sequence[Hashable]]

_SWEEPS = 24  # rounds of ordering, each down and up
_MOST_BENDS = 20_000  # beyond it, the longest links pass behind boxes


@dataclass(frozen=True, slots=True)
class Bend:
    """Where a long link passes through a layer."""

    link: Link
    layer: int


@dataclass(frozen=True, slots=True)
class Layers:
    """Nodes and bends in rows from the top, each from left to right; a chain is a link with its bends."""

    rows: list[list[Hashable]]
    chains: dict[Link, list[Hashable]]
    above: dict[Hashable, list[Hashable]]
    below: dict[Hashable, list[Hashable]]


def layers(nodes: Sequence[Hashable], links: Sequence[Link]) -> Layers:
    """Return the rows of an acyclic graph, every link leading downwards."""
    links = list(dict.fromkeys(links))
    parents: dict[Hashable, list[Hashable]] = {node: [] for node in nodes}
    children: dict[Hashable, list[Hashable]] = {node: [] for node in nodes}
    for tail, head in links:
        parents[head].append(tail)
        children[tail].append(head)
    order = _sorted(nodes, parents, children)
    level = _levels(order, parents, children)
    chains: dict[Link, list[Hashable]] = {}
    room = _MOST_BENDS
    for tail, head in sorted(links, key=lambda link: level[link[1]] - level[link[0]]):
        between = range(level[tail] + 1, level[head])
        room -= len(between)
        bends = [Bend((tail, head), i) for i in between] if room >= 0 else []
        chains[tail, head] = [tail, *bends, head]
        level |= {bend: bend.layer for bend in bends}
    above: dict[Hashable, list[Hashable]] = defaultdict(list)
    below: dict[Hashable, list[Hashable]] = defaultdict(list)
    for link in links:
        chain = chains[link]
        for upper, lower in pairwise(chain):
            if level[lower] == level[upper] + 1:
                below[upper].append(lower)
                above[lower].append(upper)
    rows = _untangled(_first_rows(order, level, above, below), above, below)
    return Layers(rows, {link: chains[link] for link in links}, above, below)


def _sorted(nodes: Sequence[Hashable], parents: Neighbours, children: Neighbours) -> list[Hashable]:
    waiting = {node: len(parents[node]) for node in nodes}
    order = [node for node in nodes if not waiting[node]]
    for node in order:  # grows while it is read
        for child in children[node]:
            waiting[child] -= 1
            if not waiting[child]:
                order.append(child)
    return order


def _levels(order: Sequence[Hashable], parents: Neighbours, children: Neighbours) -> dict[Hashable, int]:
    """Return a layer for each node: below its parents, near to its neighbours, no layer much too wide."""
    level: dict[Hashable, int] = {}
    for node in order:
        level[node] = max((level[p] + 1 for p in parents[node]), default=0)
    _pull(order, level, parents, children)
    widest = max(10, math.ceil(1.6 * math.sqrt(len(order))))
    crowd: dict[int, list[Hashable]] = defaultdict(list)
    for node in order:
        if not children[node]:
            crowd[level[node]].append(node)
    for leaves in crowd.values():  # the features of a naive Bayes: several rows, dealt out like cards
        deep = -(-len(leaves) // widest)
        for i, node in enumerate(leaves):
            level[node] += i % deep
    count: dict[int, int] = defaultdict(int)
    for node in sorted(order, key=level.__getitem__):
        at = max([level[node], *(level[p] + 1 for p in parents[node])])
        while count[at] >= widest:
            at += 1
        level[node] = at
        count[at] += 1
    return level


def _pull(
    order: Sequence[Hashable], level: dict[Hashable, int], parents: Neighbours, children: Neighbours
) -> None:
    """Move nodes that have room towards the side to which they have more links, until nothing moves."""
    for _ in range(8):
        moved = False
        for node in reversed(order):
            if children[node] and len(children[node]) >= len(parents[node]):
                lowest = min(level[c] for c in children[node]) - 1
                moved |= lowest != level[node]
                level[node] = lowest
        for node in order:
            if parents[node] and len(parents[node]) > len(children[node]):
                highest = max(level[p] for p in parents[node]) + 1
                moved |= highest != level[node]
                level[node] = highest
        if not moved:
            return


def _first_rows(
    order: Sequence[Hashable], level: Mapping[Hashable, int], above: Neighbours, below: Neighbours
) -> list[list[Hashable]]:
    """Fill the rows part by part, each part walked in depth, so that what is linked starts side by side."""
    rows: list[list[Hashable]] = [[] for _ in range(1 + max(level.values(), default=-1))]
    seen: set[Hashable] = set()
    for start in order:
        stack = [start]
        while stack:
            item = stack.pop()
            if item in seen:
                continue
            seen.add(item)
            rows[level[item]].append(item)
            near = [*below.get(item, ()), *above.get(item, ())]
            stack += [other for other in reversed(near) if other not in seen]
    return [row for row in rows if row]


def _untangled(rows: list[list[Hashable]], above: Neighbours, below: Neighbours) -> list[list[Hashable]]:
    """Return the rows in the best order that sweeps of barycentres come upon."""
    place = {item: float(i) for row in rows for i, item in enumerate(row)}
    best, fewest = [list(row) for row in rows], crossings(rows, below)
    for sweep in range(_SWEEPS):
        for i in range(1, len(rows)):
            _by_barycentre(rows[i], above, place)
        for i in range(len(rows) - 2, -1, -1):
            _by_barycentre(rows[i], below, place)
        if sweep % 4 == 3:
            _exchange(rows, above, below, place)
        now = crossings(rows, below)
        if now < fewest:
            best, fewest = [list(row) for row in rows], now
        if not fewest:
            break
    return best


def _by_barycentre(row: list[Hashable], near: Neighbours, place: dict[Hashable, float]) -> None:
    def wanted(item: Hashable) -> float:
        others = near.get(item)
        return sum(place[other] for other in others) / len(others) if others else place[item]

    row.sort(key=wanted)
    place.update((item, float(i)) for i, item in enumerate(row))


def _exchange(
    rows: list[list[Hashable]], above: Neighbours, below: Neighbours, place: dict[Hashable, float]
) -> None:
    """Exchange neighbours in a row where that removes crossings."""
    for row in rows:
        for i in range(len(row) - 1):
            left, right = row[i], row[i + 1]
            gain = 0
            for side in (above, below):
                a = sorted(place[o] for o in side.get(left, ()))
                b = sorted(place[o] for o in side.get(right, ()))
                gain += _inversions(a, b) - _inversions(b, a)
            if gain > 0:
                row[i], row[i + 1] = right, left
                place[left], place[right] = place[right], place[left]


def _inversions(left: Sequence[float], right: Sequence[float]) -> int:
    """Count the crossings between links of two neighbours in a row, whose other ends are these, sorted."""
    return sum(len(left) - bisect_right(left, value) for value in right)


def crossings(rows: Sequence[Sequence[Hashable]], below: Neighbours) -> int:
    """Count the pairs of links that cross between rows.

    >>> crossings([["a", "b"], ["c", "d"]], {"a": ["d"], "b": ["c"]})
    1
    """
    total = 0
    for upper, lower in pairwise(rows):
        place = {item: i for i, item in enumerate(lower)}
        passed: list[int] = []
        for item in upper:
            ends = sorted(place[other] for other in below.get(item, ()))
            total += sum(len(passed) - bisect_right(passed, end) for end in ends)
            for end in ends:
                insort(passed, end)
    return total
