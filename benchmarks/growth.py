"""Growth: ten times the variables may cost twelve times as much, on chains, random trees and narrow grids.

On a virtual machine that hands freed pages back to its host, keep them in the process: MALLOC_MMAP_MAX_=0 and
MALLOC_TRIM_THRESHOLD_=100000000000 in the environment. Else three quarters of the time are the host's.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

import pgm
from benchmarks.harness import SLOW, Finding, Options, Report, Result

WANTED = 12.0
WIDTH = 5
ROOM = 4096  # bytes for each variable that are touched before anything is timed
_STATES = (0, 1)


def chain(n: int) -> tuple[Any, list[str]]:
    """A Markov chain of n binary variables, each with a table of its own."""
    rng = np.random.default_rng(n)
    rows = rng.dirichlet([1.0, 1.0], size=(n, 2))
    net = pgm.BayesianNetwork()
    net.add("x0", rows[0, 0], states=_STATES)
    for i in range(1, n):
        net.add(f"x{i}", rows[i], parents=[f"x{i - 1}"], states=_STATES)
    return net, [f"x{i}" for i in (0, n // 3, n // 2, n - 1)]


def tree(n: int) -> tuple[Any, list[str]]:
    """Each node's parent is any of those before it."""
    rng = np.random.default_rng(n)
    rows = rng.dirichlet([1.0, 1.0], size=(n, 2))
    parents = (rng.random(n) * np.arange(n)).astype(int)
    net = pgm.BayesianNetwork()
    net.add("x0", rows[0, 0], states=_STATES)
    for i in range(1, n):
        net.add(f"x{i}", rows[i], parents=[f"x{parents[i]}"], states=_STATES)
    return net, [f"x{i}" for i in (0, n // 3, n // 2, n - 1)]


def grid(n: int) -> tuple[Any, list[str]]:
    """A grid five pixels wide with n pixels in all."""
    rng = np.random.default_rng(n)
    seen = rng.integers(0, 2, (n // WIDTH, WIDTH))
    net = pgm.MarkovNetwork.grid(seen, states=_STATES, coupling=0.7, unary=[[0.8, 0.2], [0.3, 0.7]])
    return net, [f"pixel[{i},{i % WIDTH}]" for i in (0, n // WIDTH // 3, n // WIDTH // 2, n // WIDTH - 1)]


KINDS: dict[str, Callable[[int], tuple[Any, list[str]]]] = {
    "chains": chain,
    "random trees": tree,
    f"grids {WIDTH} wide": grid,
}
# Of a model, a variable and what is known; every value of the answer is read.
QUESTIONS: dict[str, Callable[[Any, str, dict[str, Any]], object]] = {
    "all marginals": lambda net, _, known: [p.values for p in net.marginals(known).values()],
    "one target": lambda net, target, known: net.query(target, known).values,
    "P(evidence)": lambda net, _, known: net.log_probability(known),
    "most probable states": lambda net, _, known: net.map(known).to_dict(),
}


def run(report: Report, options: Options) -> None:
    """Every kind, every question, at each size; ratios from one size to the next."""
    gc.collect()
    gc.freeze()  # what the process holds besides is not looked at after each question
    for kind, make in KINDS.items():
        race = f"growth of {kind}"
        if not options.wants(race):
            continue
        times: dict[int, dict[str, float]] = {}
        for n in options.sizes:
            times[n] = _measure(make, n, options.rounds)
            for name, seconds in times[n].items():
                before = times.get(n // 10, {}).get(name)
                ratio = seconds / before if before else None
                note = "ratio: to a tenth of the size" if ratio else ""
                report.add(Result(race, f"{n:,}, {name}", "pgm", seconds, ratio, note))
        steps = {
            f"{name} at {b:,}": times[b][name] / times[a][name]
            for a, b in pairwise(options.sizes)
            for name in times[b]
        }
        if steps:
            worst = max(steps, key=steps.__getitem__)
            found = f"at most {steps[worst]:.1f} ({worst})"
            over = [f"{name} {ratio:.1f}" for name, ratio in steps.items() if ratio > WANTED]
            found += f"; over: {', '.join(over)}" if over else ""
            report.find(Finding(f"{race}, ten times the size", found, f"at most {WANTED:g}", not over))


def _have(size: int) -> None:
    """Touch so many bytes and give them back.

    A virtual machine may hand freed pages back to its host within seconds; to get one again then costs thirty
    times what a fresh page costs elsewhere (2.2 ms for a megabyte, not 0.07). That is no cost of a question.
    """
    np.empty(size // 8).fill(1.0)


def _measure(make: Callable[[int], tuple[Any, list[str]]], n: int, rounds: int) -> dict[str, float]:
    """Seconds for building, for each question on a model just built with it, and for each asked again.

    The best of so many rounds; with building, of two where one takes over five seconds.
    """
    found: dict[str, float] = {}

    def note(name: str, seconds: float) -> None:
        found[name] = min(found.get(name, np.inf), seconds)

    touch = ROOM * n
    for name, ask in QUESTIONS.items():
        first = f"{name}, building included"
        for number in range(rounds):
            if number > 1 and found[first] > SLOW:
                break
            net = None
            gc.collect()  # what is left of the model before is not counted
            _have(touch)
            start = time.perf_counter()
            net, names = make(n)
            built = time.perf_counter() - start
            known = {names[0]: 1, names[3]: 0}
            _have(touch)
            start = time.perf_counter()
            ask(net, names[2], known)
            note("building", built)
            note(first, built + time.perf_counter() - start)
    for name, ask in QUESTIONS.items():
        for number in range(1 + rounds):
            known = {names[0]: number % 2, names[1]: number // 2 % 2, names[3]: 1}  # other findings each time
            gc.collect()
            _have(touch)
            start = time.perf_counter()
            ask(net, names[2], known)
            took = time.perf_counter() - start
            if number:  # the first makes a tree that the others find
                note(name, took)
    return found
