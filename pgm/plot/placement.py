"""From boxes and links to places on paper: long links kept straight, routes around boxes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from pgm.graphs.layout import Bend, Layers, Link, Neighbours, layers

Point: TypeAlias = tuple[float, float]

_BEND = 4.0  # width that a passing link takes up in a layer
_SWEEPS = 24
_PORTS = 9.0  # points between two links that leave or enter a box side by side


def place(
    sizes: Mapping[Hashable, tuple[float, float]], links: Sequence[Link], *, gap_x: float, gap_y: float
) -> tuple[dict[Hashable, Point], dict[Link, list[Point]]]:
    """Return the centre of each box and the route of each link; (0, 0) is top left, y grows upwards."""
    if not sizes:
        return {}, {}
    laid = layers(list(sizes), links)
    widths = {item: _BEND if isinstance(item, Bend) else sizes[item][0] for row in laid.rows for item in row}
    x = _across(laid, widths, gap_x)
    tops, bottoms = _down(laid, sizes, x, gap_y)
    at: dict[Hashable, Point] = {}
    for row, top, bottom in zip(laid.rows, tops, bottoms, strict=True):
        at |= {item: (x[item], (top + bottom) / 2) for item in row if item in sizes}
    ports = _ports(laid.chains, sizes, x)
    level = {item: i for i, row in enumerate(laid.rows) for item in row}
    routes = {}
    for link, chain in laid.chains.items():
        (tail, head), (start, end) = link, ports[link]
        route = [(start, at[tail][1] - sizes[tail][1] / 2), (start, bottoms[level[tail]])]
        for bend in chain[1:-1]:
            route += [(x[bend], tops[level[bend]]), (x[bend], bottoms[level[bend]])]
        route += [(end, tops[level[head]]), (end, at[head][1] + sizes[head][1] / 2)]
        # A box as tall as its layer has nowhere to go before the gap begins.
        routes[link] = [p for k, p in enumerate(route) if k == 0 or route[k - 1][1] - p[1] > 1e-6]
    return at, routes


def _across(laid: Layers, widths: Mapping[Hashable, float], gap: float) -> dict[Hashable, float]:
    """Return x for each item: near its neighbours, in the order of its layer, nothing closer than the gap."""
    x: dict[Hashable, float] = {}
    steps: list[np.ndarray] = []  # how far each item of a row stays from the one before it
    for row in laid.rows:
        wide = np.array([widths[item] for item in row])
        room = np.array([gap if w > _BEND else 0.4 * gap for w in wide])
        step = np.zeros(len(row))
        step[1:] = (wide[1:] + wide[:-1]) / 2 + np.minimum(room[1:], room[:-1])
        steps.append(np.cumsum(step))
        x |= dict(zip(row, (steps[-1] - steps[-1][-1] / 2).tolist(), strict=True))
    down, up = range(1, len(laid.rows)), range(len(laid.rows) - 2, -1, -1)
    for sweep in range(_SWEEPS):
        slack = max(1.0, 256.0 * 0.7**sweep)
        late = sweep >= _SWEEPS // 2  # first one side at a time, to move far; then both, to settle
        for order, sides in ((down, (laid.above,)), (up, (laid.below,))):
            for i in order:
                _settle(laid.rows[i], steps[i], (laid.above, laid.below) if late else sides, x, slack)
    left = min(x[item] - widths[item] / 2 for item in x)
    return {item: value - left for item, value in x.items()}


def _settle(
    row: Sequence[Hashable],
    offsets: np.ndarray,
    sides: Sequence[Neighbours],
    x: dict[Hashable, float],
    slack: float,
) -> None:
    """Move a row as near to its neighbours as its order allows, pooling those that collide.

    Distances count by their squares while there is far to go and by their length in the end (weights shrink
    with the distance), so that most links run straight down and few make all the way.
    """
    wanted, weights = [], []
    for item in row:
        here = x[item]
        pulls = [
            (other, _stiffness(item, other) / max(abs(x[other] - here), slack))
            for side in sides
            for other in side.get(item, ())
        ]
        weight = sum(w for _, w in pulls)
        wanted.append(sum(x[other] * w for other, w in pulls) / weight if weight else x[item])
        weights.append(weight or 1e-4)
    pools: list[tuple[float, float, int]] = []  # mean, weight, members
    for mean, weight in zip(np.asarray(wanted) - offsets, weights, strict=True):
        pool = (float(mean), weight, 1)
        while pools and pools[-1][0] >= pool[0]:
            m, w, n = pools.pop()
            pool = ((m * w + pool[0] * pool[1]) / (w + pool[1]), w + pool[1], n + pool[2])
        pools.append(pool)
    means = np.repeat([m for m, _, _ in pools], [n for _, _, n in pools])
    x.update(zip(row, (means + offsets).tolist(), strict=True))


def _stiffness(one: Hashable, other: Hashable) -> float:
    """Long links are kept straight before short ones (Gansner et al. 1993, section 4.2)."""
    return (1.0, 2.0, 8.0)[isinstance(one, Bend) + isinstance(other, Bend)]


def _down(
    laid: Layers, sizes: Mapping[Hashable, tuple[float, float]], x: Mapping[Hashable, float], gap: float
) -> tuple[list[float], list[float]]:
    """Return top and bottom of each layer; above links that go far sideways the gap is taller."""
    tops: list[float] = []
    bottoms: list[float] = []
    y = 0.0
    for row in laid.rows:
        if tops:
            widest = max(
                (abs(x[item] - x[other]) for item in row for other in laid.above.get(item, ())), default=0.0
            )
            y -= gap + min(3 * gap, 0.06 * widest)
        tops.append(y)
        y -= max((sizes[item][1] for item in row if item in sizes), default=0.0)
        bottoms.append(y)
    return tops, bottoms


def _ports(
    chains: Mapping[Link, Sequence[Hashable]],
    sizes: Mapping[Hashable, tuple[float, float]],
    x: Mapping[Hashable, float],
) -> dict[Link, tuple[float, float]]:
    """Return where each link leaves and enters a box: side by side, in the order of where they lead."""
    leaving: dict[Hashable, list[tuple[float, int, Link]]] = defaultdict(list)
    entering: dict[Hashable, list[tuple[float, int, Link]]] = defaultdict(list)
    for i, (link, chain) in enumerate(chains.items()):
        leaving[link[0]].append((x[chain[1]], i, link))
        entering[link[1]].append((x[chain[-2]], i, link))
    found: dict[Link, list[float]] = {link: [0.0, 0.0] for link in chains}
    for end, groups in enumerate((leaving, entering)):
        for node, group in groups.items():
            step = min(_PORTS, 0.8 * (sizes[node][0] - 10.0) / max(len(group) - 1, 1))
            for k, (_, _, link) in enumerate(sorted(group, key=lambda entry: entry[:2])):
                found[link][end] = x[node] + step * (k - (len(group) - 1) / 2)
    return {link: (start, end) for link, (start, end) in found.items()}
