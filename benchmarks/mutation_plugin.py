"""What pytest loads in a run on mutants: few random examples, always the same, and which test runs what line.

The lines are recorded where the environment names a file for them, MUTATION_LINES.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile(
    "mutation", max_examples=10, derandomize=True, deadline=None, database=None, print_blob=False
)

_LINES = os.environ.get("MUTATION_LINES")
_ROOMS = ("pgm/inference", "pgm/cpds")


class Lines:
    """Which lines of the rooms each test runs, and how long it takes, for as many tests as there is time.

    Each runs in a process of its own: one that takes too long can be ended wherever it is.
    """

    def __init__(self, until: float, longest: float) -> None:
        self.until, self.longest = until, longest
        self.seconds: dict[str, float] = {}
        self.lines: dict[str, dict[int, list[str]]] = {}
        for module in ("scipy.optimize", "scipy.sparse.csgraph", "scipy.stats"):
            import_module(module)  # once, and not in each process

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        random.Random(0).shuffle(items)
        seen: Counter[str] = Counter()  # one case of each test comes first: every kind has its turn
        turn = {}
        for item in items:
            name = item.nodeid.partition("[")[0]
            seen[name] += 1
            turn[item] = seen[name]
        items.sort(key=turn.__getitem__)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> bool:
        end, begin = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(end)
            try:
                with os.fdopen(begin, "w") as told:
                    json.dump(self.found(item), told)
            finally:
                os._exit(0)
        os.close(begin)
        with os.fdopen(end) as telling:
            heard = telling.read()
        os.waitpid(child, 0)
        if heard:
            self.seconds[item.nodeid], lines = json.loads(heard)
            for file, numbers in lines.items():
                for number in numbers:
                    self.lines.setdefault(file, {}).setdefault(number, []).append(item.nodeid)
        if time.time() > self.until:
            item.session.shouldstop = "no time for more"
        return True

    def found(self, item: Any) -> tuple[float, dict[str, list[int]]]:
        """What a test took, if it passed, and the lines that it ran."""
        import coverage
        from _pytest.runner import runtestprotocol

        rooms = [str(Path.cwd() / room) for room in _ROOMS]
        cover = coverage.Coverage(data_file=None, config_file=False, source=rooms)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, self.longest)
        start = time.monotonic()
        cover.start()
        reports = runtestprotocol(item, log=False, nextitem=None)
        cover.stop()
        if not all(report.passed for report in reports):
            os._exit(0)
        took, data = time.monotonic() - start, cover.get_data()
        return took, {
            Path(file).relative_to(Path.cwd()).as_posix(): sorted(data.lines(file) or ())
            for file in data.measured_files()
        }

    def pytest_sessionfinish(self) -> None:
        Path(str(_LINES)).write_text(json.dumps({"seconds": self.seconds, "lines": self.lines}))


def pytest_configure(config: Any) -> None:
    if _LINES:
        until, longest = (float(os.environ[f"MUTATION_{name}"]) for name in ("UNTIL", "LONGEST"))
        config.pluginmanager.register(Lines(until, longest))
