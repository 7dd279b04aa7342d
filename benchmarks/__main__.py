"""`python -m benchmarks exact [network ...]`, `python -m benchmarks start`: run, print, keep as JSON."""

from __future__ import annotations

import argparse

from benchmarks import exact, harness, start


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    asked = commands.add_parser("exact", help="exact inference beside pyAgrum and pgmpy")
    asked.add_argument("networks", nargs="*", help="only these networks")
    asked.add_argument("--race", action="append", help="only races whose name contains this")
    asked.add_argument("--rounds", type=int, default=5, help="best of this many (default 5)")
    commands.add_parser("start", help="import time, and from the start of python to the first answer")
    options = parser.parse_args()
    if options.command == "exact":
        results = harness.run(exact.RACES, options.networks, options.race or [], options.rounds)
    else:
        results = start.run()
    print(f"kept as {harness.keep(options.command, results)}")


if __name__ == "__main__":
    main()
