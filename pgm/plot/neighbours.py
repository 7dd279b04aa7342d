"""Neighbours as pictures: Voronoi cells with rows that are kept, discs about rows, layers, similar cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PatchCollection, PolyCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Circle

from pgm.errors import InvalidArgument
from pgm.printing import label

from .canvas import EDGE, GROUPS, INK, LINE, Paper, Size, plain, shortened, tidy

if TYPE_CHECKING:
    from pgm.adapters import ProbabilisticNeuralNetwork, RCENetwork
    from pgm.adapters.neighbours.cases import SimilarCases

MARKERS = "os^Dvp"
_ROOM = 0.08  # of the rows' extent, on each side
_POINTS = 2000  # that are drawn as cells
_UNITS = 16  # that are drawn of each layer of a network


def voronoi_cells(
    rows: np.ndarray,
    codes: np.ndarray,
    classes: Sequence[str],
    kept: np.ndarray,
    columns: Sequence[str],
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw cells coloured by class, the boundary between classes, and a star on rows that are not kept.

    >>> from pgm.adapters import EditedNeighbours
    >>> rows = [[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 2.0]]
    >>> EditedNeighbours("voronoi").fit(rows, list("aabb")).plot(rows, list("aabb")).get_title()
    '4 of 4 rows kept'
    """
    from scipy.spatial import Voronoi

    _two_columns(columns)
    if len(rows) > _POINTS:
        raise InvalidArgument(
            f"Voronoi cells of {len(rows):,} rows are too small to see: {_POINTS:,} can be drawn."
        )
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(5.0, 4.2)
        places, of = np.unique(rows, axis=0, return_index=True)
        owner, low, high = codes[of], rows.min(axis=0), rows.max(axis=0)
        room = _ROOM * np.maximum(high - low, 1e-12 + (high - low).max())
        low, high = low - room, high + room
        middle, far = 0.5 * (low + high), 20.0 * (high - low).max()
        corners = [[-1, -1], [-1, 1], [1, -1], [1, 1], [0, 1.4], [0, -1.4], [1.4, 0], [-1.4, 0]]
        fence = middle + far * np.array(corners)
        found: Any = Voronoi(np.concatenate([places, fence]))
        cells = [found.vertices[found.regions[found.point_region[i]]] for i in range(len(places))]
        colours = [(*_pale(GROUPS[c % len(GROUPS)]), 1.0) for c in owner.tolist()]
        ax.add_collection(PolyCollection(cells, facecolors=colours, edgecolors="none"), autolim=False)
        walls: list[np.ndarray] = []
        border: list[np.ndarray] = []
        for (a, b), ends in zip(found.ridge_points.tolist(), found.ridge_vertices, strict=True):
            if max(a, b) < len(places) and min(ends) >= 0:
                (border if owner[a] != owner[b] else walls).append(found.vertices[ends])
        ax.add_collection(LineCollection(walls, colors=LINE, linewidths=0.7, linestyles=":"), autolim=False)
        ax.add_collection(LineCollection(border, colors=INK, linewidths=1.8), autolim=False)
        handles = _points(ax, rows, codes, classes)
        if not kept.all():
            star: dict[str, Any] = {"marker": "*", "linestyle": "", "color": "white", "markeredgecolor": INK}
            ax.plot(*rows[~kept].T, markeredgewidth=0.5, markersize=7, zorder=4, **star)
            handles.append(Line2D([], [], label="not kept", markersize=7, **star))
        _finish(ax, columns, low, high, handles)
        paper.entitle(ax, "cells of the nearest row")
        return ax


def discs(
    model: RCENetwork, ax: Axes | None = None, *, figsize: Size | None = None, title: str | None = None
) -> Axes:
    """Draw the discs of a network, and in dark where those of several classes lie.

    >>> from pgm.adapters import RCENetwork
    >>> discs(RCENetwork().fit([[0.0, 0.0], [3.0, 0.0], [4.0, 1.0]], list("abb"))).get_xlabel()
    'x0'
    """
    names = model._names
    _two_columns(names)
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(5.0, 4.6)
        rows, codes = model.centres_, model.codes_
        finite = np.where(np.isfinite(model.radii_), model.radii_, 0.0)
        low, high = (rows - finite[:, None]).min(axis=0), (rows + finite[:, None]).max(axis=0)
        grid = np.stack(np.meshgrid(*np.linspace(low, high, 240).T), axis=-1)
        there = np.zeros((grid[..., 0].size, len(model.classes_)), bool)
        flat = grid.reshape(-1, 2)
        for row, code, radius in zip(rows, codes.tolist(), model.radii_.tolist(), strict=True):
            there[:, code] |= ((flat - row) ** 2).sum(axis=1) < radius**2
        several = (there.sum(axis=1) > 1).reshape(240, 240)
        for c in range(len(model.classes_)):
            colour = GROUPS[c % len(GROUPS)]
            mine = zip(rows[codes == c].tolist(), finite[codes == c].tolist(), strict=True)
            own = PatchCollection(
                [Circle((x, y), radius) for (x, y), radius in mine],
                facecolor=(*_pale(colour), 0.8),
                edgecolor=colour,
                linewidth=0.6,
            )
            ax.add_collection(own, autolim=False)
        handles = _points(ax, rows, codes, [str(c) for c in model.classes_.tolist()])
        if several.any():
            dark = np.zeros((240, 240, 4))
            dark[several] = (0.42, 0.05, 0.08, 0.75)
            box = (low[0], high[0], low[1], high[1])
            ax.imshow(dark, extent=box, origin="lower", aspect="auto", zorder=2.5)
            handles.append(Line2D([], [], marker="s", color="#6b0d14", linestyle="", label="conflict"))
        _finish(ax, names, low, high, handles)
        ax.set_aspect("equal")
        paper.entitle(ax, "discs that hold no row of another class")
        return ax


def layers(
    model: ProbabilisticNeuralNetwork,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw columns, hidden units and classes in three layers, with the links between them.

    >>> from pgm.adapters import ProbabilisticNeuralNetwork
    >>> layers(ProbabilisticNeuralNetwork().fit([[3.0, 4.0], [0.0, 2.0]], ["a", "b"])).get_title()
    '2 inputs, 2 hidden units, 2 classes'
    """
    names, classes = model._names, [str(c) for c in model.classes_.tolist()]
    order = np.argsort(model.codes_, kind="stable")
    sizes = (len(names), len(order), len(classes))
    shown_ = [_some(size) for size in sizes]
    with Paper(ax, figsize, title) as paper:
        height = max(len(some) for some in shown_)
        ax = paper.axes(5.2, 1.2 + 0.3 * height)
        heights = [
            dict(zip(some, 0.5 * (len(some) - 1) - np.arange(len(some)), strict=True)) for some in shown_
        ]
        inputs, units, outputs = heights
        codes = model.codes_[order]
        links = [[(0.0, a), (1.0, b)] for a in inputs.values() for b in units.values()]
        ax.add_collection(LineCollection(links, colors=LINE, linewidths=0.5, zorder=1))
        for unit, at in units.items():
            colour, c = GROUPS[int(codes[unit]) % len(GROUPS)], int(codes[unit])
            if c in outputs:
                ax.plot([1.0, 2.0], [at, outputs[c]], color=colour, linewidth=0.9, zorder=1)
            ax.plot(1.0, at, "o", color=colour, markeredgecolor=EDGE, markersize=8, zorder=2)
        for place, at in inputs.items():
            ax.plot(0.0, at, "o", color="white", markeredgecolor=EDGE, markersize=8, zorder=2)
            ax.text(-0.08, at, plain(shortened(names[place], 16)), ha="right", va="center", fontsize=8)
        for c, at in outputs.items():
            colour = GROUPS[c % len(GROUPS)]
            ax.plot(2.0, at, "o", color=colour, markeredgecolor=EDGE, markersize=10, zorder=2)
            ax.text(2.1, at, plain(shortened(classes[c], 16)), ha="left", va="center", fontsize=8)
        for x, size, some in zip(range(3), sizes, shown_, strict=True):
            if len(some) < size:
                said = f"and {size - len(some):,} more"
                ax.text(x, -0.5 * len(some) - 0.35, said, ha="center", va="center", fontsize=8, color=INK)
        ax.set_xlim(-0.9, 2.9)
        ax.set_ylim(-0.5 * height - 0.7, 0.5 * height + 0.2)
        ax.set_axis_off()
        what = ("input", "hidden unit", "class")
        counts = [
            f"{n:,} {w}{('es' if w == 'class' else 's') if n != 1 else ''}"
            for n, w in zip(sizes, what, strict=True)
        ]
        paper.entitle(ax, ", ".join(counts))
        return ax


def _some(size: int) -> list[int]:
    """Which of so many are drawn: all, or some of them at equal distances."""
    return sorted(set(np.linspace(0, size - 1, min(size, _UNITS)).astype(int).tolist()))


def similar_cases(
    found: SimilarCases, ax: Axes | None = None, *, figsize: Size | None = None, title: str | None = None
) -> Axes:
    """Draw a bar for each case, as long as it is far, with what it was.

    >>> from pgm.adapters import NearestNeighbours, similar_cases as cases
    >>> rows, classes = [[0.0], [1.0], [9.0]], ["a", "a", "b"]
    >>> cases(NearestNeighbours(2).fit(rows, classes), [[2.0]], rows, classes).plot().get_xlabel()
    'distance'
    """
    shown = range(min(len(found.rows), 20))
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(5.0, 0.8 + 0.32 * len(shown))
        kinds = list(dict.fromkeys(map(str, found.outcomes)))
        colours = [GROUPS[kinds.index(str(found.outcomes[i])) % len(GROUPS)] for i in shown]
        ax.barh(list(shown), [found.distances[i] for i in shown], color=colours, height=0.6)
        names = [f"case {found.rows[i]:,}: {shortened(label(found.outcomes[i]))}" for i in shown]
        ax.set_yticks(list(shown), [plain(name) for name in names])
        ax.invert_yaxis()
        ax.set_xlabel("distance")
        tidy(ax)
        ax.grid(visible=False)
        paper.entitle(ax, f"{label(found.answer)}, because of these cases")
        return ax


def _two_columns(columns: Sequence[str]) -> None:
    if len(columns) != 2:
        raise InvalidArgument(f"This picture is of two columns, and there are {len(columns)}: fit it to two.")


def _pale(colour: str) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    r, g, b = (0.28 * part + 0.72 for part in to_rgb(colour))
    return r, g, b


def _points(ax: Axes, rows: np.ndarray, codes: np.ndarray, classes: Sequence[str]) -> list[Line2D]:
    """Draw rows by their classes; what a legend says of them."""
    handles = []
    for c, name in enumerate(classes):
        style: dict[str, Any] = {
            "marker": MARKERS[c % len(MARKERS)],
            "color": GROUPS[c % len(GROUPS)],
            "linestyle": "",
            "markeredgecolor": EDGE,
            "markeredgewidth": 0.4,
        }
        ax.plot(*rows[codes == c].T, markersize=6, zorder=3, **style)
        handles.append(Line2D([], [], label=plain(label(name)), **style))
    return handles


def _finish(
    ax: Axes, columns: Sequence[str], low: np.ndarray, high: np.ndarray, handles: list[Line2D]
) -> None:
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    ax.set_xlabel(plain(shortened(columns[0])))
    ax.set_ylabel(plain(shortened(columns[1])))
    ax.grid(visible=False)
    tidy(ax)
    ax.legend(handles=handles, fontsize=8, framealpha=0.9)
