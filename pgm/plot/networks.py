"""A model as a picture: its arrows, factors or cliques, with the posterior of each variable."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import comb
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes

from pgm.errors import IncompleteModel, InvalidArgument, listed, nearest, shown
from pgm.evidence import observe
from pgm.graphs import JunctionTree
from pgm.graphs.layout import Link
from pgm.inference.engines import Engine
from pgm.models import BayesianNetwork, MarkovNetwork
from pgm.results import Density, Marginals

from . import overlays
from .canvas import Paper, Size, shortened, wrapped
from .drawing import ARROW, DASHED, Box, Sketch, draw, refuse_many
from .images import image
from .plates import checked

Model: TypeAlias = BayesianNetwork | MarkovNetwork

MOST_CELLS = 144  # a larger grid is an image
MOST_STATES = 8  # a box with more shows the most probable of them
_LINE = 30  # letters in a line of the names of a clique
_LINES = 8


def network(
    net: Model,
    ax: Axes | None = None,
    given: Any = None,
    kind: str = "network",
    *,
    plates: Mapping[str, Sequence[str]] | None = None,
    paths: tuple[str, str] | None = None,
    compare: BayesianNetwork | None = None,
    information: bool = False,
    engine: str | Engine = "auto",
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw a model in layers; a grid of many pixels as an image.

    Args:
        net: a Bayesian or Markov network.
        ax: axes to draw on; a new figure if left out.
        given: evidence, possibly empty: every variable shows its posterior, and observed ones are marked.
        kind: "network", "moral", "factor-graph" or "junction-tree".
        plates: for each label the nodes that share a rectangle; one may lie inside another.
        paths: two nodes: which paths between them are active given others, and which are blocked.
        compare: another network of the same nodes: which arrows are common, extra, missing, reversed.
        information: draw arrows as wide as their mutual information, and colour nodes by entropy.
        engine: the engine for posteriors or information; see `query`.
        figsize: width and height of a new figure in inches; the size that the drawing needs if left out.
        title: the title; the name of the model if left out.

    >>> import pgm
    >>> net = pgm.BayesianNetwork("weather")
    >>> net.add("rain", 0.2)
    >>> net.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
    >>> network(net, given={"wet": True}).get_title()
    'weather'
    >>> network(net, paths=("rain", "wet")).get_title()
    'rain may depend on wet'
    """
    paper = Paper(ax, figsize, title)
    if kind not in KINDS:
        raise InvalidArgument(
            f"There is no picture of kind {shown(kind)}; there are {listed(KINDS)}.{nearest(kind, KINDS)}"
        )
    _check_options(net, kind, given, plates, paths, compare, information, engine)
    if kind == "network" and isinstance(net, MarkovNetwork) and len(net) > MOST_CELLS and not plates:
        cells = grid_cells(list(net.variables))
        if cells:
            with paper:
                ax, exact = image(net, cells, given, engine, paper)
                paper.entitle(ax, net.name if exact else f"{net.name} (approximate)".strip())
            return ax
    refuse_many(len(net), 0)
    exact = True
    boxes: Callable[[str], Box] = partial(named, net)
    if given is not None and paths is None and not information:
        boxes, exact = _believed(net, given, engine)
    sketch = KINDS[kind](net, boxes)
    head = net.name
    if plates is not None:
        sketch = replace(sketch, plates=checked(plates, [str(name) for name in sketch.boxes]), cells={})
    if paths is not None:
        assert isinstance(net, BayesianNetwork)
        sketch, head = overlays.paths(net, sketch, paths, given)
    elif compare is not None:
        assert isinstance(net, BayesianNetwork)
        sketch = overlays.compare(net, sketch, compare)
    elif information:
        sketch, exact = overlays.information(net, sketch, given, engine)
    with paper:
        return draw(sketch, paper, head if exact else f"{head} (approximate)".strip())


def junction_tree(
    tree: JunctionTree,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw cliques and their separators."""
    refuse_many(len(tree), 2 * len(tree.edges))
    with Paper(ax, figsize, title) as paper:
        return draw(_cliques(tree), paper)


def _check_options(
    net: Model,
    kind: str,
    given: object,
    plates: object,
    paths: object,
    compare: object,
    information: bool,
    engine: object,
) -> None:
    """Raise for options that have no effect here."""
    asked = {"paths": paths is not None, "compare": compare is not None, "information": information}
    laid = [name for name, wanted in asked.items() if wanted]
    if len(laid) > 1:
        raise InvalidArgument(f"A picture shows one of {', '.join(f'{name}=' for name in laid)} at a time.")
    for name in laid:
        if kind != "network":
            raise InvalidArgument(f'{name}= belongs to kind="network", not to kind="{kind}".')
        if name != "information" and isinstance(net, MarkovNetwork):
            raise InvalidArgument(f"{name}= is about arrows; a Markov network has none.")
    if plates is not None and kind not in ("network", "moral"):
        raise InvalidArgument(f'plates= belongs to kind="network" or "moral", not to kind="{kind}".')
    if given is not None and kind == "junction-tree":
        raise InvalidArgument('given= draws posteriors of variables; a "junction-tree" shows cliques.')
    if engine != "auto" and (paths is not None or (given is None and not information)):
        raise InvalidArgument(
            "engine= is for posteriors; without given= or information=True nothing is asked."
        )


# --- boxes -----------------------------------------------------------------------------------------------


def named(net: Model, name: str) -> Box:
    """A box with the name of a node, and what kind of distribution it has."""
    known = net.variables  # without those whose states are not known yet
    double = name in known and known[name].continuous
    return Box(wrapped(name), note=_manner(net, name), double=double)


def _manner(net: Model, name: str) -> str:
    """Return the kind of a node's distribution, unless it is a table."""
    if not isinstance(net, BayesianNetwork):
        return ""
    try:
        label = net.cpd(name).label
    except IncompleteModel:
        return ""
    return "" if label == "table" else label


def _answers(net: Model, given: Mapping[str, Any], engine: str | Engine) -> Marginals:
    """All marginals; if some continuous ones have no exact answer, those of the discrete variables."""
    try:
        return net.marginals(given, engine=engine)
    except InvalidArgument:
        discrete = [v.name for v in net.variables.values() if not v.continuous]
        return net.marginals(given, targets=discrete, engine=engine)


def _believed(
    net: Model, given: Mapping[str, Any], engine: str | Engine
) -> tuple[Callable[[str], Box], bool]:
    """Return a function that makes a variable's box with its posterior, and whether all are exact."""
    observed = observe(net.variables, given)
    answers = _answers(net, given, engine)

    def number(name: str) -> str:
        if name in observed.hard:
            return shortened(str(observed.given[name]))
        if name not in answers:  # no exact mean
            return _manner(net, name)
        p = answers[name]
        return f"{p.mean:.4g} ± {p.std:.2g}" if isinstance(p, Density) else ""

    def box(name: str) -> Box:
        variable = net.variables[name]
        if variable.continuous:
            return Box(wrapped(name), note=number(name), seen=name in observed.given, double=True)
        if name in observed.hard:
            values = np.zeros(variable.card)
            values[observed.hard[name]] = 1.0
        else:
            values = np.asarray(
                (answers[name] if name in answers else net.query(name, given, engine=engine)).values
            )
        return Box(wrapped(name), posterior_rows(variable.states, values), seen=name in observed.given)

    return box, answers.exact


def posterior_rows(states: Sequence[object], values: np.ndarray) -> tuple[tuple[str, float], ...]:
    """Return the rows of a box: states with their probabilities, the most probable of many."""
    kept = list(range(len(states)))
    if len(states) > MOST_STATES:
        kept = sorted(np.argsort(-values, kind="stable")[: MOST_STATES - 1].tolist())
    rows = [(shortened(states[i], 16), float(values[i])) for i in kept]
    if len(rows) < len(states):
        rest = max(0.0, 1.0 - sum(share for _, share in rows))
        rows.append((f"{len(states) - len(rows)} others", rest))
    return tuple(rows)


# --- kinds -----------------------------------------------------------------------------------------------


def _structure(net: Model, box: Callable[[str], Box]) -> Sketch:
    if isinstance(net, BayesianNetwork):
        return Sketch({node: box(node) for node in net.nodes}, list(net.edges), ARROW)
    names = list(net.variables)
    for potential in net.potentials:
        refuse_many(len(names), comb(len(potential.names), 2))
    links = list(net.to_networkx().edges)
    cells = grid_cells(names)
    if any(max(abs(cells[a][k] - cells[b][k]) for k in (0, 1)) > 1 for a, b in links if cells):
        cells = {}  # straight lines would run through boxes
    boxes: dict[Hashable, Box] = {node: box(node) for node in names}
    return Sketch(boxes, links if cells else downwards(names, links), cells=cells)


def _moral(net: Model, box: Callable[[str], Box]) -> Sketch:
    if isinstance(net, MarkovNetwork):
        raise InvalidArgument('A Markov network has no arrows to moralise; its picture is kind="network".')
    for node in net.nodes:
        refuse_many(len(net), comb(len(net.parents(node)), 2))
    rank = {node: i for i, node in enumerate(net.topological_order())}
    edges: dict[Link, None] = dict.fromkeys(net.edges)
    pairs = [(a, b) if rank[a] < rank[b] else (b, a) for a, b in net.moral_graph().edges]
    married = [pair for pair in pairs if pair not in edges]
    return Sketch(
        {node: box(node) for node in net.nodes}, [*edges, *married], strokes=dict.fromkeys(married, DASHED)
    )


def _factor_graph(net: Model, box: Callable[[str], Box]) -> Sketch:
    factor = Box((), shape="factor")
    if isinstance(net, BayesianNetwork):
        boxes: dict[Hashable, Box] = {node: box(node) for node in net.nodes}
        links: list[Link] = []
        for node in net.nodes:
            gate = ("factor", node)
            boxes[gate] = factor
            links += [*((parent, gate) for parent in net.parents(node)), (gate, node)]
        return Sketch(boxes, links)
    refuse_many(len(net) + net.n_factors, 0)
    boxes = {name: box(name) for name in net.variables}
    links = []
    for number, potential in enumerate(net.potentials):
        boxes[number] = factor
        links += [(name, number) for name in potential.names]
    return Sketch(boxes, downwards(list(boxes), links))


def _junction_tree(net: Model, _: Callable[[str], Box]) -> Sketch:
    return _cliques(net.junction_tree())


def _cliques(tree: JunctionTree) -> Sketch:
    boxes: dict[Hashable, Box] = {i: Box(_wrapped(clique)) for i, clique in enumerate(tree.cliques)}
    links: list[Link] = []
    for (a, b), separator in zip(tree.edges, tree.separators, strict=True):
        between = ("separator", a, b)
        boxes[between] = Box(_wrapped(separator), shape="separator")
        links += [(a, between), (between, b)]
    separators = [node for node, box in boxes.items() if box.shape == "separator"]
    return Sketch(boxes, downwards(list(boxes), links, frozenset(separators)))


KINDS: dict[str, Callable[[Model, Callable[[str], Box]], Sketch]] = {
    "network": _structure,
    "moral": _moral,
    "factor-graph": _factor_graph,
    "junction-tree": _junction_tree,
}


def _wrapped(names: Sequence[str]) -> tuple[str, ...]:
    """Return names in lines of readable length, truncated if there are too many."""
    lines = [""]
    for i, name in enumerate(names):
        word = shortened(name) + ("," if i < len(names) - 1 else "")
        if lines[-1] and len(lines[-1]) + len(word) >= _LINE:
            if len(lines) == _LINES:
                return (*lines, f"and {len(names) - i} more")
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return tuple(lines)


def downwards(
    nodes: Sequence[Hashable], links: Sequence[Link], between: Collection[Hashable] = ()
) -> list[Link]:
    """Return undirected links, first the end that is nearer to the centre of its component.

    Nodes between two others, such as separators, are never the centre.

    >>> downwards(["a", "b", "c"], [("a", "b"), ("b", "c")])
    [('b', 'a'), ('b', 'c')]
    """
    near: dict[Hashable, list[Hashable]] = {node: [] for node in nodes}
    for a, b in links:
        near[a].append(b)
        near[b].append(a)
    rank: dict[Hashable, int] = {}
    for node in nodes:
        if node not in rank:
            end = next(reversed(_walk(node, near)))
            reached = _walk(end, near)
            across = next(reversed(reached))  # about as far from `end` as possible
            path = [across]
            while (before := reached[path[-1]]) is not None:
                path.append(before)
            middle = path[len(path) // 2]
            if middle in between:
                middle = path[len(path) // 2 - 1]
            rank |= {other: len(rank) + i for i, other in enumerate(_walk(middle, near))}
    return [(a, b) if rank[a] < rank[b] else (b, a) for a, b in links]


def _walk(start: Hashable, near: Mapping[Hashable, Sequence[Hashable]]) -> dict[Hashable, Hashable | None]:
    """Return all reachable nodes, breadth first, each with its predecessor."""
    found: dict[Hashable, Hashable | None] = {start: None}
    queue = [start]
    for node in queue:  # grows during the loop
        for other in near[node]:
            if other not in found:
                found[other] = node
                queue.append(other)
    return found


def grid_cells(names: Sequence[str]) -> dict[Hashable, tuple[int, int]]:
    """Return row and column of each name if they have the form `pixel[3,4]`, else nothing."""
    found = [re.fullmatch(r"(.+)\[(\d{1,9}),(\d{1,9})\]", name) for name in names]
    cells: dict[Hashable, tuple[int, int]] = {m[0]: (int(m[2]), int(m[3])) for m in found if m is not None}
    if len(cells) < len(names) or len({m[1] for m in found if m is not None}) != 1:
        return {}
    # Few gaps only: a lone cell [1000000,1000000] would make a useless picture.
    rows, columns = (1 + max(cell[k] for cell in cells.values()) for k in (0, 1))
    return cells if rows * columns <= 4 * len(cells) + 16 else {}
