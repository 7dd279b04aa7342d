"""Answers about many variables, one line each: marginals, an explanation, samples; or an image."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import ListedColormap, to_rgb
from matplotlib.patches import Patch

from pgm.errors import InvalidArgument
from pgm.results import Assignment, Density, Distribution, Marginals, MixedAssignment, Samples, condition
from pgm.variables import Continuous, Variable

from .bars import draw_distribution
from .canvas import (
    BAR,
    EDGE,
    FILL,
    INK,
    SOFT,
    STATES,
    Paper,
    Size,
    Text,
    bare,
    ink,
    plain,
    readable_on,
    shortened,
    text_width,
    tidy,
    write,
)

MOST_ROWS = 2_000  # variables in one picture
_MOST_SHADES = 12
_NUMBERS = 30  # distinct values; more are drawn as a histogram
_COLUMN = 50  # rows before the table of marginals starts a new column


def marginals(
    answers: Marginals,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw one line for each variable, divided among its states; fast for a thousand variables.

    Where intervals are known, each line ends with the half width of the widest.
    """
    head = f"marginals given {condition(answers.given)}" if answers.given else "marginals"
    said = head if answers.exact else f"{head}\napproximate: {answers.report.engine}"
    with Paper(ax, figsize, title) as paper:
        return _stacked(answers, paper, said)


def _stacked(answers: Mapping[str, Distribution | Density], paper: Paper, said: str) -> Axes:
    names = list(answers)
    _refuse_many(len(names))
    size = 9.0
    shown = [shortened(name) for name in names]
    room = max((text_width(name, size) for name in shown), default=0.0) / 72 + 0.1
    columns = -(-len(names) // _COLUMN) or 1
    rows = -(-len(names) // columns)
    inch = 1 / 2.6  # a bar is one data unit and 2.6 inches long
    gap = 0.9 if any(p.report.intervals is not None for p in answers.values()) else 0.3
    ax = paper.axes(columns * (2.6 + room + gap), 0.7 + 0.27 * max(rows, 2))
    around = ink(ax)
    pieces: list[list[tuple[float, float]]] = []
    colors: list[str] = []
    texts: list[Text] = []
    for i, name in enumerate(names):
        dist = answers[name]
        left = (i // rows) * (1 + (room + gap) * inch)
        row = i % rows
        texts.append(Text(left - 0.08 * inch, row, shown[i], "right", size, around))
        if isinstance(dist, Density):
            texts.append(Text(left + 0.02, row, f"{dist.mean:.4g} ± {dist.std:.2g}", "left", color=around))
            continue
        if (ends := dist.report.intervals) is not None:
            off = f"± {float((ends.high - ends.low).max()) / 2:.2g}"
            texts.append(Text(left + 1.02, row, off, "left", color=around))
        edges = left + np.concatenate(([0.0], np.cumsum(np.asarray(dist.values))))
        for k, state in enumerate(dist.variables[0].states):
            lo, hi = float(edges[k]), float(edges[k + 1])
            if hi - lo < 1e-3:
                continue
            pieces.append([(lo, row - 0.38), (hi, row - 0.38), (hi, row + 0.38), (lo, row + 0.38)])
            colors.append(STATES[k % len(STATES)])
            texts += _inside(lo, hi, row, shortened(state), f"{dist.values[k]:.2f}", k, 72 / inch)
    if pieces:
        ax.add_collection(PolyCollection(pieces, facecolors=colors, edgecolors="white", linewidths=0.8))
    ax.set_xlim(-room * inch, (columns - 1) * (1 + (room + gap) * inch) + 1.02 + (gap - 0.3) * inch)
    ax.set_ylim(max(rows, 1) - 0.4, -0.6)
    write(ax, texts)
    bare(ax)
    if not names:
        ax.text(0.5, 0.0, "every variable is observed", ha="center", va="center", color=around)
        ax.set_xlim(0.0, 1.0)
    paper.entitle(ax, *said.split("\n"))
    return ax


def _inside(lo: float, hi: float, row: float, state: str, share: str, k: int, points: float) -> list[Text]:
    """The label of a bar segment, with as much text as fits."""
    for text in (f"{state} {share}", state):
        if text_width(text, 7.5) + 5 < (hi - lo) * points:
            color = readable_on(to_rgb(STATES[k % len(STATES)]))
            return [Text((lo + hi) / 2, row, text, "center", color=color)]
    return []


def assignment(
    best: Assignment,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw an explanation: an image if the variables are its pixels, else a table of names and states."""
    with Paper(ax, figsize, title) as paper:
        return _assignment(best, paper)


def _assignment(best: Assignment, paper: Paper) -> Axes:
    names = list(best)
    pixels = _pixels(names)
    if pixels is None:
        ax = _table({name: best[name] for name in names}, paper)
    else:
        ax = _image(best, pixels, paper)
    lines = [_how_probable(best)]
    if best.given:
        lines[0] += f" given {condition(best.given)}"
    if not best.exact:
        lines.append(f"approximate: {best.engine}")
    paper.entitle(ax, *lines)
    return ax


def _how_probable(best: Assignment) -> str:
    if isinstance(best, MixedAssignment):
        return f"log density {best.log_joint:.6g}"
    if not best.is_normalised:
        return f"log joint {best.log_joint:.6g}"
    log = best.log_probability
    return f"P = {math.exp(log):.4g}" if log > -600 else f"log P = {log:.6g}"


def _pixels(names: list[str]) -> tuple[str, int, int] | None:
    """Return the prefix and shape of the image that these names cover completely, or None."""
    found = [re.fullmatch(r"(.+)\[(\d{1,9}),(\d{1,9})\]", name) for name in names]
    cells = [(int(m[2]), int(m[3])) for m in found if m is not None]
    prefixes = {m[1] for m in found if m is not None}
    if len(cells) < 4 or len(cells) != len(names) or len(prefixes) != 1:
        return None
    height, width = (1 + max(cell[k] for cell in cells) for k in (0, 1))
    return (prefixes.pop(), height, width) if height * width == len(cells) else None


def _image(best: Assignment, pixels: tuple[str, int, int], paper: Paper) -> Axes:
    prefix, height, width = pixels
    array = best.to_array(prefix)
    states, codes = np.unique(array.astype(str), return_inverse=True)
    scale = 6.0 / max(height, width, 1)
    ax = paper.axes(max(width * scale, 2.0), max(height * scale, 1.0) + 0.7)
    shades = np.linspace(0.95, 0.15, max(len(states), 2))
    greys = ListedColormap([(g, g, g) for g in shades.tolist()])
    last = max(len(states) - 1, 1)
    ax.imshow(codes.reshape(height, width), cmap=greys, vmin=0, vmax=last, interpolation="nearest")
    bare(ax)
    if len(states) <= _MOST_SHADES:
        keys = [
            Patch(facecolor=greys(i), edgecolor=SOFT, label=plain(shortened(state)))
            for i, state in enumerate(states)
        ]
        ax.legend(
            handles=keys,
            loc="upper center",
            bbox_to_anchor=(0.5, -0.01),
            ncols=min(len(states), 6),
            frameon=False,
            labelcolor=ink(ax),
            fontsize=9,
        )
    return ax


def _table(states: Mapping[str, object], paper: Paper) -> Axes:
    _refuse_many(len(states))
    size = 10.0
    rows = [(shortened(name), shortened(state)) for name, state in states.items()]
    left = max((text_width(name, size) for name, _ in rows), default=0.0)
    right = max((text_width(state, size) for _, state in rows), default=0.0)
    columns = -(-len(rows) // _COLUMN) or 1
    deep = max(-(-len(rows) // columns), 1)
    step = left + right + 40
    ax = paper.axes(max(columns * step / 72, 1.5), 0.5 + 0.25 * deep)
    for i, (name, state) in enumerate(rows):
        column, row = divmod(i, deep)
        x = column * step + left
        ax.text(x, row, plain(name), ha="right", va="center", fontsize=size, color=ink(ax))
        ax.text(
            x + 14,
            row,
            plain(state),
            ha="left",
            va="center",
            fontsize=size,
            color=INK,
            bbox={"boxstyle": "round,pad=0.25", "facecolor": FILL, "edgecolor": EDGE, "linewidth": 0.8},
        )
    ax.set_xlim(-8, columns * step)
    ax.set_ylim(deep - 0.4, -0.6)
    bare(ax)
    return ax


def samples(
    drawn: Samples,
    name: str | None = None,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the shares of the states of every variable, or of one: bars, or a histogram of values.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("rain", 0.2)
    >>> samples(net.sample(100, seed=0), "rain").get_title()
    'rain: 100 samples'
    """
    with Paper(ax, figsize, title) as paper:
        return _samples(drawn, name, paper)


def _samples(drawn: Samples, name: str | None, paper: Paper) -> Axes:
    after = f" given {condition(drawn.given)}" if drawn.given else ""
    said = f"{drawn.n_rows:,} samples{after}"
    lines = [said if name is None else f"{name}: {said}"]
    if not drawn.exact:
        lines.append(f"approximate: {drawn.engine}")
    if name is None:
        _refuse_many(len(drawn))
        return _stacked({each: _shares(each, drawn[each]) for each in drawn}, paper, "\n".join(lines))
    column = drawn[name]
    if _has_numbers(column):
        ax = paper.axes(4.6, 2.8)
        ax.hist(
            column, bins=min(60, max(10, round(len(column) ** 0.5))), color=BAR, edgecolor=EDGE, linewidth=0.6
        )
        ax.set_ylabel("samples")
        ax.set_xlabel(plain(shortened(name)))
        tidy(ax)
    else:
        ax = draw_distribution(_shares(name, column), paper)
    paper.entitle(ax, *lines)
    return ax


def _has_numbers(column: np.ndarray) -> bool:
    return column.dtype.kind == "f" and len(np.unique(column)) > _NUMBERS


def _shares(name: str, column: np.ndarray) -> Distribution | Density:
    """The share of each state in the samples; mean and variance of a continuous variable."""
    if not len(column):
        return Distribution((Variable(name, ["(no samples)"]),), np.zeros(1))
    if _has_numbers(column):
        mean, variance = np.array([[column.mean()]]), np.array([[[column.var()]]])
        return Density((Variable(name, Continuous()),), np.ones(1), mean, variance)
    texts = column.astype(str) if column.dtype == object else column
    states, counts = np.unique(texts, return_counts=True)
    return Distribution((Variable(name, states.tolist()),), counts / len(column))


def _refuse_many(n: int) -> None:
    if n > MOST_ROWS:
        raise InvalidArgument(
            f"{n:,} variables are too many for one picture (the most is {MOST_ROWS:,}); "
            "draw those of interest."
        )
