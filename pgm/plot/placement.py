"""From boxes and links to coordinates: long links kept straight, routes around boxes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from pgm.graphs.layout import Layers, Link, layers
from pgm.runtime import progress

from .plates import Plates

Point: TypeAlias = tuple[float, float]
Rows: TypeAlias = Sequence[Sequence[int]]

_BEND = 4.0  # width that a passing link takes up in a layer
_SWEEPS = 24
_PORTS = 9.0  # points between neighbouring links that leave or enter a box
_ASPECT = 1.6  # of a picture of many connected components


@dataclass
class Placed:
    """Positions of boxes (their centres), routes of links and extents of plates; y grows upwards from 0."""

    at: dict[Hashable, Point] = field(default_factory=dict)
    routes: dict[Link, list[Point]] = field(default_factory=dict)
    frames: dict[str, tuple[float, float, float, float]] = field(
        default_factory=dict
    )  # left, low, right, top
    width: float = 0.0
    height: float = 0.0

    def take(self, part: Placed, right: float, down: float) -> None:
        """Insert another drawing into this one."""
        self.at |= {node: (x + right, y - down) for node, (x, y) in part.at.items()}
        for link, route in part.routes.items():
            self.routes[link] = [(x + right, y - down) for x, y in route]
        for name, (x0, y0, x1, y1) in part.frames.items():
            self.frames[name] = (x0 + right, y0 - down, x1 + right, y1 - down)
        self.width = max(self.width, right + part.width)
        self.height = max(self.height, down + part.height)


def place(
    sizes: Mapping[Hashable, tuple[float, float]],
    links: Sequence[Link],
    *,
    gap_x: float,
    gap_y: float,
    plates: Plates | None = None,
) -> Placed:
    """Return the position of everything: connected components on shelves, large ones first."""
    plates = plates or Plates({})
    links = list(dict.fromkeys(links))
    parts = [
        _connected({node: sizes[node] for node in nodes}, found, plates, gap_x, gap_y)
        for nodes, found in _parts(list(sizes), links, plates)
    ]
    parts.sort(key=lambda part: -part.height)  # stable: else in the order given
    area = sum((part.width + 2 * gap_x) * (part.height + gap_y) for part in parts)
    limit = max([part.width for part in parts] + [np.sqrt(_ASPECT * area)])
    whole = Placed()
    right = down = lowest = 0.0
    for part in parts:
        if right and right + part.width > limit:
            right, down = 0.0, lowest + gap_y
        whole.take(part, right, down)
        right += part.width + 2 * gap_x
        lowest = max(lowest, down + part.height)
    return whole


def _parts(
    nodes: Sequence[Hashable], links: Sequence[Link], plates: Plates
) -> list[tuple[list[Hashable], list[Link]]]:
    """Return the connected components of a graph of links and plates."""
    near: dict[Hashable, list[Hashable]] = {node: [] for node in nodes}
    together = [pair for members in plates.members.values() for pair in pairwise(members)]
    for a, b in [*links, *together]:
        near[a].append(b)
        near[b].append(a)
    part: dict[Hashable, int] = {}
    count = 0
    for start in nodes:
        if start not in part:
            stack = [start]
            while stack:
                node = stack.pop()
                if node not in part:
                    part[node] = count
                    stack += near[node]
            count += 1
    found: list[tuple[list[Hashable], list[Link]]] = [([], []) for _ in range(count)]
    for node in nodes:
        found[part[node]][0].append(node)
    for link in links:
        found[part[link[0]]][1].append(link)
    return found


def _connected(
    sizes: Mapping[Hashable, tuple[float, float]],
    links: Sequence[Link],
    plates: Plates,
    gap_x: float,
    gap_y: float,
) -> Placed:
    nodes = list(sizes)
    number = {node: i for i, node in enumerate(nodes)}
    groups = [plates.path(node) for node in nodes]
    laid = layers(len(nodes), [(number[a], number[b]) for a, b in links], groups)
    rows, borders = plates.bordered(laid.rows, laid.groups)
    widths = np.full(1 + max(map(max, rows)), _BEND)
    widths[: len(nodes)] = [sizes[node][0] for node in nodes]
    heights = [sizes[node][1] for node in nodes]
    x = _across(laid, rows, widths, len(nodes), borders.chains(), gap_x)
    x = borders.straightened(rows, x, widths, _separation(widths, len(nodes), gap_x))
    x -= min(x[item] - widths[item] / 2 for row in rows for item in row)
    tops, bottoms = _down(laid.rows, heights, laid.steps(), x, gap_y, borders.above, borders.below)
    middle = {item: (tops[i] + bottoms[i]) / 2 for i, row in enumerate(rows) for item in row}
    level = {item: i for i, row in enumerate(rows) for item in row}
    placed = Placed({node: (float(x[i]), middle[i]) for i, node in enumerate(nodes)})
    for link, chain, (start, end) in zip(links, laid.chains, _ports(laid, widths, x), strict=True):
        tail, *bends, head = chain
        route = [(start, middle[tail] - heights[tail] / 2), (start, bottoms[level[tail]])]
        for bend in bends:
            route += [(float(x[bend]), tops[level[bend]]), (float(x[bend]), bottoms[level[bend]])]
        route += [(end, tops[level[head]]), (end, middle[head] + heights[head] / 2)]
        # Beside a box as tall as its layer a link cannot bend before the gap begins.
        placed.routes[link] = [p for k, p in enumerate(route) if k == 0 or route[k - 1][1] - p[1] > 1e-6]
    placed.frames = borders.frames(x, tops, bottoms)
    placed.width = max(float(x[item] + widths[item] / 2) for row in rows for item in row)
    placed.height = -bottoms[-1] + borders.below[-1]
    return placed


def _separation(widths: np.ndarray, boxes: int, gap: float) -> np.ndarray:
    """Return half of an item's width plus its margin on either side."""
    room = np.where(np.arange(len(widths)) < boxes, gap / 2, 0.2 * gap)
    return np.asarray(widths / 2 + room)


def _across(
    laid: Layers, rows: Rows, widths: np.ndarray, boxes: int, borders: Sequence[tuple[int, int]], gap: float
) -> np.ndarray:
    """Return x for each item: near its neighbours, in its layer's order, nothing closer than the gap."""
    half = _separation(widths, boxes, gap)
    x = np.zeros(len(widths))
    place = np.zeros(len(widths), dtype=np.int64)  # index within its row
    level = np.zeros(len(widths), dtype=np.int64)
    items, offsets = [np.asarray(row) for row in rows], []
    for i, row in enumerate(items):
        step = np.zeros(len(row))
        step[1:] = half[row[1:]] + half[row[:-1]]
        offsets.append(np.cumsum(step))
        x[row] = offsets[-1] - offsets[-1][-1] / 2
        place[row], level[row] = np.arange(len(row)), i
    pairs = np.asarray([*laid.steps(), *borders], dtype=np.int64).reshape(-1, 2)
    # Long links are kept straight before short ones (Gansner et al. 1993, section 4.2).
    stiff = np.array([1.0, 2.0, 8.0])[(pairs >= boxes).sum(axis=1)]
    gaps = [np.flatnonzero(level[pairs[:, 0]] == i) for i in range(len(rows))]
    above = [
        (pairs[of, 1], pairs[of, 0], stiff[of]) for of in gaps
    ]  # of the row below: mine, others, weights
    below = [(pairs[of, 0], pairs[of, 1], stiff[of]) for of in gaps]
    for sweep in progress.each(range(_SWEEPS), "placing nodes"):
        slack = max(1.0, 256.0 * 0.7**sweep)
        late = sweep >= _SWEEPS // 2  # first one side at a time, to move far; then both, to converge
        for i in range(1, len(rows)):
            sides = [above[i - 1], below[i]] if late else [above[i - 1]]
            _pull_row(items[i], offsets[i], sides, x, place, slack)
        for i in range(len(rows) - 2, -1, -1):
            sides = [above[i - 1], below[i]] if late and i else [below[i]]
            _pull_row(items[i], offsets[i], sides, x, place, slack)
    return x


def _pull_row(
    row: np.ndarray,
    offsets: np.ndarray,
    sides: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]],
    x: np.ndarray,
    place: np.ndarray,
    slack: float,
) -> None:
    """Move a row as close to its neighbours as its order allows, pooling those that collide.

    The cost of distances is quadratic at first and linear in the end (weights shrink
    with distance), so that most links run straight down and few take up all the slack.
    """
    mine, others, stiff = (np.concatenate(parts) for parts in zip(*sides, strict=True))
    pull = stiff / np.maximum(np.abs(x[others] - x[mine]), slack)
    weight = np.bincount(place[mine], weights=pull, minlength=len(row))
    total = np.bincount(place[mine], weights=pull * x[others], minlength=len(row))
    pulled = weight > 0
    wanted = np.where(pulled, total / np.where(pulled, weight, 1.0), x[row]) - offsets
    weight[~pulled] = 1e-4
    if (np.diff(wanted) > 0).all():
        x[row] = wanted + offsets
        return
    means: list[float] = []
    weights: list[float] = []
    counts: list[int] = []
    for mean, mass in zip(wanted.tolist(), weight.tolist(), strict=True):
        n = 1
        while means and means[-1] >= mean:
            mean = (means[-1] * weights[-1] + mean * mass) / (weights[-1] + mass)
            mass += weights[-1]
            n += counts[-1]
            del means[-1], weights[-1], counts[-1]
        means.append(mean)
        weights.append(mass)
        counts.append(n)
    x[row] = np.repeat(means, counts) + offsets


def _down(
    rows: Rows,
    heights: Sequence[float],
    steps: Sequence[tuple[int, int]],
    x: np.ndarray,
    gap: float,
    above: Sequence[float],
    below: Sequence[float],
) -> tuple[list[float], list[float]]:
    """Return top and bottom of each layer; the gap is taller where links go far sideways."""
    level = {item: i for i, row in enumerate(rows) for item in row}
    widest = [0.0] * len(rows)
    for upper, lower in steps:
        i = level[lower]
        widest[i] = max(widest[i], abs(float(x[upper] - x[lower])))
    tops: list[float] = []
    bottoms: list[float] = []
    y = 0.0
    for i, row in enumerate(rows):
        if i:
            y -= gap + min(3 * gap, 0.06 * widest[i]) + below[i - 1]
        tops.append(y - above[i])
        y = tops[-1] - max((heights[item] for item in row if item < len(heights)), default=0.0)
        bottoms.append(y)
    return tops, bottoms


def _ports(laid: Layers, widths: np.ndarray, x: np.ndarray) -> list[tuple[float, float]]:
    """Return where each link leaves and enters a box: side by side, ordered by the other end."""
    leaving: dict[int, list[tuple[float, int]]] = defaultdict(list)
    entering: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for i, chain in enumerate(laid.chains):
        leaving[chain[0]].append((float(x[chain[1]]), i))
        entering[chain[-1]].append((float(x[chain[-2]]), i))
    found = [[0.0, 0.0] for _ in laid.chains]
    for end, groups in enumerate((leaving, entering)):
        for node, group in groups.items():
            step = min(_PORTS, 0.8 * (float(widths[node]) - 10.0) / max(len(group) - 1, 1))
            for k, (_, i) in enumerate(sorted(group)):
                found[i][end] = float(x[node]) + step * (k - (len(group) - 1) / 2)
    return [(start, end) for start, end in found]
