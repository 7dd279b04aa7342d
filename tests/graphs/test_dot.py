"""DOT, read back by a reader of its grammar: quoted names, nodes, edges."""

from __future__ import annotations

import importlib.util
import re

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pgm
from pgm.graphs import to_dot

TOKEN = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|(digraph|graph|->|--|[{};]))', re.DOTALL)
MEANT = {"n": "\n", "r": "\r"}


def read(text: str) -> nx.Graph | nx.DiGraph:
    """Read DOT whose names are all quoted: https://graphviz.org/doc/info/lang.html, escapes as in labels."""
    tokens, at = [], 0
    while at < len(text):
        found = TOKEN.match(text, at)
        assert found, text[at:]
        name, sign = found.groups()
        plain = None if name is None else re.sub(r"\\(.)", lambda m: MEANT.get(m[1], m[1]), name)
        tokens.append((sign, plain))
        at = found.end()
    kind, *rest = tokens
    graph: nx.Graph | nx.DiGraph = nx.DiGraph() if kind[0] == "digraph" else nx.Graph()
    if rest[0][0] is None:
        graph.name = rest.pop(0)[1]
    assert (rest[0][0], rest[-1][0]) == ("{", "}")
    statement: list[tuple[str | None, str | None]] = []
    for token in rest[1:-1]:
        if token[0] != ";":
            statement.append(token)
            continue
        if len(statement) == 1:
            graph.add_node(statement[0][1])
        else:
            (_, a), (link, _), (_, b) = statement
            assert link == ("->" if graph.is_directed() else "--")
            graph.add_edge(a, b)
        statement = []
    assert not statement
    return graph


names = st.text(
    st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from('"\\\n\r{};-> '), min_size=1, max_size=6
)


@given(st.booleans(), st.lists(names, unique=True, min_size=1, max_size=6), names | st.just(""), st.data())
def test_a_graph_comes_back(directed: bool, nodes: list[str], name: str, data: st.DataObject) -> None:
    graph: nx.Graph | nx.DiGraph = nx.DiGraph(name=name) if directed else nx.Graph(name=name)
    graph.add_nodes_from(nodes)
    pairs = st.tuples(st.sampled_from(nodes), st.sampled_from(nodes))
    graph.add_edges_from(data.draw(st.lists(pairs, max_size=8)))
    back = read(to_dot(graph))
    assert list(back) == list(graph)
    assert list(back.edges) == list(graph.edges)
    assert (back.is_directed(), back.name) == (directed, name)


def test_models_write_their_graphs() -> None:
    net = pgm.BayesianNetwork("wet grass", edges="cloudy -> rain -> wet <- sprinkler <- cloudy")
    back = read(net.to_dot())
    assert (tuple(back), tuple(back.edges), back.name) == (
        net.nodes,
        tuple(net.to_networkx().edges),
        net.name,
    )
    grid = pgm.MarkovNetwork.grid(
        [[0, 1], [1, 1]], states=[0, 1], coupling=1.0, unary=[[0.9, 0.1], [0.1, 0.9]]
    )
    back = read(grid.to_dot())
    assert not back.is_directed()
    assert nx.utils.graphs_equal(nx.Graph(back.edges), nx.Graph(grid.edges))


@pytest.mark.skipif(importlib.util.find_spec("pydot") is None, reason="pydot is not installed")
def test_pydot_reads_it() -> None:
    (read_back,) = __import__("pydot").graph_from_dot_data(pgm.load_network("asia").to_dot())
    assert {
        (e.get_source().strip('"'), e.get_destination().strip('"')) for e in read_back.get_edges()
    } == set(pgm.load_network("asia").edges)
