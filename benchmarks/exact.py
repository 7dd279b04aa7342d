"""Exact inference beside its peers: the parts that `python -m benchmarks exact` runs, in this order."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import pgm
from benchmarks import (
    counting,
    growth,
    insight,
    memory,
    networks,
    other_values,
    overhead,
    random_networks,
    reading,
    rows,
    uai,
)
from benchmarks.harness import Options, Report, load_loops
from benchmarks.peers import NotInstalled

Part = Callable[[Report, Options], None]

PARTS: dict[str, Part] = {
    "networks": networks.run,
    "pgmpy": networks.beside_pgmpy,
    "overhead": overhead.run,
    "other_values": other_values.run,
    "rows": rows.run,
    "reading": reading.run,
    "stand-ins": random_networks.run,
    "memory": memory.run,
    "growth": growth.run,
    "mar": uai.run_marginals,
    "counting": counting.run,
    "insight": insight.run,
}


def run(parts: Sequence[str], options: Options) -> Report:
    """Run the parts asked for."""
    return run_parts(PARTS, parts, options)


def run_parts(known: Mapping[str, Part], parts: Sequence[str], options: Options) -> Report:
    """Run some parts, or all; what is not installed is left out and said."""
    report = Report()
    load_loops()
    with pgm.config(threads=options.threads):
        for name in parts or known:
            start = time.perf_counter()
            try:
                known[name](report, options)
            except NotInstalled as missing:
                print(f"{name}: {missing}", flush=True)
            print(f"  -- {name}: {time.perf_counter() - start:.0f} s", flush=True)
    return report
