"""How fast this machine is just now: tests of time scale what they allow by it."""

import time

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
