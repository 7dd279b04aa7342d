"""Boxes in layers and the arrows between them, to be read at eight nodes and at two hundred.

One unit of the axes is one point (1/72 inch) as long as the figure is ours; on a user's axes everything is
scaled to what there is, letters included.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection, PolyCollection
from matplotlib.patches import FancyBboxPatch, PathPatch, Rectangle
from matplotlib.path import Path

from pgm.errors import InvalidArgument
from pgm.graphs.layout import Link

from .canvas import (
    BAR,
    EDGE,
    FILL,
    INK,
    LINE,
    SEEN_BAR,
    SEEN_EDGE,
    SEEN_FILL,
    axes,
    bare,
    plain,
    text_width,
    usable,
)
from .placement import Point, place

MOST_BOXES = 3_000
MOST_LINKS = 12_000
# Past this the picture shrinks in place of growing: no file format holds it, and its pixels fill the memory.
LARGEST, LARGEST_AREA = 250.0, 5_000.0  # inches, square inches (200 MB at 100 dots per inch)

TITLE, ROW = 10.0, 8.0  # letters, in points
_TITLE_HEIGHT, _ROW_HEIGHT = 20.0, 11.5
_BAR_WIDTH = 56.0
_BOLD = 1.12  # how much wider bold letters are
_PADDING = 7.0
_GAP_X, _GAP_Y = 16.0, 34.0
_HEAD = 5.5  # length of an arrow's head
_MARGIN = 10.0


@dataclass(frozen=True, slots=True)
class Box:
    """What one node shows: its name and, when something is known, a bar for each state."""

    lines: tuple[str, ...]
    rows: tuple[tuple[str, float], ...] = ()  # state, probability
    seen: bool = False  # evidence
    shape: Literal["variable", "factor", "separator"] = "variable"

    def size(self) -> tuple[float, float]:
        """Return width and height in points."""
        if self.shape == "factor":
            return 12.0, 12.0
        width = max((text_width(line, TITLE) for line in self.lines), default=0.0)
        if self.rows:
            width = max(width * _BOLD, self.label_width() + _BAR_WIDTH + 36.0)
        height = self.head() + len(self.rows) * _ROW_HEIGHT + 3.0 * bool(self.rows)
        return max(width + 2 * _PADDING, 30.0), height

    def head(self) -> float:
        """Return the height of the name."""
        return _TITLE_HEIGHT + 13.0 * (len(self.lines) - 1)

    def label_width(self) -> float:
        """Return the width of the longest state."""
        return max((text_width(label, ROW) for label, _ in self.rows), default=0.0)


@dataclass(frozen=True, slots=True)
class Sketch:
    """What there is to draw: boxes, links from upper to lower, and whether these are arrows."""

    boxes: dict[Hashable, Box]
    links: list[Link]
    arrows: bool = False
    dashed: frozenset[Link] = frozenset()
    cells: dict[Hashable, tuple[int, int]] = field(default_factory=dict)  # row and column, if it is a grid


def refuse_many(boxes: int, links: int) -> None:
    """Refuse what would make no picture, before time goes into it."""
    if boxes > MOST_BOXES or links > MOST_LINKS:
        raise InvalidArgument(
            f"{boxes:,} nodes and {links:,} links make no picture that could be read "
            f"(the most is {MOST_BOXES:,} and {MOST_LINKS:,}); draw a part, such as a Markov blanket."
        )


def draw(sketch: Sketch, ax: Axes | None = None) -> Axes:
    """Draw boxes in layers, each link from its first end down to its second; or in cells, if any."""
    boxes, links = sketch.boxes, sketch.links
    refuse_many(len(boxes), len(links))
    sizes = {node: box.size() for node, box in boxes.items()}
    if sketch.cells:
        at, routes = _in_cells(sizes, links, sketch.cells)
    else:
        at, routes = place(sizes, links, gap_x=_GAP_X, gap_y=_GAP_Y)
    right = max((x + sizes[node][0] / 2 for node, (x, _) in at.items()), default=72.0)
    right = max([right, *(x for route in routes.values() for x, _ in route)])
    low = min((y - sizes[node][1] / 2 for node, (_, y) in at.items()), default=-36.0)
    width, height = right + 2 * _MARGIN, -low + 2 * _MARGIN
    scale = min(1.0, 72 * LARGEST / max(width, height), 72 * math.sqrt(LARGEST_AREA / (width * height)))
    if ax is None:
        ax = axes(None, max(width, 144.0) * scale / 72, max(height, 72.0) * scale / 72 + 0.35)
    else:
        scale = _room(usable(ax), width, height)
    _draw_links(ax, routes, sketch, scale)
    for node, box in boxes.items():
        _draw_box(ax, at[node], sizes[node], box, scale)
    _draw_bars(ax, at, sizes, boxes)
    ax.set_xlim(-_MARGIN, right + _MARGIN)
    ax.set_ylim(low - _MARGIN, _MARGIN)
    ax.set_aspect("equal")
    bare(ax)
    return ax


def _in_cells(
    sizes: Mapping[Hashable, tuple[float, float]],
    links: Sequence[Link],
    cells: Mapping[Hashable, tuple[int, int]],
) -> tuple[dict[Hashable, Point], dict[Link, list[Point]]]:
    wide, high = (max(size[k] for size in sizes.values()) + _GAP_X for k in (0, 1))
    at = {node: ((j + 0.5) * wide, -(i + 0.5) * high) for node, (i, j) in cells.items()}
    return at, {link: [at[link[0]], at[link[1]]] for link in links}


def _room(ax: Axes, width: float, height: float) -> float:
    """Return how many points a unit gets on axes that were given to us."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    box = ax.get_window_extent()
    return min(box.width / width, box.height / height) * 72 / figure.dpi


def _draw_links(ax: Axes, routes: Mapping[Link, Sequence[Point]], sketch: Sketch, scale: float) -> None:
    lines: dict[bool, list[PathPatch]] = {False: [], True: []}
    heads = []
    for link, route in routes.items():
        points = list(route)
        if sketch.arrows:
            x, y = points[-1]
            heads.append([(x, y), (x - 0.42 * _HEAD, y + _HEAD), (x + 0.42 * _HEAD, y + _HEAD)])
            points[-1] = (x, y + 0.8 * _HEAD)
        lines[link in sketch.dashed].append(PathPatch(_curve(points)))
    for style, patches in (("solid", lines[False]), ("dashed", lines[True])):
        if patches:
            ax.add_collection(
                PatchCollection(
                    patches, facecolors="none", edgecolors=LINE, linewidths=scale, linestyles=style, zorder=1
                )
            )
    if heads:
        ax.add_collection(PolyCollection(heads, facecolors=LINE, edgecolors="none", zorder=1.5))


def _curve(points: Sequence[tuple[float, float]]) -> Path:
    """Return a smooth line through points that alternate: down through a layer, across the gap below it."""
    vertices, codes = [points[0]], [Path.MOVETO]
    for (x0, y0), (x1, y1) in pairwise(points):
        if math.isclose(x0, x1):
            vertices.append((x1, y1))
            codes.append(Path.LINETO)
        else:  # leaves and arrives straight down
            bend = 0.5 * (y0 - y1)
            vertices += [(x0, y0 - bend), (x1, y1 + bend), (x1, y1)]
            codes += [Path.CURVE4] * 3
    return Path(vertices, codes)


def _draw_box(ax: Axes, centre: Point, size: tuple[float, float], box: Box, scale: float) -> None:
    (x, y), (width, height) = centre, size
    left, low, top = x - width / 2, y - height / 2, y + height / 2
    if box.shape == "factor":
        ax.add_patch(Rectangle((left, low), width, height, facecolor=EDGE, edgecolor=EDGE, zorder=2))
        return
    face, edge = (SEEN_FILL, SEEN_EDGE) if box.seen else (FILL, EDGE)
    if box.shape == "separator":
        face, edge = "white", LINE
    ax.add_patch(
        FancyBboxPatch(
            (left, low),
            width,
            height,
            boxstyle=f"round,pad=0,rounding_size={5 if box.shape == 'variable' else 0.01}",
            facecolor=face,
            edgecolor=edge,
            linewidth=(1.6 if box.seen else 1.0) * scale,
            zorder=2,
        )
    )
    for i, line in enumerate(box.lines):
        ax.text(
            x,
            top - _TITLE_HEIGHT / 2 - 0.5 - 13.0 * i,
            plain(line),
            ha="center",
            va="center_baseline",
            fontsize=TITLE * scale,
            fontweight="bold" if box.rows else "normal",
            color=INK,
            zorder=4,
        )
    for i, (label, share) in enumerate(box.rows):
        middle = top - box.head() - (i + 0.5) * _ROW_HEIGHT
        for at, side, text in (
            (left + _PADDING, "left", plain(label)),
            (left + width - _PADDING, "right", _percent(share)),
        ):
            ax.text(
                at, middle, text, ha=side, va="center_baseline", fontsize=ROW * scale, color=INK, zorder=4
            )


def _draw_bars(
    ax: Axes,
    at: Mapping[Hashable, Point],
    sizes: Mapping[Hashable, tuple[float, float]],
    boxes: Mapping[Hashable, Box],
) -> None:
    """Draw the bars of all boxes: one artist, however many there are."""
    pieces: list[list[Point]] = []
    colors: list[str] = []
    for node, box in boxes.items():
        (x, y), (width, height) = at[node], sizes[node]
        left = x - width / 2 + _PADDING + box.label_width() + 6
        room = x + width / 2 - _PADDING - 30 - left
        for i, (_, share) in enumerate(box.rows):
            middle = y + height / 2 - box.head() - (i + 0.5) * _ROW_HEIGHT
            for length, color in ((room, "white"), (share * room, SEEN_BAR if box.seen else BAR)):
                low, high, end = middle - 3.5, middle + 3.5, left + length
                pieces.append([(left, low), (end, low), (end, high), (left, high)])
                colors.append(color)
    if pieces:
        ax.add_collection(PolyCollection(pieces, facecolors=colors, edgecolors="none", zorder=3))


def _percent(share: float) -> str:
    """Return the share so that neither a rare state nor a doubt is rounded away.

    >>> [_percent(p) for p in (0.0, 0.00004, 0.126, 0.99996, 1.0)]
    ['0', '<0.1%', '12.6%', '>99.9%', '100%']
    """
    if share <= 0:
        return "0"
    if share < 0.0005:
        return "<0.1%"
    if share >= 1 - 1e-12:
        return "100%"
    return ">99.9%" if share > 0.9995 else f"{100 * share:.1f}%"
