"""`pgm.engines.Best(seconds=10)` on the marginals of UAI: exact where the plan fits, else beside loopy alone.

With the memory there is nearly all fit; with little of it many do not, so that there is something to compare.
"""

from __future__ import annotations

import time
import warnings

import numpy as np

import pgm
from benchmarks import uai
from benchmarks.harness import Finding, Options, Report, Result
from benchmarks.loopy import error_of, published

BEST = "UAI, the best in 10 s"
LIMITS = ("8 GB", "60 MB")
SECONDS = 10.0


def run(report: Report, options: Options) -> None:
    """Each instance under each limit."""
    if not options.wants(BEST):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pgm.ConvergenceWarning)
        for limit in LIMITS:
            under(report, options, limit)


def under(report: Report, options: Options, limit: str) -> None:
    """All instances with so much memory."""
    exact, nearer, others, late = 0, 0, [], []
    for path in uai.problems("MAR", options):
        name = uai.name_of(path)
        if name in uai.UNSOUND:
            continue
        net = pgm.read(path)
        names = list(net.variables)
        codes = uai.evidence(path)
        given = {names[v]: net.variables[names[v]].states[code] for v, code in codes.items()}
        right, number = published(path), {name: v for v, name in enumerate(names)}
        with pgm.config(memory_limit=limit):
            begin = time.perf_counter()
            try:
                found = net.marginals(given, engine=pgm.engines.Best(seconds=SECONDS))
            except pgm.TooLarge:
                report.add(Result(BEST, f"{name}, {limit}", "pgm", note="refused"))
                continue
            seconds = time.perf_counter() - begin
            error = error_of({number[v]: p.values for v, p in found.items()}, right)
            case = f"{name}, {limit}"
            if seconds > 1.5 * SECONDS:
                late.append(f"{case} {seconds:.0f} s")
            if found.report.exact:
                exact += 1
                report.add(Result(BEST, case, "pgm, exact", seconds, figures={"error": error}))
                continue
            report.add(Result(BEST, case, found.report.advice, seconds, figures={"error": error}))
            try:
                with pgm.config(time_limit=SECONDS):
                    begin = time.perf_counter()
                    loopy = net.marginals(given, engine="loopy")
            except pgm.PGMError as refused:
                report.add(Result(BEST, case, "loopy", note=type(refused).__name__))
                others.append(name)
                nearer += 1
                continue
            alone = error_of({number[v]: p.values for v, p in loopy.items()}, right)
            took = time.perf_counter() - begin
            report.add(Result(BEST, case, "loopy", took, figures={"error": alone}))
            others.append(f"{name} {error:.2g} for {alone:.2g}")
            nearer += error < alone
    share = nearer / len(others) if others else np.nan
    report.find(Finding(f"{BEST}, {limit}: exact", f"{exact} of {exact + len(others)}", "-"))
    found_ = f"{nearer} of {len(others)}: {', '.join(others)}" if others else "nothing was left"
    what = f"{BEST}, {limit}: error below loopy's where it is not exact"
    report.find(Finding(what, found_, "at least two thirds", not others or share >= 2 / 3))
    report.find(Finding(f"{BEST}, {limit}: over its time", ", ".join(late) or "none", "none", not late))
