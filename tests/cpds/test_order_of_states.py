"""Which state of two a gate fires on: the one declared last; and nothing where nobody declared an order."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import pandas as pd
import pytest

import pgm

FRAME = pd.DataFrame({"pump": ["ok", "fail"], "p": [0.9, 0.1]})
PLANT = pgm.BayesianNetwork()
PLANT.add("pump", {"ok": 0.9, "fail": 0.1})
PLANT.add("valve", {True: 0.2, False: 0.8})


def plant(gate: Any, name: str = "alarm", **options: Any) -> pgm.BayesianNetwork:
    net = PLANT.copy()
    net.add(name, gate, **options)
    return net


def on_by(gate: Any, pump: str, valve: bool) -> float:
    return plant(gate).query("alarm", {"pump": pump, "valve": valve})[True]


RIGHT = [  # what the papers' formulas give, for `failed` of the pump and `valve` as 0 or 1
    (pgm.NoisyOr({"pump": 0.9, "valve": 0.5}), lambda f, v: 1 - (1 - 0.9 * f) * (1 - 0.5 * v)),
    (pgm.NoisyAnd({"pump": 0.9, "valve": 0.5}), lambda f, v: (1 - 0.9 * (1 - f)) * (1 - 0.5 * (1 - v))),
    (pgm.NoisyMax({"pump": 0.9, "valve": 0.5}), lambda f, v: 1 - (1 - 0.9 * f) * (1 - 0.5 * v)),
    (pgm.NoisyMin({"pump": 0.9, "valve": 0.5}), lambda f, v: (1 - 0.9 * (1 - f)) * (1 - 0.5 * (1 - v))),
    (pgm.AtLeast(2, ["pump", "valve"]), lambda f, v: f and v),
    (pgm.Exactly(1, ["pump", "valve"]), lambda f, v: (f + v) % 2),
    (pgm.Parity(["pump", "valve"]), lambda f, v: (f + v) % 2),
    (
        pgm.Logistic({"pump": 2.0, "valve": 1.0}, bias=-1.0),
        lambda f, v: 1 / (1 + 2.718281828459045 ** (1 - 2 * f - v)),
    ),
]


@pytest.mark.parametrize(("gate", "right"), RIGHT, ids=lambda x: type(x).__name__)
def test_a_gate_fires_on_the_state_that_a_dict_names_last(gate, right) -> None:
    for failed, valve in itertools.product([0, 1], repeat=2):
        assert on_by(gate, "fail" if failed else "ok", bool(valve)) == pytest.approx(right(failed, valve))


@pytest.mark.parametrize(("gate", "right"), RIGHT, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("first", [*itertools.product([True, False], repeat=3)], ids=str)
def test_a_gate_fires_on_true_wherever_it_is_declared(gate, right, first) -> None:
    """Of the pump, the valve and the alarm: True declared first, or last."""
    pump, valve, alarm = ([True, False] if true_first else [False, True] for true_first in first)
    if first[2] and not isinstance(gate, pgm.AtLeast | pgm.Exactly | pgm.Parity):
        alarm = [False, True]  # these go by the order of the child's states, and some refuse this one
    net = pgm.BayesianNetwork()
    net.add("pump", [0.5, 0.5], states=pump)
    net.add("valve", [0.5, 0.5], states=valve)
    net.add("alarm", gate, states=alarm)
    cases = list(itertools.product([False, True], repeat=2))
    expected = [float(right(int(failed), int(opened))) for failed, opened in cases]
    rows = {"pump": [f for f, _ in cases], "valve": [v for _, v in cases]}
    assert [net.query("alarm", {"pump": f, "valve": v})[True] for f, v in cases] == pytest.approx(expected)
    assert net.predict_proba(rows, "alarm")[:, alarm.index(True)] == pytest.approx(expected)
    table = net.cpd("alarm").table()
    assert [table[pump.index(f), valve.index(v), alarm.index(True)] for f, v in cases] == pytest.approx(
        expected
    )


def test_the_issue_s_example_is_not_inverted() -> None:
    net = pgm.BayesianNetwork()
    net.add("pump", {"ok": 0.9, "fail": 0.1})
    net.add("alarm", pgm.NoisyOr({"pump": 0.8}))
    assert net.variables["pump"].states == ("ok", "fail")
    assert net.query("alarm")[True] == pytest.approx(0.08)  # 0.1 * 0.8, and not 0.9 * 0.8


@pytest.mark.parametrize(
    ("gate", "lines"),
    [
        (
            pgm.NoisyOr({"pump": 0.9, "valve": 0.5}, leak=0.1),
            ["noisy-OR of|acts in|p(True)", "pump|fail|0.9", "valve|True|0.5", "(leak)|(always)|0.1"],
        ),
        (
            pgm.NoisyAnd({"pump": 0.9, "valve": 0.5}),
            ["noisy-AND of|acts in|p(False)", "pump|ok|0.9", "valve|False|0.5", "(leak)|(always)|0"],
        ),
        (
            pgm.NoisyMax({"pump": 0.9, "valve": 0.5}),
            ["noisy-MAX of|False|True", "pump = fail|0.1|0.9", "valve = True|0.5|0.5", "(leak)|1|0"],
        ),
        (
            pgm.AtLeast(1, ["pump", "valve"]),
            [
                "input|is on in",
                "pump|fail",
                "valve|True",
                "(True)|if at least 1 of these 2 are on",
                "(False)|else",
            ],
        ),
        (
            pgm.Logistic({"pump": 2.0, "valve": 1.0}),
            ["weight of|True", "(bias)|0", "pump = fail|2", "valve|1"],
        ),
    ],
    ids=lambda x: type(x).__name__,
)
def test_a_gate_says_in_print_which_states_it_fires_on(gate, lines) -> None:
    _, *printed = str(plant(gate).cpd("alarm")).splitlines()
    assert ["|".join(part.strip() for part in line.split("  ") if part) for line in printed] == lines


def test_a_child_of_other_states_is_on_in_the_last() -> None:
    net = plant(pgm.NoisyOr({"pump": 0.9, "valve": 0.5}), states=["silent", "rings"])
    assert net.query("alarm", {"pump": "fail", "valve": False})["rings"] == pytest.approx(0.9)
    assert "p(rings)" in str(net.cpd("alarm"))
    net = plant(pgm.AtLeast(1, ["pump"]), states=["rings", "silent"])
    assert net.query("alarm", {"pump": "fail"})["silent"] == 1.0
    assert "(silent)  if at least 1 of these 1 are on\n(rings)   else" in str(net.cpd("alarm"))


GATES = [
    pgm.NoisyOr({"pump": 0.9}),
    pgm.NoisyAnd({"pump": 0.9}),
    pgm.NoisyMax({"pump": 0.9}),
    pgm.NoisyMin({"pump": 0.9}),
    pgm.NoisyMax({"pump": [[1, 0], [0.1, 0.9]]}),
    pgm.AtLeast(1, ["pump"]),
    pgm.Exactly(1, ["pump"]),
    pgm.Parity(["pump"]),
    pgm.Logistic({"pump": 2.0}),
]


@pytest.mark.parametrize("gate", GATES, ids=repr)
@pytest.mark.parametrize("named_by", ["a frame", "a function", "a frame, after a pickle"])
def test_a_gate_over_states_in_no_declared_order_is_an_error(gate: Any, named_by: str) -> None:
    net = pgm.BayesianNetwork()
    if named_by == "a function":
        net.add("broken", 0.1)
        net.add("pump", pgm.Deterministic(lambda broken: "fail" if broken else "ok"))
    else:
        net.add("pump", FRAME)
    if "pickle" in named_by:
        net = pickle.loads(pickle.dumps(net))
    assert net.variables["pump"].states == ("fail", "ok")
    before = net.copy()
    with pytest.raises(pgm.InvalidTable) as caught:
        net.add("alarm", gate, states=[False, True])
    for said in ("'alarm'", "the order of the states of 'pump', which was never declared", "states=[...]"):
        assert said in str(caught.value)
    assert net == before
    net.set("pump", net.cpd("pump"), states=["fail", "ok"])  # declared, if as they are
    net.add("alarm", gate, states=[False, True])
    again = pgm.BayesianNetwork()
    again.add("pump", FRAME, states=["ok", "fail"])
    again.add("alarm", gate, states=[False, True])
    assert again.query("alarm", {"pump": "fail"}) == plant(gate, states=[False, True]).query(
        "alarm", {"pump": "fail"}
    )


def test_an_effect_of_no_declared_order_is_an_error_too() -> None:
    for gate in (pgm.NoisyOr({"valve": 0.9}), pgm.Parity(["valve"]), pgm.Logistic({"valve": 2.0})):
        net = pgm.BayesianNetwork(edges="valve -> pump")
        net.set("valve", 0.2)
        rows = [[True, "ok", 0.5], [True, "fail", 0.5], [False, "ok", 1.0]]
        net.set("pump", pd.DataFrame(rows, columns=["valve", "pump", "p"]))
        with pytest.raises(pgm.InvalidTable, match="the order of the states of 'pump'"):
            net.set("pump", gate)
        net.set("pump", gate, states=["ok", "fail"])
        assert net.query("pump", {"valve": True})["fail"] > 0.8


@pytest.mark.parametrize(
    "gate",
    [
        pgm.NoisyOr({"pump": {"fail": 0.9}}),
        pgm.NoisyMax({"pump": {"fail": [0.1, 0.9]}}),
        pgm.Logistic({"pump": {"fail": 2.0}}),
        pgm.TreeCPD("pump", {"fail": 0.9, "ok": 0.0}),
        pgm.MixtureCPD({"pump": {"fail": 0.9, "ok": 0.0}}),
        pgm.Deterministic(lambda pump: pump == "fail"),
    ],
    ids=lambda x: type(x).__name__,
)
def test_what_names_the_states_needs_no_order(gate: Any) -> None:
    net = pgm.BayesianNetwork()
    net.add("pump", FRAME)
    net.add("alarm", gate, states=[False, True])
    assert net.query("alarm", {"pump": "fail"})[True] > 0.8


def test_truth_values_and_numbers_that_mean_them_have_an_order_of_their_own() -> None:
    for on, off in ((True, False), ("TRUE", "FALSE"), (1, 0)):
        net = pgm.BayesianNetwork()
        net.add("pump", pd.DataFrame({"pump": [on, off], "p": [0.1, 0.9]}))
        net.add("alarm", pgm.NoisyOr({"pump": 0.8}))
        assert net.query("alarm", {"pump": on})[True] == pytest.approx(0.8)


def test_trees_mixtures_and_categoricals_take_the_order_in_which_states_are_written() -> None:
    net = pgm.BayesianNetwork()
    net.add("a", 0.5)
    net.add("tree", pgm.TreeCPD("a", {True: {"warm": 0.5, "cold": 0.5}, False: {"hot": 1.0}}))
    net.add("mixed", pgm.MixtureCPD({"a": {True: {"warm": 1.0}, False: {"cold": 0.9, "warm": 0.1}}}))
    net.add("drawn", pgm.Categorical({"up": 0.25, "down": 0.75}))
    assert net.variables["tree"].states == ("warm", "cold", "hot")
    assert net.variables["mixed"].states == ("warm", "cold")
    assert net.variables["drawn"].states == ("up", "down")
    with pytest.raises(pgm.InvalidArgument, match="A set has no order"):
        pgm.Categorical([0.5, 0.5], symbols={"up", "down"})


def test_a_table_that_waits_for_its_parents_keeps_its_order() -> None:
    net = pgm.BayesianNetwork(edges="weather -> pump -> alarm")
    net.set("pump", {"dry": {"ok": 1.0}, "wet": {"fail": 0.3, "ok": 0.7}})
    net.set("alarm", pgm.NoisyOr({"pump": 0.9}))
    net = pickle.loads(pickle.dumps(net))
    net.set("weather", {"wet": 0.5, "dry": 0.5})
    assert net.variables["weather"].states == ("wet", "dry")
    assert net.variables["pump"].states == ("ok", "fail")
    assert net.query("alarm", {"weather": "wet"})[True] == pytest.approx(0.27)
    other = pgm.BayesianNetwork(edges="weather -> pump")
    other.set("pump", {"dry": {"fail": 0.0, "ok": 1.0}, "wet": {"fail": 0.3, "ok": 0.7}})
    same = pgm.BayesianNetwork(edges="weather -> pump")
    same.set("pump", {"dry": {"ok": 1.0, "fail": 0.0}, "wet": {"fail": 0.3, "ok": 0.7}})
    assert other != same  # waiting, they declare two orders
