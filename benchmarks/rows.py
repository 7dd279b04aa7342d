"""Rows of a frame classified, beside loops that ask pyAgrum about one row after the other."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import pgm
from benchmarks import peers
from benchmarks.harness import (
    SLOW,
    Finding,
    Options,
    Report,
    Result,
    assert_close,
    networks,
)

CASE = "alarm"
MISSING = 0.9  # of the cells
LOOPS = {"all posteriors": 300.0, "the target alone": 60.0}
FRAMES = 2  # for each target, so that no answer could be one that was kept


def race_name(options: Options) -> str:
    """It depends on how many rows there are."""
    return f"{options.rows:,} rows classified"


def frame_of(net: pgm.BayesianNetwork, rows: int, seed: int) -> tuple[Any, np.ndarray]:
    """A pandas frame of categories, 10 % of the cells filled in at random, and the same as codes or -1."""
    import pandas as pd

    drawn = net.sample(rows, seed=seed)
    seen = np.random.default_rng(seed).random((rows, len(net.variables))) >= MISSING
    columns, codes = {}, np.full(seen.shape, -1, np.int64)
    for i, (name, variable) in enumerate(net.variables.items()):
        states = list(variable.states)
        whole = pd.Categorical(drawn[name], categories=states)
        codes[:, i] = np.where(seen[:, i], whole.codes, -1)
        columns[name] = pd.Categorical.from_codes(codes[:, i], categories=states)  # type: ignore[call-overload]
    return pd.DataFrame(columns), codes


def run(report: Report, options: Options) -> None:
    """Ten targets on alarm; ratios for a row, and their mean over the targets."""
    race = race_name(options)
    found = [net for name, net in networks(options) if name == CASE]
    if not found or not options.wants(race):
        return
    net = found[0]
    names = list(net.variables)
    rng = np.random.default_rng(5)
    targets = [names[i] for i in sorted(rng.choice(len(names), size=options.targets, replace=False))]
    peer = peers.PyAgrum(net)
    ratios: dict[str, list[float]] = {label: [] for label in LOOPS}
    with pgm.config(threads=2):
        for number, target in enumerate(targets):
            frames = [frame_of(net, options.rows, 10 * number + i) for i in range(FRAMES)]
            seconds = _ours(net, frames, target, options.rounds)
            report.add(Result(race, target, "pgm, 2 threads", seconds))
            for label, took in _theirs(net, peer, frames[0], target, options.peer_rows).items():
                ratio = took * options.rows / seconds
                ratios[label].append(ratio)
                figures = {"ms a row": took * 1e3}
                report.add(Result(race, target, f"pyAgrum, {label}", took * options.rows, ratio, "", figures))
    for label, wanted in LOOPS.items():
        mean = sum(ratios[label]) / len(ratios[label])
        low = f"{mean:.0f} (lowest {min(ratios[label]):.0f})"
        what = (
            f"{race} on {CASE}, beside a loop that asks pyAgrum for {label}: mean over {len(targets)} targets"
        )
        report.find(Finding(what, low, f"at least {wanted:g}", mean >= wanted))


def _ours(net: pgm.BayesianNetwork, frames: list[Any], target: str, rounds: int) -> float:
    """Seconds for all rows of one frame: the best of several rounds, of two where they take over 5 s."""
    best = np.inf
    small = frames[0][0].head(1000)
    np.asarray(net.predict(small, target))  # compiled kernels are loaded
    for number in range(rounds):
        start = time.perf_counter()
        np.asarray(net.predict(frames[number % len(frames)][0], target))
        took = time.perf_counter() - start
        best = min(best, took)
        if took > SLOW and number:
            break
    return float(best)


def _theirs(
    net: pgm.BayesianNetwork, peer: peers.PyAgrum, frame: Any, target: str, rows: int
) -> dict[str, float]:
    """Seconds for a row of either loop over the first rows, whose answers are compared with ours."""
    table, codes = frame
    names = list(net.variables)
    own = names.index(target)
    ids = [peer.network.idFromName(name) for name in names]
    given = [
        {ids[i]: int(c) for i, c in enumerate(row) if c >= 0 and i != own} for row in codes[:rows].tolist()
    ]
    ours = np.asarray(net.predict_proba(table.head(rows), target))
    found = {}
    for label in LOOPS:
        best = np.inf
        for _ in range(2):
            start = time.perf_counter()
            if label == "all posteriors":
                answers = [peer.marginals(row)[target] for row in given]
            else:
                answers = [peer.query(target, row) for row in given]
            best = min(best, (time.perf_counter() - start) / len(given))
            assert_close({target: ours}, {target: np.array(answers)})
        found[label] = float(best)
    return found
