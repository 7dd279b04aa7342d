"""The time of one question: its limit, past which `check` raises OutOfTime, and how time was spent."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

from pgm.config import time_limit_and_progress
from pgm.errors import OutOfTime
from pgm.runtime import progress
from pgm.runtime.progress import Pulse


class Profile:
    """Seconds spent in each phase of a question; they add up to the total.

    >>> profile = Profile()
    >>> profile.total
    0.0
    """

    __slots__ = ("_seconds",)
    _seconds: list[float]

    def __init__(self) -> None:
        """No time spent yet."""
        self._seconds = [0.0, 0.0, 0.0, 0.0]

    @property
    def reduction(self) -> float:
        """Reading the evidence, pruning, removing impossible states, slicing; at first compiling, too."""
        return self._seconds[REDUCING]

    @property
    def triangulation(self) -> float:
        """Finding a tree and laying it out."""
        return self._seconds[TRIANGULATING]

    @property
    def run(self) -> float:
        """Multiplying and summing tables."""
        return self._seconds[RUNNING]

    @property
    def wrapping(self) -> float:
        """Building the result."""
        return self._seconds[WRAPPING]

    @property
    def total(self) -> float:
        """The total."""
        return math.fsum(self._seconds)

    def __repr__(self) -> str:
        """Milliseconds for each phase."""
        names = ("reduction", "triangulation", "run", "wrapping")
        return ", ".join(f"{n} {s * 1e3:.3f} ms" for n, s in zip(names, self._seconds, strict=True))


REDUCING, TRIANGULATING, RUNNING, WRAPPING = range(4)


@dataclass(slots=True)
class Clock:
    """The time of one question: its limit, which long loops `check`, and how time was spent.

    Loops call `check` many times a second, even without a limit: it also reports progress.
    """

    limit: float | None  # seconds
    deadline: float | None  # in terms of time.monotonic()
    profile: Profile = field(default_factory=Profile)
    mark: float = field(default_factory=time.perf_counter)
    pulse: Pulse | None = field(default_factory=progress.pulse)
    remedy: str = ""  # more advice for OutOfTime: a sentence that begins with a space

    def lap(self, part: int) -> None:
        """Attribute the time since the last lap to this phase."""
        now = time.perf_counter()
        self.profile._seconds[part] += now - self.mark
        self.mark = now

    def check(self, doing: str = "working") -> None:
        """Raise `OutOfTime` when the limit has passed; else report that work goes on."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise OutOfTime(
                f"This took longer than the time limit of {self.limit:g} s. Allow more with "
                f"pgm.set_config(time_limit=...).{self.remedy}"
            )
        if self.pulse is not None:
            self.pulse.beat(doing)

    def remaining(self) -> float:
        """Seconds left: never negative, infinite without a limit."""
        return math.inf if self.deadline is None else max(0.0, self.deadline - time.monotonic())


_shared: ContextVar[Clock | None] = ContextVar("pgm.runtime.clock", default=None)
_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")


def in_one_time(function: Callable[_Arguments, _Answer]) -> Callable[_Arguments, _Answer]:
    """Let one time limit hold for a function together with all that it calls, such as many fits.

    >>> in_one_time(lambda: start_clock().mark == start_clock().mark)()
    True
    """

    @functools.wraps(function)
    def timed(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Answer:
        before = _shared.set(start_clock())
        try:
            return function(*args, **kwargs)
        finally:
            _shared.reset(before)

    return timed


def start_clock() -> Clock:
    """Start the clock of one question under the current limit; inside `in_one_time` all share one."""
    if (shared := _shared.get()) is not None:
        return shared
    limit, listener = time_limit_and_progress()
    deadline = None if limit is None else time.monotonic() + limit
    return Clock(limit, deadline, pulse=None if listener is False else Pulse())
