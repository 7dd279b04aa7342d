"""JSON of our own: nothing is lost, nothing is believed."""

from __future__ import annotations

import json
import re
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pgm
from pgm.cpds import CPD, TableCPD
from pgm.errors import shown
from pgm.io import json as ours
from pgm.io.text import Text
from tests.io.models import NASTY, STATES, all_bits, networks
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
    with pytest.raises(pgm.InvalidArgument, match="write the Bayesian network.*expand=True writes its table"):
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
        begin = time.perf_counter()
        assert len(pgm.read(path)) == 1041
        return time.perf_counter() - begin

    assert min(seconds(tmp_path / "munin.json") for _ in range(3)) < 1.25 * min(
        seconds(tmp_path / "munin.bif") for _ in range(3)
    )


def test_files_by_name(tmp_path):
    path = tmp_path / "wet.json.gz"
    pgm.write(wet_grass(), path)
    assert pgm.read(path) == wet_grass()
    assert pgm.read(path).name == "wet grass"


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
        [10**5000, 1],
        [("a", Decimal(1)), "b"],
    ],
    ids=shown,
)
def test_states_without_a_json_form(states):
    net = pgm.BayesianNetwork()
    net.add("x", [0.5, 0.5], states=states)
    with pytest.raises(pgm.InvalidArgument, match="of 'x' has no JSON form.*make it text yourself"):
        written(net)


def test_a_network_without_tables_is_refused():
    with pytest.raises(pgm.IncompleteModel, match="2 of 2 nodes have no table"):
        written(pgm.BayesianNetwork(edges="a -> b"))


def test_other_things_are_refused():
    with pytest.raises(pgm.InvalidArgument, match="Bayesian and Markov networks, not 3"):
        written(3)


# --- what is not believed -----------------------------------------------------------------------------------


def bad(text: str) -> str:
    with pytest.raises(pgm.FileFormatError) as error:
        read(text)
    return str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        # no JSON at all
        (WET, "", "1:1: expected a value, found the end of the file"),
        (WET, "network unknown {", "1:1: expected a value, found 'network'"),
        (WET, "[]", "1:1: this is no model of pgm, which is an object that begins"),
        (WET, '{"nodes": []}', "1:1: this is no model of pgm"),
        ("\n  ]\n}", "\n  ]", "16:1: expected ',' or the bracket that closes, found the end of the file"),
        ('"rain", "states"', '"rain" "states"', "5:21: expected ',' or the bracket that closes, found '\"states\"'"),
        ('"name": "rain"', '"name" "rain"', "5:13: expected ':' after a key, found '\"rain\"'"),
        ('{"name": "rain"', '{name: "rain"', "5:6: expected a key in double quotes, found 'name'"),
        ('"rain",', '"rain', "5:"),
        ("0.8", ".8", "5:58: expected a value, found '.8'"),
        ("0.8", "NaN", '5:58: NaN is no JSON; an infinite number is written "inf"'),
        ("0.8", "-Infinity", "5:58: -Infinity is no JSON"),
        ("0.8", "1" + "0" * 5000, "5:58: a number has too many digits"),
        ("0.8", "1e999", "5:58: expected a number of the table, found inf"),
        ("0.8", "1" + "0" * 400, "5:58: expected a number of the table, found 1000"),
        ('"wet grass"', r'"\x"', "3:12: a backslash that begins no escape"),
        ("]\n}\n", "]\n}\n}", "17:1: expected the end of the file, found '}'"),
        # keys
        ('"name": "wet grass"', '"nmae": "wet grass"', "3:3: 'nmae' is no key of a network; "),
        ('"name": "wet grass"', '"nmae": "wet grass"', "Did you mean 'name'?"),
        ('"name": "wet grass"', '"pgm": 1', "3:3: the key 'pgm' is there twice"),
        ('"table": [[0.8', '"tabel": [[0.8', "5:47: 'tabel' is no key of a node; "),
        ('"name": "rain", ', "", "5:5: a node has no 'name'"),
        ('"name": "wet grass"', '"name": 3', "3:11: expected a text, found 3"),
        # versions
        ('"pgm": 1', '"pgm": 2', "2:10: this file is of version 2 of the format, and this program reads version 1"),
        ('"pgm": 1', '"pgm": "1"', "2:10: expected the version of the format, a whole number from 1, found '1'"),
        ('"pgm": 1', '"pgm": true', "2:10: expected the version of the format, a whole number from 1, found true"),
        # variables
        ('["no", "yes"]', '["no", "no"]', "5:32: 'rain': The state 'no' is there twice."),
        ('["no", "yes"]', "[1, true]", "5:32: 'rain': The states 1 and True would be confused"),
        ('["no", "yes"]', "[]", "5:32: 'rain': There must be at least one state."),
        ('["no", "yes"]', '["no", null]', "5:39: expected a state: text, a number, true, false, or a list of these"),
        ('["no", "yes"]', '["no", {"a": 1}]', "5:39: expected a state: text, a number, true, false"),
        ('["no", "yes"]', '"no"', "5:32: expected a list of states, found 'no'"),
        ('"states": ["no", "yes"]', '"bins": [1, 0]', "5:30: The edges of Bins must increase; 1 comes before 0."),
        ('"states": ["no", "yes"]', '"bins": [1, "x"]', "5:34: expected an edge, "),
        ('"name": "rain"', '"name": " "', "5:14: expected the name of a variable, found ' '"),
        ('"name": "wet",', '"name": "rain",', "7:15: a second node 'rain'"),
        ('["rain"]', '["rian"]', "9:19: there is no node 'rian'. Did you mean 'rain'?"),
        ('["rain"]', '["rain", "rain"]', "9:27: 'rain' is there twice"),
        ('["rain"]', '["wet"]', "9:19: a node cannot be its own parent"),
        ('["rain"]', "[1]", "9:19: expected a name, found 1"),
        ('"states": ["no", "yes"], ', "", "5:22: 'rain' has no states: its distribution is \"linear-gaussian\""),
        # tables
        (', "table": [[0.8, 0.2]]', "", "5:5: 'rain' has no distribution, and a node has one (table, "),
        ("[[0.8, 0.2]]", '[[0.8, 0.2]], "parity": "odd"', "5:5: 'rain' has 2 distributions, and a node has one"),
        ("[[0.8, 0.2]]", "[[0.8, 0.2], [0.8, 0.2]]", "5:56: the table: 1 row expected, found 2"),
        ("[[0.8, 0.2]]", "[[0.8]]", "5:57: the table: a row of 2 numbers expected, found 1"),
        ("[[0.8, 0.2]]", "[0.8, 0.2]", "5:56: the table: 1 row expected, found 2"),
        ("[[0.8, 0.2]]", "[0.8]", "5:57: expected a row of 2 numbers of the table, found 0.8"),
        ("[[0.8, 0.2]]", '"uniform"', "5:56: expected the table, a list of rows, found 'uniform'"),
        ("0.8", "0.7", "5:56: 'rain': the probabilities sum to 0.9, not to 1."),
        ("[0.9, 0.1]", "[1.1, -0.1]", "10:16: 'wet', row rain='no': the probability of True is -0.1, not from 0 to 1."),
        ("0.8", "true", "5:58: expected a number of the table, found true"),
        ("0.8", "null", "5:58: expected a number of the table, found null"),
        ("0.8", '"0.8"', "5:58: expected a number of the table, found '0.8'"),
        ("0.8", "[0.8]", "5:58: expected a number of the table, found a list"),
    ],
)  # fmt: skip
def test_a_broken_file_says_where_and_what_was_expected(old, new, message):
    assert old in WET
    found = bad(WET.replace(old, new, 1))
    assert found.startswith("net.json:")
    assert message in found
    assert "\n" not in found


ROOTS = '{"name": "a", "states": [false, true], "table": [[0.5, 0.5]]}, '
NUMBER = '{"name": "n", "linear-gaussian": {"weights": {}, "bias": 0, "sd": 1}}, '
TREE = (
    '"tree": {"nodes": [{"ask": "a", "branches": [{"if": [false], "row": 0}, {"if": [true], "row": 1}]}], '
    '"rows": [[0.5, 0.5], [0.1, 0.9]]}'
)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('"function": [true]', "a state for each of 2 configurations expected, found 1"),
        ('"function": [true, 7]', "'x' has no state 7; it has False, True."),
        ('"noisy-or": {"causes": {"b": 0.5}, "leak": 0}', "'b' is no key of the causes; it has 'a'."),
        ('"noisy-or": {"causes": {}, "leak": 0}', "the causes has no 'a'"),
        ('"noisy-or": {"causes": {"a": 2}, "leak": 0}', "needs a probability from 0 to 1, not 2"),
        ('"noisy-or": {"causes": {"a": "x"}, "leak": 0}', "expected the probability of a cause, a number"),
        ('"noisy-or": {"causes": {"a": [null]}, "leak": 0}', "expected a row or null for each of the 2 states"),
        ('"noisy-or": {"causes": {"a": [null, [1]]}, "leak": 0}', "an effect: 2 numbers expected, found 1"),
        ('"noisy-or": {"causes": {"a": 1}, "leak": [1]}', "the leak: 2 numbers expected, found 1"),
        ('"noisy-or": {"causes": {"a": 1}, "leak": [1, 1]}', "the probabilities sum to 2, not to 1"),
        ('"noisy-or": {"causes": {"a": 1}}', "a noisy gate has no 'leak'"),
        ('"at-least": 2', "expected a count of parents, a whole number 0 to 1, found 2"),
        ('"exactly": true', "expected a count of parents, a whole number 0 to 1, found true"),
        ('"parity": "even"', "expected \"odd\", found 'even'"),
        ('"mixture": {"weights": {"a": 0.5}, "tables": {"a": [[1, 0], [0, 1]]}}', "weights sum to 0.5, not to 1"),
        ('"mixture": {"weights": {"a": 1}, "tables": {"a": [[1, 0]]}}', "the table: 2 rows expected, found 1"),
        ('"logistic": {"weights": {"a": [1]}, "bias": 0}', "a weight for each state: 2 numbers expected"),
        ('"logistic": {"weights": {"a": {"states": [true], "weights": []}}, "bias": 0}', "not of one length"),
        ('"logistic": {"weights": {"a": {"states": [1, true], "weights": [1, 2]}}, "bias": 0}', "two weights"),
        ('"logistic": {"weights": {"a": {"states": [7], "weights": [1]}}, "bias": 0}', "'a' has no state 7"),
        ('"linear-gaussian": {"weights": {}, "bias": 0, "sd": 1}', '"linear-gaussian" is of a number, and this'),
        (TREE.replace('"ask": "a"', '"ask": "b"'), "'b' is no parent of 'x'"),
        (TREE.replace('"row": 1', '"row": 0'), "a second branch to this row"),
        (TREE.replace('"row": 1', '"row": 2'), "expected the number of a row, a whole number 0 to 1, found 2"),
        (TREE.replace('"row": 1', '"node": 0'), "expected the number of a node further down"),
        (TREE.replace('"row": 1', '"row": 1, "node": 1'), "a branch has either a node or a row"),
        (TREE.replace(', "row": 1', ""), "a branch has either a node or a row"),
        (TREE.replace("[true]", "[false]"), "'a' = False does not come here, or a second time"),
        (TREE.replace("[true]", "[]"), "expected the states that take this branch"),
        (TREE.replace(', {"if": [true], "row": 1}', ""), "no branch for 'a' = True"),
        (TREE.replace("[0.1, 0.9]]", "[0.1, 0.9], [1, 0]]"), "no node leads to this row"),
        (TREE.replace("[0.1, 0.9]", "[0.1, 0.8]"), "'x', row row=1: the probabilities sum to 0.9, not to 1"),
        (TREE.replace("[0.5, 0.5], [0.1, 0.9]", ""), "expected a row at least"),
        (TREE.replace("[{", '[{"ask": "a", "branches": []}, {', 1), "no branch for 'a' = False"),
    ],
)  # fmt: skip
def test_broken_distributions(body, message):
    text = (
        f'{{"pgm": 1, "nodes": [{ROOTS}{{"name": "x", "states": [false, true], "parents": ["a"], {body}}}]}}'
    )
    found = bad(text)
    assert message in found
    assert found.startswith("net.json:1:")


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ('"parents": ["n"], "states": [0, 1], "table": [[1, 0]]', "the parent 'n' is a number"),
        ('"parents": ["n", "a"], "linear-gaussian": []', "the discrete parents of a linear Gaussian come first"),
        ('"parents": ["a"], "linear-gaussian": []', "one for each of 2 states of the discrete parents expected"),
        ('"parents": ["n"], "linear-gaussian": {"weights": {}, "bias": 0, "sd": 1}', "the weights has no 'n'"),
        ('"parents": [], "linear-gaussian": {"weights": {}, "bias": 0, "sd": -1}', "0 or more, not -1"),
        ('"linear-gaussian": {"weights": {}, "bias": 1e200, "sd": 1}', "a number of size up to 1e+100"),
        ('"linear-gaussian": {"weights": {}, "bias": "0", "sd": 1}', "expected the bias, a number, found '0'"),
    ],
)  # fmt: skip
def test_broken_numbers(node, message):
    assert message in bad(f'{{"pgm": 1, "nodes": [{ROOTS}{NUMBER}{{"name": "x", {node}}}]}}')


def test_a_cycle_is_refused():
    text = '{"name": "%s", "states": [0, 1], "parents": ["%s"], "table": [[1, 0], [0, 1]]}'
    nodes = ", ".join([text % ("a", "b"), text % ("b", "a")])
    assert "in a circle: a -> b -> a" in bad(f'{{"pgm": 1, "nodes": [{nodes}]}}')


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        ('{"of": ["a", "b"]}', "a factor has no 'values'"),
        ('{"values": [[1]]}', 'a factor has either "of", its variables, or "scopes"'),
        ('{"of": ["a", "c"], "values": [[1]]}', "there is no variable 'c'"),
        ('{"of": ["a", "a"], "values": [[1]]}', "'a' is there twice"),
        ('{"of": ["a", "b"], "values": [[1, 2, 3], [1, 2, -3]]}', "expected a value from 0 on"),
        ('{"of": ["a", "b"], "values": [[1, 2, 3], [1, 2, "-inf"]]}', "expected a number of the values"),
        ('{"of": ["a"], "log": true, "values": [[1, "inf"]]}', "expected a number of the values, found 'inf'"),
        ('{"of": ["a"], "log": true, "values": [[1, -1e10]]}', "expected a log value, of size up to 1e+09"),
        ('{"of": ["a"], "log": 1, "values": [[1, 2]]}', "expected true or false"),
        ('{"of": ["a"], "conditional": true, "values": [[1, 2]]}', "does not sum to one"),
        ('{"of": ["a"], "log": true, "conditional": true, "values": [[0, "-inf"]]}', "no conditional distribution"),
        ('{"of": ["a", "b"], "values": [[1, 2], [1, 2], [1, 2]]}', "the values: 2 rows expected, found 3"),
        ('{"scopes": [], "values": [[1, 2]]}', "expected a scope at least"),
        ('{"scopes": [[0], [2]], "values": [[1, 2]]}', "expected the position of a variable, a whole number from 0 to 1"),
        ('{"scopes": [[0], [true]], "values": [[1, 2]]}', "expected the position of a variable"),
        ('{"scopes": [[0], [1]], "values": [[1, 2]]}', "these variables have other numbers of states"),
        ('{"scopes": [[0, 1], [0]], "values": [[1, 2]]}', "expected a list of 2 positions, as the first has"),
        ('{"scopes": [[0, 0]], "values": [[1, 2], [3, 4]]}', "a variable is there twice"),
        ('{"of": ["a", "b"], "states": [[1, 2], [1, 2]], "values": [1, 2]}', "a row is there twice"),
        ('{"of": ["a", "b"], "states": [[1, 2], [2, 1]], "values": [1, 2]}', "expected the position of a state, below 2"),
        ('{"of": ["a", "b"], "states": [[1, 2], [1]], "values": [1, 2]}', "expected the positions of 2 states"),
        ('{"of": ["a", "b"], "states": [[1, 2]], "values": [1, 2]}', "the values: 1 number expected, found 2"),
        ('{"of": ["a", "b"], "conditional": true, "states": [[1, 2]], "values": [1]}', "do not each sum to one"),
    ],
)  # fmt: skip
def test_broken_factors(factor, message):
    variables = '[{"name": "a", "states": [0, 1]}, {"name": "b", "states": [0, 1, 2]}]'
    found = bad(f'{{"pgm": 1, "variables": {variables}, "factors": [{factor}]}}')
    assert message in found


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ('[{"name": "a"}]', "'a' has no states"),
        ('[{"name": "a", "states": [0]}, {"name": "a", "states": [0]}]', "a second variable 'a'"),
        ('[{"pixels": [2, 2], "states": [0, 1]}, {"name": "pixel[1,1]", "states": [0]}]', "a second variable"),
        ('[{"name": "a", "states": [0]}, {"pixels": [2, 2], "states": [0, 1]}]', "'pixels' is no key of a variable"),
        ('[{"pixels": [2, 0], "states": [0, 1]}]', "expected a size of the image, a whole number from 1, found 0"),
        ('[{"pixels": [], "states": [0, 1]}]', "expected the sizes of an image, at most 8"),
        ('[{"pixels": [2, 2]}]', "the pixels have no states"),
        ('[{"pixels": [2, 2], "states": []}]', "There must be at least one state"),
    ],
)  # fmt: skip
def test_broken_variables(variables, message):
    assert message in bad(f'{{"pgm": 1, "variables": {variables}, "factors": []}}')


def test_what_is_claimed_is_refused_before_it_is_made():
    roots = ", ".join(f'{{"name": "x{i}", "states": [0, 1], "table": [[0.5, 0.5]]}}' for i in range(55))
    parents = json.dumps([f"x{i}" for i in range(50)])
    wide = f'{{"name": "y", "states": [0, 1], "parents": {parents}, "%s": [[0.5, 0.5]]}}'
    begin = time.perf_counter()
    assert "10**15 rows expected, found 1" in bad(f'{{"pgm": 1, "nodes": [{roots}, {wide % "table"}]}}')
    assert "configurations expected, found 1" in bad(f'{{"pgm": 1, "nodes": [{roots}, {wide % "function"}]}}')
    image = '{"pgm": 1, "variables": [{"pixels": [100000000, 10000000], "states": [0, 1]}], "factors": []}'
    with pytest.raises(pgm.TooLarge, match="1,000,000,000,000,000 pixels"):
        read(image)
    states = json.dumps(list(range(30_000)))
    row = json.dumps([1.0] + [0.0] * 29_999)
    gate = '{"causes": {"a": [' + ", ".join([row] + ["null"] * 29_999) + ']}, "leak": ' + row + "}"
    text = (
        f'{{"pgm": 1, "nodes": [{{"name": "a", "states": {states}, "table": [{row}]}}, '
        f'{{"name": "b", "states": {states}, "parents": ["a"], "noisy-max": {gate}}}]}}'
    )
    with (
        pgm.config(memory_limit="1 GB"),
        pytest.raises(pgm.TooLarge, match="the gate of 'b' has 900000000 numbers"),
    ):
        read(text)
    assert time.perf_counter() - begin < 5


def test_deep_nesting_is_refused():
    for deep in ("[" * 100_000, '{"a":' * 100_000, WET.replace('"no"', "[" * 100_000 + "]" * 100_000)):
        assert "more than 64 lists and objects inside each other" in bad(deep)
    assert "expected a state" in bad(WET.replace('"no"', "[" * 40 + "1" + "]" * 40))
    deep: Any = "x"
    for _ in range(500):
        deep = (deep,)
    net = pgm.BayesianNetwork()
    net.add("x", [0.5, 0.5], states=[deep, "y"])
    with pytest.raises(pgm.InvalidArgument, match="has no JSON form"):
        written(net)


def test_thirds_written_with_six_digits_are_divided_by_their_sum():
    text = WET.replace("[0.8, 0.2]", "[0.333333, 0.666666]")
    assert read(text).cpd("rain").values.sum() == pytest.approx(1.0, abs=1e-15)


def test_about_is_for_people():
    text = written(wet_grass(), about="A lawn.")
    assert '"about": "A lawn."' in text
    SCHEMA.validate(json.loads(text))
    assert read(text) == wet_grass()
    assert "expected a text, found 3" in bad(text.replace('"A lawn."', "3"))


def test_every_key_of_a_kind_is_in_the_schema():
    from pgm.io.json.kinds import KINDS

    node = SCHEMA.schema["$defs"]["node"]
    assert set(KINDS) == set(node["properties"]) - {"name", "states", "bins", "parents"}
    assert [{"required": [key]} for key in KINDS] == node["oneOf"]
    types = {kind for entry in KINDS.values() for kind in entry.types}
    known = {kind for kind in vars(pgm.cpds).values() if isinstance(kind, type) and issubclass(kind, CPD)}
    assert types == known - {CPD}


@pytest.mark.parametrize("version", range(1, ours.VERSION + 1))
def test_each_version_has_a_schema(version):
    schema = json.loads((ROOT / f"docs/schema/pgm-{version}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)


# --- whatever bytes come ------------------------------------------------------------------------------------


def seeds() -> list[str]:
    rng = np.random.default_rng(5)
    from tests.io.models import add

    found = [WET]
    for _ in range(30):
        net = pgm.BayesianNetwork()
        for name in NASTY[:4]:
            add(net, name, rng)
        found.append(written(net))
    mrf = pgm.MarkovNetwork.grid([[0, 1], [1, 0]], [0, 1], 1.0, [[0.9, 0.1], [0.1, 0.9]])
    mrf.add_variable("b", states=["x", "y"])
    mrf.add_factor("b", [0.0, float("-inf")], log=True)
    return [*found, written(mrf)]


SEEDS = seeds()
PIECES = re.compile(r'"[^"]*"|[\[\]{},:]|[^\s\[\]{},:"]+')
WORDS = '0 -1 1e999 1e308 true null NaN "" [] {} [[ ] } , "-inf" "a"'.split()


@pytest.mark.slow
@settings(max_examples=10_000)
@given(
    seed=st.sampled_from(SEEDS),
    edits=st.lists(
        st.tuples(
            st.sampled_from(["cut", "flip", "drop", "word", "swap", "repeat"]),
            st.integers(0, 10**6),
            st.integers(0, 10**6),
        ),
        min_size=1,
        max_size=3,
    ),
)
def test_only_our_errors_come_out(seed, edits):
    text = seed
    for kind, a, b in edits:
        text = edited(text, kind, a, b) or "x"
    try:
        found = read(text)
    except pgm.PGMError as error:
        assert "\n" not in str(error)
        if isinstance(error, pgm.FileFormatError) and error.line is not None:
            assert 1 <= error.line <= text.count("\n") + 1
    else:
        SCHEMA.validate(json.loads(text))
        assert all_bits(read(written(found))) == all_bits(found)


def edited(text: str, kind: str, a: int, b: int) -> str:
    """A text with one thing wrong."""
    at = a % len(text)
    if kind == "cut":
        return text[:at]
    if kind == "flip":
        return text[:at] + chr(b % 0x300) + text[at + 1 :]
    pieces = list(PIECES.finditer(text))
    if not pieces:
        return text
    one, other = pieces[a % len(pieces)], pieces[b % len(pieces)]
    word = {"drop": "", "word": WORDS[b % len(WORDS)], "swap": other[0], "repeat": f"{one[0]},{one[0]}"}[kind]
    return text[: one.start()] + word + text[one.end() :]
