"""XDSL: what GeNIe and others write, gates and functions, identifiers and names, errors with their places."""

from __future__ import annotations

import io
import itertools
import math
import pickle
import time

import numpy as np
import pytest

import pgm
from pgm.errors import FileFormatError, InvalidArgument
from pgm.io.identifiers import identifiers, stands_for
from tests.io.formats import LARGEST, memory, reset_peak


def loads(text: str) -> pgm.BayesianNetwork:
    net = pgm.read(io.StringIO(text), format="xdsl")
    assert isinstance(net, pgm.BayesianNetwork)
    return net


def dumps(net: pgm.BayesianNetwork, **options: bool) -> str:
    file = io.StringIO()
    pgm.write(net, file, format="xdsl", **options)
    return file.getvalue()


# --- what others write --------------------------------------------------------------------------------------

# In the manner of GeNIe: properties, marks for diagnosis, submodels, names beside identifiers.
GENIE = """<?xml version="1.0" encoding="UTF-8"?>
<!-- This network was created in GeNIe Academic -->
<smile version="1.0" id="Network1" numsamples="10000" discsamples="10000">
  <properties>
    <property id="author">somebody</property>
  </properties>
  <nodes>
    <cpt id="load" diagtype="observation" ranked="true">
      <state id="heavy" />
      <state id="normal" />
      <state id="light" default="true" />
      <probabilities>0.2 0.5 0.3</probabilities>
    </cpt>
    <cpt id="泵" target="true">
      <state id="故障" fault="true" />
      <state id="正常" />
      <probabilities>1e-04
        0.9999</probabilities>
      <property id="description">the pump</property>
    </cpt>
    <cpt id="pressure">
      <state id="low" />
      <state id="ok" />
      <parents>load 泵</parents>
      <probabilities>0.9 0.1 0.4 0.6 0.8 0.2 0.3 0.7 0.7 0.3 0.05 0.95</probabilities>
    </cpt>
    <noisymax id="alarm">
      <state id="high" />
      <state id="medium" />
      <state id="none" />
      <parents>load pressure</parents>
      <strengths>0 2 1 0 1</strengths>
      <parameters>0.5 0.3 0.2 0.1 0.2 0.7 0 0 1 0.6 0.3 0.1 0 0 1 0.01 0.04 0.95</parameters>
    </noisymax>
    <deterministic id="stop">
      <state id="yes" />
      <state id="no" />
      <parents>alarm pressure</parents>
      <resultingstates>yes yes yes no no no</resultingstates>
    </deterministic>
  </nodes>
  <extensions>
    <genie version="1.0" app="GeNIe 2.4.4601.0 ACADEMIC" name="Pump station" faultnameformat="nodestate">
      <textbox><caption>a note</caption></textbox>
      <submodel id="Submodel1">
        <name>Inside</name>
        <node id="load"><name>The load of the pump</name><position>1 2 3 4</position></node>
      </submodel>
      <node id="泵"><name>pump (泵)</name></node>
    </genie>
  </extensions>
</smile>
"""


def test_the_manner_of_genie():
    net = loads(GENIE)
    assert net.name == "Pump station"
    assert list(net.variables) == [
        "load",
        "泵",
        "pressure",
        "alarm",
        "stop",
    ]  # identifiers: names need not differ
    assert net.variables["load"].states == ("heavy", "normal", "light")
    assert net.parents("pressure") == ("load", "泵")
    assert net.cpd("pressure").probability({"load": "heavy", "泵": "正常", "pressure": "low"}) == 0.4
    assert net.cpd("pressure").probability({"load": "normal", "泵": "故障", "pressure": "low"}) == 0.8
    stop = net.cpd("stop")
    assert isinstance(stop, pgm.Deterministic)
    assert stop.to_dict()["medium", "low"] == "yes"
    assert stop.to_dict()["medium", "ok"] == "no"
    assert loads(dumps(net)) == net


def test_captions_and_positions_are_kept():
    net = loads(GENIE)
    assert net.captions == {"load": "The load of the pump", "泵": "pump (泵)"}
    assert net.positions == {"load": (1, 2, 3, 4)}
    text = dumps(net)
    assert "<name>The load of the pump</name>" in text
    assert "<position>1 2 3 4</position>" in text
    again = loads(text)
    assert again.captions == net.captions
    assert again.positions["load"] == (1, 2, 3, 4)
    assert all(top >= 54 for name, (_, top, _, _) in again.positions.items() if name != "load")  # below it
    assert len(set(again.positions.values())) == 5
    assert dumps(again) == text
    file = io.StringIO()
    pgm.write(again, file, format="json")
    file.seek(0)
    found = pgm.read(file, format="json")
    assert (found.captions, found.positions) == (again.captions, again.positions)
    for same in (
        again.copy(),
        pickle.loads(pickle.dumps(again)),
        again.rename({"load": "l"}).rename({"l": "load"}),
    ):
        assert (same.captions, same.positions) == (again.captions, again.positions)
    assert again.rename({"load": "l"}).captions["l"] == "The load of the pump"
    assert again.do({"泵": "故障"}).captions == again.captions
    again.remove("stop")
    assert "stop" not in again.positions
    net.captions["stop"] = "halt"
    net.positions["stop"] = (-10, 0, 50, 20)
    assert loads(dumps(net)).positions["stop"] == (-10, 0, 50, 20)
    assert loads(dumps(net)).captions["stop"] == "halt"
    net.positions["stop"] = (1, 2, 3, 4.5)
    with pytest.raises(InvalidArgument, match=r"position of 'stop' is \(left, top, right, bottom\)"):
        dumps(net)
    net.positions.clear()
    net.captions["stop"] = 3
    with pytest.raises(InvalidArgument, match="caption of 'stop' is text, not 3"):
        dumps(net)


@pytest.mark.parametrize("place", ["1 2 3", "1 2 3 x", "1 2 3 4.5", "1 2 3 " + "9" * 5000])
def test_positions_are_four_whole_numbers(place):
    with pytest.raises(pgm.FileFormatError, match="expected") as caught:
        loads(GENIE.replace("1 2 3 4", place))
    assert caught.value.line == 1 + GENIE[: GENIE.index("1 2 3 4")].count("\n")


def test_a_gate_of_genie_by_hand():
    gate = loads(GENIE).cpd("alarm")
    assert isinstance(gate, pgm.NoisyMin)
    # Columns follow the strengths: heavy, light, normal; the last, normal, has no effect.
    own = {"heavy": [0.5, 0.3, 0.2], "light": [0.1, 0.2, 0.7], "normal": [0, 0, 1]}
    low = {"low": [0.6, 0.3, 0.1], "ok": [0, 0, 1]}
    leak = [0.01, 0.04, 0.95]
    for load, pressure in itertools.product(own, low):
        # Of the effects that the causes and the leak have each by itself, the first in the list shows.
        expected = [0.0, 0.0, 0.0]
        for effects in itertools.product(range(3), repeat=3):
            rows = (own[load], low[pressure], leak)
            expected[min(effects)] += math.prod(row[at] for row, at in zip(rows, effects, strict=True))
        for state, p in zip(("high", "medium", "none"), expected, strict=True):
            row = {"load": load, "pressure": pressure, "alarm": state}
            assert gate.probability(row) == pytest.approx(p, abs=1e-15)


def test_a_noisy_or_of_genie_with_true_first():
    # P(effect) = 1 - (1 - leak) * product of (1 - p): the parameters are the causes' own.
    text = """<smile version="1.0" id="or"><nodes>
    <cpt id="a"><state id="True"/><state id="False"/><probabilities>0.3 0.7</probabilities></cpt>
    <cpt id="b"><state id="False"/><state id="True"/><probabilities>0.6 0.4</probabilities></cpt>
    <noisymax id="e"><state id="True"/><state id="False"/><parents>a b</parents><strengths>0 1 1 0</strengths>
    <parameters>0.9 0.1 0 1 0.8 0.2 0 1 0.05 0.95</parameters></noisymax></nodes></smile>"""
    net = loads(text)
    assert net.name == "or"
    assert net.variables["e"].states == ("True", "False")
    for a, b in itertools.product([True, False], repeat=2):
        expected = 1 - 0.95 * (0.1 if a else 1) * (0.2 if b else 1)
        assert net.cpd("e").probability({"a": a, "b": b, "e": True}) == pytest.approx(expected, abs=1e-15)
    assert net.query("e")[True] == pytest.approx(1 - 0.95 * (1 - 0.3 * 0.9) * (1 - 0.4 * 0.8), abs=1e-14)
    assert loads(dumps(net)) == net
    natural = loads(text.replace("<strengths>0 1 1 0</strengths>", ""))  # in the order of the states
    assert natural.cpd("e").probability({"a": True, "b": False, "e": True}) == pytest.approx(0.981, abs=1e-15)


def test_what_agrum_writes_has_the_first_parent_fastest():
    cpt = "<cpt id='{0}'><state id='{0}0'/><state id='{0}1'/><probabilities>0.5 0.5</probabilities></cpt>"
    text = (
        f"<smile version='1.0' id='n'><nodes>{cpt.format('a')}{cpt.format('b')}<cpt id='c'><state id='x'/>"
        "<state id='y'/><parents>a b</parents>"
        "<probabilities>0.1 0.9 0.2 0.8 0.3 0.7 0.4 0.6</probabilities></cpt>"
        "</nodes><extensions><genie version='1.0' app='{app}' name='n'/></extensions></smile>"
    )
    row = {"a": "a1", "b": "b0", "c": "x"}
    assert loads(text.replace("{app}", "aGrUM 3.3.1")).cpd("c").probability(row) == 0.2
    assert loads(text.replace("{app}", "GeNIe 2.0")).cpd("c").probability(row) == 0.3


def test_pyagrum_reads_and_writes_the_same_numbers(tmp_path):
    gum = pytest.importorskip("pyagrum")
    gum.initRandom(1)  # 0 is the clock
    peer = gum.fastBN("a{x|y}->b{p|q|r}->c{u|v}<-a;d{k|l|m|n}->c")
    gum.saveBN(peer, str(tmp_path / "theirs.xdsl"))
    net = pgm.read(tmp_path / "theirs.xdsl")
    assert isinstance(net, pgm.BayesianNetwork)
    pgm.write(net, tmp_path / "ours.xdsl")
    again = gum.loadBN(str(tmp_path / "ours.xdsl"))
    assert set(net.variables) == peer.names() == again.names()
    for name, cpd in {name: net.cpd(name) for name in net.variables}.items():
        assert net.variables[name].states == peer.variable(name).labels() == again.variable(name).labels()
        for codes in np.ndindex(cpd.values.shape):
            at = dict(zip((*cpd.parents, name), map(int, codes), strict=True))
            assert cpd.values[codes] == pytest.approx(peer.cpt(name)[at], abs=2e-6)  # they write six digits
        # It takes the first parent to be fastest, where GeNIe and we mean the last.
        *cards, own = cpd.values.shape
        turned = cpd.values.reshape(*cards[::-1], own).transpose(*range(len(cards))[::-1], len(cards))
        for codes in np.ndindex(turned.shape):
            at = dict(zip((*cpd.parents, name), map(int, codes), strict=True))
            assert again.cpt(name)[at] == turned[codes]


# --- names and identifiers ----------------------------------------------------------------------------------


def test_identifiers_differ_and_stand_for_their_names():
    names = ["a b", "a_b", "a+b", "0", "", "+", "s", "s_0", "Zürich", "a b c" * 100, "x\n", "泵"]
    made = identifiers(names, "s")
    assert len(set(made.values())) == len(names)
    for name, text in made.items():
        assert text[0].isalpha()
        assert text.replace("_", "a").isalnum()
        assert stands_for(text, name, "s")
    assert made["a_b"] == "a_b"
    assert made["泵"] == "泵"
    assert not stands_for("c", "a b", "s")
    many = identifiers(["+" * n for n in range(2, 30_000)], "s")
    assert len(set(many.values())) == len(many)


def named() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork('a <b> & "c"\n')
    net.add("rain / snow", [0.25, 0.5, 0.25], states=["<5", "5+", " 5 "])
    net.add("rain_snow", [[0.5, 0.5], [0.25, 0.75], [1, 0]], parents=["rain / snow"], states=["a b", "a_b"])
    return net


def test_true_names_come_back():
    net = named()
    text = dumps(net)
    assert '<cpt id="rain_snow_2">' in text
    assert "<name>rain / snow</name>" in text
    assert loads(text) == net
    assert loads(text).name == net.name
    stripped = loads(text[: text.index("<extensions>")] + "</smile>")  # what another program may drop
    assert stripped == net


def test_names_follow_what_another_program_changes():
    text = dumps(named())
    renamed = text.replace('"rain_snow_2"', '"weather"').replace(">rain_snow_2<", ">weather<")
    assert list(loads(renamed).variables) == ["weather", "rain_snow"]
    state = loads(text.replace('<state id="a_b_2" />', '<state id="wet" />')).variables["rain_snow"]
    assert state.states == ("wet", "a_b")
    copied = text.replace(
        "  </nodes>",
        '<cpt id="rain_snow_7"><state id="x"/><probabilities>1</probabilities>'
        '<property id="pgm_name">rain / snow</property></cpt></nodes>',
    )
    assert list(loads(copied).variables) == ["rain / snow", "rain_snow", "rain_snow_7"]


# --- gates --------------------------------------------------------------------------------------------------


def gates() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork("gates")
    net.add("a", {"x": 0.25, "y": 0.75})
    net.add("b", [0.5, 0.25, 0.25], states=["p", "q", "r"])
    net.add(
        "or", pgm.NoisyOr({"a": 0.9, "b": {"q": [0.3, 0.7], "p": [0.5, 0.5]}}, leak=0.1), states=["n", "y"]
    )
    net.add(
        "max",
        pgm.NoisyMax({"or": {"y": [0.5, 0.25, 0.25]}, "b": {"r": [0.1, 0.2, 0.7]}}, leak=[0.9, 0.1, 0.0]),
        states=["none", "low", "high"],
    )
    net.add("and", pgm.NoisyAnd({"or": 0.9, "a": 0.5}, leak=0.125), states=["n", "y"])
    net.add(
        "min", pgm.NoisyMin({"max": {"low": [0.1, 0.4, 0.5]}, "b": {"p": [1, 0, 0]}}), states=["s", "m", "l"]
    )
    net.add("fun", pgm.Deterministic(lambda x, y: "u v" if x == "none" and y == "y" else "w", ["max", "or"]))
    net.add("sure", pgm.Deterministic(lambda: "only", []), states=["only", "never"])
    numbers = np.random.default_rng(3).dirichlet([1, 1], size=(3, 2, 2))
    net.add("table", numbers, parents=["max", "or", "a"], states=["t", "f"])
    return net


def test_gates_and_functions_come_back():
    net = gates()
    text = dumps(net)
    assert text.count("<noisymax ") == 4
    assert text.count("<deterministic ") == 2
    again = loads(text)
    assert again == net
    assert list(again.variables) == list(net.variables)
    for name, variable in net.variables.items():
        assert again.variables[name].states == variable.states
        assert type(again.cpd(name)) is type(net.cpd(name))
        assert again.cpd(name).values.tobytes() == net.cpd(name).values.tobytes()
    assert dumps(again) == text
    assert loads(dumps(net, expand=True)) == net  # what the format knows stays


def test_gates_mean_the_same_where_the_mark_is_lost():
    net = gates()
    lines = [line for line in dumps(net).splitlines() if "pgm_gate" not in line]
    again = loads("\n".join(lines))
    for name, cpd in {name: net.cpd(name) for name in net.variables}.items():
        for codes in itertools.product(*[range(v.card) for v in (*cpd.given, cpd.child)]):
            row = {v.name: v.states[c] for v, c in zip((*cpd.given, cpd.child), codes, strict=True)}
            assert again.cpd(name).probability(row) == pytest.approx(cpd.probability(row), abs=1e-15)
    assert again.variables["max"].states == ("high", "low", "none")
    assert again.query("table")["t"] == pytest.approx(net.query("table")["t"], abs=1e-14)


def test_a_wide_gate_is_a_small_file():
    net = pgm.BayesianNetwork()
    for i in range(200):
        net.add(f"c{i}", 0.01)
    net.add("effect", pgm.NoisyOr({f"c{i}": 0.5 for i in range(200)}))
    text = dumps(net)
    assert len(text) < 200_000
    again = loads(text).cpd("effect")
    assert isinstance(again, pgm.NoisyOr)
    assert again.probabilities == {f"c{i}": 0.5 for i in range(200)}


def test_what_the_format_cannot_hold():
    net = pgm.BayesianNetwork()
    net.add("a", 0.5)
    net.add("b", pgm.NoisyOr({"a": {True: [0.1, 0.9], False: [0.5, 0.5]}}))
    with pytest.raises(InvalidArgument, match="'a' has none for 'b'; expand=True"):
        dumps(net)
    assert loads(dumps(net, expand=True)).cpd("b").values.tolist() == net.cpd("b").values.tolist()
    net.set("b", pgm.Parity(["a"]))
    with pytest.raises(InvalidArgument, match="'b' is a Parity; expand=True"):
        dumps(net)
    assert "<deterministic" not in dumps(net, expand=True)
    with pytest.raises(InvalidArgument, match="XDSL holds Bayesian networks"):
        dumps(pgm.MarkovNetwork())
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, 1.0))
    with pytest.raises(InvalidArgument, match="continuous: 'x'"):
        dumps(net)


# --- files that are wrong -----------------------------------------------------------------------------------

NODES = """<smile version="1.0" id="n"><nodes>
<cpt id="a"><state id="x"/><state id="y"/><probabilities>0.25 0.75</probabilities></cpt>
<noisymax id="m"><state id="p"/><state id="q"/><parents>a</parents><strengths>0 1</strengths>
<parameters>0.5 0.5 0 1 0.1 0.9</parameters></noisymax>
<deterministic id="d"><state id="u"/><state id="v"/><parents>a m</parents>
<resultingstates>u v v u</resultingstates></deterministic>
</nodes></smile>
"""

WRONG = [
    ("", 1, "no element found"),
    ("<BIF/>", 1, "XDSL begins with <smile>.*format='xmlbif'"),
    ("<smile/>", 1, "expected one <nodes> in <smile>, found 0"),
    ("<smile><nodes/><nodes/></smile>", 1, "expected one <nodes> in <smile>, found 2"),
    (NODES.replace('<cpt id="a"', '<cpt id="a a"'), 2, "the id 'a a' of a node has blanks in it"),
    (
        NODES.replace("</nodes>", "</nodes><dynamic numslices='3'/>"),
        7,
        "dynamic network, which is not supported",
    ),
    (
        NODES.replace("<cpt", "<equation").replace("</cpt", "</equation"),
        2,
        "'a' is a node of the kind <equation>",
    ),
    (NODES.replace("<cpt", "<equation").replace("</cpt", "</equation"), 2, "'a' .*<equation>.*not supported"),
    (NODES.replace("<cpt", "<utility").replace("</cpt", "</utility"), 2, "'a': expected one <utilities>"),
    (NODES.replace("<cpt", "<mau").replace("</cpt", "</mau"), 3, "'a' is a utility, on which only"),
    (NODES.replace('<cpt id="a"', "<cpt"), 2, r'expected id="..." in <cpt>'),
    (NODES.replace('<cpt id="a"', '<cpt id=""'), 2, "text that is not empty"),
    (NODES.replace('id="m"', 'id="a"'), 3, "a second node with the id 'a'"),
    (NODES.replace('<state id="y"/>', '<state id="x"/>'), 2, "'x' appears twice"),
    (NODES.replace('<state id="y"/>', "<state/>"), 2, r'expected id="..." in <state>'),
    (NODES.replace('<state id="x"/><state id="y"/>', ""), 2, "state"),
    (
        NODES.replace("<parents>a<", "<parents>aa<"),
        3,
        "'aa' is not a variable of this file. Did you mean 'a'",
    ),
    (NODES.replace("<parents>a<", "<parents>m<"), 3, "'m': a name appears twice"),
    (NODES.replace("<parents>a m<", "<parents>a a<"), 5, "'d': a name appears twice"),
    (NODES.replace("<parents>a m<", "<parents>a m d<"), 5, "'d': a name appears twice"),
    (NODES.replace("0.25 0.75", "0.25"), 2, "expected 2 numbers for 'a' in <probabilities>, found 1"),
    (NODES.replace("0.25 0.75", "0.25\n0.85"), 2, "'a'.*sum to 1.1"),
    (NODES.replace("0.25 0.75", "0.25\nx"), 3, "'a': expected a number, found 'x'"),
    (
        NODES.replace("<probabilities>0.25 0.75</probabilities>", ""),
        2,
        "'a': expected one <probabilities>.*found 0",
    ),
    (
        NODES.replace("<parents>a<", "<parents>a</parents><parents>a<"),
        3,
        "'m': expected one <parents>.*found 2",
    ),
    (NODES.replace("0.5 0.5 0 1", "0.5 0.5 1"), 4, "expected 6 numbers for 'm' in <parameters>, found 5"),
    (NODES.replace("0 1 0.1 0.9", "0 1\n0.1 0.8"), 5, "'m', row of the parameters.*sum to 0.9"),
    (NODES.replace(">0 1<", ">0<"), 3, "expected 2 strengths for 'm' in <strengths>, found 1"),
    (NODES.replace(">0 1<", ">0 0<"), 3, "expected the numbers 0 to 1, each once, found '0', '0'"),
    (NODES.replace(">0 1<", ">0 2<"), 3, "expected the numbers 0 to 1"),
    (NODES.replace("u v v u", "u v v"), 6, "expected 4 states for 'd' in <resultingstates>, found 3"),
    (NODES.replace("u v v u", "u v\nw u"), 7, "'d' has no state 'w'; it has 'u', 'v'"),
    (NODES.replace("</nodes>", "stray</nodes>"), 1, "expected elements in <nodes>, found the text 'stray'"),
    (
        NODES.replace("<probabilities>0.25 0.75", "<parents>m</parents><probabilities>1 0 1 0"),
        1,
        "cycle",
    ),
]


@pytest.mark.parametrize(("text", "line", "message"), WRONG)
def test_a_wrong_file_is_refused_with_its_line(text, line, message):
    with pytest.raises(FileFormatError, match=message) as caught:
        loads(text)
    assert caught.value.line == line, str(caught.value)
    assert caught.value.column is not None


def test_a_function_or_table_too_large_for_any_memory_is_not_made():
    cpt = "".join(
        f'<cpt id="v{i}"><state id="n"/><state id="y"/><probabilities>0.5 0.5</probabilities></cpt>'
        for i in range(100)
    )
    for count, kind, body in [
        (50, "cpt", "<probabilities>0.5 0.5</probabilities>"),
        (50, "deterministic", "<resultingstates>n n</resultingstates>"),
        (100, "cpt", "<probabilities>0.5 0.5</probabilities>"),
        (100, "deterministic", "<resultingstates>n n</resultingstates>"),
    ]:
        given = " ".join(f"v{i}" for i in range(count))
        last = f'<{kind} id="last"><state id="n"/><state id="y"/><parents>{given}</parents>{body}</{kind}>'
        begun = time.thread_time()
        with pytest.raises(FileFormatError, match=r"more than 10\*\*15|too many"):
            loads(f"<smile><nodes>{cpt}{last}</nodes></smile>")
        assert time.thread_time() - begun < 1


def test_a_gate_of_many_states_takes_no_square_of_memory():
    states = "".join(f'<state id="s{i}"/>' for i in range(20_000))
    row = "1 " + "0 " * 19_999
    text = f'<smile><nodes><noisymax id="a">{states}<parameters>{row}</parameters></noisymax></nodes></smile>'
    reset_peak()
    before = memory("VmRSS")
    net = loads(text)
    assert len(dumps(net)) > 500_000
    assert memory("VmHWM") - before < LARGEST  # 20,000 by 20,000 numbers are 3.2 GB
