"""A chain's states and the transitions between them; of many states a map of the matrix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch
from matplotlib.ticker import MaxNLocator

from .canvas import EDGE, FILL, INK, Paper, Size, bare, ink, plain, shortened, tidy

_MOST_CIRCLES = 16
_LEAST = 0.005  # a transition of less is not drawn
_RADIUS = 0.32


def state_graph(
    model: Any, ax: Axes | None = None, *, figsize: Size | None = None, title: str | None = None
) -> Axes:
    """Draw the states of a chain and how it moves between them.

    >>> import pgm
    >>> coin = pgm.HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], pgm.Categorical([[0.5, 0.5], [0.9, 0.1]]))
    >>> len(state_graph(coin).texts)
    8
    """
    start, move = model.initial, model.transition
    with Paper(ax, figsize, title) as paper:
        called = [shortened(state, 10) for state in model.states]
        if len(called) > _MOST_CIRCLES:
            ax = _map(move, paper)
        else:
            ax = _circles(start, move, called, paper)
        paper.entitle(ax, model.name or "States and transitions")
        return ax


def _map(move: np.ndarray, paper: Paper) -> Axes:
    ax = paper.axes(4.6, 4.2)
    ax.imshow(move, cmap="Blues", vmin=0.0, vmax=float(move.max()))
    ax.set_xlabel("to state")
    ax.set_ylabel("from state")
    tidy(ax)
    ax.grid(visible=False)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=8, integer=True))
    return ax


def _places(move: np.ndarray) -> np.ndarray:
    """In a row where states only lead onwards, else in a circle."""
    k = len(move)
    if k <= 2 or not np.tril(move, -1).any():
        return np.column_stack([2.0 * np.arange(k), np.zeros(k)])
    angle = math.pi / 2 - 2 * math.pi * np.arange(k) / k
    radius = max(1.25, 0.42 * k)
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def _circles(start: np.ndarray, move: np.ndarray, called: list[str], paper: Paper) -> Axes:
    at = _places(move)
    middle = at.mean(axis=0)
    in_row = bool((at[:, 1] == 0).all())
    reach = 0.5 * max(1, max((j - i for i, j in np.argwhere(move > _LEAST)), default=1)) if in_row else 0.0
    low = at.min(axis=0) - np.array([1.1, 1.1 + 0.4 * reach])
    high = at.max(axis=0) + np.array([1.1, 1.2 + 0.5 * reach])
    width, height = (high - low).tolist()
    ax = paper.axes(0.95 * width, 0.95 * height)
    bare(ax)
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    ax.set_aspect("equal")
    size = _scale(ax, width, height)
    skips = np.array([j - i for i, j in np.argwhere(move > _LEAST) if abs(j - i) > 1])
    loops = np.array(
        [0.0, -1.0 if skips.size and (skips > 0).all() else 1.0]
    )  # clear of arcs that skip states
    for i, j in np.argwhere(move > _LEAST).tolist():
        p = float(move[i, j])
        if i == j:
            away = at[i] - middle if not in_row else loops
            _loop(ax, at[i], away, p, size)
        else:
            bend = 0.22 if not in_row else min(0.25 + 0.12 * (abs(j - i) - 1), 0.6)
            _arrow(ax, at[i], at[j], p, -bend if in_row else bend, size)
    for i, name in enumerate(called):
        circle = Circle(
            at[i].tolist(), _RADIUS, facecolor=FILL, edgecolor=EDGE, linewidth=1.0 + 2.5 * start[i]
        )
        circle.set_zorder(3)
        ax.add_patch(circle)
        x, y = at[i].tolist()
        known: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 4, "color": INK}
        if start[i] > _LEAST:
            ax.text(x, y + 0.07, plain(name), fontsize=9 * size, **known)
            ax.text(x, y - 0.14, f"first {start[i]:.2g}", fontsize=6 * size, **known)
        else:
            ax.text(x, y, plain(name), fontsize=9 * size, **known)
    return ax


def _scale(ax: Axes, width: float, height: float) -> float:
    """By how much letters shrink on axes that are smaller than the picture's natural size."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    inches = ax.get_position().size * figure.get_size_inches()
    wanted = 0.7 * np.array([width, height])  # a layout will still make axes larger
    return float(np.clip((inches / wanted).min(), 0.5, 1.0))


def _loop(ax: Axes, at: np.ndarray, away: np.ndarray, p: float, scale: float) -> None:
    size = float(np.hypot(*away)) or 1.0
    direction = away / size if size > 1e-9 else np.array([0.0, 1.0])
    side = np.array([-direction[1], direction[0]])
    begin, end = (at + _RADIUS * (0.85 * direction + s * 0.52 * side) for s in (1, -1))
    style: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 9 * scale, "color": ink(ax)}
    shape = "arc3,rad=-1.6"
    arrow = FancyArrowPatch(
        begin.tolist(), end.tolist(), connectionstyle=shape, linewidth=0.6 + 2.0 * p, **style, zorder=2
    )
    ax.add_patch(arrow)
    _number(ax, at + (_RADIUS + 0.48) * direction, p, scale)


def _arrow(ax: Axes, a: np.ndarray, b: np.ndarray, p: float, bend: float, scale: float) -> None:
    off = b - a
    unit = off / np.hypot(*off)
    begin, end = a + _RADIUS * unit, b - _RADIUS * unit
    style: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 9 * scale, "color": ink(ax)}
    shape = f"arc3,rad={bend}"
    arrow = FancyArrowPatch(
        begin.tolist(), end.tolist(), connectionstyle=shape, linewidth=0.6 + 2.0 * p, **style, zorder=1
    )
    ax.add_patch(arrow)
    normal = np.array([unit[1], -unit[0]])
    length = float(np.hypot(*(end - begin)))
    _number(ax, (begin + end) / 2 + normal * (bend * length / 2), p, scale)


def _number(ax: Axes, at: np.ndarray, p: float, scale: float) -> None:
    box: dict[str, Any] = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.6}
    x, y = at.tolist()
    ax.text(
        x, y, f"{p:.2g}", ha="center", va="center", fontsize=8 * scale, color=ink(ax), bbox=box, zorder=2.5
    )
