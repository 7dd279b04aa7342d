"""Densities of rows with their windows, and curves through rows with windows and intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from pgm.errors import InvalidArgument, listed, nearest, shown

from .canvas import BAR, EDGE, INK, LINE, SEEN_EDGE, SEEN_FILL, STATES, Paper, Size, plain, shortened, tidy

if TYPE_CHECKING:
    from pgm.adapters.densities.base import DrawnDensity
    from pgm.adapters.smoothing.base import Drawn

_POINTS, _CELLS = 800, 160  # of a curve; of a map, along each axis
_ROWS = 5000  # that are drawn


def row_density(
    model: DrawnDensity,
    windows: int,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw a density of rows: one column as a curve with windows, two as levels.

    >>> from pgm.adapters import ParzenDensity
    >>> ParzenDensity(1.0).fit([[0.0], [3.0]]).plot().get_ylabel()
    'density'
    """
    names, (low, high) = model._names, model._range()
    if len(names) > 2:
        raise InvalidArgument(
            f"A picture shows a density of one column or two; this one has {listed(names)}. Fit it to those."
        )
    points = model._points()
    points = points[:: -(-len(points) // _ROWS)] if len(points) else points
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(5.0, 3.0 if len(names) == 1 else 4.2)
        if len(names) == 1:
            x = np.linspace(low[0], high[0], _POINTS)
            y = np.exp(model.score_samples(x[:, None]))
            for each in model._windows(windows, x[None, :]):
                ax.plot(x, each, color=LINE, linewidth=0.9)
            top = float(y[np.isfinite(y)].max())
            if not np.isfinite(y).all():
                top = float(np.quantile(y[np.isfinite(y)], 0.98))
            ax.fill_between(x, np.minimum(y, 2.0 * top), color=BAR, edgecolor=EDGE, linewidth=1.0, alpha=0.45)
            ax.plot(
                points[:, 0], np.full(len(points), -0.03 * top), "|", color=INK, markersize=7.0, alpha=0.6
            )
            ax.set_ylim(-0.07 * top, 1.08 * top)
            ax.set_ylabel("density")
        else:
            x, y = (np.linspace(low[j], high[j], _CELLS) for j in (0, 1))
            across, up = np.meshgrid(x, y)
            values = np.exp(model.score_samples(np.column_stack([across.ravel(), up.ravel()])))
            values = np.where(np.isfinite(values), values, np.nan).reshape(across.shape)
            ax.pcolormesh(x, y, values, cmap="Blues", shading="nearest", rasterized=True)
            if np.nanmax(values) > np.nanmin(values):
                ax.contour(x, y, values, levels=6, colors=EDGE, linewidths=0.7)
            ax.plot(points[:, 0], points[:, 1], ".", color=INK, markersize=3.0, alpha=0.5)
            ax.set_ylabel(plain(shortened(names[1])))
        ax.set_xlabel(plain(shortened(names[0])))
        paper.entitle(ax, model._table()[2])
        tidy(ax)
        return ax


def smoother(
    model: Drawn,
    rows: np.ndarray,
    targets: np.ndarray,
    column: str | None,
    level: float | None,
    at: float | None,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw a curve through rows along a column, the interval of the curve, and the window at a place.

    >>> from pgm.adapters import LocalSmoother
    >>> x, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [1.0, 3.0, 2.0, 5.0, 4.0]
    >>> LocalSmoother(1.5, window="gaussian").fit(x, y).plot(at=2.0).get_xlabel()
    'x0'
    """
    names = model._names
    if column is not None and column not in names:
        raise InvalidArgument(
            f"column= is one of {listed(names)}, not {shown(column)}.{nearest(column, names)}"
        )
    j = 0 if column is None else names.index(column)
    x = np.linspace(rows[:, j].min(), rows[:, j].max(), _POINTS // 2)
    places = np.tile(np.median(rows, axis=0), (len(x), 1))
    places[:, j] = x
    curve = _known(model.predict, places, 1)[:, 0]
    keep = slice(None, None, -(-len(rows) // _ROWS))
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(5.2, 3.4)
        ax.plot(rows[keep, j], targets[keep], ".", color=LINE, markersize=5.0, zorder=2)
        interval = getattr(model, "interval", None)
        said = [model._table()[2]]
        if level is not None and interval is not None and not getattr(model, "_unspread", ""):
            ends = _known(lambda some: interval(some, level=level), places, 2)
            ends[~np.isfinite(ends)] = np.nan
            ax.fill_between(x, ends[:, 0], ends[:, 1], color=BAR, alpha=0.35, linewidth=0.0, zorder=1)
            said.append(f"{100 * level:g} % interval of the curve")
        ax.plot(x, curve, color=STATES[0], linewidth=1.8, zorder=3)
        low, high = ax.get_ylim()
        low, high = min(low, float(targets.min())), max(high, float(targets.max()))
        room = float(targets.max() - targets.min()) or 1.0
        low, high = max(low, float(targets.min()) - 0.4 * room), min(high, float(targets.max()) + 0.4 * room)
        if at is not None and (window := model._window(at, x)) is not None:
            base = low - 0.18 * (high - low)
            ax.fill_between(
                x, base, base + 0.15 * (high - low) * window, color=SEEN_FILL, edgecolor=SEEN_EDGE
            )
            ax.axvline(at, color=SEEN_EDGE, linewidth=0.9, linestyle="--", zorder=0)
            low = base
        ax.set_ylim(low, high)
        others = "; other columns at their medians" if len(names) > 1 else ""
        ax.set_xlabel(plain(shortened(names[j])) + others)
        paper.entitle(ax, *said)
        tidy(ax)
        return ax


def _known(ask: object, places: np.ndarray, width: int) -> np.ndarray:
    """The estimates at points; NaN where there is none."""
    assert callable(ask)
    try:
        return np.asarray(ask(places), dtype=np.float64).reshape(-1, width)
    except InvalidArgument:
        found = np.full((len(places), width), np.nan)
        for i in range(len(places)):
            try:
                found[i] = ask(places[i : i + 1])
            except InvalidArgument:
                continue
        return found
