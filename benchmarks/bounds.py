"""Bounds by weighted mini-buckets: the partition functions of UAI inside them, and their width by seconds."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import pgm
from benchmarks import uai
from benchmarks.harness import Finding, Options, Report, Result

WIDTH = "UAI, width of the bounds"
_IBOUNDS = (1, 2, 4, 8, 12)  # a larger one is not tried when one runs out of the seconds for an answer
_EXACT = "1 GB"


def log_z(net: Any, given: Mapping[str, Any], seconds: float) -> float | None:
    """The exact sum with the evidence, where it is had."""
    try:
        with pgm.config(memory_limit=_EXACT, time_limit=seconds):
            found = float(net.log_probability(given)) if given else 0.0
            return found + (net.log_partition() if isinstance(net, pgm.MarkovNetwork) else 0.0)
    except (pgm.TooLarge, pgm.OutOfTime):
        return None


def run(report: Report, options: Options) -> None:
    """All instances, with larger and larger tables: log Z and all marginals as intervals."""
    if not options.wants(WIDTH):
        return
    held, known = 0, 0
    for path in uai.problems("MAR", options):
        net = pgm.read(path)
        names = list(net.variables)
        codes = uai.evidence(path)
        given = {names[v]: net.variables[names[v]].states[code] for v, code in codes.items()}
        exact = log_z(net, given, options.seconds)
        for ibound in _IBOUNDS:
            start = time.perf_counter()
            try:
                with pgm.config(time_limit=options.seconds):
                    found = net.marginals(given, engine=pgm.engines.Bounds(ibound=ibound))
            except (pgm.TooLarge, pgm.OutOfTime):
                break
            seconds = time.perf_counter() - start
            low, high = found.report.log_bounds
            ends = found.report.intervals
            width = float((ends.high - ends.low).mean())
            case = (
                f"{uai.name_of(path)}, ibound={ibound}: log Z within {high - low:.3g}, marginals {width:.3g}"
            )
            report.add(Result(WIDTH, case, "pgm", seconds))
            if exact is not None:
                known += 1
                off = 1e-12 * abs(exact)  # of the exact engine itself
                held += low - off <= exact <= high + off
    report.find(Finding(f"{WIDTH}: exact log Z inside", f"{held} of {known}", "all", held == known))
