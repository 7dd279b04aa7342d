"""Rows of the catalogue on what answers are made of: explaining away (C13), what is worth seeing (C70)."""

from __future__ import annotations

import pytest

import pgm
from tests.known.book import near


def lawn() -> pgm.BayesianNetwork:
    """O4, figure 14.4: rain and a sprinkler wet the grass."""
    net = pgm.BayesianNetwork("lawn")
    net.add("R", 0.4)
    net.add("S", 0.2)
    rows = {(True, True): 0.95, (True, False): 0.9, (False, True): 0.9, (False, False): 0.1}
    net.add("W", rows, parents=["R", "S"])
    return net


def test_C13_explaining_away_as_an_explanation() -> None:
    net = lawn()
    wet = net.explain("S", {"W": True})
    assert (wet.before, wet.after) == (near(0.2), near(0.3538461538))
    both = net.explain("S", {"W": True, "R": True})
    assert both.after == near(0.2087912088)
    assert both.steps == pytest.approx((0.2, 23 / 65, 19 / 91))
    assert both["R"].alone == near(0.2)  # alone rain says nothing of the sprinkler,
    assert both["R"].adds < 0.0  # beside the wet grass it explains it away
    assert both["R"].path == ("R", "W", "S")
    dry = net.explain("S", {"W": True, "R": False})
    assert dry.after == near(0.6923076923)
    rain = net.explain("R", {"W": True, "S": True})
    assert (rain.after, rain["S"].without) == (near(0.4130434783), near(0.7))
    assert net.explain("R", {"W": True, "S": False}).after == near(0.8571428571)


def test_C13_what_explains_away_pulls_apart() -> None:
    values = lawn().shapley("S", {"W": True, "R": True})
    assert values["W"] > 0.0 > values["R"]
    assert sum(values.values()) == pytest.approx(19 / 91 - 0.2)


def test_C70_what_is_worth_seeing_tells_something() -> None:
    """Information is nought where the value of information must be: what tells nothing is worth nothing."""
    net = lawn()
    assert net.informative("S", over="R")["R"] == 0.0
    told = net.informative("S", {"W": True}, over="R")["R"]
    joint = net.query(["S", "R"], {"W": True})
    assert told == pytest.approx(joint.mutual_information("S", "R"))
    assert net.next_question("S", over="W").name == "W"
