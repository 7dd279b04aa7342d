"""The only thread pool: the tasks of a question run in parallel, and stop like any other run."""

from __future__ import annotations

import contextvars
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.config import current
from pgm.runtime.clock import Clock
from pgm.runtime.forks import at_fork

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

ALONE = sys.platform in ("emscripten", "wasi")  # where no thread can be started: in a browser
_SHORT = 5e-3  # seconds: less work than this is not worth a thread
_TICK = 0.05  # seconds between checks of the clock
_MOST = 4096  # threads, the most that pgm.config allows; the pool starts them as needed

_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None
_here = threading.local()  # in a pool thread: the stop flag of its current work


class Stopped(Exception):
    """Ends a task because another failed or time is up; the thread that waits for all raises the reason."""


@dataclass(frozen=True, eq=False, slots=True)
class Task:
    """A piece of work, called with a stop flag: an array of one byte, non-zero once it should stop.

    It may return more tasks, which are run next.
    """

    work: Callable[[np.ndarray], Iterable[Any] | None]  # of tasks
    seconds: float  # a rough estimate of its duration


def flag() -> np.ndarray | None:
    """The stop flag of the pool work in this thread; None if there is none."""
    found: np.ndarray | None = getattr(_here, "stop", None)
    return found


def run_all(tasks: Iterable[Task], clock: Clock) -> None:
    """Run all tasks, on as many threads as `pgm.config` allows; return when all are done.

    An error in a task stops the others and is raised here. Ctrl-C and the time limit set the flag that
    every task polls.
    """
    left = deque(tasks)
    outer = flag()
    stop = np.zeros(1, np.uint8) if outer is None else outer
    seconds = sum(task.seconds for task in left)
    while left and (ALONE or seconds < _SHORT or outer is not None):
        if stop[0]:
            raise Stopped
        clock.check()
        task = left.popleft()
        more = list(task.work(stop) or ())
        left.extendleft(reversed(more))
        seconds += sum(one.seconds for one in more) - task.seconds
    if left:
        _side_by_side(left, stop, clock)


def _side_by_side(left: deque[Task], stop: np.ndarray, clock: Clock) -> None:
    from concurrent.futures import wait

    changed = threading.Condition()
    unfinished = len(left)
    failed: list[BaseException] = []

    def work() -> None:
        nonlocal unfinished
        _here.stop = stop
        try:
            while True:
                with changed:
                    while not left and unfinished and not stop[0]:
                        changed.wait(_TICK)
                    if not left or stop[0]:
                        return
                    task = left.popleft()
                try:
                    more = list(task.work(stop) or ())
                except BaseException as error:  # handed to the caller's thread
                    failed.append(error)
                    stop[0] = 1
                    return
                with changed:
                    left.extendleft(reversed(more))
                    unfinished += len(more) - 1
                    changed.notify_all()
        finally:
            _here.stop = None

    # Limits set by pgm.config belong to a context: each thread works in a copy of the caller's.
    running: list[Future[None]] = []
    try:
        for _ in range(current().threads):
            running.append(_start(contextvars.copy_context(), work))
        while wait(running, min(_TICK, clock.remaining() + 1e-3)).not_done:
            clock.check()
    except BaseException:
        stop[0] = 1
        wait(running, 0.5)
        raise
    if failed:
        raise failed[0]


def _start(context: contextvars.Context, work: Callable[[], None]) -> Future[None]:
    global _pool
    with _lock:
        if _pool is None:
            from concurrent.futures import ThreadPoolExecutor

            _pool = ThreadPoolExecutor(_MOST, thread_name_prefix="pgm")
        return _pool.submit(context.run, work)


def _after_fork() -> None:
    """A forked child has none of these threads: it starts its own pool."""
    global _pool, _lock, _here
    _pool, _lock, _here = None, threading.Lock(), threading.local()


at_fork(in_child=_after_fork)
