"""Streams of many steps in little memory, and the first score of a process: each in a fresh process.

`python -m benchmarks.streams CASE STEPS` measures one: seconds, and its highest resident memory.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import processes
from benchmarks.harness import Finding, Options, Report, Result

_STEPS, _CHUNK = 10_000_000, 100_000
_MOST = 300e6  # bytes
_FIRST = 0.5  # seconds
MODELS = ("hidden Markov model", "linear dynamical system", "dynamic network")


def run(report: Report, options: Options) -> None:
    """A stream of each kind of model, in chunks; and the first score, with what it loads."""
    steps = _STEPS if max(options.sizes) >= 100_000 else 10_000
    for kind in MODELS:
        if not options.wants("stream"):
            break
        found = processes.ask("benchmarks.streams", kind, steps, seconds=600)
        said, bytes_ = f"stream of {steps:,} steps, {kind}", found.get("bytes")
        if bytes_ is None:
            report.find(Finding(said, str(found.get("failed")), f"{_MOST / 1e6:.0f} MB", False))
            continue
        report.add(Result("stream", f"{kind}, {steps:,} steps", "pgm", found["seconds"], 1.0))
        megabytes = f"{bytes_ / 1e6:.0f} MB"
        report.find(Finding(said, megabytes, f"{_MOST / 1e6:.0f} MB", bytes_ <= _MOST))
    if options.wants("first score"):
        took = min(
            processes.ask("benchmarks.streams", "first score", 1, seconds=60).get("seconds", np.inf)
            for _ in range(options.rounds)
        )
        report.add(Result("first score", "hidden Markov model", "pgm", took, 1.0))
        report.find(Finding("first score of a process", f"{took:.2f} s", f"{_FIRST:g} s", took <= _FIRST))


def _stream(kind: str) -> Any:
    """A stream, and what it takes as so many steps."""
    import pgm

    rng = np.random.default_rng(0)
    if kind == MODELS[0]:
        move = 0.9 * np.eye(4) + 0.025
        hmm = pgm.HMM(np.full(4, 0.25), move, pgm.Categorical(rng.dirichlet(np.ones(8), 4)))
        return hmm.stream(), lambda n: rng.integers(0, 8, n)
    if kind == MODELS[1]:
        lds = pgm.LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8)
        return lds.stream(), rng.standard_normal
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
    dbn.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
    return dbn.stream(), lambda n: {"wet": rng.random(n) < 0.5}


def _measure(kind: str, steps: int) -> dict[str, float]:
    start = time.perf_counter()
    if kind == "first score":
        import pgm

        coin = pgm.HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], pgm.Categorical([[0.5, 0.5], [0.9, 0.1]]))
        coin.score([0, 1, 1])
        return {"seconds": time.perf_counter() - start}
    stream, drawn = _stream(kind)
    for at in range(0, steps, _CHUNK):
        stream.push(drawn(min(_CHUNK, steps - at)))
    assert len(stream) == steps
    assert np.isfinite(stream.log_likelihood)
    return {"seconds": time.perf_counter() - start, "bytes": _peak()}


def _peak() -> float:
    """The highest resident memory of this program; that of getrusage begins with what its parent had."""
    status = Path("/proc/self/status").read_text()
    return 1024.0 * float(status.partition("VmHWM:")[2].split()[0])


if __name__ == "__main__":
    case, many = processes.arguments()
    processes.end_with(dict(_measure(case, int(many))))
