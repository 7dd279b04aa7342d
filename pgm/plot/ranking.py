"""Rows in their order, as a picture: ranks next to points, and the direction in which scores rise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from pgm.errors import InvalidArgument, listed, nearest, shown

from .canvas import LINE, Paper, Size, beside, lines, plain, shortened, tidy

if TYPE_CHECKING:
    from pgm.adapters import LinearRanker

_NUMBERED = 60  # rows that get a number
_ROWS = 5000


def ranked_rows(
    ranker: LinearRanker,
    rows: np.ndarray,
    ranks: np.ndarray,
    columns: Any,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw rows with their ranks, lines of equal score, and an arrow along which scores rise.

    >>> import pgm
    >>> told = pgm.adapters.LinearRanker().fit([[1.0, 5.0], [2.0, 1.0], [3.0, 9.0]], [3, 2, 1])
    >>> told.plot([[1.0, 5.0], [2.0, 1.0], [3.0, 9.0]]).get_xlabel()
    'x0'
    """
    names = ranker._names
    chosen = names[:2] if columns is None else list(columns)
    for name in chosen:
        if name not in names:
            raise InvalidArgument(
                f"columns= names two columns among {listed(names)}, not {shown(name)}.{nearest(name, names)}"
            )
    if len(set(chosen)) != 2:
        raise InvalidArgument(f"The picture has two columns, not {shown(columns or chosen)}.")
    at = [names.index(name) for name in chosen]
    w = ranker.coef_[at]
    if len(rows) > _ROWS:
        keep = np.linspace(0, len(rows) - 1, _ROWS).astype(np.int64)
        rows, ranks = rows[keep], ranks[keep]
    x, y = rows[:, at].T
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(4.8, 4.4)
        color = lines(ax)[0]
        ax.plot(x, y, "+", color=color, markersize=8)
        if len(rows) <= _NUMBERED:
            for a, b, rank in zip(x.tolist(), y.tolist(), ranks.tolist(), strict=True):
                beside(ax, a, b, f"{rank:g}")
        ax.margins(0.15)
        (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
        grid = np.meshgrid(np.linspace(x0, x1, 40), np.linspace(y0, y1, 40))
        level = w[0] * grid[0] + w[1] * grid[1]
        if level.max() > level.min():
            ax.contour(*grid, level, levels=8, colors=[LINE], linewidths=0.6, linestyles=":")
            # Along the gradient in the units of the picture, from its middle.
            along = w * np.array([x1 - x0, y1 - y0])
            along = 0.22 * along / np.hypot(*along)
            ax.annotate(
                "",
                (0.5 + along[0], 0.5 + along[1]),
                (0.5 - along[0], 0.5 - along[1]),
                xycoords="axes fraction",
                textcoords="axes fraction",
                arrowprops={"arrowstyle": "->", "color": lines(ax)[1], "linewidth": 1.6},
            )
        ax.set_xlim(x0, x1)
        ax.set_ylim(y0, y1)
        ax.set_xlabel(plain(shortened(chosen[0])))
        ax.set_ylabel(plain(shortened(chosen[1])))
        paper.entitle(ax, "ranks, and the way that scores rise")
        tidy(ax)
        return ax
