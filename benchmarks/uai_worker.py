"""One problem of UAI in a process of its own.

`python -m benchmarks.uai_worker SIDE FILE SECONDS BYTES FOLDER`: the limits begin when the file has been
read. Marginals are left in the folder, by the numbers of the variables.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import processes, uai


def main() -> None:
    side, file, seconds, size, folder = processes.arguments()
    work = {
        "pgm": ours,
        "pyAgrum": theirs,
        "map": maximum,
        "count": count,
        "auto": count_by_auto,
        "ganak": count_by_ganak,
    }[side]
    answer, found = work(Path(file), float(seconds), float(size))
    if answer is not None:
        np.savez(Path(folder) / "answer.npz", **{str(v): values for v, values in answer.items()})  # type: ignore[arg-type]
    processes.end_with(found)


def _asked(path: Path, seconds: float, size: float) -> tuple[Any, dict[str, Any], Any, float]:
    """The model and its evidence, with the compiled code loaded and the limits set."""
    import pgm
    from benchmarks.harness import load_loops

    net = pgm.read(path)
    names = list(net.variables)
    given = {names[v]: net.variables[names[v]].states[code] for v, code in uai.evidence(path).items()}
    load_loops()
    limits = pgm.config(memory_limit=int(size), time_limit=seconds)
    # Address space is not memory: what is mapped and never touched has room besides.
    processes.limit_memory(1.25 * size)
    processes.limit_time(seconds + 5.0)  # the limit of pgm.config must come first
    return net, given, limits, time.perf_counter()


def ours(path: Path, seconds: float, size: float) -> tuple[dict[int, np.ndarray] | None, dict[str, Any]]:
    """All posteriors."""
    import pgm

    net, given, limits, start = _asked(path, seconds, size)
    numbers = {name: v for v, name in enumerate(net.variables)}
    try:
        with limits:
            answer = {numbers[name]: p.values for name, p in net.marginals(given).items()}
    except (pgm.TooLarge, pgm.OutOfTime, MemoryError) as refusal:
        return None, {"failed": _said(refusal)}
    return answer, {"seconds": time.perf_counter() - start}


def maximum(path: Path, seconds: float, size: float) -> tuple[None, dict[str, Any]]:
    """The most probable states, by number."""
    import pgm

    net, given, limits, start = _asked(path, seconds, size)
    try:
        with limits:
            best = net.map(given, engine="branch-and-bound")
    except (pgm.TooLarge, pgm.OutOfTime, MemoryError) as refusal:
        return None, {"failed": _said(refusal)}
    took = time.perf_counter() - start
    states = {**given, **best}
    codes = [variable.states.index(states[name]) for name, variable in net.variables.items()]
    return None, {"seconds": took, "codes": codes, "exact": best.exact, "bound": best.bound}


def count(path: Path, seconds: float, size: float, engine: str = "search") -> tuple[None, dict[str, Any]]:
    """The logarithm of Z to base ten."""
    import pgm

    net, given, limits, start = _asked(path, seconds, size)
    try:
        with limits:
            log = net.log_partition(engine=engine)
            if given:
                log += net.log_probability(given, engine=engine)
    except (pgm.TooLarge, pgm.OutOfTime, MemoryError) as refusal:
        return None, {"failed": _said(refusal)}
    return None, {"seconds": time.perf_counter() - start, "log10": log / math.log(10.0)}


def count_by_auto(path: Path, seconds: float, size: float) -> tuple[None, dict[str, Any]]:
    """The same, by whatever engine is chosen under the time limit."""
    return count(path, seconds, size, "auto")


def count_by_ganak(path: Path, seconds: float, size: float) -> tuple[None, dict[str, Any]]:
    """The same by Ganak, for tables of zeros and ones with one zero each: clauses."""
    from pyganak import Counter

    cards, tables = uai.factors(path)
    counter = Counter()
    counter.new_vars(len(cards))
    for scope, values in tables:
        broken = np.argwhere(values == 0.0)
        if len(broken) != 1 or set(np.unique(values)) - {0.0, 1.0}:
            return None, {"failed": "not a formula"}
        counter.add_clause([-(v + 1) if bit else v + 1 for v, bit in zip(scope, broken[0], strict=True)])
    processes.limit_memory(1.25 * size)
    processes.limit_time(seconds)
    start = time.perf_counter()
    found = counter.count()
    return None, {"seconds": time.perf_counter() - start, "log10": math.log10(found)}


def _said(refusal: BaseException) -> str:
    return {"TooLarge": "refused", "OutOfTime": "out of time"}.get(type(refusal).__name__, "out of memory")


def theirs(path: Path, seconds: float, size: float) -> tuple[dict[int, np.ndarray] | None, dict[str, Any]]:
    """All posteriors by pyAgrum."""
    from benchmarks.peers import PyAgrumMarkov

    cards, tables = uai.factors(path)
    peer = PyAgrumMarkov(cards, tables)
    given = uai.evidence(path)
    processes.limit_memory(1.25 * size)
    processes.limit_time(seconds)
    start = time.perf_counter()
    try:
        answer = peer.marginals(given)
    except MemoryError:
        return None, {"failed": "out of memory"}
    except Exception as trouble:
        memory = "memory" in str(trouble).lower() or "alloc" in str(trouble).lower()
        return None, {"failed": "out of memory" if memory else str(trouble).splitlines()[0]}
    return answer, {"seconds": time.perf_counter() - start}


if __name__ == "__main__":
    main()
