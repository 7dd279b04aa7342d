"""What a question costs right after `net.set`, beside the same question without a change."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import pgm
from benchmarks.harness import Finding, Options, Report, Result, networks

RACE = "questions after a set"
CASES = ("asia", "alarm", "hailfinder", "munin2")
WANTED = 1.5
_MOST_ENTRIES = 5_000  # of a table that is replaced
_TIMES, _SECONDS = 300, 5.0  # of each question, whichever comes first


def _ratio(net: pgm.BayesianNetwork, ask: Callable[[], Any]) -> tuple[float, float]:
    """Median seconds of a question without a change and after one, in turn; tables keep their zeros."""
    rng = np.random.default_rng(0)
    tables = {
        name: net.cpd(name).values for name in list(net)[:200] if isinstance(net.cpd(name), pgm.TableCPD)
    }
    names = [name for name, table in tables.items() if table.size <= _MOST_ENTRIES]
    for _ in range(3):
        ask()
    without, after = [], []
    end = time.perf_counter() + _SECONDS
    for i in range(_TIMES):
        start = time.perf_counter()
        ask()
        without.append(time.perf_counter() - start)
        table = tables[names[i % len(names)]] * rng.uniform(0.5, 2.0, tables[names[i % len(names)]].shape)
        net.set(names[i % len(names)], table / table.sum(axis=-1, keepdims=True))
        start = time.perf_counter()
        ask()
        after.append(time.perf_counter() - start)
        if time.perf_counter() > end:
            break
    return statistics.median(without), statistics.median(after)


def run(report: Report, options: Options) -> None:
    """All marginals, rows of a frame with a third of the columns, expected statistics."""
    for case, net in networks(options):
        if case not in CASES or not options.wants(RACE):
            continue
        names = list(net.variables)
        frame = {name: column[:100] for name, column in net.sample(100, seed=0).items() if name in names[::3]}
        known = {name: column[0] for name, column in frame.items()}
        for what, ask in (
            ("marginals", net.marginals),
            ("log-likelihoods of rows", lambda net=net, frame=frame: net.log_likelihood(frame)),
            ("expected statistics", lambda net=net, known=known: net.expected_counts(known)),
        ):
            without, after = _ratio(net, ask)
            report.add(Result(RACE, case, f"{what}, without", without))
            report.add(Result(RACE, case, f"{what}, after a set", after, ratio=after / without))
            found = f"{after / without:.2f} times"
            report.find(
                Finding(
                    f"{what} on {case} after a set", found, f"at most {WANTED}", after <= WANTED * without
                )
            )
