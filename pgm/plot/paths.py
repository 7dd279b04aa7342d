"""Continuous variables over time: lines in bands, and observations as dots."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from pgm.errors import UnknownVariable
from pgm.results.gaussian_path import Forecast, GaussianPath, StatesOverTime

from .canvas import DASHES, Paper, Size, count_along, ink, lines, plain, shortened, tidy

_MOST = 4  # variables of one picture
_THIN = 1_500  # points of a line, however long the run
_MARKERS = "os^D"  # of the first observation, the second, ...
_DOTS = 400  # observations that are drawn one by one; of more, points


def gaussian_path(
    path: GaussianPath,
    ax: Axes | None = None,
    *,
    names: str | Sequence[str] | None = None,
    level: float = 0.95,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the mean of each variable over time, in the band that holds it with this probability."""
    chosen = path.marginal(names if names is not None else path.names[:_MOST])
    with Paper(ax, figsize, title) as paper:
        axes = paper.axes(6.4, 3.2)
        _lines(chosen, axes, level, "")
        _finish(axes, path.steps)
        paper.entitle(axes, f"mean, and a band of {100 * level:.4g} %")
        return axes


def states_over_time(
    found: StatesOverTime,
    ax: Axes | None = None,
    *,
    names: str | Sequence[str] | None = None,
    level: float = 0.95,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the signal in the observations, and these as dots; or hidden states."""
    signal = found.predicted if isinstance(found, Forecast) else found.signal
    asked = [names] if isinstance(names, str) else list(signal.names[:_MOST] if names is None else names)
    if unknown := [name for name in asked if name not in (*signal.names, *found.names)]:
        raise UnknownVariable(unknown[0], (*signal.names, *found.names))
    kind = found._kind
    with Paper(ax, figsize, title) as paper:
        axes = paper.axes(6.4, 3.2)
        seen = [name for name in asked if name in signal.names]
        hidden = [name for name in asked if name not in signal.names]
        if seen:
            _observations(found, seen, axes)
            _lines(signal.marginal(seen), axes, level, kind)
        if hidden:
            _lines(found.marginal(hidden), axes, level, kind)
        _finish(axes, found.steps)
        paper.entitle(axes, f"bands of {100 * level:.4g} %" if ax is None else "")
        return axes


def _finish(axes: Axes, steps: np.ndarray) -> None:
    axes.set_xlabel("step" if steps.dtype.kind == "i" else "time")
    if steps.dtype.kind == "i":
        count_along(axes)
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) > 1:
        axes.legend(handles, labels, frameon=False, labelcolor=ink(axes), fontsize=9)
    elif labels:
        axes.set_ylabel(labels[0])
    tidy(axes)


def _lines(path: GaussianPath, axes: Axes, level: float, kind: str) -> None:
    """A line in a band for each variable; further ones on the same axes take further colours."""
    some = np.unique(np.linspace(0, len(path) - 1, min(len(path), _THIN)).astype(int))
    ends = path.interval(level)
    used = sum(1 for line in axes.get_lines() if line.get_linestyle() != "None")
    colors = lines(axes)
    for i, name in enumerate(path.names):
        at = used + i
        color = colors[at % len(colors)]
        label = plain(shortened(name)) + (f", {kind}" if kind else "")
        low, high = (end[some, i] for end in (ends.low, ends.high))
        known = np.isfinite(high)  # a diffuse start may leave something open
        x, style = path.steps[some], DASHES[at % len(DASHES)]
        axes.fill_between(x, low, high, where=known.tolist(), color=color, alpha=0.22, linewidth=0)
        y = np.where(known, path.mean[some, i], np.nan)
        beside = np.concatenate([[False], known, [False]])
        alone = known & ~beside[:-2] & ~beside[2:]  # neither a line nor a band goes through these
        (line,) = axes.plot(x, y, color=color, linestyle=style, linewidth=1.4, label=label)
        if alone.any():
            line.set(marker="_", markersize=8, markevery=np.flatnonzero(alone).tolist())
            axes.vlines(x[alone], low[alone], high[alone], color=color, alpha=0.22, linewidth=6)


def _observations(found: StatesOverTime, seen: Sequence[str], axes: Axes) -> None:
    """Dots, in a colour of their own; not again where the axes have them already."""
    y = found.observations
    steps = found.steps
    if isinstance(found, Forecast):
        steps = np.arange(len(y)) if steps.dtype.kind == "i" else np.empty(0)
        y = y[: len(steps)]
    names = found._output.names
    have = {collection.get_gid() for collection in axes.collections}
    for name in seen:
        gid = f"observed {name}"
        values = y[:, names.index(name)]
        there = ~np.isnan(values)
        if gid in have or not there.any():
            continue
        dots = axes.scatter(
            steps[there],
            values[there],
            marker=_MARKERS[names.index(name) % len(_MARKERS)],
            s=14 if there.sum() <= _DOTS else 3,
            facecolor="none" if there.sum() <= _DOTS else ink(axes),
            edgecolor=ink(axes),
            linewidth=0.8 if there.sum() <= _DOTS else 0,
            zorder=3,
            label=f"{plain(shortened(name))}, observed",
        )
        dots.set_gid(gid)
