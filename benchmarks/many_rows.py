"""Learning from more rows than memory, through duckdb: `python -m benchmarks.many_rows --rows 1e8`.

Ten columns of four states each, in a parquet file that is written first (a quarter of a byte for each cell).
The numbers of a network are learned, and its arrows; beside them stand duckdb's own group-bys of the same
families, one by one, whose counts must give the same numbers. Peak memory is that of this process.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import pgm

COLUMNS = [f"x{i}" for i in range(10)]
EDGES = [(COLUMNS[i - 1], COLUMNS[i]) for i in range(1, 10)] + [("x0", "x5"), ("x2", "x9")]


def write(path: Path, rows: int) -> None:
    """A chain whose links hold with probability 0.7, and two arcs more, drawn by duckdb."""
    import duckdb

    made = "select (random() * 4)::int % 4 as x0 from range(?)"
    for i in range(1, 10):
        more = "x0" if i == 5 else "x2" if i == 9 else "0"
        noise = "case when random() < 0.7 then 0 else (random() * 4)::int % 4 end"
        made = f"select *, ((x{i - 1} + {more} + {noise}) % 4)::utinyint as x{i} from ({made})"
    duckdb.execute(f"copy ({made}) to '{path}' (format parquet)", [rows])


def timed(ask: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and the answer."""
    begun = time.perf_counter()
    found = ask()
    return time.perf_counter() - begun, found


def by_hand(path: Path, families: list[tuple[str, ...]]) -> dict[str, np.ndarray]:
    """The table of each family, from a group-by of its own."""
    import duckdb

    found = {}
    for family in families:
        names = ", ".join(family)
        counts = duckdb.sql(f"select {names}, count(*) as n from '{path}' group by {names}").fetchnumpy()
        table = np.zeros([4] * len(family))
        table[tuple(np.asarray(counts[name], int) for name in family)] = counts["n"]
        found[family[-1]] = table / table.sum(axis=-1, keepdims=True)
    return found


def main() -> None:
    """Write, learn, compare."""
    import duckdb

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--file", type=Path, help="a file that was written before, or that is kept")
    options = parser.parse_args()
    duckdb.execute(f"set threads = {options.threads}")
    with tempfile.TemporaryDirectory() as folder, pgm.config(threads=options.threads, progress=False):
        path = options.file or Path(folder) / "rows.parquet"
        if not path.exists():
            write(path, int(options.rows))
        net = pgm.BayesianNetwork(edges=EDGES)
        families = [(*net.parents(name), name) for name in net.nodes]
        net.copy().fit(duckdb.sql(f"from '{path}' limit 50000"))  # what is loaded once
        by_hand(path, families[:1])
        took, made = timed(lambda: net.fit(duckdb.read_parquet(str(path))))
        own, tables = timed(lambda: by_hand(path, families))
        for name, table in tables.items():
            np.testing.assert_allclose(made.cpd(name).values, table, rtol=1e-12)
        searching, found = timed(lambda: pgm.learn_structure(duckdb.read_parquet(str(path))))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
        lines = [
            f"rows                     {made.fit_report.n_rows:,}",
            f"fit                      {took:.2f} s",
            f"duckdb's own group-bys   {own:.2f} s, {took / own:.2f} times (at most 3)",
            f"learn_structure          {searching:.2f} s, {len(found.network.edges)} arcs of {len(EDGES)}",
            f"peak memory              {peak:.2f} GB (at most 2)",
        ]
        sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
