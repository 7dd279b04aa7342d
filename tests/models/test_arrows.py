"""Arrows as text and as pairs."""

import networkx as nx
import pytest

import pgm
from pgm.models.arrows import parse, sort


@pytest.mark.parametrize(
    ("edges", "parents"),
    [
        (
            "smoking -> cancer <- pollution",
            {"smoking": (), "cancer": ("smoking", "pollution"), "pollution": ()},
        ),
        ("a -> b -> c; a -> b", {"a": (), "b": ("a",), "c": ("b",)}),
        ("a->b\nc<-b;", {"a": (), "b": ("a",), "c": ("b",)}),
        (
            "  blood pressure ->pixel 0 3 ; alone",
            {"blood pressure": (), "pixel 0 3": ("blood pressure",), "alone": ()},
        ),
        ([("a", "b"), ["c", "b"]], {"a": (), "b": ("a", "c"), "c": ()}),
        (
            [("x", "pixel[0,3]"), ("b,c", "a{b}")],
            {"x": (), "pixel[0,3]": ("x",), "b,c": (), "a{b}": ("b,c",)},
        ),
        (["a -> b", "b -> c"], {"a": (), "b": ("a",), "c": ("b",)}),
        ((pair for pair in [("a->", "b;")]), {"a->": (), "b;": ("a->",)}),
        (nx.DiGraph([("a", "b")]), {"a": (), "b": ("a",)}),
        (nx.DiGraph([("a", "b")]).edges, {"a": (), "b": ("a",)}),
        ("", {}),
        ([], {}),
    ],
)
def test_forms(edges, parents):
    assert parse(edges) == parents


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        ("a -> b -> c -> a", "a -> b -> c -> a"),
        ("z -> a -> a", "a -> a"),
        ("x -> y <- z; y -> w; w -> v -> y", "v -> y -> w -> v"),
        ("a <-> b", "one way"),
        ("a -> ", "no name"),
        ("-> a", "no name"),
        ("a -> -> b", "no name"),
        ([("a",)], "pair"),
        ([("a", "b", "c")], "pair"),
        ([("a", 1)], "no name"),
        ([("a", "")], "no name"),
        ([3], "pair"),
        (("a", "b"), "pair"),
        (nx.Graph([("a", "b")]), "directed"),
        (nx.DiGraph([(1, 2)]), "no name"),
        (3, "edges="),
        ({"a": "b"}, "edges="),
        (b"a->b", "edges="),
        ({("a", "b"), ("c", "b")}, "edges= takes .* a list of pairs"),
        # as pyAgrum's fastBN writes states
        ("a->b[3]", r"'\[3\]' is not part of an arrow; states are declared .* states="),
        ("a{yes|no}->b", r"'\{yes\|no\}' is not part of an arrow"),
        ("a[1,5]->b<-c", r"'\[1,5\]' is not part"),
        ("a -> b]", r"'\]' is not part"),
    ],
)
def test_mistakes(edges, words):
    with pytest.raises(pgm.InvalidStructure, match=words):
        parse(edges)


def test_long_cycles_are_found_and_shortened():
    n = 200_000
    edges = [(f"x{i}", f"x{(i + 1) % n}") for i in range(n)]
    with pytest.raises(pgm.InvalidStructure) as caught:
        parse(edges)
    assert len(str(caught.value)) < 300


def test_sort_keeps_the_order_where_it_can():
    assert sort({"c": ("a",), "b": (), "a": (), "d": ("c", "b")}) == ["b", "a", "c", "d"]


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("a -- b", "--"),
        ("a => b", "=>"),
        ("a <= b", "<="),
        ("a → b", "→"),
        ("a -> b, c", ","),
        ("a, b -> c", ","),
        ("a->b,c->b", ","),
    ],
)
def test_what_was_meant_as_an_arrow_is_no_name(text: str, mark: str) -> None:
    with pytest.raises(pgm.errors.InvalidStructure, match="is not an arrow; write `->`") as caught:
        parse(text)
    assert repr(mark) in str(caught.value)
    assert parse([("b, c", "a -- b")]) == {"b, c": (), "a -- b": ("b, c",)}  # in pairs every name is one
