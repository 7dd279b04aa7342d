"""Memory for the arrays of a run, reused by the next run: fresh pages can cost more than the run itself."""

from __future__ import annotations

import threading

import numpy as np

from pgm.runtime.forks import at_fork

_LEAST = 1 << 15  # floats; smaller arrays come from the allocator's own cache
_KEPT = 1 << 24  # floats kept in total: 128 MB

_lock = threading.Lock()
_free: list[np.ndarray] = []


def _after_fork() -> None:
    """A forked child must not wait for a thread that it does not have."""
    global _lock, _free
    _lock, _free = threading.Lock(), []


at_fork(in_child=_after_fork)


def take(size: int) -> np.ndarray:
    """An uninitialised array of this many floats; hand it back to `give` when the run is over."""
    if size >= _LEAST:
        with _lock:
            for i in range(len(_free) - 1, -1, -1):
                if size <= _free[i].size <= 4 * size:
                    return _free.pop(i)[:size]
    return np.empty(size)


def give(taken: np.ndarray) -> None:
    """Take back an array from `take` for reuse; it must not be used any more."""
    if taken.base is None and taken.size < _LEAST:
        return
    whole = taken if taken.base is None else taken.base
    assert isinstance(whole, np.ndarray)
    whole = whole.view(np.float64)  # it may have held powers of two
    if _LEAST <= whole.size <= _KEPT:
        with _lock:
            _free.append(whole)
            while sum(array.size for array in _free) > _KEPT:
                del _free[0]
