"""Worked statements of the catalogue on structure: C.md C30 to C32, C42 to C48, C58 (O5, O8, O12, O44)."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
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
Statement = tuple[str, str, tuple[str, ...]]
BOTH = pytest.mark.parametrize("orientation", ["E -> B", "B -> E"])


O12_GIVEN_W = {  # P(C, R, S | W); a small letter is False
    "CRS": 0.05834932821, "CRs": 0.4975047985, "CrS": 0.01381957774, "Crs": 0.01381957774,
    "cRS": 0.03646833013, "cRs": 0.03454894434, "crS": 0.310940499, "crs": 0.03454894434,
}  # fmt: skip


def holds(net: pgm.BayesianNetwork, statement: str) -> bool:
    a, b, given = statement.split(" ")
    return net.independent(a, b, given=list(given))


def statements(names: str) -> list[Statement]:
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
    """Loopy messages would give P(W) = .59875 and P(C | W) = .6149069939; nobody gets them unasked."""
    net = book.fig_14_5()
    for p, value in ((net.query("W"), 0.65125), (net.query("C", {"W": True}), 0.5834932821)):
        assert p[True] == pytest.approx(value, abs=1e-10)
        assert p.exact
        assert "loopy" not in p.engine


def test_C42_messages_are_exact_where_there_is_no_loop():
    """And said to be: on the figures, and on what is left of a loop where a node of it is observed."""
    below = book.fig_14_4()
    below.add("D", {True: 0.8, False: 0.1}, parents=["W"])
    figures = [book.fig_14_1(), book.fig_14_2(), book.fig_14_3(), book.fig_14_4(), book.fig_14_5(), below]
    for net in figures:
        polytree = nx.is_forest(net.to_networkx().to_undirected())
        p = net.marginals(engine="loopy")
        assert p.exact is polytree
        assert str(p.report).startswith("exact" if polytree else "APPROXIMATE")
        exact = net.marginals()
        off = max(abs(p[name].values - exact[name].values).max() for name in net)
        assert off < 1e-12 if polytree else off == pytest.approx(0.65125 - 0.59875, abs=1e-9)
    cut = book.fig_14_5().marginals({"C": True}, engine="loopy")
    assert cut.exact
    assert cut["W"][True] == pytest.approx(0.76, abs=1e-12)


def test_C43_junction_tree_of_figure_14_8():
    """By hand: with E -> B the moral graph is chordal, with B -> E either chord of B - C - D - E will do."""
    tree = book.fig_14_8("E -> B").junction_tree()
    assert {frozenset(c) for c in tree.cliques} == set(map(frozenset, ("BCE", "CDE", "DEF", "FG")))
    assert sorted("".join(sorted(s)) for s in tree.separators) == ["CE", "DE", "F"]
    other = book.fig_14_8("B -> E").junction_tree()
    cliques = {frozenset(c) for c in other.cliques}
    assert cliques in (
        set(map(frozenset, ("BCE", "CDE", "DEF", "FG"))),
        set(map(frozenset, ("BCD", "BDE", "DEF", "FG"))),
    )
    assert tree.width == other.width == 2


@pytest.mark.parametrize(
    "net",
    [book.fig_14_2(), book.fig_14_5(), book.fig_14_8("E -> B"), book.fig_14_8("B -> E"), book.phylogeny()],
    ids=["chain", "diamond", "E -> B", "B -> E", "phylogeny"],
)
def test_C43_what_makes_it_a_junction_tree(net):
    """Each family in a clique, each variable in a connected part, separators what neighbours share."""
    tree = net.junction_tree()
    for name in net:
        assert any({name, *net.parents(name)} <= set(clique) for clique in tree.cliques)
    joined = tree.to_networkx()
    assert nx.is_tree(joined)
    for name in net:
        assert nx.is_connected(joined.subgraph([clique for clique in joined if name in clique]))
    for (a, b), separator in zip(tree.edges, tree.separators, strict=True):
        assert set(separator) == set(tree.cliques[a]) & set(tree.cliques[b])
    # Of all trees over the cliques none has heavier separators (Jensen & Jensen 1994).
    every = nx.Graph()
    for a, b in itertools.combinations(tree.cliques, 2):
        every.add_edge(a, b, weight=len(set(a) & set(b)))
    if every:
        heaviest = nx.maximum_spanning_tree(every).size("weight")
        assert sum(map(len, tree.separators)) == heaviest


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
    for key, value in O12_GIVEN_W.items():
        assert clique[tuple(letter.isupper() for letter in key)] == pytest.approx(value, abs=1e-10)


def test_C43_tables_and_messages_of_the_tree_itself():
    """O12, from the tree's own tables: cliques {C, R, S} and {R, S, W} with the separator {R, S}."""
    net = book.fig_14_5()
    for root in ("C", "W"):
        tree = net.junction_tree(root=root)
        assert "".join(sorted(tree.cliques[-1])) == {"C": "CRS", "W": "RSW"}[root]
        assert tree.parent == (1, -1)
        (shared,) = tree.separator_beliefs
        assert set(shared.names) == {"R", "S"}
        near = {(True, True): 0.065, (True, False): 0.385, (False, True): 0.235, (False, False): 0.315}
        assert named(shared, "RS") == pytest.approx(near, abs=1e-14)
        # what P(C) P(R | C) P(S | C) and P(W | R, S) sum to over what the other has not
        from_c = next(m for m in tree.messages if "C" in m.sender)
        from_w = next(m for m in tree.messages if "W" in m.sender)
        assert from_c.inward == (root == "W")
        assert named(from_c.table, "RS") == pytest.approx(near, abs=1e-14)
        assert from_w.values.tolist() == [[1.0, 1.0], [1.0, 1.0]]

        wet = net.junction_tree({"W": True}, root=root)
        with_w = {(True, True): 0.06175, (True, False): 0.3465, (False, True): 0.2115, (False, False): 0.0315}
        assert named(wet.separator_beliefs[0], "RS") == pytest.approx(with_w, abs=1e-14)
        from_w = next(m for m in wet.messages if "W" in m.sender)
        assert named(from_w.table, "RS") == pytest.approx(
            {(r, s): with_w[r, s] / near[r, s] for r, s in near}, abs=1e-14
        )
        assert wet.total == pytest.approx(0.65125, abs=1e-15)
        for belief in wet.beliefs:
            assert belief.values.sum() == pytest.approx(0.65125, abs=1e-15)
        clique = named(next(b for b in wet.beliefs if "C" in b.names), "CRS")
        for key, value in O12_GIVEN_W.items():
            assert clique[tuple(x.isupper() for x in key)] / 0.65125 == pytest.approx(value, abs=1e-10)
        before = named(next(b for b in wet.potentials if "C" in b.names), "CRS")
        assert before[True, True, False] == pytest.approx(0.5 * 0.8 * 0.9, abs=1e-16)
    assert sorted(sum(tree.assigned, ())) == ["P(C)", "P(R | C)", "P(S | C)", "P(W | R, S)"]


def named(table: pgm.models.potentials.Potential, order: str) -> dict[tuple[bool, ...], float]:
    """A table's numbers by the states of its variables in this order."""
    moved = np.moveaxis(table.values, [table.names.index(n) for n in order], range(len(order)))
    return {tuple(bool(i) for i in at): float(value) for at, value in np.ndenumerate(moved)}


def test_C46_maximal_cliques():
    graph = book.fig_14_5().moral_graph()
    # O12; maximal is what nothing can be added to, not what is largest: trap T9.
    found = {frozenset(c) for c in pgm.graphs.maximal_cliques(graph)}
    assert found == cliques_by_definition(graph) == {frozenset("CRS"), frozenset("RSW")}
    graph.add_edge("W", "D")
    found = {frozenset(c) for c in pgm.graphs.maximal_cliques(graph)}
    assert found == cliques_by_definition(graph) == {frozenset("CRS"), frozenset("RSW"), frozenset("WD")}
    graph.add_edge("C", "W")
    assert {frozenset(c) for c in pgm.graphs.maximal_cliques(graph)} == {frozenset("CRSW"), frozenset("WD")}


def cliques_by_definition(graph: nx.Graph) -> set[frozenset[str]]:
    """Complete sets of nodes to which no node can be added, of all sets there are."""
    complete = [
        set(names)
        for size in range(1, len(graph) + 1)
        for names in itertools.combinations(graph, size)
        if all(graph.has_edge(a, b) for a, b in itertools.combinations(names, 2))
    ]
    return {frozenset(c) for c in complete if not any(c < other for other in complete)}


def test_C46_maximal_cliques_of_every_chordal_graph_of_five_nodes():
    """822 of the 1,024 graphs on five labelled nodes are chordal (OEIS A058862); the others are refused."""
    pairs = list(itertools.combinations("abcde", 2))
    chordal = 0
    for chosen in itertools.product((False, True), repeat=len(pairs)):
        graph = nx.Graph()
        graph.add_nodes_from("abcde")
        graph.add_edges_from(itertools.compress(pairs, chosen))
        if nx.is_chordal(graph):
            chordal += 1
            found = pgm.graphs.maximal_cliques(graph)
            assert len(set(found)) == len(found)
            assert {frozenset(c) for c in found} == cliques_by_definition(graph)
        else:
            with pytest.raises(pgm.InvalidStructure, match="no chord"):
                pgm.graphs.maximal_cliques(graph)
    assert chordal == 822


def stated(
    net: pgm.BayesianNetwork | pgm.MarkovNetwork, names: str
) -> frozenset[tuple[str, str, tuple[str, ...]]]:
    return frozenset(s for s in statements(names) if net.independent(s[0], s[1], given=s[2]))


def undirected(names: str, edges: tuple[tuple[str, str], ...]) -> pgm.MarkovNetwork:
    mrf = pgm.MarkovNetwork()
    for name in names:
        mrf.add_variable(name, states=[0, 1])
    for edge in edges:
        mrf.add_factor(edge, [[1, 2], [3, 4]])
    return mrf


def every_undirected(names: str) -> dict[tuple[tuple[str, str], ...], frozenset]:
    pairs = list(itertools.combinations(names, 2))
    chosen = itertools.chain.from_iterable(itertools.combinations(pairs, k) for k in range(len(pairs) + 1))
    return {edges: stated(undirected(names, edges), names) for edges in chosen}


def every_directed(names: str) -> list[frozenset]:
    """What each acyclic graph states: each pair without an arrow, or with one of the two."""
    pairs = list(itertools.combinations(names, 2))
    found = []
    for ways in itertools.product((None, 0, 1), repeat=len(pairs)):
        graph = nx.DiGraph()
        graph.add_nodes_from(names)
        graph.add_edges_from(
            pair if way else pair[::-1] for pair, way in zip(pairs, ways, strict=True) if way is not None
        )
        if nx.is_directed_acyclic_graph(graph):
            net = pgm.BayesianNetwork(edges=list(graph.edges))
            for name in names:
                if name not in net.nodes:
                    net.add(name, 0.5)
            found.append(stated(net, names))
    return found


def test_C47_a_v_structure_has_no_undirected_twin():
    """None of the 8 graphs on three nodes states exactly that R and S are independent, but not given W.

    Each of the 8 states something else. The 25 directed ones make 11 classes (Gillispie & Perlman 2002):
    these 8 and three v-structures.
    """
    net = pgm.BayesianNetwork(edges="R -> W <- S")
    truth = stated(net, "RSW")
    assert truth == {("R", "S", ())}
    twins = set(every_undirected("RSW").values())
    assert len(twins) == 8
    assert truth not in twins
    directed = every_directed("RSW")
    assert len(directed) == 25
    assert len(set(directed)) == 11
    assert twins < set(directed)
    alone = {frozenset({(*pair, ())}) for pair in itertools.combinations("RSW", 2)}
    assert set(directed) - twins == alone


def test_C47_a_ring_of_four_has_no_directed_twin():
    """O8: 0 of the 543 acyclic graphs on four nodes, which make 185 classes (Gillispie & Perlman 2002).

    Of the 64 undirected ones those have a twin that are chordal, 61; the three rings have none.
    """
    ring = stated(undirected("abcd", (("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"))), "abcd")
    assert ring == {("a", "c", ("b", "d")), ("b", "d", ("a", "c"))}
    directed = every_directed("abcd")
    assert len(directed) == 543
    assert ring not in directed
    assert len(set(directed)) == 185
    every = every_undirected("abcd")
    assert len(set(every.values())) == 64
    without = [edges for edges, found in every.items() if found not in set(directed)]
    assert len(without) == 3
    assert all(len(edges) == 4 and not nx.is_chordal(nx.Graph(edges)) for edges in without)


def test_C48_moralisation_marries_parents():
    def pairs(edges: object) -> set[frozenset[str]]:
        return {frozenset(edge) for edge in edges}

    net = book.fig_14_5()
    assert pairs(net.moral_graph().edges) - pairs(net.edges) == {frozenset("RS")}
    for orientation, more in {"E -> B": {frozenset("CE")}, "B -> E": set()}.items():
        net = book.fig_14_8(orientation)
        assert pairs(net.moral_graph().edges) - pairs(net.edges) == {frozenset("DE")} | more


def test_C58_cost_by_the_largest_clique():
    tree = book.fig_14_5().junction_tree()
    assert max(len(c) for c in tree.cliques) == 3
    assert tree.width == 2
    assert [table.values.size for table in tree.beliefs] == [8, 8]
    plan = book.fig_14_5().plan("C", {"W": True})
    assert "exact" in str(plan)
    assert plan.largest_entries == 8.0


def test_C58_the_largest_table_is_known_before():
    """8 entries for figure 14.5, and what is left of them where something is known; 2**n for n together."""
    plan = book.fig_14_5().plan()
    assert (plan.engine, plan.exact, plan.fits) == ("exact", True, True)
    assert (plan.width, plan.largest_entries, len(plan.largest)) == (2, 8.0, 3)
    assert "largest table  8 entries over 3 variables" in str(plan)
    known = book.fig_14_5().plan("W", {"R": True, "S": True})
    assert (known.n_left, known.largest_entries) == (1, 2.0)
    assert book.fig_14_2().plan().largest_entries == 4.0
    for n in (4, 7, 10):
        assert complete(n).plan().largest_entries == 2.0**n


def complete(n: int) -> pgm.MarkovNetwork:
    net = pgm.MarkovNetwork()
    names = [f"x{i}" for i in range(n)]
    for name in names:
        net.add_variable(name, states=[0, 1])
    for a, b in itertools.combinations(names, 2):
        net.add_factor([a, b], [[1.1, 1.0], [1.0, 1.1]])
    return net


def test_C58_what_does_not_fit_is_refused_with_its_size():
    net = complete(60)
    plan = net.plan("x0")
    assert (plan.log2_largest, plan.fits) == (60.0, False)
    with pytest.raises(pgm.TooLarge, match=r"1\.2e\+18 entries") as refused:
        net.query("x0")
    assert "loopy" in str(refused.value)
    # With all but ten observed it is small, and by symmetry even where half of these are on.
    given = {f"x{i}": i % 2 for i in range(10, 60)}
    assert net.plan("x0", given).largest_entries == 2.0**10
    assert net.query("x0", given)[1] == pytest.approx(0.5, abs=1e-12)
    assert net.query("x0", engine="loopy").exact is False


def test_C58_a_small_limit_refuses_the_diamond():
    with pgm.config(memory_limit="1 kB"), pytest.raises(pgm.TooLarge, match="8 entries over 3 variables"):
        book.fig_14_5().query("C", {"W": True})


def test_C58_the_frontier_of_figure_15_8_is_the_weather():
    """O44: however many days, they hang together by C_t alone, and no table grows."""
    net = book.weather(4)
    seen = {"W1": True, "W2": True, "W3": False}
    assert net.probability(seen) == book.near(0.1452507968)
    found = net.marginals(seen)
    for name, values in (
        ("C", (0.5918593436, 0.5548164143, 0.3870698044, 0.4548279217)),
        ("R", (0.6334147042, 0.6044425154, 0.1326201407)),
    ):
        for t, value in enumerate(values, 1):
            assert found[f"{name}{t}"][True] == book.near(value)
    assert found["W4"][True] == book.near(0.641425073)
    filtered = [net.query(f"C{t}", {w: x for w, x in seen.items() if w <= f"W{t}"})[True] for t in (1, 2, 3)]
    assert filtered == book.near([0.5834932821, 0.6156012017, 0.3870698044])
    for days in (2, 40):
        long = book.weather(days)
        assert long.plan().largest_entries == 8.0
        tree = long.junction_tree()
        assert tree.width == 2
        between = [
            separator
            for (a, b), separator in zip(tree.edges, tree.separators, strict=True)
            if {name[1:] for name in tree.cliques[a]} != {name[1:] for name in tree.cliques[b]}
        ]
        assert len(between) >= days - 1
        assert all(len(separator) == 1 and separator[0][0] == "C" for separator in between)
