"""Causal questions about arrows: independence and adjustment sets beside networkx, identification alone."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import networkx as nx

import pgm
from benchmarks.exact import Part, run_parts
from benchmarks.harness import Finding, Options, Report, compete, timed

_PEER = "networkx"


def arrows(nodes: int, count: int, seed: int = 0) -> list[tuple[str, str]]:
    """Random arrows among v0, v1, ..., each from an earlier node to a later one."""
    rng = random.Random(seed)
    found: dict[tuple[str, str], None] = {(f"v{i}", f"v{i + 1}"): None for i in range(0, nodes - 1, 2)}
    while len(found) < count:
        a, b = sorted(rng.sample(range(nodes), 2))
        found[f"v{a}", f"v{b}"] = None
    return list(found)


def separation(report: Report, options: Options) -> None:
    """10,000 nodes and 20,000 arrows: independence given ten others, and a smallest adjustment set."""
    quick = max(options.sizes) < 100_000
    nodes = 1_000 if quick else 10_000
    edges = arrows(nodes, 2 * nodes)
    net = pgm.BayesianNetwork(edges=edges)
    graph = nx.DiGraph(edges)
    given = {f"v{nodes // 20 * k + 7}" for k in range(1, 11)}
    pairs = [(f"v{nodes // 2 + i}", f"v{nodes - 5 - i}") for i in range(4)]
    pairs = [pair for pair in pairs if not given & set(pair)]

    def ours(i: int) -> bool:
        a, b = pairs[i % len(pairs)]
        return net.independent(a, b, given=list(given))

    def theirs(i: int) -> bool:
        a, b = pairs[i % len(pairs)]
        return bool(nx.is_d_separator(graph, a, b, given))

    if options.wants("independent"):
        case = f"{nodes:,} nodes"
        compete(report, "independent", case, ours, theirs, questions=4, rounds=options.rounds,
                compare=_same, label=_PEER)  # fmt: skip
        seconds = min(timed(ours, 0)[0] for _ in range(options.rounds))
        report.find(Finding(f"independent, {case}", f"{seconds:.3f} s", "at most 0.3 s", seconds <= 0.3))
    if options.wants("adjustment"):
        a, b = pairs[0]
        seconds = min(
            timed(lambda _: net.adjustment_sets(a, b, limit=1), 0)[0] for _ in range(options.rounds)
        )
        said = f"a smallest adjustment set, {nodes:,} nodes"
        report.find(Finding(said, f"{seconds:.3f} s", "at most 0.3 s", seconds <= 0.3))


def identification(report: Report, options: Options) -> None:
    """ID on 100 nodes with 25 hidden common causes, effects of ten nodes on the last."""
    if not options.wants("identify"):
        return
    rng = random.Random(0)
    edges = arrows(100, 200)
    names = [f"v{i}" for i in range(100)]
    common = [tuple(sorted(rng.sample(names, 2))) for _ in range(25)]
    graph = pgm.CausalGraph(edges, common=common)  # type: ignore[arg-type]

    def asked(_: int) -> int:
        formulas = 0
        for name in names[40:90:5]:
            try:
                formulas += bool(graph.identify("v99", do=name).text)
            except pgm.NotIdentifiable:
                pass
        return formulas

    seconds, formulas = timed(asked, 0)
    said = f"identify on 100 nodes with 25 hidden causes, ten effects, {formulas} with a formula"
    report.find(Finding(said, f"{seconds / 10:.3f} s each", "at most 1 s", seconds <= 10.0))


def _same(ours: Any, theirs: Any) -> None:
    assert ours == theirs


PARTS: dict[str, Part] = {"separation": separation, "identification": identification}


def run(parts: Sequence[str], options: Options) -> Report:
    """Run the parts asked for."""
    return run_parts(PARTS, parts, options)
