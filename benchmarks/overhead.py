"""What one query on a small network costs beyond its compiled run.

Every compiled loop that Python calls is wrapped and its time added up, handing over its arguments
included: those of reduction, triangulation and layout prepare, the others are the run.
"""

from __future__ import annotations

import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.harness import Finding, Options, Report, Result, networks
from benchmarks.networks import SETS, evidence_sets
from pgm.runtime.loops import Loops

RACE = "overhead of a query"
CASES = ("asia", "alarm")
PREPARING = ("pgm.inference.program.reduction", "pgm.inference.trees.compiled", "pgm.graphs")
WANTED = 60e-6
_PASSES = 50


@contextmanager
def wrapped(spent: dict[tuple[str, str], list[float]]) -> Iterator[None]:
    """Within the block each compiled function notes the seconds and the number of its calls."""
    replaced: list[tuple[Loops, str, Any]] = []
    for loops in Loops.every.values():
        for name, value in list(vars(loops).items()):
            if isinstance(value, types.BuiltinFunctionType):
                place = spent.setdefault((loops.module, name), [0.0, 0.0])
                replaced.append((loops, name, value))
                setattr(loops, name, _noting(value, place))
    try:
        yield
    finally:
        for loops, name, value in replaced:
            setattr(loops, name, value)


def _noting(kernel: Callable[..., Any], place: list[float]) -> Callable[..., Any]:
    def call(*args: Any, **named: Any) -> Any:
        start = time.perf_counter()
        try:
            return kernel(*args, **named)
        finally:
            place[0] += time.perf_counter() - start
            place[1] += 1

    return call


def run(report: Report, options: Options) -> None:
    """Asia and alarm, one target, 10 % observed: whole time, time in kernels, the difference."""
    for case, net in networks(options):
        if case not in CASES or not options.wants(RACE):
            continue
        sets = evidence_sets(net, 0.1, SETS)
        names = list(net.variables)
        questions = [(next(n for n in names[i::-1] + names if n not in s), s) for i, s in enumerate(sets)]

        def ask(questions: Any = questions, net: Any = net) -> float:
            start = time.perf_counter()
            for _ in range(_PASSES):
                for target, given in questions:
                    _ = net.query(target, given).values
            return (time.perf_counter() - start) / (_PASSES * len(questions))

        ask()
        whole = prepare = inside = float("inf")
        calls = 0.0
        n = _PASSES * len(questions)
        for _ in range(options.rounds):
            whole = min(whole, ask())
            spent: dict[tuple[str, str], list[float]] = {}
            with wrapped(spent):
                ask()
            inside = min(
                inside, sum(t for (m, _), (t, _) in spent.items() if not m.startswith(PREPARING)) / n
            )
            prepare = min(prepare, sum(t for (m, _), (t, _) in spent.items() if m.startswith(PREPARING)) / n)
            calls = sum(c for _, c in spent.values()) / n
        beyond = whole - inside - prepare
        for side, seconds in (
            ("all of it", whole),
            ("its compiled run", inside),
            ("compiled, preparing", prepare),
            ("beyond the run", whole - inside),
            ("beyond all compiled", beyond),
        ):
            report.add(Result(RACE, case, side, seconds))
        found = f"{(whole - inside) * 1e6:.0f} µs, {beyond * 1e6:.0f} beyond all {calls:.0f} compiled calls"
        what = f"one query on {case}, beyond its compiled run"
        report.find(Finding(what, found, "at most 60 µs", whole - inside <= WANTED))
