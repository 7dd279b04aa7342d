"""Worked numbers of the catalogue on decision trees: A.md, chapter 9, O14, O15, O18; G.md, O1, O6, O7."""

from __future__ import annotations

import math

import pytest

import pgm
from tests.known import book
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


# --- G12, G117 to G119, G124: fourteen customers ---


def test_G12_a_rule_with_two_thresholds():
    """IF income > 30 AND savings > 10 THEN low risk; on the line it is high risk."""
    net = pgm.BayesianNetwork()
    net.add("income", [0.25] * 4, states=[20, 30, 31, 50])
    net.add("savings", [0.5, 0.3, 0.2], states=[5, 10, 11])

    def risk(income: int, savings: int) -> str:
        return "low" if income > 30 and savings > 10 else "high"

    net.add("risk", pgm.Deterministic(risk, parents=["income", "savings"]), states=["low", "high"])
    for income, savings, expected in ((31, 11, "low"), (30, 11, "high"), (50, 10, "high"), (50, 11, "low")):
        assert net.query("risk", {"income": income, "savings": savings})[expected] == 1.0
    assert net.query("risk").values == near([0.5 * 0.2, 0.9])
    assert net.query("income", {"risk": "high"}).values == near([5 / 18, 5 / 18, 4 / 18, 4 / 18])
    assert net.query("savings", {"risk": "low"})[11] == 1.0


def customers() -> pgm.BayesianNetwork:
    """buys -> each attribute, with the shares of the fourteen rows: right for any one attribute with buys."""
    rows = book.customers()
    net = pgm.BayesianNetwork("customers")
    for name in ("buys", "age", "income", "student", "credit"):
        states = sorted(set(rows[name]))
        parents = [] if name == "buys" else ["buys"]
        even = [1 / len(states)] * len(states)
        net.add(name, [even] * 2 if parents else even, parents=parents, states=states)
        net.set(name, net.cpd(name).fit(rows))
    return net


GAINS = {
    "age": (0.693536, 0.246750),
    "income": (0.911063, 0.029223),
    "student": (0.788450, 0.151836),
    "credit": (0.892159, 0.048127),
}  # O6: Info_A and Gain


def test_G117_the_entropy_of_the_class():
    """O6: nine of fourteen buy, .940286 bits; of the five young two, .970951; of the middle-aged all."""
    net = customers()
    assert bits(net.query("buys")) == near(0.940286, 6)
    assert bits(net.query("buys", {"age": "youth"})) == near(0.970951, 6)
    assert bits(net.query("buys", {"age": "middle_aged"})) == 0.0


@pytest.mark.parametrize("name", GAINS)
def test_G118_what_is_left_after_a_split(name):
    """O6: for age .694 as printed."""
    net = customers()
    shares = net.query(name)
    left = sum(p * bits(net.query("buys", {name: state})) for state, p in shares.items())
    assert left == near(GAINS[name][0], 6)


def test_G119_information_gain():
    """O6: .246, .029, .151 and .048 as printed, cut off; the first question is age."""
    net = customers()
    found = {name: net.query([name, "buys"]).mutual_information(name, "buys") / math.log(2) for name in GAINS}
    assert found == pytest.approx({name: gain for name, (_, gain) in GAINS.items()}, abs=6e-7)
    assert max(found, key=found.__getitem__) == "age"


def test_G124_one_rule_for_each_leaf():
    """O7: the rules that the tree has are right in 14 rows; as printed, with senior turned round, in 9."""
    rows = book.customers()
    right = [
        ({"age": "youth", "student": "no"}, {"no": 1.0}),
        ({"age": "youth", "student": "yes"}, {"yes": 1.0}),
        ({"age": "middle_aged"}, {"yes": 1.0}),
        ({"age": "senior", "credit": "fair"}, {"yes": 1.0}),
        ({"age": "senior", "credit": "excellent"}, {"no": 1.0}),
    ]
    printed = [*right[:3], (right[3][0], {"no": 1.0}), (right[4][0], {"yes": 1.0})]
    by_student = pgm.TreeCPD("student", {"no": {"no": 1.0}, "yes": {"yes": 1.0}})
    by_credit = pgm.TreeCPD("credit", {"fair": {"yes": 1.0}, "excellent": {"no": 1.0}})
    tree = pgm.TreeCPD("age", {"youth": by_student, "middle_aged": {"yes": 1.0}, "senior": by_credit})
    correct = {}
    for name, cpd in {
        "tree": tree,
        "rules": pgm.TreeCPD.from_rules(right),
        "printed": pgm.TreeCPD.from_rules(printed),
    }.items():
        net = pgm.BayesianNetwork()
        for attribute in ("age", "student", "credit"):
            states = sorted(set(rows[attribute]))
            net.add(attribute, [1 / len(states)] * len(states), states=states)
        net.add("buys", cpd, states=["no", "yes"])
        assert len(str(net.cpd("buys")).splitlines()) == 2 + 5  # a title, a head and one line for each leaf
        found = net.predict({a: rows[a] for a in net.nodes if a != "buys"}, "buys")
        correct[name] = [t for t, (a, b) in enumerate(zip(found, rows["buys"], strict=True), 1) if a == b]
    assert correct["tree"] == correct["rules"] == list(range(1, 15))
    assert correct["printed"] == [1, 2, 3, 7, 8, 9, 11, 12, 13]
