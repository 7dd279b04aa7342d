"""The classic networks beside pyAgrum and what is known of libDAI: all posteriors, one, P(evidence)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import pgm
from benchmarks import peers
from benchmarks.harness import (
    NETWORKS,
    NO_MEMORY,
    PYAGRUM,
    Finding,
    Options,
    Report,
    Result,
    Side,
    assert_close,
    assume,
    compete,
    conclude,
    geometric,
    networks,
)

ALL = {0.0: "all posteriors, nothing known", 0.1: "all posteriors, 10 %", 0.3: "all posteriors, 30 %"}
WANTED = {0.0: 25.0, 0.1: 15.0, 0.3: 10.0}
TARGET = "one target, 10 %"
EVIDENCE = "P(evidence), 10 %"
SETS = 10
# Known to fail for want of memory after a minute, so it is not run.
FAILS = {("link", 0.0)}

# All posteriors in ms on one machine: pyAgrum and libDAI 0.3, with nothing known and with 10 % observed
# (there with the tree rebuilt for the evidence), and the entries of libDAI's tree.
LIBDAI: dict[str, tuple[float, float, float, float, float]] = {
    "asia": (0.161, 0.005, 0.137, 0.0153, 40),
    "alarm": (1.33, 0.033, 1.05, 0.139, 1e3),
    "child": (0.721, 0.019, 0.547, 0.061, 6.4e2),
    "insurance": (2.54, 0.387, 1.34, 0.355, 2.9e4),
    "hailfinder": (3.13, 0.135, 2.49, 0.386, 9.5e3),
    "win95pts": (4.62, 0.093, 3.84, 0.92, 2.7e3),
    "andes": (23.4, 5.74, 19.7, 7.82, 3.5e5),
    "pigs": (36.5, 22.4, 33.8, 15.0, 7.1e5),
    "water": (359.0, 49.8, 27.7, 18.7, 3.7e6),
    "diabetes": (105.0, 110.0, 71.4, 170.0, 1.1e7),
    "munin2": (256.0, 78.5, 147.0, 65.9, 4e6),
    "munin4": (668.0, 315.0, 241.0, 179.0, 1.4e7),
    "munin": (683.0, 320.0, 221.0, 136.0, 1.4e7),
    "link": (math.nan, 873.0, math.nan, 179.0, 3.8e7),  # pyAgrum ran out of memory
}


def evidence_sets(
    net: pgm.BayesianNetwork, share: float, count: int, seed: int = 2024
) -> list[dict[str, Any]]:
    """Forward-sampled findings on a share of the nodes, at least one; no two sets are the same."""
    rng = np.random.default_rng(seed)
    names = list(net.variables)
    size = max(1, round(share * len(names)))
    drawn = net.sample(20 * count, seed=seed)
    sets: list[dict[str, Any]] = []
    for number in range(20 * count):
        seen = sorted(rng.choice(len(names), size=size, replace=False))
        found = {names[i]: drawn[names[i]][number] for i in seen}
        if found not in sets:
            sets.append(found)
        if len(sets) == count:
            break
    return sets


def read(marginals: Any) -> dict[str, np.ndarray]:
    """Every value of every posterior."""
    return {name: distribution.values for name, distribution in marginals.items()}


def race_marginals(
    report: Report,
    race: str,
    case: str,
    net: pgm.BayesianNetwork,
    peer: peers.PyAgrum,
    share: float,
    rounds: int,
    **figures: float,
) -> None:
    """All posteriors with a share of the nodes observed; no share: each time an engine of its own."""
    figures["nodes"] = float(len(net.variables))
    if not share:
        compete(
            report,
            race,
            case,
            lambda _: read(net.marginals()),
            lambda _: peer.marginals({}),
            questions=1,
            least=1,
            rounds=rounds,
            figures=figures,
        )
        return
    sets = evidence_sets(net, share, SETS)
    theirs = [peer.evidence(given) for given in sets]
    compete(
        report,
        race,
        case,
        lambda i: read(net.marginals(sets[i])),
        lambda i: peer.marginals(theirs[i]),
        questions=len(sets),
        rounds=rounds,
        figures=figures,
    )


def _close_logs(ours: float, theirs: float) -> None:
    """Relative to each other, unless theirs has underflowed."""
    if theirs > 1e-290:
        assert_close({"P(evidence)": [ours / theirs]}, {"P(evidence)": [1.0]})


def race_one(
    report: Report, case: str, net: pgm.BayesianNetwork, peer: peers.PyAgrum, options: Options
) -> None:
    """One target, another with each set, and P(evidence)."""
    sets = evidence_sets(net, 0.1, SETS)
    rng = np.random.default_rng(1)
    targets = [str(rng.choice([name for name in net.variables if name not in given])) for given in sets]
    theirs = [peer.evidence(given) for given in sets]
    nodes = float(len(net.variables))
    if options.wants(TARGET):
        compete(
            report,
            TARGET,
            case,
            lambda i: {targets[i]: net.query(targets[i], sets[i]).values},
            lambda i: {targets[i]: peer.query(targets[i], theirs[i])},
            questions=len(sets),
            rounds=options.rounds,
            figures={"nodes": nodes},
        )
    if options.wants(EVIDENCE):
        compete(
            report,
            EVIDENCE,
            case,
            lambda i: math.exp(net.log_probability(sets[i])),
            lambda i: peer.probability(theirs[i]),
            questions=len(sets),
            rounds=options.rounds,
            compare=_close_logs,
            figures={"nodes": nodes},
        )


def run(report: Report, options: Options) -> None:
    """All races on all networks, a network at a time."""
    for name, net in networks(options):
        peer = peers.PyAgrum(net)
        nodes = float(len(net.variables))
        for share, race in ALL.items():
            if not options.wants(race):
                continue
            if (name, share) in FAILS:
                note = f"not run: out of memory; counted as {NO_MEMORY:g} s"
                ours = read_all(net)
                assume(
                    report,
                    race,
                    name,
                    ours,
                    NO_MEMORY,
                    note,
                    options.rounds,
                    figures={"nodes": nodes},
                )
            else:
                race_marginals(report, race, name, net, peer, share, options.rounds)
        if options.wants(TARGET) or options.wants(EVIDENCE):
            race_one(report, name, net, peer, options)
    for share, race in ALL.items():
        conclude(report, race, WANTED[share])
    for race in (TARGET, EVIDENCE):
        conclude(report, race, 10.0)
    link = report.of(ALL[0.0], "pgm").get("link")
    if link is not None and link.seconds is not None:
        found = f"{link.seconds:.2f} s"
        report.find(Finding("link, all posteriors, nothing known", found, "under 0.7 s", link.seconds < 0.7))
    carry_over(report)


def beside_pgmpy(report: Report, options: Options) -> None:
    """All posteriors with 10 % observed, on networks small enough for pgmpy."""
    for name in ("asia", "sachs", "child", "alarm"):
        if not options.asked(name) or not options.wants("pgmpy"):
            continue
        net = pgm.read(NETWORKS / f"{name}.bif.gz")
        assert isinstance(net, pgm.BayesianNetwork)
        sets = evidence_sets(net, 0.1, SETS)
        sides = _beside(net, peers.Pgmpy(net), sets)
        race, rounds = f"{ALL[0.1]}, pgmpy", options.rounds
        compete(report, race, name, *sides, questions=len(sets), rounds=rounds, label="pgmpy")


def _beside(net: pgm.BayesianNetwork, peer: peers.Pgmpy, sets: list[dict[str, Any]]) -> tuple[Side, Side]:
    return lambda i: read(net.marginals(sets[i])), lambda i: peer.marginals(sets[i])


def read_all(net: pgm.BayesianNetwork) -> Side:
    """All posteriors with nothing known, as one side of a race."""
    return lambda _: read(net.marginals())


def carry_over(report: Report) -> None:
    """Ours beside what libDAI would take here: its ratio to pyAgrum, times what pyAgrum took in this run.

    Where pyAgrum failed when that ratio was taken, libDAI's time is scaled by how this machine compares.
    """
    for share, column in ((0.0, 0), (0.1, 2)):
        race = ALL[share]
        ours, theirs = report.of(race, "pgm"), report.of(race, PYAGRUM)
        known = [c for c in LIBDAI if c in theirs and (c, share) not in FAILS and LIBDAI[c][column] > 0]
        speed = geometric([_seconds(theirs[c]) * 1e3 / LIBDAI[c][column] for c in known])
        slower, compared = [], 0
        for case, row in LIBDAI.items():
            if case not in ours or row[4] < 1e5 or not (known or row[column] > 0):
                continue
            scale = _seconds(theirs[case]) * 1e3 / row[column] if case in known else speed
            native = scale * row[column + 1] / 1e3
            mine = _seconds(ours[case])
            note = "" if case in known else "scaled by the mean over the other networks"
            report.add(Result(race, case, "libDAI, carried over", native, native / mine, note))
            compared += 1
            if native < mine:
                slower.append(f"{case} {native / mine:.2f}")
        if compared:
            what = f"{race}: slower than libDAI (trees above 1e5 entries, {compared} networks)"
            report.find(Finding(what, ", ".join(slower) or "none", "none", not slower))


def _seconds(result: Result) -> float:
    assert result.seconds is not None
    return result.seconds
