"""Equivalent graphs, beside brute force: all DAGs of four nodes sorted by skeleton and v-structures."""

from __future__ import annotations

import itertools
import pickle
from collections import defaultdict

import networkx as nx
import numpy as np
import pytest

import pgm
from pgm.graphs import CPDAG, equivalence

Arcs = frozenset[tuple[int, int]]


def all_dags(n: int) -> list[Arcs]:
    """Every DAG on n labelled nodes, by trying each pair three ways."""
    pairs = list(itertools.combinations(range(n), 2))
    found = []
    for ways in itertools.product((0, 1, 2), repeat=len(pairs)):
        arcs = [pair if way == 1 else pair[::-1] for pair, way in zip(pairs, ways, strict=True) if way]
        if nx.is_directed_acyclic_graph(nx.DiGraph(arcs)):
            found.append(frozenset(arcs))
    return found


def parents_of(arcs: Arcs, n: int) -> list[set[int]]:
    return [{a for a, b in arcs if b == v} for v in range(n)]


def colliders(arcs: Arcs) -> frozenset[tuple[frozenset[int], int]]:
    """v-structures straight from the definition."""
    beside = {frozenset(arc) for arc in arcs}
    return frozenset(
        (frozenset((a, b)), c)
        for (a, c), (b, d) in itertools.combinations(sorted(arcs), 2)
        if c == d and frozenset((a, b)) not in beside
    )


@pytest.fixture(scope="module")
def classes() -> dict[object, list[Arcs]]:
    """The DAGs of four nodes by skeleton and v-structures (Verma & Pearl 1990)."""
    found: dict[object, list[Arcs]] = defaultdict(list)
    for arcs in all_dags(4):
        found[frozenset(map(frozenset, arcs)), colliders(arcs)].append(arcs)
    return found


def test_there_are_543_graphs_of_four_nodes_in_185_classes(classes: dict[object, list[Arcs]]) -> None:
    """Robinson 1973; Gillispie & Perlman 2001."""
    assert sum(map(len, classes.values())) == 543
    assert len(classes) == 185


def test_a_cpdag_has_the_arcs_that_all_members_share(classes: dict[object, list[Arcs]]) -> None:
    for members in classes.values():
        shared = frozenset.intersection(*members)
        either = {frozenset(arc) for arc in members[0] if arc not in shared}
        for arcs in members:
            fixed, free = equivalence.compelled(parents_of(arcs, 4))
            assert {(u, v) for v in range(4) for u in fixed[v]} == shared
            assert {frozenset((u, v)) for v in range(4) for u in free[v]} == either
            assert {
                (frozenset((a, b)), c) for a, c, b in equivalence.v_structures(parents_of(arcs, 4))
            } == colliders(arcs)


def test_the_extension_of_a_cpdag_is_a_member(classes: dict[object, list[Arcs]]) -> None:
    for members in classes.values():
        made = equivalence.extension(*equivalence.compelled(parents_of(members[0], 4)))
        assert made is not None
        assert frozenset((u, v) for v in range(4) for u in made[v]) in members


def test_a_pattern_is_completed_by_the_rules_of_meek(classes: dict[object, list[Arcs]]) -> None:
    """From v-structures alone, and from each arc of background knowledge besides."""
    for members in classes.values():
        arcs = members[0]
        for known in [None, *sorted({arc for member in members for arc in member})]:
            some = [member for member in members if known is None or known in member]
            parents = parents_of(frozenset((a, c) for pair, c in colliders(arcs) for a in pair), 4)
            if known is not None:
                parents[known[1]].add(known[0])
            beside = [
                {
                    w
                    for arc in arcs
                    for w in arc
                    if v in arc and w != v and w not in parents[v] and v not in parents[w]
                }
                for v in range(4)
            ]
            equivalence.orient(parents, beside)
            assert {(u, v) for v in range(4) for u in parents[v]} == frozenset.intersection(*some)


def test_what_no_graph_extends() -> None:
    """A square without chords: whatever way it is directed, there is a new v-structure or a cycle."""
    square = CPDAG("abcd", [], [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    with pytest.raises(pgm.InvalidStructure, match="No directed acyclic graph"):
        square.extension()


def test_larger_graphs_go_there_and_back() -> None:
    rng = np.random.default_rng(0)
    for n in (20, 60):
        order = rng.permutation(n)
        parents = [set() for _ in range(n)]
        for i, j in itertools.combinations(range(n), 2):
            if rng.random() < 3 / n:
                parents[order[j]].add(int(order[i]))
        fixed, free = equivalence.compelled(parents)
        made = equivalence.extension(fixed, free)
        assert made is not None
        assert equivalence.compelled(made) == (fixed, free)
        assert equivalence.v_structures(made) == equivalence.v_structures(parents)


def test_the_class_of_a_network() -> None:
    asia = pgm.load_network("asia")
    found = asia.cpdag()
    assert (
        found.v_structures == (("lung", "either", "tub"), ("bronc", "dysp", "either")) or found.v_structures
    )
    assert set(found.directed) == {
        ("tub", "either"),
        ("lung", "either"),
        ("either", "xray"),
        ("either", "dysp"),
        ("bronc", "dysp"),
    }
    assert set(map(frozenset, found.undirected)) == {
        frozenset(e) for e in (("asia", "tub"), ("smoke", "lung"), ("smoke", "bronc"))
    }
    assert pickle.loads(pickle.dumps(found)) == found
    assert found == CPDAG.of(found.extension())
    assert hash(found) == hash(CPDAG.of(found.extension()))
    assert "smoke - lung" in repr(found) or "lung - smoke" in repr(found)
    assert "<table" in found._repr_html_()
    with pytest.raises(AttributeError, match="does not change"):
        found.nodes = ()  # type: ignore[misc]


@pytest.mark.parametrize(
    ("arcs", "edges", "said"),
    [
        ([("a", "a")], [], "joins 'a' to itself"),
        ([("a", "b")], [("b", "a")], "two edges between 'a' and 'b'"),
        ([("a", "x")], [], "no variable 'x'"),
    ],
)
def test_what_is_no_graph(arcs: list[tuple[str, str]], edges: list[tuple[str, str]], said: str) -> None:
    with pytest.raises(pgm.PGMError, match=said):
        CPDAG(["a", "b"], arcs, edges)
