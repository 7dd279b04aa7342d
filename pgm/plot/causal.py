"""Causes in pictures: what to adjust for, hidden causes, the paths of an effect, two worlds side by side."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from pgm.graphs import walks
from pgm.graphs.adjustment import Effect
from pgm.graphs.layout import Link
from pgm.graphs.walks import Arrows

from .canvas import LINE, Paper, Size, wrapped
from .drawing import Box, Sketch, Stroke, draw, refuse_many
from .overlays import BLUE

if TYPE_CHECKING:
    from pgm.graphs.adjustment import AdjustmentSets

_CAUSAL = Stroke(BLUE, 2.2, head="lower")
_OTHER = Stroke(LINE, 1.0, head="lower")
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
