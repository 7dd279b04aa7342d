"""Models over time beside their peers: the parts that `python -m benchmarks time` runs."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks import dynamic, hidden_markov, kalman, streams
from benchmarks.exact import Part, run_parts
from benchmarks.harness import Options, Report

PARTS: dict[str, Part] = {
    "hmm": hidden_markov.run,
    "kalman": kalman.run,
    "dynamic": dynamic.run,
    "streams": streams.run,
}


def run(parts: Sequence[str], options: Options) -> Report:
    """Run the parts asked for."""
    return run_parts(PARTS, parts, options)
