"""How fast this machine is just now, by which tests of time scale what they allow; and its memory in use."""

import re
import time
from pathlib import Path

_USUAL = 0.021  # seconds of a thread, for the count below, on the machine the limits were set on


def slowness() -> float:
    """Return how many times longer than usual a second's work takes here, never less than 1."""
    best = min(_count(1_000_000) for _ in range(3))
    return max(1.0, best / _USUAL)


def _count(steps: int) -> float:
    begun = time.thread_time()
    for _ in range(steps):
        pass
    return time.thread_time() - begun


def memory(what: str) -> int:
    """Return a line of /proc/self/status in bytes, 0 where there is none."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    found = re.search(rf"^{what}:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0
