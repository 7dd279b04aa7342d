"""Layers and places: nothing overlaps, links lead down, the same graph gives the same picture."""

from __future__ import annotations

import itertools
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgm.graphs.layout import Bend, crossings, layers
from pgm.plot.placement import place

SIZE = (60.0, 20.0)


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 14))
    pairs = [(i, j) for j in range(n) for i in range(j)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=30)) if pairs else []
    names = draw(st.permutations(range(n)))
    return [f"v{i}" for i in names], [(f"v{i}", f"v{j}") for i, j in chosen]


def places(nodes, links):
    return place(dict.fromkeys(nodes, SIZE), links, gap_x=16.0, gap_y=30.0)


def overlap(a, b):
    return abs(a[0] - b[0]) < SIZE[0] - 1e-6 and abs(a[1] - b[1]) < SIZE[1] - 1e-6


@given(graphs())
def test_boxes_keep_apart_and_every_link_leads_down(graph):
    nodes, links = graph
    at, routes = places(nodes, links)
    assert set(at) == set(nodes)
    assert set(routes) == set(links)
    assert not any(overlap(at[a], at[b]) for a, b in itertools.combinations(nodes, 2))
    for (tail, head), route in routes.items():
        down = [y for _, y in route]
        assert down == sorted(down, reverse=True)
        assert route[0][1] == pytest.approx(
            at[tail][1] - SIZE[1] / 2
        )  # leaves at the border of its first box
        assert route[-1][1] == pytest.approx(at[head][1] + SIZE[1] / 2)  # and ends at that of its second
        assert abs(route[0][0] - at[tail][0]) <= SIZE[0] / 2
        assert abs(route[-1][0] - at[head][0]) <= SIZE[0] / 2


@given(graphs())
def test_long_links_pass_beside_boxes(graph):
    nodes, links = graph
    at, routes = places(nodes, links)
    for link, route in routes.items():
        for (x0, y0), (x1, y1) in itertools.pairwise(route):
            if x0 == x1:  # down through a layer
                for node in set(nodes) - set(link):
                    x, y = at[node]
                    beside = abs(x - x0) > SIZE[0] / 2 - 1e-6
                    assert beside or y + SIZE[1] / 2 <= y1 + 1e-6 or y - SIZE[1] / 2 >= y0 - 1e-6


@given(graphs())
def test_the_same_graph_gives_the_same_picture(graph):
    assert places(*graph) == places(*graph)


def test_a_bend_in_every_layer_that_a_link_passes():
    laid = layers(["a", "b", "c", "d"], [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")])
    assert laid.chains["a", "d"] == ["a", Bend(("a", "d"), 1), Bend(("a", "d"), 2), "d"]
    assert crossings(laid.rows, laid.below) == 0


def test_a_tree_is_drawn_without_crossings():
    rnd = random.Random(0)
    links = [(f"v{rnd.randrange(i)}", f"v{i}") for i in range(1, 60)]
    laid = layers([f"v{i}" for i in range(60)], links)
    assert crossings(laid.rows, laid.below) <= 2


def test_many_leaves_take_several_rows():
    laid = layers(["c", *map(str, range(200))], [("c", str(i)) for i in range(200)])
    assert max(sum(not isinstance(item, Bend) for item in row) for row in laid.rows) <= 25


@pytest.mark.parametrize("n", [1_000, 3_000])
def test_a_large_graph_takes_seconds(n):
    rnd = random.Random(1)
    links = [(f"v{max(0, i - rnd.randrange(1, 60))}", f"v{i}") for i in range(1, n) for _ in range(2)]
    start = time.perf_counter()
    places([f"v{i}" for i in range(n)], list(dict.fromkeys(links)))
    assert time.perf_counter() - start < 60


def test_a_chain_longer_than_the_stack():
    nodes = [f"v{i}" for i in range(3_000)]
    at, _ = places(nodes, list(itertools.pairwise(nodes)))
    assert len({x for x, _ in at.values()}) == 1
