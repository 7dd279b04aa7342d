"""Beliefs about parameters: densities of priors and posteriors, entries of tables with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from pgm.printing import label

from .canvas import BAR, DASHES, EDGE, SOFT, Paper, lines, plain, tidy

if TYPE_CHECKING:
    from pgm.models.beliefs import TableBelief

_ENTRIES = 60  # that a picture has room for


def densities(
    grid: np.ndarray,
    curves: Mapping[str, np.ndarray],
    along: str,
    ax: Axes | None = None,
    *,
    figsize: Any = None,
    title: str | None = None,
) -> Axes:
    """Draw densities over the same values.

    >>> densities(np.linspace(0, 1, 5), {"flat": np.ones(5)}, "p").get_xlabel()
    'p'
    """
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(4.6, 2.8)
        colours = lines(ax)
        for i, (name, values) in enumerate(curves.items()):
            style = DASHES[i % len(DASHES)]
            ax.plot(grid, values, color=colours[i % len(colours)], linestyle=style, label=plain(name))
        if len(curves) > 1:
            ax.legend(frameon=False)
        ax.set_xlabel(plain(along))
        ax.set_ylabel("density")
        ax.set_ylim(bottom=0.0)
        paper.entitle(ax, title or "")
        tidy(ax)
        return ax


def belief(
    draws: np.ndarray,
    interval: tuple[float, float],
    head: str,
    ax: Axes | None = None,
    *,
    figsize: Any = None,
    title: str | None = None,
) -> Axes:
    """Draw how often a probability was drawn to be what, and the interval that holds it.

    >>> belief(np.linspace(0.2, 0.4, 100), (0.21, 0.39), "P(rain)").get_xlabel()
    'P(rain)'
    """
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(4.6, 2.8)
        ax.hist(draws, bins=min(40, max(8, draws.size // 25)), density=True, color=BAR, edgecolor="white",
                linewidth=0.4)  # fmt: skip
        ax.axvspan(*interval, color=SOFT, alpha=0.4, linewidth=0, zorder=0)
        for end in interval:
            ax.axvline(end, color=EDGE, linewidth=1.0, linestyle="--")
        ax.set_xlabel(plain(head))
        ax.set_ylabel("density of the belief")
        paper.entitle(ax, f"{interval[0]:.4g} to {interval[1]:.4g}")
        tidy(ax)
        return ax


def table_belief(
    belief: TableBelief,
    level: float,
    ax: Axes | None = None,
    *,
    figsize: Any = None,
    title: str | None = None,
) -> Axes:
    """Draw the mean of each entry of a table as a point, and its interval as a line."""
    entries = list(np.ndindex(*belief.alpha.shape))[:_ENTRIES]
    low, high = belief.interval(level)
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(4.8, 0.7 + 0.22 * len(entries))
        names = []
        for y, at in enumerate(entries):
            ax.plot([low[at], high[at]], [y, y], color=EDGE, linewidth=2.0, solid_capstyle="butt")
            ax.plot([belief.mean[at]], [y], color=lines(ax)[0], marker="o", markersize=4.5)
            given = ", ".join(label(v.states[i]) for v, i in zip(belief.given, at, strict=False))
            state = label(belief.child.states[at[-1]])
            names.append(plain(f"{state} | {given}" if given else state))
        ax.set_yticks(range(len(entries)), names)
        ax.set_ylim(len(entries) - 0.5, -0.5)
        ax.set_xlim(0.0, 1.0)
        parents = ", ".join(v.name for v in belief.given)
        of = f"P({belief.child.name} | {parents})" if parents else f"P({belief.child.name})"
        ax.set_xlabel(plain(of))
        more = (
            f"; the first {len(entries)} of {belief.alpha.size:,}" if len(entries) < belief.alpha.size else ""
        )
        paper.entitle(ax, f"mean and {100 * level:g} % interval{more}")
        tidy(ax)
        return ax


def intervals(
    names: Sequence[str],
    mean: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    along: str,
    level: float,
    ax: Axes | None = None,
    *,
    figsize: Any = None,
    title: str | None = None,
) -> Axes:
    """Draw the mean of each parameter as a point, and its interval as a line.

    >>> intervals(["p"], np.array([0.5]), np.array([0.2]), np.array([0.7]), "initial", 0.9).get_xlabel()
    'initial'
    """
    shown = min(len(names), _ENTRIES)
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(4.8, 0.7 + 0.22 * shown)
        for y in range(shown):
            ax.plot([low[y], high[y]], [y, y], color=EDGE, linewidth=2.0, solid_capstyle="butt")
            ax.plot([mean[y]], [y], color=lines(ax)[0], marker="o", markersize=4.5)
        ax.set_yticks(range(shown), list(map(plain, names[:shown])))
        ax.set_ylim(shown - 0.5, -0.5)
        ax.set_xlabel(plain(along))
        more = f"; the first {shown} of {len(names):,}" if shown < len(names) else ""
        paper.entitle(ax, f"mean and {100 * level:g} % interval{more}")
        tidy(ax)
        return ax
