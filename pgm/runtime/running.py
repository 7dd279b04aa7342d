"""How loops are run: Ctrl-C and the time limit stop them, and their status becomes an exception."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakSet

import numpy as np

from pgm.runtime import threads
from pgm.runtime.clock import REDUCING, RUNNING, Clock
from pgm.runtime.loops import Loops

# Loops that several rooms call. Those of a single room are defined there.
TABLES = Loops("pgm.inference.trees.sweeps.compiled")
REDUCTION = Loops("pgm.inference.program.reduction.compiled", "reading the evidence")
TREES = Loops("pgm.inference.trees.compiled", "laying out a tree")
READING = Loops("pgm.inference.trees.readout.compiled")
LANES = Loops("pgm.inference.trees.batching.compiled")
SEARCH = Loops("pgm.inference.engines.search.compiled")
CUTS = Loops("pgm.inference.engines.cuts.compiled", "cutting")
GAUSSIAN = Loops("pgm.inference.engines.gaussian.compiled", "eliminating continuous variables")
_LONG = 3e7  # inner steps, about a tenth of a second: longer runs go to a thread that the caller watches
_LONG_IN_TIME = 1e6  # the same with a time limit or progress: the steps of some loops take longer
_TICK = 0.05  # seconds between checks of the clock
_LAST_SECONDS = 5.0  # at exit, for all that could not be stopped
_left_running: WeakSet[threading.Thread] = WeakSet()
_SECONDS_PER_STEP = 0.3e-9  # measured on one core: a multiplication and its look-up
_Answer = TypeVar("_Answer")


def seconds_of(steps: float) -> float:
    """A rough estimate of the seconds that this many inner steps take."""
    return steps * _SECONDS_PER_STEP


class Impossible(Exception):
    """No state is possible: the evidence, or the model, has probability zero."""


class Narrow(Exception):
    """A product left the range of doubles: the question must be rerun in wide numbers or logarithms."""


def run(name: str, *args: Any, steps: float, clock: Clock, module: Loops = TABLES) -> None:
    """Call a loop whose last argument is a stop flag, in a watched thread if it is long.

    Args:
        name: of the loop.
        args: its arguments but for the flag.
        steps: about how many inner steps it takes.
        clock: the clock of the question.
        module: the file of the loop.

    Raises:
        Impossible: no state is possible.
        Narrow: a product left the range of doubles.
        OutOfTime: the time limit has passed.
    """
    loop = getattr(module, name)
    outer = threads.flag()
    stop = np.zeros(1, np.uint8) if outer is None else outer
    waits = clock.deadline is None and clock.pulse is None
    if not waits:
        clock.check(module.doing)
    if steps < (_LONG if waits else _LONG_IN_TIME) or outer is not None:  # its owner watches that flag
        status = loop(*args, stop)
    else:
        status = beside(loop, args, stop, clock, module.doing)
    clock.lap(REDUCING if module is REDUCTION else RUNNING)
    if stop[0]:
        raise threads.Stopped
    if status:
        raise_status(status, name, clock)


def raise_status(status: int, name: str, clock: Clock) -> None:
    """Raise the exception for a compiled function's status; 0 is success."""
    if status == 0:
        return
    if status == 2:
        raise Narrow
    if status == 3:
        raise Impossible
    clock.check()
    raise AssertionError(f"{name} stopped with status {status}")


@atexit.register
def _let_end() -> None:
    """Wait a little at exit for what could not be stopped: solvers in C++ abort a process that ends first."""
    deadline = time.monotonic() + _LAST_SECONDS
    for thread in list(_left_running):
        thread.join(max(0.0, deadline - time.monotonic()))


def unstoppable(work: Callable[[], _Answer], clock: Clock, doing: str) -> _Answer:
    """Run work that polls no flag, such as a scipy solver; at the time limit or on Ctrl-C it is abandoned.

    It must share no data with anything else, since its thread then runs on.
    """
    clock.check(doing)
    found: _Answer = beside(lambda _: work(), (), np.zeros(1, np.uint8), clock, doing, wait=0.0)
    return found


def beside(
    work: Callable[..., Any],
    args: tuple[Any, ...],
    stop: np.ndarray,
    clock: Clock,
    doing: str = "working",
    *,
    wait: float = 0.5,
) -> Any:
    """Call `work(*args, stop)` in a thread; on Ctrl-C or at the time limit set the flag that it polls.

    Args:
        work: the function.
        args: its arguments but for the flag.
        stop: the flag.
        clock: the clock of the question.
        doing: what is reported meanwhile.
        wait: how many seconds to wait for it once the flag is set. 0 for work that polls no flag and
            shares no data: its thread then runs on, unwatched.
    """
    if threads.ALONE:  # no other thread can be started
        return work(*args, stop)
    outcome: list[Any] = []
    done = threading.Event()

    def job() -> None:
        try:
            outcome.append((True, work(*args, stop)))
        except BaseException as error:  # handed to the caller's thread
            outcome.append((False, error))
        done.set()

    thread = threading.Thread(target=job, name="pgm-run", daemon=True)
    thread.start()
    try:
        while not done.wait(min(_TICK, clock.remaining() + 1e-3)):
            clock.check(doing)
    except BaseException:
        stop[0] = 1
        if not done.wait(wait):
            _left_running.add(thread)
        raise
    good, value = outcome[0]
    if not good:
        raise value
    return value
