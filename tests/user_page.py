"""A page of a user's code, which mypy --strict and pyright must accept; tests/test_types.py runs both."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

import numpy as np

import pgm


def build() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork("wet grass", edges=[("rain", "wet")])
    net.set("rain", 0.2)
    net.set("wet", {True: 0.9, False: {True: 0.1, False: 0.9}})
    net.add(
        "mood", {True: {"good": 0.7, "bad": 0.3}, ...: [0.5, 0.5]}, parents="rain", states=["good", "bad"]
    )
    net.add("slippery", pgm.NoisyOr({"wet": 0.8}, leak=0.1))
    net.add(
        "h", {True: pgm.LinearGaussian(bias=1.0, sd=0.5), False: pgm.Gaussian(0.0, 1.0)}, parents=["rain"]
    )
    net.remove("mood")
    return net


def ask(net: pgm.BayesianNetwork) -> float:
    given = {"wet": True}
    p = net.query("rain", given)
    assert_type(p, pgm.Distribution | Any)
    total = (
        p[True] + p.entropy() + float(p.values.sum()) + net.query(["rain", "slippery"], given)[True, False]
    )
    total += float(net.query("h").mean + net.query("h").std + net.query("h", given).variance)
    density = net.query("h")
    if isinstance(density, pgm.Density):
        total += float(density.pdf(1.0) + density.quantile(0.5))
    for name, one in net.marginals({"wet": pgm.Likelihood({True: 0.8, False: 0.3})}).items():
        total += len(name) * float(one.mean)
    probability = net.probability({"rain": True}, given={"wet": pgm.OneOf(True)}, engine="exact")
    assert_type(probability, pgm.Probability)
    total += probability * 2 + probability.log
    best = net.map(given, targets="rain")
    if best["rain"] and not best.exact:
        total += best.gap
    total += sum(one.probability for one in net.k_best(given, k=2, targets="rain"))
    total += net.mutual_information("rain", "wet")
    ask_again = net.compile("rain", given=["wet"])
    total += ask_again({"wet": False})[True]
    loopy = net.query("rain", engine=pgm.engines.Loopy(damping=0.1))
    if loopy.report.residual is not None:
        total += loopy.report.residual
    plan = net.plan("rain", given)
    return total + plan.bytes + net.do({"rain": True}).query("wet")[True]


def structure(net: pgm.BayesianNetwork) -> set[str]:
    tree = pgm.load_network("asia").junction_tree({"dysp": "yes"}, root="lung")
    tables = [message.values for message in tree.messages]
    assert_type(net.independent("rain", "wet", given=["slippery"]), bool)
    return {
        *net.parents("wet"),
        *net.ancestors("wet"),
        *net.markov_blanket("rain"),
        str(tables),
        net.to_dot(),
    }


def rows(net: pgm.BayesianNetwork) -> float:
    cases = net.sample(100, given={"wet": True}, seed=0)
    states = net.predict({"wet": [True, False, None]}, "rain")
    shares = net.predict_proba({"wet": [True, False, None]}, "rain")
    assert_type(states, np.ndarray)
    frame = cases.to_pandas()
    guesses = net.predict(frame, "rain")
    return (
        float(shares[:, 1].sum()) + net.score(cases) + float(net.log_likelihood(frame).sum()) + len(guesses)
    )


def undirected() -> list[list[int]]:
    mrf = pgm.MarkovNetwork()
    mrf.add_variable("a", states=["red", "blue"])
    mrf.add_factor(["a"], [1.0, 2.0])
    assert float(mrf.log_partition()) > 0
    noisy = np.array([[1, 0], [1, 1]])
    grid = pgm.MarkovNetwork.grid(noisy, states=[0, 1], coupling=2.0, unary=[[0.9, 0.1], [0.1, 0.9]])
    believed = grid.marginals().to_array("pixel")
    states: list[list[int]] = grid.map().to_array("pixel").tolist()
    return states if believed[..., 1].max() < 1.0 else []


def files(folder: Path) -> tuple[str, ...]:
    net = pgm.load_network("asia")
    pgm.write(net, folder / "asia.bif")
    with pgm.config(memory_limit="1 GB", progress=False):
        try:
            found: tuple[str, ...] = pgm.read(folder / "asia.bif").parents("dysp")
        except pgm.FileFormatError as error:
            return (str(error),)
    return found
