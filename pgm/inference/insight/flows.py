"""The active paths from a finding to a target, and how much passes along each."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from pgm.graphs import walks
from pgm.graphs.walks import Arrows

Path = tuple[str, ...]
MOST_FINDINGS = 20  # up to which paths are sought, at the cost of a query for each finding
_KEPT = 5  # paths of a finding
_STEPS = 20_000  # of the search for paths


def flows(
    arrows: Arrows, finding: str, target: str, given: Collection[str], moved: Mapping[str, float]
) -> tuple[tuple[Path, float], ...]:
    """The active paths from a finding to the target, the one along which most passes first.

    What passes along a path is at most what reaches each of its variables: the least that the finding, on top
    of the others, moves any of them. Observed variables do not limit it.

    Args:
        arrows: the arrows of the network.
        finding: where the paths begin.
        target: where they end.
        given: the other findings.
        moved: by how much the finding moves each variable, given the others.

    >>> arrows = Arrows.of({"rain": (), "hose": ("rain",), "wet": ("rain", "hose")})
    >>> flows(arrows, "wet", "rain", [], {"rain": 0.2, "hose": 0.1})
    ((('wet', 'rain'), 0.2), (('wet', 'hose', 'rain'), 0.1))
    """
    start, goal = arrows.index[finding], arrows.index[target]
    known = walks.marks(len(arrows.names), [arrows.index[name] for name in given])
    opened = walks.ancestors(arrows.graph, known)
    tails, heads, _, active = walks.trail_arrows(arrows.graph, start, goal, known)
    near: dict[int, list[tuple[int, bool]]] = {}
    for tail, head in zip(tails[active].tolist(), heads[active].tolist(), strict=True):
        near.setdefault(tail, []).append((head, True))
        near.setdefault(head, []).append((tail, False))
    found: dict[Path, float] = {}
    waiting: list[tuple[tuple[int, ...], bool]] = [((start,), False)]
    for _ in range(_STEPS):
        if not waiting:
            break
        path, down = waiting.pop()
        v = path[-1]
        if v == goal:
            names = tuple([arrows.names[u] for u in path])
            found[names] = min(moved.get(name, math.inf) for name in names[1:])
            continue
        for w, goes_down in near.get(v, ()):
            passes = len(path) == 1 or (opened[v] if down and not goes_down else not known[v])
            if passes and w not in path:
                waiting.append(((*path, w), goes_down))
    ranked = sorted(found.items(), key=lambda item: (-item[1], len(item[0])))
    return tuple(ranked[:_KEPT])
