"""Runs the functions of a `compiled.py`: in plain Python until numba has loaded, compiled from then on.

Where the package was built with a C++ compiler, what it has made is used instead, from the start (`built`).
Both ways execute the same source in the same order of operations, so they give the same bits; what differs is
speed. A first small question need not wait for a compiler; a large one loads it at once.
"""

from __future__ import annotations

import importlib
import importlib.util
import threading
import time
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np

from pgm.errors import warn
from pgm.runtime import built
from pgm.runtime.forks import at_fork

_Function = TypeVar("_Function", bound=Callable[..., Any])

# What a loop takes, in its annotations: arrays without gaps, of these entries and with so many axes. They are
# read when loops are compiled, see docs/decisions/0045; what Python calls has them, the rest is inferred.
Floats = Annotated[np.ndarray, "float64", 1]
Ints = Annotated[np.ndarray, "int64", 1]
Ints32 = Annotated[np.ndarray, "int32", 1]
Ints8 = Annotated[np.ndarray, "int8", 1]
Bytes = Annotated[np.ndarray, "uint8", 1]
FloatTable = Annotated[np.ndarray, "float64", 2]
IntTable = Annotated[np.ndarray, "int64", 2]
IntTable32 = Annotated[np.ndarray, "int32", 2]
ByteTable = Annotated[np.ndarray, "uint8", 2]
ShortTable = Annotated[np.ndarray, "uint16", 2]
Flag = Annotated[np.ndarray, "flag", 1]  # uint8 that another thread may set: looked at each time

# Work is counted in inner steps, about 0.3 microseconds each in Python. Loading numba and the cached loops
# takes about half a second, so anything below this is faster without.
INTERPRETED_STEPS = 60_000
# Once interpreted loops have cost this many seconds, the process is not a one-off: numba loads in parallel.
_PATIENCE = 0.05
# If no earlier process has cached them they must be compiled first, which takes a minute, and the end of the
# process would wait for part of that.
_PATIENCE_TO_COMPILE = 2.0
_PAUSE = 1e-4  # seconds after each question while it does
_LOOK = 0.05  # seconds between checks of what they have cost so far

_lock = threading.RLock()
_compiling = True  # whether `njit` compiles the module being executed; only changed under the lock
_interpreted: dict[str, types.ModuleType] = {}
_imported: dict[str, types.ModuleType] = {}
_ready = threading.Event()  # set once the compiled loops are loaded
_stopping = threading.Event()
_stepping = threading.Lock()  # held during a step; a fork waits for it
_wanted = threading.Lock()  # the same, while something is compiled that a question waits for
_warm_steps: list[Callable[[], object]] = []  # run by the background thread, each compiles some loops
_kept: Callable[[], bool] = bool  # whether that will be quick
_background: threading.Thread | None = None
_at_work: set[threading.Thread] = set()  # threads in which something may be compiled
_said_uncached = False
_spent = 0.0


def njit(function: _Function) -> _Function:
    """Compile `function` with numba, or leave it unchanged when its module is loaded to be interpreted."""
    if not _compiling:
        return function
    import numba

    made = numba.njit(nogil=True)(function)
    if not isinstance(made, types.FunctionType):  # else the compiler is disabled
        try:
            made._cache = _kept_code(function)
        except RuntimeError:  # no directory for numba's cache: it is compiled in memory
            pass
        compile_for = made._compile_for_args
        made._compile_for_args = lambda *args, **kwargs: _apart(lambda: compile_for(*args, **kwargs))
    return made  # type: ignore[no-any-return]


def _kept_code(function: Callable[..., Any]) -> Any:
    """Return numba's cache of a function; if it cannot be used, the function is compiled anyway."""
    from numba.core.caching import FunctionCache

    class Kept(FunctionCache):  # type: ignore[misc]
        """A cache on a disk that may be full, or hold truncated files."""

        def load_overload(self, *args: Any) -> Any:
            try:
                return super().load_overload(*args)
            except Exception as error:
                _say_uncached(self.cache_path, error)
                try:
                    self.flush()  # what is compiled now replaces the damaged files
                except OSError:
                    self.disable()
                return None

        def save_overload(self, *args: Any) -> None:
            try:
                super().save_overload(*args)
            except Exception as error:
                _say_uncached(self.cache_path, error)
                self.disable()

    return Kept(function)


def _say_uncached(where: str, error: Exception) -> None:
    """Warn, once per process, that compiled code cannot be cached or read."""
    global _said_uncached
    if not _said_uncached:
        _said_uncached = True
        text = (
            f"The compiled code of pgm in {where} cannot be used ({type(error).__name__}: {error}): what is "
            "needed is compiled again, in this process. Empty that folder, or make room on its disk; the "
            "environment variable NUMBA_CACHE_DIR names another."
        )
        warn(text, RuntimeWarning)


def _apart(work: Callable[[], Any]) -> Any:
    """Compile something, in a separate thread if Ctrl-C may arrive, which LLVM would turn into other errors.

    A compilation that has begun is finished anyway, for the next question.
    """
    current = threading.current_thread()
    if current is not threading.main_thread() or current is _background:
        return work()
    outcome: list[Any] = []
    done = threading.Event()

    def job() -> None:
        try:
            with _wanted:  # not `_stepping`: the background steps would keep it waiting
                outcome.append((True, work()))
        except BaseException as error:  # handed to the caller's thread
            outcome.append((False, error))
        done.set()

    thread = threading.Thread(target=job, name="pgm-compile", daemon=True)
    _start(thread)
    done.wait()
    _at_work.discard(thread)
    good, value = outcome[0]
    if not good:
        raise value
    return value


def kernels(module: str, steps: float) -> types.ModuleType:
    """Return the loops of `module` in the form that suits work of this many inner steps."""
    if built.present is not False and (made := built.form(module, interpreted)) is not None:
        return made
    if _ready.is_set() or threading.current_thread() is _background:
        if module not in _imported:
            _imported[module] = importlib.import_module(module)  # waits for another thread's import
        return _imported[module]
    if steps > INTERPRETED_STEPS:
        load()
        return importlib.import_module(module)
    return interpreted(module)


def interpreted(module: str) -> types.ModuleType:
    """Return a copy of `module` whose functions are plain Python."""
    global _compiling
    found = _interpreted.get(module)
    if found is not None:
        return found
    with _lock:
        if module not in _interpreted:
            spec = importlib.util.find_spec(module)
            if spec is None or spec.origin is None:
                raise ImportError(module)
            copy = importlib.util.spec_from_file_location(module + "_interpreted", spec.origin)
            if copy is None or copy.loader is None:
                raise ImportError(module)
            loaded = importlib.util.module_from_spec(copy)
            _compiling = False
            try:
                copy.loader.exec_module(loaded)
            finally:
                _compiling = True
            _interpreted[module] = loaded
        return _interpreted[module]


def load() -> None:
    """Use compiled loops from now on; those not in numba's cache compile when first called."""
    _ready.set()


def compiled() -> bool:
    """Say whether compiled loops are in use."""
    return built.found() or _ready.is_set()


def when_warm(steps: Iterable[Callable[[], object]], kept: Callable[[], bool]) -> None:
    """Register the steps of the background warm-up: calls that make numba load or compile some loops.

    `kept` says whether an earlier process has compiled them.
    """
    global _kept
    _warm_steps.extend(steps)
    _kept = kept


def is_kept(kernel: Any) -> bool:
    """Whether compiled code of this function is cached on disk and up to date."""
    where = getattr(getattr(kernel, "stats", None), "cache_path", None)
    if where is None:
        return False
    written = Path(kernel.py_func.__code__.co_filename).stat().st_mtime
    name = f"{kernel.__module__.rpartition('.')[2]}.{kernel.__name__}"
    return any(kept.stat().st_mtime >= written for kept in Path(where).glob(f"{name}-*.nbi"))


def spent(seconds: float) -> None:
    """Count time used by interpreted loops; past the patience, numba is loaded in the background."""
    global _spent, _background
    if compiled():
        return
    _spent += seconds
    if _background is not None:
        if _background.is_alive():
            # Loading reads thousands of small files, and after each waits for the interpreter lock:
            # milliseconds, if a loop of questions never pauses.
            time.sleep(_PAUSE)
        return
    if _spent > _PATIENCE:
        with _lock:
            if _background is None:
                _background = threading.Thread(target=_warm, name="pgm-warm", daemon=True)
                _start(_background)


def _start(thread: threading.Thread) -> None:
    """Start a thread that compiles; the end of the process waits for the step in progress."""
    if not _at_work:
        # Registered now so that it runs before the interpreter tears down the thread's modules.
        import atexit

        atexit.unregister(_stop)
        atexit.register(_stop)
    _at_work.add(thread)
    thread.start()


def _warm() -> None:
    try:
        with _stepping:
            kept = _kept()
    except Exception:  # a failing compiler must not break the interpreted path
        return
    while not kept and _spent < _PATIENCE_TO_COMPILE:
        if _stopping.wait(_LOOK):
            return
    for step in _warm_steps:
        if _stopping.is_set():
            return
        try:
            with _stepping:
                step()
        except Exception:
            return
    _ready.set()


def _before_fork() -> None:
    _stepping.acquire()
    _wanted.acquire()


def _after_fork_in_parent() -> None:
    _wanted.release()
    _stepping.release()


def _after_fork() -> None:
    """A forked child has no background thread: it may start one again."""
    global _background, _lock, _stepping, _wanted, _spent
    _background, _lock, _spent = None, threading.RLock(), 0.0
    _stepping, _wanted = threading.Lock(), threading.Lock()
    _at_work.clear()


# A child must not inherit the locks of a working compiler: wait for the step in progress.
at_fork(before=_before_fork, in_parent=_after_fork_in_parent, in_child=_after_fork)


def _stop() -> None:
    # A thread inside LLVM while the interpreter is torn down can crash it: wait for the step in progress.
    _stopping.set()
    for thread in list(_at_work):
        thread.join()
