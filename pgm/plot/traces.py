"""How an answer was reached: chains of samples, messages that converge, bounds that close."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from pgm.errors import InvalidArgument
from pgm.results import Course, Report

from .canvas import (
    BAR,
    DASHES,
    SOFT,
    STATES,
    Paper,
    Size,
    count_along,
    ink,
    lines,
    plain,
    shortened,
    tidy,
)

_MOST_CHAINS = 8
_MOST_VARIABLES = 6
_THIN = 1_500  # points of a line, however long the run
_EARLIEST = 0.01  # of a chain: before that its share is too noisy


def report(
    found: Report,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw what was recorded during the run: chains, bounds, or how much messages changed.

    >>> report(Report("loopy", exact=False, residuals=(1.0, 0.1, 0.01))).get_ylabel()
    'largest change of a message'
    """
    with Paper(ax, figsize, title) as paper:
        return _report(found, paper)


def _report(found: Report, paper: Paper) -> Axes:
    said = [found.engine if found.exact else f"approximate: {found.engine}"]
    if found.chains:
        ax = _chains(found.chains, paper)
    elif found.course is not None and found.course.at:
        ax = _course(found.course, paper)
    elif found.residuals:
        ax = _residuals(found.residuals, paper)
    else:
        raise InvalidArgument(
            f'Nothing was recorded during the run for this answer of engine="{found.engine}". Messages, '
            "mean fields and searches are; chains with pgm.engines.Gibbs(trace=[name])."
        )
    if not found.converged:
        said[0] += ", not converged"
    if found.chains and found.r_hat is not None:
        said.append(f"R-hat {found.r_hat:.3f} at most")
    paper.entitle(ax, *said)
    tidy(ax)
    return ax


def _residuals(residuals: tuple[float, ...], paper: Paper) -> Axes:
    ax = paper.axes(5.2, 3.0)
    changes, color = np.array(residuals), lines(ax)[0]
    at = np.arange(1, changes.size + 1)
    marker = "o" if changes.size <= 40 else ""
    positive = changes > 0.0
    ax.plot(at[positive], changes[positive], color=color, marker=marker, markersize=3.5)
    if positive.any():
        ax.set_yscale("log")
    for x in at[~positive][:20]:  # no change at all: cannot be shown on a log scale
        ax.annotate("0", (x, 0.0), xycoords=("data", "axes fraction"), ha="center", color=color)
    ax.set_xlabel("iteration")
    ax.set_ylabel("largest change of a message")
    count_along(ax)
    return ax


def _course(course: Course, paper: Paper) -> Axes:
    """The lower and upper bound on the answer over time; the gap between is shaded."""
    ax = paper.axes(5.2, 3.0)
    at, least, most = (np.array(part) for part in (course.at, course.least, course.most))
    low, high = np.isfinite(least), np.isfinite(most)
    step = "steps-post" if course.unit == "seconds" else "default"
    if (both := low & high).any():
        where: Literal["post"] | None = "post" if course.unit == "seconds" else None
        ax.fill_between(at[both], least[both], most[both], step=where, color=BAR, alpha=0.35, linewidth=0)
    for values, kept, color, dash, name in (
        (most, high, lines(ax)[1], DASHES[1], "at most"),
        (least, low, lines(ax)[0], DASHES[0], "at least"),
    ):
        if kept.any():
            marker = "o" if kept.sum() <= 40 else ""
            line: dict[str, Any] = {
                "color": color,
                "linestyle": dash,
                "drawstyle": step,
                "marker": marker,
                "markersize": 3,
            }
            ax.plot(at[kept], values[kept], label=name, **line)
    ax.legend(frameon=False, labelcolor=ink(ax))
    ax.set_xlabel(course.unit)
    what = "of the sum" if course.unit == "iterations" else "of P(states, given)"
    ax.set_ylabel(f"logarithm {what}")
    if course.unit == "iterations":
        count_along(ax)
    return ax


def _chains(chains: Mapping[str, np.ndarray], paper: Paper) -> Axes:
    """A band for each variable: the states of each chain in colours, and the running share of one state.

    Chains that have converged look alike, and reach the same share.
    """
    names = list(chains)[:_MOST_VARIABLES]
    bands = len(names)
    ax = paper.axes(7.0, 0.9 + 1.9 * bands)
    ticks: list[tuple[float, str]] = []
    draws = 1
    for band, name in enumerate(names):
        states = np.asarray(chains[name])[:_MOST_CHAINS]
        draws = max(draws, states.shape[1])
        ticks += _band(ax, states, float(bands - 1 - band), shortened(name))
    dropped = len(chains) - bands
    ax.set_yticks([y for y, _ in ticks], [plain(text) for _, text in ticks])
    ax.set_xlim(0.0, draws)
    ax.set_ylim(-0.05, bands)
    left = f"; {dropped:,} more variables are not shown" if dropped else ""
    ax.set_xlabel(f"draw of each chain{left}")
    shown = np.asarray(chains[names[0]])
    if len(shown) > 1:
        ax.legend(
            *(zip(*_key(ax, min(len(shown), _MOST_CHAINS)), strict=True)),
            loc="upper left",
            bbox_to_anchor=(1.0, 1.0),
            frameon=False,
            labelcolor=ink(ax),
            fontsize=9,
        )
    return ax


def _key(ax: Axes, n: int) -> list[tuple[object, str]]:
    drawn = [ax.plot([], [], **_style(ax, chain))[0] for chain in range(n)]
    return [(line, f"chain {chain + 1}") for chain, line in enumerate(drawn)]


def _style(ax: Axes, chain: int) -> dict[str, Any]:
    colors = lines(ax)
    n = len(colors)
    return {"color": colors[chain % n], "linestyle": DASHES[(chain + chain // n) % n], "linewidth": 1.3}


def _band(ax: Axes, states: np.ndarray, base: float, name: str) -> list[tuple[float, str]]:
    """Draw one variable between base and base + 0.95; return the ticks that its shares need."""
    draws = states.shape[1]
    counts = np.bincount(np.ravel(states))
    target = 1 if counts.size <= 2 else int(counts.argmax())
    low, high = base + 0.36, base + 0.82
    for y in (low, high):
        ax.axhline(y, color=SOFT, linewidth=0.8)
    said = f"{name}: the states, and the share of state number {target} so far"
    ax.text(0.0, high + 0.02, plain(said), color=ink(ax), fontsize=9, va="bottom")
    colors = np.array([to_rgb(color) for color in STATES])
    some = states[:, _thinned(0, draws - 1)]
    extent = (0.0, float(draws), base, base + 0.3)
    ax.imshow(colors[some % len(STATES)], aspect="auto", extent=extent, interpolation="nearest")
    for y in np.linspace(base, base + 0.3, len(states) + 1)[1:-1]:
        ax.axhline(y, color="white", linewidth=1.0)
    first = max(1, math.ceil(_EARLIEST * draws))
    kept = _thinned(first, draws)
    for chain, row in enumerate(states):
        shares = np.cumsum(row == target)[kept - 1] / kept
        ax.plot(kept, low + (high - low) * shares, **_style(ax, chain))
    return [(low, "0"), ((low + high) / 2, "½"), (high, "1")]


def _thinned(first: int, last: int) -> np.ndarray:
    return np.unique(np.linspace(first, last, min(_THIN, last - first + 1)).round().astype(int))
