"""Parses arrows as users write them: "smoking -> cancer <- pollution; a -> b", or pairs."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from pgm.errors import InvalidStructure, PGMError, shown
from pgm.graphs.networkx_later import is_graph
from pgm.variables import check_name, unordered

_ARROW = re.compile(r"(<->|->|<-)")
_MISTAKEN = re.compile(r"--+|=+>|<=+|[→←↔⇒⇐]|,")  # written instead of an arrow or a statement separator
_STATES = re.compile(r"[\[{].*|[\]}]")  # written after a name, as other programs do: b[3], b{no|yes}


def parse(edges: object) -> dict[str, tuple[str, ...]]:
    """Return the parents of each node, nodes and parents in order of first mention.

    >>> parse("smoking -> cancer <- pollution; lonely")
    {'smoking': (), 'cancer': ('smoking', 'pollution'), 'pollution': (), 'lonely': ()}
    """
    return _parsed(edges, None)


def parse_mixed(edges: object) -> tuple[dict[str, tuple[str, ...]], list[tuple[str, str]]]:
    """Return the same, and the pairs that share a hidden cause.

    >>> parse_mixed("x -> y; x <-> y")
    ({'x': (), 'y': ('x',)}, [('x', 'y')])
    """
    common: list[tuple[str, str]] = []
    return _parsed(edges, common), common


def _parsed(edges: object, common: list[tuple[str, str]] | None) -> dict[str, tuple[str, ...]]:
    parents: dict[str, dict[str, None]] = {}
    if is_graph(edges):
        parents = {_name(node, "the graph"): {} for node in edges}
        if not edges.is_directed():
            raise InvalidStructure("edges= takes a directed graph; in this one the edges have no direction.")
        edges = edges.edges()
    if not isinstance(edges, Iterable) or isinstance(edges, dict | bytes) or unordered(edges):
        raise InvalidStructure(
            f'edges= takes text such as "a -> b <- c; c -> d", or a list of pairs, not {shown(edges)}.'
        )
    for item in [edges] if isinstance(edges, str) else edges:
        if isinstance(item, str) and (item is edges or _ARROW.search(item)):
            for statement in re.split(r"[;\n]", item):
                if statement.strip():
                    _read_statement(statement, parents, common)
        elif not isinstance(item, str) and isinstance(item, Sequence) and len(item) == 2:
            for name in item:
                parents.setdefault(_name(name, item), {})
            parents[item[1]][item[0]] = None
        else:
            raise InvalidStructure(f"An edge is a pair (parent, child), not {shown(item)}.")
    found = {name: tuple(those) for name, those in parents.items()}
    check_acyclic(found)
    return found


def _read_statement(
    statement: str, parents: dict[str, dict[str, None]], common: list[tuple[str, str]] | None
) -> None:
    names = _ARROW.split(statement)
    arrows = names[1::2]
    nodes = [_name(text.strip(), statement.strip()) for text in names[::2]]
    for name in nodes:
        if found := _STATES.search(name):
            raise InvalidStructure(
                f"{statement.strip()!r}: {found[0]!r} is not part of an arrow; states are declared where a "
                "node gets its table, `set(name, table, states=[...])`. Names that contain brackets are "
                "passed in pairs, edges=[(parent, child), ...]."
            )
        if found := _MISTAKEN.search(name):
            raise InvalidStructure(
                f"{statement.strip()!r}: {found[0]!r} is not an arrow; write `->` or `<-`, and `;` between "
                "statements. Names that contain it are passed in pairs, edges=[(parent, child), ...]."
            )
        parents.setdefault(name, {})
    for left, arrow, right in zip(nodes, arrows, nodes[1:], strict=False):
        if arrow == "<->":
            if common is None:
                raise InvalidStructure(
                    f"{statement.strip()!r}: an arrow points one way, `->` or `<-`. If {left} <-> {right} "
                    "means that a hidden cause influences both, pgm.CausalGraph holds it; in a network that "
                    "cause is a node of its own."
                )
            common.append((left, right))
            continue
        parent, child = (left, right) if arrow == "->" else (right, left)
        parents[child][parent] = None


def _name(name: object, where: object) -> str:
    try:
        return check_name(name)
    except PGMError:
        raise InvalidStructure(f"There is no name at one end of an arrow in {shown(where)}.") from None


def check_acyclic(parents: Mapping[str, Sequence[str]]) -> None:
    """Raise InvalidStructure naming a cycle, if there is one."""
    order = sort(parents)
    if len(order) == len(parents):
        return
    # Every remaining node has a remaining parent, so going from parent to parent must return.
    left = parents.keys() - order
    node = next(name for name in parents if name in left)
    path: dict[str, None] = {}
    while node not in path:
        path[node] = None
        node = next(parent for parent in parents[node] if parent in left)
    cycle = list(path)[list(path).index(node) :]
    cycle.reverse()
    start = cycle.index(min(cycle))
    cycle = cycle[start:] + cycle[:start]
    if len(cycle) > 12:
        cycle[6:-5] = ["..."]
    raise InvalidStructure(f"The arrows form a cycle: {' -> '.join([*cycle, cycle[0]])}.")


def sort(parents: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the nodes with parents before children, otherwise in their given order; cycles are left out."""
    waiting = {name: len(those) for name, those in parents.items()}
    children: dict[str, list[str]] = {name: [] for name in parents}
    for name, those in parents.items():
        for parent in those:
            children[parent].append(name)
    ready = deque(name for name, count in waiting.items() if not count)
    order = []
    while ready:
        name = ready.popleft()
        order.append(name)
        for child in children[name]:
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    return order
