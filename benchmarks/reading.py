"""Reading a large BIF file and its first answer, together: in one process, and from the start of Python."""

from __future__ import annotations

import gzip
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import pgm
from benchmarks import peers
from benchmarks.harness import (
    NETWORKS,
    PYAGRUM,
    ROOT,
    Finding,
    Options,
    Report,
    Result,
    assert_close,
    compete,
)
from benchmarks.networks import evidence_sets, read

CASE = "munin"
RACE = "reading and the first answer"
# pyAgrum takes the rows of a file as they are, ours are divided by their sum: the file has six digits.
WITHIN = 1e-6

OURS = """
import time, sys
import pgm
start = time.perf_counter()
net = pgm.read({path!r})
answer = {{name: p.values for name, p in net.marginals().items()}}
print(time.perf_counter() - start)
"""
THEIRS = """
import time, sys
import pyagrum
start = time.perf_counter()
net = pyagrum.loadBN({path!r})
engine = pyagrum.LazyPropagation(net)
engine.setNumberOfThreads(1)
engine.makeInference()
answer = {{name: engine.posterior(name).toarray() for name in net.names()}}
print(time.perf_counter() - start)
"""


def run(report: Report, options: Options) -> None:
    """All posteriors of a file just read; one target with findings; the same in fresh processes."""
    packed = NETWORKS / f"{CASE}.bif.gz"
    if not (options.asked(CASE) and options.wants(RACE) and packed.exists()):
        return
    gum = peers.pyagrum()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / f"{CASE}.bif")
        Path(path).write_bytes(gzip.decompress(packed.read_bytes()))
        net = pgm.read(path)
        assert isinstance(net, pgm.BayesianNetwork)
        sets = evidence_sets(net, 0.1, 4)
        target = next(n for n in net.variables if all(n not in given for given in sets))
        words = [{name: str(state) for name, state in given.items()} for given in sets]

        def engine() -> Any:
            made = gum.LazyPropagation(gum.loadBN(path))
            made.setNumberOfThreads(1)
            return made

        def theirs_all(_: int) -> dict[str, np.ndarray]:
            made = engine()
            made.makeInference()
            return {name: made.posterior(name).toarray() for name in made.BN().names()}

        def theirs_one(number: int) -> dict[str, np.ndarray]:
            made = engine()
            made.eraseAllTargets()
            made.addTarget(target)
            made.setEvidence(words[number])
            made.makeInference()
            return {target: made.posterior(target).toarray()}

        def close(ours: Any, theirs: Any) -> None:
            assert_close(ours, theirs, WITHIN)

        compete(
            report,
            RACE,
            f"{CASE}, all posteriors",
            lambda _: read(pgm.read(path).marginals()),
            theirs_all,
            questions=1,
            least=1,
            rounds=options.rounds,
            compare=close,
        )
        compete(
            report,
            RACE,
            f"{CASE}, one target",
            lambda i: {target: pgm.read(path).query(target, sets[i]).values},
            theirs_one,
            questions=len(sets),
            rounds=options.rounds,
            compare=close,
        )
        _processes(report, path, options.rounds)
    slower = [
        f"{case} {r.ratio:.2f}"
        for case, r in report.of(RACE, PYAGRUM).items()
        if r.ratio is not None and r.ratio < 1.0
    ]
    report.find(
        Finding(f"{RACE}, {CASE}: slower than the peer", ", ".join(slower) or "none", "none", not slower)
    )


def _processes(report: Report, path: str, rounds: int) -> None:
    best = {}
    for label, script in (("pgm", OURS), (PYAGRUM, THEIRS)):
        whole, inside = np.inf, np.inf
        for _ in range(rounds + 1):  # the first one reads programs and caches from the disk
            start = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-c", script.format(path=path)],
                check=True,
                capture_output=True,
                text=True,
                cwd=ROOT,
            )
            whole = min(whole, time.perf_counter() - start)
            inside = min(inside, float(done.stdout))
        best[label] = whole, inside
    for at, case in enumerate((f"{CASE}, fresh process", f"{CASE}, the same less imports")):
        for label, times in best.items():
            report.add(Result(RACE, case, label, times[at], times[at] / best["pgm"][at]))
