"""Several sequences in one picture: a strip of states for each, or a line."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from pgm.errors import InvalidArgument
from pgm.results import PerSequence, SampledSequence, SampledSeries, SequenceForecast, StateBeliefs, StatePath
from pgm.results.gaussian_path import StatesOverTime

from .canvas import DASHES, STATES, Paper, Size, key_beside, lines, plain, shortened, tidy

_MOST_STRIPS = 40
_MOST_LINES = 12


def several(
    found: PerSequence[Any],
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the answers about several sequences: states as strips of colour, continuous values as lines.

    >>> import pgm
    >>> coin = pgm.HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], pgm.Categorical([[0.5, 0.5], [0.9, 0.1]]))
    >>> several(coin.smooth([[0, 0, 1], [1]])).get_xlabel()
    'step'
    """
    first = found[found.ids[0]]
    with Paper(ax, figsize, title) as paper:
        if isinstance(first, StateBeliefs | StatePath | SampledSequence | SequenceForecast):
            made = _strips(found, paper)
        elif isinstance(first, StatesOverTime | SampledSeries):
            made = _lines(found, paper)
        else:
            raise InvalidArgument(
                f"There is no picture of several {type(first).__name__}: draw one of them, found[0].plot()."
            )
        tidy(made)
        made.grid(visible=False)
        return made


def _strips(found: PerSequence[Any], paper: Paper) -> Axes:
    """A row for each sequence, in the colours of its states, mixed as these are probable."""
    some = list(zip(found.ids, found, strict=True))[:_MOST_STRIPS]
    longest = max(len(one) for _, one in some)
    first = some[0][1]
    ahead = int(isinstance(first, SequenceForecast))
    colors = np.array([to_rgb(STATES[k % len(STATES)]) for k in range(len(first.variable.states))])
    picture = np.zeros((len(some), longest, 4))
    for row, (_, one) in enumerate(some):
        picture[row, : len(one), :3] = one.values @ colors if hasattr(one, "values") else colors[one.codes]
        picture[row, : len(one), 3] = 1.0
    ax = paper.axes(7.0, max(1.6, 0.8 + 0.24 * len(some)))
    extent = (ahead - 0.5, ahead + longest - 0.5, len(some) - 0.5, -0.5)
    ax.imshow(np.clip(picture, 0.0, 1.0), aspect="auto", interpolation="nearest", extent=extent)
    for edge in range(1, len(some)):
        ax.axhline(edge - 0.5, color=ax.get_facecolor(), linewidth=1.5)
    ax.set_yticks(range(len(some)), [plain(shortened(name, 16)) for name, _ in some])
    names = [shortened(state, 16) for state in first.variable.states][: len(STATES)]
    key_beside(ax, [Patch(color=STATES[k], label=plain(name)) for k, name in enumerate(names)])
    ax.set_xlabel("steps ahead" if ahead else "step")
    ax.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
    paper.entitle(ax, f"States of {_first(len(some), len(found))}")
    return ax


def _lines(found: PerSequence[Any], paper: Paper) -> Axes:
    """The first entry of the states of each series."""
    some = list(zip(found.ids, found, strict=True))[:_MOST_LINES]
    ax = paper.axes(7.0, 2.6)
    colors = lines(ax)
    for i, (name, one) in enumerate(some):
        values = one.states[:, 0] if isinstance(one, SampledSeries) else one.mean[:, 0]
        style = DASHES[i // len(colors) % len(DASHES)]
        color = colors[i % len(colors)]
        ax.plot(one.steps, values, style, color=color, linewidth=1.4, label=plain(shortened(name, 16)))
    ax.set_xlabel("step" if some[0][1].steps.dtype.kind == "i" else "time")
    ax.set_ylabel(plain(shortened(some[0][1].names[0], 24)))
    key_beside(ax)
    said = "State" if isinstance(some[0][1], SampledSeries) else "Mean of the state"
    paper.entitle(ax, f"{said} of {_first(len(some), len(found))}")
    return ax


def _first(shown: int, count: int) -> str:
    return f"{count:,} sequences" if shown == count else f"the first {shown} of {count:,} sequences"
