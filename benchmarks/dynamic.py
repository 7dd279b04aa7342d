"""Dynamic networks beside what they unroll to, and beside pgmpy: the weather of figure 15.8, day by day."""

from __future__ import annotations

import logging
import time
from typing import Any

import numpy as np

import pgm
from benchmarks.harness import Finding, Options, Report, Result, Side, compete

UNROLLED = "the unrolled network"


def weather() -> pgm.DynamicBayesianNetwork:
    """The network of figure 14.5 each day, the clouds of one day following those of the day before."""
    dbn = pgm.DynamicBayesianNetwork("weather")
    dbn.add("cloudy", {True: 0.7, False: 0.3}, parents=["cloudy[-1]"], initial=0.5)
    dbn.add("sprinkler", {True: 0.1, False: 0.5}, parents=["cloudy"])
    dbn.add("rain", {True: 0.8, False: 0.1}, parents=["cloudy"])
    rows = {(True, True): 0.95, (True, False): 0.90, (False, True): 0.90, (False, False): 0.10}
    dbn.add("wet", rows, parents=["rain", "sprinkler"])
    return dbn


def run(report: Report, options: Options) -> None:
    """All races; of pgmpy none if it is not installed."""
    quick = max(options.sizes) < 100_000
    dbn, steps, few = weather(), 1_000 if quick else 10_000, 30 if quick else 1_000
    wet = dbn.sample(steps * 10, seed=1)["wet"]
    _alone(report, options, "filter", steps * 10, lambda: dbn.filter({"wet": wet}), 0.1)
    _alone(report, options, "unroll", steps, lambda: dbn.unroll(steps), 0.05)
    net = dbn.unroll(steps)
    known = {f"wet[{t}]": value for t, value in enumerate(wet[:steps].tolist())}
    data = {"wet": wet[:steps]}

    def unrolled(_: int) -> Any:
        found = net.marginals(known)
        return found[f"cloudy[{steps - 1}]"].values, found[f"rain[{steps - 1}]"].values

    for what, wanted in (("filter", 3.0), ("smooth", 1.0)):
        _race(report, options, what, f"{steps:,} steps", _ours(dbn, data, what), unrolled, UNROLLED, wanted)
    if (peer := _pgmpy(data["wet"][:few].tolist())) is not None:
        some = {"wet": data["wet"][:few]}
        _race(report, options, "filter", f"{few} steps", _ours(dbn, some, "filter"), peer, "pgmpy", 300.0)


def _race(
    report: Report,
    options: Options,
    what: str,
    case: str,
    ours: Side,
    theirs: Side,
    label: str,
    wanted: float,
) -> None:
    race = f"weather {what}"
    if not options.wants(race):
        return
    compete(report, race, case, ours, theirs, questions=1, rounds=options.rounds, compare=_agree, label=label)
    ratio = report.of(race, label)[case].ratio
    if ratio is not None:
        said = f"{race}, {case}, beside {label}"
        report.find(Finding(said, f"{ratio:.1f} times", f"{wanted:g} times", ratio >= wanted))


def _alone(report: Report, options: Options, what: str, steps: int, ask: Any, wanted: float) -> None:
    race, case = f"weather {what}", f"{steps:,} steps"
    if not options.wants(race):
        return
    took = min(_seconds(ask) for _ in range(5))
    report.add(Result(race, case, "pgm", took, 1.0))
    report.find(Finding(f"{race}, {case}", f"{took:.3f} s", f"{wanted:g} s", took <= wanted))


def _seconds(ask: Any) -> float:
    start = time.perf_counter()
    ask()
    return time.perf_counter() - start


def _agree(ours: Any, theirs: Any) -> None:
    """The same beliefs about the last day."""
    for mine, others in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, others, rtol=0, atol=1e-9)


def _ours(dbn: pgm.DynamicBayesianNetwork, data: dict[str, np.ndarray], what: str) -> Side:
    def side(_: int) -> Any:
        found = getattr(dbn, what)(data)
        return found.marginal("cloudy").values[-1], found.marginal("rain").values[-1]

    return side


def _pgmpy(wet: list[bool]) -> Side | None:
    try:
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.inference import DBNInference
        from pgmpy.models import DynamicBayesianNetwork
    except ImportError:
        return None
    logging.getLogger("pgmpy").setLevel(logging.ERROR)
    c, s, r, w = (lambda t, name=name: (name, t) for name in "CSRW")
    model = DynamicBayesianNetwork([(c(0), s(0)), (c(0), r(0)), (s(0), w(0)), (r(0), w(0)), (c(0), c(1))])
    tables = [TabularCPD(c(0), 2, [[0.5], [0.5]]), TabularCPD(c(1), 2, [[0.7, 0.3], [0.3, 0.7]], [c(0)], [2])]
    for t in (0, 1):
        tables += [
            TabularCPD(s(t), 2, [[0.5, 0.9], [0.5, 0.1]], [c(t)], [2]),
            TabularCPD(r(t), 2, [[0.9, 0.2], [0.1, 0.8]], [c(t)], [2]),
            TabularCPD(w(t), 2, [[0.9, 0.1, 0.1, 0.05], [0.1, 0.9, 0.9, 0.95]], [r(t), s(t)], [2, 2]),
        ]
    model.add_cpds(*tables)
    model.initialize_initial_state()
    known = {w(t): int(value) for t, value in enumerate(wet)}
    last = len(wet) - 1

    def side(_: int) -> Any:
        found = DBNInference(model).forward_inference([c(last), r(last)], known)
        return found[c(last)].values, found[r(last)].values

    return side
