"""Outliers as pictures: rows, how far their neighbours are, and the tree of single linkage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.patches import Circle

from pgm.errors import InvalidArgument, listed, nearest, shown

from .canvas import BAR, INK, LINE, STATES, Paper, Size, plain, shortened, tidy

if TYPE_CHECKING:
    from pgm.adapters.outliers import Outliers

_ROWS = 5000  # that are drawn
_CIRCLES = 400
_QUERIES = 5  # that have circles of their own
_LEAVES = 60
TYPICAL, STRANGE = STATES[0], STATES[2]


def outliers(
    model: Outliers,
    rows: np.ndarray,
    found: np.ndarray,
    columns: Any = None,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw rows with a cross on outliers; where the model has distances to neighbours, as circles too.

    >>> from pgm.adapters import LocalOutlierRatio
    >>> told = LocalOutlierRatio(2).fit([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> told.plot([[4.0, 4.0]]).get_title()
    '1 of 1 rows are outliers'
    """
    names = model._names
    chosen = [columns] if isinstance(columns, str) else names[:2] if columns is None else list(columns)
    for name in chosen:
        if name not in names:
            raise InvalidArgument(
                f"columns= names columns among {listed(names)}, not {shown(name)}.{nearest(name, names)}"
            )
    if not 1 <= len(chosen) <= 2:
        raise InvalidArgument(f"columns= names one column or two, not {shown(columns)}.")
    at = [names.index(name) for name in chosen]
    keep = np.arange(len(rows))
    if len(rows) > _ROWS:
        every = np.linspace(0, len(rows) - 1, _ROWS).astype(np.int64)
        keep = np.union1d(every, np.flatnonzero(found)[:_ROWS])
    with Paper(ax, figsize, title) as paper:
        flat = len(at) == 1
        ax = paper.axes(5.0, 2.6 if flat else 4.4)

        def places(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return points[:, at[0]], (np.zeros(len(points)) if flat else points[:, at[1]])

        reach = getattr(model, "reach_", None)
        if reach is not None and not flat and len(names) == 2 and len(reach) <= _CIRCLES:
            known: np.ndarray = model.rows_  # type: ignore[attr-defined]
            circles = [Circle((x, y), r) for (x, y), r in zip(known[:, at], reach.tolist(), strict=True)]
            ax.add_collection(
                PatchCollection(circles, facecolor="none", edgecolor=LINE, linewidth=0.5), autolim=True
            )
            ax.plot(*places(known), "+", color=BAR, markersize=6, label="rows of fit")
            if len(rows) <= _QUERIES:
                away = model.neighbour_distance(rows).tolist()  # type: ignore[attr-defined]
                asked = [Circle((x, y), r) for (x, y), r in zip(rows[:, at], away, strict=True)]
                ax.add_collection(
                    PatchCollection(asked, facecolor="none", edgecolor=INK, linewidth=1.0, linestyle="--")
                )
            ax.set_aspect("equal")
        typical, strange = keep[~found[keep]], keep[found[keep]]
        ax.plot(*places(rows[typical]), ".", color=TYPICAL, markersize=5, alpha=0.7, label="typical")
        ax.plot(
            *places(rows[strange]), "X", color=STRANGE, markeredgecolor=INK, markeredgewidth=0.5,
            markersize=8, label="outlier", zorder=4,
        )  # fmt: skip
        ax.set_xlabel(plain(shortened(chosen[0])))
        if flat:
            ax.set_yticks([])
        else:
            ax.set_ylabel(plain(shortened(chosen[1])))
        ax.grid(visible=False)
        ax.autoscale_view()
        tidy(ax)
        ax.legend(fontsize=8, framealpha=0.9)
        paper.entitle(ax, f"{int(found.sum()):,} of {len(rows):,} rows are outliers")
        return ax


def linkage_tree(
    tree: np.ndarray,
    strange: np.ndarray,
    cut: float,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the tree of single linkage, where it is cut, and which rows are then outliers.

    >>> from pgm.adapters import SingleLinkageOutliers
    >>> SingleLinkageOutliers().fit([[0.0], [1.0], [2.0], [10.0]]).plot().get_ylabel()
    'distance of the join'
    """
    from scipy.cluster.hierarchy import dendrogram

    n = len(strange)
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(max(5.0, min(0.16 * n, 10.0)), 3.4)
        many = n > _LEAVES
        found = dendrogram(
            tree,
            ax=ax,
            color_threshold=0.0,
            above_threshold_color=BAR,
            truncate_mode="lastp" if many else None,
            p=_LEAVES,
            no_labels=many,
        )
        ax.axhline(cut, color=INK, linewidth=1.0, linestyle="--")
        ax.annotate(
            f"cut at {cut:.4g}", (1.0, cut), xycoords=("axes fraction", "data"), xytext=(-3, 3),
            textcoords="offset points", ha="right", fontsize=8,
        )  # fmt: skip
        if not many:
            for tick, leaf in zip(ax.get_xticklabels(), found["leaves"] or [], strict=True):
                tick.set_color(STRANGE if strange[leaf] else INK)
                tick.set_fontweight("bold" if strange[leaf] else "normal")
                tick.set_fontsize(8)
        ax.set_xlabel("row" if not many else f"the last {_LEAVES} joins of {n:,} rows")
        ax.set_ylabel("distance of the join")
        ax.grid(visible=False)
        tidy(ax)
        paper.entitle(ax, f"{int(strange.sum()):,} of {n:,} rows are outliers")
        return ax
