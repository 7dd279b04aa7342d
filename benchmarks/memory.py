"""Peak memory beside what `net.plan` said, wherever that is above 100 MB: each in a fresh process.

`python -m benchmarks.memory CASE QUESTION` measures one: compiled code is loaded, the plan made, and then the
highest resident memory while the question runs is read, above what was resident before.
"""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import pgm
from benchmarks import processes
from benchmarks.harness import NETWORKS, Finding, Options, Report, Result, load_loops
from benchmarks.networks import evidence_sets
from benchmarks.random_networks import LARGE, MIDDLE, dense
from benchmarks.uai import UAI

RACE = "peak memory"
LEAST = 100e6
MOST = 6e9
SHARE = 0.15
# Questions: all marginals and one target, with nothing known and (of networks) with 10 % observed.
QUESTIONS = ("all", "all, 10 %", "one", "one, 10 %")
_TARGETS = 12  # the dearest of so many is asked for
_PROBLEMS = ("MAR", "MAP")


def load(case: str) -> tuple[Any, dict[str, Any]]:
    """A model by its name, and what was observed, if a file says so."""
    if case in MIDDLE or case in LARGE:
        return dense({**MIDDLE, **LARGE}[case]), {}
    if (path := NETWORKS / f"{case}.bif.gz").exists():
        return pgm.read(path), {}
    path = next(p for kind in _PROBLEMS if (p := UAI / kind / f"{case}.uai.gz").exists())
    net = pgm.read(path)
    return net, dict(pgm.read_evidence(Path(str(path).removesuffix(".gz") + ".evid"), net))


def cases(options: Options) -> Iterator[str]:
    """Everything that may be large."""
    for name in ("water", "diabetes", "munin", "munin2", "munin4", "link", *MIDDLE, *LARGE):
        if options.asked(name) and (
            name in MIDDLE or name in LARGE or (NETWORKS / f"{name}.bif.gz").exists()
        ):
            yield name
    for path in sorted((UAI / "MAR").glob("*.uai.gz")):
        if options.asked(name := path.name.removesuffix(".uai.gz")):
            yield name


def question_of(net: Any, given: dict[str, Any], question: str) -> tuple[str | None, dict[str, Any]]:
    """The target (None: all marginals) and what is known; of some targets the one with the largest plan."""
    known = dict(given)
    if question.endswith("10 %"):
        known = evidence_sets(net, 0.1, 1)[0]
    if question.startswith("all"):
        return None, known
    names = [name for name in net.variables if name not in known]
    tried = [names[i] for i in np.random.default_rng(3).permutation(len(names))[:_TARGETS]]
    sizes = {}
    for name in tried:
        plan = net.plan(name, known)
        sizes[name] = plan.bytes if plan.complete and plan.bytes < MOST else 0.0
    return max(sizes, key=sizes.__getitem__), known


def run(report: Report, options: Options) -> None:
    """Measure what is large enough."""
    if not options.wants(RACE):
        return
    off: dict[str, float] = {}
    for case in cases(options):
        with pgm.config(memory_limit=int(MOST)):
            net, given = load(case)
            for question in QUESTIONS:
                if question.endswith("10 %") and not isinstance(net, pgm.BayesianNetwork):
                    continue
                target, known = question_of(net, given, question)
                plan = net.plan(target, known)
                if not (plan.fits and plan.bytes > LEAST and plan.seconds < 60):
                    continue
                found = processes.ask("benchmarks.memory", case, question, seconds=300)
                label = f"{case}, {question}"
                if "failed" in found:
                    report.add(Result(RACE, label, "pgm", note=found["failed"]))
                    continue
                figures = {"MB": found["peak"] / 1e6, "planned": found["planned"] / 1e6}
                off[label] = found["peak"] / found["planned"]
                report.add(Result(RACE, label, "pgm", None, off[label], "ratio: peak / planned", figures))
    if off:
        worst = max(off, key=lambda label: abs(off[label] - 1.0))
        outside = [f"{label} {ratio:.2f}" for label, ratio in off.items() if abs(ratio - 1.0) > SHARE]
        said = f"furthest {off[worst]:.2f} ({worst}); outside: {', '.join(outside) or 'none'}"
        what = f"{RACE} / planned, {len(off)} questions above 100 MB"
        report.find(Finding(what, said, "0.85 to 1.15", not outside))


# --- in the process of its own ------------------------------------------------------------------------------


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    raise OSError(name)


def _forget_peak() -> Callable[[], int]:
    """Begin anew with the highest resident memory; returns what reads it."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        pass
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:  # not permitted: the highest of the whole process, right where nothing before was higher
        return lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return lambda: _status("VmHWM")


def main() -> None:
    case, question = processes.arguments()
    net, given = load(case)
    load_loops()
    with pgm.config(memory_limit=int(MOST)):
        target, known = question_of(net, given, question)
        planned = net.plan(target, known).bytes
        peak = _forget_peak()
        before = _status("VmRSS")
        answer = net.marginals(known) if target is None else net.query(target, known)
        used = peak() - before
    assert answer is not None
    processes.end_with({"peak": used, "planned": planned})


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    main()
