"""Causes in pictures: what to adjust for, hidden causes, the paths of an effect, two worlds side by side."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from pgm.graphs import walks
from pgm.graphs.adjustment import Effect
from pgm.graphs.layout import Link
from pgm.graphs.walks import Arrows

from .canvas import LINE, Paper, Size, wrapped
from .drawing import Box, Sketch, Stroke, draw, refuse_many
from .overlays import BLUE, VERMILLION

if TYPE_CHECKING:
    from pgm.graphs.adjustment import AdjustmentSets
    from pgm.models.causal.graph import CausalGraph

_CAUSAL = Stroke(BLUE, 2.2, head="lower")
_OTHER = Stroke(LINE, 1.0, head="lower")
_TWO_HEADS = Stroke(VERMILLION, 1.3, (0, (4, 2.5)), "both")
_END = "#cfe6f5"


def adjustment(
    sets: AdjustmentSets,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the graph with its causal paths, and what the first set holds."""
    arrows = Arrows.of(sets.arrows)
    refuse_many(len(sets.arrows), 0)
    effect = Effect.of(arrows, sets.x, sets.y)
    best = sets[0] if sets else frozenset()
    boxes: dict[Hashable, Box] = {
        name: Box(wrapped(str(name)), seen=name in best, face=_END if name in (*sets.x, *sets.y) else "")
        for name in sets.arrows
    }
    on = causal_links(effect)
    links: list[Link] = [(parent, name) for name, those in sets.arrows.items() for parent in those]
    strokes = {link: _CAUSAL if link in on else _OTHER for link in links}
    key: list[tuple[str, Stroke | Box]] = [("causal path", _CAUSAL)] * bool(on)
    key += [("adjust for", Box((), seen=True))] * bool(best)
    head = f"What {', '.join(map(str, sets.x))} does to {', '.join(map(str, sets.y))}"
    with Paper(ax, figsize, title) as paper:
        return draw(Sketch(boxes, links, _OTHER, strokes, key=key), paper, head)


def causal_links(effect: Effect) -> set[Link]:
    """The arrows on causal paths."""
    tails, heads = walks.pairs(effect.arrows.graph)
    up = walks.ancestors(effect.arrows.graph, effect.y)
    on = (effect.causal | effect.x)[tails] & effect.causal[heads] & up[heads]
    names = effect.arrows.names
    return {
        (names[u], names[v])
        for u, v, use in zip(tails.tolist(), heads.tolist(), on.tolist(), strict=True)
        if use
    }


def causal_graph(
    graph: CausalGraph,
    ax: Axes | None = None,
    *,
    x: Sequence[str] = (),
    y: Sequence[str] = (),
    given: Sequence[str] = (),
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw arrows, and hidden common causes dashed with two heads; with both ends of an effect if there are.

    >>> import pgm
    >>> causal_graph(pgm.CausalGraph("x -> z -> y; x <-> y"), title="front door").get_title()
    'front door'
    """
    refuse_many(len(graph), len(graph.edges) + len(graph.common))
    boxes: dict[Hashable, Box] = {
        name: Box(wrapped(name), seen=name in given, face=_END if name in (*x, *y) else "")
        for name in graph.nodes
    }
    links: list[Link] = list(graph.edges)
    on: set[Link] = set()
    if x and y:
        arrows = Arrows.of({name: graph.parents(name) for name in graph.nodes})
        on = causal_links(Effect.of(arrows, x, y))
    strokes = {link: _CAUSAL if link in on else _OTHER for link in links}
    rank = {name: i for i, name in enumerate(_order(graph))}
    for pair in graph.common:
        upper, lower = sorted(pair, key=rank.__getitem__)
        if (upper, lower) not in strokes:
            links.append((upper, lower))
            strokes[upper, lower] = _TWO_HEADS
            continue
        bend = ("bend", upper, lower)  # beside the arrow that leads the same way
        boxes[bend] = Box((), shape="bend")
        links += [(upper, bend), (bend, lower)]
        strokes[upper, bend] = replace(_TWO_HEADS, head="upper")
        strokes[bend, lower] = replace(_TWO_HEADS, head="lower")
    key: list[tuple[str, Stroke | Box]] = [("causal path", _CAUSAL)] * bool(on)
    key += [("hidden common cause", _TWO_HEADS)] * bool(graph.common)
    key += [("given", Box((), seen=True))] * bool(given)
    with Paper(ax, figsize, title) as paper:
        return draw(Sketch(boxes, links, _OTHER, strokes, key=key), paper)


def _order(graph: CausalGraph) -> list[str]:
    """The nodes with causes before effects."""
    arrows = Arrows.of({name: graph.parents(name) for name in graph.nodes})
    return [arrows.names[v] for v in arrows.order().tolist()]
