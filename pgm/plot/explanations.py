"""Why an answer is what it is, and what would tell more: a waterfall, paths, contributions, a map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex

from pgm.errors import InvalidArgument
from pgm.graphs.layout import Link
from pgm.inference.insight.explanation import AnswerExplanation
from pgm.inference.insight.informing import InformationGains
from pgm.inference.insight.surprise import Surprises
from pgm.models import BayesianNetwork
from pgm.results.base import condition

from .canvas import (
    BAR,
    EDGE,
    SEEN_BAR,
    SEEN_EDGE,
    Paper,
    Size,
    beside,
    ink,
    plain,
    shortened,
    text_width,
    tidy,
)
from .drawing import Box, Sketch, Stroke, draw, refuse_many
from .networks import KINDS, named

_SHADES = LinearSegmentedColormap.from_list("shades", ["#ffffff", "#cfe3f1", "#6fb3dc"])
_TARGET = "#f7d083"
_MOST_STEPS = 40


def waterfall(
    why: AnswerExplanation,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the log-odds of the answer as findings come in, in the order given."""
    p = np.array(why.steps)
    with np.errstate(divide="ignore"):
        odds = np.log(p) - np.log1p(-p)
    finite = odds[np.isfinite(odds)]
    far = 2.0 + float(np.abs(finite).max(initial=1.0))
    ends = np.clip(odds, -far, far)  # certain ones end at the edge, and say so
    texts = [finding.text for finding in why.values()][:_MOST_STEPS]
    labels = ["before", *texts]
    room = max(text_width(label, 10) for label in labels) / 72
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(4.6 + room, 1.4 + 0.34 * len(labels))
        for row in range(len(labels)):
            if row == 0:
                ax.plot([ends[0]], [0], "D", color=ink(ax), markersize=6)
            else:
                low, high = sorted((ends[row - 1], ends[row]))
                up = ends[row] >= ends[row - 1]
                color, edge = (BAR, EDGE) if up else (SEEN_BAR, SEEN_EDGE)
                ax.barh(row, high - low, 0.6, left=low, color=color, edgecolor=edge, linewidth=0.8)
                ax.plot([ends[row - 1]] * 2, [row - 1, row + 0.3], "-", color=ink(ax), linewidth=0.6)
            marker = 0.02 * float(np.ptp(ends))  # half a diamond
            edge_at = ends[row] + marker if row == 0 else max(ends[row - 1], ends[row])
            beside(ax, float(edge_at), float(row), f" {p[row]:.3g}")
        ax.axvline(0.0, color=ink(ax), linewidth=0.6, linestyle=":")
        ax.set_yticks(range(len(labels)), [plain(shortened(label)) for label in labels])
        ax.set_ylim(len(labels) - 0.4, -0.6)
        ax.set_xlabel("log-odds; the probability is next to each bar", fontsize=9)
        ax.use_sticky_edges = False
        ax.margins(x=0.14)
        ax.locator_params(axis="x", nbins=6)
        tidy(ax)
        paper.entitle(ax, f"{why.aim.title} = {why.after:.4g}")
        return ax


def explaining_paths(
    why: AnswerExplanation,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the paths of the findings, as wide as what passes along each; dark variables moved far."""
    arrows: dict[tuple[str, str], None] = {}
    names = dict.fromkeys([*why, why.target])
    width: dict[frozenset[str], float] = {}  # of each arrow, the most that passes along it
    for finding in why.values():
        for path, flow in finding.paths or ((finding.path, 0.0),):
            names.update(dict.fromkeys(path))
            for pair in pairwise(path):
                width[frozenset(pair)] = max(width.get(frozenset(pair), 0.0), flow)
    for tail, head in why.arrows:
        if tail in names and head in names:
            arrows[tail, head] = None
    widest = max((flow for flow in width.values() if math.isfinite(flow)), default=0.0)
    net = BayesianNetwork(edges=[pair for pair in arrows])
    refuse_many(len(net), 0)
    sketch = KINDS["network"](net, partial(named, net))
    most = max((why.moved.get(name, 0.0) for name in names), default=0.0)
    boxes = {}
    for name, box in sketch.boxes.items():
        text = str(name)
        if text in why:
            boxes[name] = replace(box, seen=True, note=condition({text: why[text].value}).partition("=")[2])
        else:
            share = why.moved.get(text, 0.0)
            face = _TARGET if text == why.target else to_hex(_SHADES(share / most if most else 0.0))
            boxes[name] = replace(box, face=face, note=f"moved {share:.2g}")
    usual = sketch.usual.head
    strokes: dict[Link, Stroke] = {
        link: Stroke("#0072B2", _along(width[frozenset(map(str, link))], widest), head=usual)
        if frozenset(map(str, link)) in width
        else Stroke("#c3cad3", 0.9, head=usual)
        for link in sketch.links
    }
    with Paper(ax, figsize, title) as paper:
        return draw(replace(sketch, boxes=boxes, strokes=strokes), paper, why.aim.title)


def _along(flow: float, widest: float) -> float:
    """How wide an arrow is."""
    return 0.9 + 4.1 * min(flow / widest, 1.0) if widest > 0.0 else 2.2


def contributions(
    labels: Sequence[str],
    values: Sequence[float],
    errors: Sequence[float],
    head: str,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw what each of several findings contributes, as bars to both sides of nothing."""
    room = max((text_width(label, 10) for label in labels), default=0.0) / 72
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(4.4 + room, 1.2 + 0.3 * max(len(labels), 2))
        for row, (value, error) in enumerate(zip(values, errors, strict=True)):
            color, edge = (BAR, EDGE) if value >= 0.0 else (SEEN_BAR, SEEN_EDGE)
            bars: dict[str, Any] = {"xerr": error, "ecolor": ink(ax), "capsize": 2.5} if error else {}
            ax.barh(row, value, 0.7, color=color, edgecolor=edge, linewidth=0.8, **bars)
            beside(ax, max(value + error, 0.0), float(row), f"{value:+.4g}")
        ax.axvline(0.0, color=ink(ax), linewidth=0.8)
        ax.set_yticks(range(len(labels)), [plain(shortened(label)) for label in labels])
        ax.set_ylim(max(len(labels), 1) - 0.4, -0.6)
        ax.use_sticky_edges = False
        ax.margins(x=0.16)
        ax.locator_params(axis="x", nbins=5)
        tidy(ax)
        paper.entitle(ax, head)
        return ax


def odd_cells(
    found: Surprises,
    count: int = 20,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the cells of the most improbable rows, the darker the less they fit the rest of their row."""
    rows = found.ranked[: max(count, 1)]
    names = list(found.cells)
    values = np.array([found.cells[name][rows] for name in names]).T.reshape(rows.size, len(names))
    finite = values[np.isfinite(values)]
    top = max(float(finite.max(initial=0.0)), 1e-9)
    shown = np.where(np.isinf(values), 1.15 * top, values)
    room = max((text_width(name, 9) for name in names), default=0.0) / 72
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(2.2 + 0.34 * len(names), 1.1 + 0.24 * rows.size + room)
        image = ax.imshow(
            np.ma.masked_invalid(shown), cmap="Blues", vmin=0.0, vmax=1.15 * top, aspect="auto",
            interpolation="nearest",
        )  # fmt: skip
        ax.set_facecolor("#e4e4e4")  # what was not observed
        ax.set_xticks(range(len(names)), [plain(shortened(n)) for n in names], rotation=90, fontsize=9)
        ax.set_yticks(range(rows.size), [str(row) for row in rows.tolist()], fontsize=9)
        ax.set_ylabel("row, the most improbable first", fontsize=9)
        ax.grid(visible=False)
        ax.tick_params(length=0)
        figure = ax.get_figure()
        if figure is not None:
            bar = figure.colorbar(image, ax=ax, shrink=0.8)
            bar.set_label("surprise, nats", fontsize=9)
        paper.entitle(ax, "which cells do not fit the rest of their row")
        return ax


def information_map(
    found: InformationGains,
    head: str,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the network, each variable the darker the more informative it is about the target."""
    if any(not isinstance(names, str) for names in found):
        raise InvalidArgument("A map shows single variables; these are sets of several: use the bars.")
    net = BayesianNetwork(edges=list(found.network))
    refuse_many(len(net), 0)
    sketch = KINDS["network"](net, partial(named, net))
    told = {str(name): value for name, value in found.items()}
    most = max(told.values(), default=0.0)
    boxes = {}
    for name, box in sketch.boxes.items():
        text = str(name)
        if text in found.target:
            boxes[name] = replace(box, face=_TARGET, note="target")
        elif text in told:
            share = told[text] / most if most else 0.0
            boxes[name] = replace(box, face=to_hex(_SHADES(share)), note=f"{told[text]:.3g} nats")
        else:
            boxes[name] = replace(box, seen=text in found.given)
    key: list[tuple[str, Stroke | Box]] = [
        (f"{most:.3g} nats", Box((), face=to_hex(_SHADES(1.0)))),
        ("nothing", Box((), face=to_hex(_SHADES(0.0)))),
    ]
    shown: Sketch = replace(sketch, boxes=boxes, key=key if math.isfinite(most) else [])
    with Paper(ax, figsize, title) as paper:
        return draw(shown, paper, head)
