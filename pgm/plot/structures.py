"""A structure that was learned: its arrows as wide as they are sure, and how the score grew."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from pgm.graphs.layout import Link

from .canvas import EDGE, LINE, Paper, Picture, Size, count_along, lines, tidy
from .drawing import Box, Sketch, Stroke, draw, refuse_many
from .networks import KINDS, named

if TYPE_CHECKING:
    from pgm.models.learned import LearnedStructure

_THIN, _WIDEST = 0.6, 4.0  # points, of an arrow that was never found again, and of one that always was
_WIDTH, _LEAST_HEIGHT = 3.4, 2.6  # inches of the trace


def structure(
    found: LearnedStructure,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the network; where there are no axes yet and there is a trace, that beside it.

    >>> import pgm
    >>> rows = pgm.load_network("cancer").sample(500, seed=0)
    >>> len(structure(pgm.learn_structure(rows)).figure.axes)
    2
    """
    net = found.network
    refuse_many(len(net), 0)
    paper = Paper(ax, figsize, title)
    sketch = KINDS["network"](net, partial(named, net))
    if found.confidence is not None:
        sketch = _by_confidence(sketch, found)
    head = net.name
    if found.score is not None and found.scored_by is not None:
        head = f"{head}: " * bool(head) + f"{found.scored_by.name} {found.score:,.2f}"
    with paper:
        drawn = draw(sketch, paper, head)
        if ax is None and len(found.trace) > 1 and isinstance(drawn, Picture):
            _trace(drawn, found, grown=figsize is None)
    return drawn


def _by_confidence(sketch: Sketch, found: LearnedStructure) -> Sketch:
    assert found.confidence is not None
    head = sketch.usual.head
    strokes: dict[Link, Stroke] = {}
    for link in sketch.links:
        a, b = str(link[0]), str(link[1])  # an edge either way counts half for each
        share = found.confidence.get((a, b), 0.0) + found.confidence.get((b, a), 0.0)
        color = EDGE if share >= 0.5 else LINE
        strokes[link] = Stroke(color, _THIN + (_WIDEST - _THIN) * share, head=head)
    key: list[tuple[str, Stroke | Box]] = [
        (
            f"found in all of {found.samples:,} samples" if found.samples else "confidence 1",
            Stroke(EDGE, _WIDEST),
        ),
        ("in half of them" if found.samples else "confidence 0.5", Stroke(EDGE, (_THIN + _WIDEST) / 2)),
        ("in less" if found.samples else "less", Stroke(LINE, _THIN + 0.5)),
    ]
    return replace(sketch, strokes=strokes, key=key)


def _trace(drawn: Picture, found: LearnedStructure, *, grown: bool) -> None:
    """The score after each step, to the right of the network."""
    figure = drawn.get_figure(root=True)
    assert figure is not None
    width, height = figure.get_size_inches()
    whole, tall = width, height
    if grown:
        whole, tall = width + _WIDTH, max(height, _LEAST_HEIGHT)
        figure.set_size_inches(whole, tall)
        part = width / whole
    else:
        part = 0.65
    left, low, right, top = drawn.get_position(original=True).extents
    if tall > height:  # keep the network's size, at the top
        low, top = 1.0 - (1.0 - low) * height / tall, 1.0 - (1.0 - top) * height / tall
    drawn.set_position((left * part, low, (right - left) * part, top - low))
    margin = 0.75 / whole
    ax = figure.add_axes((part + margin, 0.55 / tall, 1.0 - part - margin - 0.15 / whole, 1.0 - 1.0 / tall))
    scores = np.array(found.trace.scores)
    ax.plot(np.arange(scores.size), scores, color=lines(ax)[0], linewidth=1.5)
    best = int(scores.argmax())
    ax.plot([best], [scores[best]], "o", color=lines(ax)[0], markersize=4)
    again = [i for i, step in enumerate(found.trace) if step.move == "restart"]
    for i in again:
        ax.axvline(i, color=LINE, linewidth=0.6, linestyle=":")
    ax.set_xlabel("step", fontsize=9)
    ax.set_title("score", fontsize=9)
    ax.tick_params(labelsize=8)
    ax.ticklabel_format(axis="y", useOffset=False, style="plain")
    ax.margins(x=0.02)
    count_along(ax)
    tidy(ax)
