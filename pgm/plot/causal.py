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
    from pgm.models.causal.counterfactuals import Counterfactual
    from pgm.models.causal.effects import CausalEffect
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


def causal_effect(
    found: CausalEffect,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the graph; each arrow that leaves x is as wide as its own effect, dashed if that is negative."""
    arrows = Arrows.of(found.arrows)
    refuse_many(len(found.arrows), 0)
    on = causal_links(Effect.of(arrows, [found.x], [found.y]))
    most = max(map(abs, found.along.values()), default=0.0) or 1.0
    links: list[Link] = [(parent, name) for name, those in found.arrows.items() for parent in those]
    strokes: dict[Link, Stroke] = {}
    for link in links:
        strokes[link] = _CAUSAL if link in on else _OTHER
        if link[0] == found.x and link[1] in found.along:
            value = found.along[str(link[1])]
            width = 0.8 + 4.0 * abs(value) / most
            strokes[link] = _CAUSAL if value >= 0 else Stroke(VERMILLION, 1.0, (0, (4, 2.5)), "lower")
            strokes[link] = replace(strokes[link], width=width)
    boxes: dict[Hashable, Box] = {
        name: Box(
            wrapped(str(name)),
            note=f"{found.along[name]:+.3f}" if name in found.along and name != found.y else "",
            seen=name in found.given,
            face=_END if name in (found.x, found.y) else "",
        )
        for name in found.arrows
    }
    if found.y in found.along:
        boxes[found.y] = replace(boxes[found.y], note=f"direct {found.direct:+.3f}")
    head = f"{found.question}: {found.average:+.4f}"
    with Paper(ax, figsize, title) as paper:
        return draw(Sketch(boxes, links, _OTHER, strokes), paper, head)


def twin_network(
    found: Counterfactual,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw both worlds: what was seen, what is done in the other, and what they share."""
    worlds = found.worlds
    refuse_many(len(worlds), 0)
    boxes: dict[Hashable, Box] = {
        name: Box(
            wrapped(name),
            note=_state_in(found, name),
            seen=name in found.given,
            face="#f3e3c8" if _done(found, name) else _END if name.rstrip("*") == found.variable.name else "",
        )
        for name in worlds
    }
    links: list[Link] = [(parent, name) for name, those in worlds.items() for parent in those]
    key: list[tuple[str, Stroke | Box]] = [("seen", Box((), seen=True)), ("done", Box((), face="#f3e3c8"))]
    with Paper(ax, figsize, title) as paper:
        return draw(Sketch(boxes, links, _OTHER, key=key), paper, found.question)


def _done(found: Counterfactual, name: str) -> bool:
    return name.endswith("*") and name.rstrip("*") in found.do


def _state_in(found: Counterfactual, name: str) -> str:
    """What a node of one of the worlds is known to be."""
    if _done(found, name):
        return f"do {found.do[name.rstrip('*')]}"
    if name in found.given:
        return str(found.given[name])
    return ""


def _order(graph: CausalGraph) -> list[str]:
    """The nodes with causes before effects."""
    arrows = Arrows.of({name: graph.parents(name) for name in graph.nodes})
    return [arrows.names[v] for v in arrows.order().tolist()]
