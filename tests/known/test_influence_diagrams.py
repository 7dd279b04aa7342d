"""Worked numbers of the catalogue on decisions: C.md O23, E.md O9, O11 and O15 to O24, F.md and G.md."""

from __future__ import annotations

import numpy as np
import pytest

import pgm
from tests.known.book import near

ACTIONS = ["open left", "open right", "sense"]
HEARD = ["hear left", "hear right"]


def tiger(
    p: float,
    *,
    steps: int = 0,
    sensor: float = 0.7,
    stay: float = 1.0,
    rewards: tuple[float, float, float, float] = (-100, 80, 90, -100),
    sense_last: bool = True,
) -> pgm.InfluenceDiagram:
    """The tiger is left with probability p; this many times one may listen before a last decision."""
    d = pgm.InfluenceDiagram("tiger")
    d.add_chance("z0", [p, 1 - p], states=["left", "right"])
    left, right, other_left, other_right = rewards
    worth = [[left, other_left, -1], [right, other_right, -1]]
    for t in range(steps + 1):
        final = t == steps
        heard = [f"o{t - 1}"] if t else []
        choice = "act" if final else f"a{t}"
        allowed = None if sense_last or not final else ACTIONS[:2]
        d.add_decision(choice, ACTIONS, observes=heard, allowed=allowed)
        if t:  # after a door was opened nothing more is won or lost
            before = {(False, "sense"): False, ...: True} if t > 1 else {"sense": False, ...: True}
            over = {key: [1.0 - value, float(value)] for key, value in before.items()}
            d.add_chance(
                f"over{t}",
                over,
                parents=[*([f"over{t - 1}"] if t > 1 else []), f"a{t - 1}"],
                states=[False, True],
            )
        table = np.array(worth) if not t else np.stack([np.array(worth), np.zeros((2, 3))])
        d.add_utility(f"r{t}", table, parents=[*([f"over{t}"] if t else []), f"z{t}", choice])
        if not final:
            move = [[stay, 1 - stay], [1 - stay, stay]]
            d.add_chance(f"z{t + 1}", move, parents=[f"z{t}"], states=["left", "right"])
            hears = [[sensor, 1 - sensor], [1 - sensor, sensor]]
            d.add_chance(f"o{t}", hears, parents=[f"z{t + 1}"], states=HEARD)
    return d


def after_sensing(p: float, **options: object) -> float:
    """V' (18.25): the tiger is heard once, for nothing."""
    d = tiger(p, steps=1, **options)  # type: ignore[arg-type]
    return float(d.solve({"a0": "sense"}).expected_utility) + 1.0


def test_C68_an_influence_diagram():
    """O23, figure 14.14: a class, what is observed of it, and the loss of naming it."""
    net = pgm.BayesianNetwork()
    net.add("C", 0.3)
    net.add("x", {True: 0.8, False: 0.1}, parents=["C"])
    losses = {(True, True): 0, (False, False): 0, (False, True): 1, (True, False): 10}
    d = pgm.loss_diagram(net, "C", losses, reject=0.6, observes=["x"])
    policy = d.solve()
    assert policy.expected_utility == near(-0.484)
    rule = policy["decide"]
    assert rule.to_dict() == {True: True, False: "reject"}
    assert rule.worth[1] == near([-7.741935484, -0.2258064516, -0.6])
    assert rule.worth[0] == near([-0.8695652174, -0.9130434783, -0.6])
    blind = pgm.loss_diagram(net, "C", losses, reject=0.6)
    assert blind.solve().expected_utility == near(-0.6)
    assert blind.solve().decide("decide") == "reject"
    assert blind.value_of_information("x") == near(0.116)
    assert blind.value_of_information("C") == near(0.6)


def test_C69_classification_with_a_reject():
    """O23: the same, case by case; without a way out the class that is named costs least."""
    net = pgm.BayesianNetwork()
    net.add("C", 0.3)
    net.add("x", {True: 0.8, False: 0.1}, parents=["C"])
    losses = {(True, False): 10, (False, True): 1, ...: 0}
    d = pgm.loss_diagram(net, "C", losses, reject=0.6)
    assert d.solve({"x": False}).decide("decide") == "reject"
    assert d.solve({"x": False}).expected_utility == near(-0.6)
    assert d.solve({"x": True}).decide("decide") is True
    assert pgm.loss_diagram(net, "C", losses).solve({"x": False}).decide("decide") is False


def test_C70_decisions_that_affect_chance_nodes():
    """O23: the sprinkler as a decision."""
    d = pgm.InfluenceDiagram()
    d.add_chance("cloudy", 0.5)
    d.add_chance("rain", {True: 0.8, False: 0.1}, parents=["cloudy"])
    d.add_decision("sprinkler", [False, True])
    wet = {(True, True): 0.95, (True, False): 0.90, (False, True): 0.90, (False, False): 0.10}
    d.add_chance("wet", wet, parents=["rain", "sprinkler"])
    d.add_utility("grass", {True: 10, False: 0}, parents=["wet"])
    d.add_utility("water", {True: -1, False: 0}, parents=["sprinkler"])
    rule = d.solve()["sprinkler"]
    p_rain = 0.45
    assert rule.worth == near(
        [10 * (0.9 * p_rain + 0.1 * (1 - p_rain)), 10 * (0.95 * p_rain + 0.9 * (1 - p_rain)) - 1]
    )
    assert d.solve({"rain": True})["sprinkler"].worth == near([9.0, 8.5])
    assert d.solve({"rain": False})["sprinkler"].worth == near([1.0, 8.0])
    d.set("rain", {True: 0.4, False: 0.4})  # P(rain) of the catalogue's numbers
    assert d.solve()["sprinkler"].worth == near([4.2, 8.2])
    assert d.value_of_information("rain", before="sprinkler") == near(0.2)
    seen = d.copy()
    seen.set("sprinkler", observes=["rain"])
    assert seen.solve().expected_utility == near(8.4)


def test_E2_a_bandit_with_certain_rewards():
    """O11: Q(a) is the reward after one pull; the best arm is the one with the largest."""
    d = pgm.InfluenceDiagram()
    d.add_decision("arm", ["a", "b", "c"])
    d.add_utility("Q", [1.0, 3.0, 2.0], parents=["arm"])
    assert d.solve().decide("arm") == "b"
    assert d.solve().expected_utility == near(3.0)


def test_E4_a_bandit_for_each_state():
    """The same with an arrow from what is seen to the decision."""
    d = pgm.InfluenceDiagram()
    d.add_chance("s", [0.5, 0.3, 0.2], states=["x", "y", "z"])
    d.add_decision("arm", ["a", "b"], observes=["s"])
    d.add_utility("Q", [[1, 2], [4, 3], [0, 5]], parents=["s", "arm"])
    policy = d.solve()
    assert policy["arm"].to_dict() == {"x": "b", "y": "a", "z": "b"}
    assert policy.expected_utility == near(0.5 * 2 + 0.3 * 4 + 0.2 * 5)


def test_E7_a_policy_is_a_distribution_of_actions():
    """O9 without discount over a few steps: a decision replaced by P(a | s) is ordinary inference."""
    move = np.array([[[0.9, 0.1], [0.6, 0.4]], [[0.2, 0.8], [0.05, 0.95]]])  # state, action, next
    reward = np.array([[1.0, 2.0], [0.0, -1.0]])
    d = pgm.InfluenceDiagram()
    d.add_chance("s0", [1.0, 0.0], states=[0, 1])
    for t in range(3):
        d.add_decision(f"a{t}", [0, 1], observes=[f"s{t}"])
        d.add_utility(f"r{t}", reward * 0.9**t, parents=[f"s{t}", f"a{t}"])
        d.add_chance(f"s{t + 1}", move, parents=[f"s{t}", f"a{t}"], states=[0, 1])
    policy = d.solve()
    assert policy.expected_utility == near(3.7928)  # the third synchronous sweep of value iteration, from 0
    net = policy.network()
    total = 0.0
    for t in range(3):
        joint = net.query([f"s{t}", f"a{t}"]).values
        total += 0.9**t * float((joint * reward).sum())
    assert total == near(3.7928)
    stochastic = {f"a{t}": {0: [0.5, 0.5], 1: [1.0, 0.0]} for t in range(3)}
    value = np.zeros(2)
    rule = np.array([[0.5, 0.5], [1.0, 0.0]])
    for _ in range(3):
        value = (rule * (reward + 0.9 * move @ value)).sum(axis=1)
    assert d.evaluate(stochastic) == near(value[0])


def test_E44_the_value_of_information_of_the_tiger():
    """O20 at p = .5: act now -5; heard once 29.5, worth 34.5, or 33.5 after its cost; seen, 85."""
    now = tiger(0.5, sense_last=False)
    assert now.solve().expected_utility == near(-5.0)
    once = after_sensing(0.5, sense_last=False)
    assert once == near(29.5)
    sharp = {"left": {"l": 0.7, "r": 0.3}, "right": {"l": 0.3, "r": 0.7}}
    assert now.value_of_information("z0", accuracy=sharp) == near(34.5)
    assert now.value_of_information("z0", accuracy=sharp, costs={"z0": 1}) == near(33.5)
    assert now.value_of_information("z0") == near(90.0)
    seen = now.copy()
    seen.set("act", observes=["z0"])
    assert seen.solve().expected_utility == near(85.0)


def test_E45_the_tiger_at_once():
    """O16: three lines and their maximum."""
    for p, wanted in {0.0: 80, 0.25: 35, 0.5: -1, 0.75: 42.5, 1.0: 90}.items():
        assert tiger(p).solve().expected_utility == near(wanted)
    assert tiger(0.5).solve()["act"].worth == near([-10.0, -5.0, -1.0])
    assert tiger(18 / 37).solve()["act"].worth[:2] == pytest.approx([-7.567568] * 2, abs=1e-6)
    best = {p: tiger(p).solve().decide("act") for p in (0.449, 0.451, 0.521, 0.5211)}
    assert list(best.values()) == ["open left", "sense", "sense", "open right"]


def test_E46_the_tiger_heard():
    """O17: what is believed after a sound, as the diagram says it to itself."""
    net = tiger(0.5, steps=1).solve({"a0": "sense"}).network()
    assert net.query("z1", {"o0": "hear left"})["left"] == near(0.7)
    assert net.query("z1", {"o0": "hear right"})["left"] == near(0.3)


def test_E47_what_doors_are_worth_after_a_sound():
    """O17 at p = .5, and where the two doors are equally good."""
    rule = tiger(0.5, steps=1).solve({"a0": "sense"})["act"]
    shift = -1.0  # what listening cost
    assert rule.worth[0] == near(np.array([-46, 33, -1]) + shift)
    assert rule.worth[1] == near(np.array([26, -43, -1]) + shift)
    for p, sound in ((0.288770, 0), (0.688525, 1)):
        worth = tiger(p, steps=1).solve({"a0": "sense"})["act"].worth[sound]
        assert worth[0] == pytest.approx(worth[1], abs=2e-3)


def test_E48_the_value_after_a_sound():
    """O18: the largest of nine lines; the text prunes those with a_S, which is wrong if one may sense."""
    assert after_sensing(0.3) == near(29.78)
    assert after_sensing(0.3, sense_last=False) == near(28.1)
    kinks = {0.288770: 28.021390, 0.688525: 30.819672}
    for p, value in kinks.items():
        assert after_sensing(p, sense_last=False) == pytest.approx(value, abs=1e-4)
    exact = {0.259615: 33.269231, 0.317987: 28.225910, 0.656250: 30.593750, 0.717391: 36.304348}
    for p, value in exact.items():
        assert after_sensing(p) == pytest.approx(value, abs=1e-4)
    lines = [(-100, 80), (-43, -46), (33, 26), (90, -100), (-70.3, 23.3), (62.7, -30.7), (-30.7, 55.7)]
    lines += [(26.3, -70.3), (-1, -1)]
    for p in np.linspace(0, 1, 21):
        assert after_sensing(p) == near(max(u * p + v * (1 - p) for u, v in lines))


def test_E50_a_tiger_that_moves():
    """O19: it stays with probability .2, before it is heard."""
    found = [after_sensing(p, stay=0.2, sense_last=False) for p in (0, 0.25, 0.3, 0.5, 0.75, 1)]
    assert found == near([52, 30.55, 30.34, 29.5, 28.45, 44])
    net = tiger(0.9, steps=1, stay=0.2).solve({"a0": "sense"}).network()
    assert net.query("z1")["left"] == near(0.26)


def test_E51_two_steps():
    """O21: open a door now, or listen and then act."""
    for p, three, nine in ((0.3, 27.1, 28.78), (0.5, 28.5, 28.5)):
        assert tiger(p, steps=1, sense_last=False).solve().expected_utility == near(three)
        assert tiger(p, steps=1).solve().expected_utility == near(nine)
    moving = [tiger(p, steps=1, stay=0.2).solve().expected_utility for p in (0, 0.25, 0.3, 0.5, 0.75, 1)]
    assert moving == near([80, 35, 29.34, 28.5, 42.5, 90])
    longer = [tiger(0.5, steps=t, sense_last=False).solve().expected_utility for t in range(6)]
    assert longer == near([-5, 28.5, 29.05, 42.62, 42.851, 50.9356])  # O22


def test_E53_a_better_sensor():
    """O23: V'(.5) by how reliable the sensor is."""
    wanted = {0.5: -1, 0.6: 11, 0.7: 29.5, 0.8: 48, 0.9: 66.5, 0.95: 75.75, 0.99: 83.15}
    for q, value in wanted.items():
        assert after_sensing(0.5, sensor=q) == near(value)


def test_E54_other_rewards():
    """O24: -100 and 10 for the left door, 20 and -100 for the right one."""
    rewards = (-100, 10, 20, -100)
    assert tiger(0.478261, rewards=rewards).solve()["act"].worth[:2] == pytest.approx(
        [-42.608696] * 2, abs=1e-4
    )
    best = {p: tiger(p, rewards=rewards).solve().decide("act") for p in (0.099, 0.101, 0.824, 0.826)}
    assert list(best.values()) == ["open left", "sense", "sense", "open right"]
    assert after_sensing(0.5, rewards=rewards) == near(-1.0)
    for p, value in {0.045455: 5, 0.205882: -1, 0.668919: -1, 0.916667: 10}.items():
        assert after_sensing(p, rewards=rewards) == pytest.approx(value, abs=1e-4)
    for p, value in {0.282051: -21.025641, 0.681416: -18.230088}.items():
        assert after_sensing(p, rewards=rewards, sense_last=False) == pytest.approx(value, abs=1e-4)
    for p, value in {0.059229: 3.484848, 0.205882: -2, 0.668919: -2, 0.903439: 8.412698}.items():
        assert tiger(p, steps=1, rewards=rewards).solve().expected_utility == pytest.approx(value, abs=1e-4)
    for p, value in {0.074136: 1.845010, 0.218468: -2, 0.816667: -2}.items():
        found = tiger(p, steps=1, rewards=rewards, stay=0.2).solve().expected_utility
        assert found == pytest.approx(value, abs=1e-4)


def signs() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("k", [0.2, 0.5, 0.3], states=["a", "b", "c"])
    net.add(
        "x",
        {"a": [0.7, 0.2, 0.1], "b": [0.3, 0.4, 0.3], "c": [0.1, 0.3, 0.6]},
        parents=["k"],
        states=[0, 1, 2],
    )
    return net


def risks(loss: np.ndarray, x: int) -> np.ndarray:
    return np.asarray(signs().query("k", {"x": x}).values @ loss)


def test_F5_bayesian_risk():
    """R(a | x) = sum of losses by posteriors; the action with the least."""
    loss = np.array([[0.0, 2, 5], [1, 0, 3], [4, 1, 0]])
    d = pgm.loss_diagram(signs(), "k", loss, observes=["x"])
    rule = d.solve()["decide"]
    for x in range(3):
        assert -rule.worth[x] == near(risks(loss, x))
        assert rule.actions[x] == risks(loss, x).argmin()


def test_F10_decision_regions():
    """Each observation belongs to the region of one class."""
    rule = pgm.loss_diagram(signs(), "k", observes=["x"]).solve()["decide"]
    posteriors = [signs().query("k", {"x": x}).values for x in range(3)]
    assert rule.actions.tolist() == [int(p.argmax()) for p in posteriors]
    assert len(rule) == 3


def test_F12_withholding():
    """Chow: no class is named where the most probable one has less than 1 - t."""
    for t in (0.1, 0.4, 0.55, 0.7):
        rule = pgm.loss_diagram(signs(), "k", reject=t, observes=["x"]).solve()["decide"]
        for x in range(3):
            p = signs().query("k", {"x": x})
            assert rule[x] == (p.mode() if p.values.max() >= 1 - t else "reject")


def test_G29_expected_risk():
    loss = np.array([[0.0, 1, 9], [1, 0, 1], [2, 3, 0]])
    for x in range(3):
        policy = pgm.loss_diagram(signs(), "k", loss).solve({"x": x})
        assert -policy.expected_utility == near(risks(loss, x).min())
        assert policy.decide("decide") == "abc"[int(risks(loss, x).argmin())]


def test_G30_zero_one_loss():
    for x in range(3):
        policy = pgm.loss_diagram(signs(), "k").solve({"x": x})
        p = signs().query("k", {"x": x})
        assert policy.decide("decide") == p.mode()
        assert -policy.expected_utility == near(1 - p.values.max())


def test_G31_the_reject_option():
    for price in (0.05, 0.3, 0.45, 0.6, 0.95):
        for x in range(3):
            policy = pgm.loss_diagram(signs(), "k", reject=price).solve({"x": x})
            p = signs().query("k", {"x": x})
            assert policy.decide("decide") == (p.mode() if p.values.max() > 1 - price else "reject")
            assert -policy.expected_utility == near(min(price, 1 - p.values.max()))
