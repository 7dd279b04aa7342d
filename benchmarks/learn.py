"""Learning beside its peers: the parts that `python -m benchmarks learn` runs."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks import bridge, mixtures, parameters
from benchmarks.exact import Part, run_parts
from benchmarks.harness import Options, Report

PARTS: dict[str, Part] = {"parameters": parameters.run, "mixtures": mixtures.run, "bridge": bridge.run}


def run(parts: Sequence[str], options: Options) -> Report:
    """Run the parts asked for."""
    return run_parts(PARTS, parts, options)
