"""Boxes in layers and the arrows between them, readable at eight nodes and at two hundred.

One unit of the axes is one point (1/72 inch) if the figure is ours; on a user's axes everything is
scaled to the space available, letters included.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch, Patch, Polygon, Rectangle
from matplotlib.path import Path

from pgm.errors import InvalidArgument
from pgm.graphs.layout import Link
from pgm.runtime import progress

from .canvas import (
    BAR,
    EDGE,
    FILL,
    INK,
    LINE,
    SEEN_BAR,
    SEEN_EDGE,
    SEEN_FILL,
    Paper,
    Text,
    backdrop,
    bare,
    ink,
    plain,
    shortened,
    text_width,
    write,
)
from .placement import Placed, Point, place
from .plates import LABEL, Plates

MOST_BOXES = 3_000
MOST_LINKS = 12_000
# Past this the picture shrinks instead of growing: no file format holds it, and its pixels fill the memory.
LARGEST, LARGEST_AREA = 250.0, 1_500.0  # inches, square inches (60 MB at 100 dots per inch)

TITLE, ROW = 10.0, 8.0  # letters, in points
_TITLE_HEIGHT, _TITLE_LINE, _ROW_HEIGHT = 20.0, 13.0, 11.5
_DOUBLE = 2.5  # between the two outlines of a node
_KEY, _HEADLINE = 8.5, 12.0  # letters, in points
PLATE, NOTE = "#7a8594", "#5c6675"
_BAR_WIDTH = 56.0
_BOLD = 1.12  # how much wider bold letters are
_PADDING = 7.0
GAP_X, GAP_Y = 16.0, 34.0
_HEAD = 5.5  # length of an arrow's head
_MARGIN = 10.0


@dataclass(frozen=True, slots=True)
class Box:
    """What one node shows: its name and, given a posterior, a bar for each state."""

    lines: tuple[str, ...]
    rows: tuple[tuple[str, float], ...] = ()  # state, probability
    figures: tuple[str, ...] = ()  # the text after the bars instead of percentages
    note: str = ""  # small, below the name
    seen: bool = False  # evidence
    double: bool = False  # a second outline: a continuous variable
    face: str = ""  # instead of the usual fill
    shape: Literal["variable", "factor", "separator", "decision", "utility", "bend"] = "variable"

    def size(self) -> tuple[float, float]:
        """Return width and height in points."""
        if self.shape in ("factor", "bend"):  # a bend is a place that a link passes, and is not drawn
            return (12.0, 12.0) if self.shape == "factor" else (2.0, 0.1)
        width = max((text_width(line, TITLE) for line in self.lines), default=0.0)
        if self.rows:
            width = max(width * _BOLD, self.label_width() + _BAR_WIDTH + 6.0 + self.figure_width())
        width = max(width, text_width(self.note, ROW))
        height = self.head() + len(self.rows) * _ROW_HEIGHT + 3.0 * bool(self.rows)
        frame = 2 * _DOUBLE * self.double
        if self.shape == "utility":  # a rhombus holds a rectangle of half its width and height
            return 2.0 * max(width, 24.0), 2.0 * height - 6.0
        return max(width + 2 * _PADDING, 30.0) + frame, height + frame

    def head(self) -> float:
        """Return the height of the name and the note."""
        return _TITLE_HEIGHT + _TITLE_LINE * (len(self.lines) - 1) + _ROW_HEIGHT * bool(self.note)

    def figure_width(self) -> float:
        """Return the room for the text after the bars."""
        return max([30.0, *[text_width(text, ROW) + 6.0 for text in self.figures]])

    def label_width(self) -> float:
        """Return the width of the longest state."""
        return max((text_width(label, ROW) for label, _ in self.rows), default=0.0)


@dataclass(frozen=True, slots=True)
class Stroke:
    """How a link looks; kinds of links differ in both colour and style, so that either suffices."""

    color: str = LINE
    width: float = 1.0
    style: Literal["solid"] | tuple[float, tuple[float, ...]] = "solid"
    head: Literal["", "lower", "upper", "both"] = ""


# Where a head stands, and whether the line comes from above it.
_ENDS = {"": (), "lower": ((-1, 1),), "upper": ((0, -1),), "both": ((0, -1), (-1, 1))}
PLAIN, ARROW = Stroke(), Stroke(head="lower")
DASHED = Stroke(style=(0, (4, 3)))


@dataclass(frozen=True, slots=True)
class Sketch:
    """What to draw: boxes, links from upper to lower, and their style."""

    boxes: Mapping[Hashable, Box]
    links: Sequence[Link]
    usual: Stroke = PLAIN
    strokes: Mapping[Link, Stroke] = field(default_factory=dict)  # of links with a style of their own
    cells: Mapping[Hashable, tuple[int, int]] = field(default_factory=dict)  # row and column, if it is a grid
    plates: Plates | None = None
    key: Sequence[tuple[str, Stroke | Box]] = ()  # the legend

    def stroke(self, link: Link) -> Stroke:
        """Return how a link looks."""
        return self.strokes.get(link, self.usual)


def refuse_many(boxes: int, links: int) -> None:
    """Raise early if the picture would be unreadable."""
    if boxes > MOST_BOXES or links > MOST_LINKS:
        raise InvalidArgument(
            f"{boxes:,} nodes and {links:,} links make an unreadable picture "
            f"(the most is {MOST_BOXES:,} and {MOST_LINKS:,}); draw a part, such as a Markov blanket."
        )


def draw(sketch: Sketch, paper: Paper, title: str = "") -> Axes:
    """Draw boxes in layers, each link from its first end down to its second; or in cells, if any."""
    boxes, links, title = sketch.boxes, sketch.links, paper.titled(title)
    refuse_many(len(boxes), len(links))
    sizes = {node: box.size() for node, box in progress.each(boxes.items(), "measuring labels")}
    if sketch.cells:
        placed = _in_cells(sizes, links, sketch.cells)
    else:
        placed = place(sizes, links, gap_x=GAP_X, gap_y=GAP_Y, plates=sketch.plates)
    key_width = max((text_width(label, _KEY) for label, _ in sketch.key), default=-46.0) + 46.0
    key_height = (len(sketch.key) + 1) * 1.5 * _KEY if sketch.key else 0.0
    # The drawing may be narrower than the text above and below it.
    broad = max(placed.width, key_width, min(text_width(title, _HEADLINE), 720.0)) + 2 * _MARGIN
    width, height = max(broad, 100.0), max(placed.height + key_height, 20.0) + 2 * _MARGIN
    scale = min(1.0, 72 * LARGEST / max(width, height), 72 * math.sqrt(LARGEST_AREA / (width * height)))
    ax = paper.sheet(width * scale / 72, height * scale / 72)
    if not paper.natural:
        scale = _room(ax, width, height)
    ax.patch.set_visible(False)  # boxes have a ground of their own, and lie on that of the figure
    _draw_frames(ax, placed, scale)
    _draw_links(ax, placed.routes, sketch, scale)
    texts: list[Text] = []
    for node, box in progress.each(boxes.items(), "drawing"):
        texts += _draw_box(ax, placed.at[node], sizes[node], box, scale)
    write(ax, texts)
    _draw_bars(ax, placed.at, sizes, boxes)
    if sketch.key:
        _draw_key(ax, sketch.key, scale)
    left = (placed.width - width) / 2
    ax.set_xlim(left, left + width)
    ax.set_ylim(_MARGIN - height, _MARGIN)
    ax.set_aspect("equal")
    bare(ax)
    paper.entitle(ax, title)
    return ax


def _in_cells(
    sizes: Mapping[Hashable, tuple[float, float]],
    links: Sequence[Link],
    cells: Mapping[Hashable, tuple[int, int]],
) -> Placed:
    wide, high = (max(size[k] for size in sizes.values()) + GAP_X for k in (0, 1))
    at = {node: ((j + 0.5) * wide, -(i + 0.5) * high) for node, (i, j) in cells.items()}
    columns, rows = (1 + max(cell[k] for cell in cells.values()) for k in (1, 0))
    return Placed(at, {link: [at[link[0]], at[link[1]]] for link in links}, {}, columns * wide, rows * high)


def _room(ax: Axes, width: float, height: float) -> float:
    """Return the points per unit on axes that were passed in."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    box = ax.get_window_extent()
    return min(box.width / width, box.height / height) * 72 / figure.dpi


def _draw_frames(ax: Axes, placed: Placed, scale: float) -> None:
    for label, (left, low, right, top) in placed.frames.items():
        ax.add_artist(
            FancyBboxPatch(
                (left, low),
                right - left,
                top - low,
                boxstyle="round,pad=0,rounding_size=7",
                facecolor="none",
                edgecolor=PLATE,
                linewidth=1.1 * scale,
                zorder=0.5,
                gid=f"plate {label}",
            )
        )
        ax.text(
            right - 7,
            low + 4.5,
            plain(shortened(label, 40)),
            ha="right",
            va="bottom",
            fontsize=LABEL * scale,
            color=PLATE,
            fontstyle="italic",
            zorder=3,
            bbox={"facecolor": backdrop(ax), "edgecolor": "none", "pad": 0.6 * scale},
        )


def _draw_links(ax: Axes, routes: Mapping[Link, Sequence[Point]], sketch: Sketch, scale: float) -> None:
    paths, heads, colors = [], [], []
    strokes = [sketch.stroke(link) for link in routes]
    for route, stroke in zip(routes.values(), strokes, strict=True):
        points = list(route)
        for end, away in _ENDS[stroke.head]:
            x, y = points[end]
            size = _HEAD * (0.8 + 0.2 * stroke.width)
            heads.append([(x, y), (x - 0.42 * size, y + away * size), (x + 0.42 * size, y + away * size)])
            colors.append(stroke.color)
            points[end] = (x, y + away * 0.8 * size)
        paths.append(curve(points))
    if paths:
        ax.add_collection(
            PathCollection(
                paths,
                facecolors="none",
                edgecolors=[stroke.color for stroke in strokes],
                linewidths=[stroke.width * scale for stroke in strokes],
                linestyles=[stroke.style for stroke in strokes],
                zorder=1,
            ),
            autolim=False,
        )
    if heads:
        ax.add_collection(
            PolyCollection(heads, facecolors=colors, edgecolors="none", zorder=1.5), autolim=False
        )


def _draw_key(ax: Axes, key: Sequence[tuple[str, Stroke | Box]], scale: float) -> None:
    samples: list[Line2D | Patch] = []
    for _, look in key:
        if isinstance(look, Stroke):
            width = max(look.width, 0.9) * scale
            samples.append(Line2D([], [], color=look.color, linewidth=width, linestyle=look.style))
        else:
            edge = SEEN_EDGE if look.seen else EDGE
            fill = look.face or (SEEN_FILL if look.seen else FILL)
            samples.append(Patch(facecolor=fill, edgecolor=edge, linewidth=scale))
    ax.legend(
        samples,
        [plain(label) for label, _ in key],
        loc="lower left",
        frameon=False,
        fontsize=_KEY * scale,
        labelcolor=ink(ax),
        handlelength=2.6,
        borderaxespad=0.3,
    )


def curve(points: Sequence[Point]) -> Path:
    """Return a smooth line through points that alternate: down through a layer, across the gap below it."""
    vertices, codes = [points[0]], [Path.MOVETO]
    for (x0, y0), (x1, y1) in pairwise(points):
        bend = 0.5 * (y0 - y1)  # leaves and arrives vertically
        vertices += [(x0, y0 - bend), (x1, y1 + bend), (x1, y1)]
        codes += [Path.CURVE4] * 3
    return Path(vertices, codes)


def _draw_box(ax: Axes, centre: Point, size: tuple[float, float], box: Box, scale: float) -> Iterator[Text]:
    """Draw a box, and yield the labels to write in it."""
    (x, y), (width, height) = centre, size
    left, low, top = x - width / 2, y - height / 2, y + height / 2
    if box.shape == "bend":
        return
    if box.shape == "factor":
        ax.add_artist(Rectangle((left, low), width, height, facecolor=EDGE, edgecolor=EDGE, zorder=2))
        return
    edge = SEEN_EDGE if box.seen else EDGE
    face = box.face or (SEEN_FILL if box.seen else FILL)
    if box.shape == "separator":
        face, edge = "white", LINE
    if box.shape == "utility":
        ax.add_artist(
            Polygon(
                [(left, y), (x, top), (left + width, y), (x, low)],
                closed=True,
                facecolor=face,
                edgecolor=edge,
                linewidth=scale,
                zorder=2,
            )
        )
        top = y + box.head() / 2
    for inset in (0.0, _DOUBLE)[: 1 + box.double] if box.shape != "utility" else ():
        ax.add_artist(
            FancyBboxPatch(
                (left + inset, low + inset),
                width - 2 * inset,
                height - 2 * inset,
                boxstyle=f"round,pad=0,rounding_size={5 - inset / 2 if box.shape == 'variable' else 0.01}",
                facecolor=face,
                edgecolor=edge,
                linewidth=(1.6 if box.seen else 1.0) * scale,
                zorder=2,
            )
        )
    top -= _DOUBLE * box.double
    for i, line in enumerate(box.lines):
        middle = top - _TITLE_HEIGHT / 2 - 0.5 - _TITLE_LINE * i
        yield Text(x, middle, line, size=TITLE * scale, bold=bool(box.rows))
    if box.note:
        low = top - box.head() + 0.5 * _ROW_HEIGHT + 1.5
        yield Text(x, low, box.note, size=ROW * scale, color=INK if box.face else NOTE)
    for i, (label, share) in enumerate(box.rows):
        middle = top - box.head() - (i + 0.5) * _ROW_HEIGHT
        yield Text(left + _PADDING, middle, label, "left", size=ROW * scale)
        text = box.figures[i] if box.figures else _percent(share)
        yield Text(left + width - _PADDING, middle, text, "right", size=ROW * scale)


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
        room = x + width / 2 - _PADDING - box.figure_width() - left
        for i, (_, share) in enumerate(box.rows):
            middle = y + height / 2 - box.head() - (i + 0.5) * _ROW_HEIGHT
            for length, color in ((room, "white"), (share * room, SEEN_BAR if box.seen else BAR)):
                low, high, end = middle - 3.5, middle + 3.5, left + length
                pieces.append([(left, low), (end, low), (end, high), (left, high)])
                colors.append(color)
    if pieces:
        ax.add_collection(PolyCollection(pieces, facecolors=colors, edgecolors="none", zorder=3))


def _percent(share: float) -> str:
    """Return the share as text, rounding neither a rare state to 0 nor a near-certain one to 100%.

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
