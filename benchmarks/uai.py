"""The problems of the UAI competitions: solved, refused, out of time or wrong; beside pyAgrum and toulbar2.

Each question runs in a process of its own (`benchmarks.uai_worker`) that may take 20 s and 8 GB for it, 60 s
for the most probable states, reading not counted. pyAgrum's inference for Markov networks is asked for all
posteriors, toulbar2 for the most probable states. Debian has it: `apt-get install toulbar2`, or without
rights `apt-get download toulbar2 libjemalloc2` and `dpkg -x` of both into a folder, with TOULBAR2 set to its
usr/bin/toulbar2 and LD_LIBRARY_PATH to its usr/lib/<machine>. Where it is not found its column is left out.
"""

from __future__ import annotations

import gzip
import math
import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import processes
from benchmarks.harness import SHARED, Finding, Options, Report, Result

UAI = SHARED / "uai"
MEMORY = 8 * processes.GB
READING = 60.0  # seconds that a process may take for imports and reading
# What was published for it leaves the findings out; tests/known/test_uai.py has it against brute force.
UNSOUND = {"relational_3"}
DIGITS = 1e-4  # of what was published
MAR, MAP = "UAI, marginals", "UAI, most probable states"
TOULBAR2 = "toulbar2"


# --- reading, apart from pgm --------------------------------------------------------------------------------


def problems(kind: str, options: Options) -> list[Path]:
    """The problems of one kind that were asked for."""
    found = sorted((UAI / kind).glob("*.uai.gz"))
    return [path for path in found if options.asked(name_of(path))]


def name_of(path: Path) -> str:
    """Without its endings."""
    return path.name.removesuffix(".uai.gz")


def factors(path: Path) -> tuple[list[int], list[tuple[list[int], np.ndarray]]]:
    """The number of states of each variable, and the tables: (scope, values)."""
    words = gzip.decompress(path.read_bytes()).decode().split()
    n = int(words[1])
    cards = [int(x) for x in words[2 : 2 + n]]
    at, scopes = 3 + n, []
    for _ in range(int(words[2 + n])):
        size = int(words[at])
        scopes.append([int(x) for x in words[at + 1 : at + 1 + size]])
        at += 1 + size
    tables = []
    for scope in scopes:
        size = int(words[at])
        values = np.array([float(x) for x in words[at + 1 : at + 1 + size]])
        tables.append((scope, values.reshape([cards[v] for v in scope])))
        at += 1 + size
    return cards, tables


def evidence(path: Path) -> dict[int, int]:
    """What was observed: the code of a state for each variable, by number."""
    numbers = [int(x) for x in path.with_name(f"{name_of(path)}.uai.evid").read_text().split()]
    if len(numbers) % 2 == 0:  # an older form says first how many sets there are
        numbers = numbers[1:]
    return dict(zip(numbers[1::2], numbers[2::2], strict=True))


def published(path: Path, kind: str) -> list[float]:
    """The numbers of the answer that comes with a problem."""
    words = path.with_name(f"{name_of(path)}.uai.{kind}").read_text().split()
    return [float(x) for x in words[words.index(kind) + 1 :]]


def log_value(tables: Sequence[tuple[list[int], np.ndarray]], codes: Sequence[int]) -> float:
    """The log of the product of all factors at one joint state."""
    with np.errstate(divide="ignore"):
        return math.fsum(float(np.log(values[tuple(codes[v] for v in scope)])) for scope, values in tables)


# --- marginals ----------------------------------------------------------------------------------------------


def run_marginals(report: Report, options: Options) -> None:
    """Every problem with published marginals, ours and pyAgrum's."""
    paths = problems("MAR", options) if options.wants(MAR) else []
    counts: dict[str, dict[str, int]] = {}
    wrong, apart = [], []
    for path in paths:
        answers: dict[str, dict[str, np.ndarray]] = {}
        seconds: dict[str, float] = {}
        for side in ("pgm", "pyAgrum"):
            with tempfile.TemporaryDirectory() as folder:
                found = processes.ask(
                    "benchmarks.uai_worker",
                    side,
                    path,
                    options.seconds,
                    MEMORY,
                    folder,
                    seconds=options.seconds + READING,
                )
                if "failed" not in found:
                    with np.load(Path(folder) / "answer.npz") as kept:
                        answers[side] = dict(kept)
            outcome = "solved" if side in answers else found["failed"]
            note = "" if side in answers else outcome
            if side in answers:
                seconds[side] = found["seconds"]
                off = distance(path, answers[side])
                if name_of(path) in UNSOUND:
                    note = "what was published leaves the findings out"
                elif off > DIGITS:
                    note, outcome = f"WRONG by {off:.2g}", "wrong"
                    if side == "pgm":
                        wrong.append(name_of(path))
            ratio = seconds[side] / seconds["pgm"] if side in seconds and "pgm" in seconds else None
            report.add(Result(MAR, name_of(path), side, seconds.get(side), ratio, note))
            kinds = counts.setdefault(side, {})
            kinds[outcome] = kinds.get(outcome, 0) + 1
        if len(answers) == 2 and all(np.isfinite(p).all() for p in answers["pyAgrum"].values()):
            off = max(
                (float(np.abs(values - answers["pyAgrum"][v]).max()) for v, values in answers["pgm"].items()),
                default=0.0,
            )
            if not off <= 1e-9:
                apart.append(f"{name_of(path)} {off:.1g}")
    if paths:
        _count(report, MAR, counts, len(paths), options.seconds)
        report.find(
            Finding(f"{MAR}: wrong against what was published", ", ".join(wrong) or "none", "none", not wrong)
        )
        report.find(
            Finding(
                f"{MAR}: ours and pyAgrum's differ by over 1e-9",
                ", ".join(apart) or "none",
                "none",
                not apart,
            )
        )


def distance(path: Path, answers: Mapping[str, np.ndarray]) -> float:
    """The largest difference from the published marginals of what was not observed."""
    numbers, at, worst = published(path, "MAR"), 1, 0.0
    for v in range(int(numbers[0])):
        card = int(numbers[at])
        expected = np.array(numbers[at + 1 : at + 1 + card])
        at += 1 + card
        if str(v) in answers:
            off = float(np.abs(answers[str(v)] - expected).max())
            worst = max(worst, off if off == off else math.inf)
    return worst


def _count(
    report: Report, race: str, counts: Mapping[str, Mapping[str, int]], of: int, seconds: float
) -> None:
    for side, kinds in counts.items():
        said = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items(), key=lambda p: -p[1]))
        what = f"{race}: {side}, in {seconds:g} s and 8 GB, of {of}"
        report.find(Finding(what, said, "-"))


# --- most probable states -----------------------------------------------------------------------------------


def run_maxima(report: Report, options: Options) -> None:
    """Every problem with a published most probable state, ours and toulbar2's."""
    paths = problems("MAP", options) if options.wants(MAP) else []
    solver = os.environ.get("TOULBAR2") or shutil.which("toulbar2")
    if paths and solver is None:
        print("toulbar2 is not installed: apt-get install toulbar2", flush=True)
    counts: dict[str, dict[str, int]] = {}
    wrong, below, near, proven, compared, provable = [], [], 0, 0, 0, 0
    for path in paths:
        _, tables = factors(path)
        known = log_value(tables, [int(x) for x in published(path, "MAP")[1:]])
        theirs = maximum_of_toulbar2(solver, path, options.maxima_seconds) if solver else None
        with tempfile.TemporaryDirectory() as folder:
            ours = processes.ask(
                "benchmarks.uai_worker",
                "map",
                path,
                options.maxima_seconds,
                MEMORY,
                folder,
                seconds=options.maxima_seconds + READING,
            )
        values: dict[str, float] = {}
        for side, found in (("pgm", ours), (TOULBAR2, theirs)):
            if found is None:
                continue
            outcome, note, figures = str(found.get("failed", "solved")), str(found.get("failed", "")), {}
            if "codes" in found:
                value = log_value(tables, found["codes"])
                close = 1e-9 * max(1.0, abs(known))
                figures = {"log value": value, "above published": value - known}
                if "failed" not in found:
                    if found.get("exact", True) is False:
                        outcome = note = "not proven"
                    elif value < known - close:
                        outcome = "wrong"
                        note = "WRONG: what was published is better"
                        wrong += [f"{name_of(path)}"] if side == "pgm" else []
                    if outcome != "not proven":
                        values[side] = value
            kinds = counts.setdefault(side, {})
            kinds[outcome] = kinds.get(outcome, 0) + 1
            both = side == TOULBAR2 and "seconds" in ours and "seconds" in found
            ratio = found["seconds"] / ours["seconds"] if both else None
            report.add(Result(MAP, name_of(path), side, found.get("seconds"), ratio, note, figures))
        if theirs is not None and "codes" in theirs and "codes" in ours:
            compared += 1
            best = log_value(tables, theirs["codes"])
            near += log_value(tables, ours["codes"]) >= best - 0.01 * abs(best)
            if "failed" not in theirs:
                provable += 1
                proven += ours.get("exact") is True
        bound, best = ours.get("bound"), known
        for found in (ours, theirs or {}):
            best = max(best, log_value(tables, found["codes"])) if "codes" in found else best
        if bound is not None and bound < best - 1e-9 * max(1.0, abs(best)):
            below.append(name_of(path))
        if len(values) == 2 and values["pgm"] < values[TOULBAR2] - 1e-6 * abs(known):  # it has seven digits
            wrong.append(f"{name_of(path)} (toulbar2 has a better one)")
    if paths:
        _count(report, MAP, counts, len(paths), options.maxima_seconds)
        if compared:
            what = f"{MAP}: log value within 1 % of toulbar2's, of {compared}"
            report.find(Finding(what, str(near), "90 %", near >= 0.9 * compared))
            what = f"{MAP}: proven, of {provable} that toulbar2 proves"
            report.find(Finding(what, str(proven), "60 %", proven >= 0.6 * provable))
        report.find(
            Finding(f"{MAP}: bounds below a known value", ", ".join(below) or "none", "none", not below)
        )
        report.find(
            Finding(f"{MAP}: claimed exact and beaten", ", ".join(wrong) or "none", "none", not wrong)
        )


def maximum_of_toulbar2(solver: str, path: Path, seconds: float) -> dict[str, Any]:
    """Seconds and codes, or why not; the best so far where time ran out."""

    def limits() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    with tempfile.TemporaryDirectory() as folder:
        problem, known, answer = (str(Path(folder) / f"p.{ending}") for ending in ("uai", "evid", "sol"))
        Path(problem).write_bytes(gzip.decompress(path.read_bytes()))
        given = evidence(path)
        Path(known).write_text(" ".join(map(str, [len(given), *(x for pair in given.items() for x in pair)])))
        command = [solver, problem, known, f"-timer={math.ceil(seconds)}", f"-w={answer}"]
        start = time.perf_counter()
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=seconds + 5, preexec_fn=limits, check=False
            )
            said = done.stdout
        except subprocess.TimeoutExpired as late:
            said = (late.stdout or b"").decode() if isinstance(late.stdout, bytes) else (late.stdout or "")
        took = time.perf_counter() - start
        found: dict[str, Any] = {"seconds": took}
        if Path(answer).exists() and (lines := Path(answer).read_text().strip().splitlines()):
            found["codes"] = [int(x) for x in lines[-1].split()]
        if "Optimum:" not in said or "codes" not in found:
            found = {
                "failed": "out of time" if took >= seconds else "failed",
                **{k: v for k, v in found.items() if k == "codes"},
            }
        return found
