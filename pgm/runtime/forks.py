"""State that a forked child must reset, because a thread that it lacks may have held it at the fork."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from types import TracebackType

_locks: weakref.WeakSet[Lock] = weakref.WeakSet()


def at_fork(*, in_child: Callable[[], None]) -> None:
    """Have this called in each forked child, on systems that fork; it recreates locks, pools or buffers."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=in_child)


class Lock:
    """A re-entrant lock that is always free in a forked child; `with lock.inner:` is the quicker form."""

    __slots__ = ("__weakref__", "inner")

    def __init__(self) -> None:
        """A released lock."""
        self.inner = threading.RLock()
        _locks.add(self)

    def __enter__(self) -> None:
        """Acquire it."""
        self.inner.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release it."""
        self.inner.release()


def _open_all() -> None:
    """Free all locks: the threads that held them do not exist in the child."""
    for lock in list(_locks):
        lock.inner = threading.RLock()


at_fork(in_child=_open_all)
