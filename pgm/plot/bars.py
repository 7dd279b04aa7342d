"""Probabilities as pictures: bars for states, a heat map for two variables, a list of explanations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice, product
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from pgm.printing import joined
from pgm.results import Density, Distribution, MaxMarginals, RankedAssignments, condition

from .canvas import BAR, EDGE, Paper, Size, beside, ink, plain, readable_on, shortened, text_width, tidy
from .curves import density

MOST_BARS = 40  # a joint with more entries shows the largest of them
MOST_LABELS = 30  # a variable with more states is drawn as a profile, with few labels
MOST_CELLS = 1_000  # states of a variable in a map
_MOST_STATES = 60  # bars of max-marginals
_NUMBERS = 12  # states of a variable in a map whose cells show their probabilities
_ERRORS: dict[str, Any] = {"elinewidth": 1.0, "capsize": 2.5}


def distribution(
    dist: Distribution | Density,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw a distribution: bars for one variable, a map for two, the largest entries for more.

    Where the answer is approximate and its errors are known, the bars show their intervals.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("rain", 0.2)
    >>> distribution(net.query("rain")).get_title()
    'P(rain)'
    """
    with Paper(ax, figsize, title) as paper:
        return draw_distribution(dist, paper)


def draw_distribution(dist: Distribution | Density, paper: Paper) -> Axes:
    """Draw the distribution here."""
    if isinstance(dist, Density):
        return density(dist, paper)
    values = np.asarray(dist.values)
    lines = [dist.title]
    if len(dist.variables) == 2 and min(values.shape) > 1 and max(values.shape) <= MOST_CELLS:
        ax = _map(dist, values, paper)
    elif len(dist.variables) == 1 and values.size > MOST_LABELS:
        ax = _profile(dist, values, paper)
    else:
        if values.size > MOST_BARS:
            lines.append(f"the {MOST_BARS} largest of {values.size:,} entries")
        ax = _entries(dist, values, paper)
    if not dist.exact:
        lines.append(f"approximate: {dist.engine}")
    paper.entitle(ax, *lines)
    return ax


def ranked_assignments(
    best: RankedAssignments,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the probability of each of several explanations next to the states in which they differ."""
    with Paper(ax, figsize, title) as paper:
        return _ranked_assignments(best, paper)


def _ranked_assignments(best: RankedAssignments, paper: Paper) -> Axes:
    names = best.differing()
    shown = best[:MOST_BARS]
    labels = [
        ", ".join(f"{shortened(name, 14)}={shortened(one[name], 14)}" for name in names[:4])
        + (f", … ({len(names):,})" if len(names) > 4 else "")
        for one in shown
    ]
    known = all(one.is_normalised for one in shown)
    logs = np.array([one.log_probability if known else one.log_joint for one in shown])
    top = float(logs.max(initial=-math.inf))
    absolute = known and top > -600
    heights = np.exp(logs - (0.0 if absolute or not shown else top))
    ax = _horizontal(labels, heights, paper)
    given = condition(best[0].given) if best else ""
    after = f" given {given}" if given else ""
    head = f"the {len(shown)} most probable explanations{after}" if shown else "no states are possible"
    lines = [head] if absolute or not shown else [head, f"relative to the first, log {top:.6g}"]
    if shown and not shown[0].exact:
        lines.append(f"approximate: {shown[0].engine}")
    paper.entitle(ax, *lines)
    return ax


def ranked(
    labels: Sequence[str],
    values: Sequence[float],
    ax: Axes | None = None,
    *,
    xlabel: str = "",
    head: str = "",
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw non-negative values as bars, each with its name."""
    with Paper(ax, figsize, title) as paper:
        ax = _horizontal([shortened(label) for label in labels], np.array(values, dtype=float), paper)
        ax.set_xlabel(xlabel)
        paper.entitle(ax, head)
        return ax


def max_marginals(
    found: MaxMarginals,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the max-marginals: how probable the best assignment with each state is, relative to the best."""
    with Paper(ax, figsize, title) as paper:
        return _max_marginals(found, paper)


def _max_marginals(found: MaxMarginals, paper: Paper) -> Axes:
    states = [(name, i) for name in islice(found, MOST_BARS) for i in range(found.log_values(name).size)]
    variables = dict(zip(found, found.variables, strict=True))
    labels = [f"{shortened(name, 24)}={shortened(variables[name].states[i], 24)}" for name, i in states]
    logs = np.array([found.log_values(name)[i] for name, i in states])
    top = float(logs.max(initial=-math.inf))
    given = f" given {condition(found.given)}" if found.given else ""
    more = len(found) - MOST_BARS
    ax = _horizontal(labels[:_MOST_STATES], np.exp(logs[:_MOST_STATES] - top) if states else logs, paper)
    lines = [f"the best with each state{given}", f"relative to the best, log {top:.6g}"]
    if more > 0 or len(states) > _MOST_STATES:
        lines.append(f"the first of {len(found):,} variables")
    paper.entitle(ax, *lines)
    return ax


def _entries(dist: Distribution, values: np.ndarray, paper: Paper) -> Axes:
    shown = np.arange(values.size)
    if values.size > MOST_BARS:
        shown = np.sort(np.argsort(-values, axis=None, kind="stable")[:MOST_BARS])
    codes = zip(*np.unravel_index(shown, values.shape), strict=True)
    most = 24 if len(dist.variables) == 1 else 14
    labels = [
        joined(
            (shortened(v.states[c], most) for v, c in zip(dist.variables, code, strict=True)), len(code), 60
        )
        for code in codes
    ]
    ends = dist.report.intervals
    between = None if ends is None else (np.ravel(ends.low)[shown], np.ravel(ends.high)[shown])
    return _horizontal(labels, values.reshape(-1)[shown], paper, between)


def _horizontal(
    labels: Sequence[str],
    heights: np.ndarray,
    paper: Paper,
    between: tuple[np.ndarray, np.ndarray] | None = None,
) -> Axes:
    """Horizontal bars, each with its label on the left and its value on the right."""
    room = max((text_width(label, 10) for label in labels), default=0.0) / 72
    ax = paper.axes(4.2 + room, 0.9 + 0.3 * max(len(labels), 2))
    rows = np.arange(len(labels))
    errors, ends = None, heights
    if between is not None:
        errors = np.maximum(np.stack([heights - between[0], between[1] - heights]), 0.0)
        ends = np.maximum(heights, between[1])
    ax.barh(
        rows,
        heights,
        0.7,
        color=BAR,
        edgecolor=EDGE,
        linewidth=0.8,
        xerr=errors,
        error_kw=_ERRORS | {"ecolor": ink(ax)},
    )
    for row, height, end in zip(rows, heights, ends, strict=True):
        beside(ax, float(end), float(row), f"{height:.4g}")
    ax.set_yticks(rows, [plain(label) for label in labels])
    ax.set_ylim(max(len(labels), 1) - 0.4, -0.6)
    # Space for the values after the bars; at least the smallest double.
    ax.set_xlim(0, max(float(ends.max(initial=0.0)) * 1.2, 1e-300))
    ax.locator_params(axis="x", nbins=5)
    tidy(ax)
    return ax


def _profile(dist: Distribution, values: np.ndarray, paper: Paper) -> Axes:
    """The states in a row, too many to label each; one artist, however many."""
    ax = paper.axes(6.4, 3.4)
    edges = np.repeat(np.arange(values.size + 1) - 0.5, 2)[1:-1]
    ax.fill_between(edges, np.repeat(values, 2), facecolor=BAR, edgecolor=EDGE, linewidth=0.8)
    top, ends = float(values.max()), dist.report.intervals
    if ends is not None:
        low, high = np.repeat(ends.low, 2), np.repeat(ends.high, 2)
        ax.fill_between(edges, low, high, facecolor=ink(ax), alpha=0.25, linewidth=0)
        top = max(top, float(ends.high.max()))
    few = _few(values.size, 9)
    labels = [shortened(dist.variables[0].states[i], 18) for i in few]
    slanted = max(text_width(label, 10) for label in labels) > 44
    ax.set_xticks(few, [plain(label) for label in labels], rotation=90 if slanted else 0)
    ax.set_xlim(-0.5, values.size - 0.5)
    ax.set_ylim(0, max(top * 1.1, 1e-300))
    tidy(ax)
    return ax


def _few(size: int, most: int) -> np.ndarray:
    """At most this many positions out of all, evenly spaced."""
    return np.unique(np.linspace(0, size - 1, min(size, most)).round().astype(int))


def _map(dist: Distribution, values: np.ndarray, paper: Paper) -> Axes:
    """Two variables: a cell for each pair of states, with its probability if there are few."""
    down, across = dist.variables
    numbers = max(values.shape) <= _NUMBERS
    ticks = [_few(v.card, _NUMBERS if v.card > MOST_LABELS else v.card) for v in (down, across)]
    labels = [
        [plain(shortened(v.states[i], 20)) for i in at] for v, at in zip((down, across), ticks, strict=True)
    ]
    cells = [0.42, 0.62] if numbers else [max(0.24, 2.0 / values.shape[0]), max(0.24, 2.4 / values.shape[1])]
    rooms = [max(text_width(label, 10) for label in those) / 72 for those in labels]
    upright = rooms[1] + 0.1 > cells[1] * across.card / max(len(ticks[1]), 1)
    wide, high = min(cells[1] * across.card, 7.2), min(cells[0] * down.card, 7.2)
    ax = paper.axes(1.4 + rooms[0] + wide + (0.0 if numbers else 0.9), 1.2 + high + upright * rooms[1])
    top = max(float(values.max()), 1e-300)
    image = ax.imshow(values, cmap="Blues", vmin=0.0, vmax=top * 1.15, aspect="auto", interpolation="nearest")
    if numbers:
        for i, j in product(range(down.card), range(across.card)):
            color = readable_on(np.asarray(image.cmap(image.norm(values[i, j]))))
            ax.text(j, i, f"{values[i, j]:.3g}", ha="center", va="center", fontsize=9, color=color)
    elif (figure := ax.get_figure()) is not None:
        figure.colorbar(image, ax=ax, shrink=0.8).outline.set_visible(False)
    ax.set_yticks(ticks[0], labels[0])
    ax.set_xticks(ticks[1], labels[1], rotation=90 if upright else 0)
    ax.set_ylabel(plain(shortened(down.name)))
    ax.set_xlabel(plain(shortened(across.name)))
    ax.tick_params(length=0)
    ax.grid(visible=False)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax
