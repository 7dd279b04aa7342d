"""Regions of classifiers as pictures: the decision at each point of two columns, or along one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch

from pgm.printing import label

from .canvas import DASHES, GROUPS, LINE, Paper, Size, lines, plain, shortened, tidy

if TYPE_CHECKING:
    from pgm.evaluation import Regions

PALE = 0.55  # how much of a colour is left where classes are equally probable
NONE = "#d3d8de"  # where no class is named
EDGE = "#1f2a37"
MARKERS = "os^Dvp*X"
_POINTS = 5000  # that are drawn
_STRIP = 0.08  # of the height, for the decisions along one column


def regions(
    found: Regions, ax: Axes | None = None, *, figsize: Size | None = None, title: str | None = None
) -> Axes:
    """Draw what a classifier says at each place, the boundaries, and the points.

    >>> import pgm
    >>> told = pgm.DiscriminantAnalysis().fit([[0.0], [1.0], [4.0], [6.0]], ["a", "a", "b", "b"])
    >>> regions(pgm.evaluation.regions(told, [[0.0], [6.0]])).get_ylabel()
    'P(class)'
    """
    with Paper(ax, figsize, title) as paper:
        return _one(found, paper) if len(found.axes) == 1 else _two(found, paper)


def _two(found: Regions, paper: Paper) -> Axes:
    ax = paper.axes(5.0, 4.2)
    one, other = found.axes
    strength = None
    k = len(found.classes)
    if found.posterior is not None and k > 1:
        strength = (found.posterior.max(axis=-1) - 1.0 / k) / (1.0 - 1.0 / k)
    paint(ax, found.codes, strength, (one.low, one.high, other.low, other.high))
    if one.continuous and other.continuous:
        gains = found.gains
        if gains is None:  # the boundaries between places
            gains = (found.codes[..., None] == np.arange(-1, k)).astype(np.float64)
        outline(ax, one.values, other.values, gains)
    drawn = {}
    if found.points is not None:
        xs, ys = found.points.places
        drawn = scatter(ax, xs, ys, found.points.codes, found.classes)
    key(ax, found.classes, drawn, none=bool((found.codes < 0).any()))
    for axis, side in zip(found.axes, (ax.xaxis, ax.yaxis), strict=True):
        side.set_label_text(plain(shortened(axis.name)))
        if not axis.continuous:
            states = axis.values.tolist()
            side.set_ticks(range(len(states)), [plain(shortened(state, 12)) for state in states])
    ax.set_xlim(one.low, one.high)
    ax.set_ylim(other.low, other.high)
    ax.grid(visible=False)
    paper.entitle(ax, _said(found))
    return ax


def _said(found: Regions) -> str:
    if not found.held:
        return "what the classifier says"
    held = [
        f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in list(found.held.items())[:3]
    ]
    more = len(found.held) - len(held)
    return f"decisions of the classifier at {', '.join(held)}{f' and {more} more' if more else ''}"


def paint(
    ax: Axes,
    codes: np.ndarray,
    strength: np.ndarray | None,
    extent: tuple[float, float, float, float],
    palette: Sequence[str] = GROUPS,
) -> None:
    """Colour each place by the class named there; the surer, the stronger."""
    named = [to_rgb(palette[c % len(palette)]) for c in range(int(codes.max()) + 1)]
    every = np.array([*named, to_rgb(NONE)])
    sure = np.full(codes.shape, 0.4) if strength is None else np.nan_to_num(strength)
    depth = 0.55 * ((1.0 - PALE) + PALE * sure)
    depth = np.where(codes < 0, 1.0, depth)
    ax.imshow(
        1.0 - (1.0 - every[codes]) * depth[..., None],
        origin="lower",
        extent=extent,
        aspect="auto",
        interpolation="nearest",
    )


def outline(ax: Axes, x: np.ndarray, y: np.ndarray, gains: np.ndarray) -> None:
    """Draw the lines on which the two best decisions tie.

    Args:
        ax: where.
        x: values of the first column.
        y: of the second.
        gains: what each decision gains at each place, the last axis.
    """
    for c in range(gains.shape[-1] if gains.shape[-1] > 1 else 0):
        gap = gains[..., c] - np.delete(gains, c, axis=-1).max(axis=-1)
        if gap.min() < 0.0 < gap.max():
            ax.contour(x, y, gap, levels=[0.0], colors=[EDGE], linewidths=1.0)


def scatter(
    ax: Axes,
    xs: np.ndarray,
    ys: np.ndarray,
    codes: np.ndarray,
    classes: Sequence[Any],
    palette: Sequence[str] = GROUPS,
) -> dict[int, Any]:
    """Draw rows by their classes; of very many an evenly spaced part."""
    if len(xs) > _POINTS:
        keep = np.linspace(0, len(xs) - 1, _POINTS).astype(np.int64)
        xs, ys, codes = xs[keep], ys[keep], codes[keep]
    drawn = {}
    for c, name in enumerate(classes):
        mine = codes == c
        drawn[c] = ax.scatter(
            xs[mine],
            ys[mine],
            s=18,
            marker=MARKERS[c % len(MARKERS)],
            facecolor=palette[c % len(palette)],
            edgecolor=EDGE,
            linewidth=0.6,
            label=plain(label(name)),
        )
    return drawn


def key(
    ax: Axes,
    classes: Sequence[Any],
    drawn: dict[int, Any],
    *,
    none: bool = False,
    title: str = "class",
    palette: Sequence[str] = GROUPS,
) -> None:
    """Say which colour is which class."""
    handles = [
        drawn.get(c, Patch(facecolor=palette[c % len(palette)], label=plain(label(name))))
        for c, name in enumerate(classes)
    ]
    if none:
        handles.append(Patch(facecolor=NONE, edgecolor=LINE, label="none"))
    ax.legend(handles=handles, title=plain(title), frameon=True, framealpha=0.85)


def _one(found: Regions, paper: Paper) -> Axes:
    ax = paper.axes(5.0, 3.2)
    axis = found.axes[0]
    colours = lines(ax)
    tall = 1.0 if found.posterior is not None else 0.0
    places = axis.values if axis.continuous else np.arange(len(axis.values), dtype=np.float64)
    codes = found.codes[None, :]
    paint(ax, codes, None, (axis.low, axis.high, -0.02 - _STRIP, -0.02), colours)
    drawn: dict[int, Any] = {}
    if found.posterior is not None:
        for c, name in enumerate(found.classes):
            (drawn[c],) = ax.plot(
                places,
                found.posterior[:, c],
                color=colours[c % len(colours)],
                linestyle=DASHES[c % len(DASHES)],
                marker="" if axis.continuous else MARKERS[c % len(MARKERS)],
                label=plain(label(name)),
            )
        ax.set_ylabel("P(class)")
    for one in found.boundaries:
        ax.axvline(one.at, color=LINE, linewidth=0.9, linestyle=":")
    if found.points is not None:
        xs = found.points.places[0]
        ys = np.full(len(xs), -0.02 - 0.5 * _STRIP)
        scatter(ax, xs, ys, found.points.codes, found.classes, colours)
    key(ax, found.classes, drawn, none=bool((found.codes < 0).any()), palette=colours)
    ax.set_xlabel(plain(shortened(axis.name)))
    if not axis.continuous:
        states = axis.values.tolist()
        ax.set_xticks(range(len(states)), [plain(shortened(s, 12)) for s in states])
    ax.set_xlim(axis.low, axis.high)
    ax.set_ylim(-0.03 - _STRIP, 1.04 * tall if tall else 0.0)
    ax.set_aspect("auto")
    if not tall:
        ax.set_yticks([])
    paper.entitle(ax, _said(found))
    tidy(ax)
    return ax


def classifier_regions(
    classifier: Any,
    X: Any,
    y: Any = None,
    *,
    columns: Any = None,
    reject: float | None = None,
    ax: Axes | None = None,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Ask a classifier what it says all over one column or two, and draw that.

    >>> import pgm
    >>> told = pgm.adapters.LogisticDiscriminant().fit([[-1.0], [1.0]], ["no", "yes"])
    >>> classifier_regions(told, [[-1.0], [1.0]]).get_xlabel()
    'x0'
    """
    from pgm.evaluation import regions as asked

    return regions(asked(classifier, X, y, columns=columns, reject=reject), ax, figsize=figsize, title=title)
