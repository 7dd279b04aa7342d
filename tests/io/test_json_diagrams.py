"""Influence diagrams in JSON: to the last bit and back, by the schema, and what is refused."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import pgm
from tests.decision_oracle import random_diagram
from tests.models.test_influence_diagram import oil

ROOT = Path(__file__).parents[2]
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs/schema/pgm-2.json").read_text()))


def written(d: pgm.InfluenceDiagram) -> str:
    file = io.StringIO()
    pgm.write(d, file, format="json")
    return file.getvalue()


@pytest.mark.parametrize("seed", range(25))
def test_diagrams_come_back_to_the_last_bit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = random_diagram(rng, chances=4, decisions=2, combine="product" if seed % 3 == 0 else "sum")
    d.add_utility("together", dict.fromkeys(d.utilities, 0.1), parents=d.utilities)
    text = written(d)
    SCHEMA.validate(json.loads(text))
    again = pgm.read(io.StringIO(text), format="json")
    assert again == d
    assert written(again) == text
    assert again.solve().expected_utility == d.solve().expected_utility


def test_files_of_version_1_are_read_and_networks_are_written_so() -> None:
    net = pgm.load_network("asia")
    file = io.StringIO()
    pgm.write(net, file, format="json")
    assert json.loads(file.getvalue())["pgm"] == 1
    assert json.loads(written(oil()))["pgm"] == 2


def change(path: list[Any], value: Any) -> str:
    whole = json.loads(written(oil()))
    part = whole
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    return json.dumps(whole)


BAD = [
    (["pgm"], 1, "version 2"),
    (["influence-diagram", "decisions"], ["drill"], "names each of"),
    (["influence-diagram", "combine"], "max", '"sum" or "product"'),
    (["influence-diagram", "nodes", 3, "decision", "observes"], ["raport"], "Did you mean 'report'"),
    (
        ["influence-diagram", "nodes", 3, "decision"],
        {"observes": [], "allowed": [[False, False]]},
        "no action",
    ),
    (["influence-diagram", "nodes", 3, "decision"], {"observes": [], "allowed": []}, "one row"),
    (["influence-diagram", "utilities", 1, "values"], [1], "numbers|found 1"),
    (["influence-diagram", "utilities", 1, "parents"], ["tset?"], "Did you mean 'test"),
    (["influence-diagram", "utilities", 1, "values"], [1, "x"], "number"),
    (["influence-diagram", "utilities", 1, "name"], "oil", "a node 'oil' already"),
]


@pytest.mark.parametrize(("path", "value", "message"), BAD)
def test_broken_files_are_refused(path: list[Any], value: Any, message: str) -> None:
    with pytest.raises(pgm.FileFormatError, match=message):
        pgm.read(io.StringIO(change(path, value)), format="json")


def test_a_decision_that_observes_its_consequence_is_refused() -> None:
    text = change(["influence-diagram", "nodes", 1, "decision", "observes"], ["report"])
    with pytest.raises(pgm.FileFormatError, match="own consequence"):
        pgm.read(io.StringIO(text), format="json")


def test_functions_have_no_form() -> None:
    d = oil()
    d.add_utility("both", lambda profit, cost: profit + cost, parents=["profit", "cost"])
    with pytest.raises(pgm.InvalidArgument, match="weighted sum"):
        written(d)


@pytest.mark.parametrize("format", ["bif", "uai"])
def test_other_formats_say_that_json_holds_diagrams(format: str) -> None:
    with pytest.raises(pgm.InvalidArgument, match=r"holds Bayesian .*not InfluenceDiagram"):
        pgm.write(oil(), io.StringIO(), format=format)
