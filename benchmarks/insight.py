"""Questions about answers, each beside the question that it is made of, and Shapley values beside pyAgrum."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

import pgm
from benchmarks import peers
from benchmarks.harness import Finding, Options, Report, Result, networks
from benchmarks.networks import evidence_sets

CASES = ("alarm", "andes", "pigs", "munin")
ROWS = 10_000
_RACE = "questions about answers"


def best(work: Callable[[], Any], rounds: int) -> float:
    """Seconds of the best of several rounds, after one that makes what is kept."""
    work()
    found = math.inf
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        found = min(found, time.perf_counter() - start)
    return found


def run(report: Report, options: Options) -> None:
    """Derivatives, information, Shapley values and surprise."""
    for name, net in networks(options):
        if name not in CASES:
            continue
        _beside_marginals(report, name, net, options)
        if name == "alarm":
            _alarm(report, net, options)


def _beside_marginals(report: Report, name: str, net: pgm.BayesianNetwork, options: Options) -> None:
    known = evidence_sets(net, 0.1, 1)[0]
    target = next(n for n in reversed(list(net)) if n not in known)
    card = net.variables[target].card
    base = best(lambda: net.marginals(known), options.rounds)
    asks: list[tuple[str, Callable[[], Any], float, float]] = [
        ("all derivatives of log P(given)", lambda: net.gradients(known), 1.0, 8.0),
        ("sensitivity of one posterior", lambda: net.sensitivity(target, known), 1.0, 8.0),
        ("informative, for each state", lambda: net.informative(target, known), float(card), 2.0),
    ]
    for what, work, share, wanted in asks:
        seconds = best(work, options.rounds)
        ratio = seconds / base / share
        report.add(Result(_RACE, f"{name}: {what}", "pgm", seconds, 1.0 / ratio, "", {"marginals": base}))
        found = f"{ratio:.1f} all-marginals queries"
        report.find(Finding(f"{name}: {what}", found, f"at most {wanted:g}", ratio <= wanted))


def _alarm(report: Report, net: pgm.BayesianNetwork, options: Options) -> None:
    names = [str(n) for n in np.random.default_rng(0).permutation(list(net))[:21]]
    case = net.sample(1000, seed=4)
    target, findings = names[0], {n: case[n][0] for n in names[1:]}
    state = net.query(target, findings).mode()
    ten = dict(list(findings.items())[:10])
    ours = best(lambda: net.shapley(target, ten, state=state), options.rounds)
    peer = peers.PyAgrum(net)
    start = time.perf_counter()
    theirs = _subsets(net, peer, target, ten, state)
    took = time.perf_counter() - start
    values = net.shapley(target, ten, state=state)
    assert all(abs(values[n] - theirs[n]) < 1e-9 for n in ten), "they disagree"
    report.add(Result(_RACE, "alarm: Shapley values of 10 findings", "pgm", ours))
    report.add(Result(_RACE, "alarm: Shapley values of 10 findings", "pyAgrum, every set", took, took / ours))
    fast = ours <= 0.010 and took / ours >= 50.0
    said = f"{1e3 * ours:.1f} ms, {took / ours:.0f} times as fast as asking pyAgrum"
    report.find(Finding("alarm: Shapley values of 10 findings", said, "10 ms, 50 times as fast", fast))
    frame = {n: list(case[n]) for n in ten}
    jobs: list[tuple[str, Callable[[], Any], float]] = [
        ("20 findings", lambda: net.shapley(target, findings, state=state), 10.0),
        ("1,000 rows of 10 findings", lambda: net.shapley(target, frame=frame, state=state), 5.0),
    ]
    for what, work, wanted in jobs:
        start = time.perf_counter()
        work()
        seconds = time.perf_counter() - start
        report.add(Result(_RACE, f"alarm: Shapley values, {what}", "pgm", seconds))
        done = seconds <= wanted
        report.find(Finding(f"alarm: Shapley values, {what}", f"{seconds:.2f} s", f"{wanted:g} s", done))
    rows = {n: np.array(v) for n, v in net.sample(ROWS, seed=0).items()}
    base = best(lambda: net.log_likelihood(rows), options.rounds)
    seconds = best(lambda: net.surprise(rows), options.rounds)
    report.add(Result(_RACE, f"alarm: surprise of {ROWS:,} rows", "pgm", seconds, base / seconds))
    ratio = seconds / base
    what = f"alarm: surprise of every cell of {ROWS:,} rows"
    report.find(Finding(what, f"{ratio:.1f} times log_likelihood", "at most 10", ratio <= 10.0))


def _subsets(
    net: pgm.BayesianNetwork, peer: peers.PyAgrum, target: str, known: dict[str, Any], state: Any
) -> dict[str, float]:
    """Shapley values from pyAgrum's posterior given every set of the findings."""
    code, names = net.variables[target].code(state), list(known)
    worth = {}
    for size in range(len(names) + 1):
        for some in combinations(names, size):
            given = peer.evidence({n: known[n] for n in some})
            worth[frozenset(some)] = float(peer.query(target, given)[code])
    n, found = len(names), dict.fromkeys(names, 0.0)
    for some, value in worth.items():
        for name in names:
            if name in some:
                share = 1.0 / (n * math.comb(n - 1, len(some) - 1))
                found[name] += share * (value - worth[some - {name}])
    return found
