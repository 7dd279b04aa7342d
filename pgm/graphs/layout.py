"""Layered drawing: the steps of Sugiyama, Tagawa & Toda 1981 up to the order within each layer.

The result depends only on the order in which nodes and links are given: the same network gives the same
picture.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from pgm.errors import InvalidArgument

from .crossings import Ordering
from .layering import levels

Link: TypeAlias = tuple[Hashable, Hashable]
MOST_BENDS = 60_000


@dataclass(frozen=True, slots=True)
class Layers:
    """Items in rows from top to bottom, each row from left to right.

    The first items are the nodes; a chain lists the items through which a link passes in the layers between
    its ends; `groups` holds the plates of each item, outermost first.
    """

    rows: list[list[int]]
    chains: list[list[int]]
    groups: list[tuple[int, ...]]

    def steps(self) -> list[tuple[int, int]]:
        """Return the pairs of items, one layer apart, that links connect."""
        return [pair for chain in self.chains for pair in pairwise(chain)]


def layers(
    n: int, links: Sequence[tuple[int, int]], groups: Sequence[tuple[int, ...]] | None = None
) -> Layers:
    """Return the rows of an acyclic graph of n nodes, every link leading downwards.

    >>> layers(3, [(0, 1), (1, 2), (0, 2)]).chains
    [[0, 1], [1, 2], [0, 3, 2]]
    """
    level = levels(n, list(links))
    within: list[tuple[int, ...]] = [()] * n if groups is None else list(groups)
    passed = sum(level[head] - level[tail] - 1 for tail, head in links)
    if passed > MOST_BENDS:
        raise InvalidArgument(
            f"The links of this graph would have {passed:,} bends (at most {MOST_BENDS:,} are drawn), which "
            "makes an unreadable picture; draw a part of it, such as a Markov blanket."
        )
    chains = []
    for tail, head in links:
        between = range(level[tail] + 1, level[head])
        first = len(level)
        level += between
        within += [_common(within[tail], within[head])] * len(between)
        chains.append([tail, *range(first, len(level)), head])
    _fill(level, within)
    steps = [pair for chain in chains for pair in pairwise(chain)]
    order = Ordering(np.asarray(level), np.asarray(steps, dtype=np.int64).reshape(-1, 2), within)
    return Layers([row.tolist() for row in order.best()], chains, within)


def _common(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    return one[:same]


def _fill(level: list[int], groups: list[tuple[int, ...]]) -> None:
    """Give each plate an item in every layer that it covers, so that space is kept for it there."""
    held: dict[tuple[int, ...], set[int]] = {}
    for at, path in zip(level, groups, strict=True):
        for depth in range(1, len(path) + 1):
            held.setdefault(path[:depth], set()).add(at)
    for path, layers_held in sorted(held.items(), key=lambda entry: (len(entry[0]), entry[0])):
        missing = set(range(min(layers_held), max(layers_held))) - layers_held
        level += sorted(missing)
        groups += [path] * len(missing)
