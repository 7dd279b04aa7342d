"""Causal graphs in JSON: nodes, arrows, and pairs that share a hidden cause."""

from __future__ import annotations

from typing import Any

from pgm.distributions.parts import Part
from pgm.errors import PGMError
from pgm.models.causal.graph import CausalGraph

CAUSAL = "causal-graph"


def write(graph: CausalGraph) -> dict[str, Any]:
    """Return the graph as the object of its file."""
    return graph.to_dict()


def read(part: Part) -> CausalGraph:
    """Return the graph of a file."""
    value = part.members("a model", ["pgm", CAUSAL], ["name", "about"])
    for key in ("name", "about"):
        if key in value:
            part.at(key).text("a text")
    inside = part.at(CAUSAL)
    found = inside.members("a causal graph", ["nodes", "arrows"], ["hidden"])
    nodes = inside.at("nodes").names("the names of the nodes")
    arrows = _pairs(inside.at("arrows"), "arrows")
    common = _pairs(inside.at("hidden"), "pairs with a hidden common cause") if "hidden" in found else []
    parents: dict[str, list[str]] = {name: [] for name in nodes}
    for i, (cause, effect) in enumerate(arrows):
        if effect not in parents:
            inside.fail(f"there is no node {effect!r}", "arrows", i)
        parents[effect].append(cause)
    try:
        return CausalGraph.of(parents, common)
    except PGMError as error:
        inside.fail(str(error))


def _pairs(part: Part, what: str) -> list[tuple[str, str]]:
    found = []
    for i in range(len(part.elements(f"a list of {what}"))):
        names = part.at(i).names("a pair of names")
        if len(names) != 2:
            part.fail(f"a pair of names expected, found {len(names):,}", i)
        found.append((names[0], names[1]))
    return found
