"""How compiled code is run: stoppable by Ctrl-C and by the clock, its status turned into an exception."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from pgm.runtime import jit, threads
from pgm.runtime.clock import REDUCING, RUNNING, Clock

TABLES = "pgm.inference.trees.sweeps.compiled"
REDUCTION = "pgm.inference.program.reduction.compiled"
TREES = "pgm.inference.trees.compiled"
READING = "pgm.inference.trees.readout.compiled"
LANES = "pgm.inference.trees.batching.compiled"
CUTS = "pgm.inference.engines.cuts.compiled"
GAUSSIAN = "pgm.inference.engines.gaussian.compiled"
_LONG = 3e7  # inner steps, about a tenth of a second: longer runs go to a thread, watched by the caller
_TICK = 0.05  # seconds between checks of the clock
_SECONDS_PER_STEP = 0.3e-9  # calibrated on one core: a multiplication with its look-up
_DOING = {
    REDUCTION: "reading the evidence",
    TREES: "laying out a tree",
    CUTS: "cutting",
    GAUSSIAN: "eliminating continuous variables",
}


def seconds_of(steps: float) -> float:
    """About how long this many inner steps take."""
    return steps * _SECONDS_PER_STEP


class Impossible(Exception):
    """No state is left: the evidence, or the model, has probability zero."""


class Narrow(Exception):
    """A product left the range of a double; the question must be run in wide numbers."""


def code(steps: float, module: str = TABLES) -> ModuleType:
    """The loops of a module in the form that suits this many inner steps."""
    return jit.kernels(module, steps)


def run(name: str, *args: Any, steps: float, clock: Clock, module: str = TABLES) -> None:
    """Call a compiled function that takes a stop flag last; raise what its status means."""
    kernel = getattr(code(steps, module), name)
    outer = threads.flag()
    stop = np.zeros(1, np.uint8) if outer is None else outer
    doing = _DOING.get(module, "multiplying and summing")
    clock.check(doing)
    if steps < _LONG or outer is not None:  # the owner of that flag watches
        status = kernel(*args, stop)
    else:
        status = beside(kernel, args, stop, clock, doing)
    clock.lap(REDUCING if module == REDUCTION else RUNNING)
    if stop[0]:
        raise threads.Stopped
    if status:
        raise_status(status, name, clock)


def raise_status(status: int, name: str, clock: Clock) -> None:
    """Raise the exception that a compiled function's status stands for; 0 is success."""
    if status == 0:
        return
    if status == 2:
        raise Narrow
    if status == 3:
        raise Impossible
    clock.check()
    raise AssertionError(f"{name} stopped with status {status}")


def beside(
    work: Callable[..., Any], args: tuple[Any, ...], stop: np.ndarray, clock: Clock, doing: str = "working"
) -> Any:
    """Do `work(*args, stop)` in a thread; on Ctrl-C or at the time limit set the flag that it polls."""
    outcome: list[Any] = []
    done = threading.Event()

    def job() -> None:
        try:
            outcome.append((True, work(*args, stop)))
        except BaseException as error:  # handed to the caller's thread
            outcome.append((False, error))
        done.set()

    threading.Thread(target=job, name="pgm-run", daemon=True).start()
    try:
        while not done.wait(min(_TICK, clock.remaining() + 1e-3)):
            clock.check(doing)
    except BaseException:
        stop[0] = 1
        done.wait(0.5)
        raise
    good, value = outcome[0]
    if not good:
        raise value
    return value
