"""Races: both sides agree first, then each is timed, best of several rounds; ratios are kept."""

from __future__ import annotations

import gc
import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import pgm

NETWORKS = Path(__file__).resolve().parents[2] / "shared" / "networks"
RESULTS = Path(__file__).with_name("results")
LONG_ENOUGH = 0.2  # a round of a quick task is repeated until it takes this many seconds
WARM_UP = 1.0

# What a race hands over: for either side, a function that answers the question of one number.
Side = Callable[[int], Any]


@dataclass
class Result:
    """One side of one race; `ratio` is the peer's time divided by ours."""

    race: str
    case: str
    side: str
    seconds: float
    ratio: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Race:
    name: str
    cases: tuple[str, ...]
    peers: tuple[str, ...]
    enter: Callable[[pgm.BayesianNetwork, Any], tuple[Side, Side]]
    questions: int = 10  # how many different questions a round asks
    skip: dict[tuple[str, str], str] = field(default_factory=dict)  # (case, peer): why not


def race(
    name: str,
    *cases: str,
    peers: Sequence[str] = ("pyagrum", "pgmpy"),
    questions: int = 10,
    skip: dict[tuple[str, str], str] | None = None,
) -> Callable[[Callable[..., tuple[Side, Side]]], Race]:
    """Make a race of a function of (our network, the peer) that checks and hands over both sides."""

    def make(enter: Callable[..., tuple[Side, Side]]) -> Race:
        return Race(name, cases, tuple(peers), enter, questions, skip or {})

    return make


def assert_close(ours: dict[str, Any], theirs: dict[str, Any], within: float = 1e-9) -> None:
    """A race that disagrees has no winner."""
    if set(ours) != set(theirs):
        raise AssertionError(f"only one side answered {sorted(set(ours) ^ set(theirs))[:5]}")
    for name, values in ours.items():
        off = np.abs(np.asarray(values) - np.asarray(theirs[name])).max()
        if not off <= within:
            raise AssertionError(f"the answers for {name!r} differ by {off}")


def best(side: Side, questions: int, rounds: int) -> float:
    """Seconds for one question: the best of several rounds, each of which asks them all in turn."""
    start = time.perf_counter()
    while time.perf_counter() - start < WARM_UP:  # what loads or compiles in the background has time to
        side(0)
    seconds = np.inf
    passes = 1
    for _ in range(rounds):
        gc.collect()
        start = time.perf_counter()
        for number in range(passes * questions):
            side(number % questions)
        took = time.perf_counter() - start
        seconds = min(seconds, took / (passes * questions))
        if took < LONG_ENOUGH:
            passes = min(1000, int(passes * LONG_ENOUGH / max(took, 1e-4)) + 1)
        if took > 20:
            break
    return float(seconds)


class Results(list[Result]):
    """Printed as they come."""

    def append(self, result: Result) -> None:
        if not self:
            print(f"{'race':<34} {'network':<24} {'side':<22} {'seconds':>12} {'peer / pgm':>11}")
        super().append(result)
        seconds = f"{result.seconds:12.6f}" if np.isfinite(result.seconds) else f"{'-':>12}"
        ratio = f"{result.ratio:11.2f}" if result.ratio is not None else f"{'':>11}"
        line = f"{result.race:<34} {result.case:<24} {result.side:<22} {seconds} {ratio} {result.note}"
        print(line.rstrip(), flush=True)


def run(races: Iterable[Race], networks: Sequence[str], names: Sequence[str], rounds: int) -> Results:
    """Run the races asked for; a peer that is not there or gives up is a note, not a number."""
    results = Results()
    for contest in races:
        if names and not any(part in contest.name for part in names):
            continue
        for case in contest.cases:
            if networks and case not in networks:
                continue
            path = NETWORKS / f"{case}.bif.gz"
            if path.exists():
                compete(contest, case, pgm.read(path), rounds, results)
            else:
                results.append(Result(contest.name, case, "-", np.nan, note="network not found"))
    return results


def compete(contest: Race, case: str, net: pgm.BayesianNetwork, rounds: int, results: Results) -> None:
    """One race on one network: ours, then each peer in each of its settings."""
    from benchmarks import peers

    ours: float | None = None
    for peer in contest.peers:
        if (case, peer) in contest.skip:
            results.append(Result(contest.name, case, peer, np.nan, note=contest.skip[case, peer]))
            continue
        for label, make in peers.versions(peer):
            try:
                mine, theirs = contest.enter(net, make(net))
            except AssertionError:
                raise
            except Exception as trouble:
                note = str(trouble) or type(trouble).__name__
                results.append(Result(contest.name, case, label, np.nan, note=note))
                continue
            if ours is None:
                ours = best(mine, contest.questions, rounds)
                results.append(Result(contest.name, case, "pgm", ours, 1.0))
            seconds = best(theirs, contest.questions, rounds)
            results.append(Result(contest.name, case, label, seconds, seconds / ours))


def processor() -> str:
    """What the machine calls its processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    """Of Python and of everything that took part, where installed."""
    found = {"python": platform.python_version(), "pgm": pgm.__version__}
    for package in ("numpy", "numba", "networkx", "pyagrum", "pgmpy"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def keep(command: str, results: Sequence[Result]) -> str:
    """Write the results with the machine beside them; returns the name of the file."""
    now = datetime.now(UTC)
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{command}-{now:%Y%m%d-%H%M%S}.json"
    content = {
        "command": command,
        "date": f"{now:%Y-%m-%d %H:%M} UTC",
        "processor": processor(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "versions": versions(),
        "results": [{k: v for k, v in asdict(r).items() if v == v} for r in results],
    }
    path.write_text(json.dumps(content, indent=1) + "\n")
    return f"benchmarks/results/{path.name}"
