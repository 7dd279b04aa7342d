"""The bundled networks: they are there, they are what their sources say, and they give the books' numbers."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import pgm
from tests.io.make_bundled import PUBLISHED, diagrams, from_books
from tests.io.models import all_bits
from tests.known.test_references import questions

ROOT = Path(__file__).parents[2]
NETWORKS = ROOT.parent / "shared" / "networks"
BOOKS: dict[str, object] = {name: net for name, net, _ in from_books()}
DIAGRAMS = {name: diagram for name, diagram, _ in diagrams()}
BOOKS |= DIAGRAMS


def test_all_are_listed_with_nodes_and_source():
    found = pgm.list_networks()
    assert set(found) == {*BOOKS, *PUBLISHED}
    assert next(iter(found)) == "rain_14_1"
    assert list(found)[-1] == "alarm"
    assert (found["alarm"].nodes, found["alarm"].edges) == (37, 46)  # Beinlich et al. 1989
    assert (found["asia"].nodes, found["asia"].edges) == (8, 8)
    for name, entry in found.items():
        net = pgm.load_network(name)
        assert (entry.name, entry.nodes, entry.edges) == (name, len(net), len(net.edges))
        assert len(entry.source) > 40
        assert net.name
        assert (entry.kind == "influence diagram") == (name in DIAGRAMS)


def test_the_list_prints_as_a_table():
    found = pgm.list_networks()
    lines = repr(found).splitlines()
    assert lines[0].split() == ["name", "kind", "nodes", "edges", "source"]
    assert len(lines) == len(found) + 1
    assert max(map(len, lines)) <= 110
    assert found["sachs"].source.replace("'", "&#x27;") in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["asia"]["nodes"] == 8


def test_an_unknown_name_has_a_near_one():
    with pytest.raises(
        pgm.InvalidArgument, match=r"No network 'Alarm' comes with pgm; .* Did you mean 'alarm'\?"
    ):
        pgm.load_network("Alarm")
    for other in ("../data/alarm", "", 3, ["alarm"], None):
        with pytest.raises(pgm.InvalidArgument, match="list_networks"):
            pgm.load_network(other)


@pytest.mark.parametrize("name", BOOKS)
def test_networks_of_books_are_those_that_the_known_answers_test(name):
    assert pgm.load_network(name) == BOOKS[name]


@pytest.mark.skipif(not NETWORKS.exists(), reason="the networks are not beside this checkout")
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_networks_are_their_originals_to_the_last_bit(name):
    original = pgm.read(NETWORKS / f"{name}.bif.gz")
    found = pgm.load_network(name)
    assert found == original
    assert all_bits(found)[1] == all_bits(original)[1]
    assert [v.states for v in found.variables.values()] == [v.states for v in original.variables.values()]


@pytest.mark.parametrize("name", [*BOOKS, *PUBLISHED])
def test_files_follow_the_schema(name):
    version = 2 if name in DIAGRAMS else 1
    schema = json.loads((ROOT / f"docs/schema/pgm-{version}.json").read_text())
    text = (files("pgm") / "data" / f"{name}.json").read_text(encoding="utf-8")
    jsonschema.Draft202012Validator(schema).validate(json.loads(text))


def test_diagrams_are_worth_what_their_books_say():
    """C.md, O23; E.md, O16 and O20; Raiffa."""
    worth = {"reject_14_14": -0.484, "sprinkler_14_8": 8.2, "tiger_18_7": 28.5, "oil_wildcatter": 22.5}
    for name, value in worth.items():
        assert pgm.load_network(name).solve().expected_utility == pytest.approx(value, abs=1e-12)


def p(name: str, target: str, **given: object) -> float:
    return pgm.load_network(name).query(target, given)[True]


def test_the_five_figures_are_five_networks():
    """C.md, O1 to O5; trap T2: never one for another."""
    assert p("rain_14_1", "rain", wet=True) == pytest.approx(3 / 4, abs=1e-12)
    assert p("rain_14_1", "rain", wet=False) == pytest.approx(1 / 13, abs=1e-12)
    assert p("rain_14_2", "wet") == pytest.approx(0.466, abs=1e-12)
    assert p("rain_14_2", "cloudy", wet=True) == pytest.approx(152 / 233, abs=1e-12)
    assert p("rain_14_3", "cloudy", rain=True) == pytest.approx(8 / 9, abs=1e-12)
    assert p("rain_14_3", "rain", sprinkler=True) == pytest.approx(13 / 60, abs=1e-12)
    assert p("rain_14_4", "sprinkler", wet=True) == pytest.approx(23 / 65, abs=1e-12)
    assert p("rain_14_4", "sprinkler", rain=True, wet=True) == pytest.approx(19 / 91, abs=1e-12)
    assert p("rain_14_5", "wet", cloudy=True) == pytest.approx(0.76, abs=1e-12)
    assert p("rain_14_5", "cloudy", wet=True) == pytest.approx(304 / 521, abs=1e-12)
    assert pgm.load_network("rain_14_5").do({"sprinkler": True}).query("wet")[True] == pytest.approx(0.9225)


def test_numbers_of_the_lecture_notes_and_of_the_others():
    """G.md O2; C.md O17 and O22."""
    assert p("five_nodes", "D") == pytest.approx(0.32, abs=1e-12)
    assert p("five_nodes", "A", C=True) == pytest.approx(0.24 / 0.52, abs=1e-12)
    assert p("baby_at_home", "milk", diapers=True) == pytest.approx(0.8081632653, abs=1e-10)
    everything = {"diapers": True, "food": True, "milk": True}
    assert p("baby_at_home", "baby", **everything) == pytest.approx(0.9929078014, abs=1e-10)
    family = pgm.load_network("pedigree")
    assert family.query("first child")["aa"] == pytest.approx(0.01, abs=1e-12)  # Hardy and Weinberg


def test_numbers_of_lauritzen_and_spiegelhalter():
    """Their table of marginals: tuberculosis 1.04 %, lung cancer 5.5 %, bronchitis 45 %, dyspnoea 43.6 %."""
    found = pgm.load_network("asia").marginals()
    expected = {"tub": 0.0104, "lung": 0.055, "bronc": 0.45, "xray": 0.11029004, "dysp": 0.4359706}
    for name, value in expected.items():
        assert found[name]["yes"] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("name", PUBLISHED)
def test_posteriors_are_those_of_another_program(name):
    """Those of pyAgrum, which are kept for the originals."""
    net = pgm.load_network(name)
    for given, _, expected in questions(ROOT / "tests" / "known" / "references" / f"{name}.npz", net):
        found = net.marginals(given)
        for node, values in expected.items():
            np.testing.assert_allclose(found[node].values, values, rtol=0, atol=1e-9)


def test_nothing_is_loaded_before_it_is_asked_for():
    code = "import sys, pgm; assert 'pgm.io' not in sys.modules; pgm.load_network('asia')"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
