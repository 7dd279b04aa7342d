"""Measurements in a Python process of their own: the time it may take, the memory, what it found."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from benchmarks.harness import ROOT

GB = 10**9


def ask(module: str, *arguments: object, seconds: float, **environment: str) -> dict[str, Any]:
    """Run `python -m module arguments`; the last line that it prints is what it found, as JSON.

    A process that dies or runs longer than so many seconds gives {"failed": why}.
    """
    command = [sys.executable, "-m", module, *map(str, arguments)]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=seconds,
            env={**os.environ, **environment},
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"over {seconds:.0f} s with reading"}
    lines = done.stdout.strip().splitlines()
    if done.returncode == -signal.SIGALRM:
        return {"failed": "out of time"}
    try:
        found: dict[str, Any] = json.loads(lines[-1])
    except (IndexError, ValueError):
        said = done.stderr.strip().splitlines()
        return {"failed": said[-1] if said else f"ended with status {done.returncode}"}
    return found


def free_memory() -> float:
    """Bytes that a process could take."""
    for line in open("/proc/meminfo").read().splitlines():
        if line.startswith("MemAvailable:"):
            return float(line.split()[1]) * 1024
    return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def limit_memory(size: float) -> None:
    """From now on this process may take so many bytes more than it has."""
    pages = int(open("/proc/self/statm").read().split()[0])
    room = pages * resource.getpagesize() + int(size)
    resource.setrlimit(resource.RLIMIT_AS, (room, resource.getrlimit(resource.RLIMIT_AS)[1]))


def limit_time(seconds: float) -> None:
    """End this process by a signal then, also inside compiled code."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def end_with(found: dict[str, Any]) -> None:
    """Print what was found and leave without tearing anything down."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
    os._exit(0)


def arguments() -> Sequence[str]:
    """What the process was started with."""
    return sys.argv[1:]
