"""Causal graphs in JSON: back as they were, by the schema, and refused in words."""

from __future__ import annotations

import io
import json
from pathlib import Path

import jsonschema
import pytest

import pgm

ROOT = Path(__file__).parents[2]
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((ROOT / "docs/schema/pgm-2.json").read_text(encoding="utf-8"))
)
GRAPH = pgm.CausalGraph("w -> z -> x -> y; w <-> x; w <-> y; alone")


def written(graph):
    file = io.StringIO()
    pgm.write(graph, file, format="json")
    return file.getvalue()


def read(text):
    return pgm.read(io.StringIO(text), format="json")


def test_there_and_back():
    text = written(GRAPH)
    SCHEMA.validate(json.loads(text))
    assert read(text) == GRAPH
    assert read(text).nodes == GRAPH.nodes
    assert written(read(text)) == text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arrows": [["x", "q"]]}, "no node 'q'"),
        ({"arrows": [["q", "x"]]}, "no variable 'q'"),
        ({"arrows": [["x", "y", "z"]]}, "a pair of names"),
        ({"arrows": [["x", "y"], ["y", "x"]]}, "cycle"),
        ({"hidden": [["x", "x"]]}, "."),
        ({"nodes": "x"}, "names of the nodes"),
        ({"more": 1}, "more"),
    ],
)
def test_what_is_no_graph(change, message):
    inside = {"nodes": ["x", "y", "z"], "arrows": []} | change
    with pytest.raises(pgm.FileFormatError, match=message):
        read(json.dumps({"pgm": 2, "causal-graph": inside}))
