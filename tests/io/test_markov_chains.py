"""Markov chains in JSON, to the last bit."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

import pgm

RANDOM = np.random.default_rng(0)
SECOND = pgm.MarkovChain(
    [RANDOM.dirichlet([1, 1, 1]), RANDOM.dirichlet([1, 1, 1], 3)],
    RANDOM.dirichlet([1, 1, 1], (3, 3)),
    states=["a", 2, True],
    order=2,
    name="second",
)
WEATHER = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.3, 0.7]], states=["dry", "wet"])
LEARNED = pgm.MarkovChain(states=["dry", "wet"]).fit([["dry", "dry", "wet", "dry"], ["dry", "wet", "wet"]])


def written(chain: pgm.MarkovChain) -> str:
    file = io.StringIO()
    pgm.write(chain, file, format="json")
    return file.getvalue()


@pytest.mark.parametrize("chain", [SECOND, WEATHER, LEARNED], ids=["second", "weather", "learned"])
def test_chains_are_written_and_read(chain: pgm.MarkovChain) -> None:
    again = pgm.read(io.StringIO(written(chain)), format="json")
    assert again == chain
    assert again.name == chain.name
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((Path(__file__).parents[2] / "docs" / "schema" / "pgm-1.json").read_text())
    jsonschema.validate(json.loads(written(chain)), schema)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("0.9", "0.8"), "sums to 0.9"),
        (("0.9", '"x"'), "expected a number"),
        (('"order": 1', '"order": 2'), "a chain of order 2 has 3 tables, found 2"),
        (('"order": 1', '"order": 9'), "a whole number 1 to 8"),
        (('"order"', '"ordre"'), "ordre"),
        (('["dry", "wet"]', '["dry", "wet", "hot"]'), "3 numbers expected, found 2"),
    ],
)
def test_files_that_are_no_chain(change: tuple[str, str], said: str) -> None:
    text = json.dumps(json.loads(written(WEATHER)))
    assert change[0] in text
    with pytest.raises(pgm.FileFormatError) as error:
        pgm.read(io.StringIO(text.replace(*change)), format="json")
    assert said in str(error.value)


def test_a_chain_without_numbers_is_not_written() -> None:
    with pytest.raises(pgm.IncompleteModel):
        written(pgm.MarkovChain(states=["dry", "wet"]))
