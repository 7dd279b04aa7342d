"""Dynamic networks: held to the network they unroll to, built, edited, shown, refused."""

from __future__ import annotations

import json
import pickle
from itertools import pairwise
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest

import pgm
from pgm.models.dynamic.network_learning import DynamicNetworkLearning
from tests.models.random_dynamic import given, network, observed


def umbrella():
    dbn = pgm.DynamicBayesianNetwork("umbrella")
    dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
    dbn.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
    return dbn


# --- the same numbers as the unrolled network ---


@pytest.mark.parametrize("seed", range(30))
def test_every_question_is_that_of_the_unrolled_network(seed):
    rng = np.random.default_rng(seed)
    dbn = network(rng, zeros=seed % 3 == 0)
    steps = int(rng.integers(1, 6))
    data = observed(rng, dbn, steps)
    data.pop("type", None)
    data = data or {"v0": [None] * steps}
    net, known = dbn.unroll(steps + 2), given(dbn, data)
    filtered, smoothed = dbn.filter(data, targets=dbn.nodes), dbn.smooth(data, targets=dbn.nodes)
    lagged, ahead = dbn.smooth(data, targets=dbn.nodes, lag=1), dbn.forecast(data, steps=2)
    assert smoothed.log_likelihood == pytest.approx(net.log_probability(known), abs=1e-9)
    assert dbn.score(data) == pytest.approx(smoothed.log_likelihood, abs=1e-12)
    for name in dbn.nodes:
        for t in range(steps + 2):
            called = name if name == "type" else f"{name}[{t}]"
            whole = net.query(called, known).values
            if t >= steps:
                np.testing.assert_allclose(ahead.marginal(name).values[t - steps], whole, rtol=0, atol=1e-9)
                continue
            np.testing.assert_allclose(smoothed.marginal(name).values[t], whole, rtol=0, atol=1e-9)
            for answer, until in ((filtered, t + 1), (lagged, t + 2)):
                seen = net.query(called, given(dbn, data, until)).values
                np.testing.assert_allclose(answer.marginal(name).values[t], seen, rtol=0, atol=1e-9)
    best = dbn.map(data)
    assert best.log_joint == pytest.approx(dbn.unroll(steps).map(known).log_joint, abs=1e-9)


def test_a_step_with_gates_and_trees_of_any_kind():
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add(
        "a",
        pgm.Logistic({"a[-1]": 2.0, "b[-2]": -1.0}, bias=0.3),
        initial=[0.5, pgm.Logistic({"a[-1]": 1.0})],
    )
    tree = pgm.TreeCPD("a", {True: pgm.TreeCPD("b[-1]", {True: 0.9, False: 0.3}), False: 0.1})
    dbn.add("b", tree, initial={True: 0.6, False: 0.2})
    dbn.add("odd", pgm.Parity(["a", "b"]))
    dbn.add(
        "any",
        pgm.NoisyOr({"odd": 0.7, "any[-1]": 0.5, "b[-3]": 0.4}, leak=0.05),
        initial=[pgm.NoisyOr({"odd": 0.6}), *[pgm.NoisyOr({"odd": 0.7, "any[-1]": 0.5})] * 2],
    )
    data = {"any": [True, None, False, True, True, None], "b": [None, None, True, None, None, False]}
    net, known = dbn.unroll(6), given(dbn, data)
    found = dbn.smooth(data)
    assert found.log_likelihood == pytest.approx(net.log_probability(known), abs=1e-10)
    for name in ("a", "odd", "any"):
        for t in range(6):
            whole = net.query(f"{name}[{t}]", known).values
            np.testing.assert_allclose(
                found.marginal(name).values[t] if name in found.names else whole, whole, atol=1e-10
            )
    assert dbn.map(data).log_joint == pytest.approx(net.map(known).log_joint, abs=1e-10)


def test_a_gate_with_a_hundred_causes_is_no_table():
    dbn = pgm.DynamicBayesianNetwork()
    for i in range(60):
        dbn.add(f"cause{i}", 0.02)
    dbn.add(
        "alarm",
        pgm.NoisyOr({**{f"cause{i}": 0.5 for i in range(60)}, "alarm[-1]": 0.8}),
        initial=pgm.NoisyOr({f"cause{i}": 0.5 for i in range(60)}),
    )
    assert dbn.plan().largest < 100
    p = dbn.filter({"alarm": [None, None]}, targets="alarm").marginal("alarm").values[:, 1]
    first = 1 - 0.99**60
    np.testing.assert_allclose(p, [first, 1 - 0.99**60 * (1 - 0.8 * first)], rtol=1e-12)


# --- special cases ---


def test_a_hidden_markov_model_is_one():
    A, B = (
        [[0.4, 0.3, 0.3], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]],
        [[0.5, 0.2, 0.3], [0.1, 0.1, 0.8], [0.1, 0.5, 0.4]],
    )
    hmm = pgm.HMM([0.5, 0.2, 0.3], A, pgm.Categorical(B, symbols=["r", "g", "b"]), states=["u", "v", "w"])
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("q", A, parents=["q[-1]"], initial=[0.5, 0.2, 0.3], states=["u", "v", "w"])
    dbn.add("o", B, parents=["q"], states=["r", "g", "b"])
    seq = hmm.sample(200, seed=1).observations.tolist()
    seq[17] = None
    np.testing.assert_allclose(
        dbn.smooth({"o": seq}).marginal("q").values, hmm.smooth(seq).values, atol=1e-12
    )
    assert dbn.score({"o": seq}) == pytest.approx(hmm.score(seq), rel=1e-13)
    assert dbn.map({"o": seq}).log_joint <= hmm.decode(seq).log_joint + 1e-9  # which leaves the gap open
    np.testing.assert_allclose(dbn.forecast({"o": seq}, 3).marginal("q").values, hmm.forecast(seq, 3).values)


def test_numbers_that_are_observed():
    hmm = pgm.HMM([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], pgm.Gaussian([0.0, 3.0], sd=[1.0, 1.5]))
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("q", [[0.7, 0.3], [0.2, 0.8]], parents=["q[-1]"], initial=[0.6, 0.4], states=[0, 1])
    dbn.add("y", {0: pgm.Gaussian(0.0, sd=1.0), 1: pgm.Gaussian(3.0, sd=1.5)}, parents=["q"])
    y = [0.5, 2.5, None, 3.5, -0.5, 1.0]
    assert dbn.score({"y": y}) == pytest.approx(hmm.score(y), rel=1e-13)
    np.testing.assert_allclose(dbn.smooth({"y": y}).marginal("q").values, hmm.smooth(y).values, atol=1e-12)


def test_an_autoregression_whose_regime_switches():
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("s", {0: [0.9, 0.1], 1: [0.2, 0.8]}, parents=["s[-1]"], initial=[0.5, 0.5], states=[0, 1])
    rows = {
        0: pgm.LinearGaussian({"x[-1]": 0.9}, sd=0.3),
        1: pgm.LinearGaussian({"x[-1]": -0.5}, bias=1.0, sd=1.0),
    }
    dbn.add(
        "x",
        rows,
        parents=["s", "x[-1]"],
        initial={0: pgm.Gaussian(0.0, sd=1.0), 1: pgm.Gaussian(1.0, sd=2.0)},
    )
    dbn.add("high", pgm.Logistic({"x": 2.0}, bias=-1.0))
    data = {"x": [0.2, 0.3, 1.9, -0.6], "high": [None, False, True, None]}
    net = dbn.unroll(4)
    known = given(dbn, data)
    found = dbn.smooth(data)
    for t in range(4):
        np.testing.assert_allclose(
            found.marginal("s").values[t], net.query(f"s[{t}]", known).values, atol=1e-9
        )
    with pytest.raises(pgm.InvalidArgument, match=r"Step 2 .*'x' depends on the continuous 'x'.*unroll"):
        dbn.filter({"x": [0.2, None, 1.9]})


def test_many_sequences_at_once():
    dbn = umbrella()
    one, two = {"wet": [True, None, False]}, {"wet": [False]}
    both = dbn.filter([one, two], targets="rain")
    for found, alone in zip(both, (one, two), strict=True):
        np.testing.assert_array_equal(found.values, dbn.filter(alone, targets="rain").values)
    frame = pd.DataFrame({"day": ["b", "a", "b", "b"], "wet": [True, False, None, False], "note": 1})
    by_name = dbn.filter(frame, sequence="day", targets="rain")
    np.testing.assert_array_equal(by_name["b"].values, both[0].values)
    np.testing.assert_array_equal(by_name["a"].values, both[1].values)
    lengths = dbn.filter({"wet": [True, None, False, False]}, lengths=[3, 1], targets="rain")
    np.testing.assert_array_equal(lengths.values, both.values)
    assert dbn.log_likelihood([one, two]).tolist() == [dbn.score(one), dbn.score(two)]
    assert dbn.score([one, two], by="step")[1].shape == (1,)


def test_long_sequences_neither_underflow_nor_grow():
    dbn = umbrella()
    wet = dbn.sample(30_000, seed=2)["wet"]
    found = dbn.filter({"wet": wet})
    assert np.isfinite(found.log_likelihood)
    np.testing.assert_allclose(found.values[-1], dbn.filter({"wet": wet[-200:]}).values[-1], atol=1e-12)


# --- building ---


def test_tables_may_look_back_at_what_comes_later():
    dbn = pgm.DynamicBayesianNetwork()
    rows = {(True, True): 0.9, (True, False): 0.4, (False, True): 0.6, (False, False): 0.1}
    dbn.add("a", rows, parents=["a[-1]", "b[-1]"], initial=0.3)
    with pytest.raises(
        pgm.IncompleteModel, match=r"'a' has the parent 'b\[-1\]', but there is no variable 'b'"
    ):
        dbn.filter({"a": [True]})
    dbn.add("b", rows, parents=["b[-1]", "a[-1]"], initial=0.5)
    found = dbn.filter({"a": [True, None, True]})
    net = dbn.unroll(3)
    np.testing.assert_allclose(
        found.marginal("b").values[2], net.query("b[2]", {"a[0]": True, "a[2]": True}).values, atol=1e-12
    )


def test_edits():
    dbn = umbrella()
    other = dbn.copy()
    assert other == dbn
    other.set("rain", {True: 0.6, False: 0.2})
    assert other != dbn
    other.set("rain", {True: 0.7, False: 0.2}, initial=0.4)
    assert other == dbn
    assert pickle.loads(pickle.dumps(dbn)) == dbn
    called = dbn.rename({"rain": "snow"})
    assert called.edges == (("snow[-1]", "snow"), ("snow", "wet"))
    assert called.filter({"wet": [True]}).marginal("snow")[0][True] == pytest.approx(6 / 7)
    assert called.rename({"snow": "rain"}) == dbn
    with pytest.raises(pgm.InvalidStructure, match="has the children 'wet'"):
        dbn.remove("rain")
    dbn.remove("wet")
    assert dbn.nodes == ("rain",)
    assert dbn.n_parameters == 3


def test_unrolled_names_and_tables_are_shared():
    net = umbrella().unroll(4)
    assert net.nodes[:3] == ("rain[0]", "wet[0]", "rain[1]")
    assert net.parents("rain[2]") == ("rain[1]",)
    assert net.cpd("rain[2]").values is net.cpd("rain[3]").values
    assert net.query("rain[1]", {"wet[0]": True, "wet[1]": True})[True] == pytest.approx(0.938389, abs=1e-6)


def test_what_never_changes_stands_in_every_step():
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("coin", {"fair": 0.5, "bent": 0.5}, static=True)
    dbn.add("heads", {"fair": 0.5, "bent": 0.9}, parents=["coin"])
    p = dbn.filter({"heads": [True, True]}).marginal("coin")
    assert p[1]["bent"] == pytest.approx(0.81 / (0.81 + 0.25))
    assert dbn.unroll(2).nodes == ("coin", "heads[0]", "heads[1]")
    assert dbn.score({"coin": "bent", "heads": [True, True]}) == pytest.approx(np.log(0.5 * 0.81))


# --- what is refused ---


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (
            ("x", {True: 0.5, False: 0.5}),
            {"parents": ["x[1]"], "initial": 0.5},
            r"'x\[1\]', which lies in the future",
        ),
        (("x", 0.5), {"parents": ["x"]}, "own parent in the same step: that would be a cycle"),
        (("x", 0.5), {"parents": ["rian"]}, "no variable 'rian'.*Did you mean 'rain'"),
        (("x", {True: 0.5, False: 0.5}), {"parents": ["rain[-1]"]}, r"looks back 1 step.*step 0, P\(x\)"),
        (
            ("x", {True: 0.5, False: 0.5}),
            {"parents": ["rain[-2]"], "initial": 0.5},
            "list of 2 distributions",
        ),
        (("x", 0.5), {"initial": 0.5}, "looks back at no earlier step"),
        (("x[-1]", 0.5), {}, "looks like a variable of a certain step"),
        (("rain", 0.5), {}, "a variable 'rain' already"),
        (("x", 0.5), {"parents": ["rain[0]"]}, "of the same step is written 'rain'"),
        (
            ("x", {True: 0.5, False: 1.5}),
            {"parents": ["rain[-1]"], "initial": 0.5},
            r"'x', row rain\[-1\]=False",
        ),
        (("x", {True: 0.5, False: 0.5}), {"parents": ["rain[-1]"], "initial": 1.5}, "initial=, step 0: 'x'"),
        (("x", {True: 0.5, False: 0.5}), {"parents": ["rain"], "static": True}, "'rain' is not"),
        (
            ("x", {True: 0.5, False: 0.5}),
            {"parents": ["x[-1]"], "static": True, "initial": 0.5},
            "'x.-1.' is not",
        ),
        (("x", 0.5), {"parents": ["rain[-5000]"], "initial": 0.5}, "more than 1,000 steps back"),
    ],
)
def test_bad_variables(arguments, options, message):
    dbn = umbrella()
    before = dbn.copy()
    with pytest.raises(pgm.PGMError, match=message):
        dbn.add(*arguments, **options)
    assert dbn == before


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"wet": [True, False], "rain": [True]}, "different lengths"),
        ({"wett": [True]}, "Did you mean 'wet'"),
        ({"wet[1]": [True]}, "without steps: 'wet' with a list"),
        ({"wet": [True, "maybe"]}, "Step 1 .*'maybe' is not one of the states of 'wet'"),
        ({"wet": True}, "not a list of values"),
        ({"wet": []}, "is empty"),
        ([True, False], "have names"),
        ({"wet": [pgm.Soft({True: 0.7, False: 0.3})]}, "pgm.Soft .*sequences do not support"),
        ({"wet": [pgm.OneOf()]}, "Step 0 .*is empty"),
    ],
)
def test_bad_sequences(data, message):
    with pytest.raises(pgm.PGMError, match=message):
        umbrella().filter(data)


def test_impossible_evidence_names_the_step():
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("broken", {True: 1.0, False: 0.1}, parents=["broken[-1]"], initial=0.0)
    dbn.add("works", {True: 0.0, False: 1.0}, parents=["broken"])
    for ask in (dbn.filter, dbn.smooth, dbn.score, dbn.map, dbn.forecast):
        with pytest.raises(pgm.ImpossibleEvidence, match="Step 3"):
            ask({"works": [True, False, None, True]})
    with pytest.raises(pgm.ImpossibleEvidence, match="Sequence 1, step 0"):
        dbn.filter([{"works": [True]}, {"works": [False, True]}])


def test_too_large_an_interface_is_refused_before_it_is_made():
    dbn = pgm.DynamicBayesianNetwork()
    for i in range(64):
        dbn.add(f"x{i}", {True: 0.9, False: 0.1}, parents=[f"x{i}[-1]"], initial=0.5)
    dbn.add("y", pgm.NoisyOr({f"x{i}": 0.5 for i in range(64)}))
    plan = dbn.plan()
    assert plan.entries == 2**64
    assert not plan.fits
    with pytest.raises(pgm.TooLarge, match=r"64 variables[\s\S]*boyen-koller"):
        dbn.filter({"y": [True]})


# --- what is shown ---


def test_results_are_values():
    dbn = umbrella()
    data = {"wet": [True, True, False]}
    for found in (dbn.filter(data), dbn.map(data), dbn.sample(4, seed=0), dbn.forecast(data, 2)):
        again = pickle.loads(pickle.dumps(found))
        assert repr(again) == repr(found)
        assert found._repr_html_().startswith("<")
        assert len(found.to_pandas()) == len(found)
        with pytest.raises(AttributeError):
            found.report = None
    assert dbn.filter(data).to_dict()["variables"]["rain"][True][0] == pytest.approx(6 / 7)
    assert dbn.map(data).to_pandas()["rain"].tolist() == [True, True, False]
    assert dict(dbn.sample(2, seed=0)).keys() == {"rain", "wet"}


def test_samples_follow_the_tables():
    dbn = umbrella()
    rain = dbn.sample(50_000, seed=3)["rain"]
    after = rain[1:][rain[:-1]].mean(), rain[1:][~rain[:-1]].mean()
    assert after == (pytest.approx(0.7, abs=0.015), pytest.approx(0.2, abs=0.015))
    first = np.array([one["rain"][0] for one in dbn.sample(1, sequences=4_000, seed=4)])
    assert first.mean() == pytest.approx(0.4, abs=0.04)


# --- one step at a time ---


@pytest.mark.parametrize("seed", range(8))
def test_a_stream_is_the_filter(seed):
    rng = np.random.default_rng(seed)
    dbn = network(rng, zeros=seed % 3 == 0)
    data = observed(rng, dbn, 12)
    whole = dbn.filter(data, targets=dbn.nodes)
    stream, parts = dbn.stream(), []
    for a, b in ((0, 1), (1, 4), (4, 5), (5, 12)):
        stream = pickle.loads(pickle.dumps(stream)).copy()
        part = {name: column[a:b] for name, column in data.items()}
        parts.append(stream.push(part, targets=dbn.nodes).values)
    np.testing.assert_allclose(np.concatenate(parts), whole.values, rtol=0, atol=1e-12)
    assert stream.log_likelihood == pytest.approx(whole.log_likelihood, abs=1e-10)
    np.testing.assert_allclose(stream.forecast(3).values, dbn.forecast(data, 3).values, rtol=0, atol=1e-12)


def test_a_stream_of_numbers_and_what_it_refuses():
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("s", {0: [0.9, 0.1], 1: [0.2, 0.8]}, parents=["s[-1]"], initial=[0.5, 0.5], states=[0, 1])
    rows = {0: pgm.LinearGaussian({"x[-1]": 0.9}, sd=0.3), 1: pgm.LinearGaussian({"x[-1]": -0.5}, sd=1.0)}
    dbn.add(
        "x",
        rows,
        parents=["s", "x[-1]"],
        initial={0: pgm.Gaussian(0.0, sd=1.0), 1: pgm.Gaussian(1.0, sd=2.0)},
    )
    x = [0.2, 0.3, 1.9, -0.6]
    stream = dbn.stream()
    found = [stream.push({"x": value}).values[0] for value in x]
    np.testing.assert_allclose(found, dbn.filter({"x": x}).values, atol=1e-13)
    with pytest.raises(pgm.UnknownVariable):
        stream.push({"y": 1.0})
    with pytest.raises(pgm.InvalidArgument, match="one sequence"):
        stream.push([{"x": [1.0]}, {"x": [2.0]}])
    assert len(stream) == 4
    assert stream.push({}).values.shape == (1, 2)


def test_a_stream_names_the_step_that_is_impossible():
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("broken", {True: 1.0, False: 0.1}, parents=["broken[-1]"], initial=0.0)
    stream = dbn.stream()
    stream.push({"broken": [False, True]})
    with pytest.raises(pgm.ImpossibleEvidence, match="Step 3"):
        stream.push({"broken": [True, False]})
    assert len(stream) == 2


# --- joint questions, files, pictures ---


def test_joint_questions_about_several_steps():
    dbn, data = umbrella(), {"wet": [True, True, False]}
    joint = dbn.query(["rain[0]", "rain[4]"], data)
    same = dbn.unroll(5).query(["rain[0]", "rain[4]"], given(dbn, data))
    np.testing.assert_array_equal(joint.values, same.values)
    with pytest.raises(pgm.UnknownVariable, match=r"'rain'; there are 'rain\[0\]'"):
        dbn.query("rain", data)


@pytest.mark.parametrize("seed", range(6))
def test_files_hold_all_of_it(seed, tmp_path):
    rng = np.random.default_rng(seed)
    dbn = network(rng)
    dbn.add("x", pgm.LinearGaussian({"x[-2]": 0.5}, sd=1.0), initial=[pgm.Gaussian(0.0, sd=1.0)] * 2)
    pgm.write(dbn, tmp_path / "model.json")
    again = pgm.read(tmp_path / "model.json")
    assert again == dbn
    assert (again.nodes, again.name) == (dbn.nodes, dbn.name)
    data = observed(rng, dbn, 5)
    data.pop("x", None)
    np.testing.assert_array_equal(
        again.filter(data, targets="v0").values, dbn.filter(data, targets="v0").values
    )


def test_files_follow_the_schema_and_bad_ones_are_refused(tmp_path):
    schema = json.loads((Path(__file__).parents[2] / "docs/schema/pgm-2.json").read_text())
    path = tmp_path / "model.json"
    pgm.write(umbrella(), path)
    text = path.read_text()
    jsonschema.Draft202012Validator(schema).validate(json.loads(text))
    for old, new, message in (
        ('"rain[-1]"', '"rain[1]"', "future"),
        ('"rain[-1]"', '"snow[-1]"', "no variable 'snow'"),
        ('"initial"', '"first"', "first"),
        ("[0.6, 0.4]", "[0.6, 0.5]", "sum"),
        ('"pgm": 2', '"pgm": 1', "version 2"),
    ):
        assert old in text
        path.write_text(text.replace(old, new))
        with pytest.raises(pgm.FileFormatError, match=message):
            pgm.read(path)


def test_pictures():
    dbn, data = umbrella(), {"wet": [True, True, False]}
    assert [t.get_text() for t in dbn.plot().texts if "rain" in t.get_text()] == ["rain[-1]", "rain"]
    assert any(t.get_text() == "rain[2]" for t in dbn.plot(steps=3).texts)
    assert any(t.get_text() == "100%" for t in dbn.plot(data).texts)
    for found in (dbn.smooth(data), dbn.map(data), dbn.sample(5, seed=0), dbn.forecast(data, 2)):
        assert found.plot().get_xlabel() == "step"


# --- learning ---


@pytest.mark.parametrize("seed", range(15))
def test_expected_counts_are_those_of_the_unrolled_network(seed):
    rng = np.random.default_rng(seed)
    dbn = network(rng, zeros=seed % 3 == 0)
    steps = int(rng.integers(1, 6))
    data = observed(rng, dbn, steps, soft=False)
    data.pop("type", None)
    data = data or {"v0": [None] * steps}
    found, _ = dbn._read(data, None, None, ())
    fitting = DynamicNetworkLearning(dbn._nodes, found, dbn._layout(), None, None, None, "mean")
    own = fitting.expect(dbn._nodes).statistics
    net, known = dbn.unroll(steps), given(dbn, data)
    every = net.expected_counts({name: [value] for name, value in known.items()} or {net.nodes[0]: [None]})
    for name, node in dbn._nodes.items():
        for i, cpd in enumerate(node.cpds):
            last = i == len(node.cpds) - 1
            if not cpd.tabular:
                continue
            if node.static:
                total = every[name]
            else:
                total = sum(
                    every[f"{name}[{t}]"] for t in (range(i, steps) if last else [i] if i < steps else [])
                )
            np.testing.assert_allclose(own[name if last else f"{name}[{i}]"], total, rtol=0, atol=1e-9)


def test_patterns_and_rows_give_the_same_counts():
    dbn = umbrella()
    wet = dbn.sample(300, seed=1)["wet"].tolist()
    wet[5:60:7] = [None] * 8
    soft = [pgm.Likelihood({True: 1.0, False: 1.0}) if value is None else value for value in wet]
    counts = []
    for column in (wet, soft, [pgm.OneOf(v) if v is not None else None for v in wet]):
        found, _ = dbn._read({"wet": column}, None, None, ())
        fitting = DynamicNetworkLearning(dbn._nodes, found, dbn._layout(), None, None, None, "mean")
        counts.append(fitting.expect(dbn._nodes).statistics)
    for other in counts[1:]:
        for name, own in counts[0].items():
            np.testing.assert_allclose(other[name], own, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_the_likelihood_never_falls(seed):
    rng = np.random.default_rng(seed)
    dbn = network(rng)
    lengths = [int(rng.integers(1, 25)) for _ in range(4)]
    drawn = [observed(rng, dbn, n) for n in lengths]
    columns = sorted({name for one in drawn for name in one})
    data = [{c: one.get(c, [None] * n) for c in columns} for one, n in zip(drawn, lengths, strict=True)]
    before = dbn.score(data)
    logs = dbn.fit(data, max_iter=12).fit_report.log_likelihoods
    assert logs[0] == pytest.approx(before, abs=1e-9)
    assert all(b >= a - 1e-9 for a, b in pairwise(logs))
    assert dbn.score(data) == pytest.approx(logs[-1], abs=1e-8)


def test_baum_and_welch():
    A, B = [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]]
    hmm = pgm.HMM([0.5, 0.5], A, pgm.Categorical(B, symbols=["a", "b"]))
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("q", A, parents=["q[-1]"], initial=[0.5, 0.5], states=[0, 1])
    dbn.add("o", B, parents=["q"], states=["a", "b"])
    sequences = [hmm.sample(50, seed=i).observations.tolist() for i in range(3)]
    hmm.fit(sequences, max_iter=10, tol=0.0, weights=[1.0, 2.0, 0.5])
    dbn.fit([{"o": s} for s in sequences], max_iter=10, tol=0.0, weights=[1.0, 2.0, 0.5])
    np.testing.assert_allclose(dbn.cpd("q").values, hmm.transition, atol=1e-12)
    np.testing.assert_allclose(dbn.cpd("q", step=0).values, hmm.initial, atol=1e-12)


def test_gaussians_learn_as_those_of_hidden_markov_models():
    y = [0.5, 2.5, 3.5, -0.5, 1.0]
    hmm = pgm.HMM([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], pgm.Gaussian([0.0, 3.0], sd=[1.0, 2.0**0.5]))
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("q", [[0.7, 0.3], [0.2, 0.8]], parents=["q[-1]"], initial=[0.6, 0.4], states=[0, 1])
    dbn.add("y", {0: pgm.Gaussian(0.0, sd=1.0), 1: pgm.Gaussian(3.0, sd=2.0**0.5)}, parents=["q"])
    hmm.fit(y, max_iter=1)
    dbn.fit({"y": y}, max_iter=1)
    np.testing.assert_allclose(dbn.cpd("y").bias, [0.3389805418, 2.496034654], atol=1e-9)  # O33
    np.testing.assert_allclose(dbn.cpd("y").sd ** 2, [0.4950031473, 1.271777954], atol=1e-9)
    np.testing.assert_allclose(dbn.cpd("q").values, hmm.transition, atol=1e-10)


def test_complete_sequences_are_counted():
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("x", {"a": [0.5, 0.5], "b": [0.5, 0.5]}, parents=["x[-1]"], initial=[0.5, 0.5], states=["a", "b"])
    dbn.add("y", pgm.LinearGaussian({"y[-1]": 0.0}, sd=1.0), initial=pgm.Gaussian(0.0, sd=1.0))
    rng = np.random.default_rng(0)
    y = np.cumsum(rng.normal(size=40))
    dbn.fit({"x": list("aabab" * 8), "y": y}, fixed=["y[0]"])
    np.testing.assert_allclose(dbn.cpd("x").values, [[8 / 24, 16 / 24], [15 / 15, 0.0]], atol=1e-12)
    slope, bias = np.polyfit(y[:-1], y[1:], 1)
    assert (float(np.ravel(dbn.cpd("y").weights)[0]), float(np.ravel(dbn.cpd("y").bias)[0])) == (
        pytest.approx(slope),
        pytest.approx(bias),
    )
    assert dbn.fit_report.converged


def test_priors_fixed_parts_and_refusals():
    dbn = umbrella()
    data = {"rain": [True, True], "wet": [True, False]}
    dbn.fit(data, prior="laplace", fixed=["rain"])
    assert dbn.cpd("rain") == umbrella().cpd("rain")
    np.testing.assert_allclose(dbn.cpd("wet").values, [[0.5, 0.5], [0.5, 0.5]])
    before = dbn.copy()
    for options, message in (
        ({"fixed": ["snow"]}, "'snow'"),
        ({"starts": 0}, "starts="),
        ({"prior": {"snow": "laplace"}}, "'snow'"),
        ({"max_iter": 0}, "max_iter="),
        ({"weights": [1.0, 2.0]}, "weights="),
    ):
        with pytest.raises(pgm.PGMError, match=message):
            dbn.fit(data, **options)
        assert dbn == before


def test_several_starts_find_what_one_does_not():
    truth = umbrella()
    data = [{"wet": truth.sample(40, seed=i)["wet"].tolist()} for i in range(4)]
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("rain", {True: 0.5, False: 0.5}, parents=["rain[-1]"], initial=0.5)
    dbn.add("wet", {True: 0.5, False: 0.5}, parents=["rain"])
    alone = dbn.copy().fit(data).score(data)
    assert dbn.fit(data, starts=4, seed=0).score(data) > alone + 1.0
    assert len(dbn.fit_report.starts) == 4


# --- what is not exact, and says so ---


@pytest.mark.parametrize("seed", range(6))
def test_one_cluster_of_all_is_exact_and_clusters_apart_are_near(seed):
    rng = np.random.default_rng(seed)
    dbn = network(rng, zeros=seed % 2 == 0)
    data = [observed(rng, dbn, 6), observed(rng, dbn, 3)]
    columns = sorted({name for one in data for name in one})
    data = [{c: one.get(c, [None] * len(next(iter(one.values())))) for c in columns} for one in data]
    exact = dbn.filter(data, targets=dbn.nodes)
    whole = dbn.filter(data, targets=dbn.nodes, engine=pgm.filters.BoyenKoller(clusters=[list(dbn.nodes)]))
    np.testing.assert_allclose(whole.values, exact.values, rtol=0, atol=1e-10)
    assert whole.log_likelihood == pytest.approx(exact.log_likelihood, abs=1e-9)
    apart = dbn.filter(data, targets=dbn.nodes, engine="boyen-koller")
    assert (apart[0].exact, apart[0].report.error, exact[0].exact) == (False, None, True)
    np.testing.assert_allclose(apart[0].values[0], exact[0].values[0], atol=1e-10)  # nothing is forgotten yet
    if seed % 2:  # without zeros
        assert np.abs(apart.values - exact.values).max() < 0.1


def test_clusters_apart_are_marginals_multiplied_after_each_step():
    rows = {(1, 1): [0.9, 0.1], (1, 2): [0.6, 0.4], (2, 1): [0.4, 0.6], (2, 2): [0.1, 0.9]}
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("a", rows, parents=["a[-1]", "b[-1]"], initial=[0.7, 0.3], states=[1, 2])
    dbn.add("b", rows, parents=["b[-1]", "a[-1]"], initial=[0.5, 0.5], states=[1, 2])
    dbn.add("o", [[[0.9, 0.1], [0.5, 0.5]], [[0.4, 0.6], [0.2, 0.8]]], parents=["a", "b"], states=[0, 1])
    seen, table = [0, 1, 1, None, 0], np.array([[rows[i, j] for j in (1, 2)] for i in (1, 2)])
    move = np.einsum("abi,baj->abij", table, table)
    belief, log, found = None, 0.0, []
    for o in seen:
        joint = np.outer([0.7, 0.3], [0.5, 0.5]) if belief is None else np.einsum("ab,abij->ij", belief, move)
        if o is not None:
            joint = joint * np.array([[0.9, 0.1], [0.5, 0.5], [0.4, 0.6], [0.2, 0.8]])[:, o].reshape(2, 2)
        log += np.log(joint.sum())
        joint /= joint.sum()
        found.append(joint.sum(axis=1))
        belief = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    answer = dbn.filter({"o": seen}, engine="boyen-koller")
    np.testing.assert_allclose(answer.marginal("a").values, found, atol=1e-12)
    assert answer.log_likelihood == pytest.approx(log, abs=1e-12)


def test_independent_chains_lose_nothing_by_being_kept_apart():
    dbn = pgm.DynamicBayesianNetwork()
    for name, stay in (("a", 0.7), ("b", 0.9)):
        dbn.add(name, {True: stay, False: 1 - stay}, parents=[f"{name}[-1]"], initial=0.5)
        dbn.add(f"seen {name}", {True: 0.8, False: 0.3}, parents=[name])
    data = {"seen a": [True, False, True], "seen b": [False, None, True]}
    exact, found = dbn.filter(data), dbn.filter(data, engine="boyen-koller")
    np.testing.assert_allclose(found.values, exact.values, atol=1e-12)
    assert found.log_likelihood == pytest.approx(exact.log_likelihood, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_particles_are_as_far_off_as_they_say(seed):
    rng = np.random.default_rng(seed)
    dbn = network(rng)
    data = observed(rng, dbn, 6)
    exact = dbn.filter(data, targets=dbn.nodes)
    how = pgm.filters.Particles(samples=4_000, seed=seed)
    found = dbn.filter(data, targets=dbn.nodes, engine=how)
    assert np.abs(found.values - exact.values).max() < 5 * found.report.error
    assert found.log_likelihood == pytest.approx(exact.log_likelihood, abs=0.2)
    assert not found.exact
    assert found.report.samples == 4_000
    assert found == dbn.filter(data, targets=dbn.nodes, engine=how)


def test_particles_follow_numbers_that_nobody_sees():
    lds = pgm.LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8, mean=0.0, covariance=1.0)
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("x", pgm.LinearGaussian({"x[-1]": 0.9}, sd=0.5**0.5), initial=pgm.Gaussian(0.0, sd=1.0))
    dbn.add("y", pgm.LinearGaussian({"x": 1.0}, sd=0.8**0.5))
    dbn.add("high", pgm.Logistic({"x": 2.0}))
    y = [1.0, 0.5, -0.3, 1.2, 2.0]
    with pytest.raises(pgm.InvalidArgument, match="'y' depends on the continuous 'x'"):
        dbn.filter({"y": y})
    found = dbn.filter({"y": y}, engine=pgm.filters.Particles(samples=20_000, seed=1))
    assert found.log_likelihood == pytest.approx(lds.score(y), abs=0.05)
    state = lds.filter(y)
    draws = np.random.default_rng(0).normal(state.mean[-1, 0], state.covariance[-1, 0, 0] ** 0.5, 200_000)
    high = (1 / (1 + np.exp(-2 * draws))).mean()
    assert found.marginal("high")[-1][True] == pytest.approx(high, abs=0.02)


def test_no_engine_approximates_unasked_and_bad_ones_are_refused():
    dbn, data = umbrella(), {"wet": [True]}
    assert dbn.filter(data, engine="interface") == dbn.filter(data)
    for engine, message in (
        ("loopy", "cannot filter a dynamic network"),
        (3, "cannot filter a dynamic network"),
    ):
        with pytest.raises(pgm.InvalidArgument, match=message):
            dbn.filter(data, engine=engine)
    with pytest.raises(pgm.UnknownVariable, match="clusters="):
        dbn.filter(data, engine=pgm.filters.BoyenKoller(clusters=[["snow"]]))
    for clusters in ("ab", [["a"], ["a"]], [3]):
        with pytest.raises(pgm.InvalidArgument):
            pgm.filters.BoyenKoller(clusters=clusters)
    broken = pgm.DynamicBayesianNetwork()
    broken.add("x", {True: 1.0, False: 0.0}, parents=["x[-1]"], initial=0.0)
    with pytest.raises(pgm.NoSupportFound, match="Step 1"):
        broken.filter({"x": [False, True]}, engine="particles")
    with pytest.raises(pgm.ImpossibleEvidence, match="Step 1"):
        broken.filter({"x": [False, True]}, engine="boyen-koller")


def test_an_interface_that_is_too_large_is_filtered_by_name():
    dbn = pgm.DynamicBayesianNetwork()
    for i in range(64):
        dbn.add(f"x{i}", {True: 0.9, False: 0.1}, parents=[f"x{i}[-1]"], initial=0.5)
    dbn.add("y", pgm.NoisyOr({f"x{i}": 0.05 for i in range(64)}))
    data = {"y": [True, False, True]}
    one, other = dbn.filter(data, engine="boyen-koller"), dbn.filter(data, engine="particles")
    assert np.abs(one.values - other.values).max() < 5 * other.report.error


def test_sizes_are_checked_before_anything_is_allocated():
    dbn = umbrella()
    for ask in (
        lambda: dbn.forecast({"wet": [True]}, steps=10**10),
        lambda: dbn.stream().forecast(10**10),
        lambda: dbn.unroll(10**10),
        lambda: dbn.sample(10**12),
        lambda: dbn.plot(steps=10**10),
        lambda: dbn.query("rain[99999999999]", {"wet": [True]}),
    ):
        with pytest.raises(pgm.TooLarge):
            ask()
    with pytest.raises(pgm.InvalidArgument, match="starts="):
        dbn.fit({"wet": [True]}, starts=10**9)
    long = pgm.DynamicBayesianNetwork()
    long.add("x", {True: 0.5, False: 0.5}, parents=["x[-1000]"], initial=[0.5] * 1000)
    assert "10**301.0 entries" in str(long.plan())
    with pytest.raises(pgm.TooLarge):
        long.filter({"x": [True, None]})
    assert long.filter({"x": [True, None]}, engine="particles").values[1, 1] == pytest.approx(0.5, abs=0.05)


def test_a_time_limit_ends_each_of_them():
    dbn = pgm.DynamicBayesianNetwork()
    for i in range(10):
        dbn.add(f"x{i}", {True: 0.9, False: 0.1}, parents=[f"x{i}[-1]"], initial=0.5)
    dbn.add("y", pgm.NoisyOr({f"x{i}": 0.1 for i in range(10)}))
    data = {"y": np.random.default_rng(0).random(50_000) < 0.5}
    with pgm.config(time_limit=0.1):
        for engine in ("interface", "boyen-koller", "particles"):
            with pytest.raises(pgm.OutOfTime):
                dbn.filter(data, engine=engine)


def test_what_several_steps_say_of_a_static_variable_counts_together():
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("kind", [0.4, 0.6], states=["a", "b"], static=True)
    dbn.add("seen", {"a": [0.9, 0.1], "b": [0.2, 0.8]}, parents=["kind"], states=["x", "y"])
    one, two = pgm.Likelihood({"a": 0.6, "b": 0.5}), pgm.Likelihood({"a": 0.3, "b": 0.9})
    data = {"kind": [one, None, two], "seen": ["x", None, None]}
    weights = np.array([0.4 * 0.6 * 0.3 * 0.9, 0.6 * 0.5 * 0.9 * 0.2])
    assert dbn.query("kind", data).values == pytest.approx(weights / weights.sum())
    assert dbn.query("kind", {**data, "kind": [one, "a", pgm.Not("b")]})["a"] == 1.0
    with pytest.raises(pgm.ImpossibleEvidence, match=r"'kind' is static.*contradict each other"):
        dbn.query("kind", {**data, "kind": [one, "a", "b"]})


def test_a_static_number_is_known_from_the_first_step_on():
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("bias", pgm.LinearGaussian(bias=5.0, sd=0.5), static=True)
    dbn.add("on", {True: 0.8, False: 0.3}, parents=["on[-1]"], initial=0.5)
    dbn.add(
        "y",
        {True: pgm.LinearGaussian({"bias": 1.0}, sd=1.0), False: pgm.LinearGaussian({"bias": -1.0}, sd=1.0)},
        parents=["on", "bias"],
    )
    wanted = dbn.unroll(3).log_probability({"bias": 4.0, "y[0]": 4.0, "y[2]": -4.0})
    y = [4.0, None, -4.0]
    for bias in (4.0, [4.0] * 3, [4.0, None, None], [4.0, None, 4.0]):
        assert dbn.score({"bias": bias, "y": y}) == pytest.approx(wanted, abs=1e-9)
    two = [{"bias": [4.0, None, None], "y": y}, {"bias": [5.0, None], "y": [5.0, 5.0]}]
    alone = dbn.score({"bias": 5.0, "y": [5.0, 5.0]})
    assert dbn.score(two, by="sequence") == pytest.approx([wanted, alone], abs=1e-9)
    stream = dbn.stream()
    for row in ({"bias": 4.0, "y": 4.0}, {"y": None}, {"y": -4.0, "bias": 4.0}):
        stream.push(row)
    assert stream.log_likelihood == pytest.approx(wanted, abs=1e-9)
    with pytest.raises(pgm.ImpossibleEvidence, match=r"'bias' is static.*it was 4, but step 0"):
        stream.push({"bias": 3.0})
    for ask in (dbn.score, dbn.smooth, dbn.filter, dbn.map):
        with pytest.raises(pgm.InvalidArgument, match=r"'bias' is static.*step 1 .*once, {'bias': 4}"):
            ask({"bias": [None, 4.0, None], "y": [None, 4.0, None]})
        with pytest.raises(pgm.ImpossibleEvidence, match=r"it was 4, but step 1 .* says 5"):
            ask({"bias": [4.0, 5.0, None]})
    late = dbn.stream()
    late.push({"on": True})
    with pytest.raises(pgm.InvalidArgument, match="first observed later"):
        late.push({"bias": 4.0})
    assert dbn.query("on[1]", {"bias": [None, 4.0], "y": [None, 4.0]}).exact
