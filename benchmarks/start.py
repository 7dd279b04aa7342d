"""What a user waits for before the first answer: each measurement is a Python process of its own."""

from __future__ import annotations

import subprocess
import sys
import time

from benchmarks.harness import NETWORKS, ROOT, Finding, Report, Result

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
FIRST = """
import time
import pgm
for _ in range(2):
    net = pgm.read({path!r})
    start = time.perf_counter()
    net.marginals()
    print(time.perf_counter() - start)
"""
LARGE = ("diabetes", "munin", "link")
WANTED = 1.2  # times the second


def python(script: str) -> tuple[float, str]:
    """Seconds from start to end of a process, and what it printed."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, cwd=ROOT
    )
    return time.perf_counter() - start, done.stdout


def run(rounds: int = 5) -> Report:
    """Best of several; the goal is the note."""
    report = Report()
    for what, note in {"numpy, networkx, narwhals": "what pgm builds on", "pgm": "goal 0.2"}.items():
        seconds = min(float(python(IMPORT.format(what=what))[1]) for _ in range(rounds))
        report.add(Result("import, inside python", what, "pgm", seconds, note=note))
    for case, script in {"wet grass": WET_GRASS, "alarm, all posteriors": ALARM}.items():
        if script is ALARM and not NETWORKS.is_dir():
            continue
        python(script)  # so that Python has kept what it has parsed
        seconds = min(python(script)[0] for _ in range(rounds))
        report.add(Result("python to first answer", case, "pgm", seconds, note="goal 0.25"))
    for case in LARGE if NETWORKS.is_dir() else ():
        path = str(NETWORKS / f"{case}.bif.gz")
        times = [list(map(float, python(FIRST.format(path=path))[1].split())) for _ in range(rounds)]
        first, second = (min(each) for each in zip(*times, strict=True))
        report.add(Result("first question of a fresh process", case, "pgm", first))
        report.add(Result("the same of the model read anew", case, "pgm", second))
        what, found = f"the first marginals of {case}, over the second", f"{first / second:.2f}"
        report.find(Finding(what, found, f"at most {WANTED}", first <= WANTED * second))
    return report
