"""This checkout beside another, an older one say: the same questions in turn, the same answers, the ratio.

`python -m benchmarks against ../before` starts a process in each checkout, checks that both give the same
answers, and times them in turn: what one run says of two versions, two runs an hour apart cannot.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT, Finding, Report, Result, geometric

WORKER = Path(__file__).with_name("against_worker.py")
SLOWER = 1.05  # the ratio of times from which on a kind of question or a network counts as slower
WITHIN = 1e-9  # how far apart sums over answers may be, relative to them


@dataclass(frozen=True)
class Options:
    """What was asked for on the command line."""

    other: str
    networks: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    rounds: int = 7
    seconds: float = 0.1  # a round of each question is repeated until it takes this long
    threads: int = 1


class Side:
    """A process that answers questions with the pgm of one checkout."""

    def __init__(self, root: Path, options: Options) -> None:
        environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONHASHSEED": "0"}
        command = [sys.executable, "-W", "ignore", str(WORKER), str(options.threads)]
        self._process = subprocess.Popen(
            command, cwd=root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, **question: Any) -> Any:
        """Send a question and wait for what comes back."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"a side ended with status {self._process.wait()}")
        return json.loads(line)

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def run(options: Options) -> Report:
    """Ask every kind of question of every network on both sides in turn."""
    report = Report()
    sides = {"this": Side(ROOT, options), "other": Side(Path(options.other).resolve(), options)}
    try:
        cases = sides["this"].ask(do="cases")
        for kind, network in cases:
            if options.kinds and not any(part in kind for part in options.kinds):
                continue
            if options.networks and network not in options.networks:
                continue
            _compete(report, sides, kind, network, options)
    finally:
        for side in sides.values():
            side.end()
    _conclude(report)
    return report


def _compete(report: Report, sides: dict[str, Side], kind: str, network: str, options: Options) -> None:
    first = {
        name: side.ask(do="prepare", kind=kind, network=network, seconds=options.seconds)
        for name, side in sides.items()
    }
    if any("refused" in found for found in first.values()):
        note = "; ".join(f"{name}: {found['refused']}" for name, found in first.items() if "refused" in found)
        report.add(Result(kind, network, "this", None, None, note))
        return
    count = min(found["count"] for found in first.values())
    sums = [found["sum"] for found in first.values()]
    alike = len({found["count"] for found in first.values()}) == 1
    if alike and not math.isclose(*sums, rel_tol=WITHIN, abs_tol=WITHIN):
        raise AssertionError(f"{kind} of {network}: the answers differ, {sums[0]!r} and {sums[1]!r}")
    repeats = max(found["repeats"] for found in first.values())
    best = dict.fromkeys(sides, math.inf)
    rounds = options.rounds if repeats > 1 else 3
    for number in range(rounds):
        for name in sorted(sides, reverse=number % 2 == 1):
            best[name] = min(best[name], sides[name].ask(do="time", repeats=repeats, count=count))
    report.add(Result(kind, network, "other", best["other"]))
    report.add(Result(kind, network, "this", best["this"], best["other"] / best["this"]))


def _conclude(report: Report) -> None:
    for what in ("race", "case"):
        ratios: dict[str, list[float]] = {}
        for result in report.results:
            if result.ratio is not None:
                ratios.setdefault(getattr(result, what), []).append(1.0 / result.ratio)
        for name, found in ratios.items():
            mean = geometric(found)
            said = f"{mean:.3f} ({len(found)} figures, {min(found):.2f} to {max(found):.2f})"
            report.find(Finding(f"time beside the other: {name}", said, f"{SLOWER} at most", mean <= SLOWER))
    every = [1.0 / result.ratio for result in report.results if result.ratio is not None]
    if every:
        report.find(Finding("time beside the other: all", f"{geometric(every):.3f}", "1 at most", None))
