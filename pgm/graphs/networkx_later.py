"""networkx, loaded with the first graph: most questions need none."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    import networkx as nx


def is_graph(given: object) -> TypeGuard[nx.Graph[Any]]:
    """Whether this is a graph of networkx; where networkx was never loaded, there can be none.

    >>> is_graph([("a", "b")])
    False
    """
    return "networkx" in sys.modules and isinstance(given, sys.modules["networkx"].Graph)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):  # `from` looks for these
        raise AttributeError(name)
    import networkx

    return getattr(networkx, name)
