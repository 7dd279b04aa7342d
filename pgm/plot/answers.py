"""How an answer depends on the parameters of a network: tornado charts and curves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

from pgm.inference.insight.curve import Curve, possible_at
from pgm.inference.insight.two_parameters import Surface

from .canvas import (
    BAR,
    DASHES,
    EDGE,
    SEEN_BAR,
    SEEN_EDGE,
    Paper,
    Size,
    ink,
    lines,
    plain,
    shortened,
    text_width,
    tidy,
)

_SHARE = 0.1  # of the way to 0, and to 1
_POINTS = 200
_MOST_CURVES = 6
_PALE = LinearSegmentedColormap.from_list("pale", ["#ffffff", "#cfe3f1", "#6fb3dc"])  # contours show on it


def answer_tornado(
    curves: Sequence[Curve],
    head: str,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw how far the answer goes as each parameter goes a tenth of the way to 0 and to 1."""
    ends = [(one((1.0 - _SHARE) * one.value), one(one.value + _SHARE * (1.0 - one.value))) for one in curves]
    order = sorted(range(len(curves)), key=lambda i: -abs(ends[i][1] - ends[i][0]))
    labels = [shortened(curves[i].text, 56) for i in order]
    room = max((text_width(label, 10) for label in labels), default=0.0) / 72
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(4.2 + room, 1.3 + 0.3 * max(len(labels), 2))
        rows = np.arange(len(order))
        middle = curves[0].answer if curves else 0.0
        for side, color, edge, name in ((0, SEEN_BAR, SEEN_EDGE, "lower"), (1, BAR, EDGE, "higher")):
            widths = [ends[i][side] - middle for i in order]
            said = f"parameter {name}"
            ax.barh(rows, widths, 0.7, left=middle, color=color, edgecolor=edge, linewidth=0.8, label=said)
        ax.axvline(middle, color=ink(ax), linewidth=1.0)
        ax.set_yticks(rows, [plain(label) for label in labels])
        ax.set_ylim(max(len(labels), 1) - 0.4, -0.6)
        ax.set_xlabel("probability, if the parameter goes a tenth of the way to 0 or to 1", fontsize=9)
        ax.locator_params(axis="x", nbins=5)
        ax.margins(x=0.08)
        ax.legend(frameon=False, fontsize=8.5, labelcolor=ink(ax), loc="best")
        tidy(ax)
        paper.entitle(ax, f"{head} = {middle:.4g}")
        return ax


def answer_curves(
    curves: Sequence[Curve],
    head: str,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the answer over each parameter from 0 to 1, with the present values marked."""
    some = curves[:_MOST_CURVES]
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(5.6, 3.8 + 0.2 * len(some))
        x = np.linspace(0.0, 1.0, _POINTS)
        colors = lines(ax)
        for i, one in enumerate(some):
            color, dash = colors[i % len(colors)], DASHES[(i + i // len(colors)) % len(DASHES)]
            said = shortened(one.text, 56)
            ax.plot(
                x,
                [one(v) if possible_at(one, v) else np.nan for v in x.tolist()],
                dash,
                color=color,
                linewidth=1.8,
                label=plain(said),
            )
            ax.plot([one.value], [one.answer], "o", color=color, markersize=6)
            if len(some) == 1 and one.range is not None and one.range[0] < one.range[1]:
                ax.axvspan(*one.range, color=color, alpha=0.1, linewidth=0)
        ax.set_xlim(0.0, 1.0)
        ax.set_xlabel("the parameter")
        ax.set_ylabel("the answer")
        ax.legend(
            frameon=False, fontsize=8.5, labelcolor=ink(ax), loc="upper center", bbox_to_anchor=(0.5, -0.16)
        )
        tidy(ax)
        paper.entitle(ax, head or (some[0].text if some else ""))
        return ax


def answer_surface(
    found: Surface, ax: Axes | None = None, *, figsize: Size | None = None, title: str | None = None
) -> Axes:
    """Draw the answer over two parameters as a map with contours, the present values marked."""
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(5.2, 4.4)
        x = np.linspace(0.002, 0.998, 80)
        z = np.array([[found(a, b) for a in x.tolist()] for b in x.tolist()])
        shown = ax.imshow(z, cmap=_PALE, origin="lower", extent=(0, 1, 0, 1), aspect="auto", vmin=0, vmax=1)
        if float(np.ptp(z)) > 1e-9:
            ax.clabel(ax.contour(x, x, z, levels=6, colors=[EDGE], linewidths=0.8), fontsize=7.5)
        ax.plot([found.first.value], [found.second.value], "o", color=SEEN_EDGE, markersize=7)
        ax.set_xlabel(plain(shortened(found.first.text, 56)), fontsize=9)
        ax.set_ylabel(plain(shortened(found.second.text, 56)), fontsize=9)
        ax.grid(visible=False)
        figure = ax.get_figure()
        if figure is not None:
            figure.colorbar(shown, ax=ax, shrink=0.8).outline.set_visible(False)
        paper.entitle(ax, found.aim.title)
        return ax
