"""`python -m benchmarks exact [network ...]`, `approximate` and so on: run and keep the results.

All parts of `exact` together take about an hour on an idle machine; `--part` picks some of them. Ratios mean
something only within one run on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks import (
    against,
    approximate,
    causal,
    decisions,
    drawing,
    exact,
    families,
    harness,
    learn,
    mutation,
    over_time,
    pages,
    processes,
    start,
    structures,
)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, module, said in (
        ("exact", exact, "exact inference beside its peers"),
        ("approximate", approximate, "inference that is not exact beside its peers"),
        ("time", over_time, "models over time beside their peers"),
        ("decisions", decisions, "influence diagrams beside pyAgrum"),
        ("causal", causal, "questions about causes beside networkx"),
        ("structures", structures, "structures learned from data beside their peers"),
        ("learn", learn, "learning beside its peers"),
        ("families", families, "methods that are not graphical beside their peers"),
    ):
        asked = commands.add_parser(name, help=said)
        asked.add_argument("networks", nargs="*", help="only these networks (or problems of UAI)")
        asked.add_argument("--part", action="append", choices=list(module.PARTS), help="only these parts")
        asked.add_argument("--race", action="append", help="only races whose name contains this")
        asked.add_argument("--rounds", type=int, default=5, help="best of this many (default 5)")
        asked.add_argument("--threads", type=int, default=1, help="of ours, but for rows (default 1)")
        asked.add_argument("--seconds", type=float, help="for each problem of UAI (20; 60 for maxima)")
        asked.add_argument("--quick", action="store_true", help="a trial: fewer rows, smaller sizes")
    commands.add_parser("start", help="import time, and from the start of python to the first answer")
    drawn = commands.add_parser("drawing", help="pictures of networks beside Graphviz's dot")
    drawn.add_argument("networks", nargs="*", help="only these networks")
    beside = commands.add_parser("against", help="this checkout beside another, in turn")
    beside.add_argument("other", help="the folder of the other checkout")
    beside.add_argument("networks", nargs="*", help="only these networks")
    beside.add_argument("--kind", action="append", help="only kinds of question whose name contains this")
    beside.add_argument("--rounds", type=int, default=7, help="best of this many (default 7)")
    beside.add_argument("--threads", type=int, default=1, help="of each side (default 1)")
    mutated = commands.add_parser("mutation", help="small faults in the source, and whether the tests notice")
    mutated.add_argument("tests", nargs="*", default=mutation.TESTS, help="only these files or folders")
    mutated.add_argument("--number", type=int, default=150, help="how many faults (default 150)")
    mutated.add_argument("--seconds", type=float, default=900.0, help="at most (default 900)")
    mutated.add_argument("--seed", type=int, default=0, help="which faults (default 0)")
    given = parser.parse_args()
    # A peer that wants more memory than there is gets an error in place of the machine.
    processes.limit_memory(0.8 * processes.free_memory())
    if given.command == "start":
        report = start.run()
        print(f"kept as {pages.keep('start', report)}")
        return
    if given.command == "against":
        report = against.run(
            against.Options(
                given.other,
                tuple(given.networks),
                tuple(given.kind or ()),
                given.rounds,
                threads=given.threads,
            )
        )
        print(f"kept as {pages.keep('against', report)}")
        return
    if given.command == "mutation":
        asked_for = mutation.Options(given.number, given.seconds, given.seed, tuple(given.tests))
        print(f"kept as {pages.keep('mutation', mutation.run(asked_for), asked_for)}")
        return
    if given.command == "drawing":
        options = harness.Options(networks=tuple(given.networks))
        report = drawing.run(options)
        print(f"kept as {pages.keep('drawing', report, options)}")
        return
    changed: dict[str, Any] = (
        {"sizes": (1000, 10_000), "rows": 2000, "peer_rows": 50, "targets": 2, "maxima_seconds": 3.0}
        if given.quick
        else {}
    )
    if given.seconds is not None:
        changed |= {"seconds": given.seconds, "maxima_seconds": given.seconds}
    options = harness.Options(
        networks=tuple(given.networks),
        races=tuple(given.race or ()),
        rounds=given.rounds,
        threads=given.threads,
        **changed,
    )
    modules = {"exact": exact, "approximate": approximate, "time": over_time}
    modules |= {
        "structures": structures,
        "learn": learn,
        "families": families,
        "decisions": decisions,
        "causal": causal,
    }
    module = modules[given.command]
    report = module.run(given.part or (), options)
    print(f"kept as {pages.keep(given.command, report, options)}")


if __name__ == "__main__":
    main()
