"""Structures learned from data beside pyAgrum, pgmpy and causal-learn: seconds, scores, Hamming distances.

Seconds are of processor time, reading of the frame included, the least of some rounds, in one process and one
thread. A race here has no common answer: the scores that both sides reach are compared.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

import pgm
from benchmarks.exact import Part, run_parts
from benchmarks.harness import NETWORKS, Finding, Options, Report, Result

Learner = Callable[[], Any]  # returns arcs, or nothing


def cpu(learn: Learner, rounds: int) -> tuple[float, Any]:
    """The least processor time of some rounds, and what came of the last."""
    best, found = np.inf, None
    for _ in range(rounds):
        begun = time.process_time()
        found = learn()
        best = min(best, time.process_time() - begun)
        if best > 5.0:
            break
    return float(best), found


def race(
    report: Report,
    options: Options,
    name: str,
    case: str,
    ours: Learner,
    peers: dict[str, tuple[Learner, float]],
    score: Callable[[Any], float] | None = None,
) -> None:
    """Time both sides, and say how the scores differ."""
    if not options.wants(name):
        return
    with pgm.config(threads=options.threads):
        mine, found = cpu(ours, options.rounds)
    for label, (learn, wanted) in peers.items():
        theirs, other = cpu(learn, max(1, options.rounds // 2))
        report.add(Result(name, case, label, mine, theirs / mine, figures={"peer's seconds": theirs}))
        said = f"{name}, {case}, beside {label}"
        report.find(Finding(said, f"{theirs / mine:.1f} times", f"{wanted:g} times", theirs / mine >= wanted))
        if score is not None and other:
            more = score(found.network.edges) - score(other)
            report.find(Finding(f"{said}: BIC", f"{more:+,.0f}", "no worse", more >= -1e-6))


def run_scores(report: Report, options: Options) -> None:
    """Hill climbing and tabu search on rows of alarm."""
    net = pgm.load_network("alarm")
    for rows in (10_000, 100_000):
        if rows <= max(options.sizes):
            _climb(report, options, net.sample(rows, seed=0).to_pandas().astype("category"))


def _climb(report: Report, options: Options, frame: pd.DataFrame) -> None:
    score, case, few = scorer(frame), f"alarm, {len(frame):,} rows", len(frame) <= 10_000
    for search, theirs in (("hill-climb", "useGreedyHillClimbing"), ("tabu", "useLocalSearchWithTabuList")):

        def ours(search: str = search) -> Any:
            return pgm.learn_structure(frame, search=search)

        def pyagrums(method: str = theirs) -> Any:
            return pyagrum(frame, method)

        peers: dict[str, tuple[Learner, float]] = {"pyAgrum": (pyagrums, 4.0 if few else 10.0)}
        if few and search == "hill-climb":
            peers["pgmpy"] = (lambda: pgmpy(frame), 40.0)
        race(report, options, search, case, ours, peers, score)


def run_tests(report: Report, options: Options) -> None:
    """PC on 10,000 rows of alarm."""
    frame = pgm.load_network("alarm").sample(10_000, seed=0).to_pandas().astype("category")
    peers: dict[str, tuple[Learner, float]] = {
        "pyAgrum": (lambda: pyagrum(frame, "usePC"), 2.0),
        "causal-learn": (lambda: causal_learn(frame), 10.0),
    }
    race(report, options, "pc", "alarm, 10,000 rows", lambda: pgm.learn_structure(frame, search="pc"), peers)


def run_goals(report: Report, options: Options) -> None:
    """What is to be reached in so many seconds."""
    net = pgm.load_network("alarm")
    rows = net.sample(10_000, seed=0)
    true = pgm.structure_score(net, rows)
    for search in ("ges", "boss", pgm.searches.Tabu(restarts=20)):
        took, found = cpu(lambda s=search: pgm.learn_structure(rows, search=s, seed=0), 1)
        more = found.score - true
        name = search if isinstance(search, str) else "tabu with restarts"
        report.find(
            Finding(f"{name}: BIC beside that of the true network", f"{more:+,.0f} in {took:.2f} s",
                    "reached in 2 s", more >= 0.0 and took < 2.0)
        )  # fmt: skip
    some = {name: rows[name] for name in list(net.nodes)[:20]}
    _within(report, "exact, 20 variables, 10,000 rows, 4 parents", 5.0,
            lambda: pgm.learn_structure(some, search="exact", max_parents=4))  # fmt: skip
    _within(report, "order MCMC, 10,000 steps there", 10.0,
            lambda: pgm.learn_structure(some, search="order-mcmc", max_parents=4, seed=0))  # fmt: skip
    wide = net.sample(25_000, seed=0)
    thirty = pd.DataFrame({name: wide[name] for name in list(net.nodes)[:30]}).astype("category")
    _within(
        report, "30 variables, 25,000 rows", 0.3, lambda: pgm.learn_structure(thirty, search="hill-climb")
    )
    frame = rows.to_pandas().astype("category")
    pgm.learn_structure(frame, seed=0)
    begun = time.perf_counter()
    for _ in range(10):
        pgm.learn_structure(frame, seed=0)
    one = (time.perf_counter() - begun) / 10.0
    begun = time.perf_counter()
    with pgm.config(threads=2):
        pgm.learn_structure(frame, bootstrap=100, seed=0)
    many = time.perf_counter() - begun
    report.find(
        Finding("bootstrap=100 with two threads", f"{many / one:.0f} searches", "60", many < 60.0 * one)
    )
    if (NETWORKS / "munin.bif.gz").exists() and max(options.sizes) >= 100_000:
        large = pgm.read(NETWORKS / "munin.bif.gz").sample(5_000, seed=0).to_pandas().astype("category")
        _within(
            report,
            "munin, 1,041 nodes, 5,000 rows",
            60.0,
            lambda: pgm.learn_structure(large, search="hill-climb"),
        )


def _within(report: Report, said: str, seconds: float, learn: Learner) -> None:
    took, _ = cpu(learn, 1)
    report.find(Finding(said, f"{took:.2f} s", f"{seconds:g} s", took < seconds))


def scorer(frame: pd.DataFrame) -> Callable[[Any], float]:
    """BIC of some arcs."""

    def score(arcs: Any) -> float:
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(frame.columns)
        graph.add_edges_from(arcs)
        return pgm.structure_score(pgm.BayesianNetwork(edges=graph), frame)

    return score


def pyagrum(frame: pd.DataFrame, method: str) -> list[tuple[str, str]]:
    """Reading included."""
    import pyagrum as gum

    learner = gum.BNLearner(frame.astype(str))
    if method != "usePC":
        learner.useScoreBIC()
        learner.useNoPrior()
    getattr(learner, method)()
    graph = learner.learnPDAG() if method == "usePC" else learner.learnDAG()
    names = learner.names()
    return [] if method == "usePC" else [(names[a], names[b]) for a, b in graph.arcs()]


def pgmpy(frame: pd.DataFrame) -> list[tuple[str, str]]:
    """Its hill climbing with BIC."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.estimators import HillClimbSearch

        return list(HillClimbSearch(frame).estimate(scoring_method="bic-d", show_progress=False).edges())


def causal_learn(frame: pd.DataFrame) -> None:
    """Its PC with the G test."""
    from causallearn.search.ConstraintBased.PC import pc

    codes = np.array([frame[name].cat.codes for name in frame.columns]).T
    pc(codes, 0.05, "gsq", show_progress=False)


PARTS: dict[str, Part] = {"scores": run_scores, "tests": run_tests, "goals": run_goals}


def run(parts: Sequence[str], options: Options) -> Report:
    """Run the parts asked for."""
    return run_parts(PARTS, parts, options)
