"""The one progress callback and its bar; silent unless `pgm.config(progress=...)` asks.

Loops that know how far they are call `report`. Work that checks its clock and has been silent for a second
reports by the clock's `Pulse` that it is running: so nothing that obeys the time limit is silent for long.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from contextvars import ContextVar
from typing import NamedTuple, TypeVar

from pgm.config import Callback, current_progress

_Item = TypeVar("_Item")

_INTERVAL = 0.1  # seconds between two reports
_SILENCE = 1.0  # seconds after which a question reports that it is running
_WIDTH = 30  # characters of the bar


class _Reported(NamedTuple):
    """The last report."""

    at: float  # time.monotonic()
    done: float
    total: float
    what: str


_NOTHING = _Reported(-math.inf, 1.0, 1.0, "")
_last: ContextVar[_Reported] = ContextVar("pgm.runtime.progress", default=_NOTHING)


def report(done: float, total: float, what: str) -> None:
    """Report the progress of `what`; cheap enough to call in every iteration.

    At most ten reports a second get through; the last one (done == total) always does.
    """
    listener = current_progress()
    if listener is False:
        return
    now = time.monotonic()
    if done >= total or now - _last.get().at >= _INTERVAL:
        _send(listener, _Reported(now, done, total, what))


def each(items: Collection[_Item], what: str) -> Iterable[_Item]:
    """Yield the items, reporting how many are done; without a listener return them unchanged.

    >>> list(each("ab", "letters"))
    ['a', 'b']
    """
    return items if current_progress() is False else _counted(items, what)


def _counted(items: Collection[_Item], what: str) -> Iterator[_Item]:
    pulse, begun, total = Pulse(), time.monotonic(), len(items)
    for done, item in enumerate(items):
        if time.monotonic() - begun >= _SILENCE:
            report(done, total, what)
        yield item
    del pulse  # reports the end, if anything was reported


class Pulse:
    """Reports every second that a question is running, unless something else has been reported.

    The report is (seconds, infinity, what), since the total is not known.
    """

    __slots__ = ("_began",)

    def __init__(self) -> None:
        self._began = time.monotonic()

    def beat(self, what: str) -> None:
        """Report that it is running, unless that was done in the last second."""
        now = time.monotonic()
        if (
            now - max(self._began, _last.get().at) >= _SILENCE
            and (listener := current_progress()) is not False
        ):
            _send(listener, _Reported(now, now - self._began, math.inf, what))

    def __del__(self) -> None:
        """The question is over: complete its last report, if that stopped short."""
        last = _last.get()
        if (
            last.at >= self._began
            and last.done < last.total
            and (listener := current_progress()) is not False
        ):
            total = last.total if last.total < math.inf else last.done
            _send(listener, _Reported(last.at, total, total, last.what))


def pulse() -> Pulse | None:
    """A pulse, if there is a listener."""
    return None if current_progress() is False else Pulse()


def _send(listener: bool | Callback, made: _Reported) -> None:
    _last.set(made)
    if callable(listener):
        listener(*made[1:])
    else:
        sys.stderr.write(_bar(*made[1:]))
        sys.stderr.flush()


def _bar(done: float, total: float, what: str) -> str:
    if total == math.inf:
        return f"\r{what}: {done:.0f} s"
    share = min(max(done / total, 0.0), 1.0) if total > 0 else 1.0
    end = "\n" if done >= total else ""
    return f"\r{what} [{'#' * round(share * _WIDTH):<{_WIDTH}}] {share:4.0%}{end}"
