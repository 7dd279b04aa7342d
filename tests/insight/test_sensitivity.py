"""Derivatives, sensitivity functions and tuning, against networks with other numbers, enumerated."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import pgm
from tests.insight.enumeration import Joint, random_findings, random_network

Key = tuple[Any, ...]


def wet_grass() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork("wet grass")
    net.add("cloudy", 0.5)
    net.add("sprinkler", {True: 0.1, False: 0.5}, parents=["cloudy"])
    net.add("rain", {True: 0.8, False: 0.1}, parents=["cloudy"])
    rows = {(True, True): 0.95, (True, False): 0.90, (False, True): 0.90, (False, False): 0.10}
    net.add("wet", rows, parents=["rain", "sprinkler"])
    return net


def changed(net: pgm.BayesianNetwork, name: str, index: tuple[int, ...], value: float) -> pgm.BayesianNetwork:
    """One entry has this value; the others of its row change in proportion, or evenly beside a one."""
    table = np.array(net.cpd(name).values)
    row = table[index[:-1]]
    others = np.arange(row.size) != index[-1]
    rest = row[others].sum()
    row[others] = (1.0 - value) * (row[others] / rest if rest > 0 else 1.0 / others.sum())
    row[index[-1]] = value
    made = net.copy()
    made.set(name, table)
    return made


def test_the_numbers_of_the_contract() -> None:
    found = wet_grass().sensitivity("rain", {"wet": True})
    assert found["wet"][..., 1].ravel() == pytest.approx([-0.303208, -0.226203, 0.220583, 0.037241], abs=5e-7)
    assert found["wet"][..., 0] == pytest.approx(-found["wet"][..., 1])
    sizes = [abs(curve.derivative) for curve in found]
    assert sizes == sorted(sizes, reverse=True)
    assert (found.target, found.state, found.exact, found.left_out) == ("rain", True, True, 0)


@pytest.mark.parametrize("seed", range(12))
def test_every_entry_against_networks_with_another_value(seed: int) -> None:
    net = random_network(seed, 5)
    target = f"v{seed % 5}"
    known = random_findings(net, seed, 2, but=(target,))
    truth = Joint(net).posterior(target, known)
    state = net.variables[target].states[int(truth.argmax())]
    code = int(truth.argmax())
    found = net.sensitivity(target, known, state=state, ranges=True)
    assert found.probability == pytest.approx(truth[code])
    rng = np.random.default_rng(seed)
    for name in net:
        table = np.asarray(net.cpd(name).values)
        if name not in found.nodes:
            index = tuple(int(rng.integers(k)) for k in table.shape)
            other = Joint(changed(net, name, index, 0.37)).posterior(target, known)
            if not np.isnan(other).any():
                np.testing.assert_allclose(other, truth, atol=1e-12)
            continue
        slopes = found[name]
        assert (np.isnan(slopes) == ((table == 0) | (table == 1))).all()
        for index in np.ndindex(*table.shape):
            if np.isnan(slopes[index]):
                continue
            names = (*net.parents(name), name)
            key = tuple(net.variables[n].states[i] for n, i in zip(names, index, strict=True))
            curve = found.curve(name, key)
            assert curve.derivative == slopes[index]
            assert curve.value == table[index]
            low, high = curve.range
            assert low <= table[index] <= high
            for value in (0.05, 0.5, 0.93, 0.5 * (low + table[index]), 0.5 * (high + table[index])):
                other = Joint(changed(net, name, index, value)).posterior(target, known)
                assert curve(value) == pytest.approx(other[code], abs=1e-11)
                if low + 1e-9 < value < high - 1e-9:
                    assert int(other.argmax()) == code
                elif not low - 1e-9 <= value <= high + 1e-9:
                    assert int(other.argmax()) != code
            h = 1e-6
            if h < table[index] < 1 - h:
                up = Joint(changed(net, name, index, table[index] + h)).posterior(target, known)[code]
                down = Joint(changed(net, name, index, table[index] - h)).posterior(target, known)[code]
                assert slopes[index] == pytest.approx((up - down) / (2 * h), abs=1e-7, rel=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_entries_that_are_zero_or_one_on_request(seed: int) -> None:
    net = random_network(seed, 5, zeros=0.4)
    target = "v4"
    known = random_findings(net, seed, 2, but=(target,))
    found = net.sensitivity(target, known, zeros=True)
    code = net.variables[target].code(found.state)
    for name in found.nodes:
        table = np.asarray(net.cpd(name).values)
        assert not np.isnan(found[name]).any()
        for index in zip(*np.nonzero((table == 0) | (table == 1)), strict=True):
            at = tuple(map(int, index))
            names = (*net.parents(name), name)
            curve = found.curve(name, {n: net.variables[n].states[i] for n, i in zip(names, at, strict=True)})
            for value in (0.2, 0.6):
                other = Joint(changed(net, name, at, value)).posterior(target, known)
                assert curve(value) == pytest.approx(other[code], abs=1e-10)


def gates() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("a", 0.3)
    net.add("b", 0.6)
    net.add("or", pgm.NoisyOr({"a": 0.8, "b": 0.5}, leak=0.1))
    net.add("log", pgm.Logistic({"a": 2.0, "b": -1.0}, bias=0.3))
    net.add("tree", pgm.TreeCPD("a", {True: 0.9, False: pgm.TreeCPD("b", {True: 0.3, False: 0.6})}))
    net.add("mix", pgm.MixtureCPD({"a": {True: 0.9, False: 0.2}, "b": {True: 0.6, False: 0.5}}))
    net.add("rest", pgm.DefaultCPD(["a", "b"], {(True, True): 0.9, ...: 0.2}))
    net.add("x", {True: pgm.LinearGaussian(bias=1.0, sd=0.5), False: pgm.Gaussian(0.0, 1.0)}, parents=["a"])
    net.add("y", pgm.LinearGaussian({"x": 2.0}, bias=-1.0, sd=1.5))
    return net


OTHER = {  # the same distribution with one number, which is printed so, moved by h
    ("or", "a=True: True"): (0.8, lambda h: pgm.NoisyOr({"a": 0.8 + h, "b": 0.5}, leak=0.1)),
    ("or", "leak: True"): (0.1, lambda h: pgm.NoisyOr({"a": 0.8, "b": 0.5}, leak=0.1 + h)),
    ("log", "bias"): (0.3, lambda h: pgm.Logistic({"a": 2.0, "b": -1.0}, bias=0.3 + h)),
    ("log", "b"): (-1.0, lambda h: pgm.Logistic({"a": 2.0, "b": -1.0 + h}, bias=0.3)),
    ("tree", "a=False, b=True: True"): (
        0.3,
        lambda h: pgm.TreeCPD("a", {True: 0.9, False: pgm.TreeCPD("b", {True: 0.3 + h, False: 0.6})}),
    ),
    ("mix", "b=False: True"): (
        0.5,
        lambda h: pgm.MixtureCPD({"a": {True: 0.9, False: 0.2}, "b": {True: 0.6, False: 0.5 + h}}),
    ),
    ("mix", "weight of a"): (
        0.5,
        lambda h: pgm.MixtureCPD(
            {"a": {True: 0.9, False: 0.2}, "b": {True: 0.6, False: 0.5}}, weights={"a": 0.5 + h, "b": 0.5 - h}
        ),
    ),
    ("rest", "...: True"): (0.2, lambda h: pgm.DefaultCPD(["a", "b"], {(True, True): 0.9, ...: 0.2 + h})),
    ("x", "a=True: sd"): (
        0.5,
        lambda h: {True: pgm.LinearGaussian(bias=1.0, sd=0.5 + h), False: pgm.Gaussian(0.0, 1.0)},
    ),
    ("x", "a=True: bias"): (
        1.0,
        lambda h: {True: pgm.LinearGaussian(bias=1.0 + h, sd=0.5), False: pgm.Gaussian(0.0, 1.0)},
    ),
    ("y", "weight of x"): (2.0, lambda h: pgm.LinearGaussian({"x": 2.0 + h}, bias=-1.0, sd=1.5)),
    ("y", "sd"): (1.5, lambda h: pgm.LinearGaussian({"x": 2.0}, bias=-1.0, sd=1.5 + h)),
}


@pytest.mark.parametrize("which", OTHER, ids=lambda which: " ".join(which))
def test_numbers_that_are_no_table_entries(which: tuple[str, str]) -> None:
    known = {"or": True, "log": True, "tree": False, "mix": True, "rest": True, "y": 0.7}
    net = gates()
    found = net.sensitivity("a", known)
    name, text = which
    value, other = OTHER[which]
    curve = found.curve(name, text)
    assert curve.value == pytest.approx(value)
    parents = ["a"] if name == "x" else None
    h, ends = 1e-5, []
    for step in (h, -h):
        made = net.copy()
        made.set(name, other(step), parents=parents)
        ends.append(made.query("a", known)[True])
    assert curve.derivative == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-5, abs=1e-9)
    if name in ("log", "x", "y"):
        with pytest.raises(pgm.InvalidArgument, match="not a ratio of linear functions"):
            curve(0.5)
    else:
        made = net.copy()
        made.set(name, other(0.05), parents=parents)
        assert curve(value + 0.05) == pytest.approx(made.query("a", known)[True], abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_every_single_change_reaches_the_goal(seed: int) -> None:
    net = random_network(seed, 5, zeros=0.1)
    target = "v1"
    known = random_findings(net, seed, 2, but=(target,))
    state = net.variables[target].states[0]
    p = float(Joint(net).posterior(target, known)[0])
    if not 0.0 < p < 1.0:
        pytest.skip("it is certain")
    goal = {"at_least": p + 0.1 * (1 - p)} if seed % 2 else {"at_most": 0.9 * p}
    (value,) = goal.values()
    found = net.tune(target, known, state=state, several=True, **goal)
    sizes = [change.size for change in found]
    assert sizes == sorted(sizes)
    reached = set()
    for change in found:
        names = (*net.parents(change.node), change.node)
        index = tuple(net.variables[n].code(s) for n, s in zip(names, change.key, strict=True))
        made = changed(net, change.node, index, change.to)
        assert Joint(made).posterior(target, known)[0] == pytest.approx(value, abs=1e-9)
        reached.add((change.node, index))
    for curve in net.sensitivity(target, known, state=state):  # and no other entry does
        names = (*net.parents(curve.node), curve.node)
        index = tuple(net.variables[n].code(s) for n, s in zip(names, curve.key, strict=True))
        if (curve.node, index) not in reached:
            ends = [curve(v) for v in np.linspace(1e-9, 1 - 1e-9, 50)]
            assert all((e - value) * (p - value) > -1e-9 for e in ends)
    together = net.copy()
    size = 0.0
    for name, table in found.several.items():
        size += float(((table - net.cpd(name).values) ** 2).sum())
        together.set(name, table)
    assert together.query(target, known)[state] == pytest.approx(value, abs=1e-8)
    for change in found:  # it is smaller than any single one: a row of two counts twice
        row = np.array(net.cpd(change.node).values)
        names = (*net.parents(change.node), change.node)
        index = tuple(net.variables[n].code(s) for n, s in zip(names, change.key, strict=True))
        one = np.array(changed(net, change.node, index, change.to).cpd(change.node).values)
        assert size <= float(((one - row) ** 2).sum()) + 1e-9


def test_tuning_as_in_the_issue() -> None:
    found = wet_grass().tune("rain", {"wet": True}, at_least=0.7)
    assert found[0].node == "cloudy"
    assert found[0].to == pytest.approx(0.599374, abs=1e-6)
    assert len(wet_grass().tune("rain", {"wet": True}, at_least=0.6)) == 0  # it is there already


def test_mistakes_are_named() -> None:
    net = wet_grass()
    with pytest.raises(pgm.InvalidEvidence, match="The target 'wet' is given"):
        net.sensitivity("wet", {"wet": True})
    with pytest.raises(pgm.UnknownVariable, match="Did you mean 'rain'"):
        net.sensitivity("rein")
    with pytest.raises(pgm.UnknownState):
        net.sensitivity("rain", state="maybe")
    with pytest.raises(pgm.InvalidArgument, match="'x' is continuous"):
        gates().sensitivity("x")
    with pytest.raises(pgm.InvalidArgument, match=r"'at_least|at_least= or at_most="):
        net.tune("rain", {"wet": True})
    with pytest.raises(pgm.InvalidArgument, match="from 0 to 1, not 7"):
        net.tune("rain", {"wet": True}, at_least=7)
    with pytest.raises(pgm.InvalidArgument, match=r"the farthest that one change takes it is 0\.978635"):
        net.tune("rain", {"wet": True}, at_least=0.99)
    found = net.sensitivity("rain", {"wet": True})
    with pytest.raises(pgm.UnknownVariable, match="parameters that this answer depends on"):
        found["mood"]
    with pytest.raises(pgm.InvalidArgument, match="named by the states of 'rain', 'sprinkler', 'wet'"):
        found.curve("wet", True)
    net.add("never", {True: 1.0, False: 1.0}, parents=["wet"])
    with pytest.raises(pgm.InvalidArgument, match=r"P\(never=False\) is 0"):
        net.sensitivity("never", state=False)
    with pytest.raises(pgm.InvalidArgument, match="includes such parameters"):
        net.sensitivity("never").curve("never", (True, True))


def test_results_print_pickle_and_go_to_frames() -> None:
    net = wet_grass()
    found = net.sensitivity("rain", {"wet": True})
    assert repr(found).startswith("P(rain=True | wet=True) = 0.626871\nparameter ")
    assert "<table" in found._repr_html_()
    frame = found.to_pandas()
    assert list(frame.columns) == ["node", "parameter", "value", "derivative"]
    assert len(frame) == 9
    again = pickle.loads(pickle.dumps(found))
    assert (repr(again), again.to_dict()["wet"].tolist()) == (repr(found), found["wet"].tolist())
    tuned = net.tune("rain", {"wet": True}, at_least=0.7)
    assert repr(pickle.loads(pickle.dumps(tuned))) == repr(tuned)
    assert list(tuned.to_pandas()["node"]) == [change.node for change in tuned]
    for drawn in (found.plot(), found.plot(kind="curves"), tuned.plot(), found.curve("cloudy", True).plot()):
        assert drawn.get_title()


@pytest.mark.parametrize("seed", range(6))
def test_two_numbers_at_a_time(seed: int) -> None:
    net = random_network(seed, 5, zeros=0.1)
    target = f"v{seed % 5}"
    known = random_findings(net, seed, 2, but=(target,))
    found = net.sensitivity(target, known)
    first, *others = list(found)
    second = next(c for c in others if (c.node, c.key[:-1]) != (first.node, first.key[:-1]))
    ends = {"first": (first.node, first.key), "second": (second.node, second.key)}
    both = net.sensitivity_of_two(target, known, state=found.state, **ends)
    assert pickle.loads(pickle.dumps(both))(0.3, 0.4) == both(0.3, 0.4)
    for x, y in ((0.3, 0.6), (0.9, 0.1), (first.value, second.value)):
        made = net
        for curve, value in ((first, x), (second, y)):
            names = (*net.parents(curve.node), curve.node)
            index = tuple(net.variables[n].code(s) for n, s in zip(names, curve.key, strict=True))
            made = changed(made, curve.node, index, value)
        truth = Joint(made).posterior(target, known)[net.variables[target].code(found.state)]
        assert both(x, y) == pytest.approx(truth, abs=1e-11)
    assert both.plot().get_title()
    ends["second"] = ends["first"]
    with pytest.raises(pgm.InvalidArgument, match="are of one row"):
        net.sensitivity_of_two(target, known, state=found.state, **ends)


def test_derivatives_by_the_numbers_of_gates_and_densities_by_differences():
    """With findings of states and of numbers: leak, cause, weights, means and spreads, one by one."""
    noisy = {"causes": {"a": 0.9, "b": 0.8, "c": 0.5}, "leak": 0.1}
    logistic = {"weights": {"a": 2.0, "b": 1.5}, "bias": -1.0}
    normal = {True: (1.0, 0.5), False: (-1.0, 1.0)}

    def made(noisy=noisy, logistic=logistic, normal=normal):
        net = pgm.BayesianNetwork()
        net.add("a", 0.3)
        net.add("b", 0.6)
        net.add("c", {True: 0.2, False: 0.7}, parents="a")
        net.add("d", pgm.NoisyOr(noisy["causes"], leak=noisy["leak"]))
        rows = {state: pgm.LinearGaussian(bias=bias, sd=sd) for state, (bias, sd) in normal.items()}
        net.add("x", rows, parents=["d"])
        net.add("e", pgm.Logistic(logistic["weights"], bias=logistic["bias"]))
        return net

    known, step = {"x": 0.3, "e": True}, 1e-6
    found = made().gradients(known)
    changes = {
        ("d", "leak: True"): lambda t: {"noisy": noisy | {"leak": 0.1 + t}},
        ("d", "a=True: True"): lambda t: {"noisy": noisy | {"causes": noisy["causes"] | {"a": 0.9 + t}}},
        ("x", "d=True: bias"): lambda t: {"normal": normal | {True: (1.0 + t, 0.5)}},
        ("x", "d=False: sd"): lambda t: {"normal": normal | {False: (-1.0, 1.0 + t)}},
        ("e", "bias"): lambda t: {"logistic": logistic | {"bias": -1.0 + t}},
    }
    for (node, name), change in changes.items():
        ends = [made(**change(t)).log_probability(known) for t in (step, -step)]
        key = name if name in found[node] else next(n for n in found[node] if n.startswith(name))
        assert found[node][key] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-6)
    for node, row in (("a", ()), ("c", (1,))):
        own = np.array(made().cpd(node).values)
        ends = []
        for t in (step, -step):
            net, table = made(), own.copy()
            table[row] += np.array([-t, t])
            net.set(node, table)
            ends.append(net.log_probability(known))
        slope = found[node][row][1] - found[node][row][0]
        assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-6)
