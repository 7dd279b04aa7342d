"""What a question will cost, as a picture: the sizes of the largest tables."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes

from pgm.inference.engines.plan import Plan

from .canvas import BAR, EDGE, Paper, Size, count_along, lines, tidy


def plan(
    found: Plan,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the entries of the largest tables, on a log scale, next to the number that fits in memory.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("rain", 0.2)
    >>> plan(net.plan("rain")).get_ylabel()
    'entries'
    """
    with Paper(ax, figsize, title) as paper:
        return _plan(found, paper)


def _plan(found: Plan, paper: Paper) -> Axes:
    ax = paper.axes(5.4, 3.0)
    limit = lines(ax)[1]
    sizes = np.array(found.log2_cliques or (found.log2_largest,)) * math.log10(2.0)
    at = np.arange(1, sizes.size + 1)
    # Powers of ten written out: a table may have more entries than a double holds.
    ax.bar(
        at, np.maximum(sizes, 0.02), width=0.8 if sizes.size <= 30 else 1.0, color=BAR, edgecolor=EDGE, lw=0.6
    )
    room = math.log10(max(found.memory_limit / 8.0, 1.0))
    ax.axhline(room, color=limit, linestyle="--", linewidth=1.2)
    ax.annotate(
        "all memory allowed",
        (1.0, room),
        xycoords=("axes fraction", "data"),
        xytext=(-2, 3),
        textcoords="offset points",
        ha="right",
        color=limit,
        fontsize=9,
    )
    top = max(float(sizes.max(initial=0.0)), room) * 1.12
    step = max(1, round(top / 6))
    powers = np.arange(0, int(top) + 1, step)
    ax.set_yticks(powers, [f"$10^{{{power}}}$" for power in powers.tolist()])
    ax.set_ylim(0.0, top)
    ax.set_xlim(0.4, sizes.size + 0.6)
    if sizes.size <= 12:
        ax.set_xticks(at)
    else:
        count_along(ax)
    ax.set_xlabel("tables, the largest first")
    ax.set_ylabel("entries")
    tidy(ax)
    verdict = "fits" if found.fits else "does not fit"
    paper.entitle(ax, found.question, f"{verdict}, engine {found.engine}")
    return ax
