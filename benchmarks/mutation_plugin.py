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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import coverage
import pytest
from hypothesis import settings

settings.register_profile(
    "mutation", max_examples=10, derandomize=True, deadline=None, database=None, print_blob=False
)

_LINES = os.environ.get("MUTATION_LINES")
_ROOMS = ("pgm/inference", "pgm/cpds")


class TooLong(BaseException):
    """Nothing that a test or Hypothesis would catch."""


def _stop(*_: object) -> None:
    raise TooLong


class Lines:
    """Which lines of the rooms each test runs, and how long it takes, for as many tests as there is time."""

    def __init__(self, until: float, longest: float) -> None:
        self.until, self.longest = until, longest
        signal.signal(signal.SIGALRM, _stop)
        self.seconds: dict[str, float] = {}
        rooms = [str(Path.cwd() / room) for room in _ROOMS]
        self.cover = coverage.Coverage(data_file=None, config_file=False, source=rooms)
        self.cover.start()

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        random.Random(0).shuffle(items)
        seen: Counter[str] = (
            Counter()
        )  # of a test with many cases one comes first, so that all kinds have a turn
        turn = {}
        for item in items:
            name = item.nodeid.partition("[")[0]
            seen[name] += 1
            turn[item] = seen[name]
        items.sort(key=turn.__getitem__)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        self.cover.switch_context(item.nodeid)
        try:
            return (yield)
        finally:
            self.cover.switch_context("")
            if time.time() > self.until:
                item.session.shouldstop = "no time for more"

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        start = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, self.longest)
        try:
            return (yield)
        except BaseException:  # whatever it became on its way
            if time.monotonic() - start < self.longest:
                raise
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        # A new exception: pytest cannot always say where a traced test was cut short.
        pytest.skip("takes too long")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" and report.passed:
            self.seconds[report.nodeid] = report.duration

    def pytest_sessionfinish(self) -> None:
        self.cover.stop()
        data = self.cover.get_data()
        lines = {}
        for file in data.measured_files():
            found = {str(n): [t for t in tests if t] for n, tests in data.contexts_by_lineno(file).items()}
            lines[Path(file).relative_to(Path.cwd()).as_posix()] = found
        Path(str(_LINES)).write_text(json.dumps({"seconds": self.seconds, "lines": lines}))


def pytest_configure(config: Any) -> None:
    if _LINES:
        until, longest = (float(os.environ[f"MUTATION_{name}"]) for name in ("UNTIL", "LONGEST"))
        config.pluginmanager.register(Lines(until, longest))
