"""Inference that is not exact, beside its peers: the parts that `python -m benchmarks approximate` runs."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks import best, bounds, loopy, sampling, sequence, two_layers, uai, weighted_constraints
from benchmarks.exact import Part, run_parts
from benchmarks.harness import Options, Report

PARTS: dict[str, Part] = {
    "loopy": loopy.run,
    "bounds": bounds.run,
    "best": best.run,
    "sampling": sampling.run,
    "sequence": sequence.run,
    "two-layers": two_layers.run,
    "map": uai.run_maxima,
    "constraints": weighted_constraints.run,
}


def run(parts: Sequence[str], options: Options) -> Report:
    """Run the parts asked for."""
    return run_parts(PARTS, parts, options)
