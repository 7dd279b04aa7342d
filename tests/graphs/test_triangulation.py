"""Triangulations against brute force on small graphs, and against the clock on large ones."""

from __future__ import annotations

import math
import time

import networkx as nx
import numpy as np
import pytest

from pgm.graphs.triangulation import LOOPS, Triangulation, triangulate
from tests.graphs import twins
from tests.loops.forms import FORMS
from tests.machine import slowness


def graphs(count: int = 60) -> list[nx.Graph]:
    """Random graphs of all densities, with isolated vertices, parts, and none at all."""
    found = [nx.empty_graph(0), nx.empty_graph(1), nx.empty_graph(5), nx.star_graph(6), nx.cycle_graph(7)]
    found += [
        nx.convert_node_labels_to_integers(nx.grid_2d_graph(4, 5)),
        nx.complete_graph(6),
        nx.path_graph(9),
    ]
    for seed in range(count):
        found.append(nx.gnp_random_graph(seed % 17 + 2, (seed % 7 + 1) / 10, seed=seed))
    return found


def cards(n: int, seed: int = 0) -> np.ndarray:
    """log2 of random cards from 1 to 6."""
    return np.log2(np.random.default_rng(seed).integers(1, 7, n)).astype(float)


def check(graph: nx.Graph, log2_card: np.ndarray, found: Triangulation) -> None:
    """All that a triangulation promises."""
    n = graph.number_of_nodes()
    assert sorted(found.order.tolist()) == list(range(n))
    full, steps = twins.filled(graph, found.order.tolist())
    cliques = [set(found.clique(c).tolist()) for c in range(found.n_cliques)]
    wanted = {frozenset(c) for c in nx.find_cliques(full)} if n else set()
    assert {frozenset(c) for c in cliques} == wanted == twins.maximal(steps)
    assert len(cliques) == len(wanted)
    assert found.log2_total == pytest.approx(twins.log2_sum(wanted, log2_card))
    if n:
        assert found.log2_largest == pytest.approx(max(sum(log2_card[v] for v in sorted(c)) for c in wanted))
    place = {v: i for i, v in enumerate(found.order.tolist())}
    for c in range(found.n_cliques):
        members, separator = found.clique(c).tolist(), found.separator(c).tolist()
        assert members == sorted(members, key=place.__getitem__)
        assert found.n_residual[c] >= 1
        if found.parent[c] < 0:
            assert not separator
        else:
            assert found.parent[c] > c
            assert set(separator) == cliques[c] & cliques[found.parent[c]]
            assert separator
    # Running intersection: the cliques of each variable are one subtree, so just one of them has it as
    # residual.
    owners = [v for c in range(found.n_cliques) for v in found.clique(c)[: found.n_residual[c]].tolist()]
    assert sorted(owners) == list(range(n))


@pytest.mark.parametrize("form", FORMS)
def test_triangulations_keep_their_promises(form):
    with FORMS[form]():
        for seed, graph in enumerate(graphs(20 if form == "interpreted" else 200)):
            log2_card = cards(len(graph), seed)
            check(graph, log2_card, triangulate(*twins.arrays(graph), log2_card, budget=2e3))
            shuffled = np.random.default_rng(seed).permutation(len(graph))
            check(graph, log2_card, triangulate(*twins.arrays(graph), log2_card, order=shuffled))


def test_interpreted_and_compiled_find_the_same():
    for seed, graph in enumerate(graphs(25)):
        args = (*twins.arrays(graph), cards(len(graph), seed))
        found = []
        for form in FORMS.values():
            with form():
                found.append(vars(triangulate(*args, budget=1e4, seed=3)))
        for other in found[1:]:
            for field, value in found[0].items():
                np.testing.assert_array_equal(value, other[field], err_msg=field)


@pytest.mark.parametrize("fills", [False, True])
def test_greedy_matches_its_twin(fills):
    for seed, graph in enumerate(graphs()):
        n = len(graph)
        if n == 0:
            continue
        log2_card = cards(n, seed)
        weight = np.round(2.0**log2_card) if seed % 2 else np.ones(n)
        indptr, indices = twins.arrays(graph)
        missing = np.empty(n)
        LOOPS.missing_edges(indptr, indices, weight, missing, np.zeros(1, np.uint8))
        np.testing.assert_array_equal(missing, twins.missing_edges(graph, weight))
        order = np.empty(n, np.int32)
        status, total, _ = LOOPS.greedy(
            indptr, indices, log2_card, np.zeros(n, np.int64), weight, missing, np.ones(n), int(fills),
            math.inf, 1e9, order, np.zeros(1, np.uint8),
        )  # fmt: skip
        assert status == 0
        _, steps = twins.filled(graph, order.tolist())
        assert twins.log2_sum(twins.maximal(steps), log2_card) <= total + 1e-9
        _, slow = twins.filled(graph, twins.greedy(graph, log2_card, weight, fills))
        assert twins.log2_sum(twins.maximal(steps), log2_card) == pytest.approx(
            twins.log2_sum(twins.maximal(slow), log2_card)
        )


def test_simplicial_vertices_end_chordal_graphs():
    for seed in range(20):
        tree = nx.random_labeled_tree(30, seed=seed)
        order = np.empty(30, np.int32)
        indptr, indices = twins.arrays(tree)
        assert LOOPS.simplicial_prefix(indptr, indices, np.zeros(30, np.int64), order) == 30
        assert triangulate(indptr, indices, np.ones(30)).n_cliques == 29


def test_stages_go_in_turn():
    for seed, graph in enumerate(graphs(30)):
        n = len(graph)
        stage = np.random.default_rng(seed).integers(0, 3, n)
        found = triangulate(*twins.arrays(graph), cards(n, seed), stage=stage, budget=1e4)
        check(graph, cards(n, seed), found)
        assert (np.diff(stage[found.order]) >= 0).all()


def test_what_is_linked_and_comes_last_is_one_clique_without_a_parent():
    """Whatever else hangs on some of it: a joint distribution is read off there."""
    for seed, graph in enumerate(graphs(30)):
        n = len(graph)
        last = np.random.default_rng(seed).permutation(n)[: 2 + seed % 3]
        graph.add_edges_from((a, b) for a in last for b in last if a != b)
        stage = np.zeros(n, np.int64)
        stage[last] = 1
        found = triangulate(*twins.arrays(graph), cards(n, seed), stage=stage, budget=1e4)
        check(graph, cards(n, seed), found)
        owners = {
            c
            for c in range(found.n_cliques)
            if set(found.clique(c)[: found.n_residual[c]].tolist()) & set(last.tolist())
        }
        assert len(owners) == min(1, last.size)
        assert all(found.parent[c] == -1 for c in owners)


def test_the_least_largest_clique_matches_its_twin_and_bounds_every_order():
    for seed, graph in enumerate(graphs()):
        log2_card = cards(len(graph), seed)
        least = LOOPS.least_clique(*twins.arrays(graph), log2_card)
        assert least == pytest.approx(twins.least_clique(graph, log2_card))
        rng = np.random.default_rng(seed)
        for order in (None, *(rng.permutation(len(graph)) for _ in range(3))):
            found = triangulate(*twins.arrays(graph), log2_card, order=order, budget=2e3)
            assert found.log2_largest >= least - 1e-9


def test_no_restart_hopes_for_what_no_order_can_have():
    """Past the limit by a little in every order: restarts would cost the whole budget."""
    graph = nx.complete_graph(60)
    graph.remove_edges_from([(2 * i, 2 * i + 1) for i in range(30)])
    args = (*twins.arrays(graph), np.ones(60))
    triangulate(*args, limit_log2=45.0, effort=0.0)
    start = time.thread_time()
    found = triangulate(*args, limit_log2=45.0, effort=2.0)
    assert time.thread_time() - start < 0.1 * slowness()  # restarts alone took 0.36
    assert (found.complete, found.log2_largest) == (False, 59.0)


def test_limit_and_stop():
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(12, 12))
    found = triangulate(*twins.arrays(grid), np.ones(144), limit_log2=10.0)
    assert not found.complete
    assert found.n_cliques == 0
    assert 10.0 < found.log2_total < 30.0
    assert triangulate(*twins.arrays(grid), np.ones(144), stop=np.ones(1, np.uint8)).stopped


def test_columns_match_their_twin():
    for seed, graph in enumerate(graphs()):
        n = len(graph)
        log2_card, order = cards(n, seed), np.random.default_rng(seed).permutation(n).astype(np.int32)
        parent, count, weight = np.empty(n, np.int32), np.empty(n, np.int64), np.empty(n)
        given, order = order, LOOPS.postordered(*twins.arrays(graph), order, parent)
        total, largest, sizes = LOOPS.columns(*twins.arrays(graph), log2_card, order, parent, count, weight)
        assert sorted(map(sorted, twins.filled(graph, given.tolist())[1])) == sorted(
            map(sorted, twins.filled(graph, order.tolist())[1])
        )
        _, steps = twins.filled(graph, order.tolist())
        place = {v: i for i, v in enumerate(order.tolist())}
        for i, clique in enumerate(steps):
            assert parent[i] == min((place[v] for v in clique if place[v] > i), default=-1)
            assert count[i] == len(clique)
            assert weight[i] == pytest.approx(sum(log2_card[v] for v in sorted(clique)))
        wanted = twins.maximal(steps)
        assert total == pytest.approx(twins.log2_sum(wanted, log2_card))
        assert sizes == sum(map(len, wanted))
        assert n == 0 or largest == pytest.approx(weight.max())


def test_cuthill_mckee_matches_its_twin():
    for graph in graphs():
        order = np.empty(len(graph), np.int32)
        LOOPS.cuthill_mckee(*twins.arrays(graph), order)
        assert order.tolist() == twins.cuthill_mckee(graph)


def test_the_core_and_neighbourhoods_match_their_twins():
    for graph in graphs():
        n = len(graph)
        order, stage, log2_card = np.empty(n, np.int32), np.zeros(n, np.int64), cards(n)
        done, names, ptr, ids, core_cards, _ = LOOPS.core(*twins.arrays(graph), log2_card, stage, order)
        left = graph.copy()
        for v in order[:done].tolist():
            assert all(left.has_edge(a, b) for a in left[v] for b in left[v] if a < b)
            left.remove_node(v)
        for v in left:
            assert any(not left.has_edge(a, b) for a in left[v] for b in left[v] if a < b)
        assert names.tolist() == sorted(left)
        assert core_cards.tolist() == log2_card[names].tolist()
        wanted = twins.arrays(nx.convert_node_labels_to_integers(left, ordering="sorted"))
        assert [a.tolist() for a in (ptr, ids)] == [a.tolist() for a in wanted]
        if n:
            ptr, ids, names = LOOPS.neighbourhood(*twins.arrays(graph), 0, max(1, n // 2))
            far = nx.single_source_shortest_path_length(graph, 0)
            assert len(names) == min(len(far), max(1, n // 2)) == len(set(names.tolist()))
            distances = [far[v] for v in names.tolist()]
            assert distances == sorted(distances)
            near = {(names[a], names[b]) for a in range(len(names)) for b in ids[ptr[a] : ptr[a + 1]]}
            assert near == {(a, b) for a in names for b in names if graph.has_edge(a, b)}


def test_large_graphs_end_soon():
    # These were minutes where something was quadratic; nothing here depends on how fast the machine is.
    n = 100_000
    one, two = np.arange(n - 1), np.arange(1, n)
    chain = triangulate(*twins.of_edges(n, one, two), np.ones(n))
    assert (chain.n_cliques, chain.heuristic) == (n - 1, "simplicial")
    hub = triangulate(*twins.of_edges(20_001, np.zeros(20_000, int), np.arange(1, 20_001)), np.ones(20_001))
    assert hub.n_cliques == 20_000
    rim = np.arange(1, n)
    wheel = twins.of_edges(n, np.r_[np.zeros(n - 1, int), rim], np.r_[rim, np.roll(rim, 1)])
    assert triangulate(*wheel, np.ones(n)).log2_largest == 4.0
    at = np.arange(300 * 300).reshape(300, 300)
    grid = twins.of_edges(
        at.size, np.r_[at[1:].ravel(), at[:, 1:].ravel()], np.r_[at[:-1].ravel(), at[:, :-1].ravel()]
    )
    found = triangulate(*grid, np.ones(at.size), limit_log2=31.0)
    assert not found.complete
    assert found.log2_total > 300
    assert sorted(found.order.tolist()) == list(range(at.size))
