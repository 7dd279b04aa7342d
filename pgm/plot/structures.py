"""Structures: one that was learned, with how sure its arrows are; a class of them; two side by side."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from pgm.graphs.equivalence import extension, topological
from pgm.graphs.layout import Link

from .canvas import EDGE, LINE, Paper, Picture, Size, count_along, lines, tidy, wrapped
from .drawing import ARROW, Box, Sketch, Stroke, draw, refuse_many
from .networks import KINDS, named
from .overlays import COMMON, EXTRA, MISSING, REVERSED

if TYPE_CHECKING:
    from pgm.graphs import CPDAG, Comparison
    from pgm.models.learned import LearnedStructure

_THIN, _WIDEST = 0.6, 4.0  # points, of an arrow that was never found again, and of one that always was
_EITHER = Stroke(EDGE, 1.6)
_WIDTH, _LEAST_HEIGHT = 3.4, 2.6  # inches of the trace


def structure(
    found: LearnedStructure,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the network; where there are no axes yet and there is a trace, that next to it.

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


def cpdag(
    graph: CPDAG, ax: Axes | None = None, *, figsize: Size | None = None, title: str | None = None
) -> Axes:
    """Draw arcs as arrows, edges that may point either way as lines without heads.

    >>> import pgm
    >>> cpdag(pgm.BayesianNetwork(edges="a -> b -> c").cpdag(), title="chain").get_title()
    'chain'
    """
    refuse_many(len(graph.nodes), len(graph.directed) + len(graph.undirected))
    rank = _ranks(graph)
    strokes: dict[Link, Stroke] = {_downwards(edge, rank): _EITHER for edge in graph.undirected}
    for arc in graph.directed:
        link = _downwards(arc, rank)
        strokes[link] = ARROW if link == arc else replace(ARROW, head="upper")
    key: list[tuple[str, Stroke | Box]] = [("either way", _EITHER)] * bool(graph.undirected)
    boxes: dict[Hashable, Box] = {name: Box(wrapped(str(name))) for name in graph.nodes}
    with Paper(ax, figsize, title) as paper:
        return draw(Sketch(boxes, list(strokes), ARROW, strokes, key=key), paper)


def comparison(
    found: Comparison, ax: Axes | None = None, *, figsize: Size | None = None, title: str | None = None
) -> Axes:
    """Draw the arcs of two structures: in both, only in one, or reversed, then as the second has them."""
    one, other = found.structures
    refuse_many(len(other.nodes), found.shd + len(found.common))
    rank = _ranks(other)
    loose = {frozenset(edge) for graph in (one, other) for edge in graph.undirected}
    strokes: dict[Link, Stroke] = {}
    key: list[tuple[str, Stroke | Box]] = []
    for name, look, said in (
        ("common", COMMON, "in both"),
        ("missing", MISSING, "missing: only in the second"),
        ("extra", EXTRA, "extra: only in the first"),
        ("reversed", REVERSED, "reversed: as the second has it"),
    ):
        pairs = getattr(found, name)
        for a, b in pairs:
            link = _downwards((a, b), rank)
            strokes[link] = look if link == (a, b) else replace(look, head="upper")
            if frozenset((a, b)) in loose and name != "reversed":
                strokes[link] = replace(look, head="")
        key += [(f"{said} ({len(pairs)})", look)] * bool(pairs)
    boxes: dict[Hashable, Box] = {name: Box(wrapped(str(name))) for name in other.nodes}
    head = f"{found.shd:,} arcs differ (SHD), {found.shd_cpdag:,} of the CPDAGs"
    with Paper(ax, figsize, title) as paper:
        return draw(Sketch(boxes, list(strokes), COMMON, strokes, key=key), paper, head)


def _ranks(graph: CPDAG) -> dict[Hashable, int]:
    """An order in which arcs lead downwards; that of the nodes if no directed graph has these arcs."""
    place = {name: i for i, name in enumerate(graph.nodes)}
    parents: list[set[int]] = [set() for _ in graph.nodes]
    beside: list[set[int]] = [set() for _ in graph.nodes]
    for a, b in graph.directed:
        parents[place[b]].add(place[a])
    for a, b in graph.undirected:
        beside[place[a]].add(place[b])
        beside[place[b]].add(place[a])
    order = topological(extension(parents, beside) or parents)
    order += [v for v in range(len(parents)) if v not in set(order)]  # on a cycle
    return {graph.nodes[v]: i for i, v in enumerate(order)}


def _downwards(pair: tuple[Any, Any], rank: Mapping[Hashable, int]) -> tuple[Any, Any]:
    a, b = pair
    return (a, b) if rank[a] < rank[b] else (b, a)
