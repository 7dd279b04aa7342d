"""The model-counting problems of UAI-2014: log10 Z against what was published, beside Ganak.

Each runs in a process of its own (`benchmarks.uai_worker`) that may take 60 s and 8 GB, reading not counted.
Ganak is `pip install pyganak`; where it is not found its column is left out.
"""

from __future__ import annotations

import importlib.util
import tempfile

from benchmarks import processes, uai
from benchmarks.harness import Finding, Options, Report, Result

COUNTING = "UAI, model counting"
SECONDS = 60.0
DIGITS = 1e-8  # of log10, of which ten decimals were published
WANTED = 9  # to be solved


def run(report: Report, options: Options) -> None:
    """Each problem by search, by auto under the same limit, and by Ganak."""
    paths = uai.problems("PR", options) if options.wants(COUNTING) else []
    sides = {"pgm": "count", "pgm, auto": "auto"}
    if importlib.util.find_spec("pyganak") is not None:
        sides["Ganak"] = "ganak"
    solved, wrong = dict.fromkeys(sides, 0), []
    for path in paths:
        right = uai.published(path, "PR")[0]
        seconds: dict[str, float] = {}
        for side, work in sides.items():
            with tempfile.TemporaryDirectory() as folder:
                found = processes.ask(
                    "benchmarks.uai_worker",
                    work,
                    path,
                    SECONDS,
                    uai.MEMORY,
                    folder,
                    seconds=SECONDS + uai.READING,
                )
            note = found.get("failed", "")
            if not note:
                seconds[side] = found["seconds"]
                if abs(found["log10"] - right) > DIGITS:
                    note = f"WRONG by {found['log10'] - right:.2g}"
                    wrong.append(f"{uai.name_of(path)} ({side})")
                else:
                    solved[side] += 1
            ratio = seconds[side] / seconds["pgm"] if side in seconds and "pgm" in seconds else None
            report.add(Result(COUNTING, uai.name_of(path), side, seconds.get(side), ratio, note))
    if paths:
        wanted = min(WANTED, len(paths))
        for side, number in solved.items():
            what = f"{COUNTING}: {side}, solved in {SECONDS:g} s, of {len(paths)}"
            ours = side.startswith("pgm")
            report.find(
                Finding(what, str(number), f"{wanted}" if ours else "-", not ours or number >= wanted)
            )
        report.find(Finding(f"{COUNTING}: wrong", ", ".join(wrong) or "none", "none", not wrong))
