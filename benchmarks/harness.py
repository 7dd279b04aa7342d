"""Races: both sides agree first, then they are timed in turn; what comes out is printed and kept."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import pgm

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
NETWORKS = SHARED / "networks"
PYAGRUM = "pyAgrum, 1 thread"
LONG_ENOUGH = 0.1  # a round of a quick task is repeated until it takes this many seconds
WARM_UP = 0.5
AGREEING = 20.0  # seconds for comparing answers; the first questions are compared in any case
SLOW = 5.0  # a round that takes longer is run twice only
NO_MEMORY = 60.0  # seconds that a run of the peer counts which fails for want of memory
ROUND = 10.0  # what a round may take: of slow questions it asks fewer

# For either side of a race, a function that answers the question of one number.
Side = Callable[[int], Any]


@dataclass(frozen=True)
class Options:
    """What was asked for on the command line."""

    networks: tuple[str, ...] = ()  # none: all
    races: tuple[str, ...] = ()  # parts of names; none: all
    rounds: int = 5
    threads: int = 1  # of ours, where a race does not say it
    seconds: float = 20.0  # for each of the UAI problems
    maxima_seconds: float = 60.0  # the same, where the most probable states are asked
    sizes: tuple[int, ...] = (10_000, 100_000, 1_000_000)  # in the races on growth
    rows: int = 100_000
    peer_rows: int = 300
    targets: int = 10  # of classified rows

    def asked(self, name: str) -> bool:
        """Say whether this network takes part."""
        return not self.networks or name in self.networks

    def wants(self, race: str) -> bool:
        """Say whether this race is run."""
        return not self.races or any(part in race for part in self.races)


@dataclass
class Result:
    """One side of one race, or one measurement; `ratio` is the peer's time divided by ours."""

    race: str
    case: str
    side: str
    seconds: float | None = None
    ratio: float | None = None
    note: str = ""
    figures: dict[str, float] = field(default_factory=dict)  # further numbers, by name


@dataclass
class Finding:
    """What the summary says of one number: what was found, what was wanted, whether it was reached."""

    what: str
    found: str
    wanted: str
    met: bool | None = None  # None: nothing was wanted, or nothing measured


class Report:
    """Results are printed as they come; findings at the end."""

    def __init__(self) -> None:
        self.results: list[Result] = []
        self.findings: list[Finding] = []
        self.start = time.perf_counter()

    def add(self, result: Result) -> None:
        if not self.results:
            print(f"{'race':<36} {'case':<22} {'side':<20} {'seconds':>12} {'peer / pgm':>11}")
        self.results.append(result)
        seconds = f"{result.seconds:12.6f}" if result.seconds is not None else f"{'-':>12}"
        ratio = f"{result.ratio:11.2f}" if result.ratio is not None else f"{'':>11}"
        figures = ", ".join(f"{name} {number:.4g}" for name, number in result.figures.items())
        note = "; ".join(part for part in (figures, result.note) if part)
        line = f"{result.race:<36} {result.case:<22} {result.side:<20} {seconds} {ratio} {note}"
        print(line.rstrip(), flush=True)

    def find(self, finding: Finding) -> None:
        self.findings.append(finding)
        mark = {True: "reached", False: "MISSED", None: ""}[finding.met]
        print(f"  => {finding.what}: {finding.found} (wanted: {finding.wanted}) {mark}".rstrip(), flush=True)

    def of(self, race: str, side: str) -> dict[str, Result]:
        """The results of one side of one race, by case."""
        return {r.case: r for r in self.results if r.race == race and r.side == side}


def load_loops() -> None:
    """Ask of everything once, so that no race waits for loops and modules to be loaded."""
    small = pgm.MarkovNetwork.grid(
        np.zeros((3, 3), int), states=[0, 1], coupling=0.3, unary=[[0.6, 0.4], [0.3, 0.7]]
    )
    known = {"pixel[0,0]": 1}
    small.marginals(known)
    small.query("pixel[2,2]", known)
    small.log_probability(known)
    small.map(known)


# --- agreeing and timing ------------------------------------------------------------------------------------


def assert_close(ours: Mapping[str, Any], theirs: Mapping[str, Any], within: float = 1e-9) -> None:
    """A race that disagrees has no winner."""
    if set(ours) != set(theirs):
        raise AssertionError(f"only one side answered {sorted(set(ours) ^ set(theirs))[:5]}")
    for name, values in ours.items():
        off = np.abs(np.asarray(values) - np.asarray(theirs[name])).max()
        if not off <= within:
            raise AssertionError(f"the answers for {name!r} differ by {off}")


def timed(side: Side, number: int) -> tuple[float, Any]:
    """Seconds for one question, and its answer."""
    start = time.perf_counter()
    answer = side(number)
    return time.perf_counter() - start, answer


def duel(
    sides: Mapping[str, Side], first: Mapping[str, float], questions: int, rounds: int
) -> dict[str, float]:
    """Seconds for one question of each side: the best of several rounds, which the sides run in turn.

    Args:
        sides: by label.
        first: what a question took when it was asked for the first time.
        questions: how many different ones a round asks, each in turn.
        rounds: how many; two where a round takes over five seconds.
    """
    passes = dict.fromkeys(sides, 1)
    for label, side in sides.items():
        if first[label] < WARM_UP:  # what loads or compiles in the background has time to
            start, done = time.perf_counter(), 0
            while time.perf_counter() - start < WARM_UP:
                side(done % questions)
                done += 1
            took = (time.perf_counter() - start) / done * questions
            passes[label] = max(1, min(1000, int(LONG_ENOUGH / max(took, 1e-6)) + 1))
    best = dict.fromkeys(sides, math.inf)
    longest = dict.fromkeys(sides, 0.0)
    for number in range(rounds):
        for label, side in sides.items():
            if number >= 2 and longest[label] > SLOW:
                continue
            gc.collect()
            start = time.perf_counter()
            for _ in range(passes[label]):
                for question in range(questions):
                    side(question)
            took = time.perf_counter() - start
            longest[label] = max(longest[label], took)
            best[label] = min(best[label], took / (passes[label] * questions))
    return best


def compete(
    report: Report,
    race: str,
    case: str,
    ours: Side,
    theirs: Side,
    *,
    questions: int,
    rounds: int,
    least: int = 2,
    compare: Callable[[Any, Any], None] = assert_close,
    label: str = PYAGRUM,
    figures: Mapping[str, float] | None = None,
) -> None:
    """One race: the answers are compared, then both are timed over the same questions.

    What a question took us when it was new (no tree of it kept) is noted as `new`: later rounds find trees.
    A peer that fails is a note; one that answers otherwise is an error.
    """
    news, others = [], []
    start = time.perf_counter()
    for number in range(questions):
        took, mine = timed(ours, number)
        news.append(took)
        try:
            took, other = timed(theirs, number)
        except Exception as trouble:
            said = str(trouble) or type(trouble).__name__
            if isinstance(trouble, MemoryError) or "bad_alloc" in said:
                note = f"out of memory; counted as {NO_MEMORY:g} s"
                assume(report, race, case, ours, NO_MEMORY, note, rounds, figures or {}, label)
            else:
                report.add(Result(race, case, label, note=said))
            return
        others.append(took)
        compare(mine, other)
        if time.perf_counter() - start > AGREEING and number + 1 >= least:
            break
    first = {"pgm": float(np.mean(news)), label: float(np.mean(others))}
    asked = max(least, min(questions, int(ROUND / max(*first.values(), 1e-9))))
    found = duel({"pgm": ours, label: theirs}, first, asked, rounds)
    numbers = {**(figures or {}), "questions": float(asked)}
    new = {"new": float(np.median(news[1:]))} if len(news) > 1 else {}  # the first makes more than a tree
    report.add(Result(race, case, "pgm", found["pgm"], 1.0, figures={**numbers, **new}))
    report.add(Result(race, case, label, found[label], found[label] / found["pgm"], figures=numbers))


def assume(
    report: Report,
    race: str,
    case: str,
    ours: Side,
    seconds: float,
    note: str,
    rounds: int,
    figures: Mapping[str, float],
    label: str = PYAGRUM,
) -> None:
    """Time our side alone, on its first question; the peer fails and counts as so many seconds."""
    first, _ = timed(ours, 0)
    found = duel({"pgm": ours}, {"pgm": first}, 1, rounds)["pgm"]
    report.add(Result(race, case, "pgm", found, 1.0, figures=dict(figures)))
    report.add(Result(race, case, label, seconds, seconds / found, note, dict(figures)))


def geometric(ratios: Sequence[float]) -> float:
    """The geometric mean."""
    return math.exp(math.fsum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def conclude(
    report: Report, race: str, wanted: float | None, label: str = PYAGRUM, *, least_nodes: int = 20
) -> None:
    """The geometric mean over the larger networks, the lowest ratio, and where the peer was quicker."""
    found = {case: r for case, r in report.of(race, label).items() if r.ratio is not None}
    large = {
        c: r.ratio for c, r in found.items() if r.figures.get("nodes", math.inf) >= least_nodes and r.ratio
    }
    if large:
        mean = geometric(list(large.values()))
        low = min(large, key=large.__getitem__)
        report.find(
            Finding(
                f"{race}: geometric mean over {len(large)} networks of {least_nodes} nodes or more",
                f"{mean:.1f} (lowest {large[low]:.1f}, {low})",
                f"at least {wanted:g}" if wanted else "-",
                mean >= wanted if wanted else None,
            )
        )
    news = [
        r.seconds / ours.figures["new"]
        for case, r in found.items()
        if case in large
        and r.seconds
        and (ours := report.of(race, "pgm").get(case))
        and "new" in ours.figures
    ]
    if news:
        what = f"{race}: geometric mean where each set is new to us, no tree of it kept"
        report.find(Finding(what, f"{geometric(news):.1f} (lowest {min(news):.1f})", "-"))
    if found:
        slower = [
            f"{case} {r.ratio:.2f}" for case, r in found.items() if r.ratio is not None and r.ratio < 1.0
        ]
        report.find(Finding(f"{race}: slower than the peer", ", ".join(slower) or "none", "none", not slower))


def networks(options: Options) -> Iterator[tuple[str, pgm.BayesianNetwork]]:
    """The networks that were asked for, from small files to large ones."""
    for path in sorted(NETWORKS.glob("*.bif.gz"), key=lambda p: (p.stat().st_size, p.name)):
        name = path.name.removesuffix(".bif.gz")
        if options.asked(name):
            net = pgm.read(path)
            assert isinstance(net, pgm.BayesianNetwork)
            yield name, net
