"""Methods that are not graphical beside their peers: the parts that `python -m benchmarks families` runs."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks import methods, smoothing
from benchmarks.exact import Part, run_parts
from benchmarks.harness import Options, Report

PARTS: dict[str, Part] = {"smoothing": smoothing.run, "methods": methods.run}


def run(parts: Sequence[str], options: Options) -> Report:
    """Run the parts asked for."""
    return run_parts(PARTS, parts, options)
