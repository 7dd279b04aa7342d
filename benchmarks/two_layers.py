"""Diseases and findings as in QMR-DT (Shwe et al. 1991): exact with 20 positive findings, bounded with 40.

No peer answers these: a finding of 40 causes would be a table of 2**41 entries. The network is that of
tests/inference/test_two_layers.py, whose numbers are there against a sweep written for it.
"""

from __future__ import annotations

import resource
import warnings

import pgm
from benchmarks.harness import Finding, Options, Report, Result, timed
from tests.inference.test_two_layers import two_layers

RACE = "500 diseases, 2,000 findings"
_GB = 2**20  # in kilobytes, as getrusage counts
_NEGATIVE = 200
_SECONDS = 60.0


def run(report: Report, options: Options) -> None:
    """One posterior, all of them, and what is said of 40 positive findings."""
    if not options.wants(RACE):
        return
    small = max(options.sizes) < 100_000
    net, _, _, _, order = two_layers(1, *((50, 400) if small else ()))
    seen = {f"f{j}": True for j in order[:20].tolist()}
    seen |= {f"f{j}": False for j in order[20 : 20 + _NEGATIVE].tolist()}
    names = [name for name in net.nodes if name.startswith("d")]
    with pgm.config(memory_limit="8 GB"):
        one, _ = timed(lambda _: net.query("d0", seen).values, 0)
        report.add(Result(RACE, "20 positive, one posterior", "pgm", one))
        every, _ = timed(lambda _: [p.values for p in net.marginals(seen, targets=names).values()], 0)
        report.add(Result(RACE, f"20 positive, all {len(names)}", "pgm", every))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _GB
        report.find(Finding(f"{RACE}: one posterior, 20 positive", f"{one:.1f} s", "60 s", one <= 60.0))
        report.find(Finding(f"{RACE}: all, 20 positive", f"{every:.1f} s", "600 s", every <= 600.0))
        report.find(Finding(f"{RACE}: memory", f"{peak:.1f} GB", "8 GB", peak <= 8.0))
        more = seen | {f"f{j}": True for j in order[20 + _NEGATIVE : 40 + _NEGATIVE].tolist()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pgm.ConvergenceWarning)
            for engine in ("bounds", pgm.engines.Best(seconds=_SECONDS)):
                with pgm.config(time_limit=_SECONDS):
                    took, p = timed(lambda _, e=engine: net.query("d0", more, engine=e), 0)
                low, high = (0.0, 1.0) if p.bounds is None else p.bounds[1]
                case = f"40 positive, one posterior by {p.engine}"
                report.add(
                    Result(RACE, case, "pgm", took, note=f"{p[True]:.3g}, surely in [{low:.3g}, {high:.3g}]")
                )
                said = f"[{low:.3g}, {high:.3g}], exact: {p.exact}"
                report.find(
                    Finding(
                        f"{RACE}: {case}",
                        said,
                        "an interval, said so",
                        bool(not p.exact and high - low < 1.0),
                    )
                )
