"""Worked statements of the catalogue on structure: C.md C30 to C32, C42 to C48, C58 (O5, O8, O12)."""

from __future__ import annotations

import itertools

import networkx as nx
import pytest

import pgm
from tests.known import book

CERTAINLY_TRUE = [
    "B D C",
    "B D CEF",
    "B F CE",
    "B G F",
    "C G F",
    "D G F",
    "E G F",
    "D E C",
    "D E BC",
    "C F DE",
]
CERTAINLY_FALSE = ["B D ", "B D CF", "B D CG", "B F C", "B G ", "D E F", "D E BCF", "C E BF"]
ONLY_IF_E_TO_B = ["D E ", "C E ", "C F D"]
ONLY_IF_B_TO_E = ["D E B", "C E B", "C F BD"]
BOTH = pytest.mark.parametrize("orientation", ["E -> B", "B -> E"])


def holds(net: pgm.BayesianNetwork, statement: str) -> bool:
    a, b, given = statement.split(" ")
    return net.independent(a, b, given=list(given))


def statements(names: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """All statements about one pair given any set of the others."""
    found = []
    for a, b in itertools.combinations(names, 2):
        rest = [name for name in names if name not in (a, b)]
        for size in range(len(rest) + 1):
            found.extend((a, b, given) for given in itertools.combinations(rest, size))
    return found


@BOTH
def test_C30_d_separation(orientation):
    net = book.fig_14_8(orientation)
    assert all(holds(net, s) for s in CERTAINLY_TRUE)
    assert not any(holds(net, s) for s in CERTAINLY_FALSE)
    assert all(holds(net, s) == (orientation == "E -> B") for s in ONLY_IF_E_TO_B)
    assert all(holds(net, s) == (orientation == "B -> E") for s in ONLY_IF_B_TO_E)


def test_C31_bayes_ball_gives_the_240_answers():
    """63 hold under either orientation, 54 under both, 18 differ."""
    every = statements("BCDEFG")
    assert len(every) == 240
    one, other = (
        {s for s in every if book.fig_14_8(o).independent(s[0], s[1], given=s[2])}
        for o in ("E -> B", "B -> E")
    )
    assert (len(one), len(other), len(one & other), len(one ^ other)) == (63, 63, 54, 18)


@BOTH
def test_C31_the_ball_agrees_with_networkx(orientation):
    net = book.fig_14_8(orientation)
    graph = nx.DiGraph(net.edges)
    for a, b, given in statements("BCDEFG"):
        assert net.independent(a, b, given=given) == nx.is_d_separator(graph, {a}, {b}, set(given))


@BOTH
def test_C32_the_paths_of_figure_14_8(orientation):
    """Each path alone, as the caption has it."""
    whole = book.fig_14_8(orientation)

    def opened(path: str, given: str) -> bool:
        arrows = [edge for edge in whole.edges if edge[0] + edge[1] in path or edge[1] + edge[0] in path]
        below = [("F", "G")] if "F" in path and "G" not in path else []
        net = pgm.BayesianNetwork(edges=arrows + below)
        return not net.independent(path[0], path[-1], given=[g for g in given if g in net.nodes])

    assert [opened("BCDF", g) for g in ("", "C", "D", "E", "G")] == [True, False, False, True, True]
    assert [opened("BEFG", g) for g in ("", "F", "E")] == [True, False, False]
    assert [opened("BEFD", g) for g in ("", "F", "G")] == [False, True, True]


def test_C42_a_loop_is_no_obstacle():
    """Loopy messages would give P(W) = .59875 and P(C | W) = .6149069939."""
    net = book.fig_14_5()
    assert net.query("W")[True] == pytest.approx(0.65125)
    assert net.query("C", {"W": True})[True] == pytest.approx(0.5834932821, abs=1e-10)


def test_C43_junction_tree_of_the_diamond():
    net = book.fig_14_5()
    tree = net.junction_tree()
    assert {frozenset(c) for c in tree.cliques} == {frozenset("CRS"), frozenset("RSW")}
    assert [set(s) for s in tree.separators] == [{"R", "S"}]
    calibrated = net.query(["R", "S"])
    expected = {(True, True): 0.065, (True, False): 0.385, (False, True): 0.235, (False, False): 0.315}
    assert calibrated.to_dict() == pytest.approx(expected)
    with_w = {(True, True): 0.06175, (True, False): 0.3465, (False, True): 0.2115, (False, False): 0.0315}
    wet = net.query(["R", "S"], {"W": True})
    assert {k: p * net.probability({"W": True}) for k, p in wet.items()} == pytest.approx(with_w)
    clique = net.query(["C", "R", "S"], {"W": True})
    printed = {
        "CRS": 0.05834932821, "CRs": 0.4975047985, "CrS": 0.01381957774, "Crs": 0.01381957774,
        "cRS": 0.03646833013, "cRs": 0.03454894434, "crS": 0.310940499, "crs": 0.03454894434,
    }  # fmt: skip
    for key, value in printed.items():
        assert clique[tuple(letter.isupper() for letter in key)] == pytest.approx(value, abs=1e-10)


def test_C46_maximal_cliques():
    graph = book.fig_14_5().moral_graph()
    assert {frozenset(c) for c in nx.find_cliques(graph)} == {frozenset("CRS"), frozenset("RSW")}


def test_C47_a_v_structure_has_no_undirected_twin():
    """None of the 8 graphs on three nodes states exactly that R and S are independent, but not given W."""
    net = pgm.BayesianNetwork(edges="R -> W <- S")
    truth = {s for s in statements("RSW") if net.independent(s[0], s[1], given=s[2])}
    assert truth == {("R", "S", ())}
    for edges in itertools.chain.from_iterable(
        itertools.combinations(["RS", "RW", "SW"], size) for size in range(4)
    ):
        mrf = pgm.MarkovNetwork()
        for name in "RSW":
            mrf.add_variable(name, states=[0, 1])
        for a, b in edges:
            mrf.add_factor([a, b], [[1, 2], [3, 4]])
        assert {s for s in statements("RSW") if mrf.independent(s[0], s[1], given=s[2])} != truth


def test_C48_moralisation_marries_parents():
    def undirected(edges: object) -> set[frozenset[str]]:
        return {frozenset(edge) for edge in edges}

    net = book.fig_14_5()
    assert undirected(net.moral_graph().edges) - undirected(net.edges) == {frozenset("RS")}
    for orientation, more in {"E -> B": {frozenset("CE")}, "B -> E": set()}.items():
        net = book.fig_14_8(orientation)
        assert undirected(net.moral_graph().edges) - undirected(net.edges) == {frozenset("DE")} | more


def test_C58_cost_by_the_largest_clique():
    tree = book.fig_14_5().junction_tree()
    assert max(len(c) for c in tree.cliques) == 3
    assert tree.width == 2
    plan = book.fig_14_5().plan("C", {"W": True})
    assert "exact" in str(plan)
