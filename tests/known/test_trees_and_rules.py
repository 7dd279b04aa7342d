"""Worked numbers of the catalogue on decision trees: A.md, chapter 9, O14, O15 and O18."""

from __future__ import annotations

import math

import pytest

import pgm
from tests.known.book import near


def bits(p: pgm.Distribution) -> float:
    return p.entropy() / math.log(2)


def from_rows(x: list[object], y: list[int]) -> pgm.BayesianNetwork:
    """The network x -> y whose tables are the shares of these rows."""
    net = pgm.BayesianNetwork()
    states = list(dict.fromkeys(x))
    net.add("x", [1 / len(states)] * len(states), states=states)
    net.add("y", [[0.5, 0.5]] * len(states), parents=["x"], states=[0, 1])
    for name in ("x", "y"):
        net.set(name, net.cpd(name).fit({"x": x, "y": y}))
    return net


def impurity(net: pgm.BayesianNetwork, branches: list[object]) -> float:
    """I' of (9.8): the entropies of the branches, by their shares."""
    return sum(net.probability({"x": b}) * bits(net.query("y", {"x": b})) for b in branches)


def test_A57_entropy_as_impurity():
    """O14: between 0 for a pure node and log2 K for a uniform one."""
    net = pgm.BayesianNetwork()
    net.add("node", [0.25, 0.25, 0.25, 0.25], states=["pure", "even", "nine", "quarter"])
    rows = {"pure": [1.0, 0.0], "even": [0.5, 0.5], "nine": [0.9, 0.1], "quarter": [0.25, 0.75]}
    net.add("y", rows, parents=["node"], states=[1, 2])
    for node, expected in (("pure", 0.0), ("even", 1.0), ("nine", 0.4689955936), ("quarter", 0.8112781245)):
        assert bits(net.query("y", {"node": node})) == near(expected)
    three = pgm.BayesianNetwork()
    three.add("y", [0.5, 0.3, 0.2], states=[1, 2, 3])
    assert bits(three.query("y")) == near(1.4854752972)
    three.set("y", [1 / 3, 1 / 3, 1 / 3])
    assert bits(three.query("y")) == near(math.log2(3))


def test_A57_what_a_split_gains():
    """O15: counts (4, 4) into (3, 1) and (1, 3) have I' = .8112781245; the gain is what x tells of y."""
    net = from_rows(["left"] * 4 + ["right"] * 4, [0, 0, 0, 1, 1, 1, 1, 0])
    assert bits(net.query("y")) == near(1.0)
    assert impurity(net, ["left", "right"]) == near(0.8112781245)
    assert bits(net.query("x")) + bits(net.query("y")) - bits(net.query(["x", "y"])) == near(0.1887218755)


def test_A57_where_to_split_a_number():
    """O15: of five thresholds between six numbers 2.5 leaves least."""
    x = [1, 2, 3, 4, 5, 6]
    net = from_rows(x, [0, 0, 1, 1, 0, 1])
    assert bits(net.query("y")) == near(1.0)
    found = [impurity(net, [pgm.OneOf(*x[:t]), pgm.OneOf(*x[t:])]) for t in range(1, 6)]
    assert found == near([0.8091255, 0.5408521, 0.9182958, 1.0, 0.8091255], 7)
    assert impurity(net, x) == 0.0  # the number of the row itself tells everything


def test_A57_a_split_of_three_colours():
    """O15: three ways at once, and each colour against the rest."""
    net = from_rows(list("rrbbggg"), [1, 1, 0, 0, 1, 0, 1])
    assert bits(net.query("y")) == near(0.9852281, 7)
    assert impurity(net, ["r", "b", "g"]) == near(0.3935554, 7)
    for colour, expected in (("r", 0.6935361), ("b", 0.5156629), ("g", 0.9649840)):
        assert impurity(net, [colour, pgm.Not(colour)]) == near(expected, 7)


def soft_tree(slope: float) -> pgm.BayesianNetwork:
    """Figure 9.6: age and years decide by a sigmoid around 38.5 and 2.5; the leaves are P(approved)."""
    net = pgm.BayesianNetwork()
    net.add("age", pgm.Gaussian(40.0, 10.0))
    net.add("years", pgm.Gaussian(3.0, 2.0))
    net.add("job", [0.5, 0.3, 0.2], states=["A", "B", "C"])
    net.add("old", pgm.Logistic({"age": slope}, bias=-38.5 * slope))
    net.add("long", pgm.Logistic({"years": slope}, bias=-2.5 * slope))
    by_years = pgm.TreeCPD("long", {True: 0.8, False: 0.6})
    by_job = pgm.TreeCPD("job", {"A": 0.4, "B": 0.3, "C": 0.2})
    net.add("approved", pgm.TreeCPD("old", {True: by_years, False: by_job}))
    return net


def test_A98_a_soft_tree_takes_all_branches():
    """O18: P(age > 38.5) = .7, P(years > 2.5) = .6, jobs (.5, .3, .2): .603."""
    net = soft_tree(1.0)
    seen = {"age": 38.5 + math.log(0.7 / 0.3), "years": 2.5 + math.log(0.6 / 0.4)}
    assert net.query("old", seen)[True] == near(0.7)
    assert net.query("long", seen)[True] == near(0.6)
    assert net.query("approved", seen)[True] == near(0.603)
    paths = net.query(["old", "long", "job"], seen)
    leaves = [
        paths[{"old": True, "long": True}],
        paths[{"old": True, "long": False}],
        *(paths[{"old": False, "job": job}] for job in "ABC"),
    ]
    assert leaves == near([0.42, 0.28, 0.15, 0.09, 0.06])
    assert sum(p * value for p, value in zip(leaves, (0.8, 0.6, 0.4, 0.3, 0.2), strict=True)) == near(0.603)
    # Which way it was, once the outcome is known: Bayes on the leaves.
    assert net.query("old", {**seen, "approved": True})[True] == near(0.504 / 0.603)
    assert net.query("job", {**seen, "approved": True, "old": False})["A"] == near(0.06 / 0.099)


@pytest.mark.parametrize(
    ("age", "years", "job", "value"),
    [
        (45.0, 3.0, None, 0.8),
        (45.0, 2.0, None, 0.6),
        (30.0, 9.0, "A", 0.4),
        (30.0, 1.0, "B", 0.3),
        (30.0, 3.0, "C", 0.2),
    ],
)
def test_A98_with_sure_gates_it_is_the_hard_tree(age, years, job, value):
    """The five rules R1 to R5 of figure 9.6, each blind to what it does not ask."""
    given = {"age": age, "years": years} | ({"job": job} if job else {})
    assert soft_tree(1000.0).query("approved", given)[True] == near(value)
