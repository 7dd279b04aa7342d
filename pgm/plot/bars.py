"""Answers as pictures: a distribution, the marginals of a whole model, a most probable explanation."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from itertools import product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import ListedColormap

from pgm.densities import Density
from pgm.errors import InvalidArgument
from pgm.results import Assignment, Distribution, Marginals

from .canvas import BAR, EDGE, FILL, INK, STATES, axes, bare, plain, shortened, text_width

MOST_BARS = 40  # a joint with more entries shows the largest of them
MOST_LABELS = 30  # a variable with more states is drawn as a profile, with few labels
MOST_ROWS = 2_000  # variables in one picture
_COLUMN = 50  # rows before the table of marginals starts a new column


def distribution(dist: Distribution, ax: Axes | None = None) -> Axes:
    """Draw a distribution: bars for one variable, a heat map for two, the largest entries for more.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("rain", 0.2)
    >>> distribution(net.query("rain")).get_title()
    'P(rain)'
    """
    if isinstance(dist, Density):
        return _curve(dist, ax)
    title = f"P({', '.join(shortened(v.name) for v in dist.variables)})"
    values = np.asarray(dist.values)
    if len(dist.variables) == 2 and max(values.shape) <= MOST_LABELS:
        ax = _heat(dist, values, ax)
    elif len(dist.variables) == 1 and values.size > MOST_LABELS:
        ax = _profile(dist.variables[0].states, values, ax)
    else:
        ax, title = _bars(dist, values, ax, title)
    if not dist.exact:
        title += f"\napproximate: {dist.engine}"
    ax.set_title("\n".join(map(plain, title.split("\n"))), color=INK)
    return ax


def _curve(dist: Density, ax: Axes | None) -> Axes:
    """The density of a number, over all that is not in its last thousandth on either side."""
    lo, hi = dist.quantile([0.0005, 0.9995])
    ax = axes(ax, 4.2, 2.4)
    if lo < hi:
        x = np.unique(
            np.concatenate([np.linspace(lo, hi, 400), dist.quantile(np.linspace(0.001, 0.999, 400))])
        )
        y = dist.pdf(x)
        finite = np.isfinite(y)
        ax.fill_between(x[finite], y[finite], color=BAR, edgecolor=EDGE, linewidth=0.8)
    else:  # without noise
        ax.axvline(lo, color=BAR)
    ax.set_ylim(bottom=0.0)
    _tidy(ax)
    ax.set_title(plain(f"p({shortened(dist.names[0])})"), color=INK)
    return ax


def _bars(dist: Distribution, values: np.ndarray, ax: Axes | None, title: str) -> tuple[Axes, str]:
    shown = np.arange(values.size)
    if values.size > MOST_BARS:
        shown = np.sort(np.argsort(-values, axis=None, kind="stable")[:MOST_BARS])
        title += f"\nthe {MOST_BARS} largest of {values.size:,} entries"
    codes = zip(*np.unravel_index(shown, values.shape), strict=True)
    labels = [
        ", ".join(shortened(v.states[c]) for v, c in zip(dist.variables, code, strict=True)) for code in codes
    ]
    heights = values.reshape(-1)[shown]
    room = max((text_width(label, 10) for label in labels), default=0.0) / 72
    ax = axes(ax, 4.2 + room, 0.9 + 0.3 * len(labels))
    rows = np.arange(len(labels))
    ax.barh(rows, heights, height=0.7, color=BAR, edgecolor=EDGE, linewidth=0.8)
    for row, height in zip(rows, heights, strict=True):
        ax.annotate(
            f"{height:.4g}",
            (height, row),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
            color=INK,
        )
    ax.set_yticks(rows, [plain(label) for label in labels])
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.set_xlim(0, max(float(heights.max(initial=0.0)) * 1.2, 1e-300))
    _tidy(ax)
    return ax, title


def _profile(states: tuple[object, ...], values: np.ndarray, ax: Axes | None) -> Axes:
    ax = axes(ax, 6.4, 3.0)
    at = np.arange(values.size)
    # One artist, however many states.
    ax.fill_between(at, values.reshape(-1), step="mid", facecolor=BAR, edgecolor=EDGE, linewidth=0.8)
    few = np.unique(np.linspace(0, values.size - 1, 9).round().astype(int))
    ax.set_xticks(few, [plain(shortened(states[i], 12)) for i in few])
    ax.set_xlim(-0.5, values.size - 0.5)
    ax.set_ylim(0, max(float(values.max()) * 1.1, 1e-300))
    _tidy(ax)
    return ax


def _heat(dist: Distribution, values: np.ndarray, ax: Axes | None) -> Axes:
    down, across = dist.variables
    labels = [[plain(shortened(s)) for s in v.states] for v in (down, across)]
    room = max(text_width(label, 10) for label in labels[0]) / 72
    cell = max(0.62, *((text_width(label, 10) + 10) / 72 for label in labels[1]))
    ax = axes(ax, 1.0 + room + cell * across.card, 1.2 + 0.42 * down.card)
    ax.imshow(values, cmap="Blues", vmin=0.0, vmax=max(float(values.max()), 1e-300) * 1.15, aspect="auto")
    for i, j in product(range(down.card), range(across.card)):
        color = "white" if values[i, j] > 0.65 * values.max() else INK
        ax.text(j, i, f"{values[i, j]:.3g}", ha="center", va="center", fontsize=9, color=color)
    ax.set_yticks(range(down.card), labels[0])
    ax.set_xticks(range(across.card), labels[1])
    ax.set_ylabel(plain(shortened(down.name)))
    ax.set_xlabel(plain(shortened(across.name)))
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def _tidy(ax: Axes) -> None:
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color("#b9c2cc")
    ax.tick_params(colors=INK, length=3)


def marginals(answers: Marginals, ax: Axes | None = None) -> Axes:
    """Draw one line for each variable, divided among its states; ready for a thousand variables."""
    names = list(answers)
    _refuse_many(len(names))
    size = 9.0
    shown = [shortened(name) for name in names]
    room = max((text_width(name, size) for name in shown), default=0.0) / 72 + 0.1
    columns = -(-len(names) // _COLUMN) or 1
    rows = -(-len(names) // columns)
    inch = 1 / 2.6  # a bar is one data unit and 2.6 inches long
    ax = axes(ax, columns * (2.6 + room + 0.3), 0.5 + 0.27 * max(rows, 1))
    pieces: list[list[tuple[float, float]]] = []
    colors: list[str] = []
    for i, name in enumerate(names):
        dist = answers[name]
        left = (i // rows) * (1 + (room + 0.3) * inch)
        row = i % rows
        ax.text(left - 0.08 * inch, row, plain(shown[i]), ha="right", va="center", fontsize=size, color=INK)
        if isinstance(dist, Density):
            text = f"{dist.mean:.4g} ± {dist.std:.2g}"
            ax.text(left + 0.02, row, text, ha="left", va="center", fontsize=7.5, color=INK)
            continue
        edges = left + np.concatenate(([0.0], np.cumsum(np.asarray(dist.values))))
        for k, state in enumerate(dist.variables[0].states):
            lo, hi = float(edges[k]), float(edges[k + 1])
            if hi - lo < 1e-3:
                continue
            pieces.append([(lo, row - 0.38), (hi, row - 0.38), (hi, row + 0.38), (lo, row + 0.38)])
            colors.append(STATES[k % len(STATES)])
            _write_inside(ax, lo, hi, row, shortened(state), f"{dist.values[k]:.2f}", k, 72 / inch)
    if pieces:
        ax.add_collection(PolyCollection(pieces, facecolors=colors, edgecolors="white", linewidths=0.8))
    ax.set_xlim(-room * inch, (columns - 1) * (1 + (room + 0.3) * inch) + 1.02)
    ax.set_ylim(max(rows, 1) - 0.4, -0.6)
    bare(ax)
    title = "marginals" if answers.exact else f"marginals, approximate: {answers.report.engine}"
    ax.set_title(title, color=INK)
    return ax


def _write_inside(
    ax: Axes, lo: float, hi: float, row: float, state: str, share: str, k: int, points: float
) -> None:
    """Label a piece of a bar with as much as fits into it."""
    for text in (f"{state} {share}", state):
        if text_width(text, 7.5) + 5 < (hi - lo) * points:
            color = "white" if k % 2 == 0 else INK  # the even colours are dark
            ax.text((lo + hi) / 2, row, plain(text), ha="center", va="center", fontsize=7.5, color=color)
            return


def assignment(best: Assignment, ax: Axes | None = None) -> Axes:
    """Draw an explanation: an image if the variables are its pixels, else a table of names and states."""
    names = list(best)
    pixels = _pixels(names)
    if pixels is None:
        ax = _table({name: best[name] for name in names}, ax)
    else:
        ax = _image(best, pixels, ax)
    log_p = best.log_probability
    title = f"P = {math.exp(log_p):.4g}" if log_p > -600 else f"log P = {log_p:.6g}"
    ax.set_title(title if best.exact else f"{title}\napproximate: {best.engine}", color=INK)
    return ax


def _pixels(names: list[str]) -> tuple[str, int, int] | None:
    """Return the prefix and shape of the image that these names cover completely, or None."""
    found = [re.fullmatch(r"(.+)\[(\d{1,9}),(\d{1,9})\]", name) for name in names]
    cells = [(int(m[2]), int(m[3])) for m in found if m is not None]
    prefixes = {m[1] for m in found if m is not None}
    if len(cells) < 4 or len(cells) != len(names) or len(prefixes) != 1:
        return None
    height, width = (1 + max(cell[k] for cell in cells) for k in (0, 1))
    return (prefixes.pop(), height, width) if height * width == len(cells) else None


def _image(best: Assignment, pixels: tuple[str, int, int], ax: Axes | None) -> Axes:
    prefix, height, width = pixels
    array = best.to_array(prefix)
    states, codes = np.unique(array.astype(str), return_inverse=True)
    scale = 6.0 / max(height, width, 1)
    ax = axes(ax, max(width * scale, 1.0), max(height * scale, 1.0) + 0.4)
    greys = ListedColormap([str(g) for g in np.linspace(0.95, 0.15, max(len(states), 2))])
    last = max(len(states) - 1, 1)
    ax.imshow(codes.reshape(height, width), cmap=greys, vmin=0, vmax=last, interpolation="nearest")
    bare(ax)
    return ax


def _table(states: Mapping[str, object], ax: Axes | None) -> Axes:
    _refuse_many(len(states))
    size = 10.0
    rows = [(shortened(name), shortened(state)) for name, state in states.items()]
    left = max((text_width(name, size) for name, _ in rows), default=0.0)
    right = max((text_width(state, size) for _, state in rows), default=0.0)
    columns = -(-len(rows) // _COLUMN) or 1
    deep = max(-(-len(rows) // columns), 1)
    step = left + right + 40
    ax = axes(ax, max(columns * step / 72, 1.5), 0.5 + 0.25 * deep)
    for i, (name, state) in enumerate(rows):
        column, row = divmod(i, deep)
        x = column * step + left
        ax.text(x, row, plain(name), ha="right", va="center", fontsize=size, color=INK)
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


def _refuse_many(n: int) -> None:
    if n > MOST_ROWS:
        raise InvalidArgument(
            f"{n:,} variables are too many for one picture (the most is {MOST_ROWS:,}); "
            "draw those of interest."
        )
