"""Hyperplanes as pictures: weights by step, a line and its distances, regions of weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from pgm.errors import InvalidArgument, listed, nearest, shown
from pgm.printing import label

from .canvas import (
    BAR,
    DASHES,
    EDGE,
    INK,
    LINE,
    SOFT,
    Paper,
    Size,
    count_along,
    lines,
    plain,
    shortened,
    tidy,
)

if TYPE_CHECKING:
    from pgm.adapters import Hyperplane, SolutionRegion, WeightTrace

_MOST = 8  # weights that are drawn
_PLACES = 400  # along each side of a region
_BORDERS = 40  # half spaces whose borders are drawn
_DISTANCES = 40  # points whose distances are drawn


def weight_trace(
    trace: WeightTrace,
    columns: Any = None,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the weights of one hyperplane by step.

    >>> import pgm
    >>> found = pgm.adapters.Perceptron().fit([[2.0], [-1.0]], ["yes", "no"])
    >>> weight_trace(found.traces_["yes"]).get_ylabel()
    'weight'
    """
    return weight_traces([trace], columns, ax, figsize=figsize, title=title)


def weight_traces(
    traces: Sequence[WeightTrace],
    columns: Any = None,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the weights of several hyperplanes: one colour for each column, one dash for each hyperplane."""
    names = traces[0].columns
    picked = _picked(traces, columns)
    with Paper(ax, figsize, title) as paper:
        if all(len(trace.steps) == 1 for trace in traces):
            return _bars(traces, picked, paper)
        ax = paper.axes(5.6, 3.4)
        colors = lines(ax)
        for t, trace in enumerate(traces[: len(DASHES)]):
            for i, j in enumerate(picked):
                said = plain(shortened(names[j])) if t == 0 else None
                ax.plot(
                    trace.steps, trace.weights[:, j], color=colors[i % len(colors)], linewidth=1.3,
                    label=said, linestyle=DASHES[t if len(traces) > 1 else i // len(colors) % len(DASHES)],
                )  # fmt: skip
        ax.axhline(0.0, color=SOFT, linewidth=0.8, zorder=0)
        ax.set_xlabel("correction")
        ax.set_ylabel("weight")
        if len(traces) > 1:  # whose the dashes are
            for t, trace in enumerate(traces[: len(DASHES)]):
                ax.plot([], [], DASHES[t], color=LINE, label=plain(shortened(trace.name)))
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        count_along(ax)
        paper.entitle(ax, _said(traces, len(names) - len(picked)))
        tidy(ax)
        return ax


def _bars(traces: Sequence[WeightTrace], picked: list[int], paper: Paper) -> Axes:
    """Weights that came at once."""
    names, some = traces[0].columns, traces[: len(DASHES)]
    ax = paper.axes(5.0, 1.0 + 0.3 * len(picked) * len(some))
    at, height = np.arange(len(picked)), 0.8 / len(some)
    for t, trace in enumerate(some):
        color = BAR if len(some) == 1 else lines(ax)[t]
        said = None if trace.name is None else plain(shortened(trace.name))
        ax.barh(
            at + (t - (len(some) - 1) / 2) * height, trace.weights[-1, picked], height, color=color,
            edgecolor=EDGE, linewidth=0.6, label=said,
        )  # fmt: skip
    ax.axvline(0.0, color=INK, linewidth=0.8)
    ax.set_yticks(at, [plain(shortened(names[j])) for j in picked])
    ax.invert_yaxis()
    ax.set_xlabel("weight")
    if len(some) > 1:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    paper.entitle(ax, _said(traces, len(names) - len(picked)))
    tidy(ax)
    return ax


def _picked(traces: Sequence[WeightTrace], columns: Any) -> list[int]:
    names = traces[0].columns
    if columns is None:
        moved = np.max([np.abs(trace.weights).max(axis=0) for trace in traces], axis=0)
        return sorted(np.argsort(-moved, kind="stable")[:_MOST].tolist())
    wanted = [columns] if isinstance(columns, str) else list(columns)
    for name in wanted:
        if name not in names:
            raise InvalidArgument(
                f"columns= names some of {listed(names)}, not {shown(name)}.{nearest(name, names)}"
            )
    return [names.index(name) for name in wanted]


def _said(traces: Sequence[WeightTrace], hidden: int) -> str:
    named = [label(trace.name) for trace in traces[: len(DASHES)] if trace.name is not None]
    more = f" and {len(traces) - len(named)} more" if len(traces) > len(named) > 0 else ""
    text = f"weights for {', '.join(named)}{more}" if named else "weights"
    return text + (f"; {hidden} more columns" if hidden else "")


def hyperplane(
    plane: Hyperplane,
    points: np.ndarray,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw a line, the direction of its weights, and how far points are off.

    >>> import pgm
    >>> pgm.adapters.Hyperplane([3.0, 4.0], -5.0).plot([[2.0, 1.0]]).get_xlabel()
    'x0'
    """
    if plane.weights.size != 2:
        raise InvalidArgument(f"A picture has two columns, and there are {plane.weights.size} weights.")
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(4.6, 4.2)
        unit = plane.weights / plane.length
        feet = plane.projection(points)
        middle = -plane.origin_distance * unit
        every = np.vstack([points, feet, middle[None], np.zeros((1, 2))])
        low, high = every.min(axis=0), every.max(axis=0)
        room = 0.25 * max(float((high - low).max()), 1.0)
        centre, half = (low + high) / 2, float((high - low).max()) / 2 + room
        along = np.array([-unit[1], unit[0]])
        foot = centre - ((centre @ plane.weights + plane.intercept) / plane.length) * unit
        ends = foot + np.outer([-4 * half, 4 * half], along)
        dark = lines(ax)
        side = plane.value(points)
        for i in range(min(len(points), _DISTANCES)):
            ax.plot(*zip(points[i], feet[i], strict=True), color=LINE, linewidth=1.0, linestyle="--")
            if len(points) <= 6:
                text = f"{side[i] / plane.length:.3g}"
                ax.annotate(text, (points[i] + feet[i]) / 2, xytext=(4, 4), textcoords="offset points")
        for sign, color, marker in ((1, dark[0], "o"), (-1, dark[1], "s"), (0, INK, "x")):
            mine = np.sign(side) == sign
            ax.plot(points[mine, 0], points[mine, 1], marker, color=color, markersize=5.5)
        ax.plot(ends[:, 0], ends[:, 1], color=INK, linewidth=1.5)
        tip = foot + 0.5 * half * unit
        ax.annotate("", tip, foot, arrowprops={"arrowstyle": "-|>", "color": INK, "linewidth": 1.3})
        ax.annotate("w", tip, xytext=(4, 4), textcoords="offset points")
        ax.set_xlim(centre[0] - half, centre[0] + half)
        ax.set_ylim(centre[1] - half, centre[1] + half)
        ax.set_aspect("equal")
        ax.set_xlabel(plain(shortened(plane.columns[0])))
        ax.set_ylabel(plain(shortened(plane.columns[1])))
        said = "hyperplane" if plane.name is None else f"hyperplane, {label(plane.name)} where w points"
        paper.entitle(ax, said)
        tidy(ax)
        return ax


def solution_region(
    region: SolutionRegion, ax: Axes | None = None, *, figsize: Size | None = None, title: str | None = None
) -> Axes:
    """Draw all weights that separate the classes, with their margin, and the shortest of them.

    >>> import pgm
    >>> pgm.adapters.separability([[2.0], [-1.0]], ["a", "b"]).regions["b"].plot().get_xlabel()
    'weight of 1'
    """
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(4.6, 4.2)
        shortest = region.shortest
        reach = 3.0 if shortest is None else 3.0 * max(float(np.abs(shortest).max()), 1e-12)
        reach = max(reach, 2.0 * float(np.median(region.shifts)))
        side = np.linspace(-reach, reach, _PLACES)
        places = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
        for margin, color in ((0.0, "#dfe8f5"), (region.margin, "#a9c3e6")):
            inside = np.ones(len(places), np.bool_)
            for row in region.rows:
                inside &= places @ row > margin if margin == 0.0 else places @ row >= margin
            if inside.any():
                ax.contourf(
                    side,
                    side,
                    inside.reshape(_PLACES, _PLACES).astype(float),
                    levels=[0.5, 1.5],
                    colors=[color],
                )
        dark = lines(ax)
        for row in region.rows[:_BORDERS]:
            unit = row / np.linalg.norm(row)
            along = np.array([-unit[1], unit[0]]) * 3.0 * reach
            for margin, style in ((0.0, ":"), (region.margin, "-")):
                foot = unit * margin / np.linalg.norm(row)
                ends = np.array([foot - along, foot + along])
                ax.plot(ends[:, 0], ends[:, 1], style, color=LINE, linewidth=1.0)
        if shortest is not None:
            ax.plot([0.0, shortest[0]], [0.0, shortest[1]], color=dark[0], linewidth=1.5)
            ax.plot([shortest[0]], [shortest[1]], "o", color=dark[0], markersize=6.0)
            ax.annotate(
                "shortest",
                (shortest[0], shortest[1]),
                xytext=(6, -12),
                textcoords="offset points",
                color=dark[0],
            )
        ax.plot([0.0], [0.0], "+", color=INK)
        ax.set_xlim(-reach, reach)
        ax.set_ylim(-reach, reach)
        ax.set_aspect("equal")
        ax.set_xlabel(f"weight of {plain(shortened(region.columns[0]))}")
        ax.set_ylabel(f"weight of {plain(shortened(region.columns[1]))}")
        ax.grid(visible=False)
        paper.entitle(
            ax,
            f"weights with margin {region.margin:g} (dark) and 0 (light)"
            if region.separable
            else "no weights separate the classes",
        )
        tidy(ax)
        return ax
