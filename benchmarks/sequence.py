"""Sequences of forests: the error of the published marginals of UAI beside the other engines, in seconds."""

from __future__ import annotations

import time
import warnings
from typing import Any

import pgm
from benchmarks import uai
from benchmarks.harness import Finding, Options, Report, Result
from benchmarks.loopy import error_of, published

ERRORS = "UAI, error of marginals"
SECONDS = 10.0
ENGINES: dict[str, Any] = {
    "clique-sequence": "clique-sequence",
    "clique-sequence, 2^8": pgm.engines.CliqueSequence(clique_bound=8),
    "loopy": "loopy",
    "bounds": pgm.engines.Bounds(ibound=4),
    "importance": pgm.engines.Importance(samples=20_000),
}


def run(report: Report, options: Options) -> None:
    """All problems; those that one forest holds are exact and not compared."""
    if not options.wants(ERRORS):
        return
    nearer: dict[str, list[bool]] = {name: [] for name in ENGINES if name.startswith("clique")}
    for path in uai.problems("MAR", options):
        if uai.name_of(path) in uai.UNSOUND:
            continue
        net = pgm.read(path)
        names = list(net.variables)
        given = {names[v]: net.variables[names[v]].states[code] for v, code in uai.evidence(path).items()}
        right, number, errors = published(path), {name: v for v, name in enumerate(names)}, {}
        for name, engine in ENGINES.items():
            start = time.perf_counter()
            try:
                with pgm.config(time_limit=SECONDS), warnings.catch_warnings():
                    warnings.simplefilter("ignore", pgm.ConvergenceWarning)
                    found = net.marginals(given, engine=engine)
            except pgm.PGMError as refused:
                report.add(Result(ERRORS, f"{uai.name_of(path)}, {name}", "pgm", note=type(refused).__name__))
                continue
            seconds = time.perf_counter() - start
            off = error_of({number[v]: p.values for v, p in found.items()}, right)
            if "one forest" not in found.report.advice:
                errors[name] = off
            case = f"{uai.name_of(path)}, {name}"
            report.add(Result(ERRORS, case, "pgm", seconds, figures={"error": off}))
        for name, won in nearer.items():
            if name in errors and "loopy" in errors:
                won.append(errors[name] < errors["loopy"])
    for name, won in nearer.items():
        what = f"{ERRORS}: {name} nearer than loopy"
        report.find(Finding(what, f"{sum(won)} of {len(won)}", "two thirds", 3 * sum(won) >= 2 * len(won)))
