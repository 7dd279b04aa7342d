"""Places: nothing overlaps, links lead down and beside boxes, plates hold their own nodes only."""

from __future__ import annotations

import itertools
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgm.plot.placement import place
from pgm.plot.plates import Plates

SIZE = (60.0, 20.0)


@st.composite
def graphs(draw, most=14):
    n = draw(st.integers(1, most))
    pairs = [(i, j) for j in range(n) for i in range(j)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=30)) if pairs else []
    names = draw(st.permutations(range(n)))
    sizes = {f"v{i}": (draw(st.floats(30, 200)), draw(st.floats(12, 130))) for i in names}
    return sizes, [(f"v{i}", f"v{j}") for i, j in chosen]


def places(sizes, links, plates=None):
    return place(sizes, links, gap_x=16.0, gap_y=30.0, plates=plates)


def box(at, size):
    return at[0] - size[0] / 2, at[1] - size[1] / 2, at[0] + size[0] / 2, at[1] + size[1] / 2


def overlap(a, b):
    return a[0] < b[2] - 1e-6 and b[0] < a[2] - 1e-6 and a[1] < b[3] - 1e-6 and b[1] < a[3] - 1e-6


def inside(a, b):
    return b[0] <= a[0] and b[1] <= a[1] and a[2] <= b[2] and a[3] <= b[3]


def runs_through(route, rectangle):
    """Whether a route of vertical and S-shaped pieces, as drawn, meets the inside of a box."""
    for (x0, y0), (x1, y1) in itertools.pairwise(route):
        # A piece keeps within the rectangle between its two ends.
        piece = min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)
        if overlap((piece[0] - 1e-3, piece[1], piece[2] + 1e-3, piece[3]), rectangle):
            return True
    return False


@settings(deadline=None, max_examples=100)
@given(graphs())
def test_boxes_keep_apart_and_every_link_leads_down(graph):
    sizes, links = graph
    placed = places(sizes, links)
    assert set(placed.at) == set(sizes)
    assert set(placed.routes) == set(links)
    boxes = {node: box(placed.at[node], sizes[node]) for node in sizes}
    assert not any(overlap(a, b) for a, b in itertools.combinations(boxes.values(), 2))
    assert all(inside(b, (-1e-6, -placed.height - 1e-6, placed.width + 1e-6, 1e-6)) for b in boxes.values())
    for (tail, head), route in placed.routes.items():
        down = [y for _, y in route]
        assert all(a > b for a, b in itertools.pairwise(down))
        assert route[0][1] == pytest.approx(boxes[tail][1])  # leaves at the lower border of its first box
        assert route[-1][1] == pytest.approx(boxes[head][3])  # and ends at the upper one of its second
        assert boxes[tail][0] <= route[0][0] <= boxes[tail][2]
        assert boxes[head][0] <= route[-1][0] <= boxes[head][2]


@settings(deadline=None, max_examples=100)
@given(graphs())
def test_no_link_runs_through_a_box(graph):
    sizes, links = graph
    placed = places(sizes, links)
    boxes = {node: box(placed.at[node], sizes[node]) for node in sizes}
    for link, route in placed.routes.items():
        assert not [node for node in sizes if node not in link and runs_through(route, boxes[node])]


@settings(deadline=None, max_examples=100)
@given(graphs())
def test_the_same_graph_gives_the_same_picture(graph):
    assert places(*graph) == places(*graph)


@settings(deadline=None, max_examples=100)
@given(graphs(most=12), st.data())
def test_plates_hold_their_nodes_and_no_stranger(graph, data):
    sizes, links = graph
    nodes = list(sizes)
    outer = data.draw(st.lists(st.sampled_from(nodes), unique=True, min_size=1))
    inner = data.draw(st.lists(st.sampled_from(outer), unique=True, min_size=1))
    members = {"outer": outer, "inner": inner}
    rest = [node for node in nodes if node not in outer]
    if rest:
        members["other"] = data.draw(st.lists(st.sampled_from(rest), unique=True, min_size=1))
    placed = places(sizes, links, Plates(members))
    boxes = {node: box(placed.at[node], sizes[node]) for node in nodes}
    assert not any(overlap(a, b) for a, b in itertools.combinations(boxes.values(), 2))
    for label, frame in placed.frames.items():
        for node in nodes:
            if node in members[label]:
                assert inside(boxes[node], frame)
            else:
                assert not overlap(boxes[node], frame)
    assert inside(placed.frames["inner"], placed.frames["outer"])
    if rest:
        assert not overlap(placed.frames["other"], placed.frames["outer"])
    for link, route in placed.routes.items():
        assert not [node for node in nodes if node not in link and runs_through(route, boxes[node])]


def test_parts_that_are_not_connected_share_the_page():
    sizes = {f"v{i}": SIZE for i in range(60)}
    placed = places(sizes, [])
    assert len({y for _, y in placed.at.values()}) > 3  # not one row of sixty
    assert 0.5 < placed.width / placed.height < 4


@pytest.mark.parametrize("n", [1_000, 3_000])
def test_a_large_graph_takes_seconds(n):
    rnd = random.Random(1)
    links = [(f"v{max(0, i - rnd.randrange(1, 60))}", f"v{i}") for i in range(1, n) for _ in range(2)]
    start = time.process_time()
    places({f"v{i}": SIZE for i in range(n)}, list(dict.fromkeys(links)))
    assert time.process_time() - start < 60


def test_a_chain_longer_than_the_stack():
    nodes = [f"v{i}" for i in range(3_000)]
    placed = places(dict.fromkeys(nodes, SIZE), list(itertools.pairwise(nodes)))
    assert len({x for x, _ in placed.at.values()}) == 1
