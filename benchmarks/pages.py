"""What a run leaves behind: all results as JSON, and a page of markdown to paste from."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import pgm
from benchmarks import mutation
from benchmarks.harness import PYAGRUM, Options, Report
from pgm.runtime.loops import state

RESULTS = Path(__file__).with_name("results")


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
    form, variant, _ = state()
    loops = f"{form} for {variant}" if variant else form
    found = {"python": platform.python_version(), "pgm": pgm.__version__, "its loops": loops}
    for package in (
        "numpy",
        "networkx",
        "pandas",
        "pyagrum",
        "pgmpy",
        "pyGMs",
        "pgmax",
        "statsmodels",
        "pykalman",
        "simdkalman",
    ):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def surroundings() -> dict[str, str]:
    """The settings of memory and of pgm that whoever started the run made."""
    kinds = ("MALLOC_", "PYTHONMALLOC", "PGM_")
    return {name: value for name, value in sorted(os.environ.items()) if name.startswith(kinds)}


def keep(command: str, report: Report, options: Options | mutation.Options | None = None) -> str:
    """Write the results with the machine beside them, as JSON and as a page; returns the names."""
    now = datetime.now(UTC)
    RESULTS.mkdir(exist_ok=True)
    stem = f"{command}-{now:%Y%m%d-%H%M%S}"
    content = {
        "command": command,
        "date": f"{now:%Y-%m-%d %H:%M} UTC",
        "seconds": round(time.perf_counter() - report.start),
        "processor": processor(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "versions": versions(),
        "environment": surroundings(),
        "options": asdict(options) if options else None,
        "findings": [asdict(f) for f in report.findings],
        "results": [{k: v for k, v in asdict(r).items() if v not in (None, "", {})} for r in report.results],
    }
    (RESULTS / f"{stem}.json").write_text(json.dumps(content, indent=1) + "\n")
    (RESULTS / f"{stem}.md").write_text(page(content, report))
    return f"benchmarks/results/{stem}.json and .md"


def page(content: Mapping[str, Any], report: Report) -> str:
    """The findings and a table for each race, in markdown."""
    named = ", ".join(f"{name} {number}" for name, number in content["versions"].items())
    named += "".join(f", {name}={value}" for name, value in content["environment"].items())
    lines = [
        f"`python -m benchmarks {content['command']}`, {content['date']}, {content['processor']}, "
        f"{content['cores']} cores, load at the end {content['load']}; {named}.",
        "",
    ]
    if report.findings:
        lines += ["| number | found | wanted | reached |", "| --- | --- | --- | --- |"]
        yes = {True: "yes", False: "**no**", None: ""}
        lines += [f"| {f.what} | {f.found} | {f.wanted} | {yes[f.met]} |" for f in report.findings]
        lines.append("")
    paired: dict[tuple[str, ...], list[str]] = {}  # races over the same cases share a table
    for race in dict.fromkeys(r.race for r in report.results):
        if cases := tuple(report.of(race, PYAGRUM)):
            paired.setdefault(cases, []).append(race)
        else:
            lines += single(report, race)
    for cases, races in paired.items():
        lines += overview(report, cases, races)
    return "\n".join(lines)


def overview(report: Report, cases: Sequence[str], races: Sequence[str]) -> list[str]:
    """One table of several races beside pyAgrum: what we took, and how many times as long it took."""
    lines = [
        "Time of pgm, and in brackets that of pyAgrum (one thread) divided by it:",
        "",
        f"| | {' | '.join(races)} |",
        "| --- |" + " --- |" * len(races),
    ]
    for case in cases:
        cells = []
        for race in races:
            ours, theirs = report.of(race, "pgm").get(case), report.of(race, PYAGRUM)[case]
            ratio = f"{theirs.ratio:.3g}" if theirs.ratio is not None else theirs.note
            cells.append(f"{span(ours.seconds if ours else None)} ({ratio})")
        lines.append(f"| {case} | {' | '.join(cells)} |")
    return [*lines, ""]


def single(report: Report, race: str) -> list[str]:
    """The results of one race in full."""
    lines = [f"**{race}**", "", "| case | side | time | ratio | more |", "| --- | --- | --- | --- | --- |"]
    for r in report.results:
        if r.race == race:
            more = [f"{name} {number:.4g}" for name, number in r.figures.items()]
            more += [r.note] if r.note else []
            ratio = f"{r.ratio:.2f}" if r.ratio is not None else ""
            lines.append(f"| {r.case} | {r.side} | {span(r.seconds)} | {ratio} | {'; '.join(more)} |")
    return [*lines, ""]


def span(seconds: float | None) -> str:
    """A time with its unit."""
    if seconds is None:
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"
