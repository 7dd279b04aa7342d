"""Interventions that are policies, against the joint written out."""

from __future__ import annotations

import numpy as np
import pytest

import pgm


@pytest.fixture
def net():
    net = pgm.BayesianNetwork()
    net.add("ill", {"no": 0.7, "mild": 0.2, "bad": 0.1})
    net.add("test", {"no": 0.1, "mild": 0.6, "bad": 0.9}, parents=["ill"])
    net.add("treat", {True: 0.5, False: 0.2}, parents=["test"])
    net.add(
        "well",
        np.array([[[0.1, 0.9], [0.2, 0.8]], [[0.6, 0.4], [0.3, 0.7]], [[0.9, 0.1], [0.5, 0.5]]]),
        parents=["ill", "treat"],
        states=[False, True],
    )
    return net


def test_a_rule_follows_what_it_observes(net):
    done = net.do({"treat": lambda test: test})
    assert done.parents("treat") == ("test",)
    by_hand = sum(
        net.query("ill")[ill]
        * net.query("test", {"ill": ill})[test]
        * net.do({"treat": test}).query("well", {"ill": ill})[True]
        for ill in ("no", "mild", "bad")
        for test in (False, True)
    )
    assert done.query("well")[True] == pytest.approx(by_hand, abs=1e-12)


def test_a_random_intervention_is_a_mixture_of_certain_ones(net):
    mixed = net.do({"treat": {True: 0.25, False: 0.75}}).query("well")[True]
    sure = [net.do({"treat": t}).query("well")[True] for t in (True, False)]
    assert mixed == pytest.approx(0.25 * sure[0] + 0.75 * sure[1], abs=1e-12)


def test_several_at_once_and_any_distribution(net):
    done = net.do({"test": True, "treat": pgm.NoisyOr({"test": 0.8}, leak=0.1)})
    assert done.query("treat")[True] == pytest.approx(1 - 0.2 * 0.9, abs=1e-12)
    assert net.query("treat")[True] != done.query("treat")[True]
    assert done.do({}) == done


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ({"treat": lambda well: well}, "observes something that its action influences"),
        ({"treat": {True: 0.5}}, "add up to 0.5"),
        ({"treat": {True: -1, False: 2}}, "with probability -1"),
        ({"treat": lambda test: "maybe"}, "maybe"),
        ({"treat": "maybe"}, "no state 'maybe'"),
        ({"treet": True}, "no variable 'treet'"),
        ({"treat": lambda tset: True}, "no variable 'tset'"),
        (["treat"], "Interventions are a dict"),
    ],
)
def test_mistakes(net, actions, message):
    with pytest.raises(pgm.PGMError, match=message):
        net.do(actions)
