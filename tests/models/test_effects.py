"""Effects and counterfactuals against enumeration: of the joint, of the noise, of corners of responses."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

import pgm

ANY = [False, True]


def random_net(seed, three=False):
    """c -> {x, m, y}, x -> m -> y, x -> y; w a second parent of x."""
    rng = np.random.default_rng(seed)
    net = pgm.BayesianNetwork()
    cards = {"c": 3 if three else 2, "w": 2, "x": 2, "m": 3 if three else 2, "y": 2}
    for name, parents in (("c", ""), ("w", ""), ("x", "cw"), ("m", "cx"), ("y", "cmx")):
        shape = [cards[p] for p in parents]
        table = rng.dirichlet(np.ones(cards[name]), size=shape or None)
        states = ANY if cards[name] == 2 else list("abc")
        net.add(name, table, parents=list(parents), states=states)
    return net


@pytest.mark.parametrize("seed", range(4))
def test_effects_by_enumeration(seed):
    net = random_net(seed, three=seed % 2 == 1)
    table = {name: net.cpd(name).values for name in net.nodes}
    c, w, x, m, y = (table[name] for name in "cwxmy")

    def mean(direct, through, weight):  # y under x = direct, with m as under x = through
        return float(np.einsum("c,cm,cm->", weight, m[:, through], y[:, :, direct, 1]))

    found = net.effect("x", "y")
    assert found.average == pytest.approx(mean(1, 1, c) - mean(0, 0, c), abs=1e-12)
    assert found.direct == pytest.approx(mean(1, 0, c) - mean(0, 0, c), abs=1e-12)
    assert found.indirect == pytest.approx(mean(0, 1, c) - mean(0, 0, c), abs=1e-12)
    treated = np.einsum("c,w,cw->c", c, w, x[:, :, 1])
    treated /= treated.sum()
    assert found.on_treated == pytest.approx(mean(1, 1, treated) - mean(0, 0, treated), abs=1e-12)
    assert found.along == {"m": pytest.approx(found.indirect), "y": pytest.approx(found.direct)}
    done = [net.do({"x": s}).query("y")[True] for s in ANY]
    assert list(found.means.values()) == pytest.approx(done, abs=1e-12)
    some = net.cpd("c").child.states[1]
    within = np.eye(c.size)[1]
    assert net.effect("x", "y", given={"c": some}).average == pytest.approx(
        mean(1, 1, within) - mean(0, 0, within), abs=1e-12
    )


def test_effects_of_numbers_and_of_states():
    net = pgm.BayesianNetwork()
    net.add("x", pgm.LinearGaussian(sd=1.0))
    net.add("m", pgm.LinearGaussian({"x": 2.0}, bias=1.0, sd=0.5))
    net.add("y", pgm.LinearGaussian({"m": 3.0, "x": -1.0}, sd=1.0))
    found = net.effect("x", "y")
    assert (found.average, found.direct, found.indirect) == pytest.approx((5.0, -1.0, 6.0), abs=1e-9)
    assert found.on_treated is None
    assert net.effect("x", "y", states=(1.0, 3.0)).average == pytest.approx(10.0, abs=1e-9)
    dose = pgm.BayesianNetwork()
    dose.add("dose", {0: 0.5, 5: 0.3, 10: 0.2})
    dose.add("days", {0: {1: 0.5, 3: 0.5}, 5: {1: 0.8, 3: 0.2}, 10: {1: 1.0}}, parents="dose")
    assert dose.effect("dose", "days", states=(0, 10)).average == pytest.approx(-1.0, abs=1e-12)
    assert dose.effect("dose", "days", states=(0, 10), outcome=1).average == pytest.approx(0.5, abs=1e-12)


def test_no_effect_backwards_and_in_print():
    net = random_net(0)
    back = net.effect("y", "x")
    assert (back.average, back.direct, back.indirect, back.along) == (0.0, 0.0, 0.0, {})
    assert back.on_treated == pytest.approx(0.0, abs=1e-15)
    found = net.effect("x", "y")
    assert pickle.loads(pickle.dumps(found)).to_dict() == found.to_dict()
    assert float(found) == found.average
    assert "effect of x from False to True on P(y=True)" in str(found)
    assert "<table" in found._repr_html_()
    assert list(found.to_pandas()["effect"][:2]) == ["average", "on the treated"]
    assert "effect of x" in found.plot().get_title()


def functional(seed, two=False):
    """x -> m -> y and x -> y with noise written out: a structural model, as a network of functions."""
    rng = np.random.default_rng(seed)
    net = pgm.BayesianNetwork()
    for name in ("ux", "um", "uy"):
        net.add(name, rng.dirichlet(np.ones(4)), states=[0, 1, 2, 3])
    functions = {"x": ["ux"], "m": ["x", "um"], "y": ["x", "m", "uy"]}
    for name, parents in functions.items():
        shape = [4 if p[0] == "u" else 2 for p in parents]
        answers = rng.integers(0, 2, size=shape)
        net.add(name, np.eye(2)[answers], parents=parents, states=ANY)
    return net


def by_noise(net, target, given, do):
    """P(target under do | given) by all noise, and the tables that an observer would have."""
    tables = {name: np.asarray(net.cpd(name).values) for name in net.nodes}
    total, hits = 0.0, 0.0
    for noise in itertools.product(range(4), repeat=3):
        states = dict(zip(("ux", "um", "uy"), noise, strict=True))
        p = np.prod([tables[name][states[name]] for name in states])

        def world(done, states=states):
            here = dict(states)
            for name in ("x", "m", "y"):
                row = tuple(here[parent] for parent in net.parents(name))
                here[name] = int(done[name]) if name in done else int(tables[name][row].argmax())
            return here

        if all(world({})[name] == int(state) for name, state in given.items()):
            total += p
            hits += p * world(do)[target]
    return None if total == 0.0 else hits / total


QUESTIONS = [
    ("y", {"x": True, "y": True}, {"x": False}),
    ("y", {"x": False, "y": False}, {"x": True}),
    ("y", {"x": True, "m": False}, {"m": True}),
    ("y", {"y": True}, {"x": False}),
    ("m", {"y": True}, {"x": True}),
    ("y", {}, {"x": True, "m": False}),
]


@pytest.mark.parametrize("seed", range(6))
def test_counterfactuals_by_enumeration_of_the_noise(seed):
    net = functional(seed)
    seen = pgm.BayesianNetwork()  # the same without its noise: tables alone
    seen.add("x", net.query("x").values, states=ANY)
    for name, parents in (("m", ["x"]), ("y", ["x", "m"])):
        rows = [
            [net.do(dict(zip(parents, states, strict=True))).query(name)[s] for s in ANY]
            for states in itertools.product(ANY, repeat=len(parents))
        ]
        seen.add(name, np.reshape(rows, [2] * (len(parents) + 1)), parents=parents, states=ANY)
    asked = 0
    for target, given, do in QUESTIONS:
        truth = by_noise(net, target, given, do)
        if truth is None:
            with pytest.raises(pgm.ImpossibleEvidence):
                net.counterfactual(target, given, do=do)
            continue
        found = net.counterfactual(target, given, do=do)
        assert found.exact
        assert found[True] == pytest.approx(truth, abs=1e-12)
        if seed < 3:
            low, high = seen.counterfactual(target, given, do=do).bounds[True]
            assert low - 1e-9 <= truth <= high + 1e-9
            asked += high > low
    assert asked or seed != 1


@pytest.mark.parametrize("seed", range(5))
def test_necessity_has_the_bounds_of_tian_and_pearl(seed):
    """With no confounding P(y would be 0 under x = 0 | x = 1, y = 1) is within (p1 - p0) / p1 and q0 / p1."""
    p0, p1 = np.random.default_rng(seed).uniform(0.05, 0.95, 2)
    net = pgm.BayesianNetwork()
    net.add("x", 0.3)
    net.add("y", {True: p1, False: p0}, parents="x")
    found = net.counterfactual("y", {"x": True, "y": True}, do={"x": False})
    assert not found.exact
    assert found.undecided == ("y",)
    assert found.bounds[False] == pytest.approx((max(0.0, (p1 - p0) / p1), min(1.0, (1 - p0) / p1)), abs=1e-9)
    with pytest.raises(pgm.InvalidArgument, match="tables do not determine how 'y'"):
        found[True]
    both = net.do({"x": False}).query("y")[False]  # necessity and sufficiency: y under x, not without
    other = net.do({"x": False}).counterfactual("y", {"y": False}, do={"x": True})
    low, high = (both * end for end in other.bounds[True])
    assert (low, high) == pytest.approx((max(0.0, p1 - p0), min(p1, 1 - p0)), abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_two_undecided_nodes_reach_their_bounds(seed):
    """x -> m -> y: the corners of the responses of m and of y, gone through one by one."""
    rng = np.random.default_rng(seed)
    m, y = rng.uniform(0.1, 0.9, (2, 2))
    net = pgm.BayesianNetwork()
    net.add("x", 0.5)
    net.add("m", {True: m[1], False: m[0]}, parents="x")
    net.add("y", {True: y[1], False: y[0]}, parents="m")
    found = net.counterfactual("y", {"x": True, "y": True}, do={"x": False})
    functions = list(itertools.product((0, 1), repeat=2))

    def corners(p):  # of four shares with two marginals: one number is free, and at an end
        ends = (max(0.0, p[0] + p[1] - 1.0), min(p))
        return [[1 - p[0] - p[1] + s, p[1] - s, p[0] - s, s] for s in ends]

    values = []
    for qm, qy in itertools.product(corners(m), corners(y)):
        top = bottom = 0.0
        for (i, fm), (j, fy) in itertools.product(enumerate(functions), repeat=2):
            if fy[fm[1]]:
                bottom += qm[i] * qy[j]
                top += qm[i] * qy[j] * fy[fm[0]]
        values.append(top / bottom)
    assert found.undecided == ("m", "y")
    assert found.bounds[True] == pytest.approx((min(values), max(values)), abs=1e-9)


def test_linear_gaussians_are_decided():
    net = pgm.BayesianNetwork()
    net.add("kind", {"a": 0.4, "b": 0.6})
    net.add("x", pgm.LinearGaussian(bias=1.0, sd=1.0))
    net.add("y", {"a": pgm.LinearGaussian({"x": 2.0}, sd=0.5), "b": pgm.LinearGaussian({"x": -1.0}, sd=2.0)},
            parents="kind")  # fmt: skip
    found = net.counterfactual("y", {"x": 1.0, "y": 2.7, "kind": "a"}, do={"x": 3.0})
    assert found.exact
    assert found.answer.mean == pytest.approx(6.7, abs=1e-9)  # the noise was 0.7
    other = net.counterfactual("y", {"x": 1.0, "y": 2.7, "kind": "b"}, do={"x": 3.0})
    assert other.answer.mean == pytest.approx(0.7, abs=1e-9)


def test_what_is_decided_without_functions_is_exact():
    net = random_net(1)
    found = net.counterfactual("y", {"c": True}, do={"x": True})  # seen above the action only
    assert found.exact
    assert found[True] == pytest.approx(net.do({"x": True}).query("y", {"c": True})[True], abs=1e-12)
    nothing = net.counterfactual("w", {"y": True}, do={"x": True})  # w is not reached
    assert nothing[True] == pytest.approx(net.query("w", {"y": True})[True], abs=1e-12)


def test_a_counterfactual_in_print():
    net = pgm.BayesianNetwork()
    net.add("x", 0.3)
    net.add("y", {True: 0.8, False: 0.4}, parents="x")
    found = net.counterfactual("y", {"x": True, "y": True}, do={"x": False})
    assert "bounds: tables do not determine how 'y' would have responded" in str(found)
    assert "<table" in found._repr_html_()
    assert list(found.to_pandas()["least"]) == pytest.approx([0.5, 0.25], abs=1e-9)
    assert pickle.loads(pickle.dumps(found)).bounds == found.bounds
    assert found.plot().get_title() == "P(y under do(x=False) | x=True, y=True)"
    assert set(found.worlds) == {"x", "y", "x*", "y*"}


MISTAKES = {
    "no variable 'q'": lambda net: net.effect("q", "y"),
    "cannot be both": lambda net: net.effect("x", "x"),
    "'y' is observed": lambda net: net.effect("x", "y", given={"y": True}),
    "influenced by 'x'": lambda net: net.effect("x", "y", given={"m": "a"}),
    "states= takes two": lambda net: net.effect("x", "y", states=True),
    "no state 7": lambda net: net.effect("x", "y", states=(False, 7)),
    "has 3 states": lambda net: net.effect("m", "y"),
    "say with outcome= whose": lambda net: net.effect("x", "m"),
    "do= is empty": lambda net: net.counterfactual("y", {"x": True}, do={}),
    "is set by do=": lambda net: net.counterfactual("y", {}, do={"y": True}),
    "a state for each observation": lambda net: net.counterfactual("y", {"m": pgm.Not("a")}, do={"x": True}),
    "about one variable": lambda net: net.counterfactual(["y"], {}, do={"x": True}),
    "has no state 'z'": lambda net: net.counterfactual("y", {"m": "z"}, do={"x": True}),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message):
    with pytest.raises(pgm.PGMError, match=message):
        MISTAKES[message](random_net(0, three=True))


def test_too_many_responses_are_refused_before_they_are_listed():
    net = pgm.BayesianNetwork()
    names = [f"p{i}" for i in range(5)]
    for name in names:
        net.add(name, 0.5)
    net.add("y", np.full((2,) * 6, 0.5), parents=names, states=ANY)
    with pytest.raises(pgm.TooLarge, match=r"'y' has 2\*\*32 response functions"):
        net.counterfactual("y", {"y": True}, do={"p0": True})
