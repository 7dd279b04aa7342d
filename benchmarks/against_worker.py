"""One side of `python -m benchmarks against`: answers with the pgm that its PYTHONPATH names.

It uses public names only, which older checkouts have too, and times nothing but the questions.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import pgm

FOLDER = Path.cwd().parent / "shared" / "networks"
NAMES = (
    *("asia", "alarm", "child", "insurance", "hailfinder", "win95pts", "andes", "pigs", "water"),
    *("diabetes", "munin2", "munin4", "munin", "link"),
)
SMALL = ("asia", "alarm", "child", "insurance", "hailfinder", "win95pts")
SETS = 10
LONG = 10.0  # seconds: what takes longer, with its compiling and loading, is asked for one set only
Question = Callable[[int], Any]


def load(name: str) -> Any:
    packed = FOLDER / f"{name}.bif.gz"
    return pgm.read(packed) if packed.exists() else pgm.load_network(name)


def evidence(net: Any, share: float) -> list[dict[str, Any]]:
    """Findings on a share of the nodes, drawn from the network, the same on both sides."""
    if not share:
        return [{}] * SETS
    drawn, chooser = net.sample(SETS, seed=1), random.Random(1)
    names = list(net.variables)
    count = max(1, round(share * len(names)))
    return [{name: drawn[name][i] for name in chooser.sample(names, count)} for i in range(SETS)]


def plain(net: Any, kind: str) -> Question:
    """Ask one of the questions on tables."""
    name, _, share = kind.partition(", ")
    sets = evidence(net, float(share.removesuffix(" %") or 0) / 100)
    targets = [next(v for v in net.variables if v not in given) for given in sets]
    others = [next(v for v in reversed(list(net.variables)) if v not in given) for given in sets]
    # Entries that are zero have a derivative on request only, since November 2026.
    positive = {node: net.cpd(node).values > 0.0 for node in net.variables}
    asked: dict[str, Question] = {
        "all posteriors": lambda i: sum(p.values[0] for p in net.marginals(sets[i]).values()),
        "one target": lambda i: net.query(others[i], sets[i]).values[0],
        "P(evidence)": lambda i: net.log_probability(sets[i]),
        "most probable": lambda i: net.map(sets[i]).log_joint,
        "three best": lambda i: sum(one.log_joint for one in net.k_best(sets[i], k=3)),
        "samples": lambda i: len(net.sample(1000, given=sets[i], seed=i)[targets[i]]),
        "expected counts": lambda i: sum(table.sum() for table in net.expected_counts(sets[i]).values()),
        "derivatives": lambda i: sum(
            table[positive[node]].sum() for node, table in net.gradients(sets[i]).items()
        ),
        "plan": lambda i: net.plan(others[i], sets[i]).log2_entries,
    }
    return asked[name]


def rows(net: Any) -> Question:
    drawn, noise = net.sample(5000, seed=2), np.random.default_rng(3)
    frame = {}
    for name, column in drawn.items():
        cells = np.array(column, dtype=object)
        cells[noise.random(len(cells)) < 0.5] = None
        frame[name] = cells.tolist()
    target = list(net.variables)[-1]
    frame.pop(target)
    return lambda _: float(np.asarray(net.predict_proba(frame, target))[:, 0].sum())


def gaussian() -> Question:
    net = pgm.BayesianNetwork()
    net.add("x0", pgm.Gaussian(0.0, 1.0))
    for i in range(1, 10):
        net.add(f"x{i}", pgm.LinearGaussian({f"x{i - 1}": 0.9}, bias=0.1, sd=0.5))
    return lambda i: float(net.query("x5", {"x0": 0.1 * i, "x9": 1.0}).mean)


def grid(size: int) -> Any:
    noisy = np.random.default_rng(0).integers(0, 2, (size, size))
    return pgm.MarkovNetwork.grid(noisy, states=[0, 1], coupling=0.5, unary=[[0.7, 0.3], [0.3, 0.7]])


def engine(name: str) -> Question:
    net = grid(40)
    if name == "loopy":
        options = pgm.engines.Loopy(max_iter=20, tol=1e-300)
        return lambda _: net.marginals(engine=options).to_array("pixel").sum()
    if name == "cuts":
        return lambda _: net.map(engine="cuts").log_joint
    if name == "gibbs":
        small = pgm.load_network("alarm")
        options = pgm.engines.Gibbs(samples=2000, seed=1)
        return lambda _: small.query("BP", {"HR": "HIGH"}, engine=options).values[0]
    small = pgm.load_network("alarm")
    return lambda _: small.query("BP", {"HR": "HIGH"}, engine=name).values[0]


def built(name: str) -> Question:
    """Build a network by `add`, and ask it once: what compiling a model costs."""
    net = load(name)
    order = nx.topological_sort(net.to_networkx())
    given = [(v, net.cpd(v).table(), net.parents(v), net.variables[v].states) for v in order]

    def build(_: int) -> float:
        made = pgm.BayesianNetwork()
        for v, table, parents, states in given:
            made.add(v, table, parents=parents, states=states)
        return float(made.query(given[-1][0]).values[0])

    return build


KINDS = (
    *("all posteriors, 0 %", "all posteriors, 10 %", "all posteriors, 30 %", "one target, 10 %"),
    *("P(evidence), 10 %", "most probable, 10 %"),
)
MORE = ("three best, 10 %", "samples, 10 %", "expected counts, 10 %", "derivatives, 10 %", "plan, 10 %")


def cases() -> Iterator[tuple[str, str]]:
    for name in NAMES:
        for kind in (*KINDS, *(MORE if name in SMALL else ())):
            yield kind, name
    for name in SMALL:
        yield "5,000 rows", name
        yield "built and asked", name
    yield "a normal chain", "ten numbers"
    for name in ("loopy", "cuts"):
        yield name, "40 x 40 pixels"
    for name in ("gibbs", "elimination", "search", "mean-field", "bounds", "clique-sequence"):
        yield name, "one of alarm"


_networks: dict[str, Any] = {}


def question(kind: str, network: str) -> Question:
    if kind == "a normal chain":
        return gaussian()
    if network in ("40 x 40 pixels", "one of alarm"):
        return engine(kind)
    if kind == "built and asked":
        return built(network)
    if network not in _networks:
        _networks.clear()
        _networks[network] = load(network)
    return rows(_networks[network]) if kind == "5,000 rows" else plain(_networks[network], kind)


def prepared(asked: Question, seconds: float) -> dict[str, Any]:
    """Answer everything twice: the sum of the answers, and how much of it a round of so many seconds asks."""
    begin = time.perf_counter()
    first = float(asked(0))
    count = SETS if time.perf_counter() - begin < LONG else 1
    total = first + sum(float(asked(i)) for i in range(1, count))
    begin = time.perf_counter()
    for i in range(count):
        asked(i)
    each = time.perf_counter() - begin
    return {"sum": total, "count": count, "repeats": max(1, round(seconds / each))}


def main() -> None:
    pgm.set_config(threads=int(sys.argv[1]), memory_limit="6 GB")
    asked: Question = float
    for line in sys.stdin:
        given = json.loads(line)
        answer: Any
        if given["do"] == "cases":
            answer = list(cases())
        elif given["do"] == "prepare":
            try:
                asked = question(given["kind"], given["network"])
                answer = prepared(asked, given["seconds"])
            except Exception as error:  # a question that one side does not know is left out, and said
                answer = {"refused": f"{type(error).__name__}: {str(error)[:100]}"}
        else:
            begin = time.perf_counter()
            for _ in range(given["repeats"]):
                for i in range(given["count"]):
                    asked(i)
            answer = (time.perf_counter() - begin) / (given["count"] * given["repeats"])
        print(json.dumps(answer), flush=True)


main()
