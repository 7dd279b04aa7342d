"""Limits and defaults: `with pgm.config(...):` holds for its block, `pgm.set_config(...)` from then on."""

from __future__ import annotations

import math
import os
import re
import sys
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar, Token
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import EllipsisType, TracebackType
from typing import TypeAlias, TypedDict

from pgm.calls import guarded
from pgm.errors import InvalidArgument, shown, warn

Callback: TypeAlias = Callable[[float, float, str], object]  # done, total, what

_UNITS = {"": 1, "b": 1} | {
    unit: base**power
    for power, letter in enumerate("kmgtp", start=1)
    for unit, base in ((letter, 1000), (letter + "b", 1000), (letter + "ib", 1024))
}
_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)\s*", re.IGNORECASE | re.ASCII)
_FALLBACK = 2**30  # if the system does not report free memory
_FRESH = 1.0  # seconds for which a reading of free memory is valid


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings in force: the limits with their defaults filled in."""

    memory_limit: int  # bytes
    memory_origin: str  # where the limit comes from, for messages
    time_limit: float | None  # seconds for each question
    threads: int
    progress: bool | Callback


class _Options(TypedDict, total=False):
    memory_limit: int | None
    time_limit: float | None
    threads: int | None
    progress: bool | Callback


# The permanent options; above them, in other threads, the open blocks of the main thread; above these
# the blocks of this thread or task: docs/decisions/0039.
_permanent: _Options = {"memory_limit": None, "time_limit": None, "threads": None, "progress": False}
_of_main: tuple[_Options, ...] = ()
_block: ContextVar[_Options] = ContextVar("pgm.config", default={})  # noqa: B039  # never changed in place


class config:
    """Limits for the questions asked in a `with` block; options left out keep their outer value.

    They hold in this thread or asyncio task; blocks of the main thread hold in all other threads too, such as
    those of a pool, unless these set their own. `pgm.set_config` sets the same without a block.

    Args:
        memory_limit: "4 GB", "500 MB", "2 GiB" or bytes; None: half of the memory that is free.
        time_limit: seconds that one question may take, else `pgm.OutOfTime`; None: no limit.
        threads: how many may work on one question; None: one per processor.
        progress: True shows on stderr the progress of what takes over a second; a function is called with
            (done, total, what), in the thread that asks. An unknown total is infinite, and `done` is then
            seconds.

    >>> with config(memory_limit="4 GB", threads=2):
    ...     current().memory_limit, current().threads
    (4000000000, 2)
    """

    __slots__ = ("_changes", "_tokens", "_used")

    def __init__(
        self,
        *,
        memory_limit: int | str | EllipsisType | None = ...,
        time_limit: float | EllipsisType | None = ...,
        threads: int | EllipsisType | None = ...,
        progress: bool | Callback | EllipsisType | None = ...,
    ) -> None:
        """Check the values now; they apply from `with` on."""
        self._changes = _checked(memory_limit, time_limit, threads, progress)
        self._tokens: list[tuple[Token[_Options], bool]] = []
        self._used = not self._changes

    def __repr__(self) -> str:
        """As in code; until it is used, with a note that it has no effect yet."""
        if self._used:
            return self._written("config")
        return (
            f"{self._written('config')}  # nothing is set yet: this holds inside `with`, "
            "pgm.set_config(...) from then on"
        )

    def _written(self, name: str) -> str:
        return f"pgm.{name}({', '.join(f'{option}={value!r}' for option, value in self._changes.items())})"

    def __enter__(self) -> Settings:
        """The settings of the block."""
        global _of_main
        self._used = True
        everywhere = threading.current_thread() is threading.main_thread()
        if everywhere:
            _of_main = (*_of_main, self._changes)
        self._tokens.append((_block.set({**_block.get(), **self._changes}), everywhere))
        return current()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Return to the settings around the block."""
        global _of_main
        token, everywhere = self._tokens.pop()
        _block.reset(token)
        if everywhere:  # tasks of one thread may leave their blocks in any order
            last = max(i for i, changes in enumerate(_of_main) if changes is self._changes)
            _of_main = _of_main[:last] + _of_main[last + 1 :]

    def __del__(self) -> None:
        """Warn if `with` was forgotten: the call alone has no effect."""
        if not getattr(self, "_used", True) and not sys.is_finalizing():  # no attribute: the call was invalid
            warn(
                f"{self._written('config')} was written without `with`, and nothing was set. Write `with "
                f"{self._written('config')}:` around the questions, or {self._written('set_config')}, which "
                "holds from then on."
            )


@guarded
def set_config(
    *,
    memory_limit: int | str | EllipsisType | None = ...,
    time_limit: float | EllipsisType | None = ...,
    threads: int | EllipsisType | None = ...,
    progress: bool | Callback | EllipsisType | None = ...,
) -> None:
    """Set limits for all questions from now on, in every thread; options left out stay as they are.

    Inside a `with pgm.config(...)` block, its own settings take precedence until it ends.

    Args:
        memory_limit: "4 GB", "500 MB", "2 GiB" or bytes; None: half of the memory that is free.
        time_limit: seconds that one question may take, else `pgm.OutOfTime`; None: no limit.
        threads: how many may work on one question; None: one per processor.
        progress: True shows on stderr the progress of what takes over a second; a function is called with
            (done, total, what), in the thread that asks. An unknown total is infinite, and `done` is then
            seconds.

    Raises:
        InvalidArgument: an invalid size, time or number of threads, or a `progress` that is not callable.

    >>> set_config(threads=2)
    >>> current().threads
    2
    >>> set_config(threads=None)
    """
    _permanent.update(_checked(memory_limit, time_limit, threads, progress))


def _checked(memory_limit: object, time_limit: object, threads: object, progress: object) -> _Options:
    """The options that were given, in stored form."""
    changes: _Options = {}
    if memory_limit is not ...:
        changes["memory_limit"] = None if memory_limit is None else parse_size(memory_limit)
    if time_limit is not ...:
        changes["time_limit"] = None if time_limit is None else _seconds(time_limit)
    if threads is not ...:
        changes["threads"] = None if threads is None else _count(threads)
    if progress is not ...:
        changes["progress"] = _switch(progress)
    return changes


def _chosen() -> _Options:
    """The options chosen for this context."""
    block, of_main = _block.get(), _of_main
    if not block and not of_main:
        return _permanent
    chosen: _Options = {**_permanent}
    if threading.current_thread() is not threading.main_thread():
        for changes in of_main:
            chosen.update(changes)
    chosen.update(block)
    return chosen


def current() -> Settings:
    """The settings in force here and now, in this thread."""
    chosen = _chosen()
    limit, origin = chosen["memory_limit"], "as set by pgm.config"
    if limit is None:
        limit, origin = _default_memory()
    threads = _processors() if chosen["threads"] is None else chosen["threads"]
    return Settings(limit, origin, chosen["time_limit"], threads, chosen["progress"])


def memory_limit() -> int:
    """The memory limit alone: cheaper than `current`, for checks in every question."""
    limit = _chosen()["memory_limit"]
    return _default_memory()[0] if limit is None else limit


def time_limit_and_progress() -> tuple[float | None, bool | Callback]:
    """The two settings that the clock of every question needs, in one call."""
    chosen = _chosen()
    return chosen["time_limit"], chosen["progress"]


def current_progress() -> bool | Callback:
    """The progress setting alone: cheaper than `current`, for loops."""
    return _chosen()["progress"]


def parse_size(size: object) -> int:
    """The bytes of a size as a user writes it.

    >>> parse_size("4 GB"), parse_size("2 GiB"), parse_size(1000)
    (4000000000, 2147483648, 1000)
    """
    number: float | None = None
    if isinstance(size, str):
        match = _SIZE.fullmatch(size) if len(size) < 100 else None
        if match and match[2].lower() in _UNITS:
            number = float(match[1]) * _UNITS[match[2].lower()]
    elif hasattr(size, "__index__") and not _is_bool(size):
        number = int(size.__index__())
    elif isinstance(size, float):
        number = size
    if number is None or not 1 <= number < 2**63:
        raise InvalidArgument(
            f"memory_limit={shown(size)} is not a size; write '4 GB', '500 MB', '2 GiB' or a number of bytes."
        )
    return int(number)


def _seconds(limit: object) -> float:
    try:
        seconds = math.nan if isinstance(limit, str) or _is_bool(limit) else float(limit)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise InvalidArgument(
            f"time_limit={shown(limit)} must be a positive number of seconds, or None for no limit."
        )
    return seconds


def _count(threads: object) -> int:
    count = int(threads.__index__()) if hasattr(threads, "__index__") and not _is_bool(threads) else 0
    if not 1 <= count <= 4096:
        raise InvalidArgument(
            f"threads={shown(threads)} must be a whole number from 1 to 4096, or None for one per processor."
        )
    return count


def _switch(progress: object) -> bool | Callback:
    if progress is None:
        return False
    if _is_bool(progress):
        return bool(progress)
    if not callable(progress):
        raise InvalidArgument(
            f"progress={shown(progress)} must be True, False, or a function of (done, total, what)."
        )
    return progress


def _is_bool(value: object) -> bool:
    return isinstance(value, bool) or type(value).__name__ == "bool"  # numpy.bool too


# --- what the machine has -----------------------------------------------------------------------------------

_reading: tuple[float, int, str] = (-math.inf, 0, "")


def _default_memory() -> tuple[int, str]:
    """Half of the free memory, read again when the last reading is over a second old."""
    global _reading
    now = time.monotonic()
    if now - _reading[0] > _FRESH:
        free = _free_memory()
        if free is None:
            _reading = now, _FALLBACK, "1 GiB, as this system does not say how much memory is free"
        else:
            _reading = now, max(free // 2, 1), "half of the memory that is free"
    return _reading[1:]


def _free_memory() -> int | None:
    """Bytes available to a new process: on the machine, and in every enclosing control group."""
    free = [left for left in (_free_of_machine(), *map(_free_of_group, _groups())) if left is not None]
    return max(0, min(free)) if free else None


def _free_of_machine() -> int | None:
    found = re.search(r"^MemAvailable:\s*(\d+) kB", _text("/proc/meminfo"), re.MULTILINE)
    if found:
        return int(found[1]) * 1024
    try:  # not Linux: total memory is the best known without another library
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


@cache
def _groups() -> tuple[tuple[str, str, str], ...]:
    """Files (limit, usage, statistics) of the memory groups that hold this process, innermost first."""
    found = []
    for line in _text("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2) if line.count(":") >= 2 else ("", "?", "")
        if controllers == "":  # version 2
            root, names = "/sys/fs/cgroup", ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            root, names = "/sys/fs/cgroup/memory", ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        group = Path(root + path)
        for folder in (group, *group.parents):
            if not str(folder).startswith(root):
                break
            if (folder / names[0]).exists():
                found.append((str(folder / names[0]), str(folder / names[1]), str(folder / "memory.stat")))
    return tuple(found)


def _free_of_group(files: tuple[str, str, str]) -> int | None:
    limit, usage = _text(files[0]).strip(), _text(files[1]).strip()
    if not limit.isdigit() or not usage.isdigit() or int(limit) >= 2**60:  # "max", or version 1's "no limit"
        return None
    cached = re.search(r"^(?:total_)?inactive_file (\d+)", _text(files[2]), re.MULTILINE)
    return int(limit) - int(usage) + (int(cached[1]) if cached else 0)  # the kernel gives cached files back


@cache
def _processors() -> int:
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:
        return os.cpu_count() or 1


def _text(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
