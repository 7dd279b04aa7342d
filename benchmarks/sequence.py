"""Sequences of forests: the error of the published marginals of UAI beside the other engines, in seconds."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import pgm
from benchmarks import uai
from benchmarks.harness import Finding, Options, Report, Result

ERRORS = "UAI, error of marginals"
SECONDS = 10.0
ENGINES: dict[str, Any] = {
    "clique-sequence": "clique-sequence",
    "clique-sequence, 2^8": pgm.engines.CliqueSequence(clique_bound=8),
    "loopy": "loopy",
    "bounds": pgm.engines.Bounds(ibound=4),
    "importance": pgm.engines.Importance(samples=20_000),
}


def published(path: Path, names: list[str]) -> dict[str, np.ndarray]:
    """The answers that come with a problem."""
    numbers = uai.published(path, "MAR")
    found, at = {}, 1
    for name in names:
        size = int(numbers[at])
        found[name] = np.array(numbers[at + 1 : at + 1 + size])
        at += 1 + size
    return found


def error(found: Mapping[str, Any], right: Mapping[str, np.ndarray]) -> float:
    """The mean over all states of all variables that are not observed."""
    return float(np.concatenate([np.abs(p.values - right[name]) for name, p in found.items()]).mean())


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
        right, errors = published(path, names), {}
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
            off = error(found, right)
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
