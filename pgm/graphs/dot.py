"""Graphs as text in DOT, the language of Graphviz."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx as nx
else:
    from pgm.graphs import networkx_later as nx


_ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})


def to_dot(graph: nx.Graph[Any] | nx.DiGraph[Any]) -> str:
    """Return a graph in DOT, every name quoted: a line for each node, then one for each edge, in order.

    >>> print(to_dot(nx.DiGraph({"rain": ["wet grass"]})))
    digraph {
      "rain";
      "wet grass";
      "rain" -> "wet grass";
    }
    """
    kind, link = ("digraph", "->") if graph.is_directed() else ("graph", "--")
    head = f"{kind} {_quoted(graph.name)} {{" if graph.name else f"{kind} {{"
    nodes = [f"  {_quoted(node)};" for node in graph]
    edges = [f"  {_quoted(a)} {link} {_quoted(b)};" for a, b in graph.edges]
    return "\n".join([head, *nodes, *edges, "}"])


def _quoted(name: object) -> str:
    """A quoted name; backslashes are doubled, because Graphviz reads a single one as an escape."""
    return f'"{str(name).translate(_ESCAPED)}"'
