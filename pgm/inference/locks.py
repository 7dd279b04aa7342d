"""Locks of models and caches that a forked child finds open, though another thread held them at the fork."""

from __future__ import annotations

import os
import threading
import weakref
from types import TracebackType

_all: weakref.WeakSet[Lock] = weakref.WeakSet()


class Lock:
    """A lock that the thread which holds it may take again."""

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        """An open lock."""
        self._lock = threading.RLock()
        _all.add(self)

    def __enter__(self) -> None:
        """Wait until it is open, and close it."""
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Open it."""
        self._lock.release()


def _after_fork() -> None:
    """The threads that held locks are not there any more."""
    for lock in list(_all):
        lock._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
