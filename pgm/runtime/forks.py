"""What a forked child finds as new, though a thread that it does not have held it at the fork."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from types import TracebackType

_locks: weakref.WeakSet[Lock] = weakref.WeakSet()


def at_fork(
    *,
    in_child: Callable[[], None],
    before: Callable[[], None] | None = None,
    in_parent: Callable[[], None] | None = None,
) -> None:
    """Call these around each fork of this process, on systems that have forks.

    Args:
        in_child: makes locks, pools and buffers anew.
        before: waits for what must not be cut in half.
        in_parent: lets that go on.
    """
    if hasattr(os, "register_at_fork"):
        given = {"before": before, "after_in_parent": in_parent, "after_in_child": in_child}
        os.register_at_fork(**{when: call for when, call in given.items() if call is not None})


class Lock:
    """A lock that the thread which holds it may take again, and that a forked child finds open."""

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        """An open lock."""
        self._lock = threading.RLock()
        _locks.add(self)

    def __enter__(self) -> None:
        """Wait until it is open, and close it."""
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Open it."""
        self._lock.release()


def _open_all() -> None:
    """The threads that held locks are not there any more."""
    for lock in list(_locks):
        lock._lock = threading.RLock()


at_fork(in_child=_open_all)
