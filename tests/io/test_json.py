"""JSON of our own: nothing is lost, nothing is believed."""

from __future__ import annotations

import json
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given

import pgm
from pgm.cpds import CPD, TableCPD
from pgm.errors import shown
from pgm.io import json as ours
from pgm.io.text import Text
from tests.io.models import STATES, all_bits, networks
from tests.strategies import markov_networks

ROOT = Path(__file__).parents[2]
NETWORKS = ROOT.parent / "shared" / "networks"
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs/schema/pgm-1.json").read_text()))


def written(model: Any, **options: Any) -> str:
    return ours.write(model, **{"expand": False, **options})


def read(text: str) -> Any:
    return ours.read(Text("net.json", text))


def again(model: Any) -> Any:
    """The model after it was written and read; what the file says follows the schema."""
    text = written(model)
    SCHEMA.validate(json.loads(text))
    found = read(text)
    assert found == model
    assert all_bits(found) == all_bits(model)
    assert written(found) == text
    return found


def wet_grass() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork("wet grass")
    net.add("rain", {"no": 0.8, "yes": 0.2})
    net.add("wet", {"yes": 0.9, "no": 0.1}, parents=["rain"])
    return net


WET = """\
{
  "pgm": 1,
  "name": "wet grass",
  "nodes": [
    {"name": "rain", "states": ["no", "yes"], "table": [[0.8, 0.2]]},
    {
      "name": "wet",
      "states": [false, true],
      "parents": ["rain"],
      "table": [
        [0.9, 0.1],
        [0.1, 0.9]
      ]
    }
  ]
}
"""


# --- there and back -----------------------------------------------------------------------------------------


def test_how_it_reads():
    assert written(wet_grass()) == WET
    assert read(WET) == wet_grass()


@given(net=networks())
def test_every_kind_of_distribution_comes_back_to_the_last_bit(net):
    again(net)


@given(case=markov_networks())
def test_every_factor_comes_back_to_the_last_bit(case):
    again(case.model)


@pytest.mark.parametrize("states", STATES, ids=shown)
def test_states_keep_their_kind(states):
    net = pgm.BayesianNetwork()
    net.add("x", "uniform", states=states)
    found = again(net).variables["x"].states
    assert list(map(repr, found)) == list(map(repr, net.variables["x"].states))


def test_true_and_1_and_its_text_stay_distinct():
    for states in ([False, True], [0, 1], [0.0, 1.0], ["0", "1"], ["false", "true"]):
        net = pgm.BayesianNetwork()
        net.add("x", [0.5, 0.5], states=states)
        assert [type(s) for s in again(net).variables["x"].states] == [type(s) for s in states]


def test_fitted_gates_come_back():
    """EM leaves rows that no single number makes."""
    net = pgm.BayesianNetwork()
    net.add("a", 0.3)
    net.add("b", 0.4)
    net.add("or", pgm.NoisyOr({"a": 0.9, "b": 0.7}, leak=0.1))
    net.add("and", pgm.NoisyAnd({"a": 0.9, "b": 0.7}, leak=0.1))
    net.add("mix", pgm.MixtureCPD({"a": {True: 0.9, False: 0.2}, "b": {True: 0.7, False: 0.1}}))
    net.add("odds", pgm.Logistic({"a": 1.5, "b": {True: 2.0}}))
    frame = net.sample(500, seed=0)
    for name in ("or", "and", "mix", "odds"):
        net.set(name, net.cpd(name).fit(frame))
    again(net)


def test_order_of_nodes_and_parents_is_kept():
    net = pgm.BayesianNetwork(edges="d <- c; a -> c; b -> c")
    net.set("b", 0.5)
    net.set("a", 0.25)
    net.set("c", np.full((2, 2, 2), 0.5), parents=["b", "a"], states=["x", "y"])
    net.set("d", {"x": 0.5, "y": 0.25})
    assert again(net).nodes == net.nodes == ("d", "c", "a", "b")
    assert again(net).parents("c") == ("b", "a")


def test_a_grid_is_one_table_of_many_scopes():
    rng = np.random.default_rng(0)
    seen = rng.integers(0, 3, size=(30, 40))
    grid = pgm.MarkovNetwork.grid(seen, [0, 1, 2], 0.7, np.eye(3) + 0.1, name="an image")
    grid.add_variable("light", ["on", "off"])
    grid.add_factor(["light", "pixel[3,4]"], [[1, 2, 3], [3, 2, 1]])
    text = written(grid)
    found = again(grid)
    assert len(json.loads(text)["variables"]) == 2
    assert len(json.loads(text)["factors"]) == len(found.factors()) == 5
    assert len(text) < 60_000
    assert max(map(len, text.splitlines())) <= 110


def test_rows_of_a_wide_factor_and_its_logarithms():
    mrf = pgm.MarkovNetwork("wide")
    names = [f"x{i}" for i in range(100)]
    for name in names:
        mrf.add_variable(name, ["a", "b", "c"])
    mrf.add_factor(names, {("a",) * 100: 2.5, ("b",) * 99 + ("c",): 1e-300})
    mrf.add_factor(names[::-1], {("a",) * 100: -2.5, ("b",) * 100: float("-inf")}, log=True)
    mrf.add_factor("x3", [0.0, float("-inf"), 1.0], log=True)
    mrf.add_factor([], np.array(3.0))
    again(mrf)


def test_networks_become_undirected_ones(monkeypatch):
    monkeypatch.setattr("pgm.cpds.deterministic._DENSE_CELLS", 4)
    net = pgm.BayesianNetwork()
    for i in range(5):
        net.add(f"x{i}", 0.5)
    net.add("any", pgm.Deterministic(lambda *x: any(x), parents=[f"x{i}" for i in range(5)]))
    net.add("or", {True: 0.25, False: 0.1}, parents=["any"])
    assert [type(f).__name__ for f in net.to_markov_network().factors()][-2:] == ["Sparse", "Dense"]
    found = again(net.to_markov_network())
    assert found.query("or")[True] == pytest.approx(0.25 * 31 / 32 + 0.1 / 32, rel=1e-12)


def test_a_gate_without_its_network_is_written_as_a_table():
    net = pgm.BayesianNetwork()
    for i in range(12):
        net.add(f"x{i}", 0.1)
    net.add("or", pgm.NoisyOr({f"x{i}": 0.5 for i in range(12)}))
    mrf = net.to_markov_network()
    with pytest.raises(
        pgm.InvalidArgument, match=r"write the Bayesian network.*expand=True writes its table"
    ):
        written(mrf)
    found = read(written(mrf, expand=True))
    assert found.query("or")[True] == pytest.approx(1 - 0.95**12, rel=1e-12)
    for i in range(80):
        net.add(f"y{i}", 0.1)
    net.add("or2", pgm.NoisyOr({f"y{i}": 0.5 for i in range(80)}))
    with pytest.raises(pgm.TooLarge):
        written(net.to_markov_network(), expand=True)


def test_deep_trees_and_wide_gates():
    net = pgm.BayesianNetwork()
    names = [f"x{i}" for i in range(400)]
    for name in names:
        net.add(name, 0.5)
    rules = [({name: True}, [i / 400, 1 - i / 400]) for i, name in enumerate(names)]
    net.add("first", pgm.TreeCPD.from_rules([*rules, ({}, "uniform")]), states=["a", "b"])
    net.add("or", pgm.NoisyOr(dict.fromkeys(names, 0.5), leak=0.01))
    net.add("odd", pgm.Parity(names))
    again(net)


@pytest.mark.skipif(not NETWORKS.exists(), reason="the networks are not beside this checkout")
@pytest.mark.parametrize("name", ["asia", "alarm", "water", "hailfinder", "munin", "diabetes"])
def test_published_networks_there_and_back(name):
    net = pgm.read(NETWORKS / f"{name}.bif.gz")
    found = read(written(net))
    assert found == net
    assert all_bits(found) == all_bits(net)


def test_reading_munin_takes_no_longer_than_from_bif(tmp_path):
    if not NETWORKS.exists():
        pytest.skip("the networks are not beside this checkout")
    net = pgm.read(NETWORKS / "munin.bif.gz")
    pgm.write(net, tmp_path / "munin.json")
    pgm.write(net, tmp_path / "munin.bif")

    def seconds(path: Path) -> float:
        begin = time.thread_time()
        assert len(pgm.read(path)) == 1041
        return time.thread_time() - begin

    # In turn, so that what else the machine does falls on both.
    pairs = [(seconds(tmp_path / "munin.json"), seconds(tmp_path / "munin.bif")) for _ in range(5)]
    ours, others = map(min, zip(*pairs, strict=True))
    assert ours < 1.25 * others


def test_files_by_name(tmp_path):
    path = tmp_path / "wet.json.gz"
    pgm.write(wet_grass(), path)
    assert pgm.read(path) == wet_grass()
    assert pgm.read(path).name == "wet grass"


# --- the schema, and what is said beside --------------------------------------------------------------------


def test_thirds_written_with_six_digits_are_divided_by_their_sum():
    text = WET.replace("[0.8, 0.2]", "[0.333333, 0.666666]")
    assert read(text).cpd("rain").values.sum() == pytest.approx(1.0, abs=1e-15)


def test_about_is_for_people():
    text = written(wet_grass(), about="A lawn.")
    assert '"about": "A lawn."' in text
    SCHEMA.validate(json.loads(text))
    assert read(text) == wet_grass()


def test_every_key_of_a_kind_is_in_the_schema():
    from pgm.cpds import KINDS

    node = SCHEMA.schema["$defs"]["node"]
    assert set(KINDS) == set(node["properties"]) - {
        "name",
        "caption",
        "position",
        "states",
        "bins",
        "parents",
    }
    assert [{"required": [key]} for key in KINDS] == node["oneOf"]
    known = {kind for kind in vars(pgm.cpds).values() if isinstance(kind, type) and issubclass(kind, CPD)}
    in_no_file = {pgm.DensityCPD, pgm.EstimatorCPD}  # they hold objects of Python
    assert {kind.kind for kind in known - {CPD} - in_no_file} == set(KINDS)


@pytest.mark.parametrize("version", range(1, ours.VERSION + 1))
def test_each_version_has_a_schema(version):
    schema = json.loads((ROOT / f"docs/schema/pgm-{version}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("key", ours.FORMS)
def test_every_form_is_in_the_schema_of_its_version(key):
    schema = json.loads((ROOT / f"docs/schema/pgm-{ours.FORMS[key].version}.json").read_text())
    assert key in schema["properties"]
    assert key in {name for one in schema["oneOf"] for name in one["required"]}


# --- what has no JSON form ----------------------------------------------------------------------------------


class Estimator(TableCPD):
    """Stands for a distribution of a kind that the format does not know."""

    __slots__ = ()


def test_an_unknown_distribution_is_an_error_or_a_table():
    net = wet_grass()
    net._cpds._kept["wet"] = Estimator(
        net.variables["wet"], [net.variables["rain"]], [[0.9, 0.1], [0.1, 0.9]]
    )
    with pytest.raises(
        pgm.InvalidArgument, match="'wet' is a Estimator, which has no JSON form; expand=True"
    ):
        written(net)
    assert written(net, expand=True) == WET


@pytest.mark.parametrize(
    "states",
    [
        [Decimal("0.5"), Decimal(2)],
        [frozenset([1]), frozenset([2])],
        [b"a", b"b"],
        [10**4250, 1],
        [("a", Decimal(1)), "b"],
    ],
    ids=shown,
)
def test_states_without_a_json_form(states):
    net = pgm.BayesianNetwork()
    net.add("x", [0.5, 0.5], states=states)
    with pytest.raises(pgm.InvalidArgument, match=r"of 'x' has no JSON form.*make it text yourself"):
        written(net)


def test_a_network_without_tables_is_refused():
    with pytest.raises(pgm.IncompleteModel, match="2 of 2 nodes have no table"):
        written(pgm.BayesianNetwork(edges="a -> b"))


def test_other_things_are_refused():
    with pytest.raises(pgm.InvalidArgument, match="hidden Markov models and linear dynamical systems, not 3"):
        written(3)
