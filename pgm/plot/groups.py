"""Clusters as pictures: rows and centres of two columns, and how good each cluster is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from pgm.errors import InvalidArgument, listed, nearest, shown
from pgm.printing import label

from .canvas import BAR, EDGE, GROUPS, INK, Paper, Size, plain, shortened, tidy

if TYPE_CHECKING:
    from pgm.adapters import ClusterQuality
    from pgm.adapters.clusterer import Clusterer

_ROWS = 5000  # that are drawn


def clusters(
    model: Clusterer,
    rows: np.ndarray,
    codes: np.ndarray,
    columns: Any,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw rows coloured by their cluster, the centres, and the way that these came.

    >>> import pgm
    >>> data = [[0.0, 1.0], [1.0, 0.0], [9.0, 9.0]]
    >>> pgm.KMeans(2, seed=0).fit(data).plot(data).get_xlabel()
    'x0'
    """
    names = model._names
    chosen = [columns] if isinstance(columns, str) else names[:2] if columns is None else list(columns)
    for name in chosen:
        if name not in names:
            raise InvalidArgument(
                f"columns= names two columns among {listed(names)}, not {shown(name)}.{nearest(name, names)}"
            )
    if not 1 <= len(chosen) <= 2:
        raise InvalidArgument(f"columns= names one column or two, not {shown(columns)}.")
    at = [names.index(name) for name in chosen]

    def places(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = points[..., at[1]] if len(at) > 1 else np.zeros(points.shape[:-1])
        return points[..., at[0]], y

    keep = np.arange(len(rows))
    if len(rows) > _ROWS:
        keep = np.linspace(0, len(rows) - 1, _ROWS).astype(np.int64)
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(5.0, 4.2 if len(at) > 1 else 2.0)
        centres = model.cluster_centers_
        for k in range(len(centres)):
            color = GROUPS[k % len(GROUPS)]
            mine = keep[codes[keep] == k]
            ax.plot(*places(rows[mine]), ".", color=color, markersize=4.0, alpha=0.6)
            path = getattr(model, "path_", None)
            if path is not None:
                ax.plot(*places(path[:, k]), "-", color=color, linewidth=1.2)
            x, y = places(centres[k])
            ax.plot([x], [y], "X", color=color, markersize=10.0, markeredgecolor="white", markeredgewidth=1.2)
        ax.set_xlabel(plain(shortened(chosen[0])))
        if len(chosen) > 1:
            ax.set_ylabel(plain(shortened(chosen[1])))
        else:
            ax.set_yticks([])
        paper.entitle(ax, f"{len(centres)} clusters", model._summary())
        tidy(ax)
        return ax


def silhouettes(
    found: ClusterQuality, ax: Axes | None = None, *, figsize: Size | None = None, title: str | None = None
) -> Axes:
    """Draw the mean silhouette of each cluster, and that of all rows as a line."""
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(5.0, 1.0 + 0.3 * len(found.clusters))
        rows = np.arange(len(found.clusters))
        ax.barh(rows, np.nan_to_num(found.silhouettes), color=BAR, edgecolor=EDGE, height=0.7)
        ax.axvline(found.silhouette, color=INK, linestyle="--", linewidth=1.2)
        called = [f"{label(c)} ({n:,})" for c, n in zip(found.clusters, found.sizes.tolist(), strict=True)]
        ax.set_yticks(rows, [plain(shortened(name)) for name in called])
        ax.invert_yaxis()
        ax.set_xlabel("silhouette")
        paper.entitle(ax, f"silhouette {found.silhouette:.3g}")
        tidy(ax)
        return ax
