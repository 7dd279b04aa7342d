"""The one progress callback and its bar; silent unless `pgm.config(progress=...)` asks."""

from __future__ import annotations

import sys
import time
from contextvars import ContextVar

from pgm.config import current_progress

_INTERVAL = 0.1  # seconds between two reports
_WIDTH = 30  # letters of the bar

_last: ContextVar[float] = ContextVar("pgm.progress", default=float("-inf"))


def report(done: float, total: float, what: str) -> None:
    """Tell the user how far `what` is; cheap, so loops call it as often as they like.

    At most ten reports a second get through, and the last one (done == total) always.
    """
    listener = current_progress()
    if listener is False:
        return
    now = time.monotonic()
    if done < total and now - _last.get() < _INTERVAL:
        return
    _last.set(now)
    if callable(listener):
        listener(done, total, what)
    else:
        sys.stderr.write(_bar(done, total, what))
        sys.stderr.flush()


def _bar(done: float, total: float, what: str) -> str:
    share = min(max(done / total, 0.0), 1.0) if total > 0 else 1.0
    end = "\n" if done >= total else ""
    return f"\r{what} [{'#' * round(share * _WIDTH):<{_WIDTH}}] {share:4.0%}{end}"
