"""Sequences as pictures: beliefs about states over time, paths, draws, forecasts, and how a fit converged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, ListedColormap
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from pgm.errors import InvalidArgument
from pgm.printing import number
from pgm.results import (
    ChainBeliefs,
    Distribution,
    FitReport,
    NetworkBeliefs,
    NetworkCourse,
    SampledSequence,
    SampledSeries,
    SampledSteps,
    SequenceForecast,
    StateBeliefs,
    StatePath,
)

from .canvas import (
    BAR,
    DASHES,
    SOFT,
    STATES,
    Paper,
    Size,
    count_along,
    key_beside,
    lines,
    plain,
    shortened,
    tidy,
)
from .network_steps import network_beliefs, network_course, sampled_steps

_MOST_BANDS = len(STATES)  # states with a colour of their own
_MOST_STEPS = 40  # of a trellis
_MOST_ROWS = 12  # of a trellis
_POINTS = 2_000  # steps with a dot for each observation
_MOST_LINES = 4  # entries of a state, or of an observation
_LEVEL = 0.9


def steps(
    found: Any, ax: Axes | None = None, *, figsize: Size | None = None, title: str | None = None
) -> Axes:
    """Draw the answer for each step, from left to right.

    >>> import pgm
    >>> coin = pgm.HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], pgm.Categorical([[0.5, 0.5], [0.9, 0.1]]))
    >>> steps(coin.smooth([0, 0, 1])).get_xlabel()
    'step'
    """
    with Paper(ax, figsize, title) as paper:
        for kind, draw in _KINDS.items():
            if isinstance(found, kind):
                made = draw(found, paper)
                timed = isinstance(found, SampledSeries) and found.steps.dtype.kind == "f"
                made.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=not timed))
                tidy(made)
                made.grid(visible=False)
                return made
        raise InvalidArgument(f"There is no picture of a {type(found).__name__}.")


def _bands(ax: Axes, shares: np.ndarray, called: list[str], first: int = 0) -> None:
    """Shares that sum to one as bands over the steps; of many states a map."""
    count = len(shares)
    if shares.shape[1] > _MOST_BANDS:
        extent = (first - 0.5, first + count - 0.5, shares.shape[1] - 0.5, -0.5)
        ax.imshow(shares.T, aspect="auto", cmap="Blues", vmin=0.0, vmax=1.0, extent=extent)
        ax.set_ylabel("state")
        ax.yaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
        return
    edges = np.repeat(np.arange(count + 1) + first - 0.5, 2)[1:-1]
    below = np.zeros(2 * count)
    for k in range(shares.shape[1]):
        above = below + np.repeat(shares[:, k], 2)
        ax.fill_between(edges, below, above, color=STATES[k], linewidth=0, label=plain(called[k]))
        below = above
    ax.set_xlim(first - 0.5, first + count - 0.5)
    ax.set_ylim(0.0, 1.0)
    ax.set_ylabel("probability")
    key_beside(ax)


def _names(found: Any) -> list[str]:
    return [shortened(state, 16) for state in found.variable.states]


def _beliefs(found: StateBeliefs, paper: Paper) -> Axes:
    ax = paper.axes(7.0, 2.4)
    _bands(ax, found.values, _names(found))
    ax.set_xlabel("step")
    paper.entitle(ax, f"States, {found.about}")
    return ax


def _chain_beliefs(found: ChainBeliefs, paper: Paper) -> Axes:
    """A row for each state of each chain: the darker, the more probable."""
    names = [f"{v.name}={shortened(state, 16)}" for v in found.variables for state in v.states]
    ax = paper.axes(7.0, max(1.6, 0.9 + 0.22 * len(names)))
    color = LinearSegmentedColormap.from_list("share", [ax.get_facecolor(), lines(ax)[0]])
    ax.imshow(found.values.T, aspect="auto", interpolation="nearest", cmap=color, vmin=0.0, vmax=1.0)
    ax.set_yticks(range(len(names)), [plain(name) for name in names])
    for edge in np.cumsum([v.card for v in found.variables])[:-1].tolist():
        ax.axhline(edge - 0.5, color=SOFT, linewidth=0.8)
    ax.set_xlabel("step")
    paper.entitle(ax, f"States of each chain, {found.about}")
    return ax


def _path(found: StatePath, paper: Paper) -> Axes:
    k, count = len(found.variable.states), len(found)
    said = f"Path of probability {number(found.probability)}"
    if count <= _MOST_STEPS and k <= _MOST_ROWS:
        ax = paper.axes(max(3.0, 1.2 + 0.45 * count), max(1.6, 0.8 + 0.45 * k))
        for t in range(count - 1):
            for i in range(k):
                for j in range(k):
                    ax.plot([t, t + 1], [i, j], color=SOFT, linewidth=0.5, zorder=1)
        columns, rows = np.meshgrid(np.arange(count), np.arange(k))
        face = ax.get_facecolor()
        ax.scatter(columns, rows, s=60, facecolor=face, edgecolor=SOFT, linewidth=1.0, zorder=2)
        ax.plot(np.arange(count), found.codes, color=lines(ax)[0], linewidth=2.5, zorder=3)
        ax.scatter(np.arange(count), found.codes, s=70, color=lines(ax)[0], zorder=4)
        ax.set_yticks(range(k), [plain(name) for name in _names(found)])
        ax.set_ylim(k - 0.5, -0.5)
        ax.set_xlim(-0.5, count - 0.5)
    else:
        ax = paper.axes(7.0, 1.3)
        _strip(ax, found.codes, found, 0.0, 1.0)
        ax.set_yticks([])
    ax.set_xlabel("step")
    paper.entitle(ax, said)
    return ax


def _strip(ax: Axes, codes: np.ndarray, found: Any, low: float, high: float) -> None:
    """The states as stripes of colour."""
    extent = (-0.5, len(codes) - 0.5, low, high)
    colors = ListedColormap([STATES[k % _MOST_BANDS] for k in range(max(len(found.variable.states), 2))])
    most = max(len(found.variable.states), 2) - 1
    ax.imshow(codes[None], colors, aspect="auto", vmin=0, vmax=most, extent=extent, interpolation="nearest")
    names = _names(found)[:_MOST_BANDS]
    key_beside(ax, [Patch(color=STATES[k], label=plain(name)) for k, name in enumerate(names)])


def _sample(found: SampledSequence, paper: Paper) -> Axes:
    ax = paper.axes(7.0, 2.6)
    seen = found.observations
    count = len(found)
    if seen.dtype.kind in "fiu" and seen.dtype != object:
        values = seen.reshape(count, -1).astype(float)
        ax.set_ylabel("observation")
    else:
        called = sorted({str(value) for value in seen.tolist()})
        values = np.array([[called.index(str(value))] for value in seen.tolist()], float)
        ax.set_yticks(range(len(called)), [plain(shortened(name, 16)) for name in called])
    marker = "o" if count <= _POINTS or seen.dtype.kind != "f" else ""
    for d in range(values.shape[1]):
        color = lines(ax)[d % len(lines(ax))]
        joined = "-" if seen.dtype.kind == "f" else "None"
        ax.plot(values[:, d], linestyle=joined, color=color, marker=marker, markersize=3.0, linewidth=0.8)
    low, high = float(values.min()), float(values.max())
    room = max(high - low, 1.0)
    ax.set_ylim(low - 0.35 * room, high + 0.08 * room)
    _strip(ax, found.codes, found, low - 0.33 * room, low - 0.18 * room)
    ax.set_xlim(-0.5, count - 0.5)
    ax.set_xlabel("step")
    paper.entitle(ax, "Observations, and the states below")
    return ax


def _series(found: SampledSeries, paper: Paper) -> Axes:
    """The hidden states as lines, and observations as dots."""
    ax = paper.axes(7.0, 2.6)
    colors = lines(ax)
    for i, (name, column) in enumerate(list(found.state_columns.items())[:_MOST_LINES]):
        ax.plot(
            found.steps,
            column,
            color=colors[i % len(colors)],
            linestyle=DASHES[i % len(DASHES)],
            linewidth=1.4,
            label=plain(shortened(name)),
        )
    few = len(found) <= _POINTS
    for i, (name, column) in enumerate(list(found.observed_columns.items())[:_MOST_LINES]):
        color, label = colors[i % len(colors)], plain(shortened(name))
        ax.plot(
            *(found.steps, column),
            linestyle="None",
            marker="o" if few else ",",
            markersize=3.0,
            color=color,
            label=label,
        )
    ax.set_xlabel("step" if found.steps.dtype.kind == "i" else "time")
    paper.entitle(ax, "States as lines, observations as dots")
    key_beside(ax)
    return ax


def _forecast(found: SequenceForecast, paper: Paper) -> Axes:
    ax = paper.axes(5.4, 2.6)
    first = found.columns or found.unknown or found[0]
    if isinstance(first, tuple | str):
        _bands(ax, found.values, _names(found), first=1)
        said = "Forecast of the states"
    elif not isinstance(first, Distribution):
        low, high = (ends.reshape(len(found), -1) for ends in found.interval(_LEVEL))
        mean, ahead = found.mean.reshape(len(found), -1), np.arange(1, len(found) + 1)
        for d in range(mean.shape[1]):
            color = lines(ax)[d % len(lines(ax))]
            ax.fill_between(ahead, low[:, d], high[:, d], color=BAR, alpha=0.35, linewidth=0)
            ax.plot(ahead, mean[:, d], color=color, marker="o", markersize=3.5)
        ax.set_ylabel("observation")
        said = f"Forecast: means, and {_LEVEL:.0%} of the probability"
    else:
        states = first.variables[0].states
        _bands(ax, found.observations, [shortened(state, 16) for state in states], first=1)
        said = "Forecast of the observations"
    ax.set_xlabel("steps ahead")
    paper.entitle(ax, said)
    return ax


_KINDS: dict[type, Callable[[Any, Paper], Axes]] = {
    StateBeliefs: _beliefs,
    ChainBeliefs: _chain_beliefs,
    StatePath: _path,
    SampledSequence: _sample,
    SampledSeries: _series,
    SequenceForecast: _forecast,
    NetworkBeliefs: network_beliefs,
    NetworkCourse: network_course,
    SampledSteps: sampled_steps,
}


def fit(
    found: FitReport, ax: Axes | None = None, *, figsize: Size | None = None, title: str | None = None
) -> Axes:
    """Draw the log-likelihood over the iterations, the start that was kept in front.

    >>> fit(FitReport((-10.0, -8.0, -7.5), "tol")).get_ylabel()
    'log-likelihood'
    """
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(5.2, 3.0)
        others = [logs for logs in found.starts if logs != found.log_likelihoods]
        for logs in others:
            ax.plot(np.arange(len(logs)), logs, color=SOFT, linestyle=DASHES[1], linewidth=1.2)
        logs = found.log_likelihoods
        marker = "o" if len(logs) <= 40 else ""
        ax.plot(np.arange(len(logs)), logs, color=lines(ax)[0], marker=marker, markersize=3.5)
        ax.set_xlabel("iteration")
        ax.set_ylabel("log-likelihood")
        count_along(ax)
        said = "converged" if found.converged else f"stopped by {found.stopped_by}"
        starts = f", best of {len(found.starts)} starts" if len(found.starts) > 1 else ""
        paper.entitle(ax, f"{found.log_likelihood:.6g} after {found.iterations} iterations{starts}", said)
        tidy(ax)
        return ax


def selection(
    numbers: list[int],
    values: list[float],
    best: int,
    name: str,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
    word: str = "states",
) -> Axes:
    """Draw a score over the number of states, or whatever the word is, the best marked.

    >>> selection([1, 2, 3], [30.0, 20.0, 25.0], 2, "BIC").get_xlabel()
    'states'
    """
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(5.2, 3.0)
        ax.plot(numbers, values, color=lines(ax)[0], marker="o", markersize=3.5)
        ax.plot(
            [best], [values[numbers.index(best)]], "o", color=lines(ax)[1], markersize=9, fillstyle="none"
        )
        ax.set_xlabel(word)
        ax.set_ylabel(name)
        count_along(ax)
        paper.entitle(ax, f"{best} {word}", name)
        tidy(ax)
        return ax
