"""The models of the catalogue, each with its own numbers (trap T2), and how printed numbers are compared."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import pgm

ENGINES = ["exact", "elimination"]


def near(value: Any, digits: int = 10) -> Any:
    """A number as printed, right to the digits shown; or a list or an array of such."""
    return pytest.approx(value, rel=0.6 * 10.0 ** (1 - digits))


WET = {(True, True): 0.95, (True, False): 0.90, (False, True): 0.90, (False, False): 0.10}  # rain, sprinkler


def fig_14_1() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork("rain and wet grass")
    net.add("R", 0.4)
    net.add("W", {True: 0.9, False: 0.2}, parents=["R"])
    return net


def fig_14_2() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork("a chain")
    net.add("C", 0.4)
    net.add("R", {True: 0.8, False: 0.1}, parents=["C"])
    net.add("W", {True: 0.9, False: 0.2}, parents=["R"])
    return net


def fig_14_3() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork("a common cause")
    net.add("C", 0.5)
    net.add("R", {True: 0.8, False: 0.1}, parents=["C"])
    net.add("S", {True: 0.1, False: 0.5}, parents=["C"])
    return net


def fig_14_4() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork("a common effect")
    net.add("R", 0.4)
    net.add("S", 0.2)
    net.add("W", WET, parents=["R", "S"])
    return net


def fig_14_5() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork("wet grass")
    net.add("C", 0.5)
    net.add("S", {True: 0.1, False: 0.5}, parents=["C"])
    net.add("R", {True: 0.8, False: 0.1}, parents=["C"])
    net.add("W", WET, parents=["R", "S"])
    return net


# O5: P(C, S, R, W), key CSRW with 1 = true
JOINT = {
    "1011": 0.324, "0101": 0.2025, "0000": 0.2025, "1000": 0.081, "1111": 0.038, "1010": 0.036,
    "0111": 0.02375, "0100": 0.0225, "0011": 0.0225, "0001": 0.0225, "1101": 0.009, "1001": 0.009,
    "0010": 0.0025, "1110": 0.002, "0110": 0.00125, "1100": 0.001,
}  # fmt: skip


def case(key: str) -> dict[str, bool]:
    """The case of figure 14.5 that a key of `JOINT` stands for."""
    return {name: bit == "1" for name, bit in zip("CSRW", key, strict=True)}


def fig_14_8(orientation: str = "E -> B") -> pgm.BayesianNetwork:
    """What the caption tells of figure 14.8; the arrow between B and E is not recoverable (trap T13)."""
    return pgm.BayesianNetwork(edges=f"C -> B; C -> D; E -> F; D -> F; F -> G; {orientation}")


def five_nodes() -> pgm.BayesianNetwork:
    """G.md, O2: A -> C, A -> D <- B, C -> E."""
    net = pgm.BayesianNetwork("five nodes")
    net.add("A", 0.3)
    net.add("B", 0.6)
    net.add("C", {True: 0.8, False: 0.4}, parents=["A"])
    net.add(
        "D",
        {(True, True): 0.7, (True, False): 0.8, (False, True): 0.1, (False, False): 0.2},
        parents=["A", "B"],
    )
    net.add("E", {True: 0.7, False: 0.2}, parents=["C"])
    return net


def baby_at_home() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork("baby at home")
    net.add("H", 0.1)
    for item, (with_baby, without) in {
        "food": (0.7, 0.05),
        "diapers": (0.8, 0.02),
        "milk": (0.9, 0.4),
    }.items():
        net.add(item, {True: with_baby, False: without}, parents=["H"])
    return net


# G.md, O1: age, income, student, credit rating, and whether the customer bought a computer
CUSTOMERS = """
youth,high,no,fair,no youth,high,no,excellent,no middle_aged,high,no,fair,yes senior,medium,no,fair,yes
senior,low,yes,fair,yes senior,low,yes,excellent,no middle_aged,low,yes,excellent,yes
youth,medium,no,fair,no youth,low,yes,fair,yes senior,medium,yes,fair,yes youth,medium,yes,excellent,yes
middle_aged,medium,no,excellent,yes middle_aged,high,yes,fair,yes senior,medium,no,excellent,no
"""


def customers() -> dict[str, list[str]]:
    """The fourteen rows of O1, by column."""
    columns = zip(*(row.split(",") for row in CUSTOMERS.split()), strict=True)
    return dict(zip(("age", "income", "student", "credit", "buys"), map(list, columns), strict=True))


def pedigree() -> pgm.BayesianNetwork:
    """Two parents and two children; genotypes AA, Aa, aa; the recessive allele has frequency 0.1."""
    genotypes = ["AA", "Aa", "aa"]
    q = 0.1
    founder = {"AA": (1 - q) ** 2, "Aa": 2 * q * (1 - q), "aa": q * q}
    passes = {"AA": 0.0, "Aa": 0.5, "aa": 1.0}  # the chance to hand on the recessive allele
    child = {}
    for father, mother in itertools.product(genotypes, repeat=2):
        f, m = passes[father], passes[mother]
        child[father, mother] = {"AA": (1 - f) * (1 - m), "Aa": f * (1 - m) + m * (1 - f), "aa": f * m}
    net = pgm.BayesianNetwork("pedigree")
    net.add("F", founder, states=genotypes)
    net.add("M", founder, states=genotypes)
    net.add("K1", child, parents=["F", "M"], states=genotypes)
    net.add("K2", child, parents=["F", "M"], states=genotypes)
    return net


def phylogeny() -> pgm.BayesianNetwork:
    """Jukes-Cantor on a tree of four leaves; the figures are branch lengths."""
    bases = list("ACGT")
    net = pgm.BayesianNetwork("phylogeny")
    net.add("root", dict.fromkeys(bases, 0.25), states=bases)
    branches = [
        ("root", "U", 0.1),
        ("root", "V", 0.2),
        ("U", "a", 0.1),
        ("U", "b", 0.15),
        ("V", "c", 0.05),
        ("V", "d", 0.3),
    ]
    for parent, child, t in branches:
        same = 0.25 + 0.75 * math.exp(-4 * t / 3)
        table = np.full((4, 4), (1 - same) / 3)
        np.fill_diagonal(table, same)
        net.add(child, table, parents=[parent], states=bases)
    return net


def newspaper() -> pgm.BayesianNetwork:
    """A topic for each of three days, three words drawn from it (exercise 9)."""
    net = pgm.BayesianNetwork("newspaper")
    words = {1: [0.6, 0.3, 0.1], 2: [0.1, 0.2, 0.7]}
    for day in (1, 2, 3):
        if day == 1:
            net.add("topic1", {1: 0.5, 2: 0.5}, states=[1, 2])
        else:
            net.add(f"topic{day}", {1: [0.8, 0.2], 2: [0.3, 0.7]}, parents=[f"topic{day - 1}"], states=[1, 2])
        for place in (1, 2, 3):
            net.add(f"word{day}{place}", words, parents=[f"topic{day}"], states=["w1", "w2", "w3"])
    return net


def hmm(initial: Any, transition: Any, emissions: Mapping[str, Any], steps: int) -> pgm.BayesianNetwork:
    """Hidden states 1, 2, ... q1 -> q2 -> ..., each of which emits; {name: rows, one for each state}.

    What is emitted at t is called name + t, and has the states 0, 1, ...
    """
    net = pgm.BayesianNetwork("hidden Markov model")
    states = list(range(1, len(initial) + 1))
    for t in range(1, steps + 1):
        if t == 1:
            net.add("q1", list(initial), states=states)
        else:
            net.add(f"q{t}", transition, parents=[f"q{t - 1}"], states=states)
        for name, rows in emissions.items():
            net.add(f"{name}{t}", rows, parents=[f"q{t}"], states=list(range(len(rows[0]))))
    return net


def weather(steps: int) -> pgm.BayesianNetwork:
    """Figure 15.8 with the numbers of O44: figure 14.5 on each day, and clouds that tend to stay."""
    net = pgm.BayesianNetwork("wet grass, day after day")
    for t in range(1, steps + 1):
        if t == 1:
            net.add("C1", 0.5)
        else:
            net.add(f"C{t}", {True: 0.7, False: 0.3}, parents=[f"C{t - 1}"])
        net.add(f"S{t}", {True: 0.1, False: 0.5}, parents=[f"C{t}"])
        net.add(f"R{t}", {True: 0.8, False: 0.1}, parents=[f"C{t}"])
        net.add(f"W{t}", WET, parents=[f"R{t}", f"S{t}"])
    return net


def classes(
    priors: Sequence[float], means: Sequence[Sequence[float]], covariances: Sequence[Any]
) -> pgm.BayesianNetwork:
    """Classes C = 1, 2, ..., each with a normal distribution of x1 and x2."""
    net = pgm.BayesianNetwork("normal classes")
    names = list(range(1, len(priors) + 1))
    net.add("C", list(priors), states=names)
    first, second = {}, {}
    for name, (m1, m2), ((v1, between), (_, v2)) in zip(names, means, covariances, strict=True):
        slope = between / v1
        first[name] = pgm.Gaussian(m1, sd=math.sqrt(v1))
        second[name] = pgm.LinearGaussian(
            {"x1": slope}, bias=m2 - slope * m1, sd=math.sqrt(v2 - slope * between)
        )
    net.add("x1", first, parents=["C"])
    net.add("x2", second, parents=["C"])
    return net


def threshold(weights: Mapping[str, float], bias: float) -> pgm.Deterministic:
    """A perceptron's unit s(w x + w0) (B.md, 11.3): 1 above zero, 0 at zero and below."""

    def fires(*inputs: float) -> int:
        return int(sum(w * x for w, x in zip(weights.values(), inputs, strict=True)) + bias > 0)

    return pgm.Deterministic(fires, parents=list(weights))


def boolean(units: Mapping[str, pgm.CPD], inputs: int) -> pgm.BayesianNetwork:
    """Inputs x1, x2, ... that are 0 or 1 with equal probability, and units over them."""
    net = pgm.BayesianNetwork("perceptrons")
    for i in range(1, inputs + 1):
        net.add(f"x{i}", [0.5, 0.5], states=[0, 1])
    for name, unit in units.items():
        net.add(name, unit, states=[0, 1])
    return net


def factor_graph() -> pgm.FactorGraph:
    """Figure 14.13b: f_a(R) f_b(S) f_c(R, S, W), with the numbers of figure 14.4."""
    net = pgm.FactorGraph()
    for name in "RSW":
        net.add_variable(name, states=[False, True])
    net.add_factor(["R"], [0.6, 0.4])
    net.add_factor(["S"], [0.8, 0.2])
    rows = {(r, s, w): v if w else 1 - v for (r, s), v in WET.items() for w in (False, True)}
    net.add_factor(["R", "S", "W"], rows)
    return net


def spins(fields: dict[str, float], couplings: dict[tuple[str, str], float]) -> pgm.MarkovNetwork:
    """Variables with states +1 and -1; p is proportional to exp(sum of fields x + sum of couplings x y)."""
    net = pgm.MarkovNetwork()
    sign = np.array([1.0, -1.0])
    names = dict.fromkeys([*fields, *itertools.chain(*couplings)])
    for name in names:
        net.add_variable(name, states=[1, -1])
    for name, field in fields.items():
        net.add_factor([name], field * sign, log=True)
    for pair, coupling in couplings.items():
        net.add_factor(list(pair), coupling * np.outer(sign, sign), log=True)
    return net


def ising_ring(field: float = 0.3) -> pgm.MarkovNetwork:
    """O19: four spins in a ring, coupling 1/2, a field on the first."""
    ring = {(f"x{i}", f"x{(i + 1) % 4}"): 0.5 for i in range(4)}
    return spins({"x0": field}, ring)


PIXELS = np.array([[1, 1, -1, -1], [1, -1, -1, -1], [1, 1, -1, 1], [1, 1, -1, -1]])
CLEAN = {f"x{i}{j}": 1 if j < 2 else -1 for i in range(4) for j in range(4)}  # O20: the picture restored


def denoising(beta: float, missing: tuple[tuple[int, int], ...] = ()) -> pgm.MarkovNetwork:
    """O20: a picture of 4 x 4 with one pixel in ten flipped."""
    eta = 0.5 * math.log(9)
    fields = {
        f"x{i}{j}": 0.0 if (i, j) in missing else eta * PIXELS[i, j] for i in range(4) for j in range(4)
    }
    across = {(f"x{i}{j}", f"x{i}{j + 1}"): beta for i in range(4) for j in range(3)}
    down = {(f"x{i}{j}", f"x{i + 1}{j}"): beta for i in range(3) for j in range(4)}
    return spins(fields, across | down)


def necker_cube() -> pgm.MarkovNetwork:
    """O21: for each corner a unit for either reading; readings support their like and exclude the other."""
    edges = [(a, a ^ bit) for a in range(8) for bit in (1, 2, 4) if a < a ^ bit]
    couplings = {(f"{side}{a}", f"{side}{b}"): 0.5 for side in "AB" for a, b in edges}
    return spins({}, couplings | {(f"A{a}", f"B{a}"): -0.5 for a in range(8)})


def cube_of_interpretations() -> pgm.MarkovNetwork:
    """O21, the variant of eight nodes: a node's value is the reading itself."""
    return spins({}, {(f"x{a}", f"x{a ^ bit}"): 0.5 for a in range(8) for bit in (1, 2, 4) if a < a ^ bit})


# --- influence diagrams -------------------------------------------------------------------------------------


def fig_14_14() -> pgm.InfluenceDiagram:
    """A class, what is observed of it, and the loss of naming it, which may be declined (C.md, O23)."""
    d = pgm.InfluenceDiagram("classification with a reject")
    d.add_chance("class", 0.3)
    d.add_chance("x", {True: 0.8, False: 0.1}, parents=["class"])
    d.add_decision("name", ["True", "False", "reject"], observes=["x"])
    gain = {(False, "True"): -1, (True, "False"): -10, (True, "True"): 0, (False, "False"): 0}
    d.add_utility("gain", {**gain, ...: -0.6}, parents=["class", "name"])
    return d


def sprinkler() -> pgm.InfluenceDiagram:
    """The sprinkler of figure 14.4 as a decision: wet grass is worth 10, water costs 1 (C.md, O23)."""
    d = pgm.InfluenceDiagram("sprinkler")
    d.add_chance("rain", 0.4)
    d.add_decision("sprinkler", [False, True])
    wet = {(True, True): 0.95, (True, False): 0.90, (False, True): 0.90, (False, False): 0.10}
    d.add_chance("wet", wet, parents=["rain", "sprinkler"])
    d.add_utility("grass", {True: 10, False: 0}, parents=["wet"])
    d.add_utility("water", {True: -1, False: 0}, parents=["sprinkler"])
    return d


def tiger() -> pgm.InfluenceDiagram:
    """The tiger of section 18.7.2: open a door, or listen for 1 and then open one (E.md, O16 to O18)."""
    sides = ["left", "right"]
    d = pgm.InfluenceDiagram("tiger")
    d.add_chance("tiger", [0.5, 0.5], states=sides)
    d.add_decision("first", ["open left", "open right", "listen"])
    rewards = {("left", "open left"): -100, ("left", "open right"): 90, ...: -1}
    rewards |= {("right", "open left"): 80, ("right", "open right"): -100}
    d.add_utility("first reward", rewards, parents=["tiger", "first"])
    heard = {("listen", "left"): [0, 0.7, 0.3], ("listen", "right"): [0, 0.3, 0.7], ...: [1, 0, 0]}
    d.add_chance("heard", heard, parents=["first", "tiger"], states=["nothing", *sides])
    allowed = {"nothing": ["none"], ...: ["open left", "open right"]}
    d.add_decision("second", ["none", "open left", "open right"], observes=["heard"], allowed=allowed)
    rewards = {key: value for key, value in rewards.items() if key is not ...}
    d.add_utility("second reward", {**rewards, ...: 0}, parents=["tiger", "second"])
    return d


def oil_wildcatter() -> pgm.InfluenceDiagram:
    """Raiffa's problem: drill, and test the ground first?"""
    d = pgm.InfluenceDiagram("oil wildcatter")
    d.add_chance("oil", {"dry": 0.5, "wet": 0.3, "soaking": 0.2})
    d.add_decision("test", ["no", "yes"])
    shown = {("yes", "dry"): [0, 0.6, 0.3, 0.1], ("yes", "wet"): [0, 0.3, 0.4, 0.3], ...: [1, 0, 0, 0]}
    shown |= {("yes", "soaking"): [0, 0.1, 0.4, 0.5]}
    reports = ["no test", "none", "open", "closed"]
    d.add_chance("report", shown, parents=["test", "oil"], states=reports)
    d.add_decision("drill", ["no", "yes"], observes=["report"])
    profit = {("yes", "dry"): -70, ("yes", "wet"): 50, ("yes", "soaking"): 200, ...: 0}
    d.add_utility("profit", profit, parents=["drill", "oil"])
    d.add_utility("cost", {"yes": -10, "no": 0}, parents=["test"])
    return d
