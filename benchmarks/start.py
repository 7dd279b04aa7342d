"""What a user waits for before the first answer: each measurement is a Python process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from benchmarks.harness import NETWORKS, ROOT, Report, Result

IMPORT = "import time; t = time.perf_counter(); import {what}; print(time.perf_counter() - t)"
WET_GRASS = """
import pgm
net = pgm.BayesianNetwork("wet grass")
net.add("cloudy", 0.5)
net.add("sprinkler", {True: 0.1, False: 0.5}, parents=["cloudy"])
net.add("rain", {True: 0.8, False: 0.1}, parents=["cloudy"])
net.add("wet", {(True, True): 0.95, (True, False): 0.90, (False, True): 0.90, (False, False): 0.10},
        parents=["rain", "sprinkler"])
assert abs(net.query("rain", {"wet": True})[True] - 0.6268714) < 1e-6
"""
ALARM = f"""
import pgm
net = pgm.read({str(NETWORKS / "alarm.bif.gz")!r})
assert len([d.values for d in net.marginals().values()]) == 37
"""
MUNIN = f"""
import pgm
net = pgm.read({str(NETWORKS / "munin.bif.gz")!r})
assert len([d.values for d in net.marginals().values()]) == 1041
"""


def python(script: str, **environment: str) -> tuple[float, str]:
    """Seconds from start to end of a process, and what it printed."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environment},
    )
    return time.perf_counter() - start, done.stdout


def run(rounds: int = 5) -> Report:
    """Best of several; the goal is the note."""
    report = Report()
    for what, note in {"numpy, networkx, narwhals": "what pgm builds on", "pgm": "goal 0.3"}.items():
        seconds = min(float(python(IMPORT.format(what=what))[1]) for _ in range(rounds))
        report.add(Result("import, inside python", what, "pgm", seconds, note=note))
    for case, script in {"wet grass": WET_GRASS, "alarm, all posteriors": ALARM}.items():
        if script is ALARM and not NETWORKS.is_dir():
            continue
        python(script)  # so that what can be compiled and kept, is
        warm = min(python(script)[0] for _ in range(rounds))
        report.add(Result("python to first answer", case, "pgm", warm, note="goal 0.6"))
        cold = []
        for _ in range(2):
            with tempfile.TemporaryDirectory() as empty:
                cold.append(python(script, NUMBA_CACHE_DIR=empty)[0])
        report.add(Result("the same, empty compiler cache", case, "pgm", min(cold), note="goal 3"))
    if NETWORKS.is_dir():
        with tempfile.TemporaryDirectory() as empty:
            seconds, _ = python(MUNIN, NUMBA_CACHE_DIR=empty)
        report.add(Result("everything compiled", "munin, all posteriors", "pgm", seconds, note="goal 30"))
    return report
