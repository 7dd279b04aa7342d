"""Worked numbers of the catalogue on beliefs and choices: E.md, O12, O15, O17 and O19."""

from __future__ import annotations

import numpy as np
import pytest

import pgm
from tests.known.book import near

# --- E20, E21: choosing by exp Q ---


def softmax(temperature: float) -> pgm.MarkovNetwork:
    """O12: Q = (1, 2, 3)."""
    net = pgm.MarkovNetwork()
    net.add_variable("a", states=[1, 2, 3])
    net.add_factor(["a"], [q / temperature for q in (1.0, 2.0, 3.0)], log=True)
    return net


def test_E20_softmax_action_selection():
    """(18.10)."""
    p = softmax(1.0).query("a")
    assert p.values == pytest.approx([0.090031, 0.244728, 0.665241], abs=6e-7)
    state = pgm.BayesianNetwork()  # the same as a node with its parents: Q by the state, learned from numbers
    state.add("s", [0.5, 0.5], states=["left", "right"])
    state.add("a", pgm.Logistic({"s": {"left": [1.0, 2.0, 3.0], "right": [0.0, 0.0, 0.0]}}), states=[1, 2, 3])
    assert state.query("a", {"s": "left"}).values == near(p.values)
    assert state.query("a", {"s": "right"}).values == near([1 / 3] * 3)


def test_E21_the_colder_the_greedier():
    """(18.11): nearly uniform at T = 10, nearly greedy at .1, and their limits."""
    assert softmax(10.0).query("a").values == pytest.approx([0.300610, 0.332225, 0.367165], abs=6e-7)
    cold = softmax(0.1).query("a").values
    assert cold[:2] == near([2.06e-9, 4.54e-5], 3)
    assert cold[2] == pytest.approx(0.999955, abs=6e-7)
    assert softmax(1e9).query("a").values == pytest.approx([1 / 3] * 3, abs=1e-9)
    frozen = softmax(1e-4)
    assert frozen.query("a").values.tolist() == [0.0, 0.0, 1.0]
    assert all(softmax(t).map()["a"] == 3 for t in (1e-4, 1.0, 1e9))


# --- E39, E40: acting on a belief ---


def test_E39_the_value_of_an_action_under_a_belief():
    """O15: .4 * 10 + .6 * 5 = 7, where the belief (.4, .6) is itself what a sign leaves of (.5, .5)."""
    net = pgm.BayesianNetwork()
    net.add("s", [0.5, 0.5], states=[1, 2])
    net.add("sign", {1: [0.4, 0.6], 2: [0.6, 0.4]}, parents=["s"], states=["here", "gone"])
    q = {1: 10.0, 2: 5.0}
    belief = net.query("s", {"sign": "here"})
    assert belief.values == near([0.4, 0.6])
    assert belief.expectation(q.__getitem__) == near(7.0)
    # Also where the action is known and its value is a node: the mean of a number.
    net.add("value", {s: pgm.Gaussian(v, 1.0) for s, v in q.items()}, parents=["s"])
    assert net.query("value", {"sign": "here"}).mean == near(7.0)


def hidden_place() -> pgm.BayesianNetwork:
    """Three places in a ring, moved one on with .8; a light is seen in the second with .9, else with .2."""
    net = pgm.BayesianNetwork("where am I")
    for t in range(3):
        move = [[0.2, 0.8, 0.0], [0.0, 0.2, 0.8], [0.8, 0.0, 0.2]]
        parents = [f"s{t - 1}"] if t else []
        net.add(f"s{t}", move if t else [1 / 3] * 3, parents=parents, states=[0, 1, 2])
        net.add(f"light{t}", {0: 0.2, 1: 0.9, 2: 0.2}, parents=[f"s{t}"])
    return net


def test_E40_acting_on_the_likeliest_state():
    """b0 = (2, 9, 2) / 13; moved it is (2, 3.4, 7.6) / 13, and without light (1.6, .34, 6.08) / 8.02."""
    policy = {0: "right", 1: "stay", 2: "left"}
    net = hidden_place()
    known: dict[str, bool] = {}
    beliefs = [(2 / 13, 9 / 13, 2 / 13), (1.6 / 8.02, 0.34 / 8.02, 6.08 / 8.02)]
    for t, (light, action) in enumerate([(True, "stay"), (False, "left")]):
        known[f"light{t}"] = light
        assert net.query(f"s{t}", known).values == near(beliefs[t])
        assert policy[net.map(known, targets=f"s{t}")[f"s{t}"]] == action
    # Not the last state of the likeliest path: that is another question, though here it has the same answer.
    best = net.map(known, targets=["s0", "s1"])
    assert (best["s0"], best["s1"], best.probability) == (1, 2, near(9 * 0.8 * 0.8 / (13 * 8.02 / 13)))


# --- E41, E46: the tiger ---


def tiger(p: float, q: float = 0.7, stays: float = 1.0, steps: int = 1) -> pgm.BayesianNetwork:
    """P(left) = p at first; it stays where it is with `stays`, and is heard where it is with q."""
    net = pgm.BayesianNetwork("tiger")
    sides = ["left", "right"]
    net.add("z0", [p, 1 - p], states=sides)
    for t in range(1, steps + 1):
        net.add(f"z{t}", [[stays, 1 - stays], [1 - stays, stays]], parents=[f"z{t - 1}"], states=sides)
        net.add(f"o{t}", {"left": [q, 1 - q], "right": [1 - q, q]}, parents=[f"z{t}"], states=sides)
    return net


def test_E46_sensing():
    """O17: p' = .7 p / (.7 p + .3 (1 - p)) once it is heard on the left."""
    assert [tiger(p).probability({"o1": "left"}) for p in (0.5, 0.3)] == near([0.5, 0.42])
    assert [tiger(0.5).query("z1", {"o1": side})["left"] for side in ("left", "right")] == near([0.7, 0.3])
    assert [tiger(0.3).query("z1", {"o1": side})["left"] for side in ("left", "right")] == near(
        [0.5, 0.155172], 6
    )
    rewards = {"open left": {"left": -100, "right": 80}, "open right": {"left": 90, "right": -100}}
    found = {
        heard: [tiger(0.5).query("z1", {"o1": heard}).expectation(r.__getitem__) for r in rewards.values()]
        for heard in ("left", "right")
    }
    assert found["left"] == near([-46.0, 33.0])
    assert found["right"] == near([26.0, -43.0])


@pytest.mark.parametrize("engine", ["exact", "elimination", "loopy"])
def test_E41_the_belief_state(engine):
    """O17 and O19: what is heard moves the belief by 7 : 3; a tiger that moves with .8, by .8 - .6 p."""
    net = tiger(0.5, steps=4)
    heard = {f"o{t}": side for t, side in enumerate(("left", "left", "right", "left"), 1)}
    belief = 0.5
    for t in range(1, 5):
        known = {f"o{i}": heard[f"o{i}"] for i in range(1, t + 1)}
        found = net.query(f"z{t}", known, engine=engine)["left"]
        if t == 1:
            assert found == near(0.7)
        # The state estimator: one step from the belief before is what the whole history says.
        once = tiger(belief).query("z1", {"o1": heard[f"o{t}"]}, engine=engine)["left"]
        assert found == near(once)
        belief = found
    assert belief == near(49 / 58)  # three to the left and one to the right: 7^2 : 3^2
    restless = tiger(0.9, stays=0.2, steps=4)
    found = [restless.query(f"z{t}", engine=engine)["left"] for t in range(1, 5)]
    assert found == near([0.26, 0.644, 0.4136, 0.55184])


def test_E41_moves_first_and_then_is_heard():
    """O19: P(heard left) is of the side after the move; the belief then is of that side."""
    net = tiger(0.9, stays=0.2)
    assert net.probability({"o1": "left"}) == near(0.7 * 0.26 + 0.3 * 0.74)
    assert net.query("z1", {"o1": "left"}).values == near(np.array([0.182, 0.222]) / 0.404)
    assert net.query("z0", {"o1": "left"})["left"] == near(0.9 * (0.2 * 0.7 + 0.8 * 0.3) / 0.404)
